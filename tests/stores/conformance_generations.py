"""What every store must do when a thread is segmented again and when that is undone."""

from dataclasses import replace
from datetime import timedelta

import pytest
from stores.builders import ANA, BO, episode_mark_of, fill, identity, make_episode, minute
from stores.conformance import StoreFixture, make_decision, make_encoding

from episodic_agent.errors import Conflict, NotFound, StoreError
from episodic_agent.protocols import Store, Transaction, ref_of
from episodic_agent.schemas import Episode

KITCHEN = identity("kitchen")


def worded(episode: Episode, version: int) -> Episode:
    words = make_encoding(episode.id, version)
    return replace(
        episode,
        title=words.title,
        summary=words.summary,
        metadata=words.metadata,
        encoding_version=version,
        encoded_by=words.by,
    )


def begin(tx: Transaction) -> tuple[Episode, Episode, Episode]:
    """Write three episodes of the first generation, the first with words and a decision."""
    episodes = (make_episode("kitchen", 0, 1), make_episode("kitchen", 2, 3), make_episode("kitchen", 4, 6))
    for episode in episodes:
        tx.episodes.put(episode)
    first = episodes[0]
    tx.episodes.put(make_encoding(first.id, 1))
    tx.knowledge.decide(replace(make_decision("first"), subject=first.id))
    return worded(first, 1), episodes[1], episodes[2]


