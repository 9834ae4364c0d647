"""Forms that people's exports have beside the samples: pages with tables, chats under other keys, journals."""

import json
from pathlib import Path
from typing import Any

import pytest
from builders.commands import Run
from builders.importing import read, zipped

from episodic_agent.engine.files.formats import mail

TABLE = (
    "<table><tr><th>Item</th><th>Count</th><th></th><th>Price</th></tr>\n"
    "<tr><td>Base</td><td>2</td><td>&nbsp;</td><td>48,00 EUR</td></tr></table><p>Thanks | bye</p>"
)
HEAD = (
    "From: Shop <s@x.example>\nTo: k@x.example\nDate: Thu, 01 Oct 2026 12:06:00 +0200\nMessage-ID: <m6@x>\n"
)


def bill(folder: Path) -> Path:
    path = folder / "bill.eml"
    path.write_text(
        f"{HEAD}Subject: Bill\nContent-Type: text/html; charset=utf-8\n\n{TABLE}", encoding="utf-8"
    )
    return path


def document(folder: Path, value: object, name: str = "chat.json") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def rows(path: Path) -> list[tuple[str, str, str]]:
    return [(who, at, text) for who, at, _, _, text in read(path)["messages"]]


def test_the_cells_of_a_table_in_a_mail_stand_apart(tmp_path: Path) -> None:
    ((_, _, text),) = rows(bill(tmp_path))
    assert text == "Item | Count | Price\nBase | 2 | 48,00 EUR\nThanks | bye"


