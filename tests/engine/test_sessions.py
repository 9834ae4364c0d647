"""Sessions a caller frames: started once, ended once, chained by topic and again by words."""

import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from builders.chats import Clock, mine
from builders.commands import Run
from builders.sessions import AGAIN, BREAD, LEAK, NINE, ON_AGAIN, ON_BREAD, ON_LEAK, at, hold, is_sound, say
from builders.steps import step_fields

from episodic_agent import Memory
from episodic_agent.core.chains.deciding import follows
from episodic_agent.engine.threads.sessions import Session
from episodic_agent.errors import InvalidInput, NotFound
from episodic_agent.schemas import Decision, EpisodeState, Scope, Vector
from episodic_agent.stores import faults

OpenMemory = Callable[..., Memory]


class Angles:
    """An embedder that places a text by the word it holds, at a cosine from the first axis."""

    name, dimensions = "angles", 3

    def __init__(self, **cosines: float) -> None:
        self.cosines = cosines

    def embed(self, texts: Sequence[str]) -> Vector:
        vectors = np.zeros((len(texts), 3), np.float32)
        for vector, text in zip(vectors, texts, strict=True):
            values = [c for word, c in self.cosines.items() if word in text.lower()]
            vector[:] = (values[0], np.sqrt(1 - values[0] ** 2), 0.0) if values else (0.0, 0.0, 1.0)
        return vectors


def decisions(memory: Memory, episode: UUID) -> list[Decision]:
    with memory._deps.store.begin(Scope("default", "default"), write=False) as tx:
        decisions = tx.knowledge.decisions(subject=episode, type="chain")
        return sorted(decisions, key=lambda one: one.detail["stage"] == "close")


def spans(memory: Memory, thread: str) -> list[tuple[int, int, str]]:
    results = [(p.first_seq, p.last_seq, p.opened_for) for p in mine(memory).sections.list(thread=thread)]
    return sorted(results)


@pytest.fixture
def opened(url: str, clock: Clock) -> Iterator[OpenMemory]:
    clock.now = NINE
    with ExitStack() as stack:

        def item(**more: Any) -> Memory:
            chosen = {"embedder": "none", "policy": "seed-001", "clock": clock, **more}
            return stack.enter_context(Memory.open(url, **chosen))

        yield item


@pytest.fixture
def memory(opened: OpenMemory) -> Memory:
    return opened()


# --- its life -------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_what_is_said_between_start_and_end_is_the_session(memory: Memory) -> None:
    started = mine(memory).sessions.start(ON_LEAK, participants=["Ana"], tools="bash", timestamp=at(0))
    assert (started.state, started.title, started.parent_episode_id) == ("open", ON_LEAK, None)
    assert mine(memory).episodes.get(started.id).state is EpisodeState.OPEN
    assert is_sound(memory)
    mine(memory).add([{"role": "user", "content": text, "timestamp": at(0.01)} for text in LEAK])  # it runs
    assert [o.text for o in mine(memory).episodes.messages(started.id)] == list(LEAK)
    assert is_sound(memory)
    ended = mine(memory).sessions.end(started.id, "partial", ["keep the dumps"])
    assert (ended.state, ended.outcome, ended.key_decisions) == ("closed", "partial", ("keep the dumps",))
    episode = mine(memory).episodes.get(started.id)
    assert (episode.first_seq, episode.last_seq, episode.state) == (0, 1, EpisodeState.COMPACTED)
    assert ended.title == episode.title == ON_LEAK
    (event,) = mine(memory).episodes.list(thread=started.thread)
    assert event.reason == "thread_end"
    assert episode.metadata["topic"] == ON_LEAK
    assert episode.metadata["participants"] == ["Ana", "user"]
    assert (episode.metadata["tools_used"], episode.metadata["outcome"]) == (["bash"], "partial")
    assert [c.episode_id for c in mine(memory).sections.list("memory leak")] == [started.id]
    assert is_sound(memory)


def test_a_session_is_found_by_its_topic_before_anything_is_said(memory: Memory) -> None:
    started = mine(memory).sessions.start(ON_LEAK)
    assert [card.episode_id for card in mine(memory).sections.list("leak of the worker")] == [started.id]
    assert mine(memory).episodes.messages(started.id) == []
    assert mine(memory).sections.compact() == []
    memory.upkeep(now=NINE + timedelta(minutes=20))
    assert mine(memory).sessions.get(started.id).state == "open"
    assert is_sound(memory)


