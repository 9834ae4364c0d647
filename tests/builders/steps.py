"""Steps of an embodied agent, short to write."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from episodic_agent.schemas import Json, Kind, Observation

START = datetime(2026, 3, 1, 8, 0, tzinfo=UTC)
THREAD = UUID(int=7)
PLACES = ("hall", "kitchen", "Kitchen", "unknown", None)


def step(
    seq: int,
    place: str | None = "lab",
    *,
    events: Sequence[Mapping[str, Json]] = (),
    error: float | None = None,
    confidence: float | None = None,
    entities: Sequence[Json] | None = None,
    at: datetime | None = None,
    extras: Mapping[str, Json] | None = None,
) -> Observation:
    """Return the step at `seq`, a second after the one before."""
    when = START + timedelta(seconds=seq) if at is None else at
    seen = {} if entities is None else {"entities": list(entities)}
    return Observation(
        UUID(int=seq),
        THREAD,
        seq,
        when,
        when,
        "agent",
        f"step {seq}",
        kind=Kind.STEP,
        location=place,
        location_confidence=confidence,
        events=tuple(events),
        prediction_error=error,
        extras=seen | dict(extras or {}),
    )


def step_fields(number: int) -> dict[str, Any]:
    """Make what a step has beside its words; the place changes every few numbers."""
    kinds = ("appearance", "state_change", "movement")
    events = [{"type": kinds[number % 3], "entity": "door", "id": f"{number % 11}"}] if number % 4 else []
    return {
        "kind": "step",
        "location": PLACES[number // 3 % len(PLACES)],
        "location_confidence": (0.9, 0.3)[number % 7 == 0],
        "events": events,
        "entities": [{"id": f"e{number % 5}", "label": "box"}],
        "action": "push",
    }
