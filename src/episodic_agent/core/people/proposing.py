"""Which names may be one person's, without a model: what names, addresses and where they spoke make sure."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from episodic_agent.core.language import fold

_BRACKETS: Final = re.compile(r"[(\[{（【]([^)\]}）】]*)[)\]}）】]")
_ADDRESS: Final = re.compile(r"[^\s<>()]+@[^\s<>()]+")
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
    talks: Sequence[tuple[object, float, float]] = ()

    @property
    def mailboxes(self) -> frozenset[str]:
        """Return all their mail addresses, with those that stand in the name."""
        return self.addresses | frozenset(one.casefold() for one in _ADDRESS.findall(self.name))


def proposals(spoken: Iterable[SpokenName]) -> list[tuple[int, int, str]]:
    """Return pairs of names, by their places, that may be one person's, and why; none that fits two people.

    >>> names = ["Tom W", "Tom Whitfield", "TOM WHITFIELD (he/him)", "Tom Berg", "tom.berg@club.org", "Tom"]
    >>> for first, second, reason in proposals(map(SpokenName, names)):
    ...     print(names[first], "=", names[second], "|", reason)
    Tom W = Tom Whitfield | the only full name that the initial fits
    Tom W = TOM WHITFIELD (he/him) | the only full name that the initial fits
    Tom Whitfield = TOM WHITFIELD (he/him) | the same name, written otherwise
    Tom Berg = tom.berg@club.org | the same name, written otherwise
    """
    every = list(spoken)
    forms = [_forms(one) for one in every]
    roles = [_parts(one.name)[1] for one in every]
    one_person = _one_person([(form, role) for some, role in zip(forms, roles, strict=True) for form in some])
    known = {form for some in forms for form in some}
    fits = [{fit for form in some for fit in _fitting(form, known)} for some in forms]
    results = []
    for n, m in combinations(range(len(every)), 2):
        reason = ""
        if both := every[n].mailboxes & every[m].mailboxes:
            reason = f"both write from {min(both)}"
        elif any(one_person["".join(one)] for one in _shared(forms[n], forms[m])) and _one_box(
            every[n], every[m]
        ):
            reason = "the same name, written otherwise"
        elif any(one_person["".join(one)] for one in fits[n] & forms[m] | fits[m] & forms[n]):
            boxes = every[n].mailboxes, every[m].mailboxes  # "M. Jensen" of another house is another one
            if not all(boxes) and not _talk_together(every[n], every[m]):
                reason = "the only full name that the initial fits"
        if reason:
            results.append((n, m, reason))
    return results


def _shared(some: set[tuple[str, ...]], others: set[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Return the forms of a name that are one of another's, whether or not with spaces between its words."""
    there = {"".join(other) for other in others}
    return [one for one in some if "".join(one) in there]


def _one_box(speaker: SpokenName, other: SpokenName) -> bool:
    """Tell whether names that are alike may be one person's: an address alone says too little of another."""
    return not {speaker.name, other.name} <= speaker.mailboxes | other.mailboxes


def _forms(spoken: SpokenName) -> set[tuple[str, ...]]:
    """Return the words of a name, and of the addresses of its bearer that are made of several: folded.

    >>> sorted(_forms(SpokenName("Christopher Park <chris.park@example.org>")))
    [('chris', 'park'), ('christopher', 'park')]
    """
    shown = _parts(_ADDRESS.sub(" ", spoken.name))[0]
    boxes = (_parts(one.partition("@")[0])[0] for one in spoken.mailboxes)
    return {one for one in (shown, *(box for box in boxes if len(box) >= _FULL)) if one}


def _parts(name: str) -> tuple[tuple[str, ...], str]:
    """Return the words of a name, folded, and what stands beside it in brackets but pronouns.

    >>> _parts("Ana Kovać 🌱 (she/her)"), _parts("T. Whitfield [Sales]")
    ((('ana', 'kovac'), ''), (('t', 'whitfield'), 'sales'))
    """
    roles = [fold(one.strip()) for one in _BRACKETS.findall(name) if not _PRONOUNS.fullmatch(one.strip())]
    plain = _PRONOUNS.sub(" ", _BRACKETS.sub(" ", name))
    letters = "".join(one if unicodedata.category(one)[0] in "LMN" else " " for one in plain)
    return tuple(fold(letters).split()), " ".join(filter(None, roles))


def _one_person(named: Iterable[tuple[tuple[str, ...], str]]) -> dict[str, bool]:
    """Tell of each name, without its spaces, whether all who have it may be one person.

    Two who have different roles beside it are not; a first name alone may be anybody's of that name.
    """
    beside: dict[str, set[str]] = defaultdict(set)
    full: dict[str, bool] = defaultdict(bool)
    firsts: dict[str, set[str]] = defaultdict(set)
    for words, role in named:
        name = "".join(words)
        beside[name].add(role)
        full[name] |= len(words) >= _FULL
        firsts[words[0]].add(name)
    return {
        name: len(roles - {""}) < _FULL and (full[name] or (roles == {""} and len(firsts[name]) <= 1))
        for name, roles in beside.items()
    }


def _fitting(words: tuple[str, ...], names: set[tuple[str, ...]]) -> Iterable[tuple[str, ...]]:
    """Return the full name that a name with an initial fits, in the ways it is written; none if two do."""
    if len(words) < _FULL or all(len(word) > 1 for word in words):
        return ()
    fits = [one for one in names if all(len(word) > 1 for word in one) and _fits(words, one)]
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


def _talk_together(speaker: SpokenName, other: SpokenName) -> bool:
    """Tell whether two names speak in one thread in the same time: one person mostly has one there."""
    there = {thread: (first, last) for thread, first, last in other.talks}
    return any(
        first < there[thread][1] and there[thread][0] < last
        for thread, first, last in speaker.talks
        if thread in there
    )
