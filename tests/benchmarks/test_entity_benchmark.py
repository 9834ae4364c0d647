"""The benchmark of mentions on a little labelled folder; the committed labels hold no text."""

import gzip
import json
from pathlib import Path

from benchmarks import entity_quality

TEXT = "We met Anna in Paris. Then home."
ROWS = [
    {"file": "a.jsonl.gz", "case": 0, "message": 0, "begin": 0, "end": None, "half": half,
     "mentions": [{"start": 7, "end": 11, "type": "person"}, {"start": 15, "end": 20, "type": "place", "alt": "person"}],
     "optional": [{"start": 27, "end": 31, "type": "place"}]}
    for half in ("dev", "frozen")
]  # fmt: skip


def folder(path: Path) -> Path:
    with gzip.open(path / "a.jsonl.gz", "wt", encoding="utf-8") as file:
        file.write(json.dumps({"messages": [{"text": TEXT}]}) + "\n")
    (path / "labels.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    return path


def test_one_half_is_scored_and_the_figures_are_written(tmp_path: Path, capsys: object) -> None:
    data = folder(tmp_path)
    entity_quality.main(
        ["--data", str(data), "--labels", str(data / "labels.jsonl"), "--half", "dev", "--out", str(tmp_path)]
    )
    figures = json.loads((tmp_path / "entities.json").read_text(encoding="utf-8"))["dev"]
    assert figures["messages"] == 1
    assert figures["exact"]["all"]["f1"] == 1.0


def test_the_committed_labels_hold_places_and_no_text() -> None:
    known = {"file", "case", "message", "begin", "end", "mentions", "optional", "half"}
    halves = set()
    for line in entity_quality.LABELS.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        halves.add(row["half"])
        assert set(row) == known
        assert all(
            set(span) <= {"start", "end", "type", "alt"} for span in (*row["mentions"], *row["optional"])
        )
    assert halves == set(entity_quality.HALVES)
