"""An allergy or a diet is told to who asks what to eat, in whatever language, and not to who asks after a car."""

from datetime import UTC, datetime, timedelta

import pytest
from builders.chats import mine
from conftest import OpenMemory

from episodic_agent.core.facts.harm import is_about_eating, tells_of_diet

START = datetime(2026, 9, 1, 9, tzinfo=UTC)
ASKED = START + timedelta(days=40)
LIVES = {
    "en": ("My daughter is allergic to walnuts.", "What should I cook tonight?", "Where did I park the car?"),
    "de": (
        "Meine Tochter ist gegen Walnüsse allergisch.",
        "Was soll ich heute kochen?",
        "Wo steht das Auto?",
    ),
    "es": ("Soy vegetariana.", "¿qué cocino hoy?", "¿dónde dejé el coche?"),
    "fr": ("Je suis végétarienne.", "on mange quoi ce soir ?", "où est la voiture ?"),
    "ru": ("У сына аллергия на арахис.", "что приготовить на ужин?", "где стоит машина?"),
    "tr": ("kızım Defne'nin fıstığa alerjisi var", "Akşama ne pişirsem?", "arabayı nereye koydum?"),
    "ko": ("나 갑각류 알레르기 있어.", "오늘 저녁 뭐 먹을까?", "차 어디에 세웠지?"),
    "zh": ("我对花生过敏。", "今天晚饭做什么好？", "车停在哪儿了？"),
    "ja": ("私は卵アレルギーです。", "今晩何を食べようかな", "車はどこに停めた？"),
}
TALK = (
    "The boiler was repaired for 140.", "I live in Bonn, Lindenweg 4.", "I work at the railway.",
    "My sister is called Nora.", "We moved in with my mother.", "My brother lives in Oslo.", "I have two cats.",
    "The notary is called Mr. Weiss.", "I was born in Kiel.", "My aunt has a boat.", "My boss is Mrs. Lang.",
    "I sold the piano to Pieter.", "I am afraid of heights.", "Our neighbour is called Olaf.",
)  # fmt: skip


@pytest.mark.parametrize("language", LIVES)
def test_a_diet_is_told_to_who_asks_what_to_eat(open_memory: OpenMemory, language: str) -> None:
    diet, about_food, about_else = LIVES[language]
    memory = open_memory(embedder="none")
    for day, text in enumerate((diet, *TALK)):
        mine(memory).add(text, timestamp=START + timedelta(days=day), channel="app")
    mine(memory).flush()
    contexts = [
        mine(memory).context(question, at=ASKED, channel="another", max_tokens=200)
        for question in (about_food, about_else)
    ]
    assert [diet.rstrip(".。") in context.text for context in contexts] == [True, False]


def test_what_only_looks_like_eating_or_a_diet_is_none() -> None:
    others = (
        "Set a cookie in the browser", "I deserve a receipt", "Wie hoch ist der Stromtarif?", "есть ли билеты?",
        "menu of the app", "Koch ist krank", "gotowa jestem",
    )  # fmt: skip
    assert not [text for text in others if is_about_eating(text)]
    statements = (
        "Celia no puede venir",
        "je ne travaille pas le lundi",
        "I can't come",
        "no sé cómo",
        "I ate cake",
    )
    assert not [text for text in statements if tells_of_diet(text)]
