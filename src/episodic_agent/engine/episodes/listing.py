"""Read what is there: episodes in order, open frames as episodes-to-be, threads by name, and counts."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Final
from uuid import UUID

from episodic_agent.core.episodes.letters import without_frames
from episodic_agent.core.identity import episode_id
from episodic_agent.core.strength import retrievability
from episodic_agent.engine.arguments import counted, listed
from episodic_agent.engine.deps import Deps
from episodic_agent.engine.filters import MOST_NAMED
from episodic_agent.engine.links.joining import heir, shown
from episodic_agent.engine.results import EpisodeCard, FullEpisode, Hit, Stats
from episodic_agent.engine.sections.bounds import with_end
from episodic_agent.engine.threads.session_records import SESSION, declared_title, topic_at
from episodic_agent.engine.visibility.hidden import WIDER, Visibility
from episodic_agent.errors import InvalidInput, NotFound
from episodic_agent.lazily import module
from episodic_agent.protocols import Transaction
from episodic_agent.schemas import Episode, EpisodeKind, Kind, Observation, Thread
from episodic_agent.schemas.observations import by_time

if TYPE_CHECKING:
    from episodic_agent.core import echo
    from episodic_agent.core.episodes import extractive as wording
    from episodic_agent.engine.boundary import segmenting
    from episodic_agent.engine.recall import places
else:
    echo = module("episodic_agent.core.echo")
    places = module("episodic_agent.engine.recall.places")
    segmenting = module("episodic_agent.engine.boundary.segmenting")
    wording = module("episodic_agent.core.episodes.extractive")


OPEN = "open"  # the state of a frame that may still grow
LINKED = "linked threads"  # where a cross-thread episode is from
_ENDS_READ = 8  # messages of a long open frame that are read for its words, at either end
_READ = 2_000  # characters of one message
_TOGETHER = 200  # open frames that are read at once
DAY = 86_400.0


_UNTITLED: Final = 200  # threads whose words are read for the title they are shown under


def recent(
    tx: Transaction,
    now: datetime,
    *,
    limit: int,
    since: datetime | None = None,
    thread_id: UUID | None = None,
    suppressed: bool = False,
) -> list[EpisodeCard]:
    """Return cards (of a thread) by end of event time, newest first; open frames count like episodes.

    What is suppressed or archived is left out unless `suppressed`; what has expired always.
    """
    visibility = Visibility(tx, now)
    asked = limit
    while True:
        episodes = _newest(tx, asked, since, thread_id)
        hidden = {} if suppressed else visibility.why_all(episodes)
        shown = [e for e in episodes if e.id not in hidden]
        if len(shown) >= limit or len(episodes) < asked:
            break
        asked *= WIDER
    closed = _marked(tx, visibility, shown[:limit], _origins(tx, shown[:limit]), now)
    lifted = Visibility(tx, now, lifted=True) if suppressed else visibility
    if thread_id is None:
        opened = _newest_open(tx, lifted, limit, lambda card: card.end_at)
    else:
        opened = list(open_frames(tx, lifted, tx.threads.list(ids=[thread_id])))
    cards = [*(c for c in opened if since is None or c.end_at >= since), *closed]
    newest = sorted(cards, key=lambda c: -c.end_at.timestamp())[:limit]  # stable: of equals the latest first
    return with_words(tx, newest, lifted)


def _newest(tx: Transaction, limit: int, since: datetime | None, thread_id: UUID | None) -> Sequence[Episode]:
    if thread_id is None:
        return tx.episodes.list(limit=limit, since=since)
    episodes = [e for e in tx.episodes.list(threads=[thread_id]) if since is None or e.end_at >= since]
    return sorted(episodes, key=lambda e: (-e.end_at.timestamp(), -e.first_seq))[:limit]


def _newest_open(
    tx: Transaction, visibility: Visibility, limit: int, time: Callable[[EpisodeCard], datetime]
) -> Sequence[EpisodeCard]:
    """Return cards of open frames among which are the `limit` that are the latest by a time of theirs.

    None is later than the last activity of its thread: those of threads silent for longer are not read.
    """
    asked = limit + 1
    while True:
        threads = tx.threads.list("growing", limit=asked)
        cards = list(open_frames(tx, visibility, threads))
        if len(threads) < asked or sum(time(c) > threads[-1].last_activity_at for c in cards) >= limit:
            return cards
        asked *= WIDER


def chronological(
    tx: Transaction, now: datetime, *, thread_id: UUID | None = None, limit: int | None = None
) -> list[EpisodeCard]:
    """Return cards by start of event time, oldest first; the newest `limit` of them."""
    most = None if limit is None else counted("limit", limit, 0)
    lifted = Visibility(tx, now, lifted=True)
    closed: Sequence[Episode]
    opened: Sequence[EpisodeCard]
    if thread_id is not None:
        closed = tx.episodes.list(threads=[thread_id])
        opened = list(open_frames(tx, lifted, tx.threads.list(ids=[thread_id])))
    elif most is None:
        closed, opened = tx.episodes.list(), [*open_frames(tx, lifted)]
    else:
        closed, opened = _last_begun(tx, most), _newest_open(tx, lifted, most, lambda card: card.start_at)
    cards = in_order(tx, now, closed, opened)
    return with_words(tx, cards if most is None else cards[max(0, len(cards) - most) :], lifted)


def _last_begun(tx: Transaction, limit: int) -> Sequence[Episode]:
    """Return closed episodes among which are the `limit` that begin last.

    What begins after the end of all that was not read can have no later one before it.
    """
    asked = limit + 1
    while True:
        episodes = tx.episodes.list(limit=asked)
        if len(episodes) < asked or sum(e.start_at > episodes[-1].end_at for e in episodes) >= limit:
            return episodes
        asked *= WIDER


def in_order(
    tx: Transaction, now: datetime, closed: Sequence[Episode], opened: Sequence[EpisodeCard]
) -> list[EpisodeCard]:
    """Return the cards of episodes with those of open frames, by start of event time, oldest first.

    What begins and ends at once stands thread by thread, in the order it was said.
    """
    closed = sorted(closed, key=lambda e: (e.thread_id.bytes, e.first_seq))
    cards = _marked(tx, Visibility(tx, now), closed, _origins(tx, closed), now)
    return sorted([*cards, *opened], key=lambda c: (c.start_at, c.end_at, c.thread_id.bytes))


def at_place(
    tx: Transaction, now: datetime, place: str, *, thread_id: UUID | None = None, limit: int | None = None
) -> list[EpisodeCard]:
    """Return the cards of episodes that reach into visits of a place, as `chronological` does; NotFound."""
    most = None if limit is None else counted("limit", limit, 0)
    closed, opened = places.owners_of(tx, places.known_visits(tx, place, thread_id))
    cards = []
    for identity in opened:
        thread, frame = tx.threads.get(identity), tx.threads.frame(identity)
        inside = tx.observations.read(identity, frame.first_seq, frame.next_seq - 1)
        if thread is not None and inside:
            cards.append(open_card(thread, frame.first_seq, inside))
    cards = in_order(tx, now, list(tx.episodes.get(closed).values()), cards)
    return with_words(tx, cards if most is None else cards[max(0, len(cards) - most) :])


def open_frames(
    tx: Transaction, visibility: Visibility | None = None, threads: Sequence[Thread] | None = None
) -> Iterator[EpisodeCard]:
    """Yield a card for every open frame (of these threads) that holds something (I2: none is invisible).

    What a `visibility` hides of it is not shown, nor a frame that is hidden whole.
    """
    growing = tx.threads.list("growing") if threads is None else threads
    for start in range(0, len(growing), _TOGETHER):
        some = growing[start : start + _TOGETHER]
        frames = tx.threads.frame([thread.id for thread in some])
        spans = [(t.id, frames[t.id].first_seq, frames[t.id].next_seq - 1) for t in some]
        for thread, span, read in zip(some, spans, tx.observations.read(spans), strict=True):
            inside = read
            if visibility is not None and visibility.drawn:
                inside = visibility.visible(tx.threads.number(thread.id), read)
            if inside:
                yield open_card(thread, span[1], inside)


def open_frame(tx: Transaction, identity: UUID) -> EpisodeCard | None:
    """Return the card of the open frame that has this id as an episode; None where there is none."""
    threads = tx.threads.list("growing")
    frames = tx.threads.frame([thread.id for thread in threads])
    named = (t for t in threads if episode_id(t.id, frames[t.id].first_seq, t.generation) == identity)
    return next(open_frames(tx, None, [*named]), None)


def open_card(thread: Thread, first_seq: int, inside: Sequence[Observation]) -> EpisodeCard:
    """Describe an open frame as the episode it may become (its id if it is cut with this beginning).

    It has no words yet: `with_words` gives them to the cards that are shown.
    """
    times = [o.at for o in inside]
    return EpisodeCard(
        episode_id=episode_id(thread.id, first_seq, thread.generation),
        thread_id=thread.id,
        origin=thread.origin,
        title="",
        summary="",
        start_at=min(times),
        end_at=max(times),
        observations=len(inside),
        state=OPEN,
        reason="",
        surprise=0.0,
        stability=0.0,
        retrievability=1.0,
        thread_title=(thread.title or "").strip(),
    )


def with_words(
    tx: Transaction, cards: Sequence[EpisodeCard], visibility: Visibility | None = None
) -> list[EpisodeCard]:
    """Return cards of which those of open frames have a title and a summary, too, as closed ones have."""
    return [_read_and_worded(tx, card, visibility) if card.state == OPEN else card for card in cards]


def _read_and_worded(tx: Transaction, card: EpisodeCard, visibility: Visibility | None) -> EpisodeCard:
    frame = tx.threads.frame(card.thread_id)
    inside = tx.observations.read(card.thread_id, frame.first_seq, frame.next_seq - 1)
    if visibility is not None and visibility.drawn:
        inside = visibility.visible(tx.threads.number(card.thread_id), inside)
    return worded_open(tx, card, frame.first_seq, inside, visibility)


def worded_open(
    tx: Transaction,
    card: EpisodeCard,
    first_seq: int,
    inside: Sequence[Observation],
    visibility: Visibility | None,
) -> EpisodeCard:
    """Return the card of an open frame with the words that what may be shown of it gives it."""
    words, topic = words_of_open(inside), topic_at(tx, card.thread_id, first_seq)
    if visibility is not None and visibility.holds(topic):
        topic = ""
    return replace(card, title=topic or words.title, summary=words.summary)


def words_of_open(inside: Sequence[Observation]) -> "wording.EpisodeText":
    """Return title and summary of what is not closed yet, by how it began and what came last."""
    own = without_frames(echo.all_own_words(by_time(inside)))
    read = own if len(own) <= 2 * _ENDS_READ else [*own[:_ENDS_READ], *own[-_ENDS_READ:]]
    return _words_of(_Beginning(read))


class _Beginning:
    """What is read of an open frame, as a key: each search of a memory asks for the same words."""

    def __init__(self, read: Sequence[Observation]) -> None:
        self.read = read
        self._key = tuple((one.id, one.actor, one.text) for one in read)

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Beginning) and self._key == other._key


@lru_cache(maxsize=64)
def _words_of(beginning: _Beginning) -> "wording.EpisodeText":
    read = beginning.read
    if read and all(one.kind is Kind.STEP for one in read):
        return wording.encode_steps(read)
    brief = [replace(one, text=one.text[:_READ]) for one in read]
    return wording.encode_extractive(brief, [None] * len(brief))


def titled(tx: Transaction, threads: Sequence[Thread], now: datetime) -> list[Thread]:
    """Return threads; those that nobody gave a title are called by what was said in them last."""
    visibility = Visibility(tx, now)
    untitled = [thread for thread in threads if not thread.title]
    only = untitled[0].id if len(untitled) == 1 else None
    framed = {one.subject for one in tx.knowledge.decisions(subject=only, type=SESSION)} if untitled else ()
    titles = {one.id: declared_title(tx, one, visibility) for one in untitled if one.id in framed}
    closed: dict[UUID, list[Episode]] = {one.id: [] for one in untitled if not titles.get(one.id)}
    for episode in tx.episodes.list(threads=[*closed]):
        closed[episode.thread_id].append(episode)
    words = {
        one.id: _newest_words(tx, one, closed[one.id], visibility) for one in untitled if one.id in closed
    }
    titles |= {name: text.title for name, text in words.items()}
    return [one if one.title else replace(one, title=titles[one.id] or None) for one in threads]


def newest_summary(tx: Transaction, thread: Thread, now: datetime) -> str:
    """Return the summary of a thread's newest episode, or of what was said so far; "" of what is hidden."""
    return _newest_words(tx, thread, tx.episodes.list(threads=[thread.id]), Visibility(tx, now)).summary


