"""Random programs of everything a memory can go through; afterwards every invariant must hold (docs/internals/invariants.md).

A program adds (in batches, twice, late, from several threads), flushes, lets time pass, reopens, changes the
policy; meanwhile the embedder fails for a while and a language model answers, refuses or is not there.
"""

import json
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from builders.examples import share
from builders.steps import step_fields
from engine.crash_child import episodes_of
from hypothesis import HealthCheck, Phase, event, given, settings
from hypothesis import strategies as st

from episodic_agent.core.boundary import policies
from episodic_agent.core.boundary.contract import Arrival
from episodic_agent.core.boundary.machine import replay as replay_inputs
from episodic_agent.data import demo_folder
from episodic_agent.engine.boundary.explain import ExplainedSpan, read_records, replay, stored_inputs
from episodic_agent.engine.boundary.generations import last_resegmenting, read_pass
from episodic_agent.engine.boundary.resegmenting import segment
from episodic_agent.engine.deps import Deps
from episodic_agent.engine.memory import Memory
from episodic_agent.errors import BadReply, InvalidInput, NotFound, ProviderUnavailable
from episodic_agent.protocols import Transaction
from episodic_agent.providers.embedders.hashing import HashingEmbedder
from episodic_agent.schemas import Frame, Scope, Vector
from episodic_agent.stores.lease import process_owner
from episodic_agent.stores.sqlite import SqliteStore
from episodic_agent.testing.models import Answer, ScriptedModel

BASE = datetime(2025, 4, 1, 9, tzinfo=UTC)
POLICIES = ("default", "seed-001", "seed-001?min_messages=1&min_characters=10")
STEP_POLICIES = (
    "stub?freeze_interval=4",
    "seed-000?high_threshold=0.5&time_interval=3",
    "steps?min_steps=2&time_interval=6",
    "steps-2026-12?min_steps=2&time_interval=6",
)
PASSES = (*POLICIES, *STEP_POLICIES, "default?threshold=0.15", "default?max_length=5")
USERS, THREADS = ("ana", "bo"), ("kitchen", "work", "robot")
ROBOT = "robot"  # a thread of an agent's steps; in the others people talk
DEMO = demo_folder()
SENTENCES = [
    json.loads(line)["content"]
    for chat in sorted(DEMO.glob("*.jsonl"))
    for line in chat.read_text(encoding="utf-8").splitlines()
]
LETTERS = "bdfgklmnpr"
ALL_DAY = timedelta(days=1)


def word_of(number: int) -> str:
    """Make a word that stands in one message only.

    >>> word_of(17)
    'zodanagok'
    """
    return "zo" + "".join(f"{LETTERS[int(digit)]}a" for digit in str(number)) + "gok"


# --- the world a program runs in ------------------------------------------------------------------------


@dataclass
class FlakyEmbedder:
    """The hashing embedder, which may be away."""

    inner: HashingEmbedder = field(default_factory=lambda: HashingEmbedder(64))
    away: bool = False
    meanwhile: Callable[[], None] | None = None  # what happens once while it embeds

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def dimensions(self) -> int:
        return self.inner.dimensions

    def embed(self, texts: Sequence[str]) -> Vector:
        if self.away:
            raise ProviderUnavailable("the embedder is away")
        meanwhile, self.meanwhile = self.meanwhile, None
        if meanwhile is not None:
            meanwhile()
        return self.inner.embed(texts)


@dataclass
class Oracle:
    """What the language model says just now: yes, no, nonsense or nothing; None: there is no model."""

    mood: str | None = None
    answered: bool = False
    consolidates: bool = False

    def respond(self, _prompt: str, stage: str) -> Answer:
        if self.mood == "nonsense":
            return BadReply("that is no verdict")
        if self.mood in {None, "away"} and not (stage == "facts" and self.consolidates):
            return ProviderUnavailable("the model is away")
        if stage == "facts":
            return {"expected": "", "facts": []}
        self.answered = True
        return {
            "is_boundary": self.mood == "yes",
            "confidence": 0.9,
            "signals": {"topic_shift": 0.8},
            "updated_event_model": None if self.mood == "yes" else "they talk about the kitchen",
        }


