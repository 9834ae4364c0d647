"""How much speaks for a message belonging with an earlier thread: numbers first, a score from them after.

`compare` turns a message and a thread into flat numbers; a policy turns numbers into a score. A decision
keeps the numbers, so that its verdict can be computed again from the record alone (I6).
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Final

import numpy as np

from episodic_agent.core.calibration import Calibration
from episodic_agent.core.language.mentions.calendar import related
from episodic_agent.core.links.features import Dependence, Features, ThreadFeatures, cosine
from episodic_agent.core.links.policies import LinkPolicy

TIMELIKE: Final = frozenset({"time", "number"})  # every thread has a time; a number alone names nothing
INHERITED_KEYWORD: Final = 0.7  # what an elliptical message takes over from what it follows (seed 002)
INHERITED_TOPIC: Final = 0.85
OTHER_VALUE: Final = 0.5  # another value of the same type (seed 002)
COSINE_FLOOR, COSINE_SPAN = 0.2, 0.6  # a cosine as a topic match: 0 at .2, 1 at .8 (seed 002)
DAY_HOURS: Final = 24.0
LONGEST_HOURS: Final = 24.0 * 365


@dataclass(frozen=True, slots=True)
class LinkEvidence:
    """A candidate thread with the numbers that speak for and against it, and a policy's score of them."""

    thread_id: str
    features: Mapping[str, float]
    score: float


@dataclass(frozen=True, slots=True)
class CandidateSetting:
    """What the other candidates say about one of them.

    `inherits`: it is the most recent candidate that an elliptical message fits. `newest`: no other was active
    later. `holders` counts the candidates that use a word, of `threads` in all.
    """

    inherits: bool = False
    newest: bool = True
    holders: Mapping[str, int] | None = None
    threads: int = 1


ALONE: Final = CandidateSetting()
DEPENDENCE: Final = tuple(f.name for f in fields(Dependence))
CUES: Final = ("recall", "dated", "new_subject", "continuation", "anaphora", "nothing")


def judge(
    message: Features,
    threads: Sequence[ThreadFeatures],
    now: datetime,
    policy: LinkPolicy,
    *,
    calibration: Calibration | None = None,
) -> tuple[LinkEvidence, ...]:
    """Score a message against all its candidate threads, best first, ties to the later active.

    `now` is the message's time. `calibration` brings another embedder's cosines to the default's scale.

    >>> from datetime import UTC, timedelta
    >>> from episodic_agent.core.links.features import features_of, thread_of
    >>> from episodic_agent.core.links.policies import link_policy
    >>> at = datetime(2026, 1, 5, 10, tzinfo=UTC)
    >>> rain = thread_of("rain", [(at, features_of("Will it rain?", topics={"weather": 1.0}))])
    >>> said = features_of("Tell me about the rain", topics={"weather": 1.0})
    >>> round(judge(said, [rain], at + timedelta(hours=1), link_policy("seed-002"))[0].score, 3)
    0.988
    """
    settings = _settings(message, threads)
    rows = [
        compare(message, thread, now, setting, calibration=calibration)
        for thread, setting in zip(threads, settings, strict=True)
    ]
    _add_leads(rows)
    evidence = [
        LinkEvidence(thread.thread_id, row, policy.score(row))
        for thread, row in zip(threads, rows, strict=True)
    ]
    latest = {thread.thread_id: thread.last_at for thread in threads}
    return tuple(sorted(evidence, key=lambda e: (-e.score, -latest[e.thread_id].timestamp(), e.thread_id)))


def score(
    message: Features,
    thread: ThreadFeatures,
    now: datetime,
    policy: LinkPolicy,
    *,
    calibration: Calibration | None = None,
) -> LinkEvidence:
    """Score a message against one thread, as if it were the only candidate."""
    return judge(message, [thread], now, policy, calibration=calibration)[0]


def compare(
    message: Features,
    thread: ThreadFeatures,
    now: datetime,
    setting: CandidateSetting = ALONE,
    *,
    calibration: Calibration | None = None,
) -> dict[str, float]:
    """Return what speaks for and against a thread, as flat numbers, shares in [0, 1].

    `keyword`, `entity` and `topic` are seed 002's components and absent where the message gives no evidence
    for them; `near`, `centre` and `last` are cosines, absent without vectors.
    """
    hours = (now - thread.last_at).total_seconds() / 3600.0
    cosines = _cosines(message, thread, calibration)
    values = {
        "recency": min(1.0, max(0.0, 1.0 - hours / DAY_HOURS)),
        "age": math.log1p(min(max(hours, 0.0), LONGEST_HOURS)),
        "newest": float(setting.newest),
        "inherits": float(setting.inherits),
        "length": math.log1p(message.length),
        "content": float(len(message.words)),
        "foreign": float(message.language not in ("", "en")),
        **{f"says_{name}": float(getattr(message.cues, name)) for name in CUES},
        **{name: float(getattr(message.dependence, name)) for name in DEPENDENCE},
        **cosines,
        **_words(message, thread, setting),
        **_entities(message, thread),
    }
    inherited = setting.inherits
    components = {
        "keyword": INHERITED_KEYWORD if inherited else _keyword(message, thread),
        "entity": _entity(message, thread, inherited=inherited),
        "topic": INHERITED_TOPIC if inherited else _topic(message, thread, cosines),
    }
    return values | {name: value for name, value in components.items() if value is not None}


