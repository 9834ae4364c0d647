"""What is learned from statements: confirmation, supersession, the past; and that their order does not matter."""

from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise

import pytest
from core.facts.saying import START, claim, said_in_turn
from hypothesis import given
from hypothesis import strategies as st

from episodic_agent.core.facts import Fact, FactCandidate, history, learn, pin, settled
from episodic_agent.core.facts.consolidating import reinforcing

ALL = ("Porto", "Lisbon", "Faro")


def day(number: float) -> datetime:
    return START + timedelta(days=number)


def told(*candidates: FactCandidate) -> tuple[Fact, ...]:
    facts: tuple[Fact, ...] = ()
    for candidate in candidates:
        facts = learn(facts, [candidate]).applied(facts)
    return facts


def plain(facts: tuple[Fact, ...]) -> list[tuple[object, ...]]:
    names = {fact.id: (fact.value, fact.valid_at) for fact in facts}
    return [
        (f.subject, f.attribute, f.value, f.fact, f.holds, f.valid_at, f.invalid_at, f.superseded_by and names[f.superseded_by], round(f.confidence, 6), f.evidence)
        for f in facts
    ]  # fmt: skip


def test_the_same_value_again_is_more_evidence() -> None:
    (fact,) = told(claim("Porto", 0), claim("porto", 3))
    assert (len(fact.evidence), fact.invalid_at) == (2, None)
    assert fact.confidence == pytest.approx(0.99)


def test_a_new_value_supersedes_the_old_from_its_event_time_on() -> None:
    old, new = told(claim("Porto", 0), claim("Lisbon", 5))
    assert (old.value, old.invalid_at, old.superseded_by) == ("Porto", day(5), new.id)
    assert (new.value, new.invalid_at) == ("Lisbon", None)


def test_what_is_dated_before_the_present_value_is_history_only() -> None:
    facts = told(claim("Lisbon", 5), claim("Porto", 0, statement=9))
    assert [(f.value, f.invalid_at) for f in facts] == [("Porto", day(5)), ("Lisbon", None)]
    assert [f.value for f in history(facts, day(20))] == ["Lisbon"]
    assert [f.value for f in history(facts, day(2))] == ["Porto"]


def test_a_retraction_ends_what_held_and_says_no() -> None:
    yes, no = told(claim("Porto", 0), claim("Porto", 4, holds=False))
    assert (yes.invalid_at, yes.superseded_by, no.holds) == (day(4), no.id, False)


def test_a_retraction_of_something_else_ends_nothing() -> None:
    facts = told(claim("Porto", 0), claim("Faro", 4, holds=False))
    assert [(f.value, f.holds, f.invalid_at) for f in facts] == [("Porto", True, None), ("Faro", False, None)]


def test_what_comes_back_is_a_fact_of_its_own() -> None:
    facts = told(claim("Porto", 0), claim("Lisbon", 5), claim("Porto", 9))
    assert [(f.value, f.valid_at, f.invalid_at) for f in facts] == [
        ("Porto", day(0), day(5)), ("Lisbon", day(5), day(9)), ("Porto", day(9), None)
    ]  # fmt: skip


def test_a_corrected_value_never_held() -> None:
    facts = told(claim("Porto", 0), claim("Lisbon", 5, corrects=True))
    wrong = next(f for f in facts if f.value == "Porto")
    assert wrong.invalid_at == wrong.valid_at
    assert [f.value for f in history(facts, day(1))] == ["Lisbon"]


def test_a_slot_of_many_values_keeps_them_all() -> None:
    facts = told(claim("Polish", 0, attribute="speaks"), claim("Welsh", 2, attribute="speaks"))
    assert [f.invalid_at for f in facts] == [None, None]


def test_to_like_a_thing_ends_disliking_it() -> None:
    facts = told(claim("gore", 0, attribute="dislikes"), claim("gore", 5, attribute="likes"))
    assert [(f.attribute, f.invalid_at) for f in facts] == [("dislikes", day(5)), ("likes", None)]


def test_two_values_of_one_message_stand_side_by_side() -> None:
    home, other = claim("Porto", 0), claim("Faro", 0)
    other = replace(
        other, evidence=replace(other.evidence, observation_id=home.evidence.observation_id, start=20, end=30)
    )
    assert [f.invalid_at for f in told(home, other)] == [None, None]