@dataclass
class World:
    """A memory with everything around it, and what it was given."""

    path: Path
    policy: str = "default"
    model: bool = False
    now: datetime = BASE
    embedder: FlakyEmbedder = field(default_factory=FlakyEmbedder)
    oracle: Oracle = field(default_factory=Oracle)
    said: dict[tuple[str, str], list[dict[str, Any]]] = field(default_factory=dict)
    policies: set[str] = field(default_factory=set)
    closed_blind: bool = False  # a flush or tick had to close what had no vectors yet
    closed: bool = False  # a flush or tick closed something
    parallel: bool = False
    number: int = 0

    def __post_init__(self) -> None:
        self.open()

    def open(self) -> None:
        self.policies.add(self.policy)
        self.store = SqliteStore(self.path, synchronous="off")
        model = ScriptedModel(respond=self.oracle.respond) if self.model else None
        deps = Deps(
            store=self.store,
            embedder=self.embedder,
            policy=self.policy,
            resolve_policy=policies.policy,
            clock=lambda: self.now,
            entropy=lambda bits: self.number % (1 << bits),
            owner=process_owner(),
            language_model=model,
        )
        self.memory = Memory(deps)

    def reopen(self, policy: str | None = None) -> None:
        self.memory.close()
        self.policy = policy or self.policy
        self.open()

    def messages(
        self, user: str, thread: str, plan: "Sequence[tuple[int, int | None]]"
    ) -> list[dict[str, Any]]:
        """Make messages of (sentence, minutes since the last one, None: no time), each with a word of its own."""
        answers = self.said.setdefault((user, thread), [])
        made = []
        for sentence, minutes in plan:
            last = next((m["timestamp"] for m in reversed([*answers, *made]) if "timestamp" in m), BASE)
            message = {
                "id": f"{len(answers) + len(made)}",  # the same ids in every thread and of every user
                "name": ("Maya", "Dele", "Per")[sentence % 3],
                **(step_fields(sentence) if thread == ROBOT else {}),
                "content": f"{SENTENCES[sentence % len(SENTENCES)]} {word_of(self.number)}",
            }
            if minutes is not None:
                message["timestamp"] = last + timedelta(minutes=minutes)
            self.number += 1
            made.append(message)
        answers.extend(made)
        return made

    def add(self, user: str, thread: str, messages: Sequence[Mapping[str, Any]]) -> None:
        self.now += timedelta(seconds=1)
        receipts = self.memory.user(user).add(messages, thread=thread)
        assert len(receipts) == len(messages)

    def blind(self) -> bool:
        """Tell whether any frame waits for a vector."""
        frames = [
            frame for tx in self.scopes() for frame in (tx.threads.frame(t.id) for t in tx.threads.list())
        ]
        return any(f.cursor < f.next_seq and f.question is None for f in frames) or self.embedder.away

    def scopes(self) -> Iterator[Transaction]:
        for scope in self.store.scopes():
            with self.store.begin(scope, write=False) as tx:
                yield tx

    def settle(self) -> None:
        """Let everybody come back and all that waits be done."""
        self.embedder.away, self.oracle.consolidates = False, True
        for _ in range(400):  # a question takes three rounds of a model that talks nonsense
            self.now += ALL_DAY
            if not self.memory.jobs.run() and not self.store.waiting():
                return
        raise AssertionError(f"{self.store.waiting()} jobs never end")


@contextmanager
def world(policy: str = "default", *, model: bool = False) -> Iterator[World]:
    with tempfile.TemporaryDirectory(prefix="episodic-") as folder:
        made = World(Path(folder) / "memory.db", policy, model)
        try:
            yield made
        finally:
            made.memory.close()


# --- programs -------------------------------------------------------------------------------------------

Plan = tuple[tuple[int, int | None], ...]


@dataclass(frozen=True)
class Add:
    user: str
    thread: str
    plan: Plan
    again: int  # how many of the messages before come once more, in the same call

    def run(self, w: World) -> None:
        before = list(w.said.get((self.user, self.thread), ()))[-self.again :] if self.again else []
        w.add(self.user, self.thread, [*before, *w.messages(self.user, self.thread, self.plan)])


@dataclass(frozen=True)
class AddTogether:
    """Several threads of the process add to one thread of the memory at once, partly the same messages."""

    user: str
    thread: str
    plans: tuple[Plan, ...]

    def run(self, w: World) -> None:
        parts = [w.messages(self.user, self.thread, plan) for plan in self.plans]
        shared = parts[0][:2]
        failed: list[Exception] = []

        def add(messages: Sequence[Mapping[str, Any]]) -> None:
            try:
                w.memory.user(self.user).add([*messages, *shared], thread=self.thread)
            except Exception as error:  # noqa: BLE001 - whatever it is, it is shown in the main thread
                failed.append(error)

        threads = [threading.Thread(target=add, args=(part,)) for part in parts]
        for item in threads:
            item.start()
        for item in threads:
            item.join()
        assert failed == []
        w.parallel = True


