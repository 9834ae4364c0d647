"""Labelled threads for the training of the `default` policy, with their vectors."""

import gzip
import json
import sys
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple
from uuid import UUID

import numpy as np

from episodic_agent.core.boundary.contract import Arrival
from episodic_agent.schemas import Observation, TimeSource, Vector
from episodic_agent.wiring import load_settings, make_embedder

SETS = ("tiage", "superdialseg", "topiocqa", "realtalk", "qmsum")
FOLDS = 5
EPOCH = datetime(2024, 1, 1, tzinfo=UTC)
NOBODY = UUID(int=0)
SHORTEST = 3  # messages of a conversation in a crowded channel
EVENTS = 500  # of MemDaily, which is a third of all


class Line(NamedTuple):
    """One unit of a labelled thread; `at` is None where the source has no times."""

    speaker: str
    text: str
    at: datetime | None
    vector: Vector | None


@dataclass(frozen=True)
class Thread:
    """A labelled thread; `starts[i]` says whether unit i opens a segment, `sources` what it is made of."""

    source: str
    name: str
    fold: int
    lines: Sequence[Line]
    starts: Sequence[int]
    sources: frozenset[str] = frozenset()


def fold_of(name: str) -> int:
    return zlib.crc32(name.encode()) % FOLDS


def vector_table(data: Path, vectors: Path, stem: str) -> np.ndarray:
    """Return the vectors of a file's units, embedding them once into the folder `vectors`."""
    path = vectors / f"{stem}.npz"
    if not path.exists():
        with gzip.open(data / f"{stem}.jsonl.gz", "rt") as file:
            rows = [json.loads(text) for text in file]
        _embedded(
            [unit["text"] for row in rows for unit in row.get("units") or row["messages"]], vectors, stem
        )
    return np.load(path)["vectors"]


def _embedded(texts: Sequence[str], vectors: Path, stem: str) -> np.ndarray:
    """Return the vectors of texts, kept between runs under a name."""
    path = vectors / f"{stem}.npz"
    if not path.exists():
        embedder = make_embedder("minilm", load_settings())
        vectors.mkdir(parents=True, exist_ok=True)
        np.savez_compressed(path, vectors=embedder.embed(texts).astype(np.float16))
    return np.load(path)["vectors"]


def read(data: Path, vectors: Path, stem: str) -> Iterable[tuple[dict, np.ndarray]]:
    """Yield the rows of a file with the vectors of their units."""
    table = vector_table(data, vectors, stem)
    place = 0
    with gzip.open(data / f"{stem}.jsonl.gz", "rt") as file:
        for text in file:
            row = json.loads(text)
            size = len(row.get("units") or row["messages"])
            yield row, table[place : place + size].astype(np.float32)
            place += size
    if place != len(table):
        sys.exit(f"{stem}: {place} units, {len(table)} vectors")


def load(data: Path, vectors: Path, source: str) -> list[Thread]:
    """Read one labelled set; TopiOCQA's "UNANSWERABLE" leaks some switches and is blanked."""
    threads = []
    for row, table in read(data, vectors, f"seg_{source}"):
        lines = []
        for unit, vector in zip(row["units"], table, strict=True):
            masked = unit["text"] == "UNANSWERABLE"
            at = datetime.fromisoformat(unit["time"]).replace(tzinfo=UTC) if "time" in unit else None
            lines.append(
                Line(unit["speaker"], "" if masked else unit["text"], at, None if masked else vector)
            )
        name = f"{source}/{row['id']}"
        threads.append(Thread(source, name, fold_of(name), lines, row["starts"], frozenset({source})))
    return threads


def load_beam(data: Path, vectors: Path) -> list[Thread]:
    """Read the assistant chats: material for glued dialogues only."""
    threads = []
    for row, table in read(data, vectors, "ret_beam100k"):
        messages = row["messages"]
        lines = [Line(m["speaker"], m["text"], None, v) for m, v in zip(messages, table, strict=True)]
        starts = [0] + [int(b["session"] != a["session"]) for a, b in pairwise(messages)]
        name = f"beam/{len(threads)}"
        threads.append(Thread("beam", name, fold_of(name), lines, starts, frozenset({"beam"})))
    return threads


def load_conversations(data: Path, vectors: Path) -> list[Thread]:
    """Read what named people said to each other in a crowded channel (IRC): each conversation is a thread."""
    conversations = []
    for row in _rows(data, "thr_irc"):
        units = {unit["id"]: unit for unit in row["units"]}
        for number, ids in enumerate(row["threads"]):
            said = [units[i] for i in ids if i in units and not units[i]["system"]]
            if len(said) >= SHORTEST:
                conversations.append((f"irc/{row['id']}", f"irc/{row['id']}/{number}", said))
    table = _embedded([unit["text"] for _, _, said in conversations for unit in said], vectors, "irc")
    return _of_one_topic("irc", conversations, table)


