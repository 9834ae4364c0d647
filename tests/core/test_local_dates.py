"""Dates that are over as nine languages write them, and figures that are none."""

from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from episodic_agent.core.language.local_dates import with_local_dates
from episodic_agent.core.language.pastdays import asked_time
from episodic_agent.core.recall.query import analyse

NOW = datetime(2026, 10, 29, 9, tzinfo=UTC)  # a Thursday
QUESTIONS = """
Was war am 24.10.?|2026-10-24|2026-10-25
Was war am 24.10?|2026-10-24|2026-10-25
Was war am 24.10.26?|2026-10-24|2026-10-25
Was war am 24.10.2026?|2026-10-24|2026-10-25
Was haben wir am 3.4. besprochen?|2026-04-03|2026-04-04
Was war am 3.4.?|2026-04-03|2026-04-04
Was war am 24.12.?|2025-12-24|2025-12-25
Was war vom 20.10. bis 22.10.?|2026-10-20|2026-10-23
Was war vom 20.10. bis zum 22.10.?|2026-10-20|2026-10-23
Was war zwischen dem 20.10. und dem 22.10.?|2026-10-20|2026-10-23
Was ist seit dem 20.10. passiert?|2026-10-20|2026-10-29
Was war am 24. 10.?|2026-10-24|2026-10-25
Was war am 24. Okt.?|2026-10-24|2026-10-25
What happened on 24.10.?|2026-10-24|2026-10-25
What happened on 10/24?|2026-10-24|2026-10-25
What happened on 24/10?|2026-10-24|2026-10-25
What happened on 3/4?|2026-03-04|2026-03-05
What happened on 3/4/26?|2026-03-04|2026-03-05
What happened on 10/24/26?|2026-10-24|2026-10-25
What happened on Oct 24?|2026-10-24|2026-10-25
¿Qué pasó el 24/10?|2026-10-24|2026-10-25
¿Qué pasó el 3/4?|2026-04-03|2026-04-04
¿Qué pasó el 3/4/2026?|2026-04-03|2026-04-04
¿Qué pasó el 24-10-2026?|2026-10-24|2026-10-25
Que s'est-il passé le 24/10 ?|2026-10-24|2026-10-25
Que s'est-il passé le 3/4 ?|2026-04-03|2026-04-04
Que s'est-il passé le 24.10 ?|2026-10-24|2026-10-25
Cosa è successo il 24/10?|2026-10-24|2026-10-25
Cosa è successo il 3/4?|2026-04-03|2026-04-04
O que aconteceu em 24/10?|2026-10-24|2026-10-25
O que aconteceu no dia 3/4?|2026-04-03|2026-04-04
Wat gebeurde er op 24-10?|2026-10-24|2026-10-25
Wat gebeurde er op 3-4?|2026-04-03|2026-04-04
Wat gebeurde er op 24-10-2026?|2026-10-24|2026-10-25
Wat gebeurde er op 24/10?|2026-10-24|2026-10-25
Что было 24.10?|2026-10-24|2026-10-25
Что было 24.10.2026?|2026-10-24|2026-10-25
Что произошло 3.04?|2026-04-03|2026-04-04
10月24日发生了什么?|2026-10-24|2026-10-25
10/24发生了什么？|2026-10-24|2026-10-25
10.24发生了什么？|2026-10-24|2026-10-25
2026.10.24发生了什么？|2026-10-24|2026-10-25
Was war Ende September?|2026-09-21|2026-10-01
Was war Anfang Oktober?|2026-10-01|2026-10-11
Was war Mitte August?|2026-08-11|2026-08-21
Was war Ende September 2025?|2025-09-21|2025-10-01
Was war Anfang Mai?|2026-05-01|2026-05-11
Was war Mitte März?|2026-03-11|2026-03-21
Was war Ende des letzten Monats?|2026-09-21|2026-10-01
Was war Anfang des Monats?|2026-10-01|2026-10-11
Was war Anfang letzter Woche?|2026-10-19|2026-10-21
What happened at the end of September?|2026-09-21|2026-10-01
What happened in early October?|2026-10-01|2026-10-11
What happened in mid-August?|2026-08-11|2026-08-21
What happened in the middle of August?|2026-08-11|2026-08-21
What happened at the beginning of October?|2026-10-01|2026-10-11
What happened at the start of May?|2026-05-01|2026-05-11
What happened at the end of last month?|2026-09-21|2026-10-01
What happened at the beginning of the month?|2026-10-01|2026-10-11
¿Qué pasó a finales de septiembre?|2026-09-21|2026-10-01
¿Qué pasó a principios de octubre?|2026-10-01|2026-10-11
¿Qué pasó a mediados de agosto?|2026-08-11|2026-08-21
¿Qué pasó a fines de septiembre?|2026-09-21|2026-10-01
¿Qué pasó a comienzos de mayo de 2025?|2025-05-01|2025-05-11
Que s'est-il passé fin septembre ?|2026-09-21|2026-10-01
Que s'est-il passé début octobre ?|2026-10-01|2026-10-11
Que s'est-il passé mi-août ?|2026-08-11|2026-08-21
Que s'est-il passé à la fin du mois de septembre ?|2026-09-21|2026-10-01
Que s'est-il passé au début du mois d'octobre ?|2026-10-01|2026-10-11
Que s'est-il passé à la mi-mai ?|2026-05-11|2026-05-21
Que s'est-il passé fin mars ?|2026-03-21|2026-04-01
Cosa è successo a fine settembre?|2026-09-21|2026-10-01
Cosa è successo a inizio ottobre?|2026-10-01|2026-10-11
Cosa è successo all'inizio di ottobre?|2026-10-01|2026-10-11
Cosa è successo a metà agosto?|2026-08-11|2026-08-21
Cosa è successo alla fine di settembre?|2026-09-21|2026-10-01
Cosa è successo ai primi di ottobre?|2026-10-01|2026-10-11
O que aconteceu no fim de setembro?|2026-09-21|2026-10-01
O que aconteceu no final de setembro?|2026-09-21|2026-10-01
O que aconteceu no início de outubro?|2026-10-01|2026-10-11
O que aconteceu no começo de outubro?|2026-10-01|2026-10-11
O que aconteceu em meados de agosto?|2026-08-11|2026-08-21
Wat gebeurde er eind september?|2026-09-21|2026-10-01
Wat gebeurde er begin oktober?|2026-10-01|2026-10-11
Wat gebeurde er half augustus?|2026-08-11|2026-08-21
Wat gebeurde er midden augustus?|2026-08-11|2026-08-21
Что было в конце сентября?|2026-09-21|2026-10-01
Что было в начале октября?|2026-10-01|2026-10-11
Что было в середине августа?|2026-08-11|2026-08-21
9月底发生了什么？|2026-09-21|2026-10-01
10月初发生了什么？|2026-10-01|2026-10-11
8月中旬发生了什么？|2026-08-11|2026-08-21
9月下旬发生了什么？|2026-09-21|2026-10-01
10月上旬发生了什么？|2026-10-01|2026-10-11
九月底发生了什么？|2026-09-21|2026-10-01
Was war vor fünf Tagen?|2026-10-24|2026-10-25
Was war vor 5 Tagen?|2026-10-24|2026-10-25
Was war vor einer Woche?|2026-10-19|2026-10-26
Was war vor zwei Wochen?|2026-10-12|2026-10-19
Was war vor einem Monat?|2026-09-01|2026-10-01
Was war vor drei Monaten?|2026-07-01|2026-08-01
Was war vor einem Jahr?|2025-01-01|2026-01-01
Was war vor ein paar Tagen?|2026-10-26|2026-10-27
What happened five days ago?|2026-10-24|2026-10-25
What happened a week ago?|2026-10-19|2026-10-26
What happened two months ago?|2026-08-01|2026-09-01
¿Qué pasó hace cinco días?|2026-10-24|2026-10-25
¿Qué pasó hace 5 días?|2026-10-24|2026-10-25
¿Qué pasó hace una semana?|2026-10-19|2026-10-26
¿Qué pasó hace dos meses?|2026-08-01|2026-09-01
Que s'est-il passé il y a cinq jours ?|2026-10-24|2026-10-25
Que s'est-il passé il y a 5 jours ?|2026-10-24|2026-10-25
Que s'est-il passé il y a une semaine ?|2026-10-19|2026-10-26
Que s'est-il passé il y a deux mois ?|2026-08-01|2026-09-01
Que s'est-il passé voilà trois jours ?|2026-10-26|2026-10-27
Cosa è successo cinque giorni fa?|2026-10-24|2026-10-25
Cosa è successo 5 giorni fa?|2026-10-24|2026-10-25
Cosa è successo una settimana fa?|2026-10-19|2026-10-26
Cosa è successo due mesi fa?|2026-08-01|2026-09-01
O que aconteceu há cinco dias?|2026-10-24|2026-10-25
O que aconteceu cinco dias atrás?|2026-10-24|2026-10-25
O que aconteceu há uma semana?|2026-10-19|2026-10-26
O que aconteceu há 2 meses?|2026-08-01|2026-09-01
O que aconteceu faz três dias?|2026-10-26|2026-10-27
Wat gebeurde er vijf dagen geleden?|2026-10-24|2026-10-25
Wat gebeurde er 5 dagen geleden?|2026-10-24|2026-10-25
Wat gebeurde er een week geleden?|2026-10-19|2026-10-26
Wat gebeurde er twee maanden geleden?|2026-08-01|2026-09-01
Что было пять дней назад?|2026-10-24|2026-10-25
Что было 5 дней назад?|2026-10-24|2026-10-25
Что было неделю назад?|2026-10-19|2026-10-26
Что было две недели назад?|2026-10-12|2026-10-19
Что было два месяца назад?|2026-08-01|2026-09-01
五天前发生了什么？|2026-10-24|2026-10-25
一周前发生了什么？|2026-10-19|2026-10-26
一个星期前发生了什么？|2026-10-19|2026-10-26
两个月前发生了什么？|2026-08-01|2026-09-01
三个礼拜前发生了什么？|2026-10-05|2026-10-12
What happened last weekend?|2026-10-24|2026-10-26
Was war letztes Wochenende?|2026-10-24|2026-10-26
Was war am letzten Wochenende?|2026-10-24|2026-10-26
Was war vergangenes Wochenende?|2026-10-24|2026-10-26
Was war am Wochenende?|2026-10-24|2026-10-26
¿Qué pasó el fin de semana pasado?|2026-10-24|2026-10-26
¿Qué pasó el último fin de semana?|2026-10-24|2026-10-26
¿Qué pasó el finde pasado?|2026-10-24|2026-10-26
Que s'est-il passé le week-end dernier ?|2026-10-24|2026-10-26
Cosa è successo lo scorso fine settimana?|2026-10-24|2026-10-26
Cosa è successo il fine settimana scorso?|2026-10-24|2026-10-26
O que aconteceu no fim de semana passado?|2026-10-24|2026-10-26
O que aconteceu no último fim de semana?|2026-10-24|2026-10-26
Wat gebeurde er vorig weekend?|2026-10-24|2026-10-26
Wat gebeurde er afgelopen weekend?|2026-10-24|2026-10-26
Что было в прошлые выходные?|2026-10-24|2026-10-26
Что было на прошлых выходных?|2026-10-24|2026-10-26
上周末发生了什么？|2026-10-24|2026-10-26
上个周末发生了什么？|2026-10-24|2026-10-26
"""
OTHERS = """
How much is 24.10 EUR?
Was kostet 24.10 EUR?
Hatten wir 24.10 € bezahlt?
What changed in v24.10?
What changed in version 24.10?
What changed on Ubuntu 24.10?
Was hat sich mit Ubuntu 24.10 geändert?
Was lief auf 10.0.24.10?
Ist 192.168.10.24 der Drucker?
Was hat die Küche am Ende gekostet?
Is it open 24/7?
How much is 3/4 of the cake?
Add 1/2 cup of milk
Wie war die Note 1.5?
Wurde es um 10.30 Uhr besprochen?
Was war um 9.30 Uhr?
Wie stand es, 3-4?
Was ist in Kapitel 3.4?
Was steht in Abschnitt 3.4.?
We moved to Python 3.11.
Was the answer 3.11.?
Ende gut, alles gut?
Quel est le taux, 3,4 ?
Wat was de score, 3-4?
Das Fest fängt Ende an?
¿Cuánto costó, 10.24 euros?
Сколько стоило 10.12 рублей?
Was wurde vor der Woche gesagt?
What was said at the end of the talk?
¿Qué dijo al fin y al cabo?
Was bringt 10.12 Prozent?
Wer wohnt in Am Markt 3/4?
Wir haben 10.12.1 installiert, oder?
on 10.10.10.10 what happened?
What did we decide on 3.11?
el 50% de 3/4
am 24.10 EUR gezahlt?
"""


