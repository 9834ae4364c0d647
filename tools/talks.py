"""Talks that teach judges of facts (`tools/facts/*.tsv`), and labelled lives, line by line."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

EPOCH = datetime(2026, 3, 2, tzinfo=UTC)


@dataclass(slots=True)
class Line:
    """A line of talk: who says what in which sitting; `tells` of something that lasts, `ends` those lines.

    `label` is the talk's own: "-", "~" (it only looks so), or a category; "" in a life.
    """

    name: str
    sitting: str
    speaker: str
    is_person: bool
    text: str
    at: datetime
    tells: bool
    ends: frozenset[str]
    label: str = ""


def read_talk(path: Path) -> list[Line]:
    """Read a talk: a line has day, speaker, label, key and text; "---" parts its sittings."""
    lines: list[Line] = []
    held: dict[str, str] = {}
    sitting = 0
    for n, row in enumerate(path.read_text(encoding="utf-8").splitlines()):
        if row == "---":
            sitting += 1
            continue
        day, speaker, label, key, text = row.split("\t")
        name, at = f"{path.stem}:{n}", EPOCH + timedelta(days=int(day), seconds=n)
        new, _, old = key.partition(">")
        ends = frozenset({held[old]} if old in held else ())
        person = speaker not in ("assistant", "tool")
        lasts = label not in ("-", "~")
        lines.append(Line(name, str(sitting), speaker, person, text, at, lasts, ends, label))
        held |= {new: name} if new else {}
    return lines


def read_life(path: Path) -> list[Line]:
    """Read a labelled life; a message is named by the file and its id."""
    row = json.loads(path.read_text(encoding="utf-8").splitlines()[0])
    by_id = {fact["id"]: fact for fact in row["facts"]}
    telling = {message for fact in row["facts"] for message in fact["evidence"]}
    ends: dict[str, set[str]] = {}
    for fact in row["facts"]:
        for message in fact["evidence"] if fact.get("replaces") in by_id else ():
            ends.setdefault(message, set()).update(by_id[fact["replaces"]]["evidence"])
    return [
        Line(
            f"{path.stem}:{m['id']}",
            m["sitting"],
            m["speaker"],
            m["role"] == "user",
            m["text"],
            datetime.fromisoformat(m["time"]).replace(tzinfo=UTC),
            m["id"] in telling,
            frozenset(f"{path.stem}:{old}" for old in ends.get(m["id"], ())),
        )
        for m in row["messages"]
    ]
