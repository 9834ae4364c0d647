"""What `default` meant before, for frames and decisions made under it; new ones follow `default.py`.

- `default-2027-02`: the same but for the networks that learnt from more kinds of talk: dialogues alone.
- `default-2027-01`: a gap was judged by the one network of its delay, too.
- `default-2026-12`: another clock as well. Its weights, learnt from chats whose labels were sessions only,
  let a short silence speak against a boundary, up to three in log-odds; where times are given the threshold
  stands still; after a long silence a thread goes on with all it remembers.
"""

import math
from dataclasses import dataclass, replace
from typing import Final

from episodic_agent.core.boundary.conversation.cues import counted
from episodic_agent.core.boundary.conversation.default import DefaultPolicy
from episodic_agent.core.boundary.conversation.memory import ConversationMemory, close
from episodic_agent.core.boundary.conversation.model import BoundaryModel, Silence, sigmoid


@dataclass(frozen=True, slots=True)
class DefaultPolicy202702(DefaultPolicy):
    """What `default` meant before `default-2027-03`."""

    name: str = "default-2027-02"
    broad: bool = False


@dataclass(frozen=True, slots=True)
class DefaultPolicy202701(DefaultPolicy202702):
    """What `default` meant before `default-2027-02`."""

    name: str = "default-2027-01"
    together: bool = False


# What the log-odds of content and a standard deviation of silence are worth, then the evidence at 0, 1, and
# so on to 6 on the scale of log(1 + minutes).
_CONTENT: Final = 1.062
_UNUSUAL: Final = 0.4461
_HEIGHTS: Final = (-1.7252, -2.938, -3.0322, -1.2299, -0.6416, -0.5839, 0.0729)


@dataclass(frozen=True, slots=True)
class DefaultPolicy202612(DefaultPolicy202701):
    """What `default` meant before `default-2027-01`."""

    name: str = "default-2026-12"

    def settled_content(self, content: float, size: int, *, timed: bool) -> float:
        """Return the probability as it stands: the length of a frame was a cue of the network alone."""
        return round(content, 4)

    def with_time(self, model: BoundaryModel, content: float, silence: Silence) -> float:
        """Return the probability when the silence is known too: a sum of log-odds of either sign."""
        content = min(max(content, 1e-4), 1.0 - 1e-4)
        logit = math.log(content / (1.0 - content))
        return sigmoid(_CONTENT * logit + _UNUSUAL * silence.z + _evidence(silence.logged))

    def after_silence(self, memory: ConversationMemory) -> ConversationMemory:
        """Return the memory after a boundary beyond doubt, which counts as one."""
        expected = counted(memory.expected, 1.0, memory.position)
        return replace(close(memory), settled=(), expected=expected)

    def asked(self, expected: float, position: int, *, timed: bool = False) -> float:
        """Return the probability that a gap must reach: with times always the same."""
        return self.threshold if timed else DefaultPolicy202701.asked(self, expected, position)


def _evidence(logged: float) -> float:
    """Return the height at a log of minutes, on straight lines between the knots.

    >>> _evidence(0.5), _evidence(99.0)
    (-2.3316, 0.0729)
    """
    held = min(max(logged, 0.0), len(_HEIGHTS) - 1.0)
    knot = max(0, math.ceil(held) - 1)
    share = held - knot
    return (1.0 - share) * _HEIGHTS[knot] + share * _HEIGHTS[knot + 1]
