"""Figures for boundaries and recall: pure functions from labels and answers to reports."""

from episodic_agent.core.evaluation.retrieval import (
    METRICS,
    AbstentionReport,
    QuestionResult,
    RetrievalReport,
    evidence_ranks,
    false_recall_at,
    locomo_recall,
    question_metrics,
    score_abstention,
    score_by_type,
    score_questions,
)
from episodic_agent.core.evaluation.segmentation import (
    SegmentationReport,
    StreamScore,
    boundary_f1,
    match_count,
    score_stream,
    score_streams,
    window_size,
)
from episodic_agent.core.evaluation.summary import bootstrap_interval, rounded

__all__ = [
    "METRICS",
    "AbstentionReport",
    "QuestionResult",
    "RetrievalReport",
    "SegmentationReport",
    "StreamScore",
    "bootstrap_interval",
    "boundary_f1",
    "evidence_ranks",
    "false_recall_at",
    "locomo_recall",
    "match_count",
    "question_metrics",
    "rounded",
    "score_abstention",
    "score_by_type",
    "score_questions",
    "score_stream",
    "score_streams",
    "window_size",
]
