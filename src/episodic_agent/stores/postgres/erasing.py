"""Erasing on a server: the statements, the sweep of dead rows, and the look for residue in a scope's rows."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any, Final
from uuid import UUID

import psycopg
from psycopg.errors import Diagnostic

from episodic_agent.core.erasing import Erasure
from episodic_agent.schemas import Scope
from episodic_agent.stores.catalogue import POSTGRES, bound
from episodic_agent.stores.erasing import ERASURE, ErasingRows, erasure_of
from episodic_agent.stores.faults import reach
from episodic_agent.stores.keys import key_of, keys_of
from episodic_agent.stores.postgres.connection import Connections, connect
from episodic_agent.stores.postgres.failures import translate
from episodic_agent.stores.postgres.migrate import APP, SCHEMA
from episodic_agent.stores.postgres.session import KnownScopes, Session
from episodic_agent.stores.postgres.text import read_columns, to_stored
from episodic_agent.stores.rows import optional_microseconds, to_json

_GIVEN: Final = 170000  # from this version on the right to sweep can be given away
_MINE: Final = "space = %s AND owner = %s"


class PostgresErasing(ErasingRows):
    """The `Erasing` of one transaction."""

    tables = POSTGRES
    place = "strpos"
    records = ("DELETE FROM verdict WHERE :mine AND ref BETWEEN :first AND :last",)

    def __init__(self, session: Session) -> None:
        self._session = session

    def read(self, sql: str, **values: Any) -> list[tuple[Any, ...]]:
        """Run a query."""
        return [read_columns(columns) for columns in self._session.rows(*self._bound(sql, values))]

    def write(self, sql: str, **values: Any) -> int:
        """Run a statement; return how many rows it changed."""
        self._session.must_write()
        return self._session.execute(*self._bound(sql, values))

    def _bound(self, sql: str, values: dict[str, Any]) -> tuple[str, list[Any]]:
        return bound(sql, "%s", (_MINE, self._session.keys), values)

    def number(self, thread_id: UUID) -> int:
        """Return a thread's number; raises NotFound."""
        return self._session.thread_number(thread_id)

    def keys(self) -> tuple[int, int]:
        """Return the hashes of the space's and the user's names."""
        return self._session.keys

    def _silence(self, number: int, actor: str, count: int) -> None:
        sql = "UPDATE actor SET spoke = spoke - :count WHERE :mine AND thread = :thread AND name = :name"
        self.write(sql, thread=number, name=actor, count=count)
        sql = "DELETE FROM actor WHERE :mine AND thread = :thread AND name = :name AND spoke <= 0"
        self.write(sql, thread=number, name=actor)


def erase_scope(
    connections: Connections, scope: Scope, erasure: Erasure, known_scopes: KnownScopes
) -> Erasure:
    """Delete everything of a scope in one transaction; return the receipt with its counts."""
    with connections.writing(*keys_of(scope)) as db:
        reach("after-begin")
        erasing = PostgresErasing(Session(db, scope, write=True, known_scopes=known_scopes))
        # Held first: threads begin one by one, so that none begins meanwhile.
        erasing.read("SELECT threads FROM scope WHERE :mine FOR UPDATE")
        erasing.read("SELECT thread FROM frame WHERE :mine ORDER BY thread FOR UPDATE")
        erasure = replace(erasure, counts=erasing.drop_scope())
        reach("mid-erasure")
        erasing.record(erasure)
        reach("before-commit")
    known_scopes.forget(scope)
    reach("after-commit")
    return erasure


def erasures(connections: Connections, space: str, scope: Scope | None) -> list[Erasure]:
    """Return the receipts of a space, or of one user, oldest first."""
    owner = None if scope is None else key_of(scope.user_id)
    sql = f"SELECT {ERASURE} FROM erasure WHERE space = %s AND owner = coalesce(%s::bigint, owner)"
    sql += " ORDER BY at, id"
    with connections.reading(key_of(space), owner) as db:
        return [
            erasure_of(read_columns(c)) for c in db.execute(sql.encode(), (key_of(space), owner)).fetchall()
        ]


def settle(connections: Connections, space: str, erasure: Erasure) -> None:
    """Keep how a receipt stands now."""
    sql = "UPDATE erasure SET state = %s, done_at = %s, residue = %s, waits_for = %s"
    sql += " WHERE space = %s AND id = %s"
    done = optional_microseconds(erasure.done_at)
    changed = (erasure.state, done, erasure.residue, erasure.waits_for, key_of(space), erasure.id.bytes)
    with connections.claiming(key_of(space), None) as db:
        db.execute(sql.encode(), changed)


def sweep(connections: Connections) -> str:
    """Take the rows that are gone out of the tables' files; return what stands in the way, "" if nothing.

    The write-ahead log, replicas and backups hold them as long as their owners let them.
    """
    refused: list[str] = []

    def hear(notice: Diagnostic) -> None:
        if "skipping" in (notice.message_primary or ""):
            refused.append(notice.message_primary or "")

    reach("before-sweep")
    tables = ", ".join(f"{SCHEMA}.{kept.table}" for kept in POSTGRES)
    address = connections.address
    with closing(connect(address)) as db:
        db.add_notice_handler(hear)
        try:
            if db.info.server_version >= _GIVEN:
                db.execute(f"SET ROLE {APP}".encode())
            db.execute(f"VACUUM {tables}".encode())
        except psycopg.Error as error:
            raise translate(error, address, connections.options.patience) from error
    reach("after-sweep")
    if not refused:
        return ""
    return "this login may not vacuum the tables; `episodic doctor --repair` as their owner does"


def residue(connections: Connections, scope: Scope, texts: Sequence[str]) -> list[str]:
    """Return those of some strings that stand in a row of a scope other than an observation that is kept."""
    with connections.reading(*keys_of(scope)) as db:
        return [text for text in texts if _is_held(db, keys_of(scope), to_stored(text))]


def _is_held(db: psycopg.Connection[tuple[Any, ...]], keys: tuple[int, int], text: str) -> bool:
    kept = f"SELECT 1 FROM observation WHERE {_MINE} AND position(%s in text) > 0 LIMIT 1"
    if db.execute(kept.encode(), (*keys, text)).fetchone():
        return False
    # a row as text shows bytes as hexadecimal digits; JSON escapes what is not ASCII, a row its backslashes
    escaped = to_json(text)[1:-1]
    looked_for = (text, escaped, escaped.replace("\\", "\\\\"), text.encode().hex(), escaped.encode().hex())
    anywhere = " OR ".join(["position(%s in t::text) > 0"] * len(looked_for))
    for table in (*(one.table for one in POSTGRES), "erasure"):
        sql = f"SELECT 1 FROM {table} t WHERE {_MINE} AND ({anywhere}) LIMIT 1"
        if db.execute(sql.encode(), (*keys, *looked_for)).fetchone():
            return True
    return False
