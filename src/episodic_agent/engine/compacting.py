"""The compact job: tell a part of a thread at three resolutions, keep and index the words, archive events.

Everything is read and told outside the transaction that writes; the observations stay as they are, whatever
happens. A job that fails is tried again as any other, and the words of an earlier compaction stay meanwhile.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Final
from uuid import UUID

import numpy as np

from episodic_agent.core.chaining.metadata import NOTHING
from episodic_agent.core.compaction import Resolutions, Trigger, resolutions
from episodic_agent.core.compaction.resolutions import source_tokens
from episodic_agent.core.context import estimate
from episodic_agent.core.echo import all_heard
from episodic_agent.core.identity import decision_id
from episodic_agent.core.interfaces import PARTS, LanguageModel, Posting, Transaction, ref_of
from episodic_agent.core.prompts import compact
from episodic_agent.core.skills import SkillState, TurnRef
from episodic_agent.core.summaries import Words, encode_extractive, encode_steps
from episodic_agent.core.text import term_counts
from episodic_agent.core.threads.turns import turn_count
from episodic_agent.core.windows import windows
from episodic_agent.engine.asking import ask
from episodic_agent.engine.chains import CHAIN
from episodic_agent.engine.chains import OFF as UNCHAINED
from episodic_agent.engine.part_words import events_of, told_before, told_by_events
from episodic_agent.engine.parting import COMPACT, MESSAGES, covers, current, limits_of, request
from episodic_agent.engine.parts import Parts
from episodic_agent.engine.retrying import until_unopposed
from episodic_agent.engine.session_facts import SessionFacts, session_at
from episodic_agent.engine.wording import LATER, REFUSED, described
from episodic_agent.errors import BadReply, BudgetSpent, ProviderError
from episodic_agent.schemas import (
    Decision,
    Encoding,
    Episode,
    EpisodeState,
    Job,
    Json,
    Kind,
    Observation,
    Scope,
    Thread,
    ThreadPart,
    Vector,
)

EXTRACTIVE: Final = "compact-extractive-1"
LAST_TRY: Final = 3  # attempts at a model before the extractive words do (I8)
LITTLE: Final = 120  # tokens; a part of so few is told by what was said, at no cost
LOOK_AGAIN: Final = timedelta(minutes=10)
LONGEST_WAIT: Final = timedelta(days=3)  # for the words of an event that began in a part
_AT_ONCE: Final = 500  # parts one look by the clock asks for; the next look finds the rest

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Told:
    """What a part is told as, by whom, and why which of a model's texts could not be used.

    `again`: its answer could not be read, so it is asked once more later. `topic` is what the session was
    started for that it is.
    """

    found: Resolutions
    about: Words
    by: str
    refused: tuple[str, ...] = ()
    again: bool = False
    topic: str = ""

    @property
    def tokens(self) -> dict[str, float]:
        """Return how many tokens there were, and how many each text has."""
        texts = {"micro": self.found.micro, "meso": self.found.meso, "macro": self.found.macro}
        sizes = {f"{name}_tokens": float(estimate(text)) for name, text in texts.items()}
        return {"source_tokens": float(self.found.source_tokens), **sizes}

    @property
    def searchable(self) -> str:
        """Return what is searched by words: the title and the three texts."""
        return searchable(self.about.title, self.found.micro, self.found.meso, self.found.macro, self.topic)

    @property
    def embedded(self) -> list[str]:
        """Return what is searched by meaning, in pieces an embedder takes."""
        return embeddable(self.found.micro, self.found.meso, self.topic)


@dataclass(slots=True)
class _Work:
    job: Job
    episode: Episode
    last_seq: int
    observations: Sequence[Observation]
    followed_at: datetime | None
    skills: Sequence[str] = ()
    events: Sequence[Episode] = ()  # where a model may have told all of it already
    again: bool = False  # compacted so far, but a model's answer could not be read then
    waits: bool = False  # for the end of the event it is cut in, whose words will tell it
    compacted_through: int | None = None
    told: Told | None = None
    vectors: Vector | None = None
    session: SessionFacts | None = None


class Compactor:
    """The handler of `compact` jobs."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def handle(self, scope: Scope, jobs: Sequence[Job]) -> None:
        """Compact the parts the jobs name; one that is gone or compacted so far only ends its job."""
        works, idle = self._read(scope, jobs, asks=self._parts.model_for(scope, compact.STAGE) is not None)
        waiting = [work.job for work in works if work.waits]
        works = [work for work in works if not work.waits]
        for work in works:
            work.told = told = self._tell(scope, work)
            told.about = _described(work, told, self._parts.language)
            told.topic = "" if work.session is None else work.session.topic
        self._embed(works)
        now = self._parts.clock()
        with self._parts.store.begin(scope) as tx:
            for job in (*idle, *waiting, *(work.job for work in works)):
                tx.jobs.finish(job)
            for job in waiting:
                tx.jobs.put(COMPACT, job.key, job.serial, now=now, run_after=now + LOOK_AGAIN)
            # in one order everywhere: each holds the frame of its thread
            for work in sorted(works, key=lambda w: (w.episode.thread_id.bytes, w.episode.first_seq)):
                self._write(tx, work, now)

    def _read(self, scope: Scope, jobs: Sequence[Job], *, asks: bool) -> tuple[list[_Work], list[Job]]:
        works: list[_Work] = []
        idle: list[Job] = []
        with self._parts.store.begin(scope, write=False) as tx:
            for job in jobs:
                identity, _, last_seq = job.key.rpartition(":")
                episode, through = tx.episodes.get(UUID(identity)), int(last_seq)
                part = None if episode is None else tx.parts.at(episode.thread_id, episode.first_seq)
                again = asks and _is_to_be_told_again(episode, part, through)
                if episode is None or part is None or (covers(part, through) and not again):
                    idle.append(job)
                    continue
                found = tx.threads.observations(episode.thread_id, episode.first_seq, through + 1)
                inside = [one for one in found if one.seq <= through]
                if not inside:  # all of it was erased: there is nothing to tell
                    idle.append(job)
                    continue
                inside = all_heard(inside) or inside
                following = found[-1].at if len(inside) < len(found) else None
                work = _Work(job, episode, through, inside, following, _skills_in(tx, inside), again=again)
                if asks:
                    work.events, to_come = events_of(tx, episode, through, inside)
                    work.waits = to_come and self._may_wait(part, following or inside[-1].at)
                work.compacted_through = part.compacted_through
                work.session = session_at(tx, part)
                works.append(work)
        return works, idle

    def _may_wait(self, part: ThreadPart, ended_at: datetime) -> bool:
        """Tell whether a part may wait for the words of the event that it ends in."""
        asked_for = part.trigger in (Trigger.MANUAL, Trigger.THREAD_END)
        return not asked_for and self._parts.clock() - ended_at < LONGEST_WAIT

    def _tell(self, scope: Scope, work: _Work) -> Told:
        language = self._parts.language
        said = distinct(work.observations)
        if all(one.kind is Kind.STEP for one in said):
            found = resolutions(said, skills=work.skills, language=language)
            return Told(found, encode_steps(work.observations), EXTRACTIVE)
        model = self._parts.model_for(scope, compact.STAGE)
        if model is None or source_tokens(said) <= LITTLE:
            return _extractive(work, said, language)
        known = told_by_events(work.events, said, work.skills)
        known = known or told_before(work.episode, work.compacted_through, said, language)
        if known is not None:
            return Told(*known)
        extractive = _extractive(work, said, language)
        found, about = extractive.found, extractive.about
        try:
            texts, told = _asked(model, said, found)
            better, refused = compact.checked(texts, found, said)
        except ProviderError as error:
            # a spent budget is not waited for, and who answered wrongly twice would again
            if work.job.attempts < LAST_TRY and not isinstance(error, BudgetSpent | BadReply):
                raise
            log.warning("part %s is told without a language model: %s", work.episode.id, error)
            return replace(extractive, refused=(str(error),), again=isinstance(error, BadReply))
        if len(refused) == len(compact.LIMITS):
            return replace(extractive, refused=refused)
        about = replace(about, metadata={**about.metadata, **told})
        return Told(better, about, f"{model.name} {compact.VERSION}", refused)

    def _embed(self, works: Sequence[_Work]) -> None:
        embedder = self._parts.embedder
        texts = [text for work in works if work.told for text in work.told.embedded]
        if embedder is None or not texts:
            return
        vectors = np.asarray(embedder.embed(texts))  # a failure leaves the jobs to be tried again
        start = 0
        for work in works:
            count = len(work.told.embedded) if work.told else 0
            work.vectors = vectors[start : start + count] if count else None
            start += count

    def _write(self, tx: Transaction, work: _Work, now: datetime) -> None:
        thread_id, first_seq = work.episode.thread_id, work.episode.first_seq
        frame = tx.threads.frame(thread_id)  # nobody appends to the thread meanwhile
        part, episode, told = tx.parts.at(thread_id, first_seq), tx.episodes.get(work.episode.id), work.told
        if (
            told is None
            or part is None
            or episode is None
            or (covers(part, work.last_seq) and not work.again)
        ):
            return  # somebody was faster
        if work.again and (told.by == EXTRACTIVE or not _is_to_be_told_again(episode, part, work.last_seq)):
            return  # told as it was
        last = tx.parts.last(thread_id)
        is_last = last is not None and last.first_seq == first_seq
        end = frame.next_seq - 1 if is_last else episode.last_seq
        tx.episodes.archive(thread_id, first_seq, work.last_seq)
        thread = tx.threads.get(thread_id)
        decision = _decision(part, thread, work, told, now)
        tx.episodes.decide(decision)
        tx.episodes.encode(_encoding(episode, told, now))
        tx.episodes.change(
            episode.id,
            state=EpisodeState.COMPACTED if work.last_seq >= end else episode.state,
            last_seq=max(work.last_seq, episode.last_seq),
            end_at=max(episode.start_at, *(o.at for o in work.observations)),
            decision_id=decision.id,
        )
        tx.parts.save(replace(part, compacted_through=work.last_seq, compacted_at=now))
        closed = episode.state is EpisodeState.CLOSED and work.last_seq >= end
        if closed and self._parts.chain_policy != UNCHAINED:
            tx.jobs.put(CHAIN, str(episode.id), CHAIN, now=now)  # one after another, as sessions ended
        if told.again:
            tx.jobs.put(COMPACT, work.job.key, work.job.serial, now=now, run_after=now + LATER)
        index_part(
            tx, ref_of(tx.threads.number(thread_id), first_seq), told.searchable, self._parts, work.vectors
        )


