"""The lexicon users extend: what it adds, what wins, and what is refused."""

import pytest

from episodic_agent.core.language.mentions.lexicon import Lexicon
from episodic_agent.core.language.mentions.reading import mentions
from episodic_agent.errors import InvalidInput


def kinds(text: str, lexicon: Lexicon) -> list[tuple[str, str]]:
    return [(m.kind, m.value) for m in mentions(text, lexicon=lexicon)]


def test_added_names_are_found_in_any_writing() -> None:
    mine = Lexicon.shipped().extended({"place": ["Blue Lantern"], "product": ["flurbo"]})
    assert kinds("see you at the blue lantern with the flurbo", mine) == [
        ("place", "blue lantern"),
        ("product", "flurbo"),
    ]


def test_a_short_form_stands_for_its_value() -> None:
    mine = Lexicon.shipped().extended({"place": ["HQ=Main Street 5"]})
    assert ("place", "main street 5") in kinds("meet at HQ", mine)


def test_an_added_kind_wins_over_the_shipped_one() -> None:
    mine = Lexicon.shipped().extended({"person": ["Boston"]})
    assert kinds("Boston called", mine) == [("person", "boston")]
    assert kinds("Boston called", Lexicon.shipped()) == [("place", "boston")]


def test_names_without_spaces_can_be_added() -> None:
    mine = Lexicon.shipped().extended({"organisation": ["蓝灯笼"]})
    assert kinds("我们去蓝灯笼吃饭", mine) == [("organisation", "蓝灯笼")]


def test_a_file_holds_plain_lines_and_json_lines() -> None:
    lines = [
        "\ufeff# ours\n",
        "\n",
        "person: Muhhamed | Fahim\n",
        '{"kind": "place", "name": "HQ", "value": "Main Street"}\n',
    ]
    mine = Lexicon.shipped().extended_from(lines)
    assert kinds("fahim is at HQ", mine) == [("person", "fahim"), ("place", "main street")]


@pytest.mark.parametrize(
    "line",
    [
        "Paris",
        "planet: Mars",
        "place:",
        "place: |",
        '{"kind": "place"}',
        '{"kind": 3, "name": "x"}',
        "{broken",
        '{"kind": "place", "name": ""}',
        "place: " + "x" * 300,
    ],
)
def test_a_bad_line_is_refused_with_one_clear_line(line: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        Lexicon.shipped().extended_from(["place: Fine", line], "names.txt")
    assert "\n" not in str(refused.value)


def test_the_refusal_names_the_line_and_the_file() -> None:
    with pytest.raises(InvalidInput, match=r"line 2 of names\.txt"):
        Lexicon.shipped().extended_from(["place: Fine", "Paris"], "names.txt")


def test_one_string_is_not_taken_for_a_list_of_letters() -> None:
    with pytest.raises(InvalidInput, match="list of strings"):
        Lexicon.shipped().extended({"place": "Paris"})


def test_the_shipped_lexicon_is_left_alone_by_extension() -> None:
    before = kinds("meet at the flurbo", Lexicon.shipped())
    Lexicon.shipped().extended({"place": ["flurbo"]})
    assert kinds("meet at the flurbo", Lexicon.shipped()) == before == []


def test_an_empty_lexicon_leaves_rules_and_capitals() -> None:
    assert ("place", "elm street") in kinds("I live in Elm Street", Lexicon.empty())
