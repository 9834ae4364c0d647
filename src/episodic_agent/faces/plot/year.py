"""A year of remembering as a picture, by matplotlib (the extra `plot`).

Above: how strong three memories were on each day, and the average strength by age, with reviews and without.
Below: how often the right episode was found, by age; what was so and when, as it was told and as it was
learned.
"""

import importlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from episodic_agent.errors import InvalidInput
from episodic_agent.faces.plot.figure import save, styled
from episodic_agent.faces.plot.style import AMBER, BLUE, DPI, GRID, INK, PLACE_COLOURS, QUIET, ROSE

SIZE: Final = (12.8, 9.6)  # inches; 1600 x 1200 pixels
LINES: Final = (BLUE, ROSE, AMBER)
WITH, WITHOUT = BLUE, "#b9c4cc"
DOTTED: Final = (0, (1, 2))
OLD: Final = 365  # days; ages that reach further have no upper end
MONTHS: Final = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]


def check_drawing() -> None:
    """Raise InvalidInput where there is no matplotlib, before a year is lived for its picture."""
    with styled("png"):
        pass


def year_png(values: Mapping[str, Any], path: Path) -> None:
    """Write the picture of a year as PNG. Raises InvalidInput without matplotlib or curves."""
    if not values["curves"]:
        raise InvalidInput("there is no curve yet: live at least a month")
    with styled("png"):
        save(_draw(values), path, "png")


def _draw(values: Mapping[str, Any]) -> Any:
    figure = importlib.import_module("matplotlib.figure").Figure(figsize=SIZE, dpi=DPI)
    figure.text(0.065, 0.972, "A year of remembering", fontsize=17, fontweight="bold", color=INK, va="top")
    figure.text(0.065, 0.935, values["heading"], fontsize=10, color=QUIET, va="top")
    _curves(figure.add_axes((0.065, 0.595, 0.545, 0.265)), values)
    _strengths(figure.add_axes((0.695, 0.595, 0.20, 0.265)), values["rates"])
    _draw_recall(figure.add_axes((0.065, 0.115, 0.33, 0.335)), values["rates"])
    _facts(figure.add_axes((0.495, 0.115, 0.48, 0.335)), values)
    return figure


def _plain(axes: Any, title: str) -> None:
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(GRID)
    axes.tick_params(colors=QUIET, length=0, labelsize=8.5)
    axes.set_title(title, loc="left", fontsize=11, fontweight="bold", color=INK, pad=10)


def _months(axes: Any, days: int) -> None:
    axes.set_xlim(0, days)
    starts = [start for start in (0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334) if start < days]
    axes.set_xticks(starts, MONTHS[: len(starts)], ha="left")
    for start in starts:
        axes.axvline(start, color=GRID, linewidth=0.8, zorder=0)


def _percent(axes: Any, low: float, steps: Sequence[float]) -> None:
    axes.set_ylim(low, 1.05)
    axes.set_yticks(steps, [f"{100 * step:.0f} %" for step in steps])
    axes.grid(axis="y", color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)


def _curves(axes: Any, values: Mapping[str, Any]) -> None:
    """Draw strength over the year: full lines were reviewed at the dots, dotted ones never."""
    _plain(axes, "A memory fades; each time it serves it is strengthened")
    _months(axes, values["days"])
    _percent(axes, 0.38, (0.4, 0.6, 0.8, 1.0))
    for colour, (name, both) in zip(LINES, values["curves"].items(), strict=False):
        reviewed, alone = both["with reviews"], both["without"]
        axes.plot(*zip(*alone, strict=True), color=colour, linewidth=1.4, linestyle=DOTTED, zorder=3)
        question = values["questions"][name]
        axes.plot(*zip(*reviewed, strict=True), color=colour, linewidth=2.0, zorder=4, label=question)
        level = dict(reviewed)
        jumps = [(day, level[day]) for day, _ in values["reviews"][name] if day in level]
        if jumps:
            axes.scatter(*zip(*jumps, strict=True), s=30, color=colour, edgecolor="white", zorder=5)
    axes.plot([], [], color=QUIET, linewidth=1.4, linestyle=DOTTED, label="the same, never reviewed")
    axes.set_ylabel("retrievability", fontsize=8.5, color=QUIET)
    _legend(axes, -0.11, 2)


def _strengths(axes: Any, rates: Sequence[Mapping[str, Any]]) -> None:
    """Draw the average strength of what was asked for, by age, with reviews and without."""
    _plain(axes, "Reviews keep what is asked for")
    _percent(axes, 0.38, (0.4, 0.6, 0.8, 1.0))
    ages = _ages(rates)
    for memory, colour, ink in (("with reviews", WITH, WITH), ("without", QUIET, QUIET)):
        levels = _levels(rates, memory, asked=True, figure="retrievability")
        places = [ages.index(age) for age in levels]
        values = list(levels.values())
        axes.plot(places, values, color=colour, linewidth=2.6, marker="o", markersize=6, zorder=4)
        if values:
            x, y = places[-1] + 0.18, values[-1]
            axes.text(x, y, f"{100 * y:.0f} %", fontsize=17, fontweight="bold", color=ink, va="center")
            axes.text(x, y - 0.068, memory, fontsize=9, color=ink, va="center")
    axes.set_xlim(-0.25, len(ages) - 0.9)
    axes.set_xticks(range(len(ages)), [_age(age) for age in ages])
    axes.set_xlabel("age of the event, days", fontsize=8.5, color=QUIET)
    axes.set_ylabel("mean retrievability", fontsize=8.5, color=QUIET)


