"""The store inside a graph of LangGraph, and its whole contract beside LangGraph's own store."""

import asyncio
from datetime import datetime
from typing import Annotated, Any, TypedDict

import pytest
from builders.frameworks import framework

framework("langgraph")

from builders.chats import Clock
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.runtime import Runtime
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore

from episodic_agent import InvalidInput, Memory
from episodic_agent.adapters.langgraph import EpisodicStore

PETS = ("ana", "pets")


class Talk(TypedDict):
    messages: Annotated[list[AnyMessage], add_messages]


def remembering(state: Talk, runtime: Runtime[Any]) -> dict[str, Any]:
    """The node of LangGraph's page on memory: search the store, answer, and keep what is to be remembered."""
    assert runtime.store is not None
    last = str(state["messages"][-1].content)
    recalled = "; ".join(item.value["memory"] for item in runtime.store.search(PETS, query=last, limit=1))
    if last.lower().startswith("remember"):
        runtime.store.put(PETS, str(len(last)), {"memory": last.partition(": ")[2]})
    return {"messages": [AIMessage(content=f"I know: {recalled}")]}


def test_a_graph_remembers_in_another_thread_what_it_kept_in_the_first(memory: Memory) -> None:
    graph = StateGraph(Talk).add_node("talk", remembering).add_edge(START, "talk").add_edge("talk", END)
    store = EpisodicStore(memory.user("ana", new=True))
    talk = graph.compile(checkpointer=InMemorySaver(), store=store)
    first, second = ({"configurable": {"thread_id": name}} for name in ("1", "2"))
    talk.invoke({"messages": [HumanMessage("Remember: the cat is called Minka")]}, first)
    talk.invoke({"messages": [HumanMessage("Remember: the bike stands in the cellar")]}, first)
    answer = talk.invoke({"messages": [HumanMessage("what is the name of the cat called Minka?")]}, second)
    assert answer["messages"][-1].content == "I know: the cat is called Minka"
    # and the memory itself knows it, without any graph
    assert "Minka" in str(memory.user("ana").search("cat Minka"))


def told(store: BaseStore) -> list[Any]:
    """What a program sees that uses a store in all the ways there are, times and scores left out."""
    store.put(("docs",), "a", {"kind": "note", "n": 1, "inner": {"x": [1, 2]}})
    store.put(("docs",), "b", {"kind": "note", "n": 5})
    store.put(("docs", "old"), "a", {"kind": "page", "n": 9})
    store.put(("docs",), "a", {"kind": "note", "n": 2})
    store.put(("else",), "z", {"kind": "note", "n": 0})
    seen: list[Any] = [getattr(store.get(("docs",), key), "value", None) for key in ("a", "b", "c")]
    for condition in ({"kind": "note"}, {"n": {"$gt": 2}}, {"n": {"$gte": 2, "$lt": 9}}, {"n": {"$ne": 2}}):
        found = store.search(("docs",), filter=condition)
        seen.append(sorted((item.namespace, item.key) for item in found))
    seen.append(len(store.search((), limit=2)))
    seen.append(len(store.search((), limit=3, offset=3)))
    seen.append(sorted(store.list_namespaces()))
    seen.append(sorted(store.list_namespaces(prefix=("docs",))))
    seen.append(sorted(store.list_namespaces(suffix=("old",))))
    seen.append(sorted(store.list_namespaces(max_depth=1)))
    store.delete(("docs",), "b")
    store.delete(("docs",), "never")
    store.delete(("docs", "old"), "a")
    seen.append(store.get(("docs",), "b"))
    seen.append([item.key for item in store.search(("docs",))])
    store.put(("docs",), "b", {"kind": "note", "n": 5})
    seen.append(getattr(store.get(("docs",), "b"), "value", None))
    return seen


def test_a_program_sees_what_it_would_see_of_langgraphs_own_store(memory: Memory) -> None:
    assert told(EpisodicStore(memory.user("ana", new=True))) == told(InMemoryStore())


def test_a_value_put_twice_stands_once_and_a_new_one_erases_the_old(memory: Memory) -> None:
    ana = memory.user("ana", new=True)
    store = EpisodicStore(ana)
    for colour in ("green", "green", "blue"):
        store.put(("likes",), "colour", {"text": f"Ana likes {colour}"})
    stored = store.get(("likes",), "colour")
    assert stored is not None
    assert stored.updated_at >= stored.created_at
    assert ana.stats().observations == 1
    assert "green" not in "".join(ana.export())


def test_a_query_ranks_what_answers_it_first(memory: Memory) -> None:
    store = EpisodicStore(memory.user("ana", new=True))
    for key, text in (("1", "the rent is nine hundred"), ("2", "the dentist is on Friday"), ("3", "sushi")):
        store.put(("ana",), key, {"text": text})
    found = store.search(("ana",), query="when is the dentist on Friday?", limit=2)
    assert found[0].key == "2"
    assert found[0].score is not None


def test_the_store_serves_coroutines_and_items_that_expire(memory: Memory, clock: Clock) -> None:
    store = EpisodicStore(memory.user("ana", new=True))

    async def used() -> Any:
        await store.aput(("a",), "k", {"text": "for an hour"}, ttl=60)
        return await store.aget(("a",), "k")

    assert asyncio.run(used()).value == {"text": "for an hour"}
    clock.forward(hours=2)
    assert store.get(("a",), "k") is None


@pytest.mark.parametrize("memory_of", [lambda m: m, lambda _m: None, lambda _m: "ana"])
def test_a_store_of_nobody_is_refused(memory: Memory, memory_of: Any) -> None:
    with pytest.raises(InvalidInput, match=r"memory\.user\('ana'\)"):
        EpisodicStore(memory_of(memory))


def test_an_operator_that_there_is_none_of_is_named(memory: Memory) -> None:
    store = EpisodicStore(memory.user("ana", new=True))
    store.put(("a",), "k", {"n": 1})
    with pytest.raises(InvalidInput, match=r"no operator '\$like'"):
        store.search(("a",), filter={"n": {"$like": 1}})


def test_what_must_not_be_searched_is_refused_and_nothing_of_it_is_kept(memory: Memory) -> None:
    ana = memory.user("ana", new=True)
    store = EpisodicStore(ana)
    with pytest.raises(InvalidInput, match=r"'recipe', index=False.*leave `index` out, or keep"):
        store.put(("notes",), "recipe", {"text": "the secret recipe of granny"}, index=False)
    assert store.search(("notes",)) == []
    assert ana.threads.list() == []


@pytest.mark.parametrize(
    ("value", "told_so"),
    [
        ({"o": object()}, "value of 'k', at 'o' is a object"),
        ({"in": [{"when": datetime(2026, 1, 1)}]}, "at 'in', at 0, at 'when' is a datetime"),
        ({1: 2}, "has the key 1, a int"),
        ({"pair": (1, 2)}, "at 'pair' is a tuple"),
    ],
)
def test_a_value_that_would_not_come_back_as_it_was_is_refused_by_name(
    memory: Memory, value: Any, told_so: str
) -> None:
    with pytest.raises(TypeError, match=told_so):
        EpisodicStore(memory.user("ana", new=True)).put(("a",), "k", value)
