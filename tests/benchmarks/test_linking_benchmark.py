"""The benchmark of linking: small runs that show what it times."""

from pathlib import Path

import pytest

from benchmarks import linking_speed
from benchmarks.synthetic import Vocabulary

VOCABULARY = Vocabulary([f"word{n}" for n in range(400)], list(range(400, 0, -1)), [6, 8])


@pytest.mark.slow
def test_every_message_that_is_timed_opens_a_thread_and_is_linked(tmp_path: Path) -> None:
    row = linking_speed.among(str(tmp_path / "memory.db"), VOCABULARY, 12, 3)
    assert row["threads"] == 15
    assert {"median", "min", "max", "p95"} == row["add_and_link_ms"].keys() == row["link_job_ms"].keys()
    assert row["link_job_ms"]["median"] < row["add_and_link_ms"]["max"]
