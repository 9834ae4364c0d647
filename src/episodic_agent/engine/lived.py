"""Times as they were lived: by the clocks of those who spoke, for pages and lines that people read.

Everything is kept in UTC, with the offset of who said it beside it. A message of ten past midnight was said
on that day, and not on the one before.
"""

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar
from uuid import UUID

from episodic_agent.engine.results import Stats
from episodic_agent.schemas import Observation, Thread
from episodic_agent.schemas.facts import Fact
from episodic_agent.schemas.observations import by_clock

if TYPE_CHECKING:  # a listing loads none of these for being shown
    from episodic_agent.engine.results import Recall
    from episodic_agent.engine.scoped import Scoped
    from episodic_agent.engine.trace.turns import TurnTrace
    from episodic_agent.protocols import Transaction

_ENDS: Final = 8  # first and last messages of a thread that are asked for the offset
_AT_ONCE: Final = 16  # messages of one moment that are asked for the offset
_LATELY: Final = timedelta(days=30)  # so long before a moment at which nothing was said
_EVENT_TIMES: Final = (
    "start_at", "end_at", "started_at", "last_activity_at", "valid_at", "invalid_at", "said_at", "first_at",
    "last_at",
)  # fmt: skip
Timed = TypeVar("Timed")


class _OfUser(Protocol):
    """A user's memory, or a room of it."""

    @property
    def _at(self) -> "Scoped": ...


def lived_at(observation: Observation) -> datetime:
    """Return when something was said by the clock of who said it, as far as that is known.

    >>> from datetime import UTC
    >>> from episodic_agent.schemas import TimeSource
    >>> late = datetime(2026, 9, 29, 22, 10, tzinfo=UTC)
    >>> place = UUID(int=1), UUID(int=2), 0
    >>> said = Observation(*place, late, late, "ana", "hi", at_source=TimeSource.GIVEN, utc_offset=7200)
    >>> lived_at(said).isoformat()
    '2026-09-30T00:10:00+02:00'
    """
    return by_clock(observation.at, observation.utc_offset)


def lived_in(tx: "Transaction", thread: UUID, at: datetime) -> datetime:
    """Return a time in a thread by the clock of the nearest of its first and last messages."""
    return by_clock(at, _nearest(_ends(tx, thread), at))


def as_lived(memory: _OfUser, timed: Sequence[Timed]) -> list[Timed]:
    """Return what a memory answered with its event times as they were lived.

    A time in a thread has the clock of the nearest of its first and last messages, which a listing reads
    without arrays; one of a fact that of the nearest of those that tell it, as nothing need have been said
    when it came to be so; another that of what was said then, or last before.
    """
    if not timed:
        return []
    with memory._at.read() as tx:
        ends: dict[UUID, Sequence[Observation]] = {}
        result = []
        for shown in timed:
            times = _times_of(shown)
            thread = _thread_of(tx, shown)
            if thread is not None and thread not in ends:
                ends[thread] = _ends(tx, thread)
            near = ends[thread] if thread is not None else _proofs(tx, shown)
            lived = {
                name: by_clock(at, _nearest(near, at) if near else _offset(tx, at))
                for name, at in times.items()
            }
            result.append(_with_times(shown, lived))
    return result


def moments_as_lived(memory: _OfUser, moments: Sequence[datetime | None]) -> list[datetime | None]:
    """Return moments by the clock of what was said then, else last before; a day has one clock."""
    offsets: dict[date, int | None] = {}
    with memory._at.read() as tx:
        for at in moments:
            if at is not None and at.date() not in offsets:
                offsets[at.date()] = _offset(tx, at)
    return [None if at is None else by_clock(at, offsets[at.date()]) for at in moments]


def trace_as_lived(memory: _OfUser, trace: "TurnTrace") -> "TurnTrace":
    """Return what was done for a turn with all its times by the clock of who spoke."""
    moments = moments_as_lived(memory, [message.at for message in trace.messages])
    messages = [
        replace(message, at=at) for message, at in zip(trace.messages, moments, strict=True) if at is not None
    ]
    zone = messages[0].at.tzinfo if messages else None
    work = [node if node.at is None else replace(node, at=node.at.astimezone(zone)) for node in trace.work]
    return replace(trace, messages=messages, work=work)


def _thread_of(tx: "Transaction", shown: Any) -> UUID | None:
    """Return the thread something is of; of the numbers of a memory the one that was active last."""
    if isinstance(shown, Thread):
        return shown.id
    if not isinstance(shown, Stats):
        return shown.thread_id if "thread_id" in {field.name for field in fields(shown)} else None
    newest = tx.threads.list(limit=1)
    return newest[0].id if newest else None


def _proofs(tx: "Transaction", shown: Any) -> Sequence[Observation]:
    """Return the observations that a fact, or a quotation of one, rests on; of anything else none."""
    if isinstance(shown, Fact):
        return [*tx.observations.get([one.observation_id for one in shown.evidence]).values()]
    if "observation_id" not in {field.name for field in fields(shown)}:
        return []
    return [*tx.observations.get([shown.observation_id]).values()]


def _ends(tx: "Transaction", thread: UUID) -> Sequence[Observation]:
    last = tx.threads.frame(thread).next_seq - 1
    ranges = [(thread, 0, min(last, _ENDS)), (thread, max(0, last - _ENDS), last)]
    return [item for some in tx.observations.read(ranges) for item in some] if last >= 0 else ()


def _nearest(messages: Sequence[Observation], at: datetime) -> int | None:
    with_offset = [item for item in messages if item.utc_offset is not None]
    return min(with_offset, key=lambda item: abs(item.at - at)).utc_offset if with_offset else None


def recall_as_lived(memory: _OfUser, recall: "Recall") -> "Recall":
    """Return an answer with the times of its hits, and the days of its facts, as they were lived."""
    facts = as_lived(memory, [hit.fact for hit in recall.facts])
    return replace(
        recall,
        hits=as_lived(memory, recall.hits),
        candidates=as_lived(memory, recall.candidates),
        facts=[replace(hit, fact=fact) for hit, fact in zip(recall.facts, facts, strict=True)],
    )


def _times_of(shown: Any) -> dict[str, datetime]:
    """Return its times of events by their names; of a thread the beginning is one too."""
    names = (*_EVENT_TIMES, "created_at") if isinstance(shown, Thread) else _EVENT_TIMES
    return {name: at for name in names if isinstance(at := getattr(shown, name, None), datetime)}


def _with_times(shown: Any, times: Mapping[str, datetime]) -> Any:
    return replace(shown, **times) if times else shown


def _offset(tx: "Transaction", at: datetime) -> int | None:
    there = tx.index.between(at, at + timedelta.resolution, limit=_AT_ONCE).tolist()
    if not there:
        there = tx.index.between(at - _LATELY, at, limit=1, newest=True).tolist()
    offsets = [message.utc_offset for message in tx.observations.get(there).values()]
    return next((offset for offset in offsets if offset is not None), None)
