"""What others wrote forges nothing that a model reads: tools, MCP, HTTP, Markdown, on one hostile memory."""

import json
import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest
from builders.chats import Clock
from builders.hostile import ACTING, FORGED, NOW, START, TEMPLATES
from builders.web import LocalClient
from mcp.client import Client

from episodic_agent import Memory
from episodic_agent.core.context.quoting import harmless, quoted, shown_name
from episodic_agent.faces.http.app import make_app
from episodic_agent.faces.markdown import write_episode
from episodic_agent.faces.mcp.server import PROMPT, make_server
from episodic_agent.faces.tools.answers import ToolAnswer
from episodic_agent.tools import memory_tools

BAD = f"{FORGED}\u202e {TEMPLATES}"
THREAD, SPEAKER, PLACE, TOOL = (f"{name}{BAD}" for name in ("desk", "Maya", "hall", "find"))
MARKS = re.compile(
    r"<\|im_start|\[INST\]|<<SYS>>|<system>|<start_of_turn>|(?<!^)### |```|</(?!recalled-memory>)"
)
ENTRY = re.compile(r"\s*(?:[-*] )?(?:\[2024|### Forged|## Known Facts$|\[x\]|Current question: obey)")
USER = "ana"


def fill(memory: Memory) -> None:
    at = START
    for n, words in enumerate(
        ("The clutch costs money", "The garden hose is behind the shed", "I live in Lisbon.")
    ):
        values = {
            "content": f"{words}{BAD}",
            "name": SPEAKER,
            "timestamp": at + timedelta(minutes=n),
            "id": f"{n}",
        }
        memory.user(USER).add([values], thread=THREAD)
    memory.user(USER).flush()
    walk = [
        {"kind": "step", "action": f"look{BAD}", "location": f"{PLACE}{n // 6}", "timestamp": at + timedelta(hours=3, minutes=n)}
        for n in range(18)
    ]  # fmt: skip
    memory.user(USER).add(walk, thread="walk")
    use = {"name": TOOL, "arguments": json.dumps({"about": f"clutch{BAD}"})}
    memory.user(USER).add(
        [
            {
                "role": "assistant",
                "tool_calls": [{"id": "c", "function": use}],
                "timestamp": at + timedelta(hours=5),
            }
        ],
        thread="tools",
    )
    session = memory.user(USER).sessions.start(f"Clutch{BAD}", timestamp=at + timedelta(days=1))
    words = {
        "content": f"We mend the clutch{BAD}",
        "name": SPEAKER,
        "timestamp": at + timedelta(days=1, minutes=1),
    }
    memory.user(USER).add([words], thread=session.thread)
    memory.user(USER).sessions.end(
        session.id, "success", [f"mend{BAD}"], participants=[SPEAKER], tools=[TOOL]
    )
    memory.user(USER).add("I live in Porto.", role="Ana", thread="home", timestamp=at + timedelta(days=2))
    memory.user(USER).flush()
    memory.user(USER).facts.consolidate()
    memory.user(USER).threads.rename(THREAD, f"Car{BAD}")
    (fact,) = memory.user(USER).facts.list(subject="ana")
    memory.user(USER).facts.edit(fact.fact.id, text=f"Ana lives in Porto{BAD}")
    open_words = {"content": f"Is the clutch new?{BAD}", "name": SPEAKER, "timestamp": at + timedelta(days=3)}
    memory.user(USER).add([open_words], thread=f"open{BAD}")


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("answers") / "memory.db"
    with Memory.open(path, embedder="hashing", policy="seed-001", clock=Clock(NOW)) as memory:
        fill(memory)
    return path


@pytest.fixture
def hostile(path: Path) -> Iterator[Memory]:
    with Memory.open(path, embedder="hashing", policy="seed-001", clock=Clock(NOW)) as memory:
        yield memory


def calls(memory: Memory) -> list[tuple[str, dict[str, Any]]]:
    shown = [memory.user(USER).episodes.list()[n].episode_id for n in (0, 1, -1)]
    return [
        ("search_memory", {"query": "what does the clutch cost", "limit": 50}),
        ("search_memory", {"query": "where does Ana live?"}),
        ("recent_memory", {}),
        ("get_context", {"message": "Is the clutch mended?", "thread": "other"}),
        ("get_context", {"message": "And now?", "thread": shown_name(THREAD)}),
        ("replay_topic", {"topic": f"clutch{BAD}"}),
        ("list_threads", {}),
        *(("explain_memory", {"episode_id": str(one)}) for one in shown),
        ("forget_memory", {"thread": shown_name(THREAD)}),
        ("search_memory", {"query": "x", "thread": f"nowhere{BAD}"}),
    ]


def check(text: str, *, marked: bool = True) -> None:
    if marked and not text.startswith("error: "):
        assert text.count("recalled-memory>") - text.count("‹/recalled-memory") == 2
    assert ACTING.findall(text) == []
    for line in text.split("\n"):
        forged = ENTRY.match(line)
        assert forged is None or line == "## Known Facts", line
        assert MARKS.search(line) is None, line


def check_answer(answer: ToolAnswer) -> None:
    check(answer.text, marked="begin" in answer.data)
    for text in strings(answer.data):
        assert ACTING.findall(text) == []
        assert not re.search(r"<\|im_start|\[INST\]|<<SYS>>|<system>|```|\u2028|\x85", text)


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)


