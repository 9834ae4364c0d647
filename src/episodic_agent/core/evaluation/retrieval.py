"""How well a ranking finds the evidence of a question, and whether it stays silent when there is none.

Relevance is binary. A question with evidence is *answerable*; one without should be met with nothing.
Ranking figures are means over answerable questions alone; `score_abstention` judges both kinds. One
granularity a call: give ids of observations for the one, ids of their sessions for the other.
"""

import math
from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from episodic_agent.errors import InvalidInput
from episodic_agent.schemas import Json

_DECIMALS = 6


def rounded(value: float) -> float | None:
    """Round to the six decimals of a report; what JSON cannot say (NaN, infinity) becomes None.

    >>> rounded(2 / 3), rounded(math.inf)
    (0.666667, None)
    """
    return round(float(value), _DECIMALS) if math.isfinite(value) else None


CUTOFFS = (1, 3, 5, 10, 25, 50)
NDCG_CUTOFFS = (5, 10)
KEPT_SHARES = (0.9, 0.8)
METRICS = (
    *(f"{name}@{k}" for name in ("recall", "any", "all") for k in CUTOFFS),
    *(f"ndcg@{k}" for k in NDCG_CUTOFFS),
    "mrr",
)


@dataclass(frozen=True, slots=True)
class QuestionResult:
    """What came back for one question: `ranked` ids, best first, and the ids of its `evidence`.

    An id that occurs twice in `ranked` (a session found through two of its observations) counts at its
    first place and takes up no second rank. `abstained` and `confidence` (any scale, higher is surer)
    matter to `score_abstention` only.
    """

    ranked: Sequence[Hashable]
    evidence: Collection[Hashable]
    type: str = ""
    abstained: bool = False
    confidence: float = 0.0

    @property
    def answerable(self) -> bool:
        """Whether there is anything to find."""
        return len(self.evidence) > 0


@dataclass(frozen=True, slots=True)
class RetrievalReport:
    """Means over the answerable questions, by metric name (`METRICS`); NaN if there is no such question."""

    questions: int
    values: dict[str, float]

    def as_json(self) -> dict[str, Json]:
        """Return the number of questions and each metric, flat, with six decimals; None for NaN."""
        return {"questions": self.questions, **{name: rounded(value) for name, value in self.values.items()}}


@dataclass(frozen=True, slots=True)
class AbstentionReport:
    """How often memory speaks up on unanswerable questions, and the price on answerable ones.

    `false_recall`: share of the unanswerable not abstained from. `wrong_abstention`: share of the
    answerable abstained from. `false_recall_at`: for each share of `KEPT_SHARES`, the false recall if
    confidence alone decided, at the highest threshold that still answers that share of the answerable.
    NaN where there is no question of the kind a figure needs.
    """

    answerable: int
    unanswerable: int
    false_recall: float
    wrong_abstention: float
    false_recall_at: dict[float, float]

    def as_json(self) -> dict[str, Json]:
        """Return the figures flat, fixed shares as `false_recall@0.9`, with six decimals; None for NaN."""
        return {
            "answerable": self.answerable,
            "unanswerable": self.unanswerable,
            "false_recall": rounded(self.false_recall),
            "wrong_abstention": rounded(self.wrong_abstention),
            **{f"false_recall@{kept}": rounded(value) for kept, value in self.false_recall_at.items()},
        }


def score_questions(results: Sequence[QuestionResult]) -> RetrievalReport:
    """Average every metric of `METRICS` over the questions that have evidence.

    >>> found, missed = QuestionResult(["a", "b"], {"b"}), QuestionResult(["a"], {"c"})
    >>> report = score_questions([found, missed, QuestionResult(["a"], set())])
    >>> report.questions, report.values["recall@1"], report.values["recall@3"], report.values["mrr"]
    (2, 0.0, 0.5, 0.25)
    """
    rows = [question_metrics(result) for result in results if result.answerable]
    return RetrievalReport(len(rows), {name: _mean(row[name] for row in rows) for name in METRICS})


def score_by_type(results: Sequence[QuestionResult]) -> dict[str, RetrievalReport]:
    """Score each type of question on its own, in alphabetical order; types without evidence are left out.

    >>> hop, when = QuestionResult(["a"], {"a"}, "multi-hop"), QuestionResult(["a"], {"b"}, "date")
    >>> {name: report.values["recall@1"] for name, report in score_by_type([hop, when]).items()}
    {'date': 0.0, 'multi-hop': 1.0}
    """
    types = sorted({result.type for result in results if result.answerable})
    return {name: score_questions([result for result in results if result.type == name]) for name in types}


