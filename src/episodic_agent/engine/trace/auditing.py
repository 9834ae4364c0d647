"""Keep who did what: a store that writes an entry beside what is written, in the same transaction.

It stands before the store of a memory, so that no verb and no job writes without it. What each method of the
port writes is said once, in `WRITTEN`; a call that writes in several transactions has one entry, which grows
with each. A transaction that wrote nothing a person would ask for (a frame, a lease, a search's pending
review) leaves no entry, nor does one with a receipt, which tells who erased.
"""

import itertools
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cache
from inspect import signature
from itertools import islice
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self, cast
from uuid import UUID

from episodic_agent.engine.trace.acts import Act, current_act
from episodic_agent.errors import InvalidInput
from episodic_agent.protocols import (
    Mark,
    MarkKind,
    OwnRetention,
    OwnTimeout,
    Store,
    SuppressedWords,
    Transaction,
)
from episodic_agent.schemas import (
    AuditEntry,
    AuditKind,
    Caller,
    Encoding,
    Episode,
    Frame,
    Joined,
    Link,
    Scope,
    Section,
    Thread,
)
from episodic_agent.schemas.chains import Refusal
from episodic_agent.schemas.erasures import Erasure
from episodic_agent.schemas.facts import StoredFact
from episodic_agent.schemas.skills import StoredSkill

_COUNTED: Final = (1 << 28) - 1  # with the mark of a process a number of 52 bits, which JSON holds exactly
_MARK_BITS: Final = 24
_numbers = itertools.count()


class Written(NamedTuple):
    """What a call of the port wrote: so many of what, and which thing that concerns, where it is one.

    What is `beside` comes with other writes, and counts where nothing else was written.
    """

    what: str
    number: int
    thing: str = ""
    subject: UUID | None = None
    deletes: bool = False
    beside: bool = False


Says = Callable[[tuple[Any, ...], Mapping[str, Any], Any], Iterable[Written]]


class Auditor:
    """Makes the entries of one process: `owner` names it, `clock` gives record time."""

    def __init__(self, clock: Callable[[], datetime], owner: str) -> None:
        self._clock = clock
        self._mark = zlib.crc32(owner.encode("utf-8", "replace")) >> (32 - _MARK_BITS)

    def new(self, kind: AuditKind, verb: str, by: Caller, **more: Any) -> AuditEntry:
        """Return an entry of this moment."""
        number = (next(_numbers) & _COUNTED) << _MARK_BITS | self._mark
        return AuditEntry(self._clock(), f"{number:x}", kind, verb, by, **more)

    def entry(self, act: Act, scope: Scope, record: "WriteRecord") -> AuditEntry:
        """Return an act's entry with what one transaction of it wrote; raises nothing."""
        before = act.entries.get(scope)
        kind = AuditKind.DELETION if record.deletes else AuditKind.WRITE
        thing, subject = act.subject or record.subject()
        if before is None:
            return self.new(kind, act.verb, act.by, thing=thing, subject=subject, counts=record.counts())
        return replace(
            before,
            kind=before.kind if before.kind is AuditKind.DELETION else kind,
            thing=before.thing or thing,
            subject=subject if (before.thing, before.subject) == (thing, subject) else None,
            counts=dict(Counter(before.counts) + Counter(record.counts())),
        )


class WriteRecord:
    """What one transaction wrote."""

    __slots__ = ("deletes", "erased", "written")

    def __init__(self) -> None:
        self.written: list[Written] = []
        self.deletes = False
        self.erased = False

    def add(self, writes: Iterable[Written]) -> None:
        """Note what a call of the port wrote."""
        for write in writes:
            if write.number > 0:
                self.written.append(write)
                self.deletes = self.deletes or write.deletes

    @property
    def telling(self) -> Sequence[Written]:
        """Return what an entry tells: not what only stands beside it."""
        return [one for one in self.written if not one.beside] or self.written

    def counts(self) -> Mapping[str, int]:
        """Return how many of what were written."""
        counts: Counter[str] = Counter()
        for write in self.telling:
            counts[write.what] += write.number
        return dict(counts)

    def subject(self) -> tuple[str, UUID | None]:
        """Return what the first kind of thing is called, and which it was where it was one alone."""
        first = self.telling[0]
        ids = {one.subject for one in self.telling if one.what == first.what}
        return first.thing, first.subject if len(ids) == 1 else None


