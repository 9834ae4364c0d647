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

from episodic_agent.core.erasing import fingerprint
from episodic_agent.core.identity import uuid7
from episodic_agent.core.places import joined, visits_of
from episodic_agent.engine.boundary.segmenting import Segmenter, load_ends, take_up
from episodic_agent.engine.chains.ancestry import hand_down
from episodic_agent.engine.deps import Deps
from episodic_agent.engine.erase.records import (
    PAGE,
    erase_asked,
    erase_history,
    erase_pass,
    erase_verdict,
    what_goes,
)
from episodic_agent.engine.erase.sections import retell_sections
from episodic_agent.engine.erase.skills import drop_skills, shown_by
from episodic_agent.engine.erase.words import forget_names
from episodic_agent.engine.jobs.kinds import ENCODE
from episodic_agent.engine.links import joining
from episodic_agent.engine.people.keeping import forget_unspoken
from episodic_agent.engine.trace.acts import current_caller
from episodic_agent.protocols import EPISODES, OBSERVATIONS, PARTS, MarkKind, Transaction, ref_of, split_ref
from episodic_agent.schemas import Episode, Frame, Joined, Scope, Thread
from episodic_agent.schemas.erasures import Erasure, What
from episodic_agent.schemas.places import Visit

RANDOM_BITS: Final = 74  # of a UUIDv7
NOTHING_BESIDE: Final[Mapping[str, int]] = {}
PREVIEW: Final = "preview"  # the state of a receipt that was never written
# What adds to a cascade in its transaction: told the references that go while they can still be read.
Rider = Callable[[Transaction, Sequence[int], datetime], None]


