"""What a memory does with what was mined: grow, judge, create, give up, and never twice."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid5

import pytest

from episodic_agent.core.skills.confidence import initial_confidence
from episodic_agent.core.skills.keeping import (
    Change,
    changes,
    erased,
    follows,
    overflowing,
    pattern_of,
    verdict_on,
)
from episodic_agent.core.skills.mining import CHECKS
from episodic_agent.schemas.skills import Skill, SkillKind, SkillState, StoredSkill, TurnRef

NOW = datetime(2025, 11, 5, 10, tzinfo=UTC)
ALL = dict.fromkeys(CHECKS, True)


def found(name: str, turns: Sequence[int], failed: str = "", kind: SkillKind = SkillKind.PROCEDURAL) -> Skill:
    """Return what mining finds: a pattern shown by these turns, with one check that failed."""
    checks = {check: check != failed for check in CHECKS}
    validation = sum(checks.values()) / len(checks)
    sure = initial_confidence(len(turns), validation)
    evidence = tuple(TurnRef(UUID(int=1), turn) for turn in turns)
    last = NOW + timedelta(days=max(turns))
    steps = (name, "then") if kind is SkillKind.PROCEDURAL else ("hear", "answer")
    return Skill(
        name,
        name,
        kind,
        steps,
        (),
        (),
        (),
        "",
        (),
        sure,
        len(turns),
        last,
        evidence,
        validation,
        checks,
        sure,
    )


class Memory:
    """Keeps what is to be written, as a store would."""

    def __init__(self) -> None:
        self.kept: dict[UUID, StoredSkill] = {}
        self.shown: dict[TurnRef, list[UUID]] = {}

    def learn(self, *skills: Skill) -> list[Change]:
        made = changes(skills, list(self.kept.values()), self.shown, lambda p: uuid5(UUID(int=5), p), NOW)
        for change in made:
            self.kept[change.skill.id] = replace(change.skill, number=len(self.kept) + 1)
            for turn in change.turns:
                self.shown.setdefault(turn, []).append(change.skill.id)
        return made

    def states(self) -> list[tuple[str, str, int]]:
        return [(one.skill.name, one.state.value, one.skill.frequency) for one in self.kept.values()]


def test_what_is_sure_enough_is_created_and_the_rest_waits() -> None:
    memory = Memory()
    made = memory.learn(found("book", range(15)), found("mail", range(20, 25), "succeeds"))
    assert [change.created for change in made] == [True, False]
    assert memory.states() == [("book", "active", 15), ("mail", "candidate", 5)]
    assert [round(one.skill.confidence, 3) for one in memory.kept.values()] == [0.702, 0.542]
    assert memory.learn(found("book", range(15)), found("mail", range(20, 25), "succeeds")) == []


def test_the_count_of_a_candidate_goes_on_where_the_window_ends() -> None:
    memory = Memory()
    for start in range(0, 15, 3):
        assert [c.created for c in memory.learn(found("book", range(start, start + 3)))] == [start == 12]
    assert memory.states() == [("book", "active", 15)]


def test_checks_that_more_occurrences_cannot_undo_stay_passed_and_others_are_judged_anew() -> None:
    memory = Memory()
    memory.learn(found("book", range(3), "accepted"))
    memory.learn(found("book", range(3, 6), "lasting"))
    (skill,) = memory.kept.values()
    assert dict(skill.skill.checks) == ALL
    assert skill.skill.confidence == initial_confidence(6, 1.0)
    memory.learn(found("book", range(6, 9), "accepted"))
    (skill,) = memory.kept.values()
    assert [name for name, held in skill.skill.checks.items() if not held] == ["accepted"]


def test_what_rests_on_the_turns_of_a_surer_one_is_no_other_skill() -> None:
    memory = Memory()
    memory.learn(found("book", range(15)))
    assert memory.learn(found("find", range(20)), found("ask", range(4), kind=SkillKind.INTERACTION)) == []
    assert memory.learn(found("find", range(8, 28)))[0].created
    both = Memory()
    both.learn(found("one", range(16)), found("two", range(15)))
    assert [name for name, _, _ in both.states()] == ["one"]


def test_a_request_whose_words_changed_is_known_by_its_turns() -> None:
    memory = Memory()
    memory.learn(found("answer weather", range(15), kind=SkillKind.INTERACTION))
    (change,) = memory.learn(found("answer weather forecast", range(10, 18), kind=SkillKind.COMMUNICATION))
    assert (change.skill.skill.name, change.skill.skill.frequency) == ("answer weather", 18)
    assert [turn.seq for turn in change.turns] == [15, 16, 17]


def test_a_forgotten_one_comes_back_neither_by_its_pattern_nor_by_its_turns() -> None:
    memory = Memory()
    memory.learn(found("book", range(15)))
    (skill,) = memory.kept.values()
    memory.kept[skill.id] = gone = erased(skill)
    assert (gone.state, gone.skill.name, gone.skill.steps) == (SkillState.DROPPED, "", ())
    assert memory.learn(found("book", range(40, 60)), found("find", range(15))) == []


def test_too_many_candidates_give_way_the_least_sure_first() -> None:
    memory = Memory()
    memory.learn(*(found(f"p{n}", range(100 * n, 100 * n + 3 + n % 3)) for n in range(9)))
    memory.learn(found("sure", range(5_000, 5_015)))
    left = overflowing(memory.kept.values(), most=3)
    assert sorted(one.skill.frequency for one in left) == [3, 3, 3, 4, 4, 4]
    assert overflowing(memory.kept.values()) == []


@pytest.mark.parametrize("count", [3, 5, 14, 15, 80])
@pytest.mark.parametrize("failed", ["", "compact"])
def test_a_verdict_is_recomputed_from_its_record(count: int, failed: str) -> None:
    memory = Memory()
    (change,) = memory.learn(found("book", range(count), failed))
    verdict = verdict_on(change.skill, NOW)
    assert (verdict.verdict == "created") is change.created is (verdict.score > 0.7)
    assert follows(verdict)
    for wrong in (
        replace(verdict, score=verdict.score + 0.01),
        replace(verdict, verdict="created" if verdict.verdict == "rejected" else "rejected"),
        replace(verdict, features={"count": float(count)}),
    ):
        assert not follows(wrong)


def test_patterns_are_told_apart_by_what_is_done_or_asked() -> None:
    skill = found("book", range(3))
    assert pattern_of(skill) == pattern_of(replace(skill, steps=("book(q=1)", "then(a from before)")))
    assert pattern_of(skill) != pattern_of(replace(skill, steps=("then", "book")))
    asked = found("book", range(3), kind=SkillKind.INTERACTION)
    assert pattern_of(asked) == pattern_of(replace(asked, kind=SkillKind.DECISION, steps=("hear",)))
    assert pattern_of(asked) != pattern_of(skill)
