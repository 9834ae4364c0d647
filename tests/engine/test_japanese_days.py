"""In a Japanese memory past days are told by when they were, and days to come by what was said of them."""

from datetime import datetime, timedelta, timezone

import pytest
from builders.chats import keep_diary, mine, recalled_lines
from conftest import OpenMemory

from episodic_agent import Memory

TOKYO = timezone(timedelta(hours=9))
MONDAY = datetime(2026, 9, 21, 19, tzinfo=TOKYO)
NOW = datetime(2026, 9, 29, 12, tzinfo=TOKYO)
DIARY = (
    "福島で部屋を見てきた。", "歯医者に行った。痛かった。", "弟とカレーを食べた。", "新しい靴を買った。", "会社の飲み会だった。",
    "犬を洗った。", "ずっと寝ていた。", "10月3日に予約がある。", "明後日、京都へ行く。", "来週の金曜に父が来る。",
)  # fmt: skip
LAST_WEEK = set(DIARY[:7])


@pytest.fixture
def memory(open_memory: OpenMemory) -> Memory:
    """Return a week of one line a day; the appointments were said on the Monday after."""
    memory = open_memory(embedder="none")
    keep_diary(memory, DIARY, MONDAY)
    return memory


def told(memory: Memory, question: str) -> set[str]:
    return recalled_lines(memory, question, NOW)


@pytest.mark.parametrize(
    ("question", "day"),
    [
        ("一昨日何をした？", 6),
        ("先週の土曜日は何をした？", 5),
        ("9月25日は何をした？", 4),
        ("三日前なにした？", 5),
    ],
)
def test_a_day_that_is_over_is_told_by_its_date(memory: Memory, question: str, day: int) -> None:
    (one,) = mine(memory).search(question, now=NOW).observations
    assert one.observation.text == DIARY[day]


@pytest.mark.parametrize(
    "question", ["先週なにがあった？", "先週どうだった？", "せんしゅう何した？", "先週一週間をまとめて"]
)
def test_a_review_tells_the_week(memory: Memory, question: str) -> None:
    assert told(memory, question) == LAST_WEEK


@pytest.mark.parametrize(
    ("question", "days"),
    [
        ("明日の予定は何ですか？", [7 + 1]),
        ("あさって何がある？", []),
        ("来週の予定は？", [9]),
        ("10月3日は何がある？", [7]),
    ],
)
def test_what_is_due_was_said_before(memory: Memory, question: str, days: list[int]) -> None:
    texts = [one.observation.text for one in mine(memory).search(question, now=NOW).observations]
    assert texts == [DIARY[day] for day in days]


def test_a_bare_week_is_that_week(memory: Memory) -> None:
    recall = mine(memory).search("先週", now=NOW)
    assert recall.observations
    assert {one.observation.text for one in recall.observations} <= LAST_WEEK


def test_a_day_in_kanji_is_due_weeks_later(open_memory: OpenMemory) -> None:
    memory = open_memory(embedder="none")
    mine(memory).add("父さんの還暦が来月の十日やから、店を探す", timestamp=MONDAY - timedelta(days=15))
    recall = mine(memory).search("来月の十日は何がある？", now=NOW)
    assert [one.observation.text for one in recall.observations] == [
        "父さんの還暦が来月の十日やから、店を探す"
    ]
