"""The `default` policy: what it promises whatever its weights, and seed 003's scale of surprise."""

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any
from zlib import crc32

import numpy as np
import pytest
from builders.examples import share
from builders.talks import COOKING, DRIFT, GARDEN, START, TAXES, arrival
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from episodic_agent.core.boundary.contract import DRAIN_ALL, Arrival, Input, ManualCut, Record, Step, Tick
from episodic_agent.core.boundary.conversation.cues import counted, leaning, smoothed
from episodic_agent.core.boundary.conversation.default import DefaultPolicy
from episodic_agent.core.boundary.conversation.gap import ALL
from episodic_agent.core.boundary.conversation.memory import ROLES, ConversationMemory, rested
from episodic_agent.core.boundary.conversation.model import (
    BoundaryModel,
    Silence,
    log_minutes,
    logit,
    shipped,
)
from episodic_agent.core.boundary.machine import run
from episodic_agent.core.boundary.policies import policy
from episodic_agent.errors import InvalidInput
from episodic_agent.providers.embedders.minilm import MiniLM, is_present
from episodic_agent.schemas import Reason, TimeSource, Vector

LINES = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "data" / "surprise_lines.jsonl").read_text().splitlines()
]
MODEL = Path.home() / ".cache" / "episodic-agent"


def dialogue(texts: Sequence[str], **more: Any) -> list[Arrival]:
    """Give texts alternating speakers and no times."""
    return [arrival(seq, text, source=TimeSource.ASSUMED, **more) for seq, text in enumerate(texts)]


def play(inputs: Sequence[Input], policy: DefaultPolicy | None = None, *, drain: bool = True) -> Step[Any]:
    policy = policy or DefaultPolicy()
    closing = [ManualCut(START + timedelta(days=999))] if drain else []
    return run(policy.begin(), [*inputs, *closing], policy)


def cuts(step: Step[Any]) -> list[tuple[int, str]]:
    return [(cut.before_seq, cut.reason) for cut in step.cuts if cut.edge != DRAIN_ALL]


def last_record(step: Step[Any], seq: int) -> Record:
    return [record for record in step.records if record.seq == seq][-1]


@st.composite
def streams(draw: st.DrawFn, most: int = 16) -> list[Arrival]:
    """Draw a thread with mixed vectors, times and speakers."""
    texts = st.sampled_from([*COOKING, *TAXES, "Got it", "", "Wait, what?", "好的，谢谢", "bye!"])
    gaps = st.sampled_from([0, 5, 60, 900, 9_000, 21_600, 21_601, 90_000, -60])
    result, at = [], START
    for seq in range(draw(st.integers(1, most))):
        at += timedelta(seconds=draw(gaps))
        seed = draw(st.integers(0, 5))
        vector = None if seed == 0 else np.random.default_rng(seed).normal(size=24).astype(np.float32)
        source = draw(st.sampled_from([TimeSource.GIVEN, TimeSource.GIVEN, TimeSource.ASSUMED]))
        result.append(
            arrival(seq, draw(texts), actor=draw(st.sampled_from("abc")), at=at, vector=vector, source=source)
        )
    return result


QUICK = settings(max_examples=share(25), deadline=None, suppress_health_check=[HealthCheck.too_slow])


@QUICK
@given(streams(), st.integers(0, 2))
def test_a_restart_after_every_message_changes_nothing(stream: list[Arrival], hindsight: int) -> None:
    policy = DefaultPolicy(hindsight=hindsight, max_length=6)
    full_step = play(stream, policy, drain=False)
    memory, result, records = policy.begin(), [], []
    for item in stream:
        step = run(memory, [item], policy)
        memory = policy.unpack(json.loads(json.dumps(policy.pack(step.memory))))
        result += step.cuts
        records += step.records
    assert (result, records) == (list(full_step.cuts), list(full_step.records))
    assert policy.pack(memory) == policy.pack(full_step.memory)


@QUICK
@given(streams(), st.data())
def test_nothing_later_is_looked_at(stream: list[Arrival], data: st.DataObject) -> None:
    known = data.draw(st.integers(1, len(stream)))
    if known < len(stream):  # after six hours of silence what is pending is decided with what there is
        assume(stream[known].observation.at - stream[known - 1].observation.at <= timedelta(hours=6))
    step = play(stream, drain=False)
    part = play(stream[:known], drain=False)
    assert [cut for cut in step.cuts if cut.decided_at_seq < known] == list(part.cuts)


