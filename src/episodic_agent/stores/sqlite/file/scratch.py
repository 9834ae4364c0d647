"""A database in memory alone, of one process: nothing of it is ever written to a disk."""

from itertools import count
from pathlib import Path
from typing import Final

import apsw

from episodic_agent.stores.sqlite.file.connection import SqliteConnections, SqliteOptions, open_connection

_names: Final = count(1)
_OPTIONS: Final = SqliteOptions(synchronous="off")


class ScratchConnections(SqliteConnections):
    """Connections that share a database in memory, which is gone with the last of them."""

    def __init__(self) -> None:
        # a name that begins with "/" is shared by the connections of the process
        super().__init__(Path(f"/episodic-scratch-{next(_names)}"), _OPTIONS)
        self._anchor = self._connect()

    def make_file(self) -> None:
        """Make nothing: there is no file."""

    def look(self, db: apsw.Connection) -> None:
        """Look at nothing: no other process can take the place of it."""

    def _connect(self) -> apsw.Connection:
        return open_connection(self.path, self.options, create=True, vfs="memdb")

    def close(self) -> None:
        """Close what is idle; the database is gone when the lent connections have come back."""
        super().close()
        self._anchor.close()
