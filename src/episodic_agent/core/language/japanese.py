"""Times as Japanese names them, put into the characters that the readers of times know from Chinese.

The two write the same calendar with other words: 先週の金曜日 is 上周五, 三日前 is 三天前. So Japanese is
words (`data/language/japanese.toml`) and few rules, and every reader of times reads it. Numbers in kanji and
words of one kanji count only where a text has kana. What looks like a day and is a name (三日月, 明日香)
stays as it is.
"""

import re
from collections.abc import Callable, Container, Iterable
from datetime import date
from functools import cache, partial
from typing import Final, TypeAlias

from episodic_agent.core.language import glued
from episodic_agent.data import pairs

_DATA: Final = "language/japanese"
_KANA: Final = re.compile(r"[\u3041-\u30fa]")
_DIGITS: Final = "一二三四五六七八九"
_MONTHS, _DAYS, _HOURS, _HALF, _NOON = 12, 31, 24, 30, 12
_LATE: Final = frozenset({"下午", "晚上", "傍晚"})
_N: Final = (
    r"(?<![\d第一二三四五六七八九十])(?:\d{1,2}|[一二三四五六七八九十]{1,3})(?![\d一二三四五六七八九十])"
)
_Writer: TypeAlias = "Callable[[re.Match[str]], str]"


def shared_times(folded: str) -> str:
    """Return a folded text with its times in shared characters, as Japanese, Korean and Turkish name them.

    >>> [shared_times(text) for text in ("先週の金曜日の夜、三日前", "来月の十日の午後3時半に", "三日月")]
    ['上周五晚上、3天前', '下月10日の 15:30 に', '三日月']
    """
    if glued.language_of(folded) or folded.isascii():
        return glued.shared_times(folded)
    has_kana = _KANA.search(folded) is not None
    for pattern, write in _rules(has_kana):
        folded = pattern.sub(write, folded)
    return folded


def has_sign(folded: str, characters: str, kana: str) -> bool:
    """Tell whether a text holds a form of a list: of `characters`, or of `kana` in a text that has any.

    In Korean and Turkish those tell it that `glued` knows by the name of `kana`.
    """
    if name := glued.language_of(folded):
        return glued.speaks(name, kana, folded)
    listed = f"{_DATA}.{kana}" if _KANA.search(folded) else characters
    return any(sign in folded for sign in pairs(listed))


def japanese_days(meanings: Container[str]) -> list[str]:
    """Return the words for days that mean one of some, as texts hold them.

    >>> japanese_days({"后天"})
    ['明後日', 'あさって']
    """
    return [form for form, meaning in pairs(f"{_DATA}.words").items() if meaning in meanings]


def japanese_numbers(day: date) -> list[str]:
    """Return how a weekday and a day of the month are written in kanji.

    >>> japanese_numbers(date(2026, 10, 20))
    ['火曜', '二十日']
    """
    tens, ones = divmod(day.day, 10)
    number = f"{f'{_DIGITS[tens - 1]}' * (tens > 1)}{'十' * (tens > 0)}{_DIGITS[ones - 1] * (ones > 0)}"
    return [f"{[*pairs(f'{_DATA}.weekdays')][day.weekday()]}曜", f"{number}日"]


def _number(text: str) -> int | None:
    """Return a number in figures or kanji; None for "two or three" (二三).

    >>> _number("7"), _number("二十一"), _number("十"), _number("二三")
    (7, 21, 10, None)
    """
    if text.isdecimal():
        return int(text)
    tens, ten, ones = text.rpartition("十")
    if len(tens) > 1 or len(ones) > 1:
        return None
    first = (_DIGITS.index(tens) + 1 if tens else 1) * 10 if ten else 0
    return first + (_DIGITS.index(ones) + 1 if ones else 0)


# --- what is written ----------------------------------------------------------------------------------------


def _write_word(match: re.Match[str]) -> str:
    return pairs(f"{_DATA}.words")[match["word"]]


def _write_weekday(match: re.Match[str]) -> str:
    week = pairs(f"{_DATA}.weeks")[match["week"]] if match["week"] else "周"
    return f"{week}{pairs(f'{_DATA}.weekdays')[match['weekday']]}"


def _write_stretch(match: re.Match[str]) -> str:
    """Write a week, its end, or a month: what joins it to its day falls away."""
    week = match["week"]
    if not week:
        return pairs(f"{_DATA}.months")[match["month"]]
    return f"{pairs(f'{_DATA}.weeks')[week]}{'末' * bool(match['end'])}"


