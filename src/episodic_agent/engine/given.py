"""What callers give to `Memory`'s verbs, read: names, times, ids, items."""

from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime
from typing import Any, SupportsIndex
from uuid import UUID

from episodic_agent.core.intake import Item, read_item, read_time
from episodic_agent.core.text import repair
from episodic_agent.errors import InvalidInput, NotFound
from episodic_agent.schemas import Kind

DEFAULT_CHANNEL = "default"
LASTING = frozenset(("ttl", "expires_at"))  # either says when an item is to be erased


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


def tidy(name: object) -> str | None:
    """Repair a caller's name of something, as texts are repaired; None stays None.

    >>> tidy("a\\x00b"), tidy(5), tidy(None)
    ('a\ufffdb', '5', None)
    """
    return None if name is None else repair(str(name))[0]


def episode_identity(given: "UUID | str") -> UUID:
    """Read an episode id as listings print it; NotFound for anything else."""
    try:
        return given if isinstance(given, UUID) else UUID(given)
    except (ValueError, AttributeError, TypeError) as error:
        raise NotFound(f"no episode {given!r} in this memory; `episodic episodes` lists the ids") from error


def aware(moment: "datetime | str | float | None") -> datetime | None:
    """Read a naive time as UTC, as everywhere a time is given, and one in words as `add` does.

    Raises InvalidInput for what is no time.

    >>> aware(datetime(2024, 3, 1)).isoformat(), aware("2024-03-01").isoformat()
    ('2024-03-01T00:00:00+00:00', '2024-03-01T00:00:00+00:00')
    """
    if isinstance(moment, datetime):
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
    return None if moment is None else read_time(moment).at


def day(given: "date | str") -> date:
    """Read a day, of a time the day it is in UTC; InvalidInput for what is none.

    >>> day("2024-03-01T23:30:00-01:00").isoformat(), day(date(2024, 3, 1)).isoformat()
    ('2024-03-02', '2024-03-01')
    """
    if isinstance(given, date) and not isinstance(given, datetime):
        return given  # not read as a time: the first of all days means "ever since"
    return read_time(given).at.date()


def counted(name: str, given: object, least: int = 1) -> int:
    """Return a number that is to count something; InvalidInput, which names it, for what cannot.

    >>> counted("limit", 5)
    5
    """
    number = given.__index__() if isinstance(given, SupportsIndex) and not isinstance(given, bool) else None
    if number is None or number < least:
        raise InvalidInput(f"`{name}` is {least} or more, a whole number, not {given!r}")
    return number


def worded(name: str, given: object) -> str:
    """Return a text as it was given; InvalidInput, which names it, for anything else."""
    if not isinstance(given, str):
        raise InvalidInput(f"`{name}` is a text, not {type(given).__name__}; give it as words")
    return given


def listed(items: object) -> Iterable[Any]:
    """Return what `add` was given as items; InvalidInput for what is none."""
    if isinstance(items, str | Mapping):
        return [items]
    if isinstance(items, Iterable) and not isinstance(items, bytes | bytearray):
        return items
    raise InvalidInput(f"give a text, a message or a list of them, not {type(items).__name__}")


def given_item(
    n: int,
    raw: "str | Mapping[str, Any]",
    role: str,
    channel: str | None,
    about: Mapping[str, Any],
) -> Item:
    """Read the n-th item of an `add` (from 0) with what the call says about all; InvalidInput names it."""
    if isinstance(raw, str):
        raw = {"role": role, "content": raw}
    given = {k: v for k, v in about.items() if v is not None}
    if isinstance(raw, Mapping) and not raw.keys().isdisjoint(LASTING):
        given = {k: v for k, v in given.items() if k not in LASTING}  # the item knows better
    whole = {**given, **raw} if isinstance(raw, Mapping) else raw  # read_item says what is wrong with it
    try:
        return read_item(whole, default_actor=role, channel=channel)
    except InvalidInput as error:
        raise InvalidInput(f"item {n + 1}: {error}") from error
