"""Exports of other programs: every sample reads as its table says, from the reader to the command line."""

import gzip
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile
from zoneinfo import ZoneInfo

import pytest
from builders.commands import Run
from builders.importing import SAMPLES, expected, read, zipped

from episodic_agent import Memory
from episodic_agent.engine.files.dates import DateOrder
from episodic_agent.engine.files.options import ReadingOptions
from episodic_agent.errors import InvalidInput, TooLarge

TABLE = expected()
WHOLE = [name for name in TABLE if not TABLE[name]["unreadable"]]


@pytest.mark.parametrize("name", TABLE)
def test_a_sample_reads_as_its_table_says(name: str) -> None:
    assert read(SAMPLES / name) == TABLE[name]


@pytest.mark.parametrize("name", WHOLE)
def test_a_sample_is_imported_once_whatever_it_is_packed_in(run: Run, tmp_path: Path, name: str) -> None:
    sample, messages = SAMPLES / name, TABLE[name]["messages"]
    first = run("import", sample, "--json")
    assert (first.json["observations"], first.json["added"]) == (len(messages), len(messages))
    assert first.json["format"]
    for label in TABLE[name]["formats"]:
        assert f"{label}: " in first.err
    for note in TABLE[name]["notes"]:
        assert note in first.err
    again = run("import", sample, "--json").json
    assert (again["added"], again["duplicates"]) == (0, len(messages))
    if sample.is_dir():
        packed = zipped(sample, tmp_path / "WhatsApp Chat - all.zip", "My export/")
        assert run("import", packed, "--json").json["added"] == 0
    elif "WhatsApp" not in name:  # whose files' names are the chats' titles
        packed = tmp_path / "other name.gz"
        packed.write_bytes(gzip.compress(sample.read_bytes()))
        assert run("import", packed, "--json").json["added"] == 0


def test_the_names_of_chats_are_the_titles_of_threads(run: Run) -> None:
    run("import", SAMPLES / "chatgpt", SAMPLES / "slack", SAMPLES / "discord", SAMPLES / "telegram", "--json")
    listed = run("threads").out
    for name in ("Balcony tomatoes", "Umzug nach Köln", " #general ", "Garden #general", "Bergfreunde"):
        assert name in listed


@pytest.mark.parametrize("name", ["slack", "telegram", "chatgpt"])
def test_instants_keep_the_offset_of_the_zone_given_and_are_known_again(memory: Memory, name: str) -> None:
    then, now = memory.user("then"), memory.user("now")
    path, zone = SAMPLES / name, ZoneInfo("Asia/Kolkata")
    added = now.import_file(path, timezone=zone).added
    cards = now.episodes.list()
    offsets = {m.utc_offset for card in cards for m in now.episodes.messages(card.episode_id)}
    assert offsets == {19800}
    assert then.import_file(path).added == added  # as before, where no offset was kept
    assert then.import_file(path, timezone=zone).added == 0


def slack_export(folder: Path, messages: list[dict[str, str]]) -> Path:
    """Write a workspace whose #general holds messages, each with the time it is told by."""
    (folder / "general").mkdir(parents=True)
    (folder / "users.json").write_text("[]", encoding="utf-8")
    (folder / "channels.json").write_text('[{"id": "C1", "name": "general"}]', encoding="utf-8")
    day = [{"type": "message", "user": "U1", **message} for message in messages]
    (folder / "general" / "2024-03-05.json").write_text(json.dumps(day), encoding="utf-8")
    return folder


def titles(memory: Memory) -> list[str]:
    return sorted(thread.title or "" for thread in memory.user("ana").threads.list())


def test_threads_of_a_channel_are_told_apart_by_what_began_them(memory: Memory, tmp_path: Path) -> None:
    messages = [  # neither of the first two says that it was answered, and the last one's root is not here
        {"ts": "1709539260.1", "text": "Who renews the certificate?"},
        {"ts": "1709539270.1", "text": "Lunch at twelve?"},
        {"ts": "1709539280.1", "text": "I do", "thread_ts": "1709539260.1"},
        {"ts": "1709539290.1", "text": "Yes please", "thread_ts": "1709539270.1"},
        {"ts": "1709539300.1", "text": "Still broken", "thread_ts": "1709000000.1"},
    ]
    memory.user("ana").import_file(slack_export(tmp_path / "export", messages))
    assert titles(memory) == [
        "#general",
        "#general: Lunch at twelve?",
        "#general: Still broken",
        "#general: Who renews the certificate?",
    ]


