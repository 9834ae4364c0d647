"""A transaction that reads each message, fact and episode of a joined name under the one that is shown."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any, Final, cast
from uuid import UUID

from episodic_agent.core.facts.speakers import OWNER, speaker_of
from episodic_agent.core.people.joining import USER, People, read_people
from episodic_agent.lazily import module
from episodic_agent.protocols import Store, Transaction
from episodic_agent.schemas import Episode, Json, Observation, Scope
from episodic_agent.schemas.decisions import PEOPLE, PERSON
from episodic_agent.schemas.facts import FactEvidence, StoredFact

if TYPE_CHECKING:
    from episodic_agent.core import recall as ranking
    from episodic_agent.core.episodes import languages
else:
    ranking = module("episodic_agent.core.recall")
    languages = module("episodic_agent.core.episodes.languages")

NOBODY: Final = People()
_WORDS: Final = ("micro", "macro")  # of metadata: what compaction told
MOST_NAMES: Final = 1 << 20  # of one user's memory


def people_of(tx: Transaction) -> People:
    """Return who goes by several names in a user's memory."""
    if isinstance(tx, NamedTransaction):
        return tx.people
    return read_people(tx.knowledge.decisions(subject=PEOPLE, type=PERSON), tx.scope.user_id)


def named(tx: Transaction) -> Transaction:
    """Return what reads of a transaction with one name for each person; itself where none were joined."""
    people = people_of(tx)
    return cast("Transaction", NamedTransaction(tx, people)) if people else tx


@contextmanager
def reading_named(store: Store, scope: Scope) -> Iterator[Transaction]:
    """Open a transaction that reads with one name for each person."""
    with store.begin(scope, write=False) as tx:
        yield named(tx)


def translated(tx: Transaction, text: str) -> str:
    """Return a text with each joined name as it is shown."""
    people = people_of(tx)
    return people.translated(text, tx.observations.actors()) if people else text


def analysed_by_name(
    people: People, text: str, speakers: Sequence[str], now: datetime, **more: Any
) -> "ranking.Query":
    """Read a query (`ranking.analyse`) that may call somebody by any of their names.

    "I" is whose memory it is, whatever name they write under.
    """
    if not people:
        return ranking.analyse(text, speakers, now, **more)
    query = ranking.analyse(people.translated(text, speakers), [*speakers, USER], now, **more)
    return replace(query, speakers=frozenset(map(people.shown, query.speakers)).intersection(speakers))


class NamedTransaction:
    """A transaction that reads joined names as one. It only reads."""

    def __init__(self, tx: Transaction, people: People) -> None:
        self._tx = tx
        self.people = people
        names = _Names(tx, people)
        self.observations = _NamedObservations(tx.observations, names)
        self.episodes = _NamedEpisodes(tx.episodes, names)
        self.index = _NamedIndex(tx.index, names)
        self.knowledge = _NamedKnowledge(tx.knowledge, names)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            return getattr(self._tx, name)


class _Names:
    """The names of people, as messages have them and as they are shown."""

    def __init__(self, tx: Transaction, people: People) -> None:
        self.people = people
        self.shown = cache(people.shown)
        self._tx = tx
        self._spoke: Mapping[str, int] | None = None

    @property
    def spoke(self) -> Mapping[str, int]:
        """Return who spoke, by the names in messages, most frequent first."""
        if self._spoke is None:
            self._spoke = self._tx.observations.actors(limit=MOST_NAMES)
        return self._spoke

    def stored(self, names: Iterable[str]) -> list[str]:
        """Return the names in messages of whoever is shown by some."""
        asked = {self.shown(name) for name in names}
        return sorted({*asked, *(one for one in self.spoke if self.shown(one) in asked)})

    def subject(self, subject: str) -> str:
        """Return the subject of facts of a person; whose memory it is has one name in facts."""
        shown = self.shown(subject)
        joined = shown in {group[0] for group in self.people.groups}
        return OWNER if joined and self.people.key(shown) == USER else shown

    def subjects(self, subject: str) -> list[str]:
        """Return the subjects that facts of a person may have."""
        every = self.people.names(USER if subject == OWNER else subject)
        return list(dict.fromkeys([subject, *map(speaker_of, every), *map(self.subject, every)]))


class _NamedReading:
    """What is read of one aggregate; what names nobody is its own."""

    def __init__(self, source: Any, names: _Names) -> None:
        self._source = source
        self._names = names

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            return getattr(self._source, name)


