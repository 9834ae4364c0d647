"""The places a question names, and what of all that is told says where a thing was.

Known labels are looked for in the question's words, the longest first: folded, by their stems ("in der
Küche", "на кухне") or written together ("LivingRoom", "living room").

A sighting names a thing and tells a place: a step done with it somewhere, what somebody said of it, or what
answered a question for it. The question itself tells none, nor what looked for it and failed, unless that
saw it. Of sightings the newest is meant, however well older ones are worded.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from typing import Final, NamedTuple
from uuid import UUID

from episodic_agent.core.failing import outcome_of_step
from episodic_agent.core.ingest.words import FAILURE, step_parts
from episodic_agent.core.language import fold, script, tokens
from episodic_agent.core.language.terms import BIGRAM_SCRIPTS
from episodic_agent.core.recall.alone import QUESTION_MARKS
from episodic_agent.core.recall.order import asking_part
from episodic_agent.data import listed_words, texts
from episodic_agent.schemas import Kind, Observation

_MOST_WORDS: Final = 8
_MOST_NAMED: Final = 2  # words that name a thing: "reading glasses"
_WORD: Final = re.compile(r"[^\W_]+")
# Where a new word begins inside one: "livingRoom", "Room12".
_INNER: Final = re.compile(r"(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])")
_OWNER: Final = re.compile(r"\b([A-Z][\w-]*)['’]s\s+((?:[\w-]+\s+){0,2}[\w-]+)")


@dataclass(frozen=True, slots=True)
class Named:
    """The places a question names, by key, in order; `rest` is the question without those words.

    `words` are the ones that name them; `placed` says that each stands as a place does, after a preposition
    or an article, or first of all.
    """

    places: tuple[str, ...] = ()
    words: str = ""
    rest: str = ""
    placed: bool = False


class _PlaceWord(NamedTuple):
    start: int
    end: int
    folded: str


def read_places(text: str, labels: Mapping[str, str], language: str | None = None) -> Named:
    """Find known places, labels by key, in a question.

    >>> labels = {"livingroom": "LivingRoom", "kitchen": "Kitchen", "room": "room"}
    >>> read_places("What is in the living room now?", labels)
    Named(places=('livingroom',), words='living room', rest='What is in the             now?', placed=True)
    """
    forms, unspaced, longest = _forms(tuple(labels.values()), language)
    spans = list(_spans(text, forms, longest, language))
    for label in unspaced:
        spans += [(m.start(), m.end(), label) for m in re.finditer(re.escape(label), text)]
    result, rest = {}, text
    for start, end, label in sorted(spans, key=lambda span: (span[0] - span[1], span[0])):
        if rest[start:end] == text[start:end]:  # no part of a longer one
            result[label] = start
            rest = rest[:start] + " " * (end - start) + rest[end:]
    named = "".join(c if r == " " else " " for c, r in zip(text, rest, strict=True))
    keys = {label: key for key, label in labels.items()}
    places = tuple(keys[label] for label in sorted(result, key=lambda label: result[label]))
    placed = all(_is_placed(text[:start]) for start in result.values())
    return Named(places, " ".join(named.split()), rest, placed) if places else Named()


def _is_placed(before: str) -> bool:
    words = _WORD.findall(before)
    return (
        not words
        or script(words[-1]) in BIGRAM_SCRIPTS
        or fold(words[-1]) in listed_words("recall/places.prepositions")
    )


def _spans(
    text: str, forms: Mapping[str, str], longest: int, language: str | None
) -> Iterator[tuple[int, int, str]]:
    """Yield every run of words that is a label, with where it is."""
    asked = _words(text)
    stems = [_stem(word.folded, language) for word in asked]
    for first in range(len(asked)):
        for last in range(first, min(first + longest, len(asked))):
            together = "".join(word.folded for word in asked[first : last + 1])
            label = forms.get(together) or forms.get(" ".join(stems[first : last + 1]))
            if label is not None:
                yield asked[first].start, asked[last].end, label


@lru_cache(maxsize=64)
def _forms(labels: tuple[str, ...], language: str | None) -> tuple[dict[str, str], tuple[str, ...], int]:
    """Return labels by the ways they may be written, those written without spaces, and the most words.

    A label of figures or function words alone is no name: "3", "out".
    """
    forms: dict[str, str] = {}
    unspaced: list[str] = []
    longest = 1
    for label in sorted(labels, key=lambda label: (-len(label), label)):
        if script(label) in BIGRAM_SCRIPTS:
            unspaced.append(label)
            continue
        words = [word.folded for word in _words(label)]
        if not any(tokens(word, language) and len(word) > 1 and word.isalpha() for word in words):
            continue
        if len(words) <= _MOST_WORDS:
            longest = max(longest, len(words), len("".join(words)) // 8)
            forms.setdefault("".join(words), label)
            forms.setdefault(" ".join(_stem(word, language) for word in words), label)
    return forms, tuple(unspaced), min(longest, _MOST_WORDS)


def _words(text: str) -> list[_PlaceWord]:
    return [
        _PlaceWord(start, end, fold(text[start:end]))
        for match in _WORD.finditer(text)
        for start, end in _pieces(match.group(), match.start())
    ]


def _pieces(word: str, at: int) -> Iterator[tuple[int, int]]:
    """Yield the ends of the words inside one: at capitals after small letters, and at figures."""
    cuts = {n for n in range(1, len(word)) if word[n - 1].islower() and word[n].isupper()}
    cuts.update(match.start() for match in _INNER.finditer(word))
    for start, end in pairwise([0, *sorted(cuts), len(word)]):
        yield at + start, at + end


def _stem(word: str, language: str | None) -> str:
    return next(iter(tokens(word, language)), word)


# --- where a thing was --------------------------------------------------------------------------------------


class SoughtThing(NamedTuple):
    """A thing that is asked for: the terms that name it, and whose it is as the question says, or ""."""

    terms: frozenset[str]
    owner: str
    language: str | None

    def is_named(self, text: str) -> bool:
        """Tell whether a text names it, and not another's."""
        if self.terms.isdisjoint(tokens(text, self.language)):
            return False
        owners = {who for who, what in _OWNER.findall(text) if self.terms & {*tokens(what, self.language)}}
        return not self.owner or not owners or self.owner in owners


