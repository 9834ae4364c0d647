"""What a fact is: a lasting statement about somebody, when it held, and the words that prove it."""

from collections.abc import Container, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple
from uuid import UUID

from episodic_agent.schemas import Json
from episodic_agent.showing import as_card, described


class Category(StrEnum):
    """What a fact is about (seed 003)."""

    IDENTITY = "identity"
    PREFERENCE = "preference"
    INTEREST = "interest"
    PERSONALITY = "personality"
    RELATIONSHIP = "relationship"
    EXPERIENCE = "experience"
    GOAL = "goal"
    GUIDELINE = "guideline"


class TalkLine(NamedTuple):
    """A message of a sitting: which observation, its words, and whether who speaks now said it."""

    observation_id: UUID
    text: str
    own: bool = False


@dataclass(frozen=True, slots=True)
class Statement:
    """What somebody said, as facts are read from it.

    `at` is event time, aware; `utc_offset` in seconds tells the local day. `dated` is False where the time is
    only assumed: relative times ("last May") then ground nothing. `language` is an ISO 639-1 code, guessed
    when it is None. `before` is what was said just before it, "" for nothing; `share` in (0, 1) that of what
    lasts in the talk before, one half where nobody has heard it, None where it decides nothing. `earlier` is
    what the same speaker said before it in the same sitting, `talk` what anybody did: the last of it last.
    What is not `to_assistant` is said to other people: what it asks for is no wish of the user.
    """

    text: str
    at: datetime
    actor: str
    observation_id: UUID
    episode_id: UUID | None = None
    language: str | None = None
    utc_offset: int | None = None
    dated: bool = True
    learned_at: datetime | None = None
    before: str = ""
    share: float | None = 0.5
    earlier: tuple["Statement", ...] = ()
    talk: tuple[TalkLine, ...] = ()
    to_assistant: bool = True


def _until(at: datetime | None) -> str:
    return "" if at is None else f"until {at:%Y-%m-%d}"


@dataclass(frozen=True, slots=True)
class FactEvidence:
    """The place where a fact was said: `text[start:end]` of an observation, and how it was put there.

    `said_at` is when it was said, `valid_at` since when it is so (both event time), `learned_at` when the
    memory took it in (record time). `corrects` marks words that call an earlier value an error, not a change.
    With `ended_by` the words do not tell the fact but end it: that fact took its place. With `leads_to` they
    do not tell it either: they stand before what was said in that observation, which points to them.
    `begins_at` is when what they announce begins ("810 from January"): until then what they end holds.
    """

    observation_id: UUID
    start: int
    end: int
    fact: str
    value: str
    said_at: datetime
    valid_at: datetime
    episode_id: UUID | None = None
    learned_at: datetime | None = None
    confidence: float = 1.0
    corrects: bool = False
    ended_by: UUID | None = None
    leads_to: UUID | None = None
    begins_at: datetime | None = None

    def __repr__(self) -> str:
        return described(self, self.fact, self.said_at)

    @property
    def order(self) -> tuple[datetime, datetime, str, int, int]:
        """Say where a piece of evidence stands in time; equal times fall back on the place in the text."""
        return self.valid_at, self.said_at, str(self.observation_id), self.start, self.end

    @property
    def takes_effect(self) -> datetime:
        """Say from when on it holds instead of what it ends."""
        return self.valid_at if self.begins_at is None else max(self.valid_at, self.begins_at)


@dataclass(frozen=True, slots=True)
class FactCandidate:
    """A fact as one statement gives it, not yet weighed against what is known.

    `holds` is False for what is said not to be so, or no longer so. `lead` are the words before it that it
    points to, where it says nothing by itself.
    """

    subject: str
    attribute: str
    value: str
    category: Category
    evidence: FactEvidence
    holds: bool = True
    keywords: tuple[str, ...] = ()
    lead: FactEvidence | None = None

    @property
    def fact(self) -> str:
        """Return the sentence."""
        return self.evidence.fact


@dataclass(frozen=True, slots=True)
class Version:
    """How a fact read before somebody changed it by hand, and when (record time) it was changed."""

    fact: str
    value: str
    changed_at: datetime


