"""Files that are taken away under an open store, and logs that were deleted after a kill."""

import os
import shutil
import signal
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import apsw
import pytest
from stores.builders import ANA, begin_thread, fill
from stores.test_sqlite_failures import in_child, needs_fork, texts_of

from episodic_agent.errors import StoreError
from episodic_agent.protocols import OwnTimeout
from episodic_agent.stores import faults
from episodic_agent.stores.sqlite import SqliteStore

pytestmark = needs_fork


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


def log_of(path: Path) -> Path:
    return path.with_name(path.name + "-wal")


def beside(path: Path) -> list[Path]:
    return [path.with_name(path.name + suffix) for suffix in ("-wal", "-shm")]


def remove_log(path: Path) -> None:
    for file in beside(path):
        file.unlink()


def killed(path: Path, story: Callable[[SqliteStore], object] = fill) -> None:
    """Let a process that opened the file live a story and be killed."""

    def live() -> None:
        store = SqliteStore(path)  # kept to the end: closed, it would be no kill
        story(store)
        os.kill(os.getpid(), signal.SIGKILL)

    assert in_child(live) == -signal.SIGKILL


# --- taken away while open ------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", ["", "-wal", "-shm"])
def test_nothing_is_acknowledged_into_a_file_that_is_gone(path: Path, suffix: str) -> None:
    store = SqliteStore(path)
    fill(store)
    path.with_name(path.name + suffix).unlink()
    with pytest.raises(StoreError, match=rf"memory\.db{suffix} was deleted or moved away while .* was open"):
        fill(store, name="attic")
    with pytest.raises(StoreError, match="was deleted or moved away"):
        texts_of(store)
    with pytest.raises(StoreError, match="was deleted or moved away"):
        store.scopes()
    assert not path.with_name(path.name + suffix).exists()  # and no empty one is made in its place


@pytest.mark.parametrize("suffix", ["", "-wal", "-shm"])
def test_nothing_is_acknowledged_into_a_file_that_was_replaced(path: Path, suffix: str) -> None:
    store = SqliteStore(path)
    fill(store)
    file = path.with_name(path.name + suffix)
    other = shutil.copy(file, path.with_name("other"))
    os.replace(other, file)
    content = file.read_bytes()
    with pytest.raises(StoreError, match=rf"memory\.db{suffix} was replaced by another file"):
        fill(store, name="attic")
    with pytest.raises(StoreError, match="was replaced"):
        texts_of(store)
    assert file.read_bytes() == content


def test_a_log_whose_file_is_gone_is_not_taken_for_nothing(path: Path) -> None:
    store = SqliteStore(path)
    with store.begin(ANA) as tx:
        tx.upkeep.put(OwnTimeout("sms", timedelta(minutes=9)))
    log = Path(f"{path}-wal").read_bytes()
    path.unlink()
    with pytest.raises(StoreError, match=r"is missing, but its log .* is there"):
        SqliteStore(path)
    assert not path.exists()
    assert Path(f"{path}-wal").read_bytes() == log
    with suppress(StoreError):
        store.close()


def test_a_file_taken_away_in_the_middle_of_a_transaction_keeps_none_of_it(path: Path) -> None:
    store = SqliteStore(path)
    fill(store)
    with pytest.raises(StoreError, match="nothing of this call is kept"), store.begin(ANA) as tx:  # noqa: PT012
        begin_thread(tx, "attic", ["a"])
        path.rename(path.with_name("elsewhere.db"))
    path.with_name("elsewhere.db").rename(path)
    assert texts_of(store) == ["a", "b", "c"]  # put back, it serves again
    assert texts_of(store, "attic") == []
    fill(store, name="attic")


def test_a_store_with_every_connection_lent_makes_no_new_file(path: Path) -> None:
    store = SqliteStore(path)
    fill(store)
    with pytest.raises(StoreError, match="was deleted"), store.begin(ANA, write=False):  # noqa: PT012
        path.unlink()
        store.scopes()
    assert not path.exists()


def test_what_a_deleted_log_held_is_saved_by_an_orderly_end(path: Path) -> None:
    store = SqliteStore(path)
    fill(store)
    remove_log(path)
    with pytest.raises(StoreError, match="end every program that uses it in an orderly way"):
        fill(store, name="attic")
    store.close()
    assert texts_of(SqliteStore(path)) == ["a", "b", "c"]


def test_looking_for_residue_drops_no_lock_that_others_rely_on(path: Path) -> None:
    store = SqliteStore(path)
    fill(store)
    assert list(store.residue(ANA, ["a", "nowhere to be found"])) == []
    # whoever thinks it is alone folds the log in and deletes it
    assert in_child(lambda: SqliteStore(path).close()) == 0
    assert log_of(path).exists()
    fill(store, name="attic")


# --- a log that is missing ------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_log_deleted_after_a_kill_is_noticed_and_named(path: Path) -> None:
    killed(path)
    remove_log(path)
    for _ in range(2):
        with pytest.raises(StoreError) as answer:
            SqliteStore(path)
    message = str(answer.value)
    assert f"the log of {path} ({path}-wal) is missing" in message
    assert "may be lost" in message
    assert "`episodic doctor --repair`" in message


