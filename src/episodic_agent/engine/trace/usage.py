"""What later work costs: the time that work for turns took, and the tokens of language models.

Work is kept as a row with each append, one with each job, both for the turns they were for;
`engine.trace.turns` reads. Not to be confused with `engine.boundary.traces`, which is about a thread's
boundary checks.

Every call of a model is counted by day, stage and model, and a budget can refuse it. The budget is of tokens
a day and space: tokens are what every server reports and nobody changes; prices differ, change, and a server
of one's own has none. Days are UTC, as everywhere.
"""

import logging
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Final
from uuid import UUID

from episodic_agent.core.language import plural, repair
from episodic_agent.core.threads.turns import opens_turn
from episodic_agent.core.trace import CALL, FAILED, Recorder, Ticks, current, packed, recording, span
from episodic_agent.engine.jobs.retrying import until_unopposed
from episodic_agent.engine.jobs.runner import Handler
from episodic_agent.engine.trace.acts import current_caller
from episodic_agent.engine.trace.auditing import Auditor
from episodic_agent.errors import (
    BadReply,
    BudgetSpent,
    EpisodicError,
    ProviderError,
    ProviderRefused,
    ProviderUnavailable,
)
from episodic_agent.protocols import (
    LONGEST_ANSWER,
    LanguageModel,
    Reply,
    Routed,
    SpanSink,
    Store,
    Transaction,
    ref_of,
)
from episodic_agent.schemas import (
    AuditEntry,
    AuditKind,
    Caller,
    Job,
    Json,
    ModelUse,
    Observation,
    Scope,
    WorkRow,
)
from episodic_agent.schemas.jobs import Span

BYTES_A_TOKEN: Final = 3  # of UTF-8: English has four, Chinese three; estimates are rather too high
MOST_UNUSABLE: Final = 6  # answers in a row, of two rounds to three pieces of work
REST: Final = timedelta(hours=1)  # after these; a model, its server or a prompt may be mended
ANY_DAY: Final = (date.min, date.max)
_COUNTS: Final = ("calls", "failures", "refused", "late", "prompt_tokens", "completion_tokens", "seconds")

_Key = tuple[Scope, date, str, str]
log = logging.getLogger(__name__)


