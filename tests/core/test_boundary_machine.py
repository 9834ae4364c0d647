"""What holds for every policy: batching, packing and restarts change nothing; cuts are ordered and gapless."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any
from uuid import UUID
from zlib import crc32

import numpy as np
import pytest
from builders.examples import share
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
    Question,
    Record,
    Tick,
    Verdict,
)
from episodic_agent.core.boundary.machine import pack_record, run, settle, unpack_record
from episodic_agent.core.boundary.policies import policy
from episodic_agent.schemas import Observation, Reason

START = datetime(2024, 5, 1, 9, 0, tzinfo=UTC)
THREAD = UUID(int=7)
TOPICS = np.linalg.qr(np.random.default_rng(5).normal(size=(8, 8)))[0]
TEXTS = [
    "ok",
    "Did you already book the flight to Lisbon for the conference in May?",
    "By the way, my sister's cat is ill again and we have to see the vet tomorrow.",
    "Yes, the tomatoes in the garden are finally ripe, we picked two kilos on Sunday.",
    "",
    "我昨天去上海见了老朋友，我们一起吃了晚饭。",
    "Hmm, wait, what? I had no idea that the deadline of the budget report was moved.",
]
# small limits, so that short streams meet every rule
SEED = policy("seed-001", max_messages=9, min_characters=40)
NAMES = ["seed-001", "default"]
POLICIES: dict[str, Policy[Any]] = {"seed-001": SEED, "default": policy("default", max_length=20)}


def _vector(topic: int, noise: int, blank: bool) -> np.ndarray | None:
    if blank:
        return None
    own = TOPICS[topic] + 0.6 * TOPICS[noise]
    return (own / np.linalg.norm(own)).astype(np.float32)


@st.composite
def streams(draw: st.DrawFn) -> list[Input]:
    """A conversation of up to 40 messages with gaps, missing vectors, manual cuts and ticks."""
    inputs: list[Input] = []
    at, seq = START, 0
    for _ in range(draw(st.integers(1, 40))):
        at += timedelta(minutes=draw(st.sampled_from([0, 0, 1, 1, 2, 15, 16, 300, 900, -3])))
        what = draw(st.sampled_from(["message"] * 12 + ["manual", "tick"]))
        if what == "manual":
            inputs.append(ManualCut(at, draw(st.sampled_from([Reason.MANUAL, Reason.THREAD_END]))))
        elif what == "tick":
            inputs.append(Tick(at + timedelta(days=30)))
        else:
            text = draw(st.sampled_from(TEXTS))
            actor = draw(st.sampled_from(["user", "assistant"]))
            observation = Observation(UUID(int=seq), THREAD, seq, at, at, actor, text)
            topic, noise = draw(st.integers(0, 4)), draw(st.integers(0, 7))
            inputs.append(Arrival(observation, _vector(topic, noise, not text)))
            seq += 1
    return inputs


def scripted(question: Question) -> Verdict | None:
    """A model that always says the same to the same question: cut, keep, update, or nothing at all."""
    number = crc32(question.id.encode())
    vector = TOPICS[number % 8].astype(np.float32)
    return [
        Verdict(True, 0.9),
        Verdict(True, 0.5),
        Verdict(False, 0.8, {"topic_shift": 0.2}, f"event model {number}", vector),
        None,
    ][number % 4]


def play(
    rules: Policy[Any], inputs: Sequence[Input], sizes: Sequence[int], *, restart: bool = False
) -> tuple[list[Boundary], list[Record], str]:
    """Run a stream in batches of the given sizes (then one by one), packing in between when asked."""
    memory, cuts, records = rules.begin(), [], []
    waiting, turn = list(inputs), 0
    while waiting:
        size = sizes[turn] if turn < len(sizes) else 1
        batch, turn = waiting[:size], turn + 1
        step = run(memory, batch, rules)
        assert step.consumed == len(batch) or step.question is not None
        waiting = waiting[step.consumed :]
        while True:
            cuts.extend(step.cuts)
            records.extend(step.records)
            memory = step.memory
            if restart:
                memory = rules.unpack(json.loads(json.dumps(rules.pack(memory))))
            if step.question is None:
                break
            step = settle(memory, step.question, scripted(step.question), rules)
    return cuts, records, json.dumps(rules.pack(memory))


@pytest.fixture(params=NAMES)
def rules(request: pytest.FixtureRequest) -> Policy[Any]:
    return POLICIES[request.param]


RELAXED = settings(
    max_examples=share(25), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@RELAXED
@given(inputs=streams(), sizes=st.lists(st.integers(1, 12), max_size=12))
def test_cuts_and_records_are_the_same_however_a_stream_is_batched(
    rules: Policy[Any], inputs: list[Input], sizes: list[int]
) -> None:
    assert play(rules, inputs, sizes) == play(rules, inputs, [len(inputs)])


@RELAXED
@given(inputs=streams(), sizes=st.lists(st.integers(1, 12), max_size=12))
def test_a_restart_between_any_two_inputs_changes_nothing(
    rules: Policy[Any], inputs: list[Input], sizes: list[int]
) -> None:
    assert play(rules, inputs, sizes, restart=True) == play(rules, inputs, [len(inputs)])


@RELAXED
@given(inputs=streams())
def test_cuts_are_ordered_and_leave_no_gap(rules: Policy[Any], inputs: list[Input]) -> None:
    closing = [*inputs, ManualCut(START + timedelta(days=99), Reason.END_OF_STREAM)]
    cuts, _, _ = play(rules, closing, [])
    first = 0
    for cut in cuts:
        assert first < cut.before_seq <= cut.decided_at_seq + 1
        if cut.edge == KEEP_LAST:
            assert cut.before_seq <= cut.decided_at_seq
        else:
            assert cut.edge == DRAIN_ALL
            assert cut.before_seq == cut.decided_at_seq + 1
        first = cut.before_seq
    assert [cut.decided_at_seq for cut in cuts] == sorted(cut.decided_at_seq for cut in cuts)
    assert first == sum(isinstance(item, Arrival) for item in inputs)


@RELAXED
@given(inputs=streams())
def test_no_cut_comes_later_than_the_hindsight_allows(rules: Policy[Any], inputs: list[Input]) -> None:
    cuts, _, _ = play(rules, inputs, [])
    # a full frame is split at its weakest inner gap, which may lie further back
    content = [c for c in cuts if c.edge == KEEP_LAST and c.reason != Reason.SIZE_CAP]
    assert all(cut.decided_at_seq - cut.before_seq <= rules.hindsight for cut in content)


@RELAXED
@given(inputs=streams())
def test_every_observation_leaves_a_record_and_every_number_lies_in_its_range(
    rules: Policy[Any], inputs: list[Input]
) -> None:
    closing = [*inputs, ManualCut(START + timedelta(days=99))]
    cuts, records, _ = play(rules, closing, [])
    arrivals = [item.observation.seq for item in inputs if isinstance(item, Arrival)]
    assert sorted({record.seq for record in records}) == arrivals
    for judged in [*cuts, *records]:
        assert 0 <= judged.probability <= 1
        assert 0 <= judged.threshold <= 1
        assert 0 <= judged.surprise <= 1


@RELAXED
@given(inputs=streams())
def test_records_survive_their_packing(rules: Policy[Any], inputs: list[Input]) -> None:
    _, records, _ = play(rules, inputs, [])
    assert [unpack_record(record.seq, pack_record(record)) for record in records] == records


@given(inputs=streams())
@settings(max_examples=share(30), deadline=None)
def test_the_seeds_records_recompute_their_verdicts(inputs: list[Input]) -> None:
    _, records, _ = play(SEED, inputs, [])
    for record in records:
        if record.action == "surprise":
            assert record.probability > record.threshold
        elif record.action == "roll":
            assert record.probability <= record.threshold
        elif record.action == "ask":
            assert record.probability > record.threshold
        else:
            cuts = record.action in {"force", "time", "topic_shift"}
            assert (record.probability >= record.threshold) == cuts


@given(inputs=streams())
@settings(max_examples=share(20), deadline=None)
def test_the_seed_never_buffers_more_than_its_cap(inputs: list[Input]) -> None:
    cuts, _, _ = play(SEED, [*inputs, ManualCut(START)], [])
    starts = [0, *(cut.before_seq for cut in cuts)]
    assert all(end - start <= 9 for start, end in pairwise(starts))


def test_a_run_stops_at_a_question_and_says_how_much_it_took_in() -> None:
    observations = [Observation(UUID(int=n), THREAD, n, START, START, "user", TEXTS[1]) for n in range(6)]
    inputs = [Arrival(o, TOPICS[o.seq].astype(np.float32)) for o in observations]
    step = run(SEED.begin(), inputs, SEED)
    assert step.question is not None
    assert (step.consumed, step.question.seq) == (4, 3)
    again = settle(step.memory, step.question, None, SEED)
    assert (again.question, again.consumed) == (None, 0)
    assert again.records[0].action == "no_model"


def test_a_tick_drains_with_the_reason_of_a_gap() -> None:
    observation = Observation(UUID(int=0), THREAD, 0, START, START, "user", "hello")
    step = run(SEED.begin(), [Arrival(observation, None), Tick(START + timedelta(days=1))], SEED)
    assert [(c.before_seq, c.reason, c.edge) for c in step.cuts] == [(1, Reason.TIME_GAP, DRAIN_ALL)]
