"""The benchmark of another embedder: what it asks, and the tables it prints."""

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import embedders
from benchmarks.served import answer
from episodic_agent.core.calibration import Calibration
from episodic_agent.providers.embedders.hashing import HashingEmbedder

CALIBRATION = Calibration("hashing-256", 0.5, None, ((-1.0, -1.0), (0.2, 0.3), (1.0, 1.0)))


def write(path: Path, *rows: dict[str, Any]) -> None:
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    texts = ["green tea is calming", "my tea kettle broke", "the bike chain slipped", "a new bike saddle"] * 3
    units = [{"speaker": "Ana" if n % 2 else "Bo", "text": text} for n, text in enumerate(texts)]
    write(tmp_path / "seg_tiage.jsonl.gz", {"units": units, "starts": [0, 0, 1, 0] * 3})
    for name, asked in (("ret_realtalk", "What broke?"), ("ret_beam100k", "Who plays the violin in Oslo?")):
        messages = [{"id": n, **unit} for n, unit in enumerate(units)]
        questions = [{"id": "q", "question": asked, "evidence": [1]}]
        write(tmp_path / f"{name}.jsonl.gz", {"id": name, "messages": messages, "questions": questions})
    return tmp_path


def test_before_and_after_stand_side_by_side_with_foreign_questions_turned_away(data: Path) -> None:
    once = embedders.Once(HashingEmbedder())
    results = dict(embedders._dialogues(data, once, CALIBRATION, quick=True))
    assert results["seg_tiage"]["after"]["policy"] == "default-2027-03?vectors=0&embedder=hashing-256"
    assert results["seg_tiage"]["after"]["score"] == results["seg_tiage"]["words alone"]["score"]
    asked = dict(embedders._cases(data, once, CALIBRATION, quick=True))
    assert set(asked) == {"ret_realtalk", "ret_beam100k"}
    row = asked["ret_realtalk"]
    assert row["before"]["questions"] == 1
    assert row["before"]["recall@10"] == 1.0
    assert row["after"]["foreign answered"] == 0.0
    page = embedders.table({f"{k} | x": {**v, "embedder": "x"} for k, v in (results | asked).items()})
    assert page.count("| x |") == 3
    assert "| recall@10 before |" in page


def test_nothing_is_embedded_twice() -> None:
    class Counting(HashingEmbedder):
        asked = 0

        def embed(self, texts: Any) -> Any:
            self.asked += len(texts)
            return super().embed(texts)

    inner = Counting()
    once = embedders.Once(inner)
    np.testing.assert_array_equal(once.embed(["a", "b", "a"]), once.embed(["a", "b", "a"]))
    assert inner.asked == 2


def test_the_served_answer_is_told_by_index_and_cut_to_the_dimensions_asked() -> None:
    request = {"model": "m", "input": ["tea", "bike"], "dimensions": 3}
    report = answer(request, HashingEmbedder().embed)["data"]
    assert [item["index"] for item in report] == [1, 0]
    assert {len(item["embedding"]) for item in report} == {3}
