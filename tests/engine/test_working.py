"""Workers and memories that leave their work to them; everything a memory does stays in its space."""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest
from builders.chats import BREAD, LISBON, TAP, Clock, diary, mine, talk
from builders.faulty import FaultyStore
from builders.places import open_store
from engine.crash_child import episodes_of

from episodic_agent.core.boundary.policies import policy as named_policy
from episodic_agent.engine.deps import Deps
from episodic_agent.engine.memory import Memory
from episodic_agent.errors import Conflict, InvalidInput, NotFound, StoreError, StoreUnavailable
from episodic_agent.protocols import Store, Transaction
from episodic_agent.providers.embedders.hashing import HashingEmbedder
from episodic_agent.schemas import Scope
from episodic_agent.wiring import Memory as OpenedMemory

pytestmark = pytest.mark.usefixtures("unending_parts", "nothing_quoted")
Make = Callable[..., Memory]
GONE = StoreUnavailable("the server restarts; try again")


@pytest.fixture
def store(url: str) -> Iterator[FaultyStore]:
    opened = open_store(url)
    yield FaultyStore(opened)
    opened.close()


@pytest.fixture
def make(store: FaultyStore, clock: Clock) -> Iterator[Make]:
    """Make memories over the store under test (or a wrapper of it)."""

    with ExitStack() as stack:

        def made(over: Any = None, *, policy: str = "seed-001", **how: Any) -> Memory:
            deps = Deps(
                store=over or store,
                embedder=HashingEmbedder(64),
                policy=policy,
                resolve_policy=named_policy,
                clock=clock,
                entropy=Random(1).getrandbits,
                owner="here:1:1",
                link_policy="none",  # which jobs a link asks for is told elsewhere
            )
            memory = Memory(deps, **how)
            stack.callback(memory._works.later.background.close)
            return memory

        yield made


def titles(memory: Memory) -> list[str]:
    return [card.title for card in mine(memory).episodes.list()]


def worded(memory: Memory) -> bool:
    """Tell whether every closed episode has a summary."""
    return all(card.summary for card in mine(memory).episodes.list() if card.state != "open")


# --- who does later work --------------------------------------------------------------------------------


def test_a_memory_that_leaves_its_work_to_workers_claims_nothing(store: FaultyStore, make: Make) -> None:
    memory = make(jobs="workers")
    store.claims.extend([AssertionError("a claim")] * 99)
    receipts = mine(memory).add(diary())
    assert all(r.added for r in receipts)
    assert mine(memory).search("plumber tap").observations
    assert mine(memory).flush() == 1
    memory.resume()
    memory.doctor(repair=True)
    assert memory.upkeep() == 0
    assert memory.jobs.run() == 0
    assert not worded(memory)
    assert {j.state for j in memory.jobs.list()} == {"waiting"}
    assert not any(t.name == "episodic-jobs" for t in threading.enumerate())


def test_workers_leave_what_the_memory_would_have_made_itself(store: FaultyStore, make: Make) -> None:
    leaving, doing = make(jobs="workers"), make(space="other")
    for memory in (leaving, doing):
        mine(memory).add(diary())
        mine(memory).flush()
    lines: list[str] = []
    assert leaving.jobs.worker(say=lines.append).run(once=True) == 5
    done = ["encode of default in default: 4 done in 0.00 s", "facts of default in default: 1 done in 0.00 s"]
    assert lines == done
    assert episodes_of(store, Scope()) == episodes_of(store, Scope(space="other"))
    assert worded(leaving)
    assert [f for f in leaving.doctor() if f.severity == "error"] == []


@pytest.mark.parametrize("jobs", ["somewhere", "", "Workers"])
def test_an_unknown_way_to_do_later_work_is_refused_before_a_file_is_made(
    database: Path, monkeypatch: pytest.MonkeyPatch, jobs: str
) -> None:
    monkeypatch.setenv("EPISODIC_JOBS", jobs)
    with pytest.raises(InvalidInput, match="there are here and workers"):
        OpenedMemory.open(database, embedder="none")
    assert not database.exists()


