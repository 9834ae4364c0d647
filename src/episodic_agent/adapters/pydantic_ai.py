"""Pydantic AI: a capability that recalls before a run, gives the model tools, and keeps what was said.

Written against pydantic-ai 2.68.0: `AbstractCapability`, `FunctionToolset`, `ModelMessagesTypeAdapter`.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from episodic_agent.adapters.history import ThreadHistory, item_for, texts_of
from episodic_agent.adapters.needing import bound, needing
from episodic_agent.engine.filters import Where
from episodic_agent.engine.user import UserMemory
from episodic_agent.faces.recalling import MAX_TOKENS, recalled
from episodic_agent.tools import memory_tools

with needing("pydantic-ai"):
    from pydantic_ai import RunContext, Tool
    from pydantic_ai.capabilities import AbstractCapability
    from pydantic_ai.messages import (
        ModelMessage,
        ModelMessagesTypeAdapter,
        ModelRequest,
        ModelResponse,
        RetryPromptPart,
        TextPart,
        ToolCallPart,
        ToolReturnPart,
        UserPromptPart,
    )
    from pydantic_ai.toolsets import FunctionToolset

READING: Final = ("search_memory", "get_facts", "replay_topic")  # tools a model may call without asking


@dataclass
class EpisodicCapability(AbstractCapability[Any]):
    """Memory for `Agent(…, capabilities=[…])`, bound to one user.

    Before a run its instructions tell what of the past bears on the prompt; `tools` are what the model may
    call; after it the new messages are kept, once, in `thread` (without one, in a thread named after the
    run's `conversation_id`). `history` returns a thread's messages for the next run. `only` are the threads
    and channels of which instructions (beside the run's own thread) and tools may tell.
    """

    memory: UserMemory
    thread: str | None = None
    max_tokens: int = MAX_TOKENS
    tools: Sequence[str] = READING
    only: Where = None

    def __post_init__(self) -> None:
        """Check whose memory it is."""
        bound(self.memory)

    def history(self, thread: str | None = None) -> list[ModelMessage]:
        """Return the messages of a thread as they were, for `message_history`; none where there are none."""
        name = thread or self.thread
        if name is None:
            return []
        originals = ThreadHistory(self.memory, name).originals()
        written = [w for w, _ in originals if w is not None]
        messages: list[ModelMessage] = ModelMessagesTypeAdapter.validate_python(written)
        return messages

    def get_instructions(self) -> Callable[[RunContext[Any]], Any]:
        """Return the instructions of a run: what of the past bears on its prompt."""

        async def past(context: RunContext[Any]) -> str:
            message, thread = _text(context.prompt), self._thread(context)
            return await asyncio.to_thread(
                recalled,
                self.memory,
                message,
                thread=thread,
                max_tokens=self.max_tokens,
                only=self.only,
                in_prompt=texts_of(_before(context), _item),
            )

        return past

    def get_toolset(self) -> FunctionToolset[Any] | None:
        """Return the tools a model may call."""
        if not self.tools:
            return None
        functions = [tool["function"] for tool in memory_tools(self.memory, only=self.only).openai()]
        return FunctionToolset(tools=[self._tool(f) for f in functions if f["name"] in self.tools])

    async def after_run(self, ctx: RunContext[Any], *, result: Any) -> Any:
        """Keep the messages the run made."""
        await asyncio.to_thread(self._keep, ctx, result.new_messages())
        return result

    async def wrap_run(self, ctx: RunContext[Any], *, handler: Any) -> Any:
        """Keep what the user said where the run fails or is cancelled: it was said all the same."""
        done = False
        try:
            result = await handler()
            done = True
        finally:
            if not done and _text(ctx.prompt).strip():
                prompt = ModelRequest([UserPromptPart(ctx.prompt or "")], run_id=ctx.run_id)
                await asyncio.to_thread(self._keep, ctx, [prompt])
        return result

    def _keep(self, context: RunContext[Any], messages: Sequence[ModelMessage]) -> None:
        history = ThreadHistory(self.memory, self._thread(context))
        items = [_item(message, f"{context.run_id}:{n}") for n, message in enumerate(messages)]
        history.append(history.without_retried(items))

    def _thread(self, context: RunContext[Any]) -> str:
        return self.thread or context.conversation_id or f"run {context.run_id}"

    def _tool(self, function: Any) -> Tool[Any]:
        name, tools = function["name"], memory_tools(self.memory, only=self.only)

        async def call(**arguments: Any) -> str:
            return await asyncio.to_thread(tools.call, name, arguments)

        return Tool.from_schema(call, name, function["description"], function["parameters"])


def _before(context: RunContext[Any]) -> list[ModelMessage]:
    """Return the messages that a run was given, without those that it made."""
    return [message for message in context.messages if message.run_id != context.run_id]


def _item(message: ModelMessage, identity: str | None = None) -> dict[str, Any]:
    (written,) = ModelMessagesTypeAdapter.dump_python([message], mode="json")
    return item_for(_fields(message), written, identity=identity, exact=True)


def _fields(message: ModelRequest | ModelResponse) -> dict[str, Any]:
    """Return a message in OpenAI's words: what a person said comes before the tools' answers."""
    if isinstance(message, ModelResponse):
        calls = [
            {"id": p.tool_call_id, "function": {"name": p.tool_name, "arguments": p.args_as_json_str()}}
            for p in message.parts
            if isinstance(p, ToolCallPart)
        ]
        text = "\n".join(p.content for p in message.parts if isinstance(p, TextPart))
        return {"role": "assistant", "content": text, "tool_calls": calls or None}
    prompts = [_text(p.content) for p in message.parts if isinstance(p, UserPromptPart)]
    if any(prompts):
        return {"role": "user", "content": "\n".join(prompts)}
    return {"role": "tool", "kind": "tool", "content": "\n".join(_answers(message)), "type": "tool answer"}


def _answers(message: ModelRequest) -> Iterator[str]:
    for part in message.parts:
        if isinstance(part, ToolReturnPart):
            yield f"{part.tool_name}: {part.model_response_str()}"
        elif isinstance(part, RetryPromptPart):
            yield f"{part.tool_name or 'try again'}: {part.model_response()}"


def _text(content: Any) -> str:
    """Return the words of a prompt; pictures and files have none."""
    parts = [content] if isinstance(content, str) else content or []
    return "\n".join(part for part in parts if isinstance(part, str))
