"""Pictures of a page as numbers: where each line and point of an SVG stands. Nothing here is markup."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import isfinite
from typing import Any, Final
from uuid import UUID

from episodic_agent.core.boundary.conversation.default import DefaultPolicy
from episodic_agent.core.strength import retrievability
from episodic_agent.engine.boundary.traces import BoundaryTrace
from episodic_agent.faces.dashboard.wording import clock_seconds
from episodic_agent.showing import clipped

WIDTH: Final = 720.0  # units of a picture; the page scales it
HEIGHT: Final = 180.0
NARROW: Final = 360.0  # of a picture beside another
LEFT: Final = 34.0  # room for the numbers of an axis
BOTTOM: Final = 22.0
DAY: Final = 86_400.0
YEAR: Final = 365.0  # days
BASE: Final = DefaultPolicy().threshold
_ROW: Final = 46.0  # of the map of links
_NAME: Final = 200.0  # what the last thread of the map has for its dot and its title
_DOT: Final = 14.0
_CHARACTER: Final = 7.4  # of a title, which ends where the map does
_DOTS: Final = 240  # marks of a plot that are drawn
_TITLE: Final = 60


@dataclass(frozen=True, slots=True)
class PlotPoint:
    """A check before a message: where it is drawn, and what it says. `cut` tells that an episode begins.

    `over` tells that the probability reached the threshold there was for it.
    """

    x: float
    y: float
    seq: int
    probability: float
    over: bool
    cut: bool
    actor: str
    text: str


@dataclass(frozen=True, slots=True)
class BoundaryPlot:
    """The probability of a boundary before each message, and the threshold it was held against (`recorded`).

    `base` is the threshold of the policy that the slider begins with; what a thread expects moves it.
    """

    points: Sequence[PlotPoint]
    line: str
    recorded: str
    cuts: Sequence[float]
    first_seq: int
    last_seq: int
    base: float = BASE
    width: float = WIDTH
    height: float = HEIGHT


def boundary_plot(trace: BoundaryTrace) -> BoundaryPlot | None:
    """Return the plot of a trace; None where nothing was checked. Of a long one the highest points stand."""
    checks = [
        (seq, p, t, n)
        for n, (seq, p, t) in enumerate(zip(trace.seqs, trace.probability, trace.threshold, strict=True))
        if isfinite(p)
    ]
    if not checks:
        return None
    begun = {seq for seq, _ in trace.cuts}
    first, last = trace.seqs[0], trace.seqs[-1]
    if len(checks) > _DOTS:
        highest = sorted(checks, key=lambda check: (check[0] not in begun, -check[1]))[:_DOTS]
        checks = sorted(highest)
    points = [
        PlotPoint(
            x=_along(seq, first, last),
            y=_height(p),
            seq=seq,
            probability=p,
            over=p >= t,
            cut=seq in begun,
            actor=trace.actors[n],
            text=clipped(trace.texts[n], 90),
        )
        for seq, p, t, n in checks
    ]
    return BoundaryPlot(
        points=points,
        line=" ".join(f"{one.x:.1f},{one.y:.1f}" for one in points),
        recorded=" ".join(
            f"{_along(seq, first, last):.1f},{_height(t):.1f}" for seq, _, t, _ in checks if isfinite(t)
        ),
        cuts=[_along(seq, first, last) for seq in sorted(begun) if first < seq <= last],
        first_seq=first,
        last_seq=last,
    )


def _along(seq: float, first: float, last: float, width: float = WIDTH) -> float:
    return LEFT + (seq - first) / max(last - first, 1) * (width - LEFT - 8)


def _height(share: float) -> float:
    """Return where a share in [0, 1] is drawn.

    >>> _height(1.0), _height(0.0)
    (8.0, 158.0)
    """
    return 8 + (1 - share) * (HEIGHT - BOTTOM - 8)


@dataclass(frozen=True, slots=True)
class StrengthCurve:
    """How well a memory is recalled over the coming year; `now_x` is today, `marks` reviews of the past."""

    line: str
    now_x: float
    now_y: float
    ticks: Sequence[tuple[float, str]]
    in_month: float
    in_year: float
    width: float = NARROW
    height: float = HEIGHT


def strength_curve(stability: float, reviewed: datetime, now: datetime) -> StrengthCurve:
    """Return the curve of a memory of a stability in days, from its last review to a year ahead."""
    before = max((now - reviewed).total_seconds() / DAY, 0.0)
    total = before + YEAR
    steady = max(stability, 0.01)
    days = [total * n / 120 for n in range(121)]
    line = " ".join(
        f"{_along(d, 0, total, NARROW):.1f},{_height(float(retrievability(steady, d))):.1f}" for d in days
    )
    ticks = [(_along(0, 0, total, NARROW), "last recalled"), (_along(total, 0, total, NARROW), "in a year")]
    if 0.3 < before / total < 0.8:
        ticks.insert(1, (_along(before, 0, total, NARROW), "today"))
    return StrengthCurve(
        line=line,
        now_x=_along(before, 0, total, NARROW),
        now_y=_height(float(retrievability(steady, before))),
        ticks=ticks,
        in_month=float(retrievability(steady, before + 30)),
        in_year=float(retrievability(steady, before + 365)),
    )


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A thread on the map of links: its row is its own, its place along it the time."""

    x: float
    y: float
    width: float
    name: str
    title: str
    label: str


