"""Which sentences stand for an episode: near its centre, covering it, not repeating one another."""

import heapq
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Final

from episodic_agent.core.episodes.clauses import Clause
from episodic_agent.core.episodes.languages import (
    UNSPACED,
    UNSPOKEN,
    USERS,
    light,
    negation,
    phrasebook,
    weak,
)
from episodic_agent.core.language import fold, script, tokens
from episodic_agent.lazily import module
from episodic_agent.schemas import Vector

if TYPE_CHECKING:
    import numpy as np
else:
    np = module("numpy")

ENOUGH_SENTENCES: Final = 3  # of a summary, however long they are
MOST_SENTENCES: Final = 6  # while all of them are as short as talk is
ENOUGH_CHARACTERS: Final = 360  # two or three sentences of prose: up to here more short ones are taken
MOST_CHARACTERS: Final = 600
_UNSPACED_SHARE: Final = 0.4  # characters that scripts without spaces need for as much
_HEADING: Final = 0.3  # weight of a clause that only announces others
_LONGEST: Final = 240  # characters of one sentence; longer ones are cut at a comma or space
_CANDIDATES: Final = 64
_LABEL: Final = 40  # characters that a sentence costs beside its own: who said it, and a reader's patience
_CENTRAL: Final = 0.3  # share of a sentence's value that its message's nearness to the centre decides
_SPREAD: Final = 0.3  # difference of closeness that counts fully
_SAME: Final = 0.85  # likeness from which a sentence only repeats another
_TOO_FEW: Final = 3  # terms; a sentence with fewer says little without its neighbours
_REQUEST: Final = 1.3  # what a user asks first is what the episode is for
_LEAST: Final = 0.1  # share of the first sentence's value below which nothing more is taken
_LAST: Final = 3  # messages at the end among which the last word of the matter is looked for
_SPOKEN: Final = 0.4  # weight of a sentence from which it can be the last word
_BRIEF: Final = 80  # characters of a first request that is told whatever its words
_NUMBER: Final = 1.3  # a last word that names a number
_ANSWER: Final = 32  # characters of a sentence that lives by the one beside it
_ANSWERS: Final = 2  # of them that are told besides
_EARLIER: Final = 0.8  # a last word for each message that comes after it


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
    opening: Clause | None = None,
) -> list[Clause]:
    """Return the summary's sentences in the order they were said.

    Two or three whole sentences, more while they are short: `opening`, the one that says what it is about
    (the best one when None), the last word of the matter, then whichever adds most of the episode's own
    words for its length; and what was answered to one of them in a few words. `vectors` and `actors` belong
    to the observations that `Clause.place` counts.
    """
    fit = [clause for clause in clauses if clause.weight > _HEADING] or list(clauses)
    spoken = [clause for clause in fit if actors[clause.place].casefold() not in UNSPOKEN] or fit
    distinct = list({clause.text: clause for clause in reversed(spoken)}.values())[::-1]
    if not distinct:
        return []
    near = _near_centre(clauses, weights, vectors)
    worth = {id(clause): _value(clause, clause.terms, weights, near) for clause in distinct}
    best = sorted(distinct, key=lambda c: (-worth[id(c)], c.place, c.order))
    chosen = [opening if opening in distinct else best[0]]
    request = next((c for c in distinct if actors[c.place].casefold() in USERS), None)
    if request is not None and len(request.text) <= _BRIEF:
        chosen.append(request)  # "Still 11?", "I GOT IN": few words, but what was answered
    last = _last_word(distinct, chosen[0], weights, near)
    if last is not None:
        chosen.append(last)
    chosen = _covering(list(dict.fromkeys(chosen)), best[:_CANDIDATES], weights, near)
    chosen += _beside(chosen, distinct, actors)
    return sorted(chosen, key=lambda c: (c.place, c.order))


def _beside(chosen: Sequence[Clause], clauses: Sequence[Clause], actors: Sequence[str]) -> list[Clause]:
    """Return the short sentences that a user said right after chosen ones, else right before: the answers.

    "They'd do 70k. I told them no." The second has no word of its own, and is what came of it; a single word
    ("whatever.") is none.
    """
    there = {(clause.place, clause.order): clause for clause in clauses}
    picked = {(clause.place, clause.order) for clause in chosen}
    used = sum(map(_length, chosen))
    result: list[Clause] = []
    for step in (1, -1):
        for clause in sorted(chosen, key=lambda c: (c.place, c.order)):
            near = there.get((clause.place, clause.order + step))
            if (
                near is None
                or (near.place, near.order) in picked
                or near.asks
                or not _is_answer(near.text)
                or actors[near.place].casefold() not in USERS
                or len(result) >= _ANSWERS
                or used + _length(near) > MOST_CHARACTERS
            ):
                continue
            result.append(near)
            picked.add((near.place, near.order))
            used += _length(near)
    return result


def _is_answer(text: str) -> bool:
    return len(text) <= _ANSWER and len(text.split()) > 1


