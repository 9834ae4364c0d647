"""Recalled text without a form, known by what it repeats: runs of words that somebody else had said.

What counts is a long run of one's own, not a likeness: an assistant that answers with a fact it was given
says it in a dozen words; one that pastes what it recalled repeats it at length. Words of the same speaker
count only beside somebody else's, because a bot's daily reminder is no recall.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from episodic_agent.core.echo.records import By, Echo, marked_as
from episodic_agent.core.language import fold, words

SHINGLE: Final = 5  # words in a row that two texts share by more than habit
RUN: Final = 12.0  # words of a run that is a repetition
SHORT_RUN: Final = 5.0  # in what only passes memory on
PASTED: Final = 30.0  # words in all from where on nobody only answers
GAP: Final = 2  # words that may differ inside a run: near-exact is enough
MOST_TERMS: Final = 24
LEAST_SHARED: Final = 4  # of the terms looked for; less cannot hold a run
MOST: Final = 0.5  # of a source's shingles, with which it is there as a whole
LONGEST: Final = 8000  # characters of a source that are looked at
LEAST_LETTERS: Final = 40  # shorter texts hold none
_WIDE: Final = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0eff"  # a word is two or so of these
_UNIT: Final = re.compile(rf"[{_WIDE}]|[^\W{_WIDE}]+")
_IS_WIDE: Final = re.compile(rf"[{_WIDE}]")
_FENCE: Final = "```"
Unit = tuple[str, int, int]
Shingle = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Source:
    """A text that may be repeated; `same` tells that the same speaker said it, so that it proves nothing."""

    name: str
    text: str
    same: bool = False


def wanted_terms(text: str, terms: Collection[str]) -> list[str]:
    """Return the terms by which to look for what a text repeats: its longest, which are its rarest.

    Only of the text itself, so that the same text always looks for the same; none where it is too short.

    >>> wanted_terms("Yes, on Friday.", {"friday"})
    []
    >>> wanted_terms("Rossi the plumber came twice to see the tap", {"rossi", "plumber", "twice", "tap"})
    ['plumber', 'rossi', 'twice', 'tap']
    """
    if len(terms) < LEAST_SHARED or (len(text) < LEAST_LETTERS and not _IS_WIDE.search(text)):
        return []
    return sorted(sorted(terms), key=len, reverse=True)[:MOST_TERMS]


def unfenced(text: str) -> str:
    """Return a text with blanks for its programs: those are alike, and nobody's memories.

    >>> unfenced("Run ```ls``` here")
    'Run          here'
    """
    pieces = text.split(_FENCE)
    if len(pieces) == 1:
        return text
    last = len(pieces) - 1
    fences = [len(_FENCE) * (1 if n == last else 2) for n in range(len(pieces))]
    return "".join(" " * (len(one) + fences[n]) if n % 2 else one for n, one in enumerate(pieces))


def repeated(text: str, sources: Sequence[Source], *, trusted: bool = False) -> Echo | None:
    """Return which runs of a text the sources hold already; None where no run is long enough.

    A source counts where most of it is there, or a long run of it: what is recalled is pasted whole.
    `trusted` is for what only passes memory on (a memory's tool, a prompt): whoever said it counts.

    >>> said = Source("1", "I parked the blue car behind the library on Mill Street, next to the old bakery")
    >>> echo = repeated(f"Noted. {said.text}. Anything else I can look up?", [said])
    >>> echo.by.name, echo.spans
    ('QUOTE', ((7, 86),))
    """
    text = unfenced(text)
    own = _shingles(_words(text))
    full_sources = [one for one in sources if _is_pasted(own, one.text)]
    if not any(trusted or not one.same for one in full_sources):
        return None
    known = frozenset().union(*(_shingles_of(one.text) for one in full_sources))
    runs = [run for run in _runs(_units(text), known) if run[2] >= (SHORT_RUN if trusted else RUN)]
    if not runs:
        return None
    spans = [(first, end) for first, end, _ in runs]
    pasted = trusted or sum(weight for _, _, weight in runs) >= PASTED
    return marked_as(text, spans, By.PASTE if pasted else By.QUOTE, [one.name for one in full_sources])


def _units(text: str) -> list[Unit]:
    """Return the words of a text, folded, with where they stand; wide characters are units by themselves."""
    return [(fold(found.group()), found.start(), found.end()) for found in _UNIT.finditer(text)]


def _words(text: str) -> list[str]:
    """Return the words of `_units` alone, which most texts are asked for and nothing else."""
    return words(text) if text.isascii() else [fold(found) for found in _UNIT.findall(text)]


def _shingles(line: Sequence[str]) -> frozenset[Shingle]:
    return frozenset(zip(*(line[n:] for n in range(SHINGLE)), strict=False))


@lru_cache(maxsize=256)
def _shingles_of(text: str) -> frozenset[Shingle]:
    """Return the shingles of a source; what was recalled is compared with all that is said for a while."""
    return _shingles(_words(text[:LONGEST]))


def _is_pasted(own: frozenset[Shingle], source: str) -> bool:
    there = _shingles_of(source)
    return not own.isdisjoint(there) and len(own & there) >= min(MOST * len(there), PASTED)


def _runs(units: Sequence[Unit], known: frozenset[Shingle]) -> list[tuple[int, int, float]]:
    """Return the runs that are known: first and end in characters, and how many words they are."""
    line = [word for word, _, _ in units]
    covered = [False] * len(units)
    for n in range(len(units) - SHINGLE + 1):
        if tuple(line[n : n + SHINGLE]) in known:
            covered[n : n + SHINGLE] = [True] * SHINGLE
    runs: list[tuple[int, int, float]] = []
    held: list[int] = []
    for place in [n for n, one in enumerate(covered) if one] + [len(units) + GAP + 1]:
        if held and place - held[-1] > GAP + 1:
            weight = sum(0.5 if _IS_WIDE.match(line[n]) else 1.0 for n in held)
            runs.append((units[held[0]][1], units[held[-1]][2], weight))
            held = []
        held.append(place)
    return runs
