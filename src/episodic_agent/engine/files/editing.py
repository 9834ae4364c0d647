"""What an import does with messages that were edited on their platform since they were imported first.

The new words are a message of their own: what is stored is never changed. The words before are hidden, and
nothing around them is: titles, summaries and facts are made anew without them. The new words have the time at
which the message was said and stand at the end of its thread, between two cuts where the thread has gone on
meanwhile, so that no episode spans the days between.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from uuid import UUID

from episodic_agent.engine.boundary.closing import Closer
from episodic_agent.engine.deps import Deps
from episodic_agent.engine.erase.facts import unlearn_messages
from episodic_agent.engine.erase.sections import retell_sections
from episodic_agent.engine.erase.words import retell_episodes
from episodic_agent.engine.ingest.appending import Counts, Incoming, Ingest
from episodic_agent.engine.jobs.retrying import until_unopposed
from episodic_agent.engine.visibility.hidden import Visibility
from episodic_agent.protocols import Mark, MarkKind, Transaction, ref_of
from episodic_agent.schemas import Observation, Scope


def is_out_of_place(tx: Transaction, before: Observation) -> bool:
    """Tell whether a message was said before the open frame of its thread began, or where none is open."""
    frame = tx.threads.frame(before.thread_id)
    first = tx.observations.read(before.thread_id, frame.first_seq, frame.first_seq)
    return frame.first_seq == frame.next_seq or not first or before.at < first[0].at


def add_between_cuts(
    ingest: Ingest, closer: Closer, scope: Scope, late: Sequence[Incoming]
) -> Iterable[Counts]:
    """Take in what was said long ago, thread by thread in the order of time, with a cut before and after."""
    ordered = sorted(late, key=lambda one: (one.origin or "", one.item.at is not None, one.item.at))
    for origin, some in groupby(ordered, key=lambda one: one.origin or ""):
        _cut(closer, scope, origin)
        yield ingest.run(scope, some, receipts=False, skips_taken=True)
        _cut(closer, scope, origin)


def _cut(closer: Closer, scope: Scope, origin: str) -> None:
    with closer.deps.store.begin(scope, write=False) as tx:
        thread = tx.threads.get(origin)
    if thread is not None:
        closer.flush(scope, thread.id)


def hide_versions(deps: Deps, scope: Scope, versions: Mapping[UUID, Collection[UUID]]) -> int:
    """Hide the words that others took the place of; return of how many messages those are.

    `versions` are, by the id of the new words, those of all words before. Also of an import that ended before
    it came to that.
    """
    if not versions:
        return 0
    return until_unopposed(lambda: _hide_once(deps, scope, versions))


def _hide_once(deps: Deps, scope: Scope, versions: Mapping[UUID, Collection[UUID]]) -> int:
    now = deps.clock()
    with deps.store.begin(scope) as tx:
        pairs = [(new, old) for new, before in versions.items() for old in before]
        there = tx.observations.get(list({one for pair in pairs for one in pair}))
        stale = [there[old] for new, old in pairs if new in there and old in there]
        by_ref = {ref_of(tx.threads.number(before.thread_id), before.seq): before for before in stale}
        shown = sorted(by_ref.keys() - Visibility(tx, now).why([*by_ref]).keys())
        if shown:
            # facts are held before threads are, as an erasure does
            unlearn_messages(tx, deps, [by_ref[ref].id for ref in shown], now)
            for ref in shown:
                tx.upkeep.put(Mark(ref, ref, MarkKind.EDITED, now))
            _retell(tx, [by_ref[ref] for ref in shown], shown, now)
    return len(shown)


def _retell(tx: Transaction, stale: Sequence[Observation], refs: Sequence[int], now: datetime) -> None:
    """Have the episodes and parts told anew that held these messages, which are hidden by now."""
    owners = [UUID(hex=cover.name) for cover in tx.index.covers([(ref, ref) for ref in refs])]
    retell_episodes(tx, dict.fromkeys(owners), now)
    for thread, some in groupby(stale, key=attrgetter("thread_id")):
        retell_sections(tx, thread, [one.seq for one in some], tx.threads.frame(thread), now)
