"""Skills of an embodied agent: the same actions on many days become one, named by what it is for."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from builders.chats import Clock, mine
from builders.robots import COFFEE, EIGHT, coffee

from episodic_agent import Memory
from episodic_agent.engine.skills.verbs import SkillCard
from episodic_agent.schemas import Observation, Scope

ACTIONS = tuple(action for _, action in COFFEE)
Round = Callable[[int], list[dict[str, object]]]


def learn(memory: Memory, clock: Clock, one: Round, days: int = 16) -> list[SkillCard]:
    """Let a robot live through days, each given when it is over, and return what it learnt."""
    for day in range(days):
        clock.now = EIGHT + timedelta(days=day, hours=1)
        mine(memory).add(one(day), thread="robot")
    mine(memory).flush()
    assert memory.doctor() == []
    return list(mine(memory).skills.list())


def messages(memory: Memory) -> list[Observation]:
    with memory._deps.store.begin(Scope(), write=False) as tx:
        return [o for t in tx.threads.list(limit=9) for o in tx.observations.read(t.id, 0, 999)]


@pytest.mark.slow
def test_what_is_done_on_many_days_becomes_a_skill_called_by_the_request(
    memory: Memory, clock: Clock
) -> None:
    (card,) = learn(memory, clock, coffee)
    skill = card.skill
    assert (skill.name, skill.steps, skill.frequency) == ("Make me a coffee", ACTIONS, 16)
    assert skill.preconditions == ("asked: Please make me a coffee.",)
    assert (skill.postconditions, skill.returns) == ((), "")  # nothing rather than empty talk
    told = mine(memory).context("Please make me a coffee.").text
    assert "What has worked before" in told


@pytest.mark.slow
def test_unasked_it_is_called_by_all_it_does_and_names_keep_their_capitals(
    memory: Memory, clock: Clock
) -> None:
    (card,) = learn(memory, clock, lambda day: coffee(day, ""))
    assert card.skill.name == ", then ".join(ACTIONS)
    assert (card.skill.steps, card.skill.frequency) == (ACTIONS, 16)


@pytest.mark.slow
def test_fewer_than_fifteen_times_is_no_skill(memory: Memory, clock: Clock) -> None:
    assert learn(memory, clock, coffee, days=14) == []


@pytest.mark.slow
def test_what_mostly_fails_is_no_skill_and_what_it_comes_to_is_told(memory: Memory, clock: Clock) -> None:
    outcomes = {True: "failed: the mug fell", False: "Mira has her coffee"}
    assert learn(memory, clock, lambda day: coffee(day, outcome=outcomes[day % 3 == 0])) == []
    (card,) = learn(memory, clock, lambda day: coffee(day + 20, outcome=outcomes[False]))
    assert card.skill.postconditions == ("Mira has her coffee",)


@pytest.mark.slow
def test_a_failure_changes_the_confidence_at_once(memory: Memory, clock: Clock) -> None:
    (card,) = learn(memory, clock, coffee)
    used = mine(memory).skills.used("make me a coffee", False)
    assert used.confidence == pytest.approx(card.confidence - 0.1)
    assert mine(memory).skills.list()[0].confidence == used.confidence


@pytest.mark.slow
def test_a_skill_of_steps_goes_with_a_step_it_rests_on(memory: Memory, clock: Clock) -> None:
    learn(memory, clock, lambda day: coffee(day, ""), days=15)
    identity = next(o.id for o in messages(memory) if o.extras.get("action") == "shut the lid")
    mine(memory).erase(observation=identity)
    assert mine(memory).skills.list() == []


@pytest.mark.slow
def test_how_an_agent_merely_moves_is_no_skill(memory: Memory, clock: Clock) -> None:
    walk = [("hall", action) for action in ("turn left", "go forward") * 8]
    assert learn(memory, clock, lambda day: coffee(day, "", job=walk)) == []
