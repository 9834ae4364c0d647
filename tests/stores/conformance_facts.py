"""What every store must do about facts: rows with evidence, old ids, tombstones, and episodes to draw from."""

import random
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import pytest
from stores.builders import (
    ANA,
    BO,
    NOW,
    edited,
    fill,
    identity,
    make_episode,
    make_evidence,
    make_fact,
    make_tombstone,
    minute,
    posting,
    random_vectors,
)
from stores.conformance import StoreFixture, make_encoding

from episodic_agent.core.facts import Fact, FactCandidate, FactTombstone, StoredFact, delete, edit, learn
from episodic_agent.core.facts.slots import slot_of
from episodic_agent.errors import Conflict, StoreError
from episodic_agent.protocols import FACTS, Store, Transaction
from episodic_agent.schemas import EpisodeKind, EpisodeState, Scope
from episodic_agent.stores import faults


def put(store: Store, *facts: StoredFact, scope: Scope = ANA) -> list[StoredFact]:
    with store.begin(scope) as tx:
        return list(tx.knowledge.put_facts(facts))


def everything(tx: Transaction) -> tuple[object, ...]:
    """Return what is readable of a scope's facts."""
    facts = tx.knowledge.facts()
    return list(facts), dict(tx.knowledge.moves()), list(tx.knowledge.tombstones())


