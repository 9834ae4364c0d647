"""Vectors as they are kept: directions, of length 1, in half precision (two bytes a number).

Rounding is done once, where an embedder's answer enters (`engine/embedding.py`), so that whatever is decided
from a vector is decided again from what a store gives back. Stores round what others hand them; rows that
were rounded stay as they are, to the bit. All arithmetic is float32.
"""

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from episodic_agent.schemas import Vector

Halves = NDArray[np.float16]

_SHIFT: Final = 13  # bits a float32's fraction is longer
_MOVED: Final = np.int32(-0x70002000)  # 0x8fffe000: the sign, and what was moved
_REBASED: Final = np.float32(2.0**112)  # float32's bias of the exponent is 127, a half's 15


def scales(rows: Vector) -> Vector:
    """Return 1 / length of each row [n, d]; 0 for zero rows, which are unlike everything.

    >>> scales(np.array([[0, 2], [0, 0]], dtype=np.float32)).tolist()
    [0.5, 0.0]
    """
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    results: Vector = np.divide(1, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    return results


def length_error(dimensions: int) -> float:
    """Return by how much rounding may change the length of a unit vector.

    Half an ulp of each number: 2^-11 of it or, below the normal halves, 2^-25.
    """
    return 2.0**-11 + math.sqrt(dimensions) * 2.0**-25


def in_halves(rows: Vector) -> Halves:
    """Return rows [n, d] as they are kept: of length 1, in half precision; a zero row stays zero.

    Of any finite row, however long or short, the direction is kept; of one that is not finite, NaN is made.
    Rounding what was rounded changes nothing.

    >>> in_halves(np.array([[3e38, 0], [0, 1e-40], [0, 0]], dtype=np.float32)).tolist()
    [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]
    """
    plain = np.ascontiguousarray(rows, dtype=np.float32)
    allowed = length_error(plain.shape[1]) + (plain.shape[1] + 8) * 2.0**-24
    with np.errstate(over="ignore", invalid="ignore"):
        results: Halves = plain.astype(np.float16)
        lengths = np.sqrt(np.einsum("ij,ij->i", plain, plain))
        new = (np.abs(lengths - 1) > allowed) | (results != plain).any(axis=1)
        if new.any():
            # By powers of two, which lose nothing: the square of no number is too large or small then.
            rest = plain[new]
            exponents = np.frexp(np.abs(rest).max(axis=1, initial=0))[1]
            rest = np.ldexp(rest, -exponents[:, None])
            results[new] = (rest * scales(rest)[:, None]).astype(np.float16)
    return results


def as_floats(halves: Halves) -> Vector:
    """Return finite halves as float32, each the same number: in a half to an eighth of numpy's time.

    >>> as_floats(np.array([-1.5, 6e-8, 0], dtype=np.float16)).tolist() == [-1.5, 2.0**-24, 0.0]
    True
    """
    bits = halves.view(f"{halves.dtype.byteorder}i2").astype(np.int32)
    bits <<= _SHIFT
    bits &= _MOVED
    results: Vector = bits.view(np.float32)
    results *= _REBASED
    return results


def rounded(rows: Vector) -> Vector:
    """Return rows [n, d] as they are kept, in float32; NaN in those that are not finite.

    >>> rounded(np.array([[3, 4]], dtype=np.float32)).tolist()
    [[0.60009765625, 0.7998046875]]
    """
    halves = in_halves(rows)
    results = as_floats(halves)
    results[~np.isfinite(halves)] = np.nan
    return results


def kept_again(floats: bytes) -> bytes:
    """Return what is kept (halves) of one vector that was kept as float32, both as bytes, little-endian.

    >>> kept_again(np.array([0, 2], dtype="<f4").tobytes()) == np.array([0, 1], dtype="<f2").tobytes()
    True
    """
    halves = in_halves(np.frombuffer(floats, dtype="<f4")[None])
    return halves.astype("<f2", copy=False).tobytes()
