"""The benchmark functions on a handful of made-up lines: what they measure, not how fast."""

import doctest
import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import __main__ as program
from benchmarks import baselines, provenance, results, retrieval, segmentation, speed, synthetic, tables
from benchmarks.vectors import Remembering, embedded
from episodic_agent.engine.evaluate.cases import unit_time
from episodic_agent.providers.embedders.hashing import HashingEmbedder

TOPICS = {
    "tea": ["green tea is calming", "black tea wakes me up", "my tea kettle broke", "tea leaves from Assam"],
    "bike": ["the bike chain slipped", "a new bike saddle", "bike lanes downtown", "fixing the bike brake"],
}


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    return path


def lines(*, hours: float) -> list[dict[str, Any]]:
    texts = [*TOPICS["tea"], *TOPICS["bike"]]
    start = 1_700_000_000.0
    return [
        {"speaker": "Ana" if n % 2 else "Bo", "text": text, "epoch": start + 60 * n + 3600 * hours * (n > 3)}
        for n, text in enumerate(texts)
    ]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    units = lines(hours=7)
    starts = [0, 0, 0, 0, 1, 0, 0, 0]
    write(tmp_path / "seg_realtalk.jsonl.gz", [{"id": "a", "units": units, "starts": starts}] * 2)
    untimed = [{k: v for k, v in unit.items() if k != "epoch"} for unit in units]
    write(tmp_path / "seg_tiage.jsonl.gz", [{"id": "a", "units": untimed, "starts": starts}])
    messages = [
        {"id": n, "speaker": u["speaker"], "text": u["text"], "time": f"2024-01-0{1 + n // 4}T0{n}:00:00"}
        | {"session": n // 4}
        for n, u in enumerate(units)
    ]
    questions = [
        {"id": "q1", "question": "What broke, the kettle?", "type": "fact", "evidence": [2], "sessions": [0]},
        {
            "id": "q2",
            "question": "What about the saddle?",
            "type": "fact",
            "evidence": [5],
            "date": "2024-01-02",
        },
        {"id": "q3", "question": "Who plays the violin?", "type": "none", "evidence": []},
    ]
    case = {"id": "c", "lang": "en", "messages": messages, "questions": questions}
    write(tmp_path / "ret_realtalk.jsonl.gz", [case, {**case, "id": "d"}])
    return tmp_path


def test_every_system_is_scored_on_a_stream_with_and_without_its_times(data: Path) -> None:
    rows = dict(segmentation.measure(data / "seg_realtalk.jsonl.gz", HashingEmbedder()))
    assert rows["seg_realtalk | gap > 6 h"]["f1"] == 1.0
    assert rows["seg_realtalk | default, delay 2"]["units"] == 16
    assert rows["seg_realtalk | no boundary"]["density"] == 0.0
    assert "seg_realtalk without times | gap > 6 h" not in rows
    assert rows["seg_realtalk without times | no boundary"] | {"times": True, "ms_per_unit": 0} == rows[
        "seg_realtalk | no boundary"
    ] | {"ms_per_unit": 0}


def test_a_set_without_times_has_no_gap_rule(data: Path) -> None:
    rows = dict(segmentation.measure(data / "seg_tiage.jsonl.gz", HashingEmbedder()))
    assert {key for key in rows if "gap" in key} == set()
    assert {row["times"] for row in rows.values()} == {False}


def test_lexical_depth_cuts_where_the_words_change() -> None:
    texts = ["tea tea cup", "tea cup pot", "tea pot cup", "bike chain saddle", "bike saddle", "bike chain"]
    units = [baselines.LabelledUnit("a", text, None) for text in texts]
    assert baselines.lexical_depth(units) == [0, 0, 0, 1, 0, 0]
    assert baselines.lexical_depth(units[:1]) == [0]


def test_the_gap_rule_asks_for_more_than_six_hours() -> None:
    times = [unit_time(f"2024-01-01T{hour:02}:00:00") for hour in (0, 6, 13)]
    units = [baselines.LabelledUnit("a", "x", at) for at in (*times, None)]
    assert baselines.long_silence(units) == [0, 0, 1, 0]


def test_recall_is_measured_beside_both_baselines_with_the_same_filters(data: Path) -> None:
    measured = retrieval.measure(data / "ret_realtalk.jsonl.gz", Remembering(HashingEmbedder()))
    default, bm25, dense = (
        measured.rows[f"ret_realtalk | {name}"] for name in ("default", "bm25", "hashing-256")
    )
    assert {row["questions"] for row in (default, bm25, dense)} == {6}
    assert bm25["observation"]["recall@1"] == default["observation"]["recall@1"] == 1.0
    assert dense["session"]["recall@5"] == 1.0
    assert default["over_bm25"] == {"metric": "recall@10", "mean": 0.0, "se": 0.0, "interval": [0.0, 0.0]}
    assert default["se"]["recall@10"] == 0.0
    dated = next(d for d in measured.details if d["question"] == "q2")
    for system in ("default", "bm25", "embedder"):
        assert set(dated[system]) <= {"4", "5", "6", "7"}
    assert dated["embedder"][0] == "5"


def test_an_unanswerable_question_counts_for_abstention_only(data: Path) -> None:
    measured = retrieval.measure(data / "ret_realtalk.jsonl.gz", Remembering(HashingEmbedder()))
    bm25 = measured.rows["ret_realtalk | bm25"]
    assert bm25["observation"]["questions"] == 4
    assert bm25["abstention"]["unanswerable"] == 2


def test_quick_runs_read_the_first_cases_only(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(retrieval.QUICK, "ret_realtalk", 1)
    measured = retrieval.measure(data / "ret_realtalk.jsonl.gz", Remembering(HashingEmbedder()), quick=True)
    assert {d["case"] for d in measured.details} == {"c"}


def test_made_up_conversations_are_the_same_for_a_seed_and_share_words_within_a_topic() -> None:
    vocabulary = synthetic.Vocabulary([f"word{n}" for n in range(400)], list(range(400, 0, -1)), [8, 12])
    items, two = (synthetic.conversation(vocabulary, 40, seed=3) for _ in range(2))
    assert items == two != synthetic.conversation(vocabulary, 40, seed=4)
    assert [m["timestamp"] for m in items] == sorted(m["timestamp"] for m in items)
    vectors = synthetic.WordVectors(vocabulary).embed([m["content"] for m in items])
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    assert synthetic.questions(items, 5) == synthetic.questions(items, 5)


@pytest.mark.slow
def test_speed_is_measured_on_both_sides_and_in_a_process_of_its_own() -> None:
    vocabulary = synthetic.Vocabulary([f"word{n}" for n in range(400)], list(range(400, 0, -1)), [8, 12])
    real = {"chat": [{"name": "Ana", "content": text} for text in TOPICS["tea"]]}
    beside = speed.beside_embedder(real, HashingEmbedder(), rounds=1)
    assert beside["embedded_texts"] >= 4
    assert beside["ratio"]["median"] > 0.0
    arguments = speed.vectors_given(vocabulary, 60, rounds=1)
    assert arguments["episodes"] >= 1
    rows = dict(speed.growth(vocabulary, [30, 60]))
    assert rows["recall in a large scope"]["observations"] == 60
    assert len(rows["growth"]["bytes_per_observation"]) == 2


def test_a_partial_run_replaces_only_its_own_rows(tmp_path: Path) -> None:
    results.merge(tmp_path, "retrieval", {"b | x": {"n": 1}, "a | x": {"n": 1}})
    results.merge(tmp_path, "retrieval", {"b | x": {"n": 2}})
    assert results.read(tmp_path, "retrieval") == {"a | x": {"n": 1}, "b | x": {"n": 2}}
    assert list(results.read(tmp_path, "retrieval")) == ["a | x", "b | x"]


def test_details_are_the_same_bytes_for_the_same_rows(tmp_path: Path) -> None:
    rows = [{"question": "q", "default": ["1"]}]
    sizes = [results.write_details(tmp_path / name, rows) for name in ("one.gz", "two.gz")]
    assert (tmp_path / "one.gz").read_bytes() == (tmp_path / "two.gz").read_bytes()
    assert sizes[0] == sizes[1]


def test_vectors_are_read_from_the_cache_the_second_time(tmp_path: Path) -> None:
    fresh, seconds = embedded(["tea", "bike"], HashingEmbedder(), tmp_path, "key")
    again, none = embedded(["tea", "bike"], HashingEmbedder(), tmp_path, "key")
    assert seconds is not None
    assert none is None
    assert np.array_equal(fresh, again)


def test_the_program_writes_results_and_fills_the_page_around_its_prose(data: Path, tmp_path: Path) -> None:
    page, output = tmp_path / "page.md", tmp_path / "results"
    marks = "".join(f"<!-- table: {name} -->\nstale\n<!-- end -->\n" for name in tables.TABLES)
    page.write_text(f"before\n{marks}after\n", encoding="utf-8")
    figures = {"cross-validated vectors delay 2": {"tiage": {"score": 0.5, "f1": 0.25}}}
    results.merge(output, tables.TRAINING, {"figures": figures})
    arguments = ["--data", str(data), "--only", "seg_tiage,ret_realtalk", "--embedder", "hashing"]
    assert program.main([*arguments, "--output", str(output), "--page", str(page)]) == 0
    text = page.read_text(encoding="utf-8")
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "stale" not in text
    for cell in (
        "| seg_tiage: no boundary | ",
        "| ret_realtalk: default | ",
        "| tiage | - | - | .500 | .250 | - |",
    ):
        assert cell in text
    row = results.read(output, "retrieval")["ret_realtalk | default"]
    assert len(row["sha256"]) == 16
    assert "--embedder hashing" in row["command"]
    assert (output / "details" / "ret_realtalk.jsonl.gz").is_file()


def test_an_unknown_benchmark_is_refused_by_name(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert program.main(["--only", "nonsense", "--embedder", "hashing", "--output", str(tmp_path)]) == 2
    assert "no benchmark nonsense" in capsys.readouterr().err


@pytest.mark.parametrize("module", [baselines, program, provenance, speed, tables])
def test_the_examples_in_the_documentation_run(module: Any) -> None:
    tried = doctest.testmod(module)
    assert tried.attempted > 0
    assert tried.failed == 0
