"""Which earlier session one goes on from: by its topic when it starts, by its words when it closes.

Everything is read in one transaction, judged outside of any, and written in one more. What was linked by
hand, by the caller or by a roll stays; what was taken back is not proposed again.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from episodic_agent.core.chains.deciding import (
    AUTO,
    RECENT,
    ROLL,
    SIMILAR,
    ChainChoice,
    decide,
    decision_of,
    unjudged_verdict,
)
from episodic_agent.core.chains.deciding import CHAIN as LINKED
from episodic_agent.core.chains.metadata import read_metadata
from episodic_agent.core.chains.policies import CLOSE_HOURS, ChainPolicy, SeedChain, chain_policy
from episodic_agent.core.chains.records import (
    MOST_TURNS,
    EpisodeStanding,
    EpisodeView,
    SessionTurn,
    shared_words,
    view_of,
    without,
)
from episodic_agent.core.chains.trees import ancestors
from episodic_agent.core.echo import all_own_words
from episodic_agent.core.episodes.languages import ASSISTANTS
from episodic_agent.core.language import fold
from episodic_agent.core.links.outcomes import BEHAVIOUR, CORRECT
from episodic_agent.core.threads.channels import projects_of
from episodic_agent.core.threads.turns import role_of
from episodic_agent.engine.chains.ancestry import OFF, parents_above
from episodic_agent.engine.chains.stories import text_vectors
from episodic_agent.engine.deps import Deps
from episodic_agent.engine.jobs.kinds import CHAIN
from episodic_agent.engine.links.candidates import weighs_vectors
from episodic_agent.engine.sections.bounds import went_on
from episodic_agent.engine.sections.searching import score_sections, sections_of
from episodic_agent.engine.threads.session_records import SESSION, agent_of, topic_of
from episodic_agent.engine.tuning.outcomes import KnownOutcome, labelled
from episodic_agent.engine.tuning.runs import ask_for_tuning, chain_policy_in_force
from episodic_agent.protocols import OBSERVATIONS, PARTS, Transaction, ref_of
from episodic_agent.schemas import (
    Decision,
    Episode,
    EpisodeKind,
    EpisodeState,
    Job,
    Kind,
    Observation,
    Scope,
    Vector,
)
from episodic_agent.schemas.chains import Refusal

REACH: Final = 32  # observations of a session among which its first messages are looked for


@dataclass(frozen=True, slots=True)
class _ChainCase:
    """A closed session, with everything that was read for it."""

    new: EpisodeView
    candidates: Sequence[EpisodeView]
    policy: ChainPolicy
    refusals: Sequence[Refusal]
    rolled: UUID | None = None  # the part of its thread it goes on from, in the middle of an event


class Chainer:
    """The handler of `chain` jobs."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps

    def opening(
        self, scope: Scope, new: EpisodeStanding, topic: str, vector: Vector | None
    ) -> ChainChoice | None:
        """Return which earlier session one that starts goes on from, by its topic and the topic's vector.

        None where sessions are not chained.
        """
        if self._deps.chain_policy == OFF:
            return None
        with self._deps.store.begin(scope, write=False) as tx:
            policy = chain_policy_in_force(tx, self._deps.chain_policy)
            latest = tx.episodes.latest(limit=RECENT, before=new.start_at)
            known = parents_above(tx, [*latest, *self._similar_episodes(tx, topic, vector)])
            earlier = list(tx.episodes.get(list(known)).values())
            shared = self._shared(tx, earlier, topic)
            candidates = self._views(tx, earlier, shared)
        if isinstance(policy, SeedChain):
            candidates = self._by_hand(candidates, earlier, new.start_at)
        seen = vector if self._compares() else None
        turn = SessionTurn(new.start_at, without(topic, shared), vector=seen)
        view = view_of(new, [turn], vector=seen, language=self._deps.language)
        return decide(view, candidates, policy, stage="open", calibration=self._deps.calibration)

    def _by_hand(
        self, candidates: Sequence[EpisodeView], earlier: Sequence[Episode], at: datetime
    ) -> list[EpisodeView]:
        """Return candidates with vectors of title and summary, which seed 004 compares a topic with."""
        near = [e for e in earlier if timedelta() <= at - e.end_at <= timedelta(hours=CLOSE_HOURS)]
        vectors = text_vectors(self._deps.embedder, near)
        return [replace(one, vector=vectors.get(one.id, one.vector)) for one in candidates]

    def handle(self, scope: Scope, jobs: Sequence[Job]) -> None:
        """Chain the sessions the jobs name; one that is gone, or settled by hand, only ends its job."""
        for job in jobs:
            with self._deps.store.begin(scope, write=False) as tx:
                case = self._read(tx, UUID(job.key))
            choice = None if case is None else self._chosen(case)
            now = self._deps.clock()
            with self._deps.store.begin(scope) as tx:
                tx.upkeep.drop(job)
                if case is not None and choice is not None:
                    _write(tx, case, choice, now)
                    ask_for_tuning(tx, self._deps.chain_policy, now, CHAIN)

    def _chosen(self, case: _ChainCase) -> ChainChoice:
        if case.rolled is not None:
            return ChainChoice(unjudged_verdict(case.rolled, ROLL, "close"))
        return decide(
            case.new,
            case.candidates,
            case.policy,
            stage="close",
            provisional=case.new.parent,
            refusals=case.refusals,
            calibration=self._deps.calibration,
        )

    def _read(self, tx: Transaction, episode_id: UUID) -> _ChainCase | None:
        new = tx.episodes.get(episode_id)
        if self._deps.chain_policy == OFF or new is None or is_settled(tx, new):
            return None
        policy = chain_policy_in_force(tx, self._deps.chain_policy)
        section, refusals = tx.threads.section(new.thread_id, new.first_seq), tx.episodes.refusals(new.id)
        rolled = None if section is None or section.opened_for in ("", SESSION) else went_on(tx, section)
        if rolled is not None and rolled not in {one.parent for one in refusals}:
            (view,) = self._views(tx, [new])  # nothing is compared: the words went on
            return _ChainCase(view, (), policy, refusals, rolled)
        likely = [*tx.episodes.latest(limit=RECENT, before=new.start_at), *self._like(tx, new)]
        if new.parent_episode_id is not None:  # however many were held since
            likely.append(new.parent_episode_id)
        known = parents_above(tx, likely)
        known.pop(new.id, None)
        earlier = list(tx.episodes.get(list(known)).values())
        shared = self._shared(tx, [new, *earlier])
        first, *others = self._views(tx, [new, *earlier], shared)
        return _ChainCase(first, others, policy, refusals)

    def _like(self, tx: Transaction, new: Episode) -> list[UUID]:
        """Return the sessions that are most like one over all time."""
        ref = ref_of(tx.threads.number(new.thread_id), new.first_seq)
        vector = tx.index.vectors(PARTS, self._deps.embedder_name, [ref]).get(ref)
        identifiers = self._similar_episodes(tx, f"{new.title}\n{new.summary}", vector)
        return [one for one in identifiers if one != new.id][:SIMILAR]

    def _similar_episodes(self, tx: Transaction, text: str, vector: Vector | None) -> list[UUID]:
        language, name = self._deps.language, self._deps.embedder_name
        scored = score_sections(tx, text, vector, None, language, name)
        return [part.episode_id for part, _ in sections_of(tx, scored[: 2 * SIMILAR])]

    def _compares(self) -> bool:
        """Tell whether vectors mean anything to the policy; seed 004 takes any embedder's as they are."""
        return weighs_vectors(self._deps) or isinstance(chain_policy(self._deps.chain_policy), SeedChain)

    def _shared(self, tx: Transaction, episodes: Sequence[Episode], *topics: str) -> frozenset[str]:
        """Return the words that most topics of sessions share, which tell none from another."""
        every = [*topics, *(topic for episode in episodes if (topic := topic_of(episode)))]
        return shared_words(every, tx.scope.user_id)

    def _views(
        self, tx: Transaction, episodes: Sequence[Episode], shared: frozenset[str] = frozenset()
    ) -> list[EpisodeView]:
        spans = [(e.thread_id, e.first_seq, min(e.last_seq, e.first_seq + REACH - 1)) for e in episodes]
        observations = [_messages(some) for some in tx.observations.read(spans)]
        numbers = {e.thread_id: tx.threads.number(e.thread_id) for e in episodes}
        projects = {t.id: projects_of(t.channels) for t in tx.threads.list(ids=list(numbers))}
        refs = {o.id: ref_of(numbers[o.thread_id], o.seq) for some in observations for o in some}
        full_episodes = [ref_of(numbers[e.thread_id], e.first_seq) for e in episodes]
        # cosines of an embedder nobody calibrated mean nothing to the policies: words must do
        weighs, name = self._compares(), self._deps.embedder_name
        vectors = tx.index.vectors(OBSERVATIONS, name, list(refs.values())) if weighs else {}
        summaries = tx.index.vectors(PARTS, name, full_episodes) if weighs else {}
        return [
            _view(
                episode,
                [_turn(o, vectors.get(refs[o.id]), shared) for o in some],
                summaries.get(ref),
                self._deps.language,
                projects.get(episode.thread_id, frozenset()),
                shared,
            )
            for episode, some, ref in zip(episodes, observations, full_episodes, strict=True)
        ]


