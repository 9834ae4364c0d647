"""What a question asks of days to come: what was said to be due on them, and what comes again on them.

"What's on today?" is not answered by what was said today, nor by what sounds like it, but by "the board comes
on the 26th" of weeks ago. A day has few names: the terms that hold them are looked up, and of the few texts
found each is read from the moment it was said.

"Football is every Wednesday" answers it on each Wednesday after, until "no football this Wednesday",
"football moved to Thursday" or "no football any more" say otherwise. The days a text names stand beside its
words in the index as marks of their own, so that one of last year is found by its day at once.
"""

import re
from calendar import monthrange
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from functools import cache, lru_cache
from types import MappingProxyType
from typing import Final, NamedTuple

from episodic_agent.core.facts.stating import likely
from episodic_agent.core.language import tokens
from episodic_agent.core.language.coming import (
    DATA,
    HAN,
    UNSPACED,
    ComingDays,
    any_of,
    monday,
    moving,
    named_days,
    sentence_of,
    short_weekdays,
    weekdays,
    words_of,
    words_pattern,
)
from episodic_agent.core.language.dayparts import without
from episodic_agent.core.language.glued import glued_counts, glued_days, glued_months, glued_weekdays
from episodic_agent.core.language.japanese import has_sign, japanese_days, japanese_numbers
from episodic_agent.core.language.phrases import unspaced_pattern
from episodic_agent.core.language.recurring import (
    Recurrence,
    RecurrenceChange,
    changed_days,
    clause_of,
    may_recur,
    recurring_days,
    skipped_days,
)
from episodic_agent.core.language.tenses import is_amount, is_left, is_over, speaks_of_past
from episodic_agent.core.language.terms import stop_words
from episodic_agent.core.language.timewords import date_words, normal, parse_time
from episodic_agent.core.recall.alone import asks
from episodic_agent.data import lines, listed_words, pairs, phrases, text, texts
from episodic_agent.schemas import Vector

MOST_DAYS: Final = 10
A_MONTH: Final = 31  # days, where nothing else is asked for
FARTHEST: Final = timedelta(days=120)  # "on May 3?" asked in June means the one that was
LONGEST: Final = 400  # characters of a question
READ: Final = 2_000  # of a text in which days are looked for
REACH: Final = timedelta(days=62)  # before the first day, for days named by a weekday, a number or a distance
TIMED, DATED_ONLY, AGAIN, RANGE = 1.0, 0.9, 0.6, 0.3
_OF_DAY: Final = 1.0  # what naming a day that is asked about counts beside a cosine
_FEW_DAYS: Final = 2  # weekdays of a habit, or beyond the first of a stretch; more are a range of them
_SHORT: Final = 4  # words of a question that goes on from another, without a mark
_DAY: Final = timedelta(days=1)
_WORD: Final = re.compile(r"[^\W_]+")
CLOSE: Final = 1.0  # weights of terms, by what they tell of days; no text holds a hundred of a kind
APART: Final = 100.0
WEEKDAY: Final = 10_000.0
SPOKEN: Final = -1e6
DATED: Final = 100.0
MOST_YEARS: Final = 5
_MATTER: Final = 4  # letters of a word that tells what is spoken of


class DaysAsked(NamedTuple):
    """The days a question asks about, in the asker's calendar; `alone`: nothing else is asked for."""

    days: Sequence[date]
    alone: bool
    utc_offset: timedelta | None = None

    def meets(self, named: ComingDays) -> bool:
        """Tell whether days that a text names are some of them; of a long stretch, where many are asked."""
        if named.loose and (named.last - named.first).days > len(self.days):
            return False
        return any(named.first <= day <= named.last for day in self.days)


def days_asked(question: str, now: datetime, utc_offset: timedelta | None = None) -> DaysAsked | None:
    """Return the days to come, and today, that a question asks about; None where it asks for none.

    Who asks what was on a day asks for none, nor does what only mentions one.

    >>> found = days_asked("Morning. What's on today?", datetime(2024, 3, 20, 8, tzinfo=UTC))
    >>> [day.isoformat() for day in found.days], found.alone
    (['2024-03-20'], True)
    >>> days_asked("What did I do on Friday?", datetime(2024, 3, 20, 8, tzinfo=UTC))
    """
    if len(question) > LONGEST:
        return None
    folded = normal(question)
    today = (now.astimezone(UTC) + (utc_offset or timedelta())).date()
    named = named_days(folded, today)
    week = [] if named else _week(folded, today)
    named = named or week
    rest = without(folded, [day[:2] for day in named])
    alone = _asks_nothing_else(rest)
    named = [day for day in named if _is_asked(folded, day, alone=alone)]
    if not named:
        return None
    days = {
        day.first + n * _DAY
        for day in named
        for n in range(min((day.last - day.first).days, A_MONTH) + 1)
        if today <= day.first + n * _DAY <= today + FARTHEST
    }
    alone = alone and (bool(week) or not _asks_for_details(rest))  # how a week is, is what it holds
    if not days or len(days) > (A_MONTH if alone else MOST_DAYS):
        return None
    return DaysAsked(sorted(days), alone, utc_offset)


