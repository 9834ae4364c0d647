"""Erasing on a server: the statements, the sweep of dead rows, and the look for residue in a scope's rows."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any, Final

import psycopg
from psycopg.errors import Diagnostic

from episodic_agent.errors import StoreError
from episodic_agent.schemas import Scope
from episodic_agent.schemas.erasures import Erasure, Sweep
from episodic_agent.stores.catalogue import POSTGRES
from episodic_agent.stores.faults import reach
from episodic_agent.stores.postgres.server.batches import read_columns, to_stored
from episodic_agent.stores.postgres.server.connection import PostgresConnections, connect
from episodic_agent.stores.postgres.server.failures import gist
from episodic_agent.stores.postgres.server.migrate import APP, SCHEMA
from episodic_agent.stores.postgres.server.session import Connection, KnownScopes, PostgresSession
from episodic_agent.stores.rows import as_made, in_small, key_of, keys_of, to_json
from episodic_agent.stores.tables.erasing import (
    ERASURE,
    ActorTable,
    ErasingTable,
    drop_scope,
    erasure_of,
    record,
    settling,
)

MAINTAIN_SINCE: Final = 170000  # from this version on the right to vacuum can be given away
DELETED: Final = "rows deleted"
VACUUMED: Final = "rows deleted, tables vacuumed"
_ELSEWHERE: Final = "in the write-ahead log, replicas and backups"
UNFREED: Final = f"dead rows in the files of tables and indexes until they are vacuumed; {_ELSEWHERE}"
FREED: Final = (
    "freed space in the files of tables and indexes until it is reused or `episodic admin scrub` rewrites"
    f" them; {_ELSEWHERE}"
)
_NOT_OURS: Final = (
    "this login may not vacuum the tables; their owner completes it with `episodic admin scrub`"
)
_OWNED: Final = (
    "SELECT bool_and(pg_has_role(relowner, 'USAGE')) FROM pg_class c JOIN pg_namespace n"
    " ON n.oid = relnamespace WHERE nspname = %s AND relkind IN ('r', 'p')"
)
_MINE: Final = "space = %s AND owner = %s"


class PostgresActors(ActorTable):
    """How often everybody spoke."""

    def _silence(self, number: int, actor: str, count: int) -> None:
        sql = "UPDATE actor SET spoke = spoke - :count WHERE :mine AND thread = :thread AND name = :name"
        self._session.alter(sql, thread=number, name=actor, count=count)
        sql = "DELETE FROM actor WHERE :mine AND thread = :thread AND name = :name AND spoke <= 0"
        self._session.alter(sql, thread=number, name=actor)


class PostgresErasing(PostgresActors, ErasingTable):
    """Erasing on a server."""

    _unrecorded = ("DELETE FROM verdict WHERE :mine AND ref BETWEEN :first AND :last",)


def erase_scope(
    connections: PostgresConnections, scope: Scope, erasure: Erasure, known_scopes: KnownScopes
) -> Erasure:
    """Delete everything of a scope in one transaction; return the receipt with its counts."""
    with connections.writing(*keys_of(scope)) as db:
        reach("after-begin")
        session = PostgresSession(db, scope, write=True, known_scopes=known_scopes)
        # Held first: threads begin one by one, so that none begins meanwhile.
        session.read("SELECT threads FROM scope WHERE :mine FOR UPDATE")
        session.read("SELECT thread FROM frame WHERE :mine ORDER BY thread FOR UPDATE")
        erasure = replace(erasure, counts=drop_scope(session, POSTGRES))
        reach("mid-erasure")
        record(session, erasure)
        reach("before-commit")
    known_scopes.drop(scope)
    reach("after-commit")
    return erasure


def erasures(connections: PostgresConnections, space: str, scope: Scope | None) -> list[Erasure]:
    """Return the receipts of a space, or of one user, oldest first."""
    owner = None if scope is None else key_of(scope.user_id)
    whose = (key_of(space),) if owner is None else (key_of(space), owner)
    # A cluster asks one node where the owner is named, and all where not.
    sql = f"SELECT {ERASURE} FROM erasure WHERE space = %s{' AND owner = %s' * (len(whose) - 1)}"
    sql += " ORDER BY at, id"
    with connections.reading(key_of(space), owner) as db:
        return [erasure_of(read_columns(c)) for c in db.execute(sql.encode(), whose).fetchall()]


def settle(connections: PostgresConnections, space: str, erasure: Erasure) -> None:
    """Keep how a receipt stands now."""
    statement, values = settling(erasure, key_of(space), "%s")
    with connections.claiming(key_of(space), int(erasure.owner or "0", 16)) as db:
        db.execute(statement.encode(), values)


def sweep(connections: PostgresConnections) -> Sweep:
    """Vacuum the tables; what hinders it is said, for what is erased is erased.

    Vacuum frees the room of deleted rows and does not overwrite it; `scrub` rewrites the files.
    """
    reach("before-sweep")
    try:
        with closing(connect(connections.address)) as db:
            hindrance = _vacuum(db)
    except StoreError as error:
        hindrance = f"the tables could not be vacuumed: {error}"
    except psycopg.Error as error:
        hindrance = f"the tables could not be vacuumed: {gist(error)}"
    reach("after-sweep")
    return Sweep(hindrance, DELETED if hindrance else VACUUMED, UNFREED if hindrance else FREED)


def _vacuum(db: Connection) -> str:
    """Vacuum as the tables' owner, or as the application where servers let it; return what hindered it."""
    refused: list[bool] = []
    db.add_notice_handler(lambda notice: refused.append(is_warning(notice)))
    if not may_vacuum(db):
        if db.info.server_version < MAINTAIN_SINCE:
            return _NOT_OURS
        db.execute(f"SET ROLE {APP}".encode())
    tables = ", ".join(f"{SCHEMA}.{kept.table}" for kept in POSTGRES)
    try:
        db.execute(f"VACUUM {tables}".encode())
    except psycopg.errors.InsufficientPrivilege:
        return _NOT_OURS
    return _NOT_OURS if any(refused) else ""


