"""The measurement of forgetting forgets what it says it forgets."""

from pathlib import Path

import pytest

from benchmarks import forgetting_speed


@pytest.mark.slow
def test_an_observation_a_thread_and_a_user_are_timed(tmp_path: Path) -> None:
    rows = dict(forgetting_speed.forgotten("sqlite", f"sqlite:///{tmp_path / 'memory.db'}", 600))
    held, *erased = rows.values()
    preview, items, sweep, thread, user = erased
    assert {"skills", "parts", "links", "episodes"} <= held["counts"].keys()
    assert [row["state"] for row in erased] == ["preview", "pending", "done", "pending", "done"]
    assert preview["counts"] == items["counts"]
    assert [row["counts"]["observations"] for row in (items, thread, user)] == [1, 12, 588]
    assert (user["residue"], thread["counts"]["threads"]) == (0, 1)
    assert user["megabytes_after"] < sweep["megabytes_after"]
