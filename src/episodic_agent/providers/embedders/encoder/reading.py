"""Read a published sentence encoder from its folder: configuration, tokenizer and tensors, each checked."""

import json
import mmap
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from episodic_agent.errors import InvalidInput
from episodic_agent.providers.embedders.minilm.graph import ACTIVATIONS, POOLINGS, Architecture, Dense
from episodic_agent.providers.embedders.minilm.tensors import NoSafetensors, read_safetensors

_QUERY: Final = ("query",)
_PASSAGE: Final = ("passage", "document", "corpus")
PUBLISHED: Final = (
    # the cards of these models say so; their files of configuration do not
    (re.compile(r"(multilingual-)?e5-(small|base|large)(-v2)?"), "query: ", "passage: "),
    (
        re.compile(r"bge-(small|base|large)-en(-v1\.5)?"),
        "Represent this sentence for searching relevant passages: ",
        "",
    ),
)


@dataclass(frozen=True, slots=True)
class Prompts:
    """What stands before a query and before a passage; empty where nothing does."""

    query: str = ""
    passage: str = ""


def prompts_of(configuration: Mapping[str, Any], label: str) -> Prompts:
    """Return the prompts of a model by its `config_sentence_transformers.json`, or else by its name.

    >>> prompts_of({"prompts": {"query": "q: ", "document": "d: "}}, "mine")
    Prompts(query='q: ', passage='d: ')
    >>> prompts_of({}, "multilingual-e5-small")
    Prompts(query='query: ', passage='passage: ')
    """
    named = configuration.get("prompts")
    prompts = {k: v for k, v in named.items() if isinstance(v, str)} if isinstance(named, Mapping) else {}
    default = prompts.get(str(configuration.get("default_prompt_name")), "")
    if any(prompts.values()):
        return Prompts(_first(prompts, _QUERY, default), _first(prompts, _PASSAGE, default))
    for pattern, query, passage in PUBLISHED:
        if pattern.fullmatch(label):
            return Prompts(query, passage)
    return Prompts()


def _first(prompts: Mapping[str, str], names: tuple[str, ...], default: str) -> str:
    return next((prompts[name] for name in names if name in prompts), default)


WEIGHTS: Final = "model.safetensors"
TOKENIZER: Final = "tokenizer.json"
CONFIG: Final = "config.json"
MODULES: Final = "modules.json"
LENGTHS: Final = "sentence_bert_config.json"
PROMPTS: Final = "config_sentence_transformers.json"
OPTIONAL: Final = (MODULES, LENGTHS, PROMPTS, "tokenizer_config.json")
MAX_TOKENS: Final = 512
"""Longer inputs are cut here whatever a model could read: the engine's windows are shorter than this."""
FAMILIES: Final = {"bert": "bert", "roberta": "roberta", "xlm-roberta": "roberta", "camembert": "roberta"}
"""Model types and the prefix of their tensors where a checkpoint of a larger model holds them."""
_PICKLED: Final = ("pytorch_model.bin", "model.bin", "pytorch_model.pt")
_LARGEST_TEXT: Final = 200_000_000  # bytes of a JSON file
_UNKNOWN: Final = 10**6  # tokenizers write a huge number where no longest input is known
Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """An encoder as it was published; `silent` are the tokens that say nothing, `lower`: texts are."""

    model: Architecture
    tensors: Mapping[str, NDArray[np.float32]]
    tokenizer: str
    prompts: Prompts
    silent: Sequence[str]
    lower: bool


def read_checkpoint(folder: Path, label: str) -> Checkpoint:
    """Read the encoder of a folder; raises InvalidInput that names the file, what it holds and the remedy."""
    if not folder.is_dir():
        raise InvalidInput(
            f"no such folder: {folder}; name a folder with {CONFIG}, {TOKENIZER} and {WEIGHTS}"
        )
    modules = _modules(folder)
    base = folder / modules[0]["path"]
    config = _json(base / CONFIG)
    architecture = _architecture(config, base)
    tensors = _tensors(base, str(config["model_type"]))
    architecture = replace(architecture, layers=_layers(tensors, architecture, base))
    tokenizer, silent = _tokenizer(base, tensors)
    lengths = _json(base / LENGTHS, optional=True)
    limit = _longest(lengths, base, architecture)
    prompts = prompts_of(_json(folder / PROMPTS, optional=True), label)
    architecture = replace(architecture, max_tokens=limit, name=label)
    return Checkpoint(
        _behind(architecture, folder, modules[1:], prompts),
        tensors,
        tokenizer,
        prompts,
        silent,
        bool(lengths.get("do_lower_case")),
    )


