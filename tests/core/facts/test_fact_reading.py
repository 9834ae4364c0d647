"""Facts from statements without a model: what is read, and the many ways in which nothing is said."""

from datetime import UTC, datetime

import pytest
from core.facts.saying import read, slots, statement

from episodic_agent.core.facts import Category, learn, read_facts

TOLD = [
    # identity
    ("My name is Ingrid Solberg.", {("name", "Ingrid Solberg", True)}),
    ("Hi, I'm Tomasz, nice to meet you.", {("name", "Tomasz", True)}),
    ("I'm 47 years old and I live in Utrecht.", {("age", "47", True), ("lives_in", "Utrecht", True)}),
    ("My birthday is on 3 June.", {("birthday", "3 June", True)}),
    ("We live in Novi Sad now.", {("lives_in", "Novi Sad", True)}),
    ("I live in Oslo, but I'm originally from Tromsø.", {("lives_in", "Oslo", True), ("from", "Tromsø", True)}),
    ("I moved to Galway in April.", {("lives_in", "Galway", True)}),
    ("I grew up in Wellington.", {("from", "Wellington", True)}),
    ("i live in lisbon", {("lives_in", "lisbon", True)}),
    ("I'm a landscape architect.", {("job", "landscape architect", True)}),
    ("I work as a midwife in Ghent.", {("job", "midwife", True)}),
    ("I'm a chemist at Novartis.", {("job", "chemist", True), ("employer", "Novartis", True)}),
    ("I've just started at Lidl as a cashier.", {("employer", "Lidl", True), ("job", "cashier", True)}),
    ("I run a small bakery with two ovens.", {("job", "runs a small bakery", True)}),
    ("I'm retired.", {("job", "retired", True)}),
    ("I study philosophy.", {("studies", "philosophy", True)}),
    ("I speak Polish and English.", {("speaks", "Polish", True), ("speaks", "English", True)}),
    ("I'm Brazilian.", {("nationality", "Brazilian", True)}),
    ("I'm allergic to walnuts and kiwi.", {("allergic", "walnuts", True), ("allergic", "kiwi", True)}),
    ("I have asthma, so no running.", {("health", "asthma", True)}),
    ("I was diagnosed with epilepsy as a teenager.", {("health", "epilepsy", True)}),
    ("I'm deaf in one ear.", {("health", "deaf in one ear", True)}),
    ("I drive a 2011 Skoda.", {("owns", "2011 Skoda", True)}),
    ("We have an allotment behind the station.", {("owns", "allotment behind the station", True)}),
    ("My pronouns are they/them.", {("pronouns", "they/them", True)}),
    ("I'm left-handed.", {("trait", "left-handed", True)}),
    # tastes and habits
    ("I'm vegetarian.", {("diet", "vegetarian", True)}),
    ("I love Ethiopian food.", {("likes", "Ethiopian food", True)}),
    ("I can't stand reality shows.", {("dislikes", "reality shows", True)}),
    ("My favourite author is Ursula Le Guin.", {("likes", "Ursula Le Guin", True)}),
    ("I prefer tea to coffee.", {("prefers", "tea", True)}),
    ("I'm terrified of spiders.", {("dislikes", "spiders", True)}),
    ("I play the cello.", {("habit", "the cello", True)}),
    ("I go bouldering every Thursday.", {("habit", "go bouldering every Thursday", True)}),
    ("I always carry a notebook.", {("habit", "always carry a notebook", True)}),
    ("I'm a morning person.", {("trait", "morning person", True)}),
    ("I collect old maps.", {("habit", "collects old maps", True)}),
    # relations and animals
    ("My wife's name is Annika.", {("partner", "wife Annika", True)}),
    ("My brother Piotr is a plumber.", {("relationship", "brother Piotr", True), ("job", "plumber", True)}),
    ("Selma is my cousin.", {("relationship", "cousin Selma", True)}),
    ("I have two daughters.", {("relationship", "two daughters", True)}),
    ("I have three sons, Max, Theo and Ravi.", {("relationship", "son Max", True), ("relationship", "son Theo", True), ("relationship", "son Ravi", True)}),
    ("We have a dog called Biscuit.", {("has_pet", "dog Biscuit", True)}),
    ("I'm married to Karim.", {("partner", "married to Karim", True)}),
    # what was and what will be
    ("I ran the Berlin marathon in 2017.", {("did", "ran the Berlin marathon in 2017", True)}),
    ("I spent three years in Seoul as a student.", {("did", "spent three years in Seoul as a student", True)}),
    ("We're getting married next May.", {("plans", "getting married next May", True)}),
    ("I'm training for a triathlon.", {("plans", "training for a triathlon", True)}),
    ("I'm planning to open a bookshop next year.", {("plans", "open a bookshop next year", True)}),
    # standing wishes
    ("Please always answer in bullet points.", {("rule", "always answer in bullet points", True)}),
    ("Never call me mate.", {("rule", "Never call me mate", True)}),
    ("From now on, use metric units.", {("rule", "From now on, use metric units", True)}),
    ("When I ask for recipes, I want weights in grams.", {("rule", "When I ask for recipes: I want weights in grams", True)}),
    # other languages
    ("Ich wohne in Graz und arbeite als Lehrerin.", {("lives_in", "Graz", True), ("job", "Lehrerin", True)}),
    ("Ich bin gegen Pollen allergisch.", {("allergic", "Pollen", True)}),
    ("Meine Schwester heißt Jule.", {("relationship", "schwester Jule", True)}),
    ("Vivo en Sevilla desde hace años.", {("lives_in", "Sevilla", True)}),
    ("Me gusta mucho la jardinería.", {("likes", "jardinería", True)}),
    ("J'habite à Nantes.", {("lives_in", "Nantes", True)}),
    ("Je suis infirmière et j'adore la randonnée.", {("job", "infirmière", True), ("likes", "randonnée", True)}),
    ("我住在杭州。", {("lives_in", "杭州", True)}),
    ("我对海鲜过敏。", {("allergic", "海鲜", True)}),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), TOLD)
