"""Silence between steps only adds evidence: a longer pause never joins, and hours of it always cut."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise

import pytest
from builders.examples import share
from builders.steps import START, step
from hypothesis import given, settings
from hypothesis import strategies as st

from episodic_agent.core.boundary.contract import Arrival, Boundary
from episodic_agent.core.boundary.machine import run
from episodic_agent.core.boundary.policies import policy
from episodic_agent.core.boundary.steps.activity import StepActivity
from episodic_agent.core.boundary.steps.baseline import StepBaseline, learnt, walked
from episodic_agent.core.boundary.steps.cues import PACE
from episodic_agent.core.boundary.steps.learned import LearnedStepsPolicy
from episodic_agent.core.boundary.steps.reduced import ToldStep, reduce_step
from episodic_agent.schemas import Observation, Reason, TimeSource

RULES = LearnedStepsPolicy()
ACTS = st.tuples(
    st.sampled_from(["take", "put", "open", "push the door"]),
    st.sampled_from(["mug", "pan", "towel"]),
    st.sampled_from(["kitchen", "bath", "hallway", None]),
)
Act = tuple[str, str, str | None]


def acts(told: Sequence[Act], times: Sequence[float]) -> list[Observation]:
    """Told steps at `times`, in seconds."""
    return [
        replace(
            step(
                n, place, extras={"action": act, "objects": [thing]}, at=START + timedelta(seconds=times[n])
            ),
            text=f"{act} the {thing}",
            at_source=TimeSource.GIVEN,
        )
        for n, (act, thing, place) in enumerate(told)
    ]


def cuts(steps: Sequence[Observation], name: str = "steps") -> list[Boundary]:
    rules = policy(name)
    return list(run(rules.begin(), [Arrival(one, None) for one in steps], rules).cuts)


@settings(max_examples=share(120), deadline=None)
@given(
    left=st.lists(ACTS, min_size=1, max_size=12),
    right=st.lists(ACTS, min_size=2, max_size=2),
    opened=st.integers(1, 12),
    waits=st.lists(st.floats(PACE, 200_000.0), min_size=2, max_size=6),
    drained=st.booleans(),
)
def test_with_any_place_and_action_a_longer_pause_never_makes_a_cut_less_likely(
    left: list[Act], right: list[Act], opened: int, waits: list[float], drained: bool
) -> None:
    verdicts = []
    for wait in sorted(waits):
        times = [10.0 * n for n in range(len(left))]
        times += [times[-1] + wait + 10.0 * n for n in range(len(right))]
        told: list[ToldStep] = [one for one in map(reduce_step, acts([*left, *right], times)) if one]
        known, newest = told[: len(left)], told[len(left) :]
        baseline, before = StepBaseline(), None
        for one in known:
            baseline, before = learnt(baseline, before, one), one
        activity = StepActivity(
            frame=walked(known[-opened:]),
            step_baseline=baseline,
            left=tuple(known[-10:]),
            right=tuple(newest[:1] if not drained else newest),
        )
        verdicts.append(RULES.judge(activity, None if drained else newest[-1]).probability)
    assert verdicts == sorted(verdicts)


@settings(max_examples=share(80), deadline=None)
@given(
    told=st.lists(ACTS, min_size=2, max_size=30),
    at=st.integers(1, 29),
    hours=st.floats(2.01, 400.0),
    frames=st.booleans(),
)
def test_hours_of_silence_always_cut_before_the_first_step_behind_them(
    told: list[Act], at: int, hours: float, frames: bool
) -> None:
    at = min(at, len(told) - 1)
    steps = acts(told, [5.0 * n + (3600.0 * hours if n >= at else 0.0) for n in range(len(told))])
    if frames:  # those of a sensor are cut by rules alone, and by these as well
        steps = [
            replace(one, text="Nothing happens", extras={"frame": one.seq, "action": ""}) for one in steps
        ]
    [cut] = [one for one in cuts(steps) if one.before_seq == at]
    assert (cut.reason, cut.decided_at_seq) == (Reason.TIME_GAP, at)


def test_a_pause_can_be_longer_and_no_silence_cuts_where_it_is_none() -> None:
    steps = acts([("wait", "clock", "den")] * 4, [0.0, 5.0, 3 * 3600.0, 3 * 3600.0 + 5.0])
    frames = [replace(one, text="Nothing happens", extras={"frame": one.seq}) for one in steps]
    assert [cut.before_seq for cut in cuts(frames)] == [2]
    assert cuts(frames, "steps?pause_minutes=0") == cuts(frames, "steps?pause_minutes=600") == []
    assert cuts(frames, "steps-2027-01") == []


COFFEE = [("fill the water tank", "kitchen"), ("put in the coffee grounds", "kitchen"), ("shut the lid", "kitchen"),
          ("press the button", "kitchen"), ("push the door", "hallway"), ("hand the mug to Mira", "living room")]  # fmt: skip
LAUNDRY = [("pick the white towel up", "bath"), ("push the door", "hallway"),
           ("put the towel into the basket", "utility room"), ("sort the dark laundry", "utility room")]  # fmt: skip


def house(days: int) -> tuple[list[Observation], list[int], list[int]]:
    """Days of coffee at four and laundry at seven, and where each of both begins."""
    steps: list[Observation] = []
    starts: tuple[list[int], list[int]] = ([], [])
    for day in range(days):
        for job, hour, begun in ((COFFEE, 16, starts[0]), (LAUNDRY, 19, starts[1])):
            begun.append(len(steps))
            for n, (action, place) in enumerate([("leave the dock", "hallway"), *job]):
                at = START + timedelta(days=day, hours=hour, seconds=25 * n)
                one = step(len(steps), place, extras={"action": action}, at=at)
                steps.append(replace(one, text=f"In the {place}: {action}", at_source=TimeSource.GIVEN))
    return steps, *starts


def test_a_job_three_hours_later_in_another_room_is_an_episode_of_its_own() -> None:
    steps, coffee, laundry = house(4)
    begun = {cut.before_seq for cut in cuts(steps)}
    assert {*coffee[1:], *laundry} <= begun


@pytest.mark.parametrize(("name", "alone"), [("steps", 0), ("steps-2027-01", 1)])
def test_a_step_on_the_way_is_no_episode_where_the_job_goes_on(name: str, alone: int) -> None:
    steps, _, _ = house(4)
    begun = [0, *(cut.before_seq for cut in cuts(steps, name)), len(steps)]
    lonely = [a for a, b in pairwise(begun) if b - a == 1]
    assert bool(lonely) == bool(alone)
