"""Segment a thread again, as a new generation, and go back to the one before.

The pass is computed from a snapshot, with nothing locked, however long the thread is. Then one transaction
holds the frame and writes everything, or, where the thread went on meanwhile, nothing: then all is done over.

What the last cut leaves is the open frame again, under the pass's policy until its next cut, as after any
change of policy. What nobody had decided yet (behind a question or a missing vector) is no part of the pass
and follows it as it came. Undo is exact: it puts back the episodes, the records and the frame of before, and
what came since then goes through the machine as if the thread had never been segmented again. (A flush or
a tick that found nothing open under the pass closed nothing, and nothing is repeated.)
"""

import json
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import numpy as np

from episodic_agent.core.boundary.contract import Arrival, Boundary, Input, ManualCut, Policy, Record
from episodic_agent.core.boundary.conversation.default import DefaultPolicy
from episodic_agent.core.boundary.conversation.thread_pass import THREAD, Segmented, continued, whole_thread
from episodic_agent.core.boundary.machine import pack_record, replay
from episodic_agent.core.language.windows import windows
from episodic_agent.engine.boundary.by_hand import HandChange, HandEdit, change_of, read_edit
from episodic_agent.engine.boundary.explain import (
    HAND,
    ExplainedSpan,
    recorded_drains,
    spans_of,
    stored_inputs,
    stored_spans,
)
from episodic_agent.engine.boundary.generations import (
    ERASED,
    Former,
    Pass,
    last_resegmenting,
    read_former,
    read_pass,
    record_pass,
)
from episodic_agent.engine.boundary.reading import (
    READING,
    ReadEdit,
    change_of_reading,
    read_reading,
    weigh_reading,
)
from episodic_agent.engine.boundary.segmenting import Segmenter, take_up, write_episode
from episodic_agent.engine.deps import NO_EMBEDDER, Deps
from episodic_agent.engine.episodes.encoding import stored_posting
from episodic_agent.engine.jobs.kinds import ENCODE
from episodic_agent.engine.jobs.retrying import until_unopposed
from episodic_agent.engine.sections.job import archive_again
from episodic_agent.errors import Conflict, InvalidInput, NotFound
from episodic_agent.protocols import EPISODES, Transaction, ref_of
from episodic_agent.schemas import Decision, Episode, Frame, Scope, Thread, Vector
from episodic_agent.showing import described

ONLINE: Final = "online"  # the mode that decides as messages come; the other is `whole.WHOLE`


@dataclass(frozen=True, slots=True)
class Resegmented:
    """What segmenting a thread again made of it, or would make (`written` False).

    `generation` is the one in force afterwards. Of the closed episodes, `kept` stay as they are, `replaced`
    give way and `new` come in their place. `unembedded` observations had text but no vector and were judged
    by their words alone.
    """

    thread_id: UUID
    policy: str
    mode: str
    generation: int
    stored: Sequence[ExplainedSpan]
    proposed: Sequence[ExplainedSpan]
    kept: int
    replaced: int
    new: int
    unembedded: int
    written: bool

    def __repr__(self) -> str:
        return described(
            self, self.policy, self.mode, f"{self.kept} kept, {self.replaced} replaced, {self.new} new"
        )


@dataclass(frozen=True, slots=True)
class Undone:
    """What undoing a resegmentation did.

    `generation` is in force again; `later` observations came since it was replaced.
    """

    thread_id: UUID
    generation: int
    restored: int
    removed: int
    kept: int
    later: int


@dataclass(frozen=True, slots=True)
class _CutPlan:
    """A pass over a snapshot of a thread: the version of the frame it saw, and what it concluded."""

    version: int
    end: int
    cuts: Sequence[Boundary]
    records: Sequence[Record]
    state: bytes
    stored: Sequence[ExplainedSpan]
    proposed: Sequence[ExplainedSpan]
    embedded: int
    unembedded: int

    @property
    def closed(self) -> "set[tuple[int, int]]":
        """Return the (first, last) seqs of the episodes the pass closes."""
        return {(s.first_seq, s.last_seq) for s in self.proposed[: len(self.cuts)]}

    @property
    def open_from(self) -> int:
        """Return where the open frame begins after the pass."""
        return self.cuts[-1].before_seq if self.cuts else 0