def load_events(data: Path, vectors: Path) -> list[Thread]:
    """Read what a user tells of one event each, in Chinese (MemDaily), no event twice."""
    events: dict[str, dict] = {}
    for row in _rows(data, "ret_memdaily"):
        events.setdefault(row["messages"][0]["text"], row)
    told = [(f"memdaily/{row['id']}",) * 2 + (row["messages"],) for row in [*events.values()][:EVENTS]]
    table = _embedded([unit["text"] for _, _, said in told for unit in said], vectors, "memdaily")
    return _of_one_topic("memdaily", told, table)


def _rows(data: Path, stem: str) -> list[dict]:
    with gzip.open(data / f"{stem}.jsonl.gz", "rt") as file:
        return [json.loads(text) for text in file]


def _of_one_topic(source: str, threads: Sequence[tuple[str, str, list]], table: np.ndarray) -> list[Thread]:
    """Make a thread without boundaries of each (what its fold is drawn by, name, units)."""
    place, results = 0, []
    for drawn_by, name, said in threads:
        rows = zip(said, table[place : place + len(said)].astype(np.float32), strict=True)
        lines = [Line(unit["speaker"], unit["text"], None, vector) for unit, vector in rows]
        starts = [0] * len(lines)
        results.append(Thread(source, name, fold_of(drawn_by), lines, starts, frozenset({source})))
        place += len(said)
    return results


def load_lives(data: Path, vectors: Path) -> list[Thread]:
    """Read the lives: each sitting of more than one message is a thread with times, as in an engine."""
    threads = []
    for file in sorted((data / "lives").glob("*.jsonl")):
        for text in file.read_text(encoding="utf-8").splitlines():
            life = json.loads(text)
            threads += _sittings(life, _embedded([m["text"] for m in life["messages"]], vectors, life["id"]))
    return threads


def _sittings(life: dict, table: np.ndarray) -> list[Thread]:
    begins, source = set(life["episodes"]), f"life:{life['id']}"
    sittings: dict[str, list[tuple[Line, int]]] = {}
    for message, vector in zip(life["messages"], table.astype(np.float32), strict=True):
        at = datetime.fromisoformat(message["time"]).replace(tzinfo=UTC)
        named = message["role"] == "user" and message["speaker"] not in ("user", life["user"])
        line = Line(message["speaker" if named else "role"], message["text"], at, vector)
        sittings.setdefault(message["sitting"], []).append((line, int(message["id"] in begins)))
    return [
        Thread(
            source,
            f"{source}/{name}",
            fold_of(f"{source}/{name}"),
            [line for line, _ in rows],
            [0, *(start for _, start in rows[1:])],
            frozenset({source}),
        )
        for name, rows in sittings.items()
        if len(rows) > 1
    ]


def load_talks(vectors: Path) -> list[Thread]:
    """Read talk of many kinds that was written to learn from (`tools/boundary/talks_*.jsonl`)."""
    threads = []
    for file in sorted(Path(__file__).parent.glob("talks_*.jsonl")):
        talks = [json.loads(text) for text in file.read_text(encoding="utf-8").splitlines()]
        table = _embedded([text for talk in talks for _, text, _ in talk["turns"]], vectors, file.stem)
        place = 0
        for talk in talks:
            turns = talk["turns"]
            rows = zip(turns, table[place : place + len(turns)].astype(np.float32), strict=True)
            lines = [Line(speaker, text, None, vector) for (speaker, text, _), vector in rows]
            name, starts = f"talks/{talk['id']}", [0, *(start for _, _, start in turns[1:])]
            threads.append(Thread("talks", name, fold_of(name), lines, starts, frozenset({"talks"})))
            place += len(turns)
    return threads


def untimed(thread: Thread) -> Thread:
    return replace(thread, lines=[line._replace(at=None) for line in thread.lines])


def arrivals(thread: Thread, *, vectors: bool = True) -> list[Arrival]:
    result = []
    for seq, line in enumerate(thread.lines):
        at = line.at or EPOCH
        source = TimeSource.ASSUMED if line.at is None else TimeSource.GIVEN
        seen = Observation(NOBODY, NOBODY, seq, at, at, line.speaker, line.text, at_source=source)
        result.append(Arrival(seen, line.vector if vectors else None))
    return result
