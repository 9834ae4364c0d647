"""Link a new thread to the earlier ones it goes on with: the `link` job, from a message to its effect.

The message that may need it asks for a job in its own transaction. The job reads candidates and evidence in
one transaction, asks a language model outside any (where one is configured) while the algorithm computes,
and writes decisions, links and the cross-thread episode in one more. Everything goes by event time.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from episodic_agent.core.echo import all_heard
from episodic_agent.core.identity import decision_id
from episodic_agent.core.interfaces import OBSERVATIONS, Transaction, ref_of
from episodic_agent.core.linking import (
    Evidence,
    Features,
    LinkPolicy,
    LinkVerdict,
    ThreadFeatures,
    cues,
    decide,
    due,
    judge,
    link_policy,
)
from episodic_agent.core.linking.candidates import LAST_TRY
from episodic_agent.core.linking.reading import read_message
from episodic_agent.core.linking.verdict import UNCERTAIN
from episodic_agent.core.prompts.thread_link import MOST_THREADS, STAGE, Earlier
from episodic_agent.core.threads import opens_turn
from episodic_agent.engine.joining import grow, other_end, settle
from episodic_agent.engine.link_candidates import Found, Wanted, find
from episodic_agent.engine.link_opinions import PATIENCE, Answer, Call, shown
from episodic_agent.engine.outcomes import ask_for_outcomes
from episodic_agent.engine.parts import NO_LINKING, Parts
from episodic_agent.engine.thread_features import LONGEST, PAGE, ThreadReader, weighs_vectors
from episodic_agent.engine.tuning import ask_for_tuning, guidance_in_force, policy_in_force
from episodic_agent.schemas import Decision, Job, Json, Link, Observation, Scope, Thread, Vector

LINK: Final = "link"  # the job's kind, and the decision's type
OFF: Final = NO_LINKING
CONTINUITY, RECALL, HAND = "continuity", "recall", "hand"  # what a link rests on
BEST: Final = 3  # candidates that leave a decision of their own in any case
MOST_UNSURE: Final = 8  # and as many where the verdict was uncertain


def check_link_policy(name: str) -> str:
    """Return the name of a linking policy, or `none`; InvalidInput for an unknown one."""
    if name != OFF:
        link_policy(name)
    return name


# --- when ------------------------------------------------------------------------------------------------


def ask_for_link(tx: Transaction, thread: Thread, said: Sequence[Observation], now: datetime) -> None:
    """Ask for a job where one of these messages is to be linked; `thread` is as it was before them.

    Costs nothing for all but the first messages of a thread: what was selected, or named and begun without
    a recall cue, is never linked.
    """
    if thread.modality != "message" or thread.turn_count >= LAST_TRY or thread.selected_at is not None:
        return
    first = next((o for o in said if opens_turn(o)), None)
    if first is None or (thread.explicit and (thread.turn_count or not cues(first.text).recall)):
        return
    if not thread.turn_count or is_unsettled(tx.episodes.decisions(subject=thread.id, type=LINK)):
        put_job(tx, thread.id, now)


def put_job(tx: Transaction, thread: UUID, now: datetime) -> None:
    """Ask for the job of a thread; those of a scope run one after another, as their threads came."""
    tx.jobs.put(LINK, str(thread), LINK, now=now)


def is_unsettled(decisions: Sequence[Decision]) -> bool:
    """Tell whether the last message that was judged left room for doubt, or was elliptical."""
    if not decisions:
        return False
    last = max(_number(d) for d in decisions)
    return any(
        d.confidence_label == UNCERTAIN or bool(d.detail.get("elliptical"))
        for d in decisions
        if _number(d) == last
    )


def _number(decision: Decision) -> int:
    number = decision.detail.get("number")
    return number if isinstance(number, int) else 0


# --- the job ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Case:
    """A message to be judged, with everything that was read for it."""

    thread: Thread
    message: Observation
    number: int
    features: Features
    found: Sequence[Found]
    threads: Sequence[ThreadFeatures]
    policy: LinkPolicy
    earlier: Sequence[Earlier] = ()
    guidance: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class _Judged:
    """The verdicts on a case, best first, and how the two paths went (seconds since the first began)."""

    verdicts: Sequence[LinkVerdict]
    answer: Answer | None = None
    paths: Mapping[str, Json] = field(default_factory=dict)


class Linker:
    """The handler of `link` jobs, and the same judgement without a trace (`foreseen`)."""

    def __init__(
        self, parts: Parts, *, ticks: Callable[[], float] = time.monotonic, patience: float = PATIENCE
    ) -> None:
        """Take `ticks` to time both paths by, in seconds, and `patience` for the model's answer."""
        self._parts = parts
        self._reader = ThreadReader(parts)
        self._ticks = ticks
        self._patience = patience

    def handle(self, scope: Scope, jobs: Sequence[Job]) -> None:
        """Judge one message for each job; a thread with nothing to judge only ends its job."""
        for job in jobs:
            self._settle(scope, job)

    def _settle(self, scope: Scope, job: Job) -> None:
        thread = UUID(job.key)
        model = None if self._parts.link_policy == OFF else self._parts.model_for(scope, STAGE)
        with self._parts.store.begin(scope, write=False) as tx:
            case = self._case(tx, thread, asks=model is not None)
        judged = None
        if case is not None and case.threads:
            begun = self._ticks()
            call = None
            if model is not None:
                call = Call(model, case.message, case.earlier, case.guidance, self._ticks)
            judged = self._judge(case, call, begun)
        with self._parts.store.begin(scope) as tx:
            tx.threads.hold()
            now = self._parts.clock()
            if case is not None and judged is not None:
                self._write(tx, case, judged, now)
            tx.jobs.finish(job)
            if case is not None and _leaves_open(case, judged) and self._due(tx, thread) is not None:
                put_job(tx, thread, now)  # the next message came meanwhile, or with this one

    def _due(self, tx: Transaction, identity: UUID) -> tuple[Thread, Observation, int, Features] | None:
        """Return the message of a thread that is to be judged next, its number and its features."""
        thread = tx.threads.get(identity)
        if thread is None or self._parts.link_policy == OFF or thread.selected_at is not None:
            return None
        page = all_heard(tx.threads.observations(identity, 0, PAGE - 1))
        said = [o for o in page if opens_turn(o)][:LAST_TRY]
        decisions = tx.episodes.decisions(subject=identity, type=LINK)
        judged = {d.detail.get("observation") for d in decisions}
        unsettled = is_unsettled(decisions)
        for number, message in enumerate(said, 1):
            if str(message.id) in judged:
                continue
            (features,) = self._reader.messages(tx, [message])
            if due(number, features, explicit=thread.explicit, unsettled=unsettled):
                return thread, message, number, features
            return None
        return None

    def _case(self, tx: Transaction, identity: UUID, *, asks: bool) -> _Case | None:
        """Read everything a judgement needs."""
        wanted = self._due(tx, identity)
        if wanted is None:
            return None
        thread, message, number, features = wanted
        own = tx.threads.number(identity)
        ref = ref_of(own, message.seq)
        stored = tx.index.vectors(OBSERVATIONS, self._parts.embedder_name, [ref])
        searched = Wanted(
            text=message.text[:LONGEST],
            at=message.at,
            vector=stored.get(ref),
            utc_offset=None if message.utc_offset is None else timedelta(seconds=message.utc_offset),
            began=thread.created_at,
            number=own,
            apart_from=frozenset([identity]),
        )
        found, threads = self._compared(tx, searched)
        policy = policy_in_force(tx, self._parts.link_policy)
        case = _Case(thread, message, number, features, found, threads, policy)
        if not asks:
            return case
        best = self._evidence(case)[:MOST_THREADS]
        by_name = {str(one.thread.id): one.thread for one in found}
        earlier = shown(tx, [by_name[one.thread_id] for one in best], message)
        return replace(case, earlier=earlier, guidance=guidance_in_force(tx))

    def _compared(self, tx: Transaction, wanted: Wanted) -> tuple[list[Found], list[ThreadFeatures]]:
        """Return the candidates that held something at the time, and what they were."""
        found = find(tx, wanted, self._parts)
        read = self._reader.threads(tx, [one.thread for one in found], wanted.at)
        held = [(one, thread) for one, thread in zip(found, read, strict=True) if thread is not None]
        return [one for one, _ in held], [thread for _, thread in held]

    def _evidence(self, case: _Case) -> Sequence[Evidence]:
        calibration = self._parts.calibration
        return judge(case.features, case.threads, case.message.at, case.policy, calibration=calibration)

    def _judge(self, case: _Case, call: Call | None, begun: float) -> _Judged:
        """Let the algorithm score the candidates while the model thinks, and join what both say."""
        started = self._ticks()
        evidence = self._evidence(case)
        ended = self._ticks()
        paths: dict[str, Json] = {"algorithm": _span(started, ended, begun)}
        answer = None if call is None else call.answer(self._patience)
        if answer is not None:
            paths["llm"] = _span(answer.started, answer.ended, begun)
            paths["overlap"] = round(max(0.0, min(ended, answer.ended) - max(started, answer.started)), 6)
        opinions = {} if answer is None else answer.opinions
        verdicts = [decide(one, case.policy, opinions.get(one.thread_id)) for one in evidence]
        return _Judged(verdicts, answer, paths)

    def _write(self, tx: Transaction, case: _Case, judged: _Judged, now: datetime) -> None:
        links = tx.links.of([case.thread.id], taken_back=True)
        there = {other_end(link, case.thread.id): link for link in links}
        joined = []
        for decision in self._decisions(case, judged, there, now):
            tx.episodes.decide(decision)
            other = UUID(str(decision.detail["candidate"]))
            link = self._link(case, decision, there.get(other), now)
            if link is not None:
                tx.links.put(link)
                joined.append(other)
        self._ask_what_came(tx, case, now)
        if joined:
            grow(tx, [case.thread.id, *joined], now)

    def _ask_what_came(self, tx: Transaction, case: _Case, now: datetime) -> None:
        """Ask to hear what was said since the message; what is said from now on asks by itself (`listen`)."""
        tx.threads.frame(case.thread.id)  # in order to write: who appends now finds these decisions
        thread = tx.threads.get(case.thread.id)
        if thread is not None and thread.turn_count > case.number:
            ask_for_outcomes(tx, thread.id, now)
        else:
            ask_for_tuning(tx, self._parts.link_policy, now)  # else whoever hears what was said asks for it

    def _link(self, case: _Case, decision: Decision, there: Link | None, now: datetime) -> Link | None:
        """Return the link to be written; None where there is none, or nothing better than what stands."""
        if decision.verdict != "LINK":
            return None
        if there is not None:  # what a person took back stays so; doubt may be lifted
            firmer = there.label == UNCERTAIN and decision.confidence_label != UNCERTAIN
            lifted = there.unlinked_at is None and firmer
            return (
                replace(there, label=decision.confidence_label, decision_id=decision.id) if lifted else None
            )
        basis = RECALL if case.features.cues.recall else CONTINUITY
        other = UUID(str(decision.detail["candidate"]))
        return Link(other, case.thread.id, now, basis, decision.confidence_label, decision.id)

    def _decisions(
        self, case: _Case, judged: _Judged, there: Mapping[UUID, Link], now: datetime
    ) -> list[Decision]:
        """Return the decisions that are kept: what was linked or unsure, and the best of the others."""
        why = {one.candidate.thread_id: list(one.candidate.why) for one in case.found}
        asked = {one.thread_id for one in case.earlier}
        kept = [
            v
            for n, v in enumerate(judged.verdicts)
            if v.link or n < BEST or v.thread_id in asked or (v.label == UNCERTAIN and n < MOST_UNSURE)
        ]
        names = {v.thread_id for v in kept}
        others: list[Mapping[str, Json]] = [
            {"candidate": v.thread_id, "score": round(v.algorithmic, 6), "why": why[v.thread_id]}
            for v in judged.verdicts
            if v.thread_id not in names
        ]
        made = []
        for place, verdict in enumerate(kept):
            answer = judged.answer if verdict.thread_id in asked else None
            before = there.get(UUID(verdict.thread_id))
            detail: dict[str, Json] = {
                **self._shared(case),
                "candidate": verdict.thread_id,
                "why": why[verdict.thread_id],
                "rank": place,
                "confidence": verdict.confidence,
                "disagreement": verdict.disagreement,
                "taken_back": before is not None and before.unlinked_at is not None,
                "llm": None if answer is None else answer.told(verdict.thread_id),
                "paths": judged.paths,
            }
            made.append(_decision(case, verdict, detail, () if place else others, now))
        return made

    def _shared(self, case: _Case) -> dict[str, Json]:
        """Return what all decisions about a message keep of it."""
        return {
            "observation": str(case.message.id),
            "number": case.number,
            "elliptical": case.features.elliptical,
            "explicit": case.thread.explicit,
            "vectors": case.features.vector is not None,
            "without_vectors": self._bare(case.features),
        }

    def _bare(self, features: Features) -> str:
        """Say why a message was judged by words alone; nothing where it was not."""
        if features.vector is not None:
            return ""
        if self._parts.embedder is None:
            return "there is no embedder"
        if not weighs_vectors(self._parts):
            return f"linking has not learned to read {self._parts.embedder_name}; `calibrate` teaches it"
        return "the message had no vector yet: the embedder was away"

    # --- without a trace ---------------------------------------------------------------------------------

    def foreseen(
        self,
        tx: Transaction,
        text: str,
        vector: Vector | None,
        at: datetime,
        apart_from: Sequence[UUID] = (),
        *,
        utc_offset: timedelta | None = None,
    ) -> list[tuple[UUID, LinkVerdict]]:
        """Return what the algorithm would say of a message that nobody added, best first; writes nothing.

        `vector` is the message's embedding by this memory's embedder, `apart_from` its own thread.
        """
        if self._parts.link_policy == OFF:
            return []
        weighed = vector if weighs_vectors(self._parts) else None
        text = text[:LONGEST]
        features = read_message(text, at, vector=weighed, language=self._parts.language)
        wanted = Wanted(text, at, vector, utc_offset, apart_from=frozenset(apart_from))
        _, threads = self._compared(tx, wanted)
        policy = policy_in_force(tx, self._parts.link_policy)
        found = judge(features, threads, at, policy, calibration=self._parts.calibration)
        return [(UUID(one.thread_id), decide(one, policy)) for one in found]

    def expected(
        self, tx: Transaction, text: str, vector: Vector | None, at: datetime, apart_from: UUID | None
    ) -> list[tuple[UUID, str, bool]]:
        """Return what such a message would be linked to: the thread, on what basis, and whether unsure."""
        own = () if apart_from is None else (apart_from,)
        basis = RECALL if cues(text).recall else CONTINUITY
        found = self.foreseen(tx, text, vector, at, own)
        return [(one, basis, v.label == UNCERTAIN) for one, v in found if v.verdict == "LINK"]


