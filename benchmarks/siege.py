"""A memory under siege: writers, workers and the server of one database are killed while they go on.

Writers add the same conversations for ever new users, workers do the later work, both in processes that may
be made to end at named points, at any call of any function and at any time; the server is stopped at once,
killed with all its processes, and loses single ones. What is there in the end must be what one process makes
undisturbed in a file. The server is brought by who calls: `benchmarks.kills` and the tests have one each.
"""

import os
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol

import psutil
import psycopg

from benchmarks.lives import KILLED, KillServer, Life, serving
from benchmarks.siege_child import PAUSE, open_memory, patiently, read_chats
from episodic_agent.data import demo_folder
from episodic_agent.engine.jobs.kinds import FACTS
from episodic_agent.protocols import Store
from episodic_agent.schemas import Job, Scope
from episodic_agent.stores import faults
from episodic_agent.wiring import load_settings, make_store, utc_now

POLICIES = ("seed-001", "default")  # of a siege, by its seed: workers have the policy of those they work for
SPACE = "siege"
DEMO = demo_folder()
LAST = 1 << 31
PACE = (0.2, 1.5)  # seconds between blows at the server
LONGEST = 2.0  # seconds a worker lives that is to be killed
PATIENCE = 120.0  # seconds until all work must be done


# --- the server -----------------------------------------------------------------------------------------


class Server(Protocol):
    """A server of our own."""

    data: Path

    def start(self) -> None:
        """Start; returns when connections are taken."""

    def stop(self, mode: str = "fast") -> None:
        """Stop, as `pg_ctl -m` does."""

    def url(self, database: str = "postgres") -> str:
        """Return the address of a database, its superuser's."""


def _stop_at_once(server: Server, _database: str) -> bool:
    server.stop("immediate")
    _start(server)
    return True


def _kill_all(server: Server, _database: str) -> bool:
    named = server.data / "postmaster.pid"
    number, _, _, port, sockets, *_ = named.read_text().splitlines()
    postmaster = psutil.Process(int(number))
    postmaster.suspend()  # it neither begets children nor hears of their end
    family = [*postmaster.children(), postmaster]
    for process in family:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    pause = threading.Event()
    while not all(map(_is_dead, family)):
        pause.wait(0.01)
    # Until somebody buries it the next would take it for a living one.
    for lock in (named, Path(sockets) / f".s.PGSQL.{port}.lock"):
        lock.unlink(missing_ok=True)
    _start(server)
    return True


def _is_dead(process: psutil.Process) -> bool:
    with suppress(psutil.NoSuchProcess):
        return bool(process.status() == psutil.STATUS_ZOMBIE)
    return True


def _start(server: Server) -> None:
    """Start again; where something of the old server still ends, once more."""
    for _ in range(5):
        with suppress(RuntimeError):
            server.start()
            return
    server.start()


# One that does something, if there is any.
_A_SESSION = (
    "SELECT pid FROM pg_stat_activity WHERE datname = %s AND pid <> pg_backend_pid()"
    " ORDER BY state = 'idle', random() LIMIT 1"
)


def _kill_backend(server: Server, database: str) -> bool:
    """Kill the process behind one session: the server ends all others and recovers."""
    with psycopg.connect(server.url(), autocommit=True) as db:
        results = db.execute(_A_SESSION, (database,)).fetchone()
    if results is not None:
        with suppress(ProcessLookupError):
            os.kill(results[0], signal.SIGKILL)
            return True
    return False


def _end_session(server: Server, database: str) -> bool:
    with psycopg.connect(server.url(), autocommit=True) as db:
        results = db.execute(_A_SESSION, (database,)).fetchone()
        ended = results and db.execute("SELECT pg_terminate_backend(%s)", results).fetchone()
        return ended == (True,)


BLOWS: Mapping[str, Callable[[Server, str], bool]] = {
    "server stopped at once": _stop_at_once,
    "server killed": _kill_all,
    "backend killed, server recovers": _kill_backend,
    "session ended": _end_session,
}
WHOLE = tuple(BLOWS)[:3]  # those that take the whole server


# --- the lives ------------------------------------------------------------------------------------------


def life_of(at: KillServer, **order: Any) -> Life:
    """Give a life and wait for its end; RuntimeError for one that ended unkilled and undone."""
    life = at.live(**order)
    if life.ended and not (life.ended == KILLED and order.get("die")):
        reason = f"{life.word('error')}: {life.word('message')}"
        raise RuntimeError(f"a {order['plan']} life ended by itself ({life.ended}): {reason}")
    return life


