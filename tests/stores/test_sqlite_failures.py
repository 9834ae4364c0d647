"""What can go wrong with a file: each its own one-line error, nothing half written, nothing acknowledged lost."""

import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import ClassVar

import apsw
import numpy as np
import pytest
from stores.builders import (
    ANA,
    NOW,
    begin_thread,
    fill,
    identity,
    make_fact,
    make_frame,
    make_observations,
    make_thread,
    minute,
)
from stores.processes import append_indexed

from episodic_agent.core.vectors import rounded
from episodic_agent.errors import StoreError, StoreUnavailable
from episodic_agent.protocols import EPISODES, OBSERVATIONS, Posting
from episodic_agent.schemas import Scope, Vector
from episodic_agent.stores import faults
from episodic_agent.stores.lease import is_gone, process_owner
from episodic_agent.stores.sqlite import SqliteStore
from episodic_agent.stores.sqlite.file.migrate import Migration, give_back, shipped_migrations

QUICK = timedelta(milliseconds=50)
LEASE = timedelta(minutes=5)
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="the platform cannot fork")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture(autouse=True)
def _nothing_stays_armed() -> Iterator[None]:
    yield
    faults.disarm()


def texts_of(store: SqliteStore, name: str = "kitchen") -> list[str]:
    with store.begin(ANA, write=False) as tx:
        return [o.text for o in tx.observations.read(identity(name), 0, 10_000)]


