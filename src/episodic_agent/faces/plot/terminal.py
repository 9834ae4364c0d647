"""The boundary plot as text: a chart of probability against threshold, then the messages or the episodes.

Of an agent's steps the score is drawn with its factors, other cues and the places under it, column by column.
"""

import math
from collections.abc import Sequence
from datetime import time
from itertools import pairwise
from typing import Final, NamedTuple

from rich.cells import cell_len

from episodic_agent.engine.boundary.traces import BoundaryTrace
from episodic_agent.faces.plot.steps import (
    FACTORS,
    counted,
    factors,
    freeze_words,
    freezes,
    others,
    visits,
    why_began,
)
from episodic_agent.faces.plot.words import day, plain, shorten
from episodic_agent.faces.wording import zone

BARS: Final = " ▁▂▃▄▅▆▇█"
ROWS: Final = 8
MARGIN: Final = 5  # cells left of a chart
CLOCK: Final = "%H:%M:%S"
BLANK: Final = time()
WIDEST: Final = 16  # cells of a cue's name
MOST_MESSAGES: Final = 120  # a longer thread is told by its episodes
_STYLES: Final = {"bar": "36", "cut": "1;31", "line": "33", "dim": "2", "title": "1"}


class _Pen:
    """Colour by ANSI codes, or none."""

    def __init__(self, colour: bool) -> None:
        self._colour = colour

    def __call__(self, style: str, text: str) -> str:
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if self._colour and text.strip() else text


def plot_terminal(
    trace: BoundaryTrace, width: int = 100, *, colour: bool = True, messages: bool | None = None
) -> str:
    """Draw a trace in at most `width` cells (at least 40): chart, then one line per message or episode.

    The bars are the probability that an episode begins at a message, the dashed line is the threshold, ▲
    marks a cut. Of steps the bars are the score, the dotted line is the low threshold, ▲ marks a freeze, and
    a row for each factor shows its contribution. `messages` lists every message or step (default: for
    threads of up to 120). Without `colour` the text has no ANSI codes. Text of messages never reaches the
    terminal with control characters in it.
    """
    width, pen = max(40, width), _Pen(colour)
    if not trace.seqs:
        return "No observations yet."
    listed = len(trace.seqs) <= MOST_MESSAGES if messages is None else messages
    lines = [_heading(trace, width, pen), "", *_chart(trace, width, pen), ""]
    for number, (start, end, title, reason) in enumerate(trace.episodes(), 1):
        lines.append(
            _episode(trace, (number, start, end), title or "(no title yet)", reason, width=width, pen=pen)
        )
        if listed:
            frozen = dict(freezes(trace)) if trace.unit == "step" else {}
            for i in range(start, end):
                lines.append(_message(trace, i, width, pen, begins=i == start and i > 0))
                if i in frozen:
                    text = shorten(f"▲ freeze, {freeze_words(trace, i, frozen[i])}", width - 8)
                    lines.append(" " * 8 + pen("cut", text))
    return "\n".join(lines)


def _heading(trace: BoundaryTrace, width: int, pen: _Pen) -> str:
    count = shorten(counted(trace), width)
    name = shorten(trace.title, max(1, width - cell_len(count) - 3)) if cell_len(count) < width - 8 else ""
    return pen("title", name) + (" · " if name else "") + pen("dim", count)


