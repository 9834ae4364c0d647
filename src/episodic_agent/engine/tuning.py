"""Let links learn from what came of them: runs of `core.tuning`, their records, and what is in force.

Every run leaves a decision of type `tune` about a fixed subject: its detail is the record of seed 002 (2.4)
with counts, weights and guidance, its policy version the policy in force from then on. The newest one says
everything, therefore; what came before is history, which a rollback goes back through.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import UUID, uuid5

from episodic_agent.core.identity import NAMESPACE, decision_id
from episodic_agent.core.interfaces import Transaction
from episodic_agent.core.linking import LinkPolicy, SeedPolicy, link_policy, seed_score
from episodic_agent.core.linking.verdict import LINK as LINKED
from episodic_agent.core.prompts import thread_link
from episodic_agent.core.tuning import (
    EVERY,
    Finding,
    LabelledDecision,
    Rates,
    Rules,
    Setting,
    TuningRecord,
    rates,
    rollback,
    run,
)
from episodic_agent.core.tuning.weighting import rescored
from episodic_agent.engine.parts import NO_LINKING, Parts
from episodic_agent.engine.retrying import until_unopposed
from episodic_agent.errors import Conflict, InvalidInput
from episodic_agent.schemas import Decision, Job, Json, Scope

TUNE: Final = "tune"  # the job's kind and the decision's type
LINK: Final = "link"  # the type of decision that is tuned, and the job's key
SUBJECT: Final = uuid5(NAMESPACE, "tuned:link")  # what a run's decision is about
KEPT: Final = "kept"  # a run that changed nothing
HAND: Final = "hand"
READ: Final = 2_000  # decisions a run reads: at any rate of labels more than its window
WEIGHTS: Final = ("keyword", "entity", "topic", "recency")
BEGINNING: Final = datetime.min.replace(tzinfo=UTC)
_TICK: Final = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class TuningRun:
    """One run: seed 002's record of it, the policy in force after it, and what disagreements taught.

    `decision_id` is None for a dry run; `kind` is tuned, kept (nothing changed) or rollback; `prompt` names
    the version of the language model's prompt.
    """

    decision_id: UUID | None
    at: datetime
    kind: str
    policy: str
    prompt: str
    record: Mapping[str, Json]
    findings: Sequence[Finding] = ()

    @property
    def changed(self) -> bool:
        """Tell whether anything is otherwise after it."""
        return self.kind != KEPT


# --- what is in force


def policy_in_force(tx: Transaction, default_name: str) -> LinkPolicy:
    """Return the linking policy of a user: the one named, with what tuning changed of it.

    What was tuned for another policy, or the same one with other parameters, does not apply.
    """
    home = link_policy(default_name)
    last = _newest(tx, home.name)
    if last is None:
        return home
    try:
        return link_policy(last.policy_version)
    except InvalidInput:  # tuned by a version that knew more
        return home


def guidance_in_force(tx: Transaction) -> tuple[str, ...]:
    """Return the lines that the language model is told about links (`core.prompts.thread_link`)."""
    last = tx.episodes.decisions(subject=SUBJECT, type=TUNE, last=1)
    return _lines(last[0].detail.get("guidance")) if last else ()


def _newest(tx: Transaction, base: str | None = None) -> Decision | None:
    """Return the newest run, of one policy or of any."""
    last = tx.episodes.decisions(subject=SUBJECT, type=TUNE, last=1)
    if not last or base is None or last[0].detail.get("base") == base:
        return last[0] if last else None
    return next(reversed(_history(tx, base)), None)


def _history(tx: Transaction, base: str) -> list[Decision]:
    """Return the runs for a policy, oldest first."""
    return [d for d in tx.episodes.decisions(subject=SUBJECT, type=TUNE) if d.detail.get("base") == base]


def _setting(policy: LinkPolicy, guidance: tuple[str, ...]) -> Setting:
    """Return what tuning may change of a policy."""
    weighted = isinstance(policy, SeedPolicy)
    return Setting(policy.threshold, {w: getattr(policy, w) for w in WEIGHTS} if weighted else None, guidance)


# --- what it learns from


@dataclass(frozen=True, slots=True)
class Labelled:
    """The latest labelled link decisions, oldest first; `complete`: older ones were not left out."""

    decisions: Sequence[LabelledDecision]
    complete: bool


def labelled_links(tx: Transaction, base: str) -> Labelled:
    """Read the latest labelled link decisions of a policy's family.

    Scores of another family cannot be compared; within one only thresholds and weights differ. A decision
    that lacks its components cannot be scored by other weights.
    """
    read = tx.episodes.decisions(type=LINK, last=READ)
    family = base.partition("?")[0]
    weighted = isinstance(link_policy(base), SeedPolicy)
    some = [
        d
        for d in read
        if d.outcome is not None
        and d.policy_version.partition("?")[0] == family
        and (not weighted or "recency" in d.features)
    ]
    return Labelled([_labelled(d) for d in some], len(read) < READ)


def _labelled(decision: Decision) -> LabelledDecision:
    told, llm = decision.detail.get("outcome"), decision.detail.get("llm")
    strength = told.get("strength") if isinstance(told, Mapping) else None
    related = llm.get("related") if isinstance(llm, Mapping) else None
    return LabelledDecision(
        score=decision.score,
        threshold=decision.threshold,
        verdict=decision.verdict == LINKED,
        features=decision.features,
        outcome=decision.outcome or "",
        strength=float(strength) if isinstance(strength, int | float) else 1.0,
        at=decision.at,
        opinion=related if isinstance(related, bool) else None,
    )


def ask_for_tuning(tx: Transaction, default_name: str, now: datetime) -> None:
    """Ask for a run where a hundred links were decided since the last one, and linking is on."""
    if default_name == NO_LINKING:
        return
    last = _newest(tx, link_policy(default_name).name)
    if tx.episodes.decided(LINK, BEGINNING if last is None else last.at) >= EVERY:
        tx.jobs.put(TUNE, LINK, f"{TUNE}:{LINK}", now=now)


# --- runs


class Tuner:
    """The verbs `tune` and `rollback_tuning`, and the handler of `tune` jobs."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def handle(self, scope: Scope, jobs: Sequence[Job]) -> None:
        """Make one run for the jobs; where linking was switched off since, they only end."""
        if self._parts.link_policy == NO_LINKING:
            with self._parts.store.begin(scope) as tx:
                for job in jobs:
                    tx.jobs.finish(job)
            return
        until_unopposed(lambda: self._keep(scope, self._tuned, jobs))

    def run(self, scope: Scope, *, dry_run: bool = False) -> TuningRun:
        """Learn what is certainly better from labelled links and put it in force; `dry_run` only tells.

        InvalidInput where linking is off.
        """
        if dry_run:
            with self._parts.store.begin(scope, write=False) as tx:
                return told_of(self._tuned(tx), dry_run=True)
        return told_of(until_unopposed(lambda: self._keep(scope, self._tuned)))

    def rollback(self, scope: Scope) -> TuningRun:
        """Take the last change back; InvalidInput where none stands."""
        return told_of(until_unopposed(lambda: self._keep(scope, self._taken_back)))

    def _keep(
        self, scope: Scope, make: Callable[[Transaction], Decision], jobs: Sequence[Job] = ()
    ) -> Decision:
        """Work a run out on a snapshot and keep it, unless another one was kept meanwhile (Conflict)."""
        with self._parts.store.begin(scope, write=False) as tx:
            made = make(tx)
        with self._parts.store.begin(scope) as tx:
            tx.threads.hold()
            for job in jobs:
                tx.jobs.finish(job)
            if _next_id(tx) != made.id:
                raise Conflict("another tuning run was faster; repeat the call")
            tx.episodes.decide(made)
        return made

    def _tuned(self, tx: Transaction) -> Decision:
        base = self._base()
        policy, at = policy_in_force(tx, base), self._at(tx)
        setting = _setting(policy, guidance_in_force(tx))
        history = _history(tx, base)
        read = labelled_links(tx, base)
        decisions = _since(read.decisions, _taken_back_by_hand(history))
        rules = Rules(lowest=policy.tunable[0], highest=policy.tunable[1])
        score = seed_score if setting.weights is not None else None
        changes = [read_record(d) for d in history if d.verdict != KEPT]
        if changes and not read.complete and decisions and decisions[0].at > changes[-1].tuning_date:
            # its probation is long over, and the labels it was judged by are no longer read
            changes.append(_unchanged(changes[-1].after, changes[-1].rates_after, at, ""))
        found = run(LINK, decisions, setting, at, history=changes, rules=rules, score=score)
        record = found.record
        if record is None:
            known = decisions[-rules.window :]
            scored = known if setting.weights is None else rescored(known, setting.weights, seed_score)
            record = _unchanged(setting, rates(scored, setting.threshold, rules), at, found.reason)
        return _decision(tx, record, base, found.findings)

    def _taken_back(self, tx: Transaction) -> Decision:
        base = self._base()
        changes = [read_record(d) for d in _history(tx, base) if d.verdict != KEPT]
        decision = _decision(tx, rollback(changes, self._at(tx)), base)
        return replace(decision, detail={**decision.detail, "by": HAND})

    def _base(self) -> str:
        """Return the name of the policy that is tuned; InvalidInput where linking is off."""
        if self._parts.link_policy == NO_LINKING:
            raise InvalidInput(
                "linking is off (policy 'none'), so there is nothing to tune;"
                " set EPISODIC_LINK_POLICY to default or seed-002"
            )
        return link_policy(self._parts.link_policy).name

    def _at(self, tx: Transaction) -> datetime:
        """Return the time of a run: now, and after the run before it whatever the clock says."""
        last = _newest(tx)
        now = self._parts.clock()
        return now if last is None else max(now, last.at + _TICK)