def question_metrics(result: QuestionResult) -> dict[str, float]:
    """Return every metric of `METRICS` for one answerable question, each between 0 and 1.

    `recall@k` is the share of the evidence among the first k, so more evidence than k cannot reach 1;
    `any@k` and `all@k` are 1.0 or 0.0; `ndcg@k` divides by the best ranking of that much evidence;
    `mrr` is 1 / rank of the first evidence in the whole ranking given. Raises InvalidInput for a
    question without evidence.

    >>> row = question_metrics(QuestionResult(["x", "a", "y", "b"], {"a", "b"}))
    >>> row["recall@3"], row["any@3"], row["all@3"], row["all@5"], round(row["ndcg@5"], 3), row["mrr"]
    (0.5, 1.0, 0.0, 1.0, 0.651, 0.5)
    """
    relevant = len(set(result.evidence))
    if not relevant:
        raise InvalidInput("a question without evidence has no retrieval metrics; score its abstention")
    ranks = evidence_ranks(result.ranked, result.evidence)
    row: dict[str, float] = {}
    for k in CUTOFFS:
        hits = sum(rank <= k for rank in ranks)
        row[f"recall@{k}"] = hits / relevant
        row[f"any@{k}"] = float(hits > 0)
        row[f"all@{k}"] = float(hits == relevant)
    for k in NDCG_CUTOFFS:
        row[f"ndcg@{k}"] = _gain(ranks, k) / _gain(range(1, relevant + 1), k)
    row["mrr"] = 1 / ranks[0] if ranks else 0.0
    return {name: row[name] for name in METRICS}


def evidence_ranks(ranked: Sequence[Hashable], evidence: Collection[Hashable]) -> list[int]:
    """Return the ranks, from 1 and rising, at which evidence stands; repeats take up no rank.

    >>> evidence_ranks(["s1", "s1", "s2", "s3", "s2"], {"s2", "s3"})
    [2, 3]
    """
    targets = set(evidence)
    return [rank for rank, found in enumerate(dict.fromkeys(ranked), start=1) if found in targets]


def score_abstention(results: Sequence[QuestionResult]) -> AbstentionReport:
    """Compare abstention and confidence between questions with and without evidence.

    Raises InvalidInput for a confidence that is NaN: no threshold can place it.

    >>> sure = QuestionResult(["a"], {"a"}, confidence=0.9)
    >>> unsure = QuestionResult(["a"], {"a"}, abstained=True, confidence=0.2)
    >>> fooled, silent = QuestionResult(["a"], (), confidence=0.5), QuestionResult([], (), abstained=True)
    >>> report = score_abstention([sure, unsure, fooled, silent])
    >>> report.false_recall, report.wrong_abstention, report.false_recall_at[0.9]
    (0.5, 0.5, 0.5)
    """
    answerable = [result for result in results if result.answerable]
    unanswerable = [result for result in results if not result.answerable]
    known, unknown = [r.confidence for r in answerable], [r.confidence for r in unanswerable]
    return AbstentionReport(
        answerable=len(answerable),
        unanswerable=len(unanswerable),
        false_recall=_mean(not result.abstained for result in unanswerable),
        wrong_abstention=_mean(result.abstained for result in answerable),
        false_recall_at={kept: false_recall_at(known, unknown, kept) for kept in KEPT_SHARES},
    )


def false_recall_at(answerable: Sequence[float], unanswerable: Sequence[float], value: float) -> float:
    """Return the share of unanswerable confidences at or above the threshold that keeps `value` answerable.

    The threshold is the highest that at least that share (above 0, up to 1) of the answerable reaches;
    equal confidences fall on one side together. NaN if either list is empty. Raises InvalidInput for a
    NaN confidence or a share out of range.

    >>> false_recall_at([0.9, 0.8, 0.7, 0.1], [0.75, 0.2], value=0.5)
    0.0
    >>> false_recall_at([0.9, 0.8, 0.7, 0.1], [0.75, 0.2], value=0.75)
    0.5
    """
    if not 0.0 < value <= 1.0:
        raise InvalidInput("the share of answerable questions to keep lies above 0 and up to 1")
    if any(math.isnan(confidence) for confidence in (*answerable, *unanswerable)):
        raise InvalidInput("a confidence is a number; NaN cannot be compared with a threshold")
    if not answerable or not unanswerable:
        return math.nan
    # The small step back keeps 0.55 x 100 = 55.00000000000001 from asking for a 56th question.
    needed = max(1, math.ceil(value * len(answerable) - 1e-9))
    threshold = sorted(answerable, reverse=True)[needed - 1]
    return _mean(confidence >= threshold for confidence in unanswerable)


def _gain(ranks: Iterable[int], k: int) -> float:
    """Discounted cumulative gain of binary relevance (Järvelin and Kekäläinen 2002), base 2."""
    return sum(1 / math.log2(rank + 1) for rank in ranks if rank <= k)


def _mean(values: Iterable[float]) -> float:
    numbers = [float(value) for value in values]
    return fmean(numbers) if numbers else math.nan
