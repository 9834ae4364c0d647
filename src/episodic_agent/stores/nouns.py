"""Nouns as columns and back: what both stores write of a noun, in the order of their statements.

Ids are 16 bytes, times int64 microseconds since 1970 UTC, JSON is text (see `rows`).
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final
from uuid import UUID

from episodic_agent.protocols import split_ref
from episodic_agent.schemas import (
    AuditEntry,
    AuditKind,
    Caller,
    Decision,
    Encoding,
    Episode,
    EpisodeKind,
    EpisodeState,
    Frame,
    Job,
    Kind,
    Link,
    ModelUse,
    Observation,
    PendingReview,
    Section,
    Thread,
    TimeSource,
    WorkRow,
)
from episodic_agent.schemas.places import Visit
from episodic_agent.stores.rows import (
    content_hash,
    from_day,
    from_json,
    id_of,
    optional_bytes,
    optional_id,
    optional_microseconds,
    optional_span,
    optional_time,
    readable,
    span_microseconds,
    to_day,
    to_json,
    to_microseconds,
    to_time,
)

THREAD: Final = (
    "number, id, origin, title, status, modality, channels, generation, explicit, timeout, closed_for,"
    " selected_at, turns, created_at, last_activity_at"
)
CHANGING: Final = THREAD.removeprefix("number, id, origin, ")
FRAME: Final = "policy, embedder, next_seq, first_seq, cursor, state, question, last_received_at, version"
OBSERVATION: Final = (
    "ref, id, at, received_at, at_source, utc_offset, kind, actor, channel, external_id, text, data"
)
STORED_OBSERVATION: Final = f"{OBSERVATION}, content_hash"
EPISODE: Final = (
    "id, thread, kind, state, first_seq, last_seq, generation_from, generation_to, start_at, end_at,"
    " created_at, reason, surprise, stability, difficulty, last_reviewed_at, consolidated_at, decision_id,"
    " parent_episode_id, metadata, encoding_version"
)
DECISION: Final = "id, type, subject, at, policy, outcome, body"
SECTION: Final = (
    "first_seq, episode, first_at, turns_before, opened_for, ended, grown, triggered_by, compacted_through,"
    " compacted_at"
)
VISIT: Final = "first_ref, last_ref, label, start_at, end_at, steps"
USE: Final = (
    "day, stage, model, calls, failures, refused, late, prompt_tokens, completion_tokens, microseconds"
)
LINK: Final = "later, earlier, at, basis, label, decision, unlinked_at"
PENDING: Final = "id, thread, after, at, query, policy, shown"
WORK: Final = "first_ref, at, name, last_ref, body"
AUDIT: Final = "at, number, kind, verb, thing, subject, counts, note, by"
JOB: Final = "id, kind, key, serial, run_after, attempts, state, token, last_error"


def columns_of(names: str, table: str) -> str:
    """Return column names qualified by a table's alias.

    >>> columns_of("id, at", "o")
    'o.id, o.at'
    """
    return ", ".join(f"{table}.{name.strip()}" for name in names.split(","))


@readable
def thread_of(columns: tuple[Any, ...]) -> Thread:
    """Build a thread from the `THREAD` columns."""
    _, identity, origin, title, status, modality, channels, generation, *resolved, created, active = columns
    explicit, timeout, closed_for, selected, turns = resolved
    return Thread(
        id=id_of(identity),
        origin=origin,
        created_at=to_time(created),
        last_activity_at=to_time(active),
        title=title,
        status=status,
        modality=modality,
        channels=tuple(from_json(channels)),
        generation=generation,
        explicit=bool(explicit),
        timeout=optional_span(timeout),
        closed_for=closed_for,
        selected_at=optional_time(selected),
        turn_count=turns,
    )


@readable
def frame_of(columns: tuple[Any, ...], thread_id: UUID) -> Frame:
    """Build a thread's open frame from the `FRAME` columns."""
    policy, embedder, next_seq, first_seq, cursor, state, question, received, version = columns
    return Frame(
        thread_id=thread_id,
        policy=policy,
        embedder=embedder,
        next_seq=next_seq,
        first_seq=first_seq,
        cursor=cursor,
        state=state,
        question=question,
        last_received_at=optional_time(received),
        version=version,
    )


