"""What a transaction counts of its scope."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from episodic_agent.protocols import Countable
from episodic_agent.stores.fact_rows import CURRENT
from episodic_agent.stores.rows import UNHASHED, to_microseconds
from episodic_agent.stores.tables.dialect import EVERY, Rows

_EPISODES: Final = "episode WHERE :mine AND kind = 'event' AND generation_to IS NULL"
# In order, so that the index of just these is taken.
_PENDING: Final = f"{_EPISODES} AND consolidated_at IS NULL AND encoding_version > 0 ORDER BY created_at"
_OPEN: Final = "(SELECT thread AS open, next_seq - first_seq AS held FROM frame WHERE :mine) f"
_JOBS: Final = "SELECT count(*) FROM job WHERE :mine AND state"
# What the index of types leaves out is said in its own words.
_DECIDED: Final = "SELECT count(*) FROM decision WHERE :mine AND at > :since AND type <> 'boundary' AND type"
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
    "link decisions": f"{_DECIDED} = 'link'",
    "chain decisions": f"{_DECIDED} = 'chain'",
}


def count(session: Rows, what: Countable, since: datetime | None, limit: int | None) -> int:
    """Count something of the scope, up to a limit where it is given; of decisions those after a time."""
    most, after = EVERY if limit is None else limit, -EVERY if since is None else to_microseconds(since)
    [(result,)] = session.read(_COUNTS[what], limit=most, since=after)
    return min(int(result or 0), most)
