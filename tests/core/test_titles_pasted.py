"""What a machine wrote and somebody pasted gives no title; what only looks like it does."""

import json
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from episodic_agent.core.episodes.extractive import EpisodeText, encode_extractive
from episodic_agent.core.evaluation.lives import is_phrase
from episodic_agent.schemas import Observation

START = datetime(2026, 3, 2, 7, 12, tzinfo=UTC)
CASES: list[dict[str, Any]] = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "data" / "pasted.jsonl").read_text(encoding="utf-8").splitlines()
]
TRACE = (
    "Traceback (most recent call last):\n"
    '  File "/srv/app/report.py", line 88, in build\n'
    "    total = amounts[month]\n"
    "KeyError: '2026-02'"
)


def words(*lines: tuple[str, str]) -> EpisodeText:
    observations = [
        Observation(UUID(int=n), UUID(int=1), n, START + timedelta(minutes=n), START, actor, text)
        for n, (actor, text) in enumerate(lines)
    ]
    return encode_extractive(observations, [None] * len(observations))


@pytest.mark.parametrize("case", CASES, ids=[f"{n}-{c['language']}-{c['kind']}" for n, c in enumerate(CASES)])
def test_a_title_is_what_somebody_said_and_not_what_was_pasted_beside_it(case: dict[str, Any]) -> None:
    title = words(*[(actor, text) for actor, text in case["messages"]]).title
    assert any(is_phrase(title, own) for own in case["own"]), title


def test_the_cases_are_of_many_kinds_and_languages_and_hold_talk_that_only_looks_pasted() -> None:
    kinds = Counter(case["kind"] for case in CASES)
    assert {"log", "trace", "json", "mail", "notice", "prompt", "tool", "talk"} <= kinds.keys()
    assert {"en", "de", "es", "fr", "zh", "it", "pt", "ru", "ja", "nl"} == {
        case["language"] for case in CASES
    }
    assert kinds["talk"] >= 25


def test_what_was_pasted_is_told_where_nobody_says_anything() -> None:
    told = words(("user", TRACE))
    assert told.title
    assert told.title in told.summary


def test_beside_talk_no_summary_holds_a_trace() -> None:
    told = words(("user", TRACE), ("user", "the monthly report fails whenever a month has no sales"))
    assert told.title == "The monthly report fails whenever a month has no sales"
    assert "Traceback" not in told.summary
    assert "amounts" not in told.summary
    keywords = told.metadata["keywords"]
    assert isinstance(keywords, list)
    assert "sales" in keywords
    assert not any("amounts" in str(word) or "KeyError" in str(word) for word in keywords)


@pytest.mark.parametrize("lines", [20, 100], ids=["read whole", "longer than what is read"])
def test_a_question_below_a_long_log_is_read(lines: int) -> None:
    line = "Mar  2 07:12:44 web-01 nginx[811]: upstream timed out (110: Connection timed out) while reading"
    told = words(("user", "\n".join([line] * lines + ["", "customers can't open their cart"])))
    assert told.title == "Customers can't open their cart"
    assert "upstream" not in told.summary


def test_an_answer_names_an_episode_before_a_log_does() -> None:
    log = "Mar  2 07:12:44 web-01 nginx[811]: upstream timed out (110: Connection timed out)"
    told = words(("user", log), ("assistant", "The application behind nginx needs more than sixty seconds."))
    assert told.title == "The application behind nginx needs more than sixty seconds"


@pytest.mark.parametrize("first", ["You are a patient cook. ", "Du bist eine geduldige Köchin. "])
def test_a_part_is_given_only_where_a_talk_begins_and_something_follows(first: str) -> None:
    asked = "How long do dried chickpeas soak?"
    assert words(("user", first + asked)).title == asked
    assert words(("Ana", asked), ("Ben", first + "Twelve hours.")).title == asked
    alone = first.strip(". ")
    assert words(("user", first)).title == alone
