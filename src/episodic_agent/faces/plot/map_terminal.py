"""The map of an agent's places as text: a line for each, with its steps as a bar and where it led to."""

from collections import defaultdict
from typing import Final

from rich.cells import cell_len

from episodic_agent.engine.places import Places
from episodic_agent.faces.plot.map import heading
from episodic_agent.faces.plot.steps import plural
from episodic_agent.faces.plot.words import plain, shorten

BAR: Final = 16  # cells of the longest bar
WIDEST: Final = 24  # cells of a name
EIGHTHS: Final = " ▏▎▍▌▋▊▉█"


def map_terminal(seen: Places, width: int = 100, *, title: str = "") -> str:
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
        told = ", ".join(plural(count, word) for count, word in counts)
        lines.append(_cut(f"{name}  {bar(card.steps / most)}  {told}", width))
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
