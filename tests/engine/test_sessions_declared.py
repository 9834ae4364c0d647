"""What a caller declares of a session beats what is extracted: filters, lists, replay, titles, export."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from builders.chats import Clock, mine
from builders.commands import Run
from builders.sessions import AGAIN, BREAD, LEAK, NINE, ON_AGAIN, ON_BREAD, ON_LEAK, at, is_sound, say

from episodic_agent import Memory
from episodic_agent.engine.threads.sessions import Session
from episodic_agent.errors import InvalidInput
from episodic_agent.tools import memory_tools

OpenMemory = Callable[..., Memory]
IN_TWOS = "seed-001?max_messages=2&min_messages=1"  # so many messages are an event
DECLARED = ("tool=bash", "participant=Ana", 'decision="keep the dumps"', "outcome=failure")


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


def found_by(memory: Memory, where: str) -> list[UUID]:
    return [card.episode_id for card in mine(memory).episodes.list(where=where)]


def declared(memory: Memory, hours: float = 0) -> Session:
    """Hold a session of two events that its caller says all there is to say of."""
    started = mine(memory).sessions.start(ON_LEAK, participants=["Ana"], tools=["bash"], timestamp=at(hours))
    say(memory, started, hours, LEAK)
    say(memory, started, hours + 0.1, AGAIN)
    return mine(memory).sessions.end(started.id, "failure", ["keep the dumps"])


def shows_what_was_declared(memory: Memory, held: Session) -> None:
    events = [card.episode_id for card in mine(memory).episodes.list(thread=held.thread)]
    assert len(events) == 2
    for where in DECLARED:
        assert found_by(memory, where) == events
        assert [one.episode_id for one in mine(memory).chains.sequence(where=where)] == events
        assert {hit.episode_id for hit in mine(memory).search("heap dumps", where=where).hits} <= set(events)
        assert mine(memory).search("heap dumps", where=where).hits
    assert [mine(memory).episodes.get(one).metadata["outcome"] for one in events] == ["failure", "failure"]
    assert [mine(memory).episodes.get(one).title for one in (held.id, events[0])] == [ON_LEAK, ON_LEAK]
    text = mine(memory).chains.replay("")
    assert text.count("Outcome: failure") == 2
    assert ON_LEAK in text
    assert "Outcome: unknown" not in text
    assert mine(memory).chains.arc(held.id).steps[0].title == ON_LEAK
    assert [card.title for card in mine(memory).sections.list(thread=held.thread)] == [ON_LEAK]
    assert found_by(memory, "outcome=success") == []


@pytest.mark.slow
def test_what_was_declared_of_a_session_is_found_listed_and_replayed(
    opened: OpenMemory, tmp_path: Path
) -> None:
    memory = opened(policy=IN_TWOS)
    held = declared(memory)
    shows_what_was_declared(memory, held)
    mine(memory).episodes.reencode(every=True)
    shows_what_was_declared(memory, held)
    memory.doctor(repair=True)
    assert is_sound(memory)
    shows_what_was_declared(memory, held)
    path = tmp_path / "memory.jsonl"
    path.write_text(
        "\n".join(line.rstrip("\n") for line in mine(memory).export(where="outcome=failure")) + "\n"
    )
    with Memory.open(tmp_path / "other.db", embedder="none", policy="seed-001") as other:
        mine(other).import_file(path)
        shows_what_was_declared(other, held)
        mine(other).episodes.reencode(every=True)
        shows_what_was_declared(other, held)


def test_what_was_declared_is_found_before_there_are_words(opened: OpenMemory) -> None:
    memory, waiting = opened(policy=IN_TWOS), opened(policy=IN_TWOS, jobs="workers")
    started = mine(waiting).sessions.start(ON_LEAK, participants=["Ana"], tools=["bash"], timestamp=at(0))
    say(waiting, started, 0, LEAK)
    say(waiting, started, 0.1, AGAIN)
    assert [card.state for card in mine(waiting).episodes.list(where="tool=bash participant=ana")] == [
        "closed",
        "open",
    ]
    assert found_by(waiting, "tool=vim") == []
    mine(waiting).sessions.end(started.id, "failure", ["keep the dumps"])
    assert [len(found_by(waiting, where)) for where in DECLARED] == [2, 2, 2, 2]
    assert {one.metadata.outcome for one in mine(waiting).chains.sequence()} == {"failure"}
    memory.jobs.run()
    shows_what_was_declared(memory, mine(memory).sessions.get(started.id))


def test_what_is_declared_after_the_end_reaches_what_happened_and_nothing_beside(memory: Memory) -> None:
    mine(memory).add([{"content": BREAD[0], "timestamp": at(0)}], thread="run")
    started = mine(memory).sessions.start(ON_LEAK, thread="run", timestamp=at(1))
    say(memory, started, 1, LEAK)
    mine(memory).sessions.end(started.id)
    mine(memory).add([{"content": BREAD[1], "timestamp": at(2)}], thread="run")
    mine(memory).flush()
    mine(memory).sessions.end(started.id, "failure", tools=["bash"])
    (event,) = found_by(memory, "outcome=failure tool=bash")
    assert [o.text for o in mine(memory).episodes.messages(event)] == list(LEAK)
    assert is_sound(memory)


def test_a_session_is_found_by_its_topic_and_by_the_agent_that_held_it(opened: OpenMemory) -> None:
    memory = opened(policy=IN_TWOS)
    held = declared(memory)
    other = mine(memory).sessions.start(ON_BREAD, agent_id="baker", timestamp=at(3))
    say(memory, other, 3, BREAD)
    (running,) = found_by(memory, "topic~rye")  # while it runs, too
    assert found_by(memory, "agent=baker") == [running]
    mine(memory).sessions.end(other.id)
    events = [card.episode_id for card in mine(memory).episodes.list(thread=held.thread)]
    assert found_by(memory, f'topic="{ON_LEAK}"') == events
    assert found_by(memory, 'topic~"ingest worker"') == events
    assert found_by(memory, "topic~ingest agent=baker") == []
    assert [one.episode_id for one in mine(memory).chains.sequence(where="topic~rye")] == [running]
    assert {hit.episode_id for hit in mine(memory).search("rye bread", where="agent=baker").hits} == {running}
    mine(memory).episodes.reencode(every=True)
    assert found_by(memory, "topic~ingest") == events
    assert is_sound(memory)


def test_the_topic_titles_a_session_while_it_runs(memory: Memory) -> None:
    started = mine(memory).sessions.start(ON_BREAD, timestamp=at(0))
    say(memory, started, 0, BREAD)
    (card,) = mine(memory).episodes.list()
    assert (card.state, card.title) == ("open", ON_BREAD)
    assert mine(memory).episodes.recent()[0].title == ON_BREAD
    assert mine(memory).threads.list()[0].title == ON_BREAD
    assert mine(memory).search("rye bread").hits[0].title == ON_BREAD


@pytest.mark.slow
def test_stories_are_found_by_the_tools_people_and_decisions_declared(
    opened: OpenMemory, tmp_path: Path
) -> None:
    memory = opened()
    started = mine(memory).sessions.start(
        "Memory of the worker", participants=["Ana Lindqvist"], tools=["heaptrack"], timestamp=at(0)
    )
    say(memory, started, 0, LEAK)
    mine(memory).sessions.end(started.id, "partial", ["cap the schema cache"])
    for hours in range(1, 9):
        items = [{"content": text, "timestamp": at(24 * hours)} for text in BREAD]
        mine(memory).add(items, thread=f"b{hours}")
    mine(memory).flush()
    (event,) = found_by(memory, "tool=heaptrack")

    def answers(asked: Memory) -> None:
        for topic in ("heaptrack", "Ana Lindqvist", "capping the schema cache"):
            assert [one.episode_id for one in mine(asked).chains.sequence(topic)] == [event], topic
            assert "Outcome: partial" in mine(asked).chains.replay(topic)

    answers(memory)
    mine(memory).episodes.reencode(every=True)
    answers(memory)
    mine(memory).boundaries.resegment(started.thread)
    answers(memory)
    path = tmp_path / "memory.jsonl"
    path.write_text("\n".join(line.rstrip("\n") for line in mine(memory).export()) + "\n")
    with Memory.open(tmp_path / "other.db", embedder="none") as other:
        mine(other).import_file(path)
        answers(other)


def test_what_a_session_goes_on_from_is_called_by_its_topic(opened: OpenMemory) -> None:
    memory = opened(policy=IN_TWOS)
    first = declared(memory)
    then = mine(memory).sessions.start(ON_BREAD, parent_episode_id=first.id, timestamp=at(5))
    say(memory, then, 5, BREAD)
    mine(memory).sessions.end(then.id, "success")
    last = mine(memory).chains.sequence("")[-1]
    assert (last.title, last.parent_title) == (ON_BREAD, ON_LEAK)
    assert f'(continues from "{ON_LEAK}")' in mine(memory).chains.replay("")


@pytest.mark.slow
def test_a_long_session_is_replayed_to_its_end(memory: Memory) -> None:
    """Its one event reaches over several parts: those are no further sessions."""
    first = mine(memory).sessions.start(ON_LEAK, timestamp=at(0))
    say(memory, first, 0, LEAK)
    mine(memory).sessions.end(first.id, "partial", ["take more dumps"])
    long = mine(memory).sessions.start(ON_AGAIN, parent_episode_id=first.id, timestamp=at(2))
    say(memory, long, 2, tuple(f"{AGAIN[n % 2]} Dump {n}." for n in range(60)))
    asked = mine(memory).context("What was decided about the dumps before?", thread=long.thread).text
    assert "take more dumps" in asked
    mine(memory).sessions.end(long.id, "failure")
    assert len(mine(memory).sections.list(thread=long.thread)) == 2
    story = mine(memory).chains.replay("memory leak of the ingest worker")
    assert "outcome failure." in story
    assert "goes on after this" not in story


def test_a_replay_tells_what_was_decided_once_and_how_it_ended(opened: OpenMemory) -> None:
    memory = opened(policy=IN_TWOS)
    declared(memory)
    story = mine(memory).chains.replay("memory leak")
    assert story.count("Decided: keep the dumps") == 1  # of two events
    assert "Outcome: failure" in story
    assert "Decided" not in mine(memory).chains.replay("memory leak", policy="seed-004")


def test_a_question_for_what_was_decided_is_told_it(opened: OpenMemory) -> None:
    memory = opened(policy=IN_TWOS)
    held = declared(memory)
    question = "What did we decide about the memory leak?"
    found = mine(memory).search(question)
    assert {hit.thread_id for hit in found.hits} == {mine(memory).threads.get(held.thread).thread.id}
    assert "   decided: keep the dumps" in str(found).splitlines()
    decided = {hit.start_at: hit.decisions for hit in found.hits}
    assert len(decided) > 1
    assert [time for time, some in decided.items() if some] == [max(decided)]  # told with the last event
    assert "**Decided:** keep the dumps" in mine(memory).retrieve(question, detail="high")
    context = mine(memory).context(question, thread="other", at=at(3))
    (line,) = [one for one in context.items if "keep the dumps" in one.text]
    assert line.text == f"- {ON_LEAK}. Outcome: failure. Decided: keep the dumps."
    assert line.thread == held.thread
    assert line.observations
    assert context.text.index(AGAIN[1]) < context.text.index(line.text)
    before = mine(memory).context(question, thread="other", at=at(0.01)).text
    assert "keep the dumps" not in before  # the session had not ended


def test_a_decision_is_told_for_its_own_words(memory: Memory) -> None:
    held = mine(memory).sessions.start(ON_LEAK, timestamp=at(0))
    say(memory, held, 0, LEAK)
    mine(memory).flush()  # it has words before anything is declared
    mine(memory).sessions.end(held.id, key_decisions=["freeze the schema cache until July"])
    for day in range(1, 9):
        items = [{"content": text, "timestamp": at(24 * day)} for text in BREAD]
        mine(memory).add(items, thread=f"b{day}")
    mine(memory).flush()
    question = "Do we freeze the schema cache?"
    assert [one.thread_id for one in mine(memory).chains.sequence("freeze the schema cache")] == [
        mine(memory).threads.get(held.thread).thread.id
    ]
    assert "Decided: freeze the schema cache until July." in mine(memory).context(question, at=at(300)).text
    mine(memory).episodes.suppress(thread=held.thread)
    assert "schema cache until" not in mine(memory).context(question, at=at(300)).text


def test_a_decision_with_suppressed_words_is_not_told(memory: Memory) -> None:
    declared(memory)
    mine(memory).episodes.suppress(words="keep the")
    question, decision = "What did we decide about the memory leak?", "keep the dumps"
    assert mine(memory).search("ingest worker memory leak").hits
    assert decision not in str(mine(memory).search("ingest worker memory leak"))
    assert decision not in mine(memory).retrieve(question, detail="high")
    assert decision not in mine(memory).context(question, thread="other", at=at(3)).text
    assert decision not in mine(memory).chains.replay("memory leak")


def test_what_the_session_before_decided_is_told_once(memory: Memory) -> None:
    first = declared(memory)
    then = mine(memory).sessions.start(ON_AGAIN, parent_episode_id=first.id, timestamp=at(5))
    say(memory, then, 5, AGAIN[:1])
    text = mine(memory).context("What did we decide about the leak?", thread=then.thread, at=at(5.1)).text
    assert text.count("keep the dumps") == 1


def test_the_topic_titles_the_thread_of_a_session_whatever_was_said_last(opened: OpenMemory) -> None:
    memory = opened(policy=IN_TWOS, link_policy="none")
    held = mine(memory).sessions.start(ON_LEAK, timestamp=at(0))
    say(memory, held, 0, LEAK)
    say(memory, held, 0.1, ("Leave it, no time today.", "Right, tomorrow then."))
    mine(memory).sessions.end(held.id, "abandoned")
    mine(memory).add([{"content": BREAD[0], "timestamp": at(30)}], thread="bread")
    mine(memory).flush()
    ana = mine(memory)
    assert len(ana.episodes.list(thread=held.thread)) == 2
    assert ana.threads.get(held.thread).thread.title == ON_LEAK
    assert ON_LEAK in [thread.title for thread in ana.threads.list()]
    assert ana.threads.get(ON_LEAK).thread.origin == held.thread
    ana.links.add("bread", held.thread)
    asked = ana.context("Where were we?", thread=held.thread, at=at(31), form="seed-002").text
    assert ON_LEAK.casefold() in asked.casefold().split("previous questions")[0]
    assert any(ON_LEAK in episode.title for episode in ana.links.episodes())
    ana.episodes.suppress(thread=held.thread)
    assert ON_LEAK not in [thread.title for thread in ana.threads.list()]


def test_an_import_of_an_export_says_what_came_beside_messages(memory: Memory, tmp_path: Path) -> None:
    declared(memory)
    path = tmp_path / "memory.jsonl"
    path.write_text("\n".join(line.rstrip("\n") for line in mine(memory).export()) + "\n")
    with Memory.open(tmp_path / "other.db", embedder="none", policy="seed-001") as other:
        for report in (mine(other).import_file(path, dry_run=True), mine(other).import_file(path)):
            assert any(note.startswith("memory.jsonl holds 1 session") for note in report.notes)


# --- when it ended --------------------------------------------------------------------------------------


def test_a_session_of_the_past_ends_when_it_did_and_only_from_the_call_on(
    memory: Memory, clock: Clock
) -> None:
    ana = mine(memory)
    started = ana.sessions.start(ON_LEAK, timestamp=at(-50))
    say(memory, started, -50, LEAK)
    with pytest.raises(InvalidInput, match="it cannot end at"):
        ana.sessions.end(started.id, timestamp=at(-51))
    clock.now = NINE + timedelta(hours=8)
    ended = ana.sessions.end(started.id, "success", timestamp=at(-49))
    assert ended.ended_at == datetime.fromisoformat(at(-49))
    assert ana.sessions.end(started.id, timestamp=at(-48)) == ended  # it has ended
    (then,) = ana.as_of(NINE + timedelta(hours=1)).sessions.list()
    assert (then.state, then.ended_at, then.outcome) == ("open", None, None)
    clock.now = NINE + timedelta(hours=10)
    (now,) = ana.as_of(NINE + timedelta(hours=9)).sessions.list()
    assert (now.state, now.ended_at) == ("closed", ended.ended_at)
    assert is_sound(memory)


def test_tools_and_commands_take_when_a_session_began_and_ended(memory: Memory, run: Run) -> None:
    tools = memory_tools(mine(memory))
    started = tools.answer("start_session", {"topic": ON_LEAK, "timestamp": at(-50)}).data
    say(memory, mine(memory).sessions.get(started["session_id"]), -50, LEAK)
    tools.call("end_session", {"session_id": started["session_id"], "timestamp": at(-49)})
    session = mine(memory).sessions.get(started["session_id"])
    assert session.started_at == datetime.fromisoformat(at(-50))
    assert session.ended_at == datetime.fromisoformat(at(-49))
    named = run("session", "start", ON_BREAD, "--at", at(-40), "--json").json["id"]
    ended = run("session", "end", named, "--at", at(-39), "--json").json["ended_at"]
    assert datetime.fromisoformat(ended) == datetime.fromisoformat(at(-39))
