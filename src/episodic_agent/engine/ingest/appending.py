"""Take observations in, exactly once, and decide with them what can be decided without a model.

Four steps: known ids are answered with their first receipts; the rest is embedded before any transaction;
then one short transaction per chunk of one thread appends, indexes, runs the boundary machine and writes
episode, decision and jobs together; only then is it acknowledged (I10).

A batch under an idempotency key is kept once, by whichever process and whenever it comes again. That rests on
its messages, which have ids made from the key: for good, and in one transaction with them. That the key came
with another batch is known for a day, by the digest of all that the first said.
"""

import hashlib
import json
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import islice
from typing import Any, Final
from uuid import UUID

import numpy as np

from episodic_agent.core.boundary.contract import Arrival, Input
from episodic_agent.core.boundary.policies import STEP
from episodic_agent.core.echo import Echo, own_text, own_words
from episodic_agent.core.identity import assign_ids
from episodic_agent.core.identity import thread_id as thread_identity
from episodic_agent.core.ingest import Item, received
from episodic_agent.core.ingest.words import SAYING, content_of, renewed
from episodic_agent.core.language import plural, term_counts, tokens
from episodic_agent.core.language.timewords import date_words
from episodic_agent.core.language.windows import beginning
from episodic_agent.core.recall.due import marks
from episodic_agent.core.threads.channels import channel_name
from episodic_agent.core.threads.resolution import INACTIVITY, OPEN, IntakeVerdict
from episodic_agent.core.threads.turns import turn_count
from episodic_agent.core.trace import Recorder, recording, span
from episodic_agent.engine.arguments import Progress, origin_of
from episodic_agent.engine.boundary.segmenting import (
    Segmenter,
    ask_for_pieces,
    ask_for_vectors,
    await_vectors,
    end_thread,
    load_ends,
)
from episodic_agent.engine.deps import Deps
from episodic_agent.engine.facts.coming import request_quotes
from episodic_agent.engine.ingest.echoes import Listening, by_form, is_agent, with_echo
from episodic_agent.engine.jobs.retrying import until_unopposed
from episodic_agent.engine.links.candidates import ask_for_end
from episodic_agent.engine.links.job import OFF, ask_for_link
from episodic_agent.engine.own_ids import as_brought
from episodic_agent.engine.scoped import Scoped
from episodic_agent.engine.sections.bounds import take_in
from episodic_agent.engine.threads.resolving import PlacedItem, Placement, lapsed, named, resolved
from episodic_agent.engine.trace.usage import share
from episodic_agent.engine.tuning.outcomes import listen
from episodic_agent.errors import (
    EpisodicError,
    IdTaken,
    InvalidInput,
    ProviderError,
    StoreError,
    StoreUnavailable,
)
from episodic_agent.protocols import OBSERVATIONS, Embedder, Posting, Transaction, ref_of
from episodic_agent.schemas import Frame, Observation, Receipt, Scope, Thread, TimeSource, Vector
from episodic_agent.schemas.jobs import Span

CHUNK = 256  # observations per transaction (I10)
GROUP = 256  # observations embedded together while the group before commits; one chunk, to overlap early
MADE_ONCE = 7  # the version of ids made for this call; should one be stored all the same, the commit finds it
QUOTED = 80  # characters of a text that stands, in an error


@dataclass(frozen=True, slots=True)
class Incoming:
    """An item on its way in: which thread it joins (the thread's origin, None: the one resolution finds)."""

    origin: str | None
    id: UUID
    item: Item


def incoming(at: Scoped, items: Sequence[Item], thread: str | None, source: str | None) -> Iterator[Incoming]:
    """Yield items said live with their ids, their times and the threads they name."""

    def named(scope: Scope) -> list[UUID]:
        return assign_ids(items, scope, source, at.fresh, thread=thread)  # a time nobody gave is in no id

    ids = named(at.scope)
    if any(identity.version != MADE_ONCE for identity in ids):
        with at.deps.store.begin(at.scope, write=False) as tx:
            ids = as_brought(tx, ids, named)
    for item, identity in zip(received(items, at.deps.clock()), ids, strict=True):
        yield Incoming(origin_of(item, thread), identity, item)