def writers_death(draw: random.Random) -> dict[str, Any]:
    """Choose when a writer is to die: at a named point, at any call of any function, or at any time."""
    return draw.choice(
        [
            {"point": draw.choice(faults.POINTS), "count": draw.randint(1, 12)},
            {"events": draw.randrange(5_000, 250_000)},
            {"seconds": draw.uniform(0.02, 0.4)},
        ]
    )


def workers_death(draw: random.Random) -> dict[str, Any]:
    """Choose when a worker is to die; one that is idle for long never reaches a point."""
    points = ("after-claim", "after-begin", "mid-postings", "mid-vectors", "before-commit", "after-commit")
    return draw.choice(
        [
            {"point": draw.choice(points), "count": draw.randint(1, 6), "seconds": LONGEST},
            {"events": draw.randrange(5_000, 250_000), "seconds": LONGEST},
            {"seconds": draw.uniform(0.05, 1.0)},
        ]
    )


# --- the siege ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Crew:
    """How many write and work at once, for how many users, and what of each conversation.

    Every writer has threads of its own, several of them those of one user. Of longer conversations a question
    might wait until it is answered by the fallback, and then the episodes depend on when.
    """

    writers: int = 3
    workers: int = 2
    users: int = 3
    lines: int = 40


@dataclass
class Siege:
    """Writers, workers and a server under blows; counts them, and everything that was acknowledged."""

    server: Server
    database: str
    chats: Path
    enough: Callable[[Mapping[str, int]], bool]
    crew: Crew
    mortal: bool  # whether writers and workers are killed too
    pace: tuple[float, float]
    seed: int
    begun: datetime = field(default_factory=utc_now)
    kills: Counter[str] = field(default_factory=Counter)
    points: Counter[str] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)
    acknowledged: dict[str, set[str]] = field(default_factory=dict)  # ids by user
    running: "list[Future[None]]" = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)  # no more blows and deaths
    done: threading.Event = field(default_factory=threading.Event)  # no more work
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def policy(self) -> str:
        """Return by what everybody in it cuts."""
        return POLICIES[self.seed % len(POLICIES)]

    @property
    def url(self) -> str:
        """Return the address of the memory."""
        return self.server.url(self.database)

    def strike(self) -> None:
        """Hit the server, every way in turn, until it is over; it runs then."""
        draw = random.Random(f"{self.seed} blows")
        ways: list[str] = []
        while not self.over.wait(draw.uniform(*self.pace)):
            ways = ways or draw.sample(list(BLOWS), len(BLOWS))
            name = ways.pop()
            with suppress(psycopg.OperationalError):  # it still recovers from the last one
                if BLOWS[name](self.server, self.database):
                    self._count(name)

    def _count(self, kill: str) -> None:
        with self.lock:
            self.kills[kill] += 1
        if self.enough(self.kills):
            self.over.set()

    def write(self, at: KillServer, number: int, threads: Sequence[tuple[str, str]]) -> None:
        """Let writers live one by one until one added all messages of (user, conversation) `threads`."""
        draw = random.Random(f"{self.seed} writer {number} {threads}")
        done = False
        while not done:
            death = self._death(writers_death, draw)
            order = {"threads": threads, "policy": self.policy, "seed": draw.random()}
            life = life_of(at, plan="write", die=death, **self._order(), **order)
            self._note("writer", death, life)
            done = bool(life.all("done"))

    def work(self, at: KillServer, number: int) -> None:
        """Let workers live one by one until there is no more work."""
        draw = random.Random(f"{self.seed} worker {number}")
        while not self.done.is_set():
            death = self._death(workers_death, draw)
            life = life_of(at, plan="work", die=death, policy=self.policy, **self._order())
            self._note("worker", death, life)

    def _death(
        self, choose: Callable[[random.Random], dict[str, Any]], draw: random.Random
    ) -> dict[str, Any]:
        return choose(draw) if self.mortal and not self.over.is_set() else {}

    def _order(self) -> dict[str, Any]:
        return {"space": SPACE, "begun": self.begun.isoformat(), "chats": str(self.chats)}

    def _note(self, who: str, death: Mapping[str, Any], life: Life) -> None:
        with self.lock:
            self.counts[f"{who}s' lives"] += 1
            self.counts["calls repeated"] += len(life.all("repeated"))
            self.counts["outages waited out"] += len(life.all("waited"))
            for word in life.said:
                if "acknowledged" in word:
                    self.acknowledged[word["user"]].update(word["acknowledged"])
        if life.ended == KILLED:
            if "point" in death and not life.overdue:
                self.points[death["point"]] += 1
            self._count(f"{who} {_way_of(death, life)}")

    # --- the course of it -------------------------------------------------------------------------------

    def rounds(self, writers: Sequence[KillServer]) -> None:
        """Let writers write for new users until it is over, and all work be done."""
        origins = list(read_chats(self.chats))
        number = 0
        with make_patient_store(self.url) as store, ThreadPoolExecutor(len(writers)) as pool:
            while not (number and self.over.is_set()):
                users = [f"user {number * self.crew.users + n}" for n in range(self.crew.users)]
                number += 1
                self.acknowledged |= {user: set() for user in users}
                threads = [(user, origin) for origin in origins for user in users]
                shares = [threads[n :: len(writers)] for n in range(len(writers))]
                writing = [pool.submit(self.write, at, n, shares[n]) for n, at in enumerate(writers)]
                for item in writing:
                    item.result()
                self._settle(store, users)
                with patiently(lambda: open_memory(self.url, SPACE, self.begun, self.policy)) as memory:
                    for user in users:
                        patiently(lambda m=memory, u=user: m.user(u).flush())  # type: ignore[misc]
            self._settle(store, list(self.acknowledged))

    def _settle(self, store: Store, users: Sequence[str]) -> None:
        """Wait until the workers did everything for these users."""
        pause = threading.Event()
        deadline = time.monotonic() + PATIENCE
        for user in users:
            while patiently(lambda u=user: store.waiting(Scope(u, SPACE))):  # type: ignore[misc]
                for item in self.running:
                    if item.done():
                        item.result()
                if time.monotonic() > deadline:
                    raise TimeoutError(f"work for {user} is not done after {PATIENCE:g} s")
                pause.wait(0.02)


