"""Tenants on one database: through no verb, and not even with every condition forgotten, does one see another.

The statements name (space, owner) in their conditions, and row-level security holds when they do not: here the
conditions are taken out of every statement, and neither answers nor other scopes may change.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from builders.dumping import dumped
from stores.builders import NOW, posting, random_vectors
from stores.postgres_server import THROW_AWAY, Databases, connect
from stores.verbs import EMBEDDER, READS, WRITES, aggregates, everything, furnish

from episodic_agent.errors import EpisodicError, StoreError
from episodic_agent.protocols import OBSERVATIONS, ref_of
from episodic_agent.schemas import Scope
from episodic_agent.stores.postgres import PostgresStore
from episodic_agent.stores.postgres.server.session import PostgresSession, key_of

HOME, WORK, OTHER = Scope("ana", "home"), Scope("ana", "work"), Scope("bo", "home")
ALL = {HOME: "home", WORK: "work", OTHER: "other"}
WHOSE = re.compile(r"(\w+\.)?space = (%s|\d+) AND (\w+\.)?owner = (%s|\d+)")
SHARED = ("embedder", "migration", "api_key")  # keys are of a space, and no scope reads them


@pytest.fixture(scope="module")
def furnished(postgres: Databases) -> Iterator[str]:
    """Furnish all scopes of one database, of which every test gets a copy; yield its name."""
    name = postgres.ready()
    with closing(PostgresStore(postgres.url(name), THROW_AWAY)) as opened:
        for scope, secret in ALL.items():
            furnish(opened, scope, secret)
            with opened.begin(scope) as tx:  # what was there is packed
                tx.index.put_postings(OBSERVATIONS, [posting(ref_of(1, 3), f"{secret} later")])
                rows = random_vectors(sum(map(ord, secret)), 1)
                tx.index.put_vectors(OBSERVATIONS, EMBEDDER, [ref_of(1, 3)], rows)
    yield name
    postgres.drop(name)


@pytest.fixture
def postgres_url(postgres: Databases, furnished: str) -> Iterator[str]:
    name = postgres.copy(furnished)
    yield postgres.url(name)
    postgres.drop(name)


@pytest.fixture
def store(postgres_url: str) -> Iterator[PostgresStore]:
    with closing(PostgresStore(postgres_url)) as opened:
        yield opened


class Forgetful:
    """Takes the conditions on whose rows they are out of statements, and counts."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.rewritten: list[str] = []
        self.left: list[str] = []
        run = PostgresSession._run

        def run_without(session: PostgresSession, sql: str, bindings: Sequence[Any]) -> Any:
            return run(session, self.rewrite(sql), bindings)

        patch.setattr(PostgresSession, "_run", run_without)

    def rewrite(self, sql: str) -> str:
        shorter, count = WHOSE.subn(self._nothing, sql)
        (self.rewritten if count else self.left).append(sql)
        return shorter

    @staticmethod
    def _nothing(match: re.Match[str]) -> str:
        # Parameters stay where they are, but bind nothing.
        return " AND ".join(
            "%s::bigint IS NOT NULL" if part == "%s" else "true" for part in match.group(2, 4)
        )


def test_every_verb_of_the_port_is_here() -> None:
    verbs = {
        f"{room}.{name}"
        for room, port in aggregates().items()
        for name in vars(port)
        if not name.startswith("_")
    }
    # of the transaction itself
    verbs |= {"hold", "count", "embedders", "holdings", "record", "request", "keep_request"}
    verbs |= {"audit", "drop_audit"}
    assert verbs == {name.split()[0] for name in (*READS, *WRITES)}


def test_scopes_with_equal_ids_answer_with_their_own_words(store: PostgresStore) -> None:
    for scope, secret in ALL.items():
        text = dumped(everything(store, scope))
        assert f"{secret} told" in text
        assert not any(f"{foreign} told" in text for foreign in ALL.values() if foreign != secret)
        assert not any(f"{foreign} a" in text for foreign in ALL.values() if foreign != secret)


