"""One run of tuning from labelled decisions to what would change; and the way back.

Everything is a pure function: a dry run is a run that nobody stores. The caller keeps the history (one
`TuningRecord` each) and the setting in force, and asks `run` every hundred decisions or on demand.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from episodic_agent.core.language import plural
from episodic_agent.core.tuning.disagreements import MODEL, TuningFinding, findings
from episodic_agent.core.tuning.records import (
    LabelledDecision,
    PolicySetting,
    Rates,
    TuningRecord,
    TuningRules,
    rates,
)
from episodic_agent.core.tuning.thresholds import best_threshold
from episodic_agent.core.tuning.weighting import Scorer, best_weights, rescored
from episodic_agent.errors import InvalidInput

EVERY: Final = 100  # decisions between two runs
MOST_GUIDANCE: Final = 5  # lines; a prompt that explains everything explains nothing


@dataclass(frozen=True, slots=True)
class Tuning:
    """What a run would change: the setting to use from now on and, where it differs, the record to keep.

    `reason` says in one line what was found; `findings` are the disagreements' lessons.
    """

    setting: PolicySetting
    record: TuningRecord | None
    reason: str
    findings: tuple[TuningFinding, ...] = ()

    @property
    def changed(self) -> bool:
        """Say whether there is anything to store."""
        return self.record is not None


def run(
    decision_type: str,
    decisions: Sequence[LabelledDecision],
    setting: PolicySetting,
    at: datetime,
    *,
    history: Sequence[TuningRecord] = (),
    rules: TuningRules | None = None,
    score: Scorer | None = None,
) -> Tuning:
    """Return what to change, given every labelled decision of a type in order of time.

    A change made before is on probation first: once fifty labelled decisions are younger than it, it is kept
    or taken back, and only then is anything else tuned. `score` turns weights and features into a score;
    without it, or where the setting has no weights, only the threshold is tuned.
    """
    rules = rules or TuningRules()
    change, jury = _probation(decisions, history, rules)
    if change is not None and (verdict := _judged(change, jury, at, rules, score)) is not None:
        return replace(verdict, setting=verdict.setting if verdict.changed else setting)
    recent = list(decisions[-rules.window :])
    lacking = _lacking(recent, rules)
    learnt = findings(recent, rules)
    if lacking:
        return Tuning(setting, None, lacking, learnt)
    home = history[0].before.threshold if history else setting.threshold
    after = replace(
        setting,
        threshold=best_threshold(_scored(recent, setting, score), setting.threshold, rules, home),
        guidance=_guided(setting.guidance, learnt),
    )
    if score is not None and setting.weights is not None and after.threshold == setting.threshold:
        # one thing at a time: a change of both could not be judged, or taken back, apart
        weights = best_weights(recent, setting.weights, setting.threshold, score, rules)
        after = replace(after, weights=weights)
    if after == setting:
        return Tuning(setting, None, "nothing would be clearly better", learnt)
    before_rates = rates(_scored(recent, setting, score), setting.threshold, rules)
    after_rates = rates(_scored(recent, after, score), after.threshold, rules)
    reason = _reason(setting, after, before_rates, after_rates)
    record = TuningRecord(at, decision_type, reason, setting, after, before_rates, after_rates)
    return Tuning(after, record, reason, learnt)


def rollback(history: Sequence[TuningRecord], at: datetime) -> TuningRecord:
    """Return the record that takes the last change back; raises InvalidInput where there is none.

    Records that were taken back, and the taking back itself, do not count: asked again, it goes back further.
    """
    standing = _standing(history)
    if not standing:
        raise InvalidInput("there is no tuning to take back; `episodic tune history` shows what was tuned")
    last = standing[-1]
    reason = f"taken back by hand: the change of {last.tuning_date.date().isoformat()}"
    now, then = last.rates_after, last.rates_before
    return TuningRecord(at, last.decision_type, reason, last.after, last.before, now, then, "rollback")


def _standing(history: Sequence[TuningRecord]) -> list[TuningRecord]:
    """Return the changes that are in force, oldest first."""
    standing: list[TuningRecord] = []
    for record in history:
        if record.kind == "rollback":
            del standing[-1:]
        elif record.kind == "tuned":
            standing.append(record)
    return standing


def _moved(record: TuningRecord) -> bool:
    """Say whether a record changed how decisions are scored; guidance alone needs no probation."""
    return (record.before.threshold, record.before.weights) != (record.after.threshold, record.after.weights)


def _probation(
    decisions: Sequence[LabelledDecision], history: Sequence[TuningRecord], rules: TuningRules
) -> tuple[TuningRecord | None, list[LabelledDecision]]:
    """Return the last change while it can still be taken back, and the labelled decisions that judge it."""
    if not history or history[-1].kind != "tuned" or not _moved(history[-1]):
        return None, []
    younger = [decision for decision in decisions if decision.at > history[-1].tuning_date]
    return history[-1], younger[: rules.probation]


def _judged(
    change: TuningRecord,
    jury: Sequence[LabelledDecision],
    at: datetime,
    rules: TuningRules,
    score: Scorer | None,
) -> Tuning | None:
    """Return the verdict on a change: wait, take it back, or None to go on.

    Old and new are compared on the same decisions: harder days are no reason to go back.
    """
    if len(jury) < rules.probation:
        reason = (
            f"the last change is on probation: {len(jury)} of "
            f"{plural(rules.probation, 'labelled decision')} since"
        )
        return Tuning(change.after, None, reason)
    old = rates(_scored(jury, change.before, score), change.before.threshold, rules)
    new = rates(_scored(jury, change.after, score), change.after.threshold, rules)
    if new.accuracy >= old.accuracy:
        return None
    reason = f"taken back: accuracy {new.accuracy:.1%} against {old.accuracy:.1%} on the next {len(jury)}"
    setting = replace(change.before, guidance=change.after.guidance)
    record = TuningRecord(at, change.decision_type, reason, change.after, setting, new, old, "rollback")
    return Tuning(setting, record, reason)


def _lacking(decisions: Sequence[LabelledDecision], rules: TuningRules) -> str:
    """Say what is missing for a run, "" when nothing is."""
    positives = sum(decision.truth for decision in decisions)
    fewer = min(positives, len(decisions) - positives)
    if len(decisions) < rules.least_labelled:
        return (
            f"{plural(len(decisions), 'labelled decision is', 'labelled decisions are')} too few; "
            f"{rules.least_labelled} are needed"
        )
    if fewer < rules.least_of_each:
        return (
            f"only {plural(fewer, 'labelled decision')} of one kind; {rules.least_of_each} of each are needed"
        )
    return ""


def _scored(
    decisions: Sequence[LabelledDecision], setting: PolicySetting, score: Scorer | None
) -> list[LabelledDecision]:
    """Return decisions as a setting would score them today: older ones were scored by other weights."""
    if score is None or setting.weights is None:
        return list(decisions)
    return rescored(decisions, setting.weights, score)


def _guided(guidance: tuple[str, ...], learnt: Sequence[TuningFinding]) -> tuple[str, ...]:
    """Return the guidance with the lines of what the model loses, the latest lessons last."""
    lines = [finding.line for finding in learnt if finding.side == MODEL]
    fresh = [line for line in dict.fromkeys(lines) if line not in guidance]
    return (*guidance, *fresh)[-MOST_GUIDANCE:] if fresh else guidance


def _reason(before: PolicySetting, after: PolicySetting, old: Rates, new: Rates) -> str:
    """Return the record's sentence, about the rate that changed most."""
    answer = []
    names = {"False positive rate": "false_positive_rate", "False negative rate": "false_negative_rate"}
    by_change = sorted(names, key=lambda n: getattr(new, names[n]) - getattr(old, names[n]))
    for name in by_change[:1]:
        was, now = getattr(old, names[name]), getattr(new, names[name])
        if now < was:
            answer.append(f"{name} was {was:.0%}, reduced to {now:.0%}")
    if after.weights != before.weights:
        answer.append("weights changed")
    if after.guidance != before.guidance:
        answer.append(f"guidance added: {plural(len(after.guidance), 'line')}")
    return "; ".join(answer) or f"accuracy {old.accuracy:.1%}, now {new.accuracy:.1%}"
