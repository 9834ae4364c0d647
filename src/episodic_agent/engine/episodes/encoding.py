"""The encode job: give closed episodes their title, summary, metadata, words and vector.

Runs in batches, because embedding thirty summaries together costs half of embedding them one by one; with a
language model one by one, because a slow answer must not hold up the others. Everything is computed outside
the transaction; the effect and the end of the job commit together.

An episode can be encoded again: every encoding is a version, the newest counts, and what is searched is
replaced. What was observed, and how strong the memory is, stay as they are.

Closed episodes are told again by a better model, a newer prompt, or without one; or titled by hand.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Final
from uuid import UUID

from episodic_agent.core.chains.metadata import NOTHING
from episodic_agent.core.echo import all_own_words
from episodic_agent.core.episodes.extractive import EpisodeText, encode_extractive, encode_steps
from episodic_agent.core.episodes.letters import without_frames
from episodic_agent.core.language import term_counts
from episodic_agent.core.language.windows import beginning, windows
from episodic_agent.core.prompts import episode as question
from episodic_agent.core.skills.sequences import has_actions
from episodic_agent.engine.deps import Deps
from episodic_agent.engine.episodes import listing
from episodic_agent.engine.episodes.wording import (
    EXTRACTIVE,
    LATER,
    REFUSED,
    Worded,
    described,
    language_for,
    worded,
    wording_of,
)
from episodic_agent.engine.facts.job import note_encoded
from episodic_agent.engine.facts.parts import EpisodeAnswer
from episodic_agent.engine.facts.transcripts import earlier_than, speaks_for_people
from episodic_agent.engine.jobs.asking import ROUNDS
from episodic_agent.engine.jobs.kinds import ENCODE
from episodic_agent.engine.skills.job import note_episodes
from episodic_agent.engine.strength import call_reviews
from episodic_agent.engine.threads.session_records import SessionFacts, session_of_episode, topic_at
from episodic_agent.engine.visibility.hidden import newest_versions
from episodic_agent.errors import InvalidInput, NotFound
from episodic_agent.protocols import EPISODES, OBSERVATIONS, Posting, Transaction, ref_of, stored_decision
from episodic_agent.schemas import Encoding, Episode, EpisodeKind, Job, Kind, Observation, Scope, Vector
from episodic_agent.schemas.observations import by_time

RECALLED = EpisodeText("Recalled memories", "", {})  # of an episode that holds nothing else


@dataclass(slots=True)
class _EncodingWork:
    job: Job | None  # that asked for the words, None where they came with facts
    episode: Episode
    ref: int
    observations: Sequence[Observation]
    wording: Worded
    vectors: Vector | None = None
    spoken: bool = True  # not all of it an agent's steps
    silent: bool = False  # nobody says anything of people
    session: SessionFacts | None = None  # that it happened in
    topic: str = ""  # of the session that begins with it
    earlier: Sequence[Observation] = ()  # the last messages before it

    @property
    def words(self) -> EpisodeText:
        """Return the words found last."""
        return self.wording.words

    @property
    def texts(self) -> Sequence[str]:
        """Return what is embedded: the summary, in pieces."""
        return windows(self.words.summary) if self.words.summary.strip() else []

    @property
    def changes(self) -> bool:
        """Tell whether a new version says anything else than the one there is."""
        own, words = self.episode, self.words
        answers = (own.title, own.summary, dict(own.metadata), own.encoded_by)
        new = (words.title, words.summary, dict(words.metadata), self.wording.by)
        return not own.encoding_version or answers != new


class Encoder:
    """The handler of `encode` jobs."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps

    def handle(self, scope: Scope, jobs: Sequence[Job]) -> None:
        """Encode the episodes the jobs name; an episode that is gone or encoded only ends its job."""
        works, idle = self._read(scope, jobs)
        for work in works:
            # what an agent's steps were is known exactly: nothing is to be understood
            if work.spoken and work.job is not None:
                own = partial(self._extracted, scope, work)
                rounds = 1 if REFUSED in work.episode.metadata else ROUNDS  # it had its rounds before
                first = not work.episode.encoding_version
                work.wording = worded(
                    self._deps,
                    scope,
                    work.job,
                    work.observations,
                    own,
                    rounds=rounds,
                    first=first,
                    earlier=work.earlier,
                )
            guessed = work.wording.by != EXTRACTIVE
            work.wording = replace(work.wording, words=_declared(work, self._deps.language, guessed=guessed))
        idle += [work.job for work in works if not work.changes and work.job is not None]
        self._write(scope, [work for work in works if work.changes], idle)

    def retell(self, scope: Scope, answers: Mapping[UUID, EpisodeAnswer]) -> None:
        """Give episodes the words that a model found for them together with their facts.

        What of them cannot be used stays as it was told when the episode ended.
        """
        language = self._deps.language
        with self._deps.store.begin(scope, write=False) as tx:
            works = []
            for episode in tx.episodes.get(list(answers)).values():
                if episode.generation_to is None:
                    works.append(self._work(tx, None, episode))
        for work in works:
            answer, own = answers[work.episode.id], partial(self._extracted, scope, work)
            words = question.grounded(answer.words, work.observations, language)
            faults = question.faults(
                words, work.observations, language, beside=answer.shown, elsewhere=answer.elsewhere
            )
            work.wording = wording_of(words, faults, own, work.observations, answer.by, language)
            guessed = work.wording.by != EXTRACTIVE
            work.wording = replace(work.wording, words=_declared(work, language, guessed=guessed))
        self._write(scope, [work for work in works if work.changes], [])

    def _write(self, scope: Scope, works: list[_EncodingWork], idle: Sequence[Job]) -> None:
        """Write new words with their vectors, and end the jobs that asked for them."""
        self._embed(works)
        now = self._deps.clock()
        with self._deps.store.begin(scope) as tx:
            for job in (*idle, *(work.job for work in works if work.job is not None)):
                tx.upkeep.drop(job)
            works = _write_words(tx, works, now)
            language = self._deps.language
            again = [work.ref for work in works if work.episode.encoding_version]
            if again:
                tx.index.drop(EPISODES, again)  # the vectors of other embedders say what it no longer says
            postings = [posting_of(w.ref, w.words.title, w.words.summary, w.session, language) for w in works]
            tx.index.put_postings(EPISODES, postings)
            first = [work for work in works if not work.episode.encoding_version]
            note_episodes(tx, [w.ref for w in first if w.spoken or has_actions(w.observations)], now)
            for work in works:
                if work.vectors is not None:
                    refs = [work.ref] * len(work.vectors)
                    tx.index.put_vectors(EPISODES, self._deps.embedder_name, refs, work.vectors)
            for episode in (work.episode for work in first if work.wording.again):
                ask_again(tx, [replace(episode, encoding_version=1)], now, after=LATER)
            call_reviews(tx, [work.episode for work in first], now)
            episodes = [work.episode for work in first if not work.silent]
            note_encoded(tx, self._deps, episodes, [work.episode for work in first if work.silent], now)

    def _read(self, scope: Scope, jobs: Sequence[Job]) -> tuple[list[_EncodingWork], list[Job]]:
        works: list[_EncodingWork] = []
        idle: list[Job] = []
        with self._deps.store.begin(scope, write=False) as tx:
            for job in jobs:
                identity, _, version = job.key.partition(":")
                episode = tx.episodes.get(UUID(identity))
                if (
                    episode is None
                    or episode.encoding_version != int(version or 0)  # somebody was faster
                    or episode.generation_to is not None
                ):
                    idle.append(job)
                    continue
                works.append(self._work(tx, job, episode))
        return works, idle

    def _work(self, tx: Transaction, job: Job | None, episode: Episode) -> _EncodingWork:
        """Read what an episode's words are made of."""
        stored = tx.observations.read(episode.thread_id, episode.first_seq, episode.last_seq)
        cover = without_frames(all_own_words(by_time(newest_versions(tx, stored))))
        spoken = any(one.kind is not Kind.STEP for one in cover)
        words = RECALLED if spoken else self._words(tx, episode, cover)
        ref = ref_of(tx.threads.number(episode.thread_id), episode.first_seq)
        silent = not spoken and not any(map(speaks_for_people, cover))
        work = _EncodingWork(job, episode, ref, cover, Worded(words), spoken=spoken, silent=silent)
        if spoken and job is not None:
            work.earlier = earlier_than(tx, episode)
        session = session_of_episode(tx, episode)
        if session is not None:
            work.session = session
            work.topic = topic_at(tx, episode.thread_id, episode.first_seq)
        return work

    def _words(self, tx: Transaction, episode: Episode, cover: Sequence[Observation]) -> EpisodeText:
        if not cover:
            return RECALLED
        decision = stored_decision(tx, episode.decision_id)
        return encode_steps(cover, decision.detail if decision is not None else None)

    def _extracted(self, scope: Scope, work: _EncodingWork) -> EpisodeText:
        """Return the words of an episode that need no model; found only where they are needed."""
        first = work.episode.first_seq
        refs = [work.ref + o.seq - first for o in work.observations]
        with self._deps.store.begin(scope, write=False) as tx:
            vectors = tx.index.vectors(OBSERVATIONS, self._deps.embedder_name, refs)
            language = language_for(tx, work.episode, work.observations, self._deps.language)
        completed = self._completed(work.observations, refs, vectors)
        return encode_extractive(work.observations, completed, language=language)

    def _completed(
        self, observations: Sequence[Observation], refs: Sequence[int], vectors: Mapping[int, Vector]
    ) -> list[Vector | None]:
        """Return the vector of each observation, embedding those that are embedded later.

        What a flush closes may be encoded before its texts have their vectors: its words must not depend on
        which job came first.
        """
        embedder = self._deps.embedder
        pairs = list(zip(observations, refs, strict=True))
        missing = {r: o.text for o, r in pairs if r not in vectors and o.text.strip()}
        if embedder is None or not missing:
            return [vectors.get(r) for r in refs]
        rows = embedder.embed([beginning(text)[0] for text in missing.values()])
        return [{**dict(zip(missing, rows, strict=True)), **vectors}.get(r) for r in refs]

    def _embed(self, works: Sequence[_EncodingWork]) -> None:
        embedder = self._deps.embedder
        pieces = [work.texts for work in works]
        texts = [text for of_one in pieces for text in of_one]
        if embedder is None or not texts:
            return
        vectors = embedder.embed(texts)  # a failure leaves the jobs to be tried again
        start = 0
        for work, of_one in zip(works, pieces, strict=True):
            work.vectors = vectors[start : start + len(of_one)] if of_one else None
            start += len(of_one)


