"""Keys of the service, which belong to spaces and are looked up before any scope is known."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from datetime import date, datetime
from typing import Any, Final

from episodic_agent.schemas.keys import ApiKey, Role
from episodic_agent.stores.rows import from_day, optional_time, to_day, to_microseconds, to_time

Run = Callable[[str, Sequence[Any]], Sequence[Sequence[Any]]]
Opening = Callable[[], AbstractContextManager[Run]]
_KEY: Final = "id, space, role, created_at, last_used_on, revoked_at"


class KeyTable:
    """The keys of all spaces; `mark` is how the driver writes a value's place."""

    def __init__(self, reading: Opening, writing: Opening, mark: str) -> None:
        self._reading = reading
        self._writing = writing
        self._mark = mark

    def add(self, key: ApiKey, digest: bytes) -> None:
        sql = "INSERT INTO api_key (id, digest, space, role, created_at) VALUES (?, ?, ?, ?, ?)"
        values = (key.id, digest, key.space, key.role.value, to_microseconds(key.created_at))
        self._write(sql, values)

    def by_digest(self, digest: bytes) -> ApiKey | None:
        return next(iter(self._read(f"SELECT {_KEY} FROM api_key WHERE digest = ?", (digest,))), None)

    def list(self) -> Sequence[ApiKey]:
        return self._read(f"SELECT {_KEY} FROM api_key ORDER BY created_at, id", ())

    def touch(self, key_id: str, day: date) -> None:
        self._write("UPDATE api_key SET last_used_on = ? WHERE id = ?", (to_day(day), key_id))

    def revoke(self, key_id: str, at: datetime) -> None:
        """Let a key open nothing from a time on; of several times the earliest stays."""
        sql = "UPDATE api_key SET revoked_at = ? WHERE id = ? AND (revoked_at IS NULL OR revoked_at > ?)"
        ends = to_microseconds(at)
        self._write(sql, (ends, key_id, ends))

    def _read(self, sql: str, values: Sequence[Any]) -> Sequence[ApiKey]:
        with self._reading() as run:
            return [_key_of(columns) for columns in run(sql.replace("?", self._mark), values)]

    def _write(self, sql: str, values: Sequence[Any]) -> None:
        with self._writing() as run:
            run(sql.replace("?", self._mark), values)


def _key_of(columns: Sequence[Any]) -> ApiKey:
    identity, space, role, created_at, last_used_on, revoked_at = columns
    used_on = None if last_used_on is None else from_day(last_used_on)
    return ApiKey(identity, space, Role(role), to_time(created_at), used_on, optional_time(revoked_at))
