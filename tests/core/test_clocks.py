"""Hours in a question: which hours of which day are meant, and which figures are none."""

from datetime import UTC, datetime, timedelta

import pytest

from episodic_agent.core.language.pastdays import asked_time
from episodic_agent.core.recall.alone import asks_what_happened

ZONE = timedelta(hours=1)
SUNDAY = datetime(2026, 11, 29, 9, tzinfo=UTC) - ZONE


def stretches(question: str) -> list[tuple[str, str]]:
    """Return the stretches of a question as the asker's clock shows them."""
    return [
        ((part.start + ZONE).strftime("%d %H:%M"), (part.end + ZONE).strftime("%d %H:%M"))
        for part in asked_time(question, SUNDAY, ZONE).ranges
    ]


@pytest.mark.parametrize(
    ("question", "start", "end"),
    [
        ("What did I do yesterday between 14 and 16?", "28 14:00", "28 16:00"),
        ("What did you do yesterday between 14:00 and 16:00?", "28 14:00", "28 16:00"),
        ("What did you do yesterday after 4 pm?", "28 16:00", "29 00:00"),
        ("What did I do yesterday from two to four?", "28 14:00", "28 16:00"),
        ("What happened at 15:10 yesterday?", "28 14:40", "28 15:40"),
        ("what did I do on friday between 2 and 4 pm?", "27 14:00", "27 16:00"),
        ("What did I do in the kitchen yesterday between 2 and 4?", "28 14:00", "28 16:00"),
        ("What happened yesterday in the kitchen between 14:00 and 16:00?", "28 14:00", "28 16:00"),
        ("what happened yesterday before 9?", "28 00:00", "28 09:00"),
        ("what happened between 10 and 2 yesterday?", "28 10:00", "28 14:00"),
        ("what did we do between 10 and 2 pm yesterday?", "28 10:00", "28 14:00"),
        ("what happened yesterday between noon and 3 pm?", "28 12:00", "28 15:00"),
        ("what happened yesterday at 3 in the afternoon?", "28 14:30", "28 15:30"),
        ("what did I do yesterday evening between 7 and 9?", "28 19:00", "28 21:00"),
        ("what happened last night after 11?", "28 23:00", "29 05:00"),
        ("what did we do last night between 10 pm and 2 am?", "28 22:00", "29 02:00"),
        ("what happened this morning between 7 and 8?", "29 07:00", "29 08:00"),
        ("What did I do between 14:00 and 16:00?", "28 14:00", "28 16:00"),
        ("Was habe ich gestern zwischen 14 und 16 Uhr gemacht?", "28 14:00", "28 16:00"),
        ("was ist gestern nach 16 Uhr passiert?", "28 16:00", "29 00:00"),
        ("was war gestern von 14 bis 16 uhr?", "28 14:00", "28 16:00"),
        ("was habe ich am Dienstag um 15:10 gemacht?", "24 14:40", "24 15:40"),
        ("was geschah gestern Abend zwischen 7 und 9?", "28 19:00", "28 21:00"),
        ("Qu'est-ce que j'ai fait hier entre 14h et 16h ?", "28 14:00", "28 16:00"),
        ("qu'est-ce qui s'est passé hier après 16 h ?", "28 16:00", "29 00:00"),
        ("qu'ai-je fait hier de 14 à 16 heures ?", "28 14:00", "28 16:00"),
        ("¿Qué hice ayer entre las 14 y las 16?", "28 14:00", "28 16:00"),
        ("¿qué hice ayer de dos a cuatro?", "28 14:00", "28 16:00"),
        ("¿qué pasó ayer a las 4 de la tarde?", "28 15:30", "28 16:30"),
        ("昨天14点到16点我做了什么？", "28 14:00", "28 16:00"),
        ("昨天下午两点到四点发生了什么？", "28 14:00", "28 16:00"),
        ("昨日の14時から16時まで何をした？", "28 14:00", "28 16:00"),
    ],
)
def test_hours_narrow_the_day_they_stand_beside(question: str, start: str, end: str) -> None:
    assert stretches(question) == [(start, end)]


@pytest.mark.parametrize(
    "question",
    [
        "what did it cost yesterday between 14 and 16 euros?",
        "who was in room 15 yesterday?",
        "what did I buy yesterday for 15?",
        "what did I read yesterday from page 14 to 16?",
        "did we find 14 to 16 people yesterday?",
        "what did Tom say about bus 15 yesterday?",
        "what did we decide yesterday after 3 attempts?",
        "was it 20.50 or 21.50 yesterday?",
        "was kostete gestern zwischen 14 und 16 Euro?",
        "wer war gestern in Zimmer 15?",
        "combien de personnes hier, entre 14 et 16 ans ?",
        "¿cuántos kilos ayer, entre 14 y 16 kilos?",
        "昨天14到16个人来了吗？",
    ],
)
def test_a_figure_that_counts_or_names_something_is_no_hour(question: str) -> None:
    assert stretches(question) == [("28 00:00", "29 00:00")]


@pytest.mark.parametrize("question", ["which flats cost between 14 and 16?", "what is between 2 and 4?"])
def test_figures_without_a_day_are_no_hours(question: str) -> None:
    asked = asked_time(question, SUNDAY, ZONE)
    assert not asked.ranges
    assert not asked.hours


def test_hours_that_are_asked_of_habits_are_those_of_any_day() -> None:
    asked = asked_time("when do I usually get up between 6 and 8 am?", SUNDAY, ZONE)
    assert not asked.ranges
    assert asked.hours == ((6, 8),)


@pytest.mark.parametrize(
    ("question", "day"),
    [
        ("what happened on 14 November?", ("14 00:00", "15 00:00")),
        ("what happened from 14 to 16 November?", ("14 00:00", "17 00:00")),
        ("what happened between the 14th and the 16th?", ("14 00:00", "17 00:00")),
        ("was war am 15.?", ("15 00:00", "16 00:00")),
    ],
)
def test_days_of_a_month_stay_days(question: str, day: tuple[str, str]) -> None:
    assert stretches(question) == [day]


@pytest.mark.parametrize(
    "question",
    [
        "what did you do yesterday between 14:00 and 16:00?",
        "what did you do yesterday after 4 pm?",
        "was habe ich gestern zwischen 14 und 16 Uhr gemacht?",
    ],
)
def test_hours_are_no_matter_that_a_question_asks_for(question: str) -> None:
    assert asks_what_happened(question, SUNDAY, ZONE)