def _draw_recall(axes: Any, rates: Sequence[Mapping[str, Any]]) -> None:
    """Draw how often the right episode was among the first three, by age and memory."""
    _plain(axes, "The right episode is among the first three")
    _percent(axes, 0, (0, 0.25, 0.5, 0.75, 1.0))
    ages = _ages(rates)
    for n, (memory, colour) in enumerate((("with reviews", WITH), ("without", WITHOUT))):
        levels = _levels(rates, memory, asked=True, figure="found")
        places = [ages.index(age) + 0.38 * (n - 0.5) for age in levels]
        axes.bar(places, list(levels.values()), 0.35, color=colour, label=f"asked for, {memory}")
        for x, y in zip(places, levels.values(), strict=True):
            ink = "white" if colour == WITH else INK
            axes.text(x, y - 0.02, f"{100 * y:.0f}", ha="center", va="top", fontsize=9, color=ink)
    never = _levels(rates, "with reviews", asked=False, figure="found")
    diamonds = {"marker": "D", "s": 34, "color": AMBER, "zorder": 5, "clip_on": False}
    places = [ages.index(age) for age in never]
    axes.scatter(places, list(never.values()), label="never asked for (with reviews)", **diamonds)
    asked = _levels(rates, "with reviews", asked=True, figure="probes")
    axes.set_xticks(range(len(ages)), [f"{_age(age)}\n{asked.get(age, 0):.0f} questions" for age in ages])
    axes.set_xlabel("age of the event, days", fontsize=8.5, color=QUIET)
    _legend(axes, -0.175, 2)


def _facts(axes: Any, values: Mapping[str, Any]) -> None:
    """Draw what was so, from when to when: bars as it was learned, a line above each as it was told."""
    score, days = values["facts"], values["days"]
    _plain(
        axes,
        f"What was so, and when: {score['learned']} of {score['told']} facts learned,"
        f" {score['ends_learned']} of {score['ends_told']} ends",
    )
    _months(axes, days)
    slots = list(dict.fromkeys(row["slot"] for row in score["facts"]))
    axes.set_ylim(len(slots) - 0.4, -0.6)
    axes.set_yticks(range(len(slots)), slots)
    for n, row in enumerate(score["facts"]):
        place, end = slots.index(row["slot"]), days if row["until"] is None else row["until"]
        axes.plot([row["day"] + 0.7, end - 1.5], [place - 0.40] * 2, color=INK, linewidth=1.3, zorder=4)
        if row["heard"] is not None:
            _learned(axes, row, place + 0.04, days, PLACE_COLOURS[n % len(PLACE_COLOURS)])
    _values(axes, score["facts"], slots, days)
    axes.plot([], [], color=INK, linewidth=1.3, label="as told")
    axes.bar([0], [0], color=PLACE_COLOURS[0], label="as the memory learned it")
    axes.bar([0], [0], color="white", edgecolor=ROSE, hatch="////", linewidth=0, label="an end it missed")
    _legend(axes, -0.075, 3)


def _learned(axes: Any, row: Mapping[str, Any], place: float, days: int, colour: str) -> None:
    """Draw when a fact holds by what was learned; hatched where its end was told and not learned."""
    statement = row["heard"]
    until = days if statement["until"] is None else min(statement["until"], days)
    axes.barh(place, until - statement["day"] - 1.5, 0.6, left=statement["day"], color=colour)
    if row["ended"] is False and until > row["until"]:
        width = until - row["until"] - 1.5
        axes.barh(
            place, width, 0.6, left=row["until"], color="white", edgecolor=ROSE, hatch="////", linewidth=0
        )


def _values(axes: Any, rows: Sequence[Mapping[str, Any]], slots: Sequence[str], days: int) -> None:
    """Write the values on their bars, or before bars that are too short; in red what was not learned."""
    spans: dict[tuple[str, int], list[Mapping[str, Any]]] = {}
    for row in rows:
        spans.setdefault((row["slot"], row["day"]), []).append(row)
    for (slot, day), same in spans.items():
        short = day > 0.8 * days
        axes.text(
            day - 4 if short else day + 4, slots.index(slot) + 0.04, ", ".join(row["value"] for row in same),
            va="center", ha="right" if short else "left", fontsize=8.5, clip_on=True, zorder=5,
            color=INK if all(row["heard"] for row in same) else ROSE,
        )  # fmt: skip


def _legend(axes: Any, below: float, columns: int) -> None:
    axes.legend(
        loc="upper left", bbox_to_anchor=(-0.01, below), ncols=columns, frameon=False, fontsize=8.5,
        labelcolor=INK, handlelength=1.4, columnspacing=1.6, borderaxespad=0,
    )  # fmt: skip


def _ages(rates: Sequence[Mapping[str, Any]]) -> list[tuple[int, int]]:
    return list(dict.fromkeys((row["days"][0], row["days"][1]) for row in rates))


def _age(age: tuple[int, int]) -> str:
    low, high = age
    return f"{low}-{high}" if high < OLD else f"{low}+"


def _levels(
    rates: Sequence[Mapping[str, Any]], memory: str, *, asked: bool, figure: str
) -> dict[tuple[int, int], float]:
    """Return one figure by age."""
    rows = [row for row in rates if row["memory"] == memory and row["asked for"] == asked]
    return {(row["days"][0], row["days"][1]): row[figure] for row in rows}
