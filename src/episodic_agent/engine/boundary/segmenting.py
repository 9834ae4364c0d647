"""Run the boundary machine over a stored frame, inside a transaction, and write what it concluded.

The one place where cuts become episodes, decisions and encode jobs: ingest, flush, the clock, a settled
question and late vectors all come through here, so they cannot disagree (I7).
"""

import json
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from threading import Lock
from typing import Any, Final
from uuid import UUID

from episodic_agent.core.boundary.contract import (
    Arrival,
    Boundary,
    Input,
    ManualCut,
    Policy,
    Question,
    Record,
    Resuming,
    Step,
    Tick,
    Verdict,
)
from episodic_agent.core.boundary.machine import pack_record, run, settle
from episodic_agent.core.boundary.policies import MESSAGE, STEP, asking, policy_for
from episodic_agent.core.echo import own_words
from episodic_agent.core.identity import decision_id, episode_id
from episodic_agent.core.language.windows import is_long
from episodic_agent.core.prompts import TOPIC_SHIFT
from episodic_agent.core.strength import blended, initial_strength
from episodic_agent.core.threads.resolution import CLOSED
from episodic_agent.engine.deps import Deps
from episodic_agent.engine.jobs.kinds import ASK, EMBED, ENCODE, PIECES
from episodic_agent.engine.sections.bounds import covers, end_section
from episodic_agent.engine.trace.usage import model_of
from episodic_agent.errors import InvalidInput
from episodic_agent.protocols import OBSERVATIONS, Transaction
from episodic_agent.schemas import Decision, Episode, EpisodeState, Frame, Json, Observation, Reason, Thread
from episodic_agent.schemas.strength import Strength

FIRST = timedelta(minutes=5)  # how much earlier the words of an event count as asked for
_OF_QUESTION = 5  # fields of a question in a frame; the ends of its thread follow
PAGE = 256  # observations taken in together of what waited


@dataclass(frozen=True, slots=True)
class End:
    """The end of a thread that its frame has yet to come to, since an open question is in between.

    `before` is the seq of what comes after it.
    """

    before: int
    at: datetime


