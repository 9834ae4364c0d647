"""A hit shows what made it one: an open frame, an episode without words, a summary that leaves it out."""

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest
from builders.chats import Clock, mine
from builders.commands import Run
from builders.hostile import START
from mcp.client import Client
from starlette.testclient import TestClient

from episodic_agent import Memory
from episodic_agent.core.context.retrieved import RetrievedEpisode, retrieved
from episodic_agent.core.language import excerpt
from episodic_agent.faces.http.app import make_app
from episodic_agent.faces.mcp.server import make_server
from episodic_agent.tools import memory_tools

QUESTION = "how much does the clutch cost?"
SAID = (
    ("user", "The clutch of my car slips, can you have a look at it?"),
    ("mechanic", "The clutch is worn out. A new clutch costs 900 euros with labour."),
    ("user", "Puh. Let me think about it."),
)
QUOTE = '- mechanic: "The clutch is worn out. A new clutch costs 900 euros with labour."'
NOW = START + timedelta(hours=2)


def opened(path: Path) -> Memory:
    return Memory.open(path, embedder="hashing", policy="seed-001", clock=Clock(NOW), jobs="workers")


def say_all(memory: Memory) -> None:
    values = [
        {"name": who, "content": text, "timestamp": START + timedelta(minutes=n)}
        for n, (who, text) in enumerate(SAID)
    ]
    mine(memory).add(values, thread="garage", wait=False)


@pytest.fixture(params=["open", "just closed"])
def garage(request: pytest.FixtureRequest, database: Path) -> Iterator[Memory]:
    """A memory with a mechanic's quotation, in an open frame or in an episode that nobody put into words yet."""
    with opened(database) as memory:
        say_all(memory)
        if request.param == "just closed":
            mine(memory).threads.close("garage")
            (card,) = mine(memory).episodes.list()
            assert (card.state, card.title, card.summary) == ("closed", "", "")
        yield memory


def test_the_answer_holds_the_words_that_were_found(garage: Memory) -> None:
    for detail in ("auto", "low", "high"):
        text = mine(garage).retrieve(QUESTION, detail=detail)  # type: ignore[arg-type]
        assert QUOTE in text
        heading, when, *rest = text.removeprefix("## Episodic Memories\n").split("\n")
        assert heading.startswith(
            ("### Open conversation, 2 March 09:00 [rank: 1, ", "### Conversation, 2 March 09:00 [rank: 1, ")
        )
        assert when.startswith("**When:** 2026-03-02 09:00 UTC")
        assert rest[:2] == ["", "**Details:**"]
        assert "**Summary:**" not in text


def test_an_open_conversation_is_called_by_the_title_of_its_thread(database: Path) -> None:
    with opened(database) as memory:
        say_all(memory)
        assert "### Open conversation, 2 March 09:00 [rank: 1" in mine(memory).retrieve(QUESTION)
        mine(memory).threads.rename("garage", "The slipping clutch")
        text = mine(memory).retrieve(QUESTION)
        assert "### The slipping clutch [rank: 1" in text
        assert "Open conversation" not in text
        assert QUOTE in text


def test_a_printed_answer_shows_the_sentence_that_was_found(garage: Memory) -> None:
    filler = " ".join(["The weather was fine and we talked of this and that."] * 20)
    mine(garage).add(
        {"name": "mechanic", "content": f"{filler} The exhaust pipe rattles. {filler}"}, thread="yard"
    )
    lines = str(mine(garage).search(QUESTION)).splitlines()
    assert "   mechanic: The clutch is worn out. A new clutch costs 900 euros with labour." in lines
    long = str(mine(garage).search("what of the exhaust pipe?")).splitlines()
    (quote,) = [line for line in long if "exhaust pipe rattles" in line]
    assert quote.startswith("   mechanic: … The exhaust pipe rattles.")
    assert len(quote) < 200


def test_without_details_there_is_a_heading_and_no_word_of_a_message(garage: Memory) -> None:
    text = mine(garage).retrieve(QUESTION, detail="none")
    assert "conversation, 2 March 09:00 [rank: 1, " in text.lower().replace("march", "March")
    for _, statement in SAID:
        assert not any(word in text for word in ("clutch", "900", "labour", statement))


def test_the_words_are_there_over_http(database: Path, garage: Memory) -> None:
    garage.close()
    with TestClient(make_app(lambda: opened(database), Clock(NOW)), base_url="http://127.0.0.1") as client:
        body: dict[str, Any] = {"user_id": "default", "query": QUESTION}
        assert QUOTE in client.post("/api/v0/retrieve_memory", json=body).text
        bare = client.post("/api/v0/retrieve_memory", json={**body, "detail": "none"}).text
        assert "onversation, 2 March 09:00 [rank: 1" in bare
        assert "clutch" not in bare
        recent = client.post("/api/v0/recent_memory", json={"user_id": "default"}).text
        assert "### \n" not in recent
        assert "###  [" not in recent


