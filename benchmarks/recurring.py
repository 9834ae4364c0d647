"""What comes again, on the days it is asked for: `python -m benchmarks.recurring [--embedder NAME]`.

The cases (`benchmarks/cases/recurring.jsonl`) are people's weeks, in seven languages: habits, what moves,
skips or ends them, and talk that only looks like one. They were written before the code was, by a hand that
never saw it; `frozen` ones were run, never read.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.provenance import ROOT
from benchmarks.users import mine
from episodic_agent import Memory
from episodic_agent.core.recall.due import MOST_DAYS
from episodic_agent.protocols import Embedder
from episodic_agent.wiring import load_settings, make_embedder

CASES = ROOT / "benchmarks" / "cases" / "recurring.jsonl"
HALVES = ("dev", "frozen")


def read_cases(path: Path = CASES) -> list[dict[str, Any]]:
    """Read the cases, in the order of the file."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def moment(written: str) -> datetime:
    """Return a time that a case writes without a zone."""
    return datetime.fromisoformat(written).replace(tzinfo=UTC)


def answers(
    case: Mapping[str, Any], embedder: Embedder | None
) -> Iterator[tuple[Mapping[str, Any], set[int]]]:
    """Yield each question of a case, with the places of the messages that a context tells it.

    A question is asked when what was said before it is in the memory, and nothing after.
    """
    with Memory.open(":memory:", embedder=embedder or "none") as memory:
        user = mine(memory)
        said = [(moment(one["at"]), place) for place, one in enumerate(case["messages"])]
        asked = [(moment(one["at"]), one) for one in case["asks"]]
        for at, ask in sorted(asked, key=lambda one: one[0]):
            while said and said[0][0] < at:
                time, place = said.pop(0)
                user.add(case["messages"][place]["text"], timestamp=time, channel="chat", id=str(place))
            hits = user.search(ask["text"], now=at, limit=MOST_DAYS)
            yield ask, {int(one.observation.external_id) for one in hits.observations} if hits.hits else set()


def measure(embedder: Embedder | None, half: str) -> dict[str, float]:
    """Return the figures of a half: questions answered rightly, what is told of what is due and is not."""
    counts: Counter[str] = Counter()
    for case in read_cases():
        if case["half"] != half:
            continue
        for ask, told in answers(case, embedder):
            due, wrong = set(ask["due"]), set(ask["not"])
            counts["asked"] += 1
            counts["right"] += due <= told and told.isdisjoint(wrong)
            counts["due"] += len(due)
            counts["due_told"] += len(due & told)
            counts["wrong_told"] += len(wrong & told)
    told_all = counts["due_told"] + counts["wrong_told"]
    return {
        **counts,
        "recall": round(counts["due_told"] / counts["due"], 3),
        "precision": round(counts["due_told"] / told_all, 3) if told_all else 0.0,
    }


def main() -> int:
    """Print the figures of both halves."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--embedder", default="auto", help="of the memory; none: by words alone")
    options = parser.parse_args()
    embedder = make_embedder(options.embedder, load_settings(), lambda *_, **__: None)
    for half in HALVES:
        print(half, json.dumps(measure(embedder, half)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
