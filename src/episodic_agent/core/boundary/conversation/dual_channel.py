"""Seed 001 to the letter: rules first, then the surprise channel, then the topic channel.

Nothing here is mended; the `default` policy is where the document's weaknesses are. What the letter
leaves open is settled so that a stored record recomputes its verdict: cosines are computed in float64
and rounded to six places, and it is the rounded number that is compared. The buffer itself is not kept: the
rules need only its counts. Vectors are float32; 384 dimensions pack to about 2 kB each.
"""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

import numpy as np

from episodic_agent.core.boundary.contract import (
    DRAIN_ALL,
    KEEP_LAST,
    Arrival,
    Boundary,
    Check,
    ManualCut,
    Question,
    Record,
    Verdict,
)
from episodic_agent.errors import InvalidInput
from episodic_agent.schemas import Json, Observation, Reason, TimeSource, Vector


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


SKIP, FORCE, TIME, DETECT = "skip", "force", "time", "detect"
# The actions that cut, and why they say they did.
_REASONS: Final = {
    FORCE: Reason.SIZE_CAP,
    TIME: Reason.TIME_GAP,
    "surprise": Reason.SURPRISE,
    "topic_shift": Reason.TOPIC_SHIFT,
}
NAME: Final = "seed-001"
PLACES: Final = 6
LONGEST_EVENT_MODEL: Final = 1_000  # characters; a model that rambles must not swell the frame's state


@dataclass(frozen=True, slots=True)
class BufferRules:
    """The limits of the rule layer: message counts, characters (code points) and minutes."""

    min_messages: int = 3
    max_messages: int = 50
    gap_minutes: float = 15.0
    min_characters: int = 100
    min_message_characters: int = 5


def rule_layer(
    count: int, characters: int, gap: timedelta, length: int, rules: BufferRules = BufferRules()
) -> str:
    """Return skip, force, time or detect for a message of `length` characters (seed 001, section 1).

    `count` and `characters` are of the buffer without the new message, `gap` is the time since its
    last one. The first rule that applies wins.

    >>> rule_layer(3, 99, timedelta(minutes=15, seconds=1), 1)
    'time'
    >>> rule_layer(2, 999, timedelta(hours=9), 50)
    'skip'
    """
    # before the time rule, as written: one or two messages are glued to whatever comes weeks later
    if count < rules.min_messages:
        return SKIP
    if count >= rules.max_messages:
        return FORCE
    if gap > timedelta(minutes=rules.gap_minutes):
        return TIME
    if characters < rules.min_characters or length < rules.min_message_characters:
        return SKIP
    return DETECT


