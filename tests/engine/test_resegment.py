"""`resegment` and its undo: what stays, what is new, where the thread goes on, and that undo is exact."""

import json
import random
import threading
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from builders.chats import BREAD, CELLO, LISBON, TAP, Clock, diary, mine, say, talk
from builders.embedders import TopicEmbedder, Unreliable
from builders.examples import first, share
from builders.faulty import FaultyStore
from conftest import OpenMemory
from engine.test_invariants import (
    PASSES,
    POLICIES,
    QUIETLY,
    STEP_POLICIES,
    Add,
    EmbedderIs,
    Flush,
    Reopen,
    Resegment,
    Work,
    world,
)
from hypothesis import event, given, settings
from hypothesis import strategies as st

from episodic_agent import Memory
from episodic_agent.data import demo_folder
from episodic_agent.engine.boundary.generations import last_resegmenting, resegmenting_id
from episodic_agent.engine.boundary.segmenting import inheriting
from episodic_agent.errors import Conflict, InvalidInput, NotFound, ProviderUnavailable
from episodic_agent.protocols import EPISODES, Store, stored_decision
from episodic_agent.schemas import Episode, Scope, Thread

DEMO = demo_folder() / "maya-work.jsonl"
THREAD = "chat"
THREES = "seed-001?max_messages=3"
FEWER = "seed-001?gap_minutes=3000"
CHAT = [json.loads(line) for line in DEMO.read_text(encoding="utf-8").splitlines()]
CHAT = [{**m, "conversation_id": THREAD} for m in CHAT]


def store_of(memory: Memory) -> Store:
    return memory._deps.store


def thread_of(memory: Memory, user: str = "default") -> Thread:
    with store_of(memory).begin(Scope(user), write=False) as tx:
        (thread,) = tx.threads.list()
        return thread


def spans(memory: Memory, generation: int | None = None) -> list[tuple[int, int]]:
    with store_of(memory).begin(Scope(), write=False) as tx:
        (thread,) = tx.threads.list()
        return [
            (e.first_seq, e.last_seq) for e in tx.episodes.list(threads=[thread.id], generation=generation)
        ]


def episodes(memory: Memory) -> list[Episode]:
    with store_of(memory).begin(Scope(), write=False) as tx:
        return [e for t in tx.threads.list() for e in tx.episodes.list(threads=[t.id])]


def exported(memory: Memory) -> list[str]:
    return list(mine(memory).export())[1:]


def timeless(memory: Any, user: str = "default") -> list[dict[str, Any]]:
    """Return an export without the record times, which tell when something was computed."""
    lines = [json.loads(line) for line in list(memory.user(user).export())[1:]]
    for line in lines:
        if line["type"] in ("episode", "encoding"):
            line.pop("created_at", None)
            line.pop("consolidated_at", None)
        if line["type"] == "decision":
            line.pop("at", None)
        if line.get("kind") == "primary":  # a part keeps the link of its close: what it hung on is over
            line.pop("parent_episode_id", None)
    # what was read for facts, and what waits for it still, depends on when the third episode came
    return [
        line
        for line in lines
        if line.get("decision_type") not in ("facts", "chain") and "fact" not in line["type"]
    ]


def assert_sound(memory: Memory, *, waits: bool = False) -> None:
    """Nothing wrong, nothing waiting, and the index of episodes holds those of today and no others."""
    assert [one for one in memory.doctor() if not (waits and one.severity == "note")] == []
    with store_of(memory).begin(Scope(), write=False) as tx:
        assert tx.index.statistics(EPISODES, []).documents == tx.count("episodes")
        assert tx.index.unindexed(EPISODES, memory._deps.embedder_name, limit=99) == []


@pytest.fixture
def memory(open_memory: OpenMemory, url: str) -> Memory:
    return open_memory(path=url)


