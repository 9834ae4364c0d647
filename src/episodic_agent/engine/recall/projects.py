"""What is of other projects than the one that is worked in: there it is not told.

A project is a folder that is a channel. A thread declares those it came by; what declares none, a chat or a
list of issues, is told in all of them. A memory may hold a hundred thousand threads: only those are read from
which something would be told.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final, Protocol, TypeVar
from uuid import UUID

from episodic_agent.core.facts.travelling import travels
from episodic_agent.core.threads.channels import are_apart, projects_of
from episodic_agent.lazily import module
from episodic_agent.protocols import Refs, Transaction, split_ref
from episodic_agent.schemas import Observation
from episodic_agent.schemas.facts import Fact

if TYPE_CHECKING:
    import numpy as np
else:
    np = module("numpy")  # a listing asks which facts are of other projects, and computes nothing


class InThread(Protocol):
    """What lies in a thread."""

    @property
    def thread_id(self) -> UUID:
        """Return the thread."""


Placed = TypeVar("Placed", bound=InThread)


class OtherProjects:
    """What is of other projects than some, as one transaction reads it; without projects nothing is."""

    def __init__(self, own: frozenset[str] = frozenset(), exempt: Iterable[UUID] = ()) -> None:
        """Take the projects that are worked in, and threads that are told in any case."""
        self._own = own
        self._exempt = frozenset(exempt)
        self._projects: dict[UUID, frozenset[str]] = {}
        self._threads: dict[int, UUID] = {}  # by number, of those that were asked for

    def __bool__(self) -> bool:
        return bool(self._own)

    def but(self, threads: Iterable[UUID]) -> "OtherProjects":
        """Return the same without threads that are told in any case."""
        return OtherProjects(self._own, self._exempt.union(threads))

    def hold_thread(self, tx: Transaction, thread: UUID) -> bool:
        """Tell whether a thread is of other projects."""
        return bool(self.among(tx, [thread]))

    def among(self, tx: Transaction, threads: Iterable[UUID]) -> frozenset[UUID]:
        """Return those of these threads that are of other projects."""
        if not self._own:
            return frozenset()
        named = frozenset(threads)
        unknown = sorted(named - self._projects.keys() - self._exempt)
        if unknown:
            self._projects |= {t.id: projects_of(t.channels) for t in tx.threads.list(ids=unknown)}
        return frozenset(
            one for one in named - self._exempt if are_apart(self._projects.get(one, frozenset()), self._own)
        )

    def but_theirs(self, tx: Transaction, rows: Iterable[Placed]) -> list[Placed]:
        """Return what lies in threads, such as episodes and their cards, without those of other projects."""
        listed = list(rows)
        apart = self.among(tx, {row.thread_id for row in listed}) if self._own else frozenset()
        return [row for row in listed if row.thread_id not in apart]

    def without(self, tx: Transaction, refs: Refs) -> Refs:
        """Return references without those of the threads of other projects."""
        if not self._own or not len(refs):
            return refs
        numbers = [split_ref(ref)[0] for ref in refs.tolist()]
        if unknown := sorted(set(numbers) - self._threads.keys()):
            self._threads |= tx.threads.by_numbers(unknown)
        apart = self.among(tx, {self._threads[n] for n in numbers if n in self._threads})
        return refs[np.array([self._threads.get(number) not in apart for number in numbers], np.bool_)]

    def hold(self, tx: Transaction, facts: Iterable[Fact]) -> frozenset[UUID]:
        """Return the facts of other projects alone: said there, and no wish that holds everywhere."""
        rows = list(facts) if self._own else []
        if not rows:
            return frozenset()
        proofs = tx.observations.get(list({one.observation_id for row in rows for one in row.telling}))
        apart = self.among(tx, {item.thread_id for item in proofs.values()})
        if not apart:
            return frozenset()
        return frozenset(row.id for row in rows if self._are_of(row, proofs, apart))

    def _are_of(self, fact: Fact, proofs: Mapping[UUID, Observation], apart: frozenset[UUID]) -> bool:
        read = [(one, proofs[one.observation_id]) for one in fact.telling if one.observation_id in proofs]
        if not read or any(item.thread_id not in apart for _, item in read):
            return False
        folders = self._own.union(*self._projects.values())
        quotes = [item.text[one.start : one.end] for one, item in read]
        return not travels(fact.category, [fact.fact, *quotes], folders)


NO_OTHERS: Final = OtherProjects()
