"""The runner of later work: leases that live as long as the work, failures, poison, an absent store."""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from random import Random
from typing import Any

import pytest
from builders.chats import Clock
from builders.faulty import FaultyStore
from builders.places import open_store

from episodic_agent.engine.jobs.runner import (
    ATTEMPTS,
    BACKOFF,
    BATCH,
    DEATHS,
    PATIENCE,
    Handler,
    Runner,
    deaths,
)
from episodic_agent.errors import BadReply, Conflict, InvalidInput, ProviderUnavailable, StoreUnavailable
from episodic_agent.protocols import Store
from episodic_agent.schemas import Job, Scope
from episodic_agent.wiring import utc_now

ANA, BO, OTHER = Scope("ana", "home"), Scope("bo", "home"), Scope("ana", "work")
SHORT = timedelta(seconds=0.6)  # a lease short enough to see it renewed
PATIENTLY = 30.0  # seconds no test ever waits


@dataclass
class Bench:
    """A store with jobs, and handlers whose effect is a row: "did" jobs, one for each time a job is done."""

    store: FaultyStore
    clock: Clock
    handled: list[list[str]] = field(default_factory=list)
    errors: dict[str, list[Exception]] = field(default_factory=dict)
    meanwhile: dict[str, Callable[[], object]] = field(default_factory=dict)
    runners: list[Runner] = field(default_factory=list)

    def put(self, *keys: str, kind: str = "do", scope: Scope = ANA) -> None:
        with self.store.inner.begin(scope) as tx:
            for key in keys:
                tx.upkeep.ask(kind, key, key, now=self.clock())

    def handle(self, scope: Scope, jobs: Sequence[Job]) -> None:
        self.handled.append([job.key for job in jobs])
        for job in jobs:
            self.meanwhile.get(job.key, lambda: None)()
            if self.errors.get(job.key):
                raise self.errors[job.key].pop(0)
        with self.store.begin(scope) as tx:
            for job in jobs:
                tx.upkeep.drop(job)
                tx.upkeep.ask("did", f"{job.key} {job.token}", job.key, now=self.clock())

    def runner(self, owner: str = "elsewhere:1:1", **how: Any) -> Runner:
        handlers: Mapping[str, Handler] = {"do": self.handle, "ask": self.handle}
        arguments = {"clock": self.clock, "entropy": Random(1).getrandbits, "owner": owner, **how}
        self.runners.append(Runner(self.store, handlers, **arguments))
        return self.runners[-1]

    def jobs(self, state: str | None = None, scope: Scope = ANA) -> dict[str, Job]:
        with self.store.inner.begin(scope, write=False) as tx:
            return {job.key: job for job in tx.upkeep.jobs(state=state) if job.kind != "did"}

    def did(self, scope: Scope = ANA) -> list[str]:
        with self.store.inner.begin(scope, write=False) as tx:
            return sorted(job.serial for job in tx.upkeep.jobs() if job.kind == "did")


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    opened = open_store(url)
    yield opened
    opened.close()


@pytest.fixture
def bench(store: Store, clock: Clock) -> Iterator[Bench]:
    made = Bench(FaultyStore(store), clock)
    yield made
    for runner in made.runners:
        runner.close()


def die_with(store: Store, clock: Clock, count: int = BATCH) -> None:
    """Claim as a process that then dies without a word; its lease is soon over."""
    claimed = store.claim("elsewhere:9:9", now=clock(), lease=timedelta(seconds=1), limit=count, kinds=["do"])
    assert claimed is not None
    clock.forward(seconds=2)


# --- company --------------------------------------------------------------------------------------------


def test_whoever_waits_for_a_scope_waits_for_what_another_thread_does_for_it(bench: Bench) -> None:
    begun, go_on, waited = threading.Event(), threading.Event(), threading.Event()

    def slow() -> None:
        begun.set()
        go_on.wait(PATIENTLY)

    bench.meanwhile["long"] = slow
    bench.put("long")
    runner = bench.runner()
    working = threading.Thread(target=runner.run_due)
    working.start()
    assert begun.wait(PATIENTLY)
    assert runner.run_due(BO) == 0  # nobody works for Bo
    waiting = threading.Thread(target=lambda: (runner.run_due(ANA), waited.set()))
    waiting.start()
    assert not waited.wait(0.1)
    assert bench.did() == []
    go_on.set()
    assert waited.wait(PATIENTLY)
    assert bench.did() == ["long"]
    working.join(PATIENTLY)
    waiting.join(PATIENTLY)


