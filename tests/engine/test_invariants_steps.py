"""What must hold of threads of steps as of any other: batches, restarts, replay; and what is theirs alone."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from builders.examples import share
from engine.test_invariants import (
    CHAT,
    LONG_PLANS,
    QUIETLY,
    ROBOT,
    STEP_POLICIES,
    TROUBLES,
    Flush,
    Plan,
    World,
    check,
    frames,
    segmented,
    world,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from episodic_agent.core.boundary.contract import Arrival
from episodic_agent.engine.boundary.explain import stored_inputs
from episodic_agent.protocols import OBSERVATIONS
from episodic_agent.providers.embedders.hashing import HashingEmbedder
from episodic_agent.schemas import Scope

WALK: Plan = tuple((n, 1) for n in range(18))


@settings(max_examples=share(25), **QUIETLY)
@given(
    st.sampled_from(("default", *STEP_POLICIES)),
    LONG_PLANS,
    st.lists(st.integers(1, 20), min_size=1, max_size=6),
    TROUBLES,
)
def test_batches_restarts_and_late_vectors_change_no_episode_of_steps(
    policy: str, plan: Plan, sizes: Sequence[int], troubles: Sequence[Any]
) -> None:
    one_by_one = segmented(policy, plan, [1], [], ROBOT)
    assert segmented(policy, plan, [len(plan)], [], ROBOT) == one_by_one
    assert segmented(policy, plan, sizes, troubles, ROBOT) == one_by_one


@pytest.mark.parametrize("policy", STEP_POLICIES)
def test_a_cut_of_the_policys_own_that_closes_all_is_no_recorded_input(policy: str) -> None:
    with world(policy) as w:
        w.add("ana", ROBOT, w.messages("ana", ROBOT, WALK))
        w.memory.user("ana").flush()
        with w.store.begin(Scope("ana"), write=False) as tx:
            (thread,) = tx.threads.list()
            inputs = list(stored_inputs(tx, thread.id, w.embedder.name))
            reasons = [e.reason for e in tx.episodes.list(threads=[thread.id])]
        assert sum(not isinstance(one, Arrival) for one in inputs) == reasons.count("manual") <= 1
        assert len(reasons) > 2
        check(w)


def test_a_thread_of_steps_has_the_default_for_steps_and_one_of_messages_its_own() -> None:
    with world("default?threshold=0.45") as w:
        w.add("ana", ROBOT, w.messages("ana", ROBOT, WALK))
        w.add("ana", "kitchen", w.messages("ana", "kitchen", CHAT))
        with w.store.begin(Scope("ana"), write=False) as tx:
            texts = {t.origin: tx.threads.frame(t.id).policy for t in tx.threads.list()}
        assert texts == {ROBOT: "steps-2027-02", "kitchen": "default-2027-03?threshold=0.45"}
        assert w.memory.user("ana").boundaries.whatif(ROBOT, "default").policy == "steps-2027-02"
        assert w.memory.user("ana").boundaries.resegment(ROBOT, dry_run=True).policy == "steps-2027-02"


def bare(w: World) -> int:
    """Count the observations without a vector."""
    with w.store.begin(Scope("ana"), write=False) as tx:
        return len(tx.index.unindexed(OBSERVATIONS, w.embedder.name, limit=99))


def test_steps_without_a_vector_are_decided_at_once_and_get_theirs_later() -> None:
    with world("default") as w:
        w.embedder.away = True
        w.add("ana", ROBOT, w.messages("ana", ROBOT, WALK))
        (frame,) = frames(w)
        assert (frame.cursor, frame.next_seq) == (len(WALK), len(WALK))
        assert [job.kind for job in w.memory.user("ana").jobs.list()].count("embed") == 1
        assert bare(w) == len(WALK)
        check(w)
        assert bare(w) == 0
        (after,) = frames(w)
        assert replace(after, version=frame.version) == frame


def test_messages_closed_without_their_vectors_get_them_later() -> None:
    with world("default") as w:
        w.embedder.away = True
        w.add("ana", "kitchen", w.messages("ana", "kitchen", CHAT))
        Flush("ana").run(w)
        assert (len(w.memory.user("ana").episodes.list()), bare(w)) == (1, len(CHAT))
        check(w)
        assert bare(w) == 0


def test_another_embedder_changes_nothing_for_steps() -> None:
    with world("default") as w:
        w.add("ana", ROBOT, w.messages("ana", ROBOT, WALK[:9]))
        (before,) = frames(w)
        w.memory.close()
        w.embedder.inner = HashingEmbedder(32)
        w.open()
        w.add("ana", ROBOT, w.messages("ana", ROBOT, WALK[9:]))
        w.embedder.inner = HashingEmbedder(64)
        (after,) = frames(w)
        assert (before.embedder, after.embedder) == ("hashing-64", "hashing-32")
    with world("default") as w:
        messages = w.messages("ana", ROBOT, WALK[:9]) + w.messages("ana", ROBOT, WALK[9:])
        w.add("ana", ROBOT, messages)
        (undisturbed,) = frames(w)
        assert undisturbed.state == after.state


def test_a_frame_whose_policy_nobody_knows_any_more_begins_again_under_the_wanted_one() -> None:
    with world("stub?freeze_interval=9") as w:
        w.add("ana", ROBOT, w.messages("ana", ROBOT, WALK[:5]))
        with w.store.begin(Scope("ana")) as tx:
            (thread,) = tx.threads.list()
            tx.threads.save(replace(tx.threads.frame(thread.id), policy="gone.module:Detector"))
        w.add("ana", ROBOT, w.messages("ana", ROBOT, WALK[5:]))
        check(w)