def _newest_words(
    tx: Transaction, thread: Thread, closed: Sequence[Episode], visibility: Visibility
) -> "wording.EpisodeText":
    hidden = visibility.why_all(closed)
    for worded in (visibility.worded(e) for e in reversed(closed) if e.id not in hidden):
        if worded.title:
            return wording.EpisodeText(worded.title, worded.summary, {})
    frame = tx.threads.frame(thread.id)
    inside = tx.observations.read(thread.id, frame.first_seq, frame.next_seq - 1)
    shown = visibility.visible(tx.threads.number(thread.id), inside) if visibility.drawn else inside
    if not shown:
        return wording.EpisodeText("", "", {})
    words, topic = words_of_open(shown), topic_at(tx, thread.id, frame.first_seq)
    return words if not topic or visibility.holds(topic) else replace(words, title=topic)


def _marked(
    tx: Transaction,
    visibility: Visibility,
    episodes: Sequence[Episode],
    origins: Mapping[UUID, str],
    now: datetime,
) -> list[EpisodeCard]:
    """Describe episodes with their marks: a pinned one does not fade, what was erased counts no more."""
    erased = _erased(tx, episodes)
    cards = [
        _card(visibility.worded(e), origins.get(e.thread_id, ""), now, erased.get(e.id, 0)) for e in episodes
    ]
    hidden, pinned = visibility.why_all(episodes), visibility.pinned_of(episodes)
    if not hidden and not pinned:
        return cards
    return [
        replace(
            card,
            pinned=card.episode_id in pinned,
            hidden=hidden.get(card.episode_id, ""),
            retrievability=1.0 if card.episode_id in pinned else card.retrievability,
        )
        for card in cards
    ]