@dataclass(slots=True)
class Prepared:
    """An incoming item with everything computed that needs no transaction.

    `text` is what is to be embedded, "" for nothing; `vectors` is [windows, d] float32, or None where there
    is nothing to embed, or nobody has yet. `spoken_terms` are the terms of its text alone.
    """

    incoming: Incoming
    terms: Mapping[str, int]
    length: int
    text: str = ""
    vectors: Vector | None = None
    took: Sequence[Span] = ()  # what its group's preparation took
    spoken_terms: Collection[str] = ()

    @property
    def id(self) -> UUID:
        """The id it is to be stored under."""
        return self.incoming.id

    @property
    def origin(self) -> str | None:
        """The caller's name of the thread, if any."""
        return self.incoming.origin

    @property
    def item(self) -> Item:
        """What is to be remembered."""
        return self.incoming.item


@dataclass(slots=True)
class Counts:
    """What an ingest did so far; `receipts` only where the caller wants them.

    `opened` is the thread it opened on each explicit channel: one call without a thread is one conversation.
    `taken` says, where that is no error, which items came with the id of another text, and what stands.
    """

    observations: int = 0
    added: int = 0
    receipts: list[Receipt] = field(default_factory=list)
    opened: dict[str, UUID] = field(default_factory=dict)
    taken: dict[UUID, str] = field(default_factory=dict)
    skips_taken: bool = False


