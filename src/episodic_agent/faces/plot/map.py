"""The map of an agent's places as a picture, by matplotlib (the extra `plot`).

A disc is a place, the larger the more steps were spent there; an arrow is a move, with how often it was made.
The picture is as large as its places need, and the same byte for byte for the same places.

Near in moves is near on paper: stress majorization (SMACOF, de Leeuw 1977) over the number of moves between
places, begun with classical scaling; then boxes that overlap are pushed apart along the shorter way.
"""

import importlib
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray
from rich.cells import cell_len

from episodic_agent.core.language import plural
from episodic_agent.engine.recall.places import MoveCard, PlaceCard, PlaceSummary
from episodic_agent.errors import InvalidInput
from episodic_agent.faces.plot.figure import save, styled
from episodic_agent.faces.plot.labels import Fonts, text_width, to_draw
from episodic_agent.faces.plot.style import AMBER, BLUE, DPI, INK, QUIET
from episodic_agent.faces.plot.words import plain, shorten

Points: TypeAlias = NDArray[np.float64]
ROUNDS: Final = 300
PUSHES: Final = 500


def layout(
    count: int, edges: Sequence[tuple[int, int]], sizes: Sequence[tuple[float, float]], apart: float
) -> Points:
    """Return the centres [count, 2] of boxes: connected ones about `apart` from each other, none overlapping.

    `sizes` are widths and heights in the unit of `apart`. The same graph gives the same places; its longest
    way lies across.

    >>> layout(2, [(0, 1)], [(10, 10), (10, 10)], 100.0).round().tolist()
    [[-50.0, 0.0], [50.0, 0.0]]
    """
    if count == 0:
        return np.zeros((0, 2))
    far = distances(count, edges)
    crowded = max(1.0, math.sqrt(len({frozenset(edge) for edge in edges}) / (1.2 * count)))
    placed = _upright(_majorized(_scaled(far), far), edges) * apart * crowded
    return separated(placed, np.asarray(sizes, float))


def distances(count: int, edges: Sequence[tuple[int, int]]) -> Points:
    """Return how many moves any two places are apart; parts that nothing connects lie beside each other.

    >>> distances(3, [(0, 1)]).tolist()
    [[0.0, 1.0, 2.0], [1.0, 0.0, 2.0], [2.0, 2.0, 0.0]]
    """
    far = np.full((count, count), np.inf)
    np.fill_diagonal(far, 0.0)
    for a, b in edges:
        if a != b:
            far[a, b] = far[b, a] = 1.0
    for via in range(count):
        far = np.minimum(far, far[:, via, None] + far[None, via, :])
    reached = far[np.isfinite(far)]
    far[~np.isfinite(far)] = float(reached.max(initial=0.0)) + 1.0
    return far


def _scaled(far: Points) -> Points:
    """Return classical scaling to two dimensions, its signs made certain."""
    count = len(far)
    centred = np.eye(count) - 1.0 / count
    values, vectors = np.linalg.eigh(-0.5 * centred @ far**2 @ centred)
    results = vectors[:, ::-1][:, :2] * np.sqrt(np.clip(values[::-1][:2], 0.0, None))
    results = np.pad(results, ((0, 0), (0, 2 - results.shape[1])))
    # a chain lies on a line: a little bow keeps the next rounds from being stuck there
    return _signed(results) + np.column_stack([np.zeros(count), 0.02 * np.cos(np.arange(count))])


def _majorized(points: Points, far: Points) -> Points:
    count = len(far)
    if count < 3:
        return points
    weights = np.where(far > 0, 1.0 / np.where(far > 0, far, 1.0) ** 2, 0.0)
    laplacian = np.diag(weights.sum(axis=1)) - weights
    inverse = np.linalg.pinv(laplacian)
    for _ in range(ROUNDS):
        gaps = np.linalg.norm(points[:, None] - points[None], axis=2)
        ratio = np.where(gaps > 1e-9, weights * far / np.where(gaps > 1e-9, gaps, 1.0), 0.0)
        points = inverse @ (np.diag(ratio.sum(axis=1)) - ratio) @ points
    return points