def _declared(work: _EncodingWork, language: str | None, *, guessed: bool) -> EpisodeText:
    """Return an episode's words with what was said of its session; its topic titles the first one."""
    session = work.session
    metadata = NOTHING if session is None else session.supplied
    words = described(work.words, work.observations, language, guessed=guessed, metadata=metadata)
    if session is None:
        return words
    about = {**words.metadata, **session.about()}
    return replace(words, title=work.topic or words.title, metadata=about)


def _write_words(tx: Transaction, works: Sequence[_EncodingWork], now: datetime) -> list[_EncodingWork]:
    """Give the episodes their words; return the works of those that nobody replaced meanwhile.

    Writing first holds the episodes, so that what is read after it stays true to the end.
    """
    ordered = sorted(works, key=lambda w: w.episode.id.bytes)
    for work in ordered:
        with suppress(NotFound):  # what made it was undone
            tx.episodes.put(_encoding(work, now))
    there = tx.episodes.get([work.episode.id for work in ordered])
    return [w for w in ordered if w.episode.id in there and there[w.episode.id].generation_to is None]


def _encoding(work: _EncodingWork, now: datetime) -> Encoding:
    words, version = work.words, work.episode.encoding_version + 1
    return Encoding(
        work.episode.id, version, words.title, words.summary, words.metadata, work.wording.by, now
    )


