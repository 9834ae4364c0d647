"""Content hashes: what was said is told from what damage made of it, on both stores."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from builders.chats import Clock, diary, mine
from builders.places import open_store
from builders.spoiling import spoil

from episodic_agent import Memory
from episodic_agent.engine import later as engine
from episodic_agent.engine.doctor.examining import Finding
from episodic_agent.errors import StoreError
from episodic_agent.schemas import Scope

Opened = Callable[..., Memory]
RARE = {
    "kind": "step",
    "action": "cook",
    "location": "Kitchen",
    "tools": ["oven"],
    "expires_at": "2030-01-01",
}


@pytest.fixture
def opened(url: str, clock: Clock) -> Iterator[Opened]:
    with ExitStack() as stack:

        def open_one(**parts: Any) -> Memory:
            arguments = {"embedder": "none", "policy": "seed-001", "clock": clock, **parts}
            return stack.enter_context(Memory.open(url, **arguments))

        yield open_one


@pytest.fixture
def memory(opened: Opened) -> Memory:
    memory = opened()
    mine(memory).add(diary()[:4])
    mine(memory).add(RARE, thread="robot")
    return memory


def wrong(memory: Memory) -> list[Finding]:
    return [finding for finding in memory.doctor() if finding.invariant == "content"]


def test_what_was_stored_is_what_is_there(memory: Memory) -> None:
    assert wrong(memory) == []


@pytest.mark.parametrize(
    "change",
    [
        "text = 'The kitchen tap is fine again'",
        "text = NULL",
        "actor = 'assistant'",
        "at = at + 1",
        "received_at = received_at - 1",
        "at_source = 'given', utc_offset = 7",
        "kind = 'tool'",
        "channel = 'work'",
        "external_id = 'x'",
        """data = '{"extras":{"decision":"yes"}}'""",
        "erased_at = 5",
    ],
)
def test_a_row_that_changed_is_named_by_thread_seq_and_id(memory: Memory, url: str, change: str) -> None:
    spoil(url, f"UPDATE {{observation}} SET {change} WHERE text LIKE '%tap is dripping%'")
    (finding,) = wrong(memory)
    with open_store(url).begin(Scope(), write=False) as tx:
        thread = tx.threads.get("chat")
        assert thread is not None
        ((seq, identity),) = tx.observations.altered(thread.id, 0, 9)
        assert [one.seq for one in tx.observations.known([identity]).values()] == [seq] == [0]
    assert finding.severity == "error"
    assert f"thread chat: observation 0 ({identity}) is not what was stored" in finding.message


def test_two_rows_that_changed_places_are_both_named(memory: Memory, url: str) -> None:
    spoil(
        url,
        "UPDATE {observation} SET ref = -1 WHERE text LIKE '%tap is dripping%'",
        "UPDATE {observation} SET ref = ref - 1 WHERE text LIKE 'Turn off the valve%'",
        "UPDATE {observation} SET ref = (SELECT max(ref) FROM {observation} WHERE text LIKE 'Turn off%') + 1"
        " WHERE ref = -1",
    )
    assert [f.message.partition(" (")[0] for f in wrong(memory)] == [
        "thread chat: observation 0",
        "thread chat: observation 1",
    ]


def test_a_thread_whose_id_changed_is_not_listed_observation_by_observation_without_end(
    opened: Opened, url: str
) -> None:
    memory = opened()
    mine(memory).add([{"role": "user", "content": f"line {n}"} for n in range(60)], thread="long")
    column = "bytea" if url.startswith("postgres") else "blob"
    spoil(url, f"UPDATE {{thread}} SET id = CAST('0123456789abcdef' AS {column}) WHERE origin = 'long'")
    findings = wrong(memory)
    assert len(findings) == 51
    assert findings[-1].message == "thread long: 10 more observations are not what was stored"


def test_an_erased_observation_leaves_no_hash_to_guess_by(memory: Memory, url: str) -> None:
    with open_store(url).begin(Scope()) as tx:
        thread = tx.threads.get("chat")
        assert thread is not None
        tx.observations.erase(thread.id, [0], tx.observations.last_at() or thread.created_at)
    # were a hash left in its row, `altered` would name it
    assert wrong(memory) == []
    spoil(url, "UPDATE {observation} SET erased_at = NULL, text = '' WHERE erased_at IS NOT NULL")
    with open_store(url).begin(Scope(), write=False) as tx:
        assert tx.count("unhashed") == 1


def test_observations_from_before_are_hashed_by_the_doctor_as_they_are(memory: Memory, url: str) -> None:
    spoil(url, "UPDATE {observation} SET content_hash = NULL")
    (finding,) = wrong(memory)
    assert finding.severity == "note"
    assert finding.message.startswith("5 observations have no content hash")
    memory.doctor(repair=True)
    assert wrong(memory) == []
    spoil(url, "UPDATE {observation} SET text = 'x' WHERE text LIKE '%tap is dripping%'")
    assert [f.severity for f in wrong(memory)] == ["error"]


def test_upkeep_hashes_observations_from_before_a_few_at_a_time(
    memory: Memory, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "HASHED_AT_ONCE", 3)
    spoil(url, "UPDATE {observation} SET content_hash = NULL")
    left = []
    for _ in range(3):
        memory.upkeep()
        with open_store(url).begin(Scope(), write=False) as tx:
            left.append(tx.count("unhashed"))
    assert left == [2, 0, 0]
    assert wrong(memory) == []


def test_a_kind_that_nobody_wrote_is_told_in_one_line(memory: Memory, url: str) -> None:
    spoil(url, "UPDATE {observation} SET kind = 'mexsage' WHERE text LIKE '%tap is dripping%'")
    with pytest.raises(
        StoreError, match=r"a stored observation cannot be read .*mexsage.* `episodic doctor`"
    ):
        list(mine(memory).export())
    assert any(f.severity == "error" and "cannot be read" in f.message for f in memory.doctor())
