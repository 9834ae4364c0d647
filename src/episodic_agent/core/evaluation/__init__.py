"""Compute figures for boundaries, recall, threads and mentions: pure functions from labels and answers to
reports.

**Rules of the room.**
1. The definitions are those of the published tables, by name of their paper; where two protocols are in print
   both are computed (`nltk` and `segeval` for boundaries).
2. What cannot be scored is refused or scored as the reference package does, and the docstring says which.
3. A figure never flatters: a dialogue without labelled boundaries counts F1 0 in the headline, a question
   whose evidence is not found stays in the denominator.
4. Reports are valid JSON: no NaN, no infinity, counts beside shares.
5. How sure a figure is comes from a bootstrap over cases with a given seed: the same seed gives the same
   interval.
6. Nothing here reads files or runs an engine; `engine/evaluate` does, and `benchmarks` calls that.

**To add** a figure, write it as a function of sums over cases (then `uncertainty.py` serves it too), check it
against a reference package in a test, and put it into the report of its task.
"""

from typing import TYPE_CHECKING

from episodic_agent.lazily import names_from

if TYPE_CHECKING:
    from episodic_agent.core.evaluation.abstention import false_share, kept_share, roc_area, threshold_keeping
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
    from episodic_agent.core.evaluation.uncertainty import (
        FEWEST_CASES,
        Estimate,
        bootstrap_sums,
        by_case,
        compare_streams,
        difference_of_means,
        estimate_streams,
        mean_of_estimates,
        mean_of_sums,
    )
else:
    __getattr__ = names_from(
        __name__,
        {
            "abstention": "false_share kept_share roc_area threshold_keeping",
            "retrieval": (
                "METRICS AbstentionReport QuestionResult RetrievalReport evidence_ranks false_recall_at "
                "locomo_recall question_metrics score_abstention score_by_type score_questions"
            ),
            "segmentation": (
                "SegmentationReport StreamScore boundary_f1 match_count score_stream score_streams "
                "window_size"
            ),
            "summary": "bootstrap_interval rounded",
            "uncertainty": (
                "FEWEST_CASES Estimate bootstrap_sums by_case compare_streams difference_of_means "
                "estimate_streams mean_of_estimates mean_of_sums"
            ),
        },
    )

__all__ = [
    "FEWEST_CASES",
    "METRICS",
    "AbstentionReport",
    "Estimate",
    "QuestionResult",
    "RetrievalReport",
    "SegmentationReport",
    "StreamScore",
    "bootstrap_interval",
    "bootstrap_sums",
    "boundary_f1",
    "by_case",
    "compare_streams",
    "difference_of_means",
    "estimate_streams",
    "evidence_ranks",
    "false_recall_at",
    "false_share",
    "kept_share",
    "locomo_recall",
    "match_count",
    "mean_of_estimates",
    "mean_of_sums",
    "question_metrics",
    "roc_area",
    "rounded",
    "score_abstention",
    "score_by_type",
    "score_questions",
    "score_stream",
    "score_streams",
    "threshold_keeping",
    "window_size",
]
