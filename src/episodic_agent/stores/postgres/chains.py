"""Which episode goes on from which, as rows."""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from episodic_agent.protocols import Walk
from episodic_agent.schemas.chains import TreeNode
from episodic_agent.stores.postgres.server.batches import byteas
from episodic_agent.stores.postgres.server.session import PostgresSession
from episodic_agent.stores.rows import optional_id, to_time
from episodic_agent.stores.tables.dialect import Table

_OWN: Final = "space = %s AND owner = %s"
_NODE: Final = "id, parent_episode_id, start_at"


class PostgresNodes(Table):
    """Episodes as the nodes of chains."""

    _session: PostgresSession

    def nodes(self, ids: Sequence[UUID], walk: Walk = "self") -> Sequence[TreeNode]:
        """Return those of these episodes that there are, or those they lead to, by id, each once."""
        if walk == "above":
            return self._walked("id = walk.parent_episode_id", ids)
        if walk == "below":
            return self._walked("parent_episode_id = walk.id", ids)
        column = "parent_episode_id" if walk == "children" else "id"
        return self._read(f"SELECT DISTINCT e.* FROM {_keyed_rows(f'{column} = k.key')} ORDER BY e.id", ids)

    def _walked(self, step: str, ids: Sequence[UUID]) -> list[TreeNode]:
        sql = (
            f"WITH RECURSIVE walk AS (SELECT e.* FROM {_keyed_rows('id = k.key')} UNION SELECT e.* FROM walk"
            f" CROSS JOIN LATERAL (SELECT {_NODE} FROM episode WHERE {_OWN} AND {step} OFFSET 0) e)"
            " SELECT * FROM walk ORDER BY id"
        )
        return self._read(sql, ids, self._session.keys)

    def _read(self, sql: str, ids: Sequence[UUID], more: Sequence[int] = ()) -> list[TreeNode]:
        binary = byteas([identity.bytes for identity in ids])
        rows = self._session.rows(sql, (binary, *self._session.keys, *more))
        return [
            TreeNode(UUID(bytes=bytes(key)), optional_id(parent), to_time(at)) for key, parent, at in rows
        ]


def _keyed_rows(which: str) -> str:
    return (
        "unnest(%s::bytea[]) AS k (key) CROSS JOIN LATERAL"
        f" (SELECT {_NODE} FROM episode WHERE {_OWN} AND {which} OFFSET 0) e"
    )
