"""What context is assembled from, and what comes out: a text and where each of its lines is from."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID


class Basis(StrEnum):
    """Why a thread is linked: found related, named by a recall cue ("remember when"), or by hand."""

    CONTINUITY = "continuity"
    CUE = "cue"
    HAND = "hand"


@dataclass(frozen=True, slots=True)
class AnsweredQuestion:
    """A stored question (or request) with its answer, "" where there is none, and where it stands.

    `similarity` to the message is in [0, 1]; None has it judged by common words. `importance` is in [0, 1]:
    the episode's retrievability or surprise, .5 where nobody knows.
    """

    question: str
    answer: str
    at: datetime
    first_seq: int
    last_seq: int
    episode_id: UUID | None = None
    similarity: float | None = None
    importance: float = 0.5


@dataclass(frozen=True, slots=True)
class ThreadBackground:
    """What a thread has to offer: its title, pairs in the order they were said, summary and entities.

    The span is the thread's, or its part's; `episode_id` is its primary episode. `turns` counts all its
    turns, so that a summary is given where the pairs do not tell the whole.
    """

    thread_id: UUID
    title: str
    first_at: datetime
    last_activity_at: datetime
    first_seq: int
    last_seq: int
    episode_id: UUID | None = None
    pairs: tuple[AnsweredQuestion, ...] = ()
    summary: str = ""
    entities: tuple[str, ...] = ()
    speakers: tuple[str, ...] = ()
    turns: int = 0
    importance: float = 0.5


@dataclass(frozen=True, slots=True)
class Linked:
    """An earlier thread that is linked to the current one; an `uncertain` link is told as possible."""

    thread: ThreadBackground
    basis: Basis = Basis.CONTINUITY
    uncertain: bool = False


class LineKind(StrEnum):
    """What a line of the context is."""

    TOPIC = "topic"
    SUMMARY = "summary"
    ENTITIES = "entities"
    PAIR = "pair"
    RECENT = "recent"
    FACT = "fact"
    SKILL = "skill"
    SESSION = "session"
    RECALLED = "recalled"
    CONTINUING = "continuing"


@dataclass(frozen=True, slots=True)
class ContextItem:
    """Where a line is from: `line` counts the text's lines from 0; seqs are the span it rests on."""

    line: int
    kind: LineKind
    thread_id: UUID
    episode_id: UUID | None
    first_seq: int
    last_seq: int
    score: float


@dataclass(frozen=True, slots=True)
class Context:
    """The text for the next prompt, one item for each recalled line, and the tokens it is.

    `least` is the fewest tokens that would tell something, where the budget was too small for that, else 0.
    """

    text: str
    items: tuple[ContextItem, ...]
    tokens: int
    least: int = 0
