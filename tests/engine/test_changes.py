"""What a memory learned between two moments: everything that was written, once, in order; on both stores."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from builders.chats import BREAD, LISBON, START, Clock, mine, talk
from builders.commands import Run
from conftest import OpenMemory
from hypothesis import given
from hypothesis import strategies as st

from episodic_agent import Memory
from episodic_agent.engine.trace.acts import calling
from episodic_agent.engine.trace.changes import ChangeKind, MemoryChanges
from episodic_agent.errors import InvalidInput, NotFound
from episodic_agent.schemas import Caller

FACTS = (ChangeKind.FACT, ChangeKind.FACT_ENDED, ChangeKind.FACT_EDITED, ChangeKind.FACT_DELETED)


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
    assert [one["kind"] for one in run("changes", "--json").json["changes"]][:2] == ["thread", "messages"]
    assert "nothing changed" in run("changes", "--since", "2001-01-01", "--until", "2001-01-02").err


def test_threads_that_begin_are_told_once_in_the_week_they_began(told: Any) -> None:
    user, clock = told
    user.add(talk(LISBON, 0, prefix="l"), thread="trip")
    clock.now += timedelta(days=10)
    user.add(talk(LISBON[:1], 5, prefix="m"), thread="trip")
    user.add(talk(BREAD, 1, prefix="b"), thread="bread")
    week = user.trace.changes()
    assert [one.what for one in week.of("thread")] == ["bread"]
    assert [one.what for one in user.trace.changes(START).of("thread")] == ["trip", "bread"]
    user.erase(observation=user.episodes.messages(user.episodes.list()[0].episode_id)[0].id)
    assert {one.what for one in user.trace.changes(START).of("thread")} == {"trip", "bread"}


def test_chains_are_told_as_they_were_made_and_taken_back(told: Any) -> None:
    user, clock = told
    sessions = []
    for number in range(2):
        session = user.sessions.start(f"Topic {number}", timestamp=clock.now.isoformat())
        user.add(f"About the topic of session {number}", thread=session.thread)
        user.sessions.end(session.id)
        sessions.append(session.id)
        clock.now += timedelta(hours=1)
    began = clock.now
    clock.now += timedelta(hours=1)
    user.chains.add(sessions[1], sessions[0])
    clock.now += timedelta(hours=1)
    made = user.trace.changes(began)
    user.chains.remove(sessions[1], by="ana")
    changes = user.trace.changes(began)
    assert kinds(made) == ["chain"]
    assert kinds(changes) == ["chain", "unchained"]
    chain, undone = changes.changes
    assert (chain.subject, chain.by, undone.by) == (sessions[1], "hand", "ana")
    assert "goes on from" in chain.what


def test_an_erasure_is_told_with_who_erased(told: Any) -> None:
    user, _ = told
    user.add(talk(LISBON, 0), thread="trip")
    with calling(Caller("http", "k1", "admin")):
        user.erase(thread="trip")
    assert user.trace.changes().of("erased")[0].by == "http, key k1 (admin)"


STEPS = ("live", "like", "edit", "delete", "confirm")


@pytest.mark.slow
@given(st.lists(st.sampled_from(STEPS), min_size=2, max_size=8), st.integers(0, 8), st.integers(0, 8))
def test_what_two_weeks_tell_of_facts_is_what_both_together_tell(
    program: list[str], one: int, other: int
) -> None:
    clock = Clock(datetime(2024, 6, 1, 12, tzinfo=UTC))
    moments = [clock.now]
    with Memory.open(":memory:", embedder="none", clock=clock, resume=False) as memory:
        user = memory.user("ana", new=True)
        for number, step in enumerate(program):
            clock.now += timedelta(hours=1)
            facts = user.facts.list() if number else []
            if step == "live":
                user.add(f"I live in {('Porto', 'Lisbon', 'Braga')[number % 3]}.", thread="t")
            elif step == "like" or not facts:
                user.add(f"I love {('rye bread', 'oolong tea', 'old maps')[number % 3]}.", thread="t")
            elif step == "edit":
                user.facts.edit(facts[0].id, text=f"Ana lives in house number {number}.")
            elif step == "delete":
                user.facts.delete(facts[0].id)
            else:
                user.facts.confirm(facts[0].id)
            moments.append(clock.now)
        first, middle = moments[0] - timedelta(hours=1), moments[min(one, other, len(moments) - 1)]
        last = moments[-1]
        told = [
            Counter((c.at, c.kind, c.subject) for c in user.trace.changes(since, until=until).of(*FACTS))
            for since, until in ((first, middle), (middle, last), (first, last))
        ]
    assert told[0] + told[1] == told[2]
    assert told[2].total() > 0 or "live" not in program


def test_a_past_knows_a_chain_that_was_taken_back_since(told: Any) -> None:
    user, clock = told
    sessions = []
    for number in range(2):
        session = user.sessions.start(f"Topic {number}", timestamp=clock.now.isoformat())
        user.add(f"About the topic of session {number}", thread=session.thread)
        user.sessions.end(session.id)
        sessions.append(session.id)
        clock.now += timedelta(hours=1)
    user.chains.add(sessions[1], sessions[0])
    clock.now += timedelta(hours=1)
    chained = clock.now
    clock.now += timedelta(hours=1)
    user.chains.remove(sessions[1])
    assert [one.id for one in user.as_of(chained).chains.get(sessions[1])] == sessions
    assert [one.id for one in user.chains.get(sessions[1])] == sessions[1:]
