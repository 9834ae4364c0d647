"""A session of the OpenAI Agents SDK, its model on a scripted server, against the SDK's own session."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest
from builders.frameworks import framework
from builders.teams import OPEN, QUESTION, team_of, told_of

framework("agents")

from agents import (
    Agent,
    OpenAIChatCompletionsModel,
    RunContextWrapper,
    Runner,
    SQLiteSession,
    set_tracing_disabled,
)
from agents.items import TResponseInputItem
from openai import AsyncOpenAI

from episodic_agent import InvalidInput, Memory
from episodic_agent.adapters.openai_agents import EpisodicSession, episodic_tools
from episodic_agent.testing import ScriptedServer, serving

ITEMS: list[Any] = [
    {"role": "user", "content": "What is the weather in Lisbon?"},
    {"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": "x"},
    {"id": "fc_1", "type": "function_call", "call_id": "c1", "name": "weather", "arguments": '{"city":"Lisbon"}'},
    {"type": "function_call_output", "call_id": "c1", "output": "18 °C"},
    {
        "id": "msg_1", "type": "message", "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": "It is 18 °C.", "annotations": []}],
    },
]  # fmt: skip


@pytest.fixture(autouse=True)
def _no_tracing() -> None:
    set_tracing_disabled(True)


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with serving(lambda prompt: {"heard": prompt[-60:]}) as scripted:
        yield scripted


def agent_on(server: ScriptedServer, session: EpisodicSession, **options: Any) -> Agent[Any]:
    client = AsyncOpenAI(base_url=server.url, api_key="none")
    model = OpenAIChatCompletionsModel(model="scripted", openai_client=client)
    return Agent("Assistant", instructions=session.instructions("Be kind."), model=model, **options)


def test_a_session_hands_the_next_turn_what_was_said_and_another_session_recalls_it(
    memory: Memory, server: ScriptedServer
) -> None:
    ana = memory.user("ana", new=True)
    first, second = EpisodicSession("one", ana), EpisodicSession("two", ana)

    async def talk() -> None:
        await Runner.run(agent_on(server, first), "My cello teacher is called Odile", session=first)
        await Runner.run(agent_on(server, first), "She plays in Lisbon", session=first)
        await Runner.run(
            agent_on(server, second, tools=episodic_tools(ana)),
            "What is my cello teacher called?",
            session=second,
        )

    asyncio.run(talk())
    system, *history = server.asked[1]["messages"]
    assert [m["role"] for m in history] == ["user", "assistant", "user"]
    assert history[0]["content"] == "My cello teacher is called Odile"
    assert "recalled-memory" not in str(system)  # nothing beside what the session itself holds
    system, *history = server.asked[2]["messages"]
    assert str(system["content"]).startswith("Be kind.")
    assert "Odile" in str(system["content"])
    assert len(history) == 1
    assert [tool["function"]["name"] for tool in server.asked[2]["tools"]] == [
        "search_memory", "replay_topic", "get_facts",
    ]  # fmt: skip
    assert ana.stats().observations == 6
    assert "Odile" in str(ana.search("the cello teacher Odile"))


def test_the_same_run_in_the_sdks_own_session_leaves_the_same_items(
    memory: Memory, server: ScriptedServer
) -> None:
    session, own = EpisodicSession("one", memory.user("ana", new=True)), SQLiteSession("one")

    async def items_of(kept: Any) -> list[TResponseInputItem]:
        for text in ("yes", "yes"):
            await Runner.run(agent_on(server, session), text, session=kept)
        return await kept.get_items()

    assert asyncio.run(items_of(session)) == asyncio.run(items_of(own))


def told(session: Any) -> list[Any]:
    """What a program sees that uses a session in all the ways there are."""

    async def used() -> list[Any]:
        await session.add_items(ITEMS)
        seen: list[Any] = [await session.get_items(), await session.get_items(limit=2)]
        seen += [await session.pop_item(), await session.pop_item(), len(await session.get_items())]
        await session.add_items(ITEMS[-2:])  # as the SDK does that rewinds a turn
        seen.append(await session.get_items())
        await session.clear_session()
        seen += [await session.get_items(), await session.pop_item()]
        await session.add_items([])
        await session.add_items(ITEMS[:1])
        seen.append(await session.get_items())
        return seen

    return asyncio.run(used())


def test_a_program_sees_what_it_would_see_of_the_sdks_own_session(memory: Memory) -> None:
    assert told(EpisodicSession("one", memory.user("ana", new=True))) == told(SQLiteSession("one"))


def test_items_with_ids_are_kept_once_and_calls_are_found_by_their_words(memory: Memory) -> None:
    ana = memory.user("ana", new=True)
    session = EpisodicSession("one", ana)
    asyncio.run(session.add_items(ITEMS))
    asyncio.run(session.add_items([ITEMS[2], ITEMS[4]]))
    assert ana.stats().observations == len(ITEMS)
    assert "weather" in str(ana.search("weather Lisbon"))


def test_a_tool_answers_from_memory_and_says_what_was_wrong(memory: Memory) -> None:
    ana = memory.user("ana", new=True)
    ana.add("My cello teacher is called Odile", thread="t")
    (search,) = episodic_tools(ana, ["search_memory"])
    answer = asyncio.run(search.on_invoke_tool(None, '{"query": "cello teacher Odile"}'))  # type: ignore[arg-type]
    assert "Odile" in str(answer)
    answer = asyncio.run(search.on_invoke_tool(None, "{}"))  # type: ignore[arg-type]
    assert str(answer).startswith("error: search_memory needs 'query'")


def test_a_session_of_nobody_is_refused(memory: Memory) -> None:
    with pytest.raises(InvalidInput, match="name whose memory it is"):
        EpisodicSession("one", memory)  # type: ignore[arg-type]


def test_instructions_and_tools_tell_of_named_threads_alone(memory: Memory, server: ScriptedServer) -> None:
    team = team_of(memory)

    async def talk(session: EpisodicSession) -> None:
        await Runner.run(agent_on(server, session), QUESTION)

    for name, only in (("a", None), ("b", OPEN)):
        asyncio.run(talk(EpisodicSession(name, team, only=only)))
        assert told_of(server.asked[-1]["messages"][0]) == (True, only is None)
        (search,) = episodic_tools(team, ["search_memory"], only=only)
        call: Any = search.on_invoke_tool
        answer = asyncio.run(call(None, json.dumps({"query": QUESTION, "only": [OPEN, "dm-lena"]})))
        assert told_of(answer) == (True, only is None)


def test_instructions_tell_what_of_the_session_the_run_does_not_hold(memory: Memory) -> None:
    ana = memory.user("ana", new=True)
    session = EpisodicSession("trip", ana)
    moved = ("flights to Oslo: SAS, leaving 8 may", "jonas cannot do the 8th, so it is the 15th of may")
    question = {"role": "user", "content": "when do we fly to Oslo?"}

    async def told_to(items: list[Any]) -> list[bool]:
        context = RunContextWrapper(None)
        context.turn_input = [*items, question]
        instructions = await session.instructions()(context, Agent("Assistant"))
        assert question["content"] not in instructions
        return [text in instructions for text in (*moved, "20 euros")]

    async def talk() -> None:
        before = EpisodicSession("trip", ana)
        await before.add_items([{"role": "user", "content": text} for text in moved])
        assert await told_to([]) == [True, True, False]
        items = await session.get_items()
        assert await told_to(items[1:]) == [True, False, False]
        # as a run goes on: what was asked, and what its tools answered, is in the session already
        await session.add_items([question])
        await session.add_items([{"type": "function_call_output", "call_id": "c", "output": "20 euros"}])
        assert await told_to(items) == [False, False, False]

    asyncio.run(talk())
