"""Erasing as statements both stores understand; each says how it runs them (`catalogue.bound`)."""

from abc import ABC, abstractmethod
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from episodic_agent.core.erasing import Erasure, Tombstone, What
from episodic_agent.core.interfaces import LONGEST_RUN, ref_of, split_ref
from episodic_agent.stores.catalogue import Kept, counting, deleting, deleting_thread
from episodic_agent.stores.rows import (
    from_json,
    optional_microseconds,
    optional_time,
    to_json,
    to_microseconds,
    to_time,
)

_LAST_SEQ: Final = 0xFFFFFFFF
_PAGE: Final = 128  # ids one statement names
ERASURE: Final = "id, at, what, subject, reason, counts, state, done_at, residue, waits_for"
_BLANK: Final = (
    "UPDATE observation SET erased_at = :at, at = 0, received_at = 0, at_source = 'assumed',"
    " utc_offset = NULL, kind = 'message', actor = '', channel = NULL, external_id = NULL, text = NULL,"
    " data = NULL"
    " WHERE :mine AND ref BETWEEN :first AND :last AND erased_at IS NULL"
)
_SPOKEN: Final = (
    "SELECT actor, count(*) FROM observation WHERE :mine AND ref BETWEEN :first AND :last"
    " AND erased_at IS NULL GROUP BY actor"
)
_GONE: Final = (
    "DELETE FROM encoding WHERE :mine AND episode = :id",
    "DELETE FROM metadata_term WHERE :mine AND episode = :id",
    "DELETE FROM chain_refusal WHERE :mine AND (child = :id OR parent = :id)",
    "DELETE FROM decision WHERE :mine AND subject = :id",
    "DELETE FROM joined WHERE :mine AND episode = :id",
    "UPDATE episode SET parent_episode_id = NULL WHERE :mine AND parent_episode_id = :id",
    "DELETE FROM episode WHERE :mine AND id = :id",
)
_UNWORDED: Final = (
    "DELETE FROM encoding WHERE :mine AND episode = :id",
    "DELETE FROM metadata_term WHERE :mine AND episode = :id",
    "UPDATE episode SET encoding_version = 0, metadata = NULL, consolidated_at = NULL"
    " WHERE :mine AND id = :id",
    "UPDATE episode SET decision_id = NULL WHERE :mine AND id = :id AND kind <> 'event'",
)
_RECALLED: Final = (
    "DELETE FROM job WHERE :mine AND state = 'leased' AND (kind, key) IN"
    " (SELECT kind, key FROM job WHERE :mine AND state = 'waiting')",
    "UPDATE job SET state = 'waiting', token = token + 1, lease_owner = NULL, lease_until = NULL"
    " WHERE :mine AND state = 'leased'",
    "UPDATE job SET last_error = '' WHERE :mine AND last_error <> ''",
)
_RECORD: Final = (
    f"INSERT INTO erasure (space, owner, {ERASURE}) VALUES (:space, :owner, :id, :at, :what, :subject,"
    " :reason, :counts, :state, :done_at, :residue, :waits_for) ON CONFLICT (space, owner, id) DO UPDATE"
    " SET state = excluded.state, done_at = excluded.done_at, residue = excluded.residue,"
    " waits_for = excluded.waits_for, counts = excluded.counts"
)


def _runs(number: int, seqs: Sequence[int]) -> list[tuple[int, int]]:
    """Return the references of a thread's observations as stretches without a gap, first and last."""
    runs: list[tuple[int, int]] = []
    for seq in sorted(set(seqs)):
        ref = ref_of(number, seq)
        if runs and runs[-1][1] == ref - 1:
            runs[-1] = runs[-1][0], ref
        else:
            runs.append((ref, ref))
    return runs


def erasure_of(columns: Sequence[Any]) -> Erasure:
    """Build a receipt from the `ERASURE` columns."""
    identity, at, what, subject, reason, counts, state, done_at, residue, waits_for = columns
    return Erasure(
        UUID(bytes=bytes(identity)),
        What(what),
        subject,
        to_time(at),
        reason,
        from_json(counts),
        state,
        optional_time(done_at),
        residue,
        waits_for,
    )


