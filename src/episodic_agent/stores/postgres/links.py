"""Which threads belong together, as rows."""

from collections.abc import Mapping, Sequence
from typing import Any, Final
from uuid import UUID

from episodic_agent.schemas import Link
from episodic_agent.stores.nouns import LINK, link_columns, link_of
from episodic_agent.stores.postgres.batches import bigints
from episodic_agent.stores.postgres.session import Session
from episodic_agent.stores.postgres.text import read_columns

_OWN: Final = "space = %s AND owner = %s"
_THERE: Final = "(%s::boolean OR unlinked_at IS NULL)"


class PostgresLinks:
    """The `Links` of one transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def put(self, link: Link) -> None:
        """Write the link of two threads, in the place of what stood of the two; NotFound for either."""
        keys = self._session.own()
        later, earlier = self._session.thread_number(link.later), self._session.thread_number(link.earlier)
        sql = f"DELETE FROM link WHERE {_OWN} AND later = %s AND earlier = %s"
        self._session.execute(sql, (*keys, earlier, later))
        changed = ", ".join(f"{name} = excluded.{name}" for name in LINK.split(", ")[2:])
        sql = (
            f"INSERT INTO link (space, owner, {LINK}) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)"
            f" ON CONFLICT (space, owner, later, earlier) DO UPDATE SET {changed}"
        )
        self._session.execute(sql, (*keys, *link_columns(link, later, earlier)))

    def of(self, threads: Sequence[UUID], *, taken_back: bool = False) -> Sequence[Link]:
        """Return the links of these threads, oldest first, ties as the threads were made."""
        numbers = list(self._session.find_threads(threads))
        sides = [
            f"SELECT {LINK} FROM link WHERE {_OWN} AND {side} = ANY(%s::bigint[]) AND {_THERE}"
            for side in ("later", "earlier")
        ]
        wanted = (*self._session.keys, bigints(numbers), taken_back)
        found = self._session.rows(f"{' UNION '.join(sides)} ORDER BY at, later, earlier", (*wanted, *wanted))
        return self._links(found)

    def list(self, *, limit: int, taken_back: bool = False) -> Sequence[Link]:
        """Return the newest links of the scope, newest first."""
        sql = f"SELECT {LINK} FROM link WHERE {_OWN} AND {_THERE} ORDER BY at DESC, later DESC, earlier DESC"
        return self._links(self._session.rows(f"{sql} LIMIT %s", (*self._session.keys, taken_back, limit)))

    def _links(self, found: Sequence[tuple[Any, ...]]) -> Sequence[Link]:
        threads = self._session.thread_ids([number for columns in found for number in columns[:2]])
        return [link_of(read_columns(columns), threads) for columns in found]

    def join(self, episode_id: UUID, threads: Sequence[UUID]) -> None:
        """Let just these threads form a cross-thread episode; they leave those they were in."""
        keys, identity = self._session.own(), episode_id.bytes
        # In one order everywhere: two writers of the same rows then wait, and never for each other.
        self._session.find_threads(threads)
        numbers = sorted(map(self._session.thread_number, threads))
        sql = f"DELETE FROM joined WHERE {_OWN} AND episode = %s AND NOT thread = ANY(%s::bigint[])"
        self._session.execute(sql, (*keys, identity, bigints(numbers)))
        sql = (
            "INSERT INTO joined (space, owner, thread, episode)"
            " SELECT %s, %s, n, %s FROM unnest(%s::bigint[]) WITH ORDINALITY AS g (n, place) ORDER BY place"
            " ON CONFLICT (space, owner, thread) DO UPDATE SET episode = excluded.episode"
        )
        self._session.execute(sql, (*keys, identity, bigints(numbers)))

    def joined(self, threads: Sequence[UUID]) -> Mapping[UUID, UUID]:
        """Return the cross-thread episode of each of these threads that is in one."""
        numbers = self._session.find_threads(threads)
        sql = f"SELECT thread, episode FROM joined WHERE {_OWN} AND thread = ANY(%s::bigint[])"
        given = bigints(list(numbers))
        found = self._session.rows(sql, (*self._session.keys, given))
        return {numbers[number]: UUID(bytes=bytes(episode)) for number, episode in found}

    def members(self, episode_id: UUID) -> Sequence[UUID]:
        """Return the threads of a cross-thread episode in order of creation, ties by id."""
        sql = f"SELECT thread FROM joined WHERE {_OWN} AND episode = %s"
        numbers = [number for (number,) in self._session.rows(sql, (*self._session.keys, episode_id.bytes))]
        sql = f"SELECT id FROM thread WHERE {_OWN} AND number = ANY(%s::bigint[]) ORDER BY created_at, id"
        found = self._session.rows(sql, (*self._session.keys, bigints(numbers)))
        return [UUID(bytes=bytes(identity)) for (identity,) in found]
