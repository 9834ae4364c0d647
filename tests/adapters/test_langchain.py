"""A chat of LangChain whose history is a thread, as its own page on message histories has it."""

import asyncio
from typing import Any

import pytest
from builders.frameworks import framework
from builders.teams import OPEN, QUESTION, team_of, told_of

framework("langchain_core")

from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.runnables import RunnablePassthrough
from langchain_core.runnables.history import RunnableWithMessageHistory

from episodic_agent import InvalidInput, Memory, NotFound
from episodic_agent.adapters.langchain import EpisodicChatHistory, EpisodicRetriever

CALL = {"name": "weather", "args": {"city": "Lisbon"}, "id": "c1", "type": "tool_call"}


def test_a_chain_with_history_sees_what_was_said_and_keeps_what_is(memory: Memory) -> None:
    ana = memory.user("ana", new=True)
    model = GenericFakeChatModel(messages=iter(["Nice to meet you", "You are Ana"]))
    prompts: list[Any] = []
    prompt = ChatPromptTemplate.from_messages(
        [("system", "Be kind"), MessagesPlaceholder("history"), ("human", "{question}")]
    )
    seen = RunnablePassthrough(lambda value: prompts.append(value.to_messages()))
    chat = RunnableWithMessageHistory(
        prompt | seen | model,
        lambda session_id: EpisodicChatHistory(ana, session_id),
        input_messages_key="question",
        history_messages_key="history",
    )
    config: Any = {"configurable": {"session_id": "s1"}}
    chat.invoke({"question": "I am Ana, and my cello teacher is Odile"}, config)
    chat.invoke({"question": "Who am I?"}, config)
    assert [m.content for m in prompts[-1]][1:] == [
        "I am Ana, and my cello teacher is Odile", "Nice to meet you", "Who am I?",
    ]  # fmt: skip
    assert [m.content for m in EpisodicChatHistory(ana, "s1").messages][-1] == "You are Ana"
    assert ana.stats().observations == 4
    assert "Odile" in str(ana.search("the cello teacher Odile"))


def test_messages_come_back_as_they_were_and_those_with_ids_once(memory: Memory) -> None:
    history = EpisodicChatHistory(memory.user("ana", new=True), "s1")
    messages = [
        SystemMessage("Be kind", id="m0"),
        HumanMessage("What is the weather in Lisbon?", id="m1"),
        AIMessage("", tool_calls=[CALL], id="m2"),
        ToolMessage("18 °C", tool_call_id="c1", id="m3", name="weather"),
        AIMessage([{"type": "text", "text": "18 degrees"}], id="m4", response_metadata={"model": "m"}),
        HumanMessage([{"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}], id="m5"),
    ]
    history.add_messages(messages)
    history.add_messages(messages[2:])
    assert history.messages == messages
    assert asyncio.run(history.aget_messages()) == messages
    history.add_messages([AIMessage("18 degrees, and sunny", id="m4")])  # rewritten: another message
    assert len(history.messages) == 7


def test_what_has_no_id_and_is_said_twice_is_kept_twice(memory: Memory) -> None:
    history = EpisodicChatHistory(memory.user("ana", new=True), "s1")
    history.add_user_message("yes")
    history.add_ai_message("yes")
    history.add_user_message("yes")
    assert [m.content for m in history.messages] == ["yes"] * 3


def test_clearing_erases_one_conversation_and_no_other(memory: Memory) -> None:
    ana = memory.user("ana", new=True)
    ana.add("I am Ana", thread="s2")
    history, other = EpisodicChatHistory(ana, "s1"), EpisodicChatHistory(ana, "s2")
    history.clear()
    history.add_messages([HumanMessage("hi", id="1")])
    history.clear()
    assert history.messages == []
    assert [m.content for m in other.messages] == ["I am Ana"]
    history.add_messages([HumanMessage("hi", id="1")])
    assert len(history.messages) == 1


def test_the_retriever_finds_messages_with_their_episodes(memory: Memory) -> None:
    ana = memory.user("ana", new=True)
    assert EpisodicRetriever(memory=ana).invoke("anything") == []
    ana.add("My cello teacher Odile lives in the Rua Augusta", thread="t")
    documents = EpisodicRetriever(memory=ana, limit=2).invoke("where does the cello teacher Odile live?")
    assert "Rua Augusta" in "".join(d.page_content for d in documents)
    assert any(d.metadata["kind"] == "message" and d.metadata["episode_id"] for d in documents)


def test_nobodys_history_and_one_without_a_name_are_refused(memory: Memory) -> None:
    with pytest.raises(InvalidInput, match="name whose memory it is"):
        EpisodicChatHistory(memory, "s1")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="has no name"):
        EpisodicChatHistory(memory.user("ana", new=True), " ")
    with pytest.raises(InvalidInput, match="name whose memory it is"):
        EpisodicRetriever(memory=memory)


def test_the_retriever_finds_in_named_threads_alone(memory: Memory) -> None:
    team = team_of(memory)
    for only, expected in ((None, (True, True)), ([OPEN], (True, False))):
        assert told_of(EpisodicRetriever(memory=team, only=only).invoke(QUESTION)) == expected
    with pytest.raises(NotFound, match="no thread or channel 'nobody'"):
        EpisodicRetriever(memory=team, only="nobody").invoke(QUESTION)
    with pytest.raises(InvalidInput, match="name at least one"):
        EpisodicRetriever(memory=team, only=[]).invoke(QUESTION)


def test_a_retriever_returns_as_many_documents_as_its_limit_says(memory: Memory) -> None:
    ana = memory.user("ana", new=True)
    for day in range(6):
        ana.add([f"the oven comes on day {day}", f"the oven is of steel {day}"], thread=f"kitchen {day}")
    for limit in (1, 3):
        found = EpisodicRetriever(memory=ana, limit=limit).invoke("when does the oven come?")
        assert len(found) == limit
        scores = [document.metadata["score"] for document in found if "score" in document.metadata]
        assert scores == sorted(scores, reverse=True)
        assert scores
