"""Let links and chains learn from what came of them: runs of `core.tuning`, their records, what is in force.

Every run leaves a decision of type `tune` about a fixed subject, one for links and one for chains: its detail
is the record of seed 002, section 2.4, with counts, weights and guidance, its policy version the policy in
force from then on. The newest one says everything, therefore; what came before is history, which a rollback
goes back through.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final
from uuid import UUID, uuid5

from episodic_agent.core.chains.deciding import AUTO
from episodic_agent.core.chains.deciding import CHAIN as CHAINED
from episodic_agent.core.chains.policies import ChainPolicy, FittedChain, chain_policy
from episodic_agent.core.identity import NAMESPACE, decision_id
from episodic_agent.core.language import plural
from episodic_agent.core.links.policies import AT_END, LinkPolicy, SeedPolicy, link_policy, seed_score
from episodic_agent.core.links.verdict import LINK as LINKED
from episodic_agent.core.prompts import thread_link
from episodic_agent.core.tuning import (
    EVERY,
    LabelledDecision,
    PolicySetting,
    Rates,
    TuningFinding,
    TuningRecord,
    TuningRules,
    rates,
    rescored,
    rollback,
    run,
)
from episodic_agent.engine.deps import NO_LINKING, Deps
from episodic_agent.engine.jobs.kinds import CHAIN, LINK, TUNE, TUNED
from episodic_agent.engine.jobs.retrying import until_unopposed
from episodic_agent.errors import Conflict, InvalidInput
from episodic_agent.protocols import Countable, Transaction
from episodic_agent.schemas import Decision, Job, Json, Scope
from episodic_agent.showing import described

SUBJECT: Final = uuid5(NAMESPACE, "tuned:link")  # what a run's decision is about
SUBJECTS: Final = {LINK: SUBJECT, CHAIN: uuid5(NAMESPACE, "tuned:chain")}
LIMIT: Final = "kept"  # a run that changed nothing
HAND: Final = "hand"
READ: Final = 2_000  # decisions a run reads: at any rate of labels more than its window
WEIGHTS: Final = ("keyword", "entity", "topic", "recency")
_DECIDED: Final[Mapping[str, Countable]] = {LINK: "link decisions", CHAIN: "chain decisions"}
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
    findings: Sequence[TuningFinding] = ()

    def __repr__(self) -> str:
        return described(self, self.at, self.kind, self.policy, plural(len(self.findings), "finding"))

    @property
    def changed(self) -> bool:
        """Tell whether anything is otherwise after it."""
        return self.kind != LIMIT


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
    last = tx.knowledge.decisions(subject=SUBJECT, type=TUNE, last=1)
    return _lines(last[0].detail.get("guidance")) if last else ()


def chain_policy_in_force(tx: Transaction, default_name: str) -> ChainPolicy:
    """Return the chaining policy of a user: the one named, with what tuning changed of it."""
    home = chain_policy(default_name)
    last = _newest(tx, home.name, CHAIN)
    if last is None:
        return home
    try:
        return chain_policy(last.policy_version)
    except InvalidInput:
        return home


def _newest(tx: Transaction, base: str | None = None, what: str = LINK) -> Decision | None:
    """Return the newest run, of one policy or of any."""
    last = tx.knowledge.decisions(subject=SUBJECTS[what], type=TUNE, last=1)
    if not last or base is None or last[0].detail.get("base") == base:
        return last[0] if last else None
    return next(reversed(_history(tx, base, what)), None)


def _history(tx: Transaction, base: str, what: str) -> list[Decision]:
    """Return the runs for a policy, oldest first."""
    decisions = tx.knowledge.decisions(subject=SUBJECTS[what], type=TUNE)
    return [d for d in decisions if d.detail.get("base") == base]


def _setting(policy: LinkPolicy | ChainPolicy, guidance: tuple[str, ...]) -> PolicySetting:
    """Return what tuning may change of a policy."""
    weighted = isinstance(policy, SeedPolicy)
    return PolicySetting(
        policy.threshold, {w: getattr(policy, w) for w in WEIGHTS} if weighted else None, guidance
    )


# --- what it learns from


@dataclass(frozen=True, slots=True)
class Labelled:
    """The latest labelled link decisions, oldest first; `complete`: older ones were not left out."""

    decisions: Sequence[LabelledDecision]
    complete: bool


def labelled_links(tx: Transaction, base: str) -> Labelled:
    """Read the latest labelled link decisions of a policy's family.

    Scores of another family cannot be compared; within one only thresholds and weights differ. A decision
    that lacks its components cannot be scored by other weights, and one that yielded to a better candidate
    is not the threshold's; nor is one about the end of a thread, which has a limit of its own.
    """
    read = tx.knowledge.decisions(type=LINK, last=READ)
    family = base.partition("?")[0]
    weighted = isinstance(link_policy(base), SeedPolicy)
    some = [
        d
        for d in read
        if d.outcome is not None
        and d.policy_version.partition("?")[0] == family
        and not d.features.get("yields")
        and not d.features.get(AT_END)
        and (not weighted or "recency" in d.features)
    ]
    return Labelled([_labelled(d) for d in some], len(read) < READ)


def labelled_chains(tx: Transaction, base: str) -> Labelled:
    """Read the latest labelled verdicts of a chaining policy's family that nobody but it concluded.

    The fitted policy asks its threshold at both stages; of the others only opening does.
    """
    read = tx.knowledge.decisions(type=CHAIN, last=READ)
    family, both = base.partition("?")[0], isinstance(chain_policy(base), FittedChain)
    some = [
        d
        for d in read
        if d.outcome is not None
        and d.detail.get("method") == AUTO
        and d.policy_version.partition("?")[0] == family
        and (both or d.detail.get("stage") == "open")
    ]
    return Labelled([_labelled(d, CHAINED) for d in some], len(read) < READ)


def _labelled(decision: Decision, positive: str = LINKED) -> LabelledDecision:
    answer, llm = decision.detail.get("outcome"), decision.detail.get("llm")
    strength = answer.get("strength") if isinstance(answer, Mapping) else None
    related = llm.get("related") if isinstance(llm, Mapping) else None
    return LabelledDecision(
        score=decision.score,
        threshold=decision.threshold,
        verdict=decision.verdict == positive,
        features=decision.features,
        outcome=decision.outcome or "",
        strength=float(strength) if isinstance(strength, int | float) else 1.0,
        at=decision.at,
        opinion=related if isinstance(related, bool) else None,
    )


def ask_for_tuning(tx: Transaction, default_name: str, now: datetime, what: str = LINK) -> None:
    """Ask for a run where a hundred links (or chains) were decided since the last one, and that is on."""
    if default_name == NO_LINKING:
        return
    last = _newest(tx, _policy(what, default_name).name, what)
    if tx.count(_DECIDED[what], since=None if last is None else last.at) >= EVERY:
        tx.upkeep.ask(TUNE, what, f"{TUNE}:{what}", now=now)


def _policy(what: str, name: str) -> LinkPolicy | ChainPolicy:
    return link_policy(name) if what == LINK else chain_policy(name)


# --- runs


class Tuner:
    """The verbs `tuning.run` and `tuning.rollback`, and the handler of `tune` jobs."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps

    def handle(self, scope: Scope, jobs: Sequence[Job]) -> None:
        """Make a run for what the jobs name; where that was switched off since, they only end."""
        for what in TUNED:
            asked = [job for job in jobs if (job.key == CHAIN) == (what == CHAIN)]
            if not asked:
                continue
            if self._named(what) == NO_LINKING:
                with self._deps.store.begin(scope) as tx:
                    for job in asked:
                        tx.upkeep.drop(job)
            else:
                self._run(scope, what, asked)

    def run(self, scope: Scope, *, what: str = LINK, dry_run: bool = False) -> TuningRun:
        """Learn what is certainly better from what is labelled and put it in force; `dry_run` only tells.

        InvalidInput where linking, or chaining, is off.
        """
        if dry_run:
            with self._deps.store.begin(scope, write=False) as tx:
                return reported_outcomes(self._tuned(tx, what), dry_run=True)
        return reported_outcomes(self._run(scope, what))

    def rollback(self, scope: Scope, *, what: str = LINK) -> TuningRun:
        """Take the last change back; InvalidInput where none stands."""
        make = partial(self._taken_back, what=what)
        return reported_outcomes(until_unopposed(lambda: self._keep(scope, what, make)))

    def _run(self, scope: Scope, what: str, jobs: Sequence[Job] = ()) -> Decision:
        make = partial(self._tuned, what=what)
        return until_unopposed(lambda: self._keep(scope, what, make, jobs))

    def _keep(
        self, scope: Scope, what: str, make: Callable[[Transaction], Decision], jobs: Sequence[Job] = ()
    ) -> Decision:
        """Work a run out on a snapshot and keep it, unless another one was kept meanwhile (Conflict)."""
        with self._deps.store.begin(scope, write=False) as tx:
            made = make(tx)
        with self._deps.store.begin(scope) as tx:
            tx.hold("threads")
            for job in jobs:
                tx.upkeep.drop(job)
            if _next_id(tx, what) != made.id:
                raise Conflict("another tuning run was faster; repeat the call")
            tx.knowledge.decide(made)
        return made

    def _tuned(self, tx: Transaction, what: str) -> Decision:
        base = self._base(what)
        policy, at = _in_force(tx, what, base), self._at(tx, what)
        setting = _setting(policy, guidance_in_force(tx) if what == LINK else ())
        history = _history(tx, base, what)
        read = labelled_links(tx, base) if what == LINK else labelled_chains(tx, base)
        decisions = _since(read.decisions, _taken_back_by_hand(history))
        rules = TuningRules(lowest=policy.tunable[0], highest=policy.tunable[1])
        score = seed_score if setting.weights is not None else None
        changes = [read_record(d) for d in history if d.verdict != LIMIT]
        if changes and not read.complete and decisions and decisions[0].at > changes[-1].tuning_date:
            # its probation is long over, and the labels it was judged by are no longer read
            last = changes[-1]
            changes.append(_unchanged(last.after, last.rates_after, at, "", what))
        tuning = run(what, decisions, setting, at, history=changes, rules=rules, score=score)
        record = tuning.record
        if record is None:
            known = decisions[-rules.window :]
            scored = known if setting.weights is None else rescored(known, setting.weights, seed_score)
            record = _unchanged(setting, rates(scored, setting.threshold, rules), at, tuning.reason, what)
        return _decision(tx, record, base, tuning.findings)

    def _taken_back(self, tx: Transaction, what: str) -> Decision:
        base = self._base(what)
        changes = [read_record(d) for d in _history(tx, base, what) if d.verdict != LIMIT]
        decision = _decision(tx, rollback(changes, self._at(tx, what)), base)
        return replace(decision, detail={**decision.detail, "by": HAND})

    def _named(self, what: str) -> str:
        if what not in TUNED:
            raise InvalidInput(f"nothing called {what!r} is tuned; use {' or '.join(TUNED)}")
        return self._deps.link_policy if what == LINK else self._deps.chain_policy

    def _base(self, what: str) -> str:
        """Return the name of the policy that is tuned; InvalidInput where it is switched off."""
        name = self._named(what)
        if name == NO_LINKING and what == LINK:
            raise InvalidInput(
                "linking is off (policy 'none'), so there is nothing to tune;"
                " set EPISODIC_LINK_POLICY to default or seed-002"
            )
        if name == NO_LINKING:
            raise InvalidInput(
                "chaining is off (policy 'none'), so there is nothing to tune;"
                " set EPISODIC_CHAIN_POLICY to default"
            )
        return _policy(what, name).name

    def _at(self, tx: Transaction, what: str) -> datetime:
        """Return the time of a run: now, and after the run before it whatever the clock says."""
        last = _newest(tx, what=what)
        now = self._deps.clock()
        return now if last is None else max(now, last.at + _TICK)


