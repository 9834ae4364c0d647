"""Embed a text once that comes again and again, as an agent's steps do ("In the hall: go forward")."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from episodic_agent.protocols import Embedder
from episodic_agent.schemas import Vector

LIMIT: Final = 4096  # texts: with 384 dimensions six megabytes


class RememberingEmbedder:
    """An embedder that keeps the vectors of the texts it was asked for last; not for several threads."""

    def __init__(self, inner: Embedder, limit: int = LIMIT) -> None:
        self._inner = inner
        self._most = limit
        self._known: dict[str, Vector] = {}  # the longest unused first
        self.name = inner.name

    @property
    def dimensions(self) -> int:
        """Return the inner one's dimensions, asked for no sooner: a server may be away."""
        return self._inner.dimensions

    def embed(self, texts: Sequence[str]) -> Vector:
        """Embed texts: float32 [n, d]; only those not known go to the inner one, whose errors pass."""
        known = self._known
        new = [text for text in dict.fromkeys(texts) if text not in known]
        results = dict(zip(new, self._inner.embed(new), strict=True)) if new else {}
        for text in texts:
            if text in known:
                results[text] = known.pop(text)
        known.update(results)
        for text in list(known)[: max(0, len(known) - self._most)]:
            del known[text]
        return np.stack([results[text] for text in texts]) if results else self._inner.embed(texts)


def remembering(embedder: Embedder | None, limit: int = LIMIT) -> RememberingEmbedder | None:
    """Return an embedder that embeds a repeated text once; None where there is none."""
    return None if embedder is None else RememberingEmbedder(embedder, limit)
