"""Training rows: what the policy itself saw at each gap, led along the true boundaries."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from boundary.data import EPOCH, Thread, arrivals
from episodic_agent.core.boundary.contract import ManualCut
from episodic_agent.core.boundary.conversation.cues import BaselineCues, how_far
from episodic_agent.core.boundary.conversation.default import DefaultPolicy, JudgedGap
from episodic_agent.core.boundary.conversation.gap import ALL, LEXICAL
from episodic_agent.core.boundary.conversation.memory import ConversationMemory
from episodic_agent.core.boundary.conversation.model import (
    BROAD,
    KNOTS,
    VECTORS,
    WORDS,
    BoundaryModel,
    Network,
    Silence,
)
from episodic_agent.core.boundary.machine import run

UNTIMED = (0.0,) * len(KNOTS)
# Others weigh 1. REALTALK is four chats; lives, crowds, events and talks are less varied than they are many.
SHARE = {
    "realtalk": 0.4, "glue": 0.7, "varied": 0.6, "life": 0.6, "crowd": 0.4, "events": 0.2, "talks": 0.5,
    "talks glued": 0.25,
}  # fmt: skip


@dataclass(frozen=True)
class Seen:
    """One judged gap: the unit it stands before, how many units it waited, the verdict and the habits."""

    seq: int
    lag: int
    judged: JudgedGap
    baseline: BaselineCues
    position: int


class Led(DefaultPolicy):
    """The policy itself, recording what it judged; cuts where `truth` says so unless it is None."""

    def lead(self, truth: Sequence[int] | None) -> list[Seen]:
        seen: list[Seen] = []
        object.__setattr__(self, "truth", truth)
        object.__setattr__(self, "seen", seen)
        return seen

    def judge(self, memory: ConversationMemory) -> JudgedGap:
        judged = DefaultPolicy.judge(self, memory)
        seq = memory.pending[0].seq
        self.seen.append(Seen(seq, len(memory.pending) - 1, judged, memory.baseline, memory.position))
        return judged if self.truth is None else judged._replace(probability=float(self.truth[seq]))


@dataclass(frozen=True)
class Table:
    """The rows of many threads for one kind of input and one delay; `of` says which thread a row is of."""

    threads: Sequence[Thread]
    of: np.ndarray
    cues: np.ndarray
    means: np.ndarray
    shares: np.ndarray
    positions: np.ndarray
    starts: np.ndarray

    def weights(self, *, but_fold: int = -1, but: frozenset[str] = frozenset()) -> np.ndarray:
        """Return each row's weight: each family of sources its share, nothing of a fold or sets left out."""
        targets = np.array([t.fold != but_fold and not t.sources & but for t in self.threads])
        family = np.array([family_of(t) for t in self.threads])
        sizes = np.bincount(self.of, minlength=len(self.threads))
        weight = np.zeros(len(self.threads))
        for name in set(family[targets]):
            mine = targets & (family == name)
            weight[mine] = SHARE.get(name, 1.0) / max(1, sizes[mine].sum())
        return weight[self.of]

    def words(self) -> "Table":
        """Return the same rows without what needs vectors: lexical cues do not depend on them."""
        return replace(self, cues=self.cues[:, : len(LEXICAL)], means=self.means[:, : len(LEXICAL)])


def family_of(thread: Thread) -> str:
    return "varied" if thread.name.startswith("varied") else thread.source.split(":")[0]


def led(threads: Iterable[Thread], delay: int, model: BoundaryModel) -> Iterable[tuple[Thread, list[Seen]]]:
    """Yield each thread with what the policy saw along its true boundaries, where it had its whole delay."""
    for thread in threads:
        policy = Led(hindsight=delay, model=model, max_length=10**6, idle_after=None)
        seen = policy.lead(thread.starts)
        run(policy.begin(), [*arrivals(thread), ManualCut(EPOCH)], policy)
        yield thread, [one for one in seen if one.lag == delay and one.judged.raw.size == len(ALL)]


def table(threads: Sequence[Thread], delay: int) -> Table:
    """Make the rows of all threads, of gaps that have vectors."""
    of, cues, means, shares, positions, starts = [], [], [], [], [], []
    for number, (thread, seen) in enumerate(led(threads, delay, blank())):
        for this_seen in seen:
            of.append(number)
            cues.append(this_seen.judged.raw.astype(np.float32))
            means.append(this_seen.baseline.means[: len(ALL)].astype(np.float16))
            shares.append(
                this_seen.baseline.shares(1, 2) * np.ones(2)
            )  # of the lexical cues, of the vectors'
            positions.append(how_far(this_seen.position))
            starts.append(thread.starts[this_seen.seq])
    return Table(
        threads, np.array(of), np.array(cues), np.array(means), f32(shares), f32(positions), f32(starts)
    )


class TimedGap(NamedTuple):
    """One gap with times: what content says of it without the silence, the silence, and its label."""

    content: float
    silence: Silence
    start: int


def silences(thread: Thread, model: BoundaryModel) -> list[TimedGap]:
    """Return each gap of a thread with times, along its true boundaries, at the delay it had (2 at most).

    What cannot open anything is left out: no silence changes that. Networks that learnt from the lives whose
    gaps these may be (the broad ones) have no say in it.
    """
    policy = Led(model=model, broad=False, max_length=10**6, idle_after=None)
    seen = policy.lead(thread.starts)
    run(policy.begin(), [*arrivals(thread), ManualCut(EPOCH)], policy)
    return [
        TimedGap(gap.judged.content, gap.judged.clock, thread.starts[gap.seq])
        for gap in seen
        if gap.judged.clock is not None and gap.judged.content > 0.0
    ]


def blank() -> BoundaryModel:
    """Return a model that never cuts."""
    networks: dict[str, Network] = {}
    for kind, size in ((WORDS, len(LEXICAL)), (VECTORS, len(ALL)), (BROAD, len(ALL))):
        zeros = np.zeros(2 * size + 1, np.float32)
        net = Network(zeros, zeros, zeros[None], zeros[:1], zeros[:1], -5.0)
        networks |= {f"{kind}-{delay}": net for delay in range(3)}
    return BoundaryModel(networks, UNTIMED)


def f32(array: object) -> np.ndarray:
    return np.asarray(array, np.float32)


def model_of(networks: Mapping[str, Network], time: Sequence[float]) -> BoundaryModel:
    """Return a model of what was trained; a kind of input nothing was trained for never cuts.

    A kind needs all its delays: the last gaps of a thread are judged with less than the whole one.
    """
    for kind in {name.split("-")[0] for name in networks}:
        if missing := {f"{kind}-{delay}" for delay in range(3)} - networks.keys():
            raise ValueError(
                f"train {', '.join(sorted(missing))} too: a drain judges with less than the delay"
            )
    return BoundaryModel(blank().networks | networks, time)
