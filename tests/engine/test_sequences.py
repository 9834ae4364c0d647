"""Sequences and replay: what was told of a topic, in the order of time, on both stores."""

import re
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any
from uuid import UUID, uuid4

import pytest
from builders.chats import Clock, mine
from builders.embedders import TopicEmbedder

from episodic_agent import Memory
from episodic_agent.engine.chains.sequences import Sequenced, parents_of
from episodic_agent.errors import InvalidInput
from episodic_agent.schemas import Scope
from episodic_agent.tools import memory_tools

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
        mine(memory).add(line, thread=name, role=role, timestamp=at)
    mine(memory).flush(thread=name)


@pytest.fixture(scope="module", params=["sqlite", pytest.param("postgres", marks=pytest.mark.slow)])
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
    topics = ("memory leak", "bread", "cello", "lisbon", "neptune", "dumps")
    embedder = TopicEmbedder(*topics, name="minilm-topics")
    with closing(Memory.open(url, embedder=embedder, policy="seed-001", clock=clock)) as memory:
        for number in range(30):
            about_leak = number % 5 in (1, 3)
            texts = LEAK if about_leak else OTHER
            tell(memory, number, texts[number % 3])
        yield memory


def days(sequenceds: list[Sequenced]) -> list[int]:
    return [(one.start_at - START).days for one in sequenceds]


def test_of_twelve_relevant_episodes_the_five_most_relevant_are_told_in_order(month: Memory) -> None:
    every = mine(month).chains.sequence("memory leak", limit=30)
    assert days(every) == [n for n in range(30) if n % 5 in (1, 3)]
    best = sorted(every, key=lambda one: (-one.relevance, one.start_at))[:5]
    sequence = mine(month).chains.sequence("memory leak", limit=5)
    assert days(sequence) == sorted(days(best))
    assert len({one.relevance for one in every}) > 1  # or the best five would be any five


def test_a_topic_of_one_word_is_told_where_the_word_stands(month: Memory) -> None:
    """To this embedder nothing that was said means "dumps": a lone word is far from most sentences."""
    assert days(mine(month).chains.sequence("dumps", limit=30)) == [1, 13, 16, 28]
    assert "A heap dump shows" in mine(month).chains.replay("dumps")
    assert mine(month).chains.sequence("dumps of tides", limit=30) == []


def test_the_newest_order_tells_the_latest_five_and_nothing_off_topic(month: Memory) -> None:
    assert days(mine(month).chains.sequence("memory leak", limit=5, order="recent")) == [18, 21, 23, 26, 28]
    assert 29 not in days(mine(month).chains.sequence("memory leak", limit=30, order="recent"))


def test_an_empty_topic_is_a_matter_of_time_alone(month: Memory) -> None:
    assert days(mine(month).chains.sequence("", limit=3)) == [27, 28, 29]
    assert days(mine(month).chains.sequence(" ", limit=3, until=day(10))) == [7, 8, 9]


def test_a_stretch_of_time_bounds_a_sequence(month: Memory) -> None:
    sequence = mine(month).chains.sequence("memory leak", since=day(8), until=day(13))
    assert days(sequence) == [8, 11]


def test_nothing_over_the_floor_is_no_episode(month: Memory) -> None:
    assert mine(month).chains.sequence("memory leak", min_relevance=1.0) == []
    assert (
        mine(month).chains.replay("the tides of Neptune")
        == "No episodes found for topic: the tides of Neptune"
    )


def test_the_seeds_policy_keeps_the_earliest_of_those_it_fetched(month: Memory) -> None:
    by_seed = mine(month).chains.sequence("memory leak", limit=3, policy="seed-004")
    assert len(by_seed) == 3
    fetched = mine(month).chains.sequence("memory leak", limit=6, policy="seed-004")
    assert days(by_seed) == days(fetched)[:3]


def test_what_is_suppressed_is_left_out(month: Memory) -> None:
    first = mine(month).chains.sequence("memory leak", limit=12)[0]
    mine(month).episodes.suppress(first.episode_id)
    assert first.episode_id not in {
        e.episode_id for e in mine(month).chains.sequence("memory leak", limit=12)
    }
    assert first.episode_id not in {e.episode_id for e in mine(month).chains.sequence("", limit=100)}
    assert mine(month).episodes.unsuppress(first.episode_id)
    assert first.episode_id in {e.episode_id for e in mine(month).chains.sequence("memory leak", limit=12)}


