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

from episodic_agent.core.chains.metadata import NOTHING
from episodic_agent.core.context.tokens import estimate
from episodic_agent.core.echo import all_own_words
from episodic_agent.core.episodes.extractive import EpisodeText, encode_extractive, encode_steps
from episodic_agent.core.identity import decision_id
from episodic_agent.core.language import term_counts
from episodic_agent.core.language.windows import windows
from episodic_agent.core.prompts import compact
from episodic_agent.core.sections.resolutions import Resolutions, resolutions, source_tokens
from episodic_agent.core.sections.triggers import Trigger
from episodic_agent.core.threads.turns import turn_count
from episodic_agent.engine.chains.ancestry import OFF as UNCHAINED
from episodic_agent.engine.deps import Deps
from episodic_agent.engine.episodes.wording import LATER, REFUSED, described, language_for
from episodic_agent.engine.jobs.asking import LAST_TRY, ROUNDS, ask, may_pass, say_failed
from episodic_agent.engine.jobs.kinds import CHAIN, COMPACT, FACTS
from episodic_agent.engine.jobs.retrying import until_unopposed
from episodic_agent.engine.sections.bounds import MESSAGES, covers, current, limits_of, request
from episodic_agent.engine.sections.words import ToCome, events_of, previous_words, words_of_events
from episodic_agent.engine.threads.session_records import SessionFacts, session_at
from episodic_agent.engine.visibility.hidden import newest_versions
from episodic_agent.errors import BadReply, ProviderError
from episodic_agent.protocols import PARTS, LanguageModel, Posting, Transaction, ref_of
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
    Section,
    Thread,
    Vector,
)
from episodic_agent.schemas.skills import SkillState, TurnRef

EXTRACTIVE: Final = "compact-extractive-2"
LITTLE: Final = 120  # tokens; a part of so few is told by what was said, at no cost
LOOK_AGAIN: Final = timedelta(minutes=10)
LONGEST_WAIT: Final = timedelta(days=3)  # for the end of an event that began in a part
_AT_ONCE: Final = 500  # parts one look by the clock asks for; the next look finds the rest

log = logging.getLogger(__name__)


@dataclass(slots=True)
class SectionWords:
    """What a part is told as, by whom, and why which of a model's texts could not be used.

    `again`: its answer could not be read, so it is asked once more later. `topic` is what the session was
    started for that it is.
    """

    resolutions: Resolutions
    about: EpisodeText
    by: str
    refused: tuple[str, ...] = ()
    again: bool = False
    topic: str = ""

    @property
    def tokens(self) -> dict[str, float]:
        """Return how many tokens there were, and how many each text has."""
        texts = {
            "micro": self.resolutions.micro,
            "meso": self.resolutions.meso,
            "macro": self.resolutions.macro,
        }
        sizes = {f"{name}_tokens": float(estimate(text)) for name, text in texts.items()}
        return {"source_tokens": float(self.resolutions.source_tokens), **sizes}

    @property
    def searchable(self) -> str:
        """Return what is searched by words: the title and the three texts."""
        return searchable(
            self.about.title,
            self.resolutions.micro,
            self.resolutions.meso,
            self.resolutions.macro,
            self.topic,
        )

    @property
    def embedded(self) -> list[str]:
        """Return what is searched by meaning, in pieces an embedder takes."""
        return embeddable(self.resolutions.micro, self.resolutions.meso, self.topic)


@dataclass(slots=True)
class _SectionWork:
    job: Job
    episode: Episode
    last_seq: int
    observations: Sequence[Observation]
    followed_at: datetime | None
    skills: Sequence[str] = ()
    events: Sequence[Episode] = ()  # where a model may have told all of it already
    again: bool = False  # compacted so far, but a model's answer could not be read then
    waits: bool = False  # for words of its events, which will tell it
    compacted_through: int | None = None
    words: SectionWords | None = None
    vectors: Vector | None = None
    session: SessionFacts | None = None
    language: str | None = None  # that it is told in; None where enough was said to tell


