"""What ranking reads of observations and episodes beside their scores: marks, times, who owns what."""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from episodic_agent.protocols import Cover, EpisodeMark, ObservationMark, Refs
from episodic_agent.schemas import TimeSource
from episodic_agent.stores.rows import to_json
from episodic_agent.stores.sqlite.file.session import EACH, SqliteSession, number_list
from episodic_agent.stores.tables.spans import MarkTable

_CURRENT: Final = "e.kind = 'event' AND e.generation_to IS NULL"
_MARK: Final = "(e.thread << 32) | e.first_seq, lower(hex(e.id)), e.stability, e.last_reviewed_at"
_OWNER_OF_PLACE: Final = (
    f"SELECT p.value, {_MARK} FROM {EACH} episode e WHERE e.scope = ? AND e.thread = p.value >> 32"
    " AND e.first_seq = (SELECT max(x.first_seq) FROM episode x WHERE x.scope = e.scope"
    " AND x.thread = p.value >> 32 AND x.first_seq <= (p.value & 4294967295)"
    " AND x.kind = 'event' AND x.generation_to IS NULL)"
    f" AND e.last_seq >= (p.value & 4294967295) AND {_CURRENT}"
)
# `p.value` is a pair of refs. The episodes of a span begin with the last one that begins at it or before.
_FROM, _TO = "(p.value ->> 0)", "(p.value ->> 1)"
_OWNERS_OF_SPAN: Final = (
    "SELECT DISTINCT (e.thread << 32) | e.first_seq AS ref, (e.thread << 32) | e.last_seq, lower(hex(e.id))"
    f" FROM {EACH} episode e WHERE e.scope = ? AND e.thread = {_FROM} >> 32"
    " AND e.first_seq >= ifnull((SELECT max(x.first_seq) FROM episode x WHERE x.scope = e.scope"
    f" AND x.thread = {_FROM} >> 32 AND x.first_seq <= ({_FROM} & 4294967295)"
    " AND x.kind = 'event' AND x.generation_to IS NULL), 0)"
    f" AND e.first_seq <= ({_TO} & 4294967295) AND e.last_seq >= ({_FROM} & 4294967295) AND {_CURRENT}"
    " ORDER BY ref"
)
_NO_TIME: Final = np.iinfo(np.int64).min


class SqliteMarks(MarkTable):
    """Marks of observations and episodes."""

    _session: SqliteSession

    def observation_marks(self, refs: Refs) -> Sequence[ObservationMark]:
        """Read the marks of observations in the order of refs; unknown and erased ones are left out."""
        sql = (
            f"SELECT o.ref, lower(hex(o.id)), o.actor, o.at, o.at_source = '{TimeSource.ASSUMED}',"
            f" octet_length(o.text) FROM {EACH} observation o"
            " WHERE o.ref = p.value AND o.scope = ? AND o.erased_at IS NULL"
        )
        rows = self._session.rows(sql, (number_list(refs.tolist()), self._session.number))
        return [ObservationMark._make(columns) for columns in rows]

    def times(self, refs: Refs) -> NDArray[np.int64]:
        """Return event times of observation refs in microseconds since 1970 (missing: minimum int64)."""
        sql = (
            f"SELECT o.ref, o.at FROM {EACH} observation o"
            " WHERE o.ref = p.value AND o.scope = ? AND o.erased_at IS NULL"
        )
        limits: list[int] = refs.tolist()
        rows = self._session.rows(sql, (number_list(limits), self._session.number))
        indexes: dict[int, int] = dict(rows)
        return np.array([indexes.get(ref, _NO_TIME) for ref in limits], dtype=np.int64)

    def _covering(self, refs: Sequence[int] | Refs) -> Mapping[int, EpisodeMark]:
        rows = self._session.rows(_OWNER_OF_PLACE, (number_list(refs), self._session.number))
        return {columns[0]: EpisodeMark._make(columns[1:]) for columns in rows}

    def _marks(self, refs: Sequence[int] | Refs) -> Mapping[int, EpisodeMark]:
        sql = (
            f"SELECT {_MARK} FROM {EACH} episode e WHERE e.scope = ? AND e.thread = p.value >> 32"
            f" AND e.first_seq = (p.value & 4294967295) AND {_CURRENT}"
        )
        rows = self._session.rows(sql, (number_list(refs), self._session.number))
        return {columns[0]: EpisodeMark._make(columns) for columns in rows}

    def _covers(self, spans: Sequence[tuple[int, int]]) -> Sequence[Cover]:
        rows = self._session.rows(_OWNERS_OF_SPAN, (to_json(spans), self._session.number))
        return [Cover._make(columns) for columns in rows]