def in_child(work: Callable[[], None]) -> int:
    """Run `work` in a forked child; return what ended it: 0, 1 for an error, or minus the signal."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


# --- files that are not ours ----------------------------------------------------------------------------


def test_a_file_that_is_no_database_is_refused_and_left_alone(path: Path) -> None:
    content = b"Dear diary, this is not a database at all." * 100
    path.write_bytes(content)
    with pytest.raises(StoreError, match="is not a SQLite database; choose another path"):
        SqliteStore(path)
    assert path.read_bytes() == content


def test_a_database_of_another_program_is_refused_and_left_alone(path: Path) -> None:
    with apsw.Connection(str(path)) as db:
        db.execute("CREATE TABLE invoice (id INTEGER)")
    content = path.read_bytes()
    with pytest.raises(StoreError, match="another program"):
        SqliteStore(path)
    assert path.read_bytes() == content
    assert list(path.parent.iterdir()) == [path]


def test_a_folder_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="check that its folder exists"):
        SqliteStore(tmp_path / "nowhere" / "memory.db")


def test_an_empty_file_becomes_a_store(path: Path) -> None:
    path.touch()
    store = SqliteStore(path)
    fill(store)
    assert texts_of(store) == ["a", "b", "c"]


# --- migrations -----------------------------------------------------------------------------------------

NEXT = Migration(
    shipped_migrations()[-1].version + 1,
    "add_mood",
    "ALTER TABLE thread ADD COLUMN mood TEXT; UPDATE thread SET mood = 'calm';",
)


def test_an_older_schema_is_brought_up_to_date_with_its_rows(path: Path) -> None:
    old = SqliteStore(path)
    fill(old)
    old.close()
    store = SqliteStore(path, migrations=[*shipped_migrations(), NEXT])
    assert texts_of(store) == ["a", "b", "c"]
    assert store.check() == []
    assert apsw.Connection(str(path)).execute("SELECT mood FROM thread").fetchall() == [("calm",)]


def test_episodes_from_before_facts_were_kept_are_still_to_be_drawn_from(path: Path) -> None:
    SqliteStore(path, migrations=shipped_migrations()[:9]).close()
    db, thread = apsw.Connection(str(path)), identity("kitchen").bytes
    db.execute("INSERT INTO scope VALUES (1, 'home', 'ana')")
    db.execute(
        "INSERT INTO thread (number, scope, id, origin, status, modality, channels, generation, created_at,"
        " last_activity_at) VALUES (1, 1, ?, 'kitchen', 'open', 'conversation', '[]', 0, 0, 0)",
        (thread,),
    )
    for seq in range(3):
        db.execute(
            "INSERT INTO episode VALUES (1, ?, 1, 'event', 'closed', ?, ?, 0, NULL, 0, 0, 0, 'end', 0, 1, 1,"
            " 0, NULL, NULL, NULL, NULL, ?)",
            (identity(str(seq)).bytes, seq, seq, seq),
        )
    db.close()
    store = SqliteStore(path)
    with store.begin(ANA) as tx:
        pending = {episode.first_seq for episode in tx.episodes.list(unconsolidated=True, limit=9)}
        assert (pending, tx.count("facts")) == ({1, 2}, 0)
        tx.knowledge.put_facts([make_fact("a")])
    assert store.check() == []


def test_counts_from_before_they_were_kept_short_are_read(path: Path) -> None:
    document = Posting(9, {"tea": 3, "rain": 1}, 4)
    answers = []
    for kept in (None, b"\x03\x00\x01\x00"):  # two bytes each
        if kept is not None:
            db = apsw.Connection(str(path))
            db.execute("UPDATE document SET counts = ?", (kept,))
            db.close()
        store = SqliteStore(path)
        with store.begin(ANA) as tx:
            if kept is None:
                tx.index.put_postings(OBSERVATIONS, [document])
            scores = tx.index.text_scores(
                OBSERVATIONS, {"tea": 1.0, "rain": 0.5}, k1=1.2, b=0.75, average_length=4.0, limit=9
            )
            answers.append([values.tolist() for values in scores])
        store.close()
    assert answers[0] == answers[1] != [[], []]


def with_floats(path: Path, rows: Vector) -> None:
    """Leave a file of schema 18, which kept vectors as float32, with these vectors of one user."""
    SqliteStore(path, migrations=shipped_migrations()[:18]).close()
    db = apsw.Connection(str(path))
    db.execute("INSERT INTO scope VALUES (1, 'home', 'ana')")
    db.execute(
        "INSERT INTO stream VALUES (1, 1, ?, 'small', ?, 0, ?)", (OBSERVATIONS, rows.shape[1], len(rows))
    )
    with db:
        db.executemany(
            "INSERT INTO vector (n, stream, ref, chunk, v) VALUES (?, 1, ?, 0, ?)",
            [((1 << 36) + n, n, row.astype("<f4").tobytes()) for n, row in enumerate(rows, 1)],
        )
    db.close()


def test_what_an_import_suppressed_as_edited_is_marked_so(path: Path) -> None:
    SqliteStore(path, migrations=shipped_migrations()[:19]).close()
    db = apsw.Connection(str(path))
    db.execute("INSERT INTO scope VALUES (1, 'home', 'ana')")
    for first, last, reason in ((1, 1, "edited since"), (3, 9, "private")):
        db.execute("INSERT INTO span_mark VALUES (1, 'suppressed', ?, ?, 0, ?)", (first, last, reason))
    db.close()
    store = SqliteStore(path)
    with store.begin(ANA) as tx:
        assert [(m.kind, m.first_ref, m.reason) for m in tx.upkeep.marks()] == [
            ("edited", 1, ""), ("suppressed", 3, "private"),
        ]  # fmt: skip
        assert tx.upkeep.in_force(datetime.now(UTC)) == (True, False)
    store.close()


def test_vectors_from_before_they_were_kept_in_halves_are_what_they_would_be_now(path: Path) -> None:
    rows = np.random.default_rng(4).normal(size=(2_000, 384)).astype(np.float32)
    with_floats(path, rows)
    before = path.stat().st_size
    store = SqliteStore(path)
    assert store.check() == []
    assert before - path.stat().st_size > 2_000 * 700  # given back to the disk
    refs, query = range(1, len(rows) + 1), rows[7]
    with store.begin(ANA) as tx:
        held = tx.index.vectors(OBSERVATIONS, "small", refs)
        assert all(np.array_equal(held[ref], row) for ref, row in zip(refs, rounded(rows), strict=True))
        found = tx.index.vector_scores(OBSERVATIONS, "small", query, limit=5)
        tx.index.put_vectors(EPISODES, "small", refs, rows)
        now = tx.index.vector_scores(EPISODES, "small", query, limit=5)
        assert [values.tolist() for values in found] == [values.tolist() for values in now]
        tx.index.put_vectors(OBSERVATIONS, "small", [len(rows) + 1], query[None])  # goes on where it was
        both, _ = tx.index.vector_scores(OBSERVATIONS, "small", query, limit=2)
        assert both.tolist() == [8, len(rows) + 1]
    store.close()


def test_a_process_of_an_earlier_version_cannot_misread_halves(path: Path) -> None:
    with_floats(path, np.eye(4, dtype=np.float32))
    SqliteStore(path).close()
    db = apsw.Connection(str(path))
    with pytest.raises(apsw.SQLError, match="no such column: v"):
        db.execute("SELECT n, ref, v FROM vector")
    with pytest.raises(apsw.SQLError, match="no column named v"):
        db.execute("INSERT INTO vector (n, stream, ref, chunk, v) VALUES (9, 1, 9, 0, x'00')")


def test_a_file_that_others_read_is_brought_up_to_date_all_the_same(path: Path) -> None:
    rows = np.random.default_rng(4).normal(size=(300, 384)).astype(np.float32)
    with_floats(path, rows)
    reader = apsw.Connection(str(path))
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM vector").fetchall()
    store = SqliteStore(path, busy_timeout=QUICK)  # so long it waits to give free pages back
    with store.begin(ANA, write=False) as tx:
        assert tx.index.vectors(OBSERVATIONS, "small", [9])[9].tolist() == rounded(rows)[8].tolist()
    assert store.check() == []
    assert reader.execute("SELECT length(v) FROM vector LIMIT 1").get == 1536  # in its snapshot
    reader.close()
    store.close()


@pytest.mark.parametrize("hindrance", [apsw.FullError, apsw.BusyError, apsw.LockedError])
def test_a_file_that_cannot_be_rewritten_keeps_its_free_pages(hindrance: type[Exception]) -> None:
    class Hindered:
        asked: ClassVar[list[str]] = []

        def pragma(self, name: str, _value: object = None) -> int:
            return {"page_count": 100, "freelist_count": 25}.get(name, 0)

        def execute(self, sql: str) -> None:
            self.asked.append(sql)
            raise hindrance

    give_back(Hindered())  # type: ignore[arg-type]
    assert Hindered.asked == ["VACUUM"]


def test_a_schema_of_a_newer_version_is_refused(path: Path) -> None:
    SqliteStore(path, migrations=[*shipped_migrations(), NEXT]).close()
    with pytest.raises(StoreError, match=r"written by a newer version .* upgrade episodic-agent"):
        SqliteStore(path)


def test_a_migration_that_was_changed_after_it_was_applied_is_refused(path: Path) -> None:
    SqliteStore(path, migrations=[*shipped_migrations(), NEXT]).close()
    changed = Migration(NEXT.version, NEXT.name, NEXT.script + "-- and more")
    with pytest.raises(StoreError, match="made by other migrations"):
        SqliteStore(path, migrations=[*shipped_migrations(), changed])


def test_a_migration_that_fails_changes_nothing(path: Path) -> None:
    SqliteStore(path).close()
    broken = Migration(NEXT.version, "broken", "CREATE TABLE half (id INTEGER); SELECT * FROM nothing;")
    with pytest.raises(StoreError, match="nothing"):
        SqliteStore(path, migrations=[*shipped_migrations(), broken])
    store = SqliteStore(path)
    assert store.check() == []


def test_line_ends_do_not_change_a_checksum() -> None:
    first = shipped_migrations()[0]
    assert Migration(1, first.name, first.script.replace("\n", "\r\n")).checksum == first.checksum


def test_every_table_says_whose_its_rows_are(path: Path) -> None:
    SqliteStore(path).close()
    db = apsw.Connection(str(path))
    tables = [name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    owned = {
        table
        for table in tables
        if {"scope", "stream"} & {column for _, column, *_ in db.execute(f"PRAGMA table_info({table})")}
    }
    assert set(tables) - owned == {"scope", "migration", "erasure", "api_key", "sqlite_sequence"}
    strict = {row[1] for row in db.execute("PRAGMA table_list") if row[5]}
    assert set(tables) - strict == {"sqlite_sequence"}


# --- the world refuses ----------------------------------------------------------------------------------


def test_a_file_locked_by_another_process_is_reported_after_the_wait(path: Path) -> None:
    store = SqliteStore(path, busy_timeout=QUICK)
    fill(store)
    other = apsw.Connection(str(path))
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreUnavailable, match=r"locked by another process for 0.05 s"), store.begin(ANA):
        pass
    assert texts_of(store) == ["a", "b", "c"]  # readers are never locked out
    other.execute("ROLLBACK")
    fill(store, name="attic")


def test_a_writer_that_waits_too_long_for_another_thread_is_told(path: Path) -> None:
    store = SqliteStore(path, busy_timeout=QUICK)
    entered, leave = threading.Event(), threading.Event()

    def hold() -> None:
        with store.begin(ANA):
            entered.set()
            leave.wait(10)

    holder = threading.Thread(target=hold)
    holder.start()
    entered.wait(10)
    with (
        pytest.raises(StoreUnavailable, match="another thread"),
        SqliteStore(path, busy_timeout=QUICK).begin(ANA),
    ):
        pass
    leave.set()
    holder.join()


def test_a_full_disk_is_reported_and_keeps_what_was_acknowledged(path: Path) -> None:
    store = SqliteStore(path, max_bytes=900_000)
    with store.begin(ANA) as tx:
        begin_thread(tx)
    limit = 0
    with pytest.raises(StoreUnavailable, match="no room left"):  # noqa: PT012 until it is full
        for limit in range(1000):
            with store.begin(ANA) as tx:
                tx.observations.append(make_observations("kitchen", ["long " * 1000] * 4, first=4 * limit))
    assert len(texts_of(store)) == 4 * limit > 0
    assert store.check() == []
    store.close()
    roomier = SqliteStore(path)
    with roomier.begin(ANA) as tx:
        tx.observations.append(make_observations("kitchen", ["there is room again"], first=4 * limit))


@needs_fork
def test_a_read_only_file_can_be_read_but_not_written() -> None:
    # Not under the test runner's folder: only the user it runs as may enter that.
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        path = Path(folder) / "memory.db"
        store = SqliteStore(path)
        fill(store)
        store.close()
        path.chmod(0o444)

        def read_then_write() -> None:
            if os.geteuid() == 0:
                os.setuid(65534)  # root may write to anything
            reader = SqliteStore(path)
            assert texts_of(reader) == ["a", "b", "c"]
            with pytest.raises(StoreUnavailable, match="read-only"):
                fill(reader, name="attic")

        assert in_child(read_then_write) == 0


def test_a_damaged_page_is_reported(path: Path) -> None:
    store = SqliteStore(path)
    fill(store, texts=["long " * 500] * 50)
    store.close()
    content = bytearray(path.read_bytes())
    behind = len(content) - 16 * 8192  # the pages that hold the schema and the ledger lie before
    content[behind:] = b"\xa5" * (len(content) - behind)
    path.write_bytes(content)
    damaged = SqliteStore(path)
    assert damaged.check() != []
    with pytest.raises(StoreError, match=r"is damaged .* restore a backup"):
        texts_of(damaged)


def test_a_schema_changed_by_hand_is_reported(path: Path) -> None:
    store = SqliteStore(path)
    apsw.Connection(str(path)).execute("DROP INDEX observation_time")
    assert store.check() == ["the schema was changed by hand; it is not what the migrations made"]


def test_rows_that_point_nowhere_are_reported(path: Path) -> None:
    store = SqliteStore(path)
    fill(store)
    apsw.Connection(str(path)).execute("PRAGMA foreign_keys = OFF; DELETE FROM thread")
    assert store.check() == ["frame row 1 points to a missing thread"]


# --- killed and failing at every point ------------------------------------------------------------------


def write_second_chunk(store: SqliteStore) -> None:
    with store.begin(ANA) as tx:
        append_indexed(
            tx, tx.threads.number(identity("kitchen")), make_observations("kitchen", list("de"), first=3)
        )
        tx.upkeep.ask("encode", "k", "s", now=NOW)
    store.claim("elsewhere:1:1", now=NOW, lease=LEASE)


def assert_whole(store: SqliteStore, *, second: bool) -> None:
    assert texts_of(store) == list("abcde" if second else "abc")
    with store.begin(ANA, write=False) as tx:
        assert tx.index.statistics(OBSERVATIONS, []).documents == (2 if second else 0)
        assert len(tx.upkeep.jobs()) == (1 if second else 0)
    assert store.check() == []


@needs_fork
@pytest.mark.parametrize("point", faults.POINTS)
def test_a_process_killed_at_any_point_leaves_a_whole_transaction_or_none(path: Path, point: str) -> None:
    def die() -> None:
        store = SqliteStore(path)
        fill(store)
        faults.arm(point, 1, lambda: os.kill(os.getpid(), signal.SIGKILL))
        write_second_chunk(store)

    assert in_child(die) == -signal.SIGKILL
    survivor = SqliteStore(path)
    assert_whole(survivor, second=point in {"after-commit", "after-claim"})
    fill(survivor, name="attic")


@pytest.mark.parametrize("point", faults.POINTS)
def test_an_error_at_any_point_leaves_a_whole_transaction_or_none(path: Path, point: str) -> None:
    store = SqliteStore(path)
    fill(store)
    faults.arm(point, 1, lambda: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        write_second_chunk(store)
    assert_whole(store, second=point in {"after-commit", "after-claim"})
    fill(store, name="attic")


def test_a_fault_point_counts_down_and_fires_once() -> None:
    fired: list[str] = []
    faults.arm("before-commit", 2, lambda: fired.append("x"))
    for _ in range(4):
        faults.reach("before-commit")
        faults.reach("after-commit")
    assert fired == ["x"]
    with pytest.raises(ValueError, match="no fault point"):
        faults.arm("after-lunch", 1, lambda: None)


# --- processes ------------------------------------------------------------------------------------------


@needs_fork
def test_a_forked_child_uses_connections_of_its_own(path: Path) -> None:
    store = SqliteStore(path)
    fill(store)

    inherited = list(store._connections._idle)

    def child() -> None:
        fill(store, name="attic", texts=["child"])
        assert texts_of(store) == ["a", "b", "c"]
        assert not [db for db in store._connections._idle if db in inherited]

    assert in_child(child) == 0
    fill(store, name="cellar")
    assert texts_of(store, "attic") == ["child"]
    assert store.check() == []


def test_a_lease_of_a_process_that_is_gone_is_taken_over_at_once(path: Path) -> None:
    script = "from episodic_agent.stores.lease import process_owner; print(process_owner())"
    gone = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    ).stdout.strip()
    store = SqliteStore(path)
    with store.begin(ANA) as tx:
        for key in "123":
            tx.upkeep.ask("encode", key, key, now=NOW)
    taken = [store.claim(owner, now=NOW, lease=LEASE) for owner in (gone, process_owner(), "elsewhere:1:1")]
    assert [claimed[1][0].key for claimed in taken if claimed] == ["1", "1", "2"]
    claimed = store.claim(process_owner(), now=minute(1), lease=LEASE, limit=9)
    assert claimed is not None
    assert [(job.key, job.attempts) for job in claimed[1]] == [("3", 1)]


def test_a_later_process_with_the_same_number_is_not_the_owner() -> None:
    host, pid, start = process_owner().rsplit(":", 2)
    assert not is_gone(f"{host}:{pid}:{start}")
    assert not is_gone(f"other-{host}:{pid}:1")
    if start:
        assert is_gone(f"{host}:{pid}:{int(start) + 1}")


# --- memory and temporary stores ------------------------------------------------------------------------


def test_a_memory_store_goes_with_its_folder() -> None:
    store = SqliteStore(":memory:")
    fill(store)
    assert store.path.exists()
    store.close()
    assert not store.path.parent.exists()


def test_a_small_budget_gives_up_the_copies_used_longest_ago(path: Path) -> None:
    store = SqliteStore(path, cache_bytes=4000)
    for user in "abcdef":
        scope = Scope(user)
        number = fill(store, scope, texts=[])
        with store.begin(scope) as tx:
            append_indexed(tx, number, make_observations("kitchen", [user] * 30))
    for user in "abcdefabc":
        with store.begin(Scope(user), write=False) as tx:
            assert tx.index.statistics(OBSERVATIONS, [user]).frequencies == {user: 30}
            assert len(tx.index.vector_scores(OBSERVATIONS, "small", [1.0] * 8, limit=99)[0]) == 30
    shelves = store._shelves
    assert 0 < shelves.matrices.nbytes <= 4000
    assert len(shelves.words._places) < 6


def test_an_index_that_grew_in_small_steps_stays_in_few_pieces(path: Path) -> None:
    store = SqliteStore(path)
    number = fill(store, texts=[])
    for seq in range(60):
        with store.begin(ANA) as tx:
            append_indexed(tx, number, make_observations("kitchen", [f"tea {seq}"], first=seq))
        with store.begin(ANA, write=False) as tx:
            assert tx.index.statistics(OBSERVATIONS, ["tea"]).frequencies == {"tea": seq + 1}
    (place,) = store._shelves.words._places.values()
    assert place.copy is not None
    assert len(place.copy._segments) == 1


def test_a_copy_made_by_the_databases_own_means_opens_as_a_store(path: Path) -> None:
    store = SqliteStore(path)
    fill(store)
    copied = path.with_name("copy.db")
    apsw.Connection(str(path)).execute("VACUUM INTO ?", (str(copied),))
    opened = SqliteStore(copied)
    assert texts_of(opened) == ["a", "b", "c"]
    assert opened.check() == []
    assert apsw.Connection(str(copied)).pragma("journal_mode") == "wal"


def test_two_stores_on_one_file_share_their_turn_to_write(path: Path) -> None:
    store, other = SqliteStore(path), SqliteStore(path)
    with store.begin(ANA) as tx:
        tx.threads.create(make_thread(), make_frame())
        with pytest.raises(StoreError, match="already open in this thread"), other.begin(ANA):
            pass
