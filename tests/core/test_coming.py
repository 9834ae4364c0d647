"""Days to come that texts name, those told of as over, and questions that ask what is due."""

from datetime import UTC, date, datetime, timedelta

import pytest

from episodic_agent.core.language import tokens
from episodic_agent.core.language.coming import named_days
from episodic_agent.core.language.timewords import normal
from episodic_agent.core.recall.due import DaysAsked, days_asked, due, near_terms

SAID = datetime(2024, 3, 18, 9, tzinfo=UTC)  # a Monday


def named(text: str) -> list[tuple[str, str]]:
    return [(f"{day.first:%m-%d}", f"{day.last:%m-%d}") for day in named_days(normal(text), SAID.date())]


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("dentist Thursday 3pm", "03-21"),
        ("Steve's sending another board on the 26th", "03-26"),
        ("rent is due by the 3rd", "04-03"),
        ("inspector comes 3/26", "03-26"),
        ("the train gets in friday 29th", "03-29"),
        ("see you the day after tomorrow", "03-20"),
        ("the Friday after lunch", "03-22"),
        ("party a week on Saturday", "03-30"),
        ("Saturday week", "03-30"),
        ("Friday next week we fly", "03-29"),
        ("the flight is on 5 March", "03-05"),  # of the next year
        ("Zahnarzt am 26.3. um 9", "03-26"),
        ("der Ableser kommt am 26.", "03-26"),
        ("Übermorgen in einer Woche kommt Techem", "03-27"),
        ("nächste Woche Freitag Studientag", "03-29"),
        ("el 26 tengo la ITV", "03-26"),
        ("mañana dentista", "03-19"),
        ("essayage le 26", "03-26"),
        ("il 26 rogito dal notaio", "03-26"),
        ("sexta da semana que vem", "03-29"),
        ("zaterdag over een week verjaardag", "03-30"),
        ("в четверг 28 стрижка", "03-28"),
        ("26号体检", "03-26"),
        ("周五下午开会", "03-22"),
        ("下周三毕业典礼", "03-27"),
    ],
)
def test_a_day_is_read_as_the_next_one(text: str, day: str) -> None:
    assert named(text) == [(day, day)]


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("cottage is ours the 25th to the 1st", [("03-25", "04-01")]),
        ("away Tuesday to Thursday", [("03-19", "03-21")]),
        ("course on the 18th and 19th June", [("06-18", "06-18"), ("06-19", "06-19")]),
        ("at the weekend", [("03-23", "03-24")]),
        ("in two weeks", [("03-31", "04-02")]),
        ("next Friday", [("03-22", "03-22"), ("03-29", "03-29")]),  # some mean the one, some the other
    ],
)
def test_stretches_and_several_days(text: str, days: list[tuple[str, str]]) -> None:
    assert named(text) == days


@pytest.mark.parametrize(
    "text",
    [
        "26 quid plus postage", "the 3rd attempt failed", "his 40th was fun", "is 3/4 ply ok", "open 24/7",
        "last Friday was long", "letzten Donnerstag", "so do I", "yoga on Mondays", "Guten Morgen",
        "2 hijos y 20 euros", "18块水费", "上周五开会",
    ],
)  # fmt: skip
def test_what_looks_like_a_day_to_come_is_none(text: str) -> None:
    assert named(text) == []


@pytest.mark.parametrize(
    ("text", "is_due"),
    [
        ("the movers come on Friday", True),
        ("I said I'd call Mum on Friday", True),
        ("the plumber is booked for Friday", True),
        ("dentist moved to Friday", True),
        ("dentist moved from Friday to the 30th", False),
        ("we went to the zoo on Friday", False),
        ("On Friday, we went to the zoo", False),
        ("anything on Friday?", False),
        ("can you remind me to pay the rent on Friday?", True),
        ("am Freitag habe ich Oma gesehen", False),
        ("am Freitag habe ich Training", True),
        ("周五去了医院", False),
        ("周五要去医院", True),
    ],
)
def test_what_is_over_moved_away_or_only_asked_is_not_due(text: str, *, is_due: bool) -> None:
    assert due(text, SAID, None, DaysAsked([date(2024, 3, 22)], True)) == is_due


def test_tomorrow_is_that_of_whoever_said_it() -> None:
    at = datetime(2024, 3, 18, 22, tzinfo=UTC)  # the 19th in Tokyo
    asked = DaysAsked([date(2024, 3, 20)], True)
    assert due("dentist tomorrow", at, timedelta(hours=9), asked)
    assert not due("dentist tomorrow", at, timedelta(), asked)


