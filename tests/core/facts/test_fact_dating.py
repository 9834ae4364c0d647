"""Since when something is so: a time whose verb says that it is to come never dates a fact back."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from core.facts.saying import quoted, statement

from episodic_agent.core.facts.dating import so_since

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
