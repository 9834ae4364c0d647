"""What language models cost: every call is counted by day, stage and model, and a budget can refuse it.

The budget is of tokens a day and space: tokens are what every server reports and nobody changes; prices
differ, change, and a server of one's own has none. Days are UTC, as everywhere.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Final

from episodic_agent.core.language import plural, repair
from episodic_agent.core.trace import CALL, current, span
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
from episodic_agent.protocols import LONGEST_ANSWER, LanguageModel, Reply, Routed, Store
from episodic_agent.schemas import AuditEntry, AuditKind, Caller, Json, ModelUse, Scope

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
