"""What an error of the server means for the caller, and what to do about it: one line each."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Final

import psycopg

from episodic_agent.errors import Conflict, EpisodicError, StoreError, StoreUnavailable
from episodic_agent.stores.postgres.server.address import Address

INIT: Final = "`episodic admin init-db`"
_WORKER: Final = "episodic_worker"
_Kind = type[EpisodicError]

# While connecting libpq tells no code, only text: (what the text holds, the kind, what we say).
_REFUSALS: Final[tuple[tuple[str, type[StoreError], str], ...]] = (
    (
        "password authentication failed",
        StoreError,
        "the password for {user!r} at {server} is wrong; correct it in the URL or in ~/.pgpass",
    ),
    (
        "no password supplied",
        StoreError,
        "{server} asks for the password of {user!r}; put it into ~/.pgpass or the URL",
    ),
    (
        "no pg_hba.conf entry",
        StoreError,
        "{server} lets {user!r} not in from here; add a line to its pg_hba.conf ({reason})",
    ),
    ("too many clients", StoreUnavailable, "{full}"),
    ("too many connections", StoreUnavailable, "{full}"),
    ("remaining connection slots", StoreUnavailable, "{full}"),
    ("no more connections allowed", StoreUnavailable, "{full}"),
    ("the database system is", StoreUnavailable, "{server} is not ready ({reason}); try again in a moment"),
)
_FULL: Final = (
    "{server} takes no more connections; try again, lower EPISODIC_CONNECTIONS "
    "or raise the server's max_connections"
)
_OTHER_SCHEMA: Final = (
    "the schema of {place} is not this program's ({reason}): a newer version's `init-db` ran since it began; "
    "start the newer version, or see what `episodic doctor` says"
)

# By SQLSTATE, or by its class of two characters.
_MEANINGS: Final[Mapping[str, tuple[_Kind, str]]] = {
    "08": (StoreUnavailable, "the connection to {server} failed ({reason}); repeat the call"),
    "23505": (Conflict, "another writer stored the same at the same time ({reason}); repeat the call"),
    "23P01": (Conflict, "another writer stored the same at the same time ({reason}); repeat the call"),
    "25006": (
        StoreUnavailable,
        "{place} is read-only (a replica, or closed for writing); use the primary server's address to write",
    ),
    "40": (Conflict, "another writer was faster ({reason}); repeat the call"),
    "42501": (
        StoreError,
        "{user!r} may not do this in {place} ({reason}); an administrator runs {init}",
    ),
    "42703": (StoreUnavailable, _OTHER_SCHEMA),
    "42P01": (StoreUnavailable, _OTHER_SCHEMA),
    "53100": (StoreUnavailable, "no room left on {server} ({reason}); free some space and repeat the call"),
    "53300": (StoreUnavailable, _FULL),
    "53": (StoreUnavailable, "{server} is out of resources ({reason}); try again later"),
    "55P03": (
        StoreUnavailable,
        "another writer has held what this call needs in {place} for {seconds:g} s; try again",
    ),
    "57014": (StoreUnavailable, "{server} cancelled the statement ({reason}); try again"),
    "57P": (StoreUnavailable, "{server} is going down or starting ({reason}); repeat the call"),
    "58": (StoreUnavailable, "{server} cannot reach its files ({reason}); check its disk and its log"),
    "XX001": (StoreError, "{place} is damaged ({reason}); restore a backup"),
    "XX002": (StoreError, "an index of {place} is damaged ({reason}); run REINDEX"),
}


def init_for(login: str, *, worker: bool = False) -> str:
    """Return the command that lets a login in.

    >>> init_for("app")
    '`episodic admin init-db --login app`'
    """
    return f"{INIT[:-1]} --{'worker-' if worker else ''}login {login}`"


def refused(error: psycopg.Error, address: Address) -> StoreError:
    """Say why there is no connection."""
    text = str(error)
    reason = _reason(text)
    words = _words(address, reason)
    for sign, kind, message in _REFUSALS:
        if sign in text:
            return kind(message.format(**words, full=_FULL.format(**words)))
    if "does not exist" in text and "FATAL" in text:
        make = f"`createdb {address.database}`" if "database" in reason else init_for(address.user)
        return StoreError(f"{address.server}: {reason}; check the URL or create it with {make}")
    if "FATAL" in text:
        return StoreError(f"{address.server} refuses {address.user!r}: {reason}; check the URL")
    return StoreUnavailable(
        f"no PostgreSQL answers at {address.server} ({reason}); start it, or check the URL"
    )


def translate(error: psycopg.Error, address: Address, patience: timedelta) -> EpisodicError:
    """Say what an error of a statement means."""
    if unanswered(error):
        return lost(error, address)
    state, reason = error.sqlstate or "", gist(error)
    for length in (5, 3, 2):
        if state[:length] in _MEANINGS:
            kind, message = _MEANINGS[state[:length]]
            return kind(message.format(**_words(address, reason), seconds=patience.total_seconds()))
    return StoreError(f"{address.place}: {reason}")


def unanswered(error: psycopg.Error) -> bool:
    """Tell whether an error is no answer of the server, which has a code, but the driver's word of none.

    >>> unanswered(psycopg.OperationalError("server closed the connection unexpectedly"))
    True
    >>> unanswered(psycopg.errors.DeadlockDetected()), unanswered(psycopg.ProgrammingError())
    (False, False)
    """
    return error.sqlstate is None and type(error) in (psycopg.OperationalError, psycopg.DatabaseError)


def gist(error: psycopg.Error) -> str:
    """Return what an error says in one line.

    >>> gist(psycopg.OperationalError("connection failed: FATAL:  too late" + chr(10) + "try again"))
    'too late'
    """
    return error.diag.message_primary or _reason(str(error))


def lost(error: psycopg.Error, address: Address) -> StoreUnavailable:
    """Say that the connection went while a transaction was open: it is rolled back by the server."""
    return StoreUnavailable(
        f"the connection to {address.server} was lost ({_reason(str(error))}); "
        "nothing of the transaction was acknowledged, repeat the call"
    )


def lost_at_commit(error: psycopg.Error, address: Address) -> StoreUnavailable:
    """Say that the connection went while the commit was under way: nobody told us how it ended."""
    return StoreUnavailable(
        f"the connection to {address.server} was lost during the commit ({_reason(str(error))}); whether it "
        "was kept is unknown: repeat the call with the same ids, what is there already is not added again"
    )


def _words(address: Address, reason: str) -> dict[str, str]:
    return {
        "server": address.server,
        "place": address.place,
        "user": address.user,
        "reason": reason,
        "init": init_for(address.user, worker=_WORKER in reason),
    }


def _reason(text: str) -> str:
    """Return the gist of the driver's words: its first line after the last `failed:` or `FATAL:`."""
    line = text.strip().partition("\n")[0]
    for sign in ("failed: ", "FATAL:  ", "ERROR:  "):
        line = line.rpartition(sign)[2]
    return line.strip()
