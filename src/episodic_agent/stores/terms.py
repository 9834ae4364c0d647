"""What stands for a word in an index: a hash, so that nothing of the text is kept twice."""

from functools import lru_cache
from hashlib import blake2b
from typing import Final

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
