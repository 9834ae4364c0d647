"""What the parts of one transaction share: the connection, the scope's number, and small look-ups."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final
from uuid import UUID

import apsw

from episodic_agent.schemas import Scope
from episodic_agent.stores.rows import keys_of, to_json
from episodic_agent.stores.sqlite.file.connection import row, rows
from episodic_agent.stores.tables.dialect import SQLITE, Rows
from episodic_agent.yielding import CALLERS

NOBODY = -1  # the number of a scope that does not exist: no row has it


# Looking many keys up in one statement costs a tenth of a statement each. CROSS JOIN: the keys' order leads.
EACH: Final = "json_each(?) p CROSS JOIN"


def number_list(numbers: Iterable[int]) -> str:
    """Return numbers as `EACH` takes them.

    >>> number_list([3, 1])
    '[3,1]'
    """
    return f"[{','.join(map(str, map(int, numbers)))}]"


def id_list(ids: Iterable[UUID]) -> str:
    """Return ids as `EACH` takes them; compare a column with `unhex(p.value)`."""
    return to_json([identity.hex for identity in ids])


class SqliteSession(Rows):
    """One transaction on one connection in one scope. Every statement of the store binds `number`."""

    dialect = SQLITE

    def __init__(self, db: apsw.Connection, scope: Scope, *, write: bool) -> None:
        super().__init__(scope, write=write)
        self.db = db
        # This first read also fixes the snapshot of a read transaction.
        sql = "SELECT number FROM scope WHERE space = ? AND user_id = ?"
        results = row(db, sql, (scope.space, scope.user_id))
        self.number: int = NOBODY if results is None else results[0]

    def own(self) -> int:
        """Return the scope's number for writing, creating the scope at its first write."""
        self.must_write()
        if self.number == NOBODY:
            names = (self.scope.space, self.scope.user_id)
            self.db.execute("INSERT INTO scope (space, user_id) VALUES (?, ?)", names)
            self.number = self.db.last_insert_rowid()
        return self.number

    def hold_threads(self) -> None:
        """Let nobody else resolve threads before the transaction's end: there is but one writer."""
        self.own()

    def hold_facts(self) -> None:
        """Let nobody else change facts before the transaction's end: there is but one writer."""
        self.must_write()

    def rows(self, sql: str, bindings: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Run a query and return all its rows."""
        if not self.writes:
            CALLERS.give_way()
        return rows(self.db, sql, bindings)

    def row(self, sql: str, bindings: Sequence[Any] = ()) -> tuple[Any, ...] | None:
        """Run a query and return its first row."""
        return row(self.db, sql, bindings)

    def read(self, sql: str, **values: Any) -> list[tuple[Any, ...]]:
        """Run a query in the common notation."""
        return self.rows(*self.bound(sql, (self.number,), values))

    def change(self, sql: str, **values: Any) -> int:
        """Run a statement in the common notation; return how many rows it changed."""
        self.db.execute(*self.bound(sql, (self.own(),), values))
        return self.db.changes()

    def alter(self, sql: str, **values: Any) -> int:
        """Run a statement in the common notation on rows that are there."""
        self.must_write()
        self.db.execute(*self.bound(sql, (self.number,), values))
        return self.db.changes()

    @property
    def hashes(self) -> tuple[int, int]:
        """Return the hashes of the space's and the user's names."""
        return keys_of(self.scope)

    def change_all(self, sql: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Run a statement in the common notation once for each row."""
        keys = (self.own(),)
        if rows:
            text = self.bound(sql, keys, rows[0])[0]
            self.db.executemany(text, [self.bound(sql, keys, values)[1] for values in rows])

    def listed(self, kind: str, values: Sequence[Any]) -> str:
        """Return a list as JSON."""
        if kind == "numbers":
            return number_list(values)
        return to_json([value.hex() for value in values] if kind == "ids" else list(values))

    def _numbers_of(self, thread_ids: Sequence[UUID]) -> Iterable[tuple[Any, ...]]:
        sql = f"SELECT t.number, t.id FROM {EACH} thread t WHERE t.scope = ? AND t.id = unhex(p.value)"
        return self.rows(sql, (id_list(thread_ids), self.number))

    def _ids_of(self, numbers: Sequence[int]) -> Iterable[tuple[Any, ...]]:
        sql = f"SELECT t.number, t.id FROM {EACH} thread t WHERE t.number = p.value AND t.scope = ?"
        return self.rows(sql, (number_list(numbers), self.number))
