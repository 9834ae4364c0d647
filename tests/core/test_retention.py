"""What a retention policy lets go: by age, strength and number, never what is pinned, the weakest first."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from episodic_agent.core.strength import Retention, let_go, read_retention, read_span, strength_at
from episodic_agent.errors import InvalidInput
from episodic_agent.schemas.strength import Standing

NOW = datetime(2024, 6, 1, tzinfo=UTC)
POLICIES = st.builds(
    Retention,
    age=st.none() | st.floats(0.1, 400),
    strength=st.none() | st.floats(0.05, 0.95),
    count=st.none() | st.integers(1, 8),
)


def standing(name: str, *, days: float, stability: float = 2.3, ref: int = 0) -> Standing:
    at = round((NOW - timedelta(days=days)).timestamp() * 1e6)
    return Standing(ref, ref, name, at, at, stability, at)


@st.composite
def standings(draw: st.DrawFn) -> list[Standing]:
    ages = draw(st.lists(st.floats(-10, 800), max_size=12))
    stable = st.floats(0.1, 400)
    return [standing(f"{n:02}", days=age, stability=draw(stable), ref=n) for n, age in enumerate(ages)]


@pytest.mark.parametrize(
    ("text", "policy"),
    [
        ("none", Retention()),
        (" ", Retention()),
        ("age=365d,strength=0.2,count=10000,grace=30d", Retention(365, 0.2, 10_000, 30)),
        ("age=1y", Retention(age=365)),
        ("age=9d,grace=1d,keep=facts", Retention(9, grace=1, keep_facts=True)),
        ("COUNT=5, grace=0", Retention(count=5, grace=0)),
        ("age=2w,grace=12h", Retention(age=14, grace=0.5)),
        ("strength=0.9999999,grace=1234.5678d", Retention(strength=0.9999999, grace=1234.5678)),
    ],
)
def test_rules_are_read_and_written(text: str, policy: Retention) -> None:
    assert read_retention(text) == policy
    assert read_retention(str(policy)) == policy


@pytest.mark.parametrize(
    "text",
    ["forever", "age", "age=", "age=soon", "age=0", "age=-3d", "strength=1", "strength=nan", "count=0",
     "count=½", "grace=3d", "age=1d,grace=x", "age=inf", "age=365d,days=3", "age=1y,age=30d",
     "keep=facts", "age=1y,keep=", "age=1y,keep=pins",
     f"count={'9' * 5000}"],
)  # fmt: skip
def test_rules_that_say_nothing_sound_are_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match=r"retention|grace"):
        read_retention(text)


def test_spans_of_time_are_read_in_the_units_people_write() -> None:
    assert read_span("30d") == timedelta(days=30)
    assert read_span("1.5h") == timedelta(minutes=90)
    assert read_span("45") == timedelta(seconds=45)
    for wrong in ("", "d", "-1d", "nan", "1e99y"):
        with pytest.raises(InvalidInput, match="span of time"):
            read_span(wrong)


def test_each_rule_names_why() -> None:
    old, weak, fresh = standing("a", days=400), standing("b", days=90), standing("c", days=1)
    chosens = let_go(Retention(age=365, strength=0.6), [fresh, weak, old], NOW)
    assert [(one.standing.name, one.reason) for one in chosens] == [
        ("a", "older than 365 days"),
        ("b", "strength below 0.6"),
    ]


def test_of_too_many_the_weakest_go_and_of_equals_the_oldest() -> None:
    strong = standing("strong", days=300, stability=500)
    duplicates = [standing("later", days=10), standing("sooner", days=10, ref=1)._replace(end_at=0)]
    chosens = let_go(Retention(count=1), [strong, *duplicates], NOW)
    assert [one.standing.name for one in chosens] == ["sooner", "later"]


def test_what_is_archived_already_goes_before_a_weaker_one() -> None:
    """Two whose strengths cross must not take turns: each turn would begin a grace period anew."""
    weak, away = standing("weak", days=30), standing("away", days=20)
    chosens = let_go(Retention(count=1), [weak, away], NOW, archived=frozenset({"away"}))
    assert [one.standing.name for one in chosens] == ["away"]


@given(POLICIES, standings(), st.data())
def test_no_policy_ever_lets_a_pinned_episode_go(
    policy: Retention, kept: list[Standing], data: st.DataObject
) -> None:
    names = [one.name for one in kept]
    pinned = frozenset(data.draw(st.sets(st.sampled_from(names)))) if names else frozenset()
    chosens = let_go(policy, kept, NOW, pinned=pinned)
    assert pinned.isdisjoint(one.standing.name for one in chosens)
    if policy.count is not None:
        free = len(kept) - len(chosens)
        assert free <= max(policy.count, len(pinned))


@given(POLICIES, standings(), st.floats(1, 5000))
def test_a_clock_set_back_lets_nothing_more_go(policy: Retention, kept: list[Standing], days: float) -> None:
    policy = Retention(policy.age, policy.strength)
    now = {one.standing.name for one in let_go(policy, kept, NOW)}
    before = {one.standing.name for one in let_go(policy, kept, NOW - timedelta(days=days))}
    assert before <= now


@given(standings(), st.floats(0.1, 0.9))
def test_the_strength_rule_takes_the_weakest(kept: list[Standing], least: float) -> None:
    gone = {one.standing.name: one.retrievability for one in let_go(Retention(strength=least), kept, NOW)}
    rest = [strength_at(one, NOW) for one in kept if one.name not in gone]
    assert max(gone.values(), default=0.0) <= min(rest, default=1.0)