class AuditedStore:
    """A store whose write transactions leave an entry of who wrote what; all else is the store's own."""

    def __init__(self, store: Store, auditor: Auditor) -> None:
        self.store = store
        self.auditor = auditor

    @classmethod
    def of(cls, store: "Store | AuditedStore", clock: Callable[[], datetime], owner: str) -> Self:
        """Return a store, or the one that another of these stands before, with an auditor of its own."""
        inner = store.store if isinstance(store, AuditedStore) else store
        return cls(inner, Auditor(clock, owner))

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            return getattr(self.store, name)

    def begin(self, scope: Scope, *, write: bool = True) -> AbstractContextManager[Transaction]:
        """Open a transaction; one that writes is watched."""
        inner = self.store.begin(scope, write=write)
        return _Writing(inner, self.auditor, scope) if write else inner


class _Writing:
    """A write transaction that ends with the entry of what was written in it.

    A class with the two methods, not a generator: most calls open half a dozen, and wait for each.
    """

    __slots__ = ("_auditor", "_inner", "_record", "_scope", "_tx")

    def __init__(self, inner: AbstractContextManager[Transaction], auditor: Auditor, scope: Scope) -> None:
        self._inner = inner
        self._auditor = auditor
        self._scope = scope
        self._record = WriteRecord()

    def __enter__(self) -> Transaction:
        self._tx = self._inner.__enter__()
        return cast("Transaction", _WatchedTransaction(self._tx, self._record))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        record, entry, noted = self._record, None, False
        if kind is None and record.written and not record.erased:
            try:
                act = current_act()
                entry = self._auditor.entry(act, self._scope, record)
                self._tx.record(entry)
                noted = True
            finally:
                if not noted:
                    self._inner.__exit__(*sys.exc_info())
        handled = self._inner.__exit__(kind, error, trace)
        if entry is not None:  # committed: what the act writes from here on is added to it
            act.entries[self._scope] = entry
        return handled


# --- what each method of the port writes --------------------------------------------------------------


def _saved(values: tuple[Any, ...], _named: Mapping[str, Any], _result: Any) -> Iterator[Written]:
    changed = values[0]
    if isinstance(changed, Thread):
        yield Written("threads", 1, "thread", changed.id, beside=True)
    elif isinstance(changed, Section):
        yield Written("parts", 1, "episode", changed.episode_id, beside=True)
    elif isinstance(changed, Link):
        yield Written("links", 1, "thread", changed.later)
    else:
        assert isinstance(changed, Frame | Joined)  # a frame is open; the link that joins is told


def _dropped(values: tuple[Any, ...], named: Mapping[str, Any], _result: Any) -> Iterator[Written]:
    if len(values) > 1 or named.get("section") is not None:
        yield Written("parts", 1, "thread", values[0], beside=True)
    else:
        yield Written("threads", 1, "thread", values[0], deletes=True)


def _put_episode(values: tuple[Any, ...], _named: Mapping[str, Any], _result: Any) -> Iterator[Written]:
    written = values[0]
    if isinstance(written, Episode):
        yield Written("episodes", 1, "episode", written.id)
    elif isinstance(written, Encoding):
        yield Written("summaries", 1, "episode", written.episode_id)
    else:
        yield Written("refusals of chains", 1, "episode", written.child)


def _dropped_episodes(values: tuple[Any, ...], _named: Mapping[str, Any], _result: Any) -> Iterator[Written]:
    for gone in values:
        if isinstance(gone, UUID):
            yield Written("episodes", 1, "episode", gone, beside=True)
        elif isinstance(gone, Refusal):
            yield Written("refusals of chains", 1, "episode", gone.child, beside=True)


def _moved_facts(values: tuple[Any, ...], _named: Mapping[str, Any], _result: Any) -> Iterator[Written]:
    for fact, heir in values[0].items():
        yield Written("facts", 1, "fact", fact, deletes=heir is None, beside=heir is not None)


_MARKS: Final = {
    MarkKind.PINNED: "pins",
    MarkKind.SUPPRESSED: "suppressions",
    MarkKind.ARCHIVED: "archivings",
    MarkKind.EDITED: "edits",
}


