"""Sequences and replay: what is told, in which order, in just which form."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from episodic_agent.core.chains.metadata import Metadata
from episodic_agent.core.chains.sequences import ReplayedEpisode, ReplayHit, fetched, replay_text, selected
from episodic_agent.errors import InvalidInput

AT = datetime(2026, 3, 1, 9, tzinfo=UTC)
# Twelve of thirty are of the topic, the newest is not.
HITS = [
    ReplayHit(UUID(int=n), AT + timedelta(days=n), 0.51 + n / 100 if n % 5 in (1, 2) and n < 30 else 0.5)
    for n in range(1, 31)
]
RELEVANT = [hit for hit in HITS if hit.relevance > 0.5]


def test_the_most_relevant_are_told_in_the_order_of_time_and_an_off_topic_newest_is_not() -> None:
    assert len(RELEVANT) == 12
    hits = selected(HITS, 5, topic="leak")
    best = sorted(RELEVANT, key=lambda hit: -hit.relevance)[:5]
    assert list(hits) == sorted(best, key=lambda hit: hit.start_at)
    assert HITS[-1] not in hits


def test_recent_tells_the_latest_of_the_topic() -> None:
    older = [ReplayHit(UUID(int=100), AT, 0.99), *HITS]
    assert list(selected(older, 5, topic="leak", order="recent")) == RELEVANT[-5:]
    assert older[0] in selected(older, 5, topic="leak")


def test_seed_004_keeps_the_earliest() -> None:
    assert list(selected(HITS, 5, topic="leak", policy="seed-004")) == RELEVANT[:5]
    assert (fetched(10), fetched(11), fetched(3, "seed-004")) == (20, 22, 6)


def test_the_floor_is_strict_and_an_empty_topic_knows_none() -> None:
    assert selected([ReplayHit(UUID(int=1), AT, 0.5)], topic="leak") == ()
    assert [hit.id.int for hit in selected(HITS, 2, topic=" ")] == [29, 30]


def test_wrong_orders_policies_and_limits_are_refused() -> None:
    for wrong in ({"order": "newest"}, {"policy": "seed-003"}, {"limit": 0}):
        with pytest.raises(InvalidInput):
            selected(HITS, **wrong)  # type: ignore[arg-type]


TOLD = [
    ReplayedEpisode(
        UUID(int=1), AT, "Leak found", "The worker leaks. " * 20, metadata=Metadata(tags=("memory", "leak"))
    ),
    ReplayedEpisode(
        UUID(int=2), AT + timedelta(days=1), "Dumps compared", "Two dumps.", UUID(int=1), "Leak found"
    ),
    ReplayedEpisode(UUID(int=3), None, "", "", UUID(int=9), "Elsewhere", Metadata(outcome="success")),
]


def test_a_replay_has_just_this_form() -> None:
    assert replay_text("memory leak", TOLD) == "\n".join(
        [
            "📜 Episode history for 'memory leak' (3 episodes):",
            "",
            "• [2026-03-01] Leak found",
            "  " + ("The worker leaks. " * 11) + "…",
            "  Tags: memory, leak",  # nobody said how it came out
            "",
            '• [2026-03-02] Dumps compared (continues from "Leak found")',
            "  Two dumps.",
            "",
            "⋮ (what it continues is not listed)",
            '• [unknown] Untitled (continues from "Elsewhere")',
            "  Outcome: success",
            "",
        ]
    )
    assert replay_text("sailing", []) == "No episodes found for topic: sailing"


def test_seed_004_names_a_parent_by_its_id_and_marks_no_gap() -> None:
    text = replay_text("leak", TOLD, policy="seed-004")
    assert "(continues from 00000000)" in text
    assert "⋮" not in text
    assert f"\n  {('The worker leaks. ' * 20)[:200]}\n" in text  # and cuts a summary at its 200th character


moments = st.integers(0, 40).map(lambda n: AT + timedelta(days=n))
hits = st.lists(
    st.builds(ReplayHit, st.integers(1, 10**6).map(lambda n: UUID(int=n)), moments, st.floats(0, 1)), max_size=30,
    unique_by=lambda hit: hit.id,
)  # fmt: skip


@given(hits, st.integers(1, 10), st.sampled_from(["", "leak"]), st.sampled_from(["relevant", "recent"]))
def test_a_sequence_ascends_is_no_longer_than_its_limit_and_holds_the_best_or_the_newest(
    some: list[ReplayHit], limit: int, topic: str, order: str
) -> None:
    hits = selected(some, limit, topic=topic, order=order)
    assert len(hits) <= limit
    assert list(hits) == sorted(hits, key=lambda hit: (hit.start_at, hit.id.bytes))
    left = [hit for hit in some if hit not in hits and (not topic or hit.relevance > 0.5)]
    if topic:
        assert all(hit.relevance > 0.5 for hit in hits)
    if left:
        assert len(hits) == limit
    for hit in left:
        if topic and order == "relevant":
            assert hit.relevance <= min(one.relevance for one in hits)
        else:
            assert hit.start_at <= min(one.start_at for one in hits)
    assert selected(list(reversed(some)), limit, topic=topic, order="recent") == selected(
        some, limit, topic=topic, order="recent"
    )
