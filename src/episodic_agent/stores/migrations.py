"""Numbered, checksummed schema changes, as files beside the store that applies them."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

from episodic_agent.errors import StoreError

_FILE_NAME: Final = re.compile(r"(\d{4})_(\w+)\.sql")


@dataclass(frozen=True, slots=True)
class Migration:
    """One step of the schema."""

    version: int
    name: str
    script: str

    @property
    def checksum(self) -> str:
        """Return the SHA-256 of the script, whatever line ends it was checked out with."""
        return _checksum(self.script)

    @property
    def entry(self) -> tuple[int, str, str]:
        """Return what the ledger keeps of it: version, name, checksum."""
        return self.version, self.name, self.checksum


@cache
def _checksum(script: str) -> str:
    return hashlib.sha256(script.replace("\r\n", "\n").encode()).hexdigest()


@cache
def read_migrations(package: str) -> tuple[Migration, ...]:
    """Read the migrations in the folder `migrations` of a store's package, oldest first; once in a process.

    A fifth of the time of opening a file was theirs.
    """
    result = []
    for entry in files(package).joinpath("migrations").iterdir():
        if match := _FILE_NAME.fullmatch(entry.name):
            result.append(Migration(int(match[1]), match[2], entry.read_text(encoding="utf-8")))
    return tuple(sorted(result, key=lambda migration: migration.version))


def count_applied(ledger: Sequence[tuple[int, str, str]], migrations: Sequence[Migration], place: str) -> int:
    """Count the applied migrations of a ledger (by version), once it is known to be ours.

    Raises StoreError for the ledger of a newer version, or of other migrations than the shipped ones.

    >>> count_applied([], [Migration(1, "initial", "CREATE …")], "memory.db")
    0
    """
    newest = migrations[-1].version
    version = ledger[-1][0] if ledger else 0
    if version > newest:
        raise StoreError(
            f"{place} was written by a newer version (schema {version}, this one knows {newest}); "
            "upgrade episodic-agent"
        )
    if list(ledger) != [migration.entry for migration in migrations if migration.version <= version]:
        raise StoreError(
            f"the schema of {place} was made by other migrations than this version's; "
            "open it with the version that wrote it, or restore a backup"
        )
    return len(ledger)