@lru_cache(maxsize=64)
def thing_asked(question: str, content: tuple[str, ...], language: str | None) -> SoughtThing | None:
    """Return the thing that a question for a place asks for, by the terms of its content; None for none.

    >>> thing = thing_asked("Where did I last see Lena's keys?", ("see", "lena", "key"), "en")
    >>> thing.terms, thing.owner, thing.is_named("Marek's keys lie here")
    (frozenset({'key'}), 'Lena', False)
    """
    if script(question) in BIGRAM_SCRIPTS:  # there pairs of characters name nothing for sure
        return None
    asked = asking_part(question)
    owners = {who: {*tokens(what, language)} for who, what in _OWNER.findall(asked)}
    owned = {term for who in owners for term in tokens(who, language)}
    there = {*tokens(asked, language)} - _aside(language) - owned
    named = [term for term in content if term in there]
    if not 1 <= len(named) <= _MOST_NAMED or _is_described(asked):
        return None
    owner = next((who for who, what in owners.items() if named[-1] in what), "")
    return SoughtThing(frozenset(named[-1:]), owner, language)


def _is_described(question: str) -> bool:
    """Tell whether more than its name says which thing is meant: "the shop in Mill Street that Ana likes"."""
    words = {fold(match.group()) for match in _WORD.finditer(question)}
    return not words.isdisjoint(_where_words() | listed_words("recall/order.describing"))


def sightings(
    thing: SoughtThing, observations: Sequence[Observation], beside: Mapping[tuple[UUID, int], Observation]
) -> list[bool]:
    """Tell of each observation whether it says where a thing was; `beside` are those before and behind.

    Of a question with an answer the answer does, or the question where the answer is none of these.
    """
    there = {(one.thread_id, one.seq) for one in observations}

    def is_sighting(item: Observation) -> bool:
        if item.kind is Kind.STEP:
            return _saw(thing, item)
        if _asks(item):
            behind = beside.get((item.thread_id, item.seq + 1))
            is_answered = behind is not None and _answers(behind) and thing.is_named(item.text)
            return is_answered and (item.thread_id, item.seq + 1) not in there
        if not tells_place(item.text):
            return False
        before = beside.get((item.thread_id, item.seq - 1))
        asked = before is not None and _asks(before) and thing.is_named(before.text)
        return asked or thing.is_named(item.text)

    return [is_sighting(item) for item in observations]


def _saw(thing: SoughtThing, step: Observation) -> bool:
    seen = any(map(thing.is_named, step_parts({"events": step.events})[1]))
    done = thing.is_named(step.text) and outcome_of_step(step) != FAILURE
    return seen or (done and (step.location is not None or tells_place(step.text)))


def _asks(item: Observation) -> bool:
    return any(mark in item.text for mark in QUESTION_MARKS)


def _answers(item: Observation) -> bool:
    return item.kind is not Kind.STEP and not _asks(item) and tells_place(item.text)


def tells_where(text: str) -> bool:
    """Tell whether a text may say where something is, or asks it, so that the answer stands behind it.

    >>> [tells_where(text) for text in ("It's on the table.", "My glasses?", "The car needs tyres.")]
    [True, True, False]
    """
    return any(mark in text for mark in QUESTION_MARKS) or tells_place(text)


def tells_place(text: str) -> bool:
    """Tell whether a text holds what stands before a place."""
    words = (fold(match.group()) for match in re.finditer(r"\w+", text))
    return "在" in text or not _where_words().isdisjoint(words)


@cache
def _where_words() -> frozenset[str]:
    listed = [listed_words(f"recall/order.where.{one}") for one in texts("recall/order.where")]
    return frozenset().union(*listed)


@lru_cache(maxsize=16)
def _aside(language: str | None) -> frozenset[str]:
    """Return the terms beside a thing in a question for its place: what was done to it, and "now"."""
    listed = (
        f"recall/order.{name}.{one}" for name in ("aside", "words") for one in texts(f"recall/order.{name}")
    )
    every = frozenset().union(*map(listed_words, listed))
    return every.union(*(tokens(word, language) for word in every))
