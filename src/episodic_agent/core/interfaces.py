"""The seams of the house: where core and engine meet stores, providers, sensors and custom detectors.

Protocols in the domain's own words, never query text, and the one public ABC (seed 000's
`BoundaryDetector`). Stores and providers implement these; `wiring` introduces them to the engine.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final, NamedTuple, Protocol, runtime_checkable
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from episodic_agent.core.forgetting import Strength
from episodic_agent.core.places import Stay
from episodic_agent.core.skill_records import KeptSkill, SkillState, TurnRef
from episodic_agent.core.turn_trace import Span
from episodic_agent.schemas import (
    ActiveContextFrame,
    Decision,
    Encoding,
    Episode,
    Frame,
    Job,
    Json,
    Link,
    ModelUse,
    Observation,
    PendingReview,
    Reading,
    Receipt,
    Scope,
    Thread,
    Vector,
    WorkRow,
)

Refs = NDArray[np.int64]
Scores = NDArray[np.float32]


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


# --- the store ------------------------------------------------------------------------------------------

OBSERVATIONS = "o"  # the kinds of indexed documents
EPISODES = "e"
SKILLS = "k"  # their refs are the skills' numbers
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


class Threads(Protocol):
    """Threads, their open frames and their observations."""

    def get(self, thread_id: UUID) -> Thread | None: ...
    def by_origin(self, origin: str) -> Thread | None:
        """Find a thread by the caller's own name of it (unique in a scope)."""
        ...

    def number(self, thread_id: UUID) -> int:
        """Return the thread's small number in its scope (for `ref_of`); raises NotFound."""
        ...

    def by_numbers(self, numbers: Sequence[int]) -> Mapping[int, UUID]: ...
    def create(self, thread: Thread, frame: Frame) -> None:
        """Write a new thread with its empty frame; raises Conflict when the origin or id is taken."""
        ...

    def save(self, thread: Thread) -> None: ...
    def list(self, *, limit: int | None = None) -> Sequence[Thread]:
        """Return threads by last activity, newest first, ties by id."""
        ...

    def current(self, *, limit: int) -> Sequence[Thread]:
        """Return threads that a message without one may go on with, the most recently active first.

        Threads of messages that are open, or closed by silence alone; not those that the caller named and
        no channel ever reached, unless they were selected. Being selected counts as activity. Ties by id.
        """
        ...

    def begun(self, until: datetime, *, limit: int) -> Sequence[Thread]:
        """Return threads of messages that began by an event time, most recently active first, ties by id."""
        ...

    def unfinished(self) -> Sequence[Thread]:
        """Return what time may end: open threads nobody chose, and threads whose frame holds something.

        Longest silent first, ties by id.
        """
        ...

    def hold(self) -> None:
        """Let no other writer resolve threads of this scope before the end of this write transaction."""
        ...

    def timeouts(self) -> Mapping[str, timedelta]:
        """Return the user's own timeouts by channel ("" for all channels)."""
        ...

    def set_timeout(self, channel: str, timeout: timedelta | None) -> None:
        """Keep the user's own timeout of a channel ("" for all); None takes it away."""
        ...

    def frame(self, thread_id: UUID) -> Frame:
        """Read the frame (in a write transaction nobody else can change it before the end); NotFound."""
        ...

    def save_frame(self, frame: Frame) -> None:
        """Write the frame whose stored version is `frame.version`, as version + 1; Conflict otherwise."""
        ...

    def known(self, ids: Sequence[UUID]) -> Mapping[UUID, Receipt]:
        """Return first receipts (added=False) of those observation ids that are stored already."""
        ...

    def append(self, observations: Sequence[Observation]) -> None:
        """Insert observations of one thread with consecutive seqs, and begin or go on with its stays.

        Conflict on a taken id or seq.
        """
        ...

    def observations(self, thread_id: UUID, first_seq: int, last_seq: int) -> Sequence[Observation]:
        """Read `first_seq..last_seq` (inclusive) in order; erased ones are left out."""
        ...

    def by_refs(self, refs: Sequence[int]) -> Mapping[int, Observation]: ...
    def marks(self, refs: Refs) -> Sequence[ObservationMark]:
        """Read the marks of observations in the order of refs; unknown and erased ones are left out."""
        ...

    def by_ids(self, ids: Sequence[UUID]) -> Mapping[UUID, Observation]: ...
    def save_records(self, thread_id: UUID, records: Mapping[int, bytes | None]) -> None:
        """Keep the packed record of the check at each seq; None takes one away."""
        ...

    def records(self, thread_id: UUID, first_seq: int, last_seq: int) -> Mapping[int, bytes]: ...
    def count(self) -> int:
        """Count the scope's observations."""
        ...

    def actors(self, *, limit: int = 200) -> Mapping[str, int]:
        """Return speakers of the scope with how often each spoke, most frequent first."""
        ...

    def last_at(self) -> datetime | None:
        """Return the newest event time in the scope."""
        ...

    def times(self, refs: Refs) -> NDArray[np.int64]:
        """Return event times of observation refs in microseconds since 1970 (missing: minimum int64)."""
        ...

    def between(self, start: datetime, end: datetime, *, limit: int) -> Refs:
        """Return refs of observations whose event time lies in [start, end), oldest first."""
        ...


