"""Say where a figure came from: command, data, date, machine, revision of the code."""

import hashlib
import os
import platform
import shlex
import subprocess
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from episodic_agent.engine.evaluate.cases import digest
from episodic_agent.providers.embedders.minilm.embedder import usable_processors

ROOT = Path(__file__).parents[1]
LOCAL = ("--cache", "--output", "--page")
TELLING = ("avx2", "fma", "avx512f", "avx512_vnni", "avx512_bf16")  # what decides how fast vectors are made


def provenance(arguments: list[str], data: Path | None = None) -> dict[str, Any]:
    """Return what a row of results carries beside its figures."""
    results: dict[str, Any] = {
        "command": shlex.join(["python", "-m", module(), *told(arguments)]),
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "machine": machine(),
        "revision": revision(),
    }
    return results if data is None else {"sha256": digest(data), **results}


def digest_of(files: Iterable[Path]) -> str:
    """Return one digest of those of a set of files that are there."""
    present = [digest(file) for file in files if file.is_file()]
    return hashlib.sha256(" ".join(present).encode()).hexdigest()[:16]


def told(arguments: list[str]) -> list[str]:
    """Return a command's arguments without the folders that are only this machine's.

    >>> told(["--cache", "/tmp/x", "--only", "speed", "--output=/tmp/y", "--data", "/elsewhere/far/away"])
    ['--only', 'speed', '--data', 'DIR']
    """
    texts: list[str] = []
    waiting = list(arguments)
    while waiting:
        argument = waiting.pop(0)
        name, separator, _ = argument.partition("=")
        if name in LOCAL:
            del waiting[: 0 if separator else 1]
        else:
            texts.append(_elsewhere(argument) if os.path.isabs(argument) else argument)
    return texts


def _elsewhere(folder: str) -> str:
    """Return a folder as seen from the checkout, and only that it is one where it lies farther away."""
    seen = os.path.relpath(folder, ROOT)
    return "DIR" if seen.startswith("../..") else seen


def module() -> str:
    """Return the module that was started."""
    spec = getattr(sys.modules["__main__"], "__spec__", None)
    name = "benchmarks" if spec is None else str(spec.name)
    return name.removesuffix(".__main__") if name.startswith("benchmarks") else "benchmarks"


def machine() -> dict[str, Any]:
    """Describe the processor and the interpreter."""
    info = _cpu_info()
    flags = set(info.get("flags", "").split())
    return {
        "cores": usable_processors(),
        "cpu": info.get("model name", platform.machine()),
        "flags": [flag for flag in TELLING if flag in flags],
        "python": platform.python_version(),
        "system": platform.system(),
    }


def _cpu_info() -> dict[str, str]:
    """Return the first processor's lines of /proc/cpuinfo; nothing where there is no such file."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return {}
    lines = [line.partition(":") for line in text.split("\n\n")[0].splitlines()]
    return {name.strip(): value.strip() for name, _, value in lines}


def revision() -> str:
    """Return the commit the figures were made at, `+` after it where the tree was changed since."""
    head = _git("rev-parse", "--short=12", "HEAD")
    if head is None:
        return "unknown"
    # results and tables change by running: they do not make the code another one
    changed = _git("status", "--porcelain", "--", "src", "benchmarks/*.py", "pyproject.toml")
    return head + ("+" if changed else "")


def _git(*arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True, timeout=30
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def resident_bytes(field: str = "VmRSS") -> int:
    """Return this process's resident memory (`VmHWM`: its peak); 0 where the system does not tell."""
    try:
        for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
            if line.startswith(f"{field}:"):
                return int(line.split()[1]) * 1024
    except OSError:
        return 0
    return 0


def one_core() -> set[int]:
    """Bind this process to one of its processors and return those it had, to be given back."""
    if not hasattr(os, "sched_setaffinity"):
        return set()
    had = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(had)})
    return had


def give_back(processors: set[int]) -> None:
    """Let this process run on the given processors again."""
    if processors:
        os.sched_setaffinity(0, processors)


def interpreter() -> str:
    """Return the running interpreter, for child processes."""
    return sys.executable
