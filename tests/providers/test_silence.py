"""Nothing leaves the machine: no import and no use of the local model opens a socket or writes into the home.

The children run under a filter of the kernel (seccomp, which needs no rights) that kills the process at its first
`socket`, whoever calls it, C libraries and their threads included.
"""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from episodic_agent.providers.embedders.minilm import is_present
from episodic_agent.providers.embedders.minilm.runtime import TELEMETRY, silence
from episodic_agent.wiring import load_settings

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="the filter is of Linux, as the telemetry was"
)

NO_SOCKETS = """
import ctypes, platform, struct
LOAD, SKIP_UNLESS, RETURN, KILL, ALLOW = 0x20, 0x15, 0x06, 0x80000000, 0x7FFF0000
NO_NEW_PRIVILEGES, SECCOMP, FILTER = 38, 22, 2
SOCKET = {"x86_64": 41, "aarch64": 198}[platform.machine()]
code = [(LOAD, 0, 0, 0), (SKIP_UNLESS, 0, 1, SOCKET), (RETURN, 0, 0, KILL), (RETURN, 0, 0, ALLOW)]
class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_char_p)]
program = Program(len(code), b"".join(struct.pack("HBBI", *line) for line in code))
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0) == 0
assert libc.prctl(SECCOMP, FILTER, ctypes.byref(program)) == 0, ctypes.get_errno()
"""
EMBED = """
import sys
from episodic_agent import Memory
with Memory.open(sys.argv[1], embedder="minilm") as memory:
    memory.user("ana").add("the kettle boils")
    assert memory.user("ana").search("kettle").hits
"""
COMMANDS = """
import sys
from episodic_agent import Memory
from episodic_agent.faces.cli.main import cli
database, chat = sys.argv[1:]
def episodic(*arguments):
    cli.main(["--db", database, *arguments], standalone_mode=False)
episodic("import", chat, "--user", "ana")
episodic("search", "tea")
with Memory.open(database, embedder="none", resume=False) as memory:
    (thread,) = memory.user("ana").threads.list()
episodic("plot", thread.origin, "-o", "plot.svg")
"""
WAIT = """
import time
time.sleep(13)  # its first connection came after nine seconds
"""
DEPENDENCIES = (
    "numpy", "apsw", "tokenizers", "snowballstemmer", "Stemmer", "sentencex", "click", "rich", "psycopg", "httpx2",
    "opentelemetry.sdk.trace", "opentelemetry.exporter.otlp.proto.http.trace_exporter",
    "websockets", "gymnasium", "minigrid", "fastapi", "uvicorn", "mcp.server",
)  # fmt: skip


def run(home: Path, script: str, *arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a script without sockets, in a home of its own."""
    bare = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("XDG_", "ORT_", "MPL", "EPISODIC_"))
    }
    bare |= {"HOME": str(home), "PYTHONDONTWRITEBYTECODE": "1", **environment}
    home.mkdir(exist_ok=True)
    command = [sys.executable, "-c", NO_SOCKETS + script, *map(str, arguments)]
    return subprocess.run(
        command, env=bare, cwd=home, capture_output=True, text=True, timeout=60, check=False
    )


def files_in(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


@pytest.fixture
def model() -> str:
    folder = Path(load_settings().cache)
    if not is_present(folder):
        if os.environ.get("EPISODIC_TEST_MODEL") == "required":
            pytest.fail("no model in the cache, run `make setup`")
        pytest.skip("the published weights are not here: run `make setup`")
    return str(folder)


def test_the_filter_kills_whoever_opens_a_socket(tmp_path: Path) -> None:
    done = run(tmp_path, "import socket; socket.socket(); print('alive')")
    assert (done.returncode, done.stdout) == (-signal.SIGSYS, "")


def test_embedding_locally_opens_no_socket_and_writes_nothing_into_the_home(
    tmp_path: Path, model: str
) -> None:
    done = run(tmp_path / "home", EMBED, tmp_path / "memory.db", EPISODIC_CACHE=model)
    assert done.returncode == 0, done.stderr
    assert files_in(tmp_path / "home") == []


@pytest.mark.slow
def test_embedding_locally_opens_no_socket_later_either(tmp_path: Path, model: str) -> None:
    done = run(tmp_path / "home", EMBED + WAIT, tmp_path / "memory.db", EPISODIC_CACHE=model)
    assert done.returncode == 0, done.stderr
    assert files_in(tmp_path / "home") == []


@pytest.mark.slow
def test_commands_open_no_socket_and_leave_only_a_list_of_fonts_in_the_home(
    tmp_path: Path, model: str
) -> None:
    (tmp_path / "chat.txt").write_text("Ana: the kettle boils\nBo: then make tea\n", encoding="utf-8")
    answer = run(
        tmp_path / "home", COMMANDS, tmp_path / "memory.db", tmp_path / "chat.txt", EPISODIC_CACHE=model
    )
    assert answer.returncode == 0, answer.stderr
    assert (tmp_path / "home" / "plot.svg").exists()
    left = {Path(name).parts[:2] for name in files_in(tmp_path / "home")}
    assert left == {("plot.svg",), (".cache", "matplotlib")}


@pytest.mark.slow
def test_no_dependency_opens_a_socket_or_writes_into_the_home_when_it_is_imported(tmp_path: Path) -> None:
    done = run(tmp_path / "home", "\n".join(f"import {name}" for name in DEPENDENCIES))
    assert done.returncode == 0, done.stderr
    assert files_in(tmp_path / "home") == []


def test_who_decided_about_the_telemetry_himself_is_not_overruled() -> None:
    for name in TELEMETRY:
        environment = {name: "0"}
        silence(environment)
        assert environment == dict.fromkeys(TELEMETRY, "0")