def is_settled(tx: Transaction, episode: Episode) -> bool:
    """Tell whether an episode's parent is nothing that a policy decides."""
    if episode.kind is not EpisodeKind.PRIMARY or episode.state is EpisodeState.OPEN:
        return True
    thread = tx.threads.get(episode.thread_id)
    if thread is None or thread.modality != "message":  # an agent's steps tell of no matter
        return True
    if any(one.detail.get("method") != AUTO for one in chain_decisions(tx, episode.id)):
        return True
    section = tx.threads.section(episode.thread_id, episode.first_seq)
    rolled = section is not None and section.opened_for not in ("", SESSION)
    return rolled and episode.parent_episode_id is not None


def chain_decisions(tx: Transaction, episode_id: UUID) -> Sequence[Decision]:
    """Return what was decided of an episode's parent, oldest first."""
    return tx.knowledge.decisions(subject=episode_id, type=CHAIN)


def _write(tx: Transaction, case: _ChainCase, choice: ChainChoice, now: datetime) -> None:
    tx.hold("threads")  # two who link at once could make a loop
    child = tx.episodes.get(case.new.id)
    if child is None or child.parent_episode_id != case.new.parent or is_settled(tx, child):
        return  # somebody linked it meanwhile
    parent = None if choice.parent is None else choice.parent.parent
    if parent is not None:
        above = parents_above(tx, [parent])
        refused = {refusal.parent for refusal in tx.episodes.refusals(child.id)}
        if parent not in above or parent in refused or child.id in ancestors(parent, above).ids:
            return
    for earlier in chain_decisions(tx, child.id):
        if earlier.detail.get("stage") == "close":  # judged again, since more was said
            tx.knowledge.revoke(earlier.id)
    if parent != child.parent_episode_id:
        tx.episodes.lead(child.id, parent)
    decision = decision_of(child.id, choice, now, "close")
    if decision is not None:
        tx.knowledge.decide(decision)


