"""Anybody's BoundaryDetector under the engine's contract: its state, its errors, its restarts."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from builders.examples import share
from builders.steps import START, step
from hypothesis import given, settings
from hypothesis import strategies as st

from episodic_agent.core.boundary.contract import Arrival, Boundary, ManualCut, Record
from episodic_agent.core.boundary.machine import run
from episodic_agent.core.boundary.policies import policy
from episodic_agent.core.boundary.steps.custom import LONGEST_STATE, CustomPolicy, adapt
from episodic_agent.core.boundary.steps.detectors import HysteresisBoundaryDetector, StubBoundaryDetector
from episodic_agent.errors import InvalidInput
from episodic_agent.protocols import BoundaryDetector
from episodic_agent.schemas import ActiveContextFrame, Json, Observation, Reason

CHANGE: Mapping[str, Json] = {"type": "state_change"}


# --- the document's example, letter for letter ----------------------------------------------------------


class MyBoundaryDetector(BoundaryDetector):
    def __init__(self, custom_threshold: float = 0.7):
        self._threshold = custom_threshold
        self._event_count = 0

    def check(
        self,
        acf: ActiveContextFrame,
    ) -> tuple[bool, str | None]:
        # Custom logic
        self._event_count += len(acf.events)

        if self._event_count >= 10:
            self._event_count = 0
            return True, "event_accumulation"

        return False, None


class Rooms(BoundaryDetector):
    """Keeps a set, which is no JSON: it is rebuilt from the open frame. Cuts at the third room of a frame."""

    def __init__(self) -> None:
        self.rooms: set[str] = set()

    def check(self, acf: ActiveContextFrame) -> tuple[bool, str | None]:
        self.rooms.add(acf.location_label)
        if len(self.rooms) < 3:
            return False, None
        self.rooms = set()
        return True, "third_room"


class Notebook(BoundaryDetector):
    """Keeps what it needs across cuts in `detector_state`, and a lock-like thing beside it."""

    def __init__(self) -> None:
        self.unpackable = object()

    def check(self, acf: ActiveContextFrame) -> tuple[bool, str | None]:
        total = acf.detector_state.get("total", 0)
        assert isinstance(total, int)
        acf.detector_state["total"] = total + 1
        return (total + 1) % 7 == 0, "seventh"


class Faulty(BoundaryDetector):
    """Raises at every third step, answers nonsense at every fifth, asks for a cut at every fourth."""

    def __init__(self) -> None:
        self.calls = 0

    def check(self, acf: ActiveContextFrame) -> tuple[bool, str | None]:
        self.calls += 1
        if self.calls % 3 == 0:
            raise RuntimeError("sensor on fire")
        if self.calls % 5 == 0:
            return None  # type: ignore[return-value]
        return self.calls % 4 == 0, None


def play(
    rules: CustomPolicy, steps: Sequence[Observation], restarts: Sequence[int] = ()
) -> tuple[list[Boundary], list[Record], Any]:
    """Run step by step; before each seq in `restarts` the process begins anew from what was packed."""
    memory, cuts, records = rules.begin(), list[Boundary](), list[Record]()
    first = 0
    for seen in steps:
        if seen.seq in restarts:
            packed = json.loads(json.dumps(rules.pack(memory)))
            memory = rules.resume(packed, [Arrival(one, None) for one in steps[first : seen.seq]])
        check = rules.check(memory, Arrival(seen, None))
        memory = check.memory
        cuts.extend(check.cuts)
        records.extend(check.records)
        first = cuts[-1].before_seq if cuts else 0
    return cuts, records, memory


def eventful(count: int) -> list[Observation]:
    return [step(n, f"room {n // 3 % 5}", events=[CHANGE] * (n % 3)) for n in range(count)]


def test_the_documents_example_runs_unchanged() -> None:
    cuts, _, _ = play(adapt(MyBoundaryDetector), [step(n, events=[CHANGE]) for n in range(12)])
    # the frame's events accumulate: 1 + 2 + 3 + 4 reaches ten at the fourth step
    assert [(c.before_seq, c.reason) for c in cuts] == [(n, "event_accumulation") for n in (4, 8, 12)]
    assert all(c.edge == "drain_all" for c in cuts)


@pytest.mark.parametrize(
    "make",
    [MyBoundaryDetector, Rooms, Notebook, Faulty, StubBoundaryDetector, lambda: StubBoundaryDetector(4)],
)
@given(st.lists(st.integers(0, 40), max_size=8))
@settings(max_examples=share(25), deadline=None)
def test_a_restart_at_any_step_changes_nothing(
    make: Callable[[], BoundaryDetector], restarts: list[int]
) -> None:
    rules, steps = CustomPolicy(make, "one"), eventful(40)
    straight = play(rules, steps)
    again = play(rules, steps, restarts)
    assert again[:2] == straight[:2]
    assert rules.pack(again[2]) == rules.pack(straight[2])


@given(st.lists(st.integers(1, 11), max_size=9))
@settings(max_examples=share(25), deadline=None)
def test_batches_change_nothing(sizes: list[int]) -> None:
    rules, inputs = adapt(Rooms), [Arrival(one, None) for one in eventful(40)]
    full_step = run(rules.begin(), inputs, rules)
    memory, cuts, waiting = rules.begin(), list[Boundary](), list(inputs)
    while waiting:
        size = sizes.pop() if sizes else 1
        done = run(memory, waiting[:size], rules)
        memory, waiting = done.memory, waiting[size:]
        cuts.extend(done.cuts)
    assert cuts == list(full_step.cuts)


def test_a_memory_that_is_used_twice_gives_the_same_twice() -> None:
    for make in (MyBoundaryDetector, Rooms, Notebook):
        rules, steps = adapt(make), eventful(30)
        memory = play(rules, steps[:17])[2]
        first = [c.cuts for c in _onward(rules, memory, steps[17:])]
        again = [c.cuts for c in _onward(rules, memory, steps[17:])]
        assert first == again


def _onward(rules: CustomPolicy, memory: Any, steps: Sequence[Observation]) -> list[Any]:
    result = []
    for seen in steps:
        result.append(rules.check(memory, Arrival(seen, None)))
        memory = result[-1].memory
    return result


def test_two_threads_do_not_share_a_detector() -> None:
    rules = adapt(MyBoundaryDetector())
    steps = [step(n, events=[CHANGE]) for n in range(3)]
    play(rules, steps)
    assert play(rules, steps)[0] == []


def test_a_detector_that_raises_loses_no_step_and_its_errors_are_named() -> None:
    cuts, records, _ = play(adapt(Faulty), [step(n) for n in range(40)])
    assert [r.seq for r in records] == list(range(40))
    assert {r.action for r in records} == {"error", "keep", "cut: detector"}
    assert [r.action for r in records][:5] == ["keep", "keep", "error", "cut: detector", "error"]
    assert cuts[0].detail["last_error"] == "RuntimeError: sensor on fire"
    assert cuts[0].detail["detector_errors"] == 1
    assert cuts[1].detail["detector_errors"] == 2
    assert play(adapt(Faulty), [step(n) for n in range(5)])[2].last_error.startswith("TypeError")
    edges = [0, *(c.before_seq for c in cuts)]
    assert edges == sorted(set(edges))
    assert cuts[0].reason == "detector"


def test_a_detector_that_only_raises_is_cut_at_the_cap() -> None:
    class Broken(BoundaryDetector):
        def check(self, acf: ActiveContextFrame) -> tuple[bool, str | None]:
            raise ValueError("no")

    cuts, _, _ = play(CustomPolicy(Broken, max_steps=8), [step(n) for n in range(20)])
    assert [(c.before_seq, c.reason) for c in cuts] == [(8, Reason.SIZE_CAP), (16, Reason.SIZE_CAP)]


def test_a_detector_that_cannot_even_be_made_loses_no_step() -> None:
    def make() -> BoundaryDetector:
        raise FileNotFoundError("model.bin")

    cuts, records, _ = play(CustomPolicy(make, max_steps=3), [step(n) for n in range(4)])
    assert [r.action for r in records] == ["error", "error", "cut: size_cap", "error"]
    assert cuts[0].detail["last_error"] == "FileNotFoundError: model.bin"


def test_a_state_that_is_no_json_is_an_error_and_the_one_before_is_kept() -> None:
    class Hoarder(BoundaryDetector):
        def check(self, acf: ActiveContextFrame) -> tuple[bool, str | None]:
            count = acf.detector_state.get("count", 0)
            acf.detector_state["count"] = int(str(count)) + 1
            if count == 2:
                acf.detector_state["set"] = {1, 2}  # type: ignore[assignment]
            if count == 3:
                acf.detector_state["long"] = "x" * LONGEST_STATE
            return False, None

    _, records, memory = play(adapt(Hoarder), [step(n) for n in range(4)])
    assert [r.action for r in records] == ["keep", "keep", "error", "error"]
    assert memory.state == {"count": 2}


def test_the_frame_is_as_the_document_shows_it() -> None:
    seen: list[ActiveContextFrame] = []

    class Spy(BoundaryDetector):
        def check(self, acf: ActiveContextFrame) -> tuple[bool, str | None]:
            seen.append(acf)
            return acf.step_count == 3, "three"

    steps = [
        step(0, None, events=[CHANGE]),
        step(1, "kitchen", confidence=0.7, events=[CHANGE], error=0.4, entities=["mug", {"guid": "d"}]),
        step(2, "kitchen", extras={"speed": 2}),
        step(3, "kitchen"),
    ]
    play(adapt(Spy), steps)
    assert [acf.step_count for acf in seen] == [1, 2, 3, 1]
    assert [acf.location_label for acf in seen] == ["unknown", "kitchen", "kitchen", "kitchen"]
    assert [acf.location_confidence for acf in seen] == [0.0, 0.7, 1.0, 1.0]
    assert [len(acf.events) for acf in seen] == [1, 2, 2, 0]
    assert seen[1].entities == [{"label": "mug"}, {"guid": "d"}]
    assert seen[1].extras["prediction_error"] == 0.4
    assert seen[2].extras == {"speed": 2}
    assert [one.seq for one in seen[2].observations] == [0, 1, 2]


def test_the_built_in_predictor_fills_the_error_of_steps_that_bring_none() -> None:
    errors: list[float] = []

    class Listener(BoundaryDetector):
        def check(self, acf: ActiveContextFrame) -> tuple[bool, str | None]:
            errors.append(float(str(acf.extras.get("prediction_error", -1.0))))
            return False, None

    steps = [step(n, entities=["mug", "cat"]) for n in range(12)] + [step(12, entities=["dog"])]
    play(adapt(Listener), steps)
    assert errors[:12] == [0.0] * 12
    assert errors[12] > 0.9
    errors.clear()
    play(CustomPolicy(Listener, predict=0), steps)
    assert errors == [-1.0] * 13


def test_a_subclass_of_the_seeds_detector_keeps_its_place_over_a_restart() -> None:
    class Calm(HysteresisBoundaryDetector):
        pass

    steps = [step(n, room) for n, room in enumerate("AAABBBCCC")]
    straight = play(adapt(Calm), steps)[0]
    assert [c.before_seq for c in straight] == [4, 7]
    assert play(adapt(Calm), steps, range(9))[0] == straight
    letter = run(policy("seed-000").begin(), [Arrival(s, None) for s in steps], policy("seed-000")).cuts
    assert [(c.before_seq, c.reason) for c in letter] == [(c.before_seq, c.reason) for c in straight]


def test_a_drain_closes_what_is_open_with_its_own_reason() -> None:
    rules = adapt(MyBoundaryDetector)
    memory = play(rules, [step(0), step(1)])[2]
    check = rules.drain(memory, ManualCut(START, Reason.END_OF_STREAM))
    assert [(c.before_seq, c.reason) for c in check.cuts] == [(2, "end_of_stream")]
    assert check.cuts[0].detail["location"] == "lab"
    assert rules.drain(check.memory, ManualCut(START)).cuts == ()


def test_a_frame_cannot_be_resumed_without_its_own_steps() -> None:
    rules = adapt(Rooms)
    packed = rules.pack(play(rules, [step(0), step(1)])[2])
    with pytest.raises(InvalidInput, match="2 steps"):
        rules.unpack(packed)
    with pytest.raises(InvalidInput, match="resegment"):
        rules.resume({"junk": 1}, ())


def test_ready_made_detectors_are_copied_as_they_are() -> None:
    made = MyBoundaryDetector()
    made._event_count = 9
    rules = adapt(made)
    made._event_count = 0
    assert play(rules, [step(0, events=[CHANGE])])[0][0].reason == "event_accumulation"
    assert rules.name == "detector:MyBoundaryDetector"