def test_a_start_with_the_same_key_is_the_same_session(memory: Memory, opened: OpenMemory) -> None:
    started = mine(memory).sessions.start(ON_LEAK, key="leak-1")
    assert mine(memory).sessions.start(ON_LEAK, key="leak-1") == started
    assert mine(opened()).sessions.start(ON_BREAD, key="leak-1") == started  # from another process
    say(memory, started, 0, LEAK)
    ended = mine(memory).sessions.end(started.id, "success")
    assert mine(memory).sessions.start(ON_LEAK, key="leak-1") == ended
    assert len(mine(memory).sessions.list()) == len(mine(memory).threads.list()) == 1
    assert mine(memory).sessions.start(ON_LEAK, key="leak-2").id != started.id
    assert opened().user("bo").sessions.start(ON_LEAK, key="leak-1").id != started.id


def test_two_who_start_with_one_key_at_once_start_one_session(opened: OpenMemory) -> None:
    memories, result = [opened(), opened()], []
    barrier = threading.Barrier(2)

    def start(memory: Memory) -> None:
        barrier.wait(30)
        result.append(mine(memory).sessions.start(ON_LEAK, key="leak-1"))

    threads = [threading.Thread(target=start, args=(memory,)) for memory in memories]
    for item in threads:
        item.start()
    for item in threads:
        item.join()
    assert len(result) == 2
    assert result[0] == result[1]
    assert len(mine(memories[0]).sessions.list()) == len(mine(memories[0]).threads.list()) == 1
    assert is_sound(memories[0])


def test_ending_twice_changes_nothing_and_another_outcome_is_refused(memory: Memory) -> None:
    started = mine(memory).sessions.start(ON_LEAK)
    say(memory, started, 0, LEAK)
    ended = mine(memory).sessions.end(started.id, "success")
    assert mine(memory).sessions.end(str(started.id)) == ended
    assert mine(memory).sessions.end(started.id, "Success") == ended
    with pytest.raises(InvalidInput, match="as success"):
        mine(memory).sessions.end(started.id, "failure")
    (event,) = mine(memory).episodes.list(thread=started.thread)
    with pytest.raises(InvalidInput, match="no session"):
        mine(memory).sessions.end(event.episode_id)
    with pytest.raises(NotFound, match="no session"):
        mine(memory).sessions.end(UUID(int=1))
    with pytest.raises(InvalidInput, match="outcome"):
        mine(memory).sessions.end(started.id, "great")


def test_an_outcome_told_after_the_end_is_kept(memory: Memory) -> None:
    held = hold(memory, ON_LEAK, 0, LEAK)
    assert held.outcome is None
    assert mine(memory).episodes.get(held.id).metadata["outcome"] == "unknown"
    assert mine(memory).sessions.end(held.id, "failure", ["stop"]).outcome == "failure"
    assert mine(memory).episodes.get(held.id).metadata["outcome"] == "failure"
    assert mine(memory).episodes.get(held.id).metadata["key_decisions"] == ["stop"]
    assert is_sound(memory)


def test_a_session_in_which_nothing_is_said_leaves_no_episode(memory: Memory, clock: Clock) -> None:
    quiet = mine(memory).sessions.start(ON_LEAK, key="quiet")
    for _ in range(2):
        assert mine(memory).sessions.end(quiet.id).state == "abandoned"
    assert mine(memory).sessions.start(ON_LEAK, key="quiet").state == "abandoned"
    with pytest.raises(NotFound):
        mine(memory).episodes.get(quiet.id)
    left = mine(memory).sessions.start(ON_LEAK)
    mine(memory).threads.close(left.thread)
    assert mine(memory).sessions.get(left.id).state == "abandoned"
    assert mine(memory).sessions.end(left.id, "success").outcome == "success"
    mine(memory).add("A word on bread", thread=left.thread)
    clock.forward(minutes=1)
    silent = mine(memory).sessions.start(ON_BREAD)
    clock.forward(hours=7)
    memory.upkeep()
    assert mine(memory).sessions.get(silent.id).state == "abandoned"
    assert is_sound(memory)
    assert [one.id for one in mine(memory).sessions.list(state="abandoned", limit=1)] == [silent.id]
    assert len(mine(memory).sessions.list(state="abandoned")) == len(mine(memory).sessions.list()) == 3


