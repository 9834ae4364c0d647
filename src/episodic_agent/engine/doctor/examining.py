"""Check a memory against its invariants (I1-I12), and mend what can be derived again."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from episodic_agent.core.boundary.contract import DRAIN_ALL
from episodic_agent.core.boundary.conversation import asking, reading
from episodic_agent.core.language import plural
from episodic_agent.core.places import joined, visits_of
from episodic_agent.engine.boundary.generations import last_resegmenting
from episodic_agent.engine.boundary.resegmenting import check_pass
from episodic_agent.engine.boundary.segmenting import take_up
from episodic_agent.engine.chains.faults import chain_faults, mend_metadata
from episodic_agent.engine.deps import Deps
from episodic_agent.engine.doctor.answering import silent_models
from episodic_agent.engine.doctor.content import altered_content, hash_older
from episodic_agent.engine.doctor.reembedding import embed_page, missing
from episodic_agent.engine.erase.facts import mend_facts
from episodic_agent.engine.facts.faults import fact_faults
from episodic_agent.engine.jobs.kinds import ENCODE
from episodic_agent.engine.links import joining
from episodic_agent.engine.links.explaining import unfounded
from episodic_agent.engine.sections.faults import mend_sections, section_problems
from episodic_agent.engine.skills.faults import skill_faults
from episodic_agent.engine.skills.job import take_up as look_for_skills
from episodic_agent.engine.visibility.faults import visibility_faults
from episodic_agent.errors import StoreDamaged, StoreError
from episodic_agent.protocols import Transaction, stored_decision
from episodic_agent.schemas import Decision, Episode, Reason, Scope, Thread
from episodic_agent.schemas.places import Visit

PAGE = 512


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

    deps: Deps
    space: str

    def examine(self) -> list[Finding]:
        """Check the file, then every scope of the space; an empty list or notes alone mean a sound memory."""
        store = self.deps.store
        findings = self._damage()
        unsettled = [one for one in store.erasures(self.space) if not one.is_done]
        if unsettled:
            why = unsettled[-1].waits_for or "nobody has swept it since"
            remedy = "" if "`episodic" in why else "; upkeep or `doctor --repair` completes what is left"
            text = f"{plural(len(unsettled), 'erasure is', 'erasures are')} pending ({why}){remedy}"
            findings.append(Finding("note", "I12", None, text))
        for scope in store.scopes(self.space):
            findings.extend(self._as_far_as_it_can_be_read(self._scope, scope))
        return findings

    def glance(self) -> list[Finding]:
        """Try whether the file can be read; an empty list where it can."""
        return [Finding("error", "file", None, line) for line in self.deps.store.check(quick=True)]

    def salvage(self) -> list[Finding]:
        """Save what can be read where what was said is damaged; say what was saved and what was lost.

        Nothing where nothing is damaged: then `repair` may write.
        """
        if not any(finding.severity == "error" for finding in self._damage()):
            return []
        saved, *lost = self.deps.store.salvage(self.deps.clock())
        errors = [Finding("error", "file", None, line) for line in lost]
        return [Finding("note", "file", None, saved), *errors]

    def _damage(self) -> list[Finding]:
        """Check the file, and compare what observations say with what was stored."""
        findings = [Finding("error", "file", None, line) for line in self.deps.store.check()]
        try:
            for scope in self.deps.store.scopes(self.space):
                findings.extend(self._as_far_as_it_can_be_read(self._content, scope))
        except StoreDamaged as error:
            findings.append(Finding("error", "file", None, str(error)))
        return findings

    def _as_far_as_it_can_be_read(
        self, look: Callable[[Scope], Iterator[Finding]], scope: Scope
    ) -> Iterator[Finding]:
        try:
            yield from look(scope)
        except (StoreError, ValueError, LookupError, TypeError) as error:
            yield Finding("error", "file", scope, f"what is stored cannot be read: {error}")

    def _content(self, scope: Scope) -> Iterator[Finding]:
        """Compare what observations say with what was stored."""
        with self.deps.store.begin(scope, write=False) as tx:
            for thread in tx.threads.list():
                count = tx.threads.frame(thread.id).next_seq
                for text in altered_content(tx, thread, count):
                    yield self._error(tx, "content", text)
            if bare := tx.count("unhashed"):
                text = (
                    f"{plural(bare, 'observation has', 'observations have')} no content hash (stored "
                    "before there was one);"
                    " upkeep or `doctor --repair` adds it"
                )
                yield Finding("note", "content", scope, text)

    def _scope(self, scope: Scope) -> Iterator[Finding]:
        with self.deps.store.begin(scope, write=False) as tx:
            for thread in tx.threads.list():
                yield from self._thread(tx, thread)
            yield from (self._error(tx, "I3", wrong) for wrong in joining.faults(tx))
            yield from (self._error(tx, "I6", wrong) for wrong in unfounded(tx))
            yield from self._derived(tx)
            yield from (self._error(tx, *fault) for fault in skill_faults(tx))
            yield from (self._error(tx, *fault) for fault in chain_faults(tx))
            yield from (self._error(tx, "care", wrong) for wrong in visibility_faults(tx))
            yield from (self._error(tx, "facts", wrong) for wrong in fact_faults(tx))
            yield from (Finding("note", "model", scope, line) for line in silent_models(tx, self.deps))

    def repair(self) -> int:
        """Rebuild derived data: stays, parts, missing words (as jobs) and vectors; return how many."""
        mended = 0
        for scope in self.deps.store.scopes(self.space):
            mended += hash_older(self.deps.store, scope)
            mended += self._mend_visits(scope)
            mended += self._queue_encodings(scope)
            mended += mend_sections(self.deps, scope)
            with self.deps.store.begin(scope) as tx:
                mended += joining.mend(tx, self.deps.clock())
                mended += mend_facts(self.deps, tx, self.deps.clock())
                mended += mend_metadata(tx)
            mended += self._look_for_skills(scope)
            while n := embed_page(self.deps, scope):
                mended += n
        return mended

    def _thread(self, tx: Transaction, thread: Thread) -> Iterator[Finding]:
        frame = tx.threads.frame(thread.id)
        yield from self._cover(tx, thread, frame.first_seq)
        yield from self._generation(tx, thread)
        for severity, text in section_problems(tx, thread, frame):
            yield Finding(severity, "parts", tx.scope, f"thread {thread.origin}: {text}")
        if not frame.first_seq <= frame.cursor <= frame.next_seq:
            yield self._error(tx, "I1", f"thread {thread.origin}: the frame's cursor lies outside the frame")
        stored, visits = _read(tx, thread, frame.next_seq)
        if visits != list(tx.threads.visits(thread_id=thread.id)):
            yield self._error(
                tx,
                "places",
                f"thread {thread.origin}: what is kept of its places is not what its observations say (a "
                "memory from before places were kept?); `doctor --repair` writes it again",
            )
        stored += len(tx.observations.erased([(thread.id, 0, frame.next_seq)]))
        if stored != frame.next_seq:
            yield self._error(
                tx,
                "I10",
                f"thread {thread.origin}: {plural(stored, 'observation')} stored, {frame.next_seq} counted",
            )

    def _cover(self, tx: Transaction, thread: Thread, open_from: int) -> Iterator[Finding]:
        expected = 0
        gone = {one.seq for one in tx.observations.erased([(thread.id, 0, open_from)])}
        for episode in tx.episodes.list(threads=[thread.id]):
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
        elif (wrong := check_pass(tx, made, self.deps)) is not None:
            severity, text = wrong
            yield Finding(severity, "I7", tx.scope, f"thread {thread.origin}: {text}")

    def _verdict(self, tx: Transaction, thread: Thread, episode: Episode) -> Iterator[Finding]:
        decision = stored_decision(tx, episode.decision_id)
        if decision is None:
            yield self._error(tx, "I6", f"thread {thread.origin}: episode {episode.id} has no decision")
        elif not follows(decision):
            yield self._error(
                tx,
                "I6",
                f"thread {thread.origin}: the verdict on {episode.id} does not follow from its score",
            )

    def _derived(self, tx: Transaction) -> Iterator[Finding]:
        waiting = tx.upkeep.jobs(state="waiting")
        if waiting:
            yield Finding(
                "note",
                "jobs",
                tx.scope,
                f"{plural(len(waiting), 'job waits', 'jobs wait')}; a worker or the next opening "
                "runs what waits",
            )
        for job in tx.upkeep.jobs(state="dead"):
            yield self._error(
                tx,
                "jobs",
                f"job {job.kind} {job.key} was given up ({job.last_error}); "
                f"`episodic jobs retry {job.id}` tries again, `doctor --repair` all of them",
            )
        serials = {job.serial for job in (*waiting, *tx.upkeep.jobs(state="leased"))}
        for thread in tx.threads.list():
            frame = tx.threads.frame(thread.id)
            if frame.cursor < frame.next_seq and str(thread.id) not in serials:
                yield Finding(
                    "note",
                    "jobs",
                    tx.scope,
                    f"thread {thread.origin}: "
                    f"{plural(frame.next_seq - frame.cursor, 'observation is', 'observations are')} "
                    "undecided "
                    "and no job will decide them; the next message, a flush or `doctor --repair` does",
                )
        asked = {job.key for job in (*waiting, *tx.upkeep.jobs(state="leased"))}
        for thread in tx.threads.list():
            for episode in tx.episodes.list(threads=[thread.id]):
                if not episode.encoding_version and str(episode.id) not in asked:
                    yield self._error(
                        tx, "words", f"episode {episode.id} has no summary; `doctor --repair` makes it"
                    )
        if self.deps.embedder is not None:
            bare = missing(tx, self.deps.embedder_name)
            if bare.left:
                yield Finding(
                    "note",
                    "I9",
                    tx.scope,
                    f"{plural(bare.left, 'observation has', 'observations have')} no vector of "
                    f"{self.deps.embedder_name} ({bare}); `episodic jobs reembed` or `doctor --repair` "
                    "embeds them",
                )

    def _error(self, tx: Transaction, invariant: str, message: str) -> Finding:
        return Finding("error", invariant, tx.scope, message)

    def _mend_visits(self, scope: Scope) -> int:
        with self.deps.store.begin(scope, write=False) as tx:
            wrong = [t for t in tx.threads.list() if not _visits_fit(tx, t)]
        for thread in wrong:
            with self.deps.store.begin(scope) as tx:
                frame = tx.threads.frame(thread.id)  # nobody appends to the thread meanwhile
                tx.threads.rewrite_stays(thread.id, _read(tx, thread, frame.next_seq)[1])
        return len(wrong)

    def _queue_encodings(self, scope: Scope) -> int:
        queued = 0
        now = self.deps.clock()
        with self.deps.store.begin(scope) as tx:
            for job in tx.upkeep.jobs(state="dead"):
                tx.upkeep.put_back(job.id, retry_at=now)
                queued += 1
            for thread in tx.threads.list():
                queued += take_up(tx, tx.threads.frame(thread.id), now)
                for episode in tx.episodes.list(threads=[thread.id]):
                    if not episode.encoding_version:
                        tx.upkeep.ask(ENCODE, str(episode.id), f"{ENCODE}:{episode.id}", now=now)
                        queued += 1
        return queued

    def _look_for_skills(self, scope: Scope) -> int:
        with self.deps.store.begin(scope) as tx:
            return look_for_skills(tx, self.deps.clock())


def _read(tx: Transaction, thread: Thread, count: int) -> tuple[int, list[Visit]]:
    """Count a thread's observations and return the stays they make, a page at a time."""
    number, stored = tx.threads.number(thread.id), 0
    pieces: list[Visit] = []
    for start in range(0, count + PAGE, PAGE):
        page = tx.observations.read(thread.id, start, start + PAGE - 1)
        stored += len(page)
        pieces += visits_of(number, page)
    return stored, list(joined(pieces))


def _visits_fit(tx: Transaction, thread: Thread) -> bool:
    expected = _read(tx, thread, tx.threads.frame(thread.id).next_seq)[1]
    return expected == list(tx.threads.visits(thread_id=thread.id))


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
    weighed_reading = reading.read(decision.features)
    weighed = weighed_reading or asking.read(decision.features)
    if weighed is not None and weighed.probability != decision.score:
        return False  # the answer that a model gave does not make this probability
    return decision.score >= decision.threshold
