"""A store that holds one user's memory as it stood at a moment, and takes nothing in."""

import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, cast
from uuid import UUID

from episodic_agent.engine.arguments import LATER, aware
from episodic_agent.engine.deps import Deps
from episodic_agent.engine.scoped import Scoped
from episodic_agent.errors import InvalidInput, NotFound
from episodic_agent.lazily import module
from episodic_agent.protocols import MarkKind, Store, Transaction
from episodic_agent.schemas import Scope
from episodic_agent.schemas.erasures import Erasure

if TYPE_CHECKING:
    from episodic_agent.engine.past import filling, reading
else:
    filling = module("episodic_agent.engine.past.filling")
    reading = module("episodic_agent.engine.past.reading")

MOST_COPIES: Final = 4  # pasts of a memory that stay filled, those asked for last


class PastStore:
    """The store of one scope as it stood at a moment of record time: a copy in memory, made when first read.

    Every write raises InvalidInput. Where something was erased, deleted, suppressed or has expired since the
    copy was made, it is made anew.
    """

    def __init__(self, deps: Deps, scope: Scope, moment: datetime) -> None:
        self._source = deps
        self._scope = scope
        self._moment = moment
        self._lock = threading.RLock()
        self._copy: Store | None = None
        self._seen: object = None
        self._empty = False
        self.deps = replace(
            deps,
            store=cast("Store", self),  # what it lacks it refuses
            clock=lambda: moment,
            language_model=None,
            trace_days=0,
            sink=None,
            audits=False,
        )

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Refuse every other verb of a store: all of them change something, or are about files."""
            if name.startswith("_"):
                raise AttributeError(name)
            raise InvalidInput(self._refusal())

    def begin(self, scope: Scope, *, write: bool = True) -> AbstractContextManager[Transaction]:
        """Open a transaction on the copy; InvalidInput for one that writes."""
        if write:
            raise InvalidInput(self._refusal())
        return self._reading(scope)

    @contextmanager
    def _reading(self, scope: Scope) -> Iterator[Transaction]:
        copy = self._current()
        with copy.begin(scope, write=False) as tx:
            yield tx

    def scopes(self, of: str | Scope | None = None) -> Sequence[Scope]:
        """Return the scope; NotFound where a listing is asked for and nothing was remembered yet."""
        self._current()
        if self._empty and not isinstance(of, Scope):
            raise NotFound(
                f"nothing was remembered of {self._scope.user_id!r} by {_shown(self._moment)}; {LATER}"
            )
        return [] if self._empty or of not in (None, self._scope, self._scope.space) else [self._scope]

    def waiting(
        self,
        scope: Scope | None = None,
        *,
        space: str | None = None,
        due: datetime | None = None,
        state: str | None = None,
    ) -> int:
        """Count nothing: no work waits in a past."""
        del scope, space, due, state
        return 0

    def erasures(self, space: str, scope: Scope | None = None) -> Sequence[Erasure]:
        """Return the receipts of what had been erased by then."""
        return [one for one in self._source.store.erasures(space, scope) if one.at <= self._moment]

    def close(self) -> None:
        """Let the copy go; it is made anew where it is read again."""
        with self._lock:
            copy, self._copy = self._copy, None
            if copy is not None:
                copy.close()

    def _refusal(self) -> str:
        name = self._scope.user_id
        return (
            f"this is the memory of {name!r} as of {_shown(self._moment)}, and the past cannot be changed:"
            f" write to memory.user({name!r})"
        )

    def _current(self) -> Store:
        """Return the copy, made anew where something must not be shown any more."""
        source, now = self._source, self._source.clock()
        with self._lock:
            erased = [one.id for one in source.store.erasures(self._scope.space, self._scope)]
            with source.store.begin(self._scope, write=False) as tx:
                seen = _withheld(tx, erased, now)
                if self._copy is None or seen != self._seen:
                    self._copy, self._seen = self._made(tx, now), seen
            return self._copy

    def _made(self, tx: Transaction, now: datetime) -> Store:
        if self._source.scratch is None:
            raise InvalidInput("this memory was put together without a scratch store: it has no past to read")
        nouns = reading.PastReader(tx, self._moment, now).read()
        self._empty = not nouns.threads
        copy = self._source.scratch()
        then = replace(self.deps, store=copy, embedder=None)
        filling.Filling(self._source, then, self._scope, nouns).fill(tx)
        return copy


def _withheld(tx: Transaction, erased: Sequence[UUID], now: datetime) -> object:
    """Return what tells whether anything was erased, deleted, hidden or expired since."""
    return (
        tuple(erased),
        tuple(sorted((one.observation_id, one.mark) for one in tx.knowledge.tombstones())),
        tuple(tx.upkeep.marks(MarkKind.SUPPRESSED)),
        tuple(tx.upkeep.settings().words),
        tuple(tx.upkeep.expired(None, now)),
    )


class Pasts:
    """The pasts of one memory that were asked for last, by user and moment."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stores: OrderedDict[tuple[Scope, datetime], PastStore] = OrderedDict()

    def at(self, at: Scoped, moment: "datetime | str | float") -> Scoped:
        """Return a user's memory at a moment; InvalidInput for no moment, or one to come."""
        asked = aware(moment)
        if asked is None:
            raise InvalidInput("`as_of` needs a moment, such as '2026-03-01T12:00:00Z'")
        if asked > at.deps.clock():
            raise InvalidInput(f"{_shown(asked)} is still to come: nobody knows what will be known then")
        key = (at.scope, asked)
        with self._lock:
            store = self._stores.pop(key, None) or PastStore(at.deps, at.scope, asked)
            self._stores[key] = store
            while len(self._stores) > MOST_COPIES:
                self._stores.popitem(last=False)  # whoever reads in it still has it
        return Scoped(store.deps, at.scope, at.new, at.walls)

    def close(self) -> None:
        """Let all copies go."""
        with self._lock:
            for store in self._stores.values():
                store.close()
            self._stores.clear()


def _shown(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S %Z}".strip()
