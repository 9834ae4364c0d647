"""People's names in every face: on the command line, over HTTP, and awaited."""

import json
from pathlib import Path

import anyio
import pytest
from builders.commands import Run
from builders.web import LocalClient

from episodic_agent import AsyncMemory, Memory
from episodic_agent.faces.http.app import make_app
from episodic_agent.wiring import utc_now

LINES = [
    {"name": "Tom W", "content": "I'll bring the ladder.", "timestamp": "2026-05-01T10:00:00Z"},
    {"name": "Tom Whitfield", "content": "The key is here.", "timestamp": "2026-05-03T10:00:00Z"},
]
MAILS = """From x Mon May  4 10:00:00 2026
From: Eddie <ed@example.org>
Date: Mon, 4 May 2026 10:00:00 +0000
Message-ID: <1@example.org>
Subject: Sails

The sails are dry.

From x Mon May  4 11:00:00 2026
From: Edward Sands <Ed@example.org>
Date: Mon, 4 May 2026 11:00:00 +0000
Message-ID: <2@example.org>
Subject: Masts

The mast is up.
"""


@pytest.fixture
def imported(run: Run, tmp_path: Path) -> Run:
    path = tmp_path / "chat.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in LINES), encoding="utf-8")
    assert run("import", path).code == 0
    return run


def test_commands_list_join_and_part_names(imported: Run) -> None:
    assert "Tom Whitfield (the only full name" in " ".join(imported("people", "list").out.split())
    assert "'Tom Whitfield', 'Tom W'" in imported("people", "same", "Tom W", "Tom Whitfield").err
    (card,) = imported("people", "list", "--json").json["people"]
    assert (card["name"], card["names"], card["messages"]) == ("Tom Whitfield", ["Tom Whitfield", "Tom W"], 2)
    assert "said as 'Tom W', 'Tom Whitfield'" in imported("forget", "speaker", "Tom W", "--dry-run").out
    assert "here: 'Tom Whitfield'" in imported("people", "same", "Tom W", "Tim").error
    assert imported("people", "apart", "Tom W").code == 0
    assert len(imported("people", "list", "--json").json["people"]) == 2


def test_two_names_of_one_mail_address_are_proposed(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "box.mbox"
    path.write_text(MAILS, encoding="utf-8")
    assert run("import", path).code == 0
    cards = run("people", "list", "--json").json["people"]
    assert [card["proposed"] for card in cards] == [
        [{"name": name, "reason": "both write from ed@example.org"}] for name in ("Edward Sands", "Eddie")
    ]


def test_routes_list_join_and_part_names(memory: Memory) -> None:
    memory.user("ana", new=True).add(LINES, thread="club")
    with LocalClient(make_app(lambda: memory, utc_now)) as web:
        route = "/v1/users/ana/people"
        asked = {"name": "Tom W", "other": "Tom Whitfield"}
        assert web.post(f"{route}/same", json=asked).json()["names"] == ["Tom Whitfield", "Tom W"]
        assert len(web.get(route).json()["items"]) == 1
        assert web.post(f"{route}/same", json=asked | {"other": "Tim"}).status_code == 404
        assert web.post(f"{route}/apart", json={"name": "Tom W"}).json()["names"] == ["Tom W"]
        assert len(web.get(route).json()["items"]) == 2


def test_the_same_is_awaited(memory: Memory) -> None:
    memory.user("ana", new=True).add(LINES, thread="club")

    async def joined() -> list[str]:
        ana = AsyncMemory(memory).user("ana")
        await ana.people.same("Tom W", "Tom Whitfield")
        return [card.name for card in await ana.people.list()]

    assert anyio.run(joined) == ["Tom Whitfield"]
