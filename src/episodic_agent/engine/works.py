"""The works of one memory: what its verbs use besides the store, built once and shared by all users."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from episodic_agent.agents.run import AgentRun, RunReport, Seen, Verbs, interval_of, policy_of_run
from episodic_agent.core.boundary.contract import Policy
from episodic_agent.core.boundary.policies import MESSAGE, STEP, policy_for
from episodic_agent.core.identity import assign_ids
from episodic_agent.core.ingest import Item
from episodic_agent.core.prompts import topic_shift
from episodic_agent.engine.arguments import clean_name, origin_of
from episodic_agent.engine.boundary.closing import Closer
from episodic_agent.engine.boundary.orphans import RUN, Orphans
from episodic_agent.engine.boundary.pending import Asker, Embedding
from episodic_agent.engine.boundary.resegmenting import Resegmenter
from episodic_agent.engine.boundary.segmenting import ASK, EMBED, ENCODE, Segmenter
from episodic_agent.engine.chains.ancestry import CHAIN
from episodic_agent.engine.chains.job import Chainer
from episodic_agent.engine.context.assembling import Contexts
from episodic_agent.engine.deps import Deps
from episodic_agent.engine.episodes.encoding import Encoder
from episodic_agent.engine.erase.erasing import Eraser
from episodic_agent.engine.erase.facts import drop_facts
from episodic_agent.engine.facts.job import FACTS, Consolidator
from episodic_agent.engine.ingest.appending import Incoming, Ingest
from episodic_agent.engine.ingest.repeating import remembering
from episodic_agent.engine.ingest.runs import verbs_of
from episodic_agent.engine.jobs.runner import HERE, Handler
from episodic_agent.engine.later import Later, Upkeep
from episodic_agent.engine.links.asking import LINK_END
from episodic_agent.engine.links.ending import Ender
from episodic_agent.engine.links.job import LINK, Linker
from episodic_agent.engine.recall.searching import Recaller
from episodic_agent.engine.scoped import Scoped
from episodic_agent.engine.sections.bounds import COMPACT, summary_of
from episodic_agent.engine.sections.job import Compactor
from episodic_agent.engine.skills.job import MINE, Miner
from episodic_agent.engine.strength.reviewing import REVIEW, Reviewer
from episodic_agent.engine.threads.sessions import Sessions
from episodic_agent.engine.trace.usage import model_of
from episodic_agent.engine.tuning.outcomes import OUTCOME, Listener
from episodic_agent.engine.tuning.runs import TUNE, Tuner
from episodic_agent.engine.visibility.retention import Keeper, drop_marks
from episodic_agent.errors import InvalidInput
from episodic_agent.protocols import Sensor
from episodic_agent.schemas import Receipt


class Works:
    """What the verbs of one opened memory share."""

    def __init__(self, deps: Deps, *, space: str, jobs: str = HERE) -> None:
        """Take `jobs` to say who does later work: `here` this process, `workers` only `episodic worker`s."""
        self.deps = deps
        self.policy = deps.resolve_policy(policy_for(deps.policy, MESSAGE))
        self.segmenter = Segmenter(
            self.policy,
            deps.resolve_policy,
            model_of(deps.language_model, topic_shift.STAGE) is not None,
            deps.resolve_policy(policy_for(deps.policy, STEP)),
        )
        self.ingest = Ingest(deps, self.segmenter)
        self.closer = Closer(deps, self.segmenter)
        self.sessions = Sessions(deps, self.segmenter)
        self.orphans = Orphans(deps, self.segmenter)
        self.resegmenter = Resegmenter(deps, self.segmenter)
        self.eraser = Eraser(deps, self.segmenter, riders=(drop_marks, partial(drop_facts, deps)))
        self.keeper = Keeper(deps, self.eraser)
        self.recaller = Recaller(deps)
        self.linker = Linker(deps)
        self.contexts = Contexts(deps, foreseen=self.linker.expected, summary_of=summary_of)
        upkeep = Upkeep(deps, self.orphans, self.closer, self.keeper, self.eraser)
        self.later = Later(deps, self._handlers(), upkeep, space=space, jobs=jobs)

    def _handlers(self) -> Mapping[str, Handler]:
        deps = self.deps
        return {
            ENCODE: Encoder(deps).handle,
            ASK: Asker(deps, self.segmenter).handle,
            EMBED: Embedding(deps, self.segmenter).handle,
            REVIEW: Reviewer(deps).handle,
            LINK: self.linker.handle,
            LINK_END: Ender(deps, self.linker).handle,
            COMPACT: Compactor(deps).handle,
            CHAIN: Chainer(deps).handle,
            MINE: Miner(deps).handle,
            FACTS: Consolidator(deps).handle,
            OUTCOME: Listener(deps).handle,
            TUNE: Tuner(deps).handle,
            RUN: self.orphans.handle,
        }


def incoming(at: Scoped, items: Sequence[Item], thread: str | None, source: str | None) -> Iterator[Incoming]:
    """Yield items with their ids and the threads they name."""
    ids = assign_ids(items, at.scope, source, at.fresh, thread=thread)
    for item, identity in zip(items, ids, strict=True):
        yield Incoming(origin_of(item, thread), identity, item)


def run_agent(
    at: Scoped,
    works: Works,
    sensor: Sensor,
    *,
    thread: str | None,
    steps: int | None,
    fps: float,
    policy: "str | Policy[Any] | None",
    watch: Callable[[Seen], object] | None,
    say: Callable[[str], object] | None,
) -> RunReport:
    """Let a sensor fill a thread until it ends; see `UserMemory.run`."""
    interval = interval_of(fps)
    if steps is not None and steps < 1:
        raise InvalidInput("`steps` must be 1 or more")
    deps, scope = at.deps, at.scope
    started = deps.clock()
    origin = clean_name(thread) or f"run:{started:%Y-%m-%dT%H:%M:%S.%f}"
    name = f"{deps.entropy(64):x}"
    policy, faults = policy_of_run(policy, works.segmenter.steps, deps.resolve_policy, say)
    verbs = _verbs(at, works, origin, policy)
    works.orphans.close_left(scope)
    agent = AgentRun(sensor, verbs, RunReport(origin, started), name=name, watch=watch, faults=faults)
    with works.orphans.under_way(scope, origin, name):
        report = agent.go(steps=steps, interval=interval)
    works.later.run(scope)
    return report


def _verbs(at: Scoped, works: Works, origin: str, policy: Policy[Any] | None) -> Verbs:
    """Return what an agent's run does to the memory."""
    deps, scope, segmenter = at.deps, at.scope, works.segmenter
    if policy is not None:
        segmenter = replace(segmenter, policy=policy, steps=None, eager=True)
    # an agent says the same again and again: "In the hall: go forward" is embedded once
    ingest = Ingest(replace(deps, embedder=remembering(deps.embedder)), segmenter)

    def keep(items: Sequence[Item]) -> Sequence[Receipt]:
        return ingest.run(scope, incoming(at, items, origin, None)).receipts

    closer = Closer(deps, segmenter)
    return verbs_of(deps, scope, origin, closer, keep, lambda: works.later.after(scope, wait=True))