class _PackedMemories:
    """The memories that were packed last, by policy and packed form: a message comes where the last one came.

    They never change, and unpacking undoes packing exactly (`Policy`), so either is as good.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._memories: OrderedDict[tuple[type, str, bytes], Any] = OrderedDict()
        self._lock = Lock()

    def keep(self, policy: Policy[Any], state: bytes, memory: Any) -> None:
        """Keep what was packed just now."""
        with self._lock:
            self._memories[type(policy), policy.name, state] = memory
            while len(self._memories) > self._most:
                self._memories.popitem(last=False)

    def get(self, policy: Policy[Any], state: bytes) -> Any | None:
        """Return the memory that a form was packed from, None where it is not known any more."""
        return self._memories.get((type(policy), policy.name, state))


_packed: Final = _PackedMemories(64)


@dataclass(frozen=True, slots=True)
class Segmenter:
    """The policy new cuts follow, and how to find the one a frame began with.

    `steps` is the policy that threads of an agent's steps follow; None: the same one. `eager` changes the
    policy of a frame that holds nothing yet at once, as a run does that was asked for one. With `reads` the
    model that would be asked reads all that was said when it is over, and says then where subjects change: a
    policy that weighs readings puts no question about a single gap meanwhile.
    """

    policy: Policy[Any]
    resolve: Callable[[str], Policy[Any]]
    asks: bool = False  # is there a language model to put questions to?
    steps: Policy[Any] | None = None
    eager: bool = False
    reads: bool = False

    @classmethod
    def made(cls, deps: Deps) -> "Segmenter":
        """Return the segmenter of a memory's own policies."""
        resolve = deps.resolve_policy
        asks = model_of(deps.language_model, TOPIC_SHIFT) is not None
        spoken, steps = (resolve(policy_for(deps.policy, modality)) for modality in (MESSAGE, STEP))
        return cls(spoken, resolve, asks, steps, reads=deps.reads_boundaries)

    def of(self, thread: Thread | None) -> "Segmenter":
        """Return the segmenter for a thread, whose modality says which policy is wanted."""
        if self.steps is None or thread is None or thread.modality != STEP:
            return self
        return replace(self, policy=self.steps, steps=None)

    def policy_of(self, frame: Frame) -> Policy[Any]:
        """Return the policy the frame is under; a frame changes policy only at a cut."""
        if frame.policy == self.policy.name:
            return self.policy
        try:
            return self.resolve(frame.policy)
        except InvalidInput:
            return self.policy  # a policy this version no longer knows: go on with the wanted one

    def advance(self, tx: Transaction, frame: Frame, inputs: Sequence[Input], now: datetime) -> Frame:
        """Feed inputs to the frame's machine, write cuts and records, and return the moved frame.

        The caller saves the frame. With a question open nothing is taken in: arrivals wait from
        `frame.cursor` on.
        """
        policy = self.policy_of(frame)
        waiting = list(inputs)
        if self._is_lost(frame, policy):
            waiting = [*read_arrivals(tx, frame, frame.first_seq, frame.cursor - 1, lenient=True), *waiting]
            frame = self._renewed(frame)
        elif self.eager and policy is not self.policy and frame.cursor == frame.first_seq:
            frame, policy = replace(self._renewed(frame), question=None), self.policy
        while waiting and frame.question is None:
            memory, batch = load(tx, frame, policy), _batch(waiting)
            judging = self._judging(policy)
            of_old = policy is not self.policy
            step = (_to_first_cut if of_old else run)(memory, batch, judging)
            taken, waiting = waiting[: step.consumed], waiting[step.consumed :]
            frame = self._write(tx, frame, policy, step, taken, now)
            if step.cuts and policy is not self.policy:
                arrivals = read_arrivals(tx, frame, frame.first_seq, frame.cursor - 1, lenient=True)
                frame = self._renewed(frame)
                policy, waiting = self.policy, [*arrivals, *waiting]
        return past_erased(tx, frame)

    def settle(self, tx: Transaction, frame: Frame, verdict: Verdict | None, now: datetime) -> Frame:
        """Settle the frame's open question and go on over the tail that waited behind it."""
        question = load_question(frame)
        if question is None:
            return frame
        policy, ends = self.policy_of(frame), load_ends(frame)
        if self._is_lost(frame, policy):
            return self.go_on(tx, replace(frame, question=None), now, ends)
        judging = self._judging(policy)
        step = settle(load(tx, frame, policy), question, verdict, judging)
        frame = self._write(tx, replace(frame, question=None), policy, step, (), now)
        if step.cuts and policy is not self.policy:
            frame = self._renewed(frame)
        return self.go_on(tx, frame, now, ends)

    def go_on(self, tx: Transaction, frame: Frame, now: datetime, ends: Sequence[End] = ()) -> Frame:
        """Take in what waits from the frame's cursor on, with the ends of its thread, up to a question.

        Before an end no vector is waited for: what is over is decided with what there is.
        """
        while frame.question is None and (ends or frame.cursor < frame.next_seq):
            before = frame
            last = min(frame.cursor + PAGE, frame.next_seq) - 1
            lenient = bool(ends) or not self.needs_vectors(frame)
            arrivals = read_arrivals(tx, frame, frame.cursor, last, lenient=lenient)
            inputs = _with_ends(arrivals, [end for end in ends if end.before <= last + 1])
            frame = self.advance(tx, frame, inputs, now)
            least = last + 2 if frame.question is None else frame.cursor
            ends = [end for end in ends if end.before >= least]
            if frame == before:  # a vector is missing
                break
        question = load_question(frame)
        return frame if question is None else replace(frame, question=dump_question(question, ends))

    def arrivals(self, tx: Transaction, frame: Frame, first_seq: int, last_seq: int) -> list[Arrival]:
        """Read what the frame's machine can take of a span now; policies of steps wait for no vector."""
        return read_arrivals(tx, frame, first_seq, last_seq, lenient=not self.needs_vectors(frame))

    def needs_vectors(self, frame: Frame) -> bool:
        """Tell whether the frame's policy looks at vectors at all."""
        return self.policy_of(frame).needs_vectors

    def restarted(self, frame: Frame, embedder: str) -> Frame:
        """Begin an open frame again when the embedder changed, where that matters to its policy."""
        return restarted(frame, embedder) if self.needs_vectors(frame) else replace(frame, embedder=embedder)

    def catch_up(self, tx: Transaction, frame: Frame, now: datetime) -> Frame:
        """Take in what waits behind a question or a missing vector, by the fallback: a flush cannot wait."""
        while frame.question is not None:
            frame = self.settle(tx, frame, None, now)
        if frame.cursor < frame.next_seq:
            rest = read_arrivals(tx, frame, frame.cursor, frame.next_seq - 1, lenient=True)
            frame = self.advance(tx, frame, rest, now)
            while frame.question is not None:
                frame = self.settle(tx, frame, None, now)
        return frame

    def _judging(self, policy: Policy[Any]) -> Policy[Any]:
        """Return the policy as it is where a model answers, unless one will read it all anyway."""
        return asking(policy) if self.asks and not self.reads else policy

    def _is_lost(self, frame: Frame, policy: Policy[Any]) -> bool:
        """Tell whether nobody here knows the frame's policy: its state then says nothing to any other."""
        return policy is self.policy and frame.policy != policy.name

    def _renewed(self, frame: Frame) -> Frame:
        """Go over to the wanted policy at a cut; it judges what was kept again, from the beginning."""
        return replace(frame, policy=self.policy.name, state=b"", cursor=frame.first_seq)

    def _write(
        self,
        tx: Transaction,
        frame: Frame,
        policy: Policy[Any],
        step: Step[Any],
        taken: Sequence[Input],
        now: datetime,
    ) -> Frame:
        # a cut of the policy's own may drain all too: only what the clock or a request closed is an input
        clock = taken[0] if len(taken) == 1 and not isinstance(taken[0], Arrival) else None
        for cut in step.cuts:
            write_episode(tx, frame, cut, policy.name, now, clock if cut.edge == "drain_all" else None)
            frame = replace(frame, first_seq=cut.before_seq)
        save_records(tx, frame.thread_id, step.records)
        arrivals = [i for i in taken if isinstance(i, Arrival)]
        question = step.question
        state = json.dumps(policy.pack(step.memory), separators=(",", ":")).encode()
        _packed.keep(policy, state, step.memory)
        frame = replace(
            frame,
            cursor=arrivals[-1].observation.seq + 1 if arrivals else frame.cursor,
            state=state,
            question=None if question is None else dump_question(question),
        )
        if question is None:
            return frame
        if self.asks:  # however many wait behind it: one by one they would be asked about, too (I7)
            tx.upkeep.ask(ASK, question.id, str(frame.thread_id), now=now)
            return frame
        fallback = settle(step.memory, question, None, policy)
        return self._write(tx, replace(frame, question=None), policy, fallback, (), now)


