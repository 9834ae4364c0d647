"""A listing of few reads few, and shows what the listing of all shows first."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from builders.chats import Clock
from builders.examples import share
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from episodic_agent import Memory
from episodic_agent.stores.sqlite.file import connection

START = datetime(2025, 1, 1, 8, tzinfo=UTC)
# of each message its thread, and after how many minutes it comes: 0 makes ties, 900 ends an episode
MESSAGES = st.lists(st.tuples(st.integers(0, 6), st.sampled_from((0, 3, 3, 900))), min_size=1, max_size=40)


def memory_of(messages: list[tuple[int, int]]) -> Memory:
    memory = Memory.open(":memory:", embedder="none", policy="seed-001", clock=Clock(START))
    at = START
    for n, (thread, minutes) in enumerate(messages):
        at += timedelta(minutes=minutes)
        memory.user("ana").add(f"message {n}", thread=f"t{thread}", timestamp=at)
    return memory


@pytest.mark.slow
@settings(max_examples=share(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(messages=MESSAGES, limit=st.integers(1, 12))
def test_few_episodes_are_the_first_of_all(messages: list[tuple[int, int]], limit: int) -> None:
    with memory_of(messages) as memory:
        episodes = memory.user("ana").episodes
        every = episodes.list()
        assert episodes.list(limit=limit) == every[-limit:]
        recent = episodes.recent(limit=1000)
        assert {card.episode_id for card in recent} == {card.episode_id for card in every}
        assert episodes.recent(limit=limit) == recent[:limit]
        for card in every:
            assert episodes.card(card.episode_id) == card
            assert len(episodes.messages(card.episode_id)) == card.observations
        stats = memory.user("ana").stats()
        assert stats.observations == len(messages)
        assert stats.open_observations == sum(c.observations for c in every if c.state == "open")
        assert stats.episodes == sum(c.state != "open" for c in every)
        assert stats.threads == len({thread for thread, _ in messages})
        assert (stats.first_at, stats.last_at) == (every[0].start_at, max(card.end_at for card in every))


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    path = tmp_path_factory.mktemp("large") / "memory.db"
    with Memory.open(path, embedder="none", policy="seed-001", jobs="workers") as memory:
        memory.user("ana").add(said(n, f"t{n // 4}") for n in range(1600))
        memory.user("ana").flush()
        memory.user("ana").add(said(n, f"t{n - 1600}") for n in range(1600, 1800))
        yield memory


def said(n: int, thread: str) -> dict[str, str]:
    at = START + timedelta(minutes=3 * n)
    return {"content": f"message {n}", "conversation_id": thread, "timestamp": at.isoformat()}


def rows_read(memory: Memory, monkeypatch: pytest.MonkeyPatch, verb: str) -> int:
    return sum(answers(memory, monkeypatch, verb))


def statements(memory: Memory, monkeypatch: pytest.MonkeyPatch, verb: str) -> int:
    return len(answers(memory, monkeypatch, verb))


def answers(memory: Memory, monkeypatch: pytest.MonkeyPatch, verb: str) -> list[int]:
    """Return how many rows each statement gave that a verb asks."""
    counts: list[int] = []
    read = connection.rows
    closed = next(c.episode_id for c in memory.user("ana").episodes.list() if c.state != "open")

    def counted(*arguments: object) -> object:
        result = read(*arguments)  # type: ignore[arg-type]
        counts.append(len(result))
        return result

    with monkeypatch.context() as patch:
        patch.setattr("episodic_agent.stores.sqlite.file.session.rows", counted)
        eval(verb, {"ana": memory.user("ana"), "memory": memory, "closed": closed})
    return counts


@pytest.mark.slow
@pytest.mark.parametrize(
    "verb",
    [
        "ana.stats()", "ana.episodes.recent(limit=20)", "ana.episodes.list(limit=20)", "ana.threads.list(limit=20)",
        "ana.jobs.counts()", "memory.jobs.counts()", "memory.jobs.list(limit=20)",
        "ana.episodes.card(closed)",
    ],
)  # fmt: skip
def test_a_short_listing_reads_few_rows_of_a_large_memory(
    large: Memory, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    assert len(large.user("ana").threads.list()) == 400
    assert len(large.jobs.list()) > 300
    assert rows_read(large, monkeypatch, verb) < 300


@pytest.mark.parametrize("verb", ["ana.episodes.recent(limit={n})", "ana.episodes.list(limit={n})"])
def test_a_listing_asks_no_more_often_for_more_threads(monkeypatch: pytest.MonkeyPatch, verb: str) -> None:
    """On a server each statement is a journey: of a hundred threads the timeline took a hundred more."""
    with Memory.open(":memory:", embedder="none", policy="seed-001", clock=Clock(START)) as memory:
        memory.user("ana").add(said(n, f"t{n // 4}") for n in range(240))
        memory.user("ana").flush()
        few, many = (statements(memory, monkeypatch, verb.format(n=n)) for n in (5, 60))
    assert many <= few + 5
