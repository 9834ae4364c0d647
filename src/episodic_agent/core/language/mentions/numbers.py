"""Numbers in a message: digits and number words, with the unit or currency they count.

Sets count too: references to several entities at once, "both cities", "the two restaurants", "all three".
"""

import re
from functools import cache, lru_cache
from typing import Final

from episodic_agent.core.language.mentions.scan import ScannedText, WordMatch
from episodic_agent.data import listed_words, pairs
from episodic_agent.schemas.mentions import Kind, SetReference


@cache
def _number_words() -> dict[str, int]:
    return {form: int(value) for form, value in pairs("entities/numbers.words").items()}


@cache
def _scales() -> dict[str, int]:
    return {form: int(value) for form, value in pairs("entities/numbers.scales").items()}


@cache
def _units() -> dict[str, str]:
    return {
        **pairs("entities/times.units"),
        **pairs("entities/numbers.measures"),
        **pairs("entities/numbers.currencies"),
    }


@cache
def _signs() -> frozenset[str]:
    return frozenset(form for form in pairs("entities/numbers.currencies") if not form.isalpha())


_CODES: Final = frozenset({"rmb", "usd", "eur", "cny", "gbp", "jpy", "inr", "aud", "cad", "chf"})
_NUMERAL: Final = re.compile(r"(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)([^\W\d_]*)")
_RANGE: Final = re.compile(r"(\d+(?:\.\d+)?)[-/:](\d+(?:\.\d+)?)")
_ORDINAL_ENDS: Final = frozenset({"st", "nd", "rd", "th", "s"})


def whole_number(low: str) -> int | None:
    """Return what a numeral or number word says, None for anything else.

    >>> whole_number("twenty-five"), whole_number("12"), whole_number("drei"), whole_number("tea")
    (25, 12, 3, None)
    """
    if low.isdecimal():
        return int(low[:18])
    known = _number_words()
    if low in known:
        return known[low]
    tens, _, ones = low.partition("-")
    if tens in known and known[tens] >= 20 and ones in known and known[ones] < 10:
        return known[tens] + known[ones]
    return None


def find_numbers(reading: ScannedText, taken: set[int]) -> list[WordMatch]:
    """Return the numbers among the words that are not taken, each with its unit."""
    matches: list[WordMatch] = []
    index, count = 0, len(reading.words)
    while index < count:
        match = None if index in taken else _number(reading, index)
        if match is None:
            index += 1
            continue
        if matches and match.first <= matches[-1].last:  # "two RMB twenty": RMB is taken already
            match = match._replace(first=index)
        matches.append(match)
        index = match.last + 1
    return _added(reading, [one for one in matches if not taken.intersection(range(one.first, one.last + 1))])


def _number(reading: ScannedText, index: int) -> WordMatch | None:
    low = reading.lows[index]
    if low[0].isdigit():
        return _numeral(reading, index)
    if low in _number_words() or "-" in low:
        return _spelled(reading, index)
    if low.endswith("s") and len(low) > 6 and low in _scales() and reading.shapes[index] == "l":
        return _with_unit(reading, index, index, str(_scales()[low]))  # "millions of euros"
    return None


def _numeral(reading: ScannedText, index: int) -> WordMatch | None:
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
    if match[2] == "M" or (match[2] == "B" and reading.gap(index)[-1:] in _signs()):  # $1.2M, 3B
        return _with_unit(reading, index, index, _times(value, 10**6 if match[2] == "M" else 10**9))
    if suffix in _scales():
        return _with_unit(reading, index, index, _times(value, _scales()[suffix]))
    unit = _units().get(suffix)
    return WordMatch("number", f"{value} {unit}" if unit else f"{value}{suffix}", index, index)


def _enumerates(reading: ScannedText, index: int) -> bool:
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
        and reading.lows[index - 1] in listed_words("entities/numbers.labelled")
        and not after.startswith("%")
    )


def _is_identifier(reading: ScannedText, index: int) -> bool:
    """Say whether a number is an order's or a telephone's: long, bare, and counting nothing."""
    word = reading.words[index]
    if sum(map(str.isdigit, word)) < 7 or "," in word or "." in word:
        return False
    return _low(reading, index + 1) not in _units() and reading.gap(index)[-1:] not in _signs()