def _is_to_be_told_again(episode: Episode | None, part: ThreadPart | None, last_seq: int) -> bool:
    """Tell whether a part is compacted just so far, without a model whose answer could not be read."""
    if episode is None or part is None or part.compacted_through != last_seq:
        return False
    return episode.encoded_by == EXTRACTIVE and REFUSED in episode.metadata


def _skills_in(tx: Transaction, observations: Sequence[Observation]) -> Sequence[str]:
    """Return the names of the skills that some of these observations show, the surest first."""
    turns = [TurnRef(one.thread_id, one.seq) for one in observations if one.kind is not Kind.STEP]
    shown = {identity for ids in tx.skills.shown_by(turns).values() for identity in ids}
    kept = [one for identity in sorted(shown) if (one := tx.skills.get(identity)) is not None]
    active = [one.skill for one in kept if one.state is SkillState.ACTIVE]
    return [skill.name for skill in sorted(active, key=lambda skill: (-skill.confidence, skill.name))]


def distinct(observations: Sequence[Observation]) -> Sequence[Observation]:
    """Return what is worth telling: all of a talk, of an agent's steps each text once."""
    seen: set[str] = set()
    kept = []
    for one in observations:
        if one.kind is Kind.STEP and one.text in seen:
            continue
        seen.add(one.text)
        kept.append(one)
    return kept