def _upright(points: Points, edges: Sequence[tuple[int, int]]) -> Points:
    """Turn points so that moves go across or up and down as far as they can, the longer way across."""
    points = points - points.mean(axis=0)
    ways = np.array([points[b] - points[a] for a, b in edges if a != b]).reshape(-1, 2)
    # four times the angle is the same for a way, its reverse and those square to it
    slant = np.angle(np.sum(np.exp(4j * np.arctan2(ways[:, 1], ways[:, 0])))) / 4 if len(ways) else 0.0
    turned = points @ np.array([[np.cos(slant), -np.sin(slant)], [np.sin(slant), np.cos(slant)]])
    if np.ptp(turned[:, 1]) > np.ptp(turned[:, 0]) + 1e-6:
        turned = turned[:, ::-1].copy()
    return np.round(_signed(turned), 6) + 0.0


def _signed(points: Points) -> Points:
    for axis in range(points.shape[1]):
        answer = points[np.abs(points[:, axis]) > 1e-6, axis]
        if len(answer) and answer[0] > 0:
            points[:, axis] *= -1
    return points


def separated(points: Points, sizes: Points) -> Points:
    """Push boxes apart until none overlaps; each pair moves along its shorter way, by halves.

    >>> separated(np.zeros((2, 2)), np.full((2, 2), 10.0)).tolist()
    [[-5.0, 0.0], [5.0, 0.0]]
    """
    points = points.copy()
    for _ in range(PUSHES):
        moved = False
        for a in range(len(points)):
            for b in range(a + 1, len(points)):
                gap = points[b] - points[a]
                over = (sizes[a] + sizes[b]) / 2 - np.abs(gap)
                if over.min() <= 1e-6:
                    continue
                axis = int(np.argmin(over))
                push = over[axis] / 2 * (1.0 if gap[axis] >= 0 else -1.0)
                points[a, axis] -= push
                points[b, axis] += push
                moved = True
        if not moved:
            break
    return points


MOST: Final = 40  # places drawn, those with most steps
SMALLEST, LARGEST = 18.0, 62.0  # radius of a disc in pixels
APART: Final = 270.0  # pixels between places one move apart
NAME, COUNT, MOVES = 9.6, 7.6, 7.6  # sizes of letters in points
BOW: Final = 0.16  # how far an arrow bends, as a share of its length
MARGIN, HEAD = 46.0, 96.0  # pixels around the places, and above them
NARROWEST: Final = 760.0  # pixels
BAR: Final = 16  # cells of the longest bar
WIDEST: Final = 24  # cells of a name
EIGHTHS: Final = " ▏▎▍▌▋▊▉█"


@dataclass(frozen=True, slots=True)
class _Node:
    """A place as it is drawn: its disc and the two lines under it, in pixels."""

    card: PlaceCard
    name: str
    sentence: str
    radius: float

    @property
    def text(self) -> float:
        """Return how wide the words are."""
        return max(text_width(self.name, NAME, DPI), text_width(self.sentence, COUNT, DPI))

    @property
    def size(self) -> tuple[float, float]:
        """Return width and height of everything that belongs to the place, with air around."""
        return max(self.text, 2 * self.radius) + 36.0, 2 * self.radius + _lines() + 40.0


def map_svg(seen: PlaceSummary, path: Path, *, title: str = "") -> None:
    """Write places as SVG. Raises InvalidInput without matplotlib or places, or where no file can be."""
    _write(seen, path, "svg", title)


def map_png(seen: PlaceSummary, path: Path, *, title: str = "") -> None:
    """Write places as PNG. Raises InvalidInput as `map_svg` does."""
    _write(seen, path, "png", title)


def _write(seen: PlaceSummary, path: Path, format: str, title: str) -> None:
    if not seen.places:
        raise InvalidInput("there is no map yet: no step told where it was (`location`)")
    with styled(format) as fonts:
        save(_draw(seen, title, fonts), path, format)


def chosen(seen: PlaceSummary) -> tuple[list[PlaceCard], list[MoveCard]]:
    """Return the places to be drawn, the busiest of many, and the moves from one to another."""
    busiest = sorted(seen.places, key=lambda card: (-card.steps, card.first_at, card.label))[:MOST]
    names = {card.label for card in busiest}
    moves = [m for m in seen.moves if {m.source, m.target} <= names and m.source != m.target]
    return [card for card in seen.places if card.label in names], moves


