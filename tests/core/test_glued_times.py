"""Korean and Turkish questions and messages name the days that their words mean, and no others.

The cases of `tests/data/glued_times.tsv` were written before the rules, as seen on the morning of Wednesday 25
November 2026; of each language the rules were tuned on the first half alone. Kinds are `past`, `ahead` and
`span` (questions), `none` (a question without a day), `msg` and `mnone` (what a message says is due).
"""

from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from episodic_agent.core.language.glued import language_of
from episodic_agent.core.language.timewords import TimeRange, normal
from episodic_agent.core.recall.due import DaysAsked, due
from episodic_agent.core.recall.query import Query, analyse, looking_ahead

NOW = datetime(2026, 11, 25, 9, tzinfo=UTC)
DAY = timedelta(days=1)
LINES = (Path(__file__).parent.parent / "data" / "glued_times.tsv").read_text(encoding="utf-8").splitlines()
CASES = [line.split("\t") for line in LINES]


def days_of(written: str) -> set[date]:
    spans = [one.partition("..")[::2] for one in written.split() if one != "-"]
    dated = [
        [date.fromisoformat(one if len(one) > 6 else f"2026-{one}") for one in span if one] for span in spans
    ]
    return {first + n * DAY for first, *last in dated for n in range(((last or [first])[0] - first).days + 1)}


def of_kind(*kinds: str) -> list[tuple[str, set[date]]]:
    return [(text, days_of(days)) for _, kind, text, days in CASES if kind in kinds]


def asked(question: str) -> Query:
    return looking_ahead(analyse(question, ["user", "assistant"], NOW), NOW, None)


def named(ranges: Iterable[TimeRange]) -> set[date]:
    """Return the days of some stretches; a night belongs to the evening that it follows."""
    ends = [(one.start.date(), (one.end - timedelta(hours=5, microseconds=1)).date()) for one in ranges]
    return {first + n * DAY for first, last in ends for n in range((last - first).days + 1)}


@pytest.mark.parametrize(("question", "days"), of_kind("past"))
def test_a_question_for_what_is_over_means_its_days(question: str, days: set[date]) -> None:
    query = asked(question)
    assert named(query.time.ranges) == days
    assert query.ahead is None


@pytest.mark.parametrize(("question", "days"), of_kind("ahead"))
def test_a_question_for_what_comes_means_its_days(question: str, days: set[date]) -> None:
    query = asked(question)
    assert query.ahead is not None
    assert set(query.ahead.days) == days


@pytest.mark.parametrize(("question", "days"), of_kind("span", "none"))
def test_a_month_is_read_and_what_only_looks_like_a_time_is_not(question: str, days: set[date]) -> None:
    query = asked(question)
    assert named(query.time.ranges) == days
    # "what is planned next month?" asks for what is due on its days, too
    assert query.ahead is None or set(query.ahead.days) == days


@pytest.mark.parametrize(("message", "days"), of_kind("msg", "mnone"))
def test_a_message_is_due_on_the_days_it_names_alone(message: str, days: set[date]) -> None:
    near = [NOW.date() + n * DAY for n in range(60)]
    assert {day for day in near if due(message, NOW, None, DaysAsked([day], True))} == days


def test_other_languages_are_none_of_the_two() -> None:
    for text in (
        "Visited the mart once and had a var to fix", "il ne l'a pas bu", "da mi fa male", "w sali 12 o 18:00",
        "Я вчера был дома", "昨天我去了上海", "明日は歯医者です", "No me fío de mi jefe",
    ):  # fmt: skip
        assert not language_of(text.lower())
        assert "周" not in normal(text)
