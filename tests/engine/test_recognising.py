"""What an import finds under another name: chats read in another zone, sessions that hooks kept."""

import json
import zipfile
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from episodic_agent import Memory
from episodic_agent.core.ingest import Item
from episodic_agent.engine.files.naming import chat_name
from episodic_agent.engine.user import UserMemory

CHAT = [
    ("2024-03-09 21:15", "Maya", "Shall we fly to Lisbon?"),
    ("2024-03-09 21:16", "Tom", "Yes"),
    ("2024-03-09 21:16", "Tom", "Yes"),
    ("2024-03-20 08:00", "Maya", "The tickets are booked."),  # New York has summer time by then
]
SESSION: list[dict[str, Any]] = [
    {"type": "user", "uuid": "u1", "message": {"role": "user", "content": "Read notes.txt"}},
    {
        "type": "assistant",
        "uuid": "a1",
        "message": {
            "role": "assistant",
            "content": [
                {"type": "tool_use", "id": "toolu_1", "name": "Read", "input": {"path": "notes.txt"}}
            ],
        },
    },
    {
        "type": "user",
        "uuid": "u2",
        "message": {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "I live in Hamburg."}],
        },
    },
    {
        "type": "assistant",
        "uuid": "a2",
        "message": {"role": "assistant", "content": [{"type": "text", "text": "It is about Hamburg."}]},
    },
]
BEGIN = datetime(2026, 9, 30, 10, tzinfo=UTC)


@pytest.fixture
def ana(memory: Memory) -> UserMemory:
    return memory.user("ana", new=True)


def written(path: Path, chat: Sequence[tuple[str, str, str]] = CHAT) -> Path:
    days = [f"{at[8:10]}/{at[5:7]}/{at[:4]}, {at[11:]} - {who}: {text}\n" for at, who, text in chat]
    path.write_text("".join(days), encoding="utf-8")
    return path


def transcript(path: Path, lines: Sequence[dict[str, Any]] = SESSION) -> Path:
    fields = {"sessionId": "s9", "parentUuid": None}
    times = ((BEGIN + timedelta(seconds=5 * n)).isoformat() for n in range(len(lines)))
    dated = ({**fields, **line, "timestamp": at} for line, at in zip(lines, times, strict=True))
    path.write_text("".join(f"{json.dumps(line)}\n" for line in dated), encoding="utf-8")
    return path


def hooked(ana: UserMemory, *items: dict[str, Any], after: int = 0) -> None:
    """Keep messages as hooks do, a second after the agent wrote them down."""
    for n, item in enumerate(items):
        at = BEGIN + timedelta(seconds=after + 5 * n + 1)
        ana.add([{**item, "timestamp": at.isoformat()}], thread="claude-code:s9", channel="/shop")


def rows(ana: UserMemory, kind: str) -> list[dict[str, Any]]:
    return [line for line in map(json.loads, ana.export()) if line.get("type") == kind]


def told(ana: UserMemory) -> list[tuple[str, str]]:
    return [(row["actor"], row["text"]) for row in rows(ana, "observation")]


def origins(ana: UserMemory) -> list[str]:
    return sorted(row["origin"] for row in rows(ana, "thread"))


# --- zones ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("first", [None, "America/New_York", "Asia/Kathmandu"])
@pytest.mark.parametrize("then", [None, "Europe/Berlin"])
def test_a_chat_read_in_another_zone_is_the_same_chat(
    ana: UserMemory, tmp_path: Path, first: str | None, then: str | None
) -> None:
    path = written(tmp_path / "chat.txt")
    assert ana.import_file(path, timezone=first, dates="dmy").added == 4
    again = ana.import_file(path, timezone=then, dates="dmy")
    assert (again.added, again.duplicates, len(origins(ana))) == (0, 4, 1)
    assert any("in another time zone" in note for note in again.notes) == (first != then)
    later = written(path, [*CHAT, ("2024-03-21 09:00", "Tom", "Good.")])
    assert (ana.import_file(later, timezone=then, dates="dmy").added, len(origins(ana))) == (1, 1)


