"""Policy seed-001 against the letter of its document."""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import numpy as np
import pytest

from episodic_agent.core.boundary.contract import (
    Arrival,
    Boundary,
    Check,
    ManualCut,
    Question,
    Record,
    Verdict,
)
from episodic_agent.core.boundary.conversation.dual_channel import (
    DualChannelMemory,
    DualChannelPolicy,
    rule_layer,
)
from episodic_agent.core.boundary.policies import policy, policy_names
from episodic_agent.errors import InvalidInput
from episodic_agent.schemas import Observation, Reason, TimeSource, Vector

POLICY = DualChannelPolicy()
START = datetime(2024, 5, 1, 9, 0, tzinfo=UTC)
THREAD = UUID(int=7)
X, Y = (1.0, 0.0), (0.0, 1.0)
HOURS_9 = timedelta(hours=9)
MINUTES_15 = timedelta(minutes=15)
FORTY = "forty characters of quite ordinary text."


def unit(cosine: float) -> tuple[float, float]:
    """A vector of length 1 whose cosine to X is the given one."""
    return cosine, float(np.sqrt(1 - cosine * cosine))


def arrival(
    seq: int,
    vector: Sequence[float] | None = X,
    *,
    text: str = FORTY,
    at: datetime | None = None,
    source: TimeSource = TimeSource.GIVEN,
) -> Arrival:
    when = START + timedelta(minutes=seq) if at is None else at
    observation = Observation(UUID(int=seq), THREAD, seq, when, when, "user", text, at_source=source)
    return Arrival(observation, None if vector is None else vec(vector))


def vec(values: Sequence[float]) -> Vector:
    return np.array(values, dtype=np.float32)


def feed(
    memory: DualChannelMemory, arrivals: Sequence[Arrival], rules: DualChannelPolicy = POLICY
) -> Check[DualChannelMemory]:
    """Take in arrivals that must not ask or cut."""
    for item in arrivals:
        check = rules.check(memory, item)
        assert not check.cuts
        assert check.question is None
        memory = check.memory
    return check


def primed(event: Sequence[float] | None = None, rolling: Sequence[float] | None = None) -> DualChannelMemory:
    """Three buffered messages of 40 characters with the given vectors."""
    memory = feed(POLICY.begin(), [arrival(n) for n in range(3)]).memory
    return replace(
        memory,
        event_model="moving house" if event is not None else "",
        event_vector=None if event is None else vec(event),
        rolling=None if rolling is None else vec(rolling),
    )


def ask(
    memory: DualChannelMemory, vector: Sequence[float] = Y, seq: int = 3
) -> tuple[DualChannelMemory, Question]:
    check = POLICY.check(memory, arrival(seq, vector))
    assert check.question is not None
    return check.memory, check.question


# --- the rules ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("count", "characters", "gap", "length", "action"),
    [
        (2, 999, HOURS_9, 50, "skip"),
        (3, 100, MINUTES_15, 5, "detect"),
        (3, 100, MINUTES_15 + timedelta(seconds=1), 5, "time"),
        (3, 99, MINUTES_15 + timedelta(seconds=1), 1, "time"),
        (3, 99, timedelta(0), 50, "skip"),
        (3, 100, timedelta(0), 4, "skip"),
        (49, 100, timedelta(0), 5, "detect"),
        (50, 0, HOURS_9, 1, "force"),
        (10, 500, timedelta(hours=-1), 20, "detect"),
        (0, 0, timedelta(0), 0, "skip"),
    ],
)
def test_the_rule_layer(count: int, characters: int, gap: timedelta, length: int, action: str) -> None:
    assert rule_layer(count, characters, gap, length) == action


def test_characters_are_code_points() -> None:
    memory = primed(rolling=X)
    assert POLICY.check(memory, arrival(3, text="🧳🧳🧳🧳")).records[0].action == "skip"
    assert POLICY.check(memory, arrival(3, text="你好你好吗")).records[0].action == "roll"


def test_fifty_buffered_messages_close_and_the_new_one_is_kept() -> None:
    memory = feed(POLICY.begin(), [arrival(n, text="abcd") for n in range(50)]).memory
    check = POLICY.check(memory, arrival(50, Y, text="abcd", at=START + HOURS_9))
    (cut,) = check.cuts
    assert (cut.before_seq, cut.decided_at_seq, cut.reason, cut.surprise) == (50, 50, Reason.SIZE_CAP, 0.0)
    assert (check.memory.count, check.memory.first_seq) == (1, 50)
    assert check.memory.rolling is not None
    assert check.memory.rolling.tolist() == [0.0, 1.0]


