"""Numbers in a message: digits and number words, with the unit or currency they count."""

import re
from functools import lru_cache
from typing import Final

from episodic_agent.core.entities.found import Found
from episodic_agent.core.entities.lists import pairs, word_set
from episodic_agent.core.entities.scan import Reading
from episodic_agent.core.entities.words import numbers as words
from episodic_agent.core.entities.words import times

_WORDS: Final = {form: int(value) for form, value in pairs(words.WORDS).items()}
_FOREIGN: Final = pairs(words.FOREIGN)
_SCALES: Final = {form: int(value) for form, value in pairs(words.SCALES).items()}
_UNITS: Final = {**pairs(times.UNITS), **pairs(words.MEASURES), **pairs(words.CURRENCIES)}
_SIGNS: Final = frozenset(form for form in pairs(words.CURRENCIES) if not form.isalpha())
_CODES: Final = frozenset({"rmb", "usd", "eur", "cny", "gbp", "jpy", "inr", "aud", "cad", "chf"})
_NUMERAL: Final = re.compile(r"(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)([^\W\d_]*)")
_RANGE: Final = re.compile(r"(\d+(?:\.\d+)?)[-/:](\d+(?:\.\d+)?)")
_ORDINAL_ENDS: Final = frozenset({"st", "nd", "rd", "th", "s"})
_LABELLED: Final = word_set(
    """
    step chapter section part figure version page item line question level no number act option tip
    lesson room phase module unit day week article rule table point stage round http status error
    code
    """
)


def whole_number(low: str) -> int | None:
    """Return what a numeral or number word says, None for anything else.

    >>> whole_number("twenty-five"), whole_number("12"), whole_number("drei"), whole_number("tea")
    (25, 12, 3, None)
    """
    if low.isdecimal():
        return int(low[:18])
    if low in _WORDS:
        return _WORDS[low]
    tens, _, ones = low.partition("-")
    if tens in _WORDS and _WORDS[tens] >= 20 and ones in _WORDS and _WORDS[ones] < 10:
        return _WORDS[tens] + _WORDS[ones]
    return None


def find_numbers(reading: Reading, taken: set[int]) -> list[Found]:
    """Return the numbers among the words that are not taken, each with its unit."""
    found: list[Found] = []
    index, count = 0, len(reading.words)
    while index < count:
        one = None if index in taken else _number(reading, index)
        if one is None:
            index += 1
            continue
        if found and one.first <= found[-1].last:  # "two RMB twenty": RMB is taken already
            one = one._replace(first=index)
        found.append(one)
        index = one.last + 1
    return _added(reading, [one for one in found if not taken.intersection(range(one.first, one.last + 1))])


def _number(reading: Reading, index: int) -> Found | None:
    low = reading.lows[index]
    if low[0].isdigit():
        return _numeral(reading, index)
    if low in _WORDS or "-" in low:
        return _spelled(reading, index)
    if low in _SCALES and low.endswith("s") and reading.shapes[index] == "l" and len(low) > 6:
        return _with_unit(reading, index, index, str(_SCALES[low]))  # "millions of euros"
    return None


def _numeral(reading: Reading, index: int) -> Found | None:
    """Read 500,000.00 yuan, $25, 2.5MB, 16%, 6.2 million, 5-10; not the 1. of a list nor step 3."""
    word = reading.words[index]
    span = _RANGE.fullmatch(word)
    if span:
        return _with_unit(reading, index, index, f"{_plain(span[1])}-{_plain(span[2])}")
    match = _NUMERAL.fullmatch(word)
    if match is None:
        return None
    number, suffix = match[1], match[2].lower()
    if suffix in _ORDINAL_ENDS or _enumerates(reading, index):
        return None
    value = _plain(number.replace(",", ""))
    if not suffix:
        return _scaled(reading, index, value)
    if match[2] == "M" or (match[2] == "B" and reading.gap(index)[-1:] in _SIGNS):  # $1.2M, 3B
        return _with_unit(reading, index, index, _times(value, 10**6 if match[2] == "M" else 10**9))
    if suffix in _SCALES:
        return _with_unit(reading, index, index, _times(value, _SCALES[suffix]))
    unit = _UNITS.get(suffix)
    return Found("number", f"{value} {unit}" if unit else f"{value}{suffix}", index, index)


def _enumerates(reading: Reading, index: int) -> bool:
    """Say whether a number only counts items: "1. Book", "(2)", "Step 3"."""
    word, before = reading.words[index], reading.gap(index)
    after = reading.after(index)
    if (
        len(word) <= 2
        and after[:1] in {".", ")"}
        and (index == 0 or "\n" in before or "*" in before or before.endswith("("))
    ):
        return after[:2] in {". ", ") ", ".", ")", ".*", ")*"} or after[1:2] == "*"
    if len(word) <= 2 and after.startswith((". ", ") ")) and index and reading.opens[index]:
        return True
    if _is_identifier(reading, index):
        return True
    return (
        index > 0
        and before in {" ", " #", ": "}
        and reading.lows[index - 1] in _LABELLED
        and not after.startswith("%")
    )


def _is_identifier(reading: Reading, index: int) -> bool:
    """Say whether a number is an order's or a telephone's: long, bare, and counting nothing."""
    word = reading.words[index]
    if sum(map(str.isdigit, word)) < 7 or "," in word or "." in word:
        return False
    return _low(reading, index + 1) not in _UNITS and reading.gap(index)[-1:] not in _SIGNS


