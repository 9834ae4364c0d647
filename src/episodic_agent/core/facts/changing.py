"""Does what somebody says change something said before, and what of it? Judged in its conversation.

"5k then", "half 4", "he's back on nights": what changes something seldom names it. The judge of pairs
(`replacing`) reads two statements by themselves; this one reads the newer with the words before it in its
sitting, beside all it may be about. A weighed sum for each: how near the two are, by the words alone and with
those before them, in meaning and in rare words they share; how much nearer than the rivals; what both name (a
sum, a clock, a day); what the judge of pairs thinks; and whether the words sound like a change at all. The
weights are `data/facts/changing.npz`, made by `tools/train_changes.py`. Without vectors it tells little, so
then the judge of pairs is asked alone.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from math import fsum, log, log1p
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from episodic_agent.core.facts.replacing import JudgedStatement, likelihood, rivals_of
from episodic_agent.core.facts.stating import signs
from episodic_agent.core.language import tokens
from episodic_agent.core.language.coming import named_days
from episodic_agent.core.language.timewords import normal
from episodic_agent.data import arrays
from episodic_agent.schemas import Vector

WEIGHTS: Final = "facts/changing.npz"
CHANGED: Final = 0.65  # from which words end what was said before
TALK: Final = 3  # messages before the newer one that are read with it
LONGEST_TALK: Final = 300  # characters of each
PLACES: Final = 4  # from which on it does not matter how far into its sitting words stand
_FADING: Final = 0.7  # what each message further back counts beside the next
_FORMS: Final = ("number", "money", "clock")
_MOST_SHARED: Final = 6.0  # rarity of shared words, beyond which more of it says nothing new
_SECONDS_A_DAY: Final = 86_400
_LEAST_LIKELY: Final = 1e-6
Floats = NDArray[np.float64]


class SpokenBefore(NamedTuple):
    """What somebody said before, and may be changed: the statement, who said it, whether in this sitting."""

    statement: JudgedStatement
    speaker: str
    same_sitting: bool


@dataclass(frozen=True, slots=True, eq=False)
class SpokenNow:
    """What is said now: the statement, who says it, and the last messages before it in its sitting, in order.

    `talk` are their texts, `talk_vectors` the vectors, [d] each, of those that have one; `place` is how many
    messages its sitting has before it, up to `PLACES`.
    """

    statement: JudgedStatement
    speaker: str
    talk: Sequence[str] = ()
    talk_vectors: Sequence[Vector] = ()
    place: int = 0

    @property
    def signs(self) -> frozenset[str]:
        """Return what it sounds like, behind what was said just before it."""
        return _signs_behind(self.statement.text, self.talk[-1] if self.talk else "")


@dataclass(frozen=True, slots=True)
class _ChangeJudge:
    """Weights by feature, by sign, and of the vector, [d]; what stands without any."""

    features: Mapping[str, float]
    signs: Mapping[str, float]
    vector: NDArray[np.float32]
    base: float


def likelihoods(now: SpokenNow, known: Sequence[SpokenBefore]) -> list[float]:
    """Return how likely words change each of what is known, in [0, 1].

    All statements have vectors of `stating.EMBEDDER`. Raises ValueError where one has none.
    """
    if not known:
        return []
    judge = _judge()
    alone = judge.base + fsum(judge.signs.get(sign, 0.0) for sign in now.signs)
    total = np.full(len(known), alone + float(_vector_of(now.statement) @ judge.vector))
    for name, column in features(now, known).items():
        total += judge.features.get(name, 0.0) * column
    result: list[float] = (1.0 / (1.0 + np.exp(-np.clip(total, -30.0, 30.0)))).tolist()
    return result


def features(now: SpokenNow, known: Sequence[SpokenBefore]) -> dict[str, Floats]:
    """Return what each of what is known is judged by, [known] a feature."""
    terms = frozenset(tokens(now.statement.text))
    with_talk = terms.union(*(tokens(text) for text in now.talk))
    others = [frozenset(tokens(one.statement.text)) for one in known]
    counts = Counter(term for row in others for term in row)
    rarity = {term: log((len(known) + 1) / (count + 0.5)) for term, count in counts.items()}
    columns: dict[str, Floats] = {}
    _compete(columns, "shared", _shared(terms, others, rarity))
    _compete(columns, "shared in talk", _shared(with_talk, others, rarity))
    in_talk = np.minimum(columns["shared in talk"], _MOST_SHARED)
    form = _named(now.statement, now.signs)
    forms = [_named(one.statement, _signs_alone(one.statement.text)) for one in known]
    common = np.array([float(len(form & other)) for other in forms])
    change, negation = float(":change" in now.signs), float(":negation" in now.signs)
    rows = np.stack([_vector_of(one.statement) for one in known])
    mine = _vector_of(now.statement)
    alone = rows @ mine
    talk = _faded(now.talk_vectors, len(mine))
    near = rows @ _unit(mine + talk)
    _compete(columns, "pair", _pairs(now, known, alone.tolist()))
    _compete(columns, "near", alone)
    _compete(columns, "near in talk", near)
    _compete(columns, "talk near", rows @ talk)
    columns |= {"change near": change * near, "negation near": negation * near, "forms near": common * near}
    columns |= {"change shared": change * in_talk, "forms shared": common * in_talk}
    for name in (*_FORMS, "day"):
        columns[f"older {name}"] = np.array([float(name in other) for other in forms])
        columns[f"both {name}"] = float(name in form) * columns[f"older {name}"]
    columns["same speaker"] = np.array([float(one.speaker == now.speaker) for one in known])
    columns["same sitting"] = np.array([float(one.same_sitting) for one in known])
    columns["older length"] = np.array([log1p(len(other)) for other in others])
    columns["days"] = np.array([_days(now, one) for one in known])
    for name, value in (("place", min(now.place, PLACES)), ("length", len(terms)), ("known", len(known))):
        columns[name] = np.full(len(known), log1p(value))
    return columns


def _compete(columns: dict[str, Floats], name: str, values: Floats) -> None:
    """Add a feature, how far it is above the best rival (or below the best), and where it is best."""
    order = np.sort(values)[::-1]
    best = values == order[0]
    second = float(order[1]) if len(order) > 1 else 0.0
    columns[name] = values
    columns[f"{name}, margin"] = np.where(best, order[0] - second, values - order[0])
    columns[f"{name}, best"] = best.astype(float)


def _shared(terms: frozenset[str], others: Sequence[frozenset[str]], rarity: Mapping[str, float]) -> Floats:
    return np.array([fsum(rarity[term] for term in terms & other) for other in others])


def _pairs(now: SpokenNow, known: Sequence[SpokenBefore], cosines: Sequence[float]) -> Floats:
    """Return the log-odds of the judge of pairs, which reads statements by themselves."""
    result = []
    for before, rivals in zip(known, rivals_of(cosines), strict=True):
        sure = likelihood(before.statement, now.statement, rivals)
        result.append(log(max(sure, _LEAST_LIKELY) / max(1.0 - sure, _LEAST_LIKELY)))
    return np.array(result)


def _vector_of(statement: JudgedStatement) -> Floats:
    if statement.vector is None:
        raise ValueError(f"no vector of {statement.text!r}: embed it first")
    return np.asarray(statement.vector, float)


@lru_cache(maxsize=64)
def _signs_behind(text: str, before: str) -> frozenset[str]:
    return frozenset(signs(text, before))


@lru_cache(maxsize=4_096)
def _signs_alone(text: str) -> frozenset[str]:
    return frozenset(signs(text))


def _named(statement: JudgedStatement, row: frozenset[str]) -> frozenset[str]:
    """Return which of a number, a sum, a clock and a day a statement names."""
    names = {name for name in _FORMS if f":{name}" in row}
    return frozenset(names | ({"day"} if _names_a_day(statement) else set()))


def _names_a_day(statement: JudgedStatement) -> bool:
    return bool(named_days(normal(statement.text), statement.at.date()))


def _days(now: SpokenNow, before: SpokenBefore) -> float:
    return log1p(max(0.0, (now.statement.at - before.statement.at).total_seconds() / _SECONDS_A_DAY))


def _faded(vectors: Sequence[Vector], width: int) -> Floats:
    """Return the direction of the last messages, [width], the nearest counting most; zeros for none."""
    total = np.zeros(width)
    for back, vector in enumerate(reversed(vectors)):
        total += _FADING**back * np.asarray(vector, float)
    return _unit(total)


def _unit(vector: Floats) -> Floats:
    length = float(np.sqrt(vector @ vector))
    return vector / length if length > _LEAST_LIKELY else vector


@cache
def _judge() -> _ChangeJudge:
    stored = arrays(WEIGHTS)

    def weights(part: str) -> dict[str, float]:
        names = stored[part].tobytes().decode().split("\n")
        return dict(zip(names, stored[f"{part}_weights"].astype(float).tolist(), strict=True))

    return _ChangeJudge(weights("features"), weights("signs"), stored["vector"], float(stored["base"][0]))