@pytest.mark.parametrize(
    ("question", "days", "alone"),
    [
        ("Morning. What's on today", ["03-18"], True),
        ("Was steht heute an?", ["03-18"], True),
        ("anything on Friday?", ["03-22"], True),
        ("what have I got at the weekend", ["03-23", "03-24"], True),
        ("and tomorrow?", ["03-19"], True),
        ("how does tomorrow look?", ["03-19"], True),
        ("wie sieht es morgen aus?", ["03-19"], True),
        ("Hab ich am Wochenende was vor", ["03-23", "03-24"], True),
        ("qu'est-ce que j'ai demain ?", ["03-19"], True),
        ("¿qué tengo el viernes?", ["03-22"], True),
        ("что у меня завтра?", ["03-19"], True),
        ("明天有什么安排", ["03-19"], True),
        ("when on Friday does the plumber come?", ["03-22"], False),
        ("when do we have to go tomorrow?", ["03-19"], False),
    ],
)
def test_a_question_may_ask_for_days_to_come(question: str, days: list[str], *, alone: bool) -> None:
    asked = days_asked(question, SAID)
    assert asked is not None
    assert ([f"{day:%m-%d}" for day in asked.days], asked.alone) == (days, alone)


@pytest.mark.parametrize(
    "question",
    [
        "what've i actually got on this week?", "whats my week looking like?", "how's my week shaping up", "run me through my week",
        "wie sieht meine woche aus?", "was hab ich diese woche eigentlich vor?", "ça donne quoi ma semaine ?",
        "¿cómo pinta mi semana?", "com'è messa la mia settimana?", "como está a minha semana?", "hoe ziet mijn week eruit?",
    ],
)  # fmt: skip
def test_a_week_is_asked_about_in_many_ways(question: str) -> None:
    asked = days_asked(question, SAID)
    assert asked is not None
    assert (f"{asked.days[0]:%m-%d}", len(asked.days), asked.alone) == ("03-18", 7, True)


@pytest.mark.parametrize(
    "question",
    [
        "what's on in april?", "anything happening in april?", "steht im april was an?", "¿qué planes tengo para abril?",
        "quel est mon programme d'avril ?", "cosa c'è in programma ad aprile?",
    ],
)  # fmt: skip
def test_a_month_to_come_is_asked_about_where_nothing_else_is(question: str) -> None:
    asked = days_asked(question, SAID)
    assert asked is not None
    assert (f"{asked.days[0]:%m-%d}", len(asked.days), asked.alone) == ("04-01", 30, True)
    assert days_asked("what do we pay in april?", SAID) is None


def test_how_much_something_changed_in_a_month_is_due_on_no_day() -> None:
    april = DaysAsked([date(2024, 4, day) for day in range(1, 31)], alone=True)
    assert not due("the savings are down 350 in a month", SAID, None, april)
    assert due("the rent goes up in a month", SAID, None, april)


@pytest.mark.parametrize(
    "question",
    [
        "what is on next weekend?", "what is on the coming weekend?", "was steht nächstes Wochenende an?",
        "¿qué hay el próximo fin de semana?", "qu'est-ce qui est prévu le week-end prochain ?",
        "cosa c'è il prossimo weekend?", "o que há no próximo fim de semana?",
        "wat staat er volgend weekend op het programma?", "что у меня на следующих выходных?", "下周末有什么安排？",
    ],
)  # fmt: skip
def test_on_a_weekend_the_next_one_is_that_of_the_week_to_come(question: str) -> None:
    for day in (23, 24):
        asked = days_asked(question, SAID.replace(day=day))
        assert asked is not None
        assert [f"{one:%m-%d}" for one in asked.days] == ["03-30", "03-31"]


@pytest.mark.parametrize(
    "question",
    [
        "What did I do on Friday?", "what happened today?", "Was war am Freitag los?", "where do I walk?",
        "The movers come on Friday", "hab freitag Zahnarzt um acht", "anything on March 3?", "how was my week?", "what is on in October?",
        "do we have yoga on Mondays?", "昨天我说了什么？",
    ],
)  # fmt: skip
def test_a_question_for_what_is_over_or_for_no_day_asks_for_none(question: str) -> None:
    assert days_asked(question, SAID) is None


@pytest.mark.parametrize(
    "form", ["{0.day}.{0.month}.", "{0:%d.%m.}", "{0.day}.{0.month}. 11:25", "{0.day}/{0.month}"]
)
def test_a_date_in_figures_is_looked_up_by_a_term_of_it(form: str) -> None:
    for n in range(366):
        day = date(2024, 1, 1) + timedelta(days=n)
        terms = near_terms(DaysAsked([day], alone=True))
        assert not set(tokens(f"the flight is {form.format(day)} from Hamburg")).isdisjoint(terms), day
