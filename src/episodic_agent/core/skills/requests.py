"""Requests that come again and again: what is asked, without the names, numbers and times that differ."""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Final
from uuid import UUID

from episodic_agent.core.episodes.selection import distinctiveness
from episodic_agent.core.language import tokens, words
from episodic_agent.core.skills.sequences import Action
from episodic_agent.core.threads.turns import Turn, pairs
from episodic_agent.schemas.skills import Skill, TurnRef

_LIKE: Final = 0.6  # Jaccard of two requests' words from which they are the same request
_ROUNDING: Final = 1e-9
_MOST: Final = 5_000  # requests looked at: the newest
_LONGEST: Final = 400  # characters of a request that is one; a pasted page is not
_CORE: Final = 0.6  # share of the requests a word is in to be said of all
_NAME: Final = re.compile(r"(?<=[\w,;:’')] )[A-Z][\w’'-]*|\b[A-Z]{2,}\b")
_VARIES: Final = re.compile(
    r"(?i)\d[\w.,:/%-]*|\b(?:today|tonight|tomorrow|yesterday|week(?:end)?s?|months?|years?|days?|hours?|minutes?"
    r"|next|last|now|morning|afternoon|evening|night|(?:mon|tues|wednes|thurs|fri|satur|sun)day"
    r"|january|february|march|april|may|june|july|august|september|october|november|december)\b"
)
_CHOOSES: Final = re.compile(
    r"(?i)\b(?:should i|which|rather|better|either|choose|decide|worth)\b|\bor\b.*\?"
)
_OBJECTS: Final = re.compile(
    r"(?i)^\W*(?:no\b(?! (?:problem|worries|need|thanks))|nope|wrong|that(?:'|’)?s (?:not|wrong)|not what i"
    r"|you misunderstood|i (?:said|meant|asked)|try again|nein|falsch|non\b|incorrect)"
)


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request with its answer, the tools used for it, and whether the user objected to what came of it."""

    request: str
    answer: str
    turn: TurnRef
    episode_id: UUID
    at: datetime
    tools: tuple[str, ...] = ()
    failed: bool = False
    objected: bool = False


@dataclass(frozen=True, slots=True)
class Recurring:
    """Exchanges of the same request, in order of time; `core` are the words most of them share, as said."""

    core: tuple[str, ...]
    exchanges: tuple[Exchange, ...]


def exchanges_of(turns: Sequence[Turn], episode_id: UUID, actions: Sequence[Action]) -> list[Exchange]:
    """Return the exchanges of an episode's turns, with the tools that were used in each."""
    by_turn: dict[int, list[Action]] = {}
    for action in actions:
        by_turn.setdefault(action.turn.seq, []).append(action)
    answers = {pair.first_seq: pair.answer for pair in pairs(turns)}
    made: list[Exchange] = []
    for turn, after in zip(turns, [*turns[1:], None], strict=False):
        first = turn.observations[0]
        if not turn.opened or not first.text.strip():
            continue
        used = by_turn.get(turn.first_seq, [])
        objected = after is not None and _OBJECTS.search(after.observations[0].text) is not None
        made.append(
            Exchange(
                first.text,
                answers.get(turn.first_seq, ""),
                TurnRef(first.thread_id, turn.first_seq),
                episode_id,
                first.at,
                tuple(dict.fromkeys(action.name for action in used if not action.step)),
                any(action.failed for action in used),
                objected,
            )
        )
    return made


@lru_cache(maxsize=16_384)
def constant_terms(request: str) -> frozenset[str]:
    """Return the terms of a request that would be the same another time: no names, numbers or times.

    >>> sorted(constant_terms("What's the weather in Boston on Thursday?"))
    ['weather']
    """
    if len(request) > _LONGEST:
        return frozenset()
    plain = _VARIES.sub(" ", _NAME.sub(" ", request))
    return frozenset(term for term in tokens(plain) if distinctiveness(term) > _GENERIC)


_GENERIC: Final = 0.15  # what talk words weigh


def recurring(exchanges: Sequence[Exchange], least: int = 3) -> list[Recurring]:
    """Return the requests made at least `least` times, most frequent first.

    Each request joins the group it is most like, the older one of two; a group is known by its first
    request, so that it cannot drift. Each turn counts once, however many episodes it is part of.
    """
    once = {exchange.turn: exchange for exchange in exchanges}
    ordered = sorted(once.values(), key=lambda e: (e.at, e.turn))[-_MOST:]
    groups: list[tuple[frozenset[str], list[Exchange]]] = []
    with_term: dict[str, list[int]] = {}
    for exchange in ordered:
        terms = constant_terms(exchange.request)
        likeness = {n: _likeness(terms, groups[n][0]) for n in _near(terms, with_term)}
        best = max(likeness, key=lambda n: (likeness[n], -n), default=-1)
        if best >= 0 and likeness[best] >= _LIKE:
            groups[best][1].append(exchange)
        elif terms:
            for term in terms:
                with_term.setdefault(term, []).append(len(groups))
            groups.append((terms, [exchange]))
    recurrings = [Recurring(_core(members), tuple(members)) for _, members in groups if len(members) >= least]
    return sorted(recurrings, key=lambda group: (-len(group.exchanges), group.core))


def _likeness(terms: frozenset[str], other: frozenset[str]) -> float:
    shared = len(terms & other)
    return shared / (len(terms) + len(other) - shared)


def _near(terms: frozenset[str], with_term: Mapping[str, Sequence[int]]) -> set[int]:
    """Return the groups that may be like a request of these terms.

    Who shares enough of them misses so few that, of one more than that, it has at least one: the groups of
    its rarest terms are all there is to compare, and of common words thousands have some.
    """
    missed = len(terms) - math.ceil(_LIKE * len(terms) - _ROUNDING)
    rarest = sorted(terms, key=lambda term: len(with_term.get(term, ())))[: missed + 1]
    return set().union(*(with_term.get(term, ()) for term in rarest))


def _core(members: Sequence[Exchange]) -> tuple[str, ...]:
    """Return the words most of the requests share, in the order of the first that has them."""
    counts = Counter(term for member in members for term in constant_terms(member.request))
    core = {term for term, count in counts.items() if count >= _CORE * len(members)}
    texts: dict[str, str] = {}
    for member in members:
        for word in words(member.request):
            for term in core.intersection(tokens(word)):
                texts.setdefault(term, word)
    return tuple(dict.fromkeys(texts.values()))


def fit(skill: Skill, message: str) -> float:
    """Return the share of what a skill's requests have in common that a message has too, in [0, 1].

    Without requests its name is looked at. Names, numbers and times do not count: they differ every time.

    >>> from episodic_agent.schemas.skills import SkillKind
    >>> weather = Skill("look", "", SkillKind.PROCEDURAL, ("look",), examples=("Is it sunny in Rome?",))
    >>> fit(weather, "Will it be sunny in Oslo?"), fit(weather, "I go to Rome")
    (1.0, 0.0)
    """
    requests = [constant_terms(text) for text in skill.examples or (skill.name,)]
    common = frozenset.intersection(*requests)
    return len(common & constant_terms(message)) / len(common) if common else 0.0


def chooses(request: str) -> bool:
    """Tell whether a request asks for a decision.

    >>> chooses("Which of the two trains is better?"), chooses("Book the train")
    (True, False)
    """
    return _CHOOSES.search(request) is not None
