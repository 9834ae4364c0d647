"""What a caller says of a session when it starts and when it ends, as its thread keeps it.

A session is a part of a thread that somebody opened: it needs no rows of its own. What was said of it is a
decision of type `session` about the thread, so that it goes when the thread goes, and stays where a session
in which nothing was said leaves no episode behind.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final
from uuid import UUID

from episodic_agent.core.chaining import Given, Metadata, capped
from episodic_agent.core.chaining.metadata import NOTHING
from episodic_agent.core.identity import decision_id
from episodic_agent.core.interfaces import Transaction
from episodic_agent.schemas import Decision, Episode, Json, ThreadPart

SESSION: Final = "session"  # the decision's type, and what its part is opened for
CALLER: Final = "caller"  # who decided
LONGEST_TOPIC: Final = 200  # characters


@dataclass(frozen=True, slots=True)
class SessionFacts:
    """A session as its caller told of it; its episode is the primary of the part it opened.

    `own_thread` tells that the thread was opened for it. `ended_at` is record time, `last_seq` the last
    observation that was in it then; both None until it is ended, by whoever calls for it. `outcome` is what
    the caller said, None where nothing.
    """

    episode_id: UUID
    thread_id: UUID
    topic: str
    started_at: datetime
    at: datetime
    key: str | None = None
    agent_id: str = ""
    own_thread: bool = False
    given: Given = NOTHING
    ended_at: datetime | None = None
    last_seq: int | None = None

    @property
    def outcome(self) -> str | None:
        """Return how it ended by the caller's word, if that was said."""
        return self.given.outcome

    def about(self) -> dict[str, Json]:
        """Return what of it is part of its episode's metadata, and is found by."""
        told: dict[str, Json] = {"topic": self.topic} if self.topic else {}
        return told | ({"agent_id": self.agent_id} if self.agent_id else {})

    def metadata(self) -> dict[str, Json]:
        """Return its metadata while nothing was said in it."""
        given = self.given
        fields = Metadata(given.participants, given.tools_used, (), given.key_decisions)
        named = fields if given.outcome is None else replace(fields, outcome=given.outcome)
        return {**named.as_json(), **self.about()}


def record_id(episode_id: UUID) -> UUID:
    """Return the id of the decision that keeps what was said of a session."""
    return decision_id(episode_id, SESSION)


def record_of(facts: SessionFacts) -> Decision:
    """Return the decision that keeps what was said of a session."""
    return Decision(
        id=record_id(facts.episode_id),
        type=SESSION,
        at=facts.at,
        subject=facts.thread_id,
        features={},
        score=1.0,
        threshold=1.0,  # somebody asked for it
        verdict="START",
        policy_version=CALLER,
        detail={
            "episode": str(facts.episode_id),
            "topic": facts.topic,
            "started_at": facts.started_at.isoformat(),
            "key": facts.key,
            "agent_id": facts.agent_id,
            "own_thread": facts.own_thread,
            "participants": list(facts.given.participants),
            "tools_used": list(facts.given.tools_used),
            "key_decisions": list(facts.given.key_decisions),
            "outcome": facts.given.outcome,
            "ended_at": None if facts.ended_at is None else facts.ended_at.isoformat(),
            "last_seq": facts.last_seq,
        },
    )


def read_record(decision: Decision) -> SessionFacts:
    """Undo `record_of`."""
    told = decision.detail
    key, outcome, ended, last = (told.get(name) for name in ("key", "outcome", "ended_at", "last_seq"))
    return SessionFacts(
        episode_id=UUID(str(told["episode"])),
        thread_id=decision.subject,
        topic=str(told["topic"]),
        started_at=datetime.fromisoformat(str(told["started_at"])),
        at=decision.at,
        key=key if isinstance(key, str) else None,
        agent_id=str(told.get("agent_id") or ""),
        own_thread=bool(told.get("own_thread")),
        given=Given(
            _texts(told, "participants"),
            _texts(told, "tools_used"),
            _texts(told, "key_decisions"),
            outcome if isinstance(outcome, str) else None,
        ),
        ended_at=datetime.fromisoformat(ended) if isinstance(ended, str) else None,
        last_seq=last if isinstance(last, int) else None,
    )


def _texts(told: Mapping[str, Json], name: str) -> tuple[str, ...]:
    value = told.get(name)
    return capped(map(str, value)) if isinstance(value, list | tuple) else ()


def facts_of(tx: Transaction, episode_id: UUID) -> SessionFacts | None:
    """Return what was said of a session; None for any other episode."""
    found = tx.episodes.decision(record_id(episode_id))
    return None if found is None or found.type != SESSION else read_record(found)


def session_at(tx: Transaction, part: ThreadPart) -> SessionFacts | None:
    """Return the session that a part is in: the one that opened it, or that went on in it; None outside."""
    if part.opened_for == "":  # nearly always: nothing is looked up
        return None
    before = [one for one in tx.parts.of_thread(part.thread_id) if one.first_seq <= part.first_seq]
    opened = next((one for one in reversed(before) if one.opened_for == SESSION), None)
    facts = None if opened is None else facts_of(tx, opened.episode_id)
    over = facts is not None and part != opened and _after(facts, part)
    return None if over else facts


def parts_in(facts: SessionFacts, parts: Sequence[ThreadPart]) -> list[ThreadPart]:
    """Return those of a thread's parts (in order) that a session reaches over: its own, and what followed it.

    Empty for a session of which nothing is left.
    """
    found: list[ThreadPart] = []
    for part in parts:
        if part.episode_id == facts.episode_id:
            found.append(part)
        elif found and (part.opened_for == SESSION or _after(facts, part)):
            break
        elif found:
            found.append(part)
    return found


def _after(facts: SessionFacts, part: ThreadPart) -> bool:
    return facts.last_seq is not None and part.first_seq > facts.last_seq


def topic_of(episode: Episode) -> str:
    """Return what a session was started for, as its words say; "" of any other episode."""
    told = episode.metadata.get("topic")
    return told if isinstance(told, str) else ""


def agent_of(episode: Episode) -> str:
    """Return which agent held a session, as its words say; "" where nobody said."""
    told = episode.metadata.get("agent_id")
    return told if isinstance(told, str) else ""


def together(one: Given, more: Given) -> Given:
    """Return what was given first with what was given later; the later outcome counts."""
    return Given(
        _both(one.participants, more.participants),
        _both(one.tools_used, more.tools_used),
        _both(one.key_decisions, more.key_decisions),
        more.outcome or one.outcome,
    )


def _both(one: Iterable[str], more: Iterable[str]) -> tuple[str, ...]:
    return capped([*one, *more])


def blanked(facts: SessionFacts) -> SessionFacts:
    """Return a session without any words: all that was said in it was erased, and so is what it was about."""
    return replace(facts, topic="", given=Given(outcome=facts.given.outcome), key=None)