def test_a_session_that_silence_ends_is_closed_and_may_still_be_told_how_it_went(
    memory: Memory, clock: Clock
) -> None:
    started = mine(memory).sessions.start(ON_LEAK)
    mine(memory).add(LEAK[0], thread=started.thread)
    clock.forward(hours=7)
    memory.upkeep()
    assert mine(memory).sessions.get(started.id).state == "closed"
    assert mine(memory).sessions.end(started.id, "ongoing").state == "closed"
    assert mine(memory).episodes.get(started.id).metadata["outcome"] == "ongoing"
    assert is_sound(memory)


@pytest.mark.slow
def test_a_session_in_a_thread_that_runs_is_a_part_of_its_own(memory: Memory) -> None:
    mine(memory).add(
        [{"content": text, "timestamp": at(n / 60)} for n, text in enumerate(BREAD)], thread="run"
    )
    started = mine(memory).sessions.start(ON_LEAK, thread="run", timestamp=at(1))
    assert started.thread == "run"
    assert is_sound(memory)
    say(memory, started, 1, LEAK)
    mine(memory).sessions.end(started.id)
    mine(memory).add([{"content": BREAD[0], "timestamp": at(2)}], thread="run")
    empty = mine(memory).sessions.start("Nothing at all", thread="run", timestamp=at(3))
    second = mine(memory).sessions.start(
        ON_BREAD, thread="run", timestamp=at(3)
    )  # in the place of the empty one
    say(memory, second, 3, BREAD)
    third = mine(memory).sessions.start(ON_AGAIN, thread="run", timestamp=at(4))  # the second is over with it
    assert [mine(memory).sessions.get(one.id).state for one in (empty, second, third)] == [
        "abandoned",
        "closed",
        "open",
    ]
    say(memory, third, 4, AGAIN)
    mine(memory).sessions.end(third.id)
    assert mine(memory).sessions.end(second.id, "success").outcome == "success"
    targets = [(0, 1, ""), (2, 3, "session"), (4, 4, "reopened"), (5, 6, "session"), (7, 8, "session")]
    assert spans(memory, "run") == targets
    assert [e.state for e in mine(memory).episodes.list(thread="run") if e.state == "open"] == []
    (after,) = [p for p in mine(memory).sections.list(thread="run") if p.opened_for == "reopened"]
    assert after.parent_episode_id != started.id  # what comes after a session does not go on with it
    assert is_sound(memory)


@pytest.mark.slow
def test_steps_of_an_agent_may_be_a_session(memory: Memory) -> None:
    started = mine(memory).sessions.start("Find the red key in the cellar", agent_id="scout")
    steps = [{**step_fields(n), "content": f"step {n}", "timestamp": at(n / 3600)} for n in range(12)]
    mine(memory).add(steps, thread=started.thread)
    assert mine(memory).threads.get(started.thread).thread.modality == "step"
    mine(memory).sessions.end(started.id, "success")
    episode = mine(memory).episodes.get(started.id)
    assert (episode.size, episode.metadata["agent_id"]) == (12, "scout")
    assert mine(memory).stats().open_observations == 0
    later = mine(memory).sessions.start(
        "Find the red key in the cellar again", agent_id="scout", timestamp=at(1)
    )
    assert later.parent_episode_id == started.id
    mine(memory).add([{**step, "timestamp": at(1)} for step in steps[:3]], thread=later.thread)
    assert (
        mine(memory).sessions.end(later.id).parent_episode_id == started.id
    )  # steps say nothing of a matter
    assert is_sound(memory)


@pytest.mark.slow
def test_a_long_session_rolls_and_ends_as_a_whole(memory: Memory) -> None:
    started = mine(memory).sessions.start(ON_LEAK, timestamp=at(0))
    texts = [{"content": f"{LEAK[n % 2]} Note {n}.", "timestamp": at(n / 60)} for n in range(60)]
    mine(memory).add(texts, thread=started.thread)
    assert mine(memory).sessions.get(started.id).state == "open"
    mine(memory).sessions.end(started.id, "success")
    early, late = sorted(mine(memory).sections.list(thread=started.thread), key=lambda part: part.first_seq)
    assert (early.episode_id, early.last_seq, late.opened_for) == (started.id, 49, "size")
    (made,) = decisions(memory, late.episode_id)
    assert (made.detail["method"], made.detail["candidate"]) == ("roll", str(started.id))
    assert [mine(memory).episodes.get(p.episode_id).metadata["outcome"] for p in (early, late)] == [
        "success",
        "success",
    ]
    assert mine(memory).sessions.get(started.id).state == "closed"
    assert is_sound(memory)


