"""What can go wrong with a server: each its own one-line error with the remedy, and the store goes on by itself."""

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from stores.builders import ANA, BO, NOW, fill, identity, make_observations
from stores.postgres_server import Databases, Server, connect, free_port, open_postgres, own_server
from stores.postgres_trouble import QUICK, SECRET, complaint, needs_own_server, texts_of

from episodic_agent.errors import Conflict, InvalidInput, StoreError, StoreUnavailable
from episodic_agent.stores import faults
from episodic_agent.stores.postgres import PostgresStore
from episodic_agent.stores.postgres.server.connection import PostgresOptions
from episodic_agent.stores.postgres.server.session import keys_of

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="the platform cannot fork")


@pytest.fixture(autouse=True)
def _nothing_stays_armed() -> Iterator[None]:
    yield
    faults.disarm()


# --- no way in ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("host", "reason"),
    [
        pytest.param("127.0.0.1", "Connection refused", id="nobody listens"),
        pytest.param("nowhere.invalid", "failed to resolve host", id="no such host"),
        pytest.param("/no-such-folder", "No such file", id="no such socket"),
    ],
)
def test_where_no_server_answers_the_address_and_the_remedy_are_named(host: str, reason: str) -> None:
    port = free_port()
    url = make_conninfo("", host=host, port=str(port), user="ana", password=SECRET, dbname="memory")
    error = complaint(lambda: PostgresStore(url))
    assert isinstance(error, StoreUnavailable)
    assert f"no PostgreSQL answers at {host}:{port}" in str(error)
    assert reason in str(error)
    assert "start it, or check the URL" in str(error)


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://ana:{SECRET} x@db/memory",
        f"postgresql://ana:{SECRET}@[db/memory",
        f"postgresql://ana:{SECRET}@db/memory?colour=red",
        f"postgresql://ana:{SECRET}/x@db/memory",
    ],
)
def test_a_url_that_cannot_be_read_is_not_repeated(url: str) -> None:
    error = complaint(lambda: PostgresStore(url))
    assert isinstance(error, InvalidInput)
    assert "write postgresql://USER@HOST:PORT/DATABASE" in str(error)
    assert error.__cause__ is None
    assert error.__context__ is None or error.__suppress_context__  # the driver's own words hold the password


def test_nothing_that_can_be_printed_holds_the_password() -> None:
    options = PostgresOptions()
    address = options.address(f"postgresql://ana:{SECRET}@db/memory")
    assert SECRET in address.conninfo
    assert SECRET not in f"{options!r} {address!r} {address} {address.place}"


@pytest.mark.slow
@needs_own_server
def test_wrong_passwords_logins_and_databases_are_told_apart() -> None:
    server = own_server(password=SECRET)
    try:
        PostgresStore(server.url(password=SECRET)).close()
        wrong = complaint(lambda: PostgresStore(server.url(password="guess")))
        assert f"the password for 'postgres' at 127.0.0.1:{server.port} is wrong" in str(wrong)
        assert ".pgpass" in str(wrong)
        assert not wrong.retryable
        missing = f"postgresql://postgres@127.0.0.1:{server.port}/postgres?passfile=/dev/null"
        assert "asks for the password of 'postgres'" in str(complaint(lambda: PostgresStore(missing)))
        nowhere = complaint(lambda: PostgresStore(server.url("no_such", password=SECRET)))
        assert '"no_such" does not exist; check the URL or create it with `createdb no_such`' in str(nowhere)
        nobody = complaint(lambda: PostgresStore(server.url(user="nobody", password=SECRET)))
        assert "'nobody'" in str(nobody)  # the server does not tell a missing login from a wrong password
    finally:
        server.remove()


def test_a_login_that_does_not_exist_is_told_how_to_be_made(postgres: Databases, postgres_url: str) -> None:
    if "password" in postgres.administrator:
        pytest.skip("the outside server tells nobody which logins it has")
    error = complaint(lambda: PostgresStore(make_conninfo(postgres_url, user="nobody_here")))
    assert "`episodic admin init-db --login nobody_here`" in str(error)


@pytest.mark.slow
@needs_own_server
def test_a_server_without_free_connections_says_so() -> None:
    server = own_server(max_connections="5", superuser_reserved_connections="0", reserved_connections="0")
    taken: list[psycopg.Connection[Any]] = []
    try:
        with closing(PostgresStore(server.url())) as store:
            with pytest.raises(psycopg.OperationalError):  # noqa: PT012
                while True:
                    taken.append(psycopg.connect(server.url()))
            fill(store)  # what it has it keeps
            error = complaint(lambda: PostgresStore(server.url()))
            assert isinstance(error, StoreUnavailable)
            assert "takes no more connections" in str(error)
    finally:
        for db in taken:
            db.close()
        server.remove()


