"""What was said elsewhere than where it may be told: in other projects, or outside named threads.

A project is a folder that is a channel. A thread declares those it came by; what declares none, a chat or a
list of issues, is told in all of them. A memory may hold a hundred thousand threads: only those are read from
which something would be told. Threads that a caller names (`only`) are a wall: nothing passes it, neither
what was linked by hand nor a wish that holds everywhere.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, TypeVar
from uuid import UUID

from episodic_agent.core.facts.proving import proved_without
from episodic_agent.core.facts.travelling import travels
from episodic_agent.core.threads.channels import are_apart, projects_above, projects_of
from episodic_agent.engine.results import NO_PROJECT
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


class Projects(NamedTuple):
    """The projects that are worked in, and notes of those of which nothing is known."""

    own: frozenset[str]
    notes: tuple[str, ...] = ()


def projects_meant(tx: Transaction, folders: frozenset[str], only: frozenset[UUID] | None = None) -> Projects:
    """Return the projects that a caller means by folders: each itself, or the nearest known one it lies in.

    A folder that is and lies in none (of which anything came to the threads of `only`) stays as it is, with a
    note.
    """
    if not folders:
        return Projects(folders)
    channels: set[str] = set()

    def noted(some: tuple[str, ...]) -> bool:
        channels.update(some)
        return False

    tx.threads.by_numbers(came_by=noted)
    if only is not None:
        channels = {one for one in projects_of(channels) if _came_to(tx, one, only)}
    above = projects_above(sorted(folders), channels)
    notes = (
        f"{NO_PROJECT} {folder!r}, nor of a folder above it; what is of no project is told"
        for folder, known in above.items()
        if known is None
    )
    return Projects(frozenset(known or folder for folder, known in above.items()), tuple(notes))


def _came_to(tx: Transaction, project: str, only: frozenset[UUID]) -> bool:
    threads = tx.threads.by_numbers(came_by=lambda some: project in projects_of(some))
    return not only.isdisjoint(threads.values())


class Elsewhere:
    """What lies elsewhere, as one transaction reads it: without projects and named threads nothing does."""

    def __init__(
        self,
        own: frozenset[str] = frozenset(),
        exempt: Iterable[UUID] = (),
        only: frozenset[UUID] | None = None,
    ) -> None:
        """Take the projects that are worked in, threads told whatever project they are of, and all there are.

        `only` are the threads of which something may be told at all; None: every one.
        """
        self._own = own
        self._exempt = frozenset(exempt)
        self._only = only
        self._projects: dict[UUID, frozenset[str]] = {}
        self._threads: dict[int, UUID] = {}  # by number, of those that were asked for

    def __bool__(self) -> bool:
        return bool(self._own) or self._only is not None

    @property
    def project_names(self) -> list[str]:
        """Return what the projects that are worked in are called: the last part of each folder."""
        return [os.path.basename(one) for one in sorted(self._own)]

    @property
    def only(self) -> frozenset[UUID] | None:
        """Return the threads of which something may be told at all; None: every one."""
        return self._only

    def but(self, threads: Iterable[UUID]) -> "Elsewhere":
        """Return the same without threads that are told whatever project they are of."""
        return Elsewhere(self._own, self._exempt.union(threads), self._only)

    def hold_thread(self, tx: Transaction, thread: UUID) -> bool:
        """Tell whether a thread lies elsewhere."""
        return bool(self.among(tx, [thread]))

    def among(self, tx: Transaction, threads: Iterable[UUID]) -> frozenset[UUID]:
        """Return those of these threads that lie elsewhere."""
        named = frozenset(threads)
        return self.outside(named) | self._of_others(tx, named)

    def outside(self, threads: Iterable[UUID]) -> frozenset[UUID]:
        """Return those of these threads of which nothing may be told, whatever project they are of."""
        return frozenset() if self._only is None else frozenset(threads) - self._only

    def _of_others(self, tx: Transaction, threads: frozenset[UUID]) -> frozenset[UUID]:
        """Return those of these threads that are of other projects."""
        if not self._own:
            return frozenset()
        unknown = sorted(threads - self._projects.keys() - self._exempt)
        if unknown:
            self._projects |= {t.id: projects_of(t.channels) for t in tx.threads.list(ids=unknown)}
        return frozenset(
            one
            for one in threads - self._exempt
            if are_apart(self._projects.get(one, frozenset()), self._own)
        )

    def but_theirs(self, tx: Transaction, rows: Iterable[Placed]) -> list[Placed]:
        """Return what lies in threads, such as episodes and their cards, without what lies elsewhere."""
        listed = list(rows)
        apart = self.among(tx, {row.thread_id for row in listed}) if self else frozenset()
        return [row for row in listed if row.thread_id not in apart]

    def without(self, tx: Transaction, refs: Refs) -> Refs:
        """Return references without those of the threads that lie elsewhere."""
        if not self or not len(refs):
            return refs
        numbers = [split_ref(ref)[0] for ref in refs.tolist()]
        if unknown := sorted(set(numbers) - self._threads.keys()):
            self._threads |= tx.threads.by_numbers(unknown)
        here = self._threads.keys() & set(numbers)
        apart = self.among(tx, {self._threads[number] for number in here})
        here = {number for number in here if self._threads[number] not in apart}
        return refs[np.array([number in here for number in numbers], np.bool_)]

    def hold(self, tx: Transaction, facts: Iterable[Fact]) -> frozenset[UUID]:
        """Return the facts that lie elsewhere alone: said there, and no wish that holds in every project."""
        rows = list(facts) if self else []
        return frozenset(row.id for row in rows) - self.proved(tx, rows).keys()

    def proved(self, tx: Transaction, facts: Iterable[Fact]) -> dict[UUID, Fact]:
        """Return by id the facts that do not lie elsewhere, each as it was said in what may be told."""
        rows = list(facts)
        if not self or not rows:
            return {row.id: row for row in rows}
        read = {
            one.observation_id
            for row in rows
            for one in (row.telling if self._only is None else row.evidence)
        }
        proofs = tx.observations.get(list(read))
        if self._only is not None:
            inside = {name for name, item in proofs.items() if item.thread_id in self._only}
            here = (proved_without(row, _rests_on(row) - inside) for row in rows)
            rows = self._as_ended(tx, [row for row in here if row is not None], self._only)
        apart = self._of_others(tx, frozenset(item.thread_id for item in proofs.values()))
        return {row.id: row for row in rows if not (apart and self._are_of(row, proofs, apart))}

    @staticmethod
    def _as_ended(tx: Transaction, facts: Sequence[Fact], only: frozenset[UUID]) -> list[Fact]:
        """Return facts without the end that took what was said in other threads than some."""
        named = {row.superseded_by for row in facts if row.superseded_by is not None}
        newer = [stored.fact for stored in tx.knowledge.facts(ids=sorted(named))] if named else []
        proofs = tx.observations.get([one.observation_id for row in newer for one in row.telling])
        inside = {name for name, item in proofs.items() if item.thread_id in only}
        known = {row.id for row in newer if any(one.observation_id in inside for one in row.telling)}
        return [
            replace(row, superseded_by=None, invalid_at=None) if row.superseded_by in named - known else row
            for row in facts
        ]

    def _are_of(self, fact: Fact, proofs: Mapping[UUID, Observation], apart: frozenset[UUID]) -> bool:
        read = [(one, proofs[one.observation_id]) for one in fact.telling if one.observation_id in proofs]
        if not read or any(item.thread_id not in apart for _, item in read):
            return False
        folders = self._own.union(*self._projects.values())
        quotes = [item.text[one.start : one.end] for one, item in read]
        return not travels(fact.category, [fact.fact, *quotes], folders)


def _rests_on(fact: Fact) -> frozenset[UUID]:
    return frozenset(one.observation_id for one in fact.evidence)


NO_OTHERS: Final = Elsewhere()
