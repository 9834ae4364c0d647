"""A process that ends without closing its memory ends quietly, and loses nothing that was acknowledged."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from episodic_agent.wiring import Memory

LEFT_OPEN = """
import atexit, sys, time
from episodic_agent import Memory
from episodic_agent.testing import HashingEmbedder

began = []

class Slow(HashingEmbedder):
    def embed(self, texts):
        began.append(len(texts))
        time.sleep(0.5)
        print("embedded", flush=True)
        return super().embed(texts)

memory = Memory.open(sys.argv[1], embedder=Slow(64))
ana = memory.user("ana")
ana.add("the dev server listens on port 5173", wait=False)
while not began:
    time.sleep(0.01)
"""
LATE = "atexit.register(lambda: ana.add('lantern is maintained by Mira', wait=False))"
ENDS = {
    "": (0, ""),
    "sys.exit(3)": (3, ""),
    "raise ValueError('broke off')": (1, "ValueError: broke off"),
    LATE: (0, ""),
}


@pytest.mark.parametrize("end", ENDS, ids=["falls off", "exit", "raises", "adds as it ends"])
def test_a_process_that_leaves_its_memory_open_ends_quietly_after_the_batch_it_is_in(
    tmp_path: Path, end: str
) -> None:
    """Python ends a daemon thread where it stands: inside a library in C++ that is an abort."""
    code, last = ENDS[end]
    done = subprocess.run(
        [sys.executable, "-c", LEFT_OPEN + end, str(tmp_path / "memory.db")],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
        env=dict(os.environ),
    )
    assert (done.returncode, done.stderr.strip().rpartition("\n")[2]) == (code, last)
    assert done.stdout == "embedded\n"
    with Memory.open(tmp_path / "memory.db", embedder="hashing", resume=False) as memory:
        ana = memory.user("ana")
        assert ana.stats().observations == (2 if end == LATE else 1)
        memory.jobs.run()
        assert ana.search("which port does the dev server use?").observations
