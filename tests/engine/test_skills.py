"""Skills end to end: what an assistant does again and again becomes one, is found, used, forgotten, exported."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from builders.assistants import TEN, Message, invoice, weather
from builders.chats import Clock

from episodic_agent import Memory
from episodic_agent.core.interfaces import ref_of
from episodic_agent.core.skills import KeptSkill, Skill, SkillKind, SkillState, follows
from episodic_agent.engine import mining
from episodic_agent.engine.parting import COMPACT
from episodic_agent.engine.segmenting import ENCODE
from episodic_agent.errors import BudgetSpent, InvalidInput, NotFound, ProviderError, ProviderUnavailable
from episodic_agent.providers.scripted import ScriptedModel
from episodic_agent.providers.staged import StagedModel
from episodic_agent.schemas import Decision, Json, Scope

OpenMemory = Callable[..., Memory]
ENOUGH = 20
NAME = "find place, then get weather"
LAST = TEN + timedelta(days=14, minutes=1)


def live(memory: Memory, clock: Clock, talks: Sequence[list[Message]]) -> None:
    """Let a memory live through talks, one a day: silence makes each an episode."""
    clock.now = talks[-1][-1]["timestamp"]
    memory.add([message for talk in talks for message in talk], thread="desk")


def kept(memory: Memory, user: str = "default") -> list[KeptSkill]:
    with memory._parts.store.begin(Scope(user), write=False) as tx:
        return list(tx.skills.list())


def decisions(memory: Memory, kind: str = "skill") -> list[Decision]:
    with memory._parts.store.begin(Scope(), write=False) as tx:
        return list(tx.episodes.decisions(type=kind))


def put(memory: Memory, **fields: object) -> Skill:
    """Keep a skill with these numbers, whatever was mined."""
    given = Skill("book a table", "Book a table", SkillKind.PROCEDURAL, ("find", "book"), **fields)  # type: ignore[arg-type]
    with memory._parts.store.begin(Scope()) as tx:
        known = tx.skills.list()
        number = f"made by hand {len(known)}"
        identity = memory._fresh()
        tx.skills.put(KeptSkill(identity, number, SkillState.ACTIVE, given, TEN))
    return given


# --- mining ---------------------------------------------------------------------------------------------


@pytest.fixture
def learned(memory: Memory, clock: Clock) -> Memory:
    """A memory of fifteen days of weather."""
    live(memory, clock, [weather(day) for day in range(15)])
    memory.flush()
    return memory


def test_day_by_day_on_a_channel_it_is_the_same(memory: Memory, clock: Clock) -> None:
    for day in range(15):
        clock.now = TEN + timedelta(days=day)
        memory.add(weather(day))
    assert memory.skills() == []
    memory.flush()
    assert len(memory.threads()) == 15
    assert [(card.skill.name, card.skill.frequency) for card in memory.skills()] == [(NAME, 15)]


def test_fifteen_days_of_a_tool_using_assistant_make_a_skill(learned: Memory) -> None:
    (card,) = learned.skills()
    assert (card.skill.name, card.skill.kind) == (NAME, SkillKind.PROCEDURAL)
    assert card.skill.steps == ("find_place(query=…)", "get_weather(place from before, unit=celsius)")
    assert card.confidence == pytest.approx(0.702, abs=5e-4)
    whole = learned.skill(NAME)
    assert whole.skill.frequency == len(set(whole.skill.evidence)) == 15
    assert learned.skill(str(card.id).upper()) == whole
    verdict = whole.decision
    assert verdict is not None
    assert (verdict.verdict, verdict.threshold, verdict.features["count"]) == ("created", 0.7, 15)
    assert follows(verdict)
    assert not follows(replace(verdict, verdict="rejected"))
    assert not follows(replace(verdict, features={**verdict.features, "accepted": 0.0}))
    assert learned.jobs() == []
    assert learned.doctor() == []


def test_requests_answered_alike_make_a_skill_of_how_to_deal_with_them(memory: Memory, clock: Clock) -> None:
    live(memory, clock, [invoice(day) for day in range(15)])
    memory.flush()
    (card,) = memory.skills(kind="interaction")
    assert card.skill.parameters == ("number",)
    assert "send mail" in card.skill.steps
    assert memory.skills(kind="procedural") == []
    with pytest.raises(InvalidInput, match="there are procedural"):
        memory.skills(kind="magic")


def test_a_pattern_not_sure_enough_is_rejected_with_the_reason_and_grows(
    memory: Memory, clock: Clock
) -> None:
    live(memory, clock, [weather(day, fails=day > 2) for day in range(5)])
    memory.flush()
    assert memory.skills() == []
    (verdict,) = decisions(memory)
    assert (verdict.verdict, verdict.features["succeeds"]) == ("rejected", 0.0)
    assert verdict.score == pytest.approx(0.542, abs=5e-4)
    for day in range(5, 14):
        live(memory, clock, [weather(day)])
        memory.flush()
        assert memory.skills() == []
    assert len(decisions(memory)) == 1  # the newest verdict stands for all before
    assert decisions(memory)[0].features["count"] == 14
    live(memory, clock, [weather(14), weather(15)])  # the last one is open still
    memory.work()
    (card,) = memory.skills()
    assert card.skill.frequency == 15
    assert [d.verdict for d in decisions(memory)] == ["created"]


def test_a_skill_seen_again_grows_and_is_not_doubled(learned: Memory, clock: Clock) -> None:
    (before,) = learned.skills()
    live(learned, clock, [weather(day) for day in range(15, 18)])
    learned.flush()
    (card,) = learned.skills()
    assert (card.id, card.skill.frequency, card.skill.initial) == (before.id, 18, before.skill.initial)
    assert card.skill.last_used == LAST + timedelta(days=3)
    assert len(learned.skill(NAME).skill.evidence) == 18
    assert [kept.state for kept in kept(learned)] == [SkillState.ACTIVE]


def test_without_its_job_nothing_is_mined(open_memory: OpenMemory, clock: Clock) -> None:
    """What this file shows comes from the job: where no worker takes it nothing appears."""
    live(waiting := open_memory(jobs="workers"), clock, [weather(day) for day in range(15)])
    waiting.flush()
    waiting.worker(kinds=[ENCODE, COMPACT]).run(once=True)
    assert waiting.skills() == []
    waiting.worker().run(once=True)
    assert [card.skill.name for card in waiting.skills()] == [NAME]


def test_mining_waits_until_enough_is_new_or_somebody_asks(
    memory: Memory, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mining, "ENOUGH", ENOUGH)
    talks = [weather(day) for day in range(ENOUGH + 2)]
    live(memory, clock, talks[:ENOUGH])  # the last one is open still
    assert kept(memory) == []
    live(memory, clock, talks[ENOUGH : ENOUGH + 1])
    assert [one.skill.frequency for one in kept(memory)] == [ENOUGH]
    live(memory, clock, talks[ENOUGH + 1 :])
    assert [one.skill.frequency for one in kept(memory)] == [ENOUGH]
    memory.upkeep()
    assert [one.skill.frequency for one in kept(memory)] == [ENOUGH + 1]


def test_workers_mine_what_their_memories_leave(open_memory: OpenMemory, clock: Clock) -> None:
    memory = open_memory(jobs="workers")
    live(memory, clock, [weather(day) for day in range(15)])
    memory.flush()
    memory.worker().run(once=True)
    assert memory.skills() == []
    clock.forward(seconds=600)
    memory.worker().run(once=True)
    assert [card.skill.name for card in memory.skills()] == [NAME]


@pytest.mark.parametrize(("page", "most"), [(7, 5_000), (100, 30), (100, 1)])
def test_what_one_run_cannot_read_the_next_ones_do(
    memory: Memory, clock: Clock, monkeypatch: pytest.MonkeyPatch, page: int, most: int
) -> None:
    monkeypatch.setattr(mining, "PAGE", page)
    monkeypatch.setattr(mining, "MOST_READ", most)
    live(memory, clock, [weather(day)[:6] for day in range(20)])
    memory.flush()
    assert memory.jobs() == []
    with memory._parts.store.begin(Scope(), write=False) as tx:
        assert list(tx.skills.awaiting(limit=9)) == []
    counts = [one.skill.frequency for one in kept(memory)]
    assert (
        counts == {(7, 5_000): [20], (100, 30): [20], (100, 1): []}[page, most]
    )  # one at a time shows nothing


def test_an_agents_steps_are_not_mined(memory: Memory) -> None:
    steps = [
        {
            "kind": "step",
            "text": f"go {n % 3}",
            "location": f"room {n // 9 % 4}",
            "timestamp": TEN.timestamp() + n,
        }
        for n in range(200)
    ]
    memory.add(steps, thread="robot")
    memory.flush()
    assert len(memory.episodes()) > 1
    with memory._parts.store.begin(Scope(), write=False) as tx:
        assert list(tx.skills.awaiting(limit=9)) == []
    assert memory.work() == 0


@pytest.mark.slow
def test_a_long_run_of_an_agent_between_talks_is_passed_over(open_memory: OpenMemory, clock: Clock) -> None:
    walking, talking = open_memory(policy="stub?freeze_interval=5", embedder="none"), open_memory()
    live(talking, clock, [weather(day) for day in range(14)])
    talking.flush()
    start = weather(13)[-1]["timestamp"].timestamp() + 60
    steps = [
        {"kind": "step", "action": "forward", "location": "hall", "timestamp": start + n}
        for n in range(2_000)
    ]
    walking.add(steps, thread="robot")
    assert len(walking.episodes(thread="robot")) >= 400
    walking.work()
    live(talking, clock, [weather(14)])
    with talking._parts.store.begin(Scope(), write=False) as tx:
        assert list(tx.skills.awaiting(limit=9)) == []
    talking.flush()
    assert [card.skill.frequency for card in talking.skills()] == [15]
    with talking._parts.store.begin(Scope(), write=False) as tx:
        last = tx.episodes.of_thread(talking.thread("desk").thread.id)[-1]
        number = tx.threads.number(last.thread_id)
        window = mining.read_window(tx, [ref_of(number, last.first_seq)])
    assert (len(window.courses), len(window.exchanges)) == (15, 30)


# --- words by a model -----------------------------------------------------------------------------------

WORDS = {
    "name": "Tell the weather",
    "description": "Look a place up and tell its weather.",
    "kind": "procedural",
    "preconditions": ["a place is named"],
    "steps": ["find the place", "get its weather"],
    "postconditions": [],
    "parameters": ["place"],
    "returns": "the weather",
}


def naming(*answers: Mapping[str, Json] | ProviderError) -> tuple[StagedModel, list[str]]:
    """Return a model that names skills so, in turn, and does nothing else; and the prompts it gets."""
    asked: list[str] = []

    def respond(prompt: str, _stage: str) -> Mapping[str, Json] | ProviderError:
        asked.append(prompt)
        return answers[min(len(asked), len(answers)) - 1]

    return StagedModel(None, {"skills": ScriptedModel(respond=respond)}), asked


def test_a_model_names_what_was_mined_and_changes_nothing_else(open_memory: OpenMemory, clock: Clock) -> None:
    model, asked = naming(WORDS | {"steps": []}, WORDS)
    memory = open_memory(language_model=model)
    live(memory, clock, [weather(day) for day in range(15)])
    memory.flush()
    card = memory.skill("tell the weather")
    assert (card.skill.steps, card.skill.frequency) == (("find the place", "get its weather"), 15)
    assert card.confidence == pytest.approx(0.702, abs=5e-4)
    assert len(asked) == 2
    assert "must be 2 steps" in asked[1]  # the second says what was wrong
    live(memory, clock, [weather(15)])
    memory.flush()
    assert len(asked) == 2
    assert [c.skill.frequency for c in memory.skills("weather")] == [16]


def test_a_spent_budget_leaves_the_words_it_was_mined_with(open_memory: OpenMemory, clock: Clock) -> None:
    memory = open_memory(language_model=naming(BudgetSpent("spent"))[0])
    live(memory, clock, [weather(day) for day in range(15)])
    memory.flush()
    assert [card.skill.name for card in memory.skills()] == [NAME]


def test_a_model_that_is_away_is_asked_again_and_then_done_without(
    open_memory: OpenMemory, clock: Clock
) -> None:
    model, asked = naming(ProviderUnavailable("away"))
    memory = open_memory(language_model=model)
    live(memory, clock, [weather(day) for day in range(15)])
    memory.flush()
    for _ in range(3):
        clock.forward(seconds=120)
        memory.work()
    assert len(asked) == 3
    assert [card.skill.name for card in memory.skills()] == [NAME]


# --- confidence -----------------------------------------------------------------------------------------


def test_at_the_fifth_use_experience_is_weighed_and_then_each_use_counts(memory: Memory) -> None:
    put(memory, confidence=0.9, initial=0.9, last_used=LAST)
    memory.add("hello", timestamp=LAST)
    for n, success in enumerate((True, True, False, True)):
        card = memory.skill_used("Book a table", success, at=LAST + timedelta(hours=n))
        assert card.confidence == 0.9
    assert memory.skill_used("book a table", True, at=LAST + timedelta(hours=5)).confidence == pytest.approx(
        0.85
    )
    assert memory.skill_used("book a table", True, at=LAST + timedelta(hours=6)).confidence == pytest.approx(
        0.9
    )
    card = memory.skill_used("book a table", False, at=LAST + timedelta(hours=7))
    assert (card.confidence, card.skill.uses, card.skill.successes) == (pytest.approx(0.8), 7, 5)
    uses = sorted(decisions(memory, "skill_use"), key=lambda d: d.features["uses"])
    assert [d.verdict for d in uses] == ["success", "success", "failure", *["success"] * 3, "failure"]
    assert [round(d.score, 3) for d in uses] == [0.9, 0.9, 0.9, 0.9, 0.85, 0.9, 0.8]


def test_thirty_five_idle_days_take_five_percent_of_what_is_shown(memory: Memory, clock: Clock) -> None:
    put(memory, confidence=0.8, initial=0.8, last_used=LAST)
    clock.now = LAST + timedelta(days=35)
    (card,) = memory.skills()
    assert card.confidence == pytest.approx(0.76)
    assert memory.skill("book a table").confidence == pytest.approx(0.76)
    assert memory.skills(now=LAST + timedelta(days=29))[0].confidence == 0.8
    assert kept(memory)[0].skill.confidence == 0.8


# --- finding and forgetting ------------------------------------------------------------------------------


def test_skills_are_found_by_words_and_by_meaning(learned: Memory, clock: Clock) -> None:
    live(learned, clock, [invoice(day) for day in range(15)])
    learned.flush()
    assert len(learned.skills()) == 2
    assert [card.skill.name for card in learned.skills("what is the weather like?")] == [NAME]
    assert [card.skill.kind for card in learned.skills("send an invoice")] == [SkillKind.INTERACTION]
    assert learned.skills("zebra crossing") == []
    assert [card.skill.name for card in learned.skills(limit=1)] == [learned.skills()[0].skill.name]
    with pytest.raises(InvalidInput, match="query is empty"):
        learned.skills(" ")
    with pytest.raises(NotFound, match=NAME):
        learned.skill("nothing like it")
    learned.add("hello", user_id="bo")
    assert learned.skills("weather", user_id="bo") == []
    with pytest.raises(NotFound, match="none yet"):
        learned.skill(NAME, user_id="bo")


def test_a_forgotten_skill_does_not_come_back(learned: Memory, clock: Clock) -> None:
    assert learned.forget_skill(NAME).skill.name == NAME
    assert (learned.skills(), learned.skills("weather")) == ([], [])
    with pytest.raises(NotFound):
        learned.skill_used(NAME, True)
    live(learned, clock, [weather(day) for day in range(15, 40)])
    learned.flush()
    assert learned.skills() == []
    (gone,) = [one for one in kept(learned) if one.state is SkillState.DROPPED]
    assert (gone.skill.name, gone.skill.steps, gone.skill.examples) == ("", (), ())
    assert learned.doctor() == []


def test_an_export_keeps_skills_and_what_uses_made_of_them(
    learned: Memory, clock: Clock, open_memory: OpenMemory, tmp_path: Path
) -> None:
    live(learned, clock, [invoice(day) for day in range(16)])
    learned.flush()
    learned.skill_used(NAME, True, at=clock.now)
    learned.forget_skill(learned.skills(kind="interaction")[0].id)
    file = tmp_path / "ana.jsonl"
    file.write_text("\n".join(learned.export()), encoding="utf-8")
    copy = open_memory(tmp_path / "copy.db")
    copy.import_file(file)
    assert copy.skill(NAME) == learned.skill(NAME)
    assert [replace(one, number=0) for one in kept(copy)] == [replace(one, number=0) for one in kept(learned)]
    assert [card.skill.name for card in copy.skills("weather in Lisbon")] == [NAME]
    assert copy.doctor() == []
    assert list(copy.export())[1:] == list(learned.export())[1:]
    copy.import_file(file)
    assert len(kept(copy)) == len(kept(learned))


def test_an_export_from_before_there_were_skills_is_looked_through(
    learned: Memory, open_memory: OpenMemory, tmp_path: Path
) -> None:
    lines = [line for line in learned.export() if '"type": "skill"' not in line and "skills-1" not in line]
    (tmp_path / "old.jsonl").write_text("\n".join(lines), encoding="utf-8")
    copy = open_memory(tmp_path / "copy.db")
    copy.import_file(tmp_path / "old.jsonl")
    copy.flush()
    assert [card.skill.name for card in copy.skills()] == [NAME]


def test_doctor_tells_what_is_wrong_with_a_skill_and_mends_what_can_be_derived(learned: Memory) -> None:
    with learned._parts.store.begin(Scope()) as tx:
        (one,) = tx.skills.list()
        bad = replace(one.skill, confidence=1.5, successes=9)
        turn = tx.skills.evidence(one.id)[0]
        tx.skills.put(replace(one, skill=bad), [replace(turn, seq=999)])
        tx.episodes.revoke(tx.episodes.decisions(type="skill")[0].id)
    told = [finding.message for finding in learned.doctor()]
    assert [message.partition(": ")[2][:30] for message in told[:3]] == [
        "its confidence 1.5 is not betw",
        "9 of 0 uses succeeded",
        "1 of the 16 turns that show it",
    ]
    assert told[3].endswith("has no decision")
    with learned._parts.store.begin(Scope()) as tx:
        tx.skills.drop(one.id)
    assert learned.doctor(repair=True) == []  # without any the newest episodes are looked through again
    assert [card.skill.name for card in learned.skills()] == [NAME]


def test_what_is_compacted_names_the_skills_it_shows(learned: Memory, clock: Clock) -> None:
    live(learned, clock, [weather(day) for day in range(15, 18)])
    learned.flush()
    (card, *_) = learned.compact()
    with learned._parts.store.begin(Scope(), write=False) as tx:
        (*_, decision) = tx.episodes.decisions(subject=card.episode_id, type=COMPACT)
    assert decision.detail["steps"] == {"skills": 1}
    assert NAME in card.macro
