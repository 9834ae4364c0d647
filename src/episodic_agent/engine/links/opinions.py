"""What a language model thinks of the best candidates, asked while the algorithm computes."""

import logging
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from queue import Empty, SimpleQueue
from typing import Final

import numpy as np

from episodic_agent.core.context.tokens import cut_to
from episodic_agent.core.language.sentences import sentences
from episodic_agent.core.links.evidence import LinkEvidence
from episodic_agent.core.links.features import Features
from episodic_agent.core.links.policies import ChoicePolicy
from episodic_agent.core.links.verdict import SETTLES, SURE, UNCERTAIN, LinkVerdict, Opinion
from episodic_agent.core.prompts.thread_link import (
    CHOICE_SCHEMA,
    LAST_TURNS,
    LONGEST_PART,
    SCHEMA,
    STAGE,
    Earlier,
    Option,
    choice,
    prompt,
    read_choice,
    read_verdict,
    version,
)
from episodic_agent.engine.jobs.asking import ask, say_failed
from episodic_agent.engine.links.candidates import LAST_MESSAGES, ThreadReader, ends_of, last_said
from episodic_agent.engine.links.joining import words_of
from episodic_agent.errors import EpisodicError
from episodic_agent.protocols import LanguageModel, Transaction
from episodic_agent.schemas import Decision, EpisodeKind, Json, Observation, Scope, Thread

LONGEST_LINE: Final = 600  # characters of a turn that the model is shown
AHEAD: Final = timedelta(minutes=30)  # of event time, in which a message follows the context it was asked for
PART_TOKENS: Final = 24  # of what was settled last in a candidate, and of its words nearest to a message
TITLE_TOKENS: Final = 48  # of the titles of a candidate together
MOST_TITLES: Final = 3
_MOST_AHEAD: Final = 8  # answers of a scope that are remembered
_NEAR: Final = 0.3  # cosine from which words are near to a message

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LinkQuestion:
    """What a model is asked about links, and how its answer is read."""

    text: str
    schema: Mapping[str, Json]
    version: str
    read: Callable[[Mapping[str, Json]], Mapping[str, Opinion]]


def question_of(message: Observation, threads: Sequence[Earlier], guidance: Sequence[str]) -> LinkQuestion:
    """Return seed 002's question about a message and three candidates."""
    text = prompt(_cut(message), threads, guidance)
    return LinkQuestion(text, SCHEMA, version(guidance), lambda value: read_verdict(value, threads))


def choice_of(
    talk: Sequence[Observation], options: Sequence[Option], guidance: Sequence[str]
) -> LinkQuestion:
    """Return the question which of its candidates a thread goes on with."""
    text, name = choice(talk, options, guidance), version(guidance, chooses=True)
    return LinkQuestion(text, CHOICE_SCHEMA, name, lambda value: read_choice(value, options))


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


