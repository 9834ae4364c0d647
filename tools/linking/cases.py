"""Labelled linking cases and what the evidence reads of them."""

import gzip
import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from episodic_agent.core.links.features import Features, ThreadFeatures, thread_of
from episodic_agent.core.links.reading import read_message
from episodic_agent.protocols import Embedder

NOW = datetime(2026, 3, 2, 18, tzinfo=UTC)
GAPS = (0.7, 1, 2, 4, 8, 20, 50, 100, 200)  # hours
SHORT, LONGEST = 8, 400  # characters
Reader = Callable[[str, datetime, np.ndarray | None, str], Features]


@dataclass(frozen=True)
class Turn:
    at: datetime
    text: str


@dataclass(frozen=True)
class Case:
    """A message, the user's earlier threads, and the threads it belongs with."""

    id: str
    kind: str
    domain: str
    language: str
    threads: Mapping[str, Sequence[Turn]]
    message: Turn
    links: frozenset[str]
    ambiguous: bool = False


@dataclass(frozen=True)
class Read:
    """A case as features."""

    case: Case
    message: Features
    threads: Sequence[ThreadFeatures]


def load(path: Path, half: str | None = None) -> list[Case]:
    """Read cases; of a file with halves only those of one (the other is dropped before anything sees it)."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    return [_case(row) for row in rows if half is None or row["half"] == half]


def _case(row: Mapping) -> Case:
    threads = {t["id"]: [_turn(turn) for turn in t["turns"]] for t in row["threads"]}
    links = frozenset(row["links"])
    return Case(
        row["id"], row["kind"], row["domain"], row["lang"], threads, _turn(row["message"]), links,
        bool(row.get("ambiguous")),
    )  # fmt: skip


def _turn(raw: Mapping) -> Turn:
    return Turn(datetime.fromisoformat(raw["at"]), raw["text"])


def whole(text: str, at: datetime, vector: np.ndarray | None, language: str) -> Features:
    """Read a message as the engine does."""
    return read_message(text, at, vector=vector, language=language)


def read(cases: Sequence[Case], embedder: Embedder | None, reader: Reader = whole) -> Iterator[Read]:
    """Yield each case as features; texts are embedded once, in one batch."""
    texts = sorted(
        {t.text for c in cases for some in c.threads.values() for t in some} | {c.message.text for c in cases}
    )
    vectors = {} if embedder is None else dict(zip(texts, embedder.embed(texts), strict=True))
    for case in cases:
        threads = [
            thread_of(name, [(t.at, reader(t.text, t.at, vectors.get(t.text), case.language)) for t in turns])
            for name, turns in case.threads.items()
        ]
        message = case.message
        yield Read(case, reader(message.text, message.at, vectors.get(message.text), case.language), threads)


def dialogues(folder: Path, sources: Sequence[str], count: int, seed: int) -> list[Case]:
    """Make cases of dialogues: a follow-up belongs with what went before, another's opening does not.

    They teach how dependent messages are worded and how near follow-ups are to what they follow. Their gaps
    are drawn, so they teach nothing about time.
    """
    draw, result = random.Random(seed), []
    for source in sources:
        with gzip.open(folder / f"seg_{source}.jsonl.gz", "rt", encoding="utf-8") as lines:
            some = [json.loads(line)["units"] for line in lines]
        draw.shuffle(some)
        result += _glued(source, some[:count], draw)
    return result


def _glued(source: str, some: Sequence[Sequence[Mapping]], draw: random.Random) -> Iterator[Case]:
    openings = [(n, text) for n, units in enumerate(some) if (text := _opening(units))]
    for n, units in enumerate(some):
        places = [
            place
            for place in range(2, min(len(units), 9))
            if _users(units[place]) and not _users(units[place - 1]) and len(units[place]["text"]) > SHORT
        ]
        if not places:
            continue
        place = draw.choice(places)
        began = NOW - timedelta(hours=draw.choice(GAPS))
        thread = {"a": [Turn(began, unit["text"][:LONGEST]) for unit in units[max(0, place - 4) : place]]}
        other = draw.choice([text for k, text in openings if k != n])
        for name, text, links in (("on", units[place]["text"], {"a"}), ("off", other, set())):
            yield Case(
                f"{source}-{n}-{name}", source, "dialogue", "en", thread, Turn(NOW, text), frozenset(links)
            )


def _users(unit: Mapping) -> bool:
    return unit["speaker"] == "user"


def _opening(units: Sequence[Mapping]) -> str:
    text = next((unit["text"] for unit in units if _users(unit)), "")
    return text if len(text) > SHORT else ""
