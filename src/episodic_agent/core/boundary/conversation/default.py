"""The `default` policy for conversations: where a topic ends, with no need for a language model.

**What is judged.** A gap between two messages, once `hindsight` more have arrived (0, 1 or 2; two messages
of the new topic tell more than one). Left of it stands the open frame, right of it what has come since.
Everything left of the oldest undecided gap is settled, so each gap is judged once, from final facts.

**The event model.** From the first message on, the frame keeps a vector (the sum of its messages' vectors,
each weighted by its content: "Got it" weighs next to nothing) and the places where its words were last
seen. Both predict the next message; how badly they fail is its `surprise`, on seed 003's scale. Pivots
("wait, what?") and revelations ("I had no idea") are known by their phrases and measured by what they
answer: their own words say little.

**Cues** (`cues/`): similarity of vectors and words across the gap, to the frame and to the thread; depth of
the valley against its neighbours; questions and answers, thanks, greetings, shift markers, anaphora in a
dozen languages; who speaks and who opened the frame; length of message and frame; the thread's own manner.
Cosines are read on the embedder's scale (`NEIGHBOURS`, or the thread's own where `scale` is None), and
again as z-scores in the thread, because a cosine of .3 means nothing by itself.

**The verdict.** Small networks turn the cues into a probability: one for each delay, with and without
vectors. A gap that has its hindsight is judged by those of every delay up to it, and the mean of their
log-odds counts: where one is misled by a kind of talk it never saw, the others often are not. A network
reads every cue twice, as it stands and against the running mean of that cue in this thread
(`cues.py`), and how long the thread is: long talks change their topic less often, whatever the kind.
The probability asked for moves a little with the thread (`cues.py`): on a new kind of talk all
probabilities are too low or too high together, while the number of topics depends mostly on the length of a
talk. Every record keeps the threshold it was held against. A message that only acknowledges or reacts never
opens anything.

**The clock.** Where times are given, silence adds evidence in log-odds, how long it was and how unusual here,
and never takes any away: people change the subject without a pause. Its weights are rises from knot to knot,
none below 0, so a longer silence cannot make a boundary less probable. In such talk a brief frame ends less
easily (`ripeness`). A gap over `idle_after` always cuts (six hours: the best single rule on real chats),
which is what lets the clock close a silent frame; then a thread keeps its habits and little else (`rested`).
A frame that reaches `max_length` (half the topics of meetings are longer than 50 messages, one in ten is
longer than 240) is split where its own probabilities are highest, the one cut that may lie further back than
the hindsight. A thread known to its end is cut better by `thread_pass.py`.

**In doubt** it asks a language model, where the engine has one (`asks`; no part of the policy's name: the
name says what becomes of messages and answers, and without an answer everything is as if nobody could be
asked). Only gaps with a probability in a band around the threshold are asked about, and where nothing was cut
for long the likeliest of them, with the messages of the hindsight in view; the answer moves the probability
as a witness does (`asking.py`). It never cuts before a message that only acknowledges, keeps a gap over
`idle_after` together, or delays a flush.

**What it learned from.** The networks are trained on four kinds of labelled dialogues, a meeting corpus and
two kinds of glued dialogues (plain, and with densities, digressions and lost messages of all sorts; a little
less weight for these), on rows this very code computed along the true boundaries (rows along its own cuts
fitted the folds a little better and unseen sets worse). Those that read vectors learn from labelled weeks of
people's talk, conversations of a crowded channel, events told in Chinese and talk that was written for it in
ten languages as well, and six times as long: with as little as the others they lost on dialogues what they
gained elsewhere. The clock's weights were fitted on networks of dialogues alone, on weeks labelled by
subject; chats whose labels are sessions tell it of silences over half an hour only, since what lies within a
session nobody labelled. Judge a change by leaving whole sets out and by glue of sets left out, never by the
folds alone: in the folds the network knows each set's habits. On a kind of chat it never saw it ranks gaps
worse and cuts half to twice as many as a reader would. What was tried against that, and what it did, stands
in `docs/internals/travels.md`.

**To make it better** change `tools/boundary` (material, network) or a cue, train, and give the policy a new
date (what it did before stays in `former.py`). The machinery here need not change.
Three costs are known: in question and answer a new question on the same matter may open an episode, sessions
of a chat are cut inside wherever the subject changes plainly, though their labels may not say so, and a short
talk of one topic is cut in two a little oftener since the probability asked for moves.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from operator import itemgetter
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from episodic_agent.core.boundary.contract import (
    DRAIN_ALL,
    Arrival,
    Boundary,
    Check,
    ManualCut,
    Question,
    Record,
    Verdict,
)
from episodic_agent.core.boundary.conversation import asking
from episodic_agent.core.boundary.conversation.cues import counted, leaning, novelty, ripeness, surprise
from episodic_agent.core.boundary.conversation.gap import ALL, LEXICAL, gap_cues
from episodic_agent.core.boundary.conversation.memory import (
    ACKS,
    ADJACENT,
    COSINE,
    LENGTH,
    SILENCE,
    TO_FRAME,
    UNSEEN,
    ConversationMemory,
    MessageUnit,
    RunningMean,
    absorb,
    blend,
    close,
    intake,
    pack_memory,
    rested,
    unpack_memory,
    waiting,
)
from episodic_agent.core.boundary.conversation.model import (
    LONGEST_DELAY,
    BoundaryModel,
    Silence,
    log_minutes,
    logit,
    moved,
    shipped,
    sigmoid,
)
from episodic_agent.errors import InvalidInput
from episodic_agent.schemas import Json, Reason

# Mean and spread of the cosine of neighbouring messages under the default embedder (development data).
NEIGHBOURS: Final = (0.32, 0.2)
_WIDEST: Final = 10.0  # log-odds: everything
A_PAUSE: Final = 0.1  # log-odds that an hour of silence adds: less is no reason for a cut
_AT: Final = {name: number for number, name in enumerate(ALL)}
_L1_R0, _FRAME_R0, _UNSEEN_R0 = (_AT[name] for name in ("L1~R0", "frame~R0", "unseen R0"))
_ASKED: Final = "default"  # what the ids of this policy's questions begin with
_SHOWN: Final = itemgetter(
    _AT["words A2~R0"], _AT["shifts R0"], _AT["greets R0"], _AT["closes L1"], _AT["asks_last L1"],
    _AT["continues R0"], _AT["anaphora R0"], _AT["same L1 R0"], _AT["content R0"],
)  # fmt: skip
_SHOWN_OF_VECTORS: Final = itemgetter(_AT["L1~R0"], _AT["depth left"], _AT["depth right"])


class JudgedGap(NamedTuple):
    """The verdict on one gap: the probability of a boundary with and without the clock, and its grounds."""

    probability: float
    content: float
    clock: Silence | None
    surprise: float
    novelty: float
    cues: Mapping[str, float]
    raw: NDArray[np.float64]


class WeighedGap(NamedTuple):
    """A judged gap beside the probability it must reach; `expected` is the thread's with it counted in."""

    judged: JudgedGap
    expected: float
    threshold: float


