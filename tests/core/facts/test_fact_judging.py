"""What any clause proposes of its speaker, and what the judge believes of it."""

from pathlib import Path

import pytest
from core.facts.saying import read, slots

from episodic_agent.core.facts.attribution import Sentence, earnest
from episodic_agent.core.facts.english.asks import asks
from episodic_agent.core.facts.english.clauses import chunks, parsed, plain
from episodic_agent.core.facts.grammar import SlotMatch
from episodic_agent.core.facts.judging import accepted, probability
from episodic_agent.core.facts.proposing import Proposal, proposals
from episodic_agent.data import number, numbers

ROOT = Path(__file__).resolve().parents[3]

TOLD = [
    # a subject left out, short forms without their apostrophe, no capitals
    ("Moved to Turin last spring.", ("lives_in", "Turin", True)),
    ("im 29 and ive got asthma", ("age", "29", True)),
    ("ive got type 2 diabetes so be kind", ("health", "type 2 diabetes", True)),
    ("Been vegan since school.", ("diet", "vegan", True)),
    ("I still do the crossword in pen.", ("habit", "do the crossword in pen", True)),
    # several facts in one breath
    ("I live on Skye with my husband Ewan and nine sheep.", ("has_pet", "nine sheep", True)),
    ("Quick intro: 36, Malmö, product designer, father of two.", ("job", "product designer", True)),
    ("Retired postman, widower, 79.", ("age", "79", True)),
    ("Hi! I'm Grace, 34, moved up to Dundee from Lagos.", ("from", "Lagos", True)),
    # states, skills, tastes
    ("I'm hopeless with names.", ("trait", "hopeless with names", True)),
    ("I'm petrified of moths.", ("dislikes", "moths", True)),
    ("I find opera boring.", ("dislikes", "opera", True)),
    ("My favourite bird is the heron.", ("likes", "heron", True)),
    ("Cheese gives me migraines.", ("health", "Cheese gives me migraines", True)),
    # what was, what is over, what will be
    ("I won a regatta in 2014.", ("did", "won a regatta in 2014", True)),
    ("We're moving to Oslo in August.", ("plans", "moving to Oslo in August", True)),
    # wishes
    ("for code always give me the diff not the whole file", ("rule", "give me the diff not the whole file", True)),
    ("Remember for all future trips: aisle seat, no early flights.", ("rule", "no early flights", True)),
    ("always tell me up front if the dog dies", ("rule", "tell me up front if the dog dies", True)),
]  # fmt: skip


@pytest.mark.parametrize(("said", "expected"), TOLD)
def test_a_clause_tells_by_its_grammar(said: str, expected: tuple[str, str, bool]) -> None:
    assert expected in slots(said, actor="Grace" if "Grace" in said else "user")


@pytest.mark.parametrize(
    "said",
    [
        "There was limescale in it. Dripping stopped. I AM the plumber",
        "*leans on the counter* I sell teeth and I live in the sewer.",
        "Living alone can be such an adventure.",
        "Working as a waiter teaches you a lot.",
        "The hotel we stayed at had a rooftop bar.",
        "I finished the report and sent it to Dana.",
        "I'm trying to fix the build of my weather app.",
        "I'll be there at eight.",
        "I should have been a barista.",
        "I hate Mondays so much.",
        "Like most people, I was asleep.",
        "Stuck behind a tractor.",
        "We learn and grow from our mistakes.",
        "Simply try it out and get it over with.",
        "It restarted four times. Out of memory every time, about nine hours apart",
        "Everybody likes cake. I'm going round with one on Tuesday.",
        "I volunteer to cook on the first night.",
        "From March on I work for Kestrel Maps as a product lead.",
        "The dentist, Dr Weiss, pulled my lower wisdom tooth, twenty minutes of horror.",
        "Amadeo swam every morning, I only up to the knees.",
    ],
)
def test_the_day_and_the_joke_say_nothing(said: str) -> None:
    assert slots(said) == set()


def test_a_list_ends_where_another_clause_begins() -> None:
    assert slots("I like hills, Jonas has a grumpy knee") == {("likes", "hills", True)}


def test_whom_a_question_or_hearsay_names_is_there_and_what_it_says_is_not() -> None:
    assert slots("Is my sister Orla coming?") == {("relationship", "sister Orla", True)}
    assert slots("My sister Orla says she is a midwife.") == {("relationship", "sister Orla", True)}
    assert slots("Imagine my sister Orla was a spy.") == set()


def test_what_is_said_of_a_named_one_is_theirs_and_goes_on_with_he_or_she() -> None:
    results = {
        (one.subject, one.attribute, one.value) for one in read("My son Laurie is 21, he lives in Leeds.")
    }
    assert {("Laurie", "age", "21"), ("Laurie", "lives_in", "Leeds")} <= results


def test_a_list_is_cut_between_its_clauses_and_not_between_its_nouns() -> None:
    parts = [part for part, _ in chunks("I love cats and dogs, and my flat is small and I work nights")]
    assert parts == ["I love cats and dogs", "and my flat is small", "and I work nights"]


@pytest.mark.parametrize(
    ("said", "aux", "verb", "form", "no"),
    [
        ("I've never really lived alone", "have", "live", "done", False),
        ("I don't work there", "do", "work", "base", True),
        ("we were swimming", "was", "swim", "ing", False),
        ("I used to smoke", "used", "smoke", "base", False),
        ("I should have gone", "should", "go", "base", False),
    ],
)
def test_a_clause_is_read_by_its_helping_verb(said: str, aux: str, verb: str, form: str, no: bool) -> None:
    (clause,) = parsed(plain(said))
    assert (clause.aux, clause.no) == (aux, no)
    assert clause.verb == verb or aux == "should"
    assert clause.form == form or aux == "should"


def test_one_draft_is_asked_for_and_all_of_them_are_wished() -> None:
    once = {frame for frame, _ in asks("Use red in this chart.")}
    ever = {frame for frame, _ in asks("Never use red in any chart.")}
    assert once == {"ask-do-plain"}
    assert ever == {"ask-ban-ever"}


def test_the_judge_weighs_signs_and_nothing_else() -> None:
    part = Sentence("said", 0)
    weights = numbers("facts/judge.weights")
    good = max(weights, key=lambda sign: weights[sign])
    bad = min(weights, key=lambda sign: weights[sign])
    this_proposals = [
        Proposal(SlotMatch("habit", "x"), "frame", part, signs)
        for signs in ((bad,), (), ("never seen",), (good,), (good, good))
    ]
    chances = [probability(proposal) for proposal in this_proposals]
    assert chances[0] < chances[1] == chances[2] < chances[3] == chances[4]
    assert (chances[1] > 0.5) is (number("facts/judge.base") > 0)
    assert not accepted(this_proposals[0])


def test_a_proposal_says_what_speaks_for_it_and_against_it() -> None:
    text = "I broke my arm yesterday."
    signs = {sign for one in proposals(text, earnest(text, "en"), "user") for sign in one.signs}
    assert {"passing", "my", "did passing", "frame did-life"} <= signs


def test_small_talk_stays_silent() -> None:
    lines = (ROOT / "tools" / "facts" / "sayings.txt").read_text(encoding="utf-8").splitlines()
    idle = [line.partition("=>")[0].strip() for line in lines if line.strip().endswith("=>")]
    wrong = [said for said in idle if slots(said)]
    assert len(idle) > 150
    assert len(wrong) <= 0.04 * len(idle), wrong
