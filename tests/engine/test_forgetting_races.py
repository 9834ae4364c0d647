"""Forgetting while others write, while it is killed, and in the middle of any life: all of it, or pending."""

import os
import random
import signal
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from builders.assistants import TEN
from builders.chats import Clock, mine
from builders.erasing import SECRET, everywhere, learn, live, values
from builders.places import server_when_slow
from conftest import OpenMemory

from episodic_agent import Memory
from episodic_agent.errors import NotFound
from episodic_agent.providers.embedders.hashing import HashingEmbedder
from episodic_agent.schemas import Vector
from episodic_agent.stores import faults

WRITERS = 3


class Meddling(HashingEmbedder):
    """Does something else in the middle of the first embedding of what it waits for."""

    def __init__(self, word: str) -> None:
        super().__init__()
        self._word = word
        self.meddle: Callable[[], object] | None = None

    def embed(self, texts: Sequence[str]) -> Vector:
        meddle = self.meddle
        if meddle is not None and any(self._word in text for text in texts):
            self.meddle = None
            meddle()
        return super().embed(texts)


def sound(memory: Memory) -> list[str]:
    return [f.message for f in memory.doctor() if f.severity == "error"]


def test_a_worker_that_read_what_was_erased_keeps_nothing_of_it(url: str, clock: Clock) -> None:
    embedder = Meddling(SECRET)
    with (
        Memory.open(url, embedder=embedder, policy="seed-001", clock=clock) as memory,
        Memory.open(url, embedder="hashing", policy="seed-001", clock=clock) as other,
    ):
        (receipt, _) = mine(memory).add([f"The code is {SECRET}, keep it", "I will keep it"], thread="safe")
        other_receipts = []
        embedder.meddle = lambda: other_receipts.append(mine(other).erase(observation=receipt.id))
        mine(memory).flush()  # the words of the episode are made while it loses its first observation
        clock.forward(hours=1)
        memory.jobs.run()
        assert len(other_receipts) == 1
        assert everywhere(url, SECRET) == []
        assert [c.title for c in mine(memory).episodes.list()] != [""]
        assert sound(memory) == []


@server_when_slow
def test_a_thread_that_is_written_to_while_it_is_forgotten_is_sound_afterwards(
    url: str, clock: Clock
) -> None:
    def write(n: int) -> None:
        with Memory.open(url, embedder="hashing", policy="seed-001", clock=clock, resume=False) as own:
            for k in range(12):
                mine(own).add(f"writer {n} says number {k} of {SECRET}", thread="busy", wait=False)

    with Memory.open(url, embedder="hashing", policy="seed-001", clock=clock) as memory:
        mine(memory).add("It begins", thread="busy")
        with ThreadPoolExecutor(WRITERS) as pool:
            writing = [pool.submit(write, n) for n in range(WRITERS)]
            for _ in range(4):
                with suppress(NotFound):  # nobody has written since the last time
                    mine(memory).erase(thread="busy")
            for item in writing:
                item.result()
        assert sound(memory) == []
        if mine(memory).threads.list():
            mine(memory).erase(thread="busy")
        assert everywhere(url, SECRET) == []
        assert sound(memory) == []


# --- killed ---------------------------------------------------------------------------------------------

FORGET: dict[str, Callable[[Memory], object]] = {
    "observation": lambda memory: mine(memory).erase(observation=_secret(memory)),
    "thread": lambda memory: mine(memory).erase(thread="safe"),
    "user": lambda memory: mine(memory).erase(everything=True),
}


def _secret(memory: Memory) -> Any:
    observations = (
        o
        for c in mine(memory).episodes.list()
        for o in mine(memory).episodes.messages(c.episode_id)
        if SECRET in o.text
    )
    return next(observations).id


def _killed_at(path: Path, point: str, forget: Callable[[Memory], object], clock: Clock) -> int:
    """Forget in a child that is killed at a point; return the signal that ended it (0: it came through)."""
    child = os.fork()
    if child == 0:
        try:
            with Memory.open(
                path, embedder="hashing", policy="seed-001", clock=clock, resume=False
            ) as memory:
                faults.arm(point, 1, lambda: os.kill(os.getpid(), signal.SIGKILL))
                forget(memory)
        finally:
            os._exit(0)
    return os.WTERMSIG(os.waitpid(child, 0)[1])


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the platform cannot fork")
@pytest.mark.parametrize("what", FORGET)
def test_killed_anywhere_it_is_undone_or_completed_later(tmp_path: Path, clock: Clock, what: str) -> None:
    points = ["after-begin", "before-commit", "after-commit", "before-sweep", "after-sweep"]
    points += ["mid-erasure"] * (what == "user")
    kills = 0
    for point in points:
        path = tmp_path / f"{point}.db"
        with Memory.open(path, embedder="hashing", policy="seed-001", clock=clock, resume=False) as memory:
            mine(memory).add(
                [f"The code of the safe is {SECRET}", "I shall keep it to myself"], thread="safe"
            )
            mine(memory).flush()
        kills += _killed_at(path, point, FORGET[what], clock) == signal.SIGKILL
        with Memory.open(path, embedder="hashing", policy="seed-001", clock=clock, resume=False) as memory:
            committed = point in ("after-commit", "before-sweep", "after-sweep")
            assert [r.state for r in memory.erasures()] == ["pending"] * committed
            assert bool(everywhere(f"sqlite:///{path}", SECRET)) != committed
            memory.upkeep()
            assert [r.state for r in memory.erasures()] == ["done"] * committed
            assert (mine(memory).erasures.residue([SECRET]) == []) or not committed
            assert sound(memory) == []
            if committed:
                assert SECRET.encode() not in path.read_bytes()
    assert kills == len(points)


