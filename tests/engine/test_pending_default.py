"""`default` with a language model: asked in doubt, outside transactions, never in anybody's way."""

import re
import threading
from collections.abc import Mapping
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from builders.chats import Clock, mine
from builders.models import only
from builders.talks import COOKING, GARDEN, TAXES
from conftest import OpenMemory

from episodic_agent import Memory
from episodic_agent.core.boundary.contract import Record
from episodic_agent.core.boundary.conversation import asking
from episodic_agent.core.boundary.machine import unpack_record
from episodic_agent.engine.boundary.explain import replay
from episodic_agent.engine.boundary.pending import LONGEST_TAIL
from episodic_agent.engine.doctor.examining import follows
from episodic_agent.errors import ProviderUnavailable
from episodic_agent.protocols import stored_decision
from episodic_agent.providers.models.openai import ModelLimits, OpenAIModel
from episodic_agent.schemas import Json, Scope
from episodic_agent.testing.model_server import read_conversation, serving
from episodic_agent.testing.models import ScriptedModel

POLICY = "default?band=10"  # asks about every gap that says something
TALK = [*COOKING, *GARDEN, *TAXES]
ASKED = re.compile(r"Does (m\d+) begin a new event\?")


def verdict(boundary: bool, confidence: float = 1.0) -> dict[str, Any]:
    shift = {"topic_shift": confidence, "intent_shift": 0.0, "temporal_marker": 0.0}
    return {
        "is_boundary": boundary,
        "confidence": confidence,
        "signals": shift,
        "updated_event_model": "ignored",
    }


def of_topics(prompt: str, stage: str = "topic_shift") -> Mapping[str, Json]:
    """Answer by whether the message in question is the first of its topic."""
    spoken, _ = read_conversation(prompt)
    (alias,) = ASKED.findall(prompt.rsplit("\n", 1)[-1])
    return verdict(spoken[int(alias[1:]) - 1] in (COOKING[0], GARDEN[0], TAXES[0]))


def opened(open_memory: OpenMemory, respond: Any = of_topics, **more: Any) -> tuple[Memory, ScriptedModel]:
    model = ScriptedModel(respond=respond)
    parts = {"embedder": "hashing", "policy": POLICY, "language_model": only(model, "topic_shift"), **more}
    return open_memory(**parts), model


def said(first: int = 0, last: int = len(TALK)) -> list[dict[str, Any]]:
    return [
        {"conversation_id": "chat", "role": ("user", "assistant")[n % 2], "content": TALK[n % len(TALK)]}
        for n in range(first, last)
    ]


def spans(memory: Memory) -> list[tuple[int, str]]:
    return [(e.observations, e.reason) for e in mine(memory).episodes.list()]


def records(memory: Memory) -> dict[int, Record]:
    with memory._deps.store.begin(Scope(), write=False) as tx:
        thread = tx.threads.list()[0].id
        return {
            seq: unpack_record(seq, body) for seq, body in tx.observations.records(thread, 0, 5000).items()
        }


def told(memory: Memory) -> list[Any]:
    """Return everything that a model could have changed: episodes, their decisions, records, the frame."""
    with memory._deps.store.begin(Scope(), write=False) as tx:
        thread = tx.threads.list()[0].id
        results: list[Any] = [dict(tx.observations.records(thread, 0, 500))]
        for e in tx.episodes.list(threads=[thread]):
            decision = stored_decision(tx, e.decision_id)
            results.append((e, decision))
        frame = tx.threads.frame(thread)
        return [*results, frame.state, frame.policy, frame.first_seq, frame.cursor]


def one_by_one(memory: Memory, first: int = 0, last: int = len(TALK)) -> Memory:
    for message in said(first, last):
        mine(memory).add(message)
    return memory


def errors(memory: Memory) -> list[str]:
    return [f.message for f in memory.doctor() if f.severity == "error"]


def wait_until_settled(memory: Memory) -> None:
    pause = threading.Event()
    for _ in range(1000):
        if not mine(memory).stats().waiting_jobs:
            return
        pause.wait(0.01)
    raise AssertionError("the background never came to an end")