def test_only_awaited_kinds_are_waited_for_and_work_may_call_for_work(bench: Bench) -> None:
    begun, go_on = threading.Event(), threading.Event()
    runner = bench.runner(awaited=["ask"])
    bench.meanwhile["long"] = lambda: (runner.run_due(ANA), begun.set(), go_on.wait(PATIENTLY))
    bench.put("long")
    working = threading.Thread(target=runner.run_due)
    working.start()
    assert begun.wait(PATIENTLY)
    assert runner.run_due(ANA) == 0
    go_on.set()
    working.join(PATIENTLY)
    assert bench.did() == ["long"]


@pytest.mark.slow
def test_a_halted_runner_keeps_nobody_waiting(bench: Bench) -> None:
    begun, go_on = threading.Event(), threading.Event()
    bench.meanwhile["long"] = lambda: (begun.set(), go_on.wait(PATIENTLY))
    bench.put("long")
    runner = bench.runner()
    working = threading.Thread(target=runner.run_due)
    working.start()
    assert begun.wait(PATIENTLY)
    waiting = threading.Thread(target=runner.run_due, args=(ANA,))
    waiting.start()
    runner.halt()
    waiting.join(PATIENTLY)
    assert not waiting.is_alive()
    go_on.set()
    working.join(PATIENTLY)


# --- failures -------------------------------------------------------------------------------------------


def test_due_work_is_done_in_batches_and_nothing_is_left(bench: Bench) -> None:
    bench.put("a", "b", "c")
    bench.put("d", scope=BO)
    assert bench.runner().run_due() == 4
    assert bench.handled == [["a", "b", "c"], ["d"]]
    assert (bench.did(), bench.did(BO), bench.jobs()) == (["a", "b", "c"], ["d"], {})


def test_one_that_fails_does_not_take_the_others_of_its_batch_along(bench: Bench) -> None:
    bench.put("a", "bad", "c")
    bench.errors["bad"] = [ValueError("no"), ValueError("no")]
    bench.runner().run_due()
    assert bench.did() == ["a", "c"]
    assert bench.jobs()["bad"].last_error == "attempt 1: ValueError: no"


@pytest.mark.parametrize(
    ("error", "attempts"),
    [
        (ValueError("a fault"), ATTEMPTS),
        (InvalidInput("never"), ATTEMPTS),
        (BadReply("no JSON"), PATIENCE),
        (ProviderUnavailable("down"), PATIENCE),
    ],
    ids=lambda given: type(given).__name__,
)
def test_attempts_are_bounded_and_the_dead_letter_keeps_its_reason(
    bench: Bench, clock: Clock, error: Exception, attempts: int
) -> None:
    bench.put("bad")
    bench.errors["bad"] = [error] * 99
    runner = bench.runner()
    pauses = []
    while bench.jobs("waiting"):
        clock.now = bench.jobs()["bad"].run_after
        assert runner.run_due() == 1
        pauses.append(bench.jobs()["bad"].run_after - clock())
    assert len(bench.handled) == attempts
    dead = bench.jobs("dead")["bad"]
    assert dead.last_error == f"attempt {attempts}: {type(error).__name__}: {error}"
    targets = [BACKOFF * 2 ** min(n, 10) for n in range(1, attempts)]
    shares = [pause / most for pause, most in zip(pauses[:-1], targets, strict=True)]
    assert all(0.5 <= share <= 1 for share in shares)
    assert len(set(shares)) == len(shares)  # no two workers come back together


@pytest.mark.parametrize("error", [Conflict("overtaken"), StoreUnavailable("restarting")])
def test_what_another_writer_or_an_absent_store_prevents_is_never_given_up(
    bench: Bench, clock: Clock, error: Exception
) -> None:
    bench.put("slow")
    bench.errors["slow"] = [error] * 200
    runner = bench.runner()
    for _ in range(PATIENCE + 10):
        clock.now = bench.jobs()["slow"].run_after
        runner.run_due()
    assert bench.jobs("dead") == {}
    bench.errors.clear()
    clock.now = bench.jobs()["slow"].run_after
    runner.run_due()
    assert bench.did() == ["slow"]


def test_a_conflict_is_tried_again_at_once_before_the_job_waits(bench: Bench) -> None:
    bench.put("a")
    bench.errors["a"] = [Conflict("overtaken"), Conflict("overtaken")]
    bench.runner().run_due()
    assert bench.did() == ["a"]
    assert len(bench.handled) == 3


