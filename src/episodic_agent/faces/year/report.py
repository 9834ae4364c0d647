"""The report of a year: JSON for machines, Markdown for people, one picture."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from episodic_agent.core.language import plural
from episodic_agent.faces.plot.year import year_png
from episodic_agent.faces.year.living import Lived, hit_rates
from episodic_agent.faces.year.sections import facts_section, judged, suppressed_section
from episodic_agent.faces.year.story import Event, Story
from episodic_agent.private import write_text

DRAWN: Final = 3


def report_of(story: Story, lived: Lived, days: int) -> dict[str, Any]:
    """Return everything the report says."""
    drawn = _drawn([event for event in story.events if event.day < days - 1], lived)
    counts = " and ".join(f"{plural(count, 'episode')} {name}" for name, count in lived.episodes.items())
    return {
        "person": story.person,
        "days": days,
        "heading": f"{plural(days, 'day')}, {plural(lived.messages, 'message')}; {counts}",
        "episodes": lived.episodes,
        "curves": {e.key: {name: lived.curves[name][e.key] for name in lived.curves} for e in drawn},
        "reviews": lived.reviews,
        "rates": hit_rates(lived),
        "facts": judged(story.facts, lived.learned, days),
        "learned": [asdict(fact) for fact in lived.learned],
        "held": lived.held,
        "suppressed": lived.suppressed,
        "asked": [event.key for event in story.events if event.day < days - 1],
        "questions": {event.key: event.question for event in story.events},
    }


def write(report: Mapping[str, Any], folder: Path) -> None:
    """Write `year.json`, `year.md` and `year.png`."""
    text = json.dumps(report, indent=1, ensure_ascii=False) + "\n"
    write_text(folder / "year.json", text)
    write_text(folder / "year.md", markdown(report))
    year_png(report, folder / "year.png")


def markdown(report: Mapping[str, Any]) -> str:
    """Render the report for people."""
    lines = ["# A year of remembering", "", f"{report['heading']}.", "", "![](year.png)", ""]
    lines += ["## What was found", ""]
    lines += ["| age in days | asked for | memory | probes | first | among three | R |"]
    lines += ["|---|---|---|---|---|---|---|"]
    for row in report["rates"]:
        low, high = row["days"]
        asked = "yes" if row["asked for"] else "never"
        figures = f"{row['first']:.2f} | {row['found']:.2f} | {row['retrievability']:.2f}"
        lines.append(f"| {low}-{high} | {asked} | {row['memory']} | {row['probes']} | {figures} |")
    lines += ["", "## What was reviewed", ""]
    for key, verdicts in report["reviews"].items():
        if verdicts:
            when = ", ".join(f"day {day} {verdict}" for day, verdict in verdicts)
            lines.append(f"- {report['questions'][key]} {when}")
    lines += ["", *facts_section(report)]
    lines += suppressed_section(report["suppressed"], len(report["asked"]))
    return "\n".join(lines).rstrip() + "\n"


def _drawn(events: Sequence[Event], lived: Lived) -> list[Event]:
    """Return the events whose curves tell most: those reviewed most often, in the order they happened."""
    busiest = sorted(events, key=lambda e: (-len(lived.reviews.get(e.key, ())), e.day))[:DRAWN]
    return sorted(busiest, key=lambda e: e.day)
