"""An agent of Microsoft's Agent Framework with the provider, on a chat client that answers as told."""

import asyncio
import contextlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from builders.frameworks import framework
from builders.teams import OPEN, QUESTION, team_of, told_of

framework("agent_framework")

from agent_framework import Agent, BaseChatClient, ChatResponse, Content, FunctionInvocationLayer, Message

from episodic_agent import InvalidInput, Memory
from episodic_agent.adapters.agent_framework import EpisodicContextProvider


class Scripted(FunctionInvocationLayer, BaseChatClient):
    """A chat client that answers from a list and keeps what it was asked."""

    def __init__(self, *answers: Sequence[Any]) -> None:
        super().__init__()
        self.answers = list(answers)
        self.asked: list[tuple[list[Message], Mapping[str, Any]]] = []

    def _inner_get_response(
        self, *, messages: Sequence[Message], stream: bool, options: Mapping[str, Any], **kwargs: Any
    ) -> Any:
        self.asked.append((list(messages), dict(options)))

        async def answer() -> ChatResponse:
            return ChatResponse(messages=[Message("assistant", self.answers.pop(0))])

        return answer()


SEARCH = Content.from_function_call("c1", "search_memory", arguments='{"query": "the cello teacher Odile"}')


def test_an_agent_recalls_in_one_session_what_was_said_in_another(memory: Memory) -> None:
    ana = memory.user("ana", new=True)
    client = Scripted(["Good to know"], ["It is Odile"])
    agent = Agent(client, instructions="Be kind.", context_providers=[EpisodicContextProvider(ana)])

    async def talk() -> None:
        await agent.run("My cello teacher is called Odile", session=agent.create_session(session_id="one"))
        await agent.run("What is my cello teacher called?", session=agent.create_session(session_id="two"))

    asyncio.run(talk())
    prompt = " ".join(m.text for m in client.asked[-1][0]) + str(client.asked[-1][1].get("instructions"))
    assert "Be kind." in prompt
    assert "Odile" in prompt
    assert "<recalled-memory>" in prompt
    assert ana.stats().observations == 4
    assert sorted(t.origin for t in ana.threads.list()) == ["one", "two"]


def test_the_model_may_search_and_each_message_of_a_session_is_kept_once(memory: Memory) -> None:
    ana = memory.user("ana", new=True)
    ana.add("My cello teacher is called Odile", thread="before")
    client = Scripted([SEARCH], ["It is Odile"], ["Odile"])
    agent = Agent(client, context_providers=[EpisodicContextProvider(ana, thread="chat")])
    session = agent.create_session()

    async def talk() -> None:
        await agent.run("Who is she?", session=session)
        await agent.run("Who is she?", session=session)

    asyncio.run(talk())
    answered = [c for m in client.asked[1][0] for c in m.contents if c.type == "function_result"]
    assert "Odile" in str(answered[0].result)
    (card,) = ana.episodes.list(thread="chat")
    assert [m.actor for m in ana.episodes.messages(card.episode_id)] == [
        "user", "assistant", "tool", "assistant", "user", "assistant",
    ]  # fmt: skip


def test_a_provider_of_nobody_is_refused(memory: Memory) -> None:
    with pytest.raises(InvalidInput, match="name whose memory it is"):
        EpisodicContextProvider(memory)  # type: ignore[arg-type]


def test_instructions_and_tools_tell_of_named_threads_alone(memory: Memory) -> None:
    team = team_of(memory)
    wider = json.dumps({"query": QUESTION, "only": [OPEN, "dm-lena"]})
    for only in (None, [OPEN]):
        client = Scripted([Content.from_function_call("c1", "search_memory", arguments=wider)], ["ok"])
        agent = Agent(client, context_providers=[EpisodicContextProvider(team, thread="desk", only=only)])
        asyncio.run(agent.run(QUESTION))
        (first, options), (second, _) = client.asked
        assert told_of([*(m.text for m in first), options.get("instructions")]) == (True, only is None)
        assert told_of([m.to_dict() for m in second]) == (True, only is None)
        team.erase(thread="desk")  # it holds what the tool answered


MOVED = ("flights to Oslo: SAS, leaving 8 may", "jonas cannot do the 8th, so it is the 15th of may")


def prompt_of(client: Scripted) -> str:
    messages, options = client.asked[-1]
    return "\n".join([str(options.get("instructions")), *(m.text for m in messages)])


def test_a_session_that_begins_anew_is_told_what_its_thread_holds_and_one_that_goes_on_is_not(
    memory: Memory,
) -> None:
    ana = memory.user("ana", new=True)
    client = Scripted(["ok"], ["ok"], ["15 may"], ["15 may"])

    async def program(*texts: str) -> str:
        agent = Agent(client, context_providers=[EpisodicContextProvider(ana)])
        session = agent.create_session(session_id="trip")
        for text in texts:
            await agent.run(text, session=session)
        return prompt_of(client)

    going_on = asyncio.run(program(*MOVED))
    assert going_on.count(MOVED[0]) == 1
    anew = asyncio.run(program("when do we fly to Oslo?"))
    assert [anew.count(text) for text in MOVED] == [1, 1]
    asyncio.run(program("when do we fly to Oslo?"))  # once more in another process: said twice
    assert ana.stats().observations == 8


def test_what_was_said_in_a_run_that_failed_is_kept_once_though_it_is_tried_again(memory: Memory) -> None:
    ana = memory.user("ana", new=True)
    client = Scripted()
    agent = Agent(client, context_providers=[EpisodicContextProvider(ana)])
    session = agent.create_session(session_id="health")

    async def talk() -> None:
        with pytest.raises(IndexError):  # the client has no answer
            await agent.run("I'm allergic to penicillin", session=session)

    asyncio.run(talk())
    assert ana.stats().observations == 1
    client.answers = [["Noted"], ["Noted"]]
    asyncio.run(agent.run("I'm allergic to penicillin", session=session))
    assert ana.stats().observations == 2
    asyncio.run(agent.run("I'm allergic to penicillin", session=agent.create_session(session_id="health")))
    assert ana.stats().observations == 4  # that was answered: it is said again


def test_a_turn_that_is_tried_again_in_another_process_is_kept_once(memory: Memory) -> None:
    ana = memory.user("ana", new=True)
    for answers in ([], [["Noted"]]):
        agent = Agent(Scripted(*answers), context_providers=[EpisodicContextProvider(ana)])
        with contextlib.suppress(IndexError):
            asyncio.run(agent.run("I'm allergic to nuts", session=agent.create_session(session_id="health")))
    assert ana.stats().observations == 2
