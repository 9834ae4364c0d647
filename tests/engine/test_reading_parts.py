"""Where a model that reads finished talk divides it by subject: weighed, cut or joined, explained, undone."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from builders.chats import BREAD, LISBON, TAP, Clock
from builders.models import alias_in
from conftest import OpenMemory
from engine.test_resegment import findings, store_of

from episodic_agent import Memory
from episodic_agent.core.boundary.conversation.reading import WeighedReading
from episodic_agent.core.prompts import digest
from episodic_agent.engine.episodes.wording import EXTRACTIVE
from episodic_agent.engine.user import UserMemory
from episodic_agent.errors import NotFound
from episodic_agent.providers.models.openai import OpenAIModel
from episodic_agent.providers.models.staged import StagedModel
from episodic_agent.schemas import Json, Scope
from episodic_agent.testing import serving
from episodic_agent.testing.models import ScriptedModel

NINE = datetime(2026, 4, 13, 9, tzinfo=UTC)
TALK = (*TAP, *LISBON, *BREAD)
CUT = [(0, 3), (4, 7), (8, 11)]  # as the messages come
LOW = "default-2027-01?threshold=0.3&band=0.01"  # under which message 2 begins an episode as well; a narrow band asks nothing
Part = tuple[int, int]


def part(prompt: str, first: int, last: int) -> dict[str, Json]:
    (_, begins), (_, ends) = TALK[first], TALK[last]
    return {
        "begins": alias_in(prompt, begins), "ends": alias_in(prompt, ends), "title": f"Part: {begins[:40].strip()}",
        "summary": f'Somebody said: "{begins}".', "tags": ["talk"], "outcome": "ongoing",
    }  # fmt: skip


def answer(parts: Sequence[Part]) -> Any:
    def answered(prompt: str, stage: str = "facts") -> Mapping[str, Json]:
        if stage == "topic_shift":
            return {"signals": {}, "is_boundary": False, "confidence": 0.0}
        return {"parts": [part(prompt, *one) for one in parts], "facts": []}

    return answered


def told(
    open_memory: OpenMemory,
    *parts: Part,
    model: Any = None,
    stages: Sequence[str] = ("episode", "facts", "topic_shift"),
    **more: Any,
) -> Memory:
    """Return a memory that was told of three matters in an hour, and had them read a day later."""
    clock = Clock(NINE)
    staged = StagedModel(None, dict.fromkeys(stages, model or ScriptedModel(respond=answer(parts))))
    arguments = {"policy": "default", "embedder": "hashing", "clock": clock, "language_model": staged, **more}
    memory = open_memory(**arguments)
    user = memory.user("gem", new=True)
    for n, (role, text) in enumerate(TALK):
        clock.now = NINE + timedelta(minutes=n)
        user.add({"role": role, "content": text, "timestamp": clock.now}, channel="sms")
    for hours in (9, 40):
        clock.now = NINE + timedelta(hours=hours)
        user.upkeep(now=clock.now)
    return memory


def gem(memory: Memory) -> UserMemory:
    return memory.user("gem")


def stored(memory: Memory) -> list[Any]:
    found = [gem(memory).episodes.get(card.episode_id) for card in gem(memory).episodes.list()]
    return sorted(found, key=lambda one: one.first_seq)


def spans(memory: Memory) -> list[Part]:
    return [(one.first_seq, one.last_seq) for one in stored(memory)]


def explained(memory: Memory, first: int) -> Any:
    return gem(memory).boundaries.explain(next(e.id for e in stored(memory) if e.first_seq == first))


def thread_of(memory: Memory) -> Any:
    return gem(memory).threads.list()[0].origin


@pytest.mark.slow
def test_parts_that_say_what_was_cut_change_nothing(open_memory: OpenMemory) -> None:
    memory = told(open_memory, *CUT)
    assert spans(memory) == CUT
    assert all(one.encoded_by == f"scripted {digest.VERSION}" for one in stored(memory))
    with pytest.raises(NotFound, match="nothing to undo"):
        gem(memory).boundaries.undo(thread_of(memory))


@pytest.mark.slow
def test_a_part_that_begins_inside_an_episode_is_weighed_and_cut_there(open_memory: OpenMemory) -> None:
    memory = told(open_memory, (0, 3), (4, 7), (8, 9), (10, 11))
    assert spans(memory) == [(0, 3), (4, 7), (8, 9), (10, 11)]
    new = stored(memory)[2:]
    assert [one.title for one in new] == [
        f"Part: {TALK[n][1][:40].strip()}" for n in (8, 10)
    ]  # in the same call
    assert gem(memory).search("hard crust for the children").hits[0].episode_id == new[1].id
    begins = explained(memory, 10).begins
    reading = WeighedReading(begins.decision.features["unread"], named=True)
    assert (begins.decision.score, begins.decision.detail["mode"]) == (reading.probability, "reading")
    assert reading.unread < begins.decision.threshold <= reading.probability
    assert f"a language model that read all of it began a part here, else it was {reading.unread:.2f}" in (
        begins.sentence
    )
    assert any(
        "without the language model's reading" in one for one in explained(memory, 10).what_would_change
    )
    assert [f for f in memory.doctor() if f.severity == "error"] == []
    assert gem(memory).stats().unconsolidated == 0  # nothing is read twice for it


@pytest.mark.slow
def test_a_cut_inside_a_part_is_weighed_and_joined(open_memory: OpenMemory, tmp_path: Path) -> None:
    alone = told(open_memory, policy=LOW, stages=("topic_shift",), path=tmp_path / "alone.db")
    assert spans(alone) == [(0, 1), (2, 3), (4, 7), (8, 11)]
    memory = told(open_memory, *CUT, policy=LOW)
    assert spans(memory) == CUT
    assert any(
        "without the language model's reading it would have been split before message 2" in one
        for one in explained(memory, 0).what_would_change
    )
    assert [f for f in memory.doctor() if f.severity == "error"] == []


def test_what_is_sure_stays_and_the_words_of_both_parts_are_kept_together(open_memory: OpenMemory) -> None:
    memory = told(open_memory, (0, 3), (4, 4), (5, 7), (8, 11))  # 5 only answers: .0001
    assert spans(memory) == CUT
    (lisbon,) = (one for one in stored(memory) if one.first_seq == 4)
    assert lisbon.summary == f'Somebody said: "{TALK[4][1]}". Somebody said: "{TALK[5][1]}".'
    assert lisbon.encoded_by == f"scripted {digest.VERSION}"


def test_one_part_of_everything_joins_no_sure_cuts(open_memory: OpenMemory) -> None:
    memory = told(open_memory, (0, 11), policy="default-2027-01")
    assert spans(memory) == CUT
    assert [one.encoded_by for one in stored(memory)].count(EXTRACTIVE) == 2


def test_undo_restores_what_was_before_and_nobody_is_asked_again(open_memory: OpenMemory) -> None:
    model = ScriptedModel(respond=answer([(0, 3), (4, 7), (8, 9), (10, 11)]))
    memory = told(open_memory, model=model)
    asked = len(model.calls)
    gem(memory).boundaries.undo(thread_of(memory))
    assert spans(memory) == CUT
    gem(memory).upkeep(now=NINE + timedelta(hours=90))
    assert (spans(memory), len(model.calls)) == (CUT, asked)
    assert [f for f in memory.doctor() if f.severity == "error"] == []


@pytest.mark.slow
def test_the_doctor_repeats_a_reading(open_memory: OpenMemory) -> None:
    memory = told(open_memory, (0, 3), (4, 7), (8, 9), (10, 11))
    scope = Scope(user_id="gem")
    with store_of(memory).begin(scope, write=False) as tx:
        (decision,) = tx.knowledge.decisions(type="resegment")
    assert (decision.verdict, decision.detail["cuts"], decision.detail["joins"]) == ("reading", [10], [])


@pytest.mark.slow
@pytest.mark.parametrize(
    "more",
    [{"policy": "default?band=0"}, {"policy": "seed-001"}, {"stages": ("episode", "facts")}],
    ids=["band=0", "seed-001", "no model for boundaries"],
)
def test_who_asks_no_model_about_boundaries_hears_none(
    open_memory: OpenMemory, tmp_path: Path, more: dict[str, Any]
) -> None:
    without = spans(told(open_memory, **more, path=tmp_path / "without.db"))
    memory = told(open_memory, (0, 3), (4, 7), (8, 9), (10, 11), **more)
    assert spans(memory) == without


def stages_asked(model: ScriptedModel) -> set[str]:
    return {stage for stage, _ in model.calls}


@pytest.mark.slow
def test_who_reads_the_whole_is_asked_about_no_single_gap(open_memory: OpenMemory, tmp_path: Path) -> None:
    wide = "default?band=2"  # in which gaps of this talk lie
    one, other = (ScriptedModel(respond=answer(CUT)) for _ in range(2))
    told(open_memory, model=one, policy=wide, path=tmp_path / "one.db")
    assert stages_asked(one) == {"facts"}
    apart = StagedModel(None, {"episode": one, "facts": one, "topic_shift": other})
    told(open_memory, policy=wide, language_model=apart, path=tmp_path / "apart.db")
    assert stages_asked(other) == {"topic_shift"}  # a model named for it is
    alone = ScriptedModel(respond=answer(CUT))
    told(open_memory, model=alone, policy=wide, fact_policy="alone", path=tmp_path / "alone.db")
    assert "topic_shift" in stages_asked(alone)  # and so is one that reads no whole


@pytest.mark.slow
def test_a_question_of_a_policy_that_weighs_no_reading_is_asked(open_memory: OpenMemory) -> None:
    model = ScriptedModel(respond=answer(CUT))
    told(open_memory, model=model, policy="seed-001")
    assert "topic_shift" in stages_asked(model)


@pytest.mark.slow
def test_a_cut_and_a_join_by_hand_are_no_matter_for_a_model(open_memory: OpenMemory) -> None:
    clock = Clock(NINE)
    model = StagedModel(
        None,
        dict.fromkeys(("episode", "facts", "topic_shift"), ScriptedModel(respond=answer([(0, 3), (4, 11)]))),
    )
    memory = open_memory(policy="default", embedder="hashing", clock=clock, language_model=model)
    user = memory.user("gem", new=True)
    for n, (role, text) in enumerate(TALK):
        clock.now = NINE + timedelta(minutes=n)
        user.add({"role": role, "content": text, "timestamp": clock.now}, channel="sms")
    clock.now = NINE + timedelta(hours=9)
    user.upkeep(now=clock.now)
    thread = user.threads.list()[0].origin
    user.boundaries.resegment(thread, cut=6)
    user.boundaries.resegment(thread, join=4)
    clock.now = NINE + timedelta(hours=40)
    user.upkeep(now=clock.now)
    assert spans(memory) == [(0, 5), (6, 7), (8, 11)]  # neither cut at 4 nor joined at 6


@pytest.mark.slow
def test_a_divided_thread_is_exported_and_read_back(open_memory: OpenMemory, tmp_path: Path) -> None:
    memory = told(open_memory, (0, 3), (4, 7), (8, 9), (10, 11))
    target = tmp_path / "export.jsonl"
    target.write_text("\n".join(gem(memory).export()), encoding="utf-8")
    copy = open_memory(path=tmp_path / "copy.db", embedder="hashing")
    copy.user("gem", new=True).import_file(target)
    assert spans(copy) == spans(memory)
    assert [f for f in copy.doctor() if f.severity == "error"] == []


@pytest.mark.slow
def test_over_the_real_protocol_parts_divide_and_one_call_tells_them(open_memory: OpenMemory) -> None:
    with serving(answer([(0, 3), (4, 7), (8, 9), (10, 11)])) as server:
        memory = told(
            open_memory,
            model=OpenAIModel("any", base_url=server.url),
            stages=("episode", "facts", "topic_shift"),
        )
        assert len([p for p in server.asked if "parts: what was said" in str(p)]) == 1
    assert spans(memory) == [(0, 3), (4, 7), (8, 9), (10, 11)]
    assert findings(memory) == []