names = st.text(min_size=1, max_size=12).map(lambda name: name.strip().casefold())


@QUICK
@given(
    streams(),
    st.lists(names, min_size=3, max_size=3, unique_by=lambda name: crc32(name.encode("utf-8", "replace"))),
)
def test_other_names_for_the_same_people_change_no_cut(stream: list[Arrival], called: list[str]) -> None:
    assume(not ROLES.keys() & set(called) and all(called))
    known = dict(zip("abc", called, strict=True))
    renamed = [
        replace(item, observation=replace(item.observation, actor=known[item.observation.actor]))
        for item in stream
    ]
    assert (play(renamed).cuts, play(renamed).records) == (play(stream).cuts, play(stream).records)


def test_a_network_of_a_shorter_delay_reads_nothing_that_came_later() -> None:
    for kind in ("words", "vectors", "broad"):
        for delay, later in ((0, ("R1", "R2")), (1, ("R2",))):
            network = shipped().networks[f"{kind}-{delay}"]
            size = (network.shift.size - 1) // 2
            of_later = [at for at, name in enumerate(ALL[:size]) if name.endswith(later)]
            assert of_later
            assert not network.factor[of_later].any()


@pytest.mark.parametrize("delay", [0, 1, 2])
def test_networks_together_give_the_mean_of_their_log_odds(delay: int) -> None:
    cues, baseline, model = np.linspace(-1.0, 1.0, len(ALL)), ConversationMemory().baseline, shipped()
    odds = [logit(model.content(cues, one, baseline, 20)) for one in range(3)]
    assert max(odds) - min(odds) > 0.1
    assert logit(model.together(cues, delay, baseline, 20)) == pytest.approx(fmean(odds[: delay + 1]))


def test_before_the_third_policy_networks_of_dialogues_alone_judged() -> None:
    cues, baseline, model = np.linspace(-1.0, 1.0, len(ALL)), ConversationMemory().baseline, shipped()
    by_kind = {
        kind: model.networks[f"{kind}-2"].probability(cues, baseline, 20) for kind in ("vectors", "broad")
    }
    assert by_kind["vectors"] != by_kind["broad"]
    assert model.content(cues, 2, baseline, 20, broad=False) == by_kind["vectors"]
    assert model.content(cues, 2, baseline, 20) == by_kind["broad"]
    texts, before = [*COOKING, *TAXES], policy("default-2027-02")
    vectors = np.eye(4, dtype=np.float32)
    stream = [arrival(seq, text, vector=vectors[len(text) % 4]) for seq, text in enumerate(texts)]
    assert isinstance(before, DefaultPolicy)
    then, now = (
        [record.cues["content"] for record in play(stream, one).records if record.cues]
        for one in (before, DefaultPolicy())
    )
    as_now = play(stream, replace(before, broad=True)).records
    assert then != now == [record.cues["content"] for record in as_now if record.cues]


def test_a_gap_is_judged_by_the_networks_of_every_delay_it_had() -> None:
    stream, before = dialogue([*COOKING, *TAXES]), policy("default-2027-01")
    assert isinstance(before, DefaultPolicy)
    for hindsight, same in ((0, True), (1, False), (2, False)):
        alone_too = replace(before, hindsight=hindsight, broad=True)
        now, alone = (
            [record.cues["content"] for record in play(stream, one).records if record.cues]
            for one in (DefaultPolicy(hindsight=hindsight), alone_too)
        )
        assert (now == alone) == same, hindsight


@QUICK
@given(streams(), st.integers(0, 2))
def test_every_message_ends_with_one_verdict(stream: list[Arrival], hindsight: int) -> None:
    step = play(stream, DefaultPolicy(hindsight=hindsight))
    settled = [record.seq for record in step.records if record.action != "pending"]
    assert settled == list(range(len(stream)))
    assert all((r.probability >= r.threshold) == (r.action == "cut") for r in step.records)
    assert all(0.0 <= value <= 1.0 for r in step.records for value in r.cues.values())