def _json(path: Path, *, optional: bool = False) -> dict[str, Any]:
    """Read a JSON object; {} for an optional file that is not there."""
    if optional and not path.is_file():
        return {}
    read = _any_json(path)
    if not isinstance(read, dict):
        raise InvalidInput(f"{path} holds no JSON object; is it another model's file?")
    return read


def _any_json(path: Path) -> Any:
    try:
        if path.stat().st_size > _LARGEST_TEXT:
            raise InvalidInput(f"{path} is too large to be a file of configuration")
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InvalidInput(
            f"{path.parent} has no {path.name}; a sentence encoder has {CONFIG}, {TOKENIZER} and {WEIGHTS}"
        ) from None
    except (OSError, ValueError) as error:
        raise InvalidInput(f"{path} cannot be read ({error}); fetch it anew") from error


def _modules(folder: Path) -> list[dict[str, str]]:
    """Return the modules of `modules.json`, kind and path, the transformer first.

    Without the file it is a plain encoder, whose tokens sentence-transformers would average.
    """
    path = folder / MODULES
    if not path.is_file():
        return [{"kind": "Transformer", "path": ""}, {"kind": "Pooling", "path": ""}]
    listed = _any_json(path)
    try:
        read = [{"kind": str(m["type"]).rpartition(".")[2], "path": str(m["path"])} for m in listed]
    except (TypeError, KeyError) as error:
        raise InvalidInput(f"{path} lists no modules with type and path; fetch it anew") from error
    if any(Path(m["path"]).is_absolute() or ".." in Path(m["path"]).parts for m in read):
        raise InvalidInput(f"{path} names files outside of the folder; do not use this model")
    kinds = [module["kind"] for module in read]
    if kinds[:2] != ["Transformer", "Pooling"]:
        raise InvalidInput(
            f"{path}: this model begins with {', '.join(kinds) or 'nothing'}; an encoder here is a "
            "Transformer and a Pooling, then Dense and Normalize at most"
        )
    return read


def _architecture(config: Json, base: Path) -> Architecture:
    path, kind = base / CONFIG, str(config.get("model_type"))
    if kind not in FAMILIES:
        raise InvalidInput(
            f"{path}: model type {kind!r} is not supported; encoders of the types {', '.join(FAMILIES)} are, "
            "and any model on a server is: EPISODIC_EMBEDDER=openai:MODEL"
        )
    position, activation = (
        config.get("position_embedding_type") or "absolute",
        config.get("hidden_act", "gelu"),
    )
    if position != "absolute" or activation not in ACTIVATIONS or config.get("is_decoder"):
        raise InvalidInput(
            f"{path}: positions {position!r}, activation {activation!r}, decoder "
            f"{bool(config.get('is_decoder'))} are not supported; absolute positions and "
            f"{', '.join(ACTIVATIONS)} in an encoder are"
        )
    try:
        size, heads = int(config["hidden_size"]), int(config["num_attention_heads"])
        layers, positions = int(config["num_hidden_layers"]), int(config["max_position_embeddings"])
        epsilon = float(config.get("layer_norm_eps", 1e-12))
        offset = int(config.get("pad_token_id", 1)) + 1 if FAMILIES[kind] == "roberta" else 0
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidInput(f"{path} misses a number ({error}); fetch it anew") from error
    if min(size, heads, layers, positions - offset) < 1 or size % heads:
        raise InvalidInput(f"{path}: {heads} heads in {size} dimensions, {layers} layers make no encoder")
    return Architecture(
        layers, heads, positions - offset, size, offset=offset, epsilon=epsilon, activation=str(activation)
    )


def _tensors(base: Path, kind: str) -> dict[str, NDArray[np.float32]]:
    """Read the weights, under the names they have in a checkpoint of the encoder alone."""
    path = base / WEIGHTS
    if not path.is_file():
        raise InvalidInput(_without_weights(base))
    tensors = _safetensors(path)
    prefix = FAMILIES[kind] + "."
    return {name.removeprefix(prefix): array for name, array in tensors.items()}


