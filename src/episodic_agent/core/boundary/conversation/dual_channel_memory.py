"""What policy `seed-001` remembers between two messages, and how it is packed without loss.

The buffer itself is not kept: the rules need only its counts. Vectors are float32, as embedders give them;
384 dimensions pack to about 2 kB each.
"""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from episodic_agent.schemas import Json, Vector


@dataclass(frozen=True, slots=True)
class BufferedMessage:
    """What the rules need to know of an observation; a time nobody gave is `assumed`."""

    seq: int
    at: datetime
    assumed: bool
    length: int


@dataclass(frozen=True, slots=True, eq=False)
class Pending:
    """The message a question is about, taken in only when the question is settled."""

    id: str
    message: BufferedMessage
    vector: Vector
    cues: Mapping[str, float]


@dataclass(frozen=True, slots=True, eq=False)
class DualChannelMemory:
    """The buffer as far as the rules need it, the event model and the rolling vector; vectors are float32."""

    count: int = 0
    characters: int = 0
    first_seq: int = 0
    last: BufferedMessage | None = None
    event_model: str = ""
    event_vector: Vector | None = None
    rolling: Vector | None = None
    pending: Pending | None = None


def take(memory: DualChannelMemory, message: BufferedMessage) -> DualChannelMemory:
    """Append a message to the buffer; vectors stay as they are."""
    return replace(
        memory,
        count=memory.count + 1,
        characters=memory.characters + message.length,
        first_seq=memory.first_seq if memory.count else message.seq,
        last=message,
    )


def pack_memory(memory: DualChannelMemory) -> Json:
    """Return the memory as plain JSON; `unpack_memory` undoes it exactly."""
    asked = memory.pending
    return {
        "count": memory.count,
        "characters": memory.characters,
        "first_seq": memory.first_seq,
        "last": None if memory.last is None else _pack_message(memory.last),
        "event_model": memory.event_model,
        "event_vector": _pack_vector(memory.event_vector),
        "rolling": _pack_vector(memory.rolling),
        "pending": None if asked is None else _pack_pending(asked),
    }


def _pack_vector(vector: Vector | None) -> str | None:
    # little-endian whatever the machine: frames travel with their database file
    return None if vector is None else base64.b64encode(vector.astype("<f4").tobytes()).decode()


def _unpack_vector(packed: Json) -> Vector | None:
    if packed is None:
        return None
    return np.frombuffer(base64.b64decode(str(packed), validate=True), dtype="<f4").astype(np.float32)


def _pack_message(message: BufferedMessage) -> Json:
    return [message.seq, message.at.isoformat(), message.assumed, message.length]


def _unpack_message(packed: Json) -> BufferedMessage:
    if not isinstance(packed, Sequence) or isinstance(packed, str):
        raise TypeError("expected the four values of a message")
    seq, at, assumed, length = packed
    return BufferedMessage(_integer(seq), datetime.fromisoformat(str(at)), bool(assumed), _integer(length))


def _pack_pending(asked: Pending) -> Json:
    return {
        "id": asked.id,
        "message": _pack_message(asked.message),
        "vector": _pack_vector(asked.vector),
        "cues": dict(asked.cues),
    }


def _unpack_pending(body: Mapping[str, Json]) -> Pending:
    vector = _unpack_vector(body["vector"])
    if vector is None:
        raise ValueError("a question without its message's vector")
    # JSON of another writer may say 1 where a float was meant
    cues = {name: float(str(value)) for name, value in _mapping(body["cues"]).items()}
    return Pending(str(body["id"]), _unpack_message(body["message"]), vector, cues)


def unpack_memory(packed: Json) -> DualChannelMemory:
    """Rebuild the memory; raises KeyError, TypeError or ValueError for what `pack_memory` did not make."""
    body = _mapping(packed)
    last, asked = body["last"], body["pending"]
    return DualChannelMemory(
        count=_integer(body["count"]),
        characters=_integer(body["characters"]),
        first_seq=_integer(body["first_seq"]),
        last=None if last is None else _unpack_message(last),
        event_model=str(body["event_model"]),
        event_vector=_unpack_vector(body["event_vector"]),
        rolling=_unpack_vector(body["rolling"]),
        pending=None if asked is None else _unpack_pending(_mapping(asked)),
    )


def _mapping(value: Json) -> Mapping[str, Json]:
    if not isinstance(value, Mapping):
        raise TypeError(f"expected an object, got {type(value).__name__}")
    return value


def _integer(value: Json) -> int:
    if not isinstance(value, int):
        raise TypeError(f"expected a whole number, got {value!r}")
    return value
