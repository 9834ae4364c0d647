"""What a benchmark trained, kept in its cache while the code and the data it came from are the same."""

import hashlib
import pickle
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TypeVar

from benchmarks.provenance import ROOT, digest_of

T = TypeVar("T")


def stamp_of(code: Sequence[str], data: Iterable[Path], *, without: str | None = None) -> str:
    """Name what a training depends on: the trainer, the cues and the data; not the shipped weights.

    `code` are files and folders of the repository; folders called `without` in them do not count.
    """
    answer = hashlib.sha256()
    for part in code:
        place = ROOT / part
        for file in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            if without not in file.parts:
                answer.update(file.read_bytes())
    answer.update(digest_of(data).encode())
    return answer.hexdigest()[:12]


def kept_or_trained(file: Path, make: Callable[[], T], *, train: bool) -> T | None:
    """Train and keep, or read what was kept; None where nothing is kept and nothing may be trained."""
    if not train:
        # written below, in the caller's own folder
        loads: T | None = pickle.loads(file.read_bytes()) if file.is_file() else None
        return loads
    made = make()
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(pickle.dumps(made))
    return made
