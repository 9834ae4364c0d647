"""Embedders with a known geometry, and ones that fail on request."""

import threading
from collections.abc import Sequence

import numpy as np

from episodic_agent.errors import ProviderUnavailable
from episodic_agent.schemas import Vector


class TopicEmbedder:
    """One axis a topic: texts of one topic have cosine 1, of different topics 0."""

    def __init__(self, *topics: str, name: str = "topics") -> None:
        self.topics = topics
        self.name = name
        self.dimensions = len(topics) + 1
        self.seen: list[str] = []

    def embed(self, texts: Sequence[str]) -> Vector:
        self.seen.extend(texts)
        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        for vector, text in zip(vectors, texts, strict=True):
            indexes = [n for n, topic in enumerate(self.topics) if topic in text.lower()]
            if text.strip():
                vector[indexes or [len(self.topics)]] = 1 / np.sqrt(max(len(indexes), 1))
        return vectors


class Crowded:
    """Any two different texts have cosine .6, as of a model that does not know their language."""

    name = "minilm-crowded"  # on the scale of the default embedder
    dimensions = 64

    def __init__(self) -> None:
        self._axes: dict[str, int] = {}

    def embed(self, texts: Sequence[str]) -> Vector:
        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        vectors[:, 0] = np.sqrt(0.6)
        for vector, text in zip(vectors, texts, strict=True):
            vector[self._axes.setdefault(text, 1 + len(self._axes))] = np.sqrt(0.4)
        return vectors


class Meeting:
    """An embedder whose first call waits until another thread makes its first call too."""

    def __init__(self, inner: TopicEmbedder, barrier: threading.Barrier) -> None:
        self.inner = inner
        self.name = inner.name
        self.dimensions = inner.dimensions
        self._barrier: threading.Barrier | None = barrier

    def embed(self, texts: Sequence[str]) -> Vector:
        barrier, self._barrier = self._barrier, None
        if barrier is not None:
            barrier.wait(30)
        return self.inner.embed(texts)


class Unreliable:
    """An embedder that is down while `down` is set."""

    def __init__(self, inner: TopicEmbedder) -> None:
        self.inner = inner
        self.name = inner.name
        self.dimensions = inner.dimensions
        self.down = False

    def embed(self, texts: Sequence[str]) -> Vector:
        if self.down:
            raise ProviderUnavailable("the embedder is down; try again later")
        return self.inner.embed(texts)