class Compactor:
    """The handler of `compact` jobs."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps

    def handle(self, scope: Scope, jobs: Sequence[Job]) -> None:
        """Compact the parts the jobs name; one that is gone or compacted so far only ends its job."""
        works, idle = self._read(scope, jobs, asks=self._deps.model_for(scope, compact.STAGE) is not None)
        waiting = [work.job for work in works if work.waits]
        works = [work for work in works if not work.waits]
        for work in works:
            work.words = recently_shown = self._tell(scope, work)
            recently_shown.about = _described(work, recently_shown, self._deps.language)
            recently_shown.topic = "" if work.session is None else work.session.topic
        self._embed(works)
        now = self._deps.clock()
        with self._deps.store.begin(scope) as tx:
            for job in (*idle, *waiting, *(work.job for work in works)):
                tx.upkeep.drop(job)
            for job in waiting:
                tx.upkeep.ask(COMPACT, job.key, job.serial, now=now, run_after=now + LOOK_AGAIN)
            # in one order everywhere: each holds the frame of its thread
            for work in sorted(works, key=lambda w: (w.episode.thread_id.bytes, w.episode.first_seq)):
                self._write(tx, work, now)

    def _read(self, scope: Scope, jobs: Sequence[Job], *, asks: bool) -> tuple[list[_SectionWork], list[Job]]:
        works: list[_SectionWork] = []
        idle: list[Job] = []
        with self._deps.store.begin(scope, write=False) as tx:
            for job in jobs:
                identity, _, last_seq = job.key.rpartition(":")
                episode, through = tx.episodes.get(UUID(identity)), int(last_seq)
                section = (
                    None if episode is None else tx.threads.section(episode.thread_id, episode.first_seq)
                )
                again = asks and _is_to_be_retold(episode, section, through)
                if episode is None or section is None or (covers(section, through) and not again):
                    idle.append(job)
                    continue
                observations = tx.observations.read(episode.thread_id, episode.first_seq, through + 1)
                inside = [one for one in observations if one.seq <= through]
                if not inside:  # all of it was erased: there is nothing to tell
                    idle.append(job)
                    continue
                inside = newest_versions(tx, inside) or inside
                inside = all_own_words(inside) or inside
                following = observations[-1].at if len(inside) < len(observations) else None
                work = _SectionWork(
                    job, episode, through, inside, following, _skills_in(tx, inside), again=again
                )
                if asks:
                    work.events, to_come = events_of(
                        tx, episode, through, inside, reads_once=self._deps.reads_once
                    )
                    work.waits = self._may_wait(tx, section, to_come, following or inside[-1].at)
                work.compacted_through = section.compacted_through
                work.session = session_at(tx, section)
                work.language = language_for(tx, episode, inside, self._deps.language)
                works.append(work)
        return works, idle

    def _may_wait(self, tx: Transaction, section: Section, to_come: ToCome, ended_at: datetime) -> bool:
        """Tell whether a part may wait for words of its events.

        For those that a question tells which is asked it waits however long the answer takes: a second
        question about the same words would be asked for the slowness of the first alone. What fails for good
        is told without a model, and then it waits no more; nor for a question that nobody asks for days.
        """
        if to_come is ToCome.NOTHING:
            return False
        at_once = {Trigger.MANUAL} if self._deps.reads_once else {Trigger.MANUAL, Trigger.THREAD_END}
        if section.trigger in at_once:  # a thread's end tells nothing that is asked for soon after
            return False
        if to_come is ToCome.READING:
            if asked := [job for job in tx.upkeep.jobs(kinds=[FACTS]) if job.key == FACTS]:
                return all(job.state != "dead" for job in asked)
            pending = tx.episodes.list(unconsolidated=True, limit=1)
            return bool(pending) and self._deps.clock() - pending[0].created_at < LONGEST_WAIT
        return self._deps.clock() - ended_at < LONGEST_WAIT

    def _tell(self, scope: Scope, work: _SectionWork) -> SectionWords:
        language = self._deps.language
        observations = distinct(work.observations)
        if all(one.kind is Kind.STEP for one in observations):
            matching_resolutions = resolutions(observations, skills=work.skills, language=language)
            return SectionWords(matching_resolutions, encode_steps(work.observations), EXTRACTIVE)
        model = self._deps.model_for(scope, compact.STAGE)
        if model is None or source_tokens(observations) <= LITTLE:
            return _extractive(work, observations)
        known = words_of_events(work.events, observations, work.skills)
        known = known or previous_words(work.episode, work.compacted_through, observations, language)
        if known is not None:
            return SectionWords(*known)
        extractive = _extractive(work, observations)
        matching_resolutions, about = extractive.resolutions, extractive.about
        try:
            texts, answers = _asked(model, observations, matching_resolutions, 1 if work.again else ROUNDS)
            better, refused = compact.checked(texts, matching_resolutions, observations)
        except ProviderError as error:
            if work.job.attempts < LAST_TRY and may_pass(error):
                raise
            say_failed(log, "part %s is told without a language model: %s", work.episode.id, error=error)
            return replace(extractive, refused=(str(error),), again=isinstance(error, BadReply))
        if len(refused) == len(compact.LIMITS):
            return replace(extractive, refused=refused)
        about = replace(about, metadata={**about.metadata, **answers})
        return SectionWords(better, about, f"{model.name} {compact.VERSION}", refused)

    def _embed(self, works: Sequence[_SectionWork]) -> None:
        embedder = self._deps.embedder
        texts = [text for work in works if work.words for text in work.words.embedded]
        if embedder is None or not texts:
            return
        vectors = np.asarray(embedder.embed(texts))  # a failure leaves the jobs to be tried again
        start = 0
        for work in works:
            count = len(work.words.embedded) if work.words else 0
            work.vectors = vectors[start : start + count] if count else None
            start += count

    def _write(self, tx: Transaction, work: _SectionWork, now: datetime) -> None:
        thread_id, first_seq = work.episode.thread_id, work.episode.first_seq
        frame = tx.threads.frame(thread_id)  # nobody appends to the thread meanwhile
        section, episode, recently_shown = (
            tx.threads.section(thread_id, first_seq),
            tx.episodes.get(work.episode.id),
            work.words,
        )
        if (
            recently_shown is None
            or section is None
            or episode is None
            or (covers(section, work.last_seq) and not work.again)
        ):
            return  # somebody was faster
        if work.again and (
            recently_shown.by == EXTRACTIVE or not _is_to_be_retold(episode, section, work.last_seq)
        ):
            return  # told as it was
        last = tx.threads.section(thread_id)
        is_last = last is not None and last.first_seq == first_seq
        end = frame.next_seq - 1 if is_last else episode.last_seq
        tx.episodes.archive(thread_id, first_seq, work.last_seq)
        thread = tx.threads.get(thread_id)
        decision = _decision(section, thread, work, recently_shown, now)
        tx.knowledge.decide(decision)
        tx.episodes.put(_encoding(episode, recently_shown, now))
        tx.episodes.change(
            episode.id,
            state=EpisodeState.COMPACTED if work.last_seq >= end else episode.state,
            last_seq=max(work.last_seq, episode.last_seq),
            end_at=max(episode.start_at, *(o.at for o in work.observations)),
            decision_id=decision.id,
        )
        tx.threads.save(replace(section, compacted_through=work.last_seq, compacted_at=now))
        closed = episode.state is EpisodeState.CLOSED and work.last_seq >= end
        if closed and self._deps.chain_policy != UNCHAINED:
            tx.upkeep.ask(CHAIN, str(episode.id), CHAIN, now=now)  # one after another, as sessions ended
        if recently_shown.again:
            tx.upkeep.ask(COMPACT, work.job.key, work.job.serial, now=now, run_after=now + LATER)
        index_section(
            tx,
            ref_of(tx.threads.number(thread_id), first_seq),
            recently_shown.searchable,
            self._deps,
            work.vectors,
        )


def _is_to_be_retold(episode: Episode | None, section: Section | None, last_seq: int) -> bool:
    """Tell whether a part is compacted just so far, without a model whose answer could not be read."""
    if episode is None or section is None or section.compacted_through != last_seq:
        return False
    return episode.encoded_by == EXTRACTIVE and REFUSED in episode.metadata


def _skills_in(tx: Transaction, observations: Sequence[Observation]) -> Sequence[str]:
    """Return the names of the skills that some of these observations show, the surest first."""
    turns = [TurnRef(one.thread_id, one.seq) for one in observations if one.kind is not Kind.STEP]
    shown = {identity for ids in tx.knowledge.evidence(turns).values() for identity in ids}
    skills = tx.knowledge.skills(ids=sorted(shown))
    active = [one.skill for one in skills if one.state is SkillState.ACTIVE]
    return [skill.name for skill in sorted(active, key=lambda skill: (-skill.confidence, skill.name))]


def distinct(observations: Sequence[Observation]) -> Sequence[Observation]:
    """Return what is worth telling: all of a talk, of an agent's steps each text once."""
    seen: set[str] = set()
    remaining = []
    for observation in observations:
        if observation.kind is Kind.STEP and observation.text in seen:
            continue
        seen.add(observation.text)
        remaining.append(observation)
    return remaining


