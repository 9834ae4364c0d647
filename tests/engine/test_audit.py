"""Who did what to a memory: an entry beside every write, in its transaction, without a word of what was said."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from builders.chats import BREAD, LISBON, Clock, mine, say, talk
from builders.dumping import dumped
from builders.models import only
from conftest import OpenMemory
from hypothesis import given
from hypothesis import strategies as st
from stores.builders import ANA
from stores.verbs import READS, WRITES

from episodic_agent import Memory
from episodic_agent.engine.ingest import appending
from episodic_agent.engine.trace.acts import acts, calling
from episodic_agent.engine.trace.auditing import WRITTEN, AuditedStore
from episodic_agent.errors import InvalidInput, NotFound
from episodic_agent.protocols import OwnTimeout, Store
from episodic_agent.schemas import AuditEntry, AuditKind, Caller
from episodic_agent.stores.sqlite import SqliteStore
from episodic_agent.testing import ScriptedModel

NOON = datetime(2024, 6, 1, 12, tzinfo=UTC)
# What writes and leaves no entry by itself, and why.
UNTOLD = {
    "observations.save_records": "the record of a check belongs to the observation",
    "observations.hash_older": "a hash of what is there",
    "threads.rewrite_stays": "where observations were made belongs to them",
    "episodes.consolidate": "the facts that were learned are told",
    "index.put_postings": "what they are of is told",
    "index.drop": "what they are of is told",
    "knowledge.bury": "the fact that was deleted is told",
    "knowledge.note_mining": "that work waits",
    "observations.erase": "it goes with an erasure, which has its receipt",
    "upkeep.take_turn": "when retention was looked at",
    "upkeep.ask": "that work waits",
    "hold": "nothing is written",
    "keep_request": "what a retry goes by",
    "record": "a receipt is an entry of its own",
    "record entry": "it is one",
    "drop_audit": "the policy says so, and setting it is told",
}


@pytest.fixture
def ana(open_memory: OpenMemory, url: str) -> Any:
    clock = Clock(NOON)
    return mine(open_memory(path=url, clock=clock, policy="default")), clock


def verbs(entries: Any) -> list[str]:
    return [one.verb for one in reversed(entries)]


def test_each_call_that_writes_has_one_entry_with_who_and_what(ana: Any) -> None:
    user, _ = ana
    user.add(talk(LISBON, 0), thread="trip")
    with calling(Caller("http", "k1", "write")):
        user.add(talk(BREAD, 1, prefix="b"), thread="bread")
    adds = [one for one in user.trace.audit() if one.verb == "add"]
    assert [one.counts["observations"] for one in adds] == [len(BREAD), len(LISBON)]
    assert [one.by for one in adds] == [Caller("http", "k1", "write"), Caller("python")]
    threads = {one.origin: one.id for one in user.threads.list()}
    assert [(one.thing, one.subject) for one in adds] == [
        ("thread", threads["bread"]),
        ("thread", threads["trip"]),
    ]
    assert all(one.at == NOON and one.kind is AuditKind.WRITE for one in adds)
    assert "add · 1 thread, 4 observations" in repr(adds[1])
    assert str(adds[0].by) == "http, key k1 (write)"


def test_what_adds_nothing_and_what_only_reads_leaves_no_entry(ana: Any) -> None:
    user, _ = ana
    user.add(talk(LISBON, 0, prefix="l"), thread="trip")
    user.flush()
    before = user.trace.audit()
    user.add(talk(LISBON, 0, prefix="l"), thread="trip")
    user.search("flights to Lisbon", asking="trip")
    user.context("What about the flat?")
    user.facts.list()
    list(user.export())
    with pytest.raises(InvalidInput):
        user.add([{"role": "user"}])
    assert user.trace.audit() == before


def test_everything_done_by_hand_is_told_by_its_verb(ana: Any) -> None:
    user, _ = ana
    user.add(say("I live in Porto.", 0), thread="trip")
    user.add(talk(BREAD, 1, prefix="b"), thread="bread")
    user.flush()
    fact = user.facts.list()[0].id
    episode = user.episodes.list()[0].episode_id
    seen = len(user.trace.audit())
    user.facts.edit(fact, text="Ana lives in Braga.")
    user.facts.pin(fact)
    user.episodes.rename(episode, "The move")
    user.episodes.pin(thread="trip")
    user.episodes.unpin(thread="trip")
    user.episodes.suppress(words="vinegar")
    user.threads.rename("trip", "Moving")
    user.links.add("bread", "trip")
    user.links.remove("bread", "trip")
    user.retention.set("age=365d")
    user.facts.delete(user.facts.list()[0].id)
    told = user.trace.audit()[:-seen]
    by_hand = [one for one in told if one.by == Caller("python")]
    assert verbs(by_hand) == [
        "facts.edit",
        "facts.pin",
        "episodes.rename",
        "episodes.pin",
        "episodes.unpin",
        "episodes.suppress",
        "threads.rename",
        "links.add",
        "links.remove",
        "retention.set",
        "facts.delete",
    ]
    kinds = {one.verb: one.kind for one in by_hand}
    assert kinds.pop("facts.delete") is AuditKind.DELETION
    assert set(kinds.values()) == {AuditKind.WRITE}
    subjects = {one.verb: (one.thing, one.subject) for one in by_hand}
    assert subjects["facts.edit"] == ("fact", fact)
    assert subjects["episodes.rename"] == ("episode", episode)
    assert subjects["episodes.pin"][0] == "thread"
    words = dumped(told)
    assert not any(word in words for word in ("Porto", "Braga", "vinegar", "Moving", "The move", "trip"))


def test_later_work_names_the_job_it_was_for(ana: Any) -> None:
    user, _ = ana
    user.add(talk(LISBON, 0), thread="trip")
    user.flush()
    (encoded,) = [one for one in user.trace.audit() if one.verb == "encode"]
    episode = user.episodes.list()[0].episode_id
    assert (encoded.by.face, encoded.by.cause) == ("work", str(episode))
    assert (encoded.thing, encoded.subject, encoded.counts) == ("episode", episode, {"summaries": 1})


def test_a_call_in_many_transactions_has_one_entry(ana: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(appending, "GROUP", 8)  # observations of a transaction
    user, _ = ana
    user.add([say(f"Line {n} of a long list of nothing in particular", n / 60) for n in range(70)])
    (entry,) = [one for one in user.trace.audit() if one.verb == "add"]
    assert entry.counts["observations"] == 70 == user.stats().observations
    assert entry.subject == user.threads.list()[0].id


def test_a_model_call_is_told_with_the_work_that_made_it(open_memory: OpenMemory, url: str) -> None:
    model = ScriptedModel([{"title": "A trip to Lisbon", "summary": "Flights to Lisbon were booked."}] * 9)
    user = mine(
        open_memory(path=url, policy="default", language_model=only(model, "episode"), fact_policy="alone")
    )
    user.add(talk(LISBON, 0), thread="trip")
    user.flush()
    calls = user.trace.audit(kind="model")
    assert sum(one.counts["calls"] for one in calls) == len(model.calls) > 0
    assert {(one.verb, one.thing, one.note) for one in calls} == {("episode", "model", model.name)}
    assert all(one.counts["tokens"] > 0 for one in calls)
    assert {one.by.face for one in calls} == {"work"}
    assert calls[0].by.cause == str(user.episodes.list()[0].episode_id)
    assert "Flights" not in dumped(calls)


def test_an_erasure_is_told_without_what_was_erased(ana: Any) -> None:
    user, clock = ana
    user.add(talk(LISBON, 0), thread="trip")
    user.add(talk(BREAD, 1, prefix="b"), thread="bread")
    user.flush()
    clock.now += timedelta(minutes=1)
    with calling(Caller("http", "k9", "admin")):
        receipt = user.erase(thread="trip")
    assert receipt.by == Caller("http", "k9", "admin")
    assert user.erasures.list()[0].by == receipt.by
    (entry,) = user.trace.audit(kind="deletion")
    assert (entry.verb, entry.thing, entry.note) == ("erase", "thread", "request")
    assert (entry.by, entry.at, entry.counts) == (receipt.by, receipt.at, receipt.counts)
    assert "trip" not in dumped(user.trace.audit())
    clock.now += timedelta(minutes=1)
    user.erase(everything=True)
    left = user.trace.audit()
    assert [(one.verb, one.thing) for one in left] == [("erase", "user"), ("erase", "thread")]
    assert left[0].by == Caller("python")


def test_what_a_policy_and_the_clock_do_is_told_as_work_of_nobody(ana: Any) -> None:
    user, clock = ana
    user.add(say("The code of the door is 4711.", 0), thread="trip", ttl="1h")
    clock.now += timedelta(hours=2)
    user.upkeep()
    (entry,) = user.trace.audit(kind="deletion")
    assert (entry.note, entry.by.face) == ("ttl", "python")  # whoever calls for upkeep is behind it
    user.add(say("The code of the gate is 815.", 0), thread="trip", ttl="1h")
    clock.now += timedelta(hours=2)
    user._works.keeper.keep_up(user._at.scope)  # as the background does
    assert user.trace.audit(kind="deletion")[0].by == Caller("work")


def test_a_policy_lets_entries_go_and_no_more_than_they(ana: Any) -> None:
    user, clock = ana
    user.add(talk(LISBON, 0), thread="trip")
    clock.now += timedelta(days=20)
    assert user.retention.set("audit=30d").policy == "audit=30d"
    user.add(talk(BREAD, 1, prefix="b"), thread="bread")
    clock.now += timedelta(days=11)
    user.upkeep()
    entries = user.trace.audit()
    assert "retention.set" in verbs(entries)
    assert min(one.at for one in entries) == NOON + timedelta(days=20)
    assert user.stats().observations == len(LISBON) + len(BREAD)
    clock.now += timedelta(days=30)
    user.retention.apply()
    assert user.trace.audit(until=clock.now - timedelta(days=30)) == []
    with pytest.raises(InvalidInput, match="audit=soon is no span of time"):
        user.retention.set("audit=soon")


def test_kinds_times_and_limits_narrow_it(ana: Any) -> None:
    user, clock = ana
    user.add(say("One line"), thread="trip")
    clock.now += timedelta(days=1)
    user.threads.rename("trip", "Moving")
    (newest,) = user.trace.audit(limit=1)
    assert newest.verb == "threads.rename"
    assert verbs(user.trace.audit(clock.now)) == ["threads.rename"]
    assert "threads.rename" not in verbs(user.trace.audit(until=clock.now))
    assert user.trace.audit(kind="deletion") == []
    with pytest.raises(InvalidInput, match="no kind of audit 'reads'; there are write, model, deletion"):
        user.trace.audit(kind="reads")
    with pytest.raises(InvalidInput, match="is after `until`"):
        user.trace.audit("2024-06-02", until="2024-06-01")


def test_it_is_narrowed_to_a_face_or_a_key_however_many_others_wrote(ana: Any) -> None:
    user, clock = ana
    user.add(say("The first line"), thread="trip")
    with calling(Caller("http", "k1", "write")):
        user.threads.rename("trip", "By a key")
    with user._at.deps.store.begin(user._at.scope) as tx:  # many of one moment, more than are read at once
        for n in range(1_200):
            tx.record(AuditEntry(clock.now, f"{n:x}", AuditKind.WRITE, "add", Caller("mcp")))
    clock.now += timedelta(days=1)
    user.threads.rename("trip", "By hand")
    with calling(Caller("http", "k2", "admin")):
        user.erase(thread="trip")
    assert verbs(user.trace.audit(by="k1")) == ["threads.rename"]
    assert verbs(user.trace.audit(by="http")) == ["threads.rename", "erase"]
    assert verbs(user.trace.audit(by="python")) == ["add", "threads.rename"]
    assert len(user.trace.audit(by="mcp", limit=2_000)) == 1_200
    assert [one.by.key for one in user.trace.audit(by="k2", kind="deletion")] == ["k2"]
    assert user.trace.audit(by="nobody") == []


def test_a_past_tells_what_was_done_by_then(ana: Any) -> None:
    user, clock = ana
    user.add(talk(LISBON, 0), thread="trip")
    then, by_then = clock.now, user.trace.audit()
    clock.now += timedelta(days=1)
    user.threads.rename("trip", "Moving")
    assert user.as_of(then).trace.audit() == by_then
    assert user.as_of(clock.now).trace.audit() == user.trace.audit()


def test_nobody_sees_anothers_and_nobody_knows_a_stranger(open_memory: OpenMemory, url: str) -> None:
    memory: Memory = open_memory(path=url)
    memory.user("ana").add("A line of Ana's")
    memory.user("bo").add("A line of Bo's")
    assert len([one for one in memory.user("bo").trace.audit() if one.verb == "add"]) == 1
    with pytest.raises(NotFound, match="no user 'cy'"):
        memory.user("cy").trace.audit()


# --- the store that keeps it --------------------------------------------------------------------------------


@pytest.fixture
def store(tmp_path: Path) -> Any:
    inner = SqliteStore(tmp_path / "m.db", synchronous="off")
    yield AuditedStore.of(inner, Clock(NOON), "here")
    inner.close()


def entries_in(store: Store) -> list[AuditEntry]:
    with store.begin(ANA, write=False) as tx:
        return list(tx.audit())


def test_what_is_rolled_back_leaves_no_entry_and_is_counted_once(store: Store) -> None:
    def write(fails: int) -> None:
        with store.begin(ANA) as tx:
            tx.upkeep.put(OwnTimeout("sms", timedelta(minutes=5)))
            assert fails == 0

    @acts()
    class Trying:
        def retry(self) -> None:
            for fails in (2, 1):
                with pytest.raises(AssertionError):
                    write(fails)
            write(0)

    Trying().retry()
    (entry,) = entries_in(store)
    assert (entry.verb, entry.counts) == ("retry", {"timeouts": 1})


def test_a_verb_that_uses_others_is_one_act_and_a_private_method_none(store: Store) -> None:
    @acts("room")
    class Verbs:
        def outer(self) -> None:
            self.inner()
            self.inner()
            self._hidden()

        def inner(self) -> None:
            with store.begin(ANA) as tx:
                tx.upkeep.put(OwnTimeout("sms", timedelta(minutes=5)))

        def _hidden(self) -> None:
            with store.begin(ANA) as tx:
                tx.upkeep.put(OwnTimeout("chat", None))

    Verbs().outer()
    Verbs().inner()
    Verbs()._hidden()
    assert [(one.verb, dict(one.counts)) for one in entries_in(store)][1:] == [
        ("room.inner", {"timeouts": 1}),
        ("room.outer", {"timeouts": 3}),
    ]


def test_every_method_of_the_port_that_writes_is_told_or_has_a_reason() -> None:
    writing = {name.split(" ")[0] for name in WRITES}
    told = {f"{aggregate}.{name}" for aggregate, rules in WRITTEN.items() for name in rules}
    silent = {name for name in writing if name not in told}
    assert silent <= UNTOLD.keys()
    assert {name for name in UNTOLD if "." in name} & told == set()
    assert told & {name.split(" ")[0] for name in READS} == set()


@given(st.lists(st.sampled_from(["add", "again", "flush", "rename", "erase"]), min_size=1, max_size=6))
def test_what_is_told_adds_up_to_what_is_there(program: list[str]) -> None:
    clock = Clock(NOON)
    with Memory.open(":memory:", embedder="none", clock=clock, resume=False) as memory:
        user = memory.user("ana", new=True)
        number = 0
        for step in program:
            clock.now += timedelta(seconds=1)
            if step == "add":
                number += 1
            if step in ("add", "again") and number:
                user.add(f"Line {number}", id=f"{number}", thread="t")
            elif step == "flush" and number:
                user.flush()
            elif step == "rename" and user.threads.list():
                user.threads.rename("t", f"Title {number}")
            elif step == "erase" and user.threads.list():
                user.erase(thread="t")
        totals = Counter[str]()
        for one in user.trace.audit(limit=1000) if number else ():
            totals[one.kind] += one.counts.get("observations", 0)
        there = user.stats().observations if number else 0
        assert totals[AuditKind.WRITE] - totals[AuditKind.DELETION] == there
