"""Statements that say nothing by themselves: told with the words they point to, or no fact."""

import csv
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from core.facts.saying import statement

from episodic_agent.core.facts import FactCandidate, Statement, learn, quotations, retold
from episodic_agent.core.facts.pointing import points_back

HELD = Path(__file__).parents[3] / "tools" / "facts" / "held_pointing.tsv"
POINTING = (
    "His name is Mr. Dalton.",
    "Same place, but from 3 to 10 May.",
    "Not yet, I see one on Tuesday at 4.",
    "They charge 45 a month now.",
    "She starts there on the first of June.",
    "That one is allergic to penicillin as well.",
    "Er heißt übrigens Balu.",
    "Dort arbeite ich seit März.",
    "Noch nicht, der Termin ist am 12.",
    "Les dije que sí, empiezo el lunes.",
    "La misma que el año pasado.",
    "Todavía no, me lo dan en septiembre.",
    "Non, finalement c'est samedi.",
    "Les mêmes dates, mais à Nantes.",
    "Ça me coûte 60 euros par mois.",
    "他叫李建国。",
    "她对花生过敏。",
    "那家一个月要三千。",
    "它才两个月大。",
    "Sua sorella è infermiera.",
    "On Thursday at 10 at his office.",
    "We're home. She must take the antibiotics until Friday now.",
    "No, sorry, Friday 27 March, not Thursday. Same time.",
)
ALONE = (
    "My sister said she is vegan.",
    "We go to Wales from 3 to 10 May, the same place as last year.",
    "I see the dentist on Tuesday at 4.",
    "The gym charges 45 a month and it opens at six.",
    "Tom moved out because his job is in Leeds now.",
    "This is my last year at school, I finish in July.",
    "Unser Hund heißt Balu und er ist drei.",
    "Die Kita kostet jetzt 490 Euro im Monat.",
    "Ich arbeite seit März bei der Stadt, dort gefällt es mir.",
    "Mein Bruder hat sich scheiden lassen, er wohnt jetzt bei uns.",
    "Mi gato se llama Ramiro.",
    "Mi madre vive con mi hermano, él la cuida.",
    "Trabajo en la misma empresa que mi primo.",
    "Vivo en Cádiz y me encanta.",
    "Je ne mange jamais de porc.",
    "On part à Nantes du 4 au 11 août.",
    "Le parking me coûte 60 euros par mois.",
    "我房东叫李建国，他人挺好的。",
    "我女儿对花生过敏，她上三年级。",
    "我们小区的停车费一个月要三百。",
    "我爸这几年一直住在杭州。",
    "Il mio cane si chiama Bruno.",
    "Marta lavora con sua sorella in farmacia.",
    "No, I am allergic to nuts.",
    "It's my birthday on 3 May.",
    "ok birthday: the depot is full on the 14th, only Sunday the 15th at 10 is left",
    "Das Haus gehört meiner Oma.",
    "I haven't seen Mia's school, it is new.",
)
MEETING = statement("Mia has a parent-teacher meeting on Wednesday 11 March at 17:00.")
TEACHER = statement("Her teacher is Mrs. Kainz.", days=0.001)


def read(said: Statement, *earlier: Statement) -> list[FactCandidate]:
    return [one.candidate for one in quotations([replace(said, earlier=earlier)])]


@pytest.mark.parametrize("text", POINTING)
def test_what_points_to_words_before_is_told_from_what_stands_alone(text: str) -> None:
    assert points_back(text)


@pytest.mark.parametrize("text", ALONE)
def test_what_names_what_it_speaks_of_stands_alone(text: str) -> None:
    assert not points_back(text)


def test_sentences_put_aside_are_told_apart() -> None:
    rows = list(csv.reader(HELD.open(encoding="utf-8"), delimiter="\t", quoting=csv.QUOTE_NONE))
    told = [label == "<" for label, _, text in rows if points_back(text)]
    assert sum(told) / len(told) >= 0.95
    assert sum(told) / sum(label == "<" for label, *_ in rows) >= 0.85


