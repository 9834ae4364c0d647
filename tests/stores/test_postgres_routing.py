"""Every statement the store sends is one that a Citus cluster routes: told by rules, on a plain server.

The store is made to believe that it is on a cluster, so that what is checked is what a cluster would get; the
plain server takes it too.
"""

from collections.abc import Iterable, Iterator
from contextlib import closing
from datetime import date, timedelta
from typing import Any
from uuid import UUID

import psycopg
import pytest
from builders.chats import Clock, mine
from builders.erasing import live
from stores.builders import NOW
from stores.postgres_server import THROW_AWAY
from stores.routing import faults
from stores.verbs import READS, WRITES, furnish

from episodic_agent import Memory
from episodic_agent.errors import Conflict, EpisodicError
from episodic_agent.schemas import Scope
from episodic_agent.schemas.erasures import Erasure, What
from episodic_agent.stores.postgres import PostgresStore
from episodic_agent.stores.postgres.server import connection
from episodic_agent.stores.postgres.server.distribute import DISTRIBUTED

HOME = Scope("ana", "home")
HOME_RECEIPT = UUID(int=7)
# Over all scopes of a space, by nature: who its users are, what they cost, which receipts there are.
OVER_ALL = (
    "SELECT user_id, name FROM scope",
    "FROM usage WHERE space = %s AND day",
    "FROM erasure WHERE space = %s ORDER",
)


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> dict[str, None]:
    """Return what is sent from now on, each message once; what opens and ends transactions too."""
    messages: dict[str, None] = {}
    execute, run = psycopg.Cursor.execute, connection.run

    def executed(cursor: Any, query: Any, *values: Any, **more: Any) -> Any:
        messages[query.decode() if isinstance(query, bytes) else str(query)] = None
        return execute(cursor, query, *values, **more)

    def ran(db: Any, statements: str) -> None:
        messages[statements] = None
        run(db, statements)

    monkeypatch.setattr(psycopg.Cursor, "execute", executed)
    monkeypatch.setattr(connection, "run", ran)
    monkeypatch.setattr(connection, "has_citus", lambda db: True)
    return messages


def wrong(messages: Iterable[str]) -> dict[str, list[str]]:
    return {
        sql: texts
        for sql in messages
        if (texts := faults(sql))
        and not any(known in sql for known in OVER_ALL)
        # looks at the catalogue, before there is anything of a scope
        and "pg_" not in sql
    }


@pytest.fixture
def store(postgres_url: str, said: dict[str, None]) -> Iterator[PostgresStore]:
    with closing(PostgresStore(postgres_url, THROW_AWAY)) as opened:
        yield opened


def test_every_verb_of_the_port_is_routed(store: PostgresStore, said: dict[str, None]) -> None:
    said.clear()
    furnish(store, HOME, "home")
    for verb in READS.values():
        with store.begin(HOME, write=False) as tx:
            verb(tx)
    for verb in WRITES.values():
        try:
            with store.begin(HOME) as tx:
                verb(tx)
        except EpisodicError:
            pass  # refused is as good
    whole_store(store)
    assert wrong(said) == {}
    written = {table for table in DISTRIBUTED if any(f"INTO {table} " in sql for sql in said)}
    assert written == {*DISTRIBUTED}  # nothing is checked that was not sent
    assert len(said) > 200


def whole_store(store: PostgresStore) -> None:
    """Call what is asked of a store outside the transactions of its scopes."""
    store.scopes("home")
    store.scopes(HOME)
    claimed = store.claim("elsewhere:1:1", now=NOW, lease=timedelta(hours=1), scope=HOME)
    if claimed is not None:
        store.renew(*claimed, now=NOW, lease=timedelta(hours=1))
    store.waiting(HOME)
    store.usage("home", date(2026, 1, 1), date(2026, 12, 31))
    store.residue(HOME, ["nothing of it"])
    erased = store.erase_scope(HOME, Erasure(HOME_RECEIPT, What.USER, "", NOW))
    assert erased.counts
    for receipt in store.erasures("home", HOME):
        store.settle_erasure("home", receipt)


def test_a_life_in_a_memory_is_routed(postgres_url: str, said: dict[str, None], clock: Clock) -> None:
    with Memory.open(postgres_url, embedder="hashing", policy="seed-001", clock=clock) as memory:
        said.clear()
        secret = live(memory, clock)
        mine(memory).facts.consolidate()
        mine(memory).context("where is the key?")
        mine(memory).erase(observation=secret.id, sweep=False)
        mine(memory).erase(thread="cello", sweep=False)
        memory.upkeep()
        assert [f.message for f in memory.doctor() if f.severity == "error"] == []
    assert wrong([sql for sql in said if not sql.startswith("VACUUM")]) == {}


def test_who_writes_to_a_scope_that_was_erased_meanwhile_hears_of_it(postgres_url: str) -> None:
    with closing(PostgresStore(postgres_url)) as store, closing(PostgresStore(postgres_url)) as other:
        for _ in range(2):
            with store.begin(HOME) as tx:
                tx.knowledge.note_mining([7])
            other.erase_scope(HOME, Erasure(HOME_RECEIPT, What.USER, "", NOW))
            with pytest.raises(Conflict, match="deleted just now"), store.begin(HOME) as tx:
                tx.knowledge.note_mining([8])
        with store.begin(HOME) as tx:
            tx.knowledge.note_mining([9])
        with store.begin(HOME, write=False) as tx:
            assert list(tx.knowledge.awaiting(limit=9)) == [9]


@pytest.mark.parametrize(
    ("sql", "fault"),
    [
        (
            "INSERT INTO posting_block (space, owner, bucket) SELECT %s, %s, g.* FROM unnest(%s::bigint[]) AS g",
            "own row",
        ),
        (
            "INSERT INTO posting_block (space, owner, bucket) SELECT s.space, s.owner, %s FROM (SELECT space, owner"
            " FROM scope WHERE space = %s AND owner = %s) AS s",
            "without a type",
        ),
        ("COPY posting_block (space, owner, bucket) FROM STDIN", "COPY"),
        ("SELECT id FROM episode WHERE space = %s AND owner = %s FOR UPDATE SKIP LOCKED", "SKIP LOCKED"),
        ("SELECT id FROM episode WHERE id = %s", "keys"),
        ("SELECT id FROM erasure WHERE space = %s AND owner = coalesce(%s, owner)", "keys"),
        (
            "SELECT e.id FROM episode e LEFT JOIN LATERAL (SELECT * FROM encoding w WHERE w.space = e.space"
            " AND w.owner = e.owner) w ON true WHERE e.space = %s AND e.owner = %s",
            "keys",
        ),
        ("SELECT set_config('hnsw.ef_search', '400', true)", "set_config"),
        ("UPDATE thread SET owner = %s WHERE space = %s AND owner = %s", "whose"),
        (f"INSERT INTO stay (space, owner) VALUES {', '.join(['(%s, %s)'] * 40)}", "VALUES"),
        ("BEGIN; SET LOCAL ROLE episodic_app; SELECT", "several"),
        ("UPDATE episode SET created_at = random() WHERE space = %s AND owner = %s", "volatile"),
        (
            "DELETE FROM stay WHERE space = %s AND owner = %s AND first_ref IN (SELECT 1 FROM job)",
            "one statement",
        ),
    ],
)
def test_forms_that_a_cluster_does_not_route_are_refused(sql: str, fault: str) -> None:
    assert any(fault in told for told in faults(sql)), faults(sql)
