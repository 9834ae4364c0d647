"""Messages that were edited on their platform between two exports: the new words are told, once."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from builders.chats import Clock, mine
from builders.commands import Run

from episodic_agent import Memory
from episodic_agent.engine.files import importing

WORDS = (
    "Maintenance starts at 03:00",
    "Maintenance starts at 04:00, not 03:00",
    "Maintenance starts at 05:30",
)
Message = dict[str, Any]


def slack(folder: Path, text: str, edits: int) -> Path:
    told: Message = {"type": "message", "user": "U1", "ts": "1795525800.000100", "text": text}
    if edits:
        told["edited"] = {"user": "U1", "ts": f"{1795529400 + edits}.000000"}
    other = {"type": "message", "user": "U1", "ts": "1795525900.000100", "text": "Tell the customers please"}
    folder.mkdir(exist_ok=True)
    (folder / "users.json").write_text(json.dumps([{"id": "U1", "name": "lena"}]), encoding="utf-8")
    (folder / "channels.json").write_text(json.dumps([{"id": "C1", "name": "ops"}]), encoding="utf-8")
    (folder / "ops").mkdir(exist_ok=True)
    (folder / "ops" / "2026-11-24.json").write_text(json.dumps([told, other]), encoding="utf-8")
    return folder


def telegram(folder: Path, text: str, edits: int) -> Path:
    told: Message = {
        "id": 1, "type": "message", "date": "2026-11-24T09:50:00", "date_unixtime": "1795513800", "from": "Lena",
        "text": text,
    }  # fmt: skip
    if edits:
        told["edited_unixtime"] = str(1795517400 + edits)
    chat = {"name": "Ops", "type": "private_group", "id": 9, "messages": [told]}
    folder.mkdir(exist_ok=True)
    path = folder / "result.json"
    path.write_text(json.dumps(chat), encoding="utf-8")
    return path


@pytest.mark.parametrize("export", [slack, telegram])
def test_an_edited_message_is_told_in_its_newest_words(run: Run, tmp_path: Path, export: Any) -> None:
    for edits, words in enumerate(WORDS):
        report = run("import", export(tmp_path / "export", words, edits), "--json")
        assert report.code == 0, report.err
        assert (report.json["added"] > 0, report.json["unreadable"]) == (True, [])
        assert ("edited since" in report.err) == bool(edits)
    again = run("import", export(tmp_path / "export", WORDS[2], 2), "--json")
    assert (again.json["added"], again.json["unreadable"]) == (0, [])
    assert "edited since" not in again.err
    found = run("search", "when does the maintenance start?").out
    assert "05:30" in found
    assert "03:00" not in found
    assert "04:00" not in found


def test_other_words_under_an_id_that_nobody_edited_are_refused_as_before(run: Run, tmp_path: Path) -> None:
    run("import", slack(tmp_path / "export", WORDS[0], 0))
    refused = run("import", slack(tmp_path / "export", WORDS[1], 0))
    assert refused.code == 2
    assert "another text" in refused.err
    assert "03:00" in run("search", "when does the maintenance start?").out


def test_what_an_import_ended_before_it_hid_the_next_one_hides(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("import", slack(tmp_path / "export", WORDS[0], 0))
    with monkeypatch.context() as cut_off:
        cut_off.setattr(importing, "hide_versions", lambda *_: 0)
        run("import", slack(tmp_path / "export", WORDS[1], 1))
    assert "at 03:00" in run("search", "when does the maintenance start?").out
    report = run("import", slack(tmp_path / "export", WORDS[1], 1), "--json")
    assert (report.json["added"], "1 message edited since" in report.err) == (0, True)
    assert "at 03:00" not in run("search", "when does the maintenance start?").out


SLEEP = "Sleep at my place, the key is with {}"
WINE = "I bring a bottle of wine from Freyburg"
BELL = "The bell says Hartmann, third floor"


@pytest.fixture
def memory(url: str, clock: Clock) -> Iterator[Memory]:
    with ExitStack() as stack:
        yield stack.enter_context(Memory.open(url, embedder="hashing", clock=clock))


def evening(folder: Path, keeper: str, *later: str) -> Path:
    """Write a chat of one evening in which the first message was edited where Maurer keeps the key."""
    texts = (("Lena", SLEEP.format(keeper)), ("Kat", WINE), ("Lena", BELL))
    messages: list[Message] = [
        {"id": n, "type": "message", "date_unixtime": str(1792513800 + 60 * n), "from": name, "text": text}
        for n, (name, text) in enumerate(texts)
    ]
    messages += [
        {
            "id": 10 + n,
            "type": "message",
            "date_unixtime": str(1796000000 + 60 * n),
            "from": "Lena",
            "text": text,
        }
        for n, text in enumerate(later)
    ]
    if keeper != "Mrs Kunze":
        messages[0]["edited_unixtime"] = "1793523600"
    path = folder / "result.json"
    chat = {"name": "Lena", "type": "personal_chat", "id": 222, "messages": messages}
    path.write_text(json.dumps(chat), encoding="utf-8")
    return path


def evidence(memory: Memory, question: str) -> set[str]:
    return {e.observation.text for hit in mine(memory).search(question).hits for e in hit.evidence}


def words_shown(memory: Memory) -> str:
    user = mine(memory)
    cards = [*user.episodes.list(), *user.episodes.recent()]
    parts = [f"{part.title} {part.micro} {part.meso} {part.macro}" for part in user.sections.list()]
    facts = [card.fact.fact for card in user.facts.list()]
    return " ".join(
        [*(f"{card.title} {card.summary}" for card in cards), *parts, *facts, user.context("the key?").text]
    )


@pytest.mark.parametrize("closed", [True, False])
def test_an_edit_hides_its_own_message_before_and_nothing_around_it(
    memory: Memory, tmp_path: Path, closed: bool
) -> None:
    mine(memory).import_file(evening(tmp_path, "Mrs Kunze"))
    if closed:
        mine(memory).flush()
    mine(memory).sections.compact()
    assert "Kunze" in words_shown(memory)
    report = mine(memory).import_file(evening(tmp_path, "Mr Maurer"))
    assert any("1 message edited since: its new words" in note for note in report.notes)
    for _ in range(2):  # at once, and when all is an episode
        assert WINE in evidence(memory, "which wine from Freyburg?")
        assert BELL in evidence(memory, "what does the bell say?")
        assert SLEEP.format("Mr Maurer") in evidence(memory, "who has the key to sleep at my place?")
        assert "Kunze" not in " ".join(evidence(memory, "is the key with Mrs Kunze?")) + words_shown(memory)
        assert "Maurer" in words_shown(memory)
        mine(memory).flush()
        mine(memory).jobs.run()
    left_out = mine(memory).search("is the key with Mrs Kunze?", suppressed=True).suppressed
    assert [hidden.reason for hidden in left_out] == ["edited"]
    assert memory.doctor() == []


def test_an_edit_of_long_ago_stretches_no_episode(memory: Memory, tmp_path: Path) -> None:
    mine(memory).import_file(evening(tmp_path, "Mrs Kunze", "Are you there?"))
    mine(memory).import_file(evening(tmp_path, "Mr Maurer", "Are you there?", "The cake is ready"))
    mine(memory).import_file(evening(tmp_path, "Mr Maurer", "Are you there?", "The cake is ready", "Come!"))
    cards = mine(memory).episodes.list()
    assert [card.observations for card in cards if "Maurer" in card.title] == [1]
    assert max((card.end_at - card.start_at).days for card in cards) == 0
    assert {c.start_at.year for c in cards} == {2026}


def test_several_edits_are_said_as_several(memory: Memory, tmp_path: Path) -> None:
    def exported(name: str, edits: int) -> Path:
        path = telegram(tmp_path, WORDS[edits], edits)
        chat = json.loads(path.read_text(encoding="utf-8"))
        chat["messages"].append({**chat["messages"][0], "id": 2, "text": f"{name}, {WORDS[edits]}"})
        path.write_text(json.dumps(chat), encoding="utf-8")
        return path

    mine(memory).import_file(exported("Kat", 0))
    notes = mine(memory).import_file(exported("Kat", 1)).notes
    assert "2 messages edited since: their new words are told, those before are hidden" in notes


def test_an_episode_of_which_all_was_edited_is_hidden(memory: Memory, tmp_path: Path) -> None:
    mine(memory).import_file(telegram(tmp_path, WORDS[0], 0))
    mine(memory).flush()
    mine(memory).import_file(telegram(tmp_path, WORDS[1], 1))
    assert [card.title for card in mine(memory).episodes.recent()] == [WORDS[1]]
    assert evidence(memory, "when does the maintenance start?") == {WORDS[1]}
