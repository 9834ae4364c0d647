"""The default context end to end: what the next answer needs of weeks ago stands in it, at any turn, in budget."""

import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from builders.chats import NOW, mine
from builders.commands import Run
from builders.embedders import TopicEmbedder
from conftest import OpenMemory

from episodic_agent import Memory
from episodic_agent.core.context.telling import Block, QuotedText, Spot
from episodic_agent.core.context.tokens import estimate
from episodic_agent.core.language import plural
from episodic_agent.engine.context.assembling import ThreadContext
from episodic_agent.engine.context.gathering import gathered, situation
from episodic_agent.engine.context.replacing import with_corrections
from episodic_agent.engine.visibility.hidden import Visibility
from episodic_agent.errors import InvalidInput
from episodic_agent.protocols import query_vector
from episodic_agent.schemas import Scope, Vector
from episodic_agent.schemas.contexts import LineKind
from episodic_agent.tools import memory_tools

START = NOW - timedelta(days=30)
DIET = "I'm vegetarian and allergic to walnuts."
DINNER = "Suggest a dinner for us tonight"
MATTERS = {
    "food": ("vegetarian", "allergic", "walnuts", "dinner", "essen", "nüsse"),
    "car": ("clutch", "garage", "brakes"),
    "roof": ("roof", "tiles", "shed"),
    "school": ("exam", "school", "maths"),
}


class MatterEmbedder(TopicEmbedder):
    """Texts with words of one matter are near each other."""

    def embed(self, texts: Sequence[str]) -> Vector:
        """Return a vector for each text."""
        return super().embed([" ".join(self.matters(text)) or text for text in texts])

    def matters(self, text: str) -> list[str]:
        """Return what a text is about."""
        return [name for name, words in MATTERS.items() if any(word in text.lower() for word in words)]


IDLE = (
    "The garage has the car until Friday", "Those brakes squeal in the rain", "Is the roof of the shed tight?",
    "The maths exam is in May", "School begins at nine", "The tiles come in red",
)  # fmt: skip


@pytest.fixture
def memory(open_memory: OpenMemory) -> Memory:
    return open_memory(embedder=MatterEmbedder(*MATTERS))


def at(days: float, minutes: float = 0) -> datetime:
    return START + timedelta(days=days, minutes=minutes)


def talk(memory: Memory, days: float, *pairs: tuple[str, str], **where: Any) -> None:
    for n, (question, answer) in enumerate(pairs):
        said = [
            {"role": "user", "content": question, "timestamp": at(days, n).isoformat()},
            {"role": "assistant", "content": answer, "timestamp": at(days, n + 0.5).isoformat()},
        ]
        mine(memory).add(said, **{"channel": "sms", **where})


def weeks(memory: Memory) -> None:
    """Have a diet told once, then weeks of other things."""
    talk(memory, 0, (DIET, "I will remember that."))
    for day, text in enumerate(IDLE, 3):
        talk(memory, day, (text, "Right."))


def test_what_was_told_weeks_ago_stands_in_the_next_prompt(memory: Memory) -> None:
    weeks(memory)
    context = mine(memory).context(DINNER, channel="sms", at=at(25))
    assert "vegetarian and allergic to walnuts" in context.text
    (item,) = [item for item in context.items if "walnuts" in item.text]
    assert item.kind in (LineKind.RECALLED, LineKind.FACT)
    assert item.observations
    assert item.thread_id
    assert item.episode_id


def test_what_was_said_and_is_no_longer_so_is_not_told(memory: Memory) -> None:
    talk(memory, 0, ("I'm vegetarian.", "I will remember that."))
    for day, text in enumerate(IDLE, 3):
        talk(memory, day, (text, "Right."))
    before = mine(memory).context(DINNER, channel="sms", at=at(20)).text
    assert f'- "I\'m vegetarian." ({at(0):%Y-%m-%d})' in before
    talk(memory, 21, ("I'm no longer vegetarian, by the way. I eat fish again.", "Good to know."))
    for size in (120, 180, 800):
        text = mine(memory).context(DINNER, channel="sms", at=at(25), max_tokens=size).text
        assert "no longer vegetarian" in text
        assert "I'm vegetarian" not in text


