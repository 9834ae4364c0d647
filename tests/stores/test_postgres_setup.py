"""Making a database ready: servers that are not as they should be, migrations, roles; errors in one line."""

import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import numpy as np
import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from stores.builders import ANA, BO, fill, identity, make_fact, posting
from stores.postgres_server import Databases, Server, connect, free_port, own_server, programs
from stores.postgres_trouble import QUICK, SECRET, complaint, needs_own_server, texts_of

from episodic_agent.core.vectors import rounded, scales
from episodic_agent.errors import StoreError
from episodic_agent.protocols import EPISODES, OBSERVATIONS, ref_of
from episodic_agent.schemas import Scope
from episodic_agent.stores.migrations import Migration
from episodic_agent.stores.postgres import PostgresStore
from episodic_agent.stores.postgres.server.admin import init_db
from episodic_agent.stores.postgres.server.connection import PostgresConnections, PostgresOptions
from episodic_agent.stores.postgres.server.migrate import problems, refuse_old, shipped_migrations
from episodic_agent.stores.postgres.server.session import keys_of
from episodic_agent.stores.postgres.words.postings import term_number

# --- a server that is not as it should be ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("version", "vector", "problem"),
    [
        (14, None, "is PostgreSQL 14; use version 15 or newer"),
        (14, "0.8.0", "is PostgreSQL 14"),
        (18, "0.6.2", r"has pgvector 0.6.2; install 0.7 or newer and run ALTER EXTENSION vector UPDATE"),
    ],
)
def test_versions_that_are_too_old_are_refused(version: int, vector: str | None, problem: str) -> None:
    with pytest.raises(StoreError, match=problem):
        refuse_old(version, vector, "db:5432")


def test_versions_that_are_new_enough_are_taken() -> None:
    for version, vector in ((15, None), (15, "0.7.0"), (18, "0.8.5"), (21, "1.0")):
        refuse_old(version, vector, "db:5432")


@pytest.mark.slow
@pytest.mark.skipif(programs(16) is None, reason="no PostgreSQL 16 here")
def test_an_older_server_that_is_new_enough_serves() -> None:
    server = own_server(version=16)
    try:
        init_db(server.url(), QUICK, ["app"], ["works"])
        for login in ("app", "works"):
            with closing(PostgresStore(server.url(user=login))) as store:
                fill(store, name=login)
                assert texts_of(store, login) == ["a", "b", "c"]
                assert store.check() == []
    finally:
        server.remove()


@needs_own_server
def test_a_database_without_the_extension_names_what_to_do(bare_url: str, postgres: Databases) -> None:
    with connect(bare_url) as db:
        db.execute("CREATE ROLE makes_all LOGIN CREATEROLE")
        db.execute(
            "DO $$ BEGIN EXECUTE 'GRANT CREATE ON DATABASE ' || current_database() || ' TO makes_all'; END $$"
        )
    try:
        error = complaint(lambda: PostgresStore(make_conninfo(bare_url, user="makes_all")))
        assert "lacks the extension vector and 'makes_all' may not create it" in str(error)
        assert "CREATE EXTENSION vector" in str(error)
        with connect(bare_url) as db:
            assert db.execute("SELECT FROM pg_namespace WHERE nspname = 'episodic'").rowcount == 0
    finally:
        postgres.forget_login(bare_url, "makes_all")


@pytest.mark.slow
@needs_own_server
def test_an_administrator_who_is_no_superuser_can_do_the_rest(server: Server) -> None:
    with connect(server.url()) as db:
        db.execute("CREATE ROLE boss LOGIN CREATEROLE")
        db.execute("GRANT CREATE ON DATABASE postgres TO boss")
        db.execute("CREATE EXTENSION vector")
    with closing(PostgresStore(server.url(user="boss"), QUICK)) as store:
        fill(store)
        assert store.check() == []
    init_db(server.url(user="boss"), QUICK, ["app"])
    with closing(PostgresStore(server.url(user="app"), QUICK)) as store:
        assert texts_of(store) == ["a", "b", "c"]
    upgraded = PostgresConnections(server.url(user="boss"), QUICK, migrations=[*shipped_migrations(), NEXT])
    upgraded.close()
    with connect(server.url()) as db:
        assert db.execute("SELECT max(version) FROM episodic.migration").fetchone() == (NEXT.version,)


def test_a_login_that_may_not_make_it_ready_names_the_command(
    bare_url: str, login: Callable[..., str]
) -> None:
    app = login("app")
    name = psycopg.conninfo.conninfo_to_dict(bare_url)["dbname"]
    error = complaint(lambda: PostgresStore(make_conninfo(app, dbname=str(name))))
    assert "is not ready for this version" in str(error)
    assert "`episodic admin init-db --login app_" in str(error)


