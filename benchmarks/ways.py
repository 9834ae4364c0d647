"""How far a call wanders: files of ours entered, moves between them, and transactions, by a profiled call."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any

from benchmarks.provenance import ROOT
from episodic_agent.wiring import Memory

SOURCE = str(ROOT / "src" / "episodic_agent") + "/"


class Way:
    """What one call enters: files in the order of their first entry."""

    def __init__(self) -> None:
        self.files: dict[str, int] = {}
        self.moves = 0
        self.transactions = 0
        self._last = ""

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        """Take one event of `sys.setprofile`."""
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(SOURCE) or code.co_name == "<module>":
            return
        file = code.co_filename.removeprefix(SOURCE)
        self.files[file] = self.files.get(file, 0) + 1
        self.moves += file != self._last
        self._last = file
        self.transactions += code.co_qualname == "ScopeTransaction.__init__"


def way_of(call: Callable[[], object]) -> Way:
    """Return where a call goes on this thread."""
    way = Way()
    sys.setprofile(way)
    try:
        call()
    finally:
        sys.setprofile(None)
    return way


def measure(*, quick: bool = False) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (key, figures) of everyday calls on a small memory, each made once before it is counted."""
    with TemporaryDirectory(prefix="episodic-") as folder:
        path = Path(folder) / "memory.db"
        with Memory.open(path, embedder="hashing", resume=False) as memory:
            ana = memory.user("ana", new=True)
            calls: dict[str, Callable[[], object]] = {
                "add, one message": lambda: ana.add("Ana moves to Lisbon in May"),
                "search": lambda: ana.search("where does Ana move?"),
                "episodes": ana.episodes.list,
            }
            for _ in range(2):  # nothing of what is loaded or built at a first use
                for call in calls.values():
                    call()
            for key, call in calls.items():
                way = way_of(call)
                yield key, {"files": len(way.files), "moves": way.moves, "transactions": way.transactions}


if __name__ == "__main__":
    for name, row in measure():
        print(name, row)
