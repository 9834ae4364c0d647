"""Time in words: date terms and the time expressions of a query."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from episodic_agent.core.language import tokens
from episodic_agent.core.language.timewords import (
    TimeQuery,
    TimeRange,
    date_terms,
    date_words,
    parse_time,
)

NOW = datetime(2024, 3, 20, 15, 30, tzinfo=UTC)  # a Wednesday
MOMENTS = st.datetimes(datetime(1900, 1, 2), datetime(2199, 12, 30), timezones=st.just(UTC))


def days(query: str, now: datetime = NOW) -> list[tuple[str, str]]:
    ranges = parse_time(query, now).ranges
    return [(part.start.date().isoformat(), part.end.date().isoformat()) for part in ranges]


@pytest.mark.parametrize(
    ("query", "start", "end"),
    [
        ("What happened last May?", "2023-05-01", "2023-06-01"),
        ("two weeks ago", "2024-03-04", "2024-03-11"),
        ("a couple of months ago", "2024-01-01", "2024-02-01"),
        ("yesterday", "2024-03-19", "2024-03-20"),
        ("the day before yesterday", "2024-03-18", "2024-03-19"),
        ("in March 2024", "2024-03-01", "2024-04-01"),
        ("on March 15, 2024", "2024-03-15", "2024-03-16"),
        ("on 15 March 2024", "2024-03-15", "2024-03-16"),
        ("the 15th of March", "2024-03-15", "2024-03-16"),
        ("on 3/15/2024", "2024-03-15", "2024-03-16"),
        ("am 15.3.2024", "2024-03-15", "2024-03-16"),
        ("2024-03-15", "2024-03-15", "2024-03-16"),
        ("on March 25", "2023-03-25", "2023-03-26"),
        ("in May", "2023-05-01", "2023-06-01"),
        ("last Friday", "2024-03-15", "2024-03-16"),
        ("last Wednesday", "2024-03-13", "2024-03-14"),
        ("next Friday", "2024-03-22", "2024-03-23"),
        ("next week", "2024-03-25", "2024-04-01"),
        ("last weekend", "2024-03-16", "2024-03-18"),
        ("last summer", "2023-06-01", "2023-09-01"),
        ("in 2023", "2023-01-01", "2024-01-01"),
        ("over the last 10 days", "2024-03-10", "2024-03-20"),
        ("the first week of March", "2024-03-01", "2024-03-08"),
        ("early March 2023", "2023-03-01", "2023-03-11"),
        ("between March 3 and March 9", "2024-03-03", "2024-03-10"),
        ("from 2024-01-02 to 2024-01-05", "2024-01-02", "2024-01-06"),
        ("since January", "2024-01-01", "2024-03-20"),
        ("after March 3", "2024-03-04", "2024-03-20"),
        ("before March 3", "0001-01-02", "2024-03-03"),
        ("2024年4月1日", "2024-04-01", "2024-04-02"),
        ("2025年1月，他说了什么？", "2025-01-01", "2025-02-01"),
        ("8月12日", "2023-08-12", "2023-08-13"),
        ("去年8月", "2023-08-01", "2023-09-01"),
        ("上周三", "2024-03-13", "2024-03-14"),
        ("上周", "2024-03-11", "2024-03-18"),
        ("上个月", "2024-02-01", "2024-03-01"),
        ("昨天", "2024-03-19", "2024-03-20"),
        ("三天前", "2024-03-17", "2024-03-18"),
        ("十二天前", "2024-03-08", "2024-03-09"),
        ("gestern", "2024-03-19", "2024-03-20"),
        ("vor 3 Tagen", "2024-03-17", "2024-03-18"),
        ("hace 2 semanas", "2024-03-04", "2024-03-11"),
        ("la semaine dernière", "2024-03-11", "2024-03-18"),
        ("2 недели назад", "2024-03-04", "2024-03-11"),
        ("im Mai 2023", "2023-05-01", "2023-06-01"),
    ],
)
def test_a_time_expression_names_its_stretch(query: str, start: str, end: str) -> None:
    assert days(query) == [(start, end)]


@pytest.mark.parametrize(
    "query",
    [
        "What may happen?",
        "march on",
        "call 555 2024",
        "Where did Kate go?",
        "",
        "the second question",
        "30 times",
    ],
)
def test_other_words_are_not_time(query: str) -> None:
    assert not parse_time(query, NOW)


@pytest.mark.parametrize(
    "query", ["9999999 years ago", "on February 31, 2023 0:0", "year 0000-00-00", "99月99日"]
)
def test_impossible_dates_are_left_out_without_an_error(query: str) -> None:
    assert all(part.start < part.end for part in parse_time(query, NOW).ranges)


def test_two_dates_side_by_side_are_two_ranges() -> None:
    assert days("in May 2023 and June 2023") == [("2023-05-01", "2023-06-01"), ("2023-06-01", "2023-07-01")]


@pytest.mark.parametrize(
    ("query", "hours", "weekdays"),
    [
        ("where do I go in the mornings?", ((5, 12),), ()),
        ("at 9:30 am", ((9.0, 10.0),), ()),
        ("around 3pm", ((14.5, 15.5),), ()),
        ("at 21:30 on Mondays", ((21.0, 22.0),), (0,)),
        ("on weekends", (), (5, 6)),
        ("周末晚上", ((17, 24),), (5, 6)),
        ("12 apples", (), ()),
    ],
)
def test_times_of_day_and_weekdays_recur(
    query: str, hours: tuple[tuple[float, float], ...], weekdays: tuple[int, ...]
) -> None:
    matching_query = parse_time(query, NOW)
    assert (matching_query.hours, matching_query.weekdays, matching_query.ranges) == (hours, weekdays, ())


@pytest.mark.parametrize(
    ("query", "asks"),
    [
        ("When did Kate go?", "when"),
        ("How long did it take?", "duration"),
        ("How many days passed between the two?", "duration"),
        ("In which order did I raise them?", "order"),
        ("风俗之旅的持续时间是什么？", "duration"),
        ("他什么时候去的？", "when"),
        ("Who went?", ""),
    ],
)
def test_a_question_for_a_time_is_recognised(query: str, asks: str) -> None:
    assert parse_time(query, NOW).asks == asks


def test_days_begin_at_local_midnight() -> None:
    late = datetime(2024, 3, 20, 22, 30, tzinfo=UTC)
    (local,) = parse_time("today", late, timedelta(hours=8)).ranges
    assert local == TimeRange(
        datetime(2024, 3, 20, 16, tzinfo=UTC), datetime(2024, 3, 21, 16, tzinfo=UTC), "day"
    )


@pytest.mark.parametrize("query", ["on May 8, 2023", "in May 2023", "in 2023", "last spring", "2023年5月8日"])
def test_a_query_shares_a_term_with_a_day_inside_its_range(query: str) -> None:
    indexed = date_words(datetime(2023, 5, 8, 13, tzinfo=UTC))
    assert set(date_terms(parse_time(query, NOW))) & set(indexed)


def test_a_month_in_words_meets_the_indexed_month() -> None:
    indexed = date_words(datetime(2025, 11, 3, tzinfo=UTC))
    assert {"2025", "novemb"} <= set(tokens("in November 2025")) & set(indexed)


def test_open_ranges_have_no_terms() -> None:
    assert date_terms(parse_time("since January", NOW)) == []


@given(MOMENTS)
def test_the_day_of_any_moment_is_found_again(at: datetime) -> None:
    (matching_range,) = parse_time(f"on {at.year}-{at.month:02}-{at.day:02}", NOW).ranges
    assert matching_range.start <= at < matching_range.end
    assert date_terms(TimeQuery((matching_range,))) == [at.date().isoformat()]
    assert at.date().isoformat() in date_words(at)


@given(st.text(max_size=60), MOMENTS)
def test_any_text_gives_ordered_aware_ranges(text: str, now: datetime) -> None:
    for part in parse_time(text, now).ranges:
        assert part.start < part.end
        assert part.start.tzinfo is not None


JUMBLE = (
    "last next two 3 weeks ago in May 2023 march 15 31 on from to between monday 上周 昨天 年 9999 years "
    "前 12月 since before summer the first week of 99999999 days"
)
WORDS = st.lists(st.sampled_from(JUMBLE.split()), max_size=8).map(" ".join)


@given(WORDS, MOMENTS)
def test_any_jumble_of_time_words_is_read_without_an_error(text: str, now: datetime) -> None:
    query = parse_time(text, now, timedelta(hours=-11))
    assert all(part.start < part.end for part in query.ranges)
    assert len(date_terms(query)) <= 40 * max(len(query.ranges), 1)


@pytest.mark.parametrize(
    ("query", "start", "days"),
    [
        ("上礼拜干嘛了？", "2024-03-11", 7),
        ("上礼拜五做了什么？", "2024-03-15", 1),
        ("下下礼拜有什么事？", "2024-04-01", 7),
        ("下个月有什么安排？", "2024-04-01", 30),
        ("下个月10号有什么事？", "2024-04-10", 1),
        ("上个月3号做了什么？", "2024-02-03", 1),
        ("两个礼拜前", "2024-03-04", 7),
    ],
)
def test_chinese_weeks_and_days_of_other_months_are_read(query: str, start: str, days: int) -> None:
    (stretch,) = parse_time(query, datetime(2024, 3, 20, 12, tzinfo=UTC)).ranges
    assert stretch.start.date().isoformat() == start
    assert (stretch.end - stretch.start).days == days
