"""Whose words an import brings: nobody's become the user's unsaid, and one person's names are all theirs."""

import json
from pathlib import Path
from typing import Any

import pytest
from builders.commands import Run

TALK = [
    ("Nils", "I moved to Ghent in June.", "2026-05-02T10:00:00Z"),
    ("Ana", "Lovely, near the canal?", "2026-05-02T10:01:00Z"),
    ("Nils", "Yes. I am allergic to nuts, remember.", "2026-05-02T10:02:00Z"),
]


def talk(folder: Path, key: str, *, lines: bool = False) -> Path:
    messages = [{key: who, "text": text, "date": at} for who, text, at in TALK]
    path = folder / ("talk.jsonl" if lines else "talk.json")
    written = "".join(json.dumps(m) + "\n" for m in messages) if lines else json.dumps(messages)
    path.write_text(written, encoding="utf-8")
    return path


def spoke(run: Run, *options: object) -> set[str]:
    episodes = run("episodes", "--json", *options).json["episodes"]
    shown = (run("show", one["episode_id"], "--json", *options).json for one in episodes)
    return {message["actor"] for episode in shown for message in episode["messages"]}


KEYS = [
    "autor",
    "Absender",
    "expéditeur",
    "remitente",
    "mittente",
    "remetente",
    "afzender",
    "отправитель",
    "发送者",
]


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("lines", [False, True])
def test_a_key_that_means_a_speaker_in_another_language_is_not_passed_over(
    run: Run, tmp_path: Path, key: str, lines: bool
) -> None:
    path = talk(tmp_path, key, lines=lines)
    refused = run("import", path, "--user", "ana")
    assert refused.code == 2
    assert f"if {key!r} is it, pass --speaker {key}; if all are the user's own words" in refused.err
    brought = run("import", path, "--user", "ana", "--speaker", key, "--json").json
    assert brought["notes"][1:3] == [
        "ana's own words: 1 message by Ana (1)",
        "others' words: Nils (2); if ana is among them, pass --me NAME",
    ]
    assert spoke(run, "--user", "ana") == {"Nils", "Ana"}


@pytest.mark.parametrize("lines", [False, True])
def test_messages_that_name_nobody_are_said_to_be_taken_for_the_users(
    run: Run, tmp_path: Path, lines: bool
) -> None:
    path = talk(tmp_path, "q7", lines=lines)
    brought = run("import", path, "--user", "ana", "--json").json
    (note,) = brought["notes"][1:]
    assert note == (
        f"{path.name}: 3 messages name no speaker, taken for ana's own words; if 'q7' (Nils, Ana) says who "
        "spoke, forget that thread and pass --speaker q7"
    )
    assert note in run("import", path, "--user", "ana").err
    settled = run("import", path, "--user", "ana", "--speaker", "none", "--json").json
    assert settled["notes"][1] == f"{path.name}: 3 messages name no speaker, taken for ana's own words"


def test_a_file_left_out_of_a_folder_for_its_speakers_is_said_to_be(run: Run, tmp_path: Path) -> None:
    talk(tmp_path, "autor")
    (tmp_path / "chat.txt").write_text("[2026-03-01 09:00] Ana: I moved\n", encoding="utf-8")
    brought = run("import", tmp_path, "--user", "ana")
    assert "left out: talk.json holds messages of which nobody can be told as the speaker" in brought.err
    assert "pass --speaker autor" in brought.err


def test_a_key_that_no_message_has_is_said(run: Run, tmp_path: Path) -> None:
    path = talk(tmp_path, "q7")
    notes = run("import", path, "--user", "ana", "--speaker", "q8", "--json").json["notes"]
    assert notes[-1] == "no message has the key 'q8', as --speaker says"


def test_a_journal_that_is_talk_is_said_to_be_taken_for_the_users(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "kitchen.md"
    path.write_text(
        "# Kitchen\n\n## 2026-05-02\n\n**Nils:** I moved to Ghent.\n\n**Ana:** Lovely!\n\n**Nils:** In June.\n"
        "\n## 2026-05-03\n\nMood: good\nSleep: seven hours\n",
        encoding="utf-8",
    )
    (note,) = [n for n in run("import", path, "--json").json["notes"] if "spoke" in n]
    assert note.startswith("kitchen.md: its lines begin as if several spoke (Nils, Ana)")


def slack(folder: Path) -> None:
    (folder / "general").mkdir(parents=True)
    users = [
        {"id": "U1", "name": "jkoenig", "profile": {"display_name": "jk", "real_name": "Jonas König"}},
        {"id": "U2", "name": "pnair", "profile": {"display_name": "Priya"}},
    ]
    day: list[dict[str, Any]] = [
        {"type": "message", "user": "U1", "ts": "1791819000.000100", "text": "I send the draft on Friday."},
        {"type": "message", "user": "U2", "ts": "1791819060.000100", "text": "Great."},
    ]
    for name, value in (
        ("users", users),
        ("channels", [{"id": "C1", "name": "general"}]),
        ("general/2026-10-12", day),
    ):
        (folder / f"{name}.json").write_text(json.dumps(value), encoding="utf-8")


def exports(folder: Path) -> Path:
    slack(folder / "slack")
    (folder / "WhatsApp Chat with Mara.txt").write_text(
        "03/04/2024, 9:15 am - Mara: Shall we take the course?\n"
        "04/04/2024, 9:20 am - Jonas K. 🎻: Yes! I will book it.\n"
        "14/04/2024, 9:20 am - Mara: Booked?\n",
        encoding="utf-8",
    )
    (folder / "note.eml").write_text(
        "From: J. Koenig <jonas.koenig@mail.example>\nTo: m@x.example\nDate: Thu, 01 Oct 2026 12:06:00 +0200\n"
        "Message-ID: <m6@x>\nSubject: Keys\n\nI have the spare keys.\n",
        encoding="utf-8",
    )
    return folder


def test_an_import_says_whom_it_took_for_the_user_and_whom_not(run: Run, tmp_path: Path) -> None:
    notes = run("import", exports(tmp_path), "--user", "jonas", "--dry-run", "--json").json["notes"]
    assert "jonas's own words: no message" in notes
    (others,) = [note for note in notes if note.startswith("others' words")]
    assert "Jonas K. 🎻 (1)" in others
    assert others.endswith("pass --me 'Jonas König' --me 'Jonas K. 🎻'")


def test_one_person_has_all_their_names_over_a_folder_of_exports(run: Run, tmp_path: Path) -> None:
    names = ("--me", "Jonas K.", "--me", "jonas.koenig@mail.example", "--me", "jonas könig", "--me", "Bo")
    notes = run("import", exports(tmp_path), "--user", "jonas", *names, "--json").json["notes"]
    (own,) = [note for note in notes if note.startswith("jonas's own words")]
    assert own.startswith("jonas's own words: 3 messages by ")
    assert {"Jonas König (1)", "Jonas K. 🎻 (1)", "J. Koenig (1)"} == set(
        own.partition(" by ")[2].split(", ")
    )
    assert "others' words: Mara (2), Priya (1); if jonas is among them, pass --me NAME" in notes
    assert "nobody is called 'Bo' here, as --me says" in notes
    again = run("import", tmp_path, "--user", "jonas", *names, "--json").json
    assert (again["added"], again["duplicates"]) == (0, 6)
    run("flush", "--user", "jonas")
    assert spoke(run, "--user", "jonas") == {"user", "Mara", "Priya"}


def test_a_chat_of_roles_says_nothing_of_speakers(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "chat.json"
    path.write_text(json.dumps([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yes?"}]))
    assert not [note for note in run("import", path, "--json").json["notes"] if "words" in note]
