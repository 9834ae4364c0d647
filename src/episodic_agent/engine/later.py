"""The later work of one memory: who does it, when a verb waits for it, and what follows from it.

Where a process leaves later work to workers (`jobs="workers"`) none of this runs anything.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

from episodic_agent.core.prompts import COMPACT as COMPACT_STAGE
from episodic_agent.core.prompts import EPISODE
from episodic_agent.engine.deps import Deps
from episodic_agent.engine.jobs.background import BackgroundWork, sweep
from episodic_agent.engine.jobs.kinds import AWAITED, COMPACT, ENCODE, PIECES, SINGLY
from episodic_agent.engine.jobs.runner import HERE, Handler, Runner, check_jobs
from episodic_agent.engine.trace.acts import worked
from episodic_agent.engine.trace.usage import model_of
from episodic_agent.errors import InvalidInput
from episodic_agent.lazily import module
from episodic_agent.schemas import Scope

if TYPE_CHECKING:
    from episodic_agent.engine.boundary import closing, orphans, pending
    from episodic_agent.engine.doctor import content
    from episodic_agent.engine.erase import erasing
    from episodic_agent.engine.facts import job as fact_job
    from episodic_agent.engine.skills import job as skill_job
    from episodic_agent.engine.visibility import retention
else:
    closing = module("episodic_agent.engine.boundary.closing")
    content = module("episodic_agent.engine.doctor.content")
    erasing = module("episodic_agent.engine.erase.erasing")
    fact_job = module("episodic_agent.engine.facts.job")
    orphans = module("episodic_agent.engine.boundary.orphans")
    pending = module("episodic_agent.engine.boundary.pending")
    retention = module("episodic_agent.engine.visibility.retention")
    skill_job = module("episodic_agent.engine.skills.job")

BY_MODELS = {COMPACT: COMPACT_STAGE, ENCODE: EPISODE}  # these too, where a model does them
HASHED_AT_ONCE = 4096  # observations from before content hashes, in one upkeep


def runner_of(
    deps: Deps, handlers: Mapping[str, Handler], *, space: str | None, scope: Scope | None = None
) -> Runner:
    """Return what runs jobs of these kinds: of a scope, of a space, or (both None) of all spaces."""
    texts = [kind for kind, stage in BY_MODELS.items() if model_of(deps.language_model, stage)]
    return Runner(
        deps.store,
        {kind: worked(deps.tracer.handled(handler)) for kind, handler in handlers.items()},
        clock=deps.clock,
        entropy=deps.entropy,
        owner=deps.owner,
        space=space,
        scope=scope,
        awaited=AWAITED,
        singly=(*SINGLY, *texts),
    )


def check_kinds(kinds: Sequence[str] | None, known: Mapping[str, Handler]) -> Mapping[str, Handler]:
    """Return the handlers of these kinds of jobs (None: of all); InvalidInput for an unknown kind or none."""
    unknown = [kind for kind in kinds or () if kind not in known]
    if unknown or (kinds is not None and not kinds):
        named = repr(unknown[0]) if unknown else "none"
        raise InvalidInput(f"no such kind of jobs: {named}; there are {', '.join(known)}")
    return {kind: handler for kind, handler in known.items() if kinds is None or kind in kinds}


class Upkeep:
    """What the clock makes due in a scope: silent frames, retention, and work that is worth it by now."""

    def __init__(
        self,
        deps: Deps,
        orphans: "orphans.Orphans",
        closer: "closing.Closer",
        keeper: "retention.Keeper",
        eraser: "erasing.Eraser",
    ) -> None:
        self._deps = deps
        self._orphans = orphans
        self._closer = closer
        self._keeper = keeper
        self._eraser = eraser

    def keep_up(self, scope: Scope, now: datetime | None = None) -> int:
        """Close what is silent, and have what is new or long over looked through where it is worth it.

        Return how many frames that closed.
        """
        closed = self._orphans.close_left(scope) + self._closer.upkeep(scope, now)
        totals = self._keeper.keep_up(scope, now)
        if (totals.erased or totals.expired) and not totals.left:  # sweeping the file once for all of it
            self._eraser.settle(scope.space)
        store, clock = self._deps.store, self._deps.clock
        skill_job.ask_where_awaited(store, scope, clock(), least=skill_job.SOME)
        content.hash_older(store, scope, limit=HASHED_AT_ONCE)
        fact_job.request_of_old(self._deps, scope, now or clock())
        return closed

    def settle(self, space: str) -> None:
        """Sweep the database of what was erased in a space."""
        self._eraser.settle(space)


class Later:
    """Runs the later work of one space, at once or in the background."""

    def __init__(
        self,
        deps: Deps,
        handlers: Mapping[str, Handler],
        make_upkeep: Callable[[], Upkeep],
        *,
        space: str,
        jobs: str = HERE,
    ) -> None:
        """Take `jobs` to say who does later work: `here` this process, `workers` only `episodic worker`s."""
        self.here = check_jobs(jobs) == HERE
        self.space = space
        self.handlers = handlers
        self._make_upkeep = make_upkeep
        self._deps = deps
        self._runner = runner_of(deps, handlers, space=space)
        self.background = BackgroundWork(self._runner, self._sweep, deps.clock)

    @cached_property
    def upkeep(self) -> Upkeep:
        """What the clock makes due, made when it is first looked at."""
        return self._make_upkeep()

    def _sweep(self, stopped: Callable[[], bool]) -> None:
        """Keep up with the clock, and try again what an erasure had to leave in the database."""
        sweep(self._deps.store.scopes(self.space), self.upkeep.keep_up, stopped)
        if not stopped():
            self.upkeep.settle(self.space)

    def run(self, scope: Scope | None = None) -> int:
        """Do what is due of a scope (None: of the space); return how many jobs ran."""
        return self._runner.run_due(scope) if self.here else 0

    def try_run(self, scope: Scope) -> None:
        """Do what is due of a scope, but for the pieces of long messages, which nobody waits for."""
        if self.here:
            self._runner.try_due(scope, without=(PIECES,))

    def after(self, scope: Scope, *, wait: bool) -> None:
        """Do what a verb left to do: now, where its caller waits, else in the background."""
        if wait:
            self.try_run(scope)
        elif self.here:
            self.background.wake()

    def embed_first(self, scope: Scope) -> None:
        """Embed what nobody waited for when it was added: an end by request would decide without."""
        if self.here and pending.awaits_vectors(self._deps.store, scope):
            self.try_run(scope)

    def finish(self, scopes: Sequence[Scope]) -> None:
        """Look through what is new for skills, and learn the facts that are due."""
        for scope in scopes if self.here else ():
            if skill_job.ask_where_awaited(self._deps.store, scope, self._deps.clock()):
                self.run(scope)
            self.learn(scope)

    def learn(self, scope: Scope, *, any_waiting: bool = False) -> int:
        """Learn facts where a run is due (or anything waits); return from how many episodes."""
        done, store, clock = 0, self._deps.store, self._deps.clock
        before = fact_job.request_where_due(self._deps, scope, clock(), any_waiting=any_waiting)
        while before and self.here:
            self.run(scope)
            with store.begin(scope, write=False) as tx:
                left = tx.count("unconsolidated")
            if left >= before:
                break  # what waits cannot be done now
            done += before - left
            before = fact_job.request_where_due(self._deps, scope, clock(), any_waiting=any_waiting)
        return done

    def keep_up(self, scopes: Sequence[Scope], now: datetime | None = None) -> int:
        """Close what is silent in these scopes, do what follows from it; return how many frames closed."""
        closed = sum(self.upkeep.keep_up(scope, now) for scope in scopes)
        self.run()
        self.finish(scopes)
        for scope in scopes if self.here else ():  # what was closed just now has its words by now
            if fact_job.request_of_old(self._deps, scope, now or self._deps.clock()):
                self.run(scope)
        self.upkeep.settle(self.space)
        return closed

    def close(self) -> None:
        """Stop; what is left waits for the next opening."""
        self.background.close()
        self._runner.close()
