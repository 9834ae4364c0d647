"""Days that come again, as texts name them, and what later texts make of them."""

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from episodic_agent.core.language.recurring import Recurrence, changed_days, recurring_days
from episodic_agent.core.language.timewords import normal
from episodic_agent.core.recall import due
from episodic_agent.core.recall.due import STANDS, marks, schedule_of, stands

MONDAY = date(2026, 3, 2)


def days_of(text: str, weeks: int = 6, today: date = MONDAY) -> list[str]:
    """Return the days of some weeks on which a text says something takes place, as month and day."""
    named = recurring_days(normal(text), today)
    days = [today + timedelta(days=n) for n in range(7 * weeks)]
    return [f"{day:%m-%d}" for day in days if any(one.falls_on(day) for one in named)]


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("football with Tom is every Wednesday at 6", ["03-04", "03-11"]),
        ("physio Tuesdays and Thursdays at 8", ["03-03", "03-05", "03-10", "03-12"]),
        ("standup is 9:15 Mon-Fri", [f"03-{n:02}" for n in (2, 3, 4, 5, 6, 9, 10, 11, 12, 13)]),
        ("yoga tue + thu 7pm", ["03-03", "03-05", "03-10", "03-12"]),
        ("soccer practice M/W 5:30", ["03-02", "03-04", "03-09", "03-11"]),
        ("montags habe ich Chor", ["03-02", "03-09"]),
        ("Pflegedienst kommt Mo/Mi/Fr gegen 7", ["03-02", "03-04", "03-06", "03-09", "03-11", "03-13"]),
        ("los lunes llega la verdura", ["03-02", "03-09"]),
        ("danse tous les jeudis à 20h", ["03-05", "03-12"]),
        ("le mardi c'est les poubelles", ["03-03", "03-10"]),
        ("ho piscina il martedì e il giovedì alle 19", ["03-03", "03-05", "03-10", "03-12"]),
        ("每周三晚上六点跟小王踢球", ["03-04", "03-11"]),
        ("a pill every morning at 8, except Sundays", [f"03-{n:02}" for n in (*range(2, 8), *range(9, 15))]),
    ],
)
def test_weeks_days_are_read_in_many_words(text: str, days: list[str]) -> None:
    assert days_of(text, weeks=2) == days


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("repair café is the first Saturday of the month", ["03-07", "04-04"]),
        ("jeden dritten Dienstag im Monat Kochgruppe", ["03-17"]),
        ("每个月最后一个周五部门聚餐", ["03-27"]),
        ("rent goes out on the 5th of each month", ["03-05", "04-05"]),
        ("I get paid on the 25th", ["03-25"]),
        ("choir every other Thursday, first one is this week", ["03-05", "03-19", "04-02"]),
        ("alle 14 Tage donnerstags Übung, am 12. März gehts los", ["03-12", "03-26", "04-09"]),
        ("the window cleaner comes every three weeks, he was here today", ["03-02", "03-23"]),
        ("kiné le mardi à 8h30 jusqu'à fin mars", ["03-03", "03-10", "03-17", "03-24", "03-31"]),
    ],
)
def test_months_and_alternate_weeks(text: str, days: list[str]) -> None:
    assert days_of(text) == days


def test_a_birthday_comes_each_year_and_its_party_once() -> None:
    today, next_year = date(2026, 4, 1), date(2027, 5, 3)
    [birthday] = recurring_days("dad's birthday is may 3rd", today)
    assert birthday.falls_on(next_year)
    assert not recurring_days("ella has a birthday party on may 3rd", today)


@pytest.mark.parametrize(
    "text",
    [
        "every Monday I swear I'll start running, lol",
        "we used to have fish on Fridays",
        "my ex had choir every Friday",
        "last Wednesday football was awful",
        "dentist on Thursday at 9",
        "el viernes 20 de marzo dermatólogo",
        "some Mondays she doesn't even know what day it is",
        "früher war donnerstags bei uns Spieleabend",
    ],
)
def test_what_only_looks_like_a_habit_names_no_days(text: str) -> None:
    assert not recurring_days(normal(text), MONDAY)


@pytest.mark.parametrize(
    ("text", "ends", "left", "days"),
    [
        ("no choir any more, they stopped", True, [], []),
        ("bin beim Chor ausgetreten", True, [], []),
        ("thursday yoga's been axed, tuesday stays", True, [3], []),
        ("ballet moved from Tuesday to Thursday, same time", False, [1], [3]),
        ("Ballett ist jetzt donnerstags statt dienstags", False, [1], [3]),
        ("piano used to be Mondays, now Tuesdays", False, [0], [1]),
        ("la guitarra me la pasan a los jueves", False, [], [3]),
        ("la piscina del giovedì è passata al venerdì", False, [3], [4]),
    ],
)
def test_what_ends_or_moves_a_habit(text: str, ends: bool, left: list[int], days: list[int]) -> None:
    changed = changed_days(normal(text), MONDAY)
    assert changed is not None
    assert changed.ends is ends
    assert sorted(changed.left) == left
    assert sorted(day for one in changed.days for day in one.weekdays) == days


@pytest.mark.parametrize("text", ["no football this Wednesday", "the dentist is on Thursday", "what a week"])
def test_what_is_of_one_day_changes_no_habit(text: str) -> None:
    assert changed_days(normal(text), MONDAY) is None


def test_a_judge_tells_a_habit_from_mere_talk_of_one() -> None:
    assert (
        stands("I have physio every Tuesday at 8") > STANDS > stands("every Tuesday is such a drag, honestly")
    )


def test_a_message_is_marked_by_the_days_it_names() -> None:
    at = datetime(2026, 3, 2, tzinfo=UTC)
    assert marks("bins every Monday, mum's birthday is 3 May", at) >= {"§0"}
    assert marks("unser Hochzeitstag ist der 18. Juli", at) == {"§7-18"}
    assert marks("what's a good name for a cat?", at) == frozenset()


@given(
    st.dates(date(2020, 1, 1), date(2030, 1, 1)),
    st.sets(st.integers(0, 6), min_size=1),
    st.integers(1, 6),
    st.integers(0, 200),
)
def test_of_every_so_many_weeks_one_has_the_days(
    anchor: date, weekdays: set[int], weeks: int, later: int
) -> None:
    one = Recurrence(0, 0, anchor, frozenset(weekdays), weeks, anchor=anchor)
    monday = anchor + timedelta(days=7 * (later + 1) - anchor.weekday())
    span = [monday + timedelta(days=n) for n in range(7 * weeks)]
    assert sum(map(one.falls_on, span)) == len(weekdays)
    assert not one.falls_on(anchor - timedelta(days=1))


def test_of_two_matters_only_words_that_begin_alike_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[tuple[str, str]] = []
    akin = due._akin

    def noted(word: str, other: str) -> bool:
        compared.append((word, other))
        return akin(word, other)

    monkeypatch.setattr(due, "_akin", noted)
    at = datetime(2026, 3, 2, tzinfo=UTC)
    weekly, moved, other = (
        schedule_of(text, at, MONDAY)
        for text in (
            "physiotherapy with Jonas is every Wednesday at 6",
            "the physiotherapist is at the seaside now",
            "orchestra rehearsals moved to the town hall",
        )
    )
    assert due._same(moved, weekly, frozenset())
    assert not due._same(other, weekly, frozenset())
    assert {word[:6] == beside[:6] for word, beside in compared if word[:4] == beside[:4]} == {True}
    assert len(compared) <= len(weekly.terms)
