"""Numbered, checksummed schema changes, each applied once and all in one transaction."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from importlib.resources import files
from typing import Final

import apsw

from episodic_agent.errors import StoreError
from episodic_agent.stores.sqlite.connection import keep_log, rows

APPLICATION_ID: Final = 0x45504953  # "EPIS" in the file's header: tells our files from another program's
_FILE_NAME: Final = re.compile(r"(\d{4})_(\w+)\.sql")
_LEDGER: Final = """
CREATE TABLE IF NOT EXISTS migration (
    version INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL
) STRICT
"""


@dataclass(frozen=True, slots=True)
class Migration:
    """One step of the schema."""

    version: int
    name: str
    script: str

    @property
    def checksum(self) -> str:
        """Return the SHA-256 of the script, whatever line ends it was checked out with."""
        return hashlib.sha256(self.script.replace("\r\n", "\n").encode()).hexdigest()


def shipped_migrations() -> tuple[Migration, ...]:
    """Read the migrations this version of the package carries, oldest first."""
    found = []
    for entry in files(__package__).joinpath("migrations").iterdir():
        if match := _FILE_NAME.fullmatch(entry.name):
            found.append(Migration(int(match[1]), match[2], entry.read_text(encoding="utf-8")))
    return tuple(sorted(found, key=lambda migration: migration.version))


def migrate(
    db: apsw.Connection, path: str, migrations: Sequence[Migration], *, patience: timedelta = timedelta()
) -> None:
    """Bring the database at `path` to the newest schema, or leave it as it was.

    Raises StoreError for another program's database, one written by a newer version, or one whose applied
    migrations differ from the shipped ones.
    """
    with db:  # one snapshot: another process may be making the database right now
        _refuse_foreign(db, path)
        done = _applied(db, path, migrations)
    # A copy made by SQLite's own backup is no longer in write-ahead mode.
    if db.pragma("journal_mode") != "wal" and not db.readonly("main"):
        keep_log(db, patience)
    if done == len(migrations):
        return
    db.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have migrated while we waited for the lock.
        done = _applied(db, path, migrations)
        db.execute(_LEDGER)
        for migration in migrations[done:]:
            db.execute(migration.script)
            entry = (migration.version, migration.name, migration.checksum)
            db.execute("INSERT INTO migration (version, name, checksum) VALUES (?, ?, ?)", entry)
        db.execute(f"PRAGMA user_version = {migrations[-1].version}")
        db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        db.execute("COMMIT")
    finally:
        if db.in_transaction:
            db.execute("ROLLBACK")


def schema_checksum(db: apsw.Connection) -> str:
    """Return a checksum of the live schema: every table and index as written."""
    sql = (
        "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY name"
    )
    found = rows(db, sql)
    return hashlib.sha256(repr(found).encode()).hexdigest()


def _refuse_foreign(db: apsw.Connection, path: str) -> None:
    application = db.pragma("application_id")
    if application == APPLICATION_ID:
        return
    tables = db.execute("SELECT count(*) FROM sqlite_schema").get
    if application != 0 or tables:
        raise StoreError(f"{path} is a database of another program; choose another path")


def _applied(db: apsw.Connection, path: str, migrations: Sequence[Migration]) -> int:
    """Count the migrations the file has, once they are known to be ours."""
    version = int(db.pragma("user_version"))
    newest = migrations[-1].version
    if version > newest:
        raise StoreError(
            f"{path} was written by a newer version (schema {version}, this one knows {newest}); "
            "upgrade episodic-agent"
        )
    if version == 0:
        return 0
    ledger = rows(db, "SELECT version, name, checksum FROM migration ORDER BY version")
    ours = [(m.version, m.name, m.checksum) for m in migrations if m.version <= version]
    if ledger != ours:
        raise StoreError(
            f"the schema of {path} was made by other migrations than this version's; "
            "open it with the version that wrote it, or restore a backup"
        )
    return len(ours)
