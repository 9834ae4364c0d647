"""Where threads were: their stays, as rows."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from episodic_agent.protocols import ref_of
from episodic_agent.schemas.places import Visit, place_key
from episodic_agent.stores.nouns import VISIT, visit_columns, visit_label, visit_of
from episodic_agent.stores.postgres.server.batches import bigints, texts
from episodic_agent.stores.postgres.server.packing import Binary
from episodic_agent.stores.postgres.server.session import LAST_SEQ, OWN_ROW, PostgresSession
from episodic_agent.stores.rows import to_microseconds
from episodic_agent.stores.tables.dialect import Table
from episodic_agent.stores.terms import place_number

_TYPES: Final = ["bigint", "bigint", "bigint", "text", "bigint", "bigint", "bigint"]
_ARGUMENTS: Final = (
    f"unnest({', '.join(f'%s::{name}[]' for name in _TYPES)})"
    " WITH ORDINALITY AS g (place, first_ref, last_ref, label, start_at, end_at, steps, n)"
)
_COLUMNS: Final = "place, first_ref, last_ref, label, start_at, end_at, steps"
_INSERT: Final = (
    f"INSERT INTO stay (space, owner, {_COLUMNS}) SELECT s.space, s.owner, g.place, g.first_ref, g.last_ref,"
    f" g.label, g.start_at, g.end_at, g.steps FROM {OWN_ROW}, {_ARGUMENTS}"
)
# The thread's last stay goes on where it is at the same place: its row then has the first reference. Only the
# first of the chunk can go on with it.
_GO_ON: Final = _INSERT.replace(
    "g.first_ref,", "CASE WHEN g.n = 1 AND l.place = g.place THEN l.first_ref ELSE g.first_ref END,", 1
) + (
    " LEFT JOIN (SELECT place, first_ref FROM stay WHERE space = %s AND owner = %s"
    " AND first_ref BETWEEN %s AND %s ORDER BY first_ref DESC LIMIT 1) AS l ON true"
    " ON CONFLICT (space, owner, first_ref) DO UPDATE SET last_ref = excluded.last_ref,"
    " steps = stay.steps + excluded.steps, start_at = least(stay.start_at, excluded.start_at),"
    " end_at = greatest(stay.end_at, excluded.end_at)"
)
# One look-up a place, however many stays there are.
_NEXT: Final = (
    "(SELECT place FROM stay WHERE space = %s AND owner = %s AND place > found.place ORDER BY place LIMIT 1)"
)
_LABELS: Final = (
    "WITH RECURSIVE found (place) AS ("
    "(SELECT place FROM stay WHERE space = %s AND owner = %s ORDER BY place LIMIT 1)"
    f" UNION ALL SELECT n.place FROM found CROSS JOIN LATERAL {_NEXT} AS n)"
    " SELECT l.label FROM found CROSS JOIN LATERAL (SELECT label FROM stay"
    " WHERE space = %s AND owner = %s AND place = found.place ORDER BY start_at, first_ref LIMIT 1) AS l"
    " LIMIT %s"
)


class PostgresStays(Table):
    """The stays of threads, and the places they name."""

    _session: PostgresSession

    def places(self, *, limit: int = 1000) -> Mapping[str, str]:
        """Return the scope's places by key, each with its label as written at the earliest event time."""
        keys = self._session.keys
        rows = self._session.rows(_LABELS, (*keys, *keys, *keys, limit))
        labels = [visit_label(label) for (label,) in rows]
        return {place_key(label): label for label in labels}

    def visits(
        self,
        *,
        place: str | None = None,
        thread_id: UUID | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> Sequence[Visit]:
        """Return stays that touch [since, until) in event time, by reference."""
        conditions, bindings = ["space = %s AND owner = %s"], [*self._session.keys]
        if thread_id is not None:
            number = self._session.find_thread(thread_id)
            if number is None:
                return []
            conditions.append("first_ref BETWEEN %s AND %s")
            bindings += [ref_of(number, 0), ref_of(number, LAST_SEQ)]
        if place is not None:
            conditions.append("place = %s")
            bindings.append(place_number(place_key(place)))
        for time, comparison in ((since, "end_at >= %s"), (until, "start_at < %s")):
            if time is not None:
                conditions.append(comparison)
                bindings.append(to_microseconds(time))
        sql = f"SELECT {VISIT} FROM stay WHERE {' AND '.join(conditions)} ORDER BY first_ref"
        return [visit_of(columns) for columns in self._session.rows(sql, bindings)]

    def rewrite_stays(self, thread_id: UUID, visits: Sequence[Visit]) -> None:
        """Put these in the place of all stays of a thread; raises NotFound for an unknown one."""
        keys, number = self._session.own(), self._session.thread_number(thread_id)
        sql = "DELETE FROM stay WHERE space = %s AND owner = %s AND first_ref BETWEEN %s AND %s"
        self._session.execute(sql, (*keys, ref_of(number, 0), ref_of(number, LAST_SEQ)))
        if visits:
            self._session.insert(_INSERT, (*keys, *_in_columns(visits)), len(visits))


def go_on(session: PostgresSession, visits: Sequence[Visit]) -> None:
    """Write the stays of a chunk after those of its thread; the first may go on with the last one."""
    keys, first = session.own(), visits[0].first_ref
    thread = (ref_of(visits[0].thread, 0), first)
    session.insert(_GO_ON, (*keys, *_in_columns(visits), *keys, *thread), len(visits))


def _in_columns(visits: Sequence[Visit]) -> list[Binary]:
    rows: list[tuple[Any, ...]] = [(place_number(stay.place), *visit_columns(stay)) for stay in visits]
    columns = zip(*rows, strict=True)
    return [
        texts(column) if name == "text" else bigints(column)
        for name, column in zip(_TYPES, columns, strict=True)
    ]
