"""The learned default for steps: what its cues read, that it is connected, and what it shares with the rules."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from builders.examples import share
from builders.steps import START, step
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from episodic_agent.core.boundary.contract import Arrival, Boundary, Input, ManualCut, Policy
from episodic_agent.core.boundary.conversation.model import encode
from episodic_agent.core.boundary.machine import run
from episodic_agent.core.boundary.policies import policy
from episodic_agent.core.boundary.steps.activity import BINS, Promise, StepActivity, asked
from episodic_agent.core.boundary.steps.baseline import THINGS, WORDS, StepBaseline, learnt, walked
from episodic_agent.core.boundary.steps.cues import DELAY, FORESEEN, NAMES, gap_cues
from episodic_agent.core.boundary.steps.learned import LearnedStepsPolicy, shipped
from episodic_agent.core.boundary.steps.reduced import ToldStep, hashed, reduce_step
from episodic_agent.data import arrays
from episodic_agent.errors import InvalidInput
from episodic_agent.schemas import Observation, Reason, TimeSource

RULED, LEARNED = policy("steps-2026-12"), policy("steps-2027-02")


def act(seq: int, action: str, thing: str, place: str | None = "flat", wait: float = 0.0) -> Observation:
    """One told step; `wait` in seconds on top of one a step."""
    extras = {"action": action, "objects": [thing]}
    observation = step(seq, place, extras=extras, at=START + timedelta(seconds=seq + wait))
    return replace(observation, text=f"{action} the {thing}", at_source=TimeSource.ASSUMED)


def day(*activities: Sequence[str], place: str = "flat") -> list[Observation]:
    """Each activity brings a thing to where it belongs, in four steps, all in one and the same room."""
    steps: list[Observation] = []
    for thing, goal in activities:
        for action, named in (("walk to", thing), ("take", thing), ("walk to", goal), ("put", thing)):
            steps.append(act(len(steps), action, named, place))
    return steps


CHORES = [["mug", "sink"], ["towel", "basket"], ["letter", "drawer"], ["bread", "toaster"], ["lamp", "desk"]]


def cuts(rules: Policy[Any], steps: Sequence[Observation]) -> list[Boundary]:
    return list(run(rules.begin(), [Arrival(one, None) for one in steps], rules).cuts)


# --- told or sensed -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "extras", "is_told"),
    [
        ("take the mug", {"action": "take", "objects": ["mug"]}, True),
        ("the kettle is on", {}, True),
        ("In the lab: go forward", {"action": "go forward", "frame": 7}, False),
        ("In the lab: go forward", {"action": "go forward", "entities": [{"label": "door"}]}, False),
        ("Nothing happens", {"action": "", "frame": 7}, False),
        ("In the lab: go forward", {"action": "go forward"}, True),
        ("you open the fridge", {"action": "open", "frame": 7, "entities": []}, True),
        ("In the lab: go forward", {"action": "go forward", "frame": 7, "objects": ["mug"]}, True),
    ],
)
def test_a_step_is_told_when_somebody_put_it_into_words_or_named_its_things(
    text: str, extras: dict[str, Any], is_told: bool
) -> None:
    assert (reduce_step(replace(step(0, extras=extras), text=text)) is not None) is is_told


def test_frames_of_a_sensor_are_cut_by_the_rules_alone() -> None:
    frames = [
        replace(step(n, "den" if n % 40 > 30 else "lab", extras={"action": a, "frame": n}), text="")
        for n, a in enumerate(("left", "right", "forward") * 40)
    ]
    frames = [replace(f, text=f"In the {f.location}: {f.extras['action']}") for f in frames]
    assert [c.before_seq for c in cuts(LEARNED, frames)] == [c.before_seq for c in cuts(RULED, frames)] != []


def test_what_a_step_names_comes_before_the_words_of_its_text() -> None:
    named = reduce_step(act(3, "take", "Mug"))
    assert named is not None
    assert (named.things, named.action) == ({hashed("mug")}, hashed("take"))
    bare = reduce_step(replace(act(3, "", "mug"), text="Take the mug", extras={}))
    assert bare is not None
    assert (bare.things, bare.action) == (bare.terms, hashed("take"))
    assert reduce_step(act(3, "take", "mug"), confident=False).place == 0  # type: ignore[union-attr]


# --- cues -----------------------------------------------------------------------------------------------


def cues_of(left: Sequence[ToldStep], right: Sequence[ToldStep], open_from: int = 0) -> dict[str, float]:
    baseline, before = StepBaseline(), None
    for this_step in left:
        baseline, before = learnt(baseline, before, this_step), this_step
    return dict(zip(NAMES, gap_cues(walked(left[open_from:]), baseline, left, right), strict=True))


def one(seq: int, thing: int, action: int = 1, place: int = 0, at: float | None = None) -> ToldStep:
    return ToldStep(seq, at, place, action, frozenset({thing}), frozenset({thing}))


BEFORE = [one(0, 7), one(1, 8), one(2, 7)]


@pytest.mark.parametrize(
    ("name", "right", "value"),
    [
        ("things in frame R0", (7, 8, 9), 1.0),
        ("things in frame R0", (9, 8, 9), 0.0),
        ("things in L1 R1", (9, 7, 9), 1.0),
        ("things across", (7, 8, 7), 1.0),
        ("things across", (9, 9, 9), 0.0),
        ("met R0", (9, 7, 7), 0.0),
        ("never R1", (7, 9, 7), 1.0),
        ("unseen R2", (7, 7, 9), 1.0),
        ("known across", (7, 8, 7), 1.0),
        ("R0 in R1", (9, 9, 7), 1.0),
        ("R0 is L1", (7, 8, 9), 1.0),
        ("three", (7, 8, 9), 1.0),
    ],
)
def test_what_a_cue_says_of_things_that_come_back_or_do_not(
    name: str, right: tuple[int, int, int], value: float
) -> None:
    assert cues_of(BEFORE, [one(3 + n, thing) for n, thing in enumerate(right)])[name] == value


def test_what_cues_say_of_places_actions_and_waits() -> None:
    left = [one(n, 7, action=n, place=1, at=60.0 * n) for n in range(3)]
    right = [one(3 + n, 7, action=n, place=2, at=4000.0 + n) for n in range(3)]
    values = cues_of(left, right)
    assert (values["moved"], values["moved, confirmed"], values["moved, back"]) == (1, 1, 0)
    assert (values["R0 first again"], values["R1 second again"], values["R2 third again"]) == (1, 1, 1)
    assert values["wait > 3.0"] > values["wait > 4.0"] > 0.05
    assert values["wait z"] > 2.0
    untimed = cues_of([one(0, 7)], [one(n, 7) for n in (1, 2, 3)])
    assert (untimed["timed"], untimed["wait"], untimed["wait z"]) == (0, 0, 0)


# --- what is asked for ----------------------------------------------------------------------------------


def test_a_sure_thread_asks_for_half_and_one_that_hardly_tells_for_less() -> None:
    prior = (1.0, *[0.0] * (BINS - 1))
    sure, unsure = Promise(), Promise()
    for n in range(200):
        sure, unsure = sure.add(0.01 if n % 9 else 0.99), unsure.add(0.05 if n % 9 else 0.3)
    assert asked(sure.counts, prior) > 0.4
    assert 0.12 <= asked(unsure.counts, prior) < 0.25
    assert sum(Promise(sure.counts, 800).add(0.5).counts) == 101.0


# --- the policy -----------------------------------------------------------------------------------------


def test_activities_in_one_room_are_cut_and_without_what_is_learned_they_are_not() -> None:
    steps = day(*CHORES)
    boundaries = cuts(LEARNED, steps)
    assert len({cut.before_seq for cut in boundaries} & {4, 8, 12, 16}) >= 3
    assert len(boundaries) <= 5
    assert {cut.detail["action"] for cut in boundaries} == {"activity"}
    assert cuts(policy("steps", learned=0), steps) == cuts(RULED, steps) == []


def test_a_network_that_never_cuts_leaves_the_rules() -> None:
    net = shipped().network
    mute = LearnedStepsPolicy(model=shipped()._replace(network=net._replace(out=net.out * 0, out_bias=-9.0)))
    assert cuts(mute, day(*CHORES)) == []


def test_a_learned_cut_names_its_ground_and_lies_two_steps_back() -> None:
    for cut in cuts(LEARNED, day(*CHORES)):
        assert cut.decided_at_seq - cut.before_seq == DELAY
        assert cut.probability >= cut.threshold
        assert cut.reason in (Reason.TOPIC_SHIFT, Reason.LOCATION_CHANGE, Reason.TIME_GAP)


def test_what_was_foreseen_moves_the_verdict_and_can_be_turned_off() -> None:
    steps = [reduce_step(one) for one in day(*CHORES)]
    baseline, before = StepBaseline(), None
    for this_step in steps[:8]:
        assert this_step is not None
        baseline, before = learnt(baseline, before, this_step), this_step
    stored_steps = tuple(one_ for one_ in steps[:10] if one_ is not None)
    activity = StepActivity(
        frame=walked(stored_steps[:8]),
        step_baseline=baseline,
        left=stored_steps[:8],
        right=stored_steps[8:10],
    )
    newest = steps[10]
    assert newest is not None
    on, off = LearnedStepsPolicy(), LearnedStepsPolicy(predict=0)
    assert on.judge(activity, newest).probability != off.judge(activity, newest).probability
    differ = [
        n
        for n, a, b in zip(NAMES, on.cues(activity, newest), off.cues(activity, newest), strict=True)
        if a != b
    ]
    assert set(differ) <= set(FORESEEN)


def test_a_place_nobody_confirms_is_not_cut_off_by_what_is_learned_either() -> None:
    steps = [act(n, "take", "mug", "den" if n in (14, 16) else "lab") for n in range(24)]
    assert not {14, 15, 16, 17} & {cut.before_seq for cut in cuts(LEARNED, steps)}


def test_what_is_learned_is_on_or_off() -> None:
    with pytest.raises(InvalidInput, match="learned must be 1"):
        policy("steps", learned=2)


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["take", "put", "open", ""]),
        st.sampled_from(["mug", "pan", "door", "key"]),
        st.sampled_from(["den", "lab", "den ", None]),
        st.sampled_from([0.0, 0.0, 4.0, 900.0]),
        st.booleans(),
    ),
    min_size=1,
    max_size=50,
)


@settings(max_examples=share(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(told_=STEPS, every=st.integers(1, 7), end=st.integers(0, 50))
def test_restarts_between_any_two_steps_change_nothing(
    told_: list[tuple[str, str, str | None, float, bool]], every: int, end: int
) -> None:
    late, inputs = 0.0, list[Input]()
    for n, (action, thing, place, wait, seen) in enumerate(told_):
        late += wait
        observation = act(n, action, thing, place, late)
        observation = replace(observation, at_source=TimeSource.GIVEN)
        observation = (
            replace(observation, extras=observation.extras | {"entities": [thing]}) if seen else observation
        )
        inputs.append(Arrival(observation, None))
        if n == end:
            inputs.append(ManualCut(START))
    rules = policy("steps", min_steps=3, time_interval=6)
    straight = run(rules.begin(), inputs, rules)
    memory, cut, records = rules.begin(), list[Boundary](), list[Any]()
    for at in range(0, len(inputs), every):
        done = run(memory, inputs[at : at + every], rules)
        memory = rules.unpack(json.loads(json.dumps(rules.pack(done.memory))))
        cut.extend(done.cuts)
        records.extend(done.records)
    assert (cut, records) == (list(straight.cuts), list(straight.records))
    assert rules.pack(memory) == rules.pack(straight.memory)


@pytest.mark.slow
def test_the_packed_memory_of_a_long_talkative_thread_stays_small() -> None:
    words = [f"word{n % 997}-{n % 31}x" for n in range(40_000)]
    steps = []
    for n in range(900):
        things = [{"guid": f"{n * 7 + k} a thing with quite a long name"} for k in range(6)]
        extras = {"action": f"doing {n % 50}", "objects": things, "entities": things}
        text = " ".join(words[n * 30 : n * 30 + 30])
        at = START + timedelta(seconds=13.337 * n)
        steps.append(replace(step(n, f"a place called {n // 9}", extras=extras, at=at), text=text))
    memory = run(LEARNED.begin(), [Arrival(one_, None) for one_ in steps], LEARNED).memory
    assert memory.activity is not None
    assert len(memory.activity.step_baseline.things) == THINGS
    assert len(memory.activity.step_baseline.words) == WORDS
    assert len(json.dumps(LEARNED.pack(memory), separators=(",", ":"))) < 16_000


# --- what ships -----------------------------------------------------------------------------------------


def test_the_shipped_weights_are_those_the_trainer_wrote() -> None:
    packed = arrays("boundary/steps.npz")["network"]
    assert packed.dtype == np.float16
    assert np.array_equal(encode(shipped().network), packed)
    assert shipped().network.hidden.shape[1] == 2 * len(NAMES) + 1
    assert len(shipped().prior) == BINS
    assert sum(shipped().prior) == pytest.approx(1.0, abs=0.01)


def test_the_rules_of_2026_12_are_what_they_were() -> None:
    steps = []
    for n in range(400):
        seen = [{"id": f"e{k}", "label": "box", "state": str(n // 30 % 2)} for k in range(n % 5)]
        events = [{"type": "new", "id": n // 3}] if n % 7 == 0 else []
        steps.append(step(n, "lab" if n // 25 % 3 else "den", events=events, entities=seen))
    done = run(RULED.begin(), [Arrival(one_, None) for one_ in steps], RULED)
    text = repr((done.cuts, done.records)) + json.dumps(RULED.pack(done.memory))
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == "0369a780faa33f76"
