"""Answer a question for a place alone, or a place and a time: what happened there, the newest first.

So are questions for whatever a filter leaves ("what happened?", in a thread), and for the steps that failed
or worked. Nothing is scored by words:
the visits are the answer, or what the filter leaves. Each hit is an episode, or the open frame, with what was
observed there, telling things first.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from uuid import UUID

import numpy as np

from episodic_agent.core.boundary.steps.events import SALIENT, kind_of
from episodic_agent.core.episodes.tries import tries
from episodic_agent.core.ingest.steps import SUCCESS
from episodic_agent.core.language import tokens
from episodic_agent.core.language.timewords import TimeQuery
from episodic_agent.core.recall import Query, Signs, support, time_match
from episodic_agent.core.recall.bm25 import K1
from episodic_agent.core.strength.decay import retrievability
from episodic_agent.engine.episodes.listing import open_card, with_words
from episodic_agent.engine.recall.filtering import SearchBounds
from episodic_agent.engine.recall.gathering import DAY, FIRST, LAST, within
from episodic_agent.engine.recall.places import Owners, Stretch, known_visits
from episodic_agent.engine.recall.times import span
from episodic_agent.engine.results import EpisodeCard, Evidence, Hit, Recall, hit_of
from episodic_agent.engine.visibility.hidden import Visibility
from episodic_agent.protocols import OBSERVATIONS, Refs, Transaction, split_ref
from episodic_agent.schemas import Episode, Observation
from episodic_agent.schemas.places import Visit, place_key

APPEARANCE = "appearance"
READ = 200  # observations of one episode at the place that are looked at for telling ones
PROOFS = 5  # of them shown with the hit
DIGITS = 6
NOBODY = "nobody was there then"
THEN = "nobody was there then; the newest visits of other times are shown"
NOTHING = "nothing was said or done there"
AT_OTHER_TIMES = "nothing was said or done there then; the newest of other times is shown"
_ENDED = ("succeeded", "failed", "partly", "outcome")  # of which a step says one that says how it ended
_MOST_READ = 100_000  # newest messages among which those steps are looked for, where nothing bounds them
_MOST_ENDED = 2_000  # newest steps whose outcomes are read
CHUNK = 1_000  # refs of what a filter leaves that are looked through at a time, newest first


@dataclass(frozen=True, slots=True)
class _PlaceMatch:
    """An episode at the place: its id, or its thread's number while it is open, and the refs there."""

    identity: UUID | int
    refs: Refs


def answers(query: Query, bounds: SearchBounds) -> bool:
    """Tell whether a question asks for a place alone, or for all that a filter leaves.

    Not where the filter insists on another place than the question does, nor of days to come. Who came may
    be told in talk: that is listed of a place alone.
    """
    if query.places:
        return query.place_alone and (bounds.place is None or place_key(bounds.place) in query.places)
    listed = query.everything or (query.who_came and bounds.place is not None)
    return listed and query.ahead is None


def steps_ended(tx: Transaction, query: Query, bounds: SearchBounds, visibility: Visibility) -> Refs | None:
    """Return the steps that ended as a question asks, rising, with what made right what failed.

    None where it asks for no outcome, or no step had it: then others tell what failed. Of what worked those
    steps are meant that made something right, where any did.
    """
    if not query.outcomes:
        return None
    if query.time.ranges and bounds.since is bounds.until is None:
        since, until = span(query)
        bounds = replace(bounds, since=since, until=until)
    lately = partial(tx.index.between, FIRST, LAST, limit=_MOST_READ, newest=True)
    refs = visibility.shown(np.sort(within(tx, bounds) if bounds else lately()))
    weights = dict.fromkeys((term for word in _ENDED for term in tokens(word)), 1.0)
    scores = tx.index.text_scores(OBSERVATIONS, weights, refs, k1=K1, b=0.0, average_length=1.0)[1]
    refs = refs[scores > 0]
    newest = np.argsort(tx.index.times(refs), kind="stable")[-_MOST_ENDED:]
    stored = tx.observations.get(np.sort(refs[newest]).tolist())
    threads: dict[UUID, list[tuple[int, Observation]]] = {}
    for ref, step in sorted(stored.items()):
        threads.setdefault(step.thread_id, []).append((ref, step))
    tried = [(of, tries([step for _, step in of])) for of in threads.values()]
    righted = any(one.righted is not None for _, results in tried for one in results)
    ended: set[int] = set()
    for of, results in tried:
        for step in results:
            was_righted = step.righted is not None and SUCCESS in query.outcomes
            is_meant = step.outcome in query.outcomes and (step.outcome != SUCCESS or not righted)
            if is_meant or was_righted:
                ended.update(of[place][0] for place in (step.place, step.righted) if place is not None)
    return np.array(sorted(ended), np.int64) if ended else None


