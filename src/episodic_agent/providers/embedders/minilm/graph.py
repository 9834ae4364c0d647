"""Build the all-MiniLM-L6-v2 sentence encoder as one ONNX graph, straight from its safetensors.

BERT with six layers, twelve heads and 384 dimensions, masked mean pooling and L2 normalisation inside the
graph. The shape of the graph is chosen for the CPU: one matrix product makes query, key and value; the
residual sum and the layer normalisation stay two operators, because ONNX Runtime's fused
SkipLayerNormalization is about five times slower on a CPU.
"""

import json
import struct
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from episodic_agent.providers.embedders.minilm import protobuf
from episodic_agent.providers.embedders.minilm.weights import DIMENSIONS, MAX_TOKENS

Tensors = Mapping[str, NDArray[np.float32]]

LAYERS = 6
HEADS = 12
"""Longest input in tokens, [CLS] and [SEP] included: what the model was trained and published with."""
CONTRIB = "com.microsoft"
"""The domain of ONNX Runtime's own operators (attention, BiasGelu)."""


def read_safetensors(data: bytes) -> dict[str, NDArray[np.float32]]:
    """Read the float32 tensors of a safetensors file: header length (u64), JSON header, raw data.

    Tensors of other types (the checkpoint's `position_ids`) are left out. The arrays are views of `data`.
    """
    (length,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8 : 8 + length])
    body = memoryview(data)[8 + length :]
    return {
        name: np.frombuffer(body[slice(*entry["data_offsets"])], dtype="<f4").reshape(entry["shape"])
        for name, entry in header.items()
        if entry.get("dtype") == "F32"
    }


class _Builder:
    """Collect the nodes and weights of the graph; every method returns the name of its output."""

    def __init__(self) -> None:
        self.nodes: list[bytes] = []
        self.weights: list[bytes] = []

    def weight(self, name: str, array: NDArray[np.generic]) -> str:
        self.weights.append(protobuf.tensor(name, array))
        return name

    def add(
        self, operator: str, output: str, *inputs: str, domain: str = "", **attributes: protobuf.Attribute
    ) -> str:
        self.nodes.append(protobuf.node(operator, inputs, [output], domain=domain, **attributes))
        return output

    def product(self, output: str, hidden: str, matrix: NDArray[np.float32]) -> str:
        """Multiply by a torch Linear weight, which is stored [out, in]."""
        return self.add("MatMul", output, hidden, self.weight(f"{output}.matrix", matrix.T))

    def normalise(self, output: str, hidden: str, tensors: Tensors, prefix: str) -> str:
        scale = self.weight(f"{output}.scale", tensors[f"{prefix}.weight"])
        shift = self.weight(f"{output}.shift", tensors[f"{prefix}.bias"])
        return self.add("LayerNormalization", output, hidden, scale, shift, axis=-1, epsilon=1e-12)


def _embeddings(builder: _Builder, tensors: Tensors) -> str:
    """Sum word, position and token type embeddings; all tokens are of type 0, so two tables are one."""
    prefix = "embeddings"
    words = builder.weight("words", tensors[f"{prefix}.word_embeddings.weight"])
    table = tensors[f"{prefix}.position_embeddings.weight"][:MAX_TOKENS]
    places = builder.weight("places", table + tensors[f"{prefix}.token_type_embeddings.weight"][0])
    word = builder.add("Gather", "word", words, "ids")
    shape = builder.add("Shape", "width", "ids", start=1, end=2)
    zero, text = builder.weight("zero", np.array([0])), builder.weight("one", np.array([1]))
    place = builder.add("Slice", "place", places, zero, shape, zero, text)
    summed = builder.add("Add", "summed", word, place)
    return builder.normalise("embedded", summed, tensors, f"{prefix}.LayerNorm")


def _attention(builder: _Builder, hidden: str, tensors: Tensors, layer: int) -> str:
    prefix, name = f"encoder.layer.{layer}.attention", f"layer{layer}.attention"
    kinds = ("query", "key", "value")
    matrix = np.concatenate([tensors[f"{prefix}.self.{kind}.weight"] for kind in kinds])
    bias = np.concatenate([tensors[f"{prefix}.self.{kind}.bias"] for kind in kinds])
    joined = builder.product(f"{name}.qkv", hidden, matrix)
    parts = [f"{name}.{kind}" for kind in kinds]
    builder.nodes.append(protobuf.node("Split", [joined], parts, axis=-1))
    context = builder.add(
        "MultiHeadAttention",
        f"{name}.context",
        *parts,
        builder.weight(f"{name}.bias", bias),
        "mask",
        domain=CONTRIB,
        num_heads=HEADS,
    )
    output = builder.product(f"{name}.output", context, tensors[f"{prefix}.output.dense.weight"])
    return _residual(builder, output, hidden, tensors, f"{prefix}.output")


def _feed_forward(builder: _Builder, hidden: str, tensors: Tensors, layer: int) -> str:
    prefix, name = f"encoder.layer.{layer}", f"layer{layer}.feed_forward"
    wide = builder.product(f"{name}.wide", hidden, tensors[f"{prefix}.intermediate.dense.weight"])
    bias = builder.weight(f"{name}.bias", tensors[f"{prefix}.intermediate.dense.bias"])
    active = builder.add("BiasGelu", f"{name}.active", wide, bias, domain=CONTRIB)
    output = builder.product(f"{name}.output", active, tensors[f"{prefix}.output.dense.weight"])
    return _residual(builder, output, hidden, tensors, f"{prefix}.output")


def _residual(builder: _Builder, output: str, hidden: str, tensors: Tensors, prefix: str) -> str:
    bias = builder.weight(f"{output}.bias", tensors[f"{prefix}.dense.bias"])
    biased = builder.add("Add", f"{output}.biased", output, bias)
    summed = builder.add("Add", f"{output}.sum", biased, hidden)
    return builder.normalise(f"{output}.normal", summed, tensors, f"{prefix}.LayerNorm")


def _pool(builder: _Builder, hidden: str) -> None:
    """Sum the tokens the mask keeps and normalise; the mean's division would cancel out."""
    axis = builder.weight("axis", np.array([1]))
    text = builder.add("Cast", "kept", "mask", to=protobuf.type_codes["float32"])
    row = builder.add("Unsqueeze", "row", text, axis)
    pooled = builder.add("MatMul", "pooled", row, hidden)
    flat = builder.add("Squeeze", "flat", pooled, axis)
    builder.add("LpNormalization", "vectors", flat, axis=-1, p=2)


def build(tensors: Tensors, metadata: dict[str, str]) -> bytes:
    """Build the ONNX model: `ids`, `mask` int32 [n, width] in, `vectors` float32 [n, 384] out.

    `mask` is 1 for a token and 0 for padding on the right; rows of `vectors` have length 1.
    """
    builder = _Builder()
    hidden = _embeddings(builder, tensors)
    for layer in range(LAYERS):
        hidden = _attention(builder, hidden, tensors, layer)
        hidden = _feed_forward(builder, hidden, tensors, layer)
    _pool(builder, hidden)
    body = protobuf.graph(
        "all-MiniLM-L6-v2",
        builder.nodes,
        builder.weights,
        inputs=[protobuf.value_info(name, "int32", ["n", "width"]) for name in ("ids", "mask")],
        outputs=[protobuf.value_info("vectors", "float32", ["n", DIMENSIONS])],
    )
    return protobuf.model(body, opsets={"": 17, CONTRIB: 1}, metadata=metadata)
