"""A copy of the file while others write to it: of one moment, verified, in its place at once or not."""

import errno
import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Final
from uuid import UUID

import apsw

from episodic_agent.errors import InvalidInput, StoreError, StoreUnavailable
from episodic_agent.protocols import ref_of
from episodic_agent.schemas import Backup
from episodic_agent.stores.sqlite.file.connection import SqliteConnections, accept, row, rows
from episodic_agent.stores.sqlite.file.content import altered

_PAGES: Final = 512  # copied at a time
_LAST_SEQ: Final = 0xFFFFFFFF
_PAGE_OF_SEQS: Final = 4096
_BESIDE: Final = ("-wal", "-shm", "-journal")
_OURS_ALONE: Final = 0o600
_NO_ROOM: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

Share = Callable[[float], object]  # told how much is done, 0 to 1


def backup(connections: SqliteConnections, target: Path, *, force: bool, progress: Share | None) -> Backup:
    """Copy the file as it is now to `target`; raises InvalidInput, StoreError, StoreUnavailable.

    The copy is made beside the target, checked, synced, and takes the target's name last.
    """
    check_target(connections.path, target, force=force)
    partial = target.with_name(f".{target.name}.{secrets.token_hex(4)}.partial")
    with connections.borrow() as source, _naming_target(target), _removed(partial):
        os.close(os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, _OURS_ALONE))
        with closing(apsw.Connection(str(partial))) as copy:
            copy.pragma("journal_mode", "OFF")  # what is half done is thrown away
            copy.pragma("synchronous", "OFF")
            _copy(source, copy, target, progress)
            copy.pragma("journal_mode", "DELETE")
            accept(copy)
            if wrong := first_problem(copy):
                text = f"the copy of {connections.path} is not sound ({wrong}); {target} was not written"
                raise StoreError(f"{text}: see `episodic doctor`")
            observations = row(copy, "SELECT count(*) FROM observation WHERE erased_at IS NULL")
        _sync(partial, os.O_RDWR)
        os.replace(partial, target)
        if os.name == "posix":
            _sync(target.parent, os.O_RDONLY)
    return Backup(target, target.stat().st_size, observations[0] if observations else 0)


def check_target(path: Path, target: Path, *, force: bool) -> None:
    """Refuse what cannot be written as a database: InvalidInput."""
    if target.is_dir():
        raise InvalidInput(f"{target} is a folder; name a file in it")
    if not target.parent.is_dir():
        raise InvalidInput(f"there is no folder {target.parent}; make it first")
    ours = [path, *(path.with_name(path.name + suffix) for suffix in _BESIDE)]
    if target.resolve() in [one.resolve() for one in ours] or (target.exists() and target.samefile(path)):
        raise InvalidInput(f"{target} is the memory itself; name another file")
    left = [target.with_name(target.name + suffix) for suffix in _BESIDE]
    if lying := next((one for one in left if one.exists()), None):
        raise InvalidInput(f"{lying} lies beside {target}, which seems to be in use; name another file")
    if target.exists() and not force:
        raise InvalidInput(f"{target} exists; name another file, or replace it with --force")


def first_problem(db: apsw.Connection) -> str:
    """Return what is wrong with a database: its pages, or an observation that is not what was stored."""
    for (line,) in rows(db, "PRAGMA quick_check(1)"):
        if line != "ok":
            return str(line)
    for number, scope, identity, count in rows(
        db,
        "SELECT t.number, t.scope, t.id, f.next_seq FROM thread t JOIN frame f ON f.thread = t.number",
    ):
        for start in range(0, count, _PAGE_OF_SEQS):
            refs = ref_of(number, start), ref_of(number, min(start + _PAGE_OF_SEQS - 1, _LAST_SEQ))
            for seq, named in altered(db, scope, UUID(bytes=identity), *refs):
                return f"observation {seq} ({named}) is not what was stored"
    return ""


def _copy(source: apsw.Connection, copy: apsw.Connection, target: Path, progress: Share | None) -> None:
    source.execute("BEGIN")  # of one moment: a writer would have it begin again and again
    try:
        pages = row(source, "PRAGMA page_count")
        size = (pages[0] if pages else 0) * int(source.pragma("page_size"))
        free = shutil.disk_usage(target.parent).free
        if size > free:
            raise StoreUnavailable(
                f"no room for {target}: it takes {size >> 20} MiB, {free >> 20} MiB are free; free some space"
            )
        with copy.backup("main", source, "main") as step:
            while not step.done:
                step.step(_PAGES)
                if progress is not None and step.page_count:
                    progress(1.0 - step.remaining / step.page_count)
    finally:
        source.execute("ROLLBACK")


def _sync(path: Path, flags: int) -> None:
    descriptor = os.open(path, flags)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _removed(partial: Path) -> Iterator[None]:
    """Leave nothing of a copy that did not come to its end."""
    try:
        yield
    finally:
        for suffix in ("", *_BESIDE):
            with suppress(OSError):
                partial.with_name(partial.name + suffix).unlink(missing_ok=True)


@contextmanager
def _naming_target(target: Path) -> Iterator[None]:
    """Say what is wrong with the copy's place, not with the memory."""
    try:
        yield
    except apsw.FullError as error:
        raise StoreUnavailable(f"no room left to write {target}; free some space and repeat") from error
    except (apsw.CantOpenError, apsw.IOError, apsw.ReadOnlyError) as error:
        raise StoreUnavailable(f"cannot write {target} ({error}); check its folder and the disk") from error
    except OSError as error:
        if error.errno in _NO_ROOM:
            raise StoreUnavailable(f"no room left to write {target}; free some space and repeat") from error
        raise StoreUnavailable(f"cannot write {target} ({error.strerror}); check its folder") from error