def test_conversations_of_a_crowded_channel_are_told_apart_by_what_began_them(
    memory: Memory, tmp_path: Path
) -> None:
    talk = [(f"guest{n}", f"hello everybody, guest{n} here") for n in range(8)]
    talk += [("anna", "my wifi card is gone after the kernel update"), ("carl", "how to mount a usb stick?")]
    messages = [{"ts": f"17095392{n:02}.1", "user": who, "text": text} for n, (who, text) in enumerate(talk)]
    memory.user("ana").import_file(slack_export(tmp_path / "export", messages))
    apart = titles(memory)
    assert "#general: my wifi card is gone after the kernel update" in apart
    assert len(set(apart)) == len(apart) >= 3


def test_what_was_said_elsewhere_is_found_with_its_speaker(run: Run) -> None:
    run("import", SAMPLES / "slack", SAMPLES / "whatsapp" / "WhatsApp-Chat mit Ana.txt")
    hits = run("search", "Build kaputt", "--json").json["hits"]
    spoken = {(o["actor"], o["text"]) for hit in hits for o in hit["observations"]}
    assert ("Jürgen Bauer", "Der Build ist kaputt 🔥") in spoken


# --- what is recognised, and what is not -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "seen"),
    [
        ("unknown-object.json", "is a JSON object with the keys apples, colour, weights"),
        ("unknown-list.json", "is a JSON list of objects with the keys price, sku"),
        ("page.html", "is a page in HTML"),
    ],
)
def test_an_unknown_shape_is_refused_with_what_was_seen(run: Run, name: str, seen: str) -> None:
    assert seen in run("import", SAMPLES / "wrong" / name).error


def test_a_folder_without_a_chat_is_refused_with_what_it_holds(run: Run, tmp_path: Path) -> None:
    assert "without text files" in run("import", tmp_path).error
    (tmp_path / "stock.json").write_text('{"apples": 3}', encoding="utf-8")
    assert "no file is a chat (it holds stock.json)" in run("import", tmp_path).error
    assert "no such file" in run("import", tmp_path / "none").error
    assert "the path is empty" in run("import", "").error


def test_files_beside_chats_are_counted_and_no_error(run: Run) -> None:
    outcome = run("import", SAMPLES / "chatgpt")
    assert outcome.code == 0
    assert "2 files without talk" in outcome.err
    assert "ChatGPT export: 3 conversations, 10 messages" in outcome.err


def test_what_is_wrong_is_named_by_its_place_and_costs_only_itself(run: Run) -> None:
    outcome = run("import", SAMPLES / "wrong" / "slack", "--json")
    assert outcome.code == 2
    assert outcome.object["added"] == 7 - 1
    (line,) = outcome.object["unreadable"]
    assert line.startswith(
        "general/2024-03-05.json:17: in '#general', message yesterday: cannot read the time"
    )


# --- archives --------------------------------------------------------------------------------------------


