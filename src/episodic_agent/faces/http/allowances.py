"""What each key may still ask: kept by one process, or shared by the processes of one service."""

import mmap
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Final, Protocol

try:
    import fcntl
except ImportError:  # Windows, where one process serves
    fcntl = None  # type: ignore[assignment]

BURST: Final = 2.0  # seconds' worth of requests at once
SLOTS: Final = 4096  # keys that are remembered at a time
_NEAR: Final = 16  # places a key may have
_SLOT: Final = struct.Struct("=16sdd")  # digest of the key's id, requests left, when that was so


def most(rate: float) -> float:
    """Return how many requests at once a rate of them a second allows: one at least."""
    return max(1.0, rate * BURST)


@dataclass(slots=True)
class Allowance:
    """What is left of one key's requests, and when that was so, in seconds of a steady clock."""

    left: float
    at: float

    def wait(self, now: float, rate: float) -> float:
        """Take one request; return 0, or after how many seconds there is one again."""
        # another process may have looked at the clock a moment later
        self.left = min(self.left + max(0.0, now - self.at) * rate, most(rate))
        self.at = max(now, self.at)
        if self.left < 1:
            return (1 - self.left) / rate
        self.left -= 1
        return 0.0


class Allowances(Protocol):
    """Counts the requests of each key."""

    def wait(self, key_id: str, now: float, rate: float) -> float:
        """Take one request of a key; return 0, or after how many seconds there is one again."""
        ...


class OwnAllowances:
    """The allowances of a service of one process."""

    def __init__(self) -> None:
        self._allowances: dict[str, Allowance] = {}

    def wait(self, key_id: str, now: float, rate: float) -> float:
        """Take one request of a key; return 0, or after how many seconds there is one again."""
        return self._allowances.setdefault(key_id, Allowance(most(rate), now)).wait(now, rate)


class SharedAllowances:
    """The allowances of all processes of a service on one machine, in a file that each of them maps.

    The system takes a lock back from a process that is killed while it holds it. The clock must be the
    machine's own (`time.monotonic`). Of more than `SLOTS` keys those not heard of for longest begin anew.
    """

    def __init__(self, path: Path) -> None:
        """Open the file; it is made where it is not there."""
        self._file = path.open("a+b")
        with self._held():
            if path.stat().st_size < SLOTS * _SLOT.size:
                self._file.truncate(SLOTS * _SLOT.size)
        self._slots = mmap.mmap(self._file.fileno(), SLOTS * _SLOT.size)

    def wait(self, key_id: str, now: float, rate: float) -> float:
        """Take one request of a key; return 0, or after how many seconds there is one again."""
        name = blake2b(key_id.encode(), digest_size=16).digest()
        with self._held():
            place, there = self._place(name)
            _, left, at = _SLOT.unpack_from(self._slots, place)
            allowance = Allowance(left, at) if there else Allowance(most(rate), now)
            seconds = allowance.wait(now, rate)
            _SLOT.pack_into(self._slots, place, name, allowance.left, allowance.at)
        return seconds

    def close(self) -> None:
        """Let the file go."""
        self._slots.close()
        self._file.close()

    def _place(self, name: bytes) -> tuple[int, bool]:
        """Return where a key stands, or is to stand, and whether it stands there."""
        first = int.from_bytes(name[:4], "big")
        places = [(first + n) % SLOTS * _SLOT.size for n in range(_NEAR)]
        for place in places:
            if self._slots[place : place + len(name)] == name:
                return place, True
        return min(places, key=lambda place: float(_SLOT.unpack_from(self._slots, place)[2])), False

    @contextmanager
    def _held(self) -> Iterator[None]:
        """Let no other process at the file meanwhile, which takes microseconds."""
        if fcntl is None:
            yield
            return
        fcntl.flock(self._file, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(self._file, fcntl.LOCK_UN)
