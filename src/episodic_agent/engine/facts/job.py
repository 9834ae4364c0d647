"""The `facts` job: what is said that lasts becomes facts (seed 003, semantic consolidation).

Each message is read as it comes, by a `quote` job of its own, and quoted (`quoting`). Episodes are
consolidated besides: their facts are told which episode they are from, and where a language model reads them
its reading takes the place of what was quoted of them.

A scope is due when three of its episodes are not consolidated, or one that was very surprising. A run takes a
few of them, oldest first; a language model is asked what they tell, else what was said is quoted. A
model that fails leaves the episodes as they are, to be tried again for hours; then they are quoted (I8).
Facts, what became of old ones, a decision for each episode and the mark that it is consolidated are one
transaction; calls are made outside.
"""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Final
from uuid import UUID

from episodic_agent.core.facts import VERSION, Changes, mark_of, marks
from episodic_agent.core.facts.consolidating import PENDING, is_due
from episodic_agent.core.facts.quoting import Quotation, is_quotation
from episodic_agent.core.facts.rereading import taken_up
from episodic_agent.core.identity import decision_id
from episodic_agent.core.prompts import TOPIC_SHIFT
from episodic_agent.core.prompts import facts as asking
from episodic_agent.engine.deps import Deps
from episodic_agent.engine.facts.asking import FactReply, ask_for_facts
from episodic_agent.engine.facts.coming import WRITES, Quoter
from episodic_agent.engine.facts.listening import with_listeners
from episodic_agent.engine.facts.parts import (
    EpisodeAnswer,
    ReadPart,
    answers_for,
    current_of,
    spans_of_parts,
)
from episodic_agent.engine.facts.quoting import (
    Weighed,
    knows_meaning,
    quoted,
    stored_vectors,
    weighed,
    with_episodes,
)
from episodic_agent.engine.facts.transcripts import (
    SITTING,
    Transcript,
    over,
    read_page,
    statements_of,
    with_shares,
)
from episodic_agent.engine.facts.writing import Vectors, embedded, reworded, slots_of, write_facts
from episodic_agent.engine.jobs.asking import ROUNDS, may_pass, say_failed
from episodic_agent.engine.jobs.kinds import FACTS
from episodic_agent.engine.jobs.retrying import until_unopposed
from episodic_agent.engine.trace.usage import model_of
from episodic_agent.errors import BadReply, ProviderError
from episodic_agent.protocols import LanguageModel, Transaction
from episodic_agent.schemas import Decision, Episode, Job, Json, Observation, Scope, Vector
from episodic_agent.schemas.facts import Fact, FactCandidate, StoredFact

PAGE: Final = 32  # episodes one run reads by rules
TOGETHER: Final = 8  # episodes one question to a model is about
AT_ONCE: Final = 16  # and one about their titles as well
PAUSE: Final = timedelta(minutes=1)  # between runs over what was there long before
LONG_BEFORE: Final = timedelta(hours=1)
A_DAY: Final = timedelta(hours=20)  # until what is too little for a question of its own is asked about
ENOUGH: Final = 24  # messages that are worth one question for titles and facts together
LONGEST_TOLD: Final = 500  # characters a decision keeps of what a model expected
LAST_TRY: Final = 16  # attempts at a model that is away: some four hours
LAST_UNREAD: Final = 2  # at one that talks nonsense: of all together, then of each alone
LAST_REFUSED: Final = 4  # at one that refuses the request for good

Retell = Callable[[Scope, Mapping[UUID, EpisodeAnswer]], None]
Divide = Callable[[Scope, UUID, Sequence[tuple[int, int]]], bool]

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _FactsRead:
    """What was read in some episodes, by what, what of it was refused; why by no model where there is one.

    `vectors` are those known of the statements that were quoted, by text.
    """

    candidates: Sequence[FactCandidate] = ()
    quotations: Sequence[Quotation] = ()
    vectors: Mapping[str, Vector] = field(default_factory=dict)
    by: str = VERSION
    reply: FactReply = field(default_factory=FactReply)
    without_model: str = ""


# --- when ------------------------------------------------------------------------------------------------