def test_an_encrypted_or_damaged_archive_is_refused(run: Run, tmp_path: Path) -> None:
    path = zipped(SAMPLES / "chatgpt", tmp_path / "export.zip")
    content = bytearray(path.read_bytes())
    at = content.index(b"PK\x01\x02")
    while at >= 0:  # the flag of every entry of the archive's list
        content[at + 8] |= 1
        at = content.find(b"PK\x01\x02", at + 4)
    (tmp_path / "locked.zip").write_bytes(content)
    assert "is encrypted" in run("import", tmp_path / "locked.zip").error
    (tmp_path / "half.zip").write_bytes(path.read_bytes()[: len(content) // 2])
    half = run("import", tmp_path / "half.zip")
    assert half.code == 2
    assert "half.zip is a damaged zip archive; download or copy it again" in half.error


def test_an_archive_that_unpacks_to_far_more_is_refused(tmp_path: Path) -> None:
    bomb = tmp_path / "bomb.zip"
    with ZipFile(bomb, "w", ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", "[" + " " * 40_000_000 + "]")
    with pytest.raises(TooLarge, match="EPISODIC_UNPACKED_RATIO"):
        read(bomb)


def test_archives_in_a_folder_are_opened(run: Run, tmp_path: Path) -> None:
    zipped(SAMPLES / "chatgpt", tmp_path / "a.zip")
    zipped(SAMPLES / "claude", tmp_path / "b.zip")
    report = run("import", tmp_path, "--json").json
    assert report["format"] == "chatgpt, claude"
    assert report["added"] == 10 + 5


def test_a_damaged_archive_in_a_folder_is_counted_and_the_rest_is_imported(run: Run, tmp_path: Path) -> None:
    whole = zipped(SAMPLES / "chatgpt", tmp_path / "a.zip")
    (tmp_path / "b.zip").write_bytes(whole.read_bytes()[:300])
    report = run("import", tmp_path)
    assert report.code == 2
    assert "unreadable: b.zip is a damaged zip archive" in report.err
    assert "10 added" in report.out


# --- dates and zones -------------------------------------------------------------------------------------


def times(path: Path, **options: Any) -> list[str]:
    return [row[1] for row in read(path, ReadingOptions(**options))["messages"]]


@pytest.mark.parametrize(
    ("dates", "first"),
    [
        (["03/04/24", "04/04/24", "05/04/24"], "2024-04-03"),  # days on end, and not months
        (["03/04/24", "03/05/24", "03/06/24"], "2024-03-04"),
        (["11/02/24", "12/02/24", "01/03/24"], "2024-02-11"),  # else time would run back
        (["03/14/24", "03/15/24"], "2024-03-14"),
        (["24/3/9", "24/3/10", "24/3/11"], "2024-03-09"),
        (["9.3.24", "10.3.24"], "2024-03-09"),
        (["12/31/23", "1/1/24"], "2023-12-31"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("form", ["{}, 9:15 am - Ana: tea", "[{}, 9:15 AM] Ana: tea"])
def test_the_order_of_day_and_month_is_found_from_all_dates(
    tmp_path: Path, form: str, dates: list[str], first: str
) -> None:
    path = tmp_path / "chat.txt"
    path.write_text("\n".join(form.format(date) for date in dates), encoding="utf-8")
    assert times(path)[0].startswith(first)


def test_what_the_dates_leave_open_is_said_and_can_be_given(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "chat.txt"
    path.write_text("03/04/2024, 9:15 - Ana: tea\n", encoding="utf-8")
    said = run("import", path, "--dry-run").err
    assert "dates read as month/day/year, which the file does not settle" in said
    assert "--dates dmy" in said
    assert "2024-04-03" in run("import", path, "--dry-run", "--dates", "dmy").err
    assert times(path, dates=DateOrder.DMY) == ["2024-04-03T09:15:00+00:00"]


def test_times_without_a_zone_are_in_the_zone_given(run: Run, tmp_path: Path) -> None:
    path = SAMPLES / "whatsapp" / "zh.txt"
    assert times(path, timezone=ZoneInfo("Asia/Shanghai"))[0] == "2024-03-12T13:15:00+00:00"
    assert run("import", path, "--timezone", "Asia/Shanghai").code == 0
    assert "2024-03-12T13:15:00" in run("threads", "--json").out
    assert "no time zone 'Middle/Earth'" in run("import", path, "--timezone", "Middle/Earth").error


def test_what_is_dated_ahead_is_told_and_what_lies_decades_ahead_is_a_reported_record(
    run: Run, tmp_path: Path
) -> None:
    path, year = tmp_path / "chat.jsonl", datetime.now(UTC).year
    times = {"Tea is on": "2024-03-01", "Out in spring": f"{year + 2}-03-01", "Out of time": "2199-05-01"}
    lines = ({"role": "usr", "content": text, "timestamp": at} for text, at in times.items())
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    for more in ([], ["--dry-run"]):
        outcome = run("import", path, *more, "--db", tmp_path / "memory.db")
        assert outcome.code == 2
        assert f"1 message dated ahead of now, up to {year + 2}-03-01: kept so" in outcome.err
        assert "unreadable: chat.jsonl: usr: Out of time: the time 2199-05-01T" in outcome.err
        assert "2 messages read" in outcome.out
        assert "1 unreadable" in outcome.out


# --- dry runs --------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("no_file_yet")
def test_a_dry_run_shows_what_would_come_and_stores_nothing(run: Run, database: Path) -> None:
    outcome = run("import", SAMPLES / "chatgpt", "--dry-run")
    assert outcome.code == 0
    assert not database.exists()
    assert "Balcony tomatoes: 6 messages, 2024-05-01, by user, assistant, tool" in outcome.err
    assert "10 would be added to 3 threads" in outcome.out
    run("import", SAMPLES / "whatsapp" / "us.txt")
    report = run("import", SAMPLES / "chatgpt", "--dry-run", "--json").json
    assert (report["observations"], report["added"], report["duplicates"]) == (10, 10, 0)
    assert run("import", SAMPLES / "chatgpt", "--json").json["added"] == 10
    report = run("import", SAMPLES / "chatgpt", "--dry-run", "--json").json
    assert (report["added"], report["duplicates"]) == (0, 10)


def test_a_dry_run_counts_what_an_own_export_would_bring(memory: Memory, tmp_path: Path) -> None:
    mine = memory.user("ana", new=True)
    mine.import_file(SAMPLES / "chatgpt")
    path = tmp_path / "all.jsonl"
    path.write_text("".join(f"{line}\n" for line in mine.export()), encoding="utf-8")
    other = memory.user("bo", new=True)
    assert other.import_file(path, dry_run=True).added == 10
    assert other.stats().observations == 0
    assert mine.import_file(path, dry_run=True).added == 0


# --- size ------------------------------------------------------------------------------------------------


def test_a_later_export_of_a_chat_adds_what_is_new(memory: Memory, tmp_path: Path) -> None:
    mine = memory.user("ana", new=True)
    conversations = json.loads((SAMPLES / "chatgpt" / "conversations.json").read_text(encoding="utf-8"))
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps(conversations[1:]), encoding="utf-8")
    assert mine.import_file(path).added == 4
    path.write_text(json.dumps(conversations), encoding="utf-8")
    report = mine.import_file(path)
    assert (report.added, report.duplicates, report.format) == (6, 4, "chatgpt")
    assert report.threads == 3


@pytest.mark.slow
def test_a_large_export_is_streamed(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    at = int(datetime(2024, 1, 1, tzinfo=UTC).timestamp())
    with path.open("w", encoding="utf-8") as file:
        file.write('{"name": "All", "type": "private_group", "id": 1, "messages": [')
        for n in range(20_000):
            message = {
                "id": n,
                "type": "message",
                "date_unixtime": str(at + n),
                "from": "Ana",
                "from_id": "u",
                "text": "tea " * 20,
            }
            file.write(("," if n else "") + json.dumps(message))
        file.write("]}")
    assert len(times(path)) == 20_000


@pytest.mark.parametrize("zone", [5, "Nowhere/Land"])
def test_a_zone_or_an_order_that_is_none_is_refused(memory: Memory, zone: Any) -> None:
    mine = memory.user("ana", new=True)
    with pytest.raises(InvalidInput, match="zone"):
        mine.import_file(SAMPLES / "telegram", timezone=zone)
    with pytest.raises(InvalidInput, match="no order of dates 'ddd'"):
        mine.import_file(SAMPLES / "telegram", dates="ddd")


# --- dates of a chat with dashes, notices, mail without a date, polls --------------------------------------

ENCRYPTED = "Berichten en gesprekken worden end-to-end versleuteld."


def chat(tmp_path: Path, *lines: str) -> dict[str, Any]:
    path = tmp_path / "chat.txt"
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return read(path)


@pytest.mark.parametrize("date", ["01-05-2024", "01-05-24", "01.05.2024", "1-5-2024", "2024-05-01"])
@pytest.mark.parametrize("form", ["{} 09:15 - {}", "{}, 09:15 - {}"])
def test_a_whatsapp_chat_is_known_by_dates_of_any_form(tmp_path: Path, date: str, form: str) -> None:
    said = [form.format(date, text) for text in (ENCRYPTED, "Joost: Om tien uur", "Anke: <Media weggelaten>")]
    seen = chat(tmp_path, *said, form.format(date, "Anke: Dit bericht is verwijderd"))
    assert seen["formats"] == ["WhatsApp chat"]
    rows = [(row[0], row[1], row[4]) for row in seen["messages"]]
    at = "2024-05-01T09:15:00+00:00"
    assert rows == [("Joost", at, "Om tien uur"), ("Anke", at, "[media]")]
    assert "2 notices left out" in seen["notes"]


def test_a_log_with_iso_dates_is_no_whatsapp_chat(tmp_path: Path) -> None:
    assert chat(tmp_path, "2024-05-01 09:15 - Joost: hi")["formats"] == ["transcript"]


def test_dates_that_contradict_each_other_are_said_and_named(tmp_path: Path) -> None:
    dates = ("13/04/2024", "14/04/2024", "04/25/2024")
    seen = chat(tmp_path, *(f"{date}, 09:15 - Ada: hello" for date in dates))
    assert len(seen["messages"]) == 2
    assert seen["notes"][0].startswith(
        "the dates contradict each other: read as day/month/year, as which 04/25"
    )
    assert seen["unreadable"][0].startswith("chat.txt:3: 04/25/2024 is no date as day/month/year")


def mail(*heads: str) -> str:
    return "\n".join([*heads, "To: bo@example.org", "Subject: Tea", "", "At noon.", "", ""])


def mailbox(path: Path, *mails: str) -> dict[str, Any]:
    path.write_text("".join(mails), encoding="utf-8")
    return read(path)


def test_a_mail_without_a_date_is_of_its_mailbox_or_of_the_one_before_it(tmp_path: Path) -> None:
    seen = mailbox(
        tmp_path / "a.mbox",
        mail("From - Wed Jan 10 08:00:00 2024", "From: Ana <ana@example.org>", "Date: soon"),
        mail("From x 2024", "Received: by b; Tue, 9 Jan 2024 12:00:00 +0100", "From: Ana <ana@example.org>"),
        mail("From x 2024", "From: Ana <ana@example.org>"),
    )
    assert [row[1] for row in seen["messages"]] == [
        "2024-01-10T08:00:00+00:00",
        "2024-01-09T11:00:00+00:00",
        "assumed",
    ]


def test_a_mail_that_nothing_dates_is_unreadable_and_not_of_today(tmp_path: Path) -> None:
    seen = mailbox(tmp_path / "a.eml", mail("From: Ana <ana@example.org>", "Message-ID: <a@example.org>"))
    assert seen["messages"] == []
    assert seen["unreadable"] == ["a.eml:1: a mail without a date that can be read, and none before it"]


def test_mail_in_no_named_encoding_is_read_as_windows_wrote_it(tmp_path: Path) -> None:
    path = tmp_path / "a.eml"
    head = (
        "From: Zoé <z@example.fr>\nTo: b@example.fr\nSubject: Thé\nDate: Tue, 9 Jan 2024 12:00:00 +0100\n\n"
    )
    path.write_bytes((head + "Le thé coûte 3 €\n").encode("cp1252"))
    seen = read(path)
    ((who, _, _, title, text),) = seen["messages"]
    assert (who, title, text) == ("Zoé", "Thé", "Le thé coûte 3 €")
    assert seen["notes"] == ["mail that is not in UTF-8 and names no encoding read as windows-1252"]


def test_what_has_no_time_is_said(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "chat.txt"
    path.write_text("Ana: tea?\nBo: yes\n", encoding="utf-8")
    assert "2 messages without a time: kept as if said now" in run("import", path).err
    path.write_text("[2024-03-01 09:15] Ana: tea?\n[09:16] Bo: yes\n", encoding="utf-8")
    assert "1 message without a time: placed beside those next to them" in run("import", path).err


def test_a_poll_keeps_its_answers_and_a_forwarded_message_its_author(tmp_path: Path) -> None:
    base = {"type": "message", "date_unixtime": "1707552060", "from": "Ana", "from_id": "user1"}
    answers = [{"text": "May", "voters": 2, "chosen": True}, {"text": "June", "voters": 0, "chosen": False}]
    messages = [
        {**base, "id": 1, "text": "", "poll": {"question": "Which week?", "answers": answers}},
        {**base, "id": 2, "text": "I live in Hamburg.", "forwarded_from": "Bo"},
        {**base, "id": 3, "text": "I live in Rome.", "forwarded_from": None},
    ]
    path = tmp_path / "result.json"
    path.write_text(json.dumps({"name": "All", "type": "g", "id": 1, "messages": messages}), encoding="utf-8")
    assert [row[4] for row in read(path)["messages"]] == [
        "[poll: Which week? May (2), June (0)]",
        "[forwarded from: Bo]\nI live in Hamburg.",
        "[forwarded from: Deleted Account]\nI live in Rome.",
    ]
