"""Vectors as the engine gets them: rounded to what stores keep, before they decide anything.

While a memory is embedded again, search goes by the former vectors where there are no new ones yet. A scope
is *between embedders* while the oldest observation without a vector of the process's embedder has one of
another. Then a query is embedded by both, and each document is compared by the vector it has; cosines of both
are brought to the default embedder's scale, where a calibration says how. Vectors of different embedders are
never compared with one another (I9).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING

from episodic_agent.core.calibration import Calibration
from episodic_agent.errors import EpisodicError, ProviderError
from episodic_agent.lazily import module
from episodic_agent.protocols import (
    OBSERVATIONS,
    AskingEmbedder,
    Embedder,
    Preloading,
    Transaction,
    query_vector,
)
from episodic_agent.schemas import Scope, Vector

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


MOST_SETTLED = 100_000  # scopes remembered; then all are looked at again


@dataclass(frozen=True, slots=True)
class FormerEmbedder:
    """An embedder whose vectors a memory still has, and how its cosines are read."""

    embedder: Embedder
    calibration: Calibration | None = None


Named = Callable[[str], FormerEmbedder | None]


def nobody(_name: str) -> FormerEmbedder | None:
    """Know no embedder by its name."""
    return None


@dataclass(frozen=True, slots=True)
class FormerQuery:
    """A query as the former embedder reads it."""

    name: str
    vector: Vector
    calibration: Calibration | None


@dataclass(frozen=True, slots=True)
class BetweenEmbedders:
    """What is beside the new vectors: the former embedder's name, and the embedder where it can be had."""

    name: str
    former: FormerEmbedder | None


@dataclass(slots=True)
class FormerVectors:
    """Which scopes are between embedders, as one process knows it."""

    own: str
    named: Named
    _settled: set[Scope] = field(default_factory=set)
    _built: dict[str, FormerEmbedder | None] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def between(self, tx: Transaction) -> BetweenEmbedders | None:
        """Tell what the scope has beside vectors of the process's own embedder, where it needs it."""
        scope = tx.scope
        with self._lock:
            if scope in self._settled:
                return None
        others = [name for name in tx.embedders() if name != self.own]
        waiting = tx.index.unindexed(OBSERVATIONS, self.own, limit=1) if others else ()
        have = [name for name in others if waiting and tx.index.vectors(OBSERVATIONS, name, waiting)]
        if not waiting:
            with self._lock:
                if len(self._settled) >= MOST_SETTLED:
                    self._settled.clear()
                self._settled.add(scope)
        if not have:
            return None  # a message that waits for its first vector
        known = [(name, former) for name in have if (former := self._build(name)) is not None]
        return BetweenEmbedders(*known[0]) if known else BetweenEmbedders(have[0], None)

    def query(self, between: BetweenEmbedders, text: str) -> tuple[FormerQuery | None, list[str]]:
        """Embed a question by the former embedder, and say so; no transaction is open meanwhile."""
        waits = f"not everything has vectors of {self.own} yet (`episodic jobs reembed` makes them)"
        if between.former is None:
            return None, [f"{waits}; {between.name} is not at hand, so the rest is found by words only"]
        embedder = between.former.embedder
        try:
            vector = query_vector(embedder, text)
        except ProviderError as error:
            return None, [f"{waits}; the rest is found by words only: {error}"]
        former = FormerQuery(embedder.name, vector, between.former.calibration)
        return former, [f"{waits}; the rest is compared by those of {embedder.name}"]

    def _build(self, name: str) -> FormerEmbedder | None:
        with self._lock:
            if name not in self._built:
                try:
                    self._built[name] = self.named(name)
                except EpisodicError:  # no key, no extra, no file: it cannot be had here
                    self._built[name] = None
            return self._built[name]