def _without_weights(base: Path) -> str:
    pickled = [name for name in _PICKLED if (base / name).is_file()]
    if pickled:
        return (
            f"{base} holds its weights in {pickled[0]} alone, a pickle, which is not read because it can run "
            "code; save it again with `SentenceTransformer(FOLDER).save(OTHER)`, or take a revision with "
            f"{WEIGHTS}"
        )
    if (base / f"{WEIGHTS}.index.json").is_file():
        return f"{base} holds its weights in several files; join them into one {WEIGHTS}"
    return f"{base} has no {WEIGHTS}; a sentence encoder has {CONFIG}, {TOKENIZER} and {WEIGHTS}"


def _safetensors(path: Path) -> dict[str, NDArray[np.float32]]:
    try:
        with path.open("rb") as file:
            # mapped, not read: the largest of these models have more than two gigabytes
            view = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        return read_safetensors(view)
    except NoSafetensors as error:
        raise InvalidInput(f"{path} is damaged or no safetensors file: {error}; fetch it anew") from error
    except (OSError, ValueError) as error:  # an empty file cannot be mapped
        raise InvalidInput(f"{path} cannot be read ({error}); fetch it anew") from error


def _layers(tensors: Mapping[str, NDArray[np.float32]], model: Architecture, base: Path) -> int:
    """Check that every tensor the graph asks for is there, in its shape; return the layers."""
    size, path = model.dimensions, base / WEIGHTS
    missing = [name for name in _names(model.layers) if name not in tensors]
    if missing:
        raise InvalidInput(
            f"{path} has no {missing[0]} ({len(missing)} tensors are missing): it is not the encoder that "
            f"{CONFIG} describes; fetch both anew"
        )
    wide = tensors["encoder.layer.0.intermediate.dense.weight"].shape[0]
    shapes = {"intermediate.dense.weight": (wide, size), "intermediate.dense.bias": (wide,)}
    shapes |= {"output.dense.weight": (size, wide), "attention.output.dense.weight": (size, size)}
    for name in _names(model.layers):
        array, own = tensors[name], name.partition("encoder.layer.")[2].partition(".")[2]
        square = (size, size) if ".self." in name and name.endswith("weight") else (size,)
        expected = (len(array), size) if own == "" and array.ndim == 2 else shapes.get(own, square)
        if array.shape != expected:
            raise InvalidInput(
                f"{path}: {name} is {list(array.shape)}, not {list(expected)} as {CONFIG} says; "
                "fetch both anew"
            )
    rows = len(tensors["embeddings.position_embeddings.weight"])
    if rows < model.max_tokens + model.offset:
        raise InvalidInput(f"{path} has {rows} positions, fewer than {CONFIG} says; fetch both anew")
    return model.layers


def _names(layers: int) -> list[str]:
    tables = ("word_embeddings", "position_embeddings", "token_type_embeddings")
    names = [f"embeddings.{table}.weight" for table in tables]
    parts = [f"attention.self.{kind}" for kind in ("query", "key", "value")]
    parts += ["attention.output.dense", "attention.output.LayerNorm"]
    parts += ["intermediate.dense", "output.dense", "output.LayerNorm"]
    places = [f"encoder.layer.{layer}.{part}" for layer in range(layers) for part in parts]
    return names + [f"{p}.{end}" for p in ("embeddings.LayerNorm", *places) for end in ("weight", "bias")]


