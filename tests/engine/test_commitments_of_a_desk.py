"""What a desk promised whom, and whether it is still open: by how its sessions ended, and by whose it is."""

import json
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from builders.chats import Clock
from builders.minilm import default_model

from episodic_agent import Memory
from episodic_agent.engine.results import Commitment
from episodic_agent.engine.user import UserMemory
from episodic_agent.faces.shapes import recall_json

REFUND = "We'll refund you the 30 euros by Friday 9 October."
BILL = "I'll replace the filter of the pump and send the bill to the insurance."
CREDIT = "I promise you a credit of 15 euros on the November invoice."
MOVE = "We want to move to the big plan on Monday, the small one is full"
PAINT = "We will paint the fence by 20 October."
BOILER = "I'll have the boiler checked by Tuesday 6 October."
SESSIONS = (  # key, topic, day, talk, outcome, decisions
    (
        "t1",
        "Ito: refund",
        1,
        (("Ms Ito", "I want my 30 euros back, the lamp was broken."), ("Vera", REFUND)),
        "success",
        ["30 euros refunded"],
    ),
    (
        "t2",
        "Kent: pump",
        2,
        (("Mr Kent", "The pump is loud again."), ("Vera", BILL)),
        "success",
        ["filter of the pump replaced"],
    ),
    (
        "t3",
        "Kent: lost orders",
        3,
        (("Mr Kent", MOVE), ("Olaf", CREDIT)),
        "success",
        ["15 euros credit promised for the November invoice"],
    ),
    (
        "t4",
        "Berg: fence",
        4,
        (("Ms Berg", "The fence looks sad."), ("Olaf", PAINT)),
        "success",
        ["fence to be white"],
    ),
    ("t5", "Berg: boiler", 5, (("Ms Berg", "No hot water since noon."), ("Olaf", BOILER)), "success", []),
)


def at(day: int, hour: int = 9) -> datetime:
    return datetime(2026, 10, day, hour, tzinfo=UTC)


def opened(path: Path, clock: Clock) -> Memory:
    clock.now = at(12)
    return Memory.open(path, embedder=default_model(), clock=clock)


@pytest.fixture
def desk(tmp_path: Path, clock: Clock) -> Iterator[UserMemory]:
    with opened(tmp_path / "m.db", clock) as memory:
        user = memory.user("desk", new=True)
        for key, topic, day, talk, outcome, decided in SESSIONS:
            session = user.sessions.start(topic, key=key, thread=key, timestamp=at(day))
            for n, (who, text) in enumerate(talk):
                user.add(
                    {"role": "user", "name": who, "content": text, "timestamp": at(day, 10 + n)}, thread=key
                )
            user.sessions.end(session.id, outcome, decided, timestamp=at(day + 5))
        user.flush()
        yield user


def listed(user: UserMemory, question: str, **filters: str) -> dict[str, Commitment]:
    return {one.text: one for one in user.search(question, **filters).commitments}


def test_a_decision_of_its_session_settles_a_promise(desk: UserMemory) -> None:
    refund = listed(desk, "Which promises are open?")[REFUND]
    assert refund.settled_by is not None
    assert refund.settled_by.text == "30 euros refunded"
    assert "settled 2026-10-06" in refund.line
    shaped = json.loads(json.dumps(recall_json(desk.search("Which promises are open?")), default=str))
    shown = next(one["settled_by"] for one in shaped["commitments"] if one["text"] == REFUND)
    assert shown == {"actor": "Ito: refund", "text": "30 euros refunded", "at": shown["at"]}
    context = desk.context("Which promises are open?", thread="new", max_tokens=600).text
    assert "(done 2026-10-06 – Ito: refund “30 euros refunded”)" in context


def test_of_two_promises_in_one_sentence_one_is_settled_alone(desk: UserMemory) -> None:
    every = listed(desk, "Which promises are open?")
    assert every["I'll replace the filter of the pump"].settled_by is not None
    assert every["send the bill to the insurance."].settled_by is None
    assert BILL not in every


def test_a_decision_that_only_promises_settles_nothing(desk: UserMemory) -> None:
    assert listed(desk, "Which promises are open?")[CREDIT].settled_by is None


def test_success_settles_what_was_due_by_then_alone(desk: UserMemory) -> None:
    every = listed(desk, "Which promises are open?")
    boiler = every[BOILER]
    assert boiler.due == date(2026, 10, 6)
    assert boiler.settled_by is not None
    assert boiler.settled_by.text == "success"
    assert every[PAINT].settled_by is None  # due after the session ended


def test_a_session_that_has_not_ended_by_then_settles_nothing(desk: UserMemory) -> None:
    found = desk.search("Which promises are open?", now=at(5)).commitments
    assert next(one for one in found if one.text == REFUND).settled_by is None


def test_a_decision_with_suppressed_words_is_not_shown(desk: UserMemory) -> None:
    desk.episodes.suppress(words="refunded", reason="secret")
    assert "refunded" not in str(desk.search("Which promises are open?"))


