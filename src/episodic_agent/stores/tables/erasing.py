"""Erasing for good: what leaves a tombstone, what goes wholly, and the receipts that stay."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from episodic_agent.protocols import LONGEST_RUN, ref_of, split_ref
from episodic_agent.schemas.chains import Refusal
from episodic_agent.schemas.erasures import Erasure, Tombstone, What
from episodic_agent.stores.catalogue import StoredTable, counting, deleting
from episodic_agent.stores.nouns import caller_column, caller_of
from episodic_agent.stores.rows import (
    from_json,
    optional_microseconds,
    optional_time,
    to_json,
    to_microseconds,
    to_time,
)
from episodic_agent.stores.tables.dialect import Rows, Table
from episodic_agent.stores.tables.links import RefusalTable

_LAST_SEQ: Final = 0xFFFFFFFF
_PAGE: Final = 128  # ids one statement names
ERASURE: Final = (
    "owner, id, at, what, subject, reason, counts, state, done_at, residue, waits_for, measures, remains, by"
)
_BLANK: Final = (
    "UPDATE observation SET erased_at = :at, at = 0, received_at = 0, at_source = 'assumed',"
    " utc_offset = NULL, kind = 'message', actor = '', channel = NULL, external_id = NULL, text = NULL,"
    " data = NULL, content_hash = NULL"
    " WHERE :also AND ref BETWEEN :first AND :last AND erased_at IS NULL"
)
_ERASED: Final = (
    "SELECT id FROM observation WHERE :also AND ref BETWEEN :first AND :last AND erased_at IS NOT NULL"
)
SPOKEN: Final = (
    "SELECT actor, count(*) FROM observation WHERE :also AND ref BETWEEN :first AND :last"
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
_RECORD: Final = (
    f"INSERT INTO erasure (space, {ERASURE}) VALUES (:space, :owner, :id, :at, :what, :subject,"
    " :reason, :counts, :state, :done_at, :residue, :waits_for, :measures, :remains, :by)"
    " ON CONFLICT (space, owner, id) DO UPDATE"
    " SET state = excluded.state, done_at = excluded.done_at, residue = excluded.residue,"
    " waits_for = excluded.waits_for, measures = excluded.measures, remains = excluded.remains,"
    " counts = excluded.counts"
)
_SETTLED: Final = ("state", "done_at", "residue", "waits_for", "measures", "remains")


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
    owner, identity, at, what, subject, reason, counts, state, done_at, residue, *answers = columns
    waits_for, measures, remains, by = answers
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
        measures=measures,
        remains=remains,
        owner=f"{owner:x}",
        by=caller_of(by),
    )


def settling(erasure: Erasure, space: int, mark: str) -> tuple[str, Sequence[Any]]:
    """Return the statement that keeps how a receipt stands now, with a driver's marks, and its values.

    One that is done stays so: who tries again may be hindered by whoever completes it at that moment.
    """
    changed = ", ".join(f"{name} = {mark}" for name in _SETTLED)
    done = optional_microseconds(erasure.done_at)
    answers = erasure.residue, erasure.waits_for, erasure.measures, erasure.remains
    whose = space, int(erasure.owner or "0", 16), erasure.id.bytes
    return (
        f"UPDATE erasure SET {changed} WHERE space = {mark} AND owner = {mark} AND id = {mark}"
        " AND state <> 'done'",
        (erasure.state, done, *answers, *whose),
    )


class ActorTable(Table):
    """How often everybody spoke, as far as deleting goes."""

    @abstractmethod
    def _silence(self, number: int, actor: str, count: int) -> None:
        """Take so many observations of a thread off what is counted of an actor."""


class ErasingTable(ActorTable):
    """What a store takes away for good."""

    _unrecorded: Sequence[str]  # statements that take the check records of `:first` to `:last` away

    def erase(self, thread_id: UUID, seqs: Sequence[int], at: datetime) -> int:
        number, moment, erased = self._session.thread_number(thread_id), to_microseconds(at), 0
        for first, last in _runs(number, seqs):
            spoken = self._session.read(SPOKEN, first=first, last=last)
            gone = self._session.alter(_BLANK, first=first, last=last, at=moment)
            if not gone:
                continue
            erased += gone
            for actor, count in spoken:
                self._silence(number, actor, count)
            for sql in (
                *self._unrecorded,
                f"DELETE FROM fact_tombstone WHERE :mine AND observation IN ({_ERASED})",
                "DELETE FROM skill_turn WHERE :mine AND ref BETWEEN :first AND :last",
                "DELETE FROM expiry WHERE :mine AND ref BETWEEN :first AND :last",
                "DELETE FROM work WHERE :mine AND first_ref BETWEEN :least AND :last AND last_ref >= :first",
            ):
                self._session.alter(sql, first=first, last=last, least=first - LONGEST_RUN)
        return erased

    def erased(self, stretches: Sequence[tuple[UUID, int, int]]) -> Sequence[Tombstone]:
        threads = self._session.find_threads(thread for thread, _, _ in stretches)
        numbers = {thread: number for number, thread in threads.items()}
        spans = sorted(
            (ref_of(numbers[thread], max(0, first)), ref_of(numbers[thread], min(last, _LAST_SEQ)))
            for thread, first, last in stretches
            if thread in numbers
        )
        return [
            Tombstone(threads[split_ref(ref)[0]], split_ref(ref)[1], UUID(bytes=bytes(key)), to_time(at))
            for start in range(0, len(spans), _PAGE)
            for ref, key, at in self._blank(spans[start : start + _PAGE])
        ]

    def _blank(self, spans: Sequence[tuple[int, int]]) -> list[tuple[Any, ...]]:
        within = " OR ".join(f"ref BETWEEN :first{n} AND :last{n}" for n in range(len(spans)))
        sql = (
            f"SELECT ref, id, erased_at FROM observation WHERE :also AND ({within})"
            " AND erased_at IS NOT NULL ORDER BY ref"
        )
        ends = {f"first{n}": first for n, (first, _) in enumerate(spans)}
        return self._session.read(sql, **ends, **{f"last{n}": last for n, (_, last) in enumerate(spans)})


class ErasedEpisodeTable(RefusalTable):
    """Episodes with what belongs to them, as far as deleting goes."""

    def drop(self, *gone: UUID | Refusal, words_only: bool = False) -> None:
        for refusal in gone:
            if isinstance(refusal, Refusal):
                self._lift(refusal)
        self._each(_UNWORDED if words_only else _GONE, [one for one in gone if isinstance(one, UUID)])

    def _each(self, statements: Sequence[str], ids: Sequence[UUID]) -> None:
        for start in range(0, len(ids), _PAGE):
            named = {f"id{n}": one.bytes for n, one in enumerate(ids[start : start + _PAGE])}
            some = ", ".join(f":{name}" for name in named)
            for sql in statements:
                self._session.alter(sql.replace("= :id", f"IN ({some})"), **named)


def drop_scope(session: Rows, tables: Sequence[StoredTable]) -> Mapping[str, int]:
    """Delete every row of the scope, its own too; return how many of what there were."""
    counts: dict[str, int] = {}
    for table, sql in deleting(tables):
        gone = session.alter(sql)
        if table.noun and gone:
            counts[table.noun] = counts.get(table.noun, 0) + gone
    return counts


def holdings(session: Rows, tables: Sequence[StoredTable], thread_id: UUID | None) -> Mapping[str, int]:
    """Count what the scope, or one of its threads, holds, by kind of thing."""
    values = {} if thread_id is None else of_thread(session, thread_id)
    counts: dict[str, int] = {}
    for noun, sql in counting(tables, of_thread=thread_id is not None):
        if result := session.read(sql, **values)[0][0]:
            counts[noun] = counts.get(noun, 0) + result
    return counts


def of_thread(session: Rows, thread_id: UUID) -> dict[str, Any]:
    """Return the values of statements about a thread: its number, its id, the refs it may have."""
    number = session.thread_number(thread_id)
    refs = {"first": ref_of(number, 0), "last": ref_of(number, _LAST_SEQ)}
    return {"thread": number, "id": thread_id.bytes, **refs}


def record(session: Rows, erasure: Erasure) -> None:
    """Keep a receipt, in place of the one of the same id."""
    space, owner = session.hashes
    session.alter(
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
        measures=erasure.measures,
        remains=erasure.remains,
        by=caller_column(erasure.by),
    )