def test_a_login_that_was_never_let_in_names_the_command(postgres: Databases, postgres_url: str) -> None:
    with connect(postgres_url) as db:
        db.execute("CREATE ROLE stranger LOGIN")
    try:
        error = complaint(lambda: PostgresStore(make_conninfo(postgres_url, user="stranger")))
        assert "'stranger' may not act as episodic_app" in str(error)
        assert "`episodic admin init-db --login stranger`" in str(error)
    finally:
        postgres.forget_login(postgres_url, "stranger")


# --- migrations -----------------------------------------------------------------------------------------

NEXT = Migration(
    shipped_migrations()[-1].version + 1,
    "add_mood",
    "ALTER TABLE thread ADD COLUMN mood text; UPDATE thread SET mood = 'calm';",
)


def open_with(url: str, migrations: Sequence[Migration]) -> None:
    PostgresConnections(url, QUICK, migrations=migrations).close()


def test_an_older_schema_is_brought_up_to_date_with_its_rows(store: PostgresStore, postgres_url: str) -> None:
    fill(store)
    open_with(postgres_url, [*shipped_migrations(), NEXT])
    with connect(postgres_url) as db:
        assert db.execute("SELECT mood FROM episodic.thread").fetchall() == [("calm",)]


@pytest.mark.slow
def test_episodes_from_before_facts_were_kept_are_still_to_be_drawn_from(bare_url: str) -> None:
    open_with(bare_url, shipped_migrations()[:9])
    whose, thread = keys_of(ANA), identity("kitchen").bytes
    with connect(bare_url) as db:
        db.execute("INSERT INTO episodic.scope VALUES (%s, %s, 'home', 'ana', 1)", whose)
        db.execute(
            "INSERT INTO episodic.thread (space, owner, number, id, origin, status, modality, channels,"
            " generation, created_at, last_activity_at)"
            " VALUES (%s, %s, 1, %s, 'kitchen', 'open', 'conversation', '[]', 0, 0, 0)",
            (*whose, thread),
        )
        for seq in range(3):
            db.execute(
                "INSERT INTO episodic.episode VALUES (%s, %s, %s, 1, 'event', 'closed', %s, %s, 0, NULL,"
                " 0, 0, 0, 'end', 0, 1, 1, 0, NULL, NULL, NULL, NULL, %s)",
                (*whose, identity(str(seq)).bytes, seq, seq, seq),
            )
    with closing(PostgresStore(bare_url, QUICK)) as store, store.begin(ANA) as tx:
        pending = {episode.first_seq for episode in tx.episodes.list(unconsolidated=True, limit=9)}
        assert (pending, tx.count("facts")) == ({1, 2}, 0)
        assert tx.knowledge.put_facts([make_fact("a")])[0].number == 1


@pytest.mark.slow
def test_what_an_import_suppressed_as_edited_is_marked_so(bare_url: str) -> None:
    open_with(bare_url, shipped_migrations()[:20])
    whose = keys_of(ANA)
    with connect(bare_url) as db:
        db.execute("INSERT INTO episodic.scope VALUES (%s, %s, 'home', 'ana', 1)", whose)
        for first, last, reason in ((1, 1, "edited since"), (3, 9, "private")):
            mark = (*whose, first, last, reason)
            db.execute("INSERT INTO episodic.span_mark VALUES (%s, %s, 'suppressed', %s, %s, 0, %s)", mark)
    with closing(PostgresStore(bare_url, QUICK)) as store, store.begin(ANA) as tx:
        assert [(m.kind, m.first_ref, m.reason) for m in tx.upkeep.marks()] == [
            ("edited", 1, ""), ("suppressed", 3, "private"),
        ]  # fmt: skip


@pytest.mark.slow
def test_vectors_from_before_they_were_kept_once_are_what_they_would_be_now(bare_url: str) -> None:
    open_with(bare_url, shipped_migrations()[:19])
    rows, whose = np.random.default_rng(4).normal(size=(600, 16)).astype(np.float32), keys_of(ANA)
    before = (rows * scales(rows)[:, None]).astype(np.float16)  # as the version before it wrote them
    with connect(bare_url) as db:
        db.execute("INSERT INTO episodic.scope VALUES (%s, %s, 'home', 'ana', 1)", whose)
        db.execute("INSERT INTO episodic.embedder VALUES (1, 'small', 16)")
        for ref, (row, half) in enumerate(zip(rows, before, strict=True)):
            db.execute(
                "INSERT INTO episodic.embedding VALUES (%s, %s, 1, %s, %s, 0, %s)",
                (*whose, OBSERVATIONS, ref, row.astype("<f4").tobytes()),
            )
            db.execute(
                "INSERT INTO episodic.coarse VALUES (%s, %s, 1, %s, %s, 0, %s::halfvec)",
                (*whose, OBSERVATIONS, ref, str(half.astype(float).tolist())),
            )
    with closing(PostgresStore(bare_url, QUICK)) as store, store.begin(ANA) as tx:
        held = tx.index.vectors(OBSERVATIONS, "small", range(600))
        assert all(np.array_equal(held[ref], row) for ref, row in enumerate(rounded(rows)))
        found = tx.index.vector_scores(OBSERVATIONS, "small", rows[7], limit=5)
        tx.index.put_vectors(EPISODES, "small", range(600), rows)
        now = tx.index.vector_scores(EPISODES, "small", rows[7], limit=5)
        assert [values.tolist() for values in found] == [values.tolist() for values in now]
    with connect(bare_url) as db:
        assert problems(db) == []
        assert db.execute("SELECT to_regclass('episodic.embedding')").fetchone() == (None,)


