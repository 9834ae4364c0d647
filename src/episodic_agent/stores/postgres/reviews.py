"""What was recalled and waits to be judged, as rows."""

from collections.abc import Sequence
from uuid import UUID

from episodic_agent.schemas import PendingReview
from episodic_agent.stores.nouns import PENDING, pending_columns, pending_of
from episodic_agent.stores.postgres.session import Session
from episodic_agent.stores.postgres.text import read_columns


class PostgresReviews:
    """The `Reviews` of one transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def ask(self, pending: PendingReview) -> None:
        """Let a recall be judged by what its thread says next; the same id again changes nothing."""
        keys, number = self._session.own(), self._session.thread_number(pending.thread_id)
        sql = (
            f"INSERT INTO pending_review (space, owner, {PENDING})"
            " VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)"
            " ON CONFLICT (space, owner, thread, after, id) DO NOTHING"
        )
        self._session.execute(sql, (*keys, *pending_columns(pending, number)))

    def pending(self, thread_id: UUID) -> Sequence[PendingReview]:
        """Return what waits in a thread, oldest first."""
        number = self._session.find_thread(thread_id)
        sql = (
            f"SELECT {PENDING} FROM pending_review WHERE space = %s AND owner = %s AND thread = %s"
            " ORDER BY after, at, id"
        )
        found = [] if number is None else self._session.rows(sql, (*self._session.keys, number))
        return [pending_of(read_columns(columns), thread_id) for columns in found]

    def settle(self, settled: Sequence[PendingReview]) -> None:
        """Take away what is judged."""
        keys = self._session.own()
        sql = (
            "DELETE FROM pending_review"
            " WHERE space = %s AND owner = %s AND thread = %s AND after = %s AND id = %s"
        )
        for one in sorted(settled, key=lambda one: (one.thread_id.bytes, one.after_seq, one.id.bytes)):
            number = self._session.thread_number(one.thread_id)
            self._session.execute(sql, (*keys, number, one.after_seq, one.id.bytes))