def _scaled(reading: ScannedText, index: int, value: str) -> WordMatch:
    """Add "million" and the like."""
    last = index
    while (
        last + 1 < len(reading.words) and reading.after(last) == " " and reading.lows[last + 1] in _scales()
    ):
        if len(reading.lows[last + 1]) == 1:
            break
        last += 1
        value = _times(value, _scales()[reading.lows[last]])
    return _with_unit(reading, index, last, value)


def _spelled(reading: ScannedText, index: int) -> WordMatch | None:
    """Read "twenty-five", "two hundred and five"; "one" only with a unit, "a hundred" as a hundred."""
    total, part, place, last = 0, 0, index, index - 1
    while place < len(reading.words) and (place == index or reading.gap(place) in {" ", "-"}):
        low = reading.lows[place]
        number = None if low.isdecimal() or _is_foreign(reading, low) else whole_number(low)
        if number is not None and (place == index or _continues(part, number)):
            part, last = part + number, place
        elif low in _scales() and place > index and len(low) > 2:
            scale = _scales()[low]
            part = max(part, 1) * scale
            total, part = (total, part) if scale < 1000 else (total + part, 0)
            last = place
        elif low != "and" or last < index or _low(reading, last) not in _scales():
            break
        place += 1
    if last < index:
        return None
    match = _with_unit(reading, index, last, str(total + part))
    if match.value == "1" or (total + part == 1 and reading.lows[last + 1 : last + 2] == ["day"]):
        return None
    return match


def _continues(part: int, number: int) -> bool:
    """Say whether a number word goes on with what was read: "twenty" "five", "hundred" "five"."""
    return (part >= 20 and part % 10 == 0 and number < 10) or (
        part >= 100 and part % 100 == 0 and number < 100
    )


def _is_foreign(reading: ScannedText, low: str) -> bool:
    """Say whether a number word of one language is only a word of another here ("once", "six")."""
    language = pairs("entities/numbers.foreign").get(low)
    if language is None or language == "en":
        return False
    return not _told_by(language).isdisjoint(()) or _told_by(language).isdisjoint(reading.lows)


@lru_cache(maxsize=8)
def _told_by(language: str) -> frozenset[str]:
    texts = {
        "es": "el la los las de en y que con por para un una a son es hay las",
        "fr": "le la les de et en un une il y a des du est pour avec dans",
        "de": "der die das und ist um in ich wir mit auf ein eine den von",
    }
    return frozenset(texts[language].split()) - {"a", "in", "die", "la"}


def _low(reading: ScannedText, index: int) -> str:
    return reading.lows[index] if 0 <= index < len(reading.lows) else ""


def _with_unit(reading: ScannedText, first: int, last: int, value: str) -> WordMatch:
    """Add the unit that follows ("km", "%", "of euros") or the currency sign that stands before."""
    sign = reading.gap(first)[-1:]
    if first and reading.gap(first) == " " and reading.lows[first - 1] in _CODES:
        return WordMatch("number", f"{value} {_units()[reading.lows[first - 1]]}", first - 1, last)
    if sign in _signs():
        return WordMatch("number", f"{value} {_units()[sign]}", first, last)
    after = reading.after(last)
    if after[:1] in {"%", "€", "°", "£", "¥", "￥", "$"}:
        return WordMatch("number", f"{value} {_units()[after[0]]}", first, last)
    following = last + 1
    if after not in {" ", "-"} or following >= len(reading.words):
        return WordMatch("number", value, first, last)
    if (
        reading.lows[following] == "of"
        and _low(reading, following + 1) in _units()
        and reading.lows[last] in _scales()
    ):
        following += 1
    unit = _units().get(reading.lows[following])
    if unit is None or (len(reading.lows[following]) == 1 and reading.shapes[following] != "l"):
        return WordMatch("number", value, first, last)
    return WordMatch("number", f"{value} {unit}", first, following)


def _added(reading: ScannedText, matches: list[WordMatch]) -> list[WordMatch]:
    """Join "5 minutes and 45 seconds"."""
    joined: list[WordMatch] = []
    for match in matches:
        before = joined[-1] if joined else None
        if before is not None and _goes_on(reading, before, match):
            joined[-1] = WordMatch("number", f"{before.value} {match.value}", before.first, match.last)
        else:
            joined.append(match)
    return joined


_TIME_UNITS: Final = ("century", "decade", "year", "month", "week", "day", "hour", "minute", "second")


