"""The boundary plot as text: a chart of probability against threshold, then the messages or the episodes."""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from rich.cells import cell_len

from episodic_agent.engine.trace import BoundaryTrace
from episodic_agent.faces.plot.words import day, plain, reason_words, shorten

BARS: Final = " ▁▂▃▄▅▆▇█"
ROWS: Final = 8
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
    marks a cut. `messages` lists every message (default: for threads of up to 120). Without `colour` the
    text has no ANSI codes. Text of messages never reaches the terminal with control characters in it.
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
            lines += [_message(trace, i, width, pen, begins=i == start and i > 0) for i in range(start, end)]
    return "\n".join(lines)


def _heading(trace: BoundaryTrace, width: int, pen: _Pen) -> str:
    episodes = len(trace.episodes())
    count = f"{len(trace.seqs)} messages, {episodes} {'episode' if episodes == 1 else 'episodes'}"
    name = shorten(trace.title, width - len(count) - 3)
    return pen("title", name) + (" · " if name else "") + pen("dim", count)


def _chart(trace: BoundaryTrace, width: int, pen: _Pen) -> list[str]:
    """Draw ROWS lines of bars with the threshold across, and a line of marks under them."""
    room = width - 6
    wide = max(1, min(4, room // len(trace.seqs)))
    columns = _columns(len(trace.seqs), room // wide)
    heights = [_peak([trace.probability[i] for i in column]) for column in columns]
    lines = [_peak([trace.threshold[i] for i in column]) for column in columns]
    starts = {start for start, _, _, reason in trace.episodes() if reason or start}
    cuts = [any(index in starts for index in column) for column in columns]
    rows = []
    for row in range(ROWS - 1, -1, -1):
        label = {ROWS - 1: "1.0", ROWS // 2: "0.5"}.get(row, "")
        cells = [
            _cell(h, t, row, cut, wide=wide, pen=pen) for h, t, cut in zip(heights, lines, cuts, strict=True)
        ]
        rows.append(f"{pen('dim', f'{label:>3} ┤')}{''.join(cells)}")
    rows.append(pen("dim", "  0 └" + "─" * (wide * len(columns))))
    rows.append(
        "     " + "".join(pen("cut", "▲") + " " * (wide - 1) if cut else " " * wide for cut in cuts).rstrip()
    )
    return rows


def _columns(count: int, room: int) -> list[range]:
    """Share `count` messages among at most `room` columns; a crowded column shows its highest."""
    if count <= room:
        return [range(i, i + 1) for i in range(count)]
    edges = [round(i * count / room) for i in range(room + 1)]
    return [range(a, b) for a, b in pairwise(edges)]


def _peak(values: Sequence[float]) -> float:
    return max((value for value in values if not math.isnan(value)), default=math.nan)


def _cell(height: float, threshold: float, row: int, cut: bool, *, wide: int, pen: _Pen) -> str:
    eighths = 0 if math.isnan(height) else round(height * ROWS * 8) - row * 8
    if eighths > 0:
        bar = BARS[min(8, eighths)] * max(1, wide - 1)
        return pen("cut" if cut else "bar", bar) + " " * (wide - len(bar))
    crosses = not math.isnan(threshold) and row == min(ROWS - 1, int(threshold * ROWS))
    return pen("line", "╌" * wide) if crosses else " " * wide


def _episode(
    trace: BoundaryTrace, place: tuple[int, int, int], title: str, reason: str, *, width: int, pen: _Pen
) -> str:
    number, start, end = place
    at = trace.times[start]
    span = f"{trace.seqs[start]}-{trace.seqs[end - 1]}"
    when = f"{day(at, year=True)} {at:%H:%M}" if at is not None else ""
    tail = " · ".join(part for part in (span, when, _why(trace, start, reason)) if part)
    room = width - len(f"{number}. ") - cell_len(tail) - 2
    if room < 12:  # a narrow terminal: the title matters more than where and when
        return pen("title", f"{number}. {shorten(title, width - 5)}")
    return f"{pen('title', f'{number}. {shorten(title, room)}')}  {pen('dim', tail)}"


def _why(trace: BoundaryTrace, start: int, reason: str) -> str:
    if not reason:
        return ""
    probability = trace.probability[start]
    return reason_words(reason) + ("" if math.isnan(probability) else f" {probability:.2f}")


def _message(trace: BoundaryTrace, index: int, width: int, pen: _Pen, *, begins: bool) -> str:
    """Write one message: number, clock, speaker, probability with its bar, and the first words."""
    at, probability = trace.times[index], trace.probability[index]
    clock = f"{at:%H:%M}" if at is not None else "     "
    actor = shorten(trace.actors[index], 9)
    actor += " " * (9 - cell_len(actor))
    if math.isnan(probability):
        shown, bar = "   · ", " "
    else:
        shown, bar = f" {probability:.2f}", BARS[max(0, min(8, round(probability * 8)))]
    over = not math.isnan(probability) and probability > trace.threshold[index]
    style = "cut" if begins else "line" if over else "bar"
    head = f"{trace.seqs[index]:>6}  {clock}  {actor}"
    text = shorten(plain(trace.texts[index]), width - cell_len(head) - 10)
    return f"{pen('dim', head)}{pen(style, f'{shown} {bar}')}  {text}"
