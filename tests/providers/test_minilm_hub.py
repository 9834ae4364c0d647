"""Weights from the Hugging Face hub: a server on this machine stands for it, in a process of its own."""

import os
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from builders.hub import serving_hub
from builders.minilm import embeds_like_the_random_model

from episodic_agent.providers.embedders.minilm import weights

PULL = """
import sys
from pathlib import Path
from episodic_agent.errors import ProviderUnavailable
from episodic_agent.providers.embedders.minilm import pull, weights
trusted, name, cache = sys.argv[1:]
weights.MEMBER_HASHES, weights.MODEL_HASHES = eval(trusted)
try:
    print(pull(Path(cache), name or None, print))
except ProviderUnavailable as error:
    sys.exit(f"refused: {error}")
"""


@pytest.fixture
def hub(trusted: Path, tmp_path: Path) -> Iterator[Callable[..., subprocess.CompletedProcess[str]]]:
    """Return what pulls in a process of its own that knows no other hub than one on this machine."""
    with zipfile.ZipFile(trusted) as file:
        file.extractall(tmp_path / "unpacked")

    def run(name: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
        hashes = repr((weights.MEMBER_HASHES, set(weights.MODEL_HASHES)))
        known = {"HF_ENDPOINT": address, "HF_HOME": str(tmp_path / "hf"), "HF_HUB_DISABLE_XET": "1"}
        return subprocess.run(
            [sys.executable, "-c", PULL, hashes, name, str(folder)],
            capture_output=True, text=True, check=False, timeout=120, env={**os.environ, **known, **environment},
        )  # fmt: skip

    with serving_hub(tmp_path / "unpacked" / weights.FOLDER) as address:
        yield run


@pytest.mark.slow
def test_pull_takes_the_weights_from_a_repository_on_the_hub(
    hub: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path, cache: Path
) -> None:
    done = hub("somebody/model", tmp_path / "cache")
    assert done.returncode == 0, done.stderr
    assert "from the Hugging Face hub, somebody/model" in done.stdout
    assert embeds_like_the_random_model(tmp_path / "cache", cache)


@pytest.mark.slow
def test_pull_refuses_other_weights_from_the_hub(
    hub: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    weights_file = tmp_path / "unpacked" / weights.FOLDER / "model.safetensors"
    content = weights_file.read_bytes()
    weights_file.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    done = hub("somebody/model", tmp_path / "cache")
    assert (done.returncode, (tmp_path / "cache").exists()) == (1, False)
    assert "is not the published file (sha256 differs)" in done.stderr


@pytest.mark.slow
def test_pull_says_in_one_line_that_the_hub_has_no_such_repository(
    hub: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    done = hub("nobody/model", tmp_path / "cache")
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("refused: ")]
    assert "Hugging Face hub, nobody/model" in line


@pytest.mark.slow
def test_pull_finds_the_published_weights_in_the_hubs_cache_without_a_network(
    hub: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path, cache: Path, trusted: Path
) -> None:
    snapshot = tmp_path / "hf" / "hub" / "models--sentence-transformers--all-MiniLM-L6-v2"
    (snapshot / "refs").mkdir(parents=True)
    (snapshot / "refs" / "main").write_text("0" * 40, encoding="utf-8")
    (snapshot / "snapshots").mkdir()
    (tmp_path / "unpacked" / weights.FOLDER).rename(snapshot / "snapshots" / ("0" * 40))
    done = hub("", tmp_path / "cache", HF_HUB_OFFLINE="1", PIP_NO_INDEX="1", PATH=str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert embeds_like_the_random_model(tmp_path / "cache", cache)
