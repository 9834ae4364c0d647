"""Threads: which one an observation belongs to, when silence ends one, and the turns they are made of."""

from episodic_agent.core.threads.channels import DEFAULT_CHANNEL, DEFAULT_TIMEOUT, ChannelKind, Channels
from episodic_agent.core.threads.records import Arriving, Resolution, ThreadView, Verdict, as_record
from episodic_agent.core.threads.resolution import Resolver, after, closed, idle, resolve
from episodic_agent.core.threads.turns import (
    Pair,
    Turn,
    is_reply,
    last_turns,
    opens_turn,
    pairs,
    turn_count,
    turns,
)

__all__ = [
    "DEFAULT_CHANNEL",
    "DEFAULT_TIMEOUT",
    "Arriving",
    "ChannelKind",
    "Channels",
    "Pair",
    "Resolution",
    "Resolver",
    "ThreadView",
    "Turn",
    "Verdict",
    "after",
    "as_record",
    "closed",
    "idle",
    "is_reply",
    "last_turns",
    "opens_turn",
    "pairs",
    "resolve",
    "turn_count",
    "turns",
]
