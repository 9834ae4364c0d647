"""Write the few ONNX messages one graph needs, so that the `onnx` package is no run-time dependency.

Only writing, only these messages: field numbers are those of onnx.proto3 (ONNX IR version 8). A test
reads the result back with the `onnx` package and runs its checker over it.
"""

import struct
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

type_codes = {"float32": 1, "uint8": 2, "int8": 3, "int32": 6, "int64": 7}
"""NumPy's names of the element types used here, as TensorProto.DataType numbers them."""

Attribute = int | float | Sequence[int]


def varint(number: int) -> bytes:
    """Encode a non-negative integer in base 128, least significant group first.

    >>> varint(300).hex()
    'ac02'
    """
    groups = bytearray()
    while number > 0x7F:
        groups.append(number & 0x7F | 0x80)
        number >>= 7
    groups.append(number)
    return bytes(groups)


def integer(field: int, value: int) -> bytes:
    """Encode an integer field; a negative value takes ten bytes, as protobuf's int64 does.

    >>> integer(1, -1).hex()
    '08ffffffffffffffffff01'
    """
    return varint(field << 3) + varint(value & 0xFFFF_FFFF_FFFF_FFFF)


def blob(field: int, value: bytes | str) -> bytes:
    """Encode a length-delimited field: a string, raw bytes or a nested message.

    >>> blob(2, "ab")
    b'\\x12\\x02ab'
    """
    data = value.encode() if isinstance(value, str) else value
    return b"".join((varint(field << 3 | 2), varint(len(data)), data))


def blobs(field: int, values: Iterable[bytes | str]) -> bytes:
    """Encode a repeated length-delimited field."""
    return b"".join(blob(field, value) for value in values)


def tensor(name: str, array: NDArray[np.generic]) -> bytes:
    """Encode a TensorProto with its data as raw little-endian bytes."""
    shape = b"".join(integer(1, size) for size in array.shape)
    code = type_codes[array.dtype.name]
    return shape + integer(2, code) + blob(8, name) + blob(9, little_endian(array))


def little_endian(array: NDArray[np.generic]) -> bytes:
    """Return an array's bytes as the format wants them: in rows, the least significant byte first."""
    rows = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    return rows.tobytes()


def external_tensor(
    name: str, kind: str, shape: Sequence[int], *, location: str, offset: int, length: int
) -> bytes:
    """Encode a TensorProto whose data stand in a file beside the model's, `length` bytes from `offset` on."""
    sizes = b"".join(integer(1, size) for size in shape)
    entries = (("location", location), ("offset", str(offset)), ("length", str(length)))
    places = b"".join(blob(13, blob(1, key) + blob(2, value)) for key, value in entries)
    return sizes + integer(2, type_codes[kind]) + blob(8, name) + places + integer(14, 1)  # 1: EXTERNAL


def value_info(name: str, kind: str, shape: Sequence[int | str]) -> bytes:
    """Encode a ValueInfoProto; a string in `shape` names a size that is known only at run time."""
    sizes = [blob(2, size) if isinstance(size, str) else integer(1, size) for size in shape]
    tensor_type = integer(1, type_codes[kind]) + blob(2, blobs(1, sizes))
    return blob(1, name) + blob(2, blob(1, tensor_type))


def attribute(name: str, value: Attribute) -> bytes:
    """Encode an AttributeProto holding a float, an integer or a list of integers."""
    if isinstance(value, float):
        # Wire type 5 (32 bits); AttributeProto.type 1 is FLOAT.
        return blob(1, name) + varint(2 << 3 | 5) + struct.pack("<f", value) + integer(20, 1)
    if isinstance(value, int):
        return blob(1, name) + integer(3, value) + integer(20, 2)
    return blob(1, name) + b"".join(integer(8, item) for item in value) + integer(20, 7)


def node(
    operator: str, inputs: Sequence[str], outputs: Sequence[str], *, domain: str = "", **attributes: Attribute
) -> bytes:
    """Encode a NodeProto; an empty input name leaves an optional input out."""
    parts = [blobs(1, inputs), blobs(2, outputs), blob(3, outputs[0]), blob(4, operator)]
    parts += [blob(5, attribute(name, value)) for name, value in attributes.items()]
    return b"".join([*parts, blob(7, domain)])


def graph(
    name: str,
    nodes: Iterable[bytes],
    initializers: Iterable[bytes],
    *,
    inputs: Iterable[bytes],
    outputs: Iterable[bytes],
) -> bytes:
    """Encode a GraphProto."""
    return b"".join(
        (blobs(1, nodes), blob(2, name), blobs(5, initializers), blobs(11, inputs), blobs(12, outputs))
    )


def model(body: bytes, *, opsets: dict[str, int], metadata: dict[str, str]) -> bytes:
    """Encode a ModelProto (IR version 8) around an encoded GraphProto."""
    sets = [blob(1, domain) + integer(2, version) for domain, version in opsets.items()]
    properties = [blob(1, key) + blob(2, value) for key, value in metadata.items()]
    return b"".join(
        (integer(1, 8), blob(2, "episodic-agent"), blob(7, body), blobs(8, sets), blobs(14, properties))
    )