@dataclass(frozen=True, slots=True)
class DefaultPolicy:
    """Cut conversations, asking a language model in doubt where there is one; see the module for the theory.

    `threshold` is on the calibrated probability; `scale` is the embedder's (mean, spread) of neighbours'
    cosines, None to learn it from each thread; `vectors` 0 reads words alone; `embedder` names whose cosines
    these two were fitted to, where a calibration did. `max_length` is in messages; `band` is how near, in
    log-odds, a probability must lie to its threshold to be asked about (0: never, also where
    nothing was cut for long); `model` None is the network shipped. `asks` says that there is somebody to
    ask; `together` that the networks of all delays up to a gap's own judge it, not that one alone, and
    `broad` that those do which learnt from more kinds of talk.
    """

    name: str = "default-2027-03"
    hindsight: int = 2
    threshold: float = 0.4
    idle_after: timedelta | None = timedelta(hours=6)
    max_length: int = 240
    scale: tuple[float, float] | None = NEIGHBOURS
    vectors: int = 1
    embedder: str = ""
    band: float = asking.BAND
    model: BoundaryModel | None = None
    asks: bool = False
    together: bool = True
    broad: bool = True

    def __post_init__(self) -> None:
        if not 0 <= self.hindsight <= LONGEST_DELAY:
            raise InvalidInput(f"hindsight must be 0 to {LONGEST_DELAY}, not {self.hindsight}")
        if not 0.0 < self.threshold < 1.0:
            raise InvalidInput(f"threshold must lie between 0 and 1, not {self.threshold}")
        if self.max_length < 2:
            raise InvalidInput(f"max_length must be at least 2, not {self.max_length}")
        if self.scale is not None and not (abs(self.scale[0]) <= 1.0 and 0.0 < self.scale[1] <= 100.0):
            raise InvalidInput(f"scale must be a mean and a spread of cosines, not {self.scale}")
        if self.vectors not in (0, 1):
            raise InvalidInput(f"vectors must be 1, or 0 for words alone, not {self.vectors}")
        if not 0.0 <= self.band <= _WIDEST:
            raise InvalidInput(f"band must be 0 (never ask) to {_WIDEST} in log-odds, not {self.band}")

    @property
    def needs_vectors(self) -> bool:
        """Return True: a late vector could have changed a verdict."""
        return True

    def begin(self) -> ConversationMemory:
        """Return the memory of a thread nobody has spoken in yet."""
        return ConversationMemory()

    def check(self, memory: ConversationMemory, arrival: Arrival) -> Check[ConversationMemory]:
        """Take in one message; decide every gap that has its hindsight, or ask about it.

        Raises ValueError while a question is open: the caller settles first and feeds the tail then.
        """
        if memory.asked:
            raise ValueError(f"question {memory.asked} is open: settle it before the next arrival")
        unit = intake(arrival)
        cuts: list[Boundary] = []
        records: list[Record] = []
        idle = self._idle(memory, unit)
        if idle:
            memory = self._settle_all(memory, cuts, records)
            cuts.append(self._boundary(memory, unit.seq, unit.seq, Reason.TIME_GAP, 1.0))
            memory = self.after_silence(memory)
        memory = waiting(memory, unit)
        thread = str(arrival.observation.thread_id)
        memory, question = self._decide(memory, cuts, records, thread, idle=idle)
        if memory.pending and (question is None or question.gap != unit.seq):
            records.append(Record(unit.seq, "pending", 0.0, self.threshold))
        return Check(memory, tuple(cuts), tuple(records), question)

    def settle(
        self, memory: ConversationMemory, question: Question, verdict: Verdict | None
    ) -> Check[ConversationMemory]:
        """Decide the gap that was asked about; None: as if nobody had been asked.

        A question not open changes nothing.
        """
        if not memory.asked or memory.asked != question.id:
            return Check(memory)
        cuts: list[Boundary] = []
        records: list[Record] = []
        memory = self._advance(memory, cuts, records, verdict=verdict)
        memory, more = self._decide(memory, cuts, records, question.id.split(":")[1])
        return Check(memory, tuple(cuts), tuple(records), more)

    def drain(self, memory: ConversationMemory, cut: ManualCut) -> Check[ConversationMemory]:
        """Decide what is pending with what there is, then close everything."""
        newest = memory.newest
        if newest is None or not (memory.size or memory.pending):
            return Check(memory)
        cuts: list[Boundary] = []
        records: list[Record] = []
        memory = self._settle_all(memory, cuts, records)
        last = self._boundary(memory, newest.seq + 1, newest.seq, cut.reason, 1.0)
        cuts.append(replace(last, edge=DRAIN_ALL))
        silent = cut.reason == Reason.TIME_GAP
        closed = self.after_silence(memory) if silent else replace(close(memory), settled=())
        return Check(closed, tuple(cuts), tuple(records))

    def pack(self, memory: ConversationMemory) -> Json:
        """Return the memory as plain JSON."""
        return pack_memory(memory)

    def unpack(self, packed: Json) -> ConversationMemory:
        """Rebuild the memory from `pack`'s value."""
        return unpack_memory(packed)

    def judge(self, memory: ConversationMemory) -> JudgedGap:
        """Weigh the gap before the oldest pending unit: every cue, rounded, then the learned model."""
        unit, right = memory.pending[0], memory.pending
        vectors = bool(self.vectors) and memory.frame_sum is not None and unit.vector is not None
        model = self.model or shipped()
        values = gap_cues(memory, right, self._scale(memory), vectors)
        rounded = np.fromiter(values, np.float64, len(values)).round(3)
        cues = rounded.tolist()
        clock = _silence(memory, unit)
        content = 0.0
        if not _says_nothing(unit):
            judges = model.together if self.together else model.content
            content = judges(rounded, len(right) - 1, memory.baseline, memory.position, broad=self.broad)
            content = self.settled_content(content, memory.size, timed=clock is not None)
        probability = content if clock is None else round(self.with_time(model, content, clock), 4)
        new = novelty(cues[_FRAME_R0] if vectors else None, cues[_UNSEEN_R0])
        felt = surprise(new, unit.speech.content, unit.reaction, memory.answered)
        return JudgedGap(probability, content, clock, felt, new, _shown(cues, content, clock, new), rounded)

    def settled_content(self, content: float, size: int, *, timed: bool) -> float:
        """Return what content says of a gap after a frame of so many messages, its silence left aside."""
        return round(moved(content, ripeness(size)) if timed else content, 4)

    def with_time(self, model: BoundaryModel, content: float, silence: Silence) -> float:
        """Return the probability with what the silence adds."""
        return model.with_time(content, silence)

    def after_silence(self, memory: ConversationMemory) -> ConversationMemory:
        """Return what is remembered after a silence that closed everything."""
        return rested(memory)

    def asked(self, expected: float, position: int, *, timed: bool = False) -> float:
        """Return the probability that a gap must reach in a thread of so many messages (`cues.py`).

        Whether times are given makes no difference: silence speaks in the probability.
        """
        baseline = math.log(self.threshold / (1.0 - self.threshold))
        return round(sigmoid(baseline - leaning(expected, position)), 4)

    def _scale(self, memory: ConversationMemory) -> tuple[float, float]:
        """Return the embedder's scale: the table's, or this thread's own with the table as a weak prior."""
        if self.scale is not None:
            return self.scale
        known = memory.stats[COSINE]
        share = known.seen / (known.seen + 4.0)
        mean, spread = NEIGHBOURS
        variance = share * known.variance + (1.0 - share) * spread * spread
        return share * known.mean + (1.0 - share) * mean, max(math.sqrt(variance), 1e-3)

    def _idle(self, memory: ConversationMemory, unit: MessageUnit) -> bool:
        """Say whether the silence before a message is so long that nothing else is asked."""
        last = memory.newest
        if self.idle_after is None or last is None or last.at is None or unit.at is None:
            return False
        return unit.at - last.at > self.idle_after.total_seconds()

    def _decide(
        self,
        memory: ConversationMemory,
        cuts: list[Boundary],
        records: list[Record],
        thread: str,
        *,
        idle: bool = False,
    ) -> tuple[ConversationMemory, Question | None]:
        """Decide the gaps that have their hindsight, up to one that is worth a question."""
        while len(memory.pending) > self.hindsight or (memory.pending and not memory.size):
            held = self._held(memory) if self.asks and memory.size else None
            if held is not None and self._in_doubt(memory, held):
                unit, newest, judged = memory.pending[0], memory.pending[-1], held.judged
                records.append(
                    Record(unit.seq, "ask", judged.probability, held.threshold, judged.surprise, judged.cues)
                )
                # the frame's beginning is part of the id: under other cuts it is another question
                identity = f"{_ASKED}:{thread}:{memory.first_seq}-{unit.seq}"
                first = max(memory.first_seq, unit.seq - asking.BEFORE)
                question = Question(identity, newest.seq, first, gap=unit.seq)
                return replace(memory, asked=identity), question
            memory = self._advance(memory, cuts, records, held, idle=idle)
        return memory, None

    def _held(self, memory: ConversationMemory) -> WeighedGap:
        """Judge the gap before the oldest pending unit and say what it must reach."""
        judged = self.judge(memory)
        expected = counted(memory.expected, judged.probability, memory.position)
        timed = judged.clock is not None
        return WeighedGap(judged, expected, self.asked(expected, memory.position + 1, timed=timed))

    def _in_doubt(self, memory: ConversationMemory, held: WeighedGap) -> bool:
        # nothing a model says may let a message open an episode that says nothing
        probability, threshold = held.judged.probability, held.threshold
        near = asking.uncertain(probability, threshold, self.band)
        far = self.band > 0.0 and asking.audited(probability, threshold, memory.probabilities)
        return (near or far) and not _says_nothing(memory.pending[0])

    def _settle_all(
        self, memory: ConversationMemory, cuts: list[Boundary], records: list[Record]
    ) -> ConversationMemory:
        while memory.pending:
            memory = self._advance(memory, cuts, records)
        return memory

    def _advance(
        self,
        memory: ConversationMemory,
        cuts: list[Boundary],
        records: list[Record],
        held: WeighedGap | None = None,
        *,
        verdict: Verdict | None = None,
        idle: bool = False,
    ) -> ConversationMemory:
        """Decide the gap before the oldest pending unit and settle that unit in its frame."""
        unit, newest = memory.pending[0], memory.pending[-1]
        if not memory.size:  # nothing to cut from, nothing that predicted it
            records.append(Record(unit.seq, "cut" if idle else "open", float(idle), self.threshold))
            return absorb(memory, unit, 0.0, 0.0, 0.5, (memory.stats, memory.baseline, memory.expected))
        judged, expected, threshold = held or self._held(memory)
        weighed = None if verdict is None else asking.weigh(verdict, judged.probability)
        probability = judged.probability if weighed is None else weighed.probability
        cues = judged.cues if weighed is None else {**judged.cues, **asking.shown(weighed)}
        cut = probability >= threshold
        if cut:
            reason = reason_of(judged.probability, judged.content, threshold, judged.surprise)
            ended = self._boundary(memory, unit.seq, newest.seq, reason, probability)
            cuts.append(replace(ended, threshold=threshold, cues=cues))
        action = "cut" if cut else "keep"
        records.append(Record(unit.seq, action, probability, threshold, judged.surprise, cues))
        stats = _baseline(memory, unit, judged, self._scale(memory))
        # what a thread expects corrects the network: an answer is no part of it
        habits = stats, memory.baseline.add(judged.raw, len(LEXICAL)), expected
        memory = close(memory) if cut else memory
        memory = absorb(memory, unit, probability, judged.surprise, judged.novelty, habits)
        return memory if memory.size < self.max_length else self._split(memory, newest.seq, cuts)

    def _split(self, memory: ConversationMemory, decided: int, cuts: list[Boundary]) -> ConversationMemory:
        """Force a cut inside a full frame, where its own probabilities are highest."""
        low, high = max(1, self.max_length // 5), memory.size - 1
        place = max(range(low, high + 1), key=lambda at: (memory.probabilities[at], -at))
        seq = memory.first_seq + place
        head = replace(memory, surprises=memory.surprises[:place])
        forced = self._boundary(head, seq, decided, Reason.SIZE_CAP, memory.probabilities[place])
        cuts.append(replace(forced, detail={"size": memory.size, "max_length": self.max_length}))
        return _rebuilt(memory, place)

    def _boundary(
        self, memory: ConversationMemory, before: int, decided: int, reason: str, probability: float
    ) -> Boundary:
        peak = max(memory.surprises, default=0.0)
        return Boundary(before, decided, reason, probability, self.threshold, peak)


def _says_nothing(unit: MessageUnit) -> bool:
    """Say whether a message only acknowledges or reacts: it belongs to what it answers and opens nothing."""
    return bool(unit.speech.ack) or (unit.reaction > 0.0 and len(unit.terms) <= 1)


def _silence(memory: ConversationMemory, unit: MessageUnit) -> Silence | None:
    """Return how long the gap is and how unusual that is in this thread, None where a time is not given."""
    last = memory.settled[-1]
    if last.at is None or unit.at is None:
        return None
    logged = log_minutes(unit.at - last.at)
    return Silence(logged, memory.stats[SILENCE].z(logged, 1.0, 1.0))


def reason_of(probability: float, content: float, threshold: float, surprise: float) -> str:
    """Return why a gap was cut, from its probability with and without the clock.

    A silence is the reason where without it there would have been no cut, unless it added next to nothing:
    who changes the subject after five minutes did not pause for it.
    """
    paused = logit(probability) - logit(content) >= A_PAUSE
    if content < threshold <= probability and paused:
        return Reason.TIME_GAP
    return Reason.SURPRISE if surprise >= 0.75 and probability >= threshold else Reason.TOPIC_SHIFT


def _shown(cues: Sequence[float], content: float, clock: Silence | None, new: float) -> Mapping[str, float]:
    """Return what a record keeps of a verdict, each in [0, 1]: enough to say why, not every input."""
    words, shifts, greets, closes, answers, continues, anaphora, same, weight = _SHOWN(cues)
    shown = {  # the cues themselves are rounded already
        "content": round(content, 3),
        "novelty": round(new, 3),
        "words": round(1.0 - words, 3),
        "marker": max(shifts, greets, closes),
        "answers": answers,
        "continues": max(continues, anaphora),
        "speaker": 1.0 - same,
        "weight": weight,
    }
    if len(cues) > len(LEXICAL):
        near, left, right = _SHOWN_OF_VECTORS(cues)
        shown["distance"] = round(min(1.0, max(0.0, 0.5 - 0.2 * near)), 3)
        shown["depth"] = round(min(1.0, max(0.0, 0.5 + 0.1 * (left + right))), 3)
    if clock is not None:
        shown["silence"] = round(min(1.0, clock.logged / 10.0), 3)
        shown["silence_unusual"] = round(min(1.0, max(0.0, 0.5 + 0.125 * clock.z)), 3)
    return shown


def _baseline(
    memory: ConversationMemory, unit: MessageUnit, judged: JudgedGap, scale: tuple[float, float]
) -> tuple[RunningMean, ...]:
    """Return how this thread usually goes, with what one decided gap adds."""
    stats, cues = list(memory.stats), judged.raw
    if len(cues) > len(LEXICAL):
        mean, spread = scale
        near = cues.item(_L1_R0)
        stats[COSINE] = stats[COSINE].add(near * spread + mean)
        stats[ADJACENT] = stats[ADJACENT].add(near)
        stats[TO_FRAME] = stats[TO_FRAME].add(cues.item(_FRAME_R0))
    if unit.terms:
        stats[UNSEEN] = stats[UNSEEN].add(cues.item(_UNSEEN_R0))
    stats[LENGTH] = stats[LENGTH].add(unit.speech.length)
    stats[ACKS] = stats[ACKS].add(unit.speech.ack)
    if judged.clock is not None:
        stats[SILENCE] = stats[SILENCE].add(judged.clock.logged)
    return tuple(stats)


def _rebuilt(memory: ConversationMemory, place: int) -> ConversationMemory:
    """Return the memory after the first `place` units of the frame were closed; the rest stays open.

    The event model of the rest is made from the newest units, the only ones whose vectors are kept.
    """
    limit = memory.size - place
    units = memory.settled[-limit:]
    size = 0 if memory.frame_sum is None else memory.frame_sum.size
    total = blend(units, size)
    return replace(
        memory,
        first_seq=memory.first_seq + place,
        probabilities=(0.0, *memory.probabilities[place + 1 :]),
        surprises=memory.surprises[place:],
        frame_sum=None if total is None else total.astype(np.float16).astype(np.float32),
        content=round(sum([unit.speech.content for unit in units]) * limit / max(len(units), 1), 3),
    )
