"""Whose words an import brings: which of those who speak is the user, and what names nobody.

Everybody is called differently in every export: "Jonas K." in one chat, an address in mail, a handle in the
next. Whoever is the user is theirs in all of them, so that a promise or a fact is not somebody else's; and
the import says whom it took for the user and whom it did not, so that a mistake is seen at once.

Messages in which no known key says who spoke are refused where one plainly says it, else said so. Nobody
named, they count as the user's own words, facts and all. A key whose name means a speaker in one of many
languages is never passed over; another one may still say who spoke, and is named where it looks so.
"""

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final
from unicodedata import category

from episodic_agent.core.episodes.languages import USERS
from episodic_agent.core.facts.speakers import is_owner
from episodic_agent.core.ingest import FIELDS, Item
from episodic_agent.core.language import fold, plural, words
from episodic_agent.core.threads.turns import AGENTS, Attributed, role_of
from episodic_agent.data import listed_words
from episodic_agent.errors import InvalidInput
from episodic_agent.showing import visible

_LONGEST: Final = 40  # characters of a name
_WORDS: Final = 4
_MOST: Final = 12  # speakers whose names a list repeats
_SHOWN: Final = 3  # of them a line names
_EVERY: Final = 0.8  # of the messages that have the key
_KNOWN: Final = frozenset(("role", *(key for field in FIELDS.values() for key in field)))
_CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
# A key that may name who speaks, though we do not know the key.
_SPEAKER: Final = re.compile(
    r"(?:^|_)(?:sender|author|creator|user|speaker|from|nick|participant|member|display)|[a-z](?:Name|User)$"
)


NOBODY: Final = "none"  # as a key of who spoke: all are the user's own words


class UnknownSpeakers(InvalidInput):
    """Messages whose speakers stand under a key that is not known."""


def names_a_speaker(key: str) -> bool:
    """Tell whether a key that is not known is called as one that says who spoke.

    >>> [names_a_speaker(key) for key in ("autor", "Absender", "senderName", "von", "отправитель", "mood")]
    [True, True, True, True, True, False]
    """
    if key in _KNOWN:
        return False
    words = [fold(part) for part in re.split(r"[\W_]+", _CAMEL.sub("_", key)) if part]
    called = fold(key) in listed_words("language/speakers.whole")
    called |= not listed_words("language/speakers.parts").isdisjoint(words)
    return called or bool(_SPEAKER.search(key))


@dataclass(slots=True)
class UnnamedMessages:
    """The messages of one file in which nobody is named, and the short values that their keys repeat."""

    count: int = 0
    values: dict[str, Counter[str]] = field(default_factory=dict)

    def take(self, message: object) -> None:
        """Count a message."""
        self.count += 1
        for key, value in message.items() if isinstance(message, Mapping) else ():
            if isinstance(value, str) and key not in _KNOWN and len(self.values.get(key, ())) <= _MOST:
                self.values.setdefault(key, Counter())[value.strip()] += 1

    def line(self, file: str, user: str, *, asks: bool = True) -> str:
        """Say in one line whose words they were taken for, and, if it `asks`, how to say otherwise.

        >>> from textwrap import fill
        >>> unnamed = UnnamedMessages()
        >>> for name in ("Tom", "Eva", "Tom"):
        ...     unnamed.take({"wessen": name, "text": "Hi"})
        >>> print(fill(unnamed.line("chat.json", "ana"), 100))
        chat.json: 3 messages name no speaker, taken for ana's own words; if 'wessen' (Tom, Eva) says who
        spoke, forget that thread and pass --speaker wessen
        """
        whose = f"{visible(file)}: {plural(self.count, 'message')} name no speaker, taken for "
        whose += f"{visible(user)}'s own words"
        if not asks:
            return whose
        key = next((key for key, values in self.values.items() if self._may_name(values)), None)
        if key is None:
            return f"{whose}; --speaker KEY says which key names one"
        names = ", ".join(visible(name) for name, _ in self.values[key].most_common(_SHOWN))
        remedy = f"forget that thread and pass --speaker {shlex.quote(visible(key))}"
        return f"{whose}; if {visible(key)!r} ({names}) says who spoke, {remedy}"

    def _may_name(self, values: Counter[str]) -> bool:
        """Tell names from other values: nearly every message has one, short, and some come again."""
        repeated = len(values) < values.total() or self.count == 1
        short = all(0 < len(value) <= _LONGEST and len(value.split()) <= _WORDS for value in values)
        return short and repeated and len(values) <= _MOST and values.total() >= _EVERY * self.count


def is_unnamed(message: object) -> bool:
    """Tell a message in which no known key says who spoke."""
    if not isinstance(message, Mapping):
        return True
    inner = message.get("message")
    fields = [message, inner] if isinstance(inner, Mapping) else [message]
    return not any(one.get(key) for one in fields for key in ("role", *FIELDS["speaker"]))


def check_speakers(path: object, holders: Iterable[frozenset[str]], speaking: frozenset[str]) -> None:
    """Refuse messages whose speakers stand under an unknown key: all would be the user's words.

    `holders` are the keys of each kind of object of a file, `speaking` those that say who speaks.
    """
    for keys in holders:
        named = sorted(filter(names_a_speaker, keys))
        if named and not keys & speaking and keys & {*FIELDS["text"]}:
            raise UnknownSpeakers(
                f"{path} holds messages of which nobody can be told as the speaker (their keys are "
                f"{', '.join(sorted(keys)[:8])}); if {named[0]!r} is it, pass --speaker {named[0]}; "
                f"if all are the user's own words, pass --speaker {NOBODY}"
            )


WRITTEN_AS: Final = "speaker"  # among an observation's extras: the name that the user has in the export
ADDRESS: Final = "address"  # the same: where a mail of somebody with a name came from
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


def written_as(item: Attributed) -> str:
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
