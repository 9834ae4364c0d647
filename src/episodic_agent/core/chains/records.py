"""What chaining reads of an episode, how it opens, and the values it returns: small, without a store.

An opening goes on with something, announces something new, or is on somebody else's behalf. Forms are folded
as `core.text.words` leaves them: lower case, without accents; an apostrophe splits a word. Chinese has no
spaces: its phrases are looked up as substrings. The lists hold closed classes of words.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final
from uuid import UUID

from episodic_agent.core.episodes.languages import guess_language
from episodic_agent.core.language import fold, sentences, words
from episodic_agent.core.language.phrases import phrase_pattern, unspaced_pattern
from episodic_agent.core.links.choice import Talk, talk_of
from episodic_agent.core.links.features import Features, ThreadFeatures, cues, dependence, thread_of
from episodic_agent.core.links.reading import read_message
from episodic_agent.data import phrase_set, texts
from episodic_agent.schemas import Vector

_IDEOGRAPHS: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_EARLY: Final = 2  # short words that may stand before a deictic opener
_HAN_EARLY: Final = 6


@dataclass(frozen=True, slots=True)
class OpeningCues:
    """What the first words of a session do; each 0 or 1.

    `deictic` goes on ("back to", "still"), `new` announces another matter, `others` speaks for somebody else,
    `asks` is a request or a question of its own.
    """

    deictic: float = 0.0
    new: float = 0.0
    others: float = 0.0
    asks: float = 0.0


def opening(text: str) -> OpeningCues:
    """Read how a session's first message opens it, in any of the languages of the lists.

    >>> opening("Back to the leak: both dumps are in.").deictic, opening("Weiter mit der Küche").deictic
    (1.0, 1.0)
    >>> opening("Totally different: would a cat help?").new, opening("A customer wants oak doors").others
    (1.0, 1.0)
    """
    line = _line(text)
    first = _line(next(iter(sentences(text)), text))
    deictic = phrase_pattern("chains/opening.deictic").search(" ".join(["", *line.split()[: _EARLY + 4], ""]))
    is_knowns = {
        "deictic": deictic is not None and deictic.start() <= _reach(line),
        "new": phrase_pattern("chains/opening.new").search(line) is not None
        or _novel(first)
        or cues(text).new_subject,
        "others": phrase_pattern("chains/opening.others").search(line) is not None,
        "asks": dependence(text).fresh > 0.0
        or phrase_pattern("chains/opening.wishes").search(line) is not None,
    }
    if _IDEOGRAPHS.search(text):
        for name in texts("chains/opening.han"):
            read = text.strip()[:_HAN_EARLY] if name == "deictic" else text
            is_knowns[name] = (
                is_knowns[name] or unspaced_pattern(f"chains/opening.han.{name}").search(read) is not None
            )
    return OpeningCues(**{name: float(value) for name, value in is_knowns.items()})


def _novel(first: str) -> bool:
    """Say whether the first words name something as new: "new idea", but not "another attempt"."""
    match = phrase_pattern("chains/opening.novel").match(first)
    if match is None:
        return False
    following = first[match.end() :].split()[:1]
    return bool(following) and following[0] not in phrase_set("chains/opening.novel_but_old")


def _reach(line: str) -> int:
    """Return where the last short word ends after which a deictic opener still opens."""
    place = 0
    for word in line.split()[:_EARLY]:
        place += len(word) + 1
    return place


def _line(text: str) -> str:
    return f" {' '.join(words(text))} "


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
