"""What makes searches and intake cheap is counted: what is read once, compared once, packed and not unpacked."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from builders.chats import Clock
from builders.minilm import default_model

from episodic_agent import Memory
from episodic_agent.core.boundary.conversation import default
from episodic_agent.core.sections import resolutions
from episodic_agent.engine.boundary import segmenting
from episodic_agent.engine.facts import transcripts
from episodic_agent.engine.recall import settling
from episodic_agent.schemas import Scope
from episodic_agent.schemas.facts import StoredFact
from episodic_agent.stores.sqlite.observations import SqliteObservations

MONDAY = datetime(2026, 9, 7, 9, tzinfo=UTC)
PROMISES = (
    "I'll book the room for the workshop",
    "I will send Halden the contract tomorrow",
    "the room is booked",
    "the contract went out to Halden",
    "I'll call the plumber about the sink",
    "the plumber has fixed the sink",
)


@pytest.fixture
def memory(tmp_path: Path, clock: Clock) -> Any:
    clock.now = MONDAY
    with Memory.open(tmp_path / "m.db", embedder=default_model(), clock=clock, resume=False) as memory:
        yield memory


def counted(monkeypatch: pytest.MonkeyPatch, module: Any, name: str, place: int = 0) -> Counter[Any]:
    """Count the calls of a function by one of their arguments."""
    function, calls = getattr(module, name), Counter[Any]()

    def counting(*values: Any, **named: Any) -> Any:
        calls[str(values[place])] += 1
        return function(*values, **named)

    monkeypatch.setattr(module, name, counting)
    return calls


def test_a_message_is_read_once_beside_all_that_was_taken_on(
    memory: Memory, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    ana = memory.user("Ana", new=True)
    for text in PROMISES:
        clock.now += timedelta(minutes=7)
        ana.add(text, role="Ana", thread="work", timestamp=clock.now)
    clock.now += timedelta(days=2)
    calls: Counter[tuple[Any, ...]] = Counter()
    for name in ("_cosine_of", "_share_held", "_all_before"):
        function = getattr(settling._ReportPairs, name)

        def counting(self: Any, *refs: int, _name: str = name, _call: Any = function) -> Any:
            calls[_name, *refs] += 1
            return _call(self, *refs)

        monkeypatch.setattr(settling._ReportPairs, name, counting)
    assert ana.search("what did I promise?").commitments
    assert set(calls.values()) == {1}


def test_a_fact_that_is_read_again_is_the_one_that_was_read_until_it_changes(memory: Memory) -> None:
    ana = memory.user("ana", new=True)
    ana.add("I live in Lisbon with my sister")

    def stored() -> StoredFact:
        with memory._deps.store.begin(Scope("ana", "default"), write=False) as tx:
            return tx.knowledge.facts()[0]

    first = stored()
    assert stored() is first
    ana.facts.confirm(first.id)
    assert stored().fact.confirmed
    assert not first.fact.confirmed


def test_a_thread_goes_on_without_unpacking_what_was_packed_just_now(
    memory: Memory, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    unpacked = counted(monkeypatch, default, "unpack_memory")
    ana = memory.user("ana", new=True)
    for text in ("We sail on Friday", "Which boat?", "The blue one", "I bring soup"):
        ana.add(text, thread="boat", timestamp=clock.now)
    assert not unpacked
    monkeypatch.setattr(segmenting, "_packed", segmenting._PackedMemories(64))  # as in the next process
    ana.add("And bread", thread="boat", timestamp=clock.now)
    assert len(unpacked) == 1


def test_memories_that_are_kept_are_few() -> None:
    recent = segmenting._PackedMemories(2)
    policy = default.DefaultPolicy()
    for number in range(3):
        recent.keep(policy, bytes([number]), number)
    assert [recent.get(policy, bytes([number])) for number in range(3)] == [None, 1, 2]


def test_the_talk_before_several_episodes_is_read_once(
    memory: Memory, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    ana = memory.user("ana", new=True)
    texts = ("my sister's exam is next week", "he works from home on Mondays", "we usually run by the river")
    for day in range(4):
        clock.now = MONDAY + timedelta(days=day)
        ana.add([{"content": f"{text} {day}", "timestamp": clock.now} for text in texts], wait=False)
    monkeypatch.setattr(transcripts, "in_doubt", lambda *_: True)
    read: Counter[int] = Counter()
    by_refs = SqliteObservations._by_refs

    def counting(self: SqliteObservations, refs: Any) -> Any:
        read.update(refs)
        return by_refs(self, refs)

    monkeypatch.setattr(SqliteObservations, "_by_refs", counting)
    clock.now += timedelta(days=3)
    memory.upkeep()
    assert read
    assert max(read.values()) <= 6  # 8 where the talk before each episode is read anew


def test_a_section_chooses_what_it_is_about_once(monkeypatch: pytest.MonkeyPatch, memory: Memory) -> None:
    chosen = counted(monkeypatch, resolutions, "choose")
    ana = memory.user("ana", new=True)
    ana.add(
        [f"We talk about subject number {n} and what is to be done about it" for n in range(60)], thread="t"
    )
    ana.threads.close("t")
    assert len(ana.sections.list("t")) >= 1
    assert set(chosen.values()) == {1}