class Meter:
    """Counts calls for any number of scopes, keeps the sums in the store, and keeps to the budget.

    A sum is written after its call, by whoever is not waiting for another writer; what cannot be written
    waits for the next call. Thread safe.
    """

    def __init__(
        self,
        store: Store,
        clock: Callable[[], datetime],
        budget: int | None = None,
        auditor: Auditor | None = None,
    ) -> None:
        """Take `budget` as tokens a day that a space may cost; None: no budget.

        With an `auditor` each call leaves an entry of who was behind it, too.
        """
        self._auditor = auditor
        self._entries: list[tuple[Scope, AuditEntry]] = []
        self._store = store
        self._clock = clock
        self._budget = budget
        self._lock = threading.Lock()
        self._writer = threading.Lock()
        self._waiting: dict[_Key, ModelUse] = {}
        self._reserved: dict[tuple[str, date], int] = {}
        self._unusable: dict[tuple[str, str], tuple[int, datetime]] = {}  # in a row, and when the last came

    def check(self, model: str, stage: str) -> None:
        """Raise BadReply, so that nobody is called, where a model's answers to a stage never fit."""
        count, last = self._unusable.get((model, stage), (0, datetime.min.replace(tzinfo=UTC)))
        if count >= MOST_UNUSABLE and self._clock() < last + REST:
            raise BadReply(
                f"{model} gave {count} unusable answers for {stage} in a row; not asked until "
                f"{last + REST:%H:%M} UTC; set EPISODIC_LLM_STAGES={stage}=none, or give it another model"
            )

    def judge(self, model: str, stage: str, *, fits: bool) -> None:
        """Note whether an answer could be used."""
        with self._lock:
            if fits:
                self._unusable.pop((model, stage), None)
            else:
                count, _ = self._unusable.get((model, stage), (0, None))
                self._unusable[model, stage] = (count + 1, self._clock())

    def of(self, model: LanguageModel, scope: Scope) -> LanguageModel:
        """Return the model, with its calls counted for a scope."""
        return Metered(model, self, scope)

    @contextmanager
    def allowed(self, scope: Scope, tokens: int) -> Iterator[date]:
        """Hold so many tokens of today's budget while a call runs; BudgetSpent where they are not left.

        Read from the store each time, so that processes that share a space share its budget: together they
        may pass it by the calls under way in the others, and by what was underestimated.
        """
        today = self._clock().date()
        if self._budget is None:
            yield today
            return
        place = (scope.space, today)
        with self._lock:
            spent = self._spent(scope.space, today) + self._reserved.get(place, 0)
            if spent + tokens > self._budget:
                raise BudgetSpent(
                    f"the budget of {plural(self._budget, 'token')} for {today} is spent ({spent}, a "
                    "call may take "
                    f"{tokens}) until {today + timedelta(days=1)} 00:00 UTC; "
                    "raise EPISODIC_LLM_BUDGET, or wait"
                )
            self._reserved[place] = self._reserved.get(place, 0) + tokens
        try:
            yield today
        finally:
            with self._lock:
                self._reserved[place] -= tokens

    def _spent(self, space: str, today: date) -> int:
        # Under the lock, as sums move from here to the store: for a moment counted twice, never not at all.
        written = sum(use.tokens for use in self._store.usage(space, today, today))
        waiting = (use.tokens for (whose, *_), use in self._waiting.items() if whose.space == space)
        return written + sum(waiting)

    def count(self, scope: Scope, use: ModelUse, by: Caller | None = None) -> None:
        """Add what a call cost, and who was behind it; never raises for a ledger that cannot be written."""
        with self._lock:
            self._add((scope, use.day, use.stage, use.model), use)
            if self._auditor is not None and use.calls:
                sums = {"calls": use.calls, "tokens": use.tokens, "failures": use.failures}
                counts = {what: number for what, number in sums.items() if number}
                caller = by or current_caller()
                entry = self._auditor.new(
                    AuditKind.MODEL, use.stage, caller, thing="model", counts=counts, note=use.model
                )
                self._entries.append((scope, entry))
        self.write()

    def refuse(self, scope: Scope, stage: str, model: str) -> None:
        """Count one of the answers that came as one that could not be used."""
        self.count(scope, ModelUse(self._clock().date(), stage, model, failures=1, refused=1))

    def write(self) -> None:
        """Write what waits, unless somebody is writing: who writes takes it along."""
        while self._waiting and self._writer.acquire(blocking=False):
            try:
                with self._lock:
                    batch, entries = dict(self._waiting), list(self._entries)
                self._write(batch, entries)
            except EpisodicError as error:  # the call was made and answered: that stands
                log.warning("what language models cost is not written yet: %s", error)
                return
            finally:
                self._writer.release()

    def _write(self, batch: Mapping[_Key, ModelUse], entries: Sequence[tuple[Scope, AuditEntry]]) -> None:
        for scope in dict.fromkeys(scope for scope, *_ in batch):
            mine = {key: use for key, use in batch.items() if key[0] == scope}
            own = [entry for whose, entry in entries if whose == scope]
            with self._store.begin(scope) as tx:
                tx.upkeep.put(*mine.values())
                for entry in own:
                    tx.record(entry)
            with self._lock:
                self._entries = [one for one in self._entries if one[0] != scope or one[1] not in own]
                for key, use in mine.items():
                    self._add(key, negated(use))

    def _add(self, key: _Key, use: ModelUse) -> None:
        total = added(self._waiting.get(key), use)
        if total != ModelUse(total.day, total.stage, total.model):
            self._waiting[key] = total
        else:
            self._waiting.pop(key, None)


