"""`episodic demo --year`: a year in minutes, with reviews and without, and what became of the memories."""

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from rich.rule import Rule

from episodic_agent.engine.repeating import remembering
from episodic_agent.faces.cli.app import out, print_json
from episodic_agent.faces.plot.year import check_drawing
from episodic_agent.faces.year.living import ALONE, REVIEWED, Lived, SimulatedClock, joined, live
from episodic_agent.faces.year.report import markdown, told, write
from episodic_agent.faces.year.story import read_story
from episodic_agent.wiring import Memory, Say, load_settings, make_embedder

MONTH = 30  # days from one line of progress to the next
FILES = {REVIEWED: "reviewed.db", ALONE: "alone.db"}


def demo_year(output: Path, embedder: str | None, say: Say, *, days: int, as_json: bool) -> None:
    """Live through the year and write the report into an empty folder."""
    check_drawing()
    chosen = embedder or load_settings().embedder
    # The two share nothing: each has a process, and a machine with two cores takes as long as for one.
    with ProcessPoolExecutor(max_workers=2, mp_context=get_context("spawn")) as pool:
        lives = [pool.submit(_live, name, output / FILES[name], chosen, days, say) for name in FILES]
        reviewed, alone = [one.result() for one in lives]
    report = told(read_story(), joined(reviewed, alone), days)
    write(report, output)
    if as_json:
        print_json(report)
        return
    console = out()
    console.print(Rule("a year of remembering"))
    console.print(markdown(report), markup=False)
    console.print(f"{output / 'year.png'}: forgetting curves, what was found, what was so and when")


def _live(name: str, file: Path, embedder: str, days: int, say: Say) -> Lived:
    """Live through the year with one memory; the one with reviews says how far it is."""
    story, clock = read_story(), SimulatedClock()
    heard = remembering(make_embedder(embedder, load_settings(), say)) or "none"  # much is said again
    with Memory.open(file, user_id=story.person, embedder=heard, clock=clock) as memory:
        progress = _progress(say, days) if name == REVIEWED else _silent
        return live(story, name, memory, clock, days, progress)


def _silent(day: int) -> None:
    """Say nothing."""


def _progress(say: Say, days: int) -> Callable[[int], None]:
    def progress(day: int) -> None:
        if day % MONTH == 0 or day == days:
            say(f"day {day} of {days}")

    return progress
