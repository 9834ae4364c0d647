"""One story at every face (Python, command line, HTTP, MCP): sessions, what silence ends, long messages, no answer."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Protocol

import anyio
import pytest
from builders.chats import Clock, mine
from builders.commands import Run
from builders.web import LocalClient
from mcp.client import Client

from episodic_agent import Memory
from episodic_agent.engine.jobs import background
from episodic_agent.faces.http.app import make_app
from episodic_agent.faces.mcp.server import make_server

NOW = datetime.now(UTC)  # at every face the clock is the machine's
TOPIC = "The billing migration"
DECLARED = ("outcome=failure", "tool=psql", "participant=mia", "decision~roll", "topic~billing")
SAID = (
    ("user", "I have lived in Lisbon with my sister since 2019."),
    ("assistant", "Lisbon sounds lovely."),
    ("user", "I work as a nurse at the clinic on the hill."),
)


class Face(Protocol):
    """What each way in offers, in one form: sessions and cards are what JSON holds of them."""

    def start(self, topic: str, tools: list[str], after: str | None = None) -> tuple[str, str]:
        """Start a session; return its id and its thread."""

    def say(self, text: str, thread: str) -> None:
        """Add a message of the user."""

    def end(self, session: str, outcome: str, decisions: list[str], participants: list[str]) -> Any:
        """End a session."""

    def episodes(self, where: str | None = None) -> list[Any]:
        """List episodes, those a filter lets through."""

    def sequence(self, topic: str, where: str) -> list[Any]:
        """Return the episodes of a story."""

    def replay(self, topic: str) -> str:
        """Tell a story."""

    def search(self, query: str) -> str:
        """Return what is answered, as text."""

    def facts(self) -> list[str]:
        """Return the facts that hold."""


class InPython:
    """The verbs of the library."""

    def __init__(self, memory: Memory) -> None:
        self.ana = mine(memory)

    def start(self, topic: str, tools: list[str], after: str | None = None) -> tuple[str, str]:
        session = self.ana.sessions.start(topic, tools=tools, parent_episode_id=after)
        return str(session.id), session.thread

    def say(self, text: str, thread: str) -> None:
        self.ana.add(text, thread=thread)

    def end(self, session: str, outcome: str, decisions: list[str], participants: list[str]) -> Any:
        return self.ana.sessions.end(session, outcome, decisions, participants=participants)

    def episodes(self, where: str | None = None) -> list[Any]:
        return [
            {"title": c.title, "summary": c.summary, "state": c.state}
            for c in self.ana.episodes.list(where=where)
        ]

    def sequence(self, topic: str, where: str) -> list[Any]:
        return [
            {"title": one.title, "outcome": one.metadata.outcome}
            for one in self.ana.chains.sequence(topic, where=where)
        ]

    def replay(self, topic: str) -> str:
        return self.ana.chains.replay(topic)

    def search(self, query: str) -> str:
        return str(self.ana.search(query))

    def facts(self) -> list[str]:
        return [card.fact.fact for card in self.ana.facts.list()]


class OnCommandLine:
    """The commands, each a process of its own as far as the memory can tell."""

    def __init__(self, run: Run) -> None:
        self.run = run

    def start(self, topic: str, tools: list[str], after: str | None = None) -> tuple[str, str]:
        parent = ("--parent", after) if after else ()
        options = [piece for tool in tools for piece in ("--tool", tool)]
        started = self.run("session", "start", topic, *options, *parent, "--json").json
        return started["id"], started["thread"]

    def say(self, text: str, thread: str) -> None:
        assert self.run("add", text, "--thread", thread).code == 0

    def end(self, session: str, outcome: str, decisions: list[str], participants: list[str]) -> Any:
        options = [piece for one in decisions for piece in ("--decision", one)]
        options += [piece for one in participants for piece in ("--participant", one)]
        return self.run("session", "end", session, "--outcome", outcome, *options, "--json").json

    def episodes(self, where: str | None = None) -> list[Any]:
        return list(self.run("episodes", *(("--where", where) if where else ()), "--json").json["episodes"])

    def sequence(self, topic: str, where: str) -> list[Any]:
        listed = self.run("sequence", topic, "--where", where, "--json").json["episodes"]
        return [{"title": one["title"], "outcome": one["metadata"]["outcome"]} for one in listed]

    def replay(self, topic: str) -> str:
        return self.run("replay", topic).out

    def search(self, query: str) -> str:
        return self.run("search", query).out

    def facts(self) -> list[str]:
        return [one["fact"] for one in self.run("facts", "--json").json["facts"]]


class OverHttp:
    """The routes of /v1."""

    def __init__(self, client: Any) -> None:
        self.client = client

    def ask(self, method: str, path: str, **body: Any) -> Any:
        answer = self.client.request(method, f"/v1/users/default/{path}", json=body or None)
        assert answer.status_code < 300, answer.text
        return answer.json()

    def start(self, topic: str, tools: list[str], after: str | None = None) -> tuple[str, str]:
        more = {"parent_episode_id": after} if after else {}
        started = self.ask("POST", "sessions", topic=topic, tools=tools, **more)
        return started["id"], started["thread"]

    def say(self, text: str, thread: str) -> None:
        self.ask("POST", "messages?wait=true", messages=[{"content": text, "thread": thread}])

    def end(self, session: str, outcome: str, decisions: list[str], participants: list[str]) -> Any:
        said = {"outcome": outcome, "key_decisions": decisions, "participants": participants}
        return self.ask("POST", f"sessions/{session}/end", **said)

    def episodes(self, where: str | None = None) -> list[Any]:
        return list(self.ask("GET", f"episodes{f'?where={where}' if where else ''}")["items"])

    def sequence(self, topic: str, where: str) -> list[Any]:
        listed = self.ask("POST", "chains/sequence", topic=topic, where=where)["items"]
        return [{"title": one["title"], "outcome": one["metadata"]["outcome"]} for one in listed]

    def replay(self, topic: str) -> str:
        return str(self.ask("POST", "chains/replay", topic=topic)["text"])

    def search(self, query: str) -> str:
        found = self.ask("POST", "search", query=query)
        return json.dumps({"hits": found["hits"], "notes": found["notes"]})

    def facts(self) -> list[str]:
        return [one["fact"]["fact"] for one in self.ask("GET", "facts")["items"]]


class OverMcp:
    """The tools, by the protocol."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory

    def call(self, name: str, **arguments: Any) -> Any:
        results: list[Any] = []

        async def use() -> None:
            async with Client(make_server(self.memory, budget=16_000)) as client:
                results.append(await client.call_tool(name, arguments))

        anyio.run(use)
        assert not results[0].is_error, results[0]
        return results[0]

    def start(self, topic: str, tools: list[str], after: str | None = None) -> tuple[str, str]:
        more = {"continues": after} if after else {}
        started = self.call("start_session", topic=topic, tools=tools, **more).structured_content
        return started["session_id"], started["thread"]

    def say(self, text: str, thread: str) -> None:
        self.call("add_memory", content=text, thread=thread)

    def end(self, session: str, outcome: str, decisions: list[str], participants: list[str]) -> Any:
        return self.call(
            "end_session", session_id=session, outcome=outcome, decisions=decisions, participants=participants
        )

    def episodes(self, where: str | None = None) -> list[Any]:
        more = {"where": where} if where else {}
        listed = self.call("recent_memory", **more).structured_content["episodes"]
        return [{**one, "state": self.state(one["episode_id"])} for one in listed]

    def state(self, episode: str) -> str:
        ends = self.call("explain_memory", episode_id=episode).structured_content["ends"]
        return "open" if "still open" in ends else "closed"

    def sequence(self, topic: str, where: str) -> list[Any]:
        return list(self.call("replay_topic", topic=topic, where=where).structured_content["episodes"])

    def replay(self, topic: str) -> str:
        return str(self.call("replay_topic", topic=topic).content[0].text)

    def search(self, query: str) -> str:
        return str(self.call("search_memory", query=query).content[0].text)

    def facts(self) -> list[str]:
        return [one["fact"] for one in self.call("get_facts").structured_content["facts"]]


