"""The handle's verbs over HTTP: one body of tests for the embedded memory and both clients."""

import asyncio
import functools
import inspect
import json
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest
from builders.chats import Clock
from builders.served import served

from episodic_agent import (
    AsyncClient,
    Client,
    Conflict,
    Episode,
    EpisodeCard,
    Filter,
    IdTaken,
    InvalidInput,
    KeyRefused,
    Memory,
    NotFound,
    Receipt,
    StoreUnavailable,
    UnreadableAnswer,
)
from episodic_agent.engine.async_memory import is_room
from episodic_agent.engine.memory import Memory as Engine
from episodic_agent.engine.user import UserMemory
from episodic_agent.faces.client import calls
from episodic_agent.faces.client.calls import SPECIAL, verbs
from episodic_agent.showing import plain

NOW = datetime(2026, 3, 12, 12, tzinfo=UTC)
WAYS = ("embedded", "client", "async client")


class Awaited:
    """An asynchronous tree whose verbs are waited for."""

    def __init__(self, tree: Any, runner: asyncio.Runner) -> None:
        self._tree, self._runner = tree, runner

    def __getattr__(self, name: str) -> Any:
        inner = getattr(self._tree, name)
        return self._waited(inner) if callable(inner) else Awaited(inner, self._runner)

    def _waited(self, verb: Callable[..., Any]) -> Callable[..., Any]:
        def wait(*values: Any, **named: Any) -> Any:
            result = verb(*values, **named)
            if inspect.isasyncgen(result):

                async def gathered() -> list[Any]:
                    return [item async for item in result]

                return self._runner.run(gathered())
            return self._runner.run(result) if inspect.iscoroutine(result) else Awaited(result, self._runner)

        return wait


@pytest.fixture
def memory(empty: Path) -> Iterator[Memory]:
    with Memory.open(empty, embedder="hashing", policy="seed-001", clock=Clock(NOW), resume=False) as opened:
        yield opened


@pytest.fixture(params=WAYS)
def door(request: pytest.FixtureRequest, memory: Memory) -> Iterator[Any]:
    """What users are asked of: the memory itself, or a client of its service."""
    if request.param == "embedded":
        yield memory
        return
    with served(memory) as url:
        if request.param == "client":
            with Client(url) as client:
                yield client
        else:
            with asyncio.Runner() as runner:
                tree = Awaited(AsyncClient(url), runner)
                yield tree
                tree.close()


def said(text: str, *, days: float = 0, **more: Any) -> dict[str, Any]:
    return {"role": "user", "content": text, "timestamp": NOW - timedelta(days=days), **more}


def furnish(ana: Any) -> None:
    ana.add(
        [said(f"I am moving to Lisbon in May, step {n}", days=9 - n, id=f"m{n}") for n in range(6)],
        thread="move",
        channel="sms",
    )
    ana.add([said("My sister Hannah is a nurse.", days=1)], thread="family")
    ana.flush()


def test_messages_are_added_once_and_found(door: Any) -> None:
    ana = door.user("ana")
    (first,) = ana.add("The kitchen tap drips", thread="home", id="a")
    again = ana.add([{"role": "user", "content": "The kitchen tap drips", "id": "a"}], thread="home")
    assert isinstance(first, Receipt)
    assert (first.added, [one.added for one in again], again[0].id == first.id) == (True, [False], True)
    with pytest.raises(IdTaken):
        ana.add("Another text", thread="home", id="a")
    answer = ana.search("what drips?", limit=1)
    assert "tap drips" in str(answer.hits[0].evidence[0].observation.text)
    assert answer.hits[0].thread_id == first.thread_id
    assert "tap drips" in ana.context("What drips?").text
    assert "tap drips" in ana.retrieve("what drips?")


def test_a_batch_of_any_size_and_an_idempotency_key(door: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "MOST_MESSAGES", 5)
    ana = door.user("ana")
    receipts = ana.add([f"Message {n}" for n in range(12)], thread="long", wait=False)
    assert [one.seq for one in receipts] == list(range(12))
    batch = ["The tap drips", "Again"]
    first = ana.add(batch, thread="tap", idempotency_key="k1")
    assert [one.added for one in ana.add(batch, thread="tap", idempotency_key="k1")] == [False, False]
    with pytest.raises(IdTaken, match="k1"):
        ana.add(batch[:1], thread="tap", idempotency_key="k1")
    assert [one.added for one in first] == [True, True]