def _tokenizer(base: Path, tensors: Mapping[str, NDArray[np.float32]]) -> tuple[str, list[str]]:
    """Return the tokenizer's JSON and the tokens that say nothing; refuse one that does not fit."""
    from tokenizers import Tokenizer  # noqa: PLC0415 - brings a large library

    path = base / TOKENIZER
    parsed = _json(path)
    text = path.read_text(encoding="utf-8")
    try:
        tokenizer = Tokenizer.from_str(text)
    except Exception as error:
        raise InvalidInput(f"{path} is no tokenizer ({error}); fetch it anew") from error
    rows = len(tensors["embeddings.word_embeddings.weight"])
    highest = max(tokenizer.get_vocab(with_added_tokens=True).values(), default=-1)
    if highest >= rows:
        raise InvalidInput(
            f"{path} does not fit the weights: it gives token ids up to {highest}, {WEIGHTS} has {rows} "
            "words; take both from the same model"
        )
    model = parsed.get("model") or {}
    around = [str(tokenizer.id_to_token(n)) for n in tokenizer.encode("").ids]
    unknown = model.get("unk_token")
    if unknown is None and isinstance(model.get("unk_id"), int):
        unknown = tokenizer.id_to_token(model["unk_id"])
    empty = "▁"  # what sentencepiece writes for the space before a text
    known = [token for token in (unknown, empty) if token and tokenizer.token_to_id(token) is not None]
    return text, list(dict.fromkeys([*around, *known]))


def _longest(lengths: Json, base: Path, model: Architecture) -> int:
    """Return the longest input in tokens, as sentence-transformers would find it, up to MAX_TOKENS."""
    asked = lengths.get("max_seq_length") or _json(base / "tokenizer_config.json", optional=True).get(
        "model_max_length"
    )
    known = int(asked) if isinstance(asked, int | float) and 2 < asked < _UNKNOWN else MAX_TOKENS
    return min(known, model.max_tokens, MAX_TOKENS)


def _behind(
    model: Architecture, folder: Path, modules: Sequence[Mapping[str, str]], prompts: Prompts
) -> Architecture:
    """Add pooling and what stands behind it to an architecture."""
    model = replace(model, pooling=_pooling(folder / modules[0]["path"], model, prompts))
    dense: list[Dense] = []
    for module in modules[1:]:
        if module["kind"] == "Dense":
            dense.append(_dense(folder / module["path"], model.dimensions))
            model = replace(model, dimensions=len(dense[-1].weight), dense=tuple(dense))
        elif module["kind"] != "Normalize":
            raise InvalidInput(
                f"{folder / MODULES}: the module {module['kind']} is not supported; Dense and Normalize are"
            )
    return model


def _pooling(place: Path, model: Architecture, prompts: Prompts) -> str:
    if not (place / CONFIG).is_file() or place == place.parent:
        return "mean"
    config = _json(place / CONFIG)
    if "model_type" in config:  # a plain encoder's own configuration
        return "mean"
    old = {"cls_token": "cls", "mean_tokens": "mean", "max_tokens": "max"}
    named = [old.get(k.removeprefix("pooling_mode_"), k.removeprefix("pooling_mode_"))
             for k, on in config.items() if k.startswith("pooling_mode_") and on is True]  # fmt: skip
    if isinstance(config.get("pooling_mode"), str):
        named = [config["pooling_mode"]]
    if len(named) != 1 or named[0] not in POOLINGS:
        raise InvalidInput(
            f"{place / CONFIG}: pooling by {' and '.join(map(str, named)) or 'nothing'} is not supported; "
            f"one of {', '.join(POOLINGS)} is"
        )
    if config.get("include_prompt") is False and (prompts.query or prompts.passage):
        raise InvalidInput(f"{place / CONFIG}: pooling that leaves prompts out is not supported")
    width = config.get("word_embedding_dimension", config.get("embedding_dimension", model.dimensions))
    if width != model.dimensions:
        raise InvalidInput(f"{place / CONFIG} pools {width} dimensions, the encoder has {model.dimensions}")
    return str(named[0])


def _dense(place: Path, width: int) -> Dense:
    config = _json(place / CONFIG)
    kind = str(config.get("activation_function", "")).rpartition(".")[2]
    if kind not in {"Tanh", "Identity"}:
        raise InvalidInput(f"{place / CONFIG}: activation {kind!r} is not supported; Tanh and Identity are")
    if not (place / WEIGHTS).is_file():
        raise InvalidInput(_without_weights(place))
    tensors = _safetensors(place / WEIGHTS)
    weight, bias = tensors.get("linear.weight"), tensors.get("linear.bias")
    if weight is None or weight.ndim != 2 or weight.shape[1] != width:
        raise InvalidInput(f"{place / WEIGHTS} holds no layer from {width} dimensions; fetch it anew")
    return Dense(weight, bias, tanh=kind == "Tanh")
