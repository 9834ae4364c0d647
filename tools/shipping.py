"""Write data files the package ships, and their rows in `data/PROVENANCE.toml`.

    python tools/shipping.py    # after a change by hand: bring the hashes and dates of the rows up to date

A program that trains calls `ship_numbers` or `ship_arrays`: they write the file and, in its row, who made it,
from what and when. A row has `what`, `made_by` (a file of the repository, or "hand"), `maker_sha256`
(of that file when it ran; hands have none), `made_from`, `made_on`, `licence`, `sha256` (of the data file).
"""

import hashlib
import json
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "src" / "episodic_agent" / "data"
ROWS = "PROVENANCE.toml"
FIELDS = ("what", "made_by", "maker_sha256", "made_from", "made_on", "licence", "sha256")
LICENCE = "MIT"
HEAD = """\
# What made each data file, from what, when, under which licence: a row a file, held by the test of the house.
# `maker_sha256` is the hash of `made_by` as it was when it ran.
# After a change by hand run `python tools/shipping.py`.
"""


@dataclass(frozen=True)
class Origin:
    """Who made a data file (a path in the repository), from what, and what it holds."""

    made_by: str
    made_from: str
    what: str


def ship_numbers(name: str, tables: Mapping[str, object], origin: Origin, folder: Path = DATA) -> Path:
    """Write tables of numbers as JSON, a number a line, with its row; return the file."""
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(tables, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    note(file, origin, folder)
    return file


def ship_arrays(
    name: str, arrays: Mapping[str, NDArray[np.floating]], origin: Origin, folder: Path = DATA
) -> Path:
    """Write arrays as an archive that is the same byte by byte for the same arrays; return the file."""
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    np.savez(file, **arrays)
    note(file, origin, folder)
    return file


def note(file: Path, origin: Origin, folder: Path) -> None:
    """Write the row of a file that was just made."""
    rows = read_rows(folder)
    rows[file.relative_to(folder).as_posix()] = {
        "what": origin.what,
        "made_by": origin.made_by,
        "maker_sha256": digest(ROOT / origin.made_by),
        "made_from": origin.made_from,
        "made_on": today(),
        "licence": LICENCE,
        "sha256": digest(file),
    }
    write_rows(rows, folder)


def refresh(folder: Path = DATA) -> list[str]:
    """Bring hash and date of files changed by hand up to date; return their names.

    Raises SystemExit for a file without a row, a row without a file, and a trained file that was changed.
    """
    rows = read_rows(folder)
    files = shipped(folder)
    strangers = sorted(set(files) ^ set(rows))
    if strangers:
        sys.exit(f"a file without a row, or a row without a file: {', '.join(strangers)}")
    changed = [name for name in files if rows[name]["sha256"] != digest(folder / name)]
    trained = [name for name in changed if rows[name]["made_by"] != "hand"]
    if trained:
        sys.exit(f"made by a program, changed by something else: {', '.join(trained)}")
    for name in changed:
        rows[name] |= {"sha256": digest(folder / name), "made_on": today()}
    write_rows(rows, folder)
    return changed


def shipped(folder: Path) -> Sequence[str]:
    """Return the data files of a folder by path, sorted; code and the rows themselves are none."""
    files = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    skipped = {".py", ".pyc"}
    return sorted(path.as_posix() for path in files if path.suffix not in skipped and path.name != ROWS)


def digest(file: Path) -> str:
    """Return the SHA-256 of a file."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


def today() -> str:
    """Return the date in UTC."""
    return datetime.now(UTC).strftime("%Y-%m-%d")


def read_rows(folder: Path) -> dict[str, dict[str, str]]:
    """Return the rows by file."""
    file = folder / ROWS
    return tomllib.loads(file.read_text(encoding="utf-8")) if file.exists() else {}


def write_rows(rows: Mapping[str, Mapping[str, str]], folder: Path) -> None:
    """Write the rows, sorted by file."""
    parts = [HEAD]
    for name, row in sorted(rows.items()):
        texts = [
            f"{field} = {json.dumps(row[field], ensure_ascii=False)}" for field in FIELDS if field in row
        ]
        parts.append("\n".join([f'["{name}"]', *texts]) + "\n")
    (folder / ROWS).write_text("\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    print("\n".join(refresh()) or "nothing changed")
