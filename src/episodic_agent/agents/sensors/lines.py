"""Readings as JSON lines: a recording that is replayed, standard input, and the recorder that writes them."""

import gzip
import json
import os
import select
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Final

from episodic_agent.agents.perception.records import reading_as_json, reading_from_json
from episodic_agent.agents.sensors.counting import Notes, Say
from episodic_agent.agents.sensors.unity_frames import read_frame
from episodic_agent.errors import InvalidInput, SensorError
from episodic_agent.private import create
from episodic_agent.protocols import Sensor
from episodic_agent.schemas import Json, Reading

FORMAT: Final = "episodic-readings"
LOOK: Final = 0.2  # seconds between two looks at whether a silent input was closed
_STDIN: Final = 0  # its file descriptor
LONGEST_LINE: Final = 4_000_000  # characters; a line without end is no reading


class LinesSensor:
    """Readings from JSON lines: our own recordings, or a Unity scene's frames; told apart line by line."""

    def __init__(self, name: str, lines: Iterable[str], say: Say | None = None) -> None:
        self._name = name
        self._lines = lines
        self._notes = Notes(say)
        self._closed = False

    @property
    def name(self) -> str:
        """Return what the run is called after."""
        return self._name

    @property
    def counts(self) -> Mapping[str, int]:
        """Return what was noticed so far."""
        return self._notes.counts

    def __iter__(self) -> Iterator[Reading]:
        """Yield the readings; lines that cannot be read are counted, told and skipped."""
        for number, line in enumerate(self._lines, start=1):
            if self._closed:
                return
            if not line.strip():
                continue
            try:
                reading = read_line(line)
            except InvalidInput as error:
                self._notes.malformed(f"{self._name} line {number}", error)
                continue
            if reading is not None and self._notes.fresh(reading):
                yield reading

    def close(self) -> None:
        """Stop before the next line."""
        self._closed = True


def read_line(line: str) -> Reading | None:
    """Read one line; None for a recording's header. Raises InvalidInput for anything else.

    >>> read_line('{"number": 2, "place": "hall"}').number
    2
    """
    if len(line) > LONGEST_LINE:
        raise InvalidInput(f"the line is longer than {LONGEST_LINE:,} characters")
    try:
        raw = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"no JSON ({error})") from error
    if isinstance(raw, Mapping) and raw.get("format") == FORMAT:
        return None
    return read_frame(raw) if isinstance(raw, Mapping) and "frame_id" in raw else reading_from_json(raw)


class ReplaySensor(LinesSensor):
    """A file of recorded readings or frames, one JSON object a line; `.gz` is unpacked."""

    def __init__(self, path: Path, say: Say | None = None) -> None:
        if not path.is_file():
            raise SensorError(f"there is no recording {path}; `episodic run --record {path.name}` makes one")
        self._path = path
        super().__init__(path.name, self._read(), say)

    def _read(self) -> Iterator[str]:
        try:
            with _opened(self._path, "rt") as file:
                while line := file.readline(LONGEST_LINE + 1):  # packed, a line may be longer than the memory
                    yield line
                    while len(line) > LONGEST_LINE and not line.endswith("\n"):
                        line = file.readline(LONGEST_LINE + 1)
        except (OSError, EOFError) as error:
            raise SensorError(f"the recording {self._path} cannot be read any further: {error}") from error


class StandardInputSensor(LinesSensor):
    """Readings from standard input, which can be left while it is silent."""

    def __init__(self, say: Say | None = None) -> None:
        super().__init__("stdin", self._read(), say)

    def _read(self) -> Iterator[str]:
        # not the buffered file: a thread that waits inside it cannot be left when the process ends
        rest = b""
        while not self._closed:
            if not select.select([_STDIN], [], [], LOOK)[0]:
                continue
            chunk = os.read(_STDIN, 1 << 16)
            *lines, rest = (rest + chunk).split(b"\n")
            yield from (line.decode(errors="replace") for line in lines)
            if not chunk:
                break
            if len(rest) > LONGEST_LINE:
                raise SensorError(f"a line on standard input is longer than {LONGEST_LINE:,} bytes")
        yield rest.decode(errors="replace")


class RecordedSensor:
    """Another sensor whose readings are written to a file as they pass."""

    def __init__(self, inner: Sensor, path: Path) -> None:
        self._inner = inner
        self._path = path
        try:
            create(path)
            self._file = _opened(path, "wt")
        except OSError as error:
            raise InvalidInput(f"cannot record to {path}: {error.strerror or error}") from error
        self._write({"format": FORMAT, "version": 1, "sensor": inner.name})

    @property
    def name(self) -> str:
        """Return the inner sensor's name."""
        return self._inner.name

    @property
    def counts(self) -> Mapping[str, int]:
        """Return what the inner sensor noticed."""
        return self._inner.counts

    def __iter__(self) -> Iterator[Reading]:
        """Yield the inner sensor's readings, each written before it is passed on."""
        for reading in self._inner:
            self._write(reading_as_json(reading))
            yield reading

    def _write(self, line: Mapping[str, Json]) -> None:
        try:
            self._file.write(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n")
        except OSError as error:
            raise SensorError(f"recording to {self._path} failed: {error.strerror or error}") from error

    def close(self) -> None:
        """Finish the file and close the inner sensor."""
        with suppress(OSError):
            self._file.close()
        self._inner.close()


def _opened(path: Path, mode: str) -> IO[str]:
    # a damaged character costs its line, not the rest of the file
    if path.suffix == ".gz":
        return gzip.open(path, mode, encoding="utf-8", errors="replace")  # type: ignore[return-value]
    return path.open(mode, encoding="utf-8", errors="replace")
