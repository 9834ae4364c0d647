"""Woven weeks: labels that hold, the same bytes from the same seed, and the form that `evaluate lives` reads."""

import gzip
import json
import random
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from weave_lives import ALIVE, OPENINGS, matters, week

from episodic_agent.engine.evaluate.lives import read_lives

SOURCES = ("chats", "dialogues")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Write chats and dialogues of forty things, eight to sixteen messages each."""
    chats = [
        {
            "id": f"chat{n}",
            "lang": "en",
            "messages": [
                {"speaker": ("user", "assistant")[k % 2], "text": f"chat{n} says {k} of thing{n}"}
                for k in range(8 + n % 9)
            ],
        }
        for n in range(20)
    ]
    dialogues = [
        {
            "id": f"talk{n}",
            "units": [{"speaker": "AB"[k % 2], "text": f"talk{n} tells {k} of matter{n}"} for k in range(16)],
            "starts": [0] * 8 + [1] + [0] * 7,
        }
        for n in range(10)
    ]
    for name, rows in zip(SOURCES, (chats, dialogues), strict=True):
        with gzip.open(tmp_path / f"{name}.jsonl.gz", "wt", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)
    return tmp_path


@pytest.fixture
def weeks(data: Path) -> Sequence[Mapping[str, Any]]:
    return [week(n, matters(data, SOURCES), random.Random(n)) for n in range(3)]


def test_a_sitting_goes_on_from_the_one_before_it_of_its_matter(weeks: Sequence[Mapping[str, Any]]) -> None:
    for woven in weeks:
        places = {s["id"]: place for place, s in enumerate(woven["sittings"])}
        linked = [s for s in woven["sittings"] if s["goes_on_from"]]
        assert len(linked) >= len(places) // 4
        for sitting in linked:
            (before,) = sitting["goes_on_from"]
            assert places[before] < places[sitting["id"]]
            said = " ".join(m["text"] for m in woven["messages"] if m["sitting"] == before)
            assert sitting["topic"].split(":")[0] + " " in said


def test_a_newer_sitting_has_several_to_choose_from(weeks: Sequence[Mapping[str, Any]]) -> None:
    for woven in weeks:
        topics = [s["topic"] for s in woven["sittings"]]
        alive = [len({t for t in topics[:n] if t in topics[n:]}) for n in range(5, len(topics) - 10)]
        assert max(alive) >= ALIVE[0]


def test_sittings_are_over_half_an_hour_apart_and_gaps_inside_are_shorter(
    weeks: Sequence[Mapping[str, Any]],
) -> None:
    for woven in weeks:
        for one, other in pairwise(woven["messages"]):
            gap = datetime.fromisoformat(other["time"]) - datetime.fromisoformat(one["time"])
            assert (gap > timedelta(minutes=30)) == (one["sitting"] != other["sitting"])


def test_some_open_with_words_that_name_nothing_and_only_those_that_go_on(
    weeks: Sequence[Mapping[str, Any]],
) -> None:
    nameless = 0
    for woven in weeks:
        goes_on = {s["id"] for s in woven["sittings"] if s["goes_on_from"]}
        for message in woven["messages"]:
            if message["text"] in OPENINGS["en"]:
                assert message["sitting"] in goes_on
                nameless += 1
    assert nameless >= 3


def test_the_same_seed_weaves_the_same_bytes_and_another_seed_does_not(data: Path) -> None:
    material = matters(data, SOURCES)
    once, again, other = (week(0, material, random.Random(seed)) for seed in (7, 7, 8))
    assert json.dumps(once) == json.dumps(again) != json.dumps(other)


def test_a_woven_week_is_read_as_a_life(weeks: Sequence[Mapping[str, Any]], tmp_path: Path) -> None:
    path = tmp_path / "woven.jsonl"
    path.write_text(json.dumps(weeks[0]) + "\n", encoding="utf-8")
    (life,) = read_lives(path)
    assert len(life.lines) == len(weeks[0]["messages"])


def test_a_missing_source_is_named(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"chats\.jsonl\.gz is missing: --data names"):
        matters(tmp_path, SOURCES)
