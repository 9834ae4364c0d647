"""Who the engine works with besides a store: detectors, embedders, language models, sensors, sinks."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, runtime_checkable
from uuid import UUID

from episodic_agent.schemas import (
    ActiveContextFrame,
    Json,
    Reading,
    Scope,
    Vector,
)
from episodic_agent.schemas.jobs import Span


class BoundaryDetector(ABC):
    """Decide when an embodied agent's frame freezes (seed 000's extension point, as its document shows)."""

    @abstractmethod
    def check(self, acf: ActiveContextFrame) -> tuple[bool, str | None]:
        """Return whether to freeze now, and why."""


class Embedder(Protocol):
    """Turn texts into vectors; the name travels with every vector, different ones are never compared (I9)."""

    @property
    def name(self) -> str: ...
    @property
    def dimensions(self) -> int: ...
    def embed(self, texts: Sequence[str]) -> Vector:
        """Return float32 [len(texts), dimensions] with rows of length 1 (a blank text: a zero row).

        Raises ProviderUnavailable when the model cannot be loaded or reached.
        """
        ...


@runtime_checkable
class AskingEmbedder(Protocol):
    """An embedder that embeds questions in another way than what may answer them."""

    def embed_queries(self, texts: Sequence[str]) -> Vector:
        """Return what `embed` would, for questions."""
        ...


def query_vector(embedder: Embedder, text: str) -> Vector:
    """Embed one question, float32 [dimensions], as the embedder wants questions; raises what it raises."""
    ask = embedder.embed_queries if isinstance(embedder, AskingEmbedder) else embedder.embed
    row: Vector = ask([text])[0]
    return row


@runtime_checkable
class Preloading(Protocol):
    """An embedder that may begin to load before its first use."""

    def preload(self) -> None:
        """Load what the first call would wait for; what hinders it is raised by that call."""
        ...


LONGEST_ANSWER = 2048  # tokens: no stage needs more, and a budget can count on it


@dataclass(frozen=True, slots=True)
class Reply:
    """A language model's validated answer with what it cost; latency in seconds.

    Tokens are 0 where the server did not tell.
    """

    value: Mapping[str, Json]
    prompt_tokens: int = 0
    completion_tokens: int = 0
    latency: float = 0.0


class LanguageModel(Protocol):
    """Complete a prompt into a value that fits a JSON schema; `stage` names the caller for ledgers.

    Whatever a person or a memory said stands quoted in the prompt (`core.prompts.quoting`).
    """

    @property
    def name(self) -> str: ...
    def complete(self, prompt: str, schema: Mapping[str, Json], stage: str) -> Reply:
        """Return the reply, of at most LONGEST_ANSWER tokens; raises ProviderUnavailable or BadReply."""
        ...


@runtime_checkable
class Routed(Protocol):
    """A language model that is several: another one, or none, for each stage."""

    def model_of(self, stage: str) -> LanguageModel | None: ...


class SpanSink(Protocol):
    """Where spans go besides the store: a collector of traces."""

    def export(self, scope: Scope, turn: UUID, at: datetime, root: Span) -> None:
        """Hand on a piece of work for a turn (the id of one of its observations) that began at `at`.

        Never raises and never waits for the network.
        """
        ...

    def close(self) -> None:
        """Send what is still held."""
        ...


class Sensor(Protocol):
    """Deliver readings, one per step, until the stream ends.

    `name` is what the run is called after; `counts` tells what was noticed on the way (malformed, gaps,
    repeated, reconnected …), each a number since the start. Iterating raises SensorError when nothing can
    be read any more though the stream has not ended.
    """

    @property
    def name(self) -> str: ...
    @property
    def counts(self) -> Mapping[str, int]: ...
    def __iter__(self) -> Iterator[Reading]: ...
    def close(self) -> None:
        """Let go of what the sensor holds; a reader that waits for it stops."""
        ...