@dataclass(frozen=True, slots=True)
class Eraser:
    """Takes observations, threads and users away, with all that was made of them."""

    deps: Deps
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
        beside: Mapping[str, int] = NOTHING_BESIDE,
    ) -> Erasure | None:
        """Erase observations by reference, in the caller's write transaction; return the pending receipt.

        None where none of them was left and nothing went `beside` them, by kind: nothing is written then.
        `name` is what the receipt's fingerprint is of; without one it is the ids, in order.
        """
        tx.upkeep.put_back()
        live = tx.observations.get(sorted(set(refs)))
        if not live and not beside:
            return None
        goes = what_goes(tx, sorted(live), self.deps.language)
        counts: Counter[str] = Counter(observations=len(live), **beside)
        counts.update(self._ride(tx, sorted(live), [(ref, ref) for ref in sorted(live)], now))
        for number, group in groupby(sorted(live), key=lambda ref: split_ref(ref)[0]):
            indexes = list(group)
            seqs = [split_ref(ref)[1] for ref in indexes]
            texts = [live[ref].text for ref in indexes]
            self._of_thread(tx, _Cascade(live[indexes[0]].thread_id, number, seqs, texts, now, counts))
        concerned = {one.thread_id for one in live.values()}
        erase_asked(tx, concerned, goes)
        erase_history(tx, concerned, goes)
        forget_unspoken(tx)
        named = name or ",".join(sorted(str(one.id) for one in live.values()))
        made = replace(self.draft(tx.scope, what, named, reason, now), counts=dict(+counts))
        tx.record(made)
        return made

    def draft(self, scope: Scope, what: What, name: str, reason: str, now: datetime) -> Erasure:
        """Return a receipt that is still to be filled in and written."""
        identity = uuid7(self.deps.clock(), self.deps.entropy(RANDOM_BITS))
        return Erasure(identity, what, fingerprint(scope, what, name), now, reason, by=current_caller())

    def _ride(
        self, tx: Transaction, refs: Sequence[int], spans: Sequence[tuple[int, int]], now: datetime
    ) -> Mapping[str, int]:
        """Let the riders do their part; return the facts that go with it, and the pins that lie on it."""
        pins = set(tx.upkeep.touched([MarkKind.PINNED], spans).values())
        facts = tx.count("facts")
        for rider in self.riders:
            rider(tx, refs, now)
        gone = {"facts": facts - tx.count("facts"), "pins": len(pins)}
        return {noun: count for noun, count in gone.items() if count > 0}

    def _of_thread(self, tx: Transaction, cascade: "_Cascade") -> None:
        thread_id, seqs, now = cascade.thread_id, cascade.seqs, cascade.now
        frame = tx.threads.frame(thread_id)  # nobody appends to the thread meanwhile
        shown = shown_by(tx, thread_id, seqs)
        placed = bool(tx.threads.visits(thread_id=thread_id))
        tx.observations.erase(thread_id, seqs, now)
        refs = [ref_of(cascade.number, seq) for seq in seqs]
        tx.index.drop(OBSERVATIONS, refs)
        cascade.counts["skills"] += drop_skills(tx, shown, now)
        replaced = tx.index.covers([(ref, ref) for ref in refs], replaced=True)
        tx.episodes.drop(*[UUID(hex=cover.name) for cover in replaced])
        erase_pass(tx, thread_id)
        self._episodes(tx, cascade)
        cascade.counts["parts"] += retell_sections(tx, thread_id, seqs, frame, now)
        forget_names(self.deps, tx, thread_id, cascade.texts, now)
        for identifier in tx.threads.joined([thread_id]).values():
            tx.episodes.drop(identifier, words_only=True)
            joining.reword(tx, identifier, now)
        if placed:
            tx.threads.rewrite_stays(thread_id, _visits(tx, thread_id, cascade.number, frame.next_seq))
        self._judge_again(tx, frame, now)

    def _episodes(self, tx: Transaction, cascade: "_Cascade") -> None:
        """Let the episodes of erased observations be worded anew; those that hold nothing any more go."""
        refs = [ref_of(cascade.number, seq) for seq in cascade.seqs]
        owners = [UUID(hex=cover.name) for cover in tx.index.covers([(ref, ref) for ref in refs])]
        episodes = list(tx.episodes.get(owners).values())
        observations = tx.observations.read([(cascade.thread_id, e.first_seq, e.last_seq) for e in episodes])
        left = [episode for episode, heard in zip(episodes, observations, strict=True) if heard]
        gone = {
            e.id: ref_of(cascade.number, e.first_seq)
            for e, heard in zip(episodes, observations, strict=True)
            if not heard
        }
        tx.index.drop(EPISODES, [ref_of(cascade.number, episode.first_seq) for episode in episodes])
        tx.episodes.drop(*[episode.id for episode in left], words_only=True)
        for episode in left:
            erase_verdict(tx, episode)
            tx.upkeep.ask(ENCODE, str(episode.id), f"{ENCODE}:{episode.id}", now=cascade.now)
        if gone:
            hand_down(tx, gone.keys())
            tx.episodes.drop(*gone)
            tx.knowledge.note_mining(list(gone.values()), done=True)
        cascade.counts["summaries"] += len(left)
        cascade.counts["episodes"] += len(gone)

    def _judge_again(self, tx: Transaction, frame: Frame, now: datetime) -> None:
        """Let the boundary machine see the open frame from its beginning, without what was erased."""
        segmenter = self.segmenter.of(tx.threads.get(frame.thread_id))
        ends = load_ends(frame)
        frame = replace(frame, state=b"", question=None, cursor=frame.first_seq)
        frame = segmenter.go_on(tx, frame, now, ends)
        tx.threads.save(frame)
        take_up(tx, frame, now)

    # --- wholes -----------------------------------------------------------------------------------------

    def erase_thread(self, tx: Transaction, thread: Thread, *, reason: str, now: datetime) -> Erasure:
        """Delete a thread with every row of it, in the caller's write transaction; return the receipt."""
        tx.hold("threads")
        tx.upkeep.put_back()
        frame = tx.threads.frame(thread.id)  # nobody appends to it meanwhile
        number = tx.threads.number(thread.id)
        counts = dict(tx.holdings(thread.id))
        refs = [ref_of(number, seq) for seq in range(frame.next_seq)]
        goes = what_goes(tx, refs, self.deps.language)
        counts |= self._ride(tx, refs, [(ref_of(number, 0), ref_of(number + 1, 0) - 1)], now)
        skills = drop_skills(tx, shown_by(tx, thread.id, range(frame.next_seq)), now, leaving=thread.id)
        if skills:
            counts["skills"] = skills
        for kind in (OBSERVATIONS, EPISODES, PARTS):
            for start in range(0, len(refs), PAGE):
                tx.index.drop(kind, refs[start : start + PAGE])
        tx.index.drop(PARTS, [ref_of(number, frame.next_seq)])  # of a session in which nothing is said yet
        erase_asked(tx, [thread.id], goes)
        erase_history(tx, [thread.id], goes, gone=True)
        _cancel_jobs(tx, thread.id)
        neighbours = _apart(tx, thread.id)
        hand_down(tx, {part.episode_id for part in tx.threads.sections(thread.id)})
        tx.threads.drop(thread.id)
        joining.settle(tx, neighbours, now)
        forget_unspoken(tx)
        made = replace(self.draft(tx.scope, What.THREAD, thread.origin, reason, now), counts=counts)
        tx.record(made)
        return made

    def erase_user(self, scope: Scope, *, reason: str, now: datetime) -> Erasure:
        """Delete everything of a user, in a transaction of its own; return the pending receipt."""
        return self.deps.store.erase_scope(scope, self.draft(scope, What.USER, scope.user_id, reason, now))

    # --- afterwards -------------------------------------------------------------------------------------

    def settle(
        self, space: str, looked_for: Mapping[UUID, tuple[Scope, Sequence[str]]] | None = None
    ) -> Sequence[Erasure]:
        """Sweep the database where receipts are pending, outside any transaction; return them as they are.

        `looked_for` are strings to search for, by receipt: what they held is not kept for a later look.
        """
        store = self.deps.store
        # Who has just erased asks for that user's alone: on a cluster one node answers.
        scopes = dict.fromkeys(scope for scope, _ in (looked_for or {}).values()) or [None]
        pending = [one for scope in scopes for one in store.erasures(space, scope) if not one.is_done]
        if not pending:
            return []
        swept = store.sweep()
        settled = []
        for erasure in pending:
            left = erasure.residue
            # Where something remains whatever was swept, on a server, rows are searched and no files.
            may_look = not swept.hindrance or swept.remains
            if may_look and looked_for and erasure.id in looked_for:
                left = len(store.residue(*looked_for[erasure.id]))
            state, done = ("pending", None) if swept.hindrance else ("done", self.deps.clock())
            now = replace(
                erasure,
                state=state,
                done_at=done,
                residue=left,
                waits_for=swept.hindrance,
                measures=swept.measures,
                remains=swept.remains,
            )
            if now != erasure:  # it is tried again every minute
                store.settle_erasure(space, now)
            settled.append(now)
        return settled