def _described(work: _SectionWork, recently_shown: SectionWords, language: str | None) -> EpisodeText:
    """Return words whose metadata say what the records tell, what the caller said of a session first."""
    session, guessed = work.session, recently_shown.by != EXTRACTIVE
    metadata = NOTHING if session is None else session.supplied
    words = described(recently_shown.about, work.observations, language, guessed=guessed, metadata=metadata)
    if session is None:
        return words
    about = {**words.metadata, **session.about()}
    return replace(words, title=session.topic or words.title, metadata=about)


def _extractive(work: _SectionWork, observations: Sequence[Observation]) -> SectionWords:
    matching_resolutions = resolutions(observations, skills=work.skills, language=work.language)
    about = encode_extractive(work.observations, (), language=work.language)
    return SectionWords(matching_resolutions, about, EXTRACTIVE)


def _asked(
    model: LanguageModel, observations: Sequence[Observation], matching_resolutions: Resolutions, rounds: int
) -> tuple[Mapping[str, str], Mapping[str, Json]]:
    """Return the three texts of an answer, and what it says the part was about."""

    def read(value: Mapping[str, Json]) -> tuple[Mapping[str, str], Mapping[str, Json]]:
        return compact.read(value), compact.about(value, observations)

    prompt = compact.prompt(observations, matching_resolutions.source_tokens)
    return ask(model, prompt, compact.SCHEMA, compact.STAGE, read, rounds=rounds)


