"""What a caller declares of a session beats what is extracted: filters, lists, replay, titles, export."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from builders.chats import Clock, mine
from builders.sessions import AGAIN, BREAD, LEAK, NINE, ON_LEAK, at, is_sound, say

from episodic_agent import Memory
from episodic_agent.engine.threads.sessions import Session

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
