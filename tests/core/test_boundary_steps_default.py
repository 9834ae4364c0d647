"""The default for steps: what it must do of what the letter does not, and what holds for every walk."""

import json
from collections.abc import Mapping, Sequence
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest
from builders.examples import share
from builders.steps import START, step
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from episodic_agent.core.boundary.contract import (
    DRAIN_ALL,
    KEEP_LAST,
    Arrival,
    Boundary,
    Input,
    ManualCut,
    Policy,
    Record,
)
from episodic_agent.core.boundary.machine import pack_record, run, unpack_record
from episodic_agent.core.boundary.policies import for_modality, policy, policy_names
from episodic_agent.core.boundary.steps.default import StepsPolicy
from episodic_agent.core.boundary.steps.events import count_new, kind_of
from episodic_agent.core.boundary.steps.trail import StepNote, walk
from episodic_agent.errors import InvalidInput
from episodic_agent.schemas import Json, Observation, Reason

CHANGE: Mapping[str, Json] = {"type": "state_change"}
RULED = "steps-2026-12"
BOTH = pytest.mark.parametrize("name", [RULED, "steps"])  # the rules alone, and with what is learned


def play(rules: Policy[Any], steps: Sequence[Observation]) -> tuple[list[Boundary], list[Record], Any]:
    step_ = run(rules.begin(), [Arrival(one, None) for one in steps], rules)
    last = {record.seq: record for record in step_.records}  # the last record of a step counts
    return list(step_.cuts), list(last.values()), step_.memory


def places(labels: Sequence[str | None], **more: Any) -> list[Observation]:
    return [step(n, label, **more) for n, label in enumerate(labels)]


def whole(rules: Policy[Any], steps: Sequence[Observation]) -> list[Boundary]:
    """The cuts of a run that ends: the last one is the flush."""
    inputs: list[Input] = [Arrival(one, None) for one in steps]
    inputs.append(ManualCut(START + timedelta(days=1), Reason.END_OF_STREAM))
    return list(run(rules.begin(), inputs, rules).cuts)


# --- cases ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("walked", "cuts"),
    [
        ("AAAA", []),
        (["A", "unknown", "A"], []),
        (["A", None, "B"], [2]),
        (["A", "unknown", "B"], [2]),
        (["A", "", "B", "B"], [2]),
        (["unknown", "A", "A"], []),
        (["Hall", " hall ", "HALL"], []),
        ("ABA", [1, 2]),
    ],
)
@BOTH
def test_where_a_place_that_counts_at_once_cuts(
    walked: Sequence[str | None], cuts: list[int], name: str
) -> None:
    boundaries, _, _ = play(policy(name, min_steps=1, confirm_steps=1), places(walked))
    assert [c.before_seq for c in boundaries] == cuts
    assert {c.reason for c in boundaries} <= {Reason.LOCATION_CHANGE}


@BOTH
def test_only_a_second_consecutive_look_confirms_a_place_and_both_open_the_next_episode(name: str) -> None:
    rules = policy(name)
    steps = places([*"A" * 12, *"BABABB"])
    cuts, records, memory = play(rules, steps)
    assert [(c.before_seq, c.decided_at_seq, c.reason, c.edge) for c in cuts] == [
        (16, 17, "location_change", KEEP_LAST)
    ]
    assert [r.action for r in records[-2:]] == ["keep", "place"]
    assert memory.steps == 2
    assert whole(rules, steps)[-1].detail["location"] == "B"


@BOTH
def test_a_constant_world_is_cut_at_the_cap(name: str) -> None:
    cuts, _, _ = play(policy(name), places(["lab"] * 450))
    assert [(c.before_seq, c.reason, c.edge) for c in cuts] == [
        (200, Reason.TIME_INTERVAL, DRAIN_ALL),
        (400, Reason.TIME_INTERVAL, DRAIN_ALL),
    ]


@BOTH
@pytest.mark.parametrize(("count", "part"), [(0, 0.0), (1, 0.1), (5, 0.5), (9, 0.5)])
def test_what_events_contribute(name: str, count: int, part: float) -> None:
    _, records, _ = play(policy(name), [step(0, events=[CHANGE] * count)])
    assert records[0].cues["event"] == part


