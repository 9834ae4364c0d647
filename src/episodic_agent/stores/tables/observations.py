"""Observations, and the stays of their threads at places, as rows: what both stores ask in the same words."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, Literal, cast, overload
from uuid import UUID

from episodic_agent.core.threads.channels import channel_name
from episodic_agent.protocols import ref_of, split_ref
from episodic_agent.schemas import Observation, Receipt
from episodic_agent.schemas.observations import ERASED, OPEN
from episodic_agent.schemas.places import Visit, place_key
from episodic_agent.stores.nouns import OBSERVATION, VISIT, visit_of
from episodic_agent.stores.rows import UNHASHED, content_hash, id_of, in_small, optional_time, to_microseconds
from episodic_agent.stores.tables.dialect import LAST_SEQ, Table, are_ids
from episodic_agent.stores.terms import place_number

_OF_THREADS: Final = (
    "FROM (SELECT CAST(number AS bigint) << 32 AS low FROM thread"
    " WHERE :mine AND number IN :numbers(threads)) t"
    " JOIN observation ON ref BETWEEN low AND low + 4294967295 WHERE :also AND erased_at IS NULL"
)


class ObservationTable(Table):
    """Observations, as both stores look them up."""

    place: str  # the function that tells where in one text another stands

    @overload
    def read(self, thread: UUID, first_seq: int, last_seq: int) -> Sequence[Observation]: ...

    @overload
    def read(self, thread: Sequence[tuple[UUID, int, int]]) -> Sequence[Sequence[Observation]]: ...

    def read(
        self, thread: UUID | Sequence[tuple[UUID, int, int]], first_seq: int = 0, last_seq: int = 0
    ) -> Sequence[Observation] | Sequence[Sequence[Observation]]:
        """Read a range of a thread in order, or several ranges at once; erased ones are left out."""
        if isinstance(thread, UUID):
            return self._range(thread, first_seq, last_seq)
        return self._ranges(thread)

    @overload
    def get(self, keys: Sequence[int]) -> Mapping[int, Observation]: ...

    @overload
    def get(self, keys: Sequence[UUID]) -> Mapping[UUID, Observation]: ...

    def get(
        self, keys: Sequence[int] | Sequence[UUID]
    ) -> Mapping[int, Observation] | Mapping[UUID, Observation]:
        """Read observations by their refs, or by their ids; unknown and erased ones are left out."""
        if are_ids(keys):
            return self._by_ids(keys)
        return self._by_refs(cast("Sequence[int]", keys))

    def _receipts(self, rows: Sequence[tuple[bytes, int, object]]) -> Mapping[UUID, Receipt]:
        """Return what is known of stored ids, from rows of id, ref and whether it was erased."""
        results = [(id_of(key), *split_ref(ref), ERASED if gone else OPEN) for key, ref, gone in rows]
        threads = self._session.thread_ids([number for _, number, _, _ in results])
        return {
            key: Receipt(key, threads[number], seq, added=False, state=state)
            for key, number, seq, state in results
        }

    @abstractmethod
    def _range(self, thread_id: UUID, first_seq: int, last_seq: int) -> Sequence[Observation]:
        """Look up a range of a thread, in order."""

    @abstractmethod
    def _ranges(self, spans: Sequence[tuple[UUID, int, int]]) -> Sequence[Sequence[Observation]]:
        """Look up several ranges."""

    @abstractmethod
    def _by_refs(self, refs: Sequence[int]) -> Mapping[int, Observation]:
        """Look up observations by reference."""

    @abstractmethod
    def _by_ids(self, ids: Sequence[UUID]) -> Mapping[UUID, Observation]:
        """Look up observations by id."""

    def near(self, first: UUID, last: UUID, *, limit: int) -> Sequence[UUID]:
        sql = (
            "SELECT id FROM observation WHERE :mine AND id BETWEEN :first AND :last ORDER BY id LIMIT :limit"
        )
        results = self._session.read(sql, first=first.bytes, last=last.bytes, limit=limit)
        return [id_of(identity) for (identity,) in results]

    def last_at(self) -> datetime | None:
        sql = "SELECT max(at) FROM observation WHERE :mine AND erased_at IS NULL"
        return optional_time(self._session.read(sql)[0][0])

    def quoting(self, texts: Sequence[str], *, limit: int) -> Sequence[int]:
        targets = {f"text{n}": text for n, text in enumerate(in_small(*texts))}
        if not targets:
            return []
        answer = " OR ".join(f"{self.place}(lower(text), :{name}) > 0" for name in targets)
        where = f":mine AND erased_at IS NULL AND ({answer})"
        sql = f"SELECT ref FROM observation WHERE {where} ORDER BY ref LIMIT :n"
        return [ref for (ref,) in self._session.read(sql, n=limit, **targets)]

    def having(
        self,
        field: Literal["external_id", "actor", "channel"],
        values: Sequence[str],
        *,
        limit: int | None = None,
        besides: Sequence[int] | None = None,
    ) -> Sequence[int]:
        """Return the references of observations with one of some values in a field, or others `besides`."""
        names = {f"name{n}": value for n, value in enumerate(values)}
        among = ", ".join(f":{name}" for name in names)
        has = f"{field} IN ({among})" if names else "1 = 0"
        most = "" if limit is None else f" LIMIT {int(limit)}"
        if besides is None:
            sql = (
                f"SELECT ref FROM observation WHERE :mine AND erased_at IS NULL AND {has} ORDER BY ref{most}"
            )
            return [ref for (ref,) in self._session.read(sql, **names)] if names else []
        sql = f"SELECT ref, {field} {_OF_THREADS} AND ({field} IS NULL OR NOT {has}) ORDER BY ref"
        rows = self._session.read(sql, threads=[*besides], **names)
        if field == "channel":  # it is kept as it was written
            others = {
                one for one in {row[1] for row in rows} if one is None or channel_name(one) not in values
            }
            rows = [row for row in rows if row[1] in others]
        return [ref for ref, _ in rows][:limit]

    def hash_older(self, *, limit: int) -> int:
        self._session.own()
        sql = f"SELECT {OBSERVATION} FROM observation WHERE :mine AND {UNHASHED} LIMIT :limit"
        results = self._session.read(sql, limit=limit)
        threads = self._session.thread_ids([split_ref(ref)[0] for ref, *_ in results])
        hashed = [
            {"ref": ref, "hash": content_hash(threads[number], seq, columns)}
            for ref, *columns in results
            for number, seq in [split_ref(ref)]
            if number in threads
        ]
        self._session.change_all(
            "UPDATE observation SET content_hash = :hash WHERE :mine AND ref = :ref", hashed
        )
        return len(hashed)


_OF_THREAD: Final = "first_ref BETWEEN :first AND :last"


class VisitTable(Table):
    """The stays of threads, as both stores read and rewrite them."""

    def visits(
        self,
        *,
        place: str | None = None,
        thread_id: UUID | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> Sequence[Visit]:
        conditions, values = [":mine" if thread_id is None else ":also"], dict[str, Any]()
        if thread_id is not None:
            number = self._session.find_thread(thread_id)
            if number is None:
                return []
            conditions.append(_OF_THREAD)
            values |= _refs(number)
        if place is not None:
            conditions.append("place = :place")
            values["place"] = place_number(place_key(place))
        for name, time, condition in (("since", since, "end_at >="), ("until", until, "start_at <")):
            if time is not None:
                conditions.append(f"{condition} :{name}")
                values[name] = to_microseconds(time)
        sql = f"SELECT {VISIT} FROM stay WHERE {' AND '.join(conditions)} ORDER BY first_ref"
        return [visit_of(columns) for columns in self._session.read(sql, **values)]

    def rewrite_stays(self, thread_id: UUID, visits: Sequence[Visit]) -> None:
        number = self._session.thread_number(thread_id)
        self._session.change(f"DELETE FROM stay WHERE :also AND {_OF_THREAD}", **_refs(number))
        self._insert_stays(visits)

    @abstractmethod
    def _insert_stays(self, visits: Sequence[Visit]) -> None:
        """Write stays."""


def _refs(number: int) -> dict[str, int]:
    return {"first": ref_of(number, 0), "last": ref_of(number, LAST_SEQ)}
