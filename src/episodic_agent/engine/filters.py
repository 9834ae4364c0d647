"""What narrows a search or a listing: one value, whose fields may be given as keywords as well.

Beside it stand the walls of a memory that is held to some threads, which narrow it for all its verbs.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import Final, TypedDict

from episodic_agent.core.chains.metadata import EVERYTHING, MetadataFilter, parse_filter
from episodic_agent.engine.arguments import aware, name_or_none, names_or_none, out_of_order
from episodic_agent.errors import InvalidInput
from episodic_agent.showing import clipped

Moment = datetime | str | float | None  # as a caller gives it; naive times are UTC
Where = str | Sequence[str] | None  # what episodes are about, as callers write it
Walls = tuple[tuple[str, ...], ...]  # names of threads and channels; what is told lies within each
MOST_NAMED: Final = 10  # threads and users an error message names
LONGEST_NAMED: Final = 80  # characters of a name in one


@dataclass(frozen=True, slots=True)
class Filter:
    """Which episodes, messages and facts count; a field that is None leaves everything.

    `thread` is a name or an id; `channel` leaves the threads that something came to by it; `since` and
    `until` bound the time at which it was said (`since <= time < until`), `place` where, `speaker` who said
    it: a name in any case, the user's own or "user" for the user. `where` is what
    episodes are about, as in `tool=bash tag=memory,leak` (docs/chains.md): only closed ones are about
    something. `category` is one of facts. `project` is a folder, and leaves out what came by that of
    another project, unless `thread` or `channel` names where to look. `only` are names of threads and
    channels: nothing that was said elsewhere is told.

    >>> Filter(thread="work", since="2026-03-01").thread
    'work'
    """

    thread: str | None = None
    channel: str | None = None
    since: Moment = None
    until: Moment = None
    place: str | None = None
    speaker: str | None = None
    where: Where = None
    category: str | None = None
    project: str | None = None
    only: str | Sequence[str] | None = None

    def __repr__(self) -> str:
        parts = [f"{one.name}={getattr(self, one.name)!r}" for one in fields(self)]
        return f"Filter({', '.join(one for one in parts if not one.endswith('=None'))})"


class Narrowed(TypedDict, total=False):
    """The fields of a `Filter`, as keywords."""

    thread: str | None
    channel: str | None
    since: Moment
    until: Moment
    place: str | None
    speaker: str | None
    where: str | Sequence[str] | None
    category: str | None
    project: str | None
    only: str | Sequence[str] | None


NAMES = ("thread", "channel", "place", "speaker", "project")
ALL = tuple(field.name for field in fields(Filter))


def narrowed(filter_: Filter | None, keywords: Narrowed, *, takes: Sequence[str] = ALL) -> Filter:
    """Return the filter a call means: that given, with what its keywords say instead.

    `takes` names the fields that can narrow this call. Raises InvalidInput for another one, and for what is
    no filter, TypeError for an unknown keyword.

    >>> narrowed(Filter(thread="work"), {"place": "kitchen"})
    Filter(thread='work', place='kitchen')
    """
    if not isinstance(filter_, Filter | None):
        raise InvalidInput(f"`filter` is a Filter, not {type(filter_).__name__}")
    if unknown := [name for name in keywords if name not in ALL]:
        raise TypeError(f"unexpected keyword {unknown[0]!r}; a filter has {', '.join(ALL)}")
    filter = replace(filter_ or Filter(), **keywords)
    filter = replace(filter, **{name: name_or_none(name, getattr(filter, name)) for name in NAMES})
    filter = replace(filter, only=names_or_none("only", filter.only))
    if other := [name for name in ALL if name not in takes and getattr(filter, name) is not None]:
        raise InvalidInput(f"this cannot be narrowed by {other[0]!r}; it can by {', '.join(takes)}")
    return filter


def filter_of(where: Where) -> MetadataFilter:
    """Read a filter; everything passes where there is none. InvalidInput for what is none."""
    return EVERYTHING if where is None else parse_filter(where)


def metadata_filter(filter: Filter) -> MetadataFilter:
    """Return what episodes are to be about, with the times of the filter as those of their start.

    Raises InvalidInput for what is no filter, and where no time passes.
    """
    conditions = filter_of(filter.where)
    begins = [time for time in (conditions.since, aware(filter.since)) if time is not None]
    ends = [time for time in (conditions.until, aware(filter.until)) if time is not None]
    both = replace(conditions, since=max(begins, default=None), until=min(ends, default=None))
    if both.since is not None and both.until is not None and both.since >= both.until:
        raise InvalidInput(out_of_order(both.since, both.until))
    return both


def walls_of(walls: Walls, only: object) -> Walls:
    """Return the walls of a memory and those a caller names beside them, who can narrow them but not widen.

    >>> walls_of((("general", "harbor"),), ["dm-lena"])
    (('general', 'harbor'), ('dm-lena',))
    """
    names = names_or_none("only", only)
    return walls if names is None else (*walls, names)


def check_named(walls: Walls, thread: str | None, source: str | None = None) -> None:
    """Raise InvalidInput unless what is to be kept in a memory with walls names its thread, and that alone.

    Without one it would join what runs, wherever that is; an id of a source may stand in any thread.
    """
    if thread is None:
        raise InvalidInput(f"name the `thread`: {held_to(walls)}")
    if source is not None:
        raise InvalidInput(f"leave the `source` out: {held_to(walls)}")


def held_to(walls: Walls) -> str:
    """Say which threads and channels a memory is held to.

    >>> held_to((("general", "harbor"), ("general",)))
    "this memory tells of 'general' alone"
    """
    names = " and ".join(f"{clipped(one, LONGEST_NAMED)!r}" for one in walls[-1][:MOST_NAMED])
    return f"this memory tells of {names}{', …' if len(walls[-1]) > MOST_NAMED else ''} alone"
