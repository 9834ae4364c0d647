"""One boundary of a thread, put or taken away by hand: which episodes give way, and which take their place.

A correction changes nothing else. Every other episode keeps its row, and where the open frame begins where it
did, so does its state: the machine goes on as if nobody had touched the past. Where the open frame itself is
cut or joined, its memory is brought to where it must stand (`thread_pass.continued`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from episodic_agent.core.boundary.contract import Boundary, Input
from episodic_agent.core.language import plural
from episodic_agent.engine.boundary.explain import HAND, JOINED, recorded_drains
from episodic_agent.errors import InvalidInput
from episodic_agent.protocols import Transaction, stored_decision
from episodic_agent.schemas import Decision, Episode, Frame, Json, Reason

_OF_DECISION: Final = ("before_seq", "decided_at_seq", "edge", "surprise", "input", JOINED)


@dataclass(frozen=True, slots=True)
class HandEdit:
    """A correction: a new episode begins with the message `seq`, or (`joins`) begins there no more."""

    seq: int
    joins: bool

    def record(self) -> dict[str, Json]:
        """Return the correction as its decision keeps it."""
        return {"join" if self.joins else "cut": self.seq}

    def limits(self, before: Sequence[int]) -> list[int]:
        """Return the first seqs of what follows an episode, after the correction of such before it.

        >>> HandEdit(5, joins=False).limits([3, 8]), HandEdit(3, joins=True).limits([3, 8])
        ([3, 5, 8], [8])
        """
        return sorted({*before} - {self.seq} if self.joins else {*before, self.seq})


@dataclass(frozen=True, slots=True)
class HandSpan:
    """An episode to be written: its seqs (inclusive), what ends it, and the flush or tick that did."""

    first_seq: int
    last_seq: int
    boundary: Boundary
    drain: Input | None = None


@dataclass(frozen=True, slots=True)
class HandChange:
    """What a correction does: the episodes that `go`, those to write, where the open frame begins then."""

    gone: Sequence[Episode]
    new: Sequence[HandSpan]
    open_from: int
    limits: Sequence[int] = field(default=())


def edit_of(cut: int | None, join: int | None) -> HandEdit | None:
    """Read the two ways to correct; InvalidInput for both at once, and for what is no seq.

    >>> edit_of(None, None), edit_of(4, None)
    (None, HandEdit(seq=4, joins=False))
    """
    if cut is not None and join is not None:
        raise InvalidInput("give `cut` or `join`: one boundary is corrected at a time")
    seq = join if cut is None else cut
    if seq is None:
        return None
    if isinstance(seq, bool) or not isinstance(seq, int) or seq < 1:
        raise InvalidInput(f"{seq!r} is no message that could begin an episode; give its number, 1 or more")
    return HandEdit(seq, joins=cut is None)


def read_edit(detail: Any) -> HandEdit | None:
    """Undo `HandEdit.record`; None where nothing of the kind is recorded."""
    cut, join = (detail.get(name) for name in ("cut", "join"))
    seq = join if cut is None else cut
    return HandEdit(seq, joins=cut is None) if isinstance(seq, int) else None


def change_of(tx: Transaction, frame: Frame, edit: HandEdit) -> HandChange:
    """Return what a correction does to a thread; InvalidInput where there is nothing to correct."""
    stored = tx.episodes.list(threads=[frame.thread_id])
    change = _joined(tx, stored, frame, edit) if edit.joins else _cut(tx, stored, frame, edit)
    return replace(change, limits=edit.limits([episode.last_seq + 1 for episode in stored]))


def _cut(tx: Transaction, stored: Sequence[Episode], frame: Frame, edit: HandEdit) -> HandChange:
    seq = edit.seq
    if seq >= frame.next_seq:
        counted = plural(frame.next_seq, "message")
        raise InvalidInput(f"the thread has {counted}, counted from 0: none has the number {seq}")
    if seq == frame.first_seq or any(seq == episode.first_seq for episode in stored):
        raise InvalidInput(f"an episode begins with message {seq} already; nothing is to be cut there")
    owner = next((e for e in stored if e.first_seq < seq <= e.last_seq), None)
    if owner is not None:
        old = stored_decision(tx, owner.decision_id)
        joins = joins_of(old)
        first = HandSpan(owner.first_seq, seq - 1, _by_hand(seq, [s for s in joins if s < seq]))
        drain = recorded_drains(tx, [owner]).get(owner.last_seq)
        rest = again(owner, old, [s for s in joins if s > seq])
        return HandChange([owner], [first, HandSpan(seq, owner.last_seq, rest, drain)], frame.first_seq)
    if not frame.first_seq < seq <= frame.cursor:
        raise InvalidInput(f"message {seq} is not decided yet, or erased; flush the thread, then cut it")
    return HandChange([], [HandSpan(frame.first_seq, seq - 1, _by_hand(seq, ()))], seq)


def _joined(tx: Transaction, stored: Sequence[Episode], frame: Frame, edit: HandEdit) -> HandChange:
    seq = edit.seq
    before = next((e for e in stored if e.last_seq == seq - 1), None)
    after = next((e for e in stored if e.first_seq == seq), None)
    if before is None or not (after or seq == frame.first_seq < frame.next_seq):
        raise InvalidInput(f"no episode begins with message {seq} right after another: nothing to join")
    if after is None:
        return HandChange([before], [], before.first_seq)
    old = stored_decision(tx, after.decision_id)
    joins = [*joins_of(stored_decision(tx, before.decision_id)), seq, *joins_of(old)]
    drain = recorded_drains(tx, [after]).get(after.last_seq)
    span = HandSpan(before.first_seq, after.last_seq, again(after, old, joins), drain)
    return HandChange([before, after], [span], frame.first_seq)


def joins_of(decision: Decision | None) -> list[int]:
    """Return where somebody joined by hand what a decision ends."""
    joins = None if decision is None else decision.detail.get(JOINED)
    return [s for s in joins if isinstance(s, int)] if isinstance(joins, Sequence) else []


def _by_hand(seq: int, joins: Sequence[int]) -> Boundary:
    """Return the boundary that somebody puts before a message: certain, and from no cue."""
    detail: dict[str, Json] = {"mode": HAND} | ({JOINED: list(joins)} if joins else {})
    return Boundary(seq, seq, str(Reason.MANUAL), 1.0, 1.0, detail=detail)


def again(episode: Episode, decision: Decision | None, joins: Sequence[int]) -> Boundary:
    """Return the boundary that ends a stored episode, as it was decided then."""
    detail = {} if decision is None else dict(decision.detail)
    decided, edge = detail.get("decided_at_seq"), detail.get("edge")
    left: dict[str, Json] = {name: value for name, value in detail.items() if name not in _OF_DECISION}
    if joins:
        left[JOINED] = list(joins)
    return Boundary(
        before_seq=episode.last_seq + 1,
        decided_at_seq=decided if isinstance(decided, int) else episode.last_seq + 1,
        reason=episode.reason,
        probability=1.0 if decision is None else decision.score,
        threshold=1.0 if decision is None else decision.threshold,
        surprise=episode.surprise,
        cues={} if decision is None else decision.features,
        detail=left,
        **({"edge": edge} if isinstance(edge, str) else {}),
    )
