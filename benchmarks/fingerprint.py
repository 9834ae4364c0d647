"""What the engine decides, as digests: `python -m benchmarks.fingerprint [--data DIR] [--stores …]`.

Conversations and steps are told to a memory whose clock and random bits are given, under every policy; what
it then holds (its export, noun by noun) and answers is digested section by section. A change of the code that
must change no decision leaves every digest equal, on each store and on both alike; where one differs,
`--dump DIR` writes what it was made of.

Floats are rounded to six digits, for they may differ in the last bits between processors. Without `--data`
only what comes with the package is told; that is what the test keeps (`tests/engine/test_fingerprint.py`).
"""

import argparse
import hashlib
import json
import random
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, is_dataclass
from datetime import UTC, datetime, timedelta
from enum import Enum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import UUID

from benchmarks.servers import server
from episodic_agent.agents.sensors.lines import ReplaySensor
from episodic_agent.data import demo_folder
from episodic_agent.engine.deps import Deps
from episodic_agent.engine.memory import Memory
from episodic_agent.protocols import Embedder
from episodic_agent.wiring import load_settings, make_embedder, make_store, resolver

SHIPPED = demo_folder()
USER = "fingerprint"
SEED = 20_261_122
FIRST_DAY = datetime(2026, 1, 1, tzinfo=UTC)
DIGITS = 6
STEPS = 400  # of the walk that comes with the package
STORES = ("sqlite", "postgres")
MEASURED = ("paths",)  # how long judges took: what a record holds that no decision rests on

LATER = (
    "ended_by",
    "decisions",
    "days",
)  # fields that came after the digests: where they hold nothing, nothing changed

Record = Any
Sections = dict[str, list[Record]]


@dataclass(frozen=True, slots=True)
class Setup:
    """The policies a memory is opened with."""

    name: str
    policy: str = "default"
    links: str = "link-2026-12"
    chains: str = "chain-2026-12"
    recall: tuple[str, ...] = ("default", "seed-003")


TALK = (
    Setup("default"),
    Setup("seeds", policy="seed-001", links="seed-002", chains="seed-004"),
    Setup("dual channel", policy="seed-001", recall=("default",)),
)
WALKS = ("steps-2027-01", "steps-2026-12", "seed-000", "stub")


@dataclass(frozen=True, slots=True)
class Corpus:
    """One person's messages in order of time, and what is asked at the end."""

    name: str
    messages: Sequence[Mapping[str, Any]]
    questions: Sequence[str]


class Clock:
    """A clock that goes along with what is told, and never back."""

    def __init__(self) -> None:
        self.now = FIRST_DAY

    def __call__(self) -> datetime:
        """Return the moment that was reached."""
        return self.now

    def reach(self, moment: datetime) -> None:
        """Go on to a moment, unless it is past already."""
        self.now = max(self.now, moment)


# --- what is told ---------------------------------------------------------------------------------------


