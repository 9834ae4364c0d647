"""The pass over a whole thread: valid partitions, fixed cuts kept, the best split where one is forced."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import combinations, pairwise

import numpy as np
import pytest
from builders import talks
from builders.examples import share
from builders.talks import COOKING, DRIFT, GARDEN, START, TAXES
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from episodic_agent.core.boundary.contract import DRAIN_ALL, Arrival, Input, ManualCut, Tick
from episodic_agent.core.boundary.conversation.default import DefaultPolicy
from episodic_agent.core.boundary.conversation.dual_channel import DualChannelPolicy
from episodic_agent.core.boundary.conversation.thread_pass import Segmented, forced, whole_thread
from episodic_agent.core.boundary.machine import run
from episodic_agent.schemas import Reason, TimeSource, Vector

QUICK = settings(max_examples=share(25), deadline=None, suppress_health_check=[HealthCheck.too_slow])


def arrival(seq: int, text: str, at: datetime | None = None, vector: Vector | None = None) -> Arrival:
    source = TimeSource.ASSUMED if at is None else TimeSource.GIVEN
    return talks.arrival(seq, text, at=at or START, vector=vector, source=source)


def talk(texts: Sequence[str], vectors: Sequence[Vector | None] | None = None) -> list[Input]:
    return [arrival(seq, text, None, vectors[seq] if vectors else None) for seq, text in enumerate(texts)]


def edges(segmented: Segmented) -> list[int]:
    return [cut.before_seq for cut in segmented.cuts]


@st.composite
def threads(draw: st.DrawFn) -> list[Input]:
    """Draw a thread with silences, manual cuts, ticks of the clock, and vectors of several sizes."""
    texts = st.sampled_from([*COOKING, *TAXES, "Got it", "", "Wait, what?", "好的，谢谢", "bye!"])
    results: list[Input] = []
    at = START
    for seq in range(draw(st.integers(0, 18))):
        at += timedelta(seconds=draw(st.sampled_from([0, 60, 9_000, 21_601, 90_000, -60])))
        size, seed = draw(st.sampled_from([0, 24, 24, 8])), draw(st.integers(0, 4))
        vector = np.random.default_rng(seed).normal(size=size).astype(np.float32) if size else None
        results.append(arrival(seq, draw(texts), draw(st.sampled_from([at, at, None])), vector))
        closing = draw(st.integers(0, 9))
        if closing == 0:
            results.append(ManualCut(at))
        elif closing == 1:
            at += timedelta(hours=7)
            results.append(Tick(at))
    return results


@QUICK
@given(threads(), st.integers(0, 2), st.sampled_from([2, 4, 240]))
def test_the_cuts_are_a_valid_partition_and_every_observation_has_its_record(
    inputs: list[Input], hindsight: int, longest: int
) -> None:
    policy = DefaultPolicy(hindsight=hindsight, max_length=longest)
    segmented = whole_thread(inputs, policy)
    seqs = [item.observation.seq for item in inputs if isinstance(item, Arrival)]
    assert [record.seq for record in segmented.records] == seqs
    bounds = [0, *edges(segmented)]
    assert all(low < high for low, high in pairwise(bounds))
    assert all(high - low <= longest for low, high in pairwise([*bounds, len(seqs)]))
    for cut in segmented.cuts:
        late = cut.decided_at_seq - cut.before_seq
        assert late == -1 if cut.edge == DRAIN_ALL else late >= 0


@QUICK
@given(threads())
def test_manual_clock_and_long_silence_cuts_stay_as_they_are_online(inputs: list[Input]) -> None:
    policy = DefaultPolicy()
    online = run(policy.begin(), inputs, policy)
    certain = [(c.before_seq, c.reason, c.edge) for c in online.cuts if c.probability == 1.0 and not c.cues]
    full = [(c.before_seq, c.reason, c.edge) for c in whole_thread(inputs, policy).cuts]
    assert [one for one in full if one in certain] == certain


@QUICK
@given(threads())
def test_each_verdict_follows_from_its_record(inputs: list[Input]) -> None:
    segmented = whole_thread(inputs, DefaultPolicy(max_length=5))
    assert all((r.probability >= r.threshold) == (r.action == "cut") for r in segmented.records if r.cues)
    by_seq = {record.seq: record for record in segmented.records}
    for cut in segmented.cuts:
        if cut.reason == Reason.SIZE_CAP:
            assert cut.detail["size"] >= cut.detail["max_length"] == 5
        elif cut.cues:
            record = by_seq[cut.before_seq]
            assert (cut.probability, cut.threshold) == (record.probability, record.threshold)
            assert cut.probability >= cut.threshold


@QUICK
@given(threads())
def test_the_same_thread_gives_the_same_cuts(inputs: list[Input]) -> None:
    assert whole_thread(inputs, DefaultPolicy()) == whole_thread(list(inputs), DefaultPolicy())


def test_what_is_open_at_the_end_stays_open() -> None:
    assert edges(whole_thread(talk(GARDEN), DefaultPolicy())) == []
    closed = whole_thread([*talk(GARDEN), ManualCut(START)], DefaultPolicy())
    assert [(cut.before_seq, cut.edge) for cut in closed.cuts] == [(len(GARDEN), DRAIN_ALL)]


def test_a_gap_that_was_not_decided_yet_waits() -> None:
    segmented = whole_thread(talk([*COOKING, *TAXES[:2]]), DefaultPolicy())
    assert [record.action for record in segmented.records[-2:]] == ["pending", "pending"]
    assert not set(edges(segmented)) & {len(COOKING), len(COOKING) + 1}


def test_another_policy_is_replayed() -> None:
    policy = DualChannelPolicy(max_messages=3)
    inputs = [*talk(COOKING), ManualCut(START)]
    assert edges(whole_thread(inputs, policy)) == [3, 6]


def test_no_message_no_cut() -> None:
    assert whole_thread([], DefaultPolicy()) == whole_thread([ManualCut(START)], DefaultPolicy())


@pytest.mark.parametrize("parts", [(COOKING, TAXES), (GARDEN, TAXES), (COOKING, GARDEN, TAXES)])
def test_a_new_topic_is_cut(parts: Sequence[Sequence[str]]) -> None:
    texts = [text for part in parts for text in part]
    indexes = edges(whole_thread([*talk(texts), ManualCut(START)], DefaultPolicy()))
    assert {sum(map(len, parts[:n])) for n in range(1, len(parts))} <= set(indexes)


def test_a_gradual_drift_is_cut_somewhere() -> None:
    assert edges(whole_thread(talk(DRIFT), DefaultPolicy())) != []


@pytest.mark.parametrize("digression", [
    ["Oh, it just started to rain here"],
    ["Wait, the doorbell rang", "Just the parcel for the neighbours"],
    ["Did you feed the cat?", "Yes, an hour ago"],
])  # fmt: skip
def test_a_digression_of_one_or_two_messages_is_not_cut(digression: list[str]) -> None:
    for lines, place in ((COOKING, 5), (GARDEN, 4)):
        segmented = whole_thread(talk([*lines[:place], *digression, *lines[place:]]), DefaultPolicy())
        assert not set(edges(segmented)) & set(range(place, place + len(digression) + 1))


def test_vectors_that_part_at_a_gap_make_a_cut_there_likelier() -> None:
    rng = np.random.default_rng(4)
    topics, texts = rng.normal(size=(2, 32)), [f"Please go on {n}" for n in range(24)]

    def odds(place: int) -> float:
        vectors = [(topics[int(n >= 12)] * 3 + rng.normal(size=32)).astype(np.float32) for n in range(24)]
        return whole_thread(talk(texts, vectors), DefaultPolicy(scale=None)).records[place].probability

    assert odds(12) > max(odds(8), odds(16))


def test_the_peak_surprise_of_an_episode_is_that_of_its_own_messages() -> None:
    segmented = whole_thread([*talk([*COOKING, *TAXES]), ManualCut(START)], DefaultPolicy())
    for cut, low in zip(segmented.cuts, [0, *edges(segmented)], strict=False):
        own = [record.surprise for record in segmented.records if low <= record.seq < cut.before_seq]
        assert cut.surprise == max(own)


@given(st.lists(st.integers(-9, 0), min_size=1, max_size=9), st.integers(2, 4))
def test_a_forced_split_loses_the_least_evidence(evidence: list[int], longest: int) -> None:
    size = len(evidence)

    def fits(places: Sequence[int]) -> bool:
        return all(b - a <= longest for a, b in pairwise([0, *places, size]))

    splits = (some for count in range(size) for some in combinations(range(1, size), count))
    best = max(sum(evidence[place] for place in some) for some in splits if fits(some))
    indexes = forced(evidence, longest)
    assert fits(indexes)
    assert sum(evidence[place] for place in indexes) == best


def test_a_span_of_many_messages_is_split_in_one_pass() -> None:
    indexes = forced([-float(n % 7) for n in range(200_000)], 240)
    assert max(b - a for a, b in pairwise([0, *indexes, 200_000])) <= 240