def _encoding(episode: Episode, recently_shown: SectionWords, now: datetime) -> Encoding:
    matching_resolutions = recently_shown.resolutions
    metadata: dict[str, Json] = {
        **recently_shown.about.metadata,
        "micro": matching_resolutions.micro,
        "macro": matching_resolutions.macro,
        "source_tokens": matching_resolutions.source_tokens,
    }
    if recently_shown.again:
        metadata[REFUSED] = list(recently_shown.refused)
    version = episode.encoding_version + 1
    return Encoding(
        episode.id,
        version,
        recently_shown.about.title,
        matching_resolutions.meso,
        metadata,
        recently_shown.by,
        now,
    )


def _decision(
    section: Section, thread: Thread | None, work: _SectionWork, recently_shown: SectionWords, now: datetime
) -> Decision:
    """Return the record of a compaction: why it was due, by what number, and what it made of how much."""
    trigger = Trigger(section.trigger or Trigger.MANUAL)
    limits = MESSAGES if thread is None else limits_of(thread)
    turns = float(turn_count(work.observations) if limits is MESSAGES else len(work.observations))
    # where the clock is behind event time, what follows made it due
    latest = work.followed_at if now - section.first_at < limits.age and work.followed_at is not None else now
    hours = (latest - section.first_at) / timedelta(hours=1)
    compared = {
        Trigger.SIZE: (turns, float(limits.turns)),
        Trigger.TIME: (hours, limits.age / timedelta(hours=1)),
    }
    score, threshold = compared.get(trigger, (1.0, 1.0))  # somebody asked for it, or the thread is over
    # what else is done with a part, each with what came of it
    steps: Mapping[str, Json] = {"skills": len(work.skills)}
    return Decision(
        id=decision_id(section.episode_id, f"{COMPACT}-{work.last_seq}{'-again' * work.again}"),
        type=COMPACT,
        at=now,
        subject=section.episode_id,
        features={"turns": turns, "hours": hours, **recently_shown.tokens},
        score=score,
        threshold=threshold,
        verdict=trigger.value,
        policy_version=recently_shown.by,
        detail={
            "first_seq": section.first_seq,
            "last_seq": work.last_seq,
            "opened_for": section.opened_for,
            "refused": list(recently_shown.refused),
            "steps": steps,
        },
    )


