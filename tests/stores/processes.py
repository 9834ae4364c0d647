"""What the child processes of the store tests do. They are spawned, so everything comes in by argument."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import numpy as np
from stores.builders import NOW, begin_thread, identity, make_observations, minute, posting, random_vectors

from episodic_agent.protocols import OBSERVATIONS, Store, ref_of
from episodic_agent.schemas import Observation, Scope

Opener = Callable[[str], Store]


def write_chunks(opener: Opener, path: str, scope: Scope, name: str, chunks: int) -> None:
    """Append chunks of three observations to a thread of one's own, each with words, vectors and a job."""
    store = opener(path)
    with store.begin(scope) as tx:
        number = begin_thread(tx, name)
    for chunk in range(chunks):
        items = make_observations(name, [f"{name} {chunk} {n}" for n in range(3)], first=3 * chunk)
        with store.begin(scope) as tx:
            append_indexed(tx, number, items)
            tx.upkeep.ask("count", name, name, now=NOW)
        with store.begin(scope, write=False) as tx:
            results, _ = tx.index.vector_scores(OBSERVATIONS, "small", vector_of(items[-1]), limit=1)
            assert results.tolist() == [ref_of(number, items[-1].seq)]
            words = tx.index.statistics(OBSERVATIONS, [name]).frequencies[name]
            assert words == 3 * (chunk + 1)
    store.close()


def append_indexed(tx: object, number: int, items: list[Observation]) -> None:
    refs = [ref_of(number, item.seq) for item in items]
    tx.observations.append(items)  # type: ignore[attr-defined]
    frame = tx.threads.frame(items[0].thread_id)  # type: ignore[attr-defined]
    tx.threads.save(replace(frame, next_seq=items[-1].seq + 1))  # type: ignore[attr-defined]
    tx.index.put_postings(  # type: ignore[attr-defined]
        OBSERVATIONS, [posting(ref, item.text) for ref, item in zip(refs, items, strict=True)]
    )
    rows = np.stack([vector_of(item) for item in items])
    tx.index.put_vectors(OBSERVATIONS, "small", refs, rows)  # type: ignore[attr-defined]


def vector_of(item: Observation) -> np.ndarray:
    return random_vectors(item.id.int % (1 << 32), 1)[0]


def work_off(opener: Opener, path: str, worker: int) -> None:
    """Do jobs until none is left: each appends one observation to the thread its serial names."""
    store = opener(path)
    while claimed := store.claim(f"elsewhere:{worker}:1", now=minute(1), lease=timedelta(hours=1), limit=3):
        scope, jobs = claimed
        for job in jobs:
            with store.begin(scope) as tx:
                seq = tx.threads.frame(identity(job.serial)).next_seq
                items = make_observations(job.serial, [job.key], first=seq, actor=f"worker {worker}")
                append_indexed(tx, tx.threads.number(identity(job.serial)), items)
                tx.upkeep.drop(job)
    store.close()
