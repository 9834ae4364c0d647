"""What is kept of a resegmentation: a decision that tells how a generation was made and what was before.

The decision (type `resegment`, about the thread) names the policy, the mode and the inputs of the pass, so
that it can be repeated (I6, I7), and holds the frame and the check records it replaced, so that it can be
undone. All generations are kept: a reference to a replaced episode must lead somewhere as long as there are
references, and undo goes back one generation at a time, to the first. One costs the rows of the episodes
that were replaced and about 35 bytes for each observation whose record changed.
"""

import base64
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from episodic_agent.core.identity import decision_id
from episodic_agent.protocols import Transaction, stored_decision
from episodic_agent.schemas import Decision, Frame, Json, Thread

RESEGMENT: Final = "resegment"
_FORMER: Final = "former"
ERASED: Final = "erased"  # marks a pass that cannot be repeated: some of what it read is gone


@dataclass(frozen=True, slots=True)
class Pass:
    """How a generation was made: what read which inputs, and where the open frame began after it.

    `end` is the seq before which everything was read, `embedded` how many observations had a vector of
    `embedder` then.
    """

    policy: str
    mode: str
    generation: int
    end: int
    first_seq: int
    embedder: str
    embedded: int


@dataclass(frozen=True, slots=True)
class Former:
    """What a resegmentation replaced beside episodes: the open frame, and records (None: there was none)."""

    frame: Frame
    records: Mapping[int, bytes | None]


def resegmenting_id(thread_id: UUID, generation: int) -> UUID:
    """Return the id of the decision that made a generation of a thread."""
    return decision_id(thread_id, f"{RESEGMENT}-{generation}")


def last_resegmenting(tx: Transaction, thread: Thread) -> Decision | None:
    """Return the decision that made a thread's generation; None where it was never segmented again."""
    return stored_decision(tx, resegmenting_id(thread.id, thread.generation)) if thread.generation else None


def record_pass(
    thread_id: UUID, made: Pass, former: Former, counts: Mapping[str, int], now: datetime
) -> Decision:
    """Return the decision to be kept of a pass; `counts` say what became of the episodes."""
    return Decision(
        id=resegmenting_id(thread_id, made.generation),
        type=RESEGMENT,
        at=now,
        subject=thread_id,
        features={name: float(count) for name, count in counts.items()},
        score=1.0,
        threshold=1.0,  # somebody asked for it
        verdict=made.mode,
        policy_version=made.policy,
        detail={
            "generation": made.generation,
            "end": made.end,
            "first_seq": made.first_seq,
            "embedder": made.embedder,
            "embedded": made.embedded,
            _FORMER: _pack(former),
        },
    )


def read_pass(decision: Decision) -> Pass:
    """Undo `record_pass` for what the pass was."""
    answers: Mapping[str, Any] = decision.detail
    numbers = {name: int(answers[name]) for name in ("generation", "end", "first_seq", "embedded")}
    return Pass(decision.policy_version, decision.verdict, embedder=str(answers["embedder"]), **numbers)


def read_former(decision: Decision) -> Former | None:
    """Undo `record_pass` for what was before; None where it came from an export, which holds no history."""
    packed = decision.detail.get(_FORMER)
    return _unpack(packed, decision.subject) if isinstance(packed, str) else None


def without_history(decision: Decision) -> Decision:
    """Return the decision as an export holds it."""
    return replace(decision, detail={k: v for k, v in decision.detail.items() if k != _FORMER})


def _pack(former: Former) -> str:
    frame = former.frame
    body: Json = {
        "policy": frame.policy,
        "embedder": frame.embedder,
        "seqs": [frame.next_seq, frame.first_seq, frame.cursor],
        "state": base64.b64encode(frame.state).decode(),
        "question": None if frame.question is None else base64.b64encode(frame.question).decode(),
        "records": {str(seq): packed and packed.decode() for seq, packed in former.records.items()},
    }
    return base64.b64encode(zlib.compress(json.dumps(body, separators=(",", ":")).encode())).decode()


def _unpack(packed: str, thread_id: UUID) -> Former:
    body = json.loads(zlib.decompress(base64.b64decode(packed)))
    next_seq, first_seq, cursor = body["seqs"]
    frame = Frame(
        thread_id,
        body["policy"],
        body["embedder"],
        next_seq=next_seq,
        first_seq=first_seq,
        cursor=cursor,
        state=base64.b64decode(body["state"]),
        question=None if body["question"] is None else base64.b64decode(body["question"]),
    )
    records = {int(seq): None if text is None else text.encode() for seq, text in body["records"].items()}
    return Former(frame, records)
