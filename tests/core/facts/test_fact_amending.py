"""What somebody puts right just behind what was said: by its place, its opening and a value of the same kind."""

from collections.abc import Sequence
from uuid import UUID

import pytest

from episodic_agent.core.facts.amending import amendment, may_amend
from episodic_agent.schemas.facts import TalkLine


def lines(*texts: str) -> Sequence[TalkLine]:
    """Return messages before a statement; ">" opens those of its own speaker."""
    return [TalkLine(UUID(int=n), text.lstrip(">"), text.startswith(">")) for n, text in enumerate(texts)]


@pytest.mark.parametrize(
    ("older", "answer", "newer"),
    [
        ("our anniversary is on 9 August", "9 August, got it.", "no sorry, the 8th"),
        ("my desk is in room 214", "Room 214.", "typo! 241"),
        ("Unser Tierarzt heißt Dr. Moll.", "Dr. Moll also.", "Nein, Dr. Noll heißt er."),
        ("Le cours de danse est rue Pasteur.", "D'accord.", "je me suis trompée, il est rue Voltaire"),
        ("La guardería está en la calle Molino.", "Vale.", "no en la calle Molino, en la calle Colina"),
        ("il corso è alle 18", "Alle 18.", "volevo dire alle 19"),
    ],
)
def test_a_value_of_the_same_kind_puts_right_what_was_just_said(older: str, answer: str, newer: str) -> None:
    talk = lines(f">{older}", answer)
    assert may_amend(newer)
    assert amendment(newer, talk, older, just_said=True) is not None
    # and nothing else that is known
    assert amendment(newer, talk, "My mother lives in Cardiff.", just_said=False) is None


@pytest.mark.parametrize(
    ("older", "answer", "newer"),
    [
        ("The garden party is on 20 June.", "Will you bake for it?", "no, I'm bringing salad"),
        ("my dentist is Dr. Webb", "Do you have an appointment?", "no, I want to go in September"),
        ("Gran turns 90 in October.", "Will there be a party?", "no, just a lunch with 12 people"),
        ("my operation is on 14 April", "Is the check-up on the 20th?", "no, on the 22nd"),
        ("Das Fest ist am Freitag.", "Am Donnerstag also.", "nein, ich hab Freitag gesagt"),
        ("The flight home is at 18:20.", "Good.", "sorry, I have to go, the taxi comes at 9:15"),
    ],
)
def test_a_no_to_something_else_puts_nothing_right(older: str, answer: str, newer: str) -> None:
    assert amendment(newer, lines(f">{older}", answer), older, just_said=True) is None


def test_what_was_said_long_ago_is_put_right_only_where_it_was_just_repeated() -> None:
    older, newer = "Mi hija estudia en Sevilla.", "no, no en Sevilla, en Granada"
    repeated = lines(">mi hija viene el finde", "¿Desde Sevilla?")
    assert amendment(newer, repeated, older, just_said=False) is not None
    assert amendment(newer, lines(">mi hija viene el finde", "¡Qué bien!"), older, just_said=False) is None
    other = "Alquilamos un piso en Sevilla."  # the same place in another matter
    assert amendment(newer, repeated, other, just_said=False) is None