def may_vacuum(db: Connection) -> bool:
    """Tell whether a login owns the tables, or is a superuser."""
    return db.execute(_OWNED.encode(), (SCHEMA,)).fetchone() == (True,)


def is_warning(notice: Diagnostic) -> bool:
    """Tell whether a notice says that something was not done; its words are in the server's language."""
    return notice.severity_nonlocalized == "WARNING"


def residue(connections: PostgresConnections, scope: Scope, texts: Sequence[str]) -> list[str]:
    """Return those of some strings that stand in a row of a scope other than an observation that is kept."""
    with connections.reading(*keys_of(scope)) as db:
        return [text for text in texts if _is_held(db, keys_of(scope), to_stored(text))]


def _is_held(db: psycopg.Connection[tuple[Any, ...]], keys: tuple[int, int], text: str) -> bool:
    small = in_small(text)
    holding = " OR ".join(["position(%s in lower(text)) > 0"] * len(small))
    remaining = f"SELECT 1 FROM observation WHERE {_MINE} AND ({holding}) LIMIT 1"
    if db.execute(remaining.encode(), (*keys, *small)).fetchone():
        return False
    looked_for = list(dict.fromkeys(form for way in as_made(text) for form in _forms(way)))
    # digits inside the fraction of a computed number are nobody's code or phone number
    row = r"regexp_replace(t::text, '\d\.\d{8,}', ' ', 'g')" if text.isdigit() else "t::text"
    anywhere = " OR ".join([f"position(%s in {row}) > 0"] * len(looked_for))
    for table in (*(one.table for one in POSTGRES), "erasure"):
        sql = f"SELECT 1 FROM {table} t WHERE {_MINE} AND ({anywhere}) LIMIT 1"
        if db.execute(sql.encode(), (*keys, *looked_for)).fetchone():
            return True
    return False


def _forms(text: str) -> tuple[str, ...]:
    """Return how a text stands in a row as text, which shows bytes as hexadecimal digits.

    JSON escapes what is not ASCII, a row its backslashes.
    """
    escaped = to_json(text)[1:-1]
    return text, escaped, escaped.replace("\\", "\\\\"), text.encode().hex(), escaped.encode().hex()
