"""What the verbs return: small frozen values that print well."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Final
from uuid import UUID

from episodic_agent.core.chains.metadata import read_metadata
from episodic_agent.core.context.retrieved import KEY_MOMENT, heading
from episodic_agent.core.facts.speakers import as_prompted
from episodic_agent.core.language import excerpt, pieces, plural
from episodic_agent.lazily import module
from episodic_agent.schemas import Episode, Kind, Observation
from episodic_agent.schemas.facts import Fact
from episodic_agent.schemas.observations import by_clock
from episodic_agent.showing import as_card, clipped, described, visible

if TYPE_CHECKING:
    from episodic_agent.core.recall import due as due_days
else:
    due_days = module("episodic_agent.core.recall.due")

NOTHING: Final = "nothing relevant"  # how an abstention is told, and its note begins
NOTHING_ELSE: Final = "nothing else relevant"  # where facts or commitments answer
NO_PROJECT: Final = "nothing is known of the project"  # how the note of an unknown one begins
LONGEST_QUOTE: Final = 160  # characters of a message that proves a hit


@dataclass(frozen=True, slots=True)
class Evidence:
    """An observation that made a hit, with its own score in [0, 1] and its legs' scores.

    `days` are those to come that the question asks about: quoted is a sentence that names one of them.
    """

    observation: Observation
    score: float
    legs: Mapping[str, float] = field(default_factory=dict)
    days: "due_days.DaysAsked | None" = None

    def __repr__(self) -> str:
        return described(
            self, self.score, self.observation.at, f"{self.observation.actor}: {self.observation.text}"
        )

    @property
    def id(self) -> str:
        """Return the caller's own id of the observation where there is one, else the internal one."""
        return self.observation.external_id or str(self.observation.id)

    def quoted(self, query: str) -> str:
        """Return who said what in one line; of a long message stands what is nearest to the query."""
        return f"{self.observation.actor}: {' '.join(self.excerpt(query, LONGEST_QUOTE).split())}"

    def excerpt(self, query: str, longest: int) -> str:
        """Return what of the message bears most on the query, at most `longest` characters."""
        seen = self.observation
        names: Sequence[float] = ()
        if self.days is not None and len(seen.text) > longest:
            offset = None if seen.utc_offset is None else timedelta(seconds=seen.utc_offset)
            names = due_days.nearness(pieces(seen.text), seen.at, offset, self.days)
        return excerpt(seen.text, query, longest, output=seen.kind is Kind.TOOL, nearness=names)