def _put_upkeep(values: tuple[Any, ...], _named: Mapping[str, Any], _result: Any) -> Iterator[Written]:
    for record in values:
        if isinstance(record, Mark):
            yield Written(_MARKS[record.kind], 1)
        elif isinstance(record, SuppressedWords):
            yield Written(_MARKS[MarkKind.SUPPRESSED], 1)
        elif isinstance(record, OwnTimeout):
            yield Written("timeouts", 1)
        elif isinstance(record, OwnRetention):
            yield Written("retention policies", 1, beside=True)


def _released(values: tuple[Any, ...], _named: Mapping[str, Any], result: int) -> Iterator[Written]:
    """Tell of marks and words; what may expire no more goes with an erasure, which has its receipt."""
    if isinstance(values[0], MarkKind):
        yield Written(_MARKS[values[0]], result)
    elif isinstance(values[0], str):
        yield Written(_MARKS[MarkKind.SUPPRESSED], result)


def _of_jobs(values: tuple[Any, ...], _named: Mapping[str, Any], _result: Any) -> Iterator[Written]:
    yield from (Written("jobs", 1, "job", one) for one in values if isinstance(one, UUID))


def _all(what: str, thing: str = "", *, beside: bool = False, deletes: bool = False) -> Says:
    """Return what a method says that writes one thing, whose id it is given first."""
    return lambda values, _named, _result: [
        Written(what, 1, thing, _id_of(values[0]), beside=beside, deletes=deletes)
    ]


def _each(what: str, thing: str) -> Says:
    """Return what a method says that writes a list of things."""
    return lambda values, _named, _result: [Written(what, 1, thing, _id_of(one)) for one in values[0]]


def _id_of(value: Any) -> UUID | None:
    if isinstance(value, UUID):
        return value
    return value.id if isinstance(value, Thread | Episode | StoredFact | StoredSkill) else None


_THREADS: Final[Mapping[str, Says]] = {
    "create": _all("threads", "thread"),
    "save": _saved,
    "drop": _dropped,
}
_OBSERVATIONS: Final[Mapping[str, Says]] = {
    "append": lambda values, _named, _result: [
        Written("observations", 1, "thread", one.thread_id) for one in values[0]
    ],
}
_EPISODES: Final[Mapping[str, Says]] = {
    "put": _put_episode,
    "change": _all("episodes", "episode", beside=True),
    "archive": lambda values, _named, result: [Written("archivings", result, "thread", values[0])],
    "retire": _each("replaced episodes", "episode"),
    "revive": _all("undone generations", "thread"),
    "strengthen": _all("reviews", "episode"),
    "lead": _all("chains", "episode"),
    "drop": _dropped_episodes,
}
_INDEX: Final[Mapping[str, Says]] = {
    "put_vectors": lambda values, _named, _result: [Written("vectors", len(set(values[2])), beside=True)],
}
_KNOWLEDGE: Final[Mapping[str, Says]] = {
    "put_facts": _each("facts", "fact"),
    "move_facts": _moved_facts,
    "put_skill": _all("skills", "skill"),
    "drop_skill": _all("skills", "skill", deletes=True),
    "decide": lambda values, _named, _result: [
        Written("decisions", 1, "decision", values[0].id, beside=True)
    ],
    "revoke": lambda values, _named, _result: [Written("decisions", len(values), beside=True)],
}
_UPKEEP: Final[Mapping[str, Says]] = {
    "put": _put_upkeep,
    "release": _released,
    "drop": _of_jobs,
    "put_back": _of_jobs,
}
WRITTEN: Final[Mapping[str, Mapping[str, Says]]] = {
    "threads": _THREADS,
    "observations": _OBSERVATIONS,
    "episodes": _EPISODES,
    "index": _INDEX,
    "knowledge": _KNOWLEDGE,
    "upkeep": _UPKEEP,
}


# --- the transaction that is watched ------------------------------------------------------------------


def _noted(method: Callable[..., Any], says: Says) -> Callable[..., Any]:
    taken = signature(method).parameters.values()
    names = [one.name for one in taken if one.kind is one.POSITIONAL_OR_KEYWORD]

    def writing(self: Any, *values: Any, **named: Any) -> Any:
        result = method(self, *values, **named)
        by_name = [named[name] for name in names[1 + len(values) :] if name in named] if named else ()
        self.writes.add(says((*values, *by_name), named, result))
        return result

    return writing


