"""`add(wait=False)` returns after the durable append: vectors, boundaries and words follow without anybody waiting."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from builders.chats import Clock, diary, mine, say
from builders.embedders import TopicEmbedder

from episodic_agent import Memory
from episodic_agent.engine.boundary import pending
from episodic_agent.schemas import Vector
from episodic_agent.tools import memory_tools

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


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_message_of_a_megabyte_is_kept_without_being_cut_into_windows(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder = Held()
    embedder.let.set()
    memory = opened(embedder, jobs="workers")
    mine(memory).add(say("the tap drips. " * 66_000), wait=False)
    assert embedder.texts == 0
    assert mine(memory).search("which tap drips").hits


class Deep(TopicEmbedder):
    """An embedder that takes its time over whatever tells of a cello."""

    def __init__(self, name: str = "minilm-topics") -> None:
        super().__init__(*TOPICS, name=name)
        self.let, self.asked = threading.Event(), threading.Event()

    def embed(self, texts: Sequence[str]) -> Vector:
        if any("violoncello" in text for text in texts):
            self.asked.set()
            self.let.wait(60)
        return super().embed(texts)


SENTENCE = "Clara sold her violoncello in Porto."
DULL = ["It rains and rains."] * 1_500
DEEP = " ".join([*["The tap drips again."] * 400, *DULL, SENTENCE, *DULL])


def tells_of_the_cello(memory: Memory, deep: str = "long") -> bool:
    """Tell whether a question that shares no word with the sentence leads to the message by its meaning."""
    hits = mine(memory).search("cello").hits
    return [proof.id for hit in hits for proof in hit.evidence][:1] == [deep]


def test_a_long_message_is_acknowledged_by_its_beginning_and_found_by_its_pieces(opened: Opened) -> None:
    embedder = Deep()
    memory = opened(embedder)
    mine(memory).add("Lisbon is far away.", thread="other", timestamp=say("")["timestamp"])
    embedder.seen.clear()
    (receipt,) = mine(memory).add(DEEP, thread="long", id="long")  # would hang if it asked for all of it
    assert receipt.added
    assert mine(memory).search("the dripping tap").hits[0].evidence[0].id == "long"
    assert not tells_of_the_cello(memory)
    assert embedder.asked.wait(30)  # the background does
    mine(memory).add("The tap is new.", thread="other")  # nor does what comes after wait for it
    embedder.let.set()
    mine(memory).flush()
    assert tells_of_the_cello(memory)
    shown = mine(memory).search("Who sold a violoncello?")
    assert SENTENCE in str(shown)
    assert len(str(shown)) < 2_000
    answer = memory_tools(mine(memory)).call("search_memory", {"query": "Who sold a violoncello?"})
    assert SENTENCE in answer
    assert len(answer) < 4_000
    assert SENTENCE in mine(memory).context("Who sold her violoncello?").text


def test_what_is_left_of_a_long_message_is_embedded_by_the_next_process(
    opened: Opened, url: str, clock: Clock
) -> None:
    with Memory.open(url, embedder=Deep(), clock=clock, jobs="workers") as memory:
        mine(memory).add(DEEP, thread="long", id="long")
    embedder = Deep()
    embedder.let.set()
    memory = opened(embedder)
    mine(memory).flush()
    assert tells_of_the_cello(memory)
    mine(memory).erase(thread="long")
    assert not tells_of_the_cello(memory)


def test_a_long_message_that_is_erased_meanwhile_stays_erased(opened: Opened, url: str, clock: Clock) -> None:
    with Memory.open(url, embedder=Deep(), clock=clock, jobs="workers") as memory:
        mine(memory).add(DEEP, thread="long", id="long")
        mine(memory).add("Lisbon is far away.", thread="long")
        (first, _) = mine(memory).episodes.messages(mine(memory).episodes.list()[0].episode_id)
        mine(memory).erase(observation=str(first.id))
    embedder = Deep()
    embedder.let.set()
    memory = opened(embedder)
    mine(memory).flush()
    assert not tells_of_the_cello(memory)
    assert not any("violoncello" in text for text in embedder.seen)
    assert memory.jobs.list() == []


def test_another_embedder_and_another_memory_find_a_long_message_by_its_pieces(
    opened: Opened, tmp_path: Path
) -> None:
    first, second = Deep(), Deep("minilm-others")
    first.let.set()
    second.let.set()
    memory = opened(first)
    mine(memory).add(DEEP, thread="long", id="long")
    mine(memory).flush()
    path = tmp_path / "memory.jsonl"
    path.write_text("\n".join(line.rstrip("\n") for line in mine(memory).export()) + "\n")
    with Memory.open(tmp_path / "other.db", embedder=first) as other:
        mine(other).import_file(path)
        assert tells_of_the_cello(other)
    memory.close()
    changed = opened(second)
    changed.doctor(repair=True)
    mine(changed).flush()
    assert tells_of_the_cello(changed)
