"""Begin and end the parts of threads, in the transaction that appends to them or closes them.

A part is a primary episode and a row that says what compaction did with it. Its members are not stored: they
are the current event episodes that begin in its span, so a resegmentation leaves nothing stale. Nor is the
end of the part a thread is in: that is wherever the thread ends, so an append reads one row and writes none.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final
from uuid import UUID

from episodic_agent.core.boundary.policies import STEP
from episodic_agent.core.identity import section_id
from episodic_agent.core.sections.triggers import (
    PRIORITY,
    Due,
    SectionLimits,
    SectionState,
    Trigger,
    due,
    most_urgent,
    opens_section,
)
from episodic_agent.core.strength import initial_strength
from episodic_agent.core.threads.resolution import OPEN
from episodic_agent.core.threads.turns import opens_turn, turn_count
from episodic_agent.engine.chains.ancestry import hand_down
from episodic_agent.engine.jobs.kinds import COMPACT
from episodic_agent.engine.threads.session_records import facts_of, record_of, session_at
from episodic_agent.errors import NotFound
from episodic_agent.lazily import module
from episodic_agent.protocols import PARTS, Transaction, ref_of
from episodic_agent.schemas import Episode, EpisodeKind, EpisodeState, Observation, Section, Thread

if TYPE_CHECKING:
    from episodic_agent.core.chains import deciding
else:
    deciding = module("episodic_agent.core.chains.deciding")

MESSAGES: Final = SectionLimits()
# An agent's steps have no turns: each counts as one, and as many of them as are told in a moment make a part.
STEPS: Final = SectionLimits(turns=2_000)
AHEAD: Final = timedelta(minutes=1)  # how much earlier a job counts as asked for, by each degree of urgency
_PAGE: Final = 1024


@dataclass(slots=True)
class Growing:
    """A part while observations are dealt out: how far it reaches, and how many turns it has.

    `stored` tells that it has its rows already, `grew` that something was dealt to it now.
    """

    section: Section
    last_seq: int
    turns: int
    end_at: datetime
    stored: bool
    grew: bool = False

    def take(self, observation: Observation, *, opens: bool) -> None:
        """Let an observation join."""
        if opens and not self.turns:  # what came before its first turn does not count for its age
            self.section = replace(self.section, first_at=observation.at)
        self.grew = True
        self.last_seq = observation.seq
        self.end_at = max(self.end_at, observation.at)
        self.turns += opens


class Dealer:
    """Deals a thread's new observations out to its parts, in order."""

    def __init__(self, thread: Thread, section: Section | None, last_seq: int, turns: int) -> None:
        """Take the thread's last part and last seq, and how many turns it had, before the new ones."""
        self._thread = thread
        self._limits = limits_of(thread)
        self._all_open = self._limits is STEPS
        self._turns = last_seq + 1 if self._all_open else turns
        self._reopens = section is not None and section.ended and thread.status == OPEN
        self._before = section
        self._sections: list[Growing] = []
        if section is not None:
            turns = self._turns - section.turns_before
            self._sections.append(Growing(section, last_seq, turns, thread.last_activity_at, stored=True))

    def deal(self, observations: Sequence[Observation]) -> None:
        """Let observations join the last part, or begin others."""
        for observation in observations:
            opens = self._all_open or opens_turn(observation)
            why = self._opened_for(observation, opens)
            if why is not None:
                self._begin(observation, why)
            self._sections[-1].take(observation, opens=opens)
            self._turns += opens

    def _opened_for(self, observation: Observation, opens: bool) -> str | None:
        if not self._sections:
            return ""
        reopens, self._reopens = self._reopens, False
        if not (opens or reopens):
            return None
        now = self._sections[-1]
        section = seen(now.section, now.last_seq, now.turns)
        return opens_section(section, observation.at, opens_turn=opens, reopens=reopens, limits=self._limits)

    def _begin(self, observation: Observation, why: str) -> None:
        thread, at = self._thread.id, observation.at
        section = Section(
            thread, observation.seq, section_id(thread, observation.seq), at, self._turns, opened_for=why
        )
        self._sections.append(Growing(section, observation.seq, 0, at, stored=False))

    def write(self, tx: Transaction, now: datetime) -> None:
        """Write what is new, and ask for the compaction of parts that others follow."""
        parent = None
        for growing, following in zip(self._sections, [*self._sections[1:], None], strict=True):
            if not growing.stored:
                # one piece of work by its caller's word; of any other talk its end tells whether it went on
                inside = session_at(tx, growing.section) is not None
                tx.episodes.put(primary(growing.section, parent if inside else None, now))
                tx.threads.save(growing.section)
                self._rolled(tx, growing.section, parent if inside else None, now)
            if following is not None:
                # a part followed for its age is due even where the clock is behind event time
                self._done(tx, growing, now, max(now, following.section.first_at))
            elif growing.stored and growing.grew:
                self._grown(tx, growing)
            parent = growing.section.episode_id

    def _rolled(self, tx: Transaction, section: Section, parent: UUID | None, now: datetime) -> None:
        """Keep a record of the part that one goes on from in a session that grew too long or too old."""
        if parent is None:
            return
        arguments = deciding.unjudged_verdict(parent, deciding.ROLL)
        made = deciding.decision_of(section.episode_id, deciding.ChainChoice(arguments), now, "open")
        if made is not None:
            tx.knowledge.decide(made)

    def _done(self, tx: Transaction, growing: Growing, now: datetime, latest: datetime) -> None:
        section = seen(growing.section, growing.last_seq, growing.turns, followed=True)
        for work in most_urgent(due(section, latest, limits=self._limits))[:1]:
            request(
                tx, growing.section, work.trigger, growing.last_seq, now, followed=True, end_at=growing.end_at
            )

    def _grown(self, tx: Transaction, growing: Growing) -> None:
        section = replace(growing.section, grown=True)
        if section != self._before:
            tx.threads.save(section)
        if not growing.section.grown:  # it was done, and is not any more
            tx.episodes.change(section.episode_id, state=EpisodeState.OPEN, last_seq=growing.last_seq)


