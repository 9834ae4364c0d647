"""The one place where vectors enter the engine: rounded to what stores keep, before they decide anything."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from episodic_agent.lazily import module
from episodic_agent.protocols import AskingEmbedder, Embedder, Preloading
from episodic_agent.schemas import Vector

if TYPE_CHECKING:
    from episodic_agent.core import vectors
else:
    vectors = module("episodic_agent.core.vectors")


class RoundedEmbedder:
    """An embedder whose vectors are those a store gives back (questions too: a text is like itself).

    So a boundary or a link is decided alike while a message comes in and when its vector is read again.
    """

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self.name = inner.name

    @property
    def dimensions(self) -> int:
        """Return the inner one's dimensions, asked for no sooner: a server may be away."""
        return self._inner.dimensions

    @property
    def here(self) -> bool:
        """Tell whether it runs in this process: what is loaded here needs no server."""
        return isinstance(self._inner, Preloading)

    def embed(self, texts: Sequence[str]) -> Vector:
        """Embed texts: float32 [n, d], of length 1 but for rounding; the inner one's errors pass."""
        return vectors.rounded(self._inner.embed(texts))

    def embed_queries(self, texts: Sequence[str]) -> Vector:
        """Embed questions, as the inner one wants them."""
        inner = self._inner
        return (
            vectors.rounded(inner.embed_queries(texts))
            if isinstance(inner, AskingEmbedder)
            else self.embed(texts)
        )

    def preload(self) -> None:
        """Load what the first call would wait for, where that can be done before."""
        if isinstance(self._inner, Preloading):
            self._inner.preload()
