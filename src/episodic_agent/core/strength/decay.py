"""How memories fade and how reviews strengthen them: FSRS-6 without learning steps or fuzz.

A memory has a *stability* (days until the chance of recalling it has fallen to 90 %) and a *difficulty*
(1 easy .. 10 hard). Retrievability is computed from stability and age whenever it is needed and is
never stored. The formulas and the parameters w0..w20 are those of FSRS-6.
"""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, overload

from episodic_agent.lazily import module
from episodic_agent.schemas.strength import Rating, Strength

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray
else:
    np = module("numpy")

WEIGHTS: Final[tuple[float, ...]] = (
    0.212, 1.2931, 2.3065, 8.2956,  # w0-w3: first stability after Again, Hard, Good, Easy
    6.4133, 0.8334, 3.0194, 0.001,  # w4-w7: difficulty
    1.8722, 0.1666, 0.796,  # w8-w10: growth after a recall
    1.4835, 0.0614, 0.2629, 1.6483,  # w11-w14: what is left after a lapse
    0.6014, 1.8729,  # w15 Hard penalty, w16 Easy bonus
    0.5425, 0.0912, 0.0658,  # w17-w19: same-day reviews
    0.1542,  # w20: how fast forgetting slows down
)  # fmt: skip
SMALLEST_STABILITY: Final = 0.001
EASIEST: Final = 1.0
HARDEST: Final = 10.0
PIECE: Final = 16_384  # memories computed at a time
SURPRISE_BOOST: Final = 0.5  # seed 001: stability * (1 + surprise * 0.5)
_BETWEEN_GRADES: Final = 9.0  # HARDEST - EASIEST, the range that difficulty changes are damped over


@overload
def retrievability(stability: float, elapsed_days: float) -> float: ...
@overload
def retrievability(stability: "ArrayLike", elapsed_days: "ArrayLike") -> "NDArray[np.float64]": ...
def retrievability(stability: "ArrayLike", elapsed_days: "ArrayLike") -> "float | NDArray[np.float64]":
    """Return the chance in (0, 1] that a memory is still recalled, for one memory or a whole result list.

    `R(t, S) = (1 + F t / S)^-w20` with F such that R(S, S) = 0.9 (FSRS-6). `elapsed_days` since
    last_reviewed_at may be fractional; before it (a late import, a clock set back) counts as 0. Arrays
    are broadcast and computed in float64.

    >>> round(retrievability(2.3065, 7), 4)
    0.8083
    >>> retrievability([2.3065, 3.4598], 30.0).round(4).tolist()
    [0.6675, 0.7067]
    """
    decay = WEIGHTS[20]
    factor = math.pow(0.9, -1.0 / decay) - 1.0
    if isinstance(stability, int | float) and isinstance(elapsed_days, int | float):
        # the scalar path spares numpy's overhead where a single memory is shown
        scaled = factor * max(float(elapsed_days), 0.0) / max(float(stability), SMALLEST_STABILITY)
        return math.pow(1.0 + scaled, -decay)
    days, stable = np.asarray(elapsed_days, dtype=np.float64), np.asarray(stability, dtype=np.float64)
    if days.shape == stable.shape and days.ndim == 1 and len(days) > PIECE:
        full = np.empty(len(days))
        for start in range(0, len(days), PIECE):  # what is between stays in the processor's cache
            part = slice(start, start + PIECE)
            full[part] = retrievability(stable[part], days[part])
        return full
    days, stable = np.maximum(days, 0.0), np.maximum(stable, SMALLEST_STABILITY)
    probability: NDArray[np.float64] = np.asarray(factor * days / stable)
    probability += 1.0
    # (1 + x)^-d as exp(-d log(1 + x)), in place: equal to the last bit or two, and ten times as fast
    np.log(probability, out=probability)
    probability *= -decay
    return np.exp(probability, out=probability)


def initial_strength(surprise: float = 0.0) -> Strength:
    """Return the strength of a new episode; surprise in [0, 1] (clamped, NaN is 0) makes it last longer.

    S0 and D0 are FSRS-6's for a first review rated Good; the boost is seed 001's (Surprise-Based FSRS Boost).

    >>> fresh = initial_strength(0.7)
    >>> round(fresh.stability, 4), round(fresh.difficulty, 4)
    (3.1138, 2.1181)
    """
    felt = 0.0 if math.isnan(surprise) else min(max(surprise, 0.0), 1.0)
    stability = WEIGHTS[2] * (1.0 + SURPRISE_BOOST * felt)
    return Strength(stability, _difficulty_in_range(_first_difficulty(Rating.GOOD)))