def past_erased(tx: Transaction, frame: Frame) -> Frame:
    """Move a frame's cursor over what was erased: there is nothing to be decided about it."""
    while frame.question is None and frame.cursor < frame.next_seq:
        if tx.observations.read(frame.thread_id, frame.cursor, frame.cursor):
            return frame
        first = frame.first_seq + (frame.first_seq == frame.cursor)
        frame = replace(frame, first_seq=first, cursor=frame.cursor + 1)
    return frame


def end_thread(
    tx: Transaction,
    segmenter: Segmenter,
    thread_id: UUID,
    reason: str,
    now: datetime,
    *,
    waits: bool = False,
) -> int:
    """Close a thread, and its open frame as the end of a thread; return how many frames that closed.

    With `waits` the end comes after the answer to an open question; the fallback decides at once without.
    """
    thread = tx.threads.get(thread_id)
    if thread is None or thread.status == CLOSED:
        return 0
    closed = end_frame(tx, segmenter, thread, now, waits=waits)
    thread = replace(thread, status=CLOSED, closed_for=reason)
    tx.threads.save(thread)
    end_section(tx, thread, tx.threads.frame(thread_id).next_seq - 1, now)
    return closed


def end_frame(
    tx: Transaction,
    segmenter: Segmenter,
    thread: Thread,
    now: datetime,
    *,
    reason: Reason = Reason.THREAD_END,
    waits: bool = False,
) -> int:
    """Close a thread's open frame as the end of what it told; return how many frames that closed."""
    frame = tx.threads.frame(thread.id)
    if frame.first_seq == frame.next_seq:
        return 0
    policy, question = segmenter.of(thread), load_question(frame)
    if waits and policy.asks and question is not None:
        ends = [*load_ends(frame), End(frame.next_seq, now)]
        tx.threads.save(replace(frame, question=dump_question(question, ends)))
        return 0
    frame = policy.catch_up(tx, frame, now)
    tx.threads.save(policy.advance(tx, frame, [ManualCut(now, reason)], now))
    return 1


