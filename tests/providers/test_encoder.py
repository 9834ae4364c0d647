"""Sentence encoders of one's choice: the reference's vectors, prompts, what is refused, the hub, a whole memory."""

import json
import os
import shutil
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from builders.chats import CELLO, LISBON, TAP, mine, talk
from builders.encoders import CASES, DATA, TEXTS, case, encoder_folder, expected
from builders.hub import serving_hub

from episodic_agent import Memory
from episodic_agent.errors import InvalidInput, ProviderUnavailable
from episodic_agent.protocols import Embedder, query_vector
from episodic_agent.providers.embedders.encoder.converting import obtained, records
from episodic_agent.providers.embedders.encoder.embedder import SentenceEncoder
from episodic_agent.providers.embedders.encoder.spelling import read_spelling
from episodic_agent.providers.embedders.hashing import HashingEmbedder
from episodic_agent.providers.embedders.minilm.tensors import NoSafetensors, read_safetensors

MEAN, PROMPTED, XLM_R = "bert, mean, normalised", "bert, cls, prompts", "xlm-r, mean, prompts"


def encoder(folder: Path | str, cache: Path, options: str = "", **how: object) -> SentenceEncoder:
    record = obtained(cache, read_spelling(f"{folder}{options}"), lambda _line: None)
    return SentenceEncoder(cache, record, **how)  # type: ignore[arg-type]


# --- what is computed ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [one["name"] for one in CASES])
def test_vectors_are_those_of_sentence_transformers(name: str, tmp_path: Path) -> None:
    model = encoder(encoder_folder(case(name), tmp_path / "model"), tmp_path / "cache")
    np.testing.assert_allclose(model.embed(TEXTS), expected(case(name), "documents"), atol=1e-5)
    np.testing.assert_allclose(model.embed_queries(TEXTS), expected(case(name), "queries"), atol=1e-5)


def test_the_cases_differ_so_that_none_passes_for_another() -> None:
    means = [expected(one, "documents")[0] for one in CASES if len(one["documents"][0]) == 16]
    different = [np.abs(a - b).max() for n, a in enumerate(means) for b in means[:n]]
    same = sum(value < 1e-4 for value in different)
    assert same == 1  # a short input is cut only where it is longer
    short, long = (expected(case(name), "documents")[3] for name in ("bert, short", MEAN))
    assert np.abs(short - long).max() > 0.01


def test_a_vector_does_not_depend_on_its_neighbours_threads_or_place(tmp_path: Path) -> None:
    folder = encoder_folder(case(XLM_R), tmp_path / "model")
    alone = np.concatenate([encoder(folder, tmp_path / "c").embed([text]) for text in TEXTS])
    many = encoder(folder, tmp_path / "c", threads=3).embed(TEXTS * 40)
    np.testing.assert_allclose(many, np.tile(alone, (40, 1)), atol=1e-6)


@pytest.mark.parametrize("name", [MEAN, XLM_R])
@pytest.mark.parametrize("text", ["", " ", "\n", "\u200b", "😀"])
def test_a_text_that_says_nothing_is_a_zero_row_whatever_stands_before_it(
    name: str, text: str, tmp_path: Path
) -> None:
    model = encoder(encoder_folder(case(name), tmp_path / "model"), tmp_path / "cache")
    vectors = model.embed([text, "tea"])
    assert not vectors[0].any()
    assert np.linalg.norm(vectors[1]) == pytest.approx(1.0, abs=1e-5)
    assert not model.embed_queries([text]).any()


def test_a_question_is_embedded_as_one_and_by_an_embedder_that_knows_no_difference_as_any_text(
    tmp_path: Path,
) -> None:
    model: Embedder = encoder(encoder_folder(case(PROMPTED), tmp_path / "model"), tmp_path / "cache")
    np.testing.assert_allclose(
        query_vector(model, TEXTS[0]), expected(case(PROMPTED), "queries")[0], atol=1e-5
    )
    plain = HashingEmbedder()
    np.testing.assert_array_equal(query_vector(plain, "tea"), plain.embed(["tea"])[0])