@contextmanager
def make_patient_store(url: str) -> Iterator[Store]:
    """Open the store of a server that may be away just now."""
    store = patiently(lambda: make_store(url, load_settings()))
    try:
        yield store
    finally:
        store.close()


CREW = Crew()


def besiege(
    server: Server,
    database: str,
    enough: Callable[[Mapping[str, int]], bool],
    *,
    mortal: bool,
    crew: Crew = CREW,
    pace: tuple[float, float] = PACE,
    seed: int = 1,
) -> dict[str, Any]:
    """Keep an empty database under siege until the kills by kind are `enough`; return what came of it.

    Writers repeat a call whose store is away with the same ids; workers are left to themselves. `mortal` ones
    are killed too. `pace` is the range of seconds between blows at the server. Raises RuntimeError when a
    process ended that nothing had killed, TimeoutError when work stays undone.
    """
    started = time.perf_counter()
    with TemporaryDirectory(prefix="episodic-") as folder, ExitStack() as stack:
        chats = write_chats(Path(folder), crew.lines)
        stop, hold = os.pipe()
        url = server.url(database)
        homes = [
            stack.enter_context(serving("benchmarks.siege_child", url=url, stop=stop, pass_fds=[stop]))
            for _ in range(crew.writers + crew.workers)
        ]
        with ThreadPoolExecutor(len(homes)) as pool:  # they import everything before the first blow
            list(pool.map(lambda at: life_of(at, plan="nothing"), homes))
        make_store(url, load_settings()).close()  # the schema is made in peace
        siege = Siege(server, database, chats, enough, crew, mortal, pace, seed)
        with ThreadPoolExecutor(crew.workers + 1) as pool:
            siege.running += [pool.submit(siege.work, at, n) for n, at in enumerate(homes[crew.writers :])]
            siege.running.append(pool.submit(_until_over, siege))
            try:
                siege.rounds(homes[: crew.writers])
            finally:
                siege.over.set()
                siege.done.set()
                os.close(hold)
            for item in siege.running:
                item.result()
        os.close(stop)
        return {**examine(siege, Path(folder)), "seconds": round(time.perf_counter() - started, 1)}


def _way_of(death: Mapping[str, Any], life: Life) -> str:
    if life.overdue:
        return "at any time"
    return "at a point" if "point" in death else "anywhere"


def _until_over(siege: Siege) -> None:
    siege.strike()
    siege.done.wait()  # what is done before the end has failed


def write_chats(folder: Path, lines: int) -> Path:
    """Write the beginnings of the conversations the project ships into one file."""
    path = folder / "chats.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for chat in sorted(DEMO.glob("*.jsonl")):
            file.writelines(f"{line}\n" for line in chat.read_text(encoding="utf-8").splitlines()[:lines])
    return path


# --- what came of it ------------------------------------------------------------------------------------


