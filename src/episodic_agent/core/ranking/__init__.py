"""The pure half of recall: reading the query, scoring, fusing, confidence (`memory.md` 2)."""

from episodic_agent.core.ranking.bm25 import ceiling, idf, kept_terms, scores, term_score, term_weight
from episodic_agent.core.ranking.candidates import Candidates, Episodes, no_episodes
from episodic_agent.core.ranking.confidence import (
    ABSTENTION_THRESHOLD,
    CALIBRATED_FOR,
    Confidence,
    Signs,
    assess,
    support,
)
from episodic_agent.core.ranking.diversity import NEAR_DUPLICATE, diversify
from episodic_agent.core.ranking.fusion import Fused, fuse, fuse_episodes, strength_prior, time_match
from episodic_agent.core.ranking.order import Order, order_match, read_order
from episodic_agent.core.ranking.query import Query, analyse
from episodic_agent.core.ranking.seed import reciprocal_ranks, seed_003
from episodic_agent.core.ranking.weights import DEFAULT_WEIGHTS, Weights

__all__ = [
    "ABSTENTION_THRESHOLD",
    "CALIBRATED_FOR",
    "DEFAULT_WEIGHTS",
    "NEAR_DUPLICATE",
    "Candidates",
    "Confidence",
    "Episodes",
    "Fused",
    "Order",
    "Query",
    "Signs",
    "Weights",
    "analyse",
    "assess",
    "ceiling",
    "diversify",
    "fuse",
    "fuse_episodes",
    "idf",
    "kept_terms",
    "no_episodes",
    "order_match",
    "read_order",
    "reciprocal_ranks",
    "scores",
    "seed_003",
    "strength_prior",
    "support",
    "term_score",
    "term_weight",
    "time_match",
]
