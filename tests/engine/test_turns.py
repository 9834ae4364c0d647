"""The trace of a turn: what was done for it, by whom it is found, how long it is kept, and who sees words."""

import json
from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID

import pytest
from builders.chats import CHAT, NOW, Clock, mine, say
from builders.embedders import TopicEmbedder
from conftest import OpenMemory

from episodic_agent import Memory
from episodic_agent.engine.ingest.appending import CHUNK
from episodic_agent.engine.trace.turns import TracedVerdict, TraceNode, TurnTrace
from episodic_agent.engine.trace.usage import turns_of
from episodic_agent.errors import InvalidInput, NotFound, ProviderUnavailable
from episodic_agent.protocols import LONGEST_RUN, ref_of
from episodic_agent.schemas import Decision, Job, Scope
from episodic_agent.schemas.jobs import Span
from episodic_agent.showing import plain
from episodic_agent.testing.models import ScriptedModel

CUT = {"is_boundary": True, "confidence": 0.9, "signals": {}, "updated_event_model": None}
HERE = Scope("default", "default")
SECRET = "saffron"


def nodes(trace: TurnTrace, name: str) -> list[TraceNode]:
    return [node for node in trace.work if node.name == name]


def child(node: TraceNode, name: str) -> TraceNode:
    return next(one for one in node.children if one.name == name)


def decide(memory: Memory, decision: Decision) -> None:
    with memory._deps.store.begin(HERE) as tx:
        tx.knowledge.decide(decision)


def linked(thread: UUID, observation: UUID, **more: object) -> Decision:
    return Decision(
        UUID(int=7), "link", NOW, thread, {"near": 0.5}, 0.8, 0.45, "LINK", "link-2026-12", "UNCERTAIN",
        detail={"observation": str(observation), "other": str(thread), "reasoning": SECRET} | more,  # type: ignore[arg-type]
    )  # fmt: skip


def test_a_turn_is_told_from_its_append_to_its_episode(open_memory: OpenMemory, clock: Clock) -> None:
    memory = open_memory()
    (first,) = mine(memory).add("the tap drips", channel="sms")
    clock.forward(minutes=1)
    (reply,) = mine(memory).add({"role": "assistant", "content": "since when?"}, channel="sms")
    mine(memory).flush()
    trace = mine(memory).trace.turn(first.id)
    assert (trace.turn, trace.thread_id) == (first.id, first.thread_id)
    assert [(said.seq, said.actor, said.text) for said in trace.messages] == [
        (0, "user", None),
        (1, "assistant", None),
    ]
    assert [node.name for node in trace.work] == ["add", "link", "add", "encode"]
    asked, _, answered, encoded = trace.work
    assert [one.name for one in asked.children] == [
        "words",
        "echo",
        "embed",
        "resolution",
        "store",
        "boundary",
    ]
    assert [one.name for one in answered.children] == [one.name for one in asked.children]
    assert asked.at is not None
    assert asked.at <= NOW
    assert encoded.at == clock.now
    (opened,) = child(asked, "resolution").verdicts
    assert (opened.type, opened.verdict, opened.decision is not None) == ("thread", "opens", True)
    assert not child(answered, "resolution").verdicts
    assert [v.verdict for v in child(asked, "boundary").verdicts] == ["skip at 0"]
    assert [v.verdict for v in child(answered, "boundary").verdicts] == ["skip at 1", "manual"]
    for node in (asked, answered, encoded):
        assert node.seconds is not None
        assert node.seconds > 0
        assert all(0 <= one.start <= one.start + one.seconds <= node.seconds + 1e-5 for one in node.children)  # type: ignore[operator]
    assert mine(memory).trace.turn(reply.id) == trace  # a reply is of the turn it answers


def test_a_turn_is_named_by_id_by_its_beginning_and_by_its_place(open_memory: OpenMemory) -> None:
    memory = open_memory()
    arguments = [{**say("hello", n), "id": f"m{n}"} for n in range(3)]
    receipts = mine(memory).add(arguments, thread="chat:with:colons")
    trace = mine(memory).trace.turn(receipts[1].id)
    for name in (
        str(receipts[1].id),
        receipts[1].id.hex,
        receipts[1].id.hex[:12].upper(),
        "chat:with:colons:1",
    ):
        assert mine(memory).trace.turn(name) == trace
    with pytest.raises(NotFound, match="no observation 9"):
        mine(memory).trace.turn("chat:with:colons:9")
    with pytest.raises(NotFound, match="begins with"):
        mine(memory).trace.turn("0123456789ab")
    for nothing in ("", "abc", "no name", "0" * 33):
        with pytest.raises(InvalidInput, match="names no turn"):
            mine(memory).trace.turn(nothing)
    with pytest.raises(NotFound):
        memory.user("nobody").trace.turn(receipts[1].id)