class _NamedObservations(_NamedReading):
    def read(self, thread: Any, *seqs: int) -> Any:
        observations = self._source.read(thread, *seqs)
        if isinstance(thread, UUID):
            return [*map(self._shown, observations)]
        return [[*map(self._shown, some)] for some in observations]

    def get(self, keys: Any) -> Any:
        return {key: self._shown(one) for key, one in self._source.get(keys).items()}

    def having(self, field: str, values: Sequence[str], **more: Any) -> Sequence[int]:
        every = self._names.stored(values) if field == "actor" else values
        refs: Sequence[int] = self._source.having(field, every, **more)
        return refs

    def actors(self, *, limit: int = 200) -> Mapping[str, int]:
        counts: dict[str, int] = {}
        for name, count in self._names.spoke.items():
            shown = self._names.shown(name)
            counts[shown] = counts.get(shown, 0) + count
        return dict(sorted(counts.items(), key=lambda one: (-one[1], one[0]))[:limit])

    def _shown(self, observation: Observation) -> Observation:
        shown = self._names.shown(observation.actor)
        return observation if shown == observation.actor else replace(observation, actor=shown)


class _NamedIndex(_NamedReading):
    def observation_marks(self, refs: Any) -> Any:
        marks = self._source.observation_marks(refs)
        return [one._replace(actor=self._names.shown(one.actor)) for one in marks]


class _NamedEpisodes(_NamedReading):
    def get(self, key: Any) -> Any:
        stored = self._source.get(key)
        if isinstance(stored, Mapping):
            return {name: self._shown(one) for name, one in stored.items()}
        return None if stored is None else self._shown(stored)

    def list(self, **asked: Any) -> Sequence[Episode]:
        return [self._shown(one) for one in self._source.list(**asked)]

    def _shown(self, episode: Episode) -> Episode:
        metadata = {name: self._detail(name, value) for name, value in episode.metadata.items()}
        return replace(episode, summary=self._led(episode.summary), metadata=metadata)

    def _led(self, text: str) -> str:
        return _leads(self._names.people).sub(lambda match: self._names.shown(match[0]), text)

    def _detail(self, name: str, value: Json) -> Json:
        if name in _WORDS and isinstance(value, str):
            return self._led(value)
        if name == "participants" and isinstance(value, list | tuple):
            return list(dict.fromkeys(self._names.shown(str(one)) for one in value))
        if name == "actors" and isinstance(value, Mapping):
            spoken = Counter[str]()
            for actor, count in value.items():
                spoken[self._names.shown(actor)] += count if isinstance(count, int) else 0
            return dict(spoken)
        return value


class _NamedKnowledge(_NamedReading):
    def facts(self, *, slots: Iterable[tuple[str, str]] | None = None, **asked: Any) -> Sequence[StoredFact]:
        if slots is not None:
            slots = [(one, what) for subject, what in slots for one in self._names.subjects(subject)]
        return [self._shown(one) for one in self._source.facts(slots=slots, **asked)]

    def _shown(self, stored: StoredFact) -> StoredFact:
        fact = stored.fact
        subject = self._names.subject(fact.subject)
        if subject == fact.subject:
            return stored
        begins: Callable[[str], str] = _beginning(fact.subject, subject)
        evidence = tuple(_with_words(one, begins) for one in fact.evidence)
        return replace(stored, fact=replace(fact, subject=subject, fact=begins(fact.fact), evidence=evidence))


def _beginning(before: str, after: str) -> Callable[[str], str]:
    """Return what changes the subject at the beginning of a sentence."""
    return lambda text: f"{after}{text[len(before) :]}" if text.startswith(before) else text


def _with_words(evidence: FactEvidence, change: Callable[[str], str]) -> FactEvidence:
    return replace(evidence, fact=change(evidence.fact))


@cache
def _leads(people: People) -> re.Pattern[str]:
    """Return what matches a joined name where a summary says who spoke."""
    forms = [form for book in languages.phrasebooks().values() for form in (book.says, book.asked)]
    behind = sorted({form.partition("{}")[2] for form in (*forms, "{}:")})
    names = {one for group in people.groups for one in group if one != USER}
    names = {*names, *(name[:1].upper() + name[1:] for name in names), *(name.capitalize() for name in names)}
    every = "|".join(re.escape(name) for name in sorted(names, key=lambda one: (-len(one), one)))
    return re.compile(rf"(?<!\w)(?:{every})(?={'|'.join(map(re.escape, behind))})")