def changing_columns(thread: Thread) -> tuple[Any, ...]:
    """Return what may change of a thread, in the order of `CHANGING`."""
    return (
        thread.title,
        thread.status,
        thread.modality,
        to_json(thread.channels),
        thread.generation,
        thread.explicit,
        span_microseconds(thread.timeout),
        thread.closed_for,
        optional_microseconds(thread.selected_at),
        thread.turn_count,
        to_microseconds(thread.created_at),
        to_microseconds(thread.last_activity_at),
    )


def frame_columns(frame: Frame) -> tuple[Any, ...]:
    """Return the `FRAME` columns without the version."""
    received = optional_microseconds(frame.last_received_at)
    seqs = (frame.next_seq, frame.first_seq, frame.cursor)
    return frame.policy, frame.embedder, *seqs, frame.state, frame.question, received


def observation_columns(item: Observation) -> tuple[Any, ...]:
    """Return the `STORED_OBSERVATION` columns without the ref."""
    columns = (
        item.id.bytes,
        to_microseconds(item.at),
        to_microseconds(item.received_at),
        item.at_source.value,
        item.utc_offset,
        item.kind.value,
        item.actor,
        item.channel,
        item.external_id,
        item.text,
        _rarer_fields(item),
    )
    return *columns, content_hash(item.thread_id, item.seq, columns)


def _rarer_fields(item: Observation) -> str | None:
    """Return the fields only some observations have as JSON, or None when there are none."""
    data: dict[str, Any] = {}
    if item.location is not None:
        data["location"] = item.location
    if item.location_confidence is not None:
        data["location_confidence"] = item.location_confidence
    if item.prediction_error is not None:
        data["prediction_error"] = item.prediction_error
    if item.expires_at is not None:
        data["expires_at"] = to_microseconds(item.expires_at)
    if item.events:
        data["events"] = item.events
    if item.extras:
        data["extras"] = item.extras
    return to_json(data) if data else None


_KINDS: Final = {kind.value: kind for kind in Kind}
_SOURCES: Final = {source.value: source for source in TimeSource}


@readable
def observation_of(columns: tuple[Any, ...], thread_id: UUID) -> Observation:
    """Build an observation from the `OBSERVATION` columns."""
    ref, identity, at, received, source, offset, kind, actor, channel, external, text, rarer = columns
    data = from_json(rarer) if rarer is not None else {}
    return Observation(
        id=id_of(identity),
        thread_id=thread_id,
        seq=split_ref(ref)[1],
        at=to_time(at),
        received_at=to_time(received),
        actor=actor,
        text=text,
        kind=_KINDS[kind],
        at_source=_SOURCES[source],
        utc_offset=offset,
        external_id=external,
        channel=channel,
        location=data.get("location"),
        location_confidence=data.get("location_confidence"),
        events=tuple(data.get("events", ())),
        prediction_error=data.get("prediction_error"),
        extras=data.get("extras", {}),
        expires_at=optional_time(data.get("expires_at")),
    )


def visit_columns(visit: Visit) -> tuple[Any, ...]:
    """Return the `VISIT` columns; the label is JSON, which any string can be stored as."""
    first_ref, last_ref, label, start, end, steps = visit
    return first_ref, last_ref, to_json(label), to_microseconds(start), to_microseconds(end), steps


@readable
def visit_of(columns: tuple[Any, ...]) -> Visit:
    """Build a stay from the `VISIT` columns."""
    first_ref, last_ref, label, start, end, steps = columns
    return Visit(first_ref, last_ref, visit_label(label), to_time(start), to_time(end), steps)


@lru_cache(maxsize=4096)
def visit_label(stored: str) -> str:
    """Return the label of a `label` column: a thread comes to the same places again and again."""
    return str(from_json(stored))


def own_words(episode: Episode) -> Encoding:
    """Return the words an episode was born with as its encoding."""
    return Encoding(
        episode_id=episode.id,
        version=episode.encoding_version,
        title=episode.title,
        summary=episode.summary,
        metadata=episode.metadata,
        by=episode.encoded_by,
        created_at=episode.created_at,
    )


