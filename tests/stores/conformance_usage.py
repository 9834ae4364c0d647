"""What every store must do about what language models cost: sums by day, stage and model, by scope and space."""

import threading
from dataclasses import replace
from datetime import date, timedelta
from typing import Any
from uuid import UUID

import pytest
from stores.builders import ANA, BO, NOW, fill
from stores.conformance import StoreFixture

from episodic_agent.errors import StoreError
from episodic_agent.protocols import Store
from episodic_agent.schemas import AuditEntry, AuditKind, Caller, ModelUse, Scope

TODAY = NOW.date()
ONE = ModelUse(TODAY, "topic_shift", "openai:small", 2, 1, 300, 40, 1.25, refused=1, late=2)


def add(store: Store, *uses: ModelUse, scope: Scope = ANA) -> None:
    with store.begin(scope) as tx:
        tx.upkeep.put(*uses)


def totals(store: Store, first: date = TODAY, last: date = TODAY, scope: Scope = ANA) -> list[ModelUse]:
    with store.begin(scope, write=False) as tx:
        return list(tx.upkeep.usage(first, last))


def entry(number: int, minutes: int = 0, **more: Any) -> AuditEntry:
    at = NOW + timedelta(minutes=minutes)
    return AuditEntry(at, f"{number:x}", AuditKind.WRITE, "add", Caller("http", "k1", "write"), **more)


class UsageConformance(StoreFixture):
    def test_who_did_what_comes_back_newest_first_and_as_it_was(self, store: Store) -> None:
        full = entry(
            3, 5, thing="thread", subject=UUID(int=7), counts={"observations": 2}, note='"; DROP\0 模型'
        )
        older, same = entry(1), replace(entry(2), kind=AuditKind.DELETION)
        with store.begin(ANA) as tx:
            for one in (same, full, older):
                tx.record(one)
        with store.begin(BO) as tx:
            tx.record(entry(9, 9))
        with store.begin(ANA, write=False) as tx:
            assert list(tx.audit()) == [full, same, older]
            assert list(tx.audit(limit=2)) == [full, same]
            assert list(tx.audit(since=full.at)) == [full]
            assert list(tx.audit(until=full.at)) == [same, older]
            assert list(tx.audit(kinds=[AuditKind.DELETION])) == [same]
            assert list(tx.audit(kinds=[])) == []

    def test_an_entry_takes_the_place_of_the_one_of_its_moment_and_id(self, store: Store) -> None:
        with store.begin(ANA) as tx:
            tx.record(entry(1, counts={"facts": 1}))
            tx.record(entry(1, counts={"facts": 2}))
            tx.record(entry(1, 1))
            assert [one.counts for one in tx.audit()] == [{}, {"facts": 2}]
            assert tx.drop_audit(NOW + timedelta(minutes=1)) == 1
            assert tx.drop_audit(NOW + timedelta(minutes=1)) == 0
        with store.begin(ANA, write=False) as tx:
            assert list(tx.audit()) == [entry(1, 1)]

    def test_costs_of_a_day_stage_and_model_add_up(self, store: Store) -> None:
        add(store, ONE)
        add(store, ONE, replace(ONE, stage="compact", calls=1), replace(ONE, model="openai:large"), ONE)
        thrice = ModelUse(TODAY, "topic_shift", "openai:small", 6, 3, 900, 120, 3.75, refused=3, late=6)
        assert totals(store) == [
            replace(ONE, stage="compact", calls=1),
            replace(ONE, model="openai:large"),
            thrice,
        ]
        assert thrice.tokens == 1020

    def test_costs_are_read_by_days_both_ends_included(self, store: Store) -> None:
        days = [replace(ONE, day=TODAY + timedelta(days=n)) for n in range(-2, 3)]
        add(store, *reversed(days))
        assert totals(store, TODAY - timedelta(days=1), TODAY + timedelta(days=1)) == days[1:4]
        assert totals(store, date.min, date.max) == days
        assert totals(store, TODAY, TODAY - timedelta(days=1)) == []

    def test_a_space_sums_its_users_and_sees_no_other_space(self, store: Store) -> None:
        add(store, ONE)
        add(store, ONE, replace(ONE, stage="Zeta"), scope=BO)
        add(store, replace(ONE, calls=100), scope=Scope("ana", "work"))
        assert totals(store) == [ONE]
        assert store.usage("home", TODAY, TODAY) == [
            replace(ONE, stage="Zeta"),
            ModelUse(TODAY, "topic_shift", "openai:small", 4, 2, 600, 80, 2.5, refused=2, late=4),
        ]
        assert store.usage("nowhere", date.min, date.max) == []

    def test_large_sums_and_odd_names_come_back_as_they_were(self, store: Store) -> None:
        huge = replace(ONE, model='openai:"; DROP\0 – 模型', prompt_tokens=1 << 40, seconds=86_400.000001)
        add(store, huge, huge)
        (use,) = store.usage("home", TODAY, TODAY)
        assert (use.model, use.prompt_tokens, use.seconds) == (huge.model, 1 << 41, 172_800.000002)

    def test_what_an_undone_transaction_counted_is_not_counted(self, store: Store) -> None:
        fill(store)
        with pytest.raises(ZeroDivisionError), store.begin(ANA) as tx:  # noqa: PT012 the block is the case
            tx.upkeep.put(ONE)
            raise ZeroDivisionError
        assert totals(store) == []
        with store.begin(ANA, write=False) as tx, pytest.raises(StoreError):
            tx.upkeep.put(ONE)

    def test_writers_at_the_same_time_lose_nothing(self, store: Store) -> None:
        uses = [replace(ONE, stage=stage) for stage in ("a", "b", "c")]

        def count(turn: int) -> None:
            for _ in range(10):
                add(store, *(uses if turn % 2 else reversed(uses)))

        threads = [threading.Thread(target=count, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [use.calls for use in totals(store)] == [80, 80, 80]
