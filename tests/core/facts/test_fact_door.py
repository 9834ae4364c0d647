"""What teaches nothing: denials, other voices, what only lies ahead; and what a denial may still end."""

from datetime import UTC, datetime

import pytest
from core.facts.saying import read, slots

from episodic_agent.core.facts import Fact, history, learn

DENIED = [
    "I've never been to Japan.",
    "I have never been married.",
    "I've never worked in a bank.",
    "I gave up running last year.",
    "I don't have a dog.",
    "I don't have any siblings.",
    "I don't eat pork or shellfish.",
    "I'm not a doctor.",
    "I'm not allergic to cats.",
    "I can't swim.",
    "I'm no fan of musicals.",
    "Never worked in a bank.",
    "Neither my wife Ana nor I work at Shell.",
    "It's not true that I live in Rome or that I'm a nurse.",
    "I have never, you know, been married.",
    "I don't have a dog, a cat or a car.",
    "I used to live in Kyoto.",
    "I sold my motorbike.",
    "My dog Rex died.",
    "Ich habe keinen Hund.",
    "Ich bin kein Vegetarier.",
    "Nie esse ich Fleisch.",
    "Nunca he trabajado en un banco.",
    "No vivo en Madrid.",
    "No tengo perro.",
    "Je n'habite pas à Lyon.",
    "Je ne suis pas infirmière.",
    "我不是老师。",
    "我没有狗。",
    "我不吃辣。",
]


@pytest.mark.parametrize("text", DENIED)
def test_a_denial_teaches_nothing(text: str) -> None:
    assert slots(text, actor="Tom") == set()


TURNED_ROUND = [
    "我对花生不过敏。",
    "我从不过敏。",
    "我对花生并不过敏。",
    "我喜欢咖啡才怪",
    "我住在北京才怪",
    "我差点当了医生。",
    "I nearly moved to Rome in 2019.",
    "I was almost a doctor.",
    "I was nearly a teacher.",
    "Ich bin fast Arzt geworden.",
    "Ich bin Vegetarier gewesen.",
    "Casi soy médico.",
    "J'ai failli devenir médecin.",
    "Je suis presque médecin.",
    "I'm anything but a vegan.",
    "Ich bin alles andere als Vegetarier.",
    "Ich mag Oliven net.",
    "Ich liebe Oliven nimmer.",
    "J'aime point les olives.",
    "Me gustan poco las aceitunas.",
    "I lost my sister Ana.",
    "My late husband Paul was a baker.",
    "My late husband Paul is a baker.",
]
TAKEN_BACK = [
    "I live in Rome! NOT!",
    "I'm a vegan... just kidding!",
    "I'm a vegan. Just kidding.",
    "I'm a vegan jk",
    "I live in Rome. jk",
    "I live in Rome. In my dreams!",
    "I work at NASA in my dreams.",
    "Ich bin Vegetarier, Scherz!",
    "Ich bin Vegetarier - kleiner Scherz.",
    "Ich wohne in Berlin, Quatsch.",
    "Ich wohne in Berlin. Quatsch!",
    "Me gustan las aceitunas, mentira.",
    "Soy vegetariano, es broma.",
    "J'aime les olives, je plaisante.",
    "Je travaille chez Renault dans mes rêves.",
    "我住在北京。开玩笑的。",
]


@pytest.mark.parametrize("text", TURNED_ROUND + TAKEN_BACK)
def test_what_is_turned_round_or_taken_back_teaches_nothing(text: str) -> None:
    assert slots(text, actor="Tom") == set()


OTHERS = [
    "the user in the story says: I work at NASA",
    "The character replies: I am a nurse.",
    "In the novel the hero says I live in Paris.",
    "In my story I am a pilot. I live in Dubai.",
    "Let's role play: I am a doctor in Rome.",
    "Imagine I work at NASA.",
    "If I were a doctor at NASA, I live in Houston.",
    "Alice: I live in Rome.",
    "Customer: I'm allergic to walnuts.",
    "> I live in Rome.",
    "~~~\nI live in Rome.\n~~~",
    "'I live in Rome and work at Shell', it says.",
    "Mein Freund sagt: ich wohne in Bonn.",
    "En la novela vivo en Sevilla.",
    "Dans le roman, j'habite à Nantes.",
    "小明说：我住在北京。",
    "故事里我住在杭州。",
    "Let me quote the letter: I am a widow and I live in Trier.",
    "Here's my cover letter for a friend: I am a nurse and I live in Trier.",
    "Subject: hello. Dear Sir, I am a nurse and I live in Trier. Yours, Otto",
    "TODO: I live in Trier",
]