def test_sessions_travel_with_an_export_and_stay_when_a_thread_is_segmented_again(
    memory: Memory, tmp_path: Path
) -> None:
    first = hold(memory, ON_LEAK, 0, LEAK, key="one", agent_id="coder")
    mine(memory).sessions.end(first.id, "partial", ["keep the dumps"])
    second = mine(memory).sessions.start(ON_AGAIN, timestamp=at(24), agent_id="coder")
    say(memory, second, 24, AGAIN)
    waiting = mine(memory).sessions.start(ON_BREAD, timestamp=at(25))
    mine(memory).boundaries.resegment(first.thread, "seed-001?max_messages=3")
    assert mine(memory).sessions.get(first.id).state == "closed"
    path = tmp_path / "memory.jsonl"
    path.write_text("\n".join(line.rstrip("\n") for line in mine(memory).export()) + "\n")
    with Memory.open(tmp_path / "other.db", embedder="none", policy="seed-001") as other:
        mine(other).import_file(path)
        assert mine(other).sessions.list() == mine(memory).sessions.list()
        assert [one.id for one in mine(other).sessions.list()] == [waiting.id, second.id, first.id]
        assert mine(other).sessions.start(ON_LEAK, key="one") == mine(memory).sessions.get(first.id)
        assert [c.episode_id for c in mine(other).sections.list("rye bread")][:1] == [waiting.id]
        assert mine(other).sessions.end(second.id).parent_episode_id == first.id
        assert mine(other).sessions.end(waiting.id).state == "abandoned"
        assert is_sound(other)


@pytest.mark.slow
def test_a_thread_that_is_forgotten_takes_its_sessions_along(memory: Memory) -> None:
    session = hold(memory, ON_LEAK, 0, LEAK)
    thread = mine(memory).sessions.start(ON_AGAIN, thread="run", timestamp=at(24)).thread
    mine(memory).sessions.end(mine(memory).sessions.list()[0].id)
    mine(memory).sessions.start("Secret of the heap", thread=thread, timestamp=at(25))
    mine(memory).erase(thread=thread)
    assert [one.id for one in mine(memory).sessions.list()] == [session.id]
    assert "Secret" not in "".join(mine(memory).export())
    assert is_sound(memory)


def test_a_session_whose_words_are_all_erased_is_about_nothing_any_more(memory: Memory) -> None:
    held = hold(memory, ON_LEAK, 0, LEAK, participants=["Ana"])
    for card in mine(memory).episodes.list(thread=held.thread):
        mine(memory).erase(episode=card.episode_id)
    (left,) = mine(memory).sessions.list()
    assert (left.id, left.topic, left.participants) == (held.id, "", ())
    assert "leak" not in "".join(mine(memory).export())
    assert is_sound(memory)


# --- what it goes on from -------------------------------------------------------------------------------


def test_a_start_names_a_parent_for_the_time_being_and_the_end_confirms_it(memory: Memory) -> None:
    first = hold(memory, ON_LEAK, 0, LEAK)
    hold(memory, ON_BREAD, 12, BREAD)
    started = mine(memory).sessions.start(ON_AGAIN, timestamp=at(24))
    assert started.parent_episode_id == first.id
    (provisional,) = decisions(memory, started.id)
    assert (provisional.detail["stage"], provisional.verdict, follows(provisional)) == ("open", "CHAIN", True)
    assert provisional.score >= provisional.threshold
    say(memory, started, 24, AGAIN)
    assert mine(memory).sessions.end(started.id).parent_episode_id == first.id
    _, made = decisions(memory, started.id)
    assert (made.detail["stage"], made.verdict, follows(made)) == ("close", "CHAIN", True)
    assert [one.id for one in mine(memory).chains.get(started.id)] == [first.id, started.id]