def test_a_beginning_of_several_is_refused(open_memory: OpenMemory, clock: Clock) -> None:
    memory = open_memory()
    first, _ = mine(memory).add(["one", "two"])  # made in the same millisecond, their ids begin alike
    with pytest.raises(InvalidInput, match="several"):
        mine(memory).trace.turn(str(first.id)[:8])


def drips() -> list[dict[str, object]]:
    return [say(f"the tap drips and the tap must be repaired soon ({n})", n) for n in range(5)]


def asked(memory: Memory) -> list[TraceNode]:
    return [node for n in range(5) for node in nodes(mine(memory).trace.turn(f"{CHAT}:{n}"), "ask")]


def test_a_question_is_told_with_the_calls_that_were_made_for_it(
    open_memory: OpenMemory, clock: Clock
) -> None:
    model = ScriptedModel([ProviderUnavailable("away"), CUT])
    memory = open_memory(embedder=TopicEmbedder("tap", "cello"), language_model=model)
    mine(memory).add(drips(), thread=CHAT)
    (refused,) = asked(memory)
    (call,) = refused.children
    assert call.attributes == {"call": "topic_shift", "model": "scripted", "failed": "ProviderUnavailable"}
    assert refused.attributes["failed"] == "ProviderUnavailable"
    clock.forward(days=1)
    memory.jobs.run()
    _, answered = asked(memory)
    (call,) = answered.children
    assert (call.attributes["completion_tokens"], "failed" in answered.attributes) == (16, False)
    assert call.seconds is not None
    assert answered.at == clock.now


def test_a_link_is_told_with_the_turn_it_was_for_and_text_only_where_asked_for(
    open_memory: OpenMemory,
) -> None:
    memory = open_memory()
    first, other = mine(memory).add([f"the {SECRET} rice", "more rice"], thread=CHAT)
    decide(memory, linked(first.thread_id, first.id))
    trace = mine(memory).trace.turn(first.id)
    (link,) = nodes(trace, "link")
    assert link.seconds is None  # nobody measured it
    (verdict,) = link.verdicts
    assert (verdict.verdict, verdict.score, verdict.confidence) == ("LINK", 0.8, "UNCERTAIN")
    assert verdict.detail == {"near": 0.5, "observation": str(first.id), "other": str(first.thread_id)}
    assert nodes(mine(memory).trace.turn(other.id), "link") == []
    assert SECRET not in json.dumps(plain(trace))
    text = json.dumps(plain(mine(memory).trace.turn(first.id, text=True)))
    assert text.count(SECRET) == 2  # the message and the model's reason


def test_later_work_is_told_with_its_decision(open_memory: OpenMemory, clock: Clock) -> None:
    memory = open_memory()
    (first,) = mine(memory).add("the tap drips", thread=CHAT)
    mine(memory).flush()
    episode = mine(memory).episodes.list()[0].episode_id

    def compact(scope: Scope, jobs: list[Job]) -> None:
        clock.forward(minutes=5)

    job = Job(UUID(int=3), "compact", f"{episode}", "x", NOW)
    memory._deps.tracer.handled(compact)(HERE, [job])  # type: ignore[arg-type]
    decide(
        memory, replace(linked(first.thread_id, first.id), type="compact", subject=episode, verdict="done")
    )
    (node,) = nodes(mine(memory).trace.turn(first.id), "compact")
    assert [one.verdict for one in node.verdicts] == ["done"]
    assert node.attributes == {"job": str(episode)}


def test_jobs_are_for_the_turn_their_key_leads_to(open_memory: OpenMemory) -> None:
    memory = open_memory()
    receipts = mine(memory).add(["one", "two", "three"], thread=CHAT)
    mine(memory).flush()
    thread, episode = receipts[0].thread_id, mine(memory).episodes.list()[0].episode_id
    keys = {
        str(receipts[1].id): 1,
        f"{receipts[0].id}:3": 0,
        str(episode): 2,
        str(thread): 2,
        f"seed-001:{thread}:0-1": 1,
        "nobody": None,
        str(UUID(int=5)): None,
    }
    jobs = [Job(UUID(int=n), "x", key, "serial", NOW) for n, key in enumerate(keys)]
    with memory._deps.store.begin(HERE, write=False) as tx:
        indexes = {job.key: seen.seq for job, seen in turns_of(tx, jobs)}
    assert indexes == {key: seq for key, seq in keys.items() if seq is not None}


def test_many_messages_together_share_one_row(open_memory: OpenMemory) -> None:
    memory = open_memory(embedder="none")
    mine(memory).add(["hello"] * 300, thread=CHAT)
    with memory._deps.store.begin(HERE, write=False) as tx:
        number = tx.threads.number(mine(memory).threads.get(CHAT).thread.id)
        spans = tx.upkeep.spans(ref_of(number, 0), ref_of(number, 299))
    rows = sorted((row for row in spans if row.name == "add"), key=lambda row: row.first_ref)
    assert [row.last_ref - row.first_ref + 1 for row in rows] == [CHUNK, 300 - CHUNK]
    assert CHUNK == LONGEST_RUN
    (add,) = nodes(mine(memory).trace.turn(f"{CHAT}:7"), "add")
    assert add.attributes == {"messages": CHUNK}


