"""What an import met, or would bring: formats, conversations, messages, and how to say so in a few lines."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from episodic_agent.core.ingest import Item
from episodic_agent.core.language import plural
from episodic_agent.schemas import TimeSource

_LISTED: Final = 20  # conversations that a dry run lists
_PEOPLE: Final = 4  # and names of each
_SLACK: Final = timedelta(days=1)  # by which zones and clocks differ


@dataclass(slots=True)
class MetFormat:
    """What was read in one format: its conversations by their names, and how many messages."""

    name: str
    conversations: set[str] = field(default_factory=set)
    messages: int = 0


@dataclass(slots=True)
class MetConversation:
    """One conversation: its title, when it was held, how many messages it has and whose."""

    title: str
    messages: int = 0
    first: datetime | None = None
    last: datetime | None = None
    people: dict[str, None] = field(default_factory=dict)

    def line(self) -> str:
        """Say it in one line.

        >>> MetConversation("Trip", 2, people={"Ana": None, "Bo": None}).line()
        'Trip: 2 messages by Ana, Bo'
        """
        when = ""
        if self.first is not None and self.last is not None:
            days = dict.fromkeys((f"{self.first:%Y-%m-%d}", f"{self.last:%Y-%m-%d}"))
            when = f", {' to '.join(days)},"
        names = list(self.people)
        more = f" and {len(names) - _PEOPLE} more" if len(names) > _PEOPLE else ""
        return f"{self.title}: {plural(self.messages, 'message')}{when} by {', '.join(names[:_PEOPLE])}{more}"


class Survey:
    """Counts what passes, `now`. `lists` keeps each conversation as well, for a dry run."""

    def __init__(self, *, now: datetime, lists: bool = False) -> None:
        self.now = now
        self.formats: dict[str, MetFormat] = {}
        self._ahead = 0
        self._latest = now
        self._lists = lists
        self._undated = self._placed = 0
        self._conversations: dict[str, MetConversation] = {}

    def meet(self, name: str, label: str) -> None:
        """Note that a format is there."""
        self.formats.setdefault(label, MetFormat(name))

    def take(self, label: str, origin: str, item: Item) -> None:
        """Count one message."""
        met = self.formats[label]
        met.conversations.add(origin)
        met.messages += 1
        if item.at_source is TimeSource.ASSUMED:
            self._undated += item.at is None
            self._placed += item.at is not None
        if item.at is not None and item.at - self.now > _SLACK:
            self._ahead += 1
            self._latest = max(self._latest, item.at)
        if not self._lists:
            return
        at = None if item.at_source is TimeSource.ASSUMED else item.at
        if at is not None:  # days are those of the place
            at += timedelta(seconds=item.utc_offset or 0)
        held = self._conversations.setdefault(origin, MetConversation(item.title or origin))
        held.messages += 1
        held.people[item.actor] = None
        if at is not None:
            held.first = at if held.first is None else min(held.first, at)
            held.last = at if held.last is None else max(held.last, at)

    @property
    def threads(self) -> int:
        """Return how many conversations there were."""
        return len(set().union(*(met.conversations for met in self.formats.values())))

    @property
    def names(self) -> str:
        """Return the formats' short names, with commas."""
        return ", ".join(dict.fromkeys(met.name for met in self.formats.values()))

    def lines(self) -> list[str]:
        """Say what was recognised, a line a format, then the conversations that were asked for."""
        lines = [
            f"{label}: {plural(len(met.conversations), 'conversation')}, {plural(met.messages, 'message')}"
            for label, met in self.formats.items()
        ]
        lines += [f"  {held.line()}" for held in list(self._conversations.values())[:_LISTED]]
        more = len(self._conversations) - _LISTED
        if more > 0:
            lines.append(f"  … and {plural(more, 'conversation')} more")
        if self._ahead:
            ahead = plural(self._ahead, "message")
            lines.append(f"{ahead} dated ahead of now, up to {self._latest:%Y-%m-%d}: kept so")
        if self._undated:
            lines.append(f"{plural(self._undated, 'message')} without a time: kept as if said now")
        if self._placed:
            lines.append(
                f"{plural(self._placed, 'message')} without a time: placed beside those next to them"
            )
        return lines
