"""The boundary plot as a picture, by matplotlib (the extra `plot`), without its global state.

Above: one label per new episode, staggered so that none covers another; where there are few, with the
messages on both sides of the cut. Middle: probability with its threshold, surprise as a light area, cuts as
vertical lines. Below: every cue as a strip of heat. The legend says what each line is. The SVG is the same
byte for byte for the same trace; its words stay text, so a viewer's own fonts write any script.
"""

import importlib
import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import numpy as np

from episodic_agent.engine.boundary.traces import BoundaryTrace
from episodic_agent.errors import InvalidInput, install_extra
from episodic_agent.faces import wording
from episodic_agent.faces.plot.labels import Fonts, Label, PlacedLabel, stagger, text_width, to_draw
from episodic_agent.faces.plot.steps import counted, factors, freezes, others, visits, why_began
from episodic_agent.faces.plot.style import (
    AMBER,
    BLUE,
    DPI,
    FACTOR_COLOURS,
    GRID,
    INK,
    PLACE_COLOURS,
    QUIET,
    ROSE,
)
from episodic_agent.faces.plot.words import plain, shorten, time_labels
from episodic_agent.private import opened

MISSING: Final = f"plots as pictures need matplotlib; {install_extra('plot')}"
SIZE: Final = (12.8, 7.2)  # inches; 1600 x 900 pixels
SHADES: Final = ("#ffffff", "#f3f6f9")  # of neighbouring episodes
HEAT: Final = ("#f7fafc", "#cfe3ef", "#7fb5d1", "#2f7fae", "#0f4c75")
LEFT, RIGHT = 0.105, 0.965  # of the axes, in widths of the figure
WIDTH: Final = (RIGHT - LEFT) * SIZE[0] * DPI  # of the axes, in pixels
LEVELS, FEWER_LEVELS = 6, 4  # of labels; with messages each is higher
MOST_CUES: Final = 14
FEW: Final = 10  # episodes, up to which the messages at each cut are quoted
QUOTED: Final = 48  # cells of each of them
HIGH, HIGHER = 0.315, 0.7  # of a label's level, without and with the messages at the cut
MAIN, LOWER = 3.2, 2.2  # of the curves, beside the one and the other
PROBABILITY, THRESHOLD, BEGINS = (  # what the lines of a conversation are, for whoever sees them first
    "how likely a new episode begins at this message", "threshold it has to reach", "a new episode begins"
)  # fmt: skip
SURPRISE: Final = "surprise: how little the message was expected"
LEGEND: Final = (
    "score", "location", "events", "prediction error", "time", PROBABILITY, THRESHOLD, "threshold",
    "high threshold", "low threshold", SURPRISE, "surprise", BEGINS, "freeze",
)  # fmt: skip
NAMES: Final = {"event": "events", "prediction": "prediction error"}  # longer words of two factors
LETTERS: Final = 7.8  # points, of places


def plot_svg(trace: BoundaryTrace, path: Path) -> None:
    """Write a trace as SVG. Raises InvalidInput without matplotlib, or where the file cannot be written."""
    _write(trace, path, "svg")


def plot_png(trace: BoundaryTrace, path: Path) -> None:
    """Write a trace as PNG of 1600 x 900 pixels. Raises InvalidInput as `plot_svg` does."""
    _write(trace, path, "png")


def _write(trace: BoundaryTrace, path: Path, format: str) -> None:
    if not trace.seqs:
        raise InvalidInput("there is nothing to plot yet: the thread has no observations")
    with styled(format) as fonts:
        save(_draw(trace, fonts), path, format)


def save(figure: Any, path: Path, format: str) -> None:
    """Write a picture without the date; InvalidInput where it cannot be written."""
    metadata = (
        {"Date": None, "Creator": "episodic-agent"} if format == "svg" else {"Software": "episodic-agent"}
    )
    try:
        with opened(Path(path)) as file:
            figure.savefig(file, format=format, dpi=DPI, metadata=metadata, facecolor="white")
    except OSError as error:
        raise InvalidInput(f"cannot write {path}: {error.strerror or error}") from error


