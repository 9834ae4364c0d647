"""The second path: what a language model thinks of the best candidates, while the algorithm computes."""

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from queue import Empty, SimpleQueue
from typing import Final

from episodic_agent.core.links import Opinion
from episodic_agent.core.prompts.thread_link import (
    LAST_TURNS,
    SCHEMA,
    STAGE,
    Earlier,
    prompt,
    read_verdict,
    version,
)
from episodic_agent.engine.jobs.asking import ask, say_failed
from episodic_agent.engine.links.features import ends_of, last_said
from episodic_agent.engine.links.joining import words_of
from episodic_agent.errors import EpisodicError
from episodic_agent.protocols import LanguageModel, Transaction
from episodic_agent.schemas import Json, Observation, Thread

PATIENCE: Final = 5.0  # seconds: the answer after it comes too late
LONGEST_LINE: Final = 600  # characters of a turn that the model is shown

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class OpinionAnswer:
    """What came of the call: opinions by thread, or why there are none; times by the given ticks."""

    model: str
    prompt_version: str
    started: float
    ended: float
    opinions: Mapping[str, Opinion] = field(default_factory=dict)
    failure: str = ""

    def as_json(self, thread_id: str) -> Mapping[str, Json]:
        """Return what a decision keeps of the model's answer about one candidate."""
        opinion = self.opinions.get(thread_id)
        shared = {"model": self.model, "prompt": self.prompt_version}
        if opinion is None:
            return {**shared, "failure": self.failure or "the model said nothing about this one"}
        return {
            **shared,
            "related": opinion.related,
            "confidence": opinion.confidence,
            "probability": opinion.probability,
            "reasoning": opinion.reasoning,
            "key_signals": list(opinion.key_signals),
        }


class Call:
    """One question under way in a thread of its own."""

    def __init__(
        self,
        model: LanguageModel,
        message: Observation,
        threads: Sequence[Earlier],
        guidance: Sequence[str],
        ticks: Callable[[], float],
    ) -> None:
        """Ask; returns as soon as the call has begun."""
        self._model, self._threads, self._ticks = model, threads, ticks
        self._prompt = prompt(_cut(message), threads, guidance)
        self._version = version(guidance)
        self._begun = threading.Event()
        self._started = 0.0
        self._answers: SimpleQueue[OpinionAnswer] = SimpleQueue()
        threading.Thread(target=self._run, name="episodic-link", daemon=True).start()
        self._begun.wait()

    def answer(self, patience: float) -> OpinionAnswer:
        """Return the answer; one without opinions where none came in time."""
        try:
            return self._answers.get(timeout=max(0.0, patience - (self._ticks() - self._started)))
        except Empty:
            return self._made({}, f"no answer within {patience:g} s")

    def _run(self) -> None:
        self._started = self._ticks()
        self._begun.set()
        made = self._made({}, "the call broke off")
        try:
            made = self._made(self._asked())
        except EpisodicError as error:  # down, invalid, too dear: the algorithm decides alone
            say_failed(log, "linking goes on without the model: %s", error=error)
            made = self._made({}, f"{type(error).__name__}: {error}")
        finally:
            self._answers.put(made)

    def _asked(self) -> Mapping[str, Opinion]:
        return ask(self._model, self._prompt, SCHEMA, STAGE, lambda value: read_verdict(value, self._threads))

    def _made(self, opinions: Mapping[str, Opinion], failure: str = "") -> OpinionAnswer:
        return OpinionAnswer(self._model.name, self._version, self._started, self._ticks(), opinions, failure)


def shown(tx: Transaction, threads: Sequence[Thread], message: Observation) -> list[Earlier]:
    """Return candidates as the model is to see them: summaries and last turns before the message."""
    observations = last_said(tx, ends_of(tx, [t.id for t in threads]), message.at, most=LAST_TURNS)
    return [
        Earlier(
            str(thread.id),
            f"{title}. {summary}" if summary else title,
            [_cut(o) for o in observations[thread.id]],
        )
        for thread, (title, summary) in zip(threads, words_of(tx, threads, message.at), strict=True)
    ]


def _cut(turn: Observation) -> Observation:
    return turn if len(turn.text) <= LONGEST_LINE else replace(turn, text=turn.text[:LONGEST_LINE] + "…")
