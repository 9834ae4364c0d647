"""What a frame waits for: a model's verdict (`ask` jobs) or late vectors (`embed` jobs)."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import TypeAlias
from uuid import UUID

import numpy as np

from episodic_agent.core.boundary.contract import Question, Verdict
from episodic_agent.core.echo import all_heard, heard
from episodic_agent.core.interfaces import OBSERVATIONS, Embedder, ref_of
from episodic_agent.core.prompts import topic_shift
from episodic_agent.core.windows import windows
from episodic_agent.engine.asking import ask
from episodic_agent.engine.parts import Parts
from episodic_agent.engine.segmenting import Segmenter, await_vectors, load_question
from episodic_agent.errors import BudgetSpent, ProviderError
from episodic_agent.schemas import Job, Observation, Scope

LAST_TRY = 3  # attempts at a model before the deterministic fallback answers (I8)
PAGE = 256  # texts embedded before they are committed: what a failure or a kill may cost
Texts: TypeAlias = Mapping[int, str]  # by ref

log = logging.getLogger(__name__)


class Asker:
    """The handler of `ask` jobs: put a frame's question to the language model, outside any transaction."""

    def __init__(self, parts: Parts, segmenter: Segmenter) -> None:
        self._parts = parts
        self._segmenter = segmenter

    def handle(self, scope: Scope, jobs: Sequence[Job]) -> None:
        """Settle the questions the jobs name; one that was settled meanwhile only ends its job."""
        for job in jobs:
            self._settle(scope, job)

    def _settle(self, scope: Scope, job: Job) -> None:
        thread = UUID(job.serial)
        with self._parts.store.begin(scope, write=False) as tx:
            frame = tx.threads.frame(thread)
            question = load_question(frame)
            waiting = question is not None and question.id == job.key
            asked = tx.threads.observations(thread, question.first_seq, question.seq) if question else ()
        verdict = (
            self._ask(scope, job, question, all_heard(asked)) if waiting and question is not None else None
        )
        with self._parts.store.begin(scope) as tx:
            tx.jobs.finish(job)
            frame = tx.threads.frame(thread)
            question = load_question(frame)
            if question is None or question.id != job.key:
                return  # settled by the fallback meanwhile: the verdict comes too late
            now = self._parts.clock()
            frame = self._segmenter.of(tx.threads.get(thread)).settle(tx, frame, verdict, now)
            await_vectors(tx, frame, now)
            tx.threads.save_frame(frame)

    def _ask(self, scope: Scope, job: Job, question: Question, said: Sequence[Observation]) -> Verdict | None:
        model = self._parts.model_for(scope, topic_shift.STAGE)
        if model is None:
            return None
        try:
            prompt = topic_shift.prompt(question.event_model, said, question.gap)
            verdict = ask(model, prompt, topic_shift.SCHEMA, topic_shift.STAGE, topic_shift.read_verdict)
            embedder = self._parts.embedder
            if question.gap is None and verdict.updated_event_model and embedder is not None:
                return replace(verdict, vector=embedder.embed([verdict.updated_event_model])[0])
            return verdict
        except ProviderError as error:
            # a spent budget is not waited for: it degrades to what needs no model
            if job.attempts < LAST_TRY and not isinstance(error, BudgetSpent):
                raise
            log.warning("the fallback answers question %s: %s", question.id, error)
            return None


class Embedding:
    """The handler of `embed` jobs: vectors that were missing at the append, then the waiting tail."""

    def __init__(self, parts: Parts, segmenter: Segmenter) -> None:
        self._parts = parts
        self._segmenter = segmenter

    def handle(self, scope: Scope, jobs: Sequence[Job]) -> None:
        """Embed what the named threads lack, first what their frames wait for, and let the machine go on."""
        for job in jobs:
            self._embed(scope, job)

    def _embed(self, scope: Scope, job: Job) -> None:
        thread = UUID(job.key)
        if self._parts.embedder is not None:
            for texts in chain(self._awaited(scope, thread), self._closed(scope, thread)):
                self._fill(scope, self._parts.embedder, texts)
        with self._parts.store.begin(scope) as tx:
            tx.jobs.finish(job)
            segmenter = self._segmenter.of(tx.threads.get(thread))
            frame = segmenter.restarted(tx.threads.frame(thread), self._parts.embedder_name)
            arrivals = segmenter.arrivals(tx, frame, frame.cursor, frame.next_seq - 1)
            tx.threads.save_frame(segmenter.advance(tx, frame, arrivals, self._parts.clock()))

    def _awaited(self, scope: Scope, thread: UUID) -> Iterator[Texts]:
        """Yield pages of texts without a vector from the frame's cursor on."""
        with self._parts.store.begin(scope, write=False) as tx:
            segmenter = self._segmenter.of(tx.threads.get(thread))
            frame = segmenter.restarted(tx.threads.frame(thread), self._parts.embedder_name)
            number = tx.threads.number(thread)
            waiting = all_heard(tx.threads.observations(thread, frame.cursor, frame.next_seq - 1))
            texts = {ref_of(number, o.seq): o.text for o in waiting if o.text.strip()}
            there = tx.index.vectors(OBSERVATIONS, self._parts.embedder_name, list(texts))
        missing = [(ref, text) for ref, text in texts.items() if ref not in there]
        for start in range(0, len(missing), PAGE):
            yield dict(missing[start : start + PAGE])

    def _closed(self, scope: Scope, thread: UUID) -> Iterator[Texts]:
        """Yield pages of texts that were decided without their vectors: by a flush, or as steps are."""
        first = 0
        while True:
            with self._parts.store.begin(scope, write=False) as tx:
                number = tx.threads.number(thread)
                refs = tx.index.unindexed(
                    OBSERVATIONS,
                    self._parts.embedder_name,
                    limit=PAGE,
                    first_ref=max(first, ref_of(number, 0)),
                    last_ref=ref_of(number + 1, 0) - 1,
                )
                found = tx.threads.by_refs(refs)
            if not refs:
                return
            yield {ref: text for ref, o in found.items() if (text := heard(o).text.strip())}
            first = refs[-1] + 1

    def _fill(self, scope: Scope, embedder: Embedder, texts: Texts) -> None:
        rows = [(ref, window) for ref, text in texts.items() for window in windows(text)]
        if not rows:
            return
        vectors = np.asarray(embedder.embed([window for _, window in rows]))
        with self._parts.store.begin(scope) as tx:
            there = tx.threads.by_refs([*texts])  # what was erased meanwhile gets no vector
            kept = [n for n, (ref, _) in enumerate(rows) if ref in there]
            if kept:
                refs = [rows[n][0] for n in kept]
                tx.index.put_vectors(OBSERVATIONS, embedder.name, refs, vectors[kept])
