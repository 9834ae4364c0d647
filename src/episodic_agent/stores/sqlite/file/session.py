"""What the parts of one transaction share: the connection, the scope's number, and small look-ups."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final
from uuid import UUID

import apsw

from episodic_agent.errors import NotFound, StoreError
from episodic_agent.protocols import ref_of
from episodic_agent.schemas import Scope
from episodic_agent.stores.keys import keys_of
from episodic_agent.stores.rows import to_json
from episodic_agent.stores.sqlite.file.connection import row, rows
from episodic_agent.stores.tables.dialect import SQLITE, Rows

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
        self.db = db
        self.scope = scope
        self.writes = write
        self._thread_numbers: dict[UUID, int] = {}
        self._thread_ids: dict[int, UUID] = {}
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

    def must_write(self) -> None:
        """Raise StoreError in a read transaction."""
        if not self.writes:
            raise StoreError("a read transaction cannot write; begin it with write=True")

    def rows(self, sql: str, bindings: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Run a query and return all its rows."""
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

    def find_thread(self, thread_id: UUID) -> int | None:
        """Return a thread's number, or None when this scope has no such thread."""
        number = self._thread_numbers.get(thread_id)
        if number is None:
            sql = "SELECT number FROM thread WHERE scope = ? AND id = ?"
            results = self.row(sql, (self.number, thread_id.bytes))
            if results is None:
                return None
            number = results[0]
            self.remember_thread(number, thread_id)
        return number

    def find_threads(self, thread_ids: Iterable[UUID]) -> dict[int, UUID]:
        """Return those of these threads that this scope has, by number."""
        identifiers = list(dict.fromkeys(thread_ids))
        unknown = [one for one in identifiers if one not in self._thread_numbers]
        if unknown:
            sql = f"SELECT t.number, t.id FROM {EACH} thread t WHERE t.scope = ? AND t.id = unhex(p.value)"
            for number, identity in self.rows(sql, (id_list(unknown), self.number)):
                self.remember_thread(number, UUID(bytes=identity))
        return {self._thread_numbers[one]: one for one in identifiers if one in self._thread_numbers}

    def thread_number(self, thread_id: UUID) -> int:
        """Return a thread's number; raises NotFound."""
        number = self.find_thread(thread_id)
        if number is None:
            raise NotFound(f"no thread {thread_id} in this scope")
        return number

    def thread_ids(self, numbers: Sequence[int]) -> Mapping[int, UUID]:
        """Return the ids of those thread numbers that are threads of this scope."""
        unknown = [number for number in dict.fromkeys(numbers) if number not in self._thread_ids]
        if unknown:
            sql = f"SELECT t.number, t.id FROM {EACH} thread t WHERE t.number = p.value AND t.scope = ?"
            for number, identity in self.rows(sql, (number_list(unknown), self.number)):
                self.remember_thread(number, UUID(bytes=identity))
        return {number: self._thread_ids[number] for number in numbers if number in self._thread_ids}

    def remember_thread(self, number: int, thread_id: UUID) -> None:
        """Keep a pair for the rest of the transaction."""
        self._thread_numbers[thread_id] = number
        self._thread_ids[number] = thread_id

    def span(self, thread_id: UUID, first_seq: int, last_seq: int) -> tuple[int, int] | None:
        """Return the refs of a range of a thread's observations, or None when there can be none."""
        number = self.find_thread(thread_id)
        if number is None or last_seq < max(first_seq, 0):
            return None
        return ref_of(number, max(first_seq, 0)), ref_of(number, last_seq)