def due(tx: Transaction, deps: Deps, ended_before: datetime | None = None) -> bool:
    """Say whether what waits in a scope is to be consolidated now: any that ended so long ago is.

    One question about titles and facts costs as much of few episodes as of many: it waits for more, and for
    the end of their sitting.
    """
    if deps.reads_once:
        sat = over(tx, deps.clock() - SITTING)
        if ended_before is not None and any(episode.end_at <= ended_before for episode in sat):
            return True
        return len(sat) >= AT_ONCE or sum(episode.size for episode in sat) >= ENOUGH
    waiting = tx.episodes.list(unconsolidated=True, limit=PENDING)
    if ended_before is not None and any(episode.end_at <= ended_before for episode in waiting):
        return True
    return is_due(len(waiting), max((episode.surprise for episode in waiting), default=0.0))


def request_facts(tx: Transaction, now: datetime, *, run_after: datetime | None = None) -> None:
    """Ask for a run; asking twice asks once."""
    tx.upkeep.ask(FACTS, FACTS, FACTS, now=now, run_after=run_after)


def note_encoded(
    tx: Transaction, deps: Deps, spoken: Sequence[Episode], silent: Sequence[Episode], now: datetime
) -> None:
    """Ask for a run where newly encoded episodes make one due; those in which nobody speaks need none."""
    quiet = [episode.id for episode in silent if episode.consolidated_at is None]
    if quiet:
        tx.episodes.consolidate(quiet, now)
    if spoken and due(tx, deps):
        request_facts(tx, now)


def request_where_due(
    deps: Deps,
    scope: Scope,
    now: datetime,
    *,
    any_waiting: bool = False,
    ended_before: datetime | None = None,
) -> int:
    """Ask for a run where one is due (or anything waits, or waits that ended before a moment).

    Return how many episodes wait then, 0 otherwise.

    Where a run is among the dead letters it is not asked for by the way: it would fail again at every turn.
    Episodes encoded since, a hand, and `jobs retry` ask all the same.
    """
    with deps.store.begin(scope, write=False) as tx:
        waiting = tx.count("unconsolidated")
        if not waiting or not (any_waiting or due(tx, deps, ended_before)):
            return 0
        if not any_waiting and tx.upkeep.jobs(state="dead", kinds=[FACTS], limit=1):
            return 0
    with deps.store.begin(scope) as tx:
        request_facts(tx, now)
    return waiting


def request_of_old(deps: Deps, scope: Scope, now: datetime) -> int:
    """Ask for a run where something ended long ago, though too few wait: no other may ever follow."""
    before = now - (A_DAY if deps.reads_once else LONG_BEFORE)
    return request_where_due(deps, scope, now, ended_before=before)


# --- the job ---------------------------------------------------------------------------------------------


