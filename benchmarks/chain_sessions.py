"""How framed sessions are chained: `python -m benchmarks.chain_sessions [--half HALF] [--embedder NAME]`.

Lives of agents that frame their work with a topic, an outcome and decisions (benchmarks/cases/sessions):
several matters alive at once, most of what begins new beside others of the same project. Each is played to a
memory of its own, on event time. Counted are sessions by the parent they have when they open and when they
have ended; a wrong parent puts another matter into the next prompt, so that wrong is worse than missed.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from benchmarks.chain_stories import Hand, Parents, fresh
from benchmarks.users import mine
from episodic_agent.engine.user import UserMemory
from episodic_agent.wiring import load_settings, make_embedder

SESSIONS: Final = Path(__file__).parent / "cases" / "sessions"
HALVES: Final = ("dev", "frozen")
APART: Final = timedelta(minutes=2)  # from message to message of a session
RIGHT, NONE, WRONG, MISSED = "right parent", "rightly none", "wrong parent", "missed"


@dataclass(frozen=True, slots=True)
class Life:
    """An agent's sessions; `allowed` holds each one's right parents, None where it may have none."""

    name: str
    sessions: Sequence[Mapping[str, Any]]
    allowed: Mapping[str, frozenset[str | None]]


def lives(half: str, folder: Path = SESSIONS) -> list[Life]:
    """Read the lives of one half; nothing of the other half is looked at beyond its mark."""
    raw = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]
    return [
        Life(
            one["name"],
            one["sessions"],
            {s["id"]: frozenset([s["parent"], *s.get("also_ok", ())]) for s in one["sessions"]},
        )
        for one in raw
        if one["half"] == half
    ]


def play(life: Life, memory: UserMemory, clock: Hand) -> tuple[Parents, Parents]:
    """Play a life session by session, return each one's parent when it opened and when all had ended."""
    names: dict[UUID | None, str] = {}
    opened: Parents = {}
    for session in life.sessions:
        at = datetime.fromisoformat(session["at"])
        clock.reach(at)
        started = memory.sessions.start(
            session["topic"], thread=session["id"], channel=session["channel"], timestamp=at
        )
        names[started.id] = session["id"]
        opened[session["id"]] = names.get(started.parent_episode_id)
        for number, (role, text) in enumerate(session["messages"], start=1):
            clock.reach(at + number * APART)
            memory.add(_observed(role, text, clock.now), thread=session["id"], channel=session["channel"])
        memory.sessions.end(started.id, session["outcome"], key_decisions=session["decisions"])
        memory.jobs.run()
    ended = {one.id: one.parent_episode_id for one in memory.sessions.list(limit=len(names))}
    return opened, {names[one]: names.get(parent) for one, parent in ended.items()}


def _observed(role: str, text: str, at: datetime) -> dict[str, Any]:
    if role == "step":
        action, _, outcome = text.partition(" -> ")
        return {"kind": "step", "action": action, "content": action, "outcome": outcome, "timestamp": at}
    if role == "tool":
        call, _, result = text.partition(" -> ")
        name, _, argument = call.partition(" ")
        return {"role": role, "name": name, "arguments": {"on": argument}, "result": result, "timestamp": at}
    return {"role": role, "content": text, "timestamp": at}


def counted(life: Life, parents: Parents) -> Counter[str]:
    """Count a life's sessions by what their parents are.

    >>> life = Life("two", [], {"a": frozenset([None]), "b": frozenset(["a"])})
    >>> sorted(counted(life, {"a": None, "b": None}).items())
    [('missed', 1), ('rightly none', 1)]
    """
    counts: Counter[str] = Counter()
    for name, allowed in life.allowed.items():
        parent = parents[name]
        wrong = MISSED if parent is None else WRONG
        counts[(NONE if parent is None else RIGHT) if parent in allowed else wrong] += 1
    return counts


def main(arguments: Sequence[str] | None = None) -> int:
    """Play every life and print the counts as JSON, one line a life and one for all; wrong ones by name."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.chain_sessions", description=__doc__)
    parser.add_argument("--half", choices=HALVES, default="dev")
    parser.add_argument("--embedder", default="minilm", help="minilm, hashing or none")
    parser.add_argument("--each", action="store_true", help="name the sessions that are not right")
    options = parser.parse_args(arguments)
    embedder = make_embedder(options.embedder, load_settings()) or "none"
    total: dict[str, Counter[str]] = {"open": Counter(), "end": Counter()}
    for life in lives(options.half):
        with fresh(embedder) as (memory, clock):
            both = dict(zip(("open", "end"), play(life, mine(memory), clock), strict=True))
        counts = {stage: counted(life, parents) for stage, parents in both.items()}
        print(json.dumps({life.name: counts}))
        for stage, parents in both.items():
            total[stage] += counts[stage]
            for name, allowed in life.allowed.items() if options.each else ():
                if parents[name] not in allowed:
                    print(f"  {stage}: {name} <- {parents[name]}, not {sorted(map(str, allowed))}")
    print(json.dumps({"all": total}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