def _described(work: _Work, told: Told, language: str | None) -> Words:
    """Return words whose metadata say what the records tell, what the caller said of a session first."""
    session, guessed = work.session, told.by != EXTRACTIVE
    given = NOTHING if session is None else session.given
    found = described(told.about, work.observations, language, guessed=guessed, given=given)
    return found if session is None else replace(found, metadata={**found.metadata, **session.about()})


def _extractive(work: _Work, said: Sequence[Observation], language: str | None) -> Told:
    found = resolutions(said, skills=work.skills, language=language)
    return Told(found, encode_extractive(work.observations, (), language=language), EXTRACTIVE)


def _asked(
    model: LanguageModel, said: Sequence[Observation], found: Resolutions
) -> tuple[Mapping[str, str], Mapping[str, Json]]:
    """Return the three texts of an answer, and what it says the part was about."""

    def read(value: Mapping[str, Json]) -> tuple[Mapping[str, str], Mapping[str, Json]]:
        return compact.read(value), compact.about(value, said)

    prompt = compact.prompt(said, found.source_tokens)
    return ask(model, prompt, compact.SCHEMA, compact.STAGE, read)


def _encoding(episode: Episode, told: Told, now: datetime) -> Encoding:
    found = told.found
    metadata: dict[str, Json] = {
        **told.about.metadata,
        "micro": found.micro,
        "macro": found.macro,
        "source_tokens": found.source_tokens,
    }
    if told.again:
        metadata[REFUSED] = list(told.refused)
    version = episode.encoding_version + 1
    return Encoding(episode.id, version, told.about.title, found.meso, metadata, told.by, now)