def ask_again(
    tx: Transaction, episodes: Sequence[Episode], now: datetime, *, after: timedelta | None = None
) -> None:
    """Ask for a new version of the words of episodes; asking twice for the same one asks once."""
    due = None if after is None else now + after
    for episode in episodes:
        key = f"{episode.id}:{episode.encoding_version}"
        tx.upkeep.ask(ENCODE, key, f"{ENCODE}:{episode.id}", now=now, run_after=due)


def posting_of(
    ref: int, title: str, summary: str, session: SessionFacts | None, language: str | None
) -> Posting:
    """Return the searchable words of an episode: its title, its summary, and what its session declared."""
    declared = "" if session is None else session.words
    counts = term_counts(f"{title}\n{summary}\n{declared}", language)
    return Posting(ref, counts, sum(counts.values()))


def stored_posting(tx: Transaction, ref: int, episode: Episode, language: str | None) -> Posting:
    """Return the searchable words of an episode that is stored."""
    return posting_of(ref, episode.title, episode.summary, session_of_episode(tx, episode), language)


BY_HAND: Final = "hand"  # who encoded what a person titled
LONGEST_TITLE: Final = 200  # characters

_AT_ONCE = 256  # jobs asked for in one transaction


def reencode(deps: Deps, scope: Scope, thread_id: UUID | None, by: str | None) -> int:
    """Ask for the words of the closed episodes of a thread (None: of all) anew; return of how many.

    `by` narrows it to what was encoded by this, or by what begins so.
    """
    with deps.store.begin(scope, write=False) as tx:
        chosen = _encoded(tx, thread_id, by)
    for start in range(0, len(chosen), _AT_ONCE):
        with deps.store.begin(scope) as tx:
            ask_again(tx, chosen[start : start + _AT_ONCE], deps.clock())
    return len(chosen)


