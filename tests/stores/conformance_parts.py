"""What every store must do about the parts of threads, and about episodes that own no observations."""

from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import pytest
from stores.builders import ANA, BO, begin_thread, fill, identity, make_episode, minute
from stores.conformance import StoreFixture

from episodic_agent.errors import NotFound, StoreError
from episodic_agent.protocols import Store
from episodic_agent.schemas import EpisodeKind, EpisodeState, Scope, Section

KITCHEN, ATTIC = identity("kitchen"), identity("attic")


def make_part(thread: UUID = KITCHEN, first_seq: int = 0, *, at: float = 0) -> Section:
    return Section(thread, first_seq, identity(f"part {thread} {first_seq}"), minute(at))


def save(store: Store, *sections: Section, scope: Scope = ANA) -> None:
    with store.begin(scope) as tx:
        for section in sections:
            tx.threads.save(section)


class PartsConformance(StoreFixture):
    def test_a_part_comes_back_as_it_was_saved_last(self, store: Store) -> None:
        fill(store)
        section = make_part()
        save(store, section)
        full = replace(
            section,
            first_at=minute(7) + timedelta(microseconds=3),
            turns_before=50,
            opened_for="size",
            ended=True,
            grown=False,
            trigger="thread_end",
            compacted_through=2,
            compacted_at=minute(9),
        )
        with store.begin(ANA) as tx:
            assert tx.threads.section(KITCHEN, 0) == section == tx.threads.section(KITCHEN)
            tx.threads.save(full)
            assert tx.threads.section(KITCHEN, 9) == full
        with store.begin(ANA, write=False) as tx:
            assert list(tx.threads.sections(KITCHEN)) == [full]
            assert tx.threads.section(ATTIC, 1) is None
            assert tx.threads.section(ATTIC) is None
            with pytest.raises(StoreError):
                tx.threads.save(section)

    def test_a_threads_parts_are_in_order_and_no_other_scopes(self, store: Store) -> None:
        fill(store)
        fill(store, BO)
        with store.begin(ANA) as tx:
            begin_thread(tx, "attic", ["a"])
        parts = [make_part(first_seq=n) for n in (0, 50, 120)]
        save(store, parts[2], make_part(ATTIC), parts[0], parts[1])
        with store.begin(ANA, write=False) as tx:
            assert list(tx.threads.sections(KITCHEN)) == parts
            assert tx.threads.section(KITCHEN) == parts[2]
            sections = [tx.threads.section(KITCHEN, seq) for seq in (0, 49, 50, 119, 120, 999)]
            assert sections == [parts[n] for n in (0, 0, 1, 1, 2, 2)]
        with store.begin(BO, write=False) as tx:
            assert list(tx.threads.sections(KITCHEN)) == []
            assert tx.threads.sections(grown=minute(999), limit=9) == []
        with store.begin(BO) as tx, pytest.raises(NotFound):
            tx.threads.save(make_part(ATTIC))

    def test_a_part_is_dropped_alone_and_twice_as_once(self, store: Store) -> None:
        fill(store)
        fill(store, BO)
        first, second = make_part(), make_part(first_seq=2)
        save(store, first, second)
        save(store, first, scope=BO)
        for _ in range(2):
            with store.begin(ANA) as tx:
                tx.threads.drop(KITCHEN, 2)
                tx.threads.drop(ATTIC, 0)
        with store.begin(ANA, write=False) as tx:
            assert list(tx.threads.sections(KITCHEN)) == [first]
            with pytest.raises(StoreError):
                tx.threads.drop(KITCHEN, 0)
        with store.begin(BO, write=False) as tx:
            assert list(tx.threads.sections(KITCHEN)) == [first]

    def test_what_has_grown_is_found_by_its_first_turn_oldest_first(self, store: Store) -> None:
        fill(store)
        with store.begin(ANA) as tx:
            begin_thread(tx, "attic", ["a"])
        old, new, asked = make_part(first_seq=9, at=-9), make_part(at=3), make_part(first_seq=2, at=-20)
        save(store, new, old, replace(asked, grown=False), make_part(ATTIC, at=-5))
        with store.begin(ANA, write=False) as tx:
            assert list(tx.threads.sections(grown=minute(3), limit=9)) == [old, make_part(ATTIC, at=-5), new]
            assert list(tx.threads.sections(grown=minute(2.9), limit=1)) == [old]

    def test_compacted_parts_are_newest_first(self, store: Store) -> None:
        fill(store)
        with store.begin(ANA) as tx:
            begin_thread(tx, "attic", ["a"])
        sections = [replace(make_part(first_seq=n, at=n), compacted_through=n) for n in (0, 4, 9)]
        other = replace(make_part(ATTIC, at=5), compacted_through=0)
        save(store, *sections, other, make_part(first_seq=20, at=20))
        with store.begin(ANA, write=False) as tx:
            assert list(tx.threads.sections(compacted=True, limit=9)) == [
                sections[2],
                other,
                sections[1],
                sections[0],
            ]
            assert list(tx.threads.sections(compacted=True, limit=2, thread_id=KITCHEN)) == [
                sections[2],
                sections[1],
            ]
            assert list(tx.threads.sections(compacted=True, limit=2, thread_id=identity("nowhere"))) == []

    def test_an_episode_without_observations_of_its_own_moves_on_and_no_other(self, store: Store) -> None:
        fill(store)
        event = make_episode("kitchen", 0, 0)
        primary = replace(make_episode("kitchen", 0, 1, generation=9), kind=EpisodeKind.PRIMARY)
        with store.begin(ANA) as tx:
            tx.episodes.put(event)
            tx.episodes.put(replace(primary, state=EpisodeState.OPEN))
            tx.episodes.change(primary.id, state=EpisodeState.CLOSED, last_seq=2)
            moved = replace(primary, state=EpisodeState.CLOSED, last_seq=2)
            assert tx.episodes.get(primary.id) == moved
            decision = identity("decision")
            tx.episodes.change(
                primary.id,
                state=EpisodeState.COMPACTED,
                last_seq=2,
                end_at=minute(8),
                reason="size",
                decision_id=decision,
            )
            moved = replace(
                moved, state=EpisodeState.COMPACTED, end_at=minute(8), reason="size", decision_id=decision
            )
            assert tx.episodes.get(primary.id) == moved
            assert list(tx.episodes.list(threads=[KITCHEN])) == [event]
            for unknown in (event.id, identity("nothing")):
                with pytest.raises(NotFound):
                    tx.episodes.change(unknown, state=EpisodeState.OPEN, last_seq=0)

    def test_closed_current_events_that_end_within_a_span_are_archived(self, store: Store) -> None:
        fill(store, texts=["a", "b", "c", "d"])
        first, second, third = (make_episode("kitchen", n, n) for n in range(3))
        primary = replace(make_episode("kitchen", 0, 2, generation=9), kind=EpisodeKind.PRIMARY)
        replaced = make_episode("kitchen", 1, 1, generation=1)
        with store.begin(ANA) as tx:
            for episode in (first, replaced, third, primary):
                tx.episodes.put(episode)
            tx.episodes.retire([replaced.id], 2)
            tx.episodes.put(second)
            assert tx.episodes.archive(KITCHEN, 0, 1) == 2
            assert tx.episodes.archive(KITCHEN, 0, 1) == 0
            states = {e.first_seq: e.state for e in tx.episodes.list(threads=[KITCHEN])}
            assert states == {0: EpisodeState.ARCHIVED, 1: EpisodeState.ARCHIVED, 2: EpisodeState.CLOSED}
            episodes = tx.episodes.get([replaced.id, primary.id])
            assert {e.state for e in episodes.values()} == {EpisodeState.CLOSED}
            tx.episodes.retire([second.id], 3)
            assert [e.id for e in tx.episodes.list(threads=[KITCHEN])] == [first.id, third.id]
