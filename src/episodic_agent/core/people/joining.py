"""Which names are one person's, read from what was decided of them, and the name that stands for all."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Final

from episodic_agent.core.facts.speakers import OWNER, person_of
from episodic_agent.core.language import fold, words
from episodic_agent.schemas import Decision, Scope

SAME: Final = "same"
APART: Final = "apart"
USER: Final = "user"  # stands for whose memory it is: a decision is true of the memory under any name
_BESIDE: Final = re.compile(
    r"[(\[{（【][^)\]}）】]*[)\]}）】]|<?[^\s<>()]+@[^\s<>()]+>?"
)  # a role, an address


@dataclass(frozen=True, slots=True)
class People:
    """The names that are one person's, of all who go by several.

    `owner` is whose memory it is. `groups` are the names of each person who was joined, the shown one first;
    `parted` pairs of names that are two people's, folded.
    """

    owner: str = Scope().user_id
    groups: tuple[tuple[str, ...], ...] = ()
    parted: frozenset[frozenset[str]] = frozenset()
    _shown: dict[str, str] = field(default_factory=dict, compare=False, repr=False)

    def __bool__(self) -> bool:
        return bool(self.groups)

    def key(self, name: str) -> str:
        """Return what tells names apart: they are the same in any case, and the user's own are "user".

        >>> [People("ana").key(name) for name in ("Ana", "User", "Tom W")]
        ['user', 'user', 'tom w']
        """
        person = person_of(name.strip(), self.owner)
        return USER if person == OWNER else person

    def shown(self, name: str) -> str:
        """Return the name under which somebody is shown: their own unless it was joined with others.

        >>> people = People("ana", (("Tom Whitfield", "Tom W"),))
        >>> people.shown("tom w"), people.shown("Tom Berg")
        ('Tom Whitfield', 'Tom Berg')
        """
        if not self._shown:
            self._shown.update({self.key(one): group[0] for group in self.groups for one in group})
        return self._shown.get(self.key(name), name)

    def names(self, name: str) -> tuple[str, ...]:
        """Return the names of a person, the shown one first; of one who was not joined the given one."""
        key = self.key(name)
        return next((one for one in self.groups if key in map(self.key, one)), (name,))

    def translated(self, text: str, speakers: Iterable[str]) -> str:
        """Return a text with each joined name as it is shown, but inside the longer name of a speaker.

        >>> people = People("ana", (("Tom Whitfield", "Tom W", "tom"),))
        >>> people.translated("What did Tom W owe tom and Tom Berg?", ["Tom Berg"])
        'What did Tom Whitfield owe Tom Whitfield and Tom Berg?'
        """
        if not self.groups:
            return text
        joined = {one for group in self.groups for one in group if one != USER}
        names = sorted({*joined, *speakers}, key=lambda one: (-len(one), one))
        return re.sub("|".join(map(_pattern, names)), lambda match: self.shown(match[0]), text)


def _pattern(name: str) -> str:
    """Match a name as a whole; one word only as it stands or in capitals, and not before another name."""
    body = r"\s+".join(map(re.escape, name.split()))
    if " " in name.strip() or "@" in name:
        return rf"(?<!\w)(?i:{body})(?!\w)"
    forms = "|".join(dict.fromkeys(re.escape(one) for one in (name, name.capitalize(), name.upper())))
    return rf"(?<![\w@.])(?:{forms})(?![\w@]|\.\w|\s+[A-Z])"


def read_people(decisions: Iterable[Decision], owner: str) -> People:
    """Return who goes by several names, from what was decided of that, oldest first."""
    plain, groups = People(owner), list[tuple[str, ...]]()
    parted: set[frozenset[str]] = set()
    for decision in decisions:
        names = tuple(map(str, _listed(decision.detail.get("names"))))
        keys = {*map(plain.key, names)} if decision.verdict == SAME else {plain.key(names[0])}
        concerned = [one for one in groups if not keys.isdisjoint(map(plain.key, one))]
        groups = [one for one in groups if one not in concerned]
        every = {plain.key(one): one for group in (names, *concerned) for one in group}
        if decision.verdict == SAME:
            shown = decision.detail.get("shown")
            groups.append(_led(plain, every, None if shown is None else str(shown)))
            parted = {pair for pair in parted if not pair <= every.keys()}
        else:  # the first of them goes by itself
            parted |= {frozenset((one, other)) for one in keys for other in every.keys() - keys}
            left = {key: one for group in concerned for one in group if (key := plain.key(one)) not in keys}
            groups += [_led(plain, left, concerned[0][0])] if len(left) > 1 else []
    return People(owner, tuple(groups), frozenset(parted))


def _listed(value: object) -> Sequence[object]:
    return value if isinstance(value, list | tuple) else ()


def _led(plain: People, names: Mapping[str, str], shown: str | None) -> tuple[str, ...]:
    """Return the names of a person, the shown one first: the memory's own, the chosen or the fullest."""
    if USER in names:
        first = USER if plain.owner == Scope().user_id else plain.owner
        return (first, *(one for key, one in names.items() if key != USER))
    chosen = None if shown is None else names.get(plain.key(shown))
    first = chosen or fullest(names.values())
    return (first, *(one for one in names.values() if one != first))


def fullest(names: Iterable[str]) -> str:
    """Return the name that says most of who somebody is: of the most words that are no initials, no address.

    >>> fullest(["Tom W", "tom.whitfield@example.org", "Tom Whitfield", "Tom Whitfield (he/him)"])
    'Tom Whitfield'
    """

    def weight(name: str) -> tuple[bool, int, bool, int]:
        plain = " ".join(_BESIDE.sub(" ", name).split())
        full = [word for word in plain.split() if word[:1].isupper() and len(word.rstrip(".")) > 1]
        return bool(plain), len(full), plain == name, len(plain)

    return max(names, key=weight)


def nearest(name: str, names: Iterable[str]) -> list[str]:
    """Return names, those first that are likest one: that share words with it, then by their letters.

    >>> nearest("Tom Whitfeld", ["Ana", "Thomas", "Tom Whitfield"])
    ['Tom Whitfield', 'Thomas', 'Ana']
    """
    folded, own = fold(name), {*words(name)}

    def weight(other: str) -> tuple[int, float]:
        return -len(own & {*words(other)}), -SequenceMatcher(None, folded, fold(other)).ratio()

    return sorted(dict.fromkeys(names), key=weight)
