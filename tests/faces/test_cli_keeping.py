"""The commands of care on a file: pin, suppress, retention, and messages that expire."""

import json
import re
from pathlib import Path

import pytest
from builders.chats import CELLO, LISBON, mine, talk
from builders.commands import Run

from episodic_agent import Memory


@pytest.fixture
def kept(database: Path) -> dict[str, str]:
    with Memory.open(database, embedder="hashing", policy="seed-001") as memory:
        for day, lines in ((0, LISBON), (9, CELLO)):
            mine(memory).add(talk(lines, day), thread=f"day{day}")
            mine(memory).flush()
        return {card.origin: str(card.episode_id) for card in mine(memory).episodes.list()}


def test_a_pin_is_set_listed_and_taken_off(run: Run, kept: dict[str, str]) -> None:
    answer = run("pin", kept["day0"][:8], "--reason", "honeymoon", "--json").json
    assert (answer["kind"], answer["episodes"], answer["reason"]) == ("pinned", [kept["day0"]], "honeymoon")
    assert "thread day9" in run("pin", "--thread", "day9").err
    assert [one["last_seq"] for one in run("pinned", "--json").json["pinned"]] == [len(LISBON) - 1, None]
    assert "honeymoon" in run("pinned").out
    cards = run("episodes", "--json").json["episodes"]
    assert [card["pinned"] for card in cards] == [True, True]
    assert run("unpin", "--thread", "day9", "--json").json == {"unpinned": True}
    assert run("unpin", kept["day9"]).err == "it was not on the list\n"
    assert run("pin").code == 2
    assert run("pin", "ffffffff").code == 3


def test_what_is_suppressed_is_listed_with_its_reason(run: Run, kept: dict[str, str]) -> None:
    run("suppress", kept["day0"], "--reason", "private")
    run("suppress", "--words", "Odile")
    result = run("search", "flights to Lisbon", "--suppressed", "--json").json
    assert kept["day0"] not in [hit["episode_id"] for hit in result["hits"]]
    assert (kept["day0"], "suppressed: private") in [
        (s["episode_id"], s["reason"]) for s in result["suppressed"]
    ]
    assert "suppressed" not in run("search", "flights to Lisbon", "--json").json
    assert "left out: " in run("search", "flights to Lisbon", "--suppressed").err
    [left] = run("recent", "--json").json["episodes"]
    assert (left["origin"], "Odile" in json.dumps(left)) == ("day9", False)
    run("suppress", "--thread", "day9")
    assert run("recent", "--json").json["episodes"] == []
    told = "what there is here is suppressed or archived; --suppressed shows it\n"
    assert run("recent").err == told
    hidden = {c["hidden"] for c in run("recent", "--suppressed", "--json").json["episodes"]}
    assert hidden == {"suppressed: private", "suppressed: by hand"}
    listed = run("suppressed")
    assert "private" in listed.out
    assert "Odile" in listed.out
    assert len(run("suppressed", "--json").json["suppressed"]) == 3
    run("unsuppress", "--thread", "day9")
    assert run("unsuppress", "--words", "odile", "--json").json == {"unsuppressed": True}
    assert run("unsuppress", kept["day0"]).err == "unsuppressed\n"
    assert run("suppressed").err == "nothing is suppressed\n"


def test_suppressing_words_tells_how_many_messages_hold_them(run: Run, kept: dict[str, str]) -> None:
    told = run("suppress", "--words", "Odile").err.splitlines()
    assert told[0] == "suppressed: the words 'Odile'"
    assert re.fullmatch(r"\d+ messages? holds? them now", told[1])
    assert "no message holds them now, but 'Odile'" in run("suppress", "--words", "Odi").err
    assert run("suppress", "--words", "Odi", "--json").json["messages"] == 0


def test_what_is_suppressed_of_an_episode_that_is_shown_is_listed(run: Run) -> None:
    run("add", "My cello teacher is Odile.", "--thread", "music")
    run("add", "The door code today is 8472.", "--thread", "music")
    run("suppress", "--words", "door code")
    for question in ("what is the door code?", "who is my cello teacher, and what is the door code?"):
        told = run("search", question, "--suppressed")
        assert "suppressed words: door code" in told.err
        assert "8472" not in told.out + told.err
    assert "left out" not in run("search", "what is the door code?").err


def test_retention_is_set_seen_beforehand_and_applied(run: Run, kept: dict[str, str]) -> None:
    assert run("retention", "show", "--json").json["policy"] == "none"
    assert run("retention", "preview").err == "nothing would go\n"
    assert "older than 30 days" in run("retention", "preview", "--policy", "age=30d").out
    assert run("retention", "set", "age=30d,grace=0s", "--json").json["own"] is True
    assert "rule" in run("retention", "set", "whenever").error
    assert run("retention", "set").code == 2
    assert run("retention", "apply", "--json").json["archived"] == 2
    assert "2 archived" in run("retention", "show").out
    assert {e["action"] for e in run("retention", "preview", "--json").json["episodes"]} == {"erase"}
    assert "--yes" in run("retention", "apply").error, "nobody can be asked here"
    assert run("retention", "apply", "--yes").err.startswith("0 episodes archived, 0 returned, 2 erased")
    assert run("episodes", "--json").json["episodes"] == []
    assert run("retention", "set", "--default", "--json").json["own"] is False


def test_a_message_can_be_added_for_a_while(run: Run) -> None:
    run("add", "The door code is 8472", "--ttl", "30d", "--id", "code")
    run("add", "The door code was 1111", "--expires-at", "2024-01-01")
    result = run("search", "door code", "--json").json
    assert "8472" in json.dumps(result)
    assert "1111" not in json.dumps(result)
    run("upkeep")
    assert run("forget", "check", "The door code was 1111").code == 0
    assert run("retention", "show", "--json").json["expiring"] == 1
    assert "span of time" in run("add", "x", "--ttl", "soon").error
