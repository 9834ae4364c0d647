"""What the audit of a user tells: what was done to a memory, when, and who did it; never what was said."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from episodic_agent.showing import ID, described

WORK = "work"  # the face of later work and of the clock: nobody asked at that moment


class AuditKind(StrEnum):
    """What an entry of the audit is of: something written, a call of a language model, something deleted."""

    WRITE = "write"
    MODEL = "model"
    DELETION = "deletion"


@dataclass(frozen=True, slots=True)
class Caller:
    """Who did something: by which face, with which key of the service and its role ("" without keys).

    `face` is python, cli, http, dashboard, mcp, or "work" for later work and upkeep; `cause` is then the key
    of the job, which names the observation, episode or thread it was for.
    """

    face: str
    key: str = ""
    role: str = ""
    cause: str = ""

    def __repr__(self) -> str:
        return described(self, self.face, self.key, self.role, self.cause)

    def __str__(self) -> str:
        """Return it in a few words.

        >>> str(Caller("http", "3fa2", "write")), str(Caller("cli"))
        ('http, key 3fa2 (write)', 'cli')
        """
        key = f"key {self.key} ({self.role})" if self.key else ""
        return ", ".join(filter(None, (self.face, key, f"for {self.cause[:ID]}" if self.cause else "")))


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One call or piece of work that changed a memory, a call of a model, or an erasure.

    `at` is record time: when its first write was committed with it. `verb` is what was called
    ("add", "facts.edit"), the kind of later work ("encode"), or the stage a model was asked for. `thing` says
    what `subject` is the id of ("thread", "episode", "fact", …); None where it concerned several, or none.
    `counts` says how many of what were written or deleted. `note` is the model's name, or why
    something was erased. `id` is unique among the entries of one moment.
    """

    at: datetime
    id: str
    kind: AuditKind
    verb: str
    by: Caller
    thing: str = ""
    subject: UUID | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    note: str = ""

    @property
    def summary(self) -> str:
        """Return how many of what, in words, e.g. "3 observations, 1 episode"."""
        named = ((number, _one_of(what) if number == 1 else what) for what, number in self.counts.items())
        return ", ".join(f"{number} {what}" for number, what in named)

    def __repr__(self) -> str:
        return described(self, self.at, self.kind.value, self.verb, self.summary, str(self.by))


def _one_of(what: str) -> str:
    """Return the name of one of what is counted.

    >>> _one_of("facts"), _one_of("summaries"), _one_of("retention policies"), _one_of("refusals of chains")
    ('fact', 'summary', 'retention policy', 'refusal of a chain')
    """
    if what == "refusals of chains":
        return "refusal of a chain"
    return f"{what.removesuffix('ies')}y" if what.endswith("ies") else what.removesuffix("s")
