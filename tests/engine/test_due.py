"""What is on today was said weeks ago: contexts and searches tell what is due on the days a question names."""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from builders.chats import mine
from conftest import OpenMemory

from benchmarks.recurring import HALVES, measure
from episodic_agent import Filter, Memory
from episodic_agent.faces.shapes import hit_item
from episodic_agent.schemas.contexts import LineKind

LIVES = Path(__file__).parent.parent / "data" / "due.jsonl"
MONDAY = datetime(2024, 3, 18, 9, tzinfo=UTC)
SAID = (
    (-20, "Steve's sending another board on the 26th"),
    (-13, "the old board was 26 quid"),
    (0, "dentist Thursday 3pm"),
    (1, "we went swimming on Thursday last week"),
    (2, "the plumber comes on Friday at nine"),
)


def with_talk(memory: Memory, said: Sequence[tuple[float, str]]) -> Memory:
    """Return a memory with what was said so many days after Monday."""
    for days, text in said:
        mine(memory).add(text, channel="sms", timestamp=MONDAY + timedelta(days=days))
    return memory


@pytest.fixture
def memory(open_memory: OpenMemory) -> Memory:
    return with_talk(open_memory(embedder="none"), SAID)


def told(memory: Memory, question: str, days: float, **options: Any) -> list[str]:
    context = mine(memory).context(question, at=MONDAY + timedelta(days=days), **options)
    return [one.text.removeprefix("- ") for one in context.items if one.kind is LineKind.RECALLED]


def found(memory: Memory, question: str, days: float, **options: Any) -> list[str]:
    recall = mine(memory).search(question, now=MONDAY + timedelta(days=days), **options)
    return [one.observation.text for one in recall.observations]


@pytest.mark.parametrize(
    "question",
    ["what's on on friday?", "what've i actually got on this week?", "whats my week looking like?", "what's on in march?"],
)  # fmt: skip
@pytest.mark.parametrize(
    "text",
    [
        "he got us tickets for a gig on fri 22nd at the louisiana",
        "they gave me a slot on fri 22nd",
        "il a pris des billets pour le concert vendredi",
        "hij heeft kaartjes gekocht voor het concert op vrijdag",
    ],
)
def test_what_somebody_else_arranged_is_on_its_day(open_memory: OpenMemory, text: str, question: str) -> None:
    other = "the savings are down 350 in a month, he got drunk on friday"
    memory = with_talk(open_memory(embedder="none"), [(-1, text), (-1, other)])
    assert found(memory, question, 0) == [text]
    [line] = told(memory, question, 0)
    assert text in line


def test_what_is_on_today_was_said_before(memory: Memory) -> None:
    for read in (told, found):
        assert read(memory, "Morning. What's on today", 3) == ["dentist Thursday 3pm"]
        assert read(memory, "what have I got on the 26th?", 4) == [
            "Steve's sending another board on the 26th"
        ]
        assert read(memory, "Was steht heute an?", 8) == ["Steve's sending another board on the 26th"]


def test_a_question_is_framed_in_its_own_language_whatever_is_told(memory: Memory) -> None:
    frames = {
        "Was steht heute an?": "Von früher:",
        "¿Qué hay hoy?": "De antes:",
        "What's on today?": "From earlier:",
    }
    for question, heading in frames.items():
        assert heading in mine(memory).context(question, at=MONDAY + timedelta(days=8)).text.splitlines()


def test_a_day_of_which_nothing_was_said_is_told_by_nothing(memory: Memory) -> None:
    context = mine(memory).context("anything on Sunday?", at=MONDAY + timedelta(days=3))
    recall = mine(memory).search("anything on Sunday?", now=MONDAY + timedelta(days=3))
    assert not context.items
    assert not recall.hits
    assert context.notes[-1] == recall.notes[-1] == "nothing was said of 2024-03-24"


def test_what_was_said_after_the_question_is_not_told(memory: Memory) -> None:
    assert found(memory, "anything on Thursday?", -0.5) == []
    assert found(memory, "anything on Thursday?", 0.5) == ["dentist Thursday 3pm"]


def test_a_question_with_a_matter_prefers_its_day_and_leaves_nothing_out(memory: Memory) -> None:
    mine(memory).add("the plumber's number is 555 0199", channel="sms", timestamp=MONDAY)
    mine(memory).add("the plumber said the boiler is old", channel="sms", timestamp=MONDAY)
    question = "when on Friday does the plumber come?"
    results = found(memory, question, 3)
    assert results[0] == "the plumber comes on Friday at nine"
    assert "the plumber's number is 555 0199" in results
    context = mine(memory).context(question, at=MONDAY + timedelta(days=3))
    assert "the plumber comes on Friday at nine" in context.text  # as a fact or as what was said


