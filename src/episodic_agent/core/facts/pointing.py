"""Does a statement say nothing by itself, since it points to what was said before it?

A fact is read months later with nothing around it: "His name is Mr. Dalton", "Same dates, 11 to 25 July".
What a pronoun stands for may be named in the statement itself ("My sister said she is vegan"); such a one
stands alone. Read from closed classes of words by language (`data/facts/pointing.toml`); the language is the
one most of whose function words a statement has.
"""

import re
from datetime import UTC, datetime
from functools import cache, lru_cache
from typing import Final

from episodic_agent.core.facts.stating import has_cue
from episodic_agent.core.language import words
from episodic_agent.core.language.terms import stop_words
from episodic_agent.core.language.timewords import parse_time
from episodic_agent.data import phrases, text, texts

# Words of content before a pronoun that name what it stands for: "allergic to walnuts, even traces of them".
_TOLD_BEFORE: Final = 3
_SOME_DAY: Final = datetime(2026, 3, 2, tzinfo=UTC)
_IDEOGRAPHS: Final = re.compile("[\u3400-\u9fff]")
_KANA: Final = re.compile("[\u3040-\u30ff]")
# "No thanks, …", but not "ok birthday: …": that says of what it will be
_ENDS_A_WORD: Final = re.compile(r"^\W*[^\W\d_]+(?:\s*:|(?:[ '’][^\W\d_]+)?\s*[,.;!?…–—-])")
_FIRST: Final = re.compile(r"^\W*([^\W\d_][\w'’-]*)(?=\s+[^\W_])")
# a capital in the middle of a sentence: a name, in German any noun
_NAME: Final = re.compile(r"(?<=[\w,;] )[^\W\d_a-z][\w'’-]*[^\W\d_]")


@lru_cache(maxsize=4_096)
def points_back(statement: str) -> bool:
    """Tell whether a statement needs what was said before it to say anything.

    >>> points_back("Her teacher is Mrs. Kainz."), points_back("My sister said she is vegan.")
    (True, False)
    >>> points_back("Not yet, I see one on Tuesday."), points_back("Ok lunch: at noon on the 14th")
    (True, False)
    """
    if _KANA.search(statement):
        return False
    if _IDEOGRAPHS.search(statement):
        begins = re.match(rf"\W*(?:{text('facts/pointing.han.begins')}|{_han('opening')})", statement)
        return bool(begins or re.search(_han("inside"), statement))
    row = words(statement)
    line = f" {' '.join(row)} "
    return any(_points(statement, line, language) for language in _languages(tuple(row)))


def _points(statement: str, line: str, language: str) -> bool:
    plain = _any("idle", language).sub(" | ", line)
    if _any("opening", language).match(plain) or _any("inside", language).search(plain):
        return True
    answers = _any("answers", language).match(line) and _ENDS_A_WORD.match(statement)
    if answers and not has_cue(statement, "self"):
        return True
    pronoun = _any("pronouns", language).search(plain)
    if pronoun is None:
        return False
    before = plain[: pronoun.start() + 1]
    if _any("naming", language).search(before) or _names(statement, language, before):
        return False
    known = stop_words()[language]
    return sum(word not in known and word != "|" for word in before.split()) < _TOLD_BEFORE


def _names(statement: str, language: str, before: str) -> bool:
    """Tell whether a name, or in German a noun, stands among the words before."""
    names = [found[0] for found in _NAME.finditer(statement)]
    first = _FIRST.match(statement)
    names += [first[1]] if first and first[1][:1].isupper() else []
    known = stop_words()[language]
    rows = [row for name in names if (row := words(name)) and row[0] not in known]
    rows = [row for row in rows if not parse_time(row[0], _SOME_DAY)]  # Thursday is nobody's name
    return has_cue(before, "kin") or any(f" {' '.join(row)} " in before for row in rows)


def _languages(row: tuple[str, ...]) -> list[str]:
    """Return the languages most of whose function words are there; none where there are none."""
    hits = {name: sum(word in known for word in row) for name, known in stop_words().items()}
    most = max(hits.values())
    return [name for name, count in hits.items() if most and count == most and name in _listed()]


@cache
def _listed() -> frozenset[str]:
    return frozenset(texts("facts/pointing")) - {"han"}


@cache
def _any(name: str, language: str) -> re.Pattern[str]:
    forms = sorted((" ".join(words(one)) for one in phrases(f"facts/pointing.{language}.{name}")), key=len)
    return re.compile(rf" (?:{'|'.join(map(re.escape, forms[::-1]))})(?= )") if forms else re.compile(r"(?!)")


def _han(name: str) -> str:
    return str(text(f"facts/pointing.han.{name}"))
