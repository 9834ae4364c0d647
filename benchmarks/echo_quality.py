"""How well recalled text is recognised when it comes back: `python -m benchmarks.echo_quality`.

Each case is told to a memory of its own: what was said a week ago in another thread, then the message. One
half is for development; the frozen half is run to judge, never to tune, and only when it is named. `--cost`
measures what looking costs an ingest of real messages.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.provenance import provenance
from benchmarks.results import merge
from benchmarks.speed import fresh
from benchmarks.synthetic import real_texts
from benchmarks.users import mine
from episodic_agent import Memory
from episodic_agent.core.echo import echo_of, own_words
from episodic_agent.engine.evaluate.cases import digest
from episodic_agent.engine.ingest.appending import Ingest, Prepared
from episodic_agent.schemas import Observation, Scope

HERE = Path(__file__).parent
CASES = HERE / "cases" / "echoes.jsonl"
RESULTS = HERE / "results"
HALVES = ("dev", "frozen")
COST_ROUNDS = 3
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
            mine(memory).add({"role": actor, "content": text}, thread="earlier", timestamp=at)
        if recalls and case["memory"]:
            mine(memory).search(" ".join(case["memory"][0][1].split()[:6]), now=START + timedelta(days=7))
        message = {"role": case["role"], "content": case["text"]}
        if case["name"]:
            message["name"] = case["name"]
        (receipt,) = mine(memory).add(message, thread="later", timestamp=START + timedelta(days=7))
        (card,) = mine(memory).episodes.list(thread="later")
        (stored,) = [o for o in mine(memory).episodes.messages(card.episode_id) if o.id == receipt.id]
        return stored


def verdict(message: Observation, new: str) -> str:
    """Return what the memory takes a message for: `echo`, `part` (with its new words kept) or `new`."""
    echo = echo_of(message.extras, message.text)
    if echo is None:
        return "new"
    if echo.is_complete:
        return "echo"
    return "part" if new in own_words(message).text else "cut"


def measure(half: str, *, recalls: bool) -> tuple[dict[str, Any], list[str]]:
    """Score one half; return its row and a line for each case that went wrong.

    `precision` is of what was marked, `recall` of what only or partly repeats; a case counts as found where
    exactly the right part of it is left.
    """
    cases, results = load(half), Counter[tuple[str, str]]()
    wrong: list[str] = []
    with tempfile.TemporaryDirectory(prefix="episodic-") as folder:
        for case in cases:
            got = verdict(told(case, Path(folder), recalls=recalls), case["new"])
            results[case["label"], got] += 1
            if got != case["label"]:
                wrong.append(f"{case['id']} {case['label']} -> {got}: {case['text'][:70]!r} {case['note']}")
    marked = sum(n for (_, got), n in results.items() if got != "new")
    right = sum(n for (label, got), n in results.items() if label == got != "new")
    echoes = sum(n for (label, _), n in results.items() if label != "new")
    row = {
        "cases": len(cases),
        "precision": round(right / marked, 4) if marked else 0.0,
        "recall": round(right / echoes, 4),
        "new_kept": round(
            results["new", "new"] / sum(n for (label, _), n in results.items() if label == "new"), 4
        ),
        "verdicts": {f"{label} as {got}": n for (label, got), n in sorted(results.items())},
        "sha256": digest(CASES),
    }
    return row, wrong


def cost(data: Path, source: str, embedder: str, count: int) -> dict[str, Any]:
    """Return what the guard costs an ingest of real messages: processor time of a message, and shares of it.

    `share` is what the guard's own calls take, of the same run without them: of `add` alone, and of the whole
    ingest with its titles and summaries. `told_in_turns` compares runs with it and without, which a machine
    that others use blurs.
    """
    texts = real_texts(data, count, (source,))[source]
    first = texts[0]["name"]
    messages = [
        {"role": "user" if m["name"] == first else "assistant", "content": m["content"]} for m in texts
    ]
    runs: dict[bool, list[_Run]] = {True: [], False: []}
    for n in range(2 * COST_ROUNDS):
        with patched(guarded=n % 2 == 0) as spent, fresh() as path:
            runs[n % 2 == 0].append(_run(path, messages, embedder, spent))
    with_it, without = runs[True], runs[False]
    return {
        "messages": len(messages),
        "letters_each": round(statistics.mean(len(m["content"]) for m in messages)),
        "rounds": COST_ROUNDS,
        "guard_microseconds": round(1e6 * statistics.median(r.guard for r in with_it) / len(messages), 1),
        "add_microseconds": round(
            1e6 * statistics.median(r.add - r.guard for r in with_it) / len(messages), 1
        ),
        "share_of_add": round(statistics.median(r.guard / (r.add - r.guard) for r in with_it), 4),
        "share_of_ingest": round(statistics.median(r.guard / (r.whole - r.guard) for r in with_it), 4),
        "told_in_turns": round(min(r.whole for r in with_it) / min(r.whole for r in without) - 1, 4),
        "load": round(os.getloadavg()[0], 1),
    }


class _Run(NamedTuple):
    """Processor seconds of one ingest: of `add`, with the later work, and of the guard in it."""

    add: float
    whole: float
    guard: float


def _run(path: Path, messages: Sequence[Mapping[str, Any]], embedder: str, spent: list[float]) -> _Run:
    with Memory.open(path, embedder=embedder) as memory:
        started = time.process_time()
        mine(memory).add(messages, thread="t", timestamp=START, wait=False)
        added = time.process_time()
        memory.jobs.run()
        return _Run(added - started, time.process_time() - started, sum(spent))


@contextmanager
def patched(*, guarded: bool) -> Iterator[list[float]]:
    """Time the guard, or take it away; yield the list of what its calls took in their own thread."""
    guard, spent = Ingest._listened, list[float]()

    def timed(
        self: Ingest, scope: Scope, new: Sequence[Prepared], before: Sequence[Prepared]
    ) -> list[Prepared]:
        started = time.thread_time()
        heard_of = guard(self, scope, new, before) if guarded else list(new)
        spent.append(time.thread_time() - started)
        return heard_of

    Ingest._listened = timed  # type: ignore[method-assign]
    try:
        yield spent
    finally:
        Ingest._listened = guard  # type: ignore[method-assign]


def main(arguments: Sequence[str] | None = None) -> int:
    """Score the half that is named and keep its row."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.echo_quality", description=__doc__)
    parser.add_argument("--half", choices=HALVES, default="dev")
    parser.add_argument("--elsewhere", action="store_true", help="recall in another process than the adding")
    parser.add_argument("--cost", action="store_true", help="measure the cost instead")
    parser.add_argument("--embedder", default="hashing")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder of labelled files")
    parser.add_argument("--source", default="ret_realtalk", help="its messages, with --cost")
    parser.add_argument("--messages", type=int, default=1000)
    parser.add_argument("--output", type=Path, default=RESULTS, help="folder of results")
    values = list(sys.argv[1:] if arguments is None else arguments)
    options = parser.parse_args(values)
    key, wrong = options.half, list[str]()
    if options.cost:
        key = f"cost {options.source} {options.embedder}"
        row = cost(options.data, options.source, options.embedder, options.messages)
    else:
        key += ", recalled elsewhere" if options.elsewhere else ""
        row, wrong = measure(options.half, recalls=not options.elsewhere)
    merge(options.output, "echoes", {key: {**row, **provenance(values, CASES)}})
    print("\n".join([*wrong, json.dumps(row, indent=1)]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