def _goes_on(reading: ScannedText, before: WordMatch, match: WordMatch) -> bool:
    units = [value.value.split()[-1] for value in (before, match)]
    if not all(unit in _TIME_UNITS for unit in units) or _TIME_UNITS.index(units[0]) >= _TIME_UNITS.index(
        units[1]
    ):
        return False
    between = reading.text[reading.ends[before.last] : reading.starts[match.first]]
    return between in {" ", " and ", ", "}


def _plain(number: str) -> str:
    """Return a number without leading and trailing zeros.

    >>> _plain("500000.00"), _plain("2.50"), _plain("007")
    ('500000', '2.5', '7')
    """
    text, _, part = number.partition(".")
    part = part.rstrip("0")
    text = text.lstrip("0") or "0"
    return f"{text}.{part}" if part else text


def _times(value: str, scale: int) -> str:
    """Multiply a decimal number exactly: 6.2 million."""
    if "-" in value:
        low, _, high = value.partition("-")
        return f"{_times(low, scale)}-{_times(high, scale)}"
    text, _, part = value.partition(".")
    zeros = len(str(scale)) - 1
    if scale != 10**zeros:
        return str(int(float(value) * scale))
    return _plain(f"{text}{part[:zeros].ljust(zeros, '0')}.{part[zeros:]}")


_COUNTED: Final[tuple[Kind, ...]] = ("place", "time", "person", "organisation", "number", "product")
_COUNT: Final = r"two|three|four|five|six|seven|eight|nine|ten|\d{1,2}"
_OWNER: Final = r"(?:the|these|those|my|our|your|his|her|their)\b"
_ADJECTIVE: Final = r"(?:(?:other|last|first|next|new|same|previous|different|nearest|big|top|main)\s+)?"
_ENGLISH: Final = (
    rf"\b(?P<pair>both|either|neither)\b(?:\s+of)?(?:\s+{_OWNER})?(?P<tail>\s+{_ADJECTIVE}(?P<noun>[a-z]+))?"
    rf"|\ball\s+(?:of\s+)?(?:{_OWNER}\s+)?(?:(?P<n>{_COUNT})\b\s*)?(?:of\s+(?:{_OWNER}\s+)?)?(?P<tail2>{_ADJECTIVE}(?P<noun2>[a-z]+))?"
    rf"|\b(?:each|any|none|some)\s+of\s+(?:{_OWNER}\s+)?(?:(?P<n3>{_COUNT})\s+)?(?P<noun3>[a-z]+)"
    rf"|\b{_OWNER}\s+(?P<n4>{_COUNT})\s+(?:of\s+)?(?P<tail4>{_ADJECTIVE}(?P<noun4>[a-z]+))"
)
_OTHERS: Final = (
    r"\b(?:beide[nrs]?|die\s+beiden|ambos|ambas|l[oa]s\s+dos|les\s+deux|tous\s+les\s+deux|toutes\s+les\s+deux)\b"
    r"(?:\s+(?P<noun>[^\W\d_]+))?"
    r"|\b(?:alle|los|las|les)\s+(?P<n>drei|vier|tres|cuatro|trois|quatre)\b(?:\s+(?P<noun2>[^\W\d_]+))?"
)
_HAN: Final = (
    r"(?:这|那)?(?P<n>[两二三四五])(?:个|家|座|位|部|本|天|款|所)(?P<noun>城市|地方|餐厅|饭店|酒店|国家|人|朋友"
    r"|电影|书|手机|公司|学校|日子|产品)?都?|它们|他们都|她们都"
)
_HAN_NOUNS: Final[dict[str, Kind]] = {
    "城市": "place", "地方": "place", "餐厅": "place", "饭店": "place", "酒店": "place", "国家": "place",
    "学校": "place", "人": "person", "朋友": "person", "电影": "product", "书": "product", "手机": "product",
    "产品": "product", "公司": "organisation", "日子": "time",
}  # fmt: skip
_CLAUSE_END: Final = (
    r"\s*(?:[?!.,;)]|$|and\b|or\b|for\b|please\b|in\b|at\b|on\b|to\b|is\b|are\b|were\b|have\b"
    r"|works?\b|would\b|will\b|can\b|could\b|should\b|sounds?\b|looks?\b)"
)


