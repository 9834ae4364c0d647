"""Build a sentence encoder of the BERT family as one ONNX graph, straight from its tensors.

BERT, RoBERTa and XLM-R differ in where positions begin to count, and in nothing else that is computed. Masked
pooling and L2 normalisation lie inside the graph. Its shape is chosen for the CPU: one matrix product makes
query, key and value; the residual sum and the layer normalisation stay two operators, because ONNX Runtime's
fused SkipLayerNormalization is about five times slower on a CPU.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from episodic_agent.providers.embedders.minilm import protobuf
from episodic_agent.providers.embedders.minilm.hub import DIMENSIONS, MAX_TOKENS

Tensors = Mapping[str, NDArray[np.float32]]
Encode = Callable[[str, NDArray[np.generic]], bytes]
"""How a weight gets into the model: name and array to an encoded TensorProto."""

CONTRIB = "com.microsoft"
"""The domain of ONNX Runtime's own operators (attention, BiasGelu)."""
POOLINGS = ("mean", "cls", "max", "mean_sqrt_len_tokens")
ACTIVATIONS = {"gelu": "BiasGelu", "gelu_new": "FastGelu", "gelu_pytorch_tanh": "FastGelu", "relu": "Relu"}
"""The feed-forward activations that are known, by the names of checkpoints, and their operators."""
FAR_BELOW = -1e9
"""What stands for padding where the largest value is taken."""


@dataclass(frozen=True, slots=True)
class Dense:
    """A linear layer behind the pooling: weight [out, in], bias [out] or none, Tanh or nothing after it."""

    weight: NDArray[np.float32]
    bias: NDArray[np.float32] | None
    tanh: bool


@dataclass(frozen=True, slots=True)
class Architecture:
    """What the tensors of an encoder do not say of themselves.

    `max_tokens` is the longest input, special tokens included; positions count from `offset` on (BERT 0,
    RoBERTa the padding token's id and one). `pooling` is one of POOLINGS. `dimensions` are the vectors'.
    """

    layers: int
    heads: int
    max_tokens: int
    dimensions: int
    offset: int = 0
    epsilon: float = 1e-12
    activation: str = "gelu"
    pooling: str = "mean"
    dense: Sequence[Dense] = ()
    name: str = "encoder"


MINILM = Architecture(
    layers=6, heads=12, max_tokens=MAX_TOKENS, dimensions=DIMENSIONS, name="all-MiniLM-L6-v2"
)


class Builder:
    """Collect the nodes and weights of the graph; every method returns the name of its output."""

    def __init__(self, model: Architecture, encode: Encode = protobuf.tensor) -> None:
        self.model = model
        self.nodes: list[bytes] = []
        self.weights: list[bytes] = []
        self._encode = encode

    def weight(self, name: str, array: NDArray[np.generic]) -> str:
        """Add a constant."""
        self.weights.append(self._encode(name, array))
        return name

    def add(
        self, operator: str, output: str, *inputs: str, domain: str = "", **attributes: protobuf.Attribute
    ) -> str:
        """Add a node of one output."""
        self.nodes.append(protobuf.node(operator, inputs, [output], domain=domain, **attributes))
        return output

    def product(self, output: str, hidden: str, matrix: NDArray[np.float32]) -> str:
        """Multiply by a torch Linear weight, which is stored [out, in]."""
        return self.add("MatMul", output, hidden, self.weight(f"{output}.matrix", matrix.T))

    def normalise(self, output: str, hidden: str, tensors: Tensors, prefix: str) -> str:
        """Bring each token to mean 0 and spread 1, then to the scale and shift of a layer."""
        scale = self.weight(f"{output}.scale", tensors[f"{prefix}.weight"])
        shift = self.weight(f"{output}.shift", tensors[f"{prefix}.bias"])
        return self.add(
            "LayerNormalization", output, hidden, scale, shift, axis=-1, epsilon=self.model.epsilon
        )


def _embeddings(builder: Builder, tensors: Tensors) -> str:
    """Sum word, position and token type embeddings; all tokens are of type 0, so two tables are one."""
    prefix = "embeddings"
    words = builder.weight("words", tensors[f"{prefix}.word_embeddings.weight"])
    start = builder.model.offset
    table = tensors[f"{prefix}.position_embeddings.weight"][start : start + builder.model.max_tokens]
    places = builder.weight("places", table + tensors[f"{prefix}.token_type_embeddings.weight"][0])
    word = builder.add("Gather", "word", words, "ids")
    shape = builder.add("Shape", "width", "ids", start=1, end=2)
    zero, text = builder.weight("zero", np.array([0])), builder.weight("one", np.array([1]))
    place = builder.add("Slice", "place", places, zero, shape, zero, text)
    summed = builder.add("Add", "summed", word, place)
    return builder.normalise("embedded", summed, tensors, f"{prefix}.LayerNorm")


def _attention(builder: Builder, hidden: str, tensors: Tensors, layer: int) -> str:
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
        num_heads=builder.model.heads,
    )
    output = builder.product(f"{name}.output", context, tensors[f"{prefix}.output.dense.weight"])
    return _residual(builder, output, hidden, tensors, f"{prefix}.output")


