"""What every process pays before it does anything: processor time in ratio to `import numpy`, modules loaded.

Processor time of a child (user and system), the least of several rounds, with compiled bytecode as an
installed package has it: other programs on the machine disturb it little, and the ratio travels to others.
"""

import json
import os
import resource
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.provenance import ROOT, interpreter

COMMANDS = (
    "--help", "episodes", "threads", "stats", "facts list", "link list", "skills", "recent", "config",
    "search Lisbon",
)  # fmt: skip
NUMPY = ("-c", "import numpy")
COUNT = (
    "import sys\n"
    "from episodic_agent.faces.cli.main import main\n"
    "try: main(sys.argv[1:])\n"
    "except SystemExit: pass\n"
    "print(sum(name.startswith('episodic_agent') for name in sys.modules), len(sys.modules), file=sys.stderr)"
)
OPENING = (
    "import sys\n"
    "from episodic_agent import Memory\n"
    "with Memory.open(sys.argv[1], embedder='hashing', resume=False): pass\n"
    "print(sum(name.startswith('episodic_agent') for name in sys.modules), len(sys.modules), file=sys.stderr)"
)
ADDING = (
    "import sys, threading, time\n"
    "from episodic_agent import Memory\n"
    "with Memory.open(sys.argv[1], embedder='hashing', resume=False) as memory:\n"
    "    if sys.argv[2] == 'warm':\n"
    "        memory.warm()\n"
    "        for thread in threading.enumerate():\n"
    "            if thread.name.startswith('episodic'): thread.join()\n"
    "    for text in ('Ana moves to Lisbon in May', 'Ben stays in Porto'):\n"
    "        began = time.process_time()\n"
    "        memory.user('ana', new=True).add(text)\n"
    "        print(1000 * (time.process_time() - began))"
)
HELLO = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "benchmark", "version": "1"},
    },
}


def measure(*, quick: bool = False) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (key, figures): of opening a memory, of commands, of first messages, of `episodic mcp`."""
    rounds = 3 if quick else 9
    with TemporaryDirectory(prefix="episodic-") as folder:
        database = str(Path(folder) / "memory.db")
        environment = {
            **{name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"},
            "PYTHONPYCACHEPREFIX": str(Path(folder) / "bytecode"),
            "PYTHONPATH": str(ROOT / "src"),
            "EPISODIC_EMBEDDER": "hashing",
            "EPISODIC_USER": "ana",
        }
        _run(["-m", "episodic_agent", "--db", database, "add", "Ana moves to Lisbon in May"], environment)
        yield "opening a memory", _beside_numpy(["-c", OPENING, database], environment, rounds)
        for command in COMMANDS:
            row = _beside_numpy(
                ["-m", "episodic_agent", "--db", database, *command.split()], environment, rounds
            )
            counted = _run(["-c", COUNT, "--db", database, *command.split()], environment).stderr
            yield f"episodic {command}", {**row, **_counts(counted)}
        for start in ("cold", "warm"):
            yield f"first messages of a process, {start}", _adding(database, start, environment, rounds)
        yield "episodic mcp, until initialize is answered", _greeting(database, environment, 3)


def _beside_numpy(arguments: Sequence[str], environment: Mapping[str, str], rounds: int) -> dict[str, Any]:
    """Return least seconds of processor time, in ratio to numpy's, the two taken in turn."""
    spent, numpy, text = [], [], ""
    for turn in range(rounds + 1):
        ours, theirs = _processor(arguments, environment), _processor(NUMPY, environment)
        if turn:  # the first round writes bytecode
            spent.append(ours[0])
            numpy.append(theirs[0])
            text = ours[1]
    row = {"cpu_s": round(min(spent), 3), "numpy_s": round(min(numpy), 3)}
    return {**row, "in_numpy": round(min(spent) / min(numpy), 2), **_counts(text)}


def _adding(database: str, start: str, environment: Mapping[str, str], rounds: int) -> dict[str, Any]:
    """Return least milliseconds of processor time of a process's first `add` and of its second."""
    runs = [_run(["-c", ADDING, database, start], environment).stdout.split() for _ in range(rounds)]
    first, second = (min(map(float, times)) for times in zip(*runs, strict=True))
    return {"first_add_ms": round(first, 1), "second_add_ms": round(second, 1)}


def _counts(text: str) -> dict[str, int]:
    own, _, every = text.strip().rpartition("\n")[2].partition(" ")
    return {"own_modules": int(own), "modules": int(every)} if own.isdigit() and every.isdigit() else {}


def _processor(arguments: Sequence[str], environment: Mapping[str, str]) -> tuple[float, str]:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    text = _run(arguments, environment).stderr
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, text


def _run(arguments: Sequence[str], environment: Mapping[str, str]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [interpreter(), *arguments], cwd=ROOT, env=dict(environment), capture_output=True,
        check=True, text=True, timeout=60,
    )  # fmt: skip


def _greeting(database: str, environment: Mapping[str, str], rounds: int) -> dict[str, Any]:
    """Return seconds on the clock until the first answer, and until the first list of tools."""
    greeted, ready = [], []
    for _ in range(rounds):
        first, second = _talk(database, environment)
        greeted.append(first)
        ready.append(second)
    return {"seconds": round(min(greeted), 3), "tools_listed_after": round(min(ready), 3)}


def _talk(database: str, environment: Mapping[str, str]) -> tuple[float, float]:
    started = time.perf_counter()
    with subprocess.Popen(
        [interpreter(), "-m", "episodic_agent", "--db", database, "mcp"],
        cwd=ROOT, env=dict(environment), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as server:  # fmt: skip
        assert server.stdin is not None
        assert server.stdout is not None
        moments = []
        for lines in (
            [HELLO],
            [
                {"jsonrpc": "2.0", "method": "notifications/initialized"},
                {"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
            ],
        ):
            server.stdin.write("".join(json.dumps(line) + "\n" for line in lines))
            server.stdin.flush()
            assert '"result"' in server.stdout.readline()
            moments.append(time.perf_counter() - started)
        server.stdin.close()
    return moments[0], moments[1]
