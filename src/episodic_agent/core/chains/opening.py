"""How a session opens: going on with something, announcing something new, or on somebody else's behalf.

Forms are folded as `core.text.words` leaves them: lower case, without accents; an apostrophe splits a word.
Chinese has no spaces: its phrases are looked up as substrings. The lists hold closed classes of words.
"""

import re
from dataclasses import dataclass
from typing import Final

from episodic_agent.core.language import sentences, words
from episodic_agent.core.language.phrases import phrase_pattern, unspaced_pattern
from episodic_agent.core.links.features import cues, dependence
from episodic_agent.data import phrase_set, texts

_IDEOGRAPHS: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_EARLY: Final = 2  # short words that may stand before a deictic opener
_HAN_EARLY: Final = 6


@dataclass(frozen=True, slots=True)
class OpeningCues:
    """What the first words of a session do; each 0 or 1.

    `deictic` goes on ("back to", "still"), `new` announces another matter, `others` speaks for somebody else,
    `asks` is a request or a question of its own.
    """

    deictic: float = 0.0
    new: float = 0.0
    others: float = 0.0
    asks: float = 0.0


def opening(text: str) -> OpeningCues:
    """Read how a session's first message opens it, in any of the languages of the lists.

    >>> opening("Back to the leak: both dumps are in.").deictic, opening("Weiter mit der Küche").deictic
    (1.0, 1.0)
    >>> opening("Totally different: would a cat help?").new, opening("A customer wants oak doors").others
    (1.0, 1.0)
    """
    line = _line(text)
    first = _line(next(iter(sentences(text)), text))
    deictic = phrase_pattern("chains/opening.deictic").search(" ".join(["", *line.split()[: _EARLY + 4], ""]))
    is_knowns = {
        "deictic": deictic is not None and deictic.start() <= _reach(line),
        "new": phrase_pattern("chains/opening.new").search(line) is not None
        or _novel(first)
        or cues(text).new_subject,
        "others": phrase_pattern("chains/opening.others").search(line) is not None,
        "asks": dependence(text).fresh > 0.0
        or phrase_pattern("chains/opening.wishes").search(line) is not None,
    }
    if _IDEOGRAPHS.search(text):
        for name in texts("chains/opening.han"):
            read = text.strip()[:_HAN_EARLY] if name == "deictic" else text
            is_knowns[name] = (
                is_knowns[name] or unspaced_pattern(f"chains/opening.han.{name}").search(read) is not None
            )
    return OpeningCues(**{name: float(value) for name, value in is_knowns.items()})


def _novel(first: str) -> bool:
    """Say whether the first words name something as new: "new idea", but not "another attempt"."""
    match = phrase_pattern("chains/opening.novel").match(first)
    if match is None:
        return False
    following = first[match.end() :].split()[:1]
    return bool(following) and following[0] not in phrase_set("chains/opening.novel_but_old")


def _reach(line: str) -> int:
    """Return where the last short word ends after which a deictic opener still opens."""
    place = 0
    for word in line.split()[:_EARLY]:
        place += len(word) + 1
    return place


def _line(text: str) -> str:
    return f" {' '.join(words(text))} "
