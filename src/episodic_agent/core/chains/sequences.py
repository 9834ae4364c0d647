"""Episodes of a topic in the order of time, and their story as text (seed 004, `replay_topic`)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final
from uuid import UUID

from episodic_agent.core.chains.metadata import UNKNOWN, Metadata
from episodic_agent.core.context.quoting import harmless
from episodic_agent.errors import InvalidInput

RELEVANT, RECENT = "relevant", "recent"
ORDERS: Final = (RELEVANT, RECENT)
DEFAULT, SEED = "default", "seed-004"
LEAST_RELEVANCE: Final = 0.5  # strict: an episode of just .5 is left out
LEAST_FETCHED: Final = 20
LONGEST_SUMMARY: Final = 200  # characters
UNTITLED: Final = "Untitled"
UNDATED: Final = "unknown"
GAP: Final = "⋮ (what it continues is not listed)"  # stands where the episode before is not in the list
_SHORT_ID: Final = 8


@dataclass(frozen=True, slots=True)
class ReplayHit:
    """An episode that a search found; `relevance` is raw and calibrated, in [0, 1], never a fused rank.

    `place` is its thread and its first observation there: what begins at once stands as it was said.
    """

    id: UUID
    start_at: datetime
    relevance: float = 0.0
    place: tuple[UUID, int] = (UUID(int=0), 0)


@dataclass(frozen=True, slots=True)
class ReplayedEpisode:
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
    hits: Iterable[ReplayHit],
    limit: int = 10,
    *,
    topic: str = "",
    order: str = RELEVANT,
    min_relevance: float = LEAST_RELEVANCE,
    policy: str = DEFAULT,
) -> tuple[ReplayHit, ...]:
    """Return the episodes to tell, earliest first: of those over the floor the best, or the newest.

    An empty topic is purely a matter of time: the newest, whatever their relevance. Policy `seed-004` sorts
    by time before it cuts, and so keeps the *earliest*. Raises InvalidInput for an unknown order or policy
    and for a limit under 1.

    >>> from datetime import UTC
    >>> at = datetime(2026, 3, 1, tzinfo=UTC)
    >>> some = [ReplayHit(UUID(int=n), at.replace(day=n), 1.0 / n) for n in (1, 2, 3)]
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
    stored_hits = [hit for hit in hits if not by_topic or hit.relevance > min_relevance]
    stored_hits.sort(key=_in_time)
    if policy == SEED:
        return tuple(stored_hits[:limit])
    if by_topic and order == RELEVANT:
        stored_hits.sort(key=lambda hit: hit.relevance, reverse=True)  # stable: of equals the earliest
        return tuple(sorted(stored_hits[:limit], key=_in_time))
    return tuple(stored_hits[-limit:])


def _in_time(hit: ReplayHit) -> tuple[datetime, tuple[UUID, int], UUID]:
    return hit.start_at, hit.place, hit.id


def with_ends(
    chosen: Sequence[ReplayHit],
    followed: Sequence[ReplayHit],
    ends: Iterable[UUID],
    limit: int,
    *,
    order: str = RELEVANT,
) -> tuple[ReplayHit, ...]:
    """Return the episodes to tell of those chosen and those their chains go on with, earliest first.

    How the chains ended comes before all, the best first; then what was chosen, then what lies between.

    >>> from datetime import UTC
    >>> at = datetime(2026, 3, 1, tzinfo=UTC)
    >>> one, two, end = (ReplayHit(UUID(int=n), at.replace(day=n), 1.0 / n) for n in (1, 2, 3))
    >>> [hit.start_at.day for hit in with_ends([one, two], [end], [end.id], 2)]
    [1, 3]
    """
    known = {hit.id: hit for hit in (*chosen, *followed)}
    best = sorted(chosen, key=lambda hit: (-hit.relevance, _in_time(hit)))
    if order == RECENT:
        best = sorted(known.values(), key=_in_time, reverse=True)
    last = [known[one] for one in ends if one in known] if order == RELEVANT else []
    ranked = dict.fromkeys([*last[: limit // 2], *best, *last, *sorted(followed, key=_in_time)[::-1]])
    return tuple(sorted(list(ranked)[:limit], key=_in_time))


def replay_text(
    topic: str,
    reported_episodes: Sequence[ReplayedEpisode],
    *,
    policy: str = DEFAULT,
    left_out: int = 0,
    ending: str = "",
) -> str:
    """Return the story of a topic as text, in the order given; `seed-004` shows ids in place of titles.

    `ending` says how it ended; `left_out` is how many episodes more there are at least.
    What was said stays on its line (`harmless`).

    >>> print(replay_text("sailing", []))
    No episodes found for topic: sailing
    """
    about = harmless(topic)
    if not reported_episodes:
        return "\n".join([f"No episodes found for topic: {about}", *(["", ending] if ending else [])])
    episodes = "episode" if len(reported_episodes) == 1 and policy != SEED else "episodes"
    lines = [f"📜 Episode history for '{about}' ({len(reported_episodes)} {episodes}):", ""]
    listed = {one.id for one in reported_episodes}
    for place, episode in enumerate(reported_episodes):
        if policy != SEED and episode.parent is not None and episode.parent not in listed:
            lines.append(GAP)
        lines += _lines(episode, policy)
        decisions, following = episode.metadata.key_decisions, reported_episodes[place + 1 : place + 2]
        # each event of a session holds what was decided in it: the last of them tells it
        if policy != SEED and decisions and all(one.metadata.key_decisions != decisions for one in following):
            lines.append(f"  Decided: {harmless('; '.join(decisions))}")
        lines.append("")
    lines += story_ends(left_out, ending)
    return "\n".join(lines)


def story_ends(left_out: int, ending: str) -> list[str]:
    """Return the lines below a story: how it ended, and that something is left out.

    >>> story_ends(2, "")
    ['2 or more episodes are left out; a higher limit tells them.', '']
    """
    more = f"{left_out} or more episodes are left out; a higher limit tells them." if left_out else ""
    return [line for text in (ending, more) if text for line in (text, "")]


def _lines(episode: ReplayedEpisode, policy: str) -> list[str]:
    day = episode.start_at.strftime("%Y-%m-%d") if episode.start_at is not None else UNDATED
    lines = [f"• [{day}] {harmless(episode.title) or UNTITLED}{_continues(episode, policy)}"]
    if episode.summary:
        lines.append(f"  {harmless(_begun(episode.summary, policy))}")
    tags = [f"Tags: {harmless(', '.join(episode.metadata.tags))}"] if episode.metadata.tags else []
    if tags if policy == SEED else episode.metadata.outcome != UNKNOWN:
        tags.append(f"Outcome: {episode.metadata.outcome}")
    return [*lines, f"  {' | '.join(tags)}"] if tags else lines


def _begun(summary: str, policy: str) -> str:
    """Return a summary, or where it is too long its beginning, up to a whole word."""
    begun = summary[:LONGEST_SUMMARY]
    if policy == SEED or len(summary) <= LONGEST_SUMMARY:
        return begun
    return begun[: max(begun.rfind(" "), LONGEST_SUMMARY // 2)].rstrip(" ,;:") + " …"


def _continues(episode: ReplayedEpisode, policy: str) -> str:
    if episode.parent is None:
        return ""
    if policy == SEED:
        return f" (continues from {str(episode.parent)[:_SHORT_ID]})"
    return f' (continues from "{harmless(episode.parent_title) or UNTITLED}")'