@pytest.mark.slow
def test_lists_are_whole_and_in_the_order_of_time(door: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "LARGEST_PAGE", 5)
    ana = door.user("ana")
    for n in range(12):
        ana.add(said(f"Something new {n}", days=30 - n), thread=f"t{n}", wait=False)
    assert len(ana.threads.list()) == 12
    ana.flush()
    cards = ana.episodes.list()
    assert len(cards) == 12
    assert all(type(card) is EpisodeCard for card in cards)
    assert [card.start_at for card in cards] == sorted(card.start_at for card in cards)
    assert len(ana.episodes.recent(limit=7)) == 7


def test_filters_narrow_as_keywords_and_as_a_value(door: Any) -> None:
    ana = door.user("ana")
    furnish(ana)
    for narrow in (
        {"thread": "family"},
        {"filter": Filter(thread="family")},
        {"only": ("family",)},
        {"filter": Filter(only=["family", "web"])},
    ):
        assert {hit.evidence[0].observation.text for hit in ana.search("who is a nurse?", **narrow).hits} == {
            "My sister Hannah is a nurse."
        }
    assert len(ana.episodes.list(since=NOW - timedelta(days=2))) == 1
    until, since = (f"{name}={NOW - timedelta(days=n):%Y-%m-%d}" for name, n in (("until", 3), ("since", 30)))
    every, older = (len(ana.episodes.list(where=where)) for where in (since, [until, since]))
    assert every - older == 1  # each condition holds, not the last alone
    with pytest.raises(TypeError):
        ana.search("x", colour="red")
    with pytest.raises(InvalidInput):
        ana.search("x", filter="red")


def test_what_is_kept_is_corrected_by_hand(door: Any) -> None:
    ana = door.user("ana")
    furnish(ana)
    card = ana.facts.list()[0]
    assert ana.facts.edit(card.fact.id, text="Hannah is a doctor").fact.fact == "Hannah is a doctor"
    assert ana.facts.history(card.fact.id)
    ana.facts.delete(card.fact.id)
    with pytest.raises(NotFound):
        ana.facts.get(card.fact.id)
    assert ana.threads.rename("move", "To Lisbon").title == "To Lisbon"
    ana.links.add("move", "family")
    assert len(ana.links.list()) == 1
    ana.links.remove("move", "family")
    assert ana.links.list() == []
    ana.episodes.pin(ana.episodes.list()[0].episode_id, reason="needed")
    assert len(ana.episodes.pinned()) == 1
    ana.threads.set_timeout(45, channel="sms")


def test_sessions_are_started_and_ended(door: Any) -> None:
    ana = door.user("ana")
    begun = ana.sessions.start(topic="the kitchen tap", key="tap")
    ana.add("The kitchen tap drips again", thread="session:tap")
    ended = ana.sessions.end(begun.id, outcome="success")
    assert (ended.id, ended.outcome) == (begun.id, "success")
    assert [one.id for one in ana.sessions.list()] == [begun.id]


@pytest.mark.slow
def test_a_memory_streams_out_and_in_again(door: Any, tmp_path: Path) -> None:
    ana = door.user("ana")
    furnish(ana)
    lines = list(ana.export())
    assert json.loads(lines[0])["counts"]["observation"] == 7
    file = tmp_path / "export.jsonl"
    file.write_text("\n".join(lines), encoding="utf-8")
    assert door.user("bo").import_file(file, dry_run=True).added == 7
    assert door.user("bo").import_file(file).added == 7
    assert door.user("bo").stats().observations == 7
    assert door.users() == ["ana", "bo"]
    with pytest.raises(InvalidInput):
        door.user("bo").import_file(tmp_path / "nothing.json")


def test_what_is_erased_is_gone_with_a_receipt(door: Any) -> None:
    ana = door.user("ana")
    furnish(ana)
    preview = ana.erase(thread="move", dry_run=True)
    assert preview.counts["observations"] == 6
    assert ana.erase(thread="move").counts == preview.counts
    assert ana.stats().observations == 1
    assert ana.erase(everything=True).what == "user"
    assert {one.what for one in door.erasures()} == {"thread", "user"}
    with pytest.raises(NotFound, match="ana"):
        ana.stats()