def _scaled(reading: Reading, index: int, value: str) -> Found:
    """Add "million" and the like."""
    last = index
    while last + 1 < len(reading.words) and reading.after(last) == " " and reading.lows[last + 1] in _SCALES:
        if len(reading.lows[last + 1]) == 1:
            break
        last += 1
        value = _times(value, _SCALES[reading.lows[last]])
    return _with_unit(reading, index, last, value)


def _spelled(reading: Reading, index: int) -> Found | None:
    """Read "twenty-five", "two hundred and five"; "one" only with a unit, "a hundred" as a hundred."""
    total, part, place, last = 0, 0, index, index - 1
    while place < len(reading.words) and (place == index or reading.gap(place) in {" ", "-"}):
        low = reading.lows[place]
        number = None if low.isdecimal() or _is_foreign(reading, low) else whole_number(low)
        if number is not None and (place == index or _continues(part, number)):
            part, last = part + number, place
        elif low in _SCALES and place > index and len(low) > 2:
            scale = _SCALES[low]
            part = max(part, 1) * scale
            total, part = (total, part) if scale < 1000 else (total + part, 0)
            last = place
        elif low != "and" or last < index or _low(reading, last) not in _SCALES:
            break
        place += 1
    if last < index:
        return None
    found = _with_unit(reading, index, last, str(total + part))
    if found.value == "1" or (total + part == 1 and reading.lows[last + 1 : last + 2] == ["day"]):
        return None
    return found


def _continues(part: int, number: int) -> bool:
    """Say whether a number word goes on with what was read: "twenty" "five", "hundred" "five"."""
    return (part >= 20 and part % 10 == 0 and number < 10) or (
        part >= 100 and part % 100 == 0 and number < 100
    )


def _is_foreign(reading: Reading, low: str) -> bool:
    """Say whether a number word of one language is only a word of another here ("once", "six")."""
    language = _FOREIGN.get(low)
    if language is None or language == "en":
        return False
    return not _told_by(language).isdisjoint(()) or _told_by(language).isdisjoint(reading.lows)


@lru_cache(maxsize=8)
def _told_by(language: str) -> frozenset[str]:
    told = {
        "es": "el la los las de en y que con por para un una a son es hay las",
        "fr": "le la les de et en un une il y a des du est pour avec dans",
        "de": "der die das und ist um in ich wir mit auf ein eine den von",
    }
    return frozenset(told[language].split()) - {"a", "in", "die", "la"}


def _low(reading: Reading, index: int) -> str:
    return reading.lows[index] if 0 <= index < len(reading.lows) else ""


def _with_unit(reading: Reading, first: int, last: int, value: str) -> Found:
    """Add the unit that follows ("km", "%", "of euros") or the currency sign that stands before."""
    sign = reading.gap(first)[-1:]
    if first and reading.gap(first) == " " and reading.lows[first - 1] in _CODES:
        return Found("number", f"{value} {_UNITS[reading.lows[first - 1]]}", first - 1, last)
    if sign in _SIGNS:
        return Found("number", f"{value} {_UNITS[sign]}", first, last)
    after = reading.after(last)
    if after[:1] in {"%", "€", "°", "£", "¥", "￥", "$"}:
        return Found("number", f"{value} {_UNITS[after[0]]}", first, last)
    following = last + 1
    if after not in {" ", "-"} or following >= len(reading.words):
        return Found("number", value, first, last)
    if (
        reading.lows[following] == "of"
        and _low(reading, following + 1) in _UNITS
        and reading.lows[last] in _SCALES
    ):
        following += 1
    unit = _UNITS.get(reading.lows[following])
    if unit is None or (len(reading.lows[following]) == 1 and reading.shapes[following] != "l"):
        return Found("number", value, first, last)
    return Found("number", f"{value} {unit}", first, following)


def _added(reading: Reading, found: list[Found]) -> list[Found]:
    """Join "5 minutes and 45 seconds"."""
    joined: list[Found] = []
    for one in found:
        before = joined[-1] if joined else None
        if before is not None and _goes_on(reading, before, one):
            joined[-1] = Found("number", f"{before.value} {one.value}", before.first, one.last)
        else:
            joined.append(one)
    return joined


_TIME_UNITS: Final = ("century", "decade", "year", "month", "week", "day", "hour", "minute", "second")


def _goes_on(reading: Reading, before: Found, one: Found) -> bool:
    units = [value.value.split()[-1] for value in (before, one)]
    if not all(unit in _TIME_UNITS for unit in units) or _TIME_UNITS.index(units[0]) >= _TIME_UNITS.index(
        units[1]
    ):
        return False
    between = reading.text[reading.ends[before.last] : reading.starts[one.first]]
    return between in {" ", " and ", ", "}


def _plain(number: str) -> str:
    """Return a number without leading and trailing zeros.

    >>> _plain("500000.00"), _plain("2.50"), _plain("007")
    ('500000', '2.5', '7')
    """
    whole, _, part = number.partition(".")
    part = part.rstrip("0")
    whole = whole.lstrip("0") or "0"
    return f"{whole}.{part}" if part else whole


def _times(value: str, scale: int) -> str:
    """Multiply a decimal number exactly: 6.2 million."""
    if "-" in value:
        low, _, high = value.partition("-")
        return f"{_times(low, scale)}-{_times(high, scale)}"
    whole, _, part = value.partition(".")
    zeros = len(str(scale)) - 1
    if scale != 10**zeros:
        return str(int(float(value) * scale))
    return _plain(f"{whole}{part[:zeros].ljust(zeros, '0')}.{part[zeros:]}")
