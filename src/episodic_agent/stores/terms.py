"""What stands for a word in an index: a hash, so that nothing of the text is kept twice."""

from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LARGEST_COUNT: Final = 0xFFFF  # BM25 is flat long before a word occurs this often in one text


@lru_cache(maxsize=1 << 17)
def term_hash(term: str) -> bytes:
    """Return the 8 bytes that stand for a term (BLAKE2b: two of a million terms clash once in 10^7 scopes).

    >>> len(term_hash("kitchen"))
    8
    """
    return blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest()


def place_number(key: str) -> int:
    """Return the number that stands for a place in an index: its hash as a signed 64-bit integer.

    >>> place_number("kitchen") == place_number("kitchen") != place_number("hall")
    True
    """
    return int.from_bytes(term_hash(key), "big", signed=True)


def narrow_counts(counts: "NDArray[np.uint16]") -> bytes:
    """Return how often each of some terms occurs: empty where each occurs once, else a byte each, or two."""
    largest = counts.max(initial=1)
    return b"" if largest == 1 else counts.astype("<u1" if largest < 256 else "<u2").tobytes()


def wide_counts(counts: bytes, terms: int) -> bytes:
    """Return the counts of so many terms in two bytes each.

    >>> wide_counts(b"", 2), wide_counts(b"\\x01\\x02", 2), wide_counts(b"\\x01\\x00\\x00\\x02", 2)
    (b'\\x01\\x00\\x01\\x00', b'\\x01\\x00\\x02\\x00', b'\\x01\\x00\\x00\\x02')
    """
    if not counts:
        return b"\x01\x00" * terms
    return counts if len(counts) > terms else counts.decode("latin-1").encode("utf-16-le")
