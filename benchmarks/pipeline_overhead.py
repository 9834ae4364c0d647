"""What the pipeline itself costs with a language model in every stage, and how often it asks one.

Real chats (REALTALK) are added message by message, as they were sent, with a scripted model that answers at
once. The time inside the model and inside the embedder is taken off; what is left belongs to the pipeline,
and is laid on the episodes that were closed in it. The model is a script: the figures are of time and calls,
not of what a real model would say.
"""

import json
import math
import re
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from benchmarks.speed import Deferring
from benchmarks.users import USER, mine
from benchmarks.vectors import Lasting
from episodic_agent.core.prompts import STAGES
from episodic_agent.engine.evaluate.cases import rows
from episodic_agent.protocols import Embedder, LanguageModel, Reply
from episodic_agent.providers.models.openai import OpenAIModel
from episodic_agent.schemas import Json, Vector
from episodic_agent.testing.model_server import serving, verdict_of
from episodic_agent.testing.models import ScriptedModel
from episodic_agent.wiring import Memory

FILE: Final = "ret_realtalk.jsonl.gz"
MOST: Final = 8.0  # calls of a model for a hundred messages
ALLOWED_MS: Final = 20.0  # of the pipeline's own time an episode may take
_WEEK: Final = timedelta(weeks=1)
PAUSES: Final = (timedelta(minutes=1), timedelta(minutes=40), timedelta(hours=2))  # of silence: looks by then
SWEEPS: Final = 24  # hours after an import in which later work is done
EVERY: Final = 20  # messages between two recalls of a thread that asks
_SAID: Final = re.compile(
    r'^m\d+, (?:.*, )?("(?:[^"\\]|\\.)*") says:\n(`{3,})\n(.*?)\n\2$', re.MULTILINE | re.DOTALL
)
_NUMBERED: Final = re.compile(
    r'^(m\d+), (?:.*, )?("(?:[^"\\]|\\.)*") says:\n`{3,}\n(.*?)\n`{3,}$', re.MULTILINE | re.DOTALL
)
TELLING: Final = 8  # words a message has of which a fact is made
MOST_LASTING: Final = 4  # facts of one answer
_PATTERN: Final = re.compile(r"<pattern>\n(.*)\n</pattern>", re.DOTALL)


@dataclass(slots=True)
class Timed:
    """A language model or an embedder, with the seconds spent in it."""

    inner: Any
    seconds: float = 0.0
    stages: Counter[str] = field(default_factory=Counter)

    @property
    def name(self) -> str:
        """Name what is inside."""
        return str(self.inner.name)

    @property
    def dimensions(self) -> int:
        """Return those of the embedder inside."""
        return int(self.inner.dimensions)

    @contextmanager
    def _measured(self) -> Iterator[None]:
        begun = time.thread_time()
        try:
            yield
        finally:
            self.seconds += time.thread_time() - begun

    def embed(self, texts: Sequence[str]) -> Vector:
        """Embed, on the clock."""
        with self._measured():
            vectors: Vector = self.inner.embed(texts)
            return vectors

    def complete(self, prompt: str, schema: Mapping[str, Json], stage: str) -> Reply:
        """Complete, on the clock."""
        self.stages[stage] += 1
        with self._measured():
            reply: Reply = self.inner.complete(prompt, schema, stage)
            return reply


class _Looked(Deferring):
    """A memory whose later work is done when it is told to, as its background does it."""

    def due(self) -> None:
        """Do what is due, as after each message."""
        self._works.later.run()

    def look(self) -> None:
        """Look for what the clock has made due, as the background does every minute."""
        for scope in self._scopes():
            self._works.later.upkeep.keep_up(scope)


def answer(prompt: str, stage: str) -> Mapping[str, Json]:
    """Answer any stage rightly in form, from what the prompt holds."""
    if stage == "topic_shift":
        return verdict_of(prompt)
    if stage == "episode":
        return _told(prompt)
    if stage == "skills":
        return _skill(prompt)
    if stage == "facts":
        return _facts(prompt)
    if stage == "thread_link":
        return {"reason": "", "threads": [], "confidence": 0.9}
    return {"reviews": []} if stage == "review" else _compact(prompt)


def _told(prompt: str) -> Mapping[str, Json]:
    pairs = [(json.loads(actor), " ".join(text.split())) for actor, _, text in _SAID.findall(prompt)]
    words = " ".join(text for _, text in pairs).split() or ["nothing"]
    summary = " ".join(f'{actor} says: "{text}"' for actor, text in pairs)[:900]
    about = {"entities": [], "tags": ["talk"], "outcome": "ongoing"}
    return {"title": " ".join((words * 5)[: max(5, min(len(words), 9))]), "summary": summary, **about}


