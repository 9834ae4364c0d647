"""Erase observations for good, and derive again, without them, what rested on them (I12).

All of one erasure is one transaction; the file is swept after it. What remains of an erased observation is a
tombstone with its seq and its id, so that no replayed queue brings it back. Verdicts keep their numbers, not
the words beside them.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby
from typing import Final
from uuid import UUID

from episodic_agent.core.erasing import Erasure, What, fingerprint
from episodic_agent.core.identity import uuid7
from episodic_agent.core.interfaces import EPISODES, OBSERVATIONS, PARTS, Transaction, ref_of, split_ref
from episodic_agent.core.places import Stay, joined, stays_of
from episodic_agent.engine import joining
from episodic_agent.engine.chains import hand_down
from episodic_agent.engine.erased_parts import retell_parts
from episodic_agent.engine.erased_skills import drop_skills, shown_by
from episodic_agent.engine.erased_words import forget_asked, forget_history, forget_pass, forget_verdict
from episodic_agent.engine.parts import Parts
from episodic_agent.engine.segmenting import ENCODE, Segmenter, take_up
from episodic_agent.schemas import Episode, Frame, Scope, Thread

PAGE: Final = 1024
RANDOM_BITS: Final = 74  # of a UUIDv7
PREVIEW: Final = "preview"  # the state of a receipt that was never written
# What adds to a cascade in its transaction: told the references that go while they can still be read.
Rider = Callable[[Transaction, Sequence[int], datetime], None]


@dataclass(frozen=True, slots=True)
class Eraser:
    """Takes observations, threads and users away, with all that was made of them."""

    parts: Parts
    segmenter: Segmenter
    riders: Sequence[Rider] = ()

    def erase(
        self,
        tx: Transaction,
        refs: Sequence[int],
        *,
        reason: str,
        now: datetime,
        what: What = What.OBSERVATION,
        name: str | None = None,
    ) -> Erasure | None:
        """Erase observations by reference, in the caller's write transaction; return the pending receipt.

        None where none of them was left: nothing is written then. `name` is what the receipt's fingerprint is
        of; without one it is the ids, in order.
        """
        tx.erasing.recall_jobs()
        live = tx.threads.by_refs(sorted(set(refs)))
        if not live:
            return None
        for rider in self.riders:
            rider(tx, sorted(live), now)
        counts: Counter[str] = Counter(observations=len(live))
        for number, group in groupby(sorted(live), key=lambda ref: split_ref(ref)[0]):
            found = list(group)
            seqs = [split_ref(ref)[1] for ref in found]
            self._of_thread(tx, _Cascade(live[found[0]].thread_id, number, seqs, now, counts))
        forget_history(tx, {one.thread_id for one in live.values()})
        named = name or ",".join(sorted(str(one.id) for one in live.values()))
        made = replace(self.draft(tx.scope, what, named, reason, now), counts=dict(+counts))
        tx.erasing.record(made)
        return made

    def draft(self, scope: Scope, what: What, name: str, reason: str, now: datetime) -> Erasure:
        """Return a receipt that is still to be filled in and written."""
        identity = uuid7(self.parts.clock(), self.parts.entropy(RANDOM_BITS))
        return Erasure(identity, what, fingerprint(scope, what, name), now, reason)

    def _of_thread(self, tx: Transaction, cascade: "_Cascade") -> None:
        thread_id, seqs, now = cascade.thread_id, cascade.seqs, cascade.now
        frame = tx.threads.frame(thread_id)  # nobody appends to the thread meanwhile
        shown = shown_by(tx, thread_id, seqs)
        placed = bool(tx.places.stays(thread_id=thread_id))
        tx.erasing.erase(thread_id, seqs, now)
        tx.index.drop(OBSERVATIONS, [ref_of(cascade.number, seq) for seq in seqs])
        cascade.counts["skills"] += drop_skills(tx, shown, now)
        tx.erasing.remove(tx.erasing.replaced(thread_id, seqs))
        forget_pass(tx, thread_id)
        self._episodes(tx, cascade)
        cascade.counts["parts"] += retell_parts(tx, thread_id, seqs, frame, now)
        forget_asked(tx, thread_id)
        for whole in tx.links.joined([thread_id]).values():
            tx.erasing.unword([whole])
            joining.reword(tx, whole, now)
        if placed:
            tx.places.rewrite(thread_id, _stays(tx, thread_id, cascade.number, frame.next_seq))
        self._judge_again(tx, frame, now)

    def _episodes(self, tx: Transaction, cascade: "_Cascade") -> None:
        """Let the episodes of erased observations be worded anew; those that hold nothing any more go."""
        refs = [ref_of(cascade.number, seq) for seq in cascade.seqs]
        owners = [UUID(hex=cover.name) for cover in tx.episodes.covers([(ref, ref) for ref in refs])]
        found = list(tx.episodes.by_ids(owners).values())
        said = tx.threads.ranges([(cascade.thread_id, e.first_seq, e.last_seq) for e in found])
        left = [episode for episode, heard in zip(found, said, strict=True) if heard]
        gone = {
            e.id: ref_of(cascade.number, e.first_seq)
            for e, heard in zip(found, said, strict=True)
            if not heard
        }
        tx.index.drop(EPISODES, [ref_of(cascade.number, episode.first_seq) for episode in found])
        tx.erasing.unword([episode.id for episode in left])
        for episode in left:
            forget_verdict(tx, episode)
            tx.jobs.put(ENCODE, str(episode.id), f"{ENCODE}:{episode.id}", now=cascade.now)
        if gone:
            hand_down(tx, gone.keys())
            tx.erasing.remove(list(gone))
            tx.skills.mined(list(gone.values()))
        cascade.counts["summaries"] += len(left)
        cascade.counts["episodes"] += len(gone)

    def _judge_again(self, tx: Transaction, frame: Frame, now: datetime) -> None:
        """Let the boundary machine see the open frame from its beginning, without what was erased."""
        segmenter = self.segmenter.of(tx.threads.get(frame.thread_id))
        frame = replace(frame, state=b"", question=None, cursor=frame.first_seq)
        frame = segmenter.advance(
            tx, frame, segmenter.arrivals(tx, frame, frame.first_seq, frame.next_seq - 1), now
        )
        tx.threads.save_frame(frame)
        take_up(tx, frame, now)

    # --- wholes -----------------------------------------------------------------------------------------

    def erase_thread(self, tx: Transaction, thread: Thread, *, reason: str, now: datetime) -> Erasure:
        """Delete a thread with every row of it, in the caller's write transaction; return the receipt."""
        tx.threads.hold()
        tx.erasing.recall_jobs()
        frame = tx.threads.frame(thread.id)  # nobody appends to it meanwhile
        number = tx.threads.number(thread.id)
        counts = dict(tx.erasing.count(thread.id))
        refs = [ref_of(number, seq) for seq in range(frame.next_seq)]
        for rider in self.riders:
            rider(tx, refs, now)
        skills = drop_skills(tx, shown_by(tx, thread.id, range(frame.next_seq)), now, leaving=thread.id)
        if skills:
            counts["skills"] = skills
        for kind in (OBSERVATIONS, EPISODES, PARTS):
            for start in range(0, len(refs), PAGE):
                tx.index.drop(kind, refs[start : start + PAGE])
        tx.index.drop(PARTS, [ref_of(number, frame.next_seq)])  # of a session in which nothing is said yet
        forget_history(tx, [thread.id], gone=True)
        _cancel_jobs(tx, thread.id)
        neighbours = _apart(tx, thread.id)
        hand_down(tx, {part.episode_id for part in tx.parts.of_thread(thread.id)})
        tx.erasing.drop_thread(thread.id)
        joining.settle(tx, neighbours, now)
        made = replace(self.draft(tx.scope, What.THREAD, thread.origin, reason, now), counts=counts)
        tx.erasing.record(made)
        return made

    def erase_user(self, scope: Scope, *, reason: str, now: datetime) -> Erasure:
        """Delete everything of a user, in a transaction of its own; return the pending receipt."""
        return self.parts.store.erase_scope(scope, self.draft(scope, What.USER, scope.user_id, reason, now))

    # --- afterwards -------------------------------------------------------------------------------------

    def settle(
        self, space: str, looked_for: Mapping[UUID, tuple[Scope, Sequence[str]]] | None = None
    ) -> Sequence[Erasure]:
        """Sweep the database where receipts are pending, outside any transaction; return them as they are.

        `looked_for` are strings to search for, by receipt: what they held is not kept for a later look.
        """
        store = self.parts.store
        pending = [one for one in store.erasures(space) if not one.is_done]
        if not pending:
            return []
        hindrance = store.sweep()
        settled = []
        for one in pending:
            left = one.residue
            if not hindrance and looked_for and one.id in looked_for:
                left = len(store.residue(*looked_for[one.id]))
            state, done = ("pending", None) if hindrance else ("done", self.parts.clock())
            now = replace(one, state=state, done_at=done, residue=left, waits_for=hindrance)
            store.settle_erasure(space, now)
            settled.append(now)
        return settled


