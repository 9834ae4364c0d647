"""Files the program makes: read by their owner alone, and never written over without a word."""

import io
import json
import os
import stat
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from builders.chats import mine
from builders.commands import Run

from episodic_agent import Memory
from episodic_agent.stores.sqlite import SqliteStore

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no modes")


@pytest.fixture(autouse=True)
def _the_usual_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.fixture
def walk(tmp_path: Path) -> Path:
    """An agent's readings, one a line."""
    lines = [json.dumps({"number": n, "place": "hall" if n // 20 else "kitchen"}) + "\n" for n in range(40)]
    path = tmp_path / "walk.jsonl"
    path.write_text("".join(lines), encoding="utf-8")
    return path


@pytest.fixture
def filled(run: Run, walk: Path, no_file_yet: None) -> Run:
    """The command, on a memory of a message and of an agent's steps."""
    assert run("add", "the kettle boils", "--thread", "talk").code == 0
    done = run("run", "--policy", "steps", "--sensor", f"replay:{walk}", "--thread", "walk", "--quiet")
    assert done.code == 0, done.err
    return run


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_memory_and_what_lies_beside_it_is_read_by_its_owner_alone(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "memory.db", embedder="hashing") as memory:
        mine(memory).add("tea")
        made = {path.name: mode(path) for path in tmp_path.iterdir()}
    assert made == dict.fromkeys(("memory.db", "memory.db-wal", "memory.db-shm"), 0o600)


def test_a_memory_that_was_opened_to_others_stays_so(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    SqliteStore(path).close()
    path.chmod(0o664)
    with Memory.open(path, embedder="hashing") as memory:
        mine(memory).add("tea")
        assert {mode(one) for one in tmp_path.iterdir()} == {0o664}


def test_whatever_a_command_writes_is_read_by_its_owner_alone(
    filled: Run, walk: Path, tmp_path: Path
) -> None:
    out = tmp_path / "new" / "out"
    again = ("run", "--policy", "steps", "--sensor", f"replay:{walk}", "--quiet")
    assert filled(*again, "--output", out / "run", "--record", tmp_path / "rec.jsonl.gz").code == 0
    assert filled("export", "--output", out / "export.jsonl").code == 0
    assert filled("plot", "talk", "-o", out / "plot.svg").code == 0
    assert filled("map", "-o", out / "map.png").code == 0
    made = [tmp_path / "rec.jsonl.gz", tmp_path / "new", *(tmp_path / "new").rglob("*")]
    modes = {path.name: oct(mode(path)) for path in made if path.is_file() and mode(path) != 0o600}
    folders = {path.name: oct(mode(path)) for path in made if path.is_dir() and mode(path) != 0o700}
    assert (modes, folders) == ({}, {})
    assert len(made) > 8


COMMANDS = [
    ("export", "--output"),
    ("plot", "talk", "-o"),
    ("plot", "walk", "--output"),
    ("map", "-o"),
    ("run", "--policy", "steps", "--quiet", "--record"),
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_no_file_is_overwritten_unasked(
    command: tuple[str, ...], filled: Run, walk: Path, tmp_path: Path
) -> None:
    path = tmp_path / "mine.svg"
    path.write_text("mine", encoding="utf-8")
    path.chmod(0o640)
    sensor = ("--sensor", f"replay:{walk}") if command[0] == "run" else ()
    refused = filled(*command, path, *sensor)
    assert refused.error == (
        f"error: {path} exists already; overwrite it with --force, or name another file\n"
    )
    assert path.read_text(encoding="utf-8") == "mine"
    assert filled(*command, path, *sensor, "--force").code == 0
    assert path.read_bytes() != b"mine"
    assert mode(path) == 0o640  # whoever opened it to others may have wished so


def test_the_results_of_an_earlier_run_are_not_overwritten_unasked(
    filled: Run, walk: Path, tmp_path: Path
) -> None:
    again = ("run", "--policy", "steps", "--sensor", f"replay:{walk}", "--output", tmp_path / "out")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "episodes.jsonl").write_text("mine", encoding="utf-8")
    assert "episodes.jsonl exists already; overwrite it with --force" in filled(*again).error
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["episodes.jsonl"]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("answer", "code", "overwritten"), [("n\n", 130, False), ("y\n", 0, True)])
def test_at_a_terminal_it_is_asked(
    answer: str, code: int, overwritten: bool, filled: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "out.jsonl"
    path.write_text("mine", encoding="utf-8")
    monkeypatch.setattr(sys, "stdin", Terminal(answer))
    done = filled("export", "--output", path)
    assert (done.code, path.read_text(encoding="utf-8") != "mine") == (code, overwritten)
    assert "exists already. Overwrite it?" in done.err


def test_an_export_into_a_pipe_or_through_a_link_leaves_them_what_they_are(
    filled: Run, tmp_path: Path
) -> None:
    pipe, link, there = tmp_path / "pipe", tmp_path / "link", tmp_path / "there.jsonl"
    os.mkfifo(pipe)
    link.symlink_to(there)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text(encoding="utf-8")))
    reader.start()
    assert filled("export", "--output", pipe).code == 0
    reader.join(10)
    assert filled("export", "--output", link).code == 0
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert link.is_symlink()
    assert there.read_text(encoding="utf-8").splitlines()[1:] == read[0].splitlines()[1:]


@pytest.mark.parametrize("suffix", ["", "-wal"])
def test_no_command_writes_over_the_memory_itself(run: Run, database: Path, suffix: str) -> None:
    run("add", "the kettle boils", "--user", "ana")
    done = run("export", "--user", "ana", "--output", f"{database}{suffix}", "--force")
    assert (done.code, "is the memory itself; name another file" in done.err) == (2, True)
    assert "kettle" in run("search", "kettle", "--user", "ana").out