# --- a new generation -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_unchanged_spans_keep_everything_and_the_rest_is_new(memory: Memory) -> None:
    mine(memory).add([*diary(), say("one more about the bread", 3 * 1440 + 9)])
    mine(memory).flush()
    before = episodes(memory)
    assert spans(memory) == [(0, 3), (4, 7), (8, 11), (12, 16)]
    done = mine(memory).boundaries.resegment(THREAD, "seed-001?max_messages=4")
    assert (done.kept, done.replaced, done.new, done.generation) == (3, 1, 2, 1)
    assert spans(memory) == [(0, 3), (4, 7), (8, 11), (12, 15), (16, 16)]
    after = episodes(memory)
    assert after[:3] == before[:3]  # row, id, strength, words
    assert all(e.generation_from == 1 and e.summary and e.encoding_version == 1 for e in after[3:])
    assert [e.reason for e in after[3:]] == ["size_cap", "manual"]
    assert spans(memory, 0) == [(0, 3), (4, 7), (8, 11), (12, 16)]
    assert thread_of(memory).generation == 1
    assert_sound(memory)


def test_replaced_episodes_are_in_no_listing_and_no_recall(memory: Memory) -> None:
    mine(memory).add(diary())
    old = [c.episode_id for c in mine(memory).episodes.list()]
    mine(memory).boundaries.resegment(THREAD, THREES)
    shown = {c.episode_id for c in mine(memory).episodes.list()}
    assert not shown & set(old)
    assert {c.episode_id for c in mine(memory).episodes.recent(limit=99)} == shown
    assert mine(memory).stats().episodes == 5
    for question in ("the kitchen tap", "flights to Lisbon", "cello strings", "sourdough bread"):
        for policy in ("default", "seed-003"):
            hits = mine(memory).search(question, limit=20, policy=policy).hits
            assert {h.episode_id for h in hits} <= shown
    assert (
        mine(memory).episodes.replaced() == [i for i in old if i not in shown][:3]
    )  # the open frame was no episode yet


def test_a_new_episode_inherits_strength_by_the_observations_it_shares() -> None:
    at = datetime(2024, 5, 1, tzinfo=UTC)

    def episode(first: int, last: int, **more: Any) -> Episode:
        full = {"stability": 2.0, "difficulty": 2.0, "last_reviewed_at": at, **more}
        return Episode(
            UUID(int=first), UUID(int=9), first, last, at, at, at, reason="time_gap", surprise=0.0, **full
        )

    reviewed = episode(0, 3, stability=10.0, difficulty=6.0, last_reviewed_at=at + timedelta(days=4))
    other = episode(4, 9, stability=4.0, difficulty=3.0)
    far = episode(20, 30, stability=99.0, difficulty=9.0)
    mixed = inheriting(episode(2, 5), [reviewed, other, far])
    assert (mixed.stability, mixed.difficulty) == (7.0, 4.5)
    assert mixed.last_reviewed_at == at + timedelta(days=2)
    partly = inheriting(episode(3, 3 + 3), [reviewed])  # three of its four were in the open frame
    assert (partly.stability, partly.difficulty) == (4.0, 3.0)
    assert partly.last_reviewed_at == at + timedelta(days=1)
    assert inheriting(episode(10, 12), [reviewed, other]) == episode(10, 12)


def test_a_dry_run_tells_what_would_come_and_writes_nothing(memory: Memory) -> None:
    mine(memory).add(diary())
    before = exported(memory)
    would = mine(memory).boundaries.resegment(THREAD, THREES, dry_run=True)
    assert exported(memory) == before
    assert (would.written, would.generation) == (False, 0)
    done = mine(memory).boundaries.resegment(THREAD, THREES)
    assert replace(done, written=False, generation=0) == would
    assert [(s.first_seq, s.last_seq) for s in done.proposed[:-1]] == spans(memory)


