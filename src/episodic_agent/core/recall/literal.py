"""Queries that are words to look for, as people type them into a search box: a name, a word, a date.

They ask for the texts that hold them as they stand. A date is written in many ways ("October 3",
"3. Oktober", 10月3号), and all of them are looked for.
"""

import re
from collections.abc import Iterable
from datetime import date
from functools import lru_cache
from typing import Final

from episodic_agent.core.language import words
from episodic_agent.core.language.japanese import japanese_numbers
from episodic_agent.core.language.scripts import BIGRAM_SCRIPTS, script
from episodic_agent.core.recall.alone import asks
from episodic_agent.data import lines

_MOST_WORDS: Final = 3
_LONGEST: Final = 8  # characters of a script without spaces
_LETTER: Final = r"[^\W\u3041-\u30fa\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]"  # of scripts with spaces
_FIGURE: Final = re.compile(r"\d")
_SIGN: Final = re.compile(r"\d{1,4}(?:st|nd|rd|th|er|го)?|of|de|\d{1,2}月\d{1,2}[日号]")


def literal_pattern(text: str, day: date | None) -> str:
    """Return what matches texts that hold a query as it stands, "" where it is no word to look for.

    Texts are folded to words with one space between (`spoken`). `day` is the one day a query names, if any.

    >>> bool(re.search(literal_pattern("Kick-off", None), spoken("the kick off is on Friday")))
    True
    >>> pattern = literal_pattern("October 3", date(2026, 10, 3))
    >>> [bool(re.search(pattern, spoken(text))) for text in ("am 3. Oktober", "3rd of October", "October 30")]
    [True, True, False]
    >>> literal_pattern("what did I say?", None)
    ''
    """
    query = spoken(text)
    if not query or asks(text):
        return ""
    if day is not None:
        return _dates(day.month, day.day) if _is_date(query) else ""
    run = query.split()
    is_sentence = script(query) in BIGRAM_SCRIPTS and (len(run) > 1 or len(query) > _LONGEST)
    if is_sentence or len(run) > _MOST_WORDS:
        return ""
    return _bounded(re.escape(query))


def spoken(text: str) -> str:
    """Return the folded words of a text with one space between them."""
    return " ".join(words(text))


def _bounded(pattern: str) -> str:
    """Return a pattern that begins and ends no word in half; characters stand without spaces."""
    return rf"(?:(?<!{_LETTER})|(?!{_LETTER})){pattern}(?:(?!{_LETTER})|(?<!{_LETTER}))"


def _is_date(query: str) -> bool:
    months = {name for names in lines("entities/times.months") for name in names.split()}
    return _FIGURE.search(query) is not None and all(
        word in months or _SIGN.fullmatch(word) for word in query.split()
    )


@lru_cache(maxsize=64)
def _dates(month: int, day: int) -> str:
    names = "|".join(lines("entities/times.months")[month - 1].split())
    number = rf"0?{day}(?:st|nd|rd|th|er|го)?"
    kanji = japanese_numbers(date(2024, month, day))[1].removesuffix("日")
    months = japanese_numbers(date(2024, 1, month))[1].removesuffix("日")
    forms: Iterable[str] = (
        rf"(?<!\d){number} (?:of |de |do )?(?:{names})(?!{_LETTER})",
        rf"(?<!{_LETTER})(?:{names}) {number}(?!{_LETTER})",
        rf"(?<!\d){month}月{day}[日号](?!{_LETTER})",
        rf"(?<![一二三四五六七八九十]){months}月{kanji}[日号]",
    )
    return "|".join(forms)
