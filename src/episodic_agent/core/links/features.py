"""What a message and a thread look like to the evidence: words, mentions, topics, cues, vectors.

How mentions and topics are found is somebody else's business: they come as arguments, in any form that has
the few fields named here (`reading.py` brings those that are shipped).

Cues are phrases that tie a message to something earlier, cut it off, or say nothing of their own. Forms are
folded as `core.text.words` leaves them: lower case, without accents; an apostrophe splits a word ("that's" is
"that s"). Chinese and Japanese have no spaces: their phrases are looked up as substrings. The lists are
closed classes on purpose: a missing phrase weakens the evidence, a content word would fake it.

How much a message needs something said before it is read from its closed-class words alone. A follow-up
points ("it", "the cheaper one", "the second"), goes on ("still", "again", "else") or reports what came
of advice ("did that, works now"); a fresh request introduces what it is about ("is there a …", "how do
I …"). English mostly; German, Spanish, French and Chinese by their commonest forms.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache, reduce
from typing import Final, Protocol

import numpy as np

from episodic_agent.core.episodes.languages import guess_language
from episodic_agent.core.language import tokens, words
from episodic_agent.core.language.phrases import compiled_phrases, phrase_pattern, unspaced_pattern
from episodic_agent.data import listed_words, phrase_set, texts
from episodic_agent.schemas import Vector

_IDEOGRAPHS: Final = re.compile("[\u3400-\u9fff]")
_FEW: Final = 5  # words; shorter messages seldom introduce a subject


@dataclass(frozen=True, slots=True)
class Dependence:
    """What stands in a message that points back, or that begins anew; each a share in [0, 1]."""

    pointing: float = 0.0
    choosing: float = 0.0
    going_on: float = 0.0
    fresh: float = 0.0
    report: float = 0.0
    definite: float = 0.0
    indefinite: float = 0.0
    personal: float = 0.0
    advice: float = 0.0
    fragment: float = 0.0
    asks: float = 0.0


def dependence(text: str) -> Dependence:
    """Read how much a message depends on an earlier one.

    >>> dependence("Is it cheaper than the other one?").pointing, dependence("How do I boil an egg?").fresh
    (1.0, 1.0)
    """
    spoken = words(text)
    line = f" {' '.join(spoken)} "
    values = {
        "pointing": _any("links/dependence.pointing", phrase_pattern("links/dependence.idle").sub(" ", line)),
        "choosing": _any("links/dependence.choosing", phrase_pattern("links/dependence.idle").sub(" ", line)),
        "going_on": _any("links/dependence.going_on", line),
        "fresh": _any("links/dependence.fresh", line),
        "report": _any("links/dependence.report", line),
        "definite": _any("links/dependence.definite", line),
        "indefinite": _any("links/dependence.indefinite", line),
        "personal": _any("links/dependence.personal", line),
        "advice": _any("links/dependence.advice", line),
    }
    if _IDEOGRAPHS.search(text):
        values |= {
            name: float(bool(re.search(source, text)))
            for name, source in texts("links/dependence.han").items()
        }
    else:
        values["fragment"] = max(0.0, 1.0 - max(len(spoken) - 1, 0) / _FEW)
    return Dependence(**values, asks=float(bool(re.search("[?？]", text))))


def _any(address: str, line: str) -> float:
    """Return 1 where any phrase of the list stands."""
    return float(bool(phrase_pattern(address).search(line)))


_UNSPACED: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_OPENS: Final = 4  # code points into a text without spaces that still count as its beginning
_HAN_FILLER: Final = re.compile("[的了吧啊呀哦嗯您你]")
_ENDS: Final = re.compile("呢[?？!！。]*$")


@dataclass(frozen=True, slots=True)
class Cues:
    """What a message's words do, whatever it is about.

    `recall` names an earlier conversation ("we talked about"); `dated` only a time ("last week"), which may
    be plain content. `continuation` opens as if something went before, `anaphora` points at it. `nothing` is
    thanks, a greeting or an "ok" without anything beside it.
    """

    recall: bool = False
    dated: bool = False
    new_subject: bool = False
    continuation: bool = False
    anaphora: bool = False
    nothing: bool = False


def cues(text: str) -> Cues:
    """Read the cues of a message, in any of the languages of the lists.

    >>> cues("Remember when we talked about New York?").recall, cues("Oh, and on Thursday?").continuation
    (True, True)
    >>> cues("还记得我们聊过的机票吗？").recall, cues("ok, thanks!").nothing
    (True, True)
    """
    line = f" {' '.join(words(text))} "
    asks = re.search("[?？؟]", text) is not None
    cues = Cues(
        recall=recalls(text, line),
        dated=phrase_pattern("links/lexicon.dated").search(line) is not None,
        new_subject=phrase_pattern("links/lexicon.new_subject").search(line) is not None,
        continuation=phrase_pattern("links/lexicon.continuation").match(line) is not None,
        anaphora=phrase_pattern("links/lexicon.anaphora").search(line) is not None,
        nothing=not asks and _says_nothing(line),
    )
    return _with_ideographs(text, cues, asks=asks) if _UNSPACED.search(text) else cues


def recalls(text: str, line: str | None = None) -> bool:
    """Say whether a message names an earlier conversation: `cues(text).recall`, without the other cues.

    Who holds its words already hands them in: `line` is the folded words with a space before, between and
    after.

    >>> recalls("Remember when we talked about New York?"), recalls("还记得我们聊过的机票吗？")
    (True, True)
    """
    line = f" {' '.join(words(text))} " if line is None else line
    if _recall().search(line):
        return True
    return bool(_UNSPACED.search(text)) and bool(_han("recall").search(_han("dated").sub("", text)))


def most_meant(text: str, counts: Sequence[int | None] = ()) -> int | None:
    """Return how many earlier things a message may speak of at once: 1 mostly, None for any number.

    `counts` are those of the set references found in it, None where one names no number. "The two weeks" are
    one stretch of time.

    >>> [most_meant(text) for text in ("Which of the two is nearer?", "the two weeks", "each of the dogs")]
    [2, 1, None]
    """
    numbers = [_COUNTS[number] for number in _SEVERAL.findall(text.lower())]
    known = [count for count in (*counts, *numbers) if count is not None]
    if known:
        return max(known)
    return None if counts or _OF_SEVERAL.search(text.lower()) else 1


def own_words(text: str) -> str:
    """Return a text's folded words without phrases of recall or a new subject and without talk about talk.

    >>> own_words("Remember when we talked about rain? Different question: boots")
    'about rain boots'
    """
    line = f" {' '.join(words(text))} "
    for pattern in (phrase_pattern("links/lexicon.recall"), phrase_pattern("links/lexicon.new_subject")):
        line = pattern.sub("", line)
    if _UNSPACED.search(line):
        for name in ("recall", "new"):
            line = _han(name).sub(" ", line)
    talk = listed_words("links/lexicon.talk")
    return " ".join(word for word in line.split() if word not in talk)


def _with_ideographs(text: str, cues: Cues, *, asks: bool) -> Cues:
    bare = text.strip()
    opening = _han("continuation").search(bare[:_OPENS]) is not None or _ENDS.search(bare) is not None
    statement = unspaced_pattern(*_EMPTY_HAN).sub("", text)
    return Cues(
        recall=cues.recall,
        dated=cues.dated or _han("dated").search(text) is not None,
        new_subject=cues.new_subject or _han("new").search(text) is not None,
        continuation=cues.continuation or opening,
        anaphora=cues.anaphora or _han("anaphora").search(text) is not None,
        nothing=cues.nothing or (not asks and not re.search(r"\w", _HAN_FILLER.sub("", statement))),
    )


def _says_nothing(line: str) -> bool:
    """Say whether nothing is left without acknowledgements, thanks, greetings, partings and filler."""
    if not line.strip():
        return True
    left = phrase_pattern("links/lexicon.so_much", *_EMPTY).sub("", line)
    return left != line and not (set(left.split()) - phrase_set("boundary/speech.filler"))


@cache
def _recall() -> re.Pattern[str]:
    """Compile the cues that can only mean an earlier conversation."""
    return compiled_phrases(phrase_set("links/lexicon.recall") - phrase_set("links/lexicon.dated"))


def _han(name: str) -> re.Pattern[str]:
    return unspaced_pattern(f"links/lexicon.han.{name}")


_COUNTS: Final = {"two": 2, "three": 3, "four": 4, "five": 5}
_SEVERAL: Final = re.compile(
    rf"\b(?:the|these|those|my|our|your)\s+({'|'.join(_COUNTS)})\b"
    r"(?!\s+(?:seconds|minutes|hours|days|nights|weeks|months|years|times|of us|of you)\b)"
)
_OF_SEVERAL: Final = re.compile(
    r"\b(?:which|each|any|all|some|none)\s+of\s+(?:the|these|those|my|our|them)\b"
)
_EMPTY: Final = tuple(f"boundary/speech.{name}" for name in ("ack", "thanks", "greeting", "closing"))
_EMPTY_HAN: Final = tuple(f"boundary/speech.han.{name}" for name in ("ack", "thanks", "closing"))


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
