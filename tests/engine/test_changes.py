"""What a memory learned between two moments: everything that was written, once, in order; on both stores."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from builders.chats import BREAD, LISBON, START, Clock, mine, talk
from builders.commands import Run
from conftest import OpenMemory

from episodic_agent.engine.trace.changes import ChangeKind, MemoryChanges
from episodic_agent.errors import InvalidInput, NotFound


@pytest.fixture
def told(open_memory: OpenMemory, url: str) -> Any:
    """Open a memory whose clock stands at 1 June; its chats are of May."""
    clock = Clock(datetime(2024, 6, 1, 12, tzinfo=UTC))
    return mine(open_memory(path=url, clock=clock, policy="default")), clock


def kinds(changes: MemoryChanges) -> list[str]:
    return [one.kind.value for one in changes.changes]


def test_a_week_tells_what_came_and_what_was_learned_in_it(told: Any) -> None:
    user, clock = told
    user.add(talk(LISBON, 0))
    user.flush()
    clock.now += timedelta(days=10)
    user.add([{"role": "user", "content": "I'm allergic to walnuts.", "timestamp": clock.now.isoformat()}])
    user.flush()
    week = user.trace.changes()
    assert any("allergic to walnuts" in one.what for one in week.of("fact"))
    assert sum(int(one.what.split()[0]) for one in week.of("messages")) == 1
    earlier = user.trace.changes(START, until=clock.now - timedelta(days=7))
    assert sum(int(one.what.split()[0]) for one in earlier.of("messages")) == len(LISBON)
    assert not any("walnuts" in one.what for one in earlier.changes)
    both = user.trace.changes(START)
    assert len(both.of(ChangeKind.EPISODE)) == len(week.of("episode")) + len(earlier.of("episode")) > 1
    assert [one.at for one in both.changes] == sorted(one.at for one in both.changes)


def test_two_halves_together_are_the_whole(told: Any) -> None:
    user, clock = told
    for number, lines in enumerate((LISBON, BREAD)):
        user.add(talk(lines, number, prefix=str(number)), thread=f"t{number}")
        user.flush()
        clock.now += timedelta(days=1)
    border = clock.now - timedelta(days=1, hours=1)
    whole = user.trace.changes(START)
    halves = [user.trace.changes(START, until=border), user.trace.changes(border)]
    told_apart = [(o.kind, o.subject) for half in halves for o in half.changes]
    assert sorted(told_apart, key=str) == sorted(((o.kind, o.subject) for o in whole.changes), key=str)


def test_what_people_did_by_hand_is_told_with_their_hand(told: Any) -> None:
    user, clock = told
    user.add(talk(LISBON, 0), thread="trip")
    user.add(talk(BREAD, 1, prefix="b"), thread="bread")
    user.flush()
    clock.now += timedelta(hours=1)
    began = clock.now
    clock.now += timedelta(hours=1)
    user.links.add("bread", "trip")
    user.episodes.pin(thread="trip", reason="the trip matters")
    clock.now += timedelta(hours=1)
    user.links.remove("bread", "trip")
    changes = user.trace.changes(began)
    assert kinds(changes) == ["link", "pinned", "unlinked"]
    assert changes.changes[0].by == "hand"
    assert "the trip matters" in changes.changes[1].what
    assert "'bread' goes on with 'trip'" in repr(changes)


def test_what_was_erased_leaves_a_receipt_and_is_counted_no_more(told: Any) -> None:
    user, _ = told
    user.add(talk(LISBON, 0), thread="trip")
    user.add(talk(BREAD, 1, prefix="b"), thread="bread")
    user.flush()
    user.erase(thread="trip")
    changes = user.trace.changes(START)
    assert [one.thread for one in changes.of("messages")] == ["bread"]
    (receipt,) = changes.of("erased")
    assert "thread" in receipt.what
    assert not any("Lisbon" in one.what for one in changes.changes)


def test_wrong_times_and_an_unknown_user_are_named(open_memory: OpenMemory) -> None:
    memory = open_memory()
    with pytest.raises(NotFound, match="the memory is empty"):
        memory.user("nobody").trace.changes()
    user = mine(memory)
    user.add(talk(LISBON, 0))
    with pytest.raises(InvalidInput, match=r"`since` \(2024-06-02 00:00\) is after `until`"):
        user.trace.changes("2024-06-02", until="2024-06-01")
    with pytest.raises(InvalidInput, match="cannot read the time 'soon'"):
        user.trace.changes("soon")


def test_the_command_lists_them(run: Run) -> None:
    run("add", "My sister lives in Porto and I visit her every May.")
    assert "1 message in" in run("changes").out
    assert run("changes", "--json").json["changes"][0]["kind"] == "messages"
    assert "nothing changed" in run("changes", "--since", "2001-01-01", "--until", "2001-01-02").err
