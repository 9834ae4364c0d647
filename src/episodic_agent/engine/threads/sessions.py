"""Sessions that a caller frames: started with a topic, ended with an outcome, segmented inside as ever.

A session is a part of a thread, of one opened for it or of one that runs; its episode is that part's primary
and owns no observation (I3). Each verb is one transaction, so that whoever dies in it did nothing or all of
it, and a retry finds what was done.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final
from uuid import UUID

from episodic_agent.core.chains.deciding import EXPLICIT, ChainChoice, decision_of, unjudged_verdict
from episodic_agent.core.chains.metadata import ABANDONED, SuppliedMetadata, capped, read_metadata
from episodic_agent.core.chains.records import EpisodeStanding
from episodic_agent.core.chains.trees import check_order, check_parent
from episodic_agent.core.identity import thread_id as thread_identity
from episodic_agent.core.sections.triggers import Trigger
from episodic_agent.core.threads.channels import channel_name, projects_of
from episodic_agent.core.threads.resolution import CLOSED, OPEN
from episodic_agent.engine.arguments import SESSION_STATES
from episodic_agent.engine.boundary.segmenting import Segmenter, end_frame, end_thread
from episodic_agent.engine.chains.ancestry import OFF, parents_above
from episodic_agent.engine.chains.job import Chainer, keep_above
from episodic_agent.engine.deps import Deps
from episodic_agent.engine.episodes.encoding import ask_again, posting_of
from episodic_agent.engine.episodes.wording import LATER, REFUSED
from episodic_agent.engine.jobs.kinds import CHAIN
from episodic_agent.engine.jobs.retrying import until_unopposed
from episodic_agent.engine.links.candidates import ask_for_end
from episodic_agent.engine.sections.bounds import abandon, current, end_section, primary, request
from episodic_agent.engine.sections.job import embeddable, index_section, searchable
from episodic_agent.engine.threads.session_records import (
    SESSION,
    SessionFacts,
    facts_of,
    record_of,
    sections_in,
    together,
)
from episodic_agent.errors import InvalidInput, NotFound, ProviderError
from episodic_agent.protocols import EPISODES, Transaction, ref_of
from episodic_agent.schemas import (
    Encoding,
    Episode,
    EpisodeKind,
    EpisodeState,
    Frame,
    Reason,
    Scope,
    Section,
    Thread,
    Vector,
)
from episodic_agent.schemas.chains import TreeNode
from episodic_agent.showing import described

BY_CALLER: Final = "session-1"  # who found the words of a session in which nothing is said yet
RUNNING, CLOSED_SESSION = SESSION_STATES[:2]


@dataclass(frozen=True, slots=True)
class Session:
    """A session as its caller knows it. `id` is its episode's, `thread` the name of the thread to speak in.

    `state` is open, closed or abandoned (nothing was said in it: it left no episode). `ended_at` is
    None where nobody called for the end. `outcome` is what the caller said of it, None where nothing.
    """

    id: UUID
    thread: str
    topic: str
    state: str
    started_at: datetime
    key: str | None = None
    agent_id: str = ""
    parent_episode_id: UUID | None = None
    title: str = ""
    participants: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    key_decisions: tuple[str, ...] = ()
    outcome: str | None = None
    ended_at: datetime | None = None

    def __repr__(self) -> str:
        # "abandoned, success" would say two things: of an empty one only what its caller said of it
        state = "nothing said" if self.outcome and self.state == ABANDONED else self.state
        return described(
            self, self.started_at, self.title or self.topic, self.thread, state, self.outcome, self.id
        )


class Sessions:
    """Starts and ends sessions."""

    def __init__(self, deps: Deps, segmenter: Segmenter) -> None:
        self._deps = deps
        self._segmenter = segmenter
        self._chainer = Chainer(deps)

    # --- start ------------------------------------------------------------------------------------------

    def start(
        self,
        scope: Scope,
        facts: SessionFacts,
        thread: str | None,
        parent: UUID | None,
        channel: str | None = None,
    ) -> Session:
        """Start a session, or return the one of its id; `facts.thread_id` and `own_thread` are found here."""
        channels = () if channel is None else (channel_name(channel),)
        with self._deps.store.begin(scope, write=False) as tx:
            there = facts_of(tx, facts.episode_id)
            if there is not None:
                return session_of(tx, there)
            known = None if thread is None else tx.threads.get(thread)
        vector = self._embedded(facts.topic)
        choice = None
        if parent is None:
            standing = EpisodeStanding(
                facts.episode_id,
                facts.episode_id if known is None else known.id,
                facts.started_at,
                facts.started_at,
                agent_id=facts.agent_id,
                closed=False,
                projects=projects_of((*channels, *(() if known is None else known.channels))),
            )
            choice = self._chainer.opening(scope, standing, facts.topic, vector)
        return until_unopposed(lambda: self._begun(scope, facts, thread, channels, parent or choice, vector))

    def _embedded(self, topic: str) -> Vector | None:
        embedder = self._deps.embedder
        if embedder is None:
            return None
        try:
            row: Vector = embedder.embed(embeddable("", "", topic))[0]
        except ProviderError:
            return None  # words will do until it has its own
        return row

    def _begun(
        self,
        scope: Scope,
        facts: SessionFacts,
        thread: str | None,
        channels: Sequence[str],
        parent: "UUID | ChainChoice | None",
        vector: Vector | None,
    ) -> Session:
        now = self._deps.clock()
        with self._deps.store.begin(scope) as tx:
            tx.hold("threads")
            there = facts_of(tx, facts.episode_id)
            if there is not None:  # another one with the same key was faster
                return session_of(tx, there)
            if isinstance(parent, UUID):
                _check(tx, facts, parent)
            where, frame = self._thread(tx, thread, channels, facts.started_at, now)
            facts = replace(facts, thread_id=where.id, own_thread=thread is None)
            self._open(tx, where, frame, facts, now)
            tx.knowledge.decide(record_of(facts))
            name_session(tx, facts, frame.next_seq, self._deps, vector, now)
            self._lead(tx, facts.episode_id, parent, now)
            return session_of(tx, facts)

    def _thread(
        self, tx: Transaction, name: str | None, channels: Sequence[str], at: datetime, now: datetime
    ) -> tuple[Thread, Frame]:
        """Return the thread to speak in: the one named, which runs on, or one of the session's own."""
        thread = None if name is None else tx.threads.get(name)
        if thread is not None:
            frame = tx.threads.frame(thread.id)
            end_frame(tx, self._segmenter, thread, now)  # what was told before is not of the session
            thread = tx.threads.get(thread.id) or thread
            named = tuple(sorted({*thread.channels, *channels}))
            thread = replace(thread, status=OPEN, closed_for="", channels=named)
            tx.threads.save(thread)
            return thread, frame
        origin = name or _unused(tx, at)
        identity = thread_identity(tx.scope, origin)
        made = Thread(identity, origin, at, at, channels=tuple(channels), explicit=name is not None)
        target = self._segmenter.of(made).policy.name
        tx.threads.create(made, Frame(made.id, target, self._deps.embedder_name))
        return made, tx.threads.frame(made.id)

    def _open(
        self, tx: Transaction, thread: Thread, frame: Frame, facts: SessionFacts, now: datetime
    ) -> None:
        """Begin the session's part behind all that was said; what ran until now is over."""
        last = tx.threads.section(thread.id)
        if (
            last is not None and last.first_seq == frame.next_seq
        ):  # another session, in which nothing was said
            abandon(tx, last, now)
        if frame.next_seq:
            before = current(tx, thread, frame.next_seq - 1, now)
            _closed(tx, before, frame.next_seq - 1, now)
        turns = frame.next_seq if thread.modality == "step" else thread.turn_count
        section = Section(
            thread.id,
            frame.next_seq,
            facts.episode_id,
            facts.started_at,
            turns,
            opened_for=SESSION,
            grown=False,
        )
        tx.episodes.put(primary(section, None, now))
        tx.threads.save(section)

    def _lead(self, tx: Transaction, child: UUID, parent: "UUID | ChainChoice | None", now: datetime) -> None:
        choice = ChainChoice(unjudged_verdict(parent, EXPLICIT)) if isinstance(parent, UUID) else parent
        decision = None if choice is None else decision_of(child, choice, now, "open")
        if choice is None or decision is None:
            return
        above = choice.parent.parent if choice.parent is not None else None
        if above is not None:
            if above not in parents_above(tx, [above]):
                return  # it was erased meanwhile; closing judges again
            tx.episodes.lead(child, above)
            if isinstance(parent, UUID):
                keep_above(tx, parent)
        tx.knowledge.decide(decision)

    # --- end --------------------------------------------------------------------------------------------

    def end(self, scope: Scope, identity: UUID, more: SuppliedMetadata, at: datetime | None = None) -> UUID:
        """End a session (`at` another time than now), return its id; one that has ended stays as it is."""
        return until_unopposed(lambda: self._ended(scope, identity, more, at))

    def _ended(self, scope: Scope, identity: UUID, more: SuppliedMetadata, at: datetime | None) -> UUID:
        now = self._deps.clock()
        with self._deps.store.begin(scope) as tx:
            tx.hold("threads")
            facts = known_session(tx, identity)
            if None not in (more.outcome, facts.outcome) and more.outcome != facts.outcome:
                raise InvalidInput(
                    f"session {identity} has ended already, as {facts.outcome};"
                    " leave the outcome out, or start another session"
                )
            known = replace(facts, supplied=together(facts.supplied, more))
            if known.ended_at is not None:
                over = known
            elif at is not None and at < known.started_at:
                raise InvalidInput(f"session {identity} began at {known.started_at}; it cannot end at {at}")
            else:
                over = self._over(tx, known, at, now)
            if over != facts:
                tx.knowledge.decide(record_of(over), amend=True)
                _tell(tx, over, now, self._deps.language)
            return identity

    def _over(self, tx: Transaction, facts: SessionFacts, at: datetime | None, now: datetime) -> SessionFacts:
        """End the part a session is in, unless something ended it before; return when that was."""
        facts = replace(facts, ended_at=at or now, end_received_at=None if at is None else now)
        sections = tx.threads.sections(facts.thread_id)
        own = sections_in(facts, sections)
        thread = tx.threads.get(facts.thread_id)
        last_seq = tx.threads.frame(facts.thread_id).next_seq - 1
        if not own or thread is None:  # all of it is gone
            return replace(facts, last_seq=-1)
        if own[-1] != sections[-1]:
            following = sections[sections.index(own[-1]) + 1]
            return replace(facts, last_seq=following.first_seq - 1)
        facts = replace(facts, last_seq=last_seq)
        tx.knowledge.decide(record_of(facts), amend=True)  # an empty one is not to be called abandoned then
        if facts.own_thread:
            ask_for_end(tx, self._deps, thread.id, now)
            end_thread(tx, self._segmenter, thread.id, Reason.MANUAL, now)
        elif thread.status != CLOSED:
            end_frame(tx, self._segmenter, thread, now)
            end_section(tx, thread, last_seq, now)
        for section in own:
            self._chain(tx, section, now)
        return facts

    def _chain(self, tx: Transaction, section: Section, now: datetime) -> None:
        """Have a session chained that was compacted before it ended: no compaction will ask for it."""
        episode = tx.episodes.get(section.episode_id)
        if episode is None or episode.state is not EpisodeState.COMPACTED:
            return
        if self._deps.chain_policy != OFF:
            tx.upkeep.ask(CHAIN, str(episode.id), CHAIN, now=now)


