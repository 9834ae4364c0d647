"""Measure what the 8-bit MiniLM is quantised by: the range of each product's input, channel by channel.

    python tools/quantise_minilm.py WEIGHTS TEXTS…    # writes data/embedding/minilm-int8.npz

WEIGHTS is the folder with model.safetensors and tokenizer.json; TEXTS are the development data (gzipped JSON
lines with messages or units). A few hundred texts of each file are run, and oddities beside them: numbers,
code, other scripts. What is kept are divisors and ranges, nothing of the texts.
"""

import gzip
import json
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np
from shipping import Origin, ship_arrays

from episodic_agent.data import demo_folder
from episodic_agent.providers.embedders.minilm import graph, protobuf
from episodic_agent.providers.embedders.minilm.embedder import batches, load
from episodic_agent.providers.embedders.minilm.runtime import PROCESSOR, onnx_runtime
from episodic_agent.providers.embedders.minilm.tensors import read_safetensors

ALPHA = 0.8  # how much of the spread of activations goes over to the weights
EACH = 400  # texts of each file
INSIDE = 0.99999  # share of quotients inside the range; the rest is cut
ORIGIN = Origin(
    "tools/quantise_minilm.py",
    "what goes into the products of all-MiniLM-L6-v2 over 1,616 texts (superdialseg, qmsum, memdaily, "
    "lifebench, the demo, oddities)",
    "divisors and ranges by which the 8-bit MiniLM quantises",
)
ODDITIES = [
    "x", "?", "ok", "123 456 789,00 €", "def f(x):\n    return x + 1  # no", "https://example.org/a?b=c&d=e",
    "AAAAAAAAAAAAAA", "ha ha ha ha ha ha", "🙂 fine 👍", "我明天下午三点要去看牙医。", "Завтра в три часа",
    "お茶を飲みます", "شاي من فضلك", "{\"a\": [1, 2, 3], \"b\": null}", "the " * 200, "1. 2. 3. 4. 5. 6. 7.",
]  # fmt: skip


def texts_of(path: Path) -> Iterator[str]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            case = json.loads(line)
            for unit in case.get("messages") or case.get("units") or ():
                if unit["text"].strip():
                    yield unit["text"]


def chosen(paths: list[Path]) -> list[str]:
    random = np.random.default_rng(5)
    texts = list(ODDITIES)
    for path in paths:
        several = list(islice(texts_of(path), 20_000))
        texts += [several[n] for n in random.choice(len(several), min(EACH, len(several)), replace=False)]
    for path in sorted(demo_folder().glob("*.jsonl")):
        texts += [json.loads(line).get("text", "") for line in path.read_text(encoding="utf-8").splitlines()]
    return [text for text in texts if text.strip()]


class Watching(graph.Builder):
    """A builder that gives out what goes into each product."""

    def __init__(self) -> None:
        super().__init__(graph.MINILM)
        self.inputs: dict[str, str] = {}

    def product(self, output, hidden, matrix):  # type: ignore[no-untyped-def]
        self.inputs[output] = hidden
        return super().product(output, hidden, matrix)


def main(folder: Path, paths: list[Path]) -> None:
    tensors = read_safetensors((folder / "model.safetensors").read_bytes())
    tokenizer = (folder / "tokenizer.json").read_text(encoding="utf-8")
    watching = Watching()
    graph.build(tensors, {}, builder=watching)
    outputs = [
        protobuf.value_info(h, "float32", ["n", "w", "d"]) for h in dict.fromkeys(watching.inputs.values())
    ]
    given = [protobuf.value_info(name, "int32", ["n", "width"]) for name in ("ids", "mask")]
    body = protobuf.graph("watched", watching.nodes, watching.weights, inputs=given, outputs=outputs)
    model = protobuf.model(body, opsets={"": 17, graph.CONTRIB: 1}, metadata={"tokenizer": tokenizer})
    file = Path(sys.argv[1]) / "watched.onnx"
    file.write_bytes(model)
    loaded = load(file)
    session = onnx_runtime().InferenceSession(model, providers=[PROCESSOR])
    names = [one.name for one in session.get_outputs()]
    rows = loaded.tokens(chosen(paths))
    low: dict[str, np.ndarray] = {}
    high: dict[str, np.ndarray] = {}
    tails: dict[str, list[np.ndarray]] = {name: [] for name in names}

    def values(group: list[int]) -> dict[str, np.ndarray]:
        width = max(len(rows[n]) for n in group)
        ids = np.array([rows[n] + [0] * (width - len(rows[n])) for n in group], np.int32)
        mask = np.array([[1] * len(rows[n]) + [0] * (width - len(rows[n])) for n in group], np.int32)
        results = session.run(None, {"ids": ids, "mask": mask})
        return {name: one[mask.astype(bool)] for name, one in zip(names, results, strict=True)}

    groups = list(batches([len(row) for row in rows], 2048))
    for group in groups:
        for name, one in values(group).items():
            low[name] = np.minimum(low.get(name, np.inf), one.min(axis=0))
            high[name] = np.maximum(high.get(name, -np.inf), one.max(axis=0))
    smooth = {}
    for output, hidden in watching.inputs.items():
        most = np.maximum(-low[hidden], high[hidden]).clip(1e-4)
        weight = np.abs(_matrix(tensors, output)).max(axis=0).clip(1e-4)
        smooth[output] = (most**ALPHA / weight ** (1 - ALPHA)).astype(np.float16)
    for group in groups[::2]:
        seen = values(group)
        for output, hidden in watching.inputs.items():
            quotients = seen[hidden] / smooth[output].astype(np.float32)
            tails[hidden].append(_ends(quotients.ravel()))
    ranges = [_range(np.concatenate(tails[hidden])) for hidden in watching.inputs.values()]
    arrays = {f"smooth{n}": smooth[output] for n, output in enumerate(watching.inputs)}
    file.unlink()
    arrays |= {"names": np.array(list(watching.inputs)), "ranges": np.array(ranges, np.float32)}
    ship_arrays("embedding/minilm-int8.npz", arrays, ORIGIN)
    print(f"{len(rows)} texts", file=sys.stderr)


def _ends(values: np.ndarray) -> np.ndarray:
    """Return the extremes of many values, enough of them to know where the last shares lie."""
    return np.quantile(values, [1 - INSIDE, INSIDE, 0.0, 1.0])


def _range(ends: np.ndarray) -> tuple[float, float]:
    inner = ends.reshape(-1, 4)
    return float(inner[:, 0].min()), float(inner[:, 1].max())


def _matrix(tensors: dict[str, np.ndarray], output: str) -> np.ndarray:
    layer, _, part = output.removeprefix("layer").partition(".")
    prefix = f"encoder.layer.{layer}"
    if part == "attention.qkv":
        kinds = ("query", "key", "value")
        return np.concatenate([tensors[f"{prefix}.attention.self.{kind}.weight"] for kind in kinds])
    names = {
        "attention.output": "attention.output.dense",
        "feed_forward.wide": "intermediate.dense",
        "feed_forward.output": "output.dense",
    }
    return tensors[f"{prefix}.{names[part]}.weight"]


if __name__ == "__main__":
    main(Path(sys.argv[1]), [Path(path) for path in sys.argv[2:]])
