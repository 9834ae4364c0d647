"""The works of one memory: what its verbs use besides the store, made once and shared by all users.

Each is loaded and made when a verb, or a due job of its kind, needs it first.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Any

from episodic_agent.core.boundary.contract import Policy
from episodic_agent.core.boundary.policies import MESSAGE, name_alone, policy_for
from episodic_agent.engine.deps import Deps
from episodic_agent.engine.jobs import kinds
from episodic_agent.engine.jobs.runner import HERE, Handler
from episodic_agent.engine.later import Later, Upkeep
from episodic_agent.lazily import module
from episodic_agent.schemas import Job, Scope

if TYPE_CHECKING:
    from episodic_agent.engine import strength
    from episodic_agent.engine.boundary import closing, orphans, pending, resegmenting, segmenting
    from episodic_agent.engine.chains import job as chain_job
    from episodic_agent.engine.context import assembling
    from episodic_agent.engine.doctor import reembedding
    from episodic_agent.engine.episodes import encoding
    from episodic_agent.engine.erase import erasing
    from episodic_agent.engine.erase import facts as fact_erasing
    from episodic_agent.engine.facts import coming as fact_coming
    from episodic_agent.engine.facts import job as fact_job
    from episodic_agent.engine.ingest import appending
    from episodic_agent.engine.links import ending
    from episodic_agent.engine.links import job as link_job
    from episodic_agent.engine.past import store as past_store
    from episodic_agent.engine.recall import searching
    from episodic_agent.engine.sections import bounds
    from episodic_agent.engine.sections import job as section_job
    from episodic_agent.engine.skills import job as skill_job
    from episodic_agent.engine.threads import sessions
    from episodic_agent.engine.tuning import outcomes
    from episodic_agent.engine.tuning import runs as tuning_runs
    from episodic_agent.engine.visibility import retention
else:
    appending = module("episodic_agent.engine.ingest.appending")
    assembling = module("episodic_agent.engine.context.assembling")
    bounds = module("episodic_agent.engine.sections.bounds")
    chain_job = module("episodic_agent.engine.chains.job")
    closing = module("episodic_agent.engine.boundary.closing")
    encoding = module("episodic_agent.engine.episodes.encoding")
    ending = module("episodic_agent.engine.links.ending")
    erasing = module("episodic_agent.engine.erase.erasing")
    fact_erasing = module("episodic_agent.engine.erase.facts")
    fact_coming = module("episodic_agent.engine.facts.coming")
    fact_job = module("episodic_agent.engine.facts.job")
    link_job = module("episodic_agent.engine.links.job")
    orphans = module("episodic_agent.engine.boundary.orphans")
    outcomes = module("episodic_agent.engine.tuning.outcomes")
    past_store = module("episodic_agent.engine.past.store")
    pending = module("episodic_agent.engine.boundary.pending")
    reembedding = module("episodic_agent.engine.doctor.reembedding")
    resegmenting = module("episodic_agent.engine.boundary.resegmenting")
    retention = module("episodic_agent.engine.visibility.retention")
    strength = module("episodic_agent.engine.strength")
    searching = module("episodic_agent.engine.recall.searching")
    section_job = module("episodic_agent.engine.sections.job")
    segmenting = module("episodic_agent.engine.boundary.segmenting")
    sessions = module("episodic_agent.engine.threads.sessions")
    skill_job = module("episodic_agent.engine.skills.job")
    tuning_runs = module("episodic_agent.engine.tuning.runs")


class Works:
    """What the verbs of one opened memory share."""

    def __init__(self, deps: Deps, *, space: str, jobs: str = HERE) -> None:
        """Take `jobs` to say who does later work: `here` this process, `workers` only `episodic worker`s."""
        self.deps = deps
        self.later = Later(deps, self._handlers(), self._upkeep, space=space, jobs=jobs)

    @cached_property
    def policy(self) -> Policy[Any]:
        """The policy of conversations, with the weights it judges by."""
        return self.deps.resolve_policy(policy_for(self.deps.policy, MESSAGE))

    @property
    def policy_name(self) -> str:
        """The policy's full name, for which it is not loaded where the name alone says everything."""
        name = policy_for(self.deps.policy, MESSAGE)
        alone = name_alone(name) if self.deps.calibration is None else None
        return alone or self.policy.name

    @cached_property
    def pasts(self) -> "past_store.Pasts":
        """What is read of earlier moments."""
        return past_store.Pasts()

    def close(self) -> None:
        """Let the copies of earlier moments go, where there are any."""
        if "pasts" in vars(self):
            self.pasts.close()

    @cached_property
    def segmenter(self) -> "segmenting.Segmenter":
        """What runs the boundary machine inside an append."""
        return segmenting.Segmenter.made(self.deps)

    @cached_property
    def ingest(self) -> "appending.Ingest":
        """What takes observations in."""
        return appending.Ingest(self.deps, self.segmenter)

    @cached_property
    def closer(self) -> "closing.Closer":
        """What closes frames by request and by the clock."""
        return closing.Closer(self.deps, self.segmenter)

    @cached_property
    def sessions(self) -> "sessions.Sessions":
        """What begins and ends sessions."""
        return sessions.Sessions(self.deps, self.segmenter)

    @cached_property
    def orphans(self) -> "orphans.Orphans":
        """What closes the runs of processes that are gone."""
        return orphans.Orphans(self.deps, self.segmenter)

    @cached_property
    def resegmenter(self) -> "resegmenting.Resegmenter":
        """What segments threads again."""
        return resegmenting.Resegmenter(self.deps, self.segmenter)

    @cached_property
    def eraser(self) -> "erasing.Eraser":
        """What erases with all that rests on it."""
        riders = (retention.drop_marks, partial(fact_erasing.drop_facts, self.deps))
        return erasing.Eraser(self.deps, self.segmenter, riders=riders)

    @cached_property
    def keeper(self) -> "retention.Keeper":
        """What lets go by time and by policy."""
        return retention.Keeper(self.deps, self.eraser)

    @cached_property
    def recaller(self) -> "searching.Recaller":
        """What answers queries."""
        return searching.Recaller(self.deps)

    @cached_property
    def linker(self) -> "link_job.Linker":
        """What links threads."""
        return link_job.Linker(self.deps, patience=self.deps.link_patience)

    @cached_property
    def contexts(self) -> "assembling.Contexts":
        """What tells the next prompt of the past."""
        return assembling.Contexts(
            self.deps,
            foreseen=self.linker.expected,
            ask_ahead=self.linker.ask_ahead,
            summary_of=bounds.summary_of,
        )

    def _upkeep(self) -> Upkeep:
        return Upkeep(self.deps, self.orphans, self.closer, self.keeper, self.eraser)

    def _handlers(self) -> Mapping[str, Handler]:
        """Return what does each kind of later work."""
        deps = self.deps
        return {
            kind: _when_due(make)
            for kind, make in {
                kinds.ENCODE: lambda: encoding.Encoder(deps).handle,
                kinds.ASK: lambda: pending.Asker(deps, self.segmenter).handle,
                kinds.EMBED: lambda: pending.Embedding(deps, self.segmenter).handle,
                kinds.PIECES: lambda: pending.PieceEmbedding(deps).handle,
                kinds.REEMBED: lambda: reembedding.Reembedding(deps).handle,
                kinds.REVIEW: lambda: strength.Reviewer(deps).handle,
                kinds.LINK: lambda: self.linker.handle,
                kinds.LINK_END: lambda: ending.Ender(deps, self.linker).handle,
                kinds.COMPACT: lambda: section_job.Compactor(deps).handle,
                kinds.CHAIN: lambda: chain_job.Chainer(deps).handle,
                kinds.MINE: lambda: skill_job.Miner(deps).handle,
                kinds.QUOTE: lambda: fact_coming.Quoter(deps).handle,
                kinds.FACTS: lambda: (
                    fact_job.Consolidator(deps, encoding.Encoder(deps).retell, self.resegmenter.divide).handle
                ),
                kinds.OUTCOME: lambda: outcomes.Listener(deps).handle,
                kinds.TUNE: lambda: tuning_runs.Tuner(deps).handle,
                kinds.RUN: lambda: self.orphans.handle,
            }.items()
        }


def _when_due(make: Callable[[], Handler]) -> Handler:
    """Return a handler that is made, and its module loaded, for the jobs it is first given."""

    handler = cache(make)

    def handle(scope: Scope, jobs: Sequence[Job], /) -> None:
        handler()(scope, jobs)

    return handle
