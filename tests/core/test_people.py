"""Which names may be one person's, and which are, read from what was said of them."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from episodic_agent.core.people.joining import APART, SAME, People, read_people
from episodic_agent.core.people.proposing import SpokenName, proposals
from episodic_agent.schemas import Decision
from episodic_agent.schemas.decisions import PEOPLE, PERSON

AT = datetime(2026, 5, 1, tzinfo=UTC)


def joined(*verdicts: tuple[str, ...], owner: str = "ana") -> People:
    """Return who goes by several names after some verdicts: each its name, then the names it is about."""
    decisions = [
        Decision(
            UUID(int=n), PERSON, AT + timedelta(seconds=n), PEOPLE, {}, 1.0, 0.0, verdict, "by hand",
            detail={"names": names},
        )
        for n, (verdict, *names) in enumerate(verdicts)
    ]  # fmt: skip
    return read_people(decisions, owner)


def proposed(*names: str | SpokenName) -> set[frozenset[str]]:
    spoken = [SpokenName(name) if isinstance(name, str) else name for name in names]
    return {frozenset((spoken[a].name, spoken[b].name)) for a, b, _ in proposals(spoken)}


@pytest.mark.parametrize(
    "names",
    [
        ("Ana Kovač", "ana kovac (she/her)"),
        ("Ana Kovac 🌱", "Ana Kovac [Treasurer]"),
        ("Tom Whitfield", "tom.whitfield@example.org"),
        ("Tom W.", "Tom Whitfield"),
        ("T. Whitfield", "Tom Whitfield <tom@example.org>"),
        ("Chris Park (Sales)", "Christopher Park <chris.park@example.org>"),
        (SpokenName("Ed", frozenset({"ed@example.org"})), SpokenName("Eddie", frozenset({"ed@example.org"}))),
    ],
)
def test_names_that_are_surely_alike_are_proposed(names: tuple[str | SpokenName, ...]) -> None:
    assert len(proposed(*names)) == 1


@pytest.mark.parametrize(
    "names",
    [
        ("Tom", "Tom Whitfield"),
        ("Tom W", "Tom Whitfield", "Tom Wright"),
        ("Tom (plumber)", "Tom (neighbour)"),
        ("Tom Berg (Sales)", "Tom Berg (Workshop)"),
        ("Tom", "Tom (plumber)", "Tom Berg"),
        ("T. W.", "Tom Whitfield"),
        ("Tom", "tom@example.org"),
        ("Tom Whitfield", "Geoff Whitfield"),
        ("M. Jensen <m.jensen@jensen.dk>", "Mark Jensen <mark.jensen@posteo.de>"),
        ("no.reply@a.example", "no-reply@b.example"),
    ],
)
def test_two_people_are_not_proposed_to_be_one(names: tuple[str, ...]) -> None:
    assert proposed(*names) == set()


def test_who_talks_with_a_like_name_in_one_thread_is_somebody_else() -> None:
    one, other = SpokenName("Tom W", talks=[("club", 1.0, 9.0)]), ("club", 2.0, 5.0)
    assert proposed(one, SpokenName("Tom Whitfield", talks=[other])) == set()
    assert len(proposed(one, SpokenName("Tom Whitfield", talks=[("club", 10.0, 12.0)]))) == 1  # renamed


def test_who_is_joined_with_one_of_two_is_joined_with_both() -> None:
    people = joined((SAME, "Tom W", "Tom Whitfield"), (SAME, "tom@example.org", "tom w"))
    assert {*people.names("tom@example.org")} == {"Tom W", "Tom Whitfield", "tom@example.org"}
    assert people.shown("TOM W") == "Tom Whitfield"


def test_a_name_taken_apart_leaves_the_others_together() -> None:
    people = joined((SAME, "A B", "C D"), (SAME, "C D", "E F"), (APART, "A B"))
    assert people.names("A B") == ("A B",)
    assert {*people.names("C D")} == {"C D", "E F"}
    assert frozenset(("a b", "e f")) in people.parted
    assert not joined((SAME, "A B", "C D"), (APART, "C D", "A B"))


def test_names_of_whose_memory_it_is_are_shown_by_its_own() -> None:
    people = joined((SAME, "user", "Ana K."), (SAME, "Ana K.", "Ana Kovac (she/her)"))
    assert {people.shown(one) for one in ("user", "ANA", "Ana K.", "ana kovac (she/her)")} == {"ana"}
