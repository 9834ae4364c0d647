"""Which episodes a retention policy lets go, and why: age, strength, number (docs/internals/forgetting.md).

A policy first puts episodes away (`archived`), and only after a grace period are they erased. What it says
today counts: what a looser policy, a review or a pin keeps comes back.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from episodic_agent.core.language import plural
from episodic_agent.core.strength.decay import retrievability
from episodic_agent.errors import InvalidInput
from episodic_agent.lazily import module
from episodic_agent.schemas.strength import Standing

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = module("numpy")

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
