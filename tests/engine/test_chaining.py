"""Sessions that go on from earlier ones: judged when they close, linked and taken back by hand."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from builders.chats import Clock, mine
from builders.commands import Run
from stores.builders import rewrite_terms

from episodic_agent import Memory
from episodic_agent.core.chains.deciding import follows
from episodic_agent.errors import InvalidInput, NotFound
from episodic_agent.schemas import Decision, Scope
from episodic_agent.schemas.chains import Term

OpenMemory = Callable[..., Memory]
NINE = datetime(2026, 3, 4, 9, tzinfo=UTC)
LEAK = ("The ingest worker leaks memory, 40 MB an hour.", "I take two heap dumps of the ingest worker.")
AGAIN = ("Back to the ingest worker: both heap dumps of its memory are in.", "The worker leaks in its cache.")
DONE = (
    "Still on the memory leak of the ingest worker.",
    "The cache of the ingest worker is bounded: no leak.",
)
BREAD = ("What's a good ratio of flour to water for rye bread?", "My sourdough rye bread is too dense.")


def tell(memory: Memory, thread: str, hours: float, texts: tuple[str, ...]) -> UUID:
    """Hold a session in a thread of its own and end it; return its episode."""
    at = NINE + timedelta(hours=hours)
    items = [
        {"role": "user", "content": text, "timestamp": (at + timedelta(minutes=n)).isoformat()}
        for n, text in enumerate(texts)
    ]
    mine(memory).add(items, thread=thread)
    mine(memory).threads.close(thread)
    memory.jobs.run()
    (section,) = mine(memory).sections.list(thread=thread, limit=1)
    return section.episode_id


def decisions(memory: Memory, episode: UUID) -> list[Decision]:
    with memory._deps.store.begin(Scope("default", "default"), write=False) as tx:
        return list(tx.knowledge.decisions(subject=episode, type="chain"))


def ids(memory: Memory, episode: UUID) -> list[UUID]:
    return [one.id for one in mine(memory).chains.get(episode)]


def arc(memory: Memory, episode: UUID) -> list[UUID]:
    return [one.id for one in mine(memory).chains.tree(episode)]


@pytest.fixture
def opened(url: str, clock: Clock) -> Iterator[OpenMemory]:
    with ExitStack() as stack:

        def item(**more: Any) -> Memory:
            chosen = {"embedder": "none", "policy": "seed-001", "clock": clock, **more}
            return stack.enter_context(Memory.open(url, **chosen))

        yield item


@pytest.fixture
def memory(opened: OpenMemory) -> Memory:
    return opened()


def test_three_days_of_one_hunt_are_a_chain_and_nothing_else_joins_it(memory: Memory) -> None:
    first = tell(memory, "one", 0, LEAK)
    bread = tell(memory, "bread", 12, BREAD)
    second = tell(memory, "two", 24, AGAIN)
    third = tell(memory, "three", 48, DONE)
    assert ids(memory, third) == [first, second, third]
    assert ids(memory, first) == [first]
    assert arc(memory, first) == arc(memory, third) == [first, second, third]
    assert ids(memory, bread) == [bread]
    (made,) = decisions(memory, second)
    assert made.verdict == "CHAIN"
    assert made.score >= made.threshold
    assert made.detail["candidate"] == str(first)
    assert follows(made)


def test_another_matter_goes_on_from_nothing(memory: Memory) -> None:
    tell(memory, "one", 0, LEAK)
    bread = tell(memory, "bread", 2, BREAD)
    (made,) = decisions(memory, bread)
    assert made.verdict == "DON'T_CHAIN"
    assert follows(made)
    assert mine(memory).chains.get(bread)[0].parent_episode_id is None


def test_what_is_told_twice_is_two_sessions_in_one_chain(memory: Memory) -> None:
    first, second = tell(memory, "one", 0, LEAK), tell(memory, "two", 1, LEAK)
    assert ids(memory, second) == [first, second]


def test_an_open_session_is_no_parent(memory: Memory) -> None:
    at = NINE - timedelta(minutes=10)
    mine(memory).add(
        [{"role": "user", "content": text, "timestamp": at.isoformat()} for text in LEAK], thread="open"
    )
    second = tell(memory, "two", 1, AGAIN)
    assert ids(memory, second) == [second]


def test_a_hand_may_link_what_was_not_and_branch_an_arc(memory: Memory) -> None:
    first, bread = tell(memory, "one", 0, LEAK), tell(memory, "bread", 12, BREAD)
    second = tell(memory, "two", 24, AGAIN)
    made = mine(memory).chains.add(bread, first)
    assert made is not None
    assert (made.detail["method"], follows(made)) == ("hand", True)
    assert mine(memory).chains.add(bread, first) is None
    assert arc(memory, bread) == [first, bread, second]
    assert {one.outcome for one in decisions(memory, bread)} == {"INCORRECT", None}
    for child, parent, error in (
        (first, bread, InvalidInput),
        (first, first, InvalidInput),
        (first, UUID(int=1), NotFound),
        (UUID(int=1), first, NotFound),
    ):
        with pytest.raises(error):
            mine(memory).chains.add(child, parent)


def test_a_link_that_was_taken_back_is_not_made_again(memory: Memory) -> None:
    first, second = tell(memory, "one", 0, LEAK), tell(memory, "two", 24, AGAIN)
    refusal = mine(memory).chains.remove(second, by="Ana")
    assert (refusal.child, refusal.parent, refusal.by) == (second, first, "Ana")
    assert mine(memory).chains.refusals() == [refusal]
    assert [one.outcome for one in decisions(memory, second)] == ["INCORRECT"]
    texts = {"role": "user", "content": "The ingest worker's memory again.", "timestamp": _late()}
    mine(memory).add([texts], thread="two")  # it is told again, and judged again
    memory.jobs.run()
    assert ids(memory, second) == [second]
    with pytest.raises(NotFound):
        mine(memory).chains.remove(second)
    mine(memory).chains.add(second, first)
    assert mine(memory).chains.refusals() == []
    assert ids(memory, second) == [first, second]


def _late() -> str:
    return (NINE + timedelta(hours=24, minutes=5)).isoformat()


def test_what_loses_its_parent_goes_on_from_the_one_before(memory: Memory) -> None:
    first, second = tell(memory, "one", 0, LEAK), tell(memory, "two", 24, AGAIN)
    third = tell(memory, "three", 48, DONE)
    assert ids(memory, third) == [first, second, third]
    mine(memory).erase(thread="two")
    assert ids(memory, third) == [first, third]
    mine(memory).erase(thread="one")
    assert ids(memory, third) == [third]


def test_parents_that_run_in_a_circle_are_told_once_with_a_warning(
    memory: Memory, caplog: pytest.LogCaptureFixture
) -> None:
    first, second = tell(memory, "one", 0, LEAK), tell(memory, "two", 24, AGAIN)
    with memory._deps.store.begin(Scope("default", "default")) as tx:
        tx.episodes.lead(first, second)
    assert set(ids(memory, first)) == set(arc(memory, second)) == {first, second}
    assert len(ids(memory, first)) == 2
    assert "circle" in caplog.text


def test_a_resegmentation_leaves_chains_as_they_are(memory: Memory) -> None:
    first, second = tell(memory, "one", 0, LEAK), tell(memory, "two", 24, AGAIN)
    mine(memory).boundaries.resegment("two", "seed-001?max_messages=3")
    assert ids(memory, second) == [first, second]


def test_without_a_policy_sessions_are_not_chained(opened: OpenMemory) -> None:
    memory = opened(chain_policy="none")
    tell(memory, "one", 0, LEAK)
    second = tell(memory, "two", 24, AGAIN)
    assert ids(memory, second) == [second]
    assert decisions(memory, second) == []
    with pytest.raises(InvalidInput, match="chaining policy"):
        opened(chain_policy="chain-2027")


def say(memory: Memory, hours: float, texts: tuple[str, ...], thread: str = "long") -> None:
    at = NINE + timedelta(hours=hours)
    items = [
        {"content": t, "timestamp": (at + timedelta(minutes=n)).isoformat()} for n, t in enumerate(texts)
    ]
    mine(memory).add(items, thread=thread)


def test_parts_of_one_conversation_chain_only_where_the_words_go_on(opened: OpenMemory) -> None:
    memory = opened(policy="seed-001?min_messages=1&max_messages=2")
    others = (
        ("Book a table for two in Lisbon.", "At eight, please."),
        ("My cello bow needs new hair.", "Horse."),
    )
    for day, pair in enumerate((LEAK, others[0], AGAIN, BREAD, others[1])):
        say(memory, 30 * day, pair)
    mine(memory).threads.close("long")
    memory.jobs.run()
    sections = sorted(mine(memory).sections.list(thread="long"), key=lambda one: one.first_seq)
    assert [p.opened_for for p in sections] == ["", "time", "time", "time", "time"]
    first = sections[0].episode_id
    assert [p.parent_episode_id for p in sections] == [None, None, first, None, None]
    assert [finding for finding in memory.doctor() if finding.severity == "error"] == []


def test_an_event_that_reaches_into_the_next_part_chains_it_by_roll(opened: OpenMemory) -> None:
    memory = opened(policy="seed-001?max_messages=200")
    say(memory, 0, tuple(f"{LEAK[n % 2]} Note {n}." for n in range(60)))
    mine(memory).threads.close("long")
    memory.jobs.run()
    late, early = mine(memory).sections.list(thread="long")
    assert (late.opened_for, late.parent_episode_id) == ("size", early.episode_id)
    (made,) = decisions(memory, late.episode_id)
    assert (made.detail["method"], follows(made)) == ("roll", True)


def test_what_began_later_is_no_parent(memory: Memory) -> None:
    early, late = tell(memory, "early", 0, BREAD), tell(memory, "late", 24, LEAK)
    with pytest.raises(InvalidInput) as refused:
        mine(memory).chains.add(early, late)
    for text in (str(early), str(late), "2026-03-04T09:00", "2026-03-05T09:00"):
        assert text in str(refused.value)
    with pytest.raises(InvalidInput, match="began at"):
        mine(memory).sessions.start("Rye bread", parent_episode_id=late, timestamp=NINE.isoformat())
    assert ids(memory, early) == [early]
    assert mine(memory).chains.add(late, early) is not None


def test_a_link_to_what_began_later_is_found_and_left_out_of_an_import(
    memory: Memory, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    early, late = tell(memory, "early", 0, BREAD), tell(memory, "late", 24, LEAK)
    with memory._deps.store.begin(Scope("default", "default")) as tx:
        tx.episodes.lead(early, late)  # as before it was refused
    (fault,) = [one for one in memory.doctor() if one.severity == "error"]
    assert str(early) in fault.message
    path = tmp_path / "memory.jsonl"
    path.write_text("\n".join(line.rstrip("\n") for line in mine(memory).export()) + "\n")
    with Memory.open(tmp_path / "other.db", embedder="none", policy="seed-001") as other:
        mine(other).import_file(path)
        assert [one.id for one in mine(other).chains.get(early)] == [early]
        assert str(late) in caplog.text


def test_a_part_that_begins_because_of_age_goes_on_from_the_part_before(memory: Memory) -> None:
    for hours, text in ((0, LEAK[0]), (30, AGAIN[0])):
        at = (NINE + timedelta(hours=hours)).isoformat()
        mine(memory).add([{"role": "user", "content": text, "timestamp": at}], thread="long")
    mine(memory).threads.close("long")
    memory.jobs.run()
    late, early = mine(memory).sections.list(thread="long")
    assert ids(memory, late.episode_id) == [early.episode_id, late.episode_id]
    (made,) = decisions(memory, late.episode_id)
    assert (made.detail["method"], follows(made)) == ("roll", True)


def test_episodes_are_listed_by_what_they_are_about(memory: Memory) -> None:
    tell(memory, "one", 0, LEAK)
    tell(memory, "bread", 12, BREAD)
    tell(memory, "two", 24, AGAIN)
    (bread,) = mine(memory).episodes.list(thread="bread")
    tag = mine(memory).episodes.get(bread.episode_id).metadata["tags"]
    assert isinstance(tag, list | tuple)
    assert [card.origin for card in mine(memory).episodes.list(where=f"tag={tag[-1]}")] == ["bread"]
    assert [card.origin for card in mine(memory).episodes.list(where=["since=2026-03-05"])] == ["two"]
    assert [card.origin for card in mine(memory).episodes.list(where="participant=user", limit=2)] == [
        "bread",
        "two",
    ]
    assert mine(memory).episodes.list(where="tag=nothing") == []
    with pytest.raises(InvalidInput, match="tag"):
        mine(memory).episodes.list(where="tga=x")


def test_what_is_found_by_is_written_again_by_the_doctor(memory: Memory) -> None:
    first = tell(memory, "one", 0, LEAK)
    assert [finding for finding in memory.doctor() if finding.severity == "error"] == []
    event = mine(memory).episodes.list()[0].episode_id
    identifiers = [card.episode_id for card in mine(memory).episodes.list(where="participant=user")]
    with memory._deps.store.begin(Scope("default", "default")) as tx:
        rewrite_terms(tx, first)  # a session that lost its rows, an event with rows of something else
        rewrite_terms(tx, event, Term("tag", "stranger"))
    assert [card.episode_id for card in mine(memory).episodes.list(where="tag=stranger")] == [event]
    (finding,) = [finding for finding in memory.doctor() if finding.severity == "error"]
    assert (finding.invariant, "2 episodes" in finding.message) == ("metadata", True)
    memory.doctor(repair=True)
    assert [finding for finding in memory.doctor() if finding.severity == "error"] == []
    assert mine(memory).episodes.list(where="tag=stranger") == []
    assert (
        [card.episode_id for card in mine(memory).episodes.list(where="participant=user")]
        == identifiers
        != []
    )


def test_chains_decisions_and_refusals_travel_with_an_export(
    memory: Memory, opened: OpenMemory, tmp_path: Path
) -> None:
    first, second = tell(memory, "one", 0, LEAK), tell(memory, "two", 24, AGAIN)
    third = tell(memory, "three", 48, DONE)
    mine(memory).chains.remove(third)
    lines = list(mine(memory).export())
    path = tmp_path / "memory.jsonl"
    path.write_text("\n".join(line.rstrip("\n") for line in lines) + "\n")
    with Memory.open(tmp_path / "other.db", embedder="none", policy="seed-001") as other:
        mine(other).import_file(path)
        assert ids(other, second) == [first, second]
        assert decisions(other, second) == decisions(memory, second)
        assert mine(other).chains.refusals() == mine(memory).chains.refusals() != []


def test_a_session_is_shown_with_its_chain_and_its_arc_on_the_command_line(run: Run, database: Path) -> None:
    with Memory.open(database, embedder="none", policy="seed-001") as memory:
        first, second = tell(memory, "one", 0, LEAK), tell(memory, "two", 24, AGAIN)
    text = run("chain", str(second)).out
    assert text.index(str(first)) < text.index("continues from") < text.index(str(second))
    drawn = run("arc", str(first)).out
    assert drawn.index(str(first)) < drawn.index(str(second)) < drawn.index("found: ")
    assert str(first) not in run("chain", str(second), "--unlink").out
    assert run("chain", str(second), "--to", str(first)).out == text