def test_a_session_that_is_told_before_it_ends_is_judged_at_its_end_too(memory: Memory) -> None:
    first = hold(memory, ON_LEAK, 0, LEAK)
    started = mine(memory).sessions.start(ON_AGAIN, timestamp=at(24))
    say(memory, started, 24, AGAIN)
    mine(memory).sections.compact(thread=started.thread)
    assert mine(memory).episodes.get(started.id).state is EpisodeState.COMPACTED
    assert [d.detail["stage"] for d in decisions(memory, started.id)] == ["open"]
    assert mine(memory).sessions.get(started.id).state == "open"
    assert mine(memory).sessions.end(started.id).parent_episode_id == first.id
    assert [d.detail["stage"] for d in decisions(memory, started.id)] == ["open", "close"]
    assert is_sound(memory)


@pytest.mark.slow
def test_what_is_said_may_drop_or_replace_what_the_topic_promised(opened: OpenMemory) -> None:
    """The choice over all sessions (`chain-2027-02`) believes the topic: of two sessions that one is the nearest."""
    memory = opened(chain_policy="chain-2027-01")
    first, bread = hold(memory, ON_LEAK, 0, LEAK), hold(memory, ON_BREAD, 12, BREAD)
    started = mine(memory).sessions.start("The worker leaks", timestamp=at(60))
    assert started.parent_episode_id == first.id
    say(memory, started, 60, ("Let's plan the trip to Lisbon in May.", "Flights to Lisbon cost 214 pounds."))
    dropped = mine(memory).sessions.end(started.id)
    assert dropped.parent_episode_id is None
    assert [(d.detail["stage"], d.verdict) for d in decisions(memory, started.id)] == [
        ("open", "CHAIN"),
        ("close", "DON'T_CHAIN"),
    ]
    other = mine(memory).sessions.start("Tuesday, various", timestamp=at(70))
    assert other.parent_episode_id is None
    say(memory, other, 70, ("The sourdough rye bread is still dense, more water to the flour?", *BREAD))
    assert mine(memory).sessions.end(other.id).parent_episode_id == bread.id
    assert is_sound(memory)


def test_two_sessions_with_one_topic_are_two_episodes_of_one_chain(memory: Memory) -> None:
    first, second = hold(memory, ON_LEAK, 0, LEAK), hold(memory, ON_LEAK, 1, LEAK)
    assert first.id != second.id
    assert second.parent_episode_id == first.id


def test_another_topic_goes_on_from_nothing(memory: Memory) -> None:
    hold(memory, ON_LEAK, 0, LEAK)
    assert mine(memory).sessions.start(ON_BREAD, timestamp=at(2)).parent_episode_id is None


def test_a_named_parent_beats_a_better_one_and_stays(memory: Memory) -> None:
    leak, bread = hold(memory, ON_LEAK, 0, LEAK), hold(memory, ON_BREAD, 12, BREAD)
    started = mine(memory).sessions.start(ON_AGAIN, parent_episode_id=bread.id, timestamp=at(24))
    say(memory, started, 24, AGAIN)
    assert mine(memory).sessions.end(started.id).parent_episode_id == bread.id
    (made,) = decisions(memory, started.id)
    assert (made.detail["method"], made.policy_version, follows(made)) == ("explicit", "explicit", True)
    assert leak.id not in [one.id for one in mine(memory).chains.tree(started.id)]


def test_parents_that_cannot_be_are_refused_and_nothing_is_started(
    memory: Memory, opened: OpenMemory
) -> None:
    leak = hold(memory, ON_LEAK, 0, LEAK)
    open_ = mine(memory).sessions.start(ON_AGAIN, timestamp=at(2), key="open")
    (event,) = mine(memory).episodes.list(thread=leak.thread)
    foreign = hold(opened().user("bo", new=True), ON_LEAK, 0, LEAK)
    before = len(mine(memory).sessions.list())
    for parent, error, why in (
        (UUID(int=1), NotFound, "no episode"),
        ("leak", NotFound, "no episode"),
        (foreign.id, NotFound, "no episode"),
        (event.episode_id, InvalidInput, "no session"),
        (open_.id, InvalidInput, "still open"),
    ):
        with pytest.raises(error, match=why):
            mine(memory).sessions.start(ON_BREAD, parent_episode_id=parent)
    with pytest.raises(InvalidInput, match="topic"):
        mine(memory).sessions.start(" \n")
    with pytest.raises(InvalidInput, match="key"):
        mine(memory).sessions.start(ON_LEAK, key=" ")
    assert len(mine(memory).sessions.list()) == before
    assert len(mine(memory).threads.list()) == 2


