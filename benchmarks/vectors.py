"""Embedders for measuring: one that remembers what it embedded, and vectors kept in a cache folder."""

import threading
import time
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path

import numpy as np

from episodic_agent.protocols import Embedder
from episodic_agent.schemas import Vector


class Remembering:
    """Pass texts on to an embedder, at full cost each time, and keep the vectors for a second use.

    `calls` holds the texts of each call in order: replayed, they are the embedder's share of a run.
    """

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self._lock = threading.Lock()
        self._kept: dict[str, Vector] = {}
        self.calls: list[list[str]] = []
        self.name = inner.name
        self.dimensions = inner.dimensions

    def embed(self, texts: Sequence[str]) -> Vector:
        """Embed texts and remember them."""
        vectors: Vector = self._inner.embed(texts)
        with self._lock:
            self.calls.append(list(texts))
            self._kept.update(zip(texts, vectors, strict=True))
        return vectors

    def recall(self, texts: Sequence[str]) -> Vector:
        """Return vectors of texts, embedding only those never seen."""
        missing = list(dict.fromkeys(t for t in texts if t not in self._kept))
        if missing:
            self._kept.update(zip(missing, self._inner.embed(missing), strict=True))
        if not texts:
            return np.zeros((0, self.dimensions), np.float32)
        return np.stack([self._kept[t] for t in texts])

    def forget(self) -> None:
        """Drop what is remembered (between data sets, to bound memory)."""
        self._kept.clear()
        self.calls.clear()


def embedded(
    texts: Sequence[str], embedder: Embedder, cache: Path | None, key: str
) -> tuple[Vector, float | None]:
    """Embed texts, or read them from `cache`; return them and the seconds it took (None: from the cache).

    `key` names the data (its hash): a cache is of use only for the same texts and embedder.
    """
    file = cache / f"{key}-{embedder.name.replace('/', '_')}.npy" if cache is not None else None
    if file is not None and file.is_file():
        vectors: Vector = np.load(file)
        if len(vectors) == len(texts):
            return vectors, None
    started = time.perf_counter()
    vectors = embedder.embed(texts)
    spent = time.perf_counter() - started
    if file is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        np.save(file, vectors)
    return vectors, spent


class Lasting:
    """An embedder whose vectors are kept in a file by the hash of their text, for the next run."""

    def __init__(self, inner: Embedder, file: Path) -> None:
        self._inner, self._file = inner, file
        self._known: dict[str, Vector] = {}
        self.name, self.dimensions = inner.name, inner.dimensions
        if file.is_file():
            with np.load(file) as saved:
                self._known = dict(zip(saved["keys"].tolist(), saved["vectors"], strict=True))

    def embed(self, texts: Sequence[str]) -> Vector:
        """Return vectors, embedding only texts never seen."""
        keys = [blake2b(t.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest() for t in texts]
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._known}
        if missing:
            self._known.update(zip(missing, self._inner.embed(list(missing.values())), strict=True))
        if not keys:
            return np.zeros((0, self.dimensions), np.float32)
        return np.stack([self._known[key] for key in keys])

    def save(self) -> None:
        """Write what is known."""
        if self._known:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            np.savez(self._file, keys=np.array(list(self._known)), vectors=np.stack([*self._known.values()]))
