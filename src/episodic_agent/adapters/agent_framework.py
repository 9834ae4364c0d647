"""Microsoft Agent Framework: a context provider that recalls before a run and keeps it afterwards.

Written against agent-framework-core 1.23.0: `ContextProvider` with `before_run` and `after_run`.
"""

import asyncio
from collections.abc import Sequence
from typing import Any, Final
from uuid import uuid4

from episodic_agent.adapters.history import ThreadHistory, item_for, texts_of
from episodic_agent.adapters.needing import bound, needing
from episodic_agent.engine.filters import Where
from episodic_agent.engine.user import UserMemory
from episodic_agent.faces.recalling import MAX_TOKENS, recalled
from episodic_agent.tools import memory_tools

with needing("agent-framework"):
    from agent_framework import (
        AgentSession,
        ContextProvider,
        FunctionTool,
        HistoryProvider,
        Message,
        SessionContext,
    )

READING: Final = ("search_memory", "get_facts", "replay_topic")  # tools a model may call without asking


class EpisodicContextProvider(ContextProvider):
    """Memory for `Agent(…, context_providers=[…])`, bound to one user.

    Before a run what of the past bears on the message is added to the instructions, and `tools` for the model
    to ask, and what the user said is kept; after it the answers are. All is kept once, in `thread` (without
    one, in a thread named after the session). `only` are the threads and channels of which instructions
    (beside the session's own thread) and tools may tell.
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
        """Add what of the past bears on the message, and the tools; keep the message."""
        message = "\n".join(m.text for m in context.input_messages if str(m.role) == "user")
        past = await asyncio.to_thread(
            recalled,
            self._memory,
            message,
            thread=self._thread(session),
            max_tokens=self._max_tokens,
            only=self._only,
            in_prompt=await self._in_prompt(agent, session, context),
        )
        if past:
            context.extend_instructions(self.source_id, past)
        functions = [tool["function"] for tool in memory_tools(self._memory, only=self._only).openai()]
        context.extend_tools(self.source_id, [self._tool(f) for f in functions if f["name"] in self._tools])
        history = ThreadHistory(self._memory, self._thread(session))
        items = _items(context.input_messages, session, state)
        await asyncio.to_thread(lambda: history.append(history.without_retried(items)))

    async def after_run(
        self, *, agent: Any, session: AgentSession, context: SessionContext, state: dict[str, Any]
    ) -> None:
        """Keep the answers of the run; their place in the session names those without an id."""
        del agent
        answers = context.response.messages if context.response else []
        messages = [*context.input_messages, *answers]
        items = _items(messages, session, state)[len(context.input_messages) :]
        await asyncio.to_thread(ThreadHistory(self._memory, self._thread(session)).append, items)
        state["kept"] = int(state.get("kept", 0)) + len(messages)

    async def _in_prompt(
        self, agent: Any, session: AgentSession, context: SessionContext
    ) -> list[str] | None:
        """Return the texts of the conversation that the model is given; None where a service keeps it.

        The framework's own history comes after the providers that an agent was made with.
        """
        if session.service_session_id is not None:
            return None
        messages = [*(m for given in context.context_messages.values() for m in given)]
        for provider in getattr(agent, "context_providers", None) or ():
            asked = isinstance(provider, HistoryProvider) and provider.load_messages
            if asked and provider.source_id not in context.context_messages:
                state = session.state.get(provider.source_id, {})
                messages += await provider.get_messages(session.session_id, state=state)
        # the last message is the one that is asked about, which the thread has not yet
        return texts_of([*messages, *context.input_messages[:-1]], _item)

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


def _items(messages: Sequence[Message], session: AgentSession, state: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what is kept of messages, by their place in a session as this program knows it."""
    first, begun = int(state.get("kept", 0)), state.setdefault("begun", uuid4().hex[:12])
    return [_item(m, f"{session.session_id}:{begun}:{first + n}") for n, m in enumerate(messages)]


def _item(message: Message, place: str = "") -> dict[str, Any]:
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
