"""`evaluate` through the real path: labelled streams and labelled questions in the forms of the data files."""

import gzip
import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from builders.chats import CELLO, LISBON, START, TAP, TOPICS, mine

from episodic_agent.core.boundary.policies import policy
from episodic_agent.engine.evaluate import retrieval, segmentation
from episodic_agent.engine.evaluate.cases import streams
from episodic_agent.engine.memory import Memory
from episodic_agent.errors import InvalidInput
from episodic_agent.providers.embedders.hashing import HashingEmbedder
from episodic_agent.wiring import temporary_memory


def write(path: Path, rows: list[Any]) -> Path:
    text = "".join(json.dumps(row) + "\n" for row in rows)
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text, encoding="utf-8")
    return path


def stream(*topics: tuple[tuple[str, str], ...], hours: float = 24, timed: bool = True) -> dict[str, Any]:
    units, starts = [], []
    for day, lines in enumerate(topics):
        for n, (speaker, text) in enumerate(lines):
            at = START + timedelta(hours=hours * day, minutes=n)
            units.append({"speaker": speaker, "text": text, "time": at.isoformat() if timed else None})
            starts.append(int(n == 0 and day > 0))
    return {"id": "s", "units": units, "starts": starts}


# --- segmentation ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["seg_a.jsonl", "seg_a.jsonl.gz"])
def test_boundaries_that_are_all_found_score_one(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / name, [stream(*TOPICS), stream(CELLO, TAP)])
    scores = segmentation.evaluate_file(path, policy("seed-001"), HashingEmbedder()).as_json()
    assert (scores["streams"], scores["units"]) == (2, 24)
    assert (scores["pk"], scores["wd"], scores["f1"], scores["score"], scores["density"]) == (0, 0, 1, 1, 1)
    assert (scores["segeval"]["f1"], scores["f1_tol1"], scores["f1_tol2"]) == (1, 1, 1)
    assert scores["ms_per_unit"] > 0


def test_without_times_a_policy_of_gaps_finds_nothing(tmp_path: Path) -> None:
    path = write(tmp_path / "seg.jsonl", [stream(*TOPICS)])
    blind = segmentation.evaluate_file(path, policy("seed-001"), None, use_times=False).as_json()
    assert (blind["f1"], blind["density"]) == (0, 0)
    untimed = write(tmp_path / "untimed.jsonl", [stream(*TOPICS, timed=False)])
    scores = segmentation.evaluate_file(untimed, policy("seed-001"), None).as_json()
    assert {**scores, "ms_per_unit": 0} == {**blind, "ms_per_unit": 0}


def test_a_stream_is_cut_as_the_memory_cuts_it(tmp_path: Path) -> None:
    embedder = HashingEmbedder()
    path = write(tmp_path / "seg.jsonl", [stream(*TOPICS, hours=5)])
    (labelled,) = streams(path)
    for name in ("default", "seed-001"):
        chosen = policy(name)
        predicted = segmentation.segment(labelled.units, chosen, segmentation.vectors_of(labelled, embedder))
        with temporary_memory(embedder, policy=name) as memory:
            answers = [{"role": u.speaker, "content": u.text, "timestamp": u.at} for u in labelled.units]
            mine(memory).add(answers, thread="chat")
            mine(memory).flush()
            starts = [mine(memory).episodes.get(c.episode_id).first_seq for c in mine(memory).episodes.list()]
        assert [n for n, s in enumerate(predicted) if s] == [s for s in starts if s], name


