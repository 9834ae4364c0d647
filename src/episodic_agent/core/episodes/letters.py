"""What of a mail is its frame: the greeting, the signature, and what stands at its sender's mails' end.

A mail is kept whole and found by all its words; titles and facts are read of what stands between. The frame
is told by its form, in any language: a short first line that ends in a comma, a line that is the sender's
name with the short line above it and all below, and a foot that the import saw in several mails of theirs.
Some are written in one line: there a salutation is told by its first word, and a signature is what follows
the last sentence where that is a name, with the closing before it.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from typing import Final

from episodic_agent.core.boundary.conversation.speech import speech
from episodic_agent.core.episodes.languages import abbreviated
from episodic_agent.core.language import words
from episodic_agent.data import listed_words
from episodic_agent.schemas import Observation

_MAILS: Final = 8  # of a sender that are compared
_LINES: Final = 30  # of a mail's end that are
FOOT: Final = "episodic.foot"  # among extras: the place where what the sender writes below every mail begins
MAIL: Final = "email"  # the channel
_GREETING: Final = 6  # words at most
_CLOSING: Final = 6
_NAME: Final = 5
_BELOW: Final = 12  # lines that may follow a signature's first: what is longer goes on
_NO_NAME: Final = re.compile(r"[\d:;@|!?…<>\[\]()]|\w{4,}\.$")
_SENTENCE_ENDS: Final = ("?", ":", ";", "？", "：", "；", "…")
_POSTSCRIPT: Final = re.compile(r"p\.? ?s\.?\b", re.IGNORECASE)
_SALUTED: Final = 6  # words of a salutation at most
_ITS_END: Final = re.compile(r"[,!，！:.]+(?:\s+|$)|$")
_WORD: Final = re.compile(r"[^\W\d]+(?:['’-][^\W\d]+)*")
_LAST_STOP: Final = re.compile(r"(?<=[\w)]{2})[.!?…]+\s+|[。！？]\s*")
_NAMED: Final = 3  # words of a name, or of a closing, in a line of its own mail
_NOTE: Final = re.compile(r"\[[^\[\]\n]+\]")  # what stands for something attached


def without_frames(observations: Iterable[Observation]) -> list[Observation]:
    """Return observations with blanks for the frames of mails: places stay the same."""
    return [without_frame(one) if one.channel == MAIL else one for one in observations]


def without_frame(observation: Observation) -> Observation:
    """Return a mail with blanks for its frame; as it is where nothing else would be left."""
    text = observation.text
    foot = observation.extras.get(FOOT)
    end = foot if isinstance(foot, int) and 0 < foot < len(text) else len(text)
    body = text[:end] + _blanks(text[end:])
    for start, end in frame_of(body, observation.actor):
        body = body[:start] + _blanks(body[start:end]) + body[end:]
    return replace(observation, text=body) if any(map(str.isalnum, body)) else observation


def frame_of(text: str, sender: str) -> list[tuple[int, int]]:
    r"""Return the places of a greeting and a signature in a mail.

    >>> text = "Dear Ana,\n\nthe van comes at nine.\n\nKind regards\nJo Berg\nBerg Ltd, 12 Mill Lane"
    >>> [text[start:end] for start, end in frame_of(text, "Berg Ltd")]
    ['Dear Ana,', 'Kind regards\nJo Berg\nBerg Ltd, 12 Mill Lane']
    >>> frame_of("Bring these\n\nTent\nRope", "Jo Berg")
    []
    """
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    written = [n for n, line in enumerate(lines) if line.strip() and not _NOTE.fullmatch(line.strip())]
    frame = []
    if len(written) > 1 and _greets(lines[written[0]]):
        frame.append((starts[written[0]], starts[written[0] + 1] - 1))
        written = written[1:]
    elif written and (greeted := salutation(lines[written[0]])) < len(lines[written[0]].rstrip()):
        frame += [(starts[written[0]], starts[written[0]] + greeted)] if greeted else []
    signed = _signature(lines, written, frozenset(words(sender)))
    if signed is None and written:
        n = written[-1]
        closed = _closed_by(lines[n], frozenset(words(sender)))
        frame += [] if closed is None else [(starts[n] + closed, starts[n] + len(lines[n]))]
    if signed is not None:
        after = (n for n in written if n > signed and _POSTSCRIPT.match(lines[n].lstrip()))
        frame.append((starts[signed], starts[next(after, written[-1] + 1)] - 1))
    return frame


def _greets(line: str) -> bool:
    return line.rstrip().endswith((",", "，", "、")) and len(words(line)) <= _GREETING


def salutation(text: str) -> int:
    """Return how many characters of a text, from its start, greet somebody and say nothing else.

    >>> text = "Dear Ms Haddad, the van comes at nine."
    >>> text[salutation(text):], salutation("Dear me, that is late"), salutation("Good bread, she says")
    ('the van comes at nine.', 0, 0)
    """
    called: list[str] = []
    place = 0
    while len(called) <= _SALUTED and (word := _WORD.match(text, place)):
        called.append(word.group())
        if len(called) == 1 and called[0].casefold() not in _salutations():
            return 0  # whatever follows: hardly a sentence greets
        place = word.end()
        if text[place : place + 2] == ". " and called[-1].casefold() in abbreviated():
            place += 1
        if end := _ITS_END.match(text, place):
            return end.end() if _salutes(called) else 0
        place += text[place : place + 1] == " "
    return 0


def _salutes(called: Sequence[str]) -> bool:
    """Tell whether words greet somebody: the last are a name, or what stands for one behind "hi"."""
    first, *others = called
    if first.casefold() not in _salutations() or not others:
        return False
    small = [word.islower() for word in others]
    if speech(first)[0].greets and len(others) <= _NAMED:
        return not small[0] or len(others) == 1
    return not small[-1] and small == sorted(small, reverse=True)


@cache
def _salutations() -> frozenset[str]:
    return listed_words("language/fillers.salutations")


def _closed_by(line: str, sender: frozenset[str]) -> int | None:
    """Return where the signature begins that follows the last sentence of a line; None without one."""
    stop = max((match.end() for match in _LAST_STOP.finditer(line)), default=0)
    parts = [part.strip() for part in line[stop:].split(",")]
    if not stop or not parts[0] or max(len(part.split()) for part in parts) > _NAME:
        return None
    for place, part in enumerate(parts):
        if _is_name(part) and not sender.isdisjoint(words(part)):
            return stop if all(_closes(one) and len(one.split()) <= _NAMED for one in parts[:place]) else None
    alone = len(parts) == 1 and len(parts[0].split()) <= _NAMED and _is_name(parts[0])
    return stop if alone else None


def _signature(lines: Sequence[str], written: Sequence[int], sender: frozenset[str]) -> int | None:
    """Return the first line of the signature; None without one, or where nothing stands before it."""
    for place, n in enumerate(written[1:], 1):
        if len(written) - place > _BELOW:
            continue
        line = lines[n].strip()
        closing, _, name = line.rpartition(",")
        if closing and len(words(closing)) <= _CLOSING and _apart(lines, n) and _is_senders(name, sender):
            return n
        last = place == len(written) - 1 and _apart(lines, n) and _is_name(line)
        if not (last or _is_senders(line, sender)):
            continue
        above = written[place - 1]
        if place > 1 and _closes(lines[above]) and (_apart(lines, above) or not _apart(lines, n)):
            return above if _apart(lines, above) else n
        if last or _apart(lines, n):
            return n
    return None


def _apart(lines: Sequence[str], n: int) -> bool:
    """Tell whether a line begins a paragraph."""
    return n == 0 or not lines[n - 1].strip()


def _closes(line: str) -> bool:
    line = line.strip()
    return (
        len(words(line)) <= _CLOSING
        and not line.endswith((".", *_SENTENCE_ENDS))
        and not re.search(r"\d", line)
    )


def _is_senders(line: str, sender: frozenset[str]) -> bool:
    named = frozenset(words(line))
    holds = (
        bool(sender) and sender <= named and len(line.split()) <= _NAME and not _NO_NAME.search(line.strip())
    )
    return holds or (_is_name(line) and not sender.isdisjoint(named))


def _is_name(line: str) -> bool:
    """Tell a line that may be a name: a few words, each with a capital where its script has them."""
    parts = line.split()
    if not 0 < len(parts) <= _NAME or _NO_NAME.search(line.strip()):
        return False
    return not any(part[0].islower() for part in parts) and any(map(str.isalpha, line))


def _blanks(text: str) -> str:
    return "".join(sign if sign == "\n" else " " for sign in text)


class Feet:
    """Learns how the mails of each sender end, and tells where a foot begins."""

    def __init__(self) -> None:
        self._ends: dict[str, Counter[int]] = {}
        self._bodies: dict[str, set[int]] = {}

    def learn(self, sender: str, text: str) -> None:
        """Take in one mail; the same one again says nothing."""
        bodies = self._bodies.setdefault(sender, set())
        if hash(text) not in bodies and len(bodies) < _MAILS:
            bodies.add(hash(text))
            self._ends.setdefault(sender, Counter()).update({end for _, end in _ends(text)})

    def begin(self, sender: str, text: str) -> int | None:
        """Return where the foot of a mail begins, None without one or where the mail is nothing else.

        >>> feet = Feet()
        >>> for text in ("The van comes.\\n\\nBerg Ltd\\nPrivate", "Nine is fine.\\n\\nBerg Ltd\\nPrivate"):
        ...     feet.learn("berg", text)
        >>> text[feet.begin("berg", text):]
        'Berg Ltd\\nPrivate'
        """
        counts = self._ends.get(sender, Counter())
        start = None
        for place, end in _ends(text):
            if counts[end] < 2:
                break
            start = place
        return start or None


def _ends(text: str) -> list[tuple[int, int]]:
    """Return the ends of a text, shortest first: where each begins, and what tells it from others."""
    ends: list[tuple[int, int]] = []
    place, behind = len(text), 0
    for line in reversed(text.split("\n")):
        place -= len(line)
        if line.strip():
            behind = hash((line.strip(), behind))
            ends.append((place, behind))
        place -= 1
        if len(ends) == _LINES:
            break
    return ends
