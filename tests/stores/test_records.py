"""A record of a boundary check is kept short, and read as it was, whatever it is and whenever it was kept."""

import json
from pathlib import Path

import apsw
import pytest
from builders.chats import TAP, mine, talk
from hypothesis import given
from hypothesis import strategies as st

from episodic_agent import Memory
from episodic_agent.errors import StoreDamaged
from episodic_agent.schemas import Scope
from episodic_agent.stores.rows import restored, shortened

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


@given(st.text(), st.lists(NUMBERS, min_size=3, max_size=3), st.dictionaries(st.text(), NUMBERS))
def test_every_record_is_read_as_it_was(action: str, numbers: list[float], cues: dict[str, float]) -> None:
    record = json.dumps([action, *numbers, cues]).encode()
    assert restored(shortened(record)) == record
    assert len(shortened(record)) <= len(record)


def test_a_record_of_the_default_policy_takes_a_third_at_most_and_an_older_one_is_read(
    tmp_path: Path,
) -> None:
    path = tmp_path / "memory.db"
    with Memory.open(path, embedder="hashing") as memory:
        mine(memory).add(talk(TAP, 0), thread="tap")
        mine(memory).flush()
        with memory._deps.store.begin(Scope(), write=False) as tx:
            thread = next(iter(tx.threads.list(limit=1)))
            before = tx.observations.records(thread.id, 0, 9)
    db = apsw.Connection(str(path))
    kept = [bytes(cues) for (cues,) in db.execute("SELECT cues FROM observation WHERE cues IS NOT NULL")]
    assert sum(map(len, kept[1:])) < sum(map(len, list(before.values())[1:])) / 3
    db.executemany(  # as the version before wrote them
        "UPDATE observation SET cues = ? WHERE ref & 0xffffffff = ?",
        [(record, seq) for seq, record in before.items()],
    )
    db.close()
    with Memory.open(path, embedder="hashing") as memory:
        with memory._deps.store.begin(Scope(), write=False) as tx:
            assert tx.observations.records(thread.id, 0, 9) == before
        assert memory.doctor() == []


@pytest.mark.parametrize("cut", [b"\x01\xff\xff\xff", b"\x01", None])
def test_a_record_that_is_damaged_is_named_as_damage(cut: bytes | None) -> None:
    kept = shortened(b'["keep",0.0004,0.2305,0.1696,{"content":0.0}]')[:-4] if cut is None else cut
    with pytest.raises(StoreDamaged, match="the record of a boundary check cannot be read"):
        restored(kept)
