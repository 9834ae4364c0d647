"""Who asks for promises is told them one by one: whose, to whom, until when, and what settled them."""

import json
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from builders.chats import Clock
from builders.minilm import default_model

from episodic_agent import Memory
from episodic_agent.engine.user import UserMemory
from episodic_agent.faces.shapes import recall_json

MONDAY = datetime(2026, 9, 7, 9, tzinfo=UTC)  # a Monday
SETTLING = "sent Ravi the invoice just now"
TALK = (
    ("web", "assistant", "I'll keep track of your promises and remind you of deadlines."),
    ("Lena", "Lena", "could you fix the bike before the holidays?"),
    ("Lena", "Ana", "yes, I'll fix it by Friday 25 September"),
    ("Ravi", "Ravi", "I still need the invoice from you"),
    ("Ravi", "Ana", "I'll send you the invoice this week"),
    ("Jonas", "Jonas", "I'll bring your drill back on Saturday 12 September"),
    ("Jonas", "Ana", "I'll book the room for the workshop by Monday 14 September"),
    ("Ravi", "Ana", SETTLING),
    ("Jonas", "Jonas", "the shop is open till five today"),
)


@pytest.fixture
def ana(tmp_path: Path, clock: Clock) -> Iterator[UserMemory]:
    with Memory.open(tmp_path / "m.db", embedder=default_model(), clock=clock) as memory:
        user = memory.user("Ana")
        for n, (thread, who, text) in enumerate(TALK):
            clock.now = MONDAY + timedelta(hours=3 * n)
            user.add(text, role=who, thread=thread, timestamp=clock.now)
        clock.now = MONDAY + timedelta(days=2)
        user.flush()
        yield user


def listed(user: UserMemory, question: str, **filters: str) -> list[str]:
    return [commitment.text for commitment in user.search(question, **filters).commitments]


@pytest.mark.parametrize(
    "question",
    [
        "what did I promise whom?",
        "which promises of mine are still open?",
        "was habe ich wem versprochen?",
        "qu'est-ce que j'ai promis à qui ?",
        "我答应了谁什么？",
    ],
)
def test_my_promises_are_listed_as_they_are_due_and_nobody_else_s(ana: UserMemory, question: str) -> None:
    commitments = ana.search(question).commitments
    mine = [commitment for commitment in commitments if commitment.settled_by is None]
    assert [commitment.due for commitment in mine][:2] == [date(2026, 9, 14), date(2026, 9, 25)]
    assert {commitment.by for commitment in commitments} == {"Ana"}
    assert {commitment.to for commitment in mine} >= {"Jonas", "Lena"}


def test_a_context_tells_who_took_what_on_and_what_settled_it(ana: UserMemory) -> None:
    lines = ana.context("what did I promise whom?").text.splitlines()
    assert "- Ana → Lena: yes, I'll fix it by Friday 25 September (due 2026-09-25)" in lines
    assert f"- Ana → Ravi: {TALK[4][2]} (done 2026-09-08 – “{SETTLING}”)" in lines


@pytest.mark.parametrize(
    ("thread", "to"), [("T-1015", ""), ("New shop: the domain moves", ""), ("Silke", "Silke")]
)
def test_a_thread_is_promised_to_by_the_name_of_somebody_and_not_of_a_matter(
    ana: UserMemory, thread: str, to: str
) -> None:
    """A desk's promises were to "T-1015", wherever nobody else had spoken just before."""
    ana.add(
        "I'll send the signed contract by Friday 18 September",
        role="Ana",
        thread=thread,
        timestamp=MONDAY + timedelta(days=1, hours=12),
    )
    ana.flush()
    commitments = {one.text: one.to for one in ana.search("what did I promise whom?").commitments}
    assert commitments["I'll send the signed contract by Friday 18 September"] == to


@pytest.mark.parametrize("question", ["what do others still owe me?", "was schuldet mir Jonas noch?"])
def test_what_others_owe_is_theirs(ana: UserMemory, question: str) -> None:
    commitments = ana.search(question).commitments
    assert TALK[5][2] in [commitment.text for commitment in commitments]
    assert "Ana" not in {commitment.by for commitment in commitments}
    assert "assistant" not in {commitment.by for commitment in commitments}


@pytest.mark.parametrize("question", ["Which promises are open?", "Was haben wir versprochen?"])
def test_where_nobody_is_named_anybody_s_are_listed(ana: UserMemory, question: str) -> None:
    """Such questions named no list at all: a desk asks them before each answer."""
    commitments = ana.search(question).commitments
    assert {"Ana", "Jonas"} <= {commitment.by for commitment in commitments}
    assert TALK[0][2] not in {commitment.text for commitment in commitments}  # a service is nobody's promise


def test_a_named_person_narrows_the_list(ana: UserMemory) -> None:
    assert listed(ana, "what did I promise Lena?") == [TALK[2][2]]


def test_what_is_settled_stands_last_with_what_settled_it(ana: UserMemory) -> None:
    last = ana.search("what did I promise whom?").commitments[-1]
    assert last.text == TALK[4][2]
    assert last.settled_by is not None
    assert last.settled_by.text == SETTLING
    answer = json.dumps(recall_json(ana.search("what did I promise whom?")), default=str)
    assert json.loads(answer)["commitments"][-1]["settled_by"]["text"] == SETTLING


