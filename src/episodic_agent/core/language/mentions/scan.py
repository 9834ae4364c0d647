"""A text cut into words with what their writing tells: the one pass that all rules read.

A rule hands on a `Match`: one stretch of words read as something, with its value. Short word lists are
written in code as one text (`listed`), long ones are data files (`episodic_agent.data`).
"""

import re
from bisect import bisect_left
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from episodic_agent.core.language import fold
from episodic_agent.schemas.mentions import Kind


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(text.split())


class WordMatch(NamedTuple):
    """Read the words `first..last` (both included) as a `kind` with a `value`."""

    kind: Kind
    value: str
    first: int
    last: int


_SKIPPED: Final = (
    r"```[\s\S]*?(?:```|\Z)|`[^`\n]+`|\\\(.*?\\\)|"  # code and formulas
    r"(?:https?://|www\.)\S+|[\w.+-]{1,64}@[\w-]+\.[\w.-]+|"  # addresses
    r"[@#][^\W\d]\w+|<[a-z/]+>"  # handles, tags
)
# A number with its inner signs; letters may follow (4pm, 2.5MB) and are cut off by `numbers`.
_NUMBER: Final = r"(?<!\w)\d+(?:[.,:/-]\d+)*(?:[A-Za-z]{1,4}(?![\w]))?"
_LETTER: Final = r"[^\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]"  # of scripts with spaces between words
_JOINT: Final = r"(?:['’&+-]|/(?=[A-Z]{2}|h\b)|\.(?![A-Z][a-z])|\*(?=[A-Z]))"
_WORD: Final = rf"(?:[^\W\d_]\.){{2,}}|{_LETTER}+(?:{_JOINT}{_LETTER}+)*(?:\+\+|[+#](?!\w))?"
_TO_SKIP: Final = re.compile(r"[@#`<\\]|://|www\.")
_SENTENCE_END: Final = re.compile(r"[.!?…\n•*:;。！？：【】—–|>]|\s-\s|^\s*[-\[(\"“]")
_LOWER_SHARE: Final = 0.7


class Word(NamedTuple):
    """Tell what a word's writing says: its folded form without a possessive and its shape.

    Shapes: l lower case, C one leading capital, I a single capital, A all capitals, M capitals inside,
    d beginning with a digit, o letters without case.
    """

    low: str
    shape: str
    possessive: int


@dataclass(slots=True)
class ScannedText:
    """Hold a text's words in order: as written, folded, their shapes, places and what stands before them.

    `opens` says that a word begins a sentence, a line, a bracket or what follows a colon: its capital says
    little. `titled` says that all words around are capitalised (a heading).
    """

    text: str
    words: list[str]
    lows: list[str]
    shapes: list[str]
    starts: list[int]
    ends: list[int]
    opens: list[bool]
    titled: list[bool]
    shouted: bool

    def within(self, begin: int, end: int) -> range:
        """Return the words that begin between two places of the text."""
        return range(bisect_left(self.starts, begin), bisect_left(self.starts, end))

    def gap(self, index: int) -> str:
        """Return what stands between a word and the one before it."""
        return self.text[self.ends[index - 1] if index else 0 : self.starts[index]]

    def after(self, index: int) -> str:
        """Return what stands between a word and the next one, or up to the end."""
        last = index + 1 >= len(self.starts)
        return self.text[self.ends[index] : len(self.text) if last else self.starts[index + 1]]


# Names that end in a possessive of their own.
_OWN_S: Final = word_set(
    """
    mcdonald's wendy's domino's macy's lowe's kellogg's sainsbury's levi's moody's denny's applebee's chili's
    arby's hershey's kohl's sotheby's christie's lloyd's reese's
    """
)


@lru_cache(maxsize=65_536)
def read_word(word: str) -> Word:
    """Return what a word's writing says; a possessive ending is no part of the folded form.

    >>> read_word("Anna's"), read_word("iPhone").shape, read_word("U.S.").low
    (Word(low='anna', shape='C', possessive=2), 'M', 'u.s.')
    """
    possessive = 2 if word[-2:].lower() in {"'s", "’s"} and len(word) > 2 else 0
    if possessive and word.lower().replace("’", "'") in _OWN_S:
        possessive = 0
    bare = word[:-possessive] if possessive else word
    return Word(fold(bare.replace("’", "'")), _shape(bare), possessive)


