"""How well recalled text is recognised when it comes back: `python -m benchmarks.echo_quality`.

Each case is told to a memory of its own: what was said a week ago in another thread, then the message. One
half is for development; the frozen half is run to judge, never to tune, and only when it is named. `--cost`
measures what looking costs an `add`, the guard and a memory without it in turns.
"""

import argparse
import itertools
import json
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.provenance import provenance
from benchmarks.results import merge
from episodic_agent import Memory
from episodic_agent.core.echo import echo_of, heard
from episodic_agent.engine.evaluate.cases import digest
from episodic_agent.engine.ingest import Incoming, Ingest
from episodic_agent.schemas import Observation, Scope

HERE = Path(__file__).parent
CASES = HERE / "cases" / "echoes.jsonl"
RESULTS = HERE / "results"
HALVES = ("dev", "frozen")
START = datetime(2026, 3, 2, 10, tzinfo=UTC)
Case = Mapping[str, Any]


def load(half: str) -> list[Case]:
    """Return the cases of one half."""
    rows = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]
    return [row for row in rows if row["half"] == half]


def told(case: Case, folder: Path, *, recalls: bool) -> Observation:
    """Tell a memory the case and return its message as it is kept.

    With `recalls` the memory is searched before, in the same process, as an agent does that then pastes.
    """
    with Memory.open(folder / f"{case['id']}.db", embedder="none", clock=lambda: START) as memory:
        for n, (actor, text) in enumerate(case["memory"]):
            at = START + timedelta(seconds=30 * n)
            memory.add({"role": actor, "content": text}, thread="earlier", timestamp=at)
        if recalls and case["memory"]:
            memory.search(" ".join(case["memory"][0][1].split()[:6]), now=START + timedelta(days=7))
        message = {"role": case["role"], "content": case["text"]}
        if case["name"]:
            message["name"] = case["name"]
        (receipt,) = memory.add(message, thread="later", timestamp=START + timedelta(days=7))
        (card,) = memory.episodes(thread="later")
        (stored,) = [o for o in memory.messages(card.episode_id) if o.id == receipt.id]
        return stored


def verdict(message: Observation, new: str) -> str:
    """Return what the memory takes a message for: `echo`, `part` (with its new words kept) or `new`."""
    echo = echo_of(message.extras, message.text)
    if echo is None:
        return "new"
    if echo.whole:
        return "echo"
    return "part" if new in heard(message).text else "cut"


def measure(half: str, *, recalls: bool) -> tuple[dict[str, Any], list[str]]:
    """Score one half; return its row and a line for each case that went wrong.

    `precision` is of what was marked, `recall` of what only or partly repeats; a case counts as found where
    exactly the right part of it is left.
    """
    cases, found = load(half), Counter[tuple[str, str]]()
    wrong: list[str] = []
    with tempfile.TemporaryDirectory(prefix="episodic-") as folder:
        for case in cases:
            got = verdict(told(case, Path(folder), recalls=recalls), case["new"])
            found[case["label"], got] += 1
            if got != case["label"]:
                wrong.append(f"{case['id']} {case['label']} -> {got}: {case['text'][:70]!r} {case['note']}")
    marked = sum(n for (_, got), n in found.items() if got != "new")
    right = sum(n for (label, got), n in found.items() if label == got != "new")
    echoes = sum(n for (label, _), n in found.items() if label != "new")
    row = {
        "cases": len(cases),
        "precision": round(right / marked, 4) if marked else 0.0,
        "recall": round(right / echoes, 4),
        "new_kept": round(
            found["new", "new"] / sum(n for (label, _), n in found.items() if label == "new"), 4
        ),
        "verdicts": {f"{label} as {got}": n for (label, got), n in sorted(found.items())},
        "sha256": digest(CASES),
    }
    return row, wrong


def chat(count: int) -> Iterator[dict[str, str]]:
    """Yield messages of a user and an assistant in turns, of a few dozen words, none like another."""
    subjects = [
        "garden",
        "roof",
        "boat",
        "bakery",
        "piano",
        "passport",
        "orchard",
        "scooter",
        "library",
        "tunnel",
        "harvest",
        "ladder",
    ]
    acts = [
        "paint",
        "repair",
        "borrow",
        "measure",
        "photograph",
        "insure",
        "polish",
        "sketch",
        "deliver",
        "rebuild",
        "inspect",
        "mend",
    ]
    for n in range(count):
        a, b = subjects[n % 12], acts[(n // 12 + n) % 12]
        words = f"About the {a} number {n}: I would {b} it on day {n % 31} with {n * 7919 % 10_007} screws"
        place = n * 104_729 % 9_973
        more = f", then {acts[n * 5 % 12]} the {subjects[n * 7 % 12]} at place {place} before noon."
        yield {"role": "user" if n % 2 == 0 else "assistant", "content": words + more * (1 + n % 3)}


def cost(count: int, rounds: int, embedder: str) -> dict[str, Any]:
    """Return what the guard costs an ingest: seconds a message with and without it, told in turns."""
    seconds: dict[str, list[float]] = {"with": [], "without": []}
    messages = list(chat(count))
    with tempfile.TemporaryDirectory(prefix="episodic-") as folder:
        for n, name in itertools.product(range(rounds), seconds):
            with Memory.open(Path(folder) / f"{n}-{name}.db", embedder=embedder) as memory:
                guard = Ingest._listened
                if name == "without":
                    Ingest._listened = _deaf  # type: ignore[method-assign,assignment]
                try:
                    started = time.process_time()
                    for start in range(0, count, 256):
                        memory.add(messages[start : start + 256], thread="t", timestamp=START, wait=False)
                    seconds[name].append((time.process_time() - started) / count)
                finally:
                    Ingest._listened = guard  # type: ignore[method-assign]
    middle = {name: statistics.median(found) for name, found in seconds.items()}
    return {
        "messages": count,
        "embedder": embedder,
        "rounds": rounds,
        "microseconds_with": round(middle["with"] * 1e6, 1),
        "microseconds_without": round(middle["without"] * 1e6, 1),
        "share": round(middle["with"] / middle["without"] - 1, 4),
    }


def _deaf(_: Ingest, scope: Scope, new: Sequence[Incoming], before: Sequence[Incoming]) -> list[Incoming]:
    return list(new)


def main(arguments: Sequence[str] | None = None) -> int:
    """Score the half that is named and keep its row."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.echo_quality", description=__doc__)
    parser.add_argument("--half", choices=HALVES, default="dev")
    parser.add_argument("--elsewhere", action="store_true", help="recall in another process than the adding")
    parser.add_argument("--cost", action="store_true", help="measure the cost instead")
    parser.add_argument("--embedder", default="hashing")
    parser.add_argument("--messages", type=int, default=4096)
    parser.add_argument("--output", type=Path, default=RESULTS, help="folder of results")
    given = list(sys.argv[1:] if arguments is None else arguments)
    options = parser.parse_args(given)
    key, wrong = options.half, list[str]()
    if options.cost:
        key, row = f"cost {options.embedder}", cost(options.messages, 5, options.embedder)
    else:
        key += ", recalled elsewhere" if options.elsewhere else ""
        row, wrong = measure(options.half, recalls=not options.elsewhere)
    merge(options.output, "echoes", {key: {**row, **provenance(given, CASES)}})
    print("\n".join([*wrong, json.dumps(row, indent=1)]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