def ask_due(deps: Deps, scope: Scope, now: datetime) -> int:
    """Ask for the compaction of parts whose first turn is a day old; return how many."""
    with deps.store.begin(scope, write=False) as tx:
        threads = dict.fromkeys(
            p.thread_id for p in tx.threads.sections(grown=now - MESSAGES.age, limit=_AT_ONCE)
        )
    return sum(until_unopposed(partial(_ask_due, deps, scope, one, now)) for one in threads)


def _ask_due(deps: Deps, scope: Scope, thread_id: UUID, now: datetime) -> int:
    with deps.store.begin(scope) as tx:
        last_seq = tx.threads.frame(thread_id).next_seq - 1
        section = tx.threads.section(thread_id)
        if section is None or not section.grown or now - section.first_at < MESSAGES.age:
            return 0  # it was asked for between the look and the lock
        request(tx, section, Trigger.TIME, last_seq, deps.clock())
        return 1


def ask_all(deps: Deps, scope: Scope, thread_id: UUID) -> list[UUID]:
    """Ask for the compaction of all of a thread that has none yet; return the parts' episodes, in order."""
    return until_unopposed(lambda: _ask_all(deps, scope, thread_id))


def _ask_all(deps: Deps, scope: Scope, thread_id: UUID) -> list[UUID]:
    with deps.store.begin(scope) as tx:
        thread, last_seq = tx.threads.get(thread_id), tx.threads.frame(thread_id).next_seq - 1
        if thread is None or last_seq < 0:
            return []
        now = deps.clock()
        current(tx, thread, last_seq, now)
        sections = tx.threads.sections(thread_id)
        ends = [*(following.first_seq - 1 for following in sections[1:]), last_seq]
        filled = [(p, end) for p, end in zip(sections, ends, strict=True) if p.first_seq <= end]
        pairs = [(p, end) for p, end in filled if not covers(p, end)]
        for section, end in pairs:
            request(tx, section, Trigger.MANUAL, end, now, followed=end < last_seq)
        return [part.episode_id for part, _ in pairs]


def archive_again(tx: Transaction, thread_id: UUID) -> None:
    """Archive what an undone resegmentation brought back into parts that were compacted meanwhile.

    Their words stay: they tell what was said, however it is cut into events.
    """
    for section in tx.threads.sections(thread_id):
        if section.compacted_through is not None:
            tx.episodes.archive(thread_id, section.first_seq, section.compacted_through)


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


def index_section(tx: Transaction, ref: int, words: str, deps: Deps, vectors: Vector | None) -> None:
    """Let a part be found by its words and, where it has vectors, by their meaning."""
    counts = term_counts(words, deps.language)
    tx.index.put_postings(PARTS, [Posting(ref, counts, sum(counts.values()))])
    if vectors is not None:
        tx.index.put_vectors(PARTS, deps.embedder_name, [ref] * len(vectors), vectors)
