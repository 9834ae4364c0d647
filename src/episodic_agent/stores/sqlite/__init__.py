"""The embedded store: one SQLite file holds rows, text index, vectors and jobs."""

from .lease import process_owner
from .store import SqliteStore

__all__ = ["SqliteStore", "process_owner"]