@QUICK
@given(streams(), st.integers(0, 1))
def test_the_clock_closes_a_silent_frame_as_the_next_message_would(
    stream: list[Arrival], hindsight: int
) -> None:
    policy = DefaultPolicy(hindsight=hindsight)
    last = stream[-1].observation
    timed = [
        *stream[:-1],
        arrival(last.seq, last.text, actor=last.actor, at=last.at, vector=stream[-1].vector),
    ]
    late = last.at + timedelta(hours=7)
    following = [arrival(last.seq + n, text, at=late) for n, text in enumerate(COOKING[:4], start=1)]
    by_message = play([*timed, *following], policy)
    by_clock = play([*timed, Tick(late), *following], policy)
    assert [c.before_seq for c in by_clock.cuts] == [c.before_seq for c in by_message.cuts]
    assert [c.surprise for c in by_clock.cuts] == [c.surprise for c in by_message.cuts]
    assert policy.pack(by_clock.memory) == policy.pack(by_message.memory)


@pytest.mark.slow
@pytest.mark.parametrize("size", [384, 1536])
def test_the_packed_memory_stays_small(size: int) -> None:
    policy, memory = DefaultPolicy(threshold=0.999), DefaultPolicy().begin()
    rng = np.random.default_rng(1)
    for seq in range(150):
        text = " ".join(f"word{n}x{seq}" for n in range(60))
        vector = rng.normal(size=size).astype(np.float32)
        memory = policy.check(memory, arrival(seq, text, actor=f"speaker {seq}", vector=vector)).memory
        assert len(json.dumps(policy.pack(memory), separators=(",", ":"))) <= 16_384


@pytest.mark.parametrize("seconds", [21_601, 86_400 * 30])
def test_a_silence_over_six_hours_always_cuts(seconds: int) -> None:
    stream = [arrival(0, COOKING[0]), arrival(1, "Got it", at=START + timedelta(seconds=seconds))]
    assert cuts(play(stream)) == [(1, Reason.TIME_GAP)]


def test_a_silence_of_exactly_six_hours_is_judged_like_any_other() -> None:
    stream = [arrival(0, COOKING[0]), arrival(1, "Got it", at=START + timedelta(hours=6))]
    assert cuts(play(stream)) == []


@pytest.mark.parametrize("source", [TimeSource.ASSUMED, TimeSource.DATE_ONLY])
def test_a_time_that_was_not_given_is_no_cue(source: TimeSource) -> None:
    stream = [arrival(0, COOKING[0]), arrival(1, COOKING[1], at=START + timedelta(days=9), source=source)]
    step = play(stream)
    assert cuts(step) == []
    assert "silence" not in last_record(step, 1).cues


def test_a_pending_gap_is_settled_before_a_long_silence_without_what_comes_after() -> None:
    texts = [*COOKING, TAXES[0]]
    near = [arrival(seq, text, at=START + timedelta(minutes=seq)) for seq, text in enumerate(texts)]
    later = arrival(len(texts), TAXES[1], at=START + timedelta(days=1))
    assert [cut.before_seq for cut in play([*near, later]).cuts] == [
        c.before_seq for c in play(near).cuts
    ] + [8]


@pytest.mark.parametrize("hindsight", [0, 1, 2])
def test_a_new_topic_opens_a_new_episode_without_any_vector(hindsight: int) -> None:
    step = play(dialogue([*COOKING, *TAXES]), DefaultPolicy(hindsight=hindsight))
    probability = [last_record(step, seq).probability for seq in range(len(COOKING) + len(TAXES))]
    assert (len(COOKING), Reason.TOPIC_SHIFT) in cuts(step)
    assert max(probability) == probability[len(COOKING)] > 0.6


@pytest.mark.parametrize("digression", [
    ["Oh, it just started to rain here"],
    ["Wait, the doorbell rang", "Just the parcel for the neighbours"],
    ["Did you feed the cat?", "Yes, an hour ago"],
])  # fmt: skip
def test_a_digression_of_one_or_two_messages_is_not_cut(digression: list[str]) -> None:
    for talk, place in ((COOKING, 5), (GARDEN, 4)):
        step = play(dialogue([*talk[:place], *digression, *talk[place:]]))
        around = range(place, place + len(digression) + 1)
        assert [seq for seq, _ in cuts(step) if seq in around] == []