def _next_id(tx: Transaction) -> UUID:
    """Return the id of the run after the newest one, so that two made at once are one."""
    last = _newest(tx)
    return decision_id(SUBJECT, f"{TUNE}-{'first' if last is None else last.id}")


def _since(decisions: Sequence[LabelledDecision], moment: datetime | None) -> Sequence[LabelledDecision]:
    return decisions if moment is None else [d for d in decisions if d.at > moment]


def _taken_back_by_hand(history: Sequence[Decision]) -> datetime | None:
    """Return when a person last took a change back: what was known before led to what nobody wanted."""
    return next((d.at for d in reversed(history) if d.detail.get("by") == HAND), None)


# --- records


def _unchanged(setting: Setting, known: Rates, at: datetime, reason: str) -> TuningRecord:
    return TuningRecord(at, LINK, reason, setting, setting, known, known, KEPT)


def _decision(tx: Transaction, record: TuningRecord, base: str, found: Sequence[Finding] = ()) -> Decision:
    after, rates_after = record.after, record.rates_after
    policy = link_policy(base, threshold=after.threshold, **(after.weights or {}))
    return Decision(
        id=_next_id(tx),
        type=TUNE,
        at=record.tuning_date,
        subject=SUBJECT,
        features={"labelled": float(record.rates_before.labelled)},
        score=rates_after.accuracy,
        threshold=record.rates_before.accuracy,
        verdict=record.kind,
        policy_version=policy.name,
        detail={
            **record.as_json(),
            "previous_guidance": list(record.before.guidance),
            "prompt": thread_link.version(after.guidance),
            "base": base,
            "findings": [asdict(finding) for finding in found],
        },
    )