@pytest.fixture(params=["python", "cli", "http", "mcp"])
def meet(
    request: pytest.FixtureRequest, database: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Any]:
    """Return what opens the memory at one face."""
    monkeypatch.setattr(background, "SWEEP", 0.02)
    with ExitStack() as stack:

        def opened() -> Memory:
            return Memory.open(database, embedder="hashing", policy="seed-001")

        def item() -> Face:
            if request.param == "cli":
                return OnCommandLine(run)
            if request.param == "http":
                return OverHttp(stack.enter_context(LocalClient(make_app(opened, lambda: datetime.now(UTC)))))
            memory = stack.enter_context(opened())
            return InPython(memory) if request.param == "python" else OverMcp(memory)

        yield item


def until(holds: Callable[[], Any]) -> Any:
    """Wait, at most half a minute, until something holds, and return it."""
    for _ in range(600):
        if result := holds():
            return result
        time.sleep(0.05)
    raise AssertionError("it never came")


@pytest.mark.slow
def test_a_session_is_what_the_agent_said_it_is(meet: Callable[[], Face]) -> None:
    face = meet()
    session, thread = face.start(TOPIC, ["psql"])
    face.say("The invoices are copied, everything works and all of it was a success.", thread)
    (running,) = face.episodes("topic~billing")
    assert (running["title"], running["state"]) == (TOPIC, "open")
    face.end(session, "failure", ["roll back"], ["Mia"])
    other, home = face.start("The rye bread", ["oven"])
    face.say("The crust of the loaf is too hard for the children.", home)
    face.end(other, "success", [], [])
    for where in DECLARED:
        assert [one["title"] for one in face.episodes(where)] == [TOPIC], where
        told = [(one["title"], one["outcome"]) for one in face.sequence("", where)]
        assert told == [(TOPIC, "failure")], where
    story = face.replay("billing migration")
    assert "Outcome: failure" in story
    assert "Outcome: unknown" not in story


