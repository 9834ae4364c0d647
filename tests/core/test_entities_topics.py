"""Topics and domains, references to several at once, and times that contain each other."""

import pytest
from builders.examples import share
from hypothesis import given, settings
from hypothesis import strategies as st

from episodic_agent.core.language.mentions.calendar import related
from episodic_agent.core.language.mentions.numbers import set_references
from episodic_agent.core.language.mentions.reading import domains, mentions, topics


@pytest.mark.parametrize(
    ("one", "other", "shared"),
    [
        ("umbrella tomorrow?", "What is the weather in Boston?", "weather"),
        ("Book me a flight to Tokyo", "I'm planning a trip to Paris", "travel"),
        ("my kitten needs a vet", "the dog will not eat", "pets"),
        ("brauche ich einen Regenschirm?", "will it rain", "weather"),
        ("¿va a haber lluvia?", "is it sunny", "weather"),
        ("明天会下雨吗", "天气怎么样", "weather"),
        ("my headache is back", "the doctor gave me pills", "health"),
        ("sudo fails in the terminal", "the laptop will not boot", "technology"),
    ],
)
def test_messages_that_share_no_word_share_a_domain(one: str, other: str, shared: str) -> None:
    assert shared in topics(one)
    assert shared in topics(other)


@pytest.mark.parametrize(
    "text", ["ok, thanks!", "Oh, and what is it on Thursday?", "yes", "", "Anna, Paris, 25"]
)
def test_talk_names_and_times_are_no_topics(text: str) -> None:
    assert dict(topics(text)) == {}


def test_more_words_of_a_domain_make_it_surer() -> None:
    assert domains("rain")["weather"] < domains("rain and an umbrella")["weather"] < 1.0


def test_weights_lie_between_nothing_and_one_and_the_weightiest_comes_first() -> None:
    weights = list(
        topics("The weather forecast says rain, so take an umbrella on the trip to the museum").values()
    )
    assert weights == sorted(weights, reverse=True)
    assert all(0.0 < weight <= 1.0 for weight in weights)


def test_mentions_known_already_need_not_be_found_again() -> None:
    text = "Is it raining in Boston on Thursday?"
    assert topics(text) == topics(text, matching_mentions=mentions(text))


@settings(max_examples=share(60), deadline=None)
@given(st.text(max_size=100))
def test_any_text_has_topics_and_references(text: str) -> None:
    assert topics(text) == topics(text)
    for reference in set_references(text):
        assert text[reference.start : reference.end] == reference.text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What about weather in both cities?", [("place", 2)]),
        ("the two restaurants", [("place", 2)]),
        ("all three of them", [(None, 3)]),
        ("both of them, please", [(None, 2)]),
        ("what about both?", [(None, 2)]),
        ("either restaurant is fine", [("place", 2)]),
        ("neither works for me", [(None, 2)]),
        ("all the cities", [("place", None)]),
        ("the 3 movies", [("product", 3)]),
        ("my two friends", [("person", 2)]),
        ("these two days", [("time", 2)]),
        ("each of the companies", [("organisation", None)]),
        ("beide Städte", [("place", 2)]),
        ("en ambas ciudades", [("place", 2)]),
        ("les deux villes", [("place", 2)]),
        ("这两个城市", [("place", 2)]),
        ("Both Anna and Tom came", []),
        ("all right", []),
        ("all day long", []),
        ("the city", []),
    ],
)
def test_references_to_several_say_what_and_how_many(
    text: str, expected: list[tuple[str | None, int | None]]
) -> None:
    assert [(one.kind, one.count) for one in set_references(text)] == expected


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("date:2026-03-05", "month:2026-03", True),
        ("month:2026-03", "year:2026", True),
        ("date:2026-03-05", "year:2025", False),
        ("weekday:thursday", "date:2026-03-05", True),
        ("weekday:friday", "date:2026-03-05", False),
        ("date:03-05", "date:2026-03-05", True),
        ("monthday:5", "date:2026-03-05", True),
        ("clock:17:00", "part:afternoon", True),
        ("clock:17:00 date:2026-03-05", "date:2026-03-05", True),
        ("clock:17:00", "clock:18:00", False),
        ("date:2026-03-05", "week:2026-W10", True),
        ("25 dollar", "25 euro", False),
        ("", "date:2026-03-05", False),
    ],
)
def test_times_are_related_if_one_contains_the_other(one: str, other: str, expected: bool) -> None:
    assert related(one, other) is expected
    assert related(other, one) is expected
    assert related(one, one)
