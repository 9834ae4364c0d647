"""Several threads and several processes at one store: nobody is refused, nothing is lost."""

import multiprocessing
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from stores.builders import ANA, BO, NOW, fill, identity
from stores.conformance import StoreFixture
from stores.processes import Opener, work_off, write_chunks

from episodic_agent.protocols import OBSERVATIONS, Store

WRITERS, CHUNKS = 4, 5


def run_processes(target: Callable[..., None], calls: Sequence[tuple[Any, ...]]) -> None:
    """Run a function once for each of the argument tuples, at the same time; all must end well."""
    spawn = multiprocessing.get_context("spawn")
    children = [spawn.Process(target=target, args=arguments) for arguments in calls]
    for child in children:
        child.start()
    for child in children:
        child.join(60)
    assert [child.exitcode for child in children] == [0] * len(calls)


class WritersConformance(StoreFixture):
    @pytest.fixture
    def opener(self) -> tuple[Opener, str]:
        """Say how a child process opens the store: a picklable function and its argument."""
        raise NotImplementedError

    def test_threads_sharing_a_store_write_and_search_at_once(self, store: Store) -> None:
        def shared(_: str) -> Store:
            return _Unclosed(store)

        with ThreadPoolExecutor(WRITERS) as pool:
            calls = [
                pool.submit(write_chunks, shared, "", (ANA, BO)[n % 2], f"writer{n}", CHUNKS)
                for n in range(WRITERS)
            ]
            for call in calls:
                call.result(60)
        self.assert_all_written(store)

    @pytest.mark.slow
    def test_processes_write_and_search_at_once(
        self, open_store: Callable[[], Store], opener: tuple[Opener, str]
    ) -> None:
        calls = [(*opener, (ANA, BO)[n % 2], f"writer{n}", CHUNKS) for n in range(WRITERS)]
        run_processes(write_chunks, calls)  # the first of them also makes the database
        self.assert_all_written(open_store())

    def assert_all_written(self, store: Store) -> None:
        for n in range(WRITERS):
            with store.begin((ANA, BO)[n % 2], write=False) as tx:
                texts = [o.text for o in tx.observations.read(identity(f"writer{n}"), 0, 999)]
                assert texts == [f"writer{n} {chunk} {i}" for chunk in range(CHUNKS) for i in range(3)]
                assert tx.index.statistics(OBSERVATIONS, []).documents == 3 * CHUNKS * WRITERS // 2
                assert tx.index.unindexed(OBSERVATIONS, "small", limit=9) == []
        assert store.waiting() == WRITERS
        assert store.check() == store.check(quick=True) == []

    @pytest.mark.slow
    def test_workers_in_several_processes_do_each_job_once_and_in_order(
        self, store: Store, opener: tuple[Opener, str]
    ) -> None:
        for name in ("kitchen", "attic"):
            fill(store, name=name, texts=[])
            with store.begin(ANA) as tx:
                for n in range(10):
                    tx.upkeep.ask("note", f"{name} {n}", name, now=NOW)
        run_processes(work_off, [(*opener, n) for n in range(2)])
        for name in ("kitchen", "attic"):
            with store.begin(ANA, write=False) as tx:
                texts = [o.text for o in tx.observations.read(identity(name), 0, 999)]
                assert texts == [f"{name} {n}" for n in range(10)]
        assert store.waiting() == 0


class _Unclosed:
    """A store shared by several threads: none of them closes it."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name) if name != "close" else lambda: None
