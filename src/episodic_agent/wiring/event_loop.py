"""The door of programs with an event loop: `AsyncMemory`, which opens what `wiring` opens."""

import asyncio
from typing import Any, Self

from episodic_agent.engine.async_memory import AsyncMemory as Mirrored
from episodic_agent.engine.async_memory import MemoryOpening
from episodic_agent.wiring.memory import Memory


class AsyncMemory(Mirrored):
    """An episodic memory for programs with an event loop; open it with `AsyncMemory.open()`."""

    @classmethod
    def open(cls, *values: Any, **options: Any) -> MemoryOpening[Self]:
        """Open a memory as `Memory.open` does, which see for what it takes.

        Both `async with AsyncMemory.open(…) as memory` and `memory = await AsyncMemory.open(…)` do it.
        """
        return MemoryOpening(cls._opened(*values, **options))

    @classmethod
    async def _opened(cls, *values: Any, **options: Any) -> Self:
        return cls(await asyncio.to_thread(Memory.open, *values, **options))