def test_where_nothing_changes_nothing_is_written(memory: Memory) -> None:
    mine(memory).add(diary())
    before = exported(memory)
    done = mine(memory).boundaries.resegment(THREAD)
    assert (done.written, done.kept, done.replaced, done.new) == (False, 3, 0, 0)
    assert exported(memory) == before
    mine(memory).boundaries.resegment(THREAD, THREES)
    again = mine(memory).boundaries.resegment(THREAD, THREES)
    assert (again.written, again.generation) == (False, 1)


def test_flushes_and_the_clocks_cuts_stay(open_memory: OpenMemory, clock: Clock) -> None:
    memory = open_memory(policy="default")
    mine(memory).add(talk(TAP, 0)[:2])
    mine(memory).flush()
    mine(memory).add([*talk(TAP, 0)[2:], *talk(BREAD, 1)])
    clock.forward(days=40)
    assert memory.upkeep() == 1
    mine(memory).add(say("and another day", 50 * 1440))
    assert {1, 3, 7} <= {last for _, last in spans(memory)}
    for policy in (FEWER, "seed-001?max_messages=50", "default?threshold=0.99"):
        mine(memory).boundaries.resegment(THREAD, policy)
        assert {1, 7} <= {last for _, last in spans(memory)}
        assert_sound(memory)
    with store_of(memory).begin(Scope(), write=False) as tx:
        (*_, last) = tx.episodes.list(threads=[thread_of(memory).id])
        decision = stored_decision(tx, last.decision_id)
    assert decision is not None
    assert "tick" in str(decision.detail["input"])


def test_messages_that_were_judged_without_vectors_are_counted(open_memory: OpenMemory) -> None:
    mine(open_memory(embedder=TopicEmbedder("tap"))).add(diary())
    memory = open_memory(embedder=TopicEmbedder("tap", name="others"))
    assert mine(memory).boundaries.resegment(THREAD, THREES, dry_run=True).unembedded == 16
    assert (
        mine(open_memory(embedder="none")).boundaries.resegment(THREAD, THREES, dry_run=True).unembedded == 16
    )
    memory.doctor(repair=True)
    assert mine(memory).boundaries.resegment(THREAD, THREES).unembedded == 0
    assert_sound(memory)


def test_unknown_names_are_refused(memory: Memory) -> None:
    mine(memory).add(diary())
    memory.user("bo").add("hello", thread="garden")
    with pytest.raises(InvalidInput, match="did you mean 'seed-001'"):
        mine(memory).boundaries.resegment(THREAD, "seed-01")
    for attempt in (
        lambda: mine(memory).boundaries.resegment("kitchn"),
        lambda: mine(memory).boundaries.undo("kitchn"),
        lambda: mine(memory).boundaries.resegment("garden"),  # another user's
        lambda: mine(memory).boundaries.undo("garden"),
        lambda: memory.user("cleo").boundaries.resegment("garden"),
    ):
        with pytest.raises(NotFound):
            attempt()


# --- ids of before --------------------------------------------------------------------------------------


def test_an_old_id_leads_to_what_shares_most_with_it(memory: Memory) -> None:
    mine(memory).add(diary())
    old = [c.episode_id for c in mine(memory).episodes.list()][:3]
    mine(memory).boundaries.resegment(THREAD, THREES)  # 0-2 3-5 6-8 9-11 12-14 and the rest open
    now = [c.episode_id for c in mine(memory).episodes.list()]
    assert [mine(memory).episodes.successor(i) for i in old] == [
        now[0],
        now[1],
        now[3],
    ]  # of 4-7 the earlier of two equals
    assert mine(memory).episodes.get(old[0]).id == now[0]
    assert mine(memory).episodes.messages(old[0]) == mine(memory).episodes.messages(now[0])
    assert mine(memory).episodes.history(old[0]) == mine(memory).episodes.history(now[0])
    explanation = mine(memory).boundaries.explain(old[0])
    assert (explanation.asked, explanation.episode.id) == (old[0], now[0])
    assert mine(memory).boundaries.explain(now[0]).asked is None
    mine(memory).boundaries.resegment(THREAD, FEWER)  # everything becomes one open frame
    (frame,) = mine(memory).episodes.list()
    assert {mine(memory).episodes.successor(i) for i in (*old, *now[:5])} == {frame.episode_id}
    assert len(mine(memory).episodes.messages(old[2])) == 16
    assert mine(memory).boundaries.explain(now[1]).episode.id == frame.episode_id
    with pytest.raises(NotFound, match="in the open frame"):
        mine(memory).episodes.get(old[0])
    assert mine(memory).episodes.successor(UUID(int=5)) == UUID(int=5)
    mine(memory).boundaries.undo(THREAD)
    mine(memory).boundaries.undo(THREAD)
    assert [mine(memory).episodes.successor(i) for i in old] == old
    assert mine(memory).episodes.replaced() == []