def shipped() -> list[Corpus]:
    """Return the conversations that come with the package, each user's as one corpus."""
    asked = json.loads((SHIPPED / "questions.json").read_text(encoding="utf-8"))
    maya = [
        {**json.loads(line), "conversation_id": path.stem}
        for path in sorted(SHIPPED.glob("maya-*.jsonl"))
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    tim = json.loads((SHIPPED / "tim-channels.json").read_text(encoding="utf-8"))
    questions = [one["question"] for one in asked]
    return [
        Corpus("maya", sorted(maya, key=lambda m: m["timestamp"]), questions),
        Corpus("tim", tim, ["which documents for the car?", "how long does it take?"]),
        _three_days(),
    ]


def _three_days() -> Corpus:
    story = json.loads((SHIPPED / "noor-three-days.json").read_text(encoding="utf-8"))
    messages = [
        {
            "role": role,
            "content": text,
            "timestamp": (datetime.fromisoformat(session["at"]) + timedelta(minutes=2 * n)).isoformat(),
            "conversation_id": session["thread"],
        }
        for session in story["sessions"]
        for n, (role, text) in enumerate(session["said"])
    ]
    return Corpus("noor", messages, [story["topic"], "what fixed the leak?"])


def lives(folder: Path) -> list[Corpus]:
    """Return the labelled weeks of a folder, without their labels."""
    return [_life(json.loads(path.read_text(encoding="utf-8"))) for path in sorted(folder.glob("*.jsonl"))]


def _life(life: Mapping[str, Any]) -> Corpus:
    messages = [
        {
            "id": m["id"],
            "role": m["role"],
            "content": m["text"],
            "timestamp": m["time"] + "+00:00",
            "channel": m["channel"],
            **({} if m["speaker"] in (life["user"], "assistant", "tool") else {"name": m["speaker"]}),
        }
        for m in life["messages"]
    ]
    return Corpus(life["id"], messages, [q["question"] for q in life["questions"]])


# --- telling and reading --------------------------------------------------------------------------------


@contextmanager
def opened(place: str, setup: Setup, embedder: Embedder | None, clock: Clock) -> Iterator[Memory]:
    """Open a memory in which nothing is left to chance."""
    deps = Deps(
        store=make_store(place, load_settings()),
        embedder=embedder,
        policy=setup.policy,
        resolve_policy=resolver(embedder),
        clock=clock,
        entropy=random.Random(SEED).getrandbits,
        owner="fingerprint",
        link_policy=setup.links,
        chain_policy=setup.chains,
    )
    with Memory(deps) as memory:
        yield memory


def tell(memory: Memory, clock: Clock, corpus: Corpus) -> list[Record]:
    """Tell a corpus message by message; return the contexts of every twentieth prompt."""
    contexts = []
    for n, message in enumerate(corpus.messages):
        clock.reach(datetime.fromisoformat(message["timestamp"]))
        thread = message.get("conversation_id")
        if message.get("role") == "user" and n % 20 == 0:
            channel = message.get("channel")
            contexts.append(memory.user(USER).context(message["content"], channel=channel, at=clock.now).text)
        memory.user(USER).add(dict(message), thread=thread)
    memory.user(USER).flush()
    clock.reach(clock.now + timedelta(days=2))
    memory.upkeep()
    memory.jobs.run()
    return contexts


def answers(memory: Memory, setup: Setup, corpus: Corpus) -> Sections:
    """Return what a memory answers, by the verb that was asked."""
    sections: Sections = defaultdict(list)
    for question in corpus.questions:
        for policy in setup.recall:
            recall = memory.user(USER).search(question, policy=policy, limit=10, observations=20)
            sections[f"search {policy}"].append(recall)
        sections["retrieve"].append(memory.user(USER).retrieve(question))
        sections["sequence"].append(memory.user(USER).chains.sequence(question))
        sections["replay"].append(memory.user(USER).chains.replay(question))
    sections["recent"].append(memory.user(USER).episodes.recent(limit=7))
    sections["facts"].append(memory.user(USER).facts.list(history=True, limit=1000))
    sections["skills"].append(memory.user(USER).skills.list())
    cards = memory.user(USER).episodes.list()[:50]
    sections["explain"].extend(memory.user(USER).boundaries.explain(card.episode_id) for card in cards)
    sections["doctor"].append([finding for finding in memory.doctor() if finding.severity == "error"])
    return sections


def exported(memory: Memory) -> Sections:
    """Return an export, noun by noun, without its header, which names the time of writing."""
    sections: Sections = defaultdict(list)
    for line in list(memory.user(USER).export())[1:]:
        record = json.loads(line)
        sections[f"export {record.get('type') or record.get('kind') or 'other'}"].append(record)
    return sections


def talk_sections(place: str, setup: Setup, embedder: Embedder | None, corpus: Corpus) -> Sections:
    """Tell one corpus to a fresh memory at a place; return what it holds and answers."""
    clock = Clock()
    with opened(place, setup, embedder, clock) as memory:
        contexts = tell(memory, clock, corpus)
        return {"context": contexts, **exported(memory), **answers(memory, setup, corpus)}


def walk_sections(place: str, setup: Setup, embedder: Embedder | None) -> Sections:
    """Let an agent walk through the house that comes with the package; return what its memory holds."""
    clock = Clock()
    with opened(place, setup, embedder, clock) as memory:
        sensor = ReplaySensor(SHIPPED / "household.readings.jsonl.gz", None)
        memory.user(USER).run(sensor, thread="walk", steps=STEPS, policy=setup.policy)
        memory.jobs.run()
        sections = exported(memory)
        sections["places"] = [memory.user(USER).places.list()]
        sections["route"] = [memory.user(USER).places.route("walk")]
        return sections


# --- digests --------------------------------------------------------------------------------------------


def plain(value: Any) -> Any:
    """Return a value as JSON takes it, floats rounded, the fields of records in order of name.

    >>> plain({"b": 0.1234567891, "a": (1, UUID(int=1))})
    {'a': [1, '00000000-0000-0000-0000-000000000001'], 'b': 0.123457}
    """
    if isinstance(value, bool | int | str) or value is None:
        return value
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, Mapping):
        left_out = {*MEASURED, *(key for key in LATER if value.get(key) in (None, ()))}
        return {str(key): plain(value[key]) for key in sorted(value, key=str) if key not in left_out}
    if is_dataclass(value) and not isinstance(value, type):
        return plain(asdict(value))
    if isinstance(value, UUID | datetime | Enum | timedelta):
        return str(value)
    if isinstance(value, bytes):
        return hashlib.sha256(value).hexdigest()[:16]
    if isinstance(value, frozenset | set):
        return sorted(map(json.dumps, map(plain, value)))
    if isinstance(value, Iterable):
        return [plain(item) for item in value]
    return str(value)


