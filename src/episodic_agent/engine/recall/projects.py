"""What is of other projects than the one that is worked in: there it is not told.

A project is a folder that is a channel. A thread declares those it came by; what declares none, a chat or a
list of issues, is told in all of them.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Final
from uuid import UUID

from episodic_agent.core.facts.travelling import travels
from episodic_agent.core.threads.channels import are_apart, projects_of
from episodic_agent.lazily import module
from episodic_agent.protocols import Refs, Transaction, ref_of, split_ref
from episodic_agent.schemas import Observation
from episodic_agent.schemas.facts import Fact

if TYPE_CHECKING:
    import numpy as np
else:
    np = module("numpy")  # a listing asks which facts are of other projects, and computes nothing


@dataclass(frozen=True, slots=True)
class OtherProjects:
    """The threads of other projects, by id and by number, and the folders of every project that is known."""

    threads: frozenset[UUID] = frozenset()
    numbers: frozenset[int] = frozenset()
    folders: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.threads)

    def but(self, threads: Iterable[UUID], tx: Transaction) -> "OtherProjects":
        """Return the same without threads that are told in any case."""
        names = self.threads.difference(threads)
        if len(names) == len(self.threads):
            return self
        return replace(self, threads=names, numbers=frozenset(tx.threads.number(one) for one in names))

    def without(self, refs: Refs) -> Refs:
        """Return references without those of the threads of other projects."""
        if not self.threads:
            return refs
        return refs[np.array([split_ref(ref)[0] not in self.numbers for ref in refs.tolist()], np.bool_)]

    def hold(self, tx: Transaction, facts: Iterable[Fact]) -> frozenset[UUID]:
        """Return the facts of other projects alone: said there, and no wish that holds everywhere."""
        if not self.threads:
            return frozenset()
        rows = list(facts)
        proofs = tx.observations.get(list({one.observation_id for row in rows for one in row.evidence}))
        return frozenset(row.id for row in rows if self._are_of(row, proofs))

    def _are_of(self, fact: Fact, proofs: Mapping[UUID, Observation]) -> bool:
        read = [(one, proofs[one.observation_id]) for one in fact.telling if one.observation_id in proofs]
        if not read or any(item.thread_id not in self.threads for _, item in read):
            return False
        return not self.travels(fact, [item.text[one.start : one.end] for one, item in read])

    def travels(self, fact: Fact, quotes: Iterable[str]) -> bool:
        """Tell whether a fact is a wish that holds in every project, by it and the words that prove it."""
        return travels(fact.category, [fact.fact, *quotes], self.folders)


NO_OTHERS: Final = OtherProjects()


def others(tx: Transaction, own: frozenset[str], *, but: Iterable[UUID] = ()) -> OtherProjects:
    """Return what is of other projects than these; `but` these threads, which are told in any case."""
    if not own:
        return NO_OTHERS
    threads = tx.threads.list()
    declared = {thread.id: projects_of(thread.channels) for thread in threads}
    exempt = frozenset(but)
    apart = frozenset(
        name for name, projects in declared.items() if are_apart(projects, own) and name not in exempt
    )
    if not apart:
        return NO_OTHERS
    numbers = frozenset(tx.threads.number(name) for name in apart)
    return OtherProjects(apart, numbers, own.union(*chain(declared.values())))


def refs_but_of(tx: Transaction, apart: OtherProjects) -> Refs | None:
    """Return the refs of all that is not of other projects; None where nothing is of any."""
    if not apart:
        return None
    numbers = [(tx.threads.number(t.id), tx.threads.frame(t.id).next_seq) for t in tx.threads.list()]
    spans = [
        np.arange(ref_of(number, 0), ref_of(number, end), dtype=np.int64)
        for number, end in numbers
        if number not in apart.numbers
    ]
    return np.sort(np.concatenate([np.zeros(0, np.int64), *spans]))
