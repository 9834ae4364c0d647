"""The verbs about people: list them, and say which names are one person's or are not."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from episodic_agent.core.facts.stating import is_person
from episodic_agent.core.people.joining import APART, SAME, USER, People, nearest
from episodic_agent.core.people.proposing import SpokenName, proposals
from episodic_agent.core.threads.channels import channel_name
from episodic_agent.core.threads.turns import is_reply
from episodic_agent.engine.arguments import worded
from episodic_agent.engine.files.speakers import ADDRESS, written_as
from episodic_agent.engine.people.naming import MOST_NAMES, people_of
from episodic_agent.engine.scoped import RoomOf, Scoped
from episodic_agent.engine.trace.acts import acts
from episodic_agent.errors import InvalidInput, NotFound
from episodic_agent.protocols import Transaction
from episodic_agent.schemas import Decision, Observation, Scope
from episodic_agent.schemas.decisions import PEOPLE, PERSON
from episodic_agent.showing import clipped, described

_PAGE: Final = 2048
_NAMED: Final = 10  # people an error names
_LONGEST: Final = 80  # characters of a name in an error
_BY_HAND: Final = "by hand"
_NEXT: Final = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class ProposedName:
    """A name that may be the same person's, and why."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class PersonCard:
    """Somebody who spoke here.

    `name` is the one shown, `names` all they go by, that one first. `first_at` and `last_at` are event time;
    None for the memory's own user before they spoke. `proposed` are names of others that may be theirs.
    """

    name: str
    names: Sequence[str]
    channels: Sequence[str]
    messages: int
    first_at: datetime | None
    last_at: datetime | None
    is_user: bool = False
    proposed: Sequence[ProposedName] = ()

    def __repr__(self) -> str:
        others = f"also {', '.join(self.names[1:])}" if len(self.names) > 1 else ""
        perhaps = f"perhaps {', '.join(one.name for one in self.proposed)}" if self.proposed else ""
        return described(self, self.name, others, f"{self.messages} messages", perhaps)


@acts("people")
class PeopleRoom(RoomOf):
    """Who speaks in a user's memory, and which names are one person's."""

    def __init__(self, at: Scoped) -> None:
        self._at = at

    def list(self) -> Sequence[PersonCard]:
        """Return everybody who spoke, whom most is heard of first, with names that may be the same person's.

        Names are proposed where both write from one mail address, where they differ in accents, pronouns,
        emoji or a role in brackets alone, or where one is short for the only full name it fits ("Tom W").
        Reads every message. Nothing is joined by itself.
        """
        with self._at.read(as_stored=True) as tx:
            return _cards(tx, people_of(tx))

    def same(self, name: str, other: str, *, shown: str | None = None) -> PersonCard:
        """Say that two names are one person's, with all that either is joined with; return the person.

        Everything is then shown under one name: `shown` of them, without it the fullest; the memory's own
        user keeps the name of the memory. `speaker=` finds, and erases, what was said under any. Nothing
        stored changes: `apart` takes it back. Raises NotFound, which names the people there are, nearest
        first, for a name nobody spoke under, InvalidInput for one name twice.
        """
        return self._decided(SAME, [name, other], shown)

    def apart(self, name: str, other: str | None = None) -> PersonCard:
        """Say that a name is a person's of its own; with `other`, that the two are not one person's.

        Takes `same` back for that name; it is not proposed again. Returns the person of the first name.
        Raises NotFound for a name nobody spoke under, InvalidInput where nothing was joined with it.
        """
        return self._decided(APART, [name] if other is None else [name, other], None)

    def _decided(self, verdict: str, asked: Sequence[str], shown: str | None) -> PersonCard:
        with self._at.write() as tx:
            tx.hold("threads")
            people = people_of(tx)
            names = [_spoken(tx, people, one) for one in asked]
            leads = None if shown is None else _spoken(tx, people, shown)
            if _changes(people, verdict, names, leads):
                last = [one.at + _NEXT for one in tx.knowledge.decisions(subject=PEOPLE, type=PERSON)[-1:]]
                tx.knowledge.decide(
                    Decision(
                        id=self._at.fresh(),
                        type=PERSON,
                        at=max([self._at.deps.clock(), *last]),  # they are read in the order they were made
                        subject=PEOPLE,
                        features={},
                        score=1.0,
                        threshold=0.0,
                        verdict=verdict,
                        policy_version=_BY_HAND,
                        detail={"names": names, "shown": leads},
                    )
                )
        with self._at.read(as_stored=True) as tx:
            after = people_of(tx)
            cards = [one for one in _cards(tx, after) if after.key(names[0]) in map(after.key, one.names)]
        return cards[0] if cards else PersonCard(asked[0], [asked[0]], [], 0, None, None, is_user=True)


def _spoken(tx: Transaction, people: People, asked: str) -> str:
    """Return a name as messages have it, "user" for the memory's own user; NotFound where nobody has it."""
    name = worded("name", asked).strip()
    if not name:
        raise InvalidInput("a name is empty; name who speaks here")
    key = people.key(name)
    if key == USER:
        return USER
    spoke = tx.observations.actors(limit=MOST_NAMES)
    known = [one for one in (*spoke, *people.names(name)[1:]) if people.key(one) == key and is_person(one)]
    known += [one for group in people.groups for one in group if people.key(one) == key]
    if known:
        return name if name in known else known[0]
    shown = [people.shown(one) for one in spoke if is_person(one)]
    user = people.owner if people.owner != Scope().user_id else USER
    near = nearest(name, (user if people.key(one) == USER else one for one in shown))
    more = ", …" if len(near) > _NAMED else ""
    there = f"; people here: {', '.join(map(repr, near[:_NAMED]))}{more}" if near else ""
    raise NotFound(f"nobody called {clipped(name, _LONGEST)!r} spoke here{there}")


