"""Boundaries that a reader of a whole conversation proposes, weighed as any other evidence.

A model that reads finished talk for its titles and facts divides it by subject. Where a part begins inside
an episode, that gap is weighed again with the reading; where an episode begins inside a part, so is its cut.
What changes its verdict becomes the next generation of the thread, as a correction by hand does, and is
undone like one. What somebody cut or joined by hand stays; so does what was certain, too long, or asked for.
"""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Final

from episodic_agent.core.boundary.contract import DRAIN_ALL, Boundary, Policy, Record
from episodic_agent.core.boundary.conversation import asking, reading
from episodic_agent.core.boundary.conversation.default import DefaultPolicy
from episodic_agent.engine.boundary.by_hand import HandChange, HandSpan, again, joins_of
from episodic_agent.engine.boundary.explain import JOINED, read_records, recorded_drains
from episodic_agent.protocols import Transaction, stored_decision
from episodic_agent.schemas import Decision, Episode, Frame, Json, Reason

READING: Final = "reading"  # the mode of a boundary that a reader of the whole named, and of its generation
_SURELY: Final = (Reason.MANUAL, Reason.SIZE_CAP)


@dataclass(frozen=True, slots=True)
class ReadEdit:
    """What a reading makes of a thread: the seqs where episodes begin now, and where they do no more.

    `records` are those of all gaps that were weighed again, also of those that stay as they were.
    """

    cuts: Sequence[int] = ()
    joins: Sequence[int] = ()
    records: Mapping[int, Record] = field(default_factory=dict)

    @property
    def changes(self) -> bool:
        """Tell whether any verdict is another one now."""
        return bool(self.cuts or self.joins)

    def record(self) -> dict[str, Json]:
        """Return the edit as its decision keeps it; `read_reading` undoes it."""
        return {"cuts": list(self.cuts), "joins": list(self.joins)}

    def limits(self, before: Sequence[int]) -> list[int]:
        """Return the first seqs of what follows an episode, after the edit of such before it.

        >>> ReadEdit((5,), (8,)).limits([3, 8, 12])
        [3, 5, 12]
        """
        return sorted({*before} - {*self.joins} | {*self.cuts})


def read_reading(detail: Mapping[str, Any]) -> ReadEdit | None:
    """Undo `ReadEdit.record`; None where nothing of the kind is recorded."""
    cuts, joins = detail.get("cuts"), detail.get("joins")
    return ReadEdit(tuple(cuts), tuple(joins)) if isinstance(cuts, list) and isinstance(joins, list) else None


def weigh_reading(
    tx: Transaction, frame: Frame, policy: Policy[Any], parts: Sequence[tuple[int, int]]
) -> ReadEdit:
    """Weigh the parts (first and last seqs, in order) that a reader divided a thread into.

    Nothing comes of it under a policy that asks no model about boundaries, nor in the open frame.
    """
    if not isinstance(policy, DefaultPolicy) or policy.band <= 0.0 or not parts:
        return ReadEdit()
    stored = tx.episodes.list(threads=[frame.thread_id])
    records = read_records(tx, frame.thread_id, parts[0][0], parts[-1][1])
    named = _named_inside(tx, stored, records, {first for first, _ in parts})
    gone_on = _gone_on(tx, stored, records, parts)
    joins, size = list[int](), 0  # of the run of joined episodes that ends here
    for episode in stored:
        seq = episode.first_seq
        joined = seq in gone_on and gone_on[seq].action == "keep" and size + episode.size < policy.max_length
        joins += [seq] if joined else []
        size = episode.size + (size if joined else 0)
    cuts = [seq for seq, record in named.items() if record.action == "cut"]
    return ReadEdit(tuple(cuts), tuple(joins), {**named, **gone_on})


def _named_inside(
    tx: Transaction, stored: Sequence[Episode], records: Mapping[int, Record], named: AbstractSet[int]
) -> dict[int, Record]:
    """Return the records of the gaps inside episodes that a reader named, weighed again."""
    weighed = {}
    for seq in sorted(named & set(records)):
        owner = next((e for e in stored if e.first_seq < seq <= e.last_seq), None)
        if owner is not None and seq not in joins_of(stored_decision(tx, owner.decision_id)):
            weighed[seq] = _weighed(records[seq], named=True)
    return weighed