class Episodes(Protocol):
    """Episodes, their encodings (versions) and the decisions that made them.

    Replaced episodes (those with a `generation_to`) stay, with their words and decisions, for undo and for
    references to them. Only `get`, `by_ids`, `encodings` and `of_thread` with a generation show them. Whoever
    deletes for good (I12) must delete them too, and the `resegment` decisions of the thread, which hold the
    frame and the records from before.
    """

    def insert(self, episode: Episode) -> None:
        """Write an episode row; inserting the same id again changes nothing (idempotent)."""
        ...

    def retire(self, ids: Sequence[UUID], generation: int) -> None:
        """Let current event episodes end with the generation before this one; Conflict where one is not.

        In a write transaction nobody else writes to them before its end. What the index holds of them is
        the caller's to drop, afterwards.
        """
        ...

    def revive(self, thread_id: UUID, generation: int) -> None:
        """Undo a generation: delete what it made, make current again what it retired.

        Deletes the thread's event episodes from this generation on, with their encodings and the decisions
        about them. What it kept stays as it is. Raises NotFound for an unknown thread.
        """
        ...

    def get(self, episode_id: UUID) -> Episode | None:
        """Read one episode with its newest encoding."""
        ...

    def by_ids(self, ids: Sequence[UUID]) -> Mapping[UUID, Episode]: ...
    def of_thread(self, thread_id: UUID, *, generation: int | None = None) -> Sequence[Episode]:
        """Return the event episodes of a thread's current (or the given) generation by first_seq."""
        ...

    def covering(self, refs: Refs) -> Mapping[int, EpisodeMark]:
        """Return the current event episode that owns each observation ref; none for those of open frames."""
        ...

    def marks(self, refs: Sequence[int]) -> Mapping[int, EpisodeMark]:
        """Return the marks of current event episodes by `ref_of(thread number, first_seq)`."""
        ...

    def by_refs(self, refs: Sequence[int]) -> Mapping[int, Episode]:
        """Return current event episodes by `ref_of(thread number, first_seq)`."""
        ...

    def covers(self, spans: Sequence[tuple[int, int]]) -> Sequence[Cover]:
        """Return the current event episodes that own some of these spans of refs, by reference.

        A span is a first and a last ref (inclusive) of one thread.
        """
        ...

    def recent(
        self, *, limit: int, since: datetime | None = None, before: datetime | None = None
    ) -> Sequence[Episode]:
        """Return current event episodes by end of event time, newest first, ties by id."""
        ...

    def encode(self, encoding: Encoding) -> None:
        """Append a version of an episode's words; writing the same version again changes nothing."""
        ...

    def strengthen(self, before: Episode, after: Strength, last_reviewed_at: datetime) -> None:
        """Give an episode another strength and clock; Conflict where `before` is no longer so."""
        ...

    def encodings(self, episode_id: UUID) -> Sequence[Encoding]: ...
    def count(self) -> int: ...
    def decide(self, decision: Decision) -> None:
        """Write a decision; the same id again changes nothing."""
        ...

    def revoke(self, decision_id: UUID) -> None:
        """Delete a decision whose effect was undone; an unknown one is gone already."""
        ...

    def amend(self, decision: Decision) -> None:
        """Keep the outcome and the detail of a decision written before; raises NotFound."""
        ...

    def decision(self, decision_id: UUID) -> Decision | None: ...
    def decisions(
        self, *, subject: UUID | None = None, type: str | None = None, last: int | None = None
    ) -> Sequence[Decision]:
        """Return decisions by time, then id; only the `last` so many where that is given."""
        ...

    def decided(self, type: str, since: datetime) -> int:
        """Count the decisions of a type that are younger than a time."""
        ...


