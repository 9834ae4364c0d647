"""Read who did what to a user's memory: the entries that were kept, and the receipts of what was erased."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import islice
from typing import Final

from episodic_agent.errors import InvalidInput
from episodic_agent.protocols import Store, Transaction
from episodic_agent.schemas import AuditEntry, AuditKind, Caller, Scope
from episodic_agent.schemas.erasures import Erasure

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
