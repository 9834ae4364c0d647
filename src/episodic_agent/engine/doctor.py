"""Check a memory against its invariants (I1-I12), and mend what can be derived again."""

from collections.abc import Iterator
from dataclasses import dataclass

from episodic_agent.core.boundary import asking
from episodic_agent.core.boundary.contract import DRAIN_ALL
from episodic_agent.core.echo import heard
from episodic_agent.core.interfaces import EPISODES, FACTS, OBSERVATIONS, PARTS, SKILLS, Transaction
from episodic_agent.core.places import Stay, joined, stays_of
from episodic_agent.core.windows import windows
from episodic_agent.engine import joining
from episodic_agent.engine.care_faults import care_faults
from episodic_agent.engine.chain_faults import chain_faults, mend_metadata
from episodic_agent.engine.fact_faults import fact_faults
from episodic_agent.engine.fact_writing import fact_texts
from episodic_agent.engine.generations import last_resegmenting
from episodic_agent.engine.link_explaining import unfounded
from episodic_agent.engine.mining import skill_texts
from episodic_agent.engine.mining import take_up as look_for_skills
from episodic_agent.engine.parts import Parts
from episodic_agent.engine.resegmenting import check_pass
from episodic_agent.engine.segmenting import ENCODE, take_up
from episodic_agent.engine.skill_faults import skill_faults
from episodic_agent.engine.sound_parts import mend_parts, part_problems, part_texts
from episodic_agent.schemas import Decision, Episode, Reason, Scope, Thread

