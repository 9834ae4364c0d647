"""Places: what one is, the stays of a walk, and the places a question names."""

from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise

import numpy as np
import pytest
from builders.steps import step
from hypothesis import given
from hypothesis import strategies as st

from episodic_agent.core.places import joined, visits_of
from episodic_agent.core.recall import Candidates, analyse, fuse, no_episodes
from episodic_agent.core.recall.alone import asks_nothing_else
from episodic_agent.core.recall.places import read_places
from episodic_agent.schemas.places import place_key

NOW = datetime(2026, 3, 20, 12, tzinfo=UTC)
LABELS = (
    "Kitchen", "LivingRoom", "Living Room 2", "hall", "Küche", "кухня", "厨房", "キッチン", "room A", "room B", "3",
    "out", "work", "cocina", "salle de bain", "FloorPlan1", "home-office",
)  # fmt: skip
KNOWN = {place_key(label): label for label in LABELS}
places = st.sampled_from(("Hall", "hall ", "den", "Den", "unknown", "", None))


def test_no_place_is_none_blank_or_unknown_in_any_case() -> None:
    assert [place_key(label) for label in (None, "", "  ", "unknown", " UNKNOWN ")] == [""] * 5
    assert place_key(" Living  Room ") == "living  room"
    assert place_key("Straße") == place_key("STRASSE")


@given(st.lists(places, max_size=30), st.lists(st.integers(0, 30), max_size=5))
def test_stays_are_the_same_however_a_walk_is_cut_into_pieces(
    walk: list[str | None], cuts: list[int]
) -> None:
    steps = [step(seq, place) for seq, place in enumerate(walk)]
    ends = [0, *sorted(cut for cut in cuts if cut <= len(walk)), len(walk)]
    pieces = [steps[a:b] for a, b in pairwise(ends)]
    visits = visits_of(4, steps)
    assert list(joined(stay for piece in pieces for stay in visits_of(4, piece))) == visits
    assert sum(stay.steps for stay in visits) == sum(1 for place in walk if place_key(place))
    assert all(a.place != b.place and a.last_ref < b.first_ref for a, b in pairwise(visits))


def test_stays_of_different_threads_are_never_one() -> None:
    visits, other = visits_of(1, [step(0, "hall")]), visits_of(2, [step(1, "hall")])
    assert list(joined([*visits, *other])) == [*visits, *other]


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("what happened in the KITCHEN?", ["kitchen"]),
        ("the kitchens of the city", ["kitchen"]),  # by its stem
        ("in the Living Room", ["livingroom"]),
        ("in the livingroom", ["livingroom"]),
        ("in living room 2", ["living room 2"]),  # the longest, not the shorter one inside it
        ("floor plan 1 and FloorPlan1", ["floorplan1"]),
        ("from the hall into the kitchen", ["hall", "kitchen"]),
        ("in der Küche", ["küche"]),
        ("на кухне вчера", ["кухня"]),
        ("我在厨房做了什么", ["厨房"]),
        ("キッチンで何が起きた", ["キッチン"]),
        ("dans la salle de bain", ["salle de bain"]),
        ("in the home office", ["home-office"]),
        ("in room B, not in the other one", ["room b"]),
        ("which room was it", []),
        ("the last 3 times he was out", []),  # figures and function words name nothing
        ("challenge the whale", []),
        ("", []),
    ],
)
def test_known_places_are_found_in_questions(question: str, found: list[str]) -> None:
    assert list(read_places(question, KNOWN).places) == found


@pytest.mark.parametrize(
    ("question", "alone"),
    [
        ("what happened in the kitchen", True),
        ("What happened in the kitchen yesterday?", True),
        ("What did the robot do in the Living Room last week?", True),
        ("When was I last in the kitchen?", True),
        ("How often was the agent in the hall in the mornings?", True),
        ("Was ist gestern in der Küche passiert?", True),
        ("¿Qué pasó ayer en la cocina?", True),
        ("Que s'est-il passé hier dans la salle de bain ?", True),
        ("Что случилось вчера на кухне?", True),
        ("我昨天在厨房做了什么？", True),
        ("キッチンで何が起きた？", True),
        ("What did Ana do in the kitchen?", True),  # whoever spoke here is no other subject
        ("Where did I put the mug in the kitchen?", False),
        ("Did anyone die in the kitchen?", False),  # a German article, but no German question
        ("What happened to the fridge in the kitchen?", False),
        ("what happened yesterday?", False),  # names no place
        ("Kitchen, last week?", True),
        ("How is work going?", False),  # names it, but not as a place
        ("What happened at work?", True),
        ("我在厨房打碎了杯子吗", False),
    ],
)
def test_a_question_for_a_place_alone_is_told_from_others(question: str, alone: bool) -> None:
    assert analyse(question, ["agent", "Ana"], NOW, places=KNOWN).place_alone == alone


def test_words_of_time_are_those_without_which_another_time_is_meant() -> None:
    assert asks_nothing_else("what happened in the      on 3 May 2025 in the evening", NOW)
    assert not asks_nothing_else("what happened in the      to Mayer", NOW)


def test_places_change_nothing_where_none_is_named_or_known() -> None:
    for question in ("where is the mug", "what did Ana say last week?", "Is Great Hall far?"):
        plain = analyse(question, ["Ana"], NOW)
        assert analyse(question, ["Ana"], NOW, places={}) == plain
        assert analyse(question, ["Ana"], NOW, places={"cellar": "cellar"}) == plain


def test_a_named_place_is_no_content_and_no_stranger() -> None:
    query = analyse("What fell down in the Great Hall?", ["Ana"], NOW, places={"great hall": "Great Hall"})
    assert (query.places, query.place_terms, query.names) == (("great hall",), ("great", "hall"), ())
    assert set(query.content) == {"fell"}
    assert {"great", "hall"} <= set(query.terms)  # texts that say so are found all the same


def test_what_was_observed_at_the_place_gains_and_the_rest_stays() -> None:
    query = analyse("the mug in the hall", [], NOW, places={"hall": "hall"})
    candidates = Candidates(
        ("a", "b", "c"), np.array([2.0, 2.0, 1.0]), np.zeros(3), place=np.array([0.0, 1.0, 0.0])
    )
    fused = fuse(query, candidates, no_episodes())
    assert fused.order.tolist() == [1, 0, 2]
    assert fused.legs["place"].tolist() == [0.0, 0.2, 0.0]
    assert (fused.scores > 0).all()
    elsewhere = fuse(replace(query, places=()), candidates, no_episodes())
    assert "place" not in elsewhere.legs
