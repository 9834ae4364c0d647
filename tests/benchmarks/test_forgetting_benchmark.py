"""The measurement of forgetting forgets what it says it forgets."""

from pathlib import Path

from benchmarks import forgetting_speed


def test_an_observation_and_a_user_are_timed(tmp_path: Path) -> None:
    rows = dict(forgetting_speed.forgotten("sqlite", f"sqlite:///{tmp_path / 'memory.db'}", 120))
    preview, one, sweep, user = rows.values()
    assert [row["state"] for row in rows.values()] == ["preview", "pending", "done", "done"]
    assert preview["counts"] == one["counts"]
    assert (one["counts"]["observations"], user["counts"]["observations"]) == (1, 120)
    assert (user["residue"], user["counts"]["threads"]) == (0, 3)
    assert user["megabytes_after"] < sweep["megabytes_after"]
