"""Events that wait to be kept: a private file each, in the order they came, until the memory has them."""

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from episodic_agent import private
from episodic_agent.faces.hooks.events import AgentEvent

FOLDER: Final = "hooks"  # in the cache folder
LOG: Final = "hooks.log"
OPENING: Final = "opening"  # in a spool's folder: the options that open the memory its events wait for
LONGEST_LOG: Final = 100_000  # bytes; a longer one begins anew


class Spool:
    """The events of one memory and user that wait, in a folder of their own."""

    def __init__(self, folder: Path, opening: Sequence[str]) -> None:
        """Take the options that open the memory and name the user, for whoever asks what waits."""
        self.folder = folder
        self.opening = [*opening]

    def put(self, event: AgentEvent, order: int) -> None:
        """Put an event down; `order` is when it came, in nanoseconds. It is there whole or not at all."""
        private.make_folder(self.folder)
        if not (self.folder / OPENING).exists():
            _write(self.folder / OPENING, json.dumps(self.opening))
        _write(self.folder / f"{order:020d}-{os.getpid()}.json", json.dumps(asdict(event)))

    def waiting(self) -> Iterator[tuple[Path, AgentEvent]]:
        """Yield what waits, the first one first, with its file; another process may have taken some."""
        for path in sorted(self.folder.glob("*.json")):
            try:
                event = AgentEvent(**json.loads(path.read_bytes()))
            except FileNotFoundError:
                continue
            except (ValueError, TypeError):  # of another version, or damaged: nobody can keep it
                path.unlink(missing_ok=True)
                continue
            yield path, event


@dataclass(frozen=True, slots=True)
class WaitingEvents:
    """How many events wait in a folder, and the options that open their memory: () where none are known."""

    folder: Path
    count: int
    opening: Sequence[str]


def waiting_everywhere(cache: Path) -> list[WaitingEvents]:
    """Return what waits for each memory and user, by folder."""
    places = []
    for folder in sorted(path for path in (cache / FOLDER).glob("*") if path.is_dir()):
        if count := sum(1 for _ in folder.glob("*.json")):
            places.append(WaitingEvents(folder, count, _opening(folder)))
    return places


def _opening(folder: Path) -> Sequence[str]:
    try:
        words = json.loads((folder / OPENING).read_bytes())
    except (OSError, ValueError):  # of another version, or damaged
        return ()
    return tuple(map(str, words)) if isinstance(words, list) else ()


def _write(path: Path, text: str) -> None:
    """Write a file at once or not at all."""
    fresh = path.with_name(f"{path.name}.{os.getpid()}.new")
    with private.opened(fresh) as file:
        file.write(text.encode())
    fresh.replace(path)


def log_error(cache: Path, line: str) -> None:
    """Append a line to the log of hooks, which does not grow beyond a bound."""
    path = cache / FOLDER / LOG
    private.make_folder(path.parent)
    if path.exists() and path.stat().st_size > LONGEST_LOG:
        path.unlink()
    private.create(path)
    with path.open("a", encoding="utf-8") as file:
        file.write(line + "\n")


def last_error(cache: Path) -> str:
    """Return the last line of the log of hooks; "" where there is none."""
    path = cache / FOLDER / LOG
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return lines[-1] if lines else ""