def test_a_gradual_drift_is_cut_somewhere() -> None:
    assert cuts(play(dialogue(DRIFT))) != []


def test_an_answered_question_stays_one_episode() -> None:
    assert cuts(play(dialogue([*COOKING[:4], "Got it", "ok thanks", "Makes sense"]))) == []


@pytest.mark.parametrize("hindsight", [0, 1, 2])
def test_a_cut_is_decided_as_late_as_the_hindsight_and_no_later(hindsight: int) -> None:
    step = play(dialogue([*COOKING, *TAXES]), DefaultPolicy(hindsight=hindsight))
    delays = [cut.decided_at_seq - cut.before_seq for cut in step.cuts if cut.edge != DRAIN_ALL]
    assert set(delays) == {hindsight}


@pytest.mark.parametrize("hindsight", [-1, 3])
def test_another_hindsight_is_refused(hindsight: int) -> None:
    with pytest.raises(InvalidInput, match="hindsight"):
        DefaultPolicy(hindsight=hindsight)


@pytest.mark.parametrize("bad", [{"threshold": 0.0}, {"threshold": 1.0}, {"max_length": 1}])
def test_a_setting_that_cannot_work_is_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match=next(iter(bad))):
        DefaultPolicy(**bad)


def test_a_full_frame_is_split_where_its_own_probabilities_are_highest() -> None:
    policy = DefaultPolicy(threshold=0.999, max_length=10)
    texts = [*COOKING[:5], *TAXES, *COOKING]
    step = play(dialogue(texts), policy)
    first = step.cuts[0]
    probability = {seq: last_record(step, seq).probability for seq in range(2, 10)}
    assert first.reason == Reason.SIZE_CAP
    assert first.probability == probability[first.before_seq] == max(probability.values())
    assert first.decided_at_seq > first.before_seq + policy.hindsight


def test_no_episode_outgrows_the_cap() -> None:
    step = play(dialogue(["the same old song again and again"] * 500), DefaultPolicy(max_length=40))
    edges = [0, *[cut.before_seq for cut in step.cuts]]
    assert max(b - a for a, b in pairwise(edges)) <= 40
    assert edges[-1] == 500


def test_a_memory_packed_before_cues_had_habits_is_still_read() -> None:
    policy = DefaultPolicy()
    memory = run(policy.begin(), dialogue(COOKING), policy).memory
    old = {key: value for key, value in policy.pack(memory).items() if key != "usual"}
    step = run(policy.unpack(old), [arrival(len(COOKING), TAXES[0])], policy)
    assert step.memory.baseline.seen == 1.0


def test_a_memory_packed_before_boundaries_were_counted_asks_for_the_usual_probability() -> None:
    policy = DefaultPolicy()
    packed = policy.pack(run(policy.begin(), dialogue(COOKING), policy).memory)
    packed["floats"] = packed["floats"][:2]
    memory = policy.unpack(packed)
    assert policy.asked(memory.expected, memory.position) == policy.threshold


@given(st.floats(0, 900), st.floats(0, 900), st.integers(1, 10**6))
def test_the_more_boundaries_were_expected_the_more_a_gap_is_asked_for(
    some: float, more: float, position: int
) -> None:
    policy = DefaultPolicy()
    less, most = (policy.asked(one, position) for one in sorted((some, more)))
    assert 0.2 < less <= most < 0.9


def test_a_thread_with_few_boundaries_is_asked_for_less_later_on_and_says_so() -> None:
    step = play(dialogue(["the same old song again and again"] * 40))
    thresholds = [last_record(step, seq).threshold for seq in range(1, 40)]
    assert thresholds[0] > 0.35 > thresholds[-1]


@QUICK
@given(streams(), st.integers(0, 2))
def test_what_was_expected_so_far_is_the_sum_of_what_the_records_say(
    stream: list[Arrival], hindsight: int
) -> None:
    step = play(stream, DefaultPolicy(hindsight=hindsight), drain=False)
    values = {record.seq: record.probability for record in step.records}
    silences = [cut for cut in step.cuts if cut.probability == 1.0]
    assume(not silences)  # after a long silence a part of it is left
    assert step.memory.expected == pytest.approx(sum(values.values()), abs=1e-3)


