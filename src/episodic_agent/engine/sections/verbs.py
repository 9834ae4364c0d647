"""What compaction made of threads: their parts' words at three resolutions, listed or searched."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import numpy as np

from episodic_agent.engine.arguments import RESOLUTIONS, clean_name, counted
from episodic_agent.engine.later import Later
from episodic_agent.engine.people.naming import reading_named
from episodic_agent.engine.recall.walls import within
from episodic_agent.engine.scoped import RoomOf, Scoped
from episodic_agent.engine.sections.bounds import with_end
from episodic_agent.engine.sections.job import ask_all
from episodic_agent.engine.sections.searching import score_sections, sections_of
from episodic_agent.engine.trace.acts import acts
from episodic_agent.errors import InvalidInput, ProviderError
from episodic_agent.protocols import Refs, Transaction, query_vector, ref_of
from episodic_agent.schemas import Episode, Section, Vector
from episodic_agent.showing import described


@dataclass(frozen=True, slots=True)
class SectionCard:
    """A part of a thread with its words; the id is that of its primary episode.

    `text` are its words at the resolution asked for. `compacted_through` is the last seq they stand for, None
    where there are none yet; `source_tokens` is how many tokens that was. `score` is 0 without a query.
    """

    episode_id: UUID
    thread_id: UUID
    thread: str
    first_seq: int
    last_seq: int
    start_at: datetime
    end_at: datetime
    state: str
    opened_for: str
    trigger: str
    compacted_through: int | None
    title: str
    text: str
    micro: str
    meso: str
    macro: str
    by: str
    source_tokens: int = 0
    parent_episode_id: UUID | None = None
    score: float = 0.0

    def __repr__(self) -> str:
        return described(
            self, self.start_at, self.title, self.thread, f"{self.first_seq}-{self.last_seq}", self.text
        )


@acts("sections", within=("ids",))
class SectionRoom(RoomOf):
    """The sections of a user's threads, and what compaction made of them."""

    def __init__(self, at: Scoped, later: Later) -> None:
        self._at = at
        self._deps = at.deps
        self._later = later

    def compact(self, *, thread: str | None = None) -> Sequence[SectionCard]:
        """Give the parts of one thread, or of all the user's, their words now; return those that had none.

        Parts that are told already are left alone, so a second call returns nothing. With `jobs="workers"`
        it waits for nobody. Raises NotFound for an unknown thread.
        """
        scope = self._at.known()
        if thread is not None:
            chosen = [self._at.thread_id(thread)]
        else:
            with self._deps.store.begin(scope, write=False) as tx:
                chosen = [one.id for one in tx.threads.list()]
        asked = [part for one in chosen for part in ask_all(self._deps, scope, one)]
        self._later.run(scope)
        with self._deps.store.begin(scope, write=False) as tx:
            pairs = [
                (e, tx.threads.section(e.thread_id, e.first_seq)) for e in tx.episodes.get(asked).values()
            ]
            return [_card(tx, part, episode, "meso", 0.0) for episode, part in pairs if part is not None]

    def list(
        self,
        query: str | None = None,
        *,
        thread: str | None = None,
        resolution: str = "meso",
        limit: int = 10,
    ) -> Sequence[SectionCard]:
        """Return what compaction made of threads (of one): the newest first, or what a query is about.

        `resolution` is micro (a sentence or three), meso (a paragraph) or macro (what is behind it). A query
        is searched by words and by meaning in all three. What each stands for: `messages(card.episode_id)`.
        """
        limit = counted("limit", limit)
        if resolution not in RESOLUTIONS:
            raise InvalidInput(f"`resolution` is one of {', '.join(RESOLUTIONS)}")
        asked = clean_name(query)
        if asked is not None and not asked.strip():
            raise InvalidInput("the query is empty; ask something, or leave it out")
        scope = self._at.known()
        thread_id = None if thread is None else self._at.thread_id(thread)
        vector = None if asked is None else self._vector(asked)
        with reading_named(self._deps.store, scope) as tx:
            if asked is None:
                pairs = [
                    (part, 0.0)
                    for part in tx.threads.sections(compacted=True, limit=limit, thread_id=thread_id)
                ]
            else:
                refs = None if thread_id is None else _refs_of(tx, thread_id)
                scored = score_sections(
                    tx, asked, vector, refs, self._deps.language, self._deps.embedder_name
                )
                pairs = sections_of(tx, scored[:limit])
            episodes = tx.episodes.get([part.episode_id for part, _ in pairs])
            return [
                _card(tx, part, episodes[part.episode_id], resolution, score)
                for part, score in pairs
                if part.episode_id in episodes
            ]

    def ids(self) -> Sequence[UUID]:
        """Return the ids of all parts of threads, compacted or not."""
        with self._at.read() as tx:
            inside = within(tx, self._at.walls)
            threads = tx.threads.list() if inside is None else tx.threads.list(ids=sorted(inside))
            return [p.episode_id for one in threads for p in tx.threads.sections(one.id)]

    def _vector(self, text: str) -> Vector | None:
        if self._deps.embedder is None:
            return None
        try:
            return query_vector(self._deps.embedder, text)
        except ProviderError:
            return None  # words will do


def _refs_of(tx: Transaction, thread_id: UUID) -> Refs:
    number = tx.threads.number(thread_id)
    numbers = [p.first_seq for p in tx.threads.sections(thread_id) if p.compacted_through is not None]
    return np.array([ref_of(number, first) for first in numbers], dtype=np.int64)


def _card(tx: Transaction, section: Section, episode: Episode, resolution: str, score: float) -> SectionCard:
    thread, shown = tx.threads.get(section.thread_id), with_end(tx, episode)
    texts = {"micro": shown.micro, "meso": shown.summary, "macro": shown.macro}
    size = shown.metadata.get("source_tokens", 0)
    return SectionCard(
        episode_id=section.episode_id,
        thread_id=section.thread_id,
        thread=thread.origin if thread is not None else "",
        first_seq=shown.first_seq,
        last_seq=shown.last_seq,
        start_at=shown.start_at,
        end_at=shown.end_at,
        state=shown.state.value,
        opened_for=section.opened_for,
        trigger=section.trigger,
        compacted_through=section.compacted_through,
        title=shown.title,
        text=texts[resolution],
        **texts,
        by=shown.encoded_by,
        source_tokens=size if isinstance(size, int) else 0,
        parent_episode_id=shown.parent_episode_id,
        score=score,
    )
