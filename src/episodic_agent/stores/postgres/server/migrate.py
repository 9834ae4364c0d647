"""Make a database ready: roles, extension, schema; each migration applied once, all in one transaction."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from psycopg import sql

from episodic_agent.errors import StoreError, StoreUnavailable
from episodic_agent.stores.migrations import Migration, count_applied, read_migrations
from episodic_agent.stores.postgres.server.address import Address
from episodic_agent.stores.postgres.server.failures import INIT, init_for
from episodic_agent.stores.postgres.server.session import Connection

SCHEMA: Final = "episodic"
APP: Final = "episodic_app"
WORKER: Final = "episodic_worker"
ROLES: Final = (APP, WORKER)
KEYS: Final = "api_key"  # the one table that nobody but who serves may read
OLDEST_SERVER: Final = 15
OLDEST_VECTOR: Final = (0, 7)  # the first with halfvec
_TURN: Final = 0x45504953  # "EPIS": those who make one database ready take turns on this advisory lock
_CREATED: Final = re.compile(r"^CREATE (?:UNIQUE )?(TABLE|INDEX) (?:IF NOT EXISTS )?(\w+)", re.MULTILINE)
_DROPPED: Final = re.compile(r"^DROP (TABLE|INDEX) (\w+)", re.MULTILINE)
_LEDGER: Final = (
    "CREATE TABLE IF NOT EXISTS migration "
    "(version integer PRIMARY KEY, name text NOT NULL, checksum text NOT NULL, shape text NOT NULL)"
)
_EXAMINE: Final = b"""
SELECT current_setting('server_version_num')::int / 10000,
    (SELECT extversion FROM pg_extension WHERE extname = 'vector'),
    (SELECT nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = extnamespace WHERE extname = 'vector'),
    EXISTS (SELECT FROM pg_available_extensions WHERE name = 'vector'),
    EXISTS (SELECT FROM pg_tables WHERE schemaname = 'episodic' AND tablename = 'migration'),
    (SELECT rolsuper OR rolcreaterole AND has_database_privilege(current_database(), 'CREATE')
        FROM pg_roles WHERE rolname = current_user),
    (SELECT rolsuper FROM pg_roles WHERE rolname = current_user),
    (SELECT pg_has_role(oid, 'MEMBER') FROM pg_roles WHERE rolname = 'episodic_app'),
    (SELECT pg_has_role(oid, 'MEMBER') FROM pg_roles WHERE rolname = 'episodic_worker'),
    pg_is_in_recovery(),
    current_setting('synchronous_commit')