def episode_columns(episode: Episode, thread_number: int) -> tuple[Any, ...]:
    """Return the `EPISODE` columns of a new episode."""
    return (
        episode.id.bytes,
        thread_number,
        episode.kind.value,
        episode.state.value,
        episode.first_seq,
        episode.last_seq,
        episode.generation_from,
        episode.generation_to,
        to_microseconds(episode.start_at),
        to_microseconds(episode.end_at),
        to_microseconds(episode.created_at),
        episode.reason,
        float(episode.surprise),
        float(episode.stability),
        float(episode.difficulty),
        to_microseconds(episode.last_reviewed_at),
        optional_microseconds(episode.consolidated_at),
        optional_bytes(episode.decision_id),
        optional_bytes(episode.parent_episode_id),
        to_json(episode.metadata) if episode.metadata else None,
        0,  # raised by `encode`
    )


@readable
def episode_of(columns: tuple[Any, ...], thread_id: UUID) -> Episode:
    """Build an episode from the `EPISODE` columns and its newest title, summary, author and metadata."""
    (
        identity, _, kind, state, first_seq, last_seq, generation_from, generation_to, start, end, created,
        reason, surprise, stability, difficulty, reviewed, consolidated, decision, parent, metadata, version,
        title, summary, by, words,
    ) = columns  # fmt: skip
    # The newest encoding's metadata replaces what the episode was born with.
    described = words if words is not None else metadata
    return Episode(
        id=id_of(identity),
        thread_id=thread_id,
        first_seq=first_seq,
        last_seq=last_seq,
        start_at=to_time(start),
        end_at=to_time(end),
        created_at=to_time(created),
        reason=reason,
        surprise=surprise,
        stability=stability,
        difficulty=difficulty,
        last_reviewed_at=to_time(reviewed),
        decision_id=optional_id(decision),
        kind=EpisodeKind(kind),
        state=EpisodeState(state),
        generation_from=generation_from,
        generation_to=generation_to,
        consolidated_at=optional_time(consolidated),
        parent_episode_id=optional_id(parent),
        title=title or "",
        summary=summary or "",
        encoding_version=version,
        encoded_by=by or "",
        metadata=from_json(described) if described is not None else {},
    )


def section_columns(section: Section) -> tuple[Any, ...]:
    """Return the `SECTION` columns."""
    return (
        section.first_seq,
        section.episode_id.bytes,
        to_microseconds(section.first_at),
        section.turns_before,
        section.opened_for,
        section.ended,
        section.grown,
        section.trigger,
        section.compacted_through,
        optional_microseconds(section.compacted_at),
    )


@readable
def section_of(columns: tuple[Any, ...], thread_id: UUID) -> Section:
    """Build a part of a thread from the `SECTION` columns."""
    first_seq, episode, first_at, before, opened_for, ended, grown, trigger, through, at = columns
    return Section(
        thread_id=thread_id,
        first_seq=first_seq,
        episode_id=id_of(episode),
        first_at=to_time(first_at),
        turns_before=before,
        opened_for=opened_for,
        ended=bool(ended),
        grown=bool(grown),
        trigger=trigger,
        compacted_through=through,
        compacted_at=optional_time(at),
    )


def decision_columns(decision: Decision) -> tuple[Any, ...]:
    """Return the `DECISION` columns."""
    body = {
        "features": decision.features,
        "score": decision.score,
        "threshold": decision.threshold,
        "verdict": decision.verdict,
        "confidence_label": decision.confidence_label,
        "alternatives": decision.alternatives,
        "detail": decision.detail,
    }
    at = to_microseconds(decision.at)
    key = (decision.id.bytes, decision.type, decision.subject.bytes, at)
    return *key, decision.policy_version, decision.outcome, to_json(body)


@readable
def decision_of(columns: tuple[Any, ...]) -> Decision:
    """Build a decision from the `DECISION` columns."""
    identity, type_, subject, at, policy, outcome, text = columns
    body = from_json(text)
    return Decision(
        id=id_of(identity),
        type=type_,
        at=to_time(at),
        subject=id_of(subject),
        features=body["features"],
        score=body["score"],
        threshold=body["threshold"],
        verdict=body["verdict"],
        policy_version=policy,
        confidence_label=body["confidence_label"],
        alternatives=tuple(body["alternatives"]),
        detail=body["detail"],
        outcome=outcome,
    )


def link_columns(link: Link, later: int, earlier: int) -> tuple[Any, ...]:
    """Return the `LINK` columns of a link of two threads, given their numbers."""
    decision, unlinked = optional_bytes(link.decision_id), optional_microseconds(link.unlinked_at)
    return later, earlier, to_microseconds(link.at), link.basis, link.label, decision, unlinked


