"""A store that counts how often it is entered."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Any

from episodic_agent.protocols import Store, Transaction
from episodic_agent.schemas import Scope


@dataclass
class CountingStore:
    """Passes everything on to `inner`, and lists what was asked of it: `read`, `write`, or a method's name.

    Each entry is a connection borrowed and, on a server, a transaction of its own.
    """

    inner: Store
    entries: list[str] = field(default_factory=list)
    open_reads: int = 0

    def begin(self, scope: Scope, *, write: bool = True) -> AbstractContextManager[Transaction]:
        self.entries.append("write" if write else "read")
        return self._begun(scope, write)

    @contextmanager
    def _begun(self, scope: Scope, write: bool) -> Iterator[Transaction]:
        self.open_reads += not write
        try:
            with self.inner.begin(scope, write=write) as tx:
                yield tx
        finally:
            self.open_reads -= not write

    def counted(self, act: Callable[[], object]) -> list[str]:
        """Return what an act asks of the store."""
        self.entries.clear()
        act()
        return list(self.entries)

    def __getattr__(self, name: str) -> Any:
        result = getattr(self.inner, name)
        if not callable(result):
            return result

        def entered(*values: Any, **named: Any) -> Any:
            self.entries.append(name)
            return result(*values, **named)

        return entered
