"""Hundreds of kills on PostgreSQL: `python -m benchmarks.kills [--kills N]` prints what came of them.

The server is started for it with its own defaults: commits are synced to the disk, pages are written whole.
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from typing import Any

import psycopg

from benchmarks.servers import server
from benchmarks.siege import WHOLE, besiege

KILLS = 500
SERVER_SHARE = 20  # one kill in so many takes the server, at the least


def measure(kills: int = KILLS) -> dict[str, Any]:
    """Kill so many, one in `SERVER_SHARE` of them the whole server, and return the counts."""

    def enough(by_kind: Mapping[str, int]) -> bool:
        servers = sum(by_kind.get(name, 0) for name in WHOLE)
        return sum(by_kind.values()) >= kills and servers * SERVER_SHARE >= kills

    with server() as own:
        with psycopg.connect(own.create("siege")) as db:
            shown = "SELECT current_setting('fsync'), current_setting('full_page_writes')"
            fsync, full_page_writes = db.execute(shown).fetchone() or ("?", "?")
        results = besiege(own, "siege", enough, mortal=True)
    return {**results, "fsync": fsync, "full_page_writes": full_page_writes}


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the counts as JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kills", description=__doc__)
    parser.add_argument("--kills", type=int, default=KILLS, help="how many at the least")
    print(json.dumps(measure(parser.parse_args(arguments).kills), indent=1))


if __name__ == "__main__":
    main()
