"""Facts read by grammar: families of sentences, none of which an exact rule was written for."""

import pytest
from core.facts.saying import slots

FAMILIES = [
    # work and studies
    ("i work nights as a security guard", ("job", "security guard", True)),
    ("I'm a dental hygienist in Leeds.", ("job", "dental hygienist", True)),
    ("I've been a GP for ten years.", ("job", "GP", True)),
    ("I repair church organs for a living.", ("job", "repair church organs", True)),
    ("I'm in my second year of dentistry at Cork.", ("studies", "in my second year of dentistry at Cork", True)),
    # homes
    ("Been living in Tromsø since 2018.", ("lives_in", "Tromsø", True)),
    ("I've got my own place in Hackney.", ("lives_in", "Hackney", True)),
    ("I live alone with my dog.", ("habit", "live alone with my dog", True)),
    # people and animals
    ("My accountant is Petra Lindqvist.", ("relationship", "accountant Petra Lindqvist", True)),
    ("Dinner with my cousin Rolf was fine.", ("relationship", "cousin Rolf", True)),
    ("Omar and I have been together for nine years.", ("partner", "partner Omar", True)),
    ("I'm the youngest of five.", ("relationship", "the youngest of five", True)),
    # health and things
    ("I'm deaf in my left ear.", ("health", "deaf in the left ear", True)),
    ("I take metformin.", ("health", "metformin", True)),
    ("I get migraines.", ("health", "migraines", True)),
    ("My car's a grey Volvo estate.", ("owns", "grey Volvo estate", True)),
    # tastes
    ("I can't get enough of Korean food.", ("likes", "Korean food", True)),
    ("I can't bear small talk, crowds or balloons.", ("dislikes", "balloons", True)),
    ("Thunderstorms terrify me.", ("dislikes", "Thunderstorms", True)),
    # habits and character
    ("I knit.", ("habit", "knit", True)),
    ("I sing alto in a gospel choir.", ("habit", "sing alto in a gospel choir", True)),
    ("I usually skip breakfast.", ("habit", "skip breakfast", True)),
    ("I've been sober since 2016.", ("habit", "sober since 2016", True)),
    ("I'm hopeless at directions.", ("trait", "hopeless at directions", True)),
    # what was and what will be
    ("When I was twelve I broke both my arms.", ("did", "broke both my arms", True)),
    ("I founded a chess club for girls in Pune.", ("did", "founded a chess club for girls in Pune", True)),
    ("In June we're moving to Lyon.", ("plans", "moving to Lyon", True)),
    ("I'll take the bar exam in February.", ("plans", "take the bar exam in February", True)),
    # wishes
    ("Keep replies short, please.", ("rule", "Keep replies short", True)),
    ("Don't ever share my number.", ("rule", "Do not ever share my number", True)),
    # other languages
    ("Ich arbeite seit 2019 als Erzieher in einer Kita.", ("job", "Erzieher", True)),
    ("Mein Hund heißt Rocky und schläft.", ("has_pet", "hund Rocky", True)),
    ("Ich gehe jeden Montag schwimmen.", ("habit", "gehe jeden Montag schwimmen", True)),
    ("Vivo en Valencia con mi hermana Pilar.", ("relationship", "hermana Pilar", True)),
    ("Tengo un perro que se llama Lolo.", ("has_pet", "perro Lolo", True)),
    ("J'ai un chat qui s'appelle Minou.", ("has_pet", "chat Minou", True)),
    ("Je fais du vélo tous les dimanches.", ("habit", "fais du vélo tous les dimanches", True)),
    ("我每天早上跑步。", ("habit", "每天早上跑步", True)),
    ("我养了一只猫叫团团。", ("has_pet", "猫团团", True)),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), FAMILIES)
def test_a_family_is_read_by_its_grammar(text: str, expected: tuple[str, str, bool]) -> None:
    assert expected in slots(text)


@pytest.mark.parametrize(
    "said",
    [
        "I'm a wreck today.",
        "I'm a professional napper.",
        "I'm running late.",
        "I've been working on this bug for two hours.",
        "I keep getting an error when I run the tests.",
        "I love phone calls, please ring me during dinner again.",
        "I'm a firefighter by trade, judging by my inbox.",
        "I'm deaf in my left ear now, thanks for the trumpet solo.",
        "Klar, ich trinke keinen Alkohol.",
        "I gave up on the crossword at 23 across.",
        "I'm trying to finish the draft by 15 May.",
        "Don't book anything before 10 am tomorrow.",
        "I've never attended any webinars about boats.",
        "我怕自己做不好。",
        "请别太担心。",
    ],
)
def test_general_rules_keep_silent_about_the_day_and_the_joke(said: str) -> None:
    assert slots(said) == set()
