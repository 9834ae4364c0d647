"""One turn from its first word to the last work that was done for it, as a tree (docs/internals/tracing.md).

How long things took is kept with the turn (`engine.trace.usage`); what was decided is looked up when somebody
asks, so that it is told as it stands now. Text is left out unless it is asked for.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from episodic_agent.core.boundary.contract import Record
from episodic_agent.core.identity import decision_id
from episodic_agent.core.language import plural
from episodic_agent.core.threads.turns import opens_turn
from episodic_agent.core.trace import unpacked
from episodic_agent.engine.arguments import aware, clean_name, counted
from episodic_agent.engine.boundary.explain import read_records
from episodic_agent.engine.boundary.generations import without_history
from episodic_agent.engine.episodes.listing import find_thread
from episodic_agent.engine.own_ids import find_by_id, own_id
from episodic_agent.engine.scoped import RoomOf, Scoped
from episodic_agent.engine.threads.resolving import THREAD
from episodic_agent.engine.trace.acts import acts
from episodic_agent.engine.trace.auditing import audit_kind, audit_of
from episodic_agent.engine.trace.changes import MemoryChanges, changes_between
from episodic_agent.engine.trace.usage import ADD
from episodic_agent.errors import InvalidInput, NotFound
from episodic_agent.protocols import Transaction, ref_of, split_ref, stored_decision
from episodic_agent.schemas import AuditEntry, AuditKind, Decision, Json, Observation
from episodic_agent.schemas.jobs import Span
from episodic_agent.showing import described

RESOLUTION, BOUNDARY, LINK = "resolution", "boundary", "link"
LONGEST_TURN: Final = 256  # observations of one turn that are looked at, each way
PAGE: Final = 32
SHORTEST: Final = 4  # digits of an id
LATELY: Final = timedelta(days=7)
CODES: Final = frozenset(
    {"why", "reason", "trigger", "action", "kind", "of", "by"}
)  # fields that hold no text


@dataclass(frozen=True, slots=True)
class TracedVerdict:
    """A decision in the tree; `detail` holds numbers, ids and codes, and text only where it was asked for."""

    type: str
    verdict: str
    score: float
    threshold: float
    policy: str
    confidence: str
    decision: UUID | None
    detail: Mapping[str, Json]


Placed = tuple[int, TracedVerdict]  # with the seq at which it was taken


@dataclass(frozen=True, slots=True)
class TraceNode:
    """A part of the tree: work that took time, a model's call, or only the place of a decision.

    `at` is when it began; None, as `seconds`, where that was not kept.
    """

    name: str
    at: datetime | None = None
    start: float | None = None
    seconds: float | None = None
    attributes: Mapping[str, Json] = field(default_factory=dict)
    verdicts: Sequence[TracedVerdict] = ()
    children: Sequence["TraceNode"] = ()


@dataclass(frozen=True, slots=True)
class TracedObservation:
    """An observation of the turn; `text` only where it was asked for."""

    id: UUID
    seq: int
    at: datetime
    actor: str
    kind: str
    text: str | None = None


@dataclass(frozen=True, slots=True)
class TurnTrace:
    """Everything that was done for one turn, in the order it began."""

    turn: UUID
    thread: str
    thread_id: UUID
    messages: Sequence[TracedObservation]
    work: Sequence[TraceNode]

    def __repr__(self) -> str:
        return described(
            self,
            self.thread,
            plural(len(self.messages), "message"),
            plural(len(self.work), "piece") + " of work",
            self.turn,
        )


def trace_turn(tx: Transaction, name: str, *, text: bool = False) -> TurnTrace:
    """Return the trace of the turn an observation belongs to; `name` as for `find_observation`."""
    place = find_observation(tx, name)
    turn = turn_around(tx, place)
    thread = tx.threads.get(place.thread_id)
    number = tx.threads.number(place.thread_id)
    rows = tx.upkeep.spans(ref_of(number, turn[0].seq), ref_of(number, turn[-1].seq))
    nodes = [_node(unpacked(row.body), row.at) for row in rows]
    if not any(node.name == ADD for node in nodes):
        nodes.insert(0, TraceNode(ADD))
    adds = {n: split_ref(row.last_ref)[1] for n, row in enumerate(rows) if row.name == ADD} or {
        0: turn[-1].seq
    }
    for stage, pairs in ((RESOLUTION, _resolutions(tx, turn, text)), (BOUNDARY, _boundaries(tx, turn, text))):
        for n, verdicts in _by_append(pairs, adds).items():
            nodes[n] = _into(nodes[n], stage, verdicts)
    nodes = _with_later(tx, turn, nodes, text)
    observations = [
        TracedObservation(o.id, o.seq, o.at, o.actor, str(o.kind), o.text if text else None) for o in turn
    ]
    return TurnTrace(turn[0].id, thread.origin if thread else "", place.thread_id, observations, nodes)


# --- which turn ------------------------------------------------------------------------------------------


def find_observation(tx: Transaction, name: str) -> Observation:
    """Return the observation of an id, ours or its caller's, of its unambiguous beginning, or of THREAD:SEQ.

    Raises NotFound, and InvalidInput for a beginning of several or what is no name at all.
    """
    thread, colon, seq = name.rpartition(":")
    if colon and seq.isascii() and seq.isdigit() and len(seq) < 10:
        observations = tx.observations.read(find_thread(tx, thread).id, int(seq), int(seq))
        if not observations:
            raise NotFound(f"thread {thread!r} has no observation {seq}; `episodic show` lists them")
        return observations[0]
    if own_id(name) is None and tx.observations.having("external_id", [name], limit=1):
        return find_by_id(tx, name)
    digits = name.replace("-", "").lower()
    if not SHORTEST <= len(digits) <= 32 or set(digits) - set("0123456789abcdef"):
        raise InvalidInput(f"{name!r} names no turn; give an observation's id, its beginning, or THREAD:SEQ")
    first, last = UUID(digits.ljust(32, "0")), UUID(digits.ljust(32, "f"))
    ids = tx.observations.near(first, last, limit=2)
    if len(ids) > 1:
        raise InvalidInput(f"several observations begin with {name!r}; give more of the id")
    observation = tx.observations.get(ids).get(ids[0]) if ids else None
    if observation is None:
        raise NotFound(f"no observation begins with {name!r}; `episodic show EPISODE` lists their ids")
    return observation


def turn_around(tx: Transaction, place: Observation) -> Sequence[Observation]:
    """Return the turn an observation belongs to: a user's message with everything up to the next one."""
    before: list[Observation] = [place]
    while not opens_turn(before[0]) and before[0].seq > 0 and len(before) < LONGEST_TURN:
        page = tx.observations.read(place.thread_id, max(0, before[0].seq - PAGE), before[0].seq - 1)
        if not page:
            break  # what came before was erased
        opening = next((n for n in reversed(range(len(page))) if opens_turn(page[n])), 0)
        before = [*page[opening:], *before]
    after: list[Observation] = []
    while len(after) < LONGEST_TURN:
        first = place.seq + 1 + len(after)
        page = tx.observations.read(place.thread_id, first, first + PAGE - 1)
        replies = [n for n, one in enumerate(page) if opens_turn(one)]
        after += page[: replies[0]] if replies else page
        if replies or len(page) < PAGE:
            break
    return [*before, *after]