def read_record(decision: Decision) -> TuningRecord:
    """Return the record of a run as `core.tuning` takes it; its rates have four digits."""
    told: Mapping[str, Any] = decision.detail
    counts = told["counts"]

    def known(when: str) -> Rates:
        accuracy, false_positive, false_negative = (
            float(told["metrics"][f"{name}_{when}"])
            for name in ("accuracy", "false_positive_rate", "false_negative_rate")
        )
        numbers = (int(counts[name]) for name in ("labelled", "positives", "negatives"))
        return Rates(accuracy, false_positive, false_negative, *numbers)

    return TuningRecord(
        decision.at,
        told["decision_type"],
        told["reason"],
        Setting(told["previous_threshold"], told["previous_weights"], _lines(told["previous_guidance"])),
        Setting(told["new_threshold"], told["new_weights"], _lines(told["guidance"])),
        known("before"),
        known("after"),
        decision.verdict,
    )


def _lines(value: Json) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list | tuple) else ()


def told_of(decision: Decision, *, dry_run: bool = False) -> TuningRun:
    """Return what a run's decision tells."""
    told: Mapping[str, Any] = decision.detail
    return TuningRun(
        None if dry_run else decision.id,
        decision.at,
        decision.verdict,
        decision.policy_version,
        told["prompt"],
        decision.detail,
        tuple(Finding(**finding) for finding in told["findings"]),
    )


def tunings(tx: Transaction) -> list[TuningRun]:
    """Return every run, newest first."""
    return [told_of(d) for d in reversed(tx.episodes.decisions(subject=SUBJECT, type=TUNE))]


def keep_tunings(tx: Transaction, decisions: Sequence[Decision]) -> None:
    """Keep the runs of an export where this user has none of their own."""
    if _newest(tx) is None:
        for decision in decisions:
            tx.episodes.decide(decision)
