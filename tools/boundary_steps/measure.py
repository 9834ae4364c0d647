"""Figures of a model on labelled streams: as the policy cuts them, along its own cuts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from boundary_steps.data import Course
from episodic_agent.core.boundary.steps.learned import LearnedStepsPolicy, StepsModel
from episodic_agent.core.evaluation.segmentation import score_streams
from episodic_agent.engine.evaluate.segmentation import segment

NAMES = ("score", "f1", "segeval_f1", "pk", "wd", "f1_tol1", "density")


def cut(course: Course, model: StepsModel, policy: LearnedStepsPolicy | None = None) -> list[int]:
    """Return the starts the policy finds with a model."""
    chosen = replace(policy or LearnedStepsPolicy(), model=model)
    return segment(course.units, chosen, [None] * len(course.units))


def report(
    title: str, sets: Mapping[str, Sequence[Course]], model: Callable[[Course], StepsModel]
) -> dict[str, dict[str, float]]:
    """Print and return the figures of every set."""
    result = {}
    for name, courses in sets.items():
        score = score_streams([c.starts for c in courses], [cut(c, model(c)) for c in courses], empty_f1=0.0)
        result[name] = {one: round(float(getattr(score, one)), 4) for one in NAMES}
        print(f"{title:12s} {name:16s}", *[f"{k} {v:.3f}" for k, v in result[name].items()], flush=True)
    return result
