"""What one message does in a conversation, read from its words alone: asks, thanks, acknowledges, turns away.

Every cue looks at one text and nothing else, so it is computed once, at intake, and packed with the unit.
"""

import math
import re
from functools import cache, lru_cache
from typing import Final, NamedTuple
from zlib import crc32

from episodic_agent.core.language import tokens, words
from episodic_agent.core.language.phrases import unspaced_pattern
from episodic_agent.data import phrase_set, phrases

LONGEST: Final = 1_200  # code points read; longer messages say what they are about before that
MOST_TERMS: Final = 40  # distinct content terms kept for each unit: bounds the packed memory
_SCANNED: Final = 48  # words searched for phrases; pivots and requests stand early
(
    _ACK,
    _GREETING,
    _CLOSING,
    _THANKS,
    _SHIFT,
    _CONTINUE,
    _ANAPHORA,
    _WH,
    _AUX,
    _REQUEST,
    _YOU,
    _SELF,
    _PIVOT,
    _REVEAL,
) = (1 << n for n in range(14))
_LISTS: Final = (
    (_ACK, "ack"), (_GREETING, "greeting"), (_CLOSING, "closing"), (_THANKS, "thanks"), (_SHIFT, "shift"),
    (_CONTINUE, "continue"), (_ANAPHORA, "anaphora"), (_WH, "wh"), (_AUX, "aux"), (_REQUEST, "request"),
    (_YOU, "you"), (_SELF, "self"), (_PIVOT, "pivot"), (_REVEAL, "revelation"),
)  # fmt: skip
_HAN: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_ENDED: Final = re.compile(r"[.!。！?？]\s*\S.{8,}$")
_PUNCTUATION: Final = re.compile(r"[\W_]+")
_ASKS: Final = "?？؟"


class _PhraseEnding(NamedTuple):
    """A phrase once its first two words are known to stand there: its length, the rest and its kinds."""

    length: int
    rest: list[str]
    bits: int


@cache
def _heads() -> dict[str, dict[str, tuple[_PhraseEnding, ...]]]:
    """Index the phrases by their first and second word, longest first, so that a scan is one look-up a word.

    Under "" stands what needs no second word; it is also at the end of what a second word leads to.
    """
    kinds: dict[tuple[str, ...], int] = {}
    for bit, name in _LISTS:
        for phrase in phrases(f"boundary/speech.{name}"):
            key = tuple(phrase.split())
            kinds[key] = kinds.get(key, 0) | bit
    heads: dict[str, dict[str, tuple[_PhraseEnding, ...]]] = {}
    for key, bits in sorted(kinds.items(), key=lambda item: len(item[0])):
        head = heads.setdefault(key[0], {"": ()})
        second = key[1] if len(key) > 1 else ""
        head[second] = (_PhraseEnding(len(key), list(key[2:]), bits), *head.get(second, head[""]))
    return heads


@cache
def _han_patterns() -> tuple[tuple[int, re.Pattern[str]], ...]:
    """Return the phrases of scripts without spaces by what they do."""
    return tuple((bit, unspaced_pattern(f"boundary/speech.han.{name}")) for bit, name in _LISTS)


class Speech(NamedTuple):
    """The cues of one text, each in [0, 1] except `length` (log characters, about 0..1.5)."""

    asks: float  # a question mark anywhere
    asks_last: float  # ends as a question
    turns_to_ask: float  # a statement first, then a question
    wh: float  # opens with a question word
    yes_no: float  # opens with an auxiliary
    ack: float  # nothing but acknowledgement
    agrees: float  # opens with an acknowledgement
    thanks: float
    greets: float
    closes: float
    shifts: float
    continues: float
    anaphora: float
    requests: float
    you: float
    own: float
    length: float
    content: float  # weight of its content terms


def speech(text: str) -> tuple[Speech, float, tuple[int, ...]]:
    """Return a text's speech cues, its reaction level (0 none, .7 pivot, 1 revelation) and its term hashes.

    >>> cues, reaction, terms = speech("By the way, do you have any pets?")
    >>> cues.shifts, cues.asks_last, cues.ack, reaction, len(terms)
    (1.0, 1.0, 0.0, 0.0, 2)
    >>> speech("Okay, that makes sense.")[0].ack, speech("好的，明白了")[0].ack
    (1.0, 1.0)
    >>> speech("Wait, what?")[1], speech("I had no idea!")[1]
    (0.7, 1.0)
    """
    return _read(text[:LONGEST].strip())


