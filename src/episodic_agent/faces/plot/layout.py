"""Where the places of a map go: near in moves is near on paper, no two cover each other, no chance anywhere.

Stress majorization (SMACOF, de Leeuw 1977) over the number of moves between places, begun with classical
scaling; then boxes that overlap are pushed apart along the shorter way.
"""

import math
from collections.abc import Sequence
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

Points: TypeAlias = NDArray[np.float64]
ROUNDS: Final = 300
PUSHES: Final = 500


def layout(
    count: int, edges: Sequence[tuple[int, int]], sizes: Sequence[tuple[float, float]], apart: float
) -> Points:
    """Return the centres [count, 2] of boxes: connected ones about `apart` from each other, none overlapping.

    `sizes` are widths and heights in the unit of `apart`. The same graph gives the same places; its longest
    way lies across.

    >>> layout(2, [(0, 1)], [(10, 10), (10, 10)], 100.0).round().tolist()
    [[-50.0, 0.0], [50.0, 0.0]]
    """
    if count == 0:
        return np.zeros((0, 2))
    far = distances(count, edges)
    crowded = max(1.0, math.sqrt(len({frozenset(edge) for edge in edges}) / (1.2 * count)))
    placed = _upright(_majorized(_scaled(far), far), edges) * apart * crowded
    return separated(placed, np.asarray(sizes, float))


def distances(count: int, edges: Sequence[tuple[int, int]]) -> Points:
    """Return how many moves any two places are apart; parts that nothing connects lie beside each other.

    >>> distances(3, [(0, 1)]).tolist()
    [[0.0, 1.0, 2.0], [1.0, 0.0, 2.0], [2.0, 2.0, 0.0]]
    """
    far = np.full((count, count), np.inf)
    np.fill_diagonal(far, 0.0)
    for a, b in edges:
        if a != b:
            far[a, b] = far[b, a] = 1.0
    for via in range(count):
        far = np.minimum(far, far[:, via, None] + far[None, via, :])
    reached = far[np.isfinite(far)]
    far[~np.isfinite(far)] = float(reached.max(initial=0.0)) + 1.0
    return far


def _scaled(far: Points) -> Points:
    """Return classical scaling to two dimensions, its signs made certain."""
    count = len(far)
    centred = np.eye(count) - 1.0 / count
    values, vectors = np.linalg.eigh(-0.5 * centred @ far**2 @ centred)
    results = vectors[:, ::-1][:, :2] * np.sqrt(np.clip(values[::-1][:2], 0.0, None))
    results = np.pad(results, ((0, 0), (0, 2 - results.shape[1])))
    # a chain lies on a line: a little bow keeps the next rounds from being stuck there
    return _signed(results) + np.column_stack([np.zeros(count), 0.02 * np.cos(np.arange(count))])


def _majorized(points: Points, far: Points) -> Points:
    count = len(far)
    if count < 3:
        return points
    weights = np.where(far > 0, 1.0 / np.where(far > 0, far, 1.0) ** 2, 0.0)
    laplacian = np.diag(weights.sum(axis=1)) - weights
    inverse = np.linalg.pinv(laplacian)
    for _ in range(ROUNDS):
        gaps = np.linalg.norm(points[:, None] - points[None], axis=2)
        ratio = np.where(gaps > 1e-9, weights * far / np.where(gaps > 1e-9, gaps, 1.0), 0.0)
        points = inverse @ (np.diag(ratio.sum(axis=1)) - ratio) @ points
    return points


def _upright(points: Points, edges: Sequence[tuple[int, int]]) -> Points:
    """Turn points so that moves go across or up and down as far as they can, the longer way across."""
    points = points - points.mean(axis=0)
    ways = np.array([points[b] - points[a] for a, b in edges if a != b]).reshape(-1, 2)
    # four times the angle is the same for a way, its reverse and those square to it
    slant = np.angle(np.sum(np.exp(4j * np.arctan2(ways[:, 1], ways[:, 0])))) / 4 if len(ways) else 0.0
    turned = points @ np.array([[np.cos(slant), -np.sin(slant)], [np.sin(slant), np.cos(slant)]])
    if np.ptp(turned[:, 1]) > np.ptp(turned[:, 0]) + 1e-6:
        turned = turned[:, ::-1].copy()
    return np.round(_signed(turned), 6) + 0.0


def _signed(points: Points) -> Points:
    for axis in range(points.shape[1]):
        answer = points[np.abs(points[:, axis]) > 1e-6, axis]
        if len(answer) and answer[0] > 0:
            points[:, axis] *= -1
    return points


def separated(points: Points, sizes: Points) -> Points:
    """Push boxes apart until none overlaps; each pair moves along its shorter way, by halves.

    >>> separated(np.zeros((2, 2)), np.full((2, 2), 10.0)).tolist()
    [[-5.0, 0.0], [5.0, 0.0]]
    """
    points = points.copy()
    for _ in range(PUSHES):
        moved = False
        for a in range(len(points)):
            for b in range(a + 1, len(points)):
                gap = points[b] - points[a]
                over = (sizes[a] + sizes[b]) / 2 - np.abs(gap)
                if over.min() <= 1e-6:
                    continue
                axis = int(np.argmin(over))
                push = over[axis] / 2 * (1.0 if gap[axis] >= 0 else -1.0)
                points[a, axis] -= push
                points[b, axis] += push
                moved = True
        if not moved:
            break
    return points
