"""Who asks for a stretch of past time and nothing else is told that stretch, by search and in contexts."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest
from builders.chats import mine
from conftest import OpenMemory

from episodic_agent import Memory

NOW = datetime(2026, 11, 28, 9, tzinfo=UTC)  # a Saturday
SAID: Mapping[int, tuple[str, str]] = {
    9: ("What happened with the old VPN was a mess.", "The provider was no help."),
    18: ("Staging moved to the new host.", "Log rotation is on all machines."),
    23: ("The certificate runs out on Saturday.", "Sven renews it."),
    24: ("Harbor goes live on 4 December.", "Opening hours stand in the footer."),
    26: ("Shipping is free from 60.", "The certificate is renewed."),
    27: ("Priya estimates the Dutch version.", "Tomasz switches the DNS."),
}


def of(*days: int) -> set[str]:
    return {text for day in days for text in SAID[day]}


@pytest.fixture
def memory(open_memory: OpenMemory) -> Memory:
    memory = open_memory(link_policy="none", chain_policy="none")
    for day, texts in SAID.items():
        for minute, text in enumerate(texts):
            said = {
                "name": "Lena",
                "content": text,
                "timestamp": datetime(2026, 11, day, 10, minute, tzinfo=UTC),
            }
            mine(memory).add(said, thread=("ops", "sales")[day % 2])
    mine(memory).flush()
    return memory


def lines(memory: Memory, question: str, **options: Any) -> set[str]:
    text = mine(memory).context(question, thread="new", at=NOW, **options).text
    return {said for texts in SAID.values() for said in texts if said in text}


def hits(memory: Memory, question: str) -> set[str]:
    recall = mine(memory).search(question, now=NOW, limit=20)
    assert not recall.abstained
    return {proof.observation.text for hit in recall.hits for proof in hit.evidence}


SINCE_TUESDAY = (
    "what did we say since Tuesday?",
    "what happened since Tuesday?",
    "What did I miss since the 24th?",
    "was ist seit Dienstag passiert?",
    "qu'est-ce qui s'est passé depuis mardi ?",
    "¿qué pasó desde el martes?",
    "cosa è successo da martedì?",
    "从周二以来发生了什么？",
)
THEN = (
    ("what happened on 18 November?", (18,)),
    ("what was said on the 18th?", (18,)),
    ("what happened yesterday?", (27,)),
    ("was war gestern?", (27,)),
    ("What happened this week?", (23, 24, 26, 27)),
    ("What changed this week?", (23, 24, 26, 27)),
    ("Sum up my week", (23, 24, 26, 27)),
    ("Fass meine Woche zusammen", (23, 24, 26, 27)),
    ("Что я делала на этой неделе?", (23, 24, 26, 27)),
    ("What did I do on Thursday?", (26,)),
    ("Was ist zwischen dem 23. und dem 26. November passiert?", (23, 24, 26)),
)


@pytest.mark.parametrize("question", SINCE_TUESDAY)
def test_who_asks_since_a_day_is_told_all_since_then(memory: Memory, question: str) -> None:
    assert lines(memory, question) == of(24, 26, 27)
    assert hits(memory, question) == of(24, 26, 27)


@pytest.mark.parametrize(("question", "days"), THEN)
def test_who_asks_what_happened_in_a_time_is_told_that_time(
    memory: Memory, question: str, days: tuple[int, ...]
) -> None:
    assert lines(memory, question) == of(*days)
    assert hits(memory, question) == of(*days)


def test_who_asks_for_a_matter_since_then_is_told_of_the_matter(memory: Memory) -> None:
    question = "what happened with the certificate since Tuesday?"
    assert "The certificate runs out on Saturday." in lines(memory, question)
    best = mine(memory).search(question, now=NOW).observations[0]
    assert best.observation.text == "The certificate is renewed."


def test_a_small_budget_is_spread_over_the_days(memory: Memory) -> None:
    more = (
        "migration",
        "backup",
        "invoice",
        "logo",
        "printer",
        "keyboard",
        "booth",
        "contract",
        "server",
        "lamp",
    )
    for minute, matter in enumerate(more):
        at = datetime(2026, 11, 24, 11, minute, tzinfo=UTC)
        text = f"What happened this week with the {matter} is that it was finished."
        mine(memory).add({"name": "Lena", "content": text, "timestamp": at}, thread="ops")
    text = mine(memory).context("What happened this week?", thread="new", at=NOW, max_tokens=130).text
    assert all(f"2026-11-{day}" in text for day in (23, 24, 26, 27))


def test_what_is_told_later_of_a_day_is_told_with_it(memory: Memory) -> None:
    late = {"content": "Yesterday the DNS broke twice.", "timestamp": datetime(2026, 11, 28, 8, tzinfo=UTC)}
    mine(memory).add([late, {**late, "content": "Sunshine at last."}], thread="ops")
    text = mine(memory).context("What happened yesterday?", thread="new", at=NOW).text
    assert "broke twice" in text
    assert "Sunshine" not in text


def test_of_a_day_on_which_nothing_was_said_others_tell(memory: Memory) -> None:
    recall = mine(memory).search("what happened with the VPN?", now=NOW)
    assert not recall.abstained
    assert lines(memory, "What happened on Wednesday?")


IN_OPS = (
    "what happened since Monday in ops?",
    "What did we say since Monday in #ops?",
    "was ist seit Montag im Kanal ops passiert?",
    "qu'est-ce qui s'est passé dans le canal ops depuis lundi ?",
)


@pytest.mark.parametrize("question", IN_OPS)
def test_a_thread_that_is_named_beside_a_time_alone_is_kept_to(memory: Memory, question: str) -> None:
    assert lines(memory, question) == of(24, 26)
    assert hits(memory, question) == of(24, 26)


def test_where_nothing_was_said_there_then_others_tell(memory: Memory) -> None:
    assert lines(memory, "what happened yesterday in #ops?") >= of(27)
    recall = mine(memory).search("what happened yesterday in #ops?", now=NOW)
    assert recall.hits or recall.candidates


def test_with_another_matter_a_named_thread_is_preferred_and_no_filter(memory: Memory) -> None:
    def best(question: str) -> list[str]:
        return [one.observation.text for one in mine(memory).search(question, now=NOW).observations]

    ops, sales = (best(f"what about the certificate in #{name}?") for name in ("ops", "sales"))
    of_both = {"The certificate is renewed.", "The certificate runs out on Saturday."}
    assert (ops[0], sales[0]) == ("The certificate is renewed.", "The certificate runs out on Saturday.")
    assert of_both <= {*ops}
    assert of_both <= {*sales}

    def worth(question: str, text: str) -> float:
        context = mine(memory).context(question, thread="new", at=NOW)
        return next(line.score for line in context.items if text in line.text)

    there = worth("what about the certificate in #sales?", "The certificate runs out")
    assert there > worth("what about the certificate in #ops?", "The certificate runs out") + 0.5


def test_who_says_in_may_mean_a_town(memory: Memory) -> None:
    said = {"content": "Snow again.", "timestamp": datetime(2026, 11, 27, 12, tzinfo=UTC)}
    mine(memory).add(said, thread="berlin")
    assert lines(memory, "what happened yesterday in Berlin?") >= of(27)
    assert lines(memory, "what happened yesterday in #berlin?") == set()


LATER: Mapping[int, tuple[str, str]] = {
    28: ("The cellar got shelves.", "Lena bought a lamp."),
    29: ("Aunt Gerda came for cake.", "The tyre is flat."),
    30: ("The invoices are out.", "Harbor paid."),
}
SUNDAY, MONDAY = (datetime(2026, 11, day, 22, tzinfo=UTC) for day in (29, 30))
OF_CALENDAR = (
    (SUNDAY, "what happened this week?", (23, 24, 26, 27, 28, 29)),
    (SUNDAY, "O que aconteceu nesta semana?", (23, 24, 26, 27, 28, 29)),
    (SUNDAY, "Sum up my week", (23, 24, 26, 27, 28, 29)),
    (SUNDAY, "what did we do this weekend?", (28, 29)),
    (SUNDAY, "what happened last week?", (18,)),
    (MONDAY, "what happened last week?", (23, 24, 26, 27, 28, 29)),
    (MONDAY, "Was ist in der letzten Woche passiert?", (23, 24, 26, 27, 28, 29)),
    (MONDAY, "Sum up my week", (23, 24, 26, 27, 28, 29)),
    (MONDAY, "what happened this week?", (30,)),
    (MONDAY, "what did we do this weekend?", (28, 29)),
    (MONDAY, "Wat hebben we dit weekend gedaan?", (28, 29)),
)


@pytest.mark.parametrize(("now", "question", "days"), OF_CALENDAR)
def test_a_week_is_that_of_the_calendar_from_monday_to_sunday(
    memory: Memory, now: datetime, question: str, days: tuple[int, ...]
) -> None:
    said = {**SAID, **LATER}
    for day, texts in LATER.items():
        for minute, text in enumerate(texts):
            at = datetime(2026, 11, day, 10, minute, tzinfo=UTC)
            if at <= now:
                mine(memory).add({"name": "Lena", "content": text, "timestamp": at}, thread="home")
    mine(memory).flush()
    wanted = {text for day in days for text in said[day]}
    text = mine(memory).context(question, thread="new", at=now).text
    recall = mine(memory).search(question, now=now, limit=20)
    assert {one for texts in said.values() for one in texts if one in text} == wanted
    assert {proof.observation.text for hit in recall.hits for proof in hit.evidence} == wanted


STEPS = {
    "10:00": "dust the piano",
    "14:05": "vacuum the carpet",
    "15:35": "wipe the mirror",
    "16:30": "bring the post in",
}


@pytest.mark.parametrize(
    "question",
    [
        "What did I do yesterday between 14 and 16?",
        "What did you do yesterday from two to four?",
        "Was hast du gestern zwischen 14 und 16 Uhr gemacht?",
        "Qu'est-ce que j'ai fait hier entre 14h et 16h ?",
        "¿Qué hice ayer entre las 14 y las 16?",
        "昨天14点到16点我做了什么？",
    ],
)
def test_who_asks_for_hours_is_told_those_hours(open_memory: OpenMemory, question: str) -> None:
    memory = open_memory(link_policy="none", chain_policy="none")
    for time, action in STEPS.items():
        step = {"kind": "step", "action": action, "outcome": True, "timestamp": f"2026-11-27T{time}:00+00:00"}
        mine(memory).add(step, thread=action)
    mine(memory).flush()
    then = {"vacuum the carpet", "wipe the mirror"}
    text = mine(memory).context(question, thread="new", at=NOW).text
    assert {action for action in STEPS.values() if action in text} == then
    assert {text.split(";")[0] for text in hits(memory, question)} == then


def test_an_answer_of_the_evening_is_none_of_the_afternoon_that_is_asked_for(memory: Memory) -> None:
    there = mine(memory)
    times = [("Lena", "Leave the letter on my desk.", 16), ("", "The balcony door is locked.", 22)]
    for name, text, hour in times:
        at = datetime(2026, 11, 27, hour, tzinfo=UTC)
        whose = {"name": name} if name else {"role": "assistant"}
        there.add({**whose, "content": text, "timestamp": at}, thread="app")
    there.flush()
    text = there.context("What happened yesterday afternoon?", thread="new", at=NOW).text
    assert "Leave the letter" in text
    assert "balcony" not in text