@contextmanager
def styled(format: str) -> Iterator[Fonts]:
    """Set matplotlib up for one picture: fonts for every script there is one for, SVG ids without chance."""
    try:
        matplotlib = importlib.import_module("matplotlib")
        fonts = Fonts(importlib.import_module("matplotlib.font_manager"), any_glyph=format == "svg")
    except ImportError as error:
        raise InvalidInput(MISSING) from error
    style = {
        "font.family": fonts.families,
        "font.size": 9,
        "svg.fonttype": "none",
        "svg.hashsalt": "episodic-agent",
        "axes.edgecolor": QUIET,
        "axes.labelcolor": INK,
        "text.color": INK,
        "xtick.color": QUIET,
        "ytick.color": QUIET,
        "text.parse_math": False,  # "$5 or $6" is a price, not a formula
    }
    with matplotlib.rc_context(style), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r"Glyph .* missing from", category=UserWarning)
        yield fonts


def _draw(trace: BoundaryTrace, fonts: Fonts) -> Any:
    figure = importlib.import_module("matplotlib.figure").Figure(figsize=SIZE, dpi=DPI)
    cues = dict([(name, values) for name, values in others(trace).items() if _moves(values)][:MOST_CUES])
    strip = 0.24 if any(trace.places) else 0.0
    texts = _labels(trace, fonts)
    quoting = any(label.quotes for label in texts)
    labels = stagger(texts, WIDTH, FEWER_LEVELS if quoting else LEVELS, DPI)
    levels = max((placed.level for placed in labels), default=0) + 1
    level, curves = (HIGHER, LOWER) if quoting else (HIGH, MAIN)
    heights = [level * levels + 0.1, curves, strip or 0.01, 0.07, 0.165 * len(cues) or 0.01]
    grid = figure.add_gridspec(
        5, 1, height_ratios=heights, hspace=0.0, left=LEFT, right=RIGHT, top=0.865, bottom=0.09
    )
    band, main = figure.add_subplot(grid[0]), figure.add_subplot(grid[1])
    _shade(trace, band, main)
    draw_score(trace, main) if factors(trace) else _curves(trace, main)
    _scaled(trace, main)
    _titles(trace, band, labels, levels)
    _dates(trace, band)
    last = main
    if strip:
        last = figure.add_subplot(grid[2])
        places_strip(trace, last, fonts, WIDTH)
        main.set_xticks([])
    if cues:
        last.set_xticks([])
        last = figure.add_subplot(grid[4])
        _heat(trace, last, cues, fonts)
        _scale(figure, trace.unit)
    _numbers(trace, last)
    _heading(trace, figure, main, fonts)
    return figure


def _shade(trace: BoundaryTrace, band: Any, main: Any) -> None:
    for number, (start, end, _, _) in enumerate(trace.episodes()):
        for area in (band, main):
            area.axvspan(start - 0.5, end - 0.5, color=SHADES[number % 2], linewidth=0, zorder=0)
    _cuts(trace, main)
    for area in (band, main):
        area.set_xlim(-0.5, len(trace.seqs) - 0.5)
        _bare(area)


def _cuts(trace: BoundaryTrace, area: Any) -> None:
    starts = [start - 0.5 for start, _, _, _ in trace.episodes()[1:]]
    for start in starts:
        area.axvline(start, color=ROSE, linewidth=_thin(1.2, len(starts), 25), alpha=0.8, zorder=3)


def _thin(size: float, count: int, many: int) -> float:
    """Draw finer where there is much to draw."""
    return size if count <= many else max(0.4, size * (many / count) ** 0.5)


def _bare(area: Any) -> None:
    for side in ("top", "right", "left", "bottom"):
        area.spines[side].set_visible(False)


def _curves(trace: BoundaryTrace, main: Any) -> None:
    places = range(len(trace.seqs))
    count = len(trace.seqs)
    marker = {"marker": "o", "markersize": 2.8} if count <= 200 else {}
    steps = trace.unit == "step"
    surprise = [0.0 if math.isnan(value) else value for value in trace.surprise]
    label = "surprise" if steps else SURPRISE
    main.fill_between(places, surprise, color=AMBER, alpha=0.22, linewidth=0, label=label, zorder=1)
    main.plot(
        places,
        trace.threshold,
        color=QUIET,
        linewidth=1.1,
        linestyle=(0, (5, 3)),
        label="threshold" if steps else THRESHOLD,
        zorder=3,
    )
    main.plot(
        places,
        trace.probability,
        color=BLUE,
        linewidth=_thin(1.6, count, 150),
        label="score" if steps else PROBABILITY,
        zorder=4,
        **marker,
    )
    if steps:
        frozen_marks(trace, main, trace.probability)
        return
    starts = [start for start, _, _, _ in trace.episodes()[1:]]
    main.plot(
        starts,
        [trace.probability[i] for i in starts],
        linestyle="",
        marker="o",
        markersize=_thin(6.5, len(starts), 25),
        color=ROSE,
        markeredgecolor="white",
        markeredgewidth=1.0,
        label=BEGINS,
        zorder=5,
    )