def test_an_open_session_is_no_parent_and_neither_is_an_abandoned_one(memory: Memory) -> None:
    running = mine(memory).sessions.start(ON_LEAK, timestamp=at(0))
    say(memory, running, 0, LEAK)
    assert mine(memory).sessions.start(ON_AGAIN, timestamp=at(1)).parent_episode_id is None
    mine(memory).sessions.end(running.id, "abandoned")
    assert mine(memory).sessions.start(ON_AGAIN, timestamp=at(2)).parent_episode_id is None


def test_only_sessions_of_the_same_agent_are_gone_on_from(memory: Memory) -> None:
    first = hold(memory, ON_LEAK, 0, LEAK, agent_id="coder")
    assert mine(memory).sessions.start(ON_AGAIN, timestamp=at(2), agent_id="baker").parent_episode_id is None
    assert mine(memory).sessions.start(ON_AGAIN, timestamp=at(2)).parent_episode_id is None
    assert (
        mine(memory).sessions.start(ON_AGAIN, timestamp=at(2), agent_id="coder").parent_episode_id == first.id
    )


def test_only_sessions_of_the_same_project_are_gone_on_from_but_for_a_named_parent(memory: Memory) -> None:
    shop = hold(memory, ON_LEAK, 0, LEAK, channel="/home/ana/shop")
    elsewhere = mine(memory).sessions.start(ON_AGAIN, timestamp=at(1), channel="/home/ana/ledger")
    assert elsewhere.parent_episode_id is None
    say(memory, elsewhere, 1, AGAIN)  # by no channel: what was declared at the start holds
    assert mine(memory).sessions.end(elsewhere.id).parent_episode_id is None
    assert hold(memory, ON_AGAIN, 2, AGAIN, channel="/home/ana/shop").parent_episode_id == shop.id
    named = hold(memory, ON_AGAIN, 3, AGAIN, channel="/home/ana/till", parent_episode_id=shop.id)
    assert named.parent_episode_id == shop.id
    assert hold(memory, ON_AGAIN, 4, AGAIN, channel="sms").parent_episode_id is not None  # of no project


@pytest.mark.slow
def test_the_ends_of_chains_are_where_a_story_may_go_on(memory: Memory) -> None:
    first, second = hold(memory, ON_LEAK, 0, LEAK), hold(memory, ON_LEAK, 1, LEAK)
    bread = hold(memory, ON_BREAD, 12, BREAD)
    assert [one.id for one in mine(memory).chains.heads()] == [bread.id, second.id]
    assert [one.id for one in mine(memory).chains.heads(limit=1)] == [bread.id]
    mine(memory).chains.add(bread.id, first.id)
    assert [one.id for one in mine(memory).chains.heads()] == [bread.id, second.id]
    mine(memory).chains.add(bread.id, second.id)
    assert [one.id for one in mine(memory).chains.heads()] == [bread.id]
    with pytest.raises(InvalidInput):
        mine(memory).chains.heads(limit=0)


# --- seed 004 to the letter -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("minutes", "linked"), [(0, True), (47 * 60 + 59, True), (48 * 60, True), (48 * 60 + 1, False)]
)
def test_the_seed_links_within_48_hours(opened: OpenMemory, minutes: int, linked: bool) -> None:
    memory = opened(embedder=Angles(leak=1.0, worker=1.0, bread=0.1), chain_policy="seed-004")
    first = hold(memory, ON_LEAK, 0, LEAK[:1])  # its last word is at nine
    started = mine(memory).sessions.start("the leak", timestamp=NINE + timedelta(minutes=minutes))
    assert (started.parent_episode_id == first.id) is linked
    say(memory, started, minutes / 60, BREAD)  # it is decided at the start
    assert (mine(memory).sessions.end(started.id).parent_episode_id == first.id) is linked
    assert all(follows(one) for one in decisions(memory, started.id))


