"""`evaluate threads`: the form of labelled channels, and figures of a channel made up for the purpose."""

import gzip
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from benchmarks import tables, thread_quality
from episodic_agent.core.links.policies import link_policy
from episodic_agent.engine.evaluate.threads import channels, evaluate_file
from episodic_agent.errors import InvalidInput
from episodic_agent.providers.embedders.hashing import HashingEmbedder

POLICY = link_policy("link-2026-12")


def unit(number: int, speaker: str, text: str, time: str = "09:00") -> dict[str, Any]:
    return {"id": number, "speaker": speaker, "text": text, "time": time, "scored": True, "system": False}


def row(split: str = "dev") -> dict[str, Any]:
    """Two people helped at once, a line that does not count, and one of the system."""
    units = [
        unit(0, "anna", "how do I mount a usb stick?") | {"scored": False},
        unit(1, "bert", "my sound card is silent", "09:01"),
        unit(2, "carl", "anna: what does dmesg say?", "09:02"),
        {"id": 3, "text": "=== emil has joined", "scored": True, "system": True},
        unit(4, "dora", "bert: is it muted?", "09:03"),
    ]
    return {
        "kind": "thread",
        "id": "c",
        "split": split,
        "units": units,
        "links": [[0, 0], [1, 1], [2, 0], [3, 3], [4, 1]],
        "threads": [[1, 4], [2], [3]],
    }


def write(path: Path, *values: Any) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in values), encoding="utf-8")
    return path


@pytest.mark.parametrize("embedder", [None, HashingEmbedder()])
def test_a_channel_read_aright_scores_one(tmp_path: Path, embedder: HashingEmbedder | None) -> None:
    path = write(tmp_path / "thr.jsonl", row())
    scores = evaluate_file(path, POLICY, embedder).as_json()
    assert (scores["streams"], scores["messages"]) == (1, 4)
    figures = ("link_precision", "link_recall", "link_f1", "scaled_vi", "one_to_one", "exact_f1")
    assert [scores[name] for name in figures] == [1.0] * len(figures)


def test_only_what_counts_is_judged_and_the_rest_is_heard(tmp_path: Path) -> None:
    (channel,) = channels(write(tmp_path / "thr.jsonl", row()))
    assert [line.id for line in channel.lines] == ["0", "1", "2", "4"]  # the system says nothing
    assert channel.scored == ["1", "2", "3", "4"]
    assert ("0", "0") not in channel.links
    assert ("2", "0") in channel.links


def test_training_files_are_left_out_unless_asked_for(tmp_path: Path) -> None:
    path = write(tmp_path / "thr.jsonl", row("train"), row(), {**row(), "split": None})
    assert evaluate_file(path, POLICY, None).report.streams == 2
    assert [evaluate_file(path, POLICY, None, split=s).report.streams for s in ("train", "all")] == [1, 3]
    only = write(tmp_path / "train.jsonl", row("train"))
    with pytest.raises(InvalidInput, match="--split all"):
        evaluate_file(only, POLICY, None)


def test_a_clock_without_a_date_goes_on_over_midnight_and_noon(tmp_path: Path) -> None:
    answers = row()
    for item, clock in zip(answers["units"], ("11:58", "12:01", "12:00", "", "01:30"), strict=True):
        item["time"] = clock
    (channel,) = channels(write(tmp_path / "thr.jsonl", answers))
    day = datetime(2000, 1, 1, tzinfo=UTC)
    assert [(line.at - day).total_seconds() / 60 for line in channel.lines] == [718, 721, 721, 810]
    dated = {**answers, "units": [{**u, "time": "2026-03-02T09:00:00Z"} for u in answers["units"]]}
    (other,) = channels(write(tmp_path / "dated.jsonl", dated))
    assert other.lines[0].at.isoformat() == "2026-03-02T09:00:00+00:00"


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"units": None}, "units"),
        ({"links": None}, "links"),
        ({"units": ["hello"]}, "objects with an id"),
        ({"links": [[1]]}, "pairs"),
    ],
)
def test_what_is_no_labelled_channel_is_refused(tmp_path: Path, change: dict[str, Any], problem: str) -> None:
    path = write(tmp_path / "thr.jsonl", row() | change)
    with pytest.raises(InvalidInput, match=problem):
        evaluate_file(path, POLICY, None)


def test_the_benchmark_makes_a_table(tmp_path: Path) -> None:
    (tmp_path / thread_quality.FILE).write_bytes(gzip.compress(json.dumps(row()).encode()))
    rows = dict(thread_quality.measure(tmp_path, HashingEmbedder()))
    assert {name: found["link_f1"] for name, found in rows.items()}[thread_quality.NAMES] == 1.0
    (tmp_path / "threads.json").write_text(json.dumps(rows), encoding="utf-8")
    made = tables.TABLES["threads"](tmp_path)
    assert [line.split(" | ")[0].strip("| ") for line in made.splitlines()[2:]] == sorted(
        rows, key=lambda name: -rows[name]["link_f1"]
    )
