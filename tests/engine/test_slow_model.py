"""How often a language model is asked does not depend on how long it takes to answer."""

import re
import threading
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from builders.chats import Clock
from conftest import OpenMemory

from episodic_agent import Memory
from episodic_agent.providers.models.staged import StagedModel
from episodic_agent.schemas import Json
from episodic_agent.testing.models import ScriptedModel

NOW = datetime(2026, 4, 13, 9, tzinfo=UTC)
LONG_AGO = NOW - timedelta(days=200)  # a history that is imported: nothing of it ended just now
PATIENCE = 120.0  # seconds until a test that hangs fails
SUBJECTS = ("the ferry to Gozo", "the kiln of the pottery studio", "the hedge of the allotment")
FIELDS = {"tags": ["a"], "outcome": "ongoing"}


def history() -> list[dict[str, Json]]:
    """Return three sittings of ten messages on one channel, a day apart."""
    messages: list[dict[str, Json]] = []
    for day, subject in enumerate(SUBJECTS):
        for n in range(10):
            at = LONG_AGO + timedelta(days=day, minutes=n)
            text = f"About {subject} there is to be said, as number {n} of this list, that it takes patience"
            messages.append({"role": "user", "content": text, "timestamp": at})
    return messages


class Reader:
    """A model that tells each conversation in one part; `slow`: an answer about facts waits to be let."""

    def __init__(self, *, slow: bool) -> None:
        self.asked: Counter[str] = Counter()
        self.under_way, self.let = threading.Event(), threading.Event()
        if not slow:
            self.let.set()
        self.model = ScriptedModel(respond=self._respond)

    def _respond(self, prompt: str, stage: str) -> Mapping[str, Json]:
        self.asked[stage] += 1
        if stage == "facts":
            self.under_way.set()
            assert self.let.wait(PATIENCE)
            return {"parts": list(self._parts(prompt)), "facts": []}
        return {"micro": "It was told.", "meso": "It was told at length.", "macro": ""}

    @staticmethod
    def _parts(prompt: str) -> list[Json]:
        parts: list[Json] = []
        for talk in re.split(r"^Conversation", prompt, flags=re.MULTILINE)[1:]:
            names = re.findall(r"^(m\d+) · ", talk, flags=re.MULTILINE)
            subject = next(one for one in SUBJECTS if one in talk)
            told = f"The user said that {subject} takes patience."
            parts.append({"begins": names[0], "ends": names[-1], "title": subject, "summary": told, **FIELDS})
        return parts


def played(open_memory: OpenMemory, folder: Path, reader: Reader, *, slow: bool) -> Memory:
    """Import the history in one process while another keeps up with what is due; return the latter."""
    clock = Clock(NOW)
    stages = StagedModel(None, dict.fromkeys(("facts", "episode", "compact"), reader.model))
    more = {"clock": clock, "policy": "seed-001", "embedder": "hashing", "language_model": stages}
    importing, keeping = (open_memory(folder / "memory.db", **more) for _ in range(2))
    user = importing.user("gem", new=True)

    def work() -> None:
        user.add(history(), channel="sms")
        user.flush()
        user.upkeep(now=clock.now)

    thread = threading.Thread(target=work)
    thread.start()
    if slow:
        assert reader.under_way.wait(PATIENCE)
        for _ in range(3):  # what is due is done by whoever comes, and asked for again when it waits
            clock.now += timedelta(seconds=1)
            keeping.user("gem").upkeep(now=clock.now)
        reader.let.set()
    thread.join(PATIENCE)
    assert not thread.is_alive()
    for hours in (1, 21, 22, 46, 47):  # what was too little for a question waits a day for more
        clock.now = NOW + timedelta(hours=hours)
        keeping.user("gem").upkeep(now=clock.now)
    return keeping


@pytest.mark.slow
@pytest.mark.parametrize("slow", [False, True], ids=["fast", "slow"])
def test_the_same_talk_costs_the_same_calls_however_slow_the_model_is(
    open_memory: OpenMemory, tmp_path: Path, *, slow: bool
) -> None:
    reader = Reader(slow=slow)
    memory = played(open_memory, tmp_path, reader, slow=slow)
    parts = memory.user("gem").sections.list()
    assert parts
    assert all(part.meso.startswith("The user said that") for part in parts)
    assert dict(reader.asked) == {"facts": 1}


def test_a_part_waits_some_days_for_a_question_that_nobody_asks(
    open_memory: OpenMemory, tmp_path: Path
) -> None:
    clock, reader = Clock(NOW), Reader(slow=False)
    stages = StagedModel(None, dict.fromkeys(("facts", "episode", "compact"), reader.model))
    path = tmp_path / "memory.db"
    memory = open_memory(path, clock=clock, policy="seed-001", embedder="hashing", language_model=stages)
    user = memory.user("gem", new=True)
    for day in range(2):  # a message a day later begins the next part
        user.add(
            f"About {SUBJECTS[day]} there is to be said that it takes patience",
            thread="t",
            timestamp=clock.now,
        )
        user.flush()
        clock.now += timedelta(hours=25)
    for _ in range(6):
        memory.jobs.run()
        clock.now += timedelta(days=1)
    assert memory.jobs.list() == []
