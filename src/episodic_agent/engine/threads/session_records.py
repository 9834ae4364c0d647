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

from episodic_agent.core.chains.metadata import NOTHING, Metadata, SuppliedMetadata, capped
from episodic_agent.core.identity import decision_id
from episodic_agent.engine.visibility.hidden import Visibility
from episodic_agent.protocols import Transaction, stored_decision
from episodic_agent.schemas import Decision, Episode, Json, Section, Thread

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
    supplied: SuppliedMetadata = NOTHING
    ended_at: datetime | None = None
    last_seq: int | None = None

    @property
    def outcome(self) -> str | None:
        """Return how it ended by the caller's word, if that was said."""
        return self.supplied.outcome

    @property
    def words(self) -> str:
        """Return the people, tools and decisions declared of it: stories are found by them."""
        about = self.supplied
        return "\n".join((*about.participants, *about.tools_used, *about.key_decisions))

    def about(self) -> dict[str, Json]:
        """Return what of it is part of its episode's metadata, and is found by."""
        answers: dict[str, Json] = {"topic": self.topic} if self.topic else {}
        return answers | ({"agent_id": self.agent_id} if self.agent_id else {})

    def metadata(self) -> dict[str, Json]:
        """Return its metadata, and those of what happened in it, while nobody read what was said."""
        return {**self.fields().as_json(), **self.about()}

    def fields(self) -> Metadata:
        """Return what its caller declared of it."""
        supplied_metadata = self.supplied
        metadata = Metadata(
            supplied_metadata.participants, supplied_metadata.tools_used, (), supplied_metadata.key_decisions
        )
        return (
            metadata
            if supplied_metadata.outcome is None
            else replace(metadata, outcome=supplied_metadata.outcome)
        )


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
            "participants": list(facts.supplied.participants),
            "tools_used": list(facts.supplied.tools_used),
            "key_decisions": list(facts.supplied.key_decisions),
            "outcome": facts.supplied.outcome,
            "ended_at": None if facts.ended_at is None else facts.ended_at.isoformat(),
            "last_seq": facts.last_seq,
        },
    )


def read_record(decision: Decision) -> SessionFacts:
    """Undo `record_of`."""
    answers = decision.detail
    key, outcome, ended, last = (answers.get(name) for name in ("key", "outcome", "ended_at", "last_seq"))
    return SessionFacts(
        episode_id=UUID(str(answers["episode"])),
        thread_id=decision.subject,
        topic=str(answers["topic"]),
        started_at=datetime.fromisoformat(str(answers["started_at"])),
        at=decision.at,
        key=key if isinstance(key, str) else None,
        agent_id=str(answers.get("agent_id") or ""),
        own_thread=bool(answers.get("own_thread")),
        supplied=SuppliedMetadata(
            _texts(answers, "participants"),
            _texts(answers, "tools_used"),
            _texts(answers, "key_decisions"),
            outcome if isinstance(outcome, str) else None,
        ),
        ended_at=datetime.fromisoformat(ended) if isinstance(ended, str) else None,
        last_seq=last if isinstance(last, int) else None,
    )


def _texts(values: Mapping[str, Json], name: str) -> tuple[str, ...]:
    value = values.get(name)
    return capped(map(str, value)) if isinstance(value, list | tuple) else ()


def facts_of(tx: Transaction, episode_id: UUID) -> SessionFacts | None:
    """Return what was said of a session; None for any other episode."""
    decision = stored_decision(tx, record_id(episode_id))
    return None if decision is None or decision.type != SESSION else read_record(decision)


def session_at(tx: Transaction, section: Section) -> SessionFacts | None:
    """Return the session that a part is in: the one that opened it, or that went on in it; None outside."""
    if section.opened_for == "":  # nearly always: nothing is looked up
        return None
    before = [one for one in tx.threads.sections(section.thread_id) if one.first_seq <= section.first_seq]
    opened = next((one for one in reversed(before) if one.opened_for == SESSION), None)
    facts = None if opened is None else facts_of(tx, opened.episode_id)
    over = facts is not None and section != opened and _after(facts, section)
    return None if over else facts