# --- answers --------------------------------------------------------------------------------------------


def test_what_a_model_says_cuts_where_the_topics_end(url: str, clock: Clock) -> None:
    model = ScriptedModel(respond=of_topics)
    parts = {"embedder": "hashing", "policy": POLICY, "clock": clock}
    with Memory.open(url, language_model=only(model, "topic_shift"), **parts) as memory:
        one_by_one(memory)
        assert mine(memory).flush() == 1
        starts = [0]
        for size, _ in spans(memory):
            starts.append(starts[-1] + size)
        assert 6 in starts
        assert any(asking.read(r.cues) for r in records(memory).values())
        assert errors(memory) == []
        assert mine(memory).stats().waiting_jobs == 0


def test_the_question_shows_the_hindsight_and_names_the_gap(open_memory: OpenMemory) -> None:
    memory, model = opened(open_memory)
    one_by_one(memory, 0, 4)
    stage, prompt = model.calls[0]
    spoken, orders = read_conversation(prompt)
    assert (stage, spoken, orders) == ("topic_shift", TALK[:4], [])
    assert prompt.endswith("Does m2 begin a new event?")
    assert "The messages after the one in question" in prompt


@pytest.mark.slow
def test_without_answers_everything_is_as_without_a_model(
    open_memory: OpenMemory, database: Path, clock: Clock
) -> None:
    silent, model = opened(open_memory, lambda _prompt, _stage: ProviderUnavailable("gone"))
    plain = open_memory(path=database.with_name("plain.db"), policy=POLICY)
    mine(silent).add(said())
    mine(plain).add(said())
    for _ in range(80):
        clock.forward(hours=1)
        silent.jobs.run()
    assert model.calls
    assert mine(silent).stats().waiting_jobs == 0
    assert records(silent) == records(plain)
    assert spans(silent) == spans(plain)
    assert told(silent)[-4] == told(plain)[-4]


def test_the_name_of_the_policy_is_the_same_with_and_without_a_model(open_memory: OpenMemory) -> None:
    memory, _ = opened(open_memory, policy="default")
    one_by_one(memory, 0, 3)
    frame = told(memory)[-3]
    assert str(frame).startswith("default-2027-03")
    assert "asks" not in frame


@pytest.mark.slow
def test_batching_changes_no_verdict(open_memory: OpenMemory, database: Path) -> None:
    together, _ = opened(open_memory)
    single, _ = opened(open_memory, path=database.with_name("single.db"))
    mine(together).add(said())
    one_by_one(single)
    assert spans(together) == spans(single)
    assert records(together) == records(single)


# --- races, restarts, silence ---------------------------------------------------------------------------


class Gate:
    """A model that answers only when it is told to."""

    name = "gate"

    def __init__(self) -> None:
        self.inner = ScriptedModel(respond=of_topics)
        self.asked, self.open = threading.Event(), threading.Event()

    def complete(self, prompt: str, schema: Any, stage: str) -> Any:
        self.asked.set()
        assert self.open.wait(30)
        return self.inner.complete(prompt, schema, stage)


def gated(open_memory: OpenMemory, last: int) -> tuple[Memory, Gate]:
    gate = Gate()
    memory = open_memory(embedder="hashing", policy=POLICY, language_model=only(gate, "topic_shift"))
    mine(memory).add(said(0, last), wait=False)
    assert gate.asked.wait(30)
    return memory, gate


@pytest.mark.slow
def test_while_a_question_is_open_nobody_waits_and_nothing_is_hidden(
    open_memory: OpenMemory, database: Path
) -> None:
    memory, gate = gated(open_memory, 5)
    receipts = mine(memory).add(
        said(5), wait=False
    )  # returns though the model is silent: no transaction waits
    assert [r.seq for r in receipts] == list(range(5, len(TALK)))
    assert mine(memory).search("tax return receipts").observations
    gate.open.set()
    wait_until_settled(memory)
    undisturbed, _ = opened(open_memory, path=database.with_name("other.db"))
    one_by_one(undisturbed)
    assert spans(memory) == spans(undisturbed)
    assert records(memory) == records(undisturbed)