class Links(Protocol):
    """Which threads belong together, and the cross-thread episodes they form."""

    def put(self, link: Link) -> None:
        """Write the link of two threads, in the place of what stood of the two; NotFound for either."""
        ...

    def of(self, threads: Sequence[UUID], *, taken_back: bool = False) -> Sequence[Link]:
        """Return the links of these threads, oldest first; tombstones only where wanted.

        Ties stand as their threads were made.
        """
        ...

    def list(self, *, limit: int, taken_back: bool = False) -> Sequence[Link]:
        """Return the newest links of the scope, newest first."""
        ...

    def join(self, episode_id: UUID, threads: Sequence[UUID]) -> None:
        """Let just these threads form a cross-thread episode; they leave those they were in."""
        ...

    def joined(self, threads: Sequence[UUID]) -> Mapping[UUID, UUID]:
        """Return the cross-thread episode of each of these threads that is in one."""
        ...

    def members(self, episode_id: UUID) -> Sequence[UUID]:
        """Return the threads of a cross-thread episode in order of creation, ties by id."""
        ...


class Reviews(Protocol):
    """Recalls that wait to be judged by what is said after them."""

    def ask(self, pending: PendingReview) -> None:
        """Let a recall be judged by what its thread says next; the same id again changes nothing.

        Raises NotFound for an unknown thread.
        """
        ...

    def pending(self, thread_id: UUID) -> Sequence[PendingReview]:
        """Return what waits in a thread, oldest first."""
        ...

    def settle(self, settled: Sequence[PendingReview]) -> None:
        """Take away what is judged; what is gone already changes nothing."""
        ...


