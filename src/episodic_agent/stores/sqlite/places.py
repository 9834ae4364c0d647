"""Where threads were: their stays, as rows."""

from collections.abc import Mapping, Sequence
from typing import Final

from episodic_agent.protocols import ref_of
from episodic_agent.schemas.places import Visit, place_key
from episodic_agent.stores.nouns import visit_columns, visit_label
from episodic_agent.stores.sqlite.file.session import SqliteSession
from episodic_agent.stores.tables.places import VisitTable
from episodic_agent.stores.terms import place_number

_INSERT: Final = (
    "INSERT INTO stay (scope, place, first_ref, last_ref, label, start_at, end_at, steps)"
    " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"
)
# The thread's last stay goes on where it is at the same place: its row then has the first reference.
_GO_ON: Final = _INSERT.replace(
    "?3",
    "ifnull((SELECT iif(place = ?2, first_ref, NULL) FROM stay WHERE first_ref BETWEEN ?9 AND ?3"
    " AND +scope = ?1 ORDER BY first_ref DESC LIMIT 1), ?3)",
) + (
    " ON CONFLICT (first_ref) DO UPDATE SET last_ref = excluded.last_ref, steps = steps + excluded.steps,"
    " start_at = min(start_at, excluded.start_at), end_at = max(end_at, excluded.end_at)"
)
# One look-up a place, however many stays there are.
_LABELS: Final = (
    "WITH RECURSIVE found (place) AS ("
    "SELECT min(place) FROM stay WHERE scope = ?1 UNION ALL"
    " SELECT (SELECT min(place) FROM stay WHERE scope = ?1 AND place > found.place) FROM found"
    " WHERE place IS NOT NULL)"
    " SELECT (SELECT label FROM stay s WHERE s.scope = ?1 AND s.place = found.place"
    " ORDER BY start_at, first_ref LIMIT 1) FROM found WHERE place IS NOT NULL LIMIT ?2"
)


class SqliteStays(VisitTable):
    """The stays of threads, and the places they name."""

    _session: SqliteSession

    def places(self, *, limit: int = 1000) -> Mapping[str, str]:
        """Return the scope's places by key, each with its label as written at the earliest event time."""
        rows = self._session.rows(_LABELS, (self._session.number, limit))
        labels = [visit_label(label) for (label,) in rows]
        return {place_key(label): label for label in labels}

    def _insert_stays(self, visits: Sequence[Visit]) -> None:
        scope = self._session.own()
        columns = [(scope, place_number(stay.place), *visit_columns(stay)) for stay in visits]
        self._session.db.executemany(_INSERT, columns)


def go_on(session: SqliteSession, visits: Sequence[Visit]) -> None:
    """Write the stays of a chunk after those of its thread; the first may go on with the last one."""
    scope = session.own()
    columns = [
        (scope, place_number(stay.place), *visit_columns(stay), ref_of(stay.thread, 0)) for stay in visits
    ]
    session.db.executemany(_GO_ON, columns)
