"""What people do to facts by hand, and what stays of it."""

from datetime import timedelta

import pytest
from core.facts.saying import START, claim

from episodic_agent.core.facts import Category, Fact, confirm, delete, edit, history, learn, pin, timeline
from episodic_agent.errors import InvalidInput

LATER = START + timedelta(days=30)


def one(value: str = "Porto", day: float = 0, **more: object) -> Fact:
    (fact,) = learn((), [claim(value, day, **more)]).applied(())  # type: ignore[arg-type]
    return fact


def test_an_edited_fact_keeps_how_it_read_before() -> None:
    fact = edit(one(), LATER, text="Maya lives in Vila do Conde", value="Vila do Conde", category="identity")
    assert (fact.fact, fact.value, fact.edited) == ("Maya lives in Vila do Conde", "Vila do Conde", True)
    assert [(v.value, v.changed_at) for v in fact.versions] == [("Porto", LATER)]
    assert fact.category is Category.IDENTITY


def test_what_was_put_right_by_hand_is_not_learned_wrong_again_from_the_same_words() -> None:
    fact = edit(one(), LATER, text="Maya lives in Vila do Conde", value="Vila do Conde")
    assert not learn([fact], [claim("Porto", 0)])


def test_an_edited_fact_is_confirmed_and_superseded_like_any_other() -> None:
    fact = edit(one(), LATER, value="Lisbon", text="Maya lives in Lisbon")
    (same,) = learn([fact], [claim("Lisbon", 4)]).applied([fact])
    assert (same.id, len(same.evidence), same.fact) == (fact.id, 2, "Maya lives in Lisbon")
    old, new = learn([fact], [claim("Faro", 4)]).applied([fact])
    assert (old.superseded_by, old.edited, new.value) == (new.id, True, "Faro")


@pytest.mark.parametrize("wrong", [{"text": " "}, {"value": ""}, {"category": "mood"}])
def test_an_edit_that_leaves_no_fact_is_refused(wrong: dict[str, str]) -> None:
    with pytest.raises(InvalidInput):
        edit(one(), LATER, **wrong)


def test_a_confirmed_fact_is_certain_and_a_pin_can_be_drawn() -> None:
    fact = confirm(one())
    assert (fact.confirmed, fact.confidence) == (True, 1.0)
    assert not pin(pin(fact), pinned=False).pinned


def test_a_deleted_fact_is_not_taught_again_by_the_same_words_but_by_others() -> None:
    candidate = claim("Porto", 0)
    stones = delete(one(), LATER)
    assert not learn((), [candidate], stones)
    assert [f.value for f in learn((), [candidate, claim("Porto", 4)], stones).applied(())] == ["Porto"]


def test_what_is_kept_of_a_deleted_fact_holds_no_text() -> None:
    (stone,) = delete(one("Vila do Conde"), LATER)
    assert "Conde" not in str(stone)
    assert "Maya" not in str(stone)


def test_the_history_of_a_slot_is_told_oldest_first() -> None:
    facts = learn((), [claim("Faro", 9), claim("Porto", 0), claim("Welsh", 3, attribute="speaks")]).applied(
        ()
    )
    assert [f.value for f in timeline(facts, "Maya", "lives_in")] == ["Porto", "Faro"]
    assert [f.value for f in history(facts, START + timedelta(days=4))] == ["Porto", "Welsh"]
    assert history(facts, START - timedelta(days=1)) == ()


def test_a_record_has_the_seeds_fields() -> None:
    record = one().as_record()
    assert {"id", "category", "fact", "keywords", "source_episodic_ids", "valid_at", "invalid_at"} <= set(
        record
    )
    assert record["superseded_by"] is None
