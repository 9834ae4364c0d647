"""Since when something is so: a time whose verb says that it is to come never dates a fact back."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from core.facts.saying import quoted, statement

from episodic_agent.core.facts.dating import announced_for, so_since

SAID = datetime(2026, 11, 11, 16, tzinfo=UTC)
TO_COME = [
    "A partir del lunes 16 el contacto es Raúl Méndez, yo estaré de baja desde diciembre",
    "Desde enero trabajaré en Sevilla",
    "Desde enero, trabajare en Sevilla",
    "Estaré de baja, desde diciembre",
    "Y a partir del lunes 16 el contacto es Raúl Méndez, yo estoy de baja de maternidad desde diciembre",
    "Vamos a vivir en Jaén desde enero",
    "Estarei de férias desde dezembro",
    "Vou trabalhar em Lisboa desde janeiro",
    "Em dezembro mudo de casa",
    "Dalla fine di dicembre sarò a Roma",
    "Da dicembre lavorerò a Roma",
    "Ab Dezember arbeite ich in Köln",
    "Seit ich die Stelle wechsle, werde ich im Januar in Sevilla arbeiten",
    "À partir de décembre je travaille à Lyon",
    "Depuis que je suis muté, je serai à Nice en décembre",
    "Vanaf december werk ik in Gent",
    "Sinds ik verhuis, zal ik in december in Gent wonen",
    "From December I work from home",
    "As of January I'll work in Seville",
    "As of December I work in Seville",
    "Since I change jobs, I will work from Seville in January",
    "С декабря я буду работать в Сочи",
    "我从12月开始在上海工作",
    "12月から東京で働きます",
]
SO_ALREADY = [
    ("I have lived in Halle since May", "2026-05-01"),
    ("Vivo en Sevilla desde enero y mañana iré al cine", "2026-01-01"),
    ("Llevo de baja de maternidad desde diciembre", "2025-12-01"),
    ("Desde mayo queremos mudarnos", "2026-05-01"),
    ("Moro no Porto desde janeiro", "2026-01-01"),
    ("Dalla fine di marzo vivo a Roma", "2026-03-01"),
    ("Seit August wird bei uns gebaut", "2026-08-01"),
    ("J'habite à Nice depuis avril", "2026-04-01"),
    ("Werk hier sinds april", "2026-04-01"),
    ("As of April I'm the team lead", "2026-04-01"),
    ("我从2025年12月以来吃素", "2025-12-01"),
    ("私は5月から東京で働いています", "2026-05-01"),
]


@pytest.mark.parametrize("text", TO_COME)
def test_a_month_that_is_to_come_dates_nothing_back(text: str) -> None:
    assert so_since(replace(statement(text), at=SAID), text) == SAID


@pytest.mark.parametrize(("text", "day"), SO_ALREADY)
def test_a_month_since_which_it_is_so_already_dates_it(text: str, day: str) -> None:
    assert so_since(replace(statement(text), at=SAID), text).date().isoformat() == day


def test_a_fact_quoted_from_a_message_is_dated_so() -> None:
    days = SAID - statement("").at
    (fact,) = quoted("Desde enero trabajaré en Sevilla", days=days / timedelta(days=1))
    assert fact.evidence.valid_at == SAID


ANNOUNCED = [
    ("The rent goes up to 810 from January", "2027-01-01"),
    ("League's moved us. TUESDAYS 9pm from the 28th, same cages", "2026-11-28"),
    ("As of Monday staging listens on 8444", "2026-11-16"),
    ("Starting 25th it's every other weekend and wednesday nights", "2026-11-25"),
    ("Ab 1. Dezember wohne ich in Köln", "2026-12-01"),
    ("À partir du 3 janvier je travaille à Lyon", "2027-01-03"),
    ("Desde el lunes trabajo en casa", "2026-11-16"),
    ("从下周一开始改成周三", "2026-11-16"),
]
NOT_ANNOUNCED = [
    "I have lived in Halle from 2019",
    "Choir moved from Friday to Monday",
    "Verschoben von Freitag auf Montag",
    "The shop is open from 9 to 5",
    "From now on tea only",
    "In December I move to Ghent",
    "Ana has choir on Fridays",
]


@pytest.mark.parametrize(("words", "day"), ANNOUNCED)
def test_what_is_announced_begins_on_its_day(words: str, day: str) -> None:
    begins = announced_for(replace(statement(words), at=SAID), words)
    assert begins == datetime.fromisoformat(f"{day}T00:00:00+00:00")
    far_east = replace(statement(words), at=SAID, utc_offset=7200)
    assert announced_for(far_east, words) == datetime.fromisoformat(f"{day}T00:00:00+02:00")


@pytest.mark.parametrize("words", NOT_ANNOUNCED)
def test_what_is_moved_or_so_already_announces_nothing(words: str) -> None:
    assert announced_for(replace(statement(words), at=SAID), words) is None


def test_without_a_time_nothing_is_announced() -> None:
    words = ANNOUNCED[0][0]
    assert announced_for(replace(statement(words), at=SAID, dated=False), words) is None
