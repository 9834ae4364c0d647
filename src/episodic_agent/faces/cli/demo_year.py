"""`episodic demo --year`: a year in minutes, with reviews and without, and what became of the memories."""

from collections.abc import Callable
from pathlib import Path

from rich.rule import Rule

from episodic_agent.engine.repeating import remembering
from episodic_agent.faces.cli.app import out, print_json
from episodic_agent.faces.year.living import ALONE, REVIEWED, SimulatedClock, live
from episodic_agent.faces.year.report import markdown, told, write
from episodic_agent.faces.year.story import read_story
from episodic_agent.wiring import Memory, Say, load_settings, make_embedder

MONTH = 30  # days from one line of progress to the next


def demo_year(output: Path, embedder: str | None, say: Say, *, days: int, as_json: bool) -> None:
    """Live through the year and write the report into an empty folder."""
    story, clock = read_story(), SimulatedClock()
    settings = load_settings()
    shared = (
        remembering(make_embedder(embedder or settings.embedder, settings, say)) or "none"
    )  # both memories hear the same words
    places = {REVIEWED: output / "reviewed.db", ALONE: output / "alone.db"}
    with (
        Memory.open(places[REVIEWED], user_id=story.person, embedder=shared, clock=clock) as reviewed,
        Memory.open(places[ALONE], user_id=story.person, embedder=shared, clock=clock) as alone,
    ):
        lived = live(story, {REVIEWED: reviewed, ALONE: alone}, clock, days, _progress(say, days))
    report = told(story, lived, days)
    write(report, output)
    if as_json:
        print_json(report)
        return
    console = out()
    console.print(Rule("a year of remembering"))
    console.print(markdown(report), markup=False)
    console.print(f"{output / 'year.png'}: forgetting curves, what was found, what was so and when")


def _progress(say: Say, days: int) -> Callable[[int], None]:
    def progress(day: int) -> None:
        if day % MONTH == 0 or day == days:
            say(f"day {day} of {days}")

    return progress
