"""Whose words an import brings: which of those who speak is the one whose memory it is.

Everybody is called differently in every export: "Jonas K." in one chat, an address in mail, a handle in the
next. Whoever is the user is theirs in all of them, so that a promise or a fact is not somebody else's; and
the import says whom it took for the user and whom it did not, so that a mistake is seen at once.
"""

import shlex
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final
from unicodedata import category

from episodic_agent.core.episodes.languages import USERS
from episodic_agent.core.episodes.roles import AGENTS, role_of
from episodic_agent.core.facts.speakers import is_owner
from episodic_agent.core.ingest import Item
from episodic_agent.core.language import fold, plural, words
from episodic_agent.showing import visible

WRITTEN_AS: Final = "speaker"  # among an observation's extras: the name that the user has in the export
_UNMET: Final = "nobody is called "
_LISTED: Final = 8  # names of others that a line lists
_PICTURES: Final = ("So", "Sk", "Cf", "Me", "Mn")  # categories of signs that decorate a name
_SHORTEST: Final = 3  # letters of a name's part that tells who may be the same


class ImportOwner:
    """Knows the user's words in an import, by `names` they have there, and counts who spoke."""

    def __init__(self, user: str, names: Iterable[str] = ()) -> None:
        self._user = user
        self._names = {plain_name(name): name for name in names}
        self._met: set[str] = set()
        self._own: Counter[str] = Counter()
        self._others: Counter[str] = Counter()

    def take(self, item: Item) -> Item:
        """Return an item as the user's own where its speaker has one of the names; count whose it is."""
        name = written_as(item) or item.actor
        meant = self._names.keys() & set(map(plain_name, (name, *item.also)))
        self._met |= meant
        if meant and name.casefold() not in AGENTS:
            item = as_user(item)
        if is_owner(item, self._user):
            self._own[name] += 1
        elif role_of(item).casefold() not in AGENTS:
            self._others[name] += 1
        return item

    def lines(self) -> list[str]:
        """Say whose words were taken for the user's, and whose were not; nothing where all went by roles."""
        lines = []
        named = [name for name in self._own if fold(name) not in USERS]
        user = visible(self._user)
        if named or self._others:
            count = plural(self._own.total(), "message") if self._own else "no message"
            of = f" by {_listed(self._own)}" if self._own else ""
            lines.append(f"{user}'s own words: {count}{of}")
        if self._others:
            alike = [name for name in self._others if self._may_be(name)]
            first = dict.fromkeys((*alike, *(name for name, _ in self._others.most_common())))
            others = Counter({name: self._others[name] for name in first})
            ask = f"if {' or '.join(map(repr, map(visible, alike[:3])))} is {user}, too" if alike else ""
            ask = ask or f"if {user} is among them"
            option = " ".join(f"--me {shlex.quote(visible(name))}" for name in alike[:3]) or "--me NAME"
            lines.append(f"others' words: {_listed(others)}; {ask}, pass {option}")
        unmet = [name for plain, name in self._names.items() if plain not in self._met]
        return [*lines, *unmet_lines(unmet)]

    def _may_be(self, name: str) -> bool:
        """Tell whether a name may be one of the user's: a part of it begins as a part of theirs does."""
        parts = [part for own in (self._user, *self._names) for part in words(fold(own))]
        return any(
            min(len(part), len(own)) >= _SHORTEST and (part.startswith(own) or own.startswith(part))
            for part in words(fold(name))
            for own in parts
        )


def as_user(item: Item) -> Item:
    """Return an item as the user's own, with the name that its export gives them."""
    if item.actor == "user":
        return item
    return replace(item, actor="user", extras={**item.extras, WRITTEN_AS: item.actor})


def written_as(item: Item) -> str:
    """Return what the user is called in the export that an item of theirs is from; "" if it does not say."""
    return str(item.extras.get(WRITTEN_AS, "")) if item.actor == "user" else ""


def unmet_lines(names: Sequence[str]) -> list[str]:
    """Say which of the user's names nobody has, in one line; nothing where each was met."""
    return [f"{_UNMET}{', '.join(repr(visible(name)) for name in names)} here, as --me says"] if names else []


def unmet_names(names: Iterable[str], notes: Sequence[str]) -> Sequence[str]:
    """Return which of these names an import says that nobody has."""
    line = next((note for note in notes if note.startswith(_UNMET)), "")
    return [name for name in names if repr(visible(name)) in line]


def plain_name(name: str) -> str:
    """Return a name as it is compared: without case, pictures and more than a space.

    >>> plain_name("Kat 🚲"), plain_name("Jonas  K."), plain_name("J.Koenig@mail.example")
    ('kat', 'jonas k.', 'j.koenig@mail.example')
    """
    return " ".join("".join(" " if category(sign) in _PICTURES else sign for sign in fold(name)).split())


def _listed(names: Counter[str]) -> str:
    """Write names, each with how many messages are theirs."""
    shown = [f"{visible(name)} ({count:,})" for name, count in list(names.items())[:_LISTED]]
    more = len(names) - _LISTED
    return ", ".join(shown) + (f" and {more:,} more" if more > 0 else "")
