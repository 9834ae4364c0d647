"""What the verbs return: small frozen values that print well."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from episodic_agent.core.context.retrieved import KEY_MOMENT
from episodic_agent.core.fact_records import Fact
from episodic_agent.schemas import Episode, Observation


@dataclass(frozen=True, slots=True)
class Evidence:
    """An observation that made a hit, with its own score in [0, 1] and its legs' scores."""

    observation: Observation
    score: float
    legs: Mapping[str, float] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """Return the caller's own id of the observation where there is one, else the internal one."""
        return self.observation.external_id or str(self.observation.id)


@dataclass(frozen=True, slots=True)
class Hit:
    """A recalled episode, or an open frame (`state` open), with the observations that prove it.

    An episode's `state` is closed, archived (its part was compacted) or, of a whole part, compacted.

    `score` orders the hits of one recall; `confidence` is the calibrated probability in [0, 1] that it
    answers the query; `retrievability` is the bounded forgetting's input (FSRS-6).
    """

    episode_id: UUID
    thread_id: UUID
    title: str
    summary: str
    score: float
    confidence: float
    start_at: datetime
    end_at: datetime
    state: str
    retrievability: float
    evidence: Sequence[Evidence]
    legs: Mapping[str, float] = field(default_factory=dict)
    surprise: float = 0.0

    @property
    def key_moment(self) -> bool:
        """Tell whether the episode was surprising enough to be marked as a key moment (seed 003)."""
        return self.surprise >= KEY_MOMENT


@dataclass(frozen=True, slots=True)
class FactHit:
    """A fact that answers a query, with a score in [0, 1] and the threads its evidence lies in.

    `origin` is the name of the first of them.
    """

    fact: Fact
    score: float
    threads: tuple[UUID, ...] = ()
    origin: str = ""

    @property
    def episodes(self) -> tuple[UUID, ...]:
        """Return the episodes it rests on, each once, as they were when it was said."""
        return tuple(dict.fromkeys(one.episode_id for one in self.fact.evidence if one.episode_id))


@dataclass(frozen=True, slots=True)
class Suppressed:
    """An episode that would have been a hit, and why it is none.

    `reason` begins with `suppressed`, `archived` or `faded`; the last was kept out by its strength alone.
    """

    hit: Hit
    reason: str


@dataclass(frozen=True, slots=True)
class Recall:
    """The answer to a query: facts, episodes with evidence, and the best observations over all.

    `abstained` says that no relevant episode was found; the hits are then the best of what is not good
    enough. `notes` tell in words what limited the search (no embedder, an empty memory). `suppressed` are
    the hits that were left out, where that was asked for.
    """

    query: str
    hits: Sequence[Hit]
    observations: Sequence[Evidence]
    abstained: bool
    confidence: float
    notes: Sequence[str] = ()
    facts: Sequence[FactHit] = ()
    suppressed: Sequence[Suppressed] = ()

    def __str__(self) -> str:
        """Show what answers as a short text."""
        hits = () if self.abstained else self.hits
        lines = [f"{found.score:.2f} {found.fact.fact}" for found in self.facts]
        lines += [f"{h.score:.2f} {h.start_at:%Y-%m-%d} {h.title}" for h in hits]
        return "\n".join(lines) or "nothing relevant"


@dataclass(frozen=True, slots=True)
class EpisodeCard:
    """One line of a listing: an episode, or the open frame of a thread (`state` open).

    `hidden` says why recall leaves it out ("" where it does not).
    """

    episode_id: UUID
    thread_id: UUID
    origin: str
    title: str
    summary: str
    start_at: datetime
    end_at: datetime
    observations: int
    state: str
    reason: str
    surprise: float
    stability: float
    retrievability: float
    pinned: bool = False
    hidden: str = ""


@dataclass(frozen=True, slots=True)
class Whole:
    """What is behind a card or a hit: its thread's name, the episode (None: an open frame), its messages."""

    origin: str
    episode: Episode | None
    messages: Sequence[Observation]


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import did: items read, added, known before, episodes closed by it, and what was unreadable."""

    observations: int
    added: int
    duplicates: int
    episodes: int
    unreadable: Sequence[str] = ()
    threads: int = 0


@dataclass(frozen=True, slots=True)
class Stats:
    """Counts of one scope; `facts` are those nothing has ended, `unconsolidated` episodes
    that wait to be read for some."""

    user_id: str
    threads: int
    observations: int
    episodes: int
    open_observations: int
    waiting_jobs: int
    embedder: str
    policy: str
    first_at: datetime | None
    last_at: datetime | None
    facts: int = 0
    unconsolidated: int = 0


def hit_of(
    card: "Episode | EpisodeCard",
    score: float,
    confidence: float,
    strength: float,
    proofs: Sequence[Evidence],
    legs: Mapping[str, float],
) -> Hit:
    """Build a hit of an episode, or of the card of an open frame."""
    return Hit(
        episode_id=card.id if isinstance(card, Episode) else card.episode_id,
        thread_id=card.thread_id,
        title=card.title,
        summary=card.summary,
        score=score,
        confidence=confidence,
        start_at=card.start_at,
        end_at=card.end_at,
        state=str(card.state),
        retrievability=strength,
        evidence=proofs,
        legs=legs,
        surprise=card.surprise,
    )
