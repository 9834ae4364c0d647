"""Questions for a stretch of past time and nothing else, in nine languages, and such as only look like them."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from episodic_agent.core.language.pastdays import asked_time, with_dates
from episodic_agent.core.recall.query import analyse, looking_ahead

NOW = datetime(2026, 11, 28, 9, tzinfo=UTC)  # a Saturday
# Written before the rules; the half `frozen` was run once the other was right: 31 of 34 then, all since.
CASES = Path(__file__).parent.parent / "data" / "past_stretches.jsonl"
QUESTIONS = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("case", QUESTIONS, ids=lambda case: case["question"])
def test_a_question_for_a_stretch_alone_is_told_from_others(case: dict[str, Any]) -> None:
    query = looking_ahead(analyse(case["question"], [], NOW), NOW, None)
    assert (query.said_alone or query.happened_alone) == case["alone"]
    if case["alone"]:
        since, until = (datetime.fromisoformat(case[end]).replace(tzinfo=UTC) for end in ("since", "until"))
        (stretch,) = query.time.ranges
        assert stretch.start == since
        assert timedelta() <= stretch.end - until <= timedelta(seconds=1)


@pytest.mark.parametrize(
    ("question", "since"),
    [
        ("what happened since last Tuesday?", "2026-11-24"),
        ("what happened since Saturday?", "2026-11-21"),  # who means today says so
        ("since the 30th", "2026-10-30"),
        ("since 24 November", "2026-11-24"),
        ("seit dem 24. November", "2026-11-24"),
        ("depuis la semaine dernière", "2026-11-16"),
        ("desde la semana pasada", "2026-11-16"),
    ],
)
def test_since_a_day_is_since_the_latest_one(question: str, since: str) -> None:
    (stretch,) = asked_time(question, NOW).ranges
    assert (stretch.start.date().isoformat(), stretch.kind) == (since, "open")


@pytest.mark.parametrize(
    "question",
    [
        "Book a table for Friday",
        "what should we say to Dekker on Friday?",
        "every Friday we met at noon",
        "Was steht am Dienstag an?",
        "we sat on the 18th floor",
        "a reunião da terça acabou?",
        "I was there on the 18th of November",
        "Tuesday evening was nice",
        "On May 25th, how did he plan it?",
        "what was said on the evening of June 10th?",
        "who won the 1st prize?",
        "the party was on Friday, 15 March",
        "what kept me busy from January 6th to 9th?",
        "what did he do on the three Wednesday nights?",
        "5月中旬我开始散步，为什么？",
        "what was the limit over the weekend of 18 April?",
        "what did he bring to the weekend family gathering?",
        "That was £45 more than they said. Still Thursday?",
        "Your leave was for the 17th, wasn't it?",
        "he said that the new day is saturday 5, 9 to 11",
    ],
)
def test_other_days_stay_as_they_are(question: str) -> None:
    assert with_dates(question, NOW) == question


@pytest.mark.parametrize(
    ("question", "day"),
    [("what did she say friday 20?", "2026-11-20"), ("what did she say, Saturday the 14th?", "2026-11-14")],
)
def test_a_weekday_with_the_number_of_a_day_is_the_latest_with_both(question: str, day: str) -> None:
    assert {(one.start.date().isoformat(), one.kind) for one in asked_time(question, NOW).ranges} == {
        (day, "day")
    }