def _covering(
    chosen: list[Clause],
    candidates: Sequence[Clause],
    weights: Mapping[str, float],
    near: Mapping[int, float],
) -> list[Clause]:
    """Add again and again the sentence that adds most of what is not told yet, for its length."""
    covered = frozenset[str]().union(*(clause.terms for clause in chosen))
    used = sum(map(_length, chosen))
    least = _LEAST * _value(chosen[0], chosen[0].terms, weights, near)
    share = _UNSPACED_SHARE if script(chosen[0].text) in UNSPACED else 1.0
    left = [clause for clause in candidates if clause not in chosen]
    # what is told already only makes a sentence worth less, so that a value of before is a bound of today's
    queue = [
        (-_value(clause, clause.terms - covered, weights, near), clause.place, clause.order, n)
        for n, clause in enumerate(left)
    ]
    heapq.heapify(queue)
    while queue and len(chosen) < MOST_SENTENCES:
        bound, place, order, n = queue[0]
        clause = left[n]
        value = _value(clause, clause.terms - covered, weights, near)
        if value < -bound:
            heapq.heapreplace(queue, (-value, place, order, n))
            continue
        if value < least:
            break
        heapq.heappop(queue)
        length = used + _length(clause)
        most = MOST_CHARACTERS if len(chosen) < ENOUGH_SENTENCES else ENOUGH_CHARACTERS
        if length > most * share or _repeats(clause, covered, weights):
            continue
        chosen.append(clause)
        used, covered = length, covered | clause.terms
    return chosen


def _last_word(
    clauses: Sequence[Clause], opening: Clause, weights: Mapping[str, float], near: Mapping[int, float]
) -> Clause | None:
    """Return the statement that the matter was left with: of the last messages the one that adds most."""
    places = sorted({clause.place for clause in clauses})[-_LAST:]
    ends = [
        clause
        for clause in clauses
        if clause.place in places
        and (clause.place, clause.order) > (opening.place, opening.order)
        and not clause.asks
        and clause.weight >= _SPOKEN
        and (len(clause.terms) >= _TOO_FEW or any(map(str.isdigit, clause.text)))
    ]

    def telling(clause: Clause) -> tuple[float, int, int]:
        numbered = any(map(str.isdigit, clause.text))
        # an amount alone is poor prose, but it is what was asked for
        share = _NUMBER / clause.weight if numbered else 1.0
        share *= math.pow(_EARLIER, len(places) - 1 - places.index(clause.place))
        value = _value(clause, clause.terms - opening.terms, weights, near)
        return round(value * share, 9), clause.place, -clause.order

    return max(ends, key=telling, default=None)


def _value(
    clause: Clause, terms: frozenset[str], weights: Mapping[str, float], near: Mapping[int, float]
) -> float:
    """Return what a sentence tells with some of its terms, for its length."""
    share = 1.0 - _CENTRAL + _CENTRAL * near[clause.place]
    weight = math.fsum(map(weights.__getitem__, terms)) / math.sqrt(_length(clause) + _LABEL)
    return round(weight * share * clause.weight, 9)


def _repeats(clause: Clause, covered: frozenset[str], weights: Mapping[str, float]) -> bool:
    mass = math.fsum(map(weights.__getitem__, clause.terms))
    return math.fsum(map(weights.__getitem__, clause.terms & covered)) >= _SAME * mass


def _length(clause: Clause) -> int:
    return min(len(clause.text), _LONGEST)


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


def telling_words(clause: Clause) -> int:
    """Count the words of a sentence that tell something; "not" is none of its terms and tells most of it."""
    return len(clause.terms) + (negation().search(fold(clause.text)) is not None)


def _standing(clause: Clause, openers: frozenset[str], user: bool) -> float:
    """Return how well a sentence stands alone; one that points back needs what came before it."""
    first = clause.text[:24].split(" ", 1)[0].lower().rstrip(",.!:;…")
    factor = 0.7 if first in openers else 1.0
    if telling_words(clause) < _TOO_FEW:
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
    embedded = [v for place in content if place < len(vectors) and (v := vectors[place]) is not None]
    alike = len(embedded) == len(content) and len({v.shape for v in embedded}) == 1
    rows = np.stack(embedded) if alike else None
    if rows is not None and bool(rows.any(axis=1).all()):
        rows = rows.astype(np.float64)
        # a message that says more counts more, but a lecture does not drown the talk
        centre = np.sqrt([values[place] + 0.1 for place in content]) @ rows
        length = float(np.linalg.norm(centre)) or 1.0
        close = dict(zip(content, (rows @ centre / length).tolist(), strict=True))
    else:
        shared = Counter(term for terms in content.values() for term in terms)
        close = {
            place: math.fsum(weights[t] for t in terms if shared[t] > 1) / (values[place] + 1.0)
            for place, terms in content.items()
        }
    low, high = min(close.values()), max(close.values())
    # in a short talk all are near: the least of small differences is no distance
    spread = max(high - low, _SPREAD)
    return {place: round(1.0 - (high - value) / spread, 6) for place, value in close.items()}
