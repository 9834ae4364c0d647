"""What entity reading returns: mentions with comparable values, and references to several at once."""

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, get_args

Kind: TypeAlias = Literal["place", "time", "person", "organisation", "number", "product"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)


@dataclass(frozen=True, slots=True)
class Mention:
    """Name one entity where it stands: `text == message[start:end]`.

    `value` is what compares: folded, without determiners and titles, short forms written out ("NYC" is
    `new york`), numbers as digits with their unit (`25 kilometre`), times as `weekday:thursday`,
    `date:2026-03-02`, `clock:17:00`, `day:+1`, `month:05` and the like.
    """

    kind: Kind
    text: str
    value: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class SetReference:
    """Point at several entities named before: "both cities", "all three of them".

    `kind` is None where the words do not say what they are, `count` where they do not say how many.
    """

    kind: Kind | None
    count: int | None
    text: str = ""
    start: int = 0
    end: int = 0
