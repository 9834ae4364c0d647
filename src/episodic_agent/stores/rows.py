"""What columns hold: times as int64 microseconds since 1970 UTC, ids as 16 bytes, JSON as text."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache, wraps
from typing import Any, Final, ParamSpec, TypeVar
from uuid import UUID, SafeUUID

from episodic_agent.errors import StoreDamaged

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_ID_BYTES: Final = 16
_new, _set = object.__new__, object.__setattr__
_Item = TypeVar("_Item")
_Row = ParamSpec("_Row")


def readable(read: Callable[_Row, _Item]) -> Callable[_Row, _Item]:
    """Let a function that builds a noun from columns raise StoreDamaged where they hold what nobody wrote."""

    @wraps(read)
    def guarded(*columns: _Row.args, **named: _Row.kwargs) -> _Item:
        try:
            return read(*columns, **named)
        except (ValueError, LookupError, TypeError, AttributeError, OverflowError) as error:
            noun = read.__name__.removesuffix("_of")
            text = f"a stored {noun} cannot be read ({error}): the database is damaged"
            raise StoreDamaged(f"{text}; `episodic doctor` says where") from error

    return guarded


def id_of(value: bytes) -> UUID:
    """Return an id from its 16 bytes, as `UUID(bytes=…)`; ValueError for others.

    A search reads hundreds of rows with ids: checking how it is called is most of what `UUID` does.

    >>> id_of(UUID(int=7).bytes) == UUID(int=7)
    True
    """
    return _identity(value)


@lru_cache(maxsize=8_192)  # later work reads each row a dozen times while it is new
def _identity(value: bytes) -> UUID:
    if len(value) != _ID_BYTES:
        raise ValueError(f"an id has {_ID_BYTES} bytes, not {len(value)}")
    identity = _new(UUID)
    _set(identity, "int", int.from_bytes(value))
    _set(identity, "is_safe", SafeUUID.unknown)
    return identity


def to_microseconds(at: datetime) -> int:
    """Return an aware time as microseconds since 1970 UTC, exactly.

    >>> to_microseconds(datetime(1970, 1, 2, tzinfo=UTC))
    86400000000
    """
    return (at - _EPOCH) // _MICROSECOND


def to_time(microseconds: int) -> datetime:
    """Undo `to_microseconds`.

    >>> to_time(-1).isoformat()
    '1969-12-31T23:59:59.999999+00:00'
    """
    return _moment(microseconds)


@lru_cache(maxsize=8_192)
def _moment(microseconds: int) -> datetime:
    return _EPOCH + timedelta(microseconds=microseconds)


def to_day(day: date) -> int:
    """Return a day as the number of days since 1970.

    >>> to_day(date(1970, 1, 3))
    2
    """
    return (day - _EPOCH.date()).days


def from_day(number: int) -> date:
    """Undo `to_day`.

    >>> from_day(2).isoformat()
    '1970-01-03'
    """
    return _EPOCH.date() + timedelta(days=number)


def optional_microseconds(at: datetime | None) -> int | None:
    """Return `to_microseconds`, or None for None."""
    return None if at is None else to_microseconds(at)


def optional_time(microseconds: int | None) -> datetime | None:
    """Return `to_time`, or None for None."""
    return None if microseconds is None else to_time(microseconds)


def span_microseconds(span: timedelta | None) -> int | None:
    """Return a span of time as microseconds, exactly; None for None.

    >>> span_microseconds(timedelta(minutes=30))
    1800000000
    """
    return None if span is None else span // _MICROSECOND


def optional_span(microseconds: int | None) -> timedelta | None:
    """Undo `span_microseconds`."""
    return None if microseconds is None else timedelta(microseconds=microseconds)


def optional_bytes(identity: UUID | None) -> bytes | None:
    """Return an id's 16 bytes, or None for None."""
    return None if identity is None else identity.bytes


def optional_id(value: bytes | None) -> UUID | None:
    """Undo `optional_bytes`."""
    return None if value is None else id_of(value)


def to_json(value: object) -> str:
    """Write JSON in its shortest form, pure ASCII so that any string (lone surrogates too) can be stored.

    >>> to_json({"b": (1, 2.5)})
    '{"b":[1,2.5]}'
    """
    return json.dumps(value, separators=(",", ":"), default=_plain)


def from_json(text: str) -> Any:
    """Undo `to_json`; tuples come back as lists."""
    return json.loads(text)


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is not JSON")


def in_small(*texts: str) -> list[str]:
    """Return strings, one of which stands in `lower(column)` where a text stands in the column in any case.

    Databases may know small letters of ASCII alone.

    >>> in_small("Ramipril", "Öl")
    ['ramipril', 'Öl', 'öl']
    """
    ways = (way for text in texts for way in (text, text.lower(), text.upper(), text.title()))
    return list(dict.fromkeys("".join(c.lower() if c.isascii() else c for c in way) for way in ways))


def as_made(text: str) -> list[str]:
    """Return how what is made of a text may write it: as it is, as an index of words or a title does.

    >>> as_made("ramipril"), as_made("Ramipril")
    (['ramipril', 'Ramipril'], ['Ramipril', 'ramipril'])
    """
    return list(dict.fromkeys([text, text.lower(), text[:1].upper() + text[1:]]))


def unique(items: Iterable[_Item]) -> Iterator[_Item]:
    """Yield each item once, in order of first appearance.

    >>> list(unique([3, 1, 3]))
    [3, 1]
    """
    return iter(dict.fromkeys(items))
