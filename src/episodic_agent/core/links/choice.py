"""One choice over all earlier threads at once: which of them a thread goes on with, or that it begins anew.

A conditional logit. Every candidate gets a utility from a few numbers, most of them relative to its rivals
(is it nearer than the five next best, the best, how many are better), "none of them" gets one from what the
thread and the best candidates look like, and the shares are the softmax over all. The numbers are made so
that a candidate that shares nothing with the thread and is older than all others can only take shares away.

The same choice is asked three times with weights of its own: of the message that opens a thread (beside it,
what the policy that judges one message thinks), after its second and third turn, and when the thread ends, of
all that was said in it. `tools/train_links.py` fits them, with vectors and by words alone.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from episodic_agent.core.calibration import Calibration
from episodic_agent.core.language import tokens
from episodic_agent.core.links.evidence import LinkEvidence, fits_sets, judge
from episodic_agent.core.links.features import Features, ThreadFeatures, thread_of
from episodic_agent.core.links.policies import (
    AT_END,
    NEAR,
    OTHERS,
    OWN_SIZE,
    SAYS_NOTHING,
    SIZE,
    ChoicePolicy,
    FittedPolicy,
    choice_utility,
    none_utility,
)

RARITY: Final = 30.0  # how fast a word of few threads outweighs one of many: log(1 + RARITY / threads)
_CERTAIN: Final = 0.01  # a judge of one message is never surer
_RARE: Final = math.log1p(RARITY / 1.5)
RIVALS: Final = 5  # the best of the others, whose mean a candidate is compared with
SMALLEST_BEST: Final = 0.05  # below it the best is no measure for the others
TIME, NUMBER = "time", "number"  # every thread names times; a number is one word
Floats: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Talk:
    """What was said in a thread, or in several of one sitting, as a choice reads it.

    `turns` are its messages in order, whoever spoke; `opening` is the user's first one. `terms` counts
    content words and what is named; `vectors` is [messages with one, dimensions] of length 1, None where
    there is none.
    """

    thread: ThreadFeatures
    turns: tuple[Features, ...]
    opening: Features
    channels: frozenset[str]
    terms: Mapping[str, int] = field(compare=False)
    vectors: Floats | None = field(compare=False)

    @property
    def thread_id(self) -> str:
        """Return the thread it stands for."""
        return self.thread.thread_id

    @property
    def first_at(self) -> datetime:
        """Return the time of its first message."""
        return self.thread.first_at

    @property
    def last_at(self) -> datetime:
        """Return the time of its last message."""
        return self.thread.last_at


def talk_of(
    thread_id: str,
    turns: Sequence[tuple[datetime, Features]],
    *,
    opening: Features | None = None,
    channels: Iterable[str] = (),
) -> Talk:
    """Return a talk from its messages, at least one, oldest first; without an opening the first is it.

    >>> from datetime import UTC
    >>> from episodic_agent.core.links.features import features_of
    >>> at = datetime(2026, 3, 2, 10, tzinfo=UTC)
    >>> dict(talk_of("a", [(at, features_of("rain and wind")), (at, features_of("more rain"))]).terms)["rain"]
    2
    """
    features = tuple(turn for _, turn in turns)
    rows = [turn.vector for turn in features if turn.vector is not None and np.any(turn.vector)]
    return Talk(
        thread_of(thread_id, turns),
        features,
        features[0] if opening is None else opening,
        frozenset(channels),
        Counter(term for turn in features for term in _terms(turn)),
        _unit(np.asarray(rows, np.float64)) if rows else None,
    )


def choose(
    talk: Talk,
    candidates: Sequence[Talk],
    policy: ChoicePolicy,
    *,
    at_end: bool,
    calibration: Calibration | None = None,
) -> tuple[LinkEvidence, ...]:
    """Return each candidate's share of one choice, best first, ties to the later active.

    The shares lie in [0, 1] and leave to "none of them" what is missing to 1; only where the opening speaks
    of several things at once ("both cities") those that fit do not compete with each other. `at_end` says
    that the thread is over and `talk` is all of it; else it is what was said so far. No candidates: no
    evidence.

    >>> from datetime import UTC, timedelta
    >>> from episodic_agent.core.links.features import features_of
    >>> at = datetime(2026, 3, 2, 10, tzinfo=UTC)
    >>> def said(name, text, hours):
    ...     return talk_of(name, [(at + timedelta(hours=hours), features_of(text))])
    >>> earlier = [said("clay", "The pottery kiln is broken", 0), said("tax", "What the tax return needs", 2)]
    >>> new = said("new", "Is the pottery kiln mended?", 26)
    >>> [one.thread_id for one in choose(new, earlier, ChoicePolicy(), at_end=True)]
    ['clay', 'tax']
    """
    rows = features_of_options(talk, candidates, at_end=at_end, calibration=calibration)
    if not rows:
        return ()
    utilities = np.array([choice_utility(row) for row in rows])
    none = none_utility(rows[0])
    meant = np.array([row["sets"] for row in rows]) > 0.0
    for place, row in enumerate(rows):
        # what "both cities" mean do not take shares from each other
        rival = ~meant if meant[place] else np.ones(len(rows), bool)
        rival[place] = False
        row[OTHERS] = float(np.logaddexp.reduce(np.append(utilities[rival], none)))
    latest = {one.thread_id: one.last_at.timestamp() for one in candidates}
    evidence = [
        LinkEvidence(one.thread_id, row, policy.score(row)) for one, row in zip(candidates, rows, strict=True)
    ]
    return tuple(sorted(evidence, key=lambda e: (-e.score, -latest[e.thread_id], e.thread_id)))


def features_of_options(
    talk: Talk,
    candidates: Sequence[Talk],
    *,
    at_end: bool,
    calibration: Calibration | None = None,
) -> list[dict[str, float]]:
    """Return the numbers of each candidate, those of "none of them" (`none_…`) among them.

    Numbers of vectors are absent where the thread or all the candidates have none.
    """
    if not candidates:
        return []
    columns = {
        **_of_words(talk, candidates),
        **_of_vectors(talk, candidates, calibration),
        **_of_time(talk, candidates),
        "sets": np.array([float(fits_sets(talk.opening, one.thread)) for one in candidates]),
        "channel": np.array([float(bool(one.channels & talk.channels)) for one in candidates]),
        SIZE: np.log1p([len(one.terms) for one in candidates]),
    }
    opening = talk.opening
    opens = not at_end and len(talk.turns) == 1
    if opens:
        columns |= _of_message(talk, candidates, calibration)
    none = {
        "none_few": _few(opening),
        "none_ellipsis": _ellipsis(opening),
        "none_leans": _few(opening) * _ellipsis(opening),
        "none_asks": opening.dependence.asks,
        "none_since": float(columns["age"].min()),
        "none_share": float(columns.pop("share").max()),
        OWN_SIZE: math.log1p(len(talk.terms)),
        AT_END: float(at_end),
        SAYS_NOTHING: float(all(turn.cues.nothing for turn in talk.turns)),
    }
    if opens:
        none["none_pair"] = float(columns["pair"].max())
        none["none_alone"] = 1.0 / len(candidates)
    if "closest" in columns:
        none["none_closest"] = float(columns.pop("closest").max())
    return [
        {name: float(column[place]) for name, column in columns.items()} | none
        for place in range(len(candidates))
    ]


def _of_message(talk: Talk, candidates: Sequence[Talk], calibration: Calibration | None) -> dict[str, Floats]:
    """Say what the policy that judges a message beside each thread thinks of the opening, as log-odds."""
    threads, policy = [one.thread for one in candidates], FittedPolicy()
    judged = judge(talk.opening, threads, talk.first_at, policy, calibration=calibration)
    scores = {one.thread_id: min(1.0 - _CERTAIN, max(_CERTAIN, one.score)) for one in judged}
    pair = np.array([math.log(scores[t.thread_id] / (1.0 - scores[t.thread_id])) for t in threads])
    # where little else is known a message must speak for itself; beside many threads it is soon like one
    alone = np.maximum(pair, 0.0) / math.sqrt(len(pair))
    return {"pair": pair, "pair_rank": ranks(pair), "pair_alone": alone}


def _terms(turn: Features) -> frozenset[str]:
    """Return content words and what is named, each name whole and by its words.

    A name is said in part and inflected: who was named in full is the first name afterwards, and a language
    that appends its cases writes the same school in three ways.
    """
    named = [(kind, value) for kind, value in turn.mentions if kind != TIME]
    parts = (tokens(value, turn.language or None) for kind, value in named if kind != NUMBER)
    return turn.words.union((value for _, value in named), *parts)


def _of_words(talk: Talk, candidates: Sequence[Talk]) -> dict[str, Floats]:
    """Compare words and named things, each weighed by how few of the candidates have it."""
    holders = Counter(term for other in candidates for term in other.terms if term in talk.terms)
    rarity = {term: math.log1p(RARITY / (holders[term] + 0.5)) for term in talk.terms}
    opened = _terms(talk.opening)
    in_opening = sum(rarity.get(term, 0.0) for term in opened)
    size = _size(talk.terms, rarity)
    rows = []
    for other in candidates:
        shared = [term for term in talk.terms if term in other.terms]
        product = sum(_weight(talk.terms[t], rarity[t]) * _weight(other.terms[t], rarity[t]) for t in shared)
        # every word of theirs counts alike: what others talk of is not to move this one's measure
        both = size * _size(other.terms, dict.fromkeys(other.terms, _RARE))
        rows.append(
            (
                product / both if both else 0.0,
                sum(rarity.get(t, 0.0) for t in opened if t in other.terms) / in_opening
                if in_opening
                else 0.0,
                sum(rarity[t] for t in shared) / (sum(rarity.values()) or 1.0),
            )
        )
    words, opening_words, share = np.array(rows, np.float64).T
    return {
        "words": words,
        "words_edge": edges(words),
        "words_ratio": words / max(float(words.max()), SMALLEST_BEST),
        "opening_words": opening_words,
        "share": share,
    }


def _weight(count: int, rarity: float) -> float:
    return (1.0 + math.log(count)) * rarity


def _size(terms: Mapping[str, int], rarity: Mapping[str, float]) -> float:
    return math.sqrt(sum(_weight(count, rarity[term]) ** 2 for term, count in terms.items()))


def _of_vectors(talk: Talk, candidates: Sequence[Talk], calibration: Calibration | None) -> dict[str, Floats]:
    """Compare message with message by cosine; a candidate without vectors is near to nothing."""
    own, vectors = talk.vectors, [one.vectors for one in candidates]
    if own is None or all(rows is None for rows in vectors):
        return {}
    opening = None if talk.opening.vector is None else _unit(np.asarray([talk.opening.vector], np.float64))
    rows_seen = []
    for rows in vectors:
        if rows is None:
            rows_seen.append((0.0,) * 5)
            continue
        theirs = rows.T
        cosines = _calibrated(own @ theirs, calibration)
        first = 0.0 if opening is None else float(_calibrated(opening @ theirs, calibration).max())
        best = np.sort(cosines, axis=None)[::-1]
        rows_seen.append(
            (
                float(cosines.max(axis=1).mean()),
                first,
                float(cosines.mean()),
                float(best[:3].mean()),
                float(best[0]),
            )
        )
    near, first_near, mean, nearest, closest = np.array(rows_seen, np.float64).T
    return {
        "near_rank": ranks(near),
        NEAR: near,
        "opening_near": first_near,
        "opening_rank": ranks(first_near),
        "mean_edge": edges(mean),
        "nearest_rank": ranks(nearest),
        "closest": closest,
    }


def _unit(rows: Floats) -> Floats:
    sizes = np.linalg.norm(rows, axis=1, keepdims=True)
    result: Floats = rows / np.where(sizes == 0.0, 1.0, sizes)
    return result


def _calibrated(cosines: Floats, calibration: Calibration | None) -> Floats:
    return cosines if calibration is None else calibration.as_default(cosines)


def _of_time(talk: Talk, candidates: Sequence[Talk]) -> dict[str, Floats]:
    """Say how long ago each candidate was, and how many were active after it.

    What points back without saying to what mostly means the one active last.
    """
    hours = np.array([(talk.first_at - one.last_at).total_seconds() / 3600.0 for one in candidates])
    turn = ranks(np.array([one.last_at.timestamp() for one in candidates]))
    age = np.log1p(np.maximum(hours, 0.0))
    return {
        "age": age,
        "ellipsis_age": _ellipsis(talk.opening) * _few(talk.opening) * age,
        "turn": turn,
        "few_turn": _few(talk.opening) * turn,
        "ellipsis_turn": _ellipsis(talk.opening) * _few(talk.opening) * turn,
    }


def _few(opening: Features) -> float:
    return 1.0 / (1.0 + len(opening.words))


def _ellipsis(opening: Features) -> float:
    leans = opening.dependence
    return max(
        leans.pointing,
        leans.going_on,
        leans.report,
        float(opening.cues.continuation),
        float(opening.cues.anaphora),
    )


def ranks(values: Floats) -> Floats:
    """Return log(1 + how many are better) for each; equals share the better place.

    >>> ranks(np.array([0.1, 0.9, 0.1])).round(2).tolist()
    [0.69, 0.0, 0.69]
    """
    better = (values[None, :] > values[:, None]).sum(axis=1)
    result: Floats = np.log1p(better)
    return result


def edges(values: Floats) -> Floats:
    """Return how far each lies above the mean of its five best rivals; a rival that is missing counts 0.

    >>> edges(np.array([0.5, 0.1])).round(2).tolist()
    [0.48, 0.0]
    """
    positive = np.maximum(values, 0.0)
    order = np.sort(positive)[::-1]
    top, sixth = float(order[:RIVALS].sum()), float(order[RIVALS]) if len(order) > RIVALS else 0.0
    inside = (positive[None, :] > positive[:, None]).sum(axis=1) < RIVALS
    rivals = np.where(inside, top - positive + sixth, top)
    result: Floats = values - rivals / RIVALS
    return result