def _scaled(trace: BoundaryTrace, main: Any) -> None:
    main.set_ylim(0, 1.04)
    main.set_yticks([0, 0.25, 0.5, 0.75, 1.0], ["0", "", "0.5", "", "1"])
    main.set_ylabel("score" if trace.unit == "step" else "probability")
    main.grid(axis="y", color=GRID, linewidth=0.8, zorder=0)
    main.set_axisbelow(True)
    main.tick_params(axis="both", length=0)


def _labels(trace: BoundaryTrace, fonts: Fonts) -> list[Label]:
    labels = []
    few = trace.unit == "message" and len(trace.episodes()) <= FEW
    for number, (start, _, title, reason) in enumerate(trace.episodes()):
        quotes = _at_the_cut(trace, start, fonts) if few and start else ()
        name = to_draw(shorten(title, 52), fonts) or f"Episode {number + 1}"
        why = why_began(trace, number, start, reason, " · ") or ("begins" if start == 0 else "cut")
        labels.append(Label(start * WIDTH / len(trace.seqs), name, to_draw(why, fonts), quotes))
    return labels


def _at_the_cut(trace: BoundaryTrace, start: int, fonts: Fonts) -> tuple[str, ...]:
    """Quote the last message before a cut and the first one after it."""
    sides = (("before", start - 1), ("after", start))
    return tuple(to_draw(f"{side}: “{shorten(trace.texts[at], QUOTED)}”", fonts) for side, at in sides)


def _titles(trace: BoundaryTrace, band: Any, labels: Sequence[PlacedLabel], levels: int) -> None:
    """Write the new episodes' titles, each at the top of its own line."""
    band.set_ylim(0, 1)
    band.set_yticks([])
    for placed in labels:
        x, top = placed.label.at * len(trace.seqs) / WIDTH - 0.5, 1 - (placed.level + 0.12) / (levels + 0.3)
        if placed.label.at:
            width = _thin(1.2, len(trace.episodes()) - 1, 25)
            band.plot(
                [x, x], [0, top], color=ROSE, linewidth=width, alpha=0.8, zorder=3, solid_capstyle="butt"
            )
        _title(band, placed, x, top)


def _title(band: Any, placed: PlacedLabel, x: float, top: float) -> None:
    shift, align = (-5, "right") if placed.leftwards else (5, "left")
    behind = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.4} if placed.crossed else None
    for text, size, weight, colour, drop in (
        (placed.label.title, 8.6, "bold", INK, 0),
        (placed.label.reason, 7.4, "normal", ROSE if placed.label.at else QUIET, 11),
        *((quote, 7.4, "normal", QUIET, 20 + 9 * line) for line, quote in enumerate(placed.label.quotes)),
    ):
        band.annotate(
            text,
            (x, top),
            xytext=(shift, -drop),
            textcoords="offset points",
            ha=align,
            va="top",
            fontsize=size,
            fontweight=weight,
            color=colour,
            zorder=6,
            annotation_clip=False,
            parse_math=False,
            bbox=behind,
        )


def _dates(trace: BoundaryTrace, band: Any) -> None:
    places = time_labels(trace.times, 9)
    band.xaxis.set_ticks_position("top")
    band.set_xticks([place for place, _ in places], [label for _, label in places], fontsize=8)
    band.tick_params(axis="x", length=3, labelbottom=False, labeltop=True, colors=QUIET, pad=2)


