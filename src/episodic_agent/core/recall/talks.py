"""Names by which a question may mean a thread or a channel as such: "in #harbor", "im Kanal harbor".

Whether something is called so only the memory knows: it is asked for each of a few names.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import Final, NamedTuple

from episodic_agent.core.language.dayparts import without
from episodic_agent.core.language.timewords import normal
from episodic_agent.data import phrases

_DATA: Final = "recall/talks"
_LONGEST: Final = 400  # characters of a question
_MOST: Final = 12  # names that are looked up
_NAME: Final = r"(?:[^\W぀-鿿]|[.\-](?=\w))+"  # characters without spaces end it
_MORE: Final = rf"{_NAME}(?: {_NAME}){{0,2}}"
_TRIED: Final = re.compile(r" ")


class TalkName(NamedTuple):
    """A name that may be a thread's or a channel's, and the question without the words that name it.

    `sure` tells that nothing else can be meant: it stands behind # or beside "channel".
    """

    name: str
    rest: str
    sure: bool


def talk_names(question: str) -> list[TalkName]:
    """Return the names a question may mean a thread or channel by, the sure and longer ones first.

    >>> [(one.name, one.sure) for one in talk_names("what happened in the harbor channel?")]
    [('harbor', True), ('harbor channel', False), ('harbor', False)]
    >>> talk_names("what happened yesterday in #ops?")[0].rest.split()
    ['what', 'happened', 'yesterday', '?']
    """
    if len(question) > _LONGEST:
        return []
    folded = normal(question)
    if len(folded) != len(question):  # then nothing stands where it stood
        question = folded
    return list(dict.fromkeys(_read(question, folded)))[:_MOST]


def _read(question: str, folded: str) -> Iterator[TalkName]:
    for sure, pattern in _patterns():
        for match in pattern.finditer(folded):
            start, end = match.span("name")
            ends = [end, *(space.start() + start for space in reversed(list(_TRIED.finditer(match["name"]))))]
            for last in sorted({*ends}, reverse=True):
                behind = match.end() if last == end else last
                yield TalkName(question[start:last], without(question, [(match.start(), behind)]), sure)


@cache
def _patterns() -> list[tuple[bool, re.Pattern[str]]]:
    before, article, kinds = (
        "|".join(sorted(map(re.escape, phrases(f"{_DATA}.{name}")), key=len, reverse=True))
        for name in ("before", "article", "kinds")
    )
    lead = rf"(?:(?<!\w)(?:{before})\s*(?:(?<=\s)(?:{article})\s+)?)"
    return [
        (True, re.compile(rf"{lead}?#(?P<name>{_NAME})(?:\s+(?:{kinds})(?!\w))?")),
        (True, re.compile(rf"{lead}(?:{kinds})\s+(?P<name>{_NAME})(?!\w)")),
        (True, re.compile(rf"{lead}(?P<name>{_NAME})[\s-]*(?:{kinds})(?!\w)")),
        (False, re.compile(rf"(?<!\w)(?:{before})\s+(?:(?:{article})\s+)?(?P<name>{_MORE})(?!\w)")),
    ]
