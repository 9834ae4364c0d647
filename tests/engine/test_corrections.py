"""A correction behind what it puts right takes its place: one of the two is known, and told."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from builders.chats import Clock
from builders.minilm import default_model

from episodic_agent import Memory
from episodic_agent.engine.user import UserMemory

MONDAY = datetime(2026, 3, 2, 20, tzinfo=UTC)


def life_of(user: UserMemory, clock: Clock, *spoken: str) -> None:
    """Say things on days of their own, then in one sitting what follows "--"; ">" opens what the assistant says."""
    clock.now = MONDAY
    together = False
    for text in spoken:
        if text == "--":
            together = True
            clock.now += timedelta(days=7)
            continue
        clock.now += timedelta(seconds=30) if together else timedelta(days=1)
        role = "assistant" if text.startswith(">") else "user"
        user.add(text.lstrip("> "), role=role, channel="app", timestamp=clock.now)
        if not together:
            user.add("Okay.", role="assistant", channel="app", timestamp=clock.now + timedelta(seconds=9))
    user.flush()


@pytest.mark.parametrize(
    ("spoken", "wrong", "right"),
    [
        (
            ("My mother lives in Cardiff.", "--", "my knee operation is on the 14th of April", "> Noted.",
             "sorry, I meant the 16th"),
            "my knee operation is on the 14th of April",
            'The user: "my knee operation is on the 14th of April … sorry, I meant the 16th"',
        ),
        (
            ("My mother lives in Cardiff.", "--", "I'm moving to Leeds in May, the flat is signed",
             "sorry, I meant June"),
            "I'm moving to Leeds in May, the flat is signed",
            'The user: "I\'m moving to Leeds in May, the flat is signed … sorry, I meant June"',
        ),
        (
            ("My mother lives in Cardiff.", "--", "2,250, three years. I need your answer by the 20th.",
             "Sorry, I meant by the 27th. The 20th is my hospital appointment."),
            "I need your answer by the 20th.",
            'The user: "I need your answer by the 20th. … Sorry, I meant by the 27th."',
        ),
        (
            ("My mother lives in Cardiff.", "--", "My dentist is on Tuesday at nine.", "*Thursday"),
            "My dentist is on Tuesday at nine.",
            'The user: "My dentist is on Tuesday at nine. … *Thursday"',
        ),
        (
            ("Meine Mutter wohnt in Passau.", "Die Ausstellung ist im Rathaus.", "--", "ich muss noch rahmen",
             "> Für die Ausstellung im Rathaus?", "nein, die Ausstellung ist in der Stadthalle"),
            "Die Ausstellung ist im Rathaus.",
            'The user: "nein, die Ausstellung ist in der Stadthalle"',
        ),
        (
            ("Mi madre vive en Murcia.", "Mi hija estudia en Sevilla.", "--", "mi hija viene el finde",
             "> ¿Desde Sevilla?", "no, no en Sevilla, en Granada"),
            "Mi hija estudia en Sevilla.",
            'The user: "Mi hija estudia en Sevilla. … no, no en Sevilla, en Granada"',
        ),
    ],
)  # fmt: skip
def test_a_correction_takes_the_place_of_what_it_puts_right(
    tmp_path: Path, clock: Clock, spoken: tuple[str, ...], wrong: str, right: str
) -> None:
    with Memory.open(tmp_path / "m.db", embedder=default_model(), clock=clock) as memory:
        user = memory.user("mei")
        life_of(user, clock, *spoken)
        known = {card.fact.value: card.fact.fact for card in user.facts.list()}
        assert wrong not in known
        assert right in known.values()
        assert spoken[0] in known  # and nothing else is over


def test_what_was_put_right_in_one_breath_was_never_so(tmp_path: Path, clock: Clock) -> None:
    with Memory.open(tmp_path / "m.db", embedder=default_model(), clock=clock) as memory:
        user = memory.user("mei")
        life_of(user, clock, "--", "Unser Tierarzt heißt Dr. Moll.", "> Gut.", "Nein, Dr. Noll heißt er.")
        said = {card.fact.value: card.fact for card in user.facts.list(history=True)}
        wrong, right = said["Unser Tierarzt heißt Dr. Moll."], said["Nein, Dr. Noll heißt er."]
        assert wrong.valid_at == wrong.invalid_at
        assert right.valid_at == wrong.valid_at
        assert wrong.superseded_by == right.id


def test_a_no_that_puts_nothing_right_is_no_fact_for_its_form_and_ends_nothing(
    tmp_path: Path, clock: Clock
) -> None:
    with Memory.open(tmp_path / "m.db", embedder=default_model(), clock=clock) as memory:
        user = memory.user("mei")
        spoken = ("My physio is called Dana.", "--", "back hurts again", "> Will you call Dana?",
                  "no, I'll wait until Friday")  # fmt: skip
        life_of(user, clock, *spoken)
        assert [card.fact.value for card in user.facts.list()] == ["My physio is called Dana."]


def test_of_a_long_mail_the_value_of_the_kind_is_put_right_and_never_told_alone(
    tmp_path: Path, clock: Clock
) -> None:
    mail = (
        "We found a barn, Thornbury Barn, and it is only free on Sunday 19 April. And we are 110 now. "
        "Delivery there by 1 pm?"
    )
    with Memory.open(tmp_path / "m.db", embedder=default_model(), clock=clock) as memory:
        user = memory.user("mei")
        life_of(
            user,
            clock,
            "My mother lives in Cardiff.",
            "--",
            mail,
            "Sorry, I meant 120! The band is not in it.",
        )
        for text in (
            "The oven trips the fuse again.",
            "Flour is up to 19.90 a sack.",
            "Sami has chess on Friday.",
        ):
            clock.now += timedelta(days=1)
            user.add(text, channel="app", timestamp=clock.now)
        known = [card.fact.fact for card in user.facts.list()]
        assert any("110 now. … Sorry, I meant 120!" in fact for fact in known)
        assert any(fact.endswith('only free on Sunday 19 April."') for fact in known)
        for question in ("how many people come?", "where is the delivery?", "when is it free?"):
            told = user.context(question, thread="another", max_tokens=200).text
            assert "120" in told or "110" not in told


def test_what_is_put_right_is_not_told_alone_be_it_no_fact(tmp_path: Path, clock: Clock) -> None:
    mails = (
        "Ollie and I are getting married on 11 April and everybody says you make the best cakes.",
        "The drawing of the cake is gorgeous, the deposit went out this morning.",
        "Kuba dropped off the 110 boxes at the barn this afternoon, the lane was all mud.",
        "Sorry, I meant 120.",
        "Could Kuba bring the wedding cake himself? The lane to the barn is narrow.",
        "Thank you for everything, the cake tasting was the best hour of the week.",
    )
    clock.now = MONDAY
    with Memory.open(tmp_path / "m.db", embedder=default_model(), clock=clock) as memory:
        user = memory.user("mei")
        for number, text in enumerate(mails):
            user.add(text, role="Hannah", thread="mail", timestamp=clock.now)
            if number == 2:
                clock.now += timedelta(minutes=15)
                continue
            clock.now += timedelta(days=2)
            for room in ("kitchen", "garage", "bakery", "office", "attic", "yard"):
                user.add(f"painted the {room} {number}", thread="diary", timestamp=clock.now)
        user.flush()
        told = user.context("is there a lane?", thread="another", max_tokens=60).text
        assert mails[2] in told
        assert mails[3] in told