# --- undo -----------------------------------------------------------------------------------------------


PAIRS = [
    (began, policy)
    for policy in (THREES, FEWER, "default?threshold=0.05", "default?max_length=3")
    for began in ("seed-001", "default")
]
QUICK = [PAIRS[n] for n in (3, 4)]  # one after each


@pytest.mark.parametrize(
    ("began", "policy"), [pytest.param(*p, marks=() if p in QUICK else pytest.mark.slow) for p in PAIRS]
)
def test_undo_restores_everything_to_the_byte(open_memory: OpenMemory, began: str, policy: str) -> None:
    memory = open_memory(policy=began)
    mine(memory).add(CHAT)
    before, recall = exported(memory), mine(memory).search("the release and the budget", explain=True)
    assert mine(memory).boundaries.resegment(THREAD, policy).written
    assert exported(memory) != before
    mine(memory).search("the release and the budget")
    undone = mine(memory).boundaries.undo(THREAD)
    assert (undone.generation, undone.later) == (0, 0)
    assert exported(memory) == before
    assert mine(memory).search("the release and the budget", explain=True) == recall
    assert_sound(memory)


@pytest.mark.slow
def test_undo_goes_back_one_generation_each_time(memory: Memory) -> None:
    mine(memory).add(CHAT)
    states = [exported(memory)]
    for policy in (THREES, "default?threshold=0.1", FEWER, "default"):
        assert mine(memory).boundaries.resegment(THREAD, policy).generation == len(states)
        states.append(exported(memory))
    while len(states) > 1:
        assert exported(memory) == states.pop()
        assert mine(memory).boundaries.undo(THREAD).generation == len(states) - 1
    assert exported(memory) == states[0]
    with pytest.raises(NotFound, match="was not segmented again: there is nothing to undo"):
        mine(memory).boundaries.undo(THREAD)
    assert_sound(memory)


@pytest.mark.slow
def test_what_came_since_is_segmented_as_if_nothing_had_happened(
    open_memory: OpenMemory, url: str, tmp_path: Path, clock: Clock
) -> None:
    cut = len(CHAT) // 2
    reported_memory, quiet = (
        open_memory(path=url, policy="default"),
        open_memory(path=tmp_path / "quiet.db", policy="default"),
    )
    for memory in (reported_memory, quiet):
        mine(memory).add(CHAT[:cut])
    assert mine(reported_memory).boundaries.resegment(THREAD, THREES).written
    for memory in (reported_memory, quiet):
        mine(memory).flush()  # what THREES left open and what was open before end at the same message
        mine(memory).add(CHAT[cut : cut + 9])
        mine(memory).flush()
        mine(memory).add(CHAT[cut + 9 :])
    undone = mine(reported_memory).boundaries.undo(THREAD)
    assert undone.later == len(CHAT) - cut
    assert timeless(reported_memory) == timeless(quiet)
    assert_sound(reported_memory)
    for memory in (reported_memory, quiet):
        clock.forward(days=900)
        memory.upkeep()
        clock.forward(days=-900)
    assert timeless(reported_memory)[3:] != []
    assert [s[0] for s in spans(reported_memory)] == [s[0] for s in spans(quiet)]