class Ingest:
    """The verb behind `UserMemory.add` and `UserMemory.import_file`."""

    def __init__(self, deps: Deps, segmenter: Segmenter) -> None:
        self._deps = deps
        self._segmenter = segmenter

    def run(
        self,
        scope: Scope,
        incoming: Iterable[Incoming],
        *,
        receipts: bool = True,
        embeds: bool = True,
        skips_taken: bool = False,
        progress: Progress | None = None,
        after_group: Callable[[], object] | None = None,
    ) -> Counts:
        """Ingest a stream in order, embedding one group while the one before commits.

        Idempotent: items whose id is stored already add nothing. On an error everything acknowledged so
        far is kept, and the message says how many that is. `embeds` False leaves the vectors, and the
        boundaries that wait for them, to `embed` jobs. An id that stands with another text is IdTaken, or
        with `skips_taken` noted in the counts and left as it is.
        """
        counts = Counts(skips_taken=skips_taken)
        stream = iter(incoming)
        try:
            with closing(self._prepared(scope, stream, embeds)) as groups:
                for group, ready in groups:
                    self._commit_group(scope, group, ready, counts, receipts)
                    if progress is not None:
                        progress(counts.observations)
                    if after_group is not None:
                        after_group()
        except IdTaken as error:
            if not counts.observations:
                raise
            raise IdTaken(
                f"{error} ({plural(counts.observations, 'item before it is', 'items before it are')} stored)"
            ) from error
        except EpisodicError as error:
            stored = (
                f"{plural(counts.observations, 'item is', 'items are')} stored; repeat the call "
                "to add the rest"
            )
            raise type(error)(f"{error} ({stored})") from error
        return counts

    def _prepared(
        self, scope: Scope, stream: Iterator[Incoming], embeds: bool
    ) -> "Generator[tuple[list[Incoming], dict[UUID, Prepared]], None, None]":
        """Yield groups with what was computed for them, always one group ahead of the caller."""
        group = list(islice(stream, GROUP))
        if len(group) < GROUP:  # there is nothing to overlap with, and a thread costs half a millisecond
            if group:
                yield group, self._prepare(scope, group, embeds)
            return
        with ThreadPoolExecutor(1, thread_name_prefix="embed") as pool:
            ahead = pool.submit(self._prepare, scope, group, embeds)
            while group:
                ready = ahead.result()
                following = list(islice(stream, GROUP))
                if following:  # what this group says may not be stored yet when it is repeated there
                    ahead = pool.submit(self._prepare, scope, following, embeds, list(ready.values()))
                yield group, ready
                group = following

    def _prepare(
        self, scope: Scope, group: Sequence[Incoming], embeds: bool, before: Sequence[Prepared] = ()
    ) -> dict[UUID, Prepared]:
        with recording(Recorder(self._deps.tracer.ticks)) as record:
            fresh = self._computed(scope, group, before)
            if embeds:
                with span("embed", embedder=self._deps.embedder_name):
                    embed_prepared(self._deps.embedder, list(fresh.values()))
        for prepared in fresh.values():
            prepared.took = record.spans
        return fresh

    def _computed(
        self, scope: Scope, group: Sequence[Incoming], before: Sequence[Prepared]
    ) -> dict[UUID, Prepared]:
        known: Collection[UUID] = ()
        if any(i.id.version != MADE_ONCE for i in group):
            with self._deps.store.begin(scope, write=False) as tx:
                known = tx.observations.known([i.id for i in group])
        with span("words"):
            new = [self._words(i) for i in group if i.id not in known]
        with span("echo"):
            heard_so = self._listened(scope, new, before)
            return {
                one.incoming.id: one for one in reversed(heard_so)
            }  # of those with one id the first counts

    def _words(self, incoming: Incoming) -> Prepared:
        return prepare(incoming, self._deps.language, embeds=self._deps.embedder is not None)

    def _listened(self, scope: Scope, new: Sequence[Prepared], before: Sequence[Prepared]) -> list[Prepared]:
        """Return items with a mark on what only repeats recalled text, and without the words of that."""
        if not any(is_agent(one.item) for one in new):
            return [self._marked(one, by_form(one.item)) for one in new]
        with self._deps.store.begin(scope, write=False) as tx:
            shown, picked = self._deps.recently_shown.of(scope), self._deps.channels.explicit
            listening = Listening(tx, before, self._deps.clock(), shown, picked)
            marked = []
            for prepared in new:
                marked.append(self._marked(prepared, listening.hear(prepared)))
                listening.keep(marked[-1])
            return marked

    def _marked(self, prepared: Prepared, echo: Echo | None) -> Prepared:
        if echo is None:  # nearly always
            return prepared
        return self._words(replace(prepared.incoming, item=with_echo(prepared.item, echo)))

    def _commit_group(
        self,
        scope: Scope,
        group: Sequence[Incoming],
        ready: Mapping[UUID, Prepared],
        counts: Counts,
        keep: bool,
    ) -> None:
        arguments: dict[UUID, Receipt] = {}
        for chunk in _chunks(group):
            receipts = self._commit_surely(scope, chunk, ready, counts)
            arguments.update({r.id: r for r in receipts if r.added or r.id not in arguments})
            counts.observations += len(chunk)
            counts.added += sum(r.added for r in receipts)
        for item in group if keep else ():
            counts.receipts.append(arguments[item.id])
            # an id that comes again in this call finds itself known
            arguments[item.id] = replace(arguments[item.id], added=False)

    def _commit_surely(
        self,
        scope: Scope,
        chunk: Sequence[Incoming],
        ready: Mapping[UUID, Prepared],
        counts: Counts,
    ) -> list[Receipt]:
        """Commit a chunk, repeating it where another writer was faster or nobody knows how the commit ended.

        The ids are fixed, so a repetition finds what is stored, whoever stored it, and adds only the rest.
        """
        written: list[Receipt] = []  # what a transaction did up to its commit

        def once() -> list[Receipt]:
            written.clear()
            tried = dict(counts.opened)
            with self._deps.tracer.appending(), self._deps.store.begin(scope) as tx:
                taken = _taken(tx, chunk)
                if taken and not counts.skips_taken:
                    raise IdTaken(next(iter(taken.values())))
                written.extend(self._commit(tx, chunk, ready, tried))
            counts.opened.update(tried)  # only now: what is rolled back opened nothing
            counts.taken.update(taken)
            return list(written)

        try:
            return until_unopposed(once)
        except StoreUnavailable:
            if not written:  # it came before the commit: nothing was kept
                raise
        ours = {(r.id, r.thread_id, r.seq) for r in written if r.added}
        repeated = until_unopposed(once)  # a stored receipt of ours tells that the commit went through
        return [replace(r, added=r.added or (r.id, r.thread_id, r.seq) in ours) for r in repeated]

    def _commit(
        self,
        tx: Transaction,
        chunk: Sequence[Incoming],
        ready: Mapping[UUID, Prepared],
        opened: dict[str, UUID],
    ) -> list[Receipt]:
        now = self._deps.clock()
        known = dict(tx.observations.known([i.id for i in chunk]))
        fresh = list({i.id: ready[i.id] for i in chunk if i.id not in known}.values())
        if not fresh:
            return list(known.values())
        origin = chunk[0].origin
        if origin is None:
            return [*known.values(), *self._resolve(tx, fresh, now, opened)]
        thread, frame = self._thread(tx, origin, fresh, now)
        naming = named(thread, now)
        if naming is not None:
            tx.knowledge.decide(naming)
        return [*known.values(), *self._append(tx, thread, frame, fresh, now)]

    def _resolve(
        self, tx: Transaction, fresh: Sequence[Prepared], now: datetime, opened: dict[str, UUID]
    ) -> list[Receipt]:
        """Find each item's thread, end those that are over, and append run by run."""
        timed = [(p.incoming.item, p.incoming.item.at or now) for p in fresh]
        with span("resolution"):
            placement = Placement(tx, self._deps.channels, timed, opened)
            placed = [
                placement.take(p.incoming.id, item, at) for p, (item, at) in zip(fresh, timed, strict=True)
            ]
        share()
        opened.update(placement.opened)
        receipts: list[Receipt] = []
        start = 0
        for end in range(1, len(fresh) + 1):
            if end < len(fresh) and placed[end].thread == placed[start].thread:
                continue
            receipts.extend(self._append_resolved(tx, placed[start:end], fresh[start:end], now))
            start = end
        return receipts

    def _append_resolved(
        self, tx: Transaction, placed: Sequence[PlacedItem], fresh: Sequence[Prepared], now: datetime
    ) -> list[Receipt]:
        first, last = placed[0], placed[-1].resolution
        for p, where in zip(fresh, placed, strict=True):
            if where.resolution.closes is not None:
                ask_for_end(tx, self._deps, where.resolution.closes, now)
                end_thread(tx, self._segmenter, where.resolution.closes, INACTIVITY, now, waits=True)
            decision = resolved(where, p.incoming.id, now)
            if decision is not None:
                tx.knowledge.decide(decision)
        if first.origin is not None:
            self._open(tx, Thread(first.thread, first.origin, last.created_at, last.last_activity_at))
        thread = tx.threads.get(first.thread)
        if thread is None:
            raise StoreError(f"thread {first.thread} was resolved and is not there; repeat the call")
        over = all(where.resolution.verdict is IntakeVerdict.LATE for where in placed)
        thread = replace(
            thread,
            status=thread.status if over else OPEN,
            closed_for=thread.closed_for if over else "",
            explicit=thread.explicit or last.explicit,
            channels=tuple(sorted({*thread.channels, *last.channels})),
        )
        return self._append(tx, thread, tx.threads.frame(thread.id), fresh, now)

    def _append(
        self, tx: Transaction, thread: Thread, frame: Frame, fresh: Sequence[Prepared], now: datetime
    ) -> list[Receipt]:
        segmenter = self._segmenter.of(thread)
        frame = self._rebase(tx, segmenter, frame, now)
        observations = [observe(p, thread.id, frame.next_seq + n, now) for n, p in enumerate(fresh)]
        with span("store"):
            tx.observations.append(observations)
            number = tx.threads.number(thread.id)
            index_observations(tx, number, fresh, observations, self._deps.embedder_name, now)
        frame = replace(frame, next_seq=frame.next_seq + len(fresh), last_received_at=now)
        with span("boundary"):
            arrivals = _arrivals(tx, segmenter, frame, observations, fresh)
            frame = segmenter.advance(tx, frame, arrivals, now)
        await_vectors(tx, frame, now)
        if any(p.text and p.vectors is None for p in fresh):  # steps wait for none, but are to be found too
            ask_for_vectors(tx, thread.id, now)
        tx.threads.save(frame)
        after = moved(lapsed(tx, self._deps.channels, thread, observations[0]), observations)
        tx.threads.save(after)
        take_in(tx, after, observations, now)
        if self._deps.link_policy != OFF:
            ask_for_link(tx, thread, observations, now)
        request_quotes(tx, self._deps, observations, now)
        listen(tx, thread, observations, now)
        self._deps.tracer.appended(tx, number, observations, fresh[0].took, now)
        return [Receipt(o.id, thread.id, o.seq, True) for o in observations]

    def _thread(
        self, tx: Transaction, origin: str, fresh: Sequence[Prepared], now: datetime
    ) -> tuple[Thread, Frame]:
        thread = tx.threads.get(origin)
        if thread is not None:
            frame = tx.threads.frame(thread.id)
            # it may have been segmented again before the frame was ours; whatever it was, it is named again
            thread = tx.threads.get(thread.id) or thread
            thread = replace(thread, status=OPEN, closed_for="")
            return (thread, frame) if frame.next_seq else self._first_terms(thread, frame, fresh)
        at = fresh[0].incoming.item.at or now
        modality = modality_of(fresh)
        identity = thread_identity(tx.scope, origin)
        title = next((p.item.title for p in fresh if p.item.title), None)
        thread = Thread(identity, origin, at, at, title=title, modality=modality, explicit=True)
        return thread, self._open(tx, thread)

    def _first_terms(self, thread: Thread, frame: Frame, fresh: Sequence[Prepared]) -> tuple[Thread, Frame]:
        """Let what comes first say what an empty thread, a session's, is of: messages or steps."""
        thread = replace(thread, modality=modality_of(fresh))
        return thread, replace(frame, policy=self._segmenter.of(thread).policy.name, state=b"")

    def _open(self, tx: Transaction, thread: Thread) -> Frame:
        frame = Frame(thread.id, self._segmenter.of(thread).policy.name, self._deps.embedder_name)
        tx.threads.create(thread, frame)
        return tx.threads.frame(thread.id)

    def _rebase(self, tx: Transaction, segmenter: Segmenter, frame: Frame, now: datetime) -> Frame:
        if frame.embedder == self._deps.embedder_name:
            return frame
        restarted = segmenter.restarted(frame, self._deps.embedder_name)
        return segmenter.go_on(tx, restarted, now, load_ends(frame))


