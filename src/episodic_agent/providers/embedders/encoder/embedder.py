"""Embed texts with a sentence encoder that was converted into the cache folder."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from episodic_agent.providers.embedders.encoder.converting import EncoderRecord
from episodic_agent.providers.embedders.minilm.embedder import Loaded, LocalEmbedder, load
from episodic_agent.providers.embedders.minilm.runtime import CPU

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]


class SentenceEncoder(LocalEmbedder):
    """Embed texts locally as unit vectors by an encoder of one's choice; queries may have their own prompt.

    A text is cut at what the model reads (at most 512 tokens). One without any token the model knows gets the
    zero vector, whatever stands before it.
    """

    def __init__(
        self, cache: Path, record: EncoderRecord, *, threads: int | None = None, device: str = CPU
    ) -> None:
        """Keep which model it is; nothing is read yet."""
        super().__init__(threads=threads, device=device)
        self._record = record
        self._cache = cache
        self.name = record.name
        self.dimensions = record.dimensions

    def embed(self, texts: Sequence[str]) -> "Vectors":
        """Embed passages: float32 [n, dimensions], rows of length 1, or 0 for a text that says nothing.

        Raises ProviderUnavailable when the converted model is missing or damaged.
        """
        return self._vectors(texts, self._record.passage)

    def embed_queries(self, texts: Sequence[str]) -> "Vectors":
        """Embed questions as `embed` does passages, behind what stands before a query."""
        return self._vectors(texts, self._record.query)

    def preload(self) -> None:
        """Load the model before its first use."""
        self._load()

    def _open(self) -> Loaded:
        return load(self._record.check(self._cache), self._device)
