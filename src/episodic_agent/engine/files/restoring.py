"""Restore a thread from an export: exactly where it is not there yet, else only what is missing."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TypeVar
from uuid import UUID

from episodic_agent.core.ingest import Item
from episodic_agent.core.language import plural
from episodic_agent.core.language.windows import windows
from episodic_agent.core.places import joined, visits_of
from episodic_agent.core.threads.turns import turn_count
from episodic_agent.engine.boundary.segmenting import await_vectors, load_question
from episodic_agent.engine.deps import Deps
from episodic_agent.engine.episodes.encoding import stored_posting
from episodic_agent.engine.files.own import CheckRecord, Noun
from episodic_agent.engine.ingest.appending import (
    Counts,
    Incoming,
    Ingest,
    Prepared,
    embed_prepared,
    index_observations,
    prepare,
)
from episodic_agent.engine.jobs.kinds import ASK, ENCODE
from episodic_agent.engine.jobs.retrying import until_unopposed
from episodic_agent.engine.links.joining import settle
from episodic_agent.engine.sections.faults import settle_sections
from episodic_agent.engine.sections.job import embeddable, index_section, searchable
from episodic_agent.engine.threads.session_records import topic_of
from episodic_agent.errors import InvalidInput
from episodic_agent.protocols import EPISODES, Transaction, ref_of
from episodic_agent.schemas import (
    Decision,
    Encoding,
    Episode,
    EpisodeKind,
    Frame,
    Joined,
    Link,
    Observation,
    PendingReview,
    Scope,
    Section,
    Thread,
    Vector,
)
from episodic_agent.schemas.erasures import Tombstone

N = TypeVar("N")
UNNAMED = "channel:"  # how the threads began that nobody named, before threads were resolved


@dataclass(slots=True)
class _Exported:
    """The nouns of one exported thread, sorted out."""

    thread: Thread
    frame: Frame
    observations: list[Observation]
    episodes: list[Episode]
    primaries: list[Episode]
    others: Sequence[Noun]
    newest: dict[UUID, Encoding]
    prepared: list[Prepared] = field(default_factory=list)
    pieces: list[tuple[UUID, str]] = field(default_factory=list)
    vectors: Vector | None = None


class Restorer:
    """Puts exported threads back; words and vectors are derived again, everything else is kept as it was."""

    def __init__(self, deps: Deps, ingest: Ingest) -> None:
        self._deps = deps
        self._ingest = ingest

    def restore(self, scope: Scope, nouns: Sequence[Noun]) -> Counts:
        """Restore one thread in one transaction; observations that are there already add nothing."""
        exported = _sort(nouns)
        with self._deps.store.begin(scope, write=False) as tx:
            there = tx.threads.get(exported.thread.origin)
        if there is not None:
            return self._merge(scope, exported)
        incoming = [Incoming(exported.thread.origin, o.id, as_item(o)) for o in exported.observations]
        embeds = self._deps.embedder is not None
        exported.prepared = [prepare(i, self._deps.language, embeds=embeds) for i in incoming]
        embed_prepared(self._deps.embedder, exported.prepared)
        self._embed_words(exported)
        if until_unopposed(lambda: self._written(scope, exported)):
            count = len(exported.observations)
            return Counts(count, count)
        return self._merge(scope, exported)

    def restore_links(self, scope: Scope, nouns: Sequence[Noun], exported_at: datetime) -> None:
        """Restore links between threads that are there, and the episodes they form; what is there stays."""
        with self._deps.store.begin(scope) as tx:
            tx.hold("threads")
            links = [n for n in _of(nouns, Link) if all(map(tx.threads.get, (n.earlier, n.later)))]
            ends = list(dict.fromkeys(t for n in links for t in (n.earlier, n.later)))
            known = {frozenset((n.earlier, n.later)) for n in tx.threads.links(ends, taken_back=True)}
            for link in links:
                if frozenset((link.earlier, link.later)) not in known:
                    tx.threads.save(link)
            self._join(tx, nouns, set(ends), exported_at)
            settle(tx, ends, self._deps.clock())

    def _join(self, tx: Transaction, nouns: Sequence[Noun], there: set[UUID], exported_at: datetime) -> None:
        """Give cross-thread episodes back whose threads are in no other."""
        words, episodes = _of(nouns, Encoding), {e.id: e for e in _of(nouns, Episode)}
        for whole_of in _of(nouns, Joined):
            threads = [t for t in whole_of.threads if t in there]
            episode = episodes.get(whole_of.episode_id)
            if episode is None or not threads or tx.threads.joined(threads):
                continue
            if erased_after(tx, threads, exported_at):
                continue  # its words may tell of what is gone; it is made anew from the links
            if tx.episodes.get(episode.id) is None:
                began = episode.thread_id if tx.threads.get(episode.thread_id) is not None else threads[0]
                tx.episodes.put(replace(episode, thread_id=began, encoding_version=0))
                for encoding in sorted(words, key=lambda e: e.version):
                    if encoding.episode_id == episode.id:
                        tx.episodes.put(encoding)
                for decision in _of(nouns, Decision):
                    if decision.subject == episode.id:
                        tx.knowledge.decide(decision)
            tx.threads.save(Joined(episode.id, tuple(threads)))

    def _written(self, scope: Scope, exported: _Exported) -> bool:
        """Write the thread, or return False where another writer made it while this one embedded."""
        with self._deps.store.begin(scope) as tx:
            if tx.threads.get(exported.thread.origin) is not None:
                return False
            self._write(tx, exported)
        return True

    def _embed_words(self, exported: _Exported) -> None:
        words = [(e.id, windows(e.summary)) for e in exported.episodes]
        words += [(e.id, embeddable(e.micro, e.summary, topic_of(e))) for e in exported.primaries]
        exported.pieces = [(i, w) for i, texts in words if i in exported.newest for w in texts if w.strip()]
        if self._deps.embedder is not None and exported.pieces:
            exported.vectors = self._deps.embedder.embed([w for _, w in exported.pieces])

    def _merge(self, scope: Scope, exported: _Exported) -> Counts:
        """Take in what a thread that is there lacks, by the ordinary way."""
        origin = exported.thread.origin
        incoming = (Incoming(origin, o.id, as_item(o)) for o in exported.observations)
        return self._ingest.run(scope, incoming, receipts=False, skips_taken=True)

    def _write(self, tx: Transaction, exported: _Exported) -> None:
        thread, frame = exported.thread, exported.frame
        tx.threads.create(thread, replace(frame, next_seq=0, first_seq=0, cursor=0, state=b"", version=0))
        _append(tx, exported)
        number = tx.threads.number(thread.id)
        now = self._deps.clock()
        index_observations(
            tx, number, exported.prepared, exported.observations, self._deps.embedder_name, now
        )
        for decision in _of(exported.others, Decision):
            tx.knowledge.decide(decision)
        worded = {encoding.episode_id for encoding in _of(exported.others, Encoding)}
        for episode in (*exported.episodes, *exported.primaries):
            # its words come with the time they were made; the row alone would say it was made with them
            tx.episodes.put(replace(episode, encoding_version=0) if episode.id in worded else episode)
        for section in _of(exported.others, Section):
            tx.threads.save(section)
        self._write_words(tx, exported, number)
        for pending in _of(exported.others, PendingReview):
            tx.upkeep.put(pending)
        records = {r.seq: r.packed for r in _of(exported.others, CheckRecord)}
        tx.observations.save_records(thread.id, records)
        self._await(tx, frame)
        tx.threads.save(replace(frame, version=tx.threads.frame(thread.id).version))
        settle_sections(tx, thread, frame.next_seq, self._deps.clock())

    def _await(self, tx: Transaction, frame: Frame) -> None:
        """Ask again for what the frame waited for when it was exported; jobs are not part of an export."""
        now = self._deps.clock()
        await_vectors(tx, frame, now)
        if question := load_question(frame):
            tx.upkeep.ask(ASK, question.id, str(frame.thread_id), now=now)

    def _write_words(self, tx: Transaction, exported: _Exported, number: int) -> None:
        refs = {e.id: ref_of(number, e.first_seq) for e in exported.episodes}
        for encoding in sorted(_of(exported.others, Encoding), key=lambda e: e.version):
            tx.episodes.put(encoding)
        language = self._deps.language
        worded = [e for e in exported.episodes if e.id in exported.newest]
        postings = [stored_posting(tx, refs[e.id], e, language) for e in worded]
        tx.index.put_postings(EPISODES, postings)
        rows = [n for n, (identity, _) in enumerate(exported.pieces) if identity in refs]
        if exported.vectors is not None and rows:
            places = [refs[exported.pieces[n][0]] for n in rows]
            tx.index.put_vectors(EPISODES, self._deps.embedder_name, places, exported.vectors[rows])
        for part in exported.primaries:
            self._index_section(tx, exported, part, ref_of(number, part.first_seq))
        for episode in exported.episodes:
            if not episode.encoding_version:
                tx.upkeep.ask(ENCODE, str(episode.id), f"{ENCODE}:{episode.id}", now=self._deps.clock())

    def _index_section(self, tx: Transaction, exported: _Exported, part: Episode, ref: int) -> None:
        if part.id in exported.newest:
            rows = [n for n, (identity, _) in enumerate(exported.pieces) if identity == part.id]
            vectors = None if exported.vectors is None or not rows else exported.vectors[rows]
            words = searchable(part.title, part.micro, part.summary, part.macro, topic_of(part))
            index_section(tx, ref, words, self._deps, vectors)


def _append(tx: Transaction, exported: _Exported) -> None:
    """Write a thread's observations, and tombstones where some were erased."""
    erased, thread = _of(exported.others, Tombstone), exported.thread
    blank = [Observation(t.id, t.thread_id, t.seq, t.at, t.at, "", "") for t in erased]
    if exported.observations or blank:
        tx.observations.append(sorted([*exported.observations, *blank], key=lambda o: o.seq))
    for tombstone in erased:
        tx.observations.erase(thread.id, [tombstone.seq], tombstone.at)
    visits = tx.threads.visits(thread_id=thread.id) if erased else ()
    if visits:  # those on both sides of what was erased are one
        tx.threads.rewrite_stays(
            thread.id, list(joined(visits_of(tx.threads.number(thread.id), exported.observations)))
        )