@readable
def link_of(columns: tuple[Any, ...], threads: Mapping[int, UUID]) -> Link:
    """Build a link from the `LINK` columns and the ids of its threads."""
    later, earlier, at, basis, label, decision, unlinked = columns
    return Link(
        threads[earlier],
        threads[later],
        to_time(at),
        basis,
        label,
        optional_id(decision),
        optional_time(unlinked),
    )


def pending_columns(pending: PendingReview, thread: int) -> tuple[Any, ...]:
    """Return the `PENDING` columns of a recall that waits to be judged."""
    shown = to_json([identity.hex for identity in pending.shown])
    at = to_microseconds(pending.at)
    return pending.id.bytes, thread, pending.after_seq, at, pending.query, pending.policy, shown


@readable
def pending_of(columns: tuple[Any, ...], thread_id: UUID) -> PendingReview:
    """Build a recall that waits from the `PENDING` columns."""
    identity, _, after, at, query, policy, shown = columns
    ids = tuple(UUID(one) for one in from_json(shown))
    return PendingReview(id_of(identity), thread_id, after, to_time(at), query, ids, policy)


@readable
def job_of(columns: tuple[Any, ...]) -> Job:
    """Build a job from the `JOB` columns; its id is 16 bytes or a number."""
    identity, kind, key, serial, run_after, attempts, state, token, error = columns
    return Job(
        id=id_of(identity) if isinstance(identity, bytes) else UUID(int=identity),
        kind=kind,
        key=key,
        serial=serial,
        run_after=to_time(run_after),
        attempts=attempts,
        state=state,
        token=token,
        last_error=error,
    )


def use_columns(use: ModelUse) -> tuple[int | str, ...]:
    """Return the `USE` columns of what a model cost."""
    counts = (use.calls, use.failures, use.refused, use.late, use.prompt_tokens, use.completion_tokens)
    return to_day(use.day), use.stage, use.model, *counts, round(use.seconds * 1e6)


@readable
def use_of(columns: tuple[Any, ...]) -> ModelUse:
    """Build what a model cost from the `USE` columns, sums or not."""
    day, stage, model, *counts, microseconds = columns
    calls, failures, refused, late, prompt, completion = map(int, counts)
    seconds = int(microseconds) / 1e6
    return ModelUse(
        from_day(day), stage, model, calls, failures, prompt, completion, seconds, refused=refused, late=late
    )


def work_columns(row: WorkRow) -> tuple[int, int, str, int, str]:
    """Return the `WORK` columns of a piece of work."""
    return row.first_ref, to_microseconds(row.at), row.name, row.last_ref, row.body


@readable
def work_of(columns: tuple[Any, ...]) -> WorkRow:
    """Build a piece of work from the `WORK` columns."""
    first, at, name, last, body = columns
    return WorkRow(int(first), int(last), to_time(int(at)), name, body)


@lru_cache(maxsize=256)  # a process is called by few
def caller_column(caller: Caller | None) -> str:
    """Return who did something as one text; "" where that is not known."""
    return "" if caller is None else to_json((caller.face, caller.key, caller.role, caller.cause))


def caller_of(text: str) -> Caller | None:
    """Undo `caller_column`.

    >>> caller_of(caller_column(Caller("cli"))) == Caller("cli"), caller_of("")
    (True, None)
    """
    return Caller(*from_json(text)) if text else None


def audit_columns(entry: AuditEntry) -> tuple[int | str | bytes | None, ...]:
    """Return the `AUDIT` columns of an entry."""
    what = entry.kind.value, entry.verb, entry.thing, optional_bytes(entry.subject), to_json(entry.counts)
    return to_microseconds(entry.at), int(entry.id, 16), *what, entry.note, caller_column(entry.by)


@readable
def audit_of(columns: tuple[Any, ...]) -> AuditEntry:
    """Build an entry of the audit from the `AUDIT` columns."""
    at, number, kind, verb, thing, subject, counts, note, by = columns
    return AuditEntry(
        to_time(int(at)),
        f"{int(number):x}",
        AuditKind(kind),
        verb,
        Caller(*from_json(by)),
        thing,
        optional_id(subject),
        from_json(counts),
        note,
    )
