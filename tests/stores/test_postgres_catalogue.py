"""The live schema against the rules that let plain PostgreSQL and Citus both take it."""

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from stores.postgres_server import connect

from episodic_agent.stores.postgres import PostgresStore
from episodic_agent.stores.postgres.distribute import DISTRIBUTED, LOCAL, REFERENCE, statements

KEY = ["space", "owner"]


@pytest.fixture
def db(postgres_url: str) -> Iterator[psycopg.Connection[Any]]:
    PostgresStore(postgres_url).close()
    with connect(postgres_url) as opened:
        yield opened


def tables(db: psycopg.Connection[Any]) -> set[str]:
    found = db.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'episodic'").fetchall()
    return {str(name) for (name,) in found}


def test_every_table_has_its_place_in_a_cluster(db: psycopg.Connection[Any]) -> None:
    assert tables(db) == {*DISTRIBUTED, *REFERENCE, *LOCAL}


def test_every_key_of_a_scoped_table_begins_with_space_and_owner(db: psycopg.Connection[Any]) -> None:
    found = db.execute(
        "SELECT t.relname, i.relname, x.indisprimary,"
        " array(SELECT a.attname::text FROM unnest(x.indkey) WITH ORDINALITY k(n, place)"
        "  JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.n ORDER BY place)"
        " FROM pg_index x JOIN pg_class t ON t.oid = x.indrelid JOIN pg_class i ON i.oid = x.indexrelid"
        " WHERE t.relnamespace = 'episodic'::regnamespace AND x.indisunique"
    ).fetchall()
    scoped = [row for row in found if row[0] not in (*REFERENCE, "migration")]
    assert [row for row in scoped if row[3][:2] != KEY] == []
    with_primary = {table for table, _, primary, _ in scoped if primary}
    assert with_primary == {*DISTRIBUTED, *LOCAL} - {"migration"}


def test_every_reference_stays_with_its_owner(db: psycopg.Connection[Any]) -> None:
    found = db.execute(
        "SELECT conrelid::regclass::text, confrelid::regclass::text,"
        " array(SELECT attname::text FROM unnest(conkey) WITH ORDINALITY k(n, p)"
        "  JOIN pg_attribute ON attrelid = conrelid AND attnum = n ORDER BY p),"
        " array(SELECT attname::text FROM unnest(confkey) WITH ORDINALITY k(n, p)"
        "  JOIN pg_attribute ON attrelid = confrelid AND attnum = n ORDER BY p)"
        " FROM pg_constraint WHERE contype = 'f' AND connamespace = 'episodic'::regnamespace"
    ).fetchall()
    assert len(found) >= 4
    for table, parent, own, foreign in found:
        assert own[:2] == KEY, table
        assert foreign[:2] == KEY, parent
        assert table.rpartition(".")[2] not in LOCAL


def test_there_are_no_sequences_triggers_views_or_functions(db: psycopg.Connection[Any]) -> None:
    namespace = "'episodic'::regnamespace"
    queries = (
        f"SELECT relname FROM pg_class WHERE relnamespace = {namespace} AND relkind NOT IN ('r', 'i', 't')",
        "SELECT tgname FROM pg_trigger JOIN pg_class t ON t.oid = tgrelid"
        f" WHERE t.relnamespace = {namespace} AND NOT tgisinternal",
        f"SELECT proname FROM pg_proc WHERE pronamespace = {namespace}",
    )
    for query in queries:
        assert db.execute(query).fetchall() == []


def test_every_table_is_under_row_level_security_for_its_owner_too(db: psycopg.Connection[Any]) -> None:
    found = db.execute(
        "SELECT relname, relrowsecurity, relforcerowsecurity,"
        " array(SELECT pg_get_expr(polqual, polrelid) FROM pg_policy WHERE polrelid = c.oid) FROM pg_class c"
        " WHERE relnamespace = 'episodic'::regnamespace AND relkind = 'r'"
    ).fetchall()
    assert {name for name, enabled, forced, _ in found if enabled and forced} == tables(db)
    for name, _, _, policies in found:
        assert policies, name
        # A cluster refuses policies with sub-selects.
        assert not any("SELECT" in policy for policy in policies), name
        if name in DISTRIBUTED:
            assert any("episodic.space" in policy and "episodic.owner" in policy for policy in policies), name


def test_what_makes_a_cluster_names_every_table_after_those_it_refers_to(
    db: psycopg.Connection[Any],
) -> None:
    made = "\n".join(statements(32))
    places = {table: made.index(f"_table('episodic.{table}'") for table in (*REFERENCE, *DISTRIBUTED)}
    found = db.execute(
        "SELECT c.relname, p.relname FROM pg_constraint JOIN pg_class c ON c.oid = conrelid"
        " JOIN pg_class p ON p.oid = confrelid WHERE contype = 'f' AND connamespace = 'episodic'::regnamespace"
    ).fetchall()
    assert found
    assert all(places[parent] < places[child] for child, parent in found)