def test_what_a_fact_was_ended_by_does_not_take_its_other_words_away(open_memory: OpenMemory) -> None:
    memory = open_memory(embedder="none")
    talk(memory, 0, ("I live at 14 Mill Lane and pay Mr Pell 900 a month", "Noted."))
    talk(memory, 3, ("Mr Pell wants 950 a month from now on", "That is a lot."))
    (old,) = [card.fact for card in mine(memory).facts.list(history=True) if "Mill Lane" in card.fact.value]
    assert old.superseded_by is not None
    text = mine(memory).context("what is my address in Mill Lane?", channel="sms", at=at(25)).text
    assert text.count("950 a month") == 1
    before, after = text.split("14 Mill Lane")
    assert "950 a month" in before + after
    assert f"{at(0):%Y-%m-%d}" in before.rpartition("From earlier:")[2]  # dated, so that the later counts
    tight = mine(memory).context("what is my address in Mill Lane?", channel="sms", at=at(25), max_tokens=45)
    assert "900 a month" not in tight.text or "950 a month" in tight.text


@pytest.mark.parametrize(("fact", "is_lifted"), [("I am vegetarian.", True), (f"{DIET} The 28th.", False)])
def test_what_ended_words_is_lifted_where_no_fact_tells_all_of_it(
    memory: Memory, fact: str, is_lifted: bool
) -> None:
    place = uuid4()

    def quote(block: Block, seq: int, text: str, worth: float, by: tuple[Spot, ...] = ()) -> QuotedText:
        return QuotedText(
            block, LineKind.FACT, text, place, None, seq, seq, START, worth, corrected_by=by, quotation=True
        )

    older = quote(Block.BEFORE, 0, "The 26th.", -3.0, ((place, 1),))
    newer = quote(Block.BEFORE, 1, f"{DIET} The 28th.", -9.0)
    with memory._deps.store.begin(Scope("default", "default"), write=False) as tx:
        facts = [quote(Block.KNOWN, 1, f'"{fact}"', -4.0)]
        known, earlier = with_corrections(tx, memory._deps, facts, [older, newer], {})
    assert known[0].worth > older.worth
    assert (earlier[1].worth > older.worth) is is_lifted
    assert earlier[0].corrected_by == ((place, 1),)


def test_what_a_person_states_is_worth_more_than_the_same_words_of_a_device(open_memory: OpenMemory) -> None:
    memory = open_memory(embedder="none")

    def worth(name: str) -> float:
        owner = memory.user(name, new=True)
        owner.add("the gutter drips again", channel="sms", timestamp=at(0))
        remark = {"role": "user", "name": name, "content": "the bus to school leaves from behind the chapel"}
        owner.add({**remark, "timestamp": at(1)}, channel="sms")
        context = owner.context(
            "does the bus to school leave behind the chapel?", channel="sms", at=at(25), form="default"
        )
        (line,) = [item for item in context.items if "chapel" in item.text and item.kind is LineKind.RECALLED]
        return line.score

    assert worth("tom") > worth("sensor") + 0.1


def test_stating_something_of_another_matter_makes_it_worth_no_more(
    open_memory: OpenMemory, tmp_path: Path
) -> None:
    embedder = MatterEmbedder(*MATTERS)

    def worth(first: str, message: str) -> float:
        memory = open_memory(tmp_path / f"{uuid4()}.db", embedder=embedder)
        talk(memory, 0, (first, "Fine."))
        for day, text in enumerate(IDLE * 4, 3):
            talk(memory, day, (text, "Right."))
        vector = query_vector(embedder, message)
        with memory._deps.store.begin(Scope("default", "default"), write=False) as tx:
            visibility = Visibility(tx, at(60))
            now = situation(tx, message, vector, at(60), None, end=None, visibility=visibility)
            quotes, _ = gathered(
                tx, memory._deps, now, linked={}, apart=(), visibility=visibility, shown=frozenset()
            )
        return next(quote.worth for quote in quotes if quote.text == first)

    def gain(message: str) -> float:
        return worth("I am allergic to walnuts", message) - worth("we cracked some walnuts", message)

    assert gain("Shall we have dinner together?") > 0.2
    assert gain("Will the clutch hold?") < 0.1


