"""What a transaction counts of its scope."""

from collections.abc import Mapping
from typing import Final

from episodic_agent.protocols import Countable
from episodic_agent.stores.fact_rows import CURRENT
from episodic_agent.stores.hashing import UNHASHED
from episodic_agent.stores.tables.dialect import EVERY, Rows

_EPISODES: Final = "episode WHERE :mine AND kind = 'event' AND generation_to IS NULL"
# In order, so that the index of just these is taken.
_PENDING: Final = f"{_EPISODES} AND consolidated_at IS NULL AND encoding_version > 0 ORDER BY created_at"
_OPEN: Final = "(SELECT thread AS open, next_seq - first_seq AS held FROM frame WHERE :mine) f"
_JOBS: Final = "SELECT count(*) FROM job WHERE :mine AND state"
_COUNTS: Final[Mapping[Countable, str]] = {
    "threads": "SELECT count(*) FROM thread WHERE :mine",
    "observations": "SELECT sum(spoke) FROM actor WHERE :mine",
    "unhashed": f"SELECT count(*) FROM observation WHERE :mine AND {UNHASHED}",
    "expiring": "SELECT count(*) FROM expiry WHERE :mine",
    "episodes": f"SELECT count(*) FROM {_EPISODES}",
    "unconsolidated": f"SELECT count(*) FROM (SELECT 1 FROM {_PENDING} LIMIT :limit) p",
    "facts": "SELECT count(*) FROM fact WHERE :mine",
    "current facts": f"SELECT count(*) FROM fact WHERE :mine AND {CURRENT}",
    # Frames have no index of scopes: they are looked up by the threads.
    "open observations": f"SELECT sum(held) FROM thread JOIN {_OPEN} ON open = number WHERE :mine",
    "waiting jobs": f"SELECT ({_JOBS} = 'waiting') + ({_JOBS} = 'leased')",  # each has an index of its own
}


def count(session: Rows, what: Countable, limit: int | None) -> int:
    """Count something of the scope, up to a limit where it is given."""
    most = EVERY if limit is None else limit
    [(result,)] = session.read(_COUNTS[what], limit=most)
    return min(int(result or 0), most)