def test_a_long_turn_is_found_whole_from_any_of_its_messages(open_memory: OpenMemory) -> None:
    memory = open_memory(embedder="none")
    answers = [say("go on", 0), *(say("…and so", 0, role="assistant") for _ in range(70)), say("thanks", 1)]
    mine(memory).add([say("before", 0), *answers], thread=CHAT)
    for seq in (1, 35, 71):
        assert [said.seq for said in mine(memory).trace.turn(f"{CHAT}:{seq}").messages] == list(range(1, 72))
    assert [said.seq for said in mine(memory).trace.turn(f"{CHAT}:72").messages] == [72]


def test_steps_of_an_agent_leave_no_row(open_memory: OpenMemory) -> None:
    memory = open_memory(embedder="none")
    mine(memory).add([{"location": "kitchen", "text": "walk", "timestamp": NOW.isoformat()}], thread="robot")
    with memory._deps.store.begin(HERE, write=False) as tx:
        assert tx.upkeep.spans(0, 1 << 40) == []


def test_nothing_is_kept_where_it_is_switched_off_and_decisions_are_told_all_the_same(
    open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EPISODIC_TRACE_DAYS", "0")
    memory = open_memory()
    (first,) = mine(memory).add("the tap drips", channel="sms")
    mine(memory).flush()
    (add,) = mine(memory).trace.turn(first.id).work
    assert (add.name, add.seconds) == ("add", None)
    assert [v.verdict for one in add.children for v in one.verdicts] == ["opens", "skip at 0", "manual"]


def test_what_is_old_is_dropped_once_a_day(open_memory: OpenMemory, clock: Clock) -> None:
    memory = open_memory()
    (first,) = mine(memory).add("the tap drips", thread=CHAT)
    clock.forward(days=29)
    mine(memory).add("still", thread=CHAT)
    mine(memory).flush()
    assert nodes(mine(memory).trace.turn(first.id), "add")[0].seconds is not None
    clock.forward(days=2)
    mine(memory).add("and now?", thread=CHAT)
    mine(memory).flush()
    assert nodes(mine(memory).trace.turn(first.id), "add")[0].seconds is None
    assert nodes(mine(memory).trace.turn(f"{CHAT}:1"), "add")[0].seconds is not None


class Sink:
    """Remembers what it was told."""

    def __init__(self) -> None:
        self.told: list[tuple[Scope, UUID, datetime, Span]] = []
        self.closed = 0

    def export(self, scope: Scope, turn: UUID, at: datetime, root: Span) -> None:
        self.told.append((scope, turn, at, root))

    def close(self) -> None:
        self.closed += 1


def test_a_sink_is_told_what_happened_and_keeps_no_text(open_memory: OpenMemory) -> None:
    sink = Sink()
    memory = open_memory()
    object.__setattr__(memory._deps.tracer, "_sink", sink)
    first, _ = mine(memory).add(
        [f"the {SECRET} rice", {"role": "assistant", "content": "yes"}], channel="sms"
    )
    mine(memory).flush()
    assert [(scope, root.name) for scope, _, _, root in sink.told] == [
        (HERE, "add"),
        (HERE, "link"),
        (HERE, "encode"),
    ]
    assert sink.told[0][1] == first.id  # the user's message, though a reply came with it
    assert sink.told[1][1] != first.id
    assert SECRET not in repr(sink.told)
    memory.close()
    assert sink.closed == 1


def verdicts(node: TraceNode) -> list[TracedVerdict]:
    return [*node.verdicts, *(v for one in node.children for v in verdicts(one))]


def test_a_boundary_decided_at_a_turn_is_told_there(open_memory: OpenMemory) -> None:
    memory = open_memory()
    mine(memory).add([*(say("the tap drips", n) for n in range(4)), say("goodbye", 600)], thread=CHAT)
    cut = [v for v in verdicts(mine(memory).trace.turn(f"{CHAT}:4").work[0]) if v.type == "boundary"]
    assert [(v.verdict, v.detail["before_seq"]) for v in cut] == [("time_gap", 4)]
    assert [v.type for v in verdicts(mine(memory).trace.turn(f"{CHAT}:0").work[0])] == ["check"]


def test_a_trace_reads_and_never_writes(open_memory: OpenMemory, clock: Clock) -> None:
    memory = open_memory()
    (first,) = mine(memory).add("the tap drips", thread=CHAT)
    before = list(mine(memory).export())
    for _ in range(2):
        mine(memory).trace.turn(first.id, text=True)
    assert list(mine(memory).export()) == before
    assert memory.doctor() == []
    assert not any("work" in json.loads(line).get("kind", "") for line in before)
    assert timedelta(0) == clock.now - NOW