def _week(folded: str, today: date) -> list[ComingDays]:
    """Return the week that a question is about: "how does my week look?"."""
    weeks = [match.span() for match in _weeks().finditer(folded)]
    if not weeks or not _asks_nothing_else(without(folded, weeks)):
        return []
    return [ComingDays(*span, monday(today), monday(today) + 6 * _DAY, loose=True) for span in weeks]


@cache
def _weeks() -> re.Pattern[str]:
    return words_pattern(phrases(f"{DATA}.own_week"))


def _is_asked(folded: str, day: ComingDays, *, alone: bool) -> bool:
    """Tell whether the sentence that names days asks, and of nothing that is over.

    "Hab Freitag was vor" may be a question, "hab Freitag Zahnarzt" is none.
    """
    sentence = sentence_of(folded, day)
    words = _WORD.findall(sentence)
    follows = len(words) <= _SHORT and words[:1] != [] and words[0] in words_of("follows")
    sentence = _greeting().sub("", sentence)
    opens = _opening("asking").match(sentence) or (alone and _opening("perhaps_asking").match(sentence))
    if not (asks(sentence) or opens or follows or _asks_in_han(sentence)):
        return False
    return not speaks_of_past(sentence)


def _asks_in_han(sentence: str) -> bool:
    return has_sign(sentence, f"{DATA}.asking_han", "asking")


def _asks_for_details(rest: str) -> bool:
    """Tell whether a question that has no matter of its own asks for that of the talk it stands in."""
    words = _WORD.findall(rest)
    if not words_of("looking").isdisjoint(words):  # how a time looks is what it holds
        return False
    return not words_of("details").isdisjoint(words) or has_sign(rest, f"{DATA}.details_han", "details")


@cache
def _opening(name: str) -> re.Pattern[str]:
    return re.compile(rf"\W*(?:{any_of(phrases(f'{DATA}.{name}'))})(?!\w)")


@cache
def _greeting() -> re.Pattern[str]:
    known = any_of(phrases(f"{DATA}.greetings"))
    return re.compile(rf"^\W*(?:(?:(?:{known})(?!\w)|morgen(?=[,.!]))\W*)+")


def _asks_nothing_else(rest: str) -> bool:
    """Tell whether a question without its days holds nothing but what such questions are made of."""
    words = _WORD.findall(unspaced_pattern("language/japanese.asked").sub(" ", rest))
    spaced = [word for word in words if not HAN.search(word)]
    signs = [sign for word in words if HAN.search(word) for sign in word]
    if any(sign not in text(f"{DATA}.alone.han") for sign in signs):
        return False
    return any(known.issuperset(spaced) for known in _fillers())


@cache
def _fillers() -> Sequence[frozenset[str]]:
    languages = [one for one in texts(f"{DATA}.alone") if one != "han"]
    stop = stop_words()
    return [stop.get(one, frozenset()) | listed_words(f"{DATA}.alone.{one}") for one in languages]


def due(message: str, at: datetime, utc_offset: timedelta | None, asked: DaysAsked) -> bool:
    """Tell whether a text, said at `at`, tells of something on one of the days asked about.

    Without an offset of its own it is read by the asker's. What is told of as over, or moved to another day,
    is not on that day; what only asks about the days tells nothing.

    >>> said, asked = datetime(2024, 3, 9, tzinfo=UTC), DaysAsked([date(2024, 3, 26)], True)
    >>> [due(text, said, None, asked) for text in ("another board comes on the 26th", "it was 26 quid")]
    [True, False]
    """
    folded = normal(message[:READ])
    named = _once(folded, day_of(at, utc_offset, asked))
    if not any(asked.meets(day) for day in named):
        return False
    rest = without(folded, [day[:2] for day in named])
    return any(
        asked.meets(day)
        and not (is_over(rest, day) or is_left(folded, day) or _only_asks(folded, day))
        and not (day.sure and is_amount(folded[: day.start]))
        for day in named
    )