@dataclass(frozen=True, slots=True)
class Fact:
    """A lasting statement with its validity and evidence (`valid_at <= t < invalid_at`, event time).

    `subject`, `attribute` and `value` are what supersession compares. `superseded_by` is the fact that took
    its place. `edited`, `pinned` and `confirmed` are what people did to it; `versions` how it read before.
    """

    id: UUID
    subject: str
    attribute: str
    value: str
    category: Category
    fact: str
    evidence: tuple[FactEvidence, ...]
    valid_at: datetime
    holds: bool = True
    keywords: tuple[str, ...] = ()
    invalid_at: datetime | None = None
    superseded_by: UUID | None = None
    confidence: float = 1.0
    edited: bool = False
    pinned: bool = False
    confirmed: bool = False
    versions: tuple[Version, ...] = ()

    def __repr__(self) -> str:
        return described(
            self,
            self.fact,
            self.category.value,
            since_when(self),
            _until(self.invalid_at),
            self.id,
        )

    @property
    def telling(self) -> tuple[FactEvidence, ...]:
        """Return the evidence that says it, without the words that ended it or that lead to it."""
        return tuple(one for one in self.evidence if one.ended_by is None and one.leads_to is None)

    @property
    def stated_at(self) -> datetime:
        """Return since when it is so, or when it was first said where that came later (event time).

        What is "so since October", said in November, is newer than what was said on the day before.
        """
        return max(self.valid_at, min((one.said_at for one in self.telling), default=self.valid_at))

    @property
    def leads(self) -> tuple[FactEvidence, ...]:
        """Return the evidence whose words stand in its sentence before those it quotes."""
        return tuple(one for one in self.evidence if one.leads_to is not None and one.fact == self.fact)

    def left_without(self, gone: Container[UUID]) -> tuple[FactEvidence, ...]:
        """Return the evidence that is left without some observations: what points to them goes with them."""
        left = [one for one in self.evidence if one.observation_id not in gone and one.leads_to not in gone]
        lost = {(one.leads_to, one.fact) for one in self.evidence if one.leads_to and one not in left}
        return tuple(one for one in left if (one.observation_id, one.fact) not in lost)

    def held_at(self, moment: datetime) -> bool:
        """Say whether the fact held at a moment of event time."""
        return self.valid_at <= moment and (self.invalid_at is None or moment < self.invalid_at)

    def as_record(self) -> Mapping[str, Json]:
        """Return the fact as plain JSON, with seed 003's field names first."""
        episodes = dict.fromkeys(str(one.episode_id) for one in self.evidence if one.episode_id)
        return {
            "id": str(self.id),
            "category": self.category.value,
            "fact": self.fact,
            "keywords": list(self.keywords),
            "source_episodic_ids": list(episodes),
            "valid_at": self.valid_at.isoformat(),
            "invalid_at": self.invalid_at.isoformat() if self.invalid_at else None,
            "superseded_by": str(self.superseded_by) if self.superseded_by else None,
            "subject": self.subject,
            "attribute": self.attribute,
            "value": self.value,
            "holds": self.holds,
            "confidence": round(self.confidence, 4),
            "edited": self.edited,
            "pinned": self.pinned,
            "confirmed": self.confirmed,
        }

    def _repr_html_(self) -> str:
        """Show the fact in a notebook."""
        return as_card(self.fact, f"{self.category.value}, {since_when(self)}")


def since_when(fact: Fact) -> str:
    """Return since when a fact is so, and when it was said where that was another day, as people read it."""
    since, day = f"{fact.valid_at:%Y-%m-%d}", f"{fact.stated_at.astimezone(fact.valid_at.tzinfo):%Y-%m-%d}"
    return f"since {since}" if day == since else f"since {since}, said {day}"


@dataclass(frozen=True, slots=True)
class FactTombstone:
    """What a deleted fact rested on, so that the same words do not teach it again.

    It holds no text: `mark` is a hash of what the words were read as (`marks`).
    """

    observation_id: UUID
    mark: str
    deleted_at: datetime


@dataclass(frozen=True, slots=True)
class StoredFact:
    """A fact as a store keeps it: since when the memory holds it (record time), and its index reference.

    The store gives the `number`, once and for ever: no other fact of the scope ever has it. 0 is none yet.
    """

    fact: Fact
    created_at: datetime
    number: int = 0

    @property
    def id(self) -> UUID:
        """Return the fact's id."""
        return self.fact.id