def _leaves_open(case: _Case, judged: _Judged | None) -> bool:
    """Tell whether the next message, if there is one already, is to be judged too."""
    if judged is None or case.number >= LAST_TRY:
        return False
    return case.features.elliptical or any(v.label == UNCERTAIN for v in judged.verdicts)


def _decision(
    case: _Case,
    verdict: LinkVerdict,
    detail: Mapping[str, Json],
    others: Sequence[Mapping[str, Json]],
    now: datetime,
) -> Decision:
    return Decision(
        id=decision_id(case.thread.id, f"{LINK}-{case.message.id}-{verdict.thread_id}"),
        type=LINK,
        at=now,
        subject=case.thread.id,
        features=verdict.recorded(),
        score=verdict.algorithmic,
        threshold=verdict.threshold,
        verdict=verdict.verdict,
        policy_version=verdict.policy,
        confidence_label=verdict.label,
        alternatives=others,
        detail=detail,
    )


def _span(started: float, ended: float, begun: float) -> Mapping[str, Json]:
    """Return when a path started and ended, in seconds since the first of them began."""
    return {"started": round(started - begun, 6), "ended": round(ended - begun, 6)}


# --- by hand ---------------------------------------------------------------------------------------------


def link_by_hand(tx: Transaction, one: Thread, other: Thread, now: datetime) -> Link:
    """Link two threads, whatever was decided about them before."""
    tx.threads.hold()
    earlier, later = sorted((one, other), key=lambda t: (t.created_at, tx.threads.number(t.id)))
    link = Link(earlier.id, later.id, now, HAND)
    tx.links.put(link)
    grow(tx, [earlier.id, later.id], now)
    return link


def unlink(tx: Transaction, link: Link, now: datetime) -> Link:
    """Take a link back; it stays as a tombstone, so that nobody but a person links the two again."""
    tx.threads.hold()
    gone = replace(link, unlinked_at=now)
    tx.links.put(gone)
    settle(tx, [link.earlier, link.later], now)
    return gone