def test_the_setting_says_who_does_later_work(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EPISODIC_JOBS", "workers")
    with OpenedMemory.open(database, embedder="none") as memory:
        mine(memory).add("the tap drips", thread="tap")
        mine(memory).flush()
        assert len(memory.jobs.list(state="waiting")) == 1
    with OpenedMemory.open(database, embedder="none", jobs="here", resume=False) as memory:
        assert memory.jobs.run() == 1


# --- a worker -------------------------------------------------------------------------------------------


def test_a_worker_completes_what_an_erasure_left_in_the_database(make: Make) -> None:
    memory = make(jobs="workers")
    mine(memory).add("the code of the safe is 4711")
    assert mine(memory).erase(everything=True, sweep=False).state == "pending"
    memory.jobs.worker().run(once=True)
    assert [one.state for one in memory.erasures()] == ["done"]


def test_a_worker_closes_silent_threads_by_the_clock(make: Make, clock: Clock) -> None:
    memory = make(jobs="workers", policy="default")
    mine(memory).add(talk(TAP, 0))
    clock.forward(days=60)
    lines: list[str] = []
    assert memory.jobs.worker(say=lines.append).run(once=True) == 1
    assert lines[0] == "closed 1 silent frame"
    assert worded(memory)
    assert [card.reason for card in mine(memory).episodes.list()] == ["time_gap"]


def test_one_scope_that_cannot_be_looked_at_does_not_keep_the_others_open(
    store: FaultyStore, make: Make, clock: Clock
) -> None:
    memory = make(jobs="workers", policy="default")
    for user in ("ana", "bo"):
        memory.user(user).add(talk(TAP, 0))
    clock.forward(days=60)
    store.at_begin.extend([Conflict("deadlock")] * 8)
    lines: list[str] = []
    assert memory.jobs.worker(say=lines.append).run(once=True) == 1
    assert lines[:2] == ["threads of ana in default stay open for now: deadlock", "closed 1 silent frame"]
    assert [card.state for card in memory.user("bo").episodes.list()] == ["closed"]


def test_a_worker_does_only_the_kinds_and_the_user_it_is_told(make: Make) -> None:
    memory = make(jobs="workers")
    for user in ("ana", "bo"):
        memory.user(user).add(talk(TAP, 0))
        memory.user(user).flush()
    assert memory.jobs.worker(kinds=["ask", "embed"]).run(once=True) == 0
    assert memory.user("bo").jobs.worker().run(once=True) == 1
    assert [j.user_id for j in memory.jobs.list()] == ["ana"]
    assert memory.jobs.worker(kinds=["encode"]).run(once=True) == 1
    with pytest.raises(
        InvalidInput,
        match="no such kind of jobs: 'sing'; there are encode, ask, embed, pieces, reembed, review, link",
    ):
        memory.jobs.worker(kinds=["encode", "sing"])
    with pytest.raises(NotFound, match="known users: ana, bo"):
        memory.user("cy").jobs.worker()
    for poll in (0, -1, float("nan"), float("inf")):
        with pytest.raises(InvalidInput, match="a worker looks every"):
            memory.jobs.worker(poll=poll)


def test_a_worker_serves_its_space_or_all(make: Make) -> None:
    home, work = make(space="home", jobs="workers"), make(space="work", jobs="workers")
    for memory in (home, work):
        mine(memory).add(talk(TAP, 0))
        mine(memory).flush()
    assert home.jobs.worker().run(once=True) == 1
    assert worded(home)
    assert not worded(work)
    assert home.jobs.worker(all_spaces=True).run(once=True) == 2  # and facts of what ended long ago at home
    assert worded(work)


def test_a_worker_goes_on_until_it_is_stopped_and_takes_up_what_comes(store: FaultyStore, make: Make) -> None:
    memory = make(jobs="workers")
    answer = threading.Semaphore(0)

    def say(line: str) -> None:
        assert "done" in line
        answer.release()

    worker = memory.jobs.worker(poll=0.01, say=say)
    thread = threading.Thread(target=worker.run)
    thread.start()
    for lines in (TAP, LISBON):
        mine(memory).add(talk(lines, 0))
        mine(memory).flush()
        assert answer.acquire(timeout=30)
    assert worded(memory)
    worker.stop()
    thread.join(30)
    assert not thread.is_alive()
    mine(memory).add(talk(BREAD, 5))
    mine(memory).flush()
    assert len(memory.jobs.list(state="waiting")) == 1


def test_a_worker_waits_for_a_store_that_goes_away_and_goes_on_by_itself(
    store: FaultyStore, make: Make
) -> None:
    memory = make(jobs="workers")
    mine(memory).add(diary())
    mine(memory).flush()
    store.claims.extend([GONE, GONE])
    store.at_begin.extend([GONE] * 4)  # then in the middle of a batch
    lines: list[str] = []

    def say(line: str) -> None:
        lines.append(line)
        if "done" in line:
            worker.stop()

    worker = memory.jobs.worker(poll=0.01, say=say)
    assert worker.run() == 4
    assert [line.split(";")[0] for line in lines[:3]] == ["the server restarts"] * 3
    assert lines[3].startswith("encode of default in default: 4 done")
    assert lines[4:] == ["going on"]


def test_a_worker_that_runs_once_tells_of_a_store_that_is_away(store: FaultyStore, make: Make) -> None:
    memory = make(jobs="workers")
    store.claims.extend([GONE] * 2)
    with pytest.raises(StoreUnavailable, match="the server restarts"):
        memory.jobs.worker().run(once=True)
    store.claims.clear()
    store.claims.append(StoreError("damaged"))
    with pytest.raises(StoreError, match="damaged"):  # waiting mends nothing
        memory.jobs.worker().run()


# --- jobs as people see them ----------------------------------------------------------------------------


def dead_letters(memory: Memory, store: FaultyStore, users: tuple[str, ...] = ("ana", "bo")) -> None:
    for user in users:
        memory.user(user).add(talk(TAP, 0))
        memory.user(user).flush()
        claimed = store.claim("x:1:1", now=memory._deps.clock(), lease=timedelta(1), scope=Scope(user))
        assert claimed is not None
        with store.begin(claimed[0]) as tx:
            tx.upkeep.put_back(claimed[1][0], error="attempt 5: ValueError: no", retry_at=None)


def test_jobs_are_listed_tried_again_and_cancelled(store: FaultyStore, make: Make) -> None:
    memory = make(jobs="workers")
    dead_letters(memory, store)
    ana, bo = memory.jobs.list()
    assert (ana.user_id, ana.kind, ana.state, ana.attempts) == ("ana", "encode", "dead", 1)
    assert ana.last_error == "attempt 5: ValueError: no"
    assert memory.user("bo").jobs.list() == memory.jobs.list(state="dead")[1:] == [bo]
    assert memory.jobs.list(state="leased") == []
    finding = next(f for f in memory.doctor() if f.invariant == "jobs" and f.severity == "error")
    assert f"`episodic jobs retry {ana.id}`" in finding.message
    assert memory.user("bo").jobs.retry(str(bo.id)[-12:]) == bo
    assert [(j.state, j.attempts) for j in memory.jobs.list()] == [("dead", 1), ("waiting", 0)]
    assert memory.jobs.retry_dead() == 1
    assert memory.jobs.retry_dead() == 0
    assert memory.jobs.cancel(ana.id).key == ana.key
    assert [j.id for j in memory.jobs.list()] == [bo.id]
    assert memory.jobs.worker().run(once=True) == 1


def test_jobs_that_are_not_there_or_being_done_are_refused_clearly(store: FaultyStore, make: Make) -> None:
    memory = make(jobs="workers")
    dead_letters(memory, store)
    bo = memory.user("bo").jobs.list()[0]
    for value in ("ffff", str(bo.id), ""):  # bo's is not ana's
        with pytest.raises(NotFound, match=r"no job has the id .*; `jobs.list.*shows the ids"):
            memory.user("ana").jobs.cancel(value)
    memory.jobs.retry_dead()
    claimed = store.claim("x:1:1", now=memory._deps.clock(), lease=timedelta(1), scope=Scope("bo"))
    assert claimed is not None
    for verb in (memory.jobs.retry, memory.jobs.cancel):
        with pytest.raises(Conflict, match="is being done; wait for it to end"):
            verb(bo.id)
    with pytest.raises(InvalidInput, match="there are waiting, leased, dead"):
        memory.jobs.list(state="asleep")
    with pytest.raises(NotFound, match="no user 'cy'"):
        memory.user("cy").jobs.list()


def test_the_beginning_of_several_ids_names_none(make: Make) -> None:
    memory = make(jobs="workers")
    mine(memory).add(diary())
    mine(memory).flush()
    ids = [str(j.id) for j in memory.jobs.list()]
    several = next((i[:1] for i in ids if sum(other.startswith(i[:1]) for other in ids) > 1), None)
    if several is not None:
        with pytest.raises(NotFound, match=r"[234] jobs have ids like"):
            memory.jobs.cancel(several)
    assert str(memory.jobs.cancel(ids[0]).id) == ids[0]
    assert [str(j.id) for j in memory.jobs.list()] == ids[1:]


# --- nothing leaves the space (I11) ---------------------------------------------------------------------


class Guarded:
    """A store that refuses whatever would look past one space."""

    def __init__(self, inner: Store, space: str) -> None:
        self.inner = inner
        self.space = space
        self.asked: set[str] = set()

    def scopes(self, of: str | Scope | None = None) -> Any:
        assert (of.space if isinstance(of, Scope) else of) == self.space
        return self.inner.scopes(of)

    def claim(self, owner: str, **how: Any) -> Any:
        self.asked.add("claim")
        scope = how.get("scope")
        assert scope.space == self.space if scope else how.get("space") == self.space
        return self.inner.claim(owner, **how)

    def waiting(self, scope: Scope | None = None, **how: Any) -> int:
        assert scope.space == self.space if scope else how.get("space") == self.space
        return self.inner.waiting(scope, **how)

    @contextmanager
    def begin(self, scope: Scope, *, write: bool = True) -> Iterator[Transaction]:
        assert scope.space == self.space
        with self.inner.begin(scope, write=write) as tx:
            yield tx

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


@pytest.mark.slow
def test_no_verb_of_a_memory_looks_past_its_space(store: FaultyStore, make: Make, clock: Clock) -> None:
    theirs = make(space="work", jobs="workers")
    theirs.user("ana").add(diary())
    theirs.user("ana").flush()
    theirs.user("bo").add(talk(TAP, 9))
    before = (episodes_of(store, Scope("ana", "work")), theirs.jobs.list(), theirs.user("bo").stats())
    guarded = Guarded(store, "home")
    memory = make(guarded, space="home", policy="default")
    memory.user("cy").add(diary(), wait=False)
    memory.resume()
    clock.forward(days=90)
    assert memory.upkeep() <= 1  # its background may have been faster
    assert memory.users() == ["cy"]
    assert mine(memory).search("pianos").abstained  # nothing is remembered of the default user
    memory.user("cy").flush()
    assert {f.scope for f in memory.doctor(repair=True)} <= {Scope("cy", "home")}
    done_by = time.monotonic() + 30
    while memory.jobs.list() and time.monotonic() < done_by:  # its background may be doing the last of them
        memory.jobs.run()
    memory._works.later.background.close()
    assert memory.jobs.list() == []
    assert memory.jobs.retry_dead() == 0
    for verb in (memory.jobs.retry, memory.jobs.cancel):
        with pytest.raises(NotFound):
            verb(before[1][0].id)
    memory._works.later.keep_up(memory._scopes())
    assert memory.jobs.worker().run(once=True) == 0
    memory._works.later.background.close()
    assert guarded.asked == {"claim"}
    assert before == (episodes_of(store, Scope("ana", "work")), theirs.jobs.list(), theirs.user("bo").stats())


# --- faster writers and lost connections (exactly once) ---------------------------------------------------


@pytest.mark.parametrize("count", [1, 7])
def test_an_append_that_another_writer_is_in_the_way_of_is_repeated_at_once(
    store: FaultyStore, make: Make, count: int
) -> None:
    memory = make()
    store.at_commit.extend([Conflict("deadlock")] * count)
    receipts = mine(memory).add(diary())
    assert [r.added for r in receipts] == [True] * 16
    assert [r.seq for r in receipts] == list(range(16))
    assert mine(memory).stats().observations == 16


def test_an_append_that_is_always_overtaken_says_so(store: FaultyStore, make: Make) -> None:
    memory = make()
    store.at_commit.extend([Conflict("deadlock")] * 8)
    with pytest.raises(Conflict, match=r"deadlock \(0 items are stored; repeat the call to add the rest\)"):
        mine(memory).add(diary())
    assert store.writes == 8
    assert mine(memory).stats().observations == 0


def test_an_append_repeated_after_a_faster_writer_finds_what_that_one_stored(
    store: FaultyStore, make: Make
) -> None:
    memory, other = make(), make(store.inner)

    class Overtaken(FaultyStore):
        @contextmanager
        def begin(self, scope: Scope, *, write: bool = True) -> Iterator[Transaction]:
            if write and self.at_begin:
                raise_after = self.at_begin.popleft()
                mine(other).add(diary()[:5])
                assert raise_after is not None
                raise raise_after
            with super().begin(scope, write=write) as tx:
                yield tx

    overtaken = Overtaken(store.inner, at_begin=deque([Conflict("the thread is taken")]))
    receipts = mine(make(overtaken)).add(diary())
    assert [r.added for r in receipts] == [False] * 5 + [True] * 11
    assert [r.seq for r in receipts] == list(range(16))
    assert mine(memory).stats().observations == 16


def test_a_commit_that_went_through_unheard_is_counted_as_ours(store: FaultyStore, make: Make) -> None:
    memory = make()
    store.after_commit.append(StoreUnavailable("the connection was lost"))
    receipts = mine(memory).add(diary())
    assert [(r.added, r.seq) for r in receipts] == [(True, n) for n in range(16)]
    assert mine(memory).stats().observations == 16


def test_a_commit_that_failed_unheard_is_repeated_once(store: FaultyStore, make: Make) -> None:
    memory = make()
    store.at_commit.append(StoreUnavailable("the connection was lost"))
    assert all(r.added for r in mine(memory).add(diary()[:4]))
    store.at_commit.extend([StoreUnavailable("the connection was lost")] * 2)
    with pytest.raises(StoreUnavailable, match=r"connection was lost \(0 items are stored"):
        mine(memory).add(diary()[4:8])
    assert mine(memory).stats().observations == 4


def test_a_store_that_is_away_before_anything_is_written_is_not_asked_twice(
    store: FaultyStore, make: Make
) -> None:
    memory = make()
    store.at_begin.append(GONE)
    with pytest.raises(StoreUnavailable, match=r"restarts; try again \(0 items"):
        mine(memory).add(diary())
    assert store.writes == 0


def test_closing_is_repeated_too(store: FaultyStore, make: Make, clock: Clock) -> None:
    memory = make(jobs="workers", policy="default")
    mine(memory).add(diary())
    store.at_commit.extend([Conflict("deadlock")] * 5)
    assert mine(memory).flush() == 1
    mine(memory).add(talk(BREAD, 9))
    clock.forward(days=90)
    store.at_commit.extend([Conflict("deadlock")] * 7)
    assert memory.upkeep() == 1
    store.at_commit.clear()
    mine(memory).add(talk(TAP, 200))
    store.at_commit.extend([Conflict("deadlock")] * 8)
    with pytest.raises(Conflict):
        mine(memory).flush()
    store.at_commit.clear()
    mine(memory).flush()
    assert (
        memory.jobs.worker().run(once=True) == len(mine(memory).episodes.list()) + 1
    )  # one that learns facts
    assert [f for f in memory.doctor() if f.severity == "error"] == []