def _write_month(match: re.Match[str]) -> str:
    month, day = _number(match["month"]), _number(match["day"] or "1")
    if month is None or day is None or not (1 <= month <= _MONTHS and 1 <= day <= _DAYS):
        return match.group()
    return f"{month}月{day}日" if match["day"] else f"{month}月"


def _write_day(match: re.Match[str]) -> str:
    day = _number(match["day"])
    return match.group() if day is None or not 1 <= day <= _DAYS else f"{day}日"


def _write_count(match: re.Match[str]) -> str:
    """Write so many units, until now or from it: "3天前", "最近3天"; two or three are written as they are."""
    groups, number = match.groupdict(), _number(match["n"])
    way = pairs(f"{_DATA}.ways")[groups["way"]] if groups.get("way") else ""
    lead = "最近" if groups.get("lately") else ""
    return f"{lead}{match['n'] if number is None else number}{pairs(f'{_DATA}.units')[match['unit']]}{way}"


def _write_clock(match: re.Match[str]) -> str:
    hour, minute = _number(match["hour"]), _HALF if match["half"] else _number(match["minute"] or "0")
    if hour is None or minute is None or hour > _HOURS or minute > 2 * _HALF - 1:
        return match.group()
    late = hour < _NOON and pairs(f"{_DATA}.parts").get((match["part"] or "").removesuffix("の")) in _LATE
    return f" {hour + _NOON * late}:{minute:02} "


def _write_part(match: re.Match[str]) -> str:
    return pairs(f"{_DATA}.parts")[match["part"]]


def _write_part_alone(match: re.Match[str]) -> str:
    form, parts = match["part"], pairs(f"{_DATA}.parts")
    return parts[form] if form in parts else f"{parts[form[:-1]]}{form[-1]}"


# --- the rules ----------------------------------------------------------------------------------------------


@cache
def _rules(has_kana: bool) -> tuple[tuple[re.Pattern[str], _Writer], ...]:
    """Compile the rules, in the order in which they may write, when first used."""
    names = _any("alike")
    rules = (*_of_numbers(), *_of_words(), *_of_parts()) if has_kana else (*_of_words(),)
    return tuple(
        (re.compile(f"(?P<alike>{names})|(?:{pattern})"), partial(_unlike, write)) for pattern, write in rules
    )


def _unlike(write: _Writer, match: re.Match[str]) -> str:
    return match["alike"] or write(match)


def _any(name: str) -> str:
    return f"(?:{'|'.join(map(re.escape, sorted(pairs(f'{_DATA}.{name}'), key=len, reverse=True)))})"


def _of_numbers() -> Iterable[tuple[str, _Writer]]:
    n, units, counted = _N, _any("units"), _any("counted")
    yield rf"(?P<lately>{_any('lately')})(?P<n>{n})(?P<unit>{units})(?![酔坊天市町月曜])", _write_count
    yield rf"(?P<n>{n})(?P<unit>{units})(?P<way>{_any('ways')})", _write_count
    yield rf"(?P<n>{n})(?P<unit>日)(?={counted})", _write_count
    yield rf"(?P<month>{n})月(?:の?(?P<day>{n})日)?(?!{_any('weekdays')}曜)", _write_month
    yield rf"(?P<day>{n})日", _write_day
    parts = _any("parts")
    yield (
        rf"(?P<part>{parts}の?)?(?P<hour>{n})時(?!間)(?:(?P<half>半)|(?P<minute>{n})分)?(?!前|後)",
        _write_clock,
    )


def _of_words() -> Iterable[tuple[str, _Writer]]:
    kana = rf"(?:(?<![ぁ-ん])|(?<=[はもがをにへとねよで]))(?=[ぁ-ん]){_any('words')}"
    yield rf"(?P<word>(?=[^ぁ-ん]){_any('words')}|{kana})", _write_word
    weeks = _any("weeks")
    yield rf"(?:(?P<week>{weeks})の?|{_any('nearest')})?(?P<weekday>{_any('weekdays')})曜日?", _write_weekday
    yield (
        rf"(?P<week>{weeks})(?:の?一週間|(?P<end>の?(?:周末|土日)))?|(?P<month>{_any('months')})(?:の(?=\d))?",
        _write_stretch,
    )
    yield r"(?<=[去前今明后]年)の(?=\d)()", lambda match: match[1]


def _of_parts() -> Iterable[tuple[str, _Writer]]:
    yield r"(?<=[\d月])号()", lambda _: "號"  # of a house, a line, an issue: never a day
    yield rf"(?<=[天号日末一二三四五六])の?(?P<part>{_any('parts')})", _write_part
    yield rf"(?P<part>{_any('alone')})", _write_part_alone
