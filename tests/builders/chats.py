"""A few days of Ana's life as chat messages: four undertakings, each on its own day."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from episodic_agent.engine.memory import Memory
from episodic_agent.engine.user import UserMemory
from episodic_agent.schemas.contexts import LineKind

USER: Final = "default"  # whose memory a test means that does not care; no question means this name
START = datetime(2024, 5, 1, 9, tzinfo=UTC)
NOW = datetime(2024, 6, 1, 12, tzinfo=UTC)

TAP = (
    ("user", "The kitchen tap is dripping again and the cupboard underneath is wet"),
    ("assistant", "Turn off the valve under the sink and put a bowl beneath the leak"),
    ("user", "The plumber says a hairline crack in the cartridge of the tap let the water through"),
    ("assistant", "Then the whole mixer tap must be replaced, keep the plumber's receipt"),
)
LISBON = (
    ("user", "I want to book flights to Lisbon for the middle of May, two seats"),
    ("assistant", "There is a direct flight to Lisbon on Thursday for 214 pounds with luggage"),
    ("user", "Booked the Lisbon flight, now I need a small flat near the river"),
    ("assistant", "A flat in Campo de Ourique costs 97 pounds a night and has a balcony"),
)
CELLO = (
    ("user", "My cello teacher Odile wants me to practise the long bow strokes every evening"),
    ("assistant", "Slow bow strokes on open strings are the best exercise for a beginner on the cello"),
    ("user", "The A string of the cello sounds nasal, should I buy new strings for it"),
    ("assistant", "Rental cellos often carry old strings, ask Odile before you buy any"),
)
BREAD = (
    ("user", "The sourdough starter smells of vinegar and the loaf came out of the oven flat"),
    ("assistant", "Feed the sourdough starter twice a day and bake when it doubles in four hours"),
    ("user", "The second loaf rose well, but the crust of the bread is too hard for the children"),
    ("assistant", "Bake the bread with steam for twenty minutes and the crust stays thin"),
)
TOPICS = (TAP, LISBON, CELLO, BREAD)


def mine(memory: Memory | UserMemory) -> UserMemory:
    """Return the memory of a test's only user, who need not be known yet, or the user's memory that it is."""
    return memory.user(USER, new=True) if isinstance(memory, Memory) else memory


CHAT = "chat"  # the thread of what these builders make: silence does not end a named one


def say(text: str, minute: float = 0, role: str = "user", **more: Any) -> dict[str, Any]:
    """Make a message of the chat `CHAT`, `minute` minutes after the first of May, nine o'clock."""
    return {
        "conversation_id": CHAT,
        "role": role,
        "content": text,
        "timestamp": (START + timedelta(minutes=minute)).isoformat(),
        **more,
    }


def talk(lines: tuple[tuple[str, str], ...], day: float, prefix: str = "") -> list[dict[str, Any]]:
    """Make the messages of one undertaking, two minutes apart, on a day after the first."""
    named = ({"id": f"{prefix}{n}"} if prefix else {} for n in range(len(lines)))
    return [
        say(text, day * 1440 + 2 * n, role, **identity)
        for n, ((role, text), identity) in enumerate(zip(lines, named, strict=False))
    ]


def diary() -> list[dict[str, Any]]:
    """Return the sixteen messages of four days: tap, Lisbon, cello, bread."""
    names = ("tap", "lisbon", "cello", "bread")
    return [
        m for day, (name, lines) in enumerate(zip(names, TOPICS, strict=True)) for m in talk(lines, day, name)
    ]


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self, now: datetime = NOW) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def forward(self, **span: float) -> None:
        """Move on by a `timedelta`."""
        self.now += timedelta(**span)


def keep_diary(memory: Memory, lines: Sequence[str], monday: datetime) -> None:
    """Say one line a day from a Monday on; what is left after a week on the Monday after, each in its thread."""
    for day, text in enumerate(lines):
        at = monday + timedelta(days=min(day, 7))
        mine(memory).add({"role": "user", "content": text, "timestamp": at.isoformat()}, thread=f"t{day}")


def recalled_lines(memory: Memory, question: str, at: datetime) -> set[str]:
    """Return what a context in a thread of its own tells of what was said."""
    context = mine(memory).context(question, at=at, channel="another")
    return {line.text.removeprefix("- ") for line in context.items if line.kind is LineKind.RECALLED}
