"""Who asks what changed, what they did or how their week was asks for that time alone, in nine languages."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta

import pytest

from episodic_agent.core.recall.query import Query, analyse, looking_ahead

NOW = datetime(2026, 4, 5, 18, tzinfo=UTC)  # a Sunday
WEEK, THURSDAY, TODAY = (date(2026, 3, 30), 7), (date(2026, 4, 2), 1), (date(2026, 4, 5), 1)
ALONE = {
    WEEK: (
        "what changed this week?", "what has changed this week?", "what was different this week?", "sum up my week",
        "can you recap my week?", "give me a summary of the week", "how was my week?", "how did the week go?",
        "what was my week like?", "tell me about my week", "what did I do this week?", "what have we done this week?",
        "what did I get done this week?", "Wie war meine Woche?", "Wie lief die Woche?", "Was habe ich diese Woche gemacht?",
        "Was hat sich diese Woche geändert?", "Fass meine Woche zusammen", "¿Cómo fue mi semana?",
        "¿Qué he hecho esta semana?", "¿Qué ha cambiado esta semana?", "Resume mi semana",
        "Comment s'est passée ma semaine ?", "Qu'est-ce que j'ai fait cette semaine ?",
        "Qu'est-ce qui a changé cette semaine ?", "Résume ma semaine", "Com'è andata la mia settimana?",
        "Cosa ho fatto questa settimana?", "Cosa è cambiato questa settimana?", "Riassumi la mia settimana",
        "Como foi a minha semana?", "O que eu fiz esta semana?", "O que mudou esta semana?", "Resume a minha semana",
        "Hoe was mijn week?", "Wat heb ik deze week gedaan?", "Wat is er deze week veranderd?", "Vat mijn week samen",
        "Как прошла моя неделя?", "Что я делала на этой неделе?", "Что изменилось на этой неделе?",
        "Подведи итоги недели", "我这周过得怎么样？", "我这周做了什么？", "这周有什么变化？", "总结一下我这周",
    ),
    THURSDAY: (
        "what did I do on Thursday?", "how was Thursday?", "Was habe ich am Donnerstag gemacht?", "¿Qué hice el jueves?",
        "Qu'ai-je fait jeudi ?", "Cosa ho fatto giovedì?", "O que fiz na quinta-feira?", "Wat heb ik donderdag gedaan?",
        "Что я делал в четверг?", "我星期四做了什么？",
    ),
    TODAY: ("how was my day?", "what changed today?", "Wie war mein Tag?", "Hoe was mijn dag?"),
}  # fmt: skip
FOR_MORE = (
    "what changed in the contract this week?", "what did I still have to do this week?", "how long was I there this week?",
    "how much was it this week?", "what did I eat on Thursday?", "what did I want to do this week?",
    "what should I do this week?", "plan my week", "what does my week look like?", "how did I do that yesterday?",
    "how was the week after the move?", "who changed this week?", "Was muss ich diese Woche noch machen?",
    "Wie viel habe ich diese Woche verdient?", "¿Qué tengo que hacer esta semana?", "我这周该做什么？",
)  # fmt: skip


def read(question: str, now: datetime = NOW) -> Query:
    return looking_ahead(analyse(question, [], now), now, None)


@pytest.mark.parametrize(
    ("question", "stretch"), [(question, stretch) for stretch, some in ALONE.items() for question in some]
)
def test_who_asks_how_a_time_was_asks_for_that_time_alone(question: str, stretch: tuple[date, int]) -> None:
    query = read(question)
    first, days = stretch
    assert query.said_alone or query.happened_alone
    assert query.ahead is None
    (part,) = query.time.ranges
    assert (part.start.date(), part.end.date()) == (first, first + timedelta(days=days))


@pytest.mark.parametrize("question", FOR_MORE)
def test_who_asks_for_more_or_of_what_comes_does_not(question: str) -> None:
    query = read(question)
    assert not query.said_alone
    assert not query.happened_alone


def test_what_is_still_new_is_not_what_is_still_to_be_done() -> None:
    assert read("Was gibt es noch Neues seit gestern?").happened_alone
    assert not read("Was habe ich diese Woche noch zu tun?").happened_alone


def test_on_its_first_day_the_week_before_is_meant() -> None:
    monday = datetime(2026, 4, 6, 9, tzinfo=UTC)
    (part,) = read("how was my week?", monday).time.ranges
    assert part.start.date() == date(2026, 3, 30)
    assert read("what does my week look like?", monday).time.ranges == ()


def test_the_day_of_what_changed_may_be_to_come() -> None:
    for question in ("has the meeting on Friday changed?", "Hat sich der Termin am Freitag geändert?"):
        assert [day.isoformat() for day in days_of(question)] == ["2026-04-10"]


def days_of(question: str) -> Sequence[date]:
    ahead = read(question).ahead
    return () if ahead is None else ahead.days