@pytest.mark.slow
def test_with_times_as_without_a_thread_with_few_boundaries_is_asked_for_less_later_on() -> None:
    stream = [arrival(seq, "the same old song", at=START + timedelta(minutes=seq)) for seq in range(40)]
    thresholds = [last_record(play(stream), seq).threshold for seq in range(1, 40)]
    assert thresholds[0] > 0.35 > thresholds[-1]


@QUICK
@given(streams(), st.data())
def test_a_longer_silence_never_makes_a_boundary_less_probable(
    stream: list[Arrival], data: st.DataObject
) -> None:
    assume(len(stream) > 1)
    place = data.draw(st.integers(1, len(stream) - 1))
    longer = timedelta(seconds=data.draw(st.integers(0, 400_000)))
    later = [*stream[:place], *(postponed(item, longer) for item in stream[place:])]
    patient = DefaultPolicy(idle_after=None)
    before, after = (last_record(play(some, patient), place).probability for some in (stream, later))
    assert after >= before


def postponed(item: Arrival, by: timedelta) -> Arrival:
    return replace(item, observation=replace(item.observation, at=item.observation.at + by))


@given(st.floats(0, 1), st.floats(0, 9), st.floats(0, 9), st.floats(-4, 4))
def test_silence_only_adds_evidence(content: float, shorter: float, more: float, z: float) -> None:
    model = shipped()
    short, long = (model.with_time(content, Silence(logged, z)) for logged in (shorter, shorter + more))
    assert content <= short <= long
    assert short <= model.with_time(content, Silence(shorter, z + more))


def test_a_talk_without_pauses_gets_no_evidence_from_its_times() -> None:
    assert shipped().evidence(Silence(log_minutes(60.0), -0.5)) == 0.0


def test_what_cannot_open_anything_does_not_open_it_after_a_pause_either() -> None:
    assert shipped().with_time(0.0, Silence(9.0, 4.0)) == 0.0


@pytest.mark.parametrize("time", [(), (0.0,) * 9, (0.0,) * 6 + (-0.1,), (float("nan"),) + (0.0,) * 6])
def test_weights_by_which_silence_could_speak_against_a_boundary_are_refused(time: tuple[float, ...]) -> None:
    with pytest.raises(InvalidInput, match="none below 0"):
        BoundaryModel({}, time)


def test_the_policy_of_frames_cut_before_is_as_it_was() -> None:
    before = policy("default-2026-12")
    assert isinstance(before, DefaultPolicy)
    chat = [
        arrival(seq, text, at=START + timedelta(seconds=20 * seq))
        for seq, text in enumerate([*COOKING, *TAXES])
    ]
    step = play(chat, before)
    assert {record.threshold for record in step.records} == {0.4}
    new = len(COOKING)
    next_one = policy("default-2027-01")
    assert isinstance(next_one, DefaultPolicy)
    assert last_record(step, new).probability < last_record(play(chat, next_one), new).probability - 0.1
    values = [before.with_time(shipped(), 0.5, Silence(logged, 0.0)) for logged in (0.0, 2.0, 5.5, 8.0)]
    assert [round(value, 4) for value in values] == [0.1512, 0.046, 0.4365, 0.5182]
    night = run(before.begin(), [*chat, Tick(START + timedelta(days=1))], before).memory
    assert night.last
    assert night.position == len(chat)


def test_after_a_long_silence_a_long_thread_counts_as_a_short_one_of_its_own_rate() -> None:
    busy = ConversationMemory(position=80, expected=3.0 * smoothed(80))
    assert (rested(busy).position, rested(busy).expected) == (10, pytest.approx(3.0 * smoothed(10), abs=1e-3))
    assert rested(ConversationMemory(position=4, expected=1.5)) == ConversationMemory(
        position=4, expected=1.5
    )
    assert rested(ConversationMemory()) == ConversationMemory()


