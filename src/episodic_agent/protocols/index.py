"""The text and vector index of a store, and what ranking reads of documents."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, TypeAlias
from uuid import UUID

from episodic_agent.lazily import late_type, module
from episodic_agent.schemas import Vector
from episodic_agent.schemas.chains import Condition, Term
from episodic_agent.schemas.strength import Standing

if TYPE_CHECKING:
    import numpy as np
    from numpy import typing as npt

    Refs: TypeAlias = npt.NDArray[np.int64]
    Scores: TypeAlias = npt.NDArray[np.float32]
else:
    np = module("numpy")
    npt = module("numpy.typing")
    Refs = late_type("npt.NDArray[np.int64]", __name__)
    Scores = late_type("npt.NDArray[np.float32]", __name__)

OBSERVATIONS = "o"  # the kinds of indexed documents
EPISODES = "e"
PARTS = "p"  # primary episodes
SKILLS = "k"  # their refs are the skills' numbers
FACTS = "f"  # theirs the facts'
LAST_REF: Final = (1 << 63) - 1


def ref_of(thread_number: int, seq: int) -> int:
    """Return the index reference of a document: its thread's number and its (first) seq in one int64.

    Neighbours in a thread are neighbours in number, so seq - 1 and seq + 1 are ref - 1 and ref + 1.

    >>> ref_of(3, 7) - ref_of(3, 6)
    1
    """
    return (thread_number << 32) | seq


def split_ref(ref: int) -> tuple[int, int]:
    """Undo `ref_of`.

    >>> split_ref(ref_of(3, 7))
    (3, 7)
    """
    return ref >> 32, ref & 0xFFFFFFFF


class ObservationMark(NamedTuple):
    """What ranking needs of an observation besides its scores: recall reads hundreds, and shows a few.

    `name` is the id in 32 hexadecimal digits, which sort as ids do; `at` is event time in microseconds
    since 1970 UTC; `assumed` tells that nobody gave this time; `octets` is the text's length in UTF-8.
    """

    ref: int
    name: str
    actor: str
    at: int
    assumed: bool
    octets: int


class EpisodeMark(NamedTuple):
    """What ranking needs of a current event episode; `ref` is that of its first observation.

    `name` is the id in 32 hexadecimal digits; `stability` is in days, `last_reviewed_at` in microseconds
    since 1970 UTC.
    """

    ref: int
    name: str
    stability: float
    last_reviewed_at: int


class Cover(NamedTuple):
    """Which observations a current event episode owns: the first and last reference, and its id.

    `name` is the id in 32 hexadecimal digits.
    """

    first_ref: int
    last_ref: int
    name: str


@dataclass(frozen=True, slots=True)
class Posting:
    """The searchable words of one document: term -> count, and the length in terms (counts' sum)."""

    ref: int
    terms: Mapping[str, int]
    length: int


@dataclass(frozen=True, slots=True)
class TextStatistics:
    """What BM25 needs of a scope: documents, mean length in terms, documents that hold each term."""

    documents: int
    average_length: float
    frequencies: Mapping[str, int]


class Index(Protocol):
    """The text and vector index, and what ranking reads of what it finds.

    `kind` is one of those above; but for SKILLS and FACTS refs are `ref_of`.
    """

    def put_postings(self, kind: str, postings: Sequence[Posting]) -> None:
        """Index documents' words; a document indexed before is replaced."""
        ...

    def put_vectors(self, kind: str, embedder: str, refs: Sequence[int], vectors: Vector) -> None:
        """Index vectors [n, d]; a ref may come several times (chunks of one text), replaced as a whole."""
        ...

    def drop(self, kind: str, refs: Sequence[int]) -> None: ...
    def statistics(self, kind: str, terms: Sequence[str]) -> TextStatistics: ...
    def text_scores(
        self,
        kind: str,
        weights: Mapping[str, float],
        refs: Refs | None = None,
        *,
        k1: float,
        b: float,
        average_length: float,
        limit: int = 0,
    ) -> tuple[Refs, Scores]:
        """Score documents by BM25 = sum of weight * tf (k1+1) / (tf + k1 (1 - b + b length/average)).

        `weights` is term -> idf. Returns the best `limit`, falling, ties by ref; or just these refs, in their
        order (0 where no term occurs).
        """
        ...

    def vector_scores(
        self, kind: str, embedder: str, query: Vector, refs: Refs | None = None, *, limit: int = 0
    ) -> tuple[Refs, Scores]:
        """Return the best `limit` documents by cosine (best chunk counts), falling, ties by ref.

        Or the cosines of just these refs, in their order (NaN where there is no vector).
        """
        ...

    def vectors(
        self, kind: str, embedder: str, refs: Sequence[int], *, every: bool = False
    ) -> Mapping[int, Vector]:
        """Read the first vector (chunk 0) of each ref that has one; with `every` all its chunks, [n, d]."""
        ...

    def unindexed(
        self, kind: str, embedder: str, *, limit: int, first_ref: int = 0, last_ref: int = LAST_REF
    ) -> Sequence[int]:
        """Return refs, rising, of non-blank documents that have postings but no vector of this embedder."""
        ...

    # --- what passes conditions on metadata -------------------------------------------------------------

    def described(self, ids: Sequence[UUID]) -> Sequence[tuple[UUID, Term]]:
        """Return the rows of metadata of these episodes, by episode, field, value."""
        ...

    def spans(
        self,
        fields: Sequence[Sequence[Condition]],
        *,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> Sequence[Standing]:
        """Return where the current event episodes that pass every field stand, by reference.

        Those that begin at `since` or after and before `until`; without fields every one of these passes.
        """
        ...

    # --- what ranking reads beside the scores -----------------------------------------------------------

    def observation_marks(self, refs: Refs) -> Sequence[ObservationMark]:
        """Read the marks of observations in the order of refs; unknown and erased ones are left out."""
        ...

    def times(self, refs: Refs) -> "npt.NDArray[np.int64]":
        """Return event times of observation refs in microseconds since 1970 (missing: minimum int64)."""
        ...

    def between(self, start: datetime, end: datetime, *, limit: int, newest: bool = False) -> Refs:
        """Return refs of observations whose event time lies in [start, end), oldest first.

        Of more than `limit` the oldest, or the `newest`.
        """
        ...

    def episode_marks(
        self, refs: Sequence[int] | Refs, *, covering: bool = False
    ) -> Mapping[int, EpisodeMark]:
        """Return the marks of current event episodes by `ref_of(thread number, first_seq)`.

        `covering` asks by any observation they own instead; there are none for those of open frames.
        """
        ...

    def covers(self, spans: Sequence[tuple[int, int]], *, replaced: bool = False) -> Sequence[Cover]:
        """Return the current event episodes that own some of these spans of refs, by reference.

        A span is a first and a last ref (inclusive) of one thread. `replaced` asks for those that a
        resegmentation replaced instead.
        """
        ...