@dataclass(frozen=True, slots=True)
class GraphArc:
    """A link on the map: a path from the earlier thread to the later one."""

    path: str
    sure: bool
    score: float | None
    earlier: str
    later: str


@dataclass(frozen=True, slots=True)
class LinkGraph:
    """The threads that are linked, by time, and what links them."""

    nodes: Sequence[GraphNode]
    arcs: Sequence[GraphArc]
    ticks: Sequence[tuple[float, str]]
    width: float
    height: float


def link_graph(cards: Sequence[Any]) -> LinkGraph | None:
    """Return the map of links (as `links.list` returns them); None where there are none."""
    threads = {t.id: t for card in cards for t in (card.earlier, card.later)}
    if not threads:
        return None
    ordered = sorted(threads.values(), key=lambda t: (t.created_at, t.origin))
    start = ordered[0].created_at.timestamp()
    end = max(start + 1, *(t.last_activity_at.timestamp() for t in ordered))
    room = WIDTH - LEFT - _NAME
    places: dict[UUID, tuple[float, float, float]] = {}
    nodes = []
    for row, thread in enumerate(ordered):
        x = LEFT + (thread.created_at.timestamp() - start) / (end - start) * room
        length = (thread.last_activity_at - thread.created_at).total_seconds() / (end - start) * room
        y = 30 + row * _ROW
        places[thread.id] = x, y, max(length, _DOT)
        title = clipped(thread.title or thread.origin, int((WIDTH - x - max(length, _DOT) - 8) / _CHARACTER))
        nodes.append(
            GraphNode(x, y, max(length, _DOT), thread.origin, title, f"{thread.created_at:%d %b %Y}")
        )
    arcs = []
    for card in cards:
        ex, ey, el = places[card.link.earlier]
        lx, ly, _ = places[card.link.later]
        from_x, to_x = ex + el / 2, lx + _DOT / 2
        down = 1 if ly > ey else -1
        bend = max(18.0, abs(ly - ey) / 2) * down
        begin, end_at = f"{from_x:.1f},{ey + 7 * down:.1f}", f"{to_x:.1f},{ly - 7 * down:.1f}"
        path = f"M{begin} C{from_x:.1f},{ey + bend:.1f} {to_x:.1f},{ly - bend:.1f} {end_at}"
        score = None if card.decision is None else card.decision.score
        arcs.append(GraphArc(path, card.link.label == "HIGH", score, card.earlier.origin, card.later.origin))
    first, last = datetime.fromtimestamp(start, UTC), datetime.fromtimestamp(end, UTC)
    ticks = [(LEFT, f"{first:%d %b %Y}"), (LEFT + room, f"{last:%d %b %Y}")]
    return LinkGraph(nodes, arcs, ticks, WIDTH, 30 + len(ordered) * _ROW)


@dataclass(frozen=True, slots=True)
class UsageBar:
    """A day of usage as a bar of two parts: tokens of prompts below, of answers above."""

    x: float
    width: float
    prompt_y: float
    prompt_height: float
    answer_y: float
    answer_height: float
    label: str
    tokens: int


def usage_bars(by_day: Mapping[Any, tuple[int, int]]) -> Sequence[UsageBar]:
    """Return the bars of days in order, at most the last sixty."""
    days = sorted(by_day)[-60:]
    most = max((sum(by_day[d]) for d in days), default=0) or 1
    step = (WIDTH - LEFT - 8) / max(len(days), 12)
    bars = []
    for n, day in enumerate(days):
        prompt, answer = by_day[day]
        low, high = (v / most * (HEIGHT - BOTTOM - 8) for v in (prompt, answer))
        base = HEIGHT - BOTTOM
        bars.append(
            UsageBar(
                LEFT + n * step,
                step * 0.72,
                base - low,
                low,
                base - low - high,
                high,
                f"{day}",
                prompt + answer,
            )
        )
    return bars


def compact_timeline(
    cards: Sequence[Any], titles: Mapping[Any, str], hue: Callable[[UUID], int]
) -> dict[str, Any]:
    """Return what the timeline's script draws: threads with their colours, episodes as rows of few numbers.

    A row holds start and end (seconds), messages, the thread's place, id, title, and 1 for open, 2 for
    pinned, 4 for hidden, together.
    """
    threads: dict[Any, int] = {}
    names: list[list[Any]] = []
    rows = []
    for card in cards:
        place = threads.get(card.thread_id)
        if place is None:
            place = threads[card.thread_id] = len(names)
            title = clipped(titles.get(card.thread_id) or card.origin, _TITLE)
            names.append([title, card.origin, hue(card.thread_id)])
        flags = (card.state == "open") + 2 * card.pinned + 4 * bool(card.hidden)
        start, end = clock_seconds(card.start_at), clock_seconds(card.end_at)
        rows.append(
            [start, end, card.observations, place, str(card.episode_id), clipped(card.title, _TITLE), flags]
        )
    return {"threads": names, "episodes": rows}