def name_session(
    tx: Transaction, facts: SessionFacts, seq: int, deps: Deps, vector: Vector | None, now: datetime
) -> None:
    """Let the topic stand for a session, and lead to it, until it has words; its part begins at `seq`."""
    words = Encoding(facts.episode_id, 1, facts.topic, "", facts.metadata(), BY_CALLER, now)
    tx.episodes.put(words)
    ref = ref_of(tx.threads.number(facts.thread_id), seq)
    vectors = None if vector is None else vector[None, :]
    index_section(tx, ref, searchable("", "", "", "", facts.topic), deps, vectors)


def _unused(tx: Transaction, at: datetime) -> str:
    """Return a name for a session's own thread that no thread has."""
    name = origin = f"session {at:%Y-%m-%dT%H:%M:%SZ}"
    number = 1
    while tx.threads.get(origin) is not None:
        number += 1
        origin = f"{name} ({number})"
    return origin


def _check(tx: Transaction, child: SessionFacts, parent: UUID) -> None:
    """Refuse a parent that is unknown, no session, still open, goes on from the session or began after it."""
    check_parent(child.episode_id, parent, parents_above(tx, [parent]))
    episode = tx.episodes.get(parent)
    if episode is None or episode.kind is not EpisodeKind.PRIMARY:
        raise InvalidInput(f"{parent} is no session to go on from; `episodic summaries` lists sessions")
    if episode.state is EpisodeState.OPEN:
        raise InvalidInput(f"session {parent} is still open; end it before another goes on from it")
    check_order(TreeNode(child.episode_id, None, child.started_at), TreeNode(parent, None, episode.start_at))


