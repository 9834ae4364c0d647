"""Training rows: what the policy sees at each gap, led along true or spoilt boundaries."""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from boundary.rows import Table, f32

from boundary_steps.data import Course
from episodic_agent.core.boundary.conversation.cues import TRUST, how_far
from episodic_agent.core.boundary.steps.activity import StepActivity, settled
from episodic_agent.core.boundary.steps.baseline import StepFrame
from episodic_agent.core.boundary.steps.cues import DELAY, FORESEEN, NAMES
from episodic_agent.core.boundary.steps.learned import LearnedStepsPolicy
from episodic_agent.core.boundary.steps.reduced import ToldStep, reduce_step
from episodic_agent.engine.evaluate.segmentation import observation

SHARE: Mapping[str, float] = {  # what a kind weighs; those not named, 1
    "text": 0.5, "untimed": 0.3, "timed": 0.5, "unplaced": 0.3, "spoilt": 1.0, "text, spoilt": 0.5,
    "as a home": 0.25, "scripted": 1.0,
}  # fmt: skip
HOMES = 0.05  # three homes: their habits must not be learnt by heart


@dataclass(frozen=True)
class Rows:
    """The rows of all courses and which course each is of."""

    courses: Sequence[Course]
    of: np.ndarray
    table: Table

    def weights(self, *, but_fold: int = -1, but: frozenset[str] = frozenset()) -> np.ndarray:
        """Return each row's weight: each kind its share, long courses less a row."""
        targets = np.array([c.fold != but_fold and c.family not in but for c in self.courses])
        kinds = np.array([c.kind for c in self.courses])
        sizes = np.bincount(self.of, minlength=len(self.courses))
        weight = np.where(targets, np.maximum(sizes, 1) ** -0.5, 0.0)
        for kind in set(kinds):
            mine = targets & (kinds == kind)
            total = (weight * sizes)[mine].sum()
            weight[mine] *= share_of(str(kind)) / total if total else 0.0
        return weight[self.of]

    def blind(self) -> "Rows":
        """Return the same rows with nothing foreseen: a network trained on them learns to do without."""
        seen = np.array([name not in FORESEEN for name in NAMES], np.float32)
        means = (self.table.means * seen).astype(self.table.means.dtype)
        return replace(self, table=replace(self.table, cues=self.table.cues * seen, means=means))


def share_of(kind: str) -> float:
    """Return what a kind of course weighs."""
    source, _, copy = kind.partition(", ")
    return (HOMES if source == "homes" else 1.0) * SHARE.get(copy or source, 1.0)


def table(courses: Sequence[Course]) -> Rows:
    """Make the rows of all courses."""
    policy = LearnedStepsPolicy()
    of, cues, means, shares, positions, starts = [], [], [], [], [], []
    for number, course in enumerate(courses):
        for start, judged, activity in led(course, policy):
            of.append(number)
            cues.append(judged.astype(np.float32))
            means.append(activity.baseline.means.astype(np.float16))
            shares.append(activity.baseline.seen / (activity.baseline.seen + TRUST))
            positions.append(how_far(activity.step_baseline.pos))
            starts.append(start)
    result = Table(
        (), np.array(of), np.array(cues), np.array(means), f32(shares)[:, None], f32(positions), f32(starts)
    )
    return Rows(courses, np.array(of), result)


def steps_of(course: Course) -> list[ToldStep]:
    """Return the steps of a course as the policy reads them."""
    steps = [reduce_step(observation(n, unit)) for n, unit in enumerate(course.units)]
    return [one for one in steps if one is not None]


def led(course: Course, policy: LearnedStepsPolicy) -> Iterator[tuple[int, np.ndarray, StepActivity]]:
    """Yield (label, cues, activity) of each gap, the last ones without hindsight; frames open where led."""
    steps = steps_of(course)
    cuts = spoil(course) if course.spoilt else course.starts
    activity = settled(StepActivity(right=(steps[0],), records=()))
    for number in range(1, len(steps)):
        activity = activity._replace(right=tuple(steps[number : number + DELAY + 1]))
        judged = policy.cues(activity, None)
        yield course.starts[number], judged, activity
        activity = activity._replace(
            baseline=activity.baseline.add(judged, judged.size),
            frame=StepFrame() if cuts[number] else activity.frame,
        )
        activity = settled(activity)


def spoil(course: Course) -> list[int]:
    """Return the boundaries with some missed and some made up, as a policy's own are."""
    lot = random.Random(f"{course.kind}:{course.spoilt}")
    density = sum(course.starts) / max(1, len(course.starts))
    missed, made_up = lot.uniform(0.1, 0.7), lot.uniform(0.0, 0.8) * density
    return [int((start and lot.random() > missed) or lot.random() < made_up) for start in course.starts]
