"""Near-duplicates give way to hits that say something else."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from episodic_agent.core.recall.bm25 import IntArray

NEAR_DUPLICATE: Final = 0.97
_FEW: Final = 0.02  # share of the characters in which two outputs of a tool may differ and say the same
_WORD: Final = re.compile(r"\w+|[^\w\s]")
_WINDOW: Final = 50  # deeper hits are seldom shown, and the comparison is quadratic


def diversify(
    order: IntArray,
    vectors: npt.NDArray[np.float32],
    threshold: float = NEAR_DUPLICATE,
    *,
    same: Callable[[int, int], bool] | None = None,
) -> tuple[IntArray, IntArray]:
    """Move hits nearly equal to a better one behind the other hits, keeping the order within both groups.

    `order` ranks rows of `vectors` (unit length; a zero row, not embedded, is never a duplicate). Only the
    first 50 are compared. `same` has the last word on two rows that look equal: an embedder that does not
    know a language lays different statements onto one vector ("my boss is called Chen", "my boss is the
    dean" in Chinese: .998). Returns the new order and, for each of its places, the row it repeats or -1.

    >>> vectors = np.array([[1, 0], [1, 0], [0, 1]], np.float32)
    >>> [part.tolist() for part in diversify(np.array([0, 1, 2]), vectors)]
    [[0, 2, 1], [-1, -1, 0]]
    """
    head = order[:_WINDOW]
    # Not `@`: one small product wakes the threads of a BLAS, which then spin for milliseconds.
    similar = np.einsum("id,jd->ij", vectors[head], vectors[head]) >= threshold
    limits: list[int] = []
    repeats: dict[int, int] = {}
    for place in range(len(head)):
        duplicates = [
            other
            for other in limits
            if similar[place, other] and (same is None or same(int(head[place]), int(head[other])))
        ]
        if duplicates:
            repeats[place] = int(head[duplicates[0]])
        else:
            limits.append(place)
    places = limits + list(repeats)
    tail = order[_WINDOW:]
    moved = np.concatenate([head[np.array(places, np.int64)], tail])
    marks = [repeats.get(place, -1) for place in places] + [-1] * len(tail)
    return moved, np.array(marks, np.int64)


def newest_outputs(outputs: Sequence[str]) -> list[int]:
    """Return for each output of a tool, oldest first, the place of the newest that says the same.

    Two say the same where all but a few characters of their words are the same: a test that is run again
    with another argument fails as it did. What is short is the same in every character.

    >>> red = "FAILED tests/test_cart.py::test_total - assert 19.99 == 20.00 " * 9
    >>> newest_outputs([f"pytest -k prices: {red}", "1 failed", f"pytest -k taxes: {red}", "2 failed"])
    [2, 1, 2, 3]
    """
    standing: list[int] = []
    words = [Counter(_WORD.findall(text)) for text in outputs]
    result = [0] * len(outputs)
    for place in reversed(range(len(outputs))):
        same = (other for other in standing if _same(outputs, words, place, other))
        result[place] = next(same, place)
        if result[place] == place:
            standing.append(place)
    return result


def _same(outputs: Sequence[str], words: Sequence[Counter[str]], first: int, second: int) -> bool:
    if outputs[first] == outputs[second]:
        return True
    sizes = len(outputs[first]), len(outputs[second])
    few = _FEW * max(sizes)
    if max(sizes) - min(sizes) > few:
        return False
    apart = (words[first] - words[second], words[second] - words[first])
    letters = max(sum(len(word) * count for word, count in side.items()) for side in apart)
    return 1 <= few >= letters