class Consolidator:
    """The handler of `facts` jobs."""

    def __init__(self, deps: Deps, retell: Retell, divide: Divide) -> None:
        """Take what gives episodes the words a model found, and what weighs where it divides them."""
        self._deps = deps
        self._retell = retell
        self._divide = divide
        self._quoter = Quoter(deps)

    def handle(self, scope: Scope, jobs: Sequence[Job]) -> None:
        """Do each job, one at a time of a scope: consolidate some of what waits."""
        for job in jobs:
            if job.key == FACTS:
                self._consolidate(scope, job)
            else:  # of a version that had one kind for both
                self._quoter.quote(scope, job)

    def _consolidate(self, scope: Scope, job: Job) -> None:
        model = self._deps.model_for(scope, asking.STAGE)
        with self._deps.store.begin(scope, write=False) as tx:
            if model is not None and self._deps.reads_once:
                page, more = read_page(tx, AT_ONCE, self._deps.clock() - SITTING)
            else:
                page, more = read_page(tx, PAGE if model is None else TOGETHER)
        # what failed together is tried one by one: a single bad one must not hold back the others
        alone = model is not None and job.attempts > 1
        groups = [[one] for one in page] if alone else [page] if page else []
        refused: BadReply | None = None
        for group in groups:
            try:
                read = self._read_facts(scope, group, model, job.attempts)
            except BadReply as error:
                say_failed(log, "%d episodes are not consolidated yet: %s", len(group), error=error)
                refused = error
            else:
                self._tell(scope, group, read.reply.parts)
                until_unopposed(partial(self._keep, scope, group, read, []), tries=WRITES)
                if self._divided(scope, read.reply.parts):
                    self._tell(scope, group, read.reply.parts)
        if refused is not None:
            raise refused
        with self._deps.store.begin(scope) as tx:
            tx.upkeep.drop(job)
            self._go_on(tx, more=more)

    def _tell(self, scope: Scope, group: Sequence[Transcript], parts: Sequence[ReadPart]) -> None:
        """Give the episodes that stand where some were read the words that a model found for them."""
        if parts:
            with self._deps.store.begin(scope, write=False) as tx:
                answers = answers_for(current_of(tx, [one.episode.id for one in group]), parts)
            self._retell(scope, answers)

    def _divided(self, scope: Scope, parts: Sequence[ReadPart]) -> bool:
        """Have it weighed where a model says that another subject begins; return whether anything was cut so.

        A stage of its own says whether a model is heard about boundaries.
        """
        if model_of(self._deps.language_model, TOPIC_SHIFT) is None:
            return False
        changed = {
            thread: self._divide(scope, thread, spans) for thread, spans in spans_of_parts(parts).items()
        }
        return any(changed.values())

    def _go_on(self, tx: Transaction, *, more: bool) -> None:
        """Ask for the next run where more waits than one reads: what is new at once, a backlog by and by."""
        now = self._deps.clock()
        left = tx.episodes.list(unconsolidated=True, limit=1)
        if left and (due(tx, self._deps) or (more and not self._deps.reads_once)):
            old = now - left[0].created_at > LONG_BEFORE
            request_facts(tx, now, run_after=now + PAUSE if old else None)

    def _read_facts(
        self, scope: Scope, group: Sequence[Transcript], model: LanguageModel | None, attempts: int
    ) -> _FactsRead:
        """Read episodes, by a model where one is there and people speak, ProviderError while that may do."""
        why = ""
        if model is not None and any(one.people for one in group):
            try:
                rounds = ROUNDS if attempts == 1 else 1
                asked = ask_for_facts(self._deps, scope, model, group, rounds=rounds)
                return _FactsRead(asked.candidates, by=asked.version, reply=asked)
            except ProviderError as error:
                if attempts < _last_try(error):
                    raise
                why = str(error)
                say_failed(log, "facts are quoted without a model: %s", error=error)
        with self._deps.store.begin(scope, write=False) as tx:
            there = stored_vectors(tx, self._deps, [o for one in group for o in one.people])
            known = there if knows_meaning(self._deps) else None
            language = self._deps.language
            talk: dict[int, Observation] = {}
            statements = [
                statement
                for one in group
                for statement in with_shares(
                    tx,
                    statements_of(
                        one.observations,
                        one.before,
                        one.earlier,
                        episode_id=one.episode.id,
                        language=language,
                    ),
                    known,
                    talk,
                )
            ]
            statements = with_listeners(tx, statements)
        spoken = quoted(self._deps, statements, there)
        return _FactsRead(quotations=spoken, vectors=there, without_model=why)

    def _keep(
        self, scope: Scope, group: Sequence[Transcript], read: _FactsRead, unembedded: list[Fact]
    ) -> None:
        """Write what came of episodes, in one transaction; Conflict where somebody was faster.

        `unembedded` gets the facts whose words are new: one that is told apart again is embedded by the next
        try.
        """
        deps = self._deps
        vectors = embedded(deps, [*(one.candidate for one in read.quotations), *unembedded], read.vectors)
        if read.reply.model:
            with deps.store.begin(scope, write=False) as tx:
                expected = _weighed(tx, deps, read, vectors, group)
            vectors = embedded(deps, reworded(expected.known, expected.changes))
        now = deps.clock()
        with deps.store.begin(scope) as tx:
            tx.hold("facts")  # erasing holds them too: what is still there now is not erased meanwhile
            if not _is_there(tx, group, read):
                return  # what was read may tell of it; erasing had the run asked for again
            tx.episodes.consolidate([one.episode.id for one in group], now)
            # what a thread was cut into anew may be undone: the first cut is what a fact is from
            first = [one for one in group if not one.episode.generation_from]
            owners = {o.id: one.episode.id for one in first for o in one.people}
            new = _weighed(tx, deps, read, vectors, group)
            resting = {kept.id: kept for kept in (*tx.knowledge.facts(resting_on=list(owners)), *new.known)}
            known = list(resting.values())
            changes = with_episodes(known, owners, new.changes)
            unembedded.extend(reworded(known, changes))
            write_facts(tx, deps, known, changes, vectors, now=now)
            for transcript in group:
                if transcript.people:
                    read_here = replace(read, candidates=new.candidates)
                    tx.knowledge.decide(_decision(transcript, group, read_here, known, changes, now=now))


