"""Workers in processes of their own, killed again and again: every effect happens exactly once.

The harness knows a store by its URL only, so it runs wherever `builders.places` has a place.
"""

import json
import os
import random
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from builders.places import open_store, server_when_slow
from engine.crash_child import episodes_of
from engine.worker_child import COUNT, open_memory
from stores.builders import begin_thread, identity

from benchmarks import lives
from benchmarks.lives import KILLED, KillServer, Life
from episodic_agent.data import demo_folder
from episodic_agent.engine.jobs.runner import DEATHS
from episodic_agent.protocols import Store
from episodic_agent.schemas import Scope
from episodic_agent.stores import faults
from episodic_agent.wiring import utc_now

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the platform cannot fork")

DEMO = demo_folder()
SCOPE = Scope("ana", "home")
SERIALS = tuple(f"thread {n}" for n in range(8))
WORKERS = 3
SHORT_LEASE = 0.3  # seconds
PATIENTLY = 60.0


# --- a crew and its lives -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Slot:
    """A kill server that gives one worker after the other its life."""

    server: KillServer

    def live(self, **order: Any) -> Life:
        life = self.server.live(**order)
        assert life.ended in {0, KILLED}, life
        return life


@contextmanager
def slot() -> Iterator[Slot]:
    with lives.serving("engine.worker_child", policy="seed-001", space=SCOPE.space) as server:
        yield Slot(server)


@dataclass
class Crew:
    """Several slots at work on one database at once."""

    slots: Sequence[Slot]
    kills: int = 0
    points: dict[str, int] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def torment(self, seed: object, until: Callable[[], bool], **order: Any) -> None:
        """Let every slot live and die at random, until all is done."""

        def work(number: int) -> None:
            rng = random.Random(f"{seed} {number}")
            while not until():
                death = random_death(rng)
                life = self.slots[number].live(die=death, **order)
                self.note(death, life)

        with ThreadPoolExecutor(len(self.slots)) as pool:
            for running in [pool.submit(work, n) for n in range(len(self.slots))]:
                running.result(20 * PATIENTLY)

    def note(self, death: Mapping[str, Any], life: Life) -> None:
        with self.lock:
            if life.ended == KILLED:
                self.kills += 1
                name = str(death.get("point", next(iter(death), "?")))
                self.points[name] = self.points.get(name, 0) + 1


def random_death(rng: random.Random) -> dict[str, Any]:
    """Choose when a worker is to die: at a named point, at any call of any function, or at any time."""
    return rng.choice(
        [
            {"point": rng.choice(faults.POINTS), "count": rng.randint(1, 12)},
            {
                "point": rng.choice(["after-claim", "before-commit", "after-commit"]),
                "count": rng.randint(1, 9),
            },
            {"events": rng.randrange(2_000, 60_000)},
            {"seconds": rng.uniform(0.01, 0.2)},
        ]
    )


@pytest.fixture(scope="module")
def crew() -> Iterator[Callable[[], Crew]]:
    with ExitStack() as stack:
        slots = [stack.enter_context(slot()) for _ in range(WORKERS)]
        yield lambda: Crew(slots)


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    opened = open_store(url)
    yield opened
    opened.close()


# --- effects that show how often they happened -----------------------------------------------------------


def begin(store: Store) -> None:
    with store.begin(SCOPE) as tx:
        for serial in SERIALS:
            begin_thread(tx, serial)


def put(store: Store, keys: Sequence[str]) -> None:
    with store.begin(SCOPE) as tx:
        for n, key in enumerate(keys):
            tx.upkeep.ask(COUNT, key, SERIALS[n % len(SERIALS)], now=utc_now())


def happened(store: Store) -> list[str]:
    with store.begin(SCOPE, write=False) as tx:
        return [o.text for s in SERIALS for o in tx.observations.read(identity(s), 0, 9999)]


def dead(store: Store) -> dict[str, str]:
    with store.begin(SCOPE, write=False) as tx:
        return {job.key: job.last_error or "" for job in tx.upkeep.jobs(state="dead")}


def torment_counting(
    crew: Crew, store: Store, url: str, kills: int, *, at: Mapping[str, int] | None = None
) -> None:
    """Go on until there were so many kills, and so many at each of some points: which come is a matter of load."""
    begin(store)
    keys: list[str] = []

    def lacking() -> bool:
        return crew.kills < kills or any(crew.points.get(point, 0) < n for point, n in (at or {}).items())

    while lacking():
        assert crew.kills < max(5 * kills, 125), f"a point is never reached: {crew.points}"
        fresh = [f"job {len(keys) + n}" for n in range(10 * len(SERIALS))]
        put(store, fresh)
        keys += fresh
        crew.torment(len(keys), lambda: store.waiting(SCOPE) == 0, plan="count", url=url)
    assert dead(store) == {}
    assert sorted(happened(store)) == sorted(keys)
    assert store.check() == []
    assert crew.kills >= kills


@pytest.mark.slow
@server_when_slow
def test_workers_killed_while_others_work_do_everything_once(
    crew: Callable[[], Crew], store: Store, url: str
) -> None:
    torment_counting(crew(), store, url, kills=3)


@pytest.mark.slow
def test_workers_killed_again_and_again_do_everything_once(
    crew: Callable[[], Crew], store: Store, url: str
) -> None:
    named = dict.fromkeys(["after-claim", "before-commit", "after-commit"], 3)
    torment_counting(crew(), store, url, kills=10, at=named)


