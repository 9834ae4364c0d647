"""The meter: what calls cost is counted once, whatever fails, and the budget is never passed by this process."""

import threading
from collections import deque
from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from pathlib import Path

import pytest
from builders.chats import NOW, Clock
from builders.faulty import FaultyStore
from hypothesis import given
from hypothesis import strategies as st

from episodic_agent.engine.jobs.asking import ask as ask_twice
from episodic_agent.engine.trace.usage import (
    MOST_UNUSABLE,
    Meter,
    added,
    model_of,
    negated,
    summed,
    tokens_in,
)
from episodic_agent.errors import BadReply, BudgetSpent, ProviderUnavailable, StoreUnavailable
from episodic_agent.protocols import LONGEST_ANSWER, Reply
from episodic_agent.providers.models.staged import StagedModel
from episodic_agent.schemas import Json, ModelUse, Scope
from episodic_agent.stores.sqlite import SqliteStore
from episodic_agent.stores.sqlite.file.migrate import shipped_migrations
from episodic_agent.testing.models import ScriptedModel

ANA, BO, WORK = Scope("ana", "home"), Scope("bo", "home"), Scope("ana", "work")
TODAY = NOW.date()
NO_SCHEMA: Mapping[str, Json] = {}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[FaultyStore]:
    inner = SqliteStore(tmp_path / "m.db", synchronous="off")
    yield FaultyStore(inner)
    inner.close()


def ask(meter: Meter, model: ScriptedModel, scope: Scope = ANA, prompt: str = "x" * 300) -> Reply:
    return meter.of(model, scope).complete(prompt, NO_SCHEMA, "topic_shift")


def calls(store: FaultyStore, space: str = "home") -> int:
    return sum(use.calls for use in store.usage(space, date.min, date.max))


def test_a_ledger_that_cannot_be_written_fails_no_call_and_is_written_later(store: FaultyStore) -> None:
    meter, model = Meter(store, Clock()), ScriptedModel([{}] * 4)
    store.at_commit = deque([StoreUnavailable("the disk is full"), StoreUnavailable("still")])
    assert [ask(meter, model).value for _ in range(2)] == [{}, {}]
    assert calls(store) == 0
    ask(meter, model, BO)
    assert calls(store) == 3
    meter.write()
    assert calls(store) == 3
    assert [use.calls for use in store.usage("home", TODAY, TODAY)] == [3]


def test_what_no_store_can_keep_is_repaired_in_every_answer(store: FaultyStore) -> None:
    statements: Mapping[str, Json] = {"a": "x\x00", "b": ["\ud800", {"c\x00": 1.5, "d": None}], "e": True}
    answers = ask(Meter(store, Clock()), ScriptedModel([statements])).value
    assert answers == {"a": "x\ufffd", "b": ["\ufffd", {"c\ufffd": 1.5, "d": None}], "e": True}


def test_what_waits_to_be_written_counts_for_the_budget(store: FaultyStore) -> None:
    meter, model = Meter(store, Clock(), LONGEST_ANSWER + 150), ScriptedModel([{}] * 4)
    store.at_commit = deque([StoreUnavailable("the disk is full")])
    ask(meter, model)  # 91 tokens
    assert calls(store) == 0
    with pytest.raises(BudgetSpent, match=r"spent \(91, a call may take 2148\) until 2024-06-02 00:00 UTC"):
        ask(meter, model, BO)
    assert len(model.calls) == 1
    assert ask(meter, model, WORK).value == {}  # another space has a budget of its own
    assert calls(store) == 1  # and what waited went along


def test_the_budget_of_a_new_day_is_whole(store: FaultyStore) -> None:
    clock = Clock()
    meter, model = Meter(store, clock, LONGEST_ANSWER + 100), ScriptedModel([{}] * 4)
    ask(meter, model)
    with pytest.raises(BudgetSpent):
        ask(meter, model)
    clock.forward(days=1)
    ask(meter, model)
    assert [use.day for use in store.usage("home", date.min, date.max)] == [TODAY, TODAY + timedelta(days=1)]


def test_a_budget_of_nothing_allows_nothing(store: FaultyStore) -> None:
    with pytest.raises(BudgetSpent):
        ask(Meter(store, Clock(), 0), ScriptedModel([{}]))
    assert calls(store) == 0


def test_failed_calls_are_counted_with_what_they_cost(store: FaultyStore) -> None:
    failures = [
        BadReply("no JSON", prompt_tokens=70, completion_tokens=9),
        BadReply("no JSON and no usage"),
        ProviderUnavailable("gone"),
    ]
    meter, model = Meter(store, Clock()), ScriptedModel(failures)
    for failure in failures:
        with pytest.raises(type(failure)):
            ask(meter, model)
    (use,) = store.usage("home", TODAY, TODAY)
    assert (use.calls, use.failures, use.prompt_tokens, use.completion_tokens) == (3, 3, 170, 9)


def test_what_was_refused_and_what_came_too_late_is_counted_apart(store: FaultyStore) -> None:
    failures = [BadReply("no JSON"), ProviderUnavailable("no answer", late=True), ProviderUnavailable("gone")]
    meter, model = Meter(store, Clock()), ScriptedModel([*failures, {"yes": "perhaps"}, {"yes": True}])
    for failure in failures:
        with pytest.raises(type(failure)):
            ask(meter, model)

    def read(value: Mapping[str, Json]) -> Json:
        if "yes" not in value:
            raise BadReply("yes is missing")
        return value["yes"]

    schema: Mapping[str, Json] = {"type": "object", "properties": {"yes": {"type": "boolean"}}}
    assert ask_twice(meter.of(model, ANA), "Is it so?", schema, "topic_shift", read) is True
    (use,) = store.usage("home", TODAY, TODAY)
    assert (use.calls, use.used, use.refused, use.late, use.failures) == (5, 1, 2, 1, 4)


