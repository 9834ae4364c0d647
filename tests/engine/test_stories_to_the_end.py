"""A story asked for by its matter, where several are alive at once: all of it is told, up to the last word."""

import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from builders.chats import mine

from episodic_agent import Memory
from episodic_agent.engine.user import UserMemory
from episodic_agent.providers.embedders.minilm import MiniLM, is_present
from episodic_agent.wiring import load_settings

# Evenings of one person: a day of May, then what she said. Most evenings hold two matters.
EVENINGS = (
    (1, "Had the interview with Brightwater today, the Bristol people who do tide power. I think they liked me"),
    (1, "My sister Marta is pregnant! Due in November. I cried in the supermarket"),
    (2, "The doctor gave me ramipril for the blood pressure, 2.5 milligrams, every morning"),
    (3, "Viewed the flat in Kestrel Road with Owen, two rooms, 980 a month. The balcony!"),
    (3, "The Volvo makes a grinding noise when I brake"),
    (5, "Brightwater made me an offer, 54k, start in September"),
    (5, "Choir was fun, we sing the Fauré in June"),
    (6, "We told the landlord we want the Kestrel Road flat, moving in on 1 July"),
    (8, "I accepted the Brightwater job. Signed the letter at lunch"),
    (8, "Still owe Owen 40 for the train tickets"),
    (9, "Garage says the Volvo needs new brake discs, 380 pounds"),
    (11, "Owen and I split up. I cannot talk about it"),
    (12, "Wrote to the landlord that we are out of Kestrel Road"),
    (12, "Slept two hours, ate toast"),
    (14, "Blood pressure still high, so ramipril 5 milligrams from tomorrow"),
    (14, "Marta sent the scan picture. It looks like a peanut"),
    (16, "I wrote Brightwater that I am not coming after all. I stay where I am"),
    (16, "The Fauré is hard, the tenors drown us"),
    (18, "Picked up the Volvo, brakes are quiet again, it was 410 in the end"),
    (20, "Nadia knows of a flat in Mill Lane, one room and a garden, 760 a month"),
    (20, "My cough will not go away"),
    (21, "Saw the flat in Mill Lane. I want it so much"),
    (23, "Doctor says the cough comes from the ramipril, I change to candesartan 8 milligrams"),
    (23, "Marta had a scare, spotting, but the baby is fine"),
    (25, "YES from Mill Lane. I sign on Thursday"),
    (27, "Brightwater asked again, 60k and four days from home. I told them no, and I like my no"),
    (27, "Fauré rehearsal with the orchestra on Sunday"),
    (28, "Signed! Mill Lane is mine from 15 June"),
    (30, "It is a boy, Marta is over the moon"),
)  # fmt: skip
# What is asked for, the days that have to be told, and days that must not be.
CASES = (
    ("job at Brightwater", {1, 5, 8, 16, 27}, {2, 9, 11, 20, 21, 28, 30}),
    ("the Brightwater offer", {5, 8, 16, 27}, {2, 9, 11, 20, 21, 28, 30}),
    ("the flat in Mill Lane", {20, 21, 25, 28}, {2, 5, 9, 16, 18, 27, 30}),
    ("Kestrel Road flat", {3, 6, 12}, {1, 2, 5, 9, 16, 18, 27, 30}),
    ("the flats", {3, 6, 20, 21}, {2, 5, 9, 16, 18, 27, 30}),
    ("ramipril dose", {2, 14, 23}, {1, 3, 5, 8, 16, 18, 27, 28}),
    ("Marta's pregnancy", {1, 14, 23, 30}, {3, 6, 9, 11, 18, 20, 21, 28}),
    ("brakes of the Volvo", {3, 9, 18}, {1, 6, 11, 12, 20, 21, 27, 28, 30}),
    ("singing in the choir", {5}, {2, 3, 6, 9, 11, 18, 20, 21, 28, 30}),
    ("the dog's vaccination", set(), set(range(1, 31))),
)  # fmt: skip
MAY = datetime(2026, 5, 1, 19, tzinfo=UTC)


