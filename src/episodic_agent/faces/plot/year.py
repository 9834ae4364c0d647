"""A year of remembering as a picture, by matplotlib (the extra `plot`).

Above: how strong some memories were on each day, with reviews and without. Below left: how often the right
episode was found, by age; below right: what was so, and when.
"""

import importlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from episodic_agent.errors import InvalidInput
from episodic_agent.faces.plot.figure import save, styled
from episodic_agent.faces.plot.style import AMBER, BLUE, DPI, GRID, INK, PLACE_COLOURS, QUIET, ROSE

SIZE: Final = (12.8, 8.4)  # inches; 1600 x 1050 pixels
LINES: Final = (BLUE, ROSE, AMBER, "#2e8b6f")
Curve = Sequence[tuple[int, float]]
MONTHS: Final = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]


def year_png(told: Mapping[str, Any], path: Path) -> None:
    """Write the picture of a year as PNG. Raises InvalidInput without matplotlib or curves."""
    if not told["curves"]:
        raise InvalidInput("there is no curve yet: live at least a month")
    with styled("png"):
        save(_draw(told), path, "png")


def _draw(told: Mapping[str, Any]) -> Any:
    figure = importlib.import_module("matplotlib.figure").Figure(figsize=SIZE, dpi=DPI)
    figure.text(0.06, 0.965, "A year of remembering", fontsize=16, fontweight="bold", color=INK, va="top")
    figure.text(0.06, 0.926, told["heading"], fontsize=9.5, color=QUIET, va="top")
    _curves(figure.add_axes((0.06, 0.51, 0.915, 0.35)), told)
    _found(figure.add_axes((0.06, 0.08, 0.40, 0.30)), told["rates"])
    _facts(figure.add_axes((0.565, 0.08, 0.41, 0.30)), told["facts"], told["days"])
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


def _curves(axes: Any, told: Mapping[str, Any]) -> None:
    """Draw strength over the year: full lines were asked for and reviewed, dotted ones nobody touched."""
    _plain(axes, "How strong a memory is: it fades, and each time it serves it is strengthened")
    _months(axes, told["days"])
    axes.set_ylim(0.38, 1.04)
    axes.set_yticks([0.4, 0.6, 0.8, 1.0], ["40 %", "60 %", "80 %", "100 %"])
    axes.grid(axis="y", color=GRID, linewidth=0.8)
    for colour, (name, both) in zip(LINES, told["curves"].items(), strict=False):
        reviewed, alone = both["with reviews"], both["without"]
        axes.plot(*zip(*alone, strict=True), color=colour, linewidth=1.2, linestyle=(0, (1, 2)), zorder=3)
        axes.plot(*zip(*reviewed, strict=True), color=colour, linewidth=2.0, zorder=4, label=name)
        level = dict(reviewed)
        jumps = [(day, level[day]) for day, _ in told["reviews"][name] if day in level]
        if jumps:
            axes.scatter(*zip(*jumps, strict=True), s=30, color=colour, edgecolor="white", zorder=5)
    axes.plot([], [], color=QUIET, linewidth=1.2, linestyle=(0, (1, 2)), label="the same, never reviewed")
    axes.legend(
        loc="lower center", bbox_to_anchor=(0.5, -0.2), ncols=5, frameon=False, fontsize=9, labelcolor=INK
    )


def _found(axes: Any, rates: Sequence[Mapping[str, Any]]) -> None:
    """Draw how often the right episode was among the first three, by age and memory."""
    _plain(axes, "Found among the first three, by age of the event")
    ages = list(dict.fromkeys(tuple(row["days"]) for row in rates))
    axes.set_ylim(0, 1.12)
    axes.set_yticks([0, 0.5, 1], ["0", "50 %", "100 %"])
    axes.grid(axis="y", color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    kinds = (
        ("with reviews", True, BLUE, "asked for, with reviews"),
        ("without", True, "#9fc3df", "asked for, without"),
        ("with reviews", False, AMBER, "never asked for, with reviews"),
        ("without", False, "#fbe3c0", "never asked for, without"),
    )
    for n, (memory, asked, colour, label) in enumerate(kinds):
        heights = {
            tuple(r["days"]): r["found"] for r in rates if (r["memory"], r["asked for"]) == (memory, asked)
        }
        places = [place + 0.2 * (n - 1.5) for place, age in enumerate(ages) if age in heights]
        values = [heights[age] for age in ages if age in heights]
        axes.bar(places, values, 0.18, color=colour, label=label)
        for x, y in zip(places, values, strict=True):
            axes.text(x, y + 0.015, f"{100 * y:.0f}", ha="center", fontsize=7, color=QUIET)
    names = [f"{low}-{high} days" if high < 400 else f"over {low} days" for low, high in ages]
    axes.set_xticks(range(len(ages)), names)
    axes.legend(
        loc="upper center", bbox_to_anchor=(0.5, -0.09), ncols=4, frameon=False, fontsize=7.5, labelcolor=INK,
        handlelength=1.0, columnspacing=1.0,
    )  # fmt: skip


def _facts(axes: Any, facts: Sequence[Mapping[str, Any]], days: int) -> None:
    """Draw what was so, from when to when."""
    _plain(axes, "What was so, and when")
    _months(axes, days)
    slots = list(dict.fromkeys(fact["slot"] for fact in facts))
    axes.set_ylim(len(slots) - 0.4, -0.6)
    axes.set_yticks(range(len(slots)), slots)
    for n, fact in enumerate(facts):
        row, end = slots.index(fact["slot"]), min(fact["until"] or days, days)
        if fact["day"] >= days:
            continue
        axes.barh(row, end - fact["day"] - 1.5, 0.62, left=fact["day"], color=PLACE_COLOURS[n % 10])
        axes.text(fact["day"] + 4, row, fact["value"], va="center", fontsize=8.5, color=INK, clip_on=True)
