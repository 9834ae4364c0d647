"""An agent of Pydantic AI with the capability, on its own TestModel and FunctionModel."""

import asyncio
from typing import Any

import pytest
from builders.frameworks import framework
from builders.teams import OPEN, QUESTION, team_of, told_of

framework("pydantic_ai")

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel

from episodic_agent import InvalidInput, Memory
from episodic_agent.adapters.pydantic_ai import EpisodicCapability


def asking(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """A model that calls `search_memory` once, and then says what it was told."""
    last = messages[-1].parts[-1]
    if last.part_kind == "tool-return":
        return ModelResponse([TextPart("Her name is Odile" if "Odile" in str(last.content) else "Who knows")])
    return ModelResponse([ToolCallPart("search_memory", {"query": "the cello teacher Odile"})])


def test_an_agent_recalls_in_its_instructions_what_another_run_said(memory: Memory) -> None:
    ana = memory.user("ana", new=True)
    agent = Agent(TestModel(call_tools=[]), instructions="Be kind.", capabilities=[EpisodicCapability(ana)])
    agent.run_sync("My cello teacher is called Odile")
    result = agent.run_sync("What is my cello teacher called?")
    instructions = str(result.all_messages()[0].instructions)  # type: ignore[union-attr]
    assert instructions.startswith("Be kind.")
    assert "Odile" in instructions
    assert "<recalled-memory>" in instructions
    assert ana.stats().threads == 2
    assert ana.stats().observations == 4


def test_the_model_may_search_and_the_run_comes_back_as_its_history(memory: Memory) -> None:
    ana = memory.user("ana", new=True)
    ana.add("My cello teacher is called Odile", thread="before")
    capability = EpisodicCapability(ana, thread="chat")
    agent = Agent(FunctionModel(asking), capabilities=[capability])
    first = agent.run_sync("What is she called?")
    assert first.output == "Her name is Odile"
    assert capability.history() == first.all_messages()
    second = agent.run_sync("And again?", message_history=capability.history())
    assert capability.history() == second.all_messages()
    assert len(second.all_messages()) == 8
    assert "called search_memory" in " ".join(m.text for m in ana.episodes.messages(
        ana.episodes.list(thread="chat")[0].episode_id
    ))  # fmt: skip


def test_a_run_that_is_kept_again_adds_nothing(memory: Memory) -> None:
    ana = memory.user("ana", new=True)
    capability = EpisodicCapability(ana, thread="chat", tools=())
    seen: list[Any] = []

    class Again(EpisodicCapability):
        async def after_run(self, ctx: Any, *, result: Any) -> Any:
            await super().after_run(ctx, result=result)
            seen.append(len(self.history()))
            return await super().after_run(ctx, result=result)

    agent = Agent(TestModel(), capabilities=[Again(ana, thread="chat", tools=())])
    asyncio.run(agent.run("hello"))
    assert seen == [2]
    assert len(capability.history()) == 2


def test_a_capability_of_nobody_is_refused(memory: Memory) -> None:
    with pytest.raises(InvalidInput, match="name whose memory it is"):
        EpisodicCapability(memory)  # type: ignore[arg-type]


def test_instructions_and_tools_tell_of_named_threads_alone(memory: Memory) -> None:
    team = team_of(memory)

    def searching(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        if len(messages) > 1:
            return ModelResponse([TextPart("ok")])
        return ModelResponse([ToolCallPart("search_memory", {"query": QUESTION, "only": [OPEN, "dm-lena"]})])

    for only in (None, [OPEN]):
        agent = Agent(
            FunctionModel(searching), capabilities=[EpisodicCapability(team, thread="desk", only=only)]
        )
        first, _, answered, *_ = agent.run_sync(QUESTION).all_messages()
        assert told_of(first.instructions) == (True, only is None)  # type: ignore[union-attr]
        assert told_of(answered.parts) == (True, only is None)
        team.erase(thread="desk")  # it holds what the tool answered


MOVED = ("flights to Oslo: SAS, leaving 8 may", "jonas cannot do the 8th, so it is the 15th of may")


def test_a_run_is_told_what_its_thread_holds_and_its_history_does_not(memory: Memory) -> None:
    ana = memory.user("ana", new=True)
    capability = EpisodicCapability(ana, thread="trip", tools=())
    agent = Agent(TestModel(custom_output_text="ok"), capabilities=[capability])
    first = agent.run_sync(MOVED[0])
    agent.run_sync(MOVED[1], message_history=first.all_messages())
    for history, expected in (
        ([], [True, True]),
        (first.all_messages(), [False, True]),  # the outdated half alone
        (capability.history(), [False, False]),
    ):
        made = agent.run_sync("when do we fly to Oslo?", message_history=history).new_messages()
        assert [text in str(made[0].instructions) for text in MOVED] == expected  # type: ignore[union-attr]


def test_what_was_said_in_a_run_that_failed_is_kept_once_though_it_is_tried_again(memory: Memory) -> None:
    ana = memory.user("ana", new=True)
    capability = EpisodicCapability(ana, thread="health", tools=())
    broken: list[BaseException] = [RuntimeError("no model"), asyncio.CancelledError()]

    def answering(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        if broken:
            raise broken.pop()
        return ModelResponse([TextPart("Noted")])

    agent = Agent(FunctionModel(answering), capabilities=[capability])
    for _ in range(2):
        with pytest.raises((RuntimeError, asyncio.CancelledError)):
            asyncio.run(agent.run("I'm allergic to penicillin"))
        assert ana.stats().observations == 1
    asyncio.run(agent.run("I'm allergic to penicillin", message_history=capability.history()))
    assert ana.stats().observations == 2
    asyncio.run(agent.run("I'm allergic to penicillin", message_history=capability.history()))
    assert ana.stats().observations == 4  # that was answered: it is said again
