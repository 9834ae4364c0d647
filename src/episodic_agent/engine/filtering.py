"""Which episodes pass a filter over metadata: found by the inverted table, not by reading what there is.

What has expired tells nothing any more, and neither do suppressed words: no filter finds an episode by them.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from uuid import UUID

import numpy as np

from episodic_agent.core.chaining.filters import EVERYTHING, MetadataFilter, in_time, matches, parse_filter
from episodic_agent.core.interfaces import Refs, Span, Transaction, ref_of
from episodic_agent.engine import listing
from episodic_agent.engine.curtain import Curtain
from episodic_agent.engine.results import EpisodeCard

Where = str | Sequence[str] | None  # a filter as callers write it


def filter_of(where: Where) -> MetadataFilter:
    """Read a filter; everything passes where there is none. InvalidInput for what is none."""
    return EVERYTHING if where is None else parse_filter(where)


def passing(tx: Transaction, wanted: MetadataFilter, curtain: Curtain | None = None) -> Sequence[Span]:
    """Return what the current event episodes that pass own, by reference; hidden ones are among them."""
    found = tx.chains.spans(wanted.fields, since=wanted.since, until=wanted.until)
    if curtain is None or not curtain.drawn or not wanted.fields:
        return found
    if not curtain.reads:
        expired = curtain.expired([(one.first_ref, one.last_ref) for one in found])
        return [one for n, one in enumerate(found) if n not in expired]
    stored = tx.episodes.by_refs([one.first_ref for one in found])
    shown = {ref for ref, e in stored.items() if matches(curtain.worded(e).metadata, wanted, e.start_at)}
    return [one for one in found if one.first_ref in shown]


def refs_of(spans: Iterable[Span | tuple[int, int]]) -> Refs:
    """Return every ref of these spans, in their order."""
    return np.concatenate(
        [np.zeros(0, np.int64), *(np.arange(span[0], span[1] + 1, dtype=np.int64) for span in spans)]
    )


def refs_about(tx: Transaction, wanted: MetadataFilter, curtain: Curtain | None = None) -> Refs:
    """Return the refs of all that episodes hold which pass; open frames pass where only time is asked for."""
    spans: list[Span | tuple[int, int]] = [*passing(tx, wanted, curtain)]
    for card in _open(tx, wanted, curtain):
        frame, number = tx.threads.frame(card.thread_id), tx.threads.number(card.thread_id)
        spans.append((ref_of(number, frame.first_seq), ref_of(number, frame.next_seq - 1)))
    return np.sort(refs_of(spans))


def cards_about(
    tx: Transaction,
    now: datetime,
    wanted: MetadataFilter,
    *,
    thread_id: UUID | None = None,
    place: str | None = None,
    limit: int | None = None,
) -> list[EpisodeCard]:
    """Return the cards of episodes (of a thread, at a place) that pass, as `listing.chronological` does."""
    curtain = Curtain(tx, now, lifted=True)
    named = {UUID(hex=one.name) for one in passing(tx, wanted, curtain)}
    if place is not None:
        cards = listing.at_place(tx, now, place, thread_id=thread_id)
        opened = {card.episode_id for card in cards if card.state == "open" and _in_open(wanted, card)}
        found = [card for card in cards if card.episode_id in named | opened]
    else:
        closed = [e for e in tx.episodes.by_ids(sorted(named)).values() if thread_id in (None, e.thread_id)]
        opened_cards = [c for c in _open(tx, wanted, curtain) if thread_id in (None, c.thread_id)]
        found = listing.in_order(tx, now, closed, opened_cards)
    return found if limit is None else found[max(0, len(found) - limit) :]


def threads_about(tx: Transaction, now: datetime, wanted: MetadataFilter) -> set[UUID]:
    """Return the threads of which an episode, an open frame or a part passes."""
    curtain = Curtain(tx, now, lifted=True)
    there = {card.thread_id for card in cards_about(tx, now, wanted)}
    stored = tx.episodes.by_ids(tx.chains.matching(wanted.fields)) if wanted.fields else {}
    whole = (curtain.worded(one) for one in stored.values() if one.generation_to is None)
    return there | {one.thread_id for one in whole if matches(one.metadata, wanted, one.start_at)}


def _open(tx: Transaction, wanted: MetadataFilter, curtain: Curtain | None) -> list[EpisodeCard]:
    """Return the open frames that pass: they are about nothing yet."""
    return [] if wanted.fields else [c for c in listing.open_frames(tx, curtain) if _in_open(wanted, c)]


def _in_open(wanted: MetadataFilter, card: EpisodeCard) -> bool:
    return not wanted.fields and in_time(wanted, card.start_at)
