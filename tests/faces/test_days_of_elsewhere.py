"""Days and clocks of elsewhere: a day that is named is one of those who lived it, and so are times on show."""

import json
from pathlib import Path

import pytest
from builders.commands import Run

# Osaka, then half a year later Lima: 11 May began there at three in the afternoon of the tenth (UTC)
TALK = [
    ("osaka", "2026-05-10T22:30:00+09:00", "pier", "The ferry to Naoshima leaves at eight from pier four."),
    ("osaka", "2026-05-11T00:20:00+09:00", "boathouse", "We missed the last bus and slept in the boathouse."),
    ("osaka", "2026-05-11T23:40:00+09:00", "boathouse", "The lantern maker gave us two paper lamps."),
    ("lima", "2026-11-20T18:00:00-05:00", "market", "The market in Surquillo had purple corn."),
]


@pytest.fixture
def travelled(run: Run, tmp_path: Path) -> Run:
    path = tmp_path / "talk.jsonl"
    lines = [
        {"conversation_id": thread, "timestamp": at, "location": place, "role": "user", "content": text}
        for thread, at, place, text in TALK
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    run("import", path)
    run("flush")
    return run


@pytest.mark.parametrize("command", [("context", "--at"), ("search", "--now")])
@pytest.mark.parametrize("now", ["2026-11-21T15:00:00Z", "2026-11-21T10:00:00-05:00"])
def test_a_named_day_is_read_by_the_clock_of_its_place(
    travelled: Run, command: tuple[str, str], now: str
) -> None:
    verb, option = command
    answer = travelled(verb, "What happened on 11 May?", option, now).out
    assert "boathouse" in answer
    assert "paper lamps" in answer
    said = [line for line in answer.splitlines() if not line.startswith("1. ")]  # the title of both days
    assert "ferry" not in "".join(said)


def test_plots_traces_and_places_show_times_as_they_were_lived(travelled: Run) -> None:
    assert "00:20" in travelled("plot", "osaka").out
    assert "2026-05-11 00:20:00 +09:00" in travelled("trace", "osaka:1").out
    places = travelled("places").out
    assert "2026-05-10 22:30 +09:00" in places
    assert "2026-11-20 18:00 -05:00" in places
    assert "2026-05-11 00:20 +09:00" in travelled("visits", "boathouse").out
    assert "2026-05-11 00:20 +09:00" in travelled("route", "osaka").out


def test_scripts_get_them_in_utc(travelled: Run) -> None:
    card = next(p for p in travelled("places", "--json").json["places"] if p["label"] == "pier")
    assert card["first_at"] == "2026-05-10T13:30:00+00:00"
    assert "2026-05-10T15:20:00+00:00" in json.dumps(travelled("plot", "osaka", "--json").json)
    assert "2026-05-10T15:20:00+00:00" in json.dumps(travelled("trace", "osaka:1", "--json").json)