def _compact(prompt: str) -> Mapping[str, Json]:
    lines = [line.partition(": ")[2] for line in prompt.split("\n") if re.match(r"m\d+ ", line)]
    text = " ".join(json.loads(line) for line in lines[:6] if line.startswith('"'))
    return {"micro": text[:120].split(".")[0] + ".", "meso": text[:600], "macro": ""}


def _facts(prompt: str) -> Mapping[str, Json]:
    """Find something lasting in a few of the messages."""
    answers = [(alias, json.loads(actor), text.split()) for alias, actor, text in _NUMBERED.findall(prompt)]
    long = [one for one in answers if len(one[2]) >= TELLING][:MOST_LASTING]
    return {"facts": [_fact(alias, actor, " ".join(words[:TELLING])) for alias, actor, words in long]}


def _fact(alias: str, actor: str, quote: str) -> Mapping[str, Json]:
    about = {"subject": actor, "category": "experience", "attribute": "other", "value": quote}
    values = {"fact": f"{actor} says: {quote}", "holds": True, "message": alias, "quote": quote}
    return {"action": "new", "known": None, **about, **values, "since": None, "on": None}


def _skill(prompt: str) -> Mapping[str, Json]:
    match = _PATTERN.search(prompt)
    pattern = json.loads(match[1]) if match else {}
    remaining = ("kind", "description", "preconditions", "steps", "postconditions", "parameters", "returns")
    return {"name": "do it again", **{name: pattern.get(name, "") for name in remaining}}


