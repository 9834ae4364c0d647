"""What people write first and wrongly: each is an error that says what to write instead, and stores nothing."""

import asyncio
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from conftest import OpenMemory

from episodic_agent import AsyncMemory, InvalidInput, Memory, NotFound, StoreError
from episodic_agent.engine.user import UserMemory

Call = Callable[..., Any]  # the mistakes are such as a type checker refuses

OF_A_MEMORY: list[tuple[Call, type[Exception], str]] = [
    (lambda m: m.add("x"), AttributeError, r"`memory\.user\(name\)\.add`"),
    (lambda m: m.search("x"), AttributeError, r"`memory\.user\(name\)\.search`"),
    (lambda m: m.facts.list(), AttributeError, r"`memory\.user\(name\)\.facts`"),
    (lambda m: m.user(""), InvalidInput, "is empty; name whose memory it is"),
    (lambda m: m.user(None), InvalidInput, "is empty; name whose memory it is"),
    (lambda m: m.user("bob").search("x"), NotFound, "no user 'bob' in this memory; known users: ana"),
]
OF_A_USER: list[tuple[Call, type[Exception], str]] = [
    (lambda u: u.add(None), InvalidInput, "give a text, a message or a list of them, not NoneType"),
    (lambda u: u.add(5), InvalidInput, "not int"),
    (lambda u: u.add(b"hello"), InvalidInput, "not bytes"),
    (lambda u: u.add(""), InvalidInput, "^the text is empty; give some text"),
    (
        lambda u: u.add({"content": "Hi", "timestmap": "2026-03-02"}),
        InvalidInput,
        '^unknown key "timestmap"; did you mean "timestamp"',
    ),
    (lambda u: u.add([{"role": "user"}]), InvalidInput, "item 1: the text is empty; give some text"),
    (lambda u: u.add(["hello", None]), InvalidInput, "item 2: a message is a text or an object with role"),
    (lambda u: u.add([["user", "hello"]]), InvalidInput, "item 1: .*not a list"),
    (lambda u: u.add("hello", role=None), InvalidInput, "`role` is a text, not NoneType"),
    (
        lambda u: u.add("hello", timestamp=[1]),
        InvalidInput,
        r"cannot read the time \[1\]; accepted: ISO 8601",
    ),
    (lambda u: u.add("hello", timestamp="yesterday"), InvalidInput, "cannot read the time 'yesterday'"),
    (lambda u: u.search(""), InvalidInput, "the query is empty; ask something"),
    (lambda u: u.search(None), InvalidInput, "`query` is a text, not NoneType"),
    (lambda u: u.search(5), InvalidInput, "`query` is a text, not int"),
    (lambda u: u.search("x", limit=0), InvalidInput, "`limit` is 1 or more, a whole number, not 0"),
    (lambda u: u.search("x", limit="3"), InvalidInput, "`limit` is 1 or more, a whole number, not '3'"),
    (lambda u: u.search("x", since=[1]), InvalidInput, r"cannot read the time \[1\]; accepted: ISO 8601"),
    (lambda u: u.search("x", top_k=3), TypeError, "unexpected keyword argument 'top_k'; there are .*thread"),
    (lambda u: u.retrieve(""), InvalidInput, "the query is empty"),
    (lambda u: u.context(""), InvalidInput, "the message is empty; give the words"),
    (lambda u: u.context([{"role": "user"}]), InvalidInput, "the message is a text, not list"),
    (lambda u: u.context("x", max_tokens=0), InvalidInput, "`max_tokens` is a whole number from 1 on"),
    (lambda u: u.episodes.get("nix"), NotFound, "no episode 'nix' in this memory"),
    (lambda u: u.threads.get("nix"), NotFound, "no thread 'nix' in this memory; threads: chat"),
    (lambda u: u.facts.get("nix"), NotFound, "no fact begins with 'nix'"),
    (lambda u: u.import_file("none.jsonl"), InvalidInput, "no such file: none.jsonl"),
    (lambda u: u.import_file(None), InvalidInput, "name the file as a path, not NoneType"),
    (lambda u: u.import_file(""), InvalidInput, "the path is empty; name a file"),
    (lambda u: u.erase(), InvalidInput, "name one thing"),
]


@pytest.fixture
def ana(memory: Memory) -> UserMemory:
    user = memory.user("ana")
    user.add("I live in Lisbon", thread="chat")
    return user


@pytest.mark.parametrize("path", ["memory.db", Path("memory.db")])
def test_a_memory_is_opened_not_made(
    path: "str | Path", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    made: Any = Memory
    with pytest.raises(InvalidInput, match=r"open a memory with `Memory\.open\('memory\.db'\)`"):
        made(path)
    made = AsyncMemory
    with pytest.raises(InvalidInput, match=r"`await AsyncMemory\.open\('memory\.db'\)`"):
        made(path)
    made = Memory.open
    with pytest.raises(InvalidInput, match="a path or a URL, not int"):
        made(5)
    with pytest.raises(InvalidInput, match="a path or a URL, not dict"):
        asyncio.run(AsyncMemory.open({"db": "memory.db"}))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("call", "kind", "words"), OF_A_MEMORY)
def test_the_wrong_door_says_where_the_right_one_is(
    ana: UserMemory, memory: Memory, call: Call, kind: type[Exception], words: str
) -> None:
    with pytest.raises(kind, match=words):
        call(memory)
    assert memory.users() == ["ana"]
    assert not hasattr(memory, "add")


@pytest.mark.parametrize(("call", "kind", "words"), OF_A_USER)
def test_a_wrong_argument_is_named_and_nothing_is_stored(
    ana: UserMemory, call: Call, kind: type[Exception], words: str
) -> None:
    with pytest.raises(kind, match=words):
        call(ana)
    assert ana.stats().observations == 1


def test_what_is_meant_all_the_same_is_taken(ana: UserMemory) -> None:
    ana.add({"text": "a message by its other name"}, thread="chat")
    ana.add("on a day", timestamp=date(2024, 5, 1).isoformat(), thread="chat")
    assert ana.stats().observations == 3


def test_a_closed_memory_says_so(open_memory: OpenMemory) -> None:
    memory = open_memory()
    ana = memory.user("ana")
    memory.close()
    for call in (lambda: ana.add("hello"), lambda: ana.search("x"), lambda: ana.context("x"), memory.users):
        with pytest.raises(StoreError, match="is closed; open it again"):
            call()
    memory.close()  # twice is no harm