def followed(jobs: Any, operation: Any) -> Any:
    """Return how an operation stands once it is over: somebody else may be at its work."""
    until = time.monotonic() + 60
    while (now := jobs.operation(operation.id)).state == "running" and time.monotonic() < until:
        time.sleep(0.02)
    return now


def test_what_nobody_waited_for_is_followed(door: Any, memory: Memory) -> None:
    ana = door.user("ana")
    operation = ana.jobs.follow(ana.add(["One", "Two"], thread="t", wait=False))
    memory.jobs.run()
    assert followed(ana.jobs, operation).state == "done"


def test_an_import_nobody_waited_for_is_followed(door: Any, tmp_path: Path) -> None:
    file, jobs = tmp_path / "chat.json", door.user("bo").jobs
    file.write_text('[{"role": "user", "content": "The kettle broke"}]', encoding="utf-8")
    operation = jobs.import_file(file)
    now = followed(jobs, operation)
    assert (now.state, now.counts["added"], door.user("bo").stats().observations) == ("done", 1, 1)
    with pytest.raises(InvalidInput):
        jobs.import_file(tmp_path / "nothing.json")


def test_mistakes_have_the_errors_of_the_handle(door: Any) -> None:
    with pytest.raises(InvalidInput):
        door.user(" ")
    with pytest.raises(NotFound, match="nobody"):
        door.user("nobody").stats()
    ana = door.user("ana/work")
    ana.add("The tap drips", thread="a/b")
    with pytest.raises(InvalidInput, match="empty"):
        ana.search(" ")
    with pytest.raises(NotFound, match="a/b"):
        ana.threads.get("nowhere")
    with pytest.raises(TypeError):
        ana.search()
    assert ana.threads.get("a/b").thread.origin == "a/b"


@pytest.mark.slow
def test_every_reading_verb_returns_the_very_values_of_the_handle(memory: Memory) -> None:
    ana = memory.user("ana")
    furnish(ana)
    ana.sessions.start(topic="the kitchen tap", key="tap")
    ana.add("The kitchen tap drips again", thread="session:tap")
    (session,) = ana.sessions.list()
    ana.links.add("move", "family")
    card, fact = ana.episodes.list()[0], ana.facts.list()[0].fact.id
    asked: dict[str, tuple[Any, ...]] = {
        "search": ("moving to Lisbon",), "context": ("When do I move?",), "retrieve": ("moving",),
        "threads.get": ("move",), "boundaries.trace": ("move",), "boundaries.whatif": ("move", "seed-001"),
        "boundaries.explain": (card.episode_id,), "places.visits": ("kitchen",), "places.route": ("move",),
        "facts.get": (fact,), "facts.history": (fact,), "links.explain": ("move",),
        "links.foresee": ("Back to Lisbon",), "chains.sequence": ("the move",), "chains.replay": ("the move",),
        "trace.turn": (ana.episodes.messages(card.episode_id)[0].id,), "jobs.operation": ("op_",),
        "erasures.residue": (["Lisbon"],), "erasures.repeats": (["Lisbon"],),
        "sessions.get": (session.id,),
        **{f"episodes.{name}": (card.episode_id,) for name in
           ("get", "card", "messages", "history", "reviews", "successor")},
        **{f"chains.{name}": (session.id,) for name in ("get", "tree", "arc")},
    }  # fmt: skip
    changing = {
        name for name, verb in verbs(UserMemory).items()
        if verb.rows[0].role != "read" or verb.rows[0].method not in ("GET", "POST")
    }  # fmt: skip
    compared = 0
    with served(memory) as url, Client(url) as client:
        for name in verbs(UserMemory).keys() - changing - {"skills.get", "places.visits"}:
            own, theirs = (
                functools.reduce(getattr, name.split("."), tree)(*asked.get(name, ()))
                for tree in (ana, client.user("ana"))
            )
            assert type(theirs) is type(own) or isinstance(own, list | tuple), name
            for mine, other in zip(_items(own), _items(theirs), strict=True):
                assert type(other) is type(mine), name
                assert _same(plain(mine), plain(other)), name
            compared += 1
    assert compared > 35