@dataclass(frozen=True, slots=True)
class Resegmenter:
    """The verbs `boundaries.resegment` and `boundaries.undo`."""

    deps: Deps
    segmenter: Segmenter

    def run(
        self, scope: Scope, thread_id: UUID, policy: Policy[Any], *, complete: bool, dry_run: bool
    ) -> Resegmented:
        """Segment a thread again; see `BoundaryRoom.resegment`."""
        mode = THREAD if complete else ONLINE
        if dry_run:
            with self.deps.store.begin(scope, write=False) as tx:
                plan, thread = self._plan(tx, thread_id, policy, mode), _thread(tx, thread_id)
                _, gone = _sorted_out(tx, thread_id, plan)
            return _report(plan, thread, policy.name, mode, gone=len(gone), written=False)
        return until_unopposed(lambda: self._run_once(scope, thread_id, policy, mode))

    def _run_once(self, scope: Scope, thread_id: UUID, policy: Policy[Any], mode: str) -> Resegmented:
        with self.deps.store.begin(scope, write=False) as tx:
            plan = self._plan(tx, thread_id, policy, mode)
        now = self.deps.clock()
        with self.deps.store.begin(scope) as tx:
            frame = tx.threads.frame(thread_id)
            if frame.version != plan.version:
                raise Conflict("the thread went on while it was segmented again; repeat the call")
            thread = _thread(tx, thread_id)
            episodes, gone = _sorted_out(tx, thread_id, plan)
            if not gone and len(episodes) == len(plan.cuts):
                return _report(plan, thread, policy.name, mode, gone=0, written=False)
            thread = replace(thread, generation=thread.generation + 1)
            tx.threads.save(thread)
            _retire(tx, gone, thread.generation)
            self._write(tx, frame, plan, policy, mode, gone=gone)
            former = _former(tx, frame, plan)
            resegmented = _report(plan, thread, policy.name, mode, gone=len(gone), written=True)
            made = Pass(
                policy.name,
                mode,
                thread.generation,
                plan.end,
                plan.open_from,
                self.deps.embedder_name,
                plan.embedded,
            )
            counts = {"kept": resegmented.kept, "replaced": resegmented.replaced, "new": resegmented.new}
            tx.knowledge.decide(record_pass(thread_id, made, former, counts, now))
            tx.observations.save_records(thread_id, {r.seq: pack_record(r) for r in plan.records})
            frame = replace(
                frame,
                policy=policy.name,
                embedder=self.deps.embedder_name,
                first_seq=plan.open_from,
                cursor=plan.end,
                state=plan.state,
                question=None,
            )
            self._go_on(tx, frame, {}, now)
        return resegmented

    def _plan(self, tx: Transaction, thread_id: UUID, policy: Policy[Any], mode: str) -> _CutPlan:
        frame = tx.threads.frame(thread_id)
        end = frame.cursor
        inputs = list(stored_inputs(tx, thread_id, self.deps.embedder_name, end))
        segmented, memory = segment(inputs, policy, mode)
        return _CutPlan(
            version=frame.version,
            end=end,
            cuts=segmented.cuts,
            records=segmented.records,
            state=json.dumps(policy.pack(memory), separators=(",", ":")).encode(),
            stored=stored_spans(tx, thread_id),
            proposed=spans_of(segmented.cuts, frame.next_seq),
            embedded=_embedded(inputs),
            unembedded=self._unembedded(frame, inputs),
        )

    def _unembedded(self, frame: Frame, inputs: Sequence[Input]) -> int:
        if frame.embedder == self.deps.embedder_name == NO_EMBEDDER:
            return 0  # nobody expects any vectors here
        arrivals = [item for item in inputs if isinstance(item, Arrival)]
        return sum(a.vector is None and bool(a.observation.text.strip()) for a in arrivals)

    def _write(
        self,
        tx: Transaction,
        frame: Frame,
        plan: _CutPlan,
        policy: Policy[Any],
        mode: str,
        *,
        gone: Sequence[Episode],
    ) -> None:
        """Write the new episodes of a pass; those whose span is there already are left alone."""
        there = {(e.first_seq, e.last_seq) for e in tx.episodes.list(threads=[frame.thread_id])}
        drains = recorded_drains(tx, gone)
        firsts, lasts = [e.first_seq for e in gone], [e.last_seq for e in gone]
        now = self.deps.clock()
        frame = replace(frame, first_seq=0)
        for cut in plan.cuts:
            last = cut.before_seq - 1
            if (frame.first_seq, last) not in there:
                before = gone[bisect_left(lasts, frame.first_seq) : bisect_right(firsts, last)]
                boundary = replace(cut, detail={**cut.detail, "mode": mode})
                write_episode(tx, frame, boundary, policy.name, now, drains.get(last), replaced=before)
            frame = replace(frame, first_seq=cut.before_seq)

    def _go_on(self, tx: Transaction, frame: Frame, drains: Mapping[int, Input], now: datetime) -> None:
        """Take in what the frame has not decided, with the drains in between, and save the frame."""
        end, segmenter = frame.next_seq, self.segmenter.of(tx.threads.get(frame.thread_id))
        for seq, drain in sorted(drains.items()):
            frame = segmenter.catch_up(tx, replace(frame, next_seq=seq + 1), now)
            frame = segmenter.advance(tx, frame, [drain], now)
        frame = replace(frame, next_seq=end)
        rest = segmenter.arrivals(tx, frame, frame.cursor, end - 1)
        frame = segmenter.advance(tx, frame, rest, now)
        take_up(tx, frame, now)
        tx.threads.save(frame)

    # --- by hand, and by who read the whole -----------------------------------------------------------------

    def divide(self, scope: Scope, thread_id: UUID, parts: Sequence[tuple[int, int]]) -> bool:
        """Weigh the parts that a reader divided a thread into; return whether any boundary is another now.

        Parts are first and last seqs, in order. What was weighed is told by the records either way.
        """
        return until_unopposed(lambda: self._divide_once(scope, thread_id, parts))

    def _divide_once(self, scope: Scope, thread_id: UUID, parts: Sequence[tuple[int, int]]) -> bool:
        with self.deps.store.begin(scope) as tx:
            thread = tx.threads.get(thread_id)
            if thread is None:
                return False  # it was erased meanwhile
            frame = tx.threads.frame(thread_id)
            edit = weigh_reading(tx, frame, self.segmenter.of(thread).policy_of(frame), parts)
            if edit.changes:
                self._write_edit(tx, frame, change_of_reading(tx, frame, edit), edit)
            elif edit.records:
                _save_records(tx, thread_id, edit.records.values())
        return edit.changes

    def edit(self, scope: Scope, thread_id: UUID, edit: HandEdit, *, dry_run: bool) -> Resegmented:
        """Put or take away one boundary of a thread; see `BoundaryRoom.resegment`."""
        if not dry_run:
            return until_unopposed(lambda: self._edit_once(scope, thread_id, edit))
        with self.deps.store.begin(scope, write=False) as tx:
            frame, thread = tx.threads.frame(thread_id), _thread(tx, thread_id)
            change = change_of(tx, frame, edit)
            self._edited(tx, frame, thread, change)
            plan = _hand_plan(tx, frame, change)
        return _hand_report(plan, thread, frame.policy, change, HAND, written=False)

    def _edit_once(self, scope: Scope, thread_id: UUID, edit: HandEdit) -> Resegmented:
        with self.deps.store.begin(scope, write=False) as tx:
            frame = tx.threads.frame(thread_id)
            change = change_of(tx, frame, edit)
            edited = self._edited(tx, frame, _thread(tx, thread_id), change)
            plan = _hand_plan(tx, frame, change)
        with self.deps.store.begin(scope) as tx:
            frame = tx.threads.frame(thread_id)
            if frame.version != plan.version or change_of(tx, frame, edit) != change:
                raise Conflict("the thread went on while it was corrected; repeat the call")
            return self._write_edit(tx, frame, change, edit, edited)

    def _write_edit(
        self,
        tx: Transaction,
        frame: Frame,
        change: HandChange,
        edit: HandEdit | ReadEdit,
        edited: Frame | None = None,
    ) -> Resegmented:
        """Write what an edit changes as the thread's next generation; `edited` is the open frame after it."""
        thread_id, now = frame.thread_id, self.deps.clock()
        mode, records = (HAND, ()) if isinstance(edit, HandEdit) else (READING, tuple(edit.records.values()))
        plan = replace(_hand_plan(tx, frame, change), records=records)
        thread = _thread(tx, thread_id)
        thread = replace(thread, generation=thread.generation + 1)
        tx.threads.save(thread)
        _retire(tx, change.gone, thread.generation)
        for span in change.new:
            at = replace(frame, first_seq=span.first_seq)
            write_episode(tx, at, span.boundary, frame.policy, now, span.drain, replaced=change.gone)
        former = _former(tx, frame, plan)
        report = _hand_report(plan, thread, frame.policy, change, mode)
        made = Pass(
            frame.policy, mode, thread.generation, plan.end, plan.open_from, frame.embedder, plan.embedded
        )
        counts = {"kept": report.kept, "replaced": report.replaced, "new": report.new}
        decision = record_pass(thread_id, made, former, counts, now)
        tx.knowledge.decide(replace(decision, detail={**decision.detail, **edit.record()}))
        _save_records(tx, thread_id, records)
        if edited is None or edited == frame:
            tx.threads.save(frame)  # its version tells others that the thread was changed
        else:
            self._go_on(tx, edited, {}, now)
        archive_again(tx, thread_id)
        return report

    def _edited(self, tx: Transaction, frame: Frame, thread: Thread, change: HandChange) -> Frame:
        """Return the open frame after a correction: as it is, where it begins where it did."""
        start = change.open_from
        if start == frame.first_seq:
            return frame
        policy = self.segmenter.of(thread).policy_of(frame)
        longer = start < frame.first_seq
        if longer and not isinstance(policy, DefaultPolicy):
            raise InvalidInput(
                f"what follows is still open, and policy {policy.name} would cut it there again; flush the "
                "thread, then join the two"
            )
        end = frame.cursor if longer else start
        stored = stored_inputs(tx, frame.thread_id, frame.embedder, end)
        inputs: list[Input] = [item for item in stored if isinstance(item, Arrival)]
        if not longer:
            inputs.append(ManualCut(self.deps.clock()))  # what was open before it is closed
        limits = [limit for limit in change.limits if limit <= start and limit < end]
        memory = continued(inputs, [Boundary(limit, limit, HAND, 1.0, 1.0) for limit in limits], policy)
        state = json.dumps(policy.pack(memory), separators=(",", ":")).encode()
        return replace(frame, first_seq=start, cursor=end, state=state, question=None)

    # --- undo -------------------------------------------------------------------------------------------

    def undo(self, scope: Scope, thread_id: UUID) -> Undone:
        """Go back to the generation before; see `BoundaryRoom.undo`."""
        return until_unopposed(lambda: self._undo_once(scope, thread_id))

    def _undo_once(self, scope: Scope, thread_id: UUID) -> Undone:
        with self.deps.store.begin(scope, write=False) as tx:
            thread, _, _ = _undoable(tx, thread_id)
            restored = _replaced_by(tx, thread)
        vectors = self._embed([e for e in restored if e.encoding_version])
        now = self.deps.clock()
        with self.deps.store.begin(scope) as tx:
            frame = tx.threads.frame(thread_id)
            seen, (thread, decision, former) = thread, _undoable(tx, thread_id)
            if thread.generation != seen.generation or _replaced_by(tx, thread) != restored:
                raise Conflict("the thread was changed while it was restored; repeat the call")
            before = former.frame
            there = tx.episodes.list(threads=[thread_id])
            drains = {s: d for s, d in recorded_drains(tx, there).items() if s >= before.first_seq}
            undone = [e for e in there if e.generation_from >= thread.generation]
            tx.episodes.revive(thread_id, thread.generation)
            tx.knowledge.revoke(decision.id)
            number = tx.threads.number(thread_id)
            tx.index.drop(EPISODES, [ref_of(number, e.first_seq) for e in undone])
            self._index(tx, number, restored, vectors, now)
            thread = replace(thread, generation=thread.generation - 1)
            tx.threads.save(thread)
            undecided = dict.fromkeys(range(before.cursor, frame.next_seq))
            tx.observations.save_records(thread_id, {**undecided, **former.records})
            frame = replace(
                before,
                next_seq=frame.next_seq,
                last_received_at=frame.last_received_at,
                version=frame.version,
            )
            segmenter = self.segmenter.of(thread)
            self._go_on(tx, segmenter.restarted(frame, self.deps.embedder_name), drains, now)
            archive_again(tx, thread_id)
        return Undone(
            thread_id=thread_id,
            generation=thread.generation,
            restored=len(restored),
            removed=len(undone),
            kept=len(there) - len(undone),
            later=frame.next_seq - before.next_seq,
        )

    def _embed(self, episodes: Sequence[Episode]) -> Mapping[UUID, Vector]:
        """Embed summaries again: the index holds only what is current."""
        pieces = [(e.id, text) for e in episodes for text in windows(e.summary) if text.strip()]
        if self.deps.embedder is None or not pieces:
            return {}
        rows = self.deps.embedder.embed([text for _, text in pieces])
        results: dict[UUID, list[Vector]] = {}
        for (identity, _), row in zip(pieces, rows, strict=True):
            results.setdefault(identity, []).append(row)
        return {identity: np.stack(vectors) for identity, vectors in results.items()}

    def _index(
        self,
        tx: Transaction,
        number: int,
        episodes: Sequence[Episode],
        vectors: Mapping[UUID, Vector],
        now: datetime,
    ) -> None:
        """Let restored episodes be found by their words again; ask for those that never had any."""
        language = self.deps.language
        worded = [e for e in episodes if e.encoding_version]
        postings = [stored_posting(tx, ref_of(number, e.first_seq), e, language) for e in worded]
        tx.index.put_postings(EPISODES, postings)
        refs = [ref_of(number, e.first_seq) for e in worded for _ in vectors.get(e.id, ())]
        if refs:
            rows = np.concatenate([vectors[e.id] for e in worded if e.id in vectors])
            tx.index.put_vectors(EPISODES, self.deps.embedder_name, refs, rows)
        for episode in episodes:
            if not episode.encoding_version:
                tx.upkeep.ask(ENCODE, str(episode.id), f"{ENCODE}:{episode.id}", now=now)


