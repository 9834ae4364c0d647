"""What is stored takes no room it does not need, and what was stored before it took less is read as it was."""

import json
from pathlib import Path

import apsw
import numpy as np
import pytest
from builders.chats import mine
from stores.builders import ANA, edited, make_evidence, make_fact

from episodic_agent import Memory
from episodic_agent.errors import StoreDamaged
from episodic_agent.protocols import EPISODES, FACTS, OBSERVATIONS
from episodic_agent.stores.sqlite import SqliteStore
from episodic_agent.stores.sqlite.file.migrate import shipped_migrations

SAID = "I am allergic to peanuts and to every kind of shellfish"


def columns(path: Path, sql: str) -> list[str]:
    db = apsw.Connection(str(path))
    results = [str(text) for (text,) in db.execute(sql)]
    db.close()
    return results


def test_a_quotation_is_written_once_beside_its_message_and_the_record_of_its_episode(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with Memory.open(path, embedder="hashing") as memory:
        mine(memory).add(f"{SAID}.")
        mine(memory).flush()
        (card,) = mine(memory).facts.list()
    assert SAID in card.fact.fact
    assert [SAID in text for text in columns(path, "SELECT value FROM fact")] == [True]
    bodies = columns(path, "SELECT body FROM fact UNION ALL SELECT body FROM fact_evidence")
    assert len(bodies) == 2
    assert not any("peanuts and" in body for body in bodies)
    with Memory.open(path, embedder="hashing") as memory:
        assert mine(memory).facts.list() == [card]


def test_facts_that_were_written_with_all_that_they_repeat_are_read_as_they_were(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    SqliteStore(path, migrations=shipped_migrations()[:20]).close()
    store = SqliteStore(path)
    with store.begin(ANA) as tx:
        kept = tx.knowledge.put_facts([make_fact("a", SAID), edited(make_fact("b", "Lisbon"), "Faro")])
    store.close()
    db = apsw.Connection(str(path))
    for one in kept:
        fact, (evidence,) = one.fact, one.fact.evidence
        body = json.loads(db.execute("SELECT body FROM fact WHERE number = ?", (one.number,)).get)
        flags = {name: getattr(fact, name) for name in ("holds", "edited", "pinned", "confirmed")}
        unset = {"superseded_by": None, "versions": []}
        long = json.dumps(unset | body | flags | {"fact": fact.fact})
        db.execute("UPDATE fact SET body = ? WHERE number = ?", (long, one.number))
        proof = json.loads(db.execute("SELECT body FROM fact_evidence WHERE fact = ?", (one.number,)).get)
        more = {"fact": evidence.fact, "value": evidence.value, "corrects": evidence.corrects}
        db.execute("UPDATE fact_evidence SET body = ? WHERE fact = ?", (json.dumps(proof | more), one.number))
    db.close()
    store = SqliteStore(path)
    with store.begin(ANA, write=False) as tx:
        assert sorted(tx.knowledge.facts(), key=lambda one: one.number) == list(kept)
    store.close()


@pytest.mark.parametrize("body", ['{"category":"identity","fact":[1],"confidence":1}', "{}", "[]"])
def test_a_body_that_nobody_wrote_is_named_as_damage(tmp_path: Path, body: str) -> None:
    path = tmp_path / "memory.db"
    store = SqliteStore(path)
    with store.begin(ANA) as tx:
        tx.knowledge.put_facts([make_fact("a", SAID, make_evidence(value=SAID))])
    db = apsw.Connection(str(path))
    db.execute("UPDATE fact SET body = ?", (body,))
    db.close()
    with store.begin(ANA, write=False) as tx, pytest.raises(StoreDamaged, match="a stored fact"):
        tx.knowledge.facts()
    store.close()


def test_vectors_of_messages_fill_their_pages_though_others_come_between(tmp_path: Path) -> None:
    path, dice = tmp_path / "memory.db", np.random.default_rng(3)
    store = SqliteStore(path)
    for turn in range(40):
        with store.begin(ANA) as tx:
            for kind, count in ((OBSERVATIONS, 30), (EPISODES, 2), (FACTS, 4)):
                rows = dice.normal(size=(count, 384)).astype(np.float32)
                tx.index.put_vectors(kind, "small", range(turn * count, (turn + 1) * count), rows)
    store.close()
    (free,) = columns(path, "SELECT sum(unused) * 1.0 / sum(pgsize) FROM dbstat WHERE name = 'vector'")
    assert float(free) < 0.08  # .12 where messages lie in the middle


def test_a_process_of_an_earlier_version_cannot_misread_where_rows_begin(tmp_path: Path) -> None:
    SqliteStore(tmp_path / "memory.db").close()
    with pytest.raises(apsw.SQLError, match="no such column: last"):
        columns(tmp_path / "memory.db", "SELECT last FROM stream")
