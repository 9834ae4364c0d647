"""Random programs: whatever is written, rolled back and read, the store equals a plain model in memory.

The model is dictionaries that are copied when a transaction begins and put back when it fails. A program is
a list of transactions in two scopes; after each one everything readable is compared, by two stores on the
same data (the second one's copies of index rows lag behind and must catch up).
"""

import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from uuid import UUID

import numpy as np
import pytest
from builders.examples import share
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from stores.builders import (
    ANA,
    BO,
    episode_mark_of,
    identity,
    make_episode,
    make_frame,
    make_observations,
    make_thread,
    minute,
    posting,
    random_vectors,
)
from stores.conformance import make_encoding
from stores.conformance_index import assert_bm25, assert_cosines, put
from stores.postgres_server import Databases, open_postgres

from episodic_agent.core.places import visits_of
from episodic_agent.errors import Conflict
from episodic_agent.protocols import EPISODES, OBSERVATIONS, Posting, Store, Transaction, ref_of
from episodic_agent.schemas import Encoding, Episode, Frame, Job, Observation, Scope, Thread, Vector
from episodic_agent.stores.sqlite import SqliteStore

NAMES = ("kitchen", "attic")
TEXTS = ("tea", "tea rain", "猫 rain rain", "door", "")
PLACES = {"tea": "Hall", "tea rain": "hall ", "猫 rain rain": "猫", "door": None, "": "unknown"}


@dataclass
class Model:
    """What one scope holds."""

    threads: dict[UUID, Thread] = field(default_factory=dict)
    frames: dict[UUID, Frame] = field(default_factory=dict)
    numbers: dict[UUID, int] = field(default_factory=dict)
    observations: dict[UUID, list[Observation]] = field(default_factory=dict)
    records: dict[tuple[UUID, int], bytes] = field(default_factory=dict)
    episodes: dict[UUID, Episode] = field(default_factory=dict)
    encodings: dict[tuple[UUID, int], Encoding] = field(default_factory=dict)
    postings: dict[tuple[str, int], Posting] = field(default_factory=dict)
    vectors: dict[tuple[str, int], Vector] = field(default_factory=dict)
    waiting: dict[tuple[str, str], float] = field(default_factory=dict)


# --- operations: each does the same to the store and to the model ---------------------------------------


@dataclass(frozen=True)
class Create:
    name: str

    def run(self, tx: Transaction, model: Model) -> None:
        thread, frame = make_thread(self.name), make_frame(self.name)
        if thread.id in model.threads:
            with pytest.raises(Conflict):
                tx.threads.create(thread, frame)
            return
        tx.threads.create(thread, frame)
        model.threads[thread.id], model.frames[thread.id] = thread, frame
        model.observations[thread.id] = []
        model.numbers[thread.id] = tx.threads.number(thread.id)


@dataclass(frozen=True)
class Append:
    name: str
    texts: tuple[str, ...]
    skip: int  # 0 fits, others leave a gap or overlap

    def run(self, tx: Transaction, model: Model) -> None:
        thread = identity(self.name)
        if thread not in model.threads or not self.texts:
            return
        held = model.observations[thread]
        if len(held) + self.skip < 0:
            return
        steps = make_observations(self.name, self.texts, first=len(held) + self.skip)
        chunk = [replace(step, location=PLACES[step.text]) for step in steps]
        if self.skip:
            with pytest.raises(Conflict):
                tx.observations.append(chunk)
            return
        tx.observations.append(chunk)
        frame = replace(model.frames[thread], next_seq=len(held) + len(chunk))
        tx.threads.save(frame)
        held.extend(chunk)
        model.frames[thread] = replace(frame, version=frame.version + 1)
        tx.observations.save_records(thread, {chunk[0].seq: self.name.encode()})
        model.records[thread, chunk[0].seq] = self.name.encode()


@dataclass(frozen=True)
class Cut:
    name: str

    def run(self, tx: Transaction, model: Model) -> None:
        thread = identity(self.name)
        first = max((e.last_seq + 1 for e in current(model, thread)), default=0)
        if len(model.observations.get(thread, [])) <= first:
            return
        generation = model.threads[thread].generation
        episode = make_episode(self.name, first, len(model.observations[thread]) - 1, generation=generation)
        for _ in range(2):
            tx.episodes.put(episode)
        model.episodes[episode.id] = episode


