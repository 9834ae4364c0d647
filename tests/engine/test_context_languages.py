"""The words around a context are of the language of the message, and in doubt of what the user wrote before."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from builders.chats import Clock

from episodic_agent import Memory
from episodic_agent.engine.user import UserMemory

PORTUGUESE = (
    "Bom dia, chamo-me Inês e encomendei um capacete",
    "A fatura ainda não chegou",
    "Já deixei o capacete no ponto DPD",
)
ENGLISH = ("My order came without the bolts", "The light flickers since the rain")


@pytest.fixture
def user(tmp_path: Path, clock: Clock) -> Iterator[UserMemory]:
    with Memory.open(tmp_path / "m.db", embedder="hashing", clock=clock) as memory:
        yield memory.user("ines")


def asks(user: UserMemory, message: str) -> str:
    """Return the label of the message in its context."""
    return user.context(message, thread="new").text.splitlines()[-1].removesuffix(message).strip()


def write(user: UserMemory, clock: Clock, *texts: str, role: str = "user") -> None:
    for text in texts:
        user.add(text, role=role, thread="mail", timestamp=clock.now)
        clock.forward(minutes=1)
    user.flush()
    clock.forward(days=3)


def test_a_memory_in_portuguese_has_no_heading_in_a_close_language(user: UserMemory, clock: Clock) -> None:
    write(user, clock, *PORTUGUESE)
    messages = ("O que temos para hoje?", "Quando chega a bateria?", "E os travões?", "ok", "NIF?")
    assert {asks(user, message) for message in messages} == {"Pergunta atual:"}


def test_a_message_that_tells_its_language_has_that_in_any_memory(user: UserMemory, clock: Clock) -> None:
    write(user, clock, *ENGLISH)
    assert asks(user, "¿Cuándo llega?") == asks(user, "hola") == "Pregunta actual:"
    assert asks(user, "Há novidades?") == asks(user, "ok obrigado") == "Pergunta atual:"
    assert asks(user, "ok") == "Current question:"


def test_where_the_user_said_nothing_what_they_were_told_stands_for_it(
    user: UserMemory, clock: Clock
) -> None:
    write(user, clock, "Vou pedir 15 € de compensação para si, digo-lhe algo até sexta", role="assistant")
    assert asks(user, "ok") == "Pergunta atual:"


@pytest.mark.parametrize(
    ("talk", "question", "ending"),
    [
        (
            "Der Server der Buchhaltung läuft wieder, das Leck war im Zwischenspeicher.",
            "Was wurde mit dem Server der Buchhaltung und dem Zwischenspeicher beschlossen?",
            "Ausgang: teilweise gelungen. Beschlossen: der Zwischenspeicher der Buchhaltung bleibt aus.",
        ),
        (
            "The server of accounting runs again, the leak was in the cache.",
            "What was decided about the server of accounting and the cache?",
            "Outcome: partial. Decided: der Zwischenspeicher der Buchhaltung bleibt aus.",
        ),
    ],
)
def test_how_a_session_ended_is_told_in_the_language_of_the_talk(
    user: UserMemory, clock: Clock, talk: str, question: str, ending: str
) -> None:
    session = user.sessions.start("Server der Buchhaltung, cache of accounting", thread="server")
    user.add(talk, thread="server", timestamp=clock.now)
    user.sessions.end(session.id, "partial", ["der Zwischenspeicher der Buchhaltung bleibt aus"])
    user.flush()
    clock.forward(days=3)
    assert ending in user.context(question, thread="new").text