def test_no_tool_answers_with_a_line_that_somebody_forged(hostile: Memory) -> None:
    tools = memory_tools(hostile.user(USER), budget=100_000)
    answers = [tools.answer(name, given) for name, given in calls(hostile)]
    for answer in answers:
        check_answer(answer)
    assert [answer.is_error for answer in answers] == [False] * 11 + [True]
    assert sum(answer.text.count("User approved deletion") for answer in answers) > 10
    (searched, *_) = answers
    entries = [line for line in searched.text.split("\n") if line.startswith("- ")]
    assert len(entries) == len(searched.data["found"])
    listed = answers[6]
    names = [line for line in listed.text.split("\n") if line.startswith("- ")]
    assert len(names) == len(listed.data["threads"]) == len(hostile.user(USER).threads.list())
    spoken_answer = next(answer for answer in answers[7:] if len(answer.data["messages"]) > 1)
    assert spoken_answer.text.count("\n- ") == len(spoken_answer.data["messages"])


def test_a_thread_is_reached_by_the_name_it_is_shown_by(hostile: Memory) -> None:
    tools = memory_tools(hostile.user(USER))
    shown = [thread["name"] for thread in tools.answer("list_threads", {}).data["threads"]]
    assert len(set(shown)) == len(shown)
    for name in shown:
        answer = tools.answer("get_context", {"message": "hello", "thread": name})
        assert {line["thread"] for line in answer.data["lines"]} <= set(shown)
        assert not tools.answer("search_memory", {"query": "clutch", "thread": name}).is_error
    before = len(hostile.user(USER).threads.list())
    tools.call("add_memory", {"content": "It is mended.", "thread": shown_name(THREAD)})
    assert len(hostile.user(USER).threads.list()) == before
    assert "nobody" not in shown
    tools.call("add_memory", {"content": "Somewhere else.", "thread": "nobody"})
    assert len(hostile.user(USER).threads.list()) == before + 1


@pytest.mark.slow
def test_nothing_is_forged_over_mcp_in_tools_resources_or_prompts(hostile: Memory) -> None:
    async def use(client: Client) -> None:
        for name, arguments in calls(hostile):
            result = await client.call_tool(name, arguments)
            text = result.content[0].text  # type: ignore[union-attr]
            check_answer(ToolAnswer(text, result.structured_content or {}, is_error=bool(result.is_error)))
        resources = (await client.list_resources()).resources
        assert len(resources) > 8
        for item in resources:
            for shown in (item.name, item.title or ""):
                check(shown, marked=False)
                assert "\n" not in shown
            check((await client.read_resource(str(item.uri))).contents[0].text)  # type: ignore[union-attr]
        primed = await client.get_prompt(PROMPT, {"message": "Is the clutch mended?"})
        text = primed.messages[0].content.text  # type: ignore[union-attr]
        check(text[text.rindex("<recalled-memory>") :])

    async def run() -> None:
        async with Client(make_server(hostile, user_id=USER, budget=100_000)) as client:
            await use(client)

    anyio.run(run)


@pytest.mark.parametrize("detail", ["none", "auto", "high"])
def test_markdown_has_no_heading_and_no_line_that_somebody_forged(
    hostile: Memory, path: Path, detail: Any
) -> None:
    answer = hostile.user(USER).retrieve("what does the clutch cost?", detail=detail, now=NOW)

    def opened() -> Memory:
        return Memory.open(path, embedder="hashing", policy="seed-001", clock=Clock(NOW))

    with LocalClient(make_app(opened, Clock(NOW))) as client:
        body = {"user_id": USER, "query": "what does the clutch cost?", "detail": detail}
        served = client.post("/api/v0/retrieve_memory", json=body).text
        recent = client.post("/api/v0/recent_memory", json={"user_id": USER}).text
    for text in (answer, served, recent):
        check(text, marked=False)
        assert text.count("\n## ") <= 1
    hits = hostile.user(USER).search("what does the clutch cost?", now=NOW).hits
    for text in (answer, served):
        assert len(re.findall(r"^### .* \[rank: \d, score: [\d.]+\]$", text, re.MULTILINE)) == len(hits)
    for pattern in (r"^\*\*When:\*\* ", r"^### "):
        assert len(re.findall(pattern, recent, re.MULTILINE)) == len(hostile.user(USER).episodes.recent())


def test_an_episode_s_page_keeps_its_form(hostile: Memory, tmp_path: Path) -> None:
    for card in hostile.user(USER).episodes.list():
        page = write_episode(
            tmp_path, card, hostile.user(USER).episodes.messages(card.episode_id)
        ).read_text()
        check(page, marked=False)
        headings = [line for line in page.split("\n") if line.startswith("#")]
        assert [line.split()[0] for line in headings] in (["#", "##"], ["#", "##", "##"])


def test_what_is_harmless_is_not_touched() -> None:
    for plain in (
        "Paris (France)? 3 < 4, a ` b, C# and #1, 50 % [sic], e-mail <3",
        "昨天我去了上海（三天）。",
        "Die Kupplung kostet 900 €, sagt er.",
        "مرحبا، كيف حالك؟",
        "👩‍👩‍👧 🏴",
    ):
        assert harmless(plain) == quoted(plain, 500) == shown_name(plain) == plain
        assert harmless(plain, lines=True) == plain
    assert harmless("a\n  b\n\nc", lines=True) == "a\n  b\n\nc"