def check_pass(tx: Transaction, decision: Decision, deps: Deps) -> tuple[str, str] | None:
    """Repeat the pass that made a thread's generation; return (severity, what is wrong) or None."""
    made, thread_id = read_pass(decision), decision.subject
    if made.mode in (HAND, READING):
        return _check_edit(tx, decision)
    if made.embedder != deps.embedder_name:  # whose scale the policy reads cosines on
        return "note", f"it was segmented with embedder {made.embedder}; opened with it, doctor repeats that"
    try:
        policy = deps.resolve_policy(made.policy)
    except InvalidInput:
        return "note", f"it was segmented by policy {made.policy}, which this version does not know"
    if decision.detail.get(ERASED):
        return None  # some of what it read is erased: nobody can repeat it
    if made.mode not in (THREAD, ONLINE):
        return "note", f"it was segmented by a pass {made.mode}, which this version cannot repeat"
    inputs = list(stored_inputs(tx, thread_id, made.embedder, made.end))
    if inputs and not isinstance(inputs[-1], Arrival) and made.first_seq < made.end:
        inputs.pop()  # what closed the frame came after the pass
    if _embedded(inputs) != made.embedded:
        return None  # other vectors than the pass saw: its verdicts follow from records that are gone
    segmented, _ = segment(inputs, policy, made.mode)
    limits = [cut.before_seq for cut in segmented.cuts]
    indexes = [e.last_seq + 1 for e in tx.episodes.list(threads=[thread_id])][: len(limits)]
    if limits != indexes:
        return "error", f"repeating its segmentation gives other episodes: {limits}, stored are {indexes}"
    return None


