"""Sequences and replay: what was told of a topic, in the order of time, on both stores."""

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest
from builders.chats import Clock
from builders.embedders import TopicEmbedder

from episodic_agent import Memory
from episodic_agent.engine.sequences import Sequenced, parents_of
from episodic_agent.errors import InvalidInput

START = datetime(2024, 3, 1, 9, tzinfo=UTC)
LEAK = (
    "The ingest worker has a memory leak again",
    "A heap dump shows where the memory leak of the worker is",
    "The memory leak came back while the bread was in the oven",
)
OTHER = (
    "Rye bread wants a long rest in the basket",
    "The cello teacher moved the lesson to Friday",
    "Flights to Lisbon are cheap in autumn",
)


def day(number: int) -> datetime:
    return START + timedelta(days=number)


def tell(memory: Memory, number: int, text: str, thread: str | None = None) -> None:
    name = thread or f"day {number}"
    for minute, line in enumerate((text, f"Noted for day {number}.")):
        role = "assistant" if minute else "user"
        at = day(number) + timedelta(minutes=minute)
        memory.add(line, thread=name, role=role, timestamp=at)
    memory.flush(thread=name)


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def month(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """Thirty days of one episode each, twelve of them about a memory leak; the newest is about bread.

    Told once for each store: who changes something takes it back.
    """
    with ExitStack() as stack:
        url = f"sqlite:///{tmp_path_factory.mktemp('month') / 'memory.db'}"
        if request.param == "postgres":
            databases = request.getfixturevalue("postgres")
            name = databases.ready()
            stack.callback(databases.drop, name)
            url = databases.url(name)
        yield stack.enter_context(told(url))


@contextmanager
def told(url: str) -> Iterator[Memory]:
    clock = Clock()
    embedder = TopicEmbedder("memory leak", "bread", "cello", "lisbon", "neptune", name="minilm-topics")
    with closing(Memory.open(url, embedder=embedder, policy="seed-001", clock=clock)) as memory:
        for number in range(30):
            about_leak = number % 5 in (1, 3)
            texts = LEAK if about_leak else OTHER
            tell(memory, number, texts[number % 3])
        yield memory


def days(found: list[Sequenced]) -> list[int]:
    return [(one.start_at - START).days for one in found]


def test_of_twelve_relevant_episodes_the_five_most_relevant_are_told_in_order(month: Memory) -> None:
    every = month.get_episode_sequence("memory leak", limit=30)
    assert days(every) == [n for n in range(30) if n % 5 in (1, 3)]
    best = sorted(every, key=lambda one: (-one.relevance, one.start_at))[:5]
    found = month.get_episode_sequence("memory leak", limit=5)
    assert days(found) == sorted(days(best))
    assert len({one.relevance for one in every}) > 1  # or the best five would be any five


def test_the_newest_order_tells_the_latest_five_and_nothing_off_topic(month: Memory) -> None:
    assert days(month.get_episode_sequence("memory leak", limit=5, order="recent")) == [18, 21, 23, 26, 28]
    assert 29 not in days(month.get_episode_sequence("memory leak", limit=30, order="recent"))


def test_an_empty_topic_is_a_matter_of_time_alone(month: Memory) -> None:
    assert days(month.get_episode_sequence("", limit=3)) == [27, 28, 29]
    assert days(month.get_episode_sequence(" ", limit=3, until=day(10))) == [7, 8, 9]


def test_a_stretch_of_time_bounds_a_sequence(month: Memory) -> None:
    found = month.get_episode_sequence("memory leak", since=day(8), until=day(13))
    assert days(found) == [8, 11]


def test_nothing_over_the_floor_is_no_episode(month: Memory) -> None:
    assert month.get_episode_sequence("memory leak", min_relevance=1.0) == []
    assert month.replay_topic("the tides of Neptune") == "No episodes found for topic: the tides of Neptune"


def test_the_seeds_policy_keeps_the_earliest_of_those_it_fetched(month: Memory) -> None:
    by_seed = month.get_episode_sequence("memory leak", limit=3, policy="seed-004")
    assert len(by_seed) == 3
    fetched = month.get_episode_sequence("memory leak", limit=6, policy="seed-004")
    assert days(by_seed) == days(fetched)[:3]


def test_what_is_suppressed_is_left_out(month: Memory) -> None:
    first = month.get_episode_sequence("memory leak", limit=12)[0]
    month.suppress(first.episode_id)
    assert first.episode_id not in {e.episode_id for e in month.get_episode_sequence("memory leak", limit=12)}
    assert first.episode_id not in {e.episode_id for e in month.get_episode_sequence("", limit=100)}
    assert month.unsuppress(first.episode_id)
    assert first.episode_id in {e.episode_id for e in month.get_episode_sequence("memory leak", limit=12)}


def test_metadata_filters_a_sequence_and_a_stranger_is_refused(month: Memory) -> None:
    every = month.get_episode_sequence("", limit=100)
    assert len(every) == 30
    tag = next(tag for one in every for tag in one.metadata.tags)
    having = [one.episode_id for one in every if tag in one.metadata.tags]
    assert [e.episode_id for e in month.get_episode_sequence(limit=100, where=[f"tag={tag}"])] == having
    assert len(having) < 30
    with pytest.raises(InvalidInput, match="no field"):
        month.get_episode_sequence("memory", where="flavour=sweet")


@pytest.mark.parametrize(
    "wrong",
    [
        {"limit": 0},
        {"min_relevance": 2.0},
        {"order": "backwards"},
        {"policy": "seed-000"},
        {"since": day(3), "until": day(2)},
        {"where": "tag="},
    ],
)
def test_what_cannot_be_told_is_refused_with_the_remedy(month: Memory, wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        month.get_episode_sequence("memory leak", **wrong)  # type: ignore[arg-type]


def test_a_replay_names_what_an_episode_goes_on_with(month: Memory) -> None:
    lines = month.replay_topic("memory leak", limit=5).splitlines()
    assert lines[0] == "📜 Episode history for 'memory leak' (5 episodes):"
    assert sum(line.startswith("• [2024-03-") for line in lines) == 5
    assert not any("continues from" in line for line in lines)


def chained(number: int, *, parent: int | None = None) -> Any:
    """An episode as a chain sees it: number n is the only one of session 100 + n."""
    above = None if parent is None else UUID(int=parent)
    return SimpleNamespace(
        id=UUID(int=number), thread_id=UUID(int=number), first_seq=0, parent_episode_id=above
    )


class Sessions:
    """Just what `parents_of` reads: each thread's part is a session; the parents of sessions are given."""

    def __init__(self, parents: dict[int, int]) -> None:
        self._parents = parents
        self.parts = self
        self.episodes = self

    def at(self, thread_id: UUID, seq: int) -> Any:
        return SimpleNamespace(episode_id=UUID(int=100 + thread_id.int))

    def get(self, episode_id: UUID) -> Any:
        above = self._parents.get(episode_id.int)
        return SimpleNamespace(parent_episode_id=None if above is None else UUID(int=above))


def test_the_session_an_episode_goes_on_with_is_told_by_its_last_episode() -> None:
    tx: Any = Sessions({102: 101, 103: 100})
    found = parents_of(tx, [chained(1), chained(2), chained(3), chained(4, parent=2)])
    assert [None if one is None else one.int for one in found.values()] == [None, 1, 100, 2]