def _erased(tx: Transaction, episodes: Sequence[Episode]) -> Mapping[UUID, int]:
    """Count what was erased of each episode, of those that lost something."""
    by_thread: dict[UUID, list[Episode]] = {}
    for episode in episodes:
        by_thread.setdefault(episode.thread_id, []).append(episode)
    stretches = [
        (thread, min(one.first_seq for one in some), max(one.last_seq for one in some))
        for thread, some in by_thread.items()
    ]
    return Counter(
        one.id
        for tombstone in tx.observations.erased(stretches)
        for one in by_thread[tombstone.thread_id]
        if one.first_seq <= tombstone.seq <= one.last_seq
    )


def _origins(tx: Transaction, episodes: Sequence[Episode]) -> Mapping[UUID, str]:
    """Return the names of the threads of episodes."""
    return {t.id: t.origin for t in tx.threads.list(ids=list({e.thread_id for e in episodes}))}


def _card(episode: Episode, origin: str, now: datetime, erased: int = 0) -> EpisodeCard:
    days = max(0.0, (now - episode.last_reviewed_at).total_seconds() / DAY)
    return EpisodeCard(
        episode_id=episode.id,
        thread_id=episode.thread_id,
        origin=origin,
        title=episode.title,
        summary=episode.summary,
        start_at=episode.start_at,
        end_at=episode.end_at,
        observations=episode.size - erased,
        state=str(episode.state),
        reason=episode.reason,
        surprise=episode.surprise,
        stability=episode.stability,
        retrievability=float(retrievability(episode.stability, days)),
    )


