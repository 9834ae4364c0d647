"""Skills end to end: what an assistant does again and again becomes one, is found, used, forgotten, exported."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from builders.assistants import TEN, Message, deployment, invoice, weather
from builders.chats import Clock, mine
from conftest import After

from episodic_agent import Memory
from episodic_agent.core.skills.keeping import follows
from episodic_agent.engine.jobs.kinds import COMPACT, ENCODE
from episodic_agent.engine.scoped import fresh_id
from episodic_agent.engine.skills import job as mining
from episodic_agent.errors import BudgetSpent, InvalidInput, NotFound, ProviderError, ProviderUnavailable
from episodic_agent.protocols import ref_of
from episodic_agent.providers.models.staged import StagedModel
from episodic_agent.schemas import Decision, Json, Scope
from episodic_agent.schemas.skills import Skill, SkillKind, SkillState, StoredSkill
from episodic_agent.testing.models import ScriptedModel

OpenMemory = Callable[..., Memory]
ENOUGH = 20
NAME = "What's the weather in … on Thursday?"
LAST = TEN + timedelta(days=14, minutes=1)


def live(memory: Memory, clock: Clock, talks: Sequence[list[Message]]) -> None:
    """Let a memory live through talks, one a day: silence makes each an episode."""
    clock.now = talks[-1][-1]["timestamp"]
    mine(memory).add([message for talk in talks for message in talk], thread="desk")


def kept(memory: Memory, user: str = "default") -> list[StoredSkill]:
    with memory._deps.store.begin(Scope(user), write=False) as tx:
        return list(tx.knowledge.skills())


def decisions(memory: Memory, kind: str = "skill") -> list[Decision]:
    with memory._deps.store.begin(Scope(), write=False) as tx:
        return list(tx.knowledge.decisions(type=kind))


def put(memory: Memory, **fields: object) -> Skill:
    """Keep a skill with these numbers, whatever was mined."""
    skill = Skill("book a table", "Book a table", SkillKind.PROCEDURAL, ("find", "book"), **fields)  # type: ignore[arg-type]
    with memory._deps.store.begin(Scope()) as tx:
        known = tx.knowledge.skills()
        number = f"made by hand {len(known)}"
        identity = fresh_id(memory._deps)
        tx.knowledge.put_skill(StoredSkill(identity, number, SkillState.ACTIVE, skill, TEN))
    return skill


# --- mining ---------------------------------------------------------------------------------------------


def fifteen_days(memory: Memory, clock: Clock) -> None:
    live(memory, clock, [weather(day) for day in range(15)])
    mine(memory).flush()


@pytest.fixture
def learned(after: After, open_memory: OpenMemory) -> Memory:
    """A memory of fifteen days of weather."""
    after(fifteen_days)
    return open_memory()


@pytest.mark.slow
def test_day_by_day_on_a_channel_it_is_the_same(memory: Memory, clock: Clock) -> None:
    for day in range(15):
        clock.now = TEN + timedelta(days=day)
        mine(memory).add(weather(day))
    assert mine(memory).skills.list() == []
    mine(memory).flush()
    assert len(mine(memory).threads.list()) == 15
    assert [(card.skill.name, card.skill.frequency) for card in mine(memory).skills.list()] == [(NAME, 15)]


def test_fifteen_days_of_a_tool_using_assistant_make_a_skill(learned: Memory) -> None:
    (card,) = mine(learned).skills.list()
    assert (card.skill.name, card.skill.kind) == (NAME, SkillKind.PROCEDURAL)
    assert card.skill.steps == ("find_place(query=…)", "get_weather(place from before, unit=celsius)")
    assert card.confidence == pytest.approx(0.702, abs=5e-4)
    full_card = mine(learned).skills.get(NAME)
    assert full_card.skill.frequency == len(set(full_card.skill.evidence)) == 15
    assert mine(learned).skills.get(str(card.id).upper()) == full_card
    verdict = full_card.decision
    assert verdict is not None
    assert (verdict.verdict, verdict.threshold, verdict.features["count"]) == ("created", 0.7, 15)
    assert follows(verdict)
    assert not follows(replace(verdict, verdict="rejected"))
    assert not follows(replace(verdict, features={**verdict.features, "accepted": 0.0}))
    assert learned.jobs.list() == []
    assert learned.doctor() == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shell", "steps"),
    [
        (False, ("run_tests(suite=smoke)", "build_image(tag=…)", "deploy_staging(image from before)")),
        (
            True,
            (
                "bash(command=cd web && git switch …)",
                "bash(command=pnpm test)",
                "bash(command=pnpm run deploy)",
            ),
        ),
    ],
    ids=["tools", "shell"],
)
def test_what_differs_may_stand_in_a_later_step_and_a_shell_is_known_by_what_it_runs(
    memory: Memory, clock: Clock, shell: bool, steps: tuple[str, ...]
) -> None:
    live(memory, clock, [deployment(day, shell=shell) for day in range(15)])
    mine(memory).flush()
    assert [card.skill.steps for card in mine(memory).skills.list()] == [steps]
    told = mine(memory).context("deploy quill:77 to staging", thread="other", max_tokens=600).text
    assert "pnpm run deploy" in told if shell else "deploy_staging" in told


def test_requests_answered_alike_make_a_skill_of_how_to_deal_with_them(memory: Memory, clock: Clock) -> None:
    live(memory, clock, [invoice(day) for day in range(15)])
    mine(memory).flush()
    (card,) = mine(memory).skills.list(kind="interaction")
    assert card.skill.parameters == ("number",)
    assert "send mail" in card.skill.steps
    assert mine(memory).skills.list(kind="procedural") == []
    with pytest.raises(InvalidInput, match="there are procedural"):
        mine(memory).skills.list(kind="magic")


@pytest.mark.slow
def test_a_pattern_not_sure_enough_is_rejected_with_the_reason_and_grows(
    memory: Memory, clock: Clock
) -> None:
    live(memory, clock, [weather(day, fails=day > 2) for day in range(5)])
    mine(memory).flush()
    assert mine(memory).skills.list() == []
    (verdict,) = decisions(memory)
    assert (verdict.verdict, verdict.features["succeeds"]) == ("rejected", 0.0)
    assert verdict.score == pytest.approx(0.542, abs=5e-4)
    for day in range(5, 14):
        live(memory, clock, [weather(day)])
        mine(memory).flush()
        assert mine(memory).skills.list() == []
    assert len(decisions(memory)) == 1  # the newest verdict stands for all before
    assert decisions(memory)[0].features["count"] == 14
    live(memory, clock, [weather(14), weather(15)])  # the last one is open still
    memory.jobs.run()
    (card,) = mine(memory).skills.list()
    assert card.skill.frequency == 15
    assert [d.verdict for d in decisions(memory)] == ["created"]


def test_a_skill_seen_again_grows_and_is_not_doubled(learned: Memory, clock: Clock) -> None:
    (before,) = mine(learned).skills.list()
    live(learned, clock, [weather(day) for day in range(15, 18)])
    mine(learned).flush()
    (card,) = mine(learned).skills.list()
    assert (card.id, card.skill.frequency, card.skill.initial) == (before.id, 18, before.skill.initial)
    assert card.skill.last_used == LAST + timedelta(days=3)
    assert len(mine(learned).skills.get(NAME).skill.evidence) == 18
    assert [kept.state for kept in kept(learned)] == [SkillState.ACTIVE]


@pytest.mark.slow
def test_without_its_job_nothing_is_mined(open_memory: OpenMemory, clock: Clock) -> None:
    """What this file shows comes from the job: where no worker takes it nothing appears."""
    live(waiting := open_memory(jobs="workers"), clock, [weather(day) for day in range(15)])
    mine(waiting).flush()
    waiting.jobs.worker(kinds=[ENCODE, COMPACT]).run(once=True)
    assert mine(waiting).skills.list() == []
    waiting.jobs.worker().run(once=True)
    assert [card.skill.name for card in mine(waiting).skills.list()] == [NAME]


@pytest.mark.slow
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


@pytest.mark.slow
def test_workers_mine_what_their_memories_leave(open_memory: OpenMemory, clock: Clock) -> None:
    memory = open_memory(jobs="workers")
    live(memory, clock, [weather(day) for day in range(15)])
    mine(memory).flush()
    memory.jobs.worker().run(once=True)
    assert mine(memory).skills.list() == []
    clock.forward(seconds=600)
    memory.jobs.worker().run(once=True)
    assert [card.skill.name for card in mine(memory).skills.list()] == [NAME]


@pytest.mark.slow
@pytest.mark.parametrize(("page", "most"), [(7, 5_000), (100, 30), (100, 1)])
def test_what_one_run_cannot_read_the_next_ones_do(
    memory: Memory, clock: Clock, monkeypatch: pytest.MonkeyPatch, page: int, most: int
) -> None:
    monkeypatch.setattr(mining, "PAGE", page)
    monkeypatch.setattr(mining, "MOST_READ", most)
    live(memory, clock, [weather(day)[:6] for day in range(20)])
    mine(memory).flush()
    assert memory.jobs.list() == []
    with memory._deps.store.begin(Scope(), write=False) as tx:
        assert list(tx.knowledge.awaiting(limit=9)) == []
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
    mine(memory).add(steps, thread="robot")
    mine(memory).flush()
    assert len(mine(memory).episodes.list()) > 1
    with memory._deps.store.begin(Scope(), write=False) as tx:
        assert list(tx.knowledge.awaiting(limit=9)) == []
    assert memory.jobs.run() == 0


@pytest.mark.slow
def test_a_long_run_of_an_agent_between_talks_is_passed_over(open_memory: OpenMemory, clock: Clock) -> None:
    walking, talking = open_memory(policy="stub?freeze_interval=5", embedder="none"), open_memory()
    live(talking, clock, [weather(day) for day in range(14)])
    mine(talking).flush()
    start = weather(13)[-1]["timestamp"].timestamp() + 60
    steps = [
        {"kind": "step", "action": "forward", "location": "hall", "timestamp": start + n}
        for n in range(2_000)
    ]
    mine(walking).add(steps, thread="robot")
    assert len(mine(walking).episodes.list(thread="robot")) >= 400
    walking.jobs.run()
    live(talking, clock, [weather(14)])
    with talking._deps.store.begin(Scope(), write=False) as tx:
        assert list(tx.knowledge.awaiting(limit=9)) == []
    mine(talking).flush()
    assert [card.skill.frequency for card in mine(talking).skills.list()] == [15]
    with talking._deps.store.begin(Scope(), write=False) as tx:
        last = tx.episodes.list(threads=[mine(talking).threads.get("desk").thread.id])[-1]
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


@pytest.mark.slow
def test_a_model_names_what_was_mined_and_changes_nothing_else(open_memory: OpenMemory, clock: Clock) -> None:
    model, asked = naming(WORDS | {"name": ""}, WORDS)
    memory = open_memory(language_model=model)
    live(memory, clock, [weather(day) for day in range(15)])
    mine(memory).flush()
    card = mine(memory).skills.get("tell the weather")
    assert (card.skill.steps, card.skill.frequency) == (("find the place", "get its weather"), 15)
    assert card.confidence == pytest.approx(0.702, abs=5e-4)
    assert len(asked) == 2
    assert "name must be a text" in asked[1]  # the second says what was wrong
    live(memory, clock, [weather(15)])
    mine(memory).flush()
    assert len(asked) == 2
    assert [c.skill.frequency for c in mine(memory).skills.list("weather")] == [16]


@pytest.mark.slow
def test_a_spent_budget_leaves_the_words_it_was_mined_with(open_memory: OpenMemory, clock: Clock) -> None:
    memory = open_memory(language_model=naming(BudgetSpent("spent"))[0])
    live(memory, clock, [weather(day) for day in range(15)])
    mine(memory).flush()
    assert [card.skill.name for card in mine(memory).skills.list()] == [NAME]


@pytest.mark.slow
def test_a_model_that_is_away_is_asked_again_and_then_done_without(
    open_memory: OpenMemory, clock: Clock
) -> None:
    model, asked = naming(ProviderUnavailable("away"))
    memory = open_memory(language_model=model)
    live(memory, clock, [weather(day) for day in range(15)])
    mine(memory).flush()
    for _ in range(3):
        clock.forward(seconds=120)
        memory.jobs.run()
    assert len(asked) == 3
    assert [card.skill.name for card in mine(memory).skills.list()] == [NAME]


# --- confidence -----------------------------------------------------------------------------------------


def test_at_the_fifth_use_experience_is_weighed_and_then_each_use_counts(memory: Memory) -> None:
    put(memory, confidence=0.9, initial=0.9, last_used=LAST)
    mine(memory).add("hello", timestamp=LAST)
    for n, success in enumerate((True, True, False, True)):
        card = mine(memory).skills.used("Book a table", success, at=LAST + timedelta(hours=n))
        assert card.confidence == pytest.approx(0.9 if n < 2 else 0.8)  # a failure is felt at once
    assert mine(memory).skills.used(
        "book a table", True, at=LAST + timedelta(hours=5)
    ).confidence == pytest.approx(0.85)
    assert mine(memory).skills.used(
        "book a table", True, at=LAST + timedelta(hours=6)
    ).confidence == pytest.approx(0.9)
    card = mine(memory).skills.used("book a table", False, at=LAST + timedelta(hours=7))
    assert (card.confidence, card.skill.uses, card.skill.successes) == (pytest.approx(0.8), 7, 5)
    uses = sorted(decisions(memory, "skill_use"), key=lambda d: d.features["uses"])
    assert [d.verdict for d in uses] == ["success", "success", "failure", *["success"] * 3, "failure"]
    assert [round(d.score, 3) for d in uses] == [0.9, 0.9, 0.8, 0.8, 0.85, 0.9, 0.8]


def test_thirty_five_idle_days_take_five_percent_of_what_is_shown(memory: Memory, clock: Clock) -> None:
    put(memory, confidence=0.8, initial=0.8, last_used=LAST)
    clock.now = LAST + timedelta(days=35)
    (card,) = mine(memory).skills.list()
    assert card.confidence == pytest.approx(0.76)
    assert mine(memory).skills.get("book a table").confidence == pytest.approx(0.76)
    assert mine(memory).skills.list(now=LAST + timedelta(days=29))[0].confidence == 0.8
    assert kept(memory)[0].skill.confidence == 0.8


# --- finding and forgetting ------------------------------------------------------------------------------


def test_skills_are_found_by_words_and_by_meaning(learned: Memory, clock: Clock) -> None:
    live(learned, clock, [invoice(day) for day in range(15)])
    mine(learned).flush()
    assert len(mine(learned).skills.list()) == 2
    assert [card.skill.name for card in mine(learned).skills.list("what is the weather like?")] == [NAME]
    assert [card.skill.kind for card in mine(learned).skills.list("send an invoice")] == [
        SkillKind.INTERACTION
    ]
    assert mine(learned).skills.list("zebra crossing") == []
    assert [card.skill.name for card in mine(learned).skills.list(limit=1)] == [
        mine(learned).skills.list()[0].skill.name
    ]
    with pytest.raises(InvalidInput, match="query is empty"):
        mine(learned).skills.list(" ")
    with pytest.raises(NotFound, match=NAME):
        mine(learned).skills.get("nothing like it")
    learned.user("bo").add("hello")
    assert learned.user("bo").skills.list("weather") == []
    with pytest.raises(NotFound, match="none yet"):
        learned.user("bo").skills.get(NAME)


@pytest.mark.slow
def test_a_forgotten_skill_does_not_come_back(learned: Memory, clock: Clock) -> None:
    assert mine(learned).skills.delete(NAME).skill.name == NAME
    assert (mine(learned).skills.list(), mine(learned).skills.list("weather")) == ([], [])
    with pytest.raises(NotFound):
        mine(learned).skills.used(NAME, True)
    live(learned, clock, [weather(day) for day in range(15, 40)])
    mine(learned).flush()
    assert mine(learned).skills.list() == []
    (gone,) = [one for one in kept(learned) if one.state is SkillState.DROPPED]
    assert (gone.skill.name, gone.skill.steps, gone.skill.examples) == ("", (), ())
    assert learned.doctor() == []


@pytest.mark.slow
def test_an_export_keeps_skills_and_what_uses_made_of_them(
    learned: Memory, clock: Clock, open_memory: OpenMemory, tmp_path: Path
) -> None:
    live(learned, clock, [invoice(day) for day in range(16)])
    mine(learned).flush()
    mine(learned).skills.used(NAME, True, at=clock.now)
    mine(learned).skills.delete(mine(learned).skills.list(kind="interaction")[0].id)
    file = tmp_path / "ana.jsonl"
    file.write_text("\n".join(mine(learned).export()), encoding="utf-8")
    copy = open_memory(tmp_path / "copy.db")
    mine(copy).import_file(file)
    assert mine(copy).skills.get(NAME) == mine(learned).skills.get(NAME)
    assert [replace(one, number=0) for one in kept(copy)] == [replace(one, number=0) for one in kept(learned)]
    assert [card.skill.name for card in mine(copy).skills.list("weather in Lisbon")] == [NAME]
    assert copy.doctor() == []
    assert list(mine(copy).export())[1:] == list(mine(learned).export())[1:]
    mine(copy).import_file(file)
    assert len(kept(copy)) == len(kept(learned))


def test_an_export_from_before_there_were_skills_is_looked_through(
    learned: Memory, open_memory: OpenMemory, tmp_path: Path
) -> None:
    lines = [
        line for line in mine(learned).export() if '"type": "skill"' not in line and "skills-1" not in line
    ]
    (tmp_path / "old.jsonl").write_text("\n".join(lines), encoding="utf-8")
    copy = open_memory(tmp_path / "copy.db")
    mine(copy).import_file(tmp_path / "old.jsonl")
    mine(copy).flush()
    assert [card.skill.name for card in mine(copy).skills.list()] == [NAME]


def test_doctor_tells_what_is_wrong_with_a_skill_and_mends_what_can_be_derived(learned: Memory) -> None:
    with learned._deps.store.begin(Scope()) as tx:
        (skill,) = tx.knowledge.skills()
        bad = replace(skill.skill, confidence=1.5, successes=9)
        turn = tx.knowledge.evidence(skill.id)[0]
        tx.knowledge.put_skill(replace(skill, skill=bad), [replace(turn, seq=999)])
        tx.knowledge.revoke(tx.knowledge.decisions(type="skill")[0].id)
    texts = [finding.message for finding in learned.doctor()]
    assert [message.partition(": ")[2][:30] for message in texts[:3]] == [
        "its confidence 1.5 is not betw",
        "9 of 0 uses succeeded",
        "1 of 16 turns behind it missin",
    ]
    assert texts[3].endswith("has no decision")
    with learned._deps.store.begin(Scope()) as tx:
        tx.knowledge.drop_skill(skill.id)
    assert learned.doctor(repair=True) == []  # without any the newest episodes are looked through again
    assert [card.skill.name for card in mine(learned).skills.list()] == [NAME]


def test_what_is_compacted_names_the_skills_it_shows(learned: Memory, clock: Clock) -> None:
    live(learned, clock, [weather(day) for day in range(15, 18)])
    mine(learned).flush()
    (card, *_) = mine(learned).sections.compact()
    with learned._deps.store.begin(Scope(), write=False) as tx:
        (*_, decision) = tx.knowledge.decisions(subject=card.episode_id, type=COMPACT)
    assert decision.detail["steps"] == {"skills": 1}
    assert NAME in card.macro


def test_a_skill_that_fits_is_told_in_the_context_with_its_source(learned: Memory) -> None:
    context = mine(learned).context("Will the weather in Paris be good on Friday?")
    (line,) = [item for item in context.items if item.kind == "skill"]
    assert "What has worked before:\n- find place, then get weather when asked: " in context.text
    assert line.text.endswith("→ find_place(query=…) → get_weather(place from before, unit=celsius)")
    with learned._deps.store.begin(Scope(), write=False) as tx:
        (turn,) = tx.observations.read(line.thread_id, line.first_seq, line.last_seq)
    assert turn.text.startswith("What's the weather in")
    assert not any(i.kind == "skill" for i in mine(learned).context("I meet my mother in Boston").items)
