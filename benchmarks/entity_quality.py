"""How well mentions are found on labelled messages: `python -m benchmarks.entity_quality --data FOLDER`.

The labels hold file names, places and character offsets, no text; the messages are read from the data
folder. A predicted span that only meets an optional label counts neither way; overlap pairs each label with
at most one prediction of its kind. One half of the labels is for development; the frozen half is run to
judge, never to tune.
"""

import argparse
import gzip
import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias

from benchmarks.results import merge
from episodic_agent.core.evaluation.retrieval import rounded
from episodic_agent.core.language.mentions.reading import mentions
from episodic_agent.engine.evaluate.cases import digest

HERE = Path(__file__).parent
LABELS = HERE / "labels" / "mentions.jsonl"
HALVES = ("dev", "frozen")


Span: TypeAlias = tuple[int, int, str]


@dataclass(frozen=True, slots=True)
class Labels:
    """Hold one text's labels: spans (start, end, kind), other kinds a label allows, and optional spans."""

    spans: tuple[Span, ...]
    also: Mapping[Span, str]
    optional: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class MentionScore:
    """Count labels found, labels missed and predictions that meet no label."""

    hits: int = 0
    missed: int = 0
    wrong: int = 0

    @property
    def precision(self) -> float:
        """Return the share of predictions that are right; 0 without predictions."""
        return self.hits / (self.hits + self.wrong) if self.hits else 0.0

    @property
    def recall(self) -> float:
        """Return the share of labels found; 0 without labels."""
        return self.hits / (self.hits + self.missed) if self.hits else 0.0

    @property
    def f1(self) -> float:
        """Return the harmonic mean of precision and recall."""
        total = 2 * self.hits + self.missed + self.wrong
        return 2 * self.hits / total if total else 0.0

    def as_json(self) -> dict[str, float | None]:
        """Return the figures for a result file."""
        values = {"precision": self.precision, "recall": self.recall, "f1": self.f1}
        return {**{name: rounded(value) for name, value in values.items()}, "labels": self.hits + self.missed}


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


def score_mentions(
    texts: Iterable[tuple[Labels, Sequence[Span]]], *, exact: bool = True
) -> dict[str, MentionScore]:
    """Return the score of each kind and of "all" over texts, given as (labels, predicted spans).

    `exact` asks for the same start and end; otherwise one shared character is enough. The kind must agree,
    or be the other one the label allows; such a hit counts for the label's kind.

    >>> labels = Labels(((0, 8, "place"), (12, 14, "number")), {}, ((20, 25, "time"),))
    >>> found = score_mentions([(labels, [(0, 8, "place"), (11, 14, "number"), (20, 25, "time")])])
    >>> found["place"].f1, found["number"].f1, found["all"].precision
    (1.0, 0.0, 0.5)
    """
    counts: dict[str, list[int]] = {}
    for labels, predicted in texts:
        _count(labels, predicted, exact, counts)
    scores = {kind: MentionScore(*numbers) for kind, numbers in sorted(counts.items())}
    totals = [sum(numbers[place] for numbers in counts.values()) for place in range(3)]
    return {**scores, "all": MentionScore(*totals)}


def _count(labels: Labels, predicted: Sequence[Span], exact: bool, counts: dict[str, list[int]]) -> None:
    unused = list(dict.fromkeys(predicted))
    for label in labels.spans:
        hit = next((one for one in unused if _meets(label, one, labels, exact)), None)
        if hit is not None:
            unused.remove(hit)
        counts.setdefault(label[2], [0, 0, 0])[0 if hit is not None else 1] += 1
    for items in unused:
        if not any(_overlap(items, other) for other in labels.optional):
            counts.setdefault(items[2], [0, 0, 0])[2] += 1


def _meets(label: Span, item: Span, labels: Labels, exact: bool) -> bool:
    if item[2] not in {label[2], labels.also.get(label)}:
        return False
    return item[:2] == label[:2] if exact else _overlap(label, item)


def _overlap(item: Span, other: Span) -> bool:
    return item[0] < other[1] and other[0] < item[1]