@pytest.mark.parametrize(("cosine", "linked"), [(0.86, True), (0.84, False), (0.1, False)])
def test_the_seed_links_over_a_raw_cosine_of_85(opened: OpenMemory, cosine: float, linked: bool) -> None:
    memory = opened(embedder=Angles(leak=1.0, worker=1.0, again=cosine), chain_policy="seed-004")
    first = hold(memory, ON_LEAK, 0, LEAK)
    started = mine(memory).sessions.start("Once again", timestamp=at(2))
    assert (started.parent_episode_id == first.id) is linked
    (made,) = decisions(memory, started.id)
    assert made.score == pytest.approx(cosine, abs=0.01)


# --- what became of it ----------------------------------------------------------------------------------


def test_links_that_are_taken_back_raise_the_threshold_of_chains(memory: Memory, clock: Clock) -> None:
    matching_decisions = [
        decided(n, score, right) for n, (score, right) in enumerate([(0.52, 0), (0.53, 0), (0.9, 1)] * 12)
    ]
    with memory._deps.store.begin(Scope("default", "default")) as tx:
        for decision in matching_decisions:
            tx.knowledge.decide(decision)
    clock.forward(days=1)
    assert mine(memory).tuning.run("chain", dry_run=True).decision_id is None
    run = mine(memory).tuning.run("chain")
    assert (run.kind, run.record["decision_type"], run.record["previous_threshold"]) == (
        "tuned",
        "chain",
        0.5,
    )
    new = run.record["new_threshold"]
    assert isinstance(new, float)
    assert 0.53 <= new <= 0.55
    assert run.policy == f"chain-2027-02?threshold={new:g}"
    first = hold(memory, ON_LEAK, 24, LEAK)
    second = hold(memory, ON_LEAK, 25, LEAK)
    assert {one.threshold for one in decisions(memory, second.id)} == {new}
    assert second.parent_episode_id == first.id
    back = mine(memory).tuning.rollback("chain")
    assert (back.kind, back.policy) == ("rollback", "chain-2027-02")
    assert [one.kind for one in mine(memory).tuning.list()] == ["rollback", "tuned"]
    with pytest.raises(InvalidInput, match="tuning to take back"):
        mine(memory).tuning.rollback()  # of links there was none
    with pytest.raises(InvalidInput, match="link or chain"):
        mine(memory).tuning.run("bread")
    assert is_sound(memory)


def decided(number: int, score: float, right: int) -> Decision:
    """Make a chain verdict that a hand has judged."""
    lead = float(np.log(score / (1 - score)))
    features = {"lead": lead, "arc_rare": 0.01, "hours": 1.0, "at_close": 1.0, "provisional": 0.0}
    detail = {"candidate": str(UUID(int=1)), "stage": "close", "method": "auto"}
    close = round(abs(score - 0.5), 9) < 0.05
    return Decision(
        id=UUID(int=1000 + number),
        type="chain",
        at=NINE - timedelta(hours=99 - number),
        subject=UUID(int=2000 + number),
        features=features,
        score=score,
        threshold=0.5,
        verdict="CHAIN",
        policy_version="chain-2027-02",
        confidence_label="UNCERTAIN" if close else "HIGH",
        detail=detail,
        outcome="CORRECT" if right else "INCORRECT",
    )


def test_what_is_gone_on_with_was_chained_rightly_and_what_is_unlinked_was_not(memory: Memory) -> None:
    hold(memory, ON_LEAK, 0, LEAK)
    second = hold(memory, ON_LEAK, 1, LEAK)
    mine(memory).sessions.start(ON_BREAD, parent_episode_id=second.id, timestamp=at(2))
    judged = decisions(memory, second.id)[-1]
    assert (judged.outcome, judged.detail["outcome"]["strength"]) == ("CORRECT", 0.5)  # type: ignore[index,call-overload]
    mine(memory).chains.remove(second.id)
    assert decisions(memory, second.id)[-1].outcome == "INCORRECT"