@pytest.mark.parametrize("row", QUESTIONS.strip().splitlines())
def test_a_date_as_its_language_writes_it_names_its_stretch(row: str) -> None:
    question, start, end = row.split("|")
    ranges = asked_time(question, NOW).ranges
    assert [(part.start.date().isoformat(), part.end.date().isoformat()) for part in ranges] == [(start, end)]


@pytest.mark.parametrize("question", OTHERS.strip().splitlines())
def test_a_price_a_version_an_address_or_a_score_is_no_date(question: str) -> None:
    assert asked_time(question, NOW).ranges == ()


@pytest.mark.parametrize(
    "question",
    [
        "Was war am 24.10.?",
        "Was war vor fünf Tagen?",
        "Was war am letzten Wochenende?",
        "¿Qué pasó el fin de semana pasado?",
        "Que s'est-il passé à la fin du mois de septembre ?",
        "Cosa è successo il fine settimana scorso?",
        "O que aconteceu no fim de semana passado?",
        "Wat gebeurde er afgelopen weekend?",
        "Что произошло пять дней назад?",
        "Что было в прошлые выходные?",
        "上周末发生了什么？",
    ],
)
def test_who_asks_for_such_a_time_alone_asks_for_nothing_else(question: str) -> None:
    assert analyse(question, [], NOW).happened_alone


def test_the_words_of_such_a_date_are_looked_up_as_no_words() -> None:
    assert analyse("Was hat Mama vor fünf Tagen gesagt?", ["Mama"], NOW).content == ("mama", "gesagt")
    assert analyse("Was wurde am 24.10. über die Küche gesagt?", [], NOW).content == ("kuch", "gesagt")


@given(st.text("0123456789./- amvoronleкдней年月末", max_size=30))
def test_any_jumble_of_figures_is_read_without_an_error(text: str) -> None:
    assert isinstance(with_local_dates(text, date(2026, 10, 29)), str)