def test_a_fact_carries_the_words_it_points_to_and_rests_on_them() -> None:
    (told,) = read(TEACHER, MEETING)
    assert told.fact == f'The user: "{MEETING.text} … {TEACHER.text}"'
    assert told.value == TEACHER.text
    (fact,) = learn((), [told]).added
    assert [one.observation_id for one in fact.evidence] == [MEETING.observation_id, TEACHER.observation_id]
    assert [one.observation_id for one in fact.telling] == [TEACHER.observation_id]
    assert not learn([fact], [told])
    assert not retold([fact])
    for gone in (MEETING, TEACHER):
        assert fact.left_without({gone.observation_id}) == ()


def test_the_words_led_to_are_the_nearest_that_stand_alone() -> None:
    between = statement("She likes it there.", days=0.0005)
    (told,) = read(TEACHER, MEETING, between)
    assert MEETING.text in told.fact
    assert between.text not in told.fact


def test_words_behind_a_colon_that_names_the_matter_are_what_is_pointed_to() -> None:
    garlic = statement("Garlic's in! 24 cloves. Milo did the measuring, Frieda did the mud.")
    birthday = statement(
        "ok birthday: the depot is full on the 14th, only Sunday 15th at 10 left", days=0.005
    )
    booked = statement("I booked it. Sunday 15 Nov 10am, Depot. 50 deposit.", days=0.006)
    (told,) = read(booked, garlic, birthday)
    assert told.fact == f'The user: "{birthday.text} … {booked.text}"'


def test_words_before_are_learned_of_their_own_beside_what_leads_from_them() -> None:
    (teacher,) = read(TEACHER, MEETING)
    known = learn((), [teacher]).added
    (meeting,) = read(MEETING)
    assert [fact.value for fact in learn(known, [meeting]).added] == [MEETING.text]


def test_what_points_to_nothing_that_was_said_is_no_fact() -> None:
    assert read(TEACHER) == []
    assert read(TEACHER, statement("ok thanks")) == []


def test_what_may_harm_is_a_fact_whatever_it_points_to() -> None:
    (told,) = read(statement("She is allergic to peanuts."))
    assert told.lead is None
    assert told.fact == 'The user: "She is allergic to peanuts."'


def test_two_facts_of_one_message_keep_their_own_words_before() -> None:
    (told,) = read(TEACHER, MEETING)
    (fact,) = learn((), [told]).added
    again = replace(TEACHER, at=TEACHER.at + timedelta(days=9), observation_id=MEETING.observation_id)
    (more,) = read(again, replace(MEETING, observation_id=TEACHER.observation_id))
    (known,) = learn([fact], [replace(more, attribute=told.attribute)]).applied([fact])
    assert len(known.telling) == 2
    assert len(known.evidence) == 4


def test_a_wish_how_to_answer_is_told_without_what_was_said_before_it() -> None:
    wish = "And stop ending with those silly rhymes please, it drives me mad"
    before = statement("Sinead wants to take our neighbour Roger a beer on Saturday.")
    later = replace(statement(wish, days=0.01), earlier=(before,))
    assert [one.candidate.value for one in quotations([later])] == [wish]
    assert [one.candidate.lead for one in quotations([later])] == [None]


def test_a_wish_how_to_answer_leads_to_nothing() -> None:
    named = statement("My daughter Mia goes to the school in Mill Lane.")
    wish = statement("Please keep your answers short.", days=0.01)
    later = replace(statement("Her teacher is Mrs. Kainz.", days=0.02), earlier=(named, wish))
    (lead,) = [one.candidate.lead for one in quotations([later])]
    assert lead is not None
    assert lead.observation_id == named.observation_id
    assert list(quotations([replace(later, earlier=(wish,))])) == []
