"""What every store must do about erasing: tombstones, wholes, claimed jobs, receipts, the sweep."""

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
    make_observations,
    make_skill,
    minute,
    posting,
    random_vectors,
)
from stores.conformance import StoreFixture
from stores.verbs import KITCHEN, PORCH, THREAD, everything, furnish

from episodic_agent.core.erasing import fingerprint
from episodic_agent.errors import Conflict, NotFound, StoreError
from episodic_agent.protocols import OBSERVATIONS, Cover, Store, ref_of
from episodic_agent.schemas import WorkRow
from episodic_agent.schemas.erasures import Erasure, Tombstone, What
from episodic_agent.schemas.skills import TurnRef

LATER = timedelta(hours=1)


def receipt(name: str = "one", what: What = What.THREAD) -> Erasure:
    return Erasure(identity(name), what, fingerprint(ANA, what, name), NOW)


class ErasingConformance(StoreFixture):
    def test_an_erased_observation_leaves_a_tombstone_and_nothing_else(self, store: Store) -> None:
        number = fill(store, texts=("a", "b", "c"))
        with store.begin(ANA) as tx:
            tx.observations.save_records(THREAD, dict.fromkeys(range(3), b"x"))
            tx.upkeep.put(WorkRow(ref_of(number, 0), ref_of(number, 1), NOW, "add", "b"))
            tx.knowledge.put_skill(make_skill("known"), [TurnRef(THREAD, 0), TurnRef(THREAD, 1)])
            assert tx.observations.erase(THREAD, [1, 7], minute(9)) == 1
            assert tx.observations.erase(THREAD, [1], minute(10)) == 0
        with store.begin(ANA, write=False) as tx:
            assert [o.text for o in tx.observations.read(THREAD, 0, 9)] == ["a", "c"]
            assert tx.observations.erased([(THREAD, 0, 9)]) == [
                Tombstone(THREAD, 1, identity("kitchen/1"), minute(9))
            ]
            assert tx.observations.erased([(THREAD, 2, 9)]) == []
            known = tx.observations.known([identity("kitchen/1"), identity("kitchen/0")])
            assert [known[identity(f"kitchen/{n}")].state for n in (0, 1)] == ["open", "erased"]
            assert tx.observations.get([identity("kitchen/1")]) == {}
            assert sorted(tx.observations.records(THREAD, 0, 9)) == [0, 2]
            assert (tx.count("observations"), dict(tx.observations.actors())) == (2, {"ana": 2})
            assert list(tx.upkeep.spans(ref_of(number, 0), ref_of(number, 2))) == []
            assert list(tx.knowledge.evidence(make_skill("known").id)) == [TurnRef(THREAD, 0)]

    def test_stretches_with_holes_are_erased_and_counted_once_each(self, store: Store) -> None:
        fill(store, texts=[f"word{n}" for n in range(9)])
        with store.begin(ANA) as tx:
            assert tx.observations.erase(THREAD, [4], NOW) == 1
            assert tx.observations.erase(THREAD, [8, 2, 3, 4, 5, 0, 5], NOW) == 5
            assert tx.observations.erase(THREAD, [3, 4, 5], NOW) == 0
            assert tx.observations.erase(THREAD, [], NOW) == 0
            assert [o.seq for o in tx.observations.read(THREAD, 0, 99)] == [1, 6, 7]
            assert [one.seq for one in tx.observations.erased([(THREAD, 0, 99)])] == [0, 2, 3, 4, 5, 8]
            assert (tx.count("observations"), dict(tx.observations.actors())) == (3, {"ana": 3})

    def test_a_thread_goes_on_behind_a_tombstone(self, store: Store) -> None:
        fill(store, texts=("a", "b"))
        with store.begin(ANA) as tx:
            tx.observations.erase(THREAD, [0, 1], NOW)
            tx.observations.append(make_observations("kitchen", ["c"], first=2))
        with store.begin(ANA, write=False) as tx:
            assert [o.seq for o in tx.observations.read(THREAD, 0, 9)] == [2]

    def test_words_and_rows_of_episodes_go(self, store: Store) -> None:
        furnish(store, ANA, "secret")
        episode = make_episode(KITCHEN, 0, 2).id
        with store.begin(ANA) as tx:
            tx.episodes.drop(episode, words_only=True)
            matching_episode = tx.episodes.get(episode)
            assert matching_episode is not None
            assert (
                matching_episode.encoding_version,
                matching_episode.title,
                dict(matching_episode.metadata),
            ) == (0, "", {})
            assert list(tx.episodes.encodings(episode)) == []
            tx.episodes.drop(episode)
            assert tx.episodes.get(episode) is None
            first = ref_of(tx.threads.number(THREAD), 0)
            assert tx.index.covers([(first, first + 1)], replaced=True) == []
            tx.episodes.put(replace(make_episode(KITCHEN, 0, 2, generation=1), generation_to=2))
            replaced = make_episode(KITCHEN, 0, 2, generation=1).id
            assert tx.index.covers([(first + 1, first + 1)], replaced=True) == [
                Cover(first, first + 2, replaced.hex)
            ]
            assert tx.index.covers([(first + 3, first + 3)], replaced=True) == []

    def test_a_dropped_thread_takes_its_rows_and_no_others(self, store: Store) -> None:
        furnish(store, ANA, "secret")
        furnish(store, BO, "other")
        before = everything(store, BO)
        with store.begin(ANA) as tx:
            number = tx.threads.number(THREAD)
            counts = tx.holdings(THREAD)
            refs = [ref_of(number, seq) for seq in range(4)]
            for kind in "oe":
                tx.index.drop(kind, refs)
            tx.threads.drop(THREAD)
            with pytest.raises(NotFound):
                tx.threads.drop(identity("nowhere"))
        assert counts["observations"] == 4
        assert counts["episodes"] == 2
        with store.begin(ANA, write=False) as tx:
            assert [thread.origin for thread in tx.threads.list()] == [PORCH]
            assert (tx.count("observations"), dict(tx.observations.actors())) == (0, {})
            assert tx.index.statistics(OBSERVATIONS, ["secret"]).documents == 0
            assert list(tx.threads.links(limit=9)) == []
        assert everything(store, BO) == before

    def test_the_number_of_a_dropped_thread_is_never_given_again(self, store: Store) -> None:
        number = fill(store)
        with store.begin(ANA) as tx:
            tx.threads.drop(THREAD)
        assert fill(store) > number

    def test_an_erased_scope_leaves_only_its_receipt(self, store: Store) -> None:
        furnish(store, ANA, "secret")
        furnish(store, BO, "other")
        before = everything(store, BO)
        with store.begin(ANA, write=False) as tx:
            counts = dict(tx.holdings())
        made = store.erase_scope(ANA, receipt("ana", What.USER))
        assert dict(made.counts) == counts
        assert store.scopes() == [BO]
        assert not store.scopes(ANA)
        assert everything(store, BO) == before
        assert made in store.erasures("home", ANA)
        assert made in store.erasures("home")
        assert made not in store.erasures("home", BO)
        assert list(store.erasures("elsewhere")) == []
        with store.begin(ANA, write=False) as tx:
            assert tx.holdings() == {}
            assert tx.index.statistics(OBSERVATIONS, ["secret"]).documents == 0
        fill(store)
        with store.begin(ANA, write=False) as tx:
            assert tx.count("observations") == 3

    def test_the_index_of_an_erased_scope_begins_anew(self, store: Store) -> None:
        number = fill(store)
        with store.begin(ANA) as tx:
            tx.index.put_postings(OBSERVATIONS, [posting(ref_of(number, 0), "safe")])
            tx.index.put_vectors(OBSERVATIONS, "small", [ref_of(number, 0)], random_vectors(1, 1))
        with store.begin(ANA, write=False) as tx:
            assert (
                len(tx.index.vector_scores(OBSERVATIONS, "small", random_vectors(1, 1)[0], limit=9)[0]) == 1
            )
        store.erase_scope(ANA, receipt())
        number = fill(store)
        with store.begin(ANA) as tx:
            tx.index.put_postings(OBSERVATIONS, [posting(ref_of(number, 1), "key")])
            tx.index.put_vectors(OBSERVATIONS, "small", [ref_of(number, 1)], random_vectors(2, 1))
        with store.begin(ANA, write=False) as tx:
            vector_scores = tx.index.vector_scores(OBSERVATIONS, "small", random_vectors(2, 1)[0], limit=9)[0]
            assert vector_scores.tolist() == [ref_of(number, 1)]
            assert tx.index.statistics(OBSERVATIONS, ["safe", "key"]).frequencies == {"safe": 0, "key": 1}

    def test_a_recalled_job_is_nobodys(self, store: Store) -> None:
        with store.begin(ANA) as tx:
            for key in ("a", "b"):
                tx.upkeep.ask("encode", key, key, now=NOW)
        claimed = store.claim("elsewhere:1:1", now=NOW, lease=LATER, limit=2)
        assert claimed is not None
        with store.begin(ANA) as tx:
            tx.upkeep.ask("encode", "a", "a", now=NOW)
            tx.upkeep.put_back(claimed[1][1], error="the code of the safe", retry_at=None)
            tx.upkeep.put_back()
        with store.begin(ANA, write=False) as tx:
            results = sorted((job.key, job.state, job.last_error or "") for job in tx.upkeep.jobs())
        assert results == [("a", "waiting", ""), ("b", "dead", "")]
        with pytest.raises(Conflict), store.begin(ANA) as tx:
            tx.upkeep.drop(claimed[1][0])
        again = store.claim("elsewhere:1:1", now=NOW, lease=LATER, limit=2)
        assert again is not None
        assert [job.key for job in again[1]] == ["a"]

    def test_a_receipt_is_kept_and_settled(self, store: Store) -> None:
        with store.begin(ANA) as tx:
            tx.record(replace(receipt(), counts={"observations": 3}))
        (erasure,) = store.erasures("home")
        assert erasure == replace(receipt(), counts={"observations": 3})
        assert not erasure.is_done
        done = replace(erasure, state="done", done_at=minute(3), residue=0)
        store.settle_erasure("elsewhere", done)
        assert list(store.erasures("home")) == [erasure]
        store.settle_erasure("home", done)
        assert list(store.erasures("home")) == [done]

    def test_a_swept_database_holds_no_word_of_what_was_erased(self, store: Store) -> None:
        fill(store, texts=("the code of the safe is 4711", "and the key hangs there"))
        assert list(store.residue(ANA, ["code of the safe", "nowhere to be found"])) == []  # it is kept
        with store.begin(ANA) as tx:
            tx.observations.erase(THREAD, [0], NOW)
            tx.upkeep.ask("encode", "a job that tells the code of the safe", "s", now=NOW)
        assert store.sweep().hindrance == ""
        assert list(store.residue(ANA, ["code of the safe", "hangs there"])) == ["code of the safe"]
        with store.begin(ANA) as tx:
            tx.upkeep.drop(tx.upkeep.jobs()[0].id)
        assert store.sweep().hindrance == ""
        assert list(store.residue(ANA, ["code of the safe"])) == []

    def test_digits_inside_a_computed_number_are_no_residue(self, store: Store) -> None:
        fill(store, texts=("the code is somewhere else",))
        with store.begin(ANA) as tx:
            tx.upkeep.ask("encode", '{"score": 0.8134721955}', "s", now=NOW)
            tx.upkeep.ask("encode", '{"asked": "of 9350"}', "s", now=NOW)
        assert store.sweep().hindrance == ""
        assert list(store.residue(ANA, ["4721", "9350", "0.81347"])) == ["9350", "0.81347"]

    def test_observations_that_hold_words_are_found_whatever_their_capitals(self, store: Store) -> None:
        number = fill(
            store, texts=("the code is 100%", "the CODE is 100%", "it's told: the code is 100%, yes")
        )
        fill(store, BO, texts=("the code is 100%",))
        with store.begin(ANA) as tx:
            every = [ref_of(number, seq) for seq in range(3)]
            assert tx.observations.quoting(["the Code is 100%", "100_"], limit=9) == every
            assert tx.observations.quoting(["nowhere", "code is"], limit=1) == [ref_of(number, 0)]
            assert tx.observations.quoting([], limit=9) == []
            tx.observations.erase(THREAD, [0], NOW)
            assert tx.observations.quoting(["the code is 100%"], limit=9) == every[1:]

    def test_nothing_is_erased_in_a_read_or_a_broken_transaction(self, store: Store) -> None:
        fill(store)
        with pytest.raises(ZeroDivisionError), store.begin(ANA) as tx:  # noqa: PT012 the block is the case
            tx.observations.erase(THREAD, [0], NOW)
            tx.threads.drop(THREAD)
            raise ZeroDivisionError
        with store.begin(ANA, write=False) as tx:
            assert tx.count("observations") == 3
            with pytest.raises(StoreError):
                tx.observations.erase(THREAD, [0], NOW)
