"""The verbs about threads (show, select, close, rename, their silence) and the sessions in them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING, Final
from uuid import UUID

from episodic_agent.core.chains.metadata import OUTCOMES, SuppliedMetadata, capped
from episodic_agent.core.identity import session_id
from episodic_agent.core.ingest.times import read_time
from episodic_agent.core.threads.channels import Channels, channel_name, check_timeout
from episodic_agent.core.threads.resolution import OPEN, as_record
from episodic_agent.engine.arguments import (
    SESSION_STATES,
    aware,
    clean_name,
    counted,
    episode_identity,
    name_or_none,
    worded,
)
from episodic_agent.engine.episodes.listing import find_thread, newest_summary, titled
from episodic_agent.engine.filters import check_named
from episodic_agent.engine.recall.walls import check_episode, check_thread, within
from episodic_agent.engine.scoped import RoomOf, Scoped
from episodic_agent.engine.sections.bounds import summary_of
from episodic_agent.engine.threads.resolving import own_channels, view_of
from episodic_agent.engine.threads.session_records import (
    LONGEST_TOPIC,
    SESSION,
    SessionFacts,
    facts_of,
    read_record,
)
from episodic_agent.engine.threads.sessions import Session, known_session, session_of
from episodic_agent.engine.trace.acts import acts
from episodic_agent.engine.visibility.hidden import Visibility
from episodic_agent.engine.works import Works
from episodic_agent.errors import InvalidInput, NotFound
from episodic_agent.lazily import module
from episodic_agent.protocols import OwnTimeout, Transaction
from episodic_agent.schemas import Json, Reason, Thread
from episodic_agent.showing import described

if TYPE_CHECKING:
    from episodic_agent.engine.recall import walls
else:
    walls = module("episodic_agent.engine.recall.walls")


@dataclass(frozen=True, slots=True)
class ThreadCard:
    """A thread with the silence that ends it; `record` is its metadata as in seed 002, section 1.3."""

    thread: Thread
    timeout: timedelta
    record: Mapping[str, Json]

    def __repr__(self) -> str:
        return described(
            self, self.thread.title, self.thread.origin, self.thread.status, self.thread.last_activity_at
        )


def card_of(tx: Transaction, thread: Thread, channels: Channels, now: datetime) -> ThreadCard:
    """Return a thread's card."""
    own = own_channels(channels, tx.scope, tx.upkeep.settings().timeouts)
    user = tx.scope.user_id
    timeout = max(own.silence(user, channel, thread.timeout) for channel in thread.channels or (None,))
    view = replace(view_of(thread), last_activity_at=thread.last_activity_at)
    section = tx.threads.section(thread.id)
    joined = tx.threads.joined([thread.id])
    record = as_record(
        view,
        user,
        timeout=timeout,
        turn_count=thread.turn_count,
        cross_thread_episodes=[str(episode) for episode in joined.values()],
        primary_episode_id=None if section is None else str(section.episode_id),
        summary=_summary(tx, thread, now),
    )
    return ThreadCard(thread, timeout, record)


def _summary(tx: Transaction, thread: Thread, now: datetime) -> str:
    """Return the paragraph of the newest part that is told, else the newest episode's or open frame's."""
    # a paragraph tells of all of the thread: where some of that is hidden, the episodes say what is left
    paragraph = "" if Visibility(tx, now).touches(thread) else summary_of(tx, thread)
    return paragraph or newest_summary(tx, thread, now) or thread.title or ""


def select(tx: Transaction, name: str, now: datetime) -> Thread:
    """Make a thread the one that the user's next messages go on with; a closed one opens again."""
    tx.hold("threads")
    thread = find_thread(tx, name)
    if thread.modality != "message":
        raise InvalidInput(f"{name!r} holds an agent's steps; messages cannot go on with it")
    chosen = replace(thread, status=OPEN, closed_for="", explicit=True, selected_at=now)
    tx.threads.save(chosen)
    return chosen


