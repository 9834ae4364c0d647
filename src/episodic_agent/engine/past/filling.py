"""Put what stood at a moment into a scratch store, with the vectors it has in the real one."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Final
from uuid import UUID

from episodic_agent.core.facts.quoting import meant_words
from episodic_agent.core.language.windows import windows
from episodic_agent.engine.boundary.segmenting import Segmenter
from episodic_agent.engine.deps import Deps
from episodic_agent.engine.facts.exports import restore_facts
from episodic_agent.engine.files.restoring import Restorer
from episodic_agent.engine.ingest.appending import Ingest
from episodic_agent.engine.past.reading import PastNouns
from episodic_agent.engine.sections.job import embeddable
from episodic_agent.engine.skills.exports import restore_skills
from episodic_agent.engine.threads.session_records import topic_of
from episodic_agent.engine.visibility.exports import restore_visibility
from episodic_agent.errors import ProviderError
from episodic_agent.lazily import module
from episodic_agent.protocols import (
    EPISODES,
    FACTS,
    OBSERVATIONS,
    PARTS,
    SKILLS,
    OwnTimeout,
    Transaction,
    ref_of,
)
from episodic_agent.schemas import Episode, Scope, Vector

if TYPE_CHECKING:
    import numpy as np
else:
    np = module("numpy")

_BATCH: Final = 2048
_MOMENT: Final = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Filling:
    """One scope's past on its way into a scratch store.

    `then` are the collaborators of the scratch, without an embedder; `deps` those of the real memory.
    """

    deps: Deps
    then: Deps
    scope: Scope
    nouns: PastNouns

    def fill(self, tx: Transaction) -> None:
        """Write everything; `tx` reads the real store in the snapshot that `nouns` were read in."""
        nouns, scope, now = self.nouns, self.scope, self.deps.clock()
        restorer = Restorer(self.then, Ingest(self.then, Segmenter.made(self.then)))
        for thread in nouns.threads:
            restorer.restore(scope, thread)
        if nouns.links:
            restorer.restore_links(scope, nouns.links, now)
        if nouns.skills:
            restore_skills(self.then, scope, nouns.skills, now)
        if nouns.facts:
            restore_facts(self.then, scope, nouns.facts)
        restore_visibility(self.then, scope, nouns.visibility)
        with self.then.store.begin(scope) as past:
            for channel, timeout in nouns.timeouts.items():
                past.upkeep.put(OwnTimeout(channel, timeout))
            for decision in nouns.people:
                past.knowledge.decide(decision)
            past.upkeep.drop(*(job.id for job in past.upkeep.jobs()))  # nothing is done any more in a past
            for entry in tx.audit(until=self.then.clock() + _MOMENT):
                past.record(entry)
            if self.deps.embedder is not None:
                self._vectors(tx, past)

    # --- vectors ----------------------------------------------------------------------------------------

    def _vectors(self, tx: Transaction, past: Transaction) -> None:
        """Give everything its vectors: those that it has; of words that were others then new ones."""
        changed: list[tuple[str, int, list[str]]] = []
        for thread in past.threads.list():
            here, there = past.threads.number(thread.id), tx.threads.number(thread.id)
            end = past.threads.frame(thread.id).next_seq
            pairs = {ref_of(there, seq): ref_of(here, seq) for seq in range(end)}
            self._copy(tx, past, OBSERVATIONS, pairs)
            events = past.episodes.list(threads=[thread.id])
            changed += self._words(tx, past, EPISODES, (there, here), events, _of_event)
            sections = [one.episode_id for one in past.threads.sections(thread.id)]
            primaries = list(past.episodes.get(sections).values())
            changed += self._words(tx, past, PARTS, (there, here), primaries, _of_section)
        changed += self._of_facts(tx, past)
        numbers = {one.id: one.number for one in tx.knowledge.skills()}
        skills = {numbers[one.id]: one.number for one in past.knowledge.skills() if one.id in numbers}
        self._copy(tx, past, SKILLS, skills)
        self._embed(past, changed)

    def _words(
        self,
        tx: Transaction,
        past: Transaction,
        kind: str,
        numbers: tuple[int, int],
        episodes: Sequence[Episode],
        texts: Callable[[Episode], list[str]],
    ) -> Iterator[tuple[str, int, list[str]]]:
        """Copy the vectors of episodes that read as they do now; yield what else has words."""
        there, here = numbers
        worded = [one for one in episodes if one.encoding_version]
        same = {
            ref_of(there, one.first_seq): ref_of(here, one.first_seq)
            for one in worded
            if one.id not in self.nouns.retold
        }
        copied = self._copy(tx, past, kind, same)
        for episode in worded:
            ref = ref_of(here, episode.first_seq)
            if ref not in copied and (words := texts(episode)):
                yield kind, ref, words

    def _of_facts(self, tx: Transaction, past: Transaction) -> Iterator[tuple[str, int, list[str]]]:
        stored: Mapping[UUID, tuple[str, int]] = {
            one.id: (meant_words(one.fact), one.number) for one in tx.knowledge.facts()
        }
        facts = past.knowledge.facts()
        same = {
            stored[f.id][1]: f.number for f in facts if stored.get(f.id, ("", 0))[0] == meant_words(f.fact)
        }
        copied = self._copy(tx, past, FACTS, same)
        for fact in facts:
            if fact.number not in copied:
                yield FACTS, fact.number, windows(meant_words(fact.fact))

    def _copy(self, tx: Transaction, past: Transaction, kind: str, refs: Mapping[int, int]) -> set[int]:
        """Copy vectors from refs there to refs here; return the refs here that have some now."""
        name, asked, copied = self.deps.embedder_name, list(refs), set[int]()
        for start in range(0, len(asked), _BATCH):
            rows = tx.index.vectors(kind, name, asked[start : start + _BATCH], every=True)
            if rows:
                places = [refs[ref] for ref, vectors in rows.items() for _ in range(len(vectors))]
                past.index.put_vectors(kind, name, places, np.concatenate(list(rows.values())))
                copied.update(places)
        return copied

    def _embed(self, past: Transaction, changed: Sequence[tuple[str, int, list[str]]]) -> None:
        embedder = self.deps.embedder
        texts = [text for _, _, words in changed for text in words if text.strip()]
        if embedder is None or not texts:
            return
        with suppress(ProviderError):  # words alone then find them
            rows = iter(np.asarray(embedder.embed(texts)))
            for kind, ref, words in changed:
                vectors: list[Vector] = [next(rows) for text in words if text.strip()]
                if vectors:
                    past.index.put_vectors(kind, embedder.name, [ref] * len(vectors), np.stack(vectors))


def _of_event(episode: Episode) -> list[str]:
    return list(windows(episode.summary))


def _of_section(episode: Episode) -> list[str]:
    return embeddable(episode.micro, episode.summary, topic_of(episode))
