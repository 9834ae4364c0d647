"""Sequences of dictated entries, each of several matters: what goes on from one need not be what is asked for."""

from datetime import UTC, datetime, timedelta

from builders.chats import Clock, mine

from episodic_agent import Memory

START = datetime(2026, 4, 6, 20, tzinfo=UTC)
ENTRY = (
    "Monday, back from the allotment. The hens laid three eggs, and Berta limps on the left foot, so I bathed it in "
    "camomile and she did not like it one bit. Then the fence permit: Inspector Quill says that anything over one metre "
    "twenty wants an application, two copies, with a drawing. After that I sat with my sister on the bench and we "
    "talked about her new job at the harbour, the night shifts, the pay, and whether the dog can stay with us on Thursdays, "
    "which he can. For dinner there was barley soup. I read forty pages and went to bed late, much too late for a Monday."
)
GOES_ON = (
    ("hens", "Berta limps less today, camomile again."),
    ("quill", "Quill came by himself and measured with a rod."),
    ("dog", "The dog slept in the hall."),
)


def remember(memory: Memory, entry: str) -> None:
    first = mine(memory).sessions.start("monday", timestamp=START)
    mine(memory).add(entry, thread=first.thread, timestamp=START + timedelta(minutes=1))
    above = mine(memory).sessions.end(first.id).id
    for number, (topic, text) in enumerate(GOES_ON, 1):
        at = START + timedelta(days=number)
        started = mine(memory).sessions.start(topic, parent_episode_id=above, timestamp=at)
        mine(memory).add(text, thread=started.thread, timestamp=at + timedelta(minutes=1))
        mine(memory).sessions.end(started.id)


def days_told(memory: Memory, topic: str) -> list[int]:
    return [(one.start_at - START).days for one in mine(memory).chains.sequence(topic)]


def test_of_what_goes_on_from_a_long_entry_only_what_bears_on_the_topic_is_told(clock: Clock) -> None:
    with Memory.open(":memory:", embedder="none", policy="seed-001", clock=clock) as memory:
        remember(memory, ENTRY)
        assert days_told(memory, "fence permit") == [0, 2]
        assert "dog slept" not in mine(memory).chains.replay("fence permit")


def test_all_that_goes_on_from_a_short_message_is_told(clock: Clock) -> None:
    with Memory.open(":memory:", embedder="none", policy="seed-001", clock=clock) as memory:
        remember(memory, "The fence permit wants an application, and Berta limps.")
        assert days_told(memory, "fence permit") == [0, 1, 2, 3]
