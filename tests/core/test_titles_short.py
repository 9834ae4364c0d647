"""Titles and summaries of talk in sentences of a few words: what belongs together stays together, with its "not"."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from episodic_agent.core.episodes.extractive import EpisodeText, encode_extractive
from episodic_agent.core.episodes.titles import cut
from episodic_agent.core.language import tokens
from episodic_agent.schemas import Observation

START = datetime(2023, 8, 14, 15, 0, tzinfo=UTC)
REPLY = ("assistant", "That is a lot for one day. Do you want to talk it through?")


def encode(*lines: tuple[str, str]) -> EpisodeText:
    observations = [
        Observation(UUID(int=n), UUID(int=1), n, START + timedelta(minutes=n), START, actor, text)
        for n, (actor, text) in enumerate(lines)
    ]
    return encode_extractive(observations, [None] * len(lines))


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("I GOT IT. brightwater. ops manager. 38,500", "I GOT IT. brightwater. ops manager. 38,500"),
        ("tom. did. not. turn. up.", "Tom. did. not. turn. up"),
        ("no to kestrel. went with someone else", "No to kestrel. went with someone else"),
        (
            "The landlord called. No heating till Monday. Kids are cold.",
            "The landlord called. No heating till Monday. Kids are cold",
        ),
        ("Nicht gekommen. Der Klempner. Ich warte noch.", "Nicht gekommen. Der Klempner. Ich warte noch"),
        ("Pas de réponse. Rien. La banque ferme lundi.", "Pas de réponse. Rien. La banque ferme lundi"),
    ],
)
def test_sentences_of_a_few_words_are_one_clause(text: str, title: str) -> None:
    words = encode(("user", text), REPLY)
    assert words.title == title
    assert text.rstrip(".") in words.summary


def test_what_a_later_message_tells_in_two_short_sentences_is_not_cut_in_half() -> None:
    lines = [("user", "he stayed :) thats all im saying"), ("assistant", "I'll leave it there with a smile.")]
    lines.append(("user", "forgot the albums. REMEMBERED the grab rail"))
    assert "forgot the albums. REMEMBERED the grab rail" in encode(*lines).summary
    assert encode(*lines).title == "Forgot the albums. REMEMBERED the grab rail"


def test_what_did_not_happen_titles_a_talk_though_more_is_told_behind_it() -> None:
    more = ("user", 'text at 4 "so sorry mate, mad day". MATE. 4 years and i\'m mate')
    words = encode(("user", "tom. did. not. turn. up."), ("assistant", "What? Not a word?"), more)
    assert words.title == "Tom. did. not. turn. up"


def test_a_courtesy_at_an_end_stays_apart() -> None:
    assert encode(("user", "Ok. Thanks. Van booked. Deposit paid."), REPLY).title == (
        "Van booked. Deposit paid"
    )


def test_a_title_skips_nothing_between_its_sentences() -> None:
    text = "Nicht gekommen. Schon wieder. Ich bin so sauer auf den Klempner"
    title = encode(("user", text), REPLY).title
    assert title.casefold() in text.casefold()


@pytest.mark.parametrize(
    "text",
    [
        "I really do not think that I would ever, in my whole life, go back to the flat in easton",
        "We can't, because of the twins and my mother, come to the dinner at the new place in the hills",
        "Ich glaube nicht, dass wir, nach allem was war, die Wohnung in der Südstadt noch nehmen",
    ],
)
def test_a_title_does_not_begin_behind_the_negation_of_its_sentence(text: str) -> None:
    title = cut(text, dict.fromkeys(tokens(text), 1.0), "en")
    assert text.casefold().startswith(title.rstrip("…").casefold())
