"""What a message and a thread look like to the evidence: words, mentions, topics, cues, vectors.

How mentions and topics are found is somebody else's business: they come as arguments, in any form that has
the few fields named here.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import reduce
from typing import Final, Protocol

import numpy as np

from episodic_agent.core.episodes.languages import guess_language
from episodic_agent.core.language import tokens, words
from episodic_agent.core.links.dependence import Dependence, dependence
from episodic_agent.core.links.lexicon import Cues, cues, most_meant, own_words
from episodic_agent.schemas import Vector

KEPT_VECTORS: Final = 6  # of a thread's last turns: what a follow-up follows stands near the end
KEPT_VALUES: Final = 64  # of each kind of mention, the last ones: bounds a thread that never ends


class Mentioned(Protocol):
    """Something named in a text: its kind (place, time, …), its value in normal form, and where it stands."""

    @property
    def kind(self) -> str: ...  # noqa: D102 - the class says it
    @property
    def value(self) -> str: ...  # noqa: D102
    @property
    def start(self) -> int: ...  # noqa: D102
    @property
    def end(self) -> int: ...  # noqa: D102


class SetOf(Protocol):
    """A reference to several things at once ("both cities").

    No kind where only the set is named, no count where it is not said.
    """

    @property
    def kind(self) -> str | None: ...  # noqa: D102
    @property
    def count(self) -> int | None: ...  # noqa: D102
    @property
    def start(self) -> int: ...  # noqa: D102
    @property
    def end(self) -> int: ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class Features:
    """One message: content stems, typed mentions, what it refers to, its topics, its cues, its vector.

    `words` holds stems without stop words, talk about talk and the words of mentions. `sets` names the kind
    of each set reference, None for any, and `most` how many things they mean at once: 1 without any, None
    for any number. `vector` has length 1, or is None where there is no embedder. `asks_days` tells that it
    asks what is due on days, and nothing else: it names no matter, and its answer may be of any.
    """

    words: frozenset[str] = frozenset()
    mentions: tuple[tuple[str, str], ...] = ()
    sets: tuple[str | None, ...] = ()
    most: int | None = 1
    topics: Mapping[str, float] = field(default_factory=dict)
    vector: Vector | None = field(default=None, compare=False)
    cues: Cues = field(default_factory=Cues)
    dependence: Dependence = field(default_factory=Dependence)
    length: int = 0
    language: str = ""
    asks_days: bool = False

    @property
    def elliptical(self) -> bool:
        """Say whether it means nothing by itself: no content words, but a sign that something went before."""
        return not self.words and not self.cues.nothing and (self.cues.continuation or self.cues.anaphora)


@dataclass(frozen=True, slots=True)
class ThreadFeatures:
    """A thread as the sum of its turns; `values` holds each kind's values, the latest last.

    `total` is the sum of the turns' vectors and `recent` the last few of them.
    """

    thread_id: str
    first_at: datetime
    last_at: datetime
    turns: int = 0
    words: Mapping[str, int] = field(default_factory=dict)
    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    topics: Mapping[str, float] = field(default_factory=dict)
    total: Vector | None = field(default=None, compare=False)
    recent: tuple[Vector, ...] = field(default=(), compare=False)


def features_of(
    text: str,
    *,
    mentions: Sequence[Mentioned] = (),
    set_references: Sequence[SetOf] = (),
    topics: Mapping[str, float] | None = None,
    vector: Vector | None = None,
    language: str | None = None,
) -> Features:
    """Return what the evidence reads of a message, given what was found in it.

    `language` (ISO 639-1) chooses stop words and stems; without it they follow the text.

    >>> sorted(features_of("Remember when we talked about stormy weather?").words)
    ['stormi', 'weather']
    >>> features_of("Oh, and what about that?").elliptical, features_of("Ok, thanks").elliptical
    (True, False)
    """
    plain = without(text, [*mentions, *set_references])
    spoken = words(text)
    chosen = language or guess_language(text) or None
    return Features(
        words=frozenset(tokens(own_words(plain), chosen)),
        mentions=tuple(dict.fromkeys((m.kind, m.value) for m in mentions)),
        sets=tuple(s.kind for s in set_references),
        most=most_meant(text, [s.count for s in set_references]),
        topics=dict(topics or {}),
        vector=vector,
        cues=cues(text),
        dependence=dependence(text),
        length=len(spoken),
        language=chosen or "",
    )


def thread_of(thread_id: str, turns: Iterable[tuple[datetime, Features]]) -> ThreadFeatures:
    """Return a thread's features from its turns, of which there is at least one, in the order they were said.

    >>> from datetime import UTC
    >>> at = datetime(2026, 1, 5, 10, tzinfo=UTC)
    >>> thread_of("a", [(at, features_of("rain and wind")), (at, features_of("more rain"))]).words["rain"]
    2
    """
    pairs = list(turns)
    first = pairs[0][0]
    return reduce(lambda thread, turn: grown(thread, *turn), pairs, ThreadFeatures(thread_id, first, first))


def grown(thread: ThreadFeatures, at: datetime, turn: Features) -> ThreadFeatures:
    """Return a thread with one more turn; a turn that arrives late does not move its last activity back."""
    values = {kind: list(held) for kind, held in thread.values.items()}
    for kind, value in turn.mentions:
        held = values.setdefault(kind, [])
        if value in held:
            held.remove(value)
        held.append(value)
    topics = Counter(thread.topics)
    for topic, weight in turn.topics.items():
        topics[topic] = max(topics[topic], weight)  # type: ignore[assignment]
    statement = () if turn.vector is None else (turn.vector,)
    return replace(
        thread,
        first_at=min(thread.first_at, at),
        last_at=max(thread.last_at, at),
        turns=thread.turns + 1,
        words=dict(Counter(thread.words) + Counter(turn.words)),
        values={kind: tuple(held[-KEPT_VALUES:]) for kind, held in values.items()},
        topics=dict(topics),
        total=_added(thread.total, turn.vector),
        recent=(*thread.recent, *statement)[-KEPT_VECTORS:],
    )


def _added(vector: Vector | None, other: Vector | None) -> Vector | None:
    if vector is None or other is None:
        return other if vector is None else vector
    return vector + other


def without(text: str, named: Sequence[Mentioned | SetOf]) -> str:
    """Blank mentions and set references out: their words are the entities' evidence, not the keywords'."""
    characters = list(text)
    for item in named:
        characters[item.start : item.end] = " " * (item.end - item.start)
    return "".join(characters)


def cosine(vector: Vector | None, other: Vector | None) -> float | None:
    """Return the cosine of two vectors of any length, None where one is missing or zero.

    >>> round(cosine(np.array([1.0, 0.0], np.float32), np.array([3.0, 4.0], np.float32)) or 0.0, 3)
    0.6
    """
    if vector is None or other is None:
        return None
    # in float64: sums of float32 differ with the order in which a processor adds
    own, theirs = np.asarray(vector, np.float64), np.asarray(other, np.float64)
    size = float(np.linalg.norm(own) * np.linalg.norm(theirs))
    return None if size == 0.0 else float(own @ theirs) / size
