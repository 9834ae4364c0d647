"""Tell the conversations of a crowded channel apart, so that each is a thread of its own.

In a channel where many talk at once the neighbours of a line are mostly about something else, and no boundary
between neighbours says so. What answers what is decided as `episodic evaluate threads` measures it
(`core/links/disentanglement.py`), line by line as they come, by words, names and times alone: vectors gain
little there and would cost each line a second embedding.

A channel with few speakers stays one thread: there silence and changes of subject tell more. Ids of messages
are those of the channel, so a later export adds nothing twice, wherever its lines would go.
"""

import json
import re
from collections import Counter, deque
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Final

from episodic_agent.core.ingest import Item
from episodic_agent.core.links.disentanglement import REACH, Channel, Line, chosen
from episodic_agent.core.links.policies import link_policy
from episodic_agent.engine.files.formats.speaking import talk_title

MANY: Final = 8  # speakers among the last REACH lines; fewer share one conversation after another
_FORMATS: Final = frozenset(("slack", "discord", "transcript"))  # where channels of many people come from
_THREAD: Final = re.compile(
    r"slack-.+-\d+\.\d+"
)  # what people answered in a thread they told apart themselves
_POLICY: Final = (
    "link-2026-12"  # judges one line beside each other; the choice's numbers are of whole threads
)


@dataclass(slots=True)
class _LiveChannel:
    """One channel as it passes: who spoke of late, and the conversation of each recent line."""

    channel: Channel = field(default_factory=lambda: Channel(link_policy(_POLICY)))
    spoken: deque[str] = field(default_factory=lambda: deque(maxlen=REACH))
    speakers: Counter[str] = field(default_factory=Counter)
    conversations: dict[str, str] = field(default_factory=dict)

    def speak(self, who: str) -> bool:
        """Note who speaks; tell whether many do by now."""
        if len(self.spoken) == REACH:
            gone = self.spoken[0]
            self.speakers[gone] -= 1
            if not self.speakers[gone]:
                del self.speakers[gone]
        self.spoken.append(who)
        self.speakers[who] += 1
        return len(self.speakers) >= MANY


def is_channel(kind: str, name: str) -> bool:
    """Tell whether a format's conversation may be a channel in which many talk at once.

    >>> is_channel("slack", "slack-C01AB"), is_channel("slack", "slack-C01AB-1709629200.000100")
    (True, False)
    """
    return kind in _FORMATS and _THREAD.fullmatch(name) is None


class Conversations:
    """The channels of one import; each line is asked for once, in order."""

    def __init__(self) -> None:
        self._channels: dict[str, _LiveChannel] = {}

    def placed(self, channel: str, item: Item) -> tuple[str, Item]:
        """Return the thread of a line, and the line with a title that tells that thread from the channel."""
        thread = self.thread_of(channel, item)
        if thread == channel or item.title is None:
            return thread, item
        return thread, replace(item, title=talk_title(item.title, item.text))

    def thread_of(self, channel: str, item: Item) -> str:
        """Return the thread a line of a channel belongs to: the channel's own until it is crowded.

        Lines without a time stay with the channel.
        """
        if item.at is None:
            return channel
        live = self._channels.setdefault(channel, _LiveChannel())
        many = live.speak(item.actor)
        identity = _digest(item)
        line = Line(identity, item.actor, item.text, item.at)
        if not many:
            live.channel.hear(line)
            thread = channel
        else:
            choice = live.channel.choice(line)
            verdict = chosen(choice, live.channel.policy)
            known = live.conversations.get(verdict.thread_id) if verdict.link else None
            thread = known or f"{channel}#{identity}"
        live.conversations[identity] = thread
        if len(live.conversations) > REACH:
            del live.conversations[next(iter(live.conversations))]
        return thread


def _digest(item: Item) -> str:
    """Name a line by what it is, so that an import that is repeated names its conversation alike."""
    when = "" if item.written is None else item.written.isoformat()
    fields = json.dumps([item.external_id, item.actor, item.text, when])
    return blake2b(fields.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
