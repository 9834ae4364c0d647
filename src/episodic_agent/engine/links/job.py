"""Link a new thread to the earlier ones it goes on with: the `link` job, from a message to its effect.

The message that may need it asks for a job in its own transaction. The job reads candidates and evidence in
one transaction, asks a language model outside any (where one is configured) while the algorithm computes,
and writes decisions, links and the cross-thread episode in one more. Everything goes by event time.
"""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from episodic_agent.core.echo import all_own_words
from episodic_agent.core.identity import decision_id
from episodic_agent.core.links.candidates import LAST_TRY, ThreadCandidate, due
from episodic_agent.core.links.choice import Talk, choose, talk_of
from episodic_agent.core.links.evidence import LinkEvidence, judge
from episodic_agent.core.links.features import Features, ThreadFeatures, cues, recalls
from episodic_agent.core.links.outcomes import only_denies, reminds
from episodic_agent.core.links.policies import AT_END, SAYS_NOTHING, ChoicePolicy, LinkPolicy
from episodic_agent.core.links.reading import read_message
from episodic_agent.core.links.verdict import UNCERTAIN, LinkVerdict, Opinion, compete, decide, settled
from episodic_agent.core.prompts.thread_link import MOST_OPTIONS, MOST_THREADS, STAGE
from episodic_agent.core.threads.channels import projects_of
from episodic_agent.core.threads.turns import opens_turn
from episodic_agent.engine.deps import LINK_PATIENCE, NO_LINKING, Deps
from episodic_agent.engine.jobs.kinds import LINK
from episodic_agent.engine.links.candidates import (
    LONGEST,
    OF_CHOICES,
    PAGE,
    CandidateThread,
    EarlierThreads,
    ThreadReader,
    find,
    sittings_of,
    talk_from,
    talks,
    weighs_vectors,
    with_latest,
)
from episodic_agent.engine.links.joining import HAND, grow, other_end
from episodic_agent.engine.links.linked import holds
from episodic_agent.engine.links.opinions import (
    Ahead,
    Call,
    LinkQuestion,
    OpinionAnswer,
    choice_of,
    is_settled,
    options_of,
    question_of,
    settles,
    shown,
)
from episodic_agent.engine.tuning.outcomes import Listener, ask_for_outcomes
from episodic_agent.engine.tuning.runs import ask_for_tuning, guidance_in_force, policy_in_force
from episodic_agent.protocols import OBSERVATIONS, LanguageModel, Transaction, ref_of
from episodic_agent.schemas import Decision, Job, Json, Kind, Link, Observation, Scope, Thread, Vector

OFF: Final = NO_LINKING
CONTINUITY, RECALL = "continuity", "recall"  # what a link rests on, where nobody made it by hand
RECALLING: Final = 24  # messages from the end among which one may recall an earlier conversation
BEST: Final = 3  # candidates that leave a decision of their own in any case
FEWEST_OPTIONS: Final = 4  # that a language model is shown, where there are so many
UNLIKELY: Final = 0.01  # the share below which another is not shown to it
MOST_UNSURE: Final = 8  # and as many where the verdict was uncertain
_UNSTORED: Final = UUID(int=0)  # the id of a message that is not stored


# --- when ------------------------------------------------------------------------------------------------


def ask_for_link(tx: Transaction, thread: Thread, observations: Sequence[Observation], now: datetime) -> None:
    """Ask for a job where one of these messages is to be linked; `thread` is as it was before them.

    After the first messages of a thread only one that recalls an earlier conversation asks for it; what was
    selected is never linked.
    """
    if thread.modality != "message" or thread.selected_at is not None:
        return
    spoken = [o for o in observations if opens_turn(o)]
    if not spoken:
        return
    fresh = not thread.turn_count and not thread.explicit
    if fresh or any(reminds(o.text) for o in spoken) or _is_doubted(tx, thread):
        put_job(tx, thread.id, now)


def _is_doubted(tx: Transaction, thread: Thread) -> bool:
    if thread.explicit or thread.turn_count >= LAST_TRY:
        return False
    return is_unsettled(tx.knowledge.decisions(subject=thread.id, type=LINK))


def put_job(tx: Transaction, thread: UUID, now: datetime) -> None:
    """Ask for the job of a thread; those of a scope run one after another, as their threads came."""
    tx.upkeep.ask(LINK, str(thread), LINK, now=now)


