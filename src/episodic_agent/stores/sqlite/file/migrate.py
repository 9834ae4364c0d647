"""Numbered, checksummed schema changes, each applied once and all in one transaction."""

import hashlib
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

import apsw

from episodic_agent.errors import StoreError
from episodic_agent.lazily import module
from episodic_agent.stores.migrations import Migration, count_applied, read_migrations
from episodic_agent.stores.sqlite.file.connection import accept, keep_log, lost_log, rows

if TYPE_CHECKING:
    from episodic_agent.core import vectors
else:
    vectors = module("episodic_agent.core.vectors")

__all__ = [
    "APPLICATION_ID",
    "Migration",
    "give_back",
    "go_on_without_log",
    "migrate",
    "schema_checksum",
    "shipped_migrations",
]

APPLICATION_ID: Final = 0x45504953  # "EPIS" in the file's header: tells our files from another program's
_LEDGER: Final = """
CREATE TABLE IF NOT EXISTS migration (
    version INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL
) STRICT
"""


def shipped_migrations() -> tuple[Migration, ...]:
    """Read the migrations this version of the package carries, oldest first."""
    return read_migrations("episodic_agent.stores.sqlite")


def migrate(
    db: apsw.Connection, path: str, migrations: Sequence[Migration], *, patience: timedelta = timedelta()
) -> None:
    """Bring the database at `path` to the newest schema, or leave it as it was.

    A file a quarter of which is free then is rewritten without its free pages, if nobody else writes and
    there is room for a copy. Raises StoreError for another program's database, one written by a newer
    version, one whose applied migrations differ from the shipped ones, and one whose log is missing.
    """
    with db:  # one snapshot: another process may be making the database right now
        _refuse_foreign(db, path)
        done = _applied(db, path, migrations)
    if missing := lost_log(db, path):
        raise StoreError(
            f"{missing}; put the log back beside the file, restore a backup, or go on with what is there:"
            " `episodic doctor --repair`"
        )
    # A copy made by SQLite's own backup is no longer in write-ahead mode.
    if db.pragma("journal_mode") != "wal" and not db.readonly("main"):
        keep_log(db, patience)
    if done == len(migrations):
        return
    db.create_scalar_function("in_halves", _in_halves, 1, deterministic=True)
    db.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have migrated while we waited for the lock.
        done = _applied(db, path, migrations)
        db.execute(_LEDGER)
        for migration in migrations[done:]:
            db.execute(migration.script)
            db.execute("INSERT INTO migration (version, name, checksum) VALUES (?, ?, ?)", migration.entry)
        db.execute(f"PRAGMA user_version = {migrations[-1].version}")
        db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        db.execute("COMMIT")
    finally:
        if db.in_transaction:
            db.execute("ROLLBACK")
    give_back(db)


def _in_halves(*values: "apsw.SQLiteValue") -> bytes:
    (floats,) = values
    assert isinstance(floats, bytes)
    return vectors.kept_again(floats)


def give_back(db: apsw.Connection) -> None:
    """Rewrite a file a quarter of which is free; later rows fill what cannot be given back now."""
    if 4 * int(db.pragma("freelist_count")) < int(db.pragma("page_count")):
        return
    with suppress(apsw.BusyError, apsw.LockedError, apsw.FullError):
        db.pragma("temp_store", "FILE")  # the copy is as large as what is kept
        db.execute("VACUUM")
        db.pragma("wal_checkpoint", "TRUNCATE")
    db.pragma("temp_store", "MEMORY")


def go_on_without_log(path: Path) -> str:
    """Take a file whose log is missing for whole; return what was to be said of it, "" of a sound one."""
    db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        _refuse_foreign(db, str(path))
        missing = lost_log(db, str(path))
        if missing:
            accept(db)
        return missing
    except (apsw.CorruptError, apsw.NotADBError):
        return ""  # whoever opens it is told
    finally:
        db.close()


def schema_checksum(db: apsw.Connection) -> str:
    """Return a checksum of the live schema: every table and index as written."""
    sql = (
        "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY name"
    )
    results = rows(db, sql)
    return hashlib.sha256(repr(results).encode()).hexdigest()


def _refuse_foreign(db: apsw.Connection, path: str) -> None:
    application = db.pragma("application_id")
    if application == APPLICATION_ID:
        return
    tables = db.execute("SELECT count(*) FROM sqlite_schema").get
    if application != 0 or tables:
        raise StoreError(f"{path} is a database of another program; choose another path")


def _applied(db: apsw.Connection, path: str, migrations: Sequence[Migration]) -> int:
    """Count the migrations the file has, once they are known to be ours."""
    if int(db.pragma("user_version")) == 0:
        return 0
    ledger = rows(db, "SELECT version, name, checksum FROM migration ORDER BY version")
    return count_applied([(v, n, c) for v, n, c in ledger], migrations, path)
