"""The door of programs with an event loop: `AsyncMemory`, which opens what `wiring` opens."""

import asyncio
from collections.abc import Coroutine, Generator
from typing import Any, Generic, Self, TypeVar

from episodic_agent.engine.async_memory import AsyncMemory as Mirrored
from episodic_agent.wiring.memory import Memory

_Opened = TypeVar("_Opened", bound=Mirrored)


class _Opening(Coroutine[Any, Any, _Opened], Generic[_Opened]):
    """A memory that is being opened: awaited it is the memory, and `async with` opens and closes it."""

    def __init__(self, coroutine: Coroutine[Any, Any, _Opened]) -> None:
        self._coroutine = coroutine
        self._memory: _Opened | None = None

    def __await__(self) -> Generator[Any, Any, _Opened]:
        return self._coroutine.__await__()

    def send(self, value: Any) -> Any:
        """Go on with the opening, as an event loop does."""
        return self._coroutine.send(value)

    def throw(self, *error: Any) -> Any:
        """Raise an error where the opening waits, as an event loop does."""
        return self._coroutine.throw(*error)

    def close(self) -> None:
        """Give the opening up."""
        self._coroutine.close()

    async def __aenter__(self) -> _Opened:
        self._memory = await self._coroutine
        return self._memory

    async def __aexit__(self, *_: object) -> None:
        if self._memory is not None:
            await self._memory.close()


class AsyncMemory(Mirrored):
    """An episodic memory for programs with an event loop; open it with `AsyncMemory.open()`."""

    @classmethod
    def open(cls, *values: Any, **options: Any) -> _Opening[Self]:
        """Open a memory as `Memory.open` does, which see for what it takes.

        Both `async with AsyncMemory.open(…) as memory` and `memory = await AsyncMemory.open(…)` do it.
        """
        return _Opening(cls._opened(*values, **options))

    @classmethod
    async def _opened(cls, *values: Any, **options: Any) -> Self:
        return cls(await asyncio.to_thread(Memory.open, *values, **options))
