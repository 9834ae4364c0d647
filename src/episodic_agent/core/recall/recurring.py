"""What comes again on the days a question asks about: schedules, and what later texts made of them.

"Football is every Wednesday" answers "what's on today?" on each Wednesday after it, until "no football this
Wednesday", "football moved to Thursday" or "no football any more" say otherwise. The days a text names stand
beside its words in the index as marks of their own, so that one of last year is found by its day at once.
"""

from calendar import monthrange
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import cache, lru_cache
from types import MappingProxyType
from typing import Final, NamedTuple

from episodic_agent.core.facts.stating import likely
from episodic_agent.core.language import tokens
from episodic_agent.core.language.coming import HAN, ComingDays, named_days
from episodic_agent.core.language.dayparts import without
from episodic_agent.core.language.recurring import (
    Recurrence,
    RecurrenceChange,
    changed_days,
    clause_of,
    may_recur,
    recurring_days,
    skipped_days,
)
from episodic_agent.core.language.stopwords import stop_words
from episodic_agent.core.language.timewords import normal
from episodic_agent.core.recall.due import READ, DaysAsked
from episodic_agent.data import phrases
from episodic_agent.schemas import Vector

MARK: Final = "§"  # no word of a text is one
_WEEK: Final = timedelta(days=7)
_STEM: Final = 6  # letters that words of one matter begin with
_SHORTEST: Final = 3  # letters of a word that tells what is spoken of
WEIGHTS: Final = "recall/recurring.npz"
STANDS: Final = 0.25  # from which something stands in a calendar: to miss it costs more than a line too many
_LEAP: Final = datetime(2000, 1, 1, tzinfo=UTC)


class Schedule(NamedTuple):
    """What a text says of days that come again, of what, and when it was said.

    `named` are days it names that come once; on those of `skipped` something does not take place as it does.
    `clauses` hold the terms of each clause that names days which come again, where there are several:
    "pills every morning, physio on Tuesdays" are two matters, and the end of one leaves the other.
    """

    at: datetime
    terms: frozenset[str]
    days: Sequence[Recurrence]
    changed: RecurrenceChange | None
    named: Sequence[ComingDays]
    skipped: Sequence[ComingDays]
    clauses: Mapping[Recurrence, frozenset[str]] = MappingProxyType({})

    def matters(self) -> list["Schedule"]:
        """Return it in parts, each of one matter."""
        parts: dict[frozenset[str], list[Recurrence]] = {}
        for days in self.days:
            parts.setdefault(self.clauses.get(days, self.terms), []).append(days)
        return [self._replace(terms=terms, days=days) for terms, days in parts.items()]

    def names(self, days: Iterable[date]) -> bool:
        """Tell whether it names some day as one that comes again, or brings one in another's place."""
        named = [*self.days, *(self.changed.days if self.changed else ())]
        return any(one.falls_on(day) for one in named for day in days)


@lru_cache(maxsize=4_096)  # the same texts are read for each day that is asked about
def schedule_of(message: str, at: datetime, today: date) -> Schedule:
    """Return what a text, said `at` (on `today` where it was said), says of days that come again."""
    folded = normal(message[:READ])
    changed = changed_days(folded, today)
    ends = changed is not None and changed.ends
    days = [] if ends else recurring_days(folded, today)
    named = named_days(folded, today)
    rest = without(folded, [(one.start, one.end) for one in named])
    rest = without(rest, [(one.start, one.end) for one in days])
    clauses = {one: telling for one in days if (telling := _telling(clause_of(rest, one)))}
    terms = _telling(rest)
    return Schedule(
        at, terms, days, changed, named, skipped_days(folded, named), clauses if len(days) > 1 else {}
    )


def _telling(folded: str) -> frozenset[str]:
    """Return the terms of a folded text that may name a matter."""
    return frozenset(term for term in tokens(folded) if _tells(term))


def stands(message: str, vector: Vector | None = None) -> float:
    """Return how likely a message that names such days tells of what takes place on them; in [0, 1].

    "Every Monday I swear I'll start running" does not. `vector` [384] is that of the judge's embedder, None:
    none. The weights are made by `tools/train_habits.py`.
    """
    return likely(WEIGHTS, message, vector)


def _tells(term: str) -> bool:
    """Tell whether a term may name a matter; short names do: "Raj", "gym"."""
    if HAN.search(term):
        return len(term) > 1
    return len(term) >= _SHORTEST and term not in _function_words() and not any(map(str.isdecimal, term))


@cache
def _function_words() -> frozenset[str]:
    return frozenset().union(*stop_words().values(), *map(tokens, phrases("language/recurring.parts")))


def marks(message: str, at: datetime | None, utc_offset: timedelta | None = None) -> frozenset[str]:
    """Return the terms under which a text is kept for the days it names that come again.

    >>> sorted(marks("Football is every Wednesday, physio on Mondays.", datetime(2026, 3, 2, tzinfo=UTC)))
    ['§0', '§2']
    """
    folded = normal(message[:READ])
    if not may_recur(folded):
        return frozenset()
    today = ((at or _LEAP).astimezone(UTC) + (utc_offset or timedelta())).date()
    changed = changed_days(folded, today)
    named = [*recurring_days(folded, today), *(changed.days if changed else ())]
    weekdays = {f"{MARK}{number}" for one in named for number in one.weekdays}
    return frozenset(weekdays | {f"{MARK}{month}-{day}" for one in named for month, day in one.dates})


