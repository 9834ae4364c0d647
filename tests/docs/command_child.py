"""The commands of the pages' blocks: each runs in a fork of one process that has imports and word lists.

`serving` makes a folder with a command `episodic`. That hands over what it was called with: arguments,
environment, folder, and its standard files; the fork does the work as the real command's process does, and is
sent the signals that the command gets.
"""

import io
import marshal
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from importlib import import_module
from pathlib import Path

from docs.block_child import load_all, read_words

from episodic_agent import core, engine, faces, wiring
from episodic_agent.faces.cli.main import main
from episodic_agent.stores import sqlite

COMMAND = """#!{python} -ISE
import marshal, os, signal, socket, sys

with socket.socket(socket.AF_UNIX) as line:
    line.connect({place!r})
    order = marshal.dumps((sys.argv, dict(os.environ), os.getcwd()))
    socket.send_fds(line, [len(order).to_bytes(4, "big")], [0, 1, 2])
    line.sendall(order)
    worker = int.from_bytes(line.recv(4), "big")
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda number, _frame: os.kill(worker, number))
    sys.exit(int.from_bytes(line.recv(4) or bytes([1]), "big"))
"""
WARM = (
    "add hello",
    "flush",
    "search hello",
    "context hello",
    "stats",
    "facts list",
    "forget receipts",
    "config",
)


# --- the tests' end -------------------------------------------------------------------------------------


@contextmanager
def serving(folder: Path) -> Iterator[Path]:
    """Put the command into a folder; whatever was begun by it ends with the block."""
    command = folder / "episodic"
    with tempfile.TemporaryDirectory() as short:  # the path of a socket has 107 bytes at most
        place = f"{short}/commands"
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "OPENBLAS_NUM_THREADS": "1"}
        process = subprocess.Popen(
            [sys.executable, "-m", "docs.command_child", place],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            env=environment,
            start_new_session=True,
        )
        with process:
            try:
                assert process.stdout is not None
                assert process.stdout.readline() == b"ready\n"
                command.write_text(COMMAND.format(python=sys.executable, place=place), encoding="utf-8")
                command.chmod(0o755)
                yield folder
            finally:
                os.killpg(process.pid, signal.SIGKILL)


# --- the process ----------------------------------------------------------------------------------------


def warm_up() -> None:
    """Do once what commands do, and throw it away."""
    load_all(core, engine, sqlite, wiring, faces)
    import_module(
        "matplotlib.font_manager"
    )  # which looks for every font of the machine where a home is empty
    read_words()
    with (
        tempfile.TemporaryDirectory() as folder,
        redirect_stdout(io.StringIO()),
        redirect_stderr(io.StringIO()),
    ):
        for line in WARM:
            with suppress(SystemExit):
                main(["--db", f"{folder}/memory.db", "--embedder", "hashing", *line.split(), "--user", "ana"])
    assert threading.active_count() == 1, "a fork would lose a thread that still runs"


def begin_life(place: str) -> None:
    """Wait for commands; return in a process of its own for each, which then is as if it had been called so."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody asks how those ended that wait for a command
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(place)
        listening.listen(64)
        print("ready", flush=True)
        while True:
            line, _ = listening.accept()
            if os.fork() == 0:
                break
            line.close()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    size, files, _, _ = socket.recv_fds(line, 4, 3)
    with line.makefile("rb") as reader:
        arguments, environment, folder = marshal.loads(reader.read(int.from_bytes(size, "big")))
    worker = os.fork()
    if worker:
        line.sendall(worker.to_bytes(4, "big"))
        code = os.waitstatus_to_exitcode(os.waitpid(worker, 0)[1])
        line.sendall((code if code >= 0 else 128 - code).to_bytes(4, "big"))
        os._exit(0)
    line.close()
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.argv = arguments


if __name__ == "__main__":
    warm_up()
    begin_life(sys.argv[1])
    main()