def test_an_episode_that_had_no_words_yet_gets_them_after_the_undo(open_memory: OpenMemory, url: str) -> None:
    lazy = open_memory(path=url, jobs="workers")
    mine(lazy).add(diary())
    mine(lazy).boundaries.resegment(THREAD, THREES)
    mine(lazy).boundaries.undo(THREAD)
    memory = open_memory(path=url, resume=False)  # in the background the jobs would not be this call's
    memory.jobs.run()
    assert all(e.summary for e in episodes(memory))
    assert_sound(memory)


def test_an_undo_without_its_embedder_changes_nothing(open_memory: OpenMemory) -> None:
    embedder = Unreliable(TopicEmbedder("tap", "lisbon", "cello", "bread"))
    memory = open_memory(embedder=embedder)
    mine(memory).add(diary())
    before = exported(memory)
    mine(memory).boundaries.resegment(THREAD, THREES)
    after = exported(memory)
    embedder.down = True
    with pytest.raises(ProviderUnavailable):
        mine(memory).boundaries.undo(THREAD)
    assert exported(memory) == after
    embedder.down = False
    mine(memory).boundaries.undo(THREAD)
    assert exported(memory) == before
    assert_sound(memory)


SMALL = st.lists(
    st.tuples(st.integers(0, 60), st.sampled_from([0, 1, 1, 2, 20, 500, 3000, None])), min_size=1, max_size=8
).map(tuple)
HAPPENS = st.one_of(
    st.builds(Add, user=st.just("ana"), thread=st.just("kitchen"), plan=SMALL, again=st.integers(0, 2)),
    st.builds(Add, user=st.just("ana"), thread=st.just("kitchen"), plan=SMALL, again=st.just(0)),
    st.builds(Flush, user=st.just("ana")),
    st.builds(Reopen, policy=st.none()),
    st.builds(EmbedderIs, away=st.booleans()),
    st.builds(Work, minutes=st.sampled_from([0, 60])),
)
AGAIN = st.builds(
    Resegment,
    user=st.just("ana"),
    thread=st.just("kitchen"),
    # not those for steps: they close everything, and a flush that then finds nothing open leaves no trace
    # that an undo could repeat
    policy=st.sampled_from([policy for policy in PASSES if policy not in STEP_POLICIES]),
    whole=st.booleans(),
)


def lived(policy: str, before: Sequence[Any], passes: Sequence[Any], after: Sequence[Any]) -> tuple[Any, int]:
    """Let things happen, with passes among them that are undone in the end; return what is there then."""
    with world(policy) as w:
        w.add("ana", "kitchen", w.messages("ana", "kitchen", ((0, 1), (1, 1), (2, 20))))
        for happening in before:
            if not (isinstance(happening, Flush) and w.blind()):  # it would close what has no vectors yet
                happening.run(w)
        for item in passes:
            item.run(w)
        for happening in after:
            if not (isinstance(happening, Flush) and w.blind()):
                happening.run(w)
        w.embedder.away = False
        undone = 0
        while True:
            try:
                w.memory.user("ana").boundaries.undo("kitchen")
                undone += 1
            except NotFound:
                break
        w.settle()
        assert w.memory.doctor() == []
        return timeless(w.memory, "ana"), undone


@settings(max_examples=share(25), **QUIETLY)
@given(
    st.sampled_from(POLICIES),
    st.lists(HAPPENS, max_size=5),
    st.lists(AGAIN, min_size=1, max_size=3),
    st.lists(HAPPENS, max_size=5),
)
def test_after_its_undo_a_resegment_leaves_no_trace(
    policy: str, before: Sequence[Any], passes: Sequence[Any], after: Sequence[Any]
) -> None:
    result, undone = lived(policy, before, passes, after)
    event(f"passes undone: {undone}")
    assert result == lived(policy, before, [], after)[0]