def test_what_a_speaker_says_of_themselves_is_read(text: str, expected: set[tuple[str, str, bool]]) -> None:
    assert slots(text) == expected


SILENT = [
    # questions
    "Do I live in Utrecht?",
    "Should I become a midwife?",
    "Is asthma hereditary?",
    "Are you vegetarian?",
    "Wohne ich in Graz?",
    "¿Vivo en Sevilla?",
    "我住在杭州吗？",
    # hypotheticals
    "If I lived in Oslo, I'd ski every weekend.",
    "I wish I had a dog called Biscuit.",
    "Imagine I'm a landscape architect.",
    "I would love Ethiopian food, I think.",
    "Suppose I moved to Galway.",
    "Maybe I'm allergic to walnuts.",
    "Wenn ich in Graz wohnen würde, wäre alles gut.",
    "Si viviera en Sevilla, tendría calor.",
    "如果我住在杭州就好了。",
    # quotations and hearsay
    'She said "I live in Oslo" and laughed.',
    'The form says: "I am allergic to walnuts and kiwi".',
    "They say I'm a chemist at Novartis.",
    "My sister says she is a midwife.",
    "According to the file, I live in Utrecht.",
    "Dicen que vivo en Sevilla.",
    # others
    "My neighbour's cousin lives in Utrecht.",
    "The new guy is a plumber.",
    "He drives a 2011 Skoda.",
    "Her dog is called Biscuit.",
    # tasks and play
    "Write a story in which I live in Oslo.",
    "Draft a bio: I'm a landscape architect and I live in Ghent.",
    "Let's play: I'm a doctor and you're my patient.",
    "Translate: I work as a midwife.",
    "Pretend I'm a chemist.",
    # irony
    "Oh sure, I love waiting in the rain.",
    "I'm allergic to Mondays.",
    "I just LOVE traffic jams.",
    # what passes
    "I'm in Oslo today.",
    "I'm tired.",
    "I'm 5 minutes late.",
    "I love this song.",
    "I've got a headache and two meetings.",
    "I have a question about the cello.",
    "I've got eggs and milk in the fridge.",
    "I'm going to the shop tomorrow.",
    "Thanks, that's great!",
    "Use red for the title of this slide.",
    "Don't send it today.",
]


@pytest.mark.parametrize("text", SILENT)
def test_what_is_not_said_in_earnest_of_oneself_is_no_fact(text: str) -> None:
    assert slots(text) == set()


def test_a_question_keeps_what_was_stated_before_it() -> None:
    assert slots("I live in Utrecht, is there a night train?") == {("lives_in", "Utrecht", True)}
    assert slots("I'm vegan. Any ideas for dinner?") == {("diet", "vegan", True)}


