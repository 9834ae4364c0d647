"""Microsoft Agent Framework: a context provider that recalls before a run and keeps it afterwards.

Written against agent-framework-core 1.23.0: `ContextProvider` with `before_run` and `after_run`.
"""

import asyncio
from collections.abc import Sequence
from typing import Any, Final

from episodic_agent.adapters.history import ThreadHistory, item_for
from episodic_agent.adapters.needing import bound, needing
from episodic_agent.engine.filters import Where
from episodic_agent.engine.user import UserMemory
from episodic_agent.faces.recalling import MAX_TOKENS, recalled
from episodic_agent.tools import memory_tools

with needing("agent-framework"):
    from agent_framework import AgentSession, ContextProvider, FunctionTool, Message, SessionContext

READING: Final = ("search_memory", "get_facts", "replay_topic")  # tools a model may call without asking


class EpisodicContextProvider(ContextProvider):
    """Memory for `Agent(…, context_providers=[…])`, bound to one user.

    Before a run what of the past bears on the message is added to the instructions, and `tools` for the model
    to ask; after it what was said is kept, once, in `thread` (without one, in a thread named after the
    session). `only` are the threads and channels of which instructions (beside the session's own thread) and
    tools may tell.
    """

    def __init__(
        self,
        memory: UserMemory,
        *,
        thread: str | None = None,
        max_tokens: int = MAX_TOKENS,
        tools: Sequence[str] = READING,
        source_id: str = "episodic",
        only: Where = None,
    ) -> None:
        """Bind the provider to a user's memory; InvalidInput for what is none."""
        super().__init__(source_id)
        self._memory = bound(memory)
        self._name = thread
        self._max_tokens = max_tokens
        self._tools = tools
        self._only = only

    async def before_run(
        self, *, agent: Any, session: AgentSession, context: SessionContext, state: dict[str, Any]
    ) -> None:
        """Add what of the past bears on the message, and the tools."""
        del agent, state
        message = "\n".join(m.text for m in context.input_messages if str(m.role) == "user")
        past = await asyncio.to_thread(
            recalled,
            self._memory,
            message,
            thread=self._thread(session),
            max_tokens=self._max_tokens,
            only=self._only,
        )
        if past:
            context.extend_instructions(self.source_id, past)
        functions = [tool["function"] for tool in memory_tools(self._memory, only=self._only).openai()]
        context.extend_tools(self.source_id, [self._tool(f) for f in functions if f["name"] in self._tools])

    async def after_run(
        self, *, agent: Any, session: AgentSession, context: SessionContext, state: dict[str, Any]
    ) -> None:
        """Keep the messages of the run; their place in the session names those without an id."""
        del agent
        answers = context.response.messages if context.response else []
        messages = [*context.input_messages, *answers]
        first = int(state.get("kept", 0))
        items = [_item(m, f"{session.session_id}:{first + n}") for n, m in enumerate(messages)]
        await asyncio.to_thread(ThreadHistory(self._memory, self._thread(session)).append, items)
        state["kept"] = first + len(messages)

    def _thread(self, session: AgentSession) -> str:
        return self._name or str(session.session_id)

    def _tool(self, function: Any) -> FunctionTool:
        name, tools = function["name"], memory_tools(self._memory, only=self._only)

        async def call(**arguments: Any) -> str:
            return await asyncio.to_thread(tools.call, name, arguments)

        return FunctionTool(
            name=name,
            description=function["description"],
            func=call,
            input_model=dict(function["parameters"]),
        )


def _item(message: Message, place: str) -> dict[str, Any]:
    calls = [
        {"id": c.call_id, "function": {"name": c.name, "arguments": c.arguments}}
        for c in message.contents
        if c.type == "function_call"
    ]
    results = [str(c.result) for c in message.contents if c.type == "function_result"]
    fields = {
        "role": str(message.role),
        "content": message.text or "\n".join(results),
        "tool_calls": calls or None,
    }
    if results:
        fields["kind"] = "tool"
    written = message.to_dict()
    return item_for(fields, written, identity=message.message_id or place)