def recall(
    tx: Transaction,
    query: Query,
    bounds: SearchBounds,
    now: datetime,
    *,
    limit: int,
    observations: int,
    visibility: Visibility,
) -> Recall:
    """Return the episodes at the places, or in the bounds, newest first (oldest for "the first time").

    Confident where somebody was there, at the time asked for if one was; else other times are candidates.
    """
    if bounds.place is not None:
        known_visits(tx, bounds.place, bounds.thread_id)  # NotFound names the nearest
    placed = bounds.place is not None or bool(query.places)
    anybody = replace(query, speakers=frozenset())  # "I" may be whoever has the robot
    matches = _matches(tx, query, bounds, visibility, limit) or _matches(
        tx, anybody, bounds, visibility, limit
    )
    there = bool(matches)
    if not there and query.time:
        matches = _first(_episodes(tx, replace(anybody, time=TimeQuery()), bounds, visibility), limit)
    confidence = support(Signs(held=float(there)))
    shown = _observations(tx, matches)
    hits = [
        _hit(rank, card, shown[n], confidence, now)
        for rank, (n, card) in enumerate(_cards(tx, matches, visibility).items(), 1)
    ]
    best = [Evidence(o, h.score) for h, of in zip(hits, shown, strict=True) for o in sorted(of, key=_by_seq)]
    return Recall(
        query=query.text,
        hits=hits if there else [],
        observations=best[:observations],
        confidence=round(confidence, DIGITS) if hits else 0.0,
        notes=[] if there else [_why_nothing(placed=placed, elsewhen=bool(hits))],
        candidates=() if there else hits,
    )


def _why_nothing(*, placed: bool, elsewhen: bool) -> str:
    if placed:
        return THEN if elsewhen else NOBODY
    return AT_OTHER_TIMES if elsewhen else NOTHING


def _by_seq(observation: Observation) -> int:
    return observation.seq


def _matches(
    tx: Transaction, query: Query, bounds: SearchBounds, visibility: Visibility, limit: int
) -> list[_PlaceMatch]:
    """Return the first episodes; of those asked for who came, the ones in which somebody appeared, if any."""
    if query.who_came:
        appeared = (one for one in _episodes(tx, query, bounds, visibility) if _has_appearance(tx, one))
        if matches := _first(appeared, limit):
            return matches
    return _first(_episodes(tx, query, bounds, visibility), limit)


def _has_appearance(tx: Transaction, match: _PlaceMatch) -> bool:
    stored = tx.observations.get(match.refs[:READ].tolist()).values()
    return any(kind_of(event) == APPEARANCE for one in stored for event in one.events)


def _first(matches: Iterator[_PlaceMatch], limit: int) -> list[_PlaceMatch]:
    """Return the first episodes, each once with all of its refs among those read so far."""
    stored_matches: dict[UUID | int, _PlaceMatch] = {}
    for match in matches:
        if match.identity in stored_matches:
            refs = np.concatenate([stored_matches[match.identity].refs, match.refs])
            stored_matches[match.identity] = _PlaceMatch(match.identity, np.sort(refs))
        elif len(stored_matches) == limit:
            break
        else:
            stored_matches[match.identity] = match
    return list(stored_matches.values())


def _episodes(
    tx: Transaction, query: Query, bounds: SearchBounds, visibility: Visibility
) -> Iterator[_PlaceMatch]:
    """Yield the parts of episodes at the places, the time and by whom it is asked about, in that order."""
    latest = query.order is None or query.order.latest
    if bounds.place is None and not query.places:
        yield from _left(tx, query, bounds, visibility, latest=latest)
        return
    visits = sorted(_visits(tx, query, bounds), key=_end if latest else _start, reverse=latest)
    owners = Owners(tx, [(stay.first_ref, stay.last_ref) for stay in visits])
    for visit in visits:
        closed = owners.closed(visit)
        hidden = visibility.why_episodes([cover.first_ref for cover in closed])
        parts: list[tuple[UUID | int, int, int]] = [
            (UUID(hex=c.name), max(c.first_ref, visit.first_ref), min(c.last_ref, visit.last_ref))
            for c in closed
            if c.first_ref not in hidden
        ]
        if owners.is_open(visit, closed):
            begin = max(visit.first_ref, closed[-1].last_ref + 1) if closed else visit.first_ref
            parts.append((visit.thread, begin, visit.last_ref))
        for identity, first, last in reversed(parts) if latest else parts:
            refs = np.arange(first, last + 1, dtype=np.int64)
            refs = visibility.shown(refs[_fits(tx, query, bounds, refs)])
            refs = refs if bounds.about is None else np.intersect1d(refs, bounds.about)
            if len(refs):
                yield _PlaceMatch(identity, refs)