class Places(Protocol):
    """Where threads were: their stays, which `Threads.append` writes (`core/places.py`)."""

    def labels(self, *, limit: int = 1000) -> Mapping[str, str]:
        """Return the scope's places by key, each with its label as written at the earliest event time.

        Where there are more, some of them.
        """
        ...

    def stays(
        self,
        *,
        place: str | None = None,
        thread_id: UUID | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> Sequence[Stay]:
        """Return stays that touch [since, until) in event time, by reference.

        `place` is a key or a label of it in any case.
        """
        ...

    def rewrite(self, thread_id: UUID, stays: Sequence[Stay]) -> None:
        """Put these in the place of all stays of a thread; raises NotFound for an unknown one."""
        ...


class Index(Protocol):
    """The text and vector index. `kind` is OBSERVATIONS or EPISODES, with refs from `ref_of`, or SKILLS."""

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
        *,
        k1: float,
        b: float,
        average_length: float,
        limit: int,
    ) -> tuple[Refs, Scores]:
        """Score documents by BM25 = sum of weight * tf (k1+1) / (tf + k1 (1 - b + b length/average)).

        `weights` is term -> idf. Returns the best `limit`, falling, ties by ref.
        """
        ...

    def text_scores_of(
        self,
        kind: str,
        weights: Mapping[str, float],
        refs: Refs,
        *,
        k1: float,
        b: float,
        average_length: float,
    ) -> Scores:
        """Score just these refs (0 where no term occurs)."""
        ...

    def vector_scores(self, kind: str, embedder: str, query: Vector, *, limit: int) -> tuple[Refs, Scores]:
        """Return the best documents by cosine (best chunk counts), falling, ties by ref."""
        ...

    def vector_scores_of(self, kind: str, embedder: str, query: Vector, refs: Refs) -> Scores:
        """Return cosines of just these refs (best chunk; NaN where there is no vector)."""
        ...

    def vectors(self, kind: str, embedder: str, refs: Sequence[int]) -> Mapping[int, Vector]:
        """Read the first vector (chunk 0) of each ref that has one."""
        ...

    def unindexed(
        self, kind: str, embedder: str, *, limit: int, first_ref: int = 0, last_ref: int = LAST_REF
    ) -> Sequence[int]:
        """Return refs, rising, of non-blank documents that have postings but no vector of this embedder."""
        ...


class Jobs(Protocol):
    """Later work of a scope, as rows."""

    def put(
        self, kind: str, key: str, serial: str, *, now: datetime, run_after: datetime | None = None
    ) -> None:
        """Ask for work; a second request for a waiting (kind, key) coalesces with the first."""
        ...

    def finish(self, job: Job) -> None:
        """Delete a claimed job in the transaction of its effect; Conflict when its token is not ours."""
        ...

    def fail(self, job: Job, error: str, *, retry_at: datetime | None) -> None:
        """Put a claimed job back for `retry_at`, or among the dead letters when None."""
        ...

    def release(self, job: Job) -> None:
        """Give a claimed job back untried: it waits again and the claim counts as no attempt."""
        ...

    def list(self, *, state: str | None = None) -> Sequence[Job]: ...
    def retry(self, job_id: UUID, *, now: datetime) -> None: ...
    def cancel(self, job_id: UUID) -> None: ...


class Usage(Protocol):
    """What language models cost a scope, by day, stage and model."""

    def add(self, uses: Sequence[ModelUse]) -> None:
        """Add to what is counted already."""
        ...

    def totals(self, first: date, last: date) -> Sequence[ModelUse]:
        """Return what the scope cost on each day of `first..last` (inclusive), by day, stage, model."""
        ...


class Skills(Protocol):
    """Skills and what may become one, the turns that show them, and the episodes nobody has mined yet."""

    def put(self, kept: KeptSkill, turns: Sequence[TurnRef] = ()) -> KeptSkill:
        """Write a skill, new or known by its id, and add turns to its evidence; return it with its number.

        Turns that are evidence of it already add nothing. Conflict where another one has its pattern;
        NotFound for a turn of an unknown thread.
        """
        ...

    def get(self, skill_id: UUID) -> KeptSkill | None:
        """Read one (in a write transaction nobody else can change it before the end)."""
        ...

    def list(self, *, state: SkillState | None = None) -> Sequence[KeptSkill]:
        """Return all, or those of a state, oldest first, ties by id; held to the end as by `get`."""
        ...

    def by_numbers(self, numbers: Sequence[int]) -> Mapping[int, KeptSkill]: ...
    def evidence(self, skill_id: UUID) -> Sequence[TurnRef]:
        """Return the turns that show a skill, by reference."""
        ...

    def shown_by(self, turns: Sequence[TurnRef]) -> Mapping[TurnRef, Sequence[UUID]]:
        """Return for each of these turns which skills it shows already; turns that show none are left out."""
        ...

    def drop(self, skill_id: UUID) -> None:
        """Delete one with its evidence; an unknown one is gone already. Its words in the index stay."""
        ...

    def await_mining(self, refs: Sequence[int]) -> None:
        """Note episodes, by `ref_of(thread number, first_seq)`, that are to be looked through."""
        ...

    def awaiting(self, *, limit: int) -> Sequence[int]:
        """Return refs that were noted and not taken away, rising."""
        ...

    def mined(self, refs: Sequence[int]) -> None:
        """Take noted refs away."""
        ...


