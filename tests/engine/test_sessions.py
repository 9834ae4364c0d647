"""Sessions a caller frames: started once, ended once, chained by topic and again by words (chains.md 1, 2, 5)."""

import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from builders.chats import Clock
from builders.commands import Run
from builders.steps import step_fields

from episodic_agent import Memory
from episodic_agent.core.chaining import follows
from episodic_agent.engine.sessions import Session
from episodic_agent.errors import InvalidInput, NotFound
from episodic_agent.schemas import Decision, EpisodeState, Scope, Vector
from episodic_agent.stores import faults

OpenMemory = Callable[..., Memory]
NINE = datetime(2026, 3, 4, 9, tzinfo=UTC)
LEAK = ("The ingest worker leaks memory, 40 MB an hour.", "I take two heap dumps of the ingest worker.")
AGAIN = ("Both heap dumps of the ingest worker are in.", "The worker leaks memory in its cache.")
BREAD = ("What's a good ratio of flour to water for rye bread?", "My sourdough rye bread is too dense.")
ON_LEAK, ON_AGAIN = "The memory leak of the ingest worker", "Back to the memory leak of the ingest worker"
ON_BREAD = "A recipe for dense sourdough rye bread"


class Angles:
    """An embedder that places a text by the word it holds, at a cosine from the first axis."""

    name, dimensions = "angles", 3

    def __init__(self, **cosines: float) -> None:
        self.cosines = cosines

    def embed(self, texts: Sequence[str]) -> Vector:
        vectors = np.zeros((len(texts), 3), np.float32)
        for vector, text in zip(vectors, texts, strict=True):
            found = [c for word, c in self.cosines.items() if word in text.lower()]
            vector[:] = (found[0], np.sqrt(1 - found[0] ** 2), 0.0) if found else (0.0, 0.0, 1.0)
        return vectors


def at(hours: float) -> str:
    return (NINE + timedelta(hours=hours)).isoformat()


def say(memory: Memory, session: Session, hours: float, said: tuple[str, ...]) -> None:
    items = [
        {"role": "user", "content": text, "timestamp": at(hours + n / 60)} for n, text in enumerate(said)
    ]
    memory.add(items, thread=session.thread)


def hold(memory: Memory, topic: str, hours: float, said: tuple[str, ...], **more: Any) -> Session:
    """Hold a session from beginning to end."""
    started = memory.start_episode(topic, timestamp=at(hours), **more)
    say(memory, started, hours, said)
    return memory.end_episode(started.id)


def decisions(memory: Memory, episode: UUID) -> list[Decision]:
    with memory._parts.store.begin(Scope("default", "default"), write=False) as tx:
        found = tx.episodes.decisions(subject=episode, type="chain")
        return sorted(found, key=lambda one: one.detail["stage"] == "close")


def is_sound(memory: Memory) -> bool:
    return [finding for finding in memory.doctor() if finding.severity == "error"] == []


def spans(memory: Memory, thread: str) -> list[tuple[int, int, str]]:
    found = [(p.first_seq, p.last_seq, p.opened_for) for p in memory.summaries(thread=thread)]
    return sorted(found)


@pytest.fixture
def opened(url: str, clock: Clock) -> Iterator[OpenMemory]:
    clock.now = NINE
    with ExitStack() as stack:

        def one(**more: Any) -> Memory:
            chosen = {"embedder": "none", "policy": "seed-001", "clock": clock, **more}
            return stack.enter_context(Memory.open(url, **chosen))

        yield one


@pytest.fixture
def memory(opened: OpenMemory) -> Memory:
    return opened()


# --- its life -------------------------------------------------------------------------------------------


