"""Episodes that a resegmentation replaced, by what they owned."""

from collections.abc import Sequence
from itertools import groupby
from typing import Final

from episodic_agent.protocols import Cover, ref_of, split_ref
from episodic_agent.stores.tables.dialect import Table

_REPLACED: Final = (
    "SELECT id, first_seq, last_seq FROM episode WHERE :mine AND thread = :thread AND kind = 'event'"
    " AND generation_to IS NOT NULL AND first_seq <= :last AND last_seq >= :first"
)


class ReplacedTable(Table):
    """Replaced episodes."""

    def _replaced(self, spans: Sequence[tuple[int, int]]) -> list[Cover]:
        covers: set[Cover] = set()
        for number, group in groupby(sorted(spans), key=lambda span: split_ref(span[0])[0]):
            own = [(split_ref(first)[1], split_ref(last)[1]) for first, last in group]
            bounds = {"first": own[0][0], "last": max(last for _, last in own)}
            for key, first, last in self._session.read(_REPLACED, thread=number, **bounds):
                if any(first <= end and begin <= last for begin, end in own):
                    covers.add(Cover(ref_of(number, first), ref_of(number, last), key.hex()))
        return sorted(covers)