# --- killed ---------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the platform cannot fork")
@pytest.mark.parametrize("point", ["after-begin", "before-commit", "after-commit"])
def test_killed_while_it_starts_or_ends_a_session_is_there_once_or_not_at_all(
    tmp_path: Path, point: str
) -> None:
    path = tmp_path / "memory.db"

    def opened() -> Memory:
        return Memory.open(path, embedder="none", policy="seed-001", clock=lambda: NINE)

    def start(memory: Memory) -> Session:
        return mine(memory).sessions.start(ON_LEAK, key="leak-1")

    def end(memory: Memory) -> Session:
        return mine(memory).sessions.end(start(memory).id, "success")

    with opened() as memory:
        mine(memory).add("Something before", thread="before")
    for act in (start, end):
        for count in range(1, 9):
            done = killed(opened, act, point, count)
            with opened() as memory:
                assert len(mine(memory).sessions.list()) <= 1
                assert is_sound(memory)
            if done:
                break
        assert done
        with opened() as memory:
            session = act(memory)
            assert len(mine(memory).sessions.list()) == 1
            if act is start:
                mine(memory).add(list(LEAK), thread=session.thread)
    with opened() as memory:
        memory.jobs.run()
        assert (
            mine(memory).sessions.get(session.id).state,
            mine(memory).sessions.get(session.id).outcome,
        ) == ("closed", "success")
        assert mine(memory).episodes.get(session.id).state is EpisodeState.COMPACTED
        assert is_sound(memory)


def killed(opened: Callable[[], Memory], act: Callable[[Memory], Session], point: str, count: int) -> bool:
    """Let a child act until it reaches a point for the n-th time and dies; tell whether it did not."""
    child = os.fork()
    if not child:
        with opened() as memory:
            faults.arm(point, count, lambda: os.kill(os.getpid(), signal.SIGKILL))
            act(memory)
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status) == 0


# --- the command line -----------------------------------------------------------------------------------


def test_sessions_are_started_and_ended_on_the_command_line(run: Run, database: Path) -> None:
    answer = run("session", "start", ON_LEAK, "--key", "k", "--at", at(0), "--tool", "bash", "--json").json
    again = run("session", "start", ON_LEAK, "--key", "k")
    assert answer["id"] in again.out
    with Memory.open(database, embedder="none", policy="seed-001") as memory:
        say(memory, mine(memory).sessions.get(answer["id"]), 0, LEAK)
    assert "outcome   partial" in run("session", "end", answer["id"], "--outcome", "partial").out
    second = run("session", "start", ON_AGAIN, "--at", at(24), "--json").json
    assert second["parent_episode_id"] == answer["id"]
    assert f"continues {answer['id']}" in run("session", "show", second["id"]).out
    assert run("session", "end", answer["id"], "--tool", "psql", "--participant", "Ana").code == 0
    where = [one for what in ("tool=psql", "participant=ana", "outcome=partial") for one in ("--where", what)]
    (result,) = run("episodes", *where, "--json").json["episodes"]
    assert result["title"] == ON_LEAK
    told_again = run("replay", "ingest worker", *where).out
    assert ON_LEAK in told_again
    assert "Outcome: partial" in told_again
    assert result["episode_id"] in run("search", "heap dumps", *where, "--json").out
    assert "another session" in run("session", "end", answer["id"], "--outcome", "failure").error
    listed = run("session", "list", "--json").json["sessions"]
    assert [(one["id"], one["state"]) for one in listed] == [(second["id"], "open"), (answer["id"], "closed")]
    assert "(closed, partial)" in run("session", "list", "--state", "closed").out
    assert second["id"] not in run("arc", "--heads").out
    assert run("session", "end", second["id"]).code == 0
    assert answer["id"] in run("arc", "--heads").out
    assert "--heads" in run("arc").error
    assert "chain" in run("tune", "run", "--what", "chain").out + run("tune", "history", "--all").out


def test_a_session_about_a_ticket_goes_on_from_the_one_that_was(memory: Memory) -> None:
    before = []
    for day, topic, text in (
        (1, "HAR-98 return eta in UTC", "The api returns local time, return the eta in UTC."),
        (2, "HAR-101 berth chart in colour", "The berth chart of the eta needs a colour for each quay."),
    ):
        session = mine(memory).sessions.start(topic, timestamp=at(day))
        mine(memory).add(text, thread=session.thread, timestamp=at(day))
        mine(memory).sessions.end(session.id, "success")
        before.append(session.id)
    opened = mine(memory).sessions.start("HAR-98: remove the old field", timestamp=at(9))
    assert [one.id for one in mine(memory).chains.get(opened.id)] == [before[0], opened.id]
