"""Whole stories on both stores: each file tells what is said, and what must be so at each point of it."""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from builders.chats import Clock

from episodic_agent import Memory
from episodic_agent.core.context.tokens import estimate
from episodic_agent.errors import InvalidInput
from episodic_agent.schemas import EpisodeKind, Thread

STORIES = sorted((Path(__file__).parents[1] / "scenarios" / "acceptance").glob("*.json"))
Step = Mapping[str, Any]
LIMITS = {"micro": 100, "meso": 500, "macro": 1000}  # tokens


@pytest.mark.parametrize("path", STORIES, ids=lambda path: path.stem)
def test_a_story_goes_as_it_is_told(path: Path, url: str, clock: Clock) -> None:
    story = json.loads(path.read_text(encoding="utf-8"))
    linked = story.get("link_policy", "default")
    with Memory.open(url, embedder="hashing", policy="seed-001", link_policy=linked, clock=clock) as memory:
        if "timeout" in story:
            memory.set_timeout(story["timeout"])
        teller = Teller(memory, clock)
        for step in story["steps"]:
            teller.tell(step)


class Teller:
    """Tells a story to a memory; `names` are what the story calls the threads."""

    def __init__(self, memory: Memory, clock: Clock) -> None:
        self.memory = memory
        self.clock = clock
        self.names: dict[str, UUID] = {}

    def tell(self, step: Step) -> None:
        acts: Mapping[str, Callable[[Step], object]] = {
            "say": self.say,
            "select": self.select,
            "rename": lambda step: self.memory.rename_thread(self.origin(step["rename"]), step["title"]),
            "close": lambda step: self.memory.close_thread(self.origin(step["close"])),
            "unlink": lambda step: self.memory.unlink(*map(self.origin, step["unlink"])),
            "context": self.context,
            "compacted": self.compacted,
            "expect": self.expect,
        }
        (act,) = [acts[key] for key in step if key in acts]
        act(step)

    def say(self, step: Step) -> None:
        at = datetime.fromisoformat(step["at"])
        self.clock.now = max(self.clock.now, at)
        before = {thread.id for thread in self.memory.threads()}
        given = {name: step.get(name) for name in ("channel", "thread", "id")}
        if "refused" in step:
            with pytest.raises(InvalidInput, match=step["refused"]):
                self.memory.add(step["say"], timestamp=at, **given)
            return
        (receipt,) = self.memory.add(step["say"], role=step.get("role", "user"), timestamp=at, **given)
        assert receipt.added == step.get("added", True)
        name = step["in"]
        if name not in self.names:
            assert receipt.thread_id not in before, f"{step['say']!r} opens no thread"
            self.names[name] = receipt.thread_id
        assert receipt.thread_id == self.names[name], step["say"]

    def select(self, step: Step) -> None:
        self.clock.now = max(self.clock.now, datetime.fromisoformat(step["at"]))
        self.memory.select_thread(self.origin(step["select"]), now=datetime.fromisoformat(step["at"]))

    def context(self, step: Step) -> None:
        thread = step.get("thread")
        found = self.memory.context(
            step["context"], thread=thread, channel=step["channel"], at=datetime.fromisoformat(step["at"])
        )
        assert step.get("text", found.text) == found.text
        assert [words for words in step.get("has", ()) if words not in found.text] == []
        assert [words for words in step.get("lacks", ()) if words in found.text] == []

    def compacted(self, step: Step) -> None:
        """Expect the parts of a thread to be told within the limits, and the words to be there still."""
        thread = self.thread(step["compacted"])
        done = self.memory.summaries(thread=thread.origin, limit=100)
        parts = [self.memory.get(identity) for identity in self.memory.part_ids()]
        own = [part for part in parts if part.thread_id == thread.id]
        assert (len(own), len(done)) == (step["parts"], step.get("done", step["parts"]))
        for part in done:
            for name, limit in LIMITS.items():
                text = getattr(part, name)
                assert estimate(text) <= limit, (name, text)
            assert part.micro
            assert part.meso
        told = " ".join(part.meso for part in done)
        assert [words for words in step.get("has", ()) if words not in told] == []
        if query := step.get("found_by"):
            assert self.memory.summaries(query)[0].thread_id == thread.id
            assert any(e.observation.thread_id == thread.id for e in self.memory.search(query).observations)
        if kept := step.get("observations"):
            (part,) = done
            assert len(self.memory.messages(part.episode_id)) == kept

    def expect(self, step: Step) -> None:
        wanted = step["expect"]
        if "thread" in wanted:
            self.expect_thread(wanted)
        if "threads" in wanted:
            assert len(self.memory.threads()) == wanted["threads"]
        if "linked" in wanted:
            found = {frozenset((card.earlier.id, card.later.id)) for card in self.memory.links()}
            assert found == {frozenset(self.names[name] for name in pair) for pair in wanted["linked"]}
        if "whole" in wanted:
            self.expect_whole(wanted["whole"])
        for name in wanted.get("alone", ()):
            assert self.record(name)["cross_thread_episodes"] == []

    def expect_thread(self, wanted: Step) -> None:
        thread = self.thread(wanted["thread"])
        found = {
            "status": thread.status,
            "turns": thread.turn_count,
            "channels": list(thread.channels),
            "created": thread.created_at,
            "active": thread.last_activity_at,
            "explicit": thread.explicit,
        }
        fields = {key: value for key, value in wanted.items() if key != "thread"}
        times = {key: datetime.fromisoformat(fields[key]) for key in ("created", "active") if key in fields}
        assert {key: found[key] for key in fields} == {**fields, **times}
        assert self.record(wanted["thread"])["turn_count"] == thread.turn_count

    def expect_whole(self, names: Sequence[str]) -> None:
        wholes = {tuple(self.record(name)["cross_thread_episodes"]) for name in names}
        ((episode_id,),) = wholes  # one, and the same for all
        episode = self.memory.get(episode_id)
        assert episode.kind is EpisodeKind.CROSS_THREAD
        linked = episode.metadata["linked_threads"]
        assert isinstance(linked, Sequence)
        assert list(linked) == [str(self.names[name]) for name in names]  # in order of creation

    def thread(self, name: str) -> Thread:
        return next(t for t in self.memory.threads() if t.id == self.names[name])

    def origin(self, name: str) -> str:
        return self.thread(name).origin

    def record(self, name: str) -> Mapping[str, Any]:
        return self.memory.thread(self.origin(name)).record
