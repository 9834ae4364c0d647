"""Two thousand links of a user who drifts: is accuracy kept by tuning, and never much below the start?

Each link is made by the policy in force and answered in words, all through the engine: threads in a store,
decisions, outcomes read from what the user says next, a run by itself every hundred links. Only scores are
drawn: links around one mean, the rest around another, and both means move (from link 600 to 800, or slowly).
Accuracy is that of the threshold in force, from the distributions themselves; beside it the same user without
tuning.

    python -m benchmarks --only tuning
"""

import math
import random
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final
from uuid import UUID

from benchmarks.users import mine
from episodic_agent.core.identity import decision_id
from episodic_agent.core.links.policies import LinkPolicy
from episodic_agent.engine.deps import Deps
from episodic_agent.engine.memory import Memory
from episodic_agent.engine.tuning.runs import policy_in_force
from episodic_agent.protocols import stored_decision
from episodic_agent.schemas import Decision, Scope
from episodic_agent.stores.lease import process_owner
from episodic_agent.wiring import load_settings, make_store, resolver

LINKS: Final = 2_000
BLOCK: Final = 200
DRIFT: Final = (600, 800)
SPREAD: Final = 0.08
START: Final = datetime(2026, 1, 5, 9, tzinfo=UTC)
POLICY: Final = "seed-002"
SPEAKS: Final = 0.6  # of the decisions something is said
IN_WORDS: Final = 0.3  # of what is said; the rest is behaviour
MISLEADS: Final = 0.1  # behaviour that looks like the opposite
ABOUT: Final = ("What's the weather in New York?", "Sunny in New York, a high of 72.")
ASKED: Final = ("Oh, and what is it on Thursday?", "Rain.")
DENIES: Final = ("That's not what I meant", "No, I meant something else", "Not that one, why bring that up?")
CONFIRMS: Final = ("Right, that's the one!", "Yes, exactly that", "That's what I meant, thanks")
REMINDS: Final = ("Didn't we talk about this?", "I told you already", "We discussed that last week")
GOES_ON: Final = ("And what about the weather in New York on Friday?", "Is it sunny in New York tomorrow?")
SWITCHES: Final = ("How do I reset a Garmin watch?", "Set a timer for 12 minutes")


@dataclass(frozen=True, slots=True)
class User:
    """How a user's scores are distributed, how far the two means move, and from which link to which."""

    name: str
    yes: float = 0.80
    no: float = 0.60
    yes_moves: float = 0.0
    no_moves: float = 0.0
    drift: tuple[int, int] = DRIFT

    def means(self, n: int) -> tuple[float, float]:
        """Return the mean scores of links and of the rest at a decision."""
        first, last = self.drift
        moved = min(1.0, max(0.0, (n - first) / (last - first)))
        return self.yes + self.yes_moves * moved, self.no + self.no_moves * moved

    def accuracy(self, n: int, threshold: float) -> float:
        """Return how often a threshold is right at a decision."""
        yes, no = self.means(n)
        return 0.5 * (1.0 - _normal((threshold - yes) / SPREAD)) + 0.5 * _normal((threshold - no) / SPREAD)


USERS: Final = (
    User("drifts up", yes_moves=0.06, no_moves=0.12),
    User("drifts down", yes_moves=-0.12, no_moves=-0.06),
    User("drifts slowly", yes_moves=0.08, no_moves=0.08, drift=(300, 1_700)),
    User("stays"),
)


class Clock:
    """Five minutes to a link."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        """Return the simulated moment."""
        return self.now


class Life:
    """One user's links, in a memory of its own."""

    def __init__(self, memory: Memory, clock: Clock, user: User, seed: int) -> None:
        self._memory, self._clock, self._user = memory, clock, user
        self._draw = random.Random(seed)
        self._earlier = mine(memory).add(
            [_item(text, n, START) for n, text in enumerate(ABOUT)], thread="weather"
        )
        self.labels = [0, 0]  # how many, and how many of them wrong

    def step(self, n: int) -> float:
        """Make a link, let the user answer, and return the threshold that was in force."""
        self._clock.now = at = START + timedelta(minutes=30 + 5 * n)
        name = f"talk {n}"
        first, _ = mine(self._memory).add([_item(text, k, at) for k, text in enumerate(ASKED)], thread=name)
        truth = self._draw.random() < 0.5
        score = min(1.0, max(0.0, self._draw.gauss(self._user.means(n)[0 if truth else 1], SPREAD)))
        with self._memory._deps.store.begin(Scope()) as tx:
            policy = policy_in_force(tx, POLICY)
            decision = self._decision(first.id, first.thread_id, score, policy)
            tx.knowledge.decide(decision)
        says = self._says(truth, linked=decision.verdict == "LINK")
        if says:
            mine(self._memory).add([_item(says, 0, at + timedelta(minutes=1))], thread=name)
            self._count(decision.id, truth)
        return policy.threshold

    def _decision(self, message: UUID, thread: UUID, score: float, policy: LinkPolicy) -> Decision:
        # equal components: whatever the weights, the score is the one that was drawn
        features = dict.fromkeys(("keyword", "entity", "topic", "recency"), score)
        return Decision(
            id=decision_id(thread, "link"),
            type="link",
            at=self._clock.now,
            subject=thread,
            features=features,
            score=score,
            threshold=policy.threshold,
            verdict="LINK" if score > policy.threshold else "DON'T_LINK",
            policy_version=policy.name,
            detail={
                "candidate": str(self._earlier[0].thread_id),
                "observation": str(message),
                "why": ["active"],
                "llm": None,
            },
        )

    def _says(self, truth: bool, *, linked: bool) -> str:
        """Return what the user says next, "" for nothing. Who misses no link complains of none."""
        if self._draw.random() > SPEAKS:
            return ""
        in_words = self._draw.random() < IN_WORDS
        if in_words and linked:
            return self._draw.choice(CONFIRMS if truth else DENIES)
        if in_words:
            return self._draw.choice(REMINDS if truth else SWITCHES)
        seems = truth if self._draw.random() >= MISLEADS else not truth
        return self._draw.choice(GOES_ON if seems else SWITCHES)

    def _count(self, identity: UUID, truth: bool) -> None:
        with self._memory._deps.store.begin(Scope(), write=False) as tx:
            decision = stored_decision(tx, identity)
        if decision is not None and decision.outcome is not None:
            self.labels[0] += 1
            self.labels[1] += (decision.outcome == "CORRECT") != ((decision.verdict == "LINK") == truth)