# --- any life -------------------------------------------------------------------------------------------


class Life:
    """A random life: every message bears a word of its own, so that each can be looked for."""

    def __init__(self, memory: Memory, clock: Clock, seed: int) -> None:
        self._memory = memory
        self._clock = clock
        self._random = random.Random(seed)
        self._said = 0
        self.kept: dict[str, Any] = {}
        self.thread_of: dict[str, str] = {}
        self.gone: set[str] = set()

    def step(self) -> None:
        acts = [self.add] * 6 + [self.flush, self.link, self.compact, self.resegment, self.recall]
        acts += [self.forget_one] * 2 + [self.forget_episode, self.forget_thread]
        self._random.choice(acts)()

    def add(self) -> None:
        thread = self._random.choice("abc")
        for _ in range(self._random.randint(1, 5)):
            self._clock.forward(minutes=self._random.choice((1, 2, 90)))
            word = f"zq{self._said:04}qz"
            self._said += 1
            text = f"About the {self._random.choice(('boat', 'garden', 'cello'))}: {word} is what I meant"
            role = self._random.choice(("user", "user", "assistant"))
            message = {"role": role, "content": text, "timestamp": self._clock.now, "location": word}
            (receipt,) = mine(self._memory).add([message], thread=thread)
            self.kept[word], self.thread_of[word] = receipt.id, thread

    def flush(self) -> None:
        mine(self._memory).flush()

    def link(self) -> None:
        threads = [t.origin for t in mine(self._memory).threads.list()]
        if len(threads) > 1:
            mine(self._memory).links.add(*self._random.sample(threads, 2))

    def compact(self) -> None:
        mine(self._memory).sections.compact()

    def resegment(self) -> None:
        for thread in mine(self._memory).threads.list()[:1]:
            mine(self._memory).boundaries.resegment(
                thread.origin, self._random.choice(("default", "seed-001"))
            )

    def recall(self) -> None:
        threads = [t.origin for t in mine(self._memory).threads.list()]
        if threads and self.kept:
            asking = self._random.choice(threads)
            texts = [
                word for word, thread in self.thread_of.items() if thread == asking and word in self.kept
            ]
            if texts:  # a query is what was said in the thread
                mine(self._memory).search(f"what was {self._random.choice(texts)}?", asking=asking)

    def forget_one(self) -> None:
        if self.kept:
            word = self._random.choice(sorted(self.kept))
            mine(self._memory).erase(observation=self.kept[word], sweep=False)
            self._lose([word])

    def forget_episode(self) -> None:
        closed = [c.episode_id for c in mine(self._memory).episodes.list() if c.state != "open"]
        if closed:
            chosen = self._random.choice(closed)
            texts = " ".join(o.text for o in mine(self._memory).episodes.messages(chosen))
            mine(self._memory).erase(episode=chosen, sweep=False)
            self._lose([word for word in self.kept if word in texts])

    def forget_thread(self) -> None:
        threads = [t.origin for t in mine(self._memory).threads.list()]
        if len(threads) > 2:
            chosen = self._random.choice(threads)
            mine(self._memory).erase(thread=chosen, sweep=False)
            self._lose([word for word in self.kept if self.thread_of[word] == chosen])

    def _lose(self, words: Sequence[str]) -> None:
        for word in words:
            del self.kept[word]
            self.gone.add(word)


@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 2, 3))])
@server_when_slow
def test_whatever_was_done_nothing_of_the_erased_is_left(url: str, clock: Clock, seed: int) -> None:
    clock.now = TEN
    with Memory.open(url, embedder="hashing", policy="seed-001", clock=clock) as memory:
        life = Life(memory, clock, seed)
        for _ in range(60):
            life.step()
        clock.now += timedelta(days=2)
        memory.upkeep()
        assert sound(memory) == []
        everything = "\n".join(repr(value) for _, value in values(url))
        assert sorted(word for word in life.gone if word in everything) == []
        assert sorted(word for word in life.kept if word not in everything) == []
        assert len(life.gone) > 10
        assert mine(memory).erasures.residue(sorted(life.gone)[:8]) == []
        assert {r.state for r in memory.erasures()} == {"done"}


@pytest.mark.slow
def test_all_of_it_at_once(open_memory: OpenMemory, clock: Clock, database: Path) -> None:
    memory = open_memory()
    live(memory, clock)
    learn(memory, clock)
    mine(memory).erase(everything=True)
    assert everywhere(f"sqlite:///{database}", SECRET) == []
    assert database.stat().st_size < 1 << 20
