"""A thread as a framework's list of messages: kept once, given back as the framework wrote them."""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from episodic_agent.core.ingest.item import EMPTY, read_item
from episodic_agent.core.threads.turns import is_reply
from episodic_agent.engine.user import UserMemory
from episodic_agent.errors import InvalidInput, NotFound
from episodic_agent.schemas import Observation

ORIGINAL: Final = "framework_message"  # the field of an observation's extras with what the framework wrote
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_RETURNS: Final = 100  # how often a message that was taken out may come back under its id
# What the words of a message are made of; all else is in what the framework wrote.
_SPOKEN: Final = (
    "role", "content", "type", "name", "arguments", "call_id", "output", "tool_calls", "tool_call_id",
    "timestamp", "ttl", "kind",
)  # fmt: skip


class ThreadHistory:
    """The messages of one thread in the order they came, each as the framework wrote it."""

    def __init__(self, memory: UserMemory, thread: str) -> None:
        if not str(thread).strip():
            raise InvalidInput("the conversation has no name; give it one, and its messages are its thread")
        self.memory = memory
        self.thread = str(thread)

    def observations(self, last: int | None = None) -> list[Observation]:
        """Return the messages that stand, or the `last` of them; none where nobody knows the thread."""
        episodes = self.memory.episodes
        try:
            cards = episodes.list(thread=self.thread)
            pieces = [cards] if last is None else [[card] for card in reversed(cards)]
            read: list[Observation] = []
            for piece in pieces:
                if last is not None and len(read) >= last:
                    break
                read += [o for full in episodes.contents(piece) if full is not None for o in full.messages]
        except NotFound:
            return []
        read.sort(key=lambda observation: observation.seq)
        return read if last is None else read[max(0, len(read) - last) :]

    def originals(self, last: int | None = None) -> list[tuple[Any, Observation]]:
        """Return what the framework wrote of each message (None: it came another way), and the message."""
        return [(original(observation), observation) for observation in self.observations(last)]

    def append(self, messages: Sequence[Mapping[str, Any]], *, returning: bool = False) -> None:
        """Keep messages as `item_for` makes them; an id that stands adds nothing.

        Of frameworks that take messages out and put them back (`returning`), a message whose id was erased is
        kept anew; otherwise what was erased stays away, however often the framework repeats it.
        """
        waiting = list(messages)
        for attempt in range(_RETURNS):
            again = f"~{attempt}" if attempt else ""
            named = [m | {"id": f"{m['id']}{again}"} if "id" in m else m for m in map(dict, waiting)]
            receipts = self.memory.add(named, thread=self.thread) if named else []
            repeated = [(m, r.id) for m, r in zip(waiting, receipts, strict=True) if not r.added]
            if not (repeated and returning):
                return
            standing = {observation.id for observation in self.observations()}
            waiting = [message for message, identity in repeated if identity not in standing]
            if not waiting:
                return

    def without_retried(self, messages: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        """Return the messages of a turn but the first, where the thread ends with them and has no answer.

        A turn that failed left them there: what is said again then is the same, said once.
        """
        texts = [read_item(message).text for message in messages]
        unanswered: list[str] = []
        for observation in reversed(self.observations(len(messages)) if messages else []):
            if is_reply(observation) or observation.kind != "message":
                break
            unanswered.insert(0, observation.text)
        repeated = range(len(unanswered), 0, -1)
        first = next((n for n in repeated if unanswered[-n:] == texts[:n]), 0)
        return list(messages[first:])

    def pop(self) -> Observation | None:
        """Erase the last message and return it; None where there is none."""
        for observation in self.observations(1):
            self.memory.erase(observation=observation.id)
            return observation
        return None

    def clear(self) -> None:
        """Erase the thread, with what was made of it; nothing where there is none."""
        with suppress(NotFound):
            self.memory.erase(thread=self.thread)


def texts_of(messages: Iterable[Any], item_of: Callable[[Any], Mapping[str, Any]]) -> list[str]:
    """Return the texts that a framework's messages have once they are kept; what cannot be kept has none."""
    texts: list[str] = []
    for message in messages:
        with suppress(InvalidInput):
            texts.append(read_item(item_of(message)).text)
    return texts


def original(observation: Observation) -> Any:
    """Return what the framework wrote, read from its JSON; None where the message came another way."""
    text = observation.extras.get(ORIGINAL)
    return json.loads(text) if isinstance(text, str) else None


def role_of(observation: Observation) -> str:
    """Return the role of a message that came another way: the assistant's, or a user's."""
    return "assistant" if is_reply(observation) else "user"


def item_for(
    fields: Mapping[str, Any], written: object, *, identity: str | None = None, exact: bool = False
) -> dict[str, Any]:
    """Return what `add` takes for a message, from its fields in OpenAI's words and what the framework wrote.

    `identity` is the framework's id; with what was written it names the message, so that one rewritten under
    its old id is another message. `exact`: the id alone names it. What has no words (a reasoning item, a
    picture) is kept with its type as a note.
    """
    text = json.dumps(written, ensure_ascii=False, default=str)
    if not text.isascii() and _SURROGATE.search(
        text
    ):  # which no database can hold; escaped it stays what it is
        text = json.dumps(written, default=str)
    item: dict[str, Any] = {key: fields[key] for key in _SPOKEN if fields.get(key) is not None}
    item["extras"] = {ORIGINAL: text}
    if identity is not None:
        digest = hashlib.blake2b(text.encode(), digest_size=6).hexdigest()
        item["id"] = identity if exact else f"{identity}:{digest}"
    try:
        read_item(item)
    except InvalidInput as error:
        if not str(error).startswith(EMPTY):
            raise
        kind = fields.get("type") or fields.get("role") or "message"
        role = fields.get("role", "assistant")
        note = {"role": role, "kind": "tool", "content": f"[{kind}]"}
        return note | {key: item[key] for key in ("extras", "id", "timestamp") if key in item}
    return item
