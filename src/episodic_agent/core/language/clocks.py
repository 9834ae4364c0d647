"""Hours in a question: "yesterday between 14 and 16", "gestern nach 16 Uhr", "昨天14点到16点".

Beside `dayparts`, which reads parts of days by name. Hours narrow the day they stand beside; a stretch of
hours without a day is one of any day, or the latest one where something past is asked for. A figure is an
hour where it says so (15:10, 4 pm, 16 Uhr) or where it stands beside a day and counts nothing: "between 14
and 16 euros" and "room 15" stay figures. Of hours that may be of either half of the day, those count at which
people are awake: "from two to four" is the afternoon. The words are data: `data/language/clocks.toml`.
"""

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from functools import cache
from typing import Final, NamedTuple

from episodic_agent.core.language import tokens
from episodic_agent.data import lines, pairs, phrase_set, phrases, texts

_DATA: Final = "language/clocks"
_WORD: Final = re.compile(r"[^\W\d_\u3041-\u30fa\u4e00-\u9fff]+|[\u4e00-\u9fff]")
_UNSPACED: Final = re.compile(r"[\u3041-\u30fa\u4e00-\u9fff〜]")
_DAY, _NOON = 24.0, 12.0
_HALVES: Final = frozenset({"am", "pm"})
_AS_WRITTEN, _NAMED = "24", "named"  # hours of no half: of a clock of 24 hours, and noon and midnight
_AROUND: Final = 0.5  # hours around a time that is named
_AWAKE: Final = 7  # of two o'clock and seven o'clock without more, the afternoon and the morning
_NEXT: Final = 40  # characters between hours and their day


class Clock(NamedTuple):
    """Hours of a day: where their words stand, and the hours as they may be read.

    `first` and `last` are (hour, half of the day or ""), None where the day's end is meant; `explicit` tells
    that a colon, a unit or a half of the day says that they are hours.
    """

    start: int
    end: int
    first: tuple[float, str] | None
    last: tuple[float, str] | None
    explicit: bool

    @property
    def is_moment(self) -> bool:
        """Tell whether one time is named, and no stretch."""
        return self.first is not None and self.first is self.last

    def hours(self, part: tuple[float, float] | None = None) -> tuple[float, float]:
        """Return the local hours, beyond 24 past midnight; `part` are those of the part of the day named.

        >>> Clock(0, 0, (2, ""), (4, ""), False).hours(), Clock(0, 0, (10, ""), (2, "pm"), True).hours()
        ((14.0, 16.0), (10.0, 14.0))
        >>> Clock(0, 0, (11, ""), None, False).hours((18, 29))
        (23.0, 29)
        """
        bounds = part or (0.0, _DAY)
        if self.first is None or self.last is None:
            if self.first:
                return _hour(*self.first, part), max(bounds[1], _hour(*self.first, part) + 1)
            last = _hour(*self.last, part) if self.last else bounds[1]
            return min(bounds[0], last - 1), last
        if self.is_moment:
            moment = _hour(*self.first, part)
            return moment - _AROUND, moment + _AROUND
        return _stretch(self.first, self.last, part)


def read_clocks(text: str) -> Sequence[Clock]:
    """Return the hours that a folded question names, in order; those that may be figures are not explicit.

    >>> [clock.hours() for clock in read_clocks("what did i do yesterday between 14:00 and 16:00?")]
    [(14.0, 16.0)]
    >>> read_clocks("which one costs between 14 and 16 euros?"), read_clocks("who was in room 15?")
    ([], [])
    """
    if not any(map(str.isdigit, text)) and _number_words().isdisjoint(_WORD.findall(text)):
        return []
    clocks: list[Clock] = []
    for name in ("stretch", "single"):
        for match in _patterns()[name].finditer(text):
            clock = _of_stretch(match) if name == "stretch" else _of_single(match)
            if clock and not any(clock.start < other.end and other.start < clock.end for other in clocks):
                clocks.append(clock)
    return sorted(clocks)


def belongs_to(text: str, clock: Clock, start: int, end: int) -> bool:
    """Tell whether hours stand beside a day or a part of one, whose words stand from `start` to `end`."""
    if start <= clock.start and clock.end <= end:
        return True
    between = text[end : clock.start] if end <= clock.start else text[clock.end : start]
    return len(between) <= _NEXT and _patterns()["between"].fullmatch(between) is not None