def test_prompts_can_be_given_with_the_name(tmp_path: Path) -> None:
    bare = dict(case(XLM_R), files={k: v for k, v in case(XLM_R)["files"].items() if "config_sent" not in k})
    folder = encoder_folder(bare, tmp_path / "model")
    given = encoder(folder, tmp_path / "cache", "?query=query: &passage=passage: ")
    np.testing.assert_allclose(given.embed(TEXTS), expected(case(XLM_R), "documents"), atol=1e-5)
    np.testing.assert_allclose(given.embed_queries(TEXTS), expected(case(XLM_R), "queries"), atol=1e-5)
    plain = encoder(folder, tmp_path / "cache")
    assert plain.name != given.name  # its stored vectors are others
    other_questions = encoder(folder, tmp_path / "cache", "?query=ask: &passage=passage: ")
    assert other_questions.name == given.name  # what is stored is the same
    assert np.abs(other_questions.embed_queries(["tea"]) - given.embed_queries(["tea"])).max() > 1e-3


def test_the_prompts_of_e5_are_known_by_its_name(tmp_path: Path) -> None:
    bare = dict(case(XLM_R), files={k: v for k, v in case(XLM_R)["files"].items() if "config_sent" not in k})
    folder = encoder_folder(bare, tmp_path / "multilingual-e5-small")
    lines: list[str] = []
    record = obtained(tmp_path / "cache", read_spelling(str(folder)), lines.append)
    assert (record.query, record.passage) == ("query: ", "passage: ")
    assert "before a query stands 'query: '" in lines[-1]


def test_a_plain_encoder_without_modules_is_averaged(tmp_path: Path) -> None:
    plain = encoder(shutil.copytree(DATA / "bert", tmp_path / "plain"), tmp_path / "cache")
    np.testing.assert_allclose(plain.embed(TEXTS), expected(case(MEAN), "documents"), atol=1e-5)


@pytest.mark.parametrize("dtype", ["F16", "BF16"])
def test_half_precision_is_widened(dtype: str) -> None:
    values = np.array([[1.0, -2.5, 0.15625]], np.float32)
    wide = values.view(np.uint32) >> 16
    raw = values.astype("<f2").tobytes() if dtype == "F16" else wide.astype("<u2").tobytes()
    header = json.dumps({"a": {"dtype": dtype, "shape": [1, 3], "data_offsets": [0, 6]}}).encode()
    read = read_safetensors(struct.pack("<Q", len(header)) + header + raw)["a"]
    assert read.dtype == np.float32
    np.testing.assert_array_equal(read, values)


# --- its name and its files -----------------------------------------------------------------------------------------


def test_the_name_follows_the_content_and_not_the_place(tmp_path: Path) -> None:
    first = encoder_folder(case(MEAN), tmp_path / "model")
    name = encoder(first, tmp_path / "cache").name
    assert name.startswith("encoder:16-")
    moved = Path(shutil.copytree(first, tmp_path / "elsewhere" / "minilm-of-mine"))
    assert encoder(moved, tmp_path / "another-cache").name == name
    change_a_weight(moved)
    assert encoder(moved, tmp_path / "another-cache").name != name


def change_a_weight(folder: Path) -> None:
    file = folder / "model.safetensors"
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)


def test_an_encoder_is_converted_once_and_anew_when_its_files_changed_or_were_damaged(tmp_path: Path) -> None:
    folder, cache = encoder_folder(case(MEAN), tmp_path / "model"), tmp_path / "cache"
    lines: list[str] = []
    spelled = read_spelling(str(folder))
    first = obtained(cache, spelled, lines.append)
    assert obtained(cache, spelled, lines.append) == first
    assert lines == ["converting model once …"]
    file = first.check(cache)
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(ProviderUnavailable, match=r"is damaged or another one .* open the memory again"):
        SentenceEncoder(cache, first).embed(["tea"])
    assert obtained(cache, spelled, lines.append) == first
    assert SentenceEncoder(cache, first).embed(["tea"]).any()
    change_a_weight(folder)
    assert obtained(cache, spelled, lines.append).name != first.name
    assert len(lines) == 3
    assert [one.source for one in records(cache)] == [str(folder)]