@pytest.mark.slow
@settings(max_examples=25, **QUIETLY)
@given(
    st.sampled_from(POLICIES),
    st.lists(HAPPENS, max_size=12),
    st.lists(AGAIN, min_size=1, max_size=4),
    st.lists(HAPPENS, max_size=12),
)
def test_after_its_undo_a_resegment_leaves_no_trace_at_length(
    policy: str, before: Sequence[Any], passes: Sequence[Any], after: Sequence[Any]
) -> None:
    assert lived(policy, before, passes, after)[0] == lived(policy, before, [], after)[0]


# --- going on -------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["seed-001", "default", THREES])
def test_online_it_is_as_if_the_thread_had_been_told_under_that_policy(
    open_memory: OpenMemory, tmp_path: Path, policy: str
) -> None:
    began = "default?max_length=3" if policy == "default" else "default"
    mine(open_memory(policy=began)).add(CHAT[:40])
    again = open_memory(policy=policy)
    assert mine(again).boundaries.resegment(THREAD, complete=False).mode == "online"
    reported_memory = open_memory(path=tmp_path / "told.db", policy=policy)
    mine(reported_memory).add(CHAT[:40])
    for memory in (again, reported_memory):
        mine(memory).add(CHAT[40:])
    with (
        store_of(again).begin(Scope(), write=False) as transaction,
        store_of(reported_memory).begin(Scope(), write=False) as two,
    ):
        frames = [replace(tx.threads.frame(tx.threads.list()[0].id), version=0) for tx in (transaction, two)]
    assert frames[0] == frames[1]
    assert spans(again) == spans(reported_memory)
    assert_sound(again)


def pieces(messages: Sequence[dict[str, Any]], seed: int) -> list[list[dict[str, Any]]]:
    chosen, cuts = random.Random(seed), [0]
    while cuts[-1] < len(messages):
        cuts.append(min(len(messages), cuts[-1] + chosen.randint(1, 7)))
    return [list(messages[a:b]) for a, b in pairwise(cuts)]


@pytest.mark.parametrize("policy", first(1, [THREES, "default?threshold=0.7", "default?max_length=6"]))
def test_the_thread_goes_on_alike_however_batched_and_restarted(
    open_memory: OpenMemory, tmp_path: Path, policy: str
) -> None:
    results = []
    for run, seed in enumerate([None, 1, 2]):
        path = tmp_path / f"{run}.db"
        memory = open_memory(path=path, policy="default")
        mine(memory).add(CHAT[:35])
        assert mine(memory).boundaries.resegment(THREAD, policy).written
        for piece in [CHAT[35:]] if seed is None else pieces(CHAT[35:], seed):
            mine(memory).add(piece)
            if seed == 2:
                memory.close()
                memory = open_memory(path=path, policy="default")
        assert_sound(memory)
        results.append(timeless(memory))
    for result in results:  # how often the frame was written is no part of an export
        assert result == results[0]


def test_what_waits_for_a_vector_is_no_part_of_the_pass_and_follows_it(
    open_memory: OpenMemory, clock: Clock
) -> None:
    embedder = Unreliable(TopicEmbedder("tap", "lisbon", "cello", "bread"))
    memory = open_memory(embedder=embedder)
    mine(memory).add(diary()[:8])
    embedder.down = True
    mine(memory).add(diary()[8:])
    done = mine(memory).boundaries.resegment(THREAD, THREES)
    assert [(s.first_seq, s.last_seq) for s in done.proposed] == [(0, 2), (3, 5), (6, 15)]
    with store_of(memory).begin(Scope(), write=False) as tx:
        frame = tx.threads.frame(done.thread_id)
    assert (frame.first_seq, frame.cursor, frame.next_seq) == (6, 8, 16)
    embedder.down = False
    clock.forward(hours=1)
    memory.jobs.run()
    # its first cut is still the pass's policy's, then the memory's goes on
    assert spans(memory) == [(0, 2), (3, 5), (6, 8), (9, 11)]
    assert_sound(memory)
    embedder.down = True
    mine(memory).add(say("more", 4 * 1440, "user"))
    embedder.down = False
    undone = mine(memory).boundaries.undo(THREAD)
    assert undone.later == 1
    clock.forward(hours=1)
    memory.jobs.run()
    assert spans(memory) == [(0, 3), (4, 7), (8, 11), (12, 15)]
    assert_sound(memory)


