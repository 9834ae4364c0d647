"""The figures of a played life, each against a life small enough to count by hand."""

from dataclasses import replace

import pytest

from episodic_agent.core.evaluation.lives import (
    Answer,
    FoundFact,
    LabelledFact,
    LifeLabels,
    LifeMessage,
    LifeQuestion,
    PlayedLife,
    TitledEpisode,
    ToldContext,
    score_life,
    stands_in,
)

MESSAGES = [
    LifeMessage("m1", "s1", "The boiler in the cellar leaks"),
    LifeMessage("m2", "s1", "The plumber asks ninety euros"),
    LifeMessage("m3", "s1", "I am allergic to walnuts", begins=True),
    LifeMessage("m4", "s2", "Is it fixed"),
    LifeMessage("m5", "s2", "I eat walnuts again"),
    LifeMessage("m6", "s3", "Maybe I buy a horse"),
]
LABELS = LifeLabels(
    messages=MESSAGES,
    topics={"s1": "leaking boiler", "s2": "boiler repair", "s3": "horse"},
    earlier={"s1": frozenset(), "s2": frozenset(["s1"]), "s3": frozenset()},
    facts=[
        LabelledFact("nuts", frozenset(["m3"]), True, "Ana must not eat walnuts", frozenset(["m5"])),
        LabelledFact("again", frozenset(["m5"])),
    ],
    tempting=frozenset(["m6"]),
    needs={"m4": ["m1", "m2"]},
    questions=[
        LifeQuestion("changed", frozenset(["m5"]), frozenset(["m5"]), frozenset(["m3"])),
        LifeQuestion("abstain", frozenset()),
    ],
)
RIGHT = PlayedLife(
    thread_of={"m1": "a", "m2": "a", "m3": "a", "m4": "b", "m5": "b", "m6": "c"},
    episode_of={"m1": "1", "m2": "1", "m3": "2", "m4": "3", "m5": "3", "m6": "4"},
    links=[("s2", "s1")],
    largest=2,
    facts=[
        FoundFact("I am allergic to walnuts", [("m3", "I am allergic to walnuts")], holds=False),
        FoundFact("I eat walnuts again", [("m5", "I eat walnuts again")]),
    ],
    contexts={
        ("m4", 800): ToldContext("The boiler in the cellar leaks", [["m1"]]),
        ("m4", 2000): ToldContext("The boiler in the cellar leaks. The plumber asks ninety euros", [["m1"]]),
    },
    answers=[Answer(["m5", "m3"]), Answer([], abstained=True)],
    episodes=[
        TitledEpisode("the boiler in the cellar leaks", "It is leaking.", ["m1", "m2"]),
        TitledEpisode("walnuts and horse", "The boiler repair.", ["m4", "m5"]),
    ],
    calls=3,
    seconds=0.6,
)


def figure(played: PlayedLife, group: str, name: str) -> object:
    scored = score_life(LABELS, played)[group]
    assert isinstance(scored, dict)
    return scored[name]


def test_a_life_played_without_a_mistake() -> None:
    scored = score_life(LABELS, RIGHT)
    assert scored["sittings"] == {"f1": 1.0}
    assert scored["links"] == {
        "precision": 1.0,
        "recall": 1.0,
        "f1": 1.0,
        "elliptical_f1": 1.0,
        "largest": 2,
    }
    assert scored["episodes"] == {"f1": 1.0, "f1_tol1": 1.0, "score": 1.0, "density": 1.0}
    assert scored["facts"] == {
        "precision": 1.0,
        "recall": 1.0,
        "f1": 1.0,
        "tempted": 0.0,
        "tempted_by": [],
        "stale": 0.0,
    }
    assert scored["needs"] == {"covered@800": 0.5, "covered@2000": 1.0, "noise": 0.0}
    assert scored["questions"] == {
        "recall@5": 1.0,
        "recall@10": 1.0,
        "any@5": 1.0,
        "abstained": 1.0,
        "changed": 1.0,
    }
    assert scored["titles"] == {"topic_words": 0.666667, "phrase": 0.5}
    assert (scored["calls_per_100"], scored["ms_per_message"]) == (50.0, 100.0)


