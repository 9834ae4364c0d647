"""The commands about skills, on a memory of fifteen days."""

import json
from datetime import timedelta

import pytest
from builders.assistants import TEN, weather
from builders.chats import Clock, mine
from builders.commands import Run
from conftest import After

from episodic_agent import Memory

NAME = "What's the weather in … on Thursday?"


def fifteen_days(memory: Memory, clock: Clock) -> None:
    clock.now = TEN + timedelta(days=15)
    mine(memory).add([m for day in range(15) for m in weather(day)], thread="desk")
    mine(memory).flush()


@pytest.fixture
def learned(after: After) -> None:
    after(fifteen_days)


@pytest.mark.usefixtures("learned")
def test_skills_are_listed_found_and_shown(run: Run) -> None:
    assert "What's the weather in …" in run("skills").out
    (result,) = run("skills", "the weather", "--json").json["skills"]
    assert (result["name"], result["kind"], result["frequency"]) == (NAME, "procedural", 15)
    assert result["score"] > 0
    assert run("skills", "--kind", "decision", "--json").json == {"skills": []}
    outcome = run("skills", "zebra")
    assert (outcome.out, outcome.err) == ("", "no skill answers this\n")
    shown = run("skill", "show", NAME.upper())
    assert "find_place(query=…)" in shown.out
    assert "seen 15 times when judged, checks passed: all; 0.702 > 0.7" in shown.out
    record = run("skill", "show", result["id"], "--json").json
    assert len(record["evidence"]) == 15
    assert record["decision"]["verdict"] == "created"


@pytest.mark.usefixtures("learned")
def test_a_skill_is_used_and_forgotten(run: Run) -> None:
    for _ in range(4):
        run("skill", "used", NAME)
    used = run("skill", "used", NAME, "--failure", "--json").json
    assert (used["uses"], used["successes"]) == (5, 4)
    assert used["confidence"] == pytest.approx((0.7021 + 0.8) / 2, abs=1e-3)
    assert "5 of 6 uses served" in run("skill", "used", NAME).err
    assert run("skill", "forget", NAME).err == f"{NAME} is forgotten\n"
    assert run("skills", "--json").json == {"skills": []}
    gone = run("skill", "show", NAME)
    assert (gone.code, "no skill" in gone.err) == (3, True)


def test_a_memory_without_skills_says_when_there_will_be_some(run: Run) -> None:
    run("add", "hello")
    assert run("skills").err == "no skills yet; what serves fifteen times becomes one\n"
    assert json.loads(run("skills", "--json").out) == {"skills": []}


@pytest.mark.slow
@pytest.mark.usefixtures("learned")
def test_the_list_and_the_reason_say_the_same_of_confidence(run: Run) -> None:
    """Months later: idle time is taken off, and both numbers are told with what lies between them."""
    listed = run("skills").out
    assert "(was 0.702)" in listed or ("(was" in listed and "0.702)" in listed)
    shown = " ".join(run("skill", "show", NAME).out.split())
    assert "0.702 > 0.7" in shown
    assert "(was 0.702), not used yet, last seen or used on 2025-11-19" in shown
    assert not [word for word in ("postconditions", "returns") if word in shown]  # nothing to tell
    assert "1 use served, confidence" in run("skill", "used", "what's the weather in ... on thursday").err
