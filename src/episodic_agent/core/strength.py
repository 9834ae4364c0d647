"""How strong a memory is, how it fades, and what a retention policy lets go.

Decay is FSRS-6: a new episode begins as after a first "Good", stronger the more it surprised (seed 001,
"Surprise-Based FSRS Boost"); `retrievability` says what share is left after some days, for whole result lists
at once; `next_state` what a rating makes of stability and difficulty. `read_retention` reads rules
("age=365d,strength=0.2,count=10000") and says what they archive, erase or bring back. Who rates, and by what,
is `core.review`.

**Rules of the room.**
1. Days go in, state comes out; no clock. The tests compare with the `fsrs` package.
2. Stability (days) and difficulty (1 to 10) are stored, retrievability is computed. Elapsed time is never
   negative.
3. Strength is counted from event time at first: an old chat that is imported today does not arrive fresh.
4. Arrays and numbers give the same figures, however they are broadcast.
5. A policy archives first and erases after its grace period, never both in one pass; what today's rules no
   longer name comes back, and what is pinned or open is never touched.

**To add** a rule of retention, read it in `read_retention`, a reason in words, and its place among the
others. The arithmetic of FSRS is not ours to change.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final, overload

from episodic_agent.core.language import plural
from episodic_agent.errors import InvalidInput
from episodic_agent.lazily import module
from episodic_agent.schemas.strength import Rating, Standing, Strength

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray
else:
    np = module("numpy")


WEIGHTS: Final[tuple[float, ...]] = (
    0.212, 1.2931, 2.3065, 8.2956,  # w0-w3: first stability after Again, Hard, Good, Easy
    6.4133, 0.8334, 3.0194, 0.001,  # w4-w7: difficulty
    1.8722, 0.1666, 0.796,  # w8-w10: growth after a recall
    1.4835, 0.0614, 0.2629, 1.6483,  # w11-w14: what is left after a lapse
    0.6014, 1.8729,  # w15 Hard penalty, w16 Easy bonus
    0.5425, 0.0912, 0.0658,  # w17-w19: same-day reviews
    0.1542,  # w20: how fast forgetting slows down
)  # fmt: skip
SMALLEST_STABILITY: Final = 0.001
EASIEST: Final = 1.0
HARDEST: Final = 10.0
PIECE: Final = 16_384  # memories computed at a time
SURPRISE_BOOST: Final = 0.5  # seed 001: stability * (1 + surprise * 0.5)
_BETWEEN_GRADES: Final = 9.0  # HARDEST - EASIEST, the range that difficulty changes are damped over


@overload
def retrievability(stability: float, elapsed_days: float) -> float: ...
@overload
def retrievability(stability: "ArrayLike", elapsed_days: "ArrayLike") -> "NDArray[np.float64]": ...
def retrievability(stability: "ArrayLike", elapsed_days: "ArrayLike") -> "float | NDArray[np.float64]":
    """Return the chance in (0, 1] that a memory is still recalled, for one memory or a whole result list.

    `R(t, S) = (1 + F t / S)^-w20` with F such that R(S, S) = 0.9 (FSRS-6). `elapsed_days` since
    last_reviewed_at may be fractional; before it (a late import, a clock set back) counts as 0. Arrays
    are broadcast and computed in float64.

    >>> round(retrievability(2.3065, 7), 4)
    0.8083
    >>> retrievability([2.3065, 3.4598], 30.0).round(4).tolist()
    [0.6675, 0.7067]
    """
    decay = WEIGHTS[20]
    factor = math.pow(0.9, -1.0 / decay) - 1.0
    if isinstance(stability, int | float) and isinstance(elapsed_days, int | float):
        # the scalar path spares numpy's overhead where a single memory is shown
        scaled = factor * max(float(elapsed_days), 0.0) / max(float(stability), SMALLEST_STABILITY)
        return math.pow(1.0 + scaled, -decay)
    days, stable = np.asarray(elapsed_days, dtype=np.float64), np.asarray(stability, dtype=np.float64)
    if days.shape == stable.shape and days.ndim == 1 and len(days) > PIECE:
        full = np.empty(len(days))
        for start in range(0, len(days), PIECE):  # what is between stays in the processor's cache
            part = slice(start, start + PIECE)
            full[part] = retrievability(stable[part], days[part])
        return full
    days, stable = np.maximum(days, 0.0), np.maximum(stable, SMALLEST_STABILITY)
    probability: NDArray[np.float64] = np.asarray(factor * days / stable)
    probability += 1.0
    # (1 + x)^-d as exp(-d log(1 + x)), in place: equal to the last bit or two, and ten times as fast
    np.log(probability, out=probability)
    probability *= -decay
    return np.exp(probability, out=probability)


def initial_strength(surprise: float = 0.0) -> Strength:
    """Return the strength of a new episode; surprise in [0, 1] (clamped, NaN is 0) makes it last longer.

    S0 and D0 are FSRS-6's for a first review rated Good; the boost is seed 001's (Surprise-Based FSRS Boost).

    >>> fresh = initial_strength(0.7)
    >>> round(fresh.stability, 4), round(fresh.difficulty, 4)
    (3.1138, 2.1181)
    """
    felt = 0.0 if math.isnan(surprise) else min(max(surprise, 0.0), 1.0)
    stability = WEIGHTS[2] * (1.0 + SURPRISE_BOOST * felt)
    return Strength(stability, _difficulty_in_range(_first_difficulty(Rating.GOOD)))


def blended(parts: Sequence[tuple[int, Strength, float]]) -> tuple[Strength, float]:
    """Return the strength and time of last review of a memory made of parts of others.

    Each part is (how many observations came from there, strength, time of last review in seconds). All three
    numbers are arithmetic means weighted by the observations; raises ValueError without any.

    >>> blended([(3, Strength(2.0, 4.0), 0.0), (1, Strength(6.0, 8.0), 40.0)])
    (Strength(stability=3.0, difficulty=5.0), 10.0)
    """
    total = sum(count for count, _, _ in parts)
    if total <= 0:
        raise ValueError("a memory is made of one observation at least")
    stability = math.fsum(count * strength.stability for count, strength, _ in parts) / total
    difficulty = math.fsum(count * strength.difficulty for count, strength, _ in parts) / total
    reviewed = math.fsum(count * at for count, _, at in parts) / total
    return Strength(max(stability, SMALLEST_STABILITY), _difficulty_in_range(difficulty)), reviewed


def next_state(
    stability: float,
    difficulty: float,
    whole_days: int,
    rating: int,
) -> Strength:
    """Return the strength after a review `whole_days` after the last one (FSRS-6; below 1: same-day branch).

    `rating` is 1 Again, 2 Hard, 3 Good or 4 Easy; anything else raises ValueError. A same-day Good or Easy
    never weakens a memory.

    >>> after = next_state(2.3065, 2.1181, 1, Rating.GOOD)
    >>> round(after.stability, 4), round(after.difficulty, 4)
    (7.3153, 2.1112)
    """
    grade = Rating(rating)
    stable = max(stability, SMALLEST_STABILITY)
    hard = _difficulty_in_range(difficulty)
    if whole_days < 1:
        new_stability = stable * _same_day_growth(stable, grade)
    else:
        probability = retrievability(stable, float(whole_days))
        if grade is Rating.AGAIN:
            new_stability = _after_lapse(stable, hard, probability)
        else:
            new_stability = stable * _growth(stable, hard, probability, grade)
    return Strength(max(new_stability, SMALLEST_STABILITY), _next_difficulty(hard, grade))


def _growth(stability: float, difficulty: float, probability: float, rating: Rating) -> float:
    """Return how many times longer a memory lasts after it was recalled at `probability`."""
    factor = {Rating.HARD: WEIGHTS[15], Rating.GOOD: 1.0, Rating.EASY: WEIGHTS[16]}[rating]
    ease = (11.0 - difficulty) * math.pow(stability, -WEIGHTS[9])
    # the nearer to forgotten, the more a recall teaches
    spacing = math.exp((1.0 - probability) * WEIGHTS[10]) - 1.0
    return 1.0 + math.exp(WEIGHTS[8]) * ease * spacing * factor


def _after_lapse(stability: float, difficulty: float, probability: float) -> float:
    """Return the stability left after a lapse, never more than a same-day lapse would leave."""
    remaining = math.pow(stability + 1.0, WEIGHTS[13]) - 1.0
    long_term = (
        WEIGHTS[11]
        * math.pow(difficulty, -WEIGHTS[12])
        * remaining
        * math.exp((1.0 - probability) * WEIGHTS[14])
    )
    return min(long_term, stability / math.exp(WEIGHTS[17] * WEIGHTS[18]))


def _same_day_growth(stability: float, rating: Rating) -> float:
    growth = math.exp(WEIGHTS[17] * (rating - 3 + WEIGHTS[18])) * math.pow(stability, -WEIGHTS[19])
    return max(growth, 1.0) if rating >= Rating.GOOD else growth


def _first_difficulty(rating: Rating) -> float:
    return WEIGHTS[4] - math.exp(WEIGHTS[5] * (rating - 1)) + 1.0


def _next_difficulty(difficulty: float, rating: Rating) -> float:
    change = -WEIGHTS[6] * (rating - 3)
    damped = difficulty + (HARDEST - difficulty) * change / _BETWEEN_GRADES
    # reverts to the *unclamped* first difficulty of Easy, which is negative with these weights
    reverted = WEIGHTS[7] * _first_difficulty(Rating.EASY) + (1.0 - WEIGHTS[7]) * damped
    return _difficulty_in_range(reverted)


def _difficulty_in_range(difficulty: float) -> float:
    return min(max(difficulty, EASIEST), HARDEST)


NONE: Final = "none"
GRACE: Final = 30.0  # days
_UNITS: Final = {"s": 1 / 86_400, "m": 1 / 1440, "h": 1 / 24, "d": 1.0, "w": 7.0, "y": 365.0}
_LONGEST: Final = 100_000.0  # days
_MOST_DIGITS: Final = 18  # of a number of episodes
KEEP_FACTS: Final = "keep=facts"
_HELP: Final = 'write rules as "age=365d,strength=0.2,count=10000,grace=30d,keep=facts", or "none"'


@dataclass(frozen=True, slots=True)
class Retention:
    """What a scope lets go: `age` and `grace` in days, `strength` as R in (0, 1), `count` of episodes.

    A rule that is None says nothing; without any, no episode ever goes. `audit` is how many days it is kept
    who did what (None: for ever), and lets no episode go. With `keep_facts` an episode stays as long as a
    fact that holds rests on it.

    >>> str(Retention(age=365, grace=7)), str(Retention(audit=90)), str(Retention())
    ('age=365d,grace=7d', 'audit=90d', 'none')
    """

    age: float | None = None
    strength: float | None = None
    count: int | None = None
    grace: float = GRACE
    audit: float | None = None
    keep_facts: bool = False

    def __bool__(self) -> bool:
        return not self.age is self.strength is self.count is None

    def __str__(self) -> str:
        """Return the rules as `read_retention` takes them."""
        entries = [] if self.audit is None else [f"audit={_written(self.audit)}d"]
        if not self:
            return "".join(entries) or NONE
        rules = [] if self.age is None else [f"age={_written(self.age)}d"]
        rules += [] if self.strength is None else [f"strength={_written(self.strength)}"]
        rules += [] if self.count is None else [f"count={self.count}"]
        entries += [KEEP_FACTS] if self.keep_facts else []
        return ",".join([*rules, f"grace={_written(self.grace)}d", *entries])


_DAY: Final = 86_400e6  # microseconds


def strength_at(standing: Standing, now: datetime) -> float:
    """Return the retrievability in (0, 1] of an episode at a time."""
    return float(
        retrievability(standing.stability, (now.timestamp() * 1e6 - standing.last_reviewed_at) / _DAY)
    )


@dataclass(frozen=True, slots=True)
class Chosen:
    """An episode that a policy lets go: why, and its retrievability when that was asked."""

    standing: Standing
    reason: str
    retrievability: float


def read_span(text: str) -> timedelta:
    """Read a span of time: a number with s, m, h, d, w or y (365 days), or alone, in seconds.

    >>> read_span("30d").days, read_span("90").total_seconds()
    (30, 90.0)
    """
    days = _days(text, bare=1 / 86_400)
    if days is None:
        raise InvalidInput(f"cannot read the span of time {text!r}; write a number with s, m, h, d, w or y")
    return timedelta(days=days)


def read_retention(text: str) -> Retention:
    """Read a policy from its rules; raises InvalidInput that names the rule and what there is.

    >>> read_retention("age=1y, count=500")
    Retention(age=365.0, strength=None, count=500, grace=30.0, audit=None, keep_facts=False)
    >>> bool(read_retention("none"))
    False
    """
    if text.strip().lower() in ("", NONE):
        return Retention()
    rules: dict[str, str] = {}
    for piece in filter(None, (piece.strip() for piece in text.split(","))):
        name, result, value = (part.strip().lower() for part in piece.partition("="))
        if not result or name not in ("age", "strength", "count", "grace", "audit", "keep"):
            raise InvalidInput(f"no retention rule {piece!r}; {_HELP}")
        if name in rules:
            raise InvalidInput(f"retention: {name} is said twice; {_HELP}")
        rules[name] = value
    policy = Retention(
        age=_read_days("age", rules),
        strength=_read_strength(rules),
        count=_read_count(rules),
        grace=_or(_read_days("grace", rules), GRACE),
        audit=_read_days("audit", rules),
        keep_facts="keep" in rules,
    )
    if rules.get("keep", "facts") != "facts":
        raise InvalidInput(f"retention: keep={rules['keep']} keeps nothing; {_HELP}")
    if not policy and (policy.audit is None or {"grace", "keep"} & rules.keys()):
        raise InvalidInput(f"a grace period, or what is kept, alone lets nothing go; {_HELP}")
    return policy


def let_go(
    policy: Retention,
    standings: Sequence[Standing],
    now: datetime,
    *,
    pinned: frozenset[str] = frozenset(),
    archived: frozenset[str] = frozenset(),
) -> list[Chosen]:
    """Return the episodes a policy lets go today, those to go first first; never a pinned one.

    `pinned` and `archived` are names. Where there are more than `count`, those archived already go first,
    then the weakest, of equals the oldest; pinned ones count.

    >>> ana = Standing(1, 2, "a", 0, 0, 2.3, 0)
    >>> [c.reason for c in let_go(Retention(age=30), [ana], datetime.fromisoformat("1970-03-01T00:00Z"))]
    ['older than 30 days']
    """
    if not policy or not standings:
        return []
    moment = now.timestamp() * 1e6
    ends = np.array([s.end_at for s in standings], np.float64)
    strengths = _strengths(standings, moment)
    free = np.array([s.name not in pinned for s in standings], np.bool_)
    reasons = [""] * len(standings)
    if policy.age is not None:
        for row in np.flatnonzero(free & (moment - ends > policy.age * _DAY)).tolist():
            reasons[row] = f"older than {plural(policy.age, 'day')}"
    if policy.strength is not None:
        for row in np.flatnonzero(free & (strengths < policy.strength)).tolist():
            reasons[row] = reasons[row] or f"strength below {policy.strength:g}"
    away = np.array([s.name not in archived for s in standings], np.bool_)
    names = np.array([s.name for s in standings])
    order = np.lexsort((names, ends, strengths.round(6), away)).tolist()
    if policy.count is not None:
        staying = [row for row in order if not reasons[row]]
        surplus = max(0, len(staying) - policy.count)
        for row in [row for row in staying if free[row]][:surplus]:
            reasons[row] = f"more than {plural(policy.count, 'episode')}"
    return [Chosen(standings[row], reasons[row], float(strengths[row])) for row in order if reasons[row]]


def _strengths(standings: Sequence[Standing], moment: float) -> "NDArray[np.float64]":
    stability = np.array([s.stability for s in standings], np.float64)
    reviewed = np.array([s.last_reviewed_at for s in standings], np.float64)
    return np.asarray(retrievability(stability, (moment - reviewed) / _DAY), np.float64)


def _days(text: str, bare: float) -> float | None:
    unit = _UNITS.get(text[-1:].lower())
    number = text if unit is None else text[:-1]
    try:
        days = float(number) * (bare if unit is None else unit)
    except ValueError:
        return None
    return days if math.isfinite(days) and 0 <= days <= _LONGEST else None


def _read_days(name: str, rules: dict[str, str]) -> float | None:
    if name not in rules:
        return None
    days = _days(rules[name], bare=1.0)
    if days is None or (name in ("age", "audit") and days == 0):
        raise InvalidInput(f"retention: {name}={rules[name]} is no span of time; {_HELP}")
    return days


def _read_strength(rules: dict[str, str]) -> float | None:
    if "strength" not in rules:
        return None
    try:
        strength = float(rules["strength"])
    except ValueError:
        strength = math.nan
    if not 0 < strength < 1:
        raise InvalidInput(f"retention: strength={rules['strength']} is not between 0 and 1; {_HELP}")
    return strength


def _read_count(rules: dict[str, str]) -> int | None:
    if "count" not in rules:
        return None
    text = rules["count"]
    if not text.isdecimal() or not text.isascii() or len(text) > _MOST_DIGITS or int(text) < 1:
        raise InvalidInput(f"retention: count={text} is no number of episodes; {_HELP}")
    return int(text)


def _written(number: float) -> str:
    """Return a number as it is read again: rounded, a strength just below 1 could not be."""
    short = f"{number:g}"
    return short if float(short) == number else repr(number)


def _or(value: float | None, default: float) -> float:
    return default if value is None else value
