"""Whether words tell of what is over, is to come, or is moved away, beside the days they name.

"We went to the zoo on Friday" names no day to come; "the plumber is booked for Friday" does, and "I said I'd
come on Friday". Verbs tell it, clause by clause; words stand in `data/language/coming.toml`.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Final

from episodic_agent.core.language.coming import (
    DATA,
    ComingDays,
    any_of,
    around,
    moves,
    sentence_of,
    words_of,
    words_pattern,
)
from episodic_agent.core.language.japanese import has_sign
from episodic_agent.core.language.terms import stop_words
from episodic_agent.data import phrases

CLAUSE: Final = re.compile(  # what stands between two clauses of a folded text
    r"[.!?;:\n。！？；，,]+(?!\d)|\s(?:and|but|that|so|und|aber|dass|y|pero|que|et|mais|ma|e)\s"
)
_WORD: Final = re.compile(r"[^\W\d_]+")
_FEWEST_WORDS: Final = 2  # of a clause beside its day: "On Friday, we went to the zoo" is one clause
_SHORTEST: Final = 5  # letters of a participle


def is_left(folded: str, day: ComingDays) -> bool:
    """Tell whether something is moved away from a day."""
    led = _patterns()["from"].search(folded[: day.start]) is not None
    return led and moves(sentence_of(folded, day))


def is_over(rest: str, day: ComingDays) -> bool:
    """Tell whether a day is told of as over, by the verbs of its clause; `rest` has no words of days."""
    if day.sure or _patterns()["toward"].search(rest[: day.start].rstrip()):
        return False
    start, end = around(CLAUSE, rest, day)
    clause = rest[start:end]
    if len(_WORD.findall(clause)) <= _FEWEST_WORDS and rest[end : end + 1] in {",", "，"}:
        following = CLAUSE.search(rest, end + 1)
        clause = rest[start : following.start() if following else len(rest)]
    return speaks_of_past(clause)


def speaks_of_past(clause: str) -> bool:
    """Tell whether folded words tell of what is over, by their verbs, and of nothing that comes.

    >>> speaks_of_past("we went to the zoo"), speaks_of_past("the plumber is booked")
    (True, False)
    """
    if _patterns()["ahead"].search(clause) or has_sign(clause, f"{DATA}.ahead_han", "ahead"):
        return False
    if has_sign(clause, f"{DATA}.past_han", "past"):
        return True
    words = _WORD.findall(_patterns()["got"].sub(" ", clause))
    if "was" in words and not _german().isdisjoint(words):
        words = [word for word in words if word != "was"]  # "what", no verb
    return not words_of("past").isdisjoint(words) or any(_participles(words))


def tells_duration(words: str) -> bool:
    """Tell whether "in six years" beside folded words is how long something took or has been so, and no day.

    >>> tells_duration("never missed a shift"), tells_duration("first holiday"), tells_duration("i am off")
    (True, True, False)
    >>> tells_duration("down 350"), tells_duration("i have to pay 350")
    (True, False)
    """
    return speaks_of_past(words) or _patterns()["lasting"].search(words) is not None or is_amount(words)


def is_amount(words: str) -> bool:
    """Tell whether folded words before "in a month" are how much it was then, and nothing is to come."""
    return _patterns()["amount"].search(words) is not None and not _patterns()["ahead"].search(words)


@cache
def _german() -> frozenset[str]:
    return stop_words()["de"] - stop_words()["en"] | words_of("german")


def _participles(words: Sequence[str]) -> Iterator[str]:
    helped = not words_of("helpers").isdisjoint(words)
    for word in words:
        if len(word) < _SHORTEST or word in words_of("arranged"):
            continue
        if word.endswith("ed") or (helped and word.startswith("ge") and word.endswith(("t", "en", "d"))):
            yield word


@cache
def _patterns() -> Mapping[str, re.Pattern[str]]:
    leads, toward, by = (any_of(phrases(f"{DATA}.{name}")) for name in ("from", "toward", "changed_by"))
    return {
        "from": re.compile(rf"(?:(?<!\w)(?:{leads})\s+(?:(?:the|den|dem)\s+)?|从)$"),
        "toward": re.compile(rf"(?:(?<!\w)(?:{toward})(?:\s+(?:the|den|el|il|le|la|next|this))?|到|至)$"),
        "ahead": words_pattern(phrases(f"{DATA}.ahead")),
        "lasting": words_pattern(phrases(f"{DATA}.took_so_long")),
        "amount": re.compile(rf"(?<!\w)(?:{by})\s+[£$€]?\d|[£$€]\d[\d.,]*k?\s*$"),
        "got": re.compile(r"(?:have|has|['’]ve|['’]s)\s+(?:\w+\s+){0,2}got\b"),
    }