def episode(tx: Transaction, identity: UUID) -> Episode:
    """Return an episode, or the one that stands in its place; NotFound otherwise."""
    episode = tx.episodes.get(current := successor(tx, identity))
    if episode is None and current != identity:
        raise NotFound(f"episode {identity} was replaced; its messages are in the open frame {current} now")
    if episode is None and open_frame(tx, identity) is not None:
        raise NotFound(
            f"episode {identity} is still open; "
            "`episodes.card` and `episodes.messages` read it, `flush` closes it"
        )
    if episode is None:
        raise NotFound(f"no episode {identity} in this memory; `episodic episodes` lists the ids")
    return shown(tx, episode) if episode.kind is EpisodeKind.CROSS_THREAD else with_end(tx, episode)


def card(tx: Transaction, identity: UUID, now: datetime) -> EpisodeCard:
    """Return the card of an episode of any kind, or of an open frame; NotFound otherwise."""
    known = tx.episodes.get(identity)
    if known is None or known.generation_to is not None:
        card = open_frame(tx, identity)
        if card is not None:
            return with_words(tx, [card])[0]
    closed = episode(tx, identity)
    if closed.kind is EpisodeKind.CROSS_THREAD:
        return _card(closed, LINKED, now)
    return _marked(tx, Visibility(tx, now), [closed], _origins(tx, [closed]), now)[0]