# --- what was decided ------------------------------------------------------------------------------------


def _by_append(results: Sequence[Placed], adds: Mapping[int, int]) -> dict[int, list[TracedVerdict]]:
    """Share verdicts out to the appends they were made in: by place, given the last seq of each."""
    shared: dict[int, list[TracedVerdict]] = {}
    for seq, verdict in results:
        at = next((n for n, last in adds.items() if seq <= last), max(adds))
        shared.setdefault(at, []).append(verdict)
    return shared


def _with_later(
    tx: Transaction, turn: Sequence[Observation], nodes: Sequence[TraceNode], text: bool
) -> list[TraceNode]:
    """Put the decisions of later work where they were made, or where no time was kept in a new place."""
    made = list(nodes)
    links = _links(tx, turn, text)
    if links and not any(node.name == LINK for node in made):
        made.append(TraceNode(LINK))
    latest = {node.name: n for n, node in enumerate(made)}  # a stage that ran again decided the last time
    for n, node in enumerate(made):
        own = links if node.name == LINK and latest[LINK] == n else _about(tx, node, text)
        if own and node.name != ADD:
            made[n] = replace(node, verdicts=[*node.verdicts, *own])
    return made


def _into(node: TraceNode, stage: str, verdicts: Sequence[TracedVerdict]) -> TraceNode:
    """Put verdicts into a node's child of that name."""
    children = list(node.children)
    at = next((n for n, child in enumerate(children) if child.name == stage), None)
    if at is None:
        children.append(TraceNode(stage, verdicts=verdicts))
    else:
        children[at] = replace(children[at], verdicts=verdicts)
    return replace(node, children=children)


