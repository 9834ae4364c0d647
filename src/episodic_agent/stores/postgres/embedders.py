"""The small numbers that stand for embedders in vectors' keys: one for each name and width."""

from collections.abc import Mapping
from typing import Final
from weakref import WeakKeyDictionary

from episodic_agent.errors import Conflict
from episodic_agent.stores.postgres.server.session import Connection, PostgresSession

_TRIES: Final = 20
_READ: Final = "SELECT width, number FROM embedder WHERE name = %s"
# Where somebody else has just taken the number nothing is written, and the next try sees theirs.
_WRITE: Final = (
    "INSERT INTO embedder (number, name, width)"
    " SELECT coalesce(max(number), 0) + 1, %s, %s FROM embedder ON CONFLICT DO NOTHING"
)

# What one connection has read of its database and will not change any more. Filled from committed rows only.
_known: WeakKeyDictionary[Connection, dict[str, dict[int, int]]] = WeakKeyDictionary()


class Embedders:
    """The embedders as one transaction sees them."""

    def __init__(self, session: PostgresSession) -> None:
        self._session = session
        self._made: dict[str, dict[int, int]] = {}

    def of(self, name: str, *, fresh: bool = False) -> Mapping[int, int]:
        """Return width -> number of an embedder, {} of an unknown one; `fresh` reads the known ones again."""
        if name in self._made:
            return self._made[name]
        known = _known.setdefault(self._session.db, {})
        if fresh or name not in known:
            results = dict(self._session.rows(_READ, (name,)))
            if not results:
                return {}
            known[name] = results
        return known[name]

    def number(self, name: str, width: int) -> int:
        """Return the number of a name and width, given now if it is the first time; Conflict in a crowd."""
        for _ in range(_TRIES):
            indexes = self._made.get(name) or self.of(name, fresh=True)
            if width in indexes:
                return indexes[width]
            if self._session.execute(_WRITE, (name, width)):
                # Ours alone until the end: it may be rolled back.
                self._made[name] = dict(self._session.rows(_READ, (name,)))
        raise Conflict(f"too many embedders were named at once; add with {name!r} again")

    def all(self) -> list[int]:
        """Return the numbers of all embedders."""
        return [number for (number,) in self._session.rows("SELECT number FROM embedder")]
