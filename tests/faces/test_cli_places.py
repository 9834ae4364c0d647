"""Places on the command line: tables for people, objects for scripts, the nearest name for a wrong one."""

import json
from datetime import timedelta
from pathlib import Path

import pytest
from builders.chats import START
from builders.commands import Run


@pytest.fixture
def walked(run: Run, tmp_path: Path) -> Run:
    places = ["Kitchen"] * 12 + ["Hall"] * 8 + ["kitchen"] * 5
    steps = [
        {
            "kind": "step",
            "action": "look around",
            "location": place,
            "timestamp": (START + timedelta(minutes=n)).isoformat(),
            "conversation": "robot",
        }
        for n, place in enumerate(places)
    ]
    path = tmp_path / "walk.jsonl"
    path.write_text("".join(json.dumps(s) + "\n" for s in steps), encoding="utf-8")
    assert run("import", path).code == 0
    return run


def test_places_list_counts_and_moves(walked: Run) -> None:
    result = walked("places", "--json").json
    assert [(p["label"], p["steps"], p["visits"]) for p in result["places"]] == [
        ("Kitchen", 17, 2),
        ("Hall", 8, 1),
    ]
    assert result["moves"] == [
        {"source": "Hall", "target": "Kitchen", "count": 1},
        {"source": "Kitchen", "target": "Hall", "count": 1},
    ]
    shown = walked("places").out.splitlines()
    assert shown[0].split() == ["place", "steps", "visits", "episodes", "first", "last"]
    assert shown[1].split()[:3] == ["Kitchen", "17", "2"]
    assert ["Hall", "Kitchen", "1"] in [line.split() for line in shown]
    later = walked("places", "--since", (START + timedelta(minutes=22)).isoformat(), "--json").json
    assert [p["label"] for p in later["places"]] == ["Kitchen"]


def test_visits_tell_the_time_since_the_one_before(walked: Run) -> None:
    newest, oldest = walked("visits", "KITCHEN", "--json").json["visits"]
    assert (newest["since_previous"], oldest["since_previous"]) == (540.0, None)
    assert newest["previous"]["first_seq"] == oldest["first_seq"] == 0
    assert oldest["following"]["first_seq"] == newest["first_seq"] == 20
    lines = walked("visits", "kitchen").out.splitlines()
    assert len(lines) == 3
    assert "9 min" in lines[1]
    assert newest["episodes"][0][:8] in lines[1]
    assert len(walked("visits", "kitchen", "--limit", 1, "--order", "oldest", "--json").json["visits"]) == 1


def test_a_route_goes_from_place_to_place(walked: Run) -> None:
    way = walked("route", "robot", "--json").json["visits"]
    assert [v["place"] for v in way] == ["Kitchen", "Hall", "Kitchen"]
    assert [line.split()[0] for line in walked("route", "robot").out.splitlines()[1:]] == [
        "Kitchen",
        "Hall",
        "Kitchen",
    ]


def test_search_and_episodes_take_a_place(walked: Run) -> None:
    assert walked("search", "look", "--place", "hall", "--json").json["hits"]
    cards = walked("episodes", "--place", "hall", "--json").json["episodes"]
    assert cards
    assert {c["episode_id"] for c in cards} <= {
        c["episode_id"] for c in walked("episodes", "--json").json["episodes"]
    }


def test_a_wrong_place_is_told_with_the_nearest_one(walked: Run) -> None:
    for arguments in (("visits", "kitchn"), ("search", "mug", "--place", "kitchn")):
        outcome = walked(*arguments)
        assert outcome.code == 3
        assert "did you mean 'Kitchen'" in outcome.error
    assert walked("route", "nobody").code == 3
    assert walked("visits", "kitchen", "--since", "not a time").code == 2


def test_without_places_there_is_one_line(run: Run) -> None:
    run("add", "The piano mover comes on the 12th.")
    outcome = run("places")
    assert (outcome.code, outcome.out) == (0, "")
    assert "nothing here says where it was" in outcome.err
    assert run("places", "--json").json == {"places": [], "moves": []}