def successor(tx: Transaction, identity: UUID) -> UUID:
    """Return the id under which the messages of an episode are found today.

    That is its own id, unless the thread was segmented again and the episode replaced: then that of the
    current episode or open frame that shares most observations with it, the earlier one of equals. Of a
    cross-thread episode, the one its threads are in today. An id nobody knows comes back as it is.
    """
    replaced = tx.episodes.get(identity)
    if replaced is not None and replaced.kind is EpisodeKind.CROSS_THREAD:
        return heir(tx, replaced)
    if replaced is None or replaced.generation_to is None:
        return identity
    thread = tx.threads.get(replaced.thread_id)
    frame = tx.threads.frame(replaced.thread_id)
    heirs = [(e.first_seq, e.last_seq, e.id) for e in tx.episodes.list(threads=[replaced.thread_id])]
    if thread is not None and frame.first_seq < frame.next_seq:
        named = episode_id(thread.id, frame.first_seq, thread.generation)
        heirs.append((frame.first_seq, frame.next_seq - 1, named))
    shared = {heir: segmenting.overlap(replaced, first, last) for first, last, heir in heirs}
    return max(shared, key=lambda heir: shared[heir], default=identity)


def replaced_ids(tx: Transaction, threads: Collection[UUID] | None = None) -> list[UUID]:
    """Return the ids of all episodes (of some threads) that others stand in the place of."""
    return [
        e.id
        for thread in (tx.threads.list() if threads is None else tx.threads.list(ids=sorted(threads)))
        for generation in range(thread.generation)
        for e in tx.episodes.list(threads=[thread.id], generation=generation)
        if e.generation_to == generation + 1
    ]


def messages(tx: Transaction, identity: UUID) -> list[Observation]:
    """Return the observations of an episode, or of the open frame that has this id.

    For a replaced episode, those of the one that stands in its place.
    """
    identity = successor(tx, identity)
    episode = tx.episodes.get(identity)
    if episode is not None and episode.kind is EpisodeKind.CROSS_THREAD:
        return spoken(tx, episode)
    if episode is not None:
        episode = with_end(tx, episode)
        return by_time(tx.observations.read(episode.thread_id, episode.first_seq, episode.last_seq))
    card = open_frame(tx, identity)
    if card is not None:
        frame = tx.threads.frame(card.thread_id)
        return by_time(tx.observations.read(card.thread_id, frame.first_seq, frame.next_seq - 1))
    raise NotFound(f"no episode {identity} in this memory; `episodic episodes` lists the ids")


