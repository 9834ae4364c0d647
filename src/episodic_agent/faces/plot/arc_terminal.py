"""An arc as text: a row for each session, its branch as a lane of lines, how it goes on from its parent."""

from collections.abc import Mapping, Sequence
from typing import Final

from episodic_agent.engine.arcs import Arc, ArcStep
from episodic_agent.faces.plot.arc import UNTITLED, heading, how, name_of, rest_before
from episodic_agent.faces.plot.words import day, shorten

NARROWEST: Final = 40  # cells
WORDS: Final = 20  # cells that lanes leave for words
IDENTITY: Final = 36  # cells of an id: commands take it whole
SURE, UNSURE = "│", "┊"


def arc_terminal(arc: Arc, width: int = 100, *, title: str = "") -> str:
    """Draw an arc in at most `width` cells (at least 40); under each session stand its id, where there is
    room for it, and how it goes on.

    `◉` is the session that was asked for, `○` one that is open; `┊` leads to a link near the threshold.
    """
    if not arc.steps:
        return "No sessions yet."
    width = max(NARROWEST, width)
    dates = [day(one.start_at, year=True) for one in arc.steps]
    column = max(map(len, dates))
    graph = _Graph(arc.steps, max(1, (width - column - 2 - WORDS) // 2))
    room = width - column - 2 - graph.width
    lines = [shorten(f"{title or name_of(arc)} · {heading(arc)}", width), ""]
    for row, one in enumerate(arc.steps):
        if row and (rest := rest_before(one, arc.steps[row - 1])):
            lines.append(f"{'':{column}}  {graph.below(row - 1, turns=False)}{rest}".rstrip())
        mark = "◉" if one.episode_id == arc.asked else "○" if one.open else "●"
        lines.append(f"{dates[row]:>{column}}  {graph.at(row, mark)}{shorten(one.title or UNTITLED, room)}")
        told = [str(one.episode_id)] if room >= IDENTITY else []
        told += [how(one)] if one.method else []
        below = f"{'':{column}}  {graph.below(row)}{shorten(' · '.join(told), room)}".rstrip()
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