def _is_there(tx: Transaction, group: Sequence[Transcript], read: _FactsRead) -> bool:
    """Tell whether nothing of what was read, or shown to a model, was erased since."""
    identifiers = {o.id for one in group for o in one.observations} | set(read.reply.known.values())
    identifiers |= {identity for one in read.quotations for identity in one.rests_on}
    return len(tx.observations.get(sorted(identifiers))) == len(identifiers)


def _weighed(
    tx: Transaction, deps: Deps, read: _FactsRead, vectors: Vectors, group: Sequence[Transcript]
) -> Weighed:
    """Return what was read as candidates, the facts that these bear on, and what they change of them.

    Where a model read, what was quoted of the same messages as they came gives way to its reading.
    """
    if read.quotations:
        return weighed(tx, deps, read.quotations, vectors)
    if not read.reply.model:
        return Weighed()
    spoken = sorted({o.id for one in group for o in one.people})
    there = [kept.fact for kept in tx.knowledge.facts(resting_on=spoken) if is_quotation(kept.fact)]
    bearing = tx.knowledge.facts(candidates=read.candidates) if read.candidates else ()
    slots = tx.knowledge.facts(slots=slots_of(there)) if there else ()
    known = list({kept.id: kept for kept in (*bearing, *slots)}.values())
    stones = tx.knowledge.tombstones(spoken)
    changes = taken_up([kept.fact for kept in known], read.candidates, set(spoken), stones)
    return Weighed(read.candidates, known, changes)


# --- what is told of it ------------------------------------------------------------------------------------


def _decision(
    transcript: Transcript,
    group: Sequence[Transcript],
    read: _FactsRead,
    known: Iterable[StoredFact],
    changes: Changes,
    *,
    now: datetime,
) -> Decision:
    """Return the record of what an episode told: each statement, and the fact it became (if it did)."""
    after = changes.applied([kept.fact for kept in known])
    where = {mark: fact.id for fact in after for mark in marks(fact)}
    own = {o.id for o in transcript.observations}
    mine = [c for c in read.candidates if c.evidence.observation_id in own]
    rows = [_row(c, where) for c in mine]
    became = list(dict.fromkeys(row["became"] for row in rows if row["became"]))
    against = [c.fact for c in changes.conflicts if c.evidence.observation_id in own]
    detail: dict[str, Json] = {"told": rows, "facts": became, "pinned_against": against}
    if read.without_model:
        detail["without_model"] = read.without_model
    if read.reply.model:
        together = [str(other.episode.id) for other in group]
        refused = list(read.reply.refused)
        expected = read.reply.expected[:LONGEST_TOLD]
        shown: dict[str, Json] = {str(fact): str(said) for fact, said in read.reply.known.items()}
        detail |= {"model": read.reply.model, "expected": expected, "refused": refused, "together": together}
        detail["known"] = shown
    return Decision(
        id=decision_id(transcript.episode.id, FACTS),
        type=FACTS,
        at=now,
        subject=transcript.episode.id,
        features={
            "told": float(len(rows)),
            "facts": float(len(became)),
            "refused": float(len(read.reply.refused)),
        },
        score=float(len(rows)),
        threshold=1.0,
        verdict="told" if rows else "nothing",
        policy_version=read.by,
        detail=detail,
    )


def _row(candidate: FactCandidate, where: Mapping[tuple[UUID, str], UUID]) -> dict[str, Json]:
    evidence = candidate.evidence
    became = where.get(mark_of(candidate))
    return {
        "fact": evidence.fact,
        "observation": str(evidence.observation_id),
        "start": evidence.start,
        "end": evidence.end,
        "became": None if became is None else str(became),
    }


def _last_try(error: ProviderError) -> int:
    """Return at which attempt what a model did not read is quoted: at once where waiting is of no use."""
    if isinstance(error, BadReply):
        return LAST_UNREAD
    if not may_pass(error):
        return 1
    return LAST_TRY if error.retryable else LAST_REFUSED