@cache
def clock_words() -> Set[str]:
    """Return the words that lead or join hours, or only say that a figure beside them is one."""
    names = ("units", "am", "pm", "opens", "joins", "closes", "articles", "after", "before", "around")
    forms = [form for name in names for form in phrases(f"{_DATA}.{name}")]
    return frozenset(word for form in forms for word in re.findall(r"\w+", form))


@cache
def clock_terms() -> Set[str]:
    """Return the terms of hours and of the words beside them: of a question with hours they are no matter."""
    words = [*clock_words(), *(form for form in _numbers() if not _UNSPACED.search(form))]
    hours = {f"{hour:0{width}}" for hour in range(25) for width in (1, 2)}
    return hours.union(*(tokens(word) for word in words))


# --- what the words mean ------------------------------------------------------------------------------------


def _hour(hour: float, half: str, part: tuple[float, float] | None) -> float:
    """Return an hour of 24 or beyond: by its half, the part of the day, or when people are awake."""
    if half in _HALVES:
        hour = hour % _NOON + (_NOON if half == "pm" else 0.0)
    elif not half and part is None:
        return hour + _NOON if 1 <= hour < _AWAKE else hour
    first, last = part or (0.0, _DAY)
    step = _DAY if half else _NOON
    while hour + 1 <= first and hour + step <= last + 1:
        hour += step
    return hour


def _stretch(
    first: tuple[float, str], last: tuple[float, str], part: tuple[float, float] | None
) -> tuple[float, float]:
    """Return both ends: "10 to 2 pm" begins before noon, "22 to 2" ends after it begins."""
    if _AS_WRITTEN in {first[1], last[1]}:
        first, last = (first[0], first[1] or _AS_WRITTEN), (last[0], last[1] or _AS_WRITTEN)
    begin = _hour(first[0], first[1] or (last[1] if last[1] in _HALVES else ""), part)
    end = _hour(last[0], last[1] or (first[1] if first[1] in _HALVES else ""), part)
    if begin >= end and last[1] in _HALVES and not first[1]:
        begin -= _NOON
    if begin < 0:  # "10 to 2 am"
        begin, end = begin + _DAY, end + _DAY
    while end <= begin:
        end += _DAY if last[1] else _NOON
    return begin, end


def _read(match: re.Match[str], which: str) -> tuple[float, str] | None:
    """Return an hour of a match, and its half or why it has none."""
    groups = match.groupdict()
    written, minute = groups[f"hour{which}"], groups[f"minute{which}"]
    unit = (groups.get(f"unit{which}") or "").replace(" ", "")
    named = written in pairs(f"{_DATA}.moments")
    value = float(written) if written.isdecimal() else float(_numbers()[written])
    value += int(minute or 0) / 60 + (0.5 if unit.endswith("半") else 0.0)
    half = "am" if unit in phrase_set(f"{_DATA}.am") else "pm" if unit in phrase_set(f"{_DATA}.pm") else ""
    if value > _DAY or (half and not 1 <= value < _NOON + 1):
        return None
    if not half and (named or value > _NOON or written.startswith("0")):
        half = _NAMED if named else _AS_WRITTEN
    return value, half


def _says_hour(match: re.Match[str], which: str) -> bool:
    groups = match.groupdict()
    return bool(groups[f"minute{which}"] or groups.get(f"unit{which}"))


def _of_stretch(match: re.Match[str]) -> Clock | None:
    first, last = _read(match, "1"), _read(match, "2")
    explicit = _says_hour(match, "2") or _says_hour(match, "1")
    if first is None or last is None:
        return None
    if not explicit and (not match["open"] or not _counts_nothing(match)):
        return None
    return Clock(match.start(), match.end(), first, last, explicit)


def _of_single(match: re.Match[str]) -> Clock | None:
    hour, lead = _read(match, ""), " ".join((match["lead"] or "").split())
    explicit = _says_hour(match, "")
    if hour is None or (match["hour"] in pairs(f"{_DATA}.moments")):
        return None
    bare = lead and lead not in phrase_set(f"{_DATA}.not_bare")
    if not explicit and not (bare and _counts_nothing(match)):
        return None
    first: tuple[float, str] | None = hour
    last: tuple[float, str] | None = hour
    behind = match["behind"]
    if lead in phrase_set(f"{_DATA}.after") or behind in phrase_set(f"{_DATA}.after_behind"):
        last = None
    elif lead in phrase_set(f"{_DATA}.before") or behind in phrase_set(f"{_DATA}.before_behind"):
        first = None
    return Clock(match.start(), match.end(), first, last, explicit)