def _chart(trace: BoundaryTrace, width: int, pen: _Pen) -> list[str]:
    """Draw ROWS lines of bars with the thresholds across, a line of marks, and the rows of a step's cues."""
    rows = _rows(trace)
    margin = max([MARGIN, *(cell_len(name) + 2 for name in rows)])
    wide = max(1, min(4, (width - margin - 1) // len(trace.seqs)))
    columns = _columns(len(trace.seqs), (width - margin - 1) // wide)
    bars = [_Bar(*(_peak([v[i] for i in c]) for v in (trace.probability, trace.threshold))) for c in columns]
    if trace.low:
        bars = [
            bar._replace(low=_peak([trace.low[i] for i in c])) for bar, c in zip(bars, columns, strict=True)
        ]
    marked = _marked(trace)
    cuts = [not marked.isdisjoint(column) for column in columns]
    lines = []
    for row in range(ROWS - 1, -1, -1):
        label = {ROWS - 1: "1.0", ROWS // 2: "0.5"}.get(row, "")
        cells = [_cell(bar, row, cut, wide=wide, pen=pen) for bar, cut in zip(bars, cuts, strict=True)]
        lines.append(f"{pen('dim', f'{label:>{margin - 2}} ┤')}{''.join(cells)}")
    lines.append(pen("dim", f"{'0':>{margin - 2}} └" + "─" * (wide * len(columns))))
    marks = "".join(pen("cut", "▲") + " " * (wide - 1) if cut else " " * wide for cut in cuts)
    lines.append((" " * margin + marks).rstrip())
    lines += [
        _strip(name, values, columns, wide=wide, margin=margin, pen=pen) for name, values in rows.items()
    ]
    if trace.places:
        lines.append(_places(trace, columns, wide=wide, margin=margin, pen=pen))
    return lines


class _Bar(NamedTuple):
    """The highest score of a column, and the thresholds there."""

    height: float
    threshold: float
    low: float = math.nan


def _rows(trace: BoundaryTrace) -> dict[str, Sequence[float]]:
    """Return the rows under the chart by their short names: of steps the factors and what else moves."""
    if trace.unit != "step":
        return {}
    answers = {FACTORS[name]: values for name, values in factors(trace).items()}
    moving = {name: values for name, values in others(trace).items() if len(set(values)) > 1}
    return answers | {shorten(name.replace("_", " "), WIDEST): values for name, values in moving.items()}


def _marked(trace: BoundaryTrace) -> set[int]:
    """Return the indexes to be marked: freezes of steps, beginnings of a conversation's episodes."""
    if trace.unit == "step":
        return {index for index, _ in freezes(trace)}
    return {start for start, _, _, reason in trace.episodes() if reason or start}


def _strip(
    name: str, values: Sequence[float], columns: Sequence[range], *, wide: int, margin: int, pen: _Pen
) -> str:
    """Draw a cue on one line, as eighths of a cell."""
    peaks = [_peak([values[i] for i in column]) for column in columns]
    cells = [" " if math.isnan(p) or p <= 0 else BARS[max(1, min(8, round(p * 8)))] for p in peaks]
    drawn = "".join(cell * max(1, wide - 1) + " " * (wide - max(1, wide - 1)) for cell in cells)
    head = name + " " * (margin - 1 - cell_len(name)) + "┤"
    return f"{pen('dim', head)}{pen('bar', drawn.rstrip())}"


def _places(trace: BoundaryTrace, columns: Sequence[range], *, wide: int, margin: int, pen: _Pen) -> str:
    """Write the places along the columns: a bar where a stay begins, as much of its name as fits."""
    of = {i: stay for stay in visits(trace) for i in range(stay.start, stay.end)}
    line, column = "", 0
    while column < len(columns):
        here = of.get(columns[column].start)
        end = column + 1
        while end < len(columns) and of.get(columns[end].start) == here:
            end += 1
        room = wide * (end - column)
        name = shorten(here.place, room - 1) if here is not None and room > 3 else ""
        line += ("│" if here is not None else " ") + name + " " * (room - 1 - cell_len(name))
        column = end
    return pen("dim", f"{'at':<{margin - 1}}") + " " + pen("title", line.rstrip())


def _columns(count: int, room: int) -> list[range]:
    """Share `count` messages among at most `room` columns; a crowded column shows its highest."""
    if count <= room:
        return [range(i, i + 1) for i in range(count)]
    edges = [round(i * count / room) for i in range(room + 1)]
    return [range(a, b) for a, b in pairwise(edges)]


def _peak(values: Sequence[float]) -> float:
    return max((value for value in values if not math.isnan(value)), default=math.nan)


def _cell(column: _Bar, row: int, cut: bool, *, wide: int, pen: _Pen) -> str:
    eighths = 0 if math.isnan(column.height) else round(column.height * ROWS * 8) - row * 8
    if eighths > 0:
        bar = BARS[min(8, eighths)] * max(1, wide - 1)
        return pen("cut" if cut else "bar", bar) + " " * (wide - len(bar))
    for line, drawn in ((column.threshold, "╌"), (column.low, "┈")):
        if not math.isnan(line) and row == min(ROWS - 1, int(line * ROWS)):
            return pen("line", drawn * wide)
    return " " * wide


def _episode(
    trace: BoundaryTrace, place: tuple[int, int, int], title: str, reason: str, *, width: int, pen: _Pen
) -> str:
    number, start, end = place
    at = trace.times[start]
    span = f"{trace.seqs[start]}-{trace.seqs[end - 1]}"
    when = f"{day(at, year=True)} {at:%H:%M}{zone(at)}" if at is not None else ""
    tail = " · ".join(part for part in (span, when, why_began(trace, number - 1, start, reason)) if part)
    room = width - len(f"{number}. ") - cell_len(tail) - 2
    if room < 12:  # a narrow terminal: the title matters more than where and when
        return pen("title", f"{number}. {shorten(title, width - 5)}")
    return f"{pen('title', f'{number}. {shorten(title, room)}')}  {pen('dim', tail)}"


def _message(trace: BoundaryTrace, index: int, width: int, pen: _Pen, *, begins: bool) -> str:
    """Write one observation: number, clock, speaker or place, probability with its bar, first words."""
    at, probability = trace.times[index], trace.probability[index]
    clock = CLOCK if trace.unit == "step" else CLOCK[:5]  # steps come faster than messages
    answer = f"{at:{clock}}" if at is not None else " " * len(f"{BLANK:{clock}}")
    actor = shorten((trace.places[index] or "") if trace.places else trace.actors[index], 9)
    actor += " " * (9 - cell_len(actor))
    if math.isnan(probability):
        shown, bar = "   · ", " "
    else:
        shown, bar = f" {probability:.2f}", BARS[max(0, min(8, round(probability * 8)))]
    over = not math.isnan(probability) and probability > trace.threshold[index]
    style = "cut" if begins else "line" if over else "bar"
    head = f"{trace.seqs[index]:>6}  {answer}  {actor}"
    text = shorten(plain(trace.texts[index]), width - cell_len(head) - 10)
    return f"{pen('dim', head)}{pen(style, f'{shown} {bar}')}  {text}"
