"""Times as they were lived: by the clocks of those who spoke, for pages and lines that people read.

Everything is kept in UTC, with the offset of who said it beside it. A message of ten past midnight was said
on that day, and not on the one before.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Any, Final, TypeVar

from episodic_agent.engine.facts.verbs import FactCard
from episodic_agent.engine.results import Recall
from episodic_agent.engine.user import UserMemory
from episodic_agent.protocols import Transaction
from episodic_agent.schemas import Observation, Thread

_AT_ONCE: Final = 16  # messages of one moment that are asked for the offset
_LATELY: Final = timedelta(days=30)  # so long before a moment at which nothing was said
_EVENT_TIMES: Final = (
    "start_at", "end_at", "started_at", "last_activity_at", "valid_at", "invalid_at", "said_at", "first_at",
    "last_at",
)  # fmt: skip
Timed = TypeVar("Timed")


def lived_at(observation: Observation) -> datetime:
    """Return when something was said by the clock of who said it, as far as that is known.

    >>> from datetime import UTC
    >>> from uuid import UUID
    >>> from episodic_agent.schemas import TimeSource
    >>> late = datetime(2026, 9, 29, 22, 10, tzinfo=UTC)
    >>> said = Observation(UUID(int=1), UUID(int=2), 0, late, late, TimeSource.GIVEN, "ana", "hi", 7200)
    >>> lived_at(said).isoformat()
    '2026-09-30T00:10:00+02:00'
    """
    return _shifted(observation.at, observation.utc_offset)


def as_lived(memory: UserMemory, timed: Sequence[Timed]) -> list[Timed]:
    """Return what a memory answered with its event times as they were lived, each by its own clock.

    A moment at which nothing was said has the clock of what was said last before.
    """
    moments = {at for shown in timed for at in _times_of(shown).values()}
    lived = lived_times(memory, moments)
    return [_with_times(shown, {name: lived[at] for name, at in _times_of(shown).items()}) for shown in timed]


def recall_as_lived(memory: UserMemory, recall: Recall) -> Recall:
    """Return an answer with the times of its hits, and the days of its facts, as they were lived."""
    facts = as_lived(memory, [hit.fact for hit in recall.facts])
    return replace(
        recall,
        hits=as_lived(memory, recall.hits),
        candidates=as_lived(memory, recall.candidates),
        facts=[replace(hit, fact=fact) for hit, fact in zip(recall.facts, facts, strict=True)],
    )


def facts_as_lived(memory: UserMemory, cards: Sequence[FactCard]) -> list[FactCard]:
    """Return facts with their days, and the times of what was said, as they were lived."""
    facts = as_lived(memory, [card.fact for card in cards])
    return [
        replace(card, fact=fact, quotes=as_lived(memory, card.quotes))
        for card, fact in zip(cards, facts, strict=True)
    ]


def lived_times(memory: UserMemory, moments: Iterable[datetime]) -> Mapping[datetime, datetime]:
    """Return moments of a memory by the clocks of those who spoke then."""
    distinct = dict.fromkeys(moments)
    if not distinct:
        return {}
    with memory._at.read() as tx:
        return {at: _shifted(at, _offset(tx, at)) for at in distinct}


def _times_of(shown: Any) -> dict[str, datetime]:
    """Return its times of events by their names; of a thread the beginning is one too."""
    names = (*_EVENT_TIMES, "created_at") if isinstance(shown, Thread) else _EVENT_TIMES
    return {name: at for name in names if isinstance(at := getattr(shown, name, None), datetime)}


def _with_times(shown: Any, times: Mapping[str, datetime]) -> Any:
    return replace(shown, **times) if times else shown


def _offset(tx: Transaction, at: datetime) -> int | None:
    there = tx.index.between(at, at + timedelta.resolution, limit=_AT_ONCE).tolist()
    if not there:
        there = tx.index.between(at - _LATELY, at, limit=1, newest=True).tolist()
    offsets = [message.utc_offset for message in tx.observations.get(there).values()]
    return next((offset for offset in offsets if offset is not None), None)


def _shifted(at: datetime, offset: int | None) -> datetime:
    return at if offset is None else at.astimezone(timezone(timedelta(seconds=offset)))