@dataclass(frozen=True, slots=True)
class _Cascade:
    """What goes of one thread, and what was counted so far."""

    thread_id: UUID
    number: int
    seqs: Sequence[int]
    now: datetime
    counts: Counter[str]


def refs_of(tx: Transaction, episode: Episode) -> list[int]:
    """Return the references of an episode's observations."""
    number = tx.threads.number(episode.thread_id)
    return [ref_of(number, seq) for seq in range(episode.first_seq, episode.last_seq + 1)]


def _stays(tx: Transaction, thread_id: UUID, number: int, end: int) -> list[Stay]:
    pieces: list[Stay] = []
    for start in range(0, end, PAGE):
        pieces += stays_of(number, tx.threads.observations(thread_id, start, min(start + PAGE, end) - 1))
    return list(joined(pieces))


def _cancel_jobs(tx: Transaction, thread_id: UUID) -> None:
    """Take back the later work for a thread, its episodes and its parts."""
    about = [e.id for e in tx.episodes.of_thread(thread_id)]
    about += [part.episode_id for part in tx.parts.of_thread(thread_id)]
    names = {str(identity) for identity in (thread_id, *about)}
    for job in tx.jobs.list():
        if any(name in job.key or name in job.serial for name in names):
            tx.jobs.cancel(job.id)


def _apart(tx: Transaction, thread_id: UUID) -> list[UUID]:
    """Dissolve the cross-thread episode a thread is in; return the other threads of it."""
    neighbours: list[UUID] = []
    for whole in tx.links.joined([thread_id]).values():
        neighbours += [t for t in tx.links.members(whole) if t != thread_id]
        tx.links.join(whole, [])
        tx.erasing.remove([whole])
    return neighbours
