"""Two checkouts beside each other, by turns: `python -m benchmarks.pairs OLD NEW [--rounds 5] [--data DIR]`.

Each runs in a process of its own, on the same texts with vectors by look-up, so that what is measured is ours
alone. Figures are milliseconds of processor time (a busy machine lengthens both); ratios are medians of the
rounds' own, new by old. `beside work` alone is by the clock: how long a search takes while later work runs.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from benchmarks.provenance import interpreter
from benchmarks.speed import Deferring, Spent, fresh, timed
from benchmarks.synthetic import Vocabulary, WordVectors, conversation, questions, real_texts
from benchmarks.users import USER, mine
from episodic_agent.wiring import Memory

WARM, SINGLE = 100, 200  # messages before those that are timed one by one, and those
HELD = 1_000  # observations that are searched
GIVEN = 2_000  # messages of a made-up conversation
ASKED = 100
LONGEST = 20.0  # seconds that searches beside work go on


class Paths:
    """What is measured, each by its name in `MEASURED`."""

    def __init__(self, data: Path) -> None:
        real = real_texts(data, WARM + SINGLE + HELD)
        texts = next(iter(real.values()), [])
        vocabulary = Vocabulary.of(m["content"] for messages in real.values() for m in messages)
        vocabulary = vocabulary if vocabulary.words else Vocabulary(["word", "other"], [2, 1], [8])
        self.messages = texts or conversation(vocabulary, WARM + SINGLE + HELD)
        self.made = conversation(vocabulary, GIVEN)
        self.asked = questions(self.messages, ASKED)
        self.embedder = WordVectors(vocabulary)
        self.embedder.embed([*(m["content"] for m in (*self.messages, *self.made)), *self.asked])

    def _singly(self, kind: type[Memory]) -> float:
        with fresh() as path, kind.open(path, embedder=self.embedder, resume=False) as memory:
            add = partial(memory.add, USER) if isinstance(memory, Deferring) else mine(memory).add
            spent = [timed(partial(add, message)) for message in self.messages[: WARM + SINGLE]]
        return 1000 * statistics.median([one.processor for one in spent[WARM:]])

    def acknowledged(self) -> float:
        """One message with its vector and boundaries, later work left."""
        return self._singly(Deferring)

    def added(self) -> float:
        """One message and what follows from it at once."""
        return self._singly(Memory)

    def given(self) -> float:
        """A message of an import, titles, summaries and facts included."""
        with fresh() as path, Memory.open(path, embedder=self.embedder, resume=False) as memory:
            return 1000 * timed(lambda: mine(memory).add(self.made, thread="made")).processor / GIVEN

    def search(self) -> float:
        """One search in a thousand observations."""
        with fresh() as path, self._held(path) as memory:
            return 1000 * statistics.median([one.processor for one in self._searches(memory)])

    def beside_work(self) -> float:
        """One search, by the clock, while later work of another user runs in the process."""
        with fresh() as path, self._held(path) as memory:
            memory.user("bo", new=True).add(self.made, thread="made", wait=False)
            spent: list[Spent] = []
            began = time.perf_counter()
            while memory._deps.store.waiting() and time.perf_counter() - began < LONGEST:
                spent += self._searches(memory)
            return 1000 * statistics.median([one.wall for one in spent])

    def _held(self, path: Path) -> Memory:
        memory = Memory.open(path, embedder=self.embedder, resume=False)
        mine(memory).add(self.messages[:HELD], thread="held")
        mine(memory).flush()
        self._searches(memory)
        return memory

    def _searches(self, memory: Memory) -> Sequence[Spent]:
        return [timed(partial(mine(memory).search, question)) for question in self.asked]


MEASURED: dict[str, Callable[[Paths], float]] = {
    "acknowledged": Paths.acknowledged,
    "added": Paths.added,
    "given": Paths.given,
    "search": Paths.search,
    "beside work": Paths.beside_work,
}


class Side:
    """One checkout, which measures what it is asked for."""

    def __init__(self, tree: Path, data: Path) -> None:
        # the scripts are these of here; what they measure is the tree's
        here = str(Path(__file__).parents[1])
        environment = {**os.environ, "PYTHONPATH": f"{tree / 'src'}:{here}", "OPENBLAS_NUM_THREADS": "1"}
        command = [interpreter(), "-m", "benchmarks.pairs", "--serve", "--data", str(data)]
        self._process = subprocess.Popen(
            command, cwd=here, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, name: str) -> float:
        """Return a figure."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(name, file=self._process.stdin, flush=True)
        return float(json.loads(self._process.stdout.readline()))


def beside(sides: Sequence[Side], name: str, rounds: int) -> dict[str, float]:
    """Return the medians of both sides and of their ratios; each round begins with the other one."""
    rows = []
    for turn in range(rounds + 1):
        order = (0, 1) if turn % 2 else (1, 0)
        figures = {side: sides[side].ask(name) for side in order}
        if turn:  # the first round reads and builds what lasts
            rows.append((figures[0], figures[1]))
    old, new, ratio = (
        statistics.median(values)
        for values in zip(*[(one, other, other / one) for one, other in rows], strict=True)
    )
    return {"old": round(old, 3), "new": round(new, 3), "ratio": round(ratio, 3)}


def main() -> None:
    """Measure two trees, or serve as one of them."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pairs", description=__doc__)
    parser.add_argument("trees", nargs="*", type=Path, help="two checkouts, the old one first")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default=",".join(MEASURED))
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        paths = Paths(options.data)
        for line in sys.stdin:
            print(json.dumps(MEASURED[line.strip()](paths)), flush=True)
        return
    sides = [Side(tree.resolve(), options.data.resolve()) for tree in options.trees]
    for name in options.only.split(","):
        print(name, beside(sides, name, options.rounds), flush=True)


if __name__ == "__main__":
    main()
