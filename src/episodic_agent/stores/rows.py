"""What columns hold: times as int64 microseconds since 1970 UTC, ids as 16 bytes, JSON as text.

A number stands for the name of a space or a user where the name itself must not. The content hash of an
observation tells later whether its row still says what was stored. It is kept in the row itself and goes when
the row is erased: the hash of a short text gives it away to whoever guesses.

Records of boundary checks take a quarter of their length, by what they have in common. A record is compact
JSON (`core/boundary/machine.py`), numbers by the names of cues, and the names are longer than the numbers.
The names stand once, here: DEFLATE looks into them as if each record followed them.
"""

import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache, wraps
from hashlib import blake2b
from typing import Any, Final, ParamSpec, TypeVar
from uuid import UUID, SafeUUID

from episodic_agent.errors import StoreDamaged
from episodic_agent.protocols import split_ref
from episodic_agent.schemas import Scope

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


UNHASHED: Final = "content_hash IS NULL AND erased_at IS NULL"
_BYTES: Final = 16


def content_hash(thread_id: UUID, seq: int, columns: Sequence[Any]) -> bytes:
    """Return the BLAKE2b hash of an observation's `OBSERVATION` columns without the ref, and of its place.

    Times are microseconds since 1970 UTC, as stored. A damaged row is hashed too, whatever its columns hold.

    >>> content_hash(UUID(int=1), 0, [b"id", 5, "tea"]).hex()
    '9113630f2edbfe54c7f9f1b1c1c4799a'
    """
    text = _FORM.encode([thread_id.hex, seq, *columns])
    return blake2b(text.encode(), digest_size=_BYTES).digest()


def altered_of(thread_id: UUID, rows: Iterable[Sequence[Any]]) -> list[tuple[int, UUID]]:
    """Return (seq, id) of those rows of a thread that are not what was stored.

    A row holds the `STORED_OBSERVATION` columns and when it was erased: of an erased one no hash is left.
    """
    result = []
    for ref, *columns, stored, erased_at in rows:
        seq = split_ref(ref)[1]
        if erased_at is not None or bytes(stored) != content_hash(thread_id, seq, columns):
            result.append((seq, UUID(bytes=bytes(columns[0])[:16].ljust(16, b"\0"))))
    return result


def _plain_text(value: object) -> str:
    return bytes(value).hex() if isinstance(value, bytes | bytearray | memoryview) else repr(value)


# JSON in ASCII: one form for all strings, lone surrogates too, and the same in every version of the language.
_FORM: Final = json.JSONEncoder(separators=(",", ":"), default=_plain_text)


_KEY_BITS: Final = 63  # so that a key is never negative


@lru_cache(maxsize=1 << 16)
def key_of(name: str) -> int:
    """Return the 63-bit BLAKE2b hash that stands for a space or a user.

    >>> 0 <= key_of("ana") < 1 << 63
    True
    """
    digest = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> (64 - _KEY_BITS)


def keys_of(scope: Scope) -> tuple[int, int]:
    """Return (space, owner): the keys of a scope."""
    return key_of(scope.space), key_of(scope.user_id)


_SHORT: Final = b"\x01"  # what a shortened record begins with; JSON does not
# Never to be changed, for what is stored refers to it: what is common later gets a mark and words of its own.
_COMMON: Final = (
    b'["dual_threshold","size_cap",{"mismatch":0.{"topic":0.["cut",0.,0.4,["no_model",0.0,0.7,0.0,'
    b'["keep",0.000,0.1,0.2305,0.1,{"content":0.0,"novelty":0.,"words":0.9,"marker":0.0,"answers":0.0,'
    b'"continues":0.0,"speaker":1.0,"weight":0.5,"distance":0.,"depth":0.,"silence":0.0,"silence_unusual":0.5}]'
)
_WINDOW: Final = -10  # a kilobyte, without header or checksum: the small state is made in microseconds

_UNREADABLE: Final = "the record of a boundary check cannot be read: the database is damaged"


def shortened(record: bytes) -> bytes:
    """Return a record as it is kept.

    >>> restored(shortened(b'["keep",0.0004,0.2305,0.1696,{"content":0.0}]'))
    b'["keep",0.0004,0.2305,0.1696,{"content":0.0}]'
    """
    deflate = zlib.compressobj(wbits=_WINDOW, memLevel=2, zdict=_COMMON)
    short = _SHORT + deflate.compress(record) + deflate.flush()
    return short if len(short) < len(record) else record


def restored(stored: bytes) -> bytes:
    """Return the record that is kept so, or was kept as it is before records were shortened.

    Raises StoreDamaged for what no record was shortened to.
    """
    if stored[:1] != _SHORT:
        return stored
    inflate = zlib.decompressobj(_WINDOW, _COMMON)
    try:
        record = inflate.decompress(stored[1:])
    except zlib.error as error:
        raise StoreDamaged(f"{_UNREADABLE} ({error})") from error
    if not inflate.eof:
        raise StoreDamaged(f"{_UNREADABLE} (it is cut off)")
    return record