def test_a_log_deleted_after_the_file_was_closed_once_and_written_again_is_noticed(path: Path) -> None:
    store = SqliteStore(path)
    fill(store)
    store.close()
    killed(path, lambda opened: fill(opened, name="attic"))
    remove_log(path)
    with pytest.raises(StoreError, match="is missing"):
        SqliteStore(path)


@pytest.mark.slow
def test_a_log_deleted_after_many_checkpoints_is_noticed(path: Path) -> None:
    def write_much(store: SqliteStore) -> None:
        for n in range(4):  # a checkpoint comes after 16 MiB of log
            fill(store, name=f"room {n}", texts=["long " * 4000] * 300)
        fill(store, name="attic")

    killed(path, write_much)
    remove_log(path)
    with pytest.raises(StoreError, match="is missing"):
        SqliteStore(path)


def test_a_copy_made_without_the_log_of_an_open_memory_is_noticed(path: Path) -> None:
    store = SqliteStore(path)
    fill(store)
    copied = Path(shutil.copy(path, path.with_name("copy.db")))
    with pytest.raises(StoreError, match=r"copy\.db-wal\) is missing: .* or the file was copied without it"):
        SqliteStore(copied)
    shutil.copy(log_of(path), log_of(copied))
    assert texts_of(SqliteStore(copied)) == ["a", "b", "c"]  # with its log it is whole


def reopened(path: Path) -> None:
    """Open and close a file twice, as several commands do."""
    for _ in range(2):
        store = SqliteStore(path)
        texts_of(store)
        store.close()


def fold_in_elsewhere(path: Path) -> None:
    """Let another program read the file, as sqlite3 does: it folds the log in and deletes it."""
    other = apsw.Connection(str(path))
    other.execute("SELECT count(*) FROM observation").fetchall()
    other.close()
    assert not log_of(path).exists()


def test_a_killed_process_with_its_log_is_no_alarm(path: Path) -> None:
    killed(path)
    reopened(path)


def test_a_log_folded_in_by_another_program_is_no_alarm(path: Path) -> None:
    killed(path)
    fold_in_elsewhere(path)
    reopened(path)
    assert texts_of(SqliteStore(path)) == ["a", "b", "c"]


@pytest.mark.slow
@pytest.mark.parametrize("point", faults.MARKING)
def test_a_process_killed_while_it_marks_the_file_raises_no_alarm(path: Path, point: str) -> None:
    def die(store: SqliteStore) -> None:
        faults.arm(point, 1, lambda: os.kill(os.getpid(), signal.SIGKILL))
        fill(store)

    killed(path, die)
    reopened(path)
    killed(path)
    reopened(path)
    assert texts_of(SqliteStore(path)) == ["a", "b", "c"]


def test_a_transaction_that_is_taken_back_raises_no_alarm(path: Path) -> None:
    store = SqliteStore(path)
    with pytest.raises(ZeroDivisionError), store.begin(ANA) as tx:  # noqa: PT012 the block is the case
        begin_thread(tx)
        raise ZeroDivisionError
    store.close()
    reopened(path)


def test_copies_of_a_closed_memory_and_copies_by_the_database_are_no_alarm(path: Path) -> None:
    store = SqliteStore(path)
    fill(store)
    apsw.Connection(str(path)).execute("VACUUM INTO ?", (str(path.with_name("while open.db")),))
    store.close()
    shutil.copy(path, path.with_name("after.db"))
    for copied in ("while open.db", "after.db"):
        assert texts_of(SqliteStore(path.with_name(copied))) == ["a", "b", "c"]


def test_several_processes_that_come_and_go_raise_no_alarm(path: Path) -> None:
    store = SqliteStore(path)
    fill(store)

    def visit() -> None:
        visitor = SqliteStore(path)
        fill(visitor, name=str(os.getpid()))
        visitor.close()

    for n in range(3):
        assert in_child(visit) == 0
        fill(store, name=f"between {n}")
    killed(path, lambda opened: fill(opened, name="attic"))
    fill(store, name="cellar")
    store.close()
    reopened(path)


def test_what_was_swept_and_a_small_log_raise_no_alarm(path: Path) -> None:
    store = SqliteStore(path)
    fill(store)
    assert store.sweep().hindrance == ""
    assert log_of(path).stat().st_size == 0
    assert texts_of(SqliteStore(path)) == ["a", "b", "c"]
    fill(store, name="attic")
    assert store.sweep().hindrance == ""
    killed(path, texts_of)
    store.close()
    reopened(path)


def test_a_reader_that_keeps_the_mark_out_of_the_file_holds_nobody_up(path: Path) -> None:
    store = SqliteStore(path)
    fill(store)
    store.close()
    store = SqliteStore(path)
    reader = apsw.Connection(str(path))
    reader.execute("BEGIN; SELECT count(*) FROM observation")
    for n in range(5):
        fill(store, name=f"room {n}")
    reader.close()
    store.close()
    reopened(path)