@BOTH
def test_an_event_told_twice_counts_once(name: str) -> None:
    texts = {"id": "e1", "type": "appeared"}
    timed = {"event_type": "new", "timestamp": 12.5, "entity": "mug"}
    _, records, memory = play(policy(name), [step(n, events=[texts, timed]) for n in range(4)])
    assert [r.cues["event"] for r in records] == [0.2] * 4
    assert memory.salient == 2


@pytest.mark.parametrize(
    ("event", "kind"),
    [
        ({"type": "state_change"}, "state_change"),
        ({"event_type": "appeared"}, "appearance"),
        ({"type": "new"}, "appearance"),
        ({"type": "Disappeared"}, "disappearance"),
        ({"type": "missing"}, "disappearance"),
        ({"change_type": "changed"}, "state_change"),
        ({"type": "state changed"}, "state_change"),
        ({"type": "moved"}, "movement"),
        ({"type": ["odd"]}, ""),
        ({}, ""),
    ],
)
def test_events_are_read_tolerantly(event: Mapping[str, Json], kind: str) -> None:
    assert kind_of(event) == kind
    salient = kind in {"state_change", "appearance", "disappearance"}
    assert count_new([event], ())[0] == int(salient)


@BOTH
@pytest.mark.parametrize(("error", "part"), [(5.0, 0.3), (float("nan"), 0.0), (-2.0, 0.0), (0.5, 0.15)])
def test_an_error_is_clamped_wherever_it_comes_from(name: str, error: float, part: float) -> None:
    for seen in (
        step(0, error=error),
        step(0, extras={"prediction_error": error}),
        step(0, extras={"prediction_error_magnitude": error}),
    ):
        _, records, _ = play(policy(name), [seen])
        assert records[0].cues["prediction"] == part


@BOTH
def test_the_first_error_present_counts(name: str) -> None:
    both = step(0, extras={"prediction_error": 0.5, "prediction_error_magnitude": 1.0})
    assert play(policy(name), [both])[1][0].cues["prediction"] == 0.15


SALIENT_AND_WRONG = {"events": [CHANGE] * 5, "error": 1.0}


@BOTH
def test_no_second_soft_cut_before_the_score_calms_down_but_a_place_still_cuts(name: str) -> None:
    rules = policy(name, min_steps=1, time_interval=10, max_steps=400)
    loud = [step(n, **SALIENT_AND_WRONG) for n in range(8)]
    moved = [step(n, "B", **SALIENT_AND_WRONG) for n in range(8, 10)]
    cuts, records, _ = play(rules, [*loud, *moved])
    assert [(c.before_seq, c.reason) for c in cuts] == [(1, "salient_event"), (8, "location_change")]
    assert [r.cues["armed"] for r in records[:5]] == [1.0, 1.0, 0.0, 0.0, 0.0]


@BOTH
def test_a_calm_step_rearms(name: str) -> None:
    rules = policy(name, min_steps=1, time_interval=10, max_steps=400)
    loud = {"events": [CHANGE] * 5, "error": 1.0}
    steps = [step(0, **loud), step(1, **loud), step(2, **loud)]
    cuts, _, memory = play(rules, steps)
    assert len(cuts) == 1
    assert not memory.armed
    calm, _, after = play(rules, [step(n, **loud) if n < 1 else step(n) for n in range(3)])
    assert (calm, after.armed) == ([], True)


@BOTH
def test_a_lasting_error_of_one_rearms_where_the_letter_never_does(name: str) -> None:
    steps = [step(n, "A" if n < 20 else "B", error=1.0) for n in range(40)]
    _, records, memory = play(policy(name), steps)
    assert memory.armed
    assert records[-1].cues["armed"] == 1.0


@BOTH
@pytest.mark.parametrize(("steps", "part"), [(50, 0.1), (250, 0.2)])
def test_what_time_contributes(name: str, steps: int, part: float) -> None:
    rules = policy(name, max_steps=1000)
    _, records, _ = play(rules, places(["lab"] * steps))
    assert records[-1].cues["time"] == part