# --- others at the same time ----------------------------------------------------------------------------


def test_a_thread_that_went_on_meanwhile_is_read_again(open_memory: OpenMemory) -> None:
    memory = open_memory()
    mine(memory).add(diary())
    faulty = FaultyStore(store_of(memory))
    memory._works.resegmenter = replace(memory._works.resegmenter, deps=replace(memory._deps, store=faulty))
    faulty.at_commit.extend([Conflict("somebody was faster"), Conflict("again")])
    assert mine(memory).boundaries.resegment(THREAD, THREES).new == 5
    assert faulty.writes == 3
    faulty.at_commit.extend([Conflict("somebody was faster")] * 20)
    before = exported(memory)
    with pytest.raises(Conflict):
        mine(memory).boundaries.undo(THREAD)
    assert exported(memory) == before


@pytest.mark.slow
def test_messages_added_while_it_is_segmented_again_are_all_there(open_memory: OpenMemory, url: str) -> None:
    memory, other = open_memory(path=url, policy="default"), open_memory(path=url, policy="default")
    mine(memory).add(CHAT[:20])
    failed: list[BaseException] = []

    def add() -> None:
        try:
            for message in CHAT[20:]:
                mine(other).add([message])
        except BaseException as error:
            failed.append(error)
            raise

    adding = threading.Thread(target=add)
    adding.start()
    turns = 0
    while adding.is_alive() or turns < 4:
        try:
            if turns % 3 == 2:
                mine(memory).boundaries.undo(THREAD)
            else:
                mine(memory).boundaries.resegment(THREAD, (THREES, "default?threshold=0.2")[turns % 3])
        except (Conflict, NotFound):
            pass  # the other was faster all the time, or there is nothing to undo
        turns += 1
    adding.join()
    assert failed == []
    while memory.jobs.run() + other.jobs.run():  # what one has leased the other leaves alone
        pass
    assert mine(memory).stats().observations == len(CHAT)
    assert_sound(memory, waits=True)  # for its next try: what lost to the other
    while thread_of(memory).generation:
        mine(memory).boundaries.undo(THREAD)
    assert_sound(memory, waits=True)


def test_words_of_an_episode_that_was_replaced_meanwhile_are_not_indexed(
    open_memory: OpenMemory, url: str
) -> None:
    changing = open_memory(path=url, jobs="workers")

    class Meanwhile(TopicEmbedder):
        then: Any = None

        def embed(self, texts: Sequence[str]) -> Any:
            then, self.then = self.then, None
            if then is not None:
                then()
            return super().embed(texts)

    embedder = Meanwhile("tap")
    memory = open_memory(path=url, embedder=embedder, jobs="workers")
    mine(memory).add(diary())
    working = open_memory(path=url, embedder=embedder, resume=False)  # nobody else takes its jobs
    embedder.then = lambda: mine(changing).boundaries.resegment(
        THREAD, "seed-001?max_messages=6&gap_minutes=9999"
    )
    working.jobs.run()
    while working.jobs.run():
        pass
    with store_of(working).begin(Scope(), write=False) as tx:
        assert tx.index.statistics(EPISODES, []).documents == tx.count("episodes") == 2
    assert [f for f in working.doctor() if f.severity == "error"] == []


# --- kept, moved, checked -------------------------------------------------------------------------------


