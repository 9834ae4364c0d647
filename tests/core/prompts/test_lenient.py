"""What is made of answers that do not quite fit: fields are left out, never the answer."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from episodic_agent.core.prompts import compact, episode, facts, review, skills, thread_link, topic_shift
from episodic_agent.core.prompts.lenient import fitted

SCHEMAS = [m.SCHEMA for m in (compact, episode, facts, review, skills, thread_link, topic_shift)]
RIGHT: Mapping[str, Any] = {
    "is_boundary": True,
    "confidence": 0.95,
    "signals": {"topic_shift": 0.9, "intent_shift": 0.0, "temporal_marker": 1},
    "updated_event_model": None,
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
)


def test_what_fits_is_left_as_it_is() -> None:
    assert fitted(RIGHT, topic_shift.SCHEMA) == RIGHT


@pytest.mark.parametrize(
    "change",
    [
        {"confidence": "0.95"},
        {"confidence": 95},
        {"confidence": "95%"},
        {"confidence": " .95 "},
        {"is_boundary": "True"},
        {"is_boundary": "yes."},
        {"updated_event_model": "null"},
        {"reason": "they moved on"},
    ],
    ids=str,
)
def test_what_is_plainly_meant_is_read(change: dict[str, Any]) -> None:
    assert fitted({**RIGHT, **change}, topic_shift.SCHEMA) == RIGHT


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("confidence", 7),
        ("confidence", 1.5),
        ("confidence", -0.1),
        ("confidence", True),
        ("confidence", "high"),
        ("is_boundary", "perhaps"),
        ("is_boundary", 0.9),
        ("updated_event_model", ["a"]),
        ("signals", "strong"),
    ],
)
def test_what_can_mean_anything_is_left_out_and_the_rest_stays(name: str, value: object) -> None:
    rest = {key: one for key, one in RIGHT.items() if key != name}
    assert fitted({**RIGHT, name: value}, topic_shift.SCHEMA) == rest


def test_names_and_words_in_any_case_are_theirs() -> None:
    answer: Any = {
        "Reviews": [{"Episode": "E1", "rating": "Good"}, {"episode": "E2", "rating": "superb"}, "x"]
    }
    assert fitted(answer, review.SCHEMA) == {
        "reviews": [{"episode": "E1", "rating": "good"}, {"episode": "E2"}]
    }


def test_a_verdict_needs_no_event_model_and_a_no_needs_no_confidence() -> None:
    assert topic_shift.read_verdict({"is_boundary": True, "confidence": 0.9}).updated_event_model is None
    assert topic_shift.read_verdict({"is_boundary": False}).confidence == 0.0


@given(st.sampled_from(SCHEMAS), st.dictionaries(st.text(max_size=8), JSON, max_size=4))
def test_whatever_comes_is_read_and_reading_it_twice_changes_nothing(schema: Any, value: Any) -> None:
    names = list(schema["properties"])
    answers = {**value, **dict(zip(names, value.values(), strict=False))}
    once = fitted(answers, schema)
    assert once.keys() <= schema["properties"].keys()
    assert fitted(once, schema) == once