def _closed(tx: Transaction, section: Section, last_seq: int, now: datetime) -> None:
    """Close the part that a session follows, and ask for its compaction."""
    ended = replace(section, ended=True)
    if section.compacted_through is not None and section.compacted_through >= last_seq:
        tx.threads.save(ended)
        return
    request(tx, ended, Trigger.THREAD_END, last_seq, now, followed=True)


def known_session(tx: Transaction, identity: UUID) -> SessionFacts:
    """Return what is kept of a session; InvalidInput for an episode that is none, NotFound for no episode."""
    facts = facts_of(tx, identity)
    if facts is not None:
        return facts
    if tx.episodes.get(identity) is not None:
        raise InvalidInput(
            f"episode {identity} is no session that was started; `threads.close` ends a thread"
        )
    raise NotFound(f"no session {identity} in this memory; `episodic session list` shows those there are")


def _tell(tx: Transaction, facts: SessionFacts, now: datetime, language: str | None) -> None:
    """Let what the caller said at the end stand in the words of a session and of all that happened in it.

    What has no words yet gets them with it.
    """
    sections = tx.threads.sections(facts.thread_id)
    own = sections_in(facts, sections)
    if not own:
        return
    following = sections[sections.index(own[-1]) + 1 :]
    behind = following[0].first_seq if following else None
    events = [
        one
        for one in tx.episodes.list(threads=[facts.thread_id])
        if own[0].first_seq <= one.first_seq and (behind is None or one.first_seq < behind)
    ]
    values = tx.episodes.get([part.episode_id for part in own]).values()
    for episode in (*values, *events):
        if episode.encoding_version:
            _declare(tx, facts, episode, now, language)