def is_unsettled(decisions: Sequence[Decision]) -> bool:
    """Tell whether the last message that was judged left room for doubt, or was elliptical.

    A choice that did not end in a sure link is asked again: after the reply and a second turn it sees most of
    what it would see at the end. One that a language model made is asked again only where it was unsure, or
    the message elliptical.
    """
    judged = [d for d in decisions if not d.features.get(AT_END)]
    if not judged:
        return False
    last = max(_number(d) for d in judged)
    newest = [d for d in judged if _number(d) == last]
    settled_here = is_settled(newest)
    if settled_here is not None:
        return not settled_here
    asked = any(
        _has_opinion(d.detail.get("llm")) for d in newest
    )  # a second judge makes up for what is not seen
    sure = any(d.verdict == "LINK" and d.confidence_label != UNCERTAIN for d in newest)
    if not asked and not sure and any(d.detail.get("chosen") for d in newest):
        return True
    return any(d.confidence_label == UNCERTAIN or bool(d.detail.get("elliptical")) for d in newest)


def _has_opinion(answer: Json) -> bool:
    return isinstance(answer, Mapping) and "related" in answer


def _number(decision: Decision) -> int:
    number = decision.detail.get("number")
    return number if isinstance(number, int) else 0


# --- the job ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _LinkCase:
    """A message to be judged, with everything that was read for it.

    `apart` are threads whose link with the message's own was taken back. Where the policy chooses, `talk` is
    what was said in the message's thread up to it, and `talks` are its candidates; `question` is what a
    language model is to be asked, if it is; `asked` are the candidates it is shown, and `ahead` what it
    answered before the message was stored.
    """

    thread: Thread
    message: Observation
    number: int
    features: Features
    candidates: Sequence[CandidateThread]
    threads: Sequence[ThreadFeatures]
    policy: LinkPolicy
    apart: frozenset[str] = frozenset()
    talk: Talk | None = None
    talks: Sequence[Talk] = ()
    question: LinkQuestion | None = None
    asked: frozenset[str] = frozenset()
    ahead: OpinionAnswer | None = None


@dataclass(frozen=True, slots=True)
class Options:
    """What one choice is made of: sittings by their first threads, and what was said in them, in parallel.

    `named` has for each thread of a sitting the first one, `groups` all threads of a sitting by it.
    """

    candidates: Sequence[CandidateThread] = ()
    talks: Sequence[Talk] = ()
    named: Mapping[UUID, UUID] = field(default_factory=dict)
    groups: Mapping[str, Sequence[Thread]] = field(default_factory=dict)

    def best(self, tx: Transaction, evidence: Sequence[LinkEvidence]) -> list[Sequence[Thread]]:
        """Return the sittings that a language model is shown, best first: few where few are likely at all.

        Where a matter went on, what dealt with it last stands behind it. The latest of all is among them:
        words that mean little by themselves mostly go on with what was left last, and share nothing with it.
        """
        likely = [e.thread_id for n, e in enumerate(evidence) if n < FEWEST_OPTIONS or e.score >= UNLIKELY]
        compared = {one.thread_id for one in evidence}
        ends = {talk.thread_id: talk.last_at for talk in self.talks if talk.thread_id in compared}
        shown = with_latest(tx, likely[:MOST_OPTIONS], ends, self.named, MOST_OPTIONS)
        latest = max(self.talks, key=lambda talk: talk.last_at).thread_id
        if latest in compared - {*shown}:
            shown = [*shown[: MOST_OPTIONS - 1], latest]
        return [self.groups[name] for name in shown]


@dataclass(frozen=True, slots=True)
class _Judged:
    """The verdicts on a case, best first, and how the two paths went (seconds since the first began)."""

    verdicts: Sequence[LinkVerdict]
    answer: OpinionAnswer | None = None
    paths: Mapping[str, Json] = field(default_factory=dict)