def _left(
    tx: Transaction, query: Query, bounds: SearchBounds, visibility: Visibility, *, latest: bool
) -> Iterator[_PlaceMatch]:
    """Yield the parts of episodes that a filter leaves, by their newest (oldest) messages."""
    every = within(tx, bounds)
    every = every[np.argsort(tx.index.times(every), kind="stable")]
    every = every[::-1] if latest else every
    for begin in range(0, len(every), CHUNK):
        refs = every[begin : begin + CHUNK]
        refs = refs[_fits(tx, query, bounds, refs)]
        refs = refs[np.isin(refs, visibility.shown(np.sort(refs)))]
        covers = tx.index.episode_marks(refs, covering=True)
        hidden = visibility.why_episodes(list({cover.ref for cover in covers.values()}))
        parts: dict[UUID | int, list[int]] = {}
        for ref in refs.tolist():
            cover = covers.get(ref)
            if cover is None or cover.ref not in hidden:
                identity = split_ref(ref)[0] if cover is None else UUID(hex=cover.name)
                parts.setdefault(identity, []).append(ref)
        for identity, inside in parts.items():
            yield _PlaceMatch(identity, np.sort(np.array(inside, np.int64)))


def _visits(tx: Transaction, query: Query, bounds: SearchBounds) -> list[Visit]:
    ranges = [Stretch(None, r.start, r.end) for r in query.time.ranges]
    return [
        stay
        for place in (query.places if bounds.place is None else [bounds.place])
        for stay in tx.threads.visits(
            place=place, thread_id=bounds.thread_id, since=bounds.since, until=bounds.until
        )
        if not ranges or any(part.touches(stay) for part in ranges)
    ]


def _end(visit: Visit) -> tuple[datetime, int]:
    return visit.end_at, visit.first_ref


def _start(visit: Visit) -> tuple[datetime, int]:
    return visit.start_at, visit.first_ref


def _fits(
    tx: Transaction, query: Query, bounds: SearchBounds, refs: Refs
) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    """Tell which observations are of those asked about, at the time asked for, in the caller's stretch."""
    fits = np.ones(len(refs), np.bool_)
    if query.speakers:
        fits &= np.isin(refs, [m.ref for m in tx.index.observation_marks(refs) if m.actor in query.speakers])
    if not (query.time or bounds.since or bounds.until):
        return fits
    seconds = tx.index.times(refs) / 1e6
    if query.time:
        fits &= time_match(query.time, seconds) >= 1
    if bounds.since is not None:
        fits &= seconds >= bounds.since.timestamp()
    if bounds.until is not None:
        fits &= seconds < bounds.until.timestamp()
    return fits


def _observations(tx: Transaction, matches: Sequence[_PlaceMatch]) -> list[list[Observation]]:
    """Return what is shown of each episode: what tells of events first."""
    targets = [one.refs[:READ].tolist() for one in matches]
    stored = tx.observations.get([ref for refs in targets for ref in refs])
    inside = [[stored[ref] for ref in refs if ref in stored] for refs in targets]
    return [sorted(here, key=lambda o: (not _tells(o), o.seq)) for here in inside]


def _tells(observation: Observation) -> bool:
    return any(kind_of(event) in SALIENT for event in observation.events)


def _cards(
    tx: Transaction, matches: Sequence[_PlaceMatch], visibility: Visibility
) -> Mapping[int, Episode | EpisodeCard]:
    """Return the episodes found, by row; those still open are cards."""
    stored = tx.episodes.get([one.identity for one in matches if isinstance(one.identity, UUID)])
    return {
        n: visibility.worded(stored[one.identity])
        if isinstance(one.identity, UUID)
        else _open(tx, one.refs, visibility)
        for n, one in enumerate(matches)
    }


def _open(tx: Transaction, refs: Refs, visibility: Visibility) -> EpisodeCard:
    number = split_ref(int(refs[0]))[0]
    thread_id = tx.threads.by_numbers([number])[number]
    thread, frame = tx.threads.get(thread_id), tx.threads.frame(thread_id)
    if thread is None:  # a foreign key forbids it
        raise LookupError(f"observations without their thread {thread_id}")
    inside = tx.observations.read(thread_id, frame.first_seq, frame.next_seq - 1)
    card = open_card(thread, frame.first_seq, visibility.visible(number, inside))
    return with_words(tx, [card], visibility)[0]


def _hit(
    rank: int, card: Episode | EpisodeCard, inside: Sequence[Observation], confidence: float, now: datetime
) -> Hit:
    score, strength = round(1 / rank, DIGITS), 1.0
    if isinstance(card, Episode):
        days = max(0.0, (now - card.last_reviewed_at).total_seconds() / DAY)
        strength = float(retrievability(card.stability, days))
    proofs = [Evidence(o, score) for o in sorted(inside[:PROOFS], key=_by_seq)]
    return hit_of(card, score, round(confidence, DIGITS), round(strength, DIGITS), proofs, {"place": 1.0})
