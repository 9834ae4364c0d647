"""A crowded channel that is imported becomes a thread a conversation; a small chat stays whole."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

from builders.commands import Run
from builders.importing import SAMPLES

from episodic_agent.core.ingest import Item
from episodic_agent.engine.files.conversations import MANY, Conversations

AT = datetime(2026, 3, 2, 9, tzinfo=UTC)
WIFI = (
    ("anna", "my wifi card is gone after the kernel update, what can I do?"),
    ("bert", "anna: which card is it? show lspci"),
    ("anna", "bert: lspci says broadcom BCM4360"),
    ("bert", "anna: then install the broadcom driver of your new kernel and reboot"),
    ("anna", "bert: thanks, the broadcom card is back"),
)
DISK = (
    ("carl", "how do I mount a usb stick with exfat?"),
    ("dora", "carl: install exfat-fuse, then mount the stick again"),
    ("carl", "dora: exfat-fuse is installed, mount says wrong superblock"),
    ("dora", "carl: run fsck.exfat on the stick first"),
    ("carl", "dora: fsck.exfat mended the stick, it mounts"),
)
OTHERS = tuple(f"guest{n}" for n in range(MANY))


def transcript(path: Path, *, crowded: bool) -> Path:
    """Write two conversations line by line in turn, after greetings of many people or of none."""
    said = [(name, f"hello everybody, {name} here") for name in OTHERS] if crowded else []
    said += [line for pair in zip(WIFI, DISK, strict=True) for line in pair]
    rows = [f"[2026-03-02 09:{n:02}] {name}: {text}" for n, (name, text) in enumerate(said)]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def test_two_conversations_of_a_crowded_channel_are_two_threads(run: Run, tmp_path: Path) -> None:
    path = transcript(tmp_path / "channel.log", crowded=True)
    assert run("import", path, "--json").json["added"] == len(WIFI) + len(DISK) + len(OTHERS)
    hits = run("search", "broadcom driver", "--json").json["hits"]
    found = {o["actor"] for o in hits[0]["observations"]}
    assert found <= {"anna", "bert"}
    assert len(json.loads(run("threads", "--json").out)) >= 2
    assert run("import", path, "--json").json["added"] == 0


def test_lines_go_where_they_are_answered(tmp_path: Path) -> None:
    threads: dict[str, set[str]] = {"wifi": set(), "disk": set()}
    conversations = Conversations()
    for n, name in enumerate(OTHERS):
        conversations.thread_of("irc", Item(name, f"hello, {name} here", at=AT + timedelta(minutes=n)))
    pairs = zip(WIFI, DISK, strict=True)
    for n, (kind, (name, text)) in enumerate(
        (kind, line) for pair in pairs for kind, line in zip(threads, pair, strict=True)
    ):
        item = Item(name, text, at=AT + timedelta(minutes=20 + n))
        threads[kind].add(conversations.thread_of("irc", item))
    assert len(threads["wifi"]) == len(threads["disk"]) == 1
    assert threads["wifi"] != threads["disk"]


def test_a_channel_of_few_people_stays_one_thread(run: Run, tmp_path: Path) -> None:
    report = run("import", transcript(tmp_path / "few.log", crowded=False), "--json").json
    assert report["threads"] == 1


def test_threads_that_people_began_themselves_are_not_divided(run: Run) -> None:
    before = run("import", SAMPLES / "slack", "--json").json["threads"]
    assert before == len(
        {m[2] for m in json.loads((SAMPLES / "expected.json").read_text())["slack"]["messages"]}
    )
    conversations = Conversations()
    quiet = [conversations.thread_of("slack-C1", Item("ana", f"note {n}", at=AT)) for n in range(200)]
    assert set(quiet) == {"slack-C1"}


def test_a_line_without_a_time_stays_with_its_channel() -> None:
    assert Conversations().thread_of("irc", Item("ana", "hello")) == "irc"
