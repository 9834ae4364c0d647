"""Small networks on the rows, and the clock on top of them."""

import math
from collections.abc import Sequence

import numpy as np
from sklearn.linear_model import LogisticRegression

from boundary.rows import Table, f32
from episodic_agent.core.boundary.conversation.cues.gap import LEXICAL
from episodic_agent.core.boundary.conversation.cues.timing import hats, log_minutes
from episodic_agent.core.boundary.conversation.model import Network, Silence

HIDDEN, DRAWN, BATCH, PASSES = 16, 120_000, 512, 8
RATE, DECAY, CLIP = 3e-3, 1e-3, 4.0
IDLE = log_minutes(6 * 3600.0)
BETAS = (0.9, 0.999)
HALF = 0.5  # the log of the longest thread, halved, is not clipped


def standardised(
    table: Table, rows: np.ndarray, shift: np.ndarray, factor: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the cues and the trusted means of cues as the policy makes them."""
    cues, means = table.cues[rows], table.means[rows].astype(np.float32)
    size, shares = cues.shape[1], table.shares[rows]
    if shares.shape[1] > 1:  # of the lexical cues, of the vectors'
        shares = np.repeat(shares, (len(LEXICAL), size - len(LEXICAL)), axis=1)
    return _clipped(cues, shift, factor), _clipped(means, shift, factor) * shares


def fit_network(table: Table, weights: np.ndarray, bags: int) -> Network:
    """Train several small networks on weighted rows and join them into one that averages their log-odds.

    They learn from the cues, the cues less what is usual, and the length of the thread, each of them
    standardised; what they do with these is then rewritten as what to do with cues and means.
    """
    rows = np.flatnonzero(weights > 0)
    w = weights[rows] / weights[rows].sum()
    shift, factor = _scale(table.cues[rows], w)
    plain, baseline = standardised(table, rows, shift, factor)
    size = shift.size
    x = np.hstack([plain, plain - baseline, table.positions[rows][:, None]])
    middle, gain = _scale(x, w)
    matrix, bias, out, out_bias = _descend((x - middle) * gain, table.starts[rows], w, bags)
    matrix = matrix * gain[:, None]
    onto = np.vstack([matrix[:size] + matrix[size : 2 * size], -matrix[size : 2 * size]])
    return Network(
        f32([*shift, *shift, 0.0]), f32([*factor, *factor, HALF]),
        f32(np.vstack([onto, matrix[-1:] / HALF]).T), f32(bias - middle @ matrix),
        f32(out / bags), float(out_bias.mean()),
    )  # fmt: skip


def _scale(x: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the weighted mean of each column and one over its spread (0 for a constant)."""
    mean = w @ x
    spread = np.sqrt(np.maximum(w @ (x * x) - mean**2, 0.0))
    return f32(mean), f32(np.where(spread > 1e-3, 1.0 / np.maximum(spread, 1e-3), 0.0))


def _clipped(x: np.ndarray, shift: np.ndarray, factor: np.ndarray) -> np.ndarray:
    return np.clip((x - shift) * factor, -CLIP, CLIP)


def _descend(x: np.ndarray, y: np.ndarray, w: np.ndarray, bags: int) -> list[np.ndarray]:
    """Fit layers of tanh units side by side by Adam with a falling rate; early end and decay regularise.

    All bags see the same batches, they differ in where they begin: one product serves them all.
    """
    rng = np.random.default_rng(0)
    drawn = rng.choice(len(y), size=DRAWN, p=w)
    base, units = y[drawn].mean(), bags * HIDDEN
    parts = [
        f32(rng.normal(0, 1 / math.sqrt(x.shape[1]), (x.shape[1], units))), f32(np.zeros(units)),
        f32(rng.normal(0, 0.3, units)), f32(np.full(bags, math.log(base / (1 - base)))),
    ]  # fmt: skip
    firsts, seconds = [np.zeros_like(p) for p in parts], [np.zeros_like(p) for p in parts]
    steps, step = PASSES * (DRAWN // BATCH), 0
    for _ in range(PASSES):
        rng.shuffle(drawn)
        for at in range(0, DRAWN - BATCH + 1, BATCH):
            step += 1
            batch = drawn[at : at + BATCH]
            slopes = _slopes(parts, x[batch], y[batch])
            rate = RATE * (1 - 0.9 * step / steps)
            for part, slope, first, second in zip(parts, slopes, firsts, seconds, strict=True):
                _follow(part, slope, first, second, rate=rate, step=step)
    return parts


def _follow(
    part: np.ndarray, slope: np.ndarray, first: np.ndarray, second: np.ndarray, *, rate: float, step: int
) -> None:
    """Move the parameters down their slope as Adam does; the moments are updated in place."""
    first += f32(1 - BETAS[0]) * (slope - first)
    second += f32(1 - BETAS[1]) * (slope * slope - second)
    level = np.sqrt(second / f32(1 - BETAS[1] ** step)) + f32(1e-8)
    part -= f32(rate / (1 - BETAS[0] ** step)) * first / level


def _slopes(parts: Sequence[np.ndarray], x: np.ndarray, y: np.ndarray) -> list[np.ndarray]:
    matrix, bias, out, out_bias = parts
    hidden = np.tanh(x @ matrix + bias)
    logits = (hidden * out).reshape(len(y), -1, HIDDEN).sum(axis=2) + out_bias
    error = f32((1 / (1 + np.exp(-logits)) - y[:, None]) / len(y))
    spread = np.repeat(error, HIDDEN, axis=1)
    back = spread * out * (1 - hidden * hidden)
    slope = (hidden * spread).sum(axis=0) + DECAY * out
    return [x.T @ back + DECAY * matrix, back.sum(axis=0), slope, error.sum(axis=0)]


def fit_time(parts: Sequence[tuple[float, Sequence[tuple[float, Silence, int]]]]) -> tuple[float, ...]:
    """Fit the weights of evidence of silence on top of the content's log-odds; parts are (share, rows)."""
    rows, starts, weights = [], [], []
    for share, some in parts:
        for content, silence, start in some:
            if silence.logged <= IDLE:  # beyond, the idle rule decides
                probability = min(max(content, 1e-4), 1 - 1e-4)
                rows.append([math.log(probability / (1 - probability)), silence.z, *hats(silence.logged)])
                starts.append(start)
                weights.append(share / len(some))
    w = np.array(weights)
    fitted = LogisticRegression(C=3.0, fit_intercept=False, max_iter=2000)
    fitted.fit(np.array(rows), starts, sample_weight=w / w.mean())
    return tuple(round(float(weight), 4) for weight in fitted.coef_[0])
