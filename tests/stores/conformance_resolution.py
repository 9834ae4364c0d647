"""What every store must do with threads as resolution reads them: which may go on, which began, what ends."""

from dataclasses import replace
from datetime import timedelta

import pytest
from stores.builders import (
    ANA,
    BO,
    NOW,
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
from episodic_agent.protocols import OwnTimeout, Store, Transaction, split_ref
from episodic_agent.schemas import EpisodeKind, Thread


def begin(tx: Transaction, name: str, **more: object) -> Thread:
    thread = replace(make_thread(name), **more)  # type: ignore[arg-type]
    tx.threads.create(thread, make_frame(name))
    return thread


def names(threads: object) -> list[str]:
    return [thread.origin for thread in threads]  # type: ignore[attr-defined]


class ResolutionConformance(StoreFixture):
    def test_what_resolution_leaves_is_kept_to_the_microsecond(self, store: Store) -> None:
        made = replace(
            make_thread(),
            explicit=True,
            timeout=timedelta(microseconds=1_234_567),
            status="closed",
            closed_for="inactivity",
            selected_at=minute(7),
            turn_count=12,
            channels=("sms", "whatsapp"),
        )
        with store.begin(ANA) as tx:
            tx.threads.create(made, make_frame())
        with store.begin(ANA) as tx:
            assert tx.threads.get(made.id) == made
            changed = replace(
                made, explicit=False, timeout=None, selected_at=None, turn_count=13, created_at=minute(-3)
            )
            tx.threads.save(changed)
        with store.begin(ANA, write=False) as tx:
            assert tx.threads.get(made.id) == changed

    def test_threads_are_numbered_by_the_channels_they_came_by(self, store: Store) -> None:
        with store.begin(ANA) as tx:
            for name, channels in (("one", ("sms", "web")), ("two", ()), ("three", ("sms", "web"))):
                begin(tx, name, channels=channels)
        with store.begin(BO) as tx:
            begin(tx, "other", channels=("web",))
        with store.begin(ANA, write=False) as tx:
            asked: list[tuple[str, ...]] = []
            named = {tx.threads.number(identity(name)): identity(name) for name in ("one", "two", "three")}
            one, two, three = named

            def by_web(channels: tuple[str, ...]) -> bool:
                asked.append(channels)
                return "web" in channels

            assert tx.threads.by_numbers() == named
            assert tx.threads.by_numbers(came_by=by_web) == {one: named[one], three: named[three]}
            assert sorted(asked) == [(), ("sms", "web")]
            assert tx.threads.by_numbers([two, three, three + 77], came_by=by_web) == {three: named[three]}

    def test_a_message_may_go_on_with_what_is_open_or_only_silent(self, store: Store) -> None:
        with store.begin(ANA) as tx:
            begin(tx, "sms", channels=("sms",), last_activity_at=minute(5))
            begin(tx, "silent", status="closed", closed_for="inactivity", last_activity_at=minute(6))
            begin(tx, "ended", status="closed", closed_for="manual", last_activity_at=minute(7))
            begin(tx, "named", explicit=True, last_activity_at=minute(8))
            begin(tx, "chosen", explicit=True, selected_at=minute(20), last_activity_at=minute(1))
            begin(tx, "web", explicit=True, channels=("web",), last_activity_at=minute(9))
            begin(tx, "robot", modality="step", last_activity_at=minute(10))
            picked = ("app", "web")
            assert names(tx.threads.list("current", picked=picked, limit=9)) == [
                "chosen",
                "web",
                "silent",
                "sms",
            ]
            assert names(tx.threads.list("current", picked=picked, limit=2)) == ["chosen", "web"]
            begin(tx, "before", explicit=True, selected_at=minute(19), last_activity_at=minute(31))
            begin(tx, "busy", last_activity_at=minute(30))
            assert names(tx.threads.list("current", limit=1)) == ["before", "chosen"]
        with store.begin(BO) as tx:
            assert names(tx.threads.list("current", limit=9)) == []

    def test_a_message_goes_on_with_no_named_thread_but_where_users_pick_them(self, store: Store) -> None:
        given = "web 2026-03-02T10:00:00Z"
        with store.begin(ANA) as tx:
            begin(tx, given, explicit=True, channels=("web",), last_activity_at=minute(1))
            begin(tx, f"{given} (2)", explicit=True, channels=("kiosk",), last_activity_at=minute(2))
            begin(tx, "on the web", explicit=True, channels=("sms", "web"), last_activity_at=minute(3))
            begin(tx, "agent:r2", explicit=True, channels=("/home/ana/web",), last_activity_at=minute(4))
            for n in range(9):  # more than are looked at
                begin(tx, f"+49 {n}", explicit=True, channels=("sms",), last_activity_at=minute(5 + n))
        with store.begin(ANA, write=False) as tx:
            assert names(tx.threads.list("current", limit=8)) == [f"{given} (2)", given]
            found = names(tx.threads.list("current", picked=("cli", "web"), limit=8))
            assert found == ["on the web", f"{given} (2)", given]

    def test_threads_that_began_by_then_are_found_the_latest_first(self, store: Store) -> None:
        with store.begin(ANA) as tx:
            begin(tx, "old", created_at=minute(-90), last_activity_at=minute(-60))
            begin(tx, "long", created_at=minute(-80), last_activity_at=minute(50))
            begin(tx, "new", created_at=minute(30), last_activity_at=minute(40))
            begin(tx, "robot", modality="step", created_at=minute(-99), last_activity_at=minute(1))
            assert names(tx.threads.list(begun=NOW, limit=9)) == ["long", "old"]
            assert names(tx.threads.list(begun=minute(30), limit=2)) == ["long", "new"]

    def test_what_time_may_end_is_open_and_unchosen_or_has_an_open_frame(self, store: Store) -> None:
        with store.begin(ANA) as tx:
            begin(tx, "sms", last_activity_at=minute(5))
            begin(tx, "over", status="closed", closed_for="inactivity", last_activity_at=minute(4))
            begin(tx, "web", explicit=True, last_activity_at=minute(3))
            begin(tx, "talking", explicit=True, last_activity_at=minute(2))
            frame = tx.threads.frame(identity("talking"))
            tx.threads.save(replace(frame, next_seq=2))
            assert names(tx.threads.list("unfinished")) == ["talking", "sms"]

    def test_what_grows_is_found_by_its_frame_and_the_oldest_by_when_it_began(self, store: Store) -> None:
        with store.begin(ANA) as tx:
            assert names(tx.threads.list("growing")) == names(tx.threads.list("oldest", limit=1)) == []
            begin(tx, "sms", created_at=minute(3), last_activity_at=minute(9))
            begin(tx, "over", created_at=minute(1), status="closed", last_activity_at=minute(8))
            begin(tx, "talk", created_at=minute(2), last_activity_at=minute(7))
            for name, first, following in (("over", 3, 5), ("talk", 0, 1), ("sms", 4, 4)):
                frame = tx.threads.frame(identity(name))
                tx.threads.save(replace(frame, first_seq=first, next_seq=following, cursor=following))
        fill(store, BO, name="cellar", texts=["foreign"])
        with store.begin(ANA, write=False) as tx:
            assert names(tx.threads.list("growing")) == ["over", "talk"]
            assert names(tx.threads.list("growing", limit=1)) == ["over"]
            assert names(tx.threads.list("oldest")) == ["over", "talk", "sms"]
            assert names(tx.threads.list("oldest", limit=2)) == ["over", "talk"]
            assert (tx.count("threads"), tx.count("open observations")) == (3, 3)

    def test_timeouts_are_the_users_own_by_channel(self, store: Store) -> None:
        with store.begin(ANA) as tx:
            assert tx.upkeep.settings().timeouts == {}
            tx.upkeep.put(OwnTimeout("sms", timedelta(minutes=60)))
            tx.upkeep.put(OwnTimeout("", timedelta(minutes=5)))
            tx.upkeep.put(OwnTimeout("sms", timedelta(minutes=45)))
        with store.begin(ANA) as tx:
            assert tx.upkeep.settings().timeouts == {"": timedelta(minutes=5), "sms": timedelta(minutes=45)}
            tx.upkeep.put(OwnTimeout("", None))
            tx.upkeep.put(OwnTimeout("email", None))
            assert tx.upkeep.settings().timeouts == {"sms": timedelta(minutes=45)}
        with store.begin(BO, write=False) as tx:
            assert tx.upkeep.settings().timeouts == {}

    def test_only_a_writer_holds_the_scope(self, store: Store) -> None:
        with store.begin(ANA) as tx:
            tx.hold("threads")
            begin(tx, "sms")
        with store.begin(ANA, write=False) as tx, pytest.raises(StoreError, match="cannot write"):
            tx.hold("threads")

    def test_several_threads_are_read_at_once_as_each_is_alone(self, store: Store) -> None:
        names = ("kitchen", "attic", "porch")
        for name, texts in zip(names, ("abcde", "xy", ""), strict=True):
            fill(store, name=name, texts=list(texts))
        fill(store, BO, name="cellar", texts=["foreign"])
        ids = [identity(name) for name in (*names, "cellar", "nowhere")]
        spans = [
            (one, first, last) for one in (*ids, ids[0]) for first, last in ((1, 3), (-5, 0), (3, 2), (4, 99))
        ]
        with store.begin(ANA) as tx:
            tx.episodes.put(make_episode("kitchen", 3, 4))
            tx.episodes.put(make_episode("kitchen", 0, 2))
            tx.episodes.put(make_episode("attic", 0, 1))
            tx.episodes.put(replace(make_episode("porch", 0, 2), kind=EpisodeKind.PRIMARY))
        with store.begin(ANA, write=False) as tx:
            assert {t.id: t for t in tx.threads.list(ids=ids)} == {
                one: tx.threads.get(one) for one in ids[:3]
            }
            assert tx.threads.frame(ids) == {one: tx.threads.frame(one) for one in ids[:3]}
            assert list(tx.observations.read(spans)) == [tx.observations.read(*span) for span in spans]
            episodes = tx.episodes.list(threads=ids)
            assert {one: [e for e in episodes if e.thread_id == one] for one in ids} == {
                one: tx.episodes.list(threads=[one]) for one in ids
            }
            assert (
                {t.id: t for t in tx.threads.list(ids=[])},
                tx.threads.frame([]),
                tx.observations.read([]),
            ) == ({}, {}, [])
            assert list(tx.episodes.list(threads=[])) == []

    def test_what_came_by_no_channel_of_some_is_looked_up_in_the_threads_it_is_asked_of(
        self, store: Store
    ) -> None:
        by_channel = [
            replace(one, channel=channel)
            for one, channel in zip(
                make_observations("kitchen", list("abcd"), first=3), ("sms", " SMS", "web", None), strict=True
            )
        ]
        fill(store)
        with store.begin(ANA) as tx:
            tx.observations.append(by_channel)
            tx.observations.erase(identity("kitchen"), [6], minute(9))
            number = tx.threads.number(identity("kitchen"))
            refs = tx.observations.having("channel", ["sms"], besides=[number])
            assert [split_ref(ref) for ref in refs] == [(number, seq) for seq in (0, 1, 2, 5)]
            assert tx.observations.having("channel", [], besides=[number], limit=2) == refs[:2]
            assert tx.observations.having("channel", ["sms"], besides=[number + 1]) == []