@pytest.mark.slow
def test_words_from_before_they_were_packed_are_found_as_those_put_now(bare_url: str) -> None:
    open_with(bare_url, shipped_migrations()[:22])
    whose, texts = keys_of(ANA), [f"tea word{n % 7} {'rain ' * (n % 5)}" for n in range(40)]
    texts[3] = "rain " * 300
    documents = {kind: [posting(ref_of(1, n), text) for n, text in enumerate(texts)] for kind in "oe"}
    with connect(bare_url) as db:
        db.execute("INSERT INTO episodic.scope VALUES (%s, %s, 'home', 'ana', 1)", whose)
        for kind, kept in documents.items():
            for one in kept:  # as the version before it wrote them
                terms = [term_number(kind, term) for term in one.terms]
                packed = b"".join(term.to_bytes(8, "little", signed=True) for term in terms)
                row = (*whose, kind, one.ref, one.length, packed)
                db.execute("INSERT INTO episodic.document VALUES (%s, %s, %s, %s, %s, %s)", row)
                for term, count in zip(terms, one.terms.values(), strict=True):
                    row = (*whose, term, one.ref, one.length, count)
                    db.execute("INSERT INTO episodic.posting VALUES (%s, %s, %s, %s, %s, %s)", row)
            total = (*whose, kind, 1, 40, sum(one.length for one in kept))
            db.execute("INSERT INTO episodic.total VALUES (%s, %s, %s, %s, %s, %s)", total)

    def answers(store: PostgresStore, scope: Scope, kind: str) -> list[object]:
        with store.begin(scope, write=False) as tx:
            statistics = tx.index.statistics(kind, ["tea", "rain", "word3"])
            weights = {"tea": 0.5, "rain": 2.0, "word3": 1.0}
            asked = {"k1": 1.2, "b": 0.75, "average_length": statistics.average_length, "limit": 50}
            refs, scores = tx.index.text_scores(kind, weights, **asked)
            return [statistics, refs.tolist(), scores.tolist()]

    with closing(PostgresStore(bare_url, QUICK)) as store:
        with store.begin(BO) as tx:
            for kind, kept in documents.items():
                tx.index.put_postings(kind, kept)
        for kind in documents:
            assert answers(store, ANA, kind) == answers(store, BO, kind)
        with store.begin(ANA) as tx:
            tx.index.drop("o", [one.ref for one in documents["o"]])
            assert tx.index.statistics("o", ["tea"]).frequencies == {"tea": 0}
    with connect(bare_url) as db:
        assert problems(db) == []


def test_a_schema_of_a_newer_version_is_refused(postgres_url: str) -> None:
    open_with(postgres_url, [*shipped_migrations(), NEXT])
    with pytest.raises(StoreError, match=r"written by a newer version .* upgrade episodic-agent"):
        PostgresStore(postgres_url)


def test_a_migration_that_was_changed_after_it_was_applied_is_refused(postgres_url: str) -> None:
    open_with(postgres_url, [*shipped_migrations(), NEXT])
    changed = Migration(NEXT.version, NEXT.name, NEXT.script + "-- and more")
    with pytest.raises(StoreError, match="made by other migrations"):
        open_with(postgres_url, [*shipped_migrations(), changed])


def test_a_migration_that_fails_changes_nothing(postgres_url: str) -> None:
    broken = Migration(NEXT.version, "broken", "CREATE TABLE half (id int); SELECT * FROM nothing;")
    with pytest.raises(StoreError, match="nothing"):
        open_with(postgres_url, [*shipped_migrations(), broken])
    with closing(PostgresStore(postgres_url)) as store:
        assert store.check() == []


@pytest.mark.slow
def test_all_who_open_a_new_database_together_are_served(bare_url: str) -> None:
    def open_and_look(_: int) -> Sequence[str]:
        with closing(PostgresStore(bare_url, PostgresOptions())) as store:
            return store.check()

    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(open_and_look, range(6))) == [[]] * 6