def _gone_on(
    tx: Transaction,
    stored: Sequence[Episode],
    records: Mapping[int, Record],
    parts: Sequence[tuple[int, int]],
) -> dict[int, Record]:
    """Return the records of the cuts that lie inside a part, weighed again; of those that evidence made."""
    weighed = {}
    for before, after in pairwise(stored):
        seq = after.first_seq
        inside = any(first < seq <= last for first, last in parts)
        if inside and seq in records and not _is_certain(stored_decision(tx, before.decision_id), seq):
            weighed[seq] = _weighed(records[seq], named=False)
    return weighed


def _is_certain(decision: Decision | None, seq: int) -> bool:
    """Tell whether no reading joins what a decision parted before a message: all but what evidence did."""
    if decision is None or decision.verdict in _SURELY or decision.score >= 1.0:
        return True
    return decision.detail.get("edge") == DRAIN_ALL or decision.detail.get("before_seq") != seq


def _weighed(record: Record, *, named: bool) -> Record:
    """Return the record of a gap with what a reader said of it; what a model said before counts no more."""
    before, answered = reading.read(record.cues), asking.read(record.cues)
    unread = before.unread if before else answered.unasked if answered else record.probability
    opinion = reading.WeighedReading(unread, named)
    action = "cut" if opinion.probability >= record.threshold else "keep"
    cues = {**record.cues, **reading.shown(opinion)}
    return replace(record, action=action, probability=opinion.probability, cues=cues)


def change_of_reading(tx: Transaction, frame: Frame, edit: ReadEdit) -> HandChange:
    """Return what a reading does to a thread: the episodes that go, and those that come in their place."""
    stored = tx.episodes.list(threads=[frame.thread_id])
    gone: list[Episode] = []
    new: list[HandSpan] = []
    for run in _runs(stored, edit.joins):
        inner = [seq for seq in edit.cuts if run[0].first_seq < seq <= run[-1].last_seq]
        if len(run) == 1 and not inner:
            continue
        gone += run
        new += _spans(tx, run, inner, edit)
    return HandChange(gone, new, frame.first_seq, edit.limits([e.last_seq + 1 for e in stored]))


def _runs(stored: Sequence[Episode], joins: Sequence[int]) -> list[list[Episode]]:
    """Return the episodes of a thread, those together that are joined."""
    runs: list[list[Episode]] = []
    for episode in stored:
        if runs and episode.first_seq in joins:
            runs[-1].append(episode)
        else:
            runs.append([episode])
    return runs


def _spans(tx: Transaction, run: Sequence[Episode], cuts: Sequence[int], edit: ReadEdit) -> list[HandSpan]:
    """Return the episodes that a run of joined ones becomes, cut where a reader named it."""
    last, old = run[-1], stored_decision(tx, run[-1].decision_id)
    records = read_records(tx, last.thread_id, run[0].first_seq, last.last_seq)
    by_hand = [seq for one in run for seq in joins_of(stored_decision(tx, one.decision_id))]
    starts = [run[0].first_seq, *cuts]
    spans = []
    for first, following in zip(starts, [*cuts, last.last_seq + 1], strict=True):
        joined = [seq for seq in by_hand if first < seq < following]
        peak = max((r.surprise for seq, r in records.items() if first <= seq < following), default=0.0)
        drain, boundary = None, _named(edit.records[following], joined) if following in cuts else None
        if boundary is None:
            drain, boundary = recorded_drains(tx, [last]).get(last.last_seq), again(last, old, joined)
        spans.append(HandSpan(first, following - 1, replace(boundary, surprise=peak), drain))
    return spans


def _named(record: Record, joined: Sequence[int]) -> Boundary:
    """Return the boundary before a message that a reader named, with its grounds."""
    detail: dict[str, Json] = {"mode": READING} | ({JOINED: list(joined)} if joined else {})
    reason, cues = str(Reason.TOPIC_SHIFT), record.cues
    return Boundary(
        record.seq, record.seq, reason, record.probability, record.threshold, cues=cues, detail=detail
    )