def test_metadata_filters_a_sequence_and_a_stranger_is_refused(month: Memory) -> None:
    every = mine(month).chains.sequence("", limit=100)
    assert len(every) == 30
    tag = next(tag for one in every for tag in one.metadata.tags)
    having = [one.episode_id for one in every if tag in one.metadata.tags]
    assert [e.episode_id for e in mine(month).chains.sequence(limit=100, where=[f"tag={tag}"])] == having
    assert len(having) < 30
    with pytest.raises(InvalidInput, match="no field"):
        mine(month).chains.sequence("memory", where="flavour=sweet")


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
        mine(month).chains.sequence("memory leak", **wrong)  # type: ignore[arg-type]


def test_a_replay_names_what_an_episode_goes_on_with(month: Memory) -> None:
    lines = mine(month).chains.replay("memory leak", limit=5).splitlines()
    assert lines[0] == "📜 Episode history for 'memory leak' (5 episodes):"
    assert sum(line.startswith("• [2024-03-") for line in lines) == 5
    assert not any("continues from" in line for line in lines)


def test_the_seed_compares_a_topic_with_title_and_summary(url: str, clock: Clock) -> None:
    embedder = TopicEmbedder("cutover", "invoices", name="minilm-topics")
    with Memory.open(
        url, embedder=embedder, policy="seed-001", chain_policy="seed-004", clock=clock
    ) as memory:
        started = mine(memory).sessions.start("The cutover", timestamp=day(0))
        mine(memory).add("All invoices are copied.", thread=started.thread, timestamp=day(0))
        mine(memory).sessions.end(started.id)
        for topic in ("cutover", "invoices"):  # of the title alone, and of the summary alone
            (sequenced,) = mine(memory).chains.sequence(topic, policy="seed-004")
            assert sequenced.relevance == pytest.approx(0.5**0.5, abs=0.01)
        (both,) = mine(memory).chains.sequence("invoices at the cutover", policy="seed-004")
        assert both.relevance == pytest.approx(1.0, abs=0.01)
        on = mine(memory).sessions.start("invoices at the cutover", timestamp=day(1))
        assert on.parent_episode_id == started.id


BILLING = (
    ("Billing migration", "The billing migration begins: the invoices table is copied.", None),
    ("Billing migration, second day", "The billing migration goes on with the customers.", "partial"),
    ("Nightly totals", "The totals of the night differ by eleven cents.", None),
    ("Rounding", "Rounding half up mends the cents.", None),
    ("Switch over", "The old tables are dropped, all is switched over.", "success"),
)


def billing(memory: Memory) -> list[UUID]:
    """Hold five sessions of one chain, of which two name its topic; return their events."""
    above, result = None, []
    for number, (topic, text, outcome) in enumerate(BILLING):
        started = mine(memory).sessions.start(topic, parent_episode_id=above, timestamp=day(number))
        mine(memory).add(text, thread=started.thread, timestamp=day(number) + timedelta(minutes=1))
        above = mine(memory).sessions.end(started.id, outcome).id
        result += [card.episode_id for card in mine(memory).episodes.list(thread=started.thread)]
    return result


@pytest.fixture
def story(url: str, clock: Clock) -> Iterator[tuple[Memory, list[UUID]]]:
    with Memory.open(url, embedder="none", policy="seed-001", clock=clock) as memory:
        events = billing(memory)
        mine(memory).add("Bread wants a long rest in the basket", thread="bread", timestamp=day(9))
        mine(memory).flush()
        yield memory, events


def test_a_replay_follows_the_chain_to_its_end_and_says_how_it_ended(
    story: tuple[Memory, list[UUID]],
) -> None:
    memory, events = story
    assert [one.episode_id for one in mine(memory).chains.sequence("billing migration")] == events
    lines = mine(memory).chains.replay("billing migration").splitlines()
    assert lines[0] == "📜 Episode history for 'billing migration' (5 episodes):"
    assert '• [2024-03-05] Switch over (continues from "Rounding")' in lines
    assert "It ended on 2024-03-05: outcome success." in lines
    assert not any("left out" in line or line.startswith("⋮") for line in lines)