def erased_after(tx: Transaction, thread_ids: Iterable[UUID], moment: datetime) -> bool:
    """Tell whether something of these threads was erased after a time: an export of then still tells it."""
    there = [one for one in dict.fromkeys(thread_ids) if tx.threads.get(one) is not None]
    ends = {one: frame.next_seq for one, frame in tx.threads.frame(there).items()}
    return any(t.at > moment for t in tx.observations.erased([(one, 0, end) for one, end in ends.items()]))


def _of(nouns: Sequence[Noun], kind: type[N]) -> list[N]:
    return [n for n in nouns if isinstance(n, kind)]


def _sort(nouns: Sequence[Noun]) -> _Exported:
    threads, frames = _of(nouns, Thread), _of(nouns, Frame)
    if len(threads) != 1 or len(frames) != 1:
        raise InvalidInput("the export is damaged: a thread's head or frame is missing; export it again")
    observations = sorted(_of(nouns, Observation), key=lambda o: o.seq)
    erased = _of(nouns, Tombstone)
    if sorted([o.seq for o in observations] + [t.seq for t in erased]) != list(range(frames[0].next_seq)):
        raise InvalidInput(
            f"the export is damaged: thread {threads[0].origin!r} has {len(observations)} of its "
            f"{plural(frames[0].next_seq, 'observation')}; export it again"
        )
    newest = {e.episode_id: e for e in sorted(_of(nouns, Encoding), key=lambda e: e.version)}
    episodes = _of(nouns, Episode)
    events = [e for e in episodes if e.kind is EpisodeKind.EVENT]
    primaries = [e for e in episodes if e.kind is EpisodeKind.PRIMARY]
    thread = _counted(threads[0], observations)
    return _Exported(thread, frames[0], observations, events, primaries, nouns, newest)


def _counted(thread: Thread, observations: Sequence[Observation]) -> Thread:
    """Return a thread with what the first exports do not say of it: its turns, and whether it was named."""
    turns = turn_count(observations)
    if thread.turn_count or not turns:
        return thread
    return replace(thread, turn_count=turns, explicit=not thread.origin.startswith(UNNAMED))


def as_item(o: Observation) -> Item:
    """Turn a stored observation back into what a caller gives."""
    return Item(
        actor=o.actor,
        text=o.text,
        at=o.at,
        at_source=o.at_source,
        utc_offset=o.utc_offset,
        external_id=o.external_id,
        kind=o.kind,
        channel=o.channel,
        location=o.location,
        location_confidence=o.location_confidence,
        events=o.events,
        prediction_error=o.prediction_error,
        extras=o.extras,
        expires_at=o.expires_at,
    )