@pytest.mark.parametrize(
    ("question", "texts"),
    [
        ("What did we promise to Ms Ito and is it still open?", {REFUND}),
        ("Was haben wir Berg versprochen und ist es noch offen?", {PAINT, BOILER}),
    ],
)
def test_what_we_promised_to_somebody_is_listed(desk: UserMemory, question: str, texts: set[str]) -> None:
    """It named the customer alone, and nothing of theirs was a promise."""
    assert set(listed(desk, question)) == texts


def test_who_asks_for_something_takes_nothing_on(desk: UserMemory) -> None:
    every = desk.search("Which promises are open?").commitments
    assert {one.by for one in every} == {"Vera", "Olaf"}


def test_what_somebody_else_takes_on_is_not_ones_own(tmp_path: Path, clock: Clock) -> None:
    with opened(tmp_path / "own.db", clock) as memory:
        tom = memory.user("Tom", new=True)
        own, other = "I'll send Ruta the invoice on Monday", "Jonas said he'll pay me back the 60 on Sunday"
        for n, text in enumerate((own, other)):
            tom.add(text, role="Tom", thread="chat", timestamp=at(1, 9 + n))
        tom.flush()
        assert set(listed(tom, "What did I promise?")) == {own}
        assert set(listed(tom, "What did Jonas promise?")) == {other}


def test_a_name_that_most_topics_share_leads_to_no_session(tmp_path: Path, clock: Clock) -> None:
    talks = {
        "Oak Apps – outage": ("All staging sites of Oak Apps are down.", "The disk was full, it is back."),
        "Oak Apps – parking": ("Oak Apps needs a visitor's parking place.", "Number 14 is free."),
        "Oak Apps – cron does not run": (
            "The cron jobs of Oak Apps stopped after the upgrade.",
            "The crontab needs the full path.",
        ),
    }
    with opened(tmp_path / "shared.db", clock) as memory:
        user = memory.user("oak", new=True)
        for day, (topic, texts) in enumerate(talks.items(), 1):
            session = user.sessions.start(topic, key=topic, timestamp=at(day))
            for n, (who, text) in enumerate(zip(("Vera", "Nadia"), texts, strict=True)):
                item = {"role": "user", "name": who, "content": text, "timestamp": at(day, 10 + n)}
                user.add(item, thread=session.thread)
            user.sessions.end(session.id, timestamp=at(day, 12))
            user.flush()
            memory.jobs.run()
        assert user.sessions.get(session.id).parent_episode_id is None  # it went on from the parking place


LEAK = "The new tap leaks, there is water on the floor."
DRY = "A plumber looked at the wall, but it is still wet."
CALL = "Please call me on the landline from now on."


@pytest.fixture
def tickets(desk: UserMemory, clock: Clock) -> UserMemory:
    """Return a desk with a ticket that never ended, and one that ended without being settled."""
    for key, topic, day, text, outcome in (
        ("t6", "Berg: wet wall", 7, DRY, "ongoing"),
        ("t7", "Ito: tap", 11, LEAK, None),
    ):
        session = desk.sessions.start(topic, key=key, thread=key, timestamp=at(day))
        desk.add({"role": "user", "name": "Ms Ito", "content": text, "timestamp": at(day, 10)}, thread=key)
        if outcome:
            desk.sessions.end(session.id, outcome, timestamp=at(day, 12))
    desk.add({"role": "user", "name": "Mr Kent", "content": CALL, "timestamp": at(11, 8)}, thread="mail")
    desk.flush()
    return desk


@pytest.mark.parametrize("question", ["which tickets are open?", "Welche Tickets sind noch offen?"])
def test_open_tickets_are_the_sessions_that_did_not_end_settled(tickets: UserMemory, question: str) -> None:
    assert [hit.title for hit in tickets.search(question).hits] == ["Ito: tap", "Berg: wet wall"]
    context = tickets.context(question, thread="new", max_tokens=600).text
    assert LEAK in context
    assert DRY in context
    assert MOVE not in context


def test_which_tickets_were_open_is_told_as_of_then(tickets: UserMemory) -> None:
    then = {hit.title for hit in tickets.search("which tickets are open?", now=at(8)).hits}
    assert then == {"Berg: fence", "Berg: boiler", "Berg: wet wall"}


def test_what_is_new_since_the_last_ticket_is_what_came_after_it_ended(tickets: UserMemory) -> None:
    question = "what changed since the last ticket?"
    hits = tickets.search(question).hits
    assert {one.observation.text for hit in hits for one in hit.evidence} == {CALL, LEAK}
    context = tickets.context(question, thread="new", max_tokens=600).text
    assert CALL in context
    assert LEAK in context
    assert MOVE not in context


def test_a_ticket_that_is_hidden_is_not_open(tickets: UserMemory) -> None:
    tickets.episodes.suppress(words="leaks", reason="secret")
    assert [hit.title for hit in tickets.search("which tickets are open?").hits] == ["Berg: wet wall"]