class GenerationsConformance(StoreFixture):
    def test_retired_episodes_are_hidden_but_not_gone(self, store: Store) -> None:
        number = fill(store, texts=list("abcdefgh"))
        with store.begin(ANA) as tx:
            episode, two, three = begin(tx)
            tx.episodes.retire([two.id, episode.id], 1)
            new = make_episode("kitchen", 0, 3, generation=1)
            tx.episodes.put(new)  # where a retired one began
        with store.begin(ANA, write=False) as tx:
            assert tx.episodes.list(threads=[KITCHEN]) == [new, three]
            assert tx.episodes.list(threads=[KITCHEN], generation=1) == [new, three]
            old = [replace(episode, generation_to=1), replace(two, generation_to=1)]
            assert tx.episodes.list(threads=[KITCHEN], generation=0) == [*old, three]
            assert [tx.episodes.get(e.id) for e in old] == old
            assert [e.id for e in tx.episodes.list(limit=9)] == [three.id, new.id]
            assert tx.count("episodes") == 2
            refs = [ref_of(number, seq) for seq in (0, 2, 4)]
            assert tx.index.episode_marks(refs) == {
                refs[0]: episode_mark_of(refs[0], new),
                refs[2]: episode_mark_of(refs[2], three),
            }
            assert len(tx.episodes.encodings(episode.id)) == 1
            assert [d.id for d in tx.knowledge.decisions(subject=episode.id)] == [identity("first")]

    def test_only_what_is_current_can_be_retired(self, store: Store) -> None:
        fill(store, texts=list("abcdefgh"))
        with store.begin(ANA) as tx:
            episode, two, three = begin(tx)
            tx.episodes.retire([episode.id], 1)
            for wrong in ([episode.id], [two.id, episode.id], [identity("nobody")]):
                with pytest.raises(Conflict):
                    tx.episodes.retire(wrong, 2)
            assert tx.episodes.list(threads=[KITCHEN]) == [
                two,
                three,
            ]  # whoever catches it finds nothing changed
            tx.episodes.retire([], 2)
            assert tx.episodes.list(threads=[KITCHEN]) == [two, three]

    def test_reviving_brings_back_exactly_what_was_there(self, store: Store) -> None:
        fill(store, texts=list("abcdefgh"))
        with store.begin(ANA) as tx:
            this_episode, two, three = begin(tx)
            tx.episodes.retire([this_episode.id, two.id], 1)
            new = make_episode("kitchen", 0, 3, generation=1)
            later = make_episode("kitchen", 7, 7, generation=1)
            for episode in (new, later):
                tx.episodes.put(episode)
                tx.episodes.put(make_encoding(episode.id, 1))
                tx.knowledge.decide(replace(make_decision(f"of {episode.id}"), subject=episode.id))
        with store.begin(ANA) as tx:
            tx.episodes.revive(KITCHEN, 1)
        with store.begin(ANA, write=False) as tx:
            assert tx.episodes.list(threads=[KITCHEN]) == [this_episode, two, three]
            for gone in (new, later):
                assert tx.episodes.get(gone.id) is None
                assert tx.episodes.encodings(gone.id) == []
                assert tx.knowledge.decisions(subject=gone.id) == []
            assert tx.knowledge.decisions(subject=this_episode.id) != []
        assert store.check() == []

    def test_generations_are_undone_one_by_one_and_made_again(self, store: Store) -> None:
        fill(store, texts=list("abcdefgh"))
        fill(store, name="attic", texts=list("abcdefgh"))
        untouched = make_episode("attic", 0, 3, generation=1)
        with store.begin(ANA) as tx:
            first = begin(tx)
            tx.episodes.put(untouched)
            covers = [first]
            for generation in (1, 2, 3):
                tx.episodes.retire([covers[-1][0].id, covers[-1][1].id], generation)
                made = (
                    make_episode("kitchen", 0, generation % 2, generation=generation),
                    make_episode("kitchen", generation % 2 + 1, 3, generation=generation),
                )
                for episode in made:
                    tx.episodes.put(episode)
                covers.append((*made, first[2]))
        for generation in (3, 2, 1):
            with store.begin(ANA) as tx:
                assert tx.episodes.list(threads=[KITCHEN]) == [*covers[generation]]
                tx.episodes.revive(KITCHEN, generation)
        with store.begin(ANA) as tx:
            assert tx.episodes.list(threads=[KITCHEN]) == [*first]
            assert tx.episodes.list(threads=[identity("attic")]) == [untouched]
            tx.episodes.retire([first[0].id, first[1].id], 1)
            tx.episodes.put(covers[1][0])  # the same id again
            assert tx.episodes.get(covers[1][0].id) == covers[1][0]

    def test_another_scope_can_neither_retire_nor_revive(self, store: Store) -> None:
        fill(store, texts=list("abcdefgh"))
        with store.begin(ANA) as tx:
            episode, two, three = begin(tx)
            tx.episodes.retire([episode.id], 1)
        fill(store, BO, texts=list("abcdefgh"))
        with store.begin(BO) as tx:
            with pytest.raises(Conflict):
                tx.episodes.retire([two.id], 1)
            tx.episodes.revive(KITCHEN, 0)  # of the same name, but its own
            with pytest.raises(NotFound):
                tx.episodes.revive(identity("attic"), 0)
            tx.knowledge.revoke(identity("first"))
        with store.begin(ANA, write=False) as tx:
            assert tx.episodes.list(threads=[KITCHEN]) == [two, three]
            assert tx.episodes.get(episode.id) == replace(episode, generation_to=1)
            assert len(tx.knowledge.decisions(ids=[identity("first")])) == 1
            for refused in (
                lambda: tx.episodes.retire([two.id], 1),
                lambda: tx.episodes.revive(KITCHEN, 1),
                lambda: tx.knowledge.revoke(identity("first")),
            ):
                with pytest.raises(StoreError):
                    refused()

    def test_a_revoked_decision_is_gone_and_may_be_made_again(self, store: Store) -> None:
        this_decision, two = make_decision("one"), make_decision("two")
        with store.begin(ANA) as tx:
            for decision in (this_decision, two):
                tx.knowledge.decide(decision)
            tx.knowledge.revoke(this_decision.id)
            tx.knowledge.revoke(this_decision.id)
            assert tx.knowledge.decisions() == [two]
            tx.knowledge.decide(replace(this_decision, verdict="other"))
            assert list(tx.knowledge.decisions(ids=[this_decision.id])) == [
                replace(this_decision, verdict="other")
            ]
            assert (
                tx.knowledge.decisions(since=this_decision.at, type=this_decision.type)
                == tx.knowledge.decisions()
            )
            assert (
                tx.knowledge.decisions(
                    since=this_decision.at + timedelta(seconds=1), subject=this_decision.subject
                )
                == []
            )
            tx.knowledge.revoke(two.id, this_decision.id)
            tx.knowledge.revoke()
            assert tx.knowledge.decisions() == []

    def test_a_record_is_taken_away_by_none(self, store: Store) -> None:
        fill(store)
        with store.begin(ANA) as tx:
            tx.observations.save_records(KITCHEN, {2: b"two", 0: b"zero"})
            tx.observations.save_records(KITCHEN, {0: None, 1: b"one", 2: b"2"})
            assert tx.observations.records(KITCHEN, 0, 9) == {1: b"one", 2: b"2"}
            tx.observations.save_records(KITCHEN, {0: None, 1: None})
            assert tx.observations.records(KITCHEN, 0, 9) == {2: b"2"}

    def test_of_episodes_that_end_at_once_the_one_said_last_is_the_newest(self, store: Store) -> None:
        fill(store, texts=list("abcdefg"))
        episodes = [replace(make_episode("kitchen", seq, seq), end_at=minute(9)) for seq in range(6)]
        with store.begin(ANA) as tx:
            for episode in episodes:
                tx.episodes.put(episode)
            assert tx.episodes.list(limit=9) == episodes[::-1]
            assert tx.episodes.list(limit=2) == episodes[:-3:-1]
