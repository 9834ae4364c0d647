"""In a Korean and in a Turkish memory days are told as in others: past ones by date, coming ones as due."""

from datetime import datetime, timedelta, timezone

import pytest
from builders.chats import keep_diary, mine, recalled_lines
from conftest import OpenMemory

from episodic_agent import Memory

HERE = timezone(timedelta(hours=3))
MONDAY = datetime(2026, 9, 21, 19, tzinfo=HERE)
NOW = datetime(2026, 9, 29, 12, tzinfo=HERE)
KOREAN = (
    "성수동 집을 보고 왔다.", "치과에 갔다. 아팠어.", "동생이랑 카레를 먹었다.", "새 신발을 샀다.", "회식이 있었다.",
    "강아지를 씻겼다.", "하루 종일 잤다.", "10월 3일에 정기검진이 있다.", "모레 부산에 간다.", "다음 주 금요일에 아버지가 오신다.",
)  # fmt: skip
TURKISH = (
    "Karşıyaka'da ev baktık.", "Dişçiye gittim, çok acıdı.", "Kardeşimle mantı yedik.", "Yeni ayakkabı aldım.",
    "İş yemeği vardı.", "Köpeği yıkadım.", "Bütün gün uyudum.", "3 Ekim'de kontrol randevum var.",
    "Öbür gün İzmir'e gidiyorum.", "Haftaya cumaya babam geliyor.",
)  # fmt: skip
DIARIES = {"ko": KOREAN, "tr": TURKISH}


@pytest.fixture(params=["ko", "tr"])
def diary(request: pytest.FixtureRequest) -> tuple[str, tuple[str, ...]]:
    return request.param, DIARIES[request.param]


@pytest.fixture
def memory(open_memory: OpenMemory, diary: tuple[str, tuple[str, ...]]) -> Memory:
    """Return a week of one line a day; the appointments were said on the Monday after."""
    memory = open_memory(embedder="none")
    keep_diary(memory, diary[1], MONDAY)
    return memory


def told(memory: Memory, question: str) -> set[str]:
    return recalled_lines(memory, question, NOW)


QUESTIONS = {
    "ko": {
        "over": {"그저께 뭐 했지?": 6, "지난주 토요일에 뭐 했더라?": 5, "9월 25일에 뭐 했지?": 4, "3일 전에 뭐 했어?": 5},
        "week": ("지난주에 뭐 했지?", "지난주에 무슨 일 있었어?", "지난주 어땠지?"),
        "coming": {"10월 3일에 뭐 있어?": 7, "이번 주 토요일 일정 알려줘": 7, "수요일엔 뭐 있지?": 8, "다음 주 금요일에 무슨 일정 있어?": 9},
    },
    "tr": {
        "over": {"Evvelsi gün ne yaptım?": 6, "Geçen hafta cumartesi ne yaptım?": 5, "25 Eylül'de ne yaptım?": 4, "uc gun once ne yaptik?": 5},
        "week": ("Geçen hafta ne yaptım?", "Geçen hafta neler oldu?", "gecen hafta nasil gecti?"),
        "coming": {"3 Ekim'de ne var?": 7, "Bu cumartesi programımda ne var?": 7, "Çarşamba günü ne var?": 8, "Haftaya cuma ne var?": 9},
    },
}  # fmt: skip


def test_a_day_that_is_over_is_told_by_its_date(memory: Memory, diary: tuple[str, tuple[str, ...]]) -> None:
    language, lines = diary
    for question, day in QUESTIONS[language]["over"].items():
        texts = [one.observation.text for one in mine(memory).search(question, now=NOW).observations]
        assert texts == [lines[day]], question


def test_a_review_tells_the_week(memory: Memory, diary: tuple[str, tuple[str, ...]]) -> None:
    language, lines = diary
    for question in QUESTIONS[language]["week"]:
        assert told(memory, question) == set(lines[:7]), question


def test_a_day_to_come_tells_what_is_due(memory: Memory, diary: tuple[str, tuple[str, ...]]) -> None:
    language, lines = diary
    for question, day in QUESTIONS[language]["coming"].items():
        texts = [one.observation.text for one in mine(memory).search(question, now=NOW).observations]
        assert texts == [lines[day]], question


FAR_OFF = {
    "ko": (
        ("금요일에 아버지가 오신다.", "금요일에 뭐 있지?"),
        ("10월 3일에 정기검진이 있다.", "10월 3일에 뭐 있어?"),
    ),
    "tr": (
        ("Cumaya babam geliyor.", "Cuma günü ne var?"),
        ("3 Ekim'de kontrole gideceğim.", "3 Ekim'de ne var?"),
    ),
}


@pytest.mark.parametrize("language", FAR_OFF)
def test_a_weekday_is_looked_up_and_a_date_months_later(open_memory: OpenMemory, language: str) -> None:
    memory = open_memory(embedder="none")
    (friday, asked_friday), (dated, asked_date) = FAR_OFF[language]
    mine(memory).add(dated, timestamp=NOW - timedelta(days=120))
    mine(memory).add(friday, timestamp=NOW - timedelta(days=5) + timedelta(days=4))
    for question, text in ((asked_friday, friday), (asked_date, dated)):
        recall = mine(memory).search(question, now=NOW)
        assert [one.observation.text for one in recall.observations] == [text]


TOLD_LATER = {
    "ko": ("어제 서버가 죽었어.", "지난주 화요일에 무슨 일 있었지?", "회의가 길었다."),
    "tr": ("Dün sunucu çöktü.", "Geçen hafta salı günü ne oldu?", "Toplantı uzun sürdü."),
}


@pytest.mark.parametrize("language", TOLD_LATER)
def test_what_happened_is_told_by_who_named_its_day_later(open_memory: OpenMemory, language: str) -> None:
    memory = open_memory(embedder="none")
    later, question, then = TOLD_LATER[language]
    mine(memory).add(then, timestamp=MONDAY + timedelta(days=1))
    mine(memory).add(later, timestamp=MONDAY + timedelta(days=2))
    recall = mine(memory).search(question, now=NOW)
    assert {one.observation.text for one in recall.observations} == {then, later}