@pytest.mark.slow
def test_it_is_recalled_in_the_tenth_message_of_a_thread_and_on_a_chosen_one_too(memory: Memory) -> None:
    weeks(memory)
    talk(memory, 25, *[(f"The school has {n} rooms", "I see.") for n in range(10)])
    context = mine(memory).context(DINNER, channel="sms", at=at(25, 11))
    assert "allergic to walnuts" in context.text
    assert "In this conversation:" in context.text
    chosen = mine(memory).context(DINNER, channel="web", thread="Kitchen", at=at(26))
    assert "allergic to walnuts" in chosen.text


@pytest.mark.slow
def test_the_pair_that_was_meant_is_told_not_the_last_ones(memory: Memory) -> None:
    asked = [("How much does the clutch cost?", "The garage said 900 euros.")]
    talk(memory, 1, *asked, *[(f"The roof has {n} tiles", "Noted.") for n in range(100, 140)])
    text = mine(memory).context("What was the clutch again?", channel="sms", at=at(9), max_tokens=120).text
    assert "- How much does the clutch cost? (assistant: The garage said 900 euros.)" in text


def test_what_an_elliptical_message_presupposes_is_looked_for(memory: Memory) -> None:
    talk(memory, 1, ("How much does the clutch cost?", "The garage said 900 euros."))
    talk(memory, 2, *[(f"The roof has {n} tiles", "Noted.") for n in range(4)])
    talk(memory, 9, ("About that clutch at the garage", "Yes?"))
    context = mine(memory).context("so how much was it", channel="sms", at=at(9, 2))
    assert "900 euros" in context.text


def test_a_session_tells_what_the_one_before_came_to(memory: Memory) -> None:
    ana = mine(memory)
    first = ana.sessions.start("The shed roof", timestamp=at(1))
    ana.add("The old tiles leak at the ridge.", thread=first.thread, timestamp=at(1, 1))
    ana.sessions.end(first.id, "partial")
    second = ana.sessions.start("The shed roof again", parent_episode_id=first.id, timestamp=at(3))
    context = ana.context("Where do we go on?", thread=second.thread, at=at(3, 1))
    (line,) = [item for item in context.items if item.kind is LineKind.SESSION]
    assert line.text.startswith("The session before: ")
    assert "Outcome: partial." in line.text
    assert line.thread == first.thread


def test_the_budget_is_held_and_every_line_has_its_source(memory: Memory) -> None:
    weeks(memory)
    talk(memory, 24, *[(f"The exam has {n} parts", "Good to know.") for n in range(12)])
    frame = {"What is known:", "In this conversation:", "From earlier:", ""}
    for budget in (*range(1, 60), 100, 200, 800):
        context = mine(memory).context("Is the exam long?", channel="sms", at=at(24, 13), max_tokens=budget)
        assert context.tokens == estimate(context.text) <= budget
        sourced = {item.line for item in context.items}
        for number, line in enumerate(context.text.split("\n")):
            plain = line in frame or line.startswith(("20", "Current question:"))
            assert number in sourced or plain, line
        assert all(item.observations for item in context.items if item.kind is not LineKind.CONTINUING)


def test_the_frame_speaks_the_language_of_the_user(memory: Memory) -> None:
    talk(memory, 0, ("Ich esse kein Fleisch und vertrage keine Nüsse.", "Ist notiert."))
    text = mine(memory).context("Was können wir heute Abend essen?", channel="sms", at=at(9)).text
    assert "Von früher:" in text
    assert "Aktuelle Frage: " in text


def test_what_is_hidden_or_said_later_is_not_recalled(memory: Memory) -> None:
    weeks(memory)
    before = mine(memory).context(DINNER, channel="sms", at=at(-1))
    assert "walnuts" not in before.text
    mine(memory).episodes.suppress(words="walnuts")
    assert "walnuts" not in mine(memory).context(DINNER, channel="sms", at=at(25)).text


