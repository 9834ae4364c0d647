"""The measurement of contexts tells of what it says it tells of."""

from pathlib import Path

import pytest

from benchmarks import context_speed


@pytest.mark.slow
def test_contexts_are_timed_of_linked_threads_and_of_a_message_that_begins_one(tmp_path: Path) -> None:
    rows = dict(context_speed.beside(f"sqlite:///{tmp_path / 'many.db'}", context_speed.apart(24), 3))
    assert list(rows) == [context_speed.SAME, context_speed.NEW]
    assert {(row["threads"], row["observations"], row["contexts"]) for row in rows.values()} == {(6, 24, 3)}
    same, new = rows.values()
    assert same["lines"] > new["lines"] > 3
    assert all(row["ms"]["p95"] >= row["ms"]["median"] > 0 for row in rows.values())


@pytest.mark.slow
def test_a_long_thread_is_one_after_three_short_ones(tmp_path: Path) -> None:
    rows = dict(context_speed.beside(f"sqlite:///{tmp_path / 'long.db'}", context_speed.together(40), 3))
    assert {(row["threads"], row["observations"]) for row in rows.values()} == {(4, 52)}