@cache
def _noting(kind: Any, name: str) -> type:
    """Return the class of an aggregate that notes what its methods write; all else is the store's own."""
    methods = {method: _noted(getattr(kind, method), says) for method, says in WRITTEN[name].items()}
    return type(f"Noting{kind.__name__}", (kind,), methods)


class _Aggregate:
    """An aggregate of a watched transaction, from its first use on one that notes.

    It changes its class, so that what only reads costs nothing: something that stood before it would cost a
    call more than the entry does. A transaction's aggregates are its own, and go with it.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, transaction: Any, _kind: type) -> Any:
        aggregate = getattr(transaction.tx, self._name)
        aggregate.__class__ = _noting(cast("Hashable", type(aggregate)), self._name)
        aggregate.writes = transaction.writes
        transaction.__dict__[self._name] = aggregate
        return aggregate


class _WatchedTransaction:
    """A transaction that notes what is written through it."""

    def __init__(self, tx: Transaction, writes: WriteRecord) -> None:
        self.tx = tx
        self.writes = writes

    def record(self, what: Erasure | AuditEntry) -> None:
        """Keep a receipt, which is told by itself, or an entry."""
        self.tx.record(what)
        self.writes.erased = self.writes.erased or isinstance(what, Erasure)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.tx, name)


for _name in WRITTEN:
    setattr(_WatchedTransaction, _name, _Aggregate(_name))


ERASE: Final = "erase"
_PAGE: Final = 500  # entries read at once where they are chosen by who did it
_MOMENT: Final = timedelta(microseconds=1)
_UNKNOWN: Final = Caller("")  # of what was erased before it was kept who did


def audit_kind(kind: AuditKind | str | None) -> AuditKind | None:
    """Return what entries are asked for; InvalidInput for no kind there is."""
    try:
        return None if kind is None else AuditKind(kind)
    except ValueError as error:
        raise InvalidInput(f"no kind of audit {kind!r}; there are {', '.join(AuditKind)}") from error


def audit_of(
    store: Store,
    scope: Scope,
    *,
    since: datetime | None,
    until: datetime | None,
    kind: AuditKind | None,
    by: str | None,
    limit: int,
) -> Sequence[AuditEntry]:
    """Return the entries of a scope in [since, until), newest first; of an erased user receipts are left.

    `by` chooses those of one face or of one key.
    """
    kinds = None if kind is None else [kind]
    with store.begin(scope, write=False) as tx:
        if by is None:
            entries = [*tx.audit(since=since, until=until, kinds=kinds, limit=limit)]
        else:
            every = _entries(tx, since, until, kinds)
            entries = [*islice((one for one in every if _is_by(one, by)), limit)]
    if kind in (None, AuditKind.DELETION):
        entries += [
            _entry_of(one)
            for one in store.erasures(scope.space, scope)
            if (since is None or since <= one.at) and (until is None or one.at < until)
        ]
    if by is not None:
        entries = [one for one in entries if _is_by(one, by)]
    entries.sort(key=lambda one: (one.at, len(one.id), one.id), reverse=True)
    return entries[:limit]


def _entries(
    tx: Transaction, since: datetime | None, until: datetime | None, kinds: Sequence[AuditKind] | None
) -> Iterator[AuditEntry]:
    """Yield entries newest first, read so many at a time; a page begins with the moment the last ended in."""
    before: set[str] = set()
    size = _PAGE
    while True:
        page = tx.audit(since=since, until=until, kinds=kinds, limit=size)
        fresh = [one for one in page if one.id not in before]
        yield from fresh
        if len(page) < size:
            return
        last = page[-1].at
        before = {one.id for one in page if one.at == last}
        until = last + _MOMENT
        size = max(_PAGE, len(before) * 2)  # a moment may hold more than a page


def _is_by(entry: AuditEntry, by: str) -> bool:
    return by in (entry.by.face, entry.by.key)


def _entry_of(erasure: Erasure) -> AuditEntry:
    """Return a receipt as an entry: what was erased has no id any more but in its fingerprint."""
    return AuditEntry(
        erasure.at,
        str(erasure.id),
        AuditKind.DELETION,
        ERASE,
        erasure.by or _UNKNOWN,
        erasure.what.value,
        counts=erasure.counts,
        note=erasure.reason,
    )