def test_the_words_are_there_on_the_command_line(
    garage: Memory, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    garage.close()
    monkeypatch.setenv("EPISODIC_JOBS", "workers")
    assert QUOTE in run("retrieve", QUESTION).out
    text = run("search", QUESTION).out
    assert "900 euros" in text
    assert not any(line.strip() == "1." for line in text.splitlines())
    assert "clutch" not in run("retrieve", QUESTION, "--detail", "none").out


def test_the_words_are_there_in_tools_and_over_mcp(garage: Memory) -> None:
    answer = memory_tools(mine(garage)).answer("search_memory", {"query": QUESTION})
    assert "mechanic: The clutch is worn out. A new clutch costs 900 euros" in answer.text
    (result,) = answer.data["found"]
    assert result["title"]
    full_answer = memory_tools(mine(garage)).answer("explain_memory", {"episode_id": result["episode_id"]})
    assert "900 euros" in full_answer.text
    assert full_answer.data["title"]
    assert all(
        one["title"] for one in memory_tools(mine(garage)).answer("recent_memory", {}).data["episodes"]
    )

    async def ask() -> None:
        async with Client(make_server(garage, budget=16_000)) as client:
            answer = await client.call_tool("search_memory", {"query": QUESTION})
            assert "900 euros" in answer.content[0].text  # type: ignore[union-attr]
            listed = (await client.list_resources()).resources
            assert all((one.title or "").strip() not in ("", "2026-03-02") for one in listed)

    anyio.run(ask)


def test_a_summary_that_leaves_it_out_stands_beside_what_was_found() -> None:
    proofs = [(1, *SAID[1]), (0, *SAID[0]), (2, *SAID[2])]
    episode = RetrievedEpisode("Clutch", "They spoke of a clutch.", START, START, 0.0, (), 0.8, proofs)
    text = retrieved([], [episode], "auto", NOW, QUESTION)
    assert "**Summary:** They spoke of a clutch.\n\n**Details:**\n" in text
    assert text.index("can you have a look") < text.index("900 euros")  # in the order they were said
    assert "Let me think" not in text
    assert "Details" not in retrieved([], [episode], "none", NOW, QUESTION)
    full_episode = RetrievedEpisode(
        "Clutch", " ".join(said for _, said in SAID), START, START, 0.0, (), 0.8, proofs
    )
    assert "Details" not in retrieved([], [full_episode], "auto", NOW, QUESTION)


def test_of_a_long_message_the_sentence_that_was_found_is_shown(run: Run) -> None:
    chatter = "We spoke about the weather and the roads for a while. " * 15
    run("add", f"{chatter}The new clutch costs 900 euros. {chatter}", "--thread", "garage")
    assert "The new clutch costs 900 euros." in run("search", QUESTION).out
    assert "The new clutch costs 900 euros." in run("retrieve", QUESTION).out
    assert len(run("retrieve", QUESTION).out) < 1_500
    assert json.loads(run("search", QUESTION, "--json").out)["hits"][0]["observations"]
    assert excerpt("one", QUESTION, 10) == "one"


def test_of_a_tool_s_long_output_the_lines_that_bear_on_the_question_are_retrieved(garage: Memory) -> None:
    lines = [f"tests/test_{n}.py::test_{n} PASSED in {n} ms" for n in range(300)]
    lines[150] = "test_gearbox FAILED: the ratio is 3 where 4 is expected"
    asked = "what failed in the gearbox tests?"
    ana = mine(garage)
    ana.add("Run the gearbox tests", thread="bench")
    ana.add({"role": "tool", "content": "\n".join(lines)}, thread="bench")
    text = ana.retrieve(asked, detail="high")
    assert lines[150] in text
    assert text.count("PASSED") < 40
    (hit, *_) = ana.search(asked, detail="high").hits
    assert any(lines[299] in one.text for one in ana.episodes.messages(hit.episode_id))
    assert len(excerpt("x" * 500, QUESTION, 100)) <= 100


def test_of_a_long_output_of_tests_the_failed_one_is_told_not_one_that_shares_a_word(database: Path) -> None:
    lines = [f"  ok  {n} [chromium] > tests/page{n}.spec.ts > renders page {n}" for n in range(1, 40)]
    lines[3] = "  ok  4 [chromium] > tests/cart.spec.ts > adds an item to the cart"
    lines[20] = "  x  21 [chromium] > tests/checkout.spec.ts > applies a voucher"
    result = "\n".join([*lines, "39 tests (48.1s)", "bye"])
    question = "The e2e tests of the shop: add a checkbox to each item of the list, please"
    with opened(database) as memory:
        ana = mine(memory)
        call = {"role": "tool", "name": "bash", "arguments": {"command": "pnpm e2e"}, "result": result}
        ana.add(["run the e2e tests of the shop", call], thread="web", timestamp=START)
        shown = ana.context(question, thread="web", at=NOW).text
        assert "applies a voucher" in shown
        assert "adds an item" in ana.context("adds an item to the cart", thread="web", at=NOW).text