def set_references(text: str) -> tuple[SetReference, ...]:
    """Return the references to several entities named before, in the order of the text.

    >>> [(r.kind, r.count) for r in set_references("What about weather in both cities?")]
    [('place', 2)]
    >>> [(r.kind, r.count) for r in set_references("Book all three of them, and the two restaurants.")]
    [(None, 3), ('place', 2)]
    >>> set_references("Both Anna and Tom came."), set_references("all right")
    ((), ())
    """
    low = text.lower()
    if len(low) != len(text):  # a letter that grows when lowered would shift the places
        low = text
    references = [*_english(text, low), *_others(text, low), *_unspaced(text)]
    references.sort(key=lambda one: (one.start, -one.end))
    stored_references: list[SetReference] = []
    for reference in references:
        if not stored_references or reference.start >= stored_references[-1].end:
            stored_references.append(reference)
    return tuple(stored_references)


def _english(text: str, low: str) -> list[SetReference]:
    references: list[SetReference] = []
    for match in re.finditer(_ENGLISH, low):
        noun = match["noun"] or match["noun2"] or match["noun3"] or match["noun4"] or ""
        count = 2 if match["pair"] else _spoken_number(match["n"] or match["n3"] or match["n4"])
        kind = _kind(noun)
        end = match.end()
        if kind is None and noun not in listed_words("entities/sets.pronouns"):
            end = _without_noun(match, low)
            if end == 0:
                continue
        if (
            not match["pair"]
            and count is None
            and kind is None
            and noun not in {"them", "these", "those", "ones"}
        ):
            continue
        if (
            match["noun2"]
            and count is None
            and not _is_plural(noun)
            and noun not in listed_words("entities/sets.pronouns")
        ):
            continue
        if kind is None and noun == "it":
            continue
        references.append(
            SetReference(
                kind, count, text[match.start() : end].rstrip(), match.start(), len(text[:end].rstrip())
            )
        )
    return references


def _is_plural(noun: str) -> bool:
    return noun.endswith("s") or noun in {"people", "men", "women", "children"}


def _without_noun(match: re.Match[str], low: str) -> int:
    """Return where a reference without a known noun ends ("what about both?"), 0 if it is none."""
    start = match.start("tail") if match["tail"] else match.start("tail2") if match["tail2"] else match.end()
    if match["noun3"] or match["noun4"] or (match["noun2"] and not match["n"]):
        return 0
    after = low[start:]
    return start if re.match(_CLAUSE_END, after) and not re.match(r"\s+\w+\s+(?:and|or)\b", after) else 0


def _others(text: str, low: str) -> list[SetReference]:
    references: list[SetReference] = []
    for match in re.finditer(_OTHERS, _singular(low)):
        noun = match["noun"] or match["noun2"] or ""
        kind = _kind(noun)
        count = _spoken_number(match["n"]) or 2
        end = match.end() if kind or not noun else match.start("noun" if match["noun"] else "noun2")
        references.append(
            SetReference(
                kind, count, text[match.start() : end].rstrip(), match.start(), len(text[:end].rstrip())
            )
        )
    return references


def _singular(low: str) -> str:
    """Drop the accents of the letters that German, Spanish and French write, place by place."""
    return low.translate(_ACCENTS)


_ACCENTS: Final = str.maketrans("äöüáéíóúñàèùâêîôûëïç", "aouaeiounaeuaeioueic")


def _unspaced(text: str) -> list[SetReference]:
    if text.isascii():
        return []
    return [
        SetReference(
            _HAN_NOUNS.get(match["noun"] or ""),
            _HAN_COUNT.get(match["n"] or ""),
            match.group(),
            *match.span(),
        )
        for match in re.finditer(_HAN, text)
    ]


_HAN_COUNT: Final = {"两": 2, "二": 2, "三": 3, "四": 4, "五": 5}


def _spoken_number(number: str | None) -> int | None:
    return whole_number(number) if number else None


def _kind(noun: str) -> Kind | None:
    kinds = _kinds()
    for form in (
        noun,
        noun.removesuffix("s"),
        noun.removesuffix("es"),
        noun.removesuffix("ies") + "y",
        noun.removesuffix("n"),
    ):
        if form in kinds:
            return kinds[form]
    return None


@lru_cache(maxsize=1)
def _kinds() -> dict[str, Kind]:
    return {noun: kind for kind in _COUNTED for noun in listed_words(f"entities/sets.nouns.{kind}")}
