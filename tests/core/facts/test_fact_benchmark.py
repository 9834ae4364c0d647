"""The benchmark of facts on a little labelled file; the halves are kept apart."""

import json
from pathlib import Path
from typing import Any

from benchmarks import fact_quality

HOME = "My sister Hannah is a nurse."
LABEL = {"category": "relationship", "start": 0, "end": 28}


def row(name: str, text: str, *facts: dict[str, Any], half: str = "dev", **more: Any) -> dict[str, Any]:
    plain = {"id": name, "lang": "en", "speaker": "Tom", "text": text, "at": "2026-03-02T09:00:00Z"}
    return {**plain, "facts": list(facts), "kind": "plain", "half": half, **more}


def figures(folder: Path, *rows: dict[str, Any], half: str = "dev") -> dict[str, Any]:
    path = folder / "facts.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in rows), encoding="utf-8")
    fact_quality.main(["--cases", str(path), "--half", half, "--out", str(folder), "--embedder", "none"])
    loads: dict[str, Any] = json.loads((folder / "facts.json").read_text(encoding="utf-8"))[half]
    return loads


def test_hits_misses_and_errors_are_counted(tmp_path: Path) -> None:
    rows = [
        row("a", HOME, LABEL),
        row("b", "lol ok", {**LABEL, "end": 6}),
        row("c", HOME.replace("Hannah", "Ana")),
    ]
    counted = {"labels": 2, "found": 2, "precision": 0.5, "recall": 0.5, "f1": 0.5}
    assert figures(tmp_path, *rows)["all"] == counted


def test_what_a_reader_may_leave_is_neither_hit_nor_error(tmp_path: Path) -> None:
    rows = [row("a", HOME, optional=[LABEL]), row("b", HOME, LABEL)]
    assert figures(tmp_path, *rows)["all"]["precision"] == 1.0


def test_only_the_half_asked_for_is_read(tmp_path: Path) -> None:
    rows = [row("a", HOME, LABEL), row("b", HOME, half="frozen")]
    assert figures(tmp_path, *rows)["all"]["labels"] == 1


def test_a_quotation_of_other_words_is_no_hit(tmp_path: Path) -> None:
    long = "What time is it now? " * 9 + "\n" + HOME
    rows = [row("a", long, {**LABEL, "start": 0, "end": 20})]
    assert figures(tmp_path, *rows)["all"]["recall"] == 0.0


def test_categories_are_compared_where_a_label_is_met(tmp_path: Path) -> None:
    rows = [row("a", HOME, LABEL), row("b", HOME, {**LABEL, "category": "goal"})]
    assert figures(tmp_path, *rows)["right_categories"] == 0.5


def test_the_development_half_is_read_as_well_as_the_page_says() -> None:
    result = fact_quality.measure(fact_quality.labelled(fact_quality.CASES, "dev"))["all"]
    assert result["precision"] >= 0.8
    assert result["recall"] >= 0.6