def live(user: User, seed: int, links: int = LINKS) -> dict[str, Any]:
    """Live one life and return its curve: accuracy by blocks, tuned and left alone, and what was tuned."""
    clock = Clock()
    with _memory(clock) as memory:
        life = Life(memory, clock, user, seed)
        thresholds = [life.step(n) for n in range(links)]
        runs = mine(memory).tuning.list()
    tuned = [user.accuracy(n, threshold) for n, threshold in enumerate(thresholds)]
    alone = [user.accuracy(n, 0.7) for n in range(links)]
    best = max(user.accuracy(links - 1, t / 100) for t in range(50, 91))
    return {
        "accuracy": _blocks(tuned),
        "untuned": _blocks(alone),
        "thresholds": [round(threshold, 2) for threshold in thresholds[::BLOCK]],
        "start": round(tuned[0], 4),
        "end": round(tuned[-1], 4),
        "end_untuned": round(alone[-1], 4),
        "end_best": round(best, 4),
        "worst_below_untuned": round(
            max(a - t for a, t in zip(_blocks(alone), _blocks(tuned), strict=True)), 4
        ),
        "changes": sum(run.changed for run in runs),
        "rollbacks": sum(run.kind == "rollback" for run in runs),
        "labelled": life.labels[0],
        "wrong_labels": life.labels[1],
    }


def measure(*, quick: bool) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield a row for each kind of user: the mean curve over lives, and the worst of them."""
    seeds = range(1 if quick else 2)
    for user in USERS:
        lives = [live(user, seed) for seed in seeds]
        curves: Mapping[str, Sequence[Sequence[float]]] = {
            name: [life[name] for life in lives] for name in ("accuracy", "untuned", "thresholds")
        }
        numbers = (
            "start",
            "end",
            "end_untuned",
            "end_best",
            "changes",
            "rollbacks",
            "labelled",
            "wrong_labels",
        )
        yield (
            user.name,
            {
                "lives": len(lives),
                **{
                    name: [round(_mean(block), 4) for block in zip(*some, strict=True)]
                    for name, some in curves.items()
                },
                **{name: round(_mean([life[name] for life in lives]), 4) for name in numbers},
                "worst_below_untuned": max(life["worst_below_untuned"] for life in lives),
            },
        )


def printed(key: str, row: Mapping[str, Any]) -> str:
    """Return a row as a small table of its curve."""
    lines = [f"{key}: {row['lives']} lives of {LINKS:,} links", "links      threshold  tuned   untuned"]
    for n, (threshold, tuned, alone) in enumerate(
        zip(row["thresholds"], row["accuracy"], row["untuned"], strict=True)
    ):
        lines.append(f"{n * BLOCK:4}-{(n + 1) * BLOCK:<5}  {threshold:.3f}     {tuned:.3f}   {alone:.3f}")
    return "\n".join(lines)


@contextmanager
def _memory(clock: Clock) -> Iterator[Memory]:
    """Open a memory of nobody else's, whose links follow the seed's policy until they are tuned."""
    with TemporaryDirectory(prefix="episodic-") as folder:
        deps = Deps(
            store=make_store(str(Path(folder) / "life.db"), load_settings()),
            embedder=None,
            policy="seed-001",
            resolve_policy=resolver(None),
            clock=clock,
            entropy=secrets.randbits,
            owner=process_owner(),
            link_policy=POLICY,
        )
        with Memory(deps) as memory:
            yield memory


def _item(text: str, place: int, at: datetime) -> dict[str, Any]:
    role = ("user", "assistant")[place % 2]
    return {"role": role, "content": text, "timestamp": at + timedelta(seconds=10 * place)}


def _blocks(curve: Sequence[float]) -> list[float]:
    return [round(_mean(curve[n : n + BLOCK]), 4) for n in range(0, len(curve), BLOCK)]


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / max(len(values), 1)


def _normal(x: float) -> float:
    return 0.5 * (1.0 + math.erf(x / math.sqrt(2.0)))
