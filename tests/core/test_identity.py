"""Ids: what is said twice is found again, what is really repeated is kept."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from episodic_agent.core.identity import (
    Repeats,
    assign_ids,
    content_id,
    episode_id,
    observation_id,
    source_of,
    thread_id,
    uuid7,
)
from episodic_agent.core.ingest import Item
from episodic_agent.schemas import Scope, TimeSource

ANA = Scope("ana")
NOON = datetime(2024, 3, 1, 12, tzinfo=UTC)
TEXT = st.text(st.characters(exclude_categories=()), max_size=8)
ITEMS = st.lists(
    st.builds(
        Item, st.sampled_from(["a", "b"]), st.sampled_from(["x", "y"]), at=st.sampled_from([None, NOON]),
        at_source=st.just(TimeSource.GIVEN), conversation=st.sampled_from([None, "c"]), channel=st.sampled_from([None, "sms"]),
    ),
    max_size=12,
)  # fmt: skip


@given(TEXT, TEXT, TEXT, TEXT)
def test_different_names_never_run_together(user: str, source: str, external: str, other: str) -> None:
    identifier = observation_id(Scope(user), source, external)
    assert identifier == observation_id(Scope(user), source, external)
    assert (identifier == observation_id(Scope(user), source + external, other)) == (external == "" == other)


def test_spaces_users_and_sources_keep_equal_ids_apart() -> None:
    ids = {
        observation_id(scope, source, "1")
        for scope in (ANA, Scope("bo"), Scope("ana", "other"))
        for source in ("a", "b")
    }
    assert len(ids) == 6


@given(ITEMS)
def test_a_second_import_finds_every_id_and_a_repetition_keeps_its_own(items: list[Item]) -> None:
    ids = assign_ids(items, ANA)
    assert len(set(ids)) == len(items)
    assert assign_ids(items, ANA) == ids


@given(ITEMS, st.integers(0, 12))
def test_reading_in_chunks_changes_no_id(items: list[Item], cut: int) -> None:
    seen = Repeats()
    chunked = assign_ids(items[:cut], ANA, seen=seen) + assign_ids(items[cut:], ANA, seen=seen)
    assert chunked == assign_ids(items, ANA)


def test_a_live_remark_without_id_and_time_is_never_a_duplicate() -> None:
    numbers = iter(range(1, 9))
    yes, dated = Item("user", "yes"), Item("user", "yes", at=NOON, at_source=TimeSource.GIVEN)
    ids = assign_ids([yes, dated, yes], ANA, fresh=lambda: UUID(int=next(numbers)))
    assert ids == [UUID(int=1), content_id(ANA, "import", dated, 0), UUID(int=2)]


def test_an_assumed_time_is_no_part_of_the_name() -> None:
    assert content_id(ANA, "s", Item("user", "yes", at=NOON), 0) == content_id(
        ANA, "s", Item("user", "yes"), 0
    )


def test_the_source_is_the_given_then_the_thread_then_the_chat_then_the_channel() -> None:
    item = Item("user", "hi", conversation="chat", channel="sms")
    assert source_of(item, source="mine", thread="t") == "mine"
    assert source_of(item, thread="t") == "t"
    assert source_of(item) == "chat"
    assert source_of(Item("user", "hi", channel="sms")) == "sms"


def test_fresh_ids_sort_by_time_and_are_version_seven() -> None:
    moments = [NOON + timedelta(milliseconds=n) for n in range(5)]
    ids = [uuid7(moment, 2**74 - 1 - n) for n, moment in enumerate(moments)]
    assert ids == sorted(ids)
    assert {made.version for made in ids} == {7}
    assert {made.variant for made in ids} == {"specified in RFC 4122"}


def test_episodes_and_threads_are_named_by_what_they_are() -> None:
    thread = thread_id(ANA, "work")
    assert thread != thread_id(Scope("bo"), "work")
    assert len({episode_id(thread, first, generation) for first in (0, 1) for generation in (0, 1)}) == 4