def test_a_gap_over_fifteen_minutes_cuts_and_keeps_the_last() -> None:
    memory = primed(event=X, rolling=X)
    late = POLICY.check(memory, arrival(3, Y, at=START + timedelta(minutes=17, seconds=1)))
    (cut,) = late.cuts
    assert (cut.before_seq, cut.reason, cut.edge, cut.surprise) == (3, Reason.TIME_GAP, "keep_last", 0.0)
    assert late.memory.event_vector is None
    assert late.memory.event_model == ""
    assert late.records == (Record(3, "time", 1.0, 1.0),)


def test_a_gap_of_exactly_fifteen_minutes_does_not_cut() -> None:
    check = POLICY.check(primed(rolling=X), arrival(3, at=START + timedelta(minutes=17)))
    assert check.records[0].action == "roll"


def test_fewer_than_three_messages_are_glued_to_one_weeks_later_as_the_seed_has_it() -> None:
    memory = feed(POLICY.begin(), [arrival(0), arrival(1)]).memory
    check = POLICY.check(memory, arrival(2, at=START + timedelta(days=20)))
    assert not check.cuts
    assert check.records[0].action == "skip"


@pytest.mark.parametrize("where", [2, 3])
def test_times_nobody_gave_make_no_gap(where: int) -> None:
    sources = [TimeSource.ASSUMED if n == where else TimeSource.GIVEN for n in range(4)]
    memory = feed(POLICY.begin(), [arrival(n, source=sources[n]) for n in range(3)]).memory
    check = POLICY.check(memory, arrival(3, at=START + HOURS_9, source=sources[3]))
    assert check.records[0].action == "ask"


# --- the channels ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("cosine", "cuts"), [(0.35, False), (0.3499, True), (-1.0, True), (0.9, False)])
def test_the_surprise_channel_cuts_below_its_similarity(cosine: float, cuts: bool) -> None:
    check = POLICY.check(primed(event=X, rolling=unit(cosine)), arrival(3, unit(cosine)))
    assert bool(check.cuts) == cuts
    assert check.records[0].surprise == pytest.approx(min(1 - cosine, 1.0), abs=1e-6)


def test_surprise_cuts_directly_even_where_the_topic_is_the_same() -> None:
    newest = unit(0.3499)
    rolling = unit(0.3499 + 0.1)
    check = POLICY.check(primed(event=X, rolling=rolling), arrival(3, newest))
    assert float(np.dot(rolling, newest)) > 0.99
    assert check.question is None
    assert check.cuts == (
        Boundary(
            3, 3, Reason.SURPRISE, 0.6501, 0.65, 0.6501, "keep_last",
            check.records[0].cues, {"messages": 3, "characters": 120, "action": "surprise"},
        ),
    )  # fmt: skip
    assert check.memory.rolling is not None
    assert check.memory.rolling.tolist() == vec(newest).tolist()


@pytest.mark.parametrize(("cosine", "action"), [(0.5, "roll"), (0.4999, "ask"), (-0.2, "ask"), (1.0, "roll")])
def test_the_topic_channel_asks_below_its_similarity(cosine: float, action: str) -> None:
    check = POLICY.check(primed(rolling=X), arrival(3, unit(cosine)))
    assert check.records[0].action == action
    assert (check.question is not None) == (action == "ask")


def test_without_a_rolling_vector_the_model_is_asked() -> None:
    memory, question = ask(primed())
    assert (question.seq, question.first_seq, question.event_model) == (3, 0, "")
    check = POLICY.settle(memory, question, Verdict(False, 0.9))
    assert check.memory.rolling is not None
    assert check.memory.rolling.tolist() == [0.0, 1.0]


def test_rolling_moves_a_fifth_of_the_way() -> None:
    check = POLICY.check(primed(rolling=X), arrival(3, (0.6, 0.8)))
    assert check.memory.rolling is not None
    assert check.memory.rolling.tolist() == pytest.approx([0.98521, 0.17134], abs=1e-5)


@pytest.mark.parametrize(
    ("boundary", "confidence", "cuts"), [(True, 0.7, True), (True, 0.69, False), (False, 0.99, False)]
)
def test_a_verdict_cuts_from_its_confidence_on(boundary: bool, confidence: float, cuts: bool) -> None:
    memory, question = ask(primed(rolling=X))
    check = POLICY.settle(memory, question, Verdict(boundary, confidence))
    assert [cut.reason for cut in check.cuts] == ([Reason.TOPIC_SHIFT] if cuts else [])
    assert check.records[0].action == ("topic_shift" if cuts else "keep")
    assert check.memory.count == (1 if cuts else 4)


