"""What was recalled and waits to be judged, as rows."""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from episodic_agent.schemas import PendingReview
from episodic_agent.stores.nouns import PENDING, pending_columns, pending_of
from episodic_agent.stores.tables.dialect import Table, placed, row_of

_PUT: Final = (
    f"INSERT INTO pending_review (:keys, {PENDING}) VALUES (:own, {placed(PENDING)})"
    " ON CONFLICT (:keys, thread, after, id) DO NOTHING"
)
_READ: Final = f"SELECT {PENDING} FROM pending_review WHERE :mine"
_ORDER: Final = "ORDER BY thread, after, at, id"
_DROP: Final = "DELETE FROM pending_review WHERE :mine AND thread = :thread AND after = :after AND id = :id"


class ReviewTable(Table):
    """Recalls that wait to be judged by what is said after them."""

    def put_review(self, pending: PendingReview) -> None:
        """Let a recall be judged by what its thread says next; the same id again changes nothing."""
        number = self._session.thread_number(pending.thread_id)
        self._session.change(_PUT, **row_of(PENDING, pending_columns(pending, number)))

    def reviews(self, thread_id: UUID | None = None) -> Sequence[PendingReview]:
        """Return what waits in a thread, oldest first; without one in all threads, thread by thread."""
        if thread_id is None:
            results = self._session.read(f"{_READ} {_ORDER}")
        else:
            number = self._session.find_thread(thread_id)
            if number is None:
                return []
            results = self._session.read(f"{_READ} AND thread = :thread {_ORDER}", thread=number)
        threads = self._session.thread_ids([columns[1] for columns in results])
        return [pending_of(columns, threads[columns[1]]) for columns in results]

    def drop_reviews(self, judged: Sequence[PendingReview]) -> None:
        """Take away what is judged; what is gone already changes nothing."""
        for review in sorted(judged, key=lambda one: (one.thread_id.bytes, one.after_seq, one.id.bytes)):
            number = self._session.thread_number(review.thread_id)
            self._session.change(_DROP, thread=number, after=review.after_seq, id=review.id.bytes)