def _check_edit(tx: Transaction, decision: Decision) -> tuple[str, str] | None:
    """Repeat a correction by hand, or by who read the whole, on the generation before it."""
    made, thread_id = read_pass(decision), decision.subject
    edit = (read_edit if made.mode == HAND else read_reading)(decision.detail)
    if decision.detail.get(ERASED) or read_former(decision) is None:
        return None  # what was before is gone: erased, or left behind by an export
    if edit is None:
        return "error", f"it was corrected by {made.mode}, and nothing tells where"
    before = tx.episodes.list(threads=[thread_id], generation=made.generation - 1)
    limits = edit.limits([episode.last_seq + 1 for episode in before])
    indexes = [episode.last_seq + 1 for episode in tx.episodes.list(threads=[thread_id])][: len(limits)]
    if limits != indexes:
        return "error", f"its correction by {made.mode} gives other episodes: {limits}, stored are {indexes}"
    return None


def _hand_plan(tx: Transaction, frame: Frame, change: HandChange) -> _CutPlan:
    """Return a correction as a pass: nothing was read, and nothing but its episodes changes."""
    gone = {(episode.first_seq, episode.last_seq) for episode in change.gone}
    stored = stored_spans(tx, frame.thread_id)
    proposed = [s for s in stored if s.reason != "open" and (s.first_seq, s.last_seq) not in gone]
    proposed += [ExplainedSpan(s.first_seq, s.last_seq, s.boundary.reason) for s in change.new]
    proposed.sort(key=lambda span: span.first_seq)
    if change.open_from < frame.next_seq:
        proposed.append(ExplainedSpan(change.open_from, frame.next_seq - 1, "open"))
    return _CutPlan(
        version=frame.version,
        end=frame.cursor,
        cuts=[Boundary(change.open_from, change.open_from, HAND, 1.0, 1.0)],
        records=(),
        state=b"",
        stored=stored,
        proposed=proposed,
        embedded=0,
        unembedded=0,
    )


