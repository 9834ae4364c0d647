"""What people meet who import a year of their own exports, again and again: nothing comes twice or is lost."""

import json
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import pytest
from builders.commands import Run
from builders.importing import read, zipped

from episodic_agent.core.ingest import IntakeLimits
from episodic_agent.engine.files.bundle import open_bundle
from episodic_agent.errors import TooLarge

PAGE = """\
[2026-05-05 18:31:02] Me: shed code still 2580?

[2026-05-05 18:32:40] Tom: changed it to 9917, the kids knew it
(- Me: 👍, Bo: ❤ -)

[2026-05-06 19:10:00] Me: got it!!![2026-05-06-19-10-00_00_brakes.jpg](./media/2026-05-06-19-10-00_00_brakes.jpg)

[2026-05-06 19:15:00] Tom: \n> got it!!

new pads are in the bag

[2026-05-06 19:16:00] Tom: (This message was deleted)
"""


def signal_folder(folder: Path, *names: str) -> Path:
    """Write a chat as signal-export does, of which these files are left."""
    lines: list[tuple[str, str, str, dict[str, object]]] = [
        ("05T18:31:02", "Me", "shed code still 2580?", {}),
        ("05T18:32:40", "Tom", "changed it to 9917, the kids knew it", {"reactions": [["Me", "👍"]]}),
        ("06T19:10:00", "Me", "got it!!", {"attachments": [{"name": "brakes.jpg"}]}),
        ("06T19:15:00", "Tom", "new pads are in the bag", {"quote": "> got it!!\n\n"}),
        ("06T19:16:00", "Tom", "", {"deleted": True}),
    ]
    plain = {"quote": "", "sticker": None, "reactions": [], "attachments": [], "deleted": False}
    records = [
        {"date": f"2026-05-{at}+02:00", "sender": who, "body": text, **plain, **more}
        for at, who, text, more in lines
    ]
    contents = {
        "chat.md": PAGE,
        "data.json": "\n".join(map(json.dumps, records)),
        "index.html": "<html><body>Tom</body></html>",
    }
    chat = folder / "Tom"
    chat.mkdir(parents=True)
    for name in names:
        (chat / name).write_text(contents[name], encoding="utf-8")
    return folder


def test_the_page_beside_a_signal_chat_is_passed_over(run: Run, tmp_path: Path) -> None:
    outcome = run("import", signal_folder(tmp_path, "chat.md", "data.json", "index.html"), "--json")
    assert (outcome.code, outcome.json["added"]) == (0, 4)
    assert "1 duplicate of a chat (Tom/chat.md)" in outcome.err


def test_a_page_of_signal_alone_reads_as_the_chat_does(tmp_path: Path) -> None:
    page = read(signal_folder(tmp_path / "page", "chat.md"))
    chat = read(signal_folder(tmp_path / "data", "data.json"))
    assert page["formats"] == chat["formats"]
    assert [(who, *rest) for who, _, *rest in page["messages"]] == [
        (who, *rest) for who, _, *rest in chat["messages"]
    ]
    assert page["notes"] == ["1 notice left out"]


@pytest.mark.parametrize("names", [("chat.md", "data.json"), ("data.json", "chat.md")])
@pytest.mark.parametrize("zone", [(), ("--timezone", "Europe/Berlin")])
def test_of_a_signal_chat_and_its_page_the_second_adds_nothing(
    run: Run, tmp_path: Path, names: tuple[str, str], zone: tuple[str, ...]
) -> None:
    first, second = (signal_folder(tmp_path / name, name) for name in names)
    assert run("import", first, *zone, "--json").json["added"] == 4
    assert run("import", second, *zone, "--json").json["added"] == 0


# --- archives in archives, and those that cannot be opened ------------------------------------------------


def line(text: str) -> str:
    return json.dumps({"role": "user", "content": text, "timestamp": "2026-03-01T09:00:00Z"})


def archive(path: Path, **files: str | Path) -> Path:
    """Pack texts, or files as they are, each under its name with `__` for the dot."""
    with ZipFile(path, "w", ZIP_DEFLATED) as packed:
        for name, content in files.items():
            data = content if isinstance(content, str) else content.read_bytes()
            packed.writestr(name.replace("__", "."), data)
    return path


