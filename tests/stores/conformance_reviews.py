"""What every store must do with reviews: recalls that wait, and strengths that change once."""

from dataclasses import replace

import pytest
from stores.builders import ANA, BO, fill, identity, make_episode, minute
from stores.conformance import StoreFixture

from episodic_agent.errors import Conflict, NotFound, StoreError
from episodic_agent.protocols import Store
from episodic_agent.schemas import PendingReview
from episodic_agent.schemas.strength import Strength

KITCHEN = identity("kitchen")
ASKED = PendingReview(
    identity("r1"), KITCHEN, 3, minute(9), "who fixed the tap?", (identity("b"), identity("a"))
)


class ReviewsConformance(StoreFixture):
    def test_a_recall_waits_until_it_is_settled(self, store: Store) -> None:
        fill(store)
        earlier = replace(ASKED, id=identity("r0"), after_seq=1, policy="seed-003", query="später? 水")
        with store.begin(ANA) as tx:
            tx.upkeep.put(ASKED)
            tx.upkeep.put(earlier)
            tx.upkeep.put(replace(ASKED, query="again"))
            assert list(tx.upkeep.reviews(KITCHEN)) == [earlier, ASKED]
            assert list(tx.upkeep.reviews(identity("nowhere"))) == []
            assert list(tx.upkeep.reviews()) == [earlier, ASKED]
            tx.upkeep.drop(earlier, replace(earlier, id=identity("nobody")))
            assert list(tx.upkeep.reviews(KITCHEN)) == [ASKED]
        with pytest.raises(NotFound), store.begin(ANA) as tx:
            tx.upkeep.put(replace(ASKED, thread_id=identity("nowhere")))
        with pytest.raises(StoreError), store.begin(ANA, write=False) as tx:
            tx.upkeep.put(ASKED)

    def test_a_recall_waits_in_its_own_scope(self, store: Store) -> None:
        fill(store)
        fill(store, BO)
        with store.begin(ANA) as tx:
            tx.upkeep.put(ASKED)
        with store.begin(BO) as tx:
            assert list(tx.upkeep.reviews(KITCHEN)) == []
            tx.upkeep.drop(ASKED)
        with store.begin(ANA, write=False) as tx:
            assert list(tx.upkeep.reviews(KITCHEN)) == [ASKED]

    def test_a_strength_changes_only_from_what_was_read(self, store: Store) -> None:
        fill(store)
        episode = replace(make_episode("kitchen", 0, 2), stability=2.3065123456789)
        with store.begin(ANA) as tx:
            tx.episodes.put(episode)
            tx.episodes.strengthen(episode, Strength(7.3153, 2.1112), minute(60))
            after = tx.episodes.get(episode.id)
            assert after == replace(episode, stability=7.3153, difficulty=2.1112, last_reviewed_at=minute(60))
        with pytest.raises(Conflict), store.begin(ANA) as tx:
            tx.episodes.strengthen(episode, Strength(1.0, 2.0), minute(61))
        with store.begin(ANA, write=False) as tx:
            assert tx.episodes.get(episode.id) == after
