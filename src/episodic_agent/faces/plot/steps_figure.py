"""What only pictures of steps have: the stacked factors of the score, freezes, the strip of places."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from episodic_agent.engine.trace import BoundaryTrace
from episodic_agent.faces.plot.labels import Fonts, text_width, to_draw
from episodic_agent.faces.plot.steps import factors, freezes, stays
from episodic_agent.faces.plot.style import DPI, FACTOR_COLOURS, INK, PLACE_COLOURS, QUIET, ROSE
from episodic_agent.faces.plot.words import shorten

NAMES: Final = {"event": "events", "prediction": "prediction error"}  # longer words of two factors
LETTERS: Final = 7.8  # points, of places


def score(trace: BoundaryTrace, main: Any) -> None:
    """Stack the contributions to each score, and draw the thresholds and the freezes over them."""
    # each step is as wide as its place on the axis, so that its edges are the cuts
    edges = np.arange(len(trace.seqs) + 1) - 0.5
    base = np.zeros(len(trace.seqs))
    for name, values in factors(trace).items():
        top = np.minimum(base + np.asarray(values), 1.0)  # as the score itself
        main.stairs(
            top,
            edges,
            baseline=base,
            fill=True,
            color=FACTOR_COLOURS[name],
            label=NAMES.get(name, name),
            zorder=1,
        )
        base = top
    lines: tuple[tuple[str, Sequence[float], object], ...] = (
        ("high threshold", trace.threshold, (0, (5, 3))),
        ("low threshold", trace.low, (0, (1, 2.5))),
    )
    for label, line, dashes in lines:
        if len(line) and not np.all(np.isnan(line)):
            main.plot(line, color=QUIET, linewidth=1.1, linestyle=dashes, label=label, zorder=3)
    frozen_marks(trace, main, [float(value) for value in base])


def frozen_marks(trace: BoundaryTrace, main: Any, heights: Sequence[float]) -> None:
    """Mark the checks that froze the frame, at their scores."""
    frozen = [index for index, _ in freezes(trace)]
    main.plot(
        frozen,
        [heights[index] for index in frozen],
        linestyle="",
        marker="v",
        markersize=7.5 if len(frozen) <= 40 else 4.0,
        color=ROSE,
        markeredgecolor="white",
        markeredgewidth=0.8,
        label="freeze",
        zorder=5,
    )


def places_strip(trace: BoundaryTrace, axes: Any, fonts: Fonts, width: float) -> None:
    """Colour the axis by where the agent was, and name stays that are wide enough; `width` is in pixels."""
    colours: dict[str, str] = {}
    cell = width / len(trace.seqs)
    for stay in stays(trace):
        key = stay.place.casefold()
        colour = colours.setdefault(key, PLACE_COLOURS[len(colours) % len(PLACE_COLOURS)])
        axes.axvspan(stay.start - 0.5, stay.end - 0.5, color=colour, linewidth=0, zorder=1)
        room = cell * (stay.end - stay.start) - 6
        name = to_draw(stay.place, fonts)
        while name and text_width(name, LETTERS, DPI) > room:
            name = shorten(name, len(name.rstrip("…")) - 1) if len(name) > 4 else ""
        middle = (stay.start + stay.end - 1) / 2
        axes.text(
            middle, 0.5, name, fontsize=LETTERS, color=INK, ha="center", va="center", zorder=2, clip_on=True,
            parse_math=False,
        )  # fmt: skip
    axes.set_xlim(-0.5, len(trace.seqs) - 0.5)
    axes.set_ylim(0, 1)
    axes.set_yticks([0.5], ["place"], fontsize=8, color=INK)
    axes.tick_params(axis="both", length=0)
    for side in ("top", "right", "left", "bottom"):
        axes.spines[side].set_visible(False)