RED = " ".join(f"FAILED test_cart.py::test_{n} - assert {n} == {n + 1}" for n in range(40))


def work(memory: Memory, day: float, matter: str, *outputs: str, concludes: bool = True) -> None:
    """Have the red cart tests looked into: a request, what tools answered, and what was concluded."""
    said: list[dict[str, Any]] = [
        {"role": "user", "content": f"The clutch test of the car is red, is it {matter}?"}
    ]
    said += [
        {"role": "tool", "name": "bash", "content": f"pytest -k {matter}{n} {text}"}
        for n, text in enumerate(outputs)
    ]
    said += [{"role": "assistant", "content": f"Rounding in {matter} was at fault"}] if concludes else []
    timed = [one | {"timestamp": at(day, n).isoformat()} for n, one in enumerate(said)]
    mine(memory).add(timed, thread=matter)


def test_what_was_concluded_stands_with_its_request_and_an_output_of_tools_once(memory: Memory) -> None:
    work(memory, 1, "prices", RED, RED)
    work(memory, 2, "taxes", RED, "the brakes pass: 3 passed, 0 failed", RED)
    work(memory, 3, "refunds", RED, concludes=False)  # nobody says yet why
    question = "Why was the clutch test of the car red?"
    context = mine(memory).context(question, at=at(20), max_tokens=800)
    lines = context.text.splitlines()
    for matter in ("prices", "taxes"):
        asked = f"- The clutch test of the car is red, is it {matter}?"
        assert f"{asked} (assistant: Rounding in {matter} was at fault)" in lines
    (newest,) = (line for line in lines if line.startswith("- ") and "FAILED" in line)
    assert "it refunds?" in newest
    assert any("3 passed" in line for line in lines)
    (told,) = (one for one in context.items if "prices" in one.text)
    assert len(told.observations) >= 2  # the request and its conclusion
    earlier = mine(memory).context(question, at=at(1, 2), max_tokens=800)
    assert "Rounding" not in earlier.text  # it was said later


def test_a_hit_shows_a_request_then_what_was_concluded_and_an_output_once(memory: Memory) -> None:
    work(memory, 1, "prices", RED, RED, RED, RED, RED, RED)
    work(memory, 2, "taxes", RED, "the clutch of the car passes: 3 passed, 0 failed", RED)
    hits = mine(memory).search("Why was the clutch test of the car red?", now=at(20)).hits
    assert len(hits) == 2
    for hit in hits:
        shown = [one.observation.text for one in hit.evidence]
        asked = next(n for n, text in enumerate(shown) if text.startswith("The clutch test"))
        assert shown[asked + 1].startswith("Rounding in")
        assert len([text for text in shown if "FAILED" in text]) == 1
    until = mine(memory).search("Why was the clutch test of the car red?", now=at(20), until=at(1, 3))
    assert [
        one.observation.text for hit in until.hits for one in hit.evidence if "Round" in one.observation.text
    ] == []


def test_an_unknown_form_is_refused(memory: Memory) -> None:
    with pytest.raises(
        InvalidInput,
        match="no form 'odd' of a context; there are default, context-2027-02, context-2027-01, seed-002",
    ):
        mine(memory).context("Hello", form="odd")  # type: ignore[arg-type]


def test_the_command_tells_what_was_told_weeks_ago(run: Run) -> None:
    run("add", DIET, "--channel", "sms", "--timestamp", at(0).isoformat())
    run("add", "The roof leaks", "--channel", "sms", "--timestamp", at(4).isoformat())
    asked = ("context", "vegetarian dinner?", "--channel", "sms", "--at", at(25).isoformat())
    assert "allergic to walnuts" in run(*asked).out
    result = run(*asked, "--json").json
    assert all(item["observations"] for item in result["items"] if item["kind"] == "recalled")
    assert "From earlier:" not in run(*asked, "--form", "seed-002").out


