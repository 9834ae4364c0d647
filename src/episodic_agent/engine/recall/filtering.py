"""What a filter comes to in a search: its bounds, and the episodes whose metadata pass it, by a table.

What has expired tells nothing any more, and neither do suppressed words: no filter finds an episode by them.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import reduce
from typing import Final
from uuid import UUID

import numpy as np

from episodic_agent.core.chains.metadata import SESSION, MetadataFilter, in_time, matches
from episodic_agent.core.facts.speakers import OWNER, person_of
from episodic_agent.core.language import fold
from episodic_agent.core.people.joining import nearest
from episodic_agent.core.threads.channels import are_apart, channel_name, projects_of
from episodic_agent.engine.arguments import clean_name
from episodic_agent.engine.episodes import listing
from episodic_agent.engine.jobs.kinds import ENCODE
from episodic_agent.engine.people.naming import people_of
from episodic_agent.engine.results import EpisodeCard
from episodic_agent.engine.threads.session_records import session_at, session_of_episode
from episodic_agent.engine.visibility.hidden import Visibility
from episodic_agent.protocols import Refs, Transaction, ref_of
from episodic_agent.schemas import Episode, Json
from episodic_agent.schemas.chains import Condition
from episodic_agent.schemas.strength import Standing
from episodic_agent.showing import clipped

DECLARED: Final = frozenset(("participant", "tool", "decision", "outcome", *SESSION))  # said of sessions
_NAMED, _SHOWN = 10, 80  # channels a note names, and characters of the one that was asked for
MOST_SPEAKERS: Final = 1 << 20  # of one user's memory
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def passing(
    tx: Transaction, conditions: MetadataFilter, visibility: Visibility | None = None
) -> Sequence[Standing]:
    """Return what the current event episodes that pass own, by reference; hidden ones are among them.

    An episode whose words are still to be found passes by what was said of its session.
    """
    conditions = _by_any_name(tx, conditions)
    spans = tx.index.spans(conditions.fields, since=conditions.since, until=conditions.until)
    if conditions.fields:
        spans = sorted([*spans, *_wordless(tx, conditions)], key=lambda one: one.first_ref)
    if visibility is None or not visibility.drawn or not conditions.fields:
        return spans
    if not visibility.reads:
        expired = visibility.expired([(one.first_ref, one.last_ref) for one in spans])
        return [one for n, one in enumerate(spans) if n not in expired]
    stored = tx.episodes.get([one.first_ref for one in spans])
    shown = {
        ref
        for ref, e in stored.items()
        if matches(
            visibility.worded(e).metadata if e.encoding_version else _declared(tx, e), conditions, e.start_at
        )
    }
    return [one for one in spans if one.first_ref in shown]


def _by_any_name(tx: Transaction, conditions: MetadataFilter) -> MetadataFilter:
    """Return conditions by which who takes part does so under any of their names."""
    if not any(one.field == "participant" for field in conditions.fields for one in field):
        return conditions
    people = people_of(tx)

    def widened(condition: Condition) -> Condition:
        if condition.field != "participant":
            return condition
        names = [fold(name) for value in condition.values for name in (value, *people.names(value))]
        return replace(condition, values=tuple(dict.fromkeys(names)))

    return replace(conditions, fields=tuple(tuple(map(widened, field)) for field in conditions.fields))


def refs_of(spans: Iterable[Standing | tuple[int, int]]) -> Refs:
    """Return every ref of these spans, in their order."""
    return np.concatenate(
        [np.zeros(0, np.int64), *(np.arange(span[0], span[1] + 1, dtype=np.int64) for span in spans)]
    )


def refs_about(tx: Transaction, conditions: MetadataFilter, visibility: Visibility | None = None) -> Refs:
    """Return the refs of all that episodes hold which pass; open frames pass where only time is asked for."""
    spans: list[Standing | tuple[int, int]] = [*passing(tx, conditions, visibility)]
    for card in _open(tx, conditions, visibility):
        frame, number = tx.threads.frame(card.thread_id), tx.threads.number(card.thread_id)
        spans.append((ref_of(number, frame.first_seq), ref_of(number, frame.next_seq - 1)))
    return np.sort(refs_of(spans))


def cards_about(
    tx: Transaction,
    now: datetime,
    conditions: MetadataFilter,
    *,
    thread_id: UUID | None = None,
    place: str | None = None,
    limit: int | None = None,
    hidden: bool = True,
) -> list[EpisodeCard]:
    """Return the cards of episodes (of a thread, at a place) that pass, as `listing.chronological` does.

    `hidden` shows what is suppressed or archived too.
    """
    visibility = Visibility(tx, now, lifted=hidden)
    named = {UUID(hex=one.name) for one in passing(tx, conditions, visibility)}
    if place is not None:
        cards = listing.at_place(tx, now, place, thread_id=thread_id)
        opened = {
            card.episode_id for card in cards if card.state == "open" and _in_open(tx, conditions, card)
        }
        matching_cards = [card for card in cards if card.episode_id in named | opened]
    else:
        closed = [e for e in tx.episodes.get(sorted(named)).values() if thread_id in (None, e.thread_id)]
        opened_cards = [c for c in _open(tx, conditions, visibility) if thread_id in (None, c.thread_id)]
        matching_cards = listing.in_order(tx, now, closed, opened_cards)
    if not hidden:
        matching_cards = [card for card in matching_cards if not card.hidden]
    newest = matching_cards if limit is None else matching_cards[max(0, len(matching_cards) - limit) :]
    return listing.with_words(tx, newest, visibility)


def threads_about(tx: Transaction, now: datetime, conditions: MetadataFilter) -> set[UUID]:
    """Return the threads of which an episode, an open frame or a part passes."""
    visibility = Visibility(tx, now, lifted=True)
    there = {card.thread_id for card in cards_about(tx, now, conditions)}
    stored = tx.episodes.list(about=conditions.fields) if conditions.fields else ()
    episodes = (visibility.worded(one) for one in stored)
    return there | {one.thread_id for one in episodes if matches(one.metadata, conditions, one.start_at)}


def threads_of_channel(tx: Transaction, channel: str) -> set[UUID]:
    """Return the threads that something came to by a channel."""
    name = _named(channel)
    return {*tx.threads.by_numbers(came_by=lambda channels: name in map(channel_name, channels)).values()}


def _named(channel: str) -> str:
    return channel_name(clean_name(channel) or "")


def channels_known(tx: Transaction) -> frozenset[str]:
    """Return the names of the channels that something came by."""
    names: set[str] = set()

    def noted(channels: tuple[str, ...]) -> bool:
        names.update(map(channel_name, channels))
        return False

    tx.threads.by_numbers(came_by=noted)
    return frozenset(names)


def refs_of_channels(tx: Transaction, names: Collection[str]) -> Refs:
    """Return the refs of all that came by some channels itself, whatever else its threads hold."""
    here = tx.threads.by_numbers(came_by=lambda some: not {*map(channel_name, some)}.isdisjoint(names))
    others = tx.observations.having("channel", sorted(names), besides=[*here]) if here else ()
    return np.setdiff1d(refs_of_threads(tx, here.values()), np.array(others, np.int64))


def cards_of_channel(tx: Transaction, cards: Sequence[EpisodeCard], channel: str) -> list[EpisodeCard]:
    """Return the cards of episodes and open frames that hold a message which came by a channel."""
    return cards_holding(tx, cards, refs_of_channels(tx, [_named(channel)]))


def cards_holding(tx: Transaction, cards: Sequence[EpisodeCard], refs: Refs) -> list[EpisodeCard]:
    """Return the cards of episodes and open frames that hold one of some messages, by their sorted refs."""
    runs = np.split(refs, np.flatnonzero(np.diff(refs) > 1) + 1) if len(refs) else []
    named = {UUID(hex=one.name) for one in tx.index.covers([(int(run[0]), int(run[-1])) for run in runs])}

    def holds(card: EpisodeCard) -> bool:
        if card.state != listing.OPEN:
            return card.episode_id in named
        number, frame = tx.threads.number(card.thread_id), tx.threads.frame(card.thread_id)
        ends = np.searchsorted(refs, [ref_of(number, frame.first_seq), ref_of(number, frame.next_seq)])
        return bool(ends[1] > ends[0])

    return [card for card in cards if holds(card)]


def refs_of_projects(tx: Transaction, own: frozenset[str]) -> Refs | None:
    """Return the refs of all that is of no other project than these; None where that is all there is."""
    if not own:
        return None
    left_out: set[tuple[str, ...]] = set()

    def is_here(channels: tuple[str, ...]) -> bool:
        if are_apart(projects_of(channels), own):
            left_out.add(channels)
        return channels not in left_out

    here = tx.threads.by_numbers(came_by=is_here)
    return refs_of_threads(tx, here.values()) if left_out else None


def refs_of_threads(tx: Transaction, threads: Iterable[UUID]) -> Refs:
    """Return the refs of all that threads hold, in order."""
    spans: list[Standing | tuple[int, int]] = []
    for identity, frame in tx.threads.frame(sorted(threads)).items():
        number, end = tx.threads.number(identity), frame.next_seq
        spans += [(ref_of(number, 0), ref_of(number, end - 1))] if end else []
    return np.sort(refs_of(spans))


def refs_that_count(
    tx: Transaction,
    conditions: MetadataFilter,
    visibility: Visibility,
    *,
    channel: str | None,
    projects: frozenset[str],
    only: frozenset[UUID] | None,
    actors: Collection[str] | None = None,
) -> Refs | None:
    """Return the only refs that count: by what episodes are about, channel or project, threads and speaker.

    None: all do.
    """
    every = [None if conditions.empty else refs_about(tx, conditions, visibility)]
    every.append(
        refs_of_projects(tx, projects) if channel is None else refs_of_channels(tx, [_named(channel)])
    )
    every.append(None if only is None else refs_of_threads(tx, only))
    every.append(None if actors is None else refs_of_actors(tx, actors))
    bounds = [refs for refs in every if refs is not None]
    return reduce(np.intersect1d, bounds) if bounds else None


def actors_called(tx: Transaction, speaker: str) -> frozenset[str]:
    """Return the names in messages that mean a speaker, with all that are said to be theirs.

    The user goes by their own or by none ("user").
    """
    people = people_of(tx)
    name, spoke = people.key(people.shown(speaker)), tx.observations.actors(limit=MOST_SPEAKERS)
    return frozenset(actor for actor in spoke if people.key(people.shown(actor)) == name)


def refs_of_actors(tx: Transaction, actors: Collection[str]) -> Refs:
    """Return the refs of all that some actors said, by their names as messages have them."""
    return np.array(tx.observations.having("actor", sorted(actors)) if actors else (), np.int64)


def unheard(tx: Transaction, channel: str | None, speaker: str | None, only: frozenset[UUID] | None) -> str:
    """Say that nothing came by the channel, or of the speaker, a search is narrowed to; "" where it did."""
    unknown = "" if channel is None else no_channel(tx, channel, only)
    return unknown or ("" if speaker is None else no_speaker(tx, speaker, only))


def no_speaker(tx: Transaction, speaker: str, only: frozenset[UUID] | None = None) -> str:
    """Say that a speaker said nothing (in some threads), and who spoke, unless that is not for all."""
    refs = refs_of_actors(tx, actors_called(tx, speaker))
    if len(refs if only is None else np.intersect1d(refs, refs_of_threads(tx, only))):
        return ""
    owner = tx.scope.user_id
    spoke = dict.fromkeys(
        owner if person_of(actor, owner) == OWNER else actor for actor in tx.observations.actors()
    )
    known = "" if only is not None else f"; who spoke: {', '.join(nearest(speaker, spoke)[:_NAMED])}"
    return f"nothing is stored that {clipped(speaker, _SHOWN)!r} said{known}"


def no_channel(tx: Transaction, channel: str, only: frozenset[UUID] | None = None) -> str:
    """Say that nothing came by a channel (to some threads), and by which something did; "" where it came."""
    there = threads_of_channel(tx, channel)
    if there if only is None else there & only:
        return ""
    threads = tx.threads.list() if only is None else tx.threads.list(ids=sorted(only))
    known = sorted({name for thread in threads for name in map(channel_name, thread.channels)})
    named = f"there are {', '.join(known[:_NAMED])}" if known else "no message here names one"
    return f"nothing is stored of channel {clipped(channel, _SHOWN)!r}; {named}"


def _wordless(tx: Transaction, conditions: MetadataFilter) -> list[Standing]:
    """Return the spans of closed episodes without words yet whose sessions were declared to be so."""
    if not all(any(one.field in DECLARED for one in field) for field in conditions.fields):
        return []
    waiting = [UUID(job.key) for job in tx.upkeep.jobs(kinds=[ENCODE]) if ":" not in job.key]
    result = []
    for episode in tx.episodes.get(waiting).values():
        current = episode.generation_to is None and not episode.encoding_version
        if current and matches(_declared(tx, episode), conditions, episode.start_at):
            number = tx.threads.number(episode.thread_id)
            first, last = ref_of(number, episode.first_seq), ref_of(number, episode.last_seq)
            start, end, reviewed = (
                (at - _EPOCH) // timedelta(microseconds=1)
                for at in (episode.start_at, episode.end_at, episode.last_reviewed_at)
            )
            stability = episode.stability
            result.append(Standing(first, last, episode.id.hex, start, end, stability, reviewed))
    return result


def _declared(tx: Transaction, episode: Episode) -> Mapping[str, Json]:
    """Return the metadata of an episode that has no words yet: what was said of its session."""
    session = session_of_episode(tx, episode)
    return {} if session is None else session.metadata()


def _open(tx: Transaction, conditions: MetadataFilter, visibility: Visibility | None) -> list[EpisodeCard]:
    """Return the open frames that pass: they are about what was said of their session, else about nothing."""
    return [c for c in listing.open_frames(tx, visibility) if _in_open(tx, conditions, c)]


def _in_open(tx: Transaction, conditions: MetadataFilter, card: EpisodeCard) -> bool:
    if not conditions.fields:
        return in_time(conditions, card.start_at)
    section = tx.threads.section(card.thread_id)
    session = None if section is None else session_at(tx, section)
    return session is not None and matches(session.metadata(), conditions, card.start_at)


@dataclass(frozen=True, slots=True)
class SearchBounds:
    """What the caller insists on: a stretch of event time, a thread, a place; `about`: only these refs.

    Of other threads than `only` nothing is told at all, and nothing that others than `actors` said; `about`
    has their refs alone.
    """

    since: datetime | None = None
    until: datetime | None = None
    thread_id: UUID | None = None
    place: str | None = None
    about: Refs | None = None
    only: frozenset[UUID] | None = None
    actors: frozenset[str] | None = None

    def __bool__(self) -> bool:
        is_known = any(part is not None for part in (self.since, self.until, self.thread_id, self.place))
        return is_known or self.about is not None
