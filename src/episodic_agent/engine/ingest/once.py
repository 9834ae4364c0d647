"""A batch of messages under an idempotency key: kept once, by whichever process and whenever it comes again.

That it is kept once rests on its messages, which have ids made from the key: for good, and in one transaction
with them. That the key came with another batch is known for a day, by the digest of all that the first said.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

from episodic_agent.engine.scoped import Scoped
from episodic_agent.errors import IdTaken, InvalidInput

REMEMBERED: Final = timedelta(days=1)
LONGEST: Final = 255  # characters of a key


class OnceKey:
    """What an idempotency key stands for in one user's memory."""

    def __init__(self, at: Scoped, key: str, batch: Sequence[Any], about: Mapping[str, Any]) -> None:
        """Take the batch as its caller wrote it, and `about` what was said of all of it."""
        if not isinstance(key, str) or not key.strip() or len(key) > LONGEST:
            raise InvalidInput(f"an idempotency key has 1 to {LONGEST} characters; give each batch its own")
        self._at = at
        self._key = key
        self._name = _digest(key)
        self._batch = _digest([batch, dict(about)])

    def check(self) -> None:
        """Raise IdTaken where another batch came with the key within a day; keeps nothing."""
        oldest = self._at.deps.clock() - REMEMBERED
        with self._at.deps.store.begin(self._at.scope, write=False) as tx:
            self._compare(tx.request(self._name, oldest) or self._batch)

    def named(self, batch: Sequence[Any]) -> list[Any]:
        """Return the items of a batch, those without an id with one made from the key."""
        items = [{"content": one} if isinstance(one, str) else one for one in batch]
        return [
            {**item, "id": f"{self._key}#{n}"} if isinstance(item, Mapping) and not item.get("id") else item
            for n, item in enumerate(items)
        ]

    def keep(self) -> None:
        """Remember the batch, now that it is kept; IdTaken where another one was faster."""
        now = self._at.deps.clock()
        with self._at.deps.store.begin(self._at.scope) as tx:
            standing = tx.keep_request(self._name, self._batch, now=now, oldest=now - REMEMBERED)
        self._compare(standing)

    def _compare(self, standing: bytes) -> None:
        if standing != self._batch:
            raise IdTaken(f"the idempotency key {self._key!r} came with another batch before; give a new one")


def _digest(value: Any) -> bytes:
    text = json.dumps(value, sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "replace")).digest()
