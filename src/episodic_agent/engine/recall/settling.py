"""What settled what somebody took on: later messages, of its thread or another, and how its session ended."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Final, NamedTuple
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from episodic_agent.core.echo import is_echo, own_words
from episodic_agent.core.episodes.languages import content_terms
from episodic_agent.core.facts.stating import KNOWN_EMBEDDERS
from episodic_agent.core.ingest.words import SUCCESS
from episodic_agent.core.language import words
from episodic_agent.core.recall import term_weight
from episodic_agent.core.recall.alone import QUESTION_MARKS
from episodic_agent.core.recall.commitments import (
    SURE_TAKING,
    Report,
    reports,
    says_done,
    settling,
    takes_on,
    towards_reports,
)
from episodic_agent.engine.results import SessionEnd
from episodic_agent.engine.threads.session_records import (
    SESSION,
    SessionFacts,
    facts_of,
    read_record,
    sections_in,
)
from episodic_agent.engine.visibility.hidden import Visibility
from episodic_agent.protocols import OBSERVATIONS, Refs, Transaction, ref_of, split_ref
from episodic_agent.schemas import Observation, Vector

REPORTED: Final = 0.05  # from which a message may report that something is settled
SETTLED: Final = 0.2  # from which a later message is told to have settled something
_FOLLOWING: Final = 12  # messages behind something in its thread that are read whatever they say
_LIKE_REPORTS: Final = 40  # messages that are likest to a report of one thing
_BEFORE: Final = 2  # messages before a report that tell what it is of
_DAY: Final = 86_400.0
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class CommitmentQuestion:
    """A question that may be for commitments, as it is embedded by `embedder` (`vector` None: by none).

    Only among the messages that `among` gives is looked for what answers it, None: among all.
    """

    text: str
    vector: Vector | None
    embedder: str
    language: str | None
    among: Callable[[], Refs] | None = None

    @property
    def judged(self) -> Vector | None:
        """Return the vector that the judges know, or None."""
        return self.vector if self.embedder in KNOWN_EMBEDDERS else None


@dataclass(frozen=True, slots=True)
class TakenOn:
    """A message that takes something on, with the request it answers, None: none."""

    ref: int
    item: Observation
    asked: Observation | None = None

    @property
    def is_nod(self) -> bool:
        """Tell whether it answers what somebody else takes on: "ok" to "I'll do it next week"."""
        if self.asked is None:
            return False
        before = own_words(self.asked).text.rstrip()
        return not before.endswith(QUESTION_MARKS) and takes_on(before) >= SURE_TAKING

    @property
    def text(self) -> str:
        """Return what it says, behind the request."""
        before = "" if self.asked is None else own_words(self.asked).text + "\n"
        return before + own_words(self.item).text


def read_taken_on(
    tx: Transaction, refs: Sequence[int], answers: Sequence[int], visibility: Visibility
) -> list[TakenOn]:
    """Return messages as what they take on, those of `answers` with the request before them."""
    requests = visibility.shown(np.array([ref - 1 for ref in answers], np.int64)).tolist()
    items = tx.observations.get(sorted({*refs, *requests}))
    return [
        TakenOn(ref, items[ref], items.get(ref - 1) if ref in answers and ref - 1 in requests else None)
        for ref in sorted(refs)
    ]


def stored_before(tx: Transaction, refs: Refs, now: datetime) -> dict[int, Observation]:
    """Return messages with words that were there by `now`, echoes left out, rising."""
    return {
        ref: item
        for ref, item in sorted(tx.observations.get(refs.tolist()).items())
        if item.at <= now and not is_echo(item) and item.text.strip()
    }


def settled_by(
    tx: Transaction,
    taken_on: Sequence[TakenOn],
    asked: CommitmentQuestion,
    now: datetime,
    visibility: Visibility,
    rivals: Sequence[TakenOn] = (),
) -> dict[int, list[tuple[int, float]]]:
    """Return for things taken on the messages that likely settle it, the likeliest first, by reference.

    Each with how likely it does, at least `SETTLED`. `rivals` are other things that were taken on, which a
    message may settle as well.
    """
    result: dict[int, list[tuple[int, float]]] = {}
    for ref, later, some in read_reports(tx, taken_on, asked, now, visibility, rivals):
        likely = zip(later, settling(some).tolist(), strict=True)
        if settling_it := [(report, sure) for report, sure in likely if sure >= SETTLED]:
            result[ref] = sorted(settling_it, key=lambda one: (-one[1], one[0]))
    return result


class EndedSession(NamedTuple):
    """A session that ended: what its caller said of it, and the references it reaches over."""

    facts: SessionFacts
    first: int
    last: int
    ended_at: datetime


def sessions_of(
    tx: Transaction,
    taken_on: Sequence[TakenOn],
    asked: CommitmentQuestion,
    now: datetime,
    visibility: Visibility,
) -> dict[int, list[EndedSession]]:
    """Return the sessions that may settle what was taken on, by reference: its own and what went on from it.

    Its own stands first. Only such as ended by `now`, and of which something is shown.
    """
    every = None if asked.among is None else frozenset(asked.among().tolist())
    threads = {task.item.thread_id for task in taken_on}
    of_thread = {thread: _ended_in(tx, thread, now) for thread in sorted(threads)}
    result: dict[int, list[EndedSession]] = {}
    later: dict[UUID, list[EndedSession]] = {}
    for task in taken_on:
        own = next((s for s in of_thread[task.item.thread_id] if s.first <= task.ref <= s.last), None)
        if own is None:
            continue
        if own.facts.episode_id not in later:
            later[own.facts.episode_id] = [
                session
                for session in (own, *_going_on(tx, own, now))
                if (every is None or session.last in every) and _is_shown(tx, session, visibility)
            ]
        result[task.ref] = later[own.facts.episode_id]
    return result


def _ended_in(tx: Transaction, thread: UUID, now: datetime) -> list[EndedSession]:
    every = [read_record(row) for row in tx.knowledge.decisions(subject=thread, type=SESSION)]
    if not every:
        return []
    sections, number = tx.threads.sections(thread), tx.threads.number(thread)
    ended = []
    for facts in every:
        own = sections_in(facts, sections)
        if own and facts.ended_at is not None and facts.ended_at <= now and (facts.last_seq or 0) >= 0:
            last = ref_of(number, facts.last_seq or 0)
            ended.append(EndedSession(facts, ref_of(number, own[0].first_seq), last, facts.ended_at))
    return ended


def _going_on(tx: Transaction, session: EndedSession, now: datetime) -> list[EndedSession]:
    """Return the sessions that go on from one, directly or not, the earliest first."""
    below = tx.episodes.nodes([session.facts.episode_id], "below")
    known = [facts_of(tx, node.id) for node in below if node.id != session.facts.episode_id]
    going_on = [
        one
        for facts in known
        if facts is not None
        for one in _ended_in(tx, facts.thread_id, now)
        if one.facts.episode_id == facts.episode_id
    ]
    return sorted(going_on, key=lambda one: one.ended_at)


def _is_shown(tx: Transaction, session: EndedSession, visibility: Visibility) -> bool:
    if not visibility.drawn:
        return True
    episode = tx.episodes.get(session.facts.episode_id)
    if episode is None or visibility.why_episode(episode):
        return False
    return not any(map(visibility.holds, (session.facts.topic, *session.facts.supplied.key_decisions)))


def end_of(session: EndedSession) -> SessionEnd:
    """Return how a session ended, by its outcome alone."""
    facts = session.facts
    return SessionEnd(session.ended_at, facts.outcome or "", facts.topic, facts.episode_id)


def ends_of(session: EndedSession) -> list[SessionEnd]:
    """Return the decisions of a session that say something is done."""
    facts = session.facts
    return [
        SessionEnd(session.ended_at, decision, facts.topic, facts.episode_id)
        for decision in facts.supplied.key_decisions
        if says_done(decision, session.ended_at, well=facts.outcome == SUCCESS)
    ]


def read_reports(
    tx: Transaction,
    taken_on: Sequence[TakenOn],
    asked: CommitmentQuestion,
    now: datetime,
    visibility: Visibility,
    rivals: Sequence[TakenOn] = (),
) -> list[tuple[int, list[int], list[Report]]]:
    """Return for each thing taken on the later messages that may settle it, rising, as the pair is judged."""
    if not taken_on:
        return []
    vectors = _MessageVectors(tx, asked)
    candidates = visibility.shown(_report_candidates(taken_on, asked, vectors))
    stored = stored_before(tx, candidates, now)
    around = sorted({ref - n for ref in stored for n in range(1, _BEFORE + 1)} - stored.keys())
    before = stored_before(tx, visibility.shown(np.array(around, np.int64)), now)
    near = {**stored, **before}
    vectors.load(
        [
            *near,
            *(task.ref for task in (*taken_on, *rivals)),
            *(task.ref - 1 for task in (*taken_on, *rivals) if task.asked),
        ]
    )
    likely = {ref: reports(own_words(item).text, vectors.judged(ref)) for ref, item in stored.items()}
    later = {ref: item for ref, item in stored.items() if likely[ref] >= REPORTED}
    pairs = _ReportPairs(tx, [*taken_on, *rivals], asked, near, vectors)
    result = []
    for task in taken_on:
        refs = [ref for ref, item in later.items() if ref != task.ref and item.at >= task.item.at]
        thread = split_ref(task.ref)[0]
        refs = [ref for ref in refs if split_ref(ref)[0] != thread or ref > task.ref]
        result.append((task.ref, refs, [pairs.report(task, ref, likely[ref]) for ref in refs]))
    return result


def _report_candidates(
    taken_on: Sequence[TakenOn], asked: CommitmentQuestion, vectors: "_MessageVectors"
) -> Refs:
    every = None if asked.among is None else asked.among()
    refs = [task.ref + n for task in taken_on for n in range(1, _FOLLOWING + 1)]
    for task in taken_on:
        refs += vectors.like_reports(task.ref, every)
    following = np.unique(np.array(refs, np.int64))
    return following if every is None else np.intersect1d(following, every)


class _MessageVectors:
    """The vectors of messages, by reference; of any embedder for cosines, of the judges' own for them."""

    def __init__(self, tx: Transaction, asked: CommitmentQuestion) -> None:
        self._tx = tx
        self._asked = asked
        self._of: dict[int, Vector] = {}

    def load(self, refs: Sequence[int]) -> None:
        """Read the vectors of messages."""
        missing = sorted({*refs} - self._of.keys())
        if self._asked.vector is not None and missing:
            self._of.update(self._tx.index.vectors(OBSERVATIONS, self._asked.embedder, missing))

    def judged(self, ref: int) -> Vector | None:
        """Return the vector that the judges know, or None."""
        return self._of.get(ref) if self._asked.judged is not None else None

    def like_reports(self, ref: int, among: Refs | None) -> list[int]:
        """Return the messages that are likest to a report of what was taken on."""
        self.load([ref])
        vector = self._of.get(ref)
        if vector is None:
            return []
        query = vector / np.linalg.norm(vector)
        if self._asked.judged is not None:
            query = query + towards_reports()
        most = _LIKE_REPORTS if among is None else 0
        refs, scores = self._tx.index.vector_scores(
            OBSERVATIONS, self._asked.embedder, query.astype(np.float32), among, limit=most
        )
        best = np.lexsort((refs, -np.nan_to_num(scores)))[:_LIKE_REPORTS]
        likest: list[int] = refs[best].tolist()
        return likest

    def unit(self, refs: Sequence[int]) -> Floats | None:
        """Return the direction of some messages together, None where none has a vector."""
        some = [self._of[ref] for ref in refs if ref in self._of]
        if not some:
            return None
        total: Floats = np.array(some, np.float64).sum(axis=0)  # equal on every processor
        unit: Floats = total / max(float(np.sqrt(total @ total)), 1e-9)
        return unit


