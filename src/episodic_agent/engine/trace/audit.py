"""Read who did what to a user's memory: the entries that were kept, and the receipts of what was erased."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from episodic_agent.errors import InvalidInput
from episodic_agent.protocols import Store
from episodic_agent.schemas import AuditEntry, AuditKind, Caller, Scope
from episodic_agent.schemas.erasures import Erasure

ERASE: Final = "erase"
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
    limit: int,
) -> Sequence[AuditEntry]:
    """Return the entries of a scope in [since, until), newest first; of an erased user receipts are left."""
    with store.begin(scope, write=False) as tx:
        kinds = None if kind is None else [kind]
        entries = [*tx.audit(since=since, until=until, kinds=kinds, limit=limit)]
    if kind in (None, AuditKind.DELETION):
        entries += [
            _entry_of(one)
            for one in store.erasures(scope.space, scope)
            if (since is None or since <= one.at) and (until is None or one.at < until)
        ]
    entries.sort(key=lambda one: (one.at, len(one.id), one.id), reverse=True)
    return entries[:limit]


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
