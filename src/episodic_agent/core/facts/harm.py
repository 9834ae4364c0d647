"""What harms a person, an allergy, a diet, an illness: when later words may end it, and when they deny it.

A wrong end costs more here than a fact too many. "I told him of the penicillin, he changed the drug" confirms
what it names, as does "forgot my tablets again"; a second allergy is no change of the first, nor is a
daughter's one of one's own. So what harms ends by a clause alone that denies it and names what it is of, if
no other clause affirms it. What only changes, a dose or an hour, is told beside it, the newer last. What
harms is told to who asks what to eat, though a model of another language sees no likeness: their words are
`data/facts/diets.toml`.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import Final, NamedTuple

from episodic_agent.core.facts.stating import has_cue
from episodic_agent.core.language import fold, tokens
from episodic_agent.core.recall.alone import QUESTION_MARKS
from episodic_agent.data import phrases

# Stems of words for being harmed by what they name: they are shared by any two such things.
_HARMED_BY: Final = (
    "allerg",
    "alerg",
    "аллерг",
    "intol",
    "uczul",
    "アレルギー",
    "알레르기",
    "过敏",
    "過敏",
)
_UNSPACED: Final = re.compile("|".join(stem for stem in _HARMED_BY if len(tokens(stem)) > 1))
_CLAUSE: Final = re.compile(r"[.,;:!?\n。，、；：！？]+")


class HarmClause(NamedTuple):
    """A clause about a harm: what it names by stems, if it denies it, if another person has it."""

    named: frozenset[str]
    denies: bool
    of_others: bool


def denies_harm(words: str) -> bool:
    """Tell whether words deny that something harms: "not allergic after all"; a question denies nothing.

    >>> denies_harm("The test says I'm not allergic to nuts."), denies_harm("No nuts, I'm allergic")
    (True, False)
    """
    if not has_cue(words, "care") or _is_asked(words):  # hardly any names what may harm
        return False
    return any(clause.denies for clause in _clauses(words))


def may_end(newer: str, older: str) -> bool:
    """Tell whether words may take the place of others at all: what harms goes by words that deny it.

    >>> may_end("I'm allergic to penicillin.", "I'm allergic to nuts.")
    False
    >>> may_end("The test says I'm not allergic to nuts.", "I'm allergic to nuts.")
    True
    >>> may_end("I eat fish, so I'm not a vegetarian any more", "I'm vegetarian since May")
    True
    >>> may_end("I said I'm allergic to nuts and got cake instead", "I'm allergic to nuts")
    False
    """
    if not has_cue(older, "care"):
        return True
    before = next(_clauses(older), None)
    about = [one for one in _clauses(newer) if one.named & _named(older)]
    same = before is None or all(one.of_others == before.of_others for one in about)
    return bool(about) and same and all(one.denies for one in about) and not _is_asked(newer)


def _clauses(words: str) -> Iterator[HarmClause]:
    for clause in _CLAUSE.split(words):
        if has_cue(clause, "care"):
            others = has_cue(clause, "third") or has_cue(clause, "kin")
            yield HarmClause(_named(clause), has_cue(clause, "negation"), others)


def _is_asked(words: str) -> bool:
    return words.rstrip().endswith(QUESTION_MARKS)


def _named(words: str) -> frozenset[str]:
    """Return the terms of words but for those that say of something that it harms."""
    # scripts without spaces are read in pairs of letters, so that the word for it goes first
    rest = _UNSPACED.sub(" ", words)
    return frozenset(term for term in tokens(rest) if not any(stem in term for stem in _HARMED_BY))


def is_about_eating(message: str) -> bool:
    """Tell whether a message is about what to eat, so that a diet matters to it.

    >>> [is_about_eating(text) for text in ("What should I cook?", "Akşama ne pişirsem?", "Where is my car?")]
    [True, True, False]
    """
    return _pattern("meals").search(_folded(message)) is not None


def tells_of_diet(statement: str) -> bool:
    """Tell whether a statement tells of an allergy, a diet or what somebody never eats or drinks.

    >>> texts = ("I'm allergic to nuts", "et yemiyorum", "Je ne mange pas de porc", "I had cake")
    >>> [tells_of_diet(text) for text in texts]
    [True, True, True, False]
    """
    folded = _folded(statement)
    if _pattern("harms").search(folded) or _pattern("denying").search(folded):
        return True
    return has_cue(statement, "negation") and _pattern("eating").search(folded) is not None


def _folded(text: str) -> str:
    return re.sub(r"\w+", lambda match: fold(match.group()), text)


@cache
def _pattern(name: str) -> re.Pattern[str]:
    address = f"facts/diets.{name}"
    words, stems, signs = (_any(phrases(f"{address}.{kind}")) for kind in ("words", "stems", "signs"))
    return re.compile(rf"(?<!\w)(?:(?:{words})(?!\w)|(?:{stems}))|(?:{signs})")


def _any(forms: tuple[str, ...]) -> str:
    return "|".join(map(re.escape, forms)) or "(?!)"
