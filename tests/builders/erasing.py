"""A life with a secret in it, said where everything is made of it; and where in a database a word stands."""

import base64
import binascii
import re
import zlib
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from typing import Any

import apsw
import psycopg
from stores.postgres_server import connect

from builders.assistants import TEN, weather
from builders.chats import Clock, mine
from episodic_agent import Memory
from episodic_agent.protocols import EPISODES, FACTS, OBSERVATIONS, PARTS, SKILLS
from episodic_agent.schemas import Receipt, Scope
from episodic_agent.wiring import is_server

SECRET = "quokkazanzibar"
SAID = f"The code of the safe is {SECRET} and nobody else may know it, not even the plumber Rossi"
BEFORE = "We talked about the safe in the cellar and who may open it"
AFTER = "Then write down where the spare key of the safe is, please"
_PACKED = re.compile(rb"[A-Za-z0-9+/]{40,}={0,2}")


def live(memory: Memory, clock: Clock) -> Receipt:
    """Let a memory live through a month with the secret said in one message; return that one's receipt."""
    clock.now = TEN
    mine(memory).add(
        [_said("user", "The cellar is damp and the safe in it rusts"), _said("user", BEFORE, 1)],
        thread="safe",
    )
    secret = mine(memory).add([_said("user", SAID, 2, location="cellar")], thread="safe")[0]
    mine(memory).add([_said("assistant", AFTER, 3), _said("user", "The hinge squeaks", 4)], thread="safe")
    mine(memory).flush(thread="safe")
    mine(memory).boundaries.resegment("safe", "stub?freeze_interval=2")
    mine(memory).add(
        [_said("user", "My cello teacher is Odile", 90), _said("assistant", "Noted", 91)], thread="cello"
    )
    mine(memory).flush(thread="cello")
    mine(memory).links.add("cello", "safe")
    clock.forward(days=2)
    mine(memory).add([_said("user", "Good morning", 2880)], thread="safe")
    mine(memory).search(f"Who teaches the cello, does she know {SECRET}?", asking="safe")
    mine(memory).add(
        [_said("assistant", f"Odile is your cello teacher, she knows {SECRET}", 2881)], thread="safe"
    )
    mine(memory).flush(thread="safe")
    mine(memory).sections.compact(thread="safe")
    mine(memory).add([_said("user", "Open end of the safe", 2990)], thread="safe")
    return secret


def learn(memory: Memory, clock: Clock, days: int = 16) -> Receipt:
    """Let a skill be learned of which one day's turn holds the secret; return that request's receipt."""
    talks = [weather(day) for day in range(days)]
    talks[0][0]["content"] = f"What's the weather in {SECRET} on Thursday?"
    clock.now = talks[-1][-1]["timestamp"]
    receipts = mine(memory).add([message for talk in talks for message in talk], thread="desk")
    mine(memory).flush(thread="desk")
    return receipts[0]


def _said(role: str, text: str, minute: float = 0, **more: Any) -> dict[str, Any]:
    return {"role": role, "content": text, "timestamp": (TEN + timedelta(minutes=minute)).isoformat(), **more}


# --- where a word stands --------------------------------------------------------------------------------


def everywhere(url: str, word: str) -> list[str]:
    """Return the columns of every table of a database that hold a word, in any form text is kept in."""
    return sorted({where for where, value in values(url) if holds(value, word.lower())})


def values(url: str) -> Iterator[tuple[str, Any]]:
    """Yield every value of every row of every table, with the name of its column."""
    if is_server(url):
        with connect(url) as db:
            yield from _of_server(db)
        return
    with closing(apsw.Connection(url.removeprefix("sqlite:///"))) as db:
        for (table,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
            cursor = db.execute(f"SELECT * FROM {table}")
            for row in cursor:
                names = [name for name, *_ in cursor.getdescription()]
                yield from ((f"{table}.{name}", value) for name, value in zip(names, row, strict=True))


def _of_server(db: "psycopg.Connection[Any]") -> Iterator[tuple[str, Any]]:
    results = db.execute(
        "SELECT tablename FROM pg_tables WHERE schemaname = 'episodic' ORDER BY 1"
    ).fetchall()
    for (table,) in results:
        cursor = db.execute(f"SELECT * FROM episodic.{table}")
        names = [column.name for column in cursor.description or ()]
        for row in cursor.fetchall():
            yield from ((f"{table}.{name}", value) for name, value in zip(names, row, strict=True))


def holds(value: Any, word: str) -> bool:
    """Tell whether a value holds a word, packed values too."""
    if isinstance(value, str):
        value = value.encode("utf-8", "surrogatepass")
    if not isinstance(value, bytes | memoryview):
        return False
    data = bytes(value).lower()
    return word.encode() in data or any(word.encode() in one.lower() for one in _unpacked(bytes(value)))


def _unpacked(data: bytes) -> Iterator[bytes]:
    for packed in _PACKED.findall(data):
        try:
            plain = base64.b64decode(packed)
            yield plain
            yield zlib.decompress(plain)
        except (binascii.Error, zlib.error, ValueError):
            continue


def indexed(memory: Memory, word: str, user: str = "default") -> int:
    """Count the documents of a user that hold a word in the text index."""
    with memory._deps.store.begin(Scope(user), write=False) as tx:
        kinds = (OBSERVATIONS, EPISODES, PARTS, SKILLS, FACTS)
        return sum(tx.index.statistics(kind, [word]).frequencies[word] for kind in kinds)
