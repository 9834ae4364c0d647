"""A memory that moved to another space, another name and another store takes its messages in no second time."""

from pathlib import Path
from typing import Any

import pytest

from episodic_agent import Memory
from episodic_agent.errors import NotFound

SENT: list[dict[str, Any]] = [
    {"id": "m1", "content": "My physio is on Mondays."},
    {"id": "m2", "content": "The code of the safe is 4711."},
    {"id": "m3", "content": "And the blinds come on Friday.", "timestamp": "2026-03-02T09:00:00Z"},
]
TIMED = {"content": "The plumber rang.", "timestamp": "2026-03-03T09:00:00Z"}  # named by what it says


def exported(memory: Memory, user: str, path: Path) -> Path:
    path.write_text("".join(f"{line}\n" for line in memory.user(user).export()), encoding="utf-8")
    return path


def opened(where: "str | Path", space: str = "default") -> Memory:
    return Memory.open(where, embedder="hashing", space=space, resume=False)


@pytest.fixture
def moving(tmp_path: Path) -> Path:
    """An export of messages with ids and without, one of them erased."""
    with opened(tmp_path / "first.db", "home") as memory:
        ana = memory.user("ana", new=True)
        ana.add(SENT, thread="app")
        ana.add([SENT[0] | {"content": "On a channel."}], channel="sms")
        ana.add([TIMED, TIMED], thread="app")
        ana.erase(observation="m2")
        return exported(memory, "ana", tmp_path / "ana.jsonl")


def again(user: Any) -> int:
    sent = user.add(SENT, thread="app")
    sent += user.add([SENT[0] | {"content": "On a channel."}], channel="sms")
    sent += user.add([TIMED, TIMED], thread="app")
    return sum(one.added for one in sent)


@pytest.mark.parametrize(
    ("space", "name"), [("home", "ana"), ("work", "ana"), ("home", "anna"), ("work", "anna")]
)
def test_what_is_sent_again_after_a_move_is_known_and_what_was_erased_stays_so(
    url: str, moving: Path, space: str, name: str
) -> None:
    with opened(url, space) as memory:
        user = memory.user(name, new=True)
        assert user.import_file(moving).added == 5
        assert again(user) == 0
        assert user.stats().observations == 5
        assert "4711" not in "".join(user.export())
        assert sum(one.added for one in user.add([TIMED, TIMED, TIMED], thread="app")) == 1  # said once more
        assert again(user) == 0


def test_a_memory_that_moves_on_is_known_by_all_the_names_it_had(
    url: str, moving: Path, tmp_path: Path
) -> None:
    with opened(tmp_path / "second.db", "work") as memory:
        memory.user("anna", new=True).import_file(moving)
        memory.user("anna").add({"id": "m9", "content": "The gate is green."}, thread="app")
        second = exported(memory, "anna", tmp_path / "anna.jsonl")
    with opened(url, "away") as memory:
        user = memory.user("a", new=True)
        user.import_file(second)
        assert again(user) == 0
        assert not user.add({"id": "m9", "content": "The gate is green."}, thread="app")[0].added
        assert user.import_file(second).added == 0
        assert user.import_file(moving).added == 0


def test_nobody_else_is_known_by_the_names_of_who_moved(url: str, moving: Path) -> None:
    with opened(url, "work") as memory:
        memory.user("anna", new=True).import_file(moving)
        assert sum(one.added for one in memory.user("bo", new=True).add(SENT, thread="app")) == 3


def test_what_was_erased_before_the_move_is_said_to_be_erased(url: str, moving: Path) -> None:
    with opened(url, "work") as memory:
        user = memory.user("anna", new=True)
        user.import_file(moving)
        with pytest.raises(NotFound, match="m2 is erased already"):
            user.erase(observation="m2")


def test_a_chat_that_was_imported_before_the_move_adds_nothing_after_it(url: str, tmp_path: Path) -> None:
    chat = tmp_path / "WhatsApp Chat with Bo.txt"
    chat.write_text(
        "".join(
            f"[02.03.26, 09:0{n}:00] {who}: Line {n} of the kitchen\n"
            for n, who in enumerate(["Ana", "Bo"] * 3)
        ),
        encoding="utf-8",
    )
    with opened(tmp_path / "first.db") as memory:
        assert memory.user("ana", new=True).import_file(chat).added == 6
        moved = exported(memory, "ana", tmp_path / "ana.jsonl")
    with opened(url, "work") as memory:
        user = memory.user("ana", new=True)
        user.import_file(moved)
        assert user.import_file(chat, dry_run=True).added == 0
        assert user.import_file(chat).added == 0


def test_a_session_of_a_key_is_the_same_one_after_a_move(url: str, tmp_path: Path) -> None:
    with opened(tmp_path / "first.db") as memory:
        session = memory.user("ana", new=True).sessions.start("the leak", key="leak-1")
        memory.user("ana").add("The tap drips", thread=session.thread)
        memory.user("ana").sessions.end(session.id)
        moved = exported(memory, "ana", tmp_path / "ana.jsonl")
    with opened(url, "work") as memory:
        user = memory.user("anna", new=True)
        user.import_file(moved)
        assert user.sessions.start("the leak", key="leak-1").id == session.id
