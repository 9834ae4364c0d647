"""LlamaIndex: a memory block that keeps what passes the short-term memory and recalls for the next message.

Written against llama-index-core 0.14.25: `BaseMemoryBlock` of `Memory`.
"""

import asyncio
from collections.abc import Sequence
from typing import Any

from episodic_agent.adapters.history import ThreadHistory, item_for, texts_of
from episodic_agent.adapters.needing import bound, needing
from episodic_agent.faces.recalling import MAX_TOKENS, recalled

with needing("llama-index"):
    from llama_index.core.llms import ChatMessage
    from llama_index.core.memory import BaseMemoryBlock

Voiced = tuple[str, str]  # who speaks, and the words


class EpisodicMemoryBlock(BaseMemoryBlock[str]):
    """A block for `Memory.from_defaults(memory_blocks=[…])`, bound to one user.

    Each time the memory is read it keeps the messages it has not seen, by where they stand in the
    conversation, and tells what of the past bears on the last one. `thread` is the session's id unless it is
    named; `only` are the threads and channels of which may be told beside that. `observe` keeps the last
    answer of a session, which nothing reads any more.
    """

    name: str = "EpisodicMemory"
    memory: Any
    thread: str | None = None
    max_tokens: int = MAX_TOKENS
    only: Any = None

    def model_post_init(self, context: object, /) -> None:
        """Check whose memory it is."""
        super().model_post_init(context)
        bound(self.memory)

    async def observe(self, messages: Sequence[ChatMessage], session_id: str | None = None) -> None:
        """Keep those of a conversation's messages, in order, that are not kept yet."""
        await asyncio.to_thread(self._observe, list(messages), self._thread(session_id))

    async def _aget(self, messages: list[ChatMessage] | None = None, **block_kwargs: Any) -> str:
        spoken_so_far = messages or []
        thread = self._thread(block_kwargs.get("session_id"))
        await asyncio.to_thread(self._observe, spoken_so_far, thread)
        asked = [m.content or "" for m in spoken_so_far if m.role.value == "user"]
        return await asyncio.to_thread(
            recalled,
            self.memory,
            asked[-1] if asked else "",
            thread=thread,
            max_tokens=self.max_tokens,
            only=self.only,
            in_prompt=texts_of(spoken_so_far, _item),
        )

    async def _aput(self, messages: list[ChatMessage]) -> None:
        sessions = [m.additional_kwargs.get("session_id") for m in messages]
        await self.observe(messages, next(filter(None, sessions), None))

    async def atruncate(self, content: str, tokens_to_truncate: int) -> str | None:
        """Leave the block out where there is no room for it: a part of it could be a part of a sentence."""
        del content, tokens_to_truncate
        return None

    def _thread(self, session_id: str | None) -> str:
        return self.thread or session_id or self.name

    def _observe(self, messages: Sequence[ChatMessage], thread: str) -> None:
        history = ThreadHistory(self.memory, thread)
        spoken = [m for m in messages if m.role.value != "system"]
        standing = [_voice_of(written) for written, _ in history.originals() if written is not None]
        history.append([_item(m) for m in spoken[_seen(standing, [_voice(m) for m in spoken]) :]])


def _seen(standing: Sequence[Voiced], window: Sequence[Voiced]) -> int:
    """Return how many of a window's first messages are kept: all inside, or those the thread ends with."""
    length = len(window)
    if any(list(standing[n : n + length]) == list(window) for n in range(len(standing) - length, -1, -1)):
        return length
    overlaps = range(min(length, len(standing)), 0, -1)
    return next((n for n in overlaps if list(standing[-n:]) == list(window[:n])), 0)


def _voice(message: ChatMessage) -> Voiced:
    return message.role.value, message.content or ""


def _voice_of(written: Any) -> Voiced:
    return _voice(ChatMessage.model_validate(written))


def _item(message: ChatMessage) -> dict[str, Any]:
    calls = {
        k: v for k, v in message.additional_kwargs.items() if k in ("tool_calls", "tool_call_id", "name")
    }
    fields = {"role": message.role.value, "content": message.content, **calls}
    return item_for(fields, message.model_dump(mode="json", exclude={"additional_kwargs": {"session_id"}}))
