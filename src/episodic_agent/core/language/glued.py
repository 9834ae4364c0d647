"""Times of languages that glue endings to their words, put into the characters that readers of times know.

Korean and Turkish build times alike: a week before its weekday, a count with its unit before "ago", endings
behind all of them (금요일까지, cumaya kadar). So each is words (`data/language/korean.toml`, `turkish.toml`)
under the same rules, written as Japanese is (`japanese.py`): 지난주 금요일 is 上周五, üç gün önce 3天前. What
tells past from coming in them, and what asks, is there, too. A form counts only where a known ending ends it.
"""

import re
from collections.abc import Callable, Container, Iterator
from functools import cache, lru_cache, partial
from typing import Final, TypeAlias

from episodic_agent.core.language.terms import fold
from episodic_agent.data import lines, listed_words, pairs, phrases, text

KOREAN, TURKISH = "korean", "turkish"
_HANGUL: Final = re.compile("[\uac00-\ud7a3]")
_SHARED: Final = re.compile("[天日月年周末晚前]")
_WORD: Final = re.compile(r"[^\W\d_]+")
_TOLD_BY_TWO: Final = 2  # words that other languages have as well
_HALF, _NOON, _HOURS = 30, 12, 24
_WEEKDAYS: Final = "一二三四五六日"
_Writer: TypeAlias = "Callable[[str, bool, re.Match[str]], str]"


def shared_times(folded: str) -> str:
    """Return a folded text with the times that Korean or Turkish names in shared characters.

    >>> [shared_times(text) for text in ("지난주 금요일 저녁에", "3일 전에", "국내일주")]
    ['上周五晚上', '3天前', '국내일주']
    >>> [shared_times(text) for text in ("haftaya sali", "uc gun once, 14 mart'ta ne yaptim", "dunya turu")]
    ['下周二', '3天前, 3月14日 ne yaptim', 'dunya turu']
    """
    name = language_of(folded)
    if not name:
        return folded
    is_over = speaks(name, "past", folded)
    for pattern, write in _rules(name):
        folded = pattern.sub(partial(write, name, is_over), folded)
    return folded


def folded_times(question: str) -> str:
    """Return a question of these languages folded, with its times in shared characters; others as they are.

    >>> folded_times("Geçen hafta ne oldu?"), folded_times("Où es-tu ?")
    ('上周 ne oldu?', 'Où es-tu ?')
    """
    folded = re.sub(r"\w+", lambda match: fold(match.group()), question)
    return shared_times(folded) if language_of(folded) else question


@lru_cache(maxsize=1_024)
def language_of(folded: str) -> str:
    """Return which of these languages a folded text is in, "" for none.

    >>> language_of("내일 뭐 있어?"), language_of("yarin ne var?"), language_of("ne var?"), language_of("dun")
    ('korean', 'turkish', 'turkish', '')
    """
    if not folded.isascii():
        if _HANGUL.search(folded):
            return KOREAN
        if "ı" in folded:
            return TURKISH
    words = frozenset(_WORD.findall(folded))
    if not words.isdisjoint(_own_words("own")) or _signs(TURKISH, "verbs").search(folded):
        return TURKISH
    least = _TOLD_BY_TWO - (_SHARED.search(folded) is not None)  # times may be written already
    return TURKISH if len(words & _own_words("shared")) >= least else ""


def speaks(name: str, key: str, folded: str) -> bool:
    """Tell whether a text of a language has the signs of a kind: `past`, `ahead`, `asking` or `details`."""
    if key == "past":
        folded = _signs(name, "arranged").sub(" ", folded)
    return _signs(name, key).search(folded) is not None


def glued_days(meanings: Container[str]) -> list[str]:
    """Return the words for days that mean one of some, as texts hold them, with their endings in Turkish.

    >>> glued_days({"后天"})[:2]
    ['내일모레', '모레']
    """
    return [
        form
        for name in (KOREAN, TURKISH)
        for one, meaning in pairs(f"language/{name}.words").items()
        if meaning in meanings
        for form in _glued(name, one)
    ]


def glued_weekdays(number: int) -> list[str]:
    """Return the names of a weekday, from Monday = 0, as texts hold them."""
    return [
        form
        for name in (KOREAN, TURKISH)
        for one, day in pairs(f"language/{name}.weekdays").items()
        if day == _WEEKDAYS[number]
        for form in _glued(name, one)
    ]


