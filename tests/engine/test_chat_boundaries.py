"""Chats as people write them, through the verbs a user calls: where the default policy cuts them."""

from datetime import UTC, datetime, timedelta

import pytest
from conftest import OpenMemory

BOILER = [
    ("Mara", "the boiler is making that noise again"),
    ("Jonas", "the boiler in the hallway or the one in the kitchen?"),
    ("Mara", "the hallway one, the pressure is at half a bar"),
    ("Priya", "then it wants water, the valve is under the boiler"),
    ("Jonas", "i filled the boiler up, the pressure is at one and a half now"),
    ("Mara", "noise is gone, thanks for filling the boiler"),
]
CONCERT = [
    ("Priya", "By the way, who wants to come to the concert on friday? i have two tickets"),
    ("Jonas", "which band is playing the concert?"),
    ("Priya", "the jazz quartet, tickets were a birthday present"),
    ("Mara", "i love jazz, take me to the concert"),
    ("Priya", "deal, we meet at the tram stop at seven, the concert begins at eight"),
]


def edges(open_memory: OpenMemory, chat: list[tuple[str, str]], pauses: list[timedelta]) -> list[int]:
    """Return where the episodes of a group chat begin, each message so long after the one before."""
    mara = open_memory(policy="default").user("Mara")
    at = datetime(2026, 3, 2, 19, tzinfo=UTC)
    for (speaker, text), pause in zip(chat, pauses, strict=True):
        at += pause
        message = {"role": "user", "name": speaker, "content": text, "timestamp": at}
        mara.add({**message, "conversation_id": "flat"})
    mara.flush()
    return sorted(mara.episodes.get(card.episode_id).first_seq for card in mara.episodes.list())


@pytest.mark.parametrize("seconds", [1, 20, 90])
def test_a_plain_change_of_subject_in_a_fast_chat_is_cut_without_any_pause(
    open_memory: OpenMemory, seconds: int
) -> None:
    chat = [*BOILER, *CONCERT]
    assert edges(open_memory, chat, [timedelta(seconds=seconds)] * len(chat)) == [0, len(BOILER)]


def test_a_fast_chat_about_one_matter_stays_one_episode(open_memory: OpenMemory) -> None:
    assert edges(open_memory, BOILER, [timedelta(seconds=5)] * len(BOILER)) == [0]


def test_after_a_long_silence_a_chat_is_cut_as_one_that_begins(open_memory: OpenMemory) -> None:
    chat = [*BOILER, *BOILER, *CONCERT]
    pauses = [timedelta(seconds=20)] * len(chat)
    pauses[len(BOILER)] = timedelta(days=2)
    assert edges(open_memory, chat, pauses) == [0, len(BOILER), 2 * len(BOILER)]
