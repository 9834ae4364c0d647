"""The default embedder in 8-bit integers: fixed by text, the same on every processor, near the float32 one."""

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from builders.minilm import TEXTS, Weights, small_tokenizer
from numpy.typing import NDArray

from episodic_agent.errors import InvalidInput
from episodic_agent.providers.embedders.minilm import MiniLM, is_present, model_file, pull, quantised, weights
from episodic_agent.providers.embedders.minilm.runtime import providers_for
from episodic_agent.settings import Settings, read_settings
from episodic_agent.wiring import make_embedder

KINDS = ("query", "key", "value")


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory, random_tensors: Weights) -> Iterator[tuple[Path, Path]]:
    """The random model with signed weights and with unsigned ones, each in a folder of its own."""
    folders = (tmp_path_factory.mktemp("signed"), tmp_path_factory.mktemp("unsigned"))
    with pytest.MonkeyPatch.context() as patch:
        for folder, unsigned in zip(folders, (False, True), strict=True):
            about = {"tokenizer": small_tokenizer()}
            model = quantised.build_quantised(random_tensors, about, unsigned=unsigned)
            patch.setattr(weights, "MODEL_HASHES", weights.MODEL_HASHES | {sha256(model).hexdigest()})
            model_file(folder, weights.INT8).write_bytes(model)
        yield folders


def embedded(folder: Path, texts: list[str], **how: int) -> NDArray[np.float32]:
    return MiniLM(folder, name=weights.INT8, **how).embed(texts)


def test_signed_and_unsigned_weights_give_the_same_vectors(both: tuple[Path, Path]) -> None:
    if quantised.saturates():
        pytest.skip("this processor sums signed bytes wrongly, which is why there are unsigned ones")
    np.testing.assert_allclose(*(embedded(folder, TEXTS) for folder in both), atol=1e-6)


@pytest.mark.slow
def test_a_vector_of_integers_does_not_depend_on_its_neighbours(both: tuple[Path, Path]) -> None:
    alone = np.concatenate([embedded(both[1], [text]) for text in TEXTS])
    np.testing.assert_allclose(embedded(both[1], TEXTS * 12, threads=3), np.tile(alone, (12, 1)), atol=1e-6)


def test_every_product_of_a_layer_is_one_of_integers(both: tuple[Path, Path]) -> None:
    onnx = pytest.importorskip("onnx")
    model = onnx.load(str(model_file(both[0], weights.INT8)))
    onnx.checker.check_model(model)
    operators = [node.op_type for node in model.graph.node]
    assert operators.count("MatMulIntegerToFloat") == 24
    assert operators.count("MatMul") == 1  # the mean over the tokens


def test_an_input_without_negative_values_keeps_zero_exact() -> None:
    scale, zero = quantised.Measure(np.ones(2, np.float32), low=0.5, high=2.55).grid()
    assert (float(scale), zero) == (pytest.approx(0.01), 0)


def test_int8_is_one_word_in_the_settings_and_another_name_in_the_store(
    trusted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, random_tensors: Weights
) -> None:
    model = quantised.build_quantised(random_tensors, {"tokenizer": small_tokenizer()})
    monkeypatch.setattr(weights, "MODEL_HASHES", weights.MODEL_HASHES | {sha256(model).hexdigest()})
    pull(tmp_path, trusted, name=weights.INT8)
    embedder = make_embedder("minilm-int8", Settings(cache=str(tmp_path)))
    assert embedder is not None
    assert embedder.name == "minilm-int8-1"
    assert embedder.embed(["tea"]).any()


@pytest.mark.parametrize(
    ("device", "available", "chosen"),
    [
        ("cpu", ["CUDAExecutionProvider"], ["CPUExecutionProvider"]),
        ("auto", ["CPUExecutionProvider"], ["CPUExecutionProvider"]),
        ("auto", ["CoreMLExecutionProvider", "CUDAExecutionProvider"],
         ["CUDAExecutionProvider", "CPUExecutionProvider"]),
        ("directml", ["DmlExecutionProvider"], ["DmlExecutionProvider", "CPUExecutionProvider"]),
    ],
)  # fmt: skip
def test_a_device_is_used_where_the_runtime_offers_it(
    device: str, available: list[str], chosen: list[str]
) -> None:
    assert providers_for(device, available) == chosen