class _ReportPairs:
    """What is told of a later message beside something taken on, and beside all else that was."""

    def __init__(
        self,
        tx: Transaction,
        taken_on: Sequence[TakenOn],
        asked: CommitmentQuestion,
        near: Mapping[int, Observation],
        vectors: _MessageVectors,
    ) -> None:
        self._near = near
        self._vectors = vectors
        self._language = asked.language
        self._taken_on = taken_on
        places = {item.thread_id for item in (*near.values(), *(task.item for task in taken_on))}
        self._explicit = {one.id for one in tx.threads.list(ids=sorted(places)) if one.explicit}
        self._terms = {task.ref: sorted(set(content_terms(task.text, asked.language))) for task in taken_on}
        every = sorted({term for terms in self._terms.values() for term in terms})
        statistics = tx.index.statistics(OBSERVATIONS, every)
        self._weights = {
            term: term_weight(term, statistics.frequencies.get(term, 0), statistics.documents)
            for term in every
        }
        self._totals = {ref: sum(self._weights[term] for term in terms) for ref, terms in self._terms.items()}
        self._meant = {
            task.ref: vectors.unit([task.ref] if task.asked is None else [task.ref, task.ref - 1])
            for task in taken_on
        }
        # each message stands beside all that was taken on, and each of those beside all others
        self._unit = cache(lambda *refs: vectors.unit(refs))
        self._words_of = cache(self._content_words)
        self._cosine = cache(self._cosine_of)
        self._held = cache(self._share_held)
        self._beside = cache(self._all_before)

    def report(self, task: TakenOn, ref: int, likelihood: float) -> Report:
        """Return a later message as the pair is judged."""
        item = self._near[ref]
        before = [n for n in range(ref - _BEFORE, ref) if n in self._near and n != task.ref]
        beside = self._beside(ref)
        cosine, with_before = self._cosine(task.ref, ref)
        held = self._held(task.ref, ref)
        here = split_ref(ref)[0] == split_ref(task.ref)[0]
        first, last = bisect_right(beside.refs, task.ref), bisect_left(beside.refs, ref)
        return Report(
            text=beside.text,
            length=beside.length,
            likelihood=likelihood,
            takes_on=beside.takes_on,
            cosine=cosine,
            with_before=with_before,
            margin=max(cosine, with_before) - _best_other(beside.cosines, (task.ref, ref)),
            held=held,
            held_margin=held - _best_other(beside.held, (task.ref, ref)),
            held_near=max((self._held(task.ref, n) for n in before), default=0.0),
            between=ref - task.ref - 1 if here else None,
            others_between=max(last - first, 0) if here else len(beside.refs) - beside.refs.count(task.ref),
            in_stream=here or self._stream_of(item) == self._stream_of(task.item),
            by_whose=item.actor == task.item.actor,
            by_asker=task.asked is not None and item.actor == task.asked.actor,
            days=(item.at - task.item.at).total_seconds() / _DAY,
        )

    def _stream_of(self, item: Observation) -> UUID | str | None:
        """Return the thread that somebody chose for a message, else its channel."""
        return item.thread_id if item.thread_id in self._explicit else item.channel

    def _all_before(self, ref: int) -> "_Beside":
        """Return a message beside all that was taken on before it."""
        item = self._near[ref]
        text = own_words(item).text
        refs = sorted(task.ref for task in self._taken_on if task.item.at <= item.at)
        cosines = sorted(((max(self._cosine(one, ref)), one) for one in set(refs)), reverse=True)
        held = sorted(((self._held(one, ref), one) for one in set(refs)), reverse=True)
        likely = takes_on(text, self._vectors.judged(ref))
        return _Beside(text, len(words(text)), likely, refs, cosines, held)

    def _cosine_of(self, task: int, ref: int) -> tuple[float, float]:
        """Return how near a message is to what was taken on, by itself and with the message before it."""
        meant = self._meant[task]
        own, both = self._directions(ref, task)
        if meant is None or own is None or both is None:
            return 0.0, 0.0
        return float(meant @ own), float(meant @ both)

    def _directions(self, ref: int, task: int) -> tuple[Floats | None, Floats | None]:
        own = self._unit(ref)
        return own, self._unit(ref, ref - 1) if ref - 1 in self._near and ref - 1 != task else own

    def _content_words(self, ref: int) -> frozenset[str]:
        return frozenset(content_terms(own_words(self._near[ref]).text, self._language))

    def _share_held(self, task: int, ref: int) -> float:
        """Return the share of the weight of what was taken on that a message's words have."""
        total = self._totals[task]
        if not total:
            return 0.0
        here = self._words_of(ref)
        return float(sum(self._weights[term] for term in self._terms[task] if term in here) / total)


class _Beside(NamedTuple):
    """A message beside what was taken on before it: `refs` rising, the nearest and the likest first."""

    text: str
    length: int
    takes_on: float
    refs: Sequence[int]
    cosines: Sequence[tuple[float, int]]
    held: Sequence[tuple[float, int]]


def _best_other(ranked: Sequence[tuple[float, int]], refs: tuple[int, int]) -> float:
    """Return the first value of another reference than these, 0 where there is none.

    What reports and takes something on itself is as near as can be to itself.
    """
    return next((value for value, other in ranked if other not in refs), 0.0)