def test_a_guess_weighs_on_its_own_clause() -> None:
    assert slots("My brother Piotr is a plumber, he might help.") >= {("relationship", "brother Piotr", True)}


def test_a_condition_said_to_the_listener_makes_nothing_doubtful() -> None:
    assert slots("I'm a midwife, if you're wondering.") == {("job", "midwife", True)}


def test_what_is_said_of_a_named_relative_is_theirs() -> None:
    (tie, work) = read("My brother Piotr is a plumber.", actor="Ewa")
    assert (tie.subject, tie.category) == ("Ewa", Category.RELATIONSHIP)
    assert (work.subject, work.fact) == ("Piotr", "Piotr's work: plumber")


def test_what_a_relative_without_a_name_does_is_nobodys_fact() -> None:
    assert slots("My brother lives in Oslo.") == set()
    assert slots("My sister is a nurse.") == set()


def test_a_name_that_is_not_the_speakers_is_another_voice() -> None:
    assert slots("I'm Grondar and I live in Moria.", actor="Femi") == set()
    assert slots("I'm Femi and I live in Bristol.", actor="Femi") >= {("lives_in", "Bristol", True)}


def test_no_everyday_word_is_a_name() -> None:
    assert slots("I'm Ready") == set()
    assert slots("I'm Late, sorry.") == set()


@pytest.mark.parametrize(
    "said",
    [
        "I think it has my OLD number. from Cardiff",
        "I've got a phone.",
        "Currently studying in the library!",
        "I'm trying to balance work and study prep",
        "I am not the best cook to be honest",
        "我是主要监督的人，怕时间久了",
    ],
)
def test_what_only_looks_like_a_fact_is_none(said: str) -> None:
    assert slots(said) == set()


def test_what_it_looks_like_is_one() -> None:
    assert slots("From Cardiff.") == {("from", "Cardiff", True)}
    assert slots("I am the plumber") == {("job", "plumber", True)}
    assert slots("I study in the Netherlands.") == {("studies", "in the Netherlands", True)}
    assert slots("我是上海人") == {("from", "上海", True)}


def test_assistants_devices_and_pasted_pages_say_nothing_of_people() -> None:
    assert read("I live in Utrecht.", actor="assistant") == ()
    assert read("I live in Utrecht.", actor="calendar") == ()
    assert read("I live in Utrecht. " * 200) == ()


def test_the_evidence_is_the_sentence_where_it_stands() -> None:
    text = "Good morning! I live in Utrecht, near the canal. Bye."
    (candidate,) = read(text)
    assert text[candidate.evidence.start : candidate.evidence.end] == "I live in Utrecht, near the canal."
    assert candidate.fact == "The user lives in Utrecht"


def test_a_change_is_dated_by_the_words_that_say_when() -> None:
    (moved,) = read("I moved to Galway last May.")
    assert moved.evidence.valid_at == datetime(2025, 5, 1, tzinfo=UTC)
    (since,) = read("I've been with Ericsson since 2009.")
    assert since.evidence.valid_at == datetime(2009, 1, 1, tzinfo=UTC)
    (plain,) = read("I live in Galway.")
    assert plain.evidence.valid_at == plain.evidence.said_at


def test_a_time_that_was_only_assumed_dates_nothing() -> None:
    reported_statement = statement("I moved to Galway last May.")
    (candidate,) = read_facts(
        type(reported_statement)(
            reported_statement.text,
            reported_statement.at,
            reported_statement.actor,
            reported_statement.observation_id,
            dated=False,
        )
    )
    assert candidate.evidence.valid_at == reported_statement.at


def test_a_correction_finds_its_slot_in_what_is_known() -> None:
    known = learn((), read("My wife's name is Hannah.")).applied(())
    (candidate,) = read("Actually, it's Anna, not Hannah.", known=known, days=1)
    assert (candidate.attribute, candidate.value, candidate.evidence.corrects) == (
        "partner",
        "wife Anna",
        True,
    )
    assert read("Actually, it's Anna, not Hannah.") == ()


def test_the_end_of_an_animal_or_a_partner_is_the_end_of_what_is_known_of_them() -> None:
    known = learn((), read("We have a dog called Biscuit.")).applied(())
    assert slots("Biscuit died in March.", known=known) == {("has_pet", "dog Biscuit", False)}
    assert slots("Bowie died in 2016.", known=known) == set()


def test_reading_is_the_same_each_time() -> None:
    for text, _ in TOLD[:20]:
        assert read(text) == read(text)
