"""What stays in a server's files after an erasure is said; the administrator's rewrite takes it out of them."""

import random
import string
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from builders.chats import mine
from builders.commands import Run
from stores.postgres_server import connect, own_server, programs
from stores.postgres_trouble import QUICK

from episodic_agent import Memory
from episodic_agent.errors import StoreError
from episodic_agent.stores.postgres import erasing
from episodic_agent.stores.postgres.server.admin import init_db, scrub_db
from episodic_agent.stores.postgres.server.scrub import REWRITTEN

MARK = "quokkazanzibar4711"


def files_holding(url: str, word: str) -> list[str]:
    """Write everything to the files of a database; return those of them that hold a word."""
    with connect(url) as db:
        db.execute("CHECKPOINT")
        row = db.execute(
            "SELECT current_setting('data_directory'), oid FROM pg_database WHERE datname = current_database()"
        ).fetchone()
    assert row is not None
    folder = Path(row[0]) / "base" / str(row[1])
    if not folder.exists():
        pytest.skip("the server's files are elsewhere")
    return sorted(f.name for f in folder.iterdir() if f.is_file() and word.encode() in f.read_bytes())


@pytest.fixture
def cli(run: Run) -> Run:
    """Run a command on a server; the fixture's own file is not used."""
    return lambda url, *arguments: run(*arguments, db=url)


@pytest.fixture
def memory(postgres_url: str) -> Iterator[Memory]:
    with Memory.open(postgres_url, embedder="hashing", policy="seed-001") as opened:
        yield opened


def talk(memory: Memory) -> None:
    """Say a secret in one thread, often enough to fill pages, and once so long that it is kept aside."""
    letters = random.Random(7).choices(string.ascii_letters + string.digits, k=12_000)
    texts = [f"The {n}th code is {MARK}, {' '.join(map(str, range(n, n + 60)))}" for n in range(60)]
    texts.append("".join(letters[:6000]) + f" {MARK} " + "".join(letters[6000:]))
    for thread, statements in (
        ("safe", texts),
        ("garden", [f"The {n}th plum tree blooms" for n in range(20)]),
    ):
        mine(memory).add([{"role": "user", "content": text} for text in statements], thread=thread)
        mine(memory).flush(thread=thread)


@pytest.mark.slow
def test_a_receipt_says_that_bytes_stay_until_the_files_are_rewritten(
    memory: Memory, postgres_url: str
) -> None:
    talk(memory)
    assert len(files_holding(postgres_url, MARK)) >= 2  # rows, and what of the long one lies apart
    receipt = mine(memory).erase(thread="safe")
    assert (receipt.state, receipt.residue) == ("done", 0)
    assert files_holding(postgres_url, MARK) != []
    assert "tables vacuumed" in receipt.measures
    assert "admin scrub" in receipt.remains
    assert "write-ahead log" in receipt.remains
    seen = list(scrub_db(postgres_url, QUICK, dry_run=True))
    assert files_holding(postgres_url, MARK) != []
    assert any("1 receipt waits" in step and "locked" in step for step in seen)
    assert memory.erasures() == memory.user("default").erasures.list()
    assert {one.remains for one in memory.erasures()} == {receipt.remains}

    list(scrub_db(postgres_url, QUICK, dry_run=False))
    assert files_holding(postgres_url, MARK) == []
    for erasure in memory.erasures():
        assert (erasure.state, erasure.measures) == ("done", REWRITTEN)
        assert "admin scrub" not in erasure.remains
        assert "backups" in erasure.remains
    assert any("0 receipts wait" in step for step in scrub_db(postgres_url, QUICK, dry_run=True))
    assert mine(memory).search("which tree blooms?").hits
    assert [f.message for f in memory.doctor() if f.severity == "error"] == []


@pytest.mark.slow
def test_the_planners_samples_quote_nothing_that_was_said(memory: Memory, postgres_url: str) -> None:
    talk(memory)
    with connect(postgres_url) as db:
        db.execute("ANALYZE")
        results = db.execute(
            "SELECT tablename, attname FROM pg_stats WHERE schemaname = 'episodic'"
            " AND position(%s in concat(histogram_bounds::text, most_common_vals::text)) > 0",
            (MARK,),
        ).fetchall()
    assert results == []


