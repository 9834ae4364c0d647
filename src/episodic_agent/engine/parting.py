"""Begin and end the parts of threads, in the transaction that appends to them or closes them.

A part is a primary episode and a row that says what compaction did with it. Its members are not stored: they
are the current event episodes that begin in its span, so a resegmentation leaves nothing stale. Nor is the
end of the part a thread is in: that is wherever the thread ends, so an append reads one row and writes none.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from episodic_agent.core.boundary.policies import STEP
from episodic_agent.core.chaining import Choice, decision_of, given
from episodic_agent.core.chaining.deciding import ROLL
from episodic_agent.core.compaction import Due, Limits, Part, Trigger, due, most_urgent, opens_part
from episodic_agent.core.compaction.triggers import PRIORITY, REOPENED
from episodic_agent.core.forgetting import initial_strength
from episodic_agent.core.identity import part_id
from episodic_agent.core.interfaces import PARTS, Transaction, ref_of
from episodic_agent.core.threads.records import OPEN
from episodic_agent.core.threads.turns import opens_turn, turn_count
from episodic_agent.engine.chains import hand_down
from episodic_agent.engine.session_facts import facts_of, record_of, session_at
from episodic_agent.errors import NotFound
from episodic_agent.schemas import Episode, EpisodeKind, EpisodeState, Observation, Thread, ThreadPart

COMPACT: Final = "compact"
MESSAGES: Final = Limits()
# An agent's steps have no turns: each counts as one, and as many of them as are told in a moment make a part.
STEPS: Final = Limits(turns=2_000)
AHEAD: Final = timedelta(minutes=1)  # how much earlier a job counts as asked for, by each degree of urgency
_PAGE: Final = 1024


@dataclass(slots=True)
class Growing:
    """A part while observations are dealt out: how far it reaches, and how many turns it has.

    `stored` tells that it has its rows already, `grew` that something was dealt to it now.
    """

    part: ThreadPart
    last_seq: int
    turns: int
    end_at: datetime
    stored: bool
    grew: bool = False

    def take(self, observation: Observation, *, opens: bool) -> None:
        """Let an observation join."""
        if opens and not self.turns:  # what came before its first turn does not count for its age
            self.part = replace(self.part, first_at=observation.at)
        self.grew = True
        self.last_seq = observation.seq
        self.end_at = max(self.end_at, observation.at)
        self.turns += opens


class Dealer:
    """Deals a thread's new observations out to its parts, in order."""

    def __init__(
        self, thread: Thread, part: ThreadPart | None, last_seq: int, turns: int, *, apart: bool = False
    ) -> None:
        """Take the thread's last part and last seq, and how many turns it had, before the new ones.

        `apart` tells that what reopens the thread does not go on from its last part: a session that ended.
        """
        self._thread = thread
        self._apart = apart
        self._limits = limits_of(thread)
        self._all_open = self._limits is STEPS
        self._turns = last_seq + 1 if self._all_open else turns
        self._reopens = part is not None and part.ended and thread.status == OPEN
        self._before = part
        self._found: list[Growing] = []
        if part is not None:
            turns = self._turns - part.turns_before
            self._found.append(Growing(part, last_seq, turns, thread.last_activity_at, stored=True))

    def deal(self, observations: Sequence[Observation]) -> None:
        """Let observations join the last part, or begin others."""
        for observation in observations:
            opens = self._all_open or opens_turn(observation)
            why = self._opened_for(observation, opens)
            if why is not None:
                self._begin(observation, why)
            self._found[-1].take(observation, opens=opens)
            self._turns += opens

    def _opened_for(self, observation: Observation, opens: bool) -> str | None:
        if not self._found:
            return ""
        reopens, self._reopens = self._reopens, False
        if not (opens or reopens):
            return None
        now = self._found[-1]
        part = seen(now.part, now.last_seq, now.turns)
        return opens_part(part, observation.at, opens_turn=opens, reopens=reopens, limits=self._limits)

    def _begin(self, observation: Observation, why: str) -> None:
        thread, at = self._thread.id, observation.at
        part = ThreadPart(
            thread, observation.seq, part_id(thread, observation.seq), at, self._turns, opened_for=why
        )
        self._found.append(Growing(part, observation.seq, 0, at, stored=False))

    def write(self, tx: Transaction, now: datetime) -> None:
        """Write what is new, and ask for the compaction of parts that others follow."""
        parent = None
        for growing, following in zip(self._found, [*self._found[1:], None], strict=True):
            if not growing.stored:
                if self._apart and growing.part.opened_for == REOPENED:
                    parent = None
                tx.episodes.insert(primary(growing.part, parent, now))
                tx.parts.save(growing.part)
                self._rolled(tx, growing.part, parent, now)
            if following is not None:
                # a part followed for its age is due even where the clock is behind event time
                self._done(tx, growing, now, max(now, following.part.first_at))
            elif growing.stored and growing.grew:
                self._grown(tx, growing)
            parent = growing.part.episode_id

    def _rolled(self, tx: Transaction, part: ThreadPart, parent: UUID | None, now: datetime) -> None:
        """Keep a record of the part that one goes on from because of its size, age or compaction."""
        if parent is None:
            return
        made = decision_of(part.episode_id, Choice(given(parent, ROLL)), now, "open")
        if made is not None:
            tx.episodes.decide(made)

    def _done(self, tx: Transaction, growing: Growing, now: datetime, latest: datetime) -> None:
        part = seen(growing.part, growing.last_seq, growing.turns, followed=True)
        for work in most_urgent(due(part, latest, limits=self._limits))[:1]:
            request(
                tx, growing.part, work.trigger, growing.last_seq, now, followed=True, end_at=growing.end_at
            )

    def _grown(self, tx: Transaction, growing: Growing) -> None:
        part = replace(growing.part, grown=True)
        if part != self._before:
            tx.parts.save(part)
        if not growing.part.grown:  # it was done, and is not any more
            tx.episodes.change(part.episode_id, state=EpisodeState.OPEN, last_seq=growing.last_seq)