def _shape(word: str) -> str:
    if word[0].isdigit():
        return "d"
    letters = [character for character in word if character.isalpha()]
    upper = sum(map(str.isupper, letters))
    if not upper:
        return "l" if any(map(str.islower, letters)) else "o"
    if upper == len(letters):
        return "I" if upper == 1 else "A"
    if word[0].isupper() and all(part[:1].isupper() == part[:1].isalpha() for part in _parts(word)):
        inner = sum(sum(map(str.isupper, part[1:])) for part in _parts(word))
        return "M" if inner else "C"
    return "C" if word[0].isupper() and upper == 1 else "M"


@lru_cache(maxsize=16_384)
def _parts(word: str) -> tuple[str, ...]:
    return tuple(part for part in re.split(r"['’&.+/-]", word) if part)


@lru_cache(maxsize=2)
def _pattern(plain: bool) -> re.Pattern[str]:
    """Compile the words' pattern when first used (20 ms).

    Most messages are ASCII and hold nothing to pass over: for them the same words in half the time.
    """
    if plain:
        word = _WORD.replace(_LETTER, "[a-zA-Z0-9]")
        return re.compile(rf"(?P<number>{_NUMBER}(?!\w))|(?P<word>{word})", re.ASCII)
    return re.compile(rf"(?P<skip>{_SKIPPED})|(?P<number>{_NUMBER}(?!\w))|(?P<word>{_WORD})")


def scan(text: str) -> ScannedText:
    """Cut a text into words. Code, addresses, handles and tags are passed over.

    >>> reading = scan("Ana's in NYC. See https://a.b #fun")
    >>> reading.lows, reading.shapes, reading.opens
    (['ana', 'in', 'nyc', 'see'], ['C', 'l', 'A', 'C'], [True, False, False, True])
    """
    words: list[str] = []
    lows: list[str] = []
    shapes: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    opens: list[bool] = []
    commas: list[int] = []
    marked_up: set[int] = set()
    last = 0
    for match in _pattern(text.isascii() and not _TO_SKIP.search(text)).finditer(text):
        kind = match.lastgroup
        start, end = match.span()
        if kind == "skip":
            continue
        word = match.group()
        low, shape, possessive = read_word(word)
        words.append(word)
        lows.append(low)
        shapes.append(shape)
        starts.append(start)
        ends.append(end - possessive)
        gap = text[last:start]
        if gap == ", ":
            commas.append(len(opens))
        elif "#" in gap or "**" in gap:
            marked_up.add(len(opens))
        opens.append(
            last == 0
            or (gap != " " and _SENTENCE_END.search(gap) is not None and not _abbreviated(words, gap))
        )
        last = end
    return ScannedText(
        text,
        words,
        lows,
        shapes,
        starts,
        ends,
        opens,
        _titled(shapes, opens, lows, commas, marked_up),
        _shouted(shapes),
    )


def _abbreviated(words: list[str], gap: str) -> bool:
    """Say whether the dot before the last word ends an abbreviation: "Dr. Lee", "John F. Kennedy"."""
    before = words[-2] if len(words) > 1 else ""
    return gap == ". " and (before.lower() in _ABBREVIATIONS or (len(before) == 1 and before.isupper()))


_ABBREVIATIONS: Final = word_set(
    """
    dr mr mrs ms prof st mt jr sr vs rev gen col sgt capt lt no fr hr
    """
)


def _titled(
    shapes: list[str], opens: list[bool], lows: list[str], commas: list[int], marked_up: set[int]
) -> list[bool]:
    """Mark the words of stretches in which nearly every longer word is capitalised.

    A list of names is none, nor is a text that is nothing else: an answer. One after `#` or `**` is one
    even if it is short.
    """
    marked = [False] * len(shapes)
    begin = 0
    for end in range(1, len(shapes) + 1):
        if end < len(shapes) and not opens[end]:
            continue
        texts = [
            shapes[place] for place in range(begin, end) if len(lows[place]) > 2 and shapes[place] != "d"
        ]
        listed = sum(begin < place < end for place in commas) > 1 or (begin == 0 and end == len(shapes))
        least = 0 if begin in marked_up else 2
        if len(texts) > least and not listed and sum(shape != "l" for shape in texts) >= 0.75 * len(texts):
            marked[begin:end] = [True] * (end - begin)
        begin = end
    return marked


def _shouted(shapes: list[str]) -> bool:
    """Say whether a text is written in capitals throughout."""
    texts = [shape for shape in shapes if shape in "lCAM"]
    return len(texts) > 2 and texts.count("A") > _LOWER_SHARE * len(texts)