def _decision(part: ThreadPart, thread: Thread | None, work: _Work, told: Told, now: datetime) -> Decision:
    """Return the record of a compaction: why it was due, by what number, and what it made of how much."""
    trigger = Trigger(part.trigger or Trigger.MANUAL)
    limits = MESSAGES if thread is None else limits_of(thread)
    turns = float(turn_count(work.observations) if limits is MESSAGES else len(work.observations))
    # where the clock is behind event time, what follows made it due
    latest = work.followed_at if now - part.first_at < limits.age and work.followed_at is not None else now
    hours = (latest - part.first_at) / timedelta(hours=1)
    compared = {
        Trigger.SIZE: (turns, float(limits.turns)),
        Trigger.TIME: (hours, limits.age / timedelta(hours=1)),
    }
    score, threshold = compared.get(trigger, (1.0, 1.0))  # somebody asked for it, or the thread is over
    # what else is done with a part, each with what came of it
    steps: Mapping[str, Json] = {"skills": len(work.skills)}
    return Decision(
        id=decision_id(part.episode_id, f"{COMPACT}-{work.last_seq}{'-again' * work.again}"),
        type=COMPACT,
        at=now,
        subject=part.episode_id,
        features={"turns": turns, "hours": hours, **told.tokens},
        score=score,
        threshold=threshold,
        verdict=trigger.value,
        policy_version=told.by,
        detail={
            "first_seq": part.first_seq,
            "last_seq": work.last_seq,
            "opened_for": part.opened_for,
            "refused": list(told.refused),
            "steps": steps,
        },
    )


def ask_due(parts: Parts, scope: Scope, now: datetime) -> int:
    """Ask for the compaction of parts whose first turn is a day old; return how many."""
    with parts.store.begin(scope, write=False) as tx:
        threads = dict.fromkeys(p.thread_id for p in tx.parts.grown(now - MESSAGES.age, limit=_AT_ONCE))
    return sum(until_unopposed(partial(_ask_due, parts, scope, one, now)) for one in threads)


def _ask_due(parts: Parts, scope: Scope, thread_id: UUID, now: datetime) -> int:
    with parts.store.begin(scope) as tx:
        last_seq = tx.threads.frame(thread_id).next_seq - 1
        part = tx.parts.last(thread_id)
        if part is None or not part.grown or now - part.first_at < MESSAGES.age:
            return 0  # it was asked for between the look and the lock
        request(tx, part, Trigger.TIME, last_seq, parts.clock())
        return 1


def ask_all(parts: Parts, scope: Scope, thread_id: UUID) -> list[UUID]:
    """Ask for the compaction of all of a thread that has none yet; return the parts' episodes, in order."""
    return until_unopposed(lambda: _ask_all(parts, scope, thread_id))


def _ask_all(parts: Parts, scope: Scope, thread_id: UUID) -> list[UUID]:
    with parts.store.begin(scope) as tx:
        thread, last_seq = tx.threads.get(thread_id), tx.threads.frame(thread_id).next_seq - 1
        if thread is None or last_seq < 0:
            return []
        now = parts.clock()
        current(tx, thread, last_seq, now)
        found = tx.parts.of_thread(thread_id)
        ends = [*(following.first_seq - 1 for following in found[1:]), last_seq]
        filled = [(p, end) for p, end in zip(found, ends, strict=True) if p.first_seq <= end]
        wanted = [(p, end) for p, end in filled if not covers(p, end)]
        for part, end in wanted:
            request(tx, part, Trigger.MANUAL, end, now, followed=end < last_seq)
        return [part.episode_id for part, _ in wanted]


def archive_again(tx: Transaction, thread_id: UUID) -> None:
    """Archive what an undone resegmentation brought back into parts that were compacted meanwhile.

    Their words stay: they tell what was said, however it is cut into events.
    """
    for part in tx.parts.of_thread(thread_id):
        if part.compacted_through is not None:
            tx.episodes.archive(thread_id, part.first_seq, part.compacted_through)


def searchable(title: str, micro: str, meso: str, macro: str, topic: str = "") -> str:
    """Return the text a part is found by through its words."""
    return "\n".join([*([topic] if topic else []), title, micro, meso, macro])


def embeddable(micro: str, meso: str, topic: str = "") -> list[str]:
    """Return the text a part is found by through its meaning, as far as an embedder reads at once.

    What it was about stands first. Details have vectors of their own, those of the observations; embedding
    all of the words again would cost as much as embedding the thread did.
    """
    text = f"{topic}\n{micro}\n{meso}".strip()
    return list(windows(text)[:1]) if text else []


def index_part(tx: Transaction, ref: int, words: str, parts: Parts, vectors: Vector | None) -> None:
    """Let a part be found by its words and, where it has vectors, by their meaning."""
    counts = term_counts(words, parts.language)
    tx.index.put_postings(PARTS, [Posting(ref, counts, sum(counts.values()))])
    if vectors is not None:
        tx.index.put_vectors(PARTS, parts.embedder_name, [ref] * len(vectors), vectors)