def _keyword(message: Features, thread: ThreadFeatures) -> float | None:
    if not message.words or message.cues.nothing:
        return None
    smaller = min(len(message.words), len(thread.words))
    return len(message.words & thread.words.keys()) / smaller if smaller else 0.0


def _entity(message: Features, thread: ThreadFeatures, *, inherited: bool) -> float | None:
    """Average over what the message names: same value 1, other value of the type .5, a set 1 or 0."""
    marks = [_match(kind, value, thread, inherited=inherited) for kind, value in message.mentions]
    marks += [
        float(bool(thread.values if kind is None else thread.values.get(kind))) for kind in message.sets
    ]
    return sum(marks) / len(marks) if marks else None


def _match(kind: str, value: str, thread: ThreadFeatures, *, inherited: bool) -> float:
    if _holds(thread, kind, value):
        return 1.0
    if inherited:  # "on Thursday?" moves what was asked to another time, and every thread has one
        return float(kind in thread.values or kind in TIMELIKE)
    return OTHER_VALUE if kind in thread.values else 0.0


def _holds(thread: ThreadFeatures, kind: str, value: str) -> bool:
    """Say whether a thread names a value; a time is also named by one that contains it."""
    held = thread.values.get(kind, ())
    return value in held or (kind == "time" and any(related(value, other) for other in held))


def _topic(message: Features, thread: ThreadFeatures, cosines: Mapping[str, float]) -> float | None:
    """Return the topic match by words or by vectors, the better of both; bare thanks have no topic."""
    if message.cues.nothing:
        return None
    shared = _shared_topics(message, thread)
    if "centre" not in cosines:
        return shared
    best = max(cosines["centre"], cosines["last"])
    return max(shared or 0.0, min(1.0, max(0.0, (best - COSINE_FLOOR) / COSINE_SPAN)))


def _shared_topics(message: Features, thread: ThreadFeatures) -> float | None:
    total = sum(message.topics.values())
    if total <= 0.0:
        return None
    return sum(weight for topic, weight in message.topics.items() if topic in thread.topics) / total


def _cosines(message: Features, thread: ThreadFeatures, calibration: Calibration | None) -> dict[str, float]:
    centre = cosine(message.vector, thread.total)
    near = [c for c in (cosine(message.vector, vector) for vector in thread.recent) if c is not None]
    if centre is None or not near:
        return {}
    results = np.array([max(near), centre, near[-1]])
    if calibration is not None:
        results = calibration.as_default(results)
    return dict(zip(("near", "centre", "last"), results.tolist(), strict=True))


def _words(message: Features, thread: ThreadFeatures, setting: CandidateSetting) -> dict[str, float]:
    """Return the share of the message's words that the thread has, each weighed by how few threads use it."""
    holders = setting.holders or {}
    weights = {w: math.log((setting.threads + 1.0) / (holders.get(w, 0) + 0.5)) for w in message.words}
    shared = {word for word in message.words if word in thread.words}
    total = sum(weights.values())
    return {
        "shared": float(len(shared)),
        "rare": sum(weights[word] for word in shared) / total if total > 0.0 else 0.0,
        "topics": _shared_topics(message, thread) or 0.0,
        "off_topic": float(bool(message.topics) and not _shared_topics(message, thread)),
    }


def _entities(message: Features, thread: ThreadFeatures) -> dict[str, float]:
    """Return how much of what the message names the thread names too, or names otherwise."""
    named = [(kind, value) for kind, value in message.mentions if kind not in TIMELIKE]
    same = sum(_holds(thread, kind, value) for kind, value in named)
    other = sum(kind in thread.values and not _holds(thread, kind, value) for kind, value in named)
    return {
        "same": same / len(named) if named else 0.0,
        "other": other / len(named) if named else 0.0,
        "unknown": (len(named) - same - other) / len(named) if named else 0.0,
        "sets": float(fits_sets(message, thread)),
    }


def fits_sets(message: Features, thread: ThreadFeatures) -> bool:
    """Say whether a message speaks of several things of a kind, and a thread names one of each."""
    return bool(message.sets) and all(kind is None or kind in thread.values for kind in message.sets)


def _settings(message: Features, threads: Sequence[ThreadFeatures]) -> list[CandidateSetting]:
    """Return what each must know of the others: which is newest, who inherits, how rare words are."""
    newest = max((thread.last_at for thread in threads), default=None)
    fitting = [thread for thread in threads if message.elliptical and _compatible(message, thread)]
    heir = max(fitting, key=lambda thread: (thread.last_at, thread.thread_id), default=None)
    holders = Counter(word for thread in threads for word in thread.words if word in message.words)
    return [
        CandidateSetting(thread is heir, thread.last_at == newest, holders, len(threads))
        for thread in threads
    ]


def _compatible(message: Features, thread: ThreadFeatures) -> bool:
    """Say whether a message without content fits a thread: a type it names is one of the thread's."""
    kinds = {kind for kind, _ in message.mentions} - TIMELIKE
    return not kinds or any(kind in thread.values for kind in kinds)


def _add_leads(rows: Sequence[dict[str, float]]) -> None:
    """Add how far each candidate is ahead of the best of the others, by words and by vectors."""
    for name in ("near", "rare"):
        values = [row.get(name, 0.0) for row in rows]
        for place, row in enumerate(rows):
            others = [value for n, value in enumerate(values) if n != place]
            row[f"{name}_lead"] = values[place] - max(others, default=0.0) if name in row else 0.0