def _draw(seen: PlaceSummary, title: str, fonts: Fonts) -> Any:
    cards, moves = chosen(seen)
    nodes = [_node(card, number, max(c.steps for c in cards), fonts) for number, card in enumerate(cards, 1)]
    number = {card.label: place for place, card in enumerate(cards)}
    edges = [(number[m.source], number[m.target]) for m in moves]
    points = layout(len(nodes), edges, [node.size for node in nodes], APART)
    points[:, 1] *= -1  # the first place above: pixels of a picture count upwards here
    points, width, height = _on_paper(points, nodes)
    figure = importlib.import_module("matplotlib.figure").Figure(figsize=(width / DPI, height / DPI), dpi=DPI)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_xlim(0, width)
    axes.set_ylim(0, height)
    axes.set_axis_off()
    centres = points + [[0.0, _lines() / 2]] * len(nodes)  # a place's words hang under its disc
    counts = dict(zip(edges, (m.count for m in moves), strict=True))
    for (a, b), count in counts.items():
        _arrow(axes, nodes, centres, (a, b), count, both=(b, a) in counts, most=max(counts.values()))
    for node, (x, y) in zip(nodes, centres, strict=True):
        _disc(axes, node, float(x), float(y))
    _heading(figure, seen, title, fonts, (width, height))
    return figure


def _node(card: PlaceCard, number: int, most: int, fonts: Fonts) -> _Node:
    name = to_draw(shorten(card.label, 26), fonts) or f"Place {number}"
    text = f"{plural(card.episodes, 'episode')} · {plural(card.visits, 'visit')}"
    return _Node(card, name, text, max(SMALLEST, LARGEST * math.sqrt(card.steps / most)))


def _lines() -> float:
    """Return the height of the words under a disc, in pixels."""
    return (NAME + COUNT) * 1.45 * DPI / 72 + 4


def _on_paper(points: Points, nodes: Sequence[_Node]) -> tuple[Points, float, float]:
    """Move the centres of boxes onto a sheet that holds them all; return them with its width and height."""
    low = [min(p[axis] - n.size[axis] / 2 for p, n in zip(points, nodes, strict=True)) for axis in (0, 1)]
    high = [max(p[axis] + n.size[axis] / 2 for p, n in zip(points, nodes, strict=True)) for axis in (0, 1)]
    wide = high[0] - low[0] + 2 * MARGIN
    width = max(NARROWEST, wide)
    left = MARGIN + (width - wide) / 2
    moved = points + [[left - low[0], MARGIN - low[1]]] * len(nodes)
    return moved, math.ceil(width), math.ceil(high[1] - low[1] + MARGIN + HEAD)


def _disc(axes: Any, node: _Node, x: float, y: float) -> None:
    patches = importlib.import_module("matplotlib.patches")
    axes.add_patch(
        patches.Circle((x, y), node.radius, facecolor=BLUE, edgecolor="white", linewidth=1.5, zorder=4)
    )
    steps = f"{node.card.steps:,}"
    inside = text_width(steps, 8.4, DPI) < 1.8 * node.radius
    if inside:
        axes.text(x, y, steps, color="white", fontsize=8.4, ha="center", va="center", zorder=6)
    white = {"facecolor": "white", "edgecolor": "none", "alpha": 0.82, "pad": 0.8}
    style = {"ha": "center", "va": "top", "zorder": 5, "parse_math": False, "bbox": white}
    under = y - node.radius - 5
    axes.text(x, under, node.name, fontsize=NAME, fontweight="bold", color=INK, **style)
    axes.text(x, under - NAME * 1.5 * DPI / 72, node.sentence, fontsize=COUNT, color=QUIET, **style)


def _arrow(
    axes: Any,
    nodes: Sequence[_Node],
    points: Points,
    edge: tuple[int, int],
    count: int,
    *,
    both: bool,
    most: int,
) -> None:
    """Draw a move, bent to its right so that there and back are two lines, and its count on the bow."""
    patches, paths = (importlib.import_module(f"matplotlib.{name}") for name in ("patches", "path"))
    start, end = points[edge[0]], points[edge[1]]
    way = end - start
    control = (start + end) / 2 + (BOW if both else 0.0) * np.array([way[1], -way[0]])
    curve = _outside((start, control, end), nodes[edge[0]], nodes[edge[1]])
    share = math.log1p(count) / math.log1p(most)
    axes.add_patch(
        patches.FancyArrowPatch(
            path=paths.Path(curve, [1, 3, 3]),  # a quadratic curve: move, then control and end
            arrowstyle="-|>",
            mutation_scale=9 + 5 * share,
            linewidth=0.9 + 2.1 * share,
            color=AMBER,
            zorder=2,
        )
    )
    x, y = (curve[0] + 2 * curve[1] + curve[2]) / 4  # the middle of what is seen
    white = {"facecolor": "white", "edgecolor": "none", "pad": 1.2}
    axes.text(x, y, f"{count:,}", fontsize=MOVES, color=INK, ha="center", va="center", zorder=3, bbox=white)