def _batch(inputs: Sequence[Input]) -> Sequence[Input]:
    """Return the arrivals before the next request or tick, or that one alone."""
    index = next((n for n, one in enumerate(inputs) if not isinstance(one, Arrival)), len(inputs))
    return inputs[: index or 1]


def _to_first_cut(memory: Any, inputs: Sequence[Input], policy: Policy[Any]) -> Step[Any]:
    records: list[Record] = []
    for n in range(len(inputs)):
        step = run(memory, inputs[n : n + 1], policy)
        memory = step.memory
        records.extend(step.records)
        if step.cuts or step.question is not None or n == len(inputs) - 1:
            return replace(step, records=records, consumed=n + 1)
    return Step(memory, (), (), None, 0)


def write_episode(
    tx: Transaction,
    frame: Frame,
    cut: Boundary,
    policy: str,
    now: datetime,
    clock: Input | None,
    *,
    replaced: Sequence[Episode] = (),
) -> UUID:
    """Close the observations before the cut: episode, decision and encode job, all idempotent by id.

    `replaced` are the episodes the observations were in before; the new one inherits their strength.
    """
    thread = tx.threads.get(frame.thread_id)
    generation = thread.generation if thread is not None else 0
    cover = tx.observations.read(frame.thread_id, frame.first_seq, cut.before_seq - 1)
    identity = episode_id(frame.thread_id, frame.first_seq, generation)
    decision = _decision(identity, cut, policy, now, clock)
    tx.knowledge.decide(decision)
    episode = inheriting(make_episode(decision, cut, cover, generation, now), replaced)
    section = tx.threads.section(frame.thread_id, episode.last_seq)
    if section is not None and covers(
        section, episode.last_seq
    ):  # it closes late: its part is compacted already
        episode = replace(episode, state=EpisodeState.ARCHIVED)
    tx.episodes.put(episode)
    # before other later work: what is told of several events rests on the words of each
    tx.upkeep.ask(ENCODE, str(identity), f"{ENCODE}:{identity}", now=now, run_after=now - FIRST)
    return identity


def make_episode(
    decision: Decision, cut: Boundary, cover: Sequence[Observation], generation: int, now: datetime
) -> Episode:
    """Build the episode a cut decided: its span in event time and its initial strength (FSRS-6, seed 001).

    `cover` are the observations that close, in order; there is always one.
    """
    times = [o.at for o in cover]
    strength = initial_strength(cut.surprise)
    return Episode(
        id=decision.subject,
        thread_id=cover[0].thread_id,
        first_seq=cover[0].seq,
        last_seq=cut.before_seq - 1,
        start_at=min(times),
        end_at=max(times),
        created_at=now,
        reason=str(cut.reason),
        surprise=cut.surprise,
        stability=strength.stability,
        difficulty=strength.difficulty,
        last_reviewed_at=max(times),
        decision_id=decision.id,
        generation_from=generation,
    )


