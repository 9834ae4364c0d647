"""The conversations of a year, day by day, the same for the same seed."""

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final

from episodic_agent.data import demo_folder

DAYS: Final = 365
MOST_ROUNDS: Final = 8  # a message and its reply each
TAILED: Final = 0.8  # of what is said, with a second sentence
SEED: Final = 2025


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened once: on which day, what was said, and after how many days it is asked for.

    `key` is a word that only its messages hold, so that a recall can be judged without a reader.
    """

    day: int
    key: str
    lines: Sequence[str]
    question: str
    answer: str
    asked: Sequence[int]


@dataclass(frozen=True, slots=True)
class Scripted:
    """What is so in the story from `day` to the day `until` (None: to its end).

    A fact that was learned is this one where it has the `attribute`, and `key` in its value. `lines` is said
    on the first day and `ends` on the last; without them an event of that day says it.
    """

    slot: str
    value: str
    attribute: str
    key: str
    day: int
    until: int | None = None
    lines: Sequence[str] = ()
    ends: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Day:
    """One day: when it is talked about, what is said, and which events are asked for afterwards."""

    number: int
    at: datetime
    messages: Sequence[Mapping[str, str]]
    asks: Sequence[Event]


@dataclass(frozen=True, slots=True)
class Story:
    """A person and her year."""

    person: str
    start: date
    events: Sequence[Event]
    facts: Sequence[Scripted]
    topics: Sequence[Mapping[str, Any]]
    slots: Mapping[str, Sequence[str]]
    tails: Sequence[str]

    def days(self, count: int = DAYS, seed: int = SEED) -> Iterator[Day]:
        """Yield the days in order, each of 6 to 20 messages."""
        chance = random.Random(seed)
        for number in range(count):
            noon = datetime.combine(self.start, datetime.min.time(), UTC) + timedelta(days=number)
            at = noon + timedelta(hours=18, minutes=chance.randrange(150))
            asks = [event for event in self.events if number - event.day in event.asked]
            yield Day(number, at, self._talk(number, at, chance), asks)

    def _talk(self, number: int, at: datetime, share: random.Random) -> list[Mapping[str, str]]:
        pairs: list[tuple[str, str]] = []
        for event in self.events:
            if event.day == number:
                pairs += [("user", event.lines[0]), ("assistant", "Oh! Tell me more, I keep it in mind.")]
                pairs += [("user", line) for line in event.lines[1:]] + [("assistant", "Noted.")]
        pairs += [("user", line) for line in self._lasting(number)]
        active = [t for t in self.topics if t["from"] <= number < t["to"]]
        weights = [t["weight"] for t in active]
        terms: set[str] = set()
        topic = share.choices(active, weights)[0]
        for _ in range(share.randint(3, MOST_ROUNDS)):
            if share.random() < 0.35:
                topic = share.choices(active, weights)[0]
            pattern = share.choice([line for line in topic["says"] if line not in terms] or topic["says"])
            terms.add(pattern)
            line = self._filled(pattern, share)
            if share.random() < TAILED:
                line = f"{line} {self._filled(share.choice(self.tails), share)}"
            pairs.append(("user", line))
            pairs.append(("assistant", self._filled(share.choice(topic["replies"]), share)))
        times = (at + timedelta(seconds=45 * n) for n in range(len(pairs)))
        rows = zip(pairs, times, strict=False)
        return [{"role": r, "content": text, "timestamp": t.isoformat()} for (r, text), t in rows]

    def _lasting(self, number: int) -> list[str]:
        """Return what is said on a day of what begins or ends to be so."""
        ends = [line for fact in self.facts if fact.until == number for line in fact.ends]
        return ends + [line for fact in self.facts if fact.day == number for line in fact.lines]

    def _filled(self, pattern: str, share: random.Random) -> str:
        return pattern.format_map({name: share.choice(words) for name, words in self.slots.items()})


def read_story() -> Story:
    """Read the bundled year.

    >>> story = read_story()
    >>> first = next(story.days())
    >>> 6 <= len(first.messages) <= 24, first.messages[0]["role"]
    (True, 'user')
    """
    data = demo_folder() / "year.json"
    loads = json.loads(data.read_text(encoding="utf-8"))
    events = [Event(**event) for event in loads["events"]]
    start = date.fromisoformat(loads["start"])
    facts = [Scripted(**fact) for fact in loads["facts"]]
    return Story(loads["person"], start, events, facts, loads["topics"], loads["slots"], loads["tails"])
