"""What somebody took on, as it is asked for: `python -m benchmarks.commitments [--embedder NAME]`.

The stories (`benchmarks/cases/commitments.jsonl`) are weeks of several people's talk, and of somebody with
an assistant, in eight languages: promises, tasks and to-dos, some of them done or handed over since, and
what only looks like one. They were written by hands that never saw the code; those of `taught` taught the
choice, and with those of `settled` which later message settles what; the `frozen` ones, and `chats` with an
assistant, were run, never read. Each story names what was taken on (`tasks`) and which messages settled it.
"""

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.provenance import ROOT
from episodic_agent import Memory
from episodic_agent.engine.user import UserMemory
from episodic_agent.protocols import Embedder
from episodic_agent.wiring import load_settings, make_embedder

CASES = ROOT / "benchmarks" / "cases" / "commitments.jsonl"
HALVES = ("taught", "settled", "frozen", "chats", "sittings", "sittings frozen")
LABELS = ("open", "done", "wrong")
TOKENS = 800
HITS = 8
BEGINNING = 60  # characters by which a message is known in a context


def read_stories(half: str, path: Path = CASES) -> list[dict[str, Any]]:
    """Read the stories of a half, in the order of the file."""
    stories = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return [story for story in stories if story["half"] == half]


def moment(written: str) -> datetime:
    """Return a time that a story writes without a zone."""
    return datetime.fromisoformat(written).replace(tzinfo=UTC)


def play(memory: Memory, story: Mapping[str, Any]) -> UserMemory:
    """Return the memory of whose story it is, with all that was said."""
    user = memory.user(story["user"], new=True)
    for said in story["messages"]:
        message = {"role": said["who"], "content": said["text"], "timestamp": moment(said["time"])}
        place = {name: said[name] for name in ("thread", "channel") if name in said}
        user.add([{**message, "id": said["id"]}], **place)
    user.flush()
    return user


def answers(
    story: Mapping[str, Any], embedder: Embedder | None
) -> Iterator[tuple[Mapping[str, Any], set[str], set[str]]]:
    """Yield each question of a story, with the messages that a context tells it and those a search finds."""
    beginnings = {said["id"]: said["text"][:BEGINNING] for said in story["messages"]}
    with Memory.open(":memory:", embedder=embedder or "none") as memory:
        user = play(memory, story)
        for question in story["questions"]:
            at = moment(question["time"])
            text = user.context(question["text"], at=at, max_tokens=TOKENS).text
            hits = user.search(question["text"], now=at, observations=HITS).observations
            told = {name for name, beginning in beginnings.items() if beginning in text}
            yield question, told, {str(hit.observation.external_id) for hit in hits}


def measure(embedder: Embedder | None, half: str) -> dict[str, float]:
    """Return of what is open, done and only alike which share contexts tell and searches find."""
    counts: Counter[str] = Counter()
    for story in read_stories(half):
        settled = {task["by"]: {*task["settled"]} for task in story["tasks"]}
        for question, told, hits in answers(story, embedder):
            counts["questions"] += 1
            for label in LABELS:
                wanted = set(question[label])
                counts[label] += len(wanted)
                counts[f"{label} told"] += len(wanted & told)
                counts[f"{label} in {HITS} messages"] += len(wanted & hits)
            counts["as if open"] += sum(not settled[task] & told for task in {*question["done"]} & told)
    shares = {
        name: counts[name] / counts[label]
        for label in LABELS
        if counts[label]  # of some stories nobody named what only looks alike
        for name in (f"{label} told", f"{label} in {HITS} messages")
    }
    shares["done told as if open"] = counts["as if open"] / counts["done"]
    return {"questions": counts["questions"], **{name: round(share, 3) for name, share in shares.items()}}


def main() -> None:
    """Print the figures of both halves, one JSON object a line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--embedder", default="minilm", help="its name, or none")
    options = parser.parse_args()
    named = None if options.embedder == "none" else options.embedder
    embedder = None if named is None else make_embedder(named, load_settings())
    for half in HALVES:
        print(json.dumps({"half": half, **measure(embedder, half)}))


if __name__ == "__main__":
    main()
