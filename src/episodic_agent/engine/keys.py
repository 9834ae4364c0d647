"""Keys of the service: made once, shown once, kept as a digest, and asked for with every request."""

import base64
import hashlib
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from episodic_agent.engine.arguments import clean_name
from episodic_agent.engine.deps import Deps
from episodic_agent.errors import Conflict, InvalidInput, NotFound
from episodic_agent.schemas.keys import ApiKey, Role
from episodic_agent.showing import clipped, described

PREFIX: Final = "ek"
TRUSTED: Final = 0.5  # seconds a key is believed without asking the store: revoking takes less than one
GRACE: Final = timedelta(hours=1)  # a key still opens after another took its place
LONGEST_GRACE: Final = timedelta(days=30)
_ID_BITS: Final = 48
_SECRET_BITS: Final = 256
_REMEMBERED: Final = 10_000  # keys


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key that was just made; `token` is what its holder sends, and is shown this once."""

    key: ApiKey
    token: str

    def __repr__(self) -> str:
        return described(self, self.key.id, self.key.space, self.key.role.value)


class KeyRoom:
    """Who may ask over HTTP, for all spaces of the store."""

    def __init__(self, deps: Deps, space: str, tick: Callable[[], float] = time.monotonic) -> None:
        self._deps = deps
        self._space = space
        self._tick = tick
        self._known: OrderedDict[bytes, tuple[float, ApiKey]] = OrderedDict()
        self._locked: tuple[float, bool] = (float("-inf"), False)
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return "<KeyRoom of all spaces>"

    def create(self, *, role: "Role | str", space: str | None = None) -> NewKey:
        """Make a key of a space (this memory's unless named); its token is in the answer and nowhere else.

        `role` is read, write or admin. Raises InvalidInput for another one, for a space without a name and
        for one with a `*` in it, which would be meant as a pattern.
        """
        name = self._space if space is None else clean_name(space) or ""
        if not name.strip() or (space is not None and name != space):
            raise InvalidInput("the space is empty, or holds what no database can keep; give it a plain name")
        if space is not None and "*" in name:
            raise InvalidInput(
                f"the space {clipped(name)!r} is no pattern: a key opens one space by its whole name; "
                "make a key for each"
            )
        identity = f"{self._deps.entropy(_ID_BITS):0{_ID_BITS // 4}x}"
        key = ApiKey(identity, name, _role(role), self._deps.clock())
        secret = self._deps.entropy(_SECRET_BITS).to_bytes(_SECRET_BITS // 8, "big")
        token = f"{PREFIX}_{identity}_{base64.urlsafe_b64encode(secret).decode().rstrip('=')}"
        self._deps.store.keys.add(key, _digest(token))
        with self._lock:
            self._locked = (float("-inf"), True)
        return NewKey(key, token)

    def list(self) -> Sequence[ApiKey]:
        """Return the keys of all spaces, revoked ones too, oldest first."""
        return list(self._deps.store.keys.list())

    def revoke(self, key_id: str) -> ApiKey:
        """Let a key open nothing any more, in any process within a second; NotFound for no such id."""
        self._find(key_id)
        self._deps.store.keys.revoke(key_id, self._deps.clock())
        with self._lock:
            self._known.clear()
        return self._find(key_id)

    def rotate(self, key_id: str, *, grace: "timedelta | float" = GRACE) -> NewKey:
        """Make a key of the same space and role in place of another, which opens for `grace` (seconds) more.

        Raises NotFound for no such id, Conflict for one that is revoked, InvalidInput for a grace below 0 or
        over 30 days.
        """
        lasts = grace if isinstance(grace, timedelta) else timedelta(seconds=grace)
        if not timedelta() <= lasts <= LONGEST_GRACE:
            raise InvalidInput(f"the grace is {lasts}; give 0 to 30 days")
        old, now = self._find(key_id), self._deps.clock()
        if old.revoked_at is not None:
            raise Conflict(f"key {key_id} is revoked; `episodic keys create` makes a new one")
        made = self.create(role=old.role, space=old.space)
        self._deps.store.keys.revoke(key_id, now + lasts)
        with self._lock:
            self._known.clear()
        return made

    def _find(self, key_id: str) -> ApiKey:
        key = next((key for key in self._deps.store.keys.list() if key.id == key_id), None)
        if key is None:
            raise NotFound(f"no key {key_id!r}; `episodic keys list` shows their ids")
        return key

    def exist(self) -> bool:
        """Tell whether a key was ever made: from then on one is asked for, also when all are revoked."""
        asked_at, there = self._locked
        if there or self._tick() - asked_at < TRUSTED:
            return there
        there = bool(self._deps.store.keys.list())
        self._locked = (self._tick(), there)
        return there

    def check(self, token: str) -> ApiKey | None:
        """Return the key a token is of; None for one that is unknown or revoked. Notes the day of its use."""
        digest, now = _digest(token), self._tick()
        with self._lock:
            seen_at, key = self._known.get(digest, (float("-inf"), None))
        if now - seen_at >= TRUSTED:
            key = self._deps.store.keys.by_digest(digest)
            if key is not None and not self._ended(key):
                self._remember(digest, now, key)
        return None if key is None or self._ended(key) else key

    def _ended(self, key: ApiKey) -> bool:
        """Tell whether a key opens nothing any more; one that was rotated does for a while."""
        return key.revoked_at is not None and key.revoked_at <= self._deps.clock()

    def _remember(self, digest: bytes, now: float, key: ApiKey) -> None:
        today = self._deps.clock().date()
        if key.last_used_on != today:
            self._deps.store.keys.touch(key.id, today)
        with self._lock:
            self._known[digest] = (now, key)
            while len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)


def _digest(token: str) -> bytes:
    """Return what is kept of a token: 256 random bits need no salt and no slow hash."""
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()


def _role(role: "Role | str") -> Role:
    try:
        return Role(role)
    except ValueError as error:
        raise InvalidInput(f"no role {role!r}; there are {', '.join(Role)}") from error
