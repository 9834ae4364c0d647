"""Vectors are rounded once, where they enter: what decides while a message comes in is what is read again."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from builders.chats import TAP, mine, talk

from episodic_agent import Memory
from episodic_agent.core.vectors import rounded
from episodic_agent.engine.embedding import RoundedEmbedder
from episodic_agent.engine.ingest import appending
from episodic_agent.errors import InvalidInput
from episodic_agent.protocols import OBSERVATIONS, AskingEmbedder, query_vector
from episodic_agent.providers.embedders.hashing import HashingEmbedder
from episodic_agent.schemas import Scope, Vector


class Long:
    """An embedder whose rows are far from length 1, and which embeds questions in another way."""

    name = "long"
    dimensions = 16
    loaded = False

    def embed(self, texts: Sequence[str]) -> Vector:
        return (np.vstack([self._row(text) for text in texts]) * 1e20).astype(np.float32)

    def embed_queries(self, texts: Sequence[str]) -> Vector:
        return -self.embed(texts)

    def preload(self) -> None:
        self.loaded = True

    def _row(self, text: str) -> Vector:
        results: Vector = np.random.default_rng(len(text)).normal(size=16).astype(np.float32)
        return results


def test_what_decides_about_a_message_is_what_a_store_gives_back(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Vector] = []
    plain = appending.embed_prepared

    def embed(embedder: object, prepared: Sequence[appending.Prepared]) -> None:
        plain(embedder, prepared)  # type: ignore[arg-type]
        seen.extend(one.vectors[0] for one in prepared if one.vectors is not None)

    monkeypatch.setattr(appending, "embed_prepared", embed)
    with Memory.open(url, embedder="hashing") as memory:
        mine(memory).add(talk(TAP, 0))
        with memory._deps.store.begin(Scope(), write=False) as tx:
            refs = tx.index.unindexed(OBSERVATIONS, "another", limit=100)
            rows = tx.index.vectors(OBSERVATIONS, "hashing-256", refs)
    held, plain_rows = list(rows.values()), HashingEmbedder().embed([text for _, text in TAP])
    assert len(held) == len(TAP) > 2
    assert {row.tobytes() for row in held} == {row.tobytes() for row in seen}
    assert {row.tobytes() for row in held}.isdisjoint(row.tobytes() for row in plain_rows)


def test_questions_are_embedded_as_the_embedder_wants_them_and_rounded_too() -> None:
    inner = Long()
    outer = RoundedEmbedder(inner)
    assert isinstance(outer, AskingEmbedder)
    assert np.array_equal(query_vector(outer, "why?"), rounded(inner.embed_queries(["why?"]))[0])
    plain = HashingEmbedder()
    assert np.array_equal(query_vector(RoundedEmbedder(plain), "why?"), rounded(plain.embed(["why?"]))[0])
    outer.preload()
    assert inner.loaded


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_rows_that_are_no_numbers_are_refused(tmp_path: Path, bad: float) -> None:
    class Broken(Long):
        def embed(self, texts: Sequence[str]) -> Vector:
            return np.full((len(texts), 16), bad, np.float32)

    refused = pytest.raises(InvalidInput, match="vectors must be finite")
    with Memory.open(tmp_path / "memory.db", embedder=Broken()) as memory, refused:
        mine(memory).add(talk(TAP, 0))


def test_rows_of_any_length_are_found_as_directions(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "memory.db", embedder=Long()) as memory:
        mine(memory).add(talk(TAP, 0))
        assert memory.doctor() == []
        vector = memory._deps.embedder.embed(["some words"])[0]  # type: ignore[union-attr]
        assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-3)
        assert mine(memory).search(TAP[0][1]).observations
