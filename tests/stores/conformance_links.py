"""What every store must do with links: pairs of threads, tombstones, and the episodes that threads form."""

from dataclasses import replace
from datetime import UTC

import pytest
from stores.builders import ANA, BO, NOW, fill, identity, make_frame, make_thread, minute
from stores.conformance import StoreFixture

from episodic_agent.errors import NotFound, StoreError
from episodic_agent.protocols import Store
from episodic_agent.schemas import Decision, Joined, Link, Scope

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
            tx.threads.save(full_link)
            tx.threads.save(link("b", "c", 2))
            assert list(tx.threads.links([A])) == [full_link]
            assert (
                list(tx.threads.links([B]))
                == list(tx.threads.links([A, C, D]))
                == [full_link, link("b", "c", 2)]
            )
            assert list(tx.threads.links([D])) == list(tx.threads.links([identity("nowhere")])) == []
            assert list(tx.threads.links(limit=1)) == [link("b", "c", 2)]
            assert tx.threads.links([A])[0].at.tzinfo is UTC

    def test_two_threads_have_one_link_whichever_way_it_points(self, store: Store) -> None:
        furnish(store)
        with store.begin(ANA) as tx:
            tx.threads.save(link("a", "b"))
            tx.threads.save(link("b", "a", 3, basis="hand"))
            tx.threads.save(link("b", "a", 4))
            assert list(tx.threads.links([A, B])) == [link("b", "a", 4)]

    def test_a_link_that_was_taken_back_is_shown_only_where_wanted(self, store: Store) -> None:
        furnish(store)
        gone = link("a", "b", unlinked_at=minute(5))
        with store.begin(ANA) as tx:
            tx.threads.save(gone)
            assert list(tx.threads.links([A])) == list(tx.threads.links(limit=9)) == []
            assert (
                list(tx.threads.links([A], taken_back=True))
                == list(tx.threads.links(limit=9, taken_back=True))
                == [gone]
            )

    def test_threads_form_one_cross_thread_episode_at_most(self, store: Store) -> None:
        furnish(store)
        with store.begin(ANA) as tx:
            tx.threads.save(Joined(WHOLE, (*[C, A],)))
            assert list(tx.threads.joined(WHOLE)) == [A, C]
            tx.threads.save(Joined(OTHER, (*[A, D],)))
            assert dict(tx.threads.joined([A, B, C, identity("nowhere")])) == {A: OTHER, C: WHOLE}
            tx.threads.save(Joined(WHOLE, (*[B],)))
            assert (list(tx.threads.joined(WHOLE)), list(tx.threads.joined(OTHER))) == ([B], [A, D])
            tx.threads.save(Joined(OTHER, (*[],)))
            assert dict(tx.threads.joined([A, B, C, D])) == {B: WHOLE}

    def test_what_is_not_there_cannot_be_linked(self, store: Store) -> None:
        furnish(store)
        for act in (
            lambda tx: tx.threads.save(link("a", "nowhere")),
            lambda tx: tx.threads.save(link("nowhere", "a")),
            lambda tx: tx.threads.save(Joined(WHOLE, (*[A, identity("nowhere")],))),
        ):
            with pytest.raises(NotFound), store.begin(ANA) as tx:
                act(tx)
        with pytest.raises(StoreError), store.begin(ANA, write=False) as tx:
            tx.threads.save(link("a", "b"))

    def test_links_of_one_scope_are_nothing_to_another(self, store: Store) -> None:
        furnish(store)
        furnish(store, BO)
        with store.begin(ANA) as tx:
            tx.threads.save(link("a", "b"))
            tx.threads.save(Joined(WHOLE, (*[A, B],)))
        with store.begin(BO) as tx:
            assert list(tx.threads.links([A])) == list(tx.threads.joined(WHOLE)) == []
            tx.threads.save(Joined(WHOLE, (*[C],)))
        with store.begin(ANA, write=False) as tx:
            assert list(tx.threads.joined(WHOLE)) == [A, B]

    def test_a_decision_keeps_what_came_of_it(self, store: Store) -> None:
        fill(store)
        first = Decision(identity("1"), "link", NOW, A, {"near": 0.5}, 0.7, 0.5, "LINK", "link-2026-12")
        later = [replace(first, id=identity(str(n)), at=minute(n)) for n in (2, 3)]
        other = replace(first, id=identity("4"), at=minute(9), type="boundary")
        known = replace(first, outcome="correct", detail={"strength": 1.0})
        with store.begin(ANA) as tx:
            for decision in (*reversed(later), other, first):
                tx.knowledge.decide(decision)
            tx.knowledge.decide(known, amend=True)
            assert list(tx.knowledge.decisions(ids=[first.id])) == [known]
            assert list(tx.knowledge.decisions(type="link")) == [known, *later]
            assert list(tx.knowledge.decisions(type="link", last=2)) == later
            assert list(tx.knowledge.decisions(type="boundary", last=2)) == [other]
            assert list(tx.knowledge.decisions(last=1)) == [other]
            assert list(tx.knowledge.decisions(subject=A, type="link", last=1)) == later[1:]
            assert list(tx.knowledge.decisions(ids=[later[1].id, identity("5"), first.id])) == [
                known,
                later[1],
            ]
            assert list(tx.knowledge.decisions(ids=[])) == []
            assert [tx.count("link decisions", since=minute(n)) for n in (-1, 2, 3)] == [3, 1, 0]
            assert (tx.count("link decisions"), tx.count("chain decisions")) == (3, 0)
        with pytest.raises(NotFound), store.begin(ANA) as tx:
            tx.knowledge.decide(replace(first, id=identity("nowhere")), amend=True)