class Metered:
    """A language model whose calls are counted for one scope."""

    def __init__(self, model: LanguageModel, meter: Meter, scope: Scope) -> None:
        self._model = model
        self._meter = meter
        self._scope = scope
        self._within = current()  # whose work it is, should the call be made in another thread
        self._by = current_caller()
        self.name = model.name

    def complete(self, prompt: str, schema: Mapping[str, Json], stage: str) -> Reply:
        """Return the model's reply.

        Nothing is sent where the budget allows no more (BudgetSpent), and where its answers never fit
        (BadReply).
        """
        self._meter.check(self.name, stage)
        asked = tokens_in(prompt)
        with self._meter.allowed(self._scope, asked + LONGEST_ANSWER) as today:
            use = ModelUse(today, stage, self.name, calls=1)
            begun = time.monotonic()
            try:
                with span(stage, within=self._within, **{CALL: stage, "model": self.name}) as remaining:
                    reply = self._model.complete(prompt, schema, stage)
                    remaining |= {
                        "prompt_tokens": reply.prompt_tokens,
                        "completion_tokens": reply.completion_tokens,
                    }
            except ProviderError as error:
                if isinstance(error, ProviderRefused) and not error.sent:
                    raise  # nobody was called
                use = replace(use, failures=1, seconds=time.monotonic() - begun)
                if isinstance(error, BadReply):  # it cost what an answer costs
                    pair = error.prompt_tokens or asked, error.completion_tokens
                    use = replace(use, refused=1, prompt_tokens=pair[0], completion_tokens=pair[1])
                    self._meter.judge(self.name, stage, fits=False)
                if isinstance(error, ProviderUnavailable):
                    use = replace(use, late=int(error.late))
                self._meter.count(self._scope, use, self._by)
                raise
            use = replace(
                use,
                prompt_tokens=reply.prompt_tokens or asked,
                completion_tokens=reply.completion_tokens or tokens_in(str(dict(reply.value))),
                seconds=time.monotonic() - begun,
            )
            self._meter.count(self._scope, use, self._by)
        return replace(reply, value={name: _repaired(value) for name, value in reply.value.items()})

    def judged(self, stage: str, *, fits: bool) -> None:
        """Note whether the last answer for a stage could be used: one that could not counts as a failure."""
        self._meter.judge(self.name, stage, fits=fits)
        if not fits:
            self._meter.refuse(self._scope, stage, self.name)


def _repaired(value: Json) -> Json:
    """Return an answer without what no store can keep: JSON may escape NUL and halves of characters."""
    if isinstance(value, str):
        return repair(value)[0]
    if isinstance(value, Mapping):
        return {repair(name)[0]: _repaired(one) for name, one in value.items()}
    return [_repaired(one) for one in value] if isinstance(value, Sequence) else value


def model_of(model: LanguageModel | None, stage: str) -> LanguageModel | None:
    """Return who answers a stage; None where nobody does."""
    return model.model_of(stage) if isinstance(model, Routed) else model