def _resolutions(tx: Transaction, turn: Sequence[Observation], text: bool) -> list[Placed]:
    """Return why the turn is in this thread, where that needed a decision."""
    named = ((o.seq, decision_id(o.thread_id, f"{THREAD}-{o.id}")) for o in turn)
    pairs = ((seq, stored_decision(tx, one)) for seq, one in named)
    return [(seq, _verdict(one, text)) for seq, one in pairs if one is not None]


def _boundaries(tx: Transaction, turn: Sequence[Observation], text: bool) -> list[Placed]:
    """Return the checks of the turn's observations, and the cuts made before or at one of them."""
    thread, first, last = turn[0].thread_id, turn[0].seq, turn[-1].seq
    pairs = [(seq, _check(record)) for seq, record in sorted(read_records(tx, thread, first, last).items())]
    for episode in tx.episodes.list(threads=[thread]):
        decision = stored_decision(tx, episode.decision_id)
        if decision is None:
            continue
        answer = decision.detail.get("decided_at_seq")
        cut = episode.last_seq + 1
        seq = answer if isinstance(answer, int) else cut
        if first <= cut <= last or first <= seq <= last:
            pairs.append((seq, _verdict(decision, text, before_seq=cut)))
    return pairs


def _check(record: Record) -> TracedVerdict:
    cues = {"surprise": record.surprise, **record.cues}
    return TracedVerdict(
        "check",
        f"{record.action} at {record.seq}",
        record.probability,
        record.threshold,
        "",
        "",
        None,
        {name: round(value, 6) for name, value in cues.items()},
    )


def _links(tx: Transaction, turn: Sequence[Observation], text: bool) -> list[TracedVerdict]:
    ids = {str(o.id) for o in turn}
    every = tx.knowledge.decisions(subject=turn[0].thread_id, type=LINK)
    return [_verdict(one, text) for one in every if one.detail.get("observation") in ids]


def _about(tx: Transaction, node: TraceNode, text: bool) -> list[TracedVerdict]:
    """Return the decisions of a job's own type about what it was for, those it took as it ran."""
    try:
        subject = UUID(str(node.attributes.get("job", "")))
    except ValueError:
        return []
    return [_verdict(one, text) for one in tx.knowledge.decisions(subject=subject, type=node.name)]


def _verdict(decision: Decision, text: bool, **more: Json) -> TracedVerdict:
    detail = {**dict(_shown(decision, text)), **more}
    return TracedVerdict(
        decision.type,
        decision.verdict,
        decision.score,
        decision.threshold,
        decision.policy_version,
        decision.confidence_label,
        decision.id,
        detail,
    )


def _shown(decision: Decision, text: bool) -> Iterator[tuple[str, Json]]:
    """Yield what a decision keeps; without text only numbers, ids and codes."""
    for name, value in decision.features.items():
        yield name, round(value, 6)
    for name, answer in decision.detail.items():
        if text or isinstance(answer, int | float) or (isinstance(answer, str) and _is_code(name, answer)):
            yield name, answer


