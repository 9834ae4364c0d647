"""A store that can be told to misbehave at the seam between engine and store."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from episodic_agent.protocols import Store, Transaction
from episodic_agent.schemas import Job, Scope


@dataclass
class FaultyStore:
    """Passes everything on to `inner`, but first raises what was asked for.

    `at_commit` errors are raised instead of committing write transactions, one each; `after_commit` errors
    when they are committed already; `at_begin` before anything. `renewals` are raised by renew; None lets one
    pass. `before_commit` runs inside each write transaction.
    """

    inner: Store
    at_begin: deque[Exception | None] = field(default_factory=deque)
    at_commit: deque[Exception | None] = field(default_factory=deque)
    after_commit: deque[Exception | None] = field(default_factory=deque)
    renewals: deque[Exception | None] = field(default_factory=deque)
    claims: deque[Exception | None] = field(default_factory=deque)
    renewed: Callable[[], object] = lambda: None
    writes: int = 0
    reads: int = 0

    @contextmanager
    def begin(self, scope: Scope, *, write: bool = True) -> Iterator[Transaction]:
        if not write:
            self.reads += 1
            with self.inner.begin(scope, write=False) as tx:
                yield tx
            return
        _raise(self.at_begin)
        self.writes += 1
        with self.inner.begin(scope) as tx:
            yield tx
            _raise(self.at_commit)
        _raise(self.after_commit)

    def claim(self, owner: str, **how: Any) -> tuple[Scope, Sequence[Job]] | None:
        _raise(self.claims)
        return self.inner.claim(owner, **how)

    def renew(self, scope: Scope, jobs: Sequence[Job], **how: Any) -> Sequence[Job]:
        try:
            _raise(self.renewals)
            return self.inner.renew(scope, jobs, **how)
        finally:
            self.renewed()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


def _raise(planned: "deque[Exception | None]") -> None:
    if planned and (error := planned.popleft()) is not None:
        raise error