def test_what_is_due_stands_higher_beside_a_matter_too(open_memory: OpenMemory) -> None:
    memory = open_memory(policy="default", embedder="none")
    for text in ("plumber the 22nd?", "the plumber's number is 555 0199", "and what about the plumber then?"):
        mine(memory).add(text, channel="sms", timestamp=MONDAY)
    results = {day: found(memory, f"what about the plumber on {day}?", 1) for day in ("Friday", "Thursday")}
    assert {day: texts[0].startswith("plumber the") for day, texts in results.items()} == {
        "Friday": True,
        "Thursday": False,
    }
    scores = []
    for day in ("Friday", "Thursday"):
        context = mine(memory).context(f"what about the plumber on {day}?", at=MONDAY + timedelta(days=1))
        scores += [one.score for one in context.items if "plumber the" in one.text]
    assert scores[0] > scores[1] + 0.1


def test_what_moves_it_is_told_in_the_place_of_what_is_moved(memory: Memory) -> None:
    moved = "dentist rang, not Thursday, moved to the 30th"
    mine(memory).add(moved, channel="sms", timestamp=MONDAY + timedelta(days=1))
    called_off = "the plumber cancelled, his van broke down"
    mine(memory).add(called_off, channel="sms", timestamp=MONDAY + timedelta(days=3))
    for read in (told, found):
        assert read(memory, "what's on today?", 3) == [moved]
        assert read(memory, "what's on on the 30th?", 4) == [moved]
        assert set(read(memory, "what's on on Friday?", 3.5)) == {SAID[-1][1], called_off}


def test_today_is_that_of_who_asks(open_memory: OpenMemory) -> None:
    memory = open_memory(embedder="none")
    mine(memory).add("dentist tomorrow", channel="sms", timestamp="2024-03-18T23:00:00+09:00")
    moments = ("2024-03-19T07:00:00+09:00", "2024-03-18T23:30:00+09:00", "2024-03-18T22:30:00+00:00")
    asked = [mine(memory).search("what's on today?", now=datetime.fromisoformat(at)).hits for at in moments]
    assert [bool(hits) for hits in asked] == [True, False, True]


def test_who_gives_a_time_of_their_own_is_told_of_that(memory: Memory) -> None:
    window = Filter(since=MONDAY - timedelta(days=14), until=MONDAY - timedelta(days=12))
    assert found(memory, "board on the 26th?", 4, filter=window) == ["the old board was 26 quid"]


def test_how_to_answer_counts_on_every_day(open_memory: OpenMemory) -> None:
    memory = open_memory(policy="default", embedder="none")
    said = (
        "Please keep your answers short, always.", "I live in the flat above the bakery.", "dentist Thursday 3pm"
    )  # fmt: skip
    for n, text in enumerate(said):
        mine(memory).add(text, channel="sms", timestamp=MONDAY + timedelta(minutes=n))
    known = mine(memory).context("what's on today?", channel="web", at=MONDAY + timedelta(days=3)).text
    assert "keep your answers short" in known
    assert "dentist" in known
    assert "bakery" not in known


def test_what_moves_another_matter_is_not_told_for_a_common_word(memory: Memory) -> None:
    on_school = (
        "school begins at nine",
        "the school has a new roof",
        "met Ola at school",
        "school lunch is paid",
    )
    said = (
        *on_school,
        "the choir sings behind the school on the 26th",
        "the trip of the school is postponed to May",
    )
    for n, text in enumerate(said):
        mine(memory).add(text, channel="sms", timestamp=MONDAY + timedelta(minutes=n))
    due = found(memory, "what's on on the 26th?", 7)
    assert said[4] in due
    assert said[5] not in due


def test_an_hour_behind_a_date_is_no_other_date(memory: Memory) -> None:
    said = "the van comes saturday 6th of april 9 am"
    mine(memory).add(said, channel="sms", timestamp=MONDAY)
    assert found(memory, "what's on today?", 19) == [said]  # on the 6th,
    assert found(memory, "what's on today?", 22) == []  # not on the 9th


def test_what_is_suppressed_is_not_told(memory: Memory) -> None:
    mine(memory).episodes.suppress(words="dentist")
    assert found(memory, "what's on today?", 3) == []


