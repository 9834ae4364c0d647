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


WEEKENDS = """
what did we do this weekend?|28|28|21
was haben wir dieses Wochenende gemacht?|28|28|21
¿qué hicimos este fin de semana?|28|28|21
qu'avons-nous fait ce week-end ?|28|28|21
cosa abbiamo fatto questo fine settimana?|28|28|21
o que fizemos este fim de semana?|28|28|21
wat hebben we dit weekend gedaan?|28|28|21
что мы делали на этих выходных?|28|28|21
这个周末我们做了什么？|28|28|21
what happened at the weekend?|21|28|21
what did we do last weekend?|21|21|21
was haben wir letztes Wochenende gemacht?|21|21|21
"""


@pytest.mark.parametrize("line", WEEKENDS.strip().splitlines())
def test_this_weekend_is_the_one_that_runs_and_else_the_one_that_is_over(line: str) -> None:
    question, *saturdays = line.split("|")
    for day, saturday in zip((28, 29, 25), saturdays, strict=True):
        (stretch,) = asked_time(question, NOW.replace(day=day)).ranges
        assert (stretch.start.day, (stretch.end - stretch.start).days) == (int(saturday), 2), day
    (stretch,) = asked_time(question, NOW.replace(day=30)).ranges  # a Monday
    assert stretch.start.day == 28


WEEKS = """
what happened this week?|what happened last week?
was ist diese Woche passiert?|was ist in der letzten Woche passiert?
¿qué pasó esta semana?|¿qué pasó la semana pasada?
que s'est-il passé cette semaine ?|que s'est-il passé la semaine dernière ?
cosa è successo questa settimana?|cosa è successo la scorsa settimana?
o que aconteceu nesta semana?|o que aconteceu na semana passada?
wat is er deze week gebeurd?|wat is er vorige week gebeurd?
что случилось за эту неделю?|что произошло на прошлой неделе?
这周发生了什么？|上个星期发生了什么？
"""


@pytest.mark.parametrize("line", WEEKS.strip().splitlines())
def test_a_week_begins_on_monday_in_every_language(line: str) -> None:
    for day, (this, last) in ((29, ("11-23", "11-16")), (30, ("11-30", "11-23"))):
        for question, monday in zip(line.split("|"), (this, last), strict=True):
            (stretch,) = asked_time(question, NOW.replace(day=day)).ranges
            assert (f"{stretch.start:%m-%d}", (stretch.end - stretch.start).days) == (monday, 7)
