"""Seed 000 to the letter: its detectors, its policies and what its formula really does."""

import json
from collections.abc import Sequence
from typing import Any
from uuid import UUID

import pytest
from builders.examples import share
from builders.steps import START, step
from hypothesis import given, settings
from hypothesis import strategies as st

from episodic_agent.core.boundary.contract import Arrival, Boundary, Policy, Record
from episodic_agent.core.boundary.policies import policy
from episodic_agent.core.boundary.steps.detectors import (
    HysteresisBoundaryDetector,
    StubBoundaryDetector,
    detector,
)
from episodic_agent.core.boundary.steps.parameters import PRESETS
from episodic_agent.core.boundary.steps.scoring import Contributions, debug_line, record_line
from episodic_agent.errors import InvalidInput
from episodic_agent.protocols import BoundaryDetector
from episodic_agent.schemas import ActiveContextFrame, Json, Observation, Reason

CHANGE: dict[str, Json] = {"type": "state_change"}


def frame(steps: int, events: int = 0, error: float = 0.0, location: str = "lab") -> ActiveContextFrame:
    return ActiveContextFrame(
        step_count=steps,
        location_label=location,
        events=[CHANGE] * events,
        extras={"prediction_error": error},
    )


def first_firing(made: HysteresisBoundaryDetector, events: int, error: float) -> int | None:
    """The first step at which a frame with constant events and error fires, None within 400."""
    return next((n for n in range(1, 401) if made.check(frame(n, events, error))[0]), None)


def play(rules: Policy[Any], steps: Sequence[Observation]) -> tuple[list[Boundary], list[Record]]:
    memory, cuts, records = rules.begin(), [], []
    for seen in steps:
        check = rules.check(memory, Arrival(seen, None))
        memory = rules.unpack(json.loads(json.dumps(rules.pack(check.memory))))
        cuts.extend(check.cuts)
        records.extend(check.records)
    return cuts, records


# --- the stub -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("steps", "fires"), [(0, False), (49, False), (50, True), (51, True)])
def test_the_stub_fires_at_its_interval(steps: int, fires: bool) -> None:
    expected = (True, "time_interval") if fires else (False, None)
    assert StubBoundaryDetector().check(ActiveContextFrame(step_count=steps)) == expected


def test_two_hundred_steps_under_the_stub_are_four_episodes() -> None:
    cuts, _ = play(policy("stub"), [step(n) for n in range(200)])
    assert [(c.before_seq, c.reason, c.edge) for c in cuts] == [
        (n, Reason.TIME_INTERVAL, "drain_all") for n in (50, 100, 150, 200)
    ]


# --- the detectors --------------------------------------------------------------------------------------


def test_the_detectors_are_the_seeds_abc() -> None:
    assert issubclass(StubBoundaryDetector, BoundaryDetector)
    assert issubclass(HysteresisBoundaryDetector, BoundaryDetector)


def test_a_walk_of_the_letter_fires_at_each_new_label_when_armed() -> None:
    cuts, records = play(policy("seed-000"), [step(n, place) for n, place in enumerate("AAABBA")])
    assert [(c.before_seq, c.reason) for c in cuts] == [(4, "location_change"), (6, "location_change")]
    assert [r.probability for r in records] == [0.002, 0.004, 0.006, 1.0, 0.002, 1.0]


def test_the_step_after_a_cut_rearms_and_cannot_fire_itself() -> None:
    cuts, records = play(policy("seed-000"), [step(n, place) for n, place in enumerate("AABABB")])
    # A again at once is scored 1.0 while disarmed: missed, as the document has it
    assert [c.before_seq for c in cuts] == [3]
    assert [r.action for r in records] == ["keep", "keep", "cut", "disarmed", "disarmed", "disarmed"]


def test_to_lose_the_place_is_a_change_in_the_letter() -> None:
    cuts, _ = play(policy("seed-000"), [step(0, "A"), step(1, "A"), step(2, None), step(3, None)])
    assert [(c.before_seq, c.reason) for c in cuts] == [(3, "location_change")]


def test_labels_are_compared_as_they_are_written() -> None:
    cuts, _ = play(policy("seed-000"), [step(0, "Hall"), step(1, "hall")])
    assert len(cuts) == 1


def test_the_first_label_is_no_change() -> None:
    made = HysteresisBoundaryDetector()
    assert made.check(frame(1, location="anywhere")) == (False, None)