LONGEST_RUN: Final = 256  # observations that one row of work is for, at most


class Work(Protocol):
    """What work for turns took, as rows (docs/tracing.md). Not exported; old rows are dropped."""

    def put(self, rows: Sequence[WorkRow]) -> None:
        """Keep rows; one of the same first reference, time and name takes the place of another."""
        ...

    def of(self, first_ref: int, last_ref: int) -> Sequence[WorkRow]:
        """Return the rows for any of a thread's observations `first_ref..last_ref`, by time, then place."""
        ...

    def drop(self, before: datetime) -> None:
        """Delete what was done before a time."""
        ...

    def named(self, first: UUID, last: UUID, *, limit: int) -> Sequence[UUID]:
        """Return the ids of observations that lie in `first..last`, in order: those that begin alike."""
        ...


class Transaction(Protocol):
    """The unit of work in one scope: everything in it becomes visible together or not at all."""

    @property
    def scope(self) -> Scope: ...
    @property
    def threads(self) -> Threads: ...
    @property
    def episodes(self) -> Episodes: ...
    @property
    def links(self) -> Links: ...
    @property
    def reviews(self) -> Reviews: ...
    @property
    def places(self) -> Places: ...
    @property
    def index(self) -> Index: ...
    @property
    def jobs(self) -> Jobs: ...
    @property
    def usage(self) -> Usage: ...
    @property
    def work(self) -> Work: ...
    @property
    def skills(self) -> Skills: ...


class Store(Protocol):
    """A database that holds everything scopes own."""

    def begin(self, scope: Scope, *, write: bool = True) -> AbstractContextManager[Transaction]:
        """Open a transaction: committed when the block ends, rolled back when it raises.

        A read transaction sees one snapshot. A scope is created by its first write; reading an unknown
        scope sees nothing. Raises StoreUnavailable when the database is locked, full or read-only.
        """
        ...

    def scopes(self, space: str | None = None) -> Sequence[Scope]:
        """Return every scope that was ever written to (of one space), by space, then user.

        Where a database holds tenants apart, looking past one space takes a worker's credential.
        """
        ...

    def exists(self, scope: Scope) -> bool: ...
    def claim(
        self,
        owner: str,
        *,
        now: datetime,
        lease: timedelta,
        limit: int = 1,
        space: str | None = None,
        scope: Scope | None = None,
        kinds: Sequence[str] | None = None,
    ) -> tuple[Scope, Sequence[Job]] | None:
        """Claim up to `limit` due jobs of one scope and kind, one per serial, oldest first.

        Expired leases, and leases of processes of this machine that are gone, count as due. `space` or
        `scope` narrows the search; without either, a database that holds tenants apart asks for a
        worker's credential.
        """
        ...

    def renew(self, scope: Scope, jobs: Sequence[Job], *, now: datetime, lease: timedelta) -> Sequence[Job]:
        """Prolong the leases of claimed jobs (a heartbeat); return those that are still ours."""
        ...

    def waiting(
        self, scope: Scope | None = None, *, space: str | None = None, due: datetime | None = None
    ) -> int:
        """Count waiting and leased jobs of a scope, a space or all (only those due at `due`, when given)."""
        ...

    def usage(self, space: str, first: date, last: date) -> Sequence[ModelUse]:
        """Return what all users of a space cost on each day of `first..last`, by day, stage, model."""
        ...

    def check(self) -> Sequence[str]:
        """Return what is wrong with the file itself (one line each); empty when sound."""
        ...

    def close(self) -> None: ...