def _declare(
    tx: Transaction, facts: SessionFacts, episode: Episode, now: datetime, language: str | None
) -> None:
    known, metadata = read_metadata(episode.metadata), facts.supplied
    now_known = replace(
        known,
        participants=capped([*metadata.participants, *known.participants]),
        tools_used=capped([*metadata.tools_used, *known.tools_used]),
        key_decisions=capped([*metadata.key_decisions, *known.key_decisions]),
        outcome=metadata.outcome or known.outcome,
    )
    if now_known == known:
        return
    version, about = episode.encoding_version + 1, {**episode.metadata, **now_known.as_json()}
    by = episode.encoded_by or BY_CALLER
    tx.episodes.put(Encoding(episode.id, version, episode.title, episode.summary, about, by, now))
    if episode.kind is EpisodeKind.EVENT:  # it is found by what is declared now, too
        ref = ref_of(tx.threads.number(episode.thread_id), episode.first_seq)
        postings = [posting_of(ref, episode.title, episode.summary, facts, language)]
        tx.index.put_postings(EPISODES, postings)
    if episode.kind is EpisodeKind.EVENT and REFUSED in about:  # a model is asked again for these words
        ask_again(tx, [replace(episode, encoding_version=version)], now, after=LATER)


def session_of(tx: Transaction, facts: SessionFacts) -> Session:
    """Return a session as its caller knows it."""
    episode, thread = tx.episodes.get(facts.episode_id), tx.threads.get(facts.thread_id)
    sections = tx.threads.sections(facts.thread_id)
    own = sections_in(facts, sections)
    runs = bool(own) and own[-1] == sections[-1] and not own[-1].ended
    return Session(
        id=facts.episode_id,
        thread="" if thread is None else thread.origin,
        topic=facts.topic,
        state=ABANDONED if episode is None else RUNNING if runs else CLOSED_SESSION,
        started_at=facts.started_at,
        key=facts.key,
        agent_id=facts.agent_id,
        parent_episode_id=None if episode is None else episode.parent_episode_id,
        title=facts.topic if episode is None else episode.title,
        participants=facts.supplied.participants,
        tools=facts.supplied.tools_used,
        key_decisions=facts.supplied.key_decisions,
        outcome=facts.supplied.outcome,
        ended_at=facts.ended_at,
    )