@dataclass(frozen=True)
class Retire:
    """Begin a generation: one episode covers what the chosen ones did (they lie side by side)."""

    name: str
    first: int
    count: int

    def run(self, tx: Transaction, model: Model) -> None:
        thread = identity(self.name)
        cover = current(model, thread)[self.first :][: self.count]
        if not cover:
            return
        generation = model.threads[thread].generation + 1
        tx.episodes.retire([e.id for e in cover], generation)
        for episode in cover:
            model.episodes[episode.id] = replace(episode, generation_to=generation)
        new = make_episode(self.name, cover[0].first_seq, cover[-1].last_seq, generation=generation)
        tx.episodes.put(new)
        model.episodes[new.id] = new
        model.threads[thread] = replace(model.threads[thread], generation=generation)
        tx.threads.save(model.threads[thread])


@dataclass(frozen=True)
class Revive:
    name: str

    def run(self, tx: Transaction, model: Model) -> None:
        thread = identity(self.name)
        if thread not in model.threads or not model.threads[thread].generation:
            return
        generation = model.threads[thread].generation
        tx.episodes.revive(thread, generation)
        for episode in [e for e in model.episodes.values() if e.thread_id == thread]:
            if episode.generation_from >= generation:
                del model.episodes[episode.id]
                model.encodings = {k: e for k, e in model.encodings.items() if k[0] != episode.id}
            elif episode.generation_to == generation:
                model.episodes[episode.id] = replace(episode, generation_to=None)
        model.threads[thread] = replace(model.threads[thread], generation=generation - 1)
        tx.threads.save(model.threads[thread])


def current(model: Model, thread: UUID) -> list[Episode]:
    episodes = [e for e in model.episodes.values() if e.thread_id == thread and e.generation_to is None]
    return sorted(episodes, key=lambda e: e.first_seq)


@dataclass(frozen=True)
class Encode:
    which: int
    version: int

    def run(self, tx: Transaction, model: Model) -> None:
        if not model.episodes:
            return
        episode = list(model.episodes.values())[self.which % len(model.episodes)]
        encoding = make_encoding(episode.id, self.version)
        tx.episodes.put(encoding)
        model.encodings[episode.id, self.version] = encoding
        newest = max(version for held, version in model.encodings if held == episode.id)
        words = model.encodings[episode.id, newest]
        model.episodes[episode.id] = replace(
            episode,
            title=words.title,
            summary=words.summary,
            metadata=words.metadata,
            encoding_version=newest,
            encoded_by=words.by,
        )


@dataclass(frozen=True)
class Index:
    kind: str
    refs: tuple[int, ...]
    text: str

    def run(self, tx: Transaction, model: Model) -> None:
        documents = [posting(ref, self.text) for ref in self.refs]
        tx.index.put_postings(self.kind, documents)
        model.postings.update({(self.kind, document.ref): document for document in documents})


@dataclass(frozen=True)
class Embed:
    kind: str
    refs: tuple[int, ...]
    seed: int

    def run(self, tx: Transaction, model: Model) -> None:
        held = [(ref, random_vectors(self.seed + ref, 1 + (ref + self.seed) % 3)) for ref in self.refs]
        if held:
            put(tx, held, self.kind)
        model.vectors.update({(self.kind, ref): rows for ref, rows in held})


@dataclass(frozen=True)
class Drop:
    kind: str
    refs: tuple[int, ...]

    def run(self, tx: Transaction, model: Model) -> None:
        tx.index.drop(self.kind, self.refs)
        for ref in self.refs:
            model.postings.pop((self.kind, ref), None)
            model.vectors.pop((self.kind, ref), None)


@dataclass(frozen=True)
class Ask:
    kind: str
    key: str
    at: int

    def run(self, tx: Transaction, model: Model) -> None:
        tx.upkeep.ask(self.kind, self.key, self.key, now=minute(self.at))
        request = (self.kind, self.key)
        model.waiting[request] = min(model.waiting.get(request, self.at), self.at)


@dataclass(frozen=True)
class Look:
    """Search in the middle of a transaction, so that later writes meet copies in use."""

    def run(self, tx: Transaction, model: Model) -> None:
        compare_index(tx, model)


Operation = Create | Append | Cut | Retire | Revive | Encode | Index | Embed | Drop | Ask | Look

# --- comparing ------------------------------------------------------------------------------------------