def nearness(
    parts: Sequence[str], at: datetime, utc_offset: timedelta | None, asked: DaysAsked
) -> tuple[float, ...]:
    """Return what each piece of a text gains beside its nearness in meaning by naming a day asked about.

    >>> said, asked = datetime(2024, 3, 9, tzinfo=UTC), DaysAsked([date(2024, 3, 26)], True)
    >>> nearness(["It is late.", "Another board comes on the 26th."], said, None, asked)
    (0.0, 1.0)
    """
    return tuple(_OF_DAY * due(part, at, utc_offset, asked) for part in parts)


def closeness(message: str, at: datetime, utc_offset: timedelta | None, asked: DaysAsked) -> float:
    """Return how much a text is of the days asked about alone, in [0, 1].

    An appointment is, most of all with its hour; what comes again on such weekdays less so; a week, a holiday
    or the opening hours from Tuesday to Saturday least.

    >>> said, asked = datetime(2024, 3, 9, tzinfo=UTC), DaysAsked([date(2024, 3, 26)], True)
    >>> texts = "dentist on the 26th at 14:00", "board on the 26th", "yoga every tuesday", "open on weekdays"
    >>> [closeness(text, said, None, asked) for text in texts]
    [1.0, 0.9, 0.6, 0.3]
    """
    folded = normal(message[:READ])
    today = day_of(at, utc_offset, asked)
    named = [day for day in _once(folded, today) if asked.meets(day)]
    if any(day.first == day.last for day in named):
        return TIMED if _names_an_hour(message[:READ], at) else DATED_ONLY
    again = [one for one in recurring_days(folded, today) if any(map(one.falls_on, asked.days))]
    if again and not named:
        return AGAIN if any(len(one.weekdays) <= _FEW_DAYS for one in again) else RANGE
    if named:
        return AGAIN if min((day.last - day.first).days for day in named) <= _FEW_DAYS else RANGE
    return DATED_ONLY  # what changes or brings something to such a day names no other


@lru_cache(maxsize=4_096)  # who asks what is on today asks again tomorrow
def _names_an_hour(message: str, at: datetime) -> bool:
    return bool(parse_time(message, at).hours)


def _once(folded: str, today: date) -> list[ComingDays]:
    """Return the days to come that a text names, without weekdays that come again: "todos los martes"."""
    named = named_days(folded, today)
    again = recurring_days(folded, today) if any(day.weekday for day in named) else ()
    return [
        day
        for day in named
        if not (day.weekday and any(one.start < day.end and day.start < one.end for one in again))
    ]


def due_by(message: str, at: datetime, utc_offset: timedelta | None = None) -> date | None:
    """Return the first day to come that a text names, said at `at`: of a stretch its end; None where none.

    >>> due_by("you'll have the list by Friday", datetime(2024, 3, 20, tzinfo=UTC)).isoformat()
    '2024-03-22'
    """
    today = (at.astimezone(UTC) + (utc_offset or timedelta())).date()
    return min((day.last for day in _once(normal(message[:READ]), today) if day.last >= today), default=None)


def day_of(at: datetime, utc_offset: timedelta | None, asked: DaysAsked) -> date:
    """Return the day of a moment for who said something then; of who asks, where that is not known."""
    offset = asked.utc_offset if utc_offset is None else utc_offset
    return (at.astimezone(UTC) + (offset or timedelta())).date()


def _only_asks(folded: str, day: ComingDays) -> bool:
    """Tell whether a sentence asks for what is on a day, and tells of nothing itself."""
    sentence = sentence_of(folded, day)
    if any(one in sentence for one in phrases(f"{DATA}.requests")):
        return False
    named = named_days(sentence, day.first)
    alone = _asks_nothing_else(without(sentence, [one[:2] for one in named]))
    return alone and _is_asked(folded, day, alone=True)


