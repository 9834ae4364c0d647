"""Made-up conversations of any length, with vectors: the words of real ones, drawn by a seed.

Topics last about a dozen messages; half of a message's words come from its topic. A text's vector is the
sum of its words' (rare words weigh more), so that words and vectors agree about what is alike, as in life.
"""

import math
import threading
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from episodic_agent.core.language import words
from episodic_agent.engine.evaluate.cases import rows
from episodic_agent.schemas import Vector

SEED = 2024
DIMENSIONS = 384
TOPIC_WORDS = 40
TOPIC_LENGTH = 12
TOPIC_SHARE = 0.5
BEGINNING = datetime(2023, 1, 1, 8, tzinfo=UTC)
PEOPLE = ("Ana", "Bo", "Chen", "Dara")
SOURCES = ("ret_realtalk", "ret_lifebench", "ret_qmsum")


@dataclass(frozen=True)
class Vocabulary:
    """Words by falling frequency, and the lengths of texts in words."""

    words: Sequence[str]
    counts: Sequence[int]
    lengths: Sequence[int]

    @classmethod
    def of(cls, texts: Iterable[str], most: int = 20_000) -> "Vocabulary":
        """Count the words of texts."""
        counted: Counter[str] = Counter()
        lengths = []
        for text in texts:
            results = words(text)
            counted.update(results)
            lengths.append(min(max(len(results), 2), 60))
        common = counted.most_common(most)
        return cls([w for w, _ in common], [c for _, c in common], lengths)

    @cached_property
    def shares(self) -> NDArray[np.float64]:
        """Return each word's share of all words."""
        counts = np.array(self.counts, np.float64)
        return np.asarray(counts / counts.sum(), np.float64)


def real_texts(data: Path, count: int, sources: Sequence[str] = SOURCES) -> dict[str, list[dict[str, Any]]]:
    """Return the first `count` messages of each source as chat messages, by source."""
    result = {}
    for name in sources:
        path = data / f"{name}.jsonl.gz"
        if not path.is_file():
            continue
        messages: list[dict[str, Any]] = []
        for case in rows(path):
            messages.extend(m for m in case["messages"] if str(m.get("text", "")).strip())
            if len(messages) >= count:
                break
        result[name] = [{"name": str(m["speaker"]), "content": str(m["text"])} for m in messages[:count]]
    return result


def conversation(vocabulary: Vocabulary, count: int, seed: int = SEED) -> list[dict[str, Any]]:
    """Make up `count` messages of one thread over months, each with an id and a time."""
    generator = np.random.default_rng(seed)
    known = np.array(vocabulary.words)
    common = generator.choice(len(known), 64 * count, p=vocabulary.shares)
    lengths = generator.choice(np.array(vocabulary.lengths), count)
    messages: list[dict[str, Any]] = []
    at, used, left = BEGINNING, 0, 0
    topic = common[:0]
    for n in range(count):
        if not left:
            left = 2 + int(generator.geometric(1 / TOPIC_LENGTH))
            topic = generator.integers(100, len(known), TOPIC_WORDS)
            at += timedelta(minutes=float(generator.exponential(90)))
        left -= 1
        length = int(lengths[n])
        drawn = common[used : used + length].copy()
        used += length
        own = generator.random(length) < TOPIC_SHARE
        drawn[own] = generator.choice(topic, int(own.sum()))
        at += timedelta(seconds=float(generator.exponential(45)))
        text = " ".join(known[drawn].tolist()).capitalize() + "."
        who = PEOPLE[int(generator.integers(2))]
        messages.append({"id": f"m{n}", "name": who, "content": text, "timestamp": at.isoformat()})
    return messages


def questions(messages: Sequence[dict[str, Any]], count: int, seed: int = SEED) -> list[str]:
    """Make up questions that share four to six words with some message each."""
    generator = np.random.default_rng(seed + 1)
    asked = []
    for n in generator.integers(0, len(messages), count).tolist():
        texts = words(messages[n]["content"])
        picked = generator.permutation(len(texts))[: int(generator.integers(4, 7))]
        asked.append("What about " + " ".join(texts[i] for i in sorted(picked.tolist())) + "?")
    return asked


class WordVectors:
    """Give vectors: a look-up for texts seen before, a sum of word vectors for others."""

    name = "synthetic-384"
    dimensions = DIMENSIONS

    def __init__(self, vocabulary: Vocabulary, seed: int = SEED) -> None:
        generator = np.random.default_rng(seed)
        rare = 1 / (1 + np.log1p(np.array(vocabulary.counts, np.float64)))
        vectors = generator.normal(size=(len(vocabulary.words), DIMENSIONS)) * rare[:, None]
        self._words = vectors.astype(np.float32)
        self._place = {word: n for n, word in enumerate(vocabulary.words)}
        self._known: dict[str, Vector] = {}
        self._lock = threading.Lock()

    def embed(self, texts: Sequence[str]) -> Vector:
        """Return unit vectors [n, 384]; zero for a text without a known word."""
        with self._lock:
            for text in texts:
                if text not in self._known:
                    self._known[text] = self._sum(text)
            return np.stack([self._known[t] for t in texts])

    def _sum(self, text: str) -> Vector:
        places = [self._place[w] for w in words(text) if w in self._place]
        total = self._words[places].sum(axis=0) if places else np.zeros(DIMENSIONS, np.float32)
        length = math.sqrt(float(total @ total))
        return np.asarray(total / length if length else total, np.float32)