def marks_of(asked: DaysAsked) -> Mapping[str, float]:
    """Return the terms of texts that may name the days asked about as some that come again."""
    listed = {f"{MARK}{day.weekday()}" for day in asked.days}
    listed |= {f"{MARK}{month}-{day.day}" for day in asked.days for month in (0, day.month)}
    return dict.fromkeys(listed, 1.0)


def again_on(asked: DaysAsked, schedules: Mapping[int, Schedule], common: frozenset[str]) -> frozenset[int]:
    """Return the references of what takes place on the days asked about, with what changed it."""
    refs: set[int] = set()
    for ref, schedule in _by_matter(schedules):
        later = sorted(
            (
                other
                for other, one in schedules.items()
                if one.at > schedule.at and _same(one, schedule, common)
            ),
            key=lambda other: (schedules[other].at, other),
        )
        for day in asked.days:
            refs |= _on(day, ref, [(other, schedules[other]) for other in later], schedule)
    return frozenset(refs)


def _by_matter(schedules: Mapping[int, Schedule]) -> Iterator[tuple[int, Schedule]]:
    for ref, schedule in schedules.items():
        for part in schedule.matters():
            yield ref, part


def _same(later: Schedule, schedule: Schedule, common: frozenset[str]) -> bool:
    """Tell whether a later text speaks of the same matter: by two words, or by one that few others hold."""
    shared = later.terms & schedule.terms
    if len(shared) > 1 or not shared.issubset(common):
        return True
    others = schedule.terms - common
    stems = {other[:_STEM] for other in others}
    return any(_akin(one, other) for one in later.terms - common if one[:_STEM] in stems for other in others)


def _akin(word: str, other: str) -> bool:
    """Tell whether a word is made of another: "therapy" and "therapist"."""
    stem = next((n for n, pair in enumerate(zip(word, other, strict=False)) if pair[0] != pair[1]), None)
    shorter = min(len(word), len(other))
    return (shorter if stem is None else stem) >= max(_STEM, shorter - 1)


def _on(day: date, ref: int, later: Iterable[tuple[int, Schedule]], schedule: Schedule) -> frozenset[int]:
    """Return what tells of a schedule on a day: itself and what changed it; nothing where it is not."""
    days, refs = list(schedule.days), {ref}
    for other, then in later:
        if any(_is_off(day, off, days) for off in then.skipped) or _is_swapped(day, then.named, days):
            return frozenset()
        if _is_swapped_in(day, then, days):
            return frozenset({ref, other})
        change = then.changed
        if change is None or day < min([on.first for on in change.days], default=then.at.date()):
            continue
        days = _changed(days, change)
        if not change.ends:
            refs.add(other)
    return frozenset(refs) if _falls(day, days) else frozenset()


def _changed(days: Sequence[Recurrence], change: RecurrenceChange) -> list[Recurrence]:
    """Return what a change leaves of days, and what it brings in their place."""
    if change.weeks:
        return [on._replace(weeks=change.weeks, anchor=change.anchor) for on in days]
    if change.ends or change.left:
        days = _without(days, change.left)
    elif change.days:
        days = ()
    return [*days, *change.days]


def _falls(day: date, days: Iterable[Recurrence]) -> bool:
    return any(one.falls_on(day) for one in days)


def _is_off(day: date, off: ComingDays, days: Sequence[Recurrence]) -> bool:
    """Tell whether what is said of some days takes a day away: itself, or another of its month."""
    if off.first <= day <= off.last:
        return _falls(day, days)
    return off.first == off.last and not _falls(off.first, days) and _is_of_same_month(day, off.first, days)


def _is_of_same_month(day: date, other: date, days: Iterable[Recurrence]) -> bool:
    monthly = any(one.order or any(month == 0 for month, _ in one.dates) for one in days)
    return monthly and (day.year, day.month) == (other.year, other.month)


def _is_swapped(day: date, named: Sequence[ComingDays], days: Sequence[Recurrence]) -> bool:
    """Tell whether a text names a day beside another: "working Thursday, so we go on Wednesday"."""
    single = [one.first for one in named if one.first == one.last]
    return (
        day in single
        and _falls(day, days)
        and any(abs(other - day) < _WEEK and not _falls(other, days) for other in single)
    )


def _is_swapped_in(day: date, then: Schedule, days: Sequence[Recurrence]) -> bool:
    """Tell whether a text brings something to a day on which it is not else."""
    if _falls(day, days) or not any(other.first == other.last == day for other in then.named):
        return False
    near = [
        other.first for other in then.named if abs(other.first - day) < _WEEK and _falls(other.first, days)
    ]
    if near:
        return True
    month = [day.replace(day=n) for n in range(1, monthrange(day.year, day.month)[1] + 1)]
    return bool(then.skipped) and any(
        _falls(other, days) and _is_of_same_month(other, day, days) for other in month
    )


def _without(days: Iterable[Recurrence], left: frozenset[int]) -> list[Recurrence]:
    """Return days without some weekdays, without any where none is named."""
    if not left:
        return []
    others = [one._replace(weekdays=one.weekdays - left) for one in days]
    return [one for one in others if one.weekdays or one.dates]
