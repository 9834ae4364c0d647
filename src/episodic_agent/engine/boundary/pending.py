"""What a frame waits for: a model's verdict (`ask` jobs) or late vectors (`embed` jobs, and `pieces`)."""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import chain
from typing import TypeAlias
from uuid import UUID

import numpy as np

from episodic_agent.core.boundary.contract import Question, Verdict
from episodic_agent.core.echo import all_own_words, own_words
from episodic_agent.core.language.windows import beginning, windows
from episodic_agent.core.prompts import topic_shift
from episodic_agent.engine.boundary.segmenting import (
    Segmenter,
    ask_for_pieces,
    await_vectors,
    load_ends,
    load_question,
)
from episodic_agent.engine.deps import Deps
from episodic_agent.engine.jobs.asking import LAST_TRY, ask, may_pass, say_failed
from episodic_agent.engine.jobs.kinds import EMBED
from episodic_agent.engine.jobs.runner import stop_if_halted
from episodic_agent.errors import Conflict, ProviderError
from episodic_agent.protocols import OBSERVATIONS, Embedder, Store, Transaction, ref_of
from episodic_agent.schemas import Job, Observation, Scope

LONGEST_TAIL = 64  # observations that may wait behind a question which a model failed to answer
PAGE = 256  # texts embedded before they are committed: what a failure or a kill may cost
TOGETHER = 30_000  # characters embedded between two looks at whether the process is to end: a second or two
Texts: TypeAlias = Mapping[int, str]  # by ref

log = logging.getLogger(__name__)


class Asker:
    """The handler of `ask` jobs: put a frame's question to the language model, outside any transaction."""

    def __init__(self, deps: Deps, segmenter: Segmenter) -> None:
        self._deps = deps
        self._segmenter = segmenter

    def handle(self, scope: Scope, jobs: Sequence[Job]) -> None:
        """Settle the questions the jobs name; one that was settled meanwhile only ends its job."""
        for job in jobs:
            self._settle(scope, job)

    def _settle(self, scope: Scope, job: Job) -> None:
        thread = UUID(job.serial)
        with self._deps.store.begin(scope, write=False) as tx:
            frame = tx.threads.frame(thread)
            question = load_question(frame)
            waiting = question is not None and question.id == job.key
            asked = tx.observations.read(thread, question.first_seq, question.seq) if question else ()
        last = job.attempts >= LAST_TRY or frame.next_seq - frame.cursor >= LONGEST_TAIL
        verdict = (
            self._ask(scope, question, all_own_words(asked), last=last)
            if waiting and question is not None
            else None
        )
        with self._deps.store.begin(scope) as tx:
            tx.upkeep.drop(job)
            frame = tx.threads.frame(thread)
            question = load_question(frame)
            if question is None or question.id != job.key:
                return  # settled by the fallback meanwhile: the verdict comes too late
            now = self._deps.clock()
            frame = self._segmenter.of(tx.threads.get(thread)).settle(tx, frame, verdict, now)
            await_vectors(tx, frame, now)
            tx.threads.save(frame)

    def _ask(
        self, scope: Scope, question: Question, observations: Sequence[Observation], *, last: bool
    ) -> Verdict | None:
        """Return the model's verdict, or None for the fallback; ProviderError while a later try may do."""
        model = self._deps.model_for(scope, topic_shift.STAGE)
        if model is None:
            return None
        try:
            prompt = topic_shift.prompt(question.event_model, observations, question.gap)
            schema = topic_shift.SCHEMA if question.gap is None else topic_shift.LOOKING_BACK
            verdict = ask(model, prompt, schema, topic_shift.STAGE, topic_shift.read_verdict)
            embedder = self._deps.embedder
            if question.gap is None and verdict.updated_event_model and embedder is not None:
                return replace(verdict, vector=embedder.embed([verdict.updated_event_model])[0])
            return verdict
        except ProviderError as error:
            if not last and may_pass(error):
                raise
            say_failed(log, "the fallback answers question %s: %s", question.id, error=error)
            return None


