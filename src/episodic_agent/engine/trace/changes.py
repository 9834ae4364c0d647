"""What a memory took in, concluded and let go between two moments of record time, in order.

Read from what is stored, so it tells what still stands: of what was erased only its receipt, of a thread that
was segmented again only the episodes of today. Nothing is kept for it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time
from enum import StrEnum
from typing import Final
from uuid import UUID

from episodic_agent.core.chains.deciding import CHAIN as LINKED
from episodic_agent.core.chains.deciding import EXPLICIT, HAND
from episodic_agent.core.language import plural
from episodic_agent.engine.jobs.kinds import CHAIN
from episodic_agent.protocols import Mark, MarkKind, Store, Transaction, split_ref
from episodic_agent.schemas import Decision, EpisodeKind, Link, Observation, Scope, Thread
from episodic_agent.schemas.skills import SkillState
from episodic_agent.showing import described

EVERY_LINK: Final = 1_000_000
_PAGE: Final = 32
_SHOWN: Final = 12  # changes a repr shows


class ChangeKind(StrEnum):
    """What a change is of."""

    THREAD = "thread"
    MESSAGES = "messages"
    EPISODE = "episode"
    FACT = "fact"
    FACT_ENDED = "fact ended"
    FACT_EDITED = "fact edited"
    FACT_DELETED = "fact deleted"
    LINK = "link"
    UNLINKED = "unlinked"
    CHAIN = "chain"
    UNCHAINED = "unchained"
    SKILL = "skill"
    PINNED = "pinned"
    SUPPRESSED = "suppressed"
    ARCHIVED = "archived"
    ERASED = "erased"
    MODEL = "model"


@dataclass(frozen=True, slots=True)
class MemoryChange:
    """One change: when it was written (record time), of what kind, and in words what.

    `subject` is the id of what changed, `thread` the name of the thread it concerns; None where there is
    none. `by` says who concluded it: "algorithm", a model's name, "hand", who erased, or "" where that is not
    told; `TraceRoom.audit` tells who called.
    """

    at: datetime
    kind: ChangeKind
    what: str
    subject: UUID | None = None
    thread: str | None = None
    by: str = ""

    def __repr__(self) -> str:
        return described(self, self.at, self.kind.value, self.what, self.by)


@dataclass(frozen=True, slots=True)
class MemoryChanges:
    """The changes after `since`, up to and with `until`, oldest first."""

    since: datetime
    until: datetime
    changes: Sequence[MemoryChange]

    def of(self, *kinds: "ChangeKind | str") -> Sequence[MemoryChange]:
        """Return the changes of some kinds."""
        return [one for one in self.changes if one.kind in kinds]

    def __repr__(self) -> str:
        lines = [f"{one.at:%Y-%m-%d %H:%M}  {one.kind.value}: {one.what}" for one in self.changes[:_SHOWN]]
        more = len(self.changes) - _SHOWN
        return "\n".join(
            [
                f"<MemoryChanges {self.since:%Y-%m-%d %H:%M} to {self.until:%Y-%m-%d %H:%M}: "
                f"{plural(len(self.changes), 'change')}>",
                *lines,
                *([f"… and {more} more"] if more > 0 else []),
            ]
        )


def changes_between(
    tx: Transaction, store: Store, scope: Scope, since: datetime, until: datetime
) -> MemoryChanges:
    """Read what changed; times are aware, and of record time."""
    threads = tx.threads.list()
    names = {thread.id: thread.origin for thread in threads}
    changes = [
        *_of_threads(tx, threads, since, until),
        *_of_facts(tx, since, until),
        *_of_links(tx, names, since, until),
        *_of_chains(tx, since, until),
        *_of_skills(tx, since, until),
        *_of_marks(tx, names, since, until),
        *_of_erasures(store, scope, since, until),
        *_of_models(tx, since, until),
    ]
    kinds = list(ChangeKind)
    changes.sort(key=lambda one: (one.at, kinds.index(one.kind), one.what, str(one.subject)))
    return MemoryChanges(since, until, changes)


def _of_threads(
    tx: Transaction, threads: Sequence[Thread], since: datetime, until: datetime
) -> Iterator[MemoryChange]:
    frames = tx.threads.frame([thread.id for thread in threads])
    for thread in threads:
        end = frames[thread.id].next_seq
        first, last = (first_after(tx, thread.id, moment, end) for moment in (since, until))
        taken = tx.observations.read(thread.id, max(first, last - _PAGE), last - 1) if first < last else ()
        if taken and not first:
            begins = tx.observations.read(thread.id, 0, min(_PAGE, last) - 1) or taken
            yield MemoryChange(
                begins[0].received_at, ChangeKind.THREAD, thread.origin, thread.id, thread.origin
            )
        if taken:
            count = last - first - len(tx.observations.erased([(thread.id, first, last - 1)]))
            words = f"{plural(count, 'message')} in {thread.title or thread.origin!r}"
            yield MemoryChange(taken[-1].received_at, ChangeKind.MESSAGES, words, thread.id, thread.origin)
        for episode in tx.episodes.list(threads=[thread.id]):
            if since < episode.created_at <= until and episode.kind is EpisodeKind.EVENT:
                words = episode.title or "not titled yet"
                yield MemoryChange(
                    episode.created_at, ChangeKind.EPISODE, words, episode.id, thread.origin, "algorithm"
                )


def first_after(tx: Transaction, thread_id: UUID, moment: datetime, end: int) -> int:
    """Return the seq from which on observations were received after a moment; `end` where none was.

    They are received in their order, so it is searched by halves; what was erased has no time and is passed.
    """
    low, high = 0, end
    while low < high:
        middle = at = (low + high) // 2
        page: Sequence[Observation] = ()
        while at < high and not page:
            page = tx.observations.read(thread_id, at, min(at + _PAGE, high) - 1)
            at += _PAGE
        if not page or page[0].received_at > moment:
            high = middle
        else:
            low = page[0].seq + 1
    return low


def _of_facts(tx: Transaction, since: datetime, until: datetime) -> Iterator[MemoryChange]:
    facts = tx.knowledge.facts()
    created = {one.id: one.created_at for one in facts}
    for stored in facts:
        fact = stored.fact
        if since < stored.created_at <= until:
            yield MemoryChange(stored.created_at, ChangeKind.FACT, fact.fact, fact.id)
        ended = created.get(fact.superseded_by) if fact.superseded_by else None
        if ended is not None and since < ended <= until:
            yield MemoryChange(ended, ChangeKind.FACT_ENDED, fact.fact, fact.id)
        for version in fact.versions:
            if since < version.changed_at <= until:
                words = f"{version.fact} -> {fact.fact}"
                yield MemoryChange(version.changed_at, ChangeKind.FACT_EDITED, words, fact.id, by="hand")
    deleted: dict[datetime, None] = {}
    for tombstone in tx.knowledge.tombstones():
        if since < tombstone.deleted_at <= until:
            deleted[tombstone.deleted_at] = None
    for at in deleted:
        yield MemoryChange(at, ChangeKind.FACT_DELETED, "a fact; its words are not kept", by="hand")


def _of_links(
    tx: Transaction, names: dict[UUID, str], since: datetime, until: datetime
) -> Iterator[MemoryChange]:
    for link in tx.threads.links(limit=EVERY_LINK, taken_back=True):
        later, earlier = (names.get(thread, str(thread)) for thread in (link.later, link.earlier))
        words = f"{later!r} goes on with {earlier!r} ({link.basis}, {link.label})"
        if since < link.at <= until:
            yield MemoryChange(link.at, ChangeKind.LINK, words, link.later, later, _who_linked(link))
        if link.unlinked_at is not None and since < link.unlinked_at <= until:
            yield MemoryChange(link.unlinked_at, ChangeKind.UNLINKED, words, link.later, later)


def _who_linked(link: Link) -> str:
    return "hand" if link.basis == "hand" else "algorithm"


def _of_chains(tx: Transaction, since: datetime, until: datetime) -> Iterator[MemoryChange]:
    """Yield which sessions were found to go on from which; a verdict that says so once more is no change."""
    judged = [one.subject for one in tx.knowledge.decisions(type=CHAIN, since=since) if one.at <= until]
    pairs: list[tuple[datetime, ChangeKind, UUID, UUID, str]] = []
    for child in dict.fromkeys(judged):
        parent: UUID | None = None
        for decision in tx.knowledge.decisions(subject=child, type=CHAIN):
            before, parent = parent, _parent_in(decision)
            if parent not in (None, before) and since < decision.at <= until:
                pairs.append((decision.at, ChangeKind.CHAIN, child, parent, _who_chained(decision)))
    pairs += [
        (one.at, ChangeKind.UNCHAINED, one.child, one.parent, one.by)
        for one in tx.episodes.refusals()
        if since < one.at <= until
    ]
    episodes = tx.episodes.get(list({end for _, _, *ends, _ in pairs for end in ends}))
    for at, kind, child, parent, by in pairs:
        titles = [episodes[end].title or "not titled yet" for end in (child, parent) if end in episodes]
        yield MemoryChange(at, kind, " goes on from ".join(map(repr, titles)), child, by=by)


def _parent_in(decision: Decision) -> UUID | None:
    """Return which session a verdict says that another goes on from; None for none."""
    return UUID(str(decision.detail["candidate"])) if decision.verdict == LINKED else None


def _who_chained(decision: Decision) -> str:
    return "hand" if decision.detail.get("method") in (EXPLICIT, HAND) else "algorithm"


def _of_skills(tx: Transaction, since: datetime, until: datetime) -> Iterator[MemoryChange]:
    for stored in tx.knowledge.skills():
        if stored.state is SkillState.ACTIVE and since < stored.created_at <= until:
            yield MemoryChange(
                stored.created_at, ChangeKind.SKILL, stored.skill.name, stored.id, by="algorithm"
            )


def _of_marks(
    tx: Transaction, names: dict[UUID, str], since: datetime, until: datetime
) -> Iterator[MemoryChange]:
    kinds = {
        MarkKind.PINNED: ChangeKind.PINNED,
        MarkKind.SUPPRESSED: ChangeKind.SUPPRESSED,
        MarkKind.ARCHIVED: ChangeKind.ARCHIVED,
        MarkKind.EDITED: ChangeKind.SUPPRESSED,
    }
    marks = [one for one in tx.upkeep.marks(*kinds) if since < one.at <= until]
    threads = tx.threads.by_numbers([split_ref(one.first_ref)[0] for one in marks])
    for mark in marks:
        name = names.get(threads.get(split_ref(mark.first_ref)[0]) or UUID(int=0))
        yield MemoryChange(mark.at, kinds[mark.kind], _span(mark, name), thread=name)
    for hidden in tx.upkeep.settings().words:
        if since < hidden.at <= until:
            yield MemoryChange(hidden.at, ChangeKind.SUPPRESSED, f"the words {hidden.words!r}", by="hand")


def _span(mark: Mark, name: str | None) -> str:
    reason = f": {mark.reason}" if mark.reason else ""
    return f"a part of {name!r}{reason}"


def _of_erasures(store: Store, scope: Scope, since: datetime, until: datetime) -> Iterator[MemoryChange]:
    for erasure in store.erasures(scope.space, scope):
        if since < erasure.at <= until:
            counts = ", ".join(f"{number} {what}" for what, number in erasure.counts.items() if number)
            words = f"{erasure.what.value} ({counts or 'nothing'}), {erasure.reason}"
            yield MemoryChange(erasure.at, ChangeKind.ERASED, words, erasure.id, by=str(erasure.by or ""))


def _of_models(tx: Transaction, since: datetime, until: datetime) -> Iterator[MemoryChange]:
    """Yield what models were asked; a day's calls are one sum, told at the day's end or at `until`."""
    for use in tx.upkeep.usage(since.date(), until.date()):
        at = min(until, datetime.combine(use.day, time.max, tzinfo=UTC))
        words = f"{plural(use.calls, 'call')} for {use.stage}, {use.tokens} tokens, {use.used} used"
        yield MemoryChange(at, ChangeKind.MODEL, words, by=use.model)