# --- what the formula really does -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("preset", "events", "error", "fires_at"),
    [
        ({}, 5, 0.4, 91),
        ({}, 4, 1.0, 51),
        ({}, 5, 0.0, None),
        ({}, 0, 1.0, None),
        ({}, 9, 0.0, None),
        (PRESETS["shorter"], 5, 0.0, 26),
        (PRESETS["shorter"], 4, 0.0, None),
        (PRESETS["longer"], 5, 0.0, None),
        (PRESETS["event-heavy"], 5, 0.0, 51),
    ],
)
def test_when_a_constant_frame_first_fires(
    preset: dict[str, float], events: int, error: float, fires_at: int | None
) -> None:
    made = detector("HysteresisBoundaryDetector", preset)
    assert isinstance(made, HysteresisBoundaryDetector)
    assert first_firing(made, events, error) == fires_at


@pytest.mark.parametrize(
    ("events", "error", "steps", "score"),
    [(5, 0.4, 91, 0.802), (4, 1.0, 51, 0.802), (0, 0.0, 500, 0.2), (0, 1.0, 0, 0.3), (9, 0.0, 0, 0.5)],
)
def test_the_score_of_the_formula(events: int, error: float, steps: int, score: float) -> None:
    made = HysteresisBoundaryDetector()
    made.check(frame(steps, events, error))
    assert made.parts.score == pytest.approx(score, abs=1e-9)


def test_a_new_place_alone_always_fires_when_armed() -> None:
    made = HysteresisBoundaryDetector()
    made.check(frame(1, location="A"))
    assert made.check(frame(2, location="B")) == (True, "location_change")


def test_a_lasting_error_of_one_never_rearms() -> None:
    steps = [step(n, "A" if n < 3 else "B" if n < 30 else "C", error=1.0) for n in range(60)]
    cuts, _ = play(policy("seed-000"), steps)
    assert [c.before_seq for c in cuts] == [4]


def test_the_debug_line_is_the_documents() -> None:
    line = "Boundary score: 0.45 (loc=0.0, evt=0.2, pred=0.1, time=0.15)"
    assert debug_line(Contributions(0.0, 0.2, 0.1, 0.15), False) == line
    assert debug_line(Contributions(1.0, 0.0, 0.0, 0.05), True) == (
        "Boundary score: 1.00 (loc=1.0, evt=0.0, pred=0.0, time=0.05) -> TRIGGER"
    )


def test_the_line_of_a_detector_tells_its_last_check() -> None:
    made = HysteresisBoundaryDetector()
    made.check(frame(75, 2, 0.5))
    assert made.line == "Boundary score: 0.50 (loc=0.0, evt=0.2, pred=0.15, time=0.15)"


def test_the_line_of_a_record_is_that_of_the_detector() -> None:
    steps = [step(n, "A" if n < 5 else "B", events=[CHANGE] * (n % 2), error=0.4) for n in range(8)]
    _, records = play(policy("seed-000"), steps)
    made, acf = HysteresisBoundaryDetector(), ActiveContextFrame()
    for seen, record in zip(steps, records, strict=True):
        acf.step_count += 1
        acf.location_label = str(seen.location)
        acf.events.extend(seen.events)
        acf.extras["prediction_error"] = 0.4
        if made.check(acf)[0]:
            acf = ActiveContextFrame()
        assert record_line(record) == made.line
    assert any(record_line(record).endswith("-> TRIGGER") for record in records)


@pytest.mark.parametrize(
    ("events", "error", "weights", "reason"),
    [
        (5, 1.0, {"event_weight": 0.9}, "salient_event"),
        (5, 1.0, {"event_weight": 0.3, "prediction_weight": 0.9}, "prediction_error"),
        (5, 1.0, {"event_weight": 0.5, "prediction_weight": 0.5}, "salient_event"),
        (1, 1.0, {"event_weight": 0.0, "prediction_weight": 0.81}, "prediction_error"),
    ],
)
def test_the_reason_is_the_largest_contribution_and_ties_go_by_priority(
    events: int, error: float, weights: dict[str, float], reason: str
) -> None:
    made = detector("HysteresisBoundaryDetector", weights)
    assert made.check(frame(1, events, error)) == (True, reason)


