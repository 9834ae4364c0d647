"""Asked how something is, an answer begins with what holds; asked how it was, nothing is moved."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from builders.chats import Clock
from builders.minilm import default_model

from episodic_agent import Memory
from episodic_agent.engine.user import UserMemory

MONDAY = datetime(2026, 9, 7, 9, tzinfo=UTC)  # a Monday
OLD = "swimming is on Tuesdays at 5 with Coach Lena"
NEW = "Coach Lena has a new job, so from now on we swim on Fridays"
TALK = (
    ("Ana", OLD),
    ("Ana", "I sang the Fauré twice today, my voice is gone"),
    ("Ana", "the tenors want cake after the concert"),
    ("Ana", NEW),
    ("Ana", "my dentist is a funny man"),
    ("Ben", "the cat ate the geranium"),
)
NOW, BEFORE = "which day is swimming?", "which day was swimming originally?"


@pytest.fixture(params=["Ana"])
def ana(tmp_path: Path, clock: Clock, request: pytest.FixtureRequest) -> Iterator[UserMemory]:
    """Return a memory in which swimming moved, as whoever `request` names says."""
    with Memory.open(tmp_path / "m.db", embedder=default_model(), clock=clock) as memory:
        user = memory.user("Ana")
        for n, (who, text) in enumerate(TALK):
            clock.now = MONDAY + timedelta(days=3 * n)
            role = request.param if text == NEW else who
            user.add(text, role=role, channel="choir", timestamp=clock.now)
        clock.now += timedelta(days=1)
        user.flush()
        yield user


@pytest.mark.parametrize("ana", ["Ben"], indirect=True)
def test_what_took_the_place_of_the_best_hit_stands_before_it_though_it_ended_no_fact(
    ana: UserMemory,
) -> None:
    assert all(card.fact.invalid_at is None for card in ana.facts.list(history=True))
    hits = ana.search(NOW, observations=6, explain=True).observations
    first, second = hits[:2]
    assert [first.observation.text, second.observation.text] == [NEW, OLD]
    assert second.legs["replaced"] < 0 < first.legs["replaced"]


def test_asked_for_what_was_before_nothing_is_moved(ana: UserMemory) -> None:
    assert all("replaced" not in hit.legs for hit in ana.search(BEFORE, explain=True).observations)


def test_a_context_says_of_what_changed_that_it_did(ana: UserMemory) -> None:
    changed = f"- (changed {MONDAY + timedelta(days=9):%Y-%m-%d})"
    lines = ana.context(NOW, channel="other").text.splitlines()
    assert [OLD in line for line in lines if line.startswith(changed)] == [True]
    assert any(NEW in line for line in lines)
    assert "(changed" not in ana.context(BEFORE, channel="other").text