@pytest.mark.parametrize("then", [None, "Europe/Berlin", "America/New_York"])
def test_a_chat_that_was_named_by_the_times_of_a_zone_is_known_again(
    ana: UserMemory, tmp_path: Path, then: str | None
) -> None:
    utc = [(datetime.fromisoformat(f"{at}+00:00"), who, text) for at, who, text in CHAT]
    winter, summer = timedelta(hours=5), timedelta(hours=4)
    placed = [(at + (winter if at.day < 10 else summer), who, text) for at, who, text in utc]
    at, who, text = placed[0]
    name = chat_name([Item(who, text, at=at)])
    ana.add(
        [{"speaker": who, "content": text, "timestamp": at.isoformat()} for at, who, text in placed],
        thread=name,
    )
    grown = [*CHAT, ("2024-03-21 09:00", "Tom", "Good.")]
    report = ana.import_file(written(tmp_path / "chat.txt", grown), timezone=then, dates="dmy")
    assert (report.added, report.duplicates, origins(ana)) == (1, 4, [name])
    again = ana.import_file(tmp_path / "chat.txt", timezone=then, dates="dmy")
    assert (again.added, again.duplicates) == (0, 5)


def test_the_same_words_at_another_ones_time_are_no_repetition(ana: UserMemory, tmp_path: Path) -> None:
    lines = [
        {"role": "user", "content": "Yes", "timestamp": at, "conversation_id": "c"}
        for at in ("2024-03-09T09:00:00", "2024-03-09T10:00:00")
    ]
    path = tmp_path / "chat.jsonl"
    path.write_text(json.dumps(lines[0]), encoding="utf-8")
    assert ana.import_file(path, timezone="Etc/GMT-1").added == 1
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    assert ana.import_file(path, timezone="Etc/GMT-1").added == 1
    assert len(told(ana)) == 2


# --- several exports of one chat in one import ----------------------------------------------------------


# of 700 the first file is not stored yet when the next is named
@pytest.mark.parametrize("many", [0, pytest.param(700, marks=pytest.mark.slow)])
def test_two_exports_of_one_chat_in_a_folder_are_what_they_are_one_after_the_other(
    ana: UserMemory, tmp_path: Path, many: int
) -> None:
    chat = [*CHAT, *(("2024-03-21 09:00", "Tom", f"Line {n // 2}") for n in range(many))]
    folder = tmp_path / "chats"
    folder.mkdir()
    written(folder / "b September.txt", chat[:-1])
    written(folder / "a October.txt", chat)
    with zipfile.ZipFile(folder / "chat.zip", "w") as archive:
        archive.write(folder / "a October.txt", "_chat.txt")
    count = len(chat)
    for dry in (True, False):
        report = ana.import_file(folder, timezone="UTC", dates="dmy", dry_run=dry)
        assert (report.observations, report.added, report.duplicates) == (3 * count - 1, count, 2 * count - 1)
        assert report.threads == 1
    assert [text for _, text in told(ana)] == [text for _, _, text in chat]  # "Yes" was said twice
    assert ana.import_file(folder, timezone="UTC", dates="dmy").added == 0
    assert ana.import_file(folder / "b September.txt", timezone="UTC", dates="dmy").added == 0


def test_two_transcripts_of_a_session_that_hooks_kept_add_nothing(ana: UserMemory, tmp_path: Path) -> None:
    hooked(ana, {"role": "user", "content": "Read notes.txt", "id": "UserPromptSubmit:0a"})
    folder = tmp_path / "sessions"
    folder.mkdir()
    for name in ("a.jsonl", "b.jsonl"):
        transcript(folder / name, SESSION[:1])
    assert ana.import_file(folder).added == 0


# --- sessions of coding agents -------------------------------------------------------------------------