def test_what_is_said_between_start_and_end_is_the_session(memory: Memory) -> None:
    started = memory.start_episode(ON_LEAK, participants=["Ana"], tools="bash", timestamp=at(0))
    assert (started.state, started.title, started.parent_episode_id) == ("open", ON_LEAK, None)
    assert memory.get(started.id).state is EpisodeState.OPEN
    assert is_sound(memory)
    memory.add([{"role": "user", "content": text, "timestamp": at(0.01)} for text in LEAK])  # it runs
    assert [o.text for o in memory.messages(started.id)] == list(LEAK)
    assert is_sound(memory)
    ended = memory.end_episode(started.id, "partial", ["keep the dumps"])
    assert (ended.state, ended.outcome, ended.key_decisions) == ("closed", "partial", ("keep the dumps",))
    episode = memory.get(started.id)
    assert (episode.first_seq, episode.last_seq, episode.state) == (0, 1, EpisodeState.COMPACTED)
    assert ended.title == episode.title != ON_LEAK
    (event,) = memory.episodes(thread=started.thread)
    assert event.reason == "thread_end"
    assert episode.metadata["topic"] == ON_LEAK
    assert episode.metadata["participants"] == ["Ana", "user"]
    assert (episode.metadata["tools_used"], episode.metadata["outcome"]) == (["bash"], "partial")
    assert [c.episode_id for c in memory.summaries("memory leak")] == [started.id]
    assert is_sound(memory)


def test_a_session_is_found_by_its_topic_before_anything_is_said(memory: Memory) -> None:
    started = memory.start_episode(ON_LEAK)
    assert [card.episode_id for card in memory.summaries("leak of the worker")] == [started.id]
    assert memory.messages(started.id) == []
    assert memory.compact() == []
    memory.upkeep(now=NINE + timedelta(minutes=20))
    assert memory.session(started.id).state == "open"
    assert is_sound(memory)


def test_a_start_with_the_same_key_is_the_same_session(memory: Memory, opened: OpenMemory) -> None:
    started = memory.start_episode(ON_LEAK, key="leak-1")
    assert memory.start_episode(ON_LEAK, key="leak-1") == started
    assert opened().start_episode(ON_BREAD, key="leak-1") == started  # from another process
    say(memory, started, 0, LEAK)
    ended = memory.end_episode(started.id, "success")
    assert memory.start_episode(ON_LEAK, key="leak-1") == ended
    assert len(memory.sessions()) == len(memory.threads()) == 1
    assert memory.start_episode(ON_LEAK, key="leak-2").id != started.id
    assert opened(user_id="bo").start_episode(ON_LEAK, key="leak-1").id != started.id


def test_two_who_start_with_one_key_at_once_start_one_session(opened: OpenMemory) -> None:
    memories, found = [opened(), opened()], []
    barrier = threading.Barrier(2)

    def start(memory: Memory) -> None:
        barrier.wait(30)
        found.append(memory.start_episode(ON_LEAK, key="leak-1"))

    threads = [threading.Thread(target=start, args=(memory,)) for memory in memories]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len(found) == 2
    assert found[0] == found[1]
    assert len(memories[0].sessions()) == len(memories[0].threads()) == 1
    assert is_sound(memories[0])


def test_ending_twice_changes_nothing_and_another_outcome_is_refused(memory: Memory) -> None:
    started = memory.start_episode(ON_LEAK)
    say(memory, started, 0, LEAK)
    ended = memory.end_episode(started.id, "success")
    assert memory.end_episode(str(started.id)) == ended
    assert memory.end_episode(started.id, "Success") == ended
    with pytest.raises(InvalidInput, match="as success"):
        memory.end_episode(started.id, "failure")
    (event,) = memory.episodes(thread=started.thread)
    with pytest.raises(InvalidInput, match="no session"):
        memory.end_episode(event.episode_id)
    with pytest.raises(NotFound, match="no session"):
        memory.end_episode(UUID(int=1))
    with pytest.raises(InvalidInput, match="outcome"):
        memory.end_episode(started.id, "great")


def test_an_outcome_told_after_the_end_is_kept(memory: Memory) -> None:
    held = hold(memory, ON_LEAK, 0, LEAK)
    assert held.outcome is None
    assert memory.get(held.id).metadata["outcome"] == "unknown"
    assert memory.end_episode(held.id, "failure", ["stop"]).outcome == "failure"
    assert memory.get(held.id).metadata["outcome"] == "failure"
    assert memory.get(held.id).metadata["key_decisions"] == ["stop"]
    assert is_sound(memory)