def near_terms(asked: DaysAsked) -> Mapping[str, float]:
    """Return the terms by which texts of the last weeks may name the days asked about.

    Each time a term stands in a text it weighs `CLOSE` where it tells of the next days alone, `WEEKDAY` for a
    weekday, and `APART` where it tells of days far away too. Weekday and number of the day on which something
    was said are terms of it too: the term of that day takes their weight away.
    """
    numbers = {day.day for day in asked.days}
    weekday_numbers = {day.weekday() for day in asked.days}
    written = [f"{number}{ending}" for number in numbers for ending in ("", *phrases(f"{DATA}.endings"))]
    dates = [
        f"{d.day:{one}}.{d.month:{other}}" for d in asked.days for one in ("", "02") for other in ("", "02")
    ]
    written += [term for one in dates for term in tokens(one)]  # 17.10 is the number 17.1 to an index
    written += [f"{number:02}" for number in numbers]
    named = (*weekdays().items(), *short_weekdays().items())
    kanji = [japanese_numbers(day) for day in asked.days]
    written += [number[-2:] for _, number in kanji]
    days = pairs(f"{DATA}.days")
    weights = {
        **dict.fromkeys(_terms([*days, *japanese_days(days), *glued_days(days)]), CLOSE),
        **dict.fromkeys(_terms([name for name, number in named if number in weekday_numbers]), WEEKDAY),
        **dict.fromkeys(_terms([*phrases(f"{DATA}.weekend"), *(weekday for weekday, _ in kanji)]), WEEKDAY),
        **dict.fromkeys(_terms(form for one in weekday_numbers for form in glued_weekdays(one)), WEEKDAY),
        **dict.fromkeys((*_distances(), *written), APART),
    }
    for n in range(-MOST_DAYS, REACH.days + 1):
        spoken_on = asked.days[0] - n * _DAY
        weight = sum(weights.get(term, 0.0) for term in date_words(datetime.combine(spoken_on, time(), UTC)))
        if weight:
            weights[spoken_on.isoformat()] = -weight
    return weights


def dated_terms(asked: DaysAsked) -> Mapping[str, float]:
    """Return the terms by which texts of any time may name a date: with `DATED` or more day and month."""
    numbers = {day.month for day in asked.days}
    months = [form for month in numbers for form in lines("entities/times.months")[month - 1].split()]
    months += [form for month in numbers for form in glued_months(month)]
    written = [*_terms(months), *map(str, numbers)]
    years = range(asked.days[0].year - MOST_YEARS, asked.days[0].year + 1)
    spoken_on = [f"{year}-{day.month:02}-{day.day:02}" for year in years for day in asked.days]
    return {
        **dict.fromkeys(written, 1.0),
        **{str(day.day): DATED - 1.0 for day in asked.days},
        **dict.fromkeys(spoken_on, SPOKEN),
    }


@cache
def _distances() -> frozenset[str]:
    """Return the terms of days that are named by how far they are, by a number in words or as a feast."""
    listed = [form for name in ("units", "numbers", "feasts") for form in pairs(f"{DATA}.{name}")]
    return frozenset(_terms([*listed, *glued_counts()]))


@cache
def moving_terms() -> Mapping[str, float]:
    """Return the terms of which a text that moves something to another day holds one."""
    return dict.fromkeys(_terms(phrases(f"{DATA}.moving")), 1.0)


def _terms(forms: Iterable[str]) -> Iterator[str]:
    for form in forms:
        if longest := max(tokens(form), key=len, default=""):
            yield longest


class Matter(NamedTuple):
    """What a text speaks of, beside its days; `moves` tells that it moves something, or calls it off."""

    terms: frozenset[str]
    moves: bool
    on_days: bool  # one of the days asked about is named, if only as one that is left

    def changes(self, other: "Matter", common: Collection[str] = ()) -> bool:
        """Tell whether a text may change what another, earlier one says of the same matter.

        A word that many messages hold (`common`) says so only with another.
        """
        shared = self.terms & other.terms
        return self.moves and (len(shared) > 1 or not shared.issubset(common))


def matter_of(message: str, at: datetime, utc_offset: timedelta | None, asked: DaysAsked) -> Matter:
    """Return what a text speaks of, as seen from when it was said."""
    folded = normal(message[:READ])
    named = named_days(folded, day_of(at, utc_offset, asked))
    rest, moved = moving().subn(" ", without(folded, [day[:2] for day in named]))
    if moved:
        rest = _reasons().split(rest)[0]
    terms = (term for term in tokens(rest) if _tells(term))
    return Matter(frozenset(terms), moved > 0, any(asked.meets(day) for day in named))


@cache
def _reasons() -> re.Pattern[str]:
    return words_pattern(phrases(f"{DATA}.reasons"))


def _tells(term: str) -> bool:
    if UNSPACED.search(term):
        return len(term) > 1
    return len(term) >= _MATTER and not any(sign.isdecimal() for sign in term)


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
    return frozenset(term for term in tokens(folded) if _tells_recurring(term))


def stands(message: str, vector: Vector | None = None) -> float:
    """Return how likely a message that names such days tells of what takes place on them; in [0, 1].

    "Every Monday I swear I'll start running" does not. `vector` [384] is that of the judge's embedder, None:
    none. The weights are made by `tools/train_habits.py`.
    """
    return likely(WEIGHTS, message, vector)


def _tells_recurring(term: str) -> bool:
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
