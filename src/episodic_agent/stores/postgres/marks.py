"""What ranking reads of observations and episodes beside their scores: marks, times, who owns what."""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from episodic_agent.protocols import Cover, EpisodeMark, ObservationMark, Refs
from episodic_agent.schemas import TimeSource
from episodic_agent.stores.postgres.server.batches import bigints, read_columns
from episodic_agent.stores.postgres.server.session import PostgresSession
from episodic_agent.stores.tables.spans import MarkTable

_OWN: Final = "e.space = %s AND e.owner = %s"
_CURRENT: Final = "e.kind = 'event' AND e.generation_to IS NULL"
_REF: Final = "((e.thread::bigint << 32) | e.first_seq)"
_MARK: Final = f"{_REF} AS ref, encode(e.id, 'hex') AS name, e.stability, e.last_reviewed_at"
# One look-up for each place: joined as sets, all episodes of the scope were read.
_AT_PLACES: Final = (
    " FROM unnest(%s::bigint[]) AS p (ref) CROSS JOIN LATERAL (SELECT * FROM episode e"
    f" WHERE {_OWN} AND e.thread = (p.ref >> 32)::integer AND e.first_seq = p.ref & 4294967295"
    f" AND {_CURRENT} OFFSET 0) e"
)
_OWNER_OF_PLACE: Final = (
    "SELECT p.ref, m.ref, m.name, m.stability, m.last_reviewed_at FROM unnest(%s::bigint[]) AS p (ref)"
    f" CROSS JOIN LATERAL (SELECT {_MARK}, e.last_seq FROM episode e"
    f" WHERE {_OWN} AND e.thread = (p.ref >> 32)::integer AND e.first_seq <= p.ref & 4294967295"
    f" AND {_CURRENT} ORDER BY e.first_seq DESC LIMIT 1) m WHERE m.last_seq >= p.ref & 4294967295"
)
# The last episode that begins at a span's first ref or before it, and those that begin inside: two look-ups.
# In order, so that the index in that order is taken; without statistics another one looks as good.
_SPAN: Final = (
    f"SELECT e.thread, e.first_seq, e.last_seq, e.id FROM episode e WHERE {_OWN}"
    f" AND e.thread = (p.first >> 32)::integer AND {_CURRENT}"
)
_OWNERS_OF_SPAN: Final = (
    f"SELECT DISTINCT {_REF} AS ref, (e.thread::bigint << 32) | e.last_seq, encode(e.id, 'hex')"
    " FROM unnest(%s::bigint[], %s::bigint[]) AS p (first, last) CROSS JOIN LATERAL ("
    f"(SELECT * FROM ({_SPAN} AND e.first_seq <= p.first & 4294967295 ORDER BY e.first_seq DESC LIMIT 1) b"
    " WHERE b.last_seq >= p.first & 4294967295)"
    f" UNION ALL ({_SPAN} AND e.first_seq > p.first & 4294967295"
    " AND e.first_seq <= p.last & 4294967295 ORDER BY e.first_seq OFFSET 0)) e ORDER BY ref"
)
_NO_TIME: Final = np.iinfo(np.int64).min


class PostgresMarks(MarkTable):
    """Marks of observations and episodes."""

    _session: PostgresSession

    def observation_marks(self, refs: Refs) -> Sequence[ObservationMark]:
        sql = (
            f"SELECT ref, encode(id, 'hex'), actor, at, at_source = '{TimeSource.ASSUMED}',"
            " octet_length(replace(text, chr(26), '')) FROM observation"  # without `to_stored`'s escapes
            " WHERE space = %s AND owner = %s AND ref = ANY(%s::bigint[]) AND erased_at IS NULL"
        )
        limits: list[int] = refs.tolist()
        rows = self._session.rows(sql, (*self._session.keys, bigints(refs)))
        marks = {columns[0]: ObservationMark._make(read_columns(columns)) for columns in rows}
        return [marks[ref] for ref in limits if ref in marks]

    def times(self, refs: Refs) -> NDArray[np.int64]:
        sql = (
            "SELECT ref, at FROM observation"
            " WHERE space = %s AND owner = %s AND ref = ANY(%s::bigint[]) AND erased_at IS NULL"
        )
        limits: list[int] = refs.tolist()
        indexes: dict[int, int] = dict(self._session.rows(sql, (*self._session.keys, bigints(refs))))
        return np.array([indexes.get(ref, _NO_TIME) for ref in limits], dtype=np.int64)

    def _covering(self, refs: Sequence[int] | Refs) -> Mapping[int, EpisodeMark]:
        rows = self._session.rows(_OWNER_OF_PLACE, (bigints(refs), *self._session.keys))
        return {columns[0]: EpisodeMark._make(columns[1:]) for columns in rows}

    def _marks(self, refs: Sequence[int] | Refs) -> Mapping[int, EpisodeMark]:
        sql = f"SELECT {_MARK}{_AT_PLACES}"
        rows = self._session.rows(sql, (bigints(refs), *self._session.keys))
        read = {columns[0]: EpisodeMark._make(columns) for columns in rows}
        return {ref: read[ref] for ref in map(int, refs) if ref in read}

    def _covers(self, spans: Sequence[tuple[int, int]]) -> Sequence[Cover]:
        ends = [bigints([span[end] for span in spans]) for end in (0, 1)]
        keys = self._session.keys
        rows = self._session.rows(_OWNERS_OF_SPAN, (*ends, *keys, *keys))
        return [Cover._make(columns) for columns in rows]
