"""Forgetting end to end: after an erasure no text, vector, word or sentence made of it is left anywhere (I12)."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import apsw
import pytest
from builders.assistants import TEN
from builders.chats import Clock
from builders.erasing import AFTER, SAID, SECRET, everywhere, indexed, learn, live
from builders.steps import step_fields
from conftest import OpenMemory

from episodic_agent import Memory
from episodic_agent.core.erasing import What
from episodic_agent.errors import InvalidInput, NotFound
from episodic_agent.stores.postgres.session import Session
from episodic_agent.wiring import is_server


@pytest.fixture
def opened(url: str, clock: Clock) -> Iterator[OpenMemory]:
    with ExitStack() as stack:
        yield lambda **more: stack.enter_context(
            Memory.open(url, **{"embedder": "hashing", "policy": "seed-001", "clock": clock, **more})
        )


def shown(memory: Memory, user: str | None = None) -> str:
    """Everything a memory tells."""
    told = [repr(memory.search(f"what about {SECRET}?", user_id=user)), repr(memory.episodes(user_id=user))]
    told += [repr(memory.context(f"what about {SECRET}?", user_id=user)), *memory.export(user_id=user)]
    told += [repr(memory.skills(user_id=user)), repr(memory.summaries(user_id=user))]
    told += [repr(memory.messages(c.episode_id, user_id=user)) for c in memory.episodes(user_id=user)]
    return "\n".join(told)


def sound(memory: Memory) -> list[str]:
    return [f.message for f in memory.doctor() if f.severity == "error"]


def test_the_life_of_these_tests_keeps_the_secret_where_it_should(
    opened: OpenMemory, clock: Clock, url: str
) -> None:
    memory = opened()
    live(memory, clock)
    learn(memory, clock)
    places = {where.partition(".")[0] for where in everywhere(url, SECRET)}
    assert places >= {"observation", "encoding", "decision", "skill", "metadata_term"}
    assert [card.origin for card in memory.episodes(where=f"tag={SECRET}")] != []
    assert indexed(memory, SECRET) > 0
    assert sound(memory) == []


@pytest.mark.parametrize("whole", [True, False], ids=["a thread", "what expires of it"])
def test_erasing_costs_a_server_as_many_statements_however_much_it_erases(
    postgres_url: str, clock: Clock, monkeypatch: pytest.MonkeyPatch, whole: bool
) -> None:
    said: list[str] = []
    run = Session._run

    def counted(session: Session, sql: str, bindings: Sequence[Any]) -> Any:
        said.append(sql)
        return run(session, sql, bindings)

    monkeypatch.setattr(Session, "_run", counted)
    costs = []
    with Memory.open(postgres_url, embedder="hashing", policy="seed-001", clock=clock) as memory:
        for many in (10, 80):
            for n in range(many):
                at = clock.now + timedelta(seconds=n)
                text = f"I love the {'abcdefghij'[n % 10]}{'klmnopqr'[n // 10]}ist trees."
                memory.add(text, role=f"Maya{n % 3}", thread=str(many), timestamp=at, ttl="1d")
            memory.flush()
            memory.consolidate()
            clock.forward(days=2)
            said.clear()
            if whole:
                memory.forget(thread=str(many), sweep=False)
            else:
                memory.apply_retention()
            costs.append(len(said))
    assert costs[1] <= costs[0] + 20, costs  # a statement for each would be 70 more


def test_an_erased_observation_leaves_no_word_of_it(opened: OpenMemory, clock: Clock, url: str) -> None:
    memory = opened()
    secret = live(memory, clock)
    spoken = [o for c in memory.episodes() for o in memory.messages(c.episode_id) if SECRET in o.text]
    for observation in spoken:
        receipt = memory.forget(observation=observation.id)
        assert (receipt.what, receipt.state, receipt.residue) == (What.OBSERVATION, "done", 0)
    assert secret.id in [o.id for o in spoken]
    assert everywhere(url, SECRET) == []
    assert indexed(memory, SECRET) == 0
    assert memory.residue([SECRET, SAID[5:30]]) == []
    assert SECRET not in shown(memory).replace(f"what about {SECRET}?", "")
    assert AFTER in shown(memory)
    assert sound(memory) == []


def test_nothing_of_an_erased_observation_comes_back(opened: OpenMemory, clock: Clock, url: str) -> None:
    memory = opened()
    memory.add([{"role": "user", "content": SAID, "id": "7"}], thread="safe", source="phone")
    memory.add([{"role": "user", "content": AFTER, "id": "8"}], thread="safe", source="phone")
    receipt = memory.forget(
        observation=memory.add([{"role": "user", "content": SAID, "id": "7"}], thread="safe", source="phone")[
            0
        ].id
    )
    assert receipt.counts["observations"] == 1
    again = memory.add([{"role": "user", "content": SAID, "id": "7"}], thread="safe", source="phone")
    assert [r.added for r in again] == [False]
    assert everywhere(url, SECRET) == []
    with pytest.raises(NotFound, match="erased already"):
        memory.forget(observation=again[0].id)


def test_an_erased_episode_goes_with_its_row(opened: OpenMemory, clock: Clock, url: str) -> None:
    memory = opened()
    live(memory, clock)
    for card in [c for c in memory.episodes() if c.origin == "safe" and c.state != "open"]:
        receipt = memory.forget(episode=card.episode_id)
        assert receipt.counts["episodes"] >= 1
        assert card.episode_id not in [c.episode_id for c in memory.episodes()]
    assert everywhere(url, SECRET) == []
    assert sound(memory) == []
    memory.resegment("safe", "default")
    memory.whatif("safe", "seed-001")
    assert sound(memory) == []


def test_an_erased_thread_goes_with_every_row(opened: OpenMemory, clock: Clock, url: str) -> None:
    memory = opened()
    live(memory, clock)
    learn(memory, clock)
    preview = memory.forget(thread="safe", dry_run=True)
    assert everywhere(url, SECRET) != []
    receipt = memory.forget(thread="safe")
    assert receipt.counts["observations"] == preview.counts["observations"] == 8
    assert [t.origin for t in memory.threads()] == ["desk", "cello"]
    memory.forget(thread="desk")
    assert everywhere(url, SECRET) == []
    assert indexed(memory, SECRET) == 0
    assert sound(memory) == []
    assert memory.skills() == []
    memory.add("A new beginning", thread="safe")
    assert sound(memory) == []


def test_an_erased_user_leaves_only_a_receipt(opened: OpenMemory, clock: Clock, url: str) -> None:
    memory = opened(user_id="ana")
    live(memory, clock)
    learn(memory, clock)
    with Memory.open(url, user_id="bo", embedder="hashing", policy="seed-001", clock=clock) as other:
        other.add("My boat is called Marina", thread="boat")
        receipt = memory.forget(everything=True)
        assert (receipt.what, receipt.state, receipt.residue) == (What.USER, "done", 0)
        assert other.users() == ["bo"]
        assert other.search("Marina").hits
    for word in (SECRET, "odile", "cellar", "ana"):
        assert everywhere(url, word) == [], word
    assert [r.id for r in memory.receipts(user_id="ana")] == [receipt.id]
    assert sound(memory) == []
    assert memory.search("the safe").hits == ()
    memory.add("Hello again", thread="safe")
    assert memory.stats().observations == 1


def test_a_skill_is_learned_again_without_the_erased_turn(opened: OpenMemory, clock: Clock, url: str) -> None:
    memory = opened()
    secret = learn(memory, clock)
    (before,) = memory.skills()
    receipt = memory.forget(observation=secret.id)
    assert receipt.counts["skills"] >= 1
    assert everywhere(url, SECRET) == []
    (after,) = memory.skills()  # the calls of that turn are left, and show it still
    assert (after.skill.name, after.skill.frequency) == (before.skill.name, before.skill.frequency)
    memory.forget(episode=min(memory.episodes(), key=lambda card: card.start_at).episode_id)
    (after,) = memory.skills()
    assert (after.skill.name, after.skill.frequency) == (before.skill.name, before.skill.frequency - 1)
    assert sound(memory) == []


@pytest.mark.parametrize("flushed", [True, False])
def test_places_and_things_of_an_agent_go_with_its_steps(opened: OpenMemory, url: str, flushed: bool) -> None:
    memory = opened(policy="default")
    steps = [
        {"timestamp": TEN + timedelta(seconds=n), **step_fields(n), "location": "hall"} for n in range(12)
    ]
    for n in (4, 5):
        steps[n] |= {
            "location": SECRET,
            "entities": [{"id": "x", "label": SECRET}],
            "action": f"open {SECRET}",
        }
        steps[n] |= {"events": [{"type": "appearance", "entity": SECRET, "id": "x"}]}
    receipts = memory.add([{"content": f"step {n}", **one} for n, one in enumerate(steps)], thread="robot")
    if flushed:
        memory.flush()
    before = {where.partition(".")[0] for where in everywhere(url, SECRET)}
    assert before >= (
        {"observation", "stay", "decision", "encoding"} if flushed else {"observation", "frame"}
    )
    for n in (4, 5):
        memory.forget(observation=receipts[n].id)
    assert everywhere(url, SECRET) == []
    assert [(visit.place, visit.steps) for visit in memory.route("robot")] == [("hall", 10)]
    memory.flush()
    assert sound(memory) == []


def test_a_thread_from_before_there_were_parts_is_forgotten_all_the_same(
    open_memory: OpenMemory, clock: Clock, database: Path
) -> None:
    memory = open_memory()
    secret = live(memory, clock)
    with closing(apsw.Connection(str(database))) as file:
        file.execute("DELETE FROM part")
    memory.forget(observation=secret.id)
    assert secret.id not in [o.id for c in memory.episodes() for o in memory.messages(c.episode_id)]


def test_linked_threads_are_told_without_it(opened: OpenMemory, clock: Clock, url: str) -> None:
    memory = opened()
    memory.add(f"Where is {SECRET} kept?", thread="safe", timestamp=TEN)
    secret = memory.add(f"{SECRET} is in the cellar", thread="cellar", timestamp=TEN + timedelta(hours=1))[0]
    memory.link("cellar", "safe")
    memory.forget(observation=secret.id)
    (first,) = [o for o in memory.messages(memory.episodes()[-1].episode_id) if SECRET in o.text]
    memory.forget(observation=first.id)
    assert everywhere(url, SECRET) == []
    (whole,) = [c for c in memory.episodes() if c.kind == "cross_thread"] or [None]
    assert whole is None or whole.title
    assert sound(memory) == []
    memory.forget(thread="cellar")
    assert sound(memory) == []


def test_a_preview_counts_and_writes_nothing(opened: OpenMemory, clock: Clock, url: str) -> None:
    memory = opened()
    secret = live(memory, clock)
    before = list(memory.export())[1:]
    seen = memory.forget(observation=secret.id, dry_run=True)
    assert seen.state == "preview"
    assert list(memory.export())[1:] == before
    assert memory.receipts() == []
    done = memory.forget(observation=secret.id)
    assert done.counts == seen.counts
    assert [r.id for r in memory.receipts()] == [done.id]
    assert [r.id for r in memory.receipts(observation=secret.id)] == [done.id]


def test_copies_that_stay_are_told_before_and_after(opened: OpenMemory, clock: Clock, url: str) -> None:
    memory = opened()
    said = memory.add(_a("user", SAID), thread="safe")[0]
    memory.search(f"the safe {SECRET}")
    echo, copy = memory.add([_a("assistant", SAID), _a("user", f"As I wrote: {SAID}.")], thread="desk")
    memory.add(_a("user", "The cellar is damp"), thread="desk")
    for named in ({"observation": said.id}, {"thread": "safe"}):
        assert set(memory.forget(**named, dry_run=True).repeated_by) == {echo.id, copy.id}
    assert set(memory.forget(observation=said.id).repeated_by) == {echo.id, copy.id}
    assert memory.forget(observation=echo.id).repeated_by == (copy.id,)
    assert memory.forget(observation=copy.id).repeated_by == ()
    assert everywhere(url, SECRET) == []


def test_what_was_erased_is_no_recall_that_comes_back(opened: OpenMemory, clock: Clock) -> None:
    memory = opened()
    said = memory.add(_a("user", SAID), thread="safe")[0]
    memory.search(SAID)
    memory.forget(observation=said.id)
    again = memory.add(_a("assistant", SAID), thread="desk")[0]
    assert [o.observation.id for o in memory.search(SAID).observations] == [again.id]


def _a(role: str, text: str) -> dict[str, str]:
    return {"role": role, "content": text}


def test_exactly_one_thing_is_named(memory: Memory) -> None:
    for given in ({}, {"thread": "a", "everything": True}, {"thread": "a", "episode": "b"}):
        with pytest.raises(InvalidInput, match="one thing"):
            memory.forget(**given)
    with pytest.raises(NotFound):
        memory.forget(thread="nowhere")
    with pytest.raises(NotFound):
        memory.forget(observation="nonsense")
    with pytest.raises(NotFound):
        memory.forget(everything=True, user_id="nobody")


def test_another_process_shows_nothing_of_it_either(opened: OpenMemory, clock: Clock) -> None:
    memory, other = opened(), opened()
    secret = live(memory, clock)
    assert any(SECRET in str(hit) for hit in other.search(SECRET).hits)
    memory.forget(observation=secret.id)
    assert SAID not in repr(other.search(SECRET))
    memory.forget(thread="safe")
    assert "safe" not in repr(other.search("the safe in the cellar").hits)
    memory.forget(everything=True)
    assert other.search("Odile").hits == ()
    other.add("Back again", thread="safe")
    assert other.search("Back again").hits
    assert sound(other) == []


def test_an_export_of_before_brings_nothing_back(
    opened: OpenMemory, clock: Clock, url: str, tmp_path: Path
) -> None:
    memory = opened()
    live(memory, clock)
    learn(memory, clock)
    old = tmp_path / "old.jsonl"
    old.write_text("\n".join(memory.export()), encoding="utf-8")
    clock.forward(minutes=1)
    for card in memory.episodes():
        for observation in memory.messages(card.episode_id):
            if SECRET in observation.text:
                memory.forget(observation=observation.id, sweep=False)
    memory.upkeep()
    memory.import_file(old)
    assert everywhere(url, SECRET) == []
    new = tmp_path / "new.jsonl"
    new.write_text("\n".join(memory.export()), encoding="utf-8")
    with Memory.open(tmp_path / "copy.db", embedder="hashing", policy="seed-001", clock=clock) as copy:
        copy.import_file(new)
        assert list(copy.export())[1:] == list(memory.export())[1:]
        assert sound(copy) == []
        assert copy.import_file(new).added == 0


def test_a_reader_that_holds_the_log_leaves_the_receipt_pending(
    open_memory: OpenMemory, clock: Clock, database: Path
) -> None:
    memory = open_memory()
    secret = live(memory, clock)
    with memory._parts.store.begin(memory._scope(None), write=False) as tx:
        assert tx.threads.count()
        receipt = memory.forget(observation=secret.id)
        assert (receipt.state, receipt.waits_for) == ("pending", "a reader holds the log of the file")
        assert any("pending" in f.message for f in memory.doctor())
    memory.upkeep()
    assert [r.state for r in memory.receipts()] == ["done"]
    assert SAID.encode() not in database.read_bytes()


def test_without_a_sweep_the_receipt_waits_for_upkeep(opened: OpenMemory, clock: Clock, url: str) -> None:
    memory = opened()
    secret = live(memory, clock)
    assert memory.forget(observation=secret.id, sweep=False).state == "pending"
    assert not any(SAID in str(value) for value in everywhere(url, SAID.lower()))
    memory.doctor(repair=True)
    assert [r.state for r in memory.receipts()] == ["done"]
    if not is_server(url):
        assert memory.residue([SAID]) == []
