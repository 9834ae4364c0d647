"""Embed texts by hashing words and their character n-grams: no model, no meaning, the same everywhere.

For tests and for who asks for it by name. It hears shared words, inflections and spelling, not synonyms.
"""

import hashlib
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from episodic_agent.lazily import module

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = module("numpy")


NGRAMS = (3, 4)
"""Lengths of the character n-grams of a word with its borders marked."""
NGRAM_WEIGHT = 1.0
"""Length of the vector of all n-grams of a word, where that of the word itself is 1."""
FULL_LENGTH = 6
"""Shorter words weigh less, by the square of their length: a poor man's rarity, as no corpus is at hand."""

# Scripts written without spaces: Thai to Myanmar, Khmer, Han, Kana; Hangul too, whose words inflect heavily.
_UNSPACED = "\u0e00-\u109f\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_SYMBOL = re.compile(r"\S")


@cache
def _run() -> re.Pattern[str]:
    """Compile the pattern when first used: few memories are embedded by hashing, and it takes 2 ms."""
    return re.compile(rf"([{_UNSPACED}]+)|[^\W{_UNSPACED}]+")


def words_of(text: str) -> list[str]:
    """Split into case-folded words; where no spaces are written, into characters and their pairs.

    A text of symbols only (an emoji) is split into its symbols.

    >>> words_of("Où est le café?")
    ['où', 'est', 'le', 'café']
    >>> words_of("我爱你"), words_of("!?")
    (['我', '爱', '你', '我爱', '爱你'], ['!', '?'])
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    words: list[str] = []
    for match in _run().finditer(folded):
        run = match[0]
        words += [*run, *map("".join, pairwise(run))] if match[1] else [run]
    return words or _SYMBOL.findall(folded)


def _features(word: str) -> Iterator[tuple[str, float]]:
    spaced = not re.match(rf"[{_UNSPACED}]", word)
    weight = min(1.0, len(word) / FULL_LENGTH) ** 2 if spaced else 1.0
    yield word, weight
    if not spaced or len(word) < NGRAMS[0]:
        return
    marked = f"<{word}>"
    grams = [marked[start : start + n] for n in NGRAMS for start in range(len(marked) - n + 1)]
    for gram in grams:
        # The mark keeps the gram "art" apart from the word "art".
        yield f"#{gram}", weight * NGRAM_WEIGHT / math.sqrt(len(grams))


@lru_cache(maxsize=65536)
def _hashed(word: str, dimensions: int) -> "tuple[list[int], NDArray[np.float64]]":
    """Place and signed weight of each feature of a word; Python's own hash() differs in each process."""
    places, weights = [], []
    for feature, weight in _features(word):
        digest = hashlib.blake2b(feature.encode("utf-8", "replace"), digest_size=8).digest()
        number = int.from_bytes(digest, "little")
        places.append((number >> 1) % dimensions)
        weights.append(weight if number & 1 else -weight)
    return places, np.array(weights)


class HashingEmbedder:
    """Embed texts as unit vectors by signed feature hashing (Weinberger et al. 2009).

    The same text gives the same vector in every process and on every machine, whatever its neighbours.

    >>> embedder = HashingEmbedder()
    >>> kettle, kettles, sky = embedder.embed(["the red kettle", "red kettles", "a blue sky"])
    >>> bool(kettle @ kettles > 0.4), bool(abs(kettle @ sky) < 0.1)
    (True, True)
    """

    def __init__(self, dimensions: int = 256) -> None:
        self.dimensions = dimensions
        # Whoever changes the features must change the name: stored vectors are compared by it.
        self.name = f"hashing-{dimensions}"

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Embed texts: float32 [n, dimensions], rows of length 1, or 0 for a blank text."""
        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        for row, text in zip(vectors, texts, strict=True):
            summed = self._sum(text)
            length = np.linalg.norm(summed)
            if length > 0.0:
                row[:] = summed / length
        return vectors

    def _sum(self, text: str) -> "NDArray[np.float64]":
        """Sum the features of a text's words, a repeated word counting 1 + ln(count) times."""
        summed = np.zeros(self.dimensions)
        counts = Counter(words_of(text))
        for word, count in counts.items():
            summed += self._placed(word) * (1.0 + math.log(count))
        if counts and not summed.any():
            # words that fell on one place with opposite signs are no blank text: the first of them speaks
            return self._placed(next(iter(counts)))
        return summed

    def _placed(self, word: str) -> "NDArray[np.float64]":
        places, weights = _hashed(word, self.dimensions)
        # Not by index, which would count a place named twice only once.
        return np.asarray(np.bincount(places, weights, self.dimensions), np.float64)
