"""What an administrator does so that no file of the database holds bytes of what was erased: rewrite them."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import psycopg
from psycopg.errors import Diagnostic

from episodic_agent.core.language import plural
from episodic_agent.errors import StoreError
from episodic_agent.stores.catalogue import POSTGRES
from episodic_agent.stores.postgres.erasing import is_warning, may_vacuum
from episodic_agent.stores.postgres.server.distribute import has_citus
from episodic_agent.stores.postgres.server.migrate import SCHEMA
from episodic_agent.stores.postgres.server.session import Connection

REWRITTEN: Final = "rows deleted, files of tables and indexes rewritten"
VISITS: Final = (
    "the write-ahead log and its archives, replicas and backups, and blocks of the disk that the old files"
    " gave back"
)
# Samples of rows that the planner took before none were taken of words any more.
_STATISTICS: Final = "pg_catalog.pg_statistic"
_WAITING: Final = (
    f"SELECT space, owner, id FROM {SCHEMA}.erasure WHERE measures <> %s ORDER BY space, owner, id"
)
_COMPLETE: Final = (
    f"UPDATE {SCHEMA}.erasure SET state = 'done', waits_for = '',"
    " done_at = coalesce(done_at, (extract(epoch FROM now()) * 1000000)::bigint),"
    " measures = %s, remains = %s WHERE space = %s AND owner = %s AND id = %s"
)

Receipt = tuple[int, int, bytes]


def scrub(db: Connection, *, dry_run: bool, patience: float) -> Iterator[str]:
    """Rewrite every table that may hold bytes of erased rows, then complete the receipts; yield the steps.

    `db` is the tables' owner's, in autocommit. Each table is locked (ACCESS EXCLUSIVE: nobody reads it
    either) while it is rewritten; who waits longer than `patience` seconds for a lock gives up. Raises
    StoreError where a table could not be rewritten without what is erased: the receipts stay as they are.
    """
    if not may_vacuum(db):
        raise StoreError("this login does not own the tables; connect as the one who ran `admin init-db`")
    sizes = {table: _size(db, table) for table in _tables()}
    waiting = _waiting(db)
    if dry_run:
        yield from (f"{table}: {size / 1e6:,.1f} MB to rewrite" for table, size in sizes.items())
        yield (
            f"{plural(len(waiting), 'receipt waits', 'receipts wait')} for it; each table is locked "
            "meanwhile, for readers too;"
            f" room for another {max(sizes.values()) / 1e6:,.1f} MB is needed"
        )
        yield f"what stays: {VISITS}"
        return
    db.execute(f"SET lock_timeout = {max(1, round(patience * 1000))}".encode())
    texts: list[str] = []
    for table, before in sizes.items():
        yield from _rewritten(db, table, before, texts)
    yield from _statistics(db, texts)
    yield from _written_down(db)
    if texts:
        raise StoreError(
            f"not all is gone: {'; '.join(texts)}; scrub again, "
            f"{plural(len(waiting), 'receipt waits', 'receipts wait')}"
        )
    _complete(db, waiting)
    yield f"{plural(len(waiting), 'receipt is', 'receipts are')} complete"
    yield f"what stays: {VISITS}"


def _tables() -> Sequence[str]:
    return [f"{SCHEMA}.{kept.table}" for kept in POSTGRES]


def _size(db: Connection, table: str) -> int:
    function = "citus_total_relation_size" if has_citus(db) else "pg_total_relation_size"
    if table.removeprefix(f"{SCHEMA}.") == "job":  # on the coordinator alone
        function = "pg_total_relation_size"
    row = db.execute(f"SELECT {function}(%s::regclass)".encode(), (table,)).fetchone()
    return 0 if row is None else int(row[0])


def _rewritten(db: Connection, table: str, before: int, texts: list[str]) -> Iterator[str]:
    """Rewrite a table with its indexes and what of long rows lies apart; note what was kept."""
    left = _rewrite(db, table)
    if left:
        texts.append(left)
        yield left
        return
    yield f"{table}: {before / 1e6:,.1f} MB, now {_size(db, table) / 1e6:,.1f} MB"


def _rewrite(db: Connection, table: str) -> str:
    """Rewrite a table; return what stood in the way, "" if nothing."""
    refused: list[bool] = []
    dead: list[int] = []

    def hear(notice: Diagnostic) -> None:  # which is gone once this returns
        refused.append(is_warning(notice))
        dead.append(_unremovable(notice))

    db.add_notice_handler(hear)
    try:
        db.execute(f"VACUUM (FULL, VERBOSE) {table}".encode())
    except psycopg.errors.LockNotAvailable:
        return f"{table} is in use"
    finally:
        db.remove_notice_handler(hear)
    if any(refused):
        return f"this login may not rewrite {table}"
    if any(dead):
        return f"an older transaction may still read {plural(sum(dead), 'deleted row')} of {table}: end it"
    return ""


def _unremovable(notice: Diagnostic) -> int:
    """Return how many dead rows a rewrite had to copy: its detail begins with the number."""
    number = (notice.message_detail or "").partition(" ")[0]
    return int(number) if number.isdigit() else 0


def _statistics(db: Connection, texts: list[str]) -> Iterator[str]:
    """Rewrite the planner's samples, which only a superuser or the database's owner may."""
    left = _rewrite(db, _STATISTICS)
    if left:
        texts.append(left)
    yield left or f"{_STATISTICS} (samples of rows): rewritten"


def _written_down(db: Connection) -> Iterator[str]:
    """Write everything to the files and begin a new file of the write-ahead log, where this login may."""
    where = "; repeat both on each node" if has_citus(db) else ""
    for statement in ("CHECKPOINT", "SELECT pg_switch_wal()"):
        try:
            db.execute(statement.encode())
        except psycopg.errors.InsufficientPrivilege:
            yield f"{statement}: this login may not; a superuser runs it{where}"
        else:
            yield f"{statement}: done{where}"


def _waiting(db: Connection) -> Sequence[Receipt]:
    """Return the receipts of what was erased before now and may still lie in the files."""
    with db.transaction():
        _see_all(db, True)
        results: list[Any] = db.execute(_WAITING.encode(), (REWRITTEN,)).fetchall()
        _see_all(db, False)
    return [(space, owner, bytes(identity)) for space, owner, identity in results]


def _complete(db: Connection, waiting: Sequence[Receipt]) -> None:
    with db.transaction():
        _see_all(db, True)
        for receipt in waiting:
            db.execute(_COMPLETE.encode(), (REWRITTEN, VISITS, *receipt))
        _see_all(db, False)


def _see_all(db: Connection, every: bool) -> None:
    """Let the tables' owner see the receipts of all, until the same transaction takes it back."""
    forced = "NO FORCE" if every else "FORCE"
    db.execute(f"ALTER TABLE {SCHEMA}.erasure {forced} ROW LEVEL SECURITY".encode())
