"""A team whose memory holds a channel and a direct message, of which only the first may be told."""

from builders.chats import Clock
from episodic_agent import Memory, UserMemory

OPEN = "music"
QUESTION = "What is the cello teacher called, and what does the cello teacher earn?"
SECRET = "4,900 euros"


def team_of(memory: Memory) -> UserMemory:
    """Return a team that said what the cello teacher is called in a channel, and what she earns elsewhere."""
    team = memory.user("team", new=True)
    team.add("The cello teacher is called Odile", thread=OPEN)
    team.add(f"The cello teacher earns {SECRET} a month", thread="dm-lena")
    return team


def moves_the_port(team: UserMemory, clock: Clock) -> None:
    """Say which port a server has in one thread, and a day later in another that it has a new one."""
    for thread, words in (
        ("harbor", "the dev server is on port 5173"),
        ("dm-lena", "the dev server is on port 8000 now"),
    ):
        clock.forward(days=1)
        team.add(words, role="user", thread=thread, timestamp=clock.now)
    team.flush()


def told_of(text: object) -> tuple[bool, bool]:
    """Tell whether a text holds what may be told, and what may not."""
    return "Odile" in str(text), SECRET in str(text)
