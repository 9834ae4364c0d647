"""What is done again and again: requests without what differs in them, and courses of actions.

A course is what an episode did (tool calls), or an agent's job (its steps). Where a robot changes rooms its
episodes are cut, though the job goes on: what it does in an episode that begins right behind another one,
with a step and without a pause, belongs to the same course. A request begins a new one.
"""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Final, NamedTuple
from uuid import UUID

from episodic_agent.core.boundary.conversation.speech import speech
from episodic_agent.core.episodes.selection import distinctiveness
from episodic_agent.core.language import tokens, words
from episodic_agent.core.skills.sequences import Action, Course, actions_of
from episodic_agent.core.threads.turns import Turn, pairs, turns
from episodic_agent.schemas import Kind, Observation
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


_GOES_ON: Final = timedelta(minutes=10)  # between two steps of one job


class _Before(NamedTuple):
    """What ended in a thread last: where, when, in which turn and course, and whether somebody opened it."""

    seq: int
    at: datetime
    turn: TurnRef
    opened: bool
    course: int


def courses_of(
    episodes: Sequence[tuple[UUID, Sequence[Observation]]],
) -> tuple[list[Course], list[Exchange]]:
    """Return the courses and the exchanges of episodes, each with its id and its observations in seq order.

    Episodes come in the order of time. Each gives one course at least, however few its actions.
    """
    courses: list[Course] = []
    exchanges: list[Exchange] = []
    ended: dict[UUID, _Before] = {}
    for identity, observations in episodes:
        cut = list(turns(observations))
        begins = {o.seq: TurnRef(o.thread_id, turn.first_seq) for turn in cut for o in turn.observations}
        before = _before(observations, ended)
        if before is not None and before.opened and not cut[0].opened:
            begins |= {one.seq: before.turn for one in cut[0].observations}
        actions = actions_of(observations, begins)
        exchanges.extend(exchanges_of(cut, identity, actions))
        groups = _jobs(cut, begins, actions)
        if before is not None and not cut[0].opened:
            course, first = courses[before.course], groups.pop(0)
            courses[before.course] = replace(course, actions=(*course.actions, *first))
            at = before.course if not groups else len(courses) + len(groups) - 1
        else:
            at = len(courses) + len(groups) - 1
        courses.extend(Course(identity, tuple(group)) for group in groups)
        if observations:
            last = observations[-1]
            turn = begins[last.seq]
            opened = cut[-1].opened or (before is not None and before.opened and len(cut) == 1)
            ended[last.thread_id] = _Before(last.seq, last.at, turn, opened, at)
    return courses, exchanges


def _before(observations: Sequence[Observation], ended: dict[UUID, _Before]) -> _Before | None:
    """Return what an episode that begins with a step goes on from, None where it begins anew."""
    if not observations or observations[0].kind is not Kind.STEP:
        return None
    first = observations[0]
    before = ended.get(first.thread_id)
    if before is None or before.seq + 1 != first.seq or first.at - before.at > _GOES_ON:
        return None
    return before


def _jobs(cut: Sequence[Turn], begins: dict[int, TurnRef], actions: Sequence[Action]) -> list[list[Action]]:
    """Return the actions of an episode in groups; a request that steps follow begins a new one."""
    fresh = {
        begins[turn.first_seq]
        for turn in cut
        if turn.opened
        and any(one.kind is Kind.STEP for one in turn.observations)
        and speech(turn.observations[0].text)[0].requests
    }
    groups: list[list[Action]] = [[]]
    turn: TurnRef | None = None
    for action in actions:
        if action.turn != turn and action.turn in fresh and groups[-1]:
            groups.append([])
        turn = action.turn
        groups[-1].append(action)
    return groups
