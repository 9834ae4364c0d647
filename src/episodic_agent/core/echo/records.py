"""An echo as an observation carries it: beside the text, which is kept whole, never instead of it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from episodic_agent.core.language import tokens, words
from episodic_agent.schemas import Json, Observation

ECHO: Final = "episodic.echo"  # the name it has in an observation's extras
FEW_TOKENS: Final = 3  # "retrieve_memory:" around pasted text is nobody's news
LONGEST_LABEL: Final = 8  # words


class By(StrEnum):
    """How an echo was recognised: by the form of recalled text, as pasted text, or as one quoted sentence."""

    FORM = "form"
    PASTE = "paste"
    QUOTE = "quote"


@dataclass(frozen=True, slots=True)
class Echo:
    """Which parts of a text are recalled: (first, end) of each in characters, rising, and how that was seen.

    `sources` are the ids of observations and episodes it repeats, where they were looked up. `is_complete`
    tells
    that what is left says nothing.
    """

    spans: tuple[tuple[int, int], ...]
    by: By
    sources: tuple[str, ...] = ()
    is_complete: bool = False

    def as_json(self) -> dict[str, Json]:
        """Return what extras hold."""
        spans = [list(span) for span in self.spans]
        return {"spans": spans, "by": str(self.by), "of": list(self.sources), "whole": self.is_complete}


def marked_as(
    text: str, spans: Sequence[tuple[int, int]], by: By, sources: Sequence[str] = (), *, own: bool = False
) -> Echo | None:
    """Return the echo that spans of a text make, joined and in order; None without any.

    `own` is for what a person wrote: every word beside the recalled text is then kept.

    >>> marked_as("You said: the key is under the mat", [(10, 20), (19, 34)], By.PASTE).spans
    ((10, 34),)
    """
    joined: list[tuple[int, int]] = []
    for first, end in sorted(spans):
        if joined and first <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        elif end > first:
            joined.append((first, end))
    if not joined:
        return None
    pieces = _between(text, joined)
    if not own:
        pieces = [*(piece for piece in pieces[:-1] if not _is_label(piece)), *pieces[-1:]]
    left = "\n".join(pieces)
    complete = not any(c.isalnum() for c in left) if own else len(tokens(left)) < FEW_TOKENS
    return Echo(tuple(joined), by, tuple(dict.fromkeys(sources)), complete)


def echo_of(extras: Mapping[str, Json], text: str) -> Echo | None:
    """Read the echo that extras tell of; None without one, or where it cannot be one of this text."""
    answer = extras.get(ECHO)
    if not isinstance(answer, Mapping):
        return None
    spans, by, of = answer.get("spans"), answer.get("by"), answer.get("of")
    if not isinstance(spans, Sequence) or not isinstance(of, Sequence) or by not in set(By):
        return None
    read: list[tuple[int, int]] = []
    for span in spans:
        match span:
            case [int(first), int(end)] if (read[-1][1] if read else 0) <= first < end <= len(text):
                read.append((first, end))
            case _:
                return None
    if not read:
        return None
    return Echo(tuple(read), By(str(by)), tuple(map(str, of)), answer.get("whole") is True)


def own_text(text: str, extras: Mapping[str, Json]) -> str:
    """Return what a text says that is not an echo; "" where that is nothing.

    >>> echo = Echo(((0, 9),), By.FORM)
    >>> own_text("> old <\\n\\nIt rains.", {ECHO: echo.as_json()}), own_text("It rains.", {})
    ('It rains.', 'It rains.')
    """
    if ECHO not in extras:
        return text
    echo = echo_of(extras, text)
    if echo is None:
        return text
    return "" if echo.is_complete else _without(text, echo.spans)


def own_words(observation: Observation) -> Observation:
    """Return an observation with what it says beside the recalled; everything that learns reads this one."""
    if ECHO not in observation.extras:
        return observation
    return replace(observation, text=own_text(observation.text, observation.extras))


def all_own_words(observations: Iterable[Observation]) -> list[Observation]:
    """Return observations as they are heard; those that only repeat what was recalled are left out."""
    return [own_words(one) for one in observations if ECHO not in one.extras or own_words(one).text]


def silenced(observations: Iterable[Observation]) -> list[Observation]:
    """Return what `all_own_words` does, but with blanks for what was recalled: places stay the same."""
    return [
        replace(one, text=_blanked(one.text, echo.spans)) if (echo := echo_of(one.extras, one.text)) else one
        for one in observations
        if not is_echo(one)
    ]


def _blanked(text: str, spans: Sequence[tuple[int, int]]) -> str:
    for start, end in spans:
        if start < end:  # a line of its own: what stands around it is not one sentence
            text = text[:start] + "\n" + " " * (end - start - 1) + text[end:]
    return text


def is_echo(observation: Observation) -> bool:
    """Tell whether an observation says nothing but what was recalled."""
    return ECHO in observation.extras and not own_words(observation).text


def _without(text: str, spans: Sequence[tuple[int, int]]) -> str:
    return "\n".join(piece for piece in _between(text, spans) if any(c.isalnum() for c in piece))


def _between(text: str, spans: Sequence[tuple[int, int]]) -> list[str]:
    """Return what stands before, between and after spans: one piece more than there are spans."""
    edges = [0, *(edge for span in spans for edge in span), len(text)]
    return [text[edges[n] : edges[n + 1]].strip() for n in range(0, len(edges), 2)]


def _is_label(piece: str) -> bool:
    """Tell whether words only announce what follows: "Relevant memories:", a tool's name."""
    bare = piece.rstrip(" \n\"'“«*->#0123456789.[{(")
    return bare.endswith((":", "：")) and len(words(bare)) <= LONGEST_LABEL and "\n\n" not in bare
