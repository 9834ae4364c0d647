"""Where threads were: their stays, as rows."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from episodic_agent.protocols import ref_of
from episodic_agent.schemas.places import Visit, place_key
from episodic_agent.stores.nouns import visit_columns, visit_label
from episodic_agent.stores.postgres.server.batches import bigints, texts
from episodic_agent.stores.postgres.server.packing import Binary
from episodic_agent.stores.postgres.server.session import OWN_ROW, PostgresSession
from episodic_agent.stores.tables.places import VisitTable
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


class PostgresStays(VisitTable):
    """The stays of threads, and the places they name."""

    _session: PostgresSession

    def places(self, *, limit: int = 1000) -> Mapping[str, str]:
        keys = self._session.keys
        rows = self._session.rows(_LABELS, (*keys, *keys, *keys, limit))
        labels = [visit_label(label) for (label,) in rows]
        return {place_key(label): label for label in labels}

    def _insert_stays(self, visits: Sequence[Visit]) -> None:
        if visits:
            self._session.insert(_INSERT, (*self._session.own(), *_in_columns(visits)), len(visits))


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