def digest(records: Sequence[Record]) -> str:
    """Return how many records there are and a digest of them, in their order."""
    text = json.dumps(plain(records), ensure_ascii=False, sort_keys=True)
    return f"{len(records)} {hashlib.sha256(text.encode()).hexdigest()[:16]}"


def digests(sections: Sections) -> dict[str, str]:
    """Return a digest of every section, by name."""
    return {name: digest(sections[name]) for name in sorted(sections)}


Runs = Iterator[tuple[str, Callable[[str], Sections]]]


def runs(embedder: Embedder | None, corpora: Sequence[Corpus]) -> Runs:
    """Yield each run's name, and what makes its sections at a place."""
    for corpus in corpora:
        for setup in TALK:
            yield f"{corpus.name}, {setup.name}", _talking(setup, embedder, corpus)
    for policy in WALKS:
        yield f"walk, {policy}", _walking(Setup(policy, policy=policy), embedder)


def _talking(setup: Setup, embedder: Embedder | None, corpus: Corpus) -> Callable[[str], Sections]:
    return lambda place: talk_sections(place, setup, embedder, corpus)


def _walking(setup: Setup, embedder: Embedder | None) -> Callable[[str], Sections]:
    return lambda place: walk_sections(place, setup, embedder)


@contextmanager
def places(store: str) -> Iterator[Callable[[str], str]]:
    """Yield what gives each run an empty database of its own, on `sqlite` or `postgres`."""
    with ExitStack() as stack:
        if store == "postgres":
            served = stack.enter_context(server(fsync="off"))
            yield lambda name: served.create(_file_name(name))
        else:
            folder = Path(stack.enter_context(TemporaryDirectory(prefix="episodic-")))
            yield lambda name: str(folder / f"{_file_name(name)}.db")


def fingerprint(
    store: str, embedder: Embedder | None, corpora: Sequence[Corpus], dump: Path | None = None
) -> dict[str, dict[str, str]]:
    """Return the digests of every run on one kind of store."""
    digested = {}
    with places(store) as place:
        for name, make in runs(embedder, corpora):
            sections = make(place(name))
            digested[name] = digests(sections)
            if dump is not None:
                target = dump / store / f"{_file_name(name)}.json"
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(json.dumps(plain(sections), ensure_ascii=False, indent=1), encoding="utf-8")
    return digested


def _file_name(run: str) -> str:
    return run.replace(",", "").replace(" ", "-")


def differences(
    expected: Mapping[str, Mapping[str, str]], seen: Mapping[str, Mapping[str, str]]
) -> list[str]:
    """Return which sections of which runs are not the same, each with both digests.

    >>> differences({"tim": {"links": "1 ab"}}, {"tim": {"links": "1 cd"}, "eva": {}})
    ['eva: only now', 'tim, links: 1 ab, now 1 cd']
    """
    texts = [
        f"{run}: only {'now' if run in seen else 'before'}" for run in sorted(expected.keys() ^ seen.keys())
    ]
    for run in sorted(expected.keys() & seen.keys()):
        before, now = expected[run], seen[run]
        texts += [
            f"{run}, {name}: {before.get(name, 'none')}, now {now.get(name, 'none')}"
            for name in sorted(before.keys() | now.keys())
            if before.get(name) != now.get(name)
        ]
    return texts


def main() -> int:
    """Print the digests, write them, or compare them with earlier ones; 1 where something differs."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fingerprint", description=__doc__)
    parser.add_argument("--data", type=Path, help="a folder with development data; tells its lives too")
    parser.add_argument("--embedder", default="hashing")
    parser.add_argument("--stores", default=",".join(STORES), help="sqlite, postgres, or both")
    parser.add_argument("--write", type=Path, help="write the digests to this file")
    parser.add_argument("--compare", type=Path, help="compare with the digests in this file")
    parser.add_argument("--dump", type=Path, help="write what the digests are made of to this folder")
    options = parser.parse_args()
    corpora = [*shipped(), *(lives(options.data / "lives") if options.data else ())]
    embedder = make_embedder(options.embedder, load_settings())
    expected = json.loads(options.compare.read_text(encoding="utf-8")) if options.compare else None
    differing = []
    seen = {}
    for store in options.stores.split(","):
        before, seen = expected or seen, fingerprint(store, embedder, corpora, options.dump)
        differing += [f"{store}: {line}" for line in differences(before or seen, seen)]
    text = json.dumps(seen, indent=1, sort_keys=True) + "\n"
    if options.write:
        options.write.write_text(text, encoding="utf-8")
    elif expected is None:
        sys.stdout.write(text)
    sys.stderr.write("".join(f"{line}\n" for line in differing) or "equal\n")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
