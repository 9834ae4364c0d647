"""Turns: a user message with everything up to the next one."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from episodic_agent.core.threads.turns import Pair, opens_turn, pairs, turn_count, turns
from episodic_agent.schemas import Kind, Observation

START = datetime(2025, 11, 5, 10, tzinfo=UTC)


def observe(*lines: tuple[str, str]) -> list[Observation]:
    return [
        Observation(
            UUID(int=n), UUID(int=1), n, START + timedelta(minutes=n), START, actor, text,
            kind=Kind.TOOL if actor == "tool" else Kind.MESSAGE,
        )
        for n, (actor, text) in enumerate(lines)
    ]  # fmt: skip


WEATHER = observe(
    ("assistant", "Good morning!"),
    ("user", "What's the weather in New York?"),
    ("assistant", "Let me look."),
    ("tool", "weather(New York): sunny, 72"),
    ("assistant", "Sunny, high 72°F"),
    ("user", "What about next week?"),
    ("user", "In Boston, I mean"),
    ("assistant", "Mixed, 65-75°F"),
    ("user", "Thanks"),
)


def test_a_turn_holds_everything_up_to_the_next_user_message() -> None:
    assert [(t.first_seq, t.last_seq, t.opened) for t in turns(WEATHER)] == [
        (0, 0, False),
        (1, 4, True),
        (5, 5, True),
        (6, 7, True),
        (8, 8, True),
    ]
    assert turn_count(WEATHER) == 4


def test_an_answer_is_the_last_thing_said_in_a_turn() -> None:
    assert pairs(list(turns(WEATHER))) == [
        Pair("What's the weather in New York?", "Sunny, high 72°F", 1, 4, True),
        Pair("What about next week?", "", 5, 5, True),  # one does not answer oneself
        Pair("In Boston, I mean", "Mixed, 65-75°F", 6, 7, False),
    ]


def test_between_people_the_next_speaker_answers() -> None:
    talk = observe(("Ana", "Where do you live now?"), ("Ben", "In Porto."), ("Ana", "Nice!"))
    assert pairs(list(turns(talk))) == [Pair("Where do you live now?", "In Porto.", 0, 1, True)]
    assert turn_count(talk) == 3


@pytest.mark.parametrize(
    ("actor", "opens"),
    [("user", True), ("Ana", True), ("customer", True), ("assistant", False), ("Assistant", False),
     ("tool", False), ("system", False), ("bot", False)],
)  # fmt: skip
def test_people_open_turns_and_the_agent_does_not(actor: str, opens: bool) -> None:
    assert opens_turn(observe((actor, "hello"))[0]) is opens


SPEAKERS = st.lists(
    st.tuples(st.sampled_from(["user", "assistant", "tool", "Ana"]), st.text(max_size=5)), max_size=20
)


@given(SPEAKERS, st.integers(0, 20))
def test_counting_in_pieces_counts_the_same(lines: list[tuple[str, str]], cut: int) -> None:
    observations = observe(*lines)
    assert turn_count(observations[cut:], turn_count(observations[:cut])) == turn_count(observations)


@given(SPEAKERS)
def test_turns_hold_every_observation_once_and_pairs_lie_within(lines: list[tuple[str, str]]) -> None:
    observations = observe(*lines)
    cut = list(turns(observations))
    assert [o for t in cut for o in t.observations] == observations
    assert sum(t.opened for t in cut) == turn_count(observations)
    for pair in pairs(cut):
        assert observations[pair.first_seq].text == pair.question
        assert (
            pair.answer in [o.text for o in observations[pair.first_seq : pair.last_seq + 1]]
            or not pair.answer
        )
