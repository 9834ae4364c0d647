"""Later work stands still while anybody waits for a verb, and never for good."""

import threading
from contextlib import closing
from pathlib import Path

import pytest

from episodic_agent import Memory
from episodic_agent.engine.jobs import background
from episodic_agent.engine.trace import acts
from episodic_agent.schemas import Scope
from episodic_agent.stores.sqlite import store
from episodic_agent.stores.sqlite.file import session
from episodic_agent.yielding import Callers


def test_work_in_the_background_waits_until_nobody_waits_for_a_verb() -> None:
    callers, order, begun = Callers(patience=60), [], threading.Event()

    def work() -> None:
        with callers.yielding():
            callers.give_way()  # nobody calls yet
            order.append("a piece of work")
            begun.set()
            called.wait()
            callers.give_way()
            order.append("the next piece")

    called = threading.Event()
    thread = threading.Thread(target=work)
    thread.start()
    begun.wait()
    with callers.calling():
        called.set()
        while not callers.held_up:
            pass
        order.append("a search")
    thread.join()
    assert order == ["a piece of work", "a search", "the next piece"]


def test_a_caller_that_never_pauses_holds_work_up_for_a_part_of_the_time() -> None:
    callers = Callers(patience=0, turn=60)
    with callers.calling():
        thread = threading.Thread(target=lambda: _turns(callers))
        thread.start()
        thread.join()
    assert callers.held_up == 1  # then it had its turn


def _turns(callers: Callers) -> None:
    with callers.yielding():
        callers.give_way()
        callers.give_way()


def test_work_that_a_verb_does_itself_is_not_held_up() -> None:
    callers = Callers(patience=60)
    with callers.calling():
        callers.give_way()
    assert not callers.held_up


class Watching(Callers):
    """Notes which threads turn to the store, and whether they yield or are waited for."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[tuple[bool, bool, bool]] = set()
        self.worked = threading.Event()

    def give_way(self) -> None:
        """Note it, and wait for nobody."""
        works = threading.current_thread().name == "episodic-jobs"
        self.seen.add((works, self._thread.yields, self._running > 0))
        if works:
            self.worked.set()


def test_what_nobody_waits_for_yields_to_whoever_calls_a_verb(tmp_path: Path, monkeypatch) -> None:
    callers = Watching()
    for module in (acts, background, store, session):
        monkeypatch.setattr(module, "CALLERS", callers)
    with Memory.open(tmp_path / "memory.db", embedder="hashing") as memory:
        memory.user("ana").add("I am allergic to nuts", wait=False)
        assert callers.worked.wait(30)
    assert {yields for works, yields, _ in callers.seen if works} == {True}
    assert (False, False, True) in callers.seen


@pytest.mark.parametrize("write", [False, True])
def test_work_yields_within_what_it_reads_but_holds_no_writer_up(write: bool, monkeypatch) -> None:
    callers = Watching()
    monkeypatch.setattr(session, "CALLERS", callers)
    with closing(store.scratch_store()) as there, there.begin(Scope("ana", "default"), write=write) as tx:
        tx.observations.actors()
    assert bool(callers.seen) is not write
