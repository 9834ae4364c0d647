"""The benchmark of an agent's run: what it counts, not how fast it is."""

import doctest

import pytest

from benchmarks import agent_run, tables
from episodic_agent.providers.embedders.hashing import HashingEmbedder
from episodic_agent.schemas import Reading


@pytest.mark.slow
def test_every_part_of_a_run_is_measured_and_no_step_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("minigrid")
    monkeypatch.setattr(agent_run, "QUICK_STEPS", 120)
    rows = dict(agent_run.measure(HashingEmbedder(), quick=True))
    assert {key.partition(",")[0] for key in rows} == {
        "sensor alone", "core alone (steps)", "detector stub", "detector seed-000", "detector steps",
        "whole run", "whole run with its sensor",
    }  # fmt: skip
    core = rows["core alone (steps)"]
    assert core["changes_of_room"] == core["confirmed_within_two_steps"] > 3
    full = rows["whole run, words only"]
    assert full["steps_told"] == full["steps_stored"] == 120
    assert full["episodes"] > 5
    assert all("median" in row["steps_per_second"] for row in rows.values() if "steps_per_second" in row)
    assert "agents" in tables.TABLES


def test_a_change_of_room_counts_once_it_was_sure_twice_and_a_room_passed_is_told_apart() -> None:
    rooms = ["hall"] * 4 + ["den"] * 3 + ["hall"] + ["attic"] * 3
    readings = [Reading(n, place=room) for n, room in enumerate(rooms)]
    readings[9] = Reading(9, place="cellar", confidence=0.4)  # a glimpse through a door
    assert agent_run.confirmed(readings) == {
        "changes_of_room": 1,
        "confirmed_within_two_steps": 1,
        "rooms_passed": 2,
    }


def test_the_examples_of_the_module_hold() -> None:
    assert doctest.testmod(agent_run).failed == 0
