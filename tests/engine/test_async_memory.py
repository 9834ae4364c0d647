"""`AsyncMemory` is the tree of `Memory`: every verb of every room with the same parameters, awaited."""

import asyncio
import inspect
from collections.abc import Iterator
from functools import reduce
from pathlib import Path
from typing import Any

import pytest

from episodic_agent import AsyncMemory, Filter, Memory
from episodic_agent.engine.async_memory import is_room
from episodic_agent.errors import EpisodicError, InvalidInput, NotFound


def verbs(tree: Any, path: str = "") -> Iterator[str]:
    for name in dir(tree):
        if name.startswith("_"):
            continue
        result = getattr(tree, name)
        if is_room(getattr(result, "_mirrored", result)):
            yield from verbs(result, f"{path}{name}.")
        elif callable(result):
            yield path + name


def at(tree: Any, path: str) -> Any:
    return reduce(getattr, path.split("."), tree)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path / "memory.db", embedder="hashing", policy="seed-001") as opened:
        yield opened


def test_every_verb_of_the_tree_is_there_with_the_same_signature(memory: Memory) -> None:
    mirror = AsyncMemory(memory)
    terms = {name for name in verbs(memory) if name != "open"}
    assert {name for name in verbs(mirror) if name != "open"} == terms >= {"doctor", "user", "jobs.list"}
    for name in terms - {"close"}:
        expected, own = (inspect.signature(at(tree, name)) for tree in (memory, mirror))
        assert own.parameters == expected.parameters, name
    ana, twin = memory.user("ana"), mirror.user("ana")
    hers = set(verbs(ana))
    assert set(verbs(twin)) == hers >= {"add", "search", "episodes.list", "boundaries.undo"}
    for name in hers:
        assert inspect.signature(at(twin, name)) == inspect.signature(at(ana, name)), name
        if name in ("as_of", "only"):  # like `user` they read nothing, and give a handle
            continue
        method = at(twin, name)
        assert inspect.iscoroutinefunction(method) or inspect.isasyncgenfunction(method), name
    assert inspect.isasyncgenfunction(twin.export)
    assert twin.name == "ana"


@pytest.mark.slow
def test_real_work_is_done_at_once_and_each_finds_their_own(tmp_path: Path) -> None:
    names = [f"user {n}" for n in range(12)]

    async def live(memory: Any, name: str) -> list[str]:
        mine = memory.user(name)
        await mine.add([f"The boat of {name} is green", f"{name} likes rowing"], thread="boat")
        await mine.flush()
        result = await mine.search("what colour is the boat?", filter=Filter(thread="boat"))
        cards = await mine.episodes.list()
        assert (await mine.episodes.get(cards[0].episode_id)).state == "closed"
        assert [line async for line in mine.export()]
        return [one.observation.text for one in result.observations]

    async def main() -> None:
        path = tmp_path / "memory.db"
        async with await AsyncMemory.open(path, embedder="hashing", policy="seed-001") as memory:
            ticks = 0

            async def tick() -> None:
                nonlocal ticks
                while True:
                    await asyncio.sleep(0.001)
                    ticks += 1

            ticking = asyncio.create_task(tick())
            answers = await asyncio.gather(*(live(memory, name) for name in names))
            ticking.cancel()
            assert ticks > 0  # nobody held up the loop
            for name, texts in zip(names, answers, strict=True):
                assert f"The boat of {name} is green" in texts
                assert all(name in text for text in texts)
            assert await memory.users() == sorted(names)
            assert [one for one in await memory.doctor() if one.severity == "error"] == []
            with pytest.raises(NotFound, match="no user 'nobody'"):
                await memory.user("nobody").search("x")
            with pytest.raises(InvalidInput):
                memory.user(" ")

    asyncio.run(main())


def test_an_export_that_is_left_early_ends_its_read(tmp_path: Path) -> None:
    async def main() -> None:
        async with await AsyncMemory.open(tmp_path / "memory.db", embedder="none") as memory:
            ana = memory.user("ana")
            await ana.add("the code of the safe is 4711")
            lines = ana.export()
            assert await anext(lines)
            await lines.aclose()
            assert (await ana.erase(everything=True)).state == "done"

    asyncio.run(main())


def test_a_memory_is_opened_by_async_with_and_by_await_alike(tmp_path: Path) -> None:
    async def used() -> list[int]:
        async with AsyncMemory.open(tmp_path / "memory.db", embedder="none") as memory:
            await memory.user("ana", new=True).add("The key is under the mat")
        with pytest.raises(EpisodicError):
            await memory.user("ana").stats()
        reopened = await AsyncMemory.open(tmp_path / "memory.db", embedder="none")
        async with reopened:
            return [(await reopened.user("ana").stats()).observations]

    assert asyncio.run(used()) == [1]


def test_a_search_without_an_embedder_says_that_no_message_has_its_words(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "memory.db", embedder="none") as memory:
        ana = memory.user("ana", new=True)
        ana.add("The key is under the mat")
        assert "nothing here has a word of this query" in " ".join(ana.search("zeppelin").notes)
