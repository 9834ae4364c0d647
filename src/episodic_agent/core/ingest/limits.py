"""How large what is taken in may be."""

from dataclasses import dataclass
from typing import Final

from episodic_agent.errors import TooLarge

LARGEST: Final = 1_000_000
_LINES: Final = 64  # messages of the largest size that one line, or one conversation in a list, may hold


@dataclass(frozen=True, slots=True)
class IntakeLimits:
    """Bounds of what is taken in, each with the setting that raises it.

    `message` is how many bytes the text of a message may have as UTF-8, and how many all that comes with it
    (EPISODIC_MESSAGE_BYTES). `unpacked` is how many bytes a packed file may unpack to
    (EPISODIC_UNPACKED_BYTES), `ratio` how many times its own size (EPISODIC_UNPACKED_RATIO).
    """

    message: int = LARGEST
    unpacked: int = 4_000_000_000
    ratio: int = 200

    @property
    def line(self) -> int:
        """Return how many characters are held at once: of a line, or of an element of a list."""
        return _LINES * max(self.message, LARGEST)

    @property
    def too_long(self) -> str:
        """Say what is wrong with more than that."""
        return f"longer than {self.line:,} characters; divide it, or raise EPISODIC_MESSAGE_BYTES"


def check_size(what: str, text: str, largest: int) -> None:
    """Raise TooLarge for a text of more than `largest` bytes as UTF-8.

    >>> check_size("the text", "tea", 2)
    Traceback (most recent call last):
    ...
    episodic_agent.errors.TooLarge: the text has 3 bytes, more than the 2 a message may have; \
send it in parts, or raise EPISODIC_MESSAGE_BYTES
    """
    if len(text) * 4 > largest:  # no character takes more: nearly every text is small enough
        size = len(text.encode("utf-8", "replace"))
        if size > largest:
            raise TooLarge(too_large(what, f"{size:,}", largest))


def too_large(what: str, size: str, largest: int) -> str:
    """Say that something is too large, and what to do about it."""
    return (
        f"{what} has {size} bytes, more than the {largest:,} a message may have; "
        "send it in parts, or raise EPISODIC_MESSAGE_BYTES"
    )
