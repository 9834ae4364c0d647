"""Write the MiniLM graph with matrix products of 8-bit integers: twice as fast, vectors nearly the same.

Activations are quantised by fixed numbers, one scale for each product, so that a vector depends on its own
text alone (dynamic quantisation makes it depend on its neighbours in the batch, down to a cosine of .957).
What makes one scale do is *smoothing* (SmoothQuant, Xiao et al. 2023): the few channels with huge values are
divided before, and their weights multiplied. Weights have a scale for each output channel. The numbers were
measured on texts by `tools/quantise_minilm.py`; nothing is computed here but products, divisions and
roundings, so that the file is the same, byte for byte, wherever it is written.

On processors without VNNI the product of unsigned and signed bytes saturates in ONNX Runtime. `saturates`
finds out, and there the weights are written as unsigned bytes: the same integers moved by 128, hence the same
vectors.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from episodic_agent.data import arrays
from episodic_agent.providers.embedders.minilm import protobuf
from episodic_agent.providers.embedders.minilm.graph import CONTRIB, MINILM, Builder, Tensors, build
from episodic_agent.providers.embedders.minilm.runtime import PROCESSOR, onnx_runtime

MEASURED = "embedding/minilm-int8.npz"
LEVELS = 255
STEPS = 127
Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Measure:
    """What was measured of one product's input: each channel's divisor, and the range of the quotients."""

    smooth: Floats
    low: float
    high: float

    def grid(self) -> tuple[np.float32, int]:
        """Return the scale of the quantised values and the one that stands for 0."""
        low, high = min(self.low, 0.0), max(self.high, 0.0)
        scale = np.float32(high - low) / np.float32(LEVELS)
        return scale, int(np.clip(np.rint(np.float32(-low) / scale), 0, LEVELS))


def measured() -> Mapping[str, Measure]:
    """Read what was measured, by the product's output."""
    measures = arrays(MEASURED)
    names = [str(name) for name in measures["names"]]
    ranges = measures["ranges"].astype(np.float32)
    smooth = [measures[f"smooth{n}"].astype(np.float32) for n in range(len(names))]
    return {name: Measure(s, *map(float, r)) for name, s, r in zip(names, smooth, ranges, strict=True)}


class QuantisedBuilder(Builder):
    """A builder whose products are of integers where its input was measured."""

    def __init__(self, measures: Mapping[str, Measure], *, unsigned: bool) -> None:
        super().__init__(MINILM)
        self._measures = measures
        self._unsigned = unsigned

    def product(self, output: str, hidden: str, matrix: Floats) -> str:
        """Multiply by a torch Linear weight [out, in], in integers."""
        measure = self._measures[output]
        scale, zero = measure.grid()
        divisor = self.weight(f"{output}.divisor", np.float32(1.0) / measure.smooth)
        smooth = self.add("Mul", f"{output}.smooth", hidden, divisor)
        step = self.weight(f"{output}.step", np.array(scale, np.float32))
        zero_point = self.weight(f"{output}.zero", np.array(zero, np.uint8))
        quantised = self.add("QuantizeLinear", f"{output}.quantised", smooth, step, zero_point)
        integers, steps = _columns(matrix.T * measure.smooth[:, None])
        kind = np.array(128, np.uint8) if self._unsigned else np.array(0, np.int8)
        moved = (integers + 128).astype(np.uint8) if self._unsigned else integers.astype(np.int8)
        return self.add(
            "MatMulIntegerToFloat",
            output,
            quantised,
            self.weight(f"{output}.matrix", moved),
            step,
            self.weight(f"{output}.steps", steps),
            zero_point,
            self.weight(f"{output}.middle", np.full(len(steps), kind)),
            domain=CONTRIB,
        )


def _columns(matrix: Floats) -> tuple[NDArray[np.int32], Floats]:
    """Quantise each output channel of [in, out] to whole numbers from -127 to 127, and return the steps."""
    steps = (np.abs(matrix).max(axis=0) / np.float32(STEPS)).astype(np.float32)
    steps[steps == 0] = np.float32(1.0)
    return np.rint(matrix / steps).astype(np.int32), steps


def build_quantised(tensors: Tensors, metadata: dict[str, str], *, unsigned: bool | None = None) -> bytes:
    """Build the model as `build` does, in integers; `unsigned` weights where this processor needs them."""
    chosen = saturates() if unsigned is None else unsigned
    return build(tensors, metadata, builder=QuantisedBuilder(measured(), unsigned=chosen))


def saturates() -> bool:
    """Ask this processor for a product of unsigned and signed bytes that only wide sums hold."""
    runtime = onnx_runtime()
    width = 64
    weights = np.full((width, 16), STEPS, np.int8)
    body = protobuf.graph(
        "probe",
        [protobuf.node("MatMulInteger", ["a", "b"], ["sums"])],
        [protobuf.tensor("b", weights)],
        inputs=[protobuf.value_info("a", "uint8", [1, width])],
        outputs=[protobuf.value_info("sums", "int32", [1, 16])],
    )
    session = runtime.InferenceSession(
        protobuf.model(body, opsets={"": 17}, metadata={}), providers=[PROCESSOR]
    )
    sums = session.run(None, {"a": np.full((1, width), LEVELS, np.uint8)})[0]
    return bool((sums != width * LEVELS * STEPS).any())
