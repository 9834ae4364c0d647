"""Parts of a day in a question: which hours of which day are meant, and what only looks like one."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from episodic_agent.core.language.dayparts import PartsRead, any_day, read_parts
from episodic_agent.core.language.timewords import parse_time

ZONE = timedelta(hours=2)
EVENING = datetime(2026, 6, 10, 20, 15, tzinfo=UTC)  # a Wednesday, as the asker's clock shows it
MORNING = EVENING.replace(hour=9)
SMALL_HOURS = EVENING.replace(hour=1)


def stretches(query: str, local: datetime = EVENING) -> list[tuple[str, str]]:
    """Read a query at a local time, and return its stretches as that clock shows them, without the year."""
    ranges = parse_time(query, local - ZONE, ZONE).ranges
    return [
        ((part.start + ZONE).strftime("%m-%d %H:%M"), (part.end + ZONE).strftime("%m-%d %H:%M"))
        for part in ranges
    ]


@pytest.mark.parametrize(
    ("query", "start", "end"),
    [
        ("what did I say this morning?", "06-10 05:00", "06-10 12:00"),
        ("who wrote this afternoon", "06-10 12:00", "06-10 18:00"),
        ("what did I eat tonight", "06-10 17:00", "06-11 05:00"),
        ("what did I say yesterday evening?", "06-09 17:00", "06-09 23:00"),
        ("in the morning yesterday, who called", "06-09 05:00", "06-09 12:00"),
        ("yesterday's lunchtime talk", "06-09 11:00", "06-09 14:00"),
        ("where did I park at noon yesterday", "06-09 11:00", "06-09 14:00"),
        ("what did Ben say before lunch yesterday?", "06-09 05:00", "06-09 12:30"),
        ("what did we agree on after lunch yesterday", "06-09 12:30", "06-09 17:00"),
        ("what did she tell me after lunch", "06-10 12:30", "06-10 17:00"),
        ("what did I write on Tuesday evening?", "06-09 17:00", "06-09 23:00"),
        ("what happened Monday night", "06-08 18:00", "06-09 05:00"),
        ("what was it last night", "06-09 18:00", "06-10 05:00"),
        ("late last night", "06-09 23:30", "06-10 06:00"),
        ("early on Tuesday morning", "06-09 04:00", "06-09 08:30"),
        ("the evening before last", "06-08 17:00", "06-08 23:00"),
        ("on the morning of June 3rd", "06-03 05:00", "06-03 12:00"),
        ("two days ago in the evening", "06-08 17:00", "06-08 23:00"),
        ("what did we say over dinner last night?", "06-09 18:00", "06-10 05:00"),
        ("since yesterday evening", "06-09 17:00", "06-10 20:15"),
        ("from yesterday morning to this afternoon", "06-09 05:00", "06-10 18:00"),
        ("what did I say earlier today", "06-10 05:00", "06-10 20:15"),
        ("an hour ago", "06-10 18:45", "06-10 19:45"),
        ("half an hour ago", "06-10 19:30", "06-10 20:00"),
        ("in the last two hours", "06-10 18:15", "06-10 20:15"),
        ("was wollte Jana heute Nachmittag?", "06-10 12:00", "06-10 18:00"),
        ("was habe ich heute früh gesagt", "06-10 05:00", "06-10 11:00"),
        ("gestern abend, wer war da", "06-09 17:00", "06-09 23:00"),
        ("wen traf ich am Dienstagabend?", "06-09 17:00", "06-09 23:00"),
        ("am Dienstag Vormittag", "06-09 06:00", "06-09 12:00"),
        ("was steht morgen früh an?", "06-11 05:00", "06-11 11:00"),
        ("vor zwei Stunden", "06-10 17:45", "06-10 18:45"),
        ("今天下午开会决定了什么", "06-10 12:00", "06-10 18:00"),
        ("昨天晚上我说了什么", "06-09 17:00", "06-10 00:00"),
        ("昨晚吃了什么", "06-09 17:00", "06-10 05:00"),
        ("周二晚上", "06-09 17:00", "06-10 00:00"),
        ("上周五下午的会议", "06-05 12:00", "06-05 18:00"),
        ("6月9日周二早上", "06-09 05:00", "06-09 10:00"),
        ("qu'est-ce que j'ai dit hier soir ?", "06-09 17:00", "06-09 23:00"),
        ("¿qué dije ayer por la tarde?", "06-09 12:00", "06-09 20:00"),
        ("che cosa ha detto stamattina", "06-10 05:00", "06-10 12:00"),
        ("o que eu disse ontem à noite?", "06-09 18:00", "06-10 05:00"),
        ("wat zei ik gisteravond?", "06-09 17:00", "06-09 23:00"),
        ("что я говорил вчера вечером?", "06-09 17:00", "06-09 23:00"),
    ],
)
def test_a_part_of_a_day_narrows_it(query: str, start: str, end: str) -> None:
    assert stretches(query) == [(start, end)]
    assert parse_time(query, EVENING - ZONE, ZONE).hours == ()


@pytest.mark.parametrize(
    "query",
    [
        "how do I feel about the night shift?",
        "what helps against morning sickness",
        "After Lunch the band, which album did I like",
        "good morning, what is on my list",
        "have a nice evening, what is the gate code",
        "afternoon tea recipe with scones",
        "where did I buy my evening dress",
        "who sings Saturday Night Fever",
        "what is the password of the Midnight Cafe",
        "the knight of the nightclub",
        "was gibt es zum Abendbrot",
        "wann ist die Montagsdemo",
        "Guten Abend, wie heißt mein Hausarzt",
        "wer macht die Nachtschicht",
        "早上好，我的清单上有什么",
        "下午茶的配方是什么",
        "buenas tardes, ¿cuál es la clave del wifi?",
    ],
)
def test_a_word_that_only_looks_like_a_part_of_a_day_names_no_time(query: str) -> None:
    assert not parse_time(query, EVENING)


@pytest.mark.parametrize(
    "query", ["what did I say yesterday about the night shift", "did Rob mention the evening class yesterday"]
)
def test_a_day_beside_such_a_word_stays_whole(query: str) -> None:
    assert stretches(query) == [("06-09 00:00", "06-10 00:00")]
    assert parse_time(query, EVENING - ZONE, ZONE).hours == ()


@pytest.mark.parametrize(
    ("query", "hours", "weekdays"),
    [
        ("where do I go on Thursday evenings?", ((17, 23),), (3,)),
        ("who covers a Wednesday night?", ((20, 28),), (2,)),
        ("what do I do every Tuesday morning", ((5, 12),), (1,)),
        ("what do I drink after lunch", ((12.5, 17),), ()),
        ("what did I usually eat after lunch", ((12.5, 17),), ()),
        ("did it hold overnight?", ((20, 28),), ()),
    ],
)
def test_a_habit_means_the_hours_of_any_such_day(
    query: str, hours: tuple[tuple[float, float], ...], weekdays: tuple[int, ...]
) -> None:
    named = parse_time(query, EVENING)
    assert (named.ranges, named.hours, named.weekdays) == ((), hours, weekdays)


@pytest.mark.parametrize(
    ("query", "now", "day"),
    [
        ("heute Nacht", MORNING, "06-09 20:00"),
        ("heute Nacht", EVENING, "06-10 20:00"),
        ("this evening", SMALL_HOURS, "06-09 17:00"),
        ("this morning", SMALL_HOURS, "06-10 05:00"),
        ("Wednesday evening", MORNING, "06-03 17:00"),
        ("on Wednesday evening", MORNING, "06-03 17:00"),
        ("what was said over dinner", MORNING, "06-09 17:00"),
    ],
)
def test_the_part_that_is_meant_depends_on_the_hour(query: str, now: datetime, day: str) -> None:
    ((start, _),) = stretches(query, now)
    assert start == day


def test_two_parts_of_one_day_are_two_stretches() -> None:
    assert stretches("yesterday morning and evening") == [
        ("06-09 05:00", "06-09 12:00"),
        ("06-09 17:00", "06-09 23:00"),
    ]


def test_a_question_without_such_words_is_left_as_it_is() -> None:
    assert read_parts("what did Ana say in May?", "what did ana say in may?", ()) == PartsRead()


JUMBLE = (
    "yesterday gestern 昨天 on Tuesday last dienstag 周二 a every good in the of and early late tonight heute nacht "
    "before after lunch an hour ago vor zwei Stunden hace 3 horas fa behind shift March"
)


@given(
    st.lists(st.sampled_from([*JUMBLE.split(), *any_day()]), max_size=9).map(" ".join),
    st.datetimes(datetime(1900, 1, 2), datetime(2199, 12, 30), timezones=st.just(UTC)),
)
def test_any_jumble_of_parts_and_days_gives_ordered_stretches(text: str, now: datetime) -> None:
    assert all(part.start < part.end for part in parse_time(text, now, timedelta(hours=-11)).ranges)
