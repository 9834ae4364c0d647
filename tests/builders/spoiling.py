"""Statements run on a database past everything that guards it."""

import re
from contextlib import closing

import apsw
from stores.postgres_server import connect


def spoil(url: str, *statements: str) -> None:
    """Run statements on the database of a URL; `{observation}` names a table or index of ours on both stores."""
    if url.startswith("postgres"):
        with connect(url) as db:
            for sql in statements:
                db.execute(re.sub(r"\{(\w+)\}", r"episodic.\1", sql))
        return
    with closing(apsw.Connection(url.removeprefix("sqlite:///"))) as file:
        for sql in statements:
            file.execute(re.sub(r"\{(\w+)\}", r"\1", sql))