@dataclass(frozen=True)
class AddBlank:
    user: str
    thread: str

    def run(self, w: World) -> None:
        bad = [{"content": "this one is fine", "id": "fine"}, {"content": " \n", "id": "blank"}]
        with pytest.raises(InvalidInput, match="item 2: the text is empty"):
            w.memory.user(self.user).add(bad, thread=self.thread)


@dataclass(frozen=True)
class Flush:
    user: str

    def run(self, w: World) -> None:
        if Scope(self.user) in w.store.scopes():
            w.closed_blind |= w.blind()
            w.closed |= w.memory.user(self.user).flush() > 0


@dataclass(frozen=True)
class Upkeep:
    hours: int

    def run(self, w: World) -> None:
        w.now += timedelta(hours=self.hours)
        blind = w.blind()
        if w.memory.upkeep():
            w.closed_blind |= blind
            w.closed = True


@dataclass(frozen=True)
class Reopen:
    policy: str | None

    def run(self, w: World) -> None:
        w.reopen(self.policy)


@dataclass(frozen=True)
class EmbedderIs:
    away: bool

    def run(self, w: World) -> None:
        w.embedder.away = self.away


@dataclass(frozen=True)
class ModelIs:
    mood: str

    def run(self, w: World) -> None:
        w.oracle.mood = self.mood


@dataclass(frozen=True)
class Work:
    minutes: int

    def run(self, w: World) -> None:
        w.now += timedelta(minutes=self.minutes)
        w.memory.jobs.run()


@dataclass(frozen=True)
class Resegment:
    user: str
    thread: str
    policy: str | None
    whole: bool

    def run(self, w: World) -> None:
        if (self.user, self.thread) not in w.said:
            return
        with w.store.begin(Scope(self.user), write=False) as tx:
            thread = tx.threads.get(self.thread)
        assert thread is not None
        wrong = thread.modality == "step" and (self.policy or "").startswith("default?")
        if wrong or not policies.is_for(self.policy or "default", thread.modality):
            with pytest.raises(InvalidInput, match=r"has no parameter|not for"):
                w.memory.user(self.user).boundaries.resegment(self.thread, self.policy, complete=self.whole)
            return
        w.memory.user(self.user).boundaries.resegment(self.thread, self.policy, complete=self.whole)


@dataclass(frozen=True)
class UndoResegment:
    user: str
    thread: str

    def run(self, w: World) -> None:
        if (self.user, self.thread) not in w.said or w.embedder.away:
            return
        with w.store.begin(Scope(self.user), write=False) as tx:
            thread = tx.threads.get(self.thread)
        assert thread is not None
        if thread.generation:
            w.closed_blind |= w.blind()
            done = w.memory.user(self.user).boundaries.undo(self.thread)
            assert done.generation == thread.generation - 1
        else:
            with pytest.raises(NotFound, match="nothing to undo"):
                w.memory.user(self.user).boundaries.undo(self.thread)


PLANS = st.lists(
    st.tuples(
        st.integers(0, len(SENTENCES) - 1), st.sampled_from([0, 1, 1, 2, 5, 20, 90, 500, 3000, -30, None])
    ),
    min_size=1,
    max_size=9,
).map(tuple)
WHOSE = {"user": st.sampled_from(USERS), "thread": st.sampled_from(THREADS)}
ADDS = st.builds(Add, plan=PLANS, again=st.integers(0, 3), **WHOSE)
TOGETHER = st.builds(AddTogether, plans=st.lists(PLANS, min_size=2, max_size=3).map(tuple), **WHOSE)
OPERATIONS = st.one_of(
    ADDS,
    ADDS,
    ADDS,
    TOGETHER,
    st.builds(AddBlank, **WHOSE),
    st.builds(Flush, user=st.sampled_from(USERS)),
    st.builds(Upkeep, hours=st.sampled_from([1, 7, 100])),
    st.builds(Reopen, policy=st.none() | st.sampled_from((*POLICIES, *STEP_POLICIES))),
    st.builds(EmbedderIs, away=st.booleans()),
    st.builds(ModelIs, mood=st.sampled_from(["yes", "no", "nonsense", "away"])),
    st.builds(Work, minutes=st.sampled_from([0, 1, 60])),
    st.builds(Resegment, policy=st.none() | st.sampled_from(PASSES), whole=st.booleans(), **WHOSE),
    st.builds(UndoResegment, **WHOSE),
)
PROGRAMS = st.lists(OPERATIONS, min_size=3, max_size=14)