def test_a_session_in_which_nothing_is_said_leaves_no_episode(memory: Memory, clock: Clock) -> None:
    quiet = memory.start_episode(ON_LEAK, key="quiet")
    for _ in range(2):
        assert memory.end_episode(quiet.id).state == "abandoned"
    assert memory.start_episode(ON_LEAK, key="quiet").state == "abandoned"
    with pytest.raises(NotFound):
        memory.get(quiet.id)
    left = memory.start_episode(ON_LEAK)
    memory.close_thread(left.thread)
    assert memory.session(left.id).state == "abandoned"
    assert memory.end_episode(left.id, "success").outcome == "success"
    memory.add("A word on bread", thread=left.thread)
    clock.forward(minutes=1)
    silent = memory.start_episode(ON_BREAD)
    clock.forward(hours=7)
    memory.upkeep()
    assert memory.session(silent.id).state == "abandoned"
    assert is_sound(memory)
    assert [one.id for one in memory.sessions(state="abandoned", limit=1)] == [silent.id]
    assert len(memory.sessions(state="abandoned")) == len(memory.sessions()) == 3


def test_a_session_that_silence_ends_is_closed_and_may_still_be_told_how_it_went(
    memory: Memory, clock: Clock
) -> None:
    started = memory.start_episode(ON_LEAK)
    memory.add(LEAK[0], thread=started.thread)
    clock.forward(hours=7)
    memory.upkeep()
    assert memory.session(started.id).state == "closed"
    assert memory.end_episode(started.id, "ongoing").state == "closed"
    assert memory.get(started.id).metadata["outcome"] == "ongoing"
    assert is_sound(memory)


def test_a_session_in_a_thread_that_runs_is_a_part_of_its_own(memory: Memory) -> None:
    memory.add([{"content": text, "timestamp": at(n / 60)} for n, text in enumerate(BREAD)], thread="run")
    started = memory.start_episode(ON_LEAK, thread="run", timestamp=at(1))
    assert started.thread == "run"
    assert is_sound(memory)
    say(memory, started, 1, LEAK)
    memory.end_episode(started.id)
    memory.add([{"content": BREAD[0], "timestamp": at(2)}], thread="run")
    empty = memory.start_episode("Nothing at all", thread="run", timestamp=at(3))
    second = memory.start_episode(ON_BREAD, thread="run", timestamp=at(3))  # in the place of the empty one
    say(memory, second, 3, BREAD)
    third = memory.start_episode(ON_AGAIN, thread="run", timestamp=at(4))  # the second is over with it
    assert [memory.session(one.id).state for one in (empty, second, third)] == ["abandoned", "closed", "open"]
    say(memory, third, 4, AGAIN)
    memory.end_episode(third.id)
    assert memory.end_episode(second.id, "success").outcome == "success"
    wanted = [(0, 1, ""), (2, 3, "session"), (4, 4, "reopened"), (5, 6, "session"), (7, 8, "session")]
    assert spans(memory, "run") == wanted
    assert [e.state for e in memory.episodes(thread="run") if e.state == "open"] == []
    (after,) = [p for p in memory.summaries(thread="run") if p.opened_for == "reopened"]
    assert after.parent_episode_id != started.id  # what comes after a session does not go on with it
    assert is_sound(memory)


def test_steps_of_an_agent_may_be_a_session(memory: Memory) -> None:
    started = memory.start_episode("Find the red key in the cellar", agent_id="scout")
    steps = [{**step_fields(n), "content": f"step {n}", "timestamp": at(n / 3600)} for n in range(12)]
    memory.add(steps, thread=started.thread)
    assert memory.thread(started.thread).thread.modality == "step"
    memory.end_episode(started.id, "success")
    episode = memory.get(started.id)
    assert (episode.size, episode.metadata["agent_id"]) == (12, "scout")
    assert memory.stats().open_observations == 0
    later = memory.start_episode("Find the red key in the cellar again", agent_id="scout", timestamp=at(1))
    assert later.parent_episode_id == started.id
    memory.add([{**step, "timestamp": at(1)} for step in steps[:3]], thread=later.thread)
    assert memory.end_episode(later.id).parent_episode_id == started.id  # steps say nothing of a matter
    assert is_sound(memory)


def test_a_long_session_rolls_and_ends_as_a_whole(memory: Memory) -> None:
    started = memory.start_episode(ON_LEAK, timestamp=at(0))
    said = [{"content": f"{LEAK[n % 2]} Note {n}.", "timestamp": at(n / 60)} for n in range(60)]
    memory.add(said, thread=started.thread)
    assert memory.session(started.id).state == "open"
    memory.end_episode(started.id, "success")
    early, late = sorted(memory.summaries(thread=started.thread), key=lambda part: part.first_seq)
    assert (early.episode_id, early.last_seq, late.opened_for) == (started.id, 49, "size")
    (made,) = decisions(memory, late.episode_id)
    assert (made.detail["method"], made.detail["candidate"]) == ("roll", str(started.id))
    assert [memory.get(p.episode_id).metadata["outcome"] for p in (early, late)] == ["success", "success"]
    assert memory.session(started.id).state == "closed"
    assert is_sound(memory)


