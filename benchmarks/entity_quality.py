"""How well mentions are found on labelled messages: `python -m benchmarks.entity_quality --data FOLDER`.

The labels hold file names, places and character offsets, no text; the messages are read from the data
folder. One half of the labels is for development; the frozen half is run to judge, never to tune.
"""

import argparse
import gzip
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from benchmarks.results import merge
from episodic_agent.core.evaluation.entities import Labels, MentionScore, Span, score_mentions
from episodic_agent.core.language.mentions.reading import mentions
from episodic_agent.engine.evaluate.cases import digest

HERE = Path(__file__).parent
LABELS = HERE / "labels" / "mentions.jsonl"
HALVES = ("dev", "frozen")


@dataclass(frozen=True, slots=True)
class Labelled:
    """One labelled message: its text and what a reader marked in it."""

    text: str
    labels: Labels


def labelled(path: Path, data: Path, half: str) -> Iterator[Labelled]:
    """Yield the labelled messages of one half, with their texts from the data folder."""
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if row["half"] == half:
            text = _message(data / row["file"], row["case"], row["message"])[row["begin"] : row["end"]]
            yield Labelled(text, _labels(row))


def _labels(row: Mapping[str, Any]) -> Labels:
    spans = {_span(mention): mention.get("alt") for mention in row["mentions"]}
    also = {span: other for span, other in spans.items() if other}
    return Labels(tuple(spans), also, tuple(_span(mention) for mention in row["optional"]))


def _span(mention: Mapping[str, Any]) -> Span:
    return mention["start"], mention["end"], mention["type"]


def _message(path: Path, case: int, message: int) -> str:
    cases = _cases(path)[case]
    return str((cases.get("messages") or cases["units"])[message]["text"])


@lru_cache(maxsize=32)
def _cases(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def measure(cases: Sequence[Labelled]) -> dict[str, Any]:
    """Return precision, recall and F1 by kind, for exact and for overlapping spans, and the time spent."""
    if cases:
        mentions(cases[0].text)  # tables are compiled at the first call
    started = time.process_time()
    predicted = [[(m.start, m.end, m.kind) for m in mentions(case.text)] for case in cases]
    spent = time.process_time() - started
    pairs = list(zip((case.labels for case in cases), predicted, strict=True))
    characters = sum(len(case.text) for case in cases)
    return {
        "messages": len(cases),
        "labels": sum(len(case.labels.spans) for case in cases),
        "us_per_100_characters": round(1e8 * spent / max(characters, 1), 1),
        "exact": _as_json(score_mentions(pairs)),
        "overlap": _as_json(score_mentions(pairs, exact=False)),
    }


def _as_json(scores: Mapping[str, MentionScore]) -> dict[str, Any]:
    return {kind: score.as_json() for kind, score in scores.items()}


def table(figures: Mapping[str, Any]) -> str:
    """Return the figures as lines: kind, labels, precision, recall, F1 exact, F1 overlapping."""
    lines = [f"{'kind':14}{'labels':>7}{'P':>8}{'R':>8}{'F1':>8}{'F1 overlap':>12}"]
    for kind, row in figures["exact"].items():
        shares = "".join(f"{row[name]:8.3f}" for name in ("precision", "recall", "f1"))
        lines.append(f"{kind:14}{row['labels']:7}{shares}{figures['overlap'][kind]['f1']:12.3f}")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Score one half and print the figures; `--out` merges them into `entities.json`."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.entity_quality", description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--labels", type=Path, default=LABELS)
    parser.add_argument("--half", choices=HALVES, default="dev")
    parser.add_argument("--out", type=Path, help="folder of committed results")
    options = parser.parse_args(arguments)
    figures = measure(list(labelled(options.labels, options.data, options.half)))
    print(table(figures))
    print(f"{figures['messages']} messages, {figures['us_per_100_characters']} us per 100 characters")
    if options.out:
        merge(options.out, "entities", {options.half: {**figures, "labels_digest": digest(options.labels)}})


if __name__ == "__main__":
    main()
