"""Contexts where several people write in several places: whose words they are, and to whom they were said."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path

import pytest
from builders.chats import START, Clock
from builders.minilm import default_model

from episodic_agent import Memory
from episodic_agent.engine.user import UserMemory

Line = tuple[int, str, str, str]  # day, thread, who, text
TALK = (
    (0, "harbor", "Lena", "kickoff with Harbor went well, Dekker is the contact"),
    (0, "harbor", "Ole", "offer for Harbor is out, 18,400 EUR for phase 1"),
    (0, "nordlicht", "Ole", "their offer is out too: 9,600 EUR and hosting 89 a month"),
    (0, "nordlicht", "Priya", "good, the bakery will like that offer"),
    (3, "harbor", "Tomasz", "staging is up"),
    (3, "nordlicht", "Lena", "go-live is tuesday 1 December at 8:00"),
    (3, "chat-8f3", "Ole", "a note on the offer: send it as a PDF next time"),
)
NOT_TO_IT = "please don't ever park in front of the gate"
TO_IT = "please always answer me in bullet points"


@pytest.fixture
def team(tmp_path: Path, clock: Clock) -> Iterator[UserMemory]:
    with Memory.open(tmp_path / "m.db", embedder=default_model(), clock=clock) as memory:
        yield memory.user("team")


def tell(team: UserMemory, clock: Clock, lines: Sequence[Line]) -> None:
    for n, (day, thread, who, text) in enumerate(lines):
        clock.now = START + timedelta(days=day, minutes=n)
        team.add(text, role=who, thread=thread, timestamp=clock.now)
    clock.forward(hours=1)
    team.flush()


def heads(text: str) -> list[str]:
    return [line for line in text.splitlines() if line[:3].isdigit()]


def known_of(text: str) -> str:
    """Return what stands above the conversation and what was said earlier."""
    return text.partition("In this conversation:")[0].partition("From earlier:")[0]


def test_what_was_said_in_another_place_stands_under_its_name(team: UserMemory, clock: Clock) -> None:
    tell(team, clock, TALK)
    lines = team.context("what did we offer in the beginning?", thread="harbor").text.splitlines()
    theirs = next(n for n, line in enumerate(lines) if line.startswith("- ") and "9,600" in line)
    head = next(line for line in reversed(lines[:theirs]) if not line.startswith("- "))
    assert head.endswith(", nordlicht") or lines[theirs].endswith(", nordlicht)")
    assert not any("harbor" in line for line in heads("\n".join(lines)))  # said here


def test_a_name_made_up_for_one_conversation_is_told_in_such_a_place_alone(
    team: UserMemory, clock: Clock
) -> None:
    tell(team, clock, TALK)
    question = "how should an offer be sent, as a PDF?"
    inside, outside = (team.context(question, thread=name).text for name in ("harbor", "chat-9a1"))
    assert "PDF next time" in inside
    assert "PDF next time" in outside
    assert "chat-8f3" in inside
    assert "chat-8f3" not in outside
    assert "nordlicht" in outside


def test_what_colleagues_ask_of_each_other_is_no_wish_to_the_assistant(
    team: UserMemory, clock: Clock
) -> None:
    tell(
        team,
        clock,
        (
            (0, "general", "Mara", "morning all"),
            (0, "general", "Kim", NOT_TO_IT),
            (0, "general", "Ole", "sorry, that was me"),
            (1, "general", "Mara", "bot, what's on today?"),
            (1, "general", "assistant", "Nothing is planned."),
            (1, "general", "Kim", TO_IT),
            (1, "general", "assistant", "I will."),
            (2, "general", "Mara", "who is in today?"),
            (2, "general", "Kim", "me"),
        ),
    )
    text = team.context("where can I buy a new chair?", thread="ops").text
    assert TO_IT in known_of(text)
    assert NOT_TO_IT not in known_of(text)
    assert NOT_TO_IT in team.context("can I park in front of the gate?", thread="general").text


def test_a_wish_counts_where_its_speaker_is_written_with(team: UserMemory, clock: Clock) -> None:
    tell(
        team,
        clock,
        (
            (0, "dm-lena", "Lena", TO_IT),
            (0, "dm-lena", "assistant", "I will."),
            (0, "dm-jonas", "Jonas", "hello, who does the books here?"),
            (0, "dm-jonas", "assistant", "Kim does."),
        ),
    )
    question = "where can I buy a new chair?"
    assert TO_IT in team.context(question, thread="dm-lena").text
    assert TO_IT not in known_of(team.context(question, thread="dm-jonas").text)
    assert TO_IT in known_of(
        team.context(question, thread="a-new-one").text
    )  # who writes there is not known yet


def test_only_what_the_user_says_to_the_assistant_is_a_wish(tmp_path: Path, clock: Clock) -> None:
    mails = (
        ("mail: cake", "email", "Hannah", "Dear Nadia, never call me before ten, please."),
        ("mail: cake", "email", "Nadia", "Dear Hannah, please always write me which cake you mean."),
        ("mail: flour", "email", "Nadia", "Hi Sam, please always send the pallets before nine."),
        ("ovens", "slack", "Tomasz", "please never touch the fuse box"),
        ("ovens", "slack", "Nadia", "ok, and please answer me on Slack from now on, not by mail"),
        ("web", "web", "Nadia", "please answer in bullet points, five at most"),
        ("web", "web", "assistant", "I will."),
        ("car", "voice", "Nadia", "and always tell me prices without VAT"),
    )
    with Memory.open(tmp_path / "m.db", embedder=default_model(), clock=clock) as memory:
        nadia = memory.user("nadia")
        for n, (thread, channel, who, text) in enumerate(mails):
            clock.now = START + timedelta(hours=7 * n)
            role = {"role": "assistant"} if who == "assistant" else {"role": "user", "name": who}
            nadia.add({**role, "content": text}, thread=thread, channel=channel, timestamp=clock.now)
        clock.forward(hours=20)
        nadia.flush()
        text = known_of(nadia.context("where can I buy a new chair?", thread="new", channel="web").text)
        wishes = [fact.fact.value for fact in nadia.facts.list(category="guideline")]
    assert "bullet points" in text
    assert "without VAT" in text  # nobody else is there, and it is the user
    for others in ("before ten", "which cake", "pallets", "fuse box", "on Slack"):
        assert others not in text
    assert not any("fuse box" in wish or "on Slack" in wish or "which cake" in wish for wish in wishes)
