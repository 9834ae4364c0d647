"""What people write first and wrongly: each is an error that says what to write instead, and stores nothing."""

import asyncio
from collections.abc import Callable
from datetime import UTC, date, datetime
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
    (lambda m: m.user(["ana"]), InvalidInput, "^`user` is a text or a number, not a list; give one name"),
    (lambda m: m.user(b"ana"), InvalidInput, "^`user` .* not bytes"),
    (lambda m: m.user(object()), InvalidInput, "^`user` .* not object"),
    (lambda m: m.usage(user={"name": "ana"}), InvalidInput, "^`user` .* not an object"),
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
    (
        lambda u: u.add({"role": "usr", "content": "Hi"}),
        InvalidInput,
        '^unknown role "usr"; did you mean "user"',
    ),
    (lambda u: u.add("Hi", role="asistant"), InvalidInput, '^unknown role .* did you mean "assistant"'),
    (
        lambda u: u.add("Hi", timestamp="2199-01-01"),
        InvalidInput,
        "^the time 2199-01-01T.* years ahead of now",
    ),
    (lambda u: u.add([{"role": "user"}]), InvalidInput, "item 1: the text is empty; give some text"),
    (
        lambda u: u.add([{"role": "user", "txt": "The tap drips"}]),
        InvalidInput,
        '^item 1: the text is empty: it stands under "content", not "txt"$',
    ),
    (lambda u: u.add(["hello", None]), InvalidInput, "item 2: a message is a text or an object with role"),
    (lambda u: u.add([["user", "hello"]]), InvalidInput, "item 1: .*not a list"),
    (lambda u: u.add("hello", role=None), InvalidInput, "`role` is a text, not NoneType"),
    (
        lambda u: u.add("hello", timestamp=[1]),
        InvalidInput,
        r"cannot read the time \[1\]; accepted: ISO 8601",
    ),
    (lambda u: u.add("hello", timestamp="yesterday"), InvalidInput, "cannot read the time 'yesterday'"),
    (
        lambda u: u.add("Hi", thread=[]),
        InvalidInput,
        "^`thread` is a text or a number, not a list; give one name",
    ),
    (lambda u: u.add("Hi", channel=True), InvalidInput, "^`channel` .* not a boolean"),
    (lambda u: u.add({"content": b"Hi"}), InvalidInput, "not bytes; decode it first"),
    (lambda u: u.search("x", thread=[]), InvalidInput, "^`thread` .* not a list"),
    (lambda u: u.search("x", asking=b"chat"), InvalidInput, "^`asking` .* not bytes"),
    (lambda u: u.context("x", thread={"name": "chat"}), InvalidInput, "^`thread` .* not an object"),
    (lambda u: u.search("x", thread=0), NotFound, "no thread '0' in this memory"),
    (lambda u: u.episodes.recent(thread=0), NotFound, "no thread '0' in this memory"),
    (lambda u: u.episodes.recent(thread=""), NotFound, "no thread '' in this memory"),
    (lambda u: u.search("x", limit=1_001), InvalidInput, "^`limit` is at most 1000, not 1001"),
    (lambda u: u.search("x", observations=10_001), InvalidInput, "^`observations` is at most 10000"),
    (lambda u: u.search("x", facts=1_001), InvalidInput, "^`facts` is at most 1000"),
    (lambda u: u.retrieve("x", limit=100_000), InvalidInput, "^`limit` is at most 1000"),
    (lambda u: u.chains.sequence("x", limit=1_001), InvalidInput, "^`limit` is at most 1000"),
    (lambda u: u.search(""), InvalidInput, "the query is empty; ask something"),
    (lambda u: u.search(None), InvalidInput, "`query` is a text, not NoneType"),
    (lambda u: u.search(5), InvalidInput, "`query` is a text, not int"),
    (lambda u: u.search("x", limit=0), InvalidInput, "`limit` is 1 or more, a whole number, not 0"),
    (lambda u: u.search("x", limit="3"), InvalidInput, "`limit` is 1 or more, a whole number, not '3'"),
    (lambda u: u.search("x", since=[1]), InvalidInput, r"cannot read the time \[1\]; accepted: ISO 8601"),
    (lambda u: u.add("x", at="2026-03-02"), TypeError, "argument 'at'; there are .*timestamp"),
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


@pytest.mark.parametrize(
    "listing",
    [
        lambda u, n: u.episodes.list(limit=n),
        lambda u, n: u.episodes.recent(limit=n),
        lambda u, n: u.threads.list(limit=n),
        lambda u, n: u.facts.list(limit=n),
        lambda u, n: u.links.list(limit=n),
        lambda u, n: u.sessions.list(limit=n),
        lambda u, n: u.sections.list(limit=n),
        lambda u, n: u.skills.list(limit=n),
        lambda u, n: u.chains.heads(limit=n),
        lambda u, n: u.trace.decisions(limit=n),
        lambda u, n: u.trace.audit(limit=n),
        lambda u, n: u.jobs.list(limit=n),
    ],
)
def test_a_list_may_be_asked_for_more_than_any_memory_holds(ana: UserMemory, listing: Call) -> None:
    assert [*listing(ana, 10**30)] == [*listing(ana, 1000)]


def test_a_name_may_be_a_number_or_an_id(memory: Memory) -> None:
    user = memory.user(5)  # type: ignore[arg-type]
    user.add("I live in Lisbon", thread=0)  # type: ignore[arg-type]
    assert (user.name, user.threads.list()[0].origin) == ("5", "0")
    assert user.search("Lisbon", thread=0).hits  # type: ignore[typeddict-item]


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


@pytest.mark.parametrize(
    ("clock", "why"),
    [
        (datetime(2026, 3, 2, tzinfo=UTC), "`clock` is a function that returns the time, not datetime"),
        (lambda: datetime(2026, 3, 2), "without a zone; return datetime.now.UTC."),
        (lambda: 5, "`clock` returned 5; it has to return a datetime"),
    ],
)
def test_a_clock_that_is_none_is_refused_by_name(clock: Any, why: str, tmp_path: Path) -> None:
    with (
        pytest.raises(InvalidInput, match=why),
        Memory.open(tmp_path / "m.db", embedder="none", clock=clock) as memory,
    ):
        memory.user("ana").add("Hi")
