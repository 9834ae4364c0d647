"""Figures of a model: as it cuts, as it ranks, and as it would cut under the best threshold."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from boundary.data import EPOCH, Thread, arrivals, untimed
from boundary.material import timed
from boundary.rows import Led
from episodic_agent.core.boundary.contract import Input, ManualCut, Step
from episodic_agent.core.boundary.conversation.default import DefaultPolicy
from episodic_agent.core.boundary.conversation.memory import ConversationMemory
from episodic_agent.core.boundary.conversation.model import BoundaryModel
from episodic_agent.core.boundary.conversation.thread_pass import Segmented, whole_thread
from episodic_agent.core.boundary.machine import run
from episodic_agent.core.evaluation.segmentation import boundary_f1, score_stream, score_streams

NAMES = ("score", "f1", "segeval_f1", "pk", "wd", "f1_tol1", "f1_tol2", "density")
SHARES = (0.005, 0.01, 0.02, 0.04, 0.08, 0.12, 0.16, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45)


def predict(
    threads: Sequence[Thread],
    model: Callable[[Thread], BoundaryModel],
    *,
    vectors: bool = True,
    hindsight: int = 2,
    complete: bool = False,
) -> tuple[list[list[int]], list[np.ndarray]]:
    """Return the boundaries the policy finds, online or over whole threads, and each gap's probability."""
    result, odds = [], []
    for thread in threads:
        inputs: list[Input] = [*arrivals(thread, vectors=vectors), ManualCut(EPOCH)]
        step: Segmented | Step[ConversationMemory]
        if complete:
            step = whole_thread(inputs, DefaultPolicy(model=model(thread)))
            pairs = [(record.seq, record.probability) for record in step.records if record.cues]
        else:
            policy = Led(model=model(thread), hindsight=hindsight)
            seen = policy.lead(None)
            step = run(policy.begin(), inputs, policy)
            pairs = [(one.seq, one.judged.probability) for one in seen]
        starts = [0] * len(thread.lines)
        for cut in step.cuts:
            if cut.before_seq < len(starts):
                starts[cut.before_seq] = 1
        chance = np.array([float(start) for start in starts])  # of a gap after long silence nothing is asked
        for seq, value in pairs:
            chance[seq] = value
        result.append(starts)
        odds.append(chance)
    return result, odds


def measure(
    threads: Sequence[Thread],
    model: Callable[[Thread], BoundaryModel],
    *,
    oracle: bool = True,
    **settings: object,
) -> dict[str, float]:
    """Return the figures under the shipped threshold, average precision and the best there could be."""
    truth = [list(t.starts) for t in threads]
    indexes, probabilities = predict(threads, model, **settings)
    score = score_streams(truth, indexes)
    figures = {name: float(getattr(score, name)) for name in NAMES}
    figures["uncut"] = float(np.mean([not any(one[1:]) for one in indexes]))
    figures["ap"] = average_precision(
        np.concatenate([t[1:] for t in truth]), np.concatenate([o[1:] for o in probabilities])
    )
    if oracle:
        figures |= best(truth, probabilities)
    return {name: round(value, 4) for name, value in figures.items()}


def pooled(threads: Sequence[Thread], model: BoundaryModel) -> dict[str, float]:
    """Return F1, also with one place of tolerance, and density, over all boundaries of threads together."""
    indexes, _ = predict(threads, lambda _: model)
    rows = [score_stream(list(t.starts), i) for t, i in zip(threads, indexes, strict=True)]
    labelled, cut = sum(row.boundaries for row in rows), sum(row.predicted for row in rows)
    f1, near = (boundary_f1(sum(row.matched[n] for row in rows), labelled, cut) for n in (0, 1))
    return {"f1": round(f1, 4), "f1_tol1": round(near, 4), "density": round(cut / max(1, labelled), 4)}


def average_precision(starts: np.ndarray, probabilities: np.ndarray) -> float:
    """Return the mean precision at each true boundary, gaps ranked by probability over the whole set."""
    ranked = starts[np.argsort(-probabilities, kind="stable")]
    precision = np.cumsum(ranked) / np.arange(1, len(ranked) + 1)
    return float((precision * ranked).sum() / max(1, ranked.sum()))


def best(truth: Sequence[Sequence[int]], probabilities: Sequence[np.ndarray]) -> dict[str, float]:
    """Return the Score under the best threshold for the set and the best share cut in each thread."""
    every = np.concatenate([one[1:] for one in probabilities])
    by_threshold, by_share = [], []
    for share in SHARES:
        level = max(float(np.quantile(every, 1 - share)), 1e-9)
        by_threshold.append(score_streams(truth, [_over(one, level) for one in probabilities]).score)
        by_share.append(score_streams(truth, [_top(one, share) for one in probabilities]).score)
    return {"best_threshold": max(by_threshold), "best_share": max(by_share)}


def _over(probabilities: np.ndarray, level: float) -> list[int]:
    return [0, *(probabilities[1:] >= level).astype(int).tolist()]


def _top(probabilities: np.ndarray, share: float) -> list[int]:
    starts = np.zeros(len(probabilities), int)
    limit = round(share * (len(probabilities) - 1))
    starts[1 + np.argsort(-probabilities[1:], kind="stable")[:limit]] = 1
    return starts.tolist()


def report(
    title: str,
    threads: Mapping[str, Sequence[Thread]],
    model: Callable[[Thread], BoundaryModel],
    **settings: object,
) -> dict[str, dict[str, float]]:
    """Print and return the figures of every set under one setting."""
    result = {}
    for source, some in threads.items():
        rows = {source: some}
        if source == "realtalk":
            rows = {"realtalk timed": some, "realtalk untimed": [untimed(t) for t in some]}
        if source == "glue":
            rows["glue timed"] = [timed(t, n) for n, t in enumerate(some)]
        for name, mine in rows.items():
            result[name] = measure(mine, model, **settings)
            print(f"{title:34s} {name:22s}", *[f"{k} {v:.3f}" for k, v in result[name].items()], flush=True)
    return result
