"""The pass over a whole thread: it holds what is fixed, finds the best cuts, and leaves a policy to go on with."""

import json
from itertools import combinations, pairwise

import pytest
from core.test_boundary_machine import streams
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from episodic_agent.core.boundary import (
    DRAIN_ALL,
    KEEP_LAST,
    Arrival,
    Boundary,
    Input,
    continued,
    policy,
    replay,
    whole_thread,
)
from episodic_agent.core.boundary.whole import best_cuts
from episodic_agent.schemas import Reason

QUIETLY = settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
SHORT = policy("default", max_length=6)
NAMES = ["default", "default?max_length=6", "default?threshold=0.1", "default?hindsight=0"]


def seqs_of(inputs: list[Input]) -> list[int]:
    return [i.observation.seq for i in inputs if isinstance(i, Arrival)]


def follows(cut: Boundary) -> bool:
    """Tell whether the verdict can be recomputed from what the cut tells (I6)."""
    if cut.reason == Reason.SIZE_CAP:
        return int(str(cut.detail["size"])) >= int(str(cut.detail["max_length"]))
    return cut.edge == DRAIN_ALL or cut.probability >= cut.threshold


def drained(inputs: list[Input]) -> list[int]:
    """Return the seqs before which something asked for a cut and there was something to cut."""
    found, open_ = [], 0
    seq = 0
    for item in inputs:
        if isinstance(item, Arrival):
            seq, open_ = item.observation.seq + 1, open_ + 1
        elif open_:
            found.append(seq)
            open_ = 0
    return found


# --- dynamic programming --------------------------------------------------------------------------------


def by_trying(gains: list[float], fixed: set[int], longest: int) -> float | None:
    """Return the best sum of gains over all allowed sets of cuts."""
    places = range(1, len(gains))
    best: float | None = None
    for count in range(len(gains)):
        for cuts in combinations(places, count):
            pieces = [b - a for a, b in pairwise([0, *cuts, len(gains)])]
            if max(pieces) <= longest and fixed <= set(cuts):
                total = sum(gains[n] for n in cuts if n not in fixed)
                best = total if best is None else max(best, total)
    return best


@QUIETLY
@given(
    st.lists(st.integers(-8, 4).map(float), min_size=1, max_size=9),
    st.sets(st.integers(1, 8), max_size=3),
    st.integers(1, 9),
)
def test_the_chosen_cuts_are_the_best_of_all(gains: list[float], fixed: set[int], longest: int) -> None:
    fixed = {n for n in fixed if n < len(gains)}
    cuts = best_cuts(gains, fixed, longest)
    assert cuts == sorted(set(cuts))
    assert fixed <= set(cuts) <= set(range(1, len(gains)))
    assert max(b - a for a, b in pairwise([0, *cuts, len(gains)])) <= longest
    assert sum(gains[n] for n in cuts if n not in fixed) == by_trying(gains, fixed, longest)


def test_where_only_the_length_asks_for_a_cut_there_are_as_few_as_possible() -> None:
    assert len(best_cuts([-1.0] * 10, set(), 4)) == 2
    assert best_cuts([-1.0] * 4, set(), 4) == []
    assert best_cuts([], set(), 4) == []


# --- the pass -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
@QUIETLY
@given(inputs=streams())
def test_what_is_fixed_stays_and_every_verdict_follows(name: str, inputs: list[Input]) -> None:
    chosen = policy(name)
    done = whole_thread(inputs, chosen)
    seqs = seqs_of(inputs)
    places = [cut.before_seq for cut in done.cuts]
    assert places == sorted(set(places))
    assert {cut.before_seq for cut in done.cuts if cut.edge == DRAIN_ALL} == set(drained(inputs))
    online = replay(inputs, chosen)
    silent = {c.before_seq for c in online.cuts if c.reason == Reason.TIME_GAP and c.probability == 1}
    assert silent <= set(places)
    begun = 0
    for cut in done.cuts:
        assert begun < cut.before_seq <= cut.decided_at_seq + (cut.edge == DRAIN_ALL)
        assert cut.before_seq - begun < chosen.max_length
        assert follows(cut)
        begun = cut.before_seq
    assert len(seqs) - begun < chosen.max_length
    assert {r.seq for r in done.records} == set(seqs)
    assert [r.seq for r in done.records] == sorted(seqs)


@QUIETLY
@given(streams())
def test_an_episodes_surprise_is_the_peak_of_its_own_observations(inputs: list[Input]) -> None:
    done = whole_thread(inputs, policy("default"))
    felt = {r.seq: r.surprise for r in done.records}
    begun = 0
    for cut in done.cuts:
        assert cut.surprise == max(felt[seq] for seq in range(begun, cut.before_seq))
        begun = cut.before_seq


@QUIETLY
@given(streams())
def test_short_threads_are_cut_as_the_policy_judged_them(inputs: list[Input]) -> None:
    """Where no length forces a cut, the best set is every gap over the threshold."""
    chosen = policy("default")
    assert [c.before_seq for c in whole_thread(inputs, chosen).cuts] == [
        c.before_seq for c in replay(inputs, chosen).cuts
    ]


@QUIETLY
@given(streams())
def test_a_policy_whose_cuts_cannot_be_moved_is_replayed(inputs: list[Input]) -> None:
    chosen = policy("seed-001", max_messages=9, min_characters=40)
    online = replay(inputs, chosen)
    done = whole_thread(inputs, chosen)
    assert list(done.cuts) == list(online.cuts)
    assert {r.seq: r for r in done.records} == {r.seq: r for r in online.records}
    assert chosen.pack(continued(inputs, done.cuts, chosen)) == chosen.pack(online.memory)


def test_a_thread_without_observations_has_no_cuts() -> None:
    assert whole_thread([], SHORT).cuts == []
    assert continued([], (), SHORT) == SHORT.begin()


# --- going on -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
@QUIETLY
@given(inputs=streams())
def test_the_memory_that_goes_on_stands_in_the_frame_the_last_cut_left(
    name: str, inputs: list[Input]
) -> None:
    chosen = policy(name)
    done = whole_thread(inputs, chosen)
    memory = continued(inputs, done.cuts, chosen)
    seqs = seqs_of(inputs)
    opened = done.cuts[-1].before_seq if done.cuts else 0
    held = [seq for seq in seqs if seq >= opened]
    assert memory.size + len(memory.pending) == len(held)
    assert memory.position + len(memory.pending) == len(seqs)  # and all habits of the thread
    if memory.size:
        assert memory.first_seq == opened
    packed = json.dumps(chosen.pack(memory))
    assert len(packed) <= 16_384
    assert chosen.pack(chosen.unpack(json.loads(packed))) == chosen.pack(memory)


def test_cuts_made_by_nobody_drain_nothing_that_was_asked_for() -> None:
    cut = Boundary(3, 5, Reason.TOPIC_SHIFT, 0.9, 0.4, edge=KEEP_LAST)
    assert continued([], [cut], SHORT) == SHORT.begin()