def _messages(observations: Sequence[Observation]) -> list[Observation]:
    return [o for o in all_own_words(observations) if o.kind is Kind.MESSAGE and o.text.strip()][:MOST_TURNS]


def _turn(observation: Observation, vector: Vector | None, shared: frozenset[str]) -> SessionTurn:
    text = without(observation.text, shared)
    return SessionTurn(observation.at, text, fold(role_of(observation)) not in ASSISTANTS, vector)


def _view(
    episode: Episode,
    turns: Sequence[SessionTurn],
    vector: Vector | None,
    language: str | None,
    projects: frozenset[str],
    shared: frozenset[str],
) -> EpisodeView:
    standing = EpisodeStanding(
        id=episode.id,
        thread_id=episode.thread_id,
        start_at=episode.start_at,
        end_at=episode.end_at,
        parent=episode.parent_episode_id,
        closed=episode.state is not EpisodeState.OPEN,
        agent_id=agent_of(episode),
        outcome=read_metadata(episode.metadata).outcome,
        projects=projects,
    )
    topic = topic_of(episode)
    if topic:  # its caller's words; how it opens is for who speaks in it to say
        turns = [SessionTurn(episode.start_at, without(topic, shared), own=False), *turns]
    return view_of(standing, turns, vector=vector, language=language)


def keep_above(tx: Transaction, episode_id: UUID) -> None:
    """Keep that somebody went on with a session: as far as that tells, it was chained rightly."""
    for decision in automatic_verdict(tx, episode_id):
        if decision.verdict == LINKED and decision.outcome is None:
            label = KnownOutcome(CORRECT, BEHAVIOUR, "behaviour", why="it was gone on with")
            tx.knowledge.decide(labelled(decision, label), amend=True)


def automatic_verdict(tx: Transaction, episode_id: UUID) -> list[Decision]:
    """Return the automatic verdict on an episode that stands, of its end or its start, if there is any."""
    decisions = [one for one in chain_decisions(tx, episode_id) if one.detail.get("method") == AUTO]
    return sorted(decisions, key=lambda one: one.detail.get("stage") == "close")[-1:]
