"""A memory whose vectors come from a server: it ingests, searches, and lives through the server's absence."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from builders.chats import CELLO, LISBON, TAP, Clock, mine, talk
from conftest import OpenMemory

from benchmarks.served import Endpoint, served
from episodic_agent.errors import InvalidInput, ProviderError
from episodic_agent.protocols import OBSERVATIONS
from episodic_agent.providers.embedders.hashing import HashingEmbedder
from episodic_agent.providers.embedders.openai import EmbedderLimits, OpenAIEmbedder
from episodic_agent.schemas import Scope

QUESTION = "what did the plumber say about the tap"


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with served(HashingEmbedder(64).embed) as running:
        yield running


def remote(endpoint: Endpoint, dimensions: int | None = None) -> OpenAIEmbedder:
    """An embedder that gives up at the first failure and asks again the next time."""
    limits = EmbedderLimits(tries=1, away=0.0)
    return OpenAIEmbedder("small", base_url=endpoint.url, dimensions=dimensions, limits=limits)


def vectors(memory: object, embedder: str) -> int:
    """Count the observations that have a vector of an embedder."""
    with memory._deps.store.begin(Scope(), write=False) as tx:  # type: ignore[attr-defined]
        thread = tx.threads.list()[0]
        number = tx.threads.number(thread.id)
        return len(tx.index.vectors(OBSERVATIONS, embedder, [(number << 32) | n for n in range(50)]))


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["default", "seed-001"])
def test_what_is_told_while_the_server_is_down_gets_its_vectors_later(
    open_memory: OpenMemory, endpoint: Endpoint, clock: Clock, policy: str, tmp_path: Path
) -> None:
    memory = open_memory(embedder=remote(endpoint), policy=policy)
    mine(memory).add(talk(TAP, 0))
    assert vectors(memory, "openai:small") == 4
    asked = len(endpoint.asked)
    endpoint.down = True
    receipts = mine(memory).add(talk(LISBON, 1))
    assert [r.added for r in receipts] == [True] * 4
    recall = mine(memory).search(QUESTION)
    assert recall.hits
    assert "recall by words only: openai:small cannot be reached" in recall.notes[0]
    assert vectors(memory, "openai:small") == 4
    assert memory.jobs.list()
    assert len(endpoint.asked) == asked
    endpoint.down = False
    clock.forward(hours=2)  # past the wait of the job that failed
    assert memory.jobs.run() > 0
    mine(memory).add(talk(CELLO, 2))
    assert vectors(memory, "openai:small") == 12
    recall = mine(memory).search(QUESTION, explain=True)
    assert recall.notes == []
    assert recall.observations[0].legs["dense"] > 0
    mine(memory).flush()
    assert [f for f in memory.doctor() if f.severity == "error"] == []

    full_memory = open_memory(tmp_path / "never-down.db", embedder=remote(endpoint), policy=policy)
    for lines, day in ((TAP, 0), (LISBON, 1), (CELLO, 2)):
        mine(full_memory).add(talk(lines, day))
    mine(full_memory).flush()
    spans = [(e.observations, e.reason) for e in mine(memory).episodes.list()]
    assert spans == [(e.observations, e.reason) for e in mine(full_memory).episodes.list()]


def test_a_refused_key_keeps_what_was_told_and_the_job_says_why(
    open_memory: OpenMemory, endpoint: Endpoint
) -> None:
    memory = open_memory(embedder=remote(endpoint))
    endpoint.scripted.extend([(401, {}, b'{"error": {"message": "no such key"}}')] * 9)
    assert mine(memory).add("the tap drips and the cupboard under the sink is wet")[0].added
    waiting = [entry for entry in memory.jobs.list() if entry.kind == "embed"]
    assert "set EPISODIC_OPENAI_API_KEY" in (waiting[0].last_error or "")
    assert mine(memory).search("tap").hits


@pytest.mark.slow
def test_vectors_of_two_embedders_live_in_one_file_and_are_never_compared(
    open_memory: OpenMemory, endpoint: Endpoint
) -> None:
    with open_memory(embedder=remote(endpoint)) as first:
        mine(first).add(talk(TAP, 0))
    with open_memory(embedder=remote(endpoint, 16)) as second:
        mine(second).add(talk(LISBON, 1))
        mine(second).flush()
        assert vectors(second, "openai:small") == 4
        assert vectors(second, "openai:small?dimensions=16") == 8  # the open frame was embedded again
        assert [f for f in second.doctor() if f.severity == "error"] == []
        dense = {
            e.observation.seq: e.legs["dense"]
            for e in mine(second).search(QUESTION, explain=True).observations
        }
        assert any(dense.values())
    with open_memory(embedder="hashing") as third:
        assert mine(third).search(QUESTION).hits
        assert third.doctor(repair=True) is not None
        assert vectors(third, "hashing-256") == 8


def test_a_server_that_serves_another_model_by_the_same_name_is_refused(
    open_memory: OpenMemory, endpoint: Endpoint
) -> None:
    with open_memory(embedder=remote(endpoint)) as memory:
        mine(memory).add(talk(TAP, 0))
    with served(HashingEmbedder(32).embed) as other:
        memory = open_memory(embedder=remote(other))
        with pytest.raises(InvalidInput, match=r"openai:small gave 64 dimensions before, now 32.*name"):
            mine(memory).add(talk(LISBON, 1))
        with pytest.raises(InvalidInput, match=r"openai:small has 64 dimensions.*name"):
            mine(memory).search(QUESTION)
        assert mine(memory).stats().observations == 4
        assert mine(memory).episodes.recent()


def test_a_memory_opens_by_the_name_of_a_model_and_asks_nobody(
    open_memory: OpenMemory, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EPISODIC_OPENAI_BASE_URL", endpoint.url)
    memory = open_memory(embedder="openai:small?dimensions=8")
    assert mine(memory).stats().embedder == "openai:small?dimensions=8"
    assert endpoint.asked == []
    mine(memory).add("the tap drips")
    assert endpoint.asked[0]["dimensions"] == 8


@pytest.mark.parametrize(
    ("name", "url", "problem"),
    [
        ("openai:small", "", "needs EPISODIC_OPENAI_API_KEY, or EPISODIC_OPENAI_BASE_URL"),
        ("openai:", "http://127.0.0.1:9/v1", "names no model"),
        ("openai:m?size=3", "http://127.0.0.1:9/v1", "dimensions=N"),
        ("openai:m", "127.0.0.1:9", "EPISODIC_OPENAI_BASE_URL must be"),
        ("opneai:m", "", "there are auto, minilm, minilm-int8"),
    ],
)
def test_a_server_that_cannot_be_meant_is_refused_before_anything_is_made(
    open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch, name: str, url: str, problem: str
) -> None:
    monkeypatch.setenv("EPISODIC_OPENAI_BASE_URL", url)
    with pytest.raises(InvalidInput, match=problem):
        open_memory(embedder=name)


def test_an_unreachable_server_fails_a_plain_embedding_with_one_line(endpoint: Endpoint) -> None:
    endpoint.down = True
    with pytest.raises(ProviderError) as caught:
        remote(endpoint).embed(["tea"])
    assert "\n" not in str(caught.value)