@dataclass(frozen=True, slots=True)
class Hit:
    """A recalled episode, or an open frame (`state` open), with the observations that prove it.

    An episode's `state` is closed, archived (its part was compacted) or, of a whole part, compacted.

    `score` orders the hits of one recall; `confidence` is the calibrated probability in [0, 1] that it
    answers the query; `retrievability` is the bounded forgetting's input (FSRS-6). `decisions` are those
    that were declared of the session it happened in.
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
    thread_title: str = ""
    decisions: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return described(
            self, self.lived_at, self.heading, self.score, *(one.quoted("") for one in self.evidence[:1])
        )

    @property
    def lived_at(self) -> datetime:
        """Return when it began by the clock of who said what proves it, as far as that is known.

        `start_at` is the same moment in UTC, of which the day may be the one before.
        """
        offsets = (one.observation.utc_offset for one in self.evidence)
        return by_clock(self.start_at, next((one for one in offsets if one is not None), None))

    @property
    def heading(self) -> str:
        """Return the title, or what an episode is called that has no words yet."""
        return heading(self.title, self.start_at)

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

    def __repr__(self) -> str:
        return described(self, self.fact.fact, f"since {self.fact.valid_at:%Y-%m-%d}", self.score)

    @property
    def episodes(self) -> tuple[UUID, ...]:
        """Return the episodes it rests on, each once, as they were when it was said."""
        return tuple(dict.fromkeys(one.episode_id for one in self.fact.evidence if one.episode_id))


@dataclass(frozen=True, slots=True)
class Suppressed:
    """An episode that would have been a hit, and why it is none.

    `reason` begins with `suppressed`, `archived`, `edited` or `faded`; the last was kept
    out by its strength alone.
    """

    hit: Hit
    reason: str

    def __repr__(self) -> str:
        return described(self, self.hit.start_at, self.hit.heading, self.reason)


@dataclass(frozen=True, slots=True)
class SessionEnd:
    """How a session ended, as far as it settles something: `text` is a decision of it, or its outcome.

    `at` is when it ended, `episode_id` its own, `topic` what it was started for.
    """

    at: datetime
    text: str
    topic: str
    episode_id: UUID
    utc_offset: int | None = None

    @property
    def actor(self) -> str:
        """Return who says so: its topic."""
        return self.topic


@dataclass(frozen=True, slots=True)
class Commitment:
    """Something that somebody took on, in the words of its message, and whether it is settled.

    `text` is the message, or of a long one a sentence. `to` is who it was said to, else its
    thread ("" unknown); `due` the day it names. `settled_by` is the later message that likeliest settled it,
    or how its session ended, None: it is open.
    """

    observation: Observation
    text: str
    to: str = ""
    due: date | None = None
    settled_by: Observation | SessionEnd | None = None

    def __repr__(self) -> str:
        return described(self, self.observation.at, self.line)

    @property
    def by(self) -> str:
        """Return who took it on."""
        return self.observation.actor

    @property
    def line(self) -> str:
        """Return it in one line: who to whom, until when or what settled it, and the words."""
        due = "" if self.due is None else f", due {self.due}"
        done = self.settled_by
        state = f"open{due}" if done is None else f"settled {done.at:%Y-%m-%d}"
        words = clipped(" ".join(self.text.split()), LONGEST_QUOTE)
        by = "" if done is None else f" ({done.actor}: {clipped(' '.join(done.text.split()), LONGEST_QUOTE)})"
        return f"{state}: {self.by}{f' to {self.to}' if self.to else ''}: {words}{by}"


@dataclass(frozen=True, slots=True)
class Recall:
    """The answer to a query: facts, episodes with evidence, and the best observations over all.

    Where no relevant episode was found there are no hits: it abstained, the last of the `notes` says why, and
    `candidates` are the best of what is not good enough. The observations are the best over all either way.
    `notes` also tell in words what limited the search (no embedder, an empty memory). `suppressed` are the
    hits that were left out, where that was asked for. `commitments` are those that the query
    asks for: what is open first, by the day it is due, then what is settled.
    """

    query: str
    hits: Sequence[Hit]
    observations: Sequence[Evidence]
    confidence: float
    notes: Sequence[str] = ()
    facts: Sequence[FactHit] = ()
    suppressed: Sequence[Suppressed] = ()
    candidates: Sequence[Hit] = ()
    commitments: Sequence[Commitment] = ()

    def __repr__(self) -> str:
        return described(
            self,
            self.query,
            plural(len(self.hits), "hit"),
            plural(len(self.facts), "fact"),
            str(self).split("\n", 1)[0],
        )

    def __iter__(self) -> Iterator[Hit]:
        """Go through the hits, the best first."""
        return iter(self.hits)

    @property
    def abstained(self) -> bool:
        """Tell whether no relevant episode was found."""
        return not self.hits

    def __str__(self) -> str:
        """Show what answers as a short text: every fact, and every hit with the message that proves it.

        Before a hit stands its `confidence`; a fact has none: it holds, and its score only orders.
        """
        lines = [one.line for one in self.commitments]
        lines += [f"fact: {clipped(_fact_line(found.fact), LONGEST_QUOTE)}" for found in self.facts]
        for hit in self.hits:
            sure = f"confidence {hit.confidence:.0%}"
            lines.append(f"{sure}: {hit.lived_at:%Y-%m-%d} {clipped(hit.heading, LONGEST_QUOTE)}")
            lines += [f"   {proof.quoted(self.query)}" for proof in hit.evidence[:1]]
            lines += [f"   decided: {'; '.join(hit.decisions)}"] if hit.decisions else []
        if not self.hits:
            lines.append(self._nothing)
        return visible("\n".join(lines))

    @property
    def _nothing(self) -> str:
        """Say that no episode answers; what is lacking, where that is no matter of degree."""
        if self.facts or self.commitments:
            return NOTHING_ELSE
        return next((note for note in self.notes[-1:] if not note.startswith(NOTHING)), NOTHING)

    def _repr_html_(self) -> str:
        """Show what answers in a notebook: facts, then episodes with the messages that prove them."""
        facts = [f"{_fact_line(one.fact)} (since {one.fact.valid_at:%Y-%m-%d})" for one in self.facts]
        shown = [
            as_card(
                hit.heading,
                f"{hit.lived_at:%Y-%m-%d %H:%M}",
                [one.quoted(self.query) for one in hit.evidence],
            )
            for hit in self.hits
        ]
        beside = "" if shown else self._nothing
        return as_card(self.query, beside, facts, inside=shown)


def _fact_line(fact: Fact) -> str:
    """Return a fact under the name its speaker has in messages."""
    words = as_prompted(fact.fact)
    return fact.fact if words == fact.fact else f"user: {words}"


@dataclass(frozen=True, slots=True, repr=False)
class DetailedRecall(Recall):
    """An answer with the messages of its hits, by episode, as `search` reads them with a `detail`."""

    contents: Mapping[UUID, "FullEpisode"] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class EpisodeCard:
    """One line of a listing: an episode, or the open frame of a thread (`state` open).

    `hidden` says why recall leaves it out ("" where it does not); `thread_title` is the title of an
    open frame's thread ("" where it has none).
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
    thread_title: str = ""

    def __repr__(self) -> str:
        return described(
            self,
            self.start_at,
            self.heading,
            plural(self.observations, "message"),
            self.reason or self.state,
            self.episode_id,
        )

    @property
    def heading(self) -> str:
        """Return the title, or what an episode is called that has no words yet."""
        return heading(self.title, self.start_at)

    def _repr_html_(self) -> str:
        """Show the episode in a notebook."""
        return as_card(
            self.heading, f"{self.start_at:%Y-%m-%d %H:%M}", [self.summary] if self.summary else []
        )


