"""An arc as a picture, by matplotlib (the extra `plot`): a row for each session, a lane for each branch.

The line to a session tells how it goes on from its parent: full where that is sure, dashed where the score is
near the threshold, in another colour where somebody said so. The same arc is the same byte for byte.
"""

import importlib
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from episodic_agent.core.language import plural
from episodic_agent.engine.chains.arcs import Arc, ArcStep
from episodic_agent.errors import InvalidInput
from episodic_agent.faces.plot.figure import save, styled
from episodic_agent.faces.plot.labels import Fonts, text_width, to_draw
from episodic_agent.faces.plot.style import AMBER, BLUE, DPI, GRID, INK, QUIET, ROSE
from episodic_agent.faces.plot.words import day, shorten

MOST: Final = 80  # sessions drawn, the latest of more
MOST_LANES: Final = 24  # branches side by side; those beyond share the last lane
ROW, LANE, DOT = 52.0, 26.0, 7.5  # pixels from row to row and lane to lane, and the radius of a session
LEFT, DATES, AIR = 30.0, 118.0, 24.0  # pixels: of the margin, the column of dates, and around lanes
HEAD, FOOT, NARROWEST = 112.0, 30.0, 760.0
TITLE, SMALL = 9.6, 7.8  # sizes of letters in points
LONGEST: Final = 60  # cells of a title
REST_DAYS: Final = 30  # a rest of so many days is told between two rows
BY_WORD: Final = {"explicit": "named by the caller", "hand": "by hand", "roll": "the next part of its thread",
                  "inherited": "its parent was erased"}  # fmt: skip
UNTITLED: Final = "Untitled"
COLOURS: Final = {"auto": BLUE, "roll": QUIET, "inherited": QUIET}  # of lines; what somebody said is amber
KINDS: Final = {BLUE: "found", QUIET: "came of itself", AMBER: "said by somebody"}
DASHES: Final = (0, (3.5, 2.5))
LEAST_CELLS: Final = 40  # cells
WORDS: Final = 20  # cells that lanes leave for words
IDENTITY: Final = 36  # cells of an id: commands take it whole
SURE, UNSURE = "│", "┊"


def arc_svg(arc: Arc, path: Path, *, title: str = "") -> None:
    """Write an arc as SVG. Raises InvalidInput without matplotlib, or where the file cannot be written."""
    _write(arc, path, "svg", title)


def arc_png(arc: Arc, path: Path, *, title: str = "") -> None:
    """Write an arc as PNG. Raises InvalidInput as `arc_svg` does."""
    _write(arc, path, "png", title)


def _write(arc: Arc, path: Path, format: str, title: str) -> None:
    if not arc.steps:
        raise InvalidInput("there is nothing to draw: the arc has no sessions")
    with styled(format) as fonts:
        save(_draw(arc, title, fonts), path, format)


def how(step: ArcStep) -> str:
    """Say how a session goes on from its parent, and how surely; "" for one without a parent.

    >>> from datetime import UTC, datetime
    >>> from uuid import UUID
    >>> at = datetime(2026, 3, 4, tzinfo=UTC)
    >>> how(ArcStep(UUID(int=2), UUID(int=1), "", at, at, 1, 0, method="auto", score=0.873, threshold=0.4))
    'found: 0.87, linked from 0.40 on'
    """
    if step.parent_episode_id is None:
        return ""
    if step.score is None or step.method in BY_WORD:
        return BY_WORD.get(step.method, step.method)
    text = f"found: {step.score:.2f}, linked from {step.threshold or 0.0:.2f} on"
    return text if step.sure else f"{text}, unsure"


def heading(arc: Arc) -> str:
    """Say what an arc holds, and what a picture of it leaves out."""
    first, last = arc.steps[0].start_at, max(one.end_at for one in arc.steps)
    days = (last.date() - first.date()).days + 1
    branches = len({one.lane for one in arc.steps})
    texts = [plural(len(arc.steps), "session"), plural(days, "day")]
    if branches > 1:
        texts.append(f"{branches} branches")
    if len(arc.steps) > MOST:
        texts.append(f"drawn: the latest {MOST}")
    return " · ".join(texts)


def name_of(arc: Arc) -> str:
    """Return what an arc is called: the title of its first session."""
    return arc.steps[0].title or UNTITLED


def rest_before(step: ArcStep, before: ArcStep) -> str:
    """Say how long an arc rested before a session, where that was long; else ""."""
    days = (step.start_at - before.end_at).days
    return f"{plural(days, 'day')} later" if days >= REST_DAYS else ""