@pytest.mark.parametrize(
    ("damage", "line"),
    [
        ("DROP TABLE verdict", "table verdict is missing"),
        ("DROP INDEX observation_time", "index observation_time is missing"),
        ("ALTER TABLE actor DROP COLUMN spoke", "columns were changed by hand"),
        ("ALTER TABLE thread NO FORCE ROW LEVEL SECURITY", "table thread is without row-level security"),
        ("ALTER TABLE thread DISABLE ROW LEVEL SECURITY", "table thread is without row-level security"),
        ("DROP POLICY own ON job", "table job lacks its policy"),
        ("DELETE FROM migration", "the schema is not the one this version makes"),
        (
            "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'thread_activity'::regclass",
            "index thread_activity is invalid; run REINDEX",
        ),
    ],
)
def test_a_schema_changed_by_hand_is_reported(
    store: PostgresStore, postgres_url: str, damage: str, line: str
) -> None:
    assert store.check() == []
    with connect(postgres_url) as db:
        db.execute(f"SET search_path = episodic, public; {damage}".encode())
    texts = store.check()
    assert any(line in problem for problem in texts), texts


# --- init-db --------------------------------------------------------------------------------------------


def test_making_ready_tells_each_step_and_does_nothing_twice(bare_url: str, postgres: Databases) -> None:
    first = init_db(bare_url, QUICK, ["reads_init"], ["works_init"])
    try:
        again = init_db(bare_url, QUICK, ["reads_init"], ["works_init"])
        assert ("made", "schema 1 (initial)") in first
        assert {step.state for step in again} == {"found"}
        assert [what for state, what in first if state == "next"] == [
            r"give reads_init a password: in psql, \password reads_init",
            r"give works_init a password: in psql, \password works_init",
        ]
        roles = [what for _, what in again if "may act" in what]
        assert roles == [
            "reads_init may act as episodic_app",
            "works_init may act as episodic_app",
            "works_init may act as episodic_worker",
        ]
        with connect(bare_url) as db:
            query = "SELECT rolinherit, rolsuper, rolbypassrls FROM pg_roles WHERE rolname = 'reads_init'"
            assert db.execute(query).fetchone() == (False, False, False)
    finally:
        for name in ("reads_init", "works_init"):
            postgres.forget_login(bare_url, name)


@pytest.mark.slow
def test_a_login_that_passes_by_row_level_security_is_warned_of(bare_url: str, postgres: Databases) -> None:
    with connect(bare_url) as db:
        db.execute("CREATE ROLE too_strong LOGIN BYPASSRLS")
    try:
        steps = init_db(bare_url, QUICK, ["too_strong"])
        warnings = [what for state, what in steps if state == "warning"]
        assert warnings == ["too_strong can pass by row-level security; use a login that cannot"]
    finally:
        postgres.forget_login(bare_url, "too_strong")


def test_a_login_that_is_no_workers_is_told_which_command_makes_it_one(login: Callable[..., str]) -> None:
    with closing(PostgresStore(login("app"), QUICK)) as store:
        fill(store)
        error = complaint(store.scopes)
        assert "`episodic admin init-db --worker-login app_" in str(error)
        assert store.scopes(ANA.space) == [ANA]  # and the connection goes on


# --- the command ----------------------------------------------------------------------------------------


def run_cli(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "episodic_agent", *arguments],
        capture_output=True, text=True, cwd=folder, check=False,
    )  # fmt: skip


@pytest.mark.slow
def test_the_command_makes_a_database_ready_and_says_what_is_wrong(bare_url: str, tmp_path: Path) -> None:
    made = run_cli("--db", bare_url, "admin", "init-db", folder=tmp_path)
    assert made.returncode == 0, made.stderr
    assert "made     schema 1 (initial)" in made.stdout
    added = run_cli("--db", bare_url, "--embedder", "none", "add", "the tap drips", folder=tmp_path)
    assert added.returncode == 0, added.stderr
    config = run_cli("--db", f"postgresql://ana:{SECRET}@db/memory", "config", "--json", folder=tmp_path)
    assert SECRET not in config.stdout
    assert "postgresql://ana:***@db/memory" in config.stdout
    nobody = run_cli(
        "--db",
        f"postgresql://ana:{SECRET}@127.0.0.1:{free_port()}/m",
        "--embedder",
        "none",
        "stats",
        folder=tmp_path,
    )
    assert nobody.returncode == 5
    assert nobody.stderr.startswith("error: no PostgreSQL answers at 127.0.0.1:")
    assert nobody.stderr.count("\n") == 1
    file = run_cli("--db", "memory.db", "admin", "init-db", folder=tmp_path)
    assert file.returncode == 2
    assert "postgresql://" in file.stderr
