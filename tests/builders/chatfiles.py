"""Chat files of every kind, larger than what is read at once, with repetitions and damage."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

COUNT = 900


def messages() -> Iterator[dict[str, Any]]:
    """Yield messages that repeat one another, few with a time, an id or a conversation."""
    for n in range(COUNT):
        text = f"line {n % 11} of {n % 3} ünïcode {'x' * (n % 50)}"
        message: dict[str, Any] = {"role": ("user", "assistant")[n % 2], "content": text}
        if n % 5 == 0:
            message["timestamp"] = f"2024-03-{1 + n % 28:02d}T09:{n % 60:02d}:00Z"
        if n % 13 == 0:
            message["id"] = n
        if n % 17 == 0:
            message["conversation_id"] = f"c{n // 7}"
        yield message


def documents() -> dict[str, str]:
    """Return the same messages in every format, whole and damaged, by a name that says which."""
    every = list(messages())
    chats = [every[start : start + 30] for start in range(0, COUNT, 30)]
    pretty, plain = json.dumps(every, indent=2), json.dumps(every)
    broken = pretty.index('"line 5', 40_000)
    clocks = (f"[2024-03-{1 + n // 60:02d} 09:{n % 60:02d}]" for n in range(COUNT))
    return {
        "lines.jsonl": "\n".join(map(json.dumps, every)),
        "list.json": plain,
        "pretty.json.gz": pretty,
        "object.json": json.dumps(
            {"channel": "sms", "messages": every, "title": "t", "id": "talk-7"}, indent=1
        ),
        "chats.json": json.dumps({"conversations": [{"id": n, "messages": c} for n, c in enumerate(chats)]}),
        "nameless chats.json": json.dumps([{"messages": chat} for chat in chats], ensure_ascii=False),
        "chats.jsonl": "\n".join(json.dumps({"id": f"t{n}", "messages": c}) for n, c in enumerate(chats)),
        "untimed.txt": "\n".join(f"{m['role']}: {m['content']}" for m in every),
        "timed.txt": "\n".join(
            f"{at} {m['role']}: {m['content']}" for at, m in zip(clocks, every, strict=True)
        ),
        "half.json": pretty[: len(pretty) // 2],
        "broken element.json": pretty[:broken] + pretty[broken + 1 :],
        "broken list.json": plain.replace('"line 5 of 1', "line 5 of 1", 1),
        "half an object.json": json.dumps({"meta": 1, "history": every})[:60_000],
        "broken field.json": '{"meta": {broken, "messages": ' + plain + "}",
    }


def write(folder: Path, name: str) -> Path:
    """Write one of the documents, packed where its name says so."""
    content = documents()[name].encode()
    path = folder / name
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path