def test_the_tool_of_agents_tells_it_too(memory: Memory) -> None:
    weeks(memory)
    tools = memory_tools(mine(memory))
    assert "allergic to walnuts" in tools.call("get_context", {"message": DINNER})
    assert json.dumps(tools.answer("get_context", {"message": DINNER}).data)


@pytest.mark.slow
def test_what_does_not_bear_on_the_message_is_left_out_where_the_former_policy_told_it(
    memory: Memory,
) -> None:
    for number in range(60):
        mine(memory).add(
            f"Remark {number} on the {('roof', 'garden', 'choir', 'ferry')[number % 4]}",
            channel="sms",
            timestamp=START + timedelta(hours=number),
        )
    later = START + timedelta(days=9)
    now, before = (
        mine(memory).context("Which tyres fit a Passat?", at=later, max_tokens=800, form=form)
        for form in ("default", "context-2027-01")
    )
    assert len(now.items) < len(before.items)
    assert (
        now.text
        == mine(memory)
        .context("Which tyres fit a Passat?", at=later, max_tokens=800, form="context-2027-02")
        .text
    )


def test_who_only_thanks_is_told_nothing_of_earlier_talk(memory: Memory) -> None:
    thanks = ("thanks, that's all", "muchas gracias por todo", "good night", "谢谢", "ok")
    weeks(memory)
    for text in thanks:
        assert not mine(memory).context(text, channel="sms", at=at(60)).items, text
    talk(memory, 61, ("The kiln is hot", "Let it cool."))
    for text in thanks:
        (line,) = mine(memory).context(text, channel="sms", at=at(61, 5)).items
        assert line.text == "- The kiln is hot (assistant: Let it cool.)", text


def test_what_was_said_stands_under_the_day_it_was_lived_on(memory: Memory) -> None:
    evening = "2024-03-09T19:02:00-05:00"  # already the tenth in Greenwich
    mine(memory).add("Biscuit ate a whole bar of chocolate", timestamp=evening)
    told = mine(memory).context("When did Biscuit eat chocolate?", at="2024-05-01T12:00:00Z").text
    assert "2024-03-09\n" in told


def test_hearsay_is_not_told_without_the_denial(open_memory: OpenMemory) -> None:
    memory = open_memory(policy="default", embedder="none")
    talk(memory, 0, ("My friend Carla says that Pichler wants to sell the house next year.", "I see."))
    for day in range(1, 9):
        talk(memory, day, *((text, "I see.") for text in IDLE[day % 3 :: 3]))
    talk(memory, 9, ("I asked him about selling. It's not true, he doesn't want to sell.", "I see."))
    for day in range(10, 19):
        talk(memory, day, *((text, "I see.") for text in IDLE[day % 3 :: 3]))
    question = "Is Pichler going to sell the house next year?"
    for size in (60, 150, 800):
        text = mine(memory).context(question, at=at(20), max_tokens=size).text
        assert "he doesn't want to sell" in text, size
        if size > 60:
            assert (
                "Carla says that Pichler wants to sell" in text
            )  # it is likely, not sure, that this is over


ASKED = datetime(2024, 5, 8, 9, tzinfo=UTC)  # a Wednesday


def asked(memory: Memory, message: str) -> ThreadContext:
    """Ask in a conversation of its own, so that nothing of before stands in it already."""
    mine(memory).add("Good morning.", thread="now", timestamp=ASKED - timedelta(minutes=1))
    return mine(memory).context(message, thread="now", at=ASKED, max_tokens=2_000)


def days_told(context: ThreadContext) -> list[str]:
    """Return the dates that what was said earlier stands under."""
    return re.findall(r"^(\d{4}-\d\d-\d\d)$", context.text, re.MULTILINE)


@pytest.fixture
def diary(memory: Memory) -> Memory:
    """Return a memory of five days, in each of which two things were said, in the morning and the evening."""
    for day, (morning, evening) in enumerate(zip(IDLE[:5], [DIET, *IDLE[1:]][:5], strict=True), 3):
        for hour, text in ((8, morning), (19, f"{evening} That is what day {day} brought.")):
            mine(memory).add(text, thread=f"day {day}", timestamp=datetime(2024, 5, day, hour, tzinfo=UTC))
    return memory