def test_a_topic_shift_stores_the_computed_surprise() -> None:
    memory, question = ask(primed(event=unit(0.8), rolling=Y), X)
    (cut,) = POLICY.settle(memory, question, Verdict(True, 0.9)).cuts
    assert cut.surprise == pytest.approx(0.2, abs=1e-6)
    assert (cut.before_seq, cut.decided_at_seq) == (3, 3)


def test_after_a_topic_shift_the_kept_message_is_the_context() -> None:
    memory, question = ask(primed(event=unit(0.5), rolling=X), Y)
    after = POLICY.settle(memory, question, Verdict(True, 1.0, updated_event_model="no")).memory
    assert (after.event_model, after.event_vector, after.pending) == ("", None, None)
    assert after.rolling is not None
    assert after.rolling.tolist() == [0.0, 1.0]


def test_no_boundary_updates_the_event_model_and_its_vector() -> None:
    memory, question = ask(primed(rolling=X))
    verdict = Verdict(False, 0.8, {"topic_shift": 0.4}, "they unpack boxes", vec(Y))
    check = POLICY.settle(memory, question, verdict)
    assert check.memory.event_model == "they unpack boxes"
    assert check.memory.event_vector is not None
    assert check.memory.event_vector.tolist() == [0.0, 1.0]
    assert check.memory.rolling is not None
    assert check.memory.rolling.tolist() == pytest.approx([0.8 / 0.68**0.5, 0.2 / 0.68**0.5])
    assert check.records[0].cues["model_topic_shift"] == 0.4


def test_no_model_rolls_and_leaves_the_event_model() -> None:
    memory, question = ask(primed(event=unit(0.5), rolling=X))
    check = POLICY.settle(memory, question, None)
    assert check.records[0].action == "no_model"
    assert not check.cuts
    assert check.memory.event_model == "moving house"
    assert check.memory.rolling is not None
    assert check.memory.rolling[1] > 0


def test_a_skip_changes_no_vector() -> None:
    before = primed(event=X, rolling=X)
    after = POLICY.check(before, arrival(3, Y, text="ok")).memory
    assert (after.event_vector, after.rolling) == (before.event_vector, before.rolling)


@pytest.mark.parametrize("vector", [None, (0.0, 0.0), (float("nan"), 1.0)])
def test_an_arrival_without_a_usable_vector_is_kept_undetected(vector: Sequence[float] | None) -> None:
    before = primed(event=X, rolling=X)
    check = POLICY.check(before, arrival(3, vector))
    assert check.records == (Record(3, "no_vector", 0.0, 1.0),)
    assert (check.memory.count, check.memory.rolling) == (4, before.rolling)


def test_the_rules_hold_without_vectors() -> None:
    check = POLICY.check(primed(rolling=X), arrival(3, None, at=START + HOURS_9))
    assert [cut.reason for cut in check.cuts] == [Reason.TIME_GAP]
    assert check.memory.rolling is None


def test_vectors_of_another_embedder_are_not_compared() -> None:
    check = POLICY.check(primed(event=X, rolling=X), arrival(3, (1.0, 0.0, 0.0)))
    assert check.records[0].action == "ask"
    assert check.records[0].cues == {}


def test_opposite_vectors_that_cancel_out_leave_the_newer_one() -> None:
    even = DualChannelPolicy(rolling_alpha=0.5)
    asked = even.check(primed(rolling=X), arrival(3, (-1.0, 0.0)))
    assert asked.question is not None
    rolled = even.settle(asked.memory, asked.question, None).memory.rolling
    assert rolled is not None
    assert rolled.tolist() == [-1.0, 0.0]


# --- the machine's side ---------------------------------------------------------------------------------


def test_question_ids_are_the_same_again_and_differ_by_message_and_thread() -> None:
    _, first = ask(primed())
    _, again = ask(primed())
    _, other = ask(primed(), seq=4)
    moved = arrival(3, Y)
    elsewhere = POLICY.check(
        primed(), replace(moved, observation=replace(moved.observation, thread_id=UUID(int=8)))
    )
    assert elsewhere.question is not None
    assert first == again
    assert len({first.id, other.id, elsewhere.question.id}) == 3


def test_a_verdict_to_another_question_changes_nothing() -> None:
    memory, question = ask(primed())
    check = POLICY.settle(memory, replace(question, id="another"), Verdict(True, 1.0))
    assert check == Check(memory)


def test_an_arrival_while_a_question_is_open_is_refused() -> None:
    memory, question = ask(primed())
    with pytest.raises(ValueError, match=question.id):
        POLICY.check(memory, arrival(4))


