"""Results as committed JSON: one row for each key, so that a partial run replaces only its own rows."""

import gzip
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

Row = Mapping[str, Any]


def read(folder: Path, name: str) -> dict[str, dict[str, Any]]:
    """Return the rows of `<name>.json` by key; none where it was never written."""
    path = folder / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def merge(folder: Path, name: str, rows: Mapping[str, Row]) -> None:
    """Put rows among those there are; the file changes whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    merged = {**read(folder, name), **rows}
    text = json.dumps({key: merged[key] for key in sorted(merged)}, indent=1, ensure_ascii=False)
    part = folder / f"{name}.json.part"
    part.write_text(text + "\n", encoding="utf-8")
    part.replace(folder / f"{name}.json")


def write_details(path: Path, rows: Iterable[Row]) -> int:
    """Write rows as gzipped JSON lines, the same bytes for the same rows, and return the file's size."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n" for row in rows)
    path.write_bytes(gzip.compress(text.encode("utf-8"), compresslevel=9, mtime=0))
    return path.stat().st_size
