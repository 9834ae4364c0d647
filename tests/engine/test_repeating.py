"""A text that comes again and again is embedded once, and nobody can tell from the vectors."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from builders.chats import mine
from builders.embedders import TopicEmbedder, Unreliable
from hypothesis import given
from hypothesis import strategies as st

from episodic_agent import Memory
from episodic_agent.engine.ingest.runs import RememberingEmbedder, remembering
from episodic_agent.errors import ProviderUnavailable
from episodic_agent.providers.embedders.hashing import HashingEmbedder
from episodic_agent.schemas import Vector
from episodic_agent.wiring.agents import make_sensor

TEXTS = ("go forward", "turn left", "open the door", "wait", "", "go forward ")


@given(st.lists(st.lists(st.sampled_from(TEXTS), max_size=8), max_size=8), st.integers(1, 6))
def test_vectors_are_those_of_the_embedder_itself_to_the_last_bit(calls: list[list[str]], kept: int) -> None:
    plain = HashingEmbedder()
    again = RememberingEmbedder(HashingEmbedder(), kept)
    assert (again.name, again.dimensions) == (plain.name, plain.dimensions)
    for texts in calls:
        results = again.embed(texts)
        assert results.dtype == np.float32
        assert np.array_equal(results, plain.embed(texts).reshape(-1, plain.dimensions))


def test_a_repeated_text_reaches_the_embedder_once_and_the_longest_unused_is_forgotten() -> None:
    inner = TopicEmbedder("hall", "den")
    again = RememberingEmbedder(inner, limit=2)
    again.embed(["hall", "den", "hall"])
    again.embed(["hall"])
    assert inner.seen == ["hall", "den"]
    again.embed(["attic"])  # the den goes
    again.embed(["hall", "den"])
    assert inner.seen == ["hall", "den", "attic", "den"]


def test_a_failure_passes_and_leaves_what_was_known() -> None:
    inner = Unreliable(TopicEmbedder("hall"))
    again = RememberingEmbedder(inner)
    known = again.embed(["hall"])
    inner.down = True
    with pytest.raises(ProviderUnavailable):
        again.embed(["hall", "new"])
    assert np.array_equal(again.embed(["hall"]), known)


class Away:
    """A server nobody has reached yet: not even its vectors' width is known."""

    name = "away"

    @property
    def dimensions(self) -> int:
        raise ProviderUnavailable("the server is away")

    def embed(self, texts: Sequence[str]) -> Vector:
        raise ProviderUnavailable("the server is away")


def test_a_run_goes_on_while_nobody_knows_even_the_width_of_vectors(tmp_path: Path) -> None:
    (tmp_path / "walk.jsonl").write_text('{"number": 0, "place": "hall"}\n{"number": 1, "place": "hall"}\n')
    with Memory.open(tmp_path / "memory.db", embedder=Away()) as memory:
        report = mine(memory).run(make_sensor(f"replay:{tmp_path / 'walk.jsonl'}"), thread="robot")
        assert (report.steps, report.ended) == (2, "end_of_stream")
        assert mine(memory).stats().observations == 2


def test_without_an_embedder_there_is_nothing_to_remember() -> None:
    assert remembering(None) is None