def test_sessions_travel_with_an_export_and_stay_when_a_thread_is_segmented_again(
    memory: Memory, tmp_path: Path
) -> None:
    first = hold(memory, ON_LEAK, 0, LEAK, key="one", agent_id="coder")
    memory.end_episode(first.id, "partial", ["keep the dumps"])
    second = memory.start_episode(ON_AGAIN, timestamp=at(24), agent_id="coder")
    say(memory, second, 24, AGAIN)
    waiting = memory.start_episode(ON_BREAD, timestamp=at(25))
    memory.resegment(first.thread, "seed-001?max_messages=3")
    assert memory.session(first.id).state == "closed"
    path = tmp_path / "memory.jsonl"
    path.write_text("\n".join(line.rstrip("\n") for line in memory.export()) + "\n")
    with Memory.open(tmp_path / "other.db", embedder="none", policy="seed-001") as other:
        other.import_file(path)
        assert other.sessions() == memory.sessions()
        assert [one.id for one in other.sessions()] == [waiting.id, second.id, first.id]
        assert other.start_episode(ON_LEAK, key="one") == memory.session(first.id)
        assert [c.episode_id for c in other.summaries("rye bread")][:1] == [waiting.id]
        assert other.end_episode(second.id).parent_episode_id == first.id
        assert other.end_episode(waiting.id).state == "abandoned"
        assert is_sound(other)


def test_a_thread_that_is_forgotten_takes_its_sessions_along(memory: Memory) -> None:
    kept = hold(memory, ON_LEAK, 0, LEAK)
    thread = memory.start_episode(ON_AGAIN, thread="run", timestamp=at(24)).thread
    memory.end_episode(memory.sessions()[0].id)
    memory.start_episode("Secret of the heap", thread=thread, timestamp=at(25))
    memory.forget(thread=thread)
    assert [one.id for one in memory.sessions()] == [kept.id]
    assert "Secret" not in "".join(memory.export())
    assert is_sound(memory)


def test_a_session_whose_words_are_all_erased_is_about_nothing_any_more(memory: Memory) -> None:
    held = hold(memory, ON_LEAK, 0, LEAK, participants=["Ana"])
    for card in memory.episodes(thread=held.thread):
        memory.forget(episode=card.episode_id)
    (left,) = memory.sessions()
    assert (left.id, left.topic, left.participants) == (held.id, "", ())
    assert "leak" not in "".join(memory.export())
    assert is_sound(memory)


# --- what it goes on from -------------------------------------------------------------------------------


def test_a_start_names_a_parent_for_the_time_being_and_the_end_confirms_it(memory: Memory) -> None:
    first = hold(memory, ON_LEAK, 0, LEAK)
    hold(memory, ON_BREAD, 12, BREAD)
    started = memory.start_episode(ON_AGAIN, timestamp=at(24))
    assert started.parent_episode_id == first.id
    (provisional,) = decisions(memory, started.id)
    assert (provisional.detail["stage"], provisional.verdict, follows(provisional)) == ("open", "CHAIN", True)
    assert provisional.score >= provisional.threshold
    say(memory, started, 24, AGAIN)
    assert memory.end_episode(started.id).parent_episode_id == first.id
    _, made = decisions(memory, started.id)
    assert (made.detail["stage"], made.verdict, follows(made)) == ("close", "CHAIN", True)
    assert [one.id for one in memory.get_episode_chain(started.id)] == [first.id, started.id]


def test_a_session_that_is_told_before_it_ends_is_judged_at_its_end_too(memory: Memory) -> None:
    first = hold(memory, ON_LEAK, 0, LEAK)
    started = memory.start_episode(ON_AGAIN, timestamp=at(24))
    say(memory, started, 24, AGAIN)
    memory.compact(thread=started.thread)
    assert memory.get(started.id).state is EpisodeState.COMPACTED
    assert [d.detail["stage"] for d in decisions(memory, started.id)] == ["open"]
    assert memory.session(started.id).state == "open"
    assert memory.end_episode(started.id).parent_episode_id == first.id
    assert [d.detail["stage"] for d in decisions(memory, started.id)] == ["open", "close"]
    assert is_sound(memory)


