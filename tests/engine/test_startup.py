"""What a process loads before it does anything: bounds that keep opening, listing and a first message short."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from episodic_agent import Memory

MOST_AT_OPEN = 150  # of our modules
MOST_TO_LIST = 229
MOST_TO_PUT_DOWN = 60
HEAVY = "numpy onnxruntime tokenizers asyncio"
OPENED = """
from episodic_agent import Memory
with Memory.open(sys.argv[1], embedder="hashing", resume=False) as memory:
    memory.user("ana")
"""
LISTED = """
from episodic_agent.faces.cli.main import main
try:
    main(["--db", *sys.argv[1:]])
except SystemExit as leave:
    assert not leave.code
"""
HOOKED = """
import io
from episodic_agent.faces.cli.main import main
used = b'{"session_id": "s", "cwd": "/shop", "tool_name": "Bash", "tool_use_id": "t", "tool_input": "ls"}'
sys.stdin = io.TextIOWrapper(io.BytesIO(used))
main(["--db", sys.argv[1], "hooks", "run", "PostToolUse", "--user", "ana"])
"""
REHEARSED = """
import threading
from episodic_agent import Memory, data
with Memory.open(sys.argv[1], embedder="hashing", resume=False) as memory:
    memory.warm()
    for thread in threading.enumerate():
        if thread.name == "episodic-rehearsal":
            thread.join()
    before = {*sys.modules}
    lists = data._file.cache_info().misses
    memory.user("ben", new=True).add("Ben and Odile Fournier flew to Porto on 3 May")
    assert {*sys.modules} == before, {*sys.modules} - before
    assert data._file.cache_info().misses == lists
"""
COUNTED = """
own = sum(name.startswith("episodic_agent") for name in sys.modules)
heavy = [name for name in HEAVY.split() if name in sys.modules]
print(own, *heavy, file=sys.stderr)
"""


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("startup") / "memory.db"
    with Memory.open(path, embedder="hashing", resume=False) as memory:
        ana = memory.user("ana", new=True)
        ana.add(["I moved to Lisbon in May", "Noted."], thread="moves")
        ana.flush()
        ana.add("I like the sea", thread="sea")
    return path


def loaded(code: str, *arguments: object) -> tuple[int, list[str]]:
    """Return how many of our modules a process has loaded in the end, and which heavy ones of others."""
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            f"import sys\n{code}{COUNTED.replace('HEAVY', repr(HEAVY))}",
            *map(str, arguments),
        ],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "EPISODIC_EMBEDDER": "hashing", "EPISODIC_USER": "ana"},
    )
    assert done.returncode == 0, done.stderr
    count, *heavy = done.stderr.splitlines()[-1].split()
    return int(count), heavy


def test_opening_a_memory_loads_few_modules_and_no_arrays(database: Path) -> None:
    count, heavy = loaded(OPENED, database)
    assert count <= MOST_AT_OPEN
    assert heavy == []


@pytest.mark.parametrize(
    "command",
    ["recent"]
    + [
        pytest.param(one, marks=pytest.mark.slow)
        for one in ("facts list", "config", "threads", "episodes", "stats", "link list", "skills")
    ],
)
def test_a_command_that_embeds_nothing_loads_what_it_lists(database: Path, command: str) -> None:
    count, heavy = loaded(LISTED, database, *command.split())
    assert count <= MOST_TO_LIST
    assert heavy == []


def test_a_hook_that_only_puts_something_down_loads_neither_engine_nor_store(
    database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An agent waits for it at each call of a tool."""
    monkeypatch.setenv("EPISODIC_CACHE", str(tmp_path))
    count, heavy = loaded(HOOKED, database)
    assert count <= MOST_TO_PUT_DOWN
    assert heavy == []
    assert len([*tmp_path.glob("hooks/*/*.json")]) == 1


@pytest.mark.slow
def test_a_memory_that_was_warmed_builds_no_word_list_in_a_first_message(database: Path) -> None:
    loaded(REHEARSED, database)
