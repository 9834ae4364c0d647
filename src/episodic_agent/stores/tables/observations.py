"""Observations as rows: what both stores ask of them in the same words."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from episodic_agent.stores.rows import optional_time
from episodic_agent.stores.tables.dialect import Table


class ObservationTable(Table):
    """Observations, as both stores look them up."""

    place: str  # the function that tells where in one text another stands

    def near(self, first: UUID, last: UUID, *, limit: int) -> Sequence[UUID]:
        """Return the ids of observations that lie in `first..last`, in order: those that begin alike."""
        sql = (
            "SELECT id FROM observation WHERE :mine AND id BETWEEN :first AND :last ORDER BY id LIMIT :limit"
        )
        results = self._session.read(sql, first=first.bytes, last=last.bytes, limit=limit)
        return [UUID(bytes=identity) for (identity,) in results]

    def last_at(self) -> datetime | None:
        """Return the newest event time in the scope."""
        sql = "SELECT max(at) FROM observation WHERE :mine AND erased_at IS NULL"
        return optional_time(self._session.read(sql)[0][0])

    def quoting(self, texts: Sequence[str], *, limit: int) -> Sequence[int]:
        """Return the references of observations that hold one of some texts to the letter, in order."""
        targets = {f"text{n}": text for n, text in enumerate(texts)}
        if not targets:
            return []
        answer = " OR ".join(f"{self.place}(text, :{name}) > 0" for name in targets)
        where = f":mine AND erased_at IS NULL AND ({answer})"
        sql = f"SELECT ref FROM observation WHERE {where} ORDER BY ref LIMIT :n"
        return [ref for (ref,) in self._session.read(sql, n=limit, **targets)]
