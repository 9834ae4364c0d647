"""The boundary plot as a picture, by matplotlib (the extra `plot`), without its global state.

Above: one label per new episode, staggered so that none covers another. Middle: probability with its
threshold, surprise as a light area, cuts as vertical lines. Below: every cue as a strip of heat. The SVG is
the same byte for byte for the same trace; its words stay text, so a viewer's own fonts write any script.
"""

import importlib
import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from episodic_agent.engine.trace import BoundaryTrace
from episodic_agent.errors import InvalidInput
from episodic_agent.faces.plot.labels import Fonts, Label, Placed, stagger, to_draw
from episodic_agent.faces.plot.words import plain, reason_words, shorten, time_labels

MISSING: Final = 'plots as pictures need matplotlib: pip install "episodic-agent[plot]"'
SIZE: Final = (12.8, 7.2)  # inches; 1600 x 900 pixels
DPI: Final = 125
INK, QUIET, GRID = "#22303c", "#6b7885", "#e3e8ec"
BLUE, ROSE, AMBER = "#2466a8", "#c2304f", "#f2a93b"
SHADES: Final = ("#ffffff", "#f3f6f9")  # of neighbouring episodes
HEAT: Final = ("#f7fafc", "#cfe3ef", "#7fb5d1", "#2f7fae", "#0f4c75")
LEVELS: Final = 4
MOST_CUES: Final = 14


def plot_svg(trace: BoundaryTrace, path: Path) -> None:
    """Write a trace as SVG. Raises InvalidInput without matplotlib, or where the file cannot be written."""
    _write(trace, path, "svg")


def plot_png(trace: BoundaryTrace, path: Path) -> None:
    """Write a trace as PNG of 1600 x 900 pixels. Raises InvalidInput as `plot_svg` does."""
    _write(trace, path, "png")


def _write(trace: BoundaryTrace, path: Path, format: str) -> None:
    if not trace.seqs:
        raise InvalidInput("there is nothing to plot yet: the thread has no observations")
    with _styled(format) as fonts:
        figure = _draw(trace, fonts)
        metadata = {"Date": None, "Creator": "episodic-agent"} if format == "svg" else {"Software": "episodic-agent"}
        try:
            figure.savefig(path, format=format, dpi=DPI, metadata=metadata, facecolor="white")
        except OSError as error:
            raise InvalidInput(f"cannot write {path}: {error.strerror or error}") from error


@contextmanager
def _styled(format: str) -> Iterator[Fonts]:
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
    cues = dict(list(trace.cues.items())[:MOST_CUES])
    heat = 0.16 * max(1, len(cues)) + 0.1 if cues else 0.01
    grid = figure.add_gridspec(
        3, 1, height_ratios=[1.15, 3.2, heat], hspace=0.0, left=0.105, right=0.955, top=0.865, bottom=0.085
    )
    band = figure.add_subplot(grid[0])
    main = figure.add_subplot(grid[1], sharex=band)
    _shade(trace, band, main)
    _curves(trace, main)
    _labels(trace, band, main, fonts)
    _dates(trace, band)
    last = main
    if cues:
        last = figure.add_subplot(grid[2], sharex=band)
        _heat(trace, last, cues, fonts)
        main.tick_params(axis="x", labelbottom=False, length=0)
    _numbers(trace, last)
    _heading(trace, figure, main, fonts)
    return figure


def _shade(trace: BoundaryTrace, *axes: Any) -> None:
    for number, (start, end, _, _) in enumerate(trace.episodes()):
        for area in axes:
            area.axvspan(start - 0.5, end - 0.5, color=SHADES[number % 2], linewidth=0, zorder=0)
            if start:
                area.axvline(start - 0.5, color=ROSE, linewidth=1.1, alpha=0.75, zorder=2)
    for area in axes:
        area.set_xlim(-0.5, len(trace.seqs) - 0.5)
        for side in ("top", "right", "left", "bottom"):
            area.spines[side].set_visible(False)


def _curves(trace: BoundaryTrace, main: Any) -> None:
    places = range(len(trace.seqs))
    marker = {"marker": "o", "markersize": 2.6} if len(trace.seqs) <= 200 else {}
    surprise = [0.0 if math.isnan(value) else value for value in trace.surprise]
    main.fill_between(places, surprise, color=AMBER, alpha=0.28, linewidth=0, label="surprise", zorder=1)
    main.plot(places, trace.threshold, color=QUIET, linewidth=1.1, linestyle=(0, (5, 3)), label="threshold", zorder=3)
    main.plot(places, trace.probability, color=BLUE, linewidth=1.5, label="boundary probability", zorder=4, **marker)
    starts = [start for start, _, _, _ in trace.episodes()[1:]]
    main.plot(
        starts, [trace.probability[i] for i in starts], linestyle="", marker="o", markersize=6, color=ROSE,
        markeredgecolor="white", markeredgewidth=1.0, label="new episode begins", zorder=5,
    )  # fmt: skip
    main.set_ylim(0, 1.04)
    main.set_yticks([0, 0.25, 0.5, 0.75, 1.0], ["0", "", "0.5", "", "1"])
    main.set_ylabel("probability")
    main.grid(axis="y", color=GRID, linewidth=0.8, zorder=0)
    main.set_axisbelow(True)
    main.tick_params(axis="both", length=0)