def measure(data: Path, embedder: Embedder, *, quick: bool = False) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (key, figures): in process, with recalls that are reviewed, and over HTTP."""
    chats = _in_turn([[dict(m) for m in case["messages"]] for case in rows(data / FILE)])
    if quick:
        chats = [chat[:120] for chat in chats[:1]]
    embedder = Lasting(embedder, data / "none")  # each text once: its time is not counted
    _live([chats[0][:120]], embedder, ScriptedModel(respond=answer))  # what is loaded at the first use
    scripted = lambda: ScriptedModel(respond=answer)  # noqa: E731 - a fresh one each time
    yield "no model", _live(chats, embedder, None)
    yield "in process", _live(chats, embedder, scripted())
    yield "in process, silence ends events", _live(chats, embedder, scripted(), sweeping=True)
    yield "bulk import", _bulk(chats, embedder, scripted())
    yield f"in process, a recall every {EVERY} messages", _live(chats, embedder, scripted(), every=EVERY)
    with serving(lambda prompt: answer(prompt, _stage_of(prompt))) as server:
        yield "over HTTP", _live(chats[:1], embedder, OpenAIModel("scripted", base_url=server.url))


def _stage_of(prompt: str) -> str:
    marks = {
        "You watch a conversation": "topic_shift",
        "You write what a memory keeps": "episode",
        "A pattern was found": "skills",
        "A user wrote a message": "thread_link",
        "Memories were recalled": "review",
        "A memory keeps lasting facts": "facts",
    }
    return next((stage for mark, stage in marks.items() if prompt.startswith(mark)), "compact")


def _live(
    chats: Sequence[Sequence[Mapping[str, Any]]],
    embedder: Embedder,
    model: LanguageModel | None,
    *,
    every: int = 0,
    sweeping: bool = False,
) -> dict[str, Any]:
    """Add chats message by message on their own clock; return what that took and how often it asked."""
    reads, asks = Timed(embedder), None if model is None else Timed(model)
    now = [datetime(2023, 1, 1, tzinfo=UTC)]
    own: list[float] = []  # of each closed episode, milliseconds
    spent = ingest = looks = 0.0
    recalls = 0
    with TemporaryDirectory(prefix="episodic-") as folder:
        parts: dict[str, Any] = {"embedder": reads, "language_model": asks or "none", "clock": lambda: now[0]}
        with _Looked.open(Path(folder) / "memory.db", **parts) as memory:
            closed = 0
            for number, chat in enumerate(chats):
                thread, since = f"chat {number}", 0.0
                for place, message in enumerate(chat):
                    at = _at(message)
                    for pause in PAUSES if sweeping else ():
                        if now[0] + pause < at:
                            now[0] += pause
                            looks += _own(reads, asks, memory.look)
                            since += _own(reads, asks, memory.due)
                    now[0] = max(now[0], at + timedelta(seconds=1))
                    fields = {"role": message["speaker"], "content": message["text"], "timestamp": at}
                    ingest += _own(reads, asks, partial(memory.add, USER, fields, thread=thread))
                    if every and place % every == every - 1:
                        recalls += 1
                        mine(memory).search(str(message["text"]), asking=thread)
                    if place == len(chat) - 1:
                        mine(memory).threads.close(thread)
                        since += _own(reads, asks, memory.jobs.run)  # what waits for more is done at the end
                    if mine(memory).stats().waiting_jobs:
                        since += _own(reads, asks, memory.due)
                    count = mine(memory).stats().episodes
                    if count > closed:
                        own += [1000 * since / (count - closed)] * (count - closed)
                        spent, closed, since = spent + since, count, 0.0
    return _figures(chats, own, (spent, ingest, looks), asks, recalls)


def _bulk(
    chats: Sequence[Sequence[Mapping[str, Any]]], embedder: Embedder, model: LanguageModel
) -> dict[str, Any]:
    """Import whole chats, each at once and long after they were held; return how often that asked."""
    asks, begun = Timed(model), datetime(2025, 1, 1, tzinfo=UTC)
    now = [begun]
    with TemporaryDirectory(prefix="episodic-") as folder:
        parts: dict[str, Any] = {"embedder": embedder, "language_model": asks, "clock": lambda: now[0]}
        with Memory.open(Path(folder) / "memory.db", **parts) as memory:
            for number, chat in enumerate(chats):
                items = [{"role": m["speaker"], "content": m["text"], "timestamp": _at(m)} for m in chat]
                mine(memory).add(items, thread=f"chat {number}")
                mine(memory).threads.close(f"chat {number}")
                for _ in range(SWEEPS):  # a day goes by, of which the clock has its share
                    now[0] += timedelta(hours=1)
                    memory.jobs.run()
            episodes = mine(memory).stats().episodes
    return {"messages": sum(map(len, chats)), "episodes": episodes, **_asked(asks, sum(map(len, chats)))}


def _in_turn(chats: Sequence[Sequence[dict[str, Any]]]) -> list[list[dict[str, Any]]]:
    """Return chats moved by whole weeks so that each begins when the one before is over."""
    moved: list[list[dict[str, Any]]] = []
    for chat in chats:
        late = _at(moved[-1][-1]) - _at(chat[0]) if moved else timedelta()
        shift = max(0, math.ceil(late / _WEEK)) * _WEEK
        moved.append([{**m, "time": (_at(m) + shift).isoformat()} for m in chat])
    return moved


def _at(message: Mapping[str, Any]) -> datetime:
    return datetime.fromisoformat(str(message["time"])).replace(tzinfo=UTC)


def _own(reads: Timed, asks: Timed | None, act: Callable[[], object]) -> float:
    """Return the seconds an act takes beside the embedder and the model."""
    before = reads.seconds + (asks.seconds if asks else 0.0)
    begun = time.thread_time()
    act()
    taken = time.thread_time() - begun
    return taken - (reads.seconds + (asks.seconds if asks else 0.0) - before)


def _figures(
    chats: Sequence[Sequence[Any]],
    own: Sequence[float],
    seconds: tuple[float, float, float],
    asks: Timed | None,
    recalls: int,
) -> dict[str, Any]:
    messages, ordered = sum(map(len, chats)), sorted(own)
    return {
        "messages": messages,
        "episodes": len(own),
        "recalls": recalls,
        "own_ms_per_episode": round(1000 * seconds[0] / max(len(own), 1), 2),
        "ingest_ms_per_message": round(1000 * seconds[1] / max(messages, 1), 2),
        "looks_ms_in_all": round(1000 * seconds[2], 1),
        "own_ms_median": round(statistics.median(ordered), 2),
        "own_ms_p95": round(ordered[max(0, round(0.95 * len(ordered)) - 1)], 2),
        "allowed_ms": ALLOWED_MS,
        **_asked(asks, messages),
    }


def _asked(asks: Timed | None, messages: int) -> dict[str, Any]:
    calls = asks.stages if asks else Counter[str]()
    share = 100 / max(messages, 1)
    return {
        "calls": {stage: calls[stage] for stage in STAGES},
        "calls_per_100": {stage: round(share * calls[stage], 2) for stage in STAGES},
        "calls_per_100_in_all": round(share * sum(calls.values()), 2),
        "calls_allowed_per_100": MOST,
    }