def test_a_verdict_that_comes_after_a_flush_is_ignored(open_memory: OpenMemory) -> None:
    memory, gate = gated(open_memory, 4)
    assert mine(memory).flush() == 1
    before = records(memory)
    gate.open.set()
    wait_until_settled(memory)
    assert records(memory) == before
    assert all(asking.read(r.cues) is None for r in before.values())
    assert spans(memory) == [(4, "manual")]
    assert errors(memory) == []


def test_nobody_waits_for_ever_behind_a_silent_model(open_memory: OpenMemory, clock: Clock) -> None:
    memory, _ = opened(open_memory, lambda _prompt, _stage: ProviderUnavailable("gone"))
    mine(memory).add(said(0, 4))
    assert records(memory)[1].action == "ask"
    mine(memory).add(said(4, 4 + LONGEST_TAIL))
    clock.forward(minutes=1)  # the next try is the last where so many wait
    memory.jobs.run()
    assert records(memory)[1].action in ("keep", "cut")
    assert asking.read(records(memory)[1].cues) is None


def test_a_question_left_open_is_answered_at_the_next_opening(
    open_memory: OpenMemory, clock: Clock, database: Path
) -> None:
    first, _ = opened(open_memory, lambda _prompt, _stage: ProviderUnavailable("gone"))
    mine(first).add(said(0, 8))
    first.close()
    clock.forward(hours=1)
    memory, model = opened(open_memory)
    wait_until_settled(memory)
    assert model.calls
    full_memory, _ = opened(open_memory, path=database.with_name("other.db"))
    one_by_one(full_memory, 0, 8)
    assert records(memory) == records(full_memory)


@pytest.mark.slow
def test_a_question_asked_with_a_model_is_decided_by_a_process_without_one(
    open_memory: OpenMemory, clock: Clock, database: Path
) -> None:
    first, _ = opened(open_memory, lambda _prompt, _stage: ProviderUnavailable("gone"))
    mine(first).add(said(0, 8))
    first.close()
    clock.forward(hours=1)
    memory = open_memory(embedder="hashing", policy=POLICY)
    wait_until_settled(memory)
    plain = open_memory(path=database.with_name("plain.db"), embedder="hashing", policy=POLICY)
    mine(plain).add(said(0, 8))
    assert records(memory) == records(plain)


@pytest.mark.slow
def test_two_processes_ask_a_question_once(open_memory: OpenMemory) -> None:
    memory, first = opened(open_memory)
    two, second = opened(open_memory)
    for n in range(len(TALK)):
        mine((memory, two)[n % 2]).add(said(n, n + 1))
    asked = [prompt for _, prompt in (*first.calls, *second.calls)]
    assert len(set(asked)) == len(asked)
    assert spans(memory) == spans(two)
    assert errors(memory) == []


@pytest.mark.slow
def test_a_spent_budget_decides_at_once_without_the_model(
    open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch, database: Path
) -> None:
    monkeypatch.setenv("EPISODIC_LLM_BUDGET", "1")
    memory, model = opened(open_memory)
    one_by_one(memory)
    plain = open_memory(path=database.with_name("plain.db"), embedder="hashing", policy=POLICY)
    one_by_one(plain)
    assert not model.calls
    assert records(memory) == records(plain)
    assert mine(memory).stats().waiting_jobs == 0


def test_a_stage_without_a_model_is_never_asked(open_memory: OpenMemory) -> None:
    model = ScriptedModel(respond=of_topics)
    memory = open_memory(embedder="hashing", policy=POLICY, language_model=only(model, "compact"))
    one_by_one(memory, 0, 6)
    assert "ask" not in {r.action for r in records(memory).values()}


@pytest.mark.slow
def test_a_long_history_is_asked_about_as_it_would_be_message_by_message(
    open_memory: OpenMemory, database: Path
) -> None:
    memory, model = opened(open_memory)
    mine(memory).add(said(0, 70))
    assert mine(memory).stats().waiting_jobs == 0
    slowly, asked = opened(open_memory, path=database.with_name("other.db"))
    one_by_one(slowly, 0, 70)
    assert spans(memory) == spans(slowly)
    assert records(memory) == records(slowly)
    assert len(model.calls) == len(asked.calls) > 0


