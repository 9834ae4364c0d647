"""Does a standing wish hold wherever somebody works, or in the project alone where it was said?

Most rules are of a place: how to install, test, commit. How to answer somebody is theirs, and holds in every
project, unless its words bind it to one: "here", "in this repo", the name of the folder, or what is made
there ("commits in German"). What names all projects ("in none of my repos", "everywhere") holds in all. Read
from closed lists of words (`data/facts/travelling.toml`), in all languages at once; what no list knows stays
where it was said, as it would without them.
"""

import re
from collections.abc import Iterable, Sequence
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
    >>> travels(wish, ["never force-push, in none of my repos"]), travels(wish, ["never force-push"])
    (True, False)
    >>> travels(wish, ["in harbor, answer short"], ["/home/ana/harbor"]), travels(wish, ["use uv, not pip"])
    (False, False)
    """
    if category is not Category.GUIDELINE:
        return False
    lines = [f" {' '.join(words(text))} " for text in texts]
    names = {" ".join(words(basename(folder))) for folder in folders} - {""}
    if _holds_one(lines, (*_words("place"), *names)):
        return False
    if any(_every_project().search(line) for line in lines):
        return True
    return not _holds_one(lines, _words("work")) and _holds_one(lines, _words("answers"))


def _holds_one(lines: Sequence[str], some: Sequence[str]) -> bool:
    return any(f" {phrase} " in line for line in lines for phrase in some)


@cache
def _every_project() -> re.Pattern[str]:
    every, of, projects, anywhere = (
        "|".join(map(re.escape, _words(name))) for name in ("all", "of", "projects", "everywhere")
    )
    return re.compile(rf" (?:{anywhere}) | (?:{every}) (?:(?:{of}) ){{0,3}}(?:{projects}) ")


@cache
def _words(name: str) -> tuple[str, ...]:
    """Return a list's words of all languages, folded as texts are."""
    entries = (entry for language in tables(_LISTS) for entry in phrases(f"{_LISTS}.{language}.{name}"))
    return tuple(dict.fromkeys(" ".join(words(entry)) for entry in entries))