def _taken(tx: Transaction, chunk: Sequence[Incoming]) -> dict[UUID, str]:
    """Say what stands where items come with the id of another text; nothing is known of erased texts.

    A step that is given with another place, action or end is another step, whatever its text.
    """
    ids = [i.id for i in chunk if i.id.version != MADE_ONCE]
    standing: dict[UUID, Observation | Item] = dict(tx.observations.get(ids)) if ids else {}
    texts: dict[UUID, str] = {}
    for i in chunk:
        there = standing.setdefault(i.id, i.item)
        if not _same(there, i.item):
            text = there.text
            name = i.item.external_id or str(i.id)
            texts[i.id] = (
                f"a message with the id {name!r} stands, with another text: {shortened(text)!r}; "
                f"it stays: give the new text another id, and forget the old one if it is no longer so"
            )
    return texts


def _same(there: Observation | Item, item: Item) -> bool:
    if item.kind != STEP or there.kind != STEP:
        return there.text == item.text
    beside = [
        (one.location, tuple(one.events), *(one.extras.get(name) for name in SAYING)) for one in (there, item)
    ]
    # the text of an older release was the content alone, or said its events in other words
    return beside[0] == beside[1] and renewed(there.text, there.events) in (item.text, content_of(item))


def shortened(text: str) -> str:
    """Return the beginning of a text on one line, for an error."""
    line = " ".join(text[: 2 * QUOTED].split())
    return line if len(line) <= QUOTED and len(text) <= 2 * QUOTED else f"{line[:QUOTED]}…"


