"""Visibility as rows: how marks and expiries of many spans are looked up; with jobs the `UpkeepRecords`."""

from collections.abc import Sequence
from typing import Any, Final

from episodic_agent.schemas import Observation
from episodic_agent.stores.postgres.jobs import PostgresWork
from episodic_agent.stores.postgres.server.batches import bigints, read_columns, texts
from episodic_agent.stores.postgres.server.session import OWN_ROW, PostgresSession
from episodic_agent.stores.rows import to_microseconds
from episodic_agent.stores.tables.upkeep import MARK, UpkeepTable

_WHOSE: Final = "WHERE space = %s AND owner = %s"
_TOUCHED: Final = (
    "SELECT p.place - 1, s.* FROM unnest(%s::text[]) WITH ORDINALITY AS k (kind, rank)"
    " CROSS JOIN unnest(%s::bigint[], %s::bigint[]) WITH ORDINALITY AS p (first_ref, last_ref, place)"
    f" CROSS JOIN LATERAL (SELECT {MARK} FROM span_mark {_WHOSE} AND kind = k.kind"
    " AND first_ref <= p.last_ref ORDER BY first_ref DESC LIMIT 1) AS s"
    " WHERE s.last_ref >= p.first_ref ORDER BY k.rank"
)
_KEEP: Final = (
    "INSERT INTO expiry (space, owner, ref, at)"
    f" SELECT s.space, s.owner, g.* FROM {OWN_ROW}, unnest(%s::bigint[], %s::bigint[]) AS g"
)


class PostgresUpkeep(UpkeepTable, PostgresWork):
    """The `UpkeepRecords` of one transaction."""

    _session: PostgresSession
    locked = " FOR UPDATE"

    def _touching(self, kinds: Sequence[str], spans: Sequence[tuple[int, int]]) -> list[tuple[Any, ...]]:
        firsts, lasts = bigints([first for first, _ in spans]), bigints([last for _, last in spans])
        rows = self._session.rows(_TOUCHED, (texts(kinds), firsts, lasts, *self._session.keys))
        return [read_columns(columns) for columns in rows]

    def _expired(self, spans: Sequence[tuple[int, int]], now: int) -> list[tuple[Any, ...]]:
        sql = (
            "SELECT DISTINCT e.ref FROM unnest(%s::bigint[], %s::bigint[]) AS p (first_ref, last_ref)"
            f" CROSS JOIN LATERAL (SELECT ref FROM expiry {_WHOSE}"
            " AND ref BETWEEN p.first_ref AND p.last_ref AND at <= %s) AS e ORDER BY e.ref"
        )
        firsts, lasts = bigints([first for first, _ in spans]), bigints([last for _, last in spans])
        return self._session.rows(sql, (firsts, lasts, *self._session.keys, now))


def keep_expiries(session: PostgresSession, refs: Sequence[int], observations: Sequence[Observation]) -> None:
    """Note when observations that are just stored are to be erased; most never are."""
    timed = [
        (ref, to_microseconds(o.expires_at))
        for ref, o in zip(refs, observations, strict=True)
        if o.expires_at is not None
    ]
    if timed:
        columns = bigints([ref for ref, _ in timed]), bigints([at for _, at in timed])
        session.insert(_KEEP, (*session.keys, *columns), len(timed))