def _in_force(tx: Transaction, what: str, base: str) -> LinkPolicy | ChainPolicy:
    return policy_in_force(tx, base) if what == LINK else chain_policy_in_force(tx, base)


def _next_id(tx: Transaction, what: str) -> UUID:
    """Return the id of the run after the newest one, so that two made at once are one."""
    last = _newest(tx, what=what)
    return decision_id(SUBJECTS[what], f"{TUNE}-{'first' if last is None else last.id}")


def _since(decisions: Sequence[LabelledDecision], moment: datetime | None) -> Sequence[LabelledDecision]:
    return decisions if moment is None else [d for d in decisions if d.at > moment]


def _taken_back_by_hand(history: Sequence[Decision]) -> datetime | None:
    """Return when a person last took a change back: what was known before led to what nobody wanted."""
    return next((d.at for d in reversed(history) if d.detail.get("by") == HAND), None)


# --- records


def _unchanged(setting: PolicySetting, known: Rates, at: datetime, reason: str, what: str) -> TuningRecord:
    return TuningRecord(at, what, reason, setting, setting, known, known, LIMIT)


def _decision(
    tx: Transaction, record: TuningRecord, base: str, findings: Sequence[TuningFinding] = ()
) -> Decision:
    after, rates_after, what = record.after, record.rates_after, record.decision_type
    policy: LinkPolicy | ChainPolicy
    prompt = ""
    if what == LINK:
        policy = link_policy(base, threshold=after.threshold, **(after.weights or {}))
        prompt = thread_link.version(after.guidance, chooses=policy.chooses)
    else:
        policy = chain_policy(base, threshold=after.threshold)
    return Decision(
        id=_next_id(tx, what),
        type=TUNE,
        at=record.tuning_date,
        subject=SUBJECTS[what],
        features={"labelled": float(record.rates_before.labelled)},
        score=rates_after.accuracy,
        threshold=record.rates_before.accuracy,
        verdict=record.kind,
        policy_version=policy.name,
        detail={
            **record.as_json(),
            "previous_guidance": list(record.before.guidance),
            "prompt": prompt,
            "base": base,
            "findings": [asdict(finding) for finding in findings],
        },
    )


