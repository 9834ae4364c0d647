"""The benchmark of facts on a little labelled file; the halves are kept apart."""

import json
from pathlib import Path
from typing import Any

from benchmarks import fact_quality

LABEL = {"subject": "Tom", "category": "identity", "relation": "lives_in", "value": "Bonn", "polarity": True, "fact": "Tom lives in Bonn", "start": 0, "end": 15}  # fmt: skip


def row(name: str, text: str, *facts: dict[str, Any], half: str = "dev", **more: Any) -> dict[str, Any]:
    plain = {
        "id": name,
        "lang": "en",
        "speaker": "Tom",
        "to": "assistant",
        "text": text,
        "at": "2026-03-02T09:00:00Z",
    }
    return {**plain, "facts": list(facts), "kind": "plain", "half": half, **more}


def figures(folder: Path, *rows: dict[str, Any], half: str = "dev") -> dict[str, Any]:
    path = folder / "facts.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in rows), encoding="utf-8")
    fact_quality.main(["--cases", str(path), "--half", half, "--out", str(folder)])
    loads: dict[str, Any] = json.loads((folder / "facts.json").read_text(encoding="utf-8"))[half]["all"]
    return loads


def test_hits_misses_and_errors_are_counted(tmp_path: Path) -> None:
    rows = [
        row("a", "I live in Bonn.", LABEL),
        row("b", "Bonn is where the house is.", LABEL),
        row("c", "I live in Rome.", half="dev"),
    ]
    assert figures(tmp_path, *rows) == {"labels": 2, "found": 2, "precision": 0.5, "recall": 0.5, "f1": 0.5}


def test_what_a_reader_may_leave_is_neither_hit_nor_error(tmp_path: Path) -> None:
    rows = [row("a", "I live in Bonn.", optional=[LABEL]), row("b", "I live in Bonn.", LABEL)]
    assert figures(tmp_path, *rows)["precision"] == 1.0


def test_only_the_half_asked_for_is_read(tmp_path: Path) -> None:
    rows = [row("a", "I live in Bonn.", LABEL), row("b", "I live in Rome.", half="frozen")]
    assert figures(tmp_path, *rows)["labels"] == 1


def test_another_polarity_or_subject_is_no_hit(tmp_path: Path) -> None:
    wrong = [
        row("a", "I don't live in Bonn.", LABEL),
        row("b", "I live in Bonn.", {**LABEL, "subject": "Ana"}),
    ]
    assert figures(tmp_path, *wrong)["recall"] == 0.0


def test_the_development_half_is_read_as_well_as_the_page_says() -> None:
    result = fact_quality.measure(fact_quality.labelled(fact_quality.CASES, "dev"))["all"]
    assert result["precision"] >= 0.97
    assert result["recall"] >= 0.75
