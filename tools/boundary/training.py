"""Small networks on the rows, and the clock on top of them."""

import math
from collections.abc import Sequence

import numpy as np
from scipy.optimize import minimize

from boundary.rows import Table, TimedGap, f32
from episodic_agent.core.boundary.conversation.gap import LEXICAL
from episodic_agent.core.boundary.conversation.model import Network, log_minutes, ramps

HIDDEN, DRAWN, BATCH, PASSES = 16, 120_000, 512, 8
RATE, DECAY, CLIP = 3e-3, 1e-3, 4.0
SITTING = log_minutes(30 * 60.0)  # sittings are further apart than that
EVIDENCE = 1000.0  # gaps that all labels together count as, against a prior of one on each weight
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


def fit_network(table: Table, weights: np.ndarray, bags: int, drawn: int = DRAWN) -> Network:
    """Train several small networks on weighted rows and join them into one that averages their log-odds.

    They learn from the cues, the cues less what is usual, and the length of the thread, each of them
    standardised; what they do with these is then rewritten as what to do with cues and means. `drawn` rows
    are learnt from in each pass.
    """
    rows = np.flatnonzero(weights > 0)
    w = weights[rows] / weights[rows].sum()
    shift, factor = _scale(table.cues[rows], w)
    plain, baseline = standardised(table, rows, shift, factor)
    size = shift.size
    x = np.hstack([plain, plain - baseline, table.positions[rows][:, None]])
    middle, gain = _scale(x, w)
    matrix, bias, out, out_bias = _descend((x - middle) * gain, table.starts[rows], w, bags, drawn)
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


def _descend(x: np.ndarray, y: np.ndarray, w: np.ndarray, bags: int, count: int) -> list[np.ndarray]:
    """Fit layers of tanh units side by side by Adam with a falling rate; early end and decay regularise.

    All bags see the same batches, they differ in where they begin: one product serves them all.
    """
    rng = np.random.default_rng(0)
    drawn = rng.choice(len(y), size=count, p=w)
    base, units = y[drawn].mean(), bags * HIDDEN
    parts = [
        f32(rng.normal(0, 1 / math.sqrt(x.shape[1]), (x.shape[1], units))), f32(np.zeros(units)),
        f32(rng.normal(0, 0.3, units)), f32(np.full(bags, math.log(base / (1 - base)))),
    ]  # fmt: skip
    firsts, seconds = [np.zeros_like(p) for p in parts], [np.zeros_like(p) for p in parts]
    steps, step = PASSES * (count // BATCH), 0
    for _ in range(PASSES):
        rng.shuffle(drawn)
        for at in range(0, count - BATCH + 1, BATCH):
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


def fit_time(topics: Sequence[TimedGap], sessions: Sequence[TimedGap]) -> tuple[float, ...]:
    """Fit what silence adds to the log-odds of content: no weight below 0, both kinds of labels alike.

    Labels of topics say of every gap whether another subject begins, and how far content is off there, which
    is fitted with them and not kept. Labels that mark sessions only tell nothing of what lies within one:
    of these come the gaps that could part sessions, longer than `SITTING`.
    """
    apart = [gap for gap in sessions if gap.silence.logged > SITTING]
    parts = [part for part in (topics, apart) if part]
    gaps = [gap for part in parts for gap in part]
    x = np.array([[max(0.0, gap.silence.z), *ramps(gap.silence.logged)] for gap in gaps])
    y = np.array([float(gap.start) for gap in gaps])
    free = np.array([float(part is topics) for part in parts for _ in part])
    shares = np.array([1.0 / len(part) for part in parts for _ in part])
    w = shares * (EVIDENCE / shares.sum())
    content = np.clip([gap.content for gap in gaps], 1e-4, 1.0 - 1e-4)
    logits = np.log(content / (1.0 - content))

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        off, values = weights[0], weights[1:]
        z = logits + off * free + x @ values
        slope = w * (1.0 / (1.0 + np.exp(-z)) - y)
        total = (w * (np.logaddexp(0.0, z) - y * z)).sum() + (values @ values) / 2
        return float(total), np.concatenate([[slope @ free], x.T @ slope + values])

    size = x.shape[1]
    fitted = minimize(
        loss, np.zeros(size + 1), jac=True, method="L-BFGS-B", bounds=[(None, None), *[(0.0, None)] * size]
    )
    return tuple(round(float(weight), 3) for weight in fitted.x[1:])
