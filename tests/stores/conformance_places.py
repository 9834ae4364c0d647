"""What every store must do with places: stays as a plain walk through the observations would tell them."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from stores.builders import (
    ANA,
    BO,
    begin_thread,
    fill,
    identity,
    make_episode,
    make_observations,
    minute,
)
from stores.conformance import StoreFixture

from episodic_agent.errors import Conflict, NotFound, StoreError
from episodic_agent.protocols import Store, Transaction, ref_of
from episodic_agent.schemas import Observation, Scope
from episodic_agent.schemas.places import Visit, place_key

LABELS = ("Hall", "hall ", "Kitchen", "küche", "Küche", "unknown", " ", None)


def walked(name: str, places: Sequence[str | None], *, first: int = 0) -> list[Observation]:
    steps = make_observations(name, [f"step {n}" for n in range(len(places))], first=first)
    return [replace(step, location=place) for step, place in zip(steps, places, strict=True)]


def walk(store: Store, places: Sequence[str | None], name: str = "robot", scope: Scope = ANA) -> int:
    """Write a thread of one chunk; return its number."""
    with store.begin(scope) as tx:
        number = begin_thread(tx, name)
        tx.observations.append(walked(name, places))
        return number


def naive(number: int, steps: Sequence[Observation]) -> list[Visit]:
    """The stays of a thread, told step by step."""
    visits: list[Visit] = []
    for step in steps:
        key = (step.location or "").strip().casefold()
        if key in ("", "unknown"):
            continue
        ref = ref_of(number, step.seq)
        last = visits[-1] if visits else None
        if last is None or last.label.casefold() != key:
            visits.append(Visit(ref, ref, str(step.location).strip(), step.at, step.at, 1))
        else:
            times = (min(last.start_at, step.at), max(last.end_at, step.at))
            visits[-1] = Visit(last.first_ref, ref, last.label, *times, last.steps + 1)
    return visits


def told(tx: Transaction, **narrower: object) -> list[tuple[str, int, int, int]]:
    visits = tx.threads.visits(**narrower)  # type: ignore[arg-type]
    return [(s.label, s.first_ref & 0xFFFF, s.last_ref & 0xFFFF, s.steps) for s in visits]


class PlacesConformance(StoreFixture):
    def test_a_stay_is_a_run_at_one_place_and_steps_that_know_no_place_neither_end_nor_count(
        self, store: Store
    ) -> None:
        walk(store, [None, "Hall", "unknown", " hall", "", "Kitchen", "kitchen", None, "hall"])
        with store.begin(ANA, write=False) as tx:
            assert told(tx) == [("Hall", 1, 3, 2), ("Kitchen", 5, 6, 2), ("hall", 8, 8, 1)]
            first = tx.threads.visits()[0]
            assert (first.start_at, first.end_at) == (minute(1), minute(3))

    def test_a_chunk_goes_on_with_the_stay_before_it(self, store: Store) -> None:
        walk(store, ["hall", None])
        for first, places in ((2, ["Hall"]), (3, [None]), (4, ["HALL", "den", "hall"]), (7, ["den"])):
            with store.begin(ANA) as tx:
                tx.observations.append(walked("robot", places, first=first))
        with store.begin(ANA, write=False) as tx:
            assert told(tx) == [("hall", 0, 4, 3), ("den", 5, 5, 1), ("hall", 6, 6, 1), ("den", 7, 7, 1)]

    def test_late_steps_widen_the_time_of_their_stay(self, store: Store) -> None:
        steps = walked("robot", ["hall"] * 3)
        times = [minute(5), minute(1), minute(9)]
        with store.begin(ANA) as tx:
            begin_thread(tx, "robot")
            tx.observations.append([replace(s, at=at) for s, at in zip(steps[:2], times, strict=False)])
            tx.observations.append([replace(steps[2], at=times[2])])
            (visit,) = tx.threads.visits()
        assert (visit.start_at, visit.end_at, visit.steps) == (minute(1), minute(9), 3)

    def test_random_walks_of_several_threads_and_users_are_told_as_step_by_step(self, store: Store) -> None:
        random = np.random.default_rng(11)
        written: dict[tuple[Scope, str], list[Observation]] = {}
        numbers: dict[tuple[Scope, str], int] = {}
        keys = [(scope, name) for scope in (ANA, BO) for name in ("robot", "drone")]
        for scope, name in keys:
            with store.begin(scope) as tx:
                numbers[scope, name] = begin_thread(tx, name)
            written[scope, name] = []
        for _ in range(60):
            scope, name = keys[random.integers(len(keys))]
            known = written[scope, name]
            drawn = [LABELS[n] for n in random.integers(len(LABELS), size=random.integers(1, 6))]
            steps = walked(name, drawn, first=len(known))
            late = [replace(s, at=minute(float(random.integers(0, 400)))) for s in steps]
            is_stored = bool(random.integers(5))
            if not is_stored:
                with pytest.raises(ZeroDivisionError), store.begin(scope) as tx:  # noqa: PT012
                    tx.observations.append(late)
                    raise ZeroDivisionError
                continue
            with store.begin(scope) as tx:
                tx.observations.append(late)
            known += late
        for scope, name in keys:
            expected = naive(numbers[scope, name], written[scope, name])
            with store.begin(scope, write=False) as tx:
                assert tx.threads.visits(thread_id=identity(name)) == expected
        for scope in (ANA, BO):
            visits = [s for key in keys if key[0] == scope for s in naive(numbers[key], written[key])]
            with store.begin(scope, write=False) as tx:
                self.assert_reads(tx, visits)

    @staticmethod
    def assert_reads(tx: Transaction, visits: Sequence[Visit]) -> None:
        places = {place_key(stay.label) for stay in visits}
        earliest = {
            place: min((s for s in visits if s.place == place), key=lambda s: (s.start_at, s.first_ref)).label
            for place in places
        }
        assert tx.threads.places() == earliest
        since, until = minute(100), minute(150)
        for place in (None, *places):
            here = sorted(s for s in visits if place in (None, s.place))
            assert tx.threads.visits(place=place) == here
            assert tx.threads.visits(place=place, since=since, until=until) == [
                s for s in here if s.end_at >= since and s.start_at < until
            ]

    def test_a_place_is_named_in_any_case(self, store: Store) -> None:
        walk(store, ["Küche", "Hall"])
        with store.begin(ANA, write=False) as tx:
            assert [s.label for s in tx.threads.visits(place=" KÜCHE")] == ["Küche"]
            assert tx.threads.visits(place="nowhere") == []
            assert tx.threads.visits(thread_id=identity("nobody")) == []

    def test_labels_hold_any_characters_and_any_length(self, store: Store) -> None:
        labels = ["x" * 9000, "a\0b\x1a", "\ud800", "猫", "'; --"]
        walk(store, [f" {label}" for label in labels])
        with store.begin(ANA, write=False) as tx:
            assert [s.label for s in tx.threads.visits()] == labels
            assert sorted(tx.threads.places().values()) == sorted(labels)
            assert [len(tx.threads.visits(place=label)) for label in labels] == [1] * 5

    def test_places_beyond_the_limit_are_left_out(self, store: Store) -> None:
        walk(store, [f"room {n}" for n in range(20)])
        with store.begin(ANA, write=False) as tx:
            assert len(tx.threads.places()) == 20
            assert len(tx.threads.places(limit=7)) == 7
        with store.begin(BO, write=False) as tx:
            assert tx.threads.places() == {}

    def test_a_chunk_that_does_not_fit_leaves_no_stay(self, store: Store) -> None:
        walk(store, ["hall"])
        with store.begin(ANA) as tx:
            with pytest.raises(Conflict):
                tx.observations.append(walked("robot", ["den"], first=3))
            taken = [replace(o, id=identity("robot/0")) for o in walked("robot", ["den", "den"], first=1)]
            with pytest.raises(Conflict):
                tx.observations.append(taken)
        with store.begin(ANA, write=False) as tx:
            assert told(tx) == [("hall", 0, 0, 1)]

    def test_stays_are_rewritten_of_one_thread_alone(self, store: Store) -> None:
        number = walk(store, ["hall", "den"])
        walk(store, ["attic"], "other")
        with store.begin(ANA) as tx:
            visits = tx.threads.visits(thread_id=identity("robot"))
            tx.threads.rewrite_stays(identity("robot"), visits[1:])
            assert [s.label for s in tx.threads.visits()] == ["den", "attic"]
            tx.threads.rewrite_stays(identity("robot"), naive(number, walked("robot", ["hall", "den"])))
            assert tx.threads.visits(thread_id=identity("robot")) == visits
            tx.threads.rewrite_stays(identity("robot"), [])
            assert [s.label for s in tx.threads.visits()] == ["attic"]
            with pytest.raises(NotFound):
                tx.threads.rewrite_stays(identity("nobody"), [])
        with store.begin(ANA, write=False) as tx, pytest.raises(StoreError):
            tx.threads.rewrite_stays(identity("robot"), [])

    def test_covers_are_the_current_episodes_that_own_some_of_the_spans(self, store: Store) -> None:
        number = fill(store, texts=[str(n) for n in range(12)])
        other = fill(store, name="attic")
        episodes = [make_episode("kitchen", first, first + 2) for first in (0, 3, 6)]
        with store.begin(ANA) as tx:
            for episode in (*episodes, make_episode("attic", 0, 1)):
                tx.episodes.put(episode)

            def covers(*spans: tuple[int, int], of: int = number) -> list[tuple[int, int]]:
                refs = [(ref_of(of, first), ref_of(of, last)) for first, last in spans]
                covers = tx.index.covers(refs)
                assert all(c.first_ref >> 32 == of for c in covers)
                return [(c.first_ref & 0xFFFF, c.last_ref & 0xFFFF) for c in covers]

            assert covers((0, 0xFFFFFFFF)) == [(0, 2), (3, 5), (6, 8)]
            assert covers((4, 4)) == [(3, 5)]
            assert covers((2, 3)) == [(0, 2), (3, 5)]
            assert covers((4, 6), (5, 7), (1, 1)) == [(0, 2), (3, 5), (6, 8)]
            assert covers((9, 11)) == []  # the open frame
            assert covers((0, 9), of=other) == [(0, 1)]
            assert covers() == []
            assert [c.name for c in tx.index.covers([(ref_of(number, 3), ref_of(number, 3))])] == [
                episodes[1].id.hex
            ]
            tx.episodes.retire([episodes[1].id], 1)
            assert covers((2, 7)) == [(0, 2), (6, 8)]
        with store.begin(BO, write=False) as tx:
            assert tx.index.covers([(0, 1 << 50)]) == []
