"""Facts told anew from their evidence: nothing changes, whatever statements and hands there were before."""

from datetime import timedelta
from uuid import UUID

import pytest
from core.facts.saying import START, claim
from hypothesis import given
from hypothesis import strategies as st

from episodic_agent.core.facts import Fact, FactCandidate, confirm, delete, edit, learn, marks, pin, retold

VALUES = ("Porto", "Lisbon", "Faro")
CLAIMS = st.lists(
    st.builds(
        claim,
        st.sampled_from(VALUES),
        st.integers(0, 6),
        attribute=st.sampled_from(("lives_in", "likes", "dislikes")),
        holds=st.booleans(),
        corrects=st.booleans(),
        ended_by=st.none() | st.just(UUID(int=7)),
    ),
    min_size=1,
    max_size=8,
)
HANDS = st.lists(
    st.tuples(st.sampled_from(("edit", "value", "pin", "unpin", "confirm", "delete")), st.integers(0, 9)),
    max_size=5,
)


def by_hand(facts: tuple[Fact, ...], hand: str, number: int) -> tuple[Fact, ...]:
    """Do to one fact what the engine does."""
    if not facts:
        return facts
    fact = facts[number % len(facts)]
    after = {
        "edit": lambda: edit(fact, START, text="something else"),
        "value": lambda: edit(fact, START, value=VALUES[number % 3]),
        "pin": lambda: pin(fact),
        "unpin": lambda: pin(fact, pinned=False),
        "confirm": lambda: confirm(fact),
        "delete": lambda: None,
    }[hand]()
    return retold(facts, {fact.id: after}).applied(facts)


def test_a_correction_of_what_a_hand_edited_is_told_anew_as_it_was() -> None:
    candidates = [
        claim("Porto", 6, attribute="likes", corrects=True),
        claim("Porto", 3, attribute="dislikes"),
    ]
    facts = learn((), candidates).applied(())
    likes = next(number for number, fact in enumerate(facts) if fact.attribute == "likes")
    facts = by_hand(facts, "edit", likes)
    later = [claim("Porto", 4, attribute="likes", corrects=True)]
    assert not retold(learn(facts, later).applied(facts))


def test_facts_that_hands_made_one_rest_on_all_they_rested_on() -> None:
    known = learn((), [claim("tea", 0, attribute="likes"), claim("coffee", 1, attribute="likes")]).applied(())
    first, second = known
    proofs = marks(first) | marks(second)
    for fact in (first, second):
        facts = (one for one in known if one.id == fact.id)
        known = retold(known, {fact.id: confirm(edit(next(facts), START, value="mate"))}).applied(known)
    (this_fact,) = known
    assert (this_fact.id, this_fact.value, len(this_fact.evidence), this_fact.confirmed) == (
        first.id,
        "mate",
        2,
        True,
    )
    assert marks(this_fact) == proofs
    assert [version.value for version in this_fact.versions] == ["tea", "coffee"]
    assert not retold(known)


def test_a_fact_that_an_edit_makes_the_same_as_a_pinned_one_is_pinned() -> None:
    candidates = [
        claim("Porto", 1, attribute="dislikes", holds=False),
        claim("Lisbon", 1, attribute="dislikes", holds=False),
        claim("Lisbon", 2, attribute="likes", holds=False),
    ]
    facts = learn((), candidates).applied(())
    lisbon = next(f for f in facts if f.value == "Lisbon" and f.attribute == "dislikes")
    facts = retold(facts, {lisbon.id: pin(lisbon)}).applied(facts)
    porto = next(f for f in facts if f.value == "Porto")
    facts = retold(facts, {porto.id: edit(porto, START, value="Lisbon")}).applied(facts)
    same = next(f for f in facts if f.id == porto.id)
    assert (same.pinned, same.invalid_at, len(same.evidence)) == (True, None, 2)
    assert not retold(facts)


def test_an_edited_fact_stands_where_the_earliest_of_its_words_stands() -> None:
    candidates = [claim("Porto", 0, attribute="likes"), claim("Lisbon", 2, attribute="dislikes", holds=False)]
    facts = learn((), candidates).applied(())
    for number, change in ((1, "value"), (0, "edit"), (1, "pin")):
        fact = facts[number]
        after = {
            "value": edit(fact, START, value="Porto"),
            "edit": edit(fact, START, text="x"),
            "pin": pin(fact),
        }
        facts = retold(facts, {fact.id: after[change]}).applied(facts)
    later = [
        claim("Porto", 0, attribute="likes", holds=False, corrects=True),
        claim("Porto", 0, attribute="dislikes", holds=False, corrects=True),
    ]
    assert not retold(learn(facts, later).applied(facts))


@given(CLAIMS, HANDS, CLAIMS)
def test_telling_facts_anew_changes_nothing(
    before: list[FactCandidate], hands: list[tuple[str, int]], later: list[FactCandidate]
) -> None:
    facts = learn((), before).applied(())
    assert not retold(facts)
    for hand, number in hands:
        facts = by_hand(facts, hand, number)
        assert not retold(facts)
    facts = learn(facts, later).applied(facts)
    assert not retold(facts)


def day(number: float) -> object:
    return START + timedelta(days=number)


def test_what_a_deleted_fact_had_ended_holds_again() -> None:
    facts = learn((), [claim("Porto", 0), claim("Lisbon", 5), claim("Faro", 9)]).applied(())
    wrong = next(f for f in facts if f.value == "Lisbon")
    changes = retold(facts, {wrong.id: None})
    assert changes.gone == {wrong.id: None}
    assert [(f.value, f.invalid_at) for f in changes.applied(facts)] == [("Porto", day(9)), ("Faro", None)]
    assert not learn(changes.applied(facts), [claim("Lisbon", 5)], delete(wrong, START))


def test_a_pin_stands_against_all_that_came_between_its_words() -> None:
    facts = learn((), [claim("Porto", 0), claim("Porto", 9)]).applied(())
    pinned = retold(facts, {facts[0].id: pin(facts[0])}).applied(facts)
    after = learn(pinned, [claim("Lisbon", 5)])
    assert [c.value for c in after.conflicts] == ["Lisbon"]
    home = next(f for f in after.applied(pinned) if f.value == "Porto")
    assert (home.invalid_at, len(home.evidence), home.pinned) == (None, 2, True)


def test_what_hands_did_stays_when_more_is_said() -> None:
    (fact,) = learn((), [claim("Porto", 0)]).applied(())
    facts = retold([fact], {fact.id: confirm(fact)}).applied([fact])
    (same,) = learn(facts, [claim("Porto", 3)]).applied(facts)
    assert (same.confirmed, same.confidence, len(marks(same))) == (True, pytest.approx(1.0), 2)
