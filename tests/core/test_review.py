"""Grades by what was taken up, and the two traps of ranking by reviews."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from episodic_agent.core.review import SEED, FollowingTurn, Grade, Reviewed, Shown, grades, reviewed
from episodic_agent.core.strength import initial_strength, retrievability
from episodic_agent.schemas.strength import Rating, Strength

BORN = datetime(2026, 3, 1, 12, tzinfo=UTC)
TAP = Shown(UUID(int=1), "The kitchen tap dripped; plumber Rossi came on Friday and charged 80 euros")
CELLO = Shown(UUID(int=2), "Clara plays the cello with the Ravel quartet on Thursdays")
QUERY = "who fixed the tap in the kitchen?"
FRESH = Reviewed(Strength(2.3065, 2.1181), BORN)


def rated(turns: list[tuple[str, str]], **more: object) -> dict[int, str]:
    matching_grades = grades(QUERY, [TAP, CELLO], [FollowingTurn(*turn) for turn in turns], **more)  # type: ignore[arg-type]
    return {grade.episode_id.int: grade.rating.name for grade in matching_grades}


@pytest.mark.parametrize(
    ("turns", "expected"),
    [
        ([("assistant", "Plumber Rossi came on Friday, he charged 80 euros.")], {1: "GOOD"}),
        ([("assistant", "That was Rossi.")], {1: "HARD"}),
        ([("user", "Right, plumber Rossi, the one who charged 80 euros")], {1: "GOOD"}),
        ([("assistant", "I do not know who fixed the tap in the kitchen.")], {}),
        ([("assistant", "Sunny, high 72°F")], {}),
        ([], {}),
        ([("assistant", "Plumber Rossi came on Friday."), ("user", "No, that's not what I meant")], {1: "AGAIN"}),
        ([("assistant", "Plumber Rossi came on Friday."), ("user", "No, that's wrong.")], {1: "AGAIN"}),
        ([("assistant", "Plumber Rossi came on Friday."), ("user", "Wrong, it was Bianchi!")], {1: "AGAIN"}),
        ([("assistant", "Plumber Rossi came on Friday."), ("user", "Das stimmt nicht.")], {1: "AGAIN"}),
        ([("assistant", "Plumber Rossi came on Friday."), ("user", "I had a wrong number.")], {1: "GOOD"}),
        ([("user", "No, that's not what I meant")], {}),
        (
            [
                ("assistant", "Plumber Rossi came on Friday."),
                ("user", "No, I meant Clara who plays the cello with the Ravel quartet"),
            ],
            {1: "AGAIN", 2: "GOOD"},
        ),
        ([("user", "No, I meant Clara who plays the cello with the Ravel quartet")], {1: "AGAIN", 2: "GOOD"}),
    ],
)  # fmt: skip
def test_an_episode_is_graded_by_what_is_taken_up_of_it(
    turns: list[tuple[str, str]], expected: dict[int, str]
) -> None:
    assert rated(turns) == expected


def test_what_was_asked_or_said_before_is_not_taken_up() -> None:
    pairs = [("assistant", "Plumber Rossi came on Friday, he charged 80 euros.")]
    assert rated(pairs, before=["plumber Rossi came on Friday and charged 80 euros"]) == {}


def test_what_two_episodes_bring_is_worth_half_to_each() -> None:
    shown = [
        Shown(UUID(int=n), f"Rossi called about the {what}") for n, what in enumerate(("boiler", "window"))
    ]
    both = grades("what happened?", shown, [FollowingTurn("assistant", "Rossi phoned; the boiler.")])
    assert [g.episode_id.int for g in both if g.rating is Rating.GOOD] == [0]
    assert max(g.uptake for g in both if g.episode_id.int == 1) < min(
        g.uptake for g in both if g.episode_id.int == 0
    )


def test_a_late_turn_is_about_something_else() -> None:
    idle = [("user", "ok")] * 6
    assert rated([*idle, ("assistant", "Plumber Rossi came on Friday, he charged 80 euros.")]) == {}


def test_grades_say_why() -> None:
    (grade,) = grades(
        QUERY, [TAP], [FollowingTurn("assistant", "Plumber Rossi came on Friday, he charged 80 euros.")]
    )
    assert isinstance(grade, Grade)
    assert grade.uptake > 0.35
    assert "taken up" in grade.why


@pytest.mark.parametrize(
    ("days", "stabilities"),
    [
        (0, (0.7751, 1.3334, 2.3065, 3.9461)),
        (1, (0.5713, 5.3188, 7.3153, 11.6875)),
        (7, (0.7179, 13.7962, 21.4114, 38.0881)),
        (30, (0.9053, 23.4241, 37.4206, 68.0718)),
    ],
)
def test_ratings_strengthen_as_published(days: int, stabilities: tuple[float, ...]) -> None:
    for rating, stability in zip(Rating, stabilities, strict=True):
        after = reviewed(FRESH, rating, BORN + timedelta(days=days, hours=5))
        assert after is not None
        assert after.strength.stability == pytest.approx(stability, abs=6e-5)


def test_one_rating_a_day_counts() -> None:
    after = reviewed(FRESH, Rating.GOOD, BORN + timedelta(days=3))
    assert after is not None
    assert reviewed(after, Rating.AGAIN, BORN + timedelta(days=3, hours=11)) is None
    assert reviewed(after, Rating.AGAIN, BORN + timedelta(days=2)) is None  # a clock that was set back
    assert reviewed(after, Rating.AGAIN, BORN + timedelta(days=3, hours=12)) is not None


@pytest.mark.parametrize("age", [0.2, 1, 7, 30, 400])
def test_what_was_judged_noise_never_ranks_above_its_twin(age: float) -> None:
    before = Reviewed(initial_strength(0.4), BORN)
    at = BORN + timedelta(days=age)
    judged = reviewed(before, Rating.AGAIN, at)
    assert judged is not None
    for later in (0.0, 0.5, 1, 7, 60, 700):
        now = at + timedelta(days=later)
        chances = [
            retrievability(one.strength.stability, (now - one.last_reviewed_at) / timedelta(days=1))
            for one in (judged, before)
        ]
        assert chances[0] <= chances[1]


def test_the_document_to_the_letter_sets_the_clock_by_every_rating() -> None:
    at = BORN + timedelta(days=30)
    clocks = {policy: reviewed(FRESH, Rating.AGAIN, at, policy=policy) for policy in ("default", SEED)}
    assert [after.last_reviewed_at for after in clocks.values() if after] == [BORN, at]
