"""A short text is told in the language of the talk around it: its few words may be another one's by chance."""

import pytest
from builders.chats import mine, say
from conftest import OpenMemory

from episodic_agent import Memory

SHORT = ("van booked", "op went well", "hen was class", "van man is 80 quid", "callum est. 36")


def summary_of_last(memory: Memory, *lines: str) -> str:
    """Add each line as an episode of its own, hours apart, and return the summary of the last."""
    user = mine(memory)
    for hours, line in enumerate(lines):
        user.add(say(line, minute=240 * hours))
        user.flush()
    return user.episodes.get(user.episodes.recent()[0].episode_id).summary


@pytest.mark.parametrize("text", SHORT)
def test_a_short_text_is_told_in_the_language_that_its_user_writes(
    open_memory: OpenMemory, text: str
) -> None:
    before = ("She came over last night and we talked until late", "I think he is coming for his things")
    assert summary_of_last(open_memory(), *before, text) == f"The user said: {text}."


@pytest.mark.parametrize("text", SHORT)
def test_before_any_talk_a_short_text_is_told_in_no_language_sooner_than_in_a_wrong_one(
    open_memory: OpenMemory, text: str
) -> None:
    assert summary_of_last(open_memory(), text) in {f"User: {text}.", f"The user said: {text}."}


def test_words_of_one_language_beyond_doubt_are_told_in_it_whatever_the_talk(open_memory: OpenMemory) -> None:
    before = ("She came over last night and we talked until late",)
    german = "Morgen kommt der Klempner und wir sind nicht da"
    assert summary_of_last(open_memory(), *before, german) == f"Der Nutzer sagte: {german}."


@pytest.mark.parametrize("text", ["Mama ist krank", "Bus weg"])
def test_a_short_text_beside_german_talk_is_told_in_german(open_memory: OpenMemory, text: str) -> None:
    before = ("Gestern waren wir mit den Kindern im Zoo und es war schön", "Morgen habe ich keine Zeit")
    assert summary_of_last(open_memory(), *before, text) == f"Der Nutzer sagte: {text}."


def test_a_context_that_asks_in_a_few_words_is_framed_in_the_language_of_the_talk(
    open_memory: OpenMemory,
) -> None:
    memory = open_memory()
    summary_of_last(memory, "She came over last night and we talked until late", "what a lovely hen it was")
    assert "Current question" in mine(memory).context("hen was class").text
