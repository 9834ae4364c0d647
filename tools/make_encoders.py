"""Make the small random sentence encoders that tests embed with, and what sentence-transformers says of them.

Run it in an environment of its own, since it needs torch (no part of this project):

    python3 -m venv ENV && ENV/bin/pip install torch sentence-transformers
    ENV/bin/python tools/make_encoders.py tests/data/encoders

Two checkpoints are written, a BERT in float32 and an XLM-R in float16, and `cases.json`: for each case the
files of configuration that make a model of a checkpoint, and the vectors of its texts as documents and as
queries, each text encoded alone, in float32. The weights are drawn with a fixed seed.
"""

import json
import shutil
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from sentence_transformers import SentenceTransformer
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast, XLMRobertaConfig, XLMRobertaModel

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "query", "passage", ":", ".", "?", "##s", "the"]
WORDS += ["kettle", "boils", "and", "cat", "waits", "for", "tea", "a", "b", "c"]
PIECES = ["▁", "▁query", "▁passage", ":", ".", "?", "s", "▁the", "▁kettle", "▁boil", "▁and", "▁cat", "▁wait"]
PIECES += ["▁for", "▁tea", "ber", "▁Tee", "é", "a", "b", "c", "t", "e", "茶", "▁猫"]
TEXTS = ["the kettle boils", "a cat waits for tea.", "tea", "the cats and the kettles boil " * 6, "a ? b"]
SHAPE = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 24}
POSITIONS = 40
PROMPTS = {"prompts": {"query": "query: ", "document": "passage: "}, "default_prompt_name": None}
MODULE = "sentence_transformers.models."
CASES: list[dict[str, Any]] = [
    {"name": "bert, mean, normalised", "base": "bert", "pooling": "mean", "normalize": True},
    {"name": "bert, cls", "base": "bert", "pooling": "cls", "normalize": False},
    {"name": "bert, max, normalised", "base": "bert", "pooling": "max", "normalize": True},
    {"name": "bert, cls, prompts", "base": "bert", "pooling": "cls", "normalize": True, "prompts": PROMPTS},
    {"name": "bert, short", "base": "bert", "pooling": "mean", "normalize": True, "max_seq_length": 12},
    {"name": "bert, dense", "base": "bert", "pooling": "mean", "normalize": True, "dense": True},
    {"name": "xlm-r, mean, prompts", "base": "xlm-roberta", "pooling": "mean", "normalize": True,
     "prompts": PROMPTS},
    {"name": "xlm-r, cls, normalised", "base": "xlm-roberta", "pooling": "cls", "normalize": True},
    {"name": "xlm-r, max", "base": "xlm-roberta", "pooling": "max", "normalize": False},
]  # fmt: skip


