"""Every verb of the port, read and write, over scopes that hold the same ids with different words in them.

What a verb may not do in a foreign scope, or with its conditions taken away, is tried by the tests that use
this; `test_every_verb_of_the_port_is_here` keeps the lists complete.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date, timedelta
from uuid import UUID

import numpy as np
from stores.builders import (
    NOW,
    identity,
    make_episode,
    make_evidence,
    make_fact,
    make_frame,
    make_observations,
    make_skill,
    make_thread,
    make_tombstone,
    minute,
    posting,
    random_vectors,
)

from episodic_agent.core.chaining import Condition, Refusal, Term
from episodic_agent.core.erasing import Erasure, What
from episodic_agent.core.facts import Candidate, Category, Evidence
from episodic_agent.core.forgetting import Strength
from episodic_agent.core.interfaces import (
    EPISODES,
    OBSERVATIONS,
    Mark,
    MarkKind,
    Store,
    SuppressedWords,
    Transaction,
    ref_of,
)
from episodic_agent.core.skills import SkillState, TurnRef
from episodic_agent.schemas import (
    Decision,
    Encoding,
    EpisodeKind,
    EpisodeState,
    Job,
    Link,
    ModelUse,
    PendingReview,
    Scope,
    ThreadPart,
    WorkRow,
)

Verb = Callable[[Transaction], object]
KITCHEN, PORCH = "kitchen", "porch"
EMBEDDER = "small"
BM25 = {"k1": 1.2, "b": 0.75, "average_length": 2.0}
QUERY = random_vectors(7, 1)[0]
REFS = np.array([ref_of(number, seq) for number in range(1, 9) for seq in range(4)], dtype=np.int64)
DECISION = identity("decision")
WHOLE = identity("whole")


def furnish(store: Store, scope: Scope, secret: str) -> None:
    """Fill a scope with one of everything; its words, names and numbers tell whose they are."""
    texts = [f"{secret} a", f"{secret} b", f"{secret} c", "open"]
    seed = sum(map(ord, secret))
    with store.begin(scope) as tx:
        tx.threads.create(replace(make_thread(KITCHEN), title=secret), make_frame(KITCHEN))
        steps = make_observations(KITCHEN, texts, actor=secret)
        places = [KITCHEN, KITCHEN, f"{secret} a", None]
        steps[len(secret) % 4] = replace(steps[len(secret) % 4], expires_at=minute(50))
        tx.threads.append([replace(o, location=place) for o, place in zip(steps, places, strict=True)])
        tx.threads.save_frame(replace(tx.threads.frame(identity(KITCHEN)), next_seq=4, first_seq=3, cursor=4))
        tx.threads.save_records(identity(KITCHEN), {n: secret.encode() for n in range(3)})
        tx.episodes.insert(replace(make_episode(KITCHEN, 0, 2), surprise=seed % 100 / 100))
        tx.episodes.encode(_encoding(secret))
        tx.episodes.decide(_decision(secret))
        tx.episodes.insert(replace(make_episode(KITCHEN, 0, 3, generation=9), kind=EpisodeKind.PRIMARY))
        tx.parts.save(_part(secret))
        tx.threads.set_timeout(secret, timedelta(seconds=seed))
        number = tx.threads.number(identity(KITCHEN))
        refs = [ref_of(number, seq) for seq in range(4)]
        for kind in (OBSERVATIONS, EPISODES):
            tx.index.put_postings(kind, [posting(ref, f"{secret} word") for ref in refs])
            tx.index.put_vectors(kind, EMBEDDER, refs[:3], random_vectors(seed, 3))
        tx.threads.create(make_thread(PORCH), make_frame(PORCH))
        tx.threads.append(make_observations(PORCH, [secret]))
        tx.erasing.erase(identity(PORCH), [0], minute(seed))
        tx.erasing.record(_erasure(secret))
        tx.links.put(_link(secret))
        tx.reviews.ask(_pending(secret))
        tx.links.join(WHOLE, [identity(KITCHEN), identity(PORCH)])
        tx.jobs.put("encode", secret, "serial", now=NOW)
        tx.usage.add([_use(secret)])
        tx.work.put([_work(number, secret)])
        tx.skills.put(
            make_skill("known", secret), [TurnRef(identity(KITCHEN), n) for n in range(len(secret) % 3)]
        )
        tx.skills.await_mining(refs[: len(secret) % 3])
        tx.facts.put([make_fact("known", f"{secret} told", _said(secret))])
        tx.facts.moved({identity("fact/gone"): identity(f"fact/{secret}")})
        tx.facts.bury([make_tombstone("erased", secret)])
        tx.care.mark(Mark(refs[0], refs[seed % 3], MarkKind.SUPPRESSED, NOW, secret))
        tx.care.suppress_words(SuppressedWords(secret, NOW))
        tx.care.set_policy(f"count={seed}")
        tx.chains.lead(PRIMARY, EPISODE)
        tx.chains.refuse(_refusal(secret))
        tx.chains.describe(PRIMARY, [Term("tag", secret)])


def _encoding(secret: str, version: int = 1) -> Encoding:
    return Encoding(
        episode_id=make_episode(KITCHEN, 0, 2).id,
        version=version,
        title=secret,
        summary=f"{secret} told",
        metadata={"of": secret},
        by="test",
        created_at=NOW,
    )


def _decision(secret: str) -> Decision:
    return Decision(
        id=DECISION,
        type="boundary",
        at=NOW,
        subject=identity(KITCHEN),
        features={"gap": 1.0},
        score=0.5,
        threshold=0.5,
        verdict=secret,
        policy_version="default",
    )


def _link(secret: str) -> Link:
    return Link(identity(KITCHEN), identity(PORCH), NOW, basis=secret)


def _pending(secret: str) -> PendingReview:
    return PendingReview(identity("recall"), identity(KITCHEN), 4, NOW, secret, (EPISODE,))


def _part(secret: str, first_seq: int = 0, *, grown: bool = True) -> ThreadPart:
    return ThreadPart(
        thread_id=THREAD,
        first_seq=first_seq,
        episode_id=PRIMARY,
        first_at=NOW,
        opened_for=secret,
        grown=grown,
        trigger=secret,
        compacted_through=3,
        compacted_at=NOW,
    )


def _said(secret: str) -> Evidence:
    return make_evidence(f"{KITCHEN}/0", f"{secret} a")


def _stated(secret: str) -> Candidate:
    return Candidate("Ana", "lives_in", secret, Category.IDENTITY, _said(secret))


def _erasure(secret: str) -> Erasure:
    return Erasure(identity(f"erasure {secret}"), What.THREAD, secret, NOW, counts={secret: 1})


def _use(secret: str) -> ModelUse:
    return ModelUse(NOW.date(), "topic_shift", secret, 1, 0, sum(map(ord, secret)), 5, 0.25)


def _refusal(secret: str) -> Refusal:
    return Refusal(EPISODE, PRIMARY, NOW, secret)


def _work(number: int, secret: str) -> WorkRow:
    return WorkRow(ref_of(number, 0), ref_of(number, 3), NOW, "add", f"{secret} told")


def _numbered(scores: tuple[np.ndarray, np.ndarray]) -> tuple[list[int], list[float]]:
    return scores[0].tolist(), scores[1].tolist()


THREAD = identity(KITCHEN)
SKILL = identity("skill/known")
FACT, GONE = identity("fact/known"), identity("fact/gone")
TURNS = [TurnRef(THREAD, seq) for seq in range(4)]
EPISODE = make_episode(KITCHEN, 0, 2).id
PRIMARY = make_episode(KITCHEN, 0, 3, generation=9).id
WORDS = {"home": 1.0, "work": 1.0, "other": 1.0, "word": 0.5}

READS: Mapping[str, Verb] = {
    "threads.get": lambda tx: tx.threads.get(THREAD),
    "threads.many": lambda tx: dict(tx.threads.many([THREAD, identity(PORCH)])),
    "threads.by_origin": lambda tx: tx.threads.by_origin(KITCHEN),
    "threads.number": lambda tx: tx.threads.number(THREAD),
    "threads.by_numbers": lambda tx: dict(tx.threads.by_numbers(range(1, 9))),
    "threads.list": lambda tx: list(tx.threads.list()),
    "threads.current": lambda tx: list(tx.threads.current(limit=9)),
    "threads.begun": lambda tx: list(tx.threads.begun(minute(99), limit=9)),
    "threads.unfinished": lambda tx: list(tx.threads.unfinished()),
    "threads.timeouts": lambda tx: dict(tx.threads.timeouts()),
    "threads.frame": lambda tx: tx.threads.frame(THREAD),
    "threads.frames": lambda tx: dict(tx.threads.frames([THREAD, identity(PORCH)])),
    "threads.known": lambda tx: dict(tx.threads.known([identity(f"{KITCHEN}/{n}") for n in range(9)])),
    "threads.observations": lambda tx: list(tx.threads.observations(THREAD, 0, 9)),
    "threads.ranges": lambda tx: [list(some) for some in tx.threads.ranges([(THREAD, 0, 1), (THREAD, 2, 9)])],
    "threads.by_refs": lambda tx: dict(tx.threads.by_refs(REFS.tolist())),
    "threads.marks": lambda tx: list(tx.threads.marks(REFS)),
    "threads.by_ids": lambda tx: dict(tx.threads.by_ids([identity(f"{KITCHEN}/{n}") for n in range(9)])),
    "threads.records": lambda tx: dict(tx.threads.records(THREAD, 0, 9)),
    "threads.count": lambda tx: tx.threads.count(),
    "threads.actors": lambda tx: dict(tx.threads.actors()),
    "threads.last_at": lambda tx: tx.threads.last_at(),
    "threads.times": lambda tx: tx.threads.times(REFS).tolist(),
    "threads.between": lambda tx: tx.threads.between(NOW, minute(99), limit=99).tolist(),
    "episodes.get": lambda tx: [tx.episodes.get(EPISODE), tx.episodes.get(PRIMARY)],
    "episodes.by_ids": lambda tx: dict(tx.episodes.by_ids([EPISODE])),
    "episodes.of_thread": lambda tx: [
        *tx.episodes.of_thread(THREAD),
        *tx.episodes.of_thread(THREAD, generation=0),
    ],
    "episodes.of_threads": lambda tx: dict(tx.episodes.of_threads([THREAD])),
    "episodes.covering": lambda tx: dict(tx.episodes.covering(REFS)),
    "episodes.marks": lambda tx: dict(tx.episodes.marks(REFS.tolist())),
    "episodes.by_refs": lambda tx: dict(tx.episodes.by_refs(REFS.tolist())),
    "episodes.covers": lambda tx: list(
        tx.episodes.covers([(ref_of(n, 1), ref_of(n, 9)) for n in range(1, 9)])
    ),
    "episodes.recent": lambda tx: list(tx.episodes.recent(limit=9, since=NOW, before=minute(99))),
    "episodes.encodings": lambda tx: list(tx.episodes.encodings(EPISODE)),
    "episodes.unconsolidated": lambda tx: list(tx.episodes.unconsolidated(limit=9)),
    "episodes.count_unconsolidated": lambda tx: tx.episodes.count_unconsolidated(),
    "episodes.count": lambda tx: tx.episodes.count(),
    "episodes.decision": lambda tx: tx.episodes.decision(DECISION),
    "episodes.decisions": lambda tx: [
        *tx.episodes.decisions(),
        *tx.episodes.decisions(subject=THREAD, type="boundary"),
    ],
    "episodes.decided": lambda tx: tx.episodes.decided(_decision("").type, minute(-1)),
    "reviews.pending": lambda tx: list(tx.reviews.pending(THREAD)),
    "parts.at": lambda tx: tx.parts.at(THREAD, 2),
    "parts.last": lambda tx: tx.parts.last(THREAD),
    "parts.of_thread": lambda tx: list(tx.parts.of_thread(THREAD)),
    "parts.grown": lambda tx: list(tx.parts.grown(minute(99), limit=9)),
    "parts.compacted": lambda tx: [
        *tx.parts.compacted(limit=9),
        *tx.parts.compacted(limit=9, thread_id=THREAD),
    ],
    "chains.nodes": lambda tx: list(tx.chains.nodes([PRIMARY, EPISODE])),
    "chains.children": lambda tx: list(tx.chains.children([EPISODE])),
    "chains.above": lambda tx: list(tx.chains.above([EPISODE, PRIMARY])),
    "chains.below": lambda tx: list(tx.chains.below([EPISODE, PRIMARY])),
    "chains.latest": lambda tx: list(tx.chains.latest(limit=9, before=minute(99))),
    "chains.refusals": lambda tx: [*tx.chains.refusals(), *tx.chains.refusals(EPISODE)],
    "chains.described": lambda tx: list(tx.chains.described([PRIMARY, EPISODE])),
    "chains.matching": lambda tx: [
        (word, list(tx.chains.matching([[Condition("tag", (word,), contains=part)]])))
        for word in WORDS
        for part in (False, True)
    ],
    "chains.spans": lambda tx: [
        *tx.chains.spans([[Condition("tag", (word,)) for word in WORDS]]),
        *tx.chains.spans([], since=NOW, until=minute(99)),
    ],
    "links.of": lambda tx: list(tx.links.of([THREAD], taken_back=True)),
    "links.list": lambda tx: list(tx.links.list(limit=9)),
    "links.joined": lambda tx: dict(tx.links.joined([THREAD])),
    "links.members": lambda tx: list(tx.links.members(WHOLE)),
    "places.labels": lambda tx: dict(tx.places.labels()),
    "places.stays": lambda tx: [
        *tx.places.stays(),
        *tx.places.stays(place=KITCHEN, thread_id=THREAD, since=NOW, until=minute(99)),
    ],
    "index.statistics": lambda tx: tx.index.statistics(OBSERVATIONS, list(WORDS)),
    "index.text_scores": lambda tx: _numbered(tx.index.text_scores(OBSERVATIONS, WORDS, **BM25, limit=9)),
    "index.text_scores_of": lambda tx: tx.index.text_scores_of(OBSERVATIONS, WORDS, REFS, **BM25).tolist(),
    "index.vector_scores": lambda tx: _numbered(tx.index.vector_scores(EPISODES, EMBEDDER, QUERY, limit=9)),
    "index.vector_scores_of": lambda tx: np.nan_to_num(
        tx.index.vector_scores_of(OBSERVATIONS, EMBEDDER, QUERY, REFS), nan=-2
    ).tolist(),
    "index.vectors": lambda tx: {
        ref: v.tolist() for ref, v in tx.index.vectors(OBSERVATIONS, EMBEDDER, REFS.tolist()).items()
    },
    "index.unindexed": lambda tx: list(tx.index.unindexed(OBSERVATIONS, EMBEDDER, limit=9)),
    "jobs.list": lambda tx: [
        replace(job, id=UUID(int=0)) for job in (*tx.jobs.list(), *tx.jobs.list(state="waiting"))
    ],
    "work.of": lambda tx: [row for n in range(1, 9) for row in tx.work.of(ref_of(n, 0), ref_of(n, 9))],
    "work.named": lambda tx: list(tx.work.named(UUID(int=0), UUID(int=(1 << 128) - 1), limit=99)),
    "usage.totals": lambda tx: list(tx.usage.totals(date.min, date.max)),
    "erasing.erased": lambda tx: list(tx.erasing.erased(identity(PORCH), 0, 9)),
    "erasing.replaced": lambda tx: list(tx.erasing.replaced(THREAD, [0, 1])),
    "erasing.holding": lambda tx: list(tx.erasing.holding(["the porch", "nowhere"], limit=9)),
    "erasing.count": lambda tx: [tx.erasing.count(), tx.erasing.count(THREAD)],
    "skills.get": lambda tx: tx.skills.get(SKILL),
    "skills.list": lambda tx: [*tx.skills.list(), *tx.skills.list(state=SkillState.ACTIVE)],
    "skills.by_numbers": lambda tx: dict(tx.skills.by_numbers(range(9))),
    "skills.evidence": lambda tx: list(tx.skills.evidence(SKILL)),
    "skills.shown_by": lambda tx: dict(tx.skills.shown_by(TURNS)),
    "skills.awaiting": lambda tx: list(tx.skills.awaiting(limit=9)),
    "facts.get": lambda tx: tx.facts.get(FACT),
    "facts.by_ids": lambda tx: dict(tx.facts.by_ids([FACT])),
    "facts.by_numbers": lambda tx: dict(tx.facts.by_numbers(range(9))),
    "facts.list": lambda tx: [*tx.facts.list(), *tx.facts.list(current=True)],
    "facts.count": lambda tx: [tx.facts.count(), tx.facts.count(current=True)],
    "facts.of_slots": lambda tx: list(tx.facts.of_slots([("Ana", "lives_in")])),
    "facts.concerning": lambda tx: list(tx.facts.concerning([_stated("other")])),
    "facts.resting_on": lambda tx: list(tx.facts.resting_on([identity(f"{KITCHEN}/0")])),
    "facts.successor": lambda tx: tx.facts.successor(GONE),
    "facts.near": lambda tx: list(tx.facts.near(UUID(int=0), UUID(int=2**128 - 1), limit=100)),
    "facts.moves": lambda tx: dict(tx.facts.moves()),
    "facts.tombstones": lambda tx: [*tx.facts.tombstones(), *tx.facts.tombstones([identity("erased")])],
    "care.marks": lambda tx: list(tx.care.marks()),
    "care.touched": lambda tx: dict(tx.care.touched(list(MarkKind), [(int(ref), int(ref)) for ref in REFS])),
    "care.in_force": lambda tx: tx.care.in_force(minute(99)),
    "care.words": lambda tx: list(tx.care.words()),
    "care.expired": lambda tx: list(tx.care.expired([(0, int(REFS[-1]))], minute(99))),
    "care.due": lambda tx: list(tx.care.due(minute(99), limit=9)),
    "care.expiring": lambda tx: tx.care.expiring(),
    "care.policy": lambda tx: tx.care.policy(),
    "care.standings": lambda tx: list(tx.care.standings()),
}


def _claimed(tx: Transaction) -> Job:
    """A job as a worker holds it, though nobody leased it: writing to it must be refused or change nothing."""
    return replace(tx.jobs.list()[0], state="leased", token=99)


def _wrongly_claimed(verb: Callable[[Transaction, Job], object]) -> Verb:
    return lambda tx: verb(tx, _claimed(tx))


WRITES: Mapping[str, Verb] = {
    "threads.create": lambda tx: tx.threads.create(make_thread("attic"), make_frame("attic")),
    "threads.save": lambda tx: tx.threads.save(replace(make_thread(KITCHEN), title="written")),
    "threads.hold": lambda tx: tx.threads.hold(),
    "threads.set_timeout": lambda tx: tx.threads.set_timeout("written", timedelta(1)),
    "threads.save_frame": lambda tx: tx.threads.save_frame(replace(tx.threads.frame(THREAD), state=b"w")),
    "threads.append": lambda tx: tx.threads.append(
        [replace(o, location=KITCHEN) for o in make_observations(KITCHEN, ["written"], first=4)]
    ),
    "threads.save_records": lambda tx: tx.threads.save_records(THREAD, {3: b"written", 0: None}),
    "places.rewrite": lambda tx: tx.places.rewrite(THREAD, tx.places.stays()[:1]),
    "episodes.insert": lambda tx: tx.episodes.insert(make_episode(KITCHEN, 3, 3)),
    "episodes.change": lambda tx: tx.episodes.change(PRIMARY, state=EpisodeState.COMPACTED, last_seq=2),
    "episodes.archive": lambda tx: tx.episodes.archive(THREAD, 0, 9),
    "parts.drop": lambda tx: tx.parts.drop(THREAD, 0),
    "parts.save": lambda tx: [tx.parts.save(_part("written", seq, grown=False)) for seq in (0, 2)],
    "episodes.retire": lambda tx: tx.episodes.retire([EPISODE], 1),
    "episodes.revive": lambda tx: tx.episodes.revive(THREAD, 0),
    "episodes.revoke": lambda tx: tx.episodes.revoke(DECISION),
    "episodes.encode": lambda tx: tx.episodes.encode(_encoding("written", 2)),
    "episodes.decide": lambda tx: tx.episodes.decide(replace(_decision("written"), id=identity("other"))),
    "episodes.amend": lambda tx: tx.episodes.amend(replace(_decision("written"), outcome="correct")),
    "episodes.strengthen": lambda tx: tx.episodes.strengthen(
        make_episode(KITCHEN, 0, 2), Strength(9.0, 3.0), minute(99)
    ),
    "episodes.reconsider": lambda tx: tx.episodes.reconsider([EPISODE]),
    "episodes.consolidate": lambda tx: tx.episodes.consolidate([EPISODE], minute(99)),
    "reviews.ask": lambda tx: tx.reviews.ask(replace(_pending("written"), id=identity("other"))),
    "reviews.settle": lambda tx: tx.reviews.settle([_pending("written")]),
    "chains.lead": lambda tx: tx.chains.lead(EPISODE, PRIMARY),
    "chains.refuse": lambda tx: tx.chains.refuse(_refusal("written")),
    "chains.lift": lambda tx: tx.chains.lift(EPISODE, PRIMARY),
    "chains.describe": lambda tx: tx.chains.describe(PRIMARY, [Term("tag", "written")]),
    "links.put": lambda tx: tx.links.put(_link("written")),
    "links.join": lambda tx: tx.links.join(identity("other"), [THREAD]),
    "index.put_postings": lambda tx: tx.index.put_postings(
        OBSERVATIONS, [posting(int(ref), "written") for ref in REFS]
    ),
    "index.put_vectors": lambda tx: tx.index.put_vectors(
        OBSERVATIONS, EMBEDDER, REFS.tolist(), random_vectors(99, len(REFS))
    ),
    "index.drop": lambda tx: tx.index.drop(OBSERVATIONS, REFS.tolist()),
    "jobs.put": lambda tx: tx.jobs.put("encode", "written", "other", now=NOW),
    "jobs.finish": _wrongly_claimed(lambda tx, job: tx.jobs.finish(job)),
    "jobs.fail": _wrongly_claimed(lambda tx, job: tx.jobs.fail(job, "x", retry_at=NOW + timedelta(1))),
    "jobs.release": _wrongly_claimed(lambda tx, job: tx.jobs.release(job)),
    "jobs.retry": lambda tx: [tx.jobs.retry(job.id, now=NOW) for job in tx.jobs.list()],
    "usage.add": lambda tx: tx.usage.add([_use(secret) for secret in ("written", *WORDS)]),
    "skills.put": lambda tx: tx.skills.put(make_skill("known", "written"), TURNS),
    "erasing.erase": lambda tx: tx.erasing.erase(THREAD, [0, 2], NOW),
    "erasing.unword": lambda tx: tx.erasing.unword([EPISODE, PRIMARY]),
    "erasing.remove": lambda tx: tx.erasing.remove([EPISODE, PRIMARY]),
    "erasing.drop_thread": lambda tx: tx.erasing.drop_thread(THREAD),
    "erasing.recall_jobs": lambda tx: tx.erasing.recall_jobs(),
    "erasing.record": lambda tx: tx.erasing.record(_erasure("written")),
    "skills.drop": lambda tx: tx.skills.drop(SKILL),
    "skills.await_mining": lambda tx: tx.skills.await_mining(REFS.tolist()),
    "skills.mined": lambda tx: tx.skills.mined(REFS.tolist()),
    "facts.hold": lambda tx: tx.facts.hold(),
    "facts.put": lambda tx: tx.facts.put([make_fact("known", "written"), make_fact("new", "written")]),
    "facts.drop": lambda tx: tx.facts.drop([FACT]),
    "facts.moved": lambda tx: tx.facts.moved({FACT: GONE, GONE: identity("fact/written")}),
    "facts.bury": lambda tx: tx.facts.bury([make_tombstone("erased", "written", at=9)]),
    "facts.unbury": lambda tx: tx.facts.unbury([identity("erased")]),
    "work.put": lambda tx: tx.work.put([_work(n, "written") for n in range(1, 9)]),
    "work.drop": lambda tx: tx.work.drop(minute(99)),
    "care.mark": lambda tx: tx.care.mark(Mark(0, int(REFS[-1]), MarkKind.SUPPRESSED, NOW, "written")),
    "care.release": lambda tx: tx.care.release(MarkKind.SUPPRESSED, 0, int(REFS[-1])),
    "care.suppress_words": lambda tx: tx.care.suppress_words(SuppressedWords("written", NOW)),
    "care.unsuppress_words": lambda tx: [tx.care.unsuppress_words(w.words) for w in tx.care.words()],
    "care.settle": lambda tx: tx.care.settle(REFS.tolist()),
    "care.set_policy": lambda tx: tx.care.set_policy("none"),
    "care.take_turn": lambda tx: tx.care.take_turn(minute(99), timedelta(minutes=1)),
    "care.look_again": lambda tx: tx.care.look_again(),
    "jobs.cancel": lambda tx: [tx.jobs.cancel(job.id) for job in tx.jobs.list()],
}


def everything(store: Store, scope: Scope) -> dict[str, object]:
    """Return the answer of every read verb in a scope."""
    with store.begin(scope, write=False) as tx:
        return {name: read(tx) for name, read in READS.items()}
