"""The places a question names.

Known labels are looked for in the question's words, the longest first: folded, by their stems ("in der
Küche", "на кухне") or written together ("LivingRoom", "living room").
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

from episodic_agent.core.language import fold, script, tokens
from episodic_agent.core.language.scripts import BIGRAM_SCRIPTS
from episodic_agent.data import listed_words

_MOST_WORDS: Final = 8
_WORD: Final = re.compile(r"[^\W_]+")
# Where a new word begins inside one: "livingRoom", "Room12".
_INNER: Final = re.compile(r"(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])")


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