# --- what must hold -------------------------------------------------------------------------------------


def check(w: World) -> None:
    """Check everything that must hold when nothing waits any more."""
    w.settle()
    assert [f for f in w.memory.doctor() if f.severity == "error"] == []
    for tx in w.scopes():
        assert tx.upkeep.jobs() == []
        for thread in tx.threads.list():
            assert_taken_in(w, tx, thread.id, thread.origin)
            if len(w.policies) == 1 and not w.oracle.answered and not w.closed_blind:
                (assert_gone_on if thread.generation else assert_replayed)(w, tx, thread.id)
    assert_found(w)
    assert_apart(w)


def assert_taken_in(w: World, tx: Transaction, thread: Any, origin: str) -> None:
    """I1 and I10: what was given is there once, in order, and in exactly one episode or the frame."""
    given_ids = [m["id"] for m in w.said[tx.scope.user_id, origin]]
    stored = [o.external_id for o in tx.observations.read(thread, 0, 1 << 31)]
    assert sorted(stored, key=str) == sorted(given_ids, key=str)
    assert w.parallel or stored == given_ids
    frame = tx.threads.frame(thread)
    assert (frame.cursor, frame.question) == (frame.next_seq, None)
    covered = [seq for e in tx.episodes.list(threads=[thread]) for seq in range(e.first_seq, e.last_seq + 1)]
    assert covered == list(range(frame.first_seq))
    records = read_records(tx, thread, 0, frame.next_seq)
    decided = frame.first_seq if frame.policy.startswith("default") else frame.next_seq
    assert w.closed_blind or set(records) >= set(range(decided))  # every check left a record (I6)


def policy_for(w: World, tx: Transaction, thread: Any) -> Any:
    """Return the policy of the world's memory as the thread's modality reads it."""
    matching_thread = tx.threads.get(thread)
    assert matching_thread is not None
    return policies.policy(policies.policy_for(w.policy, matching_thread.modality))


def assert_replayed(w: World, tx: Transaction, thread: Any) -> None:
    """I6 and I7: the recorded inputs give the same episodes and the same records again."""
    again = replay(tx, thread, policy_for(w, tx, thread), w.embedder.name)
    frame = tx.threads.frame(thread)
    spans = [ExplainedSpan(e.first_seq, e.last_seq, e.reason) for e in tx.episodes.list(threads=[thread])]
    if frame.first_seq < frame.next_seq:
        spans.append(ExplainedSpan(frame.first_seq, frame.next_seq - 1, "open"))
    assert list(again.spans) == spans
    assert {r.seq: r for r in again.records} == read_records(tx, thread, 0, frame.next_seq)


def assert_gone_on(w: World, tx: Transaction, thread: Any) -> None:
    """I7 after a resegmentation: its pass, repeated, and what came after it give the same episodes again."""
    matching_thread = tx.threads.get(thread)
    assert matching_thread is not None
    decision = last_resegmenting(tx, matching_thread)
    assert decision is not None
    made, policy = read_pass(decision), policy_for(w, tx, thread)
    if made.policy != policy.name:
        return  # it went over to the memory's policy at some cut
    before = stored_inputs(tx, thread, w.embedder.name, made.end)
    inputs = list(stored_inputs(tx, thread, w.embedder.name))
    count = len(list(before))
    if count and not isinstance(inputs[count - 1], Arrival) and made.first_seq < made.end:
        count -= 1
    if sum(isinstance(i, Arrival) and i.vector is not None for i in inputs[:count]) != made.embedded:
        return
    segmented, memory = segment(inputs[:count], policy, made.mode)
    step = replay_inputs(inputs[count:], policy, memory)
    frame = tx.threads.frame(thread)
    starts = [cut.before_seq for cut in (*segmented.cuts, *step.cuts)]
    assert starts == [e.last_seq + 1 for e in tx.episodes.list(threads=[thread])]
    assert frame.state == json.dumps(policy.pack(step.memory), separators=(",", ":")).encode()


