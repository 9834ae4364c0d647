"""Let go what has had its time: what expires is erased, and what a retention policy names is put away first.

Both go on in upkeep and on workers' sweeps, a bounded piece at a time. Each piece is one transaction that
holds the scope, so that of several workers one does it.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Protocol
from uuid import UUID

from episodic_agent.core.strength import Chosen, Retention, let_go, read_retention
from episodic_agent.engine.deps import Deps
from episodic_agent.engine.jobs.retrying import until_unopposed
from episodic_agent.protocols import Mark, MarkKind, OwnRetention, Transaction, ref_of, split_ref
from episodic_agent.schemas import Scope
from episodic_agent.schemas.erasures import Erasure, What
from episodic_agent.schemas.strength import Standing

EVERY: Final = timedelta(hours=1)  # how often a policy is looked at
EXPIRED_AT_ONCE: Final = 500  # observations
ARCHIVED_AT_ONCE: Final = 1000  # episodes
ERASED_AT_ONCE: Final = 50
TTL: Final = "ttl"
RETENTION: Final = "retention"
_PINNED: Final = (MarkKind.PINNED,)


class Erases(Protocol):
    """What takes observations away for good."""

    def erase(
        self, tx: Transaction, refs: Sequence[int], *, reason: str, now: datetime, what: What
    ) -> Erasure | None:
        """Erase observations by reference; None where none was left."""
        ...


@dataclass(frozen=True, slots=True)
class Plan:
    """What a policy says today: what is put away, what is erased now, what comes back.

    `waiting` is put away already and will be erased at the time given with it.
    """

    archive: Sequence[Chosen] = ()
    erase: Sequence[Chosen] = ()
    waiting: Sequence[tuple[Chosen, datetime]] = ()
    back: Sequence[Standing] = ()

    @property
    def count(self) -> int:
        """Return how many episodes a pass would change."""
        return len(self.archive) + len(self.erase) + len(self.back)


@dataclass(frozen=True, slots=True)
class RetentionPass:
    """What a pass did: episodes put away, brought back and erased, observations erased, and what is left."""

    archived: int = 0
    returned: int = 0
    erased: int = 0
    expired: int = 0
    left: int = 0

    def __add__(self, other: "RetentionPass") -> "RetentionPass":
        return RetentionPass(
            self.archived + other.archived,
            self.returned + other.returned,
            self.erased + other.erased,
            self.expired + other.expired,
            other.left,
        )


@dataclass(frozen=True, slots=True)
class Keeper:
    """Expiry and retention of one store's scopes."""

    deps: Deps
    eraser: Erases

    def keep_up(self, scope: Scope, now: datetime | None = None) -> RetentionPass:
        """Do a piece of what is due; by far the most scopes have nothing, and are only read."""
        moment = now or self.deps.clock()
        with self.deps.store.begin(scope, write=False) as tx:
            expired = bool(tx.upkeep.expired(None, moment, limit=1))
            policy = policy_of(tx, self.deps)
            retains = bool(policy) or bool(tx.upkeep.marks(MarkKind.ARCHIVED))
        self._let_audit_go(scope, policy, moment)
        done = until_unopposed(lambda: self._expire(scope, moment)) if expired else RetentionPass()
        return done + until_unopposed(lambda: self._retain(scope, moment, EVERY)) if retains else done

    def apply(self, scope: Scope, now: datetime | None = None) -> RetentionPass:
        """Do all that is due today, piece by piece, whenever the policy was looked at last."""
        moment, done = now or self.deps.clock(), RetentionPass()
        while piece := until_unopposed(lambda: self._expire(scope, moment)).expired:
            done += RetentionPass(expired=piece)
        # what is put away by this call stays at least until the next one, even without a grace period
        with self.deps.store.begin(scope, write=False) as tx:
            policy = policy_of(tx, self.deps)
            due = {chosen.standing.name for chosen in plan(tx, policy, moment).erase}
        self._let_audit_go(scope, policy, moment)
        while True:
            piece_done = until_unopposed(lambda: self._retain(scope, moment, timedelta(0), only=due))
            done += piece_done
            if not piece_done.left:
                return done

    def _let_audit_go(self, scope: Scope, policy: Retention, now: datetime) -> None:
        """Delete the entries of the audit that are older than the policy keeps them."""
        if policy.audit is None:
            return
        oldest = now - timedelta(days=policy.audit)
        with self.deps.store.begin(scope, write=False) as tx:
            due = bool(tx.audit(until=oldest, limit=1))
        if due:
            with self.deps.store.begin(scope) as tx:
                tx.drop_audit(oldest)

    def _expire(self, scope: Scope, now: datetime) -> RetentionPass:
        with self.deps.store.begin(scope) as tx:
            tx.hold("threads")
            refs = tx.upkeep.expired(None, now, limit=EXPIRED_AT_ONCE)
            if refs:
                self.eraser.erase(tx, refs, reason=TTL, now=now, what=What.OBSERVATION)
                tx.upkeep.release(refs)
        return RetentionPass(expired=len(refs))

    def _retain(
        self, scope: Scope, now: datetime, every: timedelta, *, only: "set[str] | None" = None
    ) -> RetentionPass:
        """Do one piece of what the policy says, archiving before erasing; `only` bounds what is erased."""
        with self.deps.store.begin(scope) as tx:
            tx.hold("threads")
            if every and not tx.upkeep.take_turn(now, every):
                return RetentionPass()
            matching_plan = plan(tx, policy_of(tx, self.deps), now)
            erase = [c for c in matching_plan.erase if only is None or c.standing.name in only]
            away, gone = matching_plan.archive[:ARCHIVED_AT_ONCE], erase[:ERASED_AT_ONCE]
            for standing in matching_plan.back:
                tx.upkeep.release(MarkKind.ARCHIVED, standing.first_ref, standing.last_ref)
            for chosen in away:
                first, last = chosen.standing.first_ref, chosen.standing.last_ref
                tx.upkeep.put(Mark(first, last, MarkKind.ARCHIVED, now, chosen.reason))
            self._erase(tx, gone, now)
            left = len(matching_plan.archive) - len(away) + len(erase) - len(gone)
            if left:
                tx.upkeep.put(OwnRetention(tx.upkeep.settings().retention))
        return RetentionPass(
            archived=len(away), returned=len(matching_plan.back), erased=len(gone), left=left
        )

    def _erase(self, tx: Transaction, gone: Sequence[Chosen], now: datetime) -> None:
        """Erase episodes, with a receipt for each reason."""
        by_reason: dict[str, list[int]] = defaultdict(list)
        for chosen in gone:
            by_reason[chosen.reason].extend(range(chosen.standing.first_ref, chosen.standing.last_ref + 1))
        for reason, refs in by_reason.items():
            self.eraser.erase(tx, refs, reason=f"{RETENTION}: {reason}", now=now, what=What.EPISODE)
        for chosen in gone:
            tx.upkeep.release(MarkKind.ARCHIVED, chosen.standing.first_ref, chosen.standing.last_ref)