def _is_code(name: str, text: str) -> bool:
    if name in CODES:
        return True
    try:
        UUID(text)
    except ValueError:
        return False
    return True


def _node(span: Span, at: datetime | None) -> TraceNode:
    children = [_node(child, None) for child in span.children]
    return TraceNode(span.name, at, span.start, span.seconds, span.attributes, (), children)


@acts("trace")
class TraceRoom(RoomOf):
    """What was done for a user's turns."""

    def __init__(self, at: Scoped) -> None:
        self._at = at

    def turn(self, turn: "UUID | str", *, text: bool = False) -> TurnTrace:
        """Return what was done for a turn, with decisions, timings and calls of models, as a tree.

        `turn` is an observation's id, its unambiguous beginning, or THREAD:SEQ; `text` lets words into it.
        Timings older than `EPISODIC_TRACE_DAYS` are gone; decisions stay. Raises NotFound, and InvalidInput
        for a beginning of several.
        """
        with self._at.read() as tx:
            return trace_turn(tx, clean_name(str(turn)) or "", text=text)

    def changes(
        self,
        since: "str | float | datetime | None" = None,
        *,
        until: "str | float | datetime | None" = None,
    ) -> MemoryChanges:
        """Return what the memory took in, concluded and let go after `since`, up to `until` (now).

        Without `since`, in the seven days before. Both are record time: when the memory came to know of
        something, not when it was (ISO 8601, epoch seconds or datetime). Raises InvalidInput for times that
        cannot be read or stand the wrong way round.
        """
        end = aware(until) or self._at.deps.clock()
        start = aware(since) or end - LATELY
        if end < start:
            raise InvalidInput(f"`since` ({start:%Y-%m-%d %H:%M}) is after `until` ({end:%Y-%m-%d %H:%M})")
        scope = self._at.known()
        with self._at.read() as tx:
            return changes_between(tx, self._at.deps.store, scope, start, end)

    def audit(
        self,
        since: "str | float | datetime | None" = None,
        *,
        until: "str | float | datetime | None" = None,
        kind: "AuditKind | str | None" = None,
        by: str | None = None,
        limit: int = 100,
    ) -> Sequence[AuditEntry]:
        """Return who did what to the user's memory: the newest `limit` entries, newest first.

        Every call and every piece of later work that wrote something, every call of a language model, every
        deletion, with who was behind it; never what was said (docs/privacy.md). `kind` is write, model or
        deletion, `by` a face (python, cli, http, dashboard, mcp, work) or the id of a key; `since` (with it)
        and `until` (before it) are record time. Of an erased user what was erased is left. Raises
        InvalidInput for another kind, times that cannot be read or stand the wrong way round, and a limit
        under 1; NotFound for a user nobody ever knew.
        """
        start, end, most = aware(since), aware(until), counted("limit", limit)
        if start is not None and end is not None and end < start:
            raise InvalidInput(f"`since` ({start:%Y-%m-%d %H:%M}) is after `until` ({end:%Y-%m-%d %H:%M})")
        store, scope = self._at.deps.store, self._at.scope
        if not store.erasures(scope.space, scope):
            self._at.known()
        return audit_of(store, scope, since=start, until=end, kind=audit_kind(kind), by=by, limit=most)

    def decisions(self, *, since: datetime | None = None, limit: int = 50) -> Sequence[Decision]:
        """Return what was decided of the user's memory, by record time: the newest `limit`, newest last.

        With `since`, the first `limit` of what was decided from then on: boundaries with the episodes they
        close, links, chains, facts, reviews, corrections. Raises InvalidInput for a limit under 1.
        """
        most, moment = counted("limit", limit), aware(since)
        with self._at.read() as tx:
            decisions = tx.knowledge.decisions(last=most if moment is None else None, since=moment)
            return [without_history(one) for one in decisions[:most]]