def test_a_context_tells_them_in_a_list_of_their_own(ana: UserMemory) -> None:
    text = ana.context("what did I promise whom?", thread="new", max_tokens=400).text
    lines = text.partition("What was taken on:\n")[2].partition("\n\n")[0].split("\n")
    assert "book the room" in lines[0]
    assert "(due 2026-09-14)" in lines[0]
    assert "fix it by Friday" in lines[1]
    assert not any(TALK[0][2] in line for line in lines)
    assert "What was taken on" not in ana.context("how is the weather?", thread="new").text


def test_a_day_s_entry_is_listed_sentence_by_sentence(ana: UserMemory) -> None:
    ana.add(
        "Long day at last, the train was late and the office was cold again, nobody knows why it is so. "
        "I'll call the landlord on Friday. I'll send Mia the photos by Sunday 20 September.",
        role="Ana",
        thread="diary",
        timestamp=MONDAY + timedelta(days=2),
    )
    ana.flush()
    texts = listed(ana, "what did I promise whom?")
    assert "I'll call the landlord on Friday." in texts
    assert "I'll send Mia the photos by Sunday 20 September." in texts


def test_walls_and_filters_hold(ana: UserMemory) -> None:
    assert set(listed(ana.only(["Lena"]), "what did I promise whom?")) == {TALK[2][2]}
    text = ana.only(["Lena"]).context("what did I promise whom?").text
    assert "invoice" not in text
    assert "workshop" not in text
    assert set(listed(ana, "what did I promise whom?", thread="Jonas")) == {TALK[6][2]}


def talk(ana: UserMemory, thread: str, lines: Iterable[tuple[str, str]]) -> None:
    """Add who said what, an hour after each other."""
    for n, (who, text) in enumerate(lines):
        ana.add(text, role=who, thread=thread, timestamp=MONDAY + timedelta(days=1, hours=10 + n))
    ana.flush()


def test_of_two_promises_in_one_message_the_one_that_was_not_reported_stays_open(ana: UserMemory) -> None:
    lines = (
        ("Mia", "when do we get the quotes for the venue?"),
        ("Ana", "I'll send them on Thursday. And I'll book the sound engineer this week."),
        ("Mia", "great"),
        ("Ana", "the quotes for the venue are in your inbox"),
    )
    talk(ana, "fair", lines)
    told = {
        one.text: one.settled_by for one in ana.search("what did I promise whom?", thread="fair").commitments
    }
    assert told["And I'll book the sound engineer this week."] is None
    done = told["I'll send them on Thursday."]
    assert done is not None
    assert done.text == lines[3][1]


def test_what_only_sounds_like_a_plan_in_a_groups_talk_is_not_listed(ana: UserMemory) -> None:
    lines = (
        ("Ana", "van: they have a 7-seater for 390 the weekend"),
        ("Mia", "a rope is missing, mine is torn"),
        ("Ana", "then I bring the rope"),
        ("Ana", "hey all, so who's in? I was thinking the weekend 27-29"),
    )
    talk(ana, "climbing", lines)
    listed = [one.text for one in ana.search("what did I promise whom?", thread="climbing").commitments]
    assert listed == ["then I bring the rope"]


@pytest.mark.parametrize(
    "question",
    [
        "what did you promise me?",
        "what do you still owe me?",
        "was wolltest du noch machen?",
        "你还欠我什么？",
    ],
)
def test_you_is_the_assistant_whose_own_promises_are_told(ana: UserMemory, question: str) -> None:
    lines = (
        ("user", "write migration 0042, but run it on local only"),
        ("assistant", "I'll write the rollback notes for 0042 by Friday 18 September."),
        ("user", "the voucher test should reset its mock by itself"),
        ("assistant", "I'll put the mock reset into globalSetup, next week."),
        ("user", "ok"),
    )
    for n, (who, text) in enumerate(lines):
        ana.add(text, role=who, thread="code", timestamp=MONDAY + timedelta(days=1, minutes=n))
    ana.flush()
    commitments = ana.search(question, thread="code").commitments
    assert {commitment.by for commitment in commitments} == {"assistant"}
    assert [commitment.text for commitment in commitments] == [lines[1][1], lines[3][1]]
    mine = listed(ana, "what did I promise to do?", thread="code")
    assert "ok" not in mine, "a nod to what somebody else takes on takes nothing on"


def test_what_asks_for_something_else_of_somebody_lists_no_promise(tmp_path: Path, clock: Clock) -> None:
    lines = (
        ("Ana", "I'm moving to Lisbon in May, the flat is in Alfama."),
        ("Ben", "Congratulations! Do you need help with the move?"),
        ("Ana", "My sourdough did not rise again. The starter smells of acetone."),
    )
    clock.now = MONDAY + timedelta(days=1)
    with Memory.open(tmp_path / "m.db", embedder=default_model(), clock=clock) as memory:
        user = memory.user("ana")
        for n, (who, text) in enumerate(lines):
            user.add(text, role=who, thread="chat", timestamp=MONDAY + timedelta(hours=n))
        user.flush()
        assert list(user.search("what is Ben's phone number?").commitments) == []