def test_a_device_that_is_not_there_is_refused_with_what_is(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InvalidInput, match="no CUDAExecutionProvider; it offers cpu, coreml: install the"):
        providers_for("cuda", ["CoreMLExecutionProvider", "CPUExecutionProvider"])
    with pytest.raises(InvalidInput, match="no device 'gpu'; there are cpu, auto, cuda"):
        make_embedder("minilm", Settings(cache=str(cache), device="gpu"))
    monkeypatch.setenv("EPISODIC_DEVICE", "cuda")
    settings = read_settings({"EPISODIC_DEVICE": "rocm", "EPISODIC_CACHE": str(cache)}, tmp_path)
    embedder = make_embedder("minilm", settings)
    assert embedder is not None
    with pytest.raises(InvalidInput, match="has no ROCMExecutionProvider"):
        embedder.embed(["tea"])


# --- the published weights --------------------------------------------------------------------------------------------


def published() -> dict[str, NDArray[np.float32]]:
    """Take the published tensors out of the converted float32 model of this machine."""
    onnx = pytest.importorskip("onnx")
    settings = read_settings({}, Path.home())
    if not is_present(Path(settings.cache)):
        pytest.skip("the published weights are NOT tested: no model in the cache, run `make setup`")
    model = onnx.load(str(model_file(Path(settings.cache))))
    held = {w.name: onnx.numpy_helper.to_array(w) for w in model.graph.initializer}
    tensors = {
        "embeddings.word_embeddings.weight": held["words"],
        "embeddings.position_embeddings.weight": held["places"],
        "embeddings.token_type_embeddings.weight": np.zeros((2, 384), np.float32),
        "embeddings.LayerNorm.weight": held["embedded.scale"],
        "embeddings.LayerNorm.bias": held["embedded.shift"],
    }
    for n in range(6):
        own, theirs = f"layer{n}", f"encoder.layer.{n}"
        for place, kind in enumerate(KINDS):
            part = slice(place * 384, (place + 1) * 384)
            matrix, bias = held[f"{own}.attention.qkv.matrix"].T[part], held[f"{own}.attention.bias"][part]
            tensors[f"{theirs}.attention.self.{kind}.weight"] = matrix
            tensors[f"{theirs}.attention.self.{kind}.bias"] = bias
        tensors[f"{theirs}.intermediate.dense.weight"] = held[f"{own}.feed_forward.wide.matrix"].T
        tensors[f"{theirs}.intermediate.dense.bias"] = held[f"{own}.feed_forward.bias"]
        for part_of, name in (("attention.output", "attention.output"), ("feed_forward.output", "output")):
            tensors[f"{theirs}.{name}.dense.weight"] = held[f"{own}.{part_of}.matrix"].T
            tensors[f"{theirs}.{name}.dense.bias"] = held[f"{own}.{part_of}.bias"]
            tensors[f"{theirs}.{name}.LayerNorm.weight"] = held[f"{own}.{part_of}.normal.scale"]
            tensors[f"{theirs}.{name}.LayerNorm.bias"] = held[f"{own}.{part_of}.normal.shift"]
    return tensors


@pytest.mark.slow
def test_the_published_model_in_integers_has_the_known_hash_and_is_near_the_one_in_float32(
    tmp_path: Path,
) -> None:
    onnx = pytest.importorskip("onnx")
    tensors, cache = published(), Path(read_settings({}, Path.home()).cache)
    about = onnx.load(str(model_file(cache))).metadata_props[0].value
    for unsigned in (False, True):
        model = quantised.build_quantised(tensors, {"tokenizer": about}, unsigned=unsigned)
        assert sha256(model).hexdigest() in weights.MODEL_HASHES
    model_file(tmp_path, weights.INT8).write_bytes(model)
    texts = [
        "A man is eating food.",
        "Did you ever hear back from the clinic in Zürich?",
        "我明天下午三点",
        "x",
    ]
    exact, near = MiniLM(cache).embed(texts), embedded(tmp_path, texts)
    assert (exact * near).sum(axis=1).min() > 0.98
