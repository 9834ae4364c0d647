"""Labelled streams of steps for the training of the learned default, and the folds they are judged in."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from episodic_agent.engine.evaluate.cases import LabelledUnit, streams

SETS = ("alfred_days", "alfred_houses", "homes", "hdepic")
FAMILY = {"alfred_days": "alfred", "alfred_houses": "alfred"}  # the rest are families of their own
SCRIPTED = "scripted"
FOLDS = 5


@dataclass(frozen=True)
class Course:
    """A labelled stream or a copy of one; a `kind` shares its weight, `fold` is that of what it is made of.

    `spoilt` is the seed of the mistakes along which its rows are led, 0 for the true boundaries.
    """

    source: str
    kind: str
    fold: int
    units: Sequence[LabelledUnit]
    starts: Sequence[int]
    spoilt: int = 0

    @property
    def family(self) -> str:
        return FAMILY.get(self.source, self.source)


def load(data: Path, source: str) -> list[Course]:
    """Read one labelled set."""
    matching_streams = streams(data / f"steps_{source}.jsonl.gz")
    return [Course(source, source, n % FOLDS, s.units, s.starts) for n, s in enumerate(matching_streams)]


def rebuilt(
    course: Course, kind: str, units: Sequence[LabelledUnit], starts: Sequence[int] | None = None
) -> Course:
    """Return a copy of a course with other units, of a kind of its own."""
    return Course(course.source, kind, course.fold, units, course.starts if starts is None else starts)