def test_what_is_said_may_drop_or_replace_what_the_topic_promised(memory: Memory) -> None:
    first, bread = hold(memory, ON_LEAK, 0, LEAK), hold(memory, ON_BREAD, 12, BREAD)
    started = memory.start_episode("The worker leaks", timestamp=at(60))
    assert started.parent_episode_id == first.id
    say(memory, started, 60, ("Let's plan the trip to Lisbon in May.", "Flights to Lisbon cost 214 pounds."))
    dropped = memory.end_episode(started.id)
    assert dropped.parent_episode_id is None
    assert [(d.detail["stage"], d.verdict) for d in decisions(memory, started.id)] == [
        ("open", "CHAIN"),
        ("close", "DON'T_CHAIN"),
    ]
    other = memory.start_episode("Tuesday, various", timestamp=at(70))
    assert other.parent_episode_id is None
    say(memory, other, 70, ("The sourdough rye bread is still dense, more water to the flour?", *BREAD))
    assert memory.end_episode(other.id).parent_episode_id == bread.id
    assert is_sound(memory)


def test_two_sessions_with_one_topic_are_two_episodes_of_one_chain(memory: Memory) -> None:
    first, second = hold(memory, ON_LEAK, 0, LEAK), hold(memory, ON_LEAK, 1, LEAK)
    assert first.id != second.id
    assert second.parent_episode_id == first.id


def test_another_topic_goes_on_from_nothing(memory: Memory) -> None:
    hold(memory, ON_LEAK, 0, LEAK)
    assert memory.start_episode(ON_BREAD, timestamp=at(2)).parent_episode_id is None


def test_a_named_parent_beats_a_better_one_and_stays(memory: Memory) -> None:
    leak, bread = hold(memory, ON_LEAK, 0, LEAK), hold(memory, ON_BREAD, 12, BREAD)
    started = memory.start_episode(ON_AGAIN, parent_episode_id=bread.id, timestamp=at(24))
    say(memory, started, 24, AGAIN)
    assert memory.end_episode(started.id).parent_episode_id == bread.id
    (made,) = decisions(memory, started.id)
    assert (made.detail["method"], made.policy_version, follows(made)) == ("explicit", "explicit", True)
    assert leak.id not in [one.id for one in memory.get_episode_arc(started.id)]


def test_parents_that_cannot_be_are_refused_and_nothing_is_started(
    memory: Memory, opened: OpenMemory
) -> None:
    leak = hold(memory, ON_LEAK, 0, LEAK)
    open_ = memory.start_episode(ON_AGAIN, timestamp=at(2), key="open")
    (event,) = memory.episodes(thread=leak.thread)
    foreign = hold(opened(user_id="bo"), ON_LEAK, 0, LEAK)
    before = len(memory.sessions())
    for parent, error, why in (
        (UUID(int=1), NotFound, "no episode"),
        ("leak", NotFound, "no episode"),
        (foreign.id, NotFound, "no episode"),
        (event.episode_id, InvalidInput, "no session"),
        (open_.id, InvalidInput, "still open"),
    ):
        with pytest.raises(error, match=why):
            memory.start_episode(ON_BREAD, parent_episode_id=parent)
    with pytest.raises(InvalidInput, match="topic"):
        memory.start_episode(" \n")
    with pytest.raises(InvalidInput, match="key"):
        memory.start_episode(ON_LEAK, key=" ")
    assert len(memory.sessions()) == before
    assert len(memory.threads()) == 2


def test_an_open_session_is_no_parent_and_neither_is_an_abandoned_one(memory: Memory) -> None:
    running = memory.start_episode(ON_LEAK, timestamp=at(0))
    say(memory, running, 0, LEAK)
    assert memory.start_episode(ON_AGAIN, timestamp=at(1)).parent_episode_id is None
    memory.end_episode(running.id, "abandoned")
    assert memory.start_episode(ON_AGAIN, timestamp=at(2)).parent_episode_id is None


