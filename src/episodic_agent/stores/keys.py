"""Names as numbers: what stands for a space or a user where the name itself must not."""

from functools import lru_cache
from hashlib import blake2b
from typing import Final

from episodic_agent.schemas import Scope

_KEY_BITS: Final = 63  # so that a key is never negative


@lru_cache(maxsize=1 << 16)
def key_of(name: str) -> int:
    """Return the 63-bit BLAKE2b hash that stands for a space or a user.

    >>> 0 <= key_of("ana") < 1 << 63
    True
    """
    digest = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> (64 - _KEY_BITS)


def keys_of(scope: Scope) -> tuple[int, int]:
    """Return (space, owner): the keys of a scope."""
    return key_of(scope.space), key_of(scope.user_id)