def _embedder() -> MiniLM | str:
    folder = Path(load_settings().cache)
    if is_present(folder):
        return MiniLM(folder)
    if os.environ.get("EPISODIC_TEST_MODEL") == "required":
        pytest.fail("no model; run `episodic models pull`")
    return "none"


@pytest.fixture(scope="module")
def evenings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[UserMemory]:
    embedder = _embedder()
    if embedder == "none":
        pytest.skip("what is meant and not said needs a model")
    now = [MAY]
    database = tmp_path_factory.mktemp("evenings") / "memory.db"
    with Memory.open(database, embedder=embedder, clock=lambda: now[0]) as memory:
        me = memory.user("ines")
        for place, (day, text) in enumerate(EVENINGS):
            now[0] = MAY + timedelta(days=day - 1, minutes=place % 2)
            me.add(text, channel="app", timestamp=now[0])
            now[0] += timedelta(seconds=20)
            me.add("I hear you.", role="assistant", channel="app", timestamp=now[0])
        me.flush()
        yield me


def days(me: UserMemory, topic: str) -> set[int]:
    return {one.start_at.day for one in me.chains.sequence(topic, limit=20)}


@pytest.mark.parametrize(("topic", "told", "others"), CASES, ids=[case[0] for case in CASES])
def test_a_matter_is_told_from_its_first_word_to_its_last(
    evenings: UserMemory, topic: str, told: set[int], others: set[int]
) -> None:
    result = days(evenings, topic)
    assert told <= result
    assert not result & others


def test_a_story_cut_by_its_limit_keeps_the_last_word(evenings: UserMemory) -> None:
    every = evenings.chains.sequence("job at Brightwater", limit=20)
    assert len(every) > 3
    story = evenings.chains.replay("job at Brightwater", limit=3)
    assert story.count("\n• [") == 3
    assert "• [2026-05-27]" in story
    assert "left out" in story


def test_no_outcome_is_told_that_nobody_declared(evenings: UserMemory) -> None:
    """That she accepted is how one evening went; two weeks later she declined."""
    assert "Outcome" not in evenings.chains.replay("job at Brightwater", limit=20)


def test_lists_keep_what_suppressed_words_hide_and_stories_do_not(open_memory: Callable[..., Memory]) -> None:
    """A list is for whoever takes care of a memory: what is hidden can be found there, and shown again."""
    memory = open_memory()
    mine(memory).add("I live with Jonas in Faro.", thread="faro")
    mine(memory).flush()
    memory.jobs.run()
    assert mine(memory).chains.sequence("") != []
    mine(memory).episodes.suppress(words="Jonas")
    (card,) = mine(memory).episodes.list()
    assert "Jonas" in card.title
    assert "Jonas" in card.hidden
    assert "Jonas" in str(mine(memory).facts.list(suppressed=True))
    assert "Jonas" not in str(mine(memory).facts.list())
    assert mine(memory).chains.sequence("") == []
    assert "Jonas" not in mine(memory).context("Where do I live?").text


def test_a_thread_named_after_the_topic_is_told_whole_and_can_be_named() -> None:
    subject = "mail: Lindner loft stairs"
    with Memory.open(":memory:") as memory:
        tom = memory.user("tom")
        for day, text in (("02", "Oak treads, please."), ("09", "That is too expensive."), ("16", "Agreed.")):
            tom.add(text, thread=subject, channel="email", timestamp=f"2026-03-{day}T09:00:00Z")
        tom.add("Zinc for the school.", thread="site", channel="chat", timestamp="2026-03-03T09:00:00Z")
        tom.flush()
        every = [{}, {"only": [subject]}, {"thread": subject}, {"channel": "email"}]
        for narrow in every:
            story = tom.chains.replay("Lindner stairs", limit=20, **narrow)
            assert all(text in story for text in ("Oak treads", "too expensive", "Agreed")), narrow
            assert "Zinc" not in story
        assert "No episodes" in tom.chains.replay("Lindner stairs", thread="site")
