"""Who asks what became of a matter in a week is told that week, by search and in contexts."""

from datetime import UTC, datetime

import pytest
from builders.chats import mine
from conftest import OpenMemory

from episodic_agent import Memory

NOW = datetime(2026, 11, 28, 18, tzinfo=UTC)  # a Saturday
DIARY = {
    9: "Viewed the flat in Garden Street, the landlord Mr. Behr wants 980 a month.",
    10: "Sprint planning moved, Jonas is sick.",
    12: "Mr. Behr called about the flat: two other couples are interested.",
    17: "Sent the papers for the flat to Mr. Behr.",
    18: "Rest day because of the knee.",
    19: "The flat has a damp cellar, said the neighbour.",
    20: "The demo went fine, Petra liked the export.",
    23: "Got the contract for the flat, the deposit is 2,940 euros.",
    24: "The knee is better, ran 5 km.",
    25: "Asked Mr. Behr whether the kitchen of the flat stays; he says 400 euros extra.",
    26: "The release is delayed because of the login bug.",
    27: "Signed the contract for the flat! Keys on 15 December.",
}
THIS, LAST = {23, 25, 27}, {17, 19}
QUESTIONS = [
    ("How did the flat go this week?", THIS),
    ("What happened with the flat this week?", THIS),
    ("Sum up the flat this week", THIS),
    ("Sum up my week about the flat", THIS),
    ("Review of the flat this week", THIS),
    ("How did it go with the flat in the last 6 days?", THIS),
    ("What did I do about the flat last week?", LAST),
    ("How was the flat last week?", LAST),
]


@pytest.fixture
def memory(open_memory: OpenMemory) -> Memory:
    memory = open_memory()
    for day, text in DIARY.items():
        at = datetime(2026, 11, day, 19, tzinfo=UTC)
        mine(memory).add(text, thread="flat" if "flat" in text else f"diary {day}", timestamp=at)
    mine(memory).flush()
    return memory


def told(text: str) -> set[int]:
    return {day for day, words in DIARY.items() if words in text}


@pytest.mark.parametrize(("question", "days"), QUESTIONS)
def test_a_review_of_a_matter_tells_its_week_alone(memory: Memory, question: str, days: set[int]) -> None:
    context = mine(memory).context(question, at=NOW, thread="new").text
    recall = mine(memory).search(question, now=NOW, limit=10)
    hits = {proof.observation.at.day for hit in recall.hits for proof in hit.evidence}
    week = range(23, 28) if days == THIS else range(16, 22)
    assert told(context) >= days
    assert all(day in week for day in told(context)), told(context)
    assert hits >= days
    assert all(day in week for day in hits), hits


def test_where_nothing_of_the_matter_was_said_then_other_weeks_answer(memory: Memory) -> None:
    question = "How did the damp cellar go this week?"
    assert 19 in told(mine(memory).context(question, at=NOW, thread="new").text)


def test_another_question_that_names_a_week_is_answered_from_any(memory: Memory) -> None:
    question = "Who liked the export this week?"  # it was last week
    assert any(
        "Petra" in hit.evidence[0].observation.text for hit in mine(memory).search(question, now=NOW).hits
    )
    assert 20 in told(mine(memory).context(question, at=NOW, thread="new").text)
