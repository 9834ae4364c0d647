"""Made-up agents whose steps resemble no labelled set: what an activity is, and nothing of how it is told.

Each agent has its own things, rooms, habits and manner of telling, all drawn at random; what they share is
what makes an activity one: it keeps to a few things, in a place, in an order that may come back, and then
something else begins, now and then after a pause. Half of them have times, a third no actions or things.
"""

import math
import random
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from boundary_steps.data import FOLDS, SCRIPTED, Course
from episodic_agent.engine.evaluate.cases import LabelledUnit

BEGINNING = datetime(2024, 1, 1, tzinfo=UTC)
SYLLABLES = ("ba", "de", "fi", "go", "ku", "la", "mi", "no", "pa", "re", "si", "to", "vu", "za")


@dataclass
class Agent:
    """One made-up agent and what it does."""

    lot: random.Random
    things: list[str] = field(default_factory=list)
    room: dict[str, str] = field(default_factory=dict)
    habits: list[list[str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        lot = self.lot
        self.things = [self.word() for _ in range(lot.randint(12, 120))]
        rooms = [self.word() for _ in range(lot.choice((1, 1, 3, 4, 6)))]
        self.room = {thing: lot.choice(rooms) for thing in self.things}
        self.habits = [self.few() for _ in range(lot.randint(4, 25))]
        self.verbs = [self.word() for _ in range(lot.choice((1, 1, 3, 5, 8)))]
        self.fillers = [self.word() for _ in range(lot.randint(0, 12))]
        self.opening = lot.choice((0.0, 0.3, 0.9, 1.0))  # activities that begin with the first verb
        self.shape = lot.choice(("fetch", "script", "wander", "mixed"))
        self.recurring, self.stray = lot.uniform(0.1, 1.0), lot.choice((0.0, 0.05, 0.2))
        self.sharing, self.restless = lot.choice((0.0, 0.1, 0.4)), lot.choice((0.0, 0.0, 0.1, 0.5))
        self.length = math.exp(lot.uniform(math.log(3.0), math.log(40.0)))
        self.placed, self.timed = lot.random() < 0.5, lot.random() < 0.5
        self.terse, self.named = lot.random() < 0.3, lot.random() < 0.7
        self.typical, self.spread = lot.choice((3.0, 10.0, 40.0)), lot.uniform(0.5, 1.6)
        self.pause, self.pausing = lot.choice((5.0, 20.0, 80.0)), lot.uniform(0.1, 0.9)

    def word(self) -> str:
        return "".join(self.lot.choice(SYLLABLES) for _ in range(self.lot.randint(2, 4)))

    def few(self) -> list[str]:
        return self.lot.sample(self.things, min(len(self.things), self.lot.randint(1, 5)))

    def activity(self, before: list[str]) -> list[tuple[str, list[str]]]:
        """Return the (verb, things) of one activity after one with the things of `before`."""
        lot = self.lot
        mine = list(lot.choice(self.habits) if lot.random() < self.recurring else self.few())
        if before and lot.random() < self.sharing:
            mine[0] = lot.choice(before)
        size = max(1, round(lot.gammavariate(2.5, self.length / 2.5)))
        shape = lot.choice(("fetch", "script", "wander")) if self.shape == "mixed" else self.shape
        verbs = self.verbs
        acts: list[tuple[str, list[str]]] = []
        while len(acts) < size:
            at = len(acts)
            if shape == "fetch":
                thing, goal = mine[at // 4 % len(mine)], mine[-1 - at // 4 % len(mine)]
                named = ([thing], [thing], [goal], [thing, goal])[at % 4]
                acts.append((verbs[at % 4 % len(verbs)], named))
            elif shape == "script":
                acts.append((verbs[at % len(verbs)], [mine[at % len(mine)]]))
            else:
                acts.append((lot.choice(verbs), [lot.choice(mine)]))
        if lot.random() < self.opening:
            acts[0] = (verbs[0], acts[0][1])
        return [
            (verb, [lot.choice(self.things)] if lot.random() < self.stray else some) for verb, some in acts
        ]

    def say(self, verb: str, some: list[str]) -> str:
        if self.terse:
            return " ".join(some)
        texts = [verb, *some, *self.lot.sample(self.fillers, min(len(self.fillers), self.lot.randint(0, 4)))]
        if self.lot.random() < 0.3:
            self.lot.shuffle(texts)
        return " ".join(texts)


def scripted(seed: int) -> Course:
    """Return the course of a made-up agent."""
    lot = random.Random(seed)
    agent = Agent(lot)
    at, units, starts, before = BEGINNING, list[LabelledUnit](), list[int](), list[str]()
    size = lot.randint(60, 300)
    while len(units) < size:
        acts = agent.activity(before)
        for number, (verb, some) in enumerate(acts):
            wait = lot.lognormvariate(math.log(agent.typical), agent.spread)
            if number == 0 and lot.random() < agent.pausing:
                wait *= lot.lognormvariate(math.log(agent.pause), 1.0)
            at += timedelta(seconds=wait)
            room = agent.room[some[0] if lot.random() < agent.restless else acts[0][1][0]]
            units.append(
                LabelledUnit(
                    "agent",
                    agent.say(verb, some),
                    at if agent.timed else None,
                    room if agent.placed else None,
                    True,
                    verb if agent.named else None,
                    tuple(some) if agent.named else (),
                )
            )
            starts.append(int(number == 0))
        before = acts[-1][1]
    return Course(SCRIPTED, SCRIPTED, seed % FOLDS, units, [0, *starts[1:]])
