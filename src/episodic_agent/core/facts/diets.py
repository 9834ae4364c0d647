"""Whether a message is about eating, and whether a statement tells of an allergy or a diet.

What somebody must not eat answers "what shall I cook?" though it shares no word with it, and a model of one
language sees no likeness between the two in another. Both are told by words: `data/facts/diets.toml`.
"""

import re
from functools import cache

from episodic_agent.core.facts.stating import has_cue
from episodic_agent.core.language import fold
from episodic_agent.data import phrases


def is_about_eating(message: str) -> bool:
    """Tell whether a message is about what to eat, so that a diet matters to it.

    >>> [is_about_eating(text) for text in ("What should I cook?", "Akşama ne pişirsem?", "Where is my car?")]
    [True, True, False]
    """
    return _pattern("meals").search(_folded(message)) is not None


def tells_of_diet(statement: str) -> bool:
    """Tell whether a statement tells of an allergy, a diet or what somebody never eats or drinks.

    >>> texts = ("I'm allergic to nuts", "et yemiyorum", "Je ne bois plus d'alcool", "I had cake")
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