def inheriting(episode: Episode, replaced: Sequence[Episode]) -> Episode:
    """Return a new episode with the strength of those its observations were in before.

    Stability (days), difficulty and the time of the last review are each the mean over the episode's
    observations: an observation counts with the numbers of the replaced episode it was in, and with those of
    a fresh episode where it was in none. What was reviewed often stays strong by the share left of it. Where
    all of its observations were consolidated it is, too: what they tell has become facts.
    """
    ends = episode.last_reviewed_at
    parts = [
        (shared, Strength(old.stability, old.difficulty), (old.last_reviewed_at - ends).total_seconds())
        for old in replaced
        if (shared := overlap(old, episode.first_seq, episode.last_seq)) > 0
    ]
    if not parts:
        return episode
    fresh = episode.size - sum(shared for shared, _, _ in parts)
    own = (fresh, Strength(episode.stability, episode.difficulty), 0.0)
    strength, reviewed = blended([*parts, own])
    moments = [
        old.consolidated_at for old in replaced if overlap(old, episode.first_seq, episode.last_seq) > 0
    ]
    known = [at for at in moments if at is not None]
    return replace(
        episode,
        consolidated_at=max(known) if known and len(known) == len(moments) and not fresh else None,
        stability=strength.stability,
        difficulty=strength.difficulty,
        last_reviewed_at=ends + timedelta(seconds=round(reviewed, 6)),
    )


def overlap(episode: Episode, first_seq: int, last_seq: int) -> int:
    """Count the observations an episode shares with a span (negative: so many lie between)."""
    return min(episode.last_seq, last_seq) - max(episode.first_seq, first_seq) + 1


def _decision(episode: UUID, cut: Boundary, policy: str, now: datetime, clock: Input | None) -> Decision:
    detail = dict(cut.detail) | {
        "before_seq": cut.before_seq,
        "decided_at_seq": cut.decided_at_seq,
        "edge": cut.edge,
        "surprise": cut.surprise,
    }
    if isinstance(clock, Tick):
        detail["input"] = {"tick": clock.now.isoformat()}
    elif isinstance(clock, ManualCut):
        detail["input"] = {"manual": clock.at.isoformat(), "reason": str(clock.reason)}
    return Decision(
        id=decision_id(episode, "boundary"),
        type="boundary",
        at=now,
        subject=episode,
        features=cut.cues,
        score=cut.probability,
        threshold=cut.threshold,
        verdict=str(cut.reason),
        policy_version=policy,
        confidence_label="HIGH"
        if cut.reason == Reason.MANUAL or cut.probability >= cut.threshold
        else "UNCERTAIN",
        detail=detail,
    )


def restarted(frame: Frame, embedder: str) -> Frame:
    """Begin an open frame again when the embedder changed since: its vectors cannot be compared (I9)."""
    if frame.embedder == embedder:
        return frame
    return replace(frame, embedder=embedder, state=b"", question=None, cursor=frame.first_seq)


def await_vectors(tx: Transaction, frame: Frame, now: datetime) -> None:
    """Ask for the vectors that the frame waits for, if it waits for any; asking twice asks once."""
    if frame.question is None and frame.cursor < frame.next_seq:
        ask_for_vectors(tx, frame.thread_id, now)


def ask_for_vectors(tx: Transaction, thread_id: UUID, now: datetime) -> None:
    """Ask for the vectors that observations of a thread lack, whether its frame waits for them or not."""
    tx.upkeep.ask(EMBED, str(thread_id), str(thread_id), now=now)


def ask_for_pieces(tx: Transaction, observations: Iterable[Observation], now: datetime) -> None:
    """Ask for the vectors of all pieces of long observations, of which only the beginnings have one."""
    for observation in observations:
        if is_long(own_words(observation).text):
            tx.upkeep.ask(PIECES, str(observation.id), str(observation.thread_id), now=now)


