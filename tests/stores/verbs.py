"""Every verb of the port, read and write, over scopes that hold the same ids with different words in them.

What a verb may not do in a foreign scope, or with its conditions taken away, is tried by the tests that use
this; `test_every_verb_of_the_port_is_here` keeps the lists complete. Words after a name tell
apart ways to call it.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date, timedelta
from typing import get_args, get_type_hints
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

from episodic_agent.core.facts import Category, FactCandidate, FactEvidence
from episodic_agent.protocols import (
    EPISODES,
    OBSERVATIONS,
    Countable,
    Mark,
    MarkKind,
    OwnRetention,
    OwnTimeout,
    Store,
    SuppressedWords,
    Transaction,
    ref_of,
)
from episodic_agent.schemas import (
    AuditEntry,
    AuditKind,
    Caller,
    Decision,
    Encoding,
    EpisodeKind,
    EpisodeState,
    Job,
    Joined,
    Link,
    ModelUse,
    PendingReview,
    Scope,
    Section,
    WorkRow,
)
from episodic_agent.schemas.chains import Condition, Refusal
from episodic_agent.schemas.erasures import Erasure, What
from episodic_agent.schemas.skills import SkillState, TurnRef
from episodic_agent.schemas.strength import Strength

Verb = Callable[[Transaction], object]


def aggregates() -> Mapping[str, type]:
    """What a transaction offers, by name."""
    offered = {
        name: member.fget for name, member in vars(Transaction).items() if isinstance(member, property)
    }
    return {name: get_type_hints(read)["return"] for name, read in offered.items() if name != "scope"}


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
        tx.observations.append([replace(o, location=place) for o, place in zip(steps, places, strict=True)])
        tx.threads.save(replace(tx.threads.frame(identity(KITCHEN)), next_seq=4, first_seq=3, cursor=4))
        tx.observations.save_records(identity(KITCHEN), {n: secret.encode() for n in range(3)})
        tx.episodes.put(replace(make_episode(KITCHEN, 0, 2), surprise=seed % 100 / 100))
        tx.episodes.put(_encoding(secret))
        tx.knowledge.decide(_decision(secret))
        tx.episodes.put(replace(make_episode(KITCHEN, 0, 3, generation=9), kind=EpisodeKind.PRIMARY))
        tx.threads.save(_part(secret))
        tx.upkeep.put(OwnTimeout(secret, timedelta(seconds=seed)))
        tx.keep_request(b"key", secret.encode(), now=NOW, oldest=NOW)
        number = tx.threads.number(identity(KITCHEN))
        refs = [ref_of(number, seq) for seq in range(4)]
        for kind in (OBSERVATIONS, EPISODES):
            tx.index.put_postings(kind, [posting(ref, f"{secret} word") for ref in refs])
            tx.index.put_vectors(kind, EMBEDDER, refs[:3], random_vectors(seed, 3))
        tx.threads.create(make_thread(PORCH), make_frame(PORCH))
        tx.observations.append(make_observations(PORCH, [secret]))
        tx.observations.erase(identity(PORCH), [0], minute(seed))
        tx.record(_erasure(secret))
        tx.threads.save(_link(secret))
        tx.upkeep.put(_pending(secret))
        tx.threads.save(Joined(WHOLE, (*[identity(KITCHEN), identity(PORCH)],)))
        tx.upkeep.ask("encode", secret, "serial", now=NOW)
        tx.upkeep.put(_use(secret))
        tx.record(_entry(secret))
        tx.upkeep.put(_work(number, secret))
        tx.knowledge.put_skill(
            make_skill("known", secret), [TurnRef(identity(KITCHEN), n) for n in range(len(secret) % 3)]
        )
        tx.knowledge.note_mining(refs[: len(secret) % 3])
        tx.knowledge.put_facts([make_fact("known", f"{secret} told", _said(secret))])
        tx.knowledge.move_facts({identity("fact/gone"): identity(f"fact/{secret}")})
        tx.knowledge.bury([make_tombstone("erased", secret)])
        tx.upkeep.put(Mark(refs[0], refs[seed % 3], MarkKind.SUPPRESSED, NOW, secret))
        tx.upkeep.put(SuppressedWords(secret, NOW))
        tx.upkeep.put(OwnRetention(f"count={seed}"))
        tx.episodes.lead(PRIMARY, EPISODE)
        tx.episodes.put(_refusal(secret))
        tx.episodes.put(replace(_encoding(secret), episode_id=PRIMARY, metadata={"tags": [secret]}))


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


def _part(secret: str, first_seq: int = 0, *, grown: bool = True) -> Section:
    return Section(
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


def _said(secret: str) -> FactEvidence:
    return make_evidence(f"{KITCHEN}/0", f"{secret} a")


def _stated(secret: str) -> FactCandidate:
    return FactCandidate("Ana", "lives_in", secret, Category.IDENTITY, _said(secret))


def _erasure(secret: str) -> Erasure:
    return Erasure(identity(f"erasure {secret}"), What.THREAD, secret, NOW, counts={secret: 1})


def _entry(secret: str) -> AuditEntry:
    return AuditEntry(NOW, "1f", AuditKind.WRITE, secret, Caller("cli"), "thread", THREAD, {"facts": 1})


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
    "threads.list many": lambda tx: {t.id: t for t in tx.threads.list(ids=[THREAD, identity(PORCH)])},
    "threads.get again": lambda tx: tx.threads.get(KITCHEN),
    "threads.number": lambda tx: tx.threads.number(THREAD),
    "threads.by_numbers": lambda tx: dict(tx.threads.by_numbers(range(1, 9))),
    "threads.by_numbers channels": lambda tx: dict(tx.threads.by_numbers(came_by=lambda by: "sms" in by)),
    "threads.list": lambda tx: list(tx.threads.list()),
    "threads.list current": lambda tx: list(tx.threads.list("current", limit=9)),
    "threads.list begun": lambda tx: list(tx.threads.list(begun=minute(99), limit=9)),
    "threads.list unfinished": lambda tx: list(tx.threads.list("unfinished")),
    "threads.list growing": lambda tx: list(tx.threads.list("growing", limit=9)),
    "threads.list oldest": lambda tx: list(tx.threads.list("oldest", limit=9)),
    "upkeep.settings": lambda tx: tx.upkeep.settings(),
    "threads.frame": lambda tx: tx.threads.frame(THREAD),
    "threads.frame several": lambda tx: dict(tx.threads.frame([THREAD, identity(PORCH)])),
    "observations.known": lambda tx: dict(
        tx.observations.known([identity(f"{KITCHEN}/{n}") for n in range(9)])
    ),
    "observations.read observations": lambda tx: list(tx.observations.read(THREAD, 0, 9)),
    "observations.read ranges": lambda tx: [
        list(some) for some in tx.observations.read([(THREAD, 0, 1), (THREAD, 2, 9)])
    ],
    "observations.get by refs": lambda tx: dict(tx.observations.get(REFS.tolist())),
    "index.observation_marks": lambda tx: list(tx.index.observation_marks(REFS)),
    "observations.get by ids": lambda tx: dict(
        tx.observations.get([identity(f"{KITCHEN}/{n}") for n in range(9)])
    ),
    "observations.records": lambda tx: dict(tx.observations.records(THREAD, 0, 9)),
    "observations.altered": lambda tx: tx.observations.altered(THREAD, 0, 9),
    "observations.having": lambda tx: list(tx.observations.having("actor", ["user", "ana"])),
    "observations.having besides": lambda tx: list(
        tx.observations.having("channel", ["sms"], besides=[tx.threads.number(THREAD)])
    ),
    "observations.actors": lambda tx: dict(tx.observations.actors()),
    "observations.last_at": lambda tx: tx.observations.last_at(),
    "index.times": lambda tx: tx.index.times(REFS).tolist(),
    "index.between": lambda tx: tx.index.between(NOW, minute(99), limit=99).tolist(),
    "episodes.get": lambda tx: [tx.episodes.get(EPISODE), tx.episodes.get(PRIMARY)],
    "episodes.get by ids": lambda tx: dict(tx.episodes.get([EPISODE])),
    "episodes.list of a thread": lambda tx: [
        *tx.episodes.list(threads=[THREAD]),
        *tx.episodes.list(threads=[THREAD], generation=0),
    ],
    "episodes.list of threads": lambda tx: list(tx.episodes.list(threads=[THREAD])),
    "index.episode_marks covering": lambda tx: dict(tx.index.episode_marks(REFS, covering=True)),
    "index.episode_marks marks": lambda tx: dict(tx.index.episode_marks(REFS.tolist())),
    "episodes.get by refs": lambda tx: dict(tx.episodes.get(REFS.tolist())),
    "index.covers": lambda tx: list(tx.index.covers([(ref_of(n, 1), ref_of(n, 9)) for n in range(1, 9)])),
    "episodes.list recent": lambda tx: list(tx.episodes.list(limit=9, since=NOW, before=minute(99))),
    "episodes.encodings": lambda tx: list(tx.episodes.encodings(EPISODE)),
    "episodes.list unconsolidated": lambda tx: list(tx.episodes.list(unconsolidated=True, limit=9)),
    "knowledge.decisions by ids": lambda tx: list(tx.knowledge.decisions(ids=[DECISION])),
    "knowledge.decisions": lambda tx: [
        *tx.knowledge.decisions(),
        *tx.knowledge.decisions(subject=THREAD, type="boundary"),
    ],
    "upkeep.reviews": lambda tx: list(tx.upkeep.reviews(THREAD)),
    "threads.section at": lambda tx: tx.threads.section(THREAD, 2),
    "threads.section last": lambda tx: tx.threads.section(THREAD),
    "threads.sections of thread": lambda tx: list(tx.threads.sections(THREAD)),
    "threads.sections grown": lambda tx: list(tx.threads.sections(grown=minute(99), limit=9)),
    "threads.sections compacted": lambda tx: [
        *tx.threads.sections(compacted=True, limit=9),
        *tx.threads.sections(compacted=True, limit=9, thread_id=THREAD),
    ],
    "episodes.nodes nodes": lambda tx: list(tx.episodes.nodes([PRIMARY, EPISODE])),
    "episodes.nodes children": lambda tx: list(tx.episodes.nodes([EPISODE], "children")),
    "episodes.nodes above": lambda tx: list(tx.episodes.nodes([EPISODE, PRIMARY], "above")),
    "episodes.nodes below": lambda tx: list(tx.episodes.nodes([EPISODE, PRIMARY], "below")),
    "episodes.latest": lambda tx: list(tx.episodes.latest(limit=9, before=minute(99))),
    "episodes.refusals": lambda tx: [*tx.episodes.refusals(), *tx.episodes.refusals(EPISODE)],
    "index.described": lambda tx: list(tx.index.described([PRIMARY, EPISODE])),
    "episodes.list about": lambda tx: [
        (word, list(tx.episodes.list(about=[[Condition("tag", (word), contains=part)]])))
        for word in WORDS
        for part in (False, True)
    ],
    "index.spans": lambda tx: [
        *tx.index.spans([[Condition("tag", (word)) for word in WORDS]]),
        *tx.index.spans([], since=NOW, until=minute(99)),
    ],
    "threads.links of": lambda tx: list(tx.threads.links([THREAD], taken_back=True)),
    "threads.links list": lambda tx: list(tx.threads.links(limit=9)),
    "threads.joined": lambda tx: dict(tx.threads.joined([THREAD])),
    "threads.joined of an episode": lambda tx: list(tx.threads.joined(WHOLE)),
    "threads.places": lambda tx: dict(tx.threads.places()),
    "threads.visits": lambda tx: [
        *tx.threads.visits(),
        *tx.threads.visits(place=KITCHEN, thread_id=THREAD, since=NOW, until=minute(99)),
    ],
    "index.statistics": lambda tx: tx.index.statistics(OBSERVATIONS, list(WORDS)),
    "index.text_scores": lambda tx: _numbered(tx.index.text_scores(OBSERVATIONS, WORDS, **BM25, limit=9)),
    "index.text_scores again": lambda tx: tx.index.text_scores(OBSERVATIONS, WORDS, REFS, **BM25)[1].tolist(),
    "index.vector_scores": lambda tx: _numbered(tx.index.vector_scores(EPISODES, EMBEDDER, QUERY, limit=9)),
    "index.vector_scores again": lambda tx: np.nan_to_num(
        tx.index.vector_scores(OBSERVATIONS, EMBEDDER, QUERY, REFS)[1], nan=-2
    ).tolist(),
    "index.vectors": lambda tx: {
        ref: v.tolist() for ref, v in tx.index.vectors(OBSERVATIONS, EMBEDDER, REFS.tolist()).items()
    },
    "index.unindexed": lambda tx: list(tx.index.unindexed(OBSERVATIONS, EMBEDDER, limit=9)),
    "upkeep.jobs": lambda tx: [
        replace(job, id=UUID(int=0)) for job in (*tx.upkeep.jobs(), *tx.upkeep.jobs(state="waiting"))
    ],
    "upkeep.spans": lambda tx: [
        row for n in range(1, 9) for row in tx.upkeep.spans(ref_of(n, 0), ref_of(n, 9))
    ],
    "observations.near": lambda tx: list(
        tx.observations.near(UUID(int=0), UUID(int=(1 << 128) - 1), limit=99)
    ),
    "upkeep.usage": lambda tx: list(tx.upkeep.usage(date.min, date.max)),
    "observations.erased": lambda tx: list(tx.observations.erased([(identity(PORCH), 0, 9)])),
    "index.covers replaced": lambda tx: list(
        tx.index.covers([(int(ref), int(ref)) for ref in REFS], replaced=True)
    ),
    "observations.quoting": lambda tx: list(tx.observations.quoting(["the porch", "nowhere"], limit=9)),
    "request": lambda tx: tx.request(b"key", NOW),
    "audit": lambda tx: list(tx.audit()),
    "embedders": lambda tx: list(tx.embedders()),
    "holdings": lambda tx: [tx.holdings(), tx.holdings(THREAD)],
    "knowledge.skills get": lambda tx: next(iter(tx.knowledge.skills(ids=[SKILL])), None),
    "knowledge.skills list": lambda tx: [
        *tx.knowledge.skills(),
        *tx.knowledge.skills(state=SkillState.ACTIVE),
    ],
    "knowledge.skills by numbers": lambda tx: {
        kept.number: kept for kept in tx.knowledge.skills(numbers=range(9))
    },
    "knowledge.evidence": lambda tx: list(tx.knowledge.evidence(SKILL)),
    "knowledge.evidence of turns": lambda tx: dict(tx.knowledge.evidence(TURNS)),
    "knowledge.awaiting": lambda tx: list(tx.knowledge.awaiting(limit=9)),
    "knowledge.facts get": lambda tx: next(iter(tx.knowledge.facts(ids=[FACT])), None),
    "knowledge.facts by ids": lambda tx: {kept.id: kept for kept in tx.knowledge.facts(ids=[FACT])},
    "knowledge.facts by numbers": lambda tx: {
        kept.number: kept for kept in tx.knowledge.facts(numbers=range(9))
    },
    "knowledge.facts list": lambda tx: [*tx.knowledge.facts(), *tx.knowledge.facts(current=minute(99))],
    "count": lambda tx: [tx.count(what) for what in get_args(Countable)],
    "knowledge.facts of slots": lambda tx: list(tx.knowledge.facts(slots=[("Ana", "lives_in")])),
    "knowledge.facts concerning": lambda tx: list(tx.knowledge.facts(candidates=[_stated("other")])),
    "knowledge.facts resting on": lambda tx: list(tx.knowledge.facts(resting_on=[identity(f"{KITCHEN}/0")])),
    "knowledge.moves successor": lambda tx: tx.knowledge.moves(GONE).get(GONE),
    "knowledge.facts between": lambda tx: list(
        tx.knowledge.facts(between=(UUID(int=0), UUID(int=2**128 - 1)), limit=100)
    ),
    "knowledge.moves moves": lambda tx: dict(tx.knowledge.moves()),
    "knowledge.tombstones": lambda tx: [
        *tx.knowledge.tombstones(),
        *tx.knowledge.tombstones([identity("erased")]),
    ],
    "upkeep.marks": lambda tx: list(tx.upkeep.marks()),
    "upkeep.touched": lambda tx: dict(
        tx.upkeep.touched(list(MarkKind), [(int(ref), int(ref)) for ref in REFS])
    ),
    "upkeep.in_force": lambda tx: tx.upkeep.in_force(minute(99)),
    "upkeep.expired": lambda tx: list(tx.upkeep.expired([(0, int(REFS[-1]))], minute(99))),
    "upkeep.expired by time": lambda tx: list(tx.upkeep.expired(None, minute(99), limit=9)),
}


def _claimed(tx: Transaction) -> Job:
    """A job as a worker holds it, though nobody leased it: writing to it must be refused or change nothing."""
    return replace(tx.upkeep.jobs()[0], state="leased", token=99)


def _wrongly_claimed(verb: Callable[[Transaction, Job], object]) -> Verb:
    return lambda tx: verb(tx, _claimed(tx))


WRITES: Mapping[str, Verb] = {
    "threads.create": lambda tx: tx.threads.create(make_thread("attic"), make_frame("attic")),
    "threads.save": lambda tx: tx.threads.save(replace(make_thread(KITCHEN), title="written")),
    "hold threads": lambda tx: tx.hold("threads"),
    "upkeep.put timeout": lambda tx: tx.upkeep.put(OwnTimeout("written", timedelta(1))),
    "threads.save again": lambda tx: tx.threads.save(replace(tx.threads.frame(THREAD), state=b"w")),
    "observations.append": lambda tx: tx.observations.append(
        [replace(o, location=KITCHEN) for o in make_observations(KITCHEN, ["written"], first=4)]
    ),
    "observations.save_records": lambda tx: tx.observations.save_records(THREAD, {3: b"written", 0: None}),
    "observations.hash_older": lambda tx: tx.observations.hash_older(limit=9),
    "threads.rewrite_stays": lambda tx: tx.threads.rewrite_stays(THREAD, tx.threads.visits()[:1]),
    "episodes.put insert": lambda tx: tx.episodes.put(make_episode(KITCHEN, 3, 3)),
    "episodes.change": lambda tx: tx.episodes.change(PRIMARY, state=EpisodeState.COMPACTED, last_seq=2),
    "episodes.archive": lambda tx: tx.episodes.archive(THREAD, 0, 9),
    "threads.drop section": lambda tx: tx.threads.drop(THREAD, 0),
    "threads.save section": lambda tx: [
        tx.threads.save(_part("written", seq, grown=False)) for seq in (0, 2)
    ],
    "episodes.retire": lambda tx: tx.episodes.retire([EPISODE], 1),
    "episodes.revive": lambda tx: tx.episodes.revive(THREAD, 0),
    "knowledge.revoke": lambda tx: tx.knowledge.revoke(DECISION),
    "episodes.put encode": lambda tx: tx.episodes.put(_encoding("written", 2)),
    "knowledge.decide decide": lambda tx: tx.knowledge.decide(
        replace(_decision("written"), id=identity("other"))
    ),
    "knowledge.decide amend": lambda tx: tx.knowledge.decide(
        replace(_decision("written"), outcome="correct"), amend=True
    ),
    "episodes.strengthen": lambda tx: tx.episodes.strengthen(
        make_episode(KITCHEN, 0, 2), Strength(9.0, 3.0), minute(99)
    ),
    "episodes.consolidate": lambda tx: tx.episodes.consolidate([EPISODE], None),
    "episodes.consolidate again": lambda tx: tx.episodes.consolidate([EPISODE], minute(99)),
    "upkeep.put review": lambda tx: tx.upkeep.put(replace(_pending("written"), id=identity("other"))),
    "upkeep.drop reviews": lambda tx: tx.upkeep.drop(_pending("written")),
    "episodes.lead": lambda tx: tx.episodes.lead(EPISODE, PRIMARY),
    "episodes.put refusal": lambda tx: tx.episodes.put(_refusal("written")),
    "episodes.drop refusal": lambda tx: tx.episodes.drop(_refusal("written")),
    "episodes.put again": lambda tx: tx.episodes.put(_encoding("written")),
    "threads.save link": lambda tx: tx.threads.save(_link("written")),
    "threads.save joined": lambda tx: tx.threads.save(Joined(identity("other"), (*[THREAD],))),
    "index.put_postings": lambda tx: tx.index.put_postings(
        OBSERVATIONS, [posting(int(ref), "written") for ref in REFS]
    ),
    "index.put_vectors": lambda tx: tx.index.put_vectors(
        OBSERVATIONS, EMBEDDER, REFS.tolist(), random_vectors(99, len(REFS))
    ),
    "index.drop": lambda tx: tx.index.drop(OBSERVATIONS, REFS.tolist()),
    "upkeep.ask": lambda tx: tx.upkeep.ask("encode", "written", "other", now=NOW),
    "upkeep.drop claimed": _wrongly_claimed(lambda tx, job: tx.upkeep.drop(job)),
    "upkeep.put_back failed": _wrongly_claimed(
        lambda tx, job: tx.upkeep.put_back(job, error="x", retry_at=NOW + timedelta(1))
    ),
    "upkeep.put_back untried": _wrongly_claimed(lambda tx, job: tx.upkeep.put_back(job)),
    "upkeep.put_back by id": lambda tx: [
        tx.upkeep.put_back(job.id, retry_at=NOW) for job in tx.upkeep.jobs()
    ],
    "upkeep.put usage": lambda tx: tx.upkeep.put(*(_use(secret) for secret in ("written", *WORDS))),
    "knowledge.put_skill": lambda tx: tx.knowledge.put_skill(make_skill("known", "written"), TURNS),
    "observations.erase": lambda tx: tx.observations.erase(THREAD, [0, 2], NOW),
    "episodes.drop words": lambda tx: tx.episodes.drop(EPISODE, PRIMARY, words_only=True),
    "episodes.drop": lambda tx: tx.episodes.drop(EPISODE, PRIMARY),
    "threads.drop": lambda tx: tx.threads.drop(THREAD),
    "upkeep.put_back all": lambda tx: tx.upkeep.put_back(),
    "keep_request": lambda tx: tx.keep_request(b"another", b"written", now=NOW, oldest=NOW),
    "record": lambda tx: tx.record(_erasure("written")),
    "record entry": lambda tx: tx.record(_entry("written")),
    "drop_audit": lambda tx: tx.drop_audit(minute(99)),
    "knowledge.drop_skill": lambda tx: tx.knowledge.drop_skill(SKILL),
    "knowledge.note_mining": lambda tx: tx.knowledge.note_mining(REFS.tolist()),
    "knowledge.note_mining done": lambda tx: tx.knowledge.note_mining(REFS.tolist(), done=True),
    "hold facts": lambda tx: tx.hold("facts"),
    "knowledge.put_facts": lambda tx: tx.knowledge.put_facts(
        [make_fact("known", "written"), make_fact("new", "written")]
    ),
    "knowledge.move_facts drop": lambda tx: tx.knowledge.move_facts(dict.fromkeys([FACT])),
    "knowledge.move_facts moved": lambda tx: tx.knowledge.move_facts(
        {FACT: GONE, GONE: identity("fact/written")}
    ),
    "knowledge.bury": lambda tx: tx.knowledge.bury([make_tombstone("erased", "written", at=9)]),
    "upkeep.put spans": lambda tx: tx.upkeep.put(*(_work(n, "written") for n in range(1, 9))),
    "upkeep.drop spans": lambda tx: tx.upkeep.drop(before=minute(99)),
    "upkeep.put mark": lambda tx: tx.upkeep.put(Mark(0, int(REFS[-1]), MarkKind.SUPPRESSED, NOW, "written")),
    "upkeep.release": lambda tx: tx.upkeep.release(MarkKind.SUPPRESSED, 0, int(REFS[-1])),
    "upkeep.put words": lambda tx: tx.upkeep.put(SuppressedWords("written", NOW)),
    "upkeep.release words": lambda tx: [tx.upkeep.release(w.words) for w in tx.upkeep.settings().words],
    "upkeep.release expiries": lambda tx: tx.upkeep.release(REFS.tolist()),
    "upkeep.put retention": lambda tx: tx.upkeep.put(OwnRetention("none")),
    "upkeep.take_turn": lambda tx: tx.upkeep.take_turn(minute(99), timedelta(minutes=1)),
    "upkeep.put retention again": lambda tx: tx.upkeep.put(OwnRetention(tx.upkeep.settings().retention)),
    "upkeep.drop waiting": lambda tx: [tx.upkeep.drop(job.id) for job in tx.upkeep.jobs()],
}


def everything(store: Store, scope: Scope) -> dict[str, object]:
    """Return the answer of every read verb in a scope."""
    with store.begin(scope, write=False) as tx:
        return {name: read(tx) for name, read in READS.items()}
