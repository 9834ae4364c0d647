"""Say in words why two threads were linked, or were not: from the decision alone (I6)."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from episodic_agent.core.language import plural
from episodic_agent.core.links.policies import (
    AT_END,
    COMPONENTS,
    NONE,
    OTHERS,
    ChoicePolicy,
    FittedPolicy,
    LinkPolicy,
    SeedPolicy,
    choice_weights,
    fitted_weights,
    inputs,
    link_policy,
)
from episodic_agent.core.links.verdict import SETTLES, UNCERTAIN, recomputed
from episodic_agent.data import texts
from episodic_agent.engine.jobs.kinds import LINK, OUTCOME
from episodic_agent.errors import InvalidInput
from episodic_agent.protocols import Transaction
from episodic_agent.schemas import Decision, Json, Link, Thread
from episodic_agent.showing import described, visible

HEAVIEST: Final = 8  # contributions that are told
_LEAST: Final = 5e-4  # a contribution that moves nothing is not told


@dataclass(frozen=True, slots=True)
class Contribution:
    """What one number of the evidence added: to the score, or to the log-odds of a fitted policy."""

    name: str
    words: str
    value: float
    adds: float


@dataclass(frozen=True, slots=True)
class JudgedLink:
    """One candidate: the decision, its thread, what was concluded in words, and from what."""

    decision: Decision
    candidate: Thread | None
    sentences: Sequence[str]
    contributions: Sequence[Contribution]

    def __str__(self) -> str:
        """Tell the verdict, what was concluded, and what weighed most."""
        weights = [
            f"{one.adds:+.3f}  {one.words} ({one.name} {one.value:.3f})"
            for one in self.contributions[:HEAVIEST]
        ]
        return visible("\n  ".join([self.verdict, *self.sentences, *weights]))

    @property
    def verdict(self) -> str:
        """What was decided of which thread, and how sure that is."""
        name = self.candidate.origin if self.candidate else str(self.decision.detail["candidate"])
        return f"{name}: {self.decision.verdict}, {self.decision.confidence_label}"

    def __repr__(self) -> str:
        return described(
            self,
            "" if self.candidate is None else self.candidate.origin,
            self.decision.verdict,
            *self.sentences[:1],
        )


@dataclass(frozen=True, slots=True)
class LinkExplanation:
    """Everything that was decided about a thread and earlier ones, best candidate of each message first.

    `reason` says why nothing was; it is empty where something was.
    """

    thread: Thread
    links: Sequence[Link]
    judged: Sequence[JudgedLink]
    reason: str = ""

    def __str__(self) -> str:
        """Tell what was decided and why as the command line does, what is in force first."""
        head = [f"nothing was decided: {self.reason}"] if self.reason else []
        judged, count = self.told_first()
        lines = [str(one) if n < count else one.verdict for n, one in enumerate(judged)]
        return visible("\n".join([*head, *lines]))

    def told_first(self) -> tuple[Sequence[JudgedLink], int]:
        """Return all that were judged, what is in force first, then by score; and how many to tell whole."""
        in_force = {link.decision_id for link in self.links if link.unlinked_at is None}
        judged = sorted(self.judged, key=lambda one: (one.decision.id not in in_force, -one.decision.score))
        return judged, max(1, sum(one.decision.id in in_force for one in judged))

    def __repr__(self) -> str:
        return described(
            self, self.thread.origin, plural(len(self.links), "link"), f"{len(self.judged)} judged"
        )


def explain_links(tx: Transaction, thread: Thread, other: Thread | None = None) -> LinkExplanation:
    """Explain a thread's links (to one other thread) and what was not linked."""
    decisions = [*tx.knowledge.decisions(subject=thread.id, type=LINK)]
    if other is not None:  # whichever of the two came later was judged
        decisions = [d for d in decisions if d.detail.get("candidate") == str(other.id)]
        turned = tx.knowledge.decisions(subject=other.id, type=LINK)
        decisions += [d for d in turned if d.detail.get("candidate") == str(thread.id)]
    decisions.sort(key=_moment)
    links = tx.threads.links([thread.id], taken_back=True)
    ends = {thread.id} if other is None else {thread.id, other.id}
    return LinkExplanation(
        thread,
        [link for link in links if ends <= {link.earlier, link.later}],
        [_judged(tx, decision) for decision in decisions],
        "" if decisions else _why_nothing(thread),
    )


def _why_nothing(thread: Thread) -> str:
    """Say why no message of a thread was compared with that of another."""
    if thread.modality != "message":
        return "what an agent does is linked to nothing"
    if thread.selected_at is not None:
        return "the thread was selected: what is said in it belongs there, and it is linked only by hand"
    if thread.explicit:
        return (
            "whoever added its messages named the thread: such a thread is linked where a message recalls an "
            "earlier conversation (“remember when …”), or by hand"
        )
    return "no message of this thread was compared with that of another"


def _moment(decision: Decision) -> tuple[str, bool, int, int, int]:
    """Sort by what was judged: messages in order, then ends, the best candidate of each first."""
    number, through, rank = (_integer(decision, name) for name in ("number", "through", "rank"))
    return str(decision.subject), bool(decision.features.get(AT_END)), number, through, rank


def _integer(decision: Decision, name: str) -> int:
    value = decision.detail.get(name)
    return value if isinstance(value, int) else 0


def _judged(tx: Transaction, decision: Decision) -> JudgedLink:
    candidate = tx.threads.get(UUID(str(decision.detail["candidate"])))
    return JudgedLink(decision, candidate, list(_sentences(decision)), contributions(decision))


