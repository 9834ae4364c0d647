"""A later wish about the same is told in the place of the earlier one; one about something else beside it."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from builders.chats import Clock
from builders.minilm import default_model

from episodic_agent import Memory

MONDAY = datetime(2026, 3, 2, 20, tzinfo=UTC)


def told_with(tmp_path: Path, clock: Clock, message: str, *wishes: str) -> str:
    """Return what is told with a message as known, after wishes said a week apart."""
    with Memory.open(tmp_path / "m.db", embedder=default_model(), clock=clock) as memory:
        user = memory.user("mei")
        for n, text in enumerate(wishes):
            clock.now = MONDAY + timedelta(days=7 * n)
            user.add(text, channel="app", timestamp=clock.now)
            user.add("Okay.", role="assistant", channel="app", timestamp=clock.now + timedelta(seconds=9))
        user.flush()
        clock.now += timedelta(days=1)
        return user.context(message, channel="app", max_tokens=800).text


@pytest.mark.parametrize(
    ("message", "earlier", "later"),
    [
        (
            "what a day",
            "please end every message with a question",
            "fewer questions please, they wear me out",
        ),
        ("was für ein Tag", "Stell mir am Ende jeder Nachricht eine Frage.", "weniger Fragen bitte"),
        ("was für ein Tag", "Keine Emojis bitte.", "Emojis sind wieder okay"),
        ("vaya día", "Termina cada mensaje con una pregunta.", "menos preguntas, por favor"),
        ("今天好累", "回答简短一点", "可以说详细一点了"),
        ("今天好累", "以后用英文回答我", "中文就可以了"),
    ],
)
def test_a_wish_about_the_same_takes_the_place_of_the_other(
    tmp_path: Path, clock: Clock, message: str, earlier: str, later: str
) -> None:
    text = told_with(tmp_path, clock, message, earlier, later)
    assert f'"{later}"' in text
    assert f'"{earlier}"' not in text


@pytest.mark.parametrize(
    ("message", "earlier", "later"),
    [
        ("what a day", "call me Lizzie", "keep it short at work please"),
        ("what a day", "Answer me in long, detailed messages.", "skip the greetings please"),
    ],
)
def test_a_wish_about_something_else_stands_beside_it(
    tmp_path: Path, clock: Clock, message: str, earlier: str, later: str
) -> None:
    text = told_with(tmp_path, clock, message, earlier, later)
    assert later in text
    assert earlier in text


def test_what_loosens_one_wish_leaves_the_others(tmp_path: Path, clock: Clock) -> None:
    wishes = ("回答简短一点", "以后叫我晓晓", "不要用表情符号", "以后用英文回答我")
    text = told_with(tmp_path, clock, "今天好累", *wishes, "可以说详细一点了", "中文就可以了")
    assert [wish for wish in wishes if f'"{wish}"' in text] == ["以后叫我晓晓", "不要用表情符号"]
