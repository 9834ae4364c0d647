"""Questions that name when or where: the times, the place, the thread or channel they mean.

Times are read by the clock of whoever writes. What happened on Tuesday is told on Tuesday, or later with its
day: "yesterday the server was down". What other days tell is no answer, however well it is worded. A thread
or channel that a question names as such is preferred; with a time beside it and nothing else it is what is
asked for. A customer may be talked of elsewhere, so with any other matter it is a preference and no filter.

A question for a place alone, or a place and a time, is answered by what happened there, the newest first. So
are questions for whatever a filter leaves ("what happened?", in a thread), and for the steps that failed or
worked. Nothing is scored by words: the visits are the answer, or what the filter leaves. Each hit is an
episode, or the open frame, with what was observed there, telling things first.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from functools import cache, partial
from typing import Final, NamedTuple
from uuid import UUID

import numpy as np

from episodic_agent.core import recall as ranking
from episodic_agent.core.boundary.steps.events import SALIENT, kind_of
from episodic_agent.core.context.quoting import quoted
from episodic_agent.core.echo import own_words
from episodic_agent.core.episodes.steps import tries
from episodic_agent.core.ingest.words import SUCCESS
from episodic_agent.core.language import fold, tokens
from episodic_agent.core.language.glued import glued_days, glued_weekdays
from episodic_agent.core.language.pastdays import asked_time, speaks_of_days_over
from episodic_agent.core.language.timewords import BEGINNING, TimeQuery, date_words
from episodic_agent.core.recall import Signs, support, time_match
from episodic_agent.core.recall.alone import asks_what_happened, asks_what_was_said, looks_back
from episodic_agent.core.recall.bm25 import K1
from episodic_agent.core.recall.query import ROLES, Query, TalkName, talk_names
from episodic_agent.core.strength import retrievability
from episodic_agent.core.threads.channels import channels_meant
from episodic_agent.data import pairs, phrases
from episodic_agent.engine.deps import Deps
from episodic_agent.engine.episodes.listing import open_card, with_words
from episodic_agent.engine.recall.filtering import (
    SearchBounds,
    channels_known,
    refs_of_channels,
    refs_of_threads,
)
from episodic_agent.engine.recall.gathering import DAY, FIRST, LAST, Gathered, within
from episodic_agent.engine.recall.places import Owners, Stretch, known_visits
from episodic_agent.engine.results import EpisodeCard, Evidence, Hit, Recall, hit_of
from episodic_agent.engine.threads.resolving import given_name, is_place
from episodic_agent.engine.visibility.hidden import Visibility
from episodic_agent.protocols import OBSERVATIONS, Refs, Transaction, split_ref
from episodic_agent.schemas import Episode, Observation, Scope
from episodic_agent.schemas.places import Visit, place_key

NEWEST, LATELY = 16, timedelta(days=30)  # messages that may tell where their writer is, and since when
_NO_OFFSET: Final = timedelta()
_DAY: Final = timedelta(days=1)
_LONGEST_NAME: Final = 60  # characters of one that a note says is never mentioned


def zone_of_writer(tx: Transaction, last: datetime) -> timedelta | None:
    """Return the offset of the newest messages that tell one: "yesterday" is one of whoever writes.

    What a program writes has a time in UTC, and tells nothing of where its user is. `last` is when the
    newest message was said.
    """
    newest = tx.index.between(last - LATELY, last + timedelta.resolution, limit=NEWEST, newest=True).tolist()
    stored = tx.observations.get(newest)
    offsets = [stored[ref].utc_offset for ref in reversed(newest) if ref in stored]
    return next((timedelta(seconds=offset) for offset in offsets if offset), None)


def zone_then(tx: Transaction, query: Query, now: datetime, last: datetime) -> timedelta | None:
    """Return by whose clock the days that a question names were lived, where it is another than now.

    A day of summer is one of summer time, whenever it is asked for. None where nobody tells, and for who asks
    in another zone than that of the newest messages.
    """
    if not query.time.ranges or query.time.ranges[0].start <= BEGINNING:
        return None
    if now.utcoffset() and now.utcoffset() != zone_of_writer(tx, last):
        return None
    since = query.time.ranges[0].start - _DAY
    near = tx.index.between(since, min(since + LATELY, last + timedelta.resolution), limit=NEWEST).tolist()
    stored = tx.observations.get(near)
    offsets = [stored[ref].utc_offset for ref in near if ref in stored]
    then = next((timedelta(seconds=offset) for offset in offsets if offset), None)
    return None if then == query.time.utc_offset else then


def in_its_time(
    analyse: Callable[[datetime, timedelta | None], Query],
    now: datetime,
    last: datetime | None,
    writer: timedelta | None,
) -> Query:
    """Return a question as read at a moment, its days and hours by the zone of `now`, else the writer's.

    `last` is when the newest message was said.
    """
    zone = now.utcoffset()
    query = analyse(now, zone)
    if (query.time or query.ahead) and not zone and writer:
        zone = writer
        query = analyse(now, zone)
    offset = zone or _NO_OFFSET
    # of "yesterday evening" the day counts: that nobody spoke after four says nothing of what is meant
    days = [datetime.combine(r.start + offset, time(), r.start.tzinfo) for r in query.time.ranges]
    if last is None or query.ahead or not days or any(day - offset <= last for day in days):
        return query
    # "in April" asked long after the last message means the April that is known; "yesterday" is one
    known = analyse(last, zone)
    pairs = zip(query.time.ranges, known.time.ranges, strict=False)
    is_calendar = all((a.start.month, a.start.day) == (b.start.month, b.start.day) for a, b in pairs)
    return known if is_calendar else query


def span(query: Query) -> tuple[datetime, datetime]:
    """Return from when until when the times reach that a question names."""
    ranges = query.time.ranges
    return min(one.start for one in ranges), max(one.end for one in ranges)


def nothing_due(days: Sequence[date], *, drawn: bool) -> str:
    """Say that nothing was said of days to come, as far as is shown."""
    when = f"{days[0]}" if len(days) == 1 else f"{days[0]} to {days[-1]}"
    hidden = "; what is suppressed or archived is not looked at" if drawn else ""
    return f"nothing was said of {when}{hidden}"


def silence(since: datetime, until: datetime, *, drawn: bool) -> str:
    """Say that nothing was said in the time a question names, as far as is shown."""
    end = f"{until:%Y-%m-%d %H:%M}"
    when = f"before {end}" if since == BEGINNING else f"from {since:%Y-%m-%d %H:%M} to {end}"
    hidden = "; what is suppressed or archived is not looked at" if drawn else ""
    return f"nothing was said {when} UTC{hidden}"


def nothing_then(query: Query, *, drawn: bool) -> str:
    """Say that nothing was said in the times a question names: by their days, if it names whole ones.

    >>> from datetime import UTC
    >>> from episodic_agent.core.recall.query import analyse
    >>> thursday = datetime(2026, 10, 29, 9, tzinfo=UTC)
    >>> nothing_then(analyse("was war am 24.10.?", [], thursday), drawn=False)
    'nothing was said of 2026-10-24'
    >>> nothing_then(analyse("what happened yesterday evening?", [], thursday), drawn=False)
    'nothing was said from 2026-10-28 17:00 to 2026-10-28 23:00 UTC'
    """
    since, until = span(query)
    first, end = (
        moment if since == BEGINNING else moment + query.time.utc_offset for moment in (since, until)
    )
    if since == BEGINNING or first.time() != time() or end.time() != time():
        return silence(since, until, drawn=drawn)
    days = dict.fromkeys([first.date(), (end - _DAY).date()])
    return nothing_due([*days], drawn=drawn)


def why_nothing(trust: ranking.Confidence, gathered: Gathered, threshold: float) -> str:
    """Say how sure an answer would have to be, and which names of the question nobody ever mentioned."""
    needed = f"nothing relevant: confidence {trust.answerable:.2f}, {threshold:g} is needed"
    if not gathered.unknown or not gathered.never:
        return needed
    # of "Uncle Rolf", where somebody is called Rolf, that would be false
    *others, last = [f"'{quoted(name, _LONGEST_NAME)}'" for name in gathered.never]
    named = f"{', '.join(others)} and {last} are" if others else f"{last} is"
    return f"{needed}; {named} never mentioned here"


def nothing_to_search(deps: Deps, scope: Scope) -> str:
    """Say of a search that looked through nothing why that is, and what to do."""
    users = sorted(one.user_id for one in deps.store.scopes(scope.space))
    if deps.store.scopes(scope) and deps.embedder is None:
        return (
            "nothing here has a word of this query, and without an embedder words alone are searched; "
            "ask in the words that were used, or open the memory with an embedder"
        )
    if deps.store.scopes(scope) or not users:
        return "the memory holds nothing to search here"
    return f"nothing is remembered of {scope.user_id!r}; known users: {', '.join(users[:10])}"


class NamedTalk(NamedTuple):
    """What was said in the thread or channel a question names; `alone`: else it holds a time at most."""

    refs: Refs
    alone: bool


def named_talk(
    tx: Transaction, question: str, now: datetime, utc_offset: timedelta | None = None
) -> NamedTalk | None:
    """Return what was said in the thread or channel that a question names as such, if it names one."""
    named = talk_names(question)
    channels = channels_known(tx) if named else frozenset()
    for called in named:
        refs = _refs_called(tx, called, channels)
        if refs is not None and len(refs):
            rest = called.rest, now, utc_offset
            return NamedTalk(refs, asks_what_was_said(*rest) or asks_what_happened(*rest))
    return None


def asked_alone(query: Query, talk: NamedTalk, now: datetime) -> Query | None:
    """Return a query as for what happened in a time and nothing else; None where it asks for more.

    With the name of the talk in it, a day that is over was read as one to come.
    """
    if not talk.alone or (query.ahead is not None and not looks_back(query.text)):
        return None
    time = query.time if query.ahead is None else asked_time(query.text, now, query.time.utc_offset)
    return (
        replace(query, ahead=None, time=time, said_alone=False, happened_alone=True) if time.ranges else None
    )


def refs_of_people(tx: Transaction, query: Query, bounds: SearchBounds) -> Refs | None:
    """Return what people said within bounds whom a query names and who speak here; None: it names none."""
    if not any(fold(one) not in ROLES for one in query.speakers):
        return None  # "I" and "you" are whoever writes
    marks = tx.index.observation_marks(within(tx, bounds))
    return np.array([mark.ref for mark in marks if mark.actor in query.speakers], np.int64)


def known_names(tx: Transaction, query: Query) -> Query:
    """Return a query without the names by which a channel is meant: nobody mentions what they write by."""
    names = [fold(one) for one in query.written]
    if not names:
        return query
    channels = channels_known(tx)
    left = [n for n, name in enumerate(names) if not channels_meant(name, channels)]
    return replace(
        query,
        names=tuple(query.names[n] for n in left),
        written=tuple(query.written[n] for n in left),
    )


def _refs_called(tx: Transaction, called: TalkName, channels: AbstractSet[str]) -> Refs | None:
    """Return what was said in a thread of a name that its caller gave, or what came by channels so called.

    Who says "in" may mean a town: then it is a thread that people come back to.
    """
    for spelling in dict.fromkeys([called.name, called.name.replace(" ", "-"), fold(called.name)]):
        thread = tx.threads.get(spelling)
        if thread is not None and given_name(thread) and (called.sure or is_place(thread)):
            return refs_of_threads(tx, [thread.id])
    meant = channels_meant(called.name, channels)
    return refs_of_channels(tx, meant) if meant else None


LATER: Final = timedelta(days=7)  # so long what happened on a day is told by its name
MOST_LATER: Final = 200  # newest messages that are read for that


def happened_refs(
    tx: Transaction, query: Query, bounds: SearchBounds, now: datetime, visibility: Visibility
) -> Refs:
    """Return what was said in the times a question names, or soon after of them; rising.

    Nothing where nothing was said in them: then others know best what happened.
    """
    since, until = span(query)
    end = min(until, now + timedelta.resolution)
    if since >= end:
        return np.zeros(0, np.int64)
    there = visibility.shown(within(tx, _between(bounds, since, end)))
    if not len(there) or end >= now:
        return there
    later = within(tx, _between(bounds, end, min(end + LATER, now)))
    return np.union1d(there, visibility.shown(_telling_of(tx, later, since, end)))


def bounds_of_review(
    tx: Transaction, query: Query, bounds: SearchBounds, now: datetime, visibility: Visibility
) -> SearchBounds:
    """Return bounds with what was said of the time alone in which a question asks what became of a matter.

    They are the same for another question, and where nothing was said in that time.
    """
    if not query.reviews or query.happened_alone or query.ahead is not None:
        return bounds
    refs = happened_refs(tx, query, bounds, now, visibility)
    return replace(bounds, about=refs) if len(refs) else bounds


def _between(bounds: SearchBounds, since: datetime, until: datetime) -> SearchBounds:
    return SearchBounds(since, until, bounds.thread_id, bounds.place, bounds.about)


def _telling_of(tx: Transaction, refs: Refs, since: datetime, until: datetime) -> Refs:
    """Return of some messages those that name a day of a time, and none beside it."""
    days = {since + n * _DAY for n in range(min((until - since).days + 1, LATER.days))}
    weekdays = {word for day in days for word in date_words(day) if word.isalpha()}
    glued = {term for day in days for form in glued_weekdays(day.weekday()) for term in tokens(form)}
    weights = dict.fromkeys([*_days_over(), *weekdays, *glued], 1.0)
    scores = tx.index.text_scores(OBSERVATIONS, weights, refs, k1=K1, b=0.0, average_length=1.0)[1]
    stored = tx.observations.get(refs[scores > 0][-MOST_LATER:].tolist())
    telling = []
    for ref, item in stored.items():
        text = own_words(item).text
        if _days_over().isdisjoint(tokens(text)) and not speaks_of_days_over(text):
            continue  # "I do it on Thursday"
        offset = None if item.utc_offset is None else timedelta(seconds=item.utc_offset)
        ranges = asked_time(text, item.at, offset).ranges
        if ranges and all(since <= part.start and part.end <= until for part in ranges):
            telling.append(ref)
    return np.array(sorted(telling), np.int64)


@cache
def _days_over() -> frozenset[str]:
    """Return the terms of days that are over: "yesterday", "vorgestern"."""
    days = [form for form, value in pairs("entities/times.days").items() if value.startswith("-")]
    days += glued_days(phrases("language/pastdays.days_han"))
    return frozenset(term for form in days for term in tokens(form))


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