def test_no_answer_changes_when_every_condition_on_whose_rows_is_taken_away(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {scope: everything(store, scope) for scope in ALL}
    forgetful = Forgetful(monkeypatch)
    for scope in ALL:
        answers = everything(store, scope)
        for name, answer in answers.items():
            assert answer == before[scope][name], name
    assert len(forgetful.rewritten) >= len(ALL) * len(READS) // 2
    assert [sql for sql in forgetful.left if "embedder" not in sql] == []


def rows_of_others(url: str) -> dict[str, Any]:
    """Return every row of every table that is not Ana's at home, as an administrator sees it."""
    home = f"(space, owner) <> ({key_of('home')}, {key_of('ana')})"
    with connect(url) as db:
        selects = [
            f"SELECT '{table}', array_agg(t::text ORDER BY t::text) FROM episodic.{table} t"
            + ("" if table in SHARED else f" WHERE {home}")
            for table in tables(db)
        ]
        return dict(db.execute(" UNION ALL ".join(selects)).fetchall())


@pytest.fixture(scope="module")
def rows_before(postgres: Databases, furnished: str) -> dict[str, Any]:
    before = rows_of_others(postgres.url(furnished))
    assert all(len(rows) >= len(ALL) - 1 for table, rows in before.items() if table not in SHARED)
    return before


@pytest.mark.parametrize("name", WRITES)
def test_a_write_without_conditions_changes_no_other_scope(
    store: PostgresStore, postgres_url: str, rows_before: dict[str, Any], name: str
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        forgetful = Forgetful(patch)
        try:
            with store.begin(HOME) as tx:
                WRITES[name](tx)
        except (EpisodicError, psycopg.Error):
            pass  # refused is as good
    assert forgetful.rewritten or forgetful.left
    assert rows_of_others(postgres_url) == rows_before


# --- as a client who writes SQL by hand ------------------------------------------------------------------


def tables(db: psycopg.Connection[Any]) -> list[str]:
    results = db.execute(
        "SELECT tablename FROM pg_tables WHERE schemaname = 'episodic' ORDER BY 1"
    ).fetchall()
    return [str(name) for (name,) in results]


@pytest.fixture
def by_hand(store: PostgresStore, postgres_url: str) -> Iterator[psycopg.Connection[Any]]:
    """A session of the application role that says it works for Ana at home."""
    with connect(postgres_url) as db:
        db.execute("SET search_path = episodic, public")
        db.execute("SET ROLE episodic_app")
        db.execute(f"SET episodic.space = '{key_of('home')}'")
        db.execute(f"SET episodic.owner = '{key_of('ana')}'")
        yield db


def test_a_select_without_conditions_sees_one_scope_in_every_table(by_hand: psycopg.Connection[Any]) -> None:
    seen = 0
    for table in tables(by_hand):
        if table in SHARED:
            continue
        for space, owner in by_hand.execute(f"SELECT space, owner FROM {table}").fetchall():
            assert (space, owner) == (key_of("home"), key_of("ana")), table
            seen += 1
    assert seen >= len(tables(by_hand)) - len(SHARED)  # every table holds something of every scope


def test_who_names_no_space_gets_an_error_and_not_an_empty_answer(by_hand: psycopg.Connection[Any]) -> None:
    by_hand.execute("RESET episodic.space")
    for table in tables(by_hand):
        if table not in SHARED:
            with pytest.raises(psycopg.Error):
                by_hand.execute(f"SELECT 1 FROM {table}")


def test_no_scope_reads_the_keys_of_the_service(by_hand: psycopg.Connection[Any]) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        by_hand.execute("SELECT id FROM api_key")


def test_rows_of_others_can_be_neither_changed_nor_made(by_hand: psycopg.Connection[Any]) -> None:
    foreign = f"space = {key_of('work')}"
    assert by_hand.execute(f"UPDATE thread SET title = 'mine' WHERE {foreign}").rowcount == 0
    assert by_hand.execute(f"DELETE FROM posting_block WHERE {foreign}").rowcount == 0
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        by_hand.execute(f"UPDATE thread SET space = {key_of('work')}")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        by_hand.execute(
            "INSERT INTO scope (space, owner, name, user_id, threads) VALUES (%s, 1, 'work', 'eve', 0)",
            (key_of("work"),),
        )


def test_a_credential_that_is_no_workers_stays_in_its_space(
    store: PostgresStore, login: Callable[..., str]
) -> None:
    with_app = PostgresStore(login("app"))
    try:
        assert with_app.scopes("home") == [HOME, OTHER]
        assert everything(with_app, HOME) == everything(store, HOME)
        for across in (with_app.scopes, with_app.waiting, lambda: claim(with_app)):
            with pytest.raises(StoreError, match="worker"):
                across()
        assert claim(with_app, space="work") is not None
    finally:
        with_app.close()


def test_a_workers_credential_claims_in_every_space(store: PostgresStore, login: Callable[..., str]) -> None:
    with_worker = PostgresStore(login("work", worker=True))
    try:
        assert with_worker.scopes() == sorted(ALL, key=lambda s: (s.space, s.user_id))
        assert {claim(with_worker) for _ in ALL} == set(ALL)
    finally:
        with_worker.close()


def test_an_application_may_sweep_where_servers_let_it(
    store: PostgresStore, login: Callable[..., str], postgres_url: str
) -> None:
    with connect(postgres_url) as db:
        is_known = db.info.server_version >= 170000
    with_app = PostgresStore(login("app"))
    try:
        assert (with_app.sweep().hindrance == "") == is_known
        assert store.sweep().hindrance == ""
    finally:
        with_app.close()


def claim(store: PostgresStore, **narrower: Any) -> Scope | None:
    claimed = store.claim("elsewhere:1:1", now=NOW, lease=timedelta(hours=1), **narrower)
    return None if claimed is None else claimed[0]


def test_the_application_role_may_bypass_nothing(postgres_url: str, store: PostgresStore) -> None:
    with connect(postgres_url) as db:
        results = db.execute(
            "SELECT rolname, rolsuper, rolbypassrls, rolcreaterole, rolcreatedb FROM pg_roles"
            " WHERE rolname IN ('episodic_app', 'episodic_worker') ORDER BY 1"
        ).fetchall()
    assert results == [("episodic_app", *[False] * 4), ("episodic_worker", *[False] * 4)]
