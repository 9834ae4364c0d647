"""The other end of `crash_child`: orders lives, ends them, and checks what each finds of those before it.

A database is named by a path or a URL, so that whatever one store must survive the other must too.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks import lives
from benchmarks.lives import KILLED, KillServer, Life
from episodic_agent.data import demo_folder

DEMO = demo_folder()
POLICIES = ("default", "seed-001")
ORIGIN = "maya-family"
EACH = 3  # of the times a point is reached, how many-th is tried; each point begins with another


# --- the server and its lives ---------------------------------------------------------------------------


@contextmanager
def serving(prefix: Sequence[str] = ()) -> Iterator[KillServer]:
    """Start the kill server `crash_child`, `prefix` before its command."""
    with lives.serving("engine.crash_child", prefix=prefix, policy="default") as started:
        yield started


def acknowledged(life: Life) -> list[str]:
    return [one for ids in life.all("acknowledged") for one in ids]


@dataclass
class Story:
    """One file of messages, lived through again and again in one database."""

    server: KillServer
    db: str
    file: str
    policy: str = "default"
    plan: str = "add"
    batches: Sequence[int] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    kills: int = 0
    lives: int = 0
    promised: dict[str, None] = field(default_factory=dict)  # acknowledged so far, in order

    def live(self, **death: Any) -> Life:
        """Live once; check what this life found of the lives before it."""
        life = self.order(self.plan, death)
        self.lives += 1
        if self.plan == "add" and life.said:
            stored = life.said[0]["stored"].get(ORIGIN, [])
            assert len(set(stored)) == len(stored)
            assert [one for one in stored if one in self.promised] == list(self.promised)
            assert life.said[0]["sick"] == []
        self.promised |= dict.fromkeys(acknowledged(life))
        assert life.ended == KILLED if death and life.ended else life.ended == 0
        self.kills += life.ended == KILLED
        return life

    def end(self) -> "Mapping[str, Any]":
        """Return what is there in the end; it must be sound and everything promised must be in it."""
        results = self.order("inspect", {}).said[0]
        assert results["sick"] == []
        assert results["jobs"] == [], results["jobs"]
        stored = [one for ids in results["stored"].values() for one in ids]
        assert len(set(stored)) == len(stored)
        assert set(self.promised) <= set(stored)
        return results

    def order(self, plan: str, death: Mapping[str, Any]) -> Life:
        answers = dict(self.options) | {"plan": plan, "db": self.db, "file": self.file, "die": death}
        return self.server.live(policy=self.policy, batches=self.batches, **answers)


# --- what is told in them -------------------------------------------------------------------------------


def write_chat(folder: Path, messages: int | None = None) -> str:
    """Write the first messages (all without a number) of a conversation the project ships; return the path."""
    path = folder / f"{ORIGIN}.jsonl"
    lines = (DEMO / path.name).read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join(lines[:messages]) + "\n", encoding="utf-8")
    return str(path)


def batches_of(file: str, rng: random.Random | None, largest: int = 8) -> list[int]:
    """Split a file's messages into random batches (without `rng`: one by one)."""
    left = len(Path(file).read_text(encoding="utf-8").splitlines())
    sizes: list[int] = []
    while left:
        sizes.append(min(left, rng.randint(1, largest) if rng else 1))
        left -= sizes[-1]
    return sizes


_LEFT: dict[tuple[str, str, str], Mapping[str, Any]] = {}  # by file, policy and plan


def undisturbed(
    server: KillServer, folder: Path, file: str, policy: str, plan: str = "add"
) -> Mapping[str, Any]:
    """Return what a run that nobody disturbed leaves, message by message; it is lived once a process."""
    if (file, policy, plan) not in _LEFT:
        _LEFT[file, policy, plan] = _lived(server, folder, file, policy, plan)
    return _LEFT[file, policy, plan]


def _lived(server: KillServer, folder: Path, file: str, policy: str, plan: str) -> Mapping[str, Any]:
    story = Story(server, str(folder / "undisturbed.db"), file, policy, plan, batches_of(file, None))
    assert story.live().word("done")
    results = story.end()
    assert sum(len(episodes) for episodes in results["episodes"].values()) > len(results["episodes"])
    return results


def walk(story: Story, point: str) -> None:
    """Kill at the next reach of a point; at one further on when a life got no further than the last."""
    count = 1
    while not (life := story.live(point=point, count=count)).word("done"):
        new = len(acknowledged(life)) > len(life.said[0]["stored"].get(ORIGIN, [])) if life.said else False
        count = 1 if new else count + 1


def torment(story: Story, rng: random.Random, lives: int, events: int) -> None:
    """End up to `lives` lives after a random number of calls of any function, then let one go on to the end."""
    while story.lives < lives and not story.live(events=rng.randrange(1, events)).word("done"):
        pass
    assert story.live().word("done")