def _outside(curve: tuple[Any, Any, Any], first: _Node, last: _Node) -> Points:
    """Return the piece of a quadratic curve between two places that neither disc nor words cover."""
    start, control, end = curve
    share = np.linspace(0.0, 1.0, 201)[:, None]
    on = (1 - share) ** 2 * start + 2 * share * (1 - share) * control + share**2 * end
    free = np.flatnonzero(~_covered(on - start, first) & ~_covered(on - end, last))
    if len(free) < 2:
        return np.array([start, control, end])
    low, high = share[free[0], 0], share[free[-1], 0]
    # the blossom of the curve at (low, high) is the control point of its piece
    middle = (
        (1 - low) * (1 - high) * start + (low * (1 - high) + high * (1 - low)) * control + low * high * end
    )
    return np.array([on[free[0]], middle, on[free[-1]]])


def _covered(gaps: Points, node: _Node) -> NDArray[np.bool_]:
    """Tell which points, given from a place's centre, lie on its disc or its words."""
    disc = np.hypot(gaps[:, 0], gaps[:, 1]) < node.radius + 5
    below = (gaps[:, 1] < -node.radius) & (gaps[:, 1] > -node.radius - _lines() - 8)
    covered: NDArray[np.bool_] = disc | (below & (np.abs(gaps[:, 0]) < 0.44 * node.text))
    return covered


def _heading(figure: Any, seen: PlaceSummary, title: str, fonts: Fonts, size: tuple[float, float]) -> None:
    width, height = size
    name = to_draw(shorten(title, 60), fonts) or "Places"
    left = 24 / width
    figure.text(left, 1 - 22 / height, name, fontsize=14, fontweight="bold", va="top", parse_math=False)
    figure.text(left, 1 - 54 / height, heading(seen), fontsize=9, color=QUIET, va="top")


def heading(seen: PlaceSummary) -> str:
    """Say what a map shows, and what it leaves out."""
    totals: Mapping[str, int] = {
        "place": len(seen.places),
        "step": sum(card.steps for card in seen.places),
        "visit": sum(card.visits for card in seen.places),
        "move": sum(move.count for move in seen.moves),
    }
    text = " · ".join(plural(count, word) for word, count in totals.items())
    return text if len(seen.places) <= MOST else f"{text} (drawn: the {MOST} with most steps)"


def map_terminal(seen: PlaceSummary, width: int = 100, *, title: str = "") -> str:
    """Draw places in at most `width` cells (at least 40), in the order in which they were first seen.

    Under each place stand the moves from it, the most frequent first.
    """
    if not seen.places:
        return "No places yet."
    width = max(40, width)
    names = {card.label: shorten(card.label, WIDEST) for card in seen.places}
    column = max(map(cell_len, names.values()))
    most = max(card.steps for card in seen.places)
    ways: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for move in seen.moves:
        ways[move.source].append((-move.count, move.target))
    lines = [shorten(f"{plain(title)} · {heading(seen)}" if title else heading(seen), width), ""]
    for card in seen.places:
        name = names[card.label] + " " * (column - cell_len(names[card.label]))
        counts = ((card.steps, "step"), (card.visits, "visit"), (card.episodes, "episode"))
        text = ", ".join(plural(count, word) for count, word in counts)
        lines.append(_cut(f"{name}  {bar(card.steps / most)}  {text}", width))
        led = ", ".join(f"{plain(target)} {-count}" for count, target in sorted(ways[card.label]))
        if led:
            lines.append(_cut(f"{' ' * column}  → {led}", width))
    return "\n".join(lines)


def bar(share: float) -> str:
    """Draw a share of BAR cells in eighths, padded to that width; what is more than nothing is seen.

    >>> bar(0.5).rstrip()
    '████████'
    """
    eighths = max(1, round(share * BAR * 8))
    full, rest = divmod(eighths, 8)
    return ("█" * full + EIGHTHS[rest].strip()).ljust(BAR)


def _cut(line: str, width: int) -> str:
    """Cut a line to a width; unlike `shorten` it keeps the spaces that align it."""
    if cell_len(line) <= width:
        return line
    while cell_len(line) > width - 1:
        line = line[:-1]
    return line.rstrip() + "…"