# --- over HTTP ------------------------------------------------------------------------------------------


def test_the_question_is_asked_over_http_too(open_memory: OpenMemory) -> None:
    with serving() as server:
        limits = ModelLimits(tries=2, away=0.0)
        model = OpenAIModel("small", base_url=server.url, limits=limits, sleep=lambda _s: None)
        memory = open_memory(embedder="hashing", policy=POLICY, language_model=only(model, "topic_shift"))
        one_by_one(memory, 0, 8)
        assert server.prompts
        assert any(asking.read(r.cues) for r in records(memory).values())
        assert errors(memory) == []


# --- explained, replayed, checked -----------------------------------------------------------------------


def helped(open_memory: OpenMemory) -> tuple[Memory, Any]:
    """A memory with an episode that only a model's answer ended, and that episode's explanation."""
    memory, _ = opened(open_memory, lambda _prompt, _stage: verdict(True))
    one_by_one(memory)
    for card in mine(memory).episodes.list():
        explained = mine(memory).boundaries.explain(card.episode_id)
        decision = explained.ends.decision
        weighed = asking.read(decision.features) if decision else None
        if decision is not None and weighed is not None and weighed.unasked < decision.threshold:
            return memory, explained
    raise AssertionError("no episode was ended by an answer")


@pytest.mark.slow
def test_an_explanation_tells_what_the_model_said(open_memory: OpenMemory) -> None:
    _, explained = helped(open_memory)
    assert "a language model said yes (1.00)" in explained.ends.sentence
    assert "model_boundary" not in explained.ends.sentence
    said_so = "without the language model's answer this would have been joined to the one after"
    assert said_so in explained.what_would_change


@pytest.mark.slow
def test_a_replay_says_again_what_the_model_said(open_memory: OpenMemory) -> None:
    memory, _ = helped(open_memory)
    card = mine(memory).episodes.list()[0]
    same = mine(memory).boundaries.whatif("chat", POLICY)
    assert list(same.stored) == list(same.proposed)
    with memory._deps.store.begin(Scope(), write=False) as tx:
        again = replay(tx, card.thread_id, memory._works.policy, memory._deps.embedder_name)
        stored = tx.episodes.list(threads=[card.thread_id])
    assert [s.first_seq for s in again.spans][: len(stored)] == [e.first_seq for e in stored]
    without = mine(memory).boundaries.whatif("chat", "default?band=0")
    assert len(without.proposed) < len(same.proposed)


@pytest.mark.slow
def test_the_trace_shows_the_answers(open_memory: OpenMemory) -> None:
    memory, _ = helped(open_memory)
    trace = mine(memory).boundaries.trace("chat")
    assert {"unasked", "model_boundary", "model_confidence"} <= set(trace.cues)


@pytest.mark.slow
def test_doctor_recomputes_what_an_answer_made_of_a_probability(open_memory: OpenMemory) -> None:
    _, explained = helped(open_memory)
    decision = explained.ends.decision
    changed = partial(_with, decision)
    assert follows(decision)
    assert not follows(changed(unasked=0.0001))
    assert not follows(changed(model_boundary=0.0))
    assert not follows(changed(model_confidence=0.5))


def _with(decision: Any, **features: float) -> Any:
    return type(decision)(
        **{name: getattr(decision, name) for name in decision.__slots__ if name != "features"},
        features={**decision.features, **features},
    )


def test_the_clock_closes_a_frame_with_an_open_question(open_memory: OpenMemory, clock: Clock) -> None:
    memory, _ = opened(open_memory, lambda _prompt, _stage: ProviderUnavailable("gone"))
    timed = [
        {**m, "timestamp": (clock.now + timedelta(minutes=n)).isoformat()} for n, m in enumerate(said(0, 6))
    ]
    mine(memory).add(timed)
    assert any(r.action == "ask" for r in records(memory).values())
    clock.forward(hours=30)
    assert memory.upkeep() == 1
    assert "open" not in {e.state for e in mine(memory).episodes.list()}
    assert errors(memory) == []