def _counts_nothing(match: re.Match[str]) -> bool:
    return _patterns()["behind"].match(match.string, match.end()) is not None


# --- patterns -----------------------------------------------------------------------------------------------


@cache
def _numbers() -> Mapping[str, str]:
    words = {form: value for form, value in pairs("entities/numbers.words").items() if float(value) <= _NOON}
    listed = (pairs(f"{_DATA}.{name}") for name in ("words", "han_words", "moments"))
    return {**words, **{form: value for forms in listed for form, value in forms.items()}}


@cache
def _number_words() -> frozenset[str]:
    return frozenset(_numbers())


@cache
def _patterns() -> Mapping[str, re.Pattern[str]]:
    def listed(*names: str) -> str:
        return _as_words([form for name in names for form in phrases(f"{_DATA}.{name}")])

    article = rf"(?:{listed('articles')}\s*)?"
    stretch = rf"(?:(?P<open>{listed('opens')})\s*)?{article}{_clock('1')}"
    stretch += rf"\s*(?:{listed('joins')})\s*{article}{_clock('2')}(?:\s*の?(?:{listed('closes')}))?"
    single = rf"(?:(?P<lead>{listed('after', 'before', 'around')})\s*)?{article}{_clock('')}"
    single += rf"(?:\s*(?P<behind>{listed('after_behind', 'before_behind')}))?"
    around = "language/dayparts.around.before"
    before_part, before_day = phrases(f"{around}_part"), phrases(f"{around}_day")
    parts = [
        form for name in texts("language/dayparts.parts") for form in pairs(f"language/dayparts.parts.{name}")
    ]
    part = rf"(?:{_as_words(before_part)}\s+)?{_as_words(parts)}"
    day = rf"\d{{4}}-\d\d-\d\d|(?<=\s)(?:{_as_words(_weekdays())}|{part})"
    return {
        "stretch": re.compile(stretch),
        "single": re.compile(single),
        "behind": re.compile(rf"\s*(?:$|[?!.,;:)）？。，、！]|(?<=\s){listed('behind')}|{day})"),
        "between": re.compile(
            rf"(?:\s|的|の|,)*(?:{_as_words(before_part)})?(?:\s*{_as_words(before_day)})?\s*"
            rf"(?:{listed('places')}\s+(?:\w+\s+){{0,2}}\w+)?[\s,]*"
        ),
    }


def _weekdays() -> Sequence[str]:
    return [form for forms in lines("entities/times.weekdays") for form in forms.split()]


def _clock(which: str) -> str:
    """Match an hour with its minutes and what says that it is one."""
    units = [form for name in ("units", "am", "pm") for form in phrases(f"{_DATA}.{name}")]
    words = [form for form in _numbers() if not _UNSPACED.search(form)]
    han = _any([form for form in _numbers() if _UNSPACED.search(form)])
    hour = (
        rf"(?<![\w.,:/€$£-])(?:\d{{1,2}}|(?:{_any(words)})(?![a-zа-я]))|"
        rf"(?<![\d.,:/-])\d{{1,2}}(?=\s*[点點时:])|(?:{han})(?=[点點时])"
    )
    return (
        rf"(?P<hour{which}>{hour})(?:[:h](?P<minute{which}>[0-5]\d))?(?![\d:%€$£/]|[.,]\d)"
        rf"(?:\s*(?P<unit{which}>{_as_words(units)}))?(?![a-zа-я])"
    )


def _any(forms: Iterable[str]) -> str:
    longest = sorted(forms, key=lambda form: (-len(form), form))
    return "|".join(re.escape(form).replace(r"\ ", r"\s+") for form in longest)


def _as_words(forms: Iterable[str]) -> str:
    """Match whole words, and signs and characters without spaces wherever they are."""
    signs = [form for form in forms if _UNSPACED.search(form) or not form[0].isalpha()]
    spaced = [form for form in forms if form not in signs]
    words = rf"(?<![a-zа-я])(?:{_any(spaced)})(?![a-zа-я])"
    return f"(?:{words}|{_any(signs)})" if signs else words