@dataclass(frozen=True, slots=True)
class DualChannelPolicy(BufferRules):
    """Cut as seed 001 writes: a policy without hindsight that asks a language model when it cannot tell.

    `surprise_similarity` and `topic_similarity` are cosines, `rolling_alpha` is the share of the new
    message in the rolling vector, `confidence` the least a verdict needs to cut. An arrival without a
    vector (blank text, no embedder) passes the rules and is then kept without detection.
    """

    surprise_similarity: float = 0.35
    topic_similarity: float = 0.5
    rolling_alpha: float = 0.2
    confidence: float = 0.7
    name: str = NAME

    def __post_init__(self) -> None:
        if not 1 <= self.min_messages <= self.max_messages:
            raise InvalidInput("seed-001 needs 1 <= min_messages <= max_messages; give other numbers")
        for name in ("gap_minutes", "min_characters", "min_message_characters"):
            if not getattr(self, name) >= 0:
                raise InvalidInput(f"seed-001: {name} cannot be negative; give 0 or more")
        for name in ("surprise_similarity", "topic_similarity", "rolling_alpha", "confidence"):
            if not 0 <= getattr(self, name) <= 1:
                raise InvalidInput(f"seed-001: {name} must lie in [0, 1]; give a number from 0 to 1")

    @property
    def hindsight(self) -> int:
        """Return 0: a cut falls right before the newest message or nowhere."""
        return 0

    @property
    def idle_after(self) -> timedelta | None:
        """Return None: one or two buffered messages are skipped at any gap, so the clock may not cut."""
        return None

    @property
    def needs_vectors(self) -> bool:
        """Return True: the predictive channel compares vectors."""
        return True

    def begin(self) -> DualChannelMemory:
        """Return the memory of an empty buffer."""
        return DualChannelMemory()

    def check(self, memory: DualChannelMemory, arrival: Arrival) -> Check[DualChannelMemory]:
        """Take in one message; cut before it, ask about it, or keep it.

        Raises ValueError while a question is open: the caller settles first and feeds the tail then.
        """
        if memory.pending is not None:
            raise ValueError(f"question {memory.pending.id} is open: settle it before the next arrival")
        message, vector = _message(arrival.observation), _usable(arrival.vector)
        # count and characters are of the buffer *without* the new message, so fifty close and it is kept
        gap = _gap(memory.last, message)
        action = rule_layer(memory.count, memory.characters, gap, message.length, self)
        if action == DETECT and vector is not None:
            return self._detect(memory, message, vector, arrival.observation.thread_id)
        if action in _REASONS:
            record = Record(message.seq, action, 1.0, 1.0)
            return self._cut(memory, message, vector, record)
        record = Record(message.seq, "no_vector" if action == DETECT else action, 0.0, 1.0)
        return Check(take(memory, message), records=(record,))

    def settle(
        self, memory: DualChannelMemory, question: Question, verdict: Verdict | None
    ) -> Check[DualChannelMemory]:
        """Finish the topic channel; None counts as (false, 0). A question not open changes nothing."""
        asked = memory.pending
        if asked is None or asked.id != question.id:
            return Check(memory)
        confidence = round(verdict.confidence, PLACES) if verdict is not None and verdict.is_boundary else 0.0
        cues = {**asked.cues, **_signals(verdict)}
        seen = Record(asked.message.seq, "keep", confidence, self.confidence, cues.get("surprise", 0.0), cues)
        if verdict is not None and verdict.is_boundary and confidence >= self.confidence:
            return self._cut(memory, asked.message, asked.vector, replace(seen, action="topic_shift"))
        # rolled whether or not a model spoke; only what is skipped leaves the vectors alone
        rolled = _roll(memory.rolling, asked.vector, self.rolling_alpha)
        after = replace(take(memory, asked.message), rolling=rolled, pending=None)
        if verdict is None:
            return Check(after, records=(replace(seen, action="no_model"),))
        if verdict.updated_event_model:
            # without its vector an updated text leaves the surprise channel asleep: no stale comparison
            text = verdict.updated_event_model[:LONGEST_EVENT_MODEL]
            after = replace(after, event_model=text, event_vector=_usable(verdict.vector))
        return Check(after, records=(seen,))

    def drain(self, memory: DualChannelMemory, cut: ManualCut) -> Check[DualChannelMemory]:
        """Settle an open question without a model, then close everything that is buffered."""
        records: tuple[Record, ...] = ()
        if memory.pending is not None:
            settled = self.settle(memory, _question(memory, memory.pending), None)
            memory, records = settled.memory, settled.records
        if memory.last is None:
            return Check(self.begin(), records=records)
        last = memory.last.seq
        boundary = Boundary(last + 1, last, cut.reason, 1.0, 1.0, edge=DRAIN_ALL, detail=_detail(memory))
        return Check(self.begin(), (boundary,), records)

    def pack(self, memory: DualChannelMemory) -> Json:
        """Return plain JSON: for 384 dimensions about 4 kB, 6 kB with a question open."""
        return pack_memory(memory)

    def unpack(self, packed: Json) -> DualChannelMemory:
        """Rebuild the memory; raises InvalidInput when the value was not made by `pack`."""
        try:
            return unpack_memory(packed)
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidInput(f"seed-001 cannot read its packed memory: {error!r}; resegment") from error

    def _detect(
        self, memory: DualChannelMemory, message: BufferedMessage, vector: Vector, thread: UUID
    ) -> Check[DualChannelMemory]:
        """Run the two channels (seed 001, section 2)."""
        predicted, familiar = _cosine(memory.event_vector, vector), _cosine(memory.rolling, vector)
        cues: dict[str, float] = {}
        if predicted is not None:
            cues["surprise"] = _distance(predicted)
        if familiar is not None:
            cues["topic"] = _distance(familiar)
        surprise = cues.get("surprise", 0.0)
        # either channel is enough: a surprising message cuts however well it fits the topic
        if predicted is not None and predicted < self.surprise_similarity:
            limit = _distance(self.surprise_similarity)
            return self._cut(
                memory, message, vector, Record(message.seq, "surprise", surprise, limit, surprise, cues)
            )
        limit = _distance(self.topic_similarity)
        # the first detection of an episode has no rolling vector yet: the letter asks then
        record = Record(message.seq, "roll", cues.get("topic", 1.0), limit, surprise, cues)
        if familiar is not None and familiar >= self.topic_similarity:
            rolled = _roll(memory.rolling, vector, self.rolling_alpha)
            return Check(replace(take(memory, message), rolling=rolled), records=(record,))
        # first_seq is part of the id: segmented again under other cuts, it is another question
        asked = Pending(f"{NAME}:{thread}:{memory.first_seq}-{message.seq}", message, vector, cues)
        return Check(
            replace(memory, pending=asked),
            records=(replace(record, action="ask"),),
            question=_question(memory, asked),
        )

    def _cut(
        self, memory: DualChannelMemory, message: BufferedMessage, vector: Vector | None, record: Record
    ) -> Check[DualChannelMemory]:
        """Close the buffer; the message opens the next one and gives it its first vector."""
        cut = Boundary(
            message.seq,
            message.seq,
            _REASONS[record.action],
            record.probability,
            record.threshold,
            record.surprise,
            KEEP_LAST,
            record.cues,
            _detail(memory) | {"action": record.action},
        )
        return Check(take(DualChannelMemory(rolling=vector), message), (cut,), (record,))


