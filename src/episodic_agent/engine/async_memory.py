"""`AsyncMemory`: the tree of `Memory` for programs with an event loop, made from it mechanically.

Each verb has the name, parameters and result of the one it mirrors, and is awaited; what yields is an
asynchronous iterator. The work is done on a few threads of the memory's own, so that no verb holds up the
loop and at most `AT_ONCE` of them run at a time.

A memory that is being opened by a program with an event loop.
"""

import asyncio
import functools
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, Final, Generic, Self, TypeVar

from episodic_agent.engine.memory import Memory
from episodic_agent.engine.user import UserMemory
from episodic_agent.errors import InvalidInput

AT_ONCE: Final = 8  # threads of one memory
_END: Final = object()
Run = Callable[[Callable[[], Any]], Awaitable[Any]]


class _Mirror:
    """An object whose methods are awaited, and whose rooms are mirrored in turn."""

    def __init__(self, mirrored: Any, run: Run) -> None:
        self._mirrored = mirrored
        self._run = run

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        result = getattr(self._mirrored, name)
        if name in ("as_of", "only"):  # like `user` they read nothing, and give a handle
            return self._handle(result)
        if inspect.ismethod(result):
            return _awaited(result, self._run)
        return _Mirror(result, self._run) if is_room(result) else result

    def _handle(self, method: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(method)
        def mirrored(*values: Any, **named: Any) -> "_Mirror":
            return _Mirror(method(*values, **named), self._run)

        return mirrored

    def __dir__(self) -> list[str]:
        return [name for name in dir(self._mirrored) if not name.startswith("_")]

    def __repr__(self) -> str:
        return f"<async {self._mirrored!r}>"


class AsyncMemory(_Mirror):
    """An episodic memory for programs with an event loop; open it with `AsyncMemory.open()`.

    Whatever `Memory` has, it has, to be awaited: `await memory.user("ana").add("…")`. Only `user`,
    `as_of` and `only`, which read nothing, are not. Leave it by `async with` or `await memory.close()`.
    """

    def __init__(self, memory: Memory) -> None:
        if not isinstance(memory, Memory):
            raise InvalidInput(f"open a memory with `await AsyncMemory.open({str(memory)!r})`")
        self._pool: ThreadPoolExecutor | None = ThreadPoolExecutor(
            AT_ONCE, thread_name_prefix="episodic-async"
        )
        super().__init__(memory, self._on_a_thread)

    def user(self, name: str, *, new: bool = False) -> Any:
        """Return a user's memory, as `Memory.user` does; nothing is read for it."""
        return _Mirror(self._mirrored.user(name, new=new), self._run)

    async def close(self) -> None:
        """Close the memory when the verbs under way have ended."""
        await self._run(self._mirrored.close)
        # what is called from now on says itself that the memory is closed
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def _on_a_thread(self, work: Callable[[], Any]) -> Awaitable[Any]:
        # with who calls, and whatever else the caller's task knows
        return asyncio.get_running_loop().run_in_executor(self._pool, copy_context().run, work)


def is_room(value: object) -> bool:
    """Tell whether an attribute is a room of the tree (or a user's memory), not a plain value."""
    return isinstance(value, UserMemory) or type(value).__name__.endswith("Room")


def _awaited(method: Callable[..., Any], run: Run) -> Callable[..., Any]:
    """Return a method that is awaited; an iterator is then read on the threads, item by item."""
    yields = "Iterator" in str(inspect.signature(method).return_annotation)
    if yields:

        @functools.wraps(method)
        async def iterated(*values: Any, **named: Any) -> AsyncIterator[Any]:
            items: Iterator[Any] = await run(functools.partial(method, *values, **named))
            try:
                while (item := await run(functools.partial(next, items, _END))) is not _END:
                    yield item
            finally:  # who leaves the loop early ends the read
                if isinstance(items, Generator):
                    await run(items.close)

        return iterated

    @functools.wraps(method)
    async def awaited(*values: Any, **named: Any) -> Any:
        return await run(functools.partial(method, *values, **named))

    return awaited


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