def test_a_stage_whose_answers_never_fit_is_left_alone_for_an_hour(store: FaultyStore) -> None:
    clock = Clock()
    meter, model = Meter(store, clock), ScriptedModel([*[BadReply("no JSON")] * MOST_UNUSABLE, {}, {}])
    for _ in range(MOST_UNUSABLE + 3):
        with pytest.raises(BadReply):
            ask(meter, model)
    assert len(model.calls) == MOST_UNUSABLE
    with pytest.raises(
        BadReply, match=r"6 unusable answers for topic_shift in a row; not asked until 13:00 UTC"
    ):
        ask(meter, model)
    assert meter.of(model, ANA).complete("x", NO_SCHEMA, "facts").value == {}  # another stage may
    clock.forward(hours=1)
    assert ask(meter, model).value == {}
    assert calls(store) == MOST_UNUSABLE + 2  # what was not sent is not counted


def test_calls_at_the_same_time_cannot_pass_the_budget_together(store: FaultyStore) -> None:
    there = threading.Barrier(2)

    def respond(_prompt: str, _stage: str) -> Mapping[str, Json]:
        there.wait(30)
        return {}

    cost = LONGEST_ANSWER + 100
    meter, model = Meter(store, Clock(), 2 * cost + 50), ScriptedModel(respond=respond)
    refused: list[BudgetSpent] = []

    def call(scope: Scope) -> None:
        try:
            ask(meter, model, scope)
        except BudgetSpent as error:
            refused.append(error)

    held = threading.Thread(target=call, args=(ANA,))
    held.start()
    while not model.calls:
        threading.Event().wait(0.001)
    with meter.allowed(BO, cost), pytest.raises(BudgetSpent):
        ask(meter, model, BO)
    call(BO)  # room again, and it lets the first one end
    held.join()
    assert refused == []
    assert calls(store) == 2


def test_many_threads_count_every_call_once(store: FaultyStore) -> None:
    meter = Meter(store, Clock())

    def work(scope: Scope) -> None:
        for _ in range(25):
            ask(meter, ScriptedModel([{}]), scope)

    threads = [threading.Thread(target=work, args=(scope,)) for scope in (ANA, BO, ANA, WORK)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    meter.write()
    assert (calls(store), calls(store, "work")) == (75, 25)
    assert meter._waiting == {}
    with store.begin(ANA, write=False) as tx:
        assert [use.calls for use in tx.upkeep.usage(TODAY, TODAY)] == [50]


def test_who_is_writing_takes_along_what_others_counted_meanwhile(tmp_path: Path) -> None:
    inner = SqliteStore(tmp_path / "m.db", synchronous="off")
    committing, go_on = threading.Event(), threading.Event()

    class Slow(FaultyStore):
        def begin(self, scope: Scope, *, write: bool = True):  # type: ignore[no-untyped-def]
            if write and not committing.is_set():
                committing.set()
                assert go_on.wait(30)
            return inner.begin(scope, write=write)

    store = Slow(inner)
    meter = Meter(store, Clock())
    first = threading.Thread(target=ask, args=(meter, ScriptedModel([{}])))
    first.start()
    assert committing.wait(30)
    ask(meter, ScriptedModel([{}]))  # does not wait for the writer
    assert calls(store) == 0
    go_on.set()
    first.join()
    assert calls(store) == 2
    inner.close()


USES = st.builds(
    ModelUse,
    st.just(TODAY), st.just("s"), st.just("m"),
    *[st.integers(0, 9)] * 4, st.integers(0, 64).map(lambda n: n / 8),
)  # fmt: skip


@given(st.lists(USES, min_size=1))
def test_sums_are_sums_and_can_be_taken_away_again(uses: list[ModelUse]) -> None:
    total = summed(uses)
    assert total is not None
    assert (total.calls, total.tokens) == (sum(u.calls for u in uses), sum(u.tokens for u in uses))
    assert added(added(total, uses[0]), negated(uses[0])) == total
    assert summed([]) is None


def test_a_memory_of_before_is_brought_up_to_date_and_counts(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    before = [one for one in shipped_migrations() if one.version < 4]
    SqliteStore(path, migrations=before).close()
    opened = SqliteStore(path)
    ask(Meter(opened, Clock()), ScriptedModel([{}]))
    assert [use.calls for use in opened.usage("home", TODAY, TODAY)] == [1]
    opened.close()


def test_tokens_are_rather_over_estimated() -> None:
    assert tokens_in("Four bytes are a token of English text.") >= 10
    assert tokens_in("水龙头在滴水") >= 6
    assert tokens_in("") == 0
    tokens_in("\ud800")


def test_who_answers_a_stage_is_found_behind_any_model() -> None:
    small = ScriptedModel()
    assert model_of(None, "topic_shift") is None
    assert model_of(small, "topic_shift") is small
    assert model_of(StagedModel(None, {"topic_shift": small}), "topic_shift") is small
    assert model_of(StagedModel(small, {"topic_shift": None}), "topic_shift") is None
