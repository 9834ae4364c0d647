"""Episodes of a topic in the order of time, and their story as text (seed 004, `replay_topic`)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final
from uuid import UUID

from episodic_agent.core.chaining.metadata import Metadata
from episodic_agent.errors import InvalidInput

RELEVANT, RECENT = "relevant", "recent"
ORDERS: Final = (RELEVANT, RECENT)
DEFAULT, SEED = "default", "seed-004"
LEAST_RELEVANCE: Final = 0.5  # strict: an episode of just .5 is left out
LEAST_FETCHED: Final = 20
LONGEST_SUMMARY: Final = 200  # characters
UNTITLED: Final = "Untitled"
UNDATED: Final = "unknown"
GAP: Final = "⋮"  # stands where the episode before is not in the list
_SHORT_ID: Final = 8


@dataclass(frozen=True, slots=True)
class Hit:
    """An episode that a search found; `relevance` is raw and calibrated, in [0, 1], never a fused rank."""

    id: UUID
    start_at: datetime
    relevance: float = 0.0


@dataclass(frozen=True, slots=True)
class Told:
    """An episode as a replay tells it; `parent` and its title where it goes on with an earlier one."""

    id: UUID
    start_at: datetime | None
    title: str = ""
    summary: str = ""
    parent: UUID | None = None
    parent_title: str = ""
    metadata: Metadata = field(default_factory=Metadata)


def fetched(limit: int, policy: str = DEFAULT) -> int:
    """Return how many episodes to ask a search for: twice the limit, at least 20 (seed: just twice).

    >>> fetched(5), fetched(30), fetched(5, "seed-004")
    (20, 60, 10)
    """
    return 2 * limit if policy == SEED else max(LEAST_FETCHED, 2 * limit)


def selected(
    hits: Iterable[Hit],
    limit: int = 10,
    *,
    topic: str = "",
    order: str = RELEVANT,
    min_relevance: float = LEAST_RELEVANCE,
    policy: str = DEFAULT,
) -> tuple[Hit, ...]:
    """Return the episodes to tell, earliest first: of those over the floor the best, or the newest.

    An empty topic is purely a matter of time: the newest, whatever their relevance. Policy `seed-004` sorts
    by time before it cuts, and so keeps the *earliest*. Raises InvalidInput for an unknown order or policy
    and for a limit under 1.

    >>> from datetime import UTC
    >>> at = datetime(2026, 3, 1, tzinfo=UTC)
    >>> some = [Hit(UUID(int=n), at.replace(day=n), 1.0 / n) for n in (1, 2, 3)]
    >>> [hit.start_at.day for hit in selected(some, 2, topic="leak", min_relevance=0.0)]
    [1, 2]
    >>> [hit.start_at.day for hit in selected(some, 2, topic="leak", min_relevance=0.0, order="recent")]
    [2, 3]
    """
    if order not in ORDERS:
        raise InvalidInput(f"no order {order!r}; use {' or '.join(ORDERS)}")
    if policy not in (DEFAULT, SEED):
        raise InvalidInput(f"no sequence policy {policy!r}; use {DEFAULT} or {SEED}")
    if limit < 1:
        raise InvalidInput(f"a limit of {limit} tells nothing; use at least 1")
    by_topic = bool(topic.strip())
    kept = [hit for hit in hits if not by_topic or hit.relevance > min_relevance]
    kept.sort(key=_in_time)
    if policy == SEED:
        return tuple(kept[:limit])
    if by_topic and order == RELEVANT:
        kept.sort(key=lambda hit: hit.relevance, reverse=True)  # stable: of equals the earliest
        return tuple(sorted(kept[:limit], key=_in_time))
    return tuple(kept[-limit:])


def _in_time(hit: Hit) -> tuple[datetime, bytes]:
    return hit.start_at, hit.id.bytes


def replay_text(topic: str, told: Sequence[Told], *, policy: str = DEFAULT) -> str:
    """Return the story of a topic as text, in the order given; `seed-004` shows ids in place of titles.

    >>> print(replay_text("sailing", []))
    No episodes found for topic: sailing
    """
    if not told:
        return f"No episodes found for topic: {topic}"
    lines = [f"📜 Episode history for '{topic}' ({len(told)} episodes):", ""]
    listed = {one.id for one in told}
    for one in told:
        if policy != SEED and one.parent is not None and one.parent not in listed:
            lines.append(GAP)
        lines += [*_lines(one, policy), ""]
    return "\n".join(lines)


def _lines(one: Told, policy: str) -> list[str]:
    day = one.start_at.strftime("%Y-%m-%d") if one.start_at is not None else UNDATED
    lines = [f"• [{day}] {one.title or UNTITLED}{_continues(one, policy)}"]
    if one.summary:
        lines.append(f"  {one.summary[:LONGEST_SUMMARY]}")
    if one.metadata.tags:
        lines.append(f"  Tags: {', '.join(one.metadata.tags)} | Outcome: {one.metadata.outcome}")
    return lines


def _continues(one: Told, policy: str) -> str:
    if one.parent is None:
        return ""
    if policy == SEED:
        return f" (continues from {str(one.parent)[:_SHORT_ID]})"
    return f' (continues from "{one.parent_title or UNTITLED}")'
