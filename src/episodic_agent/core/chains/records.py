"""What chaining reads of an episode, and the values it returns: small, frozen, without a store."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final
from uuid import UUID

from episodic_agent.core.chains.opening import OpeningCues, opening
from episodic_agent.core.episodes.languages import guess_language
from episodic_agent.core.language import fold, words
from episodic_agent.core.links.choice import Talk, talk_of
from episodic_agent.core.links.features import Features, ThreadFeatures, thread_of
from episodic_agent.core.links.reading import read_message
from episodic_agent.schemas import Vector

LEAST_TERMS: Final = 2  # content words and names; with fewer a session has no subject that could go on
MOST_TURNS: Final = 8  # read of a session: it begins with its subject, and a long one has all subjects
LONGEST_TEXT: Final = 300  # characters read of a message
UNNAMED: Final = frozenset({"time", "number"})  # every session has some: they name nothing
ABANDONED: Final = "abandoned"
_SHARED, _OWN_SHARED = 3, 2  # topics that a word stands in at least, to be one that most share
_WORD: Final = re.compile(r"\w+")
_REFERENCE: Final = re.compile(r"\b[A-Z][A-Z0-9]{1,9}-[1-9]\d*\b|(?<!\w)#[1-9]\d+\b")


@dataclass(frozen=True, slots=True)
class SessionTurn:
    """One message of a session; `own` tells that the user wrote it, `vector` is its embedding of length 1."""

    at: datetime
    text: str
    own: bool = True
    vector: Vector | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class EpisodeView:
    """An episode as chaining sees it: a session or a part of a thread, closed or just begun.

    `terms` are content stems and names, `entities` the names alone; `opener` is the first message that says
    something. `language` is what its messages are written in ("": it cannot be told). `vector` is that of
    title and summary, or of the topic while the episode is open. `talk` is what was said in it, as one choice
    over all earlier sessions reads it. `projects` are those its thread declares. `references` are the keys of
    tickets ("HAR-98", "#214") that it names, `own_references` those of its topic and opener: its own.
    """

    id: UUID
    thread_id: UUID
    start_at: datetime
    end_at: datetime
    user_id: str = ""
    agent_id: str = ""
    parent: UUID | None = None
    closed: bool = True
    abandoned: bool = False
    terms: frozenset[str] = frozenset()
    entities: frozenset[str] = frozenset()
    opener: Features = field(default_factory=Features)
    opening: OpeningCues = field(default_factory=OpeningCues)
    language: str = ""
    features: ThreadFeatures | None = None
    vector: Vector | None = field(default=None, compare=False)
    talk: Talk | None = field(default=None, compare=False, repr=False)
    projects: frozenset[str] = frozenset()
    references: frozenset[str] = frozenset()
    own_references: frozenset[str] = frozenset()

    @property
    def trivial(self) -> bool:
        """Say whether it is about nothing that could be gone on with."""
        return len(self.terms) < LEAST_TERMS


@dataclass(frozen=True, slots=True)
class EpisodeStanding:
    """Whose episode it is and how it stands; what an `EpisodeView` takes over as it is.

    `end_at` is the last event time in it; `outcome` is that of its metadata.
    """

    id: UUID
    thread_id: UUID
    start_at: datetime
    end_at: datetime
    user_id: str = ""
    agent_id: str = ""
    parent: UUID | None = None
    closed: bool = True
    outcome: str = "unknown"
    projects: frozenset[str] = frozenset()


def view_of(
    standing: EpisodeStanding,
    turns: Sequence[SessionTurn],
    *,
    vector: Vector | None = None,
    language: str | None = None,
) -> EpisodeView:
    """Return what chaining reads of an episode from its messages, in order.

    While it opens, `turns` is its topic alone and `vector` that of the topic.

    >>> from datetime import UTC
    >>> from uuid import UUID
    >>> at = datetime(2026, 3, 4, 9, tzinfo=UTC)
    >>> one = EpisodeStanding(UUID(int=1), UUID(int=2), at, at)
    >>> view = view_of(one, [SessionTurn(at, "Hi!"), SessionTurn(at, "Back to the memory leak in Lisbon.")])
    >>> view.opening.deictic, sorted(view.terms), view.trivial
    (1.0, ['leak', 'memori', 'place:lisbon'], False)
    """
    read = [
        (turn, read_message(turn.text[:LONGEST_TEXT], turn.at, vector=turn.vector, language=language))
        for turn in turns[:MOST_TURNS]
    ]
    first = _opener(read)
    entities = frozenset(_names(features for _, features in read))
    terms = frozenset().union(entities, *(features.words for _, features in read))
    turns_read = [(turn.at, features) for turn, features in read]
    thread = thread_of(str(standing.id), turns_read) if read else None
    return EpisodeView(
        id=standing.id,
        thread_id=standing.thread_id,
        start_at=standing.start_at,
        end_at=standing.end_at,
        user_id=standing.user_id,
        agent_id=standing.agent_id,
        parent=standing.parent,
        closed=standing.closed,
        abandoned=standing.outcome == ABANDONED,
        terms=terms,
        entities=entities,
        opener=Features() if first is None else first[1],
        opening=OpeningCues() if first is None else opening(first[0].text),
        language=language or _written(turns[:MOST_TURNS]),
        features=thread,
        vector=vector,
        talk=talk_of(str(standing.id), turns_read, opening=None if first is None else first[1])
        if read
        else None,
        projects=standing.projects,
        references=references(turn.text for turn, _ in read),
        own_references=references(
            [*(turn.text for turn, _ in read[:1]), *([first[0].text] if first else [])]
        ),
    )


def shared_words(topics: Sequence[str], owner: str = "") -> frozenset[str]:
    """Return the words that stand in most topics, folded: they tell no session from another.

    Whose topics all begin with a customer's name means each time another matter. A word of the owner's name
    is such from two topics on. The key of a ticket is none, and where nothing else is left of a topic they
    are all of one matter.

    >>> sorted(shared_words(["Brandt: DNS", "Brandt: invoice", "Brandt: new shop", "Kim: invoice"]))
    ['brandt']
    >>> sorted(shared_words(["Smit Dental: backups", "Smit Dental: password"], "smit-dental"))
    ['dental', 'smit']
    >>> shared_words(["The leak", "The leak", "Back to the leak"])
    frozenset()
    """
    read = [{*words(_REFERENCE.sub(" ", topic))} for topic in topics]
    counts = Counter(word for held in read for word in held)
    own = {*words(owner)}
    shared = frozenset(
        word
        for word, count in counts.items()
        if 2 * count > len(topics) and count >= (_OWN_SHARED if word in own else _SHARED)
    )
    return frozenset() if any(held and held <= shared for held in read) else shared


def without(text: str, shared: frozenset[str]) -> str:
    """Return a text without some words, by `shared_words`.

    >>> without("Brandt: new DNS", frozenset({"brandt"}))
    ': new DNS'
    """
    return (
        _WORD.sub(lambda word: "" if fold(word[0]) in shared else word[0], text).strip() if shared else text
    )


def references(messages: Iterable[str]) -> frozenset[str]:
    """Return the keys of tickets that texts name.

    >>> sorted(references(["HAR-98: eta in UTC, see #214", "a well-known UTF-8 file, 24-bit"]))
    ['#214', 'HAR-98', 'UTF-8']
    """
    return frozenset(key for text in messages for key in _REFERENCE.findall(text[:LONGEST_TEXT]))


def _written(turns: Sequence[SessionTurn]) -> str:
    text = "\n".join(turn.text[:LONGEST_TEXT] for turn in turns)
    return guess_language(text)


def _opener(read: Sequence[tuple[SessionTurn, Features]]) -> tuple[SessionTurn, Features] | None:
    """Return the user's first message that is more than a greeting; without one the first there is."""
    own = [one for one in read if one[0].own]
    telling = [one for one in own if not one[1].cues.nothing]
    return next(iter([*telling, *own, *read]), None)


def _names(read: Iterable[Features]) -> Iterable[str]:
    for features in read:
        yield from (f"{kind}:{value}" for kind, value in features.mentions if kind not in UNNAMED)


@dataclass(frozen=True, slots=True)
class ChainEvidence:
    """A candidate parent with the numbers that speak for it, and a policy's score of them."""

    episode_id: UUID
    features: Mapping[str, float]
    score: float
