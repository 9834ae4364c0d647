"""Let memories grow stronger by use and weaker by time: FSRS-6, and the reviews that feed it.

A new episode begins with the stability of a first "Good", raised by its surprise (up to one half). From then
on its retrievability falls with the days since its last review; `core/strength` computes it for whole result
lists at once and never stores it.

**The job.** A search that names the thread that asks leaves a pending review. When that thread next closes an
event, a `review` job grades what was shown: a language model says Again, Hard, Good or Easy; without one, use
is measured by what the next messages take up.

**Rules of the room.**
1. Recall itself changes no strength and writes nothing in its own transaction.
2. Only what was shown is rated, once an episode and day. Absence of evidence is no rating.
3. Again needs a contradiction, or that another memory was used instead. Under the default policy it lowers
   stability and leaves the clock, so that noise does not rank above its unreviewed twin.
4. What merely repeats recalled text (an echo) is no use.
5. A review is a decision with the strength before and after; a concurrent one is refused by version and
   judged again.
6. Elapsed days go in, state comes out: no clock is read inside the arithmetic.

**To add** a sign of use, write it in `core/review` as a number in [0, 1] with examples of both kinds. The
arithmetic itself is checked against the `fsrs` package and is not changed.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from episodic_agent.core.echo import By, all_own_words, echo_of
from episodic_agent.core.identity import decision_id
from episodic_agent.core.prompts import review as question
from episodic_agent.core.review import MOST_TURNS, FollowingTurn, Grade, Reviewed, Shown, grades, reviewed
from episodic_agent.core.threads.turns import role_of
from episodic_agent.engine.deps import Deps
from episodic_agent.engine.episodes.listing import successor
from episodic_agent.engine.jobs.asking import LAST_TRY, ask, may_pass, say_failed
from episodic_agent.engine.jobs.kinds import REVIEW
from episodic_agent.errors import EpisodicError, ProviderError
from episodic_agent.protocols import LanguageModel, Transaction
from episodic_agent.schemas import Decision, Episode, Job, Json, Observation, PendingReview, Scope
from episodic_agent.schemas.strength import Rating, Strength

BY_UPTAKE: Final = "uptake-2026-12"
MOST_WAITING: Final = 50  # recalls of one thread; a thread that never ends an event keeps the newest
BEFORE: Final = 12  # observations before the question: what they said is nobody's news
LONGEST_QUERY: Final = 1_000  # characters that are kept: a pasted page is judged by its beginning
_DAY: Final = timedelta(days=1)

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _PendingTranscript:
    """A recall that waits, with what was shown and what its thread said before and after."""

    pending: PendingReview
    shown: Sequence[Shown]
    before: Sequence[str]
    turns: Sequence[FollowingTurn]


def note_recall(
    deps: Deps,
    scope: Scope,
    thread: UUID,
    query: str,
    shown: Sequence[UUID],
    *,
    policy: str,
    identity: UUID,
) -> None:
    """Let a recall be judged later, best effort: an answer is not lost because its review cannot be kept."""
    try:
        with deps.store.begin(scope) as tx:
            waiting = tx.upkeep.reviews(thread)
            tx.upkeep.drop(*waiting[: max(0, len(waiting) - MOST_WAITING + 1)])
            after = tx.threads.frame(thread).next_seq
            tx.upkeep.put(
                PendingReview(
                    identity, thread, after, deps.clock(), query[:LONGEST_QUERY], tuple(shown), policy
                )
            )
    except EpisodicError as error:
        log.warning("the recall for thread %s will not be reviewed: %s", thread, error)


def call_reviews(tx: Transaction, closed: Sequence[Episode], now: datetime) -> None:
    """Ask for the reviews of threads that just closed events in which something recalled may have served."""
    ends: dict[UUID, int] = {}
    for episode in closed:
        ends[episode.thread_id] = max(ends.get(episode.thread_id, -1), episode.last_seq)
    for thread in sorted(ends, key=lambda thread: thread.bytes):
        if any(one.after_seq <= ends[thread] for one in tx.upkeep.reviews(thread)):
            tx.upkeep.ask(REVIEW, str(thread), f"{REVIEW}:{thread}", now=now)


class Reviewer:
    """The handler of `review` jobs."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps

    def handle(self, scope: Scope, jobs: Sequence[Job]) -> None:
        """Judge what the named threads recalled before the events they have closed since."""
        for job in jobs:
            transcripts = self._read(scope, UUID(job.key))
            judged = [(one, *self._grade(scope, job, one)) for one in transcripts]
            with self._deps.store.begin(scope) as tx:
                tx.upkeep.drop(job)
                for transcript, matching_grades, by in judged:
                    for grade in matching_grades:
                        self._apply(tx, transcript.pending, grade, by)
                tx.upkeep.drop(*(one.pending for one in transcripts))

    def _read(self, scope: Scope, thread: UUID) -> list[_PendingTranscript]:
        with self._deps.store.begin(scope, write=False) as tx:
            open_from = tx.threads.frame(thread).first_seq
            return [
                _pending_transcript(tx, one) for one in tx.upkeep.reviews(thread) if one.after_seq < open_from
            ]

    def _grade(self, scope: Scope, job: Job, transcript: _PendingTranscript) -> tuple[Sequence[Grade], str]:
        model = self._deps.model_for(scope, question.STAGE)
        if model is not None and transcript.shown and transcript.turns:
            try:
                rated = _complete(model, transcript)
                return [
                    Grade(e, r, 0.0, f"rated by {model.name}") for e, r in rated.items()
                ], question.VERSION
            except ProviderError as error:
                if job.attempts < LAST_TRY and may_pass(error):
                    raise
                say_failed(
                    log, "recall %s is reviewed without a model: %s", transcript.pending.id, error=error
                )
        matching_grades = grades(
            transcript.pending.query, transcript.shown, transcript.turns, before=transcript.before
        )
        return matching_grades, BY_UPTAKE

    def _apply(self, tx: Transaction, pending: PendingReview, grade: Grade, by: str) -> None:
        episode = tx.episodes.get(successor(tx, grade.episode_id))  # it may be replaced since it was read
        if episode is None or episode.generation_to is not None:
            return  # what was shown is no more
        now = self._deps.clock()
        before = Reviewed(
            Strength(episode.stability, episode.difficulty),
            episode.last_reviewed_at,
            _last_rated(tx, episode),
        )
        after = reviewed(before, grade.rating, now, policy=pending.policy)
        if after is None:
            return
        tx.episodes.strengthen(episode, after.strength, after.last_reviewed_at)
        rank = standing(tx, pending.shown).index(episode.id) + 1
        grade = replace(grade, episode_id=episode.id)
        tx.knowledge.decide(_decision(pending, grade, before, after, by, rank=rank))