def primary(section: Section, parent: UUID | None, now: datetime) -> Episode:
    """Return the episode of a part that begins; how far it reaches is written when it is done."""
    strength = initial_strength(0.0)
    return Episode(
        id=section.episode_id,
        thread_id=section.thread_id,
        first_seq=section.first_seq,
        last_seq=section.first_seq,
        start_at=section.first_at,
        end_at=section.first_at,
        created_at=now,
        reason="",
        surprise=0.0,
        stability=strength.stability,
        difficulty=strength.difficulty,
        last_reviewed_at=section.first_at,
        kind=EpisodeKind.PRIMARY,
        state=EpisodeState.OPEN,
        parent_episode_id=parent,
    )


def limits_of(thread: Thread) -> SectionLimits:
    """Return how large a part of a thread may become."""
    return STEPS if thread.modality == STEP else MESSAGES


def seen(section: Section, last_seq: int, turns: int, *, followed: bool = False) -> SectionState:
    """Return a part as compaction sees it."""
    return SectionState(
        section.episode_id,
        section.first_seq,
        last_seq,
        turns,
        section.first_at,
        closed=section.ended,
        followed=followed,
        compacted_through=section.compacted_through,
    )


def take_in(tx: Transaction, thread: Thread, observations: Sequence[Observation], now: datetime) -> None:
    """Let observations that were just appended join their thread's parts; `thread` counts them already."""
    section, first = tx.threads.section(thread.id), observations[0].seq
    if section is None:
        dealer = dealt(tx, thread, first - 1)
    else:
        turns = thread.turn_count - turn_count(observations)
        dealer = Dealer(thread, section, first - 1, turns)
    dealer.deal(observations)
    dealer.write(tx, now)
    if thread.status != OPEN:  # what comes late to a thread that is over is told with the rest of it
        end_section(tx, thread, observations[-1].seq, now)


def end_section(tx: Transaction, thread: Thread, last_seq: int, now: datetime) -> None:
    """End the last part of a thread that was closed, and ask for its compaction."""
    last = tx.threads.section(thread.id)
    if last is not None and last.first_seq > last_seq:
        abandon(tx, last, now)
        return
    if last_seq < 0:
        return
    section = replace(current(tx, thread, last_seq, now), ended=True)
    if covers(section, last_seq):
        tx.threads.save(replace(section, grown=False))
    else:
        request(tx, section, Trigger.THREAD_END, last_seq, now)


