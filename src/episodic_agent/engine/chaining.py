"""Which earlier session one goes on from: by its topic when it starts, by its words when it closes.

Everything is read in one transaction, judged outside of any, and written in one more. What was linked by
hand, by the caller or by a roll stays; what was taken back is not proposed again.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from episodic_agent.core.chaining import (
    ChainPolicy,
    Choice,
    EpisodeView,
    Refusal,
    SeedChain,
    Standing,
    Turn,
    ancestors,
    chain_policy,
    decide,
    decision_of,
    read_metadata,
    view_of,
)
from episodic_agent.core.chaining.deciding import AUTO, FOUND, RECENT
from episodic_agent.core.chaining.records import MOST_TURNS
from episodic_agent.core.echo import all_heard
from episodic_agent.core.interfaces import OBSERVATIONS, PARTS, Transaction, ref_of
from episodic_agent.core.summaries.languages import ASSISTANTS
from episodic_agent.core.text import fold
from episodic_agent.engine.chains import CHAIN, OFF, parents_above
from episodic_agent.engine.parts import Parts
from episodic_agent.engine.session_facts import SESSION, agent_of, topic_of
from episodic_agent.engine.summaries import parts_of, score_parts
from episodic_agent.engine.thread_features import weighs_vectors
from episodic_agent.engine.tuning import ask_for_tuning, chain_policy_in_force
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

REACH: Final = 32  # observations of a session among which its first messages are looked for


@dataclass(frozen=True, slots=True)
class _Case:
    """A closed session, with everything that was read for it."""

    new: EpisodeView
    candidates: Sequence[EpisodeView]
    policy: ChainPolicy
    refusals: Sequence[Refusal]


class Chainer:
    """The handler of `chain` jobs."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def opening(self, scope: Scope, new: Standing, topic: str, vector: Vector | None) -> Choice | None:
        """Return which earlier session one that starts goes on from, by its topic and the topic's vector.

        None where sessions are not chained.
        """
        if self._parts.chain_policy == OFF:
            return None
        with self._parts.store.begin(scope, write=False) as tx:
            policy = chain_policy_in_force(tx, self._parts.chain_policy)
            latest = tx.chains.latest(limit=RECENT, before=new.start_at)
            known = parents_above(tx, [*latest, *self._found(tx, topic, vector)])
            candidates = self._views(tx, list(tx.episodes.by_ids(list(known)).values()))
        seen = vector if self._compares() else None
        view = view_of(
            new, [Turn(new.start_at, topic, vector=seen)], vector=seen, language=self._parts.language
        )
        return decide(view, candidates, policy, stage="open", calibration=self._parts.calibration)

    def handle(self, scope: Scope, jobs: Sequence[Job]) -> None:
        """Chain the sessions the jobs name; one that is gone, or settled by hand, only ends its job."""
        for job in jobs:
            with self._parts.store.begin(scope, write=False) as tx:
                case = self._read(tx, UUID(job.key))
            choice = None if case is None else self._chosen(case)
            now = self._parts.clock()
            with self._parts.store.begin(scope) as tx:
                tx.jobs.finish(job)
                if case is not None and choice is not None:
                    _write(tx, case, choice, now)
                    ask_for_tuning(tx, self._parts.chain_policy, now, CHAIN)

    def _chosen(self, case: _Case) -> Choice:
        return decide(
            case.new,
            case.candidates,
            case.policy,
            stage="close",
            provisional=case.new.parent,
            refusals=case.refusals,
            calibration=self._parts.calibration,
        )

    def _read(self, tx: Transaction, episode_id: UUID) -> _Case | None:
        new = tx.episodes.get(episode_id)
        if self._parts.chain_policy == OFF or new is None or is_settled(tx, new):
            return None
        likely = [*tx.chains.latest(limit=RECENT, before=new.start_at), *self._like(tx, new)]
        if new.parent_episode_id is not None:  # however many were held since
            likely.append(new.parent_episode_id)
        known = parents_above(tx, likely)
        known.pop(new.id, None)
        earlier = list(tx.episodes.by_ids(list(known)).values())
        first, *others = self._views(tx, [new, *earlier])
        policy = chain_policy_in_force(tx, self._parts.chain_policy)
        return _Case(first, others, policy, tx.chains.refusals(new.id))

    def _like(self, tx: Transaction, new: Episode) -> list[UUID]:
        """Return the sessions that are most like one over all time."""
        ref = ref_of(tx.threads.number(new.thread_id), new.first_seq)
        vector = tx.index.vectors(PARTS, self._parts.embedder_name, [ref]).get(ref)
        found = self._found(tx, f"{new.title}\n{new.summary}", vector)
        return [one for one in found if one != new.id][:FOUND]

    def _found(self, tx: Transaction, text: str, vector: Vector | None) -> list[UUID]:
        language, name = self._parts.language, self._parts.embedder_name
        scored = score_parts(tx, text, vector, None, language, name)
        return [part.episode_id for part, _ in parts_of(tx, scored[: 2 * FOUND])]

    def _compares(self) -> bool:
        """Tell whether vectors mean anything to the policy; seed 004 takes any embedder's as they are."""
        return weighs_vectors(self._parts) or isinstance(chain_policy(self._parts.chain_policy), SeedChain)

    def _views(self, tx: Transaction, episodes: Sequence[Episode]) -> list[EpisodeView]:
        spans = [(e.thread_id, e.first_seq, min(e.last_seq, e.first_seq + REACH - 1)) for e in episodes]
        said = [_messages(some) for some in tx.threads.ranges(spans)]
        numbers = {e.thread_id: tx.threads.number(e.thread_id) for e in episodes}
        refs = {o.id: ref_of(numbers[o.thread_id], o.seq) for some in said for o in some}
        wholes = [ref_of(numbers[e.thread_id], e.first_seq) for e in episodes]
        # cosines of an embedder nobody calibrated mean nothing to the policies: words must do
        weighs, name = self._compares(), self._parts.embedder_name
        vectors = tx.index.vectors(OBSERVATIONS, name, list(refs.values())) if weighs else {}
        summaries = tx.index.vectors(PARTS, name, wholes) if weighs else {}
        return [
            _view(
                episode,
                [_turn(o, vectors.get(refs[o.id])) for o in some],
                summaries.get(ref),
                self._parts.language,
            )
            for episode, some, ref in zip(episodes, said, wholes, strict=True)
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
    part = tx.parts.at(episode.thread_id, episode.first_seq)
    rolled = part is not None and part.opened_for not in ("", SESSION)
    return rolled and episode.parent_episode_id is not None


def chain_decisions(tx: Transaction, episode_id: UUID) -> Sequence[Decision]:
    """Return what was decided of an episode's parent, oldest first."""
    return tx.episodes.decisions(subject=episode_id, type=CHAIN)


def _write(tx: Transaction, case: _Case, choice: Choice, now: datetime) -> None:
    tx.threads.hold()  # two who link at once could make a loop
    child = tx.episodes.get(case.new.id)
    if child is None or child.parent_episode_id != case.new.parent or is_settled(tx, child):
        return  # somebody linked it meanwhile
    parent = None if choice.parent is None else choice.parent.parent
    if parent is not None:
        above = parents_above(tx, [parent])
        refused = {refusal.parent for refusal in tx.chains.refusals(child.id)}
        if parent not in above or parent in refused or child.id in ancestors(parent, above).ids:
            return
    for earlier in chain_decisions(tx, child.id):
        if earlier.detail.get("stage") == "close":  # judged again, since more was said
            tx.episodes.revoke(earlier.id)
    if parent != child.parent_episode_id:
        tx.chains.lead(child.id, parent)
    decision = decision_of(child.id, choice, now, "close")
    if decision is not None:
        tx.episodes.decide(decision)


def _messages(said: Sequence[Observation]) -> list[Observation]:
    return [o for o in all_heard(said) if o.kind is Kind.MESSAGE and o.text.strip()][:MOST_TURNS]


def _turn(said: Observation, vector: Vector | None) -> Turn:
    return Turn(said.at, said.text, fold(said.actor) not in ASSISTANTS, vector)


def _view(
    episode: Episode, turns: Sequence[Turn], vector: Vector | None, language: str | None
) -> EpisodeView:
    standing = Standing(
        id=episode.id,
        thread_id=episode.thread_id,
        start_at=episode.start_at,
        end_at=episode.end_at,
        parent=episode.parent_episode_id,
        closed=episode.state is not EpisodeState.OPEN,
        agent_id=agent_of(episode),
        outcome=read_metadata(episode.metadata).outcome,
    )
    topic = topic_of(episode)
    if topic:  # its caller's words; how it opens is for who speaks in it to say
        turns = [Turn(episode.start_at, topic, own=False), *turns]
    return view_of(standing, turns, vector=vector, language=language)