@pytest.mark.parametrize(
    ("message", "days"),
    [
        ("What did we talk about yesterday?", {7}),
        ("what did I say on Sunday", {5}),
        ("Was haben wir am 4. Mai besprochen?", {4}),
        ("昨天我说了什么？", {7}),
        ("Can you tell me what we discussed on May 3?", {3}),
        ("Which topics did we talk about in the last three days?", {5, 6, 7}),
        ("what did we agree on May 3?", {3}),
    ],
)
def test_who_asks_what_was_said_at_a_time_is_told_of_that_time_alone(
    diary: Memory, message: str, days: set[int]
) -> None:
    context = asked(diary, message)
    assert days_told(context) == [f"2024-05-{day:02}" for day in sorted(days)]
    assert context.notes == ()


def test_of_an_evening_its_morning_is_not_told(diary: Memory) -> None:
    context = asked(diary, "What did I say yesterday evening?")
    (line,) = [one for one in context.items if one.kind is LineKind.RECALLED]
    assert "day 7" in line.text


def test_facts_of_other_days_are_not_told_with_it(diary: Memory) -> None:
    mine(diary).flush()
    assert "What is known:" in asked(diary, DINNER).text
    assert "walnuts" in asked(diary, "What did we talk about on May 3?").text
    assert "walnuts" not in asked(diary, "What did we talk about on May 5?").text


def test_of_a_time_nobody_spoke_in_nothing_is_told_and_a_note_says_so(diary: Memory) -> None:
    context = asked(diary, "What did we talk about on April 20?")
    assert days_told(context) == []
    assert context.notes == ("nothing was said from 2024-04-20 00:00 to 2024-04-21 00:00 UTC",)


def test_what_was_done_in_a_time_that_lasts_and_without_a_word_is_not_answered_with_others(
    open_memory: OpenMemory,
) -> None:
    memory = open_memory(embedder="none")
    talk(
        memory,
        0,
        ("write the migration", "0042 runs locally."),
        ("deploy it to staging", "It is on staging."),
    )
    for question in ("summarise what you did today", "what have we done this week?"):
        context = mine(memory).context(question, at=at(20))
        assert days_told(context) == []
        assert context.notes[-1].startswith("nothing was said from")
    assert "0042" in mine(memory).context("what did we do today?", at=at(0, 300)).text


def test_every_standing_wish_is_told_however_many_there_are(open_memory: OpenMemory) -> None:
    memory = open_memory(embedder="none")
    wishes = (
        "Please call me Aldous.",
        "Please keep your answers short.",
        "No emojis please.",
        "Please never use swear words.",
        "Please explain every foreign word to me.",
        "Always give temperatures in Celsius, please.",
        "Please always tell me the source of what you say.",
        "Please don't use bullet points in your answers.",
    )
    for day, text in enumerate(wishes):
        talk(memory, day, (text, "I see."))
    mine(memory).flush()
    context = mine(memory).context("How old is the roof?", at=at(20), max_tokens=2_000)
    known = [item.text for item in context.items if item.kind is LineKind.FACT]
    assert [text for text in wishes if not any(text in line for line in known)] == []