def session_of_episode(tx: Transaction, episode: Episode) -> SessionFacts | None:
    """Return the session that an episode happened in, None outside of any."""
    section = tx.threads.section(episode.thread_id, episode.first_seq)
    return None if section is None else session_at(tx, section)


def topic_at(tx: Transaction, thread_id: UUID, seq: int) -> str:
    """Return the topic of a session that begins at a place, where it titles what begins there; else ""."""
    opened = tx.threads.section(thread_id, seq)
    if opened is None or opened.first_seq != seq or opened.opened_for != SESSION:
        return ""
    facts = facts_of(tx, opened.episode_id)
    return "" if facts is None else facts.topic


def declared_title(tx: Transaction, thread: Thread, visibility: Visibility | None = None) -> str:
    """Return the topic of the session that a thread is in at its end, or was opened for; "" where none is.

    What was declared beats what was read, whatever was said last. Nothing is told of a hidden session.
    """
    ends = (tx.threads.section(thread.id), tx.threads.section(thread.id, 0))
    sessions = [None if section is None else session_at(tx, section) for section in ends]
    own = [facts for facts in sessions[1:] if facts is not None and facts.own_thread]
    facts = next((facts for facts in (sessions[0], *own) if facts is not None), None)
    if facts is None or not facts.topic or visibility is None or not visibility.drawn:
        return "" if facts is None else facts.topic
    episode = tx.episodes.get(facts.episode_id)
    hidden = episode is None or visibility.holds(facts.topic) or visibility.why_episode(episode)
    gone = episode is None or (episode.title and not visibility.worded(episode).title)
    return "" if hidden or gone else facts.topic


def declared(tx: Transaction, episode: Episode) -> Metadata:
    """Return what is known of an episode that has no words yet: what was said of its session."""
    facts = session_of_episode(tx, episode)
    return Metadata() if facts is None else facts.fields()


def sections_in(facts: SessionFacts, sections: Sequence[Section]) -> list[Section]:
    """Return those of a thread's parts (in order) that a session reaches over: its own, and what followed it.

    Empty for a session of which nothing is left.
    """
    matching_sections: list[Section] = []
    for section in sections:
        if section.episode_id == facts.episode_id:
            matching_sections.append(section)
        elif matching_sections and (section.opened_for == SESSION or _after(facts, section)):
            break
        elif matching_sections:
            matching_sections.append(section)
    return matching_sections


def _after(facts: SessionFacts, section: Section) -> bool:
    return facts.last_seq is not None and section.first_seq > facts.last_seq


def topic_of(episode: Episode) -> str:
    """Return what a session was started for, as its words say; "" of any other episode."""
    answer = episode.metadata.get("topic")
    return answer if isinstance(answer, str) else ""


def agent_of(episode: Episode) -> str:
    """Return which agent held a session, as its words say; "" where nobody said."""
    answer = episode.metadata.get("agent_id")
    return answer if isinstance(answer, str) else ""


def together(metadata: SuppliedMetadata, more: SuppliedMetadata) -> SuppliedMetadata:
    """Return what was given first with what was given later; the later outcome counts."""
    return SuppliedMetadata(
        _both(metadata.participants, more.participants),
        _both(metadata.tools_used, more.tools_used),
        _both(metadata.key_decisions, more.key_decisions),
        more.outcome or metadata.outcome,
    )


def _both(texts: Iterable[str], more: Iterable[str]) -> tuple[str, ...]:
    return capped([*texts, *more])


def blanked(facts: SessionFacts) -> SessionFacts:
    """Return a session without any words: all that was said in it was erased, and so is what it was about."""
    return replace(facts, topic="", supplied=SuppliedMetadata(outcome=facts.supplied.outcome), key=None)
