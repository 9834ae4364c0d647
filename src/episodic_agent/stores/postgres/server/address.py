"""Where a database is: what to connect with, and how to speak of it without its password."""

from dataclasses import dataclass, field

import psycopg
from psycopg import pq
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from episodic_agent.errors import InvalidInput

# A server that vanished (a pulled plug, a failed-over address) is noticed in half a minute, not in two hours.
_WATCHFUL = {
    "keepalives_idle": "30",
    "keepalives_interval": "10",
    "keepalives_count": "3",
    "tcp_user_timeout": "30000",
}

_UNREADABLE = (
    "the URL of the database cannot be read; write postgresql://USER@HOST:PORT/DATABASE, "
    "with %2F for / in a password, %40 for @, %20 for a space"
)


@dataclass(frozen=True, slots=True)
class Address:
    """A database of a server; `conninfo` may hold a password and is kept out of every message."""

    host: str
    port: str
    database: str
    user: str
    conninfo: str = field(repr=False)

    @property
    def server(self) -> str:
        """Return HOST:PORT."""
        return f"{self.host}:{self.port}"

    @property
    def place(self) -> str:
        """Return the database and its server."""
        return f"database {self.database!r} at {self.server}"


def read_address(url: str, *, connect_timeout: float, application_name: str) -> Address:
    """Read a `postgresql://` URL; what it says itself wins over the given. InvalidInput when malformed.

    >>> address = read_address("postgresql://ana:secret@db/memory", connect_timeout=10, application_name="x")
    >>> address.place
    "database 'memory' at db:5432"
    >>> "secret" in repr(address)
    False
    """
    try:
        arguments = {name: str(value) for name, value in conninfo_to_dict(url).items() if value is not None}
    except psycopg.Error:
        # The driver quotes what it could not read, password and all.
        raise InvalidInput(_UNREADABLE) from None
    if not arguments.get("port", "1").replace(",", "").isdigit():  # a / in a password makes the rest a port
        raise InvalidInput(_UNREADABLE)
    # What the URL leaves open libpq takes from its own settings (PGHOST, a service, the login's name).
    own = {option.keyword.decode(): (option.val or b"").decode() for option in pq.Conninfo.get_defaults()}
    known = {**{name: value for name, value in own.items() if value}, **arguments}
    user = known.get("user", "")
    defaults = {
        "connect_timeout": f"{max(1, round(connect_timeout))}",
        "application_name": application_name,
        **_WATCHFUL,
    }
    return Address(
        host=known.get("host") or known.get("hostaddr") or "localhost",
        port=known.get("port", "5432"),
        database=known.get("dbname", user),
        user=user,
        conninfo=make_conninfo("", **{**defaults, **arguments}),
    )
