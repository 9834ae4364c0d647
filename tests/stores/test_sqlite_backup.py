"""Copies of a file in use: of one moment, verified, atomic."""

import os
import shutil
import signal
import stat
import threading
from pathlib import Path

import apsw
import pytest
from stores.builders import ANA, fill
from stores.postgres_server import open_postgres
from stores.test_sqlite_failures import in_child, needs_fork, texts_of

from episodic_agent.errors import InvalidInput, StoreError, StoreUnavailable
from episodic_agent.stores.sqlite import SqliteStore
from episodic_agent.stores.sqlite.file import backup as module


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
def store(path: Path) -> SqliteStore:
    store = SqliteStore(path)
    fill(store)
    return store


@pytest.fixture
def target(tmp_path: Path) -> Path:
    folder = tmp_path / "copies"
    folder.mkdir()
    return folder / "copy.db"


def left_beside(target: Path) -> list[str]:
    return sorted(file.name for file in target.parent.iterdir())


def test_a_backup_is_one_whole_file_that_opens_as_a_memory(store: SqliteStore, target: Path) -> None:
    made = store.backup(target)
    assert (made.path, made.observations, made.bytes) == (target, 3, target.stat().st_size)
    assert left_beside(target) == ["copy.db"]
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    opened = SqliteStore(target)
    assert texts_of(opened) == ["a", "b", "c"]
    assert opened.check() == []
    fill(opened, name="attic")
    assert texts_of(store, "attic") == []


def test_a_backup_is_of_one_moment_while_others_write(
    store: SqliteStore, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_PAGES", 1)
    shares: list[float] = []
    stop = threading.Event()

    def write() -> None:
        number = 0
        while not stop.is_set():
            fill(store, name=f"room {number}", texts=["x" * 500] * 3)
            number += 1

    def tell(share: float) -> None:
        shares.append(share)
        fill(store, name=f"told {len(shares)}", texts=["y"])  # each step is met by a commit

    writer = threading.Thread(target=write)
    writer.start()
    try:
        made = store.backup(target, progress=tell)
    finally:
        stop.set()
        writer.join()
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    copy = SqliteStore(target)
    assert copy.check() == []
    assert made.observations % 3 == 0
    assert texts_of(copy, "told 1") == []
    assert texts_of(store, "told 1") == ["y"]


def test_a_file_that_is_there_is_replaced_only_when_told(store: SqliteStore, target: Path) -> None:
    target.write_text("my diary")
    with pytest.raises(InvalidInput, match=r"copy\.db exists; .* --force"):
        store.backup(target)
    assert target.read_text() == "my diary"
    store.backup(target, force=True)
    assert texts_of(SqliteStore(target)) == ["a", "b", "c"]


@pytest.mark.parametrize("name", ["memory.db", "memory.db-wal", "link.db", "hard.db"])
def test_the_memory_itself_is_no_target(store: SqliteStore, path: Path, name: str) -> None:
    path.with_name("link.db").symlink_to(path)
    path.with_name("hard.db").hardlink_to(path)
    with pytest.raises(InvalidInput, match="is the memory itself"):
        store.backup(path.with_name(name), force=True)
    assert texts_of(store) == ["a", "b", "c"]


def test_folders_and_missing_folders_are_named(store: SqliteStore, target: Path) -> None:
    with pytest.raises(InvalidInput, match=r"copies is a folder; name a file"):
        store.backup(target.parent, force=True)
    with pytest.raises(InvalidInput, match=r"there is no folder .*nowhere"):
        store.backup(target.parent / "nowhere" / "copy.db")


def test_a_memory_in_use_is_not_replaced(store: SqliteStore, target: Path) -> None:
    other = SqliteStore(target)
    fill(other, name="attic")
    with pytest.raises(InvalidInput, match=r"copy\.db-wal lies beside .*copy\.db, which seems to be in use"):
        store.backup(target, force=True)
    assert texts_of(other, "attic") == ["a", "b", "c"]


def test_no_room_leaves_what_was_there(
    store: SqliteStore, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target.write_text("an older copy")
    usage = shutil.disk_usage(target.parent)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=100))
    with pytest.raises(StoreUnavailable, match=r"no room for .*copy\.db: it takes 0 MiB, 0 MiB are free"):
        store.backup(target, force=True)
    assert left_beside(target) == ["copy.db"]
    assert target.read_text() == "an older copy"


def test_a_copy_that_is_not_sound_takes_nobodys_place(store: SqliteStore, path: Path, target: Path) -> None:
    target.write_text("a sound copy")
    apsw.Connection(str(path)).execute("UPDATE observation SET text = 'other' WHERE text = 'b'")
    with pytest.raises(StoreError, match=r"is not sound \(observation 1 .* is not what was stored\)"):
        store.backup(target, force=True)
    assert target.read_text() == "a sound copy"
    assert left_beside(target) == ["copy.db"]


@needs_fork
def test_a_killed_backup_leaves_the_older_copy(
    path: Path, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target.write_text("an older copy")
    monkeypatch.setattr(module, "_PAGES", 1)

    def die() -> None:
        store = SqliteStore(path)
        fill(store)
        store.backup(target, force=True, progress=lambda _: os.kill(os.getpid(), signal.SIGKILL))

    assert in_child(die) == -signal.SIGKILL
    assert target.read_text() == "an older copy"
    assert texts_of(SqliteStore(path)) == ["a", "b", "c"]


def test_erased_words_are_in_no_later_backup(store: SqliteStore, target: Path) -> None:
    fill(store, name="attic", texts=["a very secret thing"])
    with store.begin(ANA) as tx:
        thread = tx.threads.get("attic")
        assert thread is not None
        tx.observations.erase(thread.id, [0], thread.created_at)
    assert store.sweep().hindrance == ""
    assert store.backup(target).observations == 3
    assert b"a very secret thing" not in target.read_bytes()


def test_a_server_names_its_own_programs(postgres_url: str, target: Path) -> None:
    with pytest.raises(
        InvalidInput, match=r"`pg_dump --format=custom --file=.*copy\.db .*docs/postgresql\.md"
    ):
        open_postgres(postgres_url).backup(target)
    assert not target.exists()
