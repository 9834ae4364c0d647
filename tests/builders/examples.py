"""How many examples a property is tried on: all in the slow suite, an eighth of them in the fast one."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import settings

FAST = "fast"
FULL = 100  # examples of a property that says nothing about their number
# No deadlines: how long an example takes says what else the machine does.
settings.register_profile("full", max_examples=FULL, deadline=None)
settings.register_profile(FAST, max_examples=FULL // 8, deadline=None)


def first(count: int, values: Sequence[Any]) -> list[Any]:
    """Return values of a parameter; behind the first `count` of them come those for the slow suite alone."""
    return [*values[:count], *(pytest.param(value, marks=pytest.mark.slow) for value in values[count:])]


def share(full: int) -> int:
    """Return what the profile of this run grants of a property's examples, at least one."""
    return max(1, full * settings.default.max_examples // FULL)
