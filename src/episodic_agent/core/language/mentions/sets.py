"""References to several entities at once: "both cities", "the two restaurants", "all three of them"."""

import re
from functools import lru_cache
from typing import Final

from episodic_agent.core.language.mentions.numbers import whole_number
from episodic_agent.data import listed_words
from episodic_agent.schemas.mentions import Kind, SetReference

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
    for match in re.finditer(_OTHERS, _plain(low)):
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


def _plain(low: str) -> str:
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
