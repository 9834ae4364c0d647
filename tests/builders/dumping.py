"""Everything a value holds, for tests that look for what must not be in it: a `repr` shows people some of it."""

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass


def dumped(value: object) -> str:
    """Return all fields of a value and of what it holds as one text.

    >>> dumped([{"a": b"x"}, 1])
    "[{'a': b'x'}, 1]"
    """
    return repr(_plain(value))


def _plain(value: object) -> object:
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: _plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Mapping):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str | bytes | bytearray | memoryview):
        return [_plain(one) for one in value]
    return value