@pytest.mark.slow
def test_who_may_still_read_what_was_deleted_keeps_the_receipts_waiting(
    memory: Memory, postgres_url: str
) -> None:
    talk(memory)
    with psycopg.connect(postgres_url) as reader:
        reader.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        reader.execute("SELECT 1")
        receipt = mine(memory).erase(thread="safe")
        with pytest.raises(StoreError, match=r"older transaction may still read .* 1 receipt waits"):
            list(scrub_db(postgres_url, QUICK, dry_run=False))
        assert memory.erasures() == [receipt]
    with psycopg.connect(postgres_url) as reader:
        reader.execute("SELECT FROM episodic.observation")
        with pytest.raises(StoreError, match=r"episodic.observation is in use"):
            list(scrub_db(postgres_url, QUICK, dry_run=False))
    list(scrub_db(postgres_url, QUICK, dry_run=False))
    assert [one.measures for one in memory.erasures()] == [REWRITTEN]


def test_only_the_tables_owner_scrubs(login: Callable[..., str]) -> None:
    with pytest.raises(StoreError, match="admin init-db"):
        list(scrub_db(login("app"), QUICK, dry_run=True))


@pytest.mark.slow
def test_the_command_prints_each_step_and_the_receipts_say_what_stays(
    memory: Memory, postgres_url: str, cli: Run
) -> None:
    talk(memory)
    done = cli(postgres_url, "forget", "thread", "safe", "--yes").out
    assert "bytes may stay: freed space" in done
    assert "bytes may stay: freed space" in cli(postgres_url, "forget", "receipts").out
    assert "1 receipt waits" in cli(postgres_url, "admin", "scrub", "--dry-run").out
    assert "1 receipt is complete" in cli(postgres_url, "admin", "scrub").out
    assert "freed space" not in cli(postgres_url, "forget", "receipts").out


# --- logins that may not vacuum ---------------------------------------------------------------------------


def erased_by_an_ordinary_login(url: str) -> None:
    """Erase as a login that may not vacuum; the receipt must say so, and an administrator completes it."""
    with Memory.open(url, embedder="hashing") as memory:
        secret = mine(memory).add(f"The code is {MARK}", thread="safe")[0]
        receipt = mine(memory).erase(observation=secret.id)
        assert (receipt.state, receipt.measures) == ("pending", erasing.DELETED)
        assert "their owner completes it with `episodic admin scrub`" in receipt.waits_for
        assert receipt.residue == 0  # rows are searched all the same
        (pending,) = [one.message for one in memory.doctor() if one.invariant == "I12"]
        assert pending.count("`") == 2, "one remedy"
        assert memory.erasures() == [receipt]
        assert mine(memory).search("code").hits == ()


def test_before_rights_to_vacuum_could_be_given_the_receipt_says_what_was_not_done(
    cli: Run, login: Callable[..., str], postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(erasing, "MAINTAIN_SINCE", 990000)  # as if the server were older
    erased_by_an_ordinary_login(login("app"))
    assert "1 receipt is complete" in cli(postgres_url, "admin", "scrub").out
    with Memory.open(postgres_url, embedder="hashing") as memory:
        assert [(one.state, one.residue, one.waits_for) for one in memory.erasures()] == [("done", 0, "")]


def test_a_right_that_was_taken_away_is_said_in_the_receipt(
    login: Callable[..., str], postgres_url: str
) -> None:
    url = login("app")
    with connect(postgres_url) as db:
        if db.info.server_version >= 170000:
            db.execute("REVOKE MAINTAIN ON ALL TABLES IN SCHEMA episodic FROM episodic_app")
    erased_by_an_ordinary_login(url)
    with Memory.open(postgres_url, embedder="hashing") as memory:
        memory.doctor(repair=True)  # vacuums as the owner, which is not yet a scrub
        assert [(one.state, one.measures) for one in memory.erasures()] == [("done", erasing.VACUUMED)]


@pytest.mark.slow
@pytest.mark.skipif(programs(16) is None, reason="no PostgreSQL 16 here")
def test_an_older_server_erases_for_ordinary_logins_and_its_owner_completes_it() -> None:
    server = own_server(version=16)
    try:
        init_db(server.url(), QUICK, ["app"])
        erased_by_an_ordinary_login(server.url(user="app"))
        list(scrub_db(server.url(), QUICK, dry_run=False))
        with Memory.open(server.url(user="app"), embedder="hashing") as memory:
            assert [(one.state, one.measures) for one in memory.erasures()] == [("done", REWRITTEN)]
    finally:
        server.remove()