@pytest.mark.parametrize("text", OTHERS)
def test_another_voice_teaches_nothing_of_the_speaker(text: str) -> None:
    assert slots(text, actor="Tom") == set()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I live in Bonn, but I don't own a car.", {("lives_in", "Bonn", True)}),
        ("I've never smoked and I live in Rome.", {("lives_in", "Rome", True)}),
        ("I keep bees, so please don't spray.", {("habit", "keep bees", True)}),
        ("I can't stand reality shows.", {("dislikes", "reality shows", True)}),
        ("As I said, I live in Bonn.", {("lives_in", "Bonn", True)}),
        ("Context: I live in Bonn.", {("lives_in", "Bonn", True)}),
        ("> I live in Rome.\nWow. I live in Bonn.", {("lives_in", "Bonn", True)}),
        ("Tom: I live in Bonn.", {("lives_in", "Bonn", True)}),
        ("Never call me mate.", {("rule", "Never call me mate", True)}),
        ("不过，我住在杭州。", {("lives_in", "杭州", True)}),
        ("I'm a vegan. Just kidding. I live in Bonn.", {("lives_in", "Bonn", True)}),
        ("I live in Bonn, no kidding.", {("lives_in", "Bonn", True)}),
        ("I've lived in Bonn for almost a year.", {("lives_in", "Bonn", True)}),
        ("Ich wohne seit fast zehn Jahren in Bonn.", {("lives_in", "Bonn", True)}),
    ],
)
def test_what_stands_beside_a_denial_or_only_looks_like_one_is_read(
    text: str, expected: set[tuple[str, str, bool]]
) -> None:
    assert slots(text, actor="Tom") >= expected


def known(text: str) -> tuple[Fact, ...]:
    return learn((), read(text, actor="Tom")).applied(())


@pytest.mark.parametrize(
    ("before", "text"),
    [
        ("I work for Siemens.", "I no longer work for Siemens."),
        ("I'm vegetarian.", "I'm not vegetarian any more."),
        ("I live in Kyoto.", "I used to live in Kyoto."),
        ("I love fado.", "I don't like fado."),
        ("I'm allergic to cats.", "I'm not allergic to cats."),
        ("My partner Bruno cooks.", "Bruno and I split up."),
        ("We have a dog called Rex.", "My dog Rex died."),
        ("Vivo en Valencia.", "Ya no vivo en Valencia."),
        ("J'habite à Lyon.", "Je n'habite plus à Lyon."),
    ],
)
def test_a_denial_ends_the_fact_that_it_names(before: str, text: str) -> None:
    facts = known(before)
    after = learn(facts, read(text, actor="Tom", days=1, known=facts)).applied(facts)
    assert {fact.id for fact in facts} == {fact.id for fact in after if fact.invalid_at is not None}


def test_a_denial_of_another_value_ends_nothing() -> None:
    facts = known("We have a dog called Rex.")
    assert read("I don't have a cat.", actor="Tom", days=1, known=facts) == ()


def test_a_new_value_beside_the_end_of_the_old_takes_its_place() -> None:
    facts = known("Vivo en Getxo.")
    candidates = read("Ya no vivo en Getxo, me mudé a Logroño.", actor="Tom", days=1, known=facts)
    after = learn(facts, candidates).applied(facts)
    assert "Tom lives in Getxo" not in {
        fact.fact for fact in history(after, datetime(2026, 4, 1, tzinfo=UTC))
    }


def test_a_line_of_a_file_is_no_illness() -> None:
    assert slots("I'm on line 42 of the file.") == set()
    assert slots("I'm on sertraline.") == {("health", "sertraline", True)}


@pytest.mark.parametrize(
    ("text", "attribute", "since"),
    [
        ("My daughter Lena starts school in September.", "relationship", datetime(2026, 3, 2, 9, tzinfo=UTC)),
        ("My wife Lena starts school in September.", "partner", datetime(2026, 3, 2, 9, tzinfo=UTC)),
        ("I move to Leeds in May.", "lives_in", datetime(2026, 5, 1, tzinfo=UTC)),
        ("From September I work at Shell.", "employer", datetime(2026, 9, 1, tzinfo=UTC)),
        ("Next month I live in Bonn.", "lives_in", datetime(2026, 4, 1, tzinfo=UTC)),
        ("I moved to Leeds in May.", "lives_in", datetime(2025, 5, 1, tzinfo=UTC)),
        ("My son Max was born in September.", "relationship", datetime(2025, 9, 1, tzinfo=UTC)),
        ("My sister Ana moved to Leeds in May.", "relationship", datetime(2026, 3, 2, 9, tzinfo=UTC)),
    ],
)
def test_what_lies_ahead_dates_nothing_back(text: str, attribute: str, since: datetime) -> None:
    moments = {one.attribute: one.evidence.valid_at for one in read(text, actor="Tom")}
    assert moments[attribute] == since


def test_no_plan_is_dated_back() -> None:
    (plan,) = read("We will move to Leeds in May.", actor="Tom")
    assert plan.evidence.valid_at >= plan.evidence.said_at