def test_what_a_tool_answered_is_the_tools(ana: UserMemory, tmp_path: Path) -> None:
    ana.import_file(transcript(tmp_path / "s.jsonl"))
    answer = next(row for row in rows(ana, "observation") if "I live" in row["text"])
    assert (answer["actor"], answer["kind"]) == ("tool", "tool")
    assert origins(ana) == ["claude-code:s9"]


def test_what_a_person_says_beside_an_answer_stays_theirs(ana: UserMemory, tmp_path: Path) -> None:
    both = json.loads(json.dumps(SESSION))
    both[2]["message"]["content"].append({"type": "text", "text": "Stop here."})
    path = transcript(tmp_path / "s.jsonl", both)
    ana.import_file(path)
    assert told(ana)[2:4] == [("tool", "tool result: I live in Hamburg."), ("user", "Stop here.")]
    assert ana.import_file(path).added == 0


def test_a_line_that_was_one_message_before_is_known_in_both_its_parts(
    ana: UserMemory, tmp_path: Path
) -> None:
    both = json.loads(json.dumps(SESSION[2:3]))
    both[0]["message"]["content"].append({"type": "text", "text": "Stop here."})
    ana.add(
        [{"role": "user", "content": "Stop here.\ntool result: I live in Hamburg.", "id": "u2"}], thread="s9"
    )
    report = ana.import_file(transcript(tmp_path / "s.jsonl", both))
    assert (report.added, report.unreadable, origins(ana)) == (0, [], ["s9"])


def test_a_session_that_stands_by_its_id_alone_goes_on_there(ana: UserMemory, tmp_path: Path) -> None:
    ana.add([{"role": "user", "content": "Read notes.txt", "id": "u1"}], thread="s9")
    report = ana.import_file(transcript(tmp_path / "s.jsonl"))
    assert (report.added, report.duplicates, origins(ana)) == (3, 1, ["s9"])


def test_a_session_that_hooks_kept_is_not_stored_again(ana: UserMemory, tmp_path: Path) -> None:
    call = {
        "role": "tool",
        "name": "Read",
        "arguments": {"path": "notes.txt"},
        "result": "I live in Hamburg.",
    }
    hooked(ana, {"role": "user", "content": "Read notes.txt", "id": "UserPromptSubmit:0a"})
    hooked(ana, {**call, "id": "PostToolUse:toolu_1"}, after=10)
    hooked(ana, {"role": "assistant", "content": "It is about  Hamburg.", "id": "Stop:0b"}, after=15)
    path = transcript(tmp_path / "s.jsonl")
    report = ana.import_file(path)
    assert (report.observations, report.added, report.duplicates) == (4, 0, 4)
    assert (origins(ana), len(told(ana))) == (["claude-code:s9"], 3)
    assert "4 messages of sessions that hooks kept already: only the rest was added" in report.notes
    assert ana.import_file(path, dry_run=True).added == 0


def test_of_a_session_that_hooks_kept_in_part_the_rest_is_added(ana: UserMemory, tmp_path: Path) -> None:
    hooked(ana, {"role": "user", "content": "Go on", "id": "UserPromptSubmit:0a"}, after=10)
    prompts = [
        {"type": "user", "uuid": f"p{n}", "message": {"role": "user", "content": "Go on"}} for n in range(4)
    ]
    path = transcript(tmp_path / "s.jsonl", prompts)
    report = ana.import_file(path)
    assert (report.added, report.duplicates) == (3, 1)  # each kept message is one, and no more
    again = ana.import_file(path)
    assert (again.added, again.duplicates, len(told(ana))) == (0, 4, 4)


def test_the_same_words_at_another_time_were_not_kept(ana: UserMemory, tmp_path: Path) -> None:
    hooked(ana, {"role": "user", "content": "Read notes.txt", "id": "UserPromptSubmit:0a"}, after=3600)
    assert ana.import_file(transcript(tmp_path / "s.jsonl")).added == 4
