"""What the parts of one transaction share: the connection, the scope's keys, and small look-ups."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final
from uuid import UUID

import psycopg

from episodic_agent.errors import Conflict, StoreError
from episodic_agent.schemas import Scope
from episodic_agent.stores.postgres.server.batches import bigints, byteas, read_columns, texts, to_stored
from episodic_agent.stores.postgres.server.packing import Binary
from episodic_agent.stores.rows import key_of, keys_of
from episodic_agent.stores.tables.dialect import LAST_SEQ, POSTGRES, Rows

__all__ = ["LAST_SEQ", "Connection", "KnownScopes", "PostgresSession", "key_of", "keys_of"]

Connection = psycopg.Connection[tuple[Any, ...]]
_REMEMBERED_SCOPES: Final = 1 << 16
FRESH: Final = 256  # documents of a kind that wait to be packed, about: each search reads them whole
# One look-up for each id. Where PostgreSQL has no statistics yet it believes a scope to hold a row or two,
# and reads all of it for `id = ANY(…)`.
EACH: Final = (
    "SELECT o.* FROM unnest(%s::bytea[]) AS k (id) CROSS JOIN LATERAL ({} AND id = k.id LIMIT 1) AS o"
)
# The scope's own row, as the source of what is inserted in one statement. A cluster sends the statement
# to the scope's node then; without a table in the SELECT it writes by COPY, which row-level security refuses.
# Constants beside it need types.
OWN_ROW: Final = "(SELECT space, owner FROM scope WHERE space = %s AND owner = %s) AS s"
_SCOPE: Final = "SELECT name, user_id FROM scope WHERE space = %s AND owner = %s"
_NUMBERS: Final = EACH.format("SELECT number, id FROM thread WHERE space = %s AND owner = %s")


class KnownScopes:
    """Scopes a committed transaction of this process has seen in the database, so that no other must look.

    Threads may share it: every step is one operation on a set.
    """

    def __init__(self) -> None:
        self._scopes: set[Scope] = set()

    def __contains__(self, scope: Scope) -> bool:
        return scope in self._scopes

    def add(self, scope: Scope) -> None:
        """Remember a scope whose row is committed and carries its very names."""
        if len(self._scopes) >= _REMEMBERED_SCOPES:
            self._scopes = set()
        self._scopes.add(scope)

    def drop(self, scope: Scope) -> None:
        """Look again next time."""
        self._scopes.discard(scope)


class PostgresSession(Rows):
    """One transaction on one connection in one scope. Every statement of the store binds (space, owner)."""

    dialect = POSTGRES

    def __init__(
        self,
        db: Connection,
        scope: Scope,
        *,
        write: bool,
        known_scopes: KnownScopes | None = None,
        fresh: int = FRESH,
    ) -> None:
        super().__init__(scope, write=write)
        self.db = db
        self.space, self.owner = keys_of(scope)
        self._known_scopes = KnownScopes() if known_scopes is None else known_scopes
        self._owned = False
        self.fresh = fresh
        self.crowded: set[str] = set()  # kinds of documents of which so many wait to be packed
        self._last_fact: int | None = None  # the number given last, once the scope's facts are held

    @property
    def keys(self) -> tuple[int, int]:
        """Return (space, owner), which every statement binds first."""
        return self.space, self.owner

    def own(self) -> tuple[int, int]:
        """Return the scope's keys for writing, creating the scope at its first write."""
        self.must_write()
        if not self._owned and self.scope not in self._known_scopes:
            self.execute(
                "INSERT INTO scope (space, owner, name, user_id, threads) VALUES (%s, %s, %s, %s, 0)"
                " ON CONFLICT (space, owner) DO NOTHING",
                (*self.keys, self.scope.space, self.scope.user_id),
            )
            self._check_names()
        self._owned = True
        return self.keys

    def _check_names(self) -> None:
        row = self.row(_SCOPE, self.keys)
        if row is not None and read_columns(row) != (self.scope.space, self.scope.user_id):
            raise StoreError(f"user {self.scope.user_id!r} has the same key as {row}; choose another name")

    def remember_scope(self) -> None:
        """Let later transactions know, once this one is committed, that the scope is there."""
        if self._owned:
            self._known_scopes.add(self.scope)

    def insert(self, sql: str, bindings: Sequence[Any], count: int) -> int:
        """Insert `count` rows from `OWN_ROW`; return how many were new; Conflict where the scope is gone."""
        written = self.execute(sql, bindings)
        self.expect_scope(written, count)
        return written

    def expect_scope(self, written: int, count: int) -> None:
        """Raise Conflict where fewer rows than `count` were written because the scope's own row is gone."""
        if written < count and self.row(_SCOPE, self.keys) is None:
            raise self.miss_scope()

    def miss_scope(self) -> Conflict:
        """Return the error for a scope that was there and is gone; the next transaction makes it anew."""
        self._known_scopes.drop(self.scope)
        return Conflict(f"everything of user {self.scope.user_id!r} was deleted just now; repeat the call")

    def hold_threads(self) -> None:
        """Let nobody else resolve threads before the transaction's end."""
        sql = "SELECT threads FROM scope WHERE space = %s AND owner = %s FOR NO KEY UPDATE"
        if self.row(sql, self.own()) is None:
            raise self.miss_scope()

    def hold_facts(self) -> int:
        """Let nobody else change facts before the transaction's end; return the number given last."""
        keys = self.own()
        if self._last_fact is None:
            sql = (
                "INSERT INTO fact_number (space, owner, last)"
                f" SELECT s.space, s.owner, 0::bigint FROM {OWN_ROW} ON CONFLICT DO NOTHING"
            )
            self.execute(sql, keys)
            sql = "SELECT last FROM fact_number WHERE space = %s AND owner = %s FOR UPDATE"
            row = self.row(sql, keys)
            if row is None:
                raise self.miss_scope()
            self._last_fact = int(row[0])
        return self._last_fact

    def number_facts(self, last: int) -> None:
        """Keep the number given last to a fact; hold facts before."""
        if last != self._last_fact:
            sql = "UPDATE fact_number SET last = %s WHERE space = %s AND owner = %s"
            self.execute(sql, (last, *self.keys))
            self._last_fact = last

    def rows(self, sql: str, bindings: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Run a query and return all its rows."""
        return self._run(sql, bindings).fetchall()

    def row(self, sql: str, bindings: Sequence[Any] = ()) -> tuple[Any, ...] | None:
        """Run a query and return its first row."""
        return self._run(sql, bindings).fetchone()

    def execute(self, sql: str, bindings: Sequence[Any] = ()) -> int:
        """Run a statement and return how many rows it wrote."""
        return self._run(sql, bindings).rowcount

    def _run(self, sql: str, bindings: Sequence[Any]) -> psycopg.Cursor[tuple[Any, ...]]:
        stored = [to_stored(value) if type(value) is str else value for value in bindings]
        # Binary: the numbers, vectors and ids that make up most of what is read need no parsing.
        return self.db.cursor(binary=True).execute(sql.encode(), stored)

    def read(self, sql: str, **values: Any) -> list[tuple[Any, ...]]:
        """Run a query in the common notation; strings come back as they were written."""
        return [read_columns(columns) for columns in self.rows(*self.bound(sql, self.keys, values))]

    def change(self, sql: str, **values: Any) -> int:
        """Run a statement in the common notation; return how many rows it changed."""
        return self.execute(*self.bound(sql, self.own(), values))

    def alter(self, sql: str, **values: Any) -> int:
        """Run a statement in the common notation on rows that are there."""
        self.must_write()
        return self.execute(*self.bound(sql, self.keys, values))

    @property
    def hashes(self) -> tuple[int, int]:
        """Return the hashes of the space's and the user's names."""
        return self.keys

    def change_all(self, sql: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Run a statement in the common notation once for each row."""
        keys = self.own()
        for values in rows:
            self.execute(*self.bound(sql, keys, values))

    def listed(self, kind: str, values: Sequence[Any]) -> Binary:
        """Return a list as an array."""
        arrays: dict[str, Callable[[Sequence[Any]], Binary]]
        arrays = {"numbers": bigints, "ids": byteas, "texts": texts}
        return arrays[kind](values)

    def _numbers_of(self, thread_ids: Sequence[UUID]) -> Iterable[tuple[Any, ...]]:
        return self.rows(_NUMBERS, (byteas([one.bytes for one in thread_ids]), *self.keys))

    def _ids_of(self, numbers: Sequence[int]) -> Iterable[tuple[Any, ...]]:
        sql = "SELECT number, id FROM thread WHERE space = %s AND owner = %s AND number = ANY(%s::bigint[])"
        return self.rows(sql, (*self.keys, bigints(numbers)))