class Linker:
    """The handler of `link` jobs, and the same judgement without a trace (`foreseen`)."""

    def __init__(
        self, deps: Deps, *, ticks: Callable[[], float] = time.monotonic, patience: float = LINK_PATIENCE
    ) -> None:
        """Take `ticks` to time both paths by, in seconds, and `patience` for the model's answer."""
        self._deps = deps
        self._reader = ThreadReader(deps)
        self._listener = Listener(deps)
        self._ticks = ticks
        self._patience = patience
        self._ahead = Ahead()

    def handle(self, scope: Scope, jobs: Sequence[Job]) -> None:
        """Judge one message for each job; a thread with nothing to judge only ends its job."""
        for job in jobs:
            self._settle(scope, job)

    def _settle(self, scope: Scope, job: Job) -> None:
        thread = UUID(job.key)
        model = None if self._deps.link_policy == OFF else self._deps.model_for(scope, STAGE)
        case = self._read(scope, thread, asks=model is not None)
        if case is not None and case.number > 1 and self._listener.hear(scope, thread):
            case = self._read(scope, thread, asks=model is not None)  # what was denied competes no more
        judged = None
        if case is not None and case.threads:
            begun = self._ticks()
            call = None
            if model is not None and case.question is not None and case.ahead is None:
                call = Call(model, case.question, self._ticks)
            judged = self._judge(case, call, begun)
        with self._deps.store.begin(scope) as tx:
            tx.hold("threads")
            now = self._deps.clock()
            if case is not None and judged is not None:
                self._write(tx, case, judged, now)
            tx.upkeep.drop(job)
            if case is not None and _leaves_open(case, judged) and self._due(tx, thread) is not None:
                put_job(tx, thread, now)  # the next message came meanwhile, or with this one

    def _read(self, scope: Scope, thread: UUID, *, asks: bool) -> _LinkCase | None:
        with self._deps.store.begin(scope, write=False) as tx:
            return self._case(tx, thread, asks=asks)

    def _due(self, tx: Transaction, identity: UUID) -> tuple[Thread, Observation, int, Features] | None:
        """Return the message of a thread that is to be judged next, its number and its features."""
        thread = tx.threads.get(identity)
        if thread is None or self._deps.link_policy == OFF or thread.selected_at is not None:
            return None
        page = all_own_words(tx.observations.read(identity, 0, PAGE - 1))
        observations = [o for o in page if opens_turn(o)][:LAST_TRY]
        decisions = tx.knowledge.decisions(subject=identity, type=LINK)
        judged = {d.detail.get("observation") for d in decisions}
        unsettled = is_unsettled(decisions)
        for number, message in enumerate(observations, 1):
            if str(message.id) in judged or (number > 1 and self._tells_nothing(message.text)):
                continue
            (features,) = self._reader.messages(tx, [message])
            if due(number, features, explicit=thread.explicit, unsettled=unsettled):
                return thread, message, number, features
            break
        return self._recalling(tx, thread, judged) if self._deps.judges_ends else None

    def _recalling(
        self, tx: Transaction, thread: Thread, judged: Collection[object]
    ) -> tuple[Thread, Observation, int, Features] | None:
        """Return the newest message that recalls an earlier conversation, in whichever turn it was said."""
        last = tx.threads.frame(thread.id).next_seq - 1
        page = all_own_words(tx.observations.read(thread.id, max(0, last - RECALLING + 1), last))
        spoken = [o for o in page if opens_turn(o)]
        for place, message in enumerate(reversed(spoken)):
            if reminds(message.text) and str(message.id) not in judged:
                (features,) = self._reader.messages(tx, [message])
                return thread, message, thread.turn_count - place, features
        return None

    def _tells_nothing(self, text: str) -> bool:
        """Tell whether a later turn says nothing of its own; a choice has seen all that went before it."""
        return only_denies(text) or (self._deps.judges_ends and cues(text).nothing)

    def _case(self, tx: Transaction, identity: UUID, *, asks: bool) -> _LinkCase | None:
        """Read everything a judgement needs."""
        targets = self._due(tx, identity)
        if targets is None:
            return None
        thread, message, number, features = targets
        own = tx.threads.number(identity)
        ref = ref_of(own, message.seq)
        stored = tx.index.vectors(OBSERVATIONS, self._deps.embedder_name, [ref])
        searched = EarlierThreads(
            text=message.text[:LONGEST],
            at=message.at,
            vector=stored.get(ref),
            utc_offset=None if message.utc_offset is None else timedelta(seconds=message.utc_offset),
            began=thread.created_at,
            number=own,
            apart_from=frozenset([identity]),
            projects=projects_of(thread.channels),
        )
        links = tx.threads.links([identity], taken_back=True)
        apart = frozenset(str(other_end(link, identity)) for link in links if link.unlinked_at is not None)
        policy = policy_in_force(tx, self._deps.link_policy)
        talk, options = None, Options()
        if isinstance(policy, ChoicePolicy):
            options = self.options(tx, searched, but=apart)
            candidates, threads = list(options.candidates), [one.thread for one in options.talks]
            # a link that was denied: what is said then, not what went before it, tells what was meant
            late = number > LAST_TRY  # and of a thread that has long been about something, what recalls
            talk = self._talk_up_to(tx, thread, message, features, alone=late or bool(apart))
        else:
            candidates, threads = self._compared(tx, searched)
        case = _LinkCase(
            thread, message, number, features, candidates, threads, policy, apart, talk, options.talks
        )
        if not asks or not threads:
            return case
        if isinstance(policy, ChoicePolicy):
            return self._to_choose(tx, case, policy, options)
        best = self._evidence(case)[:MOST_THREADS]
        by_name = {str(one.thread.id): one.thread for one in candidates}
        earlier = shown(tx, [by_name[one.thread_id] for one in best], message)
        asked = frozenset(one.thread_id for one in best)
        return replace(case, question=question_of(message, earlier, guidance_in_force(tx)), asked=asked)

    def _to_choose(
        self, tx: Transaction, case: _LinkCase, policy: ChoicePolicy, options: Options
    ) -> _LinkCase:
        """Return a case with what a model is asked; nothing where the message says nothing at all."""
        evidence = self._evidence(case)
        if case.talk is None or evidence[0].features[SAYS_NOTHING]:
            return case
        message = case.message
        answer = self._ahead.of(tx.scope, message.text[:LONGEST], message.at, evidence, policy)
        if answer is not None:
            return replace(case, ahead=answer, asked=frozenset(answer.opinions))
        if evidence[0].score < policy.ask:
            return case
        alone = len(case.talk.turns) == 1
        page = [] if alone else all_own_words(tx.observations.read(case.thread.id, 0, message.seq))
        spoken = [o for o in page if o.kind is Kind.MESSAGE and o.text.strip()] or [message]
        best = options.best(tx, evidence)
        offered = options_of(tx, self._reader, best, case.talk.turns, message.at)
        question = choice_of(spoken, offered, guidance_in_force(tx))
        return replace(case, question=question, asked=frozenset(one.thread_id for one in offered))

    def _compared(
        self, tx: Transaction, query: EarlierThreads
    ) -> tuple[list[CandidateThread], list[ThreadFeatures]]:
        """Return the candidates that held something at the time, and what they were."""
        candidates = find(tx, query, self._deps)
        read = self._reader.threads(tx, [one.thread for one in candidates], query.at)
        held = [(one, thread) for one, thread in zip(candidates, read, strict=True) if thread is not None]
        return [one for one, _ in held], [thread for _, thread in held]

    def options(
        self,
        tx: Transaction,
        query: EarlierThreads,
        *,
        also: Sequence[UUID] = (),
        but: Collection[str] = (),
    ) -> Options:
        """Return what one choice is made of; `also` are threads to be compared in any case, `but` in none.

        What was taken back is no rival: else it would keep what was meant instead from being chosen.
        """
        near = {one.thread.id: one for one in find(tx, query, self._deps, OF_CHOICES)}
        missing = tx.threads.list(ids=[i for i in also if i not in near]) if also else ()
        near |= {t.id: CandidateThread(t, ThreadCandidate(str(t.id), ("linked",))) for t in missing}
        groups = sittings_of([one.thread for one in near.values() if str(one.thread.id) not in but])
        read = talks(tx, self._reader, groups, query.at)
        pairs = [(group, talk) for group, talk in zip(groups, read, strict=True) if talk is not None]
        return Options(
            [near[group[0].id] for group, _ in pairs],
            [talk for _, talk in pairs],
            {t.id: group[0].id for group, _ in pairs for t in group},
            {str(group[0].id): group for group, _ in pairs},
        )

    def talk(self, tx: Transaction, group: Sequence[Thread]) -> Talk | None:
        """Return all that was said in a sitting by now."""
        return talks(tx, self._reader, [group], max(t.last_activity_at for t in group))[0]

    def _talk_up_to(
        self, tx: Transaction, thread: Thread, message: Observation, features: Features, *, alone: bool
    ) -> Talk:
        """Return what was said in a thread up to a message, or the message `alone`."""
        page = [] if alone else all_own_words(tx.observations.read(thread.id, 0, message.seq))
        observations = [o for o in page if o.kind is Kind.MESSAGE and o.text.strip() and o.id != message.id]
        before = self._reader.messages(tx, observations)
        read = {o.id: one for o, one in zip(observations, before, strict=True)} | {message.id: features}
        return talk_from(str(thread.id), [thread], [*observations, message], read)

    def _evidence(self, case: _LinkCase) -> Sequence[LinkEvidence]:
        calibration = self._deps.calibration
        if case.talk is not None and isinstance(case.policy, ChoicePolicy):
            return choose(case.talk, case.talks, case.policy, at_end=False, calibration=calibration)
        return judge(case.features, case.threads, case.message.at, case.policy, calibration=calibration)

    def _judge(self, case: _LinkCase, call: Call | None, begun: float) -> _Judged:
        """Let the algorithm score the candidates while the model thinks, and join what both say."""
        started = self._ticks()
        evidence = self._evidence(case)
        ended = self._ticks()
        paths: dict[str, Json] = {}  # a path alone is not timed: told twice, a memory is the same
        answer = case.ahead if call is None else call.answer(self._patience)
        if answer is not None and call is not None:
            paths["algorithm"] = _span(started, ended, begun)
            paths["llm"] = _span(answer.started, answer.ended, begun)
            paths["overlap"] = round(max(0.0, min(ended, answer.ended) - max(started, answer.started)), 6)
        opinions = {} if answer is None else answer.opinions
        alone = verdicts_of(evidence, case.policy, opinions)
        verdicts = compete(alone, case.features.most, case.apart)
        return _Judged(verdicts, answer, paths)

    def _write(self, tx: Transaction, case: _LinkCase, judged: _Judged, now: datetime) -> None:
        links = tx.threads.links([case.thread.id], taken_back=True)
        there = {other_end(link, case.thread.id): link for link in links}
        joined = []
        for decision in self._decisions(case, judged, there, now):
            tx.knowledge.decide(decision)
            other = UUID(str(decision.detail["candidate"]))
            before = there.get(other)
            if before is not None and not holds(tx, before):
                continue  # what turned out wrong is made no surer
            link = self._link(case, decision, before, now)
            if link is not None:
                tx.threads.save(link)
                joined.append(other)
        self._ask_what_came(tx, case, now)
        if joined:
            grow(tx, case.thread.id, joined, now)

    def _ask_what_came(self, tx: Transaction, case: _LinkCase, now: datetime) -> None:
        """Ask to hear what was said since the message; what is said from now on asks by itself (`listen`)."""
        tx.threads.frame(case.thread.id)  # in order to write: who appends now finds these decisions
        thread = tx.threads.get(case.thread.id)
        if thread is not None and thread.turn_count > case.number:
            ask_for_outcomes(tx, thread.id, now)
        else:
            ask_for_tuning(tx, self._deps.link_policy, now)  # else whoever hears what was said asks for it

    def _link(self, case: _LinkCase, decision: Decision, there: Link | None, now: datetime) -> Link | None:
        """Return the link to be written; None where there is none, or nothing better than what stands."""
        if decision.verdict != "LINK":
            return None
        if there is not None:  # what a person took back stays so; doubt may be lifted
            firmer = there.label == UNCERTAIN and decision.confidence_label != UNCERTAIN
            lifted = there.unlinked_at is None and firmer
            return (
                replace(there, label=decision.confidence_label, decision_id=decision.id) if lifted else None
            )
        if case.number > LAST_TRY and decision.confidence_label == UNCERTAIN:
            return None  # a thread that has long been about something: words like a reminder's are not enough
        basis = self._basis(case.message.text)
        other = UUID(str(decision.detail["candidate"]))
        return Link(other, case.thread.id, now, basis, decision.confidence_label, decision.id)

    def _basis(self, text: str) -> str:
        """Say what a link at a message rests on; a founding policy knows only the document's cues."""
        return RECALL if (reminds if self._deps.judges_ends else recalls)(text) else CONTINUITY

    def _decisions(
        self, case: _LinkCase, judged: _Judged, there: Mapping[UUID, Link], now: datetime
    ) -> list[Decision]:
        """Return the decisions that are kept: what was linked, yielded or unsure, and the best others."""
        why = {one.candidate.thread_id: list(one.candidate.why) for one in case.candidates}
        asked = case.asked
        verdicts = [
            v
            for n, v in enumerate(judged.verdicts)
            if v.link
            or v.yields
            or n < BEST
            or v.thread_id in asked
            or (v.label == UNCERTAIN and n < MOST_UNSURE)
        ]
        names = {v.thread_id for v in verdicts}
        others: list[Mapping[str, Json]] = [
            {"candidate": v.thread_id, "score": round(v.algorithmic, 6), "why": why[v.thread_id]}
            for v in judged.verdicts
            if v.thread_id not in names
        ]
        made = []
        for place, verdict in enumerate(verdicts):
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
                "llm": None if answer is None else answer.as_json(verdict.thread_id),
                "paths": judged.paths,
            }
            seen = () if place else others
            made.append(decision_of(verdict, case.thread.id, str(case.message.id), detail, seen, now))
        return made

    def _shared(self, case: _LinkCase) -> dict[str, Json]:
        """Return what all decisions about a message keep of it."""
        return {
            "observation": str(case.message.id),
            "number": case.number,
            "elliptical": case.features.elliptical,
            "explicit": case.thread.explicit,
            "vectors": case.features.vector is not None,
            "without_vectors": self.bare(case.features),
            **({} if case.talk is None else {"chosen": True}),
        }

    def bare(self, features: Features) -> str:
        """Say why a message was judged by words alone; nothing where it was not."""
        if features.vector is not None:
            return ""
        if self._deps.embedder is None:
            return "there is no embedder"
        if not weighs_vectors(self._deps):
            return f"linking has not learned to read {self._deps.embedder_name}; `calibrate` teaches it"
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
        channel: str | None = None,
    ) -> list[tuple[UUID, LinkVerdict]]:
        """Return what the algorithm would say of a message that nobody added, best first; writes nothing.

        `vector` is the message's embedding by this memory's embedder, `apart_from` its own thread, `channel`
        the one it would come by.
        """
        if self._deps.link_policy == OFF:
            return []
        policy = policy_in_force(tx, self._deps.link_policy)
        text = text[:LONGEST]
        channels = [] if channel is None else [channel]
        query = EarlierThreads(
            text,
            at,
            vector,
            utc_offset,
            apart_from=frozenset(apart_from),
            projects=projects_of(channels),
        )
        features = self._unstored(text, vector, at)
        opinions: Mapping[str, Opinion] = {}
        if isinstance(policy, ChoicePolicy):
            talk = talk_of("", [(at, features)], channels=channels)
            evidence = self._chosen(talk, self.options(tx, query), policy)
            answer = self._ahead.of(tx.scope, text, at, evidence, policy)
            opinions = {} if answer is None else answer.opinions
        else:
            _, threads = self._compared(tx, query)
            evidence = judge(features, threads, at, policy, calibration=self._deps.calibration)
        verdicts = compete(verdicts_of(evidence, policy, opinions), features.most)
        return [(UUID(one.thread_id), one) for one in verdicts]

    def _unstored(self, text: str, vector: Vector | None, at: datetime) -> Features:
        weighed = vector if weighs_vectors(self._deps) else None
        return read_message(text, at, vector=weighed, language=self._deps.language)

    def _chosen(self, talk: Talk, options: Options, policy: ChoicePolicy) -> Sequence[LinkEvidence]:
        return choose(talk, options.talks, policy, at_end=False, calibration=self._deps.calibration)

    def ask_ahead(
        self, scope: Scope, text: str, actor: str, vector: Vector | None, at: datetime, channel: str | None
    ) -> None:
        """Ask a language model about a message that is not stored yet, and remember what it answers.

        Nothing is asked where the policy makes no choice, there is no model or nothing to compare, or it was
        asked lately.
        """
        model = self._deps.model_for(scope, STAGE) if self._deps.judges_ends else None
        if model is None:
            return
        text = text[:LONGEST]
        with self._deps.store.begin(scope, write=False) as tx:
            policy = policy_in_force(tx, self._deps.link_policy)
            if not isinstance(policy, ChoicePolicy):
                return
            features = self._unstored(text, vector, at)
            channels = [] if channel is None else [channel]
            talk = talk_of("", [(at, features)], channels=channels)
            query = EarlierThreads(text, at, vector, projects=projects_of(channels))
            options = self.options(tx, query)
            evidence = self._chosen(talk, options, policy)
            known = self._ahead.of(scope, text, at, evidence, policy)
            if not evidence or known is not None or evidence[0].features[SAYS_NOTHING]:
                return
            offered = options_of(tx, self._reader, options.best(tx, evidence), [features], at)
            message = Observation(_UNSTORED, _UNSTORED, 0, at, at, actor, text)
            question = choice_of([message], offered, guidance_in_force(tx))
        answer = self.asked(model, question)
        if answer.opinions:
            self._ahead.note(scope, text, at, answer)

    def asked(self, model: LanguageModel, question: LinkQuestion) -> OpinionAnswer:
        """Ask a model and wait for its answer as long as linking waits; no transaction is open meanwhile."""
        return Call(model, question, self._ticks).answer(self._patience)

    def to_ask_at_end(
        self,
        tx: Transaction,
        talk: Talk,
        spoken: Sequence[Observation],
        options: Options,
        evidence: Sequence[LinkEvidence],
    ) -> LinkQuestion:
        """Return what a model is asked about a thread that is over."""
        offered = options_of(tx, self._reader, options.best(tx, evidence), talk.turns, talk.last_at)
        return choice_of(spoken, offered, guidance_in_force(tx))

    def expected(
        self, tx: Transaction, text: str, vector: Vector | None, at: datetime, apart_from: UUID | None
    ) -> list[tuple[UUID, str, bool]]:
        """Return what such a message would be linked to: the thread, on what basis, and whether unsure."""
        own = () if apart_from is None else (apart_from,)
        basis = self._basis(text)
        pairs = self.foreseen(tx, text, vector, at, own)
        return [(one, basis, v.label == UNCERTAIN) for one, v in pairs if v.verdict == "LINK"]