@pytest.mark.parametrize("life", [json.loads(line) for line in LIVES.read_text("utf-8").splitlines()])
def test_weeks_of_messages_tell_what_is_due(open_memory: OpenMemory, life: dict[str, Any]) -> None:
    memory = open_memory(embedder="none")
    mine(memory).add(
        [{"content": one["text"], "timestamp": one["at"], "id": one["id"]} for one in life["messages"]]
    )
    for question in life["questions"]:
        context = mine(memory).context(question["text"], at=question["at"])
        recall = mine(memory).search(question["text"], now=datetime.fromisoformat(question["at"]))
        recalled = [item for item in context.items if item.kind is LineKind.RECALLED]  # wishes count anyway
        lines = {name for item in recalled for name in item.observations}
        hits = {one.observation.external_id for one in recall.observations} if recall.hits else set()
        for names in (lines, hits):
            assert names >= set(question["wanted"]), question
            assert names.isdisjoint(question["wrong"]), question
            assert bool(names) == bool(question["wanted"]), question


def test_a_bare_question_is_answered_with_no_fact_of_another_friday(open_memory: OpenMemory) -> None:
    memory = open_memory(policy="default", embedder="none")
    said = "Anything that I plan on a Friday is in my blue calendar."
    mine(memory).add(said, channel="sms", timestamp=MONDAY)
    mine(memory).flush()
    later = MONDAY + timedelta(days=16)
    assert mine(memory).search("which calendar is what I plan in?", now=later).facts
    assert not mine(memory).search("anything on Friday?", now=later).facts


HABITS = (
    (0, "five-a-side with Raj is every Wednesday at 6"),
    (0, "rehearsals with the choir are Thursday evenings, 7.30"),
    (1, "every Wednesday I swear I'll start running, lol"),
    (1, "last Wednesday football was awful"),
    (1, "the Wednesdays are always so slow at work"),
)


@pytest.fixture
def habits(open_memory: OpenMemory) -> Memory:
    return with_talk(open_memory(embedder="none"), HABITS)


def test_what_comes_again_is_due_on_each_of_its_days(habits: Memory) -> None:
    for read in (told, found):
        for weeks in (0, 1, 10, 60):
            assert read(habits, "what's on today?", 7 * weeks + 2) == [HABITS[0][1]]
            assert read(habits, "what do I have tomorrow?", 7 * weeks + 2) == [HABITS[1][1]]
            assert read(habits, "anything on today?", 7 * weeks + 4) == []


def test_a_habit_is_off_on_the_day_that_is_called_off(habits: Memory) -> None:
    off = "no football this Wednesday, Raj's away, so no five-a-side"
    mine(habits).add(off, channel="sms", timestamp=MONDAY + timedelta(days=15))
    for read in (told, found):
        assert HABITS[0][1] not in read(habits, "what's on today?", 16)
        assert read(habits, "what's on today?", 23) == [HABITS[0][1]]


def test_a_habit_moves_and_ends(habits: Memory) -> None:
    moved = "the choir moved from Thursday to Friday, same time"
    mine(habits).add(moved, channel="sms", timestamp=MONDAY + timedelta(days=8))
    for read in (told, found):
        assert read(habits, "what's on today?", 17) == []
        assert set(read(habits, "what's on today?", 18)) == {HABITS[1][1], moved}
    ended = "no choir any more, they stopped"
    mine(habits).add(ended, channel="sms", timestamp=MONDAY + timedelta(days=30))
    for read in (told, found):
        assert read(habits, "what's on today?", 25) != []
        assert read(habits, "what's on today?", 39) == []


@pytest.mark.parametrize(
    ("habit", "change", "told_days", "days_off"),
    [
        ("therapy is Thursdays at 5", "my therapist is away, so no sessions on the 28th", {17: 1}, (10,)),
        ("date night with Nina is Thursdays", "Nina's working this Thursday so date night's on Wednesday this week",
         {17: 1}, (10,)),
        ("mum's dialysis is Mondays, 6.40am", "next Monday's dialysis is shifted to Tuesday the 26th", {8: 2, 14: 1}, (7,)),
        ("tengo yoga todos los martes y jueves a las 19h", "este jueves no hay yoga, la profe no puede", {10: 1}, (3,)),
    ],
)  # fmt: skip
def test_a_habit_is_not_where_something_else_is_said_of_the_day(
    open_memory: OpenMemory, habit: str, change: str, told_days: dict[int, int], days_off: tuple[int, ...]
) -> None:
    memory = with_talk(open_memory(embedder="none"), ((1, habit), (min(days_off) - 1, change)))
    for day, count in told_days.items():
        texts = found(memory, "what's on today?", day)
        assert habit in texts
        assert len(texts) == count
    for day in days_off:
        assert habit not in found(memory, "what's on today?", day)