def glued_months(number: int) -> list[str]:
    """Return the names of a month as texts hold them."""
    months = pairs(f"language/{TURKISH}.month_names").items()
    return [form for one, month in months if month == str(number) for form in _glued(TURKISH, one)]


@cache
def glued_counts() -> frozenset[str]:
    """Return the words of which one stands where a day is named by how far it is."""
    forms = [
        (n, form)
        for n in (KOREAN, TURKISH)
        for one in ("units", "spans")
        for form in pairs(f"language/{n}.{one}")
    ]
    return frozenset(form for name, one in forms for form in _glued(name, one))


def _glued(name: str, form: str) -> Iterator[str]:
    """Yield a form as an index of words holds it: Korean is cut into pairs there, and ends anywhere."""
    for written in dict.fromkeys((form, form.replace("ı", "i"))):
        yield written
        if name == TURKISH:
            yield from (f"{written}{ending}" for ending in pairs(f"language/{name}.endings"))


# --- what is written ----------------------------------------------------------------------------------------


def _meaning(name: str, listed: str, form: str) -> str:
    return _table(name, listed)[_key(form)]


@cache
def _table(name: str, listed: str) -> dict[str, str]:
    return {_key(form): meaning for form, meaning in pairs(f"language/{name}.{listed}").items()}


def _key(form: str) -> str:
    return "".join(form.split()).replace("ı", "i")


def _ended(name: str, is_over: bool, match: re.Match[str], written: str) -> str:
    """Return a time with what its ending makes of it: "until", "from", "since"."""
    if match["behind"]:
        template = _meaning(name, "behind", match["behind"])
    elif is_over and _key(match["end"] or "") in _table(name, "since"):
        template = "从{}以来"
    else:
        template = _table(name, "endings").get(_key(match["end"] or ""), "")
    return template.format(written) if "{" in template else written


def _write_count(name: str, is_over: bool, match: re.Match[str]) -> str:
    way = _meaning(name, "ways", match["way"])
    if match["span"]:
        return _ended(name, is_over, match, _meaning(name, "spans", match["span"]) + way)
    return _ended(name, is_over, match, _counted(name, match) + way)


def _write_lately(name: str, _: bool, match: re.Match[str]) -> str:
    return f"最近{_counted(name, match)}"


def _counted(name: str, match: re.Match[str]) -> str:
    number = match["n"] if match["n"].isdecimal() else _meaning(name, "counts", match["n"])
    return f"{number}{_meaning(name, 'units', match['unit'])}"


def _write_date(name: str, is_over: bool, match: re.Match[str]) -> str:
    groups = match.groupdict()
    month = groups["month"]
    number = int(month) if month.isdecimal() else int(_meaning(name, "month_names", month))
    year, day = groups.get("year"), groups.get("day")
    written = f"{year}年" * bool(year) + f"{number}月" + f"{day}日" * bool(day)
    return _ended(name, is_over, match, written)


def _write_day(name: str, is_over: bool, match: re.Match[str]) -> str:
    return _ended(name, is_over, match, f"{match['day']}日")


def _write_weekday(name: str, is_over: bool, match: re.Match[str]) -> str:
    day = _meaning(name, "weekdays", match["weekday"])
    if match["every"] or match["many"]:
        return f"每周{day}"
    led = match["week"] or match["latest"] or match["nearest"] or match["behind"]
    if match["end"] and not led and match["weekday"] in phrases(f"language/{name}.market"):
        return match.group()
    if match["latest"]:
        return f"last {lines('entities/times.weekdays')[_WEEKDAYS.index(day)].split()[0]}"
    week = _meaning(name, "weeks", match["week"]) if match["week"] else "周"
    return _ended(name, is_over, match, f"{week}{day}")


def _write_word(name: str, is_over: bool, match: re.Match[str]) -> str:
    form = _key(match["word"])
    tables = (_table(name, listed) for listed in ("words", "weeks", "months"))
    return _ended(name, is_over, match, next(table[form] for table in tables if form in table))