def blended(parts: Sequence[tuple[int, Strength, float]]) -> tuple[Strength, float]:
    """Return the strength and time of last review of a memory made of parts of others.

    Each part is (how many observations came from there, strength, time of last review in seconds). All three
    numbers are arithmetic means weighted by the observations; raises ValueError without any.

    >>> blended([(3, Strength(2.0, 4.0), 0.0), (1, Strength(6.0, 8.0), 40.0)])
    (Strength(stability=3.0, difficulty=5.0), 10.0)
    """
    total = sum(count for count, _, _ in parts)
    if total <= 0:
        raise ValueError("a memory is made of one observation at least")
    stability = math.fsum(count * strength.stability for count, strength, _ in parts) / total
    difficulty = math.fsum(count * strength.difficulty for count, strength, _ in parts) / total
    reviewed = math.fsum(count * at for count, _, at in parts) / total
    return Strength(max(stability, SMALLEST_STABILITY), _difficulty_in_range(difficulty)), reviewed


def next_state(
    stability: float,
    difficulty: float,
    whole_days: int,
    rating: int,
) -> Strength:
    """Return the strength after a review `whole_days` after the last one (FSRS-6; below 1: same-day branch).

    `rating` is 1 Again, 2 Hard, 3 Good or 4 Easy; anything else raises ValueError. A same-day Good or Easy
    never weakens a memory.

    >>> after = next_state(2.3065, 2.1181, 1, Rating.GOOD)
    >>> round(after.stability, 4), round(after.difficulty, 4)
    (7.3153, 2.1112)
    """
    grade = Rating(rating)
    stable = max(stability, SMALLEST_STABILITY)
    hard = _difficulty_in_range(difficulty)
    if whole_days < 1:
        new_stability = stable * _same_day_growth(stable, grade)
    else:
        probability = retrievability(stable, float(whole_days))
        if grade is Rating.AGAIN:
            new_stability = _after_lapse(stable, hard, probability)
        else:
            new_stability = stable * _growth(stable, hard, probability, grade)
    return Strength(max(new_stability, SMALLEST_STABILITY), _next_difficulty(hard, grade))


def _growth(stability: float, difficulty: float, probability: float, rating: Rating) -> float:
    """Return how many times longer a memory lasts after it was recalled at `probability`."""
    factor = {Rating.HARD: WEIGHTS[15], Rating.GOOD: 1.0, Rating.EASY: WEIGHTS[16]}[rating]
    ease = (11.0 - difficulty) * math.pow(stability, -WEIGHTS[9])
    # the nearer to forgotten, the more a recall teaches
    spacing = math.exp((1.0 - probability) * WEIGHTS[10]) - 1.0
    return 1.0 + math.exp(WEIGHTS[8]) * ease * spacing * factor


def _after_lapse(stability: float, difficulty: float, probability: float) -> float:
    """Return the stability left after a lapse, never more than a same-day lapse would leave."""
    remaining = math.pow(stability + 1.0, WEIGHTS[13]) - 1.0
    long_term = (
        WEIGHTS[11]
        * math.pow(difficulty, -WEIGHTS[12])
        * remaining
        * math.exp((1.0 - probability) * WEIGHTS[14])
    )
    return min(long_term, stability / math.exp(WEIGHTS[17] * WEIGHTS[18]))


def _same_day_growth(stability: float, rating: Rating) -> float:
    growth = math.exp(WEIGHTS[17] * (rating - 3 + WEIGHTS[18])) * math.pow(stability, -WEIGHTS[19])
    return max(growth, 1.0) if rating >= Rating.GOOD else growth


def _first_difficulty(rating: Rating) -> float:
    return WEIGHTS[4] - math.exp(WEIGHTS[5] * (rating - 1)) + 1.0


def _next_difficulty(difficulty: float, rating: Rating) -> float:
    change = -WEIGHTS[6] * (rating - 3)
    damped = difficulty + (HARDEST - difficulty) * change / _BETWEEN_GRADES
    # reverts to the *unclamped* first difficulty of Easy, which is negative with these weights
    reverted = WEIGHTS[7] * _first_difficulty(Rating.EASY) + (1.0 - WEIGHTS[7]) * damped
    return _difficulty_in_range(reverted)


def _difficulty_in_range(difficulty: float) -> float:
    return min(max(difficulty, EASIEST), HARDEST)
