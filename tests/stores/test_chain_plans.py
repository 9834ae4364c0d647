"""Filters over metadata and steps along a chain read indexes, on both stores, as the application's role too."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from stores.builders import ANA, begin_thread, identity, make_episode, minute, rewrite_terms
from stores.postgres_server import Databases, open_postgres

from episodic_agent.protocols import Store
from episodic_agent.schemas import Scope
from episodic_agent.schemas.chains import Condition, Term
from episodic_agent.stores.postgres.metadata import _PART
from episodic_agent.stores.postgres.server.batches import texts
from episodic_agent.stores.postgres.server.session import PostgresSession
from episodic_agent.stores.postgres.store import PostgresTransaction
from episodic_agent.stores.rows import keys_of
from episodic_agent.stores.sqlite import SqliteStore
from episodic_agent.stores.sqlite.file.connection import rows
from episodic_agent.stores.sqlite.file.session import SqliteSession
from episodic_agent.stores.sqlite.store import SqliteTransaction

MANY = 400
WHOLE, PART = [[Condition("tag", ("leak",))]], [[Condition("tag", ("eak",), contains=True)]]
FIRST = make_episode("talk", 0, 0).id
Ask = Callable[[Any], object]
ASKED: Sequence[tuple[Ask, str]] = (
    (lambda tx: tx.episodes.list(about=WHOLE), "metadata_term"),
    (lambda tx: tx.episodes.list(about=PART), "metadata_term"),
    (lambda tx: tx.index.spans(WHOLE), "metadata_term"),
    (lambda tx: tx.index.spans([], since=minute(390)), "episode_recent"),
    (lambda tx: tx.index.described([FIRST]), "metadata_term_episode"),
    (lambda tx: tx.episodes.nodes([FIRST], "children"), "episode_parent"),
    (lambda tx: tx.episodes.nodes([FIRST], "below"), "episode_parent"),
    (lambda tx: tx.episodes.latest(limit=5, before=minute(9)), "episode_primary"),
)

TALK = identity("talk")
STRETCHES: Sequence[Ask] = (
    lambda tx: tx.observations.read(TALK, 3, 9),
    lambda tx: tx.observations.read([(TALK, 3, 9), (TALK, 20, 21)]),
    lambda tx: tx.observations.records(TALK, 3, 9),
    lambda tx: tx.observations.erased([(TALK, 3, 9), (TALK, 20, 21)]),
)


def furnish(store: Store, users: int = 4) -> None:
    for user in range(users):
        with store.begin(Scope(f"user{user}", ANA.space) if user else ANA) as tx:
            begin_thread(tx, "talk", ["a"] * MANY)
            for seq in range(MANY):
                episode = make_episode("talk", seq, seq)
                tx.episodes.put(episode)
                rewrite_terms(tx, episode.id, Term("tag", "leak" if seq == 7 else f"w{seq}"))


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file that holds episodes of several users."""
    path = tmp_path_factory.mktemp("chains") / "memory.db"
    with closing(SqliteStore(path, synchronous="off")) as store:
        furnish(store)
    return path