def primary(part: ThreadPart, parent: UUID | None, now: datetime) -> Episode:
    """Return the episode of a part that begins; how far it reaches is written when it is done."""
    strength = initial_strength(0.0)
    return Episode(
        id=part.episode_id,
        thread_id=part.thread_id,
        first_seq=part.first_seq,
        last_seq=part.first_seq,
        start_at=part.first_at,
        end_at=part.first_at,
        created_at=now,
        reason="",
        surprise=0.0,
        stability=strength.stability,
        difficulty=strength.difficulty,
        last_reviewed_at=part.first_at,
        kind=EpisodeKind.PRIMARY,
        state=EpisodeState.OPEN,
        parent_episode_id=parent,
    )


def limits_of(thread: Thread) -> Limits:
    """Return how large a part of a thread may become."""
    return STEPS if thread.modality == STEP else MESSAGES


def seen(part: ThreadPart, last_seq: int, turns: int, *, followed: bool = False) -> Part:
    """Return a part as compaction sees it."""
    return Part(
        part.episode_id,
        part.first_seq,
        last_seq,
        turns,
        part.first_at,
        closed=part.ended,
        followed=followed,
        compacted_through=part.compacted_through,
    )


def take_in(tx: Transaction, thread: Thread, observations: Sequence[Observation], now: datetime) -> None:
    """Let observations that were just appended join their thread's parts; `thread` counts them already."""
    part, first = tx.parts.last(thread.id), observations[0].seq
    if part is None:
        dealer = dealt(tx, thread, first - 1)
    else:
        turns = thread.turn_count - turn_count(observations)
        dealer = Dealer(thread, part, first - 1, turns, apart=part.ended and is_over(tx, part))
    dealer.deal(observations)
    dealer.write(tx, now)
    if thread.status != OPEN:  # what comes late to a thread that is over is told with the rest of it
        end_part(tx, thread, observations[-1].seq, now)


def end_part(tx: Transaction, thread: Thread, last_seq: int, now: datetime) -> None:
    """End the last part of a thread that was closed, and ask for its compaction."""
    last = tx.parts.last(thread.id)
    if last is not None and last.first_seq > last_seq:
        abandon(tx, last, now)
        return
    if last_seq < 0:
        return
    part = replace(current(tx, thread, last_seq, now), ended=True)
    if covers(part, last_seq):
        tx.parts.save(replace(part, grown=False))
    else:
        request(tx, part, Trigger.THREAD_END, last_seq, now)


def is_over(tx: Transaction, part: ThreadPart) -> bool:
    """Tell whether a part is the last of a session that its caller ended."""
    facts = session_at(tx, part)
    return facts is not None and facts.ended_at is not None


def abandon(tx: Transaction, part: ThreadPart, now: datetime) -> None:
    """Take the part of a session away in which nothing was said; what its caller told of it stays."""
    facts = facts_of(tx, part.episode_id)
    hand_down(tx, {part.episode_id})
    tx.erasing.remove([part.episode_id])
    tx.parts.drop(part.thread_id, part.first_seq)
    tx.index.drop(PARTS, [ref_of(tx.threads.number(part.thread_id), part.first_seq)])
    if facts is not None and facts.ended_at is None:
        tx.episodes.amend(record_of(replace(facts, ended_at=now, last_seq=part.first_seq - 1)))


def current(tx: Transaction, thread: Thread, last_seq: int, now: datetime) -> ThreadPart:
    """Return the part a thread is in, which one stored before there were parts is cut into first."""
    if tx.parts.last(thread.id) is None:
        dealt(tx, thread, last_seq).write(tx, now)
    part = tx.parts.last(thread.id)
    if part is None:
        raise NotFound(f"thread {thread.origin!r} holds nothing yet")
    return part


def dealt(tx: Transaction, thread: Thread, last_seq: int) -> Dealer:
    """Deal the stored observations of a thread up to a seq out, from the first on."""
    dealer = Dealer(thread, None, -1, 0)
    for start in range(0, last_seq + 1, _PAGE):
        dealer.deal(tx.threads.observations(thread.id, start, min(start + _PAGE - 1, last_seq)))
    return dealer


def request(
    tx: Transaction,
    part: ThreadPart,
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
    if covers(part, last_seq):
        return
    if not part.grown and part.trigger:  # it waits already, and for the more urgent reason
        trigger = min(trigger, Trigger(part.trigger), key=lambda one: PRIORITY[one])
    part = replace(part, grown=False, trigger=trigger.value)
    tx.parts.save(part)
    state = EpisodeState.CLOSED if part.ended or followed else EpisodeState.OPEN
    tx.episodes.change(part.episode_id, state=state, last_seq=last_seq, end_at=end_at, reason=trigger.value)
    ahead = AHEAD * (len(PRIORITY) - 1 - PRIORITY[trigger])
    work = Due(trigger, part.episode_id, last_seq)
    tx.jobs.put(COMPACT, work.key, f"{COMPACT}:{part.episode_id}", now=now, run_after=now - ahead)


def covers(part: ThreadPart, last_seq: int) -> bool:
    """Tell whether a part's newest compaction covers it up to a seq."""
    return part.compacted_through is not None and part.compacted_through >= last_seq


def whole(tx: Transaction, episode: Episode) -> Episode:
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
    told = tx.parts.compacted(limit=1, thread_id=thread.id)
    newest = tx.episodes.get(told[0].episode_id) if told else None
    return "" if newest is None else newest.summary