@BOTH
def test_a_step_that_asks_beats_all_and_ignores_the_shortest_length(name: str) -> None:
    for events in ([{"type": "manual"}], [{"type": "manual"}, *[CHANGE] * 9]):
        cuts, _, memory = play(policy(name), [step(0), step(1, "B", events=events, error=1.0)])
        assert [(c.before_seq, c.reason, c.edge) for c in cuts] == [(2, "manual", DRAIN_ALL)]
        assert memory.steps == 0


@BOTH
def test_a_manual_cut_closes_the_shortest_frame_and_an_empty_one_not(name: str) -> None:
    rules = policy(name)
    memory = play(rules, [step(0)])[2]
    check = rules.drain(memory, ManualCut(START))
    assert [(c.before_seq, c.reason, c.edge) for c in check.cuts] == [(1, "manual", DRAIN_ALL)]
    assert rules.drain(check.memory, ManualCut(START)).cuts == ()


@BOTH
def test_a_robot_that_walks_through_four_rooms_has_four_episodes_with_the_right_labels(name: str) -> None:
    rooms = ["Living room", "Kitchen", "Bedroom", "Living room"]
    walked = [room for room in rooms for _ in range(15)]
    for rules in (policy(name), policy(name, confirm_steps=3)):
        cuts = whole(rules, places(walked))
        assert [c.detail["location"] for c in cuts] == rooms
        assert [c.detail["location_path"] for c in cuts] == [[room] for room in rooms]
        assert [c.detail["step_count"] for c in cuts] == [15] * 4
        assert [c.before_seq for c in cuts] == [15, 30, 45, 60]


# --- what the table leaves open -------------------------------------------------------------------------


def test_a_place_entered_early_is_cut_off_where_it_was_entered_once_the_frame_is_long_enough() -> None:
    cuts, _, _ = play(policy(RULED), places([*"AAA", *"B" * 20]))
    assert [(c.before_seq, c.decided_at_seq) for c in cuts] == [(3, 9)]


def test_a_passage_too_short_to_stay_belongs_to_the_room_it_leads_from() -> None:
    cuts = whole(policy(RULED), places([*"A" * 12, "door", *"B" * 12]))
    assert [(c.before_seq, c.detail["location"]) for c in cuts] == [(13, "A"), (25, "B")]


def test_a_doubtful_label_says_nothing() -> None:
    steps = [step(n, "A") for n in range(12)] + [step(n, "B", confidence=0.49) for n in range(12, 30)]
    assert play(policy(RULED), steps)[0] == []
    sure = [step(n, "A") for n in range(12)] + [step(n, "B", confidence=0.5) for n in range(12, 30)]
    assert len(play(policy(RULED), sure)[0]) == 1


def test_a_place_confirmed_across_a_cap_is_established_without_an_empty_episode() -> None:
    rules = policy(RULED, max_steps=12)
    cuts, _, memory = play(rules, places([*"A" * 11, *"B" * 6]))
    assert [(c.before_seq, c.reason) for c in cuts] == [(12, "time_interval")]
    assert memory.place.established == "b"


def test_a_frame_may_be_bounded_in_minutes() -> None:
    rules = policy(RULED, max_minutes=10)
    steps = [step(n, at=START + timedelta(minutes=4 * n)) for n in range(5)]
    cuts, _, _ = play(rules, steps)
    assert [(c.before_seq, c.reason, c.edge) for c in cuts] == [(3, "time_interval", KEEP_LAST)]


def test_a_place_never_cuts_further_back_than_the_hindsight() -> None:
    rules = policy(RULED)
    walked = [*"A" * 12, "B", *[None] * 30, "B"]
    cuts, _, _ = play(rules, places(walked))
    assert [(c.before_seq, c.decided_at_seq) for c in cuts] == [(34, 43)]


def test_the_label_is_the_confidence_weighted_mode() -> None:
    notes = [StepNote(n, None, "hall", 0.5, 0.0, 0, ()) for n in range(3)]
    notes += [StepNote(n, None, "Den", 0.9, 0.0, 0, ()) for n in range(3, 5)]
    assert walk(notes).label == "Den"
    assert walk([]).label == "unknown"


