"""Samples of what people import, and what is expected of each: who said what, when, in which thread."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from episodic_agent.core.ingest import Item
from episodic_agent.engine.files.opening import NORMAL, Unreadable
from episodic_agent.engine.files.options import ReadingOptions
from episodic_agent.engine.files.sources import open_source
from episodic_agent.schemas import TimeSource

SAMPLES = Path(__file__).parent.parent / "data" / "imports"
EXPECTED = SAMPLES / "expected.json"


def expected() -> dict[str, dict[str, Any]]:
    """What each sample holds: its formats, its messages, what is left out or unreadable."""
    value: dict[str, dict[str, Any]] = json.loads(EXPECTED.read_text(encoding="utf-8"))
    return value


def read(path: Path, reading: ReadingOptions | None = None) -> dict[str, Any]:
    """Read a path as an import does, into the shape of what is expected."""
    reading = reading or ReadingOptions()
    formats: list[str] = []
    records: list[tuple[str, Item | Unreadable]] = []
    with open_source(path, reading, encoding=None, limits=NORMAL) as parts:
        for part in parts:
            formats.append(part.label)
            records += part.records
    return {
        "formats": sorted(set(formats)),
        "messages": [_row(record) for _, record in records if isinstance(record, Item)],
        "notes": reading.notes.lines(),
        "unreadable": [f"{n}:{r.line}: {r.reason}" for n, r in records if isinstance(r, Unreadable)],
    }


def _row(item: Item) -> list[str]:
    assumed = item.at is None or item.at_source is TimeSource.ASSUMED
    at = "assumed" if assumed or item.at is None else item.at.isoformat(timespec="seconds")
    return [item.actor, at, item.conversation or "", item.title or "", item.text]


def names() -> Iterator[str]:
    """The names of all samples, one a line of the table."""
    yield from expected()


def zipped(folder: Path, path: Path, prefix: str = "") -> Path:
    """Pack a folder as an archive whose names begin with a prefix."""
    with ZipFile(path, "w") as archive:
        for file in sorted(folder.rglob("*")):
            if file.is_file():
                archive.write(file, prefix + file.relative_to(folder).as_posix())
    return path