def _arrivals(
    tx: Transaction,
    segmenter: Segmenter,
    frame: Frame,
    observations: Sequence[Observation],
    fresh: Sequence[Prepared],
) -> Sequence[Input]:
    if frame.cursor < observations[0].seq:  # earlier arrivals wait for a vector or an answer
        return () if frame.question else segmenter.arrivals(tx, frame, frame.cursor, frame.next_seq - 1)
    waits = segmenter.needs_vectors(frame)
    arrivals: list[Input] = []
    for observation, p in zip(observations, fresh, strict=True):
        if p.vectors is None and p.text and waits:
            break
        arrivals.append(Arrival(own_words(observation), None if p.vectors is None else p.vectors[0]))
    return arrivals


def prepare(incoming: Incoming, language: str | None = None, *, embeds: bool) -> Prepared:
    """Compute an item's searchable words (its own, its speaker's and its date's) and what to embed.

    Of an item that only repeats what was recalled nothing is searchable.
    """
    item = incoming.item
    text = own_text(item.text, item.extras)
    if not text:
        return Prepared(incoming, {}, 0)
    numbers = term_counts(text, language)
    counts = dict(numbers)
    for term in (*tokens(item.actor, language), *(date_words(item.at) if dated(item) and item.at else ())):
        counts[term] = counts.get(term, 0) + 1
    embedded = text if embeds and text.strip() else ""
    length = sum(counts.values())
    offset = None if item.utc_offset is None else timedelta(seconds=item.utc_offset)
    counts |= dict.fromkeys(marks(text, item.at, offset), 1)  # they find it by its days, and are no words
    return Prepared(incoming, counts, length, embedded, spoken_terms=numbers)


