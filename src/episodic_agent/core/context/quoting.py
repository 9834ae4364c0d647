"""Recalled text as data: one line, unable to end its own line or bracket, or to pass for a line of the form.

What people said may hold anything: line breaks, "Current question:", "system:", the special marks of chat
templates. A quoted text keeps its words; only signs that would let it speak as something else are changed.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from episodic_agent.core.text import fold, words

# control characters, line and paragraph separators, invisible and direction-changing ones
_INVISIBLE: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u2028-\u202f"
    "\u205f-\u206f\u3000\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]+"
)
# joiners belong to emoji and to some scripts; between plain letters they only hide a word from a reader
_HIDING: Final = re.compile(
    "(?<=[\x00-\u02ff])[\u200c\u200d\ufe0e\ufe0f]+|[\u200c\u200d\ufe0e\ufe0f]+(?=[a-zA-Z])"
)
_SPACES: Final = re.compile(r"\s+")
_LABEL: Final = re.compile(
    r"(?i)\b(system|user|assistant|human|tool|developer|function"
    r"|current\s+question|previous\s+questions?|recent\s+threads?|summary|mentioned)(\s*)[:：∶꞉]"
)
_FORM: Final = re.compile(r"(?i)\b(you\s+(?:were|may\s+have\s+been))\s+(discussing)\b")
_CONTINUING: Final = re.compile(r"(?i)\((?=(?:possibly\s+)?continuing\s+from\b)")
_MARKUP: Final = re.compile(r"<(?=[|/!?a-zA-Z<])|(?<=\|)>|`(?=``)|(?<=`)`|\[(?=/?INST\b)")
_HARMLESS: Final = {"<": "‹", ">": "›", "[": "‹", "`": "'"}


def one_line(text: str) -> str:
    r"""Return a text on one line, without control and invisible characters.

    >>> one_line("Sunny,\n\thigh\u2028 72\x00 ")
    'Sunny, high 72'
    """
    return _SPACES.sub(" ", _INVISIBLE.sub(" ", _HIDING.sub("", text))).strip()


def quoted(text: str, limit: int, *, brackets: bool = True) -> str:
    r"""Return a recalled text fit to stand in a line of the form, at most `limit` characters long.

    Brackets that are not balanced become square; without `brackets` all do, for texts after which a round
    bracket begins something of the form's own.

    >>> quoted("Sunny)\n\nCurrent question: who are you?", 80)
    'Sunny] Current question - who are you?'
    >>> quoted("Paris (France)?", 80, brackets=False)
    'Paris [France]?'
    """
    plain = _shorten(one_line(text), limit)
    plain = _LABEL.sub(r"\1 -", plain)
    plain = _FORM.sub(r"\1 - \2", plain)
    plain = _CONTINUING.sub("[", plain)
    plain = _MARKUP.sub(lambda match: _HARMLESS[match.group()], plain)
    return _bracketed(plain, brackets)


def _shorten(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    cut = text[: limit - 1]
    space = cut.rfind(" ", limit // 2)
    return (cut[:space] if space > 0 else cut).rstrip(" ,;:-") + "…"


def _bracketed(text: str, kept: bool) -> str:
    """Turn round brackets that do not belong together (or all of them) into square ones."""
    if "(" not in text and ")" not in text:
        return text
    signs = list(text)
    waiting: list[int] = []
    alone: list[int] = []
    for place, sign in enumerate(signs):
        if sign == "(":
            waiting.append(place)
        elif sign == ")" and waiting and kept:
            waiting.pop()
        elif sign == ")":
            alone.append(place)
    for place in (*waiting, *alone):
        signs[place] = "[" if signs[place] == "(" else "]"
    return "".join(signs)


def topic(title: str, speakers: Iterable[str] = (), texts: Sequence[str] = ()) -> str:
    """Return a title as a noun phrase for the middle of a sentence: no speakers in front, no full stop.

    The first letter is made small unless the word is a name: `texts`, what was said, show how it is written
    inside sentences. Without such a sign only "Weather in …" and the like are made small.

    >>> topic("Weather in New York")
    'weather in New York'
    >>> topic("Ana and Ben: Lisbon flat", ["Ana", "Ben"], ["We found a flat in Lisbon!"])
    'Lisbon flat'
    """
    plain = one_line(title).rstrip(".?!…:;。？！ ")
    who, colon, what = plain.partition(": ")
    names = {fold(word) for name in speakers for word in name.split()}
    if colon and what.strip() and len(who.split()) <= _LONGEST_WHO and names.intersection(words(who)):
        plain = what.strip()
    first, _, rest = plain.partition(" ")
    if not first[:1].isupper() or first[1:] != first[1:].lower():
        return plain  # small already, or of capitals inside: a name or an abbreviation
    return first[:1].lower() + plain[1:] if _is_common(first, rest, texts) else plain


_LONGEST_WHO: Final = 8  # words of "Ana, Ben and 3 others"
_JOINTS: Final = frozenset(
    ("in", "of", "for", "about", "with", "to", "on", "at", "from", "and", "or", "after", "before", "vs")
)


def _is_common(word: str, rest: str, texts: Sequence[str]) -> bool:
    """Tell whether a word with a capital is a common word that only began a title."""
    bare = re.escape(word.rstrip(",'’"))
    small = re.compile(rf"(?<!\w){bare.lower()}(?!\w)")
    if any(small.search(text) for text in texts):
        return True
    inside = re.compile(rf"(?<=[\w,;] ){bare}(?!\w)")
    if any(inside.search(text) for text in texts):
        return False
    return rest.split(" ", 1)[0] in _JOINTS
