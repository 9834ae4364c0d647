"""The verbs about the sessions a caller frames: start, end, list."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice
from typing import Final
from uuid import UUID

from episodic_agent.core.chains.metadata import OUTCOMES, SuppliedMetadata, capped
from episodic_agent.core.identity import session_id
from episodic_agent.core.ingest.times import read_time
from episodic_agent.engine.arguments import (
    SESSION_STATES,
    clean_name,
    counted,
    episode_identity,
    name_or_none,
    worded,
)
from episodic_agent.engine.filters import check_named
from episodic_agent.engine.own_ids import origins
from episodic_agent.engine.recall.walls import check_episode, check_thread, within
from episodic_agent.engine.scoped import RoomOf, Scoped
from episodic_agent.engine.threads.session_records import (
    LONGEST_TOPIC,
    SESSION,
    SessionFacts,
    facts_of,
    read_record,
)
from episodic_agent.engine.threads.sessions import Session, known_session, session_of
from episodic_agent.engine.trace.acts import acts
from episodic_agent.engine.works import Works
from episodic_agent.errors import InvalidInput, NotFound
from episodic_agent.protocols import Transaction

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
        identity = self._at.fresh() if key is None else self._keyed(named[1])
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

    def _keyed(self, key: str) -> UUID:
        """Return the id of the session of a key: the one it has, be it from a memory that was imported."""
        scope = self._at.scope
        own = session_id(scope, key)
        with self._deps.store.begin(scope, write=False) as tx:
            ids = [own, *(session_id(origin, key) for origin in origins(tx))]
            return next((one for one in ids if facts_of(tx, one) is not None), own)

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
