"""Which names may be one person's, without a model: what names, addresses and where they spoke make sure."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Final

from episodic_agent.core.language import fold

_BRACKETS: Final = re.compile(r"[(\[{（【]([^)\]}）】]*)[)\]}）】]")
_PRONOUNS: Final = re.compile(r"\w{1,6}(?:\s*/\s*\w{1,6})+")  # "she/her", "they / them"
_FULL: Final = 2  # words of a name that is one person's
_INITIALLED: Final = 3  # letters, at least, of the part of a name beside an initial


@dataclass(frozen=True, slots=True)
class SpokenName:
    """A name of somebody who spoke: their mail addresses, folded, and the threads with the times they spoke.

    `talks` are a thread and the first and last time (in any unit) in it.
    """

    name: str
    addresses: frozenset[str] = frozenset()
    talks: Sequence[tuple[object, float, float]] = field(default_factory=tuple)


@dataclass(frozen=True, slots=True)
class Proposal:
    """Two names that may be one person's, and why."""

    name: str
    other: str
    reason: str


def proposals(spoken: Iterable[SpokenName]) -> list[Proposal]:
    """Return which names may be one person's, in their order; never two of which one fits two people.

    >>> names = ["Tom W", "Tom Whitfield", "TOM WHITFIELD (he/him)", "Tom Berg", "tom.berg@club.org", "Tom"]
    >>> for one in proposals(map(SpokenName, names)):
    ...     print(one.name, "=", one.other, "|", one.reason)
    Tom W = Tom Whitfield | the only full name that the initial fits
    Tom W = TOM WHITFIELD (he/him) | the only full name that the initial fits
    Tom Whitfield = TOM WHITFIELD (he/him) | the same name, written otherwise
    Tom Berg = tom.berg@club.org | the same name, written otherwise
    """
    every = list(spoken)
    parts = [_parts(one.name) for one in every]
    whole = _one_person([part for part, _ in parts], [role for _, role in parts])
    fits = {n: _fitting(part, {one for one, _ in parts}) for n, (part, _) in enumerate(parts)}
    results = []
    for n, m in combinations(range(len(every)), 2):
        one, other, ours, theirs = every[n], every[m], parts[n][0], parts[m][0]
        if one.addresses & other.addresses:
            reason = f"both write from {min(one.addresses & other.addresses)}"
        elif "@" in one.name and "@" in other.name:  # of the same words in two places
            continue
        elif ours and "".join(ours) == "".join(theirs) and whole["".join(ours)]:
            reason = "the same name, written otherwise"
        elif (theirs in fits[n] and whole["".join(theirs)]) or (ours in fits[m] and whole["".join(ours)]):
            if _talk_together(one, other):
                continue
            reason = "the only full name that the initial fits"
        else:
            continue
        results.append(Proposal(one.name, other.name, reason))
    return results


def _parts(name: str) -> tuple[tuple[str, ...], str]:
    """Return the words of a name, folded, and what stands beside it in brackets but pronouns.

    >>> _parts("Ana Kovać 🌱 (she/her)"), _parts("T. Whitfield [Sales]"), _parts("tom.whitfield@example.org")
    ((('ana', 'kovac'), ''), (('t', 'whitfield'), 'sales'), (('tom', 'whitfield'), ''))
    """
    roles = [fold(one.strip()) for one in _BRACKETS.findall(name) if not _PRONOUNS.fullmatch(one.strip())]
    plain = _PRONOUNS.sub(" ", _BRACKETS.sub(" ", name))
    local, at, _ = plain.strip().partition("@")
    is_address = bool(at and local)
    letters = "".join(_letter(one) for one in (local if is_address else plain))
    words = tuple(fold(letters).split())
    if is_address and len(words) < _FULL:  # there is a Tom, and an info, at every address
        words = ()
    return words, " ".join(filter(None, roles))


def _letter(character: str) -> str:
    return character if unicodedata.category(character)[0] in "LMN" else " "


def _one_person(parts: Sequence[tuple[str, ...]], roles: Sequence[str]) -> dict[str, bool]:
    """Tell of each name, without its spaces, whether all who have it may be one person.

    Two who have different roles beside it are not; a first name alone with a role may be anybody of that.
    """
    beside: dict[str, set[str]] = defaultdict(set)
    full: dict[str, bool] = defaultdict(bool)
    for words, role in zip(parts, roles, strict=True):
        beside["".join(words)].add(role)
        full["".join(words)] |= len(words) >= _FULL
    firsts = defaultdict(set)
    for words in parts:
        if words:
            firsts[words[0]].add("".join(words))
    return {
        name: len(beside[name] - {""}) < _FULL
        and (full[name] or (beside[name] == {""} and len(firsts.get(name, ())) <= 1))
        for name in beside
    }


def _fitting(words: tuple[str, ...], names: set[tuple[str, ...]]) -> Iterable[tuple[str, ...]]:
    """Return the full name that a name with an initial fits, in the ways it is written; none if two do."""
    if len(words) < _FULL or all(len(word) > 1 for word in words):
        return ()
    fits = [one for one in names if one != words and all(len(word) > 1 for word in one) and _fits(words, one)]
    return fits if len({"".join(one) for one in fits}) == 1 else ()


def _fits(short: tuple[str, ...], full: tuple[str, ...]) -> bool:
    """Tell whether a name with initials is short for a full one: "Tom W", "T. Whitfield"; "T. W." fits many.

    >>> _fits(("tom", "w"), ("tom", "whitfield")), _fits(("t", "w"), ("tom", "whitfield"))
    (True, False)
    """
    if len(short) != len(full) or not any(len(word) >= _INITIALLED for word in short):
        return False
    return all(
        word == whole or (len(word) == 1 and whole.startswith(word))
        for word, whole in zip(short, full, strict=True)
    )


def _talk_together(one: SpokenName, other: SpokenName) -> bool:
    """Tell whether two names speak in one thread in the same time: one person mostly has one there."""
    return any(_overlaps(one.talks, other.talks))


def _overlaps(
    some: Sequence[tuple[object, float, float]], others: Sequence[tuple[object, float, float]]
) -> Iterator[bool]:
    there = {thread: (first, last) for thread, first, last in others}
    for thread, first, last in some:
        if thread in there:
            yield first < there[thread][1] and there[thread][0] < last