@pytest.mark.parametrize(("budget", "count"), [(400, 5), (800, 14)])
def test_wishes_crowd_out_no_fact_that_answers(open_memory: OpenMemory, budget: int, count: int) -> None:
    memory = open_memory(embedder="none")
    wishes = (
        "Please always keep your answers short, I read them on the train.",
        "Please never use emojis in your answers, they look silly on my screen.",
        "Please always call me Aldous and never Mr Finch when you answer.",
        "Please don't start your answers with praise, I feel like a customer.",
        "Always give me temperatures in Celsius in your answers, please.",
        "Please never use swear words in your answers, my mother reads along.",
        "Please explain every foreign word in your answers to me.",
        "Please always tell me the source of what you say in your answers.",
        "Please don't use bullet points in your answers, ever.",
        "Please always write your answers in British English.",
        "Please always put the bad news first in your answers.",
        "Please never end your answers with a question to me.",
        "Please always round amounts in your answers to whole dollars.",
        "Please always give dates with the weekday in your answers.",
    )[:count]
    for day, text in enumerate(wishes):
        talk(memory, day, (text, "I see."))
    talk(memory, 15, ("My sister Ida is allergic to penicillin.", "Noted."))
    mine(memory).flush()
    (ida,) = [card.fact for card in mine(memory).facts.list() if "Ida" in card.fact.value]
    # put right by hand: no line of talk says it
    mine(memory).facts.edit(ida.id, text="Their sister Ida is allergic to penicillin and to kiwis.")
    context = mine(memory).context("What is my sister Ida allergic to?", at=at(20), max_tokens=budget)
    assert sum(text in context.text for text in wishes) >= 5
    assert "kiwis" in context.text


@pytest.mark.parametrize("days", [1, pytest.param(12, marks=pytest.mark.slow)])
def test_how_to_answer_is_told_with_every_message_however_much_was_said_since(
    open_memory: OpenMemory, days: int
) -> None:
    memory = open_memory(policy="default", embedder="none")
    wishes = ("Please keep your answers short.", "No emojis please.", "Always answer in German.")
    talk(memory, 0, *((text, "I see.") for text in wishes))
    for day in range(1, days):
        talk(memory, day, *((text, "I see.") for text in IDLE[day % 3 :: 3]))
    mine(memory).flush()
    told = (
        mine(memory).context("Draft a line to Mrs Dunn about her shelves", at=at(days), max_tokens=800).text
    )
    assert [text for text in wishes if text not in told] == []


def test_what_was_said_at_the_time_a_question_names_is_worth_most(memory: Memory) -> None:
    for day in (3, 5, 6):
        said = f"The garage said the clutch costs {day}00 euros"
        mine(memory).add(said, thread=f"day {day}", timestamp=datetime(2024, 5, day, 8, tzinfo=UTC))
    context = asked(memory, "What did the garage say about the clutch on Sunday?")
    recalled = [one for one in context.items if one.kind is not LineKind.PAIR]
    first, *others = sorted(recalled, key=lambda one: -one.score)
    assert "500 euros" in first.text
    assert any("600 euros" in one.text for one in others)


@pytest.mark.parametrize(
    "message",
    [
        "I told him on Sunday.",
        "Should we talk on Sunday?",
        "I'll write to them tomorrow",
        "The movers come on Sunday",
    ],
)
def test_who_speaks_of_a_day_without_asking_what_was_said_is_told_of_every_day(
    diary: Memory, message: str
) -> None:
    context = asked(diary, message)
    assert len(days_told(context)) > 1
    assert context.notes == ()


@pytest.mark.parametrize("asked", ["2024-05-08T01:00:00+09:00", "2024-05-07T16:00:00Z"])
def test_yesterday_is_a_day_of_whoever_writes(memory: Memory, asked: str) -> None:
    for at in ("2024-05-06T23:00:00+09:00", "2024-05-07T01:00:00+09:00", "2024-05-08T00:30:00+09:00"):
        mine(memory).add(f"the kiln was lit at {at[8:16]}", channel="sms", timestamp=at)
    context = mine(memory).context("What did I say yesterday?", at=asked)
    told = [one.text for one in context.items if one.kind is LineKind.RECALLED]
    assert told == ["- the kiln was lit at 07T01:00"]


def test_yesterday_is_a_day_of_the_zone_it_is_asked_in(run: Run) -> None:
    for at in ("2026-02-28T12:00Z", "2026-03-01T12:00Z"):
        run("add", f"said at {at}", "--user", "ana", "--timestamp", at)
    now = "2026-03-02T00:30+01:00"  # in Greenwich still the first
    asked = ("search", "What did I say yesterday?", "--user", "ana", "--now", now, "--json")
    assert [one["at"][:10] for one in run(*asked).json["observations"]] == ["2026-03-01"]