def compare_index(tx: Transaction, model: Model) -> None:
    for kind in (OBSERVATIONS, EPISODES):
        assert_bm25(tx, {ref: p for (k, ref), p in model.postings.items() if k == kind}, kind)
        held = [(ref, rows) for (k, ref), rows in model.vectors.items() if k == kind]
        if held:
            assert_cosines(tx, held, kind)
        bare = [
            r
            for (k, r), p in model.postings.items()
            if k == kind and p.length and (k, r) not in model.vectors
        ]
        assert list(tx.index.unindexed(kind, "small", limit=99)) == sorted(bare)


def compare(store: Store, scope: Scope, model: Model) -> None:
    with store.begin(scope, write=False) as tx:
        assert {t.id: t for t in tx.threads.list()} == model.threads
        for thread, held in model.observations.items():
            assert tx.threads.number(thread) == model.numbers[thread]
            assert tx.threads.frame(thread) == model.frames[thread]
            assert tx.observations.read(thread, 0, 999) == held
            assert tx.observations.records(thread, 0, 999) == {
                s: r for (t, s), r in model.records.items() if t == thread
            }
            compare_cover(tx, thread, model)
        everything = [o for held in model.observations.values() for o in held]
        assert tx.count("observations") == len(everything)
        assert tx.observations.last_at() == max((o.at for o in everything), default=None)
        assert tx.observations.known([o.id for o in everything]).keys() == {o.id for o in everything}
        assert len(tx.index.between(minute(1), minute(4), limit=99)) == sum(
            1 <= o.seq < 4 for o in everything
        )
        for episode in model.episodes:
            versions = [e for (held_id, _), e in sorted(model.encodings.items()) if held_id == episode]
            assert tx.episodes.encodings(episode) == versions
        assert tx.episodes.get(list(model.episodes)) == model.episodes
        shown = [e for e in model.episodes.values() if e.generation_to is None]
        recent = sorted(shown, key=lambda e: (-e.end_at.timestamp(), e.id.bytes))
        assert tx.count("episodes") == len(shown)
        assert tx.episodes.list(limit=99) == recent
        visits = {t: visits_of(n, model.observations[t]) for t, n in model.numbers.items()}
        assert tx.threads.visits() == sorted(stay for of in visits.values() for stay in of)
        assert all(tx.threads.visits(thread_id=thread) == of for thread, of in visits.items())
        asked = {(job.kind, job.key): job.run_after for job in tx.upkeep.jobs()}
        assert asked == {request: minute(at) for request, at in model.waiting.items()}
        compare_index(tx, model)


def compare_cover(tx: Transaction, thread: UUID, model: Model) -> None:
    cover = current(model, thread)
    assert tx.episodes.list(threads=[thread]) == cover
    for generation in range(model.threads[thread].generation + 1):
        held = [
            e
            for e in model.episodes.values()
            if e.thread_id == thread and e.generation_from <= generation
            and (e.generation_to is None or e.generation_to > generation)
        ]  # fmt: skip
        assert tx.episodes.list(threads=[thread], generation=generation) == sorted(
            held, key=lambda e: e.first_seq
        )
    seqs = range(len(model.observations[thread]) + 1)
    owners = [next((e for e in cover if e.first_seq <= seq <= e.last_seq), None) for seq in seqs]
    number = model.numbers[thread]
    refs = [ref_of(number, seq) for seq in seqs]
    marks = [e and episode_mark_of(ref_of(number, e.first_seq), e) for e in owners]
    owned = {ref: mark for ref, mark in zip(refs, marks, strict=True) if mark is not None}
    assert tx.index.episode_marks(np.array(refs), covering=True) == owned
    for first, last in ((0, 0), (1, 2), (2, 6), (0, len(seqs))):
        inside = [e for e in cover if e.first_seq <= last and e.last_seq >= first]
        covers = tx.index.covers([(ref_of(number, first), ref_of(number, last))])
        assert [(c.name, c.first_ref, c.last_ref) for c in covers] == [
            (e.id.hex, ref_of(number, e.first_seq), ref_of(number, e.last_seq)) for e in inside
        ]
    assert list(tx.episodes.get(refs).values()) == cover


# --- programs -------------------------------------------------------------------------------------------