def test_a_delay_is_the_policys_hindsight(tmp_path: Path) -> None:
    path = write(tmp_path / "seg.jsonl", [stream(*TOPICS)])
    for delay in (0, 1, 2):
        assert (
            segmentation.evaluate_file(path, policy("default", hindsight=delay), None).as_json()["streams"]
            == 1
        )


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"units": [{"text": "a"}], "starts": []}', "same length"),
        ('{"units": "a", "starts": [0]}', "stream 1"),
        ("[1, 2]", "line 1 is not an object"),
        ('{"units": [', "line 1 is not JSON"),
    ],
)
def test_unusable_streams_are_refused_in_words(tmp_path: Path, line: str, problem: str) -> None:
    path = tmp_path / "seg.jsonl"
    path.write_text(line + "\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match=problem):
        segmentation.evaluate_file(path, policy("seed-001"), None)


# --- retrieval -------------------------------------------------------------------------------------------


def case(**more: Any) -> dict[str, Any]:
    messages = [
        {
            "id": f"{day}-{n}",
            "speaker": speaker,
            "text": text,
            "time": (START + timedelta(days=day, minutes=n)).isoformat(),
            "session": f"s{day}",
        }
        for day, lines in enumerate((TAP, LISBON, CELLO))
        for n, (speaker, text) in enumerate(lines)
    ]
    questions = [
        {"id": "q1", "question": "who is my cello teacher", "evidence": ["2-0"], "type": "single"},
        {
            "id": "q2",
            "question": "what did the plumber find in the cartridge",
            "evidence": ["0-2"],
            "type": "single",
        },
        {
            "id": "q3",
            "question": "how much are flight and flat in Lisbon",
            "evidence": ["1-1", "1-3"],
            "type": "multi",
        },
        {"id": "q4", "question": "quantum chromodynamics lagrangian", "evidence": [], "type": "none"},
    ]
    return {"id": "c1", "messages": messages, "questions": questions, **more}


@contextmanager
def fresh(now: datetime, language: str | None) -> Iterator[Memory]:
    with temporary_memory(HashingEmbedder(), policy="seed-001", now=now, language=language) as memory:
        yield memory


def test_questions_are_asked_of_a_fresh_memory_of_each_case(tmp_path: Path) -> None:
    path = write(tmp_path / "ret.jsonl.gz", [case(), {**case(), "id": "c2"}])
    result = retrieval.evaluate_file(path, fresh, limit=12)
    scores = result.as_json()
    assert (scores["questions"], result.messages) == (8, 24)
    asked = [d for d in result.details if d["evidence"]]
    first = [sum(e in d["ranked"][:1] for e in d["evidence"]) / len(d["evidence"]) for d in asked]
    assert scores["observation"]["recall@1"] == pytest.approx(sum(first) / len(first), abs=1e-6)
    assert scores["observation"]["recall@1"] >= 2 / 3 - 1e-6
    assert scores["observation"]["recall@10"] == 1
    assert scores["session"]["recall@1"] == 1
    assert {"single", "multi"} <= set(scores["by_type"])
    assert scores["abstention"]["false_recall"] == 0
    assert scores["abstention"]["wrong_abstention"] == 0
    assert scores["ms_per_query"] > 0
    assert scores["ms_per_message"] > 0


def test_details_hold_every_question_with_its_ranking(tmp_path: Path) -> None:
    path = write(tmp_path / "ret.jsonl", [case()])
    details = retrieval.evaluate_file(path, fresh, limit=3).details
    assert [d["question"] for d in details] == ["q1", "q2", "q3", "q4"]
    assert details[0]["ranked"][0] == "2-0"
    assert len(details[0]["ranked"]) == 3
    assert details[3]["abstained"]


def test_a_case_without_sessions_has_no_session_scores(tmp_path: Path) -> None:
    row = case()
    for message in row["messages"]:
        del message["session"]
    assert retrieval.evaluate_file(write(tmp_path / "ret.jsonl", [row]), fresh).as_json()["session"] == {}


def test_a_questions_window_filters_what_it_may_find(tmp_path: Path) -> None:
    row = case()
    day = START + timedelta(days=1)
    row["questions"] = [
        {"id": "q", "question": "teacher flight tap", "evidence": ["1-1"], "type": "when",
         "window": [day.isoformat(), (day + timedelta(hours=2)).isoformat()]}
    ]  # fmt: skip
    (detail,) = retrieval.evaluate_file(write(tmp_path / "ret.jsonl", [row]), fresh, limit=50).details
    assert sorted(detail["ranked"]) == ["1-0", "1-1", "1-2", "1-3"]


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"messages": []}, "case 1 needs `messages` and `questions`"),
        ({"messages": [{"text": "no id"}], "questions": []}, "case 1"),
        ({"messages": [{"id": "1", "text": "a"}], "questions": [{"id": "q"}]}, "case 1"),
        ({"messages": ["text"], "questions": []}, "case 1"),
    ],
)
def test_unusable_cases_are_refused_in_words(tmp_path: Path, row: dict[str, Any], problem: str) -> None:
    with pytest.raises(InvalidInput, match=problem):
        retrieval.evaluate_file(write(tmp_path / "ret.jsonl", [row]), fresh)
