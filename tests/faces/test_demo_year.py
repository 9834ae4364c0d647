"""The simulated year: always the same story, and what it shows is what the memories did."""

import json
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from episodic_agent.faces.cli.main import main
from episodic_agent.faces.year.living import REVIEWED, Lived, Probe, hit_rates
from episodic_agent.faces.year.report import markdown, told
from episodic_agent.faces.year.sections import facts_section, suppressed_section
from episodic_agent.faces.year.story import DAYS, read_story


def test_the_year_is_the_same_each_time_and_another_for_another_seed() -> None:
    story = read_story()
    assert list(story.days(40)) == list(story.days(40))
    assert list(story.days(40)) != list(story.days(40, seed=1))


def test_every_day_has_something_to_tell_and_hardly_anything_twice() -> None:
    days = list(read_story().days())
    assert len(days) == DAYS
    assert all(6 <= len(day.messages) <= 24 for day in days)
    said = [m["content"] for day in days for m in day.messages if m["role"] == "user"]
    assert len(set(said)) > 0.75 * len(said)


def test_what_happened_is_told_on_its_day_and_asked_for_afterwards() -> None:
    story = read_story()
    days = {day.number: day for day in story.days()}
    for event in story.events:
        told_then = " ".join(m["content"] for m in days[event.day].messages)
        assert all(line in told_then for line in event.said)
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


def test_a_fact_ends_where_the_next_one_begins() -> None:
    report = told(read_story(), Lived(), DAYS)
    ended = {fact["value"]: fact["until"] for fact in report["facts"]}
    assert ended["Mill Lane 3"] == 164
    assert ended["Harbour Street 9"] is None
    assert "home: Mill Lane 3, from day 0 to day 164" in markdown(report)


def test_the_sections_of_facts_and_of_what_faded_say_what_the_memory_says() -> None:
    class Knowing:
        def facts(self, *, at: datetime | None = None) -> list[Any]:
            homes = ["lives in Mill Lane"] if at is not None and at.month < 6 else ["lives in Harbour Street"]
            return [SimpleNamespace(fact=home) for home in homes]

        def search(self, query: str, *, suppressed: bool = False) -> Any:
            faded = [SimpleNamespace(episode_id=None, title="Old boiler", retrievability=0.41)]
            return SimpleNamespace(suppressed=faded if suppressed else [])

    lines = facts_section(Knowing(), [datetime(2025, 1, 31), datetime(2025, 6, 30)])
    assert "2025-06-30: lives in Harbour Street (no longer: lives in Mill Lane)" in lines[-2]
    assert "Old boiler (R 0.41)" in suppressed_section(Knowing(), ["Who came?"])[2]


@pytest.mark.slow
def test_two_months_leave_a_report_and_a_picture(tmp_path: Path) -> None:
    folder = tmp_path / "year"
    main(["--embedder", "hashing", "demo", "--year", "--days", "45", "--output", str(folder)])
    report = json.loads((folder / "year.json").read_text(encoding="utf-8"))
    assert (folder / "year.png").read_bytes().startswith(b"\x89PNG")
    assert (folder / "year.md").read_text(encoding="utf-8").startswith("# A year")
    assert report["reviews"]["Brandt"]
    strong, weak = (report["curves"]["Brandt"][name][-1][1] for name in ("with reviews", "without"))
    assert strong > weak + 0.1
