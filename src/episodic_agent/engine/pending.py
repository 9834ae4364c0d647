"""What a frame waits for: a model's verdict (`ask` jobs) or late vectors (`embed` jobs)."""

import logging
from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

import numpy as np

from episodic_agent.core.boundary.contract import Question, Verdict
from episodic_agent.core.interfaces import OBSERVATIONS, LanguageModel, ref_of
from episodic_agent.core.prompts import topic_shift
from episodic_agent.core.windows import windows
from episodic_agent.engine.parts import Parts
from episodic_agent.engine.segmenting import Segmenter, await_vectors, load_question
from episodic_agent.errors import BadReply, ProviderError
from episodic_agent.schemas import Job, Observation, Scope

LAST_TRY = 3  # attempts at a model before the deterministic fallback answers (I8)

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
            heard = tx.threads.observations(thread, question.first_seq, question.seq) if question else ()
        verdict = self._ask(job, question, heard) if waiting and question is not None else None
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

    def _ask(self, job: Job, question: Question, heard: Sequence[Observation]) -> Verdict | None:
        model = self._parts.language_model
        if model is None:
            return None
        try:
            verdict = self._complete(model, topic_shift.prompt(question.event_model, heard))
            embedder = self._parts.embedder
            if verdict.updated_event_model and embedder is not None:
                return replace(verdict, vector=embedder.embed([verdict.updated_event_model])[0])
            return verdict
        except ProviderError as error:
            if job.attempts < LAST_TRY:
                raise
            log.warning("the fallback answers question %s: %s", question.id, error)
            return None

    @staticmethod
    def _complete(model: LanguageModel, prompt: str) -> Verdict:
        try:
            return topic_shift.read_verdict(
                model.complete(prompt, topic_shift.SCHEMA, topic_shift.STAGE).value
            )
        except BadReply as error:  # one re-ask that says what was wrong
            again = f"{prompt}\nYour last answer could not be used: {error}"
            return topic_shift.read_verdict(
                model.complete(again, topic_shift.SCHEMA, topic_shift.STAGE).value
            )


class Embedding:
    """The handler of `embed` jobs: vectors that were missing at the append, then the waiting tail."""

    def __init__(self, parts: Parts, segmenter: Segmenter) -> None:
        self._parts = parts
        self._segmenter = segmenter

    def handle(self, scope: Scope, jobs: Sequence[Job]) -> None:
        """Embed what the named threads' frames wait for and let the machine go on."""
        for job in jobs:
            self._embed(scope, job)

    def _embed(self, scope: Scope, job: Job) -> None:
        thread = UUID(job.key)
        embedder = self._parts.embedder
        with self._parts.store.begin(scope, write=False) as tx:
            segmenter = self._segmenter.of(tx.threads.get(thread))
            frame = segmenter.restarted(tx.threads.frame(thread), self._parts.embedder_name)
            number = tx.threads.number(thread)
            waiting = tx.threads.observations(thread, frame.cursor, frame.next_seq - 1)
            refs = {ref_of(number, o.seq): windows(o.text) for o in waiting if o.text.strip()}
            there = tx.index.vectors(OBSERVATIONS, self._parts.embedder_name, list(refs))
        missing = {r: t for r, t in refs.items() if r not in there}
        rows = [r for r, texts in missing.items() for _ in texts]
        vectors = None
        if embedder is not None and rows:
            vectors = embedder.embed([t for texts in missing.values() for t in texts])
        with self._parts.store.begin(scope) as tx:
            tx.jobs.finish(job)
            if vectors is not None:
                tx.index.put_vectors(OBSERVATIONS, self._parts.embedder_name, rows, np.asarray(vectors))
            segmenter = self._segmenter.of(tx.threads.get(thread))
            frame = segmenter.restarted(tx.threads.frame(thread), self._parts.embedder_name)
            arrivals = segmenter.arrivals(tx, frame, frame.cursor, frame.next_seq - 1)
            tx.threads.save_frame(segmenter.advance(tx, frame, arrivals, self._parts.clock()))
