"""Parts of a day in a question: "yesterday evening", "on Tuesday morning", "tonight", "an hour ago".

Beside `timewords`, which knows the calendar: this room knows words and hours, and gives back which day they
belong to. A question without such words costs one look at each of its words. A part beside a day narrows it;
what looks like one and names no time ("the night shift", "Good evening") is told too, so that nobody reads
it. Where in doubt the whole day stays: too wide a stretch loses nothing.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

from episodic_agent.data import lines, pairs, phrase_set, phrases, tables, texts
from episodic_agent.lazily import module

if TYPE_CHECKING:
    from episodic_agent.core.language import clocks as dial
else:
    dial = module("episodic_agent.core.language.clocks")  # few questions name an hour

_DATA: Final = "language/dayparts"
_LATIN: Final = "a-zа-я"
_HAN_DAYS: Final = "一二三四五六日天"
_HAN: Final = re.compile(r"[早晨午晚夜凌傍刚]")
_WORD: Final = re.compile(r"[^\W\d_]+")
_ABOUT: Final = 0.5  # "an hour ago" is half an hour around it
_NEAR: Final = 80  # characters around a part that may belong to it, so that a long text costs what it is long
_LEAST: Final = 5 / 60  # and "two minutes ago" not a single minute


class DayPart(NamedTuple):
    """A part of a day: where its words stand, and its local hours, beyond 24 in the night that follows.

    It belongs to the day that `beside` numbers (of those given), to one `day` from today or to the latest
    `weekday`; else, where `lately`, the hours count back from now, and otherwise they are those of any day,
    or of the latest one where `past` is asked for. `night` tells that before noon the one just past is meant.
    """

    start: int
    end: int
    hours: tuple[float, float]
    beside: int | None = None
    day: int | None = None
    weekday: int | None = None
    lately: bool = False
    past: bool = False
    night: bool = False

    @property
    def dated(self) -> bool:
        """Tell whether the words say which day, or how long ago."""
        return self.lately or not (self.beside is self.day is self.weekday is None)

    @property
    def any_day(self) -> bool:
        """Tell whether the hours of any day are meant."""
        return not (self.dated or self.past)


class PartsRead(NamedTuple):
    """The parts of a question in order, and where in it stands what looks like one and names no time."""

    parts: Sequence[DayPart] = ()
    nameless: Sequence[tuple[int, int]] = ()


_NOTHING: Final = PartsRead()


def read_parts(query: str, text: str, days: Sequence[tuple[int, int]], *, hours: bool = False) -> PartsRead:
    """Return the parts of days in a question; `days` is where single days stand in it, in order.

    With `hours` those are read too that it names by the clock.

    `text` is the question folded, with the same distances; `query` tells by its capitals what is a title.

    >>> said = "what did I say yesterday evening?"
    >>> read_parts(said, said.lower(), [(15, 24)]).parts[0][:4]
    (15, 32, (17, 23), 0)
    >>> read_parts("who has the night shift?", "who has the night shift?", []).parts
    []
    """
    clocks = dial.read_clocks(text) if hours else ()
    if not clocks:
        return _named_parts(query, text, days)
    read = _named_parts(query, without(text, [clock[:2] for clock in clocks]), days)
    parts = [*read.parts]
    for clock in clocks:
        beside = next((part for part in parts if dial.belongs_to(text, clock, part.start, part.end)), None)
        part = _of_part(clock, beside) if beside else _of_day(text, clock, days)
        if part:
            parts = [*(other for other in parts if other is not beside), part]
    return PartsRead(sorted(parts), read.nameless)


def _of_part(clock: "dial.Clock", part: DayPart) -> DayPart:
    """Return the hours of a part of a day: "yesterday evening between 7 and 9"."""
    if part.lately:
        return part
    start, end = min(part.start, clock.start), max(part.end, clock.end)
    return part._replace(start=start, end=end, hours=clock.hours(part.hours))


def _of_day(text: str, clock: "dial.Clock", days: Sequence[tuple[int, int]]) -> DayPart | None:
    """Return hours with the day beside them; without one those that surely are hours and no single time."""
    for number, (first, behind) in enumerate(days):
        if dial.belongs_to(text, clock, first, behind):
            start, end = min(first, clock.start), max(behind, clock.end)
            return DayPart(start, end, clock.hours(), beside=number)
    if part := _behind_day(text, clock.start, clock.end, clock.hours(), ()):
        return part
    if days or clock.is_moment or not clock.explicit:
        return None
    return DayPart(clock.start, clock.end, clock.hours(), past=_asks_for_latest(text))


def _asks_for_latest(text: str) -> bool:
    """Tell whether hours without a day are those of the latest one: something past is asked for, once."""
    words = frozenset(_WORD.findall(text))
    past = not words.isdisjoint(phrase_set(f"{_DATA}.alone.past"))
    return past and words.isdisjoint(phrase_set(f"{_DATA}.alone.habits"))


def _named_parts(query: str, text: str, days: Sequence[tuple[int, int]]) -> PartsRead:
    words = frozenset(_WORD.findall(text))
    if words.isdisjoint(_signs()) and not _HAN.search(text):
        return _NOTHING
    named = [match.span() for match in _patterns()["names"].finditer(text)]
    rest = without(text, named)
    parts: list[DayPart] = []
    for match in _patterns()["moment"].finditer(rest):
        if _is_title(query, text, *match.span()):
            named.append(match.span())
        else:
            parts.append(_moment(match))
    rest = without(rest, [*named, *(part[:2] for part in parts)])
    parts.extend(_ago(rest, words))
    rest = without(rest, [part[:2] for part in parts])
    behind = 0
    for part in _beside(query, text, rest, words, days, named):
        if part.start >= behind:  # of "noon yesterday evening" the first
            behind = part.end
            parts.append(part)
    dated = [part for part in parts if part.dated]  # of "over dinner last night" the night is enough
    return PartsRead(sorted(dated or parts), named)


def any_day() -> Mapping[str, tuple[float, float]]:
    """Return parts of the day that name the hours of any day."""
    return _hours(f"{_DATA}.any_day")


@cache
def _hours(address: str) -> dict[str, tuple[float, float]]:
    return {form: _span(span) for form, span in pairs(address).items()}


def _span(text: str) -> tuple[float, float]:
    begin, _, end = text.partition("-")
    return _hour(begin), _hour(end)


def _hour(text: str) -> float:
    return int(text) if text.isdecimal() else float(text)


@cache
def _parts() -> dict[str, tuple[float, float]]:
    """Return the hours of all forms; a night that is named is longer than the nights of any day."""
    hours = dict(any_day())
    for language in texts(f"{_DATA}.parts"):
        hours.update(_hours(f"{_DATA}.parts.{language}"))
    return hours


@cache
def _english() -> frozenset[str]:
    return frozenset(_hours(f"{_DATA}.parts.en")).union(pairs(f"{_DATA}.moments.en"))


@cache
def _moments() -> dict[str, str]:
    tables_ = (pairs(f"{_DATA}.moments.{language}") for language in texts(f"{_DATA}.moments"))
    return {form: value for forms in tables_ for form, value in forms.items()}


@cache
def _day_words() -> dict[str, int]:
    known = {**pairs("entities/times.days"), **pairs(f"{_DATA}.around.days")}
    return {form: int(value) for form, value in known.items() if value.lstrip("+-").isdecimal()}


@cache
def _weekdays() -> dict[str, int]:
    """Return weekdays by name; "mondays" and "montags" are every one of them, and not here."""
    named = [(n, forms.split()) for n, forms in enumerate(lines("entities/times.weekdays"))]
    return {
        form: n for n, forms in named for form in forms if form.removesuffix("s") not in {*forms} - {form}
    }


@cache
def _signs() -> frozenset[str]:
    """Return the words without one of which a text is not looked at: the last of every phrase, compounds."""
    spaced = [form for form in (*_parts(), *_moments()) if form.isascii() or not _HAN.search(form)]
    units = [unit for table in tables(f"{_DATA}.ago").values() for unit in _pairs_of(table["units"])]
    ends = {_WORD.findall(form)[-1] for form in (*spaced, *units)}
    return frozenset(ends | _compounds())


@cache
def _compounds() -> frozenset[str]:
    """Return words like "dienstagabend"; of two languages, what nobody says costs nothing."""
    return frozenset(day + part for day in _weekdays() for part in _parts() if part.isalpha())


def _pairs_of(listed: str) -> dict[str, float]:
    split = (entry.partition("=") for entry in listed.replace("\n", "|").split("|"))
    return {form: float(value) for form, _, value in split}


def _any(forms: Iterable[str]) -> str:
    longest = sorted(forms, key=lambda form: (-len(form), form))
    return "|".join(re.escape(form).replace(r"\ ", r"\s+") for form in longest)


def _words_of(forms: Iterable[str]) -> str:
    """Match whole words; characters that stand without spaces wherever they are."""
    forms = list(forms)
    spaced, han = [f for f in forms if not _HAN.search(f)], [f for f in forms if _HAN.search(f)]
    words = rf"(?<![{_LATIN}])(?:{_any(spaced)})(?![{_LATIN}])"
    return f"(?:{words}|{_any(han)})" if han else words


@cache
def _patterns() -> Mapping[str, re.Pattern[str]]:
    """Compile what reads parts when one is first met."""
    spaced = _any(form for form in _parts() if not _HAN.search(form))
    han = _any(form for form in _parts() if _HAN.search(form))
    compound = "|".join(f"(?<={day})" for day in _weekdays() if len(day) > 4)  # "Dienstagabend"
    around = f"{_DATA}.around"
    early, late = _any(phrases(f"{around}.early")), _any(phrases(f"{around}.late"))
    half = rf"(?:(?P<early>{early})|(?P<late>{late}))\s+"
    before, after = _any(phrases(f"{around}.before_part")), _any(phrases(f"{around}.before_day"))
    link = rf"\s*(?:,?\s*(?:{before})\s*)?(?:的|{half})?(?:(?:{before})\s+)?\s*"
    every = _any(phrases(f"{around}.every"))
    wishes, heads = (_any(phrases(f"{_DATA}.names.{which}")) for which in ("wishes", "heads"))
    return {
        "names": re.compile(
            rf"(?<![{_LATIN}])(?:{wishes})\s+(?:{spaced})(?![{_LATIN}])|"
            rf"(?<![{_LATIN}])(?:{spaced})(?:\s+|-)(?:{heads})(?![{_LATIN}])|"
            rf"{_any(phrases(f'{_DATA}.names.han'))}"
        ),
        "moment": re.compile(rf"(?:(?<![{_LATIN}]){half})?(?P<name>{_words_of(_moments())})"),
        "part": re.compile(rf"(?<![{_LATIN}])(?:{spaced})(?![{_LATIN}])|{han}"),
        "compound": re.compile(rf"(?:(?<![{_LATIN}])|{compound})(?:{spaced})(?![{_LATIN}])"),
        "weekday": re.compile(
            rf"(?P<every>(?<![{_LATIN}])(?:{every})\s+|每个?)?"
            rf"(?:(?<![{_LATIN}])(?P<weekday>{_any(_weekdays())})\.?|"
            rf"(?:周|星期|礼拜)(?P<han>[{_HAN_DAYS}]))$"
        ),
        "day": re.compile(rf"(?<![{_LATIN}])(?P<day>{_any(_day_words())})$"),
        "link": re.compile(link),
        "word": re.compile(rf"[{_LATIN}.]+|[{_HAN_DAYS}]"),
        "dated": re.compile(
            rf"(?:\s*[,(（]?\s*(?:{_any(_weekdays())}|(?:周|星期|礼拜)[{_HAN_DAYS}])[)）]?)?{link}"
        ),
        "led": re.compile(rf"(?<![{_LATIN}]){half}(?:(?:on|in\s+the)\s+)?$"),
        "to_day": re.compile(rf"\s+(?P<of>(?:{after})\s+)?(?:(?:the|den|dem|el|le|il)\s+)?"),
        "and": re.compile(rf"\s*(?:{_any(phrases(f'{around}.and'))})\s*(?:(?:in\s+)?the\s+)?"),
    }


@cache
def _ago_patterns() -> "Sequence[tuple[re.Pattern[str], Mapping[str, float], Mapping[str, float]]]":
    patterns = []
    words = {form: float(value) for form, value in pairs("entities/numbers.words").items()}
    for table in tables(f"{_DATA}.ago").values():
        units, counts = _pairs_of(table["units"]), {**words, **_pairs_of(table["counts"])}
        count, unit = rf"(?P<n>\d{{1,3}}|{_any(counts)})", rf"(?P<unit>{_any(units)})"
        lead = {which: _any(table.get(which, "-").split("|")) for which in ("before", "behind", "since")}
        pattern = (
            rf"(?<!\w)(?:(?P<since>{lead['since']})\s+|(?P<before>{lead['before']})\s+)?"
            rf"(?:{count}\s*)?{unit}(?!\w)(?P<behind>\s+(?:{lead['behind']})(?!\w))?"
        )
        patterns.append((re.compile(pattern), units, counts))
    return patterns


def _ago(text: str, words: frozenset[str]) -> Iterator[DayPart]:
    """Yield what was so many hours or minutes ago, or since then, counted back from now."""
    for pattern, units, counts in _ago_patterns():
        for match in () if words.isdisjoint(units) else pattern.finditer(text):
            if not (match["since"] or match["before"] or match["behind"]):
                continue
            number = match["n"] or "1"
            count = float(number) if number.isdecimal() else counts[" ".join(number.split())]
            hours = count * units[match["unit"]] / 60
            around = 0.0 if match["since"] else about(hours)
            ends = (-hours, 0.0) if match["since"] else (-hours - around, min(around - hours, 0.0))
            yield DayPart(*match.span(), ends, lately=True)


def about(hours: float) -> float:
    """Return how far around a time so many hours ago it may have been, in hours.

    >>> about(1), about(0.5), about(8), round(60 * about(1 / 30))
    (0.5, 0.25, 2.0, 5)
    """
    return max(min(hours, 1.0) * _ABOUT, hours / 4, _LEAST)


def _moment(match: re.Match[str]) -> DayPart:
    day, _, span = _moments()[" ".join(match["name"].split())].partition(" ")
    if day == "lately":
        return DayPart(*match.span(), (-float(span), 0.0), lately=True)
    hours = _halved(_span(span), match)
    return DayPart(*match.span(), hours, day=0 if day == "night" else int(day), night=day == "night")


def _halved(hours: tuple[float, float], *leads: re.Match[str] | None) -> tuple[float, float]:
    """Return the earlier or later half of a part, where that is said, and an hour more on its side."""
    middle = (hours[0] + hours[1]) / 2
    if any(match and match["early"] for match in leads):
        return hours[0] - 1, middle
    return (middle, hours[1] + 1) if any(match and match["late"] for match in leads) else hours


def _beside(
    query: str,
    text: str,
    rest: str,
    words: frozenset[str],
    days: Sequence[tuple[int, int]],
    named: list[tuple[int, int]],
) -> Iterator[DayPart]:
    """Yield the parts that stand beside a day, or alone where they may; titles are added to `named`."""
    patterns, last = _patterns(), None
    for match in patterns["part" if words.isdisjoint(_compounds()) else "compound"].finditer(rest):
        start, end = match.span()
        hours = _parts()[" ".join(match.group().split())]
        part = _behind_day(text, start, end, hours, days) or _before_day(text, start, end, hours, days)
        if part is None and last and patterns["and"].fullmatch(text[last.end : start]):
            part = last._replace(start=start, end=end, hours=hours)
        if _is_title(query, text, start, end, dated=part is not None):
            named.append((part.start if part else start, end))
            continue
        if part is None and match.group() in phrase_set(f"{_DATA}.alone.parts") and not days:
            part = DayPart(start, end, hours, past=_asks_for_latest(text))
            yield part
        elif part is not None:
            last = part
            yield part


def _behind_day(
    text: str, start: int, end: int, hours: tuple[float, float], days: Sequence[tuple[int, int]]
) -> DayPart | None:
    """Return the part that a day stands before: "yesterday evening", "Dienstagabend", "昨天晚上"."""
    patterns = _patterns()
    for number, (first, behind) in enumerate(days):
        is_near = 0 <= start - behind <= _NEAR
        if is_near and (link := patterns["dated"].fullmatch(text, behind, start)):
            led = _led(text, first)
            return DayPart(led.start() if led else first, end, _halved(hours, led, link), beside=number)
    near, link = max(0, start - _NEAR), None
    for cut in _cuts(text, near, start):
        if link := patterns["link"].fullmatch(text, cut, start):
            break
    cut = link.start() if link else start
    if weekday := patterns["weekday"].search(text, near, cut):
        if weekday["every"]:
            return None
        number = (
            min(_HAN_DAYS.index(weekday["han"]), 6) if weekday["han"] else _weekdays()[weekday["weekday"]]
        )
        led = _led(text, weekday.start())
        return DayPart(
            led.start() if led else weekday.start(), end, _halved(hours, led, link), weekday=number
        )
    if day := patterns["day"].search(text, near, cut):
        return DayPart(day.start(), end, _halved(hours, link), day=_day_words()[day["day"]])
    return None


def _before_day(
    text: str, start: int, end: int, hours: tuple[float, float], days: Sequence[tuple[int, int]]
) -> DayPart | None:
    """Return the part that a day stands behind: "the morning of June 3rd", "at noon yesterday"."""
    patterns = _patterns()
    for number, (first, behind) in enumerate(days):
        link = patterns["to_day"].fullmatch(text, end, first) if 0 <= first - end <= _NEAR else None
        if link and (link["of"] or text[start:end] in _english()):
            led = _led(text, start)
            return DayPart(led.start() if led else start, behind, _halved(hours, led), beside=number)
    return None


def _led(text: str, end: int) -> re.Match[str] | None:
    """Find "early" or "late" directly before a place."""
    return _patterns()["led"].search(text, max(0, end - _NEAR), end)


def _cuts(text: str, start: int, end: int) -> Sequence[int]:
    """Return where what links a day and its part may begin: behind a word, the longest link first."""
    words = _patterns()["word"].finditer(text, start, end)
    return [match.end() for match in words][-4:]


def _is_title(query: str, text: str, start: int, end: int, *, dated: bool = False) -> bool:
    """Tell whether English words are a title's: in capitals inside a sentence of small letters."""
    if len(query) != len(text) or " ".join(text[start:end].split()) not in _english():
        return False
    words = [match.start() for match in _WORD.finditer(query, max(0, start - _NEAR), end + _NEAR)]
    if not any(query[at].islower() for at in words if query[at : at + 4].isalpha() and at + 4 <= len(query)):
        return False  # all is in capitals
    capital = [  # "TONIGHT" is only loud
        at
        for at in words
        if start <= at < end and at != words[0] and query[at].isupper() and query[at + 1 : at + 2].islower()
    ]
    if not capital:
        return False
    behind = next((at for at in words if at >= end), None)
    return not dated or (behind is not None and query[behind].isupper())


def without(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Blank stretches of a text, so that nobody reads them again and the rest stays where it is.

    >>> without("on Monday, or", [(3, 9)])
    'on       , or'
    """
    for start, end in spans:
        text = text[:start] + " " * (end - start) + text[end:]
    return text
