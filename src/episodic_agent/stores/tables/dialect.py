"""A notation for statements that both stores run, and what a session must do to run them.

| written | SQLite | PostgreSQL |
|---|---|---|
| `:mine` | `scope = ?` | `space = %s AND owner = %s` |
| `:this` (of the scope's own row) | `number = ?` | `space = %s AND owner = %s` |
| `:also` (of rows found by a number that is the row's own) | `+scope = ?` | `space = %s AND owner = %s` |
| `(:keys, day)` | `(scope, day)` | `(space, owner, day)` |
| `VALUES (:own, :day)` | `VALUES (?, ?)` | `VALUES (%s, %s, %s)` |
| `ref IN :numbers(refs)` | `ref IN (SELECT value FROM json_each(?))` | `ref = ANY(%s::bigint[])` |
| `id IN :ids(ids)` | `id IN (SELECT unhex(value) FROM json_each(?))` | `id = ANY(%s::bytea[])` |
| `kind IN :texts(kinds)` | `kind IN (SELECT value FROM json_each(?))` | `kind = ANY(%s::text[])` |
| `ORDER BY name:exact` | `ORDER BY name` | `ORDER BY name COLLATE "C"` |

Any other `:name` is a value. Ids are bytes, times are microseconds.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, NamedTuple, TypeGuard
from uuid import UUID

from episodic_agent.errors import NotFound, StoreError
from episodic_agent.protocols import ref_of
from episodic_agent.schemas import Scope
from episodic_agent.stores.rows import id_of

_WORD: Final = re.compile(r"IN :(numbers|ids|texts)\((\w+)\)|(?<!:):(\w+)")
LAST_SEQ: Final = 0xFFFFFFFF  # a ref has 32 bits for it
_SCOPES: Final = ("mine", "this", "also", "own")


@dataclass(frozen=True, eq=False, slots=True)
class Dialect:
    """How a store says what the notation leaves open; `lists` holds the three forms of a list."""

    mark: str
    keys: Sequence[str]
    this: Sequence[str]
    also: Sequence[str]
    exact: str
    lists: Mapping[str, str]


SQLITE: Final = Dialect(
    "?",
    ("scope",),
    ("number",),
    ("+scope",),  # without statistics the rows of a scope look as few as those of a stretch of numbers
    "",
    {
        "numbers": "IN (SELECT value FROM json_each(?))",
        "ids": "IN (SELECT unhex(value) FROM json_each(?))",
        "texts": "IN (SELECT value FROM json_each(?))",
    },
)
POSTGRES: Final = Dialect(
    "%s",
    ("space", "owner"),
    ("space", "owner"),
    ("space", "owner"),
    ' COLLATE "C"',
    {"numbers": "= ANY(%s::bigint[])", "ids": "= ANY(%s::bytea[])", "texts": "= ANY(%s::text[])"},
)


class Placeholder(NamedTuple):
    """What a placeholder is bound to: the scope's keys (`name` is ""), a value, or a list of a `kind`."""

    name: str
    kind: str = ""


def translated(sql: str, dialect: Dialect) -> tuple[str, Sequence[Placeholder]]:
    """Return a statement as a driver takes it, and what its placeholders are bound to, in order.

    >>> translated("DELETE FROM work WHERE :mine AND at < :before", SQLITE)  # doctest: +NORMALIZE_WHITESPACE
    ('DELETE FROM work WHERE scope = ? AND at < ?',
     (Placeholder(name='', kind=''), Placeholder(name='before', kind='')))
    >>> translated("INSERT INTO t (:keys, n) VALUES (:own, :n)", POSTGRES)[0]
    'INSERT INTO t (space, owner, n) VALUES (%s, %s, %s)'
    """
    slots: list[Placeholder] = []

    def spoken(word: "re.Match[str]") -> str:
        kind, listed, name = word.groups()
        if kind:
            slots.append(Placeholder(listed, kind))
            return dialect.lists[kind]
        if name == "keys":
            return ", ".join(dialect.keys)
        if name == "exact":
            return dialect.exact
        if name in _SCOPES:
            slots.append(Placeholder(""))
            if name == "own":
                return ", ".join([dialect.mark] * len(dialect.keys))
            keys = {"this": dialect.this, "also": dialect.also}.get(name, dialect.keys)
            return " AND ".join(f"{key} = {dialect.mark}" for key in keys)
        slots.append(Placeholder(name))
        return dialect.mark

    return _WORD.sub(spoken, sql), tuple(slots)


_translated = cache(translated)  # statements are constants of the tables


