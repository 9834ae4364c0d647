"""Which episode goes on from which, as rows."""

from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

from episodic_agent.protocols import Walk
from episodic_agent.schemas.chains import TreeNode
from episodic_agent.stores.rows import id_of, optional_id, to_time
from episodic_agent.stores.sqlite.file.session import EACH, SqliteSession, id_list
from episodic_agent.stores.tables.dialect import Table

_NODE: Final = "e.id, e.parent_episode_id, e.start_at"
_CHILDREN: Final = "episode e INDEXED BY episode_parent"


class SqliteNodes(Table):
    """Episodes as the nodes of chains."""

    _session: SqliteSession

    def nodes(self, ids: Sequence[UUID], walk: Walk = "self") -> Sequence[TreeNode]:
        """Return those of these episodes that there are, or those they lead to, by id, each once."""
        if walk == "above":
            return self._walked("episode e WHERE e.scope = ? AND e.id = walk.parent", ids)
        if walk == "below":
            # without statistics all of a scope looks as few as the children of one
            return self._walked(f"{_CHILDREN} WHERE e.scope = ? AND e.parent_episode_id = walk.id", ids)
        if walk == "children":
            step = f"{_CHILDREN} WHERE e.scope = ? AND e.parent_episode_id = unhex(p.value)"
        else:
            step = "episode e WHERE e.scope = ? AND e.id = unhex(p.value)"
        sql = f"SELECT DISTINCT {_NODE} FROM {EACH} {step} ORDER BY e.id"
        return _read(self._session.rows(sql, (id_list(ids), self._session.number)))

    def _walked(self, step: str, ids: Sequence[UUID]) -> list[TreeNode]:
        sql = (
            f"WITH RECURSIVE walk (id, parent, at) AS (SELECT {_NODE} FROM {EACH} episode e"
            " WHERE e.scope = ? AND e.id = unhex(p.value)"
            f" UNION SELECT {_NODE} FROM walk CROSS JOIN {step}) SELECT id, parent, at FROM walk ORDER BY id"
        )
        scope = self._session.number
        return _read(self._session.rows(sql, (id_list(ids), scope, scope)))


def _read(rows: Sequence[tuple[Any, ...]]) -> list[TreeNode]:
    return [TreeNode(id_of(key), optional_id(parent), to_time(at)) for key, parent, at in rows]
