"""What every store must do with pins, suppressions, expiries and retention."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stores.builders import (
    ANA,
    BO,
    begin_thread,
    fill,
    identity,
    make_episode,
    make_frame,
    make_observations,
    make_thread,
    minute,
)
from stores.conformance import StoreFixture

from episodic_agent.errors import StoreError
from episodic_agent.protocols import Mark, MarkKind, OwnRetention, Store, SuppressedWords, ref_of
from episodic_agent.schemas.strength import Standing

PINNED, SUPPRESSED, ARCHIVED = MarkKind.PINNED, MarkKind.SUPPRESSED, MarkKind.ARCHIVED
HOUR = timedelta(hours=1)
SPANS = st.tuples(st.integers(0, 30), st.integers(0, 12)).map(lambda span: (span[0], sum(span)))


def mark(
    first: int, last: int, kind: MarkKind = SUPPRESSED, *, reason: str = "by hand", at: float = 0
) -> Mark:
    return Mark(first, last, kind, minute(at), reason)


class CareConformance(StoreFixture):
    def test_marks_of_a_kind_give_way_to_a_new_one_and_those_of_others_stay(self, store: Store) -> None:
        with store.begin(ANA) as tx:
            tx.upkeep.put(mark(10, 20))
            tx.upkeep.put(mark(12, 14, PINNED))
            tx.upkeep.put(mark(15, 30, reason="später\0", at=5))
            assert list(tx.upkeep.marks()) == [
                mark(12, 14, PINNED), mark(10, 14), mark(15, 30, reason="später\0", at=5)
            ]  # fmt: skip
            assert list(tx.upkeep.marks(PINNED)) == [mark(12, 14, PINNED)]
            assert list(tx.upkeep.marks(ARCHIVED)) == []

    def test_a_release_cuts_a_hole_and_says_what_it_met(self, store: Store) -> None:
        with store.begin(ANA) as tx:
            tx.upkeep.put(mark(10, 20))
            tx.upkeep.put(mark(30, 40))
            assert tx.upkeep.release(SUPPRESSED, 13, 15) == 1
            assert list(tx.upkeep.marks()) == [mark(10, 12), mark(16, 20), mark(30, 40)]
            assert tx.upkeep.release(SUPPRESSED, 13, 15) == 0
            assert tx.upkeep.release(PINNED, 0, 99) == 0
            assert tx.upkeep.release(SUPPRESSED, 0, 99) == 3
            assert list(tx.upkeep.marks()) == []

    def test_a_mark_of_a_whole_thread_reaches_to_its_last_number(self, store: Store) -> None:
        number = fill(store)
        first, last = ref_of(number, 0), ref_of(number + 1, 0) - 1
        with store.begin(ANA) as tx:
            tx.upkeep.put(mark(first, last))
            spans = [(ref_of(number, n), ref_of(number, n)) for n in (0, 7, 0xFFFFFFFF)]
            touched = tx.upkeep.touched([SUPPRESSED], [*spans, (first - 1, first - 1), (last + 1, last + 1)])
            assert dict(touched) == {n: mark(first, last) for n in range(3)}

    def test_touched_names_the_first_kind_that_meets_each_span(self, store: Store) -> None:
        with store.begin(ANA) as tx:
            tx.upkeep.put(mark(5, 9, ARCHIVED))
            tx.upkeep.put(mark(8, 12))
            spans = [(0, 4), (0, 5), (9, 9), (12, 99), (13, 99), (9, 9)]
            touched = tx.upkeep.touched([SUPPRESSED, ARCHIVED], spans)
            assert {place: one.kind for place, one in touched.items()} == {
                1: ARCHIVED, 2: SUPPRESSED, 3: SUPPRESSED, 5: SUPPRESSED
            }  # fmt: skip
            assert dict(tx.upkeep.touched([PINNED], spans)) == {}
            assert dict(tx.upkeep.touched([], spans)) == {}
            assert dict(tx.upkeep.touched([SUPPRESSED], [])) == {}

    def test_spans_are_found_as_a_plain_list_would_find_them(self, store: Store) -> None:
        steps = st.lists(st.tuples(st.booleans(), SPANS), max_size=12)

        @settings(max_examples=25, deadline=None, derandomize=True)
        @given(steps, st.lists(SPANS, min_size=1, max_size=6))
        def check(done: list[tuple[bool, tuple[int, int]]], asked: list[tuple[int, int]]) -> None:
            held: set[int] = set()
            with store.begin(ANA) as tx:
                tx.upkeep.release(PINNED, 0, 99)
                for put, (first, last) in done:
                    inside = set(range(first, last + 1))
                    if put:
                        tx.upkeep.put(mark(first, last, PINNED))
                    else:
                        tx.upkeep.release(PINNED, first, last)
                    held = held | inside if put else held - inside
                indexes = set(tx.upkeep.touched([PINNED], asked))
                marks = tx.upkeep.marks(PINNED)
            assert indexes == {n for n, (a, b) in enumerate(asked) if held & set(range(a, b + 1))}
            assert sorted(n for m in marks for n in range(m.first_ref, m.last_ref + 1)) == sorted(held)

        check()

    def test_words_are_kept_once_in_any_case(self, store: Store) -> None:
        with store.begin(ANA) as tx:
            tx.upkeep.put(SuppressedWords("Zoë's clinic\0", minute(2), "private"))
            tx.upkeep.put(SuppressedWords("the move", minute(1)))
            tx.upkeep.put(SuppressedWords("THE MOVE", minute(3), "again"))
            assert list(tx.upkeep.settings().words) == [
                SuppressedWords("Zoë's clinic\0", minute(2), "private"),
                SuppressedWords("THE MOVE", minute(3), "again"),
            ]
            assert tx.upkeep.release("The Move")
            assert not tx.upkeep.release("The Move")
            assert [one.words for one in tx.upkeep.settings().words] == ["Zoë's clinic\0"]

    def test_what_expires_is_due_by_its_time(self, store: Store) -> None:
        observations = make_observations("kitchen", ["a", "b", "c", "d"])
        ends = [minute(30), None, minute(10), minute(20)]
        with store.begin(ANA) as tx:
            tx.threads.create(make_thread(), make_frame())
            tx.observations.append(
                [replace(o, expires_at=at) for o, at in zip(observations, ends, strict=True)]
            )
            number = tx.threads.number(identity("kitchen"))
            refs = [ref_of(number, n) for n in range(4)]
            assert [o.expires_at for o in tx.observations.read(identity("kitchen"), 0, 3)] == ends
        with store.begin(ANA) as tx:
            assert list(tx.upkeep.expired(None, minute(9), limit=9)) == []
            assert list(tx.upkeep.expired(None, minute(20), limit=9)) == [refs[2], refs[3]]
            assert list(tx.upkeep.expired(None, minute(99), limit=2)) == [refs[2], refs[3]]
            pairs = [(refs[0], refs[3]), (refs[2], refs[2])]
            assert list(tx.upkeep.expired(pairs, minute(30))) == [refs[0], refs[2], refs[3]]
            assert list(tx.upkeep.expired([(refs[1], refs[2])], minute(19))) == [refs[2]]
            assert list(tx.upkeep.expired([], minute(30))) == []
            assert tx.count("expiring") == 3
            tx.upkeep.release([refs[2], refs[1]])
            assert list(tx.upkeep.expired(None, minute(99), limit=9)) == [refs[3], refs[0]]

    def test_one_look_tells_what_is_in_force(self, store: Store) -> None:
        looks: list[tuple[bool, bool]] = []

        def look(at: float = 0) -> None:
            with store.begin(ANA, write=False) as tx:
                looks.append(tx.upkeep.in_force(minute(at)))

        look()
        with store.begin(ANA) as tx:
            begin_thread(tx)
            tx.observations.append(
                [replace(o, expires_at=minute(9)) for o in make_observations("kitchen", ["a"])]
            )
            tx.upkeep.put(mark(1, 2, PINNED))
        look(8)
        look(9)
        with store.begin(ANA) as tx:
            tx.upkeep.release(tx.upkeep.expired(None, minute(99), limit=9))
            tx.upkeep.put(SuppressedWords("a", minute(0)))
            tx.upkeep.release(PINNED, 1, 2)
        look(9)
        with store.begin(ANA) as tx:
            tx.upkeep.release("a")
            tx.upkeep.put(mark(1, 2, ARCHIVED))
        look(9)
        assert looks == [(False, False), (False, True), (True, True), (True, False), (True, False)]

    def test_a_policy_is_kept_and_its_turn_taken_once_in_a_while(self, store: Store) -> None:
        with store.begin(ANA) as tx:
            assert tx.upkeep.settings().retention is None
            assert tx.upkeep.take_turn(minute(0), HOUR)
            assert not tx.upkeep.take_turn(minute(59), HOUR)
            assert tx.upkeep.take_turn(minute(60), HOUR)
            assert tx.upkeep.take_turn(minute(-600), HOUR)  # the clock was set back
            assert not tx.upkeep.take_turn(minute(-600), HOUR)
            tx.upkeep.put(OwnRetention("age=3d"))
            assert tx.upkeep.settings().retention == "age=3d"
            assert tx.upkeep.take_turn(minute(-599), HOUR)
            tx.upkeep.put(OwnRetention(tx.upkeep.settings().retention))
            assert tx.upkeep.take_turn(minute(-598), HOUR)
            tx.upkeep.put(OwnRetention(None))
            assert tx.upkeep.settings().retention is None

    def test_standings_are_of_current_events_by_reference(self, store: Store) -> None:
        number = fill(store, texts=("a", "b", "c", "d"))
        with store.begin(ANA) as tx:
            later, first = make_episode("kitchen", 2, 3), make_episode("kitchen", 0, 1)
            tx.episodes.put(later)
            tx.episodes.put(first)
            tx.episodes.put(replace(make_episode("kitchen", 9, 9), generation_to=1))
            begun, ended = ([round(minute(n).timestamp() * 1e6) for n in pair] for pair in ((0, 2), (1, 3)))
            assert list(tx.index.spans([])) == [
                Standing(ref_of(number, at), ref_of(number, at + 1), one.id.hex, start, end, 2.5, end)
                for one, at, start, end in zip((first, later), (0, 2), begun, ended, strict=True)
            ]

    def test_care_is_a_scopes_own_and_refused_while_reading(self, store: Store) -> None:
        with store.begin(ANA) as tx:
            tx.upkeep.put(mark(1, 9))
            tx.upkeep.put(SuppressedWords("a", minute(0)))
            tx.upkeep.put(OwnRetention("age=3d"))
        with store.begin(BO) as tx:
            assert list(tx.upkeep.marks()) == []
            assert list(tx.upkeep.settings().words) == []
            assert tx.upkeep.settings().retention is None
            assert tx.upkeep.release(SUPPRESSED, 1, 9) == 0
        with store.begin(ANA, write=False) as tx:
            assert list(tx.upkeep.marks()) == [mark(1, 9)]
        for write in (
            lambda tx: tx.upkeep.put(mark(1, 2)),
            lambda tx: tx.upkeep.release(SUPPRESSED, 1, 2),
            lambda tx: tx.upkeep.put(OwnRetention("none")),
            lambda tx: tx.upkeep.take_turn(minute(0), HOUR),
        ):
            with pytest.raises(StoreError), store.begin(ANA, write=False) as tx:
                write(tx)