def test_after_a_long_silence_habits_stay_and_what_was_spoken_of_is_gone() -> None:
    stream = [arrival(seq, text, at=START) for seq, text in enumerate(COOKING)]
    spoken = play(stream, drain=False).memory
    next_day = START + timedelta(days=1)
    closed = run(DefaultPolicy().begin(), [*stream, Tick(next_day)], DefaultPolicy()).memory
    assert spoken.last
    assert spoken.expected > 0.0
    assert (closed.last, closed.thread_sum) == ({}, None)
    assert closed.stats != ConversationMemory().stats
    assert closed.baseline.seen > 0.0


def test_a_talk_of_a_million_messages_is_judged_by_its_newest() -> None:
    expected, position = smoothed(10**6), 10**6
    for _ in range(3000):
        expected = counted(expected, 0.5, position)
    assert leaning(expected, position) < -1.0
    for _ in range(3000):
        expected = counted(expected, 0.0, position)
    assert leaning(expected, position) == 0.8


def test_an_episode_keeps_the_peak_surprise_of_its_own_messages() -> None:
    step = play(dialogue([*COOKING, "I had no idea, that changes everything!", *TAXES]))
    edges = [0, *[cut.before_seq for cut in step.cuts]]
    for number, cut in enumerate(step.cuts):
        own = [last_record(step, seq).surprise for seq in range(edges[number], cut.before_seq)]
        assert cut.surprise == max(own)
    assert max(cut.surprise for cut in step.cuts) > 0.8


def test_vectors_of_another_embedder_are_read_on_the_threads_own_scale() -> None:
    rng = np.random.default_rng(5)
    common, topics = rng.normal(size=64), rng.normal(size=(2, 64))
    texts = [f"Please go on {n}" for n in range(28)]
    vectors = [6 * common + 3 * topics[int(seq >= 20)] + rng.normal(size=64) for seq in range(28)]
    stream = [
        arrival(seq, text, source=TimeSource.ASSUMED, vector=vector.astype(np.float32))
        for seq, (text, vector) in enumerate(zip(texts, vectors, strict=True))
    ]
    step = play(stream, DefaultPolicy(scale=None))
    probability = [last_record(step, seq).probability for seq in range(10, 28)]
    assert max(range(18), key=probability.__getitem__) == 10


def test_a_change_of_vector_size_within_a_thread_is_survived() -> None:
    stream = [
        arrival(seq, text, vector=np.ones(8 if seq < 4 else 12, np.float32), source=TimeSource.ASSUMED)
        for seq, text in enumerate(COOKING + TAXES)
    ]
    assert play(stream).cuts[-1].before_seq == len(stream)


def line_record(line: dict[str, Any], vectors: dict[str, Vector]) -> Record:
    """Play a labelled line after its context, spoken by the one who is to answer."""
    pairs = [(one["role"], one["content"]) for one in line["context"]]
    answering = "assistant" if pairs[-1][0] == "user" else "user"
    stream = [
        arrival(seq, text, actor=role, source=TimeSource.ASSUMED, vector=vectors.get(text))
        for seq, (role, text) in enumerate([*pairs, (answering, line["line"])])
    ]
    return last_record(play(stream), len(stream) - 1)


def check_scale(vectors: dict[str, Vector]) -> None:
    felt = defaultdict(list)
    for line in LINES:
        record = line_record(line, vectors)
        felt[line["class"]].append(record.surprise)
        if line["class"] == "acknowledge":
            assert record.surprise <= 0.3, line["line"]
            assert record.action != "cut", line["line"]
    mean = {name: fmean(values) for name, values in felt.items()}
    assert mean["acknowledge"] <= 0.1 < mean["minor"] <= 0.5 < mean["pivot"] <= 0.8 < mean["revelation"]
    assert mean["pivot"] >= 0.6
    assert mean["revelation"] >= 0.85


def test_the_scale_of_surprise_holds_on_labelled_lines_without_vectors() -> None:
    check_scale({})


@pytest.mark.slow
@pytest.mark.skipif(
    not is_present(MODEL), reason="the local embedder is not installed: `episodic models pull`"
)
def test_the_scale_of_surprise_holds_on_labelled_lines_with_vectors() -> None:
    texts = sorted(
        {one["content"] for line in LINES for one in line["context"]} | {line["line"] for line in LINES}
    )
    check_scale(dict(zip(texts, MiniLM(MODEL).embed(texts), strict=True)))