@pytest.mark.parametrize(("error", "part"), [(5.0, 0.3), (float("nan"), 0.0), (-1.0, 0.0), (0.5, 0.15)])
def test_a_prediction_error_is_clamped_and_nan_counts_nothing(error: float, part: float) -> None:
    made = HysteresisBoundaryDetector()
    made.check(frame(0, 0, error))
    assert made.parts.prediction == pytest.approx(part)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["A", "B", None]),
            st.integers(0, 3),
            st.sampled_from([0.0, 0.4, 1.0]),
        ),
        min_size=1,
        max_size=120,
    ),
    st.sampled_from([{}, PRESETS["shorter"], PRESETS["event-heavy"], {"time_interval": 7}]),
)
@settings(max_examples=share(60), deadline=None)
def test_the_policy_and_the_hand_driven_detector_agree_step_for_step(
    walk: list[tuple[str | None, int, float]], preset: dict[str, float]
) -> None:
    steps = [step(n, place, events=[CHANGE] * k, error=e) for n, (place, k, e) in enumerate(walk)]
    cuts, records = play(policy("seed-000", **preset), steps)
    made = detector("HysteresisBoundaryDetector", preset)
    assert isinstance(made, HysteresisBoundaryDetector)
    acf, fired = ActiveContextFrame(), []
    for seen, record in zip(steps, records, strict=True):
        acf.step_count += 1
        acf.location_label = seen.location or "unknown"
        acf.events.extend(seen.events)
        acf.extras["prediction_error"] = seen.prediction_error
        fires, reason = made.check(acf)
        assert record.probability == made.parts.score
        if fires:
            fired.append((seen.seq + 1, reason))
            acf = ActiveContextFrame()
    assert [(c.before_seq, c.reason) for c in cuts] == fired


def test_the_surprise_of_a_letters_episode_is_the_error_at_the_cut() -> None:
    steps = [step(0, "A", error=0.9), step(1, "A", error=0.1), step(2, "B", error=0.2)]
    cuts, _ = play(policy("seed-000"), steps)
    assert cuts[0].surprise == 0.2


def test_methods_of_the_document_may_be_overridden() -> None:
    class Deaf(HysteresisBoundaryDetector):
        def _location_changed(self, acf: ActiveContextFrame) -> bool:
            return False

    made = Deaf()
    made.check(frame(1, location="A"))
    assert made.check(frame(2, location="B")) == (False, None)


# --- parameters -----------------------------------------------------------------------------------------


def test_a_profiles_parameters_work_with_and_without_the_prefix() -> None:
    profile = {"boundary_high_threshold": 0.6, "low_threshold": 0.2, "boundary_time_interval": 50}
    made = detector("HysteresisBoundaryDetector", profile)
    assert isinstance(made, HysteresisBoundaryDetector)
    assert (made.high_threshold, made.low_threshold, made.time_interval) == (0.6, 0.2, 50)
    assert policy("seed-000", **profile).name == policy("hysteresis", **PRESETS["shorter"]).name


def test_the_freeze_interval_is_the_period_of_both_detectors() -> None:
    made = detector("HysteresisBoundaryDetector", {"freeze_interval": 70})
    assert isinstance(made, HysteresisBoundaryDetector)
    assert made.time_interval == 70
    stub = detector("StubBoundaryDetector", {"freeze_interval": 70})
    assert stub.check(ActiveContextFrame(step_count=70))[0]


@pytest.mark.parametrize(
    ("given_parameters", "says"),
    [
        ({"boundary_high_treshold": 0.7}, "high_threshold"),
        ({"low_threshold": 0.8}, "low_threshold"),
        ({"low_threshold": 0.9, "high_threshold": 0.4}, "low_threshold"),
        ({"high_threshold": 1.5}, "high_threshold"),
        ({"time_interval": 0}, "time_interval"),
        ({"time_interval": 1.5}, "time_interval"),
        ({"event_weight": -0.1}, "event_weight"),
        ({"event_weight": "much"}, "event_weight"),
        ({"prediction_weight": float("nan")}, "prediction_weight"),
        ({"time_interval": 3, "boundary_time_interval": 3}, "time_interval"),
        ({"time_interval": 3, "freeze_interval": 3}, "freeze_interval"),
        ({"colour": 3}, "colour"),
    ],
)
def test_a_bad_parameter_is_refused_by_its_name(given_parameters: dict[str, object], says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        detector("HysteresisBoundaryDetector", given_parameters)


def test_bad_numbers_are_refused_by_the_policies_too() -> None:
    for name, bad in (
        ("stub", {"freeze_interval": 0}),
        ("seed-000", {"low_threshold": 0.9}),
        ("steps", {"time_interval": 0}),
        ("steps", {"high_threshold": 0.2}),
        ("steps", {"time_weight": -1.0}),
        ("steps", {"min_location_confidence": 2.0}),
        ("steps", {"max_steps": 5}),
    ):
        with pytest.raises(InvalidInput, match=next(iter(bad))):
            policy(name, **bad)
    with pytest.raises(InvalidInput, match="did you mean 'confirm_steps'"):
        policy("steps", boundary_confirm_step=3)


def test_an_unknown_detector_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InvalidInput, match="StubBoundaryDetector"):
        detector("MagicDetector")


def test_policies_are_equal_when_made_alike_and_named_by_what_they_are_made_with() -> None:
    assert policy("stub", freeze_interval=7).name == "stub?freeze_interval=7"
    assert policy("stub?freeze_interval=7") == policy("stub", freeze_interval=7)
    assert step(0).thread_id == UUID(int=7)
    assert step(3).at > START