def _draw(arc: Arc, title: str, fonts: Fonts) -> Any:
    steps = arc.steps[-MOST:]
    lanes = 1 + min(MOST_LANES - 1, max(one.lane for one in steps))
    words = LEFT + DATES + lanes * LANE + AIR
    names = [
        to_draw(shorten(one.title or UNTITLED, LONGEST), fonts) or f"Session {one.row + 1}" for one in steps
    ]
    widest = max(
        max(text_width(n, TITLE, DPI), text_width(how(s), SMALL, DPI))
        for n, s in zip(names, steps, strict=True)
    )
    width = math.ceil(max(NARROWEST, words + widest + LEFT))
    height = math.ceil(HEAD + ROW * len(steps) + FOOT)
    figure = importlib.import_module("matplotlib.figure").Figure(figsize=(width / DPI, height / DPI), dpi=DPI)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_xlim(0, width)
    axes.set_ylim(height, 0)  # rows count downwards
    axes.set_axis_off()
    places = {one.episode_id: _place(one, steps[0].row) for one in steps}
    for step in steps:
        _line(axes, step, places)
    for number, (step, name) in enumerate(zip(steps, names, strict=True)):
        _session(axes, step, places[step.episode_id], step.episode_id == arc.asked)
        _words(axes, step, name, (words, places[step.episode_id][1]))
        if number:
            _rest(axes, rest_before(step, steps[number - 1]), places[step.episode_id][1], width)
    _heading(figure, arc, to_draw(shorten(title or name_of(arc), LONGEST), fonts), (width, height))
    _legend(axes, steps)
    return figure


def _place(step: ArcStep, first: int) -> tuple[float, float]:
    lane = min(step.lane, MOST_LANES - 1)
    return LEFT + DATES + LANE * (lane + 0.5), HEAD + ROW * (step.row - first + 0.5)


def _line(axes: Any, step: ArcStep, places: dict[Any, tuple[float, float]]) -> None:
    """Draw the line from a parent: at once over to its lane, then straight down."""
    if step.parent_episode_id is None:
        return
    x, y = places[step.episode_id]
    # the parent of one of the first rows may not be drawn; in a circle it comes later
    above = places.get(step.parent_episode_id, (x, y - 0.8 * ROW))
    if above[1] >= y:
        return
    paths, patches = (importlib.import_module(f"matplotlib.{name}") for name in ("path", "patches"))
    turn = above[1] + 0.8 * ROW
    bend = [above, (above[0], above[1] + 0.5 * ROW), (x, above[1] + 0.3 * ROW), (x, turn), (x, y)]
    codes = [1, 4, 4, 4, 2] if above[0] != x else [1, 2]  # move, a cubic curve, a line
    path = paths.Path(bend if above[0] != x else [above, (x, y)], codes)
    dashes = "solid" if step.sure else DASHES
    colour = COLOURS.get(step.method, AMBER)
    axes.add_patch(
        patches.PathPatch(path, facecolor="none", edgecolor=colour, linewidth=2.0, linestyle=dashes, zorder=2)
    )


def _session(axes: Any, step: ArcStep, place: tuple[float, float], asked: bool) -> None:
    """Draw a disc; an open session is a ring, the one that was asked for has a ring around it."""
    patches = importlib.import_module("matplotlib.patches")
    inside = "white" if step.open else BLUE
    axes.add_patch(
        patches.Circle(
            place, DOT, facecolor=inside, edgecolor=BLUE if step.open else "white", linewidth=1.6, zorder=4
        )
    )
    if asked:
        axes.add_patch(
            patches.Circle(place, DOT + 3.5, facecolor="none", edgecolor=ROSE, linewidth=1.6, zorder=4)
        )


def _words(axes: Any, step: ArcStep, name: str, place: tuple[float, float]) -> None:
    left, y = place
    text = how(step)
    low, small = {"va": "center", "parse_math": False}, {"fontsize": SMALL, "color": QUIET}
    shift = 9.0 if text else 0.0
    axes.text(left, y - shift, name, fontsize=TITLE, fontweight="bold", color=INK, **low)
    axes.text(left, y + 10.0, text, **small, **low)
    axes.text(LEFT, y - 9.0, day(step.start_at, year=True), fontsize=8.6, color=INK, **low)
    axes.text(LEFT, y + 10.0, f"{step.start_at:%H:%M}", **small, **low)


def _rest(axes: Any, text: str, y: float, width: float) -> None:
    """Tell a long rest on a line between two rows."""
    if not text:
        return
    y -= ROW / 2
    axes.plot([LEFT, width - LEFT], [y, y], color=GRID, linewidth=1.0, zorder=1)
    axes.text(
        width - LEFT, y, text, fontsize=SMALL, color=QUIET, ha="right", va="center",
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 2.5}, parse_math=False,
    )  # fmt: skip


