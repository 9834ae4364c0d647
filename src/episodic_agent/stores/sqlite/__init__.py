"""The embedded store: one SQLite file holds rows, text index, vectors and jobs."""

from episodic_agent.stores.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]
