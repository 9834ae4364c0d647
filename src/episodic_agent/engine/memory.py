"""`Memory`: the whole engine behind one verb per act. Each verb is a line or a few to its own module."""

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date, datetime, timedelta
from functools import partial
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from uuid import UUID

from episodic_agent.core.boundary.contract import Policy, Record
from episodic_agent.core.boundary.policies import DEFAULT, STEP, for_modality
from episodic_agent.core.chaining.filters import MetadataFilter
from episodic_agent.core.identity import assign_ids
from episodic_agent.core.intake import Item, read_item
from episodic_agent.core.interfaces import Sensor, Transaction
from episodic_agent.core.prompts import compact, episode, topic_shift
from episodic_agent.engine import listing
from episodic_agent.engine.arcs import ArcVerbs
from episodic_agent.engine.background import Background
from episodic_agent.engine.backlog import Backlog, JobEntry
from episodic_agent.engine.caring import CareVerbs
from episodic_agent.engine.chain_verbs import ChainVerbs
from episodic_agent.engine.chaining import Chainer
from episodic_agent.engine.chains import CHAIN
from episodic_agent.engine.closing import Closer
from episodic_agent.engine.compacting import Compactor
from episodic_agent.engine.consolidating import FACTS, Consolidator
from episodic_agent.engine.context import Contexts, ContextVerbs
from episodic_agent.engine.doctor import Doctor, Finding
from episodic_agent.engine.encode import Encoder
from episodic_agent.engine.erased_facts import drop_facts
from episodic_agent.engine.erasing import Eraser
from episodic_agent.engine.explain import Explanation, WhatIf, explain, read_records, whatif
from episodic_agent.engine.exporting import export
from episodic_agent.engine.facts import FactVerbs
from episodic_agent.engine.filtering import Where, filter_of, threads_about
from episodic_agent.engine.forgetting import ForgetVerbs
from episodic_agent.engine.given import (
    aware,
    day,
    episode_identity,
    given_item,
    listed,
    origin_of,
    tidy,
    worded,
)
from episodic_agent.engine.importing import Importer
from episodic_agent.engine.ingest import Incoming, Ingest, Progress
from episodic_agent.engine.jobs import Handler, Runner
from episodic_agent.engine.learning import TuneVerbs
from episodic_agent.engine.link_verbs import LinkVerbs
from episodic_agent.engine.linking import LINK, Linker
from episodic_agent.engine.mining import MINE, SOME, Miner, ask_where_awaited
from episodic_agent.engine.outcomes import OUTCOME, Listener
from episodic_agent.engine.parting import COMPACT, summary_of
from episodic_agent.engine.parts import Parts
from episodic_agent.engine.pending import Asker, Embedding
from episodic_agent.engine.recall import Recaller
from episodic_agent.engine.recalling import RecallVerbs
from episodic_agent.engine.reencoding import EncodingVerbs
from episodic_agent.engine.repeating import remembering
from episodic_agent.engine.resegmenting import Resegmented, Resegmenter, Undone
from episodic_agent.engine.results import EpisodeCard, ImportReport, Stats
from episodic_agent.engine.retaining import Keeper, drop_marks
from episodic_agent.engine.reviewing import REVIEW, Reviewer
from episodic_agent.engine.running import AgentRun, RunReport, Seen, Step, Verbs, interval_of
from episodic_agent.engine.segmenting import ASK, EMBED, ENCODE, Segmenter
from episodic_agent.engine.sequences import SequenceVerbs
from episodic_agent.engine.sessions import Sessions, SessionVerbs
from episodic_agent.engine.skills import SkillVerbs
from episodic_agent.engine.summaries import SummaryVerbs
from episodic_agent.engine.threads import MANUAL, ThreadVerbs
from episodic_agent.engine.trace import BoundaryTrace
from episodic_agent.engine.tracing import trace
from episodic_agent.engine.tuning import TUNE, Tuner
from episodic_agent.engine.turns import TurnVerbs
from episodic_agent.engine.usage import ANY_DAY, model_of, usage
from episodic_agent.engine.working import POLL, Say, Worker
from episodic_agent.errors import InvalidInput, ProviderError
from episodic_agent.schemas import (
    Encoding,
    Episode,
    ModelUse,
    Observation,
    Reason,
    Receipt,
    Scope,
    Thread,
)

