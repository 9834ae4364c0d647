"""Episodes as rows: what both stores say of them in the same words."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, cast, overload
from uuid import UUID

from episodic_agent.core.chains import metadata_terms
from episodic_agent.errors import Conflict, NotFound
from episodic_agent.schemas import Encoding, Episode, EpisodeState
from episodic_agent.schemas.chains import Condition, Refusal, Term
from episodic_agent.schemas.strength import Strength
from episodic_agent.stores.rows import from_json, to_microseconds, to_time
from episodic_agent.stores.tables.dialect import are_ids
from episodic_agent.stores.tables.erasing import ErasedEpisodeTable

_STRENGTHEN: Final = (
    "UPDATE episode SET stability = :stability, difficulty = :difficulty, last_reviewed_at = :reviewed"
    " WHERE :mine AND id = :id AND stability = :old_stability AND difficulty = :old_difficulty"
    " AND last_reviewed_at = :old_reviewed"
)
_ENCODINGS: Final = (
    "SELECT version, title, summary, metadata, encoded_by, created_at FROM encoding"
    " WHERE :mine AND episode = :id ORDER BY version"
)
_LATEST: Final = (
    "SELECT id FROM episode WHERE :mine AND kind = 'primary' AND state <> 'open' AND end_at <= :before"
    " ORDER BY end_at DESC, thread DESC, first_seq DESC LIMIT :limit"
)


class EpisodeTable(ErasedEpisodeTable):
    """Episodes, as both stores keep them."""

    def put(self, written: Episode | Encoding | Refusal) -> None:
        """Write an episode, or append a version of its words; or that a chain was taken back."""
        if isinstance(written, Encoding):
            if not self._encode(written):
                self._describe_again(written)
        elif isinstance(written, Refusal):
            self._refuse(written)
        else:
            self._insert(written)

    def _describe_again(self, encoding: Encoding) -> None:
        """Write what an episode is found by again, if this version is its newest."""
        episode = self._by_ids([encoding.episode_id])[encoding.episode_id]
        if episode.encoding_version == encoding.version:
            self._describe(episode.id, metadata_terms(episode.metadata))

    @overload
    def get(self, key: UUID) -> Episode | None: ...

    @overload
    def get(self, key: Sequence[UUID]) -> Mapping[UUID, Episode]: ...

    @overload
    def get(self, key: Sequence[int]) -> Mapping[int, Episode]: ...

    def get(
        self, key: UUID | Sequence[UUID] | Sequence[int]
    ) -> Episode | Mapping[UUID, Episode] | Mapping[int, Episode] | None:
        """Read one episode with its newest words, or several, by their ids or by where they begin."""
        if isinstance(key, UUID):
            return self._by_ids([key]).get(key)
        if are_ids(key):
            return self._by_ids(key)
        return self._by_refs(cast("Sequence[int]", key))

    def list(
        self,
        *,
        threads: Sequence[UUID] | None = None,
        generation: int | None = None,
        since: datetime | None = None,
        before: datetime | None = None,
        unconsolidated: bool = False,
        about: Sequence[Sequence[Condition]] | None = None,
        limit: int | None = None,
    ) -> Sequence[Episode]:
        """Return current episodes: of threads, waiting to be consolidated, about, or by their ends."""
        if about is not None:
            read = self._by_ids(self._about(about))
            return sorted((e for e in read.values() if e.generation_to is None), key=lambda e: e.id)
        if threads is not None and (len(threads) == 1 or generation is not None):
            several = [self._of_thread(one, generation) for one in threads]
            return [episode for episodes in several for episode in episodes]
        if threads is not None:
            return self._of_threads(threads)
        if unconsolidated:
            return self._unconsolidated(limit)
        return self._recent(since, before, limit)

    def consolidate(self, ids: Sequence[UUID], at: datetime | None) -> None:
        """Set `consolidated_at` of pending episodes, Conflict where one is not; None lets any wait again."""
        if at is None:
            self._reconsider(ids)
        else:
            self._consolidate(ids, at)

    @abstractmethod
    def _insert(self, episode: Episode) -> None:
        """Write an episode; Conflict when another current event episode begins at the same observation."""

    @abstractmethod
    def _encode(self, encoding: Encoding) -> bool:
        """Append a version of words, say whether they are the newest; NotFound for an unknown episode."""

    @abstractmethod
    def _describe(self, episode_id: UUID, terms: Sequence[Term]) -> None:
        """Write what an episode is found by in the place of what it was."""

    @abstractmethod
    def _by_ids(self, ids: Sequence[UUID]) -> Mapping[UUID, Episode]:
        """Look up episodes by id."""

    @abstractmethod
    def _by_refs(self, refs: Sequence[int]) -> Mapping[int, Episode]:
        """Look up current event episodes by where they begin."""

    @abstractmethod
    def _of_thread(self, thread_id: UUID, generation: int | None) -> Sequence[Episode]:
        """Look up the event episodes of a thread's current, or this, generation by first_seq."""

    @abstractmethod
    def _of_threads(self, thread_ids: Sequence[UUID]) -> Sequence[Episode]:
        """Look up the current event episodes of several threads by first_seq."""

    @abstractmethod
    def _unconsolidated(self, limit: int | None) -> Sequence[Episode]:
        """Look up current event episodes with words that are not consolidated, oldest created first."""

    @abstractmethod
    def _recent(
        self, since: datetime | None, before: datetime | None, limit: int | None
    ) -> Sequence[Episode]:
        """Look up current event episodes by their ends, newest first."""

    @abstractmethod
    def _about(self, fields: Sequence[Sequence[Condition]]) -> Sequence[UUID]:
        """Look up the episodes, replaced ones too, that pass every field by any condition."""

    @abstractmethod
    def _consolidate(self, ids: Sequence[UUID], at: datetime) -> None:
        """Set `consolidated_at` of pending episodes; Conflict where one is not."""

    @abstractmethod
    def _reconsider(self, ids: Sequence[UUID]) -> None:
        """Let these wait to be consolidated again."""

    def change(
        self,
        episode_id: UUID,
        *,
        state: EpisodeState,
        last_seq: int,
        end_at: datetime | None = None,
        reason: str | None = None,
        decision_id: UUID | None = None,
    ) -> None:
        """Move an episode that owns no observations on; what is None stays. NotFound for any other."""
        changed: dict[str, Any] = {"state": state.value, "last_seq": last_seq}
        if end_at is not None:
            changed["end_at"] = to_microseconds(end_at)
        if reason is not None:
            changed["reason"] = reason
        if decision_id is not None:
            changed["decision_id"] = decision_id.bytes
        columns = ", ".join(f"{name} = :{name}" for name in changed)
        sql = f"UPDATE episode SET {columns} WHERE :mine AND id = :id AND kind <> 'event'"
        if not self._session.change(sql, id=episode_id.bytes, **changed):
            raise NotFound(f"no episode {episode_id} in this scope that others make up")

    def strengthen(self, before: Episode, after: Strength, last_reviewed_at: datetime) -> None:
        """Give an episode another strength and clock; Conflict where `before` is no longer so."""
        changed = self._session.change(
            _STRENGTHEN,
            stability=float(after.stability),
            difficulty=float(after.difficulty),
            reviewed=to_microseconds(last_reviewed_at),
            id=before.id.bytes,
            old_stability=float(before.stability),
            old_difficulty=float(before.difficulty),
            old_reviewed=to_microseconds(before.last_reviewed_at),
        )
        if not changed:
            raise Conflict(f"episode {before.id} was reviewed by another just now; repeat the call")

    def encodings(self, episode_id: UUID) -> Sequence[Encoding]:
        """Return every version of an episode's words, oldest first."""
        return [
            Encoding(episode_id, version, title, summary, from_json(metadata), by, to_time(created))
            for version, title, summary, metadata, by, created in self._session.read(
                _ENCODINGS, id=episode_id.bytes
            )
        ]

    def latest(self, *, limit: int, before: datetime) -> Sequence[UUID]:
        """Return closed parts and sessions that ended at a time or before, newest end and last said first."""
        results = self._session.read(_LATEST, before=to_microseconds(before), limit=limit)
        return [UUID(bytes=identity) for (identity,) in results]