names = st.sampled_from(NAMES)
kinds = st.sampled_from((OBSERVATIONS, EPISODES))
refs = st.lists(st.integers(0, 12), max_size=5, unique=True).map(tuple)
operations = st.one_of(
    st.builds(Create, names),
    st.builds(
        Append,
        names,
        st.lists(st.sampled_from(TEXTS), max_size=4).map(tuple),
        st.sampled_from((0, 0, 0, 1, -1)),
    ),
    st.builds(Cut, names),
    st.builds(Retire, names, st.integers(0, 2), st.integers(1, 3)),
    st.builds(Revive, names),
    st.builds(Encode, st.integers(0, 5), st.integers(1, 3)),
    st.builds(Index, kinds, refs, st.sampled_from(TEXTS)),
    st.builds(Embed, kinds, refs, st.integers(0, 50)),
    st.builds(Drop, kinds, refs),
    st.builds(Ask, names, names, st.integers(0, 9)),
    st.builds(Look),
)


@dataclass(frozen=True)
class Block:
    scope: Scope
    operations: Sequence[Operation]
    kept: bool

    def end(self) -> None:
        if not self.kept:
            raise InterruptedError


blocks = st.builds(
    Block,
    st.sampled_from((ANA, ANA, BO)),
    st.lists(operations, max_size=6),
    st.sampled_from((True, True, False)),
)
opening = Block(ANA, [Create("kitchen"), Append("kitchen", TEXTS, 0), Cut("kitchen")], kept=True)
programs = st.lists(blocks, min_size=1, max_size=7).map(lambda program: [opening, *program])


def run_block(store: Store, block: Block, model: Model) -> Model:
    """Run a transaction and return the model as it must be afterwards."""
    changed = copy.deepcopy(model)
    try:
        with store.begin(block.scope) as tx:
            for operation in block.operations:
                operation.run(tx, changed)
            compare_index(tx, changed)
            block.end()
    except InterruptedError:
        return model
    return changed


def run_program(open_store: Callable[[], Store], program: Sequence[Block]) -> None:
    store, lagging = open_store(), open_store()
    models = {ANA: Model(), BO: Model()}
    for step, block in enumerate(program):
        models[block.scope] = run_block(store, block, models[block.scope])
        for scope, model in models.items():
            compare(store, scope, model)
            if step % 3 == 2:
                compare(lagging, scope, model)
    for scope, model in models.items():
        compare(lagging, scope, model)
    assert store.check() == []
    store.close()
    lagging.close()


# --- both stores ----------------------------------------------------------------------------------------

Fresh = Callable[[], AbstractContextManager[Callable[[], Store]]]
"""Makes an empty database for one example; what it gives opens stores on it."""


@pytest.fixture(scope="module")
def fresh_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Fresh:
    @contextmanager
    def make() -> Iterator[Callable[[], Store]]:
        path = tmp_path_factory.mktemp("program") / "memory.db"
        yield lambda: SqliteStore(path, synchronous="off")

    return make


@pytest.fixture(scope="module")
def fresh_postgres(postgres: Databases) -> Fresh:
    @contextmanager
    def make() -> Iterator[Callable[[], Store]]:
        name = postgres.ready()
        yield lambda: open_postgres(postgres.url(name))
        postgres.drop(name)

    return make