def _feed_forward(builder: Builder, hidden: str, tensors: Tensors, layer: int) -> str:
    prefix, name = f"encoder.layer.{layer}", f"layer{layer}.feed_forward"
    wide = builder.product(f"{name}.wide", hidden, tensors[f"{prefix}.intermediate.dense.weight"])
    bias = builder.weight(f"{name}.bias", tensors[f"{prefix}.intermediate.dense.bias"])
    operator = ACTIVATIONS[builder.model.activation]
    if operator == "Relu":
        active = builder.add(operator, f"{name}.active", builder.add("Add", f"{name}.biased", wide, bias))
    else:
        active = builder.add(operator, f"{name}.active", wide, bias, domain=CONTRIB)
    output = builder.product(f"{name}.output", active, tensors[f"{prefix}.output.dense.weight"])
    return _residual(builder, output, hidden, tensors, f"{prefix}.output")


def _residual(builder: Builder, output: str, hidden: str, tensors: Tensors, prefix: str) -> str:
    bias = builder.weight(f"{output}.bias", tensors[f"{prefix}.dense.bias"])
    biased = builder.add("Add", f"{output}.biased", output, bias)
    summed = builder.add("Add", f"{output}.sum", biased, hidden)
    return builder.normalise(f"{output}.normal", summed, tensors, f"{prefix}.LayerNorm")


def _pool(builder: Builder, hidden: str) -> None:
    """Pool the tokens that the mask keeps, and normalise: a mean's division would cancel out."""
    pooling = builder.model.pooling
    if pooling == "cls":
        flat = builder.add("Gather", "flat", hidden, builder.weight("first", np.array(0)), axis=1)
    elif pooling == "max":
        flat = _largest(builder, hidden)
    else:
        flat = _summed(builder, hidden)
    for number, dense in enumerate(builder.model.dense):
        flat = _dense(builder, flat, dense, f"dense{number}")
    builder.add("LpNormalization", "vectors", flat, axis=-1, p=2)


def _summed(builder: Builder, hidden: str) -> str:
    axis = builder.weight("axis", np.array([1]))
    text = builder.add("Cast", "kept", "mask", to=protobuf.type_codes["float32"])
    row = builder.add("Unsqueeze", "row", text, axis)
    pooled = builder.add("MatMul", "pooled", row, hidden)
    flat = builder.add("Squeeze", "flat", pooled, axis)
    if not builder.model.dense:
        return flat
    count = builder.add("ReduceSum", "count", text, axis)
    if builder.model.pooling == "mean_sqrt_len_tokens":
        count = builder.add("Sqrt", "root", count)
    return builder.add("Div", "mean", flat, count)


def _largest(builder: Builder, hidden: str) -> str:
    last = builder.weight("last", np.array([-1]))
    is_token = builder.add("Unsqueeze", "column", builder.add("Cast", "kept", "mask", to=9), last)  # 9: bool
    low = builder.weight("low", np.array(FAR_BELOW, np.float32))
    masked = builder.add("Where", "masked", is_token, hidden, low)
    return builder.add("ReduceMax", "flat", masked, axes=[1], keepdims=0)


def _dense(builder: Builder, rows: str, dense: Dense, name: str) -> str:
    output = builder.product(name, rows, dense.weight)
    if dense.bias is not None:
        output = builder.add("Add", f"{name}.biased", output, builder.weight(f"{name}.bias", dense.bias))
    return builder.add("Tanh", f"{name}.active", output) if dense.tanh else output


def build(
    tensors: Tensors,
    metadata: dict[str, str],
    model: Architecture = MINILM,
    encode: Encode = protobuf.tensor,
    *,
    builder: Builder | None = None,
) -> bytes:
    """Build the ONNX model: `ids`, `mask` int32 [n, width] in, `vectors` float32 [n, dimensions] out.

    `mask` is 1 for a token and 0 for padding on the right; rows of `vectors` have length 1. `encode` may put
    the weights elsewhere, `builder` write them in another precision. Raises KeyError for a
    tensor that is missing.
    """
    builder = builder or Builder(model, encode)
    model = builder.model
    hidden = _embeddings(builder, tensors)
    for layer in range(model.layers):
        hidden = _attention(builder, hidden, tensors, layer)
        hidden = _feed_forward(builder, hidden, tensors, layer)
    _pool(builder, hidden)
    return finished(builder, metadata)


def finished(builder: Builder, metadata: dict[str, str]) -> bytes:
    """Encode what was collected as a model."""
    body = protobuf.graph(
        builder.model.name,
        builder.nodes,
        builder.weights,
        inputs=[protobuf.value_info(name, "int32", ["n", "width"]) for name in ("ids", "mask")],
        outputs=[protobuf.value_info("vectors", "float32", ["n", builder.model.dimensions])],
    )
    return protobuf.model(body, opsets={"": 17, CONTRIB: 1}, metadata=metadata)