def _message(observation: Observation) -> BufferedMessage:
    assumed = observation.at_source is TimeSource.ASSUMED
    return BufferedMessage(observation.seq, observation.at, assumed, len(observation.text))


def _gap(last: BufferedMessage | None, message: BufferedMessage) -> timedelta:
    """Return the time since the last buffered message; times nobody gave make no gap."""
    if last is None or last.assumed or message.assumed:
        return timedelta(0)
    return message.at - last.at


def _question(memory: DualChannelMemory, asked: Pending) -> Question:
    return Question(asked.id, asked.message.seq, memory.first_seq, memory.event_model)


def _detail(memory: DualChannelMemory) -> dict[str, Json]:
    return {"messages": memory.count, "characters": memory.characters}


def _signals(verdict: Verdict | None) -> dict[str, float]:
    """Return what the model said as numbers in [0, 1]."""
    if verdict is None:
        return {}
    named = {f"model_{name}": value for name, value in verdict.signals.items()}
    named |= {"model_boundary": float(verdict.is_boundary), "model_confidence": verdict.confidence}
    return {name: round(min(max(value, 0.0), 1.0), PLACES) for name, value in named.items()}


def _usable(vector: Vector | None) -> Vector | None:
    """Return the vector in float32, None for a missing, zero (blank text) or broken one."""
    if vector is None:
        return None
    own = np.array(vector, dtype=np.float32)
    return own if np.any(own) and np.isfinite(own).all() else None


def _cosine(left: Vector | None, right: Vector) -> float | None:
    """Return the cosine in float64 to six places; None without a vector of the same embedder's size (I9)."""
    if left is None or left.shape != right.shape:
        return None
    items, other = left.astype(np.float64), right.astype(np.float64)
    return round(float(items @ other / np.sqrt((items @ items) * (other @ other))), PLACES)


def _distance(cosine: float) -> float:
    return round(min(max(1.0 - cosine, 0.0), 1.0), PLACES)


def _roll(rolling: Vector | None, vector: Vector, alpha: float) -> Vector:
    """Return norm((1 - alpha) L + alpha e), or e where there was no L."""
    if rolling is None or rolling.shape != vector.shape:
        return vector
    mixed = (1.0 - alpha) * rolling.astype(np.float64) + alpha * vector.astype(np.float64)
    length = float(np.sqrt(mixed @ mixed))
    # exactly opposite vectors of suitable lengths cancel out; the newer one is then the context
    return (mixed / length).astype(np.float32) if length > 0 else vector