def test_the_written_model_passes_the_onnx_checker(tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx")
    for number, one in enumerate(CASES):
        folder = encoder_folder(one, tmp_path / str(number))
        record = obtained(tmp_path / "cache", read_spelling(str(folder)), lambda _line: None)
        onnx.checker.check_model(str(record.check(tmp_path / "cache")))


# --- what is refused ------------------------------------------------------------------------------------------------


def rewrite(path: str, **changes: object) -> Callable[[Path], None]:
    def act(folder: Path) -> None:
        config = json.loads((folder / path).read_text(encoding="utf-8"))
        (folder / path).write_text(json.dumps({**config, **changes}), encoding="utf-8")

    return act


def without(name: str, instead: str | None = None) -> Callable[[Path], None]:
    def act(folder: Path) -> None:
        (folder / name).rename(folder / (instead or f"{name}.gone"))

    return act


def with_bytes(name: str, change: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    return lambda folder: (folder / name).write_bytes(change((folder / name).read_bytes())) and None


def add_a_module(kind: str) -> Callable[[Path], None]:
    def act(folder: Path) -> None:
        modules = json.loads((folder / "modules.json").read_text(encoding="utf-8"))
        modules.append({"idx": 9, "name": "9", "path": "9_X", "type": f"sentence_transformers.models.{kind}"})
        (folder / "modules.json").write_text(json.dumps(modules), encoding="utf-8")

    return act


def add_words(folder: Path) -> None:
    tokenizer = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    tokenizer["model"]["vocab"]["zebra"] = 500
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer), encoding="utf-8")


WRONG = [
    ("no config", without("config.json"), "has no config.json; a sentence encoder has config.json, tok"),
    ("no tokenizer", without("tokenizer.json"), "has no tokenizer.json"),
    ("no weights", without("model.safetensors"), "has no model.safetensors"),
    ("pickled", without("model.safetensors", "pytorch_model.bin"), "a pickle, which is not read because it can"),
    ("in pieces", without("model.safetensors", "model.safetensors.index.json"), "join them into one"),
    ("cut weights", with_bytes("model.safetensors", lambda b: b[:-100]), "the file is cut off; fetch it anew"),
    ("empty weights", with_bytes("model.safetensors", lambda _: b""), "cannot be read .* fetch it anew"),
    ("no safetensors", with_bytes("model.safetensors", lambda _: b"PK" * 99), "header is longer than the file"),
    ("other weights", with_bytes("model.safetensors", lambda b: b.replace(b"encoder", b"decoder")),
     r"has no encoder\.layer\.0.* \(32 tensors are missing\)"),
    ("other shape", rewrite("config.json", hidden_size=32), r"is \[.*16\], not \[.*32\] as config.json says"),
    ("more layers", rewrite("config.json", num_hidden_layers=3), r"has no encoder\.layer\.2"),
    ("more positions", rewrite("config.json", max_position_embeddings=64), "has 40 positions, fewer than"),
    ("another type", rewrite("config.json", model_type="mpnet"), "model type 'mpnet' is not supported; encoders of"),
    ("relative", rewrite("config.json", position_embedding_type="relative_key"), "positions 'relative_key'"),
    ("activation", rewrite("config.json", hidden_act="silu"), "activation 'silu'"),
    ("no number", rewrite("config.json", hidden_size=None), "misses a number"),
    ("no json", with_bytes("config.json", lambda b: b[:-9]), "config.json cannot be read"),
    ("a list", with_bytes("config.json", lambda _: b"[]"), "holds no JSON object"),
    ("too many words", add_words, "gives token ids up to 500, model.safetensors has 22 words; take both from the same"),
    ("no tokenizer inside", with_bytes("tokenizer.json", lambda _: b"{}"), "is no tokenizer"),
    ("pooling", rewrite("1_Pooling/config.json", pooling_mode_mean_tokens=False,
     pooling_mode_lasttoken=True), "pooling by lasttoken is not supported; one of mean, cls, max"),
    ("two poolings", rewrite("1_Pooling/config.json", pooling_mode_cls_token=True), "pooling by .* and .* is not"),
    ("a wide pooling", rewrite("1_Pooling/config.json", word_embedding_dimension=32), "pools 32 dimensions"),
    ("a module", add_a_module("Router"), "module Router is not supported"),
    ("a dense layer", add_a_module("Dense"), "9_X has no config.json"),
]  # fmt: skip


