"""A question names a channel or a person who speaks here: what came by it, and what they said, is meant."""

from datetime import UTC, datetime, timedelta

import pytest
from builders.chats import Clock
from conftest import OpenMemory

from episodic_agent import UserMemory
from episodic_agent.engine.results import Recall

START = datetime(2026, 11, 2, 9, tzinfo=UTC)  # a Monday
TALK = (
    (0, "slack", "Priya", "the mixer of shop two is loud again"),
    (25, "slack", "Tomasz", "oven two is fifteen degrees off"),
    (25.2, "whatsapp-landlord", "Mr Whitcombe", "the roofer comes on Wednesday"),
    (26, "voice", "Nadia", "I think the lease is too dear"),
    (49, "slack", "Tomasz", "I ordered new trays"),
)


@pytest.fixture
def shops(open_memory: OpenMemory, clock: Clock) -> UserMemory:
    shops = open_memory().user("nadia", new=True)
    for hours, channel, who, text in TALK:
        clock.now = START + timedelta(hours=hours)
        shops.add(text, role=who, channel=channel, thread="all", timestamp=clock.now)
    recipes = [{"content": f"recipe {n}: flour, butter and salt", "timestamp": clock.now} for n in range(30)]
    shops.add(recipes, thread="recipes", channel="web")
    clock.now = START + timedelta(days=4)
    shops.flush()
    return shops


def texts(recall: Recall) -> list[str]:
    return [proof.observation.text for hit in recall.hits for proof in hit.evidence]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("what happened on Slack on Tuesday?", "oven two is fifteen degrees off"),
        ("was ist am Dienstag auf Slack passiert?", "oven two is fifteen degrees off"),
        ("what was said on WhatsApp on Tuesday?", "the roofer comes on Wednesday"),
        ("qu'est-ce qui s'est passé mardi sur Slack ?", "oven two is fifteen degrees off"),
    ],
)
@pytest.mark.parametrize("filtered", [False, True])
def test_what_happened_on_a_channel_on_a_day_is_what_came_by_it_then(
    shops: UserMemory, clock: Clock, question: str, answer: str, filtered: bool
) -> None:
    channel = ("slack" if "oven" in answer else "whatsapp-landlord") if filtered else None
    recall = shops.search(question, channel=channel)
    assert texts(recall) == [answer]
    if not filtered:
        context = shops.context(question, thread="new", at=clock.now).text
        assert [text for *_, text in TALK if text in context] == [answer]


def test_a_channel_is_known_by_its_name_though_nobody_says_it(shops: UserMemory) -> None:
    for name, is_known in (("Slack", True), ("WhatsApp", True), ("Discord", False)):
        recall = shops.search(f"which violin did {name} recommend to Nadia?")
        assert not recall.hits
        assert [note for note in recall.notes if f"'{name}' is never mentioned" in note] == [] or not is_known
        assert is_known or f"'{name}' is never mentioned here" in recall.notes[-1]


def test_what_somebody_said_on_a_day_is_what_they_said_themselves(shops: UserMemory, clock: Clock) -> None:
    recall = shops.search("What did Tomasz say on Tuesday?")
    assert texts(recall) == ["oven two is fifteen degrees off"]
    assert recall.confidence >= 0.9
    context = shops.context("What did Tomasz say on Tuesday?", thread="new", at=clock.now).text
    assert [text for *_, text in TALK if text in context] == ["oven two is fifteen degrees off"]
    everybody = texts(shops.search("what was said on Tuesday?", limit=9))
    assert {"oven two is fifteen degrees off", "I think the lease is too dear"} <= {*everybody}
    silent = shops.search("What did Priya say on Tuesday?")  # she did on Monday
    assert all(hit.confidence < 0.9 for hit in (*silent.hits, *silent.candidates))