class Embedding:
    """The handler of `embed` jobs: vectors that were missing at the append, then the waiting tail."""

    def __init__(self, deps: Deps, segmenter: Segmenter) -> None:
        self._deps = deps
        self._segmenter = segmenter

    def handle(self, scope: Scope, jobs: Sequence[Job]) -> None:
        """Embed what the named threads lack, first what their frames wait for, and let the machine go on."""
        for job in jobs:
            self._embed(scope, job)

    def _embed(self, scope: Scope, job: Job) -> None:
        thread = UUID(job.key)
        if self._deps.embedder is not None:
            for texts in chain(self._awaited(scope, thread), self._closed(scope, thread)):
                self._fill(scope, job, self._deps.embedder, texts)
        with self._deps.store.begin(scope) as tx:
            tx.upkeep.drop(job)
            segmenter, before = self._segmenter.of(tx.threads.get(thread)), tx.threads.frame(thread)
            frame = segmenter.restarted(before, self._deps.embedder_name)
            frame = segmenter.go_on(tx, frame, self._deps.clock(), load_ends(before))
            tx.threads.save(frame)

    def _awaited(self, scope: Scope, thread: UUID) -> Iterator[Texts]:
        """Yield pages of texts without a vector from the frame's cursor on."""
        with self._deps.store.begin(scope, write=False) as tx:
            segmenter = self._segmenter.of(tx.threads.get(thread))
            frame = segmenter.restarted(tx.threads.frame(thread), self._deps.embedder_name)
            number = tx.threads.number(thread)
            waiting = all_own_words(tx.observations.read(thread, frame.cursor, frame.next_seq - 1))
            texts = {ref_of(number, o.seq): o.text for o in waiting if o.text.strip()}
            there = tx.index.vectors(OBSERVATIONS, self._deps.embedder_name, list(texts))
        missing = [(ref, text) for ref, text in texts.items() if ref not in there]
        for start in range(0, len(missing), PAGE):
            yield dict(missing[start : start + PAGE])

    def _closed(self, scope: Scope, thread: UUID) -> Iterator[Texts]:
        """Yield pages of texts that were decided without their vectors: by a flush, or as steps are."""
        first = 0
        while True:
            with self._deps.store.begin(scope, write=False) as tx:
                number = tx.threads.number(thread)
                refs = tx.index.unindexed(
                    OBSERVATIONS,
                    self._deps.embedder_name,
                    limit=PAGE,
                    first_ref=max(first, ref_of(number, 0)),
                    last_ref=ref_of(number + 1, 0) - 1,
                )
                observations = tx.observations.get(refs)
            if not refs:
                return
            yield {ref: text for ref, o in observations.items() if (text := own_words(o).text.strip())}
            first = refs[-1] + 1

    def _fill(self, scope: Scope, job: Job, embedder: Embedder, texts: Texts) -> None:
        """Embed texts, of long ones the beginning; the rest of those is asked for."""
        pieces = {ref: beginning(text) for ref, text in texts.items()}
        _fill(self._deps.store, scope, job, embedder, pieces, rest_from=self._deps.clock())


class PieceEmbedding:
    """The handler of `pieces` jobs: the vectors of long observations, piece by piece."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps

    def handle(self, scope: Scope, jobs: Sequence[Job]) -> None:
        """Embed all pieces of the observations the jobs name; one that is gone only ends its job."""
        for job in jobs:
            with self._deps.store.begin(scope, write=False) as tx:
                texts = {
                    ref_of(tx.threads.number(o.thread_id), o.seq): own_words(o).text
                    for o in tx.observations.get([UUID(job.key)]).values()
                }
            if self._deps.embedder is not None:
                pieces = {ref: windows(text) for ref, text in texts.items() if text.strip()}
                _fill(self._deps.store, scope, job, self._deps.embedder, pieces)
            with self._deps.store.begin(scope) as tx:
                tx.upkeep.drop(job)


def _fill(
    store: Store,
    scope: Scope,
    job: Job,
    embedder: Embedder,
    pieces: Mapping[int, Sequence[str]],
    *,
    rest_from: datetime | None = None,
) -> None:
    """Give observations, by ref, the vectors of their pieces; with `rest_from` ask for those of long ones.

    Conflict where the job was taken away meanwhile, as an erasure does: a thread of a user who came back
    may have the refs of what was erased.
    """

    def go_on() -> None:
        stop_if_halted()
        with store.begin(scope, write=False) as tx:
            _check_ours(tx, job)

    rows = [(ref, piece) for ref, several in pieces.items() for piece in several]
    if not rows:
        return
    groups = _in_turn([piece for _, piece in rows], go_on)
    vectors = np.concatenate([embedder.embed(some) for some in groups])
    with store.begin(scope) as tx:
        _check_ours(tx, job)
        there = tx.observations.get([*pieces])  # what was erased meanwhile gets no vector
        limits = [n for n, (ref, _) in enumerate(rows) if ref in there]
        if limits:
            refs = [rows[n][0] for n in limits]
            tx.index.put_vectors(OBSERVATIONS, embedder.name, refs, vectors[limits])
        if rest_from is not None:
            ask_for_pieces(tx, there.values(), rest_from)


def _check_ours(tx: Transaction, job: Job) -> None:
    """Raise Conflict where a claimed job is no longer held by its claim."""
    leased = tx.upkeep.jobs(state="leased", kinds=[job.kind])
    if (job.id, job.token) not in {(one.id, one.token) for one in leased}:
        raise Conflict(f"job {job.kind} {job.key!r} is no longer ours")


def awaits_vectors(store: Store, scope: Scope) -> bool:
    """Tell whether some text of a scope is still to be embedded."""
    with store.begin(scope, write=False) as tx:
        return any(tx.upkeep.jobs(state=state, kinds=[EMBED], limit=1) for state in ("waiting", "leased"))


def _in_turn(texts: Sequence[str], go_on: Callable[[], object]) -> Iterator[Sequence[str]]:
    """Yield texts in groups that are soon embedded; `go_on` raises between them where that is to end."""
    start = size = 0
    for end, text in enumerate(texts):
        size += len(text)
        if size > TOGETHER and end > start:
            go_on()
            yield texts[start:end]
            start, size = end, len(text)
    yield texts[start:]