def test_only_sessions_of_the_same_agent_are_gone_on_from(memory: Memory) -> None:
    first = hold(memory, ON_LEAK, 0, LEAK, agent_id="coder")
    assert memory.start_episode(ON_AGAIN, timestamp=at(2), agent_id="baker").parent_episode_id is None
    assert memory.start_episode(ON_AGAIN, timestamp=at(2)).parent_episode_id is None
    assert memory.start_episode(ON_AGAIN, timestamp=at(2), agent_id="coder").parent_episode_id == first.id


def test_the_ends_of_chains_are_where_a_story_may_go_on(memory: Memory) -> None:
    first, second = hold(memory, ON_LEAK, 0, LEAK), hold(memory, ON_LEAK, 1, LEAK)
    bread = hold(memory, ON_BREAD, 12, BREAD)
    assert [one.id for one in memory.get_episode_heads()] == [bread.id, second.id]
    assert [one.id for one in memory.get_episode_heads(limit=1)] == [bread.id]
    memory.chain(bread.id, first.id)
    assert [one.id for one in memory.get_episode_heads()] == [bread.id, second.id]
    memory.chain(bread.id, second.id)
    assert [one.id for one in memory.get_episode_heads()] == [bread.id]
    with pytest.raises(InvalidInput):
        memory.get_episode_heads(limit=0)


# --- seed 004 to the letter -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("minutes", "linked"), [(0, True), (47 * 60 + 59, True), (48 * 60, True), (48 * 60 + 1, False)]
)
def test_the_seed_links_within_48_hours(opened: OpenMemory, minutes: int, linked: bool) -> None:
    memory = opened(embedder=Angles(leak=1.0, worker=1.0, bread=0.1), chain_policy="seed-004")
    first = hold(memory, ON_LEAK, 0, LEAK[:1])  # its last word is at nine
    started = memory.start_episode("the leak", timestamp=NINE + timedelta(minutes=minutes))
    assert (started.parent_episode_id == first.id) is linked
    say(memory, started, minutes / 60, BREAD)  # it is decided at the start
    assert (memory.end_episode(started.id).parent_episode_id == first.id) is linked
    assert all(follows(one) for one in decisions(memory, started.id))


@pytest.mark.parametrize(("cosine", "linked"), [(0.86, True), (0.84, False), (0.1, False)])
def test_the_seed_links_over_a_raw_cosine_of_85(opened: OpenMemory, cosine: float, linked: bool) -> None:
    memory = opened(embedder=Angles(leak=1.0, worker=1.0, again=cosine), chain_policy="seed-004")
    first = hold(memory, ON_LEAK, 0, LEAK)
    started = memory.start_episode("Once again", timestamp=at(2))
    assert (started.parent_episode_id == first.id) is linked
    (made,) = decisions(memory, started.id)
    assert made.score == pytest.approx(cosine, abs=0.01)


# --- what became of it ----------------------------------------------------------------------------------


def test_links_that_are_taken_back_raise_the_threshold_of_chains(memory: Memory, clock: Clock) -> None:
    found = [
        decided(n, score, right) for n, (score, right) in enumerate([(0.42, 0), (0.43, 0), (0.9, 1)] * 12)
    ]
    with memory._parts.store.begin(Scope("default", "default")) as tx:
        for one in found:
            tx.episodes.decide(one)
    clock.forward(days=1)
    assert memory.tune("chain", dry_run=True).decision_id is None
    run = memory.tune("chain")
    assert (run.kind, run.record["decision_type"], run.record["previous_threshold"]) == (
        "tuned",
        "chain",
        0.4,
    )
    new = run.record["new_threshold"]
    assert isinstance(new, float)
    assert 0.43 <= new <= 0.45
    assert run.policy == f"chain-2026-12?threshold={new:g}"
    first = hold(memory, ON_LEAK, 24, LEAK)
    second = hold(memory, ON_LEAK, 25, LEAK)
    assert {one.threshold for one in decisions(memory, second.id)} == {new}
    assert second.parent_episode_id == first.id
    back = memory.rollback_tuning("chain")
    assert (back.kind, back.policy) == ("rollback", "chain-2026-12")
    assert [one.kind for one in memory.tunings()] == ["rollback", "tuned"]
    with pytest.raises(InvalidInput, match="tuning to take back"):
        memory.rollback_tuning()  # of links there was none
    with pytest.raises(InvalidInput, match="link or chain"):
        memory.tune("bread")
    assert is_sound(memory)


