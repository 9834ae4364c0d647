"""What of its process a memory is handed: the settings of its environment, the clock, limits and budgets."""

import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from episodic_agent.core.ingest import IntakeLimits
from episodic_agent.errors import InvalidInput
from episodic_agent.settings import Settings, read_settings


def load_settings() -> Settings:
    """Read the settings of this process."""
    return read_settings(os.environ, Path.home())


def utc_now() -> datetime:
    """Return the present moment, aware, in UTC: the clock handed to the engine."""
    return datetime.now(UTC)


def checked_clock(clock: Callable[[], datetime] | None) -> Callable[[], datetime]:
    """Return a caller's clock, each answer checked; the present moment without one.

    Raises InvalidInput for what cannot be called, and for an answer that is no aware datetime.
    """
    if clock is None:
        return utc_now
    if not callable(clock):
        raise InvalidInput(f"`clock` is a function that returns the time, not {type(clock).__name__}")

    def now() -> datetime:
        answer = clock()
        if not isinstance(answer, datetime):
            raise InvalidInput(f"`clock` returned {answer!r}; it has to return a datetime with a zone")
        if answer.tzinfo is None:
            raise InvalidInput(f"`clock` returned {answer} without a zone; return datetime.now(UTC)")
        return answer

    now()  # what is wrong with it is said to who opens the memory, not to a thread behind
    return now


def limits_of(settings: Settings) -> IntakeLimits:
    """Return how large what is taken in may be."""
    return IntakeLimits(settings.message_bytes, settings.unpacked_bytes, settings.unpacked_ratio)


def budget_of(settings: Settings) -> int | None:
    """Return how many tokens a day language models may cost a space; None: no limit."""
    text = settings.llm_budget.strip().replace("_", "")
    if text in ("none", ""):
        return None
    if not (text.isascii() and text.isdigit()):
        raise InvalidInput(f"EPISODIC_LLM_BUDGET must be a whole number of tokens or `none`, not {text!r}")
    return int(text)
