"""What every store must do about the work for turns: rows by observation, replaced, dropped when old."""

from dataclasses import replace
from uuid import UUID

import pytest
from stores.builders import ANA, BO, NOW, fill, identity, minute
from stores.conformance import StoreFixture, claim_one

from episodic_agent.errors import StoreError
from episodic_agent.protocols import LONGEST_RUN, Store, ref_of
from episodic_agent.schemas import Scope, WorkRow

ROW = WorkRow(ref_of(3, 4), ref_of(3, 4), NOW, "add", '["add",0,5]')


def put(store: Store, *rows: WorkRow, scope: Scope = ANA) -> None:
    with store.begin(scope) as tx:
        tx.upkeep.put(*rows)


def of(store: Store, first: int, last: int, scope: Scope = ANA, thread: int = 3) -> list[WorkRow]:
    with store.begin(scope, write=False) as tx:
        return list(tx.upkeep.spans(ref_of(thread, first), ref_of(thread, last)))


class WorkConformance(StoreFixture):
    def test_jobs_are_listed_by_state_and_kind_up_to_a_limit_and_counted_by_state(self, store: Store) -> None:
        with store.begin(ANA) as tx:
            for n, kind in enumerate(("encode", "embed", "encode", "link")):
                tx.upkeep.ask(kind, f"k{n}", f"s{n}", now=minute(n))
        job = claim_one(store)
        with store.begin(ANA) as tx:
            tx.upkeep.put_back(job, error="broken")
        with store.begin(BO) as tx:
            tx.upkeep.ask("encode", "k", "s", now=NOW)
        with store.begin(ANA, write=False) as tx:
            assert [job.key for job in tx.upkeep.jobs(kinds=["encode"])] == ["k0", "k2"]
            assert [job.key for job in tx.upkeep.jobs(state="waiting", kinds=["encode", "link"])] == [
                "k2",
                "k3",
            ]
            assert [job.key for job in tx.upkeep.jobs(state="waiting", limit=2)] == ["k1", "k2"]
            assert tx.upkeep.jobs(limit=0) == tx.upkeep.jobs(kinds=[]) == []
            assert tx.count("waiting jobs") == 3
        counts = [store.waiting(ANA, state=state) for state in ("waiting", "leased", "dead")]
        assert counts == [3, 0, 1]
        assert store.waiting(state="waiting") == 4
        claimed = claim_one(store)
        assert (store.waiting(state="leased"), store.waiting(space=ANA.space, state="leased")) == (1, 1)
        with store.begin(ANA, write=False) as tx:
            assert tx.count("waiting jobs") == 3, claimed

    def test_work_is_found_by_every_observation_it_was_for(self, store: Store) -> None:
        run = replace(ROW, first_ref=ref_of(3, 5), last_ref=ref_of(3, 4 + LONGEST_RUN))
        later = replace(ROW, at=minute(9), name="encode", body="{}")
        put(store, later, run, ROW)
        assert of(store, 4, 4) == [ROW, later]
        assert of(store, 4, 5) == [ROW, run, later]
        assert of(store, 4 + LONGEST_RUN, 4 + LONGEST_RUN) == [run]
        assert of(store, 5 + LONGEST_RUN, 9000) == []
        assert of(store, 0, 3) == []
        assert of(store, 4, 4, thread=4) == []

    def test_the_same_work_again_takes_the_place_of_the_first(self, store: Store) -> None:
        again = replace(ROW, last_ref=ref_of(3, 5), body="other")
        put(store, ROW)
        put(store, again)
        assert of(store, 4, 4) == [again]
        put(store)
        assert of(store, 4, 4) == [again]

    def test_only_what_is_older_is_dropped_and_only_of_the_scope(self, store: Store) -> None:
        rows = [replace(ROW, at=minute(n)) for n in range(3)]
        put(store, *rows)
        put(store, *rows, scope=BO)
        with store.begin(ANA) as tx:
            tx.upkeep.drop(before=minute(1))
        assert of(store, 4, 4) == rows[1:]
        assert of(store, 4, 4, BO) == rows

    def test_texts_of_any_kind_come_back_as_they_were(self, store: Store) -> None:
        odd = replace(ROW, name='q"; DROP\0 – 水', body='["水","\\u0000\0"]')
        put(store, odd)
        assert of(store, 4, 4) == [odd]

    def test_observations_are_found_by_how_their_ids_begin(self, store: Store) -> None:
        fill(store)
        with store.begin(ANA, write=False) as tx:
            every = tx.observations.near(UUID(int=0), UUID(int=(1 << 128) - 1), limit=99)
            assert list(every) == sorted(every)
            assert set(tx.observations.get(every)) == set(every) != set()
            assert list(tx.observations.near(every[0], every[0], limit=9)) == [every[0]]
            assert list(tx.observations.near(every[0], every[-1], limit=2)) == list(every[:2])
            assert list(tx.observations.near(identity("nowhere"), identity("nowhere"), limit=9)) == []
        with store.begin(Scope("ana", "elsewhere"), write=False) as tx:
            assert list(tx.observations.near(UUID(int=0), UUID(int=(1 << 128) - 1), limit=9)) == []

    def test_a_read_transaction_keeps_and_drops_nothing(self, store: Store) -> None:
        put(store, ROW)
        with store.begin(ANA, write=False) as tx:
            with pytest.raises(StoreError):
                tx.upkeep.put(ROW)
            with pytest.raises(StoreError):
                tx.upkeep.drop(before=minute(99))
        assert of(store, 4, 4) == [ROW]
