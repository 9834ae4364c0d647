"""The places a question names, and whether it asks for anything else.

Known labels are looked for in the question's words, the longest first: folded, by their stems ("in der
Küche", "на кухне") or written together ("LivingRoom", "living room"). Where nothing else is asked but a time
("What happened in the kitchen yesterday?") the places themselves are the answer.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

from episodic_agent.core.language import fold, script, tokens
from episodic_agent.core.language.scripts import BIGRAM_SCRIPTS
from episodic_agent.core.language.stopwords import stop_words
from episodic_agent.core.language.timewords import parse_time
from episodic_agent.data import listed_words, text, texts

_MOST_WORDS: Final = 8
_WORD: Final = re.compile(r"[^\W_]+")
# Where a new word begins inside one: "livingRoom", "Room12".
_INNER: Final = re.compile(r"(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])")
_KANA: Final = re.compile(r"[\u3040-\u309f]")


@dataclass(frozen=True, slots=True)
class Named:
    """The places a question names, by key, in order; `rest` is the question without those words.

    `words` are the ones that name them; `placed` says that each stands as a place does, after a preposition
    or an article, or first of all.
    """

    places: tuple[str, ...] = ()
    words: str = ""
    rest: str = ""
    placed: bool = False


class _PlaceWord(NamedTuple):
    start: int
    end: int
    folded: str


def read_places(text: str, labels: Mapping[str, str], language: str | None = None) -> Named:
    """Find known places, labels by key, in a question.

    >>> labels = {"livingroom": "LivingRoom", "kitchen": "Kitchen", "room": "room"}
    >>> read_places("What is in the living room now?", labels)
    Named(places=('livingroom',), words='living room', rest='What is in the             now?', placed=True)
    """
    forms, unspaced, longest = _forms(tuple(labels.values()), language)
    spans = list(_spans(text, forms, longest, language))
    for label in unspaced:
        spans += [(m.start(), m.end(), label) for m in re.finditer(re.escape(label), text)]
    result, rest = {}, text
    for start, end, label in sorted(spans, key=lambda span: (span[0] - span[1], span[0])):
        if rest[start:end] == text[start:end]:  # no part of a longer one
            result[label] = start
            rest = rest[:start] + " " * (end - start) + rest[end:]
    named = "".join(c if r == " " else " " for c, r in zip(text, rest, strict=True))
    keys = {label: key for key, label in labels.items()}
    places = tuple(keys[label] for label in sorted(result, key=lambda label: result[label]))
    placed = all(_is_placed(text[:start]) for start in result.values())
    return Named(places, " ".join(named.split()), rest, placed) if places else Named()


def _is_placed(before: str) -> bool:
    words = _WORD.findall(before)
    return (
        not words
        or script(words[-1]) in BIGRAM_SCRIPTS
        or fold(words[-1]) in listed_words("recall/places.prepositions")
    )


def _spans(
    text: str, forms: Mapping[str, str], longest: int, language: str | None
) -> Iterator[tuple[int, int, str]]:
    """Yield every run of words that is a label, with where it is."""
    asked = _words(text)
    stems = [_stem(word.folded, language) for word in asked]
    for first in range(len(asked)):
        for last in range(first, min(first + longest, len(asked))):
            together = "".join(word.folded for word in asked[first : last + 1])
            label = forms.get(together) or forms.get(" ".join(stems[first : last + 1]))
            if label is not None:
                yield asked[first].start, asked[last].end, label


@lru_cache(maxsize=64)
def _forms(labels: tuple[str, ...], language: str | None) -> tuple[dict[str, str], tuple[str, ...], int]:
    """Return labels by the ways they may be written, those written without spaces, and the most words.

    A label of figures or function words alone is no name: "3", "out".
    """
    forms: dict[str, str] = {}
    unspaced: list[str] = []
    longest = 1
    for label in sorted(labels, key=lambda label: (-len(label), label)):
        if script(label) in BIGRAM_SCRIPTS:
            unspaced.append(label)
            continue
        words = [word.folded for word in _words(label)]
        if not any(tokens(word, language) and len(word) > 1 and word.isalpha() for word in words):
            continue
        if len(words) <= _MOST_WORDS:
            longest = max(longest, len(words), len("".join(words)) // 8)
            forms.setdefault("".join(words), label)
            forms.setdefault(" ".join(_stem(word, language) for word in words), label)
    return forms, tuple(unspaced), min(longest, _MOST_WORDS)


def _words(text: str) -> list[_PlaceWord]:
    return [
        _PlaceWord(start, end, fold(text[start:end]))
        for match in _WORD.finditer(text)
        for start, end in _pieces(match.group(), match.start())
    ]


def _pieces(word: str, at: int) -> Iterator[tuple[int, int]]:
    """Yield the ends of the words inside one: at capitals after small letters, and at figures."""
    cuts = {n for n in range(1, len(word)) if word[n - 1].islower() and word[n].isupper()}
    cuts.update(match.start() for match in _INNER.finditer(word))
    for start, end in pairwise([0, *sorted(cuts), len(word)]):
        yield at + start, at + end


def _stem(word: str, language: str | None) -> str:
    return next(iter(tokens(word, language)), word)


def asks_nothing_else(rest: str, now: datetime, utc_offset: timedelta | None = None) -> bool:
    """Tell whether a question without its places holds nothing but function words and a time.

    >>> from datetime import UTC
    >>> now = datetime(2024, 3, 20, tzinfo=UTC)
    >>> asks_nothing_else("What happened in the        two days ago?", now)
    True
    >>> asks_nothing_else("Where did I put the cup in the       ?", now)
    False
    """
    pieces = list(_rest_pieces(rest))
    for terms in _known_words():
        odd = [(start, end) for start, end, word in pieces if word not in terms]
        if all(_is_time(rest, start, end, now, utc_offset) for start, end in odd):
            return True
    return False


def asks_what_was_said(question: str, now: datetime, utc_offset: timedelta | None = None) -> bool:
    """Tell whether a question is for nothing but what was said, at a time.

    What happened on Tuesday may be told on Wednesday; what was said on Tuesday was said then.

    >>> from datetime import UTC
    >>> now = datetime(2024, 3, 20, tzinfo=UTC)
    >>> asks_what_was_said("What did we talk about yesterday?", now)
    True
    >>> asks_what_was_said("What did I say about the rent yesterday?", now)
    False
    """
    pieces = list(_rest_pieces(question))
    for known, speech in _speech_words():
        odd = [(start, end) for start, end, word in pieces if word not in known]
        if any(word in speech for _, _, word in pieces):
            return all(_is_time(question, start, end, now, utc_offset) for start, end in odd)
    return False


def _rest_pieces(rest: str) -> Iterator[_PlaceWord]:
    """Yield what is left: words, and characters where words stand together."""
    for match in _WORD.finditer(rest):
        if script(match.group()) not in BIGRAM_SCRIPTS:
            yield _PlaceWord(match.start(), match.end(), fold(match.group()))
            continue
        for at, character in enumerate(match.group(), match.start()):
            if character not in text("recall/places.han") and not _KANA.match(character):
                yield _PlaceWord(at, at + 1, character)


@lru_cache(maxsize=1)
def _known_words() -> tuple[frozenset[str], ...]:
    return tuple(
        stop_words()[language].union(listed_words(f"recall/places.fillers.{language}"))
        for language in texts("recall/places.fillers")
    )


@lru_cache(maxsize=1)
def _speech_words() -> tuple[tuple[frozenset[str], frozenset[str]], ...]:
    """Return by language what a question for what was said is made of, and which of these words say so."""
    han = frozenset(text("recall/places.speech.han"))
    by_language = dict(zip(texts("recall/places.fillers"), _known_words(), strict=True))
    speech = {
        language: han.union(listed_words(f"recall/places.speech.{language}"))
        for language in texts("recall/places.speech")
        if language in by_language
    }
    return tuple((by_language[language] | words, words) for language, words in speech.items())


def _is_time(text: str, start: int, end: int, now: datetime, utc_offset: timedelta | None) -> bool:
    """Tell whether a word is part of an expression of time: without it another time is meant.

    Or a figure beside one: the year of a date changes nothing when it is the last such date.
    """
    meant = parse_time(text, now, utc_offset)
    without = text[:start] + " " * (end - start) + text[end:]
    return parse_time(without, now, utc_offset) != meant or (bool(meant) and text[start:end].isdecimal())
