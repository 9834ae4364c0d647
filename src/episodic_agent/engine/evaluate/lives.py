"""Play a week of somebody's life through the verbs a user calls, and score what the memory made of it."""

import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any
from uuid import UUID

from episodic_agent.core.evaluation.lives import (
    BUDGETS,
    SCARCE,
    Answer,
    FoundFact,
    LabelledFact,
    LifeLabels,
    LifeMessage,
    LifeQuestion,
    PlayedLife,
    TitledEpisode,
    ToldContext,
    score_life,
)
from episodic_agent.core.links.verdict import HIGH
from episodic_agent.engine.evaluate.cases import rows, unit_time
from episodic_agent.engine.memory import Memory
from episodic_agent.engine.user import UserMemory
from episodic_agent.errors import InvalidInput
from episodic_agent.schemas import Json

Clock = Callable[[], datetime]
OpenMemory = Callable[[Clock, str | None], AbstractContextManager[Memory]]
RANKED = 10  # observations asked for per question
MOST_FACTS = 1_000_000
A_DAY = timedelta(days=1)
SILENCE = timedelta(minutes=30)  # sittings are further apart than that
NEEDED = ("messages", "sittings", "episodes", "facts", "tempting", "needs", "questions")


@dataclass(frozen=True, slots=True)
class LifeLine:
    """One message of a life as it is played, without its labels."""

    id: str
    channel: str
    speaker: str
    role: str
    text: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Life:
    """A labelled life: whose it is, what is played, what is asked when, and its labels."""

    id: str
    user: str
    language: str | None
    lines: Sequence[LifeLine]
    questions: Sequence[tuple[datetime, str]]
    labels: LifeLabels


def read_lives(path: Path, messages: int | None = None) -> list[Life]:
    """Read the lives of a file, one JSON object a line; InvalidInput names what is missing, and where.

    Of each the first `messages` are read, with what was labelled, needed and asked by then.
    """
    return [_life(f"{path}: line {n}", row, messages) for n, row in enumerate(rows(path), 1)]