PAGE = 512
EMBEDDED = (OBSERVATIONS, EPISODES, PARTS, SKILLS, FACTS)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong or waiting: which invariant, in which scope, and what to do about it.

    `severity` is `error` (an invariant is broken) or `note` (later work that waits).
    """

    severity: str
    invariant: str
    scope: Scope | None
    message: str


@dataclass(frozen=True, slots=True)
class Doctor:
    """The verb `doctor`, of one space."""

    parts: Parts
    space: str

    def examine(self) -> list[Finding]:
        """Check the file, then every scope of the space; an empty list or notes alone mean a sound memory."""
        store = self.parts.store
        found = [Finding("error", "file", None, line) for line in store.check()]
        unsettled = [one for one in store.erasures(self.space) if not one.is_done]
        if unsettled:
            why = unsettled[-1].waits_for or "nobody has swept it since"
            told = (
                f"{len(unsettled)} erasures are pending ({why}); upkeep or `doctor --repair` completes them"
            )
            found.append(Finding("note", "I12", None, told))
        for scope in store.scopes(self.space):
            with store.begin(scope, write=False) as tx:
                for thread in tx.threads.list():
                    found.extend(self._thread(tx, thread))
                found.extend(self._error(tx, "I3", wrong) for wrong in joining.faults(tx))
                found.extend(self._error(tx, "I6", wrong) for wrong in unfounded(tx))
                found.extend(self._derived(tx))
                found.extend(self._error(tx, *fault) for fault in skill_faults(tx))
                found.extend(self._error(tx, *fault) for fault in chain_faults(tx))
                found.extend(self._error(tx, "care", wrong) for wrong in care_faults(tx))
                found.extend(self._error(tx, "facts", wrong) for wrong in fact_faults(tx))
        return found

    def repair(self) -> int:
        """Rebuild derived data: stays, parts, missing words (as jobs) and vectors; return how many."""
        mended = 0
        for scope in self.parts.store.scopes(self.space):
            mended += self._mend_stays(scope)
            mended += self._queue_encodings(scope)
            mended += mend_parts(self.parts, scope)
            with self.parts.store.begin(scope) as tx:
                mended += joining.mend(tx, self.parts.clock())
                mended += mend_metadata(tx)
            mended += self._look_for_skills(scope)
            while n := self._embed_page(scope):
                mended += n
        return mended

    def _thread(self, tx: Transaction, thread: Thread) -> Iterator[Finding]:
        frame = tx.threads.frame(thread.id)
        yield from self._cover(tx, thread, frame.first_seq)
        yield from self._generation(tx, thread)
        for severity, told in part_problems(tx, thread, frame):
            yield Finding(severity, "parts", tx.scope, f"thread {thread.origin}: {told}")
        if not frame.first_seq <= frame.cursor <= frame.next_seq:
            yield self._error(tx, "I1", f"thread {thread.origin}: the frame's cursor lies outside the frame")
        stored, stays = _read(tx, thread, frame.next_seq)
        if stays != list(tx.places.stays(thread_id=thread.id)):
            yield self._error(
                tx,
                "places",
                f"thread {thread.origin}: what is kept of its places is not what its observations say (a "
                "memory from before places were kept?); `doctor --repair` writes it again",
            )
        stored += len(tx.erasing.erased(thread.id, 0, frame.next_seq))
        if stored != frame.next_seq:
            yield self._error(
                tx, "I10", f"thread {thread.origin}: {stored} observations stored, {frame.next_seq} counted"
            )

    def _cover(self, tx: Transaction, thread: Thread, open_from: int) -> Iterator[Finding]:
        expected = 0
        gone = {one.seq for one in tx.erasing.erased(thread.id, 0, open_from)}
        for episode in tx.episodes.of_thread(thread.id):
            while expected in gone and expected < episode.first_seq:
                expected += 1
            if episode.first_seq != expected or episode.last_seq < episode.first_seq:
                yield self._error(
                    tx,
                    "I1",
                    f"thread {thread.origin}: episode {episode.id} begins at {episode.first_seq}, "
                    f"not {expected}",
                )
            expected = episode.last_seq + 1
            yield from self._verdict(tx, thread, episode)
        while expected in gone and expected < open_from:
            expected += 1
        if expected != open_from:
            yield self._error(
                tx, "I1", f"thread {thread.origin}: the frame begins at {open_from}, not {expected}"
            )

    def _generation(self, tx: Transaction, thread: Thread) -> Iterator[Finding]:
        """Recompute the pass that made the thread's generation from what it read (I6, I7)."""
        if not thread.generation:
            return
        made = last_resegmenting(tx, thread)
        if made is None:
            yield self._error(
                tx, "I6", f"thread {thread.origin}: nothing tells what made generation {thread.generation}"
            )
        elif (wrong := check_pass(tx, made, self.parts)) is not None:
            severity, told = wrong
            yield Finding(severity, "I7", tx.scope, f"thread {thread.origin}: {told}")

    def _verdict(self, tx: Transaction, thread: Thread, episode: Episode) -> Iterator[Finding]:
        decision = tx.episodes.decision(episode.decision_id) if episode.decision_id else None
        if decision is None:
            yield self._error(tx, "I6", f"thread {thread.origin}: episode {episode.id} has no decision")
        elif not follows(decision):
            yield self._error(
                tx,
                "I6",
                f"thread {thread.origin}: the verdict on {episode.id} does not follow from its score",
            )

    def _derived(self, tx: Transaction) -> Iterator[Finding]:
        waiting = tx.jobs.list(state="waiting")
        if waiting:
            yield Finding(
                "note", "jobs", tx.scope, f"{len(waiting)} jobs wait; a worker or the next opening runs them"
            )
        for job in tx.jobs.list(state="dead"):
            yield self._error(
                tx,
                "jobs",
                f"job {job.kind} {job.key} was given up ({job.last_error}); "
                f"`episodic jobs retry {job.id}` tries again, `doctor --repair` all of them",
            )
        serials = {job.serial for job in (*waiting, *tx.jobs.list(state="leased"))}
        for thread in tx.threads.list():
            frame = tx.threads.frame(thread.id)
            if frame.cursor < frame.next_seq and str(thread.id) not in serials:
                yield Finding(
                    "note",
                    "jobs",
                    tx.scope,
                    f"thread {thread.origin}: {frame.next_seq - frame.cursor} observations are undecided "
                    "and no job will decide them; the next message, a flush or `doctor --repair` does",
                )
        asked = {job.key for job in (*waiting, *tx.jobs.list(state="leased"))}
        for thread in tx.threads.list():
            for episode in tx.episodes.of_thread(thread.id):
                if not episode.encoding_version and str(episode.id) not in asked:
                    yield self._error(
                        tx, "words", f"episode {episode.id} has no summary; `doctor --repair` makes it"
                    )
        if self.parts.embedder is not None:
            bare = len(tx.index.unindexed(OBSERVATIONS, self.parts.embedder_name, limit=100_000))
            if bare:
                yield Finding(
                    "note",
                    "I9",
                    tx.scope,
                    f"{bare} observations have no vector of {self.parts.embedder_name} and are found by "
                    "words only; "
                    "`doctor --repair` embeds them",
                )

    def _error(self, tx: Transaction, invariant: str, message: str) -> Finding:
        return Finding("error", invariant, tx.scope, message)

    def _mend_stays(self, scope: Scope) -> int:
        with self.parts.store.begin(scope, write=False) as tx:
            wrong = [t for t in tx.threads.list() if not _stays_fit(tx, t)]
        for thread in wrong:
            with self.parts.store.begin(scope) as tx:
                frame = tx.threads.frame(thread.id)  # nobody appends to the thread meanwhile
                tx.places.rewrite(thread.id, _read(tx, thread, frame.next_seq)[1])
        return len(wrong)

    def _queue_encodings(self, scope: Scope) -> int:
        queued = 0
        now = self.parts.clock()
        with self.parts.store.begin(scope) as tx:
            for job in tx.jobs.list(state="dead"):
                tx.jobs.retry(job.id, now=now)
                queued += 1
            for thread in tx.threads.list():
                queued += take_up(tx, tx.threads.frame(thread.id), now)
                for episode in tx.episodes.of_thread(thread.id):
                    if not episode.encoding_version:
                        tx.jobs.put(ENCODE, str(episode.id), f"{ENCODE}:{episode.id}", now=now)
                        queued += 1
        return queued

    def _look_for_skills(self, scope: Scope) -> int:
        with self.parts.store.begin(scope) as tx:
            return look_for_skills(tx, self.parts.clock())

    def _embed_page(self, scope: Scope) -> int:
        embedder = self.parts.embedder
        if embedder is None:
            return 0
        with self.parts.store.begin(scope, write=False) as tx:
            pages = {kind: tx.index.unindexed(kind, embedder.name, limit=PAGE) for kind in EMBEDDED}
            texts = {
                (kind, ref): piece
                for kind, refs in pages.items()
                for ref, piece in _texts(tx, kind, list(refs)).items()
            }
        rows = [(kind, ref, w) for (kind, ref), text in texts.items() for w in windows(text) if w.strip()]
        if not rows:
            return 0
        vectors = embedder.embed([w for _, _, w in rows])
        with self.parts.store.begin(scope) as tx:
            for kind in EMBEDDED:
                asked = list(dict.fromkeys(ref for of, ref, _ in rows if of == kind))
                now = _texts(tx, kind, asked)  # what was erased or told anew meanwhile gets no vector
                there = {ref for ref in asked if now.get(ref) == texts[kind, ref]}
                chosen = [n for n, row in enumerate(rows) if row[0] == kind and row[1] in there]
                if chosen:
                    tx.index.put_vectors(kind, embedder.name, [rows[n][1] for n in chosen], vectors[chosen])
        return len(texts)