# --- leases ---------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_job_that_takes_longer_than_its_lease_keeps_it(bench: Bench) -> None:
    bench.put("long", "short")
    beats = threading.Semaphore(0)
    bench.store.renewed = beats.release
    runner = bench.runner(lease=SHORT, clock=utc_now)
    bench.clock.now = utc_now()

    def wait_and_try_to_take() -> None:
        begun = utc_now()
        while utc_now() - begun < 2 * SHORT:
            assert beats.acquire(timeout=PATIENTLY)
            assert bench.store.claim("elsewhere:2:2", now=utc_now(), lease=SHORT, kinds=["do"]) is None

    bench.meanwhile["long"] = wait_and_try_to_take
    assert runner.run_due() == 2
    assert bench.did() == ["long", "short"]
    assert len(bench.handled) == 1


def test_a_clock_that_leaps_takes_no_work_from_another_thread(
    bench: Bench, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    """A simulation sets its clock on by a day while the background works: what it holds stays its own."""
    bench.put("a", "b")
    runner, begun, leapt = bench.runner(), threading.Event(), threading.Event()
    bench.meanwhile["a"] = lambda: (begun.set(), leapt.wait(PATIENTLY))
    background = threading.Thread(target=runner.run_due)
    background.start()
    assert begun.wait(PATIENTLY)
    for _ in range(3):
        clock.forward(days=1)
        assert runner.run_batch() is None, "the job was taken from the thread that does it"
    leapt.set()
    background.join(PATIENTLY)
    assert bench.handled == [["a", "b"]]
    assert bench.did() == ["a", "b"]
    assert "taken over" not in caplog.text
    assert "no longer ours" not in caplog.text


def test_a_renewal_that_fails_is_tried_again_at_the_next_beat(bench: Bench) -> None:
    bench.put("long")
    beats = threading.Semaphore(0)
    bench.store.renewed = beats.release
    bench.store.renewals.extend([StoreUnavailable("restarting"), None])
    lease = timedelta(hours=1)  # by the clock that stands still
    runner = bench.runner(lease=lease)
    runner._heartbeat._lease = SHORT  # beats as for a short lease
    bench.meanwhile["long"] = lambda: [beats.acquire(timeout=PATIENTLY) for _ in range(2)]
    assert runner.run_due() == 1
    assert (bench.did(), bench.store.renewals) == (["long"], bench.store.claims)


def test_no_heartbeat_goes_on_when_nothing_is_held(bench: Bench) -> None:
    bench.put("a")
    runner = bench.runner(lease=SHORT)
    seen: list[threading.Thread] = []
    others = beating()  # of runners of other tests that nobody closed
    bench.meanwhile["a"] = lambda: seen.extend(t for t in beating() if t not in others)
    runner.run_due()
    (thread,) = seen
    thread.join(PATIENTLY)
    assert not thread.is_alive()
    bench.put("b")  # and the next claim begins another
    bench.meanwhile["b"] = lambda: seen.extend(t for t in beating() if t not in others)
    runner.run_due()
    assert len(seen) == 2
    runner.close()
    assert not seen[1].is_alive()


def beating() -> list[threading.Thread]:
    return [t for t in threading.enumerate() if t.name == "episodic-heartbeat"]


def test_a_worker_that_loses_its_lease_cannot_commit(bench: Bench, clock: Clock) -> None:
    """The paused worker wakes when another has claimed and finished: nothing it does is kept, nobody is blamed."""
    bench.put("a", "b")
    other = bench.runner("elsewhere:2:2")

    def pause() -> None:
        bench.meanwhile.clear()
        clock.forward(hours=1)
        assert other.run_due() == 2

    bench.meanwhile["a"] = pause
    paused = bench.runner("elsewhere:1:1")
    batch = paused.run_batch()
    assert batch is not None
    assert (batch.done, batch.failed, batch.lost) == (0, 0, 2)
    with bench.store.begin(ANA, write=False) as tx:
        assert sorted(job.key for job in tx.upkeep.jobs()) == ["a 2", "b 2"]  # the other's tokens, once each


def test_a_heartbeat_that_finds_a_job_lost_says_so(
    bench: Bench, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    bench.put("lost")
    beats = threading.Semaphore(0)
    bench.store.renewed = beats.release
    runner = bench.runner()
    runner._heartbeat._lease = SHORT  # beats as for a short lease

    def pause() -> None:
        clock.forward(hours=1)
        assert bench.store.claim("elsewhere:2:2", now=clock(), lease=timedelta(hours=1)) is not None
        assert beats.acquire(timeout=PATIENTLY)

    bench.meanwhile["lost"] = pause
    assert runner.run_due() == 1
    assert caplog.text.count("job do lost is no longer ours") == 1
    assert bench.did() == []


def test_a_job_lost_while_another_still_does_it_costs_no_attempt(bench: Bench, clock: Clock) -> None:
    bench.put("a")

    def pause() -> None:
        clock.forward(hours=1)
        assert bench.store.claim("elsewhere:2:2", now=clock(), lease=timedelta(hours=1)) is not None

    bench.meanwhile["a"] = pause
    assert bench.runner().run_due() == 1
    job = bench.jobs()["a"]
    assert (job.state, job.attempts, job.last_error) == ("leased", 2, None)


# --- poison ---------------------------------------------------------------------------------------------


def test_deaths_are_claims_since_the_last_orderly_failure(bench: Bench, clock: Clock) -> None:
    bench.put("a")
    die_with(bench.store, clock)
    bench.errors["a"] = [ValueError("no")]
    bench.runner().run_due()
    clock.now = bench.jobs()["a"].run_after
    counted = []
    bench.meanwhile["a"] = lambda: counted.extend(deaths(job) for job in bench.jobs().values())
    die_with(bench.store, clock)
    bench.runner().run_due()
    assert counted == [1]  # the one before the failure is accounted for


def test_a_suspect_runs_alone_and_the_rest_is_given_back_untouched(bench: Bench, clock: Clock) -> None:
    bench.put("a", "b", "c")
    for _ in range(2):
        die_with(bench.store, clock)
    seen: list[dict[str, tuple[str, int]]] = []
    for key in ("a", "b", "c"):
        bench.meanwhile[key] = lambda: seen.append(
            {k: (j.state, j.attempts) for k, j in bench.jobs().items()}
        )
    bench.put("fresh")
    assert bench.runner().run_due() == 4
    assert bench.handled == [["a"], ["b"], ["c"], ["fresh"]]
    assert seen[0] == {"a": ("leased", 3), "b": ("waiting", 2), "c": ("waiting", 2), "fresh": ("waiting", 0)}


def test_a_job_that_keeps_killing_its_process_becomes_a_dead_letter(bench: Bench, clock: Clock) -> None:
    bench.put("poison")
    for _ in range(DEATHS):
        die_with(bench.store, clock)
    assert bench.runner().run_due() == 1
    assert bench.handled == []
    assert bench.jobs("dead")["poison"].last_error == f"its process died {DEATHS} times while it ran"


def test_a_dead_letter_tried_again_by_hand_has_all_its_lives_back(bench: Bench, clock: Clock) -> None:
    bench.put("poison")
    for _ in range(DEATHS):
        die_with(bench.store, clock)
    bench.runner().run_due()
    with bench.store.begin(ANA) as tx:
        tx.upkeep.put_back(bench.jobs("dead")["poison"].id, retry_at=clock())
    bench.runner().run_due()
    assert bench.did() == ["poison"]


# --- an absent store, a halt ----------------------------------------------------------------------------


def test_what_is_held_when_the_store_goes_away_is_given_back_when_it_is_there_again(bench: Bench) -> None:
    bench.put("a", "b")
    gone = StoreUnavailable("the server restarts")
    bench.store.at_begin.extend([gone] * 3)  # the batch, the first alone, and saying so
    runner = bench.runner()
    with pytest.raises(StoreUnavailable):
        runner.run_due()
    assert {job.state for job in bench.jobs().values()} == {"leased"}
    assert runner.run_due() == 2  # no lease had to run out
    assert bench.did() == ["a", "b"]


def test_an_effect_whose_commit_went_through_unheard_happens_once(bench: Bench) -> None:
    bench.put("a", "b")
    bench.store.after_commit.append(StoreUnavailable("the connection was lost"))
    runner = bench.runner()
    runner.run_due()
    assert bench.did() == ["a", "b"]
    assert bench.jobs() == {}


def test_a_halted_runner_gives_back_what_it_has_not_begun(bench: Bench) -> None:
    bench.put("a", "b", "c", kind="ask")
    runner = bench.runner(singly=["ask"])
    bench.meanwhile["a"] = runner.halt
    assert runner.run_due() == 1
    assert bench.did() == ["a"]
    assert {(j.key, j.state, j.attempts) for j in bench.jobs().values()} == {
        ("b", "waiting", 0),
        ("c", "waiting", 0),
    }
    assert runner.run_due() == 0


def test_a_runner_claims_only_in_its_space_or_scope(bench: Bench) -> None:
    for scope in (ANA, BO, OTHER):
        bench.put("a", scope=scope)
    assert bench.runner(scope=BO).run_due() == 1
    assert bench.runner(space="home").run_due() == 1
    assert [bench.did(scope) for scope in (ANA, BO, OTHER)] == [["a"], ["a"], []]
    assert bench.runner().run_due() == 1
