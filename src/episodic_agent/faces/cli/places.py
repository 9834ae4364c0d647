"""Commands that look by place: places, visits, route."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final

import click
from rich.table import Table

from episodic_agent.engine.recall.places import ORDERS, VisitCard
from episodic_agent.faces import wording
from episodic_agent.faces.cli.app import ID, App, common, moment, out, past, say_more

_MOST: Final = 200  # of a unit; of more a larger one is told
_ROUND: Final = 10  # of a unit; of fewer a part of it counts
_since = click.option("--since", type=moment, help="Only what was there from this time on.")
_until = click.option("--until", type=moment, help="Only what was there before this time.")
_in_thread = click.option("--thread", help="Only this thread.")


@click.command()
@_in_thread
@_since
@_until
@common
@past
def places(app: App, thread: str | None, since: datetime | None, until: datetime | None) -> None:
    """List places with visits and episodes, and the moves between them."""
    with app.user() as memory:
        summary = memory.places.list(thread=thread, since=since, until=until)
        cards = app.shown(memory, summary.places)
    nothing = "nothing here says where it was; steps and messages with a `location` do"
    if app.answered(summary, summary.places, nothing):
        return
    table = _table("place", "steps", "visits", "episodes", "first", "last", right=(1, 2, 3))
    for card in cards:
        counts = (str(card.steps), str(card.visits), str(card.episodes))
        table.add_row(card.label, *counts, wording.minute(card.first_at), wording.minute(card.last_at))
    out().print(table)
    if summary.moves:
        moves = _table("from", "to", "times", right=(2,))
        for move in summary.moves:
            moves.add_row(move.source, move.target, str(move.count))
        out().print()
        out().print(moves)


@click.command()
@click.argument("place")
@_in_thread
@_since
@_until
@click.option("--limit", type=click.IntRange(1, 100_000), default=20, show_default=True)
@click.option("--order", type=click.Choice(ORDERS), default=ORDERS[0], show_default=True)
@common
@past
def visits(app: App, place: str, limit: int, **options: Any) -> None:
    """List the visits of a place, each with its episodes and the time since the one before."""
    with app.user() as memory:
        cards = app.shown(memory, memory.places.visits(place, limit=limit + 1, **options))
    if not app.answered({"visits": cards[:limit]}, cards, f"nobody was in {place!r} then"):
        _render(cards[:limit])
        say_more(len(cards), limit)


@click.command()
@click.argument("thread")
@_since
@_until
@common
@past
def route(app: App, thread: str, since: datetime | None, until: datetime | None) -> None:
    """Show the places a thread went through, in order, with the episodes of each visit."""
    with app.user() as memory:
        cards = app.shown(memory, memory.places.route(thread, since=since, until=until))
    if not app.answered({"visits": cards}, cards, f"nothing in {thread!r} says where it was then"):
        _render(cards)


def _render(visits: Sequence[VisitCard]) -> None:
    table = _table(
        "place", "began", "lasted", "steps", "since the last visit", "thread", "episodes", right=(3,)
    )
    for visit in visits:
        lasted, since = visit.end_at - visit.start_at, visit.since_previous
        beside = max(lasted, since or lasted)  # one unit in a row: "178 min" beside "3 h" reads as less
        table.add_row(
            visit.place,
            wording.minute(visit.start_at),
            _length_text(lasted, beside),
            str(visit.steps),
            "-" if since is None else _length_text(since, beside),
            visit.thread,
            " ".join(str(identity)[:ID] for identity in visit.episodes),
        )
    out().print(table)


def _table(*names: str, right: Sequence[int] = ()) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for number, name in enumerate(names):
        table.add_column(name, no_wrap=True, justify="right" if number in right else "left")
    return table


def _length_text(length: timedelta, beside: timedelta | None = None) -> str:
    """Say how long something took, in its largest fitting unit, or in that of a longer time it stands beside.

    A part of the unit is told to one digit where the whole of it would be less than ten.

    >>> _length_text(timedelta(seconds=90)), _length_text(timedelta(hours=3)), _length_text(timedelta(days=3))
    ('90 s', '180 min', '72 h')
    >>> _length_text(timedelta(minutes=178), beside=timedelta(hours=20))
    '3.0 h'
    """
    seconds, longer = length.total_seconds(), (beside or length).total_seconds()
    for size, unit in ((1, "s"), (60, "min"), (3600, "h"), (86400, "d")):
        if longer // size < _MOST or unit == "d":
            break
    if beside is None or beside == length or seconds % size == 0 or seconds // size >= _ROUND:
        return f"{int(seconds // size)} {unit}"
    return f"{seconds / size:.1f} {unit}"