def test_a_replay_goes_to_the_end_of_the_chain_and_says_how_it_ended(meet: Callable[[], Face]) -> None:
    face = meet()
    first, thread = face.start(TOPIC, ["psql"])
    face.say("The invoices table is copied to the new billing database.", thread)
    face.end(first, "partial", ["copy the rest at night"], [])
    then, later = face.start("Switch over", ["psql"], after=first)
    face.say("Everybody works on the other machine now.", later)
    face.end(then, "success", [], [])
    story = face.replay("billing migration invoices")
    assert f'Switch over (continues from "{TOPIC}")' in story
    assert "outcome success." in story


def test_what_fell_silent_is_closed_and_told_wherever_the_memory_is_opened(
    meet: Callable[[], Face], database: Path
) -> None:
    yesterday = NOW - timedelta(days=1)
    with Memory.open(database, embedder="hashing", policy="default", clock=Clock(yesterday)) as memory:
        for n, (role, text) in enumerate(SAID):
            said = {"role": role, "content": text, "timestamp": yesterday + timedelta(minutes=n - 5)}
            mine(memory).add(said, thread="talk")
        assert [card.state for card in mine(memory).episodes.list()] == ["open"]
    face = meet()
    face.say("The kitchen tap drips.", "home")
    (talk,) = until(lambda: [one for one in face.episodes() if one["state"] != "open" and one["summary"]])
    assert talk["title"] == "I have lived in Lisbon with my sister since 2019"
    assert "I work as a nurse" in talk["summary"]
    assert any("Lisbon" in fact for fact in face.facts())


def test_nothing_relevant_is_said_with_its_reason_and_a_strange_name_empties_nothing(
    meet: Callable[[], Face],
) -> None:
    face = meet()
    for text in ("The clutch of the van was replaced in May.", "That cost a lot.", "The man was nice."):
        face.say(text, "garage")
    nothing = face.search("quantum chromodynamics lagrangian")
    assert "nothing relevant" in nothing
    assert "clutch" not in nothing.replace("nothing relevant", "")
    assert "clutch" in face.search("when did Zelda have the clutch replaced?")


def test_of_a_long_message_every_piece_is_found_and_shown(meet: Callable[[], Face]) -> None:
    face = meet()
    dull = ["It rains and rains."] * 900
    pieces = ("Clara sold her violoncello in Porto.", "The ferry to Rab costs forty kuna.")
    face.say(" ".join([*dull, pieces[0], *dull, pieces[1], *dull]), "diary")
    for question, piece in zip(
        ("Who sold a violoncello?", "What does the ferry to Rab cost?"), pieces, strict=True
    ):
        assert piece in face.search(question)
