"""Sessions of one user with the true parent of each: labelled stories, and long chats dealt out anew."""

import gzip
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

BEAM = "ret_beam100k.jsonl.gz"
ARCS = Path(__file__).parent / "cases" / "arcs"
WORLDS, SEED = 8, 5
CHAINED, LENGTH = 4, 3  # chats of a world that go on, and over how many sessions
FIRST_DAY = datetime(2026, 3, 1, 9, tzinfo=UTC)
LONG = timedelta(minutes=40)  # how long a session of a dealt chat lasts


@dataclass(frozen=True, slots=True)
class Said:
    """One message of a session."""

    at: datetime
    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class Session:
    """A session with its true parent, None where it goes on from nothing; `also` are parents as good."""

    id: str
    messages: tuple[Said, ...]
    parent: str | None = None
    also: tuple[str, ...] = ()
    user: str = "user"

    @property
    def start(self) -> datetime:
        """Return when it begins."""
        return self.messages[0].at

    @property
    def end(self) -> datetime:
        """Return when it ends."""
        return self.messages[-1].at


@dataclass(frozen=True, slots=True)
class World:
    """Everything one user did, in the order of time."""

    name: str
    sessions: tuple[Session, ...]


def stories(folder: Path, half: str) -> Iterator[World]:
    """Yield the labelled stories of one half; nothing of the other half is looked at beyond its mark."""
    for path in sorted(folder.glob("*.json")):
        raw = json.loads(path.read_text(encoding="utf-8"))
        if raw["half"] == half:
            yield World(raw["name"], tuple(_session(one, raw["speaker"]) for one in raw["sessions"]))


def _session(raw: dict[str, Any], user: str) -> Session:
    statements = tuple(
        Said(datetime.fromisoformat(m["at"]), m["speaker"], m["text"]) for m in raw["messages"]
    )
    return Session(raw["id"], statements, raw["parent"], tuple(raw.get("also_ok") or ()), user)


def dealt(path: Path, worlds: int = WORLDS) -> Iterator[World]:
    """Yield worlds made of long chats: sessions a day or two apart, all chats interleaved under one user.

    Of each world's eight chats half bring three sessions in a row, the others one: half have no parent.
    """
    chats = list(_chats(path))
    draw = np.random.default_rng(SEED)
    for number in range(worlds):
        order = draw.permutation(len(chats))
        sessions: list[Session] = []
        for place, n in enumerate(order):
            chat = chats[int(n)]
            count = LENGTH if place < CHAINED else 1
            first = int(draw.integers(0, len(chat) - count + 1))
            day = float(draw.uniform(0, 4))
            parent: str | None = None
            for session in chat[first : first + count]:
                sessions.append(_redated(session, FIRST_DAY + timedelta(days=day), parent))
                parent = session.id
                day += float(draw.uniform(1, 2))
        yield World(f"dealt {number + 1}", tuple(sorted(sessions, key=lambda one: one.start)))


def lives(folder: Path) -> Iterator[World]:
    """Yield labelled lives, each sitting a session; the latest it goes on from is its parent."""
    for path in sorted(folder.glob("*.jsonl")):
        raw = json.loads(path.read_text(encoding="utf-8").splitlines()[0])
        spoken: dict[str, list[Said]] = {}
        for message in raw["messages"]:
            if message["role"] != "tool":
                at = datetime.fromisoformat(message["time"]).replace(tzinfo=UTC)
                speaker = "user" if message["role"] == "user" else "assistant"
                spoken.setdefault(message["sitting"], []).append(Said(at, speaker, message["text"]))
        sessions = []
        for sitting in raw["sittings"]:
            if sitting["id"] in spoken:
                earlier = [one for one in sitting["goes_on_from"] if one in spoken]
                *also, parent = sorted(earlier, key=lambda one: spoken[one][-1].at) or [None]
                sessions.append(Session(sitting["id"], tuple(spoken[sitting["id"]]), parent, tuple(also)))
        yield World(path.stem, tuple(sorted(sessions, key=lambda one: one.start)))


def _chats(path: Path) -> Iterator[list[Session]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            raw = json.loads(line)
            results: dict[int, list[Said]] = {}
            for message in raw["messages"]:
                statement = Said(FIRST_DAY, message["speaker"], message["text"])
                results.setdefault(message["session"], []).append(statement)
            yield [Session(f"{raw['id']}/{n}", tuple(results[n])) for n in sorted(results)]


def _redated(session: Session, start: datetime, parent: str | None) -> Session:
    step = LONG / len(session.messages)
    statements = tuple(replace(one, at=start + n * step) for n, one in enumerate(session.messages))
    return replace(session, messages=statements, parent=parent)


def pairs(parents: dict[str, str | None]) -> set[tuple[str, str]]:
    """Return the pairs of sessions that stand in one tree.

    >>> sorted(pairs({"a": None, "b": "a", "c": "b", "d": None}))
    [('a', 'b'), ('a', 'c'), ('b', 'c')]
    """
    trees: dict[str, list[str]] = {}
    for text in parents:
        root = text
        while (above := parents[root]) is not None:
            root = above
        trees.setdefault(root, []).append(text)
    return {(a, b) for tree in trees.values() for a in tree for b in tree if a < b}


def figures(values: Sequence[set[Any]], true: Sequence[set[Any]]) -> dict[str, float]:
    """Return precision, recall and F1 over all worlds together."""
    hits = sum(len(a & b) for a, b in zip(values, true, strict=True))
    precision = hits / max(1, sum(map(len, values)))
    recall = hits / max(1, sum(map(len, true)))
    f1 = 2 * precision * recall / max(precision + recall, 1e-9)
    return {"f1": round(f1, 4), "precision": round(precision, 4), "recall": round(recall, 4)}