def test_a_drain_closes_everything_with_its_own_reason() -> None:
    check = POLICY.drain(primed(event=X, rolling=X), ManualCut(START, Reason.THREAD_END))
    (cut,) = check.cuts
    assert (cut.before_seq, cut.decided_at_seq) == (3, 2)
    assert (cut.edge, cut.reason, cut.surprise) == ("drain_all", Reason.THREAD_END, 0.0)
    assert check.memory.rolling is None
    assert check.memory.count == 0


def test_a_drain_with_a_question_open_falls_back_first() -> None:
    memory, _ = ask(primed())
    check = POLICY.drain(memory, ManualCut(START))
    assert [record.action for record in check.records] == ["no_model"]
    assert [cut.before_seq for cut in check.cuts] == [4]
    assert check.memory.pending is None


def test_draining_nothing_cuts_nothing() -> None:
    assert POLICY.drain(POLICY.begin(), ManualCut(START)).cuts == ()


def test_the_packed_memory_is_small_and_lossless() -> None:
    rng = np.random.default_rng(1)
    vectors = [vec(row / np.linalg.norm(row)) for row in rng.normal(size=(3, 384))]
    memory = replace(primed(), event_model="e" * 1000, event_vector=vectors[0], rolling=vectors[1])
    asked = POLICY.check(memory, Arrival(arrival(3).observation, vectors[0] + 0.2 * vectors[2]))
    assert asked.question is not None
    packed = json.dumps(POLICY.pack(asked.memory))
    restored = POLICY.unpack(json.loads(packed))
    assert len(packed) < 16_000
    assert json.dumps(POLICY.pack(restored)) == packed
    for verdict in (None, Verdict(True, 0.9), Verdict(False, 0.9, {}, "new", vectors[2])):
        check, other = (POLICY.settle(m, asked.question, verdict) for m in (asked.memory, restored))
        assert (check.cuts, check.records) == (other.cuts, other.records)
        assert POLICY.pack(check.memory) == POLICY.pack(other.memory)


def test_a_rambling_event_model_is_cut_short() -> None:
    memory, question = ask(primed())
    after = POLICY.settle(memory, question, Verdict(False, 0.1, {}, "word " * 5000, vec(X))).memory
    assert len(after.event_model) == 1000


@pytest.mark.parametrize("packed", [None, 3, {}, {"count": "many"}, [1, 2]])
def test_a_memory_it_did_not_pack_is_refused(packed: object) -> None:
    with pytest.raises(InvalidInput, match="packed memory"):
        POLICY.unpack(packed)  # type: ignore[arg-type]


def test_the_clock_never_closes_a_frame_of_the_seed() -> None:
    assert (POLICY.idle_after, POLICY.hindsight) == (None, 0)


# --- by name --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["seed-001", "dual-channel", " seed-001 "])
def test_the_policy_is_known_by_its_seed_and_for_users(name: str) -> None:
    assert policy(name) == POLICY
    assert policy(name).name == "seed-001"


def test_every_name_listed_is_accepted_and_resolves_to_itself() -> None:
    for name in policy_names():
        resolved = policy(name)
        assert policy(resolved.name) == resolved


def test_parameters_of_ones_own_are_part_of_the_name() -> None:
    own = policy("dual-channel", max_messages=20, topic_similarity="0.4")
    assert own.name == "seed-001?max_messages=20&topic_similarity=0.4"
    assert policy(own.name) == own
    assert own == DualChannelPolicy(max_messages=20, topic_similarity=0.4, name=own.name)
    assert policy("seed-001", max_messages=50) == POLICY


@pytest.mark.parametrize(
    ("name", "overrides", "message"),
    [
        ("dual-chanel", {}, "did you mean 'dual-channel'"),
        ("§§", {}, "known: .*dual-channel"),
        ("seed-001", {"max_mesages": 3}, "did you mean 'max_messages'"),
        ("seed-001?max_messages", {}, "parameter=value"),
        ("seed-001?max_messages=many", {}, "whole number"),
        ("seed-001", {"confidence": "high"}, "a number"),
        ("seed-001", {"confidence": 7.0}, r"\[0, 1\]"),
        ("seed-001", {"max_messages": 2}, "min_messages <= max_messages"),
        ("seed-001", {"gap_minutes": float("nan")}, "gap_minutes"),
        ("seed-001", {"rules": 1}, "no parameter 'rules'"),
    ],
)
def test_what_is_not_known_is_refused_by_name(
    name: str, overrides: dict[str, float | str], message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        policy(name, **overrides)