def full_episodes(
    tx: Transaction, cards: Sequence[EpisodeCard | Hit], now: datetime
) -> list[FullEpisode | None]:
    """Return what is behind event episodes and open frames, all at once; None for what is there no more.

    Messages that recall leaves out are left out, but of a card that is itself shown though it is hidden.
    """
    if not all(isinstance(card, EpisodeCard | Hit) for card in listed(cards)):
        raise InvalidInput("give cards or hits, as `recent` and `search` return them")
    episodes = tx.episodes.get([card.episode_id for card in cards])
    ids = list({card.thread_id for card in cards})
    threads, frames = {t.id: t for t in tx.threads.list(ids=ids)}, tx.threads.frame(ids)
    spans = {}
    for card in cards:
        episode, thread, frame = (
            episodes.get(card.episode_id),
            threads.get(card.thread_id),
            frames.get(card.thread_id),
        )
        if episode is not None:
            spans[card.episode_id] = (episode.thread_id, episode.first_seq, episode.last_seq)
        elif thread is not None and frame is not None:
            named = episode_id(thread.id, frame.first_seq, thread.generation)
            if named == card.episode_id and frame.first_seq < frame.next_seq:
                spans[named] = (thread.id, frame.first_seq, frame.next_seq - 1)
    read = dict(zip(spans, tx.observations.read(list(spans.values())), strict=True))
    visibility, lifted = Visibility(tx, now), Visibility(tx, now, lifted=True)
    behind: list[FullEpisode | None] = []
    for card in cards:
        closed, observations = episodes.get(card.episode_id), by_time(read.get(card.episode_id, ()))
        if observations and visibility.drawn:
            meant = lifted if isinstance(card, EpisodeCard) and card.hidden else visibility
            observations = meant.visible(tx.threads.number(card.thread_id), observations)
        there = card.episode_id in read and (closed is not None or observations)
        behind.append(FullEpisode(threads[card.thread_id].origin, closed, observations) if there else None)
    return behind


def spoken(tx: Transaction, episode: Episode) -> list[Observation]:
    """Return what was said in the threads of a cross-thread episode, by event time."""
    observations = [
        o
        for thread in tx.threads.joined(episode.id)
        for o in tx.observations.read(thread, 0, tx.threads.frame(thread).next_seq - 1)
    ]
    return sorted(observations, key=lambda o: o.at)


def stats(tx: Transaction, deps: Deps, policy: str) -> Stats:
    """Count the scope."""
    first, last = tx.threads.list("oldest", limit=1), tx.threads.list(limit=1)
    return Stats(
        user_id=tx.scope.user_id,
        threads=tx.count("threads"),
        observations=tx.count("observations"),
        episodes=tx.count("episodes"),
        open_observations=tx.count("open observations"),
        waiting_jobs=tx.count("waiting jobs"),
        embedder=deps.embedder_name,
        policy=policy,
        first_at=first[0].created_at if first else None,
        last_at=last[0].last_activity_at if last else None,
        facts=tx.count("current facts"),
        unconsolidated=tx.count("unconsolidated"),
    )


def find_thread(tx: Transaction, name: str) -> Thread:
    """Return a thread by its name, its id, or the title that it alone has; NotFound names what there is."""
    return named_thread(tx, name) or _titled(tx, name)


def named_thread(tx: Transaction, name: str) -> Thread | None:
    """Return a thread by its name or its id, None where there is none: a title names no thread to begin."""
    thread = tx.threads.get(name)
    if thread is None:
        with suppress(ValueError):
            thread = tx.threads.get(UUID(name))
    return thread


def _titled(tx: Transaction, title: str) -> Thread:
    """Return the one thread of a title, given or shown; NotFound where none has it, or several."""
    threads = tx.threads.list()
    looked_for = title.strip().casefold()
    called = [one for one in threads if one.title and one.title.casefold() == looked_for]
    if not called and looked_for:  # what expires ever is hidden here: there is no clock
        untitled = [one for one in threads[:_UNTITLED] if not one.title]
        retitled = titled(tx, untitled, datetime.max.replace(tzinfo=UTC))
        titles = [(one.title or "").casefold() for one in retitled]
        called = [one for one, words in zip(untitled, titles, strict=True) if words == looked_for]
    if len(called) == 1:
        return called[0]
    if called:
        names = ", ".join(repr(one.origin) for one in called[:MOST_NAMED])
        raise NotFound(f"{len(called)} threads have the title {title!r}; say which by its name: {names}")
    known = ", ".join(map(_name_and_title, threads[:MOST_NAMED])) or "none yet"
    raise NotFound(f"no thread {title!r} in this memory; threads: {known}")


def _name_and_title(thread: Thread) -> str:
    return f'{thread.origin} "{thread.title}"' if thread.title else thread.origin
