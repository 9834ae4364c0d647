"""What every store must do about skills: rows, the turns that show them, and episodes nobody has mined yet."""

import threading
from dataclasses import replace

import pytest
from stores.builders import ANA, BO, fill, identity, make_skill, posting, random_vectors
from stores.conformance import StoreFixture

from episodic_agent.errors import Conflict, NotFound, StoreError
from episodic_agent.protocols import SKILLS, Store, ref_of
from episodic_agent.schemas import Scope
from episodic_agent.schemas.skills import SkillState, StoredSkill, TurnRef

KITCHEN = identity("kitchen")


def turn(seq: int, thread: str = "kitchen") -> TurnRef:
    return TurnRef(identity(thread), seq)


def put(store: Store, skill: StoredSkill, *turns: TurnRef, scope: Scope = ANA) -> StoredSkill:
    with store.begin(scope) as tx:
        return tx.knowledge.put_skill(skill, turns)


class SkillsConformance(StoreFixture):
    def test_a_skill_comes_back_as_it_was_written_with_a_number_of_its_own(self, store: Store) -> None:
        fill(store)
        first = put(store, make_skill("b", "book\0a table", at=1), turn(2), turn(0), turn(2))
        second = put(store, make_skill("a", state=SkillState.CANDIDATE), turn(0))
        bare = make_skill("c", at=1)
        third = put(store, replace(bare, skill=replace(bare.skill, last_used=None, name="Ça va – 日程")))
        assert len({first.number, second.number, third.number}) == 3
        with store.begin(ANA, write=False) as tx:
            assert next(iter(tx.knowledge.skills(ids=[first.id])), None) == first
            assert list(tx.knowledge.skills()) == [second, *sorted([first, third], key=lambda k: k.id.bytes)]
            assert list(tx.knowledge.skills(state=SkillState.CANDIDATE)) == [second]
            assert {kept.number: kept for kept in tx.knowledge.skills(numbers=[second.number, 99])} == {
                second.number: second
            }
            assert list(tx.knowledge.evidence(first.id)) == [turn(0), turn(2)]
            assert next(iter(tx.knowledge.skills(ids=[identity("unknown")])), None) is None
            assert list(tx.knowledge.evidence(identity("unknown"))) == []

    def test_writing_it_again_changes_the_skill_and_adds_to_its_evidence(self, store: Store) -> None:
        fill(store)
        first = put(store, make_skill("a"), turn(0))
        changed = replace(first, state=SkillState.DROPPED, skill=replace(first.skill, confidence=0.25))
        assert put(store, changed, turn(0), turn(1)).number == first.number
        with store.begin(ANA, write=False) as tx:
            assert list(tx.knowledge.skills()) == [changed]
            assert list(tx.knowledge.evidence(first.id)) == [turn(0), turn(1)]

    def test_what_a_turn_shows_is_looked_up_by_the_turn(self, store: Store) -> None:
        fill(store)
        fill(store, name="garden")
        skill = put(store, make_skill("a"), turn(0), turn(1, "garden"))
        other = put(store, make_skill("b"), turn(0))
        with store.begin(ANA, write=False) as tx:
            asked = [turn(0), turn(1), turn(1, "garden"), turn(0, "nowhere")]
            shown = {t: sorted(ids) for t, ids in tx.knowledge.evidence(asked).items()}
            assert shown == {turn(0): sorted([skill.id, other.id]), turn(1, "garden"): [skill.id]}
            assert tx.knowledge.evidence([]) == {}

    def test_a_pattern_belongs_to_one_skill_of_a_scope(self, store: Store) -> None:
        fill(store)
        fill(store, BO)
        put(store, make_skill("a"))
        taken = replace(make_skill("a"), id=identity("another"))
        with pytest.raises(Conflict):
            put(store, taken)
        assert put(store, taken, scope=BO).skill == taken.skill
        with pytest.raises(NotFound):
            put(store, make_skill("b"), turn(0, "nowhere"))
        with store.begin(ANA, write=False) as tx:
            assert [kept.pattern for kept in tx.knowledge.skills()] == ["a"]

    def test_a_dropped_row_is_gone_with_its_evidence(self, store: Store) -> None:
        fill(store)
        skill = put(store, make_skill("a"), turn(0), turn(1))
        put(store, make_skill("b"), turn(1))
        with store.begin(ANA) as tx:
            tx.knowledge.drop_skill(skill.id)
            tx.knowledge.drop_skill(skill.id)
        with store.begin(ANA, write=False) as tx:
            assert [kept.pattern for kept in tx.knowledge.skills()] == ["b"]
            assert list(tx.knowledge.evidence([turn(0), turn(1)])) == [turn(1)]

    def test_episodes_wait_for_mining_once_in_the_order_of_refs(self, store: Store) -> None:
        number = fill(store)
        refs = [ref_of(number, seq) for seq in (7, 3, 5)]
        with store.begin(ANA) as tx:
            tx.knowledge.note_mining(refs)
            tx.knowledge.note_mining([])
            tx.knowledge.note_mining(refs[:2])
        with store.begin(ANA) as tx:
            assert list(tx.knowledge.awaiting(limit=2)) == sorted(refs)[:2]
            tx.knowledge.note_mining([refs[1], 99], done=True)
        with store.begin(ANA, write=False) as tx:
            assert list(tx.knowledge.awaiting(limit=9)) == [refs[2], refs[0]]
        with store.begin(BO, write=False) as tx:
            assert list(tx.knowledge.awaiting(limit=9)) == []

    def test_skills_are_documents_of_their_own_in_the_index(self, store: Store) -> None:
        number = fill(store)
        with store.begin(ANA) as tx:
            tx.index.put_postings(SKILLS, [posting(1, "book table"), posting(2, "weather")])
            tx.index.put_vectors(SKILLS, "small", [1, 1, 2], random_vectors(1, 3))
            tx.index.put_postings("o", [posting(ref_of(number, 1), "table table")])
        with store.begin(ANA, write=False) as tx:
            assert tx.index.statistics(SKILLS, ["table"]).frequencies == {"table": 1}
            refs, _ = tx.index.text_scores(SKILLS, {"table": 1.0}, k1=1.2, b=0.75, average_length=2, limit=9)
            assert refs.tolist() == [1]
            near, scores = tx.index.vector_scores(SKILLS, "small", random_vectors(1, 3)[2], limit=9)
            assert (near[0], round(float(scores[0]), 3)) == (2, 1.0)
            assert tx.index.unindexed(SKILLS, "other", limit=9) == [1, 2]
        with store.begin(ANA) as tx:
            tx.index.drop(SKILLS, [1])
        with store.begin(ANA, write=False) as tx:
            assert tx.index.statistics(SKILLS, []).documents == 1

    def test_writers_at_the_same_time_lose_no_use(self, store: Store) -> None:
        fill(store)
        this_skill = put(store, make_skill("a"))

        def use(turn: int) -> None:
            for _ in range(5):
                with store.begin(ANA) as tx:
                    skill = (
                        next(iter(tx.knowledge.skills(ids=[this_skill.id])), None)
                        if turn % 2
                        else tx.knowledge.skills()[0]
                    )
                    assert skill is not None
                    tx.knowledge.put_skill(
                        replace(skill, skill=replace(skill.skill, uses=skill.skill.uses + 1))
                    )

        threads = [threading.Thread(target=use, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        with store.begin(ANA, write=False) as tx:
            assert [kept.skill.uses for kept in tx.knowledge.skills()] == [this_skill.skill.uses + 20]

    def test_skills_of_an_undone_transaction_are_not_there(self, store: Store) -> None:
        fill(store)
        with pytest.raises(ZeroDivisionError), store.begin(ANA) as tx:  # noqa: PT012 the block is the case
            tx.knowledge.put_skill(make_skill("a"), [turn(0)])
            tx.knowledge.note_mining([1])
            raise ZeroDivisionError
        with store.begin(ANA, write=False) as tx:
            assert (list(tx.knowledge.skills()), list(tx.knowledge.awaiting(limit=9))) == ([], [])
            for write in (
                lambda: tx.knowledge.put_skill(make_skill("a")),
                lambda: tx.knowledge.note_mining([1]),
            ):
                with pytest.raises(StoreError):
                    write()
