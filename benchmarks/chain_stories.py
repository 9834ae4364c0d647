"""How sessions are chained by the whole engine: `python -m benchmarks.chain_stories [--embedder NAME]`.

The stories are those of the tests (tests/scenarios/arcs), each told session by session to a memory of its
own, on event time. They were written before anything was run on them, and nothing was fitted to them.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from benchmarks.chain_cases import figures, pairs
from benchmarks.provenance import ROOT
from benchmarks.users import mine
from episodic_agent import Memory
from episodic_agent.engine.user import UserMemory
from episodic_agent.protocols import Embedder
from episodic_agent.wiring import load_settings, make_embedder

STORIES = ROOT / "tests" / "scenarios" / "arcs"
APART = timedelta(minutes=2)  # from message to message of a session
OVER = timedelta(minutes=30)  # after a session's begin it is closed
Parents = dict[str, str | None]


@dataclass(frozen=True, slots=True)
class Story:
    """A user's sessions over weeks, and what is true of them.

    `after` names each session's parent, `also` parents as good. `apart` are look-alikes that belong to
    different arcs; `topic` is told by the sessions `told`, in this order.
    """

    name: str
    language: str
    sessions: Sequence[Mapping[str, Any]]
    after: Parents
    also: Mapping[str, Sequence[str]]
    apart: Sequence[tuple[str, str]]
    topic: str
    told: Sequence[str]


@dataclass(frozen=True, slots=True)
class Found:
    """What the engine made of a story: each session's episode, its parent, and what the replay told."""

    episodes: Mapping[str, UUID]
    parents: Parents
    replayed: Sequence[str]

    @property
    def together(self) -> set[tuple[str, str]]:
        """Return the pairs of sessions that stand in one arc."""
        return pairs(self.parents)


class Hand:
    """A clock that is set by hand; it never goes back."""

    def __init__(self) -> None:
        self.now = datetime.fromisoformat("2020-01-01T00:00:00Z")

    def __call__(self) -> datetime:
        """Return the time it was set to."""
        return self.now

    def reach(self, at: datetime) -> None:
        """Go on to a time."""
        self.now = max(self.now, at)


def read_story(path: Path) -> Story:
    """Read a story's file."""
    raw = json.loads(path.read_text(encoding="utf-8"))
    sessions = raw["sessions"]
    return Story(
        name=raw["name"],
        language=raw["language"],
        sessions=sessions,
        after={one["id"]: one["after"] for one in sessions},
        also={one["id"]: one.get("also", ()) for one in sessions},
        apart=[(a, b) for a, b in raw["apart"]],
        topic=raw["replay"]["topic"],
        told=raw["replay"]["order"],
    )


def read_stories(folder: Path = STORIES) -> list[Story]:
    """Read all stories of a folder, by name."""
    return [read_story(path) for path in sorted(folder.glob("*.json"))]


def tell(story: Story, memory: UserMemory, clock: Hand) -> Found:
    """Tell a story session by session, each in a thread of its own that is closed; ask for it at the end."""
    episodes: dict[str, UUID] = {}
    for session in story.sessions:
        begins = datetime.fromisoformat(session["at"])
        statements = [
            {"role": role, "content": text, "timestamp": (begins + n * APART).isoformat()}
            for n, (role, text) in enumerate(session["said"])
        ]
        clock.reach(begins + OVER)
        memory.add(statements, thread=session["id"])
        memory.threads.close(session["id"])
        memory.jobs.run()
        (section,) = memory.sections.list(thread=session["id"], limit=1)
        episodes[session["id"]] = section.episode_id
    names = {identity: name for name, identity in episodes.items()}
    parents: Parents = {}
    for name, identity in episodes.items():
        above = memory.episodes.get(identity).parent_episode_id
        parents[name] = None if above is None else names[above]
    threads = {thread.id: thread.origin for thread in memory.threads.list()}
    replayed = [threads[one.thread_id] for one in memory.chains.sequence(story.topic)]
    return Found(episodes, parents, list(dict.fromkeys(replayed)))


def judged(stories: Sequence[Story], results: Sequence[Found]) -> dict[str, Any]:
    """Return pair and parent figures over all stories, look-alikes kept apart, and what replays tell."""
    both = list(zip(stories, results, strict=True))
    good = [
        {n: f.parents[n] if f.parents[n] in s.also[n] else p for n, p in s.after.items()} for s, f in both
    ]
    edges = [{(n, p) for n, p in one.items() if p} for one in good]
    mixed = sum(len(_mixed(s, f)) for s, f in both)
    return {
        **figures([f.together for _, f in both], [pairs(s.after) for s, _ in both]),
        "parents": figures([{(n, p) for n, p in f.parents.items() if p} for _, f in both], edges),
        "look-alikes": sum(len(s.apart) for s in stories),
        "look-alikes chained": mixed,
        "replay": figures([set(f.replayed) for _, f in both], [set(s.told) for s in stories]),
        "stories": {s.name: figures([f.together], [pairs(s.after)])["f1"] for s, f in both},
    }


def _mixed(story: Story, result: Found) -> list[tuple[str, str]]:
    """Return the look-alikes that were chained."""
    return [pair for pair in story.apart if tuple(sorted(pair)) in result.together]


def previous(story: Story) -> Found:
    """Return what chaining each session to the one before it would make."""
    names = [one["id"] for one in story.sessions]
    return Found({}, dict(zip(names, [None, *names], strict=False)), names)


@contextmanager
def fresh(embedder: Embedder | str) -> Iterator[tuple[Memory, Hand]]:
    """Open a memory on a new file, with a clock that is set by hand."""
    clock = Hand()
    with (
        tempfile.TemporaryDirectory(prefix="episodic-") as folder,
        Memory.open(Path(folder) / "memory.db", embedder=embedder, clock=clock) as memory,
    ):
        yield memory, clock


def main(arguments: Sequence[str] | None = None) -> int:
    """Tell every story and print the figures as JSON, one line for each way of chaining."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.chain_stories", description=__doc__)
    parser.add_argument("--embedder", default="minilm", help="minilm, hashing or none")
    options = parser.parse_args(arguments)
    stories = read_stories()
    print(json.dumps({"the previous session": judged(stories, list(map(previous, stories)))}))
    embedder = make_embedder(options.embedder, load_settings()) or "none"
    result = []
    for story in stories:
        with fresh(embedder) as (memory, clock):
            result.append(tell(story, mine(memory), clock))
    print(json.dumps({f"default, {options.embedder}": judged(stories, result)}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