@pytest.mark.parametrize(("label", "told"), [("HIGH", 5), ("UNCERTAIN", 3)])
def test_a_link_that_is_in_doubt_is_not_followed(
    story: tuple[Memory, list[UUID]], label: str, told: int
) -> None:
    memory, events = story
    rounding = mine(memory).sessions.list()[1].id
    with memory._deps.store.begin(Scope("default", "default")) as tx:
        made = [d for d in tx.knowledge.decisions(subject=rounding, type="chain") if d.verdict == "CHAIN"][-1]
        doubt = replace(made, id=uuid4(), detail={**made.detail, "method": "auto"}, confidence_label=label)
        tx.knowledge.revoke(made.id)
        tx.knowledge.decide(doubt)
    sequence = mine(memory).chains.sequence("billing migration")
    assert [one.episode_id for one in sequence] == events[:told]


def test_what_a_limit_leaves_out_is_said_and_the_end_is_told_before_the_middle(
    story: tuple[Memory, list[UUID]],
) -> None:
    memory, events = story
    sequence = mine(memory).chains.sequence("billing migration", limit=3)
    assert [one.episode_id for one in sequence] == [*events[:2], events[4]]
    assert sequence.left_out == 2
    text = mine(memory).chains.replay("billing migration", limit=3)
    assert "2 or more episodes are left out" in text
    assert "It ended on 2024-03-05: outcome success." in text
    recent = mine(memory).chains.sequence("billing migration", limit=2, order="recent")
    assert [one.episode_id for one in recent] == events[3:]
    assert "left out" in mine(memory).chains.replay("", limit=2)
    tools = memory_tools(mine(memory))
    assert "2 or more episodes are left out" in tools.call(
        "replay_topic", {"topic": "billing migration", "limit": 3}
    )


def test_what_is_followed_minds_filters_suppression_and_the_seed(story: tuple[Memory, list[UUID]]) -> None:
    memory, events = story
    bounded = mine(memory).chains.sequence("billing migration", until=day(4))
    assert [one.episode_id for one in bounded] == events[:4]
    mine(memory).episodes.suppress(events[4])
    assert events[4] not in {one.episode_id for one in mine(memory).chains.sequence("billing migration")}
    mine(memory).episodes.unsuppress(events[4])
    by_seed = mine(memory).chains.sequence("billing migration", policy="seed-004")
    assert [one.episode_id for one in by_seed] == events[:2]
    assert "It ended" not in mine(memory).chains.replay("billing migration", policy="seed-004")
    still = mine(memory).sessions.start(
        "Aftermath", parent_episode_id=mine(memory).sessions.list()[0].id, timestamp=day(6)
    )
    mine(memory).add("Somebody misses an invoice.", thread=still.thread, timestamp=day(6))
    story_text = mine(memory).chains.replay("billing migration")
    ((command, session),) = re.findall(r"goes on after this; `(episodic arc) ([0-9a-f-]+)` shows", story_text)
    assert command == "episodic arc"
    assert still.id in {one.episode_id for one in mine(memory).chains.arc(session).steps}


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
        self.threads = self
        self.episodes = self

    def section(self, thread_id: UUID, seq: int) -> Any:
        return SimpleNamespace(episode_id=UUID(int=100 + thread_id.int))

    def get(self, episode_id: UUID) -> Any:
        above = self._parents.get(episode_id.int)
        return SimpleNamespace(parent_episode_id=None if above is None else UUID(int=above))


def test_the_session_an_episode_goes_on_with_is_told_by_its_last_episode() -> None:
    tx: Any = Sessions({102: 101, 103: 100})
    identifiers = parents_of(tx, [chained(1), chained(2), chained(3), chained(4, parent=2)])
    assert [None if one is None else one.int for one in identifiers.values()] == [None, 1, 100, 2]


def test_the_id_of_an_episode_leads_to_the_chain_its_session_is_in(story: tuple[Memory, list[UUID]]) -> None:
    memory, events = story
    chains, sessions = mine(memory).chains, {one.id for one in mine(memory).sessions.list()}
    assert not sessions.intersection(events)
    told = [one.id for one in chains.get(events[-1])]
    assert len(told) > 1
    assert set(told) <= sessions
    assert [one.id for one in chains.get(told[-1])] == told
    assert [one.id for one in chains.tree(events[0])] == [one.id for one in chains.tree(told[0])]
    assert chains.arc(events[-1]) == chains.arc(told[-1])
