"""The measurement of a large scope measures streams that are held as sketches, and finds what is near."""

import pytest

from benchmarks import large_scope
from episodic_agent.stores.sqlite.streams import Matrix, SketchView


def test_what_is_near_is_found_in_a_stream_of_sketches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Matrix, "large", 1_500)
    monkeypatch.setattr(SketchView, "near", 600)
    monkeypatch.setattr(large_scope, "QUICK_SIZES", (1_000, 4_000))
    monkeypatch.setattr(large_scope, "QUERIES", 5)
    monkeypatch.setattr(large_scope, "BEST", (5, 9))
    small, large = dict(large_scope.measure(quick=True)).values()
    assert (small["vectors"], small["share_of_the_best_9"]) == (1_000, 1.0)
    assert large["share_of_the_best_9"] >= 0.9