@pytest.mark.slow
def test_without_the_driver_the_extra_is_named() -> None:
    script = (
        "import sys; sys.modules['psycopg'] = None\n"
        "from episodic_agent import Memory\n"
        "from episodic_agent.errors import InvalidInput\n"
        "Memory.open(':memory:', embedder='none').close()\n"
        "try: Memory.open('postgresql://db/memory', embedder='none')\n"
        "except InvalidInput as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == (
        "PostgreSQL needs its driver; run pip install '.[postgres]' in the clone of episodic-agent"
    )


# --- replicas -------------------------------------------------------------------------------------------


def test_a_database_closed_for_writing_can_be_read(store: PostgresStore, postgres_url: str) -> None:
    fill(store)
    with connect(postgres_url) as db:
        name = db.info.dbname
        db.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on".encode())
    with closing(PostgresStore(postgres_url, QUICK)) as reader:
        assert texts_of(reader) == ["a", "b", "c"]
        error = complaint(lambda: fill(reader, name="attic"))
        assert isinstance(error, StoreUnavailable)
        assert "is read-only" in str(error)
        assert "use the primary server's address" in str(error)
        assert reader.check() == []


@pytest.mark.slow
@needs_own_server
def test_a_hot_standby_serves_readers_and_sends_writers_to_the_primary(server: Server) -> None:
    with closing(PostgresStore(server.url(), QUICK)) as primary:
        fill(primary)
        with primary.begin(ANA) as tx:
            tx.upkeep.ask("encode", "k", "s", now=NOW)
        standby = server.copy()
        try:
            with closing(PostgresStore(standby.url(), QUICK)) as replica:
                assert texts_of(replica) == ["a", "b", "c"]
                assert replica.scopes() == [ANA]
                assert replica.check() == []
                for write in (
                    lambda: fill(replica, BO),
                    lambda: replica.claim("h:1:1", now=NOW, lease=NOW - NOW),
                ):
                    error = complaint(write)
                    assert isinstance(error, StoreUnavailable)
                    assert "use the primary server's address" in str(error)
            with connect(server.url()) as db:
                db.execute("CREATE DATABASE bare")
            standby.wait_for("bare")
            error = complaint(lambda: PostgresStore(standby.url("bare")))
            assert "read-only replica and not ready; open the primary" in str(error)
        finally:
            standby.remove()


# --- the connection goes away ---------------------------------------------------------------------------


def end_sessions(url: str) -> None:
    with connect(url) as db:
        db.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


def test_an_idle_connection_that_was_ended_is_replaced_unnoticed(
    store: PostgresStore, postgres_url: str
) -> None:
    fill(store)
    end_sessions(postgres_url)
    assert texts_of(store) == ["a", "b", "c"]
    end_sessions(postgres_url)
    fill(store, name="attic")


def test_a_connection_lost_in_mid_transaction_keeps_nothing_and_the_call_can_be_repeated(
    store: PostgresStore, postgres_url: str
) -> None:
    fill(store)

    def append(lose: Callable[[], None]) -> None:
        with store.begin(ANA) as tx:
            tx.observations.append(make_observations("kitchen", ["d"], first=3))
            lose()
            tx.count("observations")

    error = complaint(lambda: append(lambda: end_sessions(postgres_url)))
    assert isinstance(error, StoreUnavailable)
    assert "nothing of the transaction was acknowledged, repeat the call" in str(error)
    assert texts_of(store) == ["a", "b", "c"]
    append(lambda: None)
    assert texts_of(store) == ["a", "b", "c", "d"]


def test_a_connection_lost_at_the_commit_says_that_its_outcome_is_unknown(
    store: PostgresStore, postgres_url: str
) -> None:
    faults.arm("before-commit", 1, lambda: end_sessions(postgres_url))
    error = complaint(lambda: fill(store))
    assert isinstance(error, StoreUnavailable)
    assert "whether it was kept is unknown: repeat the call with the same ids" in str(error)
    fill(store)
    assert texts_of(store) == ["a", "b", "c"]


@pytest.mark.slow
@needs_own_server
def test_the_same_store_goes_on_after_the_server_crashed_and_came_back(server: Server) -> None:
    with closing(PostgresStore(server.url())) as store:
        fill(store)
        with store.begin(ANA, write=False), store.begin(ANA, write=False):
            pass  # two idle connections
        server.stop("immediate")
        error = complaint(lambda: texts_of(store))
        assert isinstance(error, StoreUnavailable)
        assert "no PostgreSQL answers" in str(error)
        server.start()
        assert texts_of(store) == ["a", "b", "c"]
        fill(store, name="attic")
        assert texts_of(store, "attic") == ["a", "b", "c"]


# --- others at work -------------------------------------------------------------------------------------


def hold(store: PostgresStore, act: Callable[[Any], object]) -> tuple[threading.Thread, threading.Event]:
    """Keep a write transaction open in another thread until the event is set."""
    entered, leave = threading.Event(), threading.Event()

    def keep() -> None:
        with store.begin(ANA) as tx:
            act(tx)
            entered.set()
            leave.wait(10)

    holder = threading.Thread(target=keep)
    holder.start()
    entered.wait(10)
    return holder, leave