def test_the_surprise_of_an_episode_is_its_peak_error_and_its_detail_tells_what_it_held() -> None:
    errors = [0.0, 0.7, 0.2, 0.1]
    steps = [step(n, error=e, entities=["mug", {"label": "cat"}]) for n, e in enumerate(errors)]
    (cut,) = whole(policy(RULED), steps)
    assert cut.surprise == 0.7
    assert cut.detail == {
        "location": "lab",
        "location_path": ["lab"],
        "step_count": 4,
        "salient_events": 0,
        "entities": ["mug", "cat"],
        "action": "end_of_stream",
    }


def test_things_acted_upon_are_entities_where_nothing_says_what_is_seen() -> None:
    (cut,) = whole(policy(RULED), [step(0, extras={"objects": ["pan", 3, None, {"state": "odd"}]})])
    assert cut.detail["entities"] == ["pan", "3"]


# --- for every walk -------------------------------------------------------------------------------------

RULES = [
    policy(RULED),
    policy(RULED, min_steps=2, confirm_steps=2, max_steps=9, time_interval=5),
    policy(RULED, min_steps=1, confirm_steps=1, max_steps=6, max_minutes=1),
    policy("seed-000"),
    policy("seed-000", high_threshold=0.4, low_threshold=0.1, time_interval=3),
    policy("stub", freeze_interval=4),
    policy("steps"),
    policy("steps", min_steps=2, confirm_steps=2, max_steps=9, time_interval=5),
    policy("steps", min_steps=1, confirm_steps=1, max_steps=6, max_minutes=1),
]
RELAXED = settings(
    max_examples=share(20), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@st.composite
def walks(draw: st.DrawFn) -> list[Input]:
    """A walk of up to 60 steps with doubtful places, repeated events, things that come and go, manual cuts."""
    inputs: list[Input] = []
    place = st.sampled_from(["A", "B", "C", "a ", "unknown", None])
    event = st.sampled_from(
        [CHANGE, {"id": 1, "type": "new"}, {"type": "moved"}, {"id": 2, "event_type": "missing"}]
    )
    entity = st.sampled_from(["mug", "cat", {"guid": "d1", "state": "open"}, {"guid": "d1", "state": "shut"}])
    current: str | None = None
    for seq in range(draw(st.integers(1, 60))):
        if draw(st.integers(0, 3)) == 0:
            current = draw(place)
        seen = step(
            seq,
            current,
            events=draw(st.lists(event, max_size=3)),
            error=draw(st.sampled_from([None, None, 0.0, 0.5, 1.0, float("nan")])),
            confidence=draw(st.sampled_from([None, 0.3, 0.9])),
            entities=draw(st.one_of(st.none(), st.lists(entity, max_size=3))),
            at=START + timedelta(seconds=draw(st.sampled_from([0, 10, 40])) * seq),
        )
        inputs.append(Arrival(seen, None))
        if draw(st.integers(0, 14)) == 0:
            inputs.append(ManualCut(START, draw(st.sampled_from([Reason.MANUAL, Reason.THREAD_END]))))
    return [*inputs, ManualCut(START, Reason.END_OF_STREAM)]


def batched(
    rules: Policy[Any], inputs: Sequence[Input], sizes: Sequence[int]
) -> tuple[list[Boundary], list[Record]]:
    """Run in batches of the given sizes, packed to JSON and back after each."""
    memory, cuts, records = rules.begin(), [], []
    waiting, turn = list(inputs), 0
    while waiting:
        size = sizes[turn] if turn < len(sizes) else 1
        turn += 1
        done = run(memory, waiting[:size], rules)
        waiting = waiting[size:]
        memory = rules.unpack(json.loads(json.dumps(rules.pack(done.memory))))
        cuts.extend(done.cuts)
        records.extend(done.records)
    return cuts, records


@pytest.mark.parametrize("rules", RULES, ids=lambda rules: rules.name)
@RELAXED
@given(inputs=walks(), sizes=st.lists(st.integers(1, 9), max_size=9))
def test_batches_and_restarts_change_nothing(
    rules: Policy[Any], inputs: list[Input], sizes: list[int]
) -> None:
    straight = run(rules.begin(), inputs, rules)
    assert batched(rules, inputs, sizes) == (list(straight.cuts), list(straight.records))


@pytest.mark.parametrize("rules", RULES, ids=lambda rules: rules.name)
@RELAXED
@given(inputs=walks())
def test_no_step_is_lost_doubled_or_reordered(rules: Policy[Any], inputs: list[Input]) -> None:
    cuts = run(rules.begin(), inputs, rules).cuts
    steps = sum(isinstance(one, Arrival) for one in inputs)
    edges = [0, *(cut.before_seq for cut in cuts)]
    assert all(low < high for low, high in pairwise(edges))
    assert edges[-1] == steps
    assert [c.detail["step_count"] for c in cuts] == [high - low for low, high in pairwise(edges)]
    for cut in cuts:
        drains = cut.edge == DRAIN_ALL
        assert cut.before_seq == cut.decided_at_seq + 1 if drains else cut.before_seq <= cut.decided_at_seq
        assert drains or cut.decided_at_seq - cut.before_seq <= rules.hindsight


@pytest.mark.parametrize("rules", RULES, ids=lambda rules: rules.name)
@RELAXED
@given(inputs=walks())
def test_every_step_leaves_a_record_whose_numbers_lie_in_their_range(
    rules: Policy[Any], inputs: list[Input]
) -> None:
    done = run(rules.begin(), inputs, rules)
    arrivals = [one.observation.seq for one in inputs if isinstance(one, Arrival)]
    last = {record.seq: record for record in done.records}
    assert list(last) == arrivals
    for judged in [*done.cuts, *done.records]:
        assert 0 <= judged.probability <= 1
        assert 0 <= judged.surprise <= 1
        assert all(0 <= value <= 1 for value in judged.cues.values())
    assert [unpack_record(r.seq, pack_record(r)) for r in done.records] == list(done.records)


@RELAXED
@given(inputs=walks())
def test_a_record_recomputes_its_score(inputs: list[Input]) -> None:
    for rules in (RULES[1], RULES[4]):
        for record in run(rules.begin(), inputs, rules).records:
            total = sum(record.cues[name] for name in ("location", "event", "prediction", "time"))
            assert record.probability == pytest.approx(min(total, 1.0), abs=1e-6)


@pytest.mark.parametrize(
    ("rules", "most"), [(RULES[1], 9), (RULES[2], 6), (RULES[5], 4), (RULES[7], 9), (RULES[8], 6)]
)
@RELAXED
@given(inputs=walks())
def test_no_frame_is_longer_than_the_cap(rules: Policy[Any], most: int, inputs: list[Input]) -> None:
    assert all(cut.detail["step_count"] <= most for cut in run(rules.begin(), inputs, rules).cuts)  # type: ignore[operator]


def test_the_packed_memory_of_a_crowded_world_stays_small() -> None:
    rules = policy("steps")
    things = [
        [{"guid": f"{room}-{n}", "label": f"some long thing {n}"} for n in range(60)] for room in range(30)
    ]
    steps = [step(n, f"a place called {n // 9}", entities=things[n // 9]) for n in range(190)]
    assert len(json.dumps(rules.pack(play(rules, steps)[2]))) < 16_000


def test_what_is_no_packed_memory_is_refused() -> None:
    for name in ("steps", RULED, "seed-000"):
        for junk in ({}, [], {"trail": 3}):
            with pytest.raises(InvalidInput, match="resegment"):
                policy(name).unpack(junk)


# --- names ----------------------------------------------------------------------------------------------


def test_default_means_what_suits_the_thread() -> None:
    assert isinstance(policy(for_modality("default", "step")), StepsPolicy)
    assert policy(for_modality("default", "message")).name == policy("default").name
    assert for_modality("default?max_steps=40", "step") == "steps-2027-02?max_steps=40"
    assert for_modality("hysteresis", "message") == "hysteresis"
    assert {"steps", "stub", "seed-000", "hysteresis"} <= set(policy_names())