def decided(number: int, score: float, right: int) -> Decision:
    """Make a chain verdict that a hand has judged."""
    odds = float(np.log(score / (1 - score)))
    link = (odds + 0.6379 - 0.057295) / 0.502  # the weights of words alone
    features = {"arc_link": link, "arc_rare": 0.01, "hours": 1.0, "at_close": 1.0, "provisional": 0.0}
    detail = {"candidate": str(UUID(int=1)), "stage": "close", "method": "auto"}
    close = round(abs(score - 0.4), 9) < 0.05
    return Decision(
        id=UUID(int=1000 + number),
        type="chain",
        at=NINE - timedelta(hours=99 - number),
        subject=UUID(int=2000 + number),
        features=features,
        score=score,
        threshold=0.4,
        verdict="CHAIN",
        policy_version="chain-2026-12",
        confidence_label="UNCERTAIN" if close else "HIGH",
        detail=detail,
        outcome="CORRECT" if right else "INCORRECT",
    )


def test_what_is_gone_on_with_was_chained_rightly_and_what_is_unlinked_was_not(memory: Memory) -> None:
    hold(memory, ON_LEAK, 0, LEAK)
    second = hold(memory, ON_LEAK, 1, LEAK)
    memory.start_episode(ON_BREAD, parent_episode_id=second.id, timestamp=at(2))
    judged = decisions(memory, second.id)[-1]
    assert (judged.outcome, judged.detail["outcome"]["strength"]) == ("CORRECT", 0.5)  # type: ignore[index,call-overload]
    memory.unchain(second.id)
    assert decisions(memory, second.id)[-1].outcome == "INCORRECT"


# --- killed ---------------------------------------------------------------------------------------------


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the platform cannot fork")
@pytest.mark.parametrize("point", ["after-begin", "before-commit", "after-commit"])
def test_killed_while_it_starts_or_ends_a_session_is_there_once_or_not_at_all(
    tmp_path: Path, point: str
) -> None:
    path = tmp_path / "memory.db"

    def opened() -> Memory:
        return Memory.open(path, embedder="none", policy="seed-001", clock=lambda: NINE)

    def start(memory: Memory) -> Session:
        return memory.start_episode(ON_LEAK, key="leak-1")

    def end(memory: Memory) -> Session:
        return memory.end_episode(start(memory).id, "success")

    with opened() as memory:
        memory.add("Something before", thread="before")
    for act in (start, end):
        for count in range(1, 9):
            done = killed(opened, act, point, count)
            with opened() as memory:
                assert len(memory.sessions()) <= 1
                assert is_sound(memory)
            if done:
                break
        assert done
        with opened() as memory:
            session = act(memory)
            assert len(memory.sessions()) == 1
            if act is start:
                memory.add(list(LEAK), thread=session.thread)
    with opened() as memory:
        memory.work()
        assert (memory.session(session.id).state, memory.session(session.id).outcome) == ("closed", "success")
        assert memory.get(session.id).state is EpisodeState.COMPACTED
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
    told = run("session", "start", ON_LEAK, "--key", "k", "--at", at(0), "--tool", "bash", "--json").json
    again = run("session", "start", ON_LEAK, "--key", "k")
    assert told["id"] in again.out
    with Memory.open(database, embedder="none", policy="seed-001") as memory:
        say(memory, memory.session(told["id"]), 0, LEAK)
    assert "outcome   partial" in run("session", "end", told["id"], "--outcome", "partial").out
    second = run("session", "start", ON_AGAIN, "--at", at(24), "--json").json
    assert second["parent_episode_id"] == told["id"]
    assert f"continues {told['id']}" in run("session", "show", second["id"]).out
    assert "another session" in run("session", "end", told["id"], "--outcome", "failure").error
    listed = run("session", "list", "--json").json["sessions"]
    assert [(one["id"], one["state"]) for one in listed] == [(second["id"], "open"), (told["id"], "closed")]
    assert "(closed, partial)" in run("session", "list", "--state", "closed").out
    assert second["id"] not in run("arc", "--heads").out
    assert run("session", "end", second["id"]).code == 0
    assert told["id"] in run("arc", "--heads").out
    assert "--heads" in run("arc").error
    assert "chain" in run("tune", "run", "--what", "chain").out + run("tune", "history", "--all").out
