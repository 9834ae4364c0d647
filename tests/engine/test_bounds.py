"""Bounds of what is taken in: the largest message at every door, packed files, and memory that does not grow."""

import gzip
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType

import pytest
from builders import chatfiles
from builders.chats import mine
from builders.commands import Run
from builders.web import LocalClient
from conftest import OpenMemory

from episodic_agent import Memory
from episodic_agent.core.identity import Repeats, assign_ids, content_id
from episodic_agent.core.ingest import LARGEST, IntakeLimits, Item
from episodic_agent.engine.files.opening import Unreadable, inspect
from episodic_agent.engine.files.read import read_file
from episodic_agent.engine.files.window import TextWindow
from episodic_agent.errors import TooLarge
from episodic_agent.faces.http.app import make_app
from episodic_agent.schemas import Entity, Reading, Scope

BIG = "tea " * (LARGEST // 4) + "."
TOO_LARGE = r"has 1,000,001 bytes, more than the 1,000,000 a message may have; .* EPISODIC_MESSAGE_BYTES"


# --- the largest message -----------------------------------------------------------------------------------


def test_the_largest_message_is_kept_and_one_byte_more_is_refused_by_its_place(memory: Memory) -> None:
    assert mine(memory).add("tea " * (LARGEST // 4))[0].added
    with pytest.raises(TooLarge, match="item 2: the text " + TOO_LARGE):
        mine(memory).add(["one", BIG, "three"])
    assert mine(memory).stats().observations == 1  # nothing of the call


def test_bytes_are_counted_not_characters(memory: Memory) -> None:
    with pytest.raises(TooLarge, match="has 1,200,000 bytes"):
        mine(memory).add("茶" * 400_000)


@pytest.mark.parametrize(
    "message",
    [
        {"role": "user", "content": "hi", "notes": BIG},
        {"role": "user", "content": "hi", "events": [{"type": BIG}]},
        {"name": BIG, "content": "hi"},
        {"role": "tool", "name": "search", "content": "ok", "arguments": {"q": BIG}},
    ],
    ids=["extras", "events", "name", "arguments"],
)
def test_what_comes_with_a_text_is_bounded_too(message: dict[str, object], memory: Memory) -> None:
    with pytest.raises(TooLarge, match="more than the 1,000,000 a message may have"):
        mine(memory).add(message)


@pytest.mark.slow
def test_the_setting_raises_and_lowers_the_limit_at_the_command_line(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EPISODIC_MESSAGE_BYTES", "10")
    assert "the text has 11 bytes, more than the 10" in run("add", "eleven char").error
    assert run("add", "ten chars!").code == 0
    chat = tmp_path / "chat.txt"
    chat.write_text(f"Ana: {BIG}\nBo: hi\n", encoding="utf-8")
    monkeypatch.setenv("EPISODIC_MESSAGE_BYTES", "2000000")
    assert run("import", chat, "--json").json["added"] == 2


def test_over_http_it_is_413(tmp_path: Path) -> None:
    def opened() -> Memory:
        return Memory.open(tmp_path / "memory.db", embedder="hashing")

    with LocalClient(make_app(opened, lambda: datetime.now(UTC))) as client:
        message = {"role": "user", "content": BIG}
        answer = client.post("/api/v0/add_message", json={"conversation_id": "ana", "message": message})
    assert answer.status_code == 413
    assert "EPISODIC_MESSAGE_BYTES" in answer.json()["detail"]


@pytest.mark.parametrize("name", ["chat.jsonl", "chat.json", "chat.txt"])
def test_an_import_names_the_message_that_is_too_large_and_keeps_the_others(
    name: str, memory: Memory, tmp_path: Path
) -> None:
    path = tmp_path / name
    texts = [{"role": "ana", "content": text} for text in ("one", BIG, "three")]
    content = {
        ".jsonl": "\n".join(map(json.dumps, texts)),
        ".json": json.dumps(texts, indent=1),
        ".txt": "\n".join(f"{one['role']}: {one['content']}" for one in texts),
    }
    path.write_text(content[path.suffix], encoding="utf-8")
    report = mine(memory).import_file(path)
    assert report.added == 2
    (unreadable,) = report.unreadable
    line = 6 if name == "chat.json" else 2
    assert unreadable.startswith(f"{name}:{line}: the text has 1,000,001 bytes, more than the 1,000,000")


def test_a_message_that_grows_line_by_line_is_named_and_the_next_one_read(
    memory: Memory, tmp_path: Path
) -> None:
    path = tmp_path / "chat.txt"
    path.write_text("Ana: one\nBo: two\n" + f"{'x' * 999}\n" * 1100 + "Ana: three\n", encoding="utf-8")
    report = mine(memory).import_file(path)
    assert report.added == 2
    assert report.unreadable[0].startswith("chat.txt:2: the text has at least 1,100,000 bytes, more than")


def test_an_export_with_a_message_too_large_is_refused_whole_and_says_which(
    open_memory: OpenMemory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_memory() as memory:
        mine(memory).add(["short", "a longer one"], thread="t")
        lines = list(mine(memory).export())
    (tmp_path / "export.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    monkeypatch.setenv("EPISODIC_MESSAGE_BYTES", "8")
    other = open_memory(tmp_path / "other.db")
    number = next(n for n, line in enumerate(lines, 1) if "a longer one" in line)
    with pytest.raises(TooLarge, match=rf"line {number}: its text has 12 bytes, more than the 8"):
        mine(other).import_file(tmp_path / "export.jsonl")
    assert other.users() == []


class Talking:
    """A sensor whose second reading says far too much."""

    name = "talking"
    counts: Mapping[str, int] = MappingProxyType({})

    def __iter__(self) -> Iterator[Reading]:
        for number, label in enumerate(("door", BIG, "window")):
            yield Reading(number, place="hall", entities=(Entity(label, label),), changes=({"type": label},))

    def close(self) -> None:
        """Let go of nothing."""


def test_a_run_names_the_reading_it_refused_and_keeps_the_others(memory: Memory) -> None:
    report = mine(memory).run(Talking(), thread="walk")
    assert (report.steps, report.counts["refused"]) == (2, 1)
    (refusal,) = report.refusals
    assert refusal.startswith("reading 1: ")
    assert "EPISODIC_MESSAGE_BYTES" in refusal


# --- packed files --------------------------------------------------------------------------------------------


def bomb(path: Path, *, line: bytes) -> Path:
    path.write_bytes(gzip.compress(line * max(1, 40_000_000 // len(line)), compresslevel=9))
    return path


@pytest.mark.parametrize(
    "line", [b'{"role": "user", "content": "hi"}\n', b'{"content": "' + b"x" * 40_000_000]
)
def test_a_file_that_unpacks_to_too_many_times_its_size_is_refused_before_anything_is_stored(
    line: bytes, memory: Memory, tmp_path: Path
) -> None:
    with pytest.raises(TooLarge, match=r"unpacks to \d+ times its size or more, .* EPISODIC_UNPACKED_RATIO"):
        mine(memory).import_file(bomb(tmp_path / "bomb.jsonl.gz", line=line))
    assert memory.users() == []


def test_a_file_that_unpacks_to_too_many_bytes_is_refused_by_the_command(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = chatfiles.write(tmp_path, "pretty.json.gz")
    monkeypatch.setenv("EPISODIC_UNPACKED_BYTES", "100000")
    assert (
        "unpacks to more than 100,000 bytes; divide it, or raise EPISODIC_UNPACKED_BYTES"
        in run("import", path).error
    )


def test_a_line_longer_than_is_held_is_named_and_the_next_one_read(tmp_path: Path) -> None:
    path = tmp_path / "chat.jsonl"
    long = "x" * (IntakeLimits().line + 1)
    path.write_text(
        f'{{"content": "one"}}\n{{"content": "{long}"}}\n{{"content": "three"}}\n', encoding="utf-8"
    )
    read = list(read_file(path))
    assert [one.text for one in read if isinstance(one, Item)] == ["one", "three"]
    (unreadable,) = (one for one in read if isinstance(one, Unreadable))
    assert (unreadable.line, "64,000,000 characters" in unreadable.reason) == (2, True)


# --- memory that does not grow -------------------------------------------------------------------------------

READ_AS = {  # what the reader of whole documents made of them
    "lines.jsonl": (900, "38e0452b762c5fb8"),
    "list.json": (900, "38e0452b762c5fb8"),
    "pretty.json.gz": (900, "38e0452b762c5fb8"),
    "object.json": (900, "2eadc9edbf8fecf7"),
    "chats.json": (900, "2c11b02de701cd47"),
    "nameless chats.json": (900, "ae0869bf678bf413"),
    "chats.jsonl": (900, "be6e0b914cf6a25c"),
    "untimed.txt": (900, "1590e3df0f7197c5"),
    "timed.txt": (900, "fad4f849279cdffd"),
    "half.json": (449, "ab30caf29f5b505c"),
    "broken element.json": (899, "bdf4379dda3e2c7a"),
    "broken list.json": (16, "161e3cd2d498f9e3"),
    "half an object.json": (600, "3a74fb6a639f7875"),
    "broken field.json": (900, "38e0452b762c5fb8"),
}


@pytest.mark.parametrize("name", READ_AS)
def test_ids_names_times_and_complaints_are_those_of_a_file_read_whole(name: str, tmp_path: Path) -> None:
    read = list(read_file(chatfiles.write(tmp_path, name)))
    items = [one for one in read if not isinstance(one, Unreadable)]
    answers = [(one.line, one.reason, one.excerpt) for one in read if isinstance(one, Unreadable)]
    statements = [(i.conversation, i.at, i.text, i.channel) for i in items]
    made = repr([assign_ids(items, Scope("ana")), statements, answers]).encode()
    assert (len(items), sha256(made).hexdigest()[:16]) == READ_AS[name]


@pytest.mark.parametrize("size", [1, 5, 16, 97])
def test_a_window_reads_a_document_alike_in_pieces_of_any_size(size: int, tmp_path: Path) -> None:
    path = tmp_path / "value.json"
    value = [{"a": [1, 2.5e-7, True, None, '\u00e9\\"\n😀']}, -12345678901234567890, "x" * 300, False, {}]
    path.write_text(json.dumps(value) + " tail", encoding="utf-8")
    window = TextWindow(inspect(path))
    text = path.read_text(encoding="utf-8")
    window._pieces = (text[n : n + size] for n in range(0, len(text), size))
    assert window.value() == (value, json.dumps(value))
    window.skip()
    assert window.peek(10) == "tail"


def test_lines_longer_than_the_format_was_told_by_are_all_read(tmp_path: Path) -> None:
    path = tmp_path / "chats.jsonl"
    chats = [
        {"id": f"c{n}", "messages": [{"content": f"{n} {m} {'x' * 900}"} for m in range(90)]}
        for n in range(3)
    ]
    path.write_text("\n".join(map(json.dumps, chats)), encoding="utf-8")
    read = list(read_file(path))
    assert [one for one in read if isinstance(one, Unreadable)] == []
    assert len(read) == 270


FLAT = """
import resource, sys
from pathlib import Path
from episodic_agent.core.identity import Repeats, assign_ids
from episodic_agent.engine.files.read import read_file
from episodic_agent.schemas import Scope
seen, most = Repeats(), lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for number, item in enumerate(read_file(Path(sys.argv[1]))):
    assign_ids([item], Scope("ana"), seen=seen)
    if number == 1000:
        before = most()
print(number + 1, (most() - before) // 1024)
"""


SLOWLY = [pytest.param(one, marks=pytest.mark.slow) for one in ("list.json", "lines.jsonl", "timed.txt")]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["object.json", *SLOWLY])
def test_reading_a_file_of_any_size_takes_no_more_memory(name: str, tmp_path: Path) -> None:
    path, count, text = tmp_path / name, 12_000, "tea " * 250
    texts = (json.dumps({"role": "user", "content": f"{n} {text}"}) for n in range(count))
    with path.open("w", encoding="utf-8") as file:
        if path.suffix == ".txt":
            file.writelines(f"[2024-03-01 09:00] Ana: {n} {text}\n" for n in range(count))
        else:
            opening, between, end = {
                "list.json": ("[", ",", "]"),
                "object.json": ('{"messages": [', ",", "]}"),
            }.get(name, ("", "\n", ""))
            file.write(opening + next(texts))
            file.writelines(between + one for one in texts)
            file.write(end)
    done = subprocess.run(
        [sys.executable, "-c", FLAT, path], capture_output=True, text=True, check=True, timeout=120
    )
    read, grown = map(int, done.stdout.split())
    assert read == count
    assert grown < 5  # MB, of a file of 12


def test_repetitions_are_counted_as_a_dictionary_would() -> None:
    seen, counts = Repeats(), dict[str, int]()
    for n in range(5000):
        item = Item("ana", f"{n * n % 1777}")
        assert seen.count(content_id(Scope("ana"), "sms", item, 0)) == counts.get(item.text, 0)
        counts[item.text] = counts.get(item.text, 0) + 1