class Ahead:
    """What a model answered about messages that were not stored yet, by scope. Thread safe.

    A context asks before its message is added; the message that follows is not asked about again. Kept in
    memory alone: where another process adds the message, the model is asked once more.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._answers: dict[Scope, list[tuple[str, datetime, OpinionAnswer]]] = {}

    def note(self, scope: Scope, text: str, at: datetime, answer: OpinionAnswer) -> None:
        """Keep an answer; of more than a few the oldest goes."""
        with self._lock:
            known = self._answers.setdefault(scope, [])
            known.append((text, at, answer))
            del known[:-_MOST_AHEAD]

    def of(
        self, scope: Scope, text: str, at: datetime, evidence: Sequence[LinkEvidence], policy: ChoicePolicy
    ) -> OpinionAnswer | None:
        """Return the answer about a text asked for lately, where it is one to what is compared now."""
        there = {one.thread_id for one in evidence}
        with self._lock:
            known = list(self._answers.get(scope, ()))
        for spoken, moment, answer in reversed(known):
            shown = answer.opinions.keys()
            if spoken == text and abs(at - moment) <= AHEAD and shown <= there:
                return None if is_new(evidence, shown, policy) else answer
        return None


class Call:
    """One question under way in a thread of its own."""

    def __init__(
        self,
        model: LanguageModel,
        question: LinkQuestion,
        ticks: Callable[[], float],
    ) -> None:
        """Ask; returns as soon as the call has begun."""
        self._model, self._question, self._ticks = model, question, ticks
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
        question = self._question
        return ask(self._model, question.text, question.schema, STAGE, question.read)

    def _made(self, opinions: Mapping[str, Opinion], failure: str = "") -> OpinionAnswer:
        name, now = self._question.version, self._ticks()
        return OpinionAnswer(self._model.name, name, self._started, now, opinions, failure)


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


def options_of(
    tx: Transaction,
    reader: ThreadReader,
    groups: Sequence[Sequence[Thread]],
    spoken: Sequence[Features],
    until: datetime,
) -> list[Option]:
    """Return sittings as a choice shows them: what they were about and where they were left.

    `spoken` is what was said so far in the thread that is judged; what is nearest to it stands beside.
    """
    firsts = [group[0] for group in groups]
    inside = last_said(tx, ends_of(tx, [t.id for group in groups for t in group]), until, most=LAST_MESSAGES)
    titles = _titles(tx, groups, until)
    options = []
    for group, matter, (title, summary) in zip(groups, titles, words_of(tx, firsts, until), strict=True):
        turns = sorted((o for t in group for o in inside[t.id]), key=lambda o: o.at)
        left = _last_part(summary, LONGEST_PART) if summary else turns[-1].text if turns else ""
        near = _nearest(turns, reader.messages(tx, turns), spoken)
        last = max((o.at for o in turns), default=group[-1].last_activity_at)
        options.append(
            Option(
                str(group[0].id),
                matter or title,
                cut_to(left, PART_TOKENS),
                until - last,
                "" if near is None or near.text in (title, left) else cut_to(near.text, PART_TOKENS),
            )
        )
    return options


def _titles(tx: Transaction, groups: Sequence[Sequence[Thread]], until: datetime) -> list[str]:
    """Return the titles of the longest episodes of each sitting by then, in the order of time, as one."""
    titles = []
    for group in groups:
        episodes = tx.episodes.list(threads=[t.id for t in group])
        titled = [e for e in episodes if e.title and e.kind is EpisodeKind.EVENT and e.end_at <= until]
        longest = sorted(titled, key=lambda e: (-e.size, e.start_at, e.id))[:MOST_TITLES]
        ordered = dict.fromkeys(e.title for e in sorted(longest, key=lambda e: (e.start_at, e.first_seq)))
        titles.append(cut_to("; ".join(ordered), TITLE_TOKENS))
    return titles


def _last_part(text: str, longest: int) -> str:
    """Return the last sentences of a text that are no longer than this together; at least one."""
    part = ""
    for sentence in reversed(sentences(text)):
        if part and len(sentence) + len(part) >= longest:
            break
        part = f"{sentence} {part}".strip()
    return part


def _nearest(
    turns: Sequence[Observation], read: Sequence[Features], spoken: Sequence[Features]
) -> Observation | None:
    """Return the message that has most in common with what was said; None where none has anything."""

    def nearness(features: Features) -> float:
        shared = max((len(one.words & features.words) for one in spoken), default=0)
        cosines = [
            float(np.dot(one.vector, features.vector))
            for one in spoken
            if one.vector is not None and features.vector is not None
        ]
        return max(shared - 1.0, 0.0) + max(cosines, default=_NEAR * min(shared, 1))

    scores = [nearness(features) for features in read]
    best = max(scores, default=0.0)
    return turns[scores.index(best)] if best >= _NEAR else None


# --- what a thread's model said ----------------------------------------------------------------------------


def opinions_of(decisions: Iterable[Decision]) -> dict[str, Opinion]:
    """Return what a language model thought of a thread's candidates, the latest of each."""
    opinions = {}
    for decision in sorted(decisions, key=lambda d: (_integer(d, "number"), _integer(d, "through"))):
        answer = decision.detail.get("llm")
        if isinstance(answer, Mapping) and isinstance(answer.get("confidence"), int | float):
            opinions[str(decision.detail.get("candidate"))] = Opinion(
                bool(answer.get("related")), float(str(answer["confidence"]))
            )
    return opinions


def is_settled(decisions: Sequence[Decision]) -> bool | None:
    """Tell whether a model's choice leaves nothing to ask; None where no model chose.

    A sure link does, and a sure "none of them" to a message that is not elliptical.
    """
    asked = [d for d in decisions if d.features.get(SETTLES)]
    if not asked:
        return None
    if any(d.verdict == "LINK" and d.confidence_label != UNCERTAIN for d in asked):
        return True
    sure = all(d.features.get("llm_confidence", 1.0) >= SURE for d in asked)
    return sure and not any(d.detail.get("elliptical") for d in asked)


def settles(verdicts: Sequence[LinkVerdict], *, elliptical: bool) -> bool | None:
    """Tell the same of verdicts that are not written yet."""
    asked = [v for v in verdicts if v.settled]
    if not asked:
        return None
    if any(v.link and v.label != UNCERTAIN for v in asked):
        return True
    return not elliptical and all(v.opinion is None or v.opinion.confidence >= SURE for v in asked)


def is_new(evidence: Iterable[LinkEvidence], shown: Collection[str], policy: ChoicePolicy) -> bool:
    """Tell whether a candidate that is not clearly unlikely was not shown."""
    return any(one.score >= policy.drop and one.thread_id not in shown for one in evidence)


def _integer(decision: Decision, name: str) -> int:
    value = decision.detail.get(name)
    return value if isinstance(value, int) else 0


def _cut(turn: Observation) -> Observation:
    return turn if len(turn.text) <= LONGEST_LINE else replace(turn, text=turn.text[:LONGEST_LINE] + "…")
