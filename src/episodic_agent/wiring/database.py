"""Which store keeps a memory: files and servers by their URLs, and what is done to them before."""

import re
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from episodic_agent.errors import InvalidInput, install_extra
from episodic_agent.lazily import module
from episodic_agent.settings import Settings
from episodic_agent.wiring.process import utc_now

if TYPE_CHECKING:
    from episodic_agent.protocols import Store
    from episodic_agent.stores import sqlite
else:
    sqlite = module("episodic_agent.stores.sqlite")

SERVERS = ("postgresql", "postgres")  # URL schemes of databases on a server


def make_store(url: str, settings: Settings) -> "Store":
    """Open the store a URL or path names; InvalidInput names the schemes there are."""
    if not is_server(url):
        return sqlite.SqliteStore(database_path(url), synchronous=settings.synchronous)
    postgres, options = _postgres(settings, "store")
    store: Store = postgres.PostgresStore(url, options)
    return store


def repair_file(url: str) -> Sequence[str]:
    """Do what a file needs before it can be opened as a memory; return what was done, a line each."""
    return [] if is_server(url) else sqlite.repair_file(database_path(url), utc_now())


def init_database(
    url: str, settings: Settings, logins: Sequence[str], worker_logins: Sequence[str]
) -> Sequence[tuple[str, str]]:
    """Make a server's database ready as its administrator and let logins in; return (state, what) by step."""
    postgres, options = _administration(url, settings)
    steps: Sequence[tuple[str, str]] = postgres.init_db(url, options, logins, worker_logins)
    return steps


def distribute_database(url: str, settings: Settings, shards: int) -> Iterator[str]:
    """Spread a server's database over the nodes of its Citus cluster; yield each statement that was run."""
    postgres, options = _administration(url, settings)
    yield from postgres.distribute_db(url, options, shards)


def distributing_statements(settings: Settings, shards: int) -> Sequence[str]:
    """Return what `distribute_database` would run on a database of one node."""
    postgres, _ = _postgres(settings, "server.distribute")
    statements: Sequence[str] = postgres.statements(shards)
    return statements


def index_database(url: str, settings: Settings, above: int | None, *, pack: bool) -> Iterator[str]:
    """Index the vectors of scopes with `above` documents (None: those search asks); yield the steps."""
    postgres, options = _administration(url, settings)
    yield from postgres.index_db(url, options, above, pack=pack)


def scrub_database(url: str, settings: Settings, *, dry_run: bool) -> Iterator[str]:
    """Rewrite the tables that may hold bytes of what was erased; yield the steps."""
    postgres, options = _administration(url, settings)
    yield from postgres.scrub_db(url, options, dry_run=dry_run)


def _administration(url: str, settings: Settings) -> tuple[Any, Any]:
    if not is_server(url):
        raise InvalidInput(f"{url!r} is a file and needs no administrator; give --db postgresql://…")
    return _postgres(settings, "server.admin")


def _postgres(settings: Settings, name: str) -> tuple[Any, Any]:
    """Import a module of the PostgreSQL store, whose driver is an extra, and make the store's options."""
    try:
        postgres = import_module(f"episodic_agent.stores.postgres.{name}")
        connection = import_module("episodic_agent.stores.postgres.server.connection")
    except ImportError as error:
        if (error.name or "").startswith("episodic_agent"):
            raise
        raise InvalidInput(f"PostgreSQL needs its driver; {install_extra('postgres')}") from error
    return postgres, connection.PostgresOptions(
        pool_size=settings.connections, synchronous=settings.synchronous
    )


def is_server(url: str) -> bool:
    """Tell whether a URL names a database on a server, not a file.

    >>> is_server("postgresql://db/memory"), is_server("memory.db")
    (True, False)
    """
    return url.partition("://")[0] in SERVERS and "://" in url


def without_password(url: str) -> str:
    """Return a URL that may be shown.

    >>> without_password("postgresql://ana:secret@db/memory?password=secret")
    'postgresql://ana:***@db/memory?password=***'
    """
    if not is_server(url):
        return url
    # Up to the last @: a careless password may hold one itself.
    shown = re.sub(r"^(\w+://[^:/@?]*):.*@", r"\1:***@", url)
    return re.sub(r"([?&](?:ssl)?password=)[^&]*", r"\1***", shown)


def database_path(url: str) -> Path:
    """Return the file behind a path or `sqlite:///` URL; InvalidInput for another scheme or a folder.

    >>> database_path("sqlite:///memory.db").name
    'memory.db'
    """
    scheme, separator, rest = url.partition("://")
    if separator and scheme != "sqlite":
        raise InvalidInput(
            f"no store for {scheme!r}; use a path, sqlite:///FILE or postgresql://HOST/DATABASE"
        )
    if separator and (not rest.startswith("/") or rest == "/"):
        raise InvalidInput(f"{url!r} is no database; write sqlite:///FILE (or a path)")
    path = Path(rest[1:] if separator else url).expanduser()
    if path.is_dir():
        raise InvalidInput(f"{url!r} is a folder; name a file in it")
    return path
