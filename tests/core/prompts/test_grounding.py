"""What a careful model writes of a conversation rests on it in every language and spelling; what it invents does not."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

import pytest

from episodic_agent.core.prompts import episode, facts
from episodic_agent.core.prompts.grounding import dated, invented_number, numbers_said
from episodic_agent.schemas import Observation

SATURDAY = datetime(2026, 3, 7, 9, 51, tzinfo=UTC)


def said(actor: str, *texts: str) -> list[Observation]:
    return [
        Observation(UUID(int=n + 1), UUID(int=99), n, SATURDAY + timedelta(minutes=n), SATURDAY, actor, text)
        for n, text in enumerate(texts)
    ]


def refused(spoken: list[Observation], summary: str) -> str:
    words = episode.EpisodeWords("What is planned for the next days", summary)
    return episode.faults(episode.grounded(words, spoken), spoken).get("summary", "")


@pytest.mark.parametrize(
    ("actor", "text", "summary"),
    [
        ("Gem", "We meet Mary Jane at Green Park 🙂", "Gem meets Mary Jane at Green Park."),
        ("Gem", "Mary Jane owes me £20", "Gem says that Mary Jane owes her £20."),
        ("Gem", "O’Brien’s “Silver Fern” sails", "Gem says O'Brien's \"Silver Fern\" sails."),
        ("Uwe", "Anna Müller fährt nach Bad Tölz", "Uwe sagt, dass Anna Müller nach Bad Tölz fährt."),
        ("Inés", "Mañana voy a San Sebastián con José Luis", "Inés va a San Sebastián con José Luis."),
        ("Zoé", "Je vais à Aix en Provence avec Jean Pierre", "Zoé va à Aix-en-Provence avec Jean-Pierre."),
        ("小王", "我和李明去New York出差", "小王和李明去New York出差。"),
    ],
)
def test_names_of_several_words_stand_in_a_text_with_any_characters(
    actor: str, text: str, summary: str
) -> None:
    assert refused(said(actor, text), summary) == ""


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("am 25. is turnier in taucha, samstag", "Jonas beim Turnier Taucha Sa 25.4."),
        ("Mama kriegt in Otley die Hüfte, dienstag", "Mama: Hüfte Otley Di 17. März"),
    ],
)
def test_a_weekday_in_short_before_its_date_is_of_no_name(text: str, title: str) -> None:
    words = episode.EpisodeWords(title, "Es ist etwas geplant.")
    assert episode.faults(words, said("Jonas", text), "de") == {}
    invented = episode.EpisodeWords("Anna Schmidt kommt zum Turnier Sa 25.4.", words.summary)
    assert episode.faults(invented, said("Jonas", text), "de") == {"title": "nobody named Anna Schmidt"}


@pytest.mark.parametrize(
    ("language", "title", "why"),
    [
        ("de", "Kleingarten: Grünert misst die Hecke, 1,40", ""),
        ("en", "Boiler: Grünert checks the pressure", ""),
        ("de", "Anna Schmidt: Grünert misst die Hecke", "nobody named Anna Schmidt"),
        ("en", "Sardinia: Grünert takes the ferry", "nobody named Sardinia"),
    ],
)
def test_the_matter_before_a_colon_is_no_name_and_a_name_there_is_one(
    language: str, title: str, why: str
) -> None:
    talk = said("user", 'grünert war auch schon da. "herr nachbar, die hecke hat 1,40"')
    words = episode.EpisodeWords(title, "Grünert")
    assert episode.faults(words, talk, language).get("title", "") == why


@pytest.mark.parametrize("entity", ["Bad Tölz", "bad tölz", "Anna Müller", "Aix-en-Provence", "O'Brien"])
def test_entities_of_several_words_are_not_left_out(entity: str) -> None:
    spoken = said("Uwe", "Anna Müller fährt nach Bad Tölz, O’Brien nach Aix en Provence 🙂")
    words = episode.EpisodeWords("t", "s", (entity, "Bad Ischl", "Anna Schmidt"))
    assert episode.grounded(words, spoken).entities == (entity,)


@pytest.mark.parametrize(
    "when",
    [
        "on 7 March 2026", "from 5 to 7 March 2026", "on 3–5 May", "from March 5-7", "on 5, 6 and 7 March",
        "from Sat 7 to Mon 9 March", "vom 8. bis 10. März 2026", "del 3 al 5 de mayo", "du 1er au 3 mai",
        "3月5日至7日", "on 07.03.2026", "5-7日",
    ],
)  # fmt: skip
def test_a_date_and_a_range_of_dates_is_no_invented_number(when: str) -> None:
    assert invented_number(f"They stay {when}.", numbers_said(said("Gem", "We stay for a while"))) == ""


@pytest.mark.parametrize(
    ("spoken", "written"),
    [
        ("three kids", "3 kids"), ("Wir haben drei Kinder und zwanzig Stühle", "3 Kinder und 20 Stühle"),
        ("三个孩子", "3个孩子"), ("at 7pm", "at 19:00"), ("at 19:30", "at 7:30"), ("at 09:40", "at 9:40"),
        ("1,000 euros", "1000 euros"), ("12 000 km", "12,000 km"), ("3,50 €", "3.50 euros"),
    ],
)  # fmt: skip
def test_a_number_may_be_written_otherwise(spoken: str, written: str) -> None:
    assert invented_number(written, numbers_said(said("Gem", spoken))) == ""


@pytest.mark.parametrize(
    ("spoken", "written", "number"),
    [
        ("40 euros on 3 May", "45 euros on 3 May", "45"),
        ("twelve maybe", "14 maybe", "14"),
        ("3.50 euros", "350 euros", "350"),
        ("we are three", "4 of them stay 5 to 7 March", "4"),
    ],
)
def test_a_number_nobody_said_is_found_beside_dates(spoken: str, written: str, number: str) -> None:
    assert invented_number(written, numbers_said(said("Gem", spoken))) == number


def test_a_relative_time_that_was_said_and_cannot_be_dated_here_stays() -> None:
    spoken = said("Zoé", "Demain je vais à Aix")
    assert dated("Zoé va demain à Aix.", spoken, "fr") == ("Zoé va demain à Aix.", "")


# --- facts ---------------------------------------------------------------------------------------------


def fact(text: str, quote: str, **changed: object) -> facts.Reconciled:
    answer = {
        "action": "new", "known": None, "subject": "Gem", "category": "goal", "attribute": "other",
        "value": "x", "fact": "x", "holds": True, "message": "m1", "quote": quote, "valid_from": None,
        **changed,
    }  # fmt: skip
    return facts.read_stated_facts({"facts": [answer]}, (), said("Gem", text))  # type: ignore[list-item]


def test_the_year_of_the_header_is_no_invented_number() -> None:
    words = {"fact": "Gem sails to Porto from 9 to 12 May 2026", "value": "Porto, May 2026"}
    assert fact("I sail to Porto from the 9th of May", "I sail to Porto", **words).refused == ()


@pytest.mark.parametrize(
    ("text", "quote", "place"),
    [
        ("I’m a midwife – “the best”", 'I\'m a midwife - "the best"', "I’m a midwife – “the best"),
        ("Well: I'm a **midwife** now", "I'm a midwife", "I'm a **midwife"),
        ("I sail to Porto in May", '"I sail to Porto…"', "I sail to Porto"),
        ("你好，我是医生。", "我是医生", "我是医生"),
    ],
)
def test_a_quotation_is_compared_word_by_word(text: str, quote: str, place: str) -> None:
    (candidate,) = fact(text, quote).candidates
    assert text[candidate.evidence.start : candidate.evidence.end] == place


@pytest.mark.parametrize("quote", ["I'm the midwife", "I'm not a midwife", "a midwife I'm", "…"])
def test_a_quotation_wrong_by_a_word_proves_nothing(quote: str) -> None:
    assert "the quote is not in the message" in fact("I’m a midwife", quote).refused[0]


def test_the_example_of_the_page_about_prompts_is_used_as_it_stands() -> None:
    spoken = said("Gem", "We’re off to Bad Tölz with Mary Jane from the 9th 🙂 £120 for the chalet")
    advice = "I would book the train early: it is about £40 cheaper until Monday."
    spoken.append(replace(spoken[0], id=UUID(int=2), seq=1, actor="bot", text=advice))
    page = Path(__file__).parents[3] / "docs" / "internals" / "prompts.md"
    answer = json.loads(page.read_text(encoding="utf-8").split("```json\n")[-1].split("```")[0])
    words = episode.grounded(episode.read(answer), spoken)
    assert episode.faults(words, spoken) == {}
    assert words.entities == ("Bad Tölz", "Mary Jane")