def _labels(trace: BoundaryTrace, band: Any, main: Any, fonts: Fonts) -> None:
    """Write the new episodes' titles above their lines, as many as fit."""
    band.set_ylim(0, 1)
    band.set_yticks([])
    width = band.bbox.width / len(trace.seqs)  # pixels per message
    labels = []
    for number, (start, _, title, reason) in enumerate(trace.episodes(), 1):
        name = to_draw(shorten(title, 34), fonts) or f"Episode {number}"
        probability = trace.probability[start]
        why = reason_words(reason) or ("begins" if start == 0 else "cut")
        shown = why if start == 0 or math.isnan(probability) else f"{why} · {probability:.2f}"
        labels.append(Label(start * width, name, to_draw(shown, fonts)))
    for placed in stagger(labels, band.bbox.width, LEVELS, fonts, DPI):
        _label(band, placed, width)


def _label(band: Any, placed: Placed, width: float) -> None:
    top = 0.97 - placed.level / LEVELS
    x = placed.label.at / width - 0.5
    shift, align = (-5, "right") if placed.leftwards else (5, "left")
    for text, size, weight, colour, drop in (
        (placed.label.title, 8.6, "bold", INK, 0),
        (placed.label.reason, 7.4, "normal", ROSE if placed.label.at else QUIET, 11.5),
    ):
        band.annotate(
            text, (x, top), xytext=(shift, -drop), textcoords="offset points", ha=align, va="top", fontsize=size,
            fontweight=weight, color=colour, zorder=6, annotation_clip=False, parse_math=False,
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.6},
        )  # fmt: skip


def _dates(trace: BoundaryTrace, band: Any) -> None:
    places = time_labels(trace.times, 9)
    band.xaxis.set_ticks_position("top")
    band.set_xticks([place for place, _ in places], [label for _, label in places], fontsize=8)
    band.tick_params(axis="x", length=3, labelbottom=False, labeltop=True, colors=QUIET, pad=2)


def _heat(trace: BoundaryTrace, axes: Any, cues: Mapping[str, Sequence[float]], fonts: Fonts) -> None:
    colors = importlib.import_module("matplotlib.colors")
    shades = colors.LinearSegmentedColormap.from_list("cues", HEAT)
    shades.set_bad("#ffffff")
    rows = [[min(1.0, max(0.0, value)) if value == value else math.nan for value in cues[name]] for name in cues]  # noqa: PLR0124 (NaN)
    axes.imshow(rows, aspect="auto", cmap=shades, vmin=0, vmax=1, interpolation="nearest", zorder=1)
    axes.set_xlim(-0.5, len(trace.seqs) - 0.5)
    names = [to_draw(shorten(name.replace("_", " "), 18), fonts) for name in cues]
    axes.set_yticks(range(len(names)), names, fontsize=8, color=INK)
    axes.tick_params(axis="both", length=0)
    for row in range(len(names) + 1):
        axes.axhline(row - 0.5, color="white", linewidth=2, zorder=2)
    for start, _, _, _ in trace.episodes()[1:]:
        axes.axvline(start - 0.5, color=ROSE, linewidth=1.1, alpha=0.75, zorder=3)
    for side in ("top", "right", "left", "bottom"):
        axes.spines[side].set_visible(False)


def _numbers(trace: BoundaryTrace, axes: Any) -> None:
    step = next(s for s in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 10**9) if len(trace.seqs) / s <= 16)
    places = [i for i, seq in enumerate(trace.seqs) if seq % step == 0]
    axes.set_xticks(places, [str(trace.seqs[i]) for i in places], fontsize=8)
    axes.tick_params(axis="x", length=3, color=QUIET, labelbottom=True, bottom=True, top=False, labeltop=False)
    axes.set_xlabel("message")


def _heading(trace: BoundaryTrace, figure: Any, main: Any, fonts: Fonts) -> None:
    name = to_draw(shorten(trace.title, 60), fonts) or "Episode boundaries"
    episodes = len(trace.episodes())
    count = f"{len(trace.seqs)} messages · {episodes} {'episode' if episodes == 1 else 'episodes'}"
    figure.text(0.02, 0.968, plain(name), fontsize=14, fontweight="bold", va="top", parse_math=False)
    figure.text(0.02, 0.928, count, fontsize=9, color=QUIET, va="top")
    handles, words = main.get_legend_handles_labels()
    order = [words.index(w) for w in ("boundary probability", "threshold", "surprise", "new episode begins")]
    figure.legend(
        [handles[i] for i in order], [words[i] for i in order], loc="upper right", bbox_to_anchor=(0.962, 0.985),
        ncols=4, frameon=False, fontsize=8.5, handlelength=1.8, columnspacing=1.6, labelcolor=INK,
    )  # fmt: skip