@pytest.mark.parametrize("renewals", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_worker_killed_right_after_a_renewal_leaves_its_work_to_the_next(
    crew: Callable[[], Crew], store: Store, url: str, renewals: int
) -> None:
    begin(store)
    put(store, ["job 0"])
    slot, two, *_ = crew().slots
    order = {"plan": "count", "url": url, "lease": SHORT_LEASE}
    assert slot.live(linger="job 0", die={"renewals": renewals}, **order).ended == KILLED
    while not happened(store):  # at once where the process is seen to be gone, else when its lease is over
        assert two.live(**order).ended == 0
    assert happened(store) == ["job 0"]


def written(path: Path) -> int:
    """Wait until a child wrote its number."""
    pause = threading.Event()
    for _ in range(int(PATIENTLY / 0.01)):
        if path.exists() and (text := path.read_text(encoding="ascii")):
            return int(text)
        pause.wait(0.01)
    raise AssertionError("the child never came so far")


@pytest.mark.slow
def test_a_paused_worker_whose_job_another_did_cannot_commit(
    crew: Callable[[], Crew], store: Store, url: str, tmp_path: Path
) -> None:
    begin(store)
    put(store, ["job 0"])
    slot, two, *_ = crew().slots
    pid = tmp_path / "pid"
    with ThreadPoolExecutor(1) as pool:
        order = {"plan": "count", "url": url, "lease": SHORT_LEASE}
        paused = pool.submit(slot.live, pause="job 0", pid_file=str(pid), **order)
        stopped = written(pid)
        while not happened(store):  # until the lease is over and another may have it
            two.live(**order)
        os.kill(stopped, signal.SIGCONT)
        life = paused.result(PATIENTLY)
    assert life.ended == 0
    assert {"done": 0, "lost": 1} in life.said
    assert happened(store) == ["job 0"]
    assert store.waiting(SCOPE) == 0
    assert dead(store) == {}


# --- poison ---------------------------------------------------------------------------------------------


@pytest.mark.slow
@server_when_slow
def test_poison_kills_a_bounded_number_of_workers_and_no_innocent_job(
    crew: Callable[[], Crew], store: Store, url: str
) -> None:
    begin(store)
    keys = [f"job {n}" for n in range(len(SERIALS))]  # all in one claim
    put(store, keys)
    first, *_ = crew().slots
    kills = 0
    while (life := first.live(plan="count", url=url, poison="job 3")).ended == KILLED:
        kills += 1
        assert kills <= DEATHS
    assert kills == DEATHS
    assert life.said
    assert sorted(happened(store)) == [key for key in keys if key != "job 3"]
    assert dead(store) == {"job 3": f"its process died {DEATHS} times while it ran"}


# --- whole memories -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def chats(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The conversations the project ships, short enough that no question is answered by the fallback."""
    return beginnings(tmp_path_factory.mktemp("chat"), 40)


def beginnings(folder: Path, lines: int) -> str:
    path = folder / "chats.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for chat in sorted(DEMO.glob("*.jsonl")):
            for line in chat.read_text(encoding="utf-8").splitlines()[:lines]:
                print(line, file=file)
    return str(path)


def lines_of(file: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(file).read_text(encoding="utf-8").splitlines()]


def undisturbed(folder: Path, file: str, policy: str) -> Mapping[str, Any]:
    """Return the episodes of a memory that did everything itself."""
    url = f"sqlite:///{folder / 'undisturbed.db'}"
    with open_memory({"url": url, "policy": policy, "plan": "here"}, jobs="here") as memory:
        memory.user("ana").add(lines_of(file))
        memory.user("ana").flush()
        assert memory.doctor() == []
        return episodes_of(memory._deps.store, Scope("ana"))


def torment_memory(crew: Crew, url: str, file: str, policy: str, users: Sequence[str]) -> dict[str, Any]:
    """Feed, serve and flush under fire; return what each user's memory holds in the end."""
    order = {"url": url, "file": file, "policy": policy, "users": users, "plan": "here", "space": "default"}
    order["begun"] = utc_now().isoformat()
    store = open_store(url)
    fed = threading.Event()
    feeder, *others = crew.slots

    def feed() -> None:
        rng = random.Random(policy)
        life = None
        while life is None or life.ended:
            death = random_death(rng) if rng.random() < 0.8 else {}
            life = feeder.live(**order | {"plan": "feed", "die": death})
            crew.note(death, life)
        fed.set()

    def settled() -> bool:
        return fed.is_set() and store.waiting() == 0

    workers = Crew(others)
    with ThreadPoolExecutor(1) as pool:
        feeding = pool.submit(feed)
        workers.torment(f"{policy} ask", settled, **order | {"plan": "serve"})
        feeding.result(PATIENTLY)
    with open_memory(order) as memory:
        for user in users:
            memory.user(user).flush()
    workers.torment(f"{policy} encode", settled, **order | {"plan": "serve"})
    crew.kills += workers.kills
    with open_memory(order) as memory:
        assert memory.doctor() == []
        assert memory.jobs.list() == []
        for user in users:
            assert all(card.summary for card in memory.user(user).episodes.list())
    held = {user: episodes_of(store, Scope(user)) for user in users}
    store.close()
    return held


@pytest.mark.slow
@pytest.mark.parametrize(
    ("url", "policy"), [("sqlite", "seed-001"), ("postgres", "default")], indirect=["url"]
)
def test_what_workers_killed_again_and_again_leave_is_what_a_memory_makes_undisturbed(
    crew: Callable[[], Crew], url: str, tmp_path: Path, chats: str, policy: str
) -> None:
    targets = undisturbed(tmp_path, chats, policy)
    tormented = crew()
    users: list[str] = []
    while tormented.kills < 8:
        fresh = [f"user {len(users) + n}" for n in range(4)]
        held = torment_memory(tormented, url, chats, policy, fresh)
        assert held == dict.fromkeys(fresh, targets)
        users += fresh
    assert tormented.kills >= 8
