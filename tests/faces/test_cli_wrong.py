"""What a newcomer gets wrong: each is one line that names what was seen and what to do, and harms nothing."""

import os
import pty
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from builders.chats import diary
from builders.commands import Run

from episodic_agent import Memory
from episodic_agent.stores import sqlite
from episodic_agent.stores.sqlite import SqliteStore
from episodic_agent.stores.sqlite.file import connection

ANA, BEN = ("--user", "ana"), ("--user", "ben")
UNKNOWN = "00000000-0000-4000-8000-000000000000"


@dataclass(frozen=True)
class Wrong:
    """A call that is wrong, its exit code, and words its one line must have: what was seen, what to do."""

    call: Sequence[str]
    code: int
    words: Sequence[str]
    settings: Mapping[str, str] = field(default_factory=dict)


WRONG: Mapping[str, Wrong] = {
    # the memory
    "no memory there": Wrong(["stats", "--db", "none.db"], 3, ["no memory at none.db", "`init` makes one"]),
    "a folder as memory": Wrong(
        ["stats", "--db", "folder"], 2, ["'folder' is a folder", "name a file in it"]
    ),
    "no folder for it": Wrong(["add", "x", *ANA, "--db", "no/m.db"], 5, ["no/m.db", "its folder exists"]),
    "an empty file": Wrong(["stats", "--db", "empty.db"], 3, ["empty.db: the file is empty", "import FILE"]),
    "no name of a file": Wrong(["stats", "--db", ""], 2, ["--db is empty", "name a file"]),
    "not a database": Wrong(["stats", "--db", "notes.txt"], 5, ["not a SQLite database", "another path"]),
    "damaged": Wrong(["stats", *ANA, "--db", "damaged.db"], 5, ["is damaged", "doctor --repair"]),
    "a newer schema": Wrong(["search", "x", *ANA, "--db", "newer.db"], 5, ["newer", "episodic-agent"]),
    "an unknown kind of store": Wrong(
        ["stats", "--db", "mysql://h/d"], 2, ["no store for 'mysql'", "postgresql"]
    ),
    "a server that is not there": Wrong(
        ["stats", "--db", "postgresql://ana@127.0.0.1:{closed}/m"],
        5,
        ["127.0.0.1:{closed}", "start it, or check"],
    ),
    # names
    "no user where there are two": Wrong(["search", "tap"], 2, ["--user NAME", "there are ana, ben"]),
    "an unknown user": Wrong(["search", "tap", "--user", "cleo"], 3, ["no user 'cleo'", "ana, ben"]),
    "an empty user": Wrong(["add", "x", "--user", " "], 2, ["is empty", "whose memory"]),
    "an unknown thread": Wrong(
        ["search", "tap", *ANA, "--thread", "nix"], 3, ["no thread 'nix'", "threads: walk"]
    ),
    "an unknown episode": Wrong(
        ["show", "zz", *ANA], 3, ["no episode begins with 'zz'", "`episodic episodes`"]
    ),
    "the id of no episode": Wrong(["explain", UNKNOWN, *ANA], 3, [UNKNOWN, "`episodic episodes` lists"]),
    "an ambiguous id": Wrong(["show", "{shared}", *ANA], 3, ["episodes begin with '{shared}'", "give more"]),
    "an empty id": Wrong(["forget", "episode", "", "--yes", *BEN], 2, ["id is empty", "lists the ids"]),
    "an unknown fact": Wrong(["facts", "show", "zz", *ANA], 3, ["no fact begins with 'zz'", "facts list"]),
    "an unknown session": Wrong(["session", "show", "zz", *ANA], 3, ["'zz'", "`episodic session list`"]),
    "an unknown job": Wrong(["jobs", "cancel", "zz"], 3, ["'zz'", "`episodic jobs list`"]),
    # settings
    "an unknown setting": Wrong(
        ["config"], 2, ["EPISODIC_USR", "did you mean EPISODIC_USER?"], {"EPISODIC_USR": "a"}
    ),
    "a setting that is no number": Wrong(
        ["config"], 2, ["EPISODIC_THREADS", "whole number", "'many'"], {"EPISODIC_THREADS": "many"}
    ),
    "an unknown embedder": Wrong(
        ["stats", "--embedder", "minlm"], 2, ["no embedder 'minlm'", "there are auto"]
    ),
    "an embedder without a key": Wrong(
        ["stats", "--embedder", "openai:small"], 2, ["openai:small", "EPISODIC_OPENAI_API_KEY"]
    ),
    "an unknown policy": Wrong(
        ["add", "x", *ANA, "--policy", "nix"], 2, ["boundary policy 'nix'", "known: default"]
    ),
    "an unknown recall policy": Wrong(
        ["search", "x", *ANA, "--policy", "nix"], 2, ["'nix'", "there are default"]
    ),
    "an unknown language model": Wrong(
        ["stats", "--llm", "gpt"], 2, ["no language model 'gpt'", "openai:MODEL"]
    ),
    # what is typed
    "a misspelt command": Wrong(
        ["serch", "tap"], 2, ["no such command 'serch'", "'search'", "episodic --help"]
    ),
    "another word for a command": Wrong(
        ["timeline"], 2, ["no such command 'timeline'", "did you mean 'recent' or 'episodes'?"]
    ),
    "another word for one command": Wrong(["why"], 2, ["did you mean 'explain'?"]),
    "a misspelt subcommand": Wrong(["facts", "lst"], 2, ["no such command 'lst'", "did you mean 'list'?"]),
    "a misspelt option": Wrong(["search", "tap", "--limt", "3"], 2, ["no such option '--limt'", "'--limit'"]),
    "nothing to search for": Wrong(
        ["search", *ANA], 2, ["missing argument 'QUERY'", "`episodic search --help`"]
    ),
    "a word too many": Wrong(["stats", "tap", *ANA], 2, ["unexpected extra argument", "tap"]),
    "an option by another name": Wrong(
        ["search", "tap", "--channel", "chat"],
        2,
        ["no such option '--channel'; did you mean '--only' (Nothing but of these threads and channels)?"],
    ),
    "a file to write without its option": Wrong(
        ["export", "out.jsonl", *ANA], 2, ["argument 'out.jsonl'", "named with --output"]
    ),
    "a day in words": Wrong(["usage", "--since", "yesterday"], 2, ["'yesterday' is no day", "2026-03-01"]),
    "an option without its value": Wrong(["stats", "--user"], 2, ["'--user' requires an argument"]),
    "what is erased as an option": Wrong(
        ["forget", "--thread", "x"], 2, ["no such option '--thread'", "`episodic forget thread`"]
    ),
    "an option of another command": Wrong(["--limit", "3", "search", "x"], 2, ["no such option '--limit'"]),
    "an empty query": Wrong(["search", "", *ANA], 2, ["the query is empty", "ask something"]),
    "an empty message": Wrong(["add", "", *ANA], 2, ["the text is empty", "give some text"]),
    "an empty role": Wrong(["add", "x", *ANA, "--role", ""], 2, ["`role` is empty", "leave it out"]),
    "an empty thread": Wrong(["add", "x", *ANA, "--thread", ""], 2, ["`thread` is empty", "leave it out"]),
    "an empty filter": Wrong(["search", "x", *ANA, "--thread", " "], 2, ["`thread` is empty"]),
    "too long a message": Wrong(
        ["add", "x" * 101, *ANA],
        2,
        ["101 bytes", "EPISODIC_MESSAGE_BYTES"],
        {"EPISODIC_MESSAGE_BYTES": "100"},
    ),
    "too long a message to answer": Wrong(
        ["context", "x" * 101, *ANA],
        2,
        ["101 bytes", "EPISODIC_MESSAGE_BYTES"],
        {"EPISODIC_MESSAGE_BYTES": "100"},
    ),
    "a time in words": Wrong(["search", "x", *ANA, "--since", "yesterday"], 2, ["'yesterday'", "ISO 8601"]),
    "a day that is no day": Wrong(
        ["add", "x", *ANA, "--timestamp", "2024-13-01"], 2, ["2024-13-01", "ISO 8601"]
    ),
    "an unreadable span": Wrong(
        ["add", "x", *ANA, "--ttl", "soon"], 2, ["'soon'", "a number with s, m, h, d"]
    ),
    "a negative limit": Wrong(
        ["search", "x", "--limit", "-1", *ANA], 2, ["'--limit': -1 does not lie from 1 to"]
    ),
    "a limit beyond all": Wrong(
        ["search", "x", "--limit", "100000", *ANA], 2, ["'--limit': 100000 does not lie from 1 to 1000"]
    ),
    "a limit in words": Wrong(
        ["search", "x", "--limit", "ten", *ANA], 2, ["'--limit': 'ten' is no whole number"]
    ),
    "a filter that is none": Wrong(
        ["search", "x", "--where", "tag", *ANA], 2, ["'tag' is no filter", "field=value"]
    ),
    "--user where nobody is meant": Wrong(["serve", "--user", "ana"], 2, ["takes no --user", "leave it out"]),
    # files
    "no file to import": Wrong(["import", "none.jsonl", *ANA], 2, ["none.jsonl"]),
    "binary to import": Wrong(
        ["import", "binary.jsonl", *ANA], 2, ["binary.jsonl is not text", "convert it"]
    ),
    "an unknown encoding": Wrong(["import", "latin.txt", "--encoding", "nix", *ANA], 2, ["'nix'", "utf-8"]),
    "no folder for an export": Wrong(["export", *ANA, "--output", "no/x"], 2, ["no/x", "make it first"]),
    "an export over a folder": Wrong(
        ["export", *ANA, "--output", "folder"], 2, ["folder is a folder", "name a"]
    ),
    "an export over a file": Wrong(
        ["export", *ANA, "--output", "notes.txt"], 2, ["exists already", "--force"]
    ),
    "an export over the memory": Wrong(
        ["export", *ANA, "--output", "{db}"], 2, ["the memory itself", "another"]
    ),
    "a picture of no known kind": Wrong(["plot", "chat", *ANA, "-o", "x.gif"], 2, ["x.gif", ".svg or .png"]),
    "nothing to evaluate": Wrong(["evaluate", "retrieval", "empty.db"], 2, ["empty.db is empty", "labelled"]),
    "no calibration there": Wrong(["stats", *ANA, "--calibration", "none.json"], 2, ["none.json"]),
    # ports and what is installed
    "a port in use": Wrong(["serve", "--port", "{taken}"], 2, ["port {taken}", "in use", "--port"]),
    "a port in use by mcp": Wrong(["mcp", "--http", "{taken}"], 2, ["port {taken}", "in use", "--http"]),
    "a foreign address": Wrong(["serve", "--host", "0.0.0.0"], 2, ["0.0.0.0", "127.0.0.1"]),
    "forgetting unasked": Wrong(["forget", "thread", "chat", *ANA], 2, ["--yes"]),
}