def _hand_report(
    plan: _CutPlan, thread: Thread, policy: str, change: HandChange, mode: str, *, written: bool = True
) -> Resegmented:
    report = _report(plan, thread, policy, mode, gone=len(change.gone), written=written)
    return replace(report, new=len(change.new))


def segment(inputs: Sequence[Input], policy: Policy[Any], mode: str) -> tuple[Segmented, Any]:
    """Return what a pass makes of inputs, and the policy's memory behind them."""
    if mode == THREAD:
        segmented = whole_thread(inputs, policy)
        return segmented, continued(inputs, segmented.cuts, policy)
    step = replay(inputs, policy)
    return Segmented(step.cuts, list({r.seq: r for r in step.records}.values())), step.memory


def _embedded(inputs: Sequence[Input]) -> int:
    return sum(isinstance(item, Arrival) and item.vector is not None for item in inputs)


def _thread(tx: Transaction, thread_id: UUID) -> Thread:
    thread = tx.threads.get(thread_id)
    if thread is None:
        raise NotFound(f"no thread {thread_id} in this memory")
    return thread


def _sorted_out(tx: Transaction, thread_id: UUID, plan: _CutPlan) -> tuple[list[Episode], list[Episode]]:
    """Return the current episodes a pass keeps, and those it replaces."""
    episodes: list[Episode] = []
    gone: list[Episode] = []
    for episode in tx.episodes.list(threads=[thread_id]):
        (episodes if (episode.first_seq, episode.last_seq) in plan.closed else gone).append(episode)
    return episodes, gone


