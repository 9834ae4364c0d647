"""What is left of what was erased: tombstones, receipts, sweeps."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

from episodic_agent.schemas.audit import Caller
from episodic_agent.showing import described

REQUEST: Final = "request"  # somebody asked for it; the other reasons name who decided


class What(StrEnum):
    """What can be erased: an observation, episode, thread or user, all of a speaker, or what holds words."""

    OBSERVATION = "observation"
    EPISODE = "episode"
    THREAD = "thread"
    SPEAKER = "speaker"
    WORDS = "words"
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
    `state` is "pending" until the database was swept (`waits_for` says what hindered that), then "done".
    `measures` are what was done about it, `remains` where bytes of it may still lie, "" where nowhere that
    the store knows of. `residue` is how many of the strings looked for were still found where `residue` of
    the store looks (in the file; on a server in the rows); None: nobody looked. `owner` is the hash of the
    user's name by which a store finds the receipt again; "" before it is written.
    `repeated_by` are observations that are kept and hold the same words: an echo, a quotation, a copy, and
    in the same turn what shares a word that is seldom said. They are told to who erases, and not written.
    `names` are those that a speaker who was erased went by, `near_names` speakers whose names are like
    theirs, with how many messages they have: a person who was renamed. Both are told in the same way.
    `by` is who erased it; None where that was not kept yet.
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
    names: Sequence[str] = field(default=(), compare=False)
    near_names: Mapping[str, int] = field(default_factory=dict)
    measures: str = ""
    remains: str = ""
    owner: str = field(default="", compare=False)
    by: Caller | None = None

    def __repr__(self) -> str:
        count = len(self.repeated_by)
        repeats = f"repeated by {count} kept message{'s' * (count > 1)}" if count else ""
        named = [f"{name!r} spoke {n} time{'s' * (n > 1)}, too" for name, n in self.near_names.items()]
        counts = _counts_text(self.counts)
        under = f"under {', '.join(map(repr, self.names))}" if len(self.names) > 1 else ""
        return described(
            self,
            self.what.value,
            counts,
            under,
            self.state,
            self.waits_for,
            repeats,
            ", ".join(named),
            self.id,
        )

    @property
    def is_done(self) -> bool:
        """Tell whether the database was swept: no query reads anything of it any more."""
        return self.state == "done"


@dataclass(frozen=True, slots=True)
class Sweep:
    """What a sweep did with deleted rows: `hindrance` is what stood in its way, "" if nothing.

    `measures` and `remains` are what the receipts of the erasures it completes say.
    """

    hindrance: str = ""
    measures: str = ""
    remains: str = ""


def _counts_text(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{n} {kind}" for kind, n in counts.items() if n)
