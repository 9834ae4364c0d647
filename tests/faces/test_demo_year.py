"""The simulated year: always the same story, and what it shows is what the memories did."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from episodic_agent.faces.cli.main import main
from episodic_agent.faces.plot.year import year_png
from episodic_agent.faces.year.living import (
    ALONE,
    REVIEWED,
    Lived,
    Probe,
    SimulatedClock,
    hit_rates,
    joined,
    live,
)
from episodic_agent.faces.year.report import markdown, report_of
from episodic_agent.faces.year.sections import Learned, judged, suppressed_section
from episodic_agent.faces.year.story import DAYS, Scripted, read_story
from episodic_agent.wiring import Memory

SHORT = 31  # days


def test_the_year_is_the_same_each_time_and_another_for_another_seed() -> None:
    story = read_story()
    assert list(story.days(40)) == list(story.days(40))
    assert list(story.days(40)) != list(story.days(40, seed=1))


def test_every_day_has_something_to_tell_and_hardly_anything_twice() -> None:
    days = list(read_story().days())
    assert len(days) == DAYS
    assert all(6 <= len(day.messages) <= 24 for day in days)
    texts = [m["content"] for day in days for m in day.messages if m["role"] == "user"]
    assert len(set(texts)) > 0.75 * len(texts)


def test_what_happened_is_told_on_its_day_and_asked_for_afterwards() -> None:
    story = read_story()
    days = {day.number: day for day in story.days()}
    for event in story.events:
        told_then = " ".join(m["content"] for m in days[event.day].messages)
        assert all(line in told_then for line in event.lines)
        assert all(event in days[event.day + later].asks for later in event.asked if event.day + later < DAYS)


def test_hit_rates_count_the_first_three_by_age() -> None:
    probes = [
        Probe(REVIEWED, "a", True, 40, 10, 1, 0.9),
        Probe(REVIEWED, "b", True, 40, 20, 4, 0.7),
        Probe(REVIEWED, "c", True, 40, 35, 0, 0.5),
    ]
    young, old = hit_rates(Lived(probes=probes, curves={REVIEWED: {}}))
    assert (young["found"], young["first"], young["probes"]) == (0.5, 0.5, 2)
    assert (old["found"], old["days"]) == (0.0, [30, 90])


@pytest.fixture(scope="module")
def month() -> Lived:
    """Return a month lived with both memories."""
    story = read_story()
    lives = []
    for name in (REVIEWED, ALONE):
        clock = SimulatedClock()
        with Memory.open(":memory:", embedder="hashing", clock=clock) as memory:
            lives.append(live(story, name, memory.user(story.person), clock, SHORT))
    return joined(*lives)


def test_what_changes_in_the_story_is_said_on_its_day() -> None:
    story = read_story()
    days = {day.number: " ".join(m["content"] for m in day.messages) for day in story.days()}
    for fact in story.facts:
        assert all(line in days[fact.day] for line in fact.lines), fact
        assert all(line in days[fact.until] for line in fact.ends if fact.until), fact
        assert fact.key.casefold() in days[fact.day].casefold() or fact.slot in days[fact.day], fact


def test_a_month_leaves_reviews_learned_facts_and_stronger_memories(month: Lived) -> None:
    report = report_of(read_story(), month, SHORT)
    (home,) = [fact.value for fact in month.learned if fact.slot == "home"]
    assert "I live in Mill Lane 3" in home
    assert report["facts"]["learned"] == report["facts"]["told"] == 6
    strong, weak = (report["curves"]["Brandt"][name][-1][1] for name in (REVIEWED, ALONE))
    assert strong > weak + 0.1
    assert [day for day, _ in report["reviews"]["Brandt"]] == [9, 17]


def test_the_report_has_every_section_filled_with_what_the_memory_did(month: Lived) -> None:
    text = markdown(report_of(read_story(), month, SHORT))
    assert "- Who repaired the boiler, and what did it cost? day 9 Good, day 17 Good" in text
    said = "I work for Lindqvist Media, mostly on the reporting tools."
    assert f'| work: Lindqvist | day 0 | yes | 0 | - | The user: "{said}" |' in text
    assert "My boyfriend is called Amadeo." in text
    for name, rows in month.suppressed.items():
        assert re.search(rf"{name.capitalize()}, \d of 3 questions lose {len(rows)} hits?\b", text)


@pytest.mark.slow
def test_the_picture_shows_what_was_learned_not_only_what_was_told(month: Lived, tmp_path: Path) -> None:
    def drawn(report: Mapping[str, Any]) -> bytes:
        year_png(report, tmp_path / "year.png")
        return (tmp_path / "year.png").read_bytes()

    story = read_story()
    data = drawn(report_of(story, month, SHORT))
    assert data == drawn(report_of(story, month, SHORT))
    short = [replace(fact, until=20) for fact in month.learned]
    assert data != drawn(report_of(story, replace(month, learned=short), SHORT))
    assert data != drawn({**report_of(story, month, SHORT), "rates": []})
    assert data != drawn({**report_of(story, month, SHORT), "reviews": {key: [] for key in month.reviews}})


HOME = Scripted("home", "Mill Lane 3", "lives_in", "Mill Lane", 5, 60)


@pytest.mark.parametrize(
    ("day", "until", "learned", "ended"),
    [(5, 60, 1, 1), (9, 63, 1, 1), (5, None, 1, 0), (5, 80, 1, 0), (20, 60, 0, 0)],
)
def test_a_fact_and_its_end_are_learned_when_they_are_so(
    day: int, until: int | None, learned: int, ended: int
) -> None:
    score = judged([HOME], [Learned("home", "lives in Mill Lane", "mill lane", day, until, 1)], DAYS)
    assert (score["learned"], score["ends_learned"]) == (learned, ended)
    assert (score["right"], score["ends_held"]) == (learned, int(until is not None))


def test_what_the_story_has_not_lowers_the_precision_and_what_is_to_come_is_not_asked_for() -> None:
    extra = Learned(None, "has a boat", "boat", 5, 60, 1)
    score = judged([HOME, replace(HOME, day=300, until=None)], [extra], 40)
    assert (score["told"], score["learned"], score["held"], score["right"]) == (1, 0, 1, 0)
    assert (score["ends_told"], score["ends_right"]) == (0, 0)


def test_what_strength_suppressed_is_counted_and_named_the_wanted_one_first() -> None:
    row = {
        "question": "Who came?",
        "title": "Old boiler",
        "retrievability": 0.41,
        "reason": "",
        "its own": False,
    }
    values = {**row, "question": "Who left?", "title": "New boiler", "its own": True}
    lines = suppressed_section({ALONE: [row, row, values]}, 9)
    assert lines[2] == (
        "Without, 2 of 9 questions lose 3 hits to strength; 1 of these are the episode that was asked for."
    )
    assert lines[4:6] == ["- Who left? *New boiler* (R 0.41)", "- Who came? *Old boiler* (R 0.41)"]


@pytest.mark.slow
def test_a_year_leaves_a_report_and_a_picture(tmp_path: Path) -> None:
    folder = tmp_path / "year"
    main(["--embedder", "hashing", "demo", "--year", "--output", str(folder)])
    report = json.loads((folder / "year.json").read_text(encoding="utf-8"))
    assert (folder / "year.png").read_bytes().startswith(b"\x89PNG")
    assert (folder / "year.md").read_text(encoding="utf-8").startswith("# A year")
    old = {
        r["memory"]: r["retrievability"] for r in report["rates"] if r["asked for"] and r["days"][0] == 180
    }
    assert old[REVIEWED] > old[ALONE] + 0.25
    facts = report["facts"]
    assert facts["learned"] >= 0.7 * facts["told"]
    # what is so to the end is not ended by what has nothing to do with it
    lasting = [row["heard"]["until"] for row in facts["facts"] if row["heard"] and row["until"] is None]
    assert sum(until is None for until in lasting) >= 0.7 * len(lasting) > 0
    assert report["suppressed"][REVIEWED]