def _read(tx: Transaction, thread: Thread, count: int) -> tuple[int, list[Stay]]:
    """Count a thread's observations and return the stays they make, a page at a time."""
    number, stored = tx.threads.number(thread.id), 0
    pieces: list[Stay] = []
    for start in range(0, count + PAGE, PAGE):
        page = tx.threads.observations(thread.id, start, start + PAGE - 1)
        stored += len(page)
        pieces += stays_of(number, page)
    return stored, list(joined(pieces))


def _stays_fit(tx: Transaction, thread: Thread) -> bool:
    expected = _read(tx, thread, tx.threads.frame(thread.id).next_seq)[1]
    return expected == list(tx.places.stays(thread_id=thread.id))


def _texts(tx: Transaction, kind: str, refs: list[int]) -> dict[int, str]:
    if kind == SKILLS:
        return skill_texts(tx, refs)
    if kind == FACTS:
        return fact_texts(tx, refs)
    if kind == PARTS:
        return {ref: text for ref, text in part_texts(tx, refs).items() if text}
    if kind == OBSERVATIONS:
        texts = {ref: heard(o).text for ref, o in tx.threads.by_refs(refs).items()}
        return {ref: text for ref, text in texts.items() if text.strip()}
    return {ref: e.summary for ref, e in tx.episodes.by_refs(refs).items() if e.summary.strip()}


def follows(decision: Decision) -> bool:
    """Recompute a boundary's verdict from its record (I6).

    A drain follows from a request, a forced split from the frame's length, everything else from the score.
    """
    detail = decision.detail
    if detail.get("edge") == DRAIN_ALL:
        return True
    size, longest = detail.get("size"), detail.get("max_length")
    if decision.verdict == Reason.SIZE_CAP and isinstance(size, int) and isinstance(longest, int):
        return size >= longest
    said = asking.read(decision.features)
    if said is not None and said.odds != decision.score:
        return False  # the answer that a model gave does not make this probability
    return decision.score >= decision.threshold
