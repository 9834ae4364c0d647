"""The page of the clients runs: every block asks a server that the test starts."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from builders.served import served

from episodic_agent import Memory

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "clients.md"
BLOCKS = re.findall(r"^```(python|js) serve\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("language", "block"), BLOCKS, ids=[f"{n} {one}" for n, (one, _) in enumerate(BLOCKS)]
)
def test_a_block_asks_a_server_and_is_answered(language: str, block: str, tmp_path: Path) -> None:
    assert "http://127.0.0.1:8765" in block
    node = shutil.which("node")
    if language == "js" and node is None:
        pytest.skip("node is not here: the block was not run")
    with Memory.open(tmp_path / "memory.db", embedder="hashing") as memory, served(memory) as url:
        text = block.replace("http://127.0.0.1:8765", url)
        if language == "js":
            text = text.replace('"episodic-agent"', repr((ROOT / "clients/typescript/client.js").as_uri()))
            (tmp_path / "page.mjs").write_text(text, encoding="utf-8")
        command = (
            [sys.executable, "-c", text] if language == "python" else [str(node), str(tmp_path / "page.mjs")]
        )
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "Lisbon" in done.stdout or "Box" in done.stdout


def test_all_blocks_are_run() -> None:
    assert len(BLOCKS) == PAGE.read_text(encoding="utf-8").count("```") // 2