def test_learning_twice_adds_nothing() -> None:
    candidates = [claim("Porto", 0), claim("Lisbon", 5), claim("Porto", 7, holds=False)]
    facts = learn((), candidates).applied(())
    again = learn(facts, candidates)
    assert not again
    assert again.applied(facts) == facts


def test_another_subject_is_another_slot() -> None:
    facts = told(claim("Porto", 0), claim("Lisbon", 5, subject="Tom"))
    assert [f.invalid_at for f in facts] == [None, None]


def test_a_pinned_fact_is_not_ended_by_a_statement() -> None:
    (fact,) = told(claim("Porto", 0))
    changes = learn([pin(fact)], [claim("Lisbon", 5)])
    assert [one.value for one in changes.conflicts] == ["Lisbon"]
    facts = changes.applied([pin(fact)])
    assert [f.value for f in history(facts, day(9))] == ["Porto"]
    assert len(facts) == 2  # what was said is kept as history


def test_what_earlier_evidence_takes_over_is_named() -> None:
    (late,) = told(claim("Porto", 5))
    changes = learn([late], [claim("Porto", 0)])
    assert changes.gone == {late.id: changes.added[0].id}


def test_hands_marks_go_with_their_evidence() -> None:
    (late,) = told(claim("Porto", 5))
    (fact,) = learn([replace(late, confirmed=True, pinned=True)], [claim("Porto", 0)]).applied([late])
    assert (fact.confirmed, fact.pinned, fact.valid_at) == (True, True, day(0))


def test_what_was_believed_at_a_time_is_told_from_the_evidence_of_that_time() -> None:
    facts = told(claim("Porto", 0, learned=0), claim("Lisbon", 2, learned=10))
    assert [f.value for f in history(facts, day(5))] == ["Lisbon"]
    assert [f.value for f in history(facts, day(5), known_by=day(6))] == ["Porto"]
    assert settled(facts, day(-1)) == ()


CLAIMS = st.lists(
    st.builds(
        claim,
        st.sampled_from(ALL),
        st.integers(0, 12),
        attribute=st.sampled_from(("lives_in", "speaks", "likes", "dislikes")),
        holds=st.sampled_from((True, True, True, False)),
        statement=st.integers(0, 14),
        corrects=st.sampled_from((False, False, False, True)),
    ),
    max_size=9,
    unique_by=lambda one: (one.evidence.observation_id, one.attribute),
)


@given(CLAIMS, st.randoms(use_true_random=False))
def test_any_order_of_arrival_gives_the_same_facts_and_the_same_history(
    said: list[FactCandidate], dice: object
) -> None:
    shuffled = list(said)
    dice.shuffle(shuffled)  # type: ignore[attr-defined]
    assert plain(told(*said)) == plain(told(*shuffled)) == plain(learn((), said).applied(()))


@given(CLAIMS)
def test_a_slot_with_one_value_holds_one_at_a_time(said: list[FactCandidate]) -> None:
    facts = [f for f in learn((), said).applied(()) if f.attribute == "lives_in" and f.holds]
    spans = sorted((f.valid_at, f.invalid_at or day(99)) for f in facts if f.invalid_at != f.valid_at)
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))


@given(CLAIMS)
def test_no_evidence_is_lost_and_none_is_invented(said: list[FactCandidate]) -> None:
    facts = learn((), said).applied(())
    assert sorted(str(e) for f in facts for e in f.evidence) == sorted(str(one.evidence) for one in said)


def test_a_life_as_it_is_told() -> None:
    texts = (
        "Our rent is 700 euros a month.",
        "My sister Hannah is a nurse.",
        "Our rent is 720 euros a month now.",
    )
    facts = said_in_turn(*texts)
    assert [f.value for f in history(facts, day(15))] == [texts[0], texts[1]]
    assert [f.value for f in history(facts, day(50))] == [texts[1], texts[2]]


def test_a_sentence_near_enough_to_a_known_one_reinforces_it() -> None:
    (known,) = told(claim("mechanical watches", 0, attribute="likes"))
    candidate = claim("watches with a movement", 4, attribute="likes")
    assert (
        len(told(claim("mechanical watches", 0, attribute="likes"), reinforcing(candidate, [known], [0.97])))
        == 1
    )
    assert reinforcing(candidate, [known], [0.9]) == candidate
    against = claim("watches with a movement", 4, attribute="dislikes")
    assert reinforcing(against, [known], [0.99]) == against