@lru_cache(maxsize=2_048)  # summaries ask again for the short messages of an episode
def _read(text: str) -> tuple[Speech, float, tuple[int, ...]]:
    texts = words(text[: 8 * _SCANNED])[:_SCANNED]
    first, anywhere, covered = _scan(texts)
    if not text.isascii() and _HAN.search(text):
        first, anywhere, ack = _scan_han(text, first, anywhere)
    else:
        ack = _only_acknowledges(texts, covered)
    terms = term_hashes(text)
    mark = max(map(text.rfind, _ASKS))
    asks_last = mark >= 0 and mark >= len(text) - 3
    reaction = 1.0 if anywhere & _REVEAL else 0.7 if _pivots(texts, first, terms) else 0.0
    ack = ack and mark < 0 and not reaction
    cues = Speech(
        asks=1.0 if mark >= 0 else 0.0,
        asks_last=1.0 if asks_last else 0.0,
        turns_to_ask=1.0 if asks_last and _statement_before(text, mark) else 0.0,
        wh=1.0 if first & _WH else 0.0,
        yes_no=1.0 if first & _AUX else 0.0,
        ack=1.0 if ack else 0.0,
        agrees=1.0 if first & _ACK else 0.0,
        thanks=1.0 if anywhere & _THANKS else 0.0,
        greets=1.0 if anywhere & _GREETING else 0.0,
        closes=1.0 if anywhere & _CLOSING else 0.0,
        shifts=1.0 if anywhere & _SHIFT else 0.0,
        continues=1.0 if first & _CONTINUE else 0.0,
        anaphora=1.0 if anywhere & _ANAPHORA else 0.0,
        requests=1.0 if anywhere & _REQUEST else 0.0,
        you=1.0 if anywhere & _YOU else 0.0,
        own=1.0 if anywhere & _SELF else 0.0,
        length=round(math.log1p(len(text)) / 5.0, 3),
        content=0.02 if ack else content_weight(len(terms)),
    )
    return cues, reaction, terms


def content_weight(terms: int) -> float:
    """Return how much a message of so many content terms says, in [0, 1): half the weight at two terms.

    >>> content_weight(0), content_weight(2), content_weight(18)
    (0.0, 0.5, 0.9)
    """
    return round(terms / (terms + 2.0), 3)


def term_hashes(text: str) -> tuple[int, ...]:
    """Return the first distinct content terms of a text as 16-bit hashes, in order of appearance.

    >>> term_hashes("cats and cats") == term_hashes("the cat")
    True
    """
    return tuple(dict.fromkeys(map(_hashed, tokens(text))))[:MOST_TERMS]


@lru_cache(maxsize=65_536)
def _hashed(term: str) -> int:
    return crc32(term.encode()) & 0xFFFF


def _scan(texts: list[str]) -> tuple[int, int, int]:
    """Return the kinds of phrases at the start and anywhere, and as bits which words acknowledge."""
    first = anywhere = covered = 0
    following = [*texts[1:], ""]
    for place, head in enumerate(map(_heads().get, texts)):
        if head is None:
            continue
        for length, rest, bits in head.get(following[place], head[""]):
            if rest and texts[place + 2 : place + length] != rest:
                continue
            anywhere |= bits
            if place < 2 or (place == 2 and covered):
                first |= bits
            if bits & _ACK:
                covered |= ((1 << length) - 1) << place
    return first, anywhere, covered


def _only_acknowledges(texts: list[str], covered: int) -> bool:
    """Say whether acknowledgements and filler words are all there is."""
    if not covered or len(texts) > 16:
        return False
    filler = phrase_set("boundary/speech.filler")
    return all(covered >> place & 1 or word in filler for place, word in enumerate(texts))


def _scan_han(text: str, first: int, anywhere: int) -> tuple[int, int, bool]:
    """Look phrases up as substrings where words are not spaced."""
    patterns = _han_patterns()
    for bit, pattern in patterns:
        match = pattern.search(text)
        if match:
            anywhere |= bit
            if match.start() < 4 or (bit == _AUX and match.end() >= len(text) - 2):
                first |= bit
    rest = _PUNCTUATION.sub("", patterns[0][1].sub("", text))
    ack = bool(anywhere & _ACK) and all(
        character in "的了啊呢吧呀哈哦您你我也都就很です" for character in rest
    )
    return first, anywhere, ack


def _pivots(texts: list[str], first: int, terms: tuple[int, ...]) -> bool:
    """Say whether a message stops the other one short: a pivot phrase early, in a message of few words."""
    return bool(first & _PIVOT) and len(texts) <= 14 and not (first & _REQUEST and len(terms) > 6)


def _statement_before(text: str, mark: int) -> bool:
    """Say whether a sentence ended before the one that asks."""
    return _ENDED.search(text[:mark]) is not None