def read_record(decision: Decision) -> TuningRecord:
    """Return the record of a run as `core.tuning` takes it; its rates have four digits."""
    answers: Mapping[str, Any] = decision.detail
    counts = answers["counts"]

    def known(when: str) -> Rates:
        accuracy, false_positive, false_negative = (
            float(answers["metrics"][f"{name}_{when}"])
            for name in ("accuracy", "false_positive_rate", "false_negative_rate")
        )
        numbers = (int(counts[name]) for name in ("labelled", "positives", "negatives"))
        return Rates(accuracy, false_positive, false_negative, *numbers)

    return TuningRecord(
        decision.at,
        answers["decision_type"],
        answers["reason"],
        PolicySetting(
            answers["previous_threshold"], answers["previous_weights"], _lines(answers["previous_guidance"])
        ),
        PolicySetting(answers["new_threshold"], answers["new_weights"], _lines(answers["guidance"])),
        known("before"),
        known("after"),
        decision.verdict,
    )


def _lines(value: Json) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list | tuple) else ()


def reported_outcomes(decision: Decision, *, dry_run: bool = False) -> TuningRun:
    """Return what a run's decision tells."""
    answers: Mapping[str, Any] = decision.detail
    return TuningRun(
        None if dry_run else decision.id,
        decision.at,
        decision.verdict,
        decision.policy_version,
        answers["prompt"],
        decision.detail,
        tuple(TuningFinding(**finding) for finding in answers["findings"]),
    )


def tunings(tx: Transaction) -> list[TuningRun]:
    """Return every run, of links and of chains, newest first."""
    return [reported_outcomes(d) for d in reversed(tx.knowledge.decisions(type=TUNE))]


def keep_tunings(tx: Transaction, decisions: Sequence[Decision]) -> None:
    """Keep the runs of an export where this user has none of their own."""
    for what, subject in SUBJECTS.items():
        if _newest(tx, what=what) is None:
            for decision in decisions:
                if decision.subject == subject:
                    tx.knowledge.decide(decision)
