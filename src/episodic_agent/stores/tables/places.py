"""Where threads were: their stays, as rows."""

from abc import abstractmethod
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from episodic_agent.protocols import ref_of
from episodic_agent.schemas.places import Visit, place_key
from episodic_agent.stores.nouns import VISIT, visit_of
from episodic_agent.stores.rows import to_microseconds
from episodic_agent.stores.tables.dialect import LAST_SEQ, Table
from episodic_agent.stores.terms import place_number

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
