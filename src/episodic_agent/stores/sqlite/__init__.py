"""The embedded store: one SQLite file holds rows, text index, vectors and jobs."""

from episodic_agent.stores.sqlite.lease import process_owner
from episodic_agent.stores.sqlite.store import SqliteStore

__all__ = ["SqliteStore", "process_owner"]
