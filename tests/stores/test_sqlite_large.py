"""A stream of many vectors is looked through by sketches: the same answers, or nearly."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from stores.builders import ANA
from stores.conformance_index import IndexConformance
from stores.test_sqlite import open_sqlite

from episodic_agent.protocols import OBSERVATIONS, Store
from episodic_agent.stores.sqlite.streams import Matrix, SketchView


class TestLargeStream(IndexConformance):
    """Where all rows are near enough to be scored, the answers are those of a small stream."""

    @pytest.fixture(autouse=True)
    def few_are_many(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(Matrix, "large", 5)

    @pytest.fixture
    def open_store(self, tmp_path: Path, ready: Path) -> Iterator[Callable[[], Store]]:
        opened: list[Store] = []
        shutil.copy(ready, tmp_path / "memory.db")

        def open_one() -> Store:
            opened.append(open_sqlite(str(tmp_path / "memory.db")))
            return opened[-1]

        yield open_one
        for store in opened:
            store.close()


@pytest.mark.slow
def test_of_many_vectors_nearly_all_of_the_best_are_found_and_their_scores_are_exact(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SketchView, "near", 640)
    random = np.random.default_rng(5)
    topics = random.standard_normal((400, 128))
    rows = (topics[np.arange(20_000) % 400] + random.standard_normal((20_000, 128))).astype(np.float32)
    queries = (topics[:40] + random.standard_normal((40, 128))).astype(np.float32)
    exact, large = open_sqlite(str(tmp_path / "a.db")), open_sqlite(str(tmp_path / "b.db"))
    for store in (exact, large):
        with store.begin(ANA) as tx:
            tx.index.put_vectors(OBSERVATIONS, "small", range(len(rows)), rows)

    def answers(store: Store, limit: int) -> list[dict[int, float]]:
        with store.begin(ANA, write=False) as tx:
            pairs = [tx.index.vector_scores(OBSERVATIONS, "small", query, limit=limit) for query in queries]
        return [dict(zip(refs.tolist(), scores.tolist(), strict=True)) for refs, scores in pairs]

    right = answers(exact, 10)
    monkeypatch.setattr(Matrix, "large", 1_000)
    found = answers(large, 10)
    same = [one.keys() & other.keys() for one, other in zip(right, found, strict=True)]
    assert sum(map(len, same)) >= 0.95 * 10 * len(queries)
    assert all(
        one[ref] == other[ref] for one, other, refs in zip(right, found, same, strict=True) for ref in refs
    )
    assert large._shelves.matrices.nbytes < 0.35 * exact._shelves.matrices.nbytes  # type: ignore[attr-defined]
    exact.close()
    large.close()


def test_a_stream_that_grows_large_is_sketched_from_there_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Matrix, "large", 20)
    rows = np.random.default_rng(3).standard_normal((60, 70)).astype(np.float32)
    store = open_sqlite(str(tmp_path / "memory.db"))
    for start in range(0, 60, 7):
        with store.begin(ANA) as tx:
            refs = range(start, min(start + 7, 60))
            tx.index.put_vectors(OBSERVATIONS, "small", refs, rows[start : start + 7])
        with store.begin(ANA, write=False) as tx:
            nearest, scores = tx.index.vector_scores(OBSERVATIONS, "small", rows[start], limit=1)
            assert (nearest.tolist(), scores.tolist()) == ([start], pytest.approx([1.0]))
    store.close()