def _write_clock(name: str, _: bool, match: re.Match[str]) -> str:
    hour, minute = int(match["hour"]), _HALF if match["half"] else int(match["minute"] or 0)
    if hour > _HOURS or minute >= 2 * _HALF:
        return match.group()
    late = hour < _NOON and match["part"] in phrases(f"language/{name}.late")
    return f" {hour + _NOON * late}:{minute:02} "


def _write_part(name: str, _: bool, match: re.Match[str]) -> str:
    return _meaning(name, "parts", match["part"])


# --- the rules ----------------------------------------------------------------------------------------------


@cache
def _rules(name: str) -> tuple[tuple[re.Pattern[str], _Writer], ...]:
    """Compile the rules, in the order in which they may write, when first used."""
    alike = _any(name, "alike")
    return tuple(
        (re.compile(f"(?P<alike>{alike})|(?:{pattern})"), partial(_unlike, write))
        for pattern, write in _patterns(name)
    )


def _unlike(write: _Writer, name: str, is_over: bool, match: re.Match[str]) -> str:
    return match["alike"] or write(name, is_over, match)


def _patterns(name: str) -> Iterator[tuple[str, _Writer]]:
    letter = text(f"language/{name}.letter")
    begin, stop = rf"(?<!{letter})", f"(?!{letter})"
    end = (
        rf"(?:['’]?(?P<end>{_any(name, 'endings')}))?{stop}"
        rf"(?:\s+(?P<behind>{_any(name, 'behind')}){stop})*"
    )
    number = rf"{begin}(?<![\d.,])(?P<n>\d{{1,3}}|{_any(name, 'counts')})\s*(?P<unit>{_any(name, 'units')})"
    way = rf"\s*(?P<way>{_any(name, 'ways')}){end}"
    yield rf"(?:{begin}(?P<span>{_any(name, 'spans')})|{number}){way}", _write_count
    yield (
        rf"{begin}{_any(name, 'lately')}\s*{number}(?:{_any(name, 'during')}|{_any(name, 'endings')})?{stop}",
        _write_lately,
    )
    for date in _texts(name, "dates"):
        yield rf"(?<![\w.,/]){date.replace('«months»', _any(name, 'month_names'))}{end}", _write_date
    leads = "|".join(f"(?P<{lead}>{_any(name, lead)})" for lead in ("latest", "nearest", "every"))
    yield (
        rf"{begin}(?:(?:(?P<week>{_any(name, 'weeks')}){stop}|{leads})\s*)?"
        rf"(?P<weekday>{_any(name, 'weekdays')})(?:(?P<many>{_any(name, 'many')}){stop}|{end})",
        _write_weekday,
    )
    yield rf"{begin}(?P<word>{_longest(name, ('words', 'weeks', 'months'))}){end}", _write_word
    for day in _texts(name, "days"):
        yield rf"(?<!\d月){day}{end}", _write_day
    parts = _any(name, "parts")
    for clock in _texts(name, "clocks"):
        yield rf"(?:{begin}(?P<part>{parts})\s*)?{clock}(?:['’]?{_any(name, 'endings')})?{stop}", _write_clock
    yield (
        rf"(?<=[天末日一二三四五六])\s+(?P<part>{parts})(?:['’]?{_any(name, 'endings')})?{stop}",
        _write_part,
    )
    yield r"(?<=年)\s+(?=\d{1,2}月)()", lambda *_: ""


def _texts(name: str, key: str) -> tuple[str, ...]:
    return lines(f"language/{name}.{key}")


def _any(name: str, listed: str) -> str:
    return _longest(name, (listed,))


def _longest(name: str, listed: tuple[str, ...]) -> str:
    forms = sorted(
        {form for one in listed for form in pairs(f"language/{name}.{one}")}, key=len, reverse=True
    )
    gap = r"\\s*" if name == KOREAN else r"\\s+"
    spaced = (re.sub(r"\\ ", gap, re.escape(form)).replace("ı", "[ıi]") for form in forms)
    return f"(?:{'|'.join(spaced) or '(?!)'})"


@cache
def _signs(name: str, key: str) -> re.Pattern[str]:
    return re.compile("|".join(lines(f"language/{name}.{key}")))


@cache
def _own_words(key: str) -> frozenset[str]:
    return frozenset(word.replace("ı", "i") for word in listed_words(f"language/{TURKISH}.{key}"))
