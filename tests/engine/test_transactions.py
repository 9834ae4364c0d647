"""How often a verb that reads goes to the store: once, whatever it names."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from builders.counting import CountingStore

from episodic_agent import Memory
from episodic_agent.engine.memory import Memory as Engine
from episodic_agent.engine.user import UserMemory
from episodic_agent.errors import NotFound
from episodic_agent.faces.http.app import make_app
from episodic_agent.providers.embedders.hashing import HashingEmbedder
from episodic_agent.schemas import Vector
from episodic_agent.tools import memory_tools

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
READ = ["read"]
SAID = (
    ("Cleo", "We are moving to Lisbon in May"),
    ("Bo", "The flat in Alfama has a balcony"),
    ("Cleo", "The landlord wants two months of rent"),
)


class Watching(HashingEmbedder):
    """Notes what is embedded, and how many read transactions are open meanwhile."""

    def __init__(self) -> None:
        super().__init__()
        self.store: CountingStore | None = None
        self.texts: list[str] = []
        self.meanwhile: list[int] = []

    def embed(self, texts: Sequence[str]) -> Vector:
        self.texts += texts
        self.meanwhile.append(0 if self.store is None else self.store.open_reads)
        return super().embed(texts)


@contextmanager
def opened(url: str) -> Iterator[tuple[Engine, CountingStore, Watching]]:
    with ExitStack() as stack:
        outer = stack.enter_context(
            Memory.open(url, embedder="hashing", policy="seed-001", clock=lambda: NOW)
        )
        embedder = Watching()
        store = CountingStore(outer._deps.store)
        embedder.store = store
        deps = replace(outer._deps, store=store, embedder=embedder)
        memory = Engine(deps)
        ana = memory.user("ana", new=True)
        for n, (who, text) in enumerate(SAID):
            ana.add(text, thread="flat", role=who, timestamp=NOW - timedelta(minutes=9 - n))
        ana.flush()
        embedder.texts.clear()
        embedder.meanwhile.clear()
        yield memory, store, embedder


READS: dict[str, Callable[[UserMemory], object]] = {
    "search": lambda ana: ana.search("the rent"),
    "search in a thread": lambda ana: ana.search("the rent", thread="flat"),
    "search with a filter": lambda ana: ana.search("the rent", where="since=2026-03-01"),
    "search with its messages": lambda ana: ana.search("the rent", detail="high"),
    "retrieve": lambda ana: ana.retrieve("the rent", thread="flat", detail="high"),
    "context": lambda ana: ana.context("What about the rent?"),
    "context of a thread": lambda ana: ana.context("What about the rent?", thread="flat"),
    "recent": lambda ana: ana.episodes.recent(thread="flat"),
    "episodes": lambda ana: ana.episodes.list(thread="flat"),
    "places": lambda ana: ana.places.list(thread="flat"),
    "route": lambda ana: ana.places.route("flat"),
}


@pytest.mark.parametrize("what", READS)
def test_a_verb_that_reads_is_one_read_transaction(url: str, what: str) -> None:
    with opened(url) as (memory, store, _):
        assert store.counted(lambda: READS[what](memory.user("ana"))) == READ


def test_a_search_that_names_its_asker_writes_once_for_the_review(url: str) -> None:
    with opened(url) as (memory, store, _):
        asked = store.counted(lambda: memory.user("ana").search("the rent", thread="flat", asking="flat"))
    assert asked == ["read", "write"]


def test_who_speaks_is_looked_up_once_where_a_question_names_them(url: str) -> None:
    with opened(url) as (memory, store, embedder):
        first = store.counted(lambda: memory.user("ana").search("What did Cleo say of rent?"))
        again = store.counted(lambda: memory.user("ana").search("What did Bo say of rent?"))
    assert (first, again) == (["read", "read"], READ)
    assert embedder.texts[-2:] == ["What did you say of rent?"] * 2  # by then it is known who speaks


def test_nothing_is_embedded_while_a_transaction_is_open(url: str) -> None:
    with opened(url) as (memory, _, embedder):
        memory.user("ana").search("What did Cleo say of rent?")
        memory.user("ana").context("What about the rent?")
    assert set(embedder.meanwhile) == {0}


def test_an_answer_is_the_same_whoever_was_met_before(url: str) -> None:
    with opened(url) as (memory, _, _):
        first = memory.user("ana").search("What did Cleo say of rent?", explain=True)
        again = memory.user("ana").search("What did Cleo say of rent?", explain=True)
    assert first == again
    assert first.hits


def test_a_user_nobody_wrote_for_is_still_named(url: str) -> None:
    with opened(url) as (memory, _, _):
        for what, read in READS.items():
            if not what.startswith("context"):  # who is new has no past, and is no error there
                with pytest.raises(NotFound, match="no user 'zoe' in this memory; known users: ana"):
                    read(memory.user("zoe"))


def test_a_search_by_a_tool_is_one_read_transaction(url: str) -> None:
    with opened(url) as (memory, store, _):
        tools = memory_tools(memory.user("ana"))
        asked = store.counted(lambda: tools.call("search_memory", {"query": "the rent", "thread": "flat"}))
    assert asked == READ


@pytest.mark.parametrize("route", ["retrieve_memory", "retrieve_memory/raw"])
def test_a_search_over_http_is_one_read_transaction(url: str, route: str) -> None:
    testclient = pytest.importorskip("fastapi.testclient")
    with opened(url) as (memory, store, _):

        @contextmanager
        def served() -> Iterator[Engine]:
            yield memory

        body = {"user_id": "ana", "conversation_id": "flat", "query": "the rent", "detail": "high"}
        with testclient.TestClient(make_app(served, lambda: NOW), base_url="http://127.0.0.1") as client:
            answers = []
            asked = store.counted(lambda: answers.append(client.post(f"/api/v0/{route}", json=body)))
        assert asked == ["read", "write"]  # the write lets what the thread says next judge the answer
        assert answers[0].status_code == 200
        if route == "retrieve_memory":
            assert answers[0].text == memory.user("ana").retrieve(
                "the rent", thread="flat", detail="high", facts=20
            )