def tokens_in(text: str) -> int:
    """Estimate the tokens of a text, rather too many.

    >>> tokens_in("A dripping tap"), tokens_in("水龙头")
    (5, 3)
    """
    return -(-len(text.encode("utf-8", "replace")) // BYTES_A_TOKEN)


def added(use: ModelUse | None, other: ModelUse) -> ModelUse:
    """Return the sum of two costs of the same day, stage and model.

    >>> one = ModelUse(date(2024, 5, 1), "topic_shift", "small", calls=1, prompt_tokens=10)
    >>> added(one, one).tokens
    20
    """
    if use is None:
        return other
    return replace(other, **{name: getattr(use, name) + getattr(other, name) for name in _COUNTS})


def negated(use: ModelUse) -> ModelUse:
    """Return what takes a cost away again when it is added."""
    return replace(use, **{name: -getattr(use, name) for name in _COUNTS})


def usage(store: Store, space: str, scope: Scope | None, since: date, until: date) -> list[ModelUse]:
    """Return what language models cost a space, or one scope of it, by day, stage and model."""
    if scope is None:
        return list(store.usage(space, since, until))
    with store.begin(scope, write=False) as tx:
        return list(tx.upkeep.usage(since, until))


def summed(uses: Sequence[ModelUse]) -> ModelUse | None:
    """Return everything together, under the names of the last; None for nothing."""
    total: ModelUse | None = None
    for use in uses:
        total = added(total, use)
    return total


ADD: Final = "add"
KEPT_DAYS: Final = 30
LONGEST_DAYS: Final = 36_500
STEP: Final = "step"
_DAY: Final = timedelta(days=1)
_QUESTION: Final = re.compile(r"([0-9a-f-]{36}):\d+-(\d+)$")


class Tracer:
    """Records work and keeps it for `days` (0: nothing is kept); a sink is told of it too."""

    def __init__(
        self,
        store: Store,
        clock: Callable[[], datetime],
        days: int = KEPT_DAYS,
        sink: SpanSink | None = None,
        *,
        ticks: Ticks = time.perf_counter,
    ) -> None:
        self._store = store
        self._clock = clock
        self._days = min(days, LONGEST_DAYS)
        self._sink = sink
        self.ticks = ticks
        self._reported: list[tuple[Scope, UUID, datetime, Span]] = []
        self._dropped: dict[Scope, datetime] = {}

    @property
    def on(self) -> bool:
        """Tell whether anybody wants to know."""
        return self._days > 0 or self._sink is not None

    # --- appends -----------------------------------------------------------------------------------------

    @contextmanager
    def appending(self) -> Iterator[None]:
        """Record one transaction of an append."""
        if not self.on:
            yield
            return
        record = Appends(self.ticks)
        with recording(record):
            yield
        for answers in record.reported:  # the transaction is committed: now it happened
            self._tell(*answers)

    def appended(
        self, tx: Transaction, number: int, new: Sequence[Observation], before: Sequence[Span], now: datetime
    ) -> None:
        """Keep what an append took, in its own transaction; `before`: what was done outside of it.

        How long the commit itself takes it cannot know. Steps of an agent are no turns.
        """
        record = current()
        if not isinstance(record, Appends) or new[0].kind == STEP:
            return
        spans = (*before, *record.taken())
        start = min((one.start for one in spans), default=record.begun)
        root = Span(ADD, start, self.ticks() - start, {"messages": len(new)}, spans)
        at = now - timedelta(seconds=max(0.0, record.begun - start))
        if self._days > 0:
            refs = ref_of(number, new[0].seq), ref_of(number, new[-1].seq)
            tx.upkeep.put(WorkRow(*refs, at, ADD, packed(root)))
        if self._sink is not None:
            turn = next((one for one in reversed(new) if opens_turn(one)), new[-1])
            record.reported.append((tx.scope, turn.id, at, root))

    # --- jobs --------------------------------------------------------------------------------------------

    def handled(self, handler: Handler) -> Handler:
        """Return a handler whose work is kept for the turns it was for, where they can be known."""

        def handle(scope: Scope, jobs: Sequence[Job], /) -> None:
            if not self.on:
                handler(scope, jobs)
                return
            began, done = self._clock(), False
            record = Recorder(self.ticks)
            try:
                with recording(record):
                    handler(scope, jobs)
                done = True
            finally:
                if done or len(jobs) == 1:  # jobs that failed together are tried each by itself
                    failure = None if done else type(sys.exc_info()[1]).__name__
                    self._keep(scope, jobs, record, began, failure)

        return handle

    def _keep(
        self, scope: Scope, jobs: Sequence[Job], record: Recorder, began: datetime, failure: str | None
    ) -> None:
        """Keep what jobs took; never raises where it cannot: the work itself is done."""
        root = record.ended(jobs[0].kind, {"jobs": len(jobs)} if len(jobs) > 1 else {})
        answers: list[tuple[UUID, Span]] = []

        def keep() -> None:
            answers.clear()
            with self._store.begin(scope, write=self._days > 0) as tx:
                pairs = turns_of(tx, jobs)
                rows = []
                for job, seen in pairs:
                    extra = {"job": job.key} | ({FAILED: failure} if failure else {})
                    own = Span(
                        root.name, root.start, root.seconds, {**root.attributes, **extra}, root.children
                    )
                    answers.append((seen.id, own))
                    ref = ref_of(tx.threads.number(seen.thread_id), seen.seq)
                    rows.append(WorkRow(ref, ref, began, job.kind, packed(own)))
                if self._days > 0:
                    tx.upkeep.put(*rows)
                    self._drop_old(tx)

        try:
            until_unopposed(keep)
        except EpisodicError as error:
            log.warning("what %s jobs took is not kept: %s", jobs[0].kind, error)
        for turn, own in answers:
            self._tell(scope, turn, began, own)

    def _drop_old(self, tx: Transaction) -> None:
        """Drop what is too old, once a day for each scope that is worked for."""
        now = self._clock()
        if now - self._dropped.get(tx.scope, now - _DAY) >= _DAY:
            tx.upkeep.drop(before=now - self._days * _DAY)
            self._dropped[tx.scope] = now

    def _tell(self, scope: Scope, turn: UUID, at: datetime, root: Span) -> None:
        if self._sink is not None:
            self._sink.export(scope, turn, at, root)

    def close(self) -> None:
        """Send what a sink still holds."""
        if self._sink is not None:
            self._sink.close()


class Appends(Recorder):
    """Records one transaction of an append, which may be of several threads."""

    def __init__(self, ticks: Ticks) -> None:
        super().__init__(ticks)
        self.shared: tuple[Span, ...] = ()
        self.reported: list[tuple[Scope, UUID, datetime, Span]] = []

    def share(self) -> None:
        """Let what was recorded so far count for every thread that follows."""
        self.shared, self.spans = tuple(self.spans), []

    def taken(self) -> Sequence[Span]:
        """Return what one thread's append took, and begin the next one's."""
        spans, self.spans = [*self.shared, *self.spans], []
        return spans


def share() -> None:
    """Let what was recorded so far in this transaction count for every thread it appends to."""
    record = current()
    if isinstance(record, Appends):
        record.share()


def turns_of(tx: Transaction, jobs: Sequence[Job]) -> list[tuple[Job, Observation]]:
    """Return each job's turn as one observation of it; jobs for no turn that can be known are left out.

    The key of a job names an observation, an episode (its last turn is meant) or a thread (its last one);
    where it does not, what the job is done in order with may.
    """
    named = {
        job.id: [one for one in map(_identity, (job.key, job.serial)) if one is not None] for job in jobs
    }
    ids = list(dict.fromkeys(one for some in named.values() for one in some))
    observations, episodes = tx.observations.get(ids), tx.episodes.get(ids)
    result = []
    for job in jobs:
        place = _asked(tx, job.key)
        for identifier in named[job.id] if place is None else ():
            place = observations.get(identifier)
            if place is None and identifier in episodes:
                place = _at(tx, episodes[identifier].thread_id, episodes[identifier].last_seq)
            elif place is None and tx.threads.get(identifier) is not None:
                place = _at(tx, identifier, tx.threads.frame(identifier).next_seq - 1)
            if place is not None:
                break
        if place is not None:
            result.append((job, place))
    return result


def _asked(tx: Transaction, key: str) -> Observation | None:
    """Return the observation a question was about: its id ends in THREAD:FIRST-SEQ."""
    match = _QUESTION.search(key)
    thread = _identity(match[1]) if match else None
    if match is None or thread is None or tx.threads.get(thread) is None:
        return None
    return _at(tx, thread, int(match[2]))


def _identity(text: str) -> UUID | None:
    """Return the id a key names, whole or before a colon.

    >>> _identity("no id") is None, _identity(f"{UUID(int=1)}:2") == UUID(int=1)
    (True, True)
    """
    try:
        return UUID(text.partition(":")[0])
    except ValueError:
        return None


def _at(tx: Transaction, thread: UUID, seq: int) -> Observation | None:
    return next(iter(tx.observations.read(thread, seq, seq)), None)