def policy_of(tx: Transaction, deps: Deps) -> Retention:
    """Return what a scope lets go: by its own policy, else by the setting."""
    own = tx.upkeep.settings().retention
    return deps.retention if own is None else read_retention(own)


def plan(tx: Transaction, policy: Retention, now: datetime) -> Plan:
    """Return what a policy says today of a scope; nothing is written."""
    archived = tx.upkeep.marks(MarkKind.ARCHIVED)
    if not policy and not archived:
        return Plan()
    standings = tx.index.spans([])
    away = met(standings, archived)
    staying = set(met(standings, tx.upkeep.marks(*_PINNED)))
    if policy.keep_facts:
        staying.update(name for names in proofs(tx, standings, now) for name in names)
    chosen = let_go(policy, standings, now, pinned=frozenset(staying), archived=frozenset(away))
    going = {one.standing.name for one in chosen}
    grace = timedelta(days=policy.grace)
    due = {name: mark.at + grace for name, mark in away.items()}
    return Plan(
        archive=[one for one in chosen if one.standing.name not in away],
        erase=[one for one in chosen if one.standing.name in due and due[one.standing.name] <= now],
        waiting=[
            (one, due[one.standing.name])
            for one in chosen
            if one.standing.name in due and due[one.standing.name] > now
        ],
        back=[s for s in standings if s.name in away and s.name not in going],
    )


def proofs(tx: Transaction, standings: Sequence[Standing], now: datetime) -> list[set[str]]:
    """Return for each fact that nothing has ended the names of the episodes that tell it."""
    telling = [
        {one.observation_id for one in stored.fact.telling} for stored in tx.knowledge.facts(current=now)
    ]
    names: dict[UUID, str] = {}
    spans = sorted(standings, key=lambda one: one.first_ref)
    firsts = [one.first_ref for one in spans]
    for item in tx.observations.get(list(set().union(*telling))).values():
        ref = ref_of(tx.threads.number(item.thread_id), item.seq)
        place = bisect_right(firsts, ref) - 1
        if place >= 0 and ref <= spans[place].last_ref:
            names[item.id] = spans[place].name
    return [{names[identity] for identity in ids if identity in names} for ids in telling]


def met(standings: Sequence[Standing], marks: Sequence[Mark]) -> Mapping[str, Mark]:
    """Return the episodes that one of these marks meets, with the mark; both are sorted by reference.

    >>> at = datetime(2024, 3, 1)
    >>> list(met([Standing(1, 4, "a", 0, 0, 1.0, 0)], [Mark(4, 9, MarkKind.PINNED, at)]))
    ['a']
    """
    firsts = [mark.first_ref for mark in marks]
    matching_marks: dict[str, Mark] = {}
    for standing in standings:
        place = bisect_right(firsts, standing.last_ref) - 1
        if place >= 0 and marks[place].last_ref >= standing.first_ref:
            matching_marks[standing.name] = marks[place]
    return matching_marks


def drop_marks(tx: Transaction, refs: Sequence[int], now: datetime) -> None:
    """Take off marks under which nothing is left once these observations are erased."""
    going = set(refs)
    spans = [(ref, ref) for ref in refs]
    for kind in MarkKind:
        for mark in dict.fromkeys(tx.upkeep.touched([kind], spans).values()):
            number, first = split_ref(mark.first_ref)
            last = split_ref(mark.last_ref)[1]
            thread = tx.threads.by_numbers([number])[number]
            end = tx.threads.frame(thread).next_seq - 1
            if last > end:  # a whole thread stays marked for what comes
                continue
            left = tx.observations.read(thread, first, last)
            if all(mark.first_ref - first + o.seq in going for o in left):
                tx.upkeep.release(kind, mark.first_ref, mark.last_ref)