class Rows(ABC):
    """A session of either store, as the plain tables see it."""

    dialect: Dialect

    def __init__(self, scope: Scope, *, write: bool) -> None:
        self.scope = scope
        self.writes = write
        self._thread_numbers: dict[UUID, int] = {}
        self._thread_ids: dict[int, UUID] = {}

    @abstractmethod
    def hold_threads(self) -> None:
        """Let no other writer resolve threads before the end of the transaction."""

    @abstractmethod
    def hold_facts(self) -> object:
        """Let no other writer change facts before the end of the transaction."""

    @abstractmethod
    def own(self) -> object:
        """Make the scope where it is not there yet; raises StoreError in a read transaction."""

    @abstractmethod
    def read(self, sql: str, **values: Any) -> list[tuple[Any, ...]]:
        """Run a query; strings come back as they were written."""

    @abstractmethod
    def change(self, sql: str, **values: Any) -> int:
        """Run a statement; return how many rows it changed. The scope is made at its first write."""

    @abstractmethod
    def alter(self, sql: str, **values: Any) -> int:
        """Run a statement on rows that are there; return how many it changed. It makes no scope."""

    @abstractmethod
    def change_all(self, sql: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Run a statement once for each row, in this order.

        Keep to one order everywhere: two writers of the same rows then wait, and never for each other.
        """

    @abstractmethod
    def listed(self, kind: str, values: Sequence[Any]) -> Any:
        """Return a list of "numbers", "ids" (as bytes) or "texts" as one value of a statement."""

    @property
    @abstractmethod
    def hashes(self) -> tuple[int, int]:
        """Return the hashes of the space's and the user's names."""

    def must_write(self) -> None:
        """Raise StoreError in a read transaction."""
        if not self.writes:
            raise StoreError("a read transaction cannot write; begin it with write=True")

    @abstractmethod
    def _numbers_of(self, thread_ids: Sequence[UUID]) -> Iterable[tuple[Any, ...]]:
        """Look up (number, id) of threads, one look-up for each."""

    @abstractmethod
    def _ids_of(self, numbers: Sequence[int]) -> Iterable[tuple[Any, ...]]:
        """Look up (number, id) of the threads of these numbers."""

    def find_thread(self, thread_id: UUID) -> int | None:
        """Return a thread's number, or None when this scope has no such thread."""
        if thread_id not in self._thread_numbers:
            sql = "SELECT number FROM thread WHERE :mine AND id = :id"
            for (number,) in self.read(sql, id=thread_id.bytes):
                self.remember_thread(number, thread_id)
        return self._thread_numbers.get(thread_id)

    def find_threads(self, thread_ids: Iterable[UUID]) -> Mapping[int, UUID]:
        """Return those of these threads that this scope has, by number."""
        identifiers = list(dict.fromkeys(thread_ids))
        if unknown := [one for one in identifiers if one not in self._thread_numbers]:
            for number, identity in self._numbers_of(unknown):
                self.remember_thread(number, id_of(identity))
        return {self._thread_numbers[one]: one for one in identifiers if one in self._thread_numbers}

    def thread_number(self, thread_id: UUID) -> int:
        """Return a thread's number; raises NotFound."""
        number = self.find_thread(thread_id)
        if number is None:
            raise NotFound(f"no thread {thread_id} in this scope")
        return number

    def thread_ids(self, numbers: Sequence[int]) -> Mapping[int, UUID]:
        """Return the ids of those thread numbers that are threads of this scope."""
        if unknown := [number for number in dict.fromkeys(numbers) if number not in self._thread_ids]:
            for number, identity in self._ids_of(unknown):
                self.remember_thread(number, id_of(identity))
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
        return ref_of(number, max(first_seq, 0)), ref_of(number, min(last_seq, LAST_SEQ))

    def bound(self, sql: str, keys: Sequence[int], values: Mapping[str, Any]) -> tuple[str, list[Any]]:
        """Return a statement as the driver takes it, and its values in order."""
        text, slots = _translated(sql, self.dialect)
        bindings: list[Any] = []
        for name, kind in slots:
            if not name:
                bindings += keys
            elif kind:
                bindings.append(self.listed(kind, values[name]))
            else:
                bindings.append(values[name])
        return text, bindings


def are_ids(keys: Sequence[int] | Sequence[UUID]) -> TypeGuard[Sequence[UUID]]:
    """Tell ids from references (none of either are ids: nothing is found)."""
    return not len(keys) or isinstance(keys[0], UUID)


EVERY: Final = (1 << 63) - 1  # a LIMIT that is none


def placed(names: str) -> str:
    """Return column names as values of the notation.

    >>> placed("day, stage")
    ':day, :stage'
    """
    return ", ".join(f":{name}" for name in names.split(", "))


def replacing(names: str, keys: int) -> str:
    """Return what takes the place of a row's columns on a conflict: all but the first `keys`, its key.

    >>> replacing("first_ref, at, body", 2)
    'body = excluded.body'
    """
    return ", ".join(f"{name} = excluded.{name}" for name in names.split(", ")[keys:])


def row_of(names: str, columns: Sequence[Any]) -> dict[str, Any]:
    """Return columns by their names, as `placed` asks for them."""
    return dict(zip(names.split(", "), columns, strict=True))


class Table:
    """What the classes of plain tables begin with: the session that runs their statements."""

    def __init__(self, session: Rows) -> None:
        self._session = session
