"""Whole stories on both stores: each file tells what is said, and what must be so at each point of it."""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from builders.chats import Clock, mine

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
            mine(memory).threads.set_timeout(story["timeout"])
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
            "rename": lambda step: mine(self.memory).threads.rename(
                self.origin(step["rename"]), step["title"]
            ),
            "close": lambda step: mine(self.memory).threads.close(self.origin(step["close"])),
            "unlink": lambda step: mine(self.memory).links.remove(*map(self.origin, step["unlink"])),
            "context": self.context,
            "compacted": self.compacted,
            "expect": self.expect,
        }
        (act,) = [acts[key] for key in step if key in acts]
        act(step)

    def say(self, step: Step) -> None:
        at = datetime.fromisoformat(step["at"])
        self.clock.now = max(self.clock.now, at)
        before = {thread.id for thread in mine(self.memory).threads.list()}
        arguments = {name: step.get(name) for name in ("channel", "thread", "id")}
        if "refused" in step:
            with pytest.raises(InvalidInput, match=step["refused"]):
                mine(self.memory).add(step["say"], timestamp=at, **arguments)
            return
        (receipt,) = mine(self.memory).add(
            step["say"], role=step.get("role", "user"), timestamp=at, **arguments
        )
        assert receipt.added == step.get("added", True)
        name = step["in"]
        if name not in self.names:
            assert receipt.thread_id not in before, f"{step['say']!r} opens no thread"
            self.names[name] = receipt.thread_id
        assert receipt.thread_id == self.names[name], step["say"]

    def select(self, step: Step) -> None:
        self.clock.now = max(self.clock.now, datetime.fromisoformat(step["at"]))
        mine(self.memory).threads.select(self.origin(step["select"]), now=datetime.fromisoformat(step["at"]))

    def context(self, step: Step) -> None:
        thread = step.get("thread")
        context = mine(self.memory).context(
            step["context"],
            thread=thread,
            channel=step["channel"],
            at=datetime.fromisoformat(step["at"]),
            form="seed-002",
        )
        assert step.get("text", context.text) == context.text
        assert [words for words in step.get("has", ()) if words not in context.text] == []
        assert [words for words in step.get("lacks", ()) if words in context.text] == []

    def compacted(self, step: Step) -> None:
        """Expect the parts of a thread to be told within the limits, and the words to be there still."""
        thread = self.thread(step["compacted"])
        done = mine(self.memory).sections.list(thread=thread.origin, limit=100)
        parts = [mine(self.memory).episodes.get(identity) for identity in mine(self.memory).sections.ids()]
        own = [part for part in parts if part.thread_id == thread.id]
        assert (len(own), len(done)) == (step["parts"], step.get("done", step["parts"]))
        for section in done:
            for name, limit in LIMITS.items():
                text = getattr(section, name)
                assert estimate(text) <= limit, (name, text)
            assert section.micro
            assert section.meso
        answer = " ".join(part.meso for part in done)
        assert [words for words in step.get("has", ()) if words not in answer] == []
        if query := step.get("found_by"):
            assert mine(self.memory).sections.list(query)[0].thread_id == thread.id
            assert any(
                e.observation.thread_id == thread.id for e in mine(self.memory).search(query).observations
            )
        if remaining := step.get("observations"):
            (section,) = done
            assert len(mine(self.memory).episodes.messages(section.episode_id)) == remaining

    def expect(self, step: Step) -> None:
        target = step["expect"]
        if "thread" in target:
            self.expect_thread(target)
        if "threads" in target:
            assert len(mine(self.memory).threads.list()) == target["threads"]
        if "linked" in target:
            identifiers = {
                frozenset((card.earlier.id, card.later.id)) for card in mine(self.memory).links.list()
            }
            assert identifiers == {frozenset(self.names[name] for name in pair) for pair in target["linked"]}
        if "whole" in target:
            self.expect_whole(target["whole"])
        for name in target.get("alone", ()):
            assert self.record(name)["cross_thread_episodes"] == []

    def expect_thread(self, target: Step) -> None:
        thread = self.thread(target["thread"])
        values = {
            "status": thread.status,
            "turns": thread.turn_count,
            "channels": list(thread.channels),
            "created": thread.created_at,
            "active": thread.last_activity_at,
            "explicit": thread.explicit,
        }
        fields = {key: value for key, value in target.items() if key != "thread"}
        times = {key: datetime.fromisoformat(fields[key]) for key in ("created", "active") if key in fields}
        assert {key: values[key] for key in fields} == {**fields, **times}
        assert self.record(target["thread"])["turn_count"] == thread.turn_count

    def expect_whole(self, names: Sequence[str]) -> None:
        full_episodes = {tuple(self.record(name)["cross_thread_episodes"]) for name in names}
        ((episode_id,),) = full_episodes  # one, and the same for all
        episode = mine(self.memory).episodes.get(episode_id)
        assert episode.kind is EpisodeKind.CROSS_THREAD
        linked = episode.metadata["linked_threads"]
        assert isinstance(linked, Sequence)
        assert list(linked) == [str(self.names[name]) for name in names]  # in order of creation

    def thread(self, name: str) -> Thread:
        return next(t for t in mine(self.memory).threads.list() if t.id == self.names[name])

    def origin(self, name: str) -> str:
        return self.thread(name).origin

    def record(self, name: str) -> Mapping[str, Any]:
        return mine(self.memory).threads.get(self.origin(name)).record
