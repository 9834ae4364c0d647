"""Episodes as rows: what both stores say of them in the same words."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from episodic_agent.errors import Conflict, NotFound
from episodic_agent.schemas import Encoding, Episode, EpisodeState
from episodic_agent.schemas.strength import Standing, Strength
from episodic_agent.stores.rows import from_json, to_microseconds, to_time
from episodic_agent.stores.tables.dialect import Table

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
_THREAD: Final = "(CAST(thread AS bigint) << 32)"
_STANDINGS: Final = (
    f"SELECT id, {_THREAD} | first_seq AS ref, {_THREAD} | last_seq, end_at, stability, last_reviewed_at"
    " FROM episode WHERE :mine AND kind = 'event' AND generation_to IS NULL ORDER BY ref"
)


class EpisodeTable(Table):
    """Episodes, as both stores keep them."""

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

    def standings(self) -> Sequence[Standing]:
        """Return what retention reads of all current event episodes, by reference."""
        return [Standing(identity.hex(), *columns) for identity, *columns in self._session.read(_STANDINGS)]
