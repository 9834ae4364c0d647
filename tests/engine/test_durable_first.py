"""`add(wait=False)` returns after the durable append: vectors, boundaries and words follow without anybody waiting."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import Any

import pytest
from builders.chats import Clock, diary, mine, say
from builders.embedders import TopicEmbedder

from episodic_agent import Memory
from episodic_agent.engine.boundary import pending
from episodic_agent.schemas import Vector

TOPICS = ("tap", "lisbon", "cello", "bread")
Opened = Callable[..., Memory]


class Held:
    """An embedder that embeds nothing until it is let."""

    name = "held"
    dimensions = TopicEmbedder(*TOPICS).dimensions

    def __init__(self) -> None:
        self.inner = TopicEmbedder(*TOPICS)
        self.let = threading.Event()
        self.asked = threading.Event()
        self.texts = 0

    def embed(self, texts: Sequence[str]) -> Vector:
        self.asked.set()
        self.let.wait()
        self.texts += len(texts)
        return self.inner.embed(texts)


@pytest.fixture
def opened(url: str, clock: Clock) -> Iterator[Opened]:
    with ExitStack() as stack:

        def opened(embedder: Any, **more: Any) -> Memory:
            return stack.enter_context(Memory.open(url, embedder=embedder, clock=clock, **more))

        yield opened


def cuts(memory: Memory) -> list[tuple[int, str]]:
    return [(card.observations, card.state) for card in mine(memory).episodes.list()]


def test_nobody_waits_for_the_embedder_and_the_words_are_found_at_once(opened: Opened) -> None:
    embedder = Held()
    memory = opened(embedder)
    receipts = mine(memory).add(diary(), wait=False)  # would hang if it asked for a vector
    assert all(receipt.added for receipt in receipts)
    assert mine(memory).stats().observations == 16
    embedder.asked.wait()  # the background does
    embedder.let.set()


def test_open_words_are_found_before_their_vectors(opened: Opened) -> None:
    memory = opened("hashing", jobs="workers")
    mine(memory).add(diary(), wait=False)  # nobody embeds it here
    assert "embed" in [job.kind for job in memory.jobs.list()]
    hit = mine(memory).search("who teaches the cello strokes").hits[0]
    assert (hit.state, "cello" in hit.evidence[0].observation.text) == ("open", True)


def test_what_follows_later_is_what_would_have_come_at_once(
    opened: Opened, database: Any, clock: Clock
) -> None:
    memory = opened(TopicEmbedder(*TOPICS))
    mine(memory).add(diary(), wait=False)
    mine(memory).flush()
    with Memory.open(
        database.with_name("twin.db"), embedder=TopicEmbedder(*TOPICS), clock=clock
    ) as duplicate:
        mine(duplicate).add(diary())
        mine(duplicate).flush()
        assert cuts(memory) == cuts(duplicate)
        assert [c.title for c in mine(memory).episodes.list()] == [
            c.title for c in mine(duplicate).episodes.list()
        ]


def test_a_process_that_ends_while_it_embeds_gives_the_rest_to_the_next(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pending, "TOGETHER", 50)
    embedder = Held()
    first = opened(embedder)
    mine(first).add(diary(), wait=False)
    embedder.asked.wait()
    closing = threading.Thread(target=first.close)
    closing.start()
    while not first._works.later._runner.halted:  # told to stop, and waiting for the batch
        closing.join(0.001)
    embedder.let.set()
    closing.join()
    assert embedder.texts < 16  # it did not embed all there was
    with_rest = opened(embedder, resume=False)
    (job,) = (job for job in with_rest.jobs.list() if job.kind == "embed")
    assert (job.state, job.attempts) == ("waiting", 0)
    mine(with_rest).flush()
    assert embedder.texts >= 16
    assert sum(count for count, _ in cuts(with_rest)) == 16


def test_a_message_of_a_megabyte_is_kept_without_being_cut_into_windows(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder = Held()
    embedder.let.set()
    memory = opened(embedder, jobs="workers")
    mine(memory).add(say("the tap drips. " * 66_000), wait=False)
    assert embedder.texts == 0
    assert mine(memory).search("which tap drips").hits
