"""A message of several sentences teaches those that last, each a fact that ends by itself."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

import pytest
from builders.chats import Clock
from builders.minilm import default_model

from episodic_agent import Memory
from episodic_agent.core.facts.quoting import quotations
from episodic_agent.schemas.facts import Statement

MONDAY = datetime(2026, 3, 2, 20, tzinfo=UTC)


def taught(tmp_path: Path, clock: Clock, *texts: str) -> dict[str, bool]:
    """Return what each fact quotes, and whether it still holds."""
    with Memory.open(tmp_path / "m.db", embedder=default_model(), clock=clock) as memory:
        user = memory.user("Mei")
        for n, text in enumerate(texts):
            clock.now = MONDAY + timedelta(days=14 * n)
            user.add(text, timestamp=clock.now)
        user.flush()
        cards = user.facts.list(history=True)
        return {card.fact.value: card.fact.invalid_at is None for card in cards}


def test_a_harmless_sentence_beside_it_keeps_no_fact_from_ending(tmp_path: Path, clock: Clock) -> None:
    facts = taught(
        tmp_path,
        clock,
        "ran 6k, legs ok. I've been vegan since January.",
        "Tessa was here with soup. I'm not vegan anymore, I eat fish and eggs again.",
    )
    assert facts == {
        "I've been vegan since January.": False,
        "I'm not vegan anymore, I eat fish and eggs again.": True,
    }


def test_what_ends_one_sentence_leaves_the_other(tmp_path: Path, clock: Clock) -> None:
    facts = taught(
        tmp_path, clock, "My sister Svenja is due on 12 August. I work at Kupfer Direkt.",
        "Svenja's due date is 2 August now.",
    )  # fmt: skip
    assert facts["My sister Svenja is due on 12 August."] is False
    assert facts["I work at Kupfer Direkt."] is True


@pytest.mark.parametrize(
    ("text", "quotes"),
    [
        ("Not much today. Dr. Seidel put me up to 75 micrograms of thyroxine.", [
            "Dr. Seidel put me up to 75 micrograms of thyroxine."
        ]),
        ("I have a sister. Her name is Eva.", ["I have a sister. Her name is Eva."]),
        ("so tired. legs ok. it rained.", []),
    ],
)  # fmt: skip
def test_the_sentences_that_last_are_quoted(text: str, quotes: list[str]) -> None:
    embedder = default_model()
    spoken = quotations(
        [Statement(text, MONDAY, "Mei", UUID(int=1))], lambda some: embedder.embed(list(some))
    )
    assert [one.candidate.value for one in spoken] == quotes
