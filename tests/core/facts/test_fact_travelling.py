"""Which standing wishes hold in every project: how to answer, unless their words bind it to a place."""

import pytest

from episodic_agent.core.facts.travelling import travels
from episodic_agent.schemas.facts import Category

FOLDERS = ("/home/jo/harbor", "/home/jo/night-watch")
EVERYWHERE = (
    "please always answer short, no bullet lists of what you did, I read the diff anyway",
    "Call me Jo, and no emojis please",
    "Explain things step by step, I am new to this",
    "Antworte bitte immer auf Deutsch",
    "Fass dich kurz",
    "Réponds toujours en français",
    "Respóndeme siempre en español, sin viñetas",
    "Rispondi sempre in italiano",
    "Antwoord altijd in het Nederlands",
    "never force-push, in none of my repos",
    "Never force-push in any repo of mine!",
    "from now on write commit messages in English, everywhere",
    "in all our projects we squash before we merge",
    "btw keep your summaries to three lines max, I never read more",
    "In keinem meiner Repos wird auf main gepusht",
    "Commits bitte überall auf Englisch",
    "dans tous mes dépôts, pas de push forcé",
    "en todos mis repos los commits van en inglés",
    "in tutti i miei progetti si usa il rebase",
    "in alle repos geen force-push",
)
OF_ONE = (
    "in this repo please answer in English",
    "here you answer in English, the others read along",
    "in harbor always answer in English",
    "for night-watch reply in one line",
    "no emojis in commit messages",
    "In diesem Repo antworte bitte auf Englisch",
    "Hier bitte keine Emojis",
    "Dans ce projet réponds en anglais",
    "En este proyecto responde en inglés",
    "In questo progetto rispondi in inglese",
    "In dit project antwoord je in het Engels",
    "no pip, we use uv for everything",
    "run all tests in the repo before you push",
    "every commit in this repo needs a ticket, as in all repos of the team",
    "never push to any branch of the repo but your own",
    "in harbor, as everywhere, sign the commits",
    "jeder Test im Repo braucht einen Namen",
    "run the tests with pnpm test --run",
    "dont add sleeps, I hate sleeps in tests",
    "Immer erst den Linter laufen lassen",
)


@pytest.mark.parametrize("text", EVERYWHERE)
def test_how_to_answer_holds_everywhere(text: str) -> None:
    assert travels(Category.GUIDELINE, [text], FOLDERS)


@pytest.mark.parametrize("text", OF_ONE)
def test_what_is_bound_to_a_place_or_is_about_the_work_holds_there(text: str) -> None:
    assert not travels(Category.GUIDELINE, [text], FOLDERS)


def test_words_before_a_wish_that_it_stands_with_bind_it_and_what_is_no_wish_stays() -> None:
    assert not travels(Category.GUIDELINE, ["answer in English", "in this repo: answer in English"])
    assert not travels(Category.EXPERIENCE, [EVERYWHERE[0]])