def bert(folder: Path) -> None:
    torch.manual_seed(7)
    shape = {**SHAPE, "vocab_size": len(WORDS), "max_position_embeddings": POSITIONS}
    _save(BertModel(BertConfig(**shape, initializer_range=0.5), add_pooling_layer=False), folder)
    tokenizer = Tokenizer(models.WordPiece({w: n for n, w in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    names = {"pad": "[PAD]", "unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"}
    _save_tokenizer(tokenizer, names, POSITIONS, folder)


def xlm_roberta(folder: Path) -> None:
    torch.manual_seed(11)
    vocabulary = [("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0)]
    vocabulary += [(piece, -1.0 - n / 10) for n, piece in enumerate(PIECES)] + [("<mask>", 0.0)]
    # positions begin behind the padding token's
    shape = {**SHAPE, "vocab_size": len(vocabulary), "max_position_embeddings": POSITIONS + 2}
    config = XLMRobertaConfig(
        **shape, type_vocab_size=1, initializer_range=0.5, layer_norm_eps=1e-5, pad_token_id=1
    )
    _save(XLMRobertaModel(config, add_pooling_layer=False).half(), folder)
    tokenizer = Tokenizer(models.Unigram(vocabulary, unk_id=3, byte_fallback=False))
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    names = {"pad": "<pad>", "unk": "<unk>", "cls": "<s>", "sep": "</s>", "mask": "<mask>"}
    _save_tokenizer(tokenizer, {**names, "bos": "<s>", "eos": "</s>"}, POSITIONS, folder)


def _save(model: Any, folder: Path) -> None:
    with torch.no_grad():
        for name, tensor in model.named_parameters():
            if "LayerNorm" in name or name.endswith("bias"):
                tensor.add_(0.2 * torch.randn_like(tensor))
    model.save_pretrained(folder)


def _save_tokenizer(tokenizer: Tokenizer, names: dict[str, str], longest: int, folder: Path) -> None:
    special = {f"{name}_token": token for name, token in names.items()}
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=longest, **special).save_pretrained(
        folder
    )


def files_of(case: dict[str, Any]) -> dict[str, Any]:
    """Write down a model's configuration as its published forms do."""
    modules = [{"idx": 0, "name": "0", "path": "", "type": f"{MODULE}Transformer"}]
    modules.append({"idx": 1, "name": "1", "path": "1_Pooling", "type": f"{MODULE}Pooling"})
    if case.get("dense"):
        modules.append({"idx": 2, "name": "2", "path": "2_Dense", "type": f"{MODULE}Dense"})
    if case["normalize"]:
        number = len(modules)
        modules.append(
            {"idx": number, "name": str(number), "path": f"{number}_Normalize", "type": f"{MODULE}Normalize"}
        )
    kinds = {"cls": "cls_token", "mean": "mean_tokens", "max": "max_tokens"}
    pooling: dict[str, Any] = {"word_embedding_dimension": SHAPE["hidden_size"]}
    pooling |= {f"pooling_mode_{kind}": case["pooling"] == name for name, kind in kinds.items()}
    files: dict[str, Any] = {"modules.json": modules, "1_Pooling/config.json": pooling}
    if "prompts" in case:
        files["config_sentence_transformers.json"] = case["prompts"]
    if "max_seq_length" in case:
        length = {"max_seq_length": case["max_seq_length"], "do_lower_case": False}
        files["sentence_bert_config.json"] = length
    if case.get("dense"):
        files["2_Dense/config.json"] = {
            "in_features": SHAPE["hidden_size"], "out_features": 8, "bias": True,
            "activation_function": "torch.nn.modules.activation.Tanh",
        }  # fmt: skip
    return files


def vectors_of(case: dict[str, Any], bases: Path) -> dict[str, Any]:
    files = files_of(case)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "model"
        shutil.copytree(bases / case["base"], folder)
        for path, content in files.items():
            (folder / path).parent.mkdir(exist_ok=True)
            (folder / path).write_text(json.dumps(content), encoding="utf-8")
        if case.get("dense"):
            shutil.copy(bases / "dense.safetensors", folder / "2_Dense" / "model.safetensors")
        if case["normalize"]:
            (folder / files["modules.json"][-1]["path"]).mkdir(exist_ok=True)
        model = SentenceTransformer(str(folder), device="cpu").float()

        def embedded(prompt: str) -> list[list[float]]:
            known = case.get("prompts", {"prompts": {}})["prompts"]
            rows = [model.encode(text, prompt=known.get(prompt)) for text in TEXTS]
            return [[round(float(x), 7) for x in row] for row in rows]

        return {
            "name": case["name"], "base": case["base"], "files": files,
            "documents": embedded("document"), "queries": embedded("query"),
        }  # fmt: skip


def main(output: Path) -> None:
    output.mkdir(parents=True, exist_ok=True)
    bert(output / "bert")
    xlm_roberta(output / "xlm-roberta")
    torch.manual_seed(3)
    dense = {"linear.weight": torch.randn(8, SHAPE["hidden_size"]), "linear.bias": torch.randn(8)}
    save_file(dense, output / "dense.safetensors")
    packages = ("torch", "transformers", "sentence-transformers", "tokenizers")
    made_by = {name: version(name) for name in packages}
    cases = [vectors_of(case, output) for case in CASES]
    text = json.dumps({"made_by": made_by, "texts": TEXTS, "cases": cases}, ensure_ascii=False, indent=0)
    (output / "cases.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