def rename(tx: Transaction, name: str, title: str) -> Thread:
    """Give a thread a title; its name stays what it is called by."""
    if not title.strip():
        raise InvalidInput("the title is empty; give the thread some words")
    tx.hold("threads")
    renamed = replace(find_thread(tx, name), title=title.strip())
    tx.threads.save(renamed)
    return renamed


def set_timeout(
    tx: Transaction, minutes: float | None, *, thread: str | None = None, channel: str | None = None
) -> None:
    """Keep how long silence may last: in one thread, else for the user, on one channel or on all.

    `minutes` None takes the own value away. Raises InvalidInput for a number that is no time.
    """
    if thread is not None and channel is not None:
        raise InvalidInput("a timeout is one thread's or one channel's; give one of the two")
    timeout = None if minutes is None else check_timeout(_minutes(minutes))
    tx.hold("threads")
    if thread is not None:
        tx.threads.save(replace(find_thread(tx, thread), timeout=timeout))
    else:
        tx.upkeep.put(OwnTimeout(channel_name(channel) if channel else "", timeout))


def _minutes(minutes: float) -> timedelta:
    try:
        return timedelta(minutes=minutes)
    except (OverflowError, ValueError, TypeError) as error:
        raise InvalidInput(
            f"`minutes` is how long silence may last, a number such as 45, or None; not {minutes!r}"
        ) from error


@acts("threads", within=("get", "list"))
class ThreadRoom(RoomOf):
    """A user's threads: list, show, close, select, rename, and how long silence may last."""

    def __init__(self, at: Scoped, works: Works) -> None:
        self._at = at
        self._deps = at.deps
        self._works = works

    def list(self, *, limit: int | None = None) -> Sequence[Thread]:
        """Return the threads by last activity, newest first; the first `limit` of them.

        What nobody gave a title is called by its session's topic, by its newest episode, or by what was said.
        """
        most = None if limit is None else counted("limit", limit, 0)
        with self._at.read() as tx:
            inside = walls.within(tx, self._at.walls) if self._at.walls else None
            if inside is None:
                threads = tx.threads.list(limit=most)
            else:
                latest = sorted(
                    tx.threads.list(ids=sorted(inside)), key=lambda one: one.last_activity_at, reverse=True
                )
                threads = latest[:most]
            return titled(tx, threads, self._deps.clock())

    def get(self, name: str) -> ThreadCard:
        """Return one thread with its metadata as seed 002 writes it; NotFound names what there is."""
        with self._at.read() as tx:
            thread, now = self._asked_for(tx, clean_name(name) or ""), self._deps.clock()
            return card_of(tx, titled(tx, [thread], now)[0], self._deps.channels, now)

    def _asked_for(self, tx: Transaction, name: str) -> Thread:
        if not self._at.walls:
            return find_thread(tx, name)
        walls.check_thread(tx, self._at.walls, name)
        return tx.threads.list(ids=[walls.thread_asked_for(tx, name, walled=True)])[0]  # no title leads there

    def close(self, name: str) -> Thread:
        """Close a thread and its open frame; the next message without a thread begins another."""
        scope = self._at.known()
        self._works.later.embed_first(scope)
        self._works.closer.end(scope, self._at.thread_id(name), Reason.MANUAL)
        self._works.later.run(scope)
        return self.get(name).thread

    def select(self, name: str, *, now: datetime | None = None) -> Thread:
        """Let the user's next messages go on with a thread, however long it was silent, on every channel.

        It holds until another thread is selected, or nothing was said in this one for its timeout.
        """
        at = aware(now) or self._deps.clock()
        return self._change(lambda tx: select(tx, clean_name(name) or "", at))

    def rename(self, name: str, title: str) -> Thread:
        """Give a thread a title; it is still called by its name."""
        return self._change(lambda tx: rename(tx, clean_name(name) or "", clean_name(title) or ""))

    def set_timeout(
        self,
        minutes: float | None,
        *,
        thread: str | None = None,
        channel: str | None = None,
    ) -> None:
        """Say after how many minutes of silence a thread ends: one thread, or the user's (on a channel).

        None goes back to what holds without it. A user's own need not be remembered of yet.
        """
        with self._deps.store.begin(self._at.scope) as tx:
            set_timeout(tx, minutes, thread=clean_name(thread), channel=clean_name(channel))

    def _change(self, act: Callable[[Transaction], Thread]) -> Thread:
        with self._at.write() as tx:
            return act(tx)


