"""Events that wait to be kept: a private file each, in the order they came, until the memory has them."""

import json
import os
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Final

from episodic_agent import private
from episodic_agent.faces.hooks.events import AgentEvent

FOLDER: Final = "hooks"  # in the cache folder
LOG: Final = "hooks.log"
LONGEST_LOG: Final = 100_000  # bytes; a longer one begins anew


class Spool:
    """The events of one memory and user that wait, in a folder of their own."""

    def __init__(self, cache: Path, name: str) -> None:
        self.folder = cache / FOLDER / name

    def put(self, event: AgentEvent, order: int) -> None:
        """Put an event down; `order` is when it came, in nanoseconds. It is there whole or not at all."""
        private.make_folder(self.folder)
        path = self.folder / f"{order:020d}-{os.getpid()}.json"
        fresh = path.with_suffix(".new")
        with private.opened(fresh) as file:
            file.write(json.dumps(asdict(event)).encode())
        fresh.replace(path)

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

    def count(self) -> int:
        """Return how many events wait."""
        return sum(1 for _ in self.folder.glob("*.json"))


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