def _items(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _same(mine: Any, other: Any) -> bool:
    """Compare JSON; a number that is none is none, and what time does to strength meanwhile is nothing."""
    if isinstance(mine, dict):
        return mine.keys() == other.keys() and all(_same(mine[key], other[key]) for key in mine)
    if isinstance(mine, list):
        return len(mine) == len(other) and all(map(_same, mine, other))
    return bool(mine == other or str(mine) == str(other) == "nan")


def test_a_client_has_each_verb_with_its_signature_or_says_what_to_do_instead(memory: Memory) -> None:
    ana, client = memory.user("ana", new=True), Client("http://127.0.0.1:1")
    mirror = client.user("ana")
    without = []
    for room in (
        "",
        *(name for name in dir(ana) if not name.startswith("_") and is_room(getattr(ana, name))),
    ):
        tree = getattr(ana, room) if room else ana
        for name in dir(tree):
            verb = getattr(tree, name)
            if name.startswith("_") or not inspect.ismethod(verb):
                continue
            try:
                there = getattr(getattr(mirror, room) if room else mirror, name)
            except AttributeError as error:
                without.append((f"{room}.{name}".strip("."), "has no route; " in str(error)))
                continue
            if name != "export":
                assert inspect.signature(there).parameters == inspect.signature(verb).parameters, name
                assert name == "as_of" or there.__doc__ == verb.__doc__  # a client makes no copy
    assert without == [
        (name, True)
        for name in ("only", "run", "episodes.contents", "jobs.reembed", "jobs.worker", "sections.ids")
    ]
    assert {*verbs(UserMemory), *SPECIAL, "export"} <= {*_dir(mirror)}
    assert {"users", "usage", "jobs", "upkeep"} <= set(dir(client))
    assert verbs(Engine).keys() >= {"users", "usage"}
    with pytest.raises(AttributeError, match="`episodic keys`"):
        _ = client.keys
    with pytest.raises(AttributeError, match="no `colour`"):
        _ = client.colour


def _dir(mirror: Any) -> list[str]:
    names = dir(mirror)
    rooms = {name.partition(".")[0] for name in verbs(UserMemory) if "." in name}
    return [*names, *(f"{room}.{name}" for room in rooms for name in dir(getattr(mirror, room)))]


def test_a_key_opens_its_space_and_a_wrong_one_is_named(memory: Memory) -> None:
    token = memory.keys.create(role="read", space="acme").token
    with served(memory) as url:
        with Client(url, key=token) as client:
            assert client.users() == []
            with pytest.raises(KeyRefused, match="role write"):
                client.user("ana").add("The tap drips")
        with Client(url) as client, pytest.raises(KeyRefused, match="send a key"):
            client.users()
    for wrong in ("", "a\nb", "schlüssel", " a"):
        with pytest.raises(InvalidInput, match="copy it again"):
            Client("http://127.0.0.1:1", key=wrong)
    with pytest.raises(InvalidInput, match="http"):
        Client("localhost")


def test_only_what_cannot_have_been_done_is_sent_again() -> None:
    waits: list[float] = []

    def client_of(answers: list[Any]) -> tuple[Client, list[str]]:
        seen: list[str] = []

        def answer(request: httpx2.Request) -> httpx2.Response:
            seen.append(request.method)
            one = answers.pop(0)
            if isinstance(one, Exception):
                raise one
            return one  # type: ignore[no-any-return]

        return Client(transport=httpx2.MockTransport(answer), sleep=waits.append), seen

    busy = httpx2.Response(429, headers={"Retry-After": "3"}, json={"detail": "too often"})
    client, seen = client_of(
        [httpx2.ConnectError("refused"), busy, httpx2.Response(200, json={"items": ["a"], "next": None})]
    )
    assert (client.users(), seen, waits[1]) == (["a"], ["GET"] * 3, 3.0)
    client, seen = client_of([httpx2.ReadTimeout("slow")])
    with pytest.raises(StoreUnavailable, match="episodic serve"):
        client.user("ana").add("x")
    assert seen == ["POST"]
    client, _ = client_of([httpx2.Response(503, json={"detail": "it ends"})] * 4)
    with pytest.raises(StoreUnavailable, match="it ends"):
        client.users()
    client, _ = client_of([httpx2.Response(409, json={"detail": "faster", "retryable": True})])
    with pytest.raises(Conflict, match="faster") as caught:
        client.users()
    assert not isinstance(caught.value, IdTaken)
    client, _ = client_of([httpx2.Response(200, json={"id": "1"})])
    with pytest.raises(UnreadableAnswer, match="one version"):
        client.user("ana").episodes.get("1")
    assert Episode.__name__ == "Episode"
