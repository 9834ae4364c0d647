"""Name the chats that have no name, so that the same chat is found again and two chats never run together.

Files number their messages from 0 in every chat, so the ids of an unnamed chat mean nothing outside it; and
a file may be renamed, so its path means nothing either. An unnamed chat is therefore named after how it
begins: after its first message where that has a time (a person says one thing to the second), else after
its first eight. The name stays when the file is renamed, and when a timed chat, or one of eight messages or
more, has grown since. It is the chat's thread and the source of its ids unless the caller names one.
Messages that name their conversation keep that name: equal conversation ids are one conversation.

A message without a time takes that of the one above it in its chat (below it, at the beginning), marked as
assumed, so that one bare line in an old chat does not happen today. A chat's beginning is held back until
its name and first time are known, at most eight messages, so order within every chat is kept.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from hashlib import blake2b
from json import dumps
from typing import Final

from episodic_agent.core.ingest import Item
from episodic_agent.engine.files.opening import Unreadable
from episodic_agent.schemas import TimeSource

BEGINNING: Final = 8
_INSTRUCTIONS: Final = ("system", "developer")  # equal in thousands of chats: they tell nothing apart


def named(records: "Iterable[Item | Unreadable]") -> "Iterator[Item | Unreadable]":
    """Give every item a conversation and, where its chat has any, a time; the nameless are one chat."""
    chats: dict[str | None, _NamedChat] = {}
    for record in records:
        if isinstance(record, Unreadable):
            yield record
        else:
            yield from chats.setdefault(record.conversation, _NamedChat()).take(record)
    for chat in chats.values():
        yield from chat.release()


class _NamedChat:
    """One chat on its way through: its beginning while held, then its name and the last time seen."""

    def __init__(self) -> None:
        self._held: list[Item] | None = []
        self._name = ""
        self._last: datetime | None = None

    def take(self, item: Item) -> Iterator[Item]:
        if self._held is None:
            yield self._placed(item)
            return
        self._held.append(item)
        if tells_apart(item) or len(self._held) == BEGINNING:
            yield from self.release()

    def release(self) -> Iterator[Item]:
        held, self._held = self._held or [], None
        if held:
            self._name = held[0].conversation or chat_name(held)
            self._last = next((item.at for item in held if item.at is not None), None)
        for item in held:
            yield self._placed(item)

    def _placed(self, item: Item) -> Item:
        self._last = item.at or self._last
        return replace(item, conversation=self._name, at=self._last)


def chat_name(beginning: list[Item]) -> str:
    """Name a chat after its beginning.

    >>> chat_name([Item("user", "hi")])
    'chat-f05d61304c'
    """
    times = [item.written.isoformat() if item.written else None for item in beginning]
    texts = [[i.external_id, i.actor, i.text, at] for i, at in zip(beginning, times, strict=True)]
    return "chat-" + blake2b(dumps(texts).encode(), digest_size=5).hexdigest()


def tells_apart(item: Item) -> bool:
    """Tell whether a message is enough to name a chat after: nobody else said it at that time."""
    return item.at_source is TimeSource.GIVEN and item.actor not in _INSTRUCTIONS