@pytest.fixture(scope="module")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the memory of two people and with files that are none."""
    folder = tmp_path_factory.mktemp("wrong")
    with Memory.open(folder / "memory.db", embedder="hashing", policy="seed-001") as memory:
        ana = memory.user("ana")
        ana.add(diary(), thread="chat")
        for n in range(17):  # with more episodes than digits two begin alike
            ana.add(f"On the way number {n} I met a heron", thread=f"walk {n}")
        ana.flush()
        memory.user("ben").add("The tap drips", thread="chat")
        memory.user("ben").flush()
    (folder / "folder").mkdir()
    (folder / "empty.db").touch()
    (folder / "notes.txt").write_text("these are my notes " * 100, encoding="utf-8")
    (folder / "latin.txt").write_bytes("[2024-01-01 10:00] Ana: café\n".encode("latin-1"))
    (folder / "binary.jsonl").write_bytes(b"\x00\x01\x02\xff\xfe\x80" * 50)
    whole = (folder / "memory.db").read_bytes()
    (folder / "damaged.db").write_bytes(whole[:8192] + b"\xee" * 40_000 + whole[48_192:])
    (folder / "newer.db").write_bytes(whole)
    with closing(sqlite3.connect(folder / "newer.db")) as db, db:
        db.execute("INSERT INTO migration VALUES (999, 'from the future', 'x')")
    return folder


@pytest.fixture(scope="module")
def known(furnished: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[list[str], list[str]]:
    """Return the ids of Ana's episodes, and what every copy of the memory holds."""
    memory = Path(shutil.copy(furnished / "memory.db", tmp_path_factory.mktemp("known")))
    with Memory.open(memory, embedder="hashing", policy="seed-001") as opened:
        ids = [str(card.episode_id) for card in opened.user("ana").episodes.list()]
    return ids, remembered(memory)