@pytest.mark.slow
def test_an_export_of_a_resegmented_thread_is_restored_equal_without_history(
    memory: Memory, open_memory: OpenMemory, tmp_path: Path
) -> None:
    mine(memory).add(CHAT[:40])
    mine(memory).boundaries.resegment(THREAD, THREES)
    mine(memory).boundaries.resegment(THREAD, "default?threshold=0.2")
    file = tmp_path / "export.jsonl"
    file.write_text("".join(line + "\n" for line in mine(memory).export()), encoding="utf-8")
    copy = open_memory(path=tmp_path / "copy.db")
    assert mine(copy).import_file(file).unreadable == []
    assert exported(copy) == exported(memory)
    assert_sound(copy)
    with pytest.raises(NotFound, match="an export holds no history"):
        mine(copy).boundaries.undo(THREAD)
    for each in (memory, copy):
        mine(each).add(CHAT[40:])
    assert timeless(copy) == timeless(memory)
    assert mine(copy).boundaries.resegment(THREAD, FEWER).generation == 3
    assert mine(copy).boundaries.undo(THREAD).generation == 2
    assert timeless(copy) == timeless(memory)


def tamper(memory: Memory, **changed: Any) -> None:
    """Change what is recorded of the last pass."""
    with store_of(memory).begin(Scope()) as tx:
        thread = tx.threads.list()[0]
        made = last_resegmenting(tx, thread)
        assert made is not None
        tx.knowledge.revoke(made.id)
        tx.knowledge.decide(replace(made, **changed))


def findings(memory: Memory) -> list[tuple[str, str]]:
    return [(f.severity, f.invariant) for f in memory.doctor()]


@pytest.mark.slow
def test_the_doctor_repeats_the_pass(memory: Memory, open_memory: OpenMemory, url: str) -> None:
    mine(memory).add(CHAT)
    mine(memory).boundaries.resegment(THREAD, THREES)
    assert findings(memory) == []
    assert ("note", "I7") in findings(open_memory(path=url, embedder="none"))
    tamper(memory, policy_version="seed-001?max_messages=4")
    assert findings(memory) == [("error", "I7")]
    tamper(memory, policy_version="seed-1999")
    assert findings(memory) == [("note", "I7")]
    tamper(memory, policy_version=THREES, verdict="whole-1999")
    assert findings(memory) == [("note", "I7")]
    tamper(memory, verdict="online")
    assert findings(memory) == []
    with store_of(memory).begin(Scope()) as tx:
        tx.knowledge.revoke(resegmenting_id(tx.threads.list()[0].id, 1))
    assert findings(memory) == [("error", "I6")]


def test_the_decision_tells_who_segmented_and_what_became_of_the_episodes(memory: Memory) -> None:
    mine(memory).add([*diary(), say("one more about the bread", 3 * 1440 + 9)])
    mine(memory).flush()
    mine(memory).boundaries.resegment(THREAD, "seed-001?max_messages=4", complete=False)
    with store_of(memory).begin(Scope(), write=False) as tx:
        (decision,) = tx.knowledge.decisions(type="resegment")
    assert (decision.verdict, decision.policy_version) == ("online", "seed-001?max_messages=4")
    assert decision.features == {"kept": 3.0, "replaced": 1.0, "new": 2.0}


def test_cuts_of_a_whole_pass_say_so(open_memory: OpenMemory) -> None:
    memory = open_memory(policy="default")
    mine(memory).add([*talk(TAP, 0), *talk(LISBON, 0.01), *talk(CELLO, 0.02), *talk(BREAD, 1)])
    mine(memory).boundaries.resegment(THREAD, "default?max_length=4")
    assert max(e.size for e in episodes(memory)) == 3
    with store_of(memory).begin(Scope(), write=False) as tx:
        decisions = tx.knowledge.decisions(type="boundary")
    assert {d.detail.get("mode") for d in decisions} >= {"whole-2026-12"}
    assert any(
        "too long" in mine(memory).boundaries.explain(c.episode_id).ends.sentence
        for c in mine(memory).episodes.list()[:-1]
    )
    assert_sound(memory)