@dataclass(frozen=True, slots=True)
class _Cascade:
    """What goes of one thread, and what was counted so far."""

    thread_id: UUID
    number: int
    seqs: Sequence[int]
    texts: Sequence[str]
    now: datetime
    counts: Counter[str]


def refs_of(tx: Transaction, episode: Episode) -> list[int]:
    """Return the references of an episode's observations."""
    number = tx.threads.number(episode.thread_id)
    return [ref_of(number, seq) for seq in range(episode.first_seq, episode.last_seq + 1)]


def _visits(tx: Transaction, thread_id: UUID, number: int, end: int) -> list[Visit]:
    pieces: list[Visit] = []
    for start in range(0, end, PAGE):
        pieces += visits_of(number, tx.observations.read(thread_id, start, min(start + PAGE, end) - 1))
    return list(joined(pieces))


def _cancel_jobs(tx: Transaction, thread_id: UUID) -> None:
    """Take back the later work for a thread, its episodes and its parts."""
    about = [e.id for e in tx.episodes.list(threads=[thread_id])]
    about += [part.episode_id for part in tx.threads.sections(thread_id)]
    names = {str(identity) for identity in (thread_id, *about)}
    for job in tx.upkeep.jobs():
        if any(name in job.key or name in job.serial for name in names):
            tx.upkeep.drop(job.id)


def _apart(tx: Transaction, thread_id: UUID) -> list[UUID]:
    """Dissolve the cross-thread episode a thread is in; return the other threads of it."""
    neighbours: list[UUID] = []
    for identifier in tx.threads.joined([thread_id]).values():
        neighbours += [t for t in tx.threads.joined(identifier) if t != thread_id]
        tx.threads.save(Joined(identifier, ()))
        tx.episodes.drop(identifier)
    return neighbours
