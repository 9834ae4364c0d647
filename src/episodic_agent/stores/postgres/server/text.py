"""Strings as the server takes them: a text column holds any character but NUL, which is written as two."""

from collections.abc import Iterable
from typing import Any, Final

_ESCAPE: Final = "\x1a"  # SUBSTITUTE: in no text a person writes
_NUL: Final = _ESCAPE + "0"
_ITSELF: Final = _ESCAPE + "1"


def to_stored(text: str) -> str:
    r"""Return a string without NUL that `from_stored` turns back.

    >>> to_stored("a\0b"), to_stored("plain")
    ('a\x1a0b', 'plain')
    """
    if "\0" in text or _ESCAPE in text:
        return text.replace(_ESCAPE, _ITSELF).replace("\0", _NUL)
    return text


def from_stored(text: str) -> str:
    r"""Undo `to_stored`.

    >>> from_stored(to_stored("a\0\x1a0"))
    'a\x00\x1a0'
    """
    if _ESCAPE in text:
        return text.replace(_NUL, "\0").replace(_ITSELF, _ESCAPE)
    return text


def read_columns(columns: Iterable[Any]) -> tuple[Any, ...]:
    """Return a row with its strings as they were written."""
    return tuple([from_stored(value) if type(value) is str else value for value in columns])