def dated(item: Item) -> bool:
    """Tell whether the item's time was given (assumed times give no date words)."""
    return item.at is not None and item.at_source != TimeSource.ASSUMED


def embed_prepared(embedder: Embedder | None, prepared: Sequence[Prepared]) -> None:
    """Embed items in one call; when the embedder fails they stay without vectors.

    Of a long one only the beginning: `index_observations` asks for the rest.
    """
    pieces = [beginning(p.text) if p.text else [] for p in prepared]
    if embedder is None or not any(pieces):
        return
    try:
        vectors = embedder.embed([window for cut in pieces for window in cut])
    except ProviderError:
        return  # append without; a job embeds later and the cursor waits (I10)
    start = 0
    for p, cut in zip(prepared, pieces, strict=True):
        if cut:
            p.vectors = vectors[start : start + len(cut)]
        start += len(cut)


def observe(prepared: Prepared, thread: UUID, seq: int, now: datetime) -> Observation:
    """Give an item its place in a thread."""
    item = prepared.incoming.item
    return Observation(
        id=prepared.incoming.id,
        thread_id=thread,
        seq=seq,
        at=item.at or now,
        received_at=now,
        actor=item.actor,
        text=item.text,
        kind=item.kind,
        at_source=item.at_source if item.at is not None else TimeSource.ASSUMED,
        utc_offset=item.utc_offset,
        external_id=item.external_id,
        channel=item.channel,
        location=item.location,
        location_confidence=item.location_confidence,
        events=item.events,
        prediction_error=item.prediction_error,
        extras=item.extras,
        expires_at=item.expiry(item.at or now),
    )


