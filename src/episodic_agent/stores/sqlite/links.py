"""Which threads belong together, as rows."""

from collections.abc import Mapping, Sequence
from typing import Any, Final
from uuid import UUID

from episodic_agent.schemas import Link
from episodic_agent.stores.nouns import LINK, link_columns, link_of
from episodic_agent.stores.sqlite.session import EACH, Session, number_list

_THERE: Final = "(? OR unlinked_at IS NULL)"


class SqliteLinks:
    """The `Links` of one transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def put(self, link: Link) -> None:
        """Write the link of two threads, in the place of what stood of the two; NotFound for either."""
        scope = self._session.own()
        later, earlier = self._session.thread_number(link.later), self._session.thread_number(link.earlier)
        sql = "DELETE FROM link WHERE scope = ? AND later = ? AND earlier = ?"
        self._session.db.executemany(sql, [(scope, later, earlier), (scope, earlier, later)])
        sql = f"INSERT INTO link (scope, {LINK}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
        self._session.db.execute(sql, (scope, *link_columns(link, later, earlier)))

    def of(self, threads: Sequence[UUID], *, taken_back: bool = False) -> Sequence[Link]:
        """Return the links of these threads, oldest first, ties as the threads were made."""
        numbers = [n for n in map(self._session.find_thread, threads) if n is not None]
        sides = [
            f"SELECT {LINK} FROM {EACH} link WHERE scope = ? AND {side} = p.value AND {_THERE}"
            for side in ("later", "earlier")
        ]
        wanted = (number_list(numbers), self._session.number, taken_back)
        found = self._session.rows(f"{' UNION '.join(sides)} ORDER BY at, later, earlier", (*wanted, *wanted))
        return self._links(found)

    def list(self, *, limit: int, taken_back: bool = False) -> Sequence[Link]:
        """Return the newest links of the scope, newest first."""
        sql = (
            f"SELECT {LINK} FROM link WHERE scope = ? AND {_THERE} ORDER BY at DESC, later DESC, earlier DESC"
        )
        return self._links(self._session.rows(f"{sql} LIMIT ?", (self._session.number, taken_back, limit)))

    def _links(self, found: Sequence[tuple[Any, ...]]) -> Sequence[Link]:
        threads = self._session.thread_ids([number for columns in found for number in columns[:2]])
        return [link_of(columns, threads) for columns in found]

    def join(self, episode_id: UUID, threads: Sequence[UUID]) -> None:
        """Let just these threads form a cross-thread episode; they leave those they were in."""
        scope = self._session.own()
        numbers = [self._session.thread_number(thread) for thread in threads]
        sql = "DELETE FROM joined WHERE scope = ? AND episode = ?"
        self._session.db.execute(sql, (scope, episode_id.bytes))
        sql = (
            "INSERT INTO joined (scope, thread, episode) VALUES (?, ?, ?)"
            " ON CONFLICT (scope, thread) DO UPDATE SET episode = excluded.episode"
        )
        self._session.db.executemany(sql, [(scope, number, episode_id.bytes) for number in numbers])

    def joined(self, threads: Sequence[UUID]) -> Mapping[UUID, UUID]:
        """Return the cross-thread episode of each of these threads that is in one."""
        numbers = {self._session.find_thread(thread): thread for thread in threads}
        numbers.pop(None, None)
        sql = f"SELECT j.thread, j.episode FROM {EACH} joined j WHERE j.scope = ? AND j.thread = p.value"
        given = number_list(number for number in numbers if number is not None)
        return {
            numbers[number]: UUID(bytes=episode)
            for number, episode in self._session.rows(sql, (given, self._session.number))
        }

    def members(self, episode_id: UUID) -> Sequence[UUID]:
        """Return the threads of a cross-thread episode in order of creation, ties by id."""
        sql = (
            "SELECT t.id FROM joined j JOIN thread t ON t.number = j.thread AND t.scope = j.scope"
            " WHERE j.scope = ? AND j.episode = ? ORDER BY t.created_at, t.id"
        )
        found = self._session.rows(sql, (self._session.number, episode_id.bytes))
        return [UUID(bytes=identity) for (identity,) in found]
