"""How well short texts of one kind (skills, facts) answer a query: by its words, and by meaning."""

from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from episodic_agent.core import recall as ranking
from episodic_agent.core.episodes.languages import guess_language
from episodic_agent.core.recall.bm25 import K1, B, kept_terms, term_weight
from episodic_agent.core.recall.confidence import CALIBRATED_FOR
from episodic_agent.core.recall.fusion import Candidates, measured_share
from episodic_agent.core.recall.policies import DEFAULT_WEIGHTS
from episodic_agent.engine.deps import Deps
from episodic_agent.protocols import Refs, Transaction
from episodic_agent.schemas import Vector

PER_LEG: Final = 100
LOW: Final = 0.3  # cosine below which meaning alone finds nothing


def matches(
    tx: Transaction,
    deps: Deps,
    kind: str,
    query: ranking.Query,
    vector: Vector | None,
    *,
    per_leg: int = PER_LEG,
) -> tuple[Refs, NDArray[np.float64]]:
    """Return the refs of a kind that share words or meaning with a query, with scores in [0, 1], unordered.

    `per_leg` is how many candidates words bring, and how many meaning does.
    """
    refs, words, cosines = _legs(tx, deps, kind, query, vector, per_leg=per_leg)
    if vector is None:
        scores, near = words, np.zeros(len(refs), np.bool_)
    else:
        share = _meaning(deps, query, cosines)
        scores, near = share * np.maximum(cosines, 0.0) + (1 - share) * words, cosines >= LOW
    there = (words > 0) | near
    return refs[there], scores[there]


def as_shown(deps: Deps, cosines: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return cosines on the scale of the default embedder; 0 where there is no vector."""
    results = cosines.astype(np.float64)
    own = deps.calibration
    return np.nan_to_num(results if own is None else own.as_default(results))


def _meaning(deps: Deps, query: ranking.Query, cosines: NDArray[np.float64]) -> float:
    """Return the share of a score that cosine is; the rest is the share of the query's words.

    In a language that the embedder does not know any two texts are near: there words decide, as in a search
    for messages. On a scale that was not measured nothing tells which languages it knows.
    """
    full = DEFAULT_WEIGHTS.dense
    known = deps.calibration is not None or deps.embedder_name.startswith(CALIBRATED_FOR)
    if not known:
        return full
    query = replace(query, language=query.language or guess_language(query.text))
    return measured_share(query, Candidates([""] * len(cosines), np.zeros(0), cosines))


def _legs(
    tx: Transaction,
    deps: Deps,
    kind: str,
    query: ranking.Query,
    vector: Vector | None,
    *,
    per_leg: int,
) -> tuple[Refs, NDArray[np.float64], NDArray[np.float64]]:
    """Return candidates with the share of the query's words each holds, by rarity, and their cosines."""
    statistics = tx.index.statistics(kind, query.terms)
    limits = kept_terms({t: statistics.frequencies.get(t, 0) for t in query.terms}, statistics.documents)
    weights = {t: term_weight(t, df, statistics.documents) for t, df in limits.items()}
    length = statistics.average_length
    refs = np.zeros(0, np.int64)
    if weights:
        refs, _ = tx.index.text_scores(kind, weights, k1=K1, b=B, average_length=length, limit=per_leg)
    if vector is not None:
        near, _ = tx.index.vector_scores(kind, deps.embedder_name, vector, limit=per_leg)
        refs = np.union1d(refs, near)
    words, cosines = np.zeros(len(refs)), np.zeros(len(refs))
    if weights and len(refs):
        held = tx.index.text_scores(kind, weights, refs, k1=0.0, b=0.0, average_length=length)[1]
        top = sum(term_weight(t, limits.get(t, 0), statistics.documents) for t in query.terms)
        words = held.astype(np.float64) / top
    if vector is not None and len(refs):
        cosines = as_shown(deps, tx.index.vector_scores(kind, deps.embedder_name, vector, refs)[1])
    return refs.astype(np.int64), words, cosines
