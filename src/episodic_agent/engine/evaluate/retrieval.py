"""Score recall on labelled cases through the real path: a fresh memory, `add`, then `search`."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from episodic_agent.core.evaluation.retrieval import (
    QuestionResult,
    score_abstention,
    score_by_type,
    score_questions,
)
from episodic_agent.core.ingest import read_time
from episodic_agent.engine.evaluate.cases import rows, unit_time
from episodic_agent.engine.memory import Memory
from episodic_agent.engine.results import Recall
from episodic_agent.engine.user import UserMemory
from episodic_agent.errors import InvalidInput

FreshMemory = Callable[[datetime, str | None], AbstractContextManager[Memory]]
USER = "default"  # a name that no question means
EPISODES = 10  # hits asked for beside the ranked observations


@dataclass(slots=True)
class RetrievalResult:
    """The scores of one file; `observations` and `sessions` hold one result per question."""

    observations: list[QuestionResult] = field(default_factory=list)
    sessions: list[QuestionResult] = field(default_factory=list)
    details: list[dict[str, Any]] = field(default_factory=list)
    messages: int = 0
    ingest_seconds: float = 0.0
    query_seconds: float = 0.0

    def as_json(self) -> dict[str, Any]:
        """Return the scores as plain JSON."""
        answerable = [q for q in self.observations if q.evidence]
        sessions = [q for q in self.sessions if q.evidence]
        return {
            "observation": score_questions(self.observations).as_json() if answerable else {},
            "session": score_questions(self.sessions).as_json() if sessions else {},
            "by_type": {k: r.as_json() for k, r in score_by_type(self.observations).items()},
            "abstention": score_abstention(self.observations).as_json(),
            "questions": len(self.observations),
            "ms_per_query": round(1000 * self.query_seconds / max(len(self.observations), 1), 3),
            "ms_per_message": round(1000 * self.ingest_seconds / max(self.messages, 1), 3),
        }


def evaluate_file(
    path: Path,
    fresh: FreshMemory,
    *,
    limit: int = 50,
    policy: str = "default",
    progress: Callable[[int], None] | None = None,
) -> RetrievalResult:
    """Ingest each case of a `ret_*` file into a fresh memory and ask its questions.

    `now` is the case's last time, so that nothing drifts with the calendar. A question with a `window` or
    `date` passes it as a time filter.
    """
    result = RetrievalResult()
    for n, case in enumerate(rows(path)):
        messages, questions = _parts(f"{path}: case {n + 1}", case)
        with fresh(last_time(messages), _language(case.get("lang"))) as opened:
            memory = opened.user(USER)
            started = time.perf_counter()
            memory.add([_message(m) for m in messages], thread=str(case.get("id", n)))
            result.ingest_seconds += time.perf_counter() - started
            result.messages += len(messages)
            _ask(memory, case, questions, result, limit, policy)
        if progress is not None:
            progress(n + 1)
    return result


def _parts(
    name: str, case: Mapping[str, Any]
) -> tuple[Sequence[Mapping[str, Any]], Sequence[Mapping[str, Any]]]:
    messages, questions = case.get("messages"), case.get("questions")
    if not isinstance(messages, list) or not isinstance(questions, list):
        raise InvalidInput(f"{name} needs `messages` and `questions`")
    if not all(isinstance(m, Mapping) and "id" in m for m in messages):
        raise InvalidInput(f"{name} has a message that is no object with an `id`")
    if not all(isinstance(q, Mapping) and str(q.get("question", "")).strip() for q in questions):
        raise InvalidInput(f"{name} has a question without `question`")
    return messages, questions


def _ask(
    memory: UserMemory,
    case: Mapping[str, Any],
    questions: Sequence[Mapping[str, Any]],
    result: RetrievalResult,
    limit: int,
    policy: str,
) -> None:
    sessions = {str(m["id"]): str(m["session"]) for m in case["messages"] if m.get("session") is not None}
    for question in questions:
        since, until = window(question)
        started = time.perf_counter()
        recall = memory.search(
            str(question["question"]),
            limit=EPISODES,
            observations=limit,
            policy=policy,
            since=since,
            until=until,
        )
        result.query_seconds += time.perf_counter() - started
        _keep(result, str(case.get("id", "")), question, recall, sessions)


def _keep(
    result: RetrievalResult,
    case: str,
    question: Mapping[str, Any],
    recall: Recall,
    sessions: Mapping[str, str],
) -> None:
    ranked = [e.id for e in recall.observations]
    evidence = [str(e) for e in question.get("evidence", ())]
    kind = str(question.get("type", ""))

    def outcome(texts: Sequence[str], targets: Sequence[str]) -> QuestionResult:
        return QuestionResult(texts, targets, kind, recall.abstained, recall.confidence)

    result.observations.append(outcome(ranked, evidence))
    if sessions:
        requested_targets = unique(sessions[e] for e in evidence if e in sessions)
        results = unique(sessions[r] for r in ranked if r in sessions)
        result.sessions.append(outcome(results, requested_targets))
    result.details.append(
        {
            "case": case,
            "question": question.get("id"),
            "type": kind,
            "evidence": evidence,
            "ranked": ranked,
            "abstained": recall.abstained,
            "confidence": recall.confidence,
        }
    )


def unique(values: Iterable[str]) -> list[str]:
    """Keep the first of equal values.

    >>> unique(["a", "b", "a"])
    ['a', 'b']
    """
    return list(dict.fromkeys(values))


def window(question: Mapping[str, Any]) -> tuple[datetime | None, datetime | None]:
    """Return the time filter a question means: its `window`, else its `date`, else none.

    >>> [t.isoformat() for t in window({"date": "2015-02-23"})]
    ['2015-02-23T00:00:00+00:00', '2015-02-24T00:00:00+00:00']
    """
    span = question.get("window")
    if isinstance(span, Sequence) and not isinstance(span, str) and len(span) == 2:
        start, end = (read_time(s).at for s in span)
        return start, max(end, start) + timedelta(seconds=1)  # a window names its last moment
    if question.get("date"):
        day = read_time(question["date"]).at
        return day, day + timedelta(days=1)
    return None, None


def _message(raw: Mapping[str, Any]) -> dict[str, Any]:
    texts = {
        "id": str(raw["id"]),
        "name": str(raw.get("speaker", "user")),
        "content": str(raw.get("text", "")),
    }
    if not texts["content"].strip():
        texts["content"] = "…"
    at = unit_time(raw.get("time"))
    # what has no time was not said today
    return texts | ({"at_source": "assumed"} if at is None else {"timestamp": str(raw["time"])})


def last_time(messages: Sequence[Mapping[str, Any]]) -> datetime:
    """Return the last time of a case, 2024-01-01 where none is given: its `now`."""
    times = [at for at in (unit_time(m.get("time")) for m in messages) if at is not None]
    return max(times, default=datetime(2024, 1, 1, tzinfo=UTC))


def _language(code: object) -> str | None:
    return str(code) if code else None