def test_who_waits_too_long_for_another_writer_is_told(store: PostgresStore, postgres_url: str) -> None:
    fill(store)
    holder, leave = hold(store, lambda tx: tx.threads.frame(identity("kitchen")))
    with (
        pytest.raises(StoreUnavailable, match=r"another writer .* for 0.1 s; try again"),
        store.begin(ANA) as tx,
    ):
        tx.threads.frame(identity("kitchen"))
    leave.set()
    holder.join()
    with store.begin(ANA) as tx:
        tx.threads.frame(identity("kitchen"))


def test_who_waits_too_long_for_a_connection_is_told(postgres_url: str) -> None:
    small = PostgresOptions(pool_size=1, patience=timedelta(milliseconds=50), synchronous="off")
    with closing(PostgresStore(postgres_url, small)) as store:
        holder, leave = hold(store, lambda tx: tx.threads.list())
        error = complaint(lambda: texts_of(store))
        assert isinstance(error, StoreUnavailable)
        assert "1 connection, busy for" in str(error)
        assert "raise EPISODIC_CONNECTIONS" in str(error)
        leave.set()
        holder.join()
        assert texts_of(store) == []


def test_threads_that_read_inside_their_writes_never_wait_for_each_other(postgres_url: str) -> None:
    small = PostgresOptions(pool_size=2, patience=timedelta(seconds=5), synchronous="off")
    with closing(PostgresStore(postgres_url, small)) as store:
        both = threading.Barrier(2, timeout=10)

        def write_and_read(_: int) -> int:
            with store.begin(ANA):
                both.wait()
                return len(texts_of(store))

        with ThreadPoolExecutor(2) as pool:
            assert list(pool.map(write_and_read, range(2))) == [0, 0]
        assert len(store._connections._idle) <= 2


@pytest.mark.slow
def test_writers_that_deadlock_are_told_to_repeat(store: PostgresStore, postgres_url: str) -> None:
    for name in ("kitchen", "attic"):
        fill(store, name=name)
    patient = PostgresOptions(synchronous="off")
    both = threading.Barrier(2, timeout=10)

    def lock(first: str, second: str) -> str:
        with closing(PostgresStore(postgres_url, patient)) as own:
            try:
                with own.begin(ANA) as tx:
                    tx.threads.frame(identity(first))
                    both.wait()
                    tx.threads.frame(identity(second))
            except Conflict as error:
                return str(error)
        return ""

    with ThreadPoolExecutor(2) as pool:
        calls = [pool.submit(lock, "kitchen", "attic"), pool.submit(lock, "attic", "kitchen")]
        texts = [call.result(30) for call in calls]
    assert sorted(bool(line) for line in texts) == [False, True]
    assert "repeat the call" in "".join(texts)


def test_a_block_that_goes_on_after_a_failed_statement_is_not_believed_kept(store: PostgresStore) -> None:
    def write_on() -> None:
        with store._connections.writing(*keys_of(ANA)) as db, pytest.raises(psycopg.Error):
            db.execute("SELECT 1 / 0")

    error = complaint(write_on)
    assert "nothing was kept" in str(error)
    assert texts_of(store) == []


# --- processes ------------------------------------------------------------------------------------------


def in_child(work: Callable[[], None]) -> int:
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


@needs_fork
def test_a_forked_child_uses_connections_of_its_own(store: PostgresStore) -> None:
    fill(store)
    inherited = list(store._connections._idle)
    assert inherited

    def child() -> None:
        fill(store, name="attic", texts=["child"])
        assert texts_of(store) == ["a", "b", "c"]
        assert not [db for db in store._connections._idle if db in inherited]
        store.close()

    assert in_child(child) == 0
    assert store._connections._idle == inherited
    fill(store, name="cellar")
    assert texts_of(store, "attic") == ["child"]


@needs_fork
def test_a_child_forked_inside_a_transaction_cannot_end_it(store: PostgresStore) -> None:
    code = None
    with store.begin(ANA) as tx:
        tx.threads.list()

        def child() -> None:
            with pytest.raises(StoreError, match="across a fork"):
                store._connections._commit(tx._session.db)

        code = in_child(child)
    assert code == 0


@pytest.mark.slow
def test_a_process_that_never_closes_its_store_ends_at_once_and_quietly(postgres_url: str) -> None:
    script = (
        "import sys, threading\n"
        "from episodic_agent.stores.postgres import PostgresStore\n"
        "from episodic_agent.schemas import Scope\n"
        "store = PostgresStore(sys.argv[1])\n"
        "with store.begin(Scope('ana')) as tx: tx.threads.list()\n"
        "assert threading.active_count() == 1\n"
    )
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error", "-c", script, postgres_url],
        capture_output=True, text=True, timeout=30, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")


def test_a_store_opens_in_child_processes_by_its_address(postgres_url: str) -> None:
    with closing(open_postgres(postgres_url)) as store:
        assert store.check() == []
