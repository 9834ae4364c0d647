"""What people meet who import a year of their own exports, again and again: nothing comes twice or is lost."""

import json
from pathlib import Path

import pytest
from builders.commands import Run
from builders.importing import read

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
