"""Embed a memory again after its embedder changed: page by page, beside the vectors there are.

Vectors of two embedders live side by side, and each page is durable when it is written, so that whoever comes
after a killed process goes on where it stopped: what has no vector yet is what is left. In the meantime
`engine/embedding.py` has search read the former vectors.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from episodic_agent.core.echo import own_words
from episodic_agent.core.language.windows import windows
from episodic_agent.engine.deps import Deps
from episodic_agent.engine.facts.writing import fact_texts
from episodic_agent.engine.jobs.kinds import REEMBED
from episodic_agent.engine.jobs.runner import stop_if_halted
from episodic_agent.engine.sections.faults import section_texts
from episodic_agent.engine.skills.job import skill_texts
from episodic_agent.errors import InvalidInput, ProviderUnavailable
from episodic_agent.protocols import EPISODES, FACTS, OBSERVATIONS, PARTS, SKILLS, Transaction
from episodic_agent.schemas import Job, Scope

PAGE = 256
EMBEDDED = (FACTS, SKILLS, PARTS, EPISODES, OBSERVATIONS)
MOST = 10_000_000  # documents counted
TAKEN_OVER = timedelta(minutes=5)  # after which another process goes on with what one began and left
Progress = Callable[[int, int], object]


@dataclass(frozen=True, slots=True)
class Missing:
    """How many observations of a scope have no vector of the embedder, and of how many; whose they have."""

    left: int
    total: int
    others: Sequence[str]

    def __str__(self) -> str:
        others = " and ".join(self.others)
        text = f"of {self.total:,}"
        return f"{text}; {others} answers for them meanwhile where it is at hand" if others else text


def missing(tx: Transaction, embedder: str) -> Missing:
    """Count what has no vector of an embedder."""
    left = len(tx.index.unindexed(OBSERVATIONS, embedder, limit=MOST))
    others = [name for name in tx.embedders() if name != embedder]
    return Missing(left, tx.count("observations"), others)


def embed_page(deps: Deps, scope: Scope) -> int:
    """Embed what has no vector yet, a page of each kind; return how many texts."""
    embedder = deps.embedder
    if embedder is None:
        return 0
    with deps.store.begin(scope, write=False) as tx:
        pages = {kind: tx.index.unindexed(kind, embedder.name, limit=PAGE) for kind in EMBEDDED}
        texts = {
            (kind, ref): piece
            for kind, refs in pages.items()
            for ref, piece in _texts(tx, kind, list(refs)).items()
        }
    rows = [(kind, ref, w) for (kind, ref), text in texts.items() for w in windows(text) if w.strip()]
    if not rows:
        return 0
    vectors = embedder.embed([w for _, _, w in rows])
    with deps.store.begin(scope) as tx:
        for kind in EMBEDDED:
            asked = list(dict.fromkeys(ref for of, ref, _ in rows if of == kind))
            now = _texts(tx, kind, asked)  # what was erased or told anew meanwhile gets no vector
            there = {ref for ref in asked if now.get(ref) == texts[kind, ref]}
            chosen = [n for n, row in enumerate(rows) if row[0] == kind and row[1] in there]
            if chosen:
                tx.index.put_vectors(kind, embedder.name, [rows[n][1] for n in chosen], vectors[chosen])
    return len(texts)


class Reembedding:
    """The handler of `reembed` jobs: all of a scope that has no vector of the job's embedder."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps

    def handle(self, scope: Scope, jobs: Sequence[Job]) -> None:
        """Embed pages until nothing is left; ProviderUnavailable where this process has another embedder."""
        own = self._deps.embedder_name
        if others := {job.key for job in jobs} - {own}:
            raise ProviderUnavailable(
                f"this process embeds with {own}, and {' and '.join(sorted(others))} was asked for; give it "
                "the same EPISODIC_EMBEDDER"
            )
        while embed_page(self._deps, scope):
            stop_if_halted()
        with self._deps.store.begin(scope) as tx:
            for job in jobs:
                tx.upkeep.drop(job)


def reembed(deps: Deps, scopes: Sequence[Scope], progress: Progress | None, *, wait: bool) -> int:
    """Embed again what scopes hold; return how many texts, or without `wait` how many scopes are to be.

    A job stands for each scope until it is done, so that another process goes on where this one is killed.
    `progress` is told how many observations are done, and of how many. Raises InvalidInput without an
    embedder.
    """
    if deps.embedder is None:
        raise InvalidInput(
            "there is no embedder to embed with; choose one by EPISODIC_EMBEDDER or --embedder"
        )
    left = {scope: count for scope in scopes if (count := _begin(deps, scope, wait=wait)) is not None}
    if not wait:
        return len(left)
    done, total = 0, sum(left.values())
    for scope in scopes:
        while embedded := embed_page(deps, scope):
            done += embedded
            if progress is not None and total:
                progress(min(done, total), total)
        _end(deps, scope)
    return done


def _begin(deps: Deps, scope: Scope, *, wait: bool) -> int | None:
    """Ask for the job where anything has no vector yet, an observation or what was made of it.

    Return how many observations have none; None where nothing is to be done.
    """
    now = deps.clock()
    with deps.store.begin(scope) as tx:
        if not any(tx.index.unindexed(kind, deps.embedder_name, limit=1) for kind in EMBEDDED):
            return None
        after = now + TAKEN_OVER if wait else None
        tx.upkeep.ask(REEMBED, deps.embedder_name, REEMBED, now=now, run_after=after)
        return missing(tx, deps.embedder_name).left


def _end(deps: Deps, scope: Scope) -> None:
    """Take the job away that would have gone on; one that somebody else is doing ends by itself."""
    with deps.store.begin(scope) as tx:
        for job in tx.upkeep.jobs(state="waiting", kinds=[REEMBED]):
            if job.key == deps.embedder_name:
                tx.upkeep.drop(job.id)


def _texts(tx: Transaction, kind: str, refs: list[int]) -> dict[int, str]:
    if kind == SKILLS:
        return skill_texts(tx, refs)
    if kind == FACTS:
        return fact_texts(tx, refs)
    if kind == PARTS:
        return {ref: text for ref, text in section_texts(tx, refs).items() if text}
    if kind == OBSERVATIONS:
        texts = {ref: own_words(o).text for ref, o in tx.observations.get(refs).items()}
        return {ref: text for ref, text in texts.items() if text.strip()}
    return {ref: e.summary for ref, e in tx.episodes.get(refs).items() if e.summary.strip()}