_NO_SESSION: Final = "no session {} in this memory; `episodic session list` shows those there are"


@acts("sessions", within=("end", "get", "list", "start"))
class SessionRoom(RoomOf):
    """The sessions a caller frames."""

    def __init__(self, at: Scoped, works: Works) -> None:
        self._at = at
        self._deps = at.deps
        self._works = works

    def start(
        self,
        topic: str,
        *,
        parent_episode_id: UUID | str | None = None,
        thread: str | None = None,
        channel: str | None = None,
        key: str | None = None,
        agent_id: str | None = None,
        participants: Iterable[str] = (),
        tools: Iterable[str] = (),
        timestamp: str | float | datetime | None = None,
    ) -> Session:
        """Start a session about a topic; speak in its `thread` until `end`.

        It opens a thread, or a new part of the one named. A second call with the same `key` returns the same
        session, whatever became of it. It goes on from `parent_episode_id`, else from the earlier session of
        the same agent that its topic leads to, if to any; closing judges that again. Where its `channel` is a
        folder, that is its project, and no session of another is gone on from. Raises NotFound for an unknown
        parent, InvalidInput for one that is open, no session or began later, and for an empty topic.
        """
        scope, now = self._at.scope, self._deps.clock()
        named = _named(topic, key)
        identity = self._at.fresh() if key is None else session_id(scope, named[1])
        facts = SessionFacts(
            episode_id=identity,
            thread_id=identity,  # found with its thread
            topic=named[0],
            started_at=now if timestamp is None else read_time(timestamp).at,
            at=now,
            key=None if key is None else named[1],
            agent_id=clean_name(agent_id) or "",
            supplied=SuppliedMetadata(_listed(participants), _listed(tools)),
        )
        parent = None if parent_episode_id is None else episode_identity(parent_episode_id)
        names = name_or_none("thread", thread), name_or_none("channel", channel)
        if self._at.walls:
            self._check_start(facts, names[0], names[1], parent)
        started = self._works.sessions.start(scope, facts, names[0], parent, names[1])
        self._works.later.run(scope)
        if not self._at.walls:
            return started
        with self._deps.store.begin(scope, write=False) as tx:
            return self._shown(tx, started)

    def end(
        self,
        episode: UUID | str,
        outcome: str | None = None,
        key_decisions: Iterable[str] = (),
        *,
        participants: Iterable[str] = (),
        tools: Iterable[str] = (),
        timestamp: str | float | datetime | None = None,
    ) -> Session:
        """End a session: its last event is cut, it gets its words and its place in a chain.

        `outcome` is success, partial, failure, ongoing, abandoned or unknown; what is given comes before what
        would be read from what was said. `timestamp` is when it ended, now unless given. Ending it again
        changes nothing but what was not said yet. Raises NotFound for an unknown session, InvalidInput for
        what is none, for another outcome than before and for a time before it began.
        """
        text = None if outcome is None else worded("outcome", outcome).strip().casefold()
        if text is not None and text not in OUTCOMES:
            raise InvalidInput(f"no outcome {outcome!r}; use one of {', '.join(OUTCOMES)}")
        metadata = SuppliedMetadata(_listed(participants), _listed(tools), _listed(key_decisions), text)
        scope = self._at.known()
        if self._at.walls:
            self.get(episode)
        at = None if timestamp is None else read_time(timestamp).at
        self._works.later.embed_first(scope)
        ended = self._works.sessions.end(scope, _identity(episode), metadata, at)
        self._works.later.run(scope)
        return self.get(ended)

    def list(self, *, state: str | None = None, limit: int = 50) -> Sequence[Session]:
        """Return sessions that were started, the newest first; `state` is open, closed or abandoned."""
        if state is not None and worded("state", state) not in SESSION_STATES:
            raise InvalidInput(f"no state {state!r}; use one of {', '.join(SESSION_STATES)}")
        most = counted("limit", limit, 0)
        with self._at.read() as tx:
            inside = within(tx, self._at.walls)
            stored_facts = [read_record(one) for one in tx.knowledge.decisions(type=SESSION)]
            if inside is not None:
                stored_facts = [facts for facts in stored_facts if facts.thread_id in inside]
            stored_facts.sort(
                key=lambda facts: (facts.started_at, facts.at, facts.episode_id.bytes), reverse=True
            )
            sessions = (self._shown(tx, session_of(tx, facts)) for facts in stored_facts)
            return list(islice((one for one in sessions if state in (None, one.state)), most))

    def get(self, episode: UUID | str) -> Session:
        """Return a session as it stands; raises as `end`."""
        with self._at.read() as tx:
            identity, inside = _identity(episode), within(tx, self._at.walls)
            if inside is None:
                return session_of(tx, known_session(tx, identity))
            facts = facts_of(tx, identity)
            if facts is None or facts.thread_id not in inside:
                raise NotFound(_NO_SESSION.format(identity))
            return self._shown(tx, session_of(tx, facts))

    def _check_start(
        self, facts: SessionFacts, thread: str | None, channel: str | None, parent: UUID | None
    ) -> None:
        """Raise for a session that would lie outside of the walls, or go on from what does."""
        walls = self._at.walls
        with self._deps.store.begin(self._at.scope, write=False) as tx:
            if thread is None and channel is not None:  # it gets a thread of its own, which comes by it
                check_thread(tx, walls, str(facts.episode_id), channel)
            else:
                check_named(walls, thread)
                check_thread(tx, walls, thread, channel)
            before = facts_of(tx, facts.episode_id)
            if before is not None and before.thread_id not in (within(tx, walls) or ()):
                raise InvalidInput(f"the key {facts.key!r} is taken; give the session another")
            if parent is not None:
                check_episode(tx, walls, parent)

    def _shown(self, tx: Transaction, session: Session) -> Session:
        """Return a session without the one it goes on from, where that lies outside of the walls."""
        inside, parent = within(tx, self._at.walls), session.parent_episode_id
        if inside is None or parent is None:
            return session
        above = tx.episodes.get(parent)
        is_inside = above is not None and above.thread_id in inside
        return session if is_inside else replace(session, parent_episode_id=None)


def _identity(value: UUID | str) -> UUID:
    try:
        return value if isinstance(value, UUID) else UUID(value)
    except (ValueError, AttributeError, TypeError) as error:
        raise NotFound(_NO_SESSION.format(repr(value))) from error


def _named(topic: str, key: str | None) -> tuple[str, str]:
    """Return a topic and a key as they are kept; InvalidInput where either is empty."""
    text, called = " ".join((clean_name(topic) or "").split()), clean_name(key) or ""
    if not text:
        raise InvalidInput("the topic is empty; say in some words what the session is about")
    if key is not None and not called.strip():
        raise InvalidInput("the key is empty; give it some characters, or leave it out")
    return text[:LONGEST_TOPIC].rstrip(), called


def _listed(names: Iterable[str]) -> tuple[str, ...]:
    """Return names as metadata keep them; one alone may be given as a text."""
    several = [names] if isinstance(names, str) else names
    if not isinstance(several, Iterable):
        raise InvalidInput(f"give names as a list of texts, not {type(names).__name__}")
    return capped(clean_name(name) or "" for name in several)
