"""Answer a question for a place alone, or a place and a time: what happened there, the newest first.

Nothing is scored by words: the visits are the answer. Each hit is an episode, or the open frame, with what
was observed at the place, telling things first.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

import numpy as np

from episodic_agent.core.boundary.steps.events import SALIENT, kind_of
from episodic_agent.core.forgetting import retrievability
from episodic_agent.core.interfaces import Refs, Transaction, split_ref
from episodic_agent.core.places import Stay, place_key
from episodic_agent.core.ranking import Query, Signs, support, time_match
from episodic_agent.core.timewords import TimeQuery
from episodic_agent.engine.curtain import Curtain
from episodic_agent.engine.gathering import DAY, Filter
from episodic_agent.engine.listing import open_card
from episodic_agent.engine.places import Owners, Stretch
from episodic_agent.engine.results import EpisodeCard, Evidence, Hit, Recall, hit_of
from episodic_agent.schemas import Episode, Observation

READ = 200  # observations of one episode at the place that are looked at for telling ones
PROOFS = 5  # of them shown with the hit
DIGITS = 6
NOBODY = "nobody was there then"
THEN = "nobody was there then; the newest visits of other times are shown"


@dataclass(frozen=True, slots=True)
class _Found:
    """An episode at the place: its id, or its thread's number while it is open, and the refs there."""

    identity: UUID | int
    refs: Refs


def answers(query: Query, wanted: Filter) -> bool:
    """Tell whether a question asks for a place alone, and no filter insists on another place."""
    return query.place_alone and (wanted.place is None or place_key(wanted.place) in query.places)


def recall(
    tx: Transaction,
    query: Query,
    wanted: Filter,
    now: datetime,
    *,
    limit: int,
    observations: int,
    curtain: Curtain,
) -> Recall:
    """Return the episodes at the places asked for, newest first (oldest for "the first time").

    Confident where somebody was there, at the time asked for if one was; else abstained, with other times.
    """
    anybody = replace(query, speakers=frozenset())  # "I" may be whoever has the robot
    found = _first(_episodes(tx, query, wanted, curtain), limit) or _first(
        _episodes(tx, anybody, wanted, curtain), limit
    )
    there = bool(found)
    if not there and query.time:
        found = _first(_episodes(tx, replace(anybody, time=TimeQuery()), wanted, curtain), limit)
    confidence = support(Signs(held=float(there)))
    shown = _observations(tx, found)
    hits = [
        _hit(rank, card, shown[n], confidence, now)
        for rank, (n, card) in enumerate(_cards(tx, found, curtain).items(), 1)
    ]
    best = [Evidence(o, h.score) for h, of in zip(hits, shown, strict=True) for o in sorted(of, key=_by_seq)]
    return Recall(
        query=query.text,
        hits=hits,
        observations=best[:observations],
        abstained=not there,
        confidence=round(confidence, DIGITS) if hits else 0.0,
        notes=[] if there else [THEN if hits else NOBODY],
    )


def _by_seq(observation: Observation) -> int:
    return observation.seq


def _first(found: Iterator[_Found], limit: int) -> list[_Found]:
    """Return the first episodes, each once with all of its refs among those read so far."""
    kept: dict[UUID | int, _Found] = {}
    for one in found:
        if one.identity in kept:
            refs = np.concatenate([kept[one.identity].refs, one.refs])
            kept[one.identity] = _Found(one.identity, np.sort(refs))
        elif len(kept) == limit:
            break
        else:
            kept[one.identity] = one
    return list(kept.values())


def _episodes(tx: Transaction, query: Query, wanted: Filter, curtain: Curtain) -> Iterator[_Found]:
    """Yield the parts of episodes at the places, the time and by whom it is asked about, in that order."""
    latest = query.order is None or query.order.latest
    stays = sorted(_stays(tx, query, wanted), key=_end if latest else _start, reverse=latest)
    owners = Owners(tx, [(stay.first_ref, stay.last_ref) for stay in stays])
    for stay in stays:
        closed = owners.closed(stay)
        hidden = curtain.why_episodes([cover.first_ref for cover in closed])
        parts: list[tuple[UUID | int, int, int]] = [
            (UUID(hex=c.name), max(c.first_ref, stay.first_ref), min(c.last_ref, stay.last_ref))
            for c in closed
            if c.first_ref not in hidden
        ]
        if owners.is_open(stay, closed):
            begin = max(stay.first_ref, closed[-1].last_ref + 1) if closed else stay.first_ref
            parts.append((stay.thread, begin, stay.last_ref))
        for identity, first, last in reversed(parts) if latest else parts:
            refs = np.arange(first, last + 1, dtype=np.int64)
            refs = curtain.shown(refs[_fits(tx, query, wanted, refs)])
            refs = refs if wanted.about is None else np.intersect1d(refs, wanted.about)
            if len(refs):
                yield _Found(identity, refs)


