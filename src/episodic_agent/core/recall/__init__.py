"""The pure half of recall: reading the query, scoring, fusing, confidence.

`query` reads a question (terms, phrases, people, times, places, order); `alone` tells whether it asks for
nothing else; `due` what it asks of days to come, and what was said of them; `bm25` scores words; `fusion`
joins the four legs with speaker, time, place and strength, and lets near-duplicates give way; `confidence`
says whether the question is answered here at all; `policies` names the ways to recall, with their weights.

**Rules of the room.**
1. Scores are fused, not ranks: each leg is divided by its best value within the query.
2. Strength is a bounded prior: age takes at most 30 % of a score.
3. Time, place and order are preferences; filters are the caller's, applied before. Only where nothing else is
   asked (`alone`, `due`) a place, the time at which something was said, or days to come are one.
4. The threshold is asked of the calibrated confidence, never of a fused score (I5). What names a place or a
   time proves nothing.
5. Arrays over some hundred candidates; equal scores are ordered by id, so that both stores answer alike.
6. Another embedder's cosines are read through its calibration, or not at all.

**To add** a signal, compute it for all candidates at once, give it a weight in `policies.py`, show it in the
hit's legs, and score it with `benchmarks.recall_quality` on data it was not fitted on.
"""

from typing import TYPE_CHECKING

from episodic_agent.lazily import names_from

if TYPE_CHECKING:
    from episodic_agent.core.recall.bm25 import (
        ceiling,
        idf,
        kept_terms,
        scores,
        term_score,
        term_weight,
    )
    from episodic_agent.core.recall.confidence import (
        ABSTENTION_THRESHOLD,
        CALIBRATED_FOR,
        Confidence,
        Signs,
        answerability,
        assess,
        certain,
        support,
        surprise_at_strangers,
    )
    from episodic_agent.core.recall.fusion import (
        NEAR_DUPLICATE,
        Candidates,
        EpisodeArrays,
        Fused,
        diversify,
        fuse,
        fuse_episodes,
        measured_share,
        newest_outputs,
        no_episodes,
        replaced_episodes,
        strangers_cosine,
        strength_prior,
        time_match,
        trust,
        with_raised,
        with_replaced,
        with_second,
        with_statements,
    )
    from episodic_agent.core.recall.order import Order, order_match, read_order
    from episodic_agent.core.recall.policies import (
        DEFAULT_WEIGHTS,
        RECALL_2026_12,
        RECALL_2027_01,
        WEIGHTS_2026_12,
        FusionWeights,
        RecallPolicy,
        reciprocal_ranks,
        seed_003,
    )
    from episodic_agent.core.recall.query import Query, analyse, in_order, looking_ahead
else:
    __getattr__ = names_from(
        __name__,
        {
            "bm25": "ceiling idf kept_terms scores term_score term_weight",
            "confidence": (
                "ABSTENTION_THRESHOLD CALIBRATED_FOR Confidence Signs answerability assess "
                "certain support surprise_at_strangers"
            ),
            "fusion": (
                "NEAR_DUPLICATE Candidates EpisodeArrays Fused diversify fuse fuse_episodes "
                "measured_share newest_outputs no_episodes replaced_episodes strangers_cosine "
                "strength_prior time_match trust with_raised with_replaced with_second "
                "with_statements"
            ),
            "order": "Order order_match read_order",
            "policies": (
                "DEFAULT_WEIGHTS RECALL_2026_12 RECALL_2027_01 WEIGHTS_2026_12 FusionWeights "
                "RecallPolicy reciprocal_ranks seed_003"
            ),
            "query": "Query analyse in_order looking_ahead",
        },
    )

__all__ = [
    "ABSTENTION_THRESHOLD",
    "CALIBRATED_FOR",
    "DEFAULT_WEIGHTS",
    "NEAR_DUPLICATE",
    "RECALL_2026_12",
    "RECALL_2027_01",
    "WEIGHTS_2026_12",
    "Candidates",
    "Confidence",
    "EpisodeArrays",
    "Fused",
    "FusionWeights",
    "Order",
    "Query",
    "RecallPolicy",
    "Signs",
    "analyse",
    "answerability",
    "assess",
    "ceiling",
    "certain",
    "diversify",
    "fuse",
    "fuse_episodes",
    "idf",
    "in_order",
    "kept_terms",
    "looking_ahead",
    "measured_share",
    "newest_outputs",
    "no_episodes",
    "order_match",
    "read_order",
    "reciprocal_ranks",
    "replaced_episodes",
    "scores",
    "seed_003",
    "strangers_cosine",
    "strength_prior",
    "support",
    "surprise_at_strangers",
    "term_score",
    "term_weight",
    "time_match",
    "trust",
    "with_raised",
    "with_replaced",
    "with_second",
    "with_statements",
]