def test_the_end_of_one_habit_leaves_another_that_was_told_with_it(open_memory: OpenMemory) -> None:
    both = "the blood pressure pills are every morning at 8, and physio is on Tuesdays at 10"
    ended = "no physio any more, my knee is fine"
    memory = with_talk(open_memory(embedder="none"), ((0, both), (9, ended)))
    assert found(memory, "what's on today?", 8) == [both]
    assert found(memory, "what's on today?", 15) == [both]
    stopped = "doctor says stop the blood pressure pills"
    mine(memory).add(stopped, channel="sms", timestamp=MONDAY + timedelta(days=20))
    assert found(memory, "what's on today?", 22) == []


def test_a_day_of_each_year_is_that_of_who_named_it(open_memory: OpenMemory) -> None:
    memory = open_memory(embedder="none")
    said = "it's mum's birthday tomorrow, don't let me forget, every year I do"
    mine(memory).add(said, channel="sms", timestamp="2024-03-18T23:30:00-05:00")
    for day, texts in ((19, [said]), (20, [])):
        now = datetime.fromisoformat(f"2026-03-{day}T12:00:00-05:00")
        assert [
            one.observation.text for one in mine(memory).search("what's on today?", now=now).observations
        ] == texts


@pytest.mark.slow
def test_peoples_weeks_tell_what_comes_again() -> None:
    figures = {half: measure(None, half) for half in HALVES}
    assert figures["dev"]["recall"] > 0.85
    assert figures["frozen"]["recall"] > 0.7
    assert min(one["precision"] for one in figures.values()) > 0.65


def test_what_is_on_that_very_day_stands_before_what_is_on_many(open_memory: OpenMemory) -> None:
    memory = open_memory(policy="default", embedder="none")
    texts = (
        "open Tuesday to Saturday 6:30 to 18:00",
        "Told Dekker: we react within 4 hours on weekdays",
        "choir practice every Tuesday",
        "Bilal starts on the 26th",
        "I do the acceptance test with Dekker on 26 March at 14:00",
    )
    for text in texts:
        mine(memory).add(text, thread=text[:6], timestamp=MONDAY)
    recall = mine(memory).search("what's on on Tuesday?", now=MONDAY + timedelta(days=5), observations=5)
    assert [one.observation.text for one in recall.observations[:3]] == [texts[4], texts[3], texts[2]]
    sure = {proof.observation.text: hit.confidence for hit in recall.hits for proof in hit.evidence[:1]}
    assert sure[texts[4]] > 0.9
    assert all(sure.get(text, 0) < 0.5 for text in texts[:2])
    context = mine(memory).context("what's on on Tuesday?", at=MONDAY + timedelta(days=5))
    best = max(context.items, key=lambda line: line.score)
    assert "acceptance test" in best.text


ENTRIES = {
    "What is due on Friday?": (
        "Long day. Talked to Petra about what is due for the audit and which papers she needs from us, she was "
        "friendly, and what is due is due. The plumber comes on {} at eight. Then groceries, and I called mum, who "
        "asks what we do at Christmas. Slept badly because of the neighbours."
    ),
    "Was steht am Freitag an?": (
        "Heute war viel los. Mit Jens darüber geredet, was alles noch ansteht und was am Ende noch ansteht, und was "
        "wir verschieben. Am {} kommt der Schornsteinfeger. Danach einkaufen und Oma anrufen, die fragt, was an "
        "Weihnachten ansteht. Schlecht geschlafen wegen der Nachbarn."
    ),
}


@pytest.mark.parametrize("question", ENTRIES)
def test_a_hit_quotes_the_sentence_that_names_the_day_asked_about(
    open_memory: OpenMemory, question: str
) -> None:
    english = question.startswith("What")
    entry = ENTRIES[question].format("the 22nd" if english else "22. März")
    comes = "plumber comes on the 22nd" if english else "Am 22. März kommt"
    memory = open_memory(embedder="none")
    mine(memory).add(entry, thread="diary", timestamp=MONDAY)
    mine(memory).flush()
    recall = mine(memory).search(question, now=MONDAY + timedelta(hours=3))
    proof = recall.hits[0].evidence[0]
    assert comes in proof.quoted(question)
    assert comes in str(recall)
    assert comes in hit_item(recall.hits[0], question).text
    assert comes not in replace(proof, days=None).quoted(question)


HOUSES = (
    "搬完了，现在住宜山路388弄6号502",
    "坐地铁6号线",
    "这次考试我是6号考生",
    "je suis au 6 rue de Rivoli",
    "vivo en el 6 piso",
)


def test_the_number_of_a_house_or_a_line_is_no_day(open_memory: OpenMemory) -> None:
    memory = with_talk(open_memory(embedder="none"), [(0, text) for text in (*HOUSES, "6号要交房租")])
    for question in ("6号有什么安排？", "what's on the 6th?"):
        assert found(memory, question, 10) == ["6号要交房租"]
