"""A robot that makes coffee every day: the same six steps in two rooms, asked for or not."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

EIGHT = datetime(2026, 3, 1, 8, tzinfo=UTC)
REQUEST = "Please make me a coffee."
COFFEE = (
    ("kitchen", "fill the tank"),
    ("kitchen", "put grounds in"),
    ("kitchen", "shut the lid"),
    ("kitchen", "press the button"),
    ("living room", "carry the mug"),
    ("living room", "hand Mira the mug"),
)


def coffee(
    day: int, request: str = REQUEST, *, outcome: str = "", job: Sequence[tuple[str, str]] = COFFEE
) -> list[dict[str, Any]]:
    """Return one day's round, a minute a step; `outcome` is that of its last step."""
    at = EIGHT + timedelta(days=day)
    said: list[dict[str, Any]] = [{"role": "user", "content": request, "timestamp": at}] if request else []
    steps: list[dict[str, Any]] = [
        {"kind": "step", "action": action, "location": room, "timestamp": at + timedelta(minutes=n + 1)}
        for n, (room, action) in enumerate(job)
    ]
    if outcome:
        steps[-1]["extras"] = {"outcome": outcome}
    return [*said, *steps]
