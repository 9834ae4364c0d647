"""OpenAI Agents SDK: a session whose items are a thread of memory, instructions that recall, tools.

Written against openai-agents 0.24.0: the protocol `Session`, dynamic instructions, `FunctionTool`.
"""

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

from episodic_agent.adapters.history import ThreadHistory, item_for, original, role_of, texts_of
from episodic_agent.adapters.needing import bound, needing
from episodic_agent.engine.filters import Where
from episodic_agent.engine.user import UserMemory
from episodic_agent.faces.recalling import MAX_TOKENS, recalled
from episodic_agent.schemas import Observation
from episodic_agent.tools import memory_tools

with needing("openai-agents"):
    from agents import Agent, FunctionTool, RunContextWrapper

UNNAMED: Final = "__fake_id__"  # the id of every item that a chat-completions model answered with
READING: Final = ("search_memory", "get_facts", "replay_topic")  # tools a model may call without asking
Instructions = Callable[[RunContextWrapper[Any], Agent[Any]], Awaitable[str]]


class EpisodicSession:
    """The items of one session, kept in the thread of its name; give it to `Runner.run(…, session=…)`.

    Items come back as they were added. An item with an id of its own is kept once; `pop_item` erases the last
    one, `clear_session` all. `only` are the threads and channels of which `instructions` may tell, beside the
    session's own.
    """

    session_settings: Any = None

    def __init__(self, session_id: str, memory: UserMemory, *, only: Where = None) -> None:
        """Bind a session to a user's memory; InvalidInput without a user or a name."""
        self.session_id = session_id
        self._memory = bound(memory)
        self._only = only
        self._history = ThreadHistory(self._memory, session_id)
        self._of_run: list[str] = []  # texts of the items that came since the session was read

    async def get_items(self, limit: int | None = None) -> list[Any]:
        """Return the items in order, or the last `limit` of them."""
        self._of_run = []
        if limit is None:
            limit = getattr(self.session_settings, "limit", None)
        read = await asyncio.to_thread(self._history.observations, limit)
        return [_written(observation) for observation in read]

    async def add_items(self, items: list[Any]) -> None:
        """Keep items in the order they have."""
        await asyncio.to_thread(self._history.append, [_item(item) for item in items], returning=True)
        self._of_run += texts_of(items, _item)

    async def pop_item(self) -> Any:
        """Erase the last item and return it; None where there is none."""
        observation = await asyncio.to_thread(self._history.pop)
        return None if observation is None else _written(observation)

    async def clear_session(self) -> None:
        """Erase the session."""
        await asyncio.to_thread(self._history.clear)

    def instructions(self, text: str = "", *, max_tokens: int = MAX_TOKENS) -> Instructions:
        """Return an agent's instructions: `text`, then what of the past bears on the user's message."""

        async def dynamic(context: RunContextWrapper[Any], agent: Agent[Any]) -> str:
            del agent
            message = _last_message(context.turn_input)
            of_turn = texts_of((i for i in context.turn_input if isinstance(i, Mapping)), _item)
            # what a run's tools answered is in its prompt, and in the session, but not in what it began with
            in_prompt = list((Counter(of_turn) | Counter(self._of_run)).elements())
            past = await asyncio.to_thread(
                recalled,
                self._memory,
                message,
                thread=self.session_id,
                max_tokens=max_tokens,
                only=self._only,
                in_prompt=in_prompt,
            )
            return "\n\n".join(part for part in (text, past) if part)

        return dynamic


def episodic_tools(
    memory: UserMemory, names: Sequence[str] = READING, *, only: Where = None
) -> list[FunctionTool]:
    """Return tools of a user's memory by name (docs/mcp.md lists them), for `Agent(tools=…)`.

    `only` are names of threads and channels: no tool tells what was said elsewhere.
    """
    tools = memory_tools(bound(memory), only=only)

    def made(function: Mapping[str, Any]) -> FunctionTool:
        async def call(context: Any, arguments: str) -> str:
            del context
            return await asyncio.to_thread(tools.call, function["name"], json.loads(arguments or "{}"))

        return FunctionTool(
            name=function["name"],
            description=function["description"],
            params_json_schema=function["parameters"],
            on_invoke_tool=call,
            strict_json_schema=False,
        )

    functions = [tool["function"] for tool in tools.openai()]
    return [made(function) for function in functions if function["name"] in names]


def _item(item: Mapping[str, Any]) -> dict[str, Any]:
    identity = item.get("id")
    return item_for(item, item, identity=None if identity in (None, "", UNNAMED) else str(identity))


def _written(observation: Observation) -> Any:
    return original(observation) or {"role": role_of(observation), "content": observation.text}


def _last_message(items: Sequence[Any]) -> str:
    """Return what the user said last, of the items a turn begins with."""
    for item in reversed(items):
        if isinstance(item, Mapping) and item.get("role") == "user":
            content = item.get("content")
            parts = [content] if isinstance(content, str) else content or []
            return " ".join(p if isinstance(p, str) else str(p.get("text") or "") for p in parts).strip()
    return ""
