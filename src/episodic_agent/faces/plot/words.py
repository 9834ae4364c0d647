"""Short, safe words for plots: no control characters, cut to a width, dates without a locale."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Final

from rich.cells import cell_len

from episodic_agent.faces import wording

_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def plain(text: str) -> str:
    r"""Return text as one line without control characters.

    >>> plain("two\nlines \x1b[31mred")
    'two lines [31mred'
    """
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def shorten(text: str, cells: int) -> str:
    """Cut a text to a width in terminal cells (Chinese characters take two), with an ellipsis.

    >>> shorten("Repainting the hallway", 12), shorten("昨天我去了上海", 7)
    ('Repainting…', '昨天我…')
    """
    text = plain(text)
    if cell_len(text) <= cells:
        return text
    remaining, width = [], 1
    for character in text:
        width += cell_len(character)
        if width > cells:
            break
        remaining.append(character)
    return "".join(remaining).rstrip() + "…"


def reason_words(reason: str) -> str:
    """Say a boundary's reason as words.

    >>> reason_words("topic_shift"), reason_words("low_battery")
    ('new subject', 'low battery')
    """
    return plain(wording.reason(reason).replace("_", " ")) if reason else ""


def day(moment: datetime, *, year: bool = False) -> str:
    """Write a day shortly, in English whatever the locale.

    >>> day(datetime(2024, 3, 1), year=True)
    '1 Mar 2024'
    """
    return f"{moment.day} {_MONTHS[moment.month - 1]}" + (f" {moment.year}" if year else "")


def time_labels(times: Sequence[datetime | None], most: int) -> list[tuple[int, str]]:
    """Choose at most `most` places and labels for a time axis: days where they change, else clock times.

    >>> noon = datetime(2024, 3, 1, 12)
    >>> time_labels([noon, noon + timedelta(days=1), noon + timedelta(days=5)], 8)
    [(0, '1 Mar 2024'), (1, '2 Mar'), (2, '6 Mar')]
    """
    known = [(place, at) for place, at in enumerate(times) if at is not None]
    if not known or most < 1:
        return []
    days = [
        known[0],
        *(new for old, new in pairwise(known) if new[1].date() != old[1].date()),
    ]
    if len(days) > 2 or (len(days) > 1 and known[-1][1] - known[0][1] > timedelta(hours=36)):
        chosen = _thinned(days, most)
        years = [None, *(at.year for _, at in chosen)]
        return [
            (place, day(at, year=at.year != year)) for (place, at), year in zip(chosen, years, strict=False)
        ]
    chosen = _thinned(known, most)
    first = chosen[0][0]
    minutes = [f"{at:%d %H:%M}" for _, at in chosen]
    clock = "%H:%M" if len(set(minutes)) == len(minutes) else "%H:%M:%S"
    return [(p, (day(at, year=True) + ", " if p == first else "") + f"{at:{clock}}") for p, at in chosen]


def _thinned(places: Sequence[tuple[int, datetime]], most: int) -> list[tuple[int, datetime]]:
    """Keep places at least 1/most of the axis apart, always the first."""
    apart = (places[-1][0] - places[0][0]) / most
    pairs = [places[0]]
    for place in places[1:]:
        if place[0] - pairs[-1][0] >= apart:
            pairs.append(place)
    return pairs
