"""Phrases that tie a message to something earlier, cut it off, or say nothing of their own.

Forms are folded as `core.text.words` leaves them: lower case, without accents; an apostrophe splits a word
("that's" is "that s"). Chinese and Japanese have no spaces: their phrases are looked up as substrings. The
lists are closed classes on purpose: a missing phrase weakens the evidence, a content word would fake it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from episodic_agent.core.language import words
from episodic_agent.core.language.phrases import compiled_phrases, phrase_pattern, unspaced_pattern
from episodic_agent.data import listed_words, phrase_set

_IDEOGRAPHS: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_OPENS: Final = 4  # code points into a text without spaces that still count as its beginning
_HAN_FILLER: Final = re.compile("[的了吧啊呀哦嗯您你]")
_ENDS: Final = re.compile("呢[?？!！。]*$")


@dataclass(frozen=True, slots=True)
class Cues:
    """What a message's words do, whatever it is about.

    `recall` names an earlier conversation ("we talked about"); `dated` only a time ("last week"), which may
    be plain content. `continuation` opens as if something went before, `anaphora` points at it. `nothing` is
    thanks, a greeting or an "ok" without anything beside it.
    """

    recall: bool = False
    dated: bool = False
    new_subject: bool = False
    continuation: bool = False
    anaphora: bool = False
    nothing: bool = False


def cues(text: str) -> Cues:
    """Read the cues of a message, in any of the languages of the lists.

    >>> cues("Remember when we talked about New York?").recall, cues("Oh, and on Thursday?").continuation
    (True, True)
    >>> cues("还记得我们聊过的机票吗？").recall, cues("ok, thanks!").nothing
    (True, True)
    """
    line = f" {' '.join(words(text))} "
    asks = re.search("[?？؟]", text) is not None
    cues = Cues(
        recall=recalls(text, line),
        dated=phrase_pattern("links/lexicon.dated").search(line) is not None,
        new_subject=phrase_pattern("links/lexicon.new_subject").search(line) is not None,
        continuation=phrase_pattern("links/lexicon.continuation").match(line) is not None,
        anaphora=phrase_pattern("links/lexicon.anaphora").search(line) is not None,
        nothing=not asks and _says_nothing(line),
    )
    return _with_ideographs(text, cues, asks=asks) if _IDEOGRAPHS.search(text) else cues


def recalls(text: str, line: str | None = None) -> bool:
    """Say whether a message names an earlier conversation: `cues(text).recall`, without the other cues.

    Who holds its words already hands them in: `line` is the folded words with a space before, between and
    after.

    >>> recalls("Remember when we talked about New York?"), recalls("还记得我们聊过的机票吗？")
    (True, True)
    """
    line = f" {' '.join(words(text))} " if line is None else line
    if _recall().search(line):
        return True
    return bool(_IDEOGRAPHS.search(text)) and bool(_han("recall").search(_han("dated").sub("", text)))


def most_meant(text: str, counts: Sequence[int | None] = ()) -> int | None:
    """Return how many earlier things a message may speak of at once: 1 mostly, None for any number.

    `counts` are those of the set references found in it, None where one names no number. "The two weeks" are
    one stretch of time.

    >>> [most_meant(text) for text in ("Which of the two is nearer?", "the two weeks", "each of the dogs")]
    [2, 1, None]
    """
    numbers = [_COUNTS[number] for number in _SEVERAL.findall(text.lower())]
    known = [count for count in (*counts, *numbers) if count is not None]
    if known:
        return max(known)
    return None if counts or _OF_SEVERAL.search(text.lower()) else 1


def own_words(text: str) -> str:
    """Return a text's folded words without phrases of recall or a new subject and without talk about talk.

    >>> own_words("Remember when we talked about rain? Different question: boots")
    'about rain boots'
    """
    line = f" {' '.join(words(text))} "
    for pattern in (phrase_pattern("links/lexicon.recall"), phrase_pattern("links/lexicon.new_subject")):
        line = pattern.sub("", line)
    if _IDEOGRAPHS.search(line):
        for name in ("recall", "new"):
            line = _han(name).sub(" ", line)
    talk = listed_words("links/lexicon.talk")
    return " ".join(word for word in line.split() if word not in talk)


def _with_ideographs(text: str, cues: Cues, *, asks: bool) -> Cues:
    bare = text.strip()
    opening = _han("continuation").search(bare[:_OPENS]) is not None or _ENDS.search(bare) is not None
    statement = unspaced_pattern(*_EMPTY_HAN).sub("", text)
    return Cues(
        recall=cues.recall,
        dated=cues.dated or _han("dated").search(text) is not None,
        new_subject=cues.new_subject or _han("new").search(text) is not None,
        continuation=cues.continuation or opening,
        anaphora=cues.anaphora or _han("anaphora").search(text) is not None,
        nothing=cues.nothing or (not asks and not re.search(r"\w", _HAN_FILLER.sub("", statement))),
    )


def _says_nothing(line: str) -> bool:
    """Say whether nothing is left without acknowledgements, thanks, greetings, partings and filler."""
    if not line.strip():
        return True
    left = phrase_pattern("links/lexicon.so_much", *_EMPTY).sub("", line)
    return left != line and not (set(left.split()) - phrase_set("boundary/speech.filler"))


@cache
def _recall() -> re.Pattern[str]:
    """Compile the cues that can only mean an earlier conversation."""
    return compiled_phrases(phrase_set("links/lexicon.recall") - phrase_set("links/lexicon.dated"))


def _han(name: str) -> re.Pattern[str]:
    return unspaced_pattern(f"links/lexicon.han.{name}")


_COUNTS: Final = {"two": 2, "three": 3, "four": 4, "five": 5}
_SEVERAL: Final = re.compile(
    rf"\b(?:the|these|those|my|our|your)\s+({'|'.join(_COUNTS)})\b"
    r"(?!\s+(?:seconds|minutes|hours|days|nights|weeks|months|years|times|of us|of you)\b)"
)
_OF_SEVERAL: Final = re.compile(
    r"\b(?:which|each|any|all|some|none)\s+of\s+(?:the|these|those|my|our|them)\b"
)
_EMPTY: Final = tuple(f"boundary/speech.{name}" for name in ("ack", "thanks", "greeting", "closing"))
_EMPTY_HAN: Final = tuple(f"boundary/speech.han.{name}" for name in ("ack", "thanks", "closing"))