def index_observations(
    tx: Transaction,
    number: int,
    fresh: Sequence[Prepared],
    observations: Sequence[Observation],
    embedder: str,
    now: datetime,
) -> None:
    """Index words and vectors of new observations, and ask for what of long ones is to be embedded yet."""
    refs = [ref_of(number, o.seq) for o in observations]
    postings = [Posting(r, p.terms, p.length) for r, p in zip(refs, fresh, strict=True)]
    tx.index.put_postings(OBSERVATIONS, postings)
    embedded = [(r, p.vectors) for r, p in zip(refs, fresh, strict=True) if p.vectors is not None]
    if embedded:
        rows = [r for r, v in embedded for _ in range(len(v))]
        tx.index.put_vectors(OBSERVATIONS, embedder, rows, np.concatenate([v for _, v in embedded]))
    ask_for_pieces(tx, (o for o, p in zip(observations, fresh, strict=True) if p.vectors is not None), now)


def moved(thread: Thread, observations: Sequence[Observation]) -> Thread:
    """Widen a thread's span, its channels and its count of turns; late arrivals never move its end back."""
    named = {channel_name(o.channel) for o in observations if o.channel}
    return replace(
        thread,
        created_at=min(thread.created_at, *(o.at for o in observations)),
        last_activity_at=max(thread.last_activity_at, *(o.at for o in observations)),
        channels=tuple(sorted({*thread.channels, *named})),
        turn_count=turn_count(observations, thread.turn_count),
    )


def modality_of(fresh: Sequence[Prepared]) -> str:
    """Return what a thread is of that begins with these."""
    return STEP if fresh[0].incoming.item.kind == "step" else "message"


def _chunks(group: Sequence[Incoming]) -> Iterator[list[Incoming]]:
    """Split a group into runs of one thread, each at most CHUNK long, keeping every thread's order."""
    by_origin: dict[str | None, list[Incoming]] = {}
    for item in group:
        by_origin.setdefault(item.origin, []).append(item)
    for items in by_origin.values():
        for start in range(0, len(items), CHUNK):
            yield items[start : start + CHUNK]


REMEMBERED: Final = timedelta(days=1)
LONGEST: Final = 255  # characters of a key


class OnceKey:
    """What an idempotency key stands for in one user's memory."""

    def __init__(self, at: Scoped, key: str, batch: Sequence[Any], about: Mapping[str, Any]) -> None:
        """Take the batch as its caller wrote it, and `about` what was said of all of it."""
        if not isinstance(key, str) or not key.strip() or len(key) > LONGEST:
            raise InvalidInput(f"an idempotency key has 1 to {LONGEST} characters; give each batch its own")
        self._at = at
        self._key = key
        self._name = _digest(key)
        self._batch = _digest([batch, dict(about)])

    def check(self) -> None:
        """Raise IdTaken where another batch came with the key within a day; keeps nothing."""
        oldest = self._at.deps.clock() - REMEMBERED
        with self._at.deps.store.begin(self._at.scope, write=False) as tx:
            self._compare(tx.request(self._name, oldest) or self._batch)

    def named(self, batch: Sequence[Any]) -> list[Any]:
        """Return the items of a batch, those without an id with one made from the key."""
        items = [{"content": one} if isinstance(one, str) else one for one in batch]
        return [
            {**item, "id": f"{self._key}#{n}"} if isinstance(item, Mapping) and not item.get("id") else item
            for n, item in enumerate(items)
        ]

    def keep(self) -> None:
        """Remember the batch, now that it is kept; IdTaken where another one was faster."""
        now = self._at.deps.clock()
        with self._at.deps.store.begin(self._at.scope) as tx:
            standing = tx.keep_request(self._name, self._batch, now=now, oldest=now - REMEMBERED)
        self._compare(standing)

    def _compare(self, standing: bytes) -> None:
        if standing != self._batch:
            raise IdTaken(f"the idempotency key {self._key!r} came with another batch before; give a new one")


def _digest(value: Any) -> bytes:
    text = json.dumps(value, sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "replace")).digest()