def plans_of(filled: Path, ask: Ask) -> list[str]:
    """Return the plans of everything a file is asked for."""
    plans: list[str] = []

    class Explaining(SqliteSession):
        def rows(self, sql: str, bindings: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
            answers = rows(self.db, f"EXPLAIN QUERY PLAN {sql}", bindings)
            plans.extend(str(line[-1]) for line in answers)
            return super().rows(sql, bindings)

    with closing(SqliteStore(filled, synchronous="off")) as store, store._connections.borrow() as db:
        ask(SqliteTransaction(Explaining(db, ANA, write=False), lambda: store._shelves))
    return plans


@pytest.mark.parametrize(("ask", "index"), ASKED, ids=[f"{n}-{i}" for n, (_, i) in enumerate(ASKED)])
def test_a_file_answers_from_an_index(filled: Path, ask: Ask, index: str) -> None:
    plans = plans_of(filled, ask)
    read = [plan for plan in plans if " m" in plan or " e" in plan or "episode" in plan]
    named = "PRIMARY KEY" if index == "metadata_term" else index
    assert any(named in plan for plan in read), plans
    assert not any(plan.startswith("SCAN") and "VIRTUAL" not in plan for plan in read), plans


@pytest.mark.parametrize("ask", STRETCHES, ids=("read", "ranges", "records", "erased"))
def test_a_file_finds_a_stretch_of_a_thread_by_its_refs(filled: Path, ask: Ask) -> None:
    """Not among all of the user's messages: of 60,000, twenty took twenty times as long to read."""
    plans = plans_of(filled, ask)
    assert any("INTEGER PRIMARY KEY (rowid>? AND rowid<?)" in plan for plan in plans), plans
    assert not any("observation" in plan and "(scope=?)" in plan for plan in plans), plans


@contextmanager
def as_the_application(url: str) -> Iterator[psycopg.Connection[Any]]:
    """Connect as whoever the administrator is, then act as the application's role under row security."""
    with psycopg.connect(url, autocommit=False) as db:
        space, owner = keys_of(ANA)
        db.execute("SET search_path TO episodic")
        db.execute("SELECT set_config('episodic.space', %s, false)", (str(space),))
        db.execute("SELECT set_config('episodic.owner', %s, false)", (str(owner),))
        db.execute("SET ROLE episodic_app")
        yield db


# A part of a value is looked for in all values of the user's field: few rows are read as they lie.
ON_SERVERS = [asked for asked in ASKED if asked[0] is not ASKED[1][0]]


@pytest.fixture(scope="module")
def furnished(postgres: Databases) -> Iterator[str]:
    """A database that holds episodes of several users, and statistics of them."""
    name = postgres.ready()
    url = postgres.url(name)
    with closing(open_postgres(url)) as store:
        furnish(store)
    with psycopg.connect(url, autocommit=True) as db:
        db.execute("ANALYZE episodic.metadata_term")
        db.execute("ANALYZE episodic.episode")
    yield url
    postgres.drop(name)


@pytest.mark.parametrize(("ask", "index"), ON_SERVERS, ids=[index for _, index in ON_SERVERS])
def test_a_server_answers_the_application_s_role_from_an_index(furnished: str, ask: Ask, index: str) -> None:
    plans: list[str] = []

    class Explaining(PostgresSession):
        def rows(self, sql: str, bindings: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
            plans.append("\n".join(line for (line,) in super().rows(f"EXPLAIN {sql}", bindings)))
            return super().rows(sql, bindings)

    with as_the_application(furnished) as db:
        ask(PostgresTransaction(Explaining(db, ANA, write=False)))
    named = "metadata_term_pkey" if index == "metadata_term" else index
    assert any(named in plan for plan in plans), plans
    assert not any("Seq Scan" in plan for plan in plans), plans


@pytest.mark.slow
def test_a_part_of_a_value_is_looked_for_in_one_field_alone(postgres_url: str) -> None:
    """What `~` costs: the rows of one field of one user, wherever they are many."""
    with closing(open_postgres(postgres_url)) as store:
        furnish(store)
        with store.begin(ANA) as tx:
            for seq in range(MANY):
                more = [Term("tag", f"w{seq}"), *(Term("entity", f"x{seq}-{n}") for n in range(9))]
                rewrite_terms(tx, make_episode("talk", seq, seq).id, *more)
    with psycopg.connect(postgres_url, autocommit=True) as db:
        db.execute("ANALYZE episodic.metadata_term")
    with as_the_application(postgres_url) as db:
        db.execute("SET enable_seqscan = off")  # so few rows are read as they lie
        session = PostgresSession(db, ANA, write=False)
        sql = "EXPLAIN (ANALYZE, FORMAT JSON, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) "
        ((plan,),) = session.rows(sql + _PART, (*session.keys, "tag", texts(["eak"])))
    (read,) = plan
    nodes = list(_nodes(read["Plan"]))
    assert "metadata_term_pkey" in {node.get("Index Name") for node in nodes}, read
    (scan,) = [node for node in nodes if "Relation Name" in node]
    assert scan.get("Rows Removed by Filter", 0) + scan["Actual Rows"] == MANY, scan


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for below in plan.get("Plans", ()):
        yield from _nodes(below)
