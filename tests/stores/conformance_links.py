"""What every store must do with links: pairs of threads, tombstones, and the episodes that threads form."""

from dataclasses import replace
from datetime import UTC

import pytest
from stores.builders import ANA, BO, NOW, fill, identity, make_frame, make_thread, minute
from stores.conformance import StoreFixture

from episodic_agent.engine.scoped import stored_decision
from episodic_agent.errors import NotFound, StoreError
from episodic_agent.protocols import Store
from episodic_agent.schemas import Decision, Link, Scope

A, B, C, D = (identity(name) for name in "abcd")
WHOLE, OTHER = identity("whole"), identity("other")


def furnish(store: Store, scope: Scope = ANA) -> None:
    with store.begin(scope) as tx:
        for number, name in enumerate("dcba"):  # created in the order of their letters, written in another
            thread = replace(make_thread(name), created_at=minute(-number))
            tx.threads.create(thread, make_frame(name))


def link(earlier: str, later: str, at: float = 0, **more: object) -> Link:
    return replace(Link(identity(earlier), identity(later), minute(at)), **more)  # type: ignore[arg-type]


class LinksConformance(StoreFixture):
    def test_a_link_comes_back_as_it_was_written(self, store: Store) -> None:
        furnish(store)
        full_link = link("a", "b", 1, basis="recall", label="UNCERTAIN", decision_id=identity("d"))
        with store.begin(ANA) as tx:
            tx.relations.put(full_link)
            tx.relations.put(link("b", "c", 2))
            assert list(tx.relations.links([A])) == [full_link]
            assert (
                list(tx.relations.links([B]))
                == list(tx.relations.links([A, C, D]))
                == [full_link, link("b", "c", 2)]
            )
            assert list(tx.relations.links([D])) == list(tx.relations.links([identity("nowhere")])) == []
            assert list(tx.relations.links(limit=1)) == [link("b", "c", 2)]
            assert tx.relations.links([A])[0].at.tzinfo is UTC

    def test_two_threads_have_one_link_whichever_way_it_points(self, store: Store) -> None:
        furnish(store)
        with store.begin(ANA) as tx:
            tx.relations.put(link("a", "b"))
            tx.relations.put(link("b", "a", 3, basis="hand"))
            tx.relations.put(link("b", "a", 4))
            assert list(tx.relations.links([A, B])) == [link("b", "a", 4)]

    def test_a_link_that_was_taken_back_is_shown_only_where_wanted(self, store: Store) -> None:
        furnish(store)
        gone = link("a", "b", unlinked_at=minute(5))
        with store.begin(ANA) as tx:
            tx.relations.put(gone)
            assert list(tx.relations.links([A])) == list(tx.relations.links(limit=9)) == []
            assert (
                list(tx.relations.links([A], taken_back=True))
                == list(tx.relations.links(limit=9, taken_back=True))
                == [gone]
            )

    def test_threads_form_one_cross_thread_episode_at_most(self, store: Store) -> None:
        furnish(store)
        with store.begin(ANA) as tx:
            tx.relations.join(WHOLE, [C, A])
            assert list(tx.relations.joined(WHOLE)) == [A, C]
            tx.relations.join(OTHER, [A, D])
            assert dict(tx.relations.joined([A, B, C, identity("nowhere")])) == {A: OTHER, C: WHOLE}
            tx.relations.join(WHOLE, [B])
            assert (list(tx.relations.joined(WHOLE)), list(tx.relations.joined(OTHER))) == ([B], [A, D])
            tx.relations.join(OTHER, [])
            assert dict(tx.relations.joined([A, B, C, D])) == {B: WHOLE}

    def test_what_is_not_there_cannot_be_linked(self, store: Store) -> None:
        furnish(store)
        for act in (
            lambda tx: tx.relations.put(link("a", "nowhere")),
            lambda tx: tx.relations.put(link("nowhere", "a")),
            lambda tx: tx.relations.join(WHOLE, [A, identity("nowhere")]),
        ):
            with pytest.raises(NotFound), store.begin(ANA) as tx:
                act(tx)
        with pytest.raises(StoreError), store.begin(ANA, write=False) as tx:
            tx.relations.put(link("a", "b"))

    def test_links_of_one_scope_are_nothing_to_another(self, store: Store) -> None:
        furnish(store)
        furnish(store, BO)
        with store.begin(ANA) as tx:
            tx.relations.put(link("a", "b"))
            tx.relations.join(WHOLE, [A, B])
        with store.begin(BO) as tx:
            assert list(tx.relations.links([A])) == list(tx.relations.joined(WHOLE)) == []
            tx.relations.join(WHOLE, [C])
        with store.begin(ANA, write=False) as tx:
            assert list(tx.relations.joined(WHOLE)) == [A, B]

    def test_a_decision_keeps_what_came_of_it(self, store: Store) -> None:
        fill(store)
        first = Decision(identity("1"), "link", NOW, A, {"near": 0.5}, 0.7, 0.5, "LINK", "link-2026-12")
        later = [replace(first, id=identity(str(n)), at=minute(n)) for n in (2, 3)]
        other = replace(first, id=identity("4"), at=minute(9), type="boundary")
        known = replace(first, outcome="correct", detail={"strength": 1.0})
        with store.begin(ANA) as tx:
            for decision in (*reversed(later), other, first):
                tx.relations.decide(decision)
            tx.relations.decide(known, amend=True)
            assert stored_decision(tx, first.id) == known
            assert list(tx.relations.decisions(type="link")) == [known, *later]
            assert list(tx.relations.decisions(type="link", last=2)) == later
            assert list(tx.relations.decisions(type="boundary", last=2)) == [other]
            assert list(tx.relations.decisions(last=1)) == [other]
            assert list(tx.relations.decisions(subject=A, type="link", last=1)) == later[1:]
            assert list(tx.relations.decisions(ids=[later[1].id, identity("5"), first.id])) == [
                known,
                later[1],
            ]
            assert list(tx.relations.decisions(ids=[])) == []
            assert [tx.count("link decisions", since=minute(n)) for n in (-1, 2, 3)] == [3, 1, 0]
            assert (tx.count("link decisions"), tx.count("chain decisions")) == (3, 0)
        with pytest.raises(NotFound), store.begin(ANA) as tx:
            tx.relations.decide(replace(first, id=identity("nowhere")), amend=True)