def _report(
    plan: _CutPlan, thread: Thread, policy: str, mode: str, *, gone: int, written: bool
) -> Resegmented:
    closed = [s for s in plan.stored if s.reason != "open"]
    limit = len(closed) - gone
    return Resegmented(
        thread_id=thread.id,
        policy=policy,
        mode=mode,
        generation=thread.generation,
        stored=plan.stored,
        proposed=plan.proposed,
        kept=limit,
        replaced=gone,
        new=len(plan.cuts) - limit,
        unembedded=plan.unembedded,
        written=written,
    )


def _retire(tx: Transaction, gone: Sequence[Episode], generation: int) -> None:
    if not gone:
        return
    tx.episodes.retire([e.id for e in gone], generation)
    number = tx.threads.number(gone[0].thread_id)
    tx.index.drop(EPISODES, [ref_of(number, e.first_seq) for e in gone])


def _save_records(tx: Transaction, thread_id: UUID, records: Iterable[Record]) -> None:
    if packed := {record.seq: pack_record(record) for record in records}:
        tx.observations.save_records(thread_id, packed)


def _former(tx: Transaction, frame: Frame, plan: _CutPlan) -> Former:
    """Return what undo needs: the frame, the records the pass changes, and those that may change later."""
    stored = tx.observations.records(frame.thread_id, 0, frame.cursor - 1)
    moving = min(frame.first_seq, plan.open_from)
    changed = {r.seq for r in plan.records if stored.get(r.seq) != pack_record(r)}
    seqs = sorted(changed.union(range(moving, frame.cursor)))
    return Former(frame, {seq: stored.get(seq) for seq in seqs})


def _undoable(tx: Transaction, thread_id: UUID) -> tuple[Thread, Decision, Former]:
    thread = _thread(tx, thread_id)
    decision = last_resegmenting(tx, thread)
    if decision is None:
        raise NotFound(f"thread {thread.origin!r} was not segmented again: there is nothing to undo")
    former = read_former(decision)
    if decision.detail.get(ERASED):
        raise NotFound(f"some of thread {thread.origin!r} was erased since: what was before is gone with it")
    if former is None:
        raise NotFound(
            f"thread {thread.origin!r} was segmented again before it was exported; an export holds no "
            "history, undo it in the memory it came from"
        )
    return thread, decision, former


def _replaced_by(tx: Transaction, thread: Thread) -> list[Episode]:
    """Return the episodes that a thread's generation replaced."""
    before = tx.episodes.list(threads=[thread.id], generation=thread.generation - 1)
    return [e for e in before if e.generation_to == thread.generation]
