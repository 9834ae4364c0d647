"""Visibility as rows: how marks and expiries of many spans are looked up; with jobs the `UpkeepRecords`."""

from collections.abc import Sequence
from typing import Any, Final

from episodic_agent.schemas import Observation
from episodic_agent.stores.rows import to_json, to_microseconds
from episodic_agent.stores.sqlite.file.session import SqliteSession
from episodic_agent.stores.sqlite.jobs import SqliteWork
from episodic_agent.stores.tables.upkeep import UpkeepTable

_FROM, _TO = "(p.value ->> 0)", "(p.value ->> 1)"
_TOUCHED: Final = (
    "SELECT p.key, s.kind, s.first_ref, s.last_ref, s.at, s.reason"
    " FROM json_each(?1) k CROSS JOIN json_each(?2) p CROSS JOIN span_mark s"
    " WHERE s.scope = ?3 AND s.kind = k.value AND s.first_ref = (SELECT max(x.first_ref) FROM span_mark x"
    f" WHERE x.scope = ?3 AND x.kind = k.value AND x.first_ref <= {_TO}) AND s.last_ref >= {_FROM}"
)


class SqliteUpkeep(UpkeepTable, SqliteWork):
    """The `UpkeepRecords` of one transaction."""

    _session: SqliteSession

    def _touching(self, kinds: Sequence[str], spans: Sequence[tuple[int, int]]) -> list[tuple[Any, ...]]:
        return self._session.rows(_TOUCHED, (to_json(kinds), to_json(spans), self._session.number))

    def _expired(self, spans: Sequence[tuple[int, int]], now: int) -> list[tuple[Any, ...]]:
        sql = (
            "SELECT DISTINCT e.ref FROM json_each(?) p CROSS JOIN expiry e"
            f" WHERE e.scope = ? AND e.ref BETWEEN {_FROM} AND {_TO} AND e.at <= ? ORDER BY e.ref"
        )
        return self._session.rows(sql, (to_json(spans), self._session.number, now))


def keep_expiries(session: SqliteSession, refs: Sequence[int], observations: Sequence[Observation]) -> None:
    """Note when observations that are just stored are to be erased; most never are."""
    sql = "INSERT INTO expiry (scope, ref, at) VALUES (?, ?, ?)"
    timed = [
        (session.number, ref, to_microseconds(o.expires_at))
        for ref, o in zip(refs, observations, strict=True)
        if o.expires_at is not None
    ]
    if timed:
        session.db.executemany(sql, timed)
