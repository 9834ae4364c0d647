"""Read the tensors of a safetensors file: header length (u64), JSON header, raw data; nothing runs."""

import json
import math
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

_HALF = ("F16", "BF16")
_SIZES = {"F32": 4, "F16": 2, "BF16": 2}
LONGEST_HEADER = 100_000_000  # bytes, the format's own limit


class NoSafetensors(ValueError):
    """The bytes are no safetensors file, or a damaged one; the message says in what way."""


def read_safetensors(data: bytes | memoryview) -> dict[str, NDArray[np.float32]]:
    """Read the floating tensors as float32; those of other types (`position_ids`) are left out.

    Arrays of float32 are views of `data`, halves (F16, BF16) are widened. Raises NoSafetensors.
    """
    view = memoryview(data)
    header, start = _header(view)
    return {
        name: _array(name, entry, view[start:])
        for name, entry in header.items()
        if name != "__metadata__" and isinstance(entry, Mapping) and entry.get("dtype") in _SIZES
    }


def _header(view: memoryview) -> tuple[dict[str, Any], int]:
    if len(view) < 8:
        raise NoSafetensors(f"it has only {len(view)} bytes")
    (length,) = struct.unpack_from("<Q", view)
    if length > min(LONGEST_HEADER, len(view) - 8):
        raise NoSafetensors("its header is longer than the file: cut off, or no safetensors file at all")
    try:
        header = json.loads(bytes(view[8 : 8 + length]))
    except ValueError as error:
        raise NoSafetensors(f"its header is no JSON ({error})") from error
    if not isinstance(header, dict):
        raise NoSafetensors("its header is no JSON object")
    return header, 8 + length


def _array(name: str, entry: Mapping[str, Any], body: memoryview) -> NDArray[np.float32]:
    try:
        start, end = (int(n) for n in entry["data_offsets"])
        shape = [int(n) for n in entry["shape"]]
    except (KeyError, TypeError, ValueError) as error:
        raise NoSafetensors(f"tensor {name} has no readable shape and place") from error
    if not 0 <= start <= end <= len(body):
        raise NoSafetensors(f"tensor {name} ends at byte {end:,} of {len(body):,}: the file is cut off")
    kind = entry["dtype"]
    if min(shape, default=1) < 0 or math.prod(shape) * _SIZES[kind] != end - start:
        raise NoSafetensors(f"tensor {name} has {end - start:,} bytes, which is not {kind} {shape}")
    raw = body[start:end]
    if kind == "BF16":
        # the upper half of a float32
        wide = np.frombuffer(raw, "<u2").astype("<u4") << np.uint32(16)
        return wide.view("<f4").reshape(shape)
    array = np.frombuffer(raw, "<f2" if kind in _HALF else "<f4").reshape(shape)
    return array.astype(np.float32) if kind in _HALF else array
