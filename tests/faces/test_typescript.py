"""The TypeScript client: what is made from the document is as it would be made now, and node runs it."""

import shutil
import subprocess
import warnings
from pathlib import Path

import pytest
from builders.served import served
from typescript_client import FOLDER, document, files

from episodic_agent import Memory
from episodic_agent.faces.http.v1 import events


@pytest.mark.slow
def test_what_is_made_from_the_document_is_up_to_date() -> None:
    made = files(document())
    stale = [name for name, text in made.items() if (FOLDER / name).read_text(encoding="utf-8") != text]
    assert stale == [], "run `python tools/typescript_client.py`"


@pytest.mark.parametrize("keyed", [pytest.param(False, marks=pytest.mark.slow), True])
def test_node_runs_the_client_against_a_server(
    tmp_path: Path, keyed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "EVERY", 0.05)
    node = shutil.which("node")
    if node is None:
        warnings.warn("node is not here: the TypeScript client was not run", stacklevel=1)
        pytest.skip("node is not here: the TypeScript client was not run")
    with Memory.open(tmp_path / "memory.db", embedder="hashing", policy="seed-001") as memory:
        token = [memory.keys.create(role="admin").token] if keyed else []
        with served(memory) as url:
            command = [node, str(FOLDER / "client.test.mjs"), url, *token]
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stdout) == (0, "the client holds\n"), done.stderr
