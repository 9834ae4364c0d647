"""Readings of texts that several parts of the engine ask for: each done once while it is fresh."""

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Concatenate, Final, ParamSpec, TypeVar, cast

LONGEST: Final = 2_000  # characters; longer texts are rare and would fill the memory of what was read

P = ParamSpec("P")
T = TypeVar("T")


def remembered(
    most: int, longest: int = LONGEST
) -> Callable[[Callable[Concatenate[str, P], T]], Callable[Concatenate[str, P], T]]:
    """Remember what a pure function of a text returned for the last `most` texts; longer ones are read anew.

    What it returns must not change. The text is the first argument; the others are given in one way.

    >>> @remembered(2)
    ... def letters(text):
    ...     print("reads", text[:3])
    ...     return len(text)
    >>> letters("tea"), letters("tea")
    reads tea
    (3, 3)
    """

    def decorate(read: Callable[Concatenate[str, P], T]) -> Callable[Concatenate[str, P], T]:
        once = cast("Callable[Concatenate[str, P], T]", lru_cache(maxsize=most)(read))

        @wraps(read)
        def remember(text: str, /, *more: P.args, **named: P.kwargs) -> T:
            return (once if len(text) <= longest else read)(text, *more, **named)

        return remember

    return decorate
