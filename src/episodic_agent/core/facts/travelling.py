"""Does a standing wish hold wherever somebody works, or in the project alone where it was said?

Most rules are of a place: how to install, test, commit. How to answer somebody is theirs, and holds in every
project, unless its words bind it to one: "here", "in this repo", the name of the folder, or what is made
there ("commits in German"). Read from closed lists of words (`data/facts/travelling.toml`), in all languages
at once; what no list knows stays where it was said, as it would without them.
"""

from collections.abc import Iterable
from functools import cache
from os.path import basename
from typing import Final

from episodic_agent.core.language import words
from episodic_agent.data import phrases, tables
from episodic_agent.schemas.facts import Category

_LISTS: Final = "facts/travelling"


def travels(category: Category, texts: Iterable[str], folders: Iterable[str] = ()) -> bool:
    """Tell whether a fact is a wish that holds in every project, by the texts it stands in.

    `folders` are those of the projects that are known: a wish that names one is not for all.

    >>> wish = Category.GUIDELINE
    >>> travels(wish, ["please always answer short"]), travels(wish, ["in this repo answer in English"])
    (True, False)
    >>> travels(wish, ["in harbor, answer short"], ["/home/ana/harbor"]), travels(wish, ["use uv, not pip"])
    (False, False)
    """
    if category is not Category.GUIDELINE:
        return False
    lines = [f" {' '.join(words(text))} " for text in texts]
    names = {" ".join(words(basename(folder))) for folder in folders} - {""}
    bound = [*_words("place"), *_words("work"), *names]
    if any(f" {word} " in line for line in lines for word in bound):
        return False
    return any(f" {word} " in line for line in lines for word in _words("answers"))


@cache
def _words(name: str) -> tuple[str, ...]:
    """Return a list's words of all languages, folded as texts are."""
    entries = (entry for language in tables(_LISTS) for entry in phrases(f"{_LISTS}.{language}.{name}"))
    return tuple(dict.fromkeys(" ".join(words(entry)) for entry in entries))
