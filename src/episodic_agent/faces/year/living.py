"""Live through a year with two memories, and note how well each keeps what happened."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Final

from episodic_agent.core.strength import retrievability
from episodic_agent.engine.results import EpisodeCard
from episodic_agent.engine.user import UserMemory
from episodic_agent.faces.year.sections import Learned, Row, held_in_turn, learned_facts, suppressed_by
from episodic_agent.faces.year.story import Day, Event, Story

REVIEWED, ALONE = "with reviews", "without"
FLUSHED_EVERY: Final = 7  # days
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
    """What a year brought: curves are (day, R) of events by memory; `reviews` the days they were reviewed.

    `suppressed` is what strength kept from the last day's questions, by memory; `learned` and `held` are what
    the memory with reviews made of what was told.
    """

    messages: int = 0
    episodes: dict[str, int] = field(default_factory=dict)
    probes: list[Probe] = field(default_factory=list)
    curves: dict[str, dict[str, list[tuple[int, float]]]] = field(default_factory=dict)
    reviews: dict[str, list[tuple[int, str]]] = field(default_factory=dict)
    suppressed: dict[str, list[Row]] = field(default_factory=dict)
    learned: list[Learned] = field(default_factory=list)
    held: list[Row] = field(default_factory=list)


def live(
    story: Story,
    name: str,
    memory: UserMemory,
    clock: SimulatedClock,
    days: int,
    progress: Callable[[int], None] = lambda _: None,
) -> Lived:
    """Tell a memory the story; only the one named `REVIEWED` says which thread asks."""
    lived = Lived(curves={name: {}})
    homes: dict[str, EpisodeCard] = {}
    for day in story.days(days):
        clock.now = day.at
        _spend(day, story, name, memory, clock)
        lived.messages += len(day.messages)
        past = [event for event in story.events if event.day < day.number]
        _note_strengths(lived, name, memory, homes, past, day)
        if past and day.number % PROBED_EVERY == PROBED_EVERY - 1:
            lived.probes += [_probe(memory, name, homes[e.key], e, day) for e in past]
        progress(day.number + 1)
    memory.flush()
    memory.facts.consolidate()  # the last days' too, though too few wait
    lived.episodes[name] = len(memory.episodes.list())
    lived.suppressed[name] = suppressed_by(memory, [e for e in story.events if e.key in homes])
    if name == REVIEWED:
        lived.reviews = _reviews(story, memory, homes)
        lived.learned = learned_facts(story, memory, days)
        lived.held = held_in_turn(story, memory, days)
    return lived


def joined(reviewed: Lived, alone: Lived) -> Lived:
    """Put together what two memories lived of one story."""
    return replace(
        reviewed,
        episodes=reviewed.episodes | alone.episodes,
        probes=reviewed.probes + alone.probes,
        curves=reviewed.curves | alone.curves,
        suppressed=reviewed.suppressed | alone.suppressed,
    )


def _spend(day: Day, story: Story, name: str, memory: UserMemory, clock: SimulatedClock) -> None:
    """Talk, ask for what is asked today, and answer from what was recalled.

    Frames are closed once a week, and on days when something happens or is asked: what a flush has to do
    costs more than a day of talk.
    """
    thread = f"day-{day.number:03d}"
    memory.add(list(day.messages), thread=thread)
    clock.now = day.at + timedelta(minutes=20)
    for event in day.asks:
        memory.add(event.question, thread=thread, timestamp=clock.now)
        recall = memory.search(event.question, asking=thread if name == REVIEWED else None)
        is_known = any(event.key in e.observation.text for hit in recall.hits[:FIRST] for e in hit.evidence)
        answer = event.answer if is_known else "I do not know that any more."
        clock.now += timedelta(seconds=30)
        memory.add(answer, role="assistant", thread=thread, timestamp=clock.now)
    if day.asks or day.number % FLUSHED_EVERY == 0 or any(event.day == day.number for event in story.events):
        memory.flush()
    clock.now = day.at


def _episode_of(memory: UserMemory, event: Event) -> EpisodeCard:
    """Return the episode of the event's day that holds it."""
    cards = memory.episodes.list(thread=f"day-{event.day:03d}")
    holding = (c for c in cards if any(event.key in o.text for o in memory.episodes.messages(c.episode_id)))
    return next(holding, cards[0])


def _note_strengths(
    lived: Lived,
    name: str,
    memory: UserMemory,
    homes: dict[str, EpisodeCard],
    past: Sequence[Event],
    day: Day,
) -> None:
    for event in past:
        if event.key not in homes:
            homes[event.key] = _episode_of(memory, event)
        episode = memory.episodes.get(homes[event.key].episode_id)
        days = max(0.0, (day.at - episode.last_reviewed_at) / _DAY)
        curve = lived.curves[name].setdefault(event.key, [])
        curve.append((day.number, round(retrievability(episode.stability, days), 4)))


def _probe(memory: UserMemory, name: str, home: EpisodeCard, event: Event, day: Day) -> Probe:
    recall = memory.search(event.question, limit=10)
    places = [
        n
        for n, hit in enumerate(recall.hits, 1)
        # what was asked for is told again, and found there as well
        if hit.episode_id == home.episode_id or any(event.answer in e.observation.text for e in hit.evidence)
    ]
    episode = memory.episodes.get(home.episode_id)
    strength = retrievability(episode.stability, max(0.0, (day.at - episode.last_reviewed_at) / _DAY))
    age = day.number - event.day
    return Probe(name, event.key, bool(event.asked), day.number, age, min(places, default=0), strength)


def _reviews(
    story: Story, memory: UserMemory, homes: dict[str, EpisodeCard]
) -> dict[str, list[tuple[int, str]]]:
    start = datetime.combine(story.start, datetime.min.time(), UTC)
    pairs: dict[str, list[tuple[int, str]]] = {}
    for key, home in homes.items():
        pairs[key] = [((d.at - start) // _DAY, d.verdict) for d in memory.episodes.reviews(home.episode_id)]
    return pairs


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