def locked(path: Path) -> Path:
    """Mark the files of an archive as encrypted with a password."""
    content = bytearray(path.read_bytes())
    content[6] |= 1
    content[content.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(content)
    return path


def test_archives_in_an_archive_are_read_and_those_deeper_named(run: Run, tmp_path: Path) -> None:
    deepest = archive(tmp_path / "deepest.zip", c__jsonl=line("gamma"))
    inner = archive(tmp_path / "inner.zip", b__jsonl=line("beta"), deepest__zip=deepest)
    outer = archive(tmp_path / "outer.zip", a__jsonl=line("alpha"), inner__zip=inner)
    outcome = run("import", outer, "--json")
    assert (outcome.code, outcome.object["added"]) == (2, 2)
    assert outcome.object["unreadable"] == [
        "inner.zip/deepest.zip is an archive too deep in others; unpack it and import its files, or pack them "
        "again, without a password"
    ]
    alone = archive(tmp_path / "alone.zip", inner__zip=archive(inner, b__jsonl=line("delta")))
    assert run("import", alone, "--json").json["added"] == 1


def test_archives_in_an_archive_share_its_limits(tmp_path: Path) -> None:
    text = "\n".join(line(f"word {n}") for n in range(100))
    inner = archive(tmp_path / "inner.zip", b__jsonl=text)
    outer = archive(tmp_path / "outer.zip", a__jsonl=text, inner__zip=inner)
    once = len(text) + inner.stat().st_size
    with open_bundle(outer, IntakeLimits(unpacked=once + len(text))) as bundle:
        assert [file.name for file in bundle.files] == ["a.jsonl", "inner.zip/b.jsonl"]
    tight = open_bundle(outer, IntakeLimits(unpacked=once + len(text) - 1))
    with pytest.raises(TooLarge, match=r"outer.zip/inner.zip unpacks to more than"), tight:
        pass


@pytest.mark.parametrize("packed", [False, True])
def test_archives_that_cannot_be_opened_cost_only_themselves(run: Run, tmp_path: Path, packed: bool) -> None:
    folder = tmp_path / "all"
    folder.mkdir()
    locked(archive(folder / "locked.zip", a__jsonl=line("alpha")))
    whole = archive(folder / "whole.zip", b__jsonl=line("beta"))
    (folder / "half.zip").write_bytes(whole.read_bytes()[:60])
    path = zipped(folder, tmp_path / "all.zip") if packed else folder
    outcome = run("import", path)
    assert outcome.code == 2
    assert "1 message read, 1 added" in outcome.out
    assert "unreadable: half.zip is a damaged zip archive; download or copy it again" in outcome.err
    assert "unreadable: locked.zip is encrypted; unpack it and import its files, or pack" in outcome.err
    (folder / "whole.zip").unlink()
    (folder / "half.zip").unlink()
    assert "in which no file is a chat; locked.zip is encrypted" in run("import", folder).error


# --- a chat without ids, again -----------------------------------------------------------------------------

TALK = """\
10/02/2026, 18:41 - Tom W: what happened to the bike??
10/02/2026, 18:44 - Miriam V: rear derailleur, went into the spokes
10/02/2026, 18:53 - Miriam V: deal
12/02/2026, 08:15 - Tom W: need the part no.
12/02/2026, 09:05 - Miriam V: #10148 says the robot
22/03/2026, 16:48 - Tom W: shifts like butter
22/06/2026, 16:50 - Miriam V: there, 7pm
22/06/2026, 16:51 - Tom W: fine
"""


def whatsapp(folder: Path, talk: str = TALK) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "WhatsApp Chat with Tom W.txt"
    path.write_text(talk, encoding="utf-8")
    return path


ME, ZONE = ("--me", "Miriam V"), ("--timezone", "Europe/Berlin")


@pytest.mark.parametrize(
    ("first", "second"), [((), (*ME, *ZONE)), (ZONE, ME), (ME, ZONE), ((*ME, *ZONE), ())]
)
def test_a_chat_read_again_with_its_user_or_its_zone_adds_nothing(
    run: Run, tmp_path: Path, first: tuple[str, ...], second: tuple[str, ...]
) -> None:
    chat = whatsapp(tmp_path)
    assert run("import", chat, *first, "--json").json["added"] == 8
    again = run("import", chat, *second, "--json").json
    assert (again["added"], again["duplicates"]) == (0, 8)
    cut = whatsapp(tmp_path / "cut", TALK.partition("41 - Tom W: what happened to the bike??\n")[2])
    assert run("import", cut, *second, "--json").json["added"] == 0


def test_a_chat_whose_beginning_is_cut_off_goes_on_with_the_whole(run: Run, tmp_path: Path) -> None:
    run("import", whatsapp(tmp_path))
    *_, rest = TALK.partition("12/02/2026, 08:15")
    later = f"12/02/2026, 08:15{rest}22/06/2026, 17:05 - Tom W: I'm here\n"
    outcome = run("import", whatsapp(tmp_path / "cut", later.replace("Miriam V", "Miri")), "--json")
    assert (outcome.json["added"], outcome.json["duplicates"]) == (1, 5)
    assert "Tom W: its beginning is cut off; what is known is not added again" in outcome.err
    whole = whatsapp(tmp_path / "whole", TALK.partition("12/02/2026, 08:15")[0] + later)
    assert run("import", whole, "--json").json["added"] == 0
    assert len(json.loads(run("threads", "--json").out)) == 1


def test_what_is_sent_to_two_people_at_once_is_no_chat_cut_off(run: Run, tmp_path: Path) -> None:
    wishes = "".join(f"31/12/2026, 23:5{n} - Miriam V: wish {n}\n" for n in range(5))
    run("import", whatsapp(tmp_path, f"{TALK}{wishes}31/12/2026, 23:58 - Tom W: you too\n"))
    other = whatsapp(tmp_path / "other", f"{wishes}31/12/2026, 23:59 - Lena: thanks\n")
    assert run("import", other, "--json").json["added"] == 6


# --- whose words they are -----------------------------------------------------------------------------------


def telegram(folder: Path, *, owner: int | None = None) -> Path:
    """Write an account's export, or the same without saying whose account it is."""
    messages = [
        {"id": 1, "type": "message", "date_unixtime": "1771264800", "from": "Joni", "from_id": "user200"},
        {"id": 2, "type": "message", "date_unixtime": "1771264860", "from": "Miri", "from_id": "user100"},
    ]
    for message in messages:
        message["text"] = f"words of {message['from']}"
    chats = {"list": [{"name": "Joni", "type": "personal_chat", "id": 200, "messages": messages}]}
    whose = {} if owner is None else {"personal_information": {"user_id": owner, "first_name": "Miri"}}
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "result.json"
    path.write_text(json.dumps({"about": "", **whose, "chats": chats}), encoding="utf-8")
    return path


def test_an_export_of_telegram_says_whose_it_is(run: Run, tmp_path: Path) -> None:
    outcome = run("import", telegram(tmp_path, owner=100), "--json", "--user", "miriam")
    assert "miriam's own words: 1 message by Miri (1)" in outcome.err
    assert read(telegram(tmp_path, owner=100))["messages"][1][0] == "user"


@pytest.mark.parametrize("how", [("--me", "Miri"), ()])
def test_words_that_stand_as_anothers_are_named_with_how_to_take_them_over(
    run: Run, tmp_path: Path, how: tuple[str, ...]
) -> None:
    assert "stay" not in run("import", telegram(tmp_path), "--user", "miriam").err
    path = telegram(tmp_path, owner=None if how else 100)
    again = run("import", path, *how, "--json", "--user", "miriam")
    assert again.json["added"] == 0
    assert (
        "1 message of the user's stays under 'Miri', as read in an earlier import; to change that, "
        "forget 'Joni' first and import again"
    ) in again.err
    assert run("forget", "thread", "Joni", "--yes", "--user", "miriam").code == 0
    over = run("import", path, *how, "--json", "--user", "miriam")
    assert over.json["added"] == 2
    assert "stays under" not in over.err
    assert "stays under" not in run("import", path, *how, "--user", "miriam").err


def slack(folder: Path, *words: str, names: tuple[str, str] = ("miri", "jo"), **edited: str) -> Path:
    """Write a workspace in which Miri, U1, says these words; `names` are those that two people show."""
    users = [
        {"id": f"U{n}", "name": f"u{n}", "profile": {"display_name": name, "real_name": real}}
        for n, (name, real) in enumerate(zip(names, ("Miri Vogt", ""), strict=True), 1)
    ]
    messages = [
        {"type": "message", "user": "U1", "ts": f"170953926{n}.1", "text": text}
        for n, text in enumerate(words)
    ]
    for ts in edited.values():
        messages[0] |= {"edited": {"user": "U1", "ts": ts}}
    (folder / "general").mkdir(parents=True)
    channels = [{"id": "C1", "name": "general"}]
    for name, value in {"users": users, "channels": channels, "general/2024-03-04": messages}.items():
        (folder / f"{name}.json").write_text(json.dumps(value), encoding="utf-8")
    return folder


def test_who_is_mentioned_under_another_name_is_the_same(run: Run, tmp_path: Path) -> None:
    words = ("<@U1> & <@U2>: <#C1|general>, not @lunch?", "yes <@U2>", "no names")
    first = slack(tmp_path / "1", *words)
    assert next(row[4] for row in read(first)["messages"]) == "@Miri Vogt & @jo: #general, not @lunch?"
    assert {row[0] for row in read(first)["messages"]} == {"Miri Vogt"}
    assert run("import", first, "--json").json["added"] == 3
    renamed = slack(tmp_path / "2", *words[:2], "other words", names=("miri", "Jo (she)"))
    again = run("import", renamed, "--json")
    assert (again.code, again.object["added"], len(again.object["unreadable"])) == (2, 0, 1)
    assert "no names" in again.object["unreadable"][0]


def test_an_edit_is_none_for_a_new_name_but_for_another_person(run: Run, tmp_path: Path) -> None:
    run("import", slack(tmp_path / "1", "<@U2> renews it, I think"))
    edited = slack(tmp_path / "2", "<@U2> renews it", edited="1709600000.1")
    assert run("import", edited, "--json").json["added"] == 1
    renamed = slack(tmp_path / "3", "<@U2> renews it", names=("miri", "Jo (she)"), edited="1709600000.1")
    assert run("import", renamed, "--json").json["added"] == 0
    other = slack(tmp_path / "4", "<@U1> renews it", names=("miri", "jo"), edited="1709600001.1")
    assert run("import", other, "--json").json["added"] == 1


# --- what nobody said, and marks -----------------------------------------------------------------------------


def chatgpt(folder: Path) -> Path:
    """Write a conversation with instructions, an answer that cites, and a question that was asked anew."""
    contents: list[tuple[str, str, str, dict[str, object]]] = [
        ("i", "", "user", {"content_type": "user_editable_context", "user_instructions": "Be short."}),
        ("u", "i", "user", {"content_type": "text", "parts": ["To Trieste by train?"]}),
        ("x", "u", "assistant", {"content_type": "text", "parts": ["From 80 euros."]}),
        (
            "a",
            "u",
            "assistant",
            {"content_type": "text", "parts": ["69 euros. \ue200cite\ue202turn0search1\ue201 At 14:22."]},
        ),
    ]
    mapping = {
        name: {
            "id": name,
            "parent": parent or None,
            "children": [below for below, above, *_ in contents if above == name],
            "message": {
                "id": name,
                "author": {"role": role},
                "create_time": 1773267000 + n,
                "content": content,
                "metadata": {"is_visually_hidden_from_conversation": name == "i"},
            },
        }
        for n, (name, parent, role, content) in enumerate(contents)
    }
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "conversations.json"
    chat = {"id": "c", "title": "Trieste", "mapping": mapping, "current_node": "a"}
    path.write_text(json.dumps([chat]), encoding="utf-8")
    return path


def test_what_chatgpt_leaves_out_is_counted_and_no_mark_of_a_source_stays(tmp_path: Path) -> None:
    seen = read(chatgpt(tmp_path))
    assert [row[4] for row in seen["messages"]] == ["To Trieste by train?", "69 euros. At 14:22."]
    (left,) = seen["notes"]
    assert sorted(left.removesuffix(" left out").split(", ")) == [
        "1 custom instruction",
        "1 message of another branch",
    ]


def test_words_that_were_read_with_marks_and_names_of_pictures_stay_so(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk = chatgpt(tmp_path), slack(tmp_path / "1", "done :wave: <@U2> :our_own:", "up :tada:")
    with monkeypatch.context() as before:
        before.setattr("episodic_agent.engine.files.formats.assistants.uncited", str)
        before.setattr("episodic_agent.engine.files.formats.slack._pictured", str)
        assert sum(run("import", path, "--json").json["added"] for path in talk) == 4
    for path in talk:
        again = run("import", path, "--json").json
        assert (again["added"], again["unreadable"]) == (0, [])
    texts = [row[4] for row in read(talk[1])["messages"]]
    assert texts == ["done 👋 @jo :our_own:", "up 🎉"]


def test_a_missed_call_is_nothing_that_was_said(tmp_path: Path) -> None:
    call = (
        "02/06/2026, 21:15 - Tom W: Missed voice call\n02/06/2026, 21:16 - Tom W: Missed voice call, why?\n"
    )
    seen = read(whatsapp(tmp_path, TALK + call))
    assert [row[4] for row in seen["messages"]][8:] == ["Missed voice call, why?"]
    assert "1 notice left out" in seen["notes"]


# --- what a report says ------------------------------------------------------------------------------------


def test_a_dry_run_shows_days_of_the_zone_that_was_given(run: Run, tmp_path: Path) -> None:
    late = whatsapp(
        tmp_path, "13/02/2026, 00:30 - Tom W: home at last\n13/02/2026, 00:41 - Miriam V: sleep\n"
    )
    zones = ("--timezone", "Europe/Berlin"), ("--timezone", "America/Lima"), ()
    for zone in zones:
        notes = run("import", late, *zone, "--dry-run", "--json").json["notes"]
        assert "  Tom W: 2 messages, 2026-02-13, by Tom W, Miriam V" in notes


@pytest.mark.parametrize(("last", "guessed"), [("05/04/2024", True), ("13/04/2024", False)])
def test_an_order_of_dates_that_is_only_likelier_is_said_to_be_a_guess(
    run: Run, tmp_path: Path, last: str, guessed: bool
) -> None:
    talk = "".join(f"{day}, 09:15 - Lee: tea?\n" for day in ("03/04/2024", "04/04/2024", last))
    outcome = run("import", whatsapp(tmp_path, talk), "--json")
    assert "dates read as day/month/year" in outcome.err
    assert ("which the file does not settle; if they are month/day/year" in outcome.err) == guessed


def test_names_that_nobody_has_are_said_once_for_all_files(run: Run, tmp_path: Path) -> None:
    one = whatsapp(tmp_path)
    other = whatsapp(tmp_path / "other", TALK.replace("Miriam V", "Miri"))
    names = ("--me", "Miriam V", "--me", "Miri", "--me", "Mimi", "--me", "M. V")
    outcome = run("import", one, other, *names, "--json")
    assert [line for line in outcome.err.splitlines() if "nobody" in line] == [
        "nobody is called 'Mimi', 'M. V' here, as --me says"
    ]


@pytest.mark.parametrize(
    ("headers", "sender"),
    [
        (
            "List-Id: <users.lists.example>\nReply-To: jonas@dev.example\n",
            ("Jonas Keller", "jonas@dev.example"),
        ),
        (
            "X-Original-From: J. Keller <jonas@dev.example>\nReply-To: users@lists.example\n",
            ("J. Keller", "jonas@dev.example"),
        ),
        (
            "List-Id: <users.lists.example>\nReply-To: users@lists.example\n",
            ("Jonas Keller", "users@lists.example"),
        ),
        ("Reply-To: jonas@dev.example\n", ("'Jonas Keller' via Users", "users@lists.example")),
    ],
)
def test_who_writes_to_a_list_is_named_though_the_list_sends(
    run: Run, tmp_path: Path, headers: str, sender: tuple[str, str]
) -> None:
    path = tmp_path / "a.eml"
    head = "From: \"'Jonas Keller' via Users\" <users@lists.example>\nTo: users@lists.example\n"
    dated = "Date: Thu, 02 Apr 2026 09:05:00 -0400\nMessage-ID: <l1@lists>\nSubject: 1.0\n\n1.0 is out.\n"
    path.write_text(head + headers + dated, encoding="utf-8")
    assert [row[0] for row in read(path)["messages"]] == [sender[0]]
    own = run("import", path, "--user", "jo", "--me", sender[1], "--dry-run", "--json").json["notes"]
    assert f"jo's own words: 1 message by {sender[0]} (1)" in own