WORDS_OF_HERS = (
    "Der Notar hat 214 Euro gekostet.",
    "Lotte hat am Dienstag Nachhilfe.",
    "Der Kater hat wieder Durchfall.",
    "Die Fenster in der Stube sind undicht.",
)


@pytest.mark.parametrize("language", [None, "de"])
@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("was hat der gekostet, der Notar?", "214 Euro"),
        ("wie hat der das genannt, das Fenster?", "undicht"),  # by its stem where German is declared
    ],
)
def test_function_words_of_a_questions_language_find_nothing(
    open_memory: OpenMemory,
    monkeypatch: pytest.MonkeyPatch,
    language: str | None,
    question: str,
    wanted: str,
) -> None:
    if language is not None:
        monkeypatch.setenv("EPISODIC_LANGUAGE", language)
    memory = open_memory(policy="default", embedder="none")
    for day, text in enumerate(WORDS_OF_HERS):
        talk(memory, day, (text, "Gut."))
    first = mine(memory).search(question, now=at(9)).hits[0]
    assert wanted in first.evidence[0].observation.text
    told = mine(memory).context(question, at=at(9), max_tokens=800)
    worths = {wanted in one.text: one.score for one in sorted(told.items, key=lambda one: one.score)}
    assert worths[True] >= worths.get(False, -99.0) - 0.01  # what may correct it stands as high


def test_a_context_reads_its_message_by_the_declared_language(
    open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EPISODIC_LANGUAGE", "de")
    memory = open_memory(policy="default", embedder="none")
    for day, text in enumerate(("Das Haus am Deich kostet mehr.", *WORDS_OF_HERS)):
        talk(memory, day, (text, "Gut."))
    told = mine(memory).context("Was war mit den Häusern?", at=at(9), max_tokens=800)  # the stem is "haus"
    worths = {"Haus" in one.text: one.score for one in sorted(told.items, key=lambda one: one.score)}
    assert worths[True] > worths.get(False, -99.0) + 0.1


def test_of_a_long_output_the_lines_that_answer_are_told(memory: Memory) -> None:
    passed = [f"tests/test_ingest_{n}.py::test_row_{n} PASSED [{n}%]" for n in range(1, 60)]
    failed = "FAILED tests/test_tariff.py::test_rounding - AssertionError: 10.005 != 10.01"
    log = "\n".join([*passed[:30], failed, *passed[30:], "1 failed, 58 passed"])
    call = {"role": "tool", "name": "bash", "arguments": {"command": "uv run pytest -q"}, "result": log}
    ana = mine(memory)
    ana.add(
        [{"content": "run the harbor tests", "timestamp": at(1)}, call | {"timestamp": at(1)}], thread="tests"
    )
    ana.flush()

    def told(message: str) -> str:
        return ana.context(message, thread="other", at=at(2)).text

    asked = told("which rounding test of harbor failed?")
    assert f'called bash(command="uv run pytest -q"): … {failed}' in asked
    assert asked.count("PASSED") < 4
    rest = told("run the harbor tests again")
    assert "1 failed, 58 passed" in rest  # how it ended, where nothing in it bears on the message
    assert rest.count("PASSED") < 4
    found = ana.search("AssertionError in test_rounding")
    assert failed in str(found)


def test_a_budget_without_room_for_the_past_names_the_least_that_has(memory: Memory) -> None:
    ana = memory.user("ana")
    ana.add(DIET, thread="diet")
    for few in (1, 5, 12):
        (note,) = [one for one in ana.context(DINNER, max_tokens=few).notes if "fits into" in one]
        least = int(note.split("; ")[1].split()[0])
        assert note.startswith(f"no line of the past fits into {plural(few, 'token')}; ")
        assert ana.context(DINNER, max_tokens=least - 1).items == []
        enough = ana.context(DINNER, max_tokens=least)
        assert [DIET in one.text for one in enough.items] == [True]
        assert not any("fits into" in one for one in enough.notes)
    assert not any("fits into" in one for one in memory.user("new").context(DINNER, max_tokens=5).notes)