def _stays(tx: Transaction, query: Query, wanted: Filter) -> list[Stay]:
    ranges = [Stretch(None, r.start, r.end) for r in query.time.ranges]
    return [
        stay
        for place in (query.places if wanted.place is None else [wanted.place])
        for stay in tx.places.stays(
            place=place, thread_id=wanted.thread_id, since=wanted.since, until=wanted.until
        )
        if not ranges or any(part.touches(stay) for part in ranges)
    ]


def _end(stay: Stay) -> tuple[datetime, int]:
    return stay.end_at, stay.first_ref


def _start(stay: Stay) -> tuple[datetime, int]:
    return stay.start_at, stay.first_ref


def _fits(
    tx: Transaction, query: Query, wanted: Filter, refs: Refs
) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    """Tell which observations are of those asked about, at the time asked for, in the caller's stretch."""
    fits = np.ones(len(refs), np.bool_)
    if query.speakers:
        fits &= np.isin(refs, [m.ref for m in tx.threads.marks(refs) if m.actor in query.speakers])
    if not (query.time or wanted.since or wanted.until):
        return fits
    seconds = tx.threads.times(refs) / 1e6
    if query.time:
        fits &= time_match(query.time, seconds) >= 1
    if wanted.since is not None:
        fits &= seconds >= wanted.since.timestamp()
    if wanted.until is not None:
        fits &= seconds < wanted.until.timestamp()
    return fits


def _observations(tx: Transaction, found: Sequence[_Found]) -> list[list[Observation]]:
    """Return what is shown of each episode: what tells of events first."""
    wanted = [one.refs[:READ].tolist() for one in found]
    stored = tx.threads.by_refs([ref for refs in wanted for ref in refs])
    inside = [[stored[ref] for ref in refs if ref in stored] for refs in wanted]
    return [sorted(here, key=lambda o: (not _tells(o), o.seq)) for here in inside]


def _tells(observation: Observation) -> bool:
    return any(kind_of(event) in SALIENT for event in observation.events)


def _cards(tx: Transaction, found: Sequence[_Found], curtain: Curtain) -> Mapping[int, Episode | EpisodeCard]:
    """Return the episodes found, by row; those still open are cards."""
    stored = tx.episodes.by_ids([one.identity for one in found if isinstance(one.identity, UUID)])
    return {
        n: curtain.worded(stored[one.identity])
        if isinstance(one.identity, UUID)
        else _open(tx, one.refs, curtain)
        for n, one in enumerate(found)
    }


def _open(tx: Transaction, refs: Refs, curtain: Curtain) -> EpisodeCard:
    number = split_ref(int(refs[0]))[0]
    thread_id = tx.threads.by_numbers([number])[number]
    thread, frame = tx.threads.get(thread_id), tx.threads.frame(thread_id)
    if thread is None:  # a foreign key forbids it
        raise LookupError(f"observations without their thread {thread_id}")
    inside = tx.threads.observations(thread_id, frame.first_seq, frame.next_seq - 1)
    return open_card(thread, frame.first_seq, curtain.heard(number, inside))


def _hit(
    rank: int, card: Episode | EpisodeCard, inside: Sequence[Observation], confidence: float, now: datetime
) -> Hit:
    score, strength = round(1 / rank, DIGITS), 1.0
    if isinstance(card, Episode):
        days = max(0.0, (now - card.last_reviewed_at).total_seconds() / DAY)
        strength = float(retrievability(card.stability, days))
    proofs = [Evidence(o, score) for o in sorted(inside[:PROOFS], key=_by_seq)]
    return hit_of(card, score, round(confidence, DIGITS), round(strength, DIGITS), proofs, {"place": 1.0})