def examine(siege: Siege, folder: Path) -> dict[str, Any]:
    """Compare what is stored with what was acknowledged and with an undisturbed file's episodes."""
    texts = Counter(m["content"] for messages in read_chats(siege.chats).values() for m in messages)
    targets = undisturbed(folder, siege.chats, siege.policy)
    lost = doubled = dead = episodes = 0
    others: list[str] = []
    left: list[str] = []
    with make_patient_store(siege.url) as store:
        do_the_rest(siege, store)
        for user, acknowledged in siege.acknowledged.items():
            scope = Scope(user, SPACE)
            with store.begin(scope, write=False) as tx:
                stored = [o for t in tx.threads.list() for o in tx.observations.read(t.id, 0, LAST)]
                jobs = tx.upkeep.jobs()
            lost += len(acknowledged - {str(o.id) for o in stored})
            doubled += (Counter(o.text for o in stored) - texts).total()
            dead += sum(job.state == "dead" for job in jobs)
            left += [
                f"{job.kind}: {job.state}, {job.last_error or 'no error'}" for job in jobs if is_left(job)
            ]
            held = remembered(store, scope)
            episodes += sum(len(thread["episodes"]) for thread in held["threads"].values())
            if held != targets:
                others.append(user)
    with open_memory(siege.url, SPACE, siege.begun) as memory:
        sick = [finding.message for finding in memory.doctor() if finding.severity == "error"]
    return {
        "kills": sum(siege.kills.values()),
        "server_kills": sum(siege.kills[name] for name in WHOLE),
        "kills_by_kind": dict(sorted(siege.kills.items())),
        "kills_by_point": dict(sorted(siege.points.items())),
        **{name.replace("'", "").replace(" ", "_"): count for name, count in sorted(siege.counts.items())},
        "users": len(siege.acknowledged),
        "messages_acknowledged": sum(map(len, siege.acknowledged.values())),
        "messages_lost": lost,
        "messages_doubled": doubled,
        "dead_jobs": dead,
        "jobs_left": len(left),
        "left": left[:10],
        "sick": sick[:10],
        "episodes": episodes,
        "episodes_equal": not others,
    }


def do_the_rest(siege: Siege, store: Store) -> None:
    """Do what the hurried clock asked for after the last worker had looked, while patience lasts."""
    pause, deadline = threading.Event(), time.monotonic() + PATIENCE
    with open_memory(siege.url, SPACE, siege.begun, siege.policy, jobs="here") as memory:
        while any(map(is_left, jobs_of(siege, store))) and time.monotonic() < deadline:
            memory.jobs.run()
            pause.wait(PAUSE)


def jobs_of(siege: Siege, store: Store) -> Iterator[Job]:
    """Return the jobs of everybody in a siege, but for those that are done."""
    for user in siege.acknowledged:
        with store.begin(Scope(user, SPACE), write=False) as tx:
            yield from tx.upkeep.jobs()


def is_left(job: Job) -> bool:
    """Return whether a job should have been done by now.

    What ended long ago is looked through for facts by the next upkeep, however often that is asked.
    """
    return job.state != "dead" and job.kind != FACTS


def undisturbed(folder: Path, chats: Path, policy: str) -> dict[str, Any]:
    """Return what one process remembers of the conversations, in a file, when nothing happens to it."""
    path = str(folder / f"{policy}.db")
    with open_memory(path, SPACE, utc_now(), policy, jobs="here") as memory:
        for messages in read_chats(chats).values():
            memory.user("user").add(messages)
        memory.user("user").flush()
    store = make_store(path, load_settings())
    results = remembered(store, Scope("user", SPACE))
    store.close()
    return results


def remembered(store: Store, scope: Scope) -> dict[str, Any]:
    """Return what must not differ between two runs: texts in order, episodes with their words, speakers."""
    threads: dict[str, Any] = {}
    with store.begin(scope, write=False) as tx:
        for thread in tx.threads.list():
            frame = tx.threads.frame(thread.id)
            threads[thread.origin] = {
                "texts": [o.text for o in tx.observations.read(thread.id, 0, LAST)],
                "episodes": [
                    [
                        e.first_seq,
                        e.last_seq,
                        e.reason,
                        e.surprise,
                        e.stability,
                        e.title,
                        e.summary,
                        e.metadata,
                    ]
                    for e in tx.episodes.list(threads=[thread.id])
                ],
                "frame": [frame.first_seq, frame.next_seq, frame.cursor],
            }
        return {"threads": threads, "spoke": dict(tx.observations.actors())}