def test_threads_that_join_two_sittings_cost_precision() -> None:
    joined = replace(RIGHT, thread_of=dict.fromkeys(RIGHT.thread_of, "a"))
    assert figure(joined, "sittings", "f1") == round(2 * 4 / (15 + 4), 6)


@pytest.mark.parametrize(
    ("links", "precision", "recall", "f1"),
    [
        ([("s2", "s1"), ("s3", "s1")], 0.5, 1.0, 0.666667),
        ([("s3", "s2")], 0.0, 0.0, 0.0),
        ([], 0.0, 0.0, 0.0),
    ],
)
def test_wrong_and_missing_links(
    links: list[tuple[str, str]], precision: float, recall: float, f1: float
) -> None:
    played = replace(RIGHT, links=links)
    names = ("precision", "recall", "f1")
    assert [figure(played, "links", name) for name in names] == [precision, recall, f1]


def test_a_cut_that_is_one_place_off_counts_with_tolerance_alone() -> None:
    off = replace(RIGHT, episode_of={**RIGHT.episode_of, "m2": "2"})
    assert (figure(off, "episodes", "f1"), figure(off, "episodes", "f1_tol1")) == (0.0, 1.0)


def test_a_fact_that_lost_its_negation_is_wrong_and_a_tempting_line_is_named() -> None:
    inverted = FoundFact("eats walnuts", [("m5", "I don't eat walnuts")])
    tempted = FoundFact("I buy a horse", [("m6", "Maybe I buy a horse")])
    played = replace(RIGHT, facts=[inverted, tempted])
    assert figure(played, "facts", "precision") == 0.0
    assert figure(played, "facts", "tempted") == 1.0
    assert figure(played, "facts", "tempted_by") == ["m6"]


def test_a_replaced_fact_that_holds_is_stale() -> None:
    played = replace(RIGHT, facts=[replace(one, holds=True) for one in RIGHT.facts])
    assert figure(played, "facts", "stale") == 1.0


def test_lines_of_other_matters_are_noise() -> None:
    told = ToldContext("Maybe I buy a horse", [["m6"], ["m1"], []])
    played = replace(RIGHT, contexts={("m4", 800): told})
    assert figure(played, "needs", "noise") == 0.5
    assert figure(played, "needs", "covered@2000") is None


@pytest.mark.parametrize(
    ("told", "share"), [([["m3"]], 1.0), ([["m3"], ["m5"]], 0.0), ([["m5"]], 0.0), ([["m1"], []], 0.0)]
)
def test_what_was_so_told_without_what_is_so_now_is_outdated(told: list[list[str]], share: float) -> None:
    played = replace(RIGHT, looked_up={("nuts", 300): ToldContext("", told)})
    assert figure(played, "changes", "outdated@300") == share
    assert figure(played, "changes", "outdated@800") is None


def test_a_change_that_one_message_tells_whole_is_not_looked_up() -> None:
    both = LabelledFact("nuts", frozenset(["m5"]), True, "Ana must not eat walnuts", frozenset(["m5"]))
    assert [fact.id for fact in LABELS.changes] == ["nuts"]
    assert replace(LABELS, facts=[both]).changes == []


def test_the_replaced_answer_above_the_newest_is_wrong() -> None:
    played = replace(RIGHT, answers=[Answer(["m3", "m5"]), Answer(["m1"])])
    assert figure(played, "questions", "changed") == 0.0
    assert figure(played, "questions", "abstained") == 0.0


def test_a_message_of_han_script_stands_where_its_pairs_stand() -> None:
    assert stands_in("我在上海的医院上班", "她说:我在上海的医院上班。")
    assert not stands_in("我在上海的医院上班", "我在北京")
