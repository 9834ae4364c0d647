"""The commands that keep a file safe: backup, and what doctor says and saves."""

import os
import signal
from pathlib import Path

import pytest
from builders.chats import diary
from builders.commands import Run

from episodic_agent import Memory
from episodic_agent.stores.sqlite.file import connection


@pytest.fixture
def filled(run: Run, database: Path) -> Run:
    with Memory.open(database, embedder="hashing", policy="seed-001") as memory:
        memory.user("ana").add(diary())
    return run


def test_a_backup_is_a_memory_and_is_replaced_only_when_told(filled: Run, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    made = filled("backup", copy, "--json").json
    assert (made["observations"], made["bytes"]) == (16, copy.stat().st_size)
    assert filled("stats", "--user", "ana", "--json", db=copy).json["observations"] == 16
    refused = filled("backup", copy)
    assert (refused.code, "--force" in refused.error) == (2, True)
    again = filled("backup", copy, "--force")
    assert again.code == 0
    assert "16 observations" in again.err


def test_a_server_is_no_file_to_copy(run: Run, postgres_url: str, tmp_path: Path) -> None:
    refused = run("backup", tmp_path / "copy.db", db=postgres_url)
    assert (refused.code, "pg_dump" in refused.error) == (2, True)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the platform cannot fork")
def test_a_missing_log_is_told_by_every_command_until_doctor_repair_goes_on_without(
    filled: Run, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "_OTHERS_SECONDS", 0.05)  # nobody else is about to finish anything here
    if (child := os.fork()) == 0:
        memory = Memory.open(database, embedder="hashing", policy="seed-001")
        memory.user("ana").add("The piano mover comes on the 12th.")
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    for suffix in ("-wal", "-shm"):
        Path(f"{database}{suffix}").unlink()
    for command in (["stats"], ["add", "more", "--user", "ana"], ["doctor"]):
        outcome = filled(*command)
        assert outcome.code == 5
        assert f"the log of {database} ({database}-wal) is missing" in outcome.error
        assert "after 20" in outcome.error
    mended = filled("doctor", "--repair")
    assert "went on without the log" in mended.err
    assert mended.code == 0
    assert filled("stats", "--user", "ana", "--json").json["observations"] == 16
    assert filled("doctor").out == "sound\n"