def _encoded(tx: Transaction, thread_id: UUID | None, by: str | None) -> Sequence[Episode]:
    """Return the current episodes that have words, and by whom it was asked for."""
    threads = [thread_id] if thread_id is not None else [one.id for one in tx.threads.list()]
    episodes = [episode for one in threads for episode in tx.episodes.list(threads=[one])]
    encoded = [e for e in episodes if e.encoding_version]
    if by is None:  # what a person called it stays, unless it is asked for by name
        return [e for e in encoded if e.encoded_by != BY_HAND]
    return [e for e in encoded if e.encoded_by.startswith(by)]


def rename(tx: Transaction, episode_id: UUID, title: str, now: datetime, language: str | None) -> Episode:
    """Give a closed episode a title by hand: the newest version of its words; the summary stays."""
    words = " ".join(title.split())
    if not words or len(words) > LONGEST_TITLE:
        raise InvalidInput(f"the title has {len(words)} characters; give it 1 to {LONGEST_TITLE}")
    episode = listing.episode(tx, episode_id)
    if episode.kind is not EpisodeKind.EVENT or not episode.encoding_version:
        raise InvalidInput(f"episode {episode.id} has no words of its own yet; try again when it has")
    if episode.title == words:
        return episode
    version = episode.encoding_version + 1
    tx.episodes.put(Encoding(episode.id, version, words, episode.summary, episode.metadata, BY_HAND, now))
    renamed = listing.episode(tx, episode.id)
    ref = ref_of(tx.threads.number(renamed.thread_id), renamed.first_seq)
    tx.index.put_postings(EPISODES, [stored_posting(tx, ref, renamed, language)])
    return renamed