quick = settings(
    max_examples=share(40), deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
quick_on_a_server = settings(quick, max_examples=share(6))
long = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
long_on_a_server = settings(long, max_examples=15)
long_programs = st.lists(blocks, min_size=5, max_size=25).map(lambda program: [opening, *program])


@pytest.mark.slow
@given(program=programs)
@quick
def test_a_random_program_leaves_sqlite_as_the_model_says(fresh_sqlite: Fresh, program: list[Block]) -> None:
    with fresh_sqlite() as open_store:
        run_program(open_store, program)


@given(program=programs)
@quick_on_a_server
def test_a_random_program_leaves_postgres_as_the_model_says(
    fresh_postgres: Fresh, program: list[Block]
) -> None:
    with fresh_postgres() as open_store:
        run_program(open_store, program)


@pytest.mark.slow
@given(program=long_programs)
@long
def test_long_random_programs_leave_sqlite_as_the_model_says(
    fresh_sqlite: Fresh, program: list[Block]
) -> None:
    with fresh_sqlite() as open_store:
        run_program(open_store, program)


@pytest.mark.slow
@given(program=long_programs)
@long_on_a_server
def test_long_random_programs_leave_postgres_as_the_model_says(
    fresh_postgres: Fresh, program: list[Block]
) -> None:
    with fresh_postgres() as open_store:
        run_program(open_store, program)


# --- jobs: the same for claims, leases and failures -----------------------------------------------------

LEASE = timedelta(minutes=10)


@dataclass
class Held:
    """A job in the model."""

    kind: str
    key: str
    due: int
    attempts: int = 0
    state: str = "waiting"
    until: int = 0


job_steps = st.lists(
    st.tuples(
        st.sampled_from(("put", "put", "claim", "finish", "fail", "give up", "wait")), st.integers(0, 5)
    ),
    max_size=40,
)


@given(steps=job_steps)
@quick
def test_a_random_history_of_jobs_loses_none_and_does_none_twice_in_sqlite(
    fresh_sqlite: Fresh, steps: list[tuple[str, int]]
) -> None:
    with fresh_sqlite() as open_store:
        run_history(open_store(), steps)


@given(steps=job_steps)
@quick_on_a_server
def test_a_random_history_of_jobs_loses_none_and_does_none_twice_in_postgres(
    fresh_postgres: Fresh, steps: list[tuple[str, int]]
) -> None:
    with fresh_postgres() as open_store:
        run_history(open_store(), steps)


@pytest.mark.slow
@given(steps=job_steps)
@long_on_a_server
def test_many_histories_of_jobs_lose_none_and_do_none_twice_in_postgres(
    fresh_postgres: Fresh, steps: list[tuple[str, int]]
) -> None:
    with fresh_postgres() as open_store:
        run_history(open_store(), steps)


def run_history(store: Store, steps: Sequence[tuple[str, int]]) -> None:
    now, held, claimed = 0, list[Held](), list[tuple[Job, Held]]()
    for verb, pick in steps:
        if verb == "wait":
            now += pick
        elif verb == "put":
            ask(store, held, key=str(pick % 3), now=now)
        elif verb == "claim":
            claim(store, held, claimed, now)
        elif claimed:
            job, mine = claimed.pop(pick % len(claimed))
            end(store, held, (job, mine), verb, now + pick)
        with store.begin(ANA, write=False) as tx:
            results = sorted((j.key, j.state, j.attempts) for j in tx.upkeep.jobs())
        assert results == sorted((h.key, h.state, h.attempts) for h in held)
    store.close()


def ask(store: Store, held: list[Held], *, key: str, now: int) -> None:
    with store.begin(ANA) as tx:
        tx.upkeep.ask("note", key, "serial " + key, now=minute(now))
    if not any(h.key == key and h.state == "waiting" for h in held):
        held.append(Held("note", key, now))


def put_back(held: list[Held], job: Held, due: int) -> None:
    duplicates = [h for h in held if h is not job and h.key == job.key and h.state == "waiting"]
    for duplicate in duplicates:
        held.remove(duplicate)
    job.state, job.due = "waiting", due


def claim(store: Store, held: list[Held], claimed: list[tuple[Job, Held]], now: int) -> None:
    taken = store.claim("elsewhere:1:1", now=minute(now), lease=LEASE)
    expired = [h for h in held if h.state == "leased" and h.until <= now]
    busy = {h.key for h in held if h.state == "leased" and h not in expired}
    free = {h.key for h in held if h.state == "waiting" and h.due <= now and h.key not in busy}
    free |= {h.key for h in expired}
    assert (taken is not None) == bool(free)
    if taken is None:
        return
    for job in expired:
        put_back(held, job, job.due)
    job = taken[1][0]
    mine = next(
        h for h in held if h.key == job.key and h.state == "waiting" and h.attempts == job.attempts - 1
    )
    assert mine.due == min(h.due for h in held if h.state == "waiting" and h.key in free)
    mine.state, mine.attempts, mine.until = "leased", job.attempts, now + LEASE // timedelta(minutes=1)
    claimed.append((job, mine))


def end(store: Store, held: list[Held], claim: tuple[Job, Held], verb: str, later: int) -> None:
    job, mine = claim
    ours = mine in held and mine.state == "leased" and mine.attempts == job.attempts
    try:
        with store.begin(ANA) as tx:
            if verb == "finish":
                tx.upkeep.drop(job)
            else:
                tx.upkeep.put_back(job, error="bad", retry_at=minute(later) if verb == "fail" else None)
    except Conflict:
        assert not ours
        return
    assert ours
    if verb == "finish":
        held.remove(mine)
    elif verb == "fail":
        put_back(held, mine, later)
    else:
        mine.state = "dead"