def evaluate_file(
    path: Path,
    opened: OpenMemory,
    *,
    messages: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> dict[str, Json]:
    """Play the lives of a file, each in a fresh memory; return the figures (of several the means).

    Of each the first `messages` are played, and scored by what was labelled of these.
    """
    figures = []
    played = 0
    for life in read_lives(path, messages):
        clock = PlayedClock(life.lines[0].at)
        with opened(clock, life.language) as memory:
            tell = None if progress is None else lambda n, before=played, tell=progress: tell(before + n)
            alone = memory._deps.language_model is None
            result = play(life, memory.user(life.user), clock, tell, look_up=alone)
            uses = memory.usage()
            result.calls = sum(use.calls for use in uses)
            result.tokens = sum(use.tokens for use in uses)
            result.refused = sum(use.refused for use in uses)
            figures.append(score_life(life.labels, result))
        played += len(life.lines)
    return figures[0] if len(figures) == 1 else mean_figures(figures)


def mean_figures(figures: Sequence[Mapping[str, Any]]) -> dict[str, Json]:
    """Return the means of figures of one shape, over those that have one; lists and None are left out."""
    means: dict[str, Json] = {}
    for key, first in figures[0].items():
        values = [entry[key] for entry in figures]
        if isinstance(first, Mapping):
            means[key] = mean_figures(values)
        elif not any(isinstance(v, list) for v in values):
            numbers = [v for v in values if v is not None]
            means[key] = round(sum(numbers) / len(numbers), 6) if numbers else None
    return means


@dataclass(slots=True)
class PlayedClock:
    """A clock that shows the time of what is being played."""

    now: datetime

    def __call__(self) -> datetime:
        """Return the moment being played."""
        return self.now


@dataclass(slots=True)
class _Stage:
    """What is known while a life is played: where each message came to lie."""

    places: dict[str, tuple[UUID, int]] = field(default_factory=dict)
    ids: dict[UUID, str] = field(default_factory=dict)
    sittings: dict[UUID, Counter[str]] = field(default_factory=dict)
    links: list[tuple[str, str]] = field(default_factory=list)
    sure: set[tuple[str, str]] = field(default_factory=set)

    def sitting_of(self, thread: UUID) -> str | None:
        """Return the sitting most of a thread's messages are of."""
        counted = self.sittings.get(thread)
        return None if not counted else counted.most_common(1)[0][0]


def play(
    life: Life,
    memory: UserMemory,
    clock: PlayedClock,
    progress: Callable[[int], None] | None = None,
    *,
    look_up: bool = True,
) -> PlayedLife:
    """Play a life in the order of time: contexts before their message, questions at their time.

    With `look_up` False what changed is not looked up at the end: each look may ask a language model what the
    words go on with.
    """
    played, stage = PlayedLife(), _Stage()
    contexts: dict[tuple[str, int], ToldContext] = {}
    answers: dict[int, Answer] = {}
    waiting = sorted(range(len(life.questions)), key=lambda n: life.questions[n][0])
    labels = {m.id: m for m in life.labels.messages}
    for n, line in enumerate(life.lines):
        while waiting and life.questions[waiting[0]][0] <= line.at:
            number = waiting.pop(0)
            answers[number] = _asked(memory, clock, *life.questions[number])
        clock.now = line.at
        if line.id in life.labels.needs:
            for budget in BUDGETS:
                contexts[line.id, budget] = _context(memory, stage, line, budget)
        started = time.perf_counter()
        receipt = memory.add(_message(line, life.user), channel=line.channel)[0]
        played.seconds += time.perf_counter() - started
        sitting = labels[line.id].sitting
        stage.places[line.id], stage.ids[receipt.id] = (receipt.thread_id, receipt.seq), line.id
        stage.sittings.setdefault(receipt.thread_id, Counter())[sitting] += 1
        following = life.lines[n + 1] if n + 1 < len(life.lines) else None
        if following is None or labels[following.id].sitting != sitting:
            clock.now = (
                line.at + 2 * SILENCE if following is None else min(following.at, line.at + 2 * SILENCE)
            )
            memory.upkeep(now=clock.now)
            _note_links(memory, stage, sitting)
        if progress is not None:
            progress(n + 1)
    for number in waiting:
        answers[number] = _asked(memory, clock, *life.questions[number])
    clock.now += A_DAY  # what a model is asked about once a day is asked
    memory.upkeep(now=clock.now)
    memory.flush()
    played.contexts, played.links, played.sure = contexts, stage.links, stage.sure
    played.answers = [answers[n] for n in range(len(life.questions))]
    _note_memory(memory, stage, played)
    # last: what is told grows stronger by it
    played.looked_up = {
        (fact.id, budget): _context(
            memory, stage, replace(life.lines[-1], text=fact.text, at=clock.now), budget
        )
        for fact in (life.labels.changes if look_up else ())
        for budget in SCARCE
    }
    return played


def _message(line: LifeLine, user: str) -> Mapping[str, Any]:
    """Return a message as a chat program hands it over: with the name of others who write."""
    message = {"role": line.role, "content": line.text, "timestamp": line.at, "id": line.id}
    named = line.role == "user" and line.speaker.casefold() not in ("user", user.casefold())
    return {**message, "name": line.speaker} if named else message


def _context(memory: UserMemory, stage: _Stage, line: LifeLine, budget: int) -> ToldContext:
    context = memory.context(line.text, channel=line.channel, at=line.at, max_tokens=budget)
    by_place = {place: identity for identity, place in stage.places.items()}
    lines = []
    for line_told in context.items:
        covered = range(line_told.first_seq, line_told.last_seq + 1)
        named = [o for o in line_told.observations if o in stage.places]
        lines.append(
            named
            or [by_place[line_told.thread_id, s] for s in covered if (line_told.thread_id, s) in by_place]
        )
    return ToldContext(context.text, lines)


def _asked(memory: UserMemory, clock: PlayedClock, at: datetime, question: str) -> Answer:
    clock.now = max(clock.now, at)
    recall = memory.search(question, observations=RANKED, now=at)
    return Answer([entry.id for entry in recall.observations], recall.abstained)


def _note_links(memory: UserMemory, stage: _Stage, sitting: str) -> None:
    """Note what the sitting that just ended was linked to."""
    for card in memory.links.list():
        newer, older = stage.sitting_of(card.link.later), stage.sitting_of(card.link.earlier)
        if newer != sitting or older in (None, sitting):
            continue
        if (newer, older) not in stage.links:
            stage.links.append((newer, str(older)))
        if card.link.label == HIGH:
            stage.sure.add((newer, str(older)))


def _note_memory(memory: UserMemory, stage: _Stage, played: PlayedLife) -> None:
    """Note threads, episodes, facts and titles as the memory holds them at the end."""
    by_thread: dict[UUID, list[tuple[int, str]]] = {}
    for identity, (thread, seq) in stage.places.items():
        by_thread.setdefault(thread, []).append((seq, identity))
    for listed in by_thread.values():
        listed.sort()
    owners: dict[str, str] = {}
    titled = []
    for card in memory.episodes.list():
        episode = memory.episodes.get(card.episode_id)
        listed = by_thread.get(episode.thread_id, [])
        first, after = (
            bisect_left(listed, (episode.first_seq, "")),
            bisect_left(listed, (episode.last_seq + 1, "")),
        )
        held = [identity for _, identity in listed[first:after]]
        owners.update(dict.fromkeys(held, str(episode.id)))
        titled.append(TitledEpisode(card.title, card.summary, held))
    played.thread_of = {identity: str(thread) for identity, (thread, _) in stage.places.items()}
    played.episode_of, played.episodes = owners, titled
    played.largest = max((int(str(e.metadata.get("threads", 0))) for e in memory.links.episodes()), default=0)
    played.facts = [
        FoundFact(
            card.fact.fact,
            [
                (stage.ids[e.observation_id], e.fact)
                for e in card.fact.telling
                if e.observation_id in stage.ids
            ],
            card.fact.holds and card.fact.invalid_at is None,
        )
        for card in memory.facts.list(history=True, limit=MOST_FACTS)
    ]


# --- reading ---------------------------------------------------------------------------------------------


def _life(name: str, row: Mapping[str, Any], messages: int | None = None) -> Life:
    missing = [key for key in ("user", *NEEDED) if key not in row]
    if missing:
        raise InvalidInput(f"{name} lacks {', '.join(f'`{key}`' for key in missing)}: it is no labelled life")
    unlisted = next((key for key in NEEDED if not isinstance(row[key], list)), None)
    if unlisted is not None:
        raise InvalidInput(f"{name}: `{unlisted}` is to be a list")
    if not row["messages"]:
        raise InvalidInput(f"{name} is to hold at least one message")
    if messages is not None and messages < len(row["messages"]):
        row = _beginning(row, messages)
    lines = [_line(f"{name}: message {n}", entry) for n, entry in enumerate(row["messages"], 1)]
    known = {line.id for line in lines}
    if len(known) < len(lines):
        raise InvalidInput(f"{name} has two messages of one id")
    if any(a.at > b.at for a, b in pairwise(lines)):
        raise InvalidInput(f"{name}: messages are to stand in the order of their times")
    questions = [
        (_moment(f"{name}: question {n}", q), str(q["question"])) for n, q in enumerate(row["questions"], 1)
    ]
    return Life(
        str(row.get("id", name)),
        str(row["user"]),
        row.get("lang"),
        lines,
        questions,
        _labels(name, row, known),
    )


def _beginning(row: Mapping[str, Any], messages: int) -> Mapping[str, Any]:
    """Return a life as it was after so many messages: what was labelled, needed and asked by then."""
    spoken = row["messages"][:messages]
    known = {m["id"] for m in spoken}
    facts = [{**f, "evidence": [i for i in f["evidence"] if i in known]} for f in row["facts"]]
    facts = [f for f in facts if f["evidence"]]
    present = {f["id"] for f in facts}
    return {
        **row,
        "messages": spoken,
        "sittings": [s for s in row["sittings"] if any(m["sitting"] == s["id"] for m in spoken)],
        "episodes": [i for i in row["episodes"] if i in known],
        "facts": [
            {**f, "replaced_by": f.get("replaced_by") if f.get("replaced_by") in present else None}
            for f in facts
        ],
        "tempting": [i for i in row["tempting"] if i in known],
        "needs": [n for n in row["needs"] if n["message"] in known],
        "questions": [
            q
            for q in row["questions"]
            if str(q["time"]) <= str(spoken[-1]["time"]) and known.issuperset(q.get("evidence", ()))
        ],
    }


def _line(name: str, entry: Mapping[str, Any]) -> LifeLine:
    lacking = [
        key
        for key in ("id", "sitting", "channel", "speaker", "role", "text", "time")
        if not isinstance(entry, Mapping) or not str(entry.get(key) or "").strip()
    ]
    if lacking:
        raise InvalidInput(f"{name} lacks {', '.join(f'`{key}`' for key in lacking)}")
    at = _moment(name, entry)
    identity, channel, speaker, role, text = (
        str(entry[key]) for key in ("id", "channel", "speaker", "role", "text")
    )
    return LifeLine(identity, channel, speaker, role, text, at)


def _moment(name: str, entry: Mapping[str, Any]) -> datetime:
    at = unit_time(entry.get("time"))
    if at is None:
        raise InvalidInput(
            f"{name} has no time that can be read: {entry.get('time')!r}; write 2026-03-02T09:14:00"
        )
    return at if at.tzinfo is not None else at.replace(tzinfo=UTC)


def _labels(name: str, row: Mapping[str, Any], known: set[str]) -> LifeLabels:
    begins = frozenset(row["episodes"])
    sittings = {str(entry["id"]): entry for entry in row["sittings"]}
    messages = [
        LifeMessage(str(m["id"]), str(m["sitting"]), str(m["text"]), m["id"] in begins)
        for m in row["messages"]
    ]
    strange = sorted({m.sitting for m in messages} - set(sittings))
    labelled = {i for f in row["facts"] for i in f["evidence"]} | {
        i for n in row["needs"] for i in (n["message"], *n["from"])
    }
    strange += sorted((labelled | begins | set(row["tempting"])) - known)
    facts = {str(f["id"]): f for f in row["facts"]}
    strange += sorted({str(f["replaced_by"]) for f in facts.values() if f.get("replaced_by")} - set(facts))
    if strange:
        raise InvalidInput(f"{name} labels {', '.join(strange[:5])}, which it does not have")
    heirs = {str(f["replaces"]): f for f in facts.values() if f.get("replaces")}
    heirs |= {key: facts[str(f["replaced_by"])] for key, f in facts.items() if f.get("replaced_by")}
    return LifeLabels(
        messages=messages,
        topics={key: str(entry.get("topic", "")) for key, entry in sittings.items()},
        earlier=_behind(
            {key: [str(s) for s in entry.get("goes_on_from", ())] for key, entry in sittings.items()}
        ),
        facts=[
            LabelledFact(
                key,
                frozenset(f["evidence"]),
                key in heirs,
                str(f.get("fact", "")),
                frozenset(heirs[key]["evidence"]) if key in heirs else frozenset(),
            )
            for key, f in facts.items()
        ],
        tempting=frozenset(row["tempting"]),
        needs={str(n["message"]): [str(i) for i in n["from"]] for n in row["needs"]},
        questions=[_question(q, messages, list(facts.values())) for q in row["questions"]],
    )


def _behind(goes_on_from: Mapping[str, Sequence[str]]) -> dict[str, frozenset[str]]:
    """Return all sittings that lie behind each, however far."""
    behind: dict[str, frozenset[str]] = {}
    for sitting in goes_on_from:
        reached: set[str] = set()
        left = list(goes_on_from[sitting])
        while left:
            entry = left.pop()
            if entry not in reached and entry != sitting:
                reached.add(entry)
                left.extend(goes_on_from.get(entry, ()))
        behind[sitting] = frozenset(reached)
    return behind


def _question(
    asked: Mapping[str, Any], messages: Sequence[LifeMessage], facts: Sequence[Mapping[str, Any]]
) -> LifeQuestion:
    """Read a question; of one that changed, facts say which evidence is the newest and which was replaced."""
    evidence = frozenset(str(i) for i in asked.get("evidence", ()))
    place = {m.id: n for n, m in enumerate(messages)}
    ordered = sorted(evidence & set(place), key=place.__getitem__)
    newest = frozenset(ordered[-1:])
    by_id = {str(f["id"]): f for f in facts}
    before: set[str] = set(ordered[:-1])
    for fact in facts:
        heir = by_id.get(str(fact.get("replaced_by") or "")) or next(
            (f for f in facts if f.get("replaces") == fact["id"]), None
        )
        if heir is not None and newest & set(heir["evidence"]):
            before |= set(fact["evidence"])
    return LifeQuestion(str(asked.get("type", "")), evidence, newest, frozenset(before) - newest)
