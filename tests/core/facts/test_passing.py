"""Which statements were only of days to come that are over by now, and which last or come again."""

from datetime import date

import pytest

from episodic_agent.core.facts.passing import is_over_by

SAID = date(2026, 3, 2)
LATER = date(2026, 4, 25)
ONCE = (
    "heute notar 11 uhr",
    "heute Notar 11 Uhr",
    "elternabend heut abend",
    "Elternabend heute Abend um 19 Uhr",
    "muss morgen zum zahnarzt",
    "I have a dentist appointment tomorrow at 3",
    "Ich habe morgen um 11 Uhr einen Termin beim Notar",
    "my interview is tomorrow",
    "my exam is next Friday",
    "Ich fahre nächste Woche nach Rom",
    "Meine Mutter kommt morgen zu Besuch",
    "I'm in Rome next week",
    "heute abend gibts elternabend, nicht vergessen",
    "tonight I'm at the parents' evening with Mia",
    "my flight is tomorrow at 6am",
    "wir haben heute um 11 einen Notartermin",
    "mein notartermin ist heute um 11",
    "dentist Thursday 3pm",
    "Notartermin am 26. um 11 Uhr",
    "the exam is on March 26 at 9am",
    "Demain rendez-vous chez le dentiste à 9h",
    "mañana cita con el dentista",
    "domani ho il dentista alle 9",
    "明天上午开会",
)
LASTS = (
    "Jeden Freitag habe ich Chor.",
    "mein geburtstag ist am 3. mai",
    "My birthday is May 3",
    "I start my new job on Monday",
    "ab heute esse ich kein Fleisch mehr",
    "I moved to Berlin on 3 May",
    "My sister is visiting tomorrow, she is vegan",
    "I've been vegan since July",
    "seit gestern rauche ich nicht mehr",
    "I was born on 3 May 1980",
    "We got married today",
    "Heute haben wir geheiratet",
    "choir on Tuesday at 7pm",
    "freitags um 8 Chor",
    "früher Koch, heute Lehrer",
    "heute bin ich Lehrer",
    "today I am a nurse",
    "Ich ziehe nächste Woche nach Hamburg",
    "We're getting a dog tomorrow",
    "From tomorrow please answer in German",
    "ab morgen bitte auf Deutsch antworten",
    "妹妹明天来，她吃素",
    "open Monday to Friday 9am to 5pm",
    "Mo-Do 7-16, Fr 6-13 Uhr",
    "in summer I am at the lake house",
    "Christmas at my parents",
    "I'm allergic to nuts",
    "Ich habe Termine nur nachmittags",
    "my baby is due next week",
    "Elternabend ist jeden ersten Montag",
    "I saw the dentist on Thursday at 3pm",
    "rent is due on the 1st",
    "The notary is Dr. Weber",
    "Mein Zahnarzt ist Dr. Meier",
)


@pytest.mark.parametrize("words", ONCE)
def test_an_appointment_is_over_with_its_day(words: str) -> None:
    assert is_over_by(words, SAID, LATER)
    assert not is_over_by(words, SAID, SAID)


@pytest.mark.parametrize("words", LASTS)
def test_what_lasts_or_comes_again_is_never_over(words: str) -> None:
    assert not is_over_by(words, SAID, LATER)