def standing(tx: Transaction, shown: Sequence[UUID]) -> tuple[UUID, ...]:
    """Return the ids under which what was shown is found today, in its order, each once (`successor`)."""
    return tuple(dict.fromkeys(successor(tx, identity) for identity in shown))


def _pending_transcript(tx: Transaction, pending: PendingReview) -> _PendingTranscript:
    now = standing(tx, pending.shown)
    episodes = tx.episodes.get(now)
    shown = [_shown(tx, episodes[identity]) for identity in now if identity in episodes]
    first = pending.after_seq
    before = tx.observations.read(pending.thread_id, max(0, first - BEFORE), first - 1)
    after = tx.observations.read(pending.thread_id, first, first + MOST_TURNS - 1)
    return _PendingTranscript(
        pending,
        shown,
        [o.text for o in all_own_words(before)],
        [FollowingTurn(role_of(o), o.text) for o in _used(after)],
    )


def _used(after: Sequence[Observation]) -> list[Observation]:
    """Return what was said without what was pasted; to answer with a recalled sentence is to use it."""
    echoes = [(o, echo_of(o.extras, o.text)) for o in after]
    answers = [o for o, echo in echoes if echo is not None and echo.by is By.QUOTE]
    observations = {o.seq: o for o in (*all_own_words(after), *answers)}
    return [observations[seq] for seq in sorted(observations) if observations[seq].text.strip()]


def _shown(tx: Transaction, episode: Episode) -> Shown:
    observations = all_own_words(tx.observations.read(episode.thread_id, episode.first_seq, episode.last_seq))
    return Shown(episode.id, "\n".join([episode.title, episode.summary, *(o.text for o in observations)]))


def _last_rated(tx: Transaction, episode: Episode) -> datetime | None:
    rated = tx.knowledge.decisions(subject=episode.id, type=REVIEW, last=1)
    return rated[-1].at if rated else None


def _complete(model: LanguageModel, transcript: _PendingTranscript) -> Mapping[UUID, Rating]:
    asked, aliases = question.prompt(transcript.pending.query, transcript.shown, transcript.turns)

    def read(value: Mapping[str, Json]) -> Mapping[UUID, Rating]:
        return question.read_ratings(value, aliases)

    return ask(model, asked, question.SCHEMA, question.STAGE, read)


def _decision(
    pending: PendingReview, grade: Grade, before: Reviewed, after: Reviewed, by: str, *, rank: int
) -> Decision:
    at = after.last_rated_at or pending.at
    return Decision(
        id=decision_id(grade.episode_id, f"{REVIEW}-{pending.id}"),
        type=REVIEW,
        at=at,
        subject=grade.episode_id,
        features={
            "uptake": round(grade.uptake, 4),
            "rating": float(grade.rating),
            "days": max(0.0, (at - before.last_reviewed_at) / _DAY),
            "stability": before.strength.stability,
            "difficulty": before.strength.difficulty,
            "new_stability": after.strength.stability,
            "new_difficulty": after.strength.difficulty,
        },
        score=float(grade.rating),
        threshold=float(Rating.HARD),
        verdict=grade.rating.name.title(),
        policy_version=f"{pending.policy}/{by}",
        detail={
            "recall": str(pending.id),
            "thread": str(pending.thread_id),
            "query": pending.query,
            "rank": rank,
            "why": grade.why,
        },
    )
