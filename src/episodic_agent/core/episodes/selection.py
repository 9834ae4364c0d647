"""Which sentences stand for an episode: near its centre, covering it, not repeating one another."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Final

from episodic_agent.core.episodes.clauses import Clause
from episodic_agent.core.episodes.languages import USERS, phrasebook
from episodic_agent.core.episodes.stop_words import light, weak
from episodic_agent.core.language import tokens
from episodic_agent.lazily import module
from episodic_agent.schemas import Vector

if TYPE_CHECKING:
    import numpy as np
else:
    np = module("numpy")

MOST_SENTENCES: Final = 6
MOST_CHARACTERS: Final = 600
_WHOLE_SENTENCES: Final = 8  # an episode of so few and short sentences is told whole
_WHOLE_CHARACTERS: Final = 400
_HEADING: Final = 0.3  # weight of a clause that only announces others
_LONGEST: Final = 240  # characters of one sentence; longer ones are cut at a comma or space
_CANDIDATES: Final = 32
_REDUNDANCY: Final = 0.8  # weight of likeness to what is chosen already (maximal marginal relevance)
_NEW_SPEAKER: Final = 0.2
_NEW_SECTION: Final = 0.10
_TOO_FEW: Final = 3  # terms; a sentence with fewer says little without its neighbours
_SAME: Final = 0.85  # likeness from which a sentence only repeats another
_REQUEST: Final = 1.3  # what a user asks first is what the episode is for
_LEAST: Final = 0.30  # share of the first choice's value below which nothing more is taken


@cache
def _light_terms() -> frozenset[str]:
    return frozenset(term for word in sorted(light()) for term in tokens(word))


@cache
def _weak_terms() -> frozenset[str]:
    return frozenset(term for word in sorted(weak()) for term in tokens(word))


def term_weights(clauses: Sequence[Clause]) -> dict[str, float]:
    """Return how much each term tells of the episode: messages that use it, damped; talk words little.

    Counting messages and not occurrences keeps one long reply from deciding what an episode is about.
    """
    terms: dict[int, set[str]] = {}
    for clause in clauses:
        terms.setdefault(clause.place, set()).update(clause.terms)
    messages = Counter(chain.from_iterable(terms.values()))
    return {term: (1.0 + math.log(count)) * distinctiveness(term) for term, count in messages.items()}


def distinctiveness(term: str) -> float:
    """Return the share of its weight a term keeps without a corpus to compare with, in (0, 1].

    >>> distinctiveness("lisbon"), distinctiveness("think")
    (1.0, 0.15)
    """
    if term in _light_terms():
        return 0.15
    if term in _weak_terms():
        return 0.4
    if term.isdecimal():
        return 0.5
    return 0.6 if len(term) == 1 else 1.0


def choose(
    clauses: Sequence[Clause],
    weights: Mapping[str, float],
    vectors: Sequence[Vector | None],
    actors: Sequence[str],
    language: str,
) -> list[Clause]:
    """Return the summary's sentences in the order they were said.

    `vectors` and `actors` belong to the observations that `Clause.place` counts.
    """
    if not clauses:
        return []
    short = _all_of_it(clauses)
    if short is not None:
        return short
    scores = scored(clauses, weights, vectors, actors, language)
    best = sorted(range(len(clauses)), key=lambda n: (-scores[n], n))[:_CANDIDATES]
    chosen = _greedy([clauses[n] for n in best], [scores[n] for n in best], weights, vectors, actors)
    return sorted(chosen, key=lambda clause: (clause.place, clause.order))


def scored(
    clauses: Sequence[Clause],
    weights: Mapping[str, float],
    vectors: Sequence[Vector | None],
    actors: Sequence[str],
    language: str,
) -> list[float]:
    """Return how well each clause stands for the episode; see `choose` for the arguments."""
    near = _near_centre(clauses, weights, vectors)
    values = [_worth(clause, weights) for clause in clauses]
    most = max(values) or 1.0
    openers = phrasebook(language).openers
    users = [actor.casefold() in USERS for actor in actors]
    request = next((clause.place for clause in clauses if users[clause.place]), -1)
    return [
        clause.weight
        * (0.55 * worth / most + 0.45 * near[clause.place])
        * _standing(clause, openers, users[clause.place])
        * (_REQUEST if clause.place == request else 1.0)
        for clause, worth in zip(clauses, values, strict=True)
    ]


def _all_of_it(clauses: Sequence[Clause]) -> list[Clause] | None:
    """Return every sentence (each once) of an episode so short that nothing need be left out."""
    fit = [clause for clause in clauses if clause.weight > _HEADING]
    distinct = list({clause.text: clause for clause in reversed(fit)}.values())[::-1]
    length = sum(len(clause.text) for clause in distinct)
    return (
        distinct if distinct and len(distinct) <= _WHOLE_SENTENCES and length <= _WHOLE_CHARACTERS else None
    )


def shortened(text: str) -> str:
    """Cut a sentence that is too long to quote, at the last comma or space that leaves enough.

    >>> shortened("short enough")
    'short enough'
    """
    if len(text) <= _LONGEST:
        return text
    cut = text[: _LONGEST - 1]
    for marks in (";；", ",，、", " "):
        place = max(cut.rfind(mark) for mark in marks)
        if place > _LONGEST // 2:
            return cut[:place].rstrip(" ,;:，、") + " …"
    return cut + "…"


def _worth(clause: Clause, weights: Mapping[str, float]) -> float:
    """Return the told weight of a sentence for its length: neither the longest nor the shortest wins."""
    return math.fsum(map(weights.__getitem__, clause.terms)) / math.pow(len(clause.terms) + 5.0, 0.75)


def _standing(clause: Clause, openers: frozenset[str], user: bool) -> float:
    """Return how well a sentence stands alone; one that points back needs what came before it."""
    first = clause.text[:24].split(" ", 1)[0].lower().rstrip(",.!:;…")
    factor = 0.7 if first in openers else 1.0
    if len(clause.terms) < _TOO_FEW:
        factor *= 0.65
    if clause.asks and not user:
        factor *= 0.8
    # what a message begins with is what it is about
    return factor * (1.1 if clause.order == 0 else 1.0 - min(clause.order, 8) * 0.02)


def _near_centre(
    clauses: Sequence[Clause], weights: Mapping[str, float], vectors: Sequence[Vector | None]
) -> dict[int, float]:
    """Return each message's closeness to the episode's centre, scaled to [0, 1]."""
    content: dict[int, set[str]] = {}
    for clause in clauses:
        content.setdefault(clause.place, set()).update(clause.terms)
    values = {place: math.fsum(weights[term] for term in terms) for place, terms in content.items()}
    usable = {p: v for p in content if p < len(vectors) and (v := vectors[p]) is not None and v.any()}
    if len(usable) == len(content) and len({v.shape for v in usable.values()}) == 1:
        rows = np.stack([usable[place] for place in content]).astype(np.float64)
        # a message that says more counts more, but a lecture does not drown the talk
        centre = np.sqrt([values[place] + 0.1 for place in content]) @ rows
        close = dict(zip(content, (rows @ centre).tolist(), strict=True))
    else:
        shared = Counter(term for terms in content.values() for term in terms)
        close = {
            place: math.fsum(weights[t] for t in terms if shared[t] > 1) / (values[place] + 1.0)
            for place, terms in content.items()
        }
    low, high = min(close.values()), max(close.values())
    spread = high - low
    return {
        place: round((value - low) / spread, 6) if spread > 1e-9 else 1.0 for place, value in close.items()
    }


def _greedy(
    candidates: Sequence[Clause],
    scores: Sequence[float],
    weights: Mapping[str, float],
    vectors: Sequence[Vector | None],
    actors: Sequence[str],
) -> list[Clause]:
    """Take the best sentence again and again, each time judged by what it adds (MMR)."""
    left = dict(enumerate(candidates))
    masses = [math.fsum(map(weights.__getitem__, clause.terms)) for clause in candidates]
    likeness = dict.fromkeys(left, 0.0)
    chosen: list[Clause] = []
    used, first = 0, 0.0
    last = max(clause.place for clause in candidates)
    speakers, parts = [actors[c.place] for c in candidates], [3 * c.place // (last + 1) for c in candidates]
    terms: set[str] = set()
    covered: set[int] = set()
    while left and len(chosen) < MOST_SENTENCES:
        values = {
            n: round(
                scores[n] * (1.0 - _REDUNDANCY * likeness[n])
                + (_NEW_SPEAKER if chosen and speakers[n] not in terms else 0.0)
                + (_NEW_SECTION if chosen and parts[n] not in covered else 0.0),
                9,
            )
            for n in left
        }
        n = max(values, key=lambda m: (values[m], -candidates[m].place, -candidates[m].order))
        clause = left.pop(n)
        first = first or values[n]
        length = min(len(clause.text), _LONGEST)
        if values[n] < _LEAST * first:
            break
        if chosen and used + length > MOST_CHARACTERS:
            continue
        chosen.append(clause)
        terms.add(speakers[n])
        covered.add(parts[n])
        used += length + 12  # the speaker's name and "said"
        for m, other in list(left.items()):
            smaller = min(masses[n], masses[m])
            shared = math.fsum(map(weights.__getitem__, clause.terms & other.terms))
            alike = max(shared / smaller if smaller else 0.0, _near(vectors, clause.place, other.place))
            likeness[m] = max(likeness[m], alike)
            if likeness[m] >= _SAME:
                del left[m]
    return chosen


def _near(vectors: Sequence[Vector | None], number: int, other: int) -> float:
    """Return the damped cosine of two messages, 0 inside one message and without vectors."""
    left, right = vectors[number], vectors[other]
    if number == other or left is None or right is None or left.shape != right.shape:
        return 0.0
    return 0.8 * float(left @ right)
