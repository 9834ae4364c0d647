"""What an administrator does once for a database: make it ready, and let logins in."""

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager

import psycopg
from psycopg import sql

from episodic_agent.errors import StoreError
from episodic_agent.stores.postgres.server.address import Address
from episodic_agent.stores.postgres.server.connection import PostgresOptions, connect
from episodic_agent.stores.postgres.server.distribute import distribute
from episodic_agent.stores.postgres.server.failures import translate
from episodic_agent.stores.postgres.server.large import LARGE, index_large_scopes, pack_indexes
from episodic_agent.stores.postgres.server.migrate import (
    APP,
    WORKER,
    ServerState,
    SetupStep,
    examine,
    grant_role,
    make_ready,
    prepare,
    shipped_migrations,
)
from episodic_agent.stores.postgres.server.scrub import scrub
from episodic_agent.stores.postgres.server.session import Connection


def init_db(
    url: str, options: PostgresOptions, logins: Sequence[str] = (), worker_logins: Sequence[str] = ()
) -> Sequence[SetupStep]:
    """Make a database ready as its administrator and let logins in; return each step, done or found in place.

    Logins act as the application, one space at a time; worker logins also claim the jobs of all spaces.
    What is missing is created, nothing is taken away; run it again at any time. Raises StoreError.
    """
    address = options.address(url)
    with closing(connect(address)) as db:
        try:
            steps = [*make_ready(db, address, shipped_migrations())]
            server = examine(db)
            for name in dict.fromkeys([*logins, *worker_logins]):
                roles = (APP, WORKER) if name in worker_logins else (APP,)
                with db.transaction():
                    steps += _let_in(db, address, name, roles, server)
        except psycopg.Error as error:
            raise translate(error, address, options.patience) from error
    return steps


def distribute_db(url: str, options: PostgresOptions, shards: int) -> Iterator[str]:
    """Spread a ready database over the nodes of its Citus cluster; yield each statement that was run."""
    with _administering(url, options) as db:
        yield from distribute(db, shards)


def index_db(url: str, options: PostgresOptions, above: int | None, *, pack: bool) -> Iterator[str]:
    """Give large scopes their HNSW index, and pack the indexes that grow in their middle; yield the steps."""
    with _administering(url, options) as db:
        yield from index_large_scopes(db, above=LARGE if above is None else above)
        if pack:
            yield from pack_indexes(db)


def scrub_db(url: str, options: PostgresOptions, *, dry_run: bool) -> Iterator[str]:
    """Rewrite the tables that may hold bytes of what was erased, complete its receipts; yield the steps."""
    with _administering(url, options) as db:
        yield from scrub(db, dry_run=dry_run, patience=options.patience.total_seconds())


@contextmanager
def _administering(url: str, options: PostgresOptions) -> Iterator[Connection]:
    """Connect to a database that is ready; database errors leave as StoreError."""
    address = options.address(url)
    with closing(connect(address)) as db:
        try:
            prepare(db, address, shipped_migrations())
            yield db
        except psycopg.errors.InsufficientPrivilege as error:
            raise StoreError(
                f"only an administrator may do this in {address.place}; connect as the one who ran "
                "`episodic admin init-db`"
            ) from error
        except psycopg.Error as error:
            raise translate(error, address, options.patience) from error


def _let_in(
    db: Connection, address: Address, name: str, roles: Sequence[str], server: ServerState
) -> Sequence[SetupStep]:
    query = "SELECT rolsuper, rolbypassrls FROM pg_roles WHERE rolname = %s"
    powers = db.execute(query, (name,)).fetchone()
    if powers is None:
        statement = "CREATE ROLE {} LOGIN NOINHERIT NOSUPERUSER NOBYPASSRLS"
        db.execute(sql.SQL(statement).format(sql.Identifier(name)))
    steps = [SetupStep("made" if powers is None else "found", f"login {name}")]
    steps += [grant_role(db, role, name, server) for role in roles]
    steps += _let_connect(db, address, name)
    if powers is None:
        steps.append(SetupStep("next", f"give {name} a password: in psql, \\password {name}"))
    elif any(powers):
        steps.append(SetupStep("warning", f"{name} can pass by row-level security; use a login that cannot"))
    return steps


def _let_connect(db: Connection, address: Address, name: str) -> Sequence[SetupStep]:
    row = db.execute("SELECT has_database_privilege(%s, current_database(), 'CONNECT')", (name,)).fetchone()
    if row == (True,):
        return []
    database = sql.Identifier(db.info.dbname)
    db.execute(sql.SQL("GRANT CONNECT ON DATABASE {} TO {}").format(database, sql.Identifier(name)))
    return [SetupStep("made", f"{name} may connect to {address.place}")]
