"""What is left of what was erased: a tombstone in its thread, and a receipt without a word of it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from hashlib import blake2b
from typing import Final
from uuid import UUID

from episodic_agent.schemas import Scope

REQUEST: Final = "request"  # somebody asked for it; the other reasons name who decided
LONGEST_SAMPLE: Final = 48
SHORTEST_SAMPLE: Final = 8
SAMPLES: Final = 12


class What(StrEnum):
    """What can be erased: one observation, an episode with all of its own, a thread, or all of a user."""

    OBSERVATION = "observation"
    EPISODE = "episode"
    THREAD = "thread"
    USER = "user"


@dataclass(frozen=True, slots=True)
class Tombstone:
    """The place of an erased observation: seqs stay gapless, and its id adds nothing when it comes again."""

    thread_id: UUID
    seq: int
    id: UUID
    at: datetime


@dataclass(frozen=True, slots=True)
class Erasure:
    """The receipt of an erasure.

    `subject` is `fingerprint` of what was erased, `counts` how many of which kind went, `at` record time.
    `state` is "pending" while something of it may still be readable, which `waits_for` explains, else "done".
    `residue` is how many of the strings looked for were still found in the file; None: nobody looked.
    `repeated_by` are observations that are kept and hold the same words: an echo, a quotation, a copy. They
    are told to who erases, and not written.
    """

    id: UUID
    what: What
    subject: str
    at: datetime
    reason: str = REQUEST
    counts: Mapping[str, int] = field(default_factory=dict)
    state: str = "pending"
    done_at: datetime | None = None
    residue: int | None = None
    waits_for: str = ""
    repeated_by: Sequence[UUID] = ()

    @property
    def is_done(self) -> bool:
        """Tell whether nothing of it can be read any more."""
        return self.state == "done"


def fingerprint(scope: Scope, what: What, name: str) -> str:
    """Return what a receipt calls a thing: who knows its name finds the receipt, who reads one learns none.

    >>> len(fingerprint(Scope("ana"), What.USER, "ana"))
    32
    """
    told = "\0".join((scope.space, scope.user_id, what.value, name))
    return blake2b(told.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def samples(texts: Iterable[str]) -> Sequence[str]:
    """Return strings to look for after an erasure: the longest texts' middles, which tell them from others.

    >>> samples(["ok", "The piano mover comes on the 12th."])
    ['The piano mover comes on the 12th.']
    """
    worth = {text.strip() for text in texts}
    longest = sorted((t for t in worth if len(t) >= SHORTEST_SAMPLE), key=lambda t: (-len(t), t))[:SAMPLES]
    return [_middle(text) for text in longest]


def _middle(text: str) -> str:
    start = max(0, (len(text) - LONGEST_SAMPLE) // 2)
    return text[start : start + LONGEST_SAMPLE]