def test_a_mail_whose_cells_were_read_as_one_word_stays_so(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as before:
        unmarked = mail.without_marks
        before.setattr(mail, "without_marks", lambda page: unmarked(page).replace(" | ", ""))
        assert run("import", bill(tmp_path), "--json").json["added"] == 1
    again = run("import", bill(tmp_path), "--json").json
    assert (again["added"], again["unreadable"]) == (0, [])


def test_facebook_and_instagram_name_speakers_and_write_letters_their_own_way(tmp_path: Path) -> None:
    chat: dict[str, Any] = {
        "participants": [{"name": "Tom"}, {"name": "J\u00c3\u00bcrgen"}],
        "messages": [
            {"sender_name": "J\u00c3\u00bcrgen", "timestamp_ms": 1791819060000, "content": "sch\u00c3\u00b6n \u00e2\u0098\u0080"},
            {"sender_name": "Tom", "timestamp_ms": 1791819000000, "content": "I live in Leipzig now"},
            {"sender_name": "Tom", "timestamp_ms": 1791818000000, "photos": [{"uri": "inbox/tom/photos/sea.jpg"}]},
            {"sender_name": "Tom", "timestamp_ms": 1791817000000, "call_duration": 60},
        ],
        "title": "J\u00c3\u00bcrgen", "thread_path": "inbox/jurgen_12",
    }  # fmt: skip
    path = document(tmp_path, chat, "message_1.json")
    seen = read(path)
    assert seen["formats"] == ["Facebook or Instagram messages"]
    assert seen["messages"] == [
        ["Tom", "2026-10-12T15:13:20+00:00", "meta-jurgen_12", "Jürgen", "[photo: sea.jpg]"],
        ["Tom", "2026-10-12T15:30:00+00:00", "meta-jurgen_12", "Jürgen", "I live in Leipzig now"],
        ["Jürgen", "2026-10-12T15:31:00+00:00", "meta-jurgen_12", "Jürgen", "schön ☀"],
    ]
    assert seen["notes"] == ["1 notice left out"]


def test_google_chat_names_who_made_a_message(tmp_path: Path) -> None:
    made = {"name": "Tom", "email": "t@x.example", "user_type": "Human"}
    chat = {
        "messages": [
            {"creator": made, "created_date": "Monday, October 12, 2026 at 3:30:00\u202fPM UTC", "text": "I moved",
             "topic_id": "a", "message_id": "AAQ/a/a"},
            {"creator": made, "created_date": "Montag, 12. Oktober 2026 um 15:31:00 UTC", "text": "to Leipzig",
             "topic_id": "a", "message_id": "AAQ/a/b", "attached_files": [{"original_name": "key.pdf"}]},
        ]
    }  # fmt: skip
    assert [row[:3] + row[4:] for row in read(document(tmp_path, chat))["messages"]] == [
        ["Tom", "2026-10-12T15:30:00+00:00", "google-chat-AAQ", "I moved"],
        ["Tom", "2026-10-12T15:31:00+00:00", "google-chat-AAQ", "to Leipzig\n[file: key.pdf]"],
    ]


def test_a_day_of_a_slack_export_alone_has_its_speakers(tmp_path: Path) -> None:
    profile = {"display_name": "tom", "real_name": "Tom Berg"}
    day = [
        {"type": "message", "user": "U1", "ts": "1791819000.000100", "user_profile": profile,
         "text": "salt &amp; <https://a.example|pepper>"},
        {"type": "message", "user": "U2", "ts": "1791819060.000100", "text": "thanks <@U1>"},
    ]  # fmt: skip
    path = document(tmp_path / "kitchen", day, "2026-10-12.json")
    assert [row[0:1] + row[2:] for row in read(path)["messages"]] == [
        ["Tom Berg", "slack-kitchen", "#kitchen", "salt & pepper (https://a.example)"],
        ["U2", "slack-kitchen", "#kitchen", "thanks @Tom Berg"],
    ]


@pytest.mark.parametrize("key", ["from_name", "senderName", "created_by_user", "creator"])
@pytest.mark.parametrize("held", [True, False])
def test_messages_of_nobody_known_are_refused_with_their_keys(
    run: Run, tmp_path: Path, key: str, held: bool
) -> None:
    messages = [{key: "Tom", "text": "I live in Leipzig now", "time": "2026-10-12T15:30:00Z"}]
    refused = run("import", document(tmp_path, {"messages": messages} if held else messages))
    assert refused.code == 2
    assert "nobody can be told as the speaker" in refused.err
    assert f"if {key!r} is it" in refused.err
    assert run("facts").out.count("Leipzig") == 0


def test_notes_without_any_name_are_the_users(tmp_path: Path) -> None:
    path = document(tmp_path, [{"text": "milk", "date": "2026-10-12"}, {"text": "bread", "tags": ["shop"]}])
    assert [row[0] for row in rows(path)] == ["user", "user"]


LINES = (
    "9/29/26, 7:05 PM - {first}: Hi Marek, is the Canyon Grail still available?",
    "9/29/26, 7:20 PM - {second}: yes. size M, 1250 euro",
    "9/29/26, 7:20 PM - {second}: ok",
    "9/29/26, 7:20 PM - {second}: ok",
    "9/29/26, 7:30 PM - Katrin: would you take 1000?",
    "9/29/26, 7:31 PM - {second}: 1100",
)
LATER = "10/4/26, 9:00 AM - {second}: how does it ride?"


def chat(folder: Path, first: str, second: str, *later: str) -> Path:
    path = folder / f"WhatsApp Chat with {second}.txt"
    lines = (line.format(first=first, second=second) for line in (*LINES, *later))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("begins", ["Katrin", "the contact"])
def test_a_contact_that_was_renamed_doubles_nothing(run: Run, tmp_path: Path, begins: str) -> None:
    def exported(name: str, *later: str) -> Path:
        return chat(tmp_path, *(("Katrin", name) if begins == "Katrin" else (name, name)), *later)

    def added(path: Path) -> int:
        return int(run("import", path, "--json").json["added"])

    assert added(exported("Marek Bikes")) == 6
    dry = run("import", exported("Marek Nowak"), "--dry-run", "--json").json
    assert (dry["added"], dry["duplicates"]) == (0, 6)
    assert added(exported("Marek Nowak")) == 0
    assert (
        "'Marek Nowak' was 'Marek Bikes' in an earlier export" in run("import", exported("Marek Nowak")).err
    )
    assert added(exported("Marek Nowak", LATER)) == 1
    assert added(exported("Marek Nowak", LATER)) == 0
    assert added(exported("Marek Bikes")) == 0
    assert run("threads", "--json").out.count("thread_id") == 1


def test_another_contact_that_says_a_thing_in_the_same_minute_is_another(run: Run, tmp_path: Path) -> None:
    for name in ("Bo", "Cleo"):
        path = tmp_path / f"WhatsApp Chat with {name}.txt"
        lines = (f"1/1/26, 12:00 AM - {name}: Happy new year!", f"1/1/26, 8:00 AM - {name}: {name} is up")
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        assert run("import", path, "--json").json["added"] == 2


JOURNAL = """# Diary 2026

## Sonntag, 20. September 2026

Kitchen ordered. Jonas wanted another one first.

## October 3, 2026: the bike

Marek was kind: his dog is called Pixel.

- saddle up

## 2026-10-26

21:30 New kitchen! No island, but never mind. The first meal: soup.
"""


def test_a_journal_is_what_the_user_wrote_day_by_day(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "Diary.md"
    path.write_text(JOURNAL, encoding="utf-8")
    seen = read(path)
    assert (seen["formats"], seen["unreadable"]) == (["journal"], [])
    assert {tuple(row[0:1] + row[2:4]) for row in seen["messages"]} == {("user", "journal-Diary", "Diary")}
    assert [(row[1], row[4]) for row in seen["messages"]] == [
        ("2026-09-20T00:00:00+00:00", "Kitchen ordered. Jonas wanted another one first."),
        ("2026-10-03T00:00:00+00:00", "the bike\nMarek was kind: his dog is called Pixel.\n\n- saddle up"),
        ("2026-10-26T21:30:00+00:00", "21:30 New kitchen! No island, but never mind. The first meal: soup."),
    ]
    assert run("import", path, "--json").json["added"] == 3
    path.write_text(JOURNAL + "Jonas cooked.\n\n## 2026-11-05\n\nMy talk.\n", encoding="utf-8")
    grown = run("import", path, "--json")
    assert (grown.json["added"], grown.json["unreadable"]) == (2, [])
    assert "1 message edited since: its new words are told" in grown.err
    assert run("import", path, "--json").json["added"] == 0


def test_a_sentence_before_a_colon_is_nobodys_name(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "notes.md"
    path.write_text("# Notes\n\n21:30 New kitchen! No island. The first meal: soup.\n", encoding="utf-8")
    refused = run("import", path)
    assert refused.code == 2
    assert "begins '# Notes', in no format this can read" in refused.err


def test_notes_and_tables_in_a_folder_are_counted(tmp_path: Path) -> None:
    (tmp_path / "chat.txt").write_text("[2026-03-01 09:00] Ana: I moved\n", encoding="utf-8")
    (tmp_path / "CHANGELOG.md").write_text(
        "# Changelog\n\n## 1.2.0 - 2026-10-03\n\nMore.\n", encoding="utf-8"
    )
    (tmp_path / "notes.csv").write_text("id,created,note\n1,2026-09-22,gas 9.120\n", encoding="utf-8")
    seen = read(tmp_path)
    assert (len(seen["messages"]), seen["notes"]) == (
        1,
        ["2 files without talk (CHANGELOG.md, notes.csv) left out"],
    )


def test_a_script_is_told_what_was_left_out(run: Run, tmp_path: Path) -> None:
    (tmp_path / "chat.txt").write_text("[2026-03-01 09:00] Ana: I moved\n", encoding="utf-8")
    (tmp_path / "notes.csv").write_text('id,note\n1,"gas, 9.120"\n', encoding="utf-8")
    assert run("import", tmp_path, "--json").json["notes"] == [
        "transcript: 1 conversation, 1 message",
        "default's own words: no message",
        "others' words: Ana (1); if default is among them, pass --me NAME",
        "1 file without talk (notes.csv) left out",
    ]


def test_a_table_is_refused_with_its_remedy_whatever_its_cells_hold(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "notes.csv"
    path.write_text('id,created,note\n1,2026-09-22,"Strom 48.213, Gas 9.120"\n', encoding="utf-8")
    assert "is a table ('id,created,note'); give each row as a line of JSON" in run("import", path).err


def test_an_archive_without_a_chat_is_called_so(run: Run, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "notes.csv").write_text("id,note,tag\n1,gas,home\n", encoding="utf-8")
    assert (
        "is an archive in which no file is a chat"
        in run("import", zipped(tmp_path / "in", tmp_path / "a.zip")).err
    )