def _changes(people: People, verdict: str, names: Sequence[str], shown: str | None) -> bool:
    """Tell whether what is said of names says anything new; InvalidInput where it cannot be."""
    keys = [*map(people.key, names)]
    if len(names) > len({*keys}):
        raise InvalidInput(f"{names[0]!r} and {names[1]!r} are one name: give two")
    joined = {key: people.names(name) for key, name in zip(keys, names, strict=True)}
    every = {people.key(one) for group in joined.values() for one in group}
    if shown is not None and people.key(shown) not in every:
        raise InvalidInput(f"`shown` is one of the names that are joined, not {shown!r}")
    if shown is not None and USER in every and people.key(shown) != USER:
        raise InvalidInput(f"the memory's own user is shown as {people.owner!r}")
    together = len({*joined.values()}) == 1
    if verdict == APART:
        if len(names) == 1 and len(joined[keys[0]]) == 1:
            raise InvalidInput(f"{names[0]!r} goes by no other name here")
        return together or frozenset(keys) not in people.parted
    return not together or (shown is not None and people.key(people.shown(shown)) != people.key(shown))


@dataclass(slots=True)
class _Speaker:
    """What is known of a speaker while messages are read."""

    spelled: dict[str, int] = field(default_factory=dict)
    written: set[str] = field(default_factory=set)
    channels: dict[str, int] = field(default_factory=dict)
    addresses: set[str] = field(default_factory=set)
    talks: dict[object, tuple[datetime, datetime]] = field(default_factory=dict)

    def hear(self, message: Observation) -> None:
        self.spelled[message.actor] = self.spelled.get(message.actor, 0) + 1
        if name := written_as(message):
            self.written.add(name)
        if message.channel:
            channel = channel_name(message.channel)
            self.channels[channel] = self.channels.get(channel, 0) + 1
        address = message.extras.get(ADDRESS)
        if isinstance(address, str) and "@" in address:
            self.addresses.add(address.casefold())
        first, last = self.talks.get(message.thread_id, (message.at, message.at))
        self.talks[message.thread_id] = min(first, message.at), max(last, message.at)

    def names(self, key: str, people: People) -> list[str]:
        """Return the names they are known by, most frequent first; the user by the memory's own."""
        own = [] if people.owner == Scope().user_id else [people.owner]
        spelled = sorted(self.spelled, key=lambda one: (-self.spelled[one], one))
        return [*(own or [USER]), *sorted(self.written)] if key == USER else spelled

    def spoken(self, name: str) -> SpokenName:
        talks = [(thread, at.timestamp(), to.timestamp()) for thread, (at, to) in self.talks.items()]
        return SpokenName(name, frozenset(self.addresses), talks)


def _cards(tx: Transaction, people: People) -> list[PersonCard]:
    speakers: dict[str, _Speaker] = {}
    for message in _messages(tx):
        speakers.setdefault(people.key(message.actor), _Speaker()).hear(message)
    persons: dict[str, list[str]] = {}  # the keys of each, by the name shown
    for key, speaker in speakers.items():
        persons.setdefault(_shown(people, key, speaker), []).append(key)
    proposed = _proposed(people, speakers)
    cards = []
    for name, keys in persons.items():
        group, some = people.names(name), [speakers[key] for key in keys]
        spelled = [one for key in keys for one in speakers[key].names(key, people)]
        channels = {channel: 0 for one in some for channel in one.channels}
        times = [time for one in some for talk in one.talks.values() for time in talk]
        cards.append(
            PersonCard(
                name=name,
                names=list(dict.fromkeys([name, *(n for n in (*group, *spelled) if n != USER)])),
                channels=sorted(channels),
                messages=sum(sum(one.spelled.values()) for one in some),
                first_at=min(times, default=None),
                last_at=max(times, default=None),
                is_user=people.key(name) == USER,
                proposed=proposed.get(name, ()),
            )
        )
    return sorted(cards, key=lambda one: (-one.messages, one.name))


def _shown(people: People, key: str, speaker: _Speaker) -> str:
    return people.shown(speaker.names(key, people)[0])


def _proposed(people: People, speakers: dict[str, _Speaker]) -> dict[str, list[ProposedName]]:
    """Return the names that may be somebody's besides, by the name each person is shown by."""
    spoken = [
        (_shown(people, key, speaker), speaker.spoken(name))
        for key, speaker in speakers.items()
        for name in _asked(key, speaker, people)
    ]
    result: dict[str, dict[str, str]] = {}
    for first, second, reason in proposals(name for _, name in spoken):
        (left, name), (right, other) = spoken[first], spoken[second]
        pairs = (
            frozenset((people.key(a), people.key(b))) for a in people.names(left) for b in people.names(right)
        )
        if left != right and people.parted.isdisjoint(pairs):
            result.setdefault(left, {}).setdefault(other.name, reason)
            result.setdefault(right, {}).setdefault(name.name, reason)
    return {name: [ProposedName(*pair) for pair in names.items()] for name, names in result.items()}


def _asked(key: str, speaker: _Speaker, people: People) -> list[str]:
    """Return the names by which others may be somebody: of whose memory it is, all they are known by."""
    names = speaker.names(key, people)
    return [name for name in names if name != USER] if key == USER else names[:1]


def _messages(tx: Transaction) -> Iterator[Observation]:
    """Yield all that people said, thread by thread."""
    for thread in tx.threads.list():
        end = tx.threads.frame(thread.id).next_seq
        for start in range(0, end, _PAGE):
            for observation in tx.observations.read(thread.id, start, min(start + _PAGE, end) - 1):
                if is_person(observation.actor) and not is_reply(observation):
                    yield observation