def assert_found(w: World) -> None:
    """I2 and I11: every observation is found by its own word, and only by its owner."""
    for (user, thread), messages in w.said.items():
        for message in messages[-3:] + messages[:2]:
            word = message["content"].rsplit(" ", 1)[1]
            for asker in w.memory.users():
                recall = w.memory.user(asker).search(word, limit=12)  # what ended stands behind
                ids = {(message["content"] in e.observation.text) for e in recall.observations}
                assert (True in ids) == (asker == user), (word, asker, thread)


def assert_apart(w: World) -> None:
    """I11: nobody reads an episode of another."""
    for user in w.memory.users():
        for other in w.memory.users():
            for card in w.memory.user(other).episodes.list():
                if user == other:
                    assert w.memory.user(user).episodes.messages(card.episode_id)
                else:
                    with pytest.raises(NotFound):
                        w.memory.user(user).episodes.messages(card.episode_id)


def run_program(program: Sequence[Any], policy: str, *, model: bool) -> None:
    with world(policy, model=model) as w:
        for operation in program:
            operation.run(w)
            if w.said and not isinstance(operation, Reopen):
                broken = [f for f in w.memory.doctor() if f.severity == "error"]
                assert broken == []
        check(w)
        event(f"replayed: {len(w.policies) == 1 and not w.oracle.answered and not w.closed_blind}")


QUIETLY = {
    "deadline": None,
    "derandomize": True,
    "database": None,
    "suppress_health_check": list(HealthCheck),
    "phases": (Phase.explicit, Phase.generate),
}


@settings(max_examples=share(25), **QUIETLY)
@given(PROGRAMS, st.sampled_from((*POLICIES, *STEP_POLICIES)), st.booleans())
def test_every_invariant_holds_after_any_program(program: Sequence[Any], policy: str, model: bool) -> None:
    run_program(program, policy, model=model)


@pytest.mark.slow
@settings(max_examples=25, **QUIETLY)
@given(
    st.lists(OPERATIONS, min_size=8, max_size=30),
    st.sampled_from((*POLICIES, *STEP_POLICIES)),
    st.booleans(),
)
def test_every_invariant_holds_after_any_long_program(
    program: Sequence[Any], policy: str, model: bool
) -> None:
    run_program(program, policy, model=model)


# --- I7 -------------------------------------------------------------------------------------------------


def segmented(
    policy: str, plan: Plan, sizes: Sequence[int], troubles: Sequence[Any], thread: str = "kitchen"
) -> Any:
    """Add one thread's messages in batches of these sizes with a trouble between them; return its episodes."""
    with world(policy) as w:
        messages = w.messages("ana", thread, plan)
        start, turn = 0, 0
        while start < len(messages):
            size = sizes[turn % len(sizes)]
            w.add("ana", thread, messages[start : start + size])
            if troubles:
                troubles[turn % len(troubles)].run(w)
            start, turn = start + size, turn + 1
        w.settle()
        return episodes_of(w.store, Scope("ana"))


LONG_PLANS = st.integers(0, len(SENTENCES) - 40).flatmap(
    lambda first: st.lists(st.sampled_from([0, 1, 1, 1, 3, 20, 400, -5]), min_size=8, max_size=40).map(
        lambda gaps: tuple((first + n, gap) for n, gap in enumerate(gaps))
    )
)
TROUBLES = st.lists(
    st.one_of(
        st.builds(Reopen, policy=st.none()),
        st.builds(EmbedderIs, away=st.booleans()),
        st.builds(Work, minutes=st.sampled_from([0, 60])),
    ),
    max_size=4,
)


@settings(max_examples=share(20), **QUIETLY)
@given(st.sampled_from(POLICIES), LONG_PLANS, st.lists(st.integers(1, 20), min_size=1, max_size=6), TROUBLES)
def test_batches_restarts_and_late_vectors_change_no_episode(
    policy: str, plan: Plan, sizes: Sequence[int], troubles: Sequence[Any]
) -> None:
    one_by_one = segmented(policy, plan, [1], [])
    assert segmented(policy, plan, [len(plan)], []) == one_by_one
    assert segmented(policy, plan, sizes, troubles) == one_by_one


@pytest.mark.slow
@settings(max_examples=30, **QUIETLY)
@given(st.sampled_from(POLICIES), LONG_PLANS, st.lists(st.integers(1, 20), min_size=1, max_size=6), TROUBLES)
def test_batches_restarts_and_late_vectors_change_no_episode_at_length(
    policy: str, plan: Plan, sizes: Sequence[int], troubles: Sequence[Any]
) -> None:
    assert segmented(policy, plan, sizes, troubles) == segmented(policy, plan, [1], [])


