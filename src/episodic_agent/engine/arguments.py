"""What callers give to `Memory`'s verbs, read: names, times, ids, items.

Observations are found by the ids their callers gave, too: a platform knows its own number of a message, not
ours.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import UTC, date, datetime, tzinfo
from os import PathLike
from pathlib import Path
from typing import Any, Final, Literal, SupportsIndex, TypeAlias, get_args
from uuid import UUID
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from episodic_agent.core.ingest import LARGEST, Item, check_ahead, check_names, read_item, read_time
from episodic_agent.core.ingest.words import type_name
from episodic_agent.core.language import repair
from episodic_agent.engine.files.dates import DateOrder
from episodic_agent.errors import InvalidInput, NotFound
from episodic_agent.schemas import Kind, TimeSource

DEFAULT_CHANNEL = "default"
LASTING = frozenset(("ttl", "expires_at"))  # either says when an item is to be erased
MAX_TOKENS: Final = 1500  # of a context
FEW_FACTS: Final = 20  # of an answer (seed 003)
MOST_EPISODES: Final = 1_000  # of an answer
MOST_FACTS: Final = 1_000
MOST_OBSERVATIONS: Final = 10_000
Form: TypeAlias = Literal["default", "context-2027-02", "context-2027-01", "seed-002"]  # of a context
RESOLUTIONS: Final = ("micro", "meso", "macro")  # of a section's words
SESSION_STATES: Final = ("open", "closed", "abandoned")
LATER: Final = "give a later moment: it counts when something was told to the memory, not when it was said"
FORMS: Final[tuple[Form, ...]] = get_args(Form)
_ALL: Final = 1 << 48  # more than a memory holds, and less than a database counts to
_NO_NAMES: Final = (Mapping, list, tuple, set, frozenset, bytes, bytearray, bool)
Progress: TypeAlias = Callable[[int], None]


def origin_of(item: Item, thread: str | None) -> str | None:
    """Name the thread an item joins: the one given, or its conversation; None: resolution finds one.

    Steps without a thread share their channel's own: a silent agent has not ended what it does.

    >>> origin_of(Item("user", "hi"), "kitchen"), origin_of(Item("user", "hi", channel="sms"), None)
    ('kitchen', None)
    >>> origin_of(Item("agent", "go on", kind=Kind.STEP), None)
    'channel:default'
    """
    named = thread or item.conversation
    if named is None and item.kind is Kind.STEP:
        return f"channel:{item.channel or DEFAULT_CHANNEL}"
    return named


def clean_name(name: object, field: str = "name") -> str | None:
    """Repair a caller's name of something, as texts are repaired; None stays None.

    Ids of any type are names. Raises InvalidInput, which says whose, for what only looks like one as a text:
    a list, an object, bytes, a truth value, and what prints where in memory it lies.

    >>> clean_name("a\\x00b"), clean_name(5), clean_name(None)
    ('a\ufffdb', '5', None)
    >>> clean_name(["ana"], "user")
    Traceback (most recent call last):
    ...
    episodic_agent.errors.InvalidInput: `user` is a text or a number, not a list; give one name
    """
    if name is None or isinstance(name, str):
        return None if name is None else repair(name)[0]
    kind = type(name)
    unprinted = kind.__str__ is object.__str__ and kind.__repr__ is object.__repr__
    if unprinted or isinstance(name, _NO_NAMES):
        raise InvalidInput(f"`{field}` is a text or a number, not {type_name(name)}; give one name")
    return repair(str(name))[0]


def filled(field: str, value: str) -> str:
    """Return a name as it is; InvalidInput, which says whose, where it is empty."""
    if not value.strip():
        raise InvalidInput(f"`{field}` is empty; give a name, or leave it out")
    return value


def name_or_none(field: str, value: object) -> str | None:
    """Read a name that may be left out (None); InvalidInput for an empty one, which says the opposite.

    Taken for left out it would widen a call to everything: a program whose variable was not set asks so.

    >>> name_or_none("thread", "work"), name_or_none("thread", None)
    ('work', None)
    >>> name_or_none("thread", " ")
    Traceback (most recent call last):
    ...
    episodic_agent.errors.InvalidInput: `thread` is empty; give a name, or leave it out
    """
    name = clean_name(value, field)
    return None if name is None else filled(field, name)


def names_or_none(field: str, value: object) -> tuple[str, ...] | None:
    """Read names of threads and channels that may be left out (None), each once; a text is one name.

    Raises InvalidInput for none at all, which taken for left out would tell everything, and for an empty one.

    >>> names_or_none("only", ["general", "harbor", "general"]), names_or_none("only", "general")
    (('general', 'harbor'), ('general',))
    >>> names_or_none("only", [])
    Traceback (most recent call last):
    ...
    episodic_agent.errors.InvalidInput: `only` is empty: name at least one thread or channel
    """
    if value is None:
        return None
    if isinstance(value, Mapping | bytes | bytearray):
        raise InvalidInput(f"`{field}` is a list of names, not {type_name(value)}")
    listed = [value] if isinstance(value, str) or not isinstance(value, Iterable) else [*value]
    if not listed:
        raise InvalidInput(f"`{field}` is empty: name at least one thread or channel")
    names = [clean_name(one, field) for one in listed]
    if None in names:
        raise InvalidInput(f"`{field}` is a list of names; None is none")
    return tuple(dict.fromkeys(filled(field, one) for one in names if one is not None))


def episode_identity(value: "UUID | str") -> UUID:
    """Read an episode id as listings print it; NotFound for anything else."""
    try:
        return value if isinstance(value, UUID) else UUID(value)
    except (ValueError, AttributeError, TypeError) as error:
        raise NotFound(f"no episode {value!r} in this memory; `episodic episodes` lists the ids") from error


def aware(moment: "datetime | str | float | None") -> datetime | None:
    """Read a naive time as UTC, as everywhere a time is given, and one in words as `add` does, with its zone.

    Raises InvalidInput for what is no time.

    >>> aware(datetime(2024, 3, 1)).isoformat(), aware("2024-03-01").isoformat()
    ('2024-03-01T00:00:00+00:00', '2024-03-01T00:00:00+00:00')
    """
    if isinstance(moment, datetime):
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
    return None if moment is None else read_time(moment).lived


def out_of_order(since: datetime, until: datetime) -> str:
    """Say what is wrong with a stretch of time that ends before it begins.

    >>> print(out_of_order(datetime(2026, 3, 2, tzinfo=UTC), datetime(2026, 3, 1, tzinfo=UTC)))
    `since` must be before `until`, but 2026-03-02T00:00:00+00:00 is not before 2026-03-01T00:00:00+00:00
    """
    return f"`since` must be before `until`, but {since.isoformat()} is not before {until.isoformat()}"


def day(value: "date | str") -> date:
    """Read a day, of a time the day it is in UTC; InvalidInput for what is none.

    >>> day("2024-03-01T23:30:00-01:00").isoformat(), day(date(2024, 3, 1)).isoformat()
    ('2024-03-02', '2024-03-01')
    """
    if isinstance(value, date) and not isinstance(value, datetime):
        return value  # not read as a time: the first of all days means "ever since"
    return read_time(value).at.date()


def counted(name: str, value: object, least: int = 1, most: int | None = None) -> int:
    """Return a number that is to count something; InvalidInput, which names it, for what cannot.

    Without a `most` any number may be given: one that no memory reaches means all.

    >>> counted("limit", 5), counted("limit", 10**30) < 1 << 63
    (5, True)
    """
    number = value.__index__() if isinstance(value, SupportsIndex) and not isinstance(value, bool) else None
    if number is None or number < least:
        raise InvalidInput(f"`{name}` is {least} or more, a whole number, not {value!r}")
    if most is not None and number > most:
        raise InvalidInput(f"`{name}` is at most {most}, not {number}")
    return min(number, _ALL)


def worded(name: str, value: object) -> str:
    """Return a text as it was given; InvalidInput, which names it, for anything else."""
    if not isinstance(value, str):
        raise InvalidInput(f"`{name}` is a text, not {type(value).__name__}; give it as words")
    return value


def listed(items: object) -> Iterable[Any]:
    """Return what `add` was given as items; InvalidInput for what is none."""
    if isinstance(items, str | Mapping):
        return [items]
    if isinstance(items, Iterable) and not isinstance(items, bytes | bytearray):
        return items
    raise InvalidInput(f"give a text, a message or a list of them, not {type(items).__name__}")


def item_of(
    n: int,
    raw: "str | Mapping[str, Any]",
    role: str,
    channel: str | None,
    about: Mapping[str, Any],
    *,
    now: datetime,
    largest: int = LARGEST,
    alone: bool = False,
) -> Item:
    """Read the n-th item of an `add` (from 0) with what the call says about all; InvalidInput names it.

    One that came `alone`, in no list, has no number.
    """
    if isinstance(raw, str):
        raw = {"role": role, "content": raw}
    arguments = {k: v for k, v in about.items() if v is not None}
    if isinstance(raw, Mapping) and not raw.keys().isdisjoint(LASTING):
        arguments = {k: v for k, v in arguments.items() if k not in LASTING}  # the item knows better
    full = {**arguments, **raw} if isinstance(raw, Mapping) else raw  # read_item says what is wrong with it
    try:
        if isinstance(raw, Mapping):
            check_names(raw)
        item = read_item(full, default_actor=role, channel=channel, largest=largest)
        check_ahead(item.at, now)
    except InvalidInput as error:
        if alone:
            raise
        raise type(error)(f"item {n + 1}: {error}") from error
    if item.at is not None or full.get("at_source") == TimeSource.ASSUMED:
        return item
    return replace(item, at_source=TimeSource.RECEIVED)  # said live: the moment it comes is its time


def file_path(value: "str | PathLike[str]") -> Path:
    """Return a path that is given as one; raises InvalidInput, for "" too.

    Python takes an empty path for the folder it runs in: all of that would be read if a variable was not set.
    """
    if not isinstance(value, str | PathLike):
        raise InvalidInput(f"name the file as a path, not {type(value).__name__}")
    if not str(value):
        raise InvalidInput('the path is empty; name a file, or "." for the folder you are in')
    return Path(value)


def time_zone(value: "str | tzinfo | None") -> tzinfo | None:
    """Return a zone by its name in the tz database; InvalidInput for a name it does not have.

    >>> str(time_zone("Europe/Berlin")), time_zone(None)
    ('Europe/Berlin', None)
    """
    if value is None or isinstance(value, tzinfo):
        return value
    try:
        return ZoneInfo(worded("timezone", value))
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise InvalidInput(
            f"no time zone {value!r}; name one as Europe/Berlin or America/New_York"
        ) from error


def order_of_dates(value: str | None) -> DateOrder | None:
    """Return the order that a caller names; InvalidInput for another name.

    >>> order_of_dates("dmy")
    <DateOrder.DMY: 'dmy'>
    """
    if value is None:
        return None
    try:
        return DateOrder(value)
    except ValueError as error:
        raise InvalidInput(f"no order of dates {value!r}; there are dmy, mdy and ymd") from error