def _leaves_open(case: _LinkCase, judged: _Judged | None) -> bool:
    """Tell whether the next message, if there is one already, is to be judged too."""
    if judged is None or case.number >= LAST_TRY:
        return False
    settled_here = settles(judged.verdicts, elliptical=case.features.elliptical)
    if settled_here is not None:
        return not settled_here
    alone = judged.answer is None or not judged.answer.opinions
    if case.talk is not None and alone and not any(v.link and v.label != UNCERTAIN for v in judged.verdicts):
        return True
    return case.features.elliptical or any(v.label == UNCERTAIN for v in judged.verdicts)


def verdicts_of(
    evidence: Sequence[LinkEvidence], policy: LinkPolicy, opinions: Mapping[str, Opinion]
) -> list[LinkVerdict]:
    """Return the verdicts on candidates: a choice that a model made stands, else both judges are joined."""
    if opinions and policy.chooses:
        return [settled(one, policy, opinions.get(one.thread_id)) for one in evidence]
    return [decide(one, policy, opinions.get(one.thread_id)) for one in evidence]


def decision_of(
    verdict: LinkVerdict,
    thread: UUID,
    moment: str,
    detail: Mapping[str, Json],
    others: Sequence[Mapping[str, Json]],
    now: datetime,
) -> Decision:
    """Return the record of a verdict about a thread; `moment` says on which message, or end, it rests."""
    return Decision(
        id=decision_id(thread, f"{LINK}-{moment}-{verdict.thread_id}"),
        type=LINK,
        at=now,
        subject=thread,
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


def link_by_hand(tx: Transaction, thread: Thread, other: Thread, now: datetime) -> Link:
    """Link two threads, whatever was decided about them before."""
    tx.hold("threads")
    earlier, later = sorted((thread, other), key=lambda t: (t.created_at, tx.threads.number(t.id)))
    link = Link(earlier.id, later.id, now, HAND)
    tx.threads.save(link)
    grow(tx, later.id, [earlier.id], now)
    return link