def _heading(figure: Any, arc: Arc, name: str, size: tuple[float, float]) -> None:
    width, height = size
    left = LEFT / width
    bold = {"fontsize": 14, "fontweight": "bold", "va": "top", "parse_math": False}
    figure.text(left, 1 - 22 / height, name or "An arc", **bold)
    figure.text(left, 1 - 54 / height, heading(arc), fontsize=9, color=QUIET, va="top")


def _legend(axes: Any, steps: Sequence[ArcStep]) -> None:
    """Say what the lines and rings mean that are drawn here."""
    children = [one for one in steps if one.parent_episode_id is not None]
    kinds: dict[str, tuple[str, object]] = {}
    for step in children:
        colour = COLOURS.get(step.method, AMBER)
        word = KINDS[colour]
        kinds.setdefault(word if step.sure else f"{word}, unsure", (colour, "solid" if step.sure else DASHES))
    x, y = LEFT, 88.0
    for word, (colour, dashes) in kinds.items():
        axes.plot([x, x + 26], [y, y], color=colour, linewidth=2.0, linestyle=dashes)
        axes.text(x + 33, y, word, fontsize=SMALL, color=QUIET, va="center", parse_math=False)
        x += 33 + text_width(word, SMALL, DPI) + 22


def arc_terminal(arc: Arc, width: int = 100, *, title: str = "") -> str:
    """Draw an arc in at most `width` cells (at least 40); under each session stand its id, where there is
    room for it, and how it goes on.

    `◉` is the session that was asked for, `○` one that is open; `┊` leads to a link near the threshold.
    """
    if not arc.steps:
        return "No sessions yet."
    width = max(LEAST_CELLS, width)
    dates = [day(one.start_at, year=True) for one in arc.steps]
    column = max(map(len, dates))
    graph = _Graph(arc.steps, max(1, (width - column - 2 - WORDS) // 2))
    room = width - column - 2 - graph.width
    lines = [shorten(f"{title or name_of(arc)} · {heading(arc)}", width), ""]
    for row, step in enumerate(arc.steps):
        if row and (rest := rest_before(step, arc.steps[row - 1])):
            lines.append(f"{'':{column}}  {graph.below(row - 1, turns=False)}{rest}".rstrip())
        mark = "◉" if step.episode_id == arc.asked else "○" if step.open else "●"
        lines.append(f"{dates[row]:>{column}}  {graph.at(row, mark)}{shorten(step.title or UNTITLED, room)}")
        texts = [str(step.episode_id)] if room >= IDENTITY else []
        texts += [how(step)] if step.method else []
        below = f"{'':{column}}  {graph.below(row)}{shorten(' · '.join(texts), room)}".rstrip()
        if below:
            lines.append(below)
    return "\n".join(lines)


class _Graph:
    """The lines of an arc; each lane takes two cells, and those that do not fit share the last one."""

    def __init__(self, steps: Sequence[ArcStep], most: int) -> None:
        self._lanes = [min(one.lane, most - 1) for one in steps]
        rows = {one.episode_id: row for row, one in enumerate(steps)}
        self._lines = [
            (rows[one.parent_episode_id], row, SURE if one.sure else UNSURE)
            for row, one in enumerate(steps)
            if one.parent_episode_id in rows
            and rows[one.parent_episode_id] < row  # in a circle it may be later
        ]
        self.width = 2 * (1 + max(self._lanes)) + 1

    def at(self, row: int, mark: str) -> str:
        """Return the lines that pass a session, and its mark."""
        passing = {self._lanes[to]: sign for start, to, sign in self._lines if start < row < to}
        return self._drawn({**passing, self._lanes[row]: mark})

    def below(self, row: int, *, turns: bool = True) -> str:
        """Return the lines under a session; those that begin there turn to their lanes."""
        under = {self._lanes[to]: sign for start, to, sign in self._lines if start <= row < to}
        own = self._lanes[row]
        begun = {self._lanes[to] for start, to, _ in self._lines if start == row} - {own}
        if not (turns and begun):
            return self._drawn(under)
        first, last = min(own, *begun), max(own, *begun)
        signs: dict[int, str] = dict(under)
        for lane in range(first, last + 1):
            if lane == own:
                signs[lane] = "├" if lane in under else "╰"
            elif lane in begun:
                signs[lane] = "╮" if lane == last else "┬"
            else:
                signs[lane] = "┼" if lane in under else "─"
        return self._drawn(signs, range(first, last))

    def _drawn(self, signs: Mapping[int, str], across: range = range(0)) -> str:
        lanes = range((self.width - 1) // 2)
        return "".join(signs.get(lane, " ") + ("─" if lane in across else " ") for lane in lanes) + " "