@pytest.fixture
def folder(furnished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a copy of the folder, as nobody in particular."""
    shutil.copytree(furnished, tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.delenv("EPISODIC_USER")
    return tmp_path / "here"


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield int(server.getsockname()[1])


@pytest.fixture
def closed() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def remembered(path: Path) -> list[str]:
    """Return what the memory holds, line by line, without the line that says when."""
    with Memory.open(path, embedder="hashing", policy="seed-001") as memory:
        return [line for user in memory.users() for line in list(memory.user(user).export())[1:]]


def test_the_table_is_long_enough() -> None:
    assert len(WRONG) >= 36


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_one_line_that_helps_and_harms_nothing(
    run: Run,
    folder: Path,
    known: tuple[list[str], list[str]],
    taken: int,
    closed: int,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
) -> None:
    wrong = WRONG[name]
    memory, (ids, lines) = folder / "memory.db", known
    shared = next(one[:1] for one in ids if sum(other.startswith(one[0]) for other in ids) > 1)
    names = {"taken": taken, "closed": closed, "shared": shared, "db": memory}
    files = contents(folder)
    with monkeypatch.context() as patch:
        for setting, value in wrong.settings.items():
            patch.setenv(setting, value)
        outcome = run(*(word.format(**names) for word in wrong.call), db=memory)
    assert outcome.code == wrong.code, outcome
    for words in wrong.words:
        assert words.format(**names) in outcome.error
    left = contents(folder)
    assert set(left) == set(files)
    assert [path for path in files if left[path] != files[path] and Path(path) != memory] == []
    assert remembered(memory) == lines


def test_lines_that_cannot_be_read_are_listed_and_the_others_are_in(run: Run, folder: Path) -> None:
    (folder / "bad.jsonl").write_text('{"role": "user", "content": "hello"}\nnot JSON\n', encoding="utf-8")
    outcome = run("import", "bad.jsonl", *ANA, db=folder / "new.db")
    assert outcome.code == 2
    assert "bad.jsonl:2: not JSON" in outcome.err
    assert outcome.err.count("\n") == 3  # what was recognised, what has no time, then the line
    latin = run("import", "latin.txt", *ANA, db=folder / "new.db")
    assert latin.code == 2
    assert "pass --encoding" in latin.err


def test_an_extra_that_is_missing_is_named_with_its_command(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.delitem(sys.modules, "episodic_agent.faces.http.serving", raising=False)
    refused = run("serve", db=folder / "memory.db")
    assert refused.code == 2
    assert "run pip install '.[serve]' in the clone of episodic-agent" in refused.error


def test_a_budget_in_which_nothing_fits_is_named(run: Run, folder: Path) -> None:
    outcome = run("context", "When does the piano come?", *ANA, "--max-tokens", "1", db=folder / "memory.db")
    assert outcome.code == 0
    assert "nothing fits into 1 token, not even the message; raise --max-tokens" in outcome.err


def test_a_locked_memory_is_waited_for_and_named(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    run("add", "good morning", *ANA, db=folder / "memory.db")
    waits = partial(SqliteStore, busy_timeout=timedelta(seconds=0.6))
    monkeypatch.setattr(sqlite, "SqliteStore", waits)
    monkeypatch.setattr(connection, "_SILENT_SECONDS", 0.1)
    hold = (  # in a process of its own: those of one process do not lock each other out
        "import sqlite3; db = sqlite3.connect('memory.db', isolation_level=None); "
        "db.execute('BEGIN IMMEDIATE'); print('locked', flush=True); input()"
    )
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", hold], **pipes) as other:
        assert other.stdout is not None
        other.stdout.readline()
        locked = run("add", "hello", *ANA, db=folder / "memory.db")
        other.communicate(b"\n")
    assert locked.code == 5
    assert "locked by another process for 0.6 s; try again" in locked.error
    (told,) = caplog.messages  # once: it has waited no longer than it says
    assert told == f"{folder / 'memory.db'} is locked by another process; waiting for it, at most 0.6 s"


# --- as a process of its own -----------------------------------------------------------------------------


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "episodic_agent", "--embedder", "none", "--policy", "seed-001", *words]


def program(*words: str, before: Sequence[str] = (), **more: object) -> "subprocess.CompletedProcess[str]":
    result: subprocess.CompletedProcess[str] = subprocess.run(  # type: ignore[call-overload]
        [*before, *command(*words)], text=True, check=False, timeout=120, **more
    )
    return result


BOTH = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}


@pytest.mark.parametrize(
    ("name", "problem"),
    [("memory.db", "is read-only"), ("new.db", "its folder exists and may be written to")],
)
def test_where_nothing_may_be_written_that_is_said(folder: Path, name: str, problem: str) -> None:
    without: list[str] = []
    if os.geteuid() == 0:  # root may write anywhere, unless the kernel is told otherwise
        if shutil.which("setpriv") is None:
            pytest.skip("needs setpriv")
        without = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]
    (folder / "memory.db").chmod(0o444)
    folder.chmod(0o555)
    try:
        refused = program("add", "hello", *ANA, "--db", str(folder / name), before=without, **BOTH)
    finally:
        folder.chmod(0o755)
    assert (refused.returncode, refused.stdout) == (5, "")
    assert problem in refused.stderr
    assert refused.stderr.count("\n") == 1


@pytest.mark.slow
def test_a_reader_that_goes_away_is_no_error(folder: Path) -> None:
    with subprocess.Popen(command("export", *ANA, "--db", "memory.db"), **BOTH) as exporting:
        assert exporting.stdout is not None
        exporting.stdout.close()  # before the first line is written
        _, complaints = exporting.communicate(timeout=60)
    assert (exporting.returncode, complaints) == (0, b"")


ALONE = [pytest.param(one, marks=pytest.mark.slow) for one in ("<&-", ">&-", "2>&-")]


@pytest.mark.slow
@pytest.mark.parametrize("closed", [*ALONE, "<&- >&- 2>&-"])
def test_standard_streams_may_be_closed(folder: Path, closed: str) -> None:
    script = f'exec "$@" {closed}'
    shell = ["bash", "-c", script, "bash"]
    shown = program("stats", *ANA, "--db", "memory.db", before=shell, **BOTH)
    assert (shown.returncode, shown.stderr) == (0, "")
    refused = program("export", *ANA, "--db", "memory.db", "--output", "notes.txt", before=shell, **BOTH)
    assert refused.returncode == 2
    assert "2>" in closed or "overwrite it with --force" in refused.stderr


@pytest.mark.slow
def test_a_full_disk_is_said(folder: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    with open("/dev/full", "w", encoding="utf-8") as full:
        refused = program("stats", *ANA, "--db", "memory.db", stdout=full, stderr=subprocess.PIPE)
    assert refused.returncode == 2
    assert "No space left on device; check the disk" in refused.stderr
    assert refused.stderr.count("\n") == 1


@pytest.mark.slow
def test_ctrl_c_is_one_line_and_loses_nothing_that_was_acknowledged(folder: Path) -> None:
    (folder / "long.jsonl").write_text(
        "".join(f'{{"role": "user", "content": "line {n} about bread"}}\n' for n in range(1_000)),
        encoding="utf-8",
    )
    words = command("import", "long.jsonl", *ANA, "--db", "long.db")
    # a shell's background jobs ignore interrupts, and so would what they start
    told = signal.signal(signal.SIGINT, signal.default_int_handler)
    with subprocess.Popen(words, **BOTH) as importing:
        signal.signal(signal.SIGINT, told)
        until = time.monotonic() + 60
        while not (folder / "long.db-wal").exists() and time.monotonic() < until:
            time.sleep(0.05)
        time.sleep(0.2)
        importing.send_signal(signal.SIGINT)
        out, complaints = importing.communicate(timeout=60)
    # Python itself ends by the signal, 130 to a shell, where it came inside an `exec` (a dataclass being made)
    assert importing.returncode in (130, -signal.SIGINT)
    assert out == b""
    assert complaints.strip(b"\n") == b"interrupted; everything acknowledged is kept"
    again = program("import", "long.jsonl", *ANA, "--db", "long.db", "--json", **BOTH)
    assert again.returncode == 0
    assert '"observations": 1000' in again.stdout


@pytest.mark.slow
def test_a_progress_bar_never_reaches_what_scripts_read(folder: Path) -> None:
    ours, theirs = pty.openpty()
    try:
        done = program(
            "import", "latin.txt", "--encoding", "latin-1", *ANA, "--db", "bar.db", "--json",
            stdout=subprocess.PIPE, stderr=theirs, env={**os.environ, "TERM": "xterm"},
        )  # fmt: skip
        drawn = os.read(ours, 65536)
    finally:
        os.close(ours)
        os.close(theirs)
    assert done.stdout.startswith('{"observations": 1')
    assert done.stdout.count("\n") == 1
    assert b"latin.txt" in drawn


def test_an_id_as_listings_print_it_is_taken_by_every_command(run: Run, folder: Path) -> None:
    memory = folder / "memory.db"
    listed = run("compact", *ANA, "--json", db=memory).json["parts"]
    session = listed[0]["episode_id"]
    for name in ("chain", "arc"):
        assert session in run(name, session[:13], *ANA, "--json", db=memory).out


def test_an_empty_list_says_that_it_is_empty(run: Run, folder: Path) -> None:
    for call in (
        ("session", "list"),
        ("skills",),
        ("places",),
        ("jobs", "list"),
        ("link", "list"),
        ("pinned",),
    ):
        outcome = run(*call, *BEN, db=folder / "memory.db")
        assert outcome.code == 0
        assert (outcome.out + outcome.err).strip(), call
    assert "nothing goes with time" in run("retention", "show", *BEN, db=folder / "memory.db").out
