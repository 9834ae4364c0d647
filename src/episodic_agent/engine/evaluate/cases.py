"""Read the JSON-lines forms of labelled data, plain or gzipped, one stream or case a line."""

import gzip
import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from episodic_agent.core.ingest import read_time
from episodic_agent.errors import InvalidInput

RECORDING = re.compile(
    r"^[^-]*-(\d{8})-(\d{6})\+(\d+(?:\.\d+)?)$"
)  # a recording's start plus seconds into it


@dataclass(frozen=True, slots=True)
class LabelledUnit:
    """One unit of a labelled stream; `at` is None where the source gives no time.

    A step has `step` set, and what was done with which things where its source tells.
    """

    speaker: str
    text: str
    at: datetime | None
    location: str | None = None
    step: bool = False
    action: str | None = None
    objects: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LabelledStream:
    """A labelled stream: starts[i] = 1 where unit i opens a new segment."""

    id: str
    units: Sequence[LabelledUnit]
    starts: Sequence[int]


def rows(path: Path) -> Iterator[Mapping[str, Any]]:
    """Yield the JSON objects of a file; InvalidInput names the line that is none, or the file without any."""
    opener = gzip.open if path.suffix == ".gz" else open
    empty = True
    try:
        with opener(path, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if not line.strip():
                    continue
                try:
                    row = json.loads(line)
                except ValueError as error:
                    raise InvalidInput(f"{path}: line {number} is not JSON ({error})") from error
                if not isinstance(row, dict):
                    raise InvalidInput(f"{path}: line {number} is not an object with units or messages")
                empty = False
                yield row
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path} cannot be read: {error}") from error
    if empty:
        raise InvalidInput(f"{path} is empty; give a file of labelled cases, one JSON object a line")


def digest(path: Path) -> str:
    """Return the first 16 hexadecimal digits of a file's SHA-256, to name the data a figure came from."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def streams(path: Path) -> Iterator[LabelledStream]:
    """Yield the labelled streams of a `seg_*` or `steps_*` file."""
    for n, row in enumerate(rows(path)):
        units, starts = row.get("units"), row.get("starts")
        if not isinstance(units, list) or not isinstance(starts, list) or len(units) != len(starts):
            raise InvalidInput(f"{path}: stream {n + 1} needs `units` and `starts` of the same length")
        if not all(isinstance(u, Mapping) for u in units) or not all(s in (0, 1) for s in starts):
            raise InvalidInput(f"{path}: stream {n + 1} needs units that are objects and starts of 0 and 1")
        steps = row.get("kind") == "steps"
        yield LabelledStream(
            str(row.get("id", n)), [_unit(u, step=steps) for u in units], [int(s) for s in starts]
        )


def _unit(raw: Mapping[str, Any], *, step: bool) -> LabelledUnit:
    text = str(raw.get("text", ""))
    masked = "" if text.strip() == "UNANSWERABLE" else text  # the mark of one source that leaks its switches
    at = unit_time(raw.get("epoch", raw.get("time")))
    return LabelledUnit(
        str(raw.get("speaker", "agent")),
        masked or "…",
        at,
        raw.get("location"),
        step,
        raw.get("action"),
        tuple(str(one) for one in raw.get("objects") or ()),
    )


def unit_time(value: object) -> datetime | None:
    """Read a unit's time: ISO 8601, epoch seconds, or a recording's start plus seconds; else None.

    >>> unit_time("P01-20240202-110250+9.5").isoformat()
    '2024-02-02T11:02:59.500000+00:00'
    >>> unit_time(3) is None, unit_time("09:14") is None
    (True, True)
    """
    if (isinstance(value, int | float) and value < 1e8) or value is None:
        return None  # a count of steps is an order, not a time
    recording = RECORDING.match(str(value))
    if recording:
        day, clock, seconds = recording.groups()
        start = datetime.strptime(day + clock, "%Y%m%d%H%M%S").replace(tzinfo=UTC)
        return start + timedelta(seconds=float(seconds))
    try:
        return read_time(value).at
    except InvalidInput:
        return None
