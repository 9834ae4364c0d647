"""A memory that is being opened by a program with an event loop."""

from collections.abc import Coroutine, Generator
from typing import Any, Generic, TypeVar

from episodic_agent.engine.async_memory import AsyncMemory

Opened = TypeVar("Opened", bound=AsyncMemory)


class MemoryOpening(Coroutine[Any, Any, Opened], Generic[Opened]):
    """A memory that is being opened: awaited it is the memory, and `async with` opens and closes it."""

    def __init__(self, coroutine: Coroutine[Any, Any, Opened]) -> None:
        self._coroutine = coroutine
        self._memory: Opened | None = None

    def __await__(self) -> Generator[Any, Any, Opened]:
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

    async def __aenter__(self) -> Opened:
        self._memory = await self._coroutine
        return self._memory

    async def __aexit__(self, *_: object) -> None:
        if self._memory is not None:
            await self._memory.close()