# --- corners that random programs meet rarely -----------------------------------------------------------

CHAT: Plan = tuple((n, 1) for n in range(5))  # long enough for seed 001 to ask about
OTHER = "seed-001?max_messages=30"


def frames(w: World) -> list[Frame]:
    with w.store.begin(Scope("ana"), write=False) as tx:
        return [tx.threads.frame(thread.id) for thread in tx.threads.list()]


def add(w: World, plan: Plan) -> Frame:
    w.add("ana", "kitchen", w.messages("ana", "kitchen", plan))
    (frame,) = frames(w)
    return frame


def test_what_came_without_a_vector_behind_a_question_is_taken_in_after_the_answer() -> None:
    with world("seed-001", model=True) as w:
        w.oracle.mood = "away"
        assert add(w, CHAT).question is not None
        w.embedder.away = True
        add(w, CHAT)
        w.embedder.away, w.oracle.mood = False, "no"
        check(w)


def test_what_comes_without_a_vector_while_others_are_embedded_is_taken_in() -> None:
    with world("seed-001") as w:
        w.embedder.away = True
        add(w, CHAT)

        def come() -> None:
            w.embedder.away = True
            add(w, CHAT)
            w.embedder.away = False

        w.embedder.away, w.embedder.meanwhile = False, come
        check(w)
        assert w.embedder.meanwhile is None


def test_a_batch_under_the_policy_before_keeps_the_record_of_every_check() -> None:
    with world("seed-001") as w:
        add(w, CHAT[:1])
        w.reopen(OTHER)
        assert add(w, CHAT).policy == "seed-001"
        check(w)


def test_a_cut_by_a_late_answer_changes_the_policy_like_any_cut() -> None:
    with world("seed-001", model=True) as w:
        w.oracle.mood = "away"
        assert add(w, CHAT).question is not None
        w.oracle.mood = "yes"
        w.reopen(OTHER)
        w.settle()
        (frame,) = frames(w)
        assert frame.first_seq > 0
        assert frame.policy == OTHER
        check(w)


def test_a_flush_that_cannot_wait_for_vectors_takes_everything_in_under_a_new_policy_too() -> None:
    with world("seed-001") as w:
        add(w, CHAT[:1])
        w.reopen(OTHER)
        w.embedder.away = True
        add(w, ((1, 1), (2, 1), (3, 1), (4, 20), (5, 1)))
        Flush("ana").run(w)
        (frame,) = frames(w)
        assert (frame.first_seq, frame.cursor, frame.next_seq) == (6, 6, 6)
        check(w)
        with w.store.begin(Scope("ana"), write=False) as tx:
            spans = [(e.first_seq, e.last_seq, e.reason) for e in tx.episodes.list(limit=9)]
        assert sorted(spans) == [(0, 3, "time_gap"), (4, 5, "manual")]


@pytest.mark.parametrize("trouble", ["embedder", "model"])
def test_an_export_of_a_waiting_frame_goes_on_where_it_is_restored(tmp_path: Path, trouble: str) -> None:
    with world("seed-001", model=True) as w, world("seed-001") as other:
        w.oracle.mood = "away" if trouble == "model" else "no"
        w.embedder.away = trouble == "embedder"
        frame = add(w, CHAT)
        assert frame.cursor < frame.next_seq or frame.question
        exported = tmp_path / "export.jsonl"
        exported.write_text("".join(f"{line.rstrip()}\n" for line in w.memory.user("ana").export()))
        other.memory.user("ana").import_file(exported)
        other.said, other.number = w.said, w.number
        check(other)
        again = add(other, CHAT)
        assert (again.cursor, again.question) == (10, None)


def test_work_that_lost_its_lease_is_left_to_who_took_it_and_is_done_in_the_end() -> None:
    with world("seed-001") as w:
        add(w, CHAT)

        def take() -> None:
            w.now += timedelta(hours=1)
            assert w.store.claim("elsewhere:1:1", now=w.now, lease=timedelta(minutes=1)) is not None

        w.embedder.meanwhile = take
        assert w.memory.user("ana").flush() == 1
        (waiting,) = [job for tx in w.scopes() for job in tx.upkeep.jobs()]
        assert (waiting.kind, waiting.state) == ("encode", "leased")
        check(w)
        (card,) = w.memory.user("ana").episodes.list()
        assert card.summary
