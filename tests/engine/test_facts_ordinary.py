"""Where somebody lives, works and with whom, in ordinary words of several languages; small talk is no fact."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from builders.chats import Clock
from builders.minilm import default_model

from episodic_agent import Memory

MONDAY = datetime(2026, 3, 2, 20, tzinfo=UTC)


def facts_of(tmp_path: Path, clock: Clock, *messages: str) -> dict[str, bool]:
    """Return the facts that messages said a week apart leave, each with whether it still holds."""
    with Memory.open(tmp_path / "m.db", embedder=default_model(), clock=clock) as memory:
        user = memory.user("mei")
        for n, text in enumerate(messages):
            clock.now = MONDAY + timedelta(days=7 * n)
            user.add(text, channel="app", timestamp=clock.now)
        user.flush()
        cards = user.facts.list(history=True)
        return {card.fact.value: card.fact.invalid_at is None for card in cards}


@pytest.mark.parametrize(
    "statement",
    [
        "Живу в Туле, работаю в школе.",
        "ahora vivo en la Portales",
        "서울로 이사했어",
        "Ankara'da öğretmenim",
        "横浜に引っ越した",
    ],
)
def test_an_address_or_a_job_is_a_fact(tmp_path: Path, clock: Clock, statement: str) -> None:
    assert facts_of(tmp_path, clock, statement) == {statement: True}


def test_a_move_ends_what_a_sentence_of_two_clauses_stated(tmp_path: Path, clock: Clock) -> None:
    before, after = (
        "J'habite à Lyon depuis trois ans et je suis infirmière.",
        "J'habite maintenant à Villeurbanne.",
    )
    assert facts_of(tmp_path, clock, before, after) == {before: False, after: True}


def test_a_move_of_somebody_else_ends_nothing(tmp_path: Path, clock: Clock) -> None:
    before, after = "J'habite à Lyon depuis trois ans et je suis infirmière.", "ma sœur habite à Villeurbanne"
    assert facts_of(tmp_path, clock, before, after)[before]


@pytest.mark.parametrize(
    "remark",
    [
        "先不用。我先去开standup",
        "暂时不用，等我想想颜色",
        "あしたはやいからねるわ",
        "지금 도서관이야",
        "сижу в парикмахерской",
        "bugün trafik çok yoğundu",
        "el calor me mata hoy",
    ],
)
def test_what_is_said_in_passing_is_no_fact(tmp_path: Path, clock: Clock, remark: str) -> None:
    assert not facts_of(tmp_path, clock, remark)
