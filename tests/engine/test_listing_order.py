"""What was said at one time is listed as it was said, by every verb that lists, on both stores."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

import pytest
from builders.chats import Clock, mine

from episodic_agent import Memory
from episodic_agent.engine.results import EpisodeCard

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
PARTS = 7
TEXTS = [f"The kettle whistles, number {n}" for n in range(PARTS)]


@pytest.fixture
def memory(url: str, clock: Clock) -> Iterator[Memory]:
    """Open a memory with one thread of several episodes, all at noon, the last of them open."""
    with Memory.open(url, embedder="none", policy="seed-001", clock=clock) as opened:
        for n, text in enumerate(TEXTS):
            if n:
                mine(opened).threads.close("kitchen")
            mine(opened).add(text, timestamp=NOON, thread="kitchen")
        yield opened


def said(memory: Memory, cards: Sequence[EpisodeCard]) -> list[int]:
    return [mine(memory).episodes.messages(card.episode_id)[0].seq for card in cards]


def test_episodes_of_one_time_are_listed_as_they_were_said(memory: Memory) -> None:
    numbers = list(range(PARTS))
    assert (
        said(memory, mine(memory).episodes.list())
        == said(memory, mine(memory).episodes.list(thread="kitchen"))
        == numbers
    )
    assert said(memory, mine(memory).episodes.list(limit=3)) == numbers[-3:]


@pytest.mark.parametrize("thread", [None, "kitchen"])
def test_the_newest_of_one_time_are_those_said_last(memory: Memory, thread: str | None) -> None:
    newest = list(range(PARTS))[::-1]
    assert said(memory, mine(memory).episodes.recent(thread=thread)) == newest
    assert said(memory, mine(memory).episodes.recent(limit=3, thread=thread)) == newest[:3]


def test_what_is_found_equally_well_comes_as_it_was_said(memory: Memory) -> None:
    recall = mine(memory).search("whistles", observations=PARTS)
    ranked = [(-one.score, one.observation.seq) for one in recall.observations]
    assert ranked == sorted(ranked)
    assert len({score for score, _ in ranked}) < len(ranked) - 2
    hits = [(-hit.score, hit.evidence[0].observation.seq) for hit in recall.hits]
    assert hits == sorted(hits)
    assert len({score for score, _ in hits}) < len(hits) - 1


def test_a_sequence_of_one_time_is_told_as_it_was_said(memory: Memory) -> None:
    sequence = mine(memory).chains.sequence("", limit=PARTS)
    assert [mine(memory).episodes.messages(one.episode_id)[0].seq for one in sequence] == list(
        range(PARTS - 1)
    )


def test_what_came_late_is_told_by_when_it_was_said(url: str, clock: Clock) -> None:
    question, answer = "What does the guidebook cost?", "The guidebook? It costs 32 euros in the shop."
    with Memory.open(url, embedder="none", policy="seed-001", clock=clock) as memory:
        user = mine(memory)
        for minutes, name, text in ((2, "Farid", answer), (0, "Greta", question)):
            line = {"name": name, "content": text, "timestamp": NOON + timedelta(minutes=minutes)}
            user.add(line, channel="telegram")
        for _ in ("open", "closed"):
            (card,) = user.episodes.list()
            assert [one.text for one in user.episodes.messages(card.episode_id)] == [question, answer]
            (contents,) = user.episodes.contents([card])
            assert contents is not None
            assert [one.text for one in contents.messages] == [question, answer]
            assert "guidebook cost" in card.title
            assert card.summary.index("Greta") < card.summary.index("Farid")
            user.flush()
        assert (told := user.chains.replay("guidebook")).index("Greta") < told.index("Farid")


def test_a_card_counts_no_message_that_was_erased(url: str, clock: Clock) -> None:
    with Memory.open(url, embedder="none", policy="seed-001", clock=clock) as memory:
        user = mine(memory)
        for n, text in enumerate(TEXTS[:3]):
            user.add({"id": f"m{n}", "content": text, "timestamp": NOON}, thread="kitchen")
        user.flush()
        user.add("What is for lunch today?", thread="kitchen", timestamp=NOON)
        user.erase(observation="m1")
        cards = user.episodes.list()
        assert [card.observations for card in cards] == [2, 1]
        assert [len(user.episodes.messages(card.episode_id)) for card in cards] == [2, 1]
        assert [card.observations for card in user.episodes.recent()] == [1, 2]
