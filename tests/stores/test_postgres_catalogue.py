"""The live schema against the rules that let plain PostgreSQL and Citus both take it."""

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import psycopg
import pytest
from stores.builders import fill
from stores.postgres_server import connect, empty

from episodic_agent.stores.postgres import PostgresStore
from episodic_agent.stores.postgres.server.distribute import DISTRIBUTED, LOCAL, REFERENCE, statements

KEY = ["space", "owner"]
# Texts and bytes that quote nobody: ids, states, and names that somebody gave.
NO_WORDS = {
    *(
        "actor.name",
        "embedder.name",
        "job.name",
        "job.user_id",
        "scope.name",
        "scope.user_id",
        "thread.origin",
    ),
    *("thread.channels", "timeout.channel", "usage.stage", "usage.model", "work.name", "chain_refusal.by"),
    *("decision.type", "decision.policy", "decision.outcome", "encoding.encoded_by", "pending_review.policy"),
    *("episode.kind", "episode.state", "episode.reason", "frame.policy", "frame.embedder", "job.kind"),
    *("job.key", "job.serial", "job.state", "job.lease_owner", "link.basis", "link.label"),
    *(f"api_key.{name}" for name in ("id", "digest", "space", "role")),
    *("request.key", "request.digest"),
    *(f"audit.{name}" for name in ("kind", "verb", "thing", "subject", "counts", "note", "by")),
    "erasure.by",
    *("metadata_term.field", "observation.at_source", "observation.kind", "part.opened_for"),
    *("part.triggered_by", "pending_review.shown", "skill.state", "skill.kind", "span_mark.kind"),
    *("thread.status", "thread.modality", "thread.closed_for", "retention.policy", "fact_tombstone.mark"),
    *(f"erasure.{name}" for name in ("what", "subject", "reason", "counts", "state", "waits_for")),
    *("erasure.measures", "erasure.remains", "migration.name", "migration.checksum", "migration.shape"),
    # ids and hashes
    *(f"{table}.id" for table in ("decision", "episode", "erasure", "fact", "fact_move", "job")),
    *("observation.id", "pending_review.id", "skill.id", "thread.id", "chain_refusal.child"),
    *("chain_refusal.parent", "decision.subject", "encoding.episode", "episode.decision_id"),
    *("episode.parent_episode_id", "fact.slot", "fact.matter", "fact_evidence.observation", "fact_move.now"),
    *("fact_tombstone.observation", "joined.episode", "link.decision", "metadata_term.episode"),
    *("part.episode", "skill_turn.skill"),
}


@pytest.fixture
def db(postgres_url: str) -> Iterator[psycopg.Connection[Any]]:
    PostgresStore(postgres_url).close()
    with connect(postgres_url) as opened:
        yield opened


def tables(db: psycopg.Connection[Any]) -> set[str]:
    results = db.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'episodic'").fetchall()
    return {str(name) for (name,) in results}


def test_every_table_has_its_place_in_a_cluster(db: psycopg.Connection[Any]) -> None:
    assert tables(db) == {*DISTRIBUTED, *REFERENCE, *LOCAL}


def test_every_key_of_a_scoped_table_begins_with_space_and_owner(db: psycopg.Connection[Any]) -> None:
    results = db.execute(
        "SELECT t.relname, i.relname, x.indisprimary,"
        " array(SELECT a.attname::text FROM unnest(x.indkey) WITH ORDINALITY k(n, place)"
        "  JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.n ORDER BY place)"
        " FROM pg_index x JOIN pg_class t ON t.oid = x.indrelid JOIN pg_class i ON i.oid = x.indexrelid"
        " WHERE t.relnamespace = 'episodic'::regnamespace AND x.indisunique"
    ).fetchall()
    scoped = [row for row in results if row[0] not in (*REFERENCE, "migration")]
    assert [row for row in scoped if row[3][:2] != KEY] == []
    with_primary = {table for table, _, primary, _ in scoped if primary}
    assert with_primary == {*DISTRIBUTED, *LOCAL} - {"migration"}


def test_the_planner_samples_no_column_that_quotes_what_was_said(db: psycopg.Connection[Any]) -> None:
    results = db.execute(
        "SELECT relname || '.' || attname FROM pg_attribute JOIN pg_class c ON c.oid = attrelid"
        " WHERE relnamespace = 'episodic'::regnamespace AND relkind = 'r' AND attnum > 0 AND NOT attisdropped"
        " AND format_type(atttypid, -1) IN ('text', 'bytea', 'halfvec') AND attstattarget IS DISTINCT FROM 0"
    ).fetchall()
    # one that quotes: ALTER TABLE … ALTER COLUMN … SET STATISTICS 0 in its migration
    assert {name for (name,) in results} - NO_WORDS == set()


def test_the_application_names_embedders_and_changes_none(db: psycopg.Connection[Any]) -> None:
    db.execute("SET search_path = episodic")
    db.execute("SET ROLE episodic_app")
    db.execute("INSERT INTO embedder VALUES (77, 'small', 3)")
    assert db.execute("SELECT name FROM embedder FOR UPDATE").fetchall() == []  # as a cluster locks
    assert db.execute("UPDATE embedder SET name = 'other'").rowcount == 0
    assert db.execute("SELECT name FROM embedder").fetchall() == [("small",)]


def test_a_cluster_knows_of_the_jobs_that_stay_on_its_coordinator() -> None:
    *others, last = statements(8)
    assert last == "SELECT citus_add_local_table_to_metadata('episodic.job')"
    assert not any("episodic.job'" in statement for statement in others)


def test_a_database_is_emptied_for_the_next_test_of_a_cluster(postgres_url: str) -> None:
    with closing(PostgresStore(postgres_url)) as store:
        fill(store)
    empty(postgres_url)
    with closing(PostgresStore(postgres_url)) as store:
        assert list(store.scopes()) == []


def test_every_reference_stays_with_its_owner(db: psycopg.Connection[Any]) -> None:
    results = db.execute(
        "SELECT conrelid::regclass::text, confrelid::regclass::text,"
        " array(SELECT attname::text FROM unnest(conkey) WITH ORDINALITY k(n, p)"
        "  JOIN pg_attribute ON attrelid = conrelid AND attnum = n ORDER BY p),"
        " array(SELECT attname::text FROM unnest(confkey) WITH ORDINALITY k(n, p)"
        "  JOIN pg_attribute ON attrelid = confrelid AND attnum = n ORDER BY p)"
        " FROM pg_constraint WHERE contype = 'f' AND connamespace = 'episodic'::regnamespace"
    ).fetchall()
    assert len(results) >= 4
    for table, parent, own, foreign in results:
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
    results = db.execute(
        "SELECT relname, relrowsecurity, relforcerowsecurity,"
        " array(SELECT concat(pg_get_expr(polqual, polrelid), pg_get_expr(polwithcheck, polrelid))"
        "  FROM pg_policy WHERE polrelid = c.oid) FROM pg_class c"
        " WHERE relnamespace = 'episodic'::regnamespace AND relkind = 'r'"
    ).fetchall()
    assert {name for name, enabled, forced, _ in results if enabled and forced} == tables(db)
    for name, _, _, policies in results:
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
    results = db.execute(
        "SELECT c.relname, p.relname FROM pg_constraint JOIN pg_class c ON c.oid = conrelid"
        " JOIN pg_class p ON p.oid = confrelid WHERE contype = 'f' AND connamespace = 'episodic'::regnamespace"
    ).fetchall()
    assert results
    assert all(places[parent] < places[child] for child, parent in results)