def _heat(trace: BoundaryTrace, axes: Any, cues: Mapping[str, Sequence[float]], fonts: Fonts) -> None:
    colors = importlib.import_module("matplotlib.colors")
    shades = colors.LinearSegmentedColormap.from_list("cues", HEAT)
    shades = shades.with_extremes(bad="#ffffff")
    rows = [
        [math.nan if math.isnan(value) else min(1.0, max(0.0, value)) for value in cues[name]]
        for name in cues
    ]
    axes.imshow(rows, aspect="auto", cmap=shades, vmin=0, vmax=1, interpolation="nearest", zorder=1)
    axes.set_xlim(-0.5, len(trace.seqs) - 0.5)
    names = [to_draw(shorten(wording.cue_words(name), 18), fonts) for name in cues]
    axes.set_yticks(range(len(names)), names, fontsize=8, color=INK)
    axes.tick_params(axis="both", length=0)
    for row in range(len(names) + 1):
        axes.axhline(row - 0.5, color="white", linewidth=2, zorder=2)
    _cuts(trace, axes)
    _bare(axes)


def _moves(values: Sequence[float]) -> bool:
    """Tell whether a cue says anything here: one that never changes is a flag, not a strip to look at."""
    return len({value for value in values if not math.isnan(value)}) > 1


def _scale(figure: Any, unit: str) -> None:
    """Show what the rows of cues are, and what their shades mean."""
    if unit == "message":
        rows = "rows: the cues that make the blue line, message by message"
        figure.text(0.02, 0.041, rows, fontsize=7.5, color=QUIET, va="center")
    colors = importlib.import_module("matplotlib.colors")
    shades = colors.LinearSegmentedColormap.from_list("cues", HEAT)
    bar = figure.add_axes((RIGHT - 0.085, 0.034, 0.07, 0.014))
    bar.imshow([[i / 63 for i in range(64)]], aspect="auto", cmap=shades, vmin=0, vmax=1)
    bar.set_axis_off()
    figure.text(
        RIGHT - 0.092, 0.041, "strength of each cue: 0", fontsize=7.5, color=QUIET, ha="right", va="center"
    )
    figure.text(RIGHT - 0.009, 0.041, "1", fontsize=7.5, color=QUIET, ha="right", va="center")


def _numbers(trace: BoundaryTrace, axes: Any) -> None:
    step = next(s for s in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 10**9) if len(trace.seqs) / s <= 16)
    places = [i for i, seq in enumerate(trace.seqs) if seq % step == 0]
    axes.set_xticks(places, [str(trace.seqs[i]) for i in places], fontsize=8)
    axes.tick_params(
        axis="x", length=3, color=QUIET, labelbottom=True, bottom=True, top=False, labeltop=False
    )
    axes.set_xlabel(trace.unit)


def _heading(trace: BoundaryTrace, figure: Any, main: Any, fonts: Fonts) -> None:
    name = to_draw(shorten(trace.title, 42), fonts) or "Episode boundaries"
    count = counted(trace).replace(", ", " · ")
    figure.text(0.02, 0.968, plain(name), fontsize=14, fontweight="bold", va="top", parse_math=False)
    messages = trace.unit == "message"
    if messages:
        count += ". A new episode begins (red) where the blue line reaches the dashed one."
    figure.text(0.02, 0.912 if messages else 0.928, count, fontsize=9, color=QUIET, va="top")
    handles, words = main.get_legend_handles_labels()
    answers = dict(zip(words, handles, strict=True))
    figure.legend(
        [answers[word] for word in LEGEND if word in answers],
        [word for word in LEGEND if word in answers],
        loc="upper right",
        bbox_to_anchor=(0.962, 0.985),
        ncols=2 if messages else 8,
        frameon=False,
        fontsize=8.5,
        handlelength=1.8,
        columnspacing=1.6,
        labelcolor=INK,
    )


def draw_score(trace: BoundaryTrace, main: Any) -> None:
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
    for visit in visits(trace):
        key = visit.place.casefold()
        colour = colours.setdefault(key, PLACE_COLOURS[len(colours) % len(PLACE_COLOURS)])
        axes.axvspan(visit.start - 0.5, visit.end - 0.5, color=colour, linewidth=0, zorder=1)
        room = cell * (visit.end - visit.start) - 6
        name = to_draw(visit.place, fonts)
        while name and text_width(name, LETTERS, DPI) > room:
            name = shorten(name, len(name.rstrip("…")) - 1) if len(name) > 4 else ""
        middle = (visit.start + visit.end - 1) / 2
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