class FactsConformance(StoreFixture):
    def test_a_fact_comes_back_as_it_was_written_with_a_number_of_its_own(self, store: Store) -> None:
        twice = (make_evidence(at=3), make_evidence("kitchen/1", 'Ça "va" – 日程\0\x1a', at=1, start=5))
        bare = replace(make_evidence(at=9), episode_id=None, learned_at=None, corrects=True, confidence=1.0)
        bare = replace(bare, begins_at=minute(44))
        facts = [
            make_fact("a", "book\0a table", *twice),
            edited(make_fact("b", "Lisbon"), "Faro"),
            replace(make_fact("c", "x" * 9000, bare, attribute="did"), created_at=minute(-0.123457)),
        ]
        stored_facts = put(store, *facts)
        assert [replace(one, number=0) for one in stored_facts] == facts
        assert len({one.number for one in stored_facts}) == 3
        assert all(one.number > 0 for one in stored_facts)
        first, second, third = stored_facts
        with store.begin(ANA, write=False) as tx:
            assert next(iter(tx.knowledge.facts(ids=[first.id])), None) == first
            assert {
                kept.id: kept
                for kept in tx.knowledge.facts(ids=[third.id, identity("none"), second.id, third.id])
            } == {
                second.id: second,
                third.id: third,
            }
            assert {kept.number: kept for kept in tx.knowledge.facts(numbers=[second.number, 1 << 40])} == {
                second.number: second
            }
            assert list(tx.knowledge.facts()) == [second, first, third]
            assert list(tx.knowledge.facts(current=minute(99))) == [first, third]
            assert list(tx.knowledge.facts(limit=2)) == [first, third]
            assert list(tx.knowledge.facts(current=minute(99), limit=0)) == []
            ended = second.fact.invalid_at
            assert ended is not None
            assert list(tx.knowledge.facts(current=ended)) == [first, third]
            assert list(tx.knowledge.facts(current=ended - timedelta(seconds=1))) == [second, first, third]
            assert (tx.count("facts"), tx.count("current facts")) == (3, 2)
            assert next(iter(tx.knowledge.facts(ids=[identity("none")])), None) is None
        with store.begin(BO, write=False) as tx:
            assert (
                list(tx.knowledge.facts()),
                tx.count("facts"),
                next(iter(tx.knowledge.facts(ids=[first.id])), None),
            ) == ([], 0, None)

    def test_facts_of_one_time_stand_in_the_order_of_their_ids(self, store: Store) -> None:
        facts = put(store, *(make_fact(str(n), attribute="likes") for n in range(9)))
        assert len(facts) == 9
        with store.begin(ANA, write=False) as tx:
            identifiers = [one.id for one in tx.knowledge.facts()]
            assert identifiers == sorted(one.id for one in facts)
            assert [one.id for one in tx.knowledge.facts(limit=2)] == identifiers[-2:]
            assert [one.id for one in tx.knowledge.facts(slots=[("ANA", "likes")])] == identifiers

    def test_writing_a_fact_again_takes_its_place_and_keeps_its_number_and_when_it_was_learned(
        self, store: Store
    ) -> None:
        first, other = put(store, make_fact("a"), make_fact("b"))
        more = (make_evidence("kitchen/2", at=-5), *first.fact.evidence)
        changed = edited(replace(first, fact=replace(first.fact, evidence=more)), "Faro")
        again = put(store, replace(changed, number=0, created_at=minute(77)), make_fact("c"))
        assert again[0] == changed
        assert again[1].number not in {first.number, other.number}
        fewer = replace(changed, fact=replace(changed.fact, evidence=more[1:]))
        assert put(store, changed, fewer) == [fewer, fewer]  # the last word counts
        assert put(store) == []
        with store.begin(ANA, write=False) as tx:
            assert next(iter(tx.knowledge.facts(ids=[first.id])), None) == fewer
            assert list(tx.knowledge.facts(resting_on=[identity("kitchen/2")])) == []

    def test_a_number_is_never_given_twice(self, store: Store) -> None:
        numbers = set()
        for n in range(4):
            (fact,) = put(store, make_fact(f"round {n}"))
            assert fact.number not in numbers
            numbers.add(fact.number)
            with store.begin(ANA) as tx:
                gone = (
                    tx.knowledge.move_facts(dict.fromkeys([fact.id]))
                    if n % 2
                    else tx.knowledge.move_facts({fact.id: None})
                )
                assert list(gone) == [fact.number]

    def test_a_dropped_fact_is_gone_with_its_evidence_and_the_ids_that_led_to_it(self, store: Store) -> None:
        fact, other = put(store, make_fact("a"), make_fact("b", "Lisbon"))
        with store.begin(ANA) as tx:
            tx.knowledge.move_facts({identity("old"): fact.id, identity("older"): other.id})
            assert list(tx.knowledge.move_facts(dict.fromkeys([fact.id, identity("none"), fact.id]))) == [
                fact.number
            ]
            assert list(tx.knowledge.move_facts(dict.fromkeys([fact.id]))) == []
        with store.begin(ANA, write=False) as tx:
            assert list(tx.knowledge.facts()) == [other]
            assert list(tx.knowledge.facts(resting_on=[fact.fact.evidence[0].observation_id])) == [other]
            assert tx.knowledge.moves(identity("old")).get(identity("old")) is None
            assert tx.knowledge.moves() == {identity("older"): other.id}

    def test_the_facts_of_a_slot_are_found_in_any_case_and_no_others(self, store: Store) -> None:
        porto, tea, fog = put(
            store,
            make_fact("a", "Porto", make_evidence(at=5)),
            make_fact("b", "tea", attribute="likes"),
            make_fact("c", "fog", attribute="dislikes"),
        )
        (bos,) = put(store, replace(make_fact("d"), fact=replace(make_fact("d").fact, subject="Bo")))
        with store.begin(ANA, write=False) as tx:
            assert list(tx.knowledge.facts(slots=[("ana", "lives_in")])) == [porto]
            assert list(tx.knowledge.facts(slots=[("Ana", "likes")])) == [tea]
            assert list(tx.knowledge.facts(slots=[("Ana", "dislikes")])) == [fog]
            slots = [("Bo", "lives_in"), ("ANA", "lives_in"), ("Ana", "lives_in"), ("Ana", "age")]
            assert list(tx.knowledge.facts(slots=slots)) == [bos, porto]
            assert list(tx.knowledge.facts(slots=[])) == []

    def test_what_concerns_a_statement_is_its_slot_or_its_value_and_what_the_same_words_told(
        self, store: Store
    ) -> None:
        lisbon, age, tea, fog, edited_fact = put(
            store,
            make_fact("a", "Lisbon", make_evidence("s/1", at=1)),
            make_fact("b", "41", make_evidence("s/2", at=2), attribute="age"),
            make_fact("c", "tea", make_evidence("s/3", at=3), attribute="dislikes"),
            make_fact("d", "fog", make_evidence("s/4", at=4), attribute="likes"),
            edited(make_fact("e", "rain", make_evidence("s/5", at=5), attribute="likes"), "snow"),
        )
        asked = {
            "elsewhere": (("lives_in", "Porto", "s/9"), [lisbon]),
            "same value": (("likes", "Tea", "s/9"), [tea]),
            "same words": (("likes", "rain", "s/5"), [edited_fact]),
            "edited into": (("likes", "snow", "s/9"), [edited_fact]),
            "nothing": (("likes", "rain", "s/9"), []),
            "words of another": (("age", "41", "s/4"), [age, fog]),
        }
        with store.begin(ANA, write=False) as tx:
            for (attribute, value, words), facts in asked.values():
                evidence = make_evidence(words, value, at=9)
                candidate = FactCandidate("ANA", attribute, value, slot_of(attribute).category, evidence)
                assert list(tx.knowledge.facts(candidates=[candidate, candidate])) == facts
            assert list(tx.knowledge.facts(candidates=[])) == []

    def test_an_id_that_is_gone_leads_to_who_holds_its_evidence_now(self, store: Store) -> None:
        a, b, c, d = put(store, *(make_fact(name, name) for name in "abcd"))
        with store.begin(ANA) as tx:
            assert list(tx.knowledge.move_facts({b.id: c.id, a.id: b.id})) == sorted([a.number, b.number])
            assert (tx.knowledge.moves(a.id).get(a.id), tx.knowledge.moves(b.id).get(b.id)) == (c.id, c.id)
            assert list(tx.knowledge.move_facts({c.id: d.id})) == [c.number]
            assert {tx.knowledge.moves(one.id).get(one.id) for one in (a, b, c)} == {d.id}
            assert tx.knowledge.moves(d.id).get(d.id) is None
            assert list(tx.knowledge.move_facts({})) == []
        with store.begin(ANA) as tx:
            # evidence was taken away: the fact that was is there again
            (back,) = tx.knowledge.put_facts([b])
            assert back.number not in {one.number for one in (a, b, c, d)}
            assert list(tx.knowledge.move_facts({d.id: b.id})) == [d.number]
            assert tx.knowledge.moves(b.id).get(b.id) is None
            assert tx.knowledge.moves() == {a.id: b.id, c.id: b.id, d.id: b.id}
            tx.knowledge.move_facts({b.id: None})
            assert (list(tx.knowledge.facts()), tx.knowledge.moves()) == ([], {})

    def test_ids_are_found_by_where_they_lie_and_by_those_that_are_gone(self, store: Store) -> None:
        ids = [UUID(int=n) for n in (0, 1, 2, 7, 2**128 - 1)]
        facts = (make_fact(str(n), str(n)) for n in range(5))
        put(store, *(replace(one, fact=replace(one.fact, id=i)) for one, i in zip(facts, ids, strict=True)))
        put(store, make_fact("bo's"), scope=BO)
        with store.begin(ANA) as tx:
            assert {one.id for one in tx.knowledge.facts(between=(ids[1], ids[3]))} == {*ids[1:4]}
            assert {one.id for one in tx.knowledge.facts(between=(ids[0], ids[-1]), limit=2)} == {*ids[:2]}
            tx.knowledge.move_facts({ids[1]: ids[4], ids[2]: ids[4]})
            assert [one.id for one in tx.knowledge.facts(between=(ids[1], ids[3]))] == [ids[3]]
            assert list(tx.knowledge.facts(between=(UUID(int=3), UUID(int=6)))) == []
            assert tx.knowledge.moves(ids[1], ids[3]) == {ids[1]: ids[4], ids[2]: ids[4]}
            assert tx.knowledge.moves(ids[2], ids[2]) == tx.knowledge.moves(ids[2]) == {ids[2]: ids[4]}
            assert tx.knowledge.moves(ids[3], ids[4]) == {}

    def test_a_tombstone_stays_until_its_observation_is_erased(self, store: Store) -> None:
        first, last = (f"kitchen/{n}" for n in (0, 2))
        stones = [make_tombstone(first), make_tombstone(first, "cd34", at=1), make_tombstone(last, at=2)]
        fill(store)
        with store.begin(ANA) as tx:
            tx.knowledge.bury(stones[:2])
            tx.knowledge.bury([replace(stones[0], deleted_at=minute(50)), stones[2]])
            tx.knowledge.bury([])
        ordered = sorted(stones, key=lambda one: (one.observation_id, one.mark))
        with store.begin(ANA) as tx:
            assert list(tx.knowledge.tombstones()) == ordered
            assert list(tx.knowledge.tombstones([identity(last), identity("c")])) == [stones[2]]
            assert list(tx.knowledge.tombstones([])) == []
            tx.observations.erase(identity("kitchen"), [0, 1], NOW)
        with store.begin(ANA, write=False) as tx:
            assert list(tx.knowledge.tombstones()) == [stones[2]]
        with store.begin(BO, write=False) as tx:
            assert list(tx.knowledge.tombstones()) == []

    def test_facts_are_documents_of_their_own_in_the_index(self, store: Store) -> None:
        fill(store)
        with store.begin(ANA) as tx:
            tx.index.put_postings(FACTS, [posting(1, "lives porto"), posting(2, "tea")])
            tx.index.put_vectors(FACTS, "small", [1, 1, 2], random_vectors(1, 3))
            tx.index.put_postings("k", [posting(1, "porto porto")])
        with store.begin(ANA, write=False) as tx:
            assert tx.index.statistics(FACTS, ["porto"]).frequencies == {"porto": 1}
            refs, _ = tx.index.text_scores(FACTS, {"porto": 1.0}, k1=1.2, b=0.75, average_length=2, limit=9)
            assert refs.tolist() == [1]
            near, _ = tx.index.vector_scores(FACTS, "small", random_vectors(1, 3)[2], limit=9)
            assert near[0] == 2
            assert tx.index.unindexed(FACTS, "other", limit=9) == [1, 2]
        with store.begin(ANA) as tx:
            tx.index.drop(FACTS, [1])
        with store.begin(ANA, write=False) as tx:
            assert tx.index.statistics(FACTS, []).documents == 1

    def test_who_holds_the_facts_loses_none_to_another_writer(self, store: Store) -> None:
        put(store, make_fact("a"))

        def add(writer: int) -> None:
            for turn in range(5):
                with store.begin(ANA) as tx:
                    tx.hold("facts")
                    fact = tx.knowledge.facts(slots=[("Ana", "lives_in")])[0]
                    evidence = make_evidence(f"writer {writer}/{turn}", at=100)
                    tx.knowledge.put_facts(
                        [replace(fact, fact=replace(fact.fact, evidence=(*fact.fact.evidence, evidence)))]
                    )
                    tx.knowledge.put_facts([make_fact(f"{writer}/{turn}", attribute="likes")])

        threads = [threading.Thread(target=add, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        with store.begin(ANA, write=False) as tx:
            assert len(tx.knowledge.facts(slots=[("Ana", "lives_in")])[0].fact.evidence) == 21
            assert len({one.number for one in tx.knowledge.facts()}) == 21

    def test_an_error_among_facts_leaves_them_as_they_were(self, store: Store) -> None:
        (fact,) = put(store, make_fact("a"))
        faults.arm("mid-facts", 1, lambda: 1 // 0)
        with pytest.raises(ZeroDivisionError):
            put(store, edited(fact, "Faro"), make_fact("b"))
        (again,) = put(store, make_fact("b"))
        with store.begin(ANA, write=False) as tx:
            assert set(tx.knowledge.facts(numbers=[fact.number, again.number])) == {fact, again}

    def test_facts_of_an_undone_transaction_are_not_there(self, store: Store) -> None:
        (fact,) = put(store, make_fact("a"))
        with pytest.raises(ZeroDivisionError), store.begin(ANA) as tx:  # noqa: PT012 the block is the case
            tx.knowledge.put_facts([make_fact("b"), edited(fact, "Faro")])
            tx.knowledge.move_facts({fact.id: identity("fact/b")})
            tx.knowledge.bury([make_tombstone("a")])
            raise ZeroDivisionError
        with store.begin(ANA, write=False) as tx:
            assert everything(tx) == ([fact], {}, [])
            for write in (
                lambda: tx.hold("facts"),
                lambda: tx.knowledge.put_facts([fact]),
                lambda: tx.knowledge.move_facts(dict.fromkeys([fact.id])),
                lambda: tx.knowledge.move_facts({}),
                lambda: tx.knowledge.bury([]),
                lambda: tx.episodes.consolidate([], NOW),
            ):
                with pytest.raises(StoreError):
                    write()


# --- episodes to draw from ---------------------------------------------------------------------------------


class PendingConformance(StoreFixture):
    def test_episodes_with_words_wait_in_the_order_they_were_made_until_they_are_consolidated(
        self, store: Store
    ) -> None:
        fill(store)
        fill(store, BO)
        later, first, tied = (make_episode("kitchen", n, n) for n in range(3))
        later = replace(later, created_at=minute(9))
        tied = replace(tied, created_at=first.created_at)
        ordered = sorted([first, tied], key=lambda one: one.id.bytes)
        with store.begin(ANA) as tx:
            for episode in (later, first, tied):
                tx.episodes.put(episode)
            assert (list(tx.episodes.list(unconsolidated=True, limit=9)), tx.count("unconsolidated")) == (
                [],
                0,
            )
            for episode in (later, first, tied):
                tx.episodes.put(make_encoding(episode.id, 1))
            tx.episodes.archive(first.thread_id, 0, 1)  # compacted before its time
        with store.begin(ANA) as tx:
            episodes = tx.episodes.list(unconsolidated=True, limit=9)
            assert [one.id for one in episodes] == [*(one.id for one in ordered), later.id]
            assert episodes[2].title == make_encoding(later.id, 1).title
            assert [one.id for one in tx.episodes.list(unconsolidated=True, limit=1)] == [ordered[0].id]
            assert [tx.count("unconsolidated", limit=n) for n in (None, 9, 2, 0)] == [3, 3, 2, 0]
            tx.episodes.consolidate([UUID(int=7)], None)
            tx.episodes.consolidate([first.id, later.id, first.id], minute(50))
            tx.episodes.consolidate([first.id], None)
            assert {one.id for one in tx.episodes.list(unconsolidated=True, limit=9)} == {first.id, tied.id}
            tx.episodes.consolidate([first.id], minute(50))
            tx.episodes.consolidate([], minute(51))
            assert [one.id for one in tx.episodes.list(unconsolidated=True, limit=9)] == [tied.id]
            stored_episodes = tx.episodes.get([first.id, tied.id])
            assert (stored_episodes[first.id].consolidated_at, stored_episodes[tied.id].consolidated_at) == (
                minute(50),
                None,
            )
        with store.begin(BO, write=False) as tx:
            assert tx.count("unconsolidated") == 0

    def test_nobody_consolidates_what_is_not_pending(self, store: Store) -> None:
        fill(store)
        wordless, replaced, done = (make_episode("kitchen", n, n) for n in range(3))
        primary = replace(make_episode("kitchen", 0, 2, generation=7), kind=EpisodeKind.PRIMARY)
        with store.begin(ANA) as tx:
            for this_episode in (wordless, replaced, done, primary):
                tx.episodes.put(replace(this_episode, state=EpisodeState.CLOSED))
                if this_episode is not wordless:
                    tx.episodes.put(make_encoding(this_episode.id, 1))
            assert tx.count("unconsolidated") == 2
            tx.episodes.retire([replaced.id], 1)
            tx.episodes.consolidate([done.id], minute(50))
        for refused in (wordless.id, replaced.id, done.id, primary.id, identity("unknown")):
            with pytest.raises(Conflict), store.begin(ANA) as tx:
                tx.episodes.consolidate([refused], minute(60))
        with store.begin(ANA) as tx:
            assert tx.count("unconsolidated") == 0
            episode = tx.episodes.get(done.id)
            assert episode is not None
            assert episode.consolidated_at == minute(50)
            tx.episodes.revive(replaced.thread_id, 1)
            assert [one.id for one in tx.episodes.list(unconsolidated=True, limit=9)] == [replaced.id]

    def test_of_workers_at_the_same_time_one_consolidates(self, store: Store) -> None:
        fill(store)
        episodes = [make_episode("kitchen", n, n) for n in range(3)]
        with store.begin(ANA) as tx:
            for episode in episodes:
                tx.episodes.put(episode)
                tx.episodes.put(make_encoding(episode.id, 1))
        ids, won, both = [one.id for one in episodes], [], threading.Barrier(4)

        def work(worker: int) -> None:
            with store.begin(ANA, write=False) as tx:
                identifiers = [one.id for one in tx.episodes.list(unconsolidated=True, limit=9)]
            both.wait()
            try:
                with store.begin(ANA) as tx:
                    tx.episodes.consolidate(identifiers if worker % 2 else identifiers[::-1], minute(50))
                    (fact,) = tx.knowledge.put_facts([make_fact(str(worker))])
            except Conflict:
                return
            won.append(fact.id)

        threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        with store.begin(ANA, write=False) as tx:
            assert [one.id for one in tx.knowledge.facts()] == won
            assert len(won) == 1
            assert all(one.consolidated_at == minute(50) for one in tx.episodes.get(ids).values())


# --- programs: what is learned little by little equals what the core makes of everything ---------------------


ATTRIBUTES = {"lives_in": ("Porto", "Lisbon"), "likes": ("tea", "fog"), "dislikes": ("tea", "fog")}


def a_candidate(dice: random.Random) -> FactCandidate:
    attribute = dice.choice(list(ATTRIBUTES))
    value, subject = dice.choice(ATTRIBUTES[attribute]), dice.choice(("Ana", "ANA", "Bo"))
    seq = dice.randrange(12)
    evidence = replace(make_evidence(f"said/{seq}", value, at=seq), corrects=dice.random() < 0.1)
    return FactCandidate(
        subject, attribute, value, slot_of(attribute).category, evidence, holds=dice.random() < 0.8
    )


class _Told:
    """What the core makes of it, with every fact of the scope at hand."""

    def __init__(self) -> None:
        self.facts: tuple[Fact, ...] = ()
        self.stones: list[FactTombstone] = []
        self.gone: dict[UUID, UUID] = {}

    def learn(self, candidates: Sequence[FactCandidate]) -> None:
        changes = learn(self.facts, candidates, self.stones)
        self.facts = changes.applied(self.facts)
        self.leave(changes.gone)

    def leave(self, gone: Mapping[UUID, UUID | None]) -> None:
        self.gone = {old: by for old, by in self.gone.items() if by not in gone} | {
            old: by for old, now in self.gone.items() if (by := gone.get(now)) is not None
        }
        self.gone |= {old: by for old, by in gone.items() if by is not None}
        here = {fact.id for fact in self.facts}
        self.gone = {old: by for old, by in self.gone.items() if old not in here}


def learned(tx: Transaction, candidates: Sequence[FactCandidate], at: float) -> None:
    tx.hold("facts")
    known = [kept.fact for kept in tx.knowledge.facts(candidates=candidates)]
    stones = tx.knowledge.tombstones([one.evidence.observation_id for one in candidates])
    changes = learn(known, candidates, stones)
    tx.knowledge.move_facts(changes.gone)
    tx.knowledge.put_facts([StoredFact(fact, minute(at)) for fact in (*changes.added, *changes.changed)])


class FactProgramsConformance(StoreFixture):
    @pytest.mark.slow
    @pytest.mark.parametrize("seed", range(12))
    def test_learning_from_what_concerns_a_statement_equals_learning_from_all(
        self, store: Store, seed: int
    ) -> None:
        dice, answer, numbers = random.Random(seed), _Told(), dict[int, UUID]()
        for step in range(12):
            with store.begin(ANA) as tx:
                step_of(dice, answer, tx, step)
            with store.begin(ANA, write=False) as tx:
                facts = tx.knowledge.facts()
                assert [one.fact for one in facts] == list(answer.facts)
                assert dict(tx.knowledge.moves()) == answer.gone
                assert all(numbers.setdefault(one.number, one.id) == one.id for one in facts)
                ids = [identity(f"said/{n}") for n in range(0, 12, 3)]
                resting = [f for f in answer.facts if any(e.observation_id in ids for e in f.evidence)]
                assert [one.fact for one in tx.knowledge.facts(resting_on=ids)] == resting
                assert [one.fact for one in tx.knowledge.facts(slots=[("ana", "likes")])] == [
                    f for f in answer.facts if f.subject.casefold() == "ana" and f.attribute == "likes"
                ]
                assert tx.count("current facts") == sum(f.invalid_at is None for f in answer.facts)


def step_of(dice: random.Random, answer: _Told, tx: Transaction, step: int) -> None:
    """Learn, edit, or delete, the same in the store and in the model."""
    what = dice.random()
    if what < 0.75 or not answer.facts:
        candidates = [a_candidate(dice) for _ in range(dice.randrange(1, 5))]
        learned(tx, candidates, step)
        answer.learn(candidates)
        return
    fact = dice.choice(answer.facts)
    others = tuple(one for one in answer.facts if one.id != fact.id)
    if what < 0.9:
        changed = edit(fact, NOW + timedelta(days=step), value=dice.choice(("Faro", "tea")))
        tx.knowledge.put_facts([StoredFact(changed, NOW)])
        answer.facts = tuple(sorted((*others, changed), key=lambda one: (one.valid_at, one.id)))
        return
    stones = delete(fact, NOW)
    tx.knowledge.bury(stones)
    tx.knowledge.move_facts(dict.fromkeys([fact.id]))
    answer.stones += stones
    answer.facts = others
    answer.gone = {old: by for old, by in answer.gone.items() if fact.id not in (old, by)}