def take_up(tx: Transaction, frame: Frame, now: datetime) -> bool:
    """Ask again for whatever the frame waits for, a verdict or vectors; tell whether it waits at all."""
    question = load_question(frame)
    if question is not None:
        tx.upkeep.ask(ASK, question.id, str(frame.thread_id), now=now)
    else:
        await_vectors(tx, frame, now)
    return question is not None or frame.cursor < frame.next_seq


def save_records(tx: Transaction, thread_id: UUID, records: Sequence[Record]) -> None:
    """Keep each check's record beside its observation."""
    if records:
        tx.observations.save_records(thread_id, {r.seq: pack_record(r) for r in records})


def read_arrivals(
    tx: Transaction, frame: Frame, first_seq: int, last_seq: int, *, lenient: bool = False
) -> list[Arrival]:
    """Read stored observations with their first vectors, in the form the machine takes.

    Stops before an observation whose vector is still missing though its embedder writes them, since a
    later verdict must not depend on when the vector came; `lenient` takes it without, for a flush.
    """
    if last_seq < first_seq:
        return []
    observations = [own_words(o) for o in tx.observations.read(frame.thread_id, first_seq, last_seq)]
    number = tx.threads.number(frame.thread_id)
    refs = [(number << 32) | o.seq for o in observations]
    vectors = tx.index.vectors(OBSERVATIONS, frame.embedder, refs)
    arrivals: list[Arrival] = []
    for ref, observation in zip(refs, observations, strict=True):
        vector = vectors.get(ref)
        if vector is None and not lenient and expects_vector(frame, observation):
            break
        arrivals.append(Arrival(observation, vector))
    return arrivals


def expects_vector(frame: Frame, observation: Observation) -> bool:
    """Tell whether an observation will get a vector of the frame's embedder."""
    return frame.embedder != "none" and bool(observation.text.strip())


def load(tx: Transaction, frame: Frame, policy: Policy[Any]) -> Any:
    """Return the machine's memory of a frame (a fresh one when nothing was taken in yet).

    A policy with `resume` is shown the open frame again: it keeps more than may be packed.
    """
    if not frame.state:
        return policy.begin()
    if not isinstance(policy, Resuming):
        memory = _packed.get(policy, frame.state)
        return policy.unpack(json.loads(frame.state)) if memory is None else memory
    packed = json.loads(frame.state)
    return policy.resume(packed, read_arrivals(tx, frame, frame.first_seq, frame.cursor - 1, lenient=True))


def dump_question(question: Question, ends: Sequence[End] = ()) -> bytes:
    """Serialise a question for the frame, with the ends of its thread that wait behind it."""
    own: list[Json] = [question.id, question.seq, question.first_seq, question.event_model]
    if question.gap is not None or ends:
        own.append(question.gap)
    if ends:
        own.append([[end.before, end.at.isoformat()] for end in ends])
    return json.dumps(own).encode()


def load_question(frame: Frame) -> Question | None:
    """Read the question the frame waits for, if any."""
    return Question(*json.loads(frame.question)[:_OF_QUESTION]) if frame.question else None


def load_ends(frame: Frame) -> list[End]:
    """Read the ends of its thread that the frame has yet to come to."""
    answer = json.loads(frame.question)[_OF_QUESTION:] if frame.question else []
    return [End(before, datetime.fromisoformat(at)) for ends in answer for before, at in ends]


def _with_ends(arrivals: Sequence[Arrival], ends: Sequence[End]) -> list[Input]:
    """Return arrivals with the ends of their thread among them, each before what came after it."""
    inputs: list[Input] = []
    left = list(ends)
    for arrival in arrivals:
        while left and left[0].before <= arrival.observation.seq:
            inputs.append(ManualCut(left.pop(0).at, Reason.THREAD_END))
        inputs.append(arrival)
    return [*inputs, *(ManualCut(end.at, Reason.THREAD_END) for end in left)]