@pytest.mark.parametrize(("damage", "problem"), [w[1:] for w in WRONG], ids=[w[0] for w in WRONG])
def test_what_cannot_be_used_is_one_line_that_names_what_was_seen(
    damage: Callable[[Path], None], problem: str, tmp_path: Path
) -> None:
    folder = encoder_folder(case(MEAN), tmp_path / "model")
    damage(folder)
    with pytest.raises(InvalidInput, match=problem) as caught:
        encoder(folder, tmp_path / "cache")
    assert "\n" not in str(caught.value)
    assert str(folder) in str(caught.value)
    assert not list((tmp_path / "cache").rglob("*.onnx"))


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("/no/such/folder", "no such folder: /no/such/folder"),
        ("intfloat/e5-small", "no such folder: intfloat/e5-small; .* write hf:intfloat/e5-small$"),
        ("hf:model", "is no Hugging Face id; write hf:OWNER/MODEL"),
        ("hf:a/b?prefix=x", r"after the \? stand query=TEXT and passage=TEXT"),
    ],
)
def test_a_name_that_is_none_is_refused_before_a_file_is_made(
    name: str, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EPISODIC_CACHE", str(tmp_path / "cache"))
    with pytest.raises(InvalidInput, match=problem):
        Memory.open(tmp_path / "m.db", embedder=name)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("size", [0, 7])
def test_a_file_shorter_than_a_header_is_no_safetensors(size: int) -> None:
    with pytest.raises(NoSafetensors, match=f"only {size} bytes"):
        read_safetensors(bytes(size))


# --- a memory that embeds with it -----------------------------------------------------------------------------------


def test_a_memory_lives_with_an_encoder_from_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = encoder_folder(case(XLM_R), tmp_path / "model")
    monkeypatch.setenv("EPISODIC_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("EPISODIC_EMBEDDER", str(folder))
    with Memory.open(tmp_path / "m.db") as memory:
        for day, lines in enumerate((TAP, LISBON, CELLO)):
            mine(memory).add(talk(lines, day))
        mine(memory).flush()
        assert mine(memory).stats().embedder.startswith("encoder:16-")
        recall = mine(memory).search("what did the plumber say about the tap", explain=True)
        assert recall.observations
        assert all(shown.legs["dense"] != 0 for shown in recall.observations)
        assert [f for f in memory.doctor() if f.severity == "error"] == []


def episodic(*arguments: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    known = {
        "HF_HOME": str(folder / "hf"),
        "HF_HUB_DISABLE_XET": "1",
        "EPISODIC_CACHE": str(folder / "cache"),
    }
    return subprocess.run(
        [sys.executable, "-m", "episodic_agent", *arguments],
        capture_output=True, text=True, check=False, timeout=120, cwd=folder,
        env={**os.environ, **known, **environment},
    )  # fmt: skip


@pytest.mark.slow
def test_a_model_is_pulled_from_the_hub_in_one_line_and_used_without_it(tmp_path: Path) -> None:
    encoder_folder(case(PROMPTED), tmp_path / "published")
    with serving_hub(tmp_path / "published") as address:
        done = episodic("models", "pull", "somebody/model", folder=tmp_path, HF_ENDPOINT=address)
        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines()[1] == "use it: EPISODIC_EMBEDDER=hf:somebody/model"
    chosen = {"EPISODIC_EMBEDDER": "hf:somebody/model", "HF_ENDPOINT": "http://127.0.0.1:9"}
    added = episodic("add", "the kettle boils", "--user", "ana", folder=tmp_path, **chosen)
    assert added.returncode == 0, added.stderr
    table = episodic("models", "list", folder=tmp_path).stdout.splitlines()
    assert len({len(row) - len(row.split("  ", 1)[1].lstrip()) for row in table}) == 1  # one column
    listed = episodic("models", "list", "--json", folder=tmp_path)
    assert json.loads(listed.stdout)["encoders"][0]["embedder"] == "hf:somebody/model"
    stats = episodic("stats", "--json", "--user", "ana", folder=tmp_path, **chosen)
    assert json.loads(stats.stdout)["embedder"].startswith("encoder:16-")


def test_a_hub_that_cannot_be_reached_is_one_line_with_the_way_without_it(tmp_path: Path) -> None:
    unreachable = {"HF_ENDPOINT": "http://127.0.0.1:9", "HF_HUB_OFFLINE": "1"}
    done = episodic("models", "pull", "intfloat/multilingual-e5-small", folder=tmp_path, **unreachable)
    assert done.returncode == 6
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("error")]
    assert "cannot obtain intfloat/multilingual-e5-small from the Hugging Face hub" in line
    assert "EPISODIC_EMBEDDER=/path/to/folder" in line


def test_a_model_that_is_none_is_refused_with_what_there_is(tmp_path: Path) -> None:
    done = episodic("models", "pull", "e5", folder=tmp_path)
    assert done.returncode == 2
    assert "no model 'e5'; there are minilm, minilm-int8, OWNER/MODEL of the" in done.stderr


@pytest.mark.slow
def test_a_repository_with_pickled_weights_alone_is_refused_with_the_remedy(tmp_path: Path) -> None:
    folder = encoder_folder(case(MEAN), tmp_path / "published")
    without("model.safetensors", "pytorch_model.bin")(folder)
    with serving_hub(folder) as address:
        done = episodic("models", "pull", "somebody/model", folder=tmp_path, HF_ENDPOINT=address)
    assert done.returncode == 2
    assert "it has no model.safetensors; weights are read from model.safetensors alone" in done.stderr


@pytest.mark.slow
def test_a_memory_is_embedded_again_by_command_and_calibrated_on_itself(tmp_path: Path) -> None:
    encoder_folder(case(XLM_R), tmp_path / "model")
    chosen = ["--user", "ana"]
    done = episodic("--embedder", "hashing", "add", "the kettle boils", *chosen, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    other = ["--embedder", "./model"]
    asked = episodic(*other, "search", "kettle", *chosen, folder=tmp_path)
    assert "the rest is compared by those of hashing-256" in asked.stdout + asked.stderr
    done = episodic(*other, "jobs", "reembed", folder=tmp_path, EPISODIC_CALIBRATION="auto")
    assert done.returncode == 0, done.stderr
    assert "texts embedded" in done.stdout or "text embedded" in done.stdout
    assert "1 of 1 observations (100 %)" in done.stderr
    assert "not calibrated: the default embedder, which it is compared with, is not at hand" in done.stderr
    assert episodic(*other, "jobs", "reembed", "--no-calibrate", folder=tmp_path).stdout.startswith("0 texts")
    asked = episodic(*other, "search", "kettle", *chosen, folder=tmp_path)
    assert "hashing-256" not in asked.stdout + asked.stderr