"""


class SetupStep(NamedTuple):
    """One thing done, found in place, or worth knowing: `state` is made, found, warning or next."""

    state: str
    what: str


@dataclass(frozen=True, slots=True)
class ServerState:
    """What a look at the server and the database tells before anything is done."""

    version: int
    vector: str | None
    vector_schema: str | None
    vector_offered: bool
    has_ledger: bool
    may_make_ready: bool
    superuser: bool
    may_be_app: bool | None
    may_work: bool | None
    replica: bool
    synchronous_commit: str


def shipped_migrations() -> tuple[Migration, ...]:
    """Read the migrations this version of the package carries, oldest first."""
    return read_migrations("episodic_agent.stores.postgres")


def examine(db: Connection) -> ServerState:
    """Look at the server and the database, in one round trip; anybody may."""
    results = db.execute(_EXAMINE).fetchone()
    assert results is not None
    return ServerState(*results)


def refuse_old(version: int, vector: str | None, server: str) -> None:
    """Raise StoreError for a server or an extension that lacks what the schema needs.

    >>> refuse_old(14, None, "db:5432")
    Traceback (most recent call last):
    episodic_agent.errors.StoreError: db:5432 is PostgreSQL 14; use version 15 or newer
    """
    if version < OLDEST_SERVER:
        raise StoreError(f"{server} is PostgreSQL {version}; use version {OLDEST_SERVER} or newer")
    if vector is not None and tuple(map(int, re.findall(r"\d+", vector)[:2])) < OLDEST_VECTOR:
        oldest = ".".join(map(str, OLDEST_VECTOR))
        raise StoreError(
            f"{server} has pgvector {vector}; install {oldest} or newer and run ALTER EXTENSION vector UPDATE"
        )


def prepare(db: Connection, address: Address, migrations: Sequence[Migration]) -> ServerState:
    """Check an opened database and bring it to the newest schema where the credential may.

    Raises StoreError naming `episodic admin init-db` where it may not, and for a schema that is newer or
    another; StoreUnavailable on a replica that is not ready.
    """
    server = examine(db)
    refuse_old(server.version, server.vector, address.server)
    if _is_ready(db, server, address, migrations):
        return server
    if server.replica:
        raise StoreUnavailable(
            f"{address.place} is a read-only replica and not ready; open the primary server once, then this"
        )
    if not server.may_make_ready:
        raise StoreError(
            f"{address.place} is not ready for this version and {address.user!r} may not make it so; "
            f"an administrator runs {init_for(address.user, worker=bool(server.may_work))}"
        )
    make_ready(db, address, migrations)
    return examine(db)


def _is_ready(db: Connection, server: ServerState, address: Address, migrations: Sequence[Migration]) -> bool:
    if not server.has_ledger or server.vector is None:
        return False
    if not (server.may_be_app or server.superuser):
        if server.may_make_ready:
            return False
        raise StoreError(
            f"{address.user!r} may not act as {APP} in {address.place}; "
            f"an administrator runs {init_for(address.user)}"
        )
    with db.transaction():
        db.execute(f"SET LOCAL ROLE {APP}".encode())
        return count_applied(_ledger(db), migrations, address.place) == len(migrations)


def refuse_other(db: Connection, address: Address) -> None:
    """Raise StoreError where the schema is not the one of this version; asked as the application."""
    migrations = shipped_migrations()
    if count_applied(_ledger(db), migrations, address.place) < len(migrations):
        raise StoreError(f"{address.place} is not ready for this version; an administrator runs {INIT}")


def _ledger(db: Connection) -> list[tuple[int, str, str]]:
    query = f"SELECT version, name, checksum FROM {SCHEMA}.migration ORDER BY version"
    return [(int(v), str(n), str(c)) for v, n, c in db.execute(query.encode()).fetchall()]


def make_ready(db: Connection, address: Address, migrations: Sequence[Migration]) -> Sequence[SetupStep]:
    """Create what is missing in one transaction, whoever else tries the same; return the steps."""
    steps: list[SetupStep] = []
    with db.transaction():
        db.execute("SELECT pg_advisory_xact_lock(%s)", (_TURN,))
        server = examine(db)
        refuse_old(server.version, server.vector, address.server)
        steps.append(_extension(db, server, address))
        steps += [_role(db, role) for role in ROLES]
        steps += [] if server.superuser else [grant_role(db, role, db.info.user, server) for role in ROLES]
        steps += _schema(db, examine(db), address, migrations)
    return steps


def _role(db: Connection, role: str) -> SetupStep:
    if db.execute("SELECT FROM pg_roles WHERE rolname = %s", (role,)).rowcount:
        return SetupStep("found", f"role {role}")
    # Roles belong to the whole server, so makers of other databases may be as far as we are.
    db.execute(
        f"DO $$ BEGIN CREATE ROLE {role} NOLOGIN NOBYPASSRLS; "
        "EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$".encode()
    )
    return SetupStep("made", f"role {role}")


def grant_role(db: Connection, role: str, name: str, server: ServerState) -> SetupStep:
    """Let a login act as one of the roles."""
    # Who creates a role may give it away but, since version 16, not yet take it on.
    privilege = "SET" if server.version >= 16 else "MEMBER"
    row = db.execute("SELECT pg_has_role(%s, %s, %s)", (name, role, privilege)).fetchone()
    if row == (True,):
        return SetupStep("found", f"{name} may act as {role}")
    statement = sql.SQL("GRANT {} TO {}").format(sql.Identifier(role), sql.Identifier(name))
    db.execute(statement)
    return SetupStep("made", f"{name} may act as {role}")


def _extension(db: Connection, server: ServerState, address: Address) -> SetupStep:
    if server.vector is not None:
        return SetupStep("found", f"extension vector {server.vector}")
    if not server.vector_offered:
        raise StoreError(
            f"{address.server} has no pgvector; install its package (postgresql-{server.version}-pgvector)"
            f" or use the image pgvector/pgvector:pg{server.version}"
        )
    offered = db.execute(
        "SELECT superuser AND NOT trusted FROM pg_available_extension_versions"
        " WHERE name = 'vector' ORDER BY installed DESC, version DESC LIMIT 1"
    ).fetchone()
    if offered == (True,) and not server.superuser:
        raise StoreError(
            f"{address.place} lacks the extension vector and {address.user!r} may not create it; "
            "a superuser runs CREATE EXTENSION vector there"
        )
    db.execute("CREATE EXTENSION IF NOT EXISTS vector")
    made = examine(db)
    refuse_old(made.version, made.vector, address.server)
    return SetupStep("made", f"extension vector {made.vector}")


def _schema(
    db: Connection, server: ServerState, address: Address, migrations: Sequence[Migration]
) -> Sequence[SetupStep]:
    db.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}".encode())
    _set_search_path(db, str(server.vector_schema))
    for role in ROLES:
        _let_use(db, str(server.vector_schema), role)
    db.execute(_LEDGER.encode())
    done = count_applied(_ledger(db), migrations, address.place)
    steps = [SetupStep("found", f"schema {m.version} ({m.name})") for m in migrations[:done]]
    for migration in migrations[done:]:
        _force_policies(db, False)
        db.execute(migration.script.encode())
        _force_policies(db, False)  # those the script made too: they would keep us out of the ledger
        entry = (*migration.entry, _shape(db))
        db.execute("INSERT INTO migration (version, name, checksum, shape) VALUES (%s, %s, %s, %s)", entry)
        steps.append(SetupStep("made", f"schema {migration.version} ({migration.name})"))
    if done < len(migrations):
        _force_policies(db, True)
    return steps


def _force_policies(db: Connection, forced: bool) -> None:
    """Let row-level security hold for the tables' owner too, or not while he changes them.

    Only a superuser passes by it anyway; nobody else sees the change, it is undone in the same transaction.
    """
    query = "SELECT relname FROM pg_class WHERE relnamespace = %s::regnamespace AND relkind IN ('r', 'p')"
    statement = sql.SQL(
        "ALTER TABLE {} FORCE ROW LEVEL SECURITY" if forced else "ALTER TABLE {} NO FORCE ROW LEVEL SECURITY"
    )
    for (table,) in db.execute(query, (SCHEMA,)).fetchall():
        db.execute(statement.format(sql.Identifier(table)))


def _let_use(db: Connection, schema: str, role: str) -> None:
    row = db.execute("SELECT has_schema_privilege(%s, %s, 'USAGE')", (role, schema)).fetchone()
    if row != (True,):
        names = sql.Identifier(schema), sql.Identifier(role)
        db.execute(sql.SQL("GRANT USAGE ON SCHEMA {} TO {}").format(*names))


def _set_search_path(db: Connection, vector_schema: str) -> None:
    """Let names of the open transaction mean the tables of the store, types those of the extension."""
    path = sql.SQL(", ").join([sql.Identifier(SCHEMA), sql.Identifier(vector_schema)])
    db.execute(sql.SQL("SET LOCAL search_path = {}").format(path))


def _shape(db: Connection) -> str:
    """Return a checksum of tables, columns and types, the same on every version of the server."""
    results = db.execute(
        "SELECT relname, attname, format_type(atttypid, atttypmod), attnotnull"
        " FROM pg_class c JOIN pg_attribute a ON attrelid = c.oid"
        " WHERE relnamespace = %s::regnamespace AND relkind IN ('r', 'p')"
        " AND attnum > 0 AND NOT attisdropped",
        (SCHEMA,),
    ).fetchall()
    return hashlib.sha256(repr(sorted(results)).encode()).hexdigest()


# --- checking -------------------------------------------------------------------------------------------


def problems(db: Connection) -> Sequence[str]:
    """Return what is wrong with the schema of an opened database, one line each."""
    migrations = shipped_migrations()
    ledger, shape = _read_as_app(db)
    if ledger != [m.entry for m in migrations]:
        return [f"the schema is not the one this version makes; run {INIT}"]
    names = {kind: set[str]() for kind in ("TABLE", "INDEX")}
    for migration in migrations:
        for kind, name in _CREATED.findall(migration.script):
            names[kind].add(name)
        for kind, name in _DROPPED.findall(migration.script):
            names[kind].discard(name)
    return [
        *_missing(db, names["TABLE"], "r", "table"),
        *_missing(db, names["INDEX"], "i", "index"),
        *([] if _shape(db) == shape else ["the columns were changed by hand; restore them or a backup"]),
        *_invalid_indexes(db),
        *_unguarded(db),
        *_strong_roles(db),
    ]


def _read_as_app(db: Connection) -> tuple[list[tuple[int, str, str]], str]:
    db.execute(f"SET LOCAL ROLE {APP}".encode())
    query = f"SELECT version, name, checksum, shape FROM {SCHEMA}.migration ORDER BY version"
    results = db.execute(query.encode()).fetchall()
    db.execute("RESET ROLE")
    return [(int(v), str(n), str(c)) for v, n, c, _ in results], str(results[-1][3]) if results else ""


def _missing(db: Connection, expected: set[str], kind: str, noun: str) -> list[str]:
    query = "SELECT relname FROM pg_class WHERE relnamespace = %s::regnamespace AND relkind = ANY(%s)"
    kinds = [kind, {"r": "p", "i": "I"}[kind]]  # an ordinary one or a partitioned one
    terms = {str(name) for (name,) in db.execute(query, (SCHEMA, kinds)).fetchall()}
    return [f"{noun} {name} is missing; restore a backup" for name in sorted(expected - terms)]


def _invalid_indexes(db: Connection) -> list[str]:
    query = (
        "SELECT relname FROM pg_index JOIN pg_class ON oid = indexrelid"
        " WHERE relnamespace = %s::regnamespace AND NOT (indisvalid AND indisready) ORDER BY relname"
    )
    results = db.execute(query, (SCHEMA,)).fetchall()
    return [f"index {name} is invalid; run REINDEX INDEX {SCHEMA}.{name}" for (name,) in results]


def _unguarded(db: Connection) -> list[str]:
    """Name the tables that row-level security does not guard, from their owner too."""
    query = (
        "SELECT relname, relrowsecurity AND relforcerowsecurity,"
        " EXISTS (SELECT FROM pg_attribute WHERE attrelid = c.oid AND attname = 'owner'),"
        " ARRAY(SELECT polname::text FROM pg_policy WHERE polrelid = c.oid)"
        " FROM pg_class c WHERE relnamespace = %s::regnamespace AND relkind IN ('r', 'p') ORDER BY relname"
    )
    lines = []
    for name, guarded, owned, policies in db.execute(query, (SCHEMA,)).fetchall():
        if not guarded:
            lines.append(f"table {name} is without row-level security; ALTER TABLE … ENABLE and FORCE it")
        if ("serving" if name == KEYS else "own" if owned else "everyone") not in policies:
            lines.append(f"table {name} lacks its policy; restore it from the migrations")
    return lines


def _strong_roles(db: Connection) -> list[str]:
    query = "SELECT rolname FROM pg_roles WHERE rolname = ANY(%s) AND (rolbypassrls OR rolsuper)"
    results = db.execute(query, (list(ROLES),)).fetchall()
    return [
        f"role {role} passes by row-level security; ALTER ROLE {role} NOSUPERUSER NOBYPASSRLS"
        for (role,) in results
    ]
