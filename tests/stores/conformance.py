"""What every store must do, as one class; a store's own test file inherits it and says how to open one."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import numpy as np
import pytest
from stores.builders import (
    ANA,
    BO,
    NOW,
    begin_thread,
    episode_mark_of,
    fill,
    identity,
    make_episode,
    make_frame,
    make_observations,
    make_thread,
    mark_of,
    minute,
)

from episodic_agent.errors import Conflict, InvalidInput, NotFound, StoreError
from episodic_agent.protocols import Store, ref_of, split_ref
from episodic_agent.schemas import (
    Decision,
    Encoding,
    EpisodeKind,
    EpisodeState,
    Job,
    Kind,
    Observation,
    Receipt,
    Scope,
    TimeSource,
)

LEASE = timedelta(minutes=5)


def claim_one(store: Store, owner: str = "elsewhere:1:1", at: float = 0, **narrower: object) -> Job:
    claimed = store.claim(owner, now=minute(at), lease=LEASE, **narrower)  # type: ignore[arg-type]
    assert claimed is not None
    return claimed[1][0]


class StoreFixture:
    """Opens the store under test; `open_store` opens one more on the same data."""

    @pytest.fixture
    def open_store(self, tmp_path: Path) -> Iterator[Callable[[], Store]]:
        raise NotImplementedError

    @pytest.fixture
    def store(self, open_store: Callable[[], Store]) -> Store:
        return open_store()


class TransactionConformance(StoreFixture):
    def test_a_block_that_ends_is_kept_by_the_next_store_that_opens(
        self, open_store: Callable[[], Store]
    ) -> None:
        first = open_store()
        fill(first)
        first.close()
        with open_store().begin(ANA, write=False) as tx:
            assert [o.text for o in tx.observations.read(identity("kitchen"), 0, 9)] == ["a", "b", "c"]

    def test_a_block_that_raises_leaves_nothing(self, store: Store) -> None:
        with pytest.raises(ZeroDivisionError), store.begin(ANA) as tx:  # noqa: PT012 the block is the case
            begin_thread(tx, "kitchen", ["a"])
            tx.upkeep.ask("encode", "k", "s", now=NOW)
            raise ZeroDivisionError
        assert not store.scopes(ANA)
        assert store.waiting() == 0
        fill(store)  # and nothing is still held

    def test_a_read_transaction_keeps_its_snapshot_while_others_write(self, store: Store) -> None:
        number = fill(store)
        with store.begin(ANA, write=False) as reader:
            assert reader.count("observations") == 3
            with store.begin(ANA) as writer:
                writer.observations.append(make_observations("kitchen", ["d"], first=3))
                writer.upkeep.ask("encode", "k", "s", now=NOW)
            assert reader.count("observations") == 3
            assert len(reader.observations.read(identity("kitchen"), 0, 9)) == 3
            assert reader.observations.get([ref_of(number, 3)]) == {}
            assert reader.upkeep.jobs() == []

    def test_a_read_transaction_cannot_write(self, store: Store) -> None:
        fill(store)
        with store.begin(ANA, write=False) as tx:
            with pytest.raises(StoreError):
                tx.threads.save(make_thread())
            with pytest.raises(StoreError):
                tx.index.drop("o", [1])
            with pytest.raises(StoreError):
                tx.upkeep.ask("encode", "k", "s", now=NOW)

    def test_a_scope_exists_from_its_first_write_on(self, store: Store) -> None:
        with store.begin(ANA) as tx:
            tx.threads.list()
        assert store.scopes() == []
        fill(store, BO)
        fill(store, ANA)
        assert store.scopes() == [ANA, BO]
        assert store.scopes(BO)
        assert not store.scopes(Scope("bo", "work"))

    def test_an_unknown_scope_reads_as_empty(self, store: Store) -> None:
        fill(store)
        with store.begin(BO, write=False) as tx:
            assert tx.scope == BO
            assert tx.threads.list() == []
            assert tx.count("observations") == 0
            assert tx.observations.last_at() is None
            assert tx.observations.actors() == {}
            assert tx.episodes.list(limit=5) == []
            assert tx.index.statistics("o", ["a"]).documents == 0
            assert (
                tx.index.text_scores("o", {"a": 1}, k1=1.2, b=0.75, average_length=1, limit=3)[0].tolist()
                == []
            )
            assert (
                tx.index.vector_scores("o", "small", np.ones(8, dtype=np.float32), limit=3)[0].tolist() == []
            )
            assert tx.index.unindexed("o", "small", limit=3) == []
            assert tx.upkeep.jobs() == []

    def test_a_second_write_in_the_same_thread_is_refused_instead_of_hanging(self, store: Store) -> None:
        with store.begin(ANA), pytest.raises(StoreError, match="already open"), store.begin(ANA):
            pass

    def test_a_sound_file_has_nothing_to_report(self, store: Store) -> None:
        fill(store)
        assert store.check() == []

    def test_a_closed_store_says_so(self, store: Store) -> None:
        store.close()
        store.close()
        with pytest.raises(StoreError, match="closed"), store.begin(ANA):
            pass

    def test_no_verb_reads_or_changes_another_scope(self, store: Store) -> None:
        number = fill(store, ANA)
        kitchen, refs = identity("kitchen"), [ref_of(number, seq) for seq in range(3)]
        episode, decision = make_episode("kitchen", 0, 1), make_decision("d")
        with store.begin(ANA) as tx:
            tx.episodes.put(episode)
            tx.knowledge.decide(decision)
            tx.observations.save_records(kitchen, {0: b"r"})
            tx.upkeep.ask("encode", "k", "s", now=NOW)
        ids = [identity(f"kitchen/{seq}") for seq in range(3)]
        with store.begin(BO) as tx:
            assert tx.threads.get(kitchen) is None
            assert tx.threads.get("kitchen") is None
            assert tx.threads.by_numbers([number]) == {}
            assert tx.observations.known(ids) == {}
            assert tx.observations.get(ids) == {}
            assert tx.observations.get(refs) == {}
            assert tx.index.observation_marks(np.array(refs)) == []
            assert tx.observations.read(kitchen, 0, 9) == []
            assert tx.observations.records(kitchen, 0, 9) == {}
            assert set(tx.index.times(np.array(refs)).tolist()) == {np.iinfo(np.int64).min}
            assert tx.index.between(minute(-9), minute(9), limit=9).tolist() == []
            assert tx.episodes.get(episode.id) is None
            assert tx.episodes.list(threads=[kitchen]) == []
            assert tx.index.episode_marks(np.array(refs), covering=True) == tx.index.episode_marks(refs) == {}
            assert tx.episodes.get(refs) == {}
            assert tx.episodes.encodings(episode.id) == []
            assert list(tx.knowledge.decisions(ids=[decision.id])) == []
            assert tx.knowledge.decisions(subject=decision.subject) == []
            for attempt in (
                lambda: tx.threads.number(kitchen),
                lambda: tx.threads.frame(kitchen),
                lambda: tx.threads.save(make_thread()),
                lambda: tx.threads.save(replace(make_frame(), version=1)),
                lambda: tx.observations.append(make_observations("kitchen", ["x"], first=3)),
                lambda: tx.observations.save_records(kitchen, {0: b"x"}),
                lambda: tx.episodes.put(make_episode("kitchen", 2, 2)),
                lambda: tx.episodes.put(make_encoding(episode.id, 1)),
                lambda: tx.upkeep.drop(UUID(int=1)),
                lambda: tx.upkeep.put_back(UUID(int=1), retry_at=NOW),
            ):
                with pytest.raises(NotFound):
                    attempt()
        assert store.claim("h:1:1", now=NOW, lease=LEASE, scope=BO) is None
        job = claim_one(store, scope=ANA)
        with pytest.raises(Conflict), store.begin(BO) as tx:
            tx.upkeep.drop(job)
        assert store.waiting(BO) == 0
        assert store.waiting(ANA) == 1

    def test_the_same_names_and_ids_may_be_used_in_every_scope(self, store: Store) -> None:
        for scope in (ANA, BO, Scope("ana", "work")):
            fill(store, scope, texts=[scope.space + scope.user_id])
        for scope in (ANA, BO, Scope("ana", "work")):
            with store.begin(scope, write=False) as tx:
                observations = tx.observations.get([identity("kitchen/0")])
                assert observations[identity("kitchen/0")].text == scope.space + scope.user_id


class ThreadsConformance(StoreFixture):
    def test_a_thread_comes_back_as_it_was_saved(self, store: Store) -> None:
        fill(store)
        changed = replace(
            make_thread(at=5),
            title="Tea",
            status="closed",
            modality="step",
            channels=("a", "b"),
            generation=2,
        )
        with store.begin(ANA) as tx:
            assert tx.threads.get(identity("kitchen")) == make_thread()
            tx.threads.save(changed)
        with store.begin(ANA, write=False) as tx:
            assert tx.threads.get("kitchen") == changed
            number = tx.threads.number(changed.id)
            assert tx.threads.by_numbers([number, number + 77]) == {number: changed.id}
            with pytest.raises(NotFound):
                tx.threads.number(identity("attic"))

    def test_an_origin_or_id_is_taken_only_once(self, store: Store) -> None:
        fill(store)
        for thread in (make_thread(), replace(make_thread("attic"), origin="kitchen")):
            with pytest.raises(Conflict), store.begin(ANA) as tx:
                tx.threads.create(thread, replace(make_frame(), thread_id=thread.id))

    def test_threads_are_listed_by_last_activity_then_id(self, store: Store) -> None:
        with store.begin(ANA) as tx:
            for name, at in (("one", 3), ("two", 9), ("three", 3)):
                tx.threads.create(make_thread(name, at=at), make_frame(name))
        tied = sorted([identity("one"), identity("three")], key=lambda i: i.bytes)
        with store.begin(ANA, write=False) as tx:
            assert [t.id for t in tx.threads.list()] == [identity("two"), *tied]
            assert [t.origin for t in tx.threads.list(limit=1)] == ["two"]

    def test_a_frame_is_written_only_over_the_version_that_was_read(self, store: Store) -> None:
        fill(store)
        with store.begin(ANA) as tx:
            frame = tx.threads.frame(identity("kitchen"))
            changed = replace(frame, cursor=2, state=b"\0s", question=b"q", last_received_at=minute(3))
            tx.threads.save(changed)
            assert tx.threads.frame(frame.thread_id) == replace(changed, version=frame.version + 1)
            with pytest.raises(Conflict):
                tx.threads.save(changed)

    def test_an_observation_comes_back_with_every_field(self, store: Store) -> None:
        full = Observation(
            id=identity("x"),
            thread_id=identity("kitchen"),
            seq=0,
            at=NOW + timedelta(microseconds=1),
            received_at=minute(1),
            actor="Zoë",
            text="line\nwith \u0000 and 猫",
            kind=Kind.STEP,
            at_source=TimeSource.DATE_ONLY,
            utc_offset=-3600,
            external_id="m-1",
            channel="mail",
            location="kitchen",
            location_confidence=0.1,
            events=({"type": "x", "n": [1, 2.5, None]},),
            prediction_error=0.0,
            extras={"a": {"b": True}},
        )
        with store.begin(ANA) as tx:
            begin_thread(tx)
            tx.observations.append([full])
        with store.begin(ANA, write=False) as tx:
            assert tx.observations.read(identity("kitchen"), 0, 0) == [full]

    def test_ranges_refs_ids_and_times_find_the_same_observations(self, store: Store) -> None:
        number = fill(store, texts=list("abcde"))
        fill(store, name="attic", texts=["z"])
        kitchen = make_observations("kitchen", list("abcde"))
        refs = [ref_of(number, seq) for seq in (1, 3)]
        with store.begin(ANA, write=False) as tx:
            assert tx.observations.read(identity("kitchen"), 1, 3) == kitchen[1:4]
            assert tx.observations.read(identity("kitchen"), -5, 0) == kitchen[:1]
            assert tx.observations.read(identity("kitchen"), 4, 99) == kitchen[4:]
            assert tx.observations.read(identity("kitchen"), 3, 2) == []
            there = dict(zip(refs, kitchen[1::2], strict=True))
            assert tx.observations.get([*refs, ref_of(number, 99)]) == there
            assert tx.observations.get([kitchen[4].id, identity("?")]) == {kitchen[4].id: kitchen[4]}
            marks = tx.index.observation_marks(np.array([refs[1], ref_of(number, 99), refs[0]]))
            assert marks == [mark_of(ref, kitchen[seq]) for ref, seq in ((refs[1], 3), (refs[0], 1))]
            times = tx.index.times(np.array([refs[1], ref_of(number, 99), refs[0], refs[1]]))
            first, missing = round(minute(1).timestamp() * 1e6), np.iinfo(np.int64).min
            assert times.tolist() == [first + 120_000_000, missing, first, first + 120_000_000]
            between = tx.index.between(minute(1), minute(3), limit=9)
            assert [split_ref(ref) for ref in between.tolist()] == [(number, 1), (number, 2)]
            assert [*tx.index.between(minute(0), minute(3), limit=2, newest=True)] == [*between]
            assert tx.observations.last_at() == minute(4)

    def test_a_known_id_is_answered_with_its_first_receipt(self, store: Store) -> None:
        fill(store)
        ids = [identity("kitchen/1"), identity("kitchen/7")]
        with store.begin(ANA, write=False) as tx:
            receipt = Receipt(ids[0], identity("kitchen"), seq=1, added=False)
            assert tx.observations.known(ids) == {ids[0]: receipt}

    @pytest.mark.parametrize(
        "wrong",
        [
            pytest.param(make_observations("kitchen", ["x"], first=2), id="taken seq"),
            pytest.param(make_observations("kitchen", ["x"], first=4), id="gap"),
            pytest.param(
                [replace(o, id=identity("kitchen/1")) for o in make_observations("kitchen", ["x"], first=3)],
                id="taken id",
            ),
            pytest.param(
                [replace(o, id=identity("twice")) for o in make_observations("kitchen", ["x", "y"], first=3)],
                id="same id twice",
            ),
        ],
    )
    def test_a_chunk_that_does_not_fit_is_refused_whole(self, store: Store, wrong: list[Observation]) -> None:
        fill(store)
        with store.begin(ANA) as tx:
            with pytest.raises(Conflict):
                tx.observations.append(wrong)
            # The caller may catch the conflict and go on: nothing of the chunk is there.
            assert tx.count("observations") == 3
            tx.observations.append(make_observations("kitchen", ["d"], first=3))
        with store.begin(ANA, write=False) as tx:
            assert [o.text for o in tx.observations.read(identity("kitchen"), 0, 9)] == list("abcd")
            assert tx.observations.actors() == {"ana": 4}

    def test_a_chunk_is_of_one_thread_and_without_holes(self, store: Store) -> None:
        fill(store)
        chunk = make_observations("kitchen", ["d", "e"], first=3)
        for wrong in (chunk[::-1], [chunk[0], replace(chunk[1], thread_id=identity("attic"))]):
            with pytest.raises(InvalidInput), store.begin(ANA) as tx:
                tx.observations.append(wrong)

    def test_records_are_kept_beside_their_observations(self, store: Store) -> None:
        fill(store)
        with store.begin(ANA) as tx:
            tx.observations.save_records(identity("kitchen"), {2: b"\x00two", 0: b"zero"})
            assert tx.observations.records(identity("kitchen"), 0, 9) == {0: b"zero", 2: b"\x00two"}
            assert tx.observations.records(identity("kitchen"), 1, 1) == {}

    def test_speakers_are_counted_most_frequent_first(self, store: Store) -> None:
        fill(store)
        with store.begin(ANA) as tx:
            tx.observations.append(make_observations("kitchen", list("wxyz"), first=3, actor="bo"))
            tx.observations.append(make_observations("kitchen", ["?"], first=7, actor="cy"))
            assert list(tx.observations.actors().items()) == [("bo", 4), ("ana", 3), ("cy", 1)]
            assert list(tx.observations.actors(limit=1)) == ["bo"]
            assert tx.count("observations") == 8


def make_decision(name: str, *, at: float = 0, subject: str = "kitchen", type: str = "boundary") -> Decision:
    return Decision(
        id=identity(name),
        type=type,
        at=minute(at),
        subject=identity(subject),
        features={"gap": 0.1 + 0.2, "drift": 1e-17},
        score=0.7,
        threshold=0.5,
        verdict="cut",
        policy_version="p-1",
        confidence_label="UNCERTAIN",
        alternatives=({"verdict": "keep", "score": 0.3},),
        detail={"words": ["a"]},
        outcome="kept",
    )


def make_encoding(episode_id: UUID, version: int) -> Encoding:
    words = {"tags": [f"v{version}"]}
    return Encoding(
        episode_id, version, f"Title {version}", f"Summary {version}", words, "extractive", minute(9)
    )


class EpisodesConformance(StoreFixture):
    def test_an_episode_comes_back_with_every_field(self, store: Store) -> None:
        fill(store)
        full = replace(
            make_episode("kitchen", 0, 2),
            decision_id=identity("d"),
            kind=EpisodeKind.PRIMARY,
            state=EpisodeState.ARCHIVED,
            generation_from=1,
            generation_to=3,
            consolidated_at=minute(5),
            parent_episode_id=identity("p"),
            metadata={"tags": ["x"]},
        )
        with store.begin(ANA) as tx:
            tx.episodes.put(full)
        with store.begin(ANA, write=False) as tx:
            assert tx.episodes.get(full.id) == full
            assert tx.episodes.get([full.id, identity("?")]) == {full.id: full}
            assert tx.episodes.list(threads=[full.thread_id]) == []  # a primary owns nothing (I3)
            assert tx.count("episodes") == 0

    def test_inserting_an_episode_again_changes_nothing(self, store: Store) -> None:
        fill(store)
        episode = make_episode("kitchen", 0, 1)
        with store.begin(ANA) as tx:
            tx.episodes.put(episode)
            tx.episodes.put(replace(episode, reason="manual", last_seq=2))
            assert tx.episodes.get(episode.id) == episode
            assert tx.count("episodes") == 1

    def test_two_current_episodes_never_begin_at_one_observation(self, store: Store) -> None:
        fill(store)
        with store.begin(ANA) as tx:
            tx.episodes.put(make_episode("kitchen", 0, 1))
            with pytest.raises(Conflict):
                tx.episodes.put(replace(make_episode("kitchen", 0, 2), id=identity("other")))

    def test_the_current_cover_of_a_thread_is_found_by_place_and_ref(self, store: Store) -> None:
        number = fill(store, texts=list("abcdefg"))
        this_episode, two = make_episode("kitchen", 0, 2), make_episode("kitchen", 3, 4)
        old = replace(make_episode("kitchen", 0, 4, generation=-1), generation_to=0)
        kitchen = identity("kitchen")
        with store.begin(ANA) as tx:
            for episode in (two, old, this_episode):
                tx.episodes.put(episode)
            assert tx.episodes.list(threads=[kitchen]) == [this_episode, two]
            assert tx.episodes.list(threads=[kitchen], generation=-1) == [old]
            assert tx.episodes.list(threads=[kitchen], generation=0) == [this_episode, two]
            refs = [ref_of(number, seq) for seq in (0, 1, 3)]
            first, second = episode_mark_of(refs[0], this_episode), episode_mark_of(refs[2], two)
            places = [ref_of(number, seq) for seq in (4, 0, 5, 2)]
            asked = np.array([*places, ref_of(number + 1, 0), places[1]])
            owners = tx.index.episode_marks(asked, covering=True)
            assert owners == {places[0]: second, places[1]: first, places[3]: first}
            assert tx.episodes.get(refs) == {refs[0]: this_episode, refs[2]: two}
            assert tx.index.episode_marks(refs) == {refs[0]: first, refs[2]: second}
            assert tx.count("episodes") == 2

    def test_recent_episodes_come_newest_end_first_within_a_window(self, store: Store) -> None:
        fill(store, texts=list("abcdefg"))
        fill(store, name="attic", texts=list("abcdefg"))
        episodes = [
            make_episode(name, first, first + 1) for name in ("kitchen", "attic") for first in (0, 2, 4)
        ]
        with store.begin(ANA) as tx:
            for episode in episodes:
                tx.episodes.put(episode)
            expected = sorted(episodes, key=lambda e: (e.end_at, episodes.index(e)), reverse=True)
            assert tx.episodes.list(limit=9) == expected
            assert tx.episodes.list(limit=3) == expected[:3]
            assert tx.episodes.list(limit=9, since=minute(3)) == expected[:4]
            assert tx.episodes.list(limit=9, before=minute(3)) == expected[4:]

    def test_the_newest_encoding_speaks_for_an_episode(self, store: Store) -> None:
        fill(store)
        episode = make_episode("kitchen", 0, 1)
        first, second = make_encoding(episode.id, 1), make_encoding(episode.id, 2)
        with store.begin(ANA) as tx:
            tx.episodes.put(episode)
            tx.episodes.put(second)
            tx.episodes.put(replace(second, title="changed"))
            tx.episodes.put(first)
            assert tx.episodes.encodings(episode.id) == [first, second]
            spoken = replace(
                episode,
                title=second.title,
                summary=second.summary,
                metadata=second.metadata,
                encoding_version=2,
                encoded_by="extractive",
            )
            assert tx.episodes.get(episode.id) == spoken

    def test_an_episode_may_be_born_with_words(self, store: Store) -> None:
        fill(store)
        episode = replace(
            make_episode("kitchen", 0, 1),
            title="T",
            summary="S",
            encoding_version=1,
            encoded_by="x",
            metadata={"k": 1},
        )
        with store.begin(ANA) as tx:
            tx.episodes.put(episode)
            assert tx.episodes.get(episode.id) == episode
            assert [e.title for e in tx.episodes.encodings(episode.id)] == ["T"]

    def test_decisions_come_back_exactly_and_in_order_of_time(self, store: Store) -> None:
        this_decision, two, three = (
            make_decision("1", at=2),
            make_decision("2", at=1, type="link"),
            make_decision("3", at=1),
        )
        other = make_decision("4", subject="attic")
        with store.begin(ANA) as tx:
            for decision in (this_decision, two, three, other, replace(this_decision, verdict="keep")):
                tx.knowledge.decide(decision)
            assert list(tx.knowledge.decisions(ids=[this_decision.id])) == [this_decision]
            early = sorted([two, three], key=lambda d: d.id.bytes)
            assert tx.knowledge.decisions() == [other, *early, this_decision]
            assert tx.knowledge.decisions(subject=identity("kitchen")) == [*early, this_decision]
            assert tx.knowledge.decisions(subject=identity("kitchen"), type="link") == [two]


class JobsConformance(StoreFixture):
    def test_a_second_request_for_waiting_work_coalesces(self, store: Store) -> None:
        with store.begin(ANA) as tx:
            tx.upkeep.ask("encode", "k", "s", now=minute(5))
            tx.upkeep.ask("encode", "k", "s", now=minute(1))
            tx.upkeep.ask("encode", "k", "s", now=minute(9))
            tx.upkeep.ask("embed", "k", "s", now=minute(1), run_after=minute(7))
            listed = [(job.kind, job.run_after) for job in tx.upkeep.jobs()]
        assert listed == [("encode", minute(1)), ("embed", minute(7))]
        assert store.waiting() == 2
        assert store.waiting(ANA, due=minute(2)) == 1
        assert store.waiting(BO) == 0

    def test_a_request_during_the_work_is_work_of_its_own(self, store: Store) -> None:
        with store.begin(ANA) as tx:
            tx.upkeep.ask("encode", "k", "s", now=NOW)
        job = claim_one(store)
        with store.begin(ANA) as tx:
            tx.upkeep.ask("encode", "k", "s", now=NOW)
        assert store.waiting() == 2
        with store.begin(ANA) as tx:
            tx.upkeep.drop(job)
        assert claim_one(store).id != job.id

    def test_work_is_not_there_before_it_is_due(self, store: Store) -> None:
        with store.begin(ANA) as tx:
            tx.upkeep.ask("encode", "k", "s", now=NOW, run_after=minute(3))
        assert store.claim("h:1:1", now=minute(2), lease=LEASE) is None
        job = claim_one(store, at=3)
        assert (job.kind, job.key, job.serial, job.state, job.attempts) == ("encode", "k", "s", "leased", 1)

    def test_a_claim_takes_one_job_a_serial_of_one_scope_and_kind_oldest_first(self, store: Store) -> None:
        with store.begin(BO) as tx:
            tx.upkeep.ask("encode", "b", "s", now=minute(2))
        with store.begin(ANA) as tx:
            for at, (kind, key, serial) in enumerate(
                [("encode", "1", "s"), ("encode", "2", "s"), ("embed", "3", "u"), ("encode", "4", "t")]
            ):
                tx.upkeep.ask(kind, key, serial, now=minute(at))
        claimed = store.claim("h:1:1", now=minute(9), lease=LEASE, limit=9)
        assert claimed is not None
        assert (claimed[0], [job.key for job in claimed[1]]) == (ANA, ["1", "4"])
        assert claim_one(store, at=9).key == "b"
        assert claim_one(store, at=9).key == "3"
        # Serial s is being done, so its second job waits.
        assert store.claim("h:1:1", now=minute(9), lease=LEASE) is None
        with store.begin(ANA) as tx:
            tx.upkeep.drop(claimed[1][0])
        assert claim_one(store, at=9).key == "2"

    def test_a_claim_may_be_narrowed_to_a_scope_or_to_kinds(self, store: Store) -> None:
        for scope in (ANA, BO):
            with store.begin(scope) as tx:
                tx.upkeep.ask("encode", "1", "s", now=NOW)
                tx.upkeep.ask("embed", "2", "t", now=minute(1))
        assert store.claim("h:1:1", now=minute(9), lease=LEASE, kinds=["link"]) is None
        assert store.claim("h:1:1", now=minute(9), lease=LEASE, scope=Scope("?")) is None
        claimed = store.claim("h:1:1", now=minute(9), lease=LEASE, scope=BO, kinds=["embed", "link"])
        assert claimed is not None
        assert (claimed[0], [job.key for job in claimed[1]]) == (BO, ["2"])

    def test_an_expired_lease_is_taken_over_and_the_first_owner_is_fenced_off(self, store: Store) -> None:
        with store.begin(ANA) as tx:
            tx.upkeep.ask("encode", "k", "s", now=NOW)
        slow = claim_one(store)
        assert store.claim("elsewhere:2:2", now=minute(4.9), lease=LEASE) is None
        fast = claim_one(store, "elsewhere:2:2", at=5)
        assert (fast.id, fast.attempts, fast.token) == (slow.id, 2, slow.token + 1)
        for effect in (lambda tx: tx.upkeep.drop(slow), lambda tx: tx.upkeep.put_back(slow, error="late")):
            with pytest.raises(Conflict), store.begin(ANA) as tx:  # noqa: PT012 the block is the case
                tx.threads.create(make_thread(), make_frame())
                effect(tx)
        with store.begin(ANA) as tx:
            assert tx.threads.list() == []  # the fenced owner's effect is gone with it
            tx.upkeep.drop(fast)
        assert store.waiting() == 0

    def test_a_failed_job_waits_for_its_time_and_keeps_its_history(self, store: Store) -> None:
        with store.begin(ANA) as tx:
            tx.upkeep.ask("encode", "k", "s", now=NOW)
        job = claim_one(store)
        with store.begin(ANA) as tx:
            tx.upkeep.ask("encode", "k", "s", now=NOW)  # asked again meanwhile: one job comes of it
            tx.upkeep.put_back(job, error="model down", retry_at=minute(7))
            tx.upkeep.ask("encode", "k", "s", now=NOW)  # new requests do not cut the waiting short
            (waiting,) = tx.upkeep.jobs(state="waiting")
        assert (waiting.id, waiting.attempts, waiting.last_error) == (job.id, 1, "model down")
        assert waiting.run_after == minute(7)
        assert claim_one(store, at=7).attempts == 2

    def test_a_job_given_up_is_a_dead_letter_until_someone_decides(self, store: Store) -> None:
        for key in ("retried", "cancelled"):
            with store.begin(ANA) as tx:
                tx.upkeep.ask("encode", key, key, now=NOW)
            job = claim_one(store)
            with store.begin(ANA) as tx:
                tx.upkeep.put_back(job, error="bad", retry_at=None)
        assert store.waiting() == 0
        with store.begin(ANA) as tx:
            dead = {job.key: job for job in tx.upkeep.jobs(state="dead")}
            assert dead["retried"].last_error == "bad"
            tx.upkeep.put_back(dead["retried"].id, retry_at=minute(3))
            tx.upkeep.drop(dead["cancelled"].id)
            with pytest.raises(NotFound):
                tx.upkeep.drop(dead["cancelled"].id)
        job = claim_one(store, at=3)
        assert (job.key, job.attempts) == ("retried", 1)
        with pytest.raises(Conflict), store.begin(ANA) as tx:
            tx.upkeep.drop(job.id)

    def test_retrying_a_dead_letter_joins_the_same_request_waiting(self, store: Store) -> None:
        with store.begin(ANA) as tx:
            tx.upkeep.ask("encode", "k", "s", now=NOW)
        job = claim_one(store)
        with store.begin(ANA) as tx:
            tx.upkeep.put_back(job, error="bad", retry_at=None)
            tx.upkeep.ask("encode", "k", "s", now=NOW)
            tx.upkeep.put_back(job.id, retry_at=NOW)
            assert [waiting.state for waiting in tx.upkeep.jobs()] == ["waiting"]

    def test_a_renewed_lease_is_not_taken_over_and_never_cut_short(self, store: Store) -> None:
        with store.begin(ANA) as tx:
            tx.upkeep.ask("encode", "k", "s", now=NOW)
        job = claim_one(store)
        assert [j.id for j in store.renew(ANA, [job], now=minute(4), lease=LEASE)] == [job.id]
        assert [j.id for j in store.renew(ANA, [job], now=minute(1), lease=LEASE)] == [
            job.id
        ]  # never shorter
        assert store.claim("elsewhere:2:2", now=minute(8.9), lease=LEASE) is None
        assert claim_one(store, "elsewhere:2:2", at=9).attempts == 2

    def test_only_who_holds_a_job_renews_it(self, store: Store) -> None:
        with store.begin(ANA) as tx:
            for key in ("lost", "done", "kept"):
                tx.upkeep.ask("encode", key, key, now=NOW)
        claimed = store.claim("elsewhere:1:1", now=NOW, lease=LEASE, limit=3)
        assert claimed is not None
        jobs = {job.key: job for job in claimed[1]}
        with store.begin(ANA) as tx:
            tx.upkeep.drop(jobs["done"])
            tx.upkeep.put_back(jobs["lost"])
        taken = claim_one(store, "elsewhere:2:2", at=1)
        assert store.renew(BO, list(jobs.values()), now=minute(1), lease=LEASE) == []
        ours = store.renew(ANA, list(jobs.values()), now=minute(1), lease=LEASE)
        assert [job.key for job in ours] == ["kept"]
        assert (
            store.claim("elsewhere:3:3", now=minute(5.5), lease=LEASE) is None
        )  # nobody's lease was cut short
        assert claim_one(store, "elsewhere:3:3", at=6).id in {taken.id, jobs["kept"].id}

    def test_a_job_given_back_waits_again_and_the_claim_counts_as_no_attempt(self, store: Store) -> None:
        with store.begin(ANA) as tx:
            tx.upkeep.ask("encode", "k", "s", now=NOW)
        job = claim_one(store)
        with store.begin(ANA) as tx:
            tx.upkeep.ask("encode", "k", "s", now=minute(1))  # asked again meanwhile: one job comes of it
            tx.upkeep.put_back(job)
            (waiting,) = tx.upkeep.jobs()
        assert (waiting.id, waiting.state, waiting.attempts) == (job.id, "waiting", 0)
        again = claim_one(store)
        assert (again.id, again.attempts, again.token > job.token) == (job.id, 1, True)

    def test_only_who_holds_a_job_gives_it_back(self, store: Store) -> None:
        with store.begin(ANA) as tx:
            tx.upkeep.ask("encode", "k", "s", now=NOW)
        slow = claim_one(store)
        fast = claim_one(store, "elsewhere:2:2", at=5)
        with pytest.raises(Conflict), store.begin(ANA) as tx:
            tx.upkeep.put_back(slow)
        with store.begin(ANA) as tx:
            tx.upkeep.drop(fast)
        with pytest.raises(Conflict), store.begin(ANA) as tx:
            tx.upkeep.put_back(fast)

    def test_claims_counts_and_scopes_may_be_narrowed_to_a_space(self, store: Store) -> None:
        work = Scope("ana", "work")
        for at, scope in enumerate((ANA, BO, work)):
            fill(store, scope)
            with store.begin(scope) as tx:
                tx.upkeep.ask("encode", "k", "s", now=minute(at))
        assert [store.scopes(name) for name in ("home", "work", "attic")] == [[ANA, BO], [work], []]
        assert [store.waiting(space=name) for name in ("home", "work", "attic")] == [2, 1, 0]
        assert store.waiting(space="home", due=NOW) == 1
        for space, owners in (("attic", [None]), ("work", [work, None]), ("home", [ANA, BO, None])):
            claims = [store.claim("h:1:1", now=minute(9), lease=LEASE, space=space) for _ in owners]
            assert [found[0] if found else None for found in claims] == owners


class StoreConformance(TransactionConformance, ThreadsConformance, EpisodesConformance, JobsConformance):
    """All of the port but the index (`conformance_index`) and simultaneous writers (`conformance_writers`)."""
