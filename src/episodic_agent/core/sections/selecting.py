"""Which sentences of a conversation hold most of what it says, for the tokens they cost.

A summary is read to answer questions nobody has asked yet, so what counts is how much of what was said can
still be found in it. Each content word is a unit of that; names, numbers and times weigh more, talk words
little, and a word that is there already nothing. The best sentence for its cost is taken again and again; an
answer that says nothing alone brings its question along.
"""

import heapq
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from episodic_agent.core.context.tokens import estimate
from episodic_agent.core.episodes.clauses import Clause
from episodic_agent.core.episodes.languages import ASSISTANTS
from episodic_agent.core.episodes.roles import role_of
from episodic_agent.core.episodes.selection import distinctiveness, shortened
from episodic_agent.core.language import tokens
from episodic_agent.schemas import Observation

_NAME: Final = re.compile(r"(?<=[\w,;:’')] )[A-Z][\w’'-]+(?: [A-Z][\w’'-]+)*")
_NUMBER: Final = re.compile(r"\d[\d.,:/%-]*")
_TIME: Final = re.compile(
    r"(?i)\b(?:today|tonight|tomorrow|yesterday|week(?:end)?s?|months?|years?|days?|ago|next|last|since|until"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|june|july|august|september"
    r"|october|november|december|morning|evening|noon|midnight)\b"
)
_DECIDES: Final = re.compile(
    r"(?i)\b(?:decided|agreed|booked|ordered|bought|signed|chose|cancel+ed|promised|scheduled|confirmed|planned"
    r"|i(?:'|’)ll|i will|we(?:'|’)ll|we will|let(?:'|’)s|i(?:'|’)m going to|we(?:'|’)re going to|prefer"
    r"|allerg\w+|deadline)\b"
)
_NAMED: Final = 2.0  # how much more a name weighs than another word, and a number, and a decision's sentence
_NUMBERED: Final = 1.6
_DECIDED: Final = 1.15
_DATED: Final = 1.1
_REPLIED: Final = 0.85  # on top of what a clause's own weight says of assistants
_QUESTION: Final = 0.55  # a question says what was asked, its answer what is so
_POWER: Final = 0.9  # of the cost: neither the longest sentence nor the shortest wins
_FLAT: Final = 3.0  # tokens added to a sentence's cost: who said it
_LEAST: Final = 0.7  # that a sentence must add: less is an exclamation
_FEW_TERMS: Final = 3  # an answer of so few terms needs its question


@dataclass(frozen=True, slots=True)
class ClauseCandidate:
    """One clause, or an answer with its question: what may be taken at once.

    `clauses` are places in the list of clauses; `units` weighs its words; `cost` is in tokens.
    """

    clauses: tuple[int, ...]
    units: Mapping[str, float]
    factor: float
    cost: float


def candidates(
    clauses: Sequence[Clause], observations: Sequence[Observation], weights: Mapping[str, float]
) -> list[ClauseCandidate]:
    """Return what may be taken, in order; `weights` says how much each term tells (`term_weights`)."""
    made: list[ClauseCandidate] = []
    last_question: int | None = None
    for number, clause in enumerate(clauses):
        observation = observations[clause.place]
        made.append(_candidate((number,), clauses, observation, weights))
        needs = last_question is not None and len(clause.terms) <= _FEW_TERMS and not clause.asks
        if needs and last_question is not None:
            before = clauses[last_question]
            near = clause.place - before.place <= 2
            if near and observations[before.place].actor != observation.actor:
                made.append(_candidate((last_question, number), clauses, observation, weights))
        if clause.asks:
            last_question = number
    return made


def _candidate(
    members: tuple[int, ...],
    clauses: Sequence[Clause],
    observation: Observation,
    weights: Mapping[str, float],
) -> ClauseCandidate:
    units: dict[str, float] = {}
    for member in members:
        for term, weight in _units(clauses[member], weights).items():
            units[term] = max(units.get(term, 0.0), weight)
    clause = clauses[members[-1]]
    text = " ".join(shortened(clauses[member].text) for member in members)
    factor = clause.weight * (_QUESTION if clause.asks else 1.0)
    factor *= _REPLIED if role_of(observation).casefold() in ASSISTANTS else 1.0
    factor *= _DECIDED if decides(text) else 1.0
    factor *= _DATED if _TIME.search(text) else 1.0
    return ClauseCandidate(members, units, factor, estimate(text) + _FLAT * len(members))


def _units(clause: Clause, weights: Mapping[str, float]) -> dict[str, float]:
    """Return what each term of a clause weighs: names and numbers more than other words."""
    named = {term for name in _NAME.findall(clause.text) for term in tokens(name)}
    counted = {term for number in _NUMBER.findall(clause.text) for term in tokens(number)}
    values: dict[str, float] = {}
    for term in clause.terms:
        factor = _NUMBERED if term in counted else _NAMED if term in named else 1.0
        # a number's own distinctiveness is low because "2" is in every text; as an answer it is not
        value = max(weights.get(term, 0.0), 0.8) if term in counted else weights.get(term, 0.0)
        values[term] = value * factor
    return values


def decides(text: str) -> bool:
    """Tell whether a sentence settles something: a decision, a promise, a plan.

    >>> decides("We booked the 9:40 train"), decides("Nice weather")
    (True, False)
    """
    return _DECIDES.search(text) is not None


def plain_weights(terms: Iterable[str]) -> dict[str, float]:
    """Return how much each term tells, however often it was said: what was said once may be asked for too."""
    return {term: distinctiveness(term) for term in terms}


def select(
    offered: Sequence[ClauseCandidate],
    budget: float,
    covered: set[str],
    *,
    taken: Iterable[int] = (),
    most: int | None = None,
) -> list[int]:
    """Return the clauses to take within a budget of tokens, in the order taken; `covered` grows.

    Lazy greedy: what a candidate adds only falls as others are taken, so the best of the old values is
    looked at again before it wins. `taken` are clauses not to be taken again, `most` bounds their number.
    """
    used = set(taken)
    chosen: list[int] = []
    left = budget
    queue = [(-_value(candidate, covered), number) for number, candidate in enumerate(offered)]
    heapq.heapify(queue)
    while queue and (most is None or len(chosen) < most):
        _, number = heapq.heappop(queue)
        candidate = offered[number]
        fresh = [clause for clause in candidate.clauses if clause not in used]
        if candidate.clauses[-1] in used or candidate.cost > left:
            continue
        if most is not None and len(chosen) + len(fresh) > most:
            continue
        value = _value(candidate, covered)
        if value <= 0.0:
            continue
        if queue and -value > queue[0][0]:
            heapq.heappush(queue, (-value, number))
            continue
        chosen.extend(fresh)
        used.update(fresh)
        covered.update(candidate.units)
        left -= candidate.cost
    return chosen


def _value(candidate: ClauseCandidate, covered: set[str]) -> float:
    gain = math.fsum(weight for term, weight in candidate.units.items() if term not in covered)
    if gain < _LEAST:
        return 0.0
    return round(candidate.factor * gain / math.pow(candidate.cost, _POWER), 9)