HERE, WORKERS = "here", "workers"  # who does later work


class Memory(
    RecallVerbs,
    SequenceVerbs,
    ThreadVerbs,
    LinkVerbs,
    ChainVerbs,
    SessionVerbs,
    ArcVerbs,
    ContextVerbs,
    FactVerbs,
    SkillVerbs,
    CareVerbs,
    SummaryVerbs,
    EncodingVerbs,
    TuneVerbs,
    TurnVerbs,
    ForgetVerbs,
):
    """An episodic memory over one store. Thread safe; several processes may share the store.

    Every verb takes `user_id` (the default user otherwise); nothing crosses users or leaves the space (I11).
    """

    def __init__(
        self, parts: Parts, *, user_id: str = "default", space: str = "default", jobs: str = HERE
    ) -> None:
        """Take `jobs` to say who does later work: `here` this process, `workers` only `episodic worker`s."""
        self._here = check_jobs(jobs) == HERE
        super().__init__(parts, user_id=user_id, space=space)
        self._policy = parts.resolve_policy(parts.policy)
        self._segmenter = Segmenter(
            self._policy,
            parts.resolve_policy,
            model_of(parts.language_model, topic_shift.STAGE) is not None,
            parts.resolve_policy(_for_steps(parts.policy)),
        )
        self._ingest = Ingest(parts, self._segmenter)
        self._closer = Closer(parts, self._segmenter)
        self._sessions = Sessions(parts, self._segmenter)
        self._resegmenter = Resegmenter(parts, self._segmenter)
        self._eraser = Eraser(parts, self._segmenter, riders=(drop_marks, partial(drop_facts, parts)))
        self._keeper = Keeper(parts, self._eraser)
        self._again = self._run_here
        self._recaller = Recaller(parts)
        self._linker = Linker(parts)
        self._contexts = Contexts(parts, foreseen=self._linker.expected, summary_of=summary_of)
        self._handlers: Mapping[str, Handler] = {
            ENCODE: Encoder(parts).handle,
            ASK: Asker(parts, self._segmenter).handle,
            EMBED: Embedding(parts, self._segmenter).handle,
            REVIEW: Reviewer(parts).handle,
            LINK: self._linker.handle,
            COMPACT: Compactor(parts).handle,
            CHAIN: Chainer(parts).handle,
            MINE: Miner(parts).handle,
            FACTS: Consolidator(parts).handle,
            OUTCOME: Listener(parts).handle,
            TUNE: Tuner(parts).handle,
        }
        told = {COMPACT: compact.STAGE, ENCODE: episode.STAGE}
        self._told_singly = [kind for kind, stage in told.items() if model_of(parts.language_model, stage)]
        self._runner = self._runner_of(self._handlers, space=space)
        self._background = Background(self._runner, lambda: self._sweep(parts.store.scopes(space)))

    # --- observe -----------------------------------------------------------------------------------------

    def add(
        self,
        items: "str | Mapping[str, Any] | Iterable[str | Mapping[str, Any]]",
        *,
        user_id: str | None = None,
        thread: str | None = None,
        channel: str | None = None,
        source: str | None = None,
        role: str = "user",
        timestamp: "str | float | datetime | None" = None,
        id: str | None = None,
        ttl: "str | float | timedelta | None" = None,
        expires_at: "str | float | datetime | None" = None,
        wait: bool = True,
        progress: Progress | None = None,
    ) -> list[Receipt]:
        """Keep observations, exactly once, and return a receipt for each, in order.

        Takes a string, a chat message (`{"role", "content", "timestamp"?, "name"?, "id"?}`), a step, or an
        iterable of them. Without `thread` each joins the thread its channel and its time lead to (see
        docs/threads.md). A repeated id adds nothing.
        What has a `ttl` (seconds, or "30d") is erased so long after its time, or at `expires_at` where that
        is given; items may say so themselves. It is not shown from then on.
        `wait=False` leaves titles and summaries to the background, and a memory opened with
        `jobs="workers"` leaves them to worker processes; the observations are durable and searchable
        either way. Raises InvalidInput for an item that cannot be accepted: nothing of this call is stored
        then.
        """
        scope, role = self._scope(user_id), worded("role", role)
        thread, channel, source = tidy(thread), tidy(channel), tidy(source)
        about = {"timestamp": timestamp, "id": id, "ttl": ttl, "expires_at": expires_at}
        read = [given_item(n, r, role, channel, about) for n, r in enumerate(listed(items))]
        if not (progress is None or callable(progress)):
            raise InvalidInput("`progress` is told how many are kept: give what can be called with a number")
        if id is not None and len(read) != 1:
            raise InvalidInput("`id` names one item; give ids inside the messages of a list")
        named = self._named(scope, read, thread, source)
        encode = (lambda: self._runner.try_due(scope)) if wait and self._here else None
        counts = self._ingest.run(scope, named, progress=progress, after_group=encode)
        self._later(scope, wait=wait)
        return counts.receipts

    def _named(
        self, scope: Scope, items: Sequence[Item], thread: str | None, source: str | None
    ) -> Iterator[Incoming]:
        ids = assign_ids(items, scope, source, self._fresh, thread=thread, seen=Counter())
        for item, identity in zip(items, ids, strict=True):
            yield Incoming(origin_of(item, thread), identity, item)

    def import_file(
        self,
        path: "str | Path",
        *,
        user_id: str | None = None,
        source: str | None = None,
        encoding: str | None = None,
        progress: Progress | None = None,
    ) -> ImportReport:
        """Import a chat file or an export of this project; importing it again adds nothing.

        Unreadable records are reported with their line and do not stop the rest. Raises InvalidInput
        when the file is missing or of no known format.
        """
        importer = Importer(self._parts, self._ingest, self._run_here)
        return importer.run(_path(path), self._scope(user_id), tidy(source), encoding, progress)

    # --- segment -----------------------------------------------------------------------------------------

    def flush(self, *, user_id: str | None = None, thread: str | None = None) -> int:
        """Close the open frames (of one thread, or all of the user's) and wait for their words.

        With `jobs="workers"` it waits for nobody: the words come when a worker made them.
        """
        scope = self._known(user_id)
        closed = self._closer.flush(scope, self._thread_id(scope, thread) if thread else None)
        self._run_here(scope)
        self._finish_here([scope])
        return closed

    def upkeep(self, *, user_id: str | None = None, now: datetime | None = None) -> int:
        """Close frames that have been silent past the gap at which their policy cuts for certain."""
        scopes = self._scopes() if user_id is None else [self._known(user_id)]
        closed = self._sweep(scopes, aware(now))
        self._run_here()
        self._finish_here(scopes)
        self._eraser.settle(self._space)
        return closed

    def _sweep(self, scopes: Sequence[Scope], now: datetime | None = None) -> int:
        return sum(self._keep_up(scope, now) for scope in scopes)

    def _keep_up(self, scope: Scope, now: datetime | None = None) -> int:
        """Close what is silent, and have what is new looked through for skills where it is worth it."""
        closed = self._closer.upkeep(scope, now)
        kept = self._keeper.keep_up(scope, now)
        if (kept.erased or kept.expired) and not kept.left:  # sweeping the file once for all of it
            self._eraser.settle(scope.space)
        ask_where_awaited(self._parts.store, scope, self._parts.clock(), least=SOME)
        return closed

    # --- later work --------------------------------------------------------------------------------------

    def resume(self) -> None:
        """Let the background take up what an earlier process left waiting, if anything."""
        if self._here and self._parts.store.waiting(space=self._space):
            self._background.wake()

    def warm(self) -> None:
        """Begin to load a local embedding model, so that the first answer need not wait for all of it."""
        preload = getattr(self._parts.embedder, "preload", None)
        if preload is not None:
            # no daemon: a process must not end inside the library that loads it
            threading.Thread(target=_try, args=(preload,), name="episodic-warm").start()

    def work(self) -> int:
        """Run the later work that waits (encodings, questions), and return how many jobs ran.

        What is new is then looked through for skills, and what is due for facts, which is not counted. None
        with `jobs="workers"`: this process then never claims any.
        """
        ran = self._run_here()
        self._finish_here(self._scopes())
        return ran

    def _finish_here(self, scopes: Sequence[Scope]) -> None:
        for scope in scopes if self._here else ():
            if ask_where_awaited(self._parts.store, scope, self._parts.clock()):
                self._run_here(scope)
            self._consolidate_here(scope)

    def worker(
        self,
        *,
        user_id: str | None = None,
        all_spaces: bool = False,
        kinds: Sequence[str] | None = None,
        poll: float = POLL,
        say: Say | None = None,
    ) -> Worker:
        """Return a worker for this space's later work, or one user's, or that of every space.

        `kinds` narrows it to kinds of jobs; `poll` is how many seconds it waits when nothing is due; `say`
        receives a line for each batch. Its `run` works until its `stop`. Raises InvalidInput for an unknown
        kind, NotFound for an unknown user.
        """
        unknown = [kind for kind in kinds or () if kind not in self._handlers]
        if unknown or (kinds is not None and not kinds):
            named = repr(unknown[0]) if unknown else "none"
            raise InvalidInput(f"no such kind of jobs: {named}; there are {', '.join(self._handlers)}")
        scope = None if user_id is None else self._known(user_id)
        space = None if all_spaces else self._space
        handlers = {k: h for k, h in self._handlers.items() if kinds is None or k in kinds}
        store = self._parts.store
        return Worker(
            self._runner_of(handlers, space=space, scope=scope),
            lambda: store.scopes(space) if scope is None else [scope],
            self._keep_up,
            clock=self._parts.clock,
            entropy=self._parts.entropy,
            poll=poll,
            say=say,
        )

    def jobs(self, *, user_id: str | None = None, state: str | None = None) -> list[JobEntry]:
        """Return the later work of a user, or of the whole space; `state` is waiting, leased or dead."""
        return self._backlog(user_id).entries(state)

    def retry_job(self, job_id: "UUID | str", *, user_id: str | None = None) -> JobEntry:
        """Make a waiting or dead job due now with all its attempts back, and return what it was.

        Takes an id, or its unambiguous beginning or end. Raises NotFound, and Conflict while it is done.
        """
        return self._backlog(user_id).retry(job_id)

    def retry_dead_jobs(self, *, user_id: str | None = None) -> int:
        """Try again every job that was given up, of a user or of the space; return how many."""
        return self._backlog(user_id).retry_dead()

    def cancel_job(self, job_id: "UUID | str", *, user_id: str | None = None) -> JobEntry:
        """Delete a waiting or dead job, named as for `retry_job`, and return what it was."""
        return self._backlog(user_id).cancel(job_id)

    def _backlog(self, user_id: str | None) -> Backlog:
        return Backlog(self._parts, self._scopes() if user_id is None else [self._known(user_id)])

    def _runner_of(
        self, handlers: Mapping[str, Handler], *, space: str | None, scope: Scope | None = None
    ) -> Runner:
        return Runner(
            self._parts.store,
            {kind: self._parts.tracer.handled(handler) for kind, handler in handlers.items()},
            clock=self._parts.clock,
            entropy=self._parts.entropy,
            owner=self._parts.owner,
            space=space,
            scope=scope,
            awaited=(ENCODE, FACTS, MINE),  # what callers are promised; questions to models may take long
            singly=(
                ASK,
                EMBED,
                FACTS,
                LINK,
                MINE,
                REVIEW,
                *self._told_singly,
            ),  # may wait long for others
        )

    def _run_here(self, scope: Scope | None = None) -> int:
        return self._runner.run_due(scope) if self._here else 0

    # --- run ---------------------------------------------------------------------------------------------

    def run(
        self,
        sensor: Sensor,
        *,
        user_id: str | None = None,
        thread: str | None = None,
        steps: int | None = None,
        fps: float = 10.0,
        policy: "str | Policy[Any] | None" = None,
        watch: Callable[[Seen], object] | None = None,
    ) -> RunReport:
        """Let an agent's sensor fill a thread step by step until it ends; return how that went.

        Ends after `steps`, at the stream's end, when the sensor fails or on KeyboardInterrupt; the report
        says which, and what was read is kept and its last episode closed. `policy` is this memory's unless
        given; `fps` (steps a second) places readings that bring no time; `watch` is told of every step.
        Without `thread` the run gets one of its own. Errors of the store are raised.
        """
        interval = interval_of(fps)
        if steps is not None and steps < 1:
            raise InvalidInput("`steps` must be 1 or more")
        scope, started = self._scope(user_id), self._parts.clock()
        origin = tidy(thread) or f"run:{started:%Y-%m-%dT%H:%M:%S.%f}"
        agent = AgentRun(
            sensor,
            self._verbs(scope, origin, policy),
            RunReport(origin, started),
            name=f"{self._parts.entropy(64):x}",
            watch=watch,
        )
        report = agent.go(steps=steps, interval=interval)
        self._run_here(scope)
        return report

    def _verbs(self, scope: Scope, origin: str, policy: "str | Policy[Any] | None") -> Verbs:
        segmenter = self._segmenter
        if policy is not None:
            if isinstance(policy, str):
                policy = self._parts.resolve_policy(for_modality(policy, STEP))
            segmenter = replace(segmenter, wanted=policy, steps=None, eager=True)
        # an agent says the same again and again: "In the hall: go forward" is embedded once
        repeating = replace(self._parts, embedder=remembering(self._parts.embedder))
        ingest, closer = Ingest(repeating, segmenter), Closer(self._parts, segmenter)

        def found(tx: Transaction) -> UUID | None:
            thread = tx.threads.by_origin(origin)
            return None if thread is None else thread.id

        def read(step: Step) -> Item:
            return read_item(step, default_actor="agent")

        def keep(items: Sequence[Item]) -> Sequence[Receipt]:
            return ingest.run(scope, self._named(scope, items, origin, None)).receipts

        def flush(at_end: bool) -> int:
            with self._parts.store.begin(scope, write=False) as tx:
                thread = found(tx)
            reason = Reason.END_OF_STREAM if at_end else Reason.MANUAL
            return 0 if thread is None else closer.flush(scope, thread, reason=reason)

        def judged(first: int, last: int) -> Mapping[int, Record]:
            with self._parts.store.begin(scope, write=False) as tx:
                thread = found(tx)
                return {} if thread is None else read_records(tx, thread, first, last)

        def episodes() -> int:
            with self._parts.store.begin(scope, write=False) as tx:
                thread = found(tx)
                return 0 if thread is None else len(tx.episodes.of_thread(thread))

        return Verbs(read, keep, judged, episodes, flush, lambda: self._later(scope, wait=True))

    def _later(self, scope: Scope, *, wait: bool) -> None:
        if not self._here:
            return
        if wait:
            self._runner.try_due(scope)
        else:
            self._background.wake()

    # --- read -------------------------------------------------------------------------------------------

    def threads(self, *, user_id: str | None = None) -> list[Thread]:
        """Return the user's threads by last activity, newest first."""
        with self._read(user_id) as tx:
            return list(tx.threads.list())

    def close_thread(self, name: str, *, user_id: str | None = None) -> Thread:
        """Close a thread and its open frame; the next message without a thread begins another."""
        scope = self._known(user_id)
        self._closer.end(scope, self._thread_id(scope, name), MANUAL)
        self._run_here(scope)
        return self.thread(name, user_id=user_id).thread

    def get(self, episode_id: "UUID | str", *, user_id: str | None = None) -> Episode:
        """Return one closed episode (in place of a replaced one its `successor`); NotFound otherwise."""
        with self._read(user_id) as tx:
            return listing.episode(tx, episode_identity(episode_id))

    def card(self, episode_id: "UUID | str", *, user_id: str | None = None) -> EpisodeCard:
        """Return what listings show of an episode, of a part of a thread too; NotFound otherwise."""
        with self._read(user_id) as tx:
            return listing.card(tx, episode_identity(episode_id), self._parts.clock())

    def messages(self, episode_id: "UUID | str", *, user_id: str | None = None) -> list[Observation]:
        """Return the observations of an episode or open frame, in order."""
        with self._read(user_id) as tx:
            return listing.messages(tx, episode_identity(episode_id))

    def history(self, episode_id: "UUID | str", *, user_id: str | None = None) -> list[Encoding]:
        """Return every version of an episode's words, oldest first."""
        with self._read(user_id) as tx:
            return list(tx.episodes.encodings(listing.episode(tx, episode_identity(episode_id)).id))

    # --- explain -----------------------------------------------------------------------------------------

    def explain(self, episode_id: "UUID | str", *, user_id: str | None = None) -> Explanation:
        """Say why an episode begins and ends where it does, and what would have changed it."""
        with self._read(user_id) as tx:
            return explain(tx, episode_identity(episode_id))

    def whatif(self, thread: str, policy: "str | Policy[Any]", *, user_id: str | None = None) -> WhatIf:
        """Compare a thread's episodes with those another policy would make; writes nothing."""
        self._check_policy(policy)
        scope = self._known(user_id)
        identity = self._thread_id(scope, thread)
        with self._parts.store.begin(scope, write=False) as tx:
            if policy is None or isinstance(policy, str):
                policy = self._policy_of(tx, identity, policy)
            return whatif(tx, identity, policy, self._parts.embedder_name)

    def _check_policy(self, policy: "str | Policy[Any] | None") -> None:
        """Refuse an unknown policy before anything is read; what `default` takes depends on the thread."""
        if not (policy is None or isinstance(policy, str) or callable(getattr(policy, "begin", None))):
            raise InvalidInput(f"no policy {policy!r}; name one, as in seed-001")
        if isinstance(policy, str) and policy.strip().partition("?")[0] != DEFAULT:
            self._parts.resolve_policy(policy)

    def _policy_of(self, tx: Transaction, thread_id: UUID, policy: str | None) -> Policy[Any]:
        """Return a policy by name as a thread's modality reads it; this memory's own unless named."""
        thread = tx.threads.get(thread_id)
        if policy is None:
            return self._segmenter.of(thread).wanted
        return self._parts.resolve_policy(for_modality(policy, thread.modality if thread else ""))

    def resegment(
        self,
        thread: str,
        policy: str | None = None,
        *,
        whole: bool = True,
        dry_run: bool = False,
        user_id: str | None = None,
    ) -> Resegmented:
        """Segment a thread again, by a policy (this memory's unless given), as a new generation.

        `whole` judges every gap with the whole thread known, otherwise as if the messages came again one by
        one. Flushes and the clock's cuts stay. An episode whose span is the same keeps its row, id, strength
        and words; a new one inherits the strength of those its messages were in. What the last cut leaves is
        the open frame again. `dry_run` writes nothing. The whole change is one transaction; Conflict where
        the thread went on all the time meanwhile. `undo_resegment` takes it back.
        """
        if policy is not None:
            self._check_policy(worded("policy", policy))
        scope = self._known(user_id)
        identity = self._thread_id(scope, thread)
        with self._parts.store.begin(scope, write=False) as tx:
            chosen = self._policy_of(tx, identity, policy)
        done = self._resegmenter.run(scope, identity, chosen, whole=whole, dry_run=dry_run)
        self._run_here(scope)
        return done

    def undo_resegment(self, thread: str, *, user_id: str | None = None) -> Undone:
        """Go back to the generation before the last `resegment`; each call goes back one more.

        Its episodes return as they were, ids, strengths, words and decisions; the episodes made since are
        deleted. What came since is segmented as if the thread had never been segmented again. Raises NotFound
        when there is nothing to undo.
        """
        scope = self._known(user_id)
        done = self._resegmenter.undo(scope, self._thread_id(scope, thread))
        self._run_here(scope)
        return done

    def successor(self, episode_id: "UUID | str", *, user_id: str | None = None) -> UUID:
        """Return the id under which an episode's messages are found today: another one once it was replaced.

        That of the current episode or open frame that shares most messages with it.
        """
        with self._read(user_id) as tx:
            return listing.successor(tx, episode_identity(episode_id))

    def replaced(self, *, user_id: str | None = None) -> list[UUID]:
        """Return the ids of episodes that a `resegment` replaced, for which `successor` knows another."""
        with self._read(user_id) as tx:
            return listing.replaced_ids(tx)

    def trace(self, thread: str, *, user_id: str | None = None) -> BoundaryTrace:
        """Return a thread's cues, probabilities, thresholds and cuts over time, to be plotted."""
        scope = self._known(user_id)
        with self._parts.store.begin(scope, write=False) as tx:
            return trace(tx, self._thread_id(scope, thread), self._parts.resolve_policy)

    # --- care --------------------------------------------------------------------------------------------

    def stats(self, *, user_id: str | None = None) -> Stats:
        """Count what the memory holds of a user."""
        with self._read(user_id) as tx:
            return listing.stats(tx, self._parts, self._policy.name)

    def usage(
        self,
        since: date = ANY_DAY[0],
        until: date = ANY_DAY[1],
        *,
        user_id: str | None = None,
    ) -> list[ModelUse]:
        """Return what language models cost the space, or one user, by day (UTC), stage and model."""
        scope = None if user_id is None else self._known(user_id)
        return usage(self._parts.store, self._space, scope, day(since), day(until))

    def doctor(self, *, repair: bool = False) -> list[Finding]:
        """Check the file and every invariant; `repair` first rebuilds what can be derived again."""
        doctor = Doctor(self._parts, self._space)
        if repair:
            doctor.repair()
            self._run_here()
            self._eraser.settle(self._space)
        return doctor.examine()

    def export(self, *, user_id: str | None = None, where: Where = None) -> Iterator[str]:
        """Yield the user's memory as JSON lines that `import_file` takes back without loss.

        With `where` (docs/chains.md), the threads of which an episode is about that, whole: no part of a
        thread could be taken back alone. Skills, which rest on all threads, are then learned anew.
        """
        # what is wrong is refused here, not at the first line
        return self._exported(self._known(user_id), filter_of(where))

    def _exported(self, scope: Scope, wanted: MetadataFilter) -> Iterator[str]:
        with self._parts.store.begin(scope, write=False) as tx:
            now = self._parts.clock()
            yield from export(tx, now, None if wanted.empty else threads_about(tx, now, wanted))

    # --- life --------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Stop the background work (what is left waits for the next opening) and close the store."""
        self._background.close()
        self._runner.close()
        self._parts.meter.write()
        self._parts.tracer.close()
        self._parts.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _path(given: "str | PathLike[str]") -> Path:
    if not isinstance(given, str | PathLike):
        raise InvalidInput(f"name the file as a path, not {type(given).__name__}")
    return Path(given)


def _for_steps(policy: str) -> str:
    """Return the policy that steps follow where a memory's is this one.

    >>> _for_steps("default?threshold=0.4"), _for_steps("stub?freeze_interval=9")
    ('steps-2027-01', 'stub?freeze_interval=9')
    """
    base = policy.strip().partition("?")[0]
    # its parameters are those of conversations: an agent's run names its own
    return for_modality(base, STEP) if base == DEFAULT else policy


def check_jobs(jobs: str) -> str:
    """Return who does later work, `here` or `workers`; InvalidInput for anything else.

    >>> check_jobs("workers")
    'workers'
    """
    if jobs not in (HERE, WORKERS):
        raise InvalidInput(f"no way to do later work is called {jobs!r}; there are {HERE} and {WORKERS}")
    return jobs


def _try(load: Callable[[], object]) -> None:
    """Load a model; what is wrong with it is told to whoever uses it."""
    with suppress(ProviderError):
        load()
