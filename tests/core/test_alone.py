"""Questions for nothing but what was said at a time, and such as ask for more, or for what happened."""

from datetime import UTC, datetime

import pytest

from episodic_agent.core.recall.alone import asks_what_was_said

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    "question",
    [
        "what did I say yesterday?",
        "what did we discuss last Monday?",
        "What did I tell you on 3 March?",
        "What did we talk about this morning?",
        "Did I mention anything last week?",
        "which topics did we talk about in May?",
        "show me what I said on Monday",
        "Was haben wir gestern besprochen?",
        "Worüber haben wir am Montag geredet?",
        "昨天我说了什么？",
        "¿De qué hablamos ayer?",
        "Qu'est-ce que j'ai dit hier ?",
        "De quels messages avons-nous parlé hier ?",  # "messages" is English too
        "Over welk onderwerp hebben we gisteren gesproken?",
        "О чём мы говорили вчера?",
        "what did we agree last week?",
        "what did I decide on Tuesday?",
        "Was haben wir letzte Woche vereinbart?",
        "¿En qué quedamos ayer?",
        "Qu'est-ce qu'on a décidé hier ?",
        "Geçen hafta neye karar verdik?",
        "上周我们约定了什么？",
        "昨日何を決めた？",
    ],
)
def test_who_asks_for_what_was_said_asks_for_a_time(question: str) -> None:
    assert asks_what_was_said(question, NOW)


@pytest.mark.parametrize(
    "question",
    [
        "what happened two weeks ago?",
        "what did I say about the rent in May?",
        "what do I have on Friday?",
        "who did I meet last week?",
        "Did I tell Ana about the party yesterday?",
        "What should I say to my boss tomorrow?",
        "what did the doctor say yesterday?",
        "was habe ich zu Katja gesagt gestern?",
        "When did I get the bike back?",
        "what did we agree for Friday?",
        "Was haben wir für Freitag vereinbart?",
        "what did I promise Tom yesterday?",
        "what did we decide about the rent on Monday?",
    ],
)
def test_who_asks_for_more_or_for_what_happened_does_not(question: str) -> None:
    assert not asks_what_was_said(question, NOW)


@pytest.mark.parametrize(
    "question",
    ["Should we talk on Monday?", "Shall I tell him on Friday?", "Soll ich das am Montag sagen?"],
)
def test_who_asks_what_should_be_said_asks_for_nothing_that_was(question: str) -> None:
    assert not asks_what_was_said(question, NOW)


@pytest.mark.parametrize(
    "question",
    ["Can you tell me what I said on Monday?", "Kannst du mir sagen, was wir gestern besprochen haben?"],
)
def test_who_asks_politely_for_what_was_said_still_does(question: str) -> None:
    assert asks_what_was_said(question, NOW)
