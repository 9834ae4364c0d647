"""Small array work both stores share: the best of many scores, and which row has which ref."""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
_Scalar = TypeVar("_Scalar", bound=np.generic)


def grown(array: NDArray[_Scalar], used: int, needed: int) -> NDArray[_Scalar]:
    """Return `array` with room for `needed` rows, half as much again when it must move.

    A view handed out earlier keeps the old array; rows below `used` are never written again.
    """
    if needed <= len(array):
        return array
    larger = np.empty((max(needed, len(array) * 3 // 2), *array.shape[1:]), dtype=array.dtype)
    larger[:used] = array[:used]
    return larger


def best(refs: Integers, scores: NDArray[np.float32], limit: int) -> tuple[Integers, NDArray[np.float32]]:
    """Return the `limit` highest scores with their refs, falling, ties by ref.

    >>> best(np.array([9, 5, 7]), np.array([1, 1, 2], dtype=np.float32), 2)[0].tolist()
    [7, 5]
    """
    if limit <= 0:
        return refs[:0], scores[:0]
    if len(scores) > limit:
        lowest = np.partition(scores, len(scores) - limit)[len(scores) - limit]
        chosen = np.flatnonzero(scores >= lowest)
        refs, scores = refs[chosen], scores[chosen]
    order = np.lexsort((refs, -scores))[:limit]
    return refs[order], scores[order]


class SortedRefs:
    """Which row has which ref: rows in the order of their refs, each ref once."""

    def __init__(self, refs: Integers) -> None:
        # Stable, so that the rows of one ref keep their order; nearly sorted refs are sorted in one pass.
        self.order = np.argsort(refs, kind="stable")
        self.straight = bool((self.order == np.arange(len(refs))).all())
        in_order = refs[self.order]
        is_first = np.ones(len(refs), dtype=np.bool_)
        is_first[1:] = in_order[1:] != in_order[:-1]
        self.starts = np.flatnonzero(is_first)
        self.refs: Integers = in_order[self.starts]

    @property
    def repeated(self) -> bool:
        """Tell whether some ref has several rows."""
        return len(self.refs) < len(self.order)

    def rows(self, place: int) -> list[int]:
        """Return the rows of the ref at a place among `refs`, in their order."""
        end = self.starts[place + 1] if place + 1 < len(self.starts) else len(self.order)
        return [int(row) for row in self.order[self.starts[place] : end]]

    def find(self, target: Integers) -> tuple[Integers, NDArray[np.bool_]]:
        """Return for each wanted ref its place among `refs`, and whether it is there at all."""
        if not len(self.refs):
            return np.zeros(len(target), dtype=np.int64), np.zeros(len(target), dtype=np.bool_)
        places = np.minimum(np.searchsorted(self.refs, target), len(self.refs) - 1)
        return places, self.refs[places] == target
