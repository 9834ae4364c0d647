"""The kill server of the tests of workers: its lives do the jobs of a store named by its URL."""

import os
import signal
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from builders.places import open_store
from engine.crash_child import MOMENT, read_lines
from stores.builders import identity, make_observations
from stores.processes import append_indexed

from benchmarks import lives
from benchmarks.lives import Order, Plans, Say, die
from benchmarks.siege_child import answering
from episodic_agent.engine.jobs.runner import LEASE, Runner
from episodic_agent.protocols import Store
from episodic_agent.schemas import Job, Scope
from episodic_agent.stores.lease import process_owner
from episodic_agent.wiring import Memory, utc_now

LONG = 60.0  # seconds
COUNT = "count"  # the kind of jobs whose effect, one more observation, shows how often it happened


@dataclass
class DiesAfterRenewal:
    """A store whose process dies when leases were renewed for the n-th time: the heartbeat is in the middle."""

    inner: Store
    left: int

    def renew(self, scope: Scope, jobs: Sequence[Job], **how: Any) -> Sequence[Job]:
        ours = self.inner.renew(scope, jobs, **how)
        self.left -= 1
        if self.left == 0:
            die()
        return ours

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


@dataclass
class Counting:
    """The handler of `count` jobs: append the job's key to the thread its serial names, each in a transaction."""

    store: Any
    order: Order

    def handle(self, scope: Scope, jobs: Sequence[Job]) -> None:
        for job in jobs:
            if job.key == self.order.get("poison"):
                die()
            if job.key == self.order.get("pause"):  # as a laptop that is shut, or a machine that swaps
                Path(self.order["pid_file"]).write_text(str(os.getpid()), encoding="ascii")
                os.kill(os.getpid(), signal.SIGSTOP)
            if job.key == self.order.get("linger"):
                threading.Event().wait(LONG)  # until something else ends this process
        with self.store.begin(scope) as tx:
            for job in jobs:
                thread = identity(job.serial)
                seq = tx.threads.frame(thread).next_seq
                append_indexed(
                    tx, tx.threads.number(thread), make_observations(job.serial, [job.key], first=seq)
                )
                tx.upkeep.drop(job)


def count_all(order: Order, say: Say) -> None:
    """Do `count` jobs until nothing is due."""
    store: Any = open_store(order["url"])
    if "renewals" in order["die"]:
        store = DiesAfterRenewal(store, order["die"]["renewals"])
    runner = Runner(
        store,
        {COUNT: Counting(store, order).handle},
        clock=utc_now,
        entropy=lambda bits: int.from_bytes(os.urandom(8)) >> (64 - bits),
        owner=process_owner(),
        space=order["space"],
        lease=timedelta(seconds=order["lease"]) if "lease" in order else LEASE,
    )
    while (batch := runner.run_batch()) is not None:
        say({"done": batch.done, "lost": batch.lost})
    runner.close()
    store.close()


def open_memory(order: Order, jobs: str = "workers") -> Memory:
    """Open the memory of an order; a worker's time goes on, from when everything was said."""
    begun = datetime.fromisoformat(order["begun"]) if order["plan"] == "serve" else None
    return Memory.open(
        order["url"],
        embedder="hashing",
        policy=order["policy"],
        language_model=answering(),
        clock=lambda: MOMENT if begun is None else MOMENT + (utc_now() - begun),
        jobs=jobs,
    )


def feed(order: Order, say: Say) -> None:
    """Add a file's messages for several users, and nothing more: workers do the rest."""
    with open_memory(order) as memory:
        for user in order["users"]:
            for size in range(0, len(lines := read_lines(order["file"])), 7):
                memory.user(user).add(lines[size : size + 7])
        say({"fed": True})


def serve(order: Order, say: Say) -> None:
    """Be a worker until nothing is due."""
    with open_memory(order) as memory:
        say({"ran": memory.jobs.worker().run(once=True)})


PLANS: Plans = {"count": count_all, "feed": feed, "serve": serve}

if __name__ == "__main__":
    lives.serve(PLANS)