class ErasingRows(ABC):
    """The `Erasing` of one transaction, whatever runs its statements."""

    tables: Sequence[Kept]
    place: str  # the function that tells where in one text another stands
    records: Sequence[str]  # statements that take the check records of `:first` to `:last` away

    @abstractmethod
    def read(self, sql: str, **values: Any) -> list[tuple[Any, ...]]:
        """Run a query."""

    @abstractmethod
    def write(self, sql: str, **values: Any) -> int:
        """Run a statement; return how many rows it changed."""

    @abstractmethod
    def number(self, thread_id: UUID) -> int:
        """Return a thread's number; raises NotFound."""

    @abstractmethod
    def keys(self) -> tuple[int, int]:
        """Return the hashes of the space's and the user's names."""

    def drop_scope(self) -> Mapping[str, int]:
        """Delete every row of the scope, its own too; return how many of what there were."""
        counts: dict[str, int] = {}
        for kept, sql in deleting(self.tables):
            gone = self.write(sql)
            if kept.noun and gone:
                counts[kept.noun] = counts.get(kept.noun, 0) + gone
        return counts

    # --- observations -----------------------------------------------------------------------------------

    def erase(self, thread_id: UUID, seqs: Sequence[int], at: datetime) -> int:
        """Leave tombstones in the place of observations; return how many were none yet."""
        number, moment, erased = self.number(thread_id), to_microseconds(at), 0
        for first, last in _runs(number, seqs):
            spoken = self.read(_SPOKEN, first=first, last=last)
            gone = self.write(_BLANK, first=first, last=last, at=moment)
            if not gone:
                continue
            erased += gone
            for actor, count in spoken:
                self._silence(number, actor, count)
            for sql in (
                *self.records,
                "DELETE FROM skill_turn WHERE :mine AND ref BETWEEN :first AND :last",
                "DELETE FROM expiry WHERE :mine AND ref BETWEEN :first AND :last",
                "DELETE FROM work WHERE :mine AND first_ref BETWEEN :least AND :last AND last_ref >= :first",
            ):
                self.write(sql, first=first, last=last, least=first - LONGEST_RUN)
        return erased

    @abstractmethod
    def _silence(self, number: int, actor: str, count: int) -> None:
        """Take so many observations of a thread off what is counted of an actor."""

    def erased(self, thread_id: UUID, first_seq: int, last_seq: int) -> Sequence[Tombstone]:
        """Return the tombstones of a span in order."""
        number = self.number(thread_id)
        sql = (
            "SELECT ref, id, erased_at FROM observation WHERE :mine AND ref BETWEEN :first AND :last"
            " AND erased_at IS NOT NULL ORDER BY ref"
        )
        found = self.read(
            sql, first=ref_of(number, max(0, first_seq)), last=ref_of(number, min(last_seq, _LAST_SEQ))
        )
        return [
            Tombstone(thread_id, split_ref(ref)[1], UUID(bytes=bytes(key)), to_time(at))
            for ref, key, at in found
        ]

    # --- what is derived --------------------------------------------------------------------------------

    def unword(self, episode_ids: Sequence[UUID]) -> None:
        """Delete every version of episodes' words, and who decided them where others make them up."""
        self._each(_UNWORDED, episode_ids)

    def remove(self, episode_ids: Sequence[UUID]) -> None:
        """Delete episodes with their words and the decisions about them."""
        self._each(_GONE, episode_ids)

    def _each(self, statements: Sequence[str], ids: Sequence[UUID]) -> None:
        for start in range(0, len(ids), _PAGE):
            named = {f"id{n}": one.bytes for n, one in enumerate(ids[start : start + _PAGE])}
            some = ", ".join(f":{name}" for name in named)
            for sql in statements:
                self.write(sql.replace("= :id", f"IN ({some})"), **named)

    def replaced(self, thread_id: UUID, seqs: Sequence[int]) -> Sequence[UUID]:
        """Return the replaced episodes that owned some of these observations."""
        if not seqs:
            return []
        sql = (
            "SELECT id, first_seq, last_seq FROM episode WHERE :mine AND thread = :thread AND kind = 'event'"
            " AND generation_to IS NOT NULL AND first_seq <= :last AND last_seq >= :first"
        )
        wanted, number = sorted(seqs), self.number(thread_id)
        spans = self.read(sql, thread=number, first=wanted[0], last=wanted[-1])
        owned = [
            bytes(key)
            for key, first, last in spans
            if bisect_left(wanted, first) < bisect_right(wanted, last)
        ]
        return [UUID(bytes=key) for key in sorted(owned)]

    # --- wholes -----------------------------------------------------------------------------------------

    def drop_thread(self, thread_id: UUID) -> None:
        """Delete every row of a thread; raises NotFound."""
        number = self.number(thread_id)
        values = self._of_thread(thread_id)
        for actor, count in self.read(_SPOKEN, **values):
            self._silence(number, actor, count)
        for sql in deleting_thread(self.tables):
            self.write(sql, **values)

    def count(self, thread_id: UUID | None = None) -> Mapping[str, int]:
        """Count what the scope, or one of its threads, holds, by kind of thing."""
        values = {} if thread_id is None else self._of_thread(thread_id)
        counts: dict[str, int] = {}
        for noun, sql in counting(self.tables, of_thread=thread_id is not None):
            if found := self.read(sql, **values)[0][0]:
                counts[noun] = counts.get(noun, 0) + found
        return counts

    def _of_thread(self, thread_id: UUID) -> dict[str, Any]:
        number = self.number(thread_id)
        refs = {"first": ref_of(number, 0), "last": ref_of(number, _LAST_SEQ)}
        return {"thread": number, "id": thread_id.bytes, **refs}

    def recall_jobs(self) -> None:
        """Take every claimed job of the scope back and blank its errors."""
        for sql in _RECALLED:
            self.write(sql)

    def holding(self, texts: Sequence[str], *, limit: int) -> Sequence[int]:
        """Return the references of observations that hold one of some texts to the letter, in order."""
        wanted = {f"text{n}": text for n, text in enumerate(texts)}
        if not wanted:
            return []
        told = " OR ".join(f"{self.place}(text, :{name}) > 0" for name in wanted)
        where = f":mine AND erased_at IS NULL AND ({told})"
        sql = f"SELECT ref FROM observation WHERE {where} ORDER BY ref LIMIT :n"
        return [ref for (ref,) in self.read(sql, n=limit, **wanted)]

    # --- receipts ---------------------------------------------------------------------------------------

    def record(self, erasure: Erasure) -> None:
        """Keep a receipt, in place of the one of the same id."""
        space, owner = self.keys()
        self.write(
            _RECORD,
            space=space,
            owner=owner,
            id=erasure.id.bytes,
            at=to_microseconds(erasure.at),
            what=erasure.what.value,
            subject=erasure.subject,
            reason=erasure.reason,
            counts=to_json(erasure.counts),
            state=erasure.state,
            done_at=optional_microseconds(erasure.done_at),
            residue=erasure.residue,
            waits_for=erasure.waits_for,
        )