@dataclass(frozen=True, slots=True)
class FullEpisode:
    """What is behind a card or a hit: its thread's name, the episode (None: an open frame), its messages."""

    origin: str
    episode: Episode | None
    messages: Sequence[Observation]

    def __repr__(self) -> str:
        return described(
            self,
            self.origin,
            plural(len(self.messages), "message"),
            *(f"{o.actor}: {o.text}" for o in self.messages[:1]),
        )


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import did: items read, added, known before, episodes closed by it, and what was not taken in.

    That is what was unreadable, and what came with the id of a message that stands with another text.
    `format` is what was recognised ("chatgpt", with commas if several); `notes` say for people what that
    held, how its dates were read and what was left out. Of a dry run `added` is what would be added.
    """

    observations: int
    added: int
    duplicates: int
    episodes: int
    unreadable: Sequence[str] = ()
    threads: int = 0
    format: str = ""
    notes: Sequence[str] = ()

    def __repr__(self) -> str:
        return described(
            self,
            plural(self.added, "message") + " added",
            f"{self.duplicates} known already",
            f"{len(self.unreadable)} unreadable",
            *self.notes[:1],
        )


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
        thread_title="" if isinstance(card, Episode) else card.thread_title,
        decisions=read_metadata(card.metadata).key_decisions if isinstance(card, Episode) else (),
    )


def best_hits(recall: Recall) -> Sequence[Hit]:
    """Return the hits of an answer, or what is not good enough to be some."""
    return recall.hits or recall.candidates
