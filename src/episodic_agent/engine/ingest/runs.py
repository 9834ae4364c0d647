"""The verb `run`: what an agent's run does to a memory (keep steps, read records, end the last episode).

A text that comes again and again, as an agent's steps do ("In the hall: go forward"), is embedded once.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final
from uuid import UUID

import numpy as np

from episodic_agent.agents.run import AgentRun, RunReport, Seen, Step, Verbs, interval_of, policy_of_run
from episodic_agent.core.boundary.contract import Policy, Record
from episodic_agent.core.ingest import Item, check_ahead, read_item
from episodic_agent.engine.arguments import name_or_none
from episodic_agent.engine.boundary.closing import Closer
from episodic_agent.engine.boundary.explain import read_records
from episodic_agent.engine.deps import Deps
from episodic_agent.engine.ingest.appending import Ingest, incoming
from episodic_agent.engine.scoped import Scoped
from episodic_agent.engine.works import Works
from episodic_agent.errors import InvalidInput
from episodic_agent.protocols import Embedder, Sensor, Transaction
from episodic_agent.schemas import Reason, Receipt, Scope, Vector


def _verbs_of(
    deps: Deps,
    scope: Scope,
    origin: str,
    closer: Closer,
    keep: Callable[[Sequence[Item]], Sequence[Receipt]],
    run_jobs: Callable[[], object],
) -> Verbs:
    """Return what a run in the thread `origin` needs of the memory."""

    def result(tx: Transaction) -> UUID | None:
        thread = tx.threads.get(origin)
        return None if thread is None else thread.id

    def read(step: Step) -> Item:
        item = read_item(step, default_actor="agent", largest=deps.limits.message)
        check_ahead(item.at, deps.clock())
        return item

    def flush(at_end: bool) -> int:
        with deps.store.begin(scope, write=False) as tx:
            thread = result(tx)
        reason = Reason.END_OF_STREAM if at_end else Reason.WORLD_END
        return 0 if thread is None else closer.flush(scope, thread, reason=reason)

    def judged(first: int, last: int) -> Mapping[int, Record]:
        with deps.store.begin(scope, write=False) as tx:
            thread = result(tx)
            return {} if thread is None else read_records(tx, thread, first, last)

    def episodes() -> int:
        with deps.store.begin(scope, write=False) as tx:
            thread = result(tx)
            return 0 if thread is None else len(tx.episodes.list(threads=[thread]))

    return Verbs(read, keep, judged, episodes, flush, run_jobs)


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
    origin = name_or_none("thread", thread) or f"run:{started:%Y-%m-%dT%H:%M:%S.%f}"
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
    return _verbs_of(deps, scope, origin, closer, keep, lambda: works.later.after(scope, wait=True))


LIMIT: Final = 4096  # texts: with 384 dimensions six megabytes


class RememberingEmbedder:
    """An embedder that keeps the vectors of the texts it was asked for last; not for several threads."""

    def __init__(self, inner: Embedder, limit: int = LIMIT) -> None:
        self._inner = inner
        self._most = limit
        self._known: dict[str, Vector] = {}  # the longest unused first
        self.name = inner.name

    @property
    def dimensions(self) -> int:
        """Return the inner one's dimensions, asked for no sooner: a server may be away."""
        return self._inner.dimensions

    def embed(self, texts: Sequence[str]) -> Vector:
        """Embed texts: float32 [n, d]; only those not known go to the inner one, whose errors pass."""
        known = self._known
        new = [text for text in dict.fromkeys(texts) if text not in known]
        results = dict(zip(new, self._inner.embed(new), strict=True)) if new else {}
        for text in texts:
            if text in known:
                results[text] = known.pop(text)
        known.update(results)
        for text in list(known)[: max(0, len(known) - self._most)]:
            del known[text]
        return np.stack([results[text] for text in texts]) if results else self._inner.embed(texts)


def remembering(embedder: Embedder | None, limit: int = LIMIT) -> RememberingEmbedder | None:
    """Return an embedder that embeds a repeated text once; None where there is none."""
    return None if embedder is None else RememberingEmbedder(embedder, limit)
