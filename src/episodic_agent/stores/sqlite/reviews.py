"""What was recalled and waits to be judged, as rows."""

from collections.abc import Sequence
from uuid import UUID

from episodic_agent.schemas import PendingReview
from episodic_agent.stores.nouns import PENDING, pending_columns, pending_of
from episodic_agent.stores.sqlite.session import Session


class SqliteReviews:
    """The `Reviews` of one transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def ask(self, pending: PendingReview) -> None:
        """Let a recall be judged by what its thread says next; the same id again changes nothing."""
        scope, number = self._session.own(), self._session.thread_number(pending.thread_id)
        sql = (
            f"INSERT INTO pending_review (scope, {PENDING}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
            " ON CONFLICT (scope, thread, after, id) DO NOTHING"
        )
        self._session.db.execute(sql, (scope, *pending_columns(pending, number)))

    def pending(self, thread_id: UUID) -> Sequence[PendingReview]:
        """Return what waits in a thread, oldest first."""
        number = self._session.find_thread(thread_id)
        sql = f"SELECT {PENDING} FROM pending_review WHERE scope = ? AND thread = ? ORDER BY after, at, id"
        found = [] if number is None else self._session.rows(sql, (self._session.number, number))
        return [pending_of(columns, thread_id) for columns in found]

    def settle(self, settled: Sequence[PendingReview]) -> None:
        """Take away what is judged."""
        scope = self._session.own()
        sql = "DELETE FROM pending_review WHERE scope = ? AND thread = ? AND after = ? AND id = ?"
        keys = [
            (scope, self._session.thread_number(one.thread_id), one.after_seq, one.id.bytes)
            for one in settled
        ]
        self._session.db.executemany(sql, keys)