def went_on(tx: Transaction, section: Section) -> UUID | None:
    """Return the part before one where the words went on: one event reaches over the seam; else None."""
    before = [one for one in tx.threads.sections(section.thread_id) if one.first_seq < section.first_seq]
    if not before:
        return None
    ref = ref_of(tx.threads.number(section.thread_id), section.first_seq)
    frame = tx.threads.frame(section.thread_id)
    event = next(iter(tx.index.covers([(ref, ref)])), None)
    first = event.first_ref if event is not None else ref - (section.first_seq - frame.first_seq)
    return before[-1].episode_id if first < ref else None


def abandon(tx: Transaction, section: Section, now: datetime) -> None:
    """Take the part of a session away in which nothing was said; what its caller told of it stays."""
    facts = facts_of(tx, section.episode_id)
    hand_down(tx, {section.episode_id})
    tx.episodes.drop(section.episode_id)
    tx.threads.drop(section.thread_id, section.first_seq)
    tx.index.drop(PARTS, [ref_of(tx.threads.number(section.thread_id), section.first_seq)])
    if facts is not None and facts.ended_at is None:
        tx.knowledge.decide(
            record_of(replace(facts, ended_at=now, last_seq=section.first_seq - 1)), amend=True
        )


def current(tx: Transaction, thread: Thread, last_seq: int, now: datetime) -> Section:
    """Return the part a thread is in, which one stored before there were parts is cut into first."""
    if tx.threads.section(thread.id) is None:
        dealt(tx, thread, last_seq).write(tx, now)
    section = tx.threads.section(thread.id)
    if section is None:
        raise NotFound(f"thread {thread.origin!r} holds nothing yet")
    return section


def dealt(tx: Transaction, thread: Thread, last_seq: int) -> Dealer:
    """Deal the stored observations of a thread up to a seq out, from the first on."""
    dealer = Dealer(thread, None, -1, 0)
    for start in range(0, last_seq + 1, _PAGE):
        dealer.deal(tx.observations.read(thread.id, start, min(start + _PAGE - 1, last_seq)))
    return dealer


def request(
    tx: Transaction,
    section: Section,
    trigger: Trigger,
    last_seq: int,
    now: datetime,
    *,
    followed: bool = False,
    end_at: datetime | None = None,
) -> None:
    """Ask for the compaction of a part (`followed` by another) up to a seq that it does not cover yet.

    Due jobs run in the order of their times, so those of a more urgent trigger count as asked for earlier.
    """
    if covers(section, last_seq):
        return
    if not section.grown and section.trigger:  # it waits already, and for the more urgent reason
        trigger = min(trigger, Trigger(section.trigger), key=lambda one: PRIORITY[one])
    section = replace(section, grown=False, trigger=trigger.value)
    tx.threads.save(section)
    state = EpisodeState.CLOSED if section.ended or followed else EpisodeState.OPEN
    tx.episodes.change(
        section.episode_id, state=state, last_seq=last_seq, end_at=end_at, reason=trigger.value
    )
    ahead = AHEAD * (len(PRIORITY) - 1 - PRIORITY[trigger])
    work = Due(trigger, section.episode_id, last_seq)
    tx.upkeep.ask(COMPACT, work.key, f"{COMPACT}:{section.episode_id}", now=now, run_after=now - ahead)


def covers(section: Section, last_seq: int) -> bool:
    """Tell whether a part's newest compaction covers it up to a seq."""
    return section.compacted_through is not None and section.compacted_through >= last_seq


def with_end(tx: Transaction, episode: Episode) -> Episode:
    """Return a primary episode with the end its thread gives it while it is open; any other as it is."""
    if episode.kind is not EpisodeKind.PRIMARY or episode.state is not EpisodeState.OPEN:
        return episode
    thread = tx.threads.get(episode.thread_id)
    if thread is None:
        return episode
    last_seq = tx.threads.frame(thread.id).next_seq - 1
    return replace(episode, last_seq=last_seq, end_at=max(episode.start_at, thread.last_activity_at))


def summary_of(tx: Transaction, thread: Thread) -> str:
    """Return what the newest compacted part of a thread was about, at the middle resolution; else ""."""
    sections = tx.threads.sections(compacted=True, limit=1, thread_id=thread.id)
    newest = tx.episodes.get(sections[0].episode_id) if sections else None
    return "" if newest is None else newest.summary