def _sentences(decision: Decision) -> Iterator[str]:
    detail = decision.detail
    why = detail.get("why")
    known = texts("links/features.why")
    reasons = [known.get(str(one), str(one)) for one in why] if isinstance(why, Sequence) else []
    yield f"compared because {' and '.join(reasons) or 'nobody knows why'}"
    side = "over" if decision.score > decision.threshold else "not over"
    at_end = bool(decision.features.get(AT_END))
    moment = "the thread as it ended" if at_end else f"message {_integer(decision, 'number')} of the thread"
    yield (
        f"{moment} scores {decision.score:.3f} by {decision.policy_version}, "
        f"{side} the threshold of {decision.threshold:.2f}"
    )
    if OTHERS in decision.features:
        yield "the score is its share of one choice over all that was compared, and none of it"
    if detail.get("takes_back"):
        yield "it was linked as the thread began; by its end that is unlikely, and it is taken back"
    if detail.get("without_vectors"):
        yield f"judged by words alone: {detail['without_vectors']}"
    yield from _model(detail.get("llm"))
    if decision.features.get(SETTLES):
        yield "a language model chose among the candidates: what it did not choose is not linked"
    yield from _paths(detail.get("paths"))
    yield from _rival(decision)
    doubt = "in doubt" if decision.confidence_label == UNCERTAIN else "sure"
    settled = bool(decision.features.get(SETTLES))
    decided = "the model's choice stands" if settled else "the more confident one decided"
    differ = f"; the two differed and {decided}" if detail.get("disagreement") else ""
    yield f"verdict: {decision.verdict}, {doubt}{differ}"
    if detail.get("taken_back"):
        yield "a person had unlinked the two: they stay apart"
    if decision.outcome:
        yield f"what came of it: {decision.outcome}{_grounds(decision.detail.get(OUTCOME))}"


def _grounds(known: Json) -> str:
    """Return what an outcome rests on: somebody's words, or no more than that they went on."""
    if not isinstance(known, Mapping):
        return ""
    why = str(known.get("why") or "")
    if known.get("by") == "behaviour":
        return f", as far as going on tells: {why}; nobody said so" if why else ", as far as going on tells"
    return f": {why}" if why else ""


def _rival(decision: Decision) -> Iterator[str]:
    rival = decision.features.get("rival")
    if rival is None:
        return
    if decision.features.get("yields"):
        yield f"another candidate of this message is better ({rival:.3f}), and it goes on with one only"
    else:
        yield f"it is the best of the message's candidates; the next best ({rival:.3f}) yields to it"


def _model(value: Json) -> Iterator[str]:
    if not isinstance(value, Mapping):
        return
    who = f"{value.get('model')} ({value.get('prompt')})"
    if "failure" in value:
        yield f"{who} gave no opinion: {value['failure']}"
        return
    related = "related" if value.get("related") else "not related"
    yield (
        f"{who} called them {related}, {_number(value.get('confidence')):.0%} sure: {value.get('reasoning')}"
    )


def _paths(paths: Json) -> Iterator[str]:
    if not isinstance(paths, Mapping) or "overlap" not in paths:
        return
    spent = []
    for name in ("algorithm", "llm"):
        span = paths.get(name)
        if isinstance(span, Mapping):
            spent.append(_number(span.get("ended")) - _number(span.get("started")))
    yield (
        f"the algorithm took {spent[0] * 1e3:.1f} ms and the model {spent[1] * 1e3:.1f} ms, "
        f"both at once for {_number(paths['overlap']) * 1e3:.1f} ms"
    )


def _number(value: Json) -> float:
    return float(value) if isinstance(value, int | float) else math.nan


def contributions(decision: Decision) -> list[Contribution]:
    """Return what each number added to a decision's score, the heaviest first.

    Of a fitted policy they are terms of its log-odds; of another that is not known here, none.
    """
    try:
        policy = link_policy(decision.policy_version)
    except InvalidInput:
        return []
    rows = _terms(policy, decision.features)
    named = texts("links/features.words")
    contributions = [
        Contribution(n, named.get(n, n), value, adds) for n, value, adds in rows if abs(adds) >= _LEAST
    ]
    return sorted(contributions, key=lambda c: (-abs(c.adds), c.name))


def _terms(policy: LinkPolicy, features: Mapping[str, float]) -> list[tuple[str, float, float]]:
    if isinstance(policy, FittedPolicy):
        read = inputs(features)
        weighed = fitted_weights(features)
        return [(name, read[name], weight * read[name]) for name, weight in weighed.items()]
    if isinstance(policy, ChoicePolicy):
        own = [(n, w) for n, w in choice_weights(features).items() if not n.startswith(NONE)]
        others = features.get(OTHERS, 0.0)
        return [
            *((n, features.get(n, 0.0), w * features.get(n, 0.0)) for n, w in own),
            (OTHERS, others, -others),
        ]
    if not isinstance(policy, SeedPolicy):
        return []
    weighed = {name: getattr(policy, name) for name in (*COMPONENTS, "recency") if name in features}
    alone = set(weighed) == {"recency"}
    total = 1.0 if alone else sum(weighed.values()) or 1.0
    return [(name, features[name], weight * features[name] / total) for name, weight in weighed.items()]


def unfounded(tx: Transaction) -> Iterator[str]:
    """Yield the linking decisions whose verdict does not follow from what they recorded (I6)."""
    for decision in tx.knowledge.decisions(type=LINK):
        try:
            again = recomputed(str(decision.detail["candidate"]), decision.policy_version, decision.features)
        except (InvalidInput, KeyError) as error:
            yield f"the linking decision {decision.id} cannot be computed again: {error}"
            continue
        if (again.verdict, again.label) != (decision.verdict, decision.confidence_label):
            yield f"the linking decision {decision.id} does not follow from its numbers"
