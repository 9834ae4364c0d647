"""Live through a year with two memories, and note how well each keeps what happened."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final

from episodic_agent.core.forgetting import retrievability
from episodic_agent.engine.memory import Memory
from episodic_agent.engine.results import EpisodeCard
from episodic_agent.faces.year.story import Day, Event, Story

REVIEWED, ALONE = "with reviews", "without"
PROBED_EVERY: Final = 30  # days from one examination of everything to the next
FIRST: Final = 3  # hits among which the right episode counts as found
AGES: Final = ((0, 30), (30, 90), (90, 180), (180, 400))  # days
_DAY: Final = timedelta(days=1)


class SimulatedClock:
    """A clock that stands where the story is."""

    def __init__(self) -> None:
        self.now = datetime(2025, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        """Return the time of the story."""
        return self.now


@dataclass(frozen=True, slots=True)
class Probe:
    """One question put to one memory: how old the event was, at which place its episode came (0: none)."""

    memory: str
    event: str
    rehearsed: bool
    day: int
    age: int
    place: int
    retrievability: float


@dataclass(slots=True)
class Lived:
    """What a year brought: curves are (day, R) of events by memory; `reviews` the days they were reviewed."""

    messages: int = 0
    episodes: dict[str, int] = field(default_factory=dict)
    probes: list[Probe] = field(default_factory=list)
    curves: dict[str, dict[str, list[tuple[int, float]]]] = field(default_factory=dict)
    reviews: dict[str, list[tuple[int, str]]] = field(default_factory=dict)


def live(
    story: Story,
    memories: dict[str, Memory],
    clock: SimulatedClock,
    days: int,
    progress: Callable[[int], None] = lambda _: None,
) -> Lived:
    """Tell both memories the story; only the one named `REVIEWED` says which thread asks."""
    lived = Lived(curves={name: {} for name in memories})
    homes: dict[str, dict[str, EpisodeCard]] = {name: {} for name in memories}
    for day in story.days(days):
        clock.now = day.at
        for name, memory in memories.items():
            _spend(day, name, memory, clock)
        lived.messages += len(day.messages)
        past = [event for event in story.events if event.day < day.number]
        for name, memory in memories.items():
            _note_strengths(lived, name, memory, homes[name], past, day)
            if past and day.number % PROBED_EVERY == PROBED_EVERY - 1:
                lived.probes += [_probe(memory, name, homes[name][e.key], e, day) for e in past]
        progress(day.number + 1)
    for name, memory in memories.items():
        memory.flush()
        lived.episodes[name] = len(memory.episodes())
    lived.reviews = _reviews(story, memories[REVIEWED], homes[REVIEWED])
    return lived


def _spend(day: Day, name: str, memory: Memory, clock: SimulatedClock) -> None:
    """Talk, ask for what is asked today, and answer from what was recalled."""
    thread = f"day-{day.number:03d}"
    memory.add(list(day.messages), thread=thread)
    clock.now = day.at + timedelta(minutes=20)
    for event in day.asks:
        memory.add(event.question, thread=thread, timestamp=clock.now)
        recall = memory.search(event.question, asking=thread if name == REVIEWED else None)
        found = any(event.key in e.observation.text for hit in recall.hits[:FIRST] for e in hit.evidence)
        answer = event.answer if found else "I do not know that any more."
        clock.now += timedelta(seconds=30)
        memory.add(answer, role="assistant", thread=thread, timestamp=clock.now)
    memory.flush(thread=thread)
    clock.now = day.at


def _episode_of(memory: Memory, event: Event) -> EpisodeCard:
    """Return the episode of the event's day that holds it."""
    cards = memory.episodes(thread=f"day-{event.day:03d}")
    holding = (c for c in cards if any(event.key in o.text for o in memory.messages(c.episode_id)))
    return next(holding, cards[0])


def _note_strengths(
    lived: Lived, name: str, memory: Memory, homes: dict[str, EpisodeCard], past: Sequence[Event], day: Day
) -> None:
    for event in past:
        if event.key not in homes:
            homes[event.key] = _episode_of(memory, event)
        kept = memory.get(homes[event.key].episode_id)
        days = max(0.0, (day.at - kept.last_reviewed_at) / _DAY)
        curve = lived.curves[name].setdefault(event.key, [])
        curve.append((day.number, round(retrievability(kept.stability, days), 4)))


def _probe(memory: Memory, name: str, home: EpisodeCard, event: Event, day: Day) -> Probe:
    recall = memory.search(event.question, limit=10)
    places = [
        n
        for n, hit in enumerate(recall.hits, 1)
        # what was asked for is told again, and found there as well
        if hit.episode_id == home.episode_id or any(event.answer in e.observation.text for e in hit.evidence)
    ]
    kept = memory.get(home.episode_id)
    strength = retrievability(kept.stability, max(0.0, (day.at - kept.last_reviewed_at) / _DAY))
    age = day.number - event.day
    return Probe(name, event.key, bool(event.asked), day.number, age, min(places, default=0), strength)


def _reviews(story: Story, memory: Memory, homes: dict[str, EpisodeCard]) -> dict[str, list[tuple[int, str]]]:
    start = datetime.combine(story.start, datetime.min.time(), UTC)
    found: dict[str, list[tuple[int, str]]] = {}
    for key, home in homes.items():
        found[key] = [((d.at - start) // _DAY, d.verdict) for d in memory.reviews(home.episode_id)]
    return found


def hit_rates(lived: Lived) -> list[dict[str, object]]:
    """Return by memory, kind of event and age how often the right episode was among the first."""
    rows: list[dict[str, object]] = []
    for low, high in AGES:
        for name in lived.curves:
            for rehearsed in (True, False):
                some = [
                    p for p in lived.probes
                    if p.memory == name and p.rehearsed == rehearsed and low <= p.age < high
                ]  # fmt: skip
                if some:
                    share = sum(0 < p.place <= FIRST for p in some) / len(some)
                    strength = sum(p.retrievability for p in some) / len(some)
                    rows.append(
                        {
                            "memory": name,
                            "asked for": rehearsed,
                            "days": [low, high],
                            "probes": len(some),
                            "found": round(share, 3),
                            "first": round(sum(p.place == 1 for p in some) / len(some), 3),
                            "retrievability": round(strength, 3),
                        }
                    )
    return rows
